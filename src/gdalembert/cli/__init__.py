"""The command line: for each command NAME, a function ``add_NAME`` with its arguments, and ``run_NAME``."""

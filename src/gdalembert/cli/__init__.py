"""The command line: one module for each command, which has ``add_arguments`` and ``run``."""

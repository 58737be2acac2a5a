"""The commands of the command line that have options of their own: derive, plot, view."""

"""The registry of solvers, and the packages that solve a problem in their own way."""

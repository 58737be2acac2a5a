"""The robot as a system of equations, its steps in time, its parameters, and rows and guesses of its motions."""

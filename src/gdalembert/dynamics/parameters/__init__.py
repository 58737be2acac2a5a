"""Quantities that vary are an input: kinds of parameters, and the vector p that the Functions of a robot take last."""

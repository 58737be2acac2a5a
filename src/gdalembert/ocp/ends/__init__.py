"""The ends of a motion: what is fixed of them, and the values that a solver begins with."""

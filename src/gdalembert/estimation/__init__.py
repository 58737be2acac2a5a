"""Estimation: the motion of a robot, and what varies in it, from what its sensors measure."""

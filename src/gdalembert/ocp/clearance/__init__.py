"""Motions that keep clear of obstacles and of the robot itself."""

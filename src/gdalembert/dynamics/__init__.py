"""The contract of a robot's dynamics, and the formulations that fulfil it: one source each, one module each.

The formulations are imported here, so that whoever imports any module of this folder finds all of them registered.
"""

from gdalembert.dynamics import generalized_dalembert, lagrange_euler, newton_euler

__all__ = ["generalized_dalembert", "lagrange_euler", "newton_euler"]

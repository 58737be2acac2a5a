"""Figures of motions, torques, identifications, modes, forces and graph sizes, by matplotlib.

Each function draws one figure, on ``ax`` if it is given, else in a new pyplot figure. It returns the Axes, or an array
of them if the figure has several. It shows nothing and changes no setting of matplotlib. Without matplotlib the import
raises an ``UnsupportedError``.
"""

from gdalembert.plotting.ellipsoids import force_ellipsoid, velocity_ellipsoid
from gdalembert.plotting.flexible_arms import mode_shapes, tip_deflection
from gdalembert.plotting.graph_sizes import instructions, pruning_error, scaling
from gdalembert.plotting.motions import energy_balance, excitation, identification, motion, torque_decomposition

__all__ = [
    "energy_balance",
    "excitation",
    "force_ellipsoid",
    "identification",
    "instructions",
    "mode_shapes",
    "motion",
    "pruning_error",
    "scaling",
    "tip_deflection",
    "torque_decomposition",
    "velocity_ellipsoid",
]

"""Dynamics of Pinocchio models as CasADi graphs."""

from gdalembert.dynamics import Dynamics
from gdalembert.formulations.generalized_dalembert import GeneralizedDAlembert
from gdalembert.formulations.lagrange_euler import LagrangeEuler
from gdalembert.formulations.newton_euler import NewtonEuler
from gdalembert.registry import formulations
from gdalembert.urdf import load_urdf, robots

__all__ = [
    "Dynamics",
    "GeneralizedDAlembert",
    "LagrangeEuler",
    "NewtonEuler",
    "formulations",
    "load_urdf",
    "robots",
]

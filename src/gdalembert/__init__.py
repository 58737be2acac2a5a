"""Dynamics of Pinocchio models as CasADi graphs: generalized d'Alembert, Lagrange-Euler, Newton-Euler.

import gdalembert as gd

model = gd.load_urdf("puma560")
dyn = gd.NewtonEuler(model)
tau = dyn.inverse_dynamics(q, v, a)
gd.validate(dyn, against=model).raise_for_failure()
"""

from gdalembert.compilation import CompiledFunction, compile
from gdalembert.dynamics import Dynamics
from gdalembert.formulations.generalized_dalembert import GeneralizedDAlembert
from gdalembert.formulations.lagrange_euler import LagrangeEuler
from gdalembert.formulations.newton_euler import NewtonEuler
from gdalembert.kinematics import Kinematics
from gdalembert.registry import formulations
from gdalembert.statics import joint_torques, payload_torques, transform_twist, transform_wrench
from gdalembert.urdf import load_urdf, robots
from gdalembert.validation import validate

__all__ = [
    "CompiledFunction",
    "Dynamics",
    "GeneralizedDAlembert",
    "Kinematics",
    "LagrangeEuler",
    "NewtonEuler",
    "compile",
    "formulations",
    "joint_torques",
    "load_urdf",
    "payload_torques",
    "robots",
    "transform_twist",
    "transform_wrench",
    "validate",
]

"""Dynamics of Pinocchio models as CasADi graphs: generalized d'Alembert, Lagrange-Euler, Newton-Euler.

import gdalembert as gd

model = gd.load_urdf("puma560")
dyn = gd.NewtonEuler(model)
tau = dyn.inverse_dynamics(q, v, a)
gd.validate(dyn, against=model).raise_for_failure()
"""

from gdalembert import ocp
from gdalembert.citation import citation
from gdalembert.compilation import CompiledFunction, compile
from gdalembert.dynamics import Dynamics
from gdalembert.flexible import modes
from gdalembert.flexible.arm import FlexibleArm
from gdalembert.flexible.beam import Beam
from gdalembert.flexible.joint import FlexibleJoint
from gdalembert.flexible.link import FlexibleLink
from gdalembert.flexible.nodes import Nodes
from gdalembert.formulations.generalized_dalembert import GeneralizedDAlembert
from gdalembert.formulations.lagrange_euler import LagrangeEuler
from gdalembert.formulations.newton_euler import NewtonEuler
from gdalembert.kinematics import Kinematics
from gdalembert.registry import formulations
from gdalembert.simplify.recipes import PrunedDynamics, TranslationalRotational
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from gdalembert.statics import joint_torques, payload_torques, transform_twist, transform_wrench
from gdalembert.urdf import load_urdf, robots
from gdalembert.validation import validate

__all__ = [
    "Beam",
    "CompiledFunction",
    "Dynamics",
    "FlexibleArm",
    "FlexibleJoint",
    "FlexibleLink",
    "GeneralizedDAlembert",
    "Kinematics",
    "LagrangeEuler",
    "NewtonEuler",
    "Nodes",
    "PrunedDynamics",
    "Simulation",
    "TranslationalRotational",
    "citation",
    "compile",
    "formulations",
    "joint_torques",
    "load_urdf",
    "modes",
    "ocp",
    "payload_torques",
    "robots",
    "simulate",
    "transform_twist",
    "transform_wrench",
    "validate",
]

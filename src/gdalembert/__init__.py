"""Dynamics of Pinocchio models as CasADi graphs: generalized d'Alembert, Lagrange-Euler, Newton-Euler.

import gdalembert as gd

model = gd.load_urdf("puma560")
dyn = gd.NewtonEuler(model)
tau = dyn.inverse_dynamics(q, v, a)
gd.validate(dyn, against=model).raise_for_failure()
"""

from gdalembert import ocp
from gdalembert.citation import citation
from gdalembert.compilation.compiled_function import CompiledFunction, compile
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.lagrange_euler import LagrangeEuler
from gdalembert.dynamics.newton_euler import NewtonEuler
from gdalembert.dynamics.registry import formulations
from gdalembert.dynamics.simplified.recipes import PrunedDynamics, TranslationalRotational
from gdalembert.dynamics.statics import joint_torques, payload_torques, transform_twist, transform_wrench
from gdalembert.flexible import modes
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.model.load_urdf import load_urdf, robots
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from gdalembert.validation.validate import validate

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

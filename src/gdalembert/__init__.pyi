"""The public names, where each is defined: read by type checkers, and by ``__init__.py`` for imports at first use."""

from gdalembert import calibration as calibration
from gdalembert import cpin as cpin
from gdalembert import identification as identification
from gdalembert import ocp as ocp
from gdalembert.citation import citation as citation
from gdalembert.compilation.compiled_function import CompiledFunction as CompiledFunction
from gdalembert.compilation.compiled_function import compile as compile
from gdalembert.dynamics.actuation import Tendon as Tendon
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics as ConstrainedDynamics
from gdalembert.dynamics.constraints.constraint import Contact as Contact
from gdalembert.dynamics.constraints.constraint import Loop as Loop
from gdalembert.dynamics.constraints.friction_cones import friction_cone as friction_cone
from gdalembert.dynamics.constraints.friction_cones import wrench_cone as wrench_cone
from gdalembert.dynamics.dynamics import Dynamics as Dynamics
from gdalembert.dynamics.dynamics import formulations as formulations
from gdalembert.dynamics.friction import Friction as Friction
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert as GeneralizedDAlembert
from gdalembert.dynamics.kinematics import Kinematics as Kinematics
from gdalembert.dynamics.lagrange_euler import LagrangeEuler as LagrangeEuler
from gdalembert.dynamics.motors import Motor as Motor
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler as NewtonEuler
from gdalembert.dynamics.simplified.dynamics import PrunedDynamics as PrunedDynamics
from gdalembert.dynamics.simplified.dynamics import TranslationalRotational as TranslationalRotational
from gdalembert.dynamics.wrenches import joint_torques as joint_torques
from gdalembert.dynamics.wrenches import payload_torques as payload_torques
from gdalembert.dynamics.wrenches import transform_twist as transform_twist
from gdalembert.dynamics.wrenches import transform_wrench as transform_wrench
from gdalembert.flexible import modes as modes
from gdalembert.flexible.beams.beam import Beam as Beam
from gdalembert.flexible.beams.nodes import Nodes as Nodes
from gdalembert.flexible.cosserat_rod import CosseratRod as CosseratRod
from gdalembert.flexible.flexible_arm import FirstOrderArm as FirstOrderArm
from gdalembert.flexible.flexible_arm import FlexibleArm as FlexibleArm
from gdalembert.flexible.flexible_joint import FlexibleJoint as FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink as FlexibleLink
from gdalembert.model.load_mjcf import load_mjcf as load_mjcf
from gdalembert.model.load_urdf import load_urdf as load_urdf
from gdalembert.model.load_urdf import robots as robots
from gdalembert.model.rotors import Rotor as Rotor
from gdalembert.model.rotors import with_rotors as with_rotors
from gdalembert.simulation.result import Simulation as Simulation
from gdalembert.simulation.simulate import simulate as simulate
from gdalembert.spatial import lie as lie
from gdalembert.validation.validate import validate as validate

__version__: str

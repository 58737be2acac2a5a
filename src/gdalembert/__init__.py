"""Dynamics of Pinocchio models as CasADi graphs: generalized d'Alembert, Lagrange-Euler, Newton-Euler.

import gdalembert as gd

model = gd.load_urdf("puma560")
dyn = gd.NewtonEuler(model)
tau = dyn.inverse_dynamics(q, v, a)
gd.validate(dyn, against=model).raise_for_failure()

Each name is imported when it is first used (PEP 562): ``import gdalembert`` alone loads neither Pinocchio nor CasADi.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gdalembert.citation import citation  # at once: the module has the same name, and whoever imports it would hide it

if TYPE_CHECKING:
    from gdalembert import identification, ocp
    from gdalembert.compilation.compiled_function import CompiledFunction, compile
    from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
    from gdalembert.dynamics.constraints.constraint import Contact, Loop
    from gdalembert.dynamics.constraints.friction_cones import friction_cone, wrench_cone
    from gdalembert.dynamics.dynamics import Dynamics
    from gdalembert.dynamics.forces.friction import Friction
    from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
    from gdalembert.dynamics.kinematics import Kinematics
    from gdalembert.dynamics.lagrange_euler import LagrangeEuler
    from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
    from gdalembert.dynamics.registry import formulations
    from gdalembert.dynamics.simplified.recipes import PrunedDynamics, TranslationalRotational
    from gdalembert.dynamics.statics import joint_torques, payload_torques, transform_twist, transform_wrench
    from gdalembert.flexible import modes
    from gdalembert.flexible.beams.beam import Beam
    from gdalembert.flexible.beams.nodes import Nodes
    from gdalembert.flexible.first_order_arm import FirstOrderArm
    from gdalembert.flexible.flexible_arm import FlexibleArm
    from gdalembert.flexible.flexible_joint import FlexibleJoint
    from gdalembert.flexible.flexible_link import FlexibleLink
    from gdalembert.model.load_urdf import load_urdf, robots
    from gdalembert.model.rotors import Rotor, with_rotors
    from gdalembert.simulation.result import Simulation
    from gdalembert.simulation.simulate import simulate
    from gdalembert.spatial import lie
    from gdalembert.validation.validate import validate

    __version__: str

__all__ = [
    "Beam",
    "CompiledFunction",
    "ConstrainedDynamics",
    "Contact",
    "Dynamics",
    "FirstOrderArm",
    "FlexibleArm",
    "FlexibleJoint",
    "FlexibleLink",
    "Friction",
    "GeneralizedDAlembert",
    "Kinematics",
    "LagrangeEuler",
    "Loop",
    "NewtonEuler",
    "Nodes",
    "PrunedDynamics",
    "Rotor",
    "Simulation",
    "TranslationalRotational",
    "citation",
    "compile",
    "formulations",
    "friction_cone",
    "identification",
    "joint_torques",
    "lie",
    "load_urdf",
    "modes",
    "ocp",
    "payload_torques",
    "robots",
    "simulate",
    "transform_twist",
    "transform_wrench",
    "validate",
    "with_rotors",
    "wrench_cone",
]

_HOMES = {
    "Beam": "flexible.beams.beam",
    "CompiledFunction": "compilation.compiled_function",
    "ConstrainedDynamics": "dynamics.constraints.constrained_dynamics",
    "Contact": "dynamics.constraints.constraint",
    "Dynamics": "dynamics.dynamics",
    "FirstOrderArm": "flexible.first_order_arm",
    "FlexibleArm": "flexible.flexible_arm",
    "FlexibleJoint": "flexible.flexible_joint",
    "FlexibleLink": "flexible.flexible_link",
    "Friction": "dynamics.forces.friction",
    "GeneralizedDAlembert": "dynamics.generalized_dalembert",
    "Kinematics": "dynamics.kinematics",
    "LagrangeEuler": "dynamics.lagrange_euler",
    "Loop": "dynamics.constraints.constraint",
    "NewtonEuler": "dynamics.recursive_newton_euler",
    "Nodes": "flexible.beams.nodes",
    "PrunedDynamics": "dynamics.simplified.recipes",
    "Rotor": "model.rotors",
    "Simulation": "simulation.result",
    "TranslationalRotational": "dynamics.simplified.recipes",
    "compile": "compilation.compiled_function",
    "formulations": "dynamics.registry",
    "friction_cone": "dynamics.constraints.friction_cones",
    "identification": "identification",
    "joint_torques": "dynamics.statics",
    "lie": "spatial.lie",
    "load_urdf": "model.load_urdf",
    "modes": "flexible.modes",
    "ocp": "ocp",
    "payload_torques": "dynamics.statics",
    "robots": "model.load_urdf",
    "simulate": "simulation.simulate",
    "transform_twist": "dynamics.statics",
    "transform_wrench": "dynamics.statics",
    "validate": "validation.validate",
    "with_rotors": "model.rotors",
    "wrench_cone": "dynamics.constraints.friction_cones",
}
"""The module of the package that defines each name, or is it."""

if not TYPE_CHECKING:  # with it, a type checker would take any name for one of the package

    def __getattr__(name: str) -> object:
        """The version, a public name, or a module of the package, at its first use."""
        if name == "__version__":
            found = import_module("importlib.metadata").version(__name__)
        elif name in _HOMES:
            module = import_module(f"{__name__}.{_HOMES[name]}")
            found = getattr(module, name, module)
        elif not name.startswith("_") and find_spec(f"{__name__}.{name}"):
            found = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """The public names, the modules of the package, and what Python itself gives every module."""
    modules = {module.name for module in import_module("pkgutil").iter_modules(__path__)} - {"__main__"}
    own = {name for name in globals() if name.startswith("__")}
    return sorted({"__version__", *own, *modules, *__all__})

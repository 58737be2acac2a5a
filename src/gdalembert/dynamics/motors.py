"""Motors: rotor inertia and friction of actuators that drive one joint or several, at the speeds of the motors.

With tau = B u the motors turn at w = Bᵀ v (what they do is u·w = tau·v), and

    tau = … + B (J ẇ + viscous w + coulomb tanh(w / smoothing) + offset),        M = … + B J Bᵀ

so that rotors of coupled wrists, differentials and belts couple the joints (B constant, J a diagonal of rotor inertias
seen at the side of u).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.actuation import Actuators, LinearActuators
from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array

_QUANTITIES = ("inertia", "viscous", "coulomb", "offset")


@dataclass(frozen=True)
class Motor:
    """The motor of an actuator: the torques that it adds to those of the joints that it drives.

    Units are those of u and of the motor's speed w = Bᵀ v: N m and rad/s if B has no unit.

    Args:
        inertia: of the rotor, at least 0 [kg m²], seen at the side of u: times the square of the ratio where u is a
            torque behind the gear.
        viscous: friction in parts of w, at least 0 [N m s/rad].
        coulomb: friction that opposes w, at least 0 [N m].
        offset: a constant effort [N m], or ``None``: there is no such parameter.
        smoothing: the speed at which 76 % of the Coulomb friction acts, above 0 [rad/s].

    Raises:
        ArgumentTypeError, ArgumentError: if an argument is not such a number.
    """

    inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float | None = field(default=None, kw_only=True)
    smoothing: float = field(default=SMOOTHING, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("inertia", "viscous", "coulomb"):
            object.__setattr__(self, name, number(f"Motor: {name}", getattr(self, name), inclusive=True))
        if self.offset is not None:
            object.__setattr__(self, "offset", number("Motor: offset", self.offset, least=-np.inf))
        object.__setattr__(self, "smoothing", number("Motor: smoothing", self.smoothing, "rad/s"))


MotorsByActuator: TypeAlias = Mapping[str, Motor]
"""``{actuator: Motor(…)}``."""


@dataclass(frozen=True, eq=False)
class Motors(Force):
    """The motors of a robot, as one force element.

    Attributes:
        tree: the robot.
        b: B of the actuators with a motor (nv × n). ``names``: theirs.
        with_offset: which of them have an offset among the parameters.
        rotors: inertias (n) [kg m²]. ``viscous``, ``coulomb``, ``offset``: (n); numbers or symbols.
        smoothing: (n) [rad/s].
    """

    name: ClassVar[str] = "motors"
    not_negative: ClassVar[tuple[str, ...]] = ("inertia", "viscous", "coulomb")

    tree: Tree
    b: Array
    names: tuple[str, ...]
    with_offset: tuple[bool, ...]
    rotors: Any
    viscous: Any
    coulomb: Any
    offset: Any
    smoothing: Array

    @classmethod
    def of(cls, tree: Tree, actuators: Actuators, names: tuple[str, ...], motors: MotorsByActuator) -> Motors:
        """The motors of actuators by name.

        Raises:
            ArgumentTypeError: if it is no dict of :class:`Motor`.
            UnknownNameError: if an actuator is not there.
            UnsupportedError: if B is not a matrix of numbers.
        """
        if not isinstance(motors, Mapping) or not motors:
            raise ArgumentTypeError(f"motors={shown(motors)}: give {{actuator: gd.Motor(…)}}")
        if not isinstance(actuators, LinearActuators):
            raise UnsupportedError(
                f"motors: the actuators of {tree.name} are {actuators.kind}; give a matrix B, or columns by name"
            )
        for name, motor in motors.items():
            if name not in names:
                raise UnknownNameError("actuator", name, names)
            if not isinstance(motor, Motor):
                raise ArgumentTypeError(
                    f"motors: {name!r}: got {shown(motor)}; give gd.Motor(inertia, viscous, coulomb)"
                )
        chosen = [name for name in names if name in motors]
        own_values = [motors[name] for name in chosen]
        values = ([getattr(motor, quantity) or 0.0 for motor in own_values] for quantity in _QUANTITIES)
        rotors, viscous, coulomb, offset = (np.array(value) for value in values)
        return cls(
            tree,
            actuators.b[:, [names.index(name) for name in chosen]],
            tuple(chosen),
            tuple(motor.offset is not None for motor in own_values),
            rotors,
            viscous,
            coulomb,
            offset,
            np.array([motor.smoothing for motor in own_values]),
        )

    def _values(self, quantity: str) -> Any:
        return self.rotors if quantity == "inertia" else getattr(self, quantity)

    @property
    def is_friction(self) -> bool:
        return True

    @property
    def parameters(self) -> dict[str, float]:
        """``motor.inertia``, ``motor.viscous``, ``motor.coulomb``, and ``motor.offset`` if it was given."""
        parameters = {}
        for k, name in enumerate(self.names):
            for quantity in _QUANTITIES:
                if quantity != "offset" or self.with_offset[k]:
                    parameters[f"{name}.{quantity}"] = float(self._values(quantity)[k])
        return parameters

    def with_parameters(self, values: Mapping[str, Matrix]) -> Motors:
        changed: dict[str, Any] = {}
        for quantity in _QUANTITIES:
            values_by_name = zip(self.names, ca.vertsplit(spatial.constant(self._values(quantity))), strict=True)
            vector = entries(ca.vertcat(*(values.get(f"{name}.{quantity}", x) for name, x in values_by_name)))
            changed["rotors" if quantity == "inertia" else quantity] = vector
        return replace(self, **changed)

    def inertia(self) -> Matrix:
        """B J Bᵀ (nv × nv), a part of M."""
        b = spatial.constant(self.b)
        return b @ ca.diag(spatial.constant(self.rotors)) @ b.T

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """B (viscous w + coulomb tanh(w / smoothing) + offset)."""
        b = spatial.constant(self.b)
        w = b.T @ v
        viscous, coulomb, offset = (spatial.constant(x) for x in (self.viscous, self.coulomb, self.offset))
        return b @ (viscous * w + coulomb * ca.tanh(w / ca.DM(self.smoothing)) + offset)

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ torque [W], at least 0 without an offset."""
        return ca.dot(v, self.torque(q, v))

    def damping_matrix(self, tree: Tree) -> Matrix:
        b = spatial.constant(self.b)
        return b @ ca.diag(spatial.constant(self.viscous)) @ b.T


def check_rows(tree: Tree, motors: Motors) -> None:
    """Refuse rotors of motors that drive a base which floats, or modes: these have no bearing for them."""
    free = [joint for joint in tree.joints if joint.parent < 0 and joint.type.is_free]
    for joint in free:
        if np.abs(motors.b[list(joint.columns)]).max(initial=0) > 0:
            raise ArgumentError(
                f"motors: some of them drive the free base {joint.name!r}; give columns of B that are 0 there"
            )

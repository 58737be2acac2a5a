"""Friction at the speeds of joints and of motors: viscous, Coulomb, an offset; and rotor inertia of motors.

    tau = … + B (viscous w + coulomb tanh(w / smoothing) + offset),        w = Bᵀ v

The speeds of joints are v, B = 1. With tau = B u motors turn at w = Bᵀ v (what they do is u·w = tau·v), and their
rotors add B J ẇ to tau and B J Bᵀ to M (B constant, J a diagonal of rotor inertias seen at the side of u), so that
those of coupled wrists, differentials and belts couple the joints.

Friction of joints may grow with the load, too, the torque tau_l of all but friction, which the gears transmit:

    tau = tau_l + viscous v + (coulomb + load |tau_l|) t + offset,        t = tanh(v / smoothing)

It is that of Hamon, Gautier and Garrec, "Dynamic identification of robots with a dry friction model depending on load
and velocity", IROS 2010. Since |load t| < 1, tau_l follows from tau in closed form, and forward dynamics need no
iteration (ours).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.actuation import Actuators, LinearActuators
from gdalembert.dynamics.forces import Force, joint_of
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief

SMOOTHING = 0.01
"""The default smoothing velocity [rad/s, m/s]: slow for a robot, yet not too stiff for an implicit integrator."""
LEAST_TORQUE = 0.01
"""The torque ε [N m, N] below which |tau| is rounded: |tau| is √(tau² + ε²) − ε. With a tenth of it the solvers of
optimal control took up to ten times as many iterations, or found no plan."""


def under_load(part: Matrix, tau: Matrix) -> Matrix:
    """The torque tau + part |tau| of a torque tau, |part| < 1."""
    # √ and not tau tanh(tau / ε), whose inverse has no closed form
    return tau + part * (ca.sqrt(tau**2 + LEAST_TORQUE**2) - LEAST_TORQUE)


def without_load(part: Matrix, total: Matrix) -> Matrix:
    """The torque of which :func:`under_load` makes ``total``.

    With y = total + part ε it is the root of x + part √(x² + ε²) = y, (y − part √(y² + (1 − part²) ε²)) / (1 − part²).
    """
    y, rest = total + part * LEAST_TORQUE, 1 - part**2
    return (y - part * ca.sqrt(y**2 + rest * LEAST_TORQUE**2)) / rest


@dataclass(frozen=True)
class Friction(Brief):
    """Friction of one joint: torque viscous · v + (coulomb + load · |tau_l|) · tanh(v / smoothing) + offset.

    tau_l is the torque that the joint transmits: tau without any friction, armature and motors included. Coulomb
    friction is the same in both directions; with an offset it is not. Being smooth, it does not hold a joint at rest:
    under a torque below ``coulomb`` the joint creeps at v = smoothing · atanh(torque / coulomb). A smaller
    ``smoothing`` is nearer to dry friction, and stiffer: the slope at v = 0 is coulomb / smoothing.

    Args:
        viscous: at least 0 [N m s/rad, N s/m]; one number, or one for each velocity of the joint.
        coulomb: at least 0 [N m, N]; likewise.
        offset: a constant torque [N m, N]; likewise, or ``None``: there is no such parameter.
        load: Coulomb friction in parts of |tau_l|, at least 0 and below 1; likewise, or ``None``. |tau_l| is rounded
            below 0.01 N m or N, to be smooth.
        smoothing: the velocity at which 76 % of the Coulomb friction acts, above 0 [rad/s, m/s].

    Raises:
        ArgumentTypeError: if an argument is not a number.
        ArgumentError: if one is negative or not finite, ``load`` is 1 or more, or ``smoothing`` is 0.
    """

    viscous: float | Sequence[float] = 0.0
    coulomb: float | Sequence[float] = 0.0
    offset: float | Sequence[float] | None = field(default=None, kw_only=True)
    load: float | Sequence[float] | None = field(default=None, kw_only=True)
    smoothing: float = field(default=SMOOTHING, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "viscous", at_least_zero("Friction: viscous", self.viscous))
        object.__setattr__(self, "coulomb", at_least_zero("Friction: coulomb", self.coulomb))
        if self.offset is not None:
            object.__setattr__(self, "offset", some_numbers("Friction: offset", self.offset))
        if self.load is not None:
            object.__setattr__(self, "load", at_least_zero("Friction: load", self.load))
            if np.max(self.load) >= 1:
                raise ArgumentError(
                    f"Friction: load: got {shown(self.load)}; give less than 1: friction that grows as fast as the "
                    "torque blocks the joint"
                )
        object.__setattr__(self, "smoothing", number("Friction: smoothing", self.smoothing, "rad/s, m/s"))


FrictionOfJoints: TypeAlias = Mapping[str, Friction] | Literal["model"]
"""``{joint: Friction(…)}``, or ``"model"``: that of ``model.damping`` and ``model.friction``."""


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
class FrictionAtSpeeds(Force):
    """Friction at the speeds w = Bᵀ v, as one force element.

    Attributes:
        tree: the robot.
        b: B (nv × n).
        labels: the names of the speeds (n).
        columns: the speeds that have a parameter, by quantity.
        values: numbers or symbols (n) of each quantity: ``viscous`` [N m s/rad, N s/m], ``coulomb``, ``offset`` [N m,
            N]; and ``load`` of joints, ``inertia`` [kg m²] of motors.
        smoothing: (n) [rad/s, m/s].
    """

    tree: Tree
    b: Array
    labels: tuple[str, ...]
    columns: Mapping[str, tuple[int, ...]]
    values: Mapping[str, Any]
    smoothing: Array

    @property
    def is_friction(self) -> bool:
        return True

    @property
    def parameters(self) -> dict[str, float]:
        """``label.viscous``, ``label.coulomb``, and the other quantities that were given."""
        return {
            f"{label}.{quantity}": float(vector[k])
            for k, label in enumerate(self.labels)
            for quantity, vector in self.values.items()
            if k in self.columns[quantity]
        }

    def with_parameters(self, values: Mapping[str, Matrix]) -> Self:
        changed = {}
        for quantity, vector in self.values.items():
            by_label = zip(self.labels, ca.vertsplit(spatial.constant(vector)), strict=True)
            changed[quantity] = entries(ca.vertcat(*(values.get(f"{label}.{quantity}", x) for label, x in by_label)))
        return replace(self, values=changed)

    def _direction(self, w: Matrix) -> Matrix:
        """The smoothed direction tanh(w / smoothing) (n)."""
        return ca.tanh(w / ca.DM(self.smoothing))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """The torque B (viscous w + coulomb tanh(w / smoothing) + offset): without what grows with the load."""
        b = spatial.constant(self.b)
        w = b.T @ v
        viscous, coulomb, offset = (spatial.constant(self.values[x]) for x in ("viscous", "coulomb", "offset"))
        return b @ (viscous * w + coulomb * self._direction(w) + offset)

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """The power vᵀ torque [W], at least 0 without an offset."""
        return ca.dot(v, self.torque(q, v))

    def damping_matrix(self, tree: Tree) -> Matrix:
        return self._at_joints("viscous")

    def _at_joints(self, quantity: str) -> Matrix:
        """The matrix B diag(x) Bᵀ (nv × nv) of a quantity x."""
        b = spatial.constant(self.b)
        return b @ ca.diag(spatial.constant(self.values[quantity])) @ b.T


@dataclass(frozen=True, eq=False)
class JointFriction(FrictionAtSpeeds):
    """Friction of all joints that have any, velocity by velocity: B = 1.

    Attributes:
        of_model: whether it is that of a model's ``damping`` and ``friction``, which parameters are then read from and
            written to.
    """

    name: ClassVar[str] = "friction"
    not_negative: ClassVar[tuple[str, ...]] = ("viscous", "coulomb", "load")
    below_one: ClassVar[tuple[str, ...]] = ("load",)

    of_model: bool = False

    @classmethod
    def of(cls, tree: Tree, friction: FrictionOfJoints) -> JointFriction:
        """Friction of joints by name, or of the model.

        Raises:
            ArgumentTypeError: if it is neither a dict of :class:`Friction` nor ``"model"``.
            UnknownNameError: if a joint is not there.
            ArgumentError: if a joint mimics another or has another number of velocities, or the word is another.
        """
        quantities = ("viscous", "coulomb", "offset", "load")
        values = {quantity: np.zeros(tree.nv) for quantity in quantities}
        smoothing, columns = np.full(tree.nv, SMOOTHING), {quantity: list[int]() for quantity in quantities}
        elements: Mapping[str, Friction] = friction if isinstance(friction, Mapping) else {}
        if of_model := not isinstance(friction, Mapping):
            if not isinstance(friction, str) or friction != "model":
                error = ArgumentError if isinstance(friction, str) else ArgumentTypeError
                raise error(f"friction={shown(friction)}: give {{joint: gd.Friction(…)}} or 'model'")
            for quantity, vector in (("viscous", tree.damping), ("coulomb", tree.friction)):
                values[quantity][: len(vector)], columns[quantity] = vector, [*range(len(vector))]
        for name, element in elements.items():
            joint = joint_of(tree, name)
            _check_element(joint, element)
            for quantity in quantities:
                if (value := getattr(element, quantity)) is not None:
                    values[quantity][joint.columns] = value
                    columns[quantity] += joint.columns
            smoothing[joint.columns] = element.smoothing
        b, labels = np.eye(tree.nv), tree.velocity_names  # the products by 1 leave nothing in the graphs
        return cls(tree, b, labels, {name: tuple(x) for name, x in columns.items()}, values, smoothing, of_model)

    def parameters_of(self, tree: Tree) -> dict[str, float]:
        if not self.of_model:
            return self.parameters
        columns = {name: k for k, name in enumerate(tree.velocity_names)}
        if unknown := [self.labels[k] for k in self.columns["viscous"] if self.labels[k] not in columns]:
            raise UnknownNameError("joint", unknown[0], columns)
        vectors = {"viscous": tree.damping, "coulomb": tree.friction}
        places = ((name, *name.rpartition(".")) for name in self.parameters)
        return {name: float(vectors[quantity][columns[joint]]) for name, joint, _, quantity in places}

    def write_parameters(self, model: pin.Model, values: Mapping[str, float]) -> None:
        """Set ``model.damping`` and ``model.friction``, with ``lowerDryFrictionLimit`` as a URDF's friction sets it."""
        if not self.of_model:
            return
        for name, value in values.items():
            joint, _, quantity = name.rpartition(".")
            column = self.labels.index(joint)
            if quantity == "viscous":
                model.damping[column] = value
            else:
                model.friction[column], model.lowerDryFrictionLimit[column] = value, -value

    def load(self, v: Matrix) -> Matrix | None:
        """The part load · tanh(v / smoothing) of |tau_l|."""
        return spatial.constant(self.values["load"]) * self._direction(v) if self.columns["load"] else None


def _check_element(joint: Joint, element: object) -> None:
    """Refuse what is no friction of a joint."""
    context = f"friction of joint {joint.name!r}"
    if not isinstance(element, Friction):
        raise ArgumentTypeError(f"{context}: got {shown(element)}; give gd.Friction(viscous, coulomb)")
    if joint.scaling is not None:
        s = abs(joint.scaling)
        raise ArgumentError(
            f"{context}: it mimics another joint and has no velocity of its own; give that joint {s * s:.6g} × "
            f"viscous, {s:.6g} × coulomb and smoothing / {s:.6g}"
        )
    for quantity in ("viscous", "coulomb", "offset", "load"):
        value: Any = getattr(element, quantity)
        if np.ndim(value) and len(np.ravel(value)) != joint.type.nv:
            raise ArgumentError(f"{context}: {quantity} has {np.size(value)} numbers; give {joint.type.nv}, or one")


@dataclass(frozen=True, eq=False)
class Motors(FrictionAtSpeeds):
    """The motors of a robot, at the speeds w = Bᵀ v of their actuators: friction, and rotors."""

    name: ClassVar[str] = "motors"
    not_negative: ClassVar[tuple[str, ...]] = ("inertia", "viscous", "coulomb")

    @classmethod
    def of(cls, tree: Tree, actuators: Actuators, names: tuple[str, ...], motors: MotorsByActuator) -> Motors:
        """The motors of actuators by name.

        Raises:
            ArgumentTypeError: if it is no dict of :class:`Motor`.
            UnknownNameError: if an actuator is not there.
            UnsupportedError: if B is not a matrix of numbers.
            ArgumentError: if a motor drives a base that floats, which has no bearing for its rotor.
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
        labels = tuple(name for name in names if name in motors)
        chosen = [motors[name] for name in labels]
        b, every = actuators.b[:, [names.index(name) for name in labels]], tuple(range(len(labels)))
        for joint in tree.joints:
            if joint.parent < 0 and joint.type.is_free and b[list(joint.columns)].any():
                raise ArgumentError(
                    f"motors: some of them drive the free base {joint.name!r}; give columns of B that are 0 there"
                )
        quantities = ("inertia", "viscous", "coulomb", "offset")
        values = {quantity: np.array([getattr(motor, quantity) or 0.0 for motor in chosen]) for quantity in quantities}
        with_offset = tuple(k for k in every if chosen[k].offset is not None)
        columns = dict.fromkeys(quantities, every) | {"offset": with_offset}
        return cls(tree, b, labels, columns, values, np.array([motor.smoothing for motor in chosen]))

    def inertia(self) -> Matrix:
        """The inertia B J Bᵀ (nv × nv), a part of M."""
        return self._at_joints("inertia")


def at_least_zero(argument: str, value: object) -> float | tuple[float, ...]:
    """One number, or several, each finite and at least 0."""
    values = some_numbers(argument, value)
    if np.min(values) < 0:
        raise ArgumentError(
            f"{argument}: got {shown(value)}; give at least 0, as friction takes power out of the robot"
        )
    return values


def some_numbers(argument: str, value: object) -> float | tuple[float, ...]:
    """One finite number, or several."""
    values = numbers(argument, value)
    if values.ndim > 1 or not values.size:
        raise ArgumentError(
            f"{argument} has shape {values.shape}; give one number, or one for each velocity of the joint"
        )
    return tuple(values.tolist()) if values.ndim else float(values)

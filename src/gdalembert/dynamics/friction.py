"""Friction of joints: viscous, Coulomb, an offset, and Coulomb friction that grows with the transmitted torque.

    tau = tau_l + viscous v + (coulomb + load |tau_l|) t + offset,        t = tanh(v / smoothing)

with tau_l of all but friction, what the gears transmit: inertia, gravity, springs, wrenches. Friction of gears that
grows with the load is that of Hamon, Gautier and Garrec, "Dynamic identification of robots with a dry friction model
depending on load and velocity", IROS 2010. Since |load t| < 1, tau_l follows from tau in closed form, and forward
dynamics need no iteration (ours).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.forces import Force, joint_of
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.tree import Tree
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
    """tau + part |tau| of a torque tau, |part| < 1."""
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


_QUANTITIES = ("viscous", "coulomb", "offset", "load")


@dataclass(frozen=True, eq=False)
class JointFriction(Force):
    """Friction of all joints that have any, velocity by velocity.

    Attributes:
        tree: the robot.
        columns: the entries of v with friction. ``with_offset``, ``with_load``: those with these parameters.
        viscous: (nv) [N m s/rad, N s/m], ``coulomb``, ``offset``: (nv) [N m, N], ``load``: (nv); numbers or symbols.
        smoothing: (nv) [rad/s, m/s].
        of_model: whether it is that of a model's ``damping`` and ``friction``, which parameters are then read from and
            written to.
    """

    name: ClassVar[str] = "friction"
    not_negative: ClassVar[tuple[str, ...]] = ("viscous", "coulomb", "load")
    below_one: ClassVar[tuple[str, ...]] = ("load",)

    tree: Tree
    columns: tuple[int, ...]
    with_offset: tuple[int, ...]
    with_load: tuple[int, ...]
    viscous: Any
    coulomb: Any
    offset: Any
    load_part: Any
    smoothing: Array
    of_model: bool = False

    @classmethod
    def of(cls, tree: Tree, friction: FrictionOfJoints) -> JointFriction:
        """Friction of joints by name, or of the model.

        Raises:
            ArgumentTypeError: if it is neither a dict of :class:`Friction` nor ``"model"``.
            UnknownNameError: if a joint is not there.
            ArgumentError: if a joint mimics another or has another number of velocities, or the word is another.
        """
        values = {quantity: np.zeros(tree.nv) for quantity in _QUANTITIES}
        smoothing = np.full(tree.nv, SMOOTHING)
        if not isinstance(friction, Mapping):
            if not isinstance(friction, str) or friction != "model":
                error = ArgumentError if isinstance(friction, str) else ArgumentTypeError
                raise error(f"friction={shown(friction)}: give {{joint: gd.Friction(…)}} or 'model'")
            columns = range(len(tree.damping))
            values["viscous"][columns], values["coulomb"][columns] = tree.damping, tree.friction
            return cls(tree, tuple(columns), (), (), **_fields(values), smoothing=smoothing, of_model=True)
        chosen: dict[str, list[int]] = {quantity: [] for quantity in _QUANTITIES}
        for name, element in friction.items():
            joint = joint_of(tree, name)
            context = f"friction of joint {joint.name!r}"
            if not isinstance(element, Friction):
                raise ArgumentTypeError(f"{context}: got {shown(element)}; give gd.Friction(viscous, coulomb)")
            if joint.scaling is not None:
                s = abs(joint.scaling)
                raise ArgumentError(
                    f"{context}: it mimics another joint and has no velocity of its own; give that joint {s * s:.6g} × "
                    f"viscous, {s:.6g} × coulomb and smoothing / {s:.6g}"
                )
            for quantity in _QUANTITIES:
                value = getattr(element, quantity)
                if value is None:
                    continue
                if np.ndim(value) and len(np.ravel(value)) != joint.type.nv:
                    raise ArgumentError(
                        f"{context}: {quantity} has {np.size(value)} numbers; give {joint.type.nv}, or one"
                    )
                values[quantity][joint.columns] = value
                chosen[quantity] += joint.columns
            smoothing[joint.columns] = element.smoothing
        moved, with_offset, with_load = (tuple(sorted(chosen[quantity])) for quantity in ("viscous", "offset", "load"))
        return cls(tree, moved, with_offset, with_load, **_fields(values), smoothing=smoothing)

    @property
    def is_friction(self) -> bool:
        return True

    def _values(self, quantity: str) -> Any:
        return self.load_part if quantity == "load" else getattr(self, quantity)

    def _columns(self, quantity: str) -> tuple[int, ...]:
        """The entries of v that have a parameter."""
        return {"offset": self.with_offset, "load": self.with_load}.get(quantity, self.columns)

    @property
    def parameters(self) -> dict[str, float]:
        """``joint.viscous``, ``joint.coulomb``, and ``joint.offset`` and ``joint.load`` if they were given."""
        return self._named(self.tree, {quantity: self._values(quantity) for quantity in _QUANTITIES})

    def parameters_of(self, tree: Tree) -> dict[str, float]:
        if not self.of_model:
            return self.parameters
        return self._named(tree, {"viscous": tree.damping, "coulomb": tree.friction})

    def write_parameters(self, model: pin.Model, values: Mapping[str, float]) -> None:
        """Set ``model.damping`` and ``model.friction``, with ``lowerDryFrictionLimit`` as a URDF's friction sets it."""
        if not self.of_model:
            return
        for name, value in values.items():
            joint, _, quantity = name.rpartition(".")
            column = self.tree.velocity_names.index(joint)
            if quantity == "viscous":
                model.damping[column] = value
            else:
                model.friction[column], model.lowerDryFrictionLimit[column] = value, -value

    def with_parameters(self, values: Mapping[str, Matrix]) -> JointFriction:
        names, changed = self.tree.velocity_names, dict[str, Any]()
        for quantity in _QUANTITIES:
            values_by_column = enumerate(ca.vertsplit(spatial.constant(self._values(quantity))))
            changed[quantity] = entries(
                ca.vertcat(*(values.get(f"{names[k]}.{quantity}", x) for k, x in values_by_column))
            )
        return replace(self, **_fields(changed))

    def _direction(self, v: Matrix) -> Matrix:
        return ca.tanh(v / ca.DM(self.smoothing))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """viscous · v + coulomb · tanh(v / smoothing) + offset: without what grows with the load."""
        viscous, coulomb = spatial.constant(self.viscous), spatial.constant(self.coulomb)
        return viscous * v + coulomb * self._direction(v) + spatial.constant(self.offset)

    def load(self, v: Matrix) -> Matrix | None:
        """load · tanh(v / smoothing)."""
        return spatial.constant(self.load_part) * self._direction(v) if self.with_load else None

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ torque [W], at least 0 without an offset."""
        return ca.dot(v, self.torque(q, v))

    def damping_matrix(self, tree: Tree) -> Matrix:
        return ca.diag(spatial.constant(self.viscous))

    def _named(self, tree: Tree, values: Mapping[str, npt.ArrayLike]) -> dict[str, float]:
        """The parameters of this element, of numbers that belong to the velocities of a tree."""
        columns = {name: k for k, name in enumerate(tree.velocity_names)}
        parameters: dict[str, float] = {}
        for column in self.columns:
            name = self.tree.velocity_names[column]
            if name not in columns:
                raise UnknownNameError("joint", name, columns)
            for quantity, numbers_of_tree in values.items():
                if column in self._columns(quantity):
                    parameters[f"{name}.{quantity}"] = float(np.asarray(numbers_of_tree)[columns[name]])
        return parameters


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of the fields; ``load`` is a method."""
    return {"load_part" if quantity == "load" else quantity: value for quantity, value in values.items()}


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

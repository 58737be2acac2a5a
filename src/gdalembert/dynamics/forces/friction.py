"""Friction of joints: viscous and smooth Coulomb friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.forces.force import Force
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import Array

SMOOTHING = 0.01
"""The default smoothing velocity [rad/s, m/s]: slow for a robot, yet not too stiff for an implicit integrator."""


@dataclass(frozen=True)
class Friction:
    """Friction of one joint: torque viscous · v + coulomb · tanh(v / smoothing).

    Coulomb friction is the same in both directions. Being smooth, it does not hold a joint at rest: under a torque
    below ``coulomb`` the joint creeps at v = smoothing · atanh(torque / coulomb). A smaller ``smoothing`` is nearer to
    dry friction, and stiffer: the slope at v = 0 is coulomb / smoothing.

    Args:
        viscous: at least 0 [N m s/rad, N s/m]; one number, or one for each velocity of the joint.
        coulomb: at least 0 [N m, N]; likewise.
        smoothing: the velocity at which 76 % of the Coulomb friction acts, above 0 [rad/s, m/s].

    Raises:
        ArgumentTypeError: if an argument is not a number.
        ArgumentError: if one is negative or not finite, or ``smoothing`` is 0.
    """

    viscous: float | Sequence[float] = 0.0
    coulomb: float | Sequence[float] = 0.0
    smoothing: float = field(default=SMOOTHING, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "viscous", _at_least_zero("Friction: viscous", self.viscous))
        object.__setattr__(self, "coulomb", _at_least_zero("Friction: coulomb", self.coulomb))
        object.__setattr__(self, "smoothing", number("Friction: smoothing", self.smoothing, "rad/s, m/s"))


FrictionOfJoints: TypeAlias = Mapping[str, Friction] | Literal["model"]
"""``{joint: Friction(…)}``, or ``"model"``: that of ``model.damping`` and ``model.friction``."""


@dataclass(frozen=True, eq=False)
class JointFriction(Force):
    """Friction of all joints that have any: torque viscous · v + coulomb · tanh(v / smoothing), velocity by velocity.

    Attributes:
        tree: the robot.
        columns: the entries of v with friction.
        viscous: (nv) [N m s/rad, N s/m], ``coulomb``: (nv) [N m, N]; numbers or symbols.
        smoothing: (nv) [rad/s, m/s].
        of_model: whether it is that of a model's ``damping`` and ``friction``, which parameters are then read from and
            written to.
    """

    name: ClassVar[str] = "friction"
    not_negative: ClassVar[tuple[str, ...]] = ("viscous", "coulomb")

    tree: Tree
    columns: tuple[int, ...]
    viscous: Any
    coulomb: Any
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
        if isinstance(friction, Mapping):
            return cls._at_joints(tree, friction)
        if not isinstance(friction, str) or friction != "model":
            error = ArgumentError if isinstance(friction, str) else ArgumentTypeError
            raise error(f"friction={shown(friction)}: give {{joint: gd.Friction(…)}} or 'model'")
        columns, rest = tuple(range(len(tree.damping))), np.zeros(tree.nv - len(tree.damping))
        viscous, coulomb = np.append(tree.damping, rest), np.append(tree.friction, rest)
        return cls(tree, columns, viscous, coulomb, np.full(tree.nv, SMOOTHING), of_model=True)

    @classmethod
    def _at_joints(cls, tree: Tree, friction: Mapping[str, Friction]) -> JointFriction:
        viscous, coulomb, smoothing = np.zeros(tree.nv), np.zeros(tree.nv), np.full(tree.nv, SMOOTHING)
        by_name = {joint.name: joint for joint in tree.joints}
        columns: list[int] = []
        for name, own in friction.items():
            if name not in by_name:
                raise UnknownNameError("joint", name, by_name)
            joint = by_name[name]
            _check(joint, own)
            viscous[joint.columns], coulomb[joint.columns] = own.viscous, own.coulomb
            smoothing[joint.columns] = own.smoothing
            columns += joint.columns
        return cls(tree, tuple(sorted(columns)), viscous, coulomb, smoothing)

    @property
    def parameters(self) -> dict[str, float]:
        """``joint.viscous`` and ``joint.coulomb`` of each velocity with friction."""
        return self._named(self.tree, self.viscous, self.coulomb)

    def parameters_of(self, tree: Tree) -> dict[str, float]:
        return self._named(tree, tree.damping, tree.friction) if self.of_model else self.parameters

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
        return replace(self, viscous=self._with("viscous", values), coulomb=self._with("coulomb", values))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """viscous · v + coulomb · tanh(v / smoothing)."""
        return spatial.constant(self.viscous) * v + spatial.constant(self.coulomb) * ca.tanh(v / ca.DM(self.smoothing))

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ torque [W], at least 0."""
        return ca.dot(v, self.torque(q, v))

    def damping_matrix(self, tree: Tree) -> Matrix:
        return ca.diag(spatial.constant(self.viscous))

    def _named(self, tree: Tree, viscous: npt.ArrayLike, coulomb: npt.ArrayLike) -> dict[str, float]:
        """The parameters of this element, of numbers that belong to the velocities of a tree."""
        columns = {name: k for k, name in enumerate(tree.velocity_names)}
        found: dict[str, float] = {}
        for column in self.columns:
            name = self.tree.velocity_names[column]
            if name not in columns:
                raise UnknownNameError("joint", name, columns)
            for quantity, given in (("viscous", viscous), ("coulomb", coulomb)):
                found[f"{name}.{quantity}"] = float(np.asarray(given)[columns[name]])
        return found

    def _with(self, quantity: str, values: Mapping[str, Matrix]) -> Any:
        """Viscous or Coulomb friction with other values of some of its entries."""
        own = ca.vertsplit(spatial.constant(getattr(self, quantity)))
        names = self.tree.velocity_names
        return entries(ca.vertcat(*(values.get(f"{names[k]}.{quantity}", x) for k, x in enumerate(own))))


def _check(joint: Joint, friction: object) -> None:
    where = f"friction of joint {joint.name!r}"
    if not isinstance(friction, Friction):
        raise ArgumentTypeError(f"{where}: got {friction!r}; give gd.Friction(viscous, coulomb)")
    if joint.scaling is not None:
        s = abs(joint.scaling)
        raise ArgumentError(
            f"{where}: it mimics another joint and has no velocity of its own; give that joint {s * s:.6g} × viscous, "
            f"{s:.6g} × coulomb and smoothing / {s:.6g}"
        )
    for quantity, given in (("viscous", friction.viscous), ("coulomb", friction.coulomb)):
        if np.ndim(given) and len(np.ravel(given)) != joint.type.nv:
            raise ArgumentError(f"{where}: {quantity} has {np.size(given)} numbers; give {joint.type.nv}, or one")


def _at_least_zero(what: str, given: object) -> float | tuple[float, ...]:
    """One number, or several, each finite and at least 0."""
    values = numbers(what, given)
    if values.ndim > 1 or not values.size:
        raise ArgumentError(f"{what} has shape {values.shape}; give one number, or one for each velocity of the joint")
    if values.min() < 0:
        raise ArgumentError(f"{what}: got {given!r}; give at least 0, as friction takes power out of the robot")
    return tuple(values.tolist()) if values.ndim else float(values)

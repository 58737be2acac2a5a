"""Passive forces: gravity, springs between the joints' links and of flexible links and joints, viscous damping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.forces.force import Force
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import MASKED, is_masked, numbers
from gdalembert.spatial.arrays import Array, ByValue

ASYMMETRY = 1e-9
"""What K and its transpose may differ by, relative to the largest entry."""
SpringsByJoint = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
"""``{joint: (stiffness, rest)}``."""
_INDEFINITE = 1e-12
"""How far below 0 the least eigenvalue of D may lie by rounding, relative to the largest entry."""


@dataclass(frozen=True)
class Gravity(Force):
    """The weight of all links, in a field that is the same everywhere: V = −Σ m g·r, torque g = ∂V/∂q.

    A recursion need not add the torque: it gives the base the acceleration −g, which is the same and costs less.

    Attributes:
        tree: the robot; its ``gravity`` (3) is the acceleration [m/s²] in the universe frame.
    """

    name: ClassVar[str] = "gravity"

    tree: Tree

    @property
    def base_acceleration(self) -> Matrix:
        """−g (3) [m/s²]: the acceleration of the base that gravity is equal to."""
        return -spatial.constant(self.tree.gravity)

    def energy(self, q: Matrix) -> Matrix:
        """V = −Σ m g·r [J], zero with all masses at the origin of the universe."""
        return -ca.dot(spatial.constant(self.tree.gravity), self.tree.first_moment(q))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """g = ∂V/∂q (nv) in the tangent space of q."""
        x = ca.SX.sym("q", self.tree.nq)
        gradient = self.tree.tangent_map(x).T @ ca.gradient(self.energy(x), x)
        if isinstance(q, ca.SX):
            return ca.substitute(gradient, x, q)
        return ca.Function("gravity", [x], [gradient])(q)

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """0."""
        return ca.DM(0)


@dataclass(frozen=True, eq=False)
class Springs(Force):
    """Linear springs: torque K (x − rest), with x the coordinates of the joints where v = dq/dt.

    Attributes:
        tree: the robot.
        stiffness: K (nv × nv), symmetric and positive semidefinite [N m/rad, N/m]; numbers or symbols.
        rest: (nv) [rad, m]; numbers or symbols.

    Raises:
        ArgumentError: if a shape is another one, K is not finite and symmetric, or q − rest has no meaning for a joint.
    """

    name: ClassVar[str] = "springs"
    not_negative: ClassVar[tuple[str, ...]] = ("stiffness",)

    tree: Tree
    stiffness: Any
    rest: Any

    def __post_init__(self) -> None:
        k, nv = spatial.constant(self.stiffness), self.tree.nv
        if k.shape != (nv, nv) or spatial.constant(self.rest).shape != (nv, 1):
            raise ArgumentError(f"Springs: stiffness has shape {k.shape}; give K ({nv} × {nv}) and rest ({nv})")
        if isinstance(k, ca.DM) and not _is_symmetric(k.full()):
            raise ArgumentError("Springs: stiffness is not finite and symmetric; its torque would have no energy")
        held = set(k.sparsity().get_col())
        for joint in self.tree.joints:
            if joint.scaling is None and held & set(joint.columns):
                _check_joint(joint)

    @classmethod
    def at_joints(cls, tree: Tree, springs: SpringsByJoint) -> Springs:
        """Springs at joints by name (Niku, examples 4.1 and 4.2).

        Args:
            tree: the robot.
            springs: stiffness [N m/rad, N/m] and rest [rad, m] by joint; one number each, or nv of them; or symbols.

        Raises:
            UnknownNameError: if a joint is not there.
            ArgumentTypeError: if a spring is not a pair of numbers.
            ArgumentError: if q − rest has no meaning for a joint, a number is not finite, or a stiffness negative.
        """
        if not isinstance(springs, Mapping):
            raise ArgumentTypeError(f"springs={springs!r}: give {{joint: (stiffness, rest)}}")
        stiffness: list[Matrix] = [ca.DM(1, 1)] * tree.nv
        rest: list[Matrix] = [ca.DM(1, 1)] * tree.nv
        by_name = {joint.name: joint for joint in tree.joints}
        for name, spring in springs.items():
            if name not in by_name:
                raise UnknownNameError("joint", name, by_name)
            joint = by_name[name]
            _check_joint(joint)
            for column, k, x in zip(joint.columns, *_entries(joint, spring), strict=True):
                stiffness[column], rest[column] = spatial.constant(k), spatial.constant(x)
        return cls(tree, ca.diag(ca.vertcat(*stiffness)), ca.vertcat(*rest))

    @property
    def parameters(self) -> dict[str, float]:
        """Stiffness and rest of each spring, ``joint.stiffness``, ``joint.rest``; none where K couples joints."""
        k, rest = ca.DM(self.stiffness), ca.DM(self.rest)
        rows, columns = k.sparsity().get_triplet()
        if rows != columns:
            return {}
        names = self.tree.velocity_names
        pairs = (((f"{names[i]}.stiffness", k[i, i]), (f"{names[i]}.rest", rest[i])) for i in rows)
        return {name: float(value) for pair in pairs for name, value in pair}

    def with_parameters(self, values: Mapping[str, Matrix]) -> Springs:
        stiffness, rest = ca.SX(ca.DM(self.stiffness)), ca.SX(ca.DM(self.rest))
        for i, name in enumerate(self.tree.velocity_names):
            stiffness[i, i] = values.get(f"{name}.stiffness", stiffness[i, i])
            rest[i] = values.get(f"{name}.rest", rest[i])
        return Springs(self.tree, *(x if ca.symvar(x) else ca.evalf(x) for x in (stiffness, rest)))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """K (x − rest)."""
        return spatial.constant(self.stiffness) @ self._stretch(q)

    def energy(self, q: Matrix) -> Matrix:
        """½ (x − rest)ᵀ K (x − rest) [J]."""
        return 0.5 * ca.dot(self._stretch(q), self.torque(q, ca.DM(self.tree.nv, 1)))

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """0."""
        return ca.DM(0)

    def _stretch(self, q: Matrix) -> Matrix:
        """x − rest (nv), structurally zero where no spring is."""
        held = set(spatial.constant(self.stiffness).sparsity().get_col())
        parts: list[Matrix] = [
            joint.configuration(q) if held & set(joint.columns) and joint.scaling is None else ca.DM(joint.type.nv, 1)
            for joint in self.tree.joints
        ]
        return self.tree.vector(parts) - spatial.constant(self.rest)


def _is_symmetric(k: Array) -> bool:
    """Whether K is finite, and symmetric to the rounding of integrals over modes."""
    return bool(np.all(np.isfinite(k)) and np.abs(k - k.T).max(initial=0) <= ASYMMETRY * np.abs(k).max(initial=0))


def _check_joint(joint: Joint) -> None:
    if joint.scaling is not None:
        raise ArgumentError(f"spring at joint {joint.name!r}: it mimics another joint; put the spring on that one")
    if not joint.type.velocity_is_rate:
        raise ArgumentError(
            f"spring at joint {joint.name!r}: q − rest has no meaning for a {joint.type.kind} joint; "
            "springs stand on joints with nq = nv"
        )


def _entries(joint: Joint, spring: object) -> Sequence[Iterable[Any]]:
    """Stiffness and rest for each velocity of a joint."""
    nv = joint.type.nv
    if isinstance(spring, Sequence) and is_masked(list(spring)):
        raise ArgumentError(f"spring at joint {joint.name!r}: {MASKED}")
    if isinstance(spring, Sequence) and any(isinstance(x, ca.SX) for x in spring):
        symbols = [ca.vertsplit(ca.SX(x)) for x in spring]
        return [x * nv if len(x) == 1 else x for x in symbols]
    try:
        if not isinstance(spring, Sequence | np.ndarray):
            raise TypeError
        stiffness, rest = (np.broadcast_to(np.asarray(x, dtype=float), nv) for x in spring)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"spring at joint {joint.name!r}: got {spring!r}; give (stiffness, rest), each {nv} numbers or one"
        ) from None
    if not (np.all(np.isfinite(stiffness)) and np.all(np.isfinite(rest)) and np.all(stiffness >= 0)):
        raise ArgumentError(
            f"spring at joint {joint.name!r}: got {spring!r}; give finite numbers, stiffness at least 0"
        )
    return stiffness, rest


@dataclass(frozen=True, eq=False)
class Damping(ByValue, Force):
    """Viscous damping: torque D v.

    Attributes:
        matrix: D (nv × nv), symmetric and positive semidefinite [N m s/rad, N s/m].

    Raises:
        ArgumentTypeError: if D does not consist of numbers.
        ArgumentError: if it is not a finite, symmetric, positive semidefinite matrix.
    """

    name: ClassVar[str] = "damping"

    matrix: npt.ArrayLike

    def __post_init__(self) -> None:
        d = numbers("Damping: matrix", self.matrix)
        if d.ndim != 2 or d.shape[0] != d.shape[1]:
            raise ArgumentError(f"Damping: matrix has shape {d.shape}; give D (nv × nv)")
        allowed = _INDEFINITE * np.abs(d).max(initial=0)
        if np.abs(d - d.T).max(initial=0) > allowed or np.linalg.eigvalsh(d).min(initial=0) < -allowed:
            raise ArgumentError("Damping: matrix is not symmetric and positive semidefinite; it would drive the robot")
        object.__setattr__(self, "matrix", d)

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """D v."""
        return spatial.constant(self.matrix) @ v

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ D v [W]."""
        return ca.dot(v, self.torque(q, v))

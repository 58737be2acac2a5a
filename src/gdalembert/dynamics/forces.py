"""Force elements, which act on a robot beside the inertia of its links: one small class for each.

Gravity, springs between the joints' links and of flexible links and joints, and viscous damping.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, reason_of, shown
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import MASKED, is_masked, numbers
from gdalembert.spatial.arrays import ByValue
from gdalembert.spatial.brief import Brief

__all__ = ["Damping", "Force", "Gravity", "Springs"]

_BALANCED = 1e-9
"""The largest difference of vᵀ torque from d energy/dt + power, relative to the largest of the three."""
ASYMMETRY = 1e-9
"""The largest difference of K from its transpose, relative to the largest entry."""
_INDEFINITE = 1e-12
"""The depth below 0 that rounding may give the least eigenvalue of D, relative to the largest entry."""
SpringsByJoint = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
"""``{joint: (stiffness, rest)}``."""


class Force(Brief, ABC):
    """A force element, which acts on a robot beside the inertia of its links.

    Its torque stands on the left-hand side of the equations of motion,

        tau = M a + C v + g + Σ torque(q, v),

    and splits into a conservative part, the gradient of ``energy``, and a dissipative part, which takes ``power`` out
    of the robot:

        vᵀ torque(q, v) = d energy(q)/dt + power(q, v).

    Arguments q (nq) and v (nv) are CasADi matrices of any kind: numbers, SX or MX. Derivatives of the torque follow by
    algorithmic differentiation.

    Attributes:
        name: what a decomposition of torques calls the element.
        not_negative: the quantities among the parameters that no robot has below 0, as ``viscous``. ``below_one``:
            those that no robot has from 1 on, as ``load``.
    """

    name: ClassVar[str]
    not_negative: ClassVar[tuple[str, ...]] = ()
    below_one: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """The torque (nv) [N m, N]."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Names of what can vary, ``element.quantity``, with its values; none by default.

        ``parameters={name of the force: True}`` makes inputs of them.
        """
        return {}

    def with_parameters(self, values: Mapping[str, Matrix]) -> Force:
        """The element with other values of some of its parameters, numbers or symbols."""
        raise UnsupportedError(f"force {self.name!r}: it has parameters, but no with_parameters(values)")

    def parameters_of(self, tree: Tree) -> Mapping[str, float]:
        """The parameters in another model of the robot, by default those of the element: a model does not have them."""
        return self.parameters

    def write_parameters(self, model: pin.Model, values: Mapping[str, float]) -> None:
        """Set the parameters in a model, by default none: a model does not have them."""
        return

    def damping_matrix(self, tree: Tree) -> Matrix:
        """D (nv × nv) of viscous damping D v, a part of the torque: by default the constant entries of ∂torque/∂v."""
        q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
        by_v = ca.jacobian(ca.SX(self.torque(q, v)), v)
        # entries that depend on q or v are no matrix D; their values at rest would be those of one state among many
        constant = [x if (x := by_v[k]).is_constant() else 0 for k in range(by_v.numel())]
        return ca.evalf(ca.reshape(ca.vertcat(*constant), *by_v.shape))

    @property
    def is_friction(self) -> bool:
        """True if the torque is friction, which is no part of the load that friction of other elements grows with."""
        return False

    def load(self, v: Matrix) -> Matrix | None:
        """Torque (nv) that the element adds beside ``torque``, in parts of |tau| without friction; none by default.

        It is from −1 to 1, both excluded, and the largest where |v| is.
        """
        return None

    def inertia(self) -> Matrix | None:
        """The part of M (nv × nv), constant, that the element adds; by default none."""
        return None

    def energy(self, q: Matrix) -> Matrix:
        """The potential energy [J]; 0 for an element that stores none."""
        return ca.DM(0)

    def power(self, q: Matrix, v: Matrix) -> Matrix | None:
        """The power that the element dissipates [W]; ``None``: vᵀ torque − d energy/dt."""
        return None


def dissipated_power(force: Force, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """The power that a force element takes out of a robot [W]."""
    power = force.power(q, v)
    if power is not None:
        return power
    x = ca.SX.sym("q", tree.nq)
    slope = _evaluated(ca.gradient(ca.SX(force.energy(x)), x), x, q)
    return ca.dot(v, force.torque(q, v)) - ca.dot(slope, tree.configuration_rate(q, v))


def _evaluated(expression: ca.SX, x: ca.SX, q: Matrix) -> Matrix:
    """An expression of symbols x, at q."""
    return ca.substitute(expression, x, q) if isinstance(q, ca.SX) else ca.Function("at", [x], [expression])(q)


def joint_of(tree: Tree, name: str) -> Joint:
    by_name = {joint.name: joint for joint in tree.joints}
    if name not in by_name:
        raise UnknownNameError("joint", name, by_name)
    return by_name[name]


def check_forces(forces: Iterable[Force] | None, tree: Tree) -> tuple[Force, ...]:
    """The force elements as a tuple, each evaluated once."""
    if not isinstance(forces, list | tuple | None):
        raise ArgumentTypeError(
            f"forces: expected a list of force elements, got {type(forces).__name__}; give [force, …]"
        )
    for force in forces or ():
        if not isinstance(force, Force):
            raise ArgumentTypeError(
                f"forces: expected force elements of gdalembert.dynamics.forces, got {shown(force)}"
            )
        if not isinstance(getattr(force, "name", None), str):
            raise ArgumentTypeError(f"forces: {type(force).__name__} has no name; give the class name = '…'")
        if force.name == "gravity":
            raise ArgumentError("forces: gravity acts on every robot already; change the gravity of the model")
        _check(force, tree)
    return tuple(forces or ())


def _check(force: Force, tree: Tree) -> None:
    """Refuse shapes that CasADi would broadcast, and an energy or power that the torque contradicts."""
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    parts: list[tuple[str, tuple[int, int], Callable[[], Matrix]]] = [
        ("torque(q, v)", (tree.nv, 1), lambda: force.torque(q, v)),
        ("energy(q)", (1, 1), lambda: force.energy(q)),
        ("power(q, v)", (1, 1), lambda: ca.DM(0) if (power := force.power(q, v)) is None else power),
    ]
    for method, expected, evaluate in parts:
        try:
            shape = ca.SX(evaluate()).shape
        except Exception as error:
            reason = reason_of(error)
            raise ArgumentTypeError(
                f"force {force.name!r}: {method} cannot be evaluated in CasADi: {reason}"
            ) from error
        if shape != expected:
            raise ArgumentError(f"force {force.name!r}: {method} has shape {shape}; give {expected}")
    # at one random state, in numbers: whether two graphs are the same function cannot be read off them
    rate = ca.jtimes(ca.SX(force.energy(q)), q, tree.configuration_rate(q, v))
    terms = ca.vertcat(ca.dot(v, force.torque(q, v)), rate, dissipated_power(force, tree, q, v))
    power = ca.Function("power", [q, v], [terms], {"allow_free": True})
    if power.has_free():
        known = set(map(str, ca.symvar(tree.symbols)))
        if unknown := [name for name in dict.fromkeys(power.get_free()) if name not in known]:
            raise ArgumentError(
                f"force {force.name!r}: its symbols {', '.join(unknown)} are no entries of q or v; give numbers, or "
                "name what varies in its parameters and write with_parameters(values)"
            )
        return  # symbols of a symbolic tree
    rng = np.random.default_rng(0)
    work, stored, dissipated = power(random_configuration(tree, rng), rng.normal(size=tree.nv)).full()[:, 0]
    if abs(work - stored - dissipated) > _BALANCED * max(1.0, abs(work), abs(stored), abs(dissipated)):
        raise ArgumentError(
            f"force {force.name!r}: vᵀ torque is {work:.6g} W in some state, where its energy changes by "
            f"{stored:.6g} W and its power is {dissipated:.6g} W; correct energy(q) or power(q, v), or leave power out"
        )


@dataclass(frozen=True)
class Gravity(Force):
    """The weight of all links in a uniform field: V = −Σ m g·r, torque g = ∂V/∂q.

    A recursion need not add the torque: it gives the base the acceleration −g, which is the same and costs less.

    Attributes:
        tree: the robot; its ``gravity`` (3) is the acceleration [m/s²] in the universe frame.
    """

    name: ClassVar[str] = "gravity"

    tree: Tree

    @property
    def base_acceleration(self) -> Matrix:
        """The acceleration −g (3) [m/s²] of the base that gravity is equal to."""
        return -spatial.constant(self.tree.gravity)

    def energy(self, q: Matrix) -> Matrix:
        """V = −Σ m g·r [J], zero with all masses at the origin of the universe."""
        return -ca.dot(spatial.constant(self.tree.gravity), self.tree.first_moment(q))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """The torque g = ∂V/∂q (nv) in the tangent space of q."""
        x = ca.SX.sym("q", self.tree.nq)
        return _evaluated(self.tree.tangent_map(x).T @ ca.gradient(self.energy(x), x), x, q)

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
        full = k.full() if isinstance(k, ca.DM) else np.zeros((0, 0))
        # to the rounding of integrals over modes
        is_symmetric = np.abs(full - full.T).max(initial=0) <= ASYMMETRY * np.abs(full).max(initial=0)
        if not (np.all(np.isfinite(full)) and is_symmetric):
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
            raise ArgumentTypeError(f"springs={shown(springs)}: give {{joint: (stiffness, rest)}}")
        stiffness: list[Matrix] = [ca.DM(1, 1)] * tree.nv
        rest: list[Matrix] = [ca.DM(1, 1)] * tree.nv
        for name, spring in springs.items():
            joint = joint_of(tree, name)
            _check_joint(joint)
            for column, k, x in zip(joint.columns, *_stiffness_and_rest(joint, spring), strict=True):
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
        """The torque K (x − rest)."""
        return spatial.constant(self.stiffness) @ self._stretch(q)

    def energy(self, q: Matrix) -> Matrix:
        """The energy ½ (x − rest)ᵀ K (x − rest) [J]."""
        return 0.5 * ca.dot(self._stretch(q), self.torque(q, ca.DM(self.tree.nv, 1)))

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """0."""
        return ca.DM(0)

    def _stretch(self, q: Matrix) -> Matrix:
        """The deflection x − rest (nv), structurally zero where no spring is."""
        held = set(spatial.constant(self.stiffness).sparsity().get_col())
        parts: list[Matrix] = [
            joint.configuration(q) if held & set(joint.columns) and joint.scaling is None else ca.DM(joint.type.nv, 1)
            for joint in self.tree.joints
        ]
        return self.tree.vector(parts) - spatial.constant(self.rest)


def _check_joint(joint: Joint) -> None:
    if joint.scaling is not None:
        raise ArgumentError(f"spring at joint {joint.name!r}: it mimics another joint; put the spring on that one")
    if not joint.type.velocity_is_rate:
        raise ArgumentError(
            f"spring at joint {joint.name!r}: q − rest has no meaning for a {joint.type.kind} joint; "
            "springs stand on joints with nq = nv"
        )


def _stiffness_and_rest(joint: Joint, spring: object) -> Sequence[Iterable[Any]]:
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
            f"spring at joint {joint.name!r}: got {shown(spring)}; give (stiffness, rest), each {nv} numbers or one"
        ) from None
    if not (np.all(np.isfinite(stiffness)) and np.all(np.isfinite(rest)) and np.all(stiffness >= 0)):
        raise ArgumentError(
            f"spring at joint {joint.name!r}: got {shown(spring)}; give finite numbers, stiffness at least 0"
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
        """The torque D v."""
        return spatial.constant(self.matrix) @ v

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """The power vᵀ D v [W]."""
        return ca.dot(v, self.torque(q, v))

"""Tree: the numbers of a ``pin.Model``, taken once, in the form that every formulation uses.

A tree holds *elementary* joints only. Pinocchio's universal and spherical-ZYX joints are revolute joints in a row,
a composite joint is the row of its parts; the links between such parts are massless. A mimic joint is an ordinary
joint that shares the coordinates of the joint it mimics: ``q = scaling q_k + offset`` and S scaled alike, so that its
rows and columns simply add to those of the other (the projection Gᵀ(·)G of the free model).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import joints as jt
from gdalembert import spatial
from gdalembert.errors import ArgumentTypeError, ModelError
from gdalembert.spatial import Matrix

_ZERO = ca.DM(1, 1)  # structurally zero

Array = npt.NDArray[np.float64]

PHYSICAL_TOLERANCE = 1e-9
"""How far below zero a principal moment may lie, relative to the largest one, and still count as rounding noise."""

NOISE_PER_MASS = 1e-15
"""The same per mass [m²], for bodies so slender that rounding of the parallel-axis terms is all there is."""


class _ByValue:
    """Equality and hash of a dataclass that holds arrays: by value."""

    def _key(self) -> tuple[object, ...]:
        values = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]
        return tuple((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __setstate__(self, state: dict[str, object]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)


def _frozen(values: npt.ArrayLike) -> Array:
    array = np.array(values, dtype=float) + 0.0  # + 0.0: −0 and 0 are the same number and shall have the same bytes
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Joint(_ByValue):
    """An elementary joint and the link it moves.

    Attributes:
        name: Pinocchio's name; parts of a joint that is a sequence are ``name[0]``, ``name[1]``, …
        type: the motion, see :mod:`gdalembert.joints`.
        parent: index of the parent in ``Tree.joints``, −1 for the universe.
        rotation, translation: the joint frame in the parent's link frame (3 × 3; 3, m).
        mass: of the link [kg]. ``com``: centre of mass in the link frame (3, m). ``inertia``: tensor about the centre
            of mass, axes of the link frame (3 × 3, kg m²).
        idx_q, idx_v: where the joint's coordinates start in q and v.
        scaling, offset: of a joint that mimics another one, else ``None``.
    """

    name: str
    type: jt.JointType
    parent: int
    rotation: Array
    translation: Array
    mass: float
    com: Array
    inertia: Array
    idx_q: int
    idx_v: int
    scaling: float | None = None
    offset: float | None = None

    @property
    def columns(self) -> range:
        """The indices of the joint's velocities in v."""
        return range(self.idx_v, self.idx_v + self.type.nv)

    @property
    def pseudo_inertia(self) -> ca.DM:
        """J = ∫ x̂ x̂ᵀ dm with x̂ = (x, y, z, 1), 4 × 4, of the link about its origin, in link axes."""
        com = spatial.constant(self.com)
        second = spatial.pseudo_inertia_of(spatial.constant(self.inertia)) + self.mass * com @ com.T
        return ca.sparsify(spatial.rows((second, self.mass * com), (self.mass * com.T, self.mass)))

    def configuration(self, q: Matrix) -> Matrix:
        """The joint's own part of q."""
        own = q[self.idx_q : self.idx_q + self.type.nq]
        if self.scaling is None or self.offset is None:
            return own
        return self.type.mimicked(own, self.scaling, self.offset)

    def velocity(self, v: Matrix) -> Matrix:
        """The joint's own part of v (or of a)."""
        return v[self.idx_v : self.idx_v + self.type.nv]

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """R (3 × 3) and p (3): the link frame in the parent's link frame."""
        r, p = self.type.placement(self.configuration(q))
        fixed = spatial.constant(self.rotation)
        return fixed @ r, spatial.constant(self.translation) + fixed @ p

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """The linear and the angular half of S, 3 × nv each, in link axes."""
        linear, angular = self.type.subspace(self.configuration(q))
        if self.scaling is None:
            return linear, angular
        return self.scaling * linear, self.scaling * angular

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """dS/dt in the same halves; no joint whose S depends on q can be mimicked."""
        return self.type.subspace_rate(self.configuration(q), self.velocity(v))


@dataclass(frozen=True, eq=False)
class Frame(_ByValue):
    """A frame fixed in a link: ``joint`` is an index into ``Tree.joints``, −1 for the universe."""

    name: str
    joint: int
    rotation: Array
    translation: Array


@dataclass(frozen=True, eq=False)
class Tree(_ByValue):
    """A frozen, picklable copy of what a ``pin.Model`` says about dynamics; equal if all numbers are equal.

    Attributes:
        name: of the model. ``nq, nv``: lengths of q and v.
        joints: elementary joints, a parent always before its children.
        links: for Pinocchio's joints 1, 2, …: the index in ``joints`` that carries the body.
        joint_names: Pinocchio's names of those joints.
        armature: rotor inertias (nv) that stand on the diagonal of M.
        gravity: acceleration (3, m/s²) in the universe frame.
        frames: operational frames, in Pinocchio's order.
    """

    name: str
    nq: int
    nv: int
    joints: tuple[Joint, ...]
    links: tuple[int, ...]
    joint_names: tuple[str, ...]
    armature: Array
    gravity: Array
    frames: tuple[Frame, ...] = field(repr=False)

    @staticmethod
    def from_model(model: pin.Model | Tree) -> Tree:
        """Take the numbers of a model.

        Args:
            model: any ``pin.Model``: every joint type, order of joints, gravity and armature. A ``Tree`` is returned
                as it is.

        Raises:
            ArgumentTypeError: if it is not a ``pin.Model``.
            ModelError: if it holds a number that is not finite, a negative mass or principal moment, a gravity with
                an angular part, an empty chain, or a joint that moves no inertia (see :func:`idle_joints`).
        """
        if isinstance(model, Tree):
            return model
        if isinstance(model, pin.Data):
            raise ArgumentTypeError("expected a pin.Model, got a pin.Data; pass the model that it was created from")
        if not isinstance(model, pin.Model):
            raise ArgumentTypeError(
                f"expected a pin.Model, got {type(model).__name__}; load_urdf makes one from a URDF"
            )
        tree = _read(model)
        _guard(tree)
        if idle := _idle(tree):
            raise ModelError(
                f"{tree.name}: joint {idle[0]!r}: moves no inertia, so that the mass matrix is singular; "
                "give the link it moves a mass and inertia, or the joint an armature"
            )
        return tree

    @property
    def has_mimic(self) -> bool:
        """Whether a joint shares the coordinates of another."""
        return any(joint.scaling is not None for joint in self.joints)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """A name for each entry of v: the joint's, with ``[k]`` behind it where the joint has several."""
        names = [""] * self.nv
        for joint in self.joints:
            if joint.scaling is None:
                for k, column in enumerate(joint.columns):
                    names[column] = joint.name if joint.type.nv == 1 else f"{joint.name}[{k}]"
        return tuple(names)

    def path(self, index: int) -> list[int]:
        """The joints from the universe to ``index``, which is the last of them."""
        path = []
        while index >= 0:
            path.append(index)
            index = self.joints[index].parent
        return path[::-1]

    def suffix_sums(self, values: list[Any]) -> list[Any]:
        """For each joint the sum of ``values`` over the links of its subtree, its own included."""
        sums = list(values)
        for i in reversed(range(len(self.joints))):
            parent = self.joints[i].parent
            if parent >= 0:
                sums[parent] = sums[parent] + sums[i]
        return sums

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs (i, j) of joints with i at or above j."""
        for j in range(len(self.joints)):
            for i in self.path(j):
                yield i, j

    def vector(self, parts: list[Matrix]) -> Matrix:
        """nv numbers from each joint's own ones; joints that share coordinates add."""
        entries: list[Matrix] = [_ZERO] * self.nv
        for joint, part in zip(self.joints, parts, strict=True):
            for k, column in enumerate(joint.columns):
                entries[column] = entries[column] + part[k]
        return ca.vertcat(*entries)

    def matrix(self, blocks: Iterable[tuple[int, int, Matrix]]) -> Matrix:
        """nv × nv numbers from blocks (i, j, block of joints i and j); structurally zero where there is none."""
        entries: list[list[Matrix]] = [[_ZERO] * self.nv for _ in range(self.nv)]
        for i, j, block in blocks:
            for k, row in enumerate(self.joints[i].columns):
                for m, column in enumerate(self.joints[j].columns):
                    entries[row][column] = entries[row][column] + block[k, m]
        return spatial.rows(*entries)

    def symmetric_matrix(self, blocks: Iterable[tuple[int, int, Matrix]]) -> Matrix:
        """The same for a symmetric matrix of which the blocks (i, j), i at or above j, are given: M = Mᵀ exactly."""

        def both() -> Iterator[tuple[int, int, Matrix]]:
            for i, j, block in blocks:
                if i == j:
                    yield i, i, spatial.symmetric(block)
                else:
                    yield i, j, block
                    yield j, i, block.T

        return self.matrix(both())

    def placements(self, q: Matrix) -> list[tuple[Matrix, Matrix]]:
        """R (3 × 3) and p (3) of each link frame in the universe frame."""
        placed: list[tuple[Matrix, Matrix]] = []
        for joint in self.joints:
            r, p = joint.placement(q)
            if joint.parent >= 0:
                r0, p0 = placed[joint.parent]
                r, p = r0 @ r, p0 + r0 @ p
            placed.append((r, p))
        return placed

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        """dq/dt (nq) of (q, v)."""
        own = [joint for joint in self.joints if joint.scaling is None]
        return ca.vertcat(
            *(j.type.configuration_rate(j.configuration(q), j.velocity(v)) for j in sorted(own, key=lambda j: j.idx_q))
        )

    def first_moment(self, q: Matrix) -> Matrix:
        """Σ m r (3, kg m) of all links, in the universe frame."""
        masses = self.suffix_sums([joint.mass for joint in self.joints])
        moments = [joint.mass * spatial.constant(joint.com) for joint in self.joints]
        total: Matrix = ca.DM(3, 1)
        for i in reversed(range(len(self.joints))):
            r, p = self.joints[i].placement(q)
            moment = r @ moments[i] + masses[i] * p
            parent = self.joints[i].parent
            if parent >= 0:
                moments[parent] = moments[parent] + moment
            else:
                total = total + moment
        return total


def idle_joints(model: pin.Model) -> tuple[str, ...]:
    """Names of the joints that move no inertia and have no armature, so that M is singular in every configuration.

    Ours: S_jᵀ Y_j S_j, with Y_j the inertia of the subtree locked at one generic configuration, is an analytic
    function of q; where it is singular at a generic point it is singular everywhere.
    """
    tree = _read(model)
    _guard(tree)
    return _idle(tree)


def _read(model: pin.Model) -> Tree:
    joints: list[Joint] = []
    links = [-1]
    for index in range(1, model.njoints):
        _append(joints, model, index, parent=links[model.parents[index]])
        links.append(len(joints) - 1)
    if np.any(model.gravity.angular):
        raise ModelError(f"{model.name}: gravity has an angular part {model.gravity.angular}; set it to zero")
    frames = tuple(
        Frame(f.name, links[f.parentJoint], _frozen(f.placement.rotation), _frozen(f.placement.translation))
        for f in model.frames
    )
    return Tree(
        name=model.name,
        nq=model.nq,
        nv=model.nv,
        joints=tuple(joints),
        links=tuple(links[1:]),
        joint_names=tuple(model.names)[1:],
        armature=_frozen(model.armature),
        gravity=_frozen(model.gravity.linear),
        frames=frames,
    )


def _append(joints: list[Joint], model: pin.Model, index: int, parent: int) -> None:
    """Append the elementary joints of Pinocchio's joint ``index``; the last of them carries the body."""
    outer, name = model.joints[index], model.names[index]
    parts = list(_elementary(outer, model, index))
    idx_q, idx_v = outer.idx_q, outer.idx_v
    at = model.jointPlacements[index]
    for k, (placement, joint_type, mimic) in enumerate(parts):
        placed = at * placement if k == 0 else placement
        body = model.inertias[index] if k == len(parts) - 1 else pin.Inertia.Zero()
        joints.append(
            Joint(
                name=name if len(parts) == 1 else f"{name}[{k}]",
                type=joint_type,
                parent=parent if k == 0 else len(joints) - 1,
                rotation=_frozen(placed.rotation),
                translation=_frozen(placed.translation),
                mass=float(body.mass),
                com=_frozen(body.lever),
                inertia=_frozen(body.inertia),
                idx_q=idx_q,
                idx_v=idx_v,
                scaling=mimic[0],
                offset=mimic[1],
            )
        )
        idx_q += joint_type.nq
        idx_v += joint_type.nv


_AXES: dict[str, jt.Vector3] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_PLAIN: dict[str, Callable[[], jt.JointType]] = {
    "Spherical": jt.Spherical,
    "Planar": jt.Planar,
    "Translation": jt.Translation,
    "FreeFlyer": jt.FreeFlyer,
}
_NO_MIMIC = (None, None)
_Part = tuple[pin.SE3, jt.JointType, tuple[float | None, float | None]]


def _elementary(generic: pin.JointModel, model: pin.Model, index: int) -> Iterator[_Part]:
    """The elementary joints that Pinocchio's joint consists of, each with its placement on the one before."""
    joint, here = generic.extract(), pin.SE3.Identity()
    name = type(joint).__name__.removeprefix("JointModel")
    if name == "Composite":
        for part, placement in zip(joint.joints, joint.jointPlacements, strict=True):
            for k, (inner, joint_type, mimic) in enumerate(_elementary(part, model, index)):
                yield (placement * inner if k == 0 else inner), joint_type, mimic
    elif name == "Universal":
        yield here, jt.Revolute(_vector(joint.axis1)), _NO_MIMIC
        yield here, jt.Revolute(_vector(joint.axis2)), _NO_MIMIC
    elif name == "SphericalZYX":
        for axis in "ZYX":
            yield here, jt.Revolute(_AXES[axis]), _NO_MIMIC
    elif name == "Mimic":
        yield here, _mimicking_type(generic, joint.scaling, model, index), (float(joint.scaling), float(joint.offset))
    elif name == "RevoluteUnboundedUnaligned":
        yield here, jt.UnboundedRevolute(_vector(_subspace(generic, model)[3:, 0])), _NO_MIMIC
    else:
        yield here, _simple(joint, name, model.names[index]), _NO_MIMIC


def _simple(joint: Any, name: str, joint_name: str) -> jt.JointType:
    if name in ("RX", "RY", "RZ"):
        return jt.Revolute(_AXES[name[-1]])
    if name == "RevoluteUnaligned":
        return jt.Revolute(_vector(joint.axis))
    if name in ("RUBX", "RUBY", "RUBZ"):
        return jt.UnboundedRevolute(_AXES[name[-1]])
    if name in ("PX", "PY", "PZ"):
        return jt.Prismatic(_AXES[name[-1]])
    if name == "PrismaticUnaligned":
        return jt.Prismatic(_vector(joint.axis))
    if name in ("HX", "HY", "HZ"):
        return jt.Helical(_AXES[name[-1]], float(joint.pitch))
    if name == "HelicalUnaligned":
        return jt.Helical(_vector(joint.axis), float(joint.pitch))
    if name == "Ellipsoid":
        return jt.Ellipsoid((float(joint.radius_x), float(joint.radius_y), float(joint.radius_z)))
    if name in _PLAIN:
        return _PLAIN[name]()
    raise ModelError(f"joint {joint_name!r}: its type {name} is not known to this version of gdalembert")


def _mimicking_type(generic: pin.JointModel, scaling: float, model: pin.Model, index: int) -> jt.JointType:
    """The type of a mimic joint's own motion (always one column), read off its motion subspace."""
    name = model.names[index]
    mimicked = next((j for j in model.mimicked_joints if model.joints[j].idx_v == generic.idx_v), None)
    if scaling == 0 or mimicked is None:
        raise ModelError(f"joint {name!r}: mimics with scaling {scaling}; use a fixed joint")
    joint = model.joints[mimicked]
    if joint.shortname().startswith("JointModelH"):
        # Pinocchio's S of a helical mimic has no pitch, and asking for it can crash; but only a copy can be made of one
        return next(joint_type for _, joint_type, _ in _elementary(joint, model, mimicked))
    subspace = _subspace(generic, model)[:, 0] / scaling
    linear, angular = subspace[:3], subspace[3:]
    if not np.any(angular):
        return jt.Prismatic(_vector(linear))
    return jt.UnboundedRevolute(_vector(angular)) if joint.nq == 2 else jt.Revolute(_vector(angular))


def _subspace(generic: pin.JointModel, model: pin.Model) -> Array:
    """S (6 × nv) at the neutral configuration, for what Pinocchio does not show of a joint."""
    data = generic.createData()
    generic.calc(data, pin.neutral(model))
    return np.asarray(data.S, dtype=float).reshape(6, -1)


def _vector(axis: npt.ArrayLike) -> jt.Vector3:
    x, y, z = (float(e) for e in np.asarray(axis).ravel())
    return (x, y, z)


def _guard(tree: Tree) -> None:
    """Refuse numbers that no formulation can give a right answer for."""
    if not tree.joints:
        raise ModelError(f"{tree.name}: has no joint that moves; there are no equations of motion")
    for joint in tree.joints:
        where = f"{tree.name}: joint {joint.name!r}"
        for what in ("rotation", "translation", "mass", "com", "inertia"):
            values = np.atleast_1d(getattr(joint, what))
            if not np.all(np.isfinite(values)):
                raise ModelError(f"{where}: its {what} is not finite: {values.tolist()}; give finite numbers")
        if not np.allclose(joint.rotation @ joint.rotation.T, np.eye(3), rtol=0, atol=1e-6):
            raise ModelError(f"{where}: the rotation of its placement is not orthogonal; normalise it")
        axis = getattr(joint.type, "axis", (1.0, 0.0, 0.0))
        if not abs(math.hypot(*axis) - 1) < 1e-6:
            raise ModelError(f"{where}: its axis {axis} has length {math.hypot(*axis):.9g}; give a unit vector")
        if not all(math.isfinite(x) for f in fields(joint.type) for x in np.ravel(getattr(joint.type, f.name))):
            raise ModelError(f"{where}: its {type(joint.type).__name__} parameters are not finite; give finite numbers")
        if joint.mass < 0:
            raise ModelError(f"{where}: its link has the negative mass {joint.mass:.9g} kg; give a mass of at least 0")
        moments = np.linalg.eigvalsh(joint.inertia)
        if moments[0] < -max(PHYSICAL_TOLERANCE * moments[-1], NOISE_PER_MASS * joint.mass):
            raise ModelError(
                f"{where}: its link has the negative principal moment {moments[0]:.9g} kg m² about the centre of mass; "
                "check the signs of the inertia's off-diagonal entries"
            )
    for what in ("armature", "gravity"):
        if not np.all(np.isfinite(getattr(tree, what))):
            raise ModelError(f"{tree.name}: its {what} is not finite: {getattr(tree, what).tolist()}")
    for name, armature in zip(tree.velocity_names, tree.armature, strict=True):
        if armature < 0:
            raise ModelError(f"{tree.name}: joint {name!r}: has the negative armature {armature:.9g}; give at least 0")


def _idle(tree: Tree) -> tuple[str, ...]:
    q = _generic_configuration(tree)
    bodies = [joint.pseudo_inertia.full() for joint in tree.joints]
    blocks = np.diag(tree.armature)
    for i in reversed(range(len(tree.joints))):
        joint = tree.joints[i]
        linear, angular = joint.subspace(q)
        twists = [spatial.twist(linear[:, k], angular[:, k]).full() for k in range(joint.type.nv)]
        own = np.ix_(joint.columns, joint.columns)
        blocks[own] += [[np.sum((x @ bodies[i]) * y) for y in twists] for x in twists]
        if joint.parent >= 0:
            placed = spatial.transform(*joint.placement(q)).full()
            bodies[joint.parent] += placed @ bodies[i] @ placed.T
    scale = max(np.abs(blocks).max(), 1e-300)
    idle = []
    for joint in tree.joints:
        block = blocks[np.ix_(joint.columns, joint.columns)]
        if joint.scaling is None and np.linalg.eigvalsh(block)[0] <= 1e-15 * scale:
            idle.append(joint.name)
    return tuple(idle)


def _generic_configuration(tree: Tree) -> ca.DM:
    """One configuration with nothing special about it: the same for equal trees."""
    rng = np.random.default_rng(20260101)
    q = ca.DM(tree.nq, 1)
    for joint in tree.joints:
        if joint.scaling is None:
            zero = joint.type.neutral()
            q[joint.idx_q : joint.idx_q + joint.type.nq] = joint.type.integrate(
                zero, ca.DM(rng.normal(size=joint.type.nv))
            )
    return q

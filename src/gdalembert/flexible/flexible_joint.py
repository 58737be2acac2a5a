"""Flexible joints: springs and dampers, behind rotors or in directions of their own, and what they are in a tree.

A spring with the stiffness K_t stores ½ xᵀ K_t x, and adds Sᵀ K_t S to K, where x = S q:

    x = q − θ     of the coordinates q of a joint and its rotors θ, S = [1, −1]      (Cetinkunt and Book 1988, eq. 45)
    x             coordinates of its own, in up to six directions, S = 1             (ours)

Directions are a row of prismatic and revolute joints without mass, along x, y, z and then about z, y, x.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.flexible.attach import RigidLink
from gdalembert.flexible.station import NO_BODY, check_body, pseudo_inertia_of
from gdalembert.model.joints import Prismatic, Revolute
from gdalembert.model.rounding import ROUND_OFF, clean_matrix, exceeds_the_others
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arguments import checked_transform, listed, number, numbers
from gdalembert.spatial.arrays import Array, ByValue, frozen, homogeneous

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
"""Along and about the axes of a frame."""
# a rotation vector would need no order, but is a joint whose S depends on q: tau of a Panda on six springs has 1,300
# instructions with it and 992 with angles, the derivatives of tau 8,055 and 5,480
_ROW = ("x", "y", "z", "rz", "ry", "rx")
_DEPENDENT = 1e-9
"""The least singular value of unit motions of which one is a combination of the others."""


@dataclass(frozen=True, eq=False)
class FlexibleJoint(ByValue):
    """Springs and dampers at a joint or a frame: behind the rotors of a joint, or in directions of their own.

    *Behind rotors*, without ``directions``: between the n rotors and the n coordinates of a joint, as of a gear. Each
    rotor has its own coordinate, on the joint's side of the gear. Its kinetic energy depends on its own rate only, as
    in the paper (terms of the order of the gear ratio are neglected). Universal, spherical-ZYX and composite joints
    have several coordinates, which K_t and D_t may couple.

    *In directions*: what moves with a joint gives way, as in a bearing; or what the model fixes to a frame: a tool on a
    compliant holder, a robot on a table. At a joint, the springs are between its frame and the link that carries it. At
    a fixed joint or another frame, they are between it and the link that it is fixed to, or the universe: its body, and
    the frames, joints and bodies that the model places on it, move with it. The n coordinates x are new ones, zero at
    rest, named "NAME x", "NAME rz". Translations are along the axes of the frame. Rotations are angles about z, then y,
    then x, as roll, pitch and yaw: exact at all angles but ry = ±π/2, and ½ xᵀ K_t x is the energy, whatever the
    angles. No actuator acts on them.

    Args:
        stiffness: K_t, a number, n numbers on its diagonal (with ``directions``) or n × n, N m/rad or N/m.
        rotor_inertia: reflected through the gear, a number or n of them, kg m² or kg; by default the armature of the
            model's joint, which then belongs to the rotor and no longer to the joint. Not with ``directions``.
        damping: D_t, in the same shapes, N m s/rad or N s/m.
        directions: n of ``"x"``, ``"y"``, ``"z"``, ``"rx"``, ``"ry"``, ``"rz"``, in the order of K_t; rigid in others.
        body: a ``pin.Inertia`` on the moved side, in its frame, beside what the model has there.
        offset: the moved frame at rest, seen from where the model has it, 4 × 4 or a ``pin.SE3`` [m]. The springs,
            their axes and the centre of rotation stay where the model has the frame.

    Raises:
        ArgumentTypeError: if an argument is neither a number nor an array of numbers, or of another wrong type.
        ArgumentError: if an argument is negative, or if the stiffness or the rotor inertia is zero; if a matrix is not
            symmetric, K_t not positive definite or D_t not positive semidefinite, or if their sizes differ; if a
            direction is unknown or there twice, no body has such moments, or an argument does not go with the others.
    """

    stiffness: float | npt.ArrayLike
    rotor_inertia: float | npt.ArrayLike | None = None
    damping: float | npt.ArrayLike = 0.0
    directions: Sequence[str] | None = None
    body: pin.Inertia | None = None
    offset: Any = None

    def __post_init__(self) -> None:
        if self.directions is not None:
            self._check_directions()
        elif self.body is not None or self.offset is not None:
            name = "offset" if self.body is None else "body"
            raise ArgumentError(
                f"FlexibleJoint: {name}: it goes with springs in directions; give directions=, or leave it out"
            )
        if np.ndim(self.stiffness) == 0 and self.count == 1:
            number("FlexibleJoint: stiffness", self.stiffness, "N m/rad or N/m")
            number("FlexibleJoint: damping", self.damping, "N m s/rad or N s/m", inclusive=True)
            if self.rotor_inertia is not None:
                number("FlexibleJoint: rotor_inertia", self.rotor_inertia, "kg m² or kg")
            return
        for name, least, sign in (("stiffness", ROUND_OFF, "definite"), ("damping", -ROUND_OFF, "semidefinite")):
            object.__setattr__(self, name, self._matrix(name, least, sign))
        if self.rotor_inertia is not None:
            inertias, n = numbers("FlexibleJoint: rotor_inertia", self.rotor_inertia), self.count
            if inertias.shape != (n,) or inertias.min() <= 0:
                raise ArgumentError(f"FlexibleJoint: rotor_inertia: got {shown(self.rotor_inertia)}; give {n} above 0")
            object.__setattr__(self, "rotor_inertia", inertias)

    def _check_directions(self) -> None:
        known = f"give some of ({', '.join(map(repr, DIRECTIONS))})"
        directions = listed(self.directions)
        if not directions:
            raise ArgumentError(f"FlexibleJoint: directions: got {shown(self.directions)}; {known}")
        for direction in directions:
            if direction not in DIRECTIONS:
                raise ArgumentError(f"FlexibleJoint: directions: got {shown(direction)}; {known}")
            if directions.count(direction) > 1:
                raise ArgumentError(f"FlexibleJoint: directions: got {direction!r} twice; give each once")
        if self.rotor_inertia is not None:
            raise ArgumentError(
                "FlexibleJoint: rotor_inertia: springs in directions have no rotors; give a body= for what they carry"
            )
        if self.body is not None:
            check_body("FlexibleJoint: body", self.body)
            if exceeds_the_others(self.body.inertia, self.body.mass):
                moments = ", ".join(f"{moment:g}" for moment in np.linalg.eigvalsh(self.body.inertia))
                raise ArgumentError(
                    f"FlexibleJoint: body: of its principal moments {moments} kg m² the last exceeds the sum of the "
                    "others, as in no real body; give those about the centre of mass"
                )
        object.__setattr__(self, "directions", tuple(directions))
        if self.offset is not None:
            expected = "a pin.SE3 or 4 × 4 numbers"
            offset = checked_transform("FlexibleJoint: offset", self.offset, expected=expected, tolerance=1e-9)
            object.__setattr__(self, "offset", offset)

    def _matrix(self, name: str, least: float, sign: str) -> Array:
        """The stiffness or damping (n × n), whose eigenvalues are at least that part of its largest entry."""
        n, matrix = self.count, numbers(f"FlexibleJoint: {name}", getattr(self, name))
        if name == "damping" and matrix.ndim == 0 and not matrix:
            matrix = np.zeros((n, n))
        if self.directions is not None and matrix.shape == (n,):
            matrix = np.diag(matrix)
        if matrix.shape != (n, n):
            diagonal = f"{n} numbers, or " if self.directions is not None else ""
            raise ArgumentError(f"FlexibleJoint: {name}: got shape {matrix.shape}; give {diagonal}{n} × {n} numbers")
        # not over the largest entry: N/m and N m/rad may be far apart
        unit = np.sqrt(np.maximum(np.abs(matrix.diagonal()), np.finfo(float).tiny))
        scaled = matrix / np.outer(unit, unit)
        gaps = np.abs(scaled - scaled.T)
        i, j = (int(k) for k in np.unravel_index(gaps.argmax(), gaps.shape))
        if gaps[i, j] > ROUND_OFF * np.abs(scaled).max():
            raise ArgumentError(
                f"FlexibleJoint: {name}: the matrix is not symmetric: entry [{i}, {j}] is {matrix[i, j]:.6g}, and "
                f"[{j}, {i}] is {matrix[j, i]:.6g}; give both alike"
            )
        if (part := np.linalg.eigvalsh(scaled).min()) < least:
            k, lowest = int(matrix.diagonal().argmin()), "more than" if name == "stiffness" else "at least"
            reason = f"an eigenvalue is {part:.2g} of its diagonal; give less beside the diagonal"
            if matrix[k, k] < 0 or (matrix[k, k] == 0 and name == "stiffness"):
                reason = f"entry [{k}, {k}] is {matrix[k, k]:.6g}; give {lowest} 0"
            raise ArgumentError(f"FlexibleJoint: {name}: the matrix is not positive {sign}: {reason}")
        return frozen((matrix + matrix.T) / 2)

    @property
    def count(self) -> int:
        """n."""
        return len(np.atleast_1d(self.stiffness) if self.directions is None else self.directions)

    @property
    def _matrices(self) -> tuple[Array, Array]:
        """K_t and D_t, n × n each."""
        n = self.count
        stiffness, damping = (np.asarray(x, dtype=float).reshape(n, n) for x in (self.stiffness, self.damping))
        return stiffness, damping


Springs: TypeAlias = Mapping[str, FlexibleJoint | Sequence[FlexibleJoint]]
"""Flexible joints by the name of their joint or frame; two of one joint, behind its rotor and in directions."""


@dataclass(frozen=True, eq=False)
class Elastic:
    """Stiffness and damping of coordinates of a tree.

    Attributes:
        name: that of the flexible link or joint, which several may share.
        columns: the entries of v.
        stiffness, damping: of these entries.
    """

    name: str
    columns: Sequence[int]
    stiffness: Array
    damping: Array

    @staticmethod
    def sums(elements: Iterable[Elastic], nv: int) -> tuple[dict[str, Array], dict[str, Array]]:
        """Stiffness and damping (nv × nv) by name."""
        sums: tuple[dict[str, Array], dict[str, Array]] = {}, {}
        for element in elements:
            block = np.ix_(element.columns, element.columns)
            for matrices, matrix in zip(sums, (element.stiffness, element.damping), strict=True):
                matrices.setdefault(element.name, np.zeros((nv, nv)))[block] += matrix
        return sums


def in_directions_and_behind_rotors(springs: Springs) -> tuple[dict[str, FlexibleJoint], dict[str, FlexibleJoint]]:
    """The flexible joints of an arm that have directions, and those that do not, by name."""
    if not isinstance(springs, Mapping):
        raise ArgumentTypeError(f"joints: expected a dict by name, got {type(springs).__name__}")
    sorted_springs: tuple[dict[str, FlexibleJoint], dict[str, FlexibleJoint]] = {}, {}
    for name, entry in springs.items():
        for spring in entry if isinstance(entry, tuple | list) else (entry,):
            if not isinstance(spring, FlexibleJoint):
                raise ArgumentTypeError(f"joint {name!r}: expected a FlexibleJoint, got {type(spring).__name__}")
            by_name = sorted_springs[spring.directions is None]
            if name in by_name:
                kind = "without directions" if spring.directions is None else "with directions"
                raise ArgumentError(f"joint {name!r}: it has two FlexibleJoints {kind}; give one of them")
            by_name[name] = spring
    return sorted_springs


def on_springs(
    tree: Tree, springs: Mapping[str, FlexibleJoint], bodies: Mapping[str, pin.Inertia]
) -> tuple[Tree, list[Elastic]]:
    """The tree with springs in directions, whose coordinates follow those of the tree, place by place.

    Args:
        tree: a tree of rigid links.
        springs: by the name of the joint or frame.
        bodies: those that a model made by hand does not tell from their link, by the name of their frame.

    Raises:
        UnknownNameError: if there is no such joint or frame.
        ArgumentError: if the springs move what nothing is placed on, or a joint moves along one of the directions.
    """
    frames: dict[int, str] = {}
    for name in springs:
        if name not in tree.joint_names:
            k = _fixed_frame(tree, name)
            if k in frames:
                raise ArgumentError(f"joint {name!r}: springs at {frames[k]!r} are at the same place; give one of them")
            frames[k] = name
    mounted = tree
    for k in sorted(frames):  # what a frame carries is divided before its parts are
        mounted = _at_frame(mounted, k, frames[k], springs[frames[k]], bodies)
    for name, spring in springs.items():
        if name in tree.joint_names:
            mounted = _at_joint(mounted, name, spring)
    return _with_coordinates(mounted, springs)


def _fixed_frame(tree: Tree, name: str) -> int:
    """The index of a frame by name; that of its fixed joint for the body on one."""
    index = next((k for k, frame in enumerate(tree.frames) if frame.name == name), None)
    if index is None:
        names = dict.fromkeys([*tree.joint_names, *(frame.name for frame in tree.frames)])
        raise UnknownNameError("joint or frame", name, names)
    frame, before = tree.frames[index], tree.frames[tree.frames[index].previous]
    if frame.type == "BODY" and before.type == "JOINT":
        raise ArgumentError(
            f"joint {name!r}: it is the link that joint {before.name!r} moves; give that joint, whose frame then gives "
            "way"
        )
    is_on_fixed_joint = frame.type == "BODY" and before.type == "FIXED_JOINT" and frame.previous > 0
    return frame.previous if is_on_fixed_joint else index


def _row(tree: Tree, name: str, spring: FlexibleJoint, parent: int, placement: Array, at: int) -> list[Joint]:
    """The joints of springs, which are to stand at an index in the tree, the first on a parent."""
    row: list[Joint] = []
    for direction in (direction for direction in _ROW if direction in (spring.directions or ())):
        along, turns = [float(letter == direction[-1]) for letter in "xyz"], direction.startswith("r")
        axis = along[0], along[1], along[2]
        kind = Revolute(axis, springs_at=name) if turns else Prismatic(axis, springs_at=name)
        place = (parent, placement) if not row else (at + len(row) - 1, np.eye(4))
        r, p = frozen(place[1][:3, :3]), frozen(place[1][:3, 3])
        row.append(Joint(f"{name} {direction}", kind, place[0], r, p, NO_BODY, tree.nq, tree.nv))
    body = NO_BODY if spring.body is None else _moved(pseudo_inertia_of(spring.body), _offset(spring))
    return [*row[:-1], replace(row[-1], pseudo_inertia=body)]


def _offset(spring: FlexibleJoint) -> Array:
    return np.eye(4) if spring.offset is None else np.asarray(spring.offset)


def _moved(body: Array, placement: Array) -> Array:
    """A pseudo-inertia (4 × 4) in another frame, in which its frame has the placement (4 × 4)."""
    return frozen(clean_matrix(placement @ body @ placement.T))


def _placed(part: Any, placement: Array, **changes: Any) -> Any:
    """A joint or frame at another placement (4 × 4)."""
    clean = clean_matrix(placement)
    return replace(part, rotation=frozen(clean[:3, :3]), translation=frozen(clean[:3, 3]), **changes)


def _with_row(tree: Tree, row: Sequence[Joint], at: int) -> tuple[list[Joint], list[Frame], tuple[int, ...]]:
    """Joints, frames and links of a tree in which a row of joints stands at an index; the row stands in that tree."""

    def index(i: int) -> int:
        return i + len(row) if i >= at else i

    joints = [replace(joint, parent=index(joint.parent)) for joint in tree.joints]
    frames = [replace(frame, joint=index(frame.joint)) for frame in tree.frames]
    return [*joints[:at], *row, *joints[at:]], frames, tuple(index(i) for i in tree.links)


def _at_joint(tree: Tree, name: str, spring: FlexibleJoint) -> Tree:
    """The tree with springs between the frame of a joint and the link that carries it."""
    first = tree.first_part(tree.links[tree.joint_names.index(name)])
    joint = tree.joints[first]
    inner = next((f for f in tree.first_parts if f.name == name), None)
    in_joint = np.eye(4) if inner is None else homogeneous(inner.rotation, inner.translation)
    placement = homogeneous(joint.rotation, joint.translation) @ np.linalg.inv(in_joint)
    at_rest = _offset(spring) @ in_joint
    _check_free(tree, name, spring, at_rest)
    row = _row(tree, name, spring, joint.parent, clean_matrix(placement), first)
    joints, frames, links = _with_row(tree, row, first)
    joints[first + len(row)] = _placed(joint, at_rest, parent=first + len(row) - 1)
    first_parts = tuple(part for part in tree.first_parts if part.name != name)
    return replace(tree, joints=tuple(joints), frames=tuple(frames), links=links, first_parts=first_parts)


def _check_free(tree: Tree, name: str, spring: FlexibleJoint, at_rest: Array) -> None:
    """Refuse a direction in which the joint moves what the springs move."""
    directions, link = spring.directions or (), tree.links[tree.joint_names.index(name)]
    units = np.eye(6)[:, [DIRECTIONS.index(direction) for direction in directions]]
    motions, here = [units], np.eye(4)
    parts = [i for i in tree.path(link) if i >= tree.first_part(link)]
    for i in parts:
        joint = tree.joints[i]
        fixed = at_rest if i == parts[0] else homogeneous(joint.rotation, joint.translation)
        r, p = (ca.DM(x).full() for x in joint.type.placement(joint.type.neutral()))
        here = here @ fixed @ homogeneous(r, p[:, 0])
        linear, angular = (here[:3, :3] @ ca.DM(half).full() for half in joint.type.subspace(joint.type.neutral()))
        motions.append(np.vstack([linear + np.cross(here[:3, 3], angular, axisb=0, axisc=0), angular]))
    together = np.hstack(motions)
    together = together / np.linalg.norm(together, axis=0)
    _, sizes, shapes = np.linalg.svd(together)
    if together.shape[1] <= 6 and sizes[-1] > _DEPENDENT:
        return
    direction = directions[int(np.abs(shapes[-1, : len(directions)]).argmax())]
    has_rotors = all(_can_have_rotor(tree.joints[i]) for i in parts)
    there = "as a FlexibleJoint without directions, behind its rotor" if has_rotors else "at a fixed joint of its link"
    raise ArgumentError(
        f"joint {name!r}: it moves along {direction!r} already; leave that direction out, and give a spring there "
        f"{there}"
    )


def _can_have_rotor(part: Joint) -> bool:
    return (part.type.is_revolute or part.type.is_prismatic) and part.type.velocity_is_rate


def _at_frame(tree: Tree, index: int, name: str, spring: FlexibleJoint, inertias: Mapping[str, pin.Inertia]) -> Tree:
    """The tree with springs between a frame and the link that it is fixed to; what is placed on it moves with it."""
    frame, on_frame = tree.frames[index], {index}
    link = frame.joint
    for k, other in enumerate(tree.frames):
        if k > index and other.previous in on_frame and (other.joint == link or other.type == "JOINT"):
            on_frame.add(k)
    names = {tree.frames[k].name for k in on_frame}
    named = zip(tree.links, tree.joint_names, strict=True)
    # a joint of a model made by hand may have no frame; then what is on the universe is all that is known
    firsts = [tree.first_part(i) for i, joint in named if joint in names or not index]
    carried = [i for i in firsts if tree.joints[i].parent == link]
    on_frame = {k for k in on_frame if tree.frames[k].joint == link}
    bodies = _bodies(tree, [tree.frames[k] for k in sorted(on_frame)], inertias)
    if not (bodies or carried or spring.body is not None):
        raise ArgumentError(
            f"joint {name!r}: the model has no body or joint on this frame, so that its springs move nothing; give a "
            "body=, or the fixed joint that carries one"
        )
    in_link = homogeneous(frame.rotation, frame.translation)
    move, at = _offset(spring) @ np.linalg.inv(in_link), link + 1
    row = _row(tree, name, spring, link, in_link, at)
    moved = sum(bodies, np.zeros((4, 4)))
    row[-1] = replace(row[-1], pseudo_inertia=frozen(row[-1].pseudo_inertia + _moved(moved, move)))
    joints, frames, links = _with_row(tree, row, at)
    end = at + len(row) - 1
    if bodies and link >= 0:
        owner = RigidLink(tree, link, tree.joints[link].name)
        body = clean_matrix(owner.own_body([(name, body) for body in bodies]))
        joints[link] = replace(joints[link], pseudo_inertia=frozen(body))
    for k in on_frame:
        frames[k] = _placed(frames[k], move @ homogeneous(frames[k].rotation, frames[k].translation), joint=end)
    for i in carried:
        joint = joints[i + len(row)]
        joints[i + len(row)] = _placed(joint, move @ homogeneous(joint.rotation, joint.translation), parent=end)
    return replace(tree, joints=tuple(joints), frames=tuple(frames), links=links)


def _bodies(tree: Tree, frames: Sequence[Frame], inertias: Mapping[str, pin.Inertia]) -> list[Array]:
    """The pseudo-inertias (4 × 4) of the bodies at frames, in the axes of their link."""
    bodies = [(frame, frame.pseudo_inertia) for frame in frames if frame.pseudo_inertia.any()]
    for frame in frames:
        if is_merged(tree, frame):
            if frame.name not in inertias:
                raise ArgumentError(
                    f"joint {frame.name!r}: the model does not tell the body at this frame from its link; give its "
                    f"inertia in its frame: fixed_bodies={{{frame.name!r}: pin.Inertia(...)}}"
                )
            bodies.append((frame, pseudo_inertia_of(inertias[frame.name])))
    placed = ((homogeneous(frame.rotation, frame.translation), body) for frame, body in bodies)
    return [placement @ body @ placement.T for placement, body in placed]


def is_merged(tree: Tree, frame: Frame) -> bool:
    """True if a frame is that of a body whose inertia the model does not tell from that of the link it is fixed to."""
    before = tree.frames[frame.previous]
    has_fixed_joint = before.type == "FIXED_JOINT" and before.joint == frame.joint
    return frame.type == "BODY" and frame.joint >= 0 and not has_fixed_joint and not frame.pseudo_inertia.any()


def _with_coordinates(tree: Tree, springs: Mapping[str, FlexibleJoint]) -> tuple[Tree, list[Elastic]]:
    """The tree in which directions have their places in q and v, place by place, and their springs."""
    starts: dict[str, int] = {}
    joints, nv, behind = list(tree.joints), tree.nv, tree.nq - tree.nv
    for i, joint in enumerate(tree.joints):
        if (name := joint.type.springs_at) is None:
            continue
        if name not in starts:
            starts[name], nv = nv, nv + springs[name].count
        column = starts[name] + list(springs[name].directions or ()).index(joint.name.rpartition(" ")[2])
        joints[i] = replace(joint, idx_q=column + behind, idx_v=column)
    elements = [
        Elastic(name, range(start, start + springs[name].count), *springs[name]._matrices)
        for name, start in starts.items()
    ]
    armature = frozen(np.pad(tree.armature, (0, nv - tree.nv)))
    return replace(tree, nq=nv + behind, nv=nv, joints=tuple(joints), armature=armature), elements


def rotors_of(tree: Tree, springs: Mapping[str, FlexibleJoint]) -> dict[str, list[Joint]]:
    """The elementary joints that have a rotor, by flexible joint, in the order of the tree.

    Raises:
        UnknownNameError: if there is no such joint.
        UnsupportedError: if a joint is of another kind, or has another number of coordinates.
        ArgumentError: if a joint is flexible twice, or its rotor has no inertia.
    """
    by_joint: dict[str, list[Joint]] = {}
    for name, spring in springs.items():
        parts = [joint for joint in tree.joints if joint.name == name or joint.name.startswith(f"{name}[")]
        names = [part.name for part in parts]
        if not parts:
            if any(frame.name == name for frame in tree.frames):
                raise ArgumentError(f"joint {name!r}: a frame has no rotor; give directions= for springs there")
            raise UnknownNameError("joint", name, [joint.name for joint in tree.joints])
        for part in parts:
            if not _can_have_rotor(part):
                raise UnsupportedError(
                    f"joint {part.name!r}: a {part.type.kind} joint cannot be flexible; revolute joints with limits "
                    "and prismatic ones can"
                )
        if len(parts) != spring.count:
            several = f", or a FlexibleJoint for each of {', '.join(map(repr, names))}" if len(parts) > 1 else ""
            raise UnsupportedError(
                f"joint {name!r}: it has {len(parts)} degree(s) of freedom, and the stiffness of its FlexibleJoint is "
                f"that of {spring.count}; give {len(parts)} × {len(parts)} numbers{several}"
            )
        if twice := [part for part in names if part != name and part in springs]:
            raise ArgumentError(f"joint {twice[0]!r}: it is a part of {name!r}, which is flexible; give one of the two")
        if spring.rotor_inertia is None and min(tree.armature[part.idx_v] for part in parts) <= 0:
            raise ArgumentError(
                f"joint {name!r}: its rotor has no inertia; give rotor_inertia, or the model an armature"
            )
        by_joint[name] = parts
    return dict(sorted(by_joint.items(), key=lambda item: tree.joints.index(item[1][0])))


def behind_rotors(
    tree: Tree, springs: Mapping[str, FlexibleJoint], rotors: Mapping[str, Sequence[Joint]], actuators: int
) -> tuple[Tree, list[Elastic], Array]:
    """The tree with rotors, which move nothing but their armature, their springs, and B.

    Args:
        tree: the tree that has the joints of the rotors.
        springs: by the name of their joint. ``rotors``: the joints that have one.
        actuators: the number of those that drive the first entries of v, or the rotors of these.
    """
    nv = tree.nv + sum(map(len, rotors.values()))
    armature, actuation = np.pad(tree.armature, (0, nv - tree.nv)), np.eye(nv)[:, :actuators]
    elements, rotor_joints = list[Elastic](), list[Joint]()
    place = frozen(np.eye(3)), frozen(np.zeros(3))
    for name, parts in rotors.items():
        spring, of_joint = springs[name], [part.idx_v for part in parts]
        of_rotor = [tree.nv + len(rotor_joints) + k for k in range(len(parts))]
        armature[of_rotor] = armature[of_joint] if spring.rotor_inertia is None else spring.rotor_inertia
        if spring.rotor_inertia is None:
            armature[of_joint] = 0.0
        difference = np.kron([[1.0, -1.0], [-1.0, 1.0]], spring._matrices)  # of both at once
        elements.append(Elastic(name, [*of_joint, *of_rotor], *difference))
        for part, column in zip(parts, of_rotor, strict=True):
            actuation[:, part.idx_v] = np.eye(nv)[column]
            starts = column + tree.nq - tree.nv, column
            rotor_joints.append(Joint(f"{part.name} rotor", Revolute((0.0, 0.0, 1.0)), -1, *place, NO_BODY, *starts))
    nq, joints = tree.nq + nv - tree.nv, [*tree.joints, *rotor_joints]
    whole = replace(tree, nq=nq, nv=nv, armature=frozen(armature), joints=tuple(joints))
    return whole, elements, frozen(actuation)

"""Motion of frames: placements, Jacobians, velocities, accelerations, and their derivatives.

A twist V = (linear; angular) of a frame is passed on from link to link in link axes, S v and S a + Ṡ v being what a
joint adds to it and to its rate, X the change of axes and origin between a link and its parent. LOCAL goes outward,

    V_i = X⁻¹ V_λ + S v            A_i = X⁻¹ A_λ + S a + Ṡ v + V_i × S v

and WORLD goes inward over what the joints from i to the frame add, in the axes of the parent λ of link i (ours: the
rate of X is X (S v ×), so that no placement in the universe is ever needed),

    V_λ = X (S v + V_i)            A_λ = X (S a + Ṡ v + A_i + S v × V_i)

LOCAL_WORLD_ALIGNED follows the origin x of the frame inward, all in the axes of link i and turned by R to those of λ,

    x_λ = p + R x       ω_λ = R (s + ω)              ẋ_λ = R (s_x + ẋ)              s = S v about x, linear part s_x
                        ω̇_λ = R (ṡ + ω̇ + s × ω)      ẍ_λ = R (ṡ_x + ẍ + s × (2 ẋ + s_x))

whose rates make the classical acceleration; the spatial one is that of WORLD about x.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import derivative_along, smaller
from gdalembert.spatial.instructions import SharedSubexpressions
from gdalembert.spatial.spatial_vectors import Motion

_NULL = ca.DM(3, 1)
_WORTHWHILE = 0.02
"""The share of its operations that the first rotation must save to go inward, which serves others of its chain less."""
_AT_REST = Motion(_NULL, _NULL)


def fixed_placement(frame: Frame) -> tuple[ca.DM, ca.DM]:
    """R and p of a frame in its link."""
    return spatial.constant(frame.rotation), spatial.constant(frame.translation)


def placement(tree: Tree, frame: Frame, q: Matrix, path: Sequence[int] | None = None) -> tuple[Matrix, Matrix]:
    """R (3 × 3) and p (3) of a frame in the universe, or in the link that a path of joints to it begins on."""
    r, p = fixed_placement(frame)
    for i in reversed(tree.path(frame.joint) if path is None else path):
        r_i, p_i = tree.joints[i].placement(q)
        r, p = r_i @ r, p_i + r_i @ p
    return r, p


def transform(tree: Tree, frame: Frame, q: ca.SX, *p: ca.SX) -> Matrix:
    """[R p; 0 1] (4 × 4) of a frame in the universe, inward or as of :class:`SharedPlacements`, the smaller graph.

    The constants of the tree may have the symbols p.
    """
    shared = SharedPlacements(tree, [q, *p], [q, *p])
    position = shared.position(frame)  # first, which needs no rotation: many take it alone
    return smaller(spatial.transform(*placement(tree, frame, q)), spatial.transform(shared.rotation(frame), position))


def placements(tree: Tree, frames: Sequence[Frame], q: ca.SX, *p: ca.SX) -> list[tuple[Matrix, Matrix]]:
    """R and p of several frames in the universe: inward, outward or as :class:`SharedPlacements`, the smallest graph.

    The constants of the tree may have the symbols p.
    """
    inward = [placement(tree, frame, q) for frame in frames]
    links = {-1: (ca.DM.eye(3), _NULL)} | dict(enumerate(tree.placements(q)))
    outward = []
    for frame in frames:
        (r, x), (fixed_r, fixed_x) = links[frame.joint], fixed_placement(frame)
        outward.append((r @ fixed_r, x + r @ fixed_x))
    expressions = SharedPlacements(tree, [q, *p], [q, *p])
    shared = [(expressions.rotation(frame), expressions.position(frame)) for frame in frames]

    def size(way: list[tuple[Matrix, Matrix]]) -> int:
        return int(ca.n_nodes(ca.cse([ca.SX(ca.vertcat(*map(ca.vec, chain(*way))))])[0]))

    return min(inward, outward, shared, key=size)


class SharedPlacements:
    """Placements of frames in the universe, each made when it is asked for.

    They are written in symbols, q and those of the tree's constants, for which any expressions are put in.
    What they share is computed once. Rotations go outward, but the first may go inward, and those of its chain back
    from it. Positions go inward to a link whose rotation is known (the first, the first with several limbs, or none)
    and outward from there, or back from a frame beyond, whichever adds least, so that a position that is asked for
    alone needs no rotation of its chain.
    """

    def __init__(self, tree: Tree, symbols: Sequence[ca.SX], values: Sequence[ca.SX]) -> None:
        self._tree, self._q = tree, symbols[0]
        self._expressions = SharedSubexpressions(symbols, values)
        self._joints: dict[int, tuple[Matrix, Matrix]] = {}
        self._first: tuple[Frame, Matrix] | None = None
        self._back: dict[int, tuple[Matrix, Matrix]] = {}
        self._placed: list[tuple[Frame, Matrix]] = []
        self._rotations: dict[int, Matrix] = {-1: ca.DM.eye(3)}
        self._origins: dict[int, Matrix] = {-1: _NULL}
        parents = Counter(joint.parent for joint in tree.joints)
        self._forks = {link for link, children in parents.items() if children > 1}

    def rotation(self, frame: Frame) -> ca.SX:
        """R (3 × 3) of a frame."""
        if self._first is None:
            self._first = frame, self._begun(frame)
        first, r = self._first
        if frame is not first:
            # on a link before the first, by the rotation of the link, which its position needs too
            is_before, fixed = frame.joint in self._back, spatial.constant(frame.rotation)
            r = self._rotations[frame.joint] @ fixed if is_before else self._turned(frame.joint, frame.rotation)
        return self._expressions.of(r)

    def _begun(self, frame: Frame) -> Matrix:
        """The first rotation; where it goes inward, those of links before it may go back from there."""
        r, outward = placement(self._tree, frame, self._q)[0], self._turned(frame.joint, frame.rotation)
        if self._expressions.added_by(r) >= (1 - _WORTHWHILE) * self._expressions.added_by(outward):
            return outward
        self._expressions.of(r)
        path = self._tree.path(frame.joint)
        for k, link in reversed([*enumerate(path, 1)]):
            back = placement(self._tree, frame, self._q, path[k:])[0].T
            self._rotations[link] = min(self._rotation(link), r @ back, key=self._expressions.added_by)
            self._back[link] = r, back
        return r

    def position(self, frame: Frame) -> ca.SX:
        """The origin (3) of a frame."""
        p = min(self._ways_to(frame), key=self._expressions.added_by)
        self._placed.append((frame, p))
        return self._expressions.of(p)

    def _ways_to(self, frame: Frame) -> Iterator[Matrix]:
        x = fixed_placement(frame)[1]
        for known in (self._rotations.keys(), self._rotations.keys() & self._forks, set[int]()):
            yield self._position(frame.joint, x, known)
        for other, p in self._placed:
            path = self._tree.path(other.joint)
            if frame.joint in path:  # back from what is beyond
                seen = placement(self._tree, other, self._q, path[path.index(frame.joint) + 1 :])[1]
                yield p - self._rotation(frame.joint) @ (seen - x)

    def _joint(self, i: int) -> tuple[Matrix, Matrix]:
        if i not in self._joints:
            r, p = self._tree.joints[i].placement(self._q)
            self._joints[i] = ca.sparsify(r), ca.sparsify(p)
        return self._joints[i]

    def _rotation(self, link: int) -> Matrix:
        if link not in self._rotations:
            before, turn = self._turn(link)
            self._rotations[link] = self._turned(before, entries(turn))
        return self._rotations[link]

    def _turned(self, link: int, rotation: Array | ca.SX) -> Matrix:
        """A rotation on a link, after what is fixed before it, and after what turns about the same axis."""
        r = spatial.constant(rotation)
        if link in self._rotations:
            turned = self._rotations[link] @ r
            if link not in self._back:
                return turned
            beyond, back = self._back[link]
            return min(turned, beyond @ (back @ r), key=self._expressions.added_by)
        joint = self._tree.joints[link]
        if not joint.type.can_rotate or _keeps_axis(rotation, joint):
            before, turn = self._turn(link)
            return self._turned(before, entries(turn @ r))
        return self._rotation(link) @ r

    def _turn(self, link: int) -> tuple[int, Matrix]:
        """The rotation of a link in one before it: of joints in a row with parallel axes, whose product has zeros."""
        joint, (r, _) = self._tree.joints[link], self._joint(link)
        if joint.parent < 0 or not _is_parallel(joint, self._tree.joints[joint.parent]):
            return joint.parent, r
        before, turn = self._turn(joint.parent)
        return before, turn @ r

    def _position(self, link: int, x: Matrix, known: Collection[int]) -> Matrix:
        """A point x (3) of a link: inward to one of the links whose rotations are known, and outward from there."""
        while len(self._tree.path(link)) > 1 and link not in known:
            r, p = self._joint(link)
            link, x = self._tree.joints[link].parent, p + r @ x
        return self._origin(link, known) + self._rotation(link) @ x

    def _origin(self, link: int, known: Collection[int]) -> Matrix:
        if link not in self._origins:
            self._origins[link] = self._position(self._tree.joints[link].parent, self._joint(link)[1], known)
        return self._origins[link]


def _is_parallel(joint: Joint, other: Joint) -> bool:
    """Whether a revolute joint on the link of another one turns about the same axis."""
    if not (joint.type.is_revolute and other.type.is_revolute) or isinstance(joint.rotation, ca.SX):
        return False
    axis = joint.rotation @ np.array(joint.type.axis)
    return any(np.array_equal(axis, sign * np.array(other.type.axis)) for sign in (1, -1))


def _keeps_axis(rotation: Array | ca.SX, joint: Joint) -> bool:
    """Whether a rotation on the link of a joint is one about the axis of the joint, a revolute one."""
    if not joint.type.is_revolute or isinstance(rotation, ca.SX):
        return False
    return bool(np.array_equal(rotation @ np.array(joint.type.axis), np.array(joint.type.axis)))


def _added(joint: Joint, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """S v and S a + Ṡ v of a joint, in the axes of its link."""
    v_i, a_i = joint.velocity(v), joint.velocity(a)
    columns, rates = Motion(*joint.subspace(q)), Motion(*joint.subspace_rate(q, v))
    return columns.times(v_i), columns.times(a_i) + rates.times(v_i)


def _outward(tree: Tree, frame: Frame, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """V and A of a frame, LOCAL."""
    twist, rate = _AT_REST, _AT_REST
    for i in tree.path(frame.joint):
        at = tree.joints[i].placement(q)
        added, added_rate = _added(tree.joints[i], q, v, a)
        carried = twist.seen_from(*at)
        rate = rate.seen_from(*at) + added_rate + carried.cross(added)
        twist = carried + added
    at = fixed_placement(frame)
    return twist.seen_from(*at), rate.seen_from(*at)


def _inward(tree: Tree, frame: Frame, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """V and A of a frame, WORLD."""
    twist, rate = _AT_REST, _AT_REST
    for i in reversed(tree.path(frame.joint)):
        at = tree.joints[i].placement(q)
        added, added_rate = _added(tree.joints[i], q, v, a)
        rate = (rate + added_rate + added.cross(twist)).to_parent(*at)
        twist = (twist + added).to_parent(*at)
    return twist, rate


def _of_origin(tree: Tree, frame: Frame, q: Matrix, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
    """V and its rate of a frame, LOCAL_WORLD_ALIGNED: that rate is the classical acceleration."""
    twist, rate = _AT_REST, _AT_REST
    _, x = fixed_placement(frame)
    for i in reversed(tree.path(frame.joint)):
        r, p = tree.joints[i].placement(q)
        added, added_rate = (change.about(x) for change in _added(tree.joints[i], q, v, a))
        total = twist + added
        turning = Motion(_NULL, added.angular)
        rate = rate + added_rate + turning.cross(Motion(twist.linear + total.linear, twist.angular))
        twist, rate, x = total.turned(r), rate.turned(r), p + r @ x
    return twist, rate


_MOTION = {pin.LOCAL: _outward, pin.WORLD: _inward, pin.LOCAL_WORLD_ALIGNED: _of_origin}


def _links_seen_from(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix
) -> Iterator[tuple[Joint, Matrix, Matrix]]:
    """The joints on the path to a frame, with R and p of their links in the reference."""
    path = [tree.joints[i] for i in tree.path(frame.joint)]
    fixed_r, fixed_p = fixed_placement(frame)
    if reference == pin.LOCAL:
        r, p = fixed_r.T, -fixed_r.T @ fixed_p
        for joint in reversed(path):
            yield joint, r, p
            r_i, p_i = joint.placement(q)
            r = r @ r_i.T
            p = p - r @ p_i
        return
    r, p = ca.DM.eye(3), _NULL
    links = []
    for joint in path:
        r_i, p_i = joint.placement(q)
        r, p = r @ r_i, p + r @ p_i
        links.append((joint, r, p))
    origin = _NULL if reference == pin.WORLD else p + r @ fixed_p
    for joint, r, p in links:
        yield joint, r, p - origin


def jacobian(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix) -> Matrix:
    """J (6 × nv) of a frame: its columns are those of S, seen from the reference."""
    links = _links_seen_from(tree, frame, reference, q)
    return of_columns(tree.nv, 6, ((joint, Motion(*joint.subspace(q)).to_parent(r, p).vector) for joint, r, p in links))


def kinematic_regressor(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix) -> Matrix:
    """Y (6 × 6 n_joints): the twist of a frame as the placements of Pinocchio's joints move, each in its own axes.

    A placement moves all that follows it: the columns are the twists along and about the axes of the joint before its
    motion, seen from the reference; zero for joints that are not on the path.
    """
    firsts = {tree.first_part(link): k for k, link in enumerate(tree.links)}
    displaced = {inner.name: inner for inner in tree.first_parts}
    blocks: list[Matrix] = [ca.DM(6, 6)] * len(tree.links)
    one, none = ca.DM.eye(3), ca.DM(3, 3)
    axes = Motion(ca.horzcat(one, none), ca.horzcat(none, one))
    for i, r, p in joints_seen_from(tree, frame, reference, q):
        if i in firsts:
            if (inner := displaced.get(tree.joint_names[firsts[i]])) is not None:
                turn, shift = fixed_placement(inner)
                r = r @ turn.T
                p = p - r @ shift
            blocks[firsts[i]] = axes.to_parent(r, p).vector
    return ca.horzcat(ca.DM(6, 0), *blocks)


def joints_seen_from(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix
) -> Iterator[tuple[int, Matrix, Matrix]]:
    """The joints on the path to a frame, with R and p of their frames before their motion in the reference."""
    fixed_r, fixed_p = fixed_placement(frame)
    path = [(i, joint := tree.joints[i], joint.type.placement(joint.configuration(q))) for i in tree.path(frame.joint)]
    if reference == pin.LOCAL:
        r, p = fixed_r.T, -fixed_r.T @ fixed_p
        for i, joint, (turn, shift) in reversed(path):
            r = r @ turn.T
            p = p - r @ shift
            yield i, r, p
            r = r @ spatial.constant(joint.rotation).T
            p = p - r @ spatial.constant(joint.translation)
        return
    r, p = ca.DM.eye(3), _NULL
    placed = []
    for i, joint, (turn, shift) in path:
        r, p = r @ spatial.constant(joint.rotation), p + r @ spatial.constant(joint.translation)
        placed.append((i, r, p))
        r, p = r @ turn, p + r @ shift
    origin = _NULL if reference == pin.WORLD else p + r @ fixed_p
    for i, r, p in placed:
        yield i, r, p - origin


@dataclass(frozen=True)
class _Part:
    """A joint's part in the twist of a frame, seen from the reference.

    A joint with one column adds a multiple of it, so that its own part moves that column nowhere.
    """

    joint: Joint
    columns: Motion  # S
    rates: Motion  # dS/dt
    gradient: Motion  # ∂(S v)/∂q at constant v, in the tangent space
    inner: Motion  # what the joints before it add to the twist
    own: Motion  # what it adds
    outer: Motion  # what those after it add


def _parts(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix) -> list[_Part]:
    """The parts of the joints on the path to a frame, base first."""
    links = list(_links_seen_from(tree, frame, reference, q))
    if reference == pin.LOCAL:
        links.reverse()
    columns = [Motion(*joint.subspace(q)).to_parent(r, p) for joint, r, p in links]
    rates = [Motion(*joint.subspace_rate(q, v)).to_parent(r, p) for joint, r, p in links]
    gradients = [subspace_gradient(joint, q, v).to_parent(r, p) for joint, r, p in links]
    own = [s.times(joint.velocity(v)) for (joint, *_), s in zip(links, columns, strict=True)]
    inner = accumulate(own, initial=_AT_REST)
    outer = list(accumulate(reversed(own), initial=_AT_REST))[-2::-1]
    parts = zip(links, columns, rates, gradients, inner, own, outer, strict=False)
    return [_Part(joint, *rest) for (joint, *_), *rest in parts]


def subspace_gradient(joint: Joint, q: Matrix, v: Matrix) -> Motion:
    """∂(S v)/∂q of a joint, in link axes: the columns are dS/dt along each of its velocities, times v."""
    own = joint.velocity(v)
    rates = [joint.type.subspace_rate(joint.configuration(q), unit) for unit in ca.horzsplit(ca.DM.eye(joint.type.nv))]
    halves = zip(*((linear @ own, angular @ own) for linear, angular in rates), strict=True) if rates else ((), ())
    return Motion(*(ca.horzcat(ca.DM(3, 0), *half) for half in halves))


def of_columns(nv: int, rows: int, blocks: Iterable[tuple[Joint, Matrix]]) -> Matrix:
    """rows × nv numbers from the columns of each joint; joints that share coordinates add."""
    columns: list[Matrix] = [ca.DM(rows, 1)] * nv
    for joint, block in blocks:
        for k, column in enumerate(joint.columns):
            columns[column] = columns[column] + block[:, k]
    return ca.horzcat(*columns)


def jacobian_rate(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix) -> Matrix:
    """dJ/dt (6 × nv), the rate of the entries of J.

    A column is fixed in its link, but for dS/dt, and its rate is W × column, W being the twist of the link against what
    the column is seen from: the universe, the frame, or axes that follow the frame's origin without turning.
    """

    def rate(part: _Part) -> Motion:
        inner, outer = (
            (part.inner, part.outer + part.own) if part.joint.type.nv == 1 else (part.inner + part.own, part.outer)
        )
        against = {
            pin.LOCAL: -part.outer,
            pin.WORLD: inner,
            pin.LOCAL_WORLD_ALIGNED: Motion(-outer.linear, inner.angular),
        }[reference]
        return against.cross(part.columns) + part.rates

    return of_columns(tree.nv, 6, ((part.joint, rate(part).vector) for part in _parts(tree, frame, reference, q, v)))


def velocity_derivatives(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix
) -> tuple[Matrix, Matrix]:
    """∂V/∂q, in the tangent space of q, and ∂V/∂v (6 × nv each).

    A joint that moves along one of its columns carries with it what it and the joints after it add, by column × added,
    and the origin that the twist is about. In the axes of the frame, what the joints before it add goes the other way.
    """

    def derivative(part: _Part) -> Motion:
        later = part.outer + part.own
        if reference == pin.LOCAL:
            moved = part.inner.cross(part.columns)
        else:
            moved = (-part.outer if part.joint.type.nv == 1 else -later).cross(part.columns)
        if reference == pin.LOCAL_WORLD_ALIGNED:
            lever = Motion(-later.linear, part.inner.angular)
            moved = Motion(lever.cross(part.columns).linear, moved.angular)
        return moved + part.gradient

    parts = _parts(tree, frame, reference, q, v)
    by_q = of_columns(tree.nv, 6, ((part.joint, derivative(part).vector) for part in parts))
    return by_q, of_columns(tree.nv, 6, ((part.joint, part.columns.vector) for part in parts))


def velocity(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix) -> Matrix:
    """V (6)."""
    return _MOTION[reference](tree, frame, q, v, ca.DM(tree.nv, 1))[0].vector


def acceleration(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """The spatial acceleration (6)."""
    if reference == pin.LOCAL_WORLD_ALIGNED:
        _, rate = _inward(tree, frame, q, v, a)
        return rate.about(placement(tree, frame, q)[1]).vector
    return _MOTION[reference](tree, frame, q, v, a)[1].vector


def classical_acceleration(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix, a: Matrix
) -> Matrix:
    """The classical acceleration (6)."""
    twist, rate = _MOTION[reference](tree, frame, q, v, a)
    if reference == pin.LOCAL_WORLD_ALIGNED:
        return rate.vector
    return ca.vertcat(rate.linear + ca.cross(twist.angular, twist.linear), rate.angular)


def bias_acceleration(tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: Matrix, v: Matrix) -> Matrix:
    """The spatial acceleration (6) at a = 0."""
    return acceleration(tree, frame, reference, q, v, ca.DM(tree.nv, 1))


def acceleration_derivatives(
    tree: Tree, frame: Frame, reference: pin.ReferenceFrame, q: ca.SX, v: ca.SX, a: ca.SX
) -> tuple[Matrix, Matrix, Matrix]:
    """∂A/∂q, in the tangent space of q, ∂A/∂v and ∂A/∂a (6 × nv each) of the spatial acceleration."""
    rate = ca.cse([acceleration(tree, frame, reference, q, v, a)])[0]
    directions = ca.diagcat(tree.tangent_map(q), ca.DM.eye(tree.nv))
    by_q, by_v = ca.horzsplit(derivative_along(rate, ca.vertcat(q, v), directions), tree.nv)
    return by_q, by_v, ca.jacobian(rate, a)


def joint_jacobians(tree: Tree, q: Matrix) -> Matrix:
    """J (6 × nv): the columns of all joints in WORLD, of which the Jacobian of a frame takes those on its path."""
    columns = ((joint, motion.vector) for joint, motion, _ in _columns_in_universe(tree, q, ca.DM(tree.nv, 1)))
    return of_columns(tree.nv, 6, columns)


def joint_jacobians_rate(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """dJ/dt (6 × nv) of :func:`joint_jacobians`: a column is carried along by its link."""
    return of_columns(tree.nv, 6, ((joint, rate.vector) for joint, _, rate in _columns_in_universe(tree, q, v)))


def _columns_in_universe(tree: Tree, q: Matrix, v: Matrix) -> Iterator[tuple[Joint, Motion, Motion]]:
    """Each joint, its columns and their rates in WORLD."""
    twists: list[Motion] = []
    for joint, placed in zip(tree.joints, tree.placements(q), strict=True):
        columns = Motion(*joint.subspace(q)).to_parent(*placed)
        own_rate = Motion(*joint.subspace_rate(q, v)).to_parent(*placed)
        before = twists[joint.parent] if joint.parent >= 0 else _AT_REST
        twists.append(before + columns.times(joint.velocity(v)))
        carrying = before if joint.type.nv == 1 else twists[-1]
        yield joint, columns, carrying.cross(columns) + own_rate

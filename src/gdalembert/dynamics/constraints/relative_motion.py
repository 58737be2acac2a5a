"""The motion of one frame against another: what a constraint holds at zero.

Frame 1 moves against frame 2, which is fixed in another link or in the universe. In axes common to both, with S v what
each joint adds to the motion, l its linear part at the origin x of the frame and ω the angular velocity summed up to
it, the joints from the common link C outward make

    point (3D)       E = ẋ₁ − ẋ₂                 ẍ = Σ (ω_before + ω_after) × l       Ė = ẍ₁ − ẍ₂
    frame (6D)       E = W₁ − W₂, about x₁       Ẇ = Σ W_before × S v                 Ė = Ẇ₁ − Ẇ₂ + W₁ × W₂

at a = 0. E and Ė are Pinocchio's of a ``RigidConstraintModel`` in the axes of frame 1 (LOCAL): the rate of the entries
of the relative twist, and the difference of the classical accelerations (Featherstone, Rigid Body Dynamics Algorithms,
section 8.2; the sums in common axes are ours). A motion of a frame against another one does not depend on how C
moves; that of two points does, as long as they are apart, and so all joints count there.

The common axes are those in which E has the fewest terms: of the first link above the universe that a contact has, or
of C.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix, transform
from gdalembert.spatial.lie.exponential_maps import motion_log
from gdalembert.spatial.spatial_vectors import Motion

_NULL = ca.DM(3, 1)
_HERE = ca.DM.eye(3), _NULL
_AT_REST = Motion(_NULL, _NULL)


@dataclass(frozen=True)
class Instant:
    """The motion of a frame at a = 0, in some axes, about a point x that it carries.

    Attributes:
        twist: W.
        acceleration: of x (3), classical.
        angular: ω̇.
    """

    twist: Motion
    acceleration: Matrix
    angular: Matrix

    @property
    def rate(self) -> Motion:
        """Ẇ about the place where x is."""
        return Motion(self.acceleration - ca.cross(self.twist.angular, self.twist.linear), self.angular)

    def moved(self, own: Motion, rate: Motion) -> Instant:
        """The motion of the link behind a joint that adds ``own``, with ``rate`` in the axes of one of its links."""
        twist = self.twist + own
        acceleration = self.acceleration + ca.cross(self.twist.angular + twist.angular, own.linear) + rate.linear
        return Instant(twist, acceleration, self.angular + ca.cross(self.twist.angular, own.angular) + rate.angular)

    def turned(self, r: Matrix) -> Instant:
        """The same in other axes, R x for x."""
        return Instant(self.twist.turned(r), r @ self.acceleration, r @ self.angular)


STILL = Instant(_AT_REST, _NULL, _NULL)


@dataclass(frozen=True)
class FramePair:
    """Two frames that a constraint holds together.

    Attributes:
        name: of the constraint, for messages.
        first, second: indices of the frames in ``Tree.frames``; one of them may be fixed in the universe.
        is_point: whether their origins alone are held together (3D), or the frames (6D).
        is_anchored: whether both are known.
        is_world_aligned: whether the acceleration of frames (6D) is Ẇ₁ − Ẇ₂, as Pinocchio takes it in
            LOCAL_WORLD_ALIGNED; it is the same where W₁ = W₂.
    """

    name: str
    first: int
    second: int
    is_point: bool
    is_anchored: bool
    is_world_aligned: bool = False

    @property
    def rows(self) -> int:
        """The number of scalar constraints."""
        return 3 if self.is_point else 6

    def acceleration(self, first: Instant, second: Instant) -> Matrix:
        """Ė at a = 0 (3 or 6): of the points of both frames that are held together, or of both frames about one."""
        if self.is_point:
            return first.acceleration - second.acceleration
        difference = first.rate + -second.rate
        return (difference if self.is_world_aligned else difference + first.twist.cross(second.twist)).vector

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        """The frames in a tree."""
        return tree.frames[self.first], tree.frames[self.second]

    @property
    def feels_common_link(self) -> bool:
        """Whether the acceleration depends on how the link moves that both frames hang on."""
        return self.is_point or self.is_world_aligned

    def paths(self, tree: Tree, *, whole: bool = False) -> tuple[list[int], list[int]]:
        """The joints outward to each frame, from the link that both hang on, or the whole ways from the universe."""
        first, second = (tree.path(frame.joint) for frame in self.frames(tree))
        common = 0 if whole else sum(i == j for i, j in zip(first, second, strict=False))
        return first[common:], second[common:]


@dataclass(frozen=True)
class RelativeMotion:
    """The motion of the first frame of a pair against the second, at q, in common axes.

    Attributes:
        pair: the frames.
        rotation: R (3 × 3), from the axes of the first frame to the common axes.
        chains: the joints from the common link to each frame.
    """

    pair: FramePair
    rotation: Matrix
    chains: tuple[Chain, Chain]

    def jacobian(self, nv: int) -> Matrix:
        """∂E/∂v (3 or 6 × nv), structurally sparse."""
        first, second = self.chains
        columns = [*first.columns, *((joint, -motion) for joint, motion in second.columns)]
        blocks = ((joint, motion.linear if self.pair.is_point else motion.vector) for joint, motion in columns)
        return of_columns(nv, self.pair.rows, blocks)

    @property
    def shared(self) -> int:
        """The number of joints that both chains begin with."""
        return sum(one is two for (one, *_), (two, *_) in zip(*(chain.placed for chain in self.chains), strict=False))

    def bias(self, q: Matrix, v: Matrix) -> Matrix:
        """Ė at a = 0 (3 or 6)."""
        return self.pair.acceleration(*(chain.motion(q, v) for chain in self.chains))

    def from_first_frame(self, x: Matrix) -> Matrix:
        """3 or 6 numbers in the axes of the first frame (or columns of them), in the common axes."""
        return ca.vertcat(*(self.rotation @ part for part in ca.vertsplit(x, 3)))

    def to_first_frame(self, x: Matrix) -> Matrix:
        """3 or 6 numbers in the common axes (or columns of them), in the axes of the first frame."""
        return ca.vertcat(*(self.rotation.T @ part for part in ca.vertsplit(x, 3)))


@dataclass(frozen=True)
class Step:
    """A joint of a chain in motion.

    Attributes:
        joint: the joint.
        columns, rates: S and dS/dt.
        before, behind: the links that it joins, in the order in which the chain is followed.
    """

    joint: Joint
    columns: Motion
    rates: Motion
    before: Instant
    behind: Instant


@dataclass(frozen=True)
class Chain:
    """The joints from the common link to a frame.

    Attributes:
        placed: the joints, with R and p of their links in the common axes.
        about: the point that motions are about, in the common axes.
    """

    placed: Sequence[tuple[Joint, Matrix, Matrix]]
    about: Matrix
    q: Matrix

    @cached_property
    def columns(self) -> list[tuple[Joint, Motion]]:
        """The joints, and the columns of S."""
        return [(joint, self.seen(k, Motion(*joint.subspace(self.q)))) for k, (joint, _, _) in enumerate(self.placed)]

    def seen(self, k: int, columns: Motion) -> Motion:
        """Motions in the axes of the link behind the k-th joint, in the common axes."""
        _, r, p = self.placed[k]
        return columns.to_parent(r, p).about(self.about)

    def motion(self, q: Matrix, v: Matrix) -> Instant:
        """The motion of its end at a = 0."""
        steps = self.steps(q, v, ca.DM(*v.shape))
        return steps[-1].behind if steps else STILL

    def steps(self, q: Matrix, v: Matrix, a: Matrix, start: Instant = STILL, *, inward: bool = False) -> list[Step]:
        """Its joints in motion, outward; or inward, where each moves the link before it in the opposite way."""
        steps: list[Step] = []
        before = start
        order = range(len(self.placed))
        for k in reversed(order) if inward else order:
            joint, columns = self.columns[k]
            rates = self.seen(k, Motion(*joint.subspace_rate(q, v)))
            if inward:
                columns, rates = -columns, -rates
            own_v, own_a = joint.velocity(v), joint.velocity(a)
            behind = before.moved(columns.times(own_v), columns.times(own_a) + rates.times(own_v))
            steps.append(Step(joint, columns, rates, before, behind))
            before = behind
        return steps


def of_columns(nv: int, rows: int, blocks: Iterable[tuple[Joint, Matrix]]) -> Matrix:
    """rows × nv numbers from the columns of each joint; joints that share coordinates add."""
    columns: list[Matrix] = [ca.DM(rows, 1)] * nv
    for joint, block in blocks:
        for k, column in enumerate(joint.columns):
            columns[column] = columns[column] + block[:, k]
    return ca.horzcat(*columns)


def relative_motion(tree: Tree, pair: FramePair, q: Matrix) -> RelativeMotion:
    """The motion of the first frame of a pair against the second."""
    first, second = pair.paths(tree, whole=pair.feels_common_link)
    shared = not second or (bool(first) and first[0] == second[0])
    placed, others = (_outward(tree, path, q, from_link=shared) for path in (first, second))
    frame, other = pair.frames(tree)
    rotation, x = _frame_in_axes(placed, frame)
    about = _frame_in_axes(others, other)[1] if pair.is_point and others else x
    return RelativeMotion(pair, rotation, (Chain(placed, x, q), Chain(others, about, q)))


def placement_error(tree: Tree, pair: FramePair, q: Matrix) -> Matrix:
    """c (3 or 6), in the axes of the first frame: x₁ − x₂, or −log6(T₁⁻¹ T₂); its rate is E where c is 0.

    Raises:
        ArgumentError: if it is not known where the frame is held.
    """
    if not pair.is_anchored:
        raise ArgumentError(f"{pair.name} has no anchor, so that its residual is not known; take anchored(q)")
    r, x = second_frame(tree, pair, q)
    return -x if pair.is_point else -motion_log(transform(r, x))


def second_frame(tree: Tree, pair: FramePair, q: Matrix) -> tuple[Matrix, Matrix]:
    """R and x of the second frame, seen from the first."""
    placed = zip(pair.paths(tree), pair.frames(tree), strict=True)
    (r_1, x_1), (r_2, x_2) = (_inward(tree, path, frame, q) for path, frame in placed)
    return r_1.T @ r_2, r_1.T @ (x_2 - x_1)


def _outward(tree: Tree, path: list[int], q: Matrix, *, from_link: bool) -> list[tuple[Joint, Matrix, Matrix]]:
    """The joints of a path with R and p of their links, in the axes of the first of them or of what it stands on."""
    placed: list[tuple[Joint, Matrix, Matrix]] = []
    r, p = _HERE
    for k, i in enumerate(path):
        if k or not from_link:
            r_i, p_i = tree.joints[i].placement(q)
            r, p = r @ r_i, p + r @ p_i
        placed.append((tree.joints[i], r, p))
    return placed


def _frame_in_axes(placed: Sequence[tuple[Joint, Matrix, Matrix]], frame: Frame) -> tuple[Matrix, Matrix]:
    """R and p of a frame on the last link of a chain."""
    fixed_r, fixed_p = fixed_placement(frame)
    _, r, p = placed[-1] if placed else (None, *_HERE)
    return r @ fixed_r, p + r @ fixed_p


def _inward(tree: Tree, path: list[int], frame: Frame, q: Matrix) -> tuple[Matrix, Matrix]:
    """R and p of a frame in the link that a path begins on."""
    r, p = fixed_placement(frame)
    for i in reversed(path):
        r_i, p_i = tree.joints[i].placement(q)
        r, p = r_i @ r, p_i + r_i @ p
    return r, p

"""The motion of one frame against another, which a constraint holds at zero, and its derivatives.

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

Derivatives are those of entries in the axes of frame 1, which a joint that moves along its column e = (l; ω) carries
along: it moves what is on its other side by −e × …: the twist V and its rate A there, and ẋ, ẍ of the point x. With V₋
and V₊ of the links before and behind the joint, and V that of the two in which its column is not fixed,

    frame (6D)   ∂E/∂q = V × e
                 ∂Ė/∂q = A × e + (V × e) × (E − V)
                 ∂Ė/∂v = V₋ × e + e × (E − V₊)
    point (3D)   ∂ẋ/∂q = ω₋ × l − ω × ẋ₋
                 ∂ẍ/∂q = U₋ l − ω × ẍ₋ + 2 (ω₋ × ω) × (ẋ − ẋ₋)                U = [ω̇ ×] + [ω ×]²
                 ∂ẍ/∂v = (ω₋ + ω₊) × l + ω × (2 ẋ − ẋ₋ − ẋ₊)

besides the gradient of S(q). Of the torques Jᵀ f only those of the joints before it change, by what carries f along:

    ∂(e_iᵀ f)/∂q_j = e_i · (e_j ×* f)        i before j

(Ours. Those of single frames stand in Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms,
2018.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as chained
from typing import ClassVar, NamedTuple

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_types import ConstraintType
from gdalembert.dynamics.frame_motion import fixed_placement, of_columns, placement, subspace_gradient, subspace_rates
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix, cross_columns, spin, transform
from gdalembert.spatial.functions import derivative_along, symbols
from gdalembert.spatial.lie.maps import motion_log, motion_log_jacobian
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)
_AT_REST = Motion(_NULL, _NULL)

Blocks = Iterator[tuple[Joint, Matrix]]
"""A joint, and its columns of ∂(Jᵀ f)/∂q."""

_Derivatives = tuple[Joint, Matrix, Matrix, Matrix]
"""A joint, and its columns of ∂E/∂q, ∂Ė/∂q and ∂Ė/∂v."""


@dataclass(frozen=True)
class MotionAtPoint:
    """The motion of a frame at a = 0, in some axes, about a point x that it carries."""

    twist: Motion  # W
    acceleration: Matrix  # of x (3), classical
    angular: Matrix  # ω̇

    @property
    def rate(self) -> Motion:
        """Rate Ẇ of the twist about the place where x is."""
        return Motion(self.acceleration - ca.cross(self.twist.angular, self.twist.linear), self.angular)

    def moved(self, joint_twist: Motion, rate: Motion) -> MotionAtPoint:
        """The motion of the link behind a joint that adds its twist, with ``rate`` in the axes of one of its links."""
        twist = self.twist + joint_twist
        acceleration = (
            self.acceleration + ca.cross(self.twist.angular + twist.angular, joint_twist.linear) + rate.linear
        )
        return MotionAtPoint(
            twist, acceleration, self.angular + ca.cross(self.twist.angular, joint_twist.angular) + rate.angular
        )

    def turned(self, r: Matrix) -> MotionAtPoint:
        """The same motion in other axes, those that R leads to."""
        return MotionAtPoint(self.twist.turned(r), r @ self.acceleration, r @ self.angular)


STILL = MotionAtPoint(_AT_REST, _NULL, _NULL)


@dataclass(frozen=True)
class MovingJoint:
    """A joint of a chain in motion, between two links in the order in which the chain is followed.

    S(q) has the gradients ∂(S v)/∂q and ∂(S a + Ṡ v)/∂q, zero for most. Since ∂S/∂q_k v_k add up to Ṡ, ∂(Ṡ v)/∂v is
    ∂(S v)/∂q + Ṡ.
    """

    joint: Joint
    before: MotionAtPoint
    behind: MotionAtPoint
    columns: Motion  # S
    rates: Motion  # dS/dt
    gradient: Motion
    rate_gradient: Motion


@dataclass(frozen=True)
class Chain:
    """The joints from the common link to a frame."""

    placed: Sequence[tuple[Joint, Matrix, Matrix]]  # the joints, with R and p of their links in the common axes
    about: Matrix  # the point that motions are about, in the common axes
    q: Matrix

    @cached_property
    def columns(self) -> list[tuple[Joint, Motion]]:
        """The joints, and the columns of S."""
        return [(joint, self.seen(k, Motion(*joint.subspace(self.q)))) for k, (joint, _, _) in enumerate(self.placed)]

    def seen(self, k: int, columns: Motion) -> Motion:
        """Motions in the axes of the link behind the k-th joint, in the common axes."""
        _, r, p = self.placed[k]
        return columns.to_parent(r, p).about(self.about)

    def motion(self, v: Matrix) -> MotionAtPoint:
        """The motion of its end at a = 0."""
        end = STILL
        for k, (joint, columns) in enumerate(self.columns):
            rates, joint_v = self.seen(k, Motion(*joint.subspace_rate(self.q, v))), joint.velocity(v)
            end = end.moved(columns.times(joint_v), rates.times(joint_v))
        return end

    def steps(self, v: Matrix, a: Matrix, start: MotionAtPoint = STILL, *, inward: bool = False) -> list[MovingJoint]:
        """Joints in motion, outward; or inward, where each moves the link before it in the opposite way."""
        steps: list[MovingJoint] = []
        order = range(len(self.placed))
        for k in reversed(order) if inward else order:
            joint, columns = self.columns[k]
            change = subspace_gradient(joint, self.q, a), _rate_gradient(joint, self.q, v)
            added = (
                columns,
                self.seen(k, Motion(*joint.subspace_rate(self.q, v))),
                self.seen(k, subspace_gradient(joint, self.q, v)),
                self.seen(k, change[0]) + self.seen(k, change[1]),
            )
            columns, rates, *gradients = (-motion for motion in added) if inward else added
            own_v, own_a, before = joint.velocity(v), joint.velocity(a), end_of(steps, start)
            behind = before.moved(columns.times(own_v), columns.times(own_a) + rates.times(own_v))
            steps.append(MovingJoint(joint, before, behind, columns, rates, *gradients))
        return steps


def end_of(steps: Sequence[MovingJoint], start: MotionAtPoint = STILL) -> MotionAtPoint:
    """The motion of the link that they lead to."""
    return steps[-1].behind if steps else start


def _rate_gradient(joint: Joint, q: Matrix, v: Matrix) -> Motion:
    """Gradient ∂(Ṡ v)/∂q of a joint, in link axes."""
    joint_type = joint.type
    if joint_type.has_constant_subspace:
        return Motion(ca.DM(3, joint_type.nv), ca.DM(3, joint_type.nv))
    x, y = symbols(q=joint_type.nq, v=joint_type.nv).values()
    directions = ca.jacobian(joint_type.configuration_rate(x, y), y)
    rate = derivative_along(ca.vertcat(*joint_type.subspace_rate(x, y)) @ y, x, directions)
    columns = ca.Function("rate_gradient", [x, y], [rate])(joint.configuration(q), joint.velocity(v))
    return Motion(columns[:3, :], columns[3:, :])


def derivatives_of_point(step: MovingJoint, velocity: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Derivatives ∂ẋ/∂q, ∂ẍ/∂q and ∂ẍ/∂v of one point with the velocity ẋ, in axes that move with it."""
    e, before, behind = step.columns, step.before, step.behind.twist
    omega = before.twist.angular

    def by_rate(x: Motion) -> Matrix:
        turning = spatial.skew(omega + behind.angular)
        return turning @ x.linear + cross_columns(x.angular, 2 * velocity - before.twist.linear - behind.linear)

    moved = spatial.skew(omega) @ e.linear - cross_columns(e.angular, before.twist.linear)
    carried = spin(before.angular, omega) @ e.linear - cross_columns(e.angular, before.acceleration)
    coriolis = cross_columns(spatial.skew(omega) @ e.angular, 2 * (velocity - before.twist.linear))
    rate = carried + coriolis + by_rate(step.gradient) + step.rate_gradient.linear
    return moved + step.gradient.linear, rate, by_rate(e) + step.gradient.linear + step.rates.linear


def torques_carried(columns: Sequence[tuple[Joint, Motion]], force: Wrench, nv: int, inward: int = 0) -> Blocks:
    """The part of ∂(Jᵀ f)/∂q of the columns that each joint carries along; the first joints are followed inward, and
    carry their own columns too."""
    for k, (joint, e) in enumerate(columns):
        moved = columns[: k + 1] if k < inward else columns[:k]
        jacobian = of_columns(nv, 6, ((other, twist.vector) for other, twist in moved))
        yield joint, jacobian.T @ e.carry(force).vector


def torques_of_gradient(chain: Chain, force: Wrench, nv: int) -> Blocks:
    """The part of ∂(Jᵀ f)/∂q by the gradient of S(q): ∂Sᵀ/∂q f."""
    for k, (joint, _, _) in enumerate(chain.placed):
        rates = (chain.seen(k, rate) for rate in subspace_rates(joint, chain.q))
        block = ca.horzcat(*(force.work(rate.linear, rate.angular) for rate in rates))
        yield joint, of_columns(nv, joint.type.nv, [(joint, block.T)]).T


@dataclass(frozen=True)
class FramePair:
    """Two frames that a constraint holds together."""

    name: str  # of the constraint, for messages
    first: int  # index of the frame in ``Tree.frames``; one of the two may be fixed in the universe
    second: int
    holds: ConstraintType
    is_anchored: bool  # whether both frames are known

    @property
    def rows(self) -> int:
        """The number of scalar constraints."""
        return len(self.holds.units)

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        """The frames in a tree."""
        return tree.frames[self.first], tree.frames[self.second]

    def paths(self, tree: Tree, *, whole: bool = False) -> tuple[list[int], list[int]]:
        """The joints outward to each frame, from the link that both hang on, or the whole ways from the universe."""
        first, second = (tree.path(frame.joint) for frame in self.frames(tree))
        common = 0 if whole else sum(i == j for i, j in zip(first, second, strict=False))
        return first[common:], second[common:]

    def placements(self, tree: Tree, q: Matrix) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
        """Placements R and x of both frames in the link that they hang on."""
        (first, second), (path, other) = self.frames(tree), self.paths(tree)
        return placement(tree, first, q, path), placement(tree, second, q, other)

    def second_in_first(self, tree: Tree, q: Matrix) -> tuple[Matrix, Matrix]:
        """Placement R and x of the second frame, seen from the first."""
        (r_1, x_1), (r_2, x_2) = self.placements(tree, q)
        return r_1.T @ r_2, r_1.T @ (x_2 - x_1)

    def first_in_second(self, tree: Tree, q: Matrix) -> tuple[Matrix, Matrix]:
        """Placement R and x of the first frame, seen from the second."""
        (r_1, x_1), (r_2, x_2) = self.placements(tree, q)
        return r_2.T @ r_1, r_2.T @ (x_1 - x_2)


class MotionDerivatives(NamedTuple):
    """Derivatives of E and Ė (rows × nv each), by q in the tangent space; ∂E/∂v and ∂Ė/∂a are J."""

    velocity_dq: Matrix  # ∂E/∂q
    acceleration_dq: Matrix  # ∂Ė/∂q
    acceleration_dv: Matrix  # ∂Ė/∂v


@dataclass(frozen=True)
class RelativeMotion:
    """The motion of the first frame of a pair against the second (6D), at q, in common axes."""

    feels_common_link: ClassVar[bool] = False
    """True if Ė depends on how the link moves that both frames hang on."""
    has_two_points: ClassVar[bool] = False
    """True if the second frame moves about its own origin, and not about that of the first."""
    is_in_common_link: ClassVar[bool] = False
    """True if the common axes are those of the common link for a contact, too."""
    has_derivatives: ClassVar[bool] = True
    """True if its derivatives are written down here; others follow by algorithmic differentiation."""

    tree: Tree
    pair: FramePair
    q: Matrix
    first_to_common: Matrix  # R (3 × 3), from the axes of the first frame to the common axes
    second_to_common: Matrix
    chains: tuple[Chain, Chain]  # the joints from the common link to each frame

    @classmethod
    def of(cls, tree: Tree, pair: FramePair, q: Matrix) -> RelativeMotion:
        """The motion of a pair."""
        paths = pair.paths(tree, whole=cls.feels_common_link)
        first, second = paths
        shared = not second or (bool(first) and first[0] == second[0])
        ends = []
        for path, frame in zip(
            paths, pair.frames(tree), strict=True
        ):  # in the axes that the first link has or stands in
            placed: list[tuple[Joint, Matrix, Matrix]] = []
            r, p = ca.DM.eye(3), _NULL
            for k, i in enumerate(path):
                if k or cls.is_in_common_link or not shared:
                    r_i, p_i = tree.joints[i].placement(q)
                    r, p = r @ r_i, p + r @ p_i
                placed.append((tree.joints[i], r, p))
            fixed_r, fixed_p = fixed_placement(frame)
            ends.append((placed, r @ fixed_r, p + r @ fixed_p))
        (placed, first_to_common, x), (others, second_to_common, second_x) = ends
        about = second_x if cls.has_two_points and others else x
        chains = Chain(placed, x, q), Chain(others, about, q)
        return cls(tree, pair, q, first_to_common, second_to_common, chains)

    @staticmethod
    def residual(pair: FramePair, tree: Tree, q: Matrix) -> Matrix:
        """The residual c = −log6(T₁⁻¹ T₂), in the axes of the first frame."""
        return -motion_log(transform(*pair.second_in_first(tree, q)))

    @staticmethod
    def wrenches(pair: FramePair, tree: Tree, q: Matrix, f: Matrix) -> tuple[Wrench, Wrench]:
        """The wrenches of forces f (rows) on the first and on the second frame, in the axes of each."""
        wrench = Wrench(f[:3], f[3:])
        return wrench, (-wrench).seen_from(*pair.second_in_first(tree, q))

    @staticmethod
    def unit_wrenches(axes: Matrix, x: Matrix) -> Wrench:
        """The wrenches of unit forces, and of unit moments, along axes (3 × 3) at the point x of a link."""
        return Wrench(ca.horzcat(axes, ca.DM(3, 3)), ca.horzcat(spatial.skew(x) @ axes, axes))

    @staticmethod
    def acceleration(first: MotionAtPoint, second: MotionAtPoint) -> Matrix:
        """Acceleration Ė at a = 0, in the axes of both instants."""
        return (first.rate + -second.rate + first.twist.cross(second.twist)).vector

    @property
    def jacobian(self) -> Matrix:
        """Jacobian ∂E/∂v (rows × nv), structurally sparse."""
        return of_columns(self.tree.nv, 6, ((joint, motion.vector) for joint, motion in self._columns))

    def instants(self, v: Matrix) -> tuple[MotionAtPoint, MotionAtPoint]:
        """The motion of both frames at a = 0."""
        first, second = self.chains
        return first.motion(v), second.motion(v)

    def bias(self, v: Matrix) -> Matrix:
        """Acceleration Ė at a = 0 (rows)."""
        return self.acceleration(*self.instants(v))

    def from_first_frame(self, x: Matrix) -> Matrix:
        """ChosenRows in the axes of the first frame (or columns of them), in the common axes."""
        return ca.vertcat(*(self.first_to_common @ part for part in ca.vertsplit(x, 3)))

    def to_first_frame(self, x: Matrix) -> Matrix:
        """ChosenRows in the common axes (or columns of them), in the axes of the first frame."""
        return ca.vertcat(*(self.first_to_common.T @ part for part in ca.vertsplit(x, 3)))

    @property
    def _columns(self) -> list[tuple[Joint, Motion]]:
        """The columns of the twist of the first frame less that of the second."""
        first, second = self.chains
        return [*first.columns, *((joint, -motion) for joint, motion in second.columns)]

    def derivatives(self, v: Matrix, a: Matrix) -> MotionDerivatives:
        """Derivatives of E and Ė: the sum over the joints."""
        joints, *blocks = zip(*self._derivative_columns(v, a), strict=True)
        rows = blocks[0][0].shape[0]
        return MotionDerivatives(*(of_columns(self.tree.nv, rows, zip(joints, b, strict=True)) for b in blocks))

    def _derivative_columns(self, v: Matrix, a: Matrix) -> Iterator[_Derivatives]:
        first, second = self.chains
        inward = second.steps(v, a, inward=True)
        outward = first.steps(v, a, end_of(inward))
        total = end_of([*inward, *outward]).twist
        for k, step in enumerate([*inward, *outward]):
            near = step.behind if k < len(inward) else step.before
            inner, outer = step.before.twist, step.behind.twist - total

            def by_rate(x: Motion, inner: Motion = inner, outer: Motion = outer) -> Motion:
                return inner.cross(x) + outer.cross(x)

            moved, relative = near.twist.cross(step.columns), near.twist - total
            rate = near.rate.cross(step.columns) + relative.cross(moved) + by_rate(step.gradient) + step.rate_gradient
            by_v = by_rate(step.columns) + step.gradient + step.rates
            yield step.joint, (moved + step.gradient).vector, rate.vector, by_v.vector

    def residual_derivative(self) -> Matrix:
        """Derivative ∂c/∂q (rows × nv) in the axes of the first frame; J where c is 0."""
        r, x = self.pair.second_in_first(self.tree, self.q)
        return motion_log_jacobian(transform(r.T, -r.T @ x)) @ self.to_first_frame(self.jacobian)

    def torque_derivatives(self, f: Matrix) -> Matrix:
        """Derivative ∂(Jᵀ f)/∂q (nv × nv) of f in the common axes, which is constant in those of the first frame."""
        (first, second), force, nv = self.chains, Wrench(f[:3], f[3:]), self.tree.nv
        gradients = torques_of_gradient(first, force, nv), torques_of_gradient(second, -force, nv)
        inward = [(joint, -columns) for joint, columns in reversed(second.columns)]
        carried = torques_carried([*inward, *first.columns], force, nv, inward=len(inward))
        return of_columns(nv, nv, chained(*gradients, carried))


class PointMotion(RelativeMotion):
    """The motion of the origin of the first frame against that of the second (3D)."""

    feels_common_link = True
    has_two_points = True

    @staticmethod
    def residual(pair: FramePair, tree: Tree, q: Matrix) -> Matrix:
        """The residual c = x₁ − x₂, in the axes of the first frame."""
        return -pair.second_in_first(tree, q)[1]

    @staticmethod
    def wrenches(pair: FramePair, tree: Tree, q: Matrix, f: Matrix) -> tuple[Wrench, Wrench]:
        wrench = Wrench(f, _NULL)
        return wrench, (-wrench).turned(pair.second_in_first(tree, q)[0].T)

    @staticmethod
    def unit_wrenches(axes: Matrix, x: Matrix) -> Wrench:
        return Wrench(axes, spatial.skew(x) @ axes)

    @staticmethod
    def acceleration(first: MotionAtPoint, second: MotionAtPoint) -> Matrix:
        return first.acceleration - second.acceleration

    @property
    def jacobian(self) -> Matrix:
        return of_columns(self.tree.nv, 3, ((joint, motion.linear) for joint, motion in self._columns))

    @property
    def _shared(self) -> int:
        """The number of joints that both chains begin with."""
        return sum(one is two for (one, *_), (two, *_) in zip(*(chain.placed for chain in self.chains), strict=False))

    def _derivative_columns(self, v: Matrix, a: Matrix) -> Iterator[_Derivatives]:
        first, second = (chain.steps(v, a) for chain in self.chains)
        other = end_of(second)
        for sign, joints in ((1, first), (-1, second)):
            for k, step in enumerate(joints):
                by_q, rate_by_q, rate_by_v = derivatives_of_point(step, end_of(joints).twist.linear)
                if k >= self._shared:  # it turns the axes of one frame against those of the other
                    by_q += cross_columns(step.columns.angular, other.twist.linear)
                    rate_by_q += cross_columns(step.columns.angular, other.acceleration)
                yield step.joint, sign * by_q, sign * rate_by_q, sign * rate_by_v

    def residual_derivative(self) -> Matrix:
        columns = ((joint, motion.angular) for joint, motion in self.chains[0].columns)
        turning = self.to_first_frame(of_columns(self.tree.nv, 3, columns))
        jacobian = self.to_first_frame(self.jacobian)
        return jacobian - cross_columns(turning, self.residual(self.pair, self.tree, self.q))

    def torque_derivatives(self, f: Matrix) -> Matrix:
        (first, second), force, nv = self.chains, Wrench(f, _NULL), self.tree.nv
        gradients = torques_of_gradient(first, force, nv), torques_of_gradient(second, -force, nv)
        carried = torques_carried(first.columns, force, nv), torques_carried(second.columns, -force, nv)
        return of_columns(nv, nv, chained(*gradients, *carried, self._turned(force)))

    def _turned(self, force: Wrench) -> Blocks:
        """The part by joints that turn the force on the second point against the joints that move it."""
        first, second = self.chains
        jacobian = of_columns(self.tree.nv, 3, ((joint, columns.linear) for joint, columns in second.columns))
        for sign, chain in ((-1, first), (1, second)) if second.columns else ():
            for joint, e in chain.columns[self._shared :]:
                yield joint, sign * jacobian.T @ e.carry(force).force


class WorldAlignedMotion(RelativeMotion):
    """Motion of frames whose Ė is the difference of their accelerations in the universe."""

    feels_common_link = True

    @staticmethod
    def acceleration(first: MotionAtPoint, second: MotionAtPoint) -> Matrix:
        return (first.rate + -second.rate).vector

    def derivatives(self, v: Matrix, a: Matrix) -> MotionDerivatives:
        """Derivatives of the relative twist, without its rate W₁ × W₂."""
        summed, nv, jacobian = super().derivatives(v, a), self.tree.nv, self.jacobian
        joints = self.chains[0].steps(v, ca.DM(nv, 1))
        first = end_of(joints).twist
        second = first - Motion(*ca.vertsplit(jacobian @ v, 3))
        moved = ((step.joint, step.before.twist.cross(step.columns) + step.gradient) for step in joints)
        first_dq = of_columns(nv, 6, ((joint, columns.vector) for joint, columns in moved))
        first_dv = of_columns(nv, 6, ((step.joint, step.columns.vector) for step in joints))

        def turning(absolute: Matrix, relative: Matrix) -> Matrix:
            one, other = (Motion(*ca.vertsplit(x, 3)) for x in (absolute, absolute - relative))
            return (second.cross(one) - first.cross(other)).vector

        return MotionDerivatives(
            summed.velocity_dq,
            summed.acceleration_dq + turning(first_dq, summed.velocity_dq),
            summed.acceleration_dv + turning(first_dv, jacobian),
        )

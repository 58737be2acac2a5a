"""The joints from a link to a frame: what they add to its motion, and how that changes with q.

With S v what each joint adds to the motion, l its linear part at the origin x of the frame and ω the angular velocity
summed up to it, the joints outward make ẍ = Σ (ω_before + ω_after) × l and Ẇ = Σ W_before × S v at a = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.frame_motion import fixed_placement, of_columns, subspace_gradient
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix, cross_columns, spin
from gdalembert.spatial.functions import derivative_along, symbols
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)
_HERE = ca.DM.eye(3), _NULL
_AT_REST = Motion(_NULL, _NULL)

Blocks = Iterator[tuple[Joint, Matrix]]
"""A joint, and its columns of ∂(Jᵀ f)/∂q."""


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
class MovingJoint:
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

    def steps(
        self, q: Matrix, v: Matrix, a: Matrix, start: Instant = STILL, *, inward: bool = False
    ) -> list[MovingJoint]:
        """Its joints in motion, outward; or inward, where each moves the link before it in the opposite way."""
        steps: list[MovingJoint] = []
        before = start
        order = range(len(self.placed))
        for k in reversed(order) if inward else order:
            joint, columns = self.columns[k]
            rates = self.seen(k, Motion(*joint.subspace_rate(q, v)))
            if inward:
                columns, rates = -columns, -rates
            own_v, own_a = joint.velocity(v), joint.velocity(a)
            behind = before.moved(columns.times(own_v), columns.times(own_a) + rates.times(own_v))
            steps.append(MovingJoint(joint, columns, rates, before, behind))
            before = behind
        return steps


@dataclass(frozen=True)
class SubspaceGradient:
    """The gradient of S(q) of one joint, zero for most: ∂(S v)/∂q and ∂(S a + Ṡ v)/∂q.

    Since ∂S/∂q_k v_k add up to Ṡ, ∂(Ṡ v)/∂v is ∂(S v)/∂q + Ṡ.
    """

    velocity: Motion
    rate: Motion


def moving_joints(
    chain: Chain, q: Matrix, v: Matrix, a: Matrix, start: Instant = STILL, *, inward: bool = False
) -> list[tuple[MovingJoint, SubspaceGradient]]:
    """The joints of a chain in motion, and the gradients of S(q)."""
    gradients = []
    for k, (joint, _, _) in enumerate(chain.placed):
        velocity = chain.seen(k, subspace_gradient(joint, q, v))
        rate = chain.seen(k, subspace_gradient(joint, q, a)) + chain.seen(k, _rate_gradient(joint, q, v))
        gradients.append(SubspaceGradient(-velocity, -rate) if inward else SubspaceGradient(velocity, rate))
    steps = chain.steps(q, v, a, start, inward=inward)
    return list(zip(steps, reversed(gradients) if inward else gradients, strict=True))


def end_of(steps: Sequence[tuple[MovingJoint, SubspaceGradient]]) -> Instant:
    """The motion of the link that they lead to."""
    return steps[-1][0].behind if steps else STILL


def _rate_gradient(joint: Joint, q: Matrix, v: Matrix) -> Motion:
    """∂(Ṡ v)/∂q of a joint, in link axes."""
    own = joint.type
    if own.has_constant_subspace:
        return Motion(ca.DM(3, own.nv), ca.DM(3, own.nv))
    x, y = symbols(q=own.nq, v=own.nv).values()
    directions = ca.jacobian(own.configuration_rate(x, y), y)
    rate = derivative_along(ca.vertcat(*own.subspace_rate(x, y)) @ y, x, directions)
    columns = ca.Function("rate_gradient", [x, y], [rate])(joint.configuration(q), joint.velocity(v))
    return Motion(columns[:3, :], columns[3:, :])


def derivatives_of_point(
    step: MovingJoint, gradient: SubspaceGradient, velocity: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """∂ẋ/∂q, ∂ẍ/∂q and ∂ẍ/∂v of one point with the velocity ẋ, in axes that move with it."""
    e, before, behind = step.columns, step.before, step.behind.twist
    omega = before.twist.angular

    def by_rate(x: Motion) -> Matrix:
        turning = spatial.skew(omega + behind.angular)
        return turning @ x.linear + cross_columns(x.angular, 2 * velocity - before.twist.linear - behind.linear)

    moved = spatial.skew(omega) @ e.linear - cross_columns(e.angular, before.twist.linear)
    carried = spin(before.angular, omega) @ e.linear - cross_columns(e.angular, before.acceleration)
    coriolis = cross_columns(spatial.skew(omega) @ e.angular, 2 * (velocity - before.twist.linear))
    rate = carried + coriolis + by_rate(gradient.velocity) + gradient.rate.linear
    return moved + gradient.velocity.linear, rate, by_rate(e) + gradient.velocity.linear + step.rates.linear


def torques_carried(columns: Sequence[tuple[Joint, Motion]], force: Wrench, nv: int, inward: int = 0) -> Blocks:
    """By what each joint carries along; the first ones are followed inward, and carry their own columns too."""
    for k, (joint, e) in enumerate(columns):
        moved = columns[: k + 1] if k < inward else columns[:k]
        jacobian = of_columns(nv, 6, ((other, each.vector) for other, each in moved))
        yield joint, jacobian.T @ e.carry(force).vector


def torques_of_gradient(chain: Chain, q: Matrix, force: Wrench, nv: int) -> Blocks:
    """By the gradient of S(q): ∂Sᵀ/∂q f."""
    for k, (joint, _, _) in enumerate(chain.placed):
        units = ca.horzsplit(ca.DM.eye(joint.type.nv))
        rates = (chain.seen(k, Motion(*joint.type.subspace_rate(joint.configuration(q), unit))) for unit in units)
        block = ca.horzcat(*(force.work(rate.linear, rate.angular) for rate in rates))
        yield joint, of_columns(nv, joint.type.nv, [(joint, block.T)]).T


def placed_outward(tree: Tree, path: list[int], q: Matrix, *, from_link: bool) -> list[tuple[Joint, Matrix, Matrix]]:
    """The joints of a path with R and p of their links, in the axes of the first of them or of what it stands on."""
    placed: list[tuple[Joint, Matrix, Matrix]] = []
    r, p = _HERE
    for k, i in enumerate(path):
        if k or not from_link:
            r_i, p_i = tree.joints[i].placement(q)
            r, p = r @ r_i, p + r @ p_i
        placed.append((tree.joints[i], r, p))
    return placed


def frame_in_axes(placed: Sequence[tuple[Joint, Matrix, Matrix]], frame: Frame) -> tuple[Matrix, Matrix]:
    """R and p of a frame on the last link of a chain."""
    fixed_r, fixed_p = fixed_placement(frame)
    _, r, p = placed[-1] if placed else (None, *_HERE)
    return r @ fixed_r, p + r @ fixed_p

"""Derivatives of the motion that a constraint holds at zero, and of the torques of its forces.

They are those of entries in the axes of frame 1, which a joint that moves along its column e = (l; ω) carries along: it
moves what is on its other side by −e × …: the twist V and its rate A there, and ẋ, ẍ of the point x. With V₋ and V₊ of
the links before and behind the joint, and V that of the two in which its column is not fixed,

    frame (6D)   ∂E/∂q = V × e
                 ∂Ė/∂q = A × e + (V × e) × (E − V)
                 ∂Ė/∂v = V₋ × e + e × (E − V₊)
    point (3D)   ∂ẋ/∂q = ω₋ × l − ω × ẋ₋
                 ∂ẍ/∂q = U₋ l − ω × ẍ₋ + 2 (ω₋ × ω) × (ẋ − ẋ₋)                U = [ω̇ ×] + [ω ×]²
                 ∂ẍ/∂v = (ω₋ + ω₊) × l + ω × (2 ẋ − ẋ₋ − ẋ₊)

besides what S(q) bends. Of the torques Jᵀ f only those of the joints before it change, by what carries f along:

    ∂(e_iᵀ f)/∂q_j = e_i · (e_j ×* f)        i before j

(Ours. Those of single frames stand in Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms,
2018.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain as chained

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.constraints.relative_motion import (
    STILL,
    Chain,
    Instant,
    RelativeMotion,
    Step,
    of_columns,
    placement_error,
    second_frame,
)
from gdalembert.dynamics.frame_motion import subspace_bends
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix, cross_columns, spin, transform
from gdalembert.spatial.functions import derivative_along, symbols
from gdalembert.spatial.lie.exponential_maps import motion_log_jacobian
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class MotionDerivatives:
    """Of E and Ė (3 or 6 × nv each) in common axes, by q in the tangent space; ∂E/∂v and ∂Ė/∂a are J.

    Attributes:
        velocity_dq: ∂E/∂q. ``acceleration_dq``, ``acceleration_dv``: ∂Ė/∂q, ∂Ė/∂v.
    """

    velocity_dq: Matrix
    acceleration_dq: Matrix
    acceleration_dv: Matrix


def motion_derivatives(motion: RelativeMotion, q: Matrix, v: Matrix, a: Matrix) -> MotionDerivatives:
    """Of the motion of the first frame of a pair against the second."""
    pair, nv = motion.pair, v.shape[0]
    columns = _of_points(motion, q, v, a) if pair.is_point else _of_frames(motion, q, v, a)
    joints, *blocks = zip(*columns, strict=True)
    found = MotionDerivatives(*(of_columns(nv, pair.rows, zip(joints, each, strict=True)) for each in blocks))
    return _world_aligned(motion, found, q, v) if pair.is_world_aligned and not pair.is_point else found


_Columns = tuple[Joint, Matrix, Matrix, Matrix]
"""A joint, and its columns of ∂E/∂q, ∂Ė/∂q and ∂Ė/∂v."""


def _of_frames(motion: RelativeMotion, q: Matrix, v: Matrix, a: Matrix) -> Iterator[_Columns]:
    first, second = motion.chains
    inward = _steps(second, q, v, a, inward=True)
    outward = _steps(first, q, v, a, _end(inward))
    total = _end([*inward, *outward]).twist
    for k, (step, bent) in enumerate([*inward, *outward]):
        near = step.behind if k < len(inward) else step.before
        inner, outer = step.before.twist, step.behind.twist - total

        def by_rate(x: Motion, inner: Motion = inner, outer: Motion = outer) -> Motion:
            return inner.cross(x) + outer.cross(x)

        moved = near.twist.cross(step.columns)
        rate = near.rate.cross(step.columns) + (near.twist - total).cross(moved) + by_rate(bent.velocity) + bent.rate
        by_v = by_rate(step.columns) + bent.velocity + step.rates
        yield step.joint, (moved + bent.velocity).vector, rate.vector, by_v.vector


def _world_aligned(motion: RelativeMotion, found: MotionDerivatives, q: Matrix, v: Matrix) -> MotionDerivatives:
    """Without the rate W₁ × W₂ of the relative twist."""
    nv, jacobian = v.shape[0], motion.jacobian(v.shape[0])
    steps = _steps(motion.chains[0], q, v, ca.DM(nv, 1))
    first = _end(steps).twist
    second = first - Motion(*ca.vertsplit(jacobian @ v, 3))
    moved = ((step.joint, step.before.twist.cross(step.columns) + bent.velocity) for step, bent in steps)
    first_dq = of_columns(nv, 6, ((joint, columns.vector) for joint, columns in moved))
    first_dv = of_columns(nv, 6, ((step.joint, step.columns.vector) for step, _ in steps))

    def turning(own: Matrix, relative: Matrix) -> Matrix:
        one, other = (Motion(*ca.vertsplit(x, 3)) for x in (own, own - relative))
        return (second.cross(one) - first.cross(other)).vector

    return replace(
        found,
        acceleration_dq=found.acceleration_dq + turning(first_dq, found.velocity_dq),
        acceleration_dv=found.acceleration_dv + turning(first_dv, jacobian),
    )


def _of_points(motion: RelativeMotion, q: Matrix, v: Matrix, a: Matrix) -> Iterator[_Columns]:
    first, second = (_steps(chain, q, v, a) for chain in motion.chains)
    other = _end(second)
    for sign, steps in ((1, first), (-1, second)):
        for k, (step, bent) in enumerate(steps):
            by_q, rate_by_q, rate_by_v = _of_point(step, bent, _end(steps).twist.linear)
            if k >= motion.shared:  # it turns the axes of one frame against those of the other
                by_q += cross_columns(step.columns.angular, other.twist.linear)
                rate_by_q += cross_columns(step.columns.angular, other.acceleration)
            yield step.joint, sign * by_q, sign * rate_by_q, sign * rate_by_v


def _of_point(step: Step, bent: _Bent, velocity: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """∂ẋ/∂q, ∂ẍ/∂q and ∂ẍ/∂v of one point with the velocity ẋ, in axes that move with it."""
    e, before, behind = step.columns, step.before, step.behind.twist
    omega = before.twist.angular

    def by_rate(x: Motion) -> Matrix:
        turning = spatial.skew(omega + behind.angular)
        return turning @ x.linear + cross_columns(x.angular, 2 * velocity - before.twist.linear - behind.linear)

    moved = spatial.skew(omega) @ e.linear - cross_columns(e.angular, before.twist.linear)
    carried = spin(before.angular, omega) @ e.linear - cross_columns(e.angular, before.acceleration)
    coriolis = cross_columns(spatial.skew(omega) @ e.angular, 2 * (velocity - before.twist.linear))
    rate = carried + coriolis + by_rate(bent.velocity) + bent.rate.linear
    return moved + bent.velocity.linear, rate, by_rate(e) + bent.velocity.linear + step.rates.linear


@dataclass(frozen=True)
class _Bent:
    """What S(q) adds to the derivatives of one joint, zero for most: ∂(S v)/∂q and ∂(S a + Ṡ v)/∂q.

    Since ∂S/∂q_k v_k add up to Ṡ, ∂(Ṡ v)/∂v is ∂(S v)/∂q + Ṡ.
    """

    velocity: Motion
    rate: Motion


def _steps(
    chain: Chain, q: Matrix, v: Matrix, a: Matrix, start: Instant = STILL, *, inward: bool = False
) -> list[tuple[Step, _Bent]]:
    """The joints of a chain in motion, and what S(q) adds."""
    bent = []
    for k, (joint, _, _) in enumerate(chain.placed):
        velocity = chain.seen(k, subspace_bends(joint, q, v))
        rate = chain.seen(k, subspace_bends(joint, q, a)) + chain.seen(k, _rate_bends(joint, q, v))
        bent.append(_Bent(-velocity, -rate) if inward else _Bent(velocity, rate))
    steps = chain.steps(q, v, a, start, inward=inward)
    return list(zip(steps, reversed(bent) if inward else bent, strict=True))


def _end(steps: Sequence[tuple[Step, _Bent]]) -> Instant:
    """The motion of the link that they lead to."""
    return steps[-1][0].behind if steps else STILL


def _rate_bends(joint: Joint, q: Matrix, v: Matrix) -> Motion:
    """∂(Ṡ v)/∂q of a joint, in link axes."""
    own = joint.type
    if own.has_constant_subspace:
        return Motion(ca.DM(3, own.nv), ca.DM(3, own.nv))
    x, y = symbols(q=own.nq, v=own.nv).values()
    directions = ca.jacobian(own.configuration_rate(x, y), y)
    rate = derivative_along(ca.vertcat(*own.subspace_rate(x, y)) @ y, x, directions)
    columns = ca.Function("rate_bends", [x, y], [rate])(joint.configuration(q), joint.velocity(v))
    return Motion(columns[:3, :], columns[3:, :])


def residual_derivative(motion: RelativeMotion, tree: Tree, q: Matrix) -> Matrix:
    """∂c/∂q (3 or 6 × nv) in the axes of the first frame; J where c is 0."""
    jacobian = motion.to_first_frame(motion.jacobian(tree.nv))
    if not motion.pair.is_point:
        r, x = second_frame(tree, motion.pair, q)
        return motion_log_jacobian(transform(r.T, -r.T @ x)) @ jacobian
    columns = ((joint, each.angular) for joint, each in motion.chains[0].columns)
    turning = motion.to_first_frame(of_columns(tree.nv, 3, columns))
    return jacobian - cross_columns(turning, placement_error(tree, motion.pair, q))


def torque_derivatives(motion: RelativeMotion, q: Matrix, nv: int, f: Matrix) -> Matrix:
    """∂(Jᵀ f)/∂q (nv × nv) of f in the common axes, which is constant in those of the first frame."""
    first, second = motion.chains
    force = Wrench(f[:3], f[3:] if f.shape[0] > 3 else _NULL)
    blocks = [_bent_torques(first, q, force, nv), _bent_torques(second, q, -force, nv)]
    if motion.pair.is_point:
        blocks += [_carried(first.columns, force, nv), _carried(second.columns, -force, nv), _turned(motion, force, nv)]
    else:
        inward = [(joint, -columns) for joint, columns in reversed(second.columns)]
        blocks.append(_carried([*inward, *first.columns], force, nv, inward=len(inward)))
    return of_columns(nv, nv, chained(*blocks))


_Blocks = Iterator[tuple[Joint, Matrix]]
"""A joint, and its columns of ∂(Jᵀ f)/∂q."""


def _carried(columns: Sequence[tuple[Joint, Motion]], force: Wrench, nv: int, inward: int = 0) -> _Blocks:
    """By what each joint carries along; the first ones are followed inward, and carry their own columns too."""
    for k, (joint, e) in enumerate(columns):
        moved = columns[: k + 1] if k < inward else columns[:k]
        jacobian = of_columns(nv, 6, ((other, each.vector) for other, each in moved))
        yield joint, jacobian.T @ e.carry(force).vector


def _turned(motion: RelativeMotion, force: Wrench, nv: int) -> _Blocks:
    """By joints that turn the force on the second point against what moves it."""
    first, second = motion.chains
    jacobian = of_columns(nv, 3, ((joint, columns.linear) for joint, columns in second.columns))
    for sign, chain in ((-1, first), (1, second)) if second.columns else ():
        for joint, e in chain.columns[motion.shared :]:
            yield joint, sign * jacobian.T @ e.carry(force).force


def _bent_torques(chain: Chain, q: Matrix, force: Wrench, nv: int) -> _Blocks:
    """By what S(q) bends: ∂Sᵀ/∂q f."""
    for k, (joint, _, _) in enumerate(chain.placed):
        units = ca.horzsplit(ca.DM.eye(joint.type.nv))
        rates = (chain.seen(k, Motion(*joint.type.subspace_rate(joint.configuration(q), unit))) for unit in units)
        block = ca.horzcat(*(force.work(rate.linear, rate.angular) for rate in rates))
        yield joint, of_columns(nv, joint.type.nv, [(joint, block.T)]).T

"""Articulated bodies that constraints hold: accelerations and forces of the constraints in one sweep.

A unit force of each row of the constraints is a wrench K on its links. It is passed on inward as the biases of the
articulated bodies are, and each joint is asked for u = Sᵀ K. With its D and its demand d = tau − Sᵀ bias,

    J M⁻¹ Jᵀ = Σ uᵀ D⁻¹ u          J M⁻¹ (tau − nle) = Σ uᵀ D⁻¹ d          K ← K − U D⁻¹ u,

so that the forces f are known at the base, and the outward pass finds the accelerations with d + u f in place of d
(Popov and Vereshchagin; Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024).

Rows are in the axes of the link that the first frame is on: there a contact's K is constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet
from gdalembert.dynamics.constraints.relative_motion import FramePair, Instant
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.newton_euler.aba import Articulated
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.dynamics.newton_euler.links import Link, LinkMotion, Motions, demanded_wrench, move, place
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.factorization import Factorization
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)
_ONE = ca.DM.eye(3)
_AT_REST = Motion(_NULL, _NULL)


@dataclass(frozen=True)
class _Rows:
    """A constraint, with rows in the axes of the link of its first frame, and lengths in units of the tree.

    Attributes:
        wrenches: K, by the index of the link that it acts on, in link axes about the link origin.
        bias: Ė at a = 0.
        rotation: R, from the axes of the first frame to those of the rows.
        scale: of the rows, whose forces are those of the first frame divided by it.
    """

    wrenches: dict[int, Wrench]
    bias: Matrix
    rotation: Matrix
    scale: Matrix

    def from_first_frame(self, x: Matrix) -> Matrix:
        """A velocity or an acceleration in the axes of the first frame."""
        return self.scale * ca.vertcat(*(self.rotation @ part for part in ca.vertsplit(x, 3)))

    def to_first_frame(self, f: Matrix) -> Matrix:
        """A force or a wrench in the axes of the first frame."""
        return ca.vertcat(*(self.rotation.T @ part for part in ca.vertsplit(self.scale * f, 3)))


@dataclass(frozen=True)
class _Joint:
    """What the outward pass has to know of an articulated body.

    Attributes:
        wrench: U, of unit rates of its joint.
        pivot: D.
        demand: d.
        reactions: u, by constraint.
    """

    wrench: Wrench
    pivot: Factorization
    demand: Matrix
    reactions: dict[int, Matrix]


def constrained_forward_dynamics(
    tree: Tree,
    constraints: ConstraintSet,
    q: Matrix,
    v: Matrix,
    tau: Matrix,
    correction: Matrix,
    loads: Loads = UNLOADED,
) -> tuple[Matrix, Matrix]:
    """a (nv), and the forces in the axes of the first frames.

    Args:
        tree: the robot, in any link frames.
        constraints: what holds it.
        q, v, tau: the state, and the efforts that drive it.
        correction: what stabilises the constraints, in the axes of the first frames.
        loads: external wrenches.
    """
    links = place(tree, q)
    motions = move(links, q, v, ca.DM(tree.nv, 1), Gravity(tree).base_acceleration)
    acting, tau = loads.on(tree, links), tau + tree.vector(loads.world_torques(tree, links))
    biases = [demanded_wrench(link, motions[i]) - acting[i] for i, link in enumerate(links)]
    return _swept(tree, constraints, links, motions, biases, tau, correction)


def constrained_impact(tree: Tree, constraints: ConstraintSet, q: Matrix, change: Matrix) -> tuple[Matrix, Matrix]:
    """The change of v (nv), and the impulses in the axes of the first frames, as accelerations and forces at rest.

    Args:
        tree, constraints, q: as above.
        change: of the velocities of the constraints, in the same axes.
    """
    links, still = place(tree, q), ca.DM(tree.nv, 1)
    biases = [Wrench(_NULL, _NULL) for _ in links]
    return _swept(tree, constraints, links, move(links, q, still, still, _NULL), biases, still, -change)


def _swept(
    tree: Tree,
    constraints: ConstraintSet,
    links: list[Link],
    motions: Motions,
    biases: list[Wrench],
    tau: Matrix,
    correction: Matrix,
) -> tuple[Matrix, Matrix]:
    held = [_rows(tree, links, motions, pair) for pair in constraints.pairs]
    joints, compliance, free = _inward(tree, links, biases, tau, held)
    corrections = zip(held, constraints.split(correction), strict=True)
    target = -ca.vertcat(*(rows.bias + rows.from_first_frame(x) for rows, x in corrections)) - free
    scale = ca.vertcat(*(rows.scale for rows in held))
    forces = constraints.split(constraints.solve(compliance, target, scale))
    a = _outward(tree, links, joints, forces)
    return a, ca.vertcat(*(rows.to_first_frame(f) for rows, f in zip(held, forces, strict=True)))


def _rows(tree: Tree, links: list[Link], motions: Motions, pair: FramePair) -> _Rows:
    """The constraint of two frames."""
    first, second = pair.frames(tree)
    r_1, x_1 = links[first.joint].frame(first) if first.joint >= 0 else fixed_placement(first)
    wrenches = {first.joint: _unit_wrenches(pair, _ONE, x_1)}
    moved = _motion_of(motions[first.joint], x_1)
    if second.joint < 0:  # all that the base does is accelerate
        still = Instant(_AT_REST, _seen_from_first(links, pair, tree, motions[-1].acceleration), _NULL)
    else:
        turn = _seen_from_first(links, pair, tree, _ONE)
        x_2 = links[second.joint].frame(second)[1] if pair.is_point else _point_on_second(links, pair, tree, x_1)
        wrenches[second.joint] = _unit_wrenches(pair, -turn.T, x_2)
        still = _motion_of(motions[second.joint], x_2).turned(turn)
    scale = ca.DM([1 / tree.unit] * 3 + [1.0] * (pair.rows - 3))
    bias = pair.acceleration(moved, still)
    return _Rows({i: w for i, w in wrenches.items() if i >= 0}, bias, r_1, scale)


def _unit_wrenches(pair: FramePair, axes: Matrix, x: Matrix) -> Wrench:
    """The wrenches of unit forces, and of unit moments of a 6D pair, along axes (3 × 3) at the point x of a link."""
    if pair.is_point:
        return Wrench(axes, spatial.skew(x) @ axes)
    return Wrench(ca.horzcat(axes, ca.DM(3, 3)), ca.horzcat(spatial.skew(x) @ axes, axes))


def _motion_of(link: LinkMotion, x: Matrix) -> Instant:
    """The motion of the point x of a link."""
    twist = Motion(link.velocity, link.omega).about(x)
    return Instant(twist, link.acceleration + link.spin @ x, link.alpha)


def _seen_from_first(links: list[Link], pair: FramePair, tree: Tree, x: Matrix) -> Matrix:
    """Columns in the axes of the link of the second frame, in those of the link of the first."""
    first, second = pair.paths(tree)
    for i in reversed(second):
        x = links[i].rotation @ x
    for i in first:
        x = links[i].rotation.T @ x
    return x


def _point_on_second(links: list[Link], pair: FramePair, tree: Tree, x: Matrix) -> Matrix:
    """A point of the link of the first frame, seen from the link of the second."""
    first, second = pair.paths(tree)
    for i in reversed(first):
        x = links[i].origin + links[i].rotation @ x
    for i in second:
        x = links[i].rotation.T @ (x - links[i].origin)
    return x


def _inward(
    tree: Tree, links: list[Link], biases: list[Wrench], tau: Matrix, held: Sequence[_Rows]
) -> tuple[list[_Joint], Matrix, Matrix]:
    """The articulated bodies, J M⁻¹ Jᵀ, and J M⁻¹ (tau − nle)."""
    bodies = [Articulated.of(link.mass, link.first, link.second) for link in links]
    biases = list(biases)
    asked: list[dict[int, Wrench]] = [
        {k: rows.wrenches[i] for k, rows in enumerate(held) if i in rows.wrenches} for i in range(len(links))
    ]
    armature = spatial.constant(tree.armature)
    joints: list[_Joint] = []
    for i, link in reversed(list(enumerate(links))):
        wrench = bodies[i].wrench(link.columns.linear, link.columns.angular)
        pivot = Factorization(link.work(wrench) + ca.diag(link.joint.velocity(armature)) / link.rate**2)
        demand = link.joint.velocity(tau) / link.rate - link.work(biases[i])
        here = _Joint(wrench, pivot, demand, {k: link.work(x) for k, x in asked[i].items()})
        joints.insert(0, here)
        if link.joint.parent < 0:
            continue
        solved = pivot.solve(ca.horzcat(wrench.force.T, wrench.moment.T))
        gain = Wrench(solved[:, :3].T, solved[:, 3:].T)
        bodies[link.joint.parent] += bodies[i].without(wrench, gain).to_parent(link)
        biases[link.joint.parent] += _passed_on(biases[i], wrench, pivot.solve(demand), link)
        above = asked[link.joint.parent]
        for k, x in asked[i].items():
            passed = _passed_on(x, wrench, -pivot.solve(here.reactions[k]), link)
            above[k] = above[k] + passed if k in above else passed
    return joints, *_condensed(joints, [rows.scale.shape[0] for rows in held])


def _passed_on(wrench: Wrench, felt: Wrench, yielded: Matrix, link: Link) -> Wrench:
    """Wrenches as the parent feels them, the joint yielding to them at rates that need U each."""
    return Wrench(wrench.force + felt.force @ yielded, wrench.moment + felt.moment @ yielded).to_parent(*link.placement)


def _condensed(joints: Sequence[_Joint], rows: Sequence[int]) -> tuple[Matrix, Matrix]:
    """Σ uᵀ D⁻¹ u, and Σ uᵀ D⁻¹ d."""
    count = range(len(rows))
    blocks = {(k, m): ca.DM(rows[k], rows[m]) for k in count for m in count if k <= m}
    free: list[Matrix] = [ca.DM(n, 1) for n in rows]
    for joint in joints:
        half = {k: joint.pivot.half_solve(u) for k, u in joint.reactions.items()}
        divided = {k: joint.pivot.divide(x) for k, x in half.items()}
        demand = joint.pivot.half_solve(joint.demand)
        for k, x in divided.items():
            free[k] = free[k] + x.T @ demand
            for m in (m for m in half if m >= k):
                blocks[k, m] = blocks[k, m] + x.T @ half[m]
    upper = spatial.rows(*([blocks[k, m] if k <= m else ca.DM(rows[k], rows[m]) for m in count] for k in count))
    return spatial.symmetric(upper), ca.vertcat(*free)


def _outward(tree: Tree, links: list[Link], joints: list[_Joint], forces: list[Matrix]) -> Matrix:
    """a, by how much the acceleration of each link differs from that at a = 0."""
    accelerations: list[Matrix] = []
    changes: list[Motion] = []
    for link, joint in zip(links, joints, strict=True):
        above = changes[link.joint.parent] if link.joint.parent >= 0 else _AT_REST
        carried = above.about(link.origin).turned(link.rotation.T)
        demand = joint.demand + sum((u @ forces[k] for k, u in joint.reactions.items()), ca.DM(link.joint.type.nv, 1))
        a_i = joint.pivot.solve(
            demand - joint.wrench.force.T @ carried.linear - joint.wrench.moment.T @ carried.angular
        )
        accelerations.append(a_i / link.rate)
        changes.append(carried + link.columns.times(a_i))
    return tree.vector(accelerations)

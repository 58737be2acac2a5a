"""Articulated bodies that constraints hold: accelerations and forces of the constraints in one sweep.

A unit force of each row of the constraints is a wrench K on its links. −K is passed on inward beside the biases of the
articulated bodies, and each joint, and the modes of each link, are asked for u = Sᵀ K. With D and d = tau − Sᵀ bias,

    J M⁻¹ Jᵀ = Σ uᵀ D⁻¹ u          J M⁻¹ (tau − nle) = Σ uᵀ D⁻¹ d          K ← K − U D⁻¹ u,

so that the forces f are known at the base, and the outward pass finds the accelerations under the biases and f
(Popov and Vereshchagin; Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024).

Rows are in the axes of the link that the first frame is on: there a contact's K is constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.constraints.chains import Instant
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet
from gdalembert.dynamics.constraints.constraint_types import RowSelection
from gdalembert.dynamics.constraints.relative_motion import FramePair
from gdalembert.dynamics.constraints.selected_rows import Selection, motion_type
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.newton_euler.aba import ArticulatedBodies, ArticulatedRobot
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.dynamics.newton_euler.links import Link, LinkMotion, Motions
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
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
        rotation: R, from the axes of the first frame to those of the rows; ``None`` for rows that are in no axes.
        scale: of the rows, whose forces are those of the first frame divided by it.
    """

    wrenches: dict[int, Wrench]
    bias: Matrix
    rotation: Matrix | None
    scale: Matrix

    def from_first_frame(self, x: Matrix) -> Matrix:
        """A velocity or an acceleration in the axes of the first frame."""
        return self.scale * self._turned(x, self.rotation)

    def to_first_frame(self, f: Matrix) -> Matrix:
        """A force or a wrench in the axes of the first frame."""
        return self._turned(self.scale * f, None if self.rotation is None else self.rotation.T)

    def _turned(self, x: Matrix, r: Matrix | None) -> Matrix:
        return x if r is None else ca.vertcat(*(r @ part for part in ca.vertsplit(x, 3)))


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
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(q, v, ca.DM(tree.nv, 1), Gravity(tree).base_acceleration)
    bodies = ArticulatedBodies.of(robot, motions, v, loads.on(tree, robot.links))
    tau = tau + tree.vector(loads.world_torques(tree, robot.links))
    return _swept(bodies, constraints, motions, tau, correction)


def constrained_impact(tree: Tree, constraints: ConstraintSet, q: Matrix, change: Matrix) -> tuple[Matrix, Matrix]:
    """The change of v (nv), and the impulses in the axes of the first frames, as accelerations and forces at rest.

    Args:
        tree, constraints, q: as above.
        change: of the velocities of the constraints, in the same axes.
    """
    robot, still = RobotAtQ.of(tree, q), ca.DM(tree.nv, 1)
    motions, nothing = robot.motions(q, still, still, _NULL), [Wrench(_NULL, _NULL) for _ in robot.links]
    return _swept(ArticulatedBodies.of(robot, motions, still, nothing), constraints, motions, still, -change)


def _swept(
    bodies: ArticulatedBodies, constraints: ConstraintSet, motions: Motions, tau: Matrix, correction: Matrix
) -> tuple[Matrix, Matrix]:
    tree, links = bodies.robot.tree, bodies.robot.links
    held = [_rows(tree, links, motions, pair) for pair in constraints.pairs]
    needed = ({i: -wrench for i, wrench in rows.wrenches.items()} for rows in held)
    free = bodies.beside(*needed).eliminated(tau)
    compliance, motion = _condensed(free)
    corrections = zip(held, constraints.split(correction), strict=True)
    target = -ca.vertcat(*(rows.bias + rows.from_first_frame(x) for rows, x in corrections)) - motion
    scale = ca.vertcat(*(rows.scale for rows in held))
    forces = constraints.solve(compliance, target, scale)
    parts = zip(held, constraints.split(forces), strict=True)
    return free.accelerations(ca.vertcat(1, forces)), ca.vertcat(*(rows.to_first_frame(f) for rows, f in parts))


def _condensed(free: ArticulatedRobot) -> tuple[Matrix, Matrix]:
    """Σ uᵀ D⁻¹ u, and Σ uᵀ D⁻¹ d."""
    total: Matrix = 0
    for released in (*free.joints.values(), *free.modes.values()):
        half = released.inertia.half_solve(released.demand)
        total = total + released.inertia.divide(half).T @ half
    return spatial.symmetric(total[1:, 1:]), total[1:, 0]


def _rows(tree: Tree, links: list[Link], motions: Motions, pair: FramePair) -> _Rows:
    """The constraint of two frames."""
    first, second = pair.frames(tree)
    kind = motion_type(pair)
    r_1, x_1 = links[first.joint].frame(first) if first.joint >= 0 else fixed_placement(first)
    wrenches = {first.joint: kind.unit_wrenches(_ONE, x_1)}
    moved = _motion_of(motions[first.joint], x_1)
    if second.joint < 0:  # all that the base does is accelerate
        still = Instant(_AT_REST, _seen_from_first(links, pair, tree, motions[-1].acceleration), _NULL)
    else:
        turn = _seen_from_first(links, pair, tree, _ONE)
        x_2 = links[second.joint].frame(second)[1] if kind.has_two_points else _point_on_second(links, pair, tree, x_1)
        wrenches[second.joint] = kind.unit_wrenches(-turn.T, x_2)
        still = _motion_of(motions[second.joint], x_2).turned(turn)
    moving = {i: wrench for i, wrench in wrenches.items() if i >= 0}
    if isinstance(pair.holds, RowSelection):
        selection = _selection(tree, links, pair, pair.holds, r_1, x_1)
        moving = {i: wrench.times(selection.rows.T) for i, wrench in moving.items()}
        return _Rows(moving, selection.acceleration(moved, still), None, ca.DM.ones(pair.rows))
    scale = ca.DM([1 / tree.unit] * 3 + [1.0] * (pair.rows - 3))
    return _Rows(moving, kind.acceleration(moved, still), r_1, scale)


def _selection(
    tree: Tree, links: list[Link], pair: FramePair, selected: RowSelection, r_1: Matrix, x_1: Matrix
) -> Selection:
    """The rows of a pair, of twists in the axes of the link of the first frame and in lengths of the tree."""
    _, second = pair.frames(tree)
    r_2, x_2 = links[second.joint].frame(second) if second.joint >= 0 else fixed_placement(second)
    axes = _seen_from_first(links, pair, tree, r_2)
    x = tree.unit * r_2.T @ (_point_on_second(links, pair, tree, x_1) - x_2)
    return Selection(selected, axes, axes.T @ r_1, x, tree.unit)


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

"""A flexible arm goes past a post and stops beside another, which it hits with the plan for the rigid arm.

python examples/flexible_past_post.py

Both plans have the same duration, the least effort, and gaps of at least 10 mm. The plan for the rigid arm has capsules
on its links, the other one capsules along the deformed links. Both are applied, with a servo of the joints, to the same
arm with more modes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import coal
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

GOAL, DURATION, AFTER = (0.5, -0.35), 1.25, 1.0  # rad from zero, s, s
LENGTHS, RADIUS, MARGIN = {"link1": 1.0, "link2": 0.8}, 0.03, 0.01  # m
POSTS = {
    "first post": gd.Capsule([1.67, 0.34, -0.5], [1.67, 0.34, 0.5], 0.03),
    "second post": gd.Capsule([1.6, 0.68, -0.5], [1.6, 0.68, 0.5], 0.03),
}
SERVO = np.array([60.0, 20.0]), np.array([12.0, 4.0])  # N m/rad, N m s/rad


def flexible(model: pin.Model, **modes: gd.modes.ModeSet) -> gd.FlexibleArm:
    """Both links as beams of EI = 10 N m² with 1 % of critical damping; by default a link has four modes."""
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    links = {name: gd.FlexibleLink(beam, modal_damping=0.01, radius=RADIUS) for name, beam in beams.items()}
    return gd.FlexibleArm(model, links | {name: links[name].with_modes(bending_y=own) for name, own in modes.items()})


def capsules(model: pin.Model) -> pin.GeometryModel:
    """The undeformed links."""
    geometry, along = pin.GeometryModel(), pin.SE3(pin.rpy.rpyToMatrix(0, np.pi / 2, 0), np.zeros(3))
    for k, (name, length) in enumerate(LENGTHS.items()):
        place = pin.SE3(along.rotation, np.array([length / 2, 0, 0]))
        geometry.addGeometryObject(pin.GeometryObject(name, k + 1, place, coal.Capsule(RADIUS, length)))
    return geometry


def plan_of(dyn: gd.Dynamics, model: pin.Model, shapes: gd.Distances, intervals: int) -> ocp.Solution:
    """Least effort from rest to rest, modes included, beside the posts."""
    goal = np.zeros(dyn.nq)
    goal[:2] = GOAL
    problem = ocp.Problem(dyn, DURATION, intervals, bounds=ocp.Bounds.of(dyn, model), degree=2, control="linear")
    problem.start(np.zeros(dyn.nq))
    problem.end(goal)
    problem.subject_to(problem.u[:, 0] == 0)
    problem.subject_to(problem.u[:, -1] == 0)
    problem.keep_clear(shapes, MARGIN)
    rates = ca.diff(problem.u, 1, 1) * (intervals / DURATION)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)) + 0.1 * ca.sumsqr(rates) * (DURATION / intervals))
    return problem.solve()


def follow(plan: ocp.Solution, arm: gd.FlexibleArm) -> gd.Simulation:
    """The arm under the torques of a plan and the servo, during the plan and after it."""
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 2 * arm.nv)
    now = ca.fmin(t, plan.duration)
    u, q, v = (
        ca.interpolant(name, kind, [plan.t], rows[:, :2].ravel())(now)
        for name, kind, rows in (("u", "linear", plan.u), ("q", "bspline", plan.q), ("v", "bspline", plan.v))
    )
    u = u * (t <= plan.duration) + SERVO[0] * (q - x[:2]) + SERVO[1] * (v - x[arm.nv : arm.nv + 2])
    times = np.linspace(0, DURATION + AFTER, 901)
    return gd.simulate(arm, np.zeros(2 * arm.nv), times, ca.Function("law", [t, x], [u]), reltol=1e-6, abstol=1e-8)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="120 intervals in place of 160")
    given = parser.parse_args(arguments)

    model = gd.load_urdf("two_link_flexible")
    rigid, plant = gd.NewtonEuler(model), flexible(model)
    arm = flexible(model, link1=gd.modes.craig_bampton(1), link2=gd.modes.clamped_free(2))
    pairs = [(link, post) for link in LENGTHS for post in POSTS]
    shapes = gd.Distances(plant, obstacles=POSTS, pairs=pairs)
    for name, dyn, geometry in (("rigid", rigid, capsules(model)), ("flexible", arm, None)):
        plan = plan_of(dyn, model, gd.Distances(dyn, geometry, POSTS, pairs=pairs), 120 if given.coarse else 160)
        motion = follow(plan, plant)
        gaps = shapes.distance.map(len(motion.q))(motion.q.T).full()
        pair, k = np.unravel_index(gaps.argmin(), gaps.shape)
        print(f"{name} plan: {1e3 * plan.clearance.gap:.1f} mm from the {plan.clearance.pair[1]}; ", end="")
        print(f"the arm comes to {1e3 * gaps.min():.1f} mm from the {shapes.pairs[pair][1]} at {motion.t[k]:.2f} s")


if __name__ == "__main__":
    main()

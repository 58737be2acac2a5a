"""Two Pandas that face each other swap the sides of their hands, in the least time, and do not hit each other.

    python examples/two_arms.py

Both arms are one model (pin.appendModel); each has three capsules. The fastest motion without distances drives one hand
through the other. With problem.keep_clear all gaps stay at 20 mm or more, also between the instants of the grid.
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

APART, MARGIN = 1.1, 0.02  # m, between the bases; m
CAPSULES = {  # name: joint, ends in its axes [m], radius [m]
    "upper arm": ("joint2", (0, 0, 0), (0, -0.316, 0), 0.09),
    "forearm": ("joint4", (-0.0825, 0.05, 0), (-0.0825, 0.384, 0), 0.08),
    "hand": ("joint7", (0, 0, 0), (0, 0, 0.2), 0.07),
}
START = np.array([-0.7, 0.3, 0.0, -1.8, 0.0, 2.1, 0.0] * 2)  # rad
END = START * np.array([-1, 1, 1, 1, 1, 1, 1] * 2)


def arm(side: str) -> tuple[pin.Model, pin.GeometryModel]:
    """The shipped robot with its capsules; all names begin with the side."""
    model, geometry = gd.load_urdf("panda7"), pin.GeometryModel()
    for name, (joint, a, b, radius) in CAPSULES.items():
        capsule = gd.Capsule(a, b, radius)
        geometry.addGeometryObject(solid(f"{side} {name}", model.getJointId(joint), capsule))
    for k in range(1, model.njoints):
        model.names[k] = f"{side} {model.names[k]}"
    for k in range(1, model.nframes):
        model.frames[k].name = f"{side} {model.frames[k].name}"
    return model, geometry


def solid(name: str, joint: int, capsule: gd.Capsule) -> pin.GeometryObject:
    """A capsule as Pinocchio has it: along z, about its middle."""
    way = capsule.b - capsule.a
    turned = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), way).matrix()
    placement = pin.SE3(turned, (capsule.a + capsule.b) / 2)
    return pin.GeometryObject(name, joint, placement, coal.Capsule(capsule.radius, float(np.linalg.norm(way))))


def build() -> tuple[pin.Model, pin.GeometryModel]:
    """Both arms as one model, and the capsules of both; the pairs are those of a left and a right capsule."""
    facing = pin.SE3(pin.rpy.rpyToMatrix(0, 0, np.pi), np.array([APART, 0, 0]))
    (left, left_solids), (right, right_solids) = arm("left"), arm("right")
    model, geometry = pin.appendModel(left, right, left_solids, right_solids, 0, facing)
    geometry.removeAllCollisionPairs()
    for i in range(3):
        for k in range(3, 6):
            geometry.addCollisionPair(pin.CollisionPair(i, k))
    return model, geometry


def fastest(dyn: gd.Dynamics, model: pin.Model, shapes: gd.Distances | None, intervals: int) -> ocp.Solution:
    """The plan in the least time within the limits of the URDF, with a little for the torques."""
    bounds = ocp.Bounds.of(dyn, model)
    problem = ocp.Problem(dyn, (0.3, 4.0), intervals, bounds=bounds)
    problem.start(START)
    problem.end(END)
    if shapes is not None:
        problem.keep_clear(shapes, MARGIN)
    problem.minimize(problem.duration + 0.01 * problem.integral(lambda u: ca.sumsqr(u / bounds.u_upper)))
    problem.guess(ocp.rest_to_rest(dyn, START, END, 2.0))
    return problem.solve()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="8 intervals in place of 16")
    given = parser.parse_args(arguments)

    model, geometry = build()
    dyn, shapes = gd.NewtonEuler(model), gd.Distances(model, geometry)
    for name, kept in (("without distances", None), ("with distances", shapes)):
        plan = fastest(dyn, model, kept, 8 if given.coarse else 16)
        t, q = plan.stages.t.ravel(), plan.stages.q
        gaps = shapes.distance.map(len(q))(q.T).full()
        pair, instant = np.unravel_index(gaps.argmin(), gaps.shape)
        print(f"{name}: {plan.duration:.3f} s, least gap {1e3 * gaps.min():.1f} mm, ", end="")
        print(f"{' and '.join(shapes.pairs[pair])} at {t[instant]:.2f} s")


if __name__ == "__main__":
    main()

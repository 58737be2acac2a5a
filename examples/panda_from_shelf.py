"""A Panda draws its hand out of a shelf in the least time, within its torque limits, and hits neither shelf nor itself.

    python examples/panda_from_shelf.py        needs example-robot-data

The meshes of the robot are covered by capsules, in pairs as its SRDF has them; boards are boxes, bottles are capsules
around cylinders. The shelf is one of MotionBenchMaker (Chamzas et al. 2022). The fastest motion without distances runs
through a board.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

SHARE = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
FOLDER = SHARE / "example-robot-data/robots/panda_description"
MARGIN, FINGER = 0.005, 0.035  # m; how far both fingers are open
START = np.array([1.4890, -0.1467, -2.8850, -2.1746, 2.7099, 2.3532, 1.0620])  # rad, between two boards
END = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
SHELF = np.array([0.0, 0.0, -0.523376223, 0.852101713])  # quaternion of all boards and bottles, x y z w
BOARDS = {  # centre, half sizes [m]
    "lower board": ((0.589609, -1.012333, 0.217987), (0.6, 0.5, 0.02)),
    "upper board": ((0.589609, -1.012333, 0.517987), (0.6, 0.5, 0.02)),
    "left wall": ((0.143639, -1.238410, 0.367987), (0.6, 0.02, 0.17)),
    "right wall": ((1.035579, -0.786256, 0.367987), (0.6, 0.02, 0.17)),
}
BOTTLES = {  # centre [m]
    "bottle 1": (0.247773, -1.073506, 0.297987),
    "bottle 2": (0.739395, -0.600056, 0.297987),
}
HEIGHT, RADIUS = 0.14, 0.03  # m, of a bottle


def build() -> tuple[pin.Model, pin.GeometryModel]:
    """The Panda of example-robot-data with fixed fingers, and its collision meshes with the pairs of its SRDF."""
    path = FOLDER / "urdf/panda.urdf"
    whole = gd.load_urdf(path, check="off")
    meshes = pin.buildGeomFromUrdf(whole, str(path), pin.GeometryType.COLLISION, package_dirs=[str(SHARE)])
    meshes.addAllCollisionPairs()
    pin.removeCollisionPairs(whole, meshes, str(FOLDER / "srdf/panda.srdf"))
    fingers = [k for k, name in enumerate(whole.names) if "finger" in name]
    model, [geometry] = pin.buildReducedModel(whole, [meshes], fingers, np.r_[END, FINGER])
    return model, geometry


def obstacles() -> dict[str, gd.Box | gd.Capsule]:
    """The shelf; the axis of a bottle's capsule is as long as the bottle."""
    rotation, up = pin.Quaternion(SHELF).matrix(), np.array([0, 0, HEIGHT / 2])
    solids: dict[str, gd.Box | gd.Capsule] = {
        name: gd.Box(pin.SE3(rotation, np.array(centre)), half_sizes) for name, (centre, half_sizes) in BOARDS.items()
    }
    return solids | {name: gd.Capsule(centre - up, centre + up, RADIUS) for name, centre in BOTTLES.items()}


# The third bottle of the scene is between the fingers at the start, and is not there.
def fastest(dyn: gd.Dynamics, model: pin.Model, shapes: gd.Distances | None, intervals: int) -> ocp.Solution:
    """The plan in the least time, with a little for the torques."""
    bounds = ocp.Bounds.of(dyn, model)
    problem = ocp.Problem(dyn, (0.3, 8.0), intervals, bounds=bounds)
    problem.start(START)
    problem.end(END)
    if shapes is not None:
        problem.keep_clear(shapes, MARGIN)
    effort = problem.integral(lambda u: ca.sumsqr(u / bounds.u_upper))
    problem.minimize(problem.duration + 0.01 * effort)
    problem.guess(ocp.rest_to_rest(dyn, START, END, 3.0))
    return problem.solve()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="16 intervals in place of 20")
    given = parser.parse_args(arguments)

    begin = time.process_time()
    model, geometry = build()
    dyn, shapes = gd.NewtonEuler(model), gd.Distances(model, geometry, obstacles())
    print(f"{len(shapes.pairs)} distances, {time.process_time() - begin:.0f} s")
    for name, kept in (("without distances", None), ("with distances", shapes)):
        begin = time.process_time()
        plan = fastest(dyn, model, kept, 16 if given.coarse else 20)
        seconds = time.process_time() - begin
        gaps = shapes.distance.map(len(plan.q))(plan.q.T).full()
        pair, _ = np.unravel_index(gaps.argmin(), gaps.shape)
        used = (np.abs(plan.stages.u) / plan.bounds.u_upper).max()
        print(f"{name}: {plan.duration:.3f} s, torques up to {used:.0%} of their limits, {seconds:.0f} s to plan")
        print(f"  least gap {1e3 * gaps.min():.1f} mm: {' and '.join(shapes.pairs[pair])}")


if __name__ == "__main__":
    main()

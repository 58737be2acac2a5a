"""Inverse kinematics of a UR5 with the logarithm of placements (log6): twenty random targets.

python examples/ur5_inverse_kinematics.py    needs example-robot-data

IPOPT looks for the configuration nearest to a given one in which the twist from the flange to its target is zero. From
some configurations it finds none: then it starts again from a random one. The joints of a UR5 turn by ±360°, so that
any angle is within their limits.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd

ROBOT, FRAME = "ur_description/urdf/ur5_robot.urdf", "tool0"
HOME = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])  # rad
OPTIONS = {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "max_iter": 50}}
REACHED = 1e-8  # m, rad
STARTS = 10


class Answer(NamedTuple):
    """A configuration, what is left of the twist to the target [m, rad], starts, iterations of the last one."""

    q: np.ndarray
    error: float
    starts: int
    iterations: int


def build() -> pin.Model:
    """The UR5 of example-robot-data."""
    folder = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return gd.load_urdf(Path(str(folder)) / ROBOT, check="off")


def nearest(model: pin.Model, frame: str) -> ca.Function:
    """(target 4 × 4, q_near, q_start) → (q): the problem, built once."""
    error = gd.Kinematics(model).frame_error(frame)
    opti = ca.Opti()
    q, near, target = opti.variable(model.nq), opti.parameter(model.nq), opti.parameter(4, 4)
    opti.minimize(ca.sumsqr(q - near))
    opti.subject_to(error(q, target) == 0)
    opti.solver("ipopt", OPTIONS)
    return opti.to_function("nearest", [target, near, q], [q])


def reach(model: pin.Model, frame: str, targets: Sequence[np.ndarray], home: np.ndarray, seed: int = 0) -> list[Answer]:
    """An answer for each target, near ``home``."""
    solve, error, rng = nearest(model, frame), gd.Kinematics(model).frame_error(frame), np.random.default_rng(seed)
    answers = []
    for target in targets:
        q, starts = solve(target, home, home), 1
        while not (left := float(ca.norm_2(error(q, target)))) < REACHED and starts < STARTS:
            q, starts = solve(target, home, rng.uniform(-np.pi, np.pi, model.nq)), starts + 1
        within = np.remainder(q.full().ravel() + np.pi, 2 * np.pi) - np.pi
        answers.append(Answer(within, left, starts, solve.stats()["iter_count"]))
    return answers


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=20, help="how many (20)")
    given = parser.parse_args(arguments)

    model, rng = build(), np.random.default_rng(0)
    place = gd.Kinematics(model).frame_placement(FRAME)
    targets = [place(rng.uniform(-np.pi, np.pi, model.nq)).full() for _ in range(given.targets)]
    answers = reach(model, FRAME, targets, HOME)
    print(f"graph of the error: {gd.Kinematics(model).frame_error(FRAME).n_instructions()} instructions")
    print(f"{sum(a.error < REACHED for a in answers)} of {len(answers)} targets reached,", end=" ")
    print(f"{sum(a.starts == 1 for a in answers)} from home, all with at most {max(a.starts for a in answers)} starts")
    print(f"off by at most {max(a.error for a in answers):.1e} (m, rad)", end=" ")
    print(f"after a median of {np.median([a.iterations for a in answers]):g} iterations")


if __name__ == "__main__":
    main()

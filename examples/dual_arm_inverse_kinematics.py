"""Two arms of a humanoid follow the hands of an operator: inverse kinematics with log3, twenty random pairs of targets.

python examples/dual_arm_inverse_kinematics.py    needs example-robot-data

The cost is soft, so that targets out of reach have an answer too: squared errors of position and of rotation (as a
rotation vector), and a little for the way from the last answer. Called again from its own answer, the solver comes
closer: the last term then vanishes.
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

ROBOT = "g1_description/urdf/g1_29dof_rev_1_0.urdf"
HANDS = "left_hand", "right_hand"
PALM = pin.SE3(np.eye(3), np.array([0.05, 0, 0]))  # in the axes of the last joint of an arm [m]
POSITION, ROTATION, WAY = 50.0, 1.0, 1e-3  # weights, of m², rad², rad²
SHARE = 0.7  # of the ranges of the joints, from which targets are drawn
OPTIONS = {"expand": True, "detect_simple_bounds": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}


class Answer(NamedTuple):
    """A configuration, the larger error of the two hands [m] and [rad], the iterations of IPOPT."""

    q: np.ndarray
    position: float
    rotation: float
    iterations: int


def build() -> pin.Model:
    """The arms of the G1 of example-robot-data, with a frame in each hand; all other joints are locked."""
    folder = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    whole = gd.load_urdf(Path(str(folder)) / ROBOT, check="off")
    kept = "shoulder", "elbow", "wrist"
    locked = [j for j in range(1, whole.njoints) if not any(part in whole.names[j] for part in kept)]
    model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    for hand in HANDS:
        joint = model.getJointId(hand.replace("hand", "wrist_yaw_joint"))
        model.addFrame(pin.Frame(hand, joint, PALM, pin.FrameType.OP_FRAME))
    return model


def follower(model: pin.Model, hands: Sequence[str]) -> ca.Function:
    """(left 4 × 4, right 4 × 4, last q) → (q): the problem, built once."""
    placements = gd.Kinematics(model).frame_placements(hands)
    opti = ca.Opti()
    q, last = opti.variable(model.nq), opti.parameter(model.nq)
    targets = [opti.parameter(4, 4) for _ in hands]
    cost = WAY * ca.sumsqr(q - last)
    for T, target in zip(placements(q), targets, strict=True):
        cost += POSITION * ca.sumsqr(T[:3, 3] - target[:3, 3])
        cost += ROTATION * ca.sumsqr(gd.lie.log3(T[:3, :3].T @ target[:3, :3]))
    opti.minimize(cost)
    opti.subject_to(opti.bounded(model.lowerPositionLimit, q, model.upperPositionLimit))
    opti.solver("ipopt", OPTIONS)
    return opti.to_function("follower", [*targets, last, q], [q])


def follow(
    model: pin.Model, hands: Sequence[str], targets: Sequence[Sequence[np.ndarray]], starts: Sequence[np.ndarray]
) -> list[Answer]:
    """An answer for each pair of targets, from the start that belongs to it."""
    solve, placements = follower(model, hands), gd.Kinematics(model).frame_placements(hands)
    answers = []
    for pair, start in zip(targets, starts, strict=True):
        q = solve(*pair, start, start)
        errors = [gd.lie.inverse(T.full()) @ target for T, target in zip(placements(q), pair, strict=True)]
        position = max(np.linalg.norm(error[:3, 3]) for error in errors)
        rotation = max(np.linalg.norm(gd.lie.log3(error[:3, :3])) for error in errors)
        answers.append(Answer(q.full().ravel(), float(position), float(rotation), solve.stats()["iter_count"]))
    return answers


def drawn(model: pin.Model, hands: Sequence[str], number: int, share: float = SHARE) -> list[list[np.ndarray]]:
    """Random pairs of targets that can be reached."""
    rng, placements = np.random.default_rng(0), gd.Kinematics(model).frame_placements(hands)
    middle = (model.lowerPositionLimit + model.upperPositionLimit) / 2
    ranges = model.upperPositionLimit - middle
    states = [middle + share * ranges * rng.uniform(-1, 1, model.nq) for _ in range(number)]
    return [[T.full() for T in placements(q)] for q in states]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=20, help="how many pairs (20)")
    given = parser.parse_args(arguments)

    model = build()
    targets = drawn(model, HANDS, given.targets)
    first = follow(model, HANDS, targets, [pin.neutral(model)] * len(targets))
    again = follow(model, HANDS, targets, [answer.q for answer in first])
    for name, answers in (("first", first), ("again", again)):
        position, rotation = max(a.position for a in answers), max(a.rotation for a in answers)
        print(f"{name}: hands off by at most {1000 * position:.2g} mm and {np.degrees(rotation):.2g}°,", end=" ")
        print(f"median of {np.median([a.iterations for a in answers]):g} iterations")


if __name__ == "__main__":
    main()

"""The time of a step of an estimator, called from Python and in C, beside the same filter in NumPy.

    python -m benchmarks.estimation.steps
    python -m benchmarks.estimation.steps --rounds 3

Encoders alone are read. ``NumPy`` evaluates the same Functions, compiled by ``gd.compile``, and has the rest in
matrices. Times are the least of the rounds, of the processor. The page goes to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.estimation.plain import PlainFilter
from benchmarks.estimation.runs import EFFORT_NOISE, ENCODER, PERIOD, build
from benchmarks.speed.speed import machine

ARMS = {"two planar links, 2 modes each": True, "3 joints, 8 modes in space": False}
STEPS = 400


def seconds(call: Callable[[], object]) -> float:
    """The time of one call [s]."""
    begin = time.process_time_ns()
    for _ in range(STEPS):
        call()
    return 1e-9 * (time.process_time_ns() - begin) / STEPS


def times(arm: gd.FlexibleArm, rounds: int) -> list[float]:
    """A step in C, one called from Python, one in NumPy, and the prediction's Function alone [s]."""
    joints = arm.modes.start
    filter_ = gd.Estimator(arm, {"encoders": lambda q: q[:joints]}, {"encoders": ENCODER}, effort_noise=EFFORT_NOISE)
    filter_.reset(np.zeros(joints))
    plain, u, y = PlainFilter(filter_), np.zeros(arm.nu), np.zeros(joints)
    rate, x, covariance, p = plain.rate, plain.x, plain.covariance, plain.p
    filter_.step(u, y, PERIOD)

    def plainly() -> object:
        """From the same state each time, for the covariance of the plain filter loses its sign in a longer run."""
        plain.x, plain.covariance = x, covariance
        return plain.step(u, y, PERIOD)

    calls = [
        lambda: filter_._library(*filter_._addresses, PERIOD),
        lambda: filter_.step(u, y, PERIOD),
        plainly,
        lambda: rate(x, u, p),
    ]
    return np.min([[seconds(call) for call in calls] for _ in range(rounds)], axis=0).tolist()


def page(rows: Sequence[tuple[str, int, list[float]]], rounds: int) -> str:
    """The page of the results."""
    head = ["arm", "states", "step in C [µs]", "from Python [µs]", "NumPy [µs]", "NumPy/Python", "rate alone [µs]"]
    cells = [
        [name, n, *(f"{1e6 * x:.1f}" for x in (c, python, plain)), f"{plain / python:.1f}", f"{1e6 * rate:.1f}"]
        for name, n, (c, python, plain, rate) in rows
    ]
    return "\n".join(
        [
            "# A step of an estimator",
            "",
            f"`python -m benchmarks.estimation.steps`, the least of {rounds} rounds of {STEPS} steps.",
            *machine().splitlines(),
            "",
            "Encoders alone are read. A step in C is a call through ctypes. NumPy calls the same Functions, compiled",
            "by `gd.compile`, and computes with covariances what the filter does with their square root. The last",
            "column is the Function of the rate and its derivatives.",
            "",
            *markdown(head, cells),
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args(arguments).rounds
    rows = []
    for name, planar in ARMS.items():
        arm = build(planar=planar)
        rows.append((name, 2 * arm.nv, times(arm, rounds)))
        print(name, [f"{1e6 * x:.1f} µs" for x in rows[-1][2]])
    text = page(rows, rounds)
    print(text)
    if rounds == parser.get_default("rounds"):
        (RESULTS / "estimation_steps.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

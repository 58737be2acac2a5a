"""The same problems by IPOPT and by fatrop, which is told the structure of the intervals.

    python -m benchmarks.optimal_control.solvers               five solutions by each, in turns
    python -m benchmarks.optimal_control.solvers --rounds 9

Both solve to the same tolerance from the same guess, with compiled steps and expressions. Times are those of the
processor for a cold solve. The page goes to standard output and to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import gdalembert as gd
from benchmarks.common.robots import load
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.optimal_control import panda
from benchmarks.optimal_control.receding_horizon import HOME, INTERVALS, TICK, Task
from gdalembert import ocp

TOLERANCE = 1e-6
OPTIONS = {"ipopt": {"ipopt.tol": TOLERANCE}, "fatrop": {"fatrop.tolerance": TOLERANCE}}


class Run(NamedTuple):
    """A cold solve: seconds of the processor, iterations, the cost."""

    seconds: float
    iterations: int
    cost: float


def arm(**options: Any) -> ocp.Problem:
    """A two-link arm from rest to rest, with the least effort."""
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 20, bounds=ocp.Bounds.of(dyn, model), **options)
    problem.start([0.1, 0.2])
    problem.end([0.5, 0.9])
    problem.minimize(problem.integral(lambda u: 1e-2 * ca.sumsqr(u)))
    return problem


def tracking(**options: Any) -> ocp.Problem:
    """A plan of the receding horizon, beside the sphere."""
    task = Task(load("ur5"))
    problem = ocp.Problem(task.dyn, TICK * INTERVALS, INTERVALS, bounds=task.bounds, degree=2, **options)
    line = task.target(0.6 + TICK * np.arange(INTERVALS + 1))
    centre = ca.MX(ca.DM(task.centre))
    problem.path(lambda q: task.clear(q, centre), lower=0.12**2)
    mean = ca.MX(ca.DM(line.mean(axis=1)))
    problem.minimize(problem.integral(lambda q, v, u: task.away(q, mean) + task.calm(v, u)))
    problem.start(HOME)
    problem.guess(task.rest())
    return problem


def fastest(degree: int, **options: Any) -> ocp.Problem:
    """The Panda's least time over a table."""
    model = load(panda.ROBOT)
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model)
    problem = ocp.Problem(dyn, (0.1, 10.0), panda.INTERVALS, bounds=bounds, degree=degree, **options)
    problem.start(panda.START)
    problem.end(panda.GOAL)
    placement = gd.Kinematics(model).frame_placement(panda.TIP)
    problem.path(lambda q: placement(q)[2, 3], lower=panda.TABLE)
    effort = problem.integral(lambda u: ca.sumsqr(u / ca.DM(model.effortLimit)))
    problem.minimize(problem.duration + panda.EFFORT * effort)
    return problem


PROBLEMS: Mapping[str, Callable[..., ocp.Problem]] = {
    "two-link arm, least effort": arm,
    "UR5, tracking": tracking,
    "Panda, least time, bounds at the grid": lambda **options: fastest(2, bounds_at="grid", **options),
    "Panda, least time, 1 stage": lambda **options: fastest(1, **options),
    "Panda, least time, 2 stages": lambda **options: fastest(2, **options),
    "Panda, least time, 3 stages": lambda **options: fastest(3, **options),
}


def measure(rounds: int, names: list[str] | None = None, compiled: bool = True) -> dict[str, dict[str, list[Run]]]:
    """All solves of each problem by each solver, in turns.

    Ends with a sentence unless both find the same cost.
    """
    found: dict[str, dict[str, list[Run]]] = {}
    for name in names or list(PROBLEMS):
        runs: dict[str, list[Run]] = {solver: [] for solver in OPTIONS}
        problem = PROBLEMS[name](compiled=compiled)
        solvers = {solver: problem.solver(solver, options) for solver, options in OPTIONS.items()}
        for _ in range(rounds):
            for solver, made in solvers.items():
                begin = time.process_time()
                solution = made.cold()
                runs[solver].append(Run(time.process_time() - begin, solution.iterations, solution.cost))
        costs = [run.cost for each in runs.values() for run in each]
        if not np.allclose(costs, costs[0], rtol=1e-4):
            raise SystemExit(f"{name}: the costs differ, {costs}")
        found[name] = runs
    return found


NOTES = """\
# IPOPT and fatrop

The same problems by both, to {tolerance:g}, from the same guess, with compiled steps and expressions; {rounds} cold
solves by each, in turns in one process; medians of the processor's time:
`python -m benchmarks.optimal_control.solvers`.

{rows}

fatrop needs 0.5 to 0.75 of IPOPT's time for an iteration, since its linear algebra follows the intervals; the functions
of the problem are those of IPOPT. It eliminates inequalities as weights multiplier/slack in the Hessian, so that
rounding errors of large weights hide small curvatures; it then regularizes, and takes more iterations where many bounds
are active, as in the least time with bounds at the grid. Our options let it lower its barrier once a time, take back
its regularization soon, and take pivots down to 1e-9: with its own limit, 1e-5, it calls constraints of arms with light
wrists dependent, and hardly moves. Both end at a barrier of about the tolerance, so that their costs differ by less
than 1e-4.

{machine}
"""


def report(found: dict[str, dict[str, list[Run]]]) -> str:
    """The page."""

    def row(name: str) -> tuple[str, ...]:
        ipopt, fatrop = found[name].values()
        ratio = statistics.median(a.seconds / b.seconds for a, b in zip(ipopt, fatrop, strict=True))
        cells = [f"{1e3 * statistics.median(run.seconds for run in runs):.3g}" for runs in (ipopt, fatrop)]
        return name, str(ipopt[0].iterations), str(fatrop[0].iterations), *cells, f"{ratio:.2f}"

    heads = ["", "iterations, IPOPT", "fatrop", "ms, IPOPT", "fatrop", "IPOPT/fatrop"]
    return NOTES.format(
        tolerance=TOLERANCE,
        rounds=len(next(iter(found.values()))["ipopt"]),
        rows="\n".join(markdown(heads, [row(name) for name in found])),
        machine=f"Measured with Python {platform.python_version()}, casadi {metadata.version('casadi')}, pin "
        f"{metadata.version('pin')}.",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="solves by each solver")
    arguments = parser.parse_args()
    text = report(measure(arguments.rounds))
    print(text)
    (RESULTS / "solvers.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

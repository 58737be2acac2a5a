"""What compiled equations of motion save in simulations, and compiled steps in optimal control.

    python -m benchmarks.speed.compiled
    python -m benchmarks.speed.compiled --rounds 9

Each motion is computed by CasADi's virtual machine and by machine code in turn, in one process. The table has medians
over the rounds of the processor time, and the processor time of the compiler for an empty cache. It goes to standard
output and to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import casadi as ca
import numpy as np

import gdalembert as gd
from benchmarks.common.robots import load
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.flexible.case_study import DEFAULT, DURATION, arm, torques
from benchmarks.flexible.case_study import START as AT_REST
from benchmarks.optimal_control.panda import EFFORT, GOAL, START
from benchmarks.speed.speed import Timing, machine, paired
from gdalembert.ocp import Bounds, Problem

INTERPRETED, COMPILED = "interpreted", "compiled"

Motion = Callable[[], np.ndarray]
"""Computes a motion; returns what is compared."""
Case = Callable[[bool], Motion]
"""Prepares a motion, compiled or not."""


def falling(name: str, compiled: bool) -> Motion:
    """Two seconds of free fall."""
    dyn = gd.NewtonEuler(load(name))
    x0 = np.concatenate([np.linspace(-0.5, 0.5, dyn.tree.nq), np.zeros(dyn.tree.nv)])
    return lambda: gd.simulate(dyn, x0, 2.0, compiled=compiled).q


def held(name: str, compiled: bool) -> Motion:
    """Two seconds with a stiff servo as a graph, by backward differences."""
    dyn = gd.NewtonEuler(load(name))
    n = dyn.tree.nv
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 2 * n)
    servo = ca.Function("servo", [t, x], [-400 * x[:n] - 40 * x[n:]])
    x0 = np.concatenate([np.linspace(-0.5, 0.5, n), np.zeros(n)])
    return lambda: gd.simulate(dyn, x0, 2.0, servo, method="bdf", compiled=compiled).q


def flexible(compiled: bool, *, by_python: bool = False) -> Motion:
    """Two seconds of the arm of the case study, EI = 10 N m²: free, or with a servo written in Python."""
    dyn = arm(DEFAULT, 10.0, in_gravity=True)
    x0 = np.zeros(dyn.tree.nq + dyn.tree.nv)
    x0[:2] = 0.3, -0.5

    def servo(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(-20 * q[:2] - 4 * v[:2])

    return lambda: gd.simulate(dyn, x0, 2.0, servo if by_python else None, compiled=compiled).q


def studied(stiffness: float, compiled: bool) -> Motion:
    """The motion of the case study, with default modes."""
    dyn = arm(DEFAULT, stiffness)
    t, x = ca.SX.sym("t"), ca.SX.sym("x", dyn.tree.nq + dyn.tree.nv)
    driven = ca.Function("u", [t, x], [torques(t)])
    x0 = np.zeros(x.numel())
    x0[: len(AT_REST)] = AT_REST
    return lambda: gd.simulate(dyn, x0, DURATION, driven, compiled=compiled).q


def fastest(compiled: bool, intervals: int = 15) -> Motion:
    """The fastest motion of the Panda from rest to rest."""
    model = load("panda7")
    dyn = gd.NewtonEuler(model)
    options = {"bounds": Bounds.of(dyn, model), "scheme": "radau", "compiled": compiled}
    problem = Problem(dyn, (0.1, 10.0), intervals, **options)
    problem.start(START)
    problem.end(GOAL)
    effort = problem.integral(lambda u: ca.sumsqr(u / ca.DM(model.effortLimit)))
    problem.minimize(problem.duration + EFFORT * effort)
    return lambda: problem.solve().q


CASES: dict[str, Case] = {
    "UR5 falls, 2 s": partial(falling, "ur5"),
    "Panda arm with a servo as a graph, 2 s, `bdf`": partial(held, "panda7"),
    "flexible arm falls, 2 s": flexible,
    "case study, EI = 10 N m², 2 s": partial(studied, 10.0),
    "case study, EI = 100 N m², 2 s": partial(studied, 100.0),
    "case study, EI = 1000 N m², 2 s": partial(studied, 1000.0),
    "flexible arm with a servo in Python, 2 s, `radau`": partial(flexible, by_python=True),
    "fastest motion of the Panda arm, 15 intervals, IPOPT": fastest,
}


class Row(NamedTuple):
    """Seconds by way, and those of the compiler."""

    timings: dict[str, Timing]
    compiler: float


@contextmanager
def empty_cache() -> Iterator[None]:
    """All libraries are built anew."""
    before = os.environ.get("GDALEMBERT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GDALEMBERT_CACHE"] = folder
        try:
            yield
        finally:
            del os.environ["GDALEMBERT_CACHE"]
            if before is not None:
                os.environ["GDALEMBERT_CACHE"] = before


def measure(cases: Mapping[str, Case], rounds: int) -> dict[str, Row]:
    """Times of all cases; ends with a sentence unless both ways give the same q to 1e-5."""
    rows = {}
    for name, case in cases.items():
        with empty_cache():
            start = os.times()
            motions = {COMPILED: case(True), INTERPRETED: case(False)}
            found = {way: motion() for way, motion in motions.items()}
            end = os.times()
            if np.abs(found[COMPILED] - found[INTERPRETED]).max() > 1e-5:
                raise SystemExit(f"{name}: the motions differ")
            timings = paired(motions, INTERPRETED, rounds, slice_=0, clock=time.process_time)
        rows[name] = Row(timings, end.children_user + end.children_system - start.children_user - start.children_system)
    return rows


NOTES = """\
# Compiled equations of motion and steps

Seconds of processor time for a motion, with the graphs on CasADi's virtual machine (*interpreted*) and as machine code
(`gd.simulate(…, compiled=True)`, `gd.ocp.Problem(…, compiled=True)`): medians of {rounds} rounds in one process, in
which both take turns. The ratio is the median of the ratios in a round. *compiler* is what the compiler takes where the
cache is empty. Both give the same q to 1e-5 rad. Without a method in the first column it is the automatic one: `adams`
interpreted, `dop853` compiled. The flexible arm is that of the [case study](flexible_case_study.md), with default
modes, EI = 10 N m² where nothing else is said; *case study* is its motion under torques.

{machine}

{table}
"""


def report(rows: Mapping[str, Row], rounds: int) -> str:
    """The page."""
    cells = [
        (
            name,
            *(f"{row.timings[way].seconds:.3g}" for way in (INTERPRETED, COMPILED)),
            f"{row.timings[COMPILED].gain:.2g}×",
            f"{row.compiler:.1f}",
        )
        for name, row in rows.items()
    ]
    table = markdown(["", f"{INTERPRETED} [s]", f"{COMPILED} [s]", "ratio", "compiler [s]"], cells)
    compiler = machine().replace("-O3", "-O1")
    return NOTES.format(rounds=rounds, machine=compiler, table="\n".join(table))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    rounds = parser.parse_args().rounds
    text = report(measure(CASES, rounds), rounds)
    print(text)
    (RESULTS / "compiled.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

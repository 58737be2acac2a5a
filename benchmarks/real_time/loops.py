"""Ticks of real-time iterations beside those of IPOPT, in closed loops of the same robots in one process.

    python -m benchmarks.real_time.loops
    python -m benchmarks.real_time.loops --rounds 3 --acados --crocoddyl .../bin/python

A robot follows a reference: easily, where limits hold, and kicked. Each solver closes its own loop, with 20 intervals,
and is called from Python: ``problem.solver("rti")``, with three iterations a tick, and ``problem.solver("ipopt")`` with
compiled stages. Loops are repeated, and the time of a tick is the least over the rounds, of the processor. Quadratic
programs of the loops are solved by HPIPM and PIQP too (:mod:`benchmarks.real_time.programs`). With ``--acados``, acados
makes ticks of the arm in the same loops (:mod:`benchmarks.real_time.acados`), and with ``--crocoddyl``,
the Python of an environment with crocoddyl 3.0.1 and pin 3.4.0 makes ticks of the arm and of the standing quadruped in
the same loops. The page and the figure go to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from benchmarks.common.tables import BLUE, ORANGE, heading, label, markdown, panels, write
from benchmarks.real_time import acados, crocoddyl, programs
from benchmarks.real_time.tasks import KICKS_EVERY, TASKS, Motion, Task, Trot
from benchmarks.speed.speed import machine
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = TypeVar("Result")
RTI, IPOPT = "rti", "IPOPT"
TICKS = 100
SECONDS_OF_IPOPT = 20.0
"""A loop of IPOPT is not repeated beyond that."""


class Loop(NamedTuple):
    """Of each tick: seconds of the processor, the tracking error, the largest part of a limit that u takes, whether a
    limit of u or v holds in the plan, whether it was solved, and by how much forces leave their pyramids."""

    seconds: Array
    errors: Array
    used: Array
    held: Array
    solved: Array
    friction: Array


def loop(task: Task, solver: Any, motion: Motion, ticks: int, see: Any = None) -> Loop:
    """A closed loop from the start of a task; ``see`` is called after each tick."""
    rng = np.random.default_rng(0)
    q, v, found = task.start.copy(), np.zeros(task.dyn.tree.nv), []
    solver.last = None
    bounds = task.bounds
    driven = bounds.u_upper > 0
    for k in range(ticks):
        t = k * task.tick
        given = task.given(t, motion)
        scheduled = {} if given.schedule is None else {"schedule": given.schedule}
        shift = int(k > 0 and task.tick == task.interval)
        begin = time.process_time_ns()
        plan = solver(q0=q, v0=v, shift=shift, **scheduled, **given.values)
        seconds = 1e-9 * (time.process_time_ns() - begin)
        if see is not None:
            see(solver)
        parts = getattr(plan, "phases", [plan])
        u = parts[0].u[0]
        held = any(
            np.any((np.abs(x) > 0.99 * limit)[:, limit > 0])
            for part in parts
            for x, limit in ((part.u, bounds.u_upper), (part.v, bounds.v_upper))
        )
        used = float(np.max(np.abs(u[driven]) / bounds.u_upper[driven]))
        beyond = [x for part in parts for name, x in part.violations.items() if name.startswith("friction")]
        seconds = getattr(plan, "seconds", seconds)  # of a process of its own
        found.append((seconds, task.error(t, motion, q), used, held, plan.solved, max(beyond, default=0.0)))
        q, v = task.moved(t, q, v, u)
        kick = motion.kick * rng.normal(size=len(v))
        if (k + 1) % KICKS_EVERY == 0 and np.any(kick):
            v = task.kicked(q, v, kick)
    return Loop(*map(np.array, zip(*found, strict=True)))


class Row(NamedTuple):
    """The loops of a task in a case by solver, of which the ticks are the fastest of all rounds."""

    task: type[Task]
    case: str
    loops: Mapping[str, Loop]

    def error(self, name: str) -> float:
        """The root mean square of the tracking error [mm]."""
        return float(1e3 * np.sqrt(np.mean(self.loops[name].errors[self.task.skipped :] ** 2)))


def measure(
    tasks: Sequence[type[Task]], rounds: int, ticks: int, python: str | None = None
) -> tuple[list[Row], list[programs.Comparison]]:
    """All loops, and the quadratic programs of those of rti; ``python`` is that of an environment with crocoddyl."""
    rows, compared = [], []
    for kind in tasks:
        task = kind()
        solvers = {RTI: task.solver("rti")} | ({} if kind is Trot else {IPOPT: task.solver("ipopt")})
        with ExitStack() as stack:
            if python is not None and kind in crocoddyl.TASKS:
                solvers[crocoddyl.NAME] = stack.enter_context(crocoddyl.Peer(python, task))
            for case, motion in task.cases.items():
                rows.append(Row(kind, case, _loops(task, solvers, motion, rounds, ticks)))
                print(_cells(rows[-1]), flush=True)
        for case, motion in task.cases.items():
            kept: list[programs.Program] = []
            loop(task, solvers[RTI], motion, ticks, lambda solver, kept=kept: kept.append(programs.of(solver)))
            compared.append(programs.compare(f"{task.title}, {case}", kept[1:]))
            print(compared[-1], flush=True)
    return rows, compared


def beside(rounds: int, ticks: int) -> list[Row]:
    """The loops of acados, and those of rti in the same process."""
    rows = []
    for kind in acados.TASKS:
        task = kind()
        solvers = {RTI: task.solver("rti")} | acados.peers(task)
        rows += [Row(kind, case, _loops(task, solvers, motion, rounds, ticks)) for case, motion in task.cases.items()]
    return rows


def _loops(task: Task, solvers: Mapping[str, Any], motion: Motion, rounds: int, ticks: int) -> dict[str, Loop]:
    """By solver, with the fastest of all ticks."""
    own: dict[str, list[Loop]] = {name: [] for name in solvers}
    for _ in range(rounds):
        for name, solver in solvers.items():
            if name == IPOPT and sum(each.seconds.sum() for each in own[name]) > SECONDS_OF_IPOPT:
                continue
            own[name].append(loop(task, solver, motion, int(ticks * task.longer)))
    return {name: each[0]._replace(seconds=np.min([one.seconds for one in each], axis=0)) for name, each in own.items()}


def elsewhere(function: Callable[..., Result], *args: object) -> Result:
    """The result of a call in a process of its own: HPIPM of acados and that of CasADi end one that has both."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def _cells(row: Row) -> tuple[str, ...]:
    loops = row.loops
    micro = 1e6 * loops[RTI].seconds[1:]
    cells = [f"{row.task.title}, {row.case}", f"{np.median(micro):.0f}", f"{micro.max():.0f}"]
    if IPOPT in loops:
        milli = 1e3 * loops[IPOPT].seconds[1:]
        cells += [f"{np.median(milli):.1f}", f"{milli.max():.1f}", f"{1e-3 * np.median(micro) / np.median(milli):.4f}"]
        cells += [f"{row.error(RTI):.2f}", f"{row.error(IPOPT):.2f}", f"{row.error(RTI) / row.error(IPOPT):.2f}"]
    else:
        cells += ["–", "–", "–", f"{row.error(RTI):.2f}", "–", "–"]
    cells += [f"{loops[RTI].used.max():.6g}", f"{loops[RTI].held.mean():.0%}"]
    return (*cells, str(int((~loops[IPOPT].solved).sum())) if IPOPT in loops else "–")


HEAD = (
    *("", "rti [µs]", "worst [µs]", "IPOPT [ms]", "worst [ms]", "ratio", "error of rti [mm]", "of IPOPT [mm]"),
    *("ratio of errors", "most u / limit", "ticks at limits", "IPOPT not solved"),
)

NOTES = """\
# Real-time iterations

![time of a tick of rti and of IPOPT, and of the worst tick](rti.png)

A tick of `problem.solver("rti")` (one Gauss–Newton step, three iterations of its interior point) beside one of
`problem.solver("ipopt")` with `compiled=True`: 20 intervals, called from Python, in one process. Each closes its own
loop of {ticks} ticks with the same robot, reference and kicks. The time of a tick is that of the processor, the least
of up to {rounds} rounds; the table has the median and the worst of the ticks but the first, and *ratio* is that of the
medians. Errors are root mean squares [mm], without the first ticks, in which the robot goes to its reference. *most u /
limit* is of all inputs that rti sent; *ticks at limits* those with a plan in which a limit of u or v holds. The sphere
lies in the way of the reference, which nobody can follow. At 500 Hz, a tick is a 25th of an interval. IPOPT has
`degree=1`, the fastest; for the flexible arm `degree=2`, since it loses the arm with 1. The trot is made by
`gd.ocp.ContactSchedule`, which builds a program of IPOPT for each schedule: its ticks are not compared.

{machine}
Load of the machine: {load}.

{table}

{programs}

{acados}

{crocoddyl}
"""


def report(
    rows: Sequence[Row], compared: Sequence[programs.Comparison], peers: Mapping[str, str], rounds: int, ticks: int
) -> str:
    """The page; ``peers``: the sections of acados and crocoddyl."""
    return NOTES.format(
        ticks=ticks,
        rounds=rounds,
        machine=machine(),
        load=", ".join(f"{each:.1f}" for each in os.getloadavg()),
        table="\n".join(markdown(HEAD, [_cells(row) for row in rows])),
        programs=programs.section(compared),
        **peers,
    )


def draw(rows: Sequence[Row]) -> Figure:
    """The median of the ticks, and a line to the worst, by solver."""
    figure, axes = panels(1, 1, (8.6, 0.28 * len(rows) + 1.2))
    axis = axes[0, 0]
    for name, colour, up in ((RTI, BLUE, -0.2), (IPOPT, ORANGE, 0.2)):
        own = [(k, 1e3 * row.loops[name].seconds[1:]) for k, row in enumerate(rows) if name in row.loops]
        y = [k + up for k, _ in own]
        axis.barh(y, [np.median(x) for _, x in own], 0.36, color=colour, label=name)
        axis.hlines(y, [np.median(x) for _, x in own], [x.max() for _, x in own], colour)
    axis.set_xscale("log")
    axis.set_yticks(range(len(rows)), [f"{row.task.title}, {row.case}" for row in rows])
    axis.invert_yaxis()
    label(axis, x="ms of a tick, and of the worst", grid="x")
    heading(figure, axis, "A tick of model predictive control")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--ticks", type=int, default=TICKS, metavar="N", help="length of the loops")
    parser.add_argument("--acados", action="store_true", help="make ticks of acados too, which is there")
    parser.add_argument("--crocoddyl", metavar="PYTHON", help="of an environment that has it")
    given = parser.parse_args()
    beside_acados = elsewhere(beside, given.rounds, given.ticks) if given.acados else []
    rows, compared = measure(TASKS, given.rounds, given.ticks, given.crocoddyl)
    peers = {"acados": acados.section(beside_acados), "crocoddyl": crocoddyl.section(rows, given.crocoddyl)}
    text = report(rows, compared, peers, given.rounds, given.ticks)
    print(text)
    write("rti", text, lambda: draw(rows))


if __name__ == "__main__":
    main()

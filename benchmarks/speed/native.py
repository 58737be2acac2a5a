"""The speed of compiled Functions beside Pinocchio's C++ and its own graphs, in one process and without Python calls.

    python -m benchmarks.speed.native                     PUMA 560, Panda arm, Solo 12, and Talos without derivatives
    python -m benchmarks.speed.native talos --rounds 9    any robot that is counted
    python -m benchmarks.speed.native --triangle          the section of the triangle of M alone
    python -m benchmarks.speed.native --redraw            the figure alone, from the results

Contestants are Pinocchio from the library of the wheel, Pinocchio compiled for this processor, C code of Pinocchio's
own graphs, and ours; ``programs.py`` says what they are made of. Their outputs are compared with each other, and
refused where they differ. Then they take turns: in each round every contestant evaluates the same states. All is
repeated in a second pass, so that the page can say how much the ratios change. The tables go to standard
output and, for the default robots, with a figure to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

import gdalembert as gd
from benchmarks.common.robots import NAMES, TITLES, known, load
from benchmarks.common.tables import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    RESULTS,
    SKY,
    heading,
    label,
    markdown,
    panels,
    save,
    with_section,
    write,
)
from benchmarks.speed import programs
from benchmarks.speed.programs import Array, Contestant
from benchmarks.speed.speed import machine, states

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL, LARGE = ("puma560_benchmark", "panda7", "solo12"), ("talos",)
ROBOTS = SMALL + LARGE

FUNCTIONS = {
    "inverse_dynamics": ("τ", "qva", ("",)),
    "mass_matrix": ("M", "q", (" LOCAL", " WORLD")),
    "coriolis_matrix": ("C", "qv", ("",)),
    "forward_dynamics": ("a", "qvu", (" LOCAL", " WORLD")),
    "inverse_dynamics_derivatives": ("∂τ/∂(q, v)", "qva", ("",)),
    "forward_dynamics_derivatives": ("∂a/∂(q, v, τ)", "qvu", ("",)),
}
"""Our Function: its symbol, its inputs, and the conventions of Pinocchio's algorithm."""

DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
"""Those of large robots take the compiler many minutes."""


def functions(robot: str) -> list[str]:
    """The Functions that are timed."""
    return [name for name in FUNCTIONS if robot not in LARGE or name not in DERIVATIVES]


TRIANGLE = "upper triangle of M"
"""What is measured by a section of its own."""

PINOCCHIO, NATIVE = "Pinocchio's C++", "C++ for this processor"
GRAPH, GRAPHS = "its own graph in C", "its own graph in batches"
OURS, BATCH = "ours", "ours in batches"
COLUMNS = (PINOCCHIO, NATIVE, GRAPH, GRAPHS, OURS, BATCH)
UPPER, UPPERS = "triangle", "triangle in batches"
TRIANGLES = (PINOCCHIO, NATIVE, OURS, UPPER, BATCH, UPPERS)

RATIOS = ((PINOCCHIO, OURS), (GRAPH, OURS), (PINOCCHIO, BATCH), (GRAPHS, BATCH), (NATIVE, OURS), (NATIVE, BATCH))
"""How many times as fast ours are."""

TRIANGLE_RATIOS = ((PINOCCHIO, UPPER), (PINOCCHIO, UPPERS), (NATIVE, UPPER), (NATIVE, UPPERS))

TOLERANCE = 1e-9
"""Of outputs, relative to the largest entry in a state; ours are those of the cleaned model."""

PASSES = 2

Times = dict[str, Array]
"""Seconds for a state in each round, by column."""


def contestants(
    robot: str, function: str, given: Mapping[str, Array], folder: str, *, graphs: bool = True
) -> dict[str, Contestant]:
    """All that evaluate a Function of a robot, by column and, where there are two, by Pinocchio's convention."""
    _, letters, conventions = FUNCTIONS[function]
    model = load(robot)
    graph = getattr(gd.NewtonEuler(model), function)
    sizes = [graph.numel_out(i) for i in range(graph.n_out())]
    file = programs.save(model, folder)
    rows = [given[letter] for letter in ("q", "v", "u" if "u" in letters else "a")]
    entries = {
        f"{column}{convention}": programs.pinocchio(
            programs.pinocchio_library(kind), file, f"{function}{convention}", rows, sizes
        )
        for column, kind in ((PINOCCHIO, programs.WHEEL), (NATIVE, programs.NATIVE))
        for convention in conventions
    }
    inputs = [given[letter] for letter in letters]
    compiled = [(graph, OURS, BATCH)]
    if graphs and function in programs.OWN_GRAPHS:
        compiled.append((programs.own_graph(robot, function), GRAPH, GRAPHS))
    for each, one, several in compiled:
        entries[one] = programs.compiled(each, programs.IN_TURN, inputs)
        entries[several] = programs.compiled(each, programs.TOGETHER, inputs)
    return entries


def triangles(robot: str, given: Mapping[str, Array], folder: str) -> dict[str, Contestant]:
    """All that evaluate the mass matrix of a robot, in full and by its upper triangle, without graphs of others."""
    entries = contestants(robot, "mass_matrix", given, folder, graphs=False)
    graph, inputs = gd.NewtonEuler(load(robot)).mass_matrix, [given["q"]]
    entries[UPPER] = programs.compiled(graph, programs.IN_TURN, inputs, "upper")
    return entries | {UPPERS: programs.compiled(graph, programs.TOGETHER, inputs, "upper")}


def measure(robot: str, function: str, n: int, rounds: int) -> Times:
    """The times of a Function of a robot, once all outputs are equal."""
    given = {name: np.ascontiguousarray(array) for name, array in states(load(robot), n).items()}
    with tempfile.TemporaryDirectory() as folder:
        parted = function == TRIANGLE
        entries = triangles(robot, given, folder) if parted else contestants(robot, function, given, folder)
    check(f"{robot}: {function}", *programs.largest_difference(entries))
    return {name: seconds / n for name, seconds in programs.take_turns(entries, rounds).items()}


def check(where: str, error: float, name: str) -> None:
    """End with a sentence unless all outputs are equal."""
    if not error < TOLERANCE:
        raise SystemExit(f"{where}: the outputs of {name} differ from Pinocchio's by {error:.1e}")


def fastest(times: Times) -> dict[str, float]:
    """Nanoseconds for a state by column: the fastest round of the faster convention."""
    found: dict[str, float] = {}
    for name, seconds in times.items():
        (column,) = (
            column for column in {*COLUMNS, *TRIANGLES} if name.removesuffix(" LOCAL").removesuffix(" WORLD") == column
        )
        found[column] = min(1e9 * float(np.min(seconds)), found.get(column, np.inf))
    return found


def ratios(times: Times) -> dict[tuple[str, str], float]:
    """How many times as fast ours are."""
    column = fastest(times)
    return {(theirs, ours): column[theirs] / column[ours] for theirs, ours in RATIOS if theirs in column}


Results = Mapping[tuple[str, str], Times]
"""Times by robot and Function."""


def changes(results: Results) -> list[float]:
    """How much each ratio changes from the first half of the rounds to the second, relative to the smaller."""
    found = []
    for times in results.values():
        middle = len(times[OURS]) // 2
        halves = slice(0, middle), slice(middle, None)
        first, second = (ratios({name: each[half] for name, each in times.items()}).values() for half in halves)
        found += [max(a / b, b / a) - 1 for a, b in zip(first, second, strict=True)]
    return found


def ratio(x: float | None) -> str | None:
    """As a cell: two digits, or three."""
    return x if x is None else f"{x:.1f}×" if x < 9.95 else f"{x:.0f}×"


def tables(results: Results) -> tuple[list[str], list[str]]:
    """Nanoseconds for a state, and how many times as fast ours are."""
    seconds, gains = [], []
    for (robot, function), times in results.items():
        column, gain = fastest(times), ratios(times)
        title = TITLES[robot], FUNCTIONS[function][0]
        seconds.append((*title, *(f"{column[name]:,.0f}" if name in column else None for name in COLUMNS)))
        gains.append((*title, *(ratio(gain.get(pair)) for pair in RATIOS)))
    head = tuple(f"{theirs} / {ours}" for theirs, ours in RATIOS)
    return markdown(("", "", *COLUMNS), seconds), markdown(("", "", *head), gains)


NOTES = """\
# Speed in C++

![how many times as fast as Pinocchio's C++ and as its own graphs](native.png)

Each contestant evaluates the same {n} states in a loop, in one thread and without Python between the calls. Contestants
take turns in one process, and a time is the fastest of {rounds} rounds in two passes. From one pass to the other the
ratios change by {typical} % at the median, and by {change} % at most. All outputs were compared before: they agree to
{tolerance} of the largest entry of a state.

* *Pinocchio's C++*: that of the wheel, from its own library (`libpinocchio_default`), which is compiled for any x86-64
  processor (SSE2). Its arguments are of the type that the library is compiled for, and asserts are off (`-DNDEBUG`).
  Results stay in its `Data`; M and M⁻¹ are the upper triangles alone. M and a are those of the faster of its
  conventions, LOCAL and WORLD.
* *C++ for this processor*: Pinocchio's headers, compiled with `-O3 -march=native -DNDEBUG`, which no wheel is.
  (A program that passes `Eigen::VectorXd` to `crba` or `aba` of the wheel compiles them from the headers as well.)
* *its own graph in C*: Pinocchio's own CasADi graph, by `{kin_dyn}` (Pinocchio 2.6.20), after
  `ca.cse`. It goes through `gd.compile` as ours do, with the same flags; the package has those of τ, M and a. *in
  batches* is by the batches of `gd.compile`.
* *ours*: `gd.compile` of Newton–Euler, one state at a time, as single calls are.
  *in batches*: several at once, as by default. All entries are written for each state, M and M⁻¹ in full.

So *Pinocchio's C++ / ours* is what code that is generated for a robot and a processor saves beside the wheel, and *its
own graph in C / ours* is what our formulation saves of that.

{machine}

## Nanoseconds for a state

{seconds}

## How many times as fast ours are

{gains}
"""


TRIANGLE_HEADING = "## M by its upper triangle"

TRIANGLE_NOTES = """\
{heading}

Nanoseconds for a state, measured as above, of {n} states: *triangle* is `gd.compile(…, output="upper")`, which writes
the entries of the upper triangle that are not always zero, where Pinocchio's `crba` fills it with its zeros.

{machine}
The registers of this processor have {bits} bits: {width} states at once.

{seconds}

{gains}
"""


def triangle_section(results: Results, n: int, width: int) -> str:
    """What was measured of the triangle of M, which may be on another machine than the rest of the page."""
    seconds, gains = [], []
    for (robot, _), times in results.items():
        column = fastest(times)
        seconds.append((TITLES[robot], "M", *(f"{column[name]:,.0f}" for name in TRIANGLES)))
        pairs = (column[theirs] / column[ours] for theirs, ours in TRIANGLE_RATIOS)
        gains.append((TITLES[robot], "M", *map(ratio, pairs)))
    head = tuple(f"{theirs} / {ours}" for theirs, ours in TRIANGLE_RATIOS)
    return TRIANGLE_NOTES.format(
        heading=TRIANGLE_HEADING,
        n=n,
        machine=machine(),
        bits=64 * width,
        width=width,
        seconds="\n".join(markdown(("", "", *TRIANGLES), seconds)),
        gains="\n".join(markdown(("", "", *head), gains)),
    )


def page(results: Results, n: int, rounds: int) -> str:
    """What was measured, on which machine, and both tables."""
    seconds, gains = tables(results)
    return NOTES.format(
        n=n,
        rounds=PASSES * rounds,
        change=f"{100 * max(changes(results)):.0f}",
        typical=f"{100 * statistics.median(changes(results)):.0f}",
        tolerance=f"{TOLERANCE:.0e}".replace("e-0", "e-"),
        kin_dyn=programs.KIN_DYN,
        machine=machine(),
        seconds="\n".join(seconds),
        gains="\n".join(gains),
    )


Gains = dict[str, dict[str, list[float | None]]]
"""Ratios, as in :data:`RATIOS`, by robot and symbol."""


def recorded(text: str) -> Gains:
    """The ratios of a page."""
    gains: Gains = {}
    for line in re.findall(r"^\|.*×.*\|$", text.partition(TRIANGLE_HEADING)[0], re.M):
        robot, symbol, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        gains.setdefault(robot, {})[symbol] = [None if cell == "–" else float(cell.rstrip("×")) for cell in cells]
    return gains


def draw(gains: Gains) -> Figure:
    """The ratios: one state at a time above, several at once below, and a panel for each robot."""
    figure, axes = panels(2, len(gains), (2.3 * len(gains) + 0.6, 5.4), sharey=True, sharex="row")
    symbols = list(dict.fromkeys(symbol for row in gains.values() for symbol in row))
    for line, ours in zip(axes, (OURS, BATCH), strict=True):
        others = (PINOCCHIO, NATIVE, GRAPH if ours == OURS else GRAPHS)
        for axis, (robot, row) in zip(line, gains.items(), strict=True):
            for j, (theirs, colour) in enumerate(zip(others, (BLUE, SKY, ORANGE), strict=True)):
                k = RATIOS.index((theirs, ours))
                bars = [(symbols.index(symbol) + 0.27 * (j - 1), x[k]) for symbol, x in row.items() if x[k] is not None]
                name = theirs.removesuffix(" in batches").removesuffix(" in C")
                drawn = axis.barh(*zip(*bars, strict=True), 0.25, color=colour, label=name)
                axis.bar_label(drawn, [ratio(x).rstrip("×") for _, x in bars], padding=2, fontsize=6, color=INK)
            axis.set_yticks(range(len(symbols)), symbols)
            axis.axvline(1, color=GREY, linewidth=0.8)
            axis.margins(x=0.16)
            title, x = (robot, "one state at a time") if ours == OURS else ("", "in batches")
            label(axis, title, x=x, grid="x")
    axes[0, 0].invert_yaxis()
    heading(figure, axes[0, 0], "Speed of gdalembert's machine code in multiples of that of")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "robots", nargs="*", type=known, metavar="ROBOT", default=ROBOTS, help=f"any of {', '.join(NAMES)}"
    )
    parser.add_argument("--rounds", type=int, default=200, metavar="N", help="in each of two passes")
    parser.add_argument("--states", type=int, default=192, metavar="N")
    parser.add_argument("--triangle", action="store_true", help="measure the upper triangle of M alone")
    parser.add_argument("--redraw", action="store_true", help="time nothing: draw the recorded results again")
    arguments = parser.parse_args()
    if arguments.redraw:
        save(draw(recorded((RESULTS / "native.md").read_text(encoding="utf-8"))), RESULTS / "native.png")
        return
    given = arguments.states, arguments.rounds
    triangle = measure_all([(robot, TRIANGLE) for robot in arguments.robots], *given)
    section = triangle_section(triangle, arguments.states, width())
    if arguments.triangle:
        print(section)
        if arguments.robots == ROBOTS:
            recorded_page = RESULTS / "native.md"
            recorded_page.write_text(with_section(recorded_page.read_text(encoding="utf-8"), section), encoding="utf-8")
        return
    results = measure_all([(robot, name) for robot in arguments.robots for name in functions(robot)], *given)
    text = with_section(page(results, *given), section)
    print(text)
    if arguments.robots == ROBOTS:
        write("native", text, lambda: draw(recorded(text)))


def measure_all(jobs: Sequence[tuple[str, str]], n: int, rounds: int) -> Results:
    """The times of all passes."""
    passes = [{job: measure(*job, n, rounds) for job in jobs} for _ in range(PASSES)]
    return {job: {name: np.concatenate([one[job][name] for one in passes]) for name in passes[0][job]} for job in jobs}


def width() -> int:
    """How many states a batch evaluates at once."""
    x = ca.SX.sym("x")
    return gd.compile(ca.Function("square", [x], [x**2])).width


if __name__ == "__main__":
    main()

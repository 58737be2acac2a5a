"""The speed of compiled Functions beside Pinocchio's C++, in one process without Python.

    python -m benchmarks.speed.native                     PUMA 560, Panda arm, Solo 12, and Talos without derivatives
    python -m benchmarks.speed.native talos --rounds 9    any robot that is counted
    python -m benchmarks.speed.native --redraw            the figure alone, from the results

``pinocchio.cpp`` is compiled against the headers and libraries of the wheel of ``pin`` (minutes, once; Eigen's headers
are those of the package ``cmeel-eigen``). It compares all outputs first, then times rounds in which every contestant
evaluates the same states, one after the other, by the time that the thread has had a processor. Ratios are medians of
those of the same round. The table goes to standard output and, for the default robots, with a figure to
``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import gdalembert as gd
from benchmarks.common.robots import HERE, NAMES, TITLES, known, load
from benchmarks.common.tables import BLUE, ORANGE, RESULTS, heading, markdown, panels, save, write
from benchmarks.speed.speed import machine, states

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL, LARGE = ("puma560_benchmark", "panda7", "solo12"), ("talos",)
ROBOTS = SMALL + LARGE

FUNCTIONS = {
    "inverse_dynamics": ("τ", "qva"),
    "mass_matrix": ("M", "q"),
    "coriolis_matrix": ("C", "qv"),
    "forward_dynamics": ("a", "qvu"),
    "inverse_dynamics_derivatives": ("∂τ/∂(q, v)", "qva"),
    "forward_dynamics_derivatives": ("∂a/∂(q, v, τ)", "qvu"),
}
"""Our Function: its symbol, and its inputs."""

DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
"""Those of large robots take the compiler many minutes."""


def functions(robot: str) -> list[str]:
    """The Functions that are timed."""
    return [name for name in FUNCTIONS if robot not in LARGE or name not in DERIVATIVES]


SCALAR, SIMD = "one state at a time", "several at once"
FLAGS = {SCALAR: "-O3 -march=native -DWIDTH=1", SIMD: None}

TOLERANCE = 1e-8
"""Of outputs: those of the cleaned model, beside those of the model as given."""

MACROS = (
    "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
)

Times = dict[str, list[float]]
"""Seconds for a state in each round, by contestant."""


def program() -> Path:
    """The compiled program, in the folder ``build``."""
    source = HERE / "speed" / "pinocchio.cpp"
    prefix, eigen = (_prefix(name) for name in ("pin", "cmeel-eigen"))
    key = hashlib.sha256(source.read_bytes() + metadata.version("pin").encode()).hexdigest()[:16]
    target = HERE.parent / "build" / f"pinocchio_{key}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", "-O3", "-std=c++17", *MACROS, f"-I{prefix}/include", f"-I{eigen}/include/eigen3", str(source)]
        command += ["-o", str(target), f"-L{prefix}/lib", "-lpinocchio_default", "-lboost_serialization", "-ldl"]
        subprocess.run([*command, f"-Wl,-rpath,{prefix}/lib"], check=True)
    return target


def _prefix(package: str) -> Path:
    """Where a wheel made by cmeel has its headers and libraries."""
    try:
        return Path(str(metadata.distribution(package).locate_file("cmeel.prefix")))
    except metadata.PackageNotFoundError:
        raise SystemExit(f"the package {package} is missing: pip install '.[benchmark]'") from None


def measure(robot: str, function: str, n: int, rounds: int) -> Times:
    """The times of a Function of a robot."""
    model, letters = load(robot), FUNCTIONS[function][1]
    graph = getattr(gd.NewtonEuler(model), function)
    libraries = [gd.compile(graph, flags=flags).library for flags in FLAGS.values()]
    given = states(model, n)
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / name) for name in ("model", "q", "v", "a", "job")}
        model.saveToText(files["model"])
        arrays = {"q": given["q"], "v": given["v"], "a": given["u" if "u" in letters else "a"]}
        for name, array in arrays.items():
            np.ascontiguousarray(array).tofile(files[name])
        sizes = [graph.numel_out(i) for i in range(graph.n_out())]
        job = [files["model"], n, rounds, files["q"], files["v"], files["a"], function, letters]
        job += [len(libraries), *libraries, len(sizes), *sizes]
        Path(files["job"]).write_text("\n".join(map(str, job)), encoding="utf-8")
        answer = subprocess.run([str(program()), files["job"]], check=True, capture_output=True, text=True).stdout
    return _read(answer, f"{robot}: {function}")


def _read(answer: str, where: str) -> Times:
    error, *lines = answer.splitlines()
    if not float(error.split()[1]) < TOLERANCE:
        raise SystemExit(f"{where}: the outputs differ by {error.split()[1]}")
    times: Times = {}
    for line in lines:
        _, name, seconds = line.split("\t")
        times.setdefault(name, []).append(float(seconds))
    return times


def ratios(times: Times, reference: str) -> dict[str, float]:
    """How many times as fast as a contestant of Pinocchio's ours are: medians of the ratios in a round."""
    ours = zip(FLAGS, (f"ours {k}" for k in range(len(FLAGS))), strict=True)
    return {
        way: statistics.median(theirs / own for theirs, own in zip(times[reference], times[name], strict=True))
        for way, name in ours
    }


Results = Mapping[tuple[str, str], Times]
"""Times by robot and Function."""


def table(results: Results) -> list[str]:
    """Nanoseconds for a state, and ratios to the faster of Pinocchio's conventions."""
    cells = []
    for (robot, function), times in results.items():
        theirs = [name for name in times if not name.startswith("ours")]
        best = min(theirs, key=lambda name: statistics.median(times[name]))
        gains = ratios(times, best)
        seconds = (statistics.median(times[name]) for name in (best, "ours 0", "ours 1"))
        numbers = (f"{1e9 * each:,.0f}" for each in seconds)
        cells.append((TITLES[robot], FUNCTIONS[function][0], *numbers, *(f"{gains[way]:.1f}×" for way in FLAGS)))
    head = ("", "", "Pinocchio [ns]", f"ours, {SCALAR} [ns]", f"{SIMD} [ns]", f"ratio, {SCALAR}", f"ratio, {SIMD}")
    return markdown(head, cells)


NOTES = """\
# Speed in C++

![speed relative to Pinocchio's C++](native.png)

Nanoseconds for a state in one process without Python: Pinocchio's C++, of the wheel, in a loop over {n} states, and the
machine code of `gd.compile`, one state at a time and with its batches, called for the same states. Pinocchio's results
stay in its `Data`; ours are written for each state. M and a are Pinocchio's in the faster of its conventions LOCAL and
WORLD. The times are those that the thread has had a processor, medians of {rounds} rounds that take turns; a ratio is
the median of the ratios in a round. All outputs were compared before.

{machine}

{table}
"""


Gains = dict[str, dict[str, tuple[float, float]]]
"""How many times as fast as Pinocchio ours are, one state at a time and several at once: by robot and symbol."""


def recorded(text: str) -> Gains:
    """The ratios of a table."""
    gains: Gains = {}
    for robot, symbol, *ratios in re.findall(
        r"^\| (\S[^|]*) \| (\S[^|]*) \|.*\| ([\d.]+)× \| ([\d.]+)× \|$", text, re.M
    ):
        one, several = map(float, ratios)
        gains.setdefault(robot, {})[symbol] = one, several
    return gains


def draw(gains: Gains) -> Figure:
    """The ratios, a panel for each robot."""
    figure, axes = panels(1, len(gains), (2.3 * len(gains) + 0.6, 2.9), sharey=True)
    symbols = list(dict.fromkeys(symbol for row in gains.values() for symbol in row))
    for axis, (robot, row) in zip(axes.flat, gains.items(), strict=True):
        places = [symbols.index(symbol) for symbol in row]
        for k, (way, colour) in enumerate(zip(FLAGS, (ORANGE, BLUE), strict=True)):
            widths = [ratios[k] for ratios in row.values()]
            axis.barh([i + 0.38 * (k - 0.5) for i in places], widths, 0.36, color=colour, label=way)
        axis.set_yticks(range(len(symbols)), symbols)
        axis.set_title(robot, fontsize=9)
        axis.axvline(1, color="black", linewidth=0.6)
    axes.flat[0].invert_yaxis()
    heading(figure, axes.flat[0], "How many times as fast as Pinocchio's C++")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "robots", nargs="*", type=known, metavar="ROBOT", default=ROBOTS, help=f"any of {', '.join(NAMES)}"
    )
    parser.add_argument("--rounds", type=int, default=25, metavar="N")
    parser.add_argument("--states", type=int, default=192, metavar="N")
    parser.add_argument("--redraw", action="store_true", help="time nothing: draw the recorded results again")
    arguments = parser.parse_args()
    if arguments.redraw:
        save(draw(recorded((RESULTS / "native.md").read_text(encoding="utf-8"))), RESULTS / "native.png")
        return
    results = {
        (robot, function): measure(robot, function, arguments.states, arguments.rounds)
        for robot in arguments.robots
        for function in functions(robot)
    }
    shown = table(results)
    text = NOTES.format(n=arguments.states, rounds=arguments.rounds, machine=machine(), table="\n".join(shown))
    print(text)
    if arguments.robots == ROBOTS:
        write("native", text, lambda: draw(recorded(text)))


if __name__ == "__main__":
    main()

"""The speed of the Functions called from Python: compiled, on CasADi's virtual machine, and beside Pinocchio.

    python -m benchmarks.speed.speed                     PUMA 560, UR5, Panda arm and Kinova
    python -m benchmarks.speed.speed solo12 --rounds 9   any robot that is counted

Everything is measured in one process. Each round times every way of calling. The tables have the medians over the
rounds of the time of a call and of its ratio to Pinocchio's in the same round. Times depend on the machine and its
load, ratios much less. The tables go to standard output and, for the default robots, with a figure to
``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import NAMES, TITLES, known, load
from benchmarks.common.tables import BLUE, GREY, INK, ORANGE, SKY, heading, label, markdown, panels, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROBOTS = ("puma560_benchmark", "ur5", "panda7", "kinova")

STATES = 10_000
"""The states in a batch."""

FUNCTIONS = {
    "inverse_dynamics": ("τ", "rnea", "qva"),
    "mass_matrix": ("M", "crba", "q"),
    "forward_dynamics": ("a", "aba", "qvu"),
    "inverse_dynamics_derivatives": ("∂τ/∂(q, v)", "computeRNEADerivatives", "qva"),
}
"""Our Function: its symbol, Pinocchio's function, and the inputs of both."""

PINOCCHIO, IN_ONE_CALL = "Pinocchio", "Pinocchio, one call"
WAYS = {"gd.compile": BLUE, "interpreter": SKY, "casadi.Function": ORANGE, IN_ONE_CALL: GREY}
"""The ways of calling that are compared with Pinocchio, with the colours of the figure."""

Call = Callable[[], object]
Array = npt.NDArray[np.float64]


class Timing(NamedTuple):
    """Medians over the rounds: seconds for a call, and the speed relative to the reference."""

    seconds: float
    gain: float


def paired(
    calls: Mapping[str, Call],
    reference: str,
    rounds: int,
    slice_: float = 2e-3,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, Timing]:
    """Time the calls alternately, each for about ``slice_`` seconds a turn, or one call if that takes longer.

    By default the time is that for which this thread has had a processor, whatever else the machine does.
    """
    timers = {name: timeit.Timer(call, timer=clock) for name, call in calls.items()}  # the garbage collector is off
    repeats = {name: max(1, round(slice_ / min(timer.repeat(3, 1)))) for name, timer in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for _ in range(rounds):
        for name in order:
            seconds[name].append(timers[name].timeit(repeats[name]) / repeats[name])
        order.append(order.pop(0))
    return {
        name: Timing(
            statistics.median(own),
            statistics.median(theirs / mine for theirs, mine in zip(seconds[reference], own, strict=True)),
        )
        for name, own in seconds.items()
    }


def states(model: pin.Model, n: int) -> dict[str, Array]:
    """Random q, v, a and u (tau), each (n, …)."""
    rng = np.random.default_rng(0)
    neutral = pin.neutral(model)
    q = np.array([pin.integrate(model, neutral, step) for step in rng.normal(size=(n, model.nv))])
    return {"q": q, **{name: rng.normal(size=(n, model.nv)) for name in "vau"}}


def single_calls(model: pin.Model, function: ca.Function) -> dict[str, Call]:
    """One state, NumPy arrays in."""
    _, name, letters = FUNCTIONS[function.name()]
    inputs = [states(model, 1)[letter][0] for letter in letters]
    return {
        "gd.compile": partial(gd.compile(function), *inputs),
        "interpreter": partial(gd.compile(function, interpreter=True), *inputs),
        "casadi.Function": partial(function, *inputs),
        PINOCCHIO: partial(getattr(pin, name), model, model.createData(), *inputs),
    }


def batch_calls(model: pin.Model, function: ca.Function, n: int) -> dict[str, Call]:
    """n states, arrays (n, …) in; a casadi.Function takes them as columns of matrices, as Pinocchio's functions do."""
    _, name, letters = FUNCTIONS[function.name()]
    given = states(model, n)
    inputs = [given[letter] for letter in letters]
    data = model.createData()
    of_pinocchio = getattr(pin, name)

    def loop() -> list[object]:
        return [of_pinocchio(model, data, *state) for state in zip(*inputs, strict=True)]

    def into_the_same_arrays(f: gd.CompiledFunction) -> Call:
        return partial(f.batch, *inputs, out=f.batch(*inputs))

    calls: dict[str, Call] = {
        "gd.compile": into_the_same_arrays(gd.compile(function)),
        "interpreter": into_the_same_arrays(gd.compile(function, interpreter=True)),
        "casadi.Function": partial(function, *(x.T for x in inputs)),
        PINOCCHIO: loop,
    }
    if hasattr(pin, f"{name}InParallel"):  # of rnea and aba, in wheels with OpenMP
        calls[IN_ONE_CALL] = partial(
            getattr(pin, f"{name}InParallel"), 1, pin.ModelPool(model, 1), *(x.T for x in inputs)
        )
    return calls


def check(model: pin.Model, calls: Mapping[str, Call]) -> None:
    """End with a sentence unless all calls give the same numbers."""
    outputs = {name: _arrays(call()) for name, call in calls.items()}
    for name, own in outputs.items():
        for found, true in zip(own, outputs[PINOCCHIO], strict=False):  # Pinocchio gives M with the derivatives
            if not np.allclose(found, true, rtol=1e-9, atol=1e-9 * np.abs(true).max()):
                raise SystemExit(f"{model.name}: {name} and Pinocchio do not agree")


def _arrays(outputs: object) -> list[Array]:
    many = outputs if isinstance(outputs, tuple) else (outputs,)
    return [np.asarray(x).reshape(-1) if isinstance(x, np.ndarray) else x.full().reshape(-1) for x in many]


Timings = dict[tuple[str, str], dict[str, Timing]]
"""Timings by way of calling, for each robot and Function."""


def measure(names: Sequence[str], rounds: int, n: int = STATES) -> tuple[Timings, Timings]:
    """Single calls, and batches of n states, in seconds per state."""
    single: Timings = {}
    batch: Timings = {}
    for name in names:
        model = load(name)
        dyn = gd.NewtonEuler(model)
        for function in FUNCTIONS:
            graph = getattr(dyn, function)
            calls = single_calls(model, graph)
            check(model, calls)
            single[name, function] = paired(calls, PINOCCHIO, rounds)
            together = paired(batch_calls(model, graph, n), PINOCCHIO, max(3, rounds // 5))
            batch[name, function] = {k: Timing(t.seconds / n, t.gain) for k, t in together.items()}
    return single, batch


def table(timings: Timings) -> list[str]:
    """Microseconds, and the ratio to Pinocchio."""
    ways = [c for c in WAYS if any(c in row for row in timings.values())]
    rows = [
        (
            TITLES[name],
            FUNCTIONS[function][0],
            *(f"{1e6 * row[c].seconds:.3g} ({_ratio(row[c].gain)}×)" if c in row else None for c in ways),
            f"{1e6 * row[PINOCCHIO].seconds:.3g}",
        )
        for (name, function), row in timings.items()
    ]
    return markdown(["", "", *ways, PINOCCHIO], rows)


def _ratio(gain: float) -> str:
    return f"{gain:.2g}" if gain < 100 else f"{gain:.0f}"


NOTES = """\
# Speed of calls from Python

![speed of Newton–Euler in multiples of Pinocchio's](speed.png)

Microseconds for a state, for Newton–Euler with default options; in brackets the speed relative to Pinocchio, which is
{calls}, called from Python.
*interpreter* is `gd.compile(…, interpreter=True)`, CasADi's virtual machine; *casadi.Function* is the Function called
directly. The times are processor time, medians of paired rounds in one process with one thread. Pinocchio's derivatives
include M.

{machine}

## One state in a call

{single}

## {n:,} states in a call

Microseconds for a state. *gd.compile* and *interpreter* use `batch` with the same output arrays each time (`out=`: for
large outputs, allocating memory costs more than the numbers); *casadi.Function* takes matrices, one column for each
state; *Pinocchio* is a Python loop; *Pinocchio, one call* is its `rneaInParallel` or `abaInParallel` with one thread.

{batch}
"""


def report(single: Timings, batch: Timings, n: int = STATES) -> str:
    """The page: what was measured, on which machine, and both tables."""
    return NOTES.format(
        calls=", ".join(f"`pin.{name}`" for _, name, _ in FUNCTIONS.values()),
        machine=machine(),
        single="\n".join(table(single)),
        n=n,
        batch="\n".join(table(batch)),
    )


def machine() -> str:
    """Processor, compiler and versions, in a sentence."""
    cpuinfo = Path("/proc/cpuinfo")
    models = [x for x in cpuinfo.read_text().splitlines() if x.startswith("model name")] if cpuinfo.exists() else []
    processor = models[0].partition(":")[2].strip() if models else platform.machine()
    command = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")))
    answer = subprocess.run([*shlex.split(command), "--version"], capture_output=True, text=True, check=True)
    compiler = answer.stdout.splitlines()[0]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("casadi", "pin", "numpy"))
    return f"Measured on {processor}: Python {platform.python_version()}, {versions},\n{compiler}, -O3 -march=native."


def draw(single: Timings, batch: Timings, n: int = STATES) -> Figure:
    """The speed relative to Pinocchio: panels for single calls and batches, a group for each robot's Function."""
    figure, axes = panels(1, 2, (8.6, 7.2), sharey=True)
    thickness = 0.21
    titles = ("One state in a call", f"{n:,} states in a call")
    for axis, timings, title in zip(axes.flat, (single, batch), titles, strict=True):
        ways = [c for c in WAYS if any(c in row for row in timings.values())]
        for k, way in enumerate(ways):
            y = [i + (k - 1.5) * thickness for i, row in enumerate(timings.values()) if way in row]
            gains = [row[way].gain for row in timings.values() if way in row]
            colour = WAYS[way]
            bars = axis.barh(y, [gain - 1 for gain in gains], thickness * 0.92, left=1, color=colour, label=way)
            for bar, gain in zip(bars, gains, strict=True):
                axis.annotate(
                    _ratio(gain),
                    (gain, bar.get_y() + bar.get_height() / 2),
                    (2 if gain > 1 else -2, 0),
                    textcoords="offset points",
                    ha="left" if gain > 1 else "right",
                    va="center_baseline",
                    fontsize=6.5,
                    color=INK,
                )
        axis.axvline(1, color=INK, linewidth=1.5)
        axis.set_yticks(
            range(len(timings)), [f"{TITLES[name]}   {FUNCTIONS[function][0]}" for name, function in timings]
        )
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}×")
        axis.margins(x=0.12, y=0.01)
        label(axis, title, x="speed / speed of Pinocchio", grid="x")
    axes[0, 0].invert_yaxis()
    heading(
        figure, axes[0, 1], "Speed of gdalembert's Newton–Euler in multiples of Pinocchio's, both called from Python"
    )
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "robots", nargs="*", type=known, metavar="ROBOT", default=ROBOTS, help=f"any of {', '.join(NAMES)}"
    )
    parser.add_argument("--rounds", type=int, default=51, metavar="N", help="of single calls; a fifth for batches")
    arguments = parser.parse_args()
    single, batch = measure(arguments.robots, arguments.rounds)
    text = report(single, batch)
    print(text)
    if arguments.robots == ROBOTS:
        write("speed", text, lambda: draw(single, batch))


if __name__ == "__main__":
    main()

"""The speed of batches: several states at once, one state after the other, and Pinocchio's batches.

    python -m benchmarks.speed.batch                  PUMA 560, Panda arm and Talos
    python -m benchmarks.speed.batch ur5 --rounds 9   any robot that is counted
    python -m benchmarks.speed.batch --kinematics     the section of the end effector alone
    python -m benchmarks.speed.batch --choices        the section of few states, layouts, types and parts alone

Everything is measured in one process and one thread, by the time that the thread has had a processor, in rounds that
take turns. The table has medians over the rounds; ratios are those of the same round. It goes to standard output and,
for the default robots, to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import NAMES, TITLES, known, load
from benchmarks.common.tables import RESULTS, markdown, with_section
from benchmarks.speed.speed import FUNCTIONS, Array, Call, Timing, machine, paired, states

ROBOTS = ("puma560_benchmark", "panda7", "talos")
STATES = {"talos": 1000}
"""The states in a batch, where they are not 10,000."""
PARALLEL = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
"""Pinocchio's functions of many states."""
AT_ONCE, IN_TURN, PINOCCHIO = "several at once", "one after the other", "Pinocchio"
FEW = 16
"""States of a small batch, whose time is that of the call."""
ONE_BATCH, SINGLE_CALLS = f"a batch of {FEW}", f"{FEW} single calls"

ROUNDING = 4e-15


def calls(model: pin.Model, name: str, n: int) -> tuple[dict[str, Call], int]:
    """The ways to evaluate n states, which agree; and how many states are evaluated at once."""
    given = states(model, n)
    inputs = [given[letter] for letter in FUNCTIONS[name][2]]
    found, outputs, width = _compiled(model, getattr(gd.NewtonEuler(model), name), inputs)
    if name in PARALLEL and hasattr(pin, PARALLEL[name]):  # in wheels with OpenMP
        columns = [np.asfortranarray(x.T) for x in inputs]
        result = np.empty((model.nv, n), order="F")
        found[PINOCCHIO] = partial(getattr(pin, PARALLEL[name]), 1, pin.ModelPool(model, 1), *columns, result)
        found[PINOCCHIO]()
        _compare(model, name, outputs, result.T, 1e-9)  # of the cleaned model
    return found, width


def _compiled(
    model: pin.Model, function: ca.Function, inputs: Sequence[Array]
) -> tuple[dict[str, Call], Array | tuple[Array, ...], int]:
    """Ours, several at once and one after the other, which agree; their outputs; how many are evaluated at once."""
    compiled = {AT_ONCE: gd.compile(function), IN_TURN: gd.compile(function, flags="-O3 -march=native -DWIDTH=1")}
    outputs = {way: f.batch(*inputs) for way, f in compiled.items()}
    _compare(model, function.name(), outputs[AT_ONCE], outputs[IN_TURN], ROUNDING)
    found: dict[str, Call] = {way: partial(f.batch, *inputs, out=outputs[way]) for way, f in compiled.items()}
    return found, outputs[AT_ONCE], compiled[AT_ONCE].width


def _compare(model: pin.Model, name: str, ours: object, reference: object, tolerance: float) -> None:
    several = isinstance(ours, tuple)
    for own, other in zip(ours if several else (ours,), reference if several else (reference,), strict=True):
        if np.abs(own - other).max() > tolerance * max(1.0, np.abs(other).max()):
            raise SystemExit(f"{model.name}: {name}: the batches do not agree")


KINEMATICS = {"frame_placement": "placement", "frame_jacobian": "Jacobian"}
"""What is evaluated of the end effector, with its name in the table."""
AXES = pin.LOCAL_WORLD_ALIGNED


def kinematics(model: pin.Model, name: str, n: int) -> dict[str, Call]:
    """The ways to evaluate the last frame of a model in n states, and a loop of Pinocchio, which agree."""
    frame, kin, data = model.nframes - 1, gd.Kinematics(model), model.createData()
    label = model.frames[frame].name
    function = kin.frame_placement(label) if name == "frame_placement" else kin.frame_jacobian(label, AXES)
    q = states(model, n)["q"]
    found, outputs, _ = _compiled(model, function, [q])
    reference = np.empty_like(outputs)

    def placements() -> None:
        for state, out in zip(q, reference, strict=True):
            pin.forwardKinematics(model, data, state)
            out[...] = pin.updateFramePlacement(model, data, frame).homogeneous

    def jacobians() -> None:
        for state, out in zip(q, reference, strict=True):
            out[...] = pin.computeFrameJacobian(model, data, state, frame, AXES)

    found[PINOCCHIO] = placements if name == "frame_placement" else jacobians
    found[PINOCCHIO]()
    _compare(model, name, outputs, reference, 1e-9)
    return found


def few(model: pin.Model, name: str) -> dict[str, Call]:
    """One batch of few states, and as many single calls."""
    function, given = gd.compile(getattr(gd.NewtonEuler(model), name)), states(model, FEW)
    inputs = [given[letter] for letter in FUNCTIONS[name][2]]
    outputs = function.batch(*inputs)
    singles = list(zip(zip(*inputs, strict=True), _rows(outputs), strict=True))

    def in_turn() -> None:
        for state, out in singles:
            function(*state, out=out)

    return {ONE_BATCH: partial(function.batch, *inputs, out=outputs), SINGLE_CALLS: in_turn}


def _rows(outputs: object) -> list[object]:
    """The outputs of each state, in arrays of their own."""
    several = isinstance(outputs, tuple)
    rows = [tuple(np.array(y) for y in row) for row in zip(*(outputs if several else (outputs,)), strict=True)]
    return [row if several else row[0] for row in rows]


ROWS, COLUMNS, SHORT, SHORT_COLUMNS, PART = "(N, n)", "(n, N)", "float32", "float32, (n, N)", "in part"
PARTS = {"mass_matrix": "upper", "inverse_dynamics_derivatives": "nonzeros"}
"""What is written in part, by name of the Function."""
FEWER, MANY = 200, 10_000
"""States whose arrays mostly fit into the caches of a core, and states whose arrays do not."""
SHORT_ROUNDING = 1e-5


def choices(model: pin.Model, name: str, n: int) -> dict[str, Call]:
    """Batches of n states by layout, type and part of the matrices, which agree."""
    function, given = getattr(gd.NewtonEuler(model), name), states(model, n)
    rows = [given[letter] for letter in FUNCTIONS[name][2]]
    full = gd.compile(function)
    expected = full.batch(*rows)
    found: dict[str, Call] = {ROWS: partial(full.batch, *rows, out=expected)}
    for way, dtype, axis in ((COLUMNS, "float64", -1), (SHORT, "float32", 0), (SHORT_COLUMNS, "float32", -1)):
        f = gd.compile(function, dtype=dtype)
        inputs = [np.ascontiguousarray(np.moveaxis(x, 0, axis), dtype) for x in rows]
        outputs = f.batch(*inputs, axis=axis)
        found[way] = partial(f.batch, *inputs, axis=axis, out=outputs)
        turned = [np.moveaxis(y, axis, 0) for y in _outputs(outputs)]
        _compare(model, name, tuple(turned), _outputs(expected), ROUNDING if dtype == "float64" else SHORT_ROUNDING)
    if name in PARTS:
        f = gd.compile(function, output=PARTS[name])
        outputs = f.batch(*rows)
        found[PART] = partial(f.batch, *rows, out=outputs)
        whole = [places.full(y) for places, y in zip(f.places.values(), _outputs(outputs), strict=True)]
        _compare(model, name, tuple(whole), _outputs(expected), ROUNDING)
    return found


def _outputs(outputs: np.ndarray | tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)


Row = tuple[str, str, int, dict[str, Timing]]
"""Robot, Function, number of states, and the timings by way, relative to one state after the other."""


def measure(names: Sequence[str], rounds: int, n: int | None = None) -> tuple[list[Row], int]:
    """Timings of batches, and how many states are evaluated at once."""
    rows: list[Row] = []
    width = 1
    for name in names:
        model = load(name)
        count = n or STATES.get(name, 10_000)
        for function in FUNCTIONS:
            ways, width = calls(model, function, count)
            rows.append((name, function, count, paired(ways, IN_TURN, rounds)))
    return rows, width


def table(rows: Sequence[Row]) -> list[str]:
    """Nanoseconds for a state, and the ratios."""
    cells = []
    for name, function, n, timings in rows:
        nanoseconds = {way: f"{1e9 * timing.seconds / n:,.0f}" for way, timing in timings.items()}
        gain, pinocchio = timings[AT_ONCE].gain, timings.get(PINOCCHIO)
        ratio = None if pinocchio is None else f"{gain / pinocchio.gain:.1f}×"
        cells.append(
            (
                *(TITLES[name], FUNCTIONS[function][0], f"{n:,}", nanoseconds[AT_ONCE], nanoseconds[IN_TURN]),
                *(f"{gain:.2f}×", nanoseconds.get(PINOCCHIO), ratio),
            )
        )
    head = ("", "", "states", f"{AT_ONCE} [ns]", f"{IN_TURN} [ns]", "ratio", f"{PINOCCHIO} [ns]", "ratio to Pinocchio")
    return markdown(head, cells)


def kinematics_table(names: Sequence[str], rounds: int, n: int | None = None) -> list[str]:
    """Nanoseconds for a state of the placement and of the Jacobian of the end effector."""
    cells = []
    for name in names:
        model, count = load(name), n or STATES.get(name, 10_000)
        for function, title in KINEMATICS.items():
            timings = paired(kinematics(model, function, count), IN_TURN, rounds)
            times = (f"{1e9 * timings[way].seconds / count:,.0f}" for way in (AT_ONCE, IN_TURN, PINOCCHIO))
            own = timings[AT_ONCE].gain
            at_once, in_turn, pinocchio = times
            gains = (f"{own:.2f}×", pinocchio, f"{own / timings[PINOCCHIO].gain:.0f}×")
            cells.append((f"{TITLES[name]}, `{model.frames[-1].name}`", title, f"{count:,}", at_once, in_turn, *gains))
    head = ("", "", "states", f"{AT_ONCE} [ns]", f"{IN_TURN} [ns]", "ratio", "loop of Pinocchio [ns]", "ratio to it")
    return markdown(head, cells)


def few_table(names: Sequence[str], rounds: int) -> list[str]:
    """Microseconds of a small batch and of as many single calls."""
    cells = []
    for name in names:
        model = load(name)
        for function in FUNCTIONS:
            timings = paired(few(model, function), SINGLE_CALLS, rounds)
            times = (f"{1e6 * timings[way].seconds:.1f}" for way in (ONE_BATCH, SINGLE_CALLS))
            cells.append((TITLES[name], FUNCTIONS[function][0], *times, f"{timings[ONE_BATCH].gain:.1f}×"))
    return markdown(("", "", f"{ONE_BATCH} [µs]", f"{SINGLE_CALLS} [µs]", "ratio"), cells)


def choices_table(names: Sequence[str], rounds: int, counts: Sequence[int] = (FEWER, MANY)) -> list[str]:
    """Nanoseconds for a state in rows of float64, and how many times as fast the other choices are."""
    cells = []
    for name in names:
        model = load(name)
        for function in FUNCTIONS:
            if name in STATES and function == "inverse_dynamics_derivatives":
                continue  # which takes the compiler minutes for each type
            for n in counts:
                count = min(n, STATES.get(name, n))
                timings = paired(choices(model, function, count), ROWS, rounds)
                others = (COLUMNS, SHORT, SHORT_COLUMNS, PART)
                gains = [f"{timings[way].gain:.2f}×" if way in timings else None for way in others]
                nanoseconds = f"{1e9 * timings[ROWS].seconds / count:,.0f}"
                cells.append((TITLES[name], FUNCTIONS[function][0], f"{count:,}", nanoseconds, *gains))
    return markdown(("", "", "states", f"{ROWS} [ns]", COLUMNS, SHORT, SHORT_COLUMNS, PART), cells)


NOTES = """\
# Speed of batches

Nanoseconds for a state of `gd.compile(…).batch(…, out=…)`, for Newton–Euler with default options, in one thread: with
{width} states at once, as on this machine by default, and *one after the other*
(`flags="-O3 -march=native -DWIDTH=1"`). *Pinocchio* is `pin.rneaInParallel` or `pin.abaInParallel` with one thread. The
times are those that the thread has had a processor, and medians of rounds that take turns in one process; a ratio is
the median of the ratios in a round, that to Pinocchio the quotient of two such medians. All ways were compared before:
ours agree to 4e-15.

{machine}

{table}
"""

OF_END = """\
## Kinematics of the end effector

{machine}

The placement of the last frame of the model, and its Jacobian in `LOCAL_WORLD_ALIGNED`, as above. Pinocchio has no
batches of them: its loop is one in Python, with `forwardKinematics` and `updateFramePlacement`, or
`computeFrameJacobian`.

{table}

On a GPU: [bard](https://github.com/YueWang996/bard-pytorch-dynamics), which is not on PyPI, publishes up to 64 times
the throughput of Pinocchio for forward kinematics, and up to 63 times for Jacobians, for batches of 4,096 on an NVIDIA
H200 ([Wang et al. 2026](https://arxiv.org/abs/2605.31481)). That was not measured here.
"""

CHOICES = """\
## Few states, and what is written

{machine}
The registers of this processor have {bits} bits: {width} states of float64 at once.

Microseconds, from Python, with `out=`: a small batch is one call of C, as a single state is.

{few}

Nanoseconds for a state in rows of float64, and how many times as fast batches are along the last axis (`axis=-1`), of
`dtype="float32"`, of both, and of the upper triangle of M, or the nonzeros of the derivatives, alone. All agree with
the first to 4e-15, or to 1e-5 of the largest entry in float32. Arrays of {fewer} states fit into the caches of a core,
but for M of Talos; with more, memory takes a part of the time, most of it along the last axis, where each entry of a
matrix is on another page.

{choices}
"""


def report(rows: Sequence[Row], width: int) -> str:
    """The page but for the section of choices."""
    return NOTES.format(width=width, machine=machine(), table="\n".join(table(rows)))


def kinematics_section(names: Sequence[str], rounds: int) -> str:
    """The section of the end effector."""
    return OF_END.format(machine=machine(), table="\n".join(kinematics_table(names, rounds)))


def choices_section(width: int, few_rows: Sequence[str], choice_rows: Sequence[str]) -> str:
    """The section of choices, which may be measured on another machine than the rest of the page."""
    tables = {"few": "\n".join(few_rows), "choices": "\n".join(choice_rows)}
    return CHOICES.format(machine=machine(), bits=64 * width, width=width, fewer=FEWER, **tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "robots", nargs="*", type=known, metavar="ROBOT", default=ROBOTS, help=f"any of {', '.join(NAMES)}"
    )
    parser.add_argument("--rounds", type=int, default=31, metavar="N")
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument("--kinematics", action="store_true", help="measure the section of the end effector alone")
    alone.add_argument("--choices", action="store_true", help="measure the section of choices alone")
    arguments = parser.parse_args()
    names, rounds = arguments.robots, arguments.rounds
    page = RESULTS / "batch.md"
    sections = [] if arguments.choices else [kinematics_section(names, rounds)]
    if not arguments.kinematics:
        width = gd.compile(gd.NewtonEuler(load(names[0])).inverse_dynamics).width
        sections.append(choices_section(width, few_table(names, rounds), choices_table(names, rounds)))
    alone = arguments.choices or arguments.kinematics
    text = page.read_text(encoding="utf-8") if alone else report(*measure(names, rounds))
    for section in sections:
        text = with_section(text, section)
    print("\n".join(sections) if alone else text)
    if arguments.robots == ROBOTS:
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

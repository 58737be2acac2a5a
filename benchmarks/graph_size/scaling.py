"""The growth of the graphs with the number of joints: chains and random trees of n = 2 … 60 with skew axes.

    python -m benchmarks.graph_size.scaling
    python -m benchmarks.graph_size.scaling --redraw    the figure alone, from the results

No constant is zero. The tables have the counts of each Function and the exponent p of the power n^p that fits the upper
half of the lengths best, where the first links no longer matter. They go to standard output and with a figure to
``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import itertools
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import chain, random_tree
from benchmarks.common.tables import BLUE, GREEN, ORANGE, RESULTS, heading, label, markdown, panels, save, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTHS = (2, 4, 8, 15, 30, 60)
SEEDS = (0, 1, 2)
"""The seeds of the trees."""

SHAPES: dict[str, Callable[[int], list[pin.Model]]] = {
    "chain": lambda n: [chain(n)],
    "random trees": lambda n: [random_tree(n, seed) for seed in SEEDS],
}
"""The models of n joints over which the median is taken."""

FUNCTIONS = {
    "inverse_dynamics": "τ",
    "mass_matrix": "M",
    "coriolis_matrix": "C",
    "forward_dynamics": "a",
    "inverse_dynamics_derivatives": "∂τ/∂(q, v)",
    "forward_dynamics_derivatives": "∂a/∂(q, v), M⁻¹",
}
DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
"""Counted for Newton–Euler alone: the other two formulations derive them in the same way from a larger tau."""

FORMULATIONS = {
    "Newton–Euler": (gd.NewtonEuler, BLUE),
    "Lagrange–Euler": (gd.LagrangeEuler, ORANGE),
    "generalized d'Alembert": (gd.GeneralizedDAlembert, GREEN),
}

Counts = dict[tuple[str, str, str], dict[int, int]]
"""Instructions by n, for each shape, Function and formulation."""


def measure(lengths: Sequence[int] = LENGTHS) -> Counts:
    """All graphs for all lengths."""
    counts: Counts = {}
    for shape, models in SHAPES.items():
        for n in lengths:
            for formulation, (cls, _) in FORMULATIONS.items():
                dynamics = [cls(model) for model in models(n)]
                for function in FUNCTIONS:
                    if cls is gd.NewtonEuler or function not in DERIVATIVES:
                        sizes = [getattr(dyn, function).n_instructions() for dyn in dynamics]
                        counts.setdefault((shape, function, formulation), {})[n] = statistics.median(sizes)
    return counts


def upper_half(lengths: Iterable[int]) -> list[int]:
    """The lengths to which the power is fitted."""
    ordered = sorted(lengths)
    return ordered[len(ordered) // 2 :]


def exponent(counts: Mapping[int, int]) -> float:
    """The exponent p of n^p, fitted to the upper half of the lengths by least squares of the logarithms."""
    upper = upper_half(counts)
    slope, _ = np.polyfit(np.log(upper), np.log([counts[n] for n in upper]), 1)
    return float(slope)


NOTES = """\
# Growth with the number of joints

![instructions over the number of joints](scaling.png)

Instructions of each SX Function for n revolute joints with skew axes and full inertias. In a random tree the parent of
each joint is drawn from all earlier joints; the counts are the medians of {trees} trees. The last column is the
exponent p of n^p, fitted to n = {upper}.
"""


def table(counts: Counts) -> str:
    """One section for each Function, one row for each shape and formulation."""
    lengths = list(next(iter(counts.values())))
    lines = [NOTES.format(trees=len(SEEDS), upper=", ".join(map(str, upper_half(lengths)))).rstrip()]
    for function, symbol in FUNCTIONS.items():
        rows = [
            (f"{formulation}, {shape}", *row.values(), f"{exponent(row):.2f}")
            for (shape, f, formulation), row in counts.items()
            if f == function
        ]
        head = ["", *(f"n = {n}" for n in lengths), "exponent"]
        lines += ["", f"## {function}: {symbol}", "", *markdown(head, rows)]
    return "\n".join(lines) + "\n"


def draw(counts: Counts) -> Figure:
    """Instructions over n, both logarithmic: a column for each Function, a row for each shape, with the exponents."""
    from gdalembert import plotting

    figure, axes = panels(len(SHAPES), len(FUNCTIONS), (8.6, 4.6), sharex=True, sharey="row")
    lengths = list(next(iter(counts.values())))
    styles = {name: {"color": colour, "linewidth": 1.3} for name, (_, colour) in FORMULATIONS.items()}
    for (i, shape), (j, function) in itertools.product(enumerate(SHAPES), enumerate(FUNCTIONS)):
        axis = axes[i, j]
        rows = {name: row for name in FORMULATIONS if (row := counts.get((shape, function, name)))}
        powers = {name: f"$n^{{{exponent(row):.2f}}}$" for name, row in rows.items()}
        plotting.scaling(rows, texts=powers, styles=styles, key=False, ax=axis)
        above = FUNCTIONS[function] if i == 0 else ""
        below = "joints n" if i == len(SHAPES) - 1 else ""
        label(axis, above, x=below, y=f"{shape}: instructions" if j == 0 else "")
    heading(
        figure,
        axes[0, 0],
        f"Instructions of the graphs over the number of joints, and how they grow from n = {upper_half(lengths)[0]} on",
    )
    return figure


def recorded() -> Counts:
    """The counts in the tables of ``results/scaling.md``."""
    text = (RESULTS / "scaling.md").read_text(encoding="utf-8")
    counts: Counts = {}
    for function, symbol in FUNCTIONS.items():
        head, _, *rows = text.split(f"\n## {function}: {symbol}\n\n")[1].split("\n\n")[0].splitlines()
        lengths = [int(n) for n in re.findall(r"n = (\d+)", head)]
        for row in rows:
            name, *sizes = row.strip("| ").split(" | ")
            formulation, shape = name.split(", ")
            counts[shape, function, formulation] = dict(zip(lengths, map(int, sizes[:-1]), strict=True))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--redraw", action="store_true", help="count nothing: draw the recorded results again")
    if parser.parse_args().redraw:
        save(draw(recorded()), RESULTS / "scaling.png")
        return
    counts = measure()
    text = table(counts)
    print(text)
    write("scaling", text, lambda: draw(counts))


if __name__ == "__main__":
    main()

"""What the comparison of 1982 measured: operations of L-E, G-D and N-E, with different bookkeeping, for n = 1 … 12.

    python -m benchmarks.complexity.study                all lengths, about two minutes
    python -m benchmarks.complexity.study --longest 6    shorter chains only, no results are written
    python -m benchmarks.complexity.study --redraw       the figure alone, from the results

The chains have revolute joints in standard Denavit–Hartenberg form and full inertias: no constant is zero. Counts are
exact and the same on every machine. The tables go to standard output and, for all lengths, with a figure to
``benchmarks/results``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.common.tables import BLUE, GREEN, ORANGE, RESULTS, heading, label, markdown, panels, save, write
from benchmarks.complexity.fits import exact_fit, local_exponent, written
from benchmarks.complexity.versions import (
    COUNTED,
    LONGEST,
    OPERATIONS,
    PACKAGE,
    TABLE_1,
    TORQUES,
    VERSIONS,
    WAYS,
    Counts,
    measure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTES = """\
# What the comparison of 1982 measured

![operations over the number of joints](complexity.png)

The tables count multiplications and additions of SX Functions for chains of n revolute joints in standard
Denavit–Hartenberg form, with full inertias and gravity and no zero constants. Every row computes τ. **Literal**: every
sum of G-D and every product of 4 × 4 matrices of L-E is evaluated wherever the equations print it. **Cached**: each
vector and matrix is stored once. **Suffix sums**, **composite bodies** and **regrouped inertia** are this package's
Functions with `clean=0`: base axes are those of the root link, and Newton–Euler uses link frames of its own choice with
regrouped inertia. **Textbook** is Newton–Euler in the frames of the Denavit–Hartenberg table.
"""

TABLE_1_NOTES = """\
## Table 1 of RSD-TR-8-82

L-E and G-D give D, H and G; N-E gives τ alone. The leading terms of L-E are those of n⁴/6 traces, each with four full
products of 4 × 4 matrices (64 multiplications, 48 additions) and four more additions (our reading).
"""

RATIO_NOTES = """\
## L-E over G-D

Multiplications and additions together, and L-E in multiples of G-D. N-E of Table 1 is τ alone; in the rows of suffix
sums it is that of composite bodies (D, H, G, τ) and of regrouped inertia (τ).
"""

FIT_NOTES = """\
## Growth

Polynomials that match every count from the n in the next column on. At least three of the counts were not used to find
them. Where there is no such polynomial: the exponent between the last two counts.
"""


def both(counts: Mapping[int, Mapping[str, int]]) -> dict[int, int]:
    """Multiplications and additions together, by n."""
    return {n: sum(row[operation] for operation in COUNTED) for n, row in counts.items()}


def printed(formulation: str, longest: int) -> dict[int, dict[str, int]]:
    """The counts of Table 1 for n = 1 … ``longest``."""
    row = TABLE_1[formulation]
    return {n: {operation: int(row[operation].eval(n)) for operation in COUNTED} for n in range(1, longest + 1)}


def table(counts: Counts) -> str:
    """Table 1, L-E over G-D, the fitted polynomials, and all counts."""
    longest = max(max(row) for row in counts.values())
    lines = [NOTES, TABLE_1_NOTES]
    polynomials = [(name, *(written(row[operation]) for operation in COUNTED)) for name, row in TABLE_1.items()]
    lines += [*markdown(["", *COUNTED], polynomials), "", RATIO_NOTES]
    for n in sorted({min(6, longest), longest}):
        lines += [*markdown([f"n = {n}", "L-E", "G-D", "L-E / G-D", "N-E"], ratios(counts, n)), ""]
    lines += [FIT_NOTES, *growth(counts)]
    for operation in OPERATIONS:
        head = ["", *(f"n = {n}" for n in range(1, longest + 1))]
        lines += ["", f"## {operation.capitalize()}", "", *markdown(head, count_rows(counts, operation, longest))]
    return "\n".join(lines) + "\n"


def ratios(counts: Counts, n: int) -> list[tuple[object, ...]]:
    """One row for each version that both L-E and G-D have."""

    def row(name: str, found: dict[str, int]) -> tuple[object, ...]:
        ratio = f"{found['L-E'] / found['G-D']:.2f}" if "L-E" in found else None
        return name, found.get("L-E"), found["G-D"], ratio, found.get("N-E")

    rows = [row("Table 1", {name: both(printed(name, n))[n] for name in TABLE_1})]
    ways: dict[str, dict[str, int]] = {}
    for version in counts:
        way = "suffix sums" if version.way in PACKAGE else version.way
        found = ways.setdefault(f"{way}, {WAYS[version.once]}: {version.outputs}", {})
        if n in counts[version]:
            found[version.formulation] = both(counts[version])[n]
    return rows + [row(way, found) for way, found in ways.items() if "G-D" in found]


def growth(counts: Counts) -> list[str]:
    """The fitted polynomials."""
    rows = []
    for version in counts:
        cells: list[str] = []
        for operation in COUNTED:
            row = {n: found[operation] for n, found in counts[version].items()}
            fit = exact_fit(row)
            if fit:
                cells += [written(fit.polynomial), f"{fit.start}"]
            else:
                cells += [f"~ n^{local_exponent(row):.2f}" if len(row) > 1 else "–", "–"]
        rows.append((version.name, *cells))
    return markdown(["", "multiplications", "from n", "additions", "from n"], rows)


def count_rows(counts: Counts, operation: str, longest: int) -> list[tuple[object, ...]]:
    """A row for each version, after those of Table 1 where it has them."""
    lengths = range(1, longest + 1)
    of_1982 = [
        (f"{name} Table 1", *(row[operation] for row in printed(name, longest).values()))
        for name in TABLE_1
        if operation in COUNTED
    ]
    return of_1982 + [(x.name, *(row.get(n, {}).get(operation) for n in lengths)) for x, row in counts.items()]


COLOURS = {"L-E": ORANGE, "G-D": GREEN, "N-E": BLUE}
NAMES = {"L-E": "Lagrange–Euler", "G-D": "generalized d'Alembert", "N-E": "Newton–Euler"}


class Line(NamedTuple):
    """A line of the figure and the text at its end."""

    formulation: str
    text: str
    counts: dict[int, int]
    style: str = "-"


def order(counts: dict[int, int]) -> str:
    """n to the degree of the exact polynomial, or to the local exponent where there is none."""
    fit = exact_fit(counts)
    if fit is None:
        return f"$n^{{{local_exponent(counts):.1f}}}$"
    return f"$n^{fit.polynomial.degree()}$" if fit.polynomial.degree() > 1 else "$n$"


def lines_of(counts: Counts) -> dict[str, list[Line]]:
    """The lines of each panel: Table 1, the literal and the cached versions, the package."""
    longest = max(max(row) for row in counts.values())
    found: dict[str, list[Line]] = {"Table 1 of 1982": [], "as written": [], "suffix sums": []}
    for name in TABLE_1:
        row = both(printed(name, longest))
        outputs, style = (TORQUES, ":") if name == "N-E" else ("D, H, G", "-")
        found["Table 1 of 1982"].append(Line(name, f"{outputs}  {order(row)}", row, style))
    for version in counts:
        row = both(counts[version])
        style = ":" if version.outputs == TORQUES else "--" if version.way == "cached" else "-"
        if version.way in PACKAGE:
            found["suffix sums"].append(Line(version.formulation, f"{version.outputs}  {order(row)}", row, style))
        elif not version.once:
            found["as written"].append(Line(version.formulation, f"{version.way}  {order(row)}", row, style))
    return found


def draw(counts: Counts) -> Figure:
    """Operations over n, both logarithmic, in three panels."""
    from gdalembert import plotting

    longest = max(max(row) for row in counts.values())
    figure, axes = panels(1, 3, (8.6, 4.2), sharex=True, sharey=True)
    ticks = [n for n in (1, 2, 3, 6, 12) if n <= longest]
    for axis, (title, lines) in zip(axes[0], lines_of(counts).items(), strict=True):
        named = {f"{k}": line for k, line in enumerate(lines)}
        plotting.scaling(
            {name: line.counts for name, line in named.items()},
            texts={name: line.text for name, line in named.items()},
            at_ends=True,
            styles={name: style(line) for name, line in named.items()},
            key=False,
            ax=axis,
        )
        axis.set_xticks(ticks, [f"{n}" for n in ticks])
        label(axis, title, x="joints n", y="multiplications + additions" if axis is axes[0, 0] else "")
    for name, text in NAMES.items():
        axes[0, 0].plot([], [], color=COLOURS[name], label=text)
    heading(figure, axes[0, 0], "Operations over the number of joints: what was compared in 1982, and what suffices")
    return figure


def style(line: Line) -> dict[str, Any]:
    """The style of a line, whose name stands at its end and not in the key."""
    colour = COLOURS[line.formulation]
    return {"color": colour, "linestyle": line.style, "linewidth": 1.2, "markersize": 2, "label": "_nolegend_"}


def recorded() -> Counts:
    """The counts in the tables of ``results/complexity.md``."""
    text = (RESULTS / "complexity.md").read_text(encoding="utf-8")
    counts: Counts = {version: {} for version in VERSIONS}
    versions = {version.name: version for version in VERSIONS}
    for operation in OPERATIONS:
        for line in text.split(f"## {operation.capitalize()}\n")[1].split("##")[0].splitlines():
            name, *row = line.strip("| ").split(" | ")
            if name in versions:
                for n, cell in enumerate(row, start=1):
                    if cell != "–":
                        counts[versions[name]].setdefault(n, {})[operation] = int(cell)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--longest", type=int, choices=range(1, LONGEST + 1), default=LONGEST, help=f"by default {LONGEST}"
    )
    parser.add_argument("--redraw", action="store_true", help="count nothing: draw the recorded results again")
    arguments = parser.parse_args()
    if arguments.redraw:
        save(draw(recorded()), RESULTS / "complexity.png")
        return
    longest = arguments.longest
    counts = measure(longest)
    text = table(counts)
    print(text)
    if longest == LONGEST:
        write("complexity", text, lambda: draw(counts))


if __name__ == "__main__":
    main()

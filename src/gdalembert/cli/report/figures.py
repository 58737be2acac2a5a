"""Figures of a report, drawn by matplotlib in the style of :mod:`gdalembert.plotting`: lines, points, bars."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gdalembert.cli.report.page import paragraph
from gdalembert.errors import MissingPackageError
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 3
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_TEXTS = {"svg.fonttype": "none", "text.parse_math": False}
"""Texts stay texts, for outlines of letters could not be searched; a name with dollars is no formula."""


def drawn(draw: Callable[..., Figure], *data: Any) -> str:
    """The figure as SVG; without matplotlib, a sentence that says so."""
    try:
        matplotlib = required("a figure", "matplotlib", "plot")
    except MissingPackageError as error:
        return paragraph(f"There is no figure: {error}.", "note")
    file = io.StringIO()
    with matplotlib.rc_context(_TEXTS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # letters that matplotlib's font lacks, a browser has
        draw(*data).savefig(file, format="svg", dpi=192, transparent=True, metadata=_NO_METADATA)
    svg = file.getvalue()
    # groups have the same ids in every figure, and a page has each id once
    return re.sub(r'(?<=<g) id="[^"]*"', "", svg[svg.index("<svg") :])


def _panels(columns: int, rows: int, width: float, height: float) -> tuple[Figure, Any]:
    """A figure of ``width`` × ``height`` inches, and its panels (rows, columns); pyplot would keep it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def line_panels(t: Array, panels: Mapping[str, Mapping[str, Array]]) -> Figure:
    """Lines over time [s], a panel for each title; the first line of each is black, and all have the same names."""
    from gdalembert.plotting.style import COLOURS, GREY, INK, LEGEND, label

    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = _panels(columns, rows, max(4.5, 3.5 * columns), 0.4 + 2.0 * rows)
    for spare in grid.flat[len(panels) :]:
        spare.set_visible(False)
    for k, (ax, (title, lines)) in enumerate(zip(grid.flat, panels.items(), strict=False)):
        ax.axhline(0, color=GREY, linewidth=0.8)
        for color, (name, line) in zip((INK, *COLOURS), lines.items(), strict=False):
            ax.plot(t, line, color=color, linewidth=2.0 if color == INK else 1.4, label=name)
        ax.margins(x=0)
        label(ax, "time [s]" if k + columns >= len(panels) else "", title=title)
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=len(names), **LEGEND)
    return figure


def point_views(points: Mapping[str, Array]) -> Figure:
    """Points (N × 3) [m], from the side (x, z) and from above (x, y), to one scale; the cross is the origin."""
    from gdalembert.plotting.style import COLOURS, INK, LEGEND, label

    figure, grid = _panels(2, 1, 8.2, 4.4)
    every = np.vstack([*points.values(), np.zeros((1, 3))])
    low, high = every.min(axis=0), every.max(axis=0)
    half = 0.54 * (float(np.max(high - low)) or 1.0)
    for ax, title, (i, j) in zip(grid.flat, ("from the side", "from above"), ((0, 2), (0, 1)), strict=True):
        for k, positions in enumerate(points.values()):
            style = {"color": COLOURS[k % len(COLOURS)], "markersize": 3, "markeredgewidth": 0}
            # as a picture in the SVG, of 0.2 MB: as 8,000 marks it has 0.9 MB
            ax.plot(positions[:, i], positions[:, j], ".", alpha=0.55, rasterized=True, **style)
        ax.plot(0, 0, "+", color=INK, markersize=9, markeredgewidth=1.2)
        label(ax, f"{'xyz'[i]} [m]", f"{'xyz'[j]} [m]", title)
        middle = (low + high) / 2
        ax.set(xlim=middle[i] + [-half, half], ylim=middle[j] + [-half, half], aspect="equal")
    if len(points) > 1:
        figure.legend(grid[0, 0].lines[:-1], list(points), loc="outside upper left", ncols=3, markerscale=4, **LEGEND)
    return figure


def bars(rows: Mapping[str, Mapping[str, float]], unit: str) -> Figure:
    """Groups of horizontal bars with their values, by the names of the row and of the bar."""
    from gdalembert.plotting.style import COLOURS, INK, SMALL, label

    names = [(row, name) for row, values in rows.items() for name in values]
    figure, ((ax,),) = _panels(1, 1, 10.0, 0.1 + 0.17 * len(names) + 0.1 * len(rows))
    places = {key: k + 0.6 * list(rows).index(key[0]) for k, key in enumerate(names)}
    for row, values in rows.items():
        for color, (name, value) in zip(COLOURS, values.items(), strict=False):
            bar = ax.barh(places[row, name], value, 0.75, color=color)
            ax.bar_label(bar, [f"{value:.3g} {unit}  {name}"], padding=4, fontsize=SMALL, color=INK)
    ax.set_yticks([np.mean([places[row, name] for name in values]) for row, values in rows.items()], list(rows))
    ax.invert_yaxis()
    ax.margins(x=0.35, y=0.01)
    label(ax)
    ax.grid(visible=False)
    ax.set_xticks([])
    return figure

"""Graph sizes: those of the benchmarks, how they grow with the number of joints, and simplified models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gdalembert.dynamics.simplified.dynamics import BoundCheck, SimplifiedDynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.plotting.style import BLUE, COLOURS, GREY, INK, ORANGE, SMALL, axes, expect, label, legend, line_style
from gdalembert.spatial.arguments import flag
from gdalembert.spatial.interrupts import interruptible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_GAP = 0.26
"""Distance between texts at the ends of lines, in powers of ten."""
_BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""The box behind a text, which covers the grid."""


@interruptible
def instructions(
    results: Mapping[str, Mapping[str, float | None]],
    reference: str,
    *,
    colours: Mapping[str, str] | None = None,
    key: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Sizes of graphs relative to a reference: a group of bars for each robot, a bar for each graph.

    Args:
        results: number of instructions by robot and by name of the graph, as ``count`` and ``n_instructions`` return
            it; ``None`` or left out if there is no such graph.
        reference: name of the graph that counts as 1; its instructions stand below each robot.
        colours: colours by name, in the order of the bars; by default all graphs except the reference.
        key: whether to draw the legend.
        ax: the Axes to draw on.

    Raises:
        ArgumentTypeError: if the results are not such a mapping.
        ArgumentError: if they are empty, or a robot has no reference.
    """
    _check("instructions", results)
    key = flag("instructions: key", key)
    if not isinstance(reference, str):
        raise ArgumentTypeError(f"instructions: reference is {shown(reference)}; give the name of a graph")
    for robot, row in results.items():
        if not row.get(reference):
            raise ArgumentError(f"instructions: robot {robot!r} has no count for {reference!r}; give one above 0")
    colours = _by_name("instructions: colours", colours, object)
    if not colours:
        others = dict.fromkeys(name for row in results.values() for name in row if name != reference)
        colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(others)}
    ax = axes("instructions", ax, (8.6, 2.8))
    step = 0.84 / max(len(colours), 1)
    for k, (name, colour) in enumerate(colours.items()):
        ratios = [(row.get(name) or 0) / (row[reference] or 1) for row in results.values()]
        places = [i + (k - (len(colours) - 1) / 2) * step for i in range(len(ratios))]
        heights = [ratio - 1 if ratio else 0 for ratio in ratios]
        ax.bar(places, heights, step * 0.94, bottom=1, color=colour, label=name)
        for x, ratio in zip(places, ratios, strict=True):
            text = f"{ratio:.1f}" if ratio else "–"
            ax.text(x, max(ratio, 1) * 1.04, text, ha="center", fontsize=SMALL - 1, color=INK)
    ax.axhline(1, color=INK, linewidth=1.5)
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter("{x:g}×")
    label(ax, "", f"instructions / {reference}")
    ax.grid(visible=False, axis="x")
    ax.set_xticks(range(len(results)), [f"{robot}\n{row[reference]:,}" for robot, row in results.items()])
    ax.margins(x=0.01, y=0.1)
    if key:
        legend(ax)
    return ax


@interruptible
def scaling(
    results: Mapping[str, Mapping[float, float]],
    *,
    texts: Mapping[str, str] | None = None,
    at_ends: bool = False,
    styles: Mapping[str, Mapping[str, Any]] | None = None,
    x: str = "joints n",
    y: str = "instructions",
    key: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Growth of sizes with the number of joints, both logarithmic: a line for each algorithm.

    Args:
        results: counts by n, by name of the algorithm.
        texts: labels of the lines by name, as ``"$n^2$"``.
        at_ends: whether the labels stand at the ends of the lines, moved apart if they are close; else they stand in
            the upper left corner.
        styles: properties of matplotlib lines by name: colour, line style and others.
        x, y: names of the axes.
        key: whether to draw the legend.
        ax: the Axes to draw on.

    Raises:
        ArgumentTypeError: if the results are not such a mapping.
        ArgumentError: if they are empty.
    """
    _check("scaling", results)
    at_ends, key = flag("scaling: at_ends", at_ends), flag("scaling: key", key)
    texts, styles = _by_name("scaling: texts", texts, object), _by_name("scaling: styles", styles, Mapping)
    ax = axes("scaling", ax)
    drawn = {}
    for k, (name, row) in enumerate(results.items()):
        style = {**line_style(k), "marker": "o", "markersize": 2.5, "label": name, **styles.get(name, {})}
        (drawn[name],) = ax.plot(list(row), list(row.values()), **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = sorted({n for row in results.values() for n in row})
    ax.set_xticks(sizes, [f"{n:g}" for n in sizes])
    ax.minorticks_off()
    label(ax, x, y)
    _write_texts(ax, results, drawn, {name: text for name, text in texts.items() if name in drawn}, at_ends)
    if key:
        legend(ax)
    return ax


def _write_texts(
    ax: Axes,
    results: Mapping[str, Mapping[float, float]],
    drawn: Mapping[str, Any],
    texts: Mapping[str, Any],
    at_ends: bool,
) -> None:
    """The labels of lines, at their ends or in the upper left corner."""
    sizes = sorted({n for row in results.values() for n in row})
    if at_ends and texts:
        lasts = {name: max(results[name]) for name in texts}
        names = sorted(texts, key=lambda name: results[name][lasts[name]])
        ends = np.array([np.log10(results[name][lasts[name]]) for name in names])
        steps = _GAP * np.arange(len(names))
        apart = np.maximum.accumulate(ends - steps) + steps  # moved apart where they are close
        apart += np.mean(ends - apart)
        for name, height in zip(names, apart, strict=True):
            look: dict[str, Any] = {"fontsize": SMALL - 0.5, "color": drawn[name].get_color(), "bbox": _BEHIND}
            ax.text(1.15 * lasts[name], 10**height, texts[name], va="center", **look)
        ax.set_xlim(0.9 * sizes[0], 4.5 * sizes[-1])
    else:
        for k, (name, text) in enumerate(texts.items()):
            look = {"fontsize": SMALL + 1, "color": drawn[name].get_color(), "transform": ax.transAxes}
            ax.text(0.05, 0.98 - 0.1 * k, text, va="top", **look)


def _by_name(argument: str, entries: Any, kind: type) -> Mapping[str, Any]:
    """The entries by name, each of a kind; none if nothing is given."""
    if entries is None:
        return {}
    if not isinstance(entries, Mapping) or not all(isinstance(x, kind) for x in entries.values()):
        raise ArgumentTypeError(f"{argument}: got {shown(entries)}; give what belongs to each name, {{name: …}}")
    return entries


def _check(function: str, results: object) -> None:
    if not isinstance(results, Mapping) or not all(isinstance(row, Mapping) for row in results.values()):
        raise ArgumentTypeError(
            f"{function}: expected counts as {{name: {{name or n: count}}}}, got {type(results).__name__}"
        )
    if not results or not all(results.values()):
        raise ArgumentError(f"{function}: got no counts; give at least one")


@interruptible
def pruning_error(
    simplified: SimplifiedDynamics | BoundCheck,
    *,
    samples: int = 10_000,
    seed: int = 0,
    corners: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """The guaranteed bound of each joint's torque error, and the largest and RMS errors of samples, in % of the limit.

    Args:
        simplified: a :class:`~gdalembert.PrunedDynamics` or another simplified model, or the result of its
            ``check``.
        samples, seed, corners: arguments of ``check``, for a model.
        ax: the Axes to draw on.

    Raises:
        ArgumentTypeError: if ``simplified`` is neither.
        ArgumentError: if there are no samples.
    """
    if isinstance(simplified, SimplifiedDynamics):
        simplified = simplified.check(samples, seed, corners=corners)
    expect("pruning_error", simplified, BoundCheck, "a PrunedDynamics or the result of its check")
    ax = axes("pruning_error", ax)
    places = np.arange(len(simplified.names))
    percent = 100 / simplified.tau_max
    bound = ax.bar(places, percent * simplified.bound, width=0.7, color=BLUE, alpha=0.25, label="bound, guaranteed")
    ax.hlines(percent * simplified.bound, places - 0.35, places + 0.35, color=BLUE, linewidth=1.6)
    seen = f"largest of {simplified.samples:,} states"
    largest = ax.bar(places, percent * simplified.observed, width=0.35, color=BLUE, label=seen)
    style: dict[str, Any] = {"color": ORANGE, "markeredgecolor": INK, "markersize": 5, "clip_on": False, "zorder": 3}
    (rms,) = ax.plot(places, percent * simplified.rms, "D", label="RMS error", **style)
    ax.set_xticks(places, simplified.names, parse_math=False)
    label(ax, "", "torque error [% of the limit]")
    ax.grid(visible=False, axis="x")
    if not simplified.bound.any():
        ax.text(0.5, 0.5, "no term is dropped", color=GREY, ha="center", transform=ax.transAxes)
    legend(ax, [bound, largest, rms])
    return ax

"""Helpers of all benchmarks: Markdown tables, figures drawn without a display, and the folder of the results."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common.robots import HERE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = HERE / "results"

BLUE, SKY, ORANGE, PURPLE, GREEN = "#0072B2", "#56B4E9", "#E69F00", "#CC79A7", "#009E73"
"""Colours that colour-blind readers can distinguish (Okabe and Ito)."""

INK, GREY, LIGHT = "#222222", "#8A8A8A", "#E4E4E4"


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table; ``None`` becomes a dash."""
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    return lines + [f"| {' | '.join('–' if x is None else str(x) for x in row)} |" for row in rows]


def write(name: str, text: str, draw: Callable[[], Figure]) -> None:
    """Write ``results/name.md`` and, where matplotlib is installed, ``results/name.png``."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    try:
        save(draw(), RESULTS / f"{name}.png")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "matplotlib":
            raise
        sys.exit(f"{name}.md is written, {name}.png is not: pip install '.[plot]' for matplotlib")


def with_section(page: str, section: str) -> str:
    """A page in which a section, which begins with its heading, takes the place of the one of that heading."""
    heading, *_ = section.splitlines()
    parts = [part.strip() for part in re.split(r"^(?=## )", page, flags=re.MULTILINE)]
    kept = [part for part in parts if part.splitlines()[0] != heading]
    return "\n\n".join([*kept, section.strip()]) + "\n"


def save(figure: Figure, path: Path) -> None:
    """Write a PNG with 64 colours, a third of the size of one with all colours."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=180)
    Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def panels(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> tuple[Figure, Any]:
    """A figure of ``size`` inches and its axes (rows, columns)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **shared)
    for axis in axes.flat:
        axis.tick_params(which="both", length=0, labelsize=8, labelcolor=INK)
        axis.spines[:].set_visible(False)
        axis.set_axisbelow(True)
    return figure, axes


def label(axis: Any, title: str = "", x: str = "", y: str = "", grid: str = "both") -> None:
    """Set the title above the left corner, the names of the axes, and thin lines at the ticks."""
    axis.set_title(title, loc="left", fontsize=9.5, fontweight="bold", color=INK)
    axis.set_xlabel(x, fontsize=8, color=INK)
    axis.set_ylabel(y, fontsize=8, color=INK)
    axis.grid(axis=grid, color=LIGHT, linewidth=0.6)


def heading(figure: Figure, axis: Any, text: str) -> None:
    """Write what the figure shows, and the key of an axis, above the figure."""
    handles = axis.get_legend_handles_labels()
    key = figure.legend(
        *handles, title=text, alignment="left", loc="outside upper left", ncols=4, frameon=False, labelcolor=INK
    )
    key.get_title().set_color(INK)

"""Shared style of the figures: colours, new Axes, labels, and legends next to the data."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from gdalembert.errors import ArgumentTypeError, MissingPackageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


if find_spec("matplotlib") is None:
    raise MissingPackageError("gdalembert.plotting", "matplotlib")

BLUE, ORANGE, GREEN, PURPLE, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
INK, GREY, LIGHT = "#222222", "#8A8A8A", "#E4E4E4"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, GREY)
"""The palette of Okabe and Ito, which colour-blind readers can distinguish, and a grey."""

_DASHES = ("-", "--", ":", "-.")
SMALL = 8
"""Size of texts [pt]."""


def line_style(k: int) -> dict[str, Any]:
    """The style of the k-th line: all colours in turn, then again with other dashes."""
    turn, colour = divmod(k, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": _DASHES[turn % len(_DASHES)], "linewidth": 1.4}


def axes(where: str, ax: Any, size: tuple[float, float] = (6.4, 3.2), projection: str | None = None) -> Axes:
    """The given Axes, or that of a new figure of ``size`` inches.

    Raises:
        ArgumentTypeError: if ``ax`` is something else.
    """
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if ax is None:
        figure = pyplot.figure(figsize=size, layout="constrained")
        return figure.add_subplot(projection=projection)
    if not isinstance(ax, Axes):
        raise ArgumentTypeError(f"{where}: ax: expected a matplotlib Axes, got {type(ax).__name__}")
    return ax


class Panels(np.ndarray[Any, Any]):
    """An array of the Axes of one figure, which it saves."""

    @property
    def figure(self) -> Any:
        """The figure of all Axes."""
        return self.flat[0].figure

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """As ``Figure.savefig``."""
        self.figure.savefig(*arguments, **options)


def panels(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> Any:
    """The Axes (rows, columns) of a new figure of ``size`` inches."""
    from matplotlib import pyplot

    grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **shared)[1]
    return grid.view(Panels)


def label(ax: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Names of the axes, a title above the left corner, thin lines at the ticks, no box."""
    ax.set_xlabel(x, fontsize=SMALL + 1, color=INK)
    ax.set_ylabel(y, fontsize=SMALL + 1, color=INK)
    if title:
        ax.set_title(title, loc="left", fontsize=SMALL + 1.5, fontweight="bold", color=INK)
    ax.tick_params(which="both", length=0, labelsize=SMALL, labelcolor=INK)
    ax.grid(color=LIGHT, linewidth=0.6)
    ax.set_axisbelow(True)
    if "right" in ax.spines:
        ax.spines[:].set_visible(False)


def legend(ax: Axes, handles: list[Any] | None = None) -> None:
    """A legend to the right of the Axes, where no line is; of all labelled artists, or of the handles."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, **_legend_style())


def shared_legend(ax: Axes, title: str = "") -> None:
    """One legend for all panels, from one of them, to the right of the figure."""
    key = ax.get_figure(root=True).legend(  # type: ignore[union-attr]
        *ax.get_legend_handles_labels(), title=title, loc="outside right upper", **_legend_style()
    )
    key.get_title().set_color(INK)


def _legend_style() -> dict[str, Any]:
    return {
        "frameon": False,
        "fontsize": SMALL,
        "title_fontsize": SMALL,
        "labelcolor": INK,
        "alignment": "left",
    }

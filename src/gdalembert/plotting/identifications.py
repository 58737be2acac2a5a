"""Pictures of an identification: torques that were predicted, and base parameters with their standard deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gdalembert.errors import ArgumentTypeError
from gdalembert.identification.result import Identification
from gdalembert.plotting.style import BLUE, GREY, ORANGE, axes, label, legend, panels, shared_legend
from gdalembert.spatial.arguments import choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST = 42
"""Characters of a formula beside its row."""


def identification(result: Identification, show: Literal["torques", "parameters"] = "torques") -> Any:
    """The torques of a fit beside the measured ones, or its base parameters beside the nominal ones.

    Torques are those of the samples that were held back, if there are any, else of those that were fitted, each joint
    in a panel with its residuals. Of each base parameter, the estimate, the nominal value and the standard deviation
    are drawn on a logarithmic axis: an estimate far to the right of its standard deviation is well known.

    Args:
        result: of :func:`gdalembert.identification.fit`.
        show: ``"torques"`` or ``"parameters"``.

    Returns:
        An array of Axes (nv), or the Axes of the parameters.

    Raises:
        ArgumentTypeError: if it is not the result of an identification.
        ArgumentError: if ``show`` is another word.
    """
    if not isinstance(result, Identification):
        raise ArgumentTypeError(
            f"identification: expected the result of gd.identification.fit, got {type(result).__name__}"
        )
    choice("identification: show", show, ("torques", "parameters"))
    return _torques(result) if show == "torques" else _parameters(result)


def _torques(result: Identification) -> Any:
    torques, which = (result.held_back, "held back") if result.held_back else (result.fitted, "fitted")
    count = len(result.joints)
    across = 1 if count < 4 else 2
    down = -(-count // across)
    grid = panels(down, across, (6.4 if across == 1 else 8.6, 0.6 + 1.6 * down), sharex=True)
    for spare in grid.flat[count:]:
        spare.set_visible(False)
    for k, ax in enumerate(grid.flat[:count]):
        ax.plot(torques.measured[:, k], color=GREY, linewidth=2.4, label="measured")
        ax.plot(torques.predicted[:, k], color=BLUE, linewidth=1.2, label="predicted")
        ax.plot(torques.residuals[:, k], color=ORANGE, linewidth=1.0, label="residual")
        below = f"sample, {which}" if k + across >= count else ""
        label(ax, below, "torque [N m or N]", f"{result.joints[k]}: {torques.relative[k]:.1%}")
        ax.tick_params(labelbottom=bool(below))
    shared_legend(grid[0, 0])
    return grid.ravel()[:count]


def _parameters(result: Identification) -> Axes:
    base = result.base
    ax = axes("identification", None, (8.6, 1.0 + 0.16 * len(base)))
    rows = np.arange(len(base))
    drawn = {"estimate": (base.values, BLUE, "o"), "nominal": (base.nominal, GREY, "|")}
    drawn["standard deviation"] = (base.standard_deviation, ORANGE, ".")
    for name, (values, colour, marker) in drawn.items():
        size = np.where(values == 0, np.nan, np.abs(values))  # 0 has no place on a logarithmic axis
        ax.plot(size, rows, marker, color=colour, markersize=5 if marker != "|" else 9, label=name)
    ax.set_xscale("log")
    ax.set_yticks(rows, [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 2]} …" for name in base.names])
    ax.set_ylim(len(base) - 0.5, -0.5)
    label(ax, "absolute value, SI units")
    legend(ax)
    return ax

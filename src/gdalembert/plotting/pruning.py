"""The torque error of a simplified model, and its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gdalembert.dynamics.simplified.check import BoundCheck
from gdalembert.dynamics.simplified.dynamics import SimplifiedDynamics
from gdalembert.errors import ArgumentTypeError
from gdalembert.plotting.style import BLUE, GREY, INK, ORANGE, axes, label, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    if not isinstance(simplified, BoundCheck):
        raise ArgumentTypeError(
            f"pruning_error: expected a PrunedDynamics or the result of its check, got {type(simplified).__name__}"
        )
    ax = axes("pruning_error", ax)
    places = np.arange(len(simplified.names))
    percent = 100 / simplified.tau_max
    bound = ax.bar(places, percent * simplified.bound, width=0.7, color=BLUE, alpha=0.25, label="bound, guaranteed")
    ax.hlines(percent * simplified.bound, places - 0.35, places + 0.35, color=BLUE, linewidth=1.6)
    seen = f"largest of {simplified.samples:,} states"
    largest = ax.bar(places, percent * simplified.observed, width=0.35, color=BLUE, label=seen)
    style: dict[str, Any] = {"color": ORANGE, "markeredgecolor": INK, "markersize": 5, "clip_on": False, "zorder": 3}
    (rms,) = ax.plot(places, percent * simplified.rms, "D", label="RMS error", **style)
    ax.set_xticks(places, simplified.names)
    label(ax, "", "torque error [% of the limit]")
    ax.grid(visible=False, axis="x")
    if not simplified.bound.any():
        ax.text(0.5, 0.5, "no term is dropped", color=GREY, ha="center", transform=ax.transAxes)
    legend(ax, [bound, largest, rms])
    return ax

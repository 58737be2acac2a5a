"""Parts that figures share: names and units of coordinates, trajectories, Axes, colours and legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, MissingPackageError
from gdalembert.model.configuration import check_unit_lengths
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.limits import NO_LIMIT
from gdalembert.model.tree import Tree
from gdalembert.ocp.solution import Solution
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import numbers, table
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MotionLike: TypeAlias = Simulation | Solution | Sequence[npt.ArrayLike]
"""A motion that figures take."""
BLUE, ORANGE, GREEN, PURPLE, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
INK, GREY, LIGHT = "#222222", "#8A8A8A", "#E4E4E4"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, GREY)
"""The palette of Okabe and Ito, which colour-blind readers can distinguish, and a grey."""
_DASHES = ("-", "--", ":", "-.")
SMALL = 8
"""Size of texts [pt]."""
LEGEND: dict[str, Any] = {
    "frameon": False,
    "fontsize": SMALL,
    "title_fontsize": SMALL,
    "labelcolor": INK,
    "alignment": "left",
}


class Names(NamedTuple):
    """Names of the entries of q and of v, and their units, and those of the efforts."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]
    effort_units: tuple[str, ...]


def names_of(robot: pin.Model | Tree | Dynamics) -> Names:
    """The names of the joints; modes and rotors of an arm follow them and are left out."""
    tree = robot.tree if isinstance(robot, Dynamics) else read_tree(robot)
    first_mode = robot.modes.start if isinstance(robot, Dynamics) else tree.nv
    joints = [joint for joint in tree.independent_joints if joint.idx_v < first_mode]

    sizes = [(joint.name, joint.type.nq) for joint in joints]
    in_q = tuple(name if nq == 1 else f"{name}[{k}]" for name, nq in sizes for k in range(nq))

    def units(quantity: str) -> tuple[str, ...]:
        return tuple(unit for joint in joints for unit in getattr(joint.type, f"{quantity}_units"))

    return Names(in_q, tree.velocity_names[:first_mode], units("configuration"), units("velocity"), units("effort"))


def with_units(quantity: str, units: Iterable[str]) -> str:
    """Quantity with its units, as ``"q [rad, m]"``."""
    return f"{quantity} [{', '.join(dict.fromkeys(units))}]"


def expect(argument: str, value: object, kinds: Any, wanted: str) -> None:
    """Refuse what is of another type than is wanted."""
    if not isinstance(value, kinds):
        raise ArgumentTypeError(f"{argument}: expected {wanted}, got {type(value).__name__}")


def trajectory(function: str, motion: MotionLike, parts: str, tree: Tree) -> list[Array]:
    """The checked parts ``"tq"`` or ``"tqva"`` of a motion, a row for each time; of a Solution at its stages."""
    if isinstance(motion, Simulation | Solution):
        source = motion if isinstance(motion, Simulation) else motion.stages
        arrays = [np.asarray(getattr(source, part)) for part in parts]
        arrays[0] = arrays[0].ravel()
    else:
        wanted = f"a Simulation, a Solution or ({', '.join(parts)})"
        if not isinstance(motion, Sequence) or isinstance(motion, str) or len(motion) != len(parts):
            got = f"{len(motion)} of them" if isinstance(motion, list | tuple) else type(motion).__name__
            raise ArgumentTypeError(f"{function}: expected {wanted}, got {got}")
        arrays = [numbers(f"{function}: {part}", values) for part, values in zip(parts, motion, strict=True)]
    widths = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
    if arrays[0].ndim != 1 or not len(arrays[0]):
        raise ArgumentError(f"{function}: t has shape {arrays[0].shape}; give the times (N,) [s]")
    for part, array in zip(parts[1:], arrays[1:], strict=True):
        table(f"{function}: {part} of {tree.name}", array, widths[part], len(arrays[0]))
    if not isinstance(motion, Simulation | Solution):
        check_unit_lengths(f"{function}: q", arrays[1], tree)
    return arrays


if find_spec("matplotlib") is None:
    raise MissingPackageError("gdalembert.plotting", "matplotlib", "plot")


def line_style(k: int) -> dict[str, Any]:
    """The style of the k-th line: all colours in turn, then again with other dashes."""
    turn, colour = divmod(k, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": _DASHES[turn % len(_DASHES)], "linewidth": 1.4}


def axes(function: str, ax: Axes | None, size: tuple[float, float] = (6.4, 3.2), projection: str | None = None) -> Axes:
    """The given Axes, or that of a new figure of ``size`` inches."""
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if ax is None:
        figure = pyplot.figure(figsize=size, layout="constrained")
        return figure.add_subplot(projection=projection)
    expect(f"{function}: ax", ax, Axes, "a matplotlib Axes")
    return ax


class Panels(np.ndarray[Any, Any]):
    """An array of the Axes of one figure, which it saves."""

    @property
    def figure(self) -> Any:
        """The figure of all Axes."""
        return self.flat[0].figure

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Save, as ``Figure.savefig``."""
        self.figure.savefig(*arguments, **options)


def panels(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> Any:
    """The Axes (rows, columns) of a new figure of ``size`` inches."""
    from matplotlib import pyplot

    grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **shared)[1]
    return grid.view(Panels)


def plain(name: str) -> str:
    """A name as matplotlib writes it as it is: what stands between two ``$`` would be a formula."""
    return name.replace("$", r"\$")


def joint_panels(x: str, ys: Sequence[str], titles: Sequence[str]) -> Any:
    """A panel for each joint with the names of its axes and its title, in two columns from four joints on."""
    count = len(titles)
    across = 1 if count < 4 else 2
    down = -(-count // across)
    grid = panels(down, across, (6.4 if across == 1 else 8.6, 0.6 + 1.6 * down), sharex=True).ravel()
    for spare in grid[count:]:
        spare.set_visible(False)
    for k, (y, title) in enumerate(zip(ys, titles, strict=True)):
        lowest = k + across >= count
        label(grid[k], x if lowest else "", y, plain(title))
        grid[k].tick_params(labelbottom=lowest)
    return grid[:count]


def draw_columns(ax: Axes, t: Array, columns: Array, names: Sequence[str], bounds: Array, **more: Any) -> None:
    """A line for each column (N × n), and a dashed one for each bound of it (2 × n) that is one."""
    for k, name in enumerate(names):
        style = line_style(k)
        ax.plot(t, columns[:, k], label=plain(name), **style, **more)
        for bound in bounds[np.abs(bounds[:, k]) < NO_LIMIT, k]:
            ax.axhline(bound, color=style["color"], linestyle="--", linewidth=0.8)


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
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, **LEGEND)


def shared_legend(ax: Axes, title: str = "") -> None:
    """One legend for all panels, from one of them, to the right of the figure."""
    key = ax.get_figure(root=True).legend(  # type: ignore[union-attr]  # an Axes on show has one
        *ax.get_legend_handles_labels(), title=title, loc="outside right upper", **LEGEND
    )
    key.get_title().set_color(INK)

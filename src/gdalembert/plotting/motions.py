"""A motion over time, and the balance of its energies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import unit_blocks
from gdalembert.model.from_pinocchio import name_of, read_tree
from gdalembert.model.limits import NO_LIMIT
from gdalembert.model.tree import Tree
from gdalembert.ocp.phases import PhasesSolution
from gdalembert.ocp.solution import Solution
from gdalembert.plotting.style import INK, label, legend, line_style, names_of, panels, shared_legend, with_units
from gdalembert.simulation.result import Simulation

_UNSEEN = 1e-4
"""Part of the energy exchanged: less than this is not drawn."""
_ROUNDING = 1e-9
"""Part of the largest acceleration: a smaller jump is rounding."""


def motion(
    simulation: Simulation | Solution | PhasesSolution,
    robot: pin.Model | Tree | Dynamics | ConstrainedDynamics | None = None,
) -> Any:
    """q, v and u of a motion over time, in three panels; u in steps if it is piecewise constant.

    Args:
        simulation: the motion, or the solution of an optimal control problem, or of one in phases, at the instants of
            its grid.
        robot: for names and units; the limits of a ``pin.Model`` are drawn too, dashed. Of a flexible arm only q and v
            of the joints are drawn; see :func:`~gdalembert.plotting.tip_deflection` for the rest.

    Returns:
        An array of three Axes, with ``figure`` and ``savefig``.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if the motion is not of the robot.
    """
    if not isinstance(simulation, Solution | PhasesSolution):
        _check("motion", simulation)
    values = {"q": simulation.q, "v": simulation.v, "u": simulation.u}
    stepped = _is_held(simulation)
    if len(simulation.u) < len(simulation.t):  # the last u of a Solution is held to the end
        values["u"] = np.vstack([simulation.u, simulation.u[-1:]])
    titles = {"q": "q [rad or m]", "v": "v [rad/s or m/s]", "u": "u [N m or N]"}
    names = {key: tuple(f"{key}{k}" for k in range(1, array.shape[1] + 1)) for key, array in values.items()}
    shown = dict(values)
    if isinstance(robot, ConstrainedDynamics):
        robot = robot.dynamics
    if robot is not None:
        if not isinstance(robot, pin.Model | Tree | Dynamics):
            raise ArgumentTypeError(f"motion: expected a pin.Model or a Dynamics, got {type(robot).__name__}")
        _check_robot(simulation, robot)
        known = names_of(robot)
        actuators = robot.actuator_names if isinstance(robot, Dynamics) else known.v
        efforts = dict(zip(known.v, known.effort_units, strict=True))
        names = {"q": known.q, "v": known.v, "u": actuators}
        effort_units = tuple(efforts.get(name, "N m or N") for name in actuators)
        units = {"q": known.q_units, "v": known.v_units, "u": effort_units}
        titles = {key: with_units(key, units[key]) for key in values}
        shown = {key: array[:, : len(names[key])] for key, array in values.items()}
    grid = panels(3, 1, (6.4, 5.6), sharex=True).ravel()
    limits = _limits(robot) if isinstance(robot, pin.Model) else {}
    for ax, (key, array) in zip(grid, shown.items(), strict=True):
        drawstyle = "steps-post" if key == "u" and stepped else "default"
        for k, name in enumerate(names[key]):
            style = line_style(k)
            ax.plot(simulation.t, array[:, k], label=name, drawstyle=drawstyle, **style)
            for bound in limits.get(key, np.zeros((0, array.shape[1])))[:, k]:
                if abs(bound) < NO_LIMIT:
                    ax.axhline(bound, color=style["color"], linestyle="--", linewidth=0.8)
        label(ax, "time [s]" if ax is grid[-1] else "", titles[key])
        if names["q"] != names["v"] or names["v"] != names["u"]:
            legend(ax)
    if names["q"] == names["v"] == names["u"]:
        shared_legend(grid[0], "dashed: limits" if limits else "")
    return grid


def _is_held(motion: Simulation | Solution | PhasesSolution) -> bool:
    """Whether u, and with it a, jumps at output times."""
    if isinstance(motion, Solution | PhasesSolution):
        return motion.control == "constant"
    jumps = np.abs(motion.a - motion.a_before)[1:]
    return bool(np.any(jumps > _ROUNDING * np.abs(motion.a).max(initial=0.0)))


def _check_robot(motion: Simulation | Solution | PhasesSolution, robot: pin.Model | Tree | Dynamics) -> None:
    """Refuse the motion of another robot, by its name and its numbers of coordinates."""
    tree = robot.tree if isinstance(robot, Dynamics) else robot
    if isinstance(motion, Simulation):
        what, simulated = "simulation", motion.model
    else:
        what, simulated = "solution", motion.dyn.tree.name
    widths = {"q": tree.nq, "v": tree.nv, "u": robot.nu if isinstance(robot, Dynamics) else len(names_of(robot).v)}
    for key, width in widths.items():
        found = getattr(motion, key).shape[1]
        if found != width:
            raise ArgumentError(
                f"motion: {key} of the {what} of {simulated!r} has {found} entries, that of the robot {width}; "
                "give the robot that moved"
            )
    if simulated != name_of(tree):
        raise ArgumentError(
            f"motion: the {what} is of {simulated!r}, the robot is {name_of(tree)!r}; give the one that moved"
        )


def energy_balance(simulation: Simulation) -> Any:
    """The energies of a simulation over time [J], and their imbalance below.

    Potential energy is relative to the start. The balance, energy gained − work (of u and of constraints) + dissipated,
    is zero except for errors of the integration.

    Returns:
        An array of two Axes, with ``figure`` and ``savefig``.

    Raises:
        ArgumentTypeError: if it is not a simulation.
    """
    _check("energy_balance", simulation)
    grid = panels(2, 1, (6.4, 4.0), sharex=True, height_ratios=(2, 1)).ravel()
    above, below = grid
    parts = {
        "kinetic": simulation.kinetic,
        "potential, from its start": simulation.potential - simulation.potential[0],
        f"work of {simulation.driven_by}": simulation.work,
        "taken by dampers": simulation.dissipated,
        "work of constraints": simulation.constraint_work,
    }
    gained = simulation.energy - simulation.energy[0]
    above.plot(simulation.t, gained, color=INK, linewidth=2.2, label="energy gained")
    for k, (name, part) in enumerate(parts.items()):
        if np.abs(part).max() > _UNSEEN * simulation.exchanged:
            above.plot(simulation.t, part, label=name, **line_style(k))
    label(above, y="energy [J]")
    legend(above)
    below.plot(simulation.t, simulation.balance, label="balance", **line_style(5))
    below.ticklabel_format(axis="y", style="sci", scilimits=(-3, 3))
    below.yaxis.get_offset_text().set_fontsize(8)
    label(below, "time [s]", "balance [J]")
    legend(below)
    return grid


def _check(where: str, simulation: object) -> None:
    if not isinstance(simulation, Simulation):
        raise ArgumentTypeError(
            f"{where}: expected a Simulation, as gd.simulate gives it, got {type(simulation).__name__}"
        )


def _limits(model: pin.Model) -> dict[str, Any]:
    """The limits of q, v and u, two rows each; quaternions and pairs (cos, sin) have none."""
    q = np.array([model.lowerPositionLimit, model.upperPositionLimit])
    for _, start, stop in unit_blocks(read_tree(model, dynamics=False)):
        q[:, start:stop] = np.inf
    return {
        "q": q,
        "v": np.outer([-1, 1], model.velocityLimit),
        "u": np.outer([-1, 1], model.effortLimit),
    }

"""Motions over time: coordinates, energies, torques and their parts; exciting motions and what they identify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.identification.fourier import Excitation
from gdalembert.identification.result import Identification, Torques, shown
from gdalembert.model.configuration import unit_blocks
from gdalembert.model.from_pinocchio import name_of, read_tree
from gdalembert.model.limits import Bounds
from gdalembert.model.tree import Tree
from gdalembert.ocp.joined_solution import PhasesSolution
from gdalembert.ocp.solution import Solution
from gdalembert.plotting import style
from gdalembert.plotting.style import BLUE, GREY, INK, ORANGE, MotionLike, expect, label, legend, line_style, names_of
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import choice, integer
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNSEEN = 1e-4
"""Part of the energy exchanged: less than this is not drawn."""
_ROUNDING = 1e-9
"""Part of the largest acceleration: a smaller jump is rounding."""
_INSTANTS = 401
_LONGEST = 42
"""Characters of a formula beside its row."""
_SIMULATION = "a Simulation, as gd.simulate gives it"


@interruptible
def motion(
    simulation: Simulation | Solution | PhasesSolution,
    robot: pin.Model | Tree | Dynamics | ConstrainedDynamics | None = None,
) -> Any:
    """q, v and u of a motion over time, in three panels; u in steps if it is piecewise constant.

    Args:
        simulation: the motion, or the solution of an optimal control problem, or of one in phases, at the instants of
            its grid.
        robot: the robot, for names and units; the limits of a ``pin.Model`` are drawn too, dashed. Of a flexible arm
            only q and v of the joints are drawn; see :func:`~gdalembert.plotting.tip_deflection` for the rest.

    Returns:
        An array of three Axes, with ``figure`` and ``savefig``.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if the motion is not of the robot.
    """
    expect("motion", simulation, Simulation | Solution | PhasesSolution, _SIMULATION)
    values = {"q": simulation.q, "v": simulation.v, "u": simulation.u}
    if isinstance(simulation, Simulation):
        jumps = np.abs(simulation.a - simulation.a_before)[1:]
        held = bool(np.any(jumps > _ROUNDING * np.abs(simulation.a).max(initial=0.0)))
    else:
        held = simulation.control == "constant"
    if len(simulation.u) < len(simulation.t):  # the last u of a Solution is held to the end
        values["u"] = np.vstack([simulation.u, simulation.u[-1:]])
    titles = ["q [rad or m]", "v [rad/s or m/s]", "u [N m or N]"]
    names = [tuple(f"{key}{k}" for k in range(1, array.shape[1] + 1)) for key, array in values.items()]
    if isinstance(robot, ConstrainedDynamics):
        robot = robot.dynamics
    if robot is not None:
        expect("motion", robot, pin.Model | Tree | Dynamics, "a pin.Model or a Dynamics")
        _check_robot(simulation, robot)
        known = names_of(robot)
        actuators = robot.actuator_names if isinstance(robot, Dynamics) else known.v
        efforts = dict(zip(known.v, known.effort_units, strict=True))
        names = [known.q, known.v, actuators]
        units = [known.q_units, known.v_units, [efforts.get(name, "N m or N") for name in actuators]]
        titles = [style.with_units(key, entry_units) for key, entry_units in zip(values, units, strict=True)]
    limits = [np.full((2, array.shape[1]), np.inf) for array in values.values()]
    if isinstance(robot, pin.Model):
        limits = [np.array([robot.lowerPositionLimit, robot.upperPositionLimit])]
        limits += [np.outer([-1, 1], robot.velocityLimit), np.outer([-1, 1], robot.effortLimit)]
        for _, start, stop in unit_blocks(read_tree(robot)):
            limits[0][:, start:stop] = np.inf  # quaternions and pairs (cos, sin) have none
    grid = style.panels(3, 1, (6.4, 5.6), sharex=True).ravel()
    for ax, key, labels, bounds, title in zip(grid, values, names, limits, titles, strict=True):
        drawstyle = "steps-post" if key == "u" and held else "default"
        style.draw_columns(ax, simulation.t, values[key], labels, bounds, drawstyle=drawstyle)
        label(ax, "time [s]" if ax is grid[-1] else "", title)
        if len(set(names)) > 1:
            legend(ax)
    if len(set(names)) == 1:
        style.shared_legend(grid[0], "dashed: limits" if isinstance(robot, pin.Model) else "")
    return grid


def _check_robot(motion: Simulation | Solution | PhasesSolution, robot: pin.Model | Tree | Dynamics) -> None:
    """Refuse the motion of another robot, by its name and its numbers of coordinates."""
    tree = robot.tree if isinstance(robot, Dynamics) else robot
    if isinstance(motion, Simulation):
        source, simulated = "simulation", motion.model
    else:
        source, simulated = "solution", motion.dyn.tree.name
    widths = {"q": tree.nq, "v": tree.nv, "u": robot.nu if isinstance(robot, Dynamics) else len(names_of(robot).v)}
    for key, width in widths.items():
        moved_width = getattr(motion, key).shape[1]
        if moved_width != width:
            raise ArgumentError(
                f"motion: {key} of the {source} of {simulated!r} has {moved_width} entries, that of the robot {width}; "
                "give the robot that moved"
            )
    if simulated != name_of(tree):
        raise ArgumentError(
            f"motion: the {source} is of {simulated!r}, the robot is {name_of(tree)!r}; give the one that moved"
        )


@interruptible
def energy_balance(simulation: Simulation) -> Any:
    """The energies of a simulation over time [J], and their imbalance below.

    Potential energy is relative to the start. The balance, energy gained − work (of u and of constraints) + dissipated,
    is zero except for errors of the integration.

    Returns:
        An array of two Axes, with ``figure`` and ``savefig``.

    Raises:
        ArgumentTypeError: if it is not a simulation.
    """
    expect("energy_balance", simulation, Simulation, _SIMULATION)
    grid = style.panels(2, 1, (6.4, 4.0), sharex=True, height_ratios=(2, 1)).ravel()
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


@interruptible
def torque_decomposition(
    robot: Dynamics | pin.Model | Tree,
    motion: MotionLike,
    *,
    joint: str | int | None = None,
    by: Literal["kind", "link", "equation"] | None = None,
    ax: Axes | None = None,
) -> Any:
    """The parts of a joint's torque over a motion [N m or N], and their sum, which is ``inverse_dynamics``.

    By kind: translational (D_tra a + H_tra), rotational (D_rot a + H_rot) and gravity (G) of the generalized d'Alembert
    equations (RSD-TR-8-82, eqs. 28–33). By link: the torque due to each link, without gravity (Horn's T_ij), and
    gravity. By equation: inertia (M a), Coriolis and centrifugal torque (C v) and gravity (g), of any formulation.
    Motors (I_act a) and springs are drawn for joints that have them.

    Args:
        robot: a rigid robot; parts by kind and by link are those of a ``GeneralizedDAlembert`` or a model.
        motion: a :class:`~gdalembert.simulation.result.Simulation`, a :class:`~gdalembert.ocp.Solution` (at its
            stages), or (t, q, v, a): (N,), N × nq, N × nv, N × nv.
        joint: name, or index in v; ``None``: a panel for each joint.
        by: ``"kind"``, ``"link"`` or ``"equation"``; by default kind, or equation of another formulation.
        ax: the Axes to draw one joint on.

    Returns:
        The Axes of the joint, or an array of Axes (nv).

    Raises:
        ArgumentTypeError: if the robot, the motion or ``ax`` is of the wrong type.
        UnknownNameError: if no joint has the name.
        ArgumentError: if another argument cannot be used.
    """
    function = "torque_decomposition"
    if isinstance(robot, pin.Model | Tree):
        robot = GeneralizedDAlembert(robot)
    expect(function, robot, Dynamics, "a pin.Model or a Dynamics, whose parts are drawn")
    has_kinds = isinstance(robot, GeneralizedDAlembert)
    usual = "kind" if has_kinds else "equation"
    way = choice(f"{function}: by", usual if by is None else by, ("kind", "link", "equation"))
    if way != "equation" and not has_kinds:
        raise ArgumentError(
            f"{function}: by={by!r}: parts of GeneralizedDAlembert; give it, its model, or by='equation'"
        )
    tree = robot.tree
    t, q, v, a = style.trajectory(function, motion, "tqva", tree)
    if isinstance(joint, str):
        if joint not in tree.velocity_names:
            raise UnknownNameError("joint", joint, tree.velocity_names)
        joint = tree.velocity_names.index(joint)
    columns = range(tree.nv) if joint is None else [integer(f"{function}: index of the joint", joint, 0, tree.nv - 1)]
    if joint is None and ax is not None:
        raise ArgumentError(f"{function}: ax takes one joint; give joint=, or leave ax out")
    parts = contributions(robot, q, v, a, way)
    names = names_of(robot)
    if joint is None:
        grid = style.joint_panels("time [s]", [f"torque [{unit}]" for unit in names.effort_units], names.v)
    else:
        grid = [style.axes(function, ax)]
        label(grid[0], "time [s]", f"torque of {style.plain(names.v[columns[0]])} [{names.effort_units[columns[0]]}]")
    total = np.sum([*parts.values()], axis=0)
    for column, panel in zip(columns, grid, strict=True):
        panel.plot(t, total[:, column], color=INK, linewidth=2.2, label="sum, τ")
        for k, (name, part) in enumerate(parts.items()):
            if joint is None or part[:, column].any():  # the panels share a legend of all parts
                panel.plot(t, part[:, column], label=style.plain(name), **line_style(k))
    if joint is None:
        style.shared_legend(grid[0])
        return grid
    legend(grid[0])
    return grid[0]


def contributions(robot: Dynamics, q: Array, v: Array, a: Array, by: str) -> dict[str, Array]:
    """The parts of tau by name, N × nv each; motors and springs only if the robot has them."""
    tree, count = robot.tree, len(q)
    parts: dict[str, Array] = {}

    def product(matrices: ca.DM, factors: Array) -> Array:
        return np.asarray(np.einsum("inj,nj->ni", matrices.full().reshape(tree.nv, count, tree.nv), factors))

    if by == "equation":
        parts["inertia"] = product(robot.mass_matrix(q.T), a) - tree.armature * a
        if robot.motor_inertia is not None:
            parts["inertia"] -= a @ ca.evalf(ca.SX(robot.motor_inertia)).full()
        parts["Coriolis, centrifugal"] = product(robot.coriolis_matrix(q.T, v.T), v)
    elif by == "kind":
        terms = dict(zip(robot.terms.name_out(), robot.terms.call([q.T, v.T]), strict=True))
        for kind, short in (("translational", "tra"), ("rotational", "rot")):
            parts[kind] = product(terms[f"D_{short}"], a) + terms[f"H_{short}"].full().T
    elif isinstance(robot, GeneralizedDAlembert):
        by_link = robot.link_torques(q.T, v.T, a.T).full().reshape(tree.nv, count, len(tree.links))
        parts |= {f"link of {name}": by_link[:, :, k].T for k, name in enumerate(tree.joint_names)}
    parts["gravity"] = robot.generalized_gravity(q.T).full().T
    if tree.armature.any():
        parts["motors"] = tree.armature * a
    if robot.motor_inertia is not None:
        parts["motors"] = parts.get("motors", 0) + a @ ca.evalf(ca.SX(robot.motor_inertia)).full()
    for force in robot.forces:
        torques = [ca.DM(force.torque(ca.DM(x), ca.DM(y))).full().ravel() for x, y in zip(q, v, strict=True)]
        parts[force.name] = parts.get(force.name, 0) + np.array(torques)
    if robot.has_load_friction:
        tau = [x.full().ravel() for x in ca.horzsplit(robot.inverse_dynamics(q.T, v.T, a.T))]
        parts["load friction"] = np.array(tau) - np.sum([*parts.values()], axis=0)
    return parts


@interruptible
def excitation(trajectory: Excitation, model: pin.Model | None = None, dyn: Dynamics | None = None) -> Any:
    """q, v and a of the joints that move, over one period.

    Args:
        trajectory: the motion.
        model: the model, for units, limits (dashed), and a fourth panel with the efforts of this model, without
            friction.
        dyn: the robot that :func:`gdalembert.identification.excitation` was given: its nominal efforts are drawn then,
            friction included, which are those that the limits hold for.

    Returns:
        An array of three or four Axes.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if the motion is not of the model.
    """
    expect("excitation", trajectory, Excitation, "an Excitation")
    t = np.linspace(0, trajectory.period, _INSTANTS)
    q, v, a = trajectory.q(t), trajectory.v(t), trajectory.a(t)
    in_q, in_v = list(trajectory.q_indices), list(trajectory.v_indices)
    titles = ["q [rad or m]", "v [rad/s or m/s]", "a [rad/s² or m/s²]"]
    drawn, unlimited = [q[:, in_q], v[:, in_v], a[:, in_v]], np.full((2, len(in_v)), np.inf)
    limits = [unlimited] * 3
    if model is not None:
        expect("excitation", model, pin.Model, "a pin.Model")
        if (moved := name_of(model)) != trajectory.model or model.nv != trajectory.nv:
            told = f"excitation: the motion is of {trajectory.model!r}, the model is {moved!r}"
            raise ArgumentError(f"{told}; give the one that moves")
        robot, names = NewtonEuler(model) if dyn is None else dyn, names_of(model)
        drawn.append(_nominal_efforts(robot, q, v, a)[:, in_v])
        rates, efforts = ([units[k] for k in in_v] for units in (names.v_units, names.effort_units))
        without = " without friction" if dyn is None and (model.damping.any() or model.friction.any()) else ""
        units = {"q": [x.removesuffix("/s") for x in rates], "v": rates, "a": [f"{x}²" for x in rates]}
        titles = [style.with_units(*quantity) for quantity in (units | {f"effort{without}": efforts}).items()]
        robot_bounds = Bounds.of(NewtonEuler(model), model)
        limits = [
            np.array([robot_bounds.q_lower, robot_bounds.q_upper])[:, in_q],
            np.array([robot_bounds.v_lower, robot_bounds.v_upper])[:, in_v],
        ]
        limits += [unlimited, np.array([robot_bounds.u_lower, robot_bounds.u_upper])[:, in_v]]
    grid = style.panels(len(drawn), 1, (6.4, 0.5 + 1.6 * len(drawn)), sharex=True).ravel()
    for ax, values, title, bounds in zip(grid, drawn, titles, limits, strict=True):
        style.draw_columns(ax, t, values, trajectory.joints, bounds)
        label(ax, "time [s]" if ax is grid[-1] else "", title)
    style.shared_legend(grid[0], "" if model is None else "dashed: limits")
    return grid


def _nominal_efforts(dyn: Dynamics, q: Array, v: Array, a: Array) -> Array:
    """The nominal efforts (N × nu)."""
    expect("excitation", dyn, Dynamics, "a Dynamics")
    if q.shape[1:] + v.shape[1:] != (dyn.nominal.nq, dyn.nominal.nv) or len(dyn.actuation) != dyn.nominal.nv:
        raise ArgumentError(f"excitation: the motion is not one of {dyn!r}; give the robot that excitation was given")
    tau = dyn.at().under().inverse_dynamics(q.T, v.T, a.T)
    return np.asarray(np.linalg.solve(dyn.actuation, tau.full()).T)


@interruptible
def identification(result: Identification, show: Literal["torques", "residuals", "parameters"] = "torques") -> Any:
    """The efforts of a fit beside the measured ones, their residuals, or base parameters beside the nominal ones.

    Torques are those of the samples that were held back, if there are any, else of those that were fitted, each joint
    in a panel with its residuals. Residuals are drawn over the samples, over the speed of the axis and over the effort:
    what is left there has a shape, as friction, or is noise. Of each base parameter, the estimate, the nominal value
    and the standard deviation are drawn on a logarithmic axis: an estimate far to the right of its standard deviation
    is well known.

    Args:
        result: the result of :func:`gdalembert.identification.fit`.
        show: ``"torques"``, ``"residuals"`` or ``"parameters"``.

    Returns:
        An array of Axes (m), or (m × 3) of residuals, or the Axes of the parameters.

    Raises:
        ArgumentTypeError: if it is not the result of an identification.
        ArgumentError: if ``show`` is another word.
    """
    expect("identification", result, Identification, "the result of gd.identification.fit")
    choice("identification: show", show, ("torques", "residuals", "parameters"))
    if show == "parameters":
        return _parameters(result)
    torques, which = (result.held_back, "held back") if result.held_back else (result.fitted, "fitted")
    unit = "current [A]" if result.gains else "torque [N m or N]"
    if show == "residuals":
        return _residuals(result, torques, f"sample, {which}", unit)
    titles = [f"{name}: {shown(x, '.1%')}" for name, x in zip(result.joints, torques.relative, strict=True)]
    grid = style.joint_panels(f"sample, {which}", [unit] * len(titles), titles)
    for k, ax in enumerate(grid):
        ax.plot(torques.measured[:, k], color=GREY, linewidth=2.4, label="measured")
        ax.plot(torques.predicted[:, k], color=BLUE, linewidth=1.2, label="predicted")
        ax.plot(torques.residuals[:, k], color=ORANGE, linewidth=1.0, label="residual")
    style.shared_legend(grid[0])
    return grid


def _residuals(result: Identification, torques: Torques, samples: str, unit: str) -> Any:
    """A row for each sensor: residuals over samples, speed and effort."""
    grid = style.panels(len(result.joints), 3, (9.0, 0.6 + 1.4 * len(result.joints)), sharey="row")
    for k, name in enumerate(result.joints):
        over = (np.arange(len(torques.measured)), torques.speeds[:, k], torques.measured[:, k])
        for ax, x, text in zip(grid[k], over, (samples, "speed [rad/s or m/s]", unit), strict=True):
            ax.plot(x, torques.residuals[:, k], ".", color=BLUE, markersize=1.5)
            ax.axhline(0, color=GREY, linewidth=0.8)
            label(ax, text if k == len(result.joints) - 1 else "", style.plain(name) if ax is grid[k, 0] else "")
    return grid


def _parameters(result: Identification) -> Axes:
    base = result.base
    ax = style.axes("identification", None, (8.6, 1.0 + 0.16 * len(base)))
    rows = np.arange(len(base))
    drawn = {"estimate": (base.values, BLUE, "o"), "nominal": (base.nominal, GREY, "|")}
    drawn["standard deviation"] = (base.standard_deviation, ORANGE, ".")
    for name, (values, colour, marker) in drawn.items():
        size = np.where(values == 0, np.nan, np.abs(values))  # 0 has no place on a logarithmic axis
        ax.plot(size, rows, marker, color=colour, markersize=5 if marker != "|" else 9, label=name)
    ax.set_xscale("log")
    names = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 2]} …" for name in base.names]
    ax.set_yticks(rows, names, parse_math=False)
    ax.set_ylim(len(base) - 0.5, -0.5)
    label(ax, "absolute value, SI units")
    legend(ax)
    return ax

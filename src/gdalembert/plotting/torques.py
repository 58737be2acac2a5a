"""The parts of joint torques over a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.model.tree import Tree
from gdalembert.plotting.style import (
    INK,
    MotionLike,
    axes,
    label,
    legend,
    line_style,
    names_of,
    panels,
    shared_legend,
    trajectory,
)
from gdalembert.spatial.arguments import choice, integer
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def torque_decomposition(
    robot: GeneralizedDAlembert | pin.Model | Tree,
    motion: MotionLike,
    *,
    joint: str | int | None = None,
    by: Literal["kind", "link"] = "kind",
    ax: Axes | None = None,
) -> Any:
    """The parts of a joint's torque over a motion [N m or N], and their sum, which is ``inverse_dynamics``.

    By kind: translational (D_tra a + H_tra), rotational (D_rot a + H_rot) and gravity (G) of the generalized d'Alembert
    equations (RSD-TR-8-82, eqs. 28–33). By link: the torque due to each link, without gravity (Horn's T_ij), and
    gravity. Motors (I_act a) and springs are drawn for joints that have them.

    Args:
        robot: a rigid robot.
        motion: a :class:`~gdalembert.simulation.result.Simulation`, a :class:`~gdalembert.ocp.Solution` (at its
            stages), or (t, q, v, a): (N,), N × nq, N × nv, N × nv.
        joint: name, or index in v; ``None``: a panel for each joint.
        by: ``"kind"`` or ``"link"``.
        ax: the Axes to draw one joint on.

    Returns:
        The Axes of the joint, or an array of Axes (nv).

    Raises:
        ArgumentTypeError: if the robot, the motion or ``ax`` is of the wrong type.
        UnknownNameError: if no joint has the name.
        ArgumentError: if another argument cannot be used.
    """
    where = "torque_decomposition"
    choice(f"{where}: by", by, ("kind", "link"))
    if isinstance(robot, pin.Model | Tree):
        robot = GeneralizedDAlembert(robot)
    if not isinstance(robot, GeneralizedDAlembert):
        raise ArgumentTypeError(
            f"{where}: expected a pin.Model or a GeneralizedDAlembert, whose parts are drawn, got "
            f"{type(robot).__name__}"
        )
    t, q, v, a = trajectory(where, motion, "tqva", robot.tree)
    columns = _columns(robot.tree, joint)
    if joint is None and ax is not None:
        raise ArgumentError(f"{where}: ax takes one joint; give joint=, or leave ax out")
    parts = contributions(robot, q, v, a, by)
    names = names_of(robot)
    if joint is not None:
        ax = axes(where, ax)
        _draw(ax, t, {name: part[:, columns[0]] for name, part in parts.items()})
        label(ax, "time [s]", f"torque of {names.v[columns[0]]} [{names.effort_units[columns[0]]}]")
        legend(ax)
        return ax
    across = 1 if len(columns) < 4 else 2
    down = -(-len(columns) // across)
    grid = panels(down, across, (6.4 if across == 1 else 8.6, 0.6 + 1.6 * down), sharex=True)
    for spare in grid.flat[len(columns) :]:
        spare.set_visible(False)
    for k, each in enumerate(grid.flat[: len(columns)]):
        _draw(each, t, {name: part[:, k] for name, part in parts.items()}, everything=True)
        below = "time [s]" if k + across >= len(columns) else ""
        label(each, below, f"torque [{names.effort_units[k]}]", names.v[k])
        each.tick_params(labelbottom=bool(below))
    shared_legend(grid[0, 0])
    return grid.ravel()[: len(columns)]


def contributions(robot: GeneralizedDAlembert, q: Array, v: Array, a: Array, by: str) -> dict[str, Array]:
    """The parts of tau by name, N × nv each; motors and springs only if the robot has them."""
    tree, count = robot.tree, len(q)
    terms = dict(zip(robot.terms.name_out(), (x.full() for x in robot.terms.call([q.T, v.T])), strict=True))
    parts: dict[str, Array] = {}
    if by == "kind":
        for kind, short in (("translational", "tra"), ("rotational", "rot")):
            d = terms[f"D_{short}"].reshape(tree.nv, count, tree.nv)
            parts[kind] = np.einsum("inj,nj->ni", d, a) + terms[f"H_{short}"].T
    else:
        by_link = robot.link_torques(q.T, v.T, a.T).full().reshape(tree.nv, count, len(tree.links))
        parts |= {f"link of {name}": by_link[:, :, k].T for k, name in enumerate(tree.joint_names)}
    parts["gravity"] = terms["G"].T
    if tree.armature.any():
        parts["motors"] = tree.armature * a
    for force in robot.forces:
        torques = [ca.DM(force.torque(ca.DM(x), ca.DM(y))).full().ravel() for x, y in zip(q, v, strict=True)]
        parts[force.name] = parts.get(force.name, 0) + np.array(torques)
    return parts


def _draw(ax: Axes, t: Array, parts: dict[str, Array], everything: bool = False) -> None:
    """A line for each part, and the sum; parts that are always zero only if panels share a legend."""
    ax.plot(t, np.sum(list(parts.values()), axis=0), color=INK, linewidth=2.2, label="sum, τ")
    for k, (name, part) in enumerate(parts.items()):
        if everything or part.any():
            ax.plot(t, part, label=name, **line_style(k))


def _columns(tree: Tree, joint: str | int | None) -> list[int]:
    if joint is None:
        return list(range(tree.nv))
    if isinstance(joint, str):
        if joint not in tree.velocity_names:
            raise UnknownNameError("joint", joint, tree.velocity_names)
        return [tree.velocity_names.index(joint)]
    return [integer("torque_decomposition: index of the joint", joint, 0, tree.nv - 1)]

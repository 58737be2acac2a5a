"""Exciting motions with their limits, and identifications: predicted torques and base parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.identification.fourier import Excitation
from gdalembert.identification.result import Identification, shown
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.limits import Bounds
from gdalembert.plotting.style import (
    BLUE,
    GREY,
    ORANGE,
    axes,
    label,
    legend,
    line_style,
    names_of,
    panels,
    shared_legend,
    with_units,
)
from gdalembert.spatial.arguments import choice
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_INSTANTS = 401
_LONGEST = 42
"""Characters of a formula beside its row."""


def excitation(trajectory: Excitation, model: pin.Model | None = None, dyn: Dynamics | None = None) -> Any:
    """q, v and a of the joints that move, over one period.

    Args:
        trajectory: the motion.
        model: for units, limits (dashed), and a fourth panel with the efforts of this model, without friction.
        dyn: the robot that :func:`gdalembert.identification.excitation` was given: its nominal efforts are drawn then,
            friction included, which are those that the limits hold for.

    Returns:
        An array of three or four Axes.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if the motion is not of the model.
    """
    if not isinstance(trajectory, Excitation):
        raise ArgumentTypeError(f"excitation: expected an Excitation, got {type(trajectory).__name__}")
    t = np.linspace(0, trajectory.period, _INSTANTS)
    q, v, a = trajectory.q(t), trajectory.v(t), trajectory.a(t)
    in_q, in_v = list(trajectory.q_indices), list(trajectory.v_indices)
    titles = ["q [rad or m]", "v [rad/s or m/s]", "a [rad/s² or m/s²]"]
    shown, limits = [q[:, in_q], v[:, in_v], a[:, in_v]], [np.full((2, len(in_v)), np.inf)] * 4
    if model is not None:
        titles, limits = _described(trajectory, model)
        shown.append(_efforts(NewtonEuler(model) if dyn is None else dyn, q, v, a)[:, in_v])
        if dyn is None and (model.damping.any() or model.friction.any()):
            titles[-1] = titles[-1].replace("effort", "effort without friction")
    grid = panels(len(shown), 1, (6.4, 0.5 + 1.6 * len(shown)), sharex=True).ravel()
    for ax, values, title, bounds in zip(grid, shown, titles, limits, strict=False):
        for k, name in enumerate(trajectory.joints):
            style = line_style(k)
            ax.plot(t, values[:, k], label=name, **style)
            for bound in bounds[np.isfinite(bounds[:, k]), k]:
                ax.axhline(bound, color=style["color"], linestyle="--", linewidth=0.8)
        label(ax, "time [s]" if ax is grid[-1] else "", title)
    shared_legend(grid[0], "" if model is None else "dashed: limits")
    return grid


def _efforts(dyn: object, q: Array, v: Array, a: Array) -> Array:
    """The nominal efforts (N × nu)."""
    if not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"excitation: expected a Dynamics, got {type(dyn).__name__}")
    if q.shape[1:] + v.shape[1:] != (dyn.nominal.nq, dyn.nominal.nv) or len(dyn.actuation) != dyn.nominal.nv:
        raise ArgumentError(f"excitation: the motion is not one of {dyn!r}; give the robot that excitation was given")
    tau = dyn.at().under().inverse_dynamics(q.T, v.T, a.T)
    return np.asarray(np.linalg.solve(dyn.actuation, tau.full()).T)


def _described(trajectory: Excitation, model: object) -> tuple[list[str], list[Any]]:
    """Titles with units, and lower and upper limits (2 × joints) of q, v, a and the efforts."""
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"excitation: expected a pin.Model, got {type(model).__name__}")
    if name_of(model) != trajectory.model or model.nv != trajectory.nv:
        raise ArgumentError(
            f"excitation: the motion is of {trajectory.model!r}, the model is {name_of(model)!r}; give the one that "
            "moves"
        )
    names, bounds = names_of(model), Bounds.of(NewtonEuler(model), model)
    in_q, in_v = list(trajectory.q_indices), list(trajectory.v_indices)
    linear = [names.linear[column] for column in in_v]
    titles = [
        with_units("q", ["m" if each else "rad" for each in linear]),
        with_units("v", ["m/s" if each else "rad/s" for each in linear]),
        with_units("a", ["m/s²" if each else "rad/s²" for each in linear]),
        with_units("effort", ["N" if each else "N m" for each in linear]),
    ]
    none = np.full((2, len(in_v)), np.inf)
    return titles, [
        np.array([bounds.q_lower[in_q], bounds.q_upper[in_q]]),
        np.array([bounds.v_lower[in_v], bounds.v_upper[in_v]]),
        none,
        np.array([bounds.u_lower[in_v], bounds.u_upper[in_v]]),
    ]


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
        label(ax, below, "torque [N m or N]", f"{result.joints[k]}: {shown(torques.relative[k], '.1%')}")
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

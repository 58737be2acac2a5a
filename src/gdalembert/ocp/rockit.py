"""A robot in a ``rockit.Ocp``, which brings its own transcriptions, stages and samplers."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.parameters.physical import physical_parameters
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.configuration import unit_blocks
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.steps import check_driven_by_u
from gdalembert.spatial.packages import required


class Symbols(NamedTuple):
    """The symbols of a robot in an ``Ocp``: states q (nq) and v (nv), accelerations a (nv), controls u (nu)."""

    q: ca.MX
    v: ca.MX
    a: ca.MX
    u: ca.MX


def add_to_rockit(
    ocp: Any, dyn: Dynamics, bounds: Bounds | None = None, *, implicit: bool = True, p: Values | ca.MX = None
) -> Symbols:
    """Add the states, controls, dynamics and bounds of a robot to a ``rockit.Ocp`` or one of its stages.

    Args:
        ocp: the ``rockit.Ocp``.
        dyn: rigid or flexible, without quaternions and pairs (cos, sin); under wrenches: ``dyn.under(wrenches)``.
        bounds: of q, v and u; none by default.
        implicit: whether a is an algebraic variable with inverse dynamics as its equation, for
            ``rockit.DirectCollocation``; else a is forward dynamics, for any method.
        p: the parameters of ``dyn``: numbers, all or some by name, by default those of the model; or an expression of
            ``ocp`` (n_p × 1): ``ocp.parameter(n_p)`` is set before each solve, ``ocp.variable(n_p)`` is optimised.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used.
        MissingPackageError: if rockit is not installed.
        UnsupportedError: if q has unit lengths, which rockit's integrators do not preserve.
    """
    rockit = required("add_to_rockit", "rockit")
    if not isinstance(ocp, rockit.Stage):
        raise ArgumentTypeError(f"add_to_rockit takes a rockit.Ocp or a stage of it, not {type(ocp).__name__}")
    check_driven_by_u("add_to_rockit", dyn)
    tree = dyn.tree
    if blocks := unit_blocks(tree):
        raise UnsupportedError(
            f"{tree.name}: joint {blocks[0][0]!r} has unit lengths in q, which rockit's integrators do not keep; take "
            "gdalembert.ocp.Problem"
        )
    if not isinstance(bounds, Bounds | None):
        raise ArgumentTypeError(f"bounds={bounds!r}: give Bounds.of(dyn, model)")
    limits = Bounds.of(dyn) if bounds is None else bounds
    if (limits.v_names, limits.u_names) != ((own := Bounds.of(dyn)).v_names, own.u_names):
        raise ArgumentError(f"the bounds are not those of {tree.name}; make them by Bounds.of(dyn, model)")
    given = _given_parameters(dyn, p)
    q, v, u = ocp.state(tree.nq), ocp.state(tree.nv), ocp.control(dyn.nu)
    if implicit:
        a = ocp.algebraic(tree.nv)
        ocp.add_alg(dyn.inverse_dynamics(q, v, a, *given) - dyn.actuators.tau(q, u))
    else:
        a = dyn.state_derivative(ca.vertcat(q, v), u, *given)[tree.nq :]
    ocp.set_der(q, dyn.tree.configuration_rate(q, v))
    ocp.set_der(v, a)
    for x, lower, upper in (
        (q, limits.q_lower, limits.q_upper),
        (v, limits.v_lower, limits.v_upper),
        (u, limits.u_lower, limits.u_upper),
    ):
        for i in np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)):
            if lower[i] == upper[i]:
                ocp.subject_to(x[int(i)] == float(lower[i]))
            else:
                ocp.subject_to((float(lower[i]) <= x[int(i)]) <= float(upper[i]))
    return Symbols(q, v, a, u)


def _given_parameters(dyn: Dynamics, p: Values | ca.MX) -> list[Any]:
    """p as the last input of a Function; nothing if the robot has no parameters."""
    if not isinstance(p, ca.MX):
        values = physical_parameters("add_to_rockit", dyn, p)
        return [values] if dyn.parameters else []
    if p.shape != (len(dyn.parameters), 1) or not dyn.parameters:
        raise ArgumentError(
            f"add_to_rockit: p has shape {p.shape}; {dyn.tree.name} has {len(dyn.parameters)} parameters: give "
            + (f"({len(dyn.parameters)}, 1)" if dyn.parameters else "none")
        )
    return [p]

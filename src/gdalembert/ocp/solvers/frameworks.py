"""Robots in other packages of optimal control: in a ``rockit.Ocp``, and as the expressions of an ``AcadosModel``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.constrained.constrained_dynamics import check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.physical_parameters import physical_parameters
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, shown
from gdalembert.model.configuration import unit_blocks
from gdalembert.model.limits import Bounds
from gdalembert.ocp.system.constraints import checked_bounds
from gdalembert.spatial.arguments import required
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible


class Symbols(NamedTuple):
    """The symbols of a robot in an ``Ocp``: states q (nq) and v (nv), accelerations a (nv), controls u (nu)."""

    q: ca.MX
    v: ca.MX
    a: ca.MX
    u: ca.MX


@interruptible
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
    rockit = required("add_to_rockit", "rockit", "ocp")
    if not isinstance(ocp, rockit.Stage):
        raise ArgumentTypeError(f"add_to_rockit takes a rockit.Ocp or a stage of it, not {type(ocp).__name__}")
    _check_robot("add_to_rockit", "rockit's", dyn)
    tree = dyn.tree
    if not isinstance(bounds, Bounds | None):
        raise ArgumentTypeError(f"bounds={shown(bounds)}: give Bounds.of(dyn, model)")
    limits, n = checked_bounds(dyn, bounds), len(dyn.parameters)
    if isinstance(p, ca.MX):
        if p.shape != (n, 1) or not n:
            raise ArgumentError(
                f"add_to_rockit: p has shape {p.shape}; {tree.name} has {n} parameters: give "
                + (f"({n}, 1)" if n else "none")
            )
        given: list[Any] = [p]
    else:
        values = physical_parameters("add_to_rockit", dyn, p)
        given = [values] if n else []
    q, v, u = ocp.state(tree.nq), ocp.state(tree.nv), ocp.control(dyn.nu)
    if implicit:
        a = ocp.algebraic(tree.nv)
        ocp.add_alg(dyn.inverse_dynamics(q, v, a, *given) - dyn.actuators.tau(q, u))
    else:
        a = dyn.state_derivative(ca.vertcat(q, v), u, *given)[tree.nq :]
    ocp.set_der(q, dyn.tree.configuration_rate(q, v))
    ocp.set_der(v, a)
    for key, x in (("q", q), ("v", v), ("u", u)):
        lower, upper = (getattr(limits, f"{key}_{end}") for end in ("lower", "upper"))
        for i in np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)):
            if lower[i] == upper[i]:
                ocp.subject_to(x[int(i)] == float(lower[i]))
            else:
                ocp.subject_to((float(lower[i]) <= x[int(i)]) <= float(upper[i]))
    return Symbols(q, v, a, u)


@dataclass(frozen=True, eq=False)
class AcadosExpressions(Brief):
    """The attributes of an ``AcadosModel`` by their names: ``vars(model).update(vars(expressions))`` sets them.

    Attributes:
        name: of the robot, as an identifier.
        x, xdot: [q; v] and its rate (nq + nv). ``u``: of the actuators (nu). ``p``: the parameters of the robot (n_p).
        f_expl_expr: the rate of x, by forward dynamics.
        f_impl_expr: zero for a motion, by inverse dynamics: for the integrator ``"IRK"``.
        x_labels, u_labels: names of the entries.
    """

    name: str
    x: ca.SX
    xdot: ca.SX
    u: ca.SX
    p: ca.SX
    f_expl_expr: ca.SX
    f_impl_expr: ca.SX
    x_labels: list[str]
    u_labels: list[str]

    def model(self) -> Any:
        """An ``AcadosModel`` with these attributes.

        Raises:
            UnsupportedError: if acados_template is missing.
        """
        try:
            from acados_template import AcadosModel
        except ModuleNotFoundError:
            raise UnsupportedError(
                "acados needs the Python package acados_template, which comes with acados' sources, not with PyPI"
            ) from None
        made = AcadosModel()
        for name, value in vars(self).items():
            setattr(made, name, value)
        return made


@interruptible
def acados_expressions(dyn: Dynamics) -> AcadosExpressions:
    """The dynamics of a robot for acados, explicit and implicit.

    Args:
        dyn: rigid or flexible, without quaternions and pairs (cos, sin); under wrenches: ``dyn.under(wrenches)``.

    Raises:
        ArgumentTypeError: if it is not a Dynamics.
        UnsupportedError: if q has unit lengths, which acados' integrators do not preserve.
    """
    _check_robot("acados_expressions", "acados'", dyn)
    tree = dyn.tree
    nq, given, bounds = tree.nq, list(dyn.symbols().values()), Bounds.of(dyn)
    x, u = ca.SX.sym("x", nq + tree.nv), ca.SX.sym("u", dyn.nu)
    xdot = ca.SX.sym("xdot", nq + tree.nv)
    q, v, a = x[:nq], x[nq:], xdot[nq:]
    residual = dyn.inverse_dynamics(q, v, a, *given) - dyn.actuators.tau(q, u)
    return AcadosExpressions(
        name="".join(c if c.isalnum() and c.isascii() else "_" for c in tree.name),
        x=x,
        xdot=xdot,
        u=u,
        p=ca.vertcat(ca.SX(0, 1), *given),
        f_expl_expr=dyn.state_derivative(x, u, *given),
        f_impl_expr=ca.vertcat(xdot[:nq] - tree.configuration_rate(q, v), residual),
        x_labels=[*bounds.q_names, *(f"rate of {name}" for name in bounds.v_names)],
        u_labels=list(bounds.u_names),
    )


def _check_robot(where: str, whose: str, dyn: Dynamics) -> None:
    """Refuse a robot whose motion does not follow from u alone, or whose q has unit lengths."""
    check_driven_by_u(where, dyn)
    if blocks := unit_blocks(dyn.tree):
        raise UnsupportedError(
            f"{dyn.tree.name}: joint {blocks[0][0]!r} has unit lengths in q, which {whose} integrators do not keep; "
            "take gdalembert.ocp.Problem"
        )

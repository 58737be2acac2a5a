"""A robot as the expressions of an ``AcadosModel``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import unit_blocks
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.steps import check_driven_by_u


@dataclass(frozen=True, eq=False)
class AcadosExpressions:
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


def acados_expressions(dyn: Dynamics) -> AcadosExpressions:
    """The dynamics of a robot for acados, explicit and implicit.

    Args:
        dyn: rigid or flexible, without quaternions and pairs (cos, sin); under wrenches: ``dyn.under(wrenches)``.

    Raises:
        ArgumentTypeError: if it is not a Dynamics.
        UnsupportedError: if q has unit lengths, which acados' integrators do not preserve.
    """
    check_driven_by_u("acados_expressions", dyn)
    tree = dyn.tree
    if blocks := unit_blocks(tree):
        raise UnsupportedError(
            f"{tree.name}: joint {blocks[0][0]!r} has unit lengths in q, which acados' integrators do not keep; take "
            "gdalembert.ocp.Problem"
        )
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

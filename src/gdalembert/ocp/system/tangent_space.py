"""A robot at points [q; δ; 0]: CasADi's derivatives of a stage by δ are those in the tangent space of q."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca

from gdalembert.model.configuration import integrate, integrate_derivatives
from gdalembert.ocp.system.system import System

_WHOLE = {"enable_forward": False, "enable_reverse": False}
"""Of a Function whose Jacobian CasADi is to take as it is given."""


class TangentSystem(System):
    """A robot whose stages are those of points [q; δ; 0], with a displacement δ (nv) from q, which is zero.

    Functions of points have the Jacobians that the robot has itself: those of inverse dynamics and of constraints are
    0.6 of what CasADi derives, and those by δ need no derivatives of quaternions. CasADi looks in values for what they
    depend on; so these have entries of δ in them, times the last entry of a point, which is zero.
    """

    def __init__(self, system: System) -> None:
        vars(self).update(vars(system))
        vars(self).update(moved=self._moved, stage=self._stage)  # Functions of configurations in System
        self.tree = self.con.tree

    @property
    def positions(self) -> int:
        return int(self.tree.nq + self.tree.nv + 1)

    def parts(self, point: ca.MX) -> list[ca.MX]:
        """q, δ and 0."""
        nq, nv = self.tree.nq, self.tree.nv
        return list(ca.vertsplit(point, [0, nq, nq + nv, nq + nv + 1]))

    def configuration(self, point: ca.MX) -> ca.MX:
        """q, moved by δ."""
        return ca.MX(self._configuration(*self.parts(point)))

    def _moved(self, point: ca.MX, displacement: ca.MX) -> ca.MX:
        q, delta, zero = self.parts(point)
        return ca.MX(ca.vertcat(self._reached(q, displacement), self._displaced(delta, displacement, zero), zero))

    def _stage(self, point: ca.MX, v: ca.MX, a: ca.MX, forces: ca.MX, u: ca.MX, *p: ca.MX) -> tuple[ca.MX, ca.MX]:
        q, delta, zero = self.parts(point)
        return point, ca.MX(self._equations(q, delta, v, a, forces, u, *p, zero))

    @cached_property
    def _reached(self) -> ca.Function:
        q, step = ca.SX.sym("q", self.tree.nq), ca.SX.sym("step", self.tree.nv)
        return ca.Function("reached", [q, step], [integrate(self.tree, q, step)], {"is_diff_in": [False, False]})

    @cached_property
    def _displaced(self) -> ca.Function:
        delta, step = (ca.SX.sym(name, self.tree.nv) for name in ("delta", "step"))
        by_delta, by_step = integrate_derivatives(self.tree, step)
        inputs = {"delta": delta, "step": step, "zero": ca.SX.sym("zero")}
        return _with_jacobian("displaced", inputs, ca.SX(self.tree.nv, 1), {"delta": by_delta, "step": by_step})

    @cached_property
    def _configuration(self) -> ca.Function:
        q, delta = ca.SX.sym("q", self.tree.nq), ca.SX.sym("delta", self.tree.nv)
        inputs = {"q": q, "delta": delta, "zero": ca.SX.sym("zero")}
        return _with_jacobian("configuration", inputs, q, {"delta": self.tree.tangent_map(q)})

    @cached_property
    def _equations(self) -> ca.Function:
        """tau(q, v, a) − Jᵀ f − tau of u, and the error of the acceleration of constraints."""
        con, dyn, nv, nc = self.equations.con, self.dynamics, self.tree.nv, self.con.nc
        sizes = {"q": self.tree.nq, "delta": nv, "v": nv, "a": nv, "forces": nc, "u": self.con.nu}
        s = {name: ca.SX.sym(name, size) for name, size in sizes.items()}
        q, _, v, a, forces, u = s.values()
        p = con.symbols()
        values, tau = list(p.values()), dyn.actuators.tau(q, u)
        tau_by_q, tau_by_u = ca.jacobian(tau, q) @ self.tree.tangent_map(q), ca.jacobian(tau, u)
        mass = dyn.mass_matrix(q, *values)
        if not nc:
            by_q, by_v = dyn.inverse_dynamics_derivatives(q, v, a, *values)
            residual = dyn.inverse_dynamics(q, v, a, *values) - tau
            slopes = {"delta": by_q - tau_by_q, "v": by_v, "a": mass, "u": -tau_by_u}
            return _with_jacobian("equations", s | p | {"zero": ca.SX.sym("zero")}, residual, slopes)
        by_q, by_v = con.inverse_dynamics_derivatives(q, v, a, forces, *values)
        error_by_q, error_by_v = con.acceleration_error_derivatives(q, v, a, *values)
        jacobian = con.jacobian(q, *values)
        residual = ca.vertcat(
            con.inverse_dynamics(q, v, a, forces, *values) - tau, con.acceleration_error(q, v, a, *values)
        )
        slopes = {
            "delta": ca.vertcat(by_q - tau_by_q, error_by_q),
            "v": ca.vertcat(by_v, error_by_v),
            "a": ca.vertcat(mass, jacobian),
            "forces": ca.vertcat(-jacobian.T, ca.SX(nc, nc)),
            "u": ca.vertcat(-tau_by_u, ca.SX(nc, self.con.nu)),
        }
        return _with_jacobian("equations", s | p | {"zero": ca.SX.sym("zero")}, residual, slopes)


def _with_jacobian(name: str, inputs: Mapping[str, ca.SX], value: ca.SX, slopes: Mapping[str, ca.SX]) -> ca.Function:
    """(inputs) → (value), with these slopes, by no other inputs."""
    slopes = {key: ca.sparsify(slope) for key, slope in slopes.items()}
    zero = inputs["zero"]
    for key, slope in slopes.items():
        value = value + zero * (ca.DM(slope.sparsity(), 1.0) @ inputs[key])
    blocks = [slopes.get(key, ca.SX(value.shape[0], x.shape[0])) for key, x in inputs.items()]
    names, symbols = list(inputs), list(inputs.values())
    of_value = ca.SX.sym("value", value.shape[0])
    jacobian = ca.Function(
        f"jac_{name}", [*symbols, of_value], blocks, [*names, "out_value"], [f"jac_value_{key}" for key in names]
    )
    options: dict[str, Any] = _WHOLE | {"custom_jacobian": jacobian, "is_diff_in": [key in slopes for key in names]}
    return ca.Function(name, symbols, [value], names, ["value"], options)

"""Functions of a robot that are made of its other ones, finished: of a few joints they can be the smallest.

    a    = M⁻¹ (tau − nle),  ∂a/∂q,  ∂a/∂v,  ∂a/∂tau         tau = M a + C v + g,  ∂tau/∂q,  ∂tau/∂v
    M    = ∂tau/∂a = ∂²T/∂v²                                nle = tau at a = 0 = C v + g
    T    = ½ v·M v                                          g   = ∂V/∂q = nle at v = 0

A finished Function has the smallest of its variants, which may be those of different link frames or formulations, with
every value once up to its sign: what is made of it starts there. Derivatives here are algorithmic ones. Those of large
robots are larger than the recursions, and take long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import casadi as ca

from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.factorization import Factorization
from gdalembert.spatial.functions import function

Robot: TypeAlias = Any
"""An :class:`~gdalembert.dynamics.equations_of_motion.EquationsOfMotion`, whose module imports this one."""
Composition: TypeAlias = Callable[[Robot], Iterator[ca.Function]]


def derivatives(expression: ca.SX, x: ca.SX, directions: Matrix) -> Iterator[ca.SX]:
    """Derivatives ∂expression/∂x @ directions, taken forward, and in reverse."""
    # both, since which of them is smaller differs from robot to robot
    yield ca.jtimes(expression, x, directions)
    yield ca.jtimes(expression, x, ca.DM.eye(expression.shape[0]), True).T @ directions


def mass_matrix(robot: Robot) -> Iterator[ca.Function]:
    """M as the derivative of tau by a, and as that of the kinetic energy, twice, by v."""
    s, one = robot.symbols("q", "v", "a", "wrenches"), ca.DM.eye(robot.nv)
    inputs, at_rest = robot.symbols("q"), ca.DM.zeros(robot.nv)
    candidates = []
    if not robot.has_load_friction:
        candidates += list(derivatives(robot.inverse_dynamics(*s.values()), s["a"], one))
    # the variant of expressions alone: robot.kinetic_energy may be made of M, in a circle
    energy = type(robot).kinetic_energy.variant(robot)(*(s[name] for name in ("q", "v", "p") if name in s))
    candidates.append(ca.hessian(energy, s["v"])[0])
    for m in candidates:
        graph = ca.Function("M", list(s.values()), [m])
        of_q = graph(inputs["q"], at_rest, at_rest, *_zeros(robot), *_parameters(inputs))
        yield function("mass_matrix", inputs, {"M": symmetric(of_q)})


def mass_matrix_inverse(robot: Robot) -> Iterator[ca.Function]:
    s = robot.symbols("q")
    yield function("mass_matrix_inverse", s, {"Minv": Factorization(robot.mass_matrix(*s.values())).inverse})


def kinetic_energy(robot: Robot) -> Iterator[ca.Function]:
    s = robot.symbols("q", "v")
    m = robot.mass_matrix(s["q"], *_parameters(s))
    yield function("kinetic_energy", s, {"kinetic": 0.5 * ca.dot(s["v"], m @ s["v"])})


def generalized_gravity(robot: Robot) -> Iterator[ca.Function]:
    """Gravity g as the gradient of the potential energy, and as nle and tau at rest."""
    yield _gradient(robot)
    if not robot.forces:
        s, rest = robot.symbols("q"), ca.DM.zeros(robot.nv)
        at_rest = robot.inverse_dynamics(s["q"], rest, rest, *_zeros(robot), *_parameters(s))
        for g in (robot.nle(s["q"], rest, *_parameters(s)), at_rest):
            yield function("generalized_gravity", s, {"g": g})


def nle(robot: Robot) -> Iterator[ca.Function]:
    """Bias nle as tau at a = 0, and as C v + g."""
    s, rest = robot.symbols("q", "v"), ca.DM.zeros(robot.nv)
    tau = robot.inverse_dynamics(s["q"], s["v"], rest, *_zeros(robot), *_parameters(s))
    yield function("nle", s, {"nle": tau})
    if not robot.forces:
        c = robot.coriolis_matrix(s["q"], s["v"], *_parameters(s))
        for g in (type(robot).generalized_gravity.variant(robot), _gradient(robot)):
            yield function("nle", s, {"nle": c @ s["v"] + g(s["q"], *_parameters(s))})


def forward_dynamics(robot: Robot) -> Iterator[ca.Function]:
    s = robot.symbols("q", "v", "tau", "wrenches")
    if not (robot.external_wrenches or robot.has_load_friction):
        p = _parameters(s)
        net = s["tau"] - robot.nle(s["q"], s["v"], *p)
        yield function("forward_dynamics", s, {"a": Factorization(robot.mass_matrix(s["q"], *p)).solve(net)})


def state_derivative(robot: Robot) -> Iterator[ca.Function]:
    s = {"x": ca.SX.sym("x", robot.nq + robot.nv), "u": ca.SX.sym("u", robot.nu)} | robot.symbols("wrenches")
    q, v, further = s["x"][: robot.nq], s["x"][robot.nq :], list(s.values())[2:]
    a = robot.forward_dynamics(q, v, robot.actuators.tau(q, s["u"]), *further)
    rates = ca.vertcat(robot.tree.configuration_rate(q, v), a)
    yield function("state_derivative", s, {"xdot": rates})


def inverse_dynamics_derivatives(robot: Robot) -> Iterator[ca.Function]:
    s, nv = robot.symbols("q", "v", "a", "wrenches"), robot.nv
    directions = ca.diagcat(robot.tree.tangent_map(s["q"]), ca.DM.eye(nv))
    tau = robot.inverse_dynamics(*s.values())
    for by_state in derivatives(tau, ca.vertcat(s["q"], s["v"]), directions):
        by_q, by_v = ca.horzsplit(by_state, nv)
        yield function("inverse_dynamics_derivatives", s, {"dtau_dq": by_q, "dtau_dv": by_v})


def forward_dynamics_derivatives(robot: Robot) -> Iterator[ca.Function]:
    s, nv = robot.symbols("q", "v", "tau", "wrenches"), robot.nv
    directions = ca.diagcat(robot.tree.tangent_map(s["q"]), ca.DM.eye(2 * nv))
    smallest, variant = robot.forward_dynamics, type(robot).forward_dynamics.variant(robot)
    larger = [variant] if variant.n_instructions() > smallest.n_instructions() else []
    for graph in (smallest, *larger):  # a larger one can have the smaller derivatives
        a = graph(*s.values())
        for slopes in derivatives(a, ca.vertcat(s["q"], s["v"], s["tau"]), directions):
            by_q, by_v, by_tau = ca.horzsplit(slopes, nv)
            inverse = by_tau if robot.has_load_friction else symmetric(by_tau)
            yield function("forward_dynamics_derivatives", s, {"da_dq": by_q, "da_dv": by_v, "Minv": inverse})


COMPOSITIONS: dict[str, Composition] = {
    write.__name__: write
    for write in (
        mass_matrix,
        mass_matrix_inverse,
        kinetic_energy,
        generalized_gravity,
        nle,
        forward_dynamics,
        state_derivative,
        inverse_dynamics_derivatives,
        forward_dynamics_derivatives,
    )
}
"""The compositions of each Function, by its name."""


def _gradient(robot: Robot) -> ca.Function:
    """Gravity g, the gradient of the potential energy of the links."""
    s = robot.symbols("q")
    energy = ca.SX(robot.gravitational_energy_expression(s["q"]))
    g = robot.tree.tangent_map(s["q"]).T @ ca.gradient(energy, s["q"])
    return function("generalized_gravity", s, {"g": g})


def _parameters(inputs: dict[str, ca.SX]) -> list[ca.SX]:
    """The parameters p, where they are an input."""
    return [inputs["p"]] if "p" in inputs else []


def _zeros(robot: Robot) -> list[ca.DM]:
    """Wrenches of zero, where they are an input."""
    return [ca.DM.zeros(*x.shape) for name, x in robot.symbols("wrenches").items() if name == "wrenches"]

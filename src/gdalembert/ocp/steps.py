"""One step of a motion as a ``casadi.Function``, which a transcription repeats.

A step is a Runge–Kutta method (A, b, c). With x = [q; v] at its start, the stages are

    v_i = v + h Σ_j A_ij a_j        q_i = q + h Σ_j A_ij dq_j        tau(q_i, v_i, a_i) = tau of u_i

and ``x_next`` is the same sum with b. If dq/dt = v, the second equation is q + h c_i v + h² Σ_j (A²)_ij a_j, so that
the accelerations a_j are the only unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentTypeError
from gdalembert.model.configuration import unit_and_scale, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import choice, integer
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

CONTROLS = ("constant", "linear")
SCHEMES = ("legendre", "radau")


@dataclass(frozen=True)
class Method:
    """A Runge–Kutta method: ``a`` (s × s), ``b`` (s), ``c`` (s)."""

    a: Array
    b: Array
    c: Array


def collocation_method(degree: int, scheme: str) -> Method:
    """The method whose stages are the collocation points, of order 2 s (Legendre) or 2 s − 1 (Radau).

    Raises:
        ArgumentTypeError, ArgumentError: if CasADi has no such points.
    """
    degree = integer("degree", degree, 1, 9)
    choice("scheme", scheme, SCHEMES)
    c = np.array(ca.collocation_points(degree, scheme))
    powers = np.arange(degree)
    to_coefficients = np.linalg.inv(c[:, None] ** powers)
    integrals = c[:, None] ** (powers + 1) / (powers + 1)
    return Method(integrals @ to_coefficients, (1 / (powers + 1)) @ to_coefficients, c)


def rk4_method() -> Method:
    """The classical Runge–Kutta method of order 4."""
    a = np.zeros((4, 4))
    a[1, 0] = a[2, 1] = 1 / 2
    a[3, 2] = 1
    return Method(a, np.array([1, 2, 2, 1]) / 6, np.array([0, 1 / 2, 1 / 2, 1]))


def rk4(dyn: Dynamics | ConstrainedDynamics, *, control: str = "constant") -> ca.Function:
    """A step of the classical Runge–Kutta method, with forward dynamics.

    Args:
        dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`.
        control: ``"constant"``: u (nu) is held over the step; ``"linear"``: u (nu × 2) are its values at both ends.

    Returns:
        (x, u, h) → (x_next, q, v, a): [q; v] (nq + nv) after the step of h [s], with quaternions and pairs (cos, sin)
        normalised; and the four stages, a column each. If the robot has parameters, p is the last input.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """
    check_driven_by_u("rk4", dyn.dynamics if isinstance(dyn, ConstrainedDynamics) else dyn)
    method, nq = rk4_method(), dyn.tree.nq
    s = step_symbols(dyn, control)
    blocks = unit_blocks(dyn.tree)
    states: list[ca.SX] = []
    rates: list[ca.SX] = []
    for i in range(len(method.c)):
        x = s["x"] + s["h"] * sum((w * f for w, f in zip(method.a[i], rates, strict=False) if w), ca.SX(0))
        q, scale = unit_and_scale(x[:nq], blocks)
        rate = dyn.state_derivative(ca.vertcat(q, x[nq:]), control_at(s["u"], method.c[i]), *dyn.symbols().values())
        states.append(ca.vertcat(q, x[nq:]))
        rates.append(ca.vertcat(scale * rate[:nq], rate[nq:]))
    x = s["x"] + s["h"] * sum((w * f for w, f in zip(method.b, rates, strict=True)), ca.SX(0))
    q, _ = unit_and_scale(x[:nq], blocks)
    stages, slopes = ca.horzcat(*states), ca.horzcat(*rates)
    outputs = {"x_next": ca.vertcat(q, x[nq:]), "q": stages[:nq, :], "v": stages[nq:, :], "a": slopes[nq:, :]}
    return differentiable(function("rk4", s, outputs))


def collocation(dyn: Dynamics, *, degree: int = 3, scheme: str = "legendre", control: str = "constant") -> ca.Function:
    """A step of implicit collocation with inverse dynamics as the residual: no mass matrix is inverted.

    Args:
        dyn: rigid or flexible.
        degree: number of collocation points, 1 to 9.
        scheme: ``"legendre"``, of order 2 degree, which preserves the lengths of quaternions; or ``"radau"``, of order
            2 degree − 1, which damps stiff dynamics and has its last point at the end of the step.
        control: as in :func:`rk4`.

    Returns:
        (x, k, u, h) → (x_next, residual, q, v, a): k has a column for each collocation point, the accelerations (nv)
        and below them the rates of those entries of q whose rate is not an entry of v (:func:`free_rates`);
        ``residual`` (as long as k) is zero for the k of the motion: tau(q_i, v_i, a_i) less that of u_i, and
        the rates. If the robot has parameters, p is the last input.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """
    check_driven_by_u("collocation", dyn)
    method, nv = collocation_method(degree, scheme), dyn.tree.nv
    free, _ = free_rates(dyn.tree)
    s = step_symbols(dyn, control, k=(nv + len(free), degree))
    q, v, x_next = interpolated(dyn.tree, method, s["x"], s["k"], s["h"])
    at_stage = stage(dyn)
    found = [
        at_stage(q[:, i], v[:, i], s["k"][:, i], control_at(s["u"], c), *dyn.symbols().values())
        for i, c in enumerate(method.c)
    ]
    outputs = {
        "x_next": x_next,
        "residual": ca.vertcat(*(residual for _, residual in found)),
        "q": ca.horzcat(*(unit for unit, _ in found)),
        "v": v,
        "a": s["k"][:nv, :],
    }
    return differentiable(function("collocation", s, outputs))


def stage(dyn: Dynamics) -> ca.Function:
    """(q, v, k, u) → (unit, residual) at a collocation point: q with quaternions normalised, and as a step has it."""
    tree, p = dyn.tree, dyn.symbols()
    free, _ = free_rates(tree)
    s = symbols(q=tree.nq, v=tree.nv, k=tree.nv + len(free), u=dyn.nu) | p
    unit, _ = unit_and_scale(s["q"], unit_blocks(tree))
    tau = dyn.inverse_dynamics(unit, s["v"], s["k"][: tree.nv, :], *p.values())
    rates = tree.configuration_rate(s["q"], s["v"])[free, 0]
    residual = ca.vertcat(tau - dyn.actuators.tau(unit, s["u"]), s["k"][tree.nv :, :] - rates)
    return differentiable(function("stage", s, {"unit": unit, "residual": residual}))


def interpolated(
    tree: Tree, method: Method, x: Matrix, k: Matrix, h: Matrix, without: int = 0
) -> tuple[Matrix, Matrix, Matrix]:
    """q and v, a column for each stage, and [q; v] after each step, of a (nv rows of k) and the free rates below.

    x and h have a column for each step, k for each stage. ``without``: so many last entries of q and of v.
    """
    nq, nv, n = tree.nq - without, tree.nv - without, x.shape[1]
    free, follows = free_rates(tree)
    follows = follows[:nq, :nv]

    def of_each(coefficients: Array) -> ca.DM:
        return ca.kron(ca.DM.eye(n), ca.sparsify(ca.DM(coefficients)))

    weights = method.b[:, None]
    a_sum, a_twice, b_sum, b_twice = (
        of_each(each) for each in (method.a.T, (method.a @ method.a).T, weights, method.a.T @ weights)
    )
    once, along = of_each(np.ones((1, len(method.c)))), of_each(method.c[None, :])
    q0, v0, a, w = x[:nq, :], x[nq:, :], k[:nv, :], k[nv:, :]
    spread = ca.sparsify(ca.DM(np.eye(nq)[:, free]))
    of_v, of_q = (ca.repmat(h, size, 1) for size in (nv, nq))
    v = v0 @ once + (of_v @ once) * (a @ a_sum)
    rates = follows @ (v0 @ along + (of_v @ once) * (a @ a_twice)) + spread @ (w @ a_sum)
    v_next = v0 + of_v * (a @ b_sum)
    rates_next = follows @ (v0 + of_v * (a @ b_twice)) + spread @ (w @ b_sum)
    return q0 @ once + (of_q @ once) * rates, v, ca.vertcat(q0 + of_q * rates_next, v_next)


def free_rates(tree: Tree) -> tuple[list[int], ca.DM]:
    """The entries of q whose rate is not an entry of v; and the matrix (nq × nv) of ones that gives the other rates."""
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    rates = ca.jacobian(tree.configuration_rate(q, v), v)
    free = [i for i in range(tree.nq) if not (rates[i, :].nnz() == 1 and rates[i, :].nz[0].is_one())]
    follows = ca.evalf(ca.substitute(rates, q, ca.DM.zeros(tree.nq)))
    follows[free, :] = 0
    return free, ca.sparsify(follows)


def check_dynamics(where: str, dyn: object) -> None:
    """Raises ArgumentTypeError unless dyn is a Dynamics."""
    if isinstance(dyn, ConstrainedDynamics):
        raise ArgumentTypeError(
            f"{where} takes a Dynamics, not ConstrainedDynamics, which gd.ocp.Problem takes; in a transcription of "
            "your own its inverse_dynamics and acceleration_error take a and forces as variables"
        )
    if not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"{where} takes a Dynamics, as gd.NewtonEuler(model), not {type(dyn).__name__}")


def check_driven_by_u(where: str, dyn: Dynamics) -> None:
    """Refuse a robot whose motion does not follow from u alone.

    Raises:
        ArgumentTypeError: if it is not a Dynamics.
        UnsupportedError: if wrenches are an input of it.
    """
    check_dynamics(where, dyn)
    dyn.external_wrenches.refuse(where)


def differentiable(step: ca.Function) -> ca.Function:
    """The same Function, for which CasADi uses whole Jacobians, not forward directions column by column."""
    inputs = step.sx_in()
    by_jacobian = {"enable_forward": False}
    options = by_jacobian | {"reverse_options": by_jacobian}
    return ca.Function(step.name(), inputs, step.call(inputs), step.name_in(), step.name_out(), options)


def step_symbols(dyn: Dynamics | ConstrainedDynamics, control: str, **more: tuple[int, int]) -> dict[str, ca.SX]:
    choice("control", control, CONTROLS)
    shapes = {"x": (dyn.tree.nq + dyn.tree.nv, 1), **more, "u": (dyn.nu, 1 + (control == "linear"))}
    return {name: ca.SX.sym(name, *shape) for name, shape in (shapes | {"h": (1, 1)}).items()} | dyn.symbols()


def control_at(u: ca.SX, fraction: float) -> Matrix:
    """u at a fraction of the step."""
    return u if u.shape[1] == 1 else (1 - fraction) * u[:, 0] + fraction * u[:, 1]

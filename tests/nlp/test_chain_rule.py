"""Derivatives by the chain rule are those that CasADi finds in the whole graph."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.nlp.chain_rule import ChainRule

TOLERANCE = 1e-12


def swing(**options: object) -> dict[str, ca.MX]:
    """A motion in a free time, whose path follows from the values of the steps, with a cost of products."""
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, (0.5, 2.0), 3, bounds=ocp.Bounds.of(dyn, model), **options)  # type: ignore[arg-type]
    problem.start([0, 0])
    weight = problem.parameter("weight")
    problem.path(lambda q, v: ca.sin(q[0] + q[1]) * v[1], upper=weight)
    effort = problem.integral(lambda u, q: ca.sumsqr(u) + ca.cos(q[1]))
    problem.minimize(problem.duration * effort**2 + weight * ca.sumsqr(problem.v[:, -1]))
    return problem.solver("ipopt")._nlp.problem


def calls_of_sparse_matrices() -> dict[str, ca.MX]:
    """Functions of sparse matrices that call one another, once each, some of whose values nothing depends on."""
    a, b = ca.SX.sym("a", ca.Sparsity.lower(2)), ca.SX.sym("b")
    first = ca.Function("first", [a, b], [ca.sin(a) * b, ca.sparsify(ca.vertcat(0, b**3)), a[0, 0] + b])
    x, p = ca.MX.sym("x", 4), ca.MX.sym("p")
    one = first(ca.blockcat([[x[0], 0], [x[1] * x[2], p]]), x[3])
    other = first(one[0] @ one[0], one[1][1] + x[0] * one[1][1])
    return {"x": x, "p": p, "f": other[0][1, 0] * one[1][1], "g": ca.vertcat(x[1] * ca.vec(other[1]), one[0][1, 1])}


def no_call() -> dict[str, ca.MX]:
    x, p = ca.MX.sym("x", 2), ca.MX.sym("p")
    return {"x": x, "p": p, "f": p * x[0] ** 2 * x[1], "g": ca.sin(x)}


PROGRAMS: list[Callable[[], dict[str, ca.MX]]] = [
    lambda: swing(degree=2),
    lambda: swing(method="rk4", control="linear"),
    calls_of_sparse_matrices,
    no_call,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=["collocation", "rk4", "sparse", "none"])
def test_derivatives_are_those_of_the_whole_graph(program: Callable[[], dict[str, ca.MX]]) -> None:
    problem = program()
    x, p, f, g = (problem[key] for key in "xpfg")
    factor, factors = ca.MX.sym("factor"), ca.MX.sym("factors", g.numel())
    hessian, gradient = ca.hessian(factor * f + ca.dot(factors, g), x)
    whole = ca.Function("whole", [x, p, factor, factors], [g, ca.jacobian(g, x), gradient, hessian])
    rng = np.random.default_rng(0)
    numbers = [rng.uniform(0.3, 1.0, size) for size in (x.numel(), p.numel(), 1, g.numel())]
    rule = ChainRule(problem)
    found = [*rule.jacobian(*numbers[:2]), *rule.hessian(*numbers)]
    for mine, true in zip(found, whole(*numbers), strict=True):
        true = true.full()
        assert np.abs(mine.full() - true).max() <= TOLERANCE * max(1.0, np.abs(true).max())


def test_no_entry_is_added_to_the_jacobian() -> None:
    problem = swing(degree=3)
    found, true = ChainRule(problem).jacobian.sparsity_out(1), ca.jacobian_sparsity(problem["g"], problem["x"])
    assert found.is_subset(true)

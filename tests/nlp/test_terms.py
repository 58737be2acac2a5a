"""Derivatives of a sum of terms are those that CasADi finds in the whole graph."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.nlp.entries import NOWHERE
from gdalembert.nlp.stage_program import StageProgram

TOLERANCE = 1e-12


def swing(**options: Any) -> StageProgram:
    """A motion in a free time, with rows at the stages and a cost of products."""
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, (0.5, 2.0), 3, bounds=ocp.Bounds.of(dyn, model), **options)
    problem.start([0, 0])
    weight = problem.parameter("weight")
    problem.path(lambda q, v: ca.sin(q[0] + q[1]) * v[1], upper=weight)
    effort = problem.integral(lambda u, q: ca.sumsqr(u) + ca.cos(q[1]))
    problem.minimize(problem.duration * effort**2 + weight * ca.sumsqr(problem.v[:, -1]))
    return problem.solver("ipopt")._nlp


@pytest.mark.parametrize("options", [{"degree": 2}, {"method": "rk4", "control": "linear"}], ids=["collocation", "rk4"])
def test_derivatives_are_those_of_the_whole_graph(options: dict[str, Any]) -> None:
    program = swing(**options)
    x, p, f, g = (program.problem[key] for key in "xpfg")
    factor, factors = ca.MX.sym("factor"), ca.MX.sym("factors", g.numel())
    hessian, gradient = ca.hessian(factor * f + ca.dot(factors, g), x)
    outputs = [g, ca.jacobian(g, x), gradient, hessian, f, ca.gradient(f, x)]
    whole = ca.Function("whole", [x, p, factor, factors], outputs)
    rng = np.random.default_rng(0)
    numbers = [rng.uniform(0.3, 1.0, size) for size in (x.numel(), p.numel(), 1, g.numel())]
    derivatives = program.sum
    values = [
        *derivatives.jacobian(*numbers[:2]),
        *derivatives.hessian(*numbers),
        *derivatives.gradient(*numbers[:2]),
    ]
    for value, true in zip(values, whole(*numbers), strict=True):
        expected = true.full()
        assert np.abs(value.full() - expected).max() <= TOLERANCE * max(1.0, np.abs(expected).max())


def test_no_entry_is_added_to_the_jacobian() -> None:
    program = swing(degree=3)
    true = ca.jacobian_sparsity(program.problem["g"], program.problem["x"])
    assert program.sum.jacobian.sparsity_out(1).is_subset(true)
    assert program.sum.pattern.is_subset(true)


def test_terms_place_by_place_add_up_to_the_program() -> None:
    """As solvers that take stages one by one read them, with scaled variables and rows."""
    program = swing(degree=2)
    assert isinstance(program, StageProgram)
    rng = np.random.default_rng(0)
    z, p = rng.uniform(0.3, 1.0, program.size), rng.uniform(0.3, 1.0, program.problem["p"].numel())
    f, g = 0.0, (program.sum.linear @ z).full().ravel()
    for term in program.terms:
        for variables, parameters, rows in zip(term.variables.T, term.parameters.T, term.rows.T, strict=True):
            f += float(term.cost(z[variables], p[parameters]))
            values = term.values(z[variables], p[parameters]).full().ravel()
            np.add.at(g, rows[rows != NOWHERE], values[rows != NOWHERE])
    problem = [program.problem[key] for key in "xpfg"]
    expected = [value.full().ravel() for value in ca.Function("program", problem[:2], problem[2:])(z, p)]
    for value, true in zip(([f], g), expected, strict=True):
        assert np.abs(value - true).max() <= TOLERANCE * np.abs(true).max()

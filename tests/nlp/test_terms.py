"""Derivatives of a sum of terms are those that CasADi finds in the whole graph."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
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

"""``problem.stage``: the plans of all solvers are rows of it."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError
from tests.helpers.ocp import slider, turning

N = 6


def reaching(**options: Any) -> ocp.Problem:
    """A limited path, squares that have a reference and a weight, and another integral."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    problem = ocp.Problem(dyn, **({"duration": 1.0, "intervals": N} | options))
    problem.start(problem.parameter("q0", 2))
    problem.parameter("ref", 2, at="grid")
    weight = problem.parameter("weight")
    problem.squares(lambda q, u, ref: ca.vertcat(q - ref, u), [2, 3, 0.1, 0.2])
    problem.squares(lambda v: ca.log(3 + v), weight)
    problem.minimize(problem.integral(lambda v, t: t * ca.sumsqr(v)))
    problem.path(lambda q, u: q + u, -50, 50)
    return problem


def values() -> dict[str, Any]:
    ref = np.vstack([np.linspace(0, 1, N + 1), np.sin(np.linspace(0, 1, N + 1))])
    return {"q0": [0.2, -0.1], "ref": ref, "weight": 0.7}


@pytest.mark.parametrize(
    "options",
    [
        {"degree": 3, "bounds_at": "grid"},
        pytest.param({"degree": 2, "control": "linear"}, marks=pytest.mark.long),
        pytest.param({"method": "rk4"}, marks=pytest.mark.long),
        pytest.param({"degree": 2, "duration": (0.5, 2.0)}, marks=pytest.mark.long),
    ],
)
def test_a_plan_is_a_row_of_stages(options: dict[str, Any]) -> None:
    problem, known = reaching(**options), values()
    plan, stage = problem.solve(**known), problem.stage
    assert stage.name_in() == ["x", "u", "w", "t", "q0", "ref", "weight"]
    assert stage.name_out() == ["x_next", "equations", "rows", "residuals", "cost"]
    free = isinstance(options.get("duration"), tuple)
    x = np.hstack([plan.q, plan.v, np.full((N + 1, 1), plan.duration)[:, : int(free)]])
    a = plan.stages.a.reshape(N, -1) if stage.numel_in("w") else np.zeros((N, 0))
    cost = squares = 0.0
    for k in range(N):
        u = plan.u[k : k + 1 + (options.get("control") == "linear")].T
        reference = known["ref"][:, k : k + 2]
        found = stage(x[k], u, a[k], plan.t[k], known["q0"], reference, known["weight"])
        x_next, equations, rows, residuals, part = (each.full() for each in found)
        assert np.abs(x_next.ravel() - x[k + 1]).max() < 1e-7  # as far as IPOPT closes gaps
        assert np.abs(equations).max(initial=0.0) < 1e-6
        assert np.abs(rows).max() <= 50
        cost += part.item()
        squares += (residuals**2).sum()
    assert cost == pytest.approx(plan.cost, rel=1e-10)
    assert 0 < squares < cost
    assert squares == pytest.approx(plan.cost - problem.value(problem.integral(lambda v, t: t * ca.sumsqr(v))).item())


def test_projections_are_unknowns_of_a_stage() -> None:
    """c(q) = 0 and J v = 0 at the end of a step; of a single stage, velocities decay and there are none."""
    model = pin.Model()
    model.name = "puck"
    joint = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "plane")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addBodyFrame("tip", joint, pin.SE3(np.eye(3), np.array([0.5, 0, 0])), 0)
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("tip", "3D", np.array([0.5, 0, 0]), rows=("x",))])
    sizes = {}
    for degree in (1, 2):
        problem = ocp.Problem(con, 1.0, 4, degree=degree)
        problem.start(pin.neutral(model))
        problem.minimize(problem.integral(lambda v: ca.sumsqr(v)))
        sizes[degree] = problem.stage.numel_in("w")
        if degree == 1:  # at the rate of an interval, beside J a and J̇ v, which are zero here
            x, u = np.r_[pin.neutral(model), 0.3, 0.0, 0.0], np.zeros(con.nu)
            assert problem.stage(x, u, np.zeros(4), 0.0)[1].full()[-1] == pytest.approx(4 * 0.3, rel=1e-14)
    assert sizes == {1: 3 + 1, 2: 2 * (3 + 3 + 1) + 2}


def test_rates_of_turns_are_unknowns_of_a_stage() -> None:
    problem = ocp.Problem(turning(pin.JointModelSpherical()), 1.0, 4, degree=2)
    problem.minimize(problem.integral(lambda v: ca.sumsqr(v)))
    assert problem.stage.numel_in("w") == 2 * (3 + 3)


def test_a_stage_has_a_cost() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    with pytest.raises(ArgumentError, match="nothing is to be minimised"):
        _ = problem.stage

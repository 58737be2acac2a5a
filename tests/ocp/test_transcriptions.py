"""Transcriptions of one's own: a Runge–Kutta method that registers itself is a method of every problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.ocp.system.steps import TRANSCRIPTIONS
from tests.helpers.sets import quick


@pytest.fixture(autouse=True)
def own_transcriptions() -> Iterator[None]:
    @ocp.transcription("trapezoidal")
    def trapezoidal(degree: int, scheme: str) -> ocp.RungeKutta:
        return ocp.RungeKutta(np.array([[0.0, 0.0], [0.5, 0.5]]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))

    @ocp.transcription("midpoint")
    def midpoint(degree: int, scheme: str) -> ocp.RungeKutta:
        return ocp.RungeKutta(np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([0.0, 1.0]), np.array([0.0, 0.5]))

    yield
    for name in ("trapezoidal", "midpoint"):
        del TRANSCRIPTIONS[name]


def swing(method: str, intervals: int) -> ocp.Solution:
    """The cheapest way of a pendulum to its side."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "swing")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0.0, 0.0, -0.5]), 0.01 * np.eye(3)), pin.SE3.Identity())
    problem = ocp.Problem(gd.NewtonEuler(model), 1.0, intervals, method=method)
    problem.start([0.0])
    problem.end([1.5])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve()


@pytest.mark.parametrize("method", quick(["trapezoidal", "midpoint"], "trapezoidal"))
@pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")
def test_a_method_of_order_two_is_of_order_two(method: str) -> None:
    errors = [abs(swing(method, n).cost / swing("collocation", n).cost - 1) for n in (20, 40)]
    assert errors[0] < 0.1
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_an_implicit_method_takes_inverse_dynamics_and_an_explicit_one_forward_dynamics() -> None:
    found = {method: swing(method, 10) for method in ("trapezoidal", "midpoint")}
    assert found["trapezoidal"].stages.t.size == found["midpoint"].stages.t.size == 20
    for solution in found.values():
        tau = solution.dyn.inverse_dynamics(solution.stages.q.T, solution.stages.v.T, solution.stages.a.T)
        np.testing.assert_allclose(tau.full().T, solution.stages.u, atol=1e-6)


A, B, C = [[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5], [0.0, 1.0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ((A, [0.55, 0.55], C), "RungeKutta: the entries of b add up to 1.1; they must to 1"),
        ((A, B, [0.0, 0.7]), r"RungeKutta: row 1 of a adds up to 1, not to c\[1\] = 0.7"),
        ((A[:1], B, C), r"RungeKutta: a has the shape \(1, 2\); give a \(s × s\), b \(s\) and c \(s\)"),
        ((A, [B], C), r"RungeKutta: b has the shape \(1, 2\)"),
        (([], [], []), r"RungeKutta: b has the shape \(0,\)"),
        (([[0.0, 0.0], [np.nan, 0.0]], B, C), r"RungeKutta: a: entry \[1, 0\] is nan"),
        (("a", B, C), "RungeKutta: a: expected numbers, got 'a'"),
    ],
)
def test_tables_of_no_method_are_refused(table: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{message}"):
        ocp.RungeKutta(*table)


def test_a_registration_replaces_no_other_transcription() -> None:
    with pytest.raises(ArgumentError, match=r"^transcription 'rk4': .*rk4_method has that name; take another$"):
        ocp.transcription("rk4")(lambda degree, scheme: ocp.RungeKutta(A, B, C))
    with pytest.raises(ArgumentTypeError, match=r"^transcription: got 5; give its name"):
        ocp.transcription(5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"^transcription 'heun': got 5; give a function"):
        ocp.transcription("heun")(5)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda degree: None, "too many positional arguments"),
        (lambda degree, scheme, more: None, "missing a required argument: 'more'"),
    ],
)
def test_a_transcription_takes_a_degree_and_a_scheme(make: Any, reason: str) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"^transcription 'heun': .*\(degree, scheme\): {reason}; give a func"):
        ocp.transcription("heun")(make)
    assert "heun" not in TRANSCRIPTIONS


def test_a_transcription_gives_a_method() -> None:
    ocp.transcription("nothing")(lambda degree, scheme: None)  # type: ignore[arg-type, return-value]
    try:
        with pytest.raises(ArgumentTypeError, match=r"^transcription 'nothing': expected a RungeKutta, got None$"):
            ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 1.0, 3, method="nothing")
    finally:
        del TRANSCRIPTIONS["nothing"]

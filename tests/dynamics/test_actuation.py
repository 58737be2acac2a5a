"""Actuators, and what else every robot answers."""

from __future__ import annotations

import pickle

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.testing import assert_valid
from tests.helpers.models import relative_error


def test_by_default_there_is_an_actuator_for_each_velocity() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    assert np.array_equal(dyn.actuation, np.eye(2))
    assert (dyn.nu, dyn.coordinate_names, list(dyn.modes)) == (2, ("joint1", "joint2"), [])
    assert not dyn.damping_matrix.any()


def test_actuators_act_by_b() -> None:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model, actuation=[[1.0], [0.0]])
    x, u = np.array([0.1, 0.2, 0.3, 0.4]), 5.0
    a = dyn.forward_dynamics(x[:2], x[2:], [u, 0.0])
    assert relative_error(dyn.state_derivative(x, u).full().ravel(), np.r_[x[2:], a.full().ravel()]) < 1e-14
    assert dyn.state_derivative.size1_in("u") == 1
    assert np.array_equal(pickle.loads(pickle.dumps(dyn)).actuation, [[1.0], [0.0]])


def driven() -> ca.Function:
    """A force along the cart that a rope turns with the pendulum, and a motor whose torque is quadratic."""
    q, rope, motor = ca.SX.sym("q", 2), ca.SX.sym("rope"), ca.SX.sym("motor")
    tau = ca.vertcat(rope * ca.cos(q[1]), 0.5 * motor + 0.2 * motor**2 - rope * q[0])
    return ca.Function("driven", [q, rope, motor], [tau], ["q", "rope", "motor"], ["tau"])


def test_actuators_act_by_a_function() -> None:
    model, function = gd.load_urdf("cart_pendulum"), driven()
    dyn = gd.NewtonEuler(model, actuation=function)
    x, u = np.array([0.1, 0.2, 0.3, 0.4]), np.array([5.0, -2.0])
    tau = function(x[:2], *u)
    a = dyn.forward_dynamics(x[:2], x[2:], tau)
    for robot in (dyn, pickle.loads(pickle.dumps(dyn))):
        assert relative_error(robot.state_derivative(x, u).full().ravel(), np.r_[x[2:], a.full().ravel()]) < 1e-14
        assert (robot.nu, robot.actuator_names) == (2, ("rope", "motor"))
    motion, held = (
        gd.simulate(dyn, x, [0, 0.05], u),
        gd.simulate(gd.NewtonEuler(model), x, [0, 0.05], servo(function, u)),
    )
    assert relative_error(motion.x[-1], held.x[-1]) < 1e-9  # of the integrator
    with pytest.raises(UnsupportedError, match=r"^actuation: the actuators of cart_pendulum are a Function; give the"):
        _ = dyn.actuation
    assert_valid(dyn, model, samples=20)


def servo(function: ca.Function, u: np.ndarray) -> ca.Function:
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 4)
    return ca.Function("servo", [t, x], [function(x[:2], *u)])


def test_a_function_of_actuators_is_linearised() -> None:
    """Central differences of the state derivative, at the effort that holds the robot."""
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation=driven())
    q = np.array([0.3, 0.7])
    u = dyn.actuators.efforts(q, dyn.nle(q, [0, 0]).full().ravel())
    x = np.r_[q, 0, 0]
    assert np.abs(dyn.state_derivative(x, u).full()).max() < 1e-12  # at rest
    h = 1e-5
    by_x, by_u = (
        np.column_stack([(f(h * e) - f(-h * e)).full().ravel() / (2 * h) for e in np.eye(n)])
        for n, f in ((4, lambda d: dyn.state_derivative(x + d, u)), (2, lambda d: dyn.state_derivative(x, u + d)))
    )
    a, b = dyn.linearize(q)
    assert relative_error(a, by_x) < 1e-8  # of the differences
    assert relative_error(b, by_u) < 1e-8


def test_columns_have_names() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation={"belt": [2.0, 0.0], "cable": [1.0, -1.0]})
    assert dyn.actuator_names == ("belt", "cable")
    assert np.array_equal(dyn.actuation, [[2.0, 1.0], [0.0, -1.0]])


@pytest.mark.parametrize(
    ("actuation", "error", "message"),
    [
        ("eye", ArgumentTypeError, "actuation: expected numbers, got 'eye'"),
        ([1.0, 0.0], ArgumentError, r"actuation: got shape \(2,\); give B \(2 × nu\) of tau = B u"),
        (np.ones((3, 1)), ArgumentError, r"actuation: got shape \(3, 1\); give B"),
        ("B", ArgumentTypeError, "actuation: expected numbers"),
        (np.ones((2, 0)), ArgumentError, r"actuation: got shape \(2, 0\); give B"),
        ([[np.nan], [0.0]], ArgumentError, r"actuation: entry \[0, 0\] is nan"),
        ({"belt": [1.0]}, ArgumentError, r"actuation: got shape \(1, 1\); give B \(2 × nu\)"),
        (np.zeros((2, 1)), ArgumentError, "actuation: all entries of B are 0, so that nothing drives the robot; give"),
        (
            ca.Function("f", [q := ca.SX.sym("q", 2), u := ca.SX.sym("u")], [q]),
            ArgumentError,
            "actuation: tau of the Function does not depend on u; give a casadi.Function",
        ),
        ({0: [1.0, 0.0]}, ArgumentTypeError, r"actuation: the names are \[0\]; give {name: column of B \(nv\)}"),
        (
            ca.Function("f", [q := ca.SX.sym("q", 3), u := ca.SX.sym("u")], [u * q]),
            ArgumentError,
            r"actuation: the Function has inputs \[\(3, 1\), \(1, 1\)\] and .*; give a casadi.Function \(q, u\) -> ",
        ),
    ],
)
def test_other_matrices_are_refused(actuation: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation=actuation)  # type: ignore[arg-type]

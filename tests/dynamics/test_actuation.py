"""Actuators, and what else every robot answers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
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


@pytest.mark.parametrize(
    ("actuation", "error", "message"),
    [
        ("eye", ArgumentTypeError, "actuation: expected numbers, got 'eye'"),
        ([1.0, 0.0], ArgumentError, r"actuation: got shape \(2,\); give B \(2 × nu\) of tau = B u"),
        (np.ones((3, 1)), ArgumentError, r"actuation: got shape \(3, 1\); give B"),
        ("B", ArgumentTypeError, "actuation: expected numbers"),
        (np.ones((2, 0)), ArgumentError, r"actuation: got shape \(2, 0\); give B"),
        ([[np.nan], [0.0]], ArgumentError, r"actuation: entry \[0, 0\] is nan"),
    ],
)
def test_other_matrices_are_refused(actuation: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation=actuation)  # type: ignore[arg-type]

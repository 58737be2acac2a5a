"""Natural frequencies and linearisation of rigid robots."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.dynamics.forces import Damping
from gdalembert.errors import ArgumentError
from tests.helpers.models import relative_error


def test_a_rigid_robot_with_springs_has_natural_frequencies() -> None:
    """A cart (1 coordinate) and a pendulum on springs: eigenvalues of M⁻¹ K, and of the linearised equations."""
    model = gd.load_urdf("cart_pendulum")
    springs = {"cart": (30.0, 0.0), "pendulum": (4.0, 0.0)}
    names = list(model.names)[1:]
    dyn = gd.NewtonEuler(model, springs=dict(zip(names, springs.values(), strict=True)), clean=0)
    q = np.zeros(2)
    k, m = np.diag([30.0, 4.0]), dyn.mass_matrix(q).full()
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(m, k)).real))
    assert relative_error(dyn.natural_frequencies(q), expected) < 1e-12
    assert relative_error(dyn.natural_frequencies(q, joints="free"), expected) < 1e-12
    assert dyn.natural_frequencies(q, joints="locked").shape == (0,)
    free = gd.NewtonEuler(model)
    assert not free.natural_frequencies(q).any()


def test_linearisation_of_a_rigid_robot_is_the_derivative_of_its_state() -> None:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model, actuation=[[1.0], [0.0]], forces=[Damping(np.diag([0.5, 0.1]))], clean=0)
    q, v, u = np.array([0.2, 0.7]), np.array([0.3, -0.4]), np.array([2.0])
    a, b = dyn.linearize(q, v, u)
    x, s = ca.SX.sym("x", 4), ca.SX.sym("u")
    xdot = dyn.state_derivative(x, s)
    expected = ca.Function("expected", [x, s], [ca.jacobian(xdot, x), ca.jacobian(xdot, s)])(np.r_[q, v], u)
    for found, reference in zip((a, b), expected, strict=True):
        assert relative_error(found, reference.full()) < 1e-12
    with pytest.raises(ArgumentError, match=r"nothing holds .* at q.*start from a configuration at rest, or give u"):
        dyn.linearize([0.0, 0.3])

"""Algebra, each function beside its definition."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from tests.helpers.models import relative_error

RNG = np.random.default_rng(0)


def test_spin_is_what_a_turning_point_feels() -> None:
    alpha, omega, x = RNG.normal(size=(3, 3))
    felt = np.cross(alpha, x) + np.cross(omega, np.cross(omega, x))
    assert relative_error((spatial.spin(ca.DM(alpha), ca.DM(omega)) @ x).full().ravel(), felt) < 1e-14


def test_congruence_is_symmetric_to_the_last_bit() -> None:
    r, s = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
    value = spatial.congruence(ca.DM(r), ca.DM(s + s.T)).full()
    assert np.array_equal(value, value.T)
    assert relative_error(value, r @ (s + s.T) @ r.T) < 1e-14


def test_pseudo_inertia_and_back() -> None:
    body = pin.Inertia.Random()
    at_com = pin.Inertia(body.mass, np.zeros(3), body.inertia)
    assert relative_error(spatial.pseudo_inertia_of(ca.DM(body.inertia)).full(), at_com.toPseudoInertia().sigma) < 1e-14
    second = spatial.pseudo_inertia_of(ca.DM(body.inertia))
    assert relative_error(spatial.inertia_of(second).full(), body.inertia) < 1e-14

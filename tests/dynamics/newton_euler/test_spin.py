"""Spins: second derivatives of rotations, and the moments that they ask for."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert.dynamics.newton_euler.spin import NO_SPIN, Spin, spin_about_axis, spin_of
from tests.helpers.newton_euler import Array


def skew(x: Array) -> Array:
    return ca.skew(x).full()


def random_spin(seed: int) -> tuple[Array, Array, Array]:
    """α, ω and U."""
    alpha, omega = np.random.default_rng(seed).normal(size=(2, 3))
    return alpha, omega, skew(alpha) + skew(omega) @ skew(omega)


def spins(seed: int) -> dict[str, Spin]:
    alpha, omega, u = random_spin(seed)
    _, about = spin_about_axis(ca.DM(u[:, 2]), ca.DM(omega), ca.DM(alpha[2]))
    return {"in general": spin_of(ca.DM(alpha), ca.DM(omega)), "about an axis": about}


@pytest.mark.parametrize("seed", range(3))
def test_spins_are_second_derivatives_of_rotations(seed: int) -> None:
    _, _, u = random_spin(seed)
    x = np.random.default_rng(9).normal(size=(3, 2))
    for name, spin in spins(seed).items():
        assert np.abs(spin.matrix.full() - u).max() < 1e-15 * 20, name
        differences = [u[2, 2] - u[1, 1], u[0, 0] - u[2, 2], u[1, 1] - u[0, 0]]
        assert np.abs(np.ravel([d.full() for d in spin.differences]) - differences).max() < 1e-14, name
        assert np.abs((spin @ ca.DM(x)).full() - u @ x).max() < 1e-14, name


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_those_of_the_trace_form(seed: int) -> None:
    _, _, u = random_spin(seed)
    half = np.random.default_rng(seed).normal(size=(3, 3))
    j = half + half.T
    phi = u @ j - (u @ j).T
    for name, spin in spins(seed).items():
        moment = spin.moment(ca.DM(j)).full().ravel()
        assert np.abs(moment - [phi[2, 1], phi[0, 2], phi[1, 0]]).max() < 1e-13, name


def test_the_acceleration_of_an_axis_tells_alpha() -> None:
    alpha, omega, u = random_spin(4)
    found, _ = spin_about_axis(ca.DM(u[:, 2]), ca.DM(omega), ca.DM(alpha[2]))
    assert np.abs(found.full().ravel() - alpha).max() < 1e-15 * 4


def test_what_rests_has_no_spin() -> None:
    assert NO_SPIN.matrix.nnz() == 0
    assert all(d.nnz() == 0 for d in NO_SPIN.differences)
    j = ca.DM(np.random.default_rng(5).normal(size=(3, 3)))
    assert not np.any(NO_SPIN.moment(j).full())

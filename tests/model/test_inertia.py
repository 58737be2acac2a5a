"""The inertia of a link: one pseudo-inertia, and mass, centre of mass and tensor as views of it."""

from __future__ import annotations

import itertools

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.model.inertia import center_of_mass, central_inertia, mass_of, pseudo_inertia
from tests.helpers.models import inertia


@pytest.mark.parametrize("seed", range(20))
def test_decimals_come_back_from_a_pseudo_inertia_as_they_were(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass, com = round(rng.uniform(0.1, 20), 3), rng.uniform(-0.5, 0.5, 3).round(4) * rng.integers(0, 2, 3)
    half = rng.uniform(0, 0.3, (3, 3)).round(6) * rng.integers(0, 2, (3, 3))
    tensor = np.triu(half, 1) + np.triu(half, 1).T + np.diag(np.diag(half))
    j = pseudo_inertia(mass, com, tensor)
    assert np.array_equal(j, j.T)
    assert mass_of(j) == mass
    assert center_of_mass(j).tolist() == com.tolist()
    assert central_inertia(j).tolist() == tensor.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_any_body_comes_back_to_rounding(seed: int) -> None:
    body = inertia(np.random.default_rng(seed))
    j = pseudo_inertia(body.mass, body.lever, body.inertia)
    assert np.abs(j - body.toPseudoInertia().toMatrix()).max() <= 1e-14 * np.abs(j).max()
    assert np.abs(center_of_mass(j) - body.lever).max() <= 1e-14 * np.abs(body.lever).max()
    assert np.abs(central_inertia(j) - body.inertia).max() <= 1e-13 * np.abs(j).max()


def test_a_point_mass_has_no_inertia_and_what_has_no_mass_no_center() -> None:
    point = pseudo_inertia(0.7, [0.1, -0.2, 0.3], np.zeros((3, 3)))
    assert not central_inertia(point).any()
    rotor = pseudo_inertia(0.0, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.25]))
    assert not center_of_mass(rotor).any()
    assert central_inertia(rotor).tolist() == np.diag([0.1, 0.2, 0.25]).tolist()
    none = pin.Inertia.Zero()
    assert not pseudo_inertia(none.mass, none.lever, none.inertia).any()


def symbolic_bodies() -> list[tuple[ca.SX, ca.SX, ca.SX]]:
    """Masses, centres of mass and tensors of symbols with signs, zeros and ones."""
    m, c, i = (ca.SX.sym(name, n) for name, n in (("m", 1), ("c", 3), ("i", 6)))
    tensor = ca.vertcat(*(ca.horzcat(*row) for row in ((i[0], i[1], -i[2]), (i[1], i[3], i[4]), (-i[2], i[4], i[5]))))
    masses = [m, ca.SX(1), ca.SX(0)]
    centers = [c, ca.vertcat(-c[0], 0, 1), ca.vertcat(c[0], c[0], -c[0]), ca.SX(3, 1)]
    tensors = [tensor, ca.diag(ca.vertcat(i[0], i[0], 1)), ca.SX(3, 3)]
    return list(itertools.product(masses, centers, tensors))


@pytest.mark.parametrize("body", symbolic_bodies(), ids=str)
def test_symbols_come_back_as_they_were(body: tuple[ca.SX, ca.SX, ca.SX]) -> None:
    mass, com, tensor = body
    j = pseudo_inertia(*body)
    assert ca.is_equal(mass_of(j), mass)
    assert ca.is_equal(ca.densify(central_inertia(j)), ca.densify(tensor), 1)
    wanted = ca.SX(3, 1) if mass.is_zero() else com
    assert ca.is_equal(ca.densify(ca.SX(center_of_mass(j))), ca.densify(wanted), 1)

"""What counts as rounding noise, and what removes it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from gdalembert.model.inertia import center_of_mass, central_inertia, mass_of, pseudo_inertia
from gdalembert.model.rounding import clean_matrix, clean_product, known_digits, least_moment
from tests.helpers.models import inertia


def test_rounding_errors_of_products_become_zero_and_nothing_else() -> None:
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.array_equal(clean_product(turn, np.eye(4), turn.T) != 0, np.eye(4, dtype=bool))
    tiny = np.diag([1.0, 1e-10, 1e-14, 1e-300])
    assert np.array_equal(clean_product(np.eye(4), tiny, np.eye(4)), tiny)


def test_noise_beside_the_largest_entry_becomes_zero() -> None:
    assert clean_matrix(np.array([[3.0, 1e-15], [-2e-15, 4e-15]])).tolist() == [[3, 0], [0, 4e-15]]
    assert clean_matrix(np.zeros((0, 2))).shape == (0, 2)


def test_known_digits() -> None:
    values = np.array([0.35000000000000003, 1.23456789, -2e-17, 1e9 + 1, 0.1 + 0.2, 5.0])
    errors = np.array([1e-16, 1e-3, 1e-16, 20.0, 0.0, 5.0])
    assert known_digits(values, errors).tolist() == [0.35, 1.235, 0, 1e9, 0.1 + 0.2, 0]


@pytest.mark.parametrize(
    ("tensor", "mass", "least"),
    [
        (np.diag([1, 1, -1e-10]), 1.0, 0.0),
        (np.diag([1, 1, -1e-8]), 1.0, -1e-8),
        (np.diag([0, 0, -1e-20]), 1.0, 0.0),
        (np.diag([0, 0, -1e-14]), 1.0, -1e-14),
    ],
)
def test_negative_moments_are_noise_or_not(tensor: np.ndarray, mass: float, least: float) -> None:
    assert least_moment(tensor, mass) == least


# The inertia of a link: one pseudo-inertia, and views.


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

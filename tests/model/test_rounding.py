"""What counts as rounding noise, and what removes it."""

from __future__ import annotations

import numpy as np
import pytest

from gdalembert.model.rounding import clean_matrix, clean_product, known_digits, least_moment


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

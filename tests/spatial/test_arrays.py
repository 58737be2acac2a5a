"""Arrays of numbers, and independent columns beside the rank and the projections of NumPy."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from gdalembert.spatial.arrays import (
    Array,
    ByValue,
    frozen,
    homogeneous,
    independent_columns,
    turned_to,
    unit_columns,
    vibrations,
)
from tests.helpers.models import relative_error


@dataclass(frozen=True, eq=False)
class Held(ByValue):
    name: str
    values: Array


@dataclass(frozen=True, eq=False)
class Other(ByValue):
    name: str
    values: Array


def test_frozen_is_a_copy_that_cannot_be_written_to() -> None:
    given = np.array([1.0, -0.0])
    copied = frozen(given)
    given[0] = 5.0
    assert copied.tolist() == [1.0, 0.0]
    assert not np.signbit(copied).any()
    with pytest.raises(ValueError, match="read-only"):
        copied[0] = 2.0


def test_values_decide_equality() -> None:
    one, same = Held("a", frozen([1, 2])), Held("a", frozen([1.0, 2.0]))
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, Held("a", frozen([[1, 2]])), Held("a", frozen([1, 3])), Held("b", frozen([1, 2])), same}) == 4
    assert one != Other("a", frozen([1, 2]))


def test_pickles_stay_frozen() -> None:
    held = Held("a", frozen([1, 2]))
    again = pickle.loads(pickle.dumps(held))
    assert again == held
    assert not again.values.flags.writeable


def test_homogeneous_is_rotation_and_translation() -> None:
    rotation, translation = np.arange(9.0).reshape(3, 3), np.array([10.0, 11, 12])
    found = homogeneous(rotation, translation)
    assert np.array_equal(found[:3, :3], rotation)
    assert np.array_equal(found[:3, 3], translation)
    assert found[3].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3), np.array([0.6, 0.0, -0.8]), np.array([2, 3, 6]) / 7])
def test_the_frame_along_an_axis_is_a_rotation(axis: Array) -> None:
    r = turned_to(axis)
    assert np.array_equal(r[:, 2], axis)
    assert np.abs(r.T @ r - np.eye(3)).max() < 1e-15
    assert np.linalg.det(r) == pytest.approx(1, rel=1e-14)
    if np.count_nonzero(axis) == 1:
        assert np.count_nonzero(r) == 3


def _columns() -> np.ndarray:
    """30 × 9 of rank 5, of very different lengths; column 3 is zero."""
    rng = np.random.default_rng(4)
    found = rng.normal(size=(30, 5)) @ rng.normal(size=(5, 9)) * np.logspace(-4, 4, 9)
    found[:, 3] = 0
    return found


@pytest.mark.parametrize("order", [None, range(9), [8, 3, 0, 1, 2, 4, 5, 6, 7]])
def test_independent_columns_span_all(order: list[int] | None) -> None:
    unit = unit_columns(_columns(), 1e-12)
    chosen, basis = independent_columns(unit, 1e-8, order=order)
    assert len(chosen) == 5 == np.linalg.matrix_rank(unit)
    assert 3 not in chosen
    assert relative_error(basis.T @ basis, np.eye(5)) < 1e-14
    assert relative_error(basis @ basis.T, unit @ np.linalg.pinv(unit, rcond=1e-10)) < 1e-12
    for k in range(1, 6):
        assert relative_error(basis[:, :k] @ basis[:, :k].T @ unit[:, chosen[:k]], unit[:, chosen[:k]]) < 1e-13


def test_columns_are_taken_in_order() -> None:
    a = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1e-3, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    assert independent_columns(a, 1e-6, order=range(4))[0] == [0, 1, 3]
    assert independent_columns(a, 1e-2, order=range(4))[0] == [0, 2, 3]
    assert independent_columns(a, 0.9, 1e-6, order=[1, 2, 3, 0])[0] == [1, 2, 3]
    assert independent_columns(a, 1e-6)[0] == [3, 0, 2]  # the longest; then the first of equals but for rounding


def test_nothing_is_independent_of_nothing() -> None:
    assert independent_columns(unit_columns(np.zeros((4, 2))), 1e-9)[0] == []
    assert independent_columns(np.zeros((0, 2)), 1e-9)[0] == []
    assert independent_columns(np.zeros((2, 0)), 1e-9)[1].shape == (2, 0)


def test_a_soft_vibration_beside_a_stiff_one_keeps_its_digits() -> None:
    """Of M and K = diag(1e10, 1), whose ω² are the roots of det(K − ω² M) = 1.51 x² − (1e10 + 2) x + 1e10."""
    mass, stiffness = np.array([[2.0, 0.7], [0.7, 1.0]]), np.diag([1e10, 1.0])
    middle = 1e10 + 2
    large = (middle + np.sqrt(middle**2 - 4 * 1.51 * 1e10)) / (2 * 1.51)
    frequencies, shapes, least = vibrations(mass, stiffness)
    assert frequencies == pytest.approx(np.sqrt([1e10 / 1.51 / large, large]), rel=1e-14)
    assert shapes.T @ mass @ shapes == pytest.approx(np.eye(2), abs=1e-14)
    assert least == 0
    frequencies, _, least = vibrations(mass, np.diag([1e10, -1.0]))
    assert frequencies[0] == 0
    assert least == -1

"""Frozen arrays, equality by value, and frames along an axis."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from gdalembert.spatial.arrays import Array, ByValue, frozen, homogeneous, turned_to


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

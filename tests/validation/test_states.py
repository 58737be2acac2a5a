"""States: random ones, and those with a structure between them."""

from __future__ import annotations

import numpy as np

from gdalembert.validation.references import PinocchioReference
from gdalembert.validation.states import draws
from tests.helpers.torque_functions import tree_model


def test_states_do_not_depend_on_the_batches() -> None:
    """Nor on how many there are in all; a remainder is not a special case."""
    model = tree_model()
    whole = next(PinocchioReference(model).random_states(23, 5, 100))
    assert len(whole) == 23
    for size in (1, 7, 23):
        parts = list(PinocchioReference(model).random_states(23, 5, size))
        assert sum(map(len, parts)) == 23
        for what in "qva":
            np.testing.assert_array_equal(np.vstack([getattr(part, what) for part in parts]), getattr(whole, what))
    np.testing.assert_array_equal(next(PinocchioReference(model).random_states(9, 5, 9)).q, whole[:9].q)
    np.testing.assert_allclose(np.linalg.norm(whole.q[:, 3:7], axis=1), 1)


def test_states_with_a_structure() -> None:
    """Every second one, in this order; each coordinate has its turn."""
    nv = 3
    (drawn,) = draws(nv, 2 * (14 + 6 * nv) + 2, 0, 100)
    x, v, a = drawn[:, 1::2]
    neutral, rest, steady, at_rest, still = range(5)
    assert not x[neutral].any()
    assert v[neutral].any()
    assert not drawn[:, 2 * rest + 1].any()
    assert not v[at_rest].any()
    assert a[at_rest].any()
    assert not v[still].any()
    assert not a[still].any()
    assert v[steady].any()
    assert not a[steady].any()
    assert np.abs(v[6]).max() > 50
    assert np.abs(a[8]).max() > 50
    assert 0 < np.abs(x[11]).max() < 1e-5
    np.testing.assert_array_equal(x[12], np.pi)
    for turn in (np.pi, np.pi / 2, -np.pi, -np.pi / 2):
        assert all(np.any((x[14:, k] == turn) & (np.abs(x[14:, k - 1]) != abs(turn))) for k in range(nv))
    assert all(np.any((v[14:, k] != 0) & (np.count_nonzero(v[14:], axis=1) == 1)) for k in range(nv))
    assert len(x) == 14 + 6 * nv + 1
    assert np.count_nonzero(v[-1]) == nv  # and random ones from there on

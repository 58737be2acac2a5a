"""Random states."""

from __future__ import annotations

import numpy as np

from gdalembert.validation.states import batches
from tests.helpers.torque_functions import tree_model


def test_states_do_not_depend_on_the_batches() -> None:
    """Nor on how many there are in all; a remainder is not a special case."""
    model = tree_model()
    whole = next(batches(model, 23, 5, 100))
    assert len(whole) == 23
    for size in (1, 7, 23):
        parts = list(batches(model, 23, 5, size))
        assert sum(map(len, parts)) == 23
        for what in "qva":
            np.testing.assert_array_equal(np.vstack([getattr(part, what) for part in parts]), getattr(whole, what))
    np.testing.assert_array_equal(next(batches(model, 9, 5, 9)).q, whole[:9].q)
    np.testing.assert_allclose(np.linalg.norm(whole.q[:, 3:7], axis=1), 1)

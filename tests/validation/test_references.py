"""The second computation for flexible arms: its states, and arms that are too large for it."""

from __future__ import annotations

import numpy as np
import pytest

from gdalembert.validation.references import ReferenceRecursion
from gdalembert.validation.validate import validate
from tests.helpers.validated_arms import PLANAR, chain, planar

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")


def test_first_order_arms_that_are_too_large_are_compared_with_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdalembert.validation.references._MOST_COORDINATES", 5)
    report = validate(planar(exact=False), PLANAR, samples=5)
    assert "against its own inverse dynamics and, undeformed, Pinocchio" in str(report)
    assert report.not_checked == (
        "a second computation of tau: the explicit equations are too large for 6 coordinates",
    )
    assert report["mass_matrix"].ok


def test_states() -> None:
    """Slopes of the sections with the standard deviation 0.05 rad (or deflections by length) at most, 1 rad/s of rates;
    which states does not depend on the batches."""
    arm, _ = chain()
    reference = ReferenceRecursion(arm)
    (states,) = reference.random_states(8000, 1, 8000)
    random = states[::2]
    for link in arm.tree.modal:
        stations = [arm.tree.joints[k] for k in arm.tree.stations(link)]
        for j, k in enumerate(stations[0].columns):
            types = [station.type for station in stations]
            slopes = [max(np.linalg.norm(s.rotation[:, j]), np.linalg.norm(s.translation[:, j]) / 0.8) for s in types]
            # standard deviations of 4000 numbers are good to 5 % with odds of 1 to 1e5
            assert max(slopes) * random.q[:, k + arm.tree.nq - arm.tree.nv].std() == pytest.approx(0.05, rel=0.05)
            assert max(slopes) * random.v[:, k].std() == pytest.approx(1.0, rel=0.05)
    assert random.v[:, 0].std() == pytest.approx(1.0, rel=0.05)
    assert random.v[:, -1].std() == pytest.approx(1.0, rel=0.05)
    pieces = list(reference.random_states(8000, 1, 3000))
    assert [len(piece) for piece in pieces] == [3000, 3000, 2000]
    assert np.array_equal(np.vstack([piece.q for piece in pieces]), states.q)
    assert np.array_equal(np.vstack([piece.a for piece in pieces]), states.a)

"""Errors of a simplified robot beside their bounds."""

from __future__ import annotations

import pytest

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentTypeError
from tests.helpers.plots import lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]

A_MAX = [8, 6, 12, 25, 25, 25]


def test_errors_stand_beside_their_bounds() -> None:
    simple = gd.PrunedDynamics(gd.load_urdf("puma560"), 0.03, a_max=A_MAX)
    check = simple.check(50, seed=2, corners=True)
    for ax in (plotting.pruning_error(simple, samples=50, seed=2, corners=True), plotting.pruning_error(check)):
        assert ax.get_ylabel() == "torque error [% of the limit]"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == list(simple.tree.velocity_names)
        bound, seen = ([bar.get_height() for bar in bars] for bars in ax.containers)
        assert bound == pytest.approx(100 * simple.bound / simple.limits.tau)
        assert seen == pytest.approx(100 * check.observed / simple.limits.tau)
        assert lines(ax)["RMS error"] == pytest.approx(100 * check.rms / simple.limits.tau)
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert texts == ["bound, guaranteed", "largest of 50 states", "RMS error"]
    with pytest.raises(
        ArgumentTypeError, match="expected a PrunedDynamics or the result of its check, got NewtonEuler"
    ):
        plotting.pruning_error(gd.NewtonEuler(gd.load_urdf("puma560")))  # type: ignore[arg-type]

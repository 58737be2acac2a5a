"""The estimator finds the tip of a flexible arm from encoders alone: what ``benchmarks/estimation`` records."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.common.tables import RESULTS
from benchmarks.estimation import runs

pytestmark = pytest.mark.system


@pytest.mark.parametrize(("robot", "name", "most"), [(0, 0, 0.1), (1, 1, 1 / 8)], ids=["as the model", "load and EI"])
def test_the_tip_is_nearer_than_that_of_a_rigid_arm(robot: int, name: int, most: float) -> None:
    """RMS over random runs: at most a tenth of the rigid tip's error, an eighth with a load and EI that are learnt."""
    arm = runs.build()
    estimator = list(runs.estimators(arm).values())[name]
    simulated = runs.simulate(arm, list(runs.ROBOTS.values())[robot], 2, runs.SAMPLES)
    rigid, off = np.sqrt(np.mean(runs.errors(arm, estimator, simulated) ** 2, axis=0))
    assert rigid > 5e-3
    assert off < most * rigid


def test_recorded_runs_are_within_what_is_promised() -> None:
    page = (RESULTS / "estimation_runs.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    ratio = {row[0]: float(row[3]) for row in rows[1:]}
    assert "100 random runs" in page
    assert ratio["as the model: motion"] <= 0.1
    assert ratio["20 % more load, 10 % less EI: motion, load, stiffness"] <= 1 / 8

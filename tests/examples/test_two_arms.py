"""``examples/two_arms.py``: between all instants the bodies are apart, by coal, in motion by the plan's torques."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.long]

SCRIPT = example("two_arms")


def test_no_body_of_one_arm_touches_the_other() -> None:
    model, geometry = SCRIPT.build()
    data, of_geometry = model.createData(), geometry.createData()
    shapes = gd.Distances(model, geometry)

    def least(q: np.ndarray) -> float:
        pin.computeDistances(model, data, geometry, of_geometry, q)
        return min(result.min_distance for result in of_geometry.distanceResults)

    gaps = {}
    for kept in (None, shapes):
        motion = SCRIPT.fastest(gd.NewtonEuler(model), model, kept, 8).simulate()
        times = np.arange(0, motion.t[-1], 1e-3)
        gaps[kept] = min(least(q) for q in motion.at(times)[0])
    assert gaps[None] < -0.05
    assert gaps[shapes] > SCRIPT.MARGIN - 1e-3  # by which a simulation differs from a plan of eight intervals

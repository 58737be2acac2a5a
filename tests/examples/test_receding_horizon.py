"""``examples/receding_horizon.py``: warm ticks are cheap, the sphere is not touched, the pose is followed."""

from __future__ import annotations

import numpy as np
import pytest

from gdalembert import ocp
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("receding_horizon")


def test_warm_ticks_are_cheap_and_the_pose_is_followed() -> None:
    seen = []
    original = SCRIPT.run
    SCRIPT.run = lambda *given: seen.append(original(*given)) or seen[-1]
    with pytest.warns(ocp.SolutionWarning, match=r"^ur10: the solver stopped with .*; the last plan, shifted by 1 int"):
        SCRIPT.main(["--coarse"])
    (loop,) = seen
    np.testing.assert_array_equal(np.flatnonzero(loop.solved == 0), [SCRIPT.WRONG])
    solved = loop.solved == 1
    assert np.median(loop.iterations[1:][solved[1:]]) <= np.nanmedian(loop.cold) / 2
    counted = ~np.isnan(loop.cold[1:])
    assert (loop.iterations[1:] <= loop.cold[1:] / 2)[counted].all()
    # the load pulls the tool by 2 mm into the margin
    assert SCRIPT.RADIUS + SCRIPT.MARGIN / 2 < loop.distance.min() < SCRIPT.RADIUS + SCRIPT.MARGIN
    # the load that no plan knows moves the tool by 5 mm and 1°; in the tick without a plan, to 8 mm
    far = loop.distance > 2 * SCRIPT.RADIUS
    assert loop.position[far].max() < 0.01
    assert loop.angle[far].max() < np.deg2rad(2)
    assert loop.position[SCRIPT.WRONG + 5] < 0.005

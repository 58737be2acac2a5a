"""``examples/panda_past_ball.py``: the arm keeps the margin to the ball and is back at its place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.system, pytest.mark.long]

SCRIPT = example("panda_past_ball")


def test_the_arm_makes_way_and_comes_back() -> None:
    loop = SCRIPT.run(2.0)
    assert loop.solved.all()
    assert loop.gap.min() > SCRIPT.MARGIN - 1e-3  # the plant is held by torques of a tick
    assert loop.off.max() > 0.1
    assert loop.off[-1] < 1e-3
    assert np.all(loop.torque <= 1)

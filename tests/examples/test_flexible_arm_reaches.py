"""``examples/flexible_arm_reaches.py``: the tip comes to rest at a target, within the limits of torques."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.system, pytest.mark.long]

SCRIPT = example("flexible_arm_reaches")


def test_the_tip_comes_to_rest_at_its_target() -> None:
    loop = SCRIPT.run(SCRIPT.build(), 2.0)
    error = np.linalg.norm(loop.tip - loop.target, axis=1)
    assert loop.solved.all()
    assert error[0] > 0.3
    assert error[-1] < 4e-3
    assert np.abs(loop.q[-1] - loop.q[-2]).max() < 4e-3
    assert np.abs(loop.torque).max() <= SCRIPT.TORQUE
    assert loop.deflection.max() > 0.05  # which rigid links have not

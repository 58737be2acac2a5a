"""What ``examples/flexible_feedback.py`` compares: a softer arm, and feedback that brings its tip nearer to rest."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras


def test_the_softer_arm_has_lower_frequencies() -> None:
    script = example("flexible_feedback")
    stiff, soft = (script.build(part).natural_frequencies(np.zeros(6)) for part in (0.0, 0.2))
    assert soft / stiff == pytest.approx(np.sqrt(0.8), rel=1e-9)
    assert script.off_goal(script.build(), [np.r_[script.GOAL, np.zeros(4)]]) == pytest.approx([0.0], abs=1e-15)


@pytest.mark.system
def test_feedback_of_the_estimated_state_calms_a_softer_arm() -> None:
    script = example("flexible_feedback")
    arm, plant = script.build(), script.build(0.2)
    plan = script.plan_of(arm)
    behind = -round(script.AFTER / script.SAMPLE)
    controllers = script.servo(plan), script.follower(arm, plan, gauges=False)
    off = [np.ptp(script.off_goal(plant, script.run(plant, control)[behind:])) for control in controllers]
    assert off[1] < off[0] / 4

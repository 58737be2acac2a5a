"""``examples/dual_arm_inverse_kinematics.py``: both hands come to their targets, by Pinocchio."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
import pytest

from tests.helpers.scripts import example

SCRIPT = example("dual_arm_inverse_kinematics")


def arms() -> pin.Model:
    """Of Pinocchio's sample humanoid: six joints each."""
    whole = pin.buildSampleModelHumanoid()
    locked = [j for j in range(1, whole.njoints) if "arm" not in whole.names[j]]
    return pin.buildReducedModel(whole, locked, pin.neutral(whole))


def check(model: pin.Model, hands: Sequence[str], number: int, share: float, near: float, nearer: float) -> None:
    """Positions are within ``near`` [m] of their targets, within ``nearer`` when the solver begins at its answer."""
    data, targets = model.createData(), SCRIPT.drawn(model, hands, number, share)
    first = SCRIPT.follow(model, hands, targets, [pin.neutral(model)] * number)
    again = SCRIPT.follow(model, hands, targets, [answer.q for answer in first])
    for answers, limit in ((first, near), (again, nearer)):
        for answer, pair in zip(answers, targets, strict=True):
            pin.framesForwardKinematics(model, data, answer.q)
            errors = [
                data.oMf[model.getFrameId(hand)].actInv(pin.SE3(target))
                for hand, target in zip(hands, pair, strict=True)
            ]
            position = max(np.linalg.norm(error.translation) for error in errors)
            rotation = max(np.linalg.norm(pin.log3(error.rotation)) for error in errors)
            assert position == pytest.approx(answer.position, abs=1e-12)
            assert rotation == pytest.approx(answer.rotation, abs=1e-9)
            assert np.all(answer.q >= model.lowerPositionLimit - 1e-6)
            assert np.all(answer.q <= model.upperPositionLimit + 1e-6)
        assert max(answer.position for answer in answers) < limit
        assert max(answer.rotation for answer in answers) < 5 * limit
    assert np.median([answer.iterations for answer in again]) < np.median([answer.iterations for answer in first]) <= 20


def test_a_sample_humanoid_follows_four_pairs() -> None:
    check(arms(), ("larm_effector_body", "rarm_effector_body"), 4, 0.35, 3e-3, 5e-4)


@pytest.mark.extras
def test_a_g1_follows_twenty_pairs() -> None:
    check(SCRIPT.build(), SCRIPT.HANDS, 20, SCRIPT.SHARE, 3e-3, 6e-4)

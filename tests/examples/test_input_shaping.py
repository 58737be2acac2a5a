"""``examples/input_shaping.py``: what shapers and plans leave of the vibration, and how long they take."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("input_shaping")


def test_shapers_and_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    monkeypatch.setattr(
        SCRIPT, "plot", lambda path, torques, motions, left: seen.update(torques=torques, motions=motions, left=left)
    )
    SCRIPT.main(["--coarse", "--plot", "not drawn"])

    torques, left = seen["torques"], {name: np.array(found) for name, found in seen["left"].items()}
    duration = {name: each.duration for name, each in torques.items()}
    as_planned = SCRIPT.FACTORS.index(1.0)
    assert max(left[name][as_planned] for name in left if name != "rigid") < 0.25 * left["rigid"][as_planned]
    assert left["rigid"].max() > 0.1
    assert left["flexible"].max() > 0.1
    assert left["ZV"].max() < 0.25 * left["rigid"].max()
    assert max(left["ZVD"].max(), left["robust"].max()) < 0.3 * left["ZV"].max()
    assert duration["flexible"] < 1.01 * duration["rigid"]
    half = duration["ZV"] - duration["rigid"]
    assert duration["ZVD"] == pytest.approx(duration["rigid"] + 2 * half)
    assert duration["robust"] == pytest.approx(duration["ZVD"])
    for held in torques.values():
        assert np.abs(held.u).max() <= SCRIPT.TORQUE * (1 + 1e-6)
        assert (held.u[1:] + held.u[:-1]) @ np.diff(held.t) == pytest.approx(0, abs=0.1)


def test_shapers_are_those_of_the_source() -> None:
    """Nearly without damping: halves, and 1, 2, 1 quarters, half a period apart, which cancel the vibration."""
    model = SCRIPT.gd.load_urdf(SCRIPT.URDF)
    arm = SCRIPT.boom(model, SCRIPT.gd.modes.hermite())
    frequency = arm.natural_frequencies(np.zeros(arm.tree.nq), joints="free")[1]
    for derivative, heights in ((False, [1, 1]), (True, [1, 2, 1])):
        times, found = SCRIPT.impulses(arm, derivative)
        assert np.diff(times) == pytest.approx(np.pi / frequency, rel=1e-3)
        assert found.sum() == pytest.approx(1)
        assert found == pytest.approx(np.array(heights) / sum(heights), rel=0.05)
        assert np.abs(found @ np.exp(1j * frequency * times)) < 0.03

"""``examples/receding_horizon.py``: warm ticks are cheap, the sphere is not touched, the point is followed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("receding_horizon")


def test_the_loop_and_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    original = SCRIPT.run
    SCRIPT.run = lambda *given: seen.append(original(*given)) or seen[-1]
    SCRIPT.main(["--coarse", "--plot", str(tmp_path / "loop.png")])
    (loop,) = seen
    assert loop.solved.all()
    assert np.median(loop.iterations[1:]) < loop.iterations[0]
    # the robot is 0.5 kg heavier than the plan's
    assert SCRIPT.RADIUS - 2e-3 < loop.distance.min() < SCRIPT.RADIUS + 0.02
    assert loop.error[loop.distance > 2 * SCRIPT.RADIUS].max() < 0.01
    assert "ticks solved: 30 of 30" in capsys.readouterr().out
    assert (tmp_path / "loop.png").read_bytes().startswith(b"\x89PNG")

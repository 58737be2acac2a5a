"""``examples/panda_past_sphere.py``: the flange passes the sphere and is back on its reference."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.system, pytest.mark.long]

SCRIPT = example("panda_past_sphere")


def test_the_flange_passes_the_sphere() -> None:
    model = gd.load_urdf("panda7")
    loop = SCRIPT.run(model, 1.04)
    error, distance = np.linalg.norm(loop.place - loop.target, axis=1), SCRIPT.distances(loop)
    assert loop.solved.all()
    assert np.linalg.norm(loop.target - loop.target[0] - SCRIPT.SPHERE, axis=1).min() < 0.5 * SCRIPT.RADIUS
    assert SCRIPT.RADIUS < distance.min() < SCRIPT.RADIUS + SCRIPT.MARGIN  # between instants
    assert error[distance > 0.12].max() < 3e-3
    assert error[-1] < 3e-3
    assert np.all(np.abs(loop.torque) <= model.effortLimit)

"""``examples/soft_rod.py``: the rod hangs as the elastica, and its swing keeps the account of its energy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

NAME = "soft_rod"


def test_the_rod_hangs_as_the_elastica() -> None:
    """EI θ'' = (P + w (l − s)) cos θ, by shooting."""
    script = example(NAME)
    found = script.shapes(script.build())
    area = np.pi * script.DIAMETER**2 / 4
    weight, stiffness = 1100 * area * 9.81, 1e8 * area * script.DIAMETER**2 / 16

    def tip(curvature: float, load: float) -> np.ndarray:
        def slope(s: float, y: np.ndarray) -> list[float]:
            moment = (load + weight * (script.LENGTH - s)) / stiffness * np.cos(y[0])
            return [y[1], moment, np.cos(y[0]), np.sin(y[0])]

        return np.asarray(solve_ivp(slope, (0, script.LENGTH), [0, curvature, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1])

    for load, shape in zip(script.WEIGHTS, found, strict=True):
        root = brentq(lambda k, load=load: tip(k, load)[1], -20, 0)
        np.testing.assert_allclose(shape[:, -1], tip(root, load)[2:], atol=5e-6)

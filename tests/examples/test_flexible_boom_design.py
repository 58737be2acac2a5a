"""``examples/flexible_boom_design.py``: the wall is the best one, and its tube moves as planned."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("flexible_boom_design")
INTERVALS = 40


def test_the_design_is_the_best_one() -> None:
    made = []
    original = SCRIPT.problem
    SCRIPT.problem = lambda *given: made.append(original(*given)) or made[-1]
    SCRIPT.main(["--coarse"])
    SCRIPT.problem = original
    best, thin, thick = (problem.solve() for problem in made)
    factor = best.parameters["boom.stiffness_factor"]
    assert 2 < factor < 5
    added = [best.parameters[f"wall{k}.m"] for k in range(SCRIPT.POINTS)]
    assert added == pytest.approx([SCRIPT.masses(factor)] * SCRIPT.POINTS, rel=1e-6)
    assert best.constraint_violation < 1e-7
    assert np.abs(best.q[:, 1]).max() == pytest.approx(SCRIPT.DEFLECTION, rel=1e-6)
    assert np.abs(thin.q[:, 1]).max() > 2 * SCRIPT.DEFLECTION
    assert thin.cost < best.cost < thick.cost

    arm, model = best.dyn, gd.load_urdf(SCRIPT.urdf())
    for scale in (0.95, 1.05):
        other = SCRIPT.problem(arm, model, INTERVALS, scale * factor * SCRIPT.THINNEST)
        other.path(lambda q: q[1], -SCRIPT.DEFLECTION, SCRIPT.DEFLECTION)
        assert other.solve().cost > best.cost

    tube = SCRIPT.exact(factor * SCRIPT.THINNEST)
    start = np.zeros(tube.tree.nq)
    again = gd.simulate(tube, (start, start), best.t, best.u)
    assert abs(again.q[-1, 0] - SCRIPT.TURN) < 1e-3
    assert np.abs(again.q[:, 1]).max() < 1.03 * SCRIPT.DEFLECTION
    first = [robot.natural_frequencies(np.zeros(robot.tree.nq))[0] for robot in (best.robot, tube)]
    assert first[0] == pytest.approx(first[1], rel=1e-3)  # a mass at eight points for that of the wall

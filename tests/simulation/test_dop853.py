"""The explicit method of order 8: SciPy's steps, few where fast modes hardly vibrate."""

from __future__ import annotations

import sys

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gdalembert as gd
from benchmarks.flexible.case_study import DEFAULT, arm, torques
from gdalembert.errors import MissingPackageError
from gdalembert.simulation.control import ZeroOrderHold
from gdalembert.simulation.integration import Dop853, plant
from tests.helpers.models import relative_error
from tests.helpers.ocp import slider

DYN = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
X0 = np.array([0.3, -0.5, 1.0, 0.0])


def test_a_step_is_that_of_scipy() -> None:
    nothing = np.empty(0)
    flow, held = plant(DYN), ZeroOrderHold(np.zeros((1, 2)))
    solver = Dop853(flow, held, nothing, 1e-6, 1e-9, 100.0)
    solver._length = 0.01
    found, integrals, steps = solver.piece(np.array([0.0, 0.01]), X0, np.zeros((2, 1)))
    assert steps == 1

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        return np.asarray(flow.flow(x, [0, 0])[0].full().ravel())

    scipy = solve_ivp(rates, (0, 0.01), X0, "DOP853", first_step=0.01, rtol=1e-6, atol=1e-9)
    assert len(scipy.t) == 2
    assert relative_error(found[0], scipy.y[:, -1]) < 1e-14
    assert integrals.shape == (1, 4)


def test_steps_are_few_where_fast_modes_hardly_vibrate() -> None:
    dyn, t, x = arm(DEFAULT, 1e3), ca.SX.sym("t"), ca.SX.sym("x", 20)
    u = ca.Function("u", [t, x], [torques(t)])
    x0, times = np.array([0.3, -0.5] + [0.0] * 18), [0.0, 0.05, 0.1]
    long, short = (gd.simulate(dyn, x0, times, u, method=method) for method in ("dop853", "adams"))
    assert long.steps < 0.1 * short.steps
    assert relative_error(long.q, short.q) < 1e-7  # tolerances are 1e-8


def test_without_scipy_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", "scipy.integrate"):
        monkeypatch.setitem(sys.modules, name, None)
    message = r"""^simulate: method='dop853' needs scipy: pip install "gdalembert\[simulation\]"$"""
    with pytest.raises(MissingPackageError, match=message):
        gd.simulate(DYN, X0, 0.1, method="dop853")


def test_a_robot_at_rest_stays() -> None:
    """Its steps have no error at all."""
    motion = gd.simulate(gd.NewtonEuler(slider()), ([0.5], [0.0]), 1.0, method="dop853")
    assert np.array_equal(motion.x, np.tile([0.5, 0.0], (len(motion.t), 1)))

"""SciPy's Radau IIA method: what it is for, that few calls of u suffice, and what is said without SciPy."""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.flexible.case_study import DEFAULT, START, arm
from gdalembert.errors import MissingPackageError
from gdalembert.spatial.arrays import Array

TWO_SECONDS = np.linspace(0, 2, 401)


def feedback(calls: list[float]) -> Any:
    """Torques of the case study, and weak joint feedback."""

    def law(t: float, q: Array, v: Array) -> Array:
        calls.append(t)
        torque = np.array([0.6 * np.sin(np.pi * t), -0.25 * np.sin(2 * np.pi * t)])
        return torque - np.array([0.5, 0.3]) * (q[:2] - START) - np.array([0.1, 0.05]) * v[:2]

    return law


def graph(nx: int) -> ca.Function:
    """The same as a graph."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", nx)
    torque = ca.vertcat(0.6 * ca.sin(ca.pi * t), -0.25 * ca.sin(2 * ca.pi * t))
    back = ca.vertcat(0.5, 0.3) * (x[:2] - ca.DM(START)) + ca.vertcat(0.1, 0.05) * x[nx // 2 : nx // 2 + 2]
    return ca.Function("u", [t, x], [torque - back])


def at_rest(dyn: gd.FlexibleArm) -> Array:
    x0 = np.zeros(2 * dyn.tree.nv)
    x0[:2] = START
    return x0


@pytest.mark.long
def test_a_flexible_arm_needs_few_calls_of_python() -> None:
    """Two seconds of the case study, whose fastest mode makes 550 turns: each step of Adams' method has two calls."""
    dyn, calls = arm(DEFAULT, 10.0), []
    motion = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS, feedback(calls))
    assert motion.method == "radau"
    assert motion.steps < 650
    assert len(calls) < 7000
    assert motion.relative_balance < 1e-7
    adams = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS[:41], graph(20), method="adams")
    assert adams.steps > motion.steps  # in a tenth of the time
    assert np.abs(adams.q - motion.q[:41]).max() < 1e-8
    same = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS[:41], graph(20), method="radau")
    assert np.abs(same.q - motion.q[:41]).max() < 1e-8


@pytest.mark.long
def test_steps_do_not_shrink_with_what_hardly_vibrates() -> None:
    """A mode of 8.7 kHz: Adams' method makes 110,000 steps in a second."""
    dyn, calls = arm(DEFAULT, 1e4), []
    motion = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS[:41], feedback(calls))
    assert dyn.natural_frequencies(motion.q[0], joints="free")[-1] > 4e4  # rad/s
    assert motion.steps < 700
    assert motion.relative_balance < 1e-6
    rigid = gd.simulate(arm("rigid", 0.0), [*START, 0, 0], TWO_SECONDS[:41], feedback([]))
    assert np.abs(motion.q[:, :2] - rigid.q).max() < 1e-4


@pytest.mark.long
def test_rows_and_parameters_are_those_of_adams() -> None:
    start = [0.1, 0.2], [0.3, 0.4]
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters=["armature"])
    times = np.linspace(0, 1, 11)
    rows = np.column_stack([np.sin(times), np.cos(times)])
    for hold in (False, True):
        one, other = (
            gd.simulate(dyn, start, times, rows, hold=hold, method=method, p=[0.1, 0.2], reltol=1e-10, abstol=1e-12)
            for method in ("adams", "radau")
        )
        assert np.abs(one.x - other.x).max() < 1e-8  # of Adams' method, whose errors add up
        assert other.relative_balance < 1e-9


def test_every_output_time_is_reached() -> None:
    """A last step of length end − t ends at the end, even where t + (end − t) is rounded to less."""
    model = gd.load_urdf("two_link_arm")
    model.gravity.setZero()
    dyn, rng = gd.NewtonEuler(model), np.random.default_rng(0)
    times = [(t, end) for t, end in rng.uniform([0, 1], [0.5, 2], size=(200, 2)) if t + (end - t) < end]
    assert len(times) == 8
    for t, end in times:
        result = gd.simulate(dyn, [1.5, 1.0, 0.0, 0.0], [t, end], method="radau")
        assert result.q.tolist() == [[1.5, 1.0], [1.5, 1.0]]


def test_a_digital_controller_is_no_reason_for_it() -> None:
    """Its values are numbers in a graph; where the surroundings are Python, the integrator calls these."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), wrenches={"tip": pin.LOCAL_WORLD_ALIGNED})
    x0, times = [0.1, 0.2, 0.3, 0.4], [0.0, 0.1]
    for held in ({"period": 0.05}, {"hold": True}):
        assert gd.simulate(dyn, x0, times, lambda t, q, v: -v, **held).method == "adams"
        blown = gd.simulate(dyn, x0, times, lambda t, q, v: -v, wrenches=lambda t, q, v: np.zeros(6), **held)
        assert blown.method == "radau"


@pytest.mark.long
def test_without_scipy_it_is_another_method(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", "scipy.integrate"):
        monkeypatch.setitem(sys.modules, name, None)
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    assert gd.simulate(dyn, [0.1, 0.2, 0.3, 0.4], 0.1, lambda t, q, v: -v).method == "bdf"
    message = r"""^simulate: method='radau' needs scipy: pip install "gdalembert\[simulation\]"$"""
    with pytest.raises(MissingPackageError, match=message):
        gd.simulate(dyn, [0.1, 0.2, 0.3, 0.4], 0.1, lambda t, q, v: -v, method="radau")

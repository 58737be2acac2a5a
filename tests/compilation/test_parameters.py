"""Compiled Functions of robots with parameters: p is an input like any other."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.compilation.compiled_function import CompiledFunction, compile
from gdalembert.errors import ArgumentError, UnknownNameError
from tests.helpers.models import relative_error

MODEL = gd.load_urdf("two_link_arm")
DYN = gd.NewtonEuler(MODEL, parameters={"payload": ["tip"], "gravity": True})
P = DYN.parameters.vector({"tip.m": 0.7, "tip.mx": 0.02, "tip.Iyy": 0.01, "gravity.z": -3.7})
ROUNDING = 1e-13  # a fused multiply-add rounds once where CasADi rounds twice


@pytest.fixture(params=["interpreter", pytest.param("C", marks=pytest.mark.system)])
def tau(request: pytest.FixtureRequest) -> CompiledFunction:
    return compile(DYN.inverse_dynamics, interpreter=request.param == "interpreter")


def test_p_by_position_and_by_name(tau: CompiledFunction) -> None:
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    expected = gd.NewtonEuler(DYN.parameters.write(MODEL, P)).inverse_dynamics(q, v, a).full().ravel()
    assert tau.inputs["p"] == (13,)
    assert relative_error(tau(q, v, a, P), expected) < 1e-12
    assert np.array_equal(tau(q, v, p=P, a=a), tau(q, v, a, P))
    nominal = gd.NewtonEuler(MODEL).inverse_dynamics(q, v, a).full().ravel()
    assert relative_error(tau(q, v, a, DYN.parameters.values), nominal) < 1e-12


def test_one_p_for_a_batch_or_a_row_for_each_state(tau: CompiledFunction) -> None:
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 13, 2))  # as many states as p has entries
    rows = P * rng.uniform(0.5, 1.5, size=(13, 1))
    shared, own = tau.batch(q, v, a, P), tau.batch(q, v, a, rows)
    for k in range(13):
        assert relative_error(shared[k], tau(q[k], v[k], a[k], P)) < ROUNDING
        assert relative_error(own[k], tau(q[k], v[k], a[k], rows[k])) < ROUNDING
    one_state = tau.batch(q[0], v[0], a[0], rows)
    for k in range(13):
        assert relative_error(one_state[k], tau(q[0], v[0], a[0], rows[k])) < ROUNDING


def test_wrong_p_is_refused_in_one_sentence(tau: CompiledFunction) -> None:
    zero = np.zeros(2)
    with pytest.raises(
        ArgumentError, match=r"^inverse_dynamics: 'p' is missing; give q \(2,\), v \(2,\), a \(2,\), p \(13"
    ):
        tau(zero, zero, zero)
    with pytest.raises(ArgumentError, match=r"^inverse_dynamics: 'p' is missing; "):
        tau.batch(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(ArgumentError, match=r"^inverse_dynamics: input 'p' has shape \(12,\), not \(13,\)"):
        tau(zero, zero, zero, P[1:])
    with pytest.raises(ArgumentError, match=r"one number of states, but 'q' has 3, 'p' has 4"):
        tau.batch(np.zeros((3, 2)), zero, zero, np.tile(P, (4, 1)))
    with pytest.raises(UnknownNameError, match="no input of inverse_dynamics named 'payload'"):
        tau(zero, zero, zero, payload=P)


@pytest.mark.parametrize("interpreter", [True, pytest.param(False, marks=pytest.mark.system)])
def test_wrenches_are_a_matrix_between_the_state_and_p(interpreter: bool) -> None:
    given = {"tip": pin.LOCAL, "link1": pin.WORLD}
    dyn = gd.NewtonEuler(MODEL, wrenches=given, parameters=["gravity"])
    tau = compile(dyn.inverse_dynamics, interpreter=interpreter)
    assert tau.inputs["wrenches"] == (6, 2)
    q, v, a = np.random.default_rng(4).normal(size=(3, 7, 2))
    wrenches, p = np.random.default_rng(5).normal(size=(7, 6, 2)), dyn.parameters.values
    each = [dyn.inverse_dynamics(*one, p).full().ravel() for one in zip(q, v, a, wrenches, strict=True)]
    assert relative_error(tau(q[0], v[0], a[0], wrenches[0], p), each[0]) < ROUNDING
    assert relative_error(tau.batch(q, v, a, wrenches, p), each) < ROUNDING

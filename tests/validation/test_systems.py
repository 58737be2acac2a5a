"""Torque functions (q, v, a) → tau of any kind: right ones pass, the others are refused in words."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.torque_functions import PUMA, TRUE, Array, Torque, mimic_model, rnea, tree_model


@pytest.mark.parametrize("model", [PUMA, tree_model(), mimic_model()], ids=["puma560", "tree", "mimic"])
def test_right_functions_and_callables_pass(model: pin.Model) -> None:
    for system in (gd.LagrangeEuler(model).inverse_dynamics, rnea(model)):
        report = assert_valid(system, model, samples=45)
        assert [check.name for check in report.checks] == ["tau", "M", "C v", "g", "tau = M a + C v + g"]
        assert all(check.tolerance == 1e-9 for check in report.checks)


def test_outputs_of_any_kind() -> None:
    f = gd.NewtonEuler(PUMA).inverse_dynamics
    for convert in (lambda x: x, lambda x: x.full(), lambda x: x.full().T, lambda x: x.full().ravel().tolist()):
        assert_valid(lambda q, v, a, convert=convert: convert(f(q, v, a)), PUMA, samples=3)


def test_a_function_that_is_not_sx() -> None:
    q, v, a = (ca.MX.sym(name, 6) for name in "qva")
    inner = gd.NewtonEuler(PUMA).inverse_dynamics
    assert_valid(ca.Function("mine", [q, v, a], [inner(q, v, a)]), PUMA, samples=7)


def test_a_system_cannot_change_the_states() -> None:
    def greedy(q: Array, v: Array, a: Array) -> Array:
        tau = TRUE(q, v, a)
        for x in (q, v, a):
            x[:] = np.nan
        return tau

    assert_valid(greedy, PUMA, samples=5)


def _function(inputs: dict[str, int], outputs: int = 6, number: int = 1) -> ca.Function:
    symbols = [ca.SX.sym(name, length) for name, length in inputs.items()]
    names = [f"tau{k}" for k in range(number)]
    return ca.Function("mine", symbols, [ca.SX.zeros(outputs)] * number, list(inputs), names)


def _free() -> ca.Function:
    q, v, a = (ca.SX.sym(name, 6) for name in "qva")
    return ca.Function("mine", [q, v, a], [q * ca.SX.sym("mass")], ["q", "v", "a"], ["tau"], {"allow_free": True})


@pytest.mark.parametrize(
    ("system", "error", "message"),
    [
        (
            _function({"q": 6, "v": 6}),
            ArgumentError,
            "the Function 'mine' takes (q, v); it must take (q, v, a)",
        ),
        (
            _function({"q": 6, "a": 6, "v": 6}),
            ArgumentError,
            "the Function 'mine' takes (q, a, v); it must take (q, v, a)",
        ),
        (
            _function({"q": 5, "v": 6, "a": 6}),
            ArgumentError,
            "the Function 'mine': q is 5 × 1; for 'puma560' it must be 6 × 1",
        ),
        (
            _function({"q": 6, "v": 6, "a": 6}, outputs=7),
            ArgumentError,
            "the Function 'mine': tau is 7 × 1; for 'puma560' it must be 6 × 1",
        ),
        (
            _function({"q": 6, "v": 6, "a": 6}, number=2),
            ArgumentError,
            "the Function 'mine' has 2 outputs; it must have one, tau",
        ),
        (_free(), ArgumentError, "the Function 'mine' has free variables: mass; give them values"),
        (lambda q, v: q, ArgumentError, "the system under test takes (q, v); it must take (q, v, a)"),
        (
            gd.NewtonEuler,
            ArgumentTypeError,
            "the system under test is the class NewtonEuler; give an object of it: NewtonEuler(model)",
        ),
        (
            3,
            ArgumentTypeError,
            "cannot validate int; give a Dynamics, or a Function or callable (q, v, a) -> tau",
        ),
        (
            None,
            ArgumentTypeError,
            "cannot validate NoneType; give a Dynamics, or a Function or callable (q, v, a) -> tau",
        ),
        (
            gd.NewtonEuler(gd.load_urdf("panda7")),
            ArgumentError,
            "the system under test was made for 'panda7' with nq = 7, nv = 7; 'puma560' has nq = 6, nv = 6",
        ),
    ],
)
def test_bad_systems(system: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        validate(system, PUMA)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (lambda q, v, a: q[:5], r"^the system under test returned the shape \(5,\), not 6 numbers, at q = \[0\.12"),
        (lambda q, v, a: 1.0, r"^the system under test returned the shape \(\), not 6 numbers, at q = "),
        (
            lambda q, v, a: np.ones((2, 3)),
            r"^the system under test returned the shape \(2, 3\), not 6 numbers, at q = ",
        ),
        (lambda q, v, a: None, r"^the system under test returned NoneType, not 6 numbers, at q = "),
        (lambda q, v, a: ca.SX.sym("x", 6), r"^the system under test returned SX, not 6 numbers, at q = "),
        (
            lambda q, v, a: q * (1 / int(0 * q[0])),
            r"^the system under test raised ZeroDivisionError: .*; at q = \[.*\], v = .*, a = ",
        ),
    ],
)
def test_systems_that_fail_when_called(system: Torque, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        validate(system, PUMA)


def test_the_cause_of_a_failure_is_kept() -> None:
    def system(q: Array, v: Array, a: Array) -> Array:
        raise KeyError("joint7")

    with pytest.raises(ArgumentError, match="the system under test raised KeyError: 'joint7'; at q = ") as caught:
        validate(system, PUMA)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_that_cannot_be_evaluated() -> None:
    q, v, a = (ca.MX.sym(name, 6) for name in "qva")
    x, p = ca.MX.sym("x"), ca.MX.sym("p")
    root = ca.rootfinder("root", "newton", {"x": x, "p": p, "g": x**2 + 1 + p**2}, {"error_on_fail": True})
    mine = ca.Function("mine", [q, v, a], [q * root(x0=0.3, p=q[0])["x"]])
    with pytest.raises(ArgumentError, match="the Function 'mine' cannot be evaluated: "):
        validate(mine, PUMA, samples=2)


def test_complex_torques_are_refused() -> None:
    with pytest.raises(ArgumentError, match="the system under test returned ndarray, not 6 numbers"):
        validate(lambda q, v, a: a + 1j, PUMA, samples=2)


def test_forward_dynamics_is_no_torque_function() -> None:
    with pytest.raises(ArgumentError, match=r"the Function 'forward_dynamics' takes \(q, v, tau\); it must take"):
        validate(gd.NewtonEuler(PUMA).forward_dynamics, PUMA)

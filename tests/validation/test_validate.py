"""The flow of a validation: seeds, batches, progress, tolerances, arguments."""

from __future__ import annotations

from typing import Any

import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.torque_functions import PUMA, TRUE, Array, rnea


def test_seed_decides() -> None:
    def run(seed: int) -> dict[str, Any]:
        return validate(gd.NewtonEuler(PUMA), PUMA, samples=20, seed=seed).to_dict()

    assert run(3) == run(3)
    assert run(3)["checks"] != run(4)["checks"]


@pytest.mark.parametrize("samples", [1, 2, 499, 500, 501, 1003])
def test_batches_with_a_remainder(samples: int) -> None:
    model = gd.load_urdf("two_link_arm")
    seen: list[Array] = []

    def system(q: Array, v: Array, a: Array) -> Array:
        seen.append(q)
        return TRUE_ARM(q, v, a)

    TRUE_ARM = rnea(model)
    assert assert_valid(gd.NewtonEuler(model), model, samples=samples).samples == samples
    assert_valid(system, model, samples=min(samples, 45))
    assert len({q.tobytes() for q in seen}) == min(samples, 45)


def test_more_samples_only_add() -> None:
    few, many = (validate(gd.NewtonEuler(PUMA), PUMA, samples=n) for n in (40, 700))
    for check in few.checks:
        assert many[check.name].error >= check.error


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    validate(gd.NewtonEuler(PUMA), PUMA, samples=700, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "\rpuma560: newton_euler: 500 of 700 states\rpuma560: newton_euler: 700 of 700 states\n"
    validate(gd.NewtonEuler(PUMA), PUMA, samples=3)
    assert capfd.readouterr() == ("", "")


def test_tolerance_overrides_all() -> None:
    report = validate(gd.NewtonEuler(PUMA), PUMA, samples=5, tolerance=1e-3)
    assert {check.tolerance for check in report.checks} == {1e-3}
    report = validate(gd.NewtonEuler(PUMA), PUMA, samples=5, tolerance=1e-18)
    assert not report.ok
    assert report.diagnosis[0].startswith("differences are small, at most ")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"samples": 0}, ArgumentError, "samples is 0; give at least 1"),
        ({"samples": 2.5}, ArgumentTypeError, "samples must be an integer, not float"),
        ({"samples": True}, ArgumentTypeError, "samples must be an integer, not bool"),
        ({"seed": -1}, ArgumentError, "seed is -1; give at least 0"),
        ({"seed": None}, ArgumentTypeError, "seed must be an integer, not NoneType"),
        ({"tolerance": 0}, ArgumentError, "tolerance is 0; give a positive finite number"),
        ({"tolerance": -1e-9}, ArgumentError, "tolerance is -1e-09; give a positive finite number"),
        ({"tolerance": float("nan")}, ArgumentError, "tolerance is nan; give a positive finite number"),
        ({"tolerance": float("inf")}, ArgumentError, "tolerance is inf; give a positive finite number"),
        ({"tolerance": "1e-9"}, ArgumentTypeError, "tolerance must be a number, not str"),
        ({"progress": 1}, ArgumentTypeError, "progress must be True or False, not int"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        validate(TRUE, PUMA, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("against", "message"),
    [
        (None, "against is None; give the pin.Model to compare with"),
        (PUMA.createData(), "expected a pin.Model, got a pin.Data; pass the model that it was created from"),
        (read_tree(PUMA), "against must be the pin.Model, got a Tree; Pinocchio's rnea needs the model"),
        ("puma560", "expected a pin.Model, got str; load_urdf makes one from a URDF"),
    ],
    ids=["None", "Data", "Tree", "str"],
)
def test_bad_models(against: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        validate(TRUE, against)
    assert str(caught.value) == message

"""The flow of a validation: seeds, batches, progress, tolerances, arguments."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.torque_functions import PUMA, TRUE, Array, rnea

NEWTON_EULER = gd.NewtonEuler(PUMA)


def test_seed_decides() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model)

    def run(seed: int) -> dict[str, Any]:
        return validate(dyn, model, samples=20, seed=seed).to_dict()

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
    assert len({q.tobytes() for q in seen}) == min(samples, 44)  # two of 45 states are at the neutral configuration


def test_more_samples_only_add() -> None:
    few, many = (validate(NEWTON_EULER, PUMA, samples=n) for n in (40, 700))
    for check in few.checks:
        assert many[check.name].error >= check.error


def test_progress(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    validate(NEWTON_EULER, PUMA, samples=700, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "\rpuma560: newton_euler: 500 of 700 states\rpuma560: newton_euler: 700 of 700 states\n"
    validate(NEWTON_EULER, PUMA, samples=3)
    assert capfd.readouterr() == ("", "")


def test_the_calls_of_a_slow_callable_are_announced(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before all but the first of them, and no state is asked for twice: a clock that counts calls as seconds."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    seen: list[bytes] = []
    monkeypatch.setattr("gdalembert.validation.systems.perf_counter", lambda: float(len(seen)))

    def system(q: Array, v: Array, a: Array) -> Array:
        seen.append(b"".join(x.tobytes() for x in (q, v, a)))
        return 2 * TRUE(q, v, a)

    report = validate(system, PUMA, samples=4)
    assert not report.ok  # and the diagnosis needs no further call
    assert len(set(seen)) == len(seen) < 4 * 9
    assert capfd.readouterr().err.startswith("\rpuma560: system: at most 36 calls, about 36 s: 4 of 4 states")
    validate(system, PUMA, samples=4, progress=False)
    assert capfd.readouterr().err == ""


def test_tolerance_overrides_all() -> None:
    report = validate(NEWTON_EULER, PUMA, samples=5, tolerance=1e-3)
    assert {check.tolerance for check in report.checks} == {1e-3}
    report = validate(NEWTON_EULER, PUMA, samples=5, tolerance=1e-18)
    assert not report.ok
    assert report.diagnosis[0].startswith("differences are small, at most ")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"samples": 0}, ArgumentError, "validate: samples: got 0; give an integer of at least 1"),
        ({"samples": 2.5}, ArgumentTypeError, "validate: samples: expected an integer, got 2.5"),
        ({"samples": True}, ArgumentTypeError, "validate: samples: expected an integer, got True"),
        ({"seed": -1}, ArgumentError, "validate: seed: got -1; give an integer of at least 0"),
        ({"seed": None}, ArgumentTypeError, "validate: seed: expected an integer, got None"),
        ({"tolerance": 0}, ArgumentError, "validate: tolerance: got 0; give one finite number, above 0"),
        ({"tolerance": -1e-9}, ArgumentError, "validate: tolerance: got -1e-09; give one finite number, above 0"),
        ({"tolerance": float("nan")}, ArgumentError, "validate: tolerance: got nan; give one finite number, above 0"),
        ({"tolerance": float("inf")}, ArgumentError, "validate: tolerance: got inf; give one finite number, above 0"),
        ({"tolerance": "1e-9"}, ArgumentTypeError, "validate: tolerance: expected a number, got '1e-9'"),
        ({"progress": 1}, ArgumentTypeError, "validate: progress: expected True, False or None, got 1"),
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

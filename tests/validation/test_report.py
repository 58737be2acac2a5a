"""Reports: the worst errors, a table, JSON, an exception."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pinocchio as pin
import pytest

from gdalembert.errors import UnknownNameError, ValidationError
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import Report, validate
from tests.helpers.torque_functions import PUMA, TRUE, changed, undefined_beyond

WITHOUT_ARMATURE = changed(lambda model: setattr(model, "armature", PUMA.armature * [1, 1, 1, 0, 1, 1]))


@pytest.fixture(scope="module")
def failed() -> Report:
    return validate(WITHOUT_ARMATURE, PUMA, samples=30, seed=7)


def test_report_names_the_worst(failed: Report) -> None:
    check = failed["M"]
    assert not failed.ok
    assert not check.ok
    assert check.joint == "joint4"
    assert check.entry == ("joint4", "joint4")
    assert check.part == "mass matrix"
    m = pin.crba(PUMA, PUMA.createData(), check.state.q)  # at the very state
    assert check.error == pytest.approx(0.2 / max(1, np.abs(m).max()))
    assert set(check.per_joint) == set(PUMA.names[1:])
    assert check.per_joint["joint4"] == check.error
    assert check.per_joint["joint1"] < 1e-12
    with pytest.raises(UnknownNameError, match="no check named 'm'; nearest: 'M'"):
        failed["m"]


def test_report_is_a_table(failed: Report) -> None:
    lines = str(failed).splitlines()
    assert lines[0] == f"puma560: {failed.system} against Pinocchio on 30 states (seed 7)"
    assert lines[1] == "  quantity             worst error  tolerance  worst joint"
    assert lines[3].split() == ["M", f"{failed['M'].error:.1e}", "1e-09", "joint4", "×", "joint4", "FAIL"]
    assert lines[5].split()[-1] == "ok"
    assert lines[7:] == ["FAILED: 2 of 5 checks", "  - armature is missing at joint 'joint4' (0.2 kg m²)"]
    assert str(validate(TRUE, PUMA, samples=1)).startswith("puma560: <lambda> against Pinocchio on 1 state (seed 0)")


def test_report_raises(failed: Report) -> None:
    with pytest.raises(ValidationError, match="armature is missing at joint 'joint4'") as caught:
        failed.raise_for_failure()
    assert caught.value.report is failed
    with pytest.raises(AssertionError, match="armature is missing"):
        assert_valid(WITHOUT_ARMATURE, PUMA, samples=3)
    validate(TRUE, PUMA, samples=2).raise_for_failure()


def test_report_as_json(failed: Report) -> None:
    assert json.loads(json.dumps(failed.to_dict(), allow_nan=False)) == failed.to_dict()
    assert failed.to_dict()["checks"][1]["joint"] == "joint4"
    assert len(failed.to_dict()["checks"][0]["state"]["q"]) == 6
    infinite = validate(undefined_beyond, PUMA, samples=100).to_dict()
    assert infinite["checks"][0]["error"] == infinite["checks"][0]["per_joint"]["joint3"] == "inf"
    json.dumps(infinite, allow_nan=False)


def test_report_is_picklable(failed: Report) -> None:
    again = pickle.loads(pickle.dumps(failed))
    assert again.to_dict() == failed.to_dict()
    assert str(pickle.loads(pickle.dumps(ValidationError(failed)))) == str(failed)

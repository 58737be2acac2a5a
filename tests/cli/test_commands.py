"""Small commands: options that several share, the cache, the viewer."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.cli.main import main
from gdalembert.cli.options import configuration
from gdalembert.cli.view import joint_sweep
from gdalembert.compilation.cache import Cache
from gdalembert.errors import ArgumentError
from tests.helpers.viewer import every_joint


def test_configurations_of_the_command_line() -> None:
    model = gd.load_urdf("cart_pendulum")
    assert np.array_equal(configuration(model, "1,-0.5"), [1, -0.5])
    for text, message in (("1", "takes 2 finite numbers, and these are 1"), ("a,b", "give numbers, as 0,0.5,-1")):
        with pytest.raises(ArgumentError, match=message):
            configuration(model, text)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    for key, size, used in (("a", 999, 1e9), ("b", 123_456, 1e9 + 86400)):
        with Cache().build() as place:
            (place / "function.so").write_bytes(bytes(size))
            os.utime(Cache(name=f"tau_{key}").add(key * 64, place / "function.so"), (used, used))
    return tmp_path / "cache"


def test_the_cache_is_listed_and_cleared(capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    assert main(["cache"]) == 0
    head, dates = capsys.readouterr().out.splitlines()
    assert head == f"{cache}: 2 libraries, 124 kB, of at most 1 GB"
    assert re.fullmatch(
        r"used between 2001-09-09 ..:.. and 2001-09-10 ..:..; --list shows all, --clear removes them", dates
    )
    assert main(["cache", "--list"]) == 0
    again, names, *rows = capsys.readouterr().out.splitlines()
    assert again == head
    assert names.split() == ["library", "function", "size", "last", "used"]
    assert [row.split()[:5] for row in rows] == [
        ["b" * 12, "tau_b", "123", "kB", "2001-09-10"],
        ["a" * 12, "tau_a", "999", "B", "2001-09-09"],
    ]
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{cache}: removed 2 libraries, 124 kB\n"
    assert os.listdir(cache) == []
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{cache}: 0 libraries, 0 B, of at most 1 GB\n"


def test_a_joint_sweep_stays_within_limits() -> None:
    model = gd.load_urdf("panda7")
    t, q = joint_sweep(model, pin.neutral(model))
    assert np.all(np.diff(t) > 0)
    # neutral itself lies outside the range of joint 4 (and 6), which is its own upper limit there
    inside = (model.lowerPositionLimit <= 0) & (model.upperPositionLimit >= 0)
    assert np.all(q.min(axis=0)[inside] >= np.maximum(model.lowerPositionLimit, -np.pi)[inside] - 1e-12)
    assert np.all(q.max(axis=0)[inside] <= np.minimum(model.upperPositionLimit, np.pi)[inside] + 1e-12)
    assert np.all(np.ptp(q, axis=0) > 1)
    model = every_joint(0)
    t, q = joint_sweep(model, pin.neutral(model))
    assert len(t) == 32 * model.nv + 1
    assert all(pin.isNormalized(model, row, 1e-9) for row in q)


def test_a_joint_sweep_goes_from_where_it_is_to_the_limits() -> None:
    """But for slides by no more than 1 m."""
    model = pin.Model()
    kinds = (pin.JointModelRX(), pin.JointModelPY(), pin.JointModelTranslation())
    for k, kind in enumerate(kinds):
        model.addJoint(k, kind, pin.SE3.Identity(), f"joint {k}")
    model.lowerPositionLimit = np.array([-0.5, -5.0, -0.1, -0.3, -0.5])
    model.upperPositionLimit = np.array([0.8, 5.0, 0.2, 0.4, 0.6])
    _, rows = joint_sweep(model, np.array([0.2, 0.5, 0.05, 0.1, 0.2]))
    assert rows.max(axis=0) == pytest.approx([0.8, 1.5, 0.2, 0.4, 0.6])
    assert rows.min(axis=0) == pytest.approx([-0.5, -0.5, -0.1, -0.3, -0.5])
    assert rows[0] == pytest.approx(rows[-1])

"""The benchmark of a real robot, on a folder that is like that of the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from benchmarks.identification import ur10e

pytestmark = pytest.mark.extras


def test_published_parameters_are_read_in_their_order(tmp_path: Path) -> None:
    """Bodies as Ixx Ixy Ixz Iyy Iyz Izz, first moments and mass; viscous, Coulomb and offset by joints."""
    model = robots.load("ur5")
    bodies = np.array([model.inertias[k].toDynamicParameters() for k in ur10e.JOINTS])
    theirs = bodies[:, [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]]
    friction = np.arange(18.0).reshape(6, 3)
    lines = {"drvGains": np.full(6, 10.0), "pi_drvs": np.full(6, 0.1), "pi_frcn": friction, "pi_rgd": theirs}
    text = "\n\n".join(f"{name} = [{' '.join(map(repr, x.ravel().tolist()))}]" for name, x in lines.items())
    (tmp_path / "published_parameters.txt").write_text(text, encoding="utf-8")
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 6))
    motion = gd.identification.Signals(np.arange(5.0), 1.0, q, v, a, None, np.zeros((5, 6)), 0.0)
    found = ur10e.Published.read(tmp_path).torques(model, motion)
    data = model.createData()
    expected = [pin.rnea(model, data, *state).copy() for state in zip(q, v, a, strict=True)]
    expected += 0.1 * a + friction[:, 0] * v + friction[:, 1] * np.sign(v) + friction[:, 2]
    assert found == pytest.approx(np.array(expected), rel=1e-12)
    still = replace(motion, v=np.zeros((5, 6)))
    free = ur10e.Published.read(tmp_path).torques(model, still)
    held = ur10e.Published.read(tmp_path).torques(model, still, held=True)
    assert np.abs(held) == pytest.approx(np.maximum(0.0, np.abs(free) - friction[:, 1]))  # nearest to no current
    assert ur10e.relative(0.9 * found, found) == pytest.approx(np.full(6, 10.0))
    (tmp_path / "published_parameters.txt").write_text(text.replace("pi_rgd", "other"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"has no pi_rgd = "):
        ur10e.Published.read(tmp_path)


def test_both_filters_follow_a_motion(tmp_path: Path) -> None:
    t = np.arange(5100) / ur10e.RATE
    wave, speed = np.sin(0.5 * t)[:, None], 0.5 * np.cos(0.5 * t)[:, None]
    rows = np.hstack([t[:, None], *(np.tile(x, 6) for x in (wave, speed, 0 * wave, wave, wave))])
    name = "loaded_50s_14_harmonics"
    np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",")
    first = ur10e.ROWS[name][0] - 1
    for motion in (ur10e.signals(tmp_path, name), ur10e.with_their_filters(tmp_path, name)):
        start = t[first] if motion.tau is not None else 0.0  # of ours, times begin with the first row
        middle, at = slice(100, -100), motion.t + start
        assert motion.v[middle, 3] == pytest.approx(0.5 * np.cos(0.5 * at[middle]), abs=1e-3)
        assert motion.a[middle, 3] == pytest.approx(-0.25 * np.sin(0.5 * at[middle]), abs=1e-3)

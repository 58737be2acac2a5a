"""Results as JSON, and the command that fits a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.cli.main import main
from gdalembert.errors import ArgumentError
from gdalembert.identification import Experiment, fit, load, save
from tests.helpers.identification import PARAMETERS, fourier, with_friction


def measured(samples: int = 400) -> tuple[gd.NewtonEuler, tuple[np.ndarray, ...], np.ndarray]:
    real = gd.load_urdf("two_link_arm")
    real.armature, real.damping, real.friction = np.array([2.0, 0.5]), np.array([2.0, 0.5]), np.array([1.0, 3.0])
    motion = fourier(np.random.default_rng(3), 2, samples)
    tau = with_friction(real).inverse_dynamics(*(part.T for part in motion)).full().T
    sheet = with_friction(gd.load_urdf("two_link_arm"), PARAMETERS)
    return sheet, motion, tau + 0.05 * np.random.default_rng(0).normal(size=tau.shape)


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    dyn, motion, tau = measured()
    tau[7, 1] = np.nan
    gains = {"joint1": 2.0}
    run = Experiment(*motion, current=tau / 2.0)
    result = fit(dyn, experiments=[run], gains=gains, offsets=["joint2"], held_back=0.25, method="weighted")
    save(result, tmp_path / "result.json")
    given = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert given["gains"]["joint1"] == 2.0
    found = load(tmp_path / "result.json", dyn, gd.load_urdf("two_link_arm"))
    assert found.report == result.report
    assert found.details == result.details
    assert np.array_equal(found.values, result.values)
    assert np.array_equal(found.base.covariance, result.base.covariance)
    assert np.array_equal(found.fitted.measured, result.fitted.measured, equal_nan=True)
    assert found.fitted.moving.relative == pytest.approx(result.fitted.relative)
    assert found.held_back is not None
    assert found.not_identifiable.not_excited == result.not_identifiable.not_excited
    state = ([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    taus = [each.dynamics.inverse_dynamics(*state).full() for each in (found, result)]
    assert np.array_equal(*taus)
    assert dict(found.friction) == dict(result.friction)
    alone = load(tmp_path / "result.json")
    with pytest.raises(ArgumentError, match=r"it was loaded without its robot; give it"):
        _ = alone.dynamics
    with pytest.raises(ArgumentError, match=r"are not those that were estimated; give the robot that was fitted$"):
        load(tmp_path / "result.json", gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters=["inertia"]))
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"other.json: it is not the result of an identification; give a file"):
        load(tmp_path / "other.json")
    (tmp_path / "other.json").write_text("t, q", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"other.json: it is no JSON"):
        load(tmp_path / "other.json")


def table(tmp_path: Path, name: str, header: str = "") -> Path:
    _, (q, v, _), tau = measured(4000)
    t = np.linspace(0, 20, 4000)[:, None]
    np.savetxt(tmp_path / name, np.hstack([t, q, v, tau / 2.0, 0 * q]), delimiter=",", header=header, comments="")
    return tmp_path / name


def test_the_command_fits_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, "log.csv", "t,q1,q2,v1,v2,i1,i2,x,y")
    argv = ["identify", "two_link_arm", str(path), "--columns", "t,q,v,current,-2", "--cutoff", "8", "--gains", "2"]
    argv += ["--held-back", "0.25", "--decimation", "5", "--method", "weighted", "--output", str(tmp_path / "r.json")]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert out.startswith("two_link_arm: 26 parameters by the weighted fit of ")
    result = load(tmp_path / "r.json")
    assert result.report == out.rstrip("\n")
    assert result.parameters["joint2.coulomb"] == pytest.approx(3.0, rel=0.03)
    assert main([*argv, "--details", "--load", "--offsets", "--sticking", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "base parameter" in out
    heads = [" ".join(line.split()) for line in out.splitlines()]
    assert "held back every sample beyond friction moving samples at rest" in heads


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--columns", "t,q,v,current"], "log.csv: has 9 columns, and --columns t,q,v,current are 7 of two_link_arm"),
        (["--columns", "t,q,w,current,-2"], "'w': give t, q, v, tau, current, once each, or -N to skip N"),
        (["--columns", "t,q,v,-2,-2"], "--columns t,q,v,-2,-2: give t, q and one of tau and current"),
        (["--gains", "1,2,3"], "--gains 1,2,3: got 3 numbers; give 1, or 2: joint1, joint2"),
        (["--rows", "7"], "--rows 7: give FIRST:LAST, as 100:2000"),
        (["--held-back", "0.1", "--validate", "x"], "--held-back and --validate: give one of both"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path, "log.csv")
    own = [] if "--columns" in options else ["--columns", "t,q,v,current,-2"]
    assert main(["identify", "two_link_arm", str(path), "--cutoff", "8", *own, *options]) == 2
    assert told in capsys.readouterr().err


def test_lines_without_numbers_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text("t,q\n0,1,2,3,4\n0,x,2,3,4\n", encoding="utf-8")
    assert main(["identify", "two_link_arm", str(path), "--cutoff", "8"]) == 2
    assert "line 3 is no row of numbers: '0,x,2,3,4'" in capsys.readouterr().err

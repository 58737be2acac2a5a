"""Results as JSON, and the command that fits a file."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.cli.main import main
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.identification import Experiment, fit, load, save
from tests.helpers.identification import PARAMETERS, fourier, with_friction


@cache
def robots() -> tuple[gd.NewtonEuler, gd.NewtonEuler]:
    """One as it is, and with the parameters of its data sheet."""
    real = gd.load_urdf("two_link_arm")
    real.armature, real.damping, real.friction = np.array([2.0, 0.5]), np.array([2.0, 0.5]), np.array([1.0, 3.0])
    return with_friction(real), with_friction(gd.load_urdf("two_link_arm"), PARAMETERS)


def measured(samples: int = 400) -> tuple[gd.NewtonEuler, tuple[np.ndarray, ...], np.ndarray]:
    real, sheet = robots()
    motion = fourier(np.random.default_rng(3), 2, samples)
    tau = real.inverse_dynamics(*(part.T for part in motion)).full().T
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
    assert np.isinf(result.standard_deviation).any()
    assert np.array_equal(found.standard_deviation, result.standard_deviation)
    assert given["standard_deviation"] == [x if np.isfinite(x) else "inf" for x in result.standard_deviation.tolist()]
    assert found.not_identifiable.directions.shape == result.not_identifiable.directions.shape
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


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The entries of a saved result."""
    dyn, motion, tau = measured(120)
    path = tmp_path_factory.mktemp("saved") / "result.json"
    save(fit(dyn, *motion, tau, held_back=0.25, method="weighted", sticking=0.01), path)
    return dict(json.loads(path.read_text(encoding="utf-8")))


WRONG = {
    "values": ([1.0], "values has 1 entries, and names has 26"),
    "names": ("joint1", "names is 'joint1', and no list"),
    "nominal": ([None] * 26, "nominal[0] is None, and no number"),
    "robot": (3, "robot is 3, and no text"),
    "method": ("best", "method is 'best', and none of ordinary, weighted, consistent"),
    "structural_rank": (-1, "structural_rank is -1, and no count"),
    "condition_number": (True, "condition_number is True, and no number"),
    "gains_standard_deviation": ({"x": 1.0}, "gains_standard_deviation has other names than gains: 'x' is in one of"),
    "coefficients": ([], "coefficients is [], and no numbers by name"),
    "base": ({}, "base.names is missing"),
    "fitted": (None, "fitted is None, and no entries by name"),
    "sticking": (None, "fitted.at_rest: samples are at rest, and sticking says of no speed that they are"),
}
"""Entries of a wrong type or length."""

IMPOSSIBLE: dict[str, tuple[tuple[str | int, ...], Any, str]] = {
    "a negative deviation": (
        ("standard_deviation", 0),
        -1.0,
        "standard_deviation[0] is -1.0, and no standard deviation",
    ),
    "a deviation of nan": (("standard_deviation", 0), "nan", "standard_deviation[0] is nan, and no standard deviation"),
    "a condition of nan": (("condition_number",), "nan", "condition_number is nan, and no condition number"),
    "a condition below 1": (("condition_number",), 0.5, "condition_number is 0.5, and no condition number"),
    "a negative noise": (("noise", 1), -0.1, "noise[1] is -0.1, and no root mean square"),
    "an infinite residual": (("residual", 0), "inf", "residual[0] is inf, and no root mean square"),
    "an infinite torque": (("fitted", "measured", 0, 0), "-inf", "fitted.measured[0][0] is -inf, and no finite number"),
    "a speed below 0": (("sticking",), -0.1, "sticking is -0.1, and no speed above 0"),
    "a name twice": (("joints", 0), "joint2", "joints has 'joint2' twice"),
    "another name": (("unknowns", 0), "x", "unknowns does not begin with names"),
    "a low rank": (("structural_rank",), 1, "structural_rank is 1, of 26 unknowns and "),
    "a high rank": (("structural_rank",), 27, "structural_rank is 27, of 26 unknowns and "),
    "an unknown parameter": (
        ("not_identifiable", "parameters"),
        ["x"],
        "not_identifiable.parameters has 'x', which ",
    ),
    "a gain of no sensor": (("gains",), {"x": 1.0}, "gains_standard_deviation has other names than gains"),
    "not symmetric": (("base", "covariance", 0, 1), 1e-30, "base.covariance[0][1] is 1e-30, and it is not symmetric"),
    "no variances": (("base", "covariance", 0, 0), 1e-30, "base.covariance[0]["),
}
"""Entries of the right type that no fit has: their place, the value, and what is told."""


@pytest.mark.parametrize("key", WRONG)
def test_a_changed_file_is_refused_by_the_key(key: str, written: dict[str, Any], tmp_path: Path) -> None:
    value, told = WRONG[key]
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(written | {key: value}), encoding="utf-8")
    with pytest.raises(ArgumentError, match=f"^load: {re.escape(f'{path}: {told}')}.*; give a file that save wrote$"):
        load(path)


@pytest.mark.parametrize("fault", IMPOSSIBLE)
def test_values_that_no_fit_has_are_refused(fault: str, written: dict[str, Any], tmp_path: Path) -> None:
    (*parents, last), value, told = IMPOSSIBLE[fault]
    path, changed = tmp_path / "changed.json", copy.deepcopy(written)
    entry: Any = changed
    for key in parents:
        entry = entry[key]
    entry[last] = value
    path.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(ArgumentError, match=f"^load: {re.escape(f'{path}: {told}')}.*; give a file that save wrote$"):
        load(path)


def test_every_entry_is_read_or_refused_whatever_stands_there(written: dict[str, Any], tmp_path: Path) -> None:
    """Each entry, and each of a part, in place of which something else stands: the result, or one sentence."""
    path, refusals = tmp_path / "changed.json", list[str]()
    small = dict(written)
    for key in ("fitted", "held_back"):
        small[key] = {name: rows[:3] for name, rows in written[key].items()}
    places = [(key,) for key in small]
    places += [(key, part) for key in ("base", "not_identifiable", "fitted", "held_back") for part in small[key]]
    for place in places:
        for other in (None, 1e400, "x", [], {}, [[1.0, 2.0], [3.0]], -1, True, "deleted", 10**400):
            changed = copy.deepcopy(small)
            parent = changed if len(place) == 1 else changed[place[0]]
            parent[place[-1]] = other
            if other == "deleted":
                del parent[place[-1]]
            path.write_text(json.dumps(changed), encoding="utf-8")
            try:
                found = load(path)
            except ArgumentError as error:
                refusals.append(str(error))
            else:
                assert found.report
                assert found.details
    assert len(refusals) > 300
    assert all(told.startswith(f"load: {path}: ") and "\n" not in told for told in refusals)


def test_what_is_no_path_or_no_robot_is_refused(tmp_path: Path) -> None:
    dyn, motion, tau = measured(60)
    result = fit(dyn, *motion, tau, method="weighted")
    for path in (None, 3, "", "a\0b", "\ud800"):
        for call in (lambda path=path: save(result, path), lambda path=path: load(path)):
            with pytest.raises(
                (ArgumentTypeError, ArgumentError), match=r"^(save|load): got .*; give the name of a file"
            ):
                call()
    save(result, tmp_path / "r.json")
    with pytest.raises(ArgumentTypeError, match=r"^load: dyn is 'arm'; give the Dynamics that was fitted$"):
        load(tmp_path / "r.json", "arm")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"^load: model is 'arm'; give the pin.Model that dyn was made of$"):
        load(tmp_path / "r.json", dyn, "arm")
    with pytest.raises(ArgumentError, match=r"^load: model says nothing without the robot that was fitted; give dyn="):
        load(tmp_path / "r.json", model=gd.load_urdf("two_link_arm"))
    (tmp_path / "r.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ArgumentError, match=r"it is no JSON: 'utf-8' codec"):
        load(tmp_path / "r.json")


def table(tmp_path: Path, name: str, header: str = "") -> Path:
    _, (q, v, _), tau = measured(4000)
    t = np.linspace(0, 20, 4000)[:, None]
    np.savetxt(tmp_path / name, np.hstack([t, q, v, tau / 2.0, 0 * q]), delimiter=",", header=header, comments="")
    return tmp_path / name


@pytest.mark.long
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


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            "t,\xe9\n0,1,2,3,4\n".encode("latin1"),
            "log.csv: byte 2 is no text of UTF-8; give a file of numbers, by commas",
        ),
        (b"", "log.csv: no rows of numbers in it; give a file of measured samples"),
        (None, r"DATA: got 'a\x00b', which no file can be called; give a file of measured samples"),
    ],
    ids=["latin1", "empty", "path"],
)
def test_files_that_cannot_be_read_are_told(
    data: bytes | None, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(data or b"")
    assert main(["identify", "two_link_arm", "a\0b" if data is None else str(path), "--cutoff", "8"]) == 2
    assert told in capsys.readouterr().err
    if data is not None:
        assert main(["identify", "two_link_arm", str(path), "--cutoff", "8", "--output", ""]) == 2
        assert "--output: got '', which no file can be called; give the name of a file" in capsys.readouterr().err

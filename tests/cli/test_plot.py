"""``gdalembert plot``: pictures, motions and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from matplotlib import pyplot

import gdalembert as gd
from gdalembert import plotting
from gdalembert.cli import main as cli
from gdalembert.cli import plot as command
from gdalembert.errors import ArgumentError
from tests.helpers.plots import tree_with_everything

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


def plot(*arguments: str) -> int:
    return cli.main(["plot", *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        ("torque-decomposition", "puma560", "--joint", "joint2", "--by", "link"),
        ("torque-decomposition", "two_link_arm", "--free-flyer", "--seed", "3"),
        ("force-ellipsoid", "puma560", "--frame", "tool", "--limits", "--q=-0.3,-0.6,0.9,0.2,0.8,0.1"),
        ("velocity-ellipsoid", "two_link_arm", "--plane", "xz", "--reference", "local"),
    ],
    ids=" ".join,
)
def test_the_command_writes_a_picture(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "picture.png"
    assert plot(*arguments, "--output", str(output)) == 0
    assert output.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == f"{output}\n"
    assert pyplot.get_fignums() == []


def test_a_picture_has_a_name_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plot("force-ellipsoid", "panda7") == 0
    assert capsys.readouterr().out == "force-ellipsoid_panda7.png\n"
    assert (tmp_path / "force-ellipsoid_panda7.png").read_bytes().startswith(b"\x89PNG")


def test_the_other_figures_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plot("torque-decomposition", "puma560", "--limits", "--output", str(tmp_path / "x.png")) == 2
    message = "--limits: torque-decomposition does not use it, force-ellipsoid and velocity-ellipsoid do; leave it out"
    assert message in capsys.readouterr().err


def test_the_command_draws_what_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    own = plotting.force_ellipsoid
    monkeypatch.setattr(plotting, "force_ellipsoid", lambda *args, **kw: given.append((args, kw)) or own(*args, **kw))
    model, output = gd.load_urdf("puma560"), ("--output", str(tmp_path / "x.png"))
    for arguments in ((), ("--seed", "7"), ("--limits", "--frame", "tool", "--reference", "local", "--plane", "xz")):
        assert plot("force-ellipsoid", "puma560", *arguments, *output) == 0
    (_, frame, _, reference), options = given[0]
    assert (frame, reference, options) == (model.nframes - 1, pin.LOCAL_WORLD_ALIGNED, {"plane": None, "limits": None})
    for seed, (args, _) in zip((0, 7), given, strict=False):
        assert np.array_equal(args[2], np.random.default_rng(seed).uniform(-1, 1, 6))
    (_, frame, _, reference), options = given[2]
    assert (frame, reference, options["plane"]) == ("tool", pin.LOCAL, "xz")
    assert np.array_equal(options["limits"], model.effortLimit)


def test_a_random_motion_goes_from_rest_to_rest_along_its_own_rates() -> None:
    """v and a are the rates of q: differences of fourth order over 5 ms, of a motion of one second."""
    model = tree_with_everything()
    t, q, v, a = command.random_motion(model, 1.0, 0)
    assert np.abs(v[[0, -1]]).max() == np.abs(a[[0, -1]]).max() == 0
    h = t[1]
    steps = np.array(
        [pin.difference(model, q[k], q[k + 1]) - pin.difference(model, q[k], q[k - 1]) for k in range(1, 200)]
    )
    assert np.abs(steps / (2 * h) - v[1:-1]).max() < 3 * h**2 * 60
    assert np.abs((v[2:] - v[:-2]) / (2 * h) - a[1:-1]).max() < h**2 * 360
    for duration in (0.0, np.inf):
        with pytest.raises(ArgumentError, match=r"--duration: got .*; give one finite number \[s\], above 0"):
            command.random_motion(model, duration, 0)


def test_a_trajectory_is_read_from_a_file(tmp_path: Path) -> None:
    """Parabolas, of which differences are exact."""
    model = gd.load_urdf("two_link_arm")
    t = np.linspace(0, 1, 11)
    q = np.column_stack([t**2, 1 - 2 * t])
    path = tmp_path / "motion.csv"
    np.savetxt(path, np.column_stack([t, q]), delimiter=",")
    found = command.read_motion(model, path)
    v, a = np.column_stack([2 * t, 0 * t - 2]), np.column_stack([0 * t + 2, 0 * t])
    for array, true in zip(found, (t, q, v, a), strict=True):
        assert array == pytest.approx(true, abs=1e-12)
    np.savetxt(path, np.column_stack([t, q, v + 1, a + 1]), delimiter=",")
    assert np.all(command.read_motion(model, path)[2] == v + 1)
    assert (
        plot("torque-decomposition", "two_link_arm", "--trajectory", str(path), "--output", str(tmp_path / "a.svg"))
        == 0
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,0\n1,0\n2,0\n", r"has 2 columns; give 3 \(t, q\) or 7 \(t, q, v, a\)"),
        ("0,0,0\n1,1,1\n", "v and a need at least three rows, each later than the last"),
        ("0,0,0\n0,1,1\n1,2,2\n", "v and a need at least three rows, each later than the last"),
        ("t,q,q\n", "give numbers with commas between them"),
    ],
)
def test_wrong_files_are_refused(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "motion.csv").write_text(rows)
    with pytest.raises(ArgumentError, match=message):
        command.read_motion(gd.load_urdf("two_link_arm"), tmp_path / "motion.csv")


@pytest.mark.parametrize(
    ("arguments", "output", "message"),
    [
        ((), "picture.txt", "the format of a picture is its ending; give one as picture.png"),
        (("--q", "1,x"), "picture.png", "--q 1,x: give numbers, as 0,0.5,-1"),
        (("--joint", "joint2"), "picture.png", "--joint: force-ellipsoid does not use it, torque-decomposition does"),
        (("--by", "kind"), "picture.png", "--by: force-ellipsoid does not use it, torque-decomposition does; leave"),
        (("--q", "0,0,0,0,inf,0"), "picture.png", "--q 0,0,0,0,inf,0: q: entry [4] is inf; give finite numbers"),
        (("--q", "1,2"), "picture.png", "--q 1,2: puma560 takes 6 finite numbers, and these are 2"),
        (("--plane", "xx"), "picture.png", "plane"),
    ],
)
def test_wrong_commands_are_refused(
    arguments: tuple[str, ...], output: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plot("force-ellipsoid", "puma560", *arguments, "--output", str(tmp_path / output)) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("gdalembert: error: ")
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert pyplot.get_fignums() == []

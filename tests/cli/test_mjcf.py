"""Commands, the viewer and exports of an MJCF file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gdalembert as gd
from gdalembert import export
from gdalembert.cli.main import main
from gdalembert.model.load_mjcf import is_mjcf
from gdalembert.viewer.viewer import Viewer

pytestmark = pytest.mark.extras

PENDULUM = """<?xml version="1.0"?><!-- one rod -->
<mujoco model="pendulum"><visual/><compiler angle="radian"/><worldbody>
  <body name="rod"><joint name="pivot" axis="0 1 0" damping="0.5" range="-1 1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="2"/></body>
</worldbody></mujoco>"""
WITHOUT_DAMPING = "a pin.Model does not apply the friction of the file; to have them, write dyn = gd.NewtonEuler("

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM, encoding="utf-8")
    return str(path)


def test_info(file: str, capsys: Capture) -> None:
    assert main(["info", file]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("pendulum: nq = 1, nv = 1, gravity (0, 0, -9.81) m/s²\n")
    assert err == f"gdalembert: warning: pendulum.xml: {WITHOUT_DAMPING}model, friction='model')\n"
    assert "--round-angles" not in out


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (["validate"], "pendulum: 3 formulations agree with Pinocchio on 1000 states"),
        (["count"], "inverse_dynamics"),
        (["derive", "--to", "python"], ""),
        (["validate", "--free-flyer"], "3 formulations agree"),
    ],
)
def test_other_commands(command: list[str], printed: str, file: str, capsys: Capture, tmp_path: Path) -> None:
    text = PENDULUM.replace("<body", '<body name="base"><geom size=".1"/><body').replace("</body>", "</body></body>")
    if "--free-flyer" in command:
        Path(file).write_text(text, encoding="utf-8")
    more = ["--output", str(tmp_path / "code")] if command[0] == "derive" else []
    assert main([command[0], file, *command[1:], *more]) == 0
    assert printed in capsys.readouterr().out


def test_a_report(file: str, tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "report.html"
    assert main(["report", file, "--plain", "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "gd.load_mjcf(" in text
    assert WITHOUT_DAMPING in text


@pytest.mark.parametrize("option", [["--no-mimic"], ["--round-angles", "0.01"]])
def test_options_of_a_urdf_are_refused(option: list[str], file: str, capsys: Capture) -> None:
    assert main(["info", file, *option]) == 2
    err = capsys.readouterr().err
    assert err == f"gdalembert: error: {option[0]}: changes how a URDF is read, and {file} is MJCF; leave it out\n"


@pytest.mark.filterwarnings("ignore::gdalembert.errors.MjcfWarning")
def test_the_viewer_and_exports(file: str) -> None:
    with Viewer(file, port=0) as viewer:
        assert viewer.scene.tree.name == "pendulum"
    assert export.derive(file, "python").keys() == export.derive(PENDULUM, "python").keys()


def test_what_is_mjcf(file: str, tmp_path: Path) -> None:
    assert is_mjcf(PENDULUM)
    assert is_mjcf(file)
    assert is_mjcf(Path(file))
    urdf = tmp_path / "r.urdf"
    urdf.write_text('<robot name="<mujoco>"/>', encoding="utf-8")
    for other in (
        urdf,
        str(urdf),
        "puma560",
        "<robot/>",
        "<",
        "no.xml",
        tmp_path,
        3,
        gd.load_urdf("puma560"),
        np.eye(3),
    ):
        assert not is_mjcf(other)

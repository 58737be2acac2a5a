"""The command line: what it prints, where, and with which exit status."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.cli import validate as cli_validate
from gdalembert.cli.main import _parser, main
from gdalembert.dynamics.dynamics import REGISTRY
from gdalembert.export import FORMATS, derive
from gdalembert.export.formats import formats_of
from gdalembert.model.load_urdf import robot_folder
from gdalembert.spatial.instructions import count
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick, with_extras
from tests.helpers.terminals import without_seconds

Capture = pytest.CaptureFixture[str]

OURS = len(gd.formulations())
"""The number of formulations of the package."""

SIMPLIFY = ("derive", "puma560", "--simplify")

DOUBTFUL = """<?xml version="1.0"?>
<robot name="doubtful">
  <link name="base"/>
  <link name="link">
    <inertial><mass value="1"/><origin xyz="0.1 0 0"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="link"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.5"/>
  </joint>
</robot>
"""


@pytest.fixture
def doubtful(tmp_path: Path) -> str:
    path = tmp_path / "doubtful.urdf"
    path.write_text(DOUBTFUL)
    return str(path)


@pytest.fixture
def wrong() -> Iterator[None]:
    """A formulation that has the sign of gravity wrong, for as long as a test runs."""

    class UpsideDown(gd.NewtonEuler):
        name = "upside_down"

        def inverse_dynamics_expression(self, q: object, v: object, a: object) -> object:
            zero = 0 * v
            own = super().inverse_dynamics_expression
            return own(q, v, a) - 2 * own(q, zero, zero)

    yield
    del REGISTRY["upside_down"]


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gdalembert", *argv], capture_output=True, text=True, timeout=60)


def test_robots(capsys: Capture) -> None:
    assert main(["robots"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0].split() == ["robot", "joints", "nq", "nv"]
    assert [line.split()[0] for line in lines[1:]] == list(gd.robots())
    assert any(line.startswith("puma560 ") and "6   6   6  PUMA 560, six joints" in line for line in lines)


@pytest.mark.long
def test_info(capsys: Capture) -> None:
    assert main(["info", "puma560"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0] == "puma560: nq = 6, nv = 6, gravity (0, 0, -9.81) m/s²"
    assert lines[1].split() == ["joint", "type", "parent", "mass", "[kg]", "armature"]
    assert lines[3].split() == ["joint2", "Revolute", "(0,", "0,", "1)", "joint1", "17.4", "4.71"]
    dyn = gd.NewtonEuler(gd.load_urdf("puma560"))
    cleaned = lines.index(
        f"cleaning with tolerance 1e-11 changes {len(dyn.changes)} numbers, and tau by at most {dyn.change_in_tau:.1e} "
        "(relative)"
    )
    assert lines[cleaned + 1 :] == [f"  {change}" for change in dyn.changes]
    rows = [line.split() for line in lines]
    assert ["joint2", "0.068", "0.006", "0.2275", "0.13", "0", "0.524", "0", "0", "0.539"] in rows  # com and inertia
    assert ["joint1", "-2.79253", "2.79253", "1.43", "100"] in rows  # limits
    assert ["link2", "BODY", "joint2", "0", "0", "0", "0", "0", "0"] in rows  # a frame
    assert main(["info", "puma560", "--clean", "0", "--free-flyer"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("puma560: nq = 13, nv = 12")
    assert lines[2].split() == ["root_joint", "FreeFlyer", "–", "0", "0"]
    assert ["root_joint[0]", "–", "–", "–", "–"] in [line.split() for line in lines]
    assert lines[-1] == "cleaning with tolerance 0 changes 0 numbers"


@pytest.mark.long
def test_info_as_json(capsys: Capture) -> None:
    assert main(["info", "panda7", "--json", "--free-flyer"]) == 0
    robot = json.loads(capsys.readouterr().out)
    model = gd.load_urdf("panda7", root_joint=pin.JointModelFreeFlyer())
    assert (robot["name"], robot["nq"], robot["nv"]) == (model.name, model.nq, model.nv)
    assert [joint["name"] for joint in robot["joints"]] == list(model.names)[1:]
    for joint, own in zip(robot["joints"], model.inertias[1:], strict=True):
        assert joint["mass"] == pytest.approx(own.mass, rel=1e-15)
        assert np.allclose(joint["center_of_mass"], own.lever, rtol=0, atol=1e-15)
        assert np.allclose(joint["inertia"], own.inertia, rtol=0, atol=1e-14)  # J about the origin and back
    assert [joint["parent"] for joint in robot["joints"]][:2] == [None, "root_joint"]
    assert [limit["velocity"] for limit in robot["limits"]] == [None] * 6 + model.velocityLimit[6:].tolist()
    assert [limit["upper"] for limit in robot["limits"]] == [None] * 6 + model.upperPositionLimit[7:].tolist()
    assert [frame["name"] for frame in robot["frames"]] == [frame.name for frame in model.frames]
    assert robot["cleaning"]["change_in_tau"] >= 0


def test_info_of_a_robot_without_inertia(capsys: Capture, tmp_path: Path) -> None:
    """Which is all that is said of dynamics; other commands refuse it in one sentence."""
    path = tmp_path / "bare.urdf"
    bare = re.sub("<inertial>.*</inertial>", "", DOUBTFUL, flags=re.DOTALL)
    path.write_text(bare.replace('<axis xyz="0 0 1"/>', '<origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/>'))
    assert main(["info", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "bare.urdf: joint 'hinge': no moving inertia, so that the robot has kinematics and statics" in err
    assert out.endswith("\nwithout inertia, so that there is kinematics and statics, but no dynamics: hinge\n")
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["without_inertia"] == ["hinge"]
    assert main(["count", str(path)]) == 2
    assert "error: doubtful: joint 'hinge' moves no inertia, so that the mass" in capsys.readouterr().err


@pytest.mark.long
def test_info_counts_what_rounded_angles_save(capsys: Capture, tmp_path: Path) -> None:
    """Of a URDF that writes 1.5708: the instructions of the shipped one in place of its own."""
    shipped = (robot_folder() / "puma560_3.urdf").read_text(encoding="utf-8")
    path = tmp_path / "rough.urdf"
    path.write_text(shipped.replace("1.5707963267948966", "1.5708"))
    functions = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
    models = [gd.load_urdf(path, check="off"), gd.load_urdf("puma560_3")]
    before, after = ([getattr(gd.NewtonEuler(model), f).n_instructions() for f in functions] for model in models)
    assert after[0] < 0.9 * before[0]
    assert main(["info", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "in 2 angles; with round_angles=0.0001, rotations of joints have 4 more zeros" in err
    assert out.splitlines()[-1] == (
        "--round-angles 0.0001 takes angles of joint2 for multiples of π/4 or π/6, which leaves instructions: "
        + ", ".join(f"{b} of {a} in {name}" for name, a, b in zip(functions, before, after, strict=True))
    )
    assert main(["info", str(path), "--json", "--round-angles", "1e-3"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["angles"] == {
        "tolerance": 1e-3,
        "joints": ["joint2"],
        "instructions": {name: list(each) for name, *each in zip(functions, before, after, strict=True)},
    }
    assert "round_angles" not in err


def test_info_about_mimic_joints(capsys: Capture, tmp_path: Path) -> None:
    follower = DOUBTFUL.replace("doubtful", "gripper").replace('<dynamics damping="0.5"/>', "")
    link = follower[follower.index('  <link name="link">') : follower.index("</robot>")]
    link = link.replace('"link"', '"finger"').replace('"hinge"', '"follower"').replace('"base"', '"link"')
    link = link.replace("<limit", '<mimic joint="hinge" multiplier="-1"/><limit')
    path = tmp_path / "gripper.urdf"
    path.write_text(follower.replace("</robot>", f"{link}</robot>"))
    assert main(["info", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[3].split() == [
        "follower",
        "Revolute",
        "(0,",
        "0,",
        "1),",
        "mimics",
        "hinge",
        "hinge",
        "1",
        "–",
    ]


def test_validate(capsys: Capture) -> None:
    assert main(["validate", "cart_pendulum", "two_link_arm", "--samples", "40"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    blocks = out.split("\n\n")
    assert len(blocks) == 2 * OURS + 1
    assert blocks[0].startswith(
        f"cart_pendulum: {next(iter(gd.formulations()))} against Pinocchio on 40 states (seed 0)\n"
    )
    assert "FAIL" not in out
    assert blocks[-1] == (
        f"cart_pendulum: {OURS} formulations agree with Pinocchio on 40 states\n"
        f"two_link_arm: {OURS} formulations agree with Pinocchio on 40 states\n"
    )


@pytest.mark.long
def test_validate_goes_on_after_a_bad_robot(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "cut.urdf").write_text(DOUBTFUL[:200])
    bad = [str(tmp_path / "cut.urdf"), str(tmp_path / "missing.urdf")]
    options = ["--samples", "2", "--formulation", "newton_euler"]
    assert main(["validate", bad[0], "two_link_arm", bad[1], *options]) == 2
    out, err = capsys.readouterr()
    assert [line[:24] for line in err.splitlines()] == ["gdalembert: error: cut.u", f"gdalembert: error: {bad[1]}"[:24]]
    summary = out.rpartition("\n\n")[2].splitlines()
    assert [line.partition(": ")[0] for line in summary] == [bad[0], "two_link_arm", bad[1]]
    assert summary[0].startswith(f"{bad[0]}: cannot be used: cut.urdf: ")
    assert summary[1] == "two_link_arm: 1 formulation agrees with Pinocchio on 2 states"
    assert main(["validate", bad[0], "two_link_arm", *options, "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert [report["ok"] for report in answer["reports"]] == [True]
    assert list(answer["errors"]) == bad[:1]


@pytest.mark.long
def test_validate_shows_its_progress_on_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["validate", "two_link_arm", "--samples", "2", "--formulation", "newton_euler"]
    for watched in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda watched=watched: watched)
        assert main(argv) == 0
        assert ("2 of 2 states" in capsys.readouterr().err) is watched
    assert main([*argv, "--no-progress"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.extras
def test_validate_options(capsys: Capture) -> None:
    options = ["--formulation", "newton_euler", "--samples", "1", "--seed", "3", "--clean", "0", "--free-flyer"]
    assert main(["validate", "puma560", *options, "--progress"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("puma560: newton_euler against Pinocchio on 1 state (seed 3)\n")
    assert "root_joint[" in out
    assert " 1e-12 " in out
    assert out.endswith("\n\npuma560: 1 formulation agrees with Pinocchio on 1 state\n")
    assert without_seconds(err.strip()) == "puma560: newton_euler: 1 of 1 states"


@pytest.mark.long
def test_validate_and_count_with_parameters(capsys: Capture) -> None:
    options = ["--formulation", "newton_euler", "--parameters", "inertia=joint1,joint2", "--parameters", "gravity"]
    assert main(["validate", "two_link_arm", *options, "--samples", "5"]) == 0
    assert "on 5 states at p of the model and 4 random p (seed 0)" in capsys.readouterr().out
    assert main(["count", "two_link_arm", *options]) == 0
    with_p = capsys.readouterr().out
    assert main(["count", "two_link_arm", *options[:2]]) == 0
    assert capsys.readouterr().out != with_p
    assert main(["count", "two_link_arm", *options, "--parameters", "inertias"]) == 2
    assert "'inertias'" in capsys.readouterr().err


@pytest.mark.long
def test_validate_and_count_with_wrenches(capsys: Capture) -> None:
    options = ["--formulation", "newton_euler", "--wrench", "tip=LOCAL", "--wrench", "link1=WORLD"]
    assert main(["validate", "two_link_arm", "--samples", "10", *options]) == 0
    assert "inverse_dynamics under wrenches" in capsys.readouterr().out
    assert main(["count", "two_link_arm", *options]) == 0
    given = {"tip": pin.LOCAL, "link1": pin.WORLD}
    tau = gd.NewtonEuler(gd.load_urdf("two_link_arm"), wrenches=given).inverse_dynamics
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[2] for row in rows if row[1] == "inverse_dynamics"] == [str(tau.n_instructions())]
    for wrong in ("tip", "tip=BODY", "=LOCAL"):
        assert main(["count", "two_link_arm", "--wrench", wrong]) == 2
        assert f"--wrench {wrong}: give a frame and LOCAL, WORLD, LOCAL_WORLD_ALIGNED, as" in capsys.readouterr().err
    assert main(["validate", "two_link_arm", *options[:2], "--wrench", "tip=LOCAL,3D"]) == 0
    assert main(["count", "two_link_arm", "--wrench", "tipp=LOCAL"]) == 2
    assert "no frame named 'tipp'; nearest: 'tip'" in capsys.readouterr().err


@pytest.mark.long
def test_validate_formulations_in_the_order_given(capsys: Capture) -> None:
    names = ["newton_euler", "lagrange_euler", "newton_euler"]
    assert main(["validate", "cart_pendulum", "--samples", "2", *(x for n in names for x in ("--formulation", n))]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if "against" in line]
    assert [head.split()[1] for head in heads] == ["newton_euler", "lagrange_euler"]


@pytest.mark.long
def test_validate_as_json(capsys: Capture) -> None:
    assert main(["validate", "two_link_arm", "cart_pendulum", "--samples", "5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    assert [(r["model"], r["ok"], r["samples"]) for r in answer["reports"]] == (
        [("two_link_arm", True, 5)] * OURS + [("cart_pendulum", True, 5)] * OURS
    )


@pytest.mark.long
@pytest.mark.usefixtures("wrong")
def test_validate_fails(capsys: Capture) -> None:
    options = ["--samples", "20", "--formulation", "newton_euler", "--formulation", "upside_down"]
    assert main(["validate", "two_link_arm", *options]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "  - gravity has the opposite sign (in inverse_dynamics, nle)\n" in out
    assert out.splitlines()[-1] == "two_link_arm: 1 of 2 formulations disagrees with Pinocchio: upside_down"
    assert main(["validate", "two_link_arm", *options, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert [report["ok"] for report in answer["reports"]] == [True, False]
    assert main(["validate", "two_link_arm", "--samples", "2", "--tolerance", "1e-18"]) == 1
    assert f"two_link_arm: {OURS + 1} of {OURS + 1} formulations disagree with Pinocchio: " in capsys.readouterr().out


@pytest.mark.long
def test_count(capsys: Capture) -> None:
    assert main(["count", "puma560"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["puma560", "Function", "instructions", "multiplications", "additions"]
    assert len(lines) == 1 + OURS * 14
    dyn = gd.NewtonEuler(gd.load_urdf("puma560"))
    cost = [str(number) for number in count(dyn.inverse_dynamics).values()]
    assert ["newton_euler", "inverse_dynamics", *cost] in [line.split() for line in lines]
    cost = [str(number) for number in count(dyn.inverse_dynamics_hessian).values()]
    assert ["newton_euler", "inverse_dynamics_hessian", *cost] in [line.split() for line in lines]
    assert main(["count", "puma560", "--formulation", "newton_euler", "--free-flyer"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 14


@pytest.mark.usefixtures("wrong")
def test_count_of_what_a_formulation_does_not_have(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gd.formulations()["upside_down"], "terms", gd.Dynamics.terms)
    assert main(["count", "cart_pendulum", "--formulation", "upside_down"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["upside_down", "terms", "–", "–", "–"]


def test_warnings_are_one_line_on_stderr(capsys: Capture, doubtful: str) -> None:
    assert main(["validate", doubtful, "--samples", "3", "--formulation", "newton_euler"]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("doubtful: 1 formulation agrees with Pinocchio on 3 states\n")
    assert err.startswith("gdalembert: warning: doubtful.urdf: joint 'hinge': ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["info", "pumma560"], "no shipped robot named 'pumma560'; nearest: 'puma560', 'puma560_3'"),
        (["count", "missing/robot.urdf"], "missing/robot.urdf: cannot be read: No such file or directory"),
        (
            ["validate", "puma560", "--formulation", "newton"],
            "no formulation named 'newton'; nearest: 'newton_euler'",
        ),
        (["validate", "puma560", "--samples", "0"], "validate: samples: got 0; give an integer of at least 1"),
        (
            ["validate", "puma560", "--tolerance", "nan"],
            "validate: tolerance: got nan; give one finite number, above 0",
        ),
        (
            ["validate", "puma560", "--clean", "1"],
            "clean=1.0: give a tolerance from 0 (take every bit as given) to 1e-6",
        ),
        (
            ["derive", "two_link_arm", "--to", "c"],
            "--to c makes 2 files, two_link_arm.c, two_link_arm.h; give --output FOLDER",
        ),
        (
            ["derive", "two_link_arm", "--to", "latex", "--terms", "D_tar"],
            "no term of generalized_dalembert named 'D_tar'; nearest: 'D_tra', 'H_tra', 'D_rot'",
        ),
        (
            ["derive", "two_link_arm", "--to", "latex", "--formulation", "newton_eule"],
            "no formulation named 'newton_eule'; nearest: 'newton_euler'",
        ),
        (
            ["derive", "two_link_arm", "--to", "python", "--body-only"],
            "body_only (--body-only): only latex has a preamble, and python has none; leave it out",
        ),
        (
            ["derive", "two_link_arm", "--to", "python", "--output", ""],
            "--output is empty; give a file or a folder, '.' for the one you are in",
        ),
        (
            ["derive", "two_link_arm", "--to", "c", "--output", "x.c"],
            "x.c: is a file name, and there are 2 files; give a folder",
        ),
        (
            [*SIMPLIFY, "0.01", "--to", "latex", "--a-max", "1"],
            f"--simplify: makes code, and --to is latex; choose --to {formats_of(closed=False)}",
        ),
        (
            [*SIMPLIFY, "0.01", "--to", "sympy", "--a-max", "1"],
            f"--simplify: makes code, and --to is sympy; choose --to {formats_of(closed=False)}",
        ),
        (
            [*SIMPLIFY, "0.01", "--to", "c", "--a-max", "1", "--formulation", "newton_euler"],
            "--simplify: has its own equations in numbers; no --formulation, --symbolic or --numbers",
        ),
        (
            ["derive", "puma560", "--to", "c", "--tau-max", "1"],
            "--tau-max: is a limit for --simplify, which is not given; give it, as 0.01",
        ),
        (
            [*SIMPLIFY, "0.01", "--to", "c"],
            "--simplify: --a-max is missing; give the largest accelerations, as 8,6,12 or 10 for all",
        ),
        ([*SIMPLIFY, "0.01", "--to", "c", "--a-max", "1,x"], "--a-max 1,x: give numbers, as 8,6,12 or 10 for all"),
        ([*SIMPLIFY, "0.01", "--to", "c", "--a-max", ""], "--a-max : give numbers, as 8,6,12 or 10 for all"),
        (
            [*SIMPLIFY, "0.01", "--to", "c", "--a-max", "1,2"],
            "a_max has shape (2,); give (6,), or one number",
        ),
        (
            [*SIMPLIFY, "1", "--to", "c", "--a-max", "1"],
            "error=1.0: give a number from 0 to below 1, 0.01 for a hundredth of tau_max",
        ),
        (
            [*SIMPLIFY, "0.01", "--to", "c", "--a-max", "1", "--symbolic"],
            "--simplify: has its own equations in numbers; no --formulation, --symbolic or --numbers",
        ),
        (
            ["derive", "puma560", "--to", "c", "--v-max", "1"],
            "--v-max: is a limit for --simplify, which is not given; give it, as 0.01",
        ),
        (
            ["view", "cart_pendulum", "--q", "1"],
            "--q 1: cart_pendulum takes 2 finite numbers, and these are 1",
        ),
        (
            ["view", "cart_pendulum", "--q", "1,nan"],
            "--q 1,nan: q: entry [1] is nan; give finite numbers",
        ),
        (
            ["view", "two_link_arm", "--free-flyer", "--q", "0,0,0,0,0,0,0.5,0,0"],
            "--q 0,0,0,0,0,0,0.5,0,0: q of joint 'root_joint' is off unit length by 0.5; normalise it",
        ),
        (["view", "cart_pendulum", "--screenshot", "x.xyz"], "--screenshot x.xyz: give a name that ends in .png"),
        (["view", "cart_pendulum", "--q", "a,b"], "--q a,b: give numbers, as 0,0.5,-1"),
        (
            ["view", "cart_pendulum", "--port", "70000"],
            "Viewer: port: got 70000; give an integer from 0 to 65535",
        ),
        (
            ["derive", "two_link_arm", "--to", "c", "--output", "contoller/code"],
            "--output contoller/code: there is no folder contoller; make it first, or check the name",
        ),
        (
            ["derive", "two_link_arm", "--to", "latex", "--output", "/nowhere/x.tex"],
            "--output /nowhere/x.tex: there is no folder /nowhere; make it first, or check the name",
        ),
        (
            ["view", "cart_pendulum", "--screenshot", "pictrues/x.png"],
            "--screenshot pictrues/x.png: there is no folder pictrues; make it first, or check the name",
        ),
        (["validate", "nope/x.urdf"], "nope/x.urdf: cannot be read: No such file or directory"),
        (["validat", "puma560"], "no command named 'validat'; nearest: 'validate'"),
        (["exprot", "puma560"], "no command named 'exprot'; nearest: 'export', 'plot'"),
    ],
)
def test_errors_are_one_line_on_stderr(capsys: Capture, argv: list[str], message: str) -> None:
    assert main(argv) == 2
    assert capsys.readouterr() == ("", f"gdalembert: error: {message}\n")


def test_bad_urdf_is_one_line(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(DOUBTFUL.replace('mass value="1"', 'mass value="1.0kg"'))
    assert main(["info", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gdalembert: error: bad.urdf: link 'link'")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["validate"],
        ["info"],
        ["validate", "puma560", "--samples", "many"],
        ["derive", "puma560"],
        ["derive", "puma560", "--to", "word"],
        ["derive", "puma560", "--to", "latex", "--symbolic", "--numbers"],
        ["plot", "pie", "puma560", "--output", "x.png"],
        ["plot", "force-ellipsoid"],
    ],
)
def test_usage_errors(capsys: Capture, argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("gdalembert: error: ")
    assert error.count("\n") == 1


def test_version_and_help(capsys: Capture) -> None:
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit) as caught:
            main([option])
        assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"gdalembert {metadata.version('gdalembert')}\nusage: gdalembert")
    assert "exit status: 0 if all went well" in out
    listed = re.findall(r"^    (\w+) .*\w", out, re.MULTILINE)
    assert listed == ["robots", "info", "validate", "count", "derive", "identify", "plot", "view", "report", "cache"]


def test_derive_of_an_arm_that_a_file_makes(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "robots.py"
    text = [
        "import gdalembert as gd",
        "model = gd.load_urdf('two_link_arm')",
        "arm = gd.FlexibleArm(model, {}, {'joint1': gd.FlexibleJoint(50.0, 0.02)})",
    ]
    file.write_text("\n".join(text), encoding="utf-8")
    assert main(["derive", f"{file}:arm", "--to", "sympy", "--terms", "M,K"]) == 0
    out, _ = capsys.readouterr()
    assert 'forms["K"] = Matrix([\n    [k_1,\n     0,\n     -k_1],' in out
    assert main(["derive", f"{file}:model", "--to", "python", "--terms", "M"]) == 0
    assert capsys.readouterr().out.startswith('"""two_link_arm: ')
    wrong = {
        f"{file}:arms": f"no robot of {file} named 'arms'",
        f"{tmp_path}/other.py:arm": f"there is no file {tmp_path}/other.py",
    }
    for robot, reason in wrong.items():
        assert main(["derive", robot, "--to", "python"]) == 2
        assert reason in capsys.readouterr().err
    assert main(["derive", f"{file}:arm", "--to", "python", "--free-flyer"]) == 2
    assert "--free-flyer: changes how a file is read" in capsys.readouterr().err
    file.write_text("1 / 0", encoding="utf-8")
    assert main(["derive", f"{file}:arm", "--to", "python"]) == 2
    assert "the file stopped with ZeroDivisionError: division by zero; run it" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["derive", "export"])
def test_derive(capsys: Capture, tmp_path: Path, command: str) -> None:
    assert main([command, "two_link_arm", "--to", "latex"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == derive("two_link_arm", "latex")["two_link_arm.tex"]
    options = ["--formulation", "lagrange_euler", "--terms", "D,h,c", "--numbers", "--body-only"]
    assert main([command, "two_link_arm", "--to", "latex", *options]) == 0
    expected = derive(
        "two_link_arm",
        "latex",
        formulation="lagrange_euler",
        terms=["D", "h", "c"],
        symbolic=False,
        body_only=True,
    )
    assert capsys.readouterr().out == expected["two_link_arm.tex"]
    folder = tmp_path / "new"
    argv = [command, "two_link_arm", "--to", "c", "--symbolic", "--output", str(folder)]
    assert main(argv) == 0
    written = derive("two_link_arm", "c", symbolic=True)
    assert capsys.readouterr().out.splitlines() == [str(folder / name) for name in written]
    assert {path.name: path.read_text() for path in folder.iterdir()} == written
    assert main(argv) == 2
    message = f"{folder / 'two_link_arm.c'}: is there already; choose another output, or replace it by force (--force)"
    assert capsys.readouterr() == ("", f"gdalembert: error: {message}\n")
    assert main([*argv, "--force"]) == 0


def test_derive_gives_the_matrices_of_the_equations_of_motion(capsys: Capture) -> None:
    argv = ["derive", "two_link_arm", "--to", "sympy"]
    parts = {
        (): ["M", "C", "g"],
        ("--formulation", "lagrange_euler"): ["D", "h_1", "h_2", "c", "I_act"],
        ("--terms", "terms"): ["D_tra", "D_rot"],
    }
    for options, names in parts.items():
        assert main([*argv, *options]) == 0
        found = re.findall(r'^forms\["(\w+)"\]', capsys.readouterr().out, re.MULTILINE)
        assert found[: len(names)] == names


@pytest.mark.long
def test_derive_simplified(capsys: Capture) -> None:
    argv = [*SIMPLIFY, "0.01", "--to", "python", "--a-max", "8,6,12, 25,25,25", "--v-max", "1", "--tau-max", "50"]
    assert main(argv) == 0
    model = gd.load_urdf("puma560")
    simple = gd.PrunedDynamics(model, 0.01, a_max=[8, 6, 12, 25, 25, 25], v_max=1, tau_max=50)
    assert capsys.readouterr().out == derive(simple, "python")["puma560_PrunedDynamics.py"]


@pytest.mark.long
def test_derive_simplified_of_numbers_as_given(capsys: Capture) -> None:
    argv = [*SIMPLIFY, "0.01", "--to", "python", "--a-max", "8", "--clean", "0"]
    assert main(argv) == 0
    model = gd.load_urdf("puma560")
    as_given, cleaned = (
        derive(gd.PrunedDynamics(model, 0.01, a_max=8, **options), "python")["puma560_PrunedDynamics.py"]
        for options in ({"clean": 0}, {})
    )
    assert capsys.readouterr().out == as_given != cleaned


def test_blanks_between_terms(capsys: Capture) -> None:
    for terms in ("D,h", " D, h "):
        assert main(["derive", "two_link_arm", "--to", "python", "--terms", terms]) == 0
    first, second = capsys.readouterr().out.split('"""two_link_arm: ')[1:]
    assert first == second


BOOM = """import gdalembert as gd
beam = gd.Beam(1.0, 0.6, EI_z=10.0)
link = gd.FlexibleLink(beam, bending_y=gd.modes.clamped_free(1))
arm = gd.FirstOrderArm(gd.load_urdf("two_link_flexible"), {"link1": link})
"""


@pytest.mark.parametrize("page", [*quick(["closed_forms.md"]), *with_extras(["gallery.md"]), "simplified_models.md"])
def test_the_commands_of_the_pages_run(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in "".join(blocks).replace("\\\n", "").splitlines()]
    terms = re.findall(r"`--terms (\S+)`", text)
    commands += [
        ["gdalembert", "derive", "two_link_arm", "--to", to, "--terms", each, "--output", f"{to}{k}/"]
        for k, each in enumerate(terms)
        for to in FORMATS
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_robot.urdf").write_text(DOUBTFUL)
    (tmp_path / "boom.py").write_text(BOOM)
    assert commands
    for program, *argv in commands:
        assert program == "gdalembert"
        assert main(argv) == 0, capsys.readouterr().err


def test_derive_options_of_the_robot(capsys: Capture) -> None:
    argv = ["derive", "two_link_arm", "--free-flyer", "--clean", "0", "--to", "python", "--terms", "mass_matrix"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "q_1 ... q_7, v_1 ... v_6, tau_1 ... tau_6, FreeFlyer as in Pinocchio" in out
    assert "mass_matrix(q (9)) -> M (8 x 8)" in out


def test_derive_of_a_robot_that_is_too_large(capsys: Capture) -> None:
    assert main(["derive", "puma560", "--to", "latex", "--max-terms", "5000"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gdalembert: error: puma560: mass_matrix: too large for closed forms: its ")
    assert err.endswith("(options --terms, --numbers, --max-terms)\n")
    assert err.count("\n") == 1


def test_derive_interrupted(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    assert main(["derive", "two_link_arm", "--to", "c", "--output", str(tmp_path / "new")]) == 130
    assert capsys.readouterr() == ("", "gdalembert: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_interrupted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gdalembert.cli.validate.validate", interrupted)
    assert main(["validate", "puma560"]) == 130
    assert capsys.readouterr().err == "gdalembert: interrupted\n"


def test_interrupted_while_a_command_is_imported(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gdalembert.cli.main.import_module", interrupted)
    assert main(["validate", "puma560"]) == 130
    assert capsys.readouterr() == ("", "gdalembert: interrupted\n")


def test_a_fault_of_ours_is_not_a_validation_that_fails(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdalembert.cli.tables.robots", lambda: 1 // 0)
    assert main(["robots"]) == 3
    message = "a fault of the package: ZeroDivisionError: integer division or modulo by zero"
    assert capsys.readouterr().err == f"gdalembert: {message}; 'python -X dev -m gdalembert …' shows where\n"


# As a process.


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_an_output_that_is_not_utf8_shows_the_numbers_of_characters(variables: dict[str, str]) -> None:
    argv = [sys.executable, "-m", "gdalembert", "info", "cart_pendulum"]
    done = subprocess.run(argv, capture_output=True, env={**os.environ, **variables}, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2013" in done.stdout  # the dash of what is not there
    assert b"\xe2" not in done.stdout


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("info cart_pendulum >&-", "standard output is closed; give one, as >output.txt"),
        ("info cart_pendulum >/dev/full", "[Errno 28] No space left on device"),
        ("--help >/dev/full", "[Errno 28] No space left on device"),
        ("--version >/dev/full", "[Errno 28] No space left on device"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(command: str, error: str) -> None:
    for unbuffered in ("", "1"):
        shell = ["sh", "-c", f'"{sys.executable}" -m gdalembert {command}']
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(shell, capture_output=True, text=True, env=environment, timeout=60)
        assert (done.returncode, done.stderr) == (2, f"gdalembert: error: {error}\n")


@pytest.mark.long
def test_as_a_module() -> None:
    done = run("validate", "two_link_arm", "--samples", "5", "--formulation", "newton_euler")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("two_link_arm: 1 formulation agrees with Pinocchio on 5 states\n")
    assert run("--help").stdout.startswith("usage: gdalembert ")


def test_failures_of_a_process() -> None:
    failed = run("validate", "two_link_arm", "--samples", "2", "--tolerance", "1e-18", "--formulation", "newton_euler")
    assert (failed.returncode, failed.stderr) == (1, "")
    missing = run("info", "nothing")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("gdalembert: error: no shipped robot named 'nothing'; known: ")
    assert missing.stderr.count("\n") == 1


def test_warnings_of_a_process(doubtful: str) -> None:
    done = run("info", doubtful)
    assert done.returncode == 0
    assert done.stderr.startswith("gdalembert: warning: doubtful.urdf: joint 'hinge': ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [["--to", "latex"], ["--to", "python", "--symbolic"]])
def test_derive_newton_euler_with_symbols(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    """As ``gdalembert.export.derive`` writes it."""
    assert main(["derive", "two_link_arm", "--formulation", "newton_euler", *options]) == 0
    (text,) = derive("two_link_arm", options[1], formulation="newton_euler", symbolic=True).values()
    assert capsys.readouterr().out == text


def test_a_reader_that_goes_away_is_no_fault_of_the_robots(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``gdalembert validate … … | head -1``: each of several robots may fail, the output may not."""

    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(cli_validate, "print", gone, raising=False)
    argv = ["validate", "two_link_arm", "cart_pendulum", "--samples", "2"]
    with pytest.raises(BrokenPipeError):
        cli_validate.run_validate(_parser(argv).parse_args(argv))
    assert capsys.readouterr().err == ""


@pytest.mark.long
def test_a_reader_that_goes_away() -> None:
    """As ``gdalembert validate … | head -1``: no traceback, and no claim that all went well."""
    argv = [sys.executable, "-u", "-m", "gdalembert", "validate", "two_link_arm", "--samples", "5"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141


@pytest.mark.long
def test_without_matplotlib_only_plot_fails(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; "
        "from gdalembert.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    output = tmp_path / "x.png"
    found = [
        subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=60)
        for argv in (["robots"], ["plot", "--output", str(output), "force-ellipsoid", "puma560"])
    ]
    assert [(done.returncode, done.stderr) for done in found] == [
        (0, ""),
        (2, 'gdalembert: error: gdalembert.plotting needs matplotlib: pip install "gdalembert[plot]"\n'),
    ]
    assert not output.exists()


def test_view_shows_what_is_asked_for(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, object]] = []

    class Shown:
        url = "http://localhost:1"

        def __init__(self, model: object, **options: object) -> None:
            given.append(options)

        def __enter__(self) -> Shown:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def wait_for_browser(self, timeout: float) -> None:
            waited.append(timeout)

        def screenshot(self, path: str) -> None:
            assert path == "x.png"

    monkeypatch.setattr("gdalembert.cli.view.Viewer", Shown)
    path = tmp_path / "boxed.urdf"
    box = '<link name="link"><visual><geometry><box size="1 1 1"/></geometry></visual>'
    path.write_text(DOUBTFUL.replace("doubtful", "boxed").replace('<link name="link">', box))
    waited: list[float] = []
    assert main(["view", str(path), "--screenshot", "x.png"]) == 0
    assert not waited  # the screenshot starts a browser where none is
    options = ["--plain", "--q=-0.3", "--frames", "--port", "0", "--open"]
    assert main(["view", str(path), *options, "--screenshot", "x.png"]) == 0
    assert len(waited) == 1
    assert capsys.readouterr().out == "boxed: http://localhost:1 (Ctrl-C ends)\nx.png\n" * 2
    plain, asked = given
    assert plain.pop("visual_model").ngeoms == 1
    assert plain == {"q": None, "frames": False, "shapes": None, "port": 8080, "open": False}
    assert asked.pop("q").tolist() == [-0.3]
    assert asked == {"visual_model": None, "frames": True, "shapes": None, "port": 0, "open": True}


@pytest.mark.extras
def test_view_serves_until_interrupted() -> None:
    argv = [sys.executable, "-u", "-m", "gdalembert", "view", "cart_pendulum", "--port", "0", "--q", "0.1,0.2"]
    for more in ([], ["--swing", "--frames"]):
        with subprocess.Popen([*argv, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                found = re.fullmatch(
                    r"cart_pendulum: (http://localhost:\d+) \(Ctrl-C ends\)\n", process.stdout.readline()
                )
                assert found is not None
                with urllib.request.urlopen(found[1], timeout=20) as page:
                    assert page.status == 200
                process.send_signal(signal.SIGINT)
                assert process.communicate(timeout=30) == ("", "")
                assert process.returncode == 0
            finally:
                process.kill()

"""Programs in the manner of those that the public has for pinocchio.casadi, with nothing changed but the import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.sets import quick

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = sorted(path.name for path in FOLDER.glob("*.py"))
LINE = "from pinocchio import casadi as cpin\n"
SAID = {
    "arm_inverse_kinematics.py": "two arms reach 2 targets",
    "centroidal_gaps.py": "no gap in the centroidal dynamics",
    "contact_dynamics.py": "a foot that stands, in two ways",
    "on_the_manifold.py": "a smooth motion through 8 configurations",
    "quadrotor.py": "a quadrotor at its goal in 15 steps",
    "two_arms_hold_a_box.py": "a box of 0.3 m between two hands",
    "unknown_constants.py": "a load, a moon and a displaced joint",
}


@pytest.mark.parametrize("name", quick(PROGRAMS, *(name for name in PROGRAMS if name != "quadrotor.py")))
def test_a_program_runs_with_one_changed_line(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.count(LINE) == 1
    changed = text.replace(LINE, "from gdalembert import cpin\n")
    exec(compile(changed, name, "exec"), {"__name__": "__main__"})
    assert capfd.readouterr().out.splitlines()[-1] == SAID[name]


@pytest.mark.parametrize("name", quick(["centroidal_gaps.py", "unknown_constants.py"], "unknown_constants.py"))
def test_a_program_runs_unchanged(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gdalembert.cpin", str(FOLDER / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == SAID[name]


def test_a_module_runs_unchanged(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(f"{LINE}import sys\nprint(cpin.exp3([0, 0, 0]).shape, sys.argv[1:])\n")
    done = subprocess.run(
        [sys.executable, "-m", "gdalembert.cpin", "-m", "client", "x"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout == "(3, 3) ['x']\n"

"""The time limit of tests: what hangs in CasADi fails alone, and the other tests go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

HANGING = """
import casadi as ca

def test_hangs():
    x = ca.MX.sym("x")
    step = ca.Function("step", [x], [ca.sin(x) + x])
    for _ in range(3):
        step = step.fold(100_000)  # 1e15 steps
    step(0.1)

def test_goes_on():
    pass
"""


def test_every_test_has_a_limit(pytestconfig: pytest.Config) -> None:
    """A thread keeps it: a signal would wait until CasADi returns, and could be lost in a handler that is tested."""
    assert 0 < float(pytestconfig.getini("timeout")) < float("inf")
    assert pytestconfig.getini("timeout_method") == "thread"


@pytest.mark.long
def test_a_test_that_hangs_in_casadi_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "test_hanging.py"
    path.write_text(HANGING, encoding="utf-8")
    options = ["-n", "1", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--timeout", "3", path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "crashed while running 'test_hanging.py::test_hangs'" in run.stdout
    assert "1 failed, 1 passed" in run.stdout

"""Exported MATLAB, carried out by GNU Octave, is the graph."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.export import derive, write
from gdalembert.export.choice import NUMERIC
from gdalembert.symbolic.closed_forms import CLOSED
from tests.helpers.exports import FORMULATIONS, TOLERANCE, functions_of, mixed, reference, states
from tests.helpers.models import relative_error

STATEMENT = re.compile(
    r"function (\w+|\[\w+(, \w+)*\]) = \w+\((\w+(, \w+)*)?\)|end|%.*"
    r"|if numel\(\w+\) ~= \d+|    error\('\w+: \w+ has \d+ entries, got %d', numel\(\w+\)\);"
    r"|w\d+ = [\w.()+\-*/^, ]+;|\w+ = zeros\(\d+, \d+\);|\w+\(\d+\) = [\w.()+\-]+;"
)


def test_matlab_is_plain() -> None:
    """Nothing that Octave alone would read: each line is one of a few kinds."""
    for name, text in derive("puma560_3", "matlab", terms=["terms", *NUMERIC[:7]], formulation=FORMULATIONS[0]).items():
        assert [line for line in text.splitlines() if not STATEMENT.fullmatch(line)] == []
        assert text.splitlines()[0].split("= ")[1].startswith(f"{name.removesuffix('.m')}(")
        assert not re.search(r"\+\+|--", "\n".join(x for x in text.splitlines() if not x.startswith("%")))


def octave(folder: Path, script: str) -> np.ndarray:
    done = subprocess.run(
        ["octave-cli", "--norc", "--no-history", "--quiet", "--eval", script],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return np.array(done.stdout.split(), dtype=float)


@pytest.mark.system
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_matlab_is_the_graph(formulation: type[gd.Dynamics], tmp_path: Path) -> None:
    """In GNU Octave."""
    model, rng = mixed(), np.random.default_rng(4)
    dynamics = formulation(model)
    terms = ["terms", *(name for name in CLOSED if hasattr(formulation, name)), "forward_dynamics", "state_derivative"]
    functions = functions_of(dynamics, terms)
    write(derive(model, "matlab", formulation=formulation, terms=terms), tmp_path)
    calls, expected = [], []
    for name, function in functions.items():
        values = states(dynamics, function, rng)
        given = ", ".join(f"[{'; '.join(repr(float(x)) for x in value)}]" for value in values)
        calls += [f"y = random_{name}({given}); printf('%d %d ', size(y)); printf('%.17g ', y);"]
        (result,) = reference(function, values)
        expected.append((name, result))
    printed = octave(tmp_path, " ".join(calls))
    for name, result in expected:
        shape, found = printed[:2], printed[2 : 2 + result.size]
        assert tuple(shape) == result.shape, name
        assert relative_error(found.reshape(result.shape, order="F"), result) < TOLERANCE, name
        printed = printed[2 + result.size :]
    assert printed.size == 0


@pytest.mark.system
def test_matlab_with_several_outputs_and_with_symbols(tmp_path: Path) -> None:
    dynamics = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    write(derive("two_link_arm", "matlab", terms="inverse_dynamics_derivatives"), tmp_path)
    write(derive("two_link_arm", "matlab", terms="nle", symbolic=True), tmp_path)
    expected = dynamics.inverse_dynamics_derivatives([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    script = (
        "[x, y] = two_link_arm_inverse_dynamics_derivatives([0.1 0.2], [0.3 0.4], [0.5; 0.6]); printf('%.17g ', x, y);"
    )
    found = octave(tmp_path, script)
    assert relative_error(found, np.concatenate([x.full().ravel(order="F") for x in expected])) < TOLERANCE
    parameters = gs.symbolic_tree("two_link_arm").parameters.vector().tolist()
    found = octave(tmp_path, f"printf('%.17g ', two_link_arm_nle([0.1 0.2], [0.3 0.4], {parameters}));")
    assert relative_error(found, dynamics.nle([0.1, 0.2], [0.3, 0.4]).full().ravel()) < TOLERANCE
    script = "try, two_link_arm_nle(1, 2, 3), catch e, printf('%s', e.message); end"
    done = subprocess.run(["octave-cli", "--norc", "--eval", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "two_link_arm_nle: q has 2 entries, got 1"

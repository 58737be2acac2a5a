"""Exported C, compiled, is the graph."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.export import derive, write
from gdalembert.export.choice import NUMERIC
from tests.helpers.exports import FORMULATIONS, TOLERANCE, functions_of, mixed, pruned, reference, states
from tests.helpers.models import relative_error


def compiled(files: Mapping[str, str], folder: Path) -> ctypes.CDLL:
    write(files, f"{folder}/")
    code = next(name for name in files if name.endswith(".c"))
    options = ["-std=c99", "-Wall", "-Werror", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-o", "robot.so"]
    subprocess.run(["cc", *options, code, "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "robot.so"))


def call_c(library: ctypes.CDLL, name: str, function: ca.Function, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    results = [np.full(function.size_out(i), np.nan, order="F") for i in range(function.n_out())]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*values, *results)]
    call = getattr(library, name)
    call.restype = None
    call(*pointers)
    return results


@pytest.mark.system
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_c_is_the_graph(formulation: type[gd.Dynamics], tmp_path: Path) -> None:
    model, rng = mixed(), np.random.default_rng(2)
    dynamics = formulation(model)
    terms = ["terms", *(name for name in NUMERIC[:-2] if hasattr(formulation, name))]
    files = derive(model, "c", formulation=formulation, terms=terms)
    library = compiled(files, tmp_path)
    for own, function in functions_of(dynamics, terms).items():
        values = states(dynamics, function, rng)
        found = call_c(library, f"{Path(next(iter(files))).stem}_{own}", function, values)
        for result, expected in zip(found, reference(function, values), strict=True):
            assert relative_error(result, expected) < TOLERANCE, own


@pytest.mark.system
def test_c_with_symbols(tmp_path: Path) -> None:
    dynamics = gs.symbolic_tree("puma560_3").dynamics(gd.LagrangeEuler)
    library = compiled(derive("puma560_3", "c", formulation="lagrange_euler", terms="D", symbolic=True), tmp_path)
    function = functions_of(dynamics, ["D"])["D"]
    values = states(dynamics, function, np.random.default_rng(3))
    (found,) = call_c(library, "puma560_3_D", function, values)
    assert relative_error(found, reference(function, values)[0]) < TOLERANCE


@pytest.mark.system
def test_two_exports_of_a_robot_can_be_linked(tmp_path: Path) -> None:
    sources, includes = [], []
    exports = [
        derive("puma560_3", "c", terms="inverse_dynamics"),
        derive("puma560_3", "c", terms="mass_matrix"),
        derive(pruned(), "c"),
    ]
    for k, files in enumerate(exports):
        paths = write(files, f"{tmp_path}/{k}/")
        sources += [str(path) for path in paths if path.suffix == ".c"]
        includes += [f'#include "{path}"' for path in paths if path.suffix == ".h"]
    calls = [
        "  puma560_3_inverse_dynamics(x, x, x, y);",
        "  puma560_3_mass_matrix(x, y);",
        "  puma560_PrunedDynamics_nle(x, x, y);",
    ]
    text = [*includes, "int main(void) {", "  double x[6] = {0}, y[36];", *calls, "  return 0;", "}", ""]
    (tmp_path / "main.c").write_text("\n".join(text))
    options = ["-std=c99", "-Wall", "-Werror", "-o", "program"]
    subprocess.run(["cc", *options, "main.c", *sources, "-lm"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)


def test_c_says_what_it_is() -> None:
    files = derive("puma560_3", "c")
    head, code = files["puma560_3.h"], files["puma560_3.c"]
    assert "Units are SI" in head
    assert "joint2: q_2 [rad], v_2 [rad/s], tau_2 [N m]" in head
    assert "recursive Newton-Euler equations" in head
    assert "void puma560_3_inverse_dynamics(const double* q, const double* v, const double* a, double* tau);" in head
    assert set(re.findall(r"#include (\S+)", code)) == {"<math.h>", '"puma560_3.h"'}
    assert "malloc" not in code

"""Rust: compiled without a warning, the functions of an export are the graph."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.export import derive, write
from gdalembert.export.formats import NUMERIC
from tests.helpers.exports import TOLERANCE, functions_of, mixed, reference, states
from tests.helpers.models import relative_error


def numbers(values: Sequence[float]) -> str:
    return f"[{', '.join(repr(float(x)) for x in values)}]"


def printed(name: str, function: ca.Function, values: Sequence[np.ndarray]) -> str:
    """A statement that prints all entries of each result, row by row."""
    call = f"robot::{name}({', '.join(f'&{numbers(value)}' for value in values)})"
    lines = [f"let y = {call};"]
    for i in range(function.n_out()):
        part = f"y.{i}" if function.n_out() > 1 else "y"
        rows, columns = function.size_out(i)
        flat = f"[{part}]" if rows == columns == 1 else part if columns == 1 else f"{part}.concat()"
        lines.append(f'for x in {flat} {{ print!("{{:e}} ", x); }}')
    return f"{{ {' '.join(lines)} }}"


@pytest.mark.system
def test_rust_is_the_graph(tmp_path: Path) -> None:
    """Of a branched robot that flies; with choices of ``ca.if_else`` and parameters; with several outputs."""
    rng = np.random.default_rng(5)
    arm = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"placement": ["joint2"], "gravity": True})
    robots = {"robot": gd.NewtonEuler(mixed()), "arm": arm}
    terms = ["terms", *NUMERIC[:7], "inverse_dynamics_derivatives"]
    calls, expected = [], []
    for name, dynamics in robots.items():
        (text,) = derive(dynamics, "rust", terms=terms).values()
        write({f"{name}.rs": text}, tmp_path / f"{name}.rs")
        for own, function in functions_of(dynamics, terms).items():
            values = states(dynamics, function, rng)
            calls.append(printed(own, function, values).replace("robot::", f"{name}::"))
            expected += [(own, result.ravel()) for result in reference(function, values)]
    assert "else { 0.0 };" in (tmp_path / "arm.rs").read_text(encoding="utf-8")
    (tmp_path / "main.rs").write_text("\n".join(["mod arm;", "mod robot;", "fn main() {", *calls, "}", ""]))
    options = ["--edition", "2021", "-D", "warnings", "-C", "opt-level=0"]
    subprocess.run(["rustc", *options, "main.rs"], cwd=tmp_path, check=True)
    out = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    found = np.array(out.split(), dtype=float)
    assert found.size == sum(result.size for _, result in expected)
    for name, result in expected:
        assert relative_error(found[: result.size], result) < TOLERANCE, name
        found = found[result.size :]


def test_rust_is_plain() -> None:
    """The text alone: no panic, no allocation, no constant that Rust would read as an integer."""
    (text,) = derive("puma560_3", "rust").values()
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    assert "pub fn inverse_dynamics(q: &[f64; 3], v: &[f64; 3], a: &[f64; 3]) -> [f64; 3] {" in code
    assert "pub fn mass_matrix(q: &[f64; 3]) -> [[f64; 3]; 3] {" in code
    assert not any(word in code for word in ("unsafe", "vec!", "Box", "unwrap", "panic"))
    assert "Units are SI" in text

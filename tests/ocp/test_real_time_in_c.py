"""Generated ticks on other processors, in single precision, and of other widths."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError
from tests.helpers.processors import FLAGS, compiler, printed, run

pytestmark = pytest.mark.filterwarnings("ignore:panda7. path 1 violated by")  # its first plan grazes the sphere

HOME = np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.785])
PROCESSORS = ("x86-64", "aarch64", "Cortex-M7")
TYPES = {"float64": 1e-12, "float32": 1e-4}
"""What ticks in C may differ from those in Python, whose sums have another order, relative to the largest torque."""
TICKS = 10
"""As the example of a generated file takes them."""


@functools.cache
def panda() -> tuple[Any, dict[str, Any]]:
    """A solver that moves the hand of a Panda with a payload past a sphere, and its numbers."""
    model = gd.load_urdf("panda7")
    loaded = gd.NewtonEuler(model, parameters={"payload": ["flange"]})
    place = gd.Kinematics(model).frame_placement("flange")
    problem = ocp.Problem(loaded, 1.0, 20, bounds=ocp.Bounds.of(loaded, model), p={"flange.m": 2.0}, degree=1)
    problem.start(problem.parameter("q0", 7), problem.parameter("v0", 7))
    problem.parameter("target", 3)
    problem.parameter("centre", 3)
    problem.squares(lambda q, target: place(q)[:3, 3] - target, 100)
    problem.squares(lambda v: v, 1.0)
    problem.squares(lambda u: u, 1e-3)
    problem.path(lambda q, centre: ca.norm_2(place(q)[:3, 3] - centre), lower=0.1, at="grid")
    hand = place(HOME).full()[:3, 3]
    return problem.solver("rti"), {"target": hand + np.array([0, 0.1, 0]), "centre": hand + np.array([0.08, 0.05, 0])}


@functools.cache
def two_links() -> tuple[Any, dict[str, Any]]:
    """A solver of a small arm whose first torque is at its limit, and its numbers."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    problem = ocp.Problem(dyn, 0.5, 8, bounds=ocp.Bounds.of(dyn, u=dict.fromkeys(dyn.actuator_names, 40.0)), degree=1)
    problem.start(problem.parameter("q0", 2), problem.parameter("v0", 2))
    problem.squares(lambda q: q - ca.DM([0.5, -0.3]), 100)
    problem.squares(lambda u: u, 1e-3)
    return problem.solver("rti"), {}


def torques(text: str) -> np.ndarray:
    """The torques that an example prints, of ticks that were all taken."""
    rows = np.array([line.split() for line in text.splitlines()], dtype=float)
    assert rows[:, 0].tolist() == [0.0] * TICKS
    return rows[:, 1:]


def closed_loop(solver: Any, numbers: dict[str, Any]) -> np.ndarray:
    """The first torques of ticks of a robot that moves as planned, as the example of a generated file has them."""
    rows = []
    for k in range(TICKS):
        by = min(k, 1)
        plan = solver(q0=solver.last.q[by], v0=solver.last.v[by], shift=by, **numbers)
        rows.append(plan.u[0])
    return np.array(rows)


@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize("dtype", TYPES)
def test_ticks_of_a_panda_are_the_same_on_every_processor(dtype: str, tmp_path: Path) -> None:
    """The same bits; and those of Python to rounding, over a closed loop past a sphere."""
    solver, numbers = panda()
    solver(q0=HOME, v0=np.zeros(7), guess=None if solver.last is None else solver.last, **numbers)
    file = solver.generate(tmp_path / "tick.c", dtype=dtype)
    wanted = closed_loop(solver, numbers)
    here, *others = (printed(processor, file, "-DTICK_EXAMPLE", dtype=dtype) for processor in PROCESSORS)
    assert np.abs(torques(here) - wanted).max() < TYPES[dtype] * np.abs(wanted).max()
    assert others == [here, here]


@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_any_width_compiles_and_takes_the_same_steps(width: int, dtype: str, tmp_path: Path) -> None:
    solver, numbers = two_links()
    solver(q0=np.zeros(2), v0=np.zeros(2), guess=None if solver.last is None else solver.last, **numbers)
    file = solver.generate(tmp_path / "tick.c", width=width, dtype=dtype)
    assert ("__attribute__((aligned" in file.read_text()) == (width > 1)
    wanted = closed_loop(solver, numbers)
    for flags in ((), ("-march=native",)):
        found = torques(printed("x86-64", file, "-DTICK_EXAMPLE", *flags))
        assert np.abs(found - wanted).max() < {"float64": 1e-9, "float32": 1e-3}[dtype] * np.abs(wanted).max()
    for processor in PROCESSORS[1:]:
        run([*compiler(processor), *FLAGS, "-c", file.name, "-o", "other.o"], tmp_path)


@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize(("width", "dtype"), [(1, "float64"), (4, "float64"), (8, "float32")])
def test_the_head_has_the_size_of_static_data(width: int, dtype: str, tmp_path: Path) -> None:
    solver, numbers = two_links()
    solver(q0=np.zeros(2), v0=np.zeros(2), **numbers)
    file = solver.generate(tmp_path / "tick.c", width=width, dtype=dtype)
    head = re.search(r"Static data: ([\d,]+) bytes of variables and ([\d,]+) of constants", file.read_text())
    assert head is not None
    variables = int(head[1].replace(",", ""))
    run(["arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-c", file.name], tmp_path)
    _, data, bss, *_ = run(["arm-none-eabi-size", "tick.o"], tmp_path).splitlines()[1].split()
    assert variables <= int(data) + int(bss) < variables + 2000


@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_head_has_about_the_size_of_code(dtype: str, tmp_path: Path) -> None:
    """By the line for a Cortex-M7 that is in it; not of vectors."""
    for solver, numbers in (two_links(), panda()):
        n = solver._tree.nq
        start = HOME[:n] if n == 7 else np.zeros(n)
        solver(q0=start, v0=np.zeros(n), guess=None if solver.last is None else solver.last, **numbers)
        text = solver.generate(tmp_path / "tick.c", dtype=dtype).read_text().split("*/")[0]
        said = re.search(r"Code for the Cortex-M7 by gcc 12: about ([\d,]+) bytes, within 15%", text)[1]
        constants = re.search(r"and ([\d,]+) of constants", text)[1]
        run(re.search(r"Cortex-M7 +(.*gcc.*)", text)[1].split(), tmp_path)
        code = int(run(["arm-none-eabi-size", "tick.o"], tmp_path).splitlines()[1].split()[0])
        code -= int(constants.replace(",", ""))
        assert int(said.replace(",", "")) == pytest.approx(code, rel=0.15)
    assert "Code for" not in solver.generate(tmp_path / "tick.c", width=4).read_text()


@pytest.mark.system
def test_a_width_or_a_type_that_c_has_not_is_refused(tmp_path: Path) -> None:
    solver, numbers = two_links()
    solver(q0=np.zeros(2), v0=np.zeros(2), **numbers)
    for width in (0, 3, 32):
        with pytest.raises(ArgumentError, match="generate: width"):
            solver.generate(tmp_path / "tick.c", width=width)
    with pytest.raises(ArgumentError, match="generate: dtype is 'int32'; give 'float64' or 'float32'"):
        solver.generate(tmp_path / "tick.c", dtype="int32")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.system
@pytest.mark.parametrize(
    "stem",
    ["norm", "solve", "values", "NX", "int", "log1p", "main", "u", "my__tick", "tick_", "gauss_newton", "own", "new"],
)
def test_a_stem_that_c_or_the_file_has_is_refused(stem: str, tmp_path: Path) -> None:
    """Of words in its comments it may have any."""
    solver, numbers = two_links()
    solver(q0=np.zeros(2), v0=np.zeros(2), **numbers)
    with pytest.raises(ArgumentError, match=f"generate: .*{stem}"):
        solver.generate(tmp_path / f"{stem}.c")
    assert list(tmp_path.iterdir()) == []
    assert "controller" in solver.generate(tmp_path / "controller.c").read_text().split("*/", 1)[0]


@pytest.mark.system
def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    solver, numbers = two_links()
    solver(q0=np.zeros(2), v0=np.zeros(2), **numbers)
    with pytest.raises(FileNotFoundError, match=r"tick\.[ch]: there is no folder '.*nowhere'; make it first"):
        solver.generate(tmp_path / "nowhere" / "tick.c")


@pytest.mark.system
def test_the_header_tells_sizes_units_and_entries(tmp_path: Path) -> None:
    solver, numbers = two_links()
    solver(q0=np.zeros(2), v0=np.zeros(2), **numbers)
    header = solver.generate(tmp_path / "tick.c").with_suffix(".h").read_text()
    words = " ".join(header.replace("*", " ").split())
    names = gd.load_urdf("two_link_arm").names[1:]
    q, v, u = (", ".join(f"{name} [{unit}]" for name in names) for unit in ("rad", "rad/s", "N m"))
    assert f"q: {q}; v: {v}. / extern double tick_x_0[4];" in words
    assert f"{u}. / extern double tick_u[9][2];" in words
    assert 'extern "C" {' in header
    assert header.count("#ifndef TICK_H") == 1

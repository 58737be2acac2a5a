"""Code in Python, C and MATLAB: executed, it equals the graph."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
import gdalembert.symbolic as gs
from benchmarks.common import robots
from gdalembert.errors import UnsupportedError
from gdalembert.export import derive, write
from gdalembert.export.formats import NUMERIC
from gdalembert.symbolic.closed_forms import CLOSED
from tests.helpers.exports import (
    FORMULATIONS,
    TOLERANCE,
    as_matrices,
    call_c,
    compiled,
    executed,
    functions_of,
    mixed,
    pruned,
    reference,
    states,
)
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

GRAVITY = ["generalized_gravity"]
STATEMENT = re.compile(
    r"function (\w+|\[\w+(, \w+)*\]) = \w+\((\w+(, \w+)*)?\)|end|%.*"
    r"|if numel\(\w+\) ~= \d+|    error\('\w+: \w+ has \d+ entries, got %d', numel\(\w+\)\);"
    r"|w\d+ = [\w.()+\-*/^, ]+;|\w+ = zeros\(\d+, \d+\);|\w+\(\d+\) = [\w.()+\-]+;"
)


def test_operations_that_have_no_text() -> None:
    class Strange(gd.NewtonEuler):
        @property
        def nle(self) -> ca.Function:
            q = ca.SX.sym("q")
            return ca.Function("nle", [q], [ca.erf(q)], ["q"], ["nle"])

    with pytest.raises(UnsupportedError, match="nle: its operation OP_ERF cannot be written in MATLAB; export it to C"):
        derive("two_link_arm", "matlab", formulation=Strange, terms="nle")
    Strange.nle = property(lambda _: ca.Function("nle", [ca.SX.sym("q")], [ca.SX(np.inf)], ["q"], ["nle"]))
    with pytest.raises(UnsupportedError, match="the constant inf, which is not finite"):
        derive("two_link_arm", "python", formulation=Strange, terms="nle")


def check_python(dynamics: gd.Dynamics, source: str, functions: Mapping[str, ca.Function]) -> None:
    namespace, rng = executed(source), np.random.default_rng(1)
    assert {name for name, x in namespace.items() if callable(x)} == set(functions)
    for name, function in functions.items():
        for _ in range(3):
            values = states(dynamics, function, rng)
            results = as_matrices(namespace[name](*(x.tolist() for x in values)), function)
            for result, expected in zip(results, reference(function, values), strict=True):
                assert relative_error(result, expected) < TOLERANCE, name


@pytest.mark.parametrize(
    ("robot", "formulation"),
    [
        *(("cart_pendulum", formulation) for formulation in FORMULATIONS[:2]),
        *quick(
            [
                ("cart_pendulum", FORMULATIONS[2]),
                *(("shala_likaj_rpr", each) for each in FORMULATIONS),
                ("mixed", gd.NewtonEuler),
            ]
        ),
    ],
)
def test_python_is_the_graph(robot: str, formulation: type[gd.Dynamics]) -> None:
    model = mixed() if robot == "mixed" else gd.load_urdf(robot)
    dynamics = formulation(model)
    terms = ["terms", *(name for name in NUMERIC if hasattr(formulation, name))]
    source = derive(model, "python", formulation=formulation, terms=terms)
    check_python(dynamics, *source.values(), functions_of(dynamics, terms))


@pytest.mark.long
@pytest.mark.extras
def test_python_of_a_large_robot() -> None:
    model = robots.load("talos")
    terms = ["inverse_dynamics", "mass_matrix"]
    dynamics = gd.NewtonEuler(model)
    check_python(dynamics, *derive(model, "python", terms=terms).values(), functions_of(dynamics, terms))


@pytest.mark.parametrize("formulation", ["generalized_dalembert", "lagrange_euler"])
def test_python_with_symbols(formulation: str) -> None:
    tree = gs.symbolic_tree("shala_likaj_rpr")
    dynamics = tree.dynamics(gd.formulations()[formulation])
    terms = ["terms", "inverse_dynamics", "mass_matrix", "kinetic_energy"]
    (source,) = derive("shala_likaj_rpr", "python", formulation=formulation, terms=terms, symbolic=True).values()
    check_python(dynamics, source, functions_of(dynamics, terms))
    head = " ".join(ast.get_docstring(ast.parse(source)).split())
    assert f"p: {', '.join(tree.parameters.names)}" in head
    assert all(f" {name} = {value!r}" in head for name, value in tree.numbers.items())


def test_python_refuses_arguments_of_another_length() -> None:
    namespace = executed(*derive("two_link_arm", "python").values())
    with pytest.raises(ValueError, match="too many values"):
        namespace["mass_matrix"]([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not enough values"):
        namespace["mass_matrix"]([1.0])


# Any Dynamics


def test_python_of_a_pruned_robot_is_its_graph() -> None:
    dynamics = pruned()
    files = derive(dynamics, "python")
    assert list(files) == ["puma560_PrunedDynamics.py"]
    (source,) = files.values()
    check_python(dynamics, source, functions_of(dynamics, ["inverse_dynamics", "mass_matrix", "nle", *GRAVITY]))
    head = ast.get_docstring(ast.parse(source))
    assert head.startswith("puma560: formulation PrunedDynamics.\n")
    assert f"Simplified: {len(dynamics.kept)} of {len(dynamics.kept) + len(dynamics.dropped)} terms." in head
    assert [float(x) for x in re.findall(r"^joint\d: bound ([^,]+),", head, re.MULTILINE)] == dynamics.bound.tolist()
    assert "|v| <= 1.43, |a| <= 8\n" in head


def test_springs_are_exported_and_said() -> None:
    dynamics = gd.NewtonEuler(gd.load_urdf("two_link_arm"), springs={"joint1": (30.0, 0.5)})
    ((name, source),) = derive(dynamics, "python", terms=["nle", "terms"]).items()
    assert name == "two_link_arm.py"
    check_python(dynamics, source, functions_of(dynamics, ["nle", "terms"]))
    assert "spring of joint1: stiffness 30.0, rest 0.5 (SI)" in source


def test_symbols_of_a_dynamics_are_kept() -> None:
    dynamics = gs.symbolic_tree("two_link_arm").dynamics(gd.LagrangeEuler)
    (source,) = derive(dynamics, "python", terms="nle").values()
    check_python(dynamics, source, functions_of(dynamics, ["nle"]))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_parameters_are_exported(formulation: type[gd.Dynamics]) -> None:
    kinds = {"inertia": ["joint2"], "armature": True}
    dynamics = formulation(gd.load_urdf("two_link_arm"), parameters=kinds)
    (source,) = derive(dynamics, "python", terms=["inverse_dynamics", "terms"]).values()
    check_python(dynamics, source, functions_of(dynamics, ["inverse_dynamics", "terms"]))


def test_wrenches_are_exported() -> None:
    """Column by column, as the head of the file says."""
    given = {"tip": pin.LOCAL, "link1": pin.WORLD}
    dynamics = gd.NewtonEuler(gd.load_urdf("two_link_arm"), wrenches=given, parameters=["gravity"])
    (source,) = derive(dynamics, "python", terms=["inverse_dynamics", "forward_dynamics"]).values()
    check_python(dynamics, source, functions_of(dynamics, ["inverse_dynamics", "forward_dynamics"]))
    head = " ".join(source.split('"""')[1].split())
    forces = {"tip": (pin.LOCAL, "3D"), "link1": (pin.LOCAL, "3D")}
    for known, line in (
        (forces, "wrenches, column by column, each (f_x, f_y, f_z) on the robot: tip (LOCAL), link1 (LOCAL)"),
        (
            forces | {"link1": pin.LOCAL},
            "wrenches, one column, on the robot: tip (LOCAL, f_x, f_y, f_z), link1 (LOCAL,",
        ),
    ):
        pushed = gd.NewtonEuler(gd.load_urdf("two_link_arm"), wrenches=known)
        (text,) = derive(pushed, "python", terms=["inverse_dynamics"]).values()
        check_python(pushed, text, functions_of(pushed, ["inverse_dynamics"]))
        assert line in " ".join(text.split())
    assert "wrenches, column by column, each (f_x, f_y, f_z, m_x, m_y, m_z) on the robot: tip (LOCAL), link1" in head


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

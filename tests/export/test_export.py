"""Exports: what is written, executed, is the graph; what is printed fits; files are all there or as they were."""

from __future__ import annotations

import ast
import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import matplotlib as mpl
import numpy as np
import pinocchio as pin
import pytest
import sympy
from matplotlib.mathtext import MathTextParser

import gdalembert as gd
import gdalembert.symbolic as gs
from benchmarks.common import robots
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.export import FORMATS, derive, write
from gdalembert.export.choice import CLOSED, NUMERIC, choose
from gdalembert.export.formula_text import Printer, broken, width
from gdalembert.model.checks import random_configuration
from tests.helpers.models import build, relative_error

FORMULATIONS = (gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler)
THREE_JOINTS = ("cart_pendulum", "two_link_arm", "puma560_3", "shala_likaj_rpr", "horn_leg_loads", "horn_arm_offset")
PRINTED = [
    (robot, formulation, symbolic)
    for robot in THREE_JOINTS
    for formulation in ("generalized_dalembert", "lagrange_euler")
    for symbolic in (True, False)
]
TOLERANCE = 1e-12


def mixed() -> pin.Model:
    """A branched robot that flies, with velocities that are not dq/dt."""
    return build(np.random.default_rng(0), ["FreeFlyer", "RUBX", "HX", "PY", "Spherical"], [0, 1, 2, 1, 3])


def functions_of(dynamics: gd.Dynamics, terms: Sequence[str] | None = None) -> dict[str, ca.Function]:
    return {choice.name: choice.function(dynamics) for choice in choose(dynamics, terms, NUMERIC)}


def states(dynamics: gd.Dynamics, function: ca.Function, rng: np.random.Generator) -> list[np.ndarray]:
    """One random value for each input."""
    tree = dynamics.tree
    values = []
    for name in function.name_in():
        if name == "q":
            values.append(random_configuration(tree, rng))
        elif name == "x":
            values.append(ca.vertcat(random_configuration(tree, rng), rng.normal(size=tree.nv)))
        elif name == "parameters":
            values.append(tree.parameter_values())
        else:
            values.append(rng.normal(size=function.size_in(name)[0]))
    return [np.array(x, dtype=float).ravel() for x in values]


def reference(function: ca.Function, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [x.full() for x in function.call([ca.DM(x) for x in values])]


def as_matrices(results: Any, function: ca.Function) -> list[np.ndarray]:
    parts = results if function.n_out() > 1 else [results]
    return [np.asarray(x, dtype=float).reshape(function.size_out(i), order="C") for i, x in enumerate(parts)]


# Python


def executed(source: str) -> dict[str, Any]:
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imported] == ["import math"]
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    return namespace


def check_python(dynamics: gd.Dynamics, source: str, functions: Mapping[str, ca.Function]) -> None:
    namespace, rng = executed(source), np.random.default_rng(1)
    assert {name for name, x in namespace.items() if callable(x)} == set(functions)
    for name, function in functions.items():
        for _ in range(3):
            values = states(dynamics, function, rng)
            results = as_matrices(namespace[name](*(x.tolist() for x in values)), function)
            for result, expected in zip(results, reference(function, values), strict=True):
                assert relative_error(result, expected) < TOLERANCE, name


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_python_is_the_graph(formulation: type[gd.Dynamics]) -> None:
    for model in (gd.load_urdf("shala_likaj_rpr"), mixed()):
        dynamics = formulation(model)
        terms = ["terms", *(name for name in NUMERIC if hasattr(formulation, name))]
        source = derive(model, "python", formulation=formulation, terms=terms)
        check_python(dynamics, *source.values(), functions_of(dynamics, terms))


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
    assert f"parameters: {', '.join(map(str, tree.formulas))}" in head
    assert all(f" {name} = {value!r}" in head for name, value in tree.numbers.items())


def test_python_refuses_arguments_of_another_length() -> None:
    namespace = executed(*derive("two_link_arm", "python").values())
    with pytest.raises(ValueError, match="too many values"):
        namespace["mass_matrix"]([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not enough values"):
        namespace["mass_matrix"]([1.0])


def test_names_of_joints_harm_no_file() -> None:
    model = gd.load_urdf("two_link_arm")
    model.name, model.names[1], model.names[2] = 'é"""\\*/ 1', "*/ \n }", '"""\\'
    (source,) = derive(model, "python").values()
    executed(source)
    c = derive(model, "c")
    assert list(c) == ["robot_1.c", "robot_1.h"]
    assert all(text.isascii() for text in c.values())
    assert c["robot_1.h"].count("*/") == 1 + 4
    (latex,) = derive(model, "latex", formulation="lagrange_euler").values()
    assert r"\_/ \_ \}" in latex


# C


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


# MATLAB

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
    parameters = gs.symbolic_tree("two_link_arm").parameter_values().tolist()
    found = octave(tmp_path, f"printf('%.17g ', two_link_arm_nle([0.1 0.2], [0.3 0.4], {parameters}));")
    assert relative_error(found, dynamics.nle([0.1, 0.2], [0.3, 0.4]).full().ravel()) < TOLERANCE
    script = "try, two_link_arm_nle(1, 2, 3), catch e, printf('%s', e.message); end"
    done = subprocess.run(["octave-cli", "--norc", "--eval", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "two_link_arm_nle: q has 2 entries, got 1"


# SymPy


def forms_of(source: str) -> dict[str, sympy.Matrix]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    return namespace["forms"]


@pytest.mark.parametrize(("robot", "formulation", "symbolic"), PRINTED)
def test_sympy_is_the_graph(robot: str, formulation: str, symbolic: bool) -> None:
    """In unique form, where equality is decided."""
    cls = gd.formulations()[formulation]
    (source,) = derive(robot, "sympy", formulation=formulation, symbolic=symbolic).values()
    tree = gs.symbolic_tree(robot, others="symbols" if symbolic else "numbers")
    expected = gs.closed_forms(tree, cls)
    found = forms_of(source)
    assert list(found) == list(expected)
    for name, matrix in found.items():
        assert matrix.shape == expected[name].shape
        assert all(gs.TrigonometricPolynomial.of(x) == y for x, y in zip(matrix, expected[name].flat, strict=True))


def test_sympy_has_the_numbers_of_the_robot() -> None:
    """Put in, they give what the formulation gives."""
    (source,) = derive("puma560_3", "sympy", terms=["inverse_dynamics", "D_tra"]).values()
    numbers = {name: float(x) for name, x in re.findall(r"^(\w+) = ([-\d.e]+)$", source, re.MULTILINE)}
    rng = np.random.default_rng(5)
    q, v, a = rng.normal(size=(3, 3))
    numbers |= {f"{letter}_{k + 1}": x[k] for letter, x in (("q", q), ("v", v), ("a", a)) for k in range(3)}
    dynamics = gd.GeneralizedDAlembert(gd.load_urdf("puma560_3"))
    forms = forms_of(source)
    evaluated = {
        name: np.array(m.subs({x: numbers[x.name] for x in m.free_symbols}), dtype=float) for name, m in forms.items()
    }
    assert relative_error(evaluated["tau"], dynamics.inverse_dynamics(q, v, a)) < TOLERANCE
    assert relative_error(evaluated["D_tra"], dynamics.terms(q=q, v=v)["D_tra"]) < TOLERANCE


def test_sympy_refuses_names_that_python_cannot_have() -> None:
    robot = gs.symbolic_tree("two_link_arm", {"joint2": {"mass": "lambda"}})
    with pytest.raises(ArgumentError, match="symbol 'lambda': is no name for a Python variable here; rename it"):
        derive(robot, "sympy", terms="D_tra")


# LaTeX


def alignments(text: str) -> list[list[str]]:
    """The lines of each align environment."""
    blocks = re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, flags=re.DOTALL)
    return [block.split(" \\\\\n") for block in blocks]


def read_back(latex: str) -> sympy.Expr:
    """The expression that is printed, upright letters as ``c_23up``."""
    text = re.sub(r"\\mathrm\{(\w\w+)\}", r"\1", latex)
    text = re.sub(r"\\(\w+)_\{(\d+)\}", r"\1_\2", text)
    text = re.sub(r"\\mathrm\{([cs])\}_\{([^}]*)\}", lambda m: f" {m[1]}_{m[2].replace(',', '_')}up ", text)
    text = re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r" (\1/\2) ", text)
    text = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1 ", text)
    text = re.sub(r"(\\?\w+)_\{([^}]*)\}", lambda m: f" {m[1].lstrip(chr(92))}_{m[2].replace(',', '_')} ", text)
    text = re.sub(r"\\(sin|cos)(?:\^\{(\d+)\})? (\w+|\s\w+\s)", r" \1power(\3, \2) ", text)
    text = re.sub(r"\\(sin|cos)(?:\^\{(\d+)\})? \(([^()]*)\)", r" \1power(\3, \2) ", text)
    text = re.sub(r"\^\{(\d+)\}", r"**\1 ", text)
    tokens = re.findall(r"\w+power\(|[\d.]+(?:e-?\d+)?|\w+|\*\*|[-+*/(),]", text)
    product = ""
    for before, token in zip(["+", *tokens], tokens, strict=False):
        ends = re.fullmatch(r"[\w.]+(e-?\d+)?|\)", before) is not None
        starts = re.fullmatch(r"\w+power\(|[\w.]+(e-?\d+)?|\(", token) is not None
        product += ("*" if ends and starts else "") + token
    names = {x: gs.symbol(x) for x in re.findall(r"[A-Za-z]\w*", product) if not x.endswith("power")}
    powers = {
        "sinpower": lambda x, n=1: sympy.sin(x) ** n,
        "cospower": lambda x, n=1: sympy.cos(x) ** n,
    }
    exact = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.])", r"Rational('\1')", product.replace(", )", ")"))
    return eval(exact, {"Rational": sympy.Rational, **powers, **names})


def printed_entries(text: str) -> dict[str, sympy.Expr]:
    """Each entry by its left side, shorthand written out by what the document says that it is."""
    found = {}
    for block in alignments(text):
        joined = re.sub(r" *\n?&\\q?quad ", " ", "\n".join(block)).split("\n")
        found |= dict(line.split(" &= ") for line in joined)
    section = re.search(r"Abbreviations\}\n\n(.*)\.\n", text)
    pairs = [x.split(" = ") for x in re.findall(r"\$([^$]*)\$", section[1])] if section else []
    meanings = {read_back(short): read_back(meaning) for short, meaning in pairs}
    return {name: read_back(right).xreplace(meanings) for name, right in found.items()}


@pytest.mark.parametrize(("robot", "formulation"), [(r, f) for r, f, symbolic in PRINTED if symbolic])
def test_latex_is_the_graph(robot: str, formulation: str) -> None:
    """Read back entry by entry; what is not printed is zero, or below the diagonal of a symmetric matrix."""
    cls = gd.formulations()[formulation]
    (text,) = derive(robot, "latex", formulation=formulation, terms=["terms", "coriolis_matrix"]).values()
    printed = printed_entries(text)
    expected = gs.closed_forms(robot, cls) | gs.closed_forms(robot, cls, of="coriolis_matrix")
    seen = set()
    for name, matrix in expected.items():
        letter, _, rest = name.partition("_")
        symmetric = matrix.shape[0] == matrix.shape[1] > 1 and (matrix == matrix.T).all()
        for (i, j), entry in np.ndenumerate(matrix):
            index = f"{i + 1}" if matrix.shape[1] == 1 else f"{i + 1}{j + 1}"
            left = (
                f"{letter}^{{\\mathrm{{{rest}}}}}_{{{index}}}"
                if rest and letter != "h"
                else f"{letter}_{{{rest}{index}}}"
            )
            if not entry or (symmetric and j < i):
                assert left not in printed
            else:
                assert gs.TrigonometricPolynomial.of(printed[left]) == entry, left
                seen.add(left)
    assert seen == set(printed)


def test_latex_with_numbers_is_the_graph_to_six_digits() -> None:
    """Of each coefficient; the entries are sums of a few of them."""
    (text,) = derive("puma560_3", "latex", symbolic=False).values()
    assert "Numbers are rounded to six significant digits." in text
    q, v = np.random.default_rng(6).normal(size=(2, 3))
    numbers = {gs.symbol(f"{x}_{k + 1}"): y[k] for x, y in (("q", q), ("v", v)) for k in range(3)}
    expected = gd.GeneralizedDAlembert(gd.load_urdf("puma560_3")).terms(q=q, v=v)
    for left, entry in printed_entries(text).items():
        letter, above, index = re.fullmatch(r"(\w)(?:\^\{\\mathrm\{(\w+)\}\})?_\{(\d+)\}", left).groups()
        matrix = expected[f"{letter}_{above}" if above else letter].full()
        value = matrix[tuple(int(x) - 1 for x in index) if len(index) == 2 else (int(index) - 1, 0)]
        assert float(entry.subs(numbers)) == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(("robot", "formulation", "symbolic"), PRINTED)
def test_latex_fits_the_page(robot: str, formulation: str, symbolic: bool) -> None:
    """As matplotlib sets it, in Computer Modern; the text of the page is 160 mm wide."""
    (text,) = derive(robot, "latex", formulation=formulation, symbolic=symbolic, terms=["terms", "nle"]).values()
    page = 160 / 25.4 * 72.27
    parser = MathTextParser("path")

    def points(formula: str) -> float:
        return parser.parse(f"${formula}$", dpi=72, prop=mpl.font_manager.FontProperties(size=10)).width

    with mpl.rc_context({"mathtext.fontset": "cm"}):
        for block in alignments(text):
            sides = [line.split("&", 1) for line in block]
            assert max(points(x) for x, _ in sides if x) + max(points(x) for _, x in sides) < page
            assert all(points(x) < width(x) for _, x in sides if len(x) > 100)


@pytest.mark.system
def test_latex_compiles_and_fits_the_page(tmp_path: Path) -> None:
    documents = [
        *(derive(robot, "latex", formulation=f, symbolic=s, terms=["terms", "nle"]) for robot, f, s in PRINTED),
        derive("puma560", "latex", terms=["G", "D_tra"]),
        derive("puma560", "latex", symbolic=False, terms=["G", "H_tra"]),
    ]
    for document in documents:
        (path,) = write(document, f"{tmp_path}/", force=True)
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, done.stdout
        assert "Overfull" not in done.stdout
        assert path.with_suffix(".pdf").stat().st_size > 10_000


def test_shorthand_is_used_and_explained() -> None:
    (latex,), (source,) = (derive("puma560_3", to, terms="D_tra").values() for to in ("latex", "sympy"))
    assert "$\\mathrm{c}_{23} = \\cos (q_{2} + q_{3})$" in latex
    assert "D^{\\mathrm{tra}}_{13} &= m_{3} c_{3y} \\mathrm{c}_{23}(c_{3z} + p_{3z})" in latex
    assert "\nc_23 = cos(q_2 + q_3)\n" in source
    assert "cos" not in source.split("forms = {}")[1]


def test_latex_says_zero_and_symmetric_once() -> None:
    (text,) = derive("cart_pendulum", "latex", formulation="lagrange_euler").values()
    assert text.startswith("\\documentclass")
    assert text.endswith("\\end{document}\n")
    assert "$c_{2x}$" not in text.split("Symbols")[0]
    assert "\\subsection*{$h_{2}$}\n\n$h_{2} = 0$.\n" in text
    assert "The matrix is symmetric." in text
    assert "D_{21}" not in text
    body = derive("cart_pendulum", "latex", formulation="lagrange_euler", body_only=True)["cart_pendulum.tex"]
    assert body.startswith("\\section*{cart\\_pendulum}")
    assert body.strip() in text


def test_latex_keeps_indices_above_nine_apart() -> None:
    rows = [gs.Row("P", mass="m", alpha=0) for _ in range(11)]
    robot = gs.from_denavit_hartenberg(rows, name="stack")
    (text,) = derive(robot, "latex", terms="D_tra").values()
    assert "D^{\\mathrm{tra}}_{1,11} &= m" in text
    (text,) = derive(robot, "latex", formulation="lagrange_euler", terms=["c", "h"]).values()
    assert "c_{11} &= g m" in text
    assert "$h_{11} = 0$." in text


def test_lines_are_broken_in_few_parentheses() -> None:
    a, b, c = (gs.symbol(name) for name in ("a_long", "b_long", "c_long"))
    pieces = Printer().pieces(a + b * (a + c + sympy.sin(2 * a)) - sympy.Rational(3, 7) * c**2)
    lines = broken(pieces, 120, 120)
    assert len(lines) > 1
    assert " ".join(x for x, _ in lines).replace("  ", " ") == "".join(x for x, _ in pieces)
    assert all(width(x) <= 120 or " + " not in x[2:] for x, _ in lines)
    assert broken(pieces, 1e9, 1e9) == [("".join(x for x, _ in pieces), 0)]


# What is asked for


def test_formats_take_the_same_names() -> None:
    for to in FORMATS:
        files = derive("puma560_3", to, formulation="lagrange_euler", terms=["h", "mass_matrix"])
        text = "".join(files.values())
        names = ("h_1", "h_2", "h_3", "mass_matrix") if to in ("python", "c", "matlab") else ("h_1", "h_3")
        assert all(name in text or f"{name[0]}_{{{name[2:]}" in text for name in names)


def test_terms_are_functions_of_what_they_depend_on() -> None:
    (source,) = derive("puma560_3", "python", formulation="generalized_dalembert", terms="terms").values()
    heads = re.findall(r"^def (.*):$", source, re.MULTILINE)
    assert heads == ["D_tra(q)", "D_rot(q)", "H_tra(q, v)", "H_rot(q, v)", "G(q)", "I_act()"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"to": "latx"}, UnknownNameError, "no format named 'latx'; nearest: 'latex'"),
        ({"terms": "D_tar"}, UnknownNameError, "no term of generalized_dalembert named 'D_tar'; nearest: 'D_tra'"),
        ({"terms": "massmatrix"}, UnknownNameError, "nearest: 'mass_matrix'"),
        ({"terms": "forward_dynamics"}, UnknownNameError, "no term of generalized_dalembert named 'forward_dynamics'"),
        ({"terms": []}, ArgumentError, "terms: none are given; name at least one, as 'mass_matrix'"),
        ({"formulation": "newton"}, UnknownNameError, "no formulation named 'newton'; nearest: 'newton_euler'"),
        ({"terms": 3}, ArgumentTypeError, "terms=3: give names, as ['mass_matrix']"),
        ({"terms": [3]}, ArgumentTypeError, "terms=[3]: give names, as ['mass_matrix']"),
        (
            {"terms": "D_tra", "formulation": "lagrange_euler"},
            UnknownNameError,
            "no term of lagrange_euler (generalized_dalembert has it) named 'D_tra'",
        ),
        (
            {"terms": ["D_tra", "D"]},
            UnknownNameError,
            "no term of generalized_dalembert (lagrange_euler has it) named 'D'",
        ),
        ({"to": "c", "body_only": True}, ArgumentError, "only latex has a preamble, and c has none; leave it out"),
        ({"formulation": 3}, ArgumentTypeError, "formulation=3: give a name or a class"),
        ({"formulation": "newton_euler"}, UnsupportedError, "takes no symbols; use GeneralizedDAlembert"),
    ],
)
def test_what_is_not_there(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive("puma560_3", **({"to": "latex"} | options))


@pytest.mark.parametrize(
    ("to", "terms", "formulation"),
    [
        ("latex", "D,h,c", "lagrange_euler"),
        ("sympy", "D_tra,mass_matrix", "generalized_dalembert"),
        ("c", "D_tra,mass_matrix", "generalized_dalembert"),
        ("python", "D", "lagrange_euler"),
        ("python", "mass_matrix", "newton_euler"),
    ],
)
def test_the_formulation_that_has_the_terms_is_taken(to: str, terms: str, formulation: str) -> None:
    names = iter(terms.split(","))
    found = derive("two_link_arm", to, terms=names)
    assert found == derive("two_link_arm", to, terms=terms.split(","), formulation=formulation)


def test_heads_say_what_q_of_a_continuous_joint_is() -> None:
    model = build(np.random.default_rng(0), ["RX", "RUBX"], [0, 1])
    numeric, closed, latex = (
        " ".join("".join(derive(model, *args, terms="nle", **options).values()).split())
        for args, options in ((("python",), {}), (("python",), {"symbolic": True}), (("latex",), {"symbolic": False}))
    )
    assert "q_2 = cosine, q_3 = sine of the angle, v_2 [rad/s]" in numeric
    assert "q_i is an angle here" not in numeric
    assert "q_i is an angle here; Pinocchio's q has its cosine and sine instead: RUBX_1" in closed
    assert "is an angle here; Pinocchio's q has its cosine and sine instead: " in latex
    assert "is an angle here" not in derive("two_link_arm", "latex")["two_link_arm.tex"]


# Any Dynamics


def pruned() -> gd.PrunedDynamics:
    return gd.PrunedDynamics(gd.load_urdf("puma560"), 0.01, a_max=[8, 6, 12, 25, 25, 25])


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


GRAVITY = ["generalized_gravity"]


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


def test_the_distances_of_the_bound_are_said() -> None:
    model = gd.load_urdf("shala_likaj_rpr")
    dynamics = gd.PrunedDynamics(model, 0.01, a_max=1, q_range=np.array([-0.25, 0.5]))
    assert "-0.25 <= q_2 <= 0.5" in "".join(derive(dynamics, "python").values())


@pytest.mark.parametrize(
    ("to", "options", "error", "message"),
    [
        ("latex", {}, UnsupportedError, "is exported as code alone; choose python, c or matlab"),
        ("sympy", {}, UnsupportedError, "PrunedDynamics('puma560', nq=6, nv=6): is exported as code alone"),
        ("c", {"symbolic": True}, ArgumentError, "give no formulation, no symbolic"),
        ("c", {"formulation": "newton_euler"}, ArgumentError, "give no formulation, no symbolic"),
        ("c", {"terms": "D_tra"}, UnknownNameError, "no term of PrunedDynamics named 'D_tra'"),
    ],
)
def test_what_a_dynamics_has_not(to: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        derive(pruned(), to, **options)


def test_too_large_for_closed_forms() -> None:
    with pytest.raises(UnsupportedError, match=r"too large for closed forms: its \d+ instructions in \d+ symbols"):
        derive("panda7", "latex", max_terms=100_000)
    with pytest.raises(UnsupportedError, match=r"puma560: too large to be written: its \d+ terms, 100 to be counted"):
        derive("puma560", "sympy", max_terms=600_000)


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


# Files

FILES = {"one.txt": "1\n", "two.txt": "2\n", "three.txt": "3\n"}


def contents(folder: Path) -> dict[str, str]:
    return {str(x.relative_to(folder)): x.read_text() for x in folder.rglob("*") if x.is_file()}


def test_files_are_written(tmp_path: Path) -> None:
    paths = write(FILES, tmp_path / "a" / "b")
    assert paths == [tmp_path / "a" / "b" / name for name in FILES]
    assert contents(tmp_path) == {f"a/b/{name}": text for name, text in FILES.items()}
    write({"x.tex": "é"}, tmp_path / "named.tex")
    assert (tmp_path / "named.tex").read_bytes() == "é".encode()
    write({"x.tex": "x"}, tmp_path / "a")
    write({"x.tex": "x"}, f"{tmp_path}/new/")
    assert (tmp_path / "a" / "x.tex").read_text() == (tmp_path / "new" / "x.tex").read_text() == "x"


def test_files_are_not_replaced_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("mine")
    with pytest.raises(ArgumentError, match=r"two\.txt: is there already; choose another output, or replace it"):
        write(FILES, tmp_path)
    assert contents(tmp_path) == {"two.txt": "mine"}
    write(FILES, tmp_path, force=True)
    assert contents(tmp_path) == FILES
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(ArgumentError, match="is there already"):
        write({"folder.txt": ""}, f"{tmp_path}/", force=True)


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match=r"file.*: cannot be written: .*; choose another output"):
        write(FILES, tmp_path / "file" / "inner")
    assert contents(tmp_path) == {"file": ""}


@pytest.mark.parametrize(
    ("output", "error", "message"),
    [
        (3, ArgumentTypeError, "output=3: is no path; give a file or a folder"),
        ("", ArgumentError, "output (--output) is empty; give a file or a folder"),
        ("new/one.txt", ArgumentError, "one.txt: is a file name, and there are 3 files; give a folder"),
    ],
)
def test_outputs_that_are_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Any, error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=re.escape(message)):
        write(FILES, output)
    assert list(tmp_path.iterdir()) == []


Break = Callable[[int], None]


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Ctrl-C at the k-th step of writing, before it or right after it."""

    def at(k: int) -> None:
        steps = 0

        def stopping(step: Callable[..., Any]) -> Callable[..., Any]:
            def stepped(*args: Any, **kwargs: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps == k:
                    raise KeyboardInterrupt
                result = step(*args, **kwargs)
                steps += 1
                if steps == k:
                    raise KeyboardInterrupt
                return result

            return stepped

        for owner, name in ((os, "replace"), (shutil, "copy2"), (Path, "write_text"), (Path, "mkdir")):
            monkeypatch.setattr(owner, name, stopping(getattr(owner, name)))

    return at


@pytest.mark.parametrize("k", range(1, 15))
def test_an_interruption_leaves_nothing(tmp_path: Path, interrupt: Break, k: int) -> None:
    interrupt(k)
    with pytest.raises(KeyboardInterrupt):
        write(FILES, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("k", range(1, 19))
def test_an_interruption_brings_back_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupt: Break, k: int
) -> None:
    before = {"one.txt": "mine", "three.txt": "mine too"}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    interrupt(k)
    with pytest.raises(KeyboardInterrupt):
        write(FILES, tmp_path, force=True)
    monkeypatch.undo()
    assert contents(tmp_path) == before
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted(before)

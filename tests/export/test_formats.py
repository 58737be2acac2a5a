"""Formats register themselves; the heads of files, and SymPy source that gives the forms back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.export import FORMATS, derive
from gdalembert.export.formats import ClosedForms, closed_format, code_format, formats_of
from tests.helpers.exports import PRINTED, QUICKLY_PRINTED, TOLERANCE, pruned
from tests.helpers.models import build, relative_error
from tests.helpers.sets import quick


@pytest.fixture
def two_formats() -> Iterator[None]:
    """``listing`` for code, ``sizes`` for closed forms."""

    @code_format("listing")
    def listing(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> dict[str, str]:
        return {f"{name}.txt": "\n".join([" ".join(notes), *functions])}

    @closed_format("sizes")
    def sizes(forms: ClosedForms) -> dict[str, str]:
        return {f"{forms.name}.txt": " ".join(f"{own} {matrix.shape}" for own, matrix in forms.matrices.items())}

    yield
    del FORMATS["listing"], FORMATS["sizes"]


def test_the_formats_of_the_package() -> None:
    assert list(FORMATS)[:8] == ["latex", "sympy", "python", "jax", "c", "rust", "julia", "matlab"]
    assert [each.name for each in FORMATS.values()] == list(FORMATS)
    for closed, listed in ((True, formats_of(closed=True)), (False, formats_of(closed=False))):
        assert listed.replace(" or ", ", ").split(", ") == [name for name in FORMATS if FORMATS[name].closed is closed]


@pytest.mark.usefixtures("two_formats")
def test_code_gets_functions_and_the_head_of_a_file() -> None:
    ((name, text),) = derive("two_link_arm", "listing", terms=["nle", "mass_matrix"]).items()
    head, *functions = text.splitlines()
    assert name == "two_link_arm.txt"
    assert functions == ["nle", "mass_matrix"]
    assert "recursive Newton-Euler equations" in head


@pytest.mark.usefixtures("two_formats")
def test_closed_forms_are_matrices() -> None:
    assert derive("two_link_arm", "sizes", terms=["G", "D_tra"]) == {"two_link_arm.txt": "G (2, 1) D_tra (2, 2)"}


@pytest.mark.usefixtures("two_formats")
def test_messages_name_what_is_registered() -> None:
    with pytest.raises(UnsupportedError, match=r"choose python, jax, c, rust, julia, matlab(, .+)? or listing"):
        derive(pruned(), "sizes")
    with pytest.raises(ArgumentError, match="only latex has a preamble, and sizes has none; leave it out"):
        derive("two_link_arm", "sizes", body_only=True)


@pytest.mark.long
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


def test_joints_with_the_same_name_in_plain_text_have_a_line_each() -> None:
    model = gd.load_urdf("two_link_arm")
    model.names[1], model.names[2] = "a'", 'a"'
    for into in ("python", "latex"):
        text = "".join(derive(model, into).values()).replace("\\", "").replace("$", "")
        assert [text.count(f"tau_{k}") + text.count(f"tau_{{{k}}}") > 0 for k in (1, 2)] == [True, True]
        assert text.count("a_:") == 2


def test_long_names_of_robots_are_cut_in_those_of_files() -> None:
    model = gd.load_urdf("two_link_arm")
    model.name = "a" * 300
    assert set(derive(model, "c")) == {"a" * 100 + ".c", "a" * 100 + ".h"}


# Any Dynamics


def test_the_distances_of_the_bound_are_said() -> None:
    model = gd.load_urdf("shala_likaj_rpr")
    dynamics = gd.PrunedDynamics(model, 0.01, a_max=1, q_range=np.array([-0.25, 0.5]))
    assert "-0.25 <= q_2 <= 0.5" in "".join(derive(dynamics, "python").values())


# Parameters


@pytest.mark.long
@pytest.mark.parametrize("to", ["python", "c", "matlab"])
def test_heads_list_p_in_order(to: str) -> None:
    """Names and values, in the order of p; what p replaces is said nowhere else."""
    model = gd.load_urdf("two_link_arm")
    kinds = {"payload": ["tip"], "gravity": True, "springs": True}
    dynamics = gd.NewtonEuler(model, parameters=kinds, springs={"joint1": (30.0, 0.5)})
    for text in derive(dynamics, to, terms=["nle", "forward_dynamics_derivatives"]).values():
        head = " ".join(text.replace("\n%", "\n").replace("\n *", "\n").split())
        assert f"p: {', '.join(dynamics.parameters.names)}" in head
        assert "gravity.x = 0.0 gravity.y = 0.0 gravity.z = -9.81 joint1.stiffness = 30.0 joint1.rest = 0.5" in head
        assert "m/s^2" not in head
        assert "spring of" not in head
        assert "nle(q (2), v (2), p (15)) -> nle (2)" in head or to != "python"


def forms_of(source: str) -> dict[str, sympy.Matrix]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    return namespace["forms"]


@pytest.mark.parametrize(("robot", "formulation", "symbolic"), quick(PRINTED, *QUICKLY_PRINTED))
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


@pytest.mark.long
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
    with pytest.raises(ArgumentError, match="symbol 'lambda': cannot name a Python variable here; rename it"):
        derive(robot, "sympy", terms="D_tra")


# LaTeX


def test_shorthand_is_used_and_explained() -> None:
    (latex,), (source,) = (derive("puma560_3", to, terms="D_tra").values() for to in ("latex", "sympy"))
    assert "$\\mathrm{c}_{23} = \\cos (q_{2} + q_{3})$" in latex
    assert "D^{\\mathrm{tra}}_{13} &= m_{3} c_{3y} \\mathrm{c}_{23}(c_{3z} + p_{3z})" in latex
    assert "\nc_23 = cos(q_2 + q_3)\n" in source
    assert "cos" not in source.split("forms = {}")[1]

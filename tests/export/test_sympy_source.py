"""Exported SymPy, executed, is the closed form."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.errors import ArgumentError
from gdalembert.export import derive
from tests.helpers.exports import PRINTED, QUICKLY_PRINTED, TOLERANCE
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

# SymPy


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

"""Problems that public code solves with pinocchio.casadi: each is posed here in few lines."""

from __future__ import annotations

import ast

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.scripts import EXAMPLES

LINES = {
    ("quadrotor_to_pose", "with_opti"): 15,
    ("quadrotor_to_pose", "with_ocp"): 5,
    ("dual_arm_inverse_kinematics", "follower"): 15,
    ("ur5_inverse_kinematics", "nearest"): 9,
    ("variational_integrator", "stepper"): 18,
    ("talos_on_one_foot", "plan"): 18,
    ("solo12_stands_up", "stand_up"): 15,
}
"""The function of an example that poses the problem, and the most lines that it may have."""


def lines_of(name: str, function: str) -> int:
    """Lines of code in the body of a function, without its docstring."""
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    found = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == function]
    body = [statement for statement in found[0].body if not isinstance(getattr(statement, "value", None), ast.Constant)]
    inside = text.splitlines()[body[0].lineno - 1 : found[0].end_lineno]
    return len([line for line in inside if line.strip()])


@pytest.mark.parametrize(("name", "function"), LINES, ids=lambda x: x)
def test_a_problem_is_posed_in_few_lines(name: str, function: str) -> None:
    assert 3 < lines_of(name, function) <= LINES[name, function]


def test_every_client_is_counted() -> None:
    here = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "clients").glob("test_*.py")} - {"lines"}
    assert here == {name for name, _ in LINES}
    assert here < {path.stem for path in EXAMPLES}

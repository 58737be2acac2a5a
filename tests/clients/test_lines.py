"""Problems that public code solves with pinocchio.casadi: each is posed here in few lines."""

from __future__ import annotations

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.scripts import EXAMPLES, lines_of

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


@pytest.mark.parametrize(("name", "function"), LINES, ids=lambda x: x)
def test_a_problem_is_posed_in_few_lines(name: str, function: str) -> None:
    assert 3 < lines_of(ROOT / "examples" / f"{name}.py", function) <= LINES[name, function]


def test_every_client_is_counted() -> None:
    tested = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "clients").glob("test_*.py")}
    assert tested & {path.stem for path in EXAMPLES} == {name for name, _ in LINES}

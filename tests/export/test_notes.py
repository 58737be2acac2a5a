"""What the head of an exported file says."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.export import derive
from tests.helpers.models import build

# What is asked for


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

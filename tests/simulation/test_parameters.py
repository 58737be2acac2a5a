"""simulate with parameters: p as an input moves a robot as the same numbers in its model do; and what p is refused."""

from __future__ import annotations

import json
import pickle
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.forces import Damping
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.simulation.integration import plant
from gdalembert.simulation.result import Simulation
from gdalembert.symbolic import Row, from_denavit_hartenberg, symbolic_tree
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

FIXED: dict[str, Any] = {"method": "rk4", "step": 0.01}
"""The same steps for all: motions differ by rounding alone."""
TIMES = np.linspace(0, 0.5, 11)
ROWS = ("q", "v", "a", "a_before", "u", "kinetic", "potential", "work", "dissipated", "action")


def body(mass: float) -> np.ndarray:
    """A body whose centre of mass is not the origin."""
    inertia = pin.Inertia(mass, np.array([0.03, -0.02, 0.05]), mass * np.diag([0.004, 0.006, 0.005]))
    return np.array(inertia.toDynamicParameters())


def assert_same(motion: Simulation, other: Simulation) -> None:
    for name in ROWS:
        # half a second of motion multiplies rounding errors by less than a hundred
        assert relative_error(getattr(motion, name), getattr(other, name)) < 1e-11, name


@cache
def loaded_arm(formulation: type[Dynamics] = gd.NewtonEuler) -> tuple[pin.Model, Dynamics, np.ndarray]:
    """The two-link arm with a load, another link, rotors and gravity as parameters; and values of them."""
    model = gd.load_urdf("two_link_arm")
    given = {"inertia": ["joint1"], "payload": ["tip"], "armature": True, "gravity": True}
    dyn = formulation(model, parameters=given, forces=[Damping(np.diag([0.3, 0.1]))])
    values = dict(zip(dyn.parameters.names[10:20], body(0.7), strict=True))
    values |= {"joint1.m": 3.6, "joint1.armature": 0.2, "gravity.y": -3.7}
    return model, dyn, dyn.parameters.vector(values)


@pytest.mark.parametrize("formulation", [gd.NewtonEuler, gd.LagrangeEuler, gd.GeneralizedDAlembert])
def test_p_moves_the_robot_as_the_model_that_has_it(formulation: type[Dynamics]) -> None:
    model, dyn, p = loaded_arm(formulation)
    x0, u = [0.3, -0.8, 1.0, 0.5], lambda t, q, v: -2 * v
    motion = gd.simulate(dyn, x0, TIMES, u, p=p, **FIXED)
    np.testing.assert_array_equal(motion.p, p)
    assert_same(motion, gd.simulate(dyn.at(p), x0, TIMES, u, **FIXED))
    written = formulation(dyn.parameters.write(model, p), forces=[Damping(np.diag([0.3, 0.1]))])
    assert_same(motion, gd.simulate(written, x0, TIMES, u, **FIXED))
    assert motion.dissipated[-1] > 1e-3
    nominal = gd.simulate(dyn, x0, TIMES, u, **FIXED)
    np.testing.assert_array_equal(nominal.p, dyn.parameters.values)
    assert np.abs(nominal.q - motion.q).max() > 0.01


@pytest.mark.parametrize("method", quick(["adams", "bdf", "idas"], "adams", "idas"))
def test_energies_balance_at_any_p(method: str) -> None:
    _, dyn, p = loaded_arm()
    motion = gd.simulate(dyn, [0.3, -0.8, 1.0, 0.5], 1.0, [0.5, -0.2], p=p, method=method, reltol=1e-10, abstol=1e-12)
    assert motion.relative_balance < 1e-6


def test_names_stand_for_the_values_of_the_model() -> None:
    _, dyn, _ = loaded_arm()
    motion = gd.simulate(dyn, np.zeros(4), TIMES, p={"tip.m": 2.0}, **FIXED)
    expected = dyn.parameters.vector({"tip.m": 2.0})
    np.testing.assert_array_equal(motion.p, expected)
    assert_same(motion, gd.simulate(dyn, np.zeros(4), TIMES, p=expected, **FIXED))


@pytest.mark.long
def test_springs_and_dampers_see_p() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, springs={"joint2": (3.0, 0.1)}, parameters=["springs"])
    motion = gd.simulate(dyn, np.zeros(4), TIMES, p={"joint2.stiffness": 8.0, "joint2.rest": -0.4}, **FIXED)
    assert_same(
        motion, gd.simulate(gd.NewtonEuler(model, springs={"joint2": (8.0, -0.4)}), np.zeros(4), TIMES, **FIXED)
    )


@pytest.mark.long
def test_a_flexible_arm_with_a_payload() -> None:
    model = gd.load_urdf("two_link_flexible")
    links = {
        name: gd.FlexibleLink(gd.Beam(length, mu, EI_z=20.0), bending_y=gd.modes.hermite())
        for name, length, mu in (("link1", 1.0, 0.6), ("link2", 0.8, 0.45))
    }
    frame = model.frames[-1].name
    arm = gd.FlexibleArm(model, links, parameters={"payload": [frame]})
    p = body(0.2)
    x0 = np.zeros(arm.tree.nq + arm.tree.nv)
    x0[0], x0[arm.tree.nq + 1] = 0.4, 0.5
    motion = gd.simulate(arm, x0, TIMES[:3], [0.1, 0.05], p=p, method="rk4", step=0.001)
    assert_same(motion, gd.simulate(arm.at(p), x0, TIMES[:3], [0.1, 0.05], method="rk4", step=0.001))


@pytest.mark.long
def test_base_parameters_of_another_model() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, parameters=["base"], clean=0)
    other = model.copy()
    other.inertias[2] = other.inertias[2] + pin.Inertia(0.5, np.array([0.1, 0, 0.1]), 0.01 * np.eye(3))
    x0 = np.full(4, 0.2)
    motion = gd.simulate(dyn, x0, TIMES, p=dyn.parameters.of(other), **FIXED)
    reference = gd.simulate(gd.NewtonEuler(other, clean=0), x0, TIMES, **FIXED)
    for name in ("q", "v", "kinetic"):
        # base parameters are completed by a factorisation over random states
        assert relative_error(getattr(motion, name), getattr(reference, name)) < 1e-10
    with pytest.raises(
        ArgumentError, match=r"^simulate: M is not positive definite at the start with this p: its least"
    ):
        gd.simulate(dyn, x0, TIMES, p=-dyn.parameters.values)


def test_the_formulas_of_a_symbolic_tree() -> None:
    tree = symbolic_tree(gd.load_urdf("two_link_arm"))
    dyn = tree.dynamics(gd.LagrangeEuler)
    motion = gd.simulate(dyn, [0.3, -0.8, 1.0, 0.5], TIMES, **FIXED)
    assert_same(
        motion, gd.simulate(gd.LagrangeEuler(gd.load_urdf("two_link_arm")), [0.3, -0.8, 1.0, 0.5], TIMES, **FIXED)
    )


# Feedback.


def test_feedback_takes_p() -> None:
    """The torque that holds the arm, whatever it carries: as a graph, as a callable, and sampled."""
    _, dyn, p = loaded_arm()
    t, x, symbol = ca.MX.sym("t"), ca.MX.sym("x", 4), ca.MX.sym("p", len(p))
    graph = ca.Function("hold", [t, x, symbol], [dyn.nle(x[:2], x[2:], symbol)])
    start = [0.4, -0.7, 0.0, 0.0]
    for u, hold in (
        (graph, False),
        (lambda t, q, v, p: dyn.nle(q, v, p), False),
        (lambda t, q, v, p: dyn.nle(q, v, p), True),
    ):
        motion = gd.simulate(dyn, start, TIMES, u, p=p, hold=hold)
        assert np.abs(motion.x - start).max() < 1e-8
    nominal = gd.simulate(dyn, start, TIMES, ca.Function("hold", [t, x], [dyn.nle(x[:2], x[2:], p)]))
    assert np.abs(nominal.x - start).max() > 1e-2  # the load is not there


def test_feedback_is_refused_in_one_sentence() -> None:
    _, dyn, _ = loaded_arm()
    with pytest.raises(
        ArgumentTypeError, match=r"^simulate: u takes 2 arguments; give u\(t, q, v\) or u\(t, q, v, p\)$"
    ):
        gd.simulate(dyn, np.zeros(4), 1.0, lambda t, q: q)
    t, x, p = ca.MX.sym("t"), ca.MX.sym("x", 4), ca.MX.sym("p", 3)
    wrong = ca.Function("u", [t, x, p], [x[:2]])
    with pytest.raises(
        ArgumentError, match=r"give a Function \(t, x\[4\]\) -> \(u\[2\]\) or \(t, x\[4\], p\[25\]\) -> "
    ):
        gd.simulate(dyn, np.zeros(4), 1.0, wrong)


# Built once.


def test_a_sweep_builds_no_graph_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, dyn, p = loaded_arm()
    first, known = gd.simulate(dyn, np.zeros(4), TIMES, **FIXED), plant(dyn)

    def again(*arguments: object) -> None:
        raise AssertionError("a graph is built again")

    for name in ("inverse_dynamics_expression", "forward_dynamics_expression", "mass_matrix_expression"):
        monkeypatch.setattr(gd.NewtonEuler, name, again)
    monkeypatch.setattr("gdalembert.simulation.integration._new_plant", again)
    second = gd.simulate(dyn, np.zeros(4), TIMES, p=p, **FIXED)
    assert plant(dyn) is known
    assert np.abs(first.q - second.q).max() > 0.01


def test_a_result_remembers_p() -> None:
    _, dyn, p = loaded_arm()
    motion = gd.simulate(dyn, np.zeros(4), TIMES, p=p, **FIXED)
    assert json.loads(json.dumps(motion.to_dict()))["p"] == p.tolist()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(motion)).p, p)
    with pytest.raises(ValueError, match="read-only"):
        motion.p[0] = 1.0
    assert gd.simulate(gd.NewtonEuler(gd.load_urdf("two_link_arm")), np.zeros(4), 0.1).p.shape == (0,)


# What no robot has.


@pytest.mark.parametrize(
    ("p", "error", "message"),
    [
        (
            {"joint1.m": -0.5},
            ArgumentError,
            "joint 'joint1': with this p its link has the negative mass -0.5 kg; give a",
        ),
        (
            {"joint1.Izz": -1.0},
            ArgumentError,
            "joint 'joint1': with this p its link has the negative principal moment -1",
        ),
        ({"tip.m": -99.0}, ArgumentError, "joint 'joint2': with this p its link has the negative mass -9"),
        (
            {"joint1.m": 0.0},
            ArgumentError,
            "joint 'joint1': with this p its link has no mass, but the first moment of mass",
        ),
        (
            {"joint2.armature": -0.1},
            ArgumentError,
            "joint 'joint2' has the negative armature -0.1 with this p; give at",
        ),
        ({"tip.mass": 1.0}, UnknownNameError, "no parameter named 'tip.mass'; nearest: "),
        ({"tip.m": np.nan}, ArgumentError, r"p\['tip.m'\]: entry \[0\] is nan; give finite numbers"),
        ([1.0, 2.0], ArgumentError, r"p has shape \(2,\); give \(25,\)"),
        (["one"] * 25, ArgumentTypeError, "p: expected numbers, got "),
    ],
)
def test_an_unphysical_p_is_refused_before_anything_runs(p: Any, error: type[Exception], message: str) -> None:
    _, dyn, _ = loaded_arm()
    prefix = "" if error is UnknownNameError else "simulate: "
    with pytest.raises(error, match=f"^{prefix}{message}") as caught:
        gd.simulate(dyn, np.zeros(4), 1.0, p=p)
    assert "\n" not in str(caught.value)


def test_a_payload_may_take_away_what_the_link_has() -> None:
    """The body of the whole link counts."""
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, parameters={"payload": ["tip"]})
    least = -0.3 * dyn.nominal.joints[1].mass
    frame = model.frames[model.getFrameId("tip")].placement
    taken = least * np.array([1.0, *frame.inverse().act(model.inertias[2].lever), *np.zeros(6)])
    c = taken[1:4] / taken[0]
    tensor = least * (c @ c * np.eye(3) - np.outer(c, c))  # a point mass at the centre of mass of the link
    taken[4:] = tensor[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    motion = gd.simulate(dyn, np.zeros(4), TIMES, p=taken, **FIXED)
    assert_same(motion, gd.simulate(gd.NewtonEuler(dyn.parameters.write(model, taken)), np.zeros(4), TIMES, **FIXED))


def test_a_robot_without_parameters_takes_no_p() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    with pytest.raises(
        ArgumentError, match=r"^simulate: p is given, but two_link_arm has no parameters; drop p, or make"
    ):
        gd.simulate(dyn, np.zeros(4), 1.0, p=[1.0])


def test_an_unknown_value_of_a_formula_is_refused() -> None:
    dyn = from_denavit_hartenberg([Row(a="a_1", mass="m_1")], gravity=(0, -9.81, 0)).dynamics(gd.LagrangeEuler)
    with pytest.raises(ArgumentError, match=r"^chain: simulate: p: no value for m_1, a_1; give it by name$"):
        gd.simulate(dyn, np.zeros(2), 1.0)
    swing = gd.simulate(dyn, [-np.pi / 2 + 0.01, 0.0], [0.0, np.pi / np.sqrt(9.81)], p={"a_1": 1.0, "m_1": 2.0})
    assert swing.q[-1, 0] == pytest.approx(-np.pi / 2 - 0.01, abs=1e-6)  # half a period; the angle is small

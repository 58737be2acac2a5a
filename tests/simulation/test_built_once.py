"""What a motion needs is built once: from another start, for another time, under another u the next one builds nothing.

A motion of a robot that has moved before is that of a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.simulation import integration
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

T, X, P = ca.MX.sym("t"), ca.MX.sym("x", 4), ca.MX.sym("p", 2)
GRAPH = ca.Function("u", [T, X], [ca.sin(T) - X[2:]])
GRAPH_OF_P = ca.Function("u", [T, X, P], [P - X[2:]])


def arm() -> gd.NewtonEuler:
    return gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"armature": True})


def standing(**options: Any) -> gd.ConstrainedDynamics:
    """A body with a leg, at the foot of which it is held in two directions, and at a corner by a point."""
    model = pin.Model()
    body = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(body, pin.Inertia(2.0, np.zeros(3), np.diag([0.02, 0.03, 0.04])), pin.SE3.Identity())
    link = model.addJoint(body, pin.JointModelRX(), pin.SE3.Identity(), "leg")
    model.appendBodyToJoint(link, pin.Inertia(0.3, np.array([0, 0, -0.1]), 1e-3 * np.eye(3)), pin.SE3.Identity())
    for name, joint, at in (("foot", link, (0, 0, -0.2)), ("corner", body, (0.2, 0.1, 0))):
        model.addFrame(pin.Frame(name, joint, pin.SE3(np.eye(3), np.array(at)), pin.FrameType.OP_FRAME))
    contacts = [gd.Contact("foot", rows=("x", "z")), gd.Contact("corner", "3D")]
    return gd.ConstrainedDynamics(gd.NewtonEuler(model), contacts, **options)


def assert_same(one: Simulation, other: Simulation) -> None:
    assert one.steps == other.steps
    for name in ("t", "q", "v", "a", "u", "kinetic", "work", "forces", "residual", "p"):
        assert relative_error(getattr(one, name), getattr(other, name)) < 1e-12, name


@pytest.mark.long
@pytest.mark.parametrize(
    "u",
    [
        pytest.param(lambda k: np.full(2, 0.1 * k), marks=pytest.mark.long),
        pytest.param(lambda k: np.full((3, 2), 0.1 * k) * np.arange(3)[:, None], marks=pytest.mark.long),
        pytest.param(lambda k: GRAPH, marks=pytest.mark.long),
        (lambda k: GRAPH_OF_P),
    ],
    ids=["constant", "linear", "feedback", "feedback of p"],
)
@pytest.mark.parametrize("method", quick(["adams", "radau", "rk4"], "adams"))
def test_motions_in_a_loop_build_nothing(method: str, u: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    dyn, options = arm(), {"method": method} | ({"step": 1e-3} if method == "rk4" else {})

    def motion(dyn: gd.NewtonEuler, k: int) -> Simulation:
        x0, t = np.array([0.1 * k, 0.2, 0.3, -0.1]), 0.05 * k + np.array([0, 0.01, 0.02]) * (k + 1)
        return simulate(dyn, x0, t, u(k), p=[0.1 * k, 0.02], **options)

    for k in range(3 if method == "rk4" else 1):  # of steps of fixed length others are more
        motion(dyn, k)

    def again(*arguments: object) -> None:
        raise AssertionError("it is built again")

    fresh = [motion(arm(), k) for k in range(3)]
    monkeypatch.setattr(integration.Integrators, "_new", again)
    monkeypatch.setattr(integration.Radau, "_rates", again)
    for k, expected in enumerate(fresh):
        assert_same(motion(dyn, k), expected)


def test_adams_method_evaluates_nothing_for_the_integrals_alone() -> None:
    dyn = arm()
    motion = simulate(dyn, [0.3, 0.2, 0.1, 0.0], [0, 0.1], method="adams")
    (solver,) = (made for *_, made in integration.plant(dyn).kept._made.values() if isinstance(made, ca.Function))
    assert solver.size1_out("qf") == 0
    assert solver.stats()["n_call_daeF"] < 2 * motion.steps
    assert motion.relative_balance < 1e-6


@pytest.mark.long
def test_steps_of_order_8_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dyn = arm()
    expected = simulate(arm(), [0.3, 0.2, 0.1, 0.0], [0.1, 0.2], [0.5, 0.1], method="dop853")
    simulate(dyn, np.zeros(4), 0.1, method="dop853")
    monkeypatch.delattr(integration.Dop853, "_step")
    assert_same(simulate(dyn, [0.3, 0.2, 0.1, 0.0], [0.1, 0.2], [0.5, 0.1], method="dop853"), expected)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [pytest.param({}, marks=pytest.mark.long), {"stiffness": 100.0, "damping": 20.0}],
    ids=["plain", "stabilised"],
)
def test_contacts_without_an_anchor_are_held_by_one_graph(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are those of the robot with the anchors of the start."""
    con = standing(**options)
    simulate(con, ([0.1, 0.2, 0.3, 0, 0, 0, 1, 0.4], np.zeros(7)), [0, 0.01, 0.02])
    other = np.array([-0.3, 0.1, 0.5, 0, 0.6, 0, 0.8, -0.2])
    v = con.consistent_velocity(other, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    expected = simulate(con.anchored(other), (other, v), [0, 0.1, 0.2])
    monkeypatch.setattr(integration, "_new_plant", None)
    monkeypatch.setattr(integration.Integrators, "_new", None)
    found = simulate(con, (other, v), [0, 0.1, 0.2])
    assert found.p.shape == (0,)
    for name in ("q", "v", "forces", "residual"):  # another graph of the same equations may take other steps
        assert relative_error(getattr(found, name), getattr(expected, name)) < 1e-8, name

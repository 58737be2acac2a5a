"""The step that shows how coarse others are, of what constraints hold: that of forward dynamics, without its graph."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.ocp import Problem
from gdalembert.ocp.system import steps
from gdalembert.ocp.system.system import System
from tests.helpers.linkages import closed_four_bar, four_bar_loop
from tests.helpers.models import relative_error


def one_leg(**options: object) -> gd.ConstrainedDynamics:
    """A free body with a leg, whose foot stands on a point; a rotation and rates of q that are not v."""
    model = pin.Model()
    body = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(body, pin.Inertia(2.0, np.zeros(3), np.diag([0.02, 0.03, 0.04])), pin.SE3.Identity())
    leg = model.addJoint(body, pin.JointModelRX(), pin.SE3.Identity(), "leg")
    model.appendBodyToJoint(leg, pin.Inertia(0.3, np.array([0, 0, -0.1]), 1e-3 * np.eye(3)), pin.SE3.Identity())
    foot = pin.SE3(np.eye(3), np.array([0.05, 0.02, -0.2]))
    model.addFrame(pin.Frame("foot", leg, foot, pin.FrameType.OP_FRAME))
    dyn = gd.NewtonEuler(model, **options)  # type: ignore[arg-type]
    return gd.ConstrainedDynamics(dyn, [gd.Contact("foot", "3D", np.zeros(3))], stiffness=100.0, damping=20.0)


@pytest.mark.parametrize(
    ("options", "p"),
    [
        ({}, []),
        ({"parameters": {"armature": True}}, [0.1] * 7),
        ({"friction": {"leg": gd.Friction(0.1, 0.2, load=0.1)}}, []),
    ],
    ids=["plain", "parameters", "friction under load"],
)
def test_a_step_is_that_of_forward_dynamics(options: dict[str, object], p: list[float]) -> None:
    con, rng = one_leg(**options), np.random.default_rng(0)
    columns = [np.tile(np.array(p)[:, None], (1, 4))] if p else []
    x, u, h = rng.normal(size=(con.nq + con.nv, 4)), rng.normal(size=(con.nu, 4)), np.array([[0.01, 0.02, 0.03, 0.04]])
    expected = steps.rk4(con)(x, u, h, *columns)[0].full()
    assert relative_error(System("test", con).finer(x, u, h, *columns)[0].full(), expected) < 1e-12


@pytest.mark.parametrize("options", [{}, {"friction": {"leg": gd.Friction(0.1, 0.2, load=0.1)}}], ids=["plain", "load"])
def test_kinetic_energies_come_from_the_same_equations(
    options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    con, rng = one_leg(**options), np.random.default_rng(0)
    x = rng.normal(size=(con.nq + con.nv, 4))
    x[3:7] /= np.linalg.norm(x[3:7], axis=0)
    q, v = x[: con.nq], x[con.nq :]
    expected = con.dynamics.kinetic_energy(q, v).full().ravel()
    if not options:
        monkeypatch.setattr(gd.NewtonEuler, "kinetic_energy", None)
    assert relative_error(System("test", con).kinetic_energies(q, v), expected) < 1e-12


def test_where_forces_are_not_determined_there_is_no_step() -> None:
    """The tip of an arm that is stretched out cannot move along it, whatever holds it there."""
    arm = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    finer = System("test", gd.ConstrainedDynamics(arm, [gd.Contact("tip", rows=("x", "z"))])).finer
    assert np.isnan(finer(np.zeros((4, 1)), np.zeros((2, 1)), np.array([[0.01]]))[0].full()).all()


@pytest.mark.long
def test_a_solve_of_what_is_held_builds_no_forward_dynamics(monkeypatch: pytest.MonkeyPatch) -> None:
    con, q = four_bar_loop(), closed_four_bar(0.4)
    problem = Problem(con, 0.2, 4)
    problem.start(q)
    problem.minimize(problem.integral(lambda u, v: u.T @ u + v.T @ v))
    monkeypatch.setattr(gd.ConstrainedDynamics, "_solved", None)
    assert 0 < problem.solve().step_error < 0.01

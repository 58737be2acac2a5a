"""The laws of constrained dynamics, for what Pinocchio has not, or has wrong: beside differences and beside rnea.

Joints whose motion subspace depends on q, mimic joints, parameters, wrenches, force elements, gains, redundancy.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.dynamics.test_derivatives import SEQUENCES
from tests.helpers.models import MIMICABLE, build, placement, relative_error, states
from tests.helpers.sets import quick
from tests.helpers.validated_arms import planar

TIGHT = 1e-11

DERIVATIVES = ("da_dq", "da_dv", "da_dtau", "dforces_dq", "dforces_dv", "dforces_dtau")

Vector = np.ndarray


def check_derivatives(con: gd.ConstrainedDynamics, *arguments: Vector, tolerance: float = TIGHT) -> None:
    """Beside the forward dynamics, differentiated operation by operation along each direction of (q, v, tau)."""
    s = con.symbols("q", "v", "tau", "wrenches")
    nv, x = con.tree.nv, ca.vertcat(s["q"], s["v"], s["tau"])
    directions = ca.SX.sym("d", 3 * nv)
    moved = ca.vertcat(con.tree.tangent_map(s["q"]) @ directions[:nv], directions[nv:])
    rate = ca.jtimes(ca.vertcat(*con.forward_dynamics(*s.values())), x, moved)
    along = ca.Function("along", [*s.values(), directions], [rate])
    wanted = np.column_stack([along(*arguments, unit).full() for unit in np.eye(3 * nv)])
    found = con.forward_dynamics_derivatives.call(list(arguments))
    blocks = [block for rows in np.vsplit(wanted, [nv]) for block in np.hsplit(rows, 3)]
    for name, value, expected in zip(DERIVATIVES, found, blocks, strict=True):
        assert relative_error(value.full(), expected) < tolerance, name
    assert np.array_equal(found[2].full(), found[2].full().T)


def check_laws(con: gd.ConstrainedDynamics, model: pin.Model, contact: str, loop: Sequence[str], seed: int = 0) -> None:
    """Newton's laws by rnea, with the forces of a 3D contact and a 6D loop, and accelerations of the frames."""
    data = model.createData()
    q, v, tau = states(model, np.random.default_rng(seed), 1)[0]
    a, forces = (x.full().ravel() for x in con.forward_dynamics(q, v, tau))
    point, first, second = (model.getFrameId(name) for name in (contact, *loop))
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    classical = pin.getFrameClassicalAcceleration(model, data, point, pin.LOCAL).linear
    assert np.abs(classical).max() < TIGHT * max(1.0, np.abs(a).max())
    second_in_first = data.oMf[first].actInv(data.oMf[second])
    twists = [pin.getFrameVelocity(model, data, k, pin.LOCAL) for k in (first, second)]
    rates = [pin.getFrameAcceleration(model, data, k, pin.LOCAL) for k in (first, second)]
    seen, seen_rate = second_in_first.act(twists[1]), second_in_first.act(rates[1])
    relative = rates[0] - seen_rate + twists[0].cross(seen)  # the rate of V₁ − X V₂
    assert np.abs(relative.vector).max() < TIGHT * max(1.0, np.abs(a).max())
    j = [pin.computeFrameJacobian(model, data, q, k, pin.LOCAL) for k in (point, first, second)]
    pulled = j[0][:3].T @ forces[:3] + (j[1] - second_in_first.action @ j[2]).T @ forces[3:]
    rnea = pin.rnea(model, data, q, v, a)
    assert relative_error(tau + pulled, rnea) < TIGHT
    assert relative_error(con.inverse_dynamics(q, v, a, forces).full().ravel() + pulled, rnea) < TIGHT


def check_joint(formulation: type[gd.Dynamics], model: pin.Model, contact: str) -> None:
    """One constraint of each kind, which share joints."""
    constraints = [gd.Contact(contact, "3D"), gd.Loop("body_2", "body_1", "6D")]
    con = gd.ConstrainedDynamics(formulation(model, clean=0), constraints)
    check_laws(con, model, contact, ("body_2", "body_1"))
    check_derivatives(con, *states(model, np.random.default_rng(0), 1)[0])


@pytest.mark.long
@pytest.mark.parametrize("joint", SEQUENCES)
def test_joints_with_columns_that_turn(joint: str) -> None:
    """On the way to the second frame of the loop, and to the contact."""
    model = build(np.random.default_rng(8), ["Planar", joint, "FreeFlyer"], [0, 1, 1])
    check_joint(gd.LagrangeEuler, model, "body_1")


@pytest.mark.long
@pytest.mark.parametrize("joint", quick(MIMICABLE, "RevoluteUnaligned"))
def test_joints_that_mimic_others(joint: str) -> None:
    """The contact is behind the joint that mimics one of the loop."""
    rng = np.random.default_rng(9)
    model = build(rng, ["Planar", joint, "FreeFlyer"], [0, 1, 1], mimic=2)
    model.addBodyFrame("follower", model.getJointId("mimic"), placement(rng), 0)
    check_joint(gd.NewtonEuler, model, "follower")


FORMULATIONS = quick(sorted(gd.formulations()), "generalized_dalembert")


def robot_with_everything(name: str) -> tuple[gd.Dynamics, pin.Model]:
    """Inputs and forces of every kind, on a base that nothing but constraints holds."""
    model = build(np.random.default_rng(2), ["FreeFlyer", "RX", "Translation"], [0, 1, 1])
    model.armature = np.concatenate([np.zeros(6), model.armature[6:]])
    model.damping = np.arange(model.nv) / 10
    wrenches = {"body_0": pin.WORLD, "body_1": pin.LOCAL, "body_2": pin.LOCAL_WORLD_ALIGNED}
    parameters = {"gravity": True, "inertia": ["RX_1"]}
    springs = {"RX_1": (3.0, 0.1)}
    options = {"springs": springs, "friction": "model", "parameters": parameters, "wrenches": wrenches}
    return gd.formulations()[name](model, clean=0, **options), model


@pytest.mark.parametrize("name", FORMULATIONS)
def test_everything_at_once(name: str) -> None:
    """Gains for each row, a contact with an anchor of its own, and a loop, beside the KKT system of their parts."""
    (dyn, model), rng = robot_with_everything(name), np.random.default_rng(0)
    constraints = [gd.Contact("body_1", anchor=placement(rng)), gd.Loop("body_2", "body_1", "3D")]
    gains = {"stiffness": [rng.uniform(1, 9, size=6), 4.0], "damping": [2.0, rng.uniform(1, 5, size=3)]}
    con = gd.ConstrainedDynamics(dyn, constraints, **gains)
    q, v, tau = states(model, rng, 1)[0]
    p, wrenches = dyn.parameters.values + 0.01, rng.normal(size=(6, 3))
    a, forces = (x.full().ravel() for x in con.forward_dynamics(q, v, tau, wrenches, p))
    j, nv = con.jacobian(q, p).full(), dyn.tree.nv
    bias = dyn.inverse_dynamics(q, v, np.zeros(nv), wrenches, p).full().ravel()
    stiffness = np.concatenate([gains["stiffness"][0], np.full(3, 4.0)])
    damping = np.concatenate([np.full(6, 2.0), gains["damping"][1]])
    error = con.bias_acceleration(q, v, p).full().ravel() + damping * (j @ v)
    error += stiffness * con.residual(q, p).full().ravel()
    kkt = np.block([[dyn.mass_matrix(q, p).full(), -j.T], [j, np.zeros((9, 9))]])
    wanted = np.linalg.solve(kkt, np.concatenate([tau - bias, -error]))
    assert relative_error(np.concatenate([a, forces]), wanted) < TIGHT
    assert relative_error(con.inverse_dynamics(q, v, a, forces, wrenches, p).full().ravel(), tau) < TIGHT
    assert np.abs(con.acceleration_error(q, v, a, p).full()).max() < TIGHT * max(1.0, np.abs(a).max())
    fixed = con.at(p).under(wrenches).forward_dynamics(q, v, tau)
    assert relative_error(ca.vertcat(*fixed).full().ravel(), wanted) < TIGHT
    check_derivatives(con, q, v, tau, wrenches, p)


def test_derivatives_where_a_leg_is_in_the_air() -> None:
    """An effort at that leg moves no constraint but by the base."""
    model = build(np.random.default_rng(3), ["FreeFlyer", "RX", "RY"], [0, 1, 1])
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), [gd.Contact("body_1", "3D")])
    check_derivatives(con, *states(model, np.random.default_rng(0), 1)[0])


@pytest.mark.long
@pytest.mark.parametrize("name", FORMULATIONS)
def test_derivatives_of_redundant_constraints(name: str) -> None:
    """Twelve rows on eight degrees of freedom, which contradict each other as v is not zero."""
    model = build(np.random.default_rng(3), ["FreeFlyer", "RX", "RY"], [0, 1, 1])
    constraints = [gd.Contact("body_1"), gd.Contact("body_2")]
    con = gd.ConstrainedDynamics(gd.formulations()[name](model, clean=0), constraints, regularization=0.01)
    state = states(model, np.random.default_rng(0), 1)[0]
    check_derivatives(con, *state)


@pytest.mark.long
@pytest.mark.parametrize("exact", quick([True, False], False))
def test_derivatives_of_flexible_arms(exact: bool) -> None:
    """The tip of a planar arm is held; across the plane that is redundant."""
    arm = planar(exact=exact)
    tip = arm.nominal.frames[-1].name
    con = gd.ConstrainedDynamics(arm, [gd.Contact(tip, "3D")], regularization=0.01)
    check_derivatives(con, *0.1 * np.random.default_rng(0).normal(size=(3, arm.tree.nv)))

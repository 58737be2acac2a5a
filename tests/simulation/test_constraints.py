"""Motions of robots that constraints hold: drift, energies, forces, and the states that they may begin from."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.errors import ArgumentError, SimulationWarning
from gdalembert.simulation.integration import plant
from gdalembert.simulation.simulate import warn
from tests.helpers.linkages import BASE, COUPLER, CRANK, ROCKER, closed_four_bar, five_bar_loop, four_bar_loop, linkage
from tests.helpers.models import inertia, placement, relative_error

T = 0.02
STABILISED: dict[str, Any] = {"stiffness": 1 / T**2, "damping": 2 / T}
DRIFT = 1e-9
"""m: what the constraints may drift by, stabilised, in two seconds with the default tolerances."""
BALANCED = 1e-7
"""Part of the energy exchanged, with the default tolerances of 1e-9 of the state."""


def swinging(crank: float = 0.4, speed: float = 3.0, **options: Any) -> tuple[gd.ConstrainedDynamics, Any]:
    con, q = four_bar_loop(**options), closed_four_bar(crank)
    return con, (q, con.consistent_velocity(q, [speed, 0, 0], hold=["crank"]))


@pytest.fixture(scope="module")
def swing() -> gd.Simulation:
    con, start = swinging(**STABILISED)
    return gd.simulate(con, start, 2.0)


def test_a_four_bar_linkage_stays_closed_and_keeps_its_energy(swing: gd.Simulation) -> None:
    assert swing.method == "adams"
    assert swing.constraint_drift.max() < DRIFT
    assert relative_error(swing.q, [closed_four_bar(crank) for crank in swing.q[:, 0]]) < 10 * DRIFT  # a lever of 0.1
    assert np.abs(swing.energy - swing.energy[0]).max() < BALANCED * swing.exchanged
    assert swing.relative_balance < BALANCED
    assert np.ptp(swing.q[:, 0]) > 1


def test_a_linkage_moves_alike_wherever_it_is_cut(swing: gd.Simulation) -> None:
    """Cut at the end of the crank instead, its coupler is a link of the rocker."""
    model = linkage({0.0: [("crank", CRANK)], BASE: [("rocker", ROCKER), ("coupler", COUPLER)]})
    loop = gd.Loop("crank end", "coupler end", "3D")
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [loop], regularization=1e-6, **STABILISED)
    crank, coupler, rocker = swing.q[0]
    q = con.closed_configuration([crank, rocker, crank + coupler - rocker + np.pi], hold=["crank"])
    motion = gd.simulate(con, (q, con.consistent_velocity(q, [3, 0, 0], hold=["crank"])), swing.t)
    assert relative_error(motion.q[:, [0, 1]], swing.q[:, [0, 2]]) < 1e-7  # tolerances over two seconds
    # the coupler is held by the crank there and by the rocker here: both forces and its weight move its mass
    here, there = world_force(con, motion, "crank"), world_force(four_bar_loop(), swing, "coupler")
    acceleration = mass_center_acceleration(swing)
    weight = np.array([0, -9.81 * COUPLER, 0])
    assert relative_error(-here + there + weight, COUPLER * acceleration) < 1e-5  # of accelerations by differences


def world_force(con: gd.ConstrainedDynamics, motion: gd.Simulation, link: str) -> np.ndarray:
    """The force on the end of a bar, in the axes of the universe, a row for each time."""
    place = gd.Kinematics(con.dynamics.tree).frame_placement(f"{link} end")
    return np.array([place(q).full()[:3, :3] @ f for q, f in zip(motion.q, motion.forces, strict=True)])


def mass_center_acceleration(motion: gd.Simulation) -> np.ndarray:
    """That of the coupler, from a and v of the joints."""
    (first, second), (v1, v2), (a1, a2) = ((x[:, 0], x[:, 0] + x[:, 1]) for x in (motion.q, motion.v, motion.a))
    turning = CRANK * (1j * a1 - v1**2) * np.exp(1j * first) + COUPLER / 2 * (1j * a2 - v2**2) * np.exp(1j * second)
    return np.column_stack([turning.real, turning.imag, np.zeros(len(turning))])


@pytest.mark.long
def test_a_five_bar_robot_is_driven_in_closed_loop() -> None:
    con = five_bar_loop(**STABILISED)
    q = con.closed_configuration([2.0, -1.0, 1.0, 1.0], hold=["a1", "b1"])
    assert con.degrees_of_freedom(q) == 2
    servo = lambda t, q, v: [5 * (np.sin(2 * t)) - v[0], 5 * np.cos(3 * t) - v[2]]  # noqa: E731
    motion = gd.simulate(con, (q, np.zeros(4)), 2.0, servo)
    assert motion.constraint_drift.max() < DRIFT
    assert motion.relative_balance < BALANCED
    assert motion.u.shape == (101, 2)
    assert np.abs(motion.work).max() > 0.1


def test_drift_is_reported_and_its_work_is_in_the_balance() -> None:
    """So much regularization lets the loop slip; the balance closes, since it has the work of its forces."""
    con, start = swinging()
    soft = gd.ConstrainedDynamics(con.dynamics, con.constraints, regularization=1.0)
    with pytest.warns(SimulationWarning, match=r"the constraints drift by \S+ m or rad; give them stiffness=1/T²"):
        motion = gd.simulate(soft, start, 2.0)
    assert motion.constraint_drift.max() > 1e-4
    assert np.abs(motion.constraint_work).max() > 1e-3 * motion.exchanged
    assert motion.relative_balance < BALANCED


def test_what_is_open_a_little_closes() -> None:
    con, (q, v) = swinging(**STABILISED)
    motion = gd.simulate(con, (q + np.array([0, 1e-7, 0]), v), 1.0)
    drift = motion.constraint_drift
    assert 1e-8 < drift[0] < 1e-7
    assert drift[motion.t > 20 * T].max() < DRIFT
    assert motion.relative_balance < BALANCED


def test_a_body_held_at_a_point_moves_as_on_a_ball_joint() -> None:
    rng = np.random.default_rng(0)
    body, foot = inertia(rng), placement(rng)
    free, held = pin.Model(), pin.Model()
    joint = free.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    free.appendBodyToJoint(joint, body, pin.SE3.Identity())
    free.addFrame(pin.Frame("foot", joint, 0, foot, pin.OP_FRAME))
    joint = held.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    held.appendBodyToJoint(joint, body, foot.inverse())
    q = pin.integrate(free, pin.neutral(free), rng.normal(size=6))
    con = gd.ConstrainedDynamics(gd.NewtonEuler(free), [gd.Contact("foot", "3D")], **STABILISED)
    v = con.consistent_velocity(q, rng.normal(size=6))
    motion = gd.simulate(con, (q, v), 1.0)
    turned = pin.Quaternion(pin.XYZQUATToSE3(q).rotation @ foot.rotation)
    ball = gd.simulate(gd.NewtonEuler(held), (turned.coeffs(), foot.rotation.T @ v[3:]), 1.0, method="radau")
    for one, other in zip(motion.q, ball.q, strict=True):
        found = pin.XYZQUATToSE3(one).rotation @ foot.rotation
        assert relative_error(found, pin.Quaternion(other).toRotationMatrix()) < 1e-7  # tolerances over 1 s
    assert motion.constraint_drift.max() < DRIFT
    assert motion.residual.shape == motion.forces.shape == (101, 3)


def test_parameters_are_given_to_constrained_robots_too() -> None:
    model = linkage({0.0: [("crank", CRANK), ("coupler", COUPLER)], BASE: [("rocker", ROCKER)]})
    loop, options = gd.Loop("coupler end", "rocker end", "3D"), {"regularization": 1e-6} | STABILISED
    dyn = gd.NewtonEuler(model, parameters={"payload": ["crank end"]})
    con = gd.ConstrainedDynamics(dyn, [loop], **options)
    q = closed_four_bar(0.4)
    motion = gd.simulate(con, (q, np.zeros(3)), 0.5, p={"crank end.m": 2.0})
    loaded = gd.simulate(con.at({"crank end.m": 2.0}), (q, np.zeros(3)), 0.5)
    assert relative_error(motion.q, loaded.q) < 1e-9  # both in the same steps
    assert relative_error(motion.forces, loaded.forces) < 1e-7
    assert plant(con) is plant(con)


def test_wrenches_act_on_constrained_robots_too() -> None:
    """A force across the end of the rocker, or the torque that it has about its joint."""
    con, (q, v) = swinging(**STABILISED)
    pushed = gd.NewtonEuler(con.dynamics.tree, wrenches={"rocker end": pin.LOCAL})
    held = gd.ConstrainedDynamics(pushed, con.constraints, regularization=1e-6, **STABILISED)
    motion = gd.simulate(held, (q, v), 0.5, wrenches=[0, 4.0, 0, 0, 0, 0])
    torque = gd.simulate(con, (q, v), 0.5, [0, 0, 4.0 * ROCKER])
    assert relative_error(motion.q, torque.q) < 1e-9  # both in the same steps
    assert relative_error(motion.work, torque.work) < 1e-9
    assert motion.relative_balance < BALANCED


def test_feedback_may_be_a_graph() -> None:
    con, (q, v) = swinging(**STABILISED)
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 6)
    law = ca.Function("u", [t, x], [ca.vertcat(-2 * x[3], 0, 0)])
    graph = gd.simulate(con, (q, v), 0.5, law)
    python = gd.simulate(con, (q, v), 0.5, lambda t, q, v: [-2 * v[0], 0, 0])
    assert relative_error(graph.q, python.q) < 1e-7
    assert graph.relative_balance < BALANCED


def test_states_that_violate_constraints_are_refused() -> None:
    con, (q, v) = swinging()
    with pytest.raises(
        ArgumentError, match=r"^simulate: q violates Loop\('coupler end', .*\) by 0\.0\d+ m; take closed"
    ):
        gd.simulate(con, (q + np.array([0, 0.1, 0]), v), 1.0)
    with pytest.raises(
        ArgumentError, match=r"^simulate: v violates Loop\(.*\) by 3\.\d+ m/s; take consistent_velocity"
    ):
        gd.simulate(con, (q, [0, 0, 5.5]), 1.0)


def test_redundant_constraints_without_regularization_are_refused_where_they_are_so() -> None:
    """A chain of two bars ends where a third one does: one row is redundant where all lie in a line."""
    model = pin.Model()
    joints = {}
    bars = (("upper", None, 0.0, 0.0), ("fore", "upper", 1.5, -0.5), ("strut", None, 2.0, -1.0))
    for name, parent, x, length in bars:
        at = pin.SE3(np.eye(3), np.array([x, 0, 0]))
        joints[name] = model.addJoint(joints.get(parent, 0), pin.JointModelSpherical(), at, name)
        model.appendBodyToJoint(joints[name], pin.Inertia.Random(), pin.SE3.Identity())
        end = pin.SE3(np.eye(3), np.array([length, 0, 0]))
        model.addFrame(pin.Frame(f"end of {name}", joints[name], 0, end, pin.OP_FRAME))
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Loop("end of fore", "end of strut", "3D")])
    message = r"^simulate: Loop\('end of fore', .*\): 1 of its 3 rows is redundant at this q, .*; give regularization"
    with pytest.raises(ArgumentError, match=message):
        gd.simulate(con, (pin.neutral(model), np.zeros(9)), 1.0)
    con.check_state("simulate", con.closed_configuration(pin.randomConfiguration(model)), np.zeros(9))


def test_forces_that_are_not_determined_later_are_a_warning(swing: gd.Simulation) -> None:
    forces = swing.forces.copy()
    forces[7] = np.nan
    with pytest.warns(SimulationWarning, match=f"are redundant at t = {swing.t[7]:g} s, .* regularization"):
        warn(replace(swing, forces=forces), 0.0, 0.0)


def test_the_result_says_how_far_it_drifts(swing: gd.Simulation) -> None:
    assert "constraints          forces up to" in str(swing)
    assert json.loads(json.dumps(swing.to_dict()))["residual"] == swing.residual.tolist()
    copy = pickle.loads(pickle.dumps(swing))
    np.testing.assert_array_equal(copy.forces, swing.forces)
    assert not swing.forces.flags.writeable
    free = gd.simulate(gd.NewtonEuler(linkage({0.0: [("crank", CRANK)]})), np.zeros(2), 0.1)
    assert free.forces.shape == free.residual.shape == (101, 0)
    assert "constraints" not in str(free)
    assert not free.constraint_drift.any()
    assert not free.constraint_work.any()


@pytest.mark.long
@pytest.mark.extras
def test_talos_stands_on_both_feet() -> None:
    """It is pushed down and held by a servo at the joints of its legs, arms and torso."""
    model = robots.load("talos")
    q = pin.neutral(model)
    for side in ("left", "right"):
        for k, angle in ((3, -0.4), (4, 0.8), (5, -0.4)):
            q[model.joints[model.getJointId(f"leg_{side}_{k}_joint")].idx_q] = angle
    dyn = gd.NewtonEuler(model, actuation=np.eye(model.nv)[:, 6:])
    feet = [gd.Contact("left_sole_link"), gd.Contact("right_sole_link")]
    con = gd.ConstrainedDynamics(dyn, feet, **STABILISED).anchored(q)
    assert con.degrees_of_freedom(q) == model.nv - 12
    actuated = np.hstack([dyn.actuation, con.jacobian(q).full().T])
    holding = np.linalg.lstsq(actuated, dyn.generalized_gravity(q).full().ravel(), rcond=None)[0][: dyn.nu]
    x = ca.MX.sym("x", model.nq + model.nv)
    servo = holding - 500 * (x[7 : model.nq] - q[7:]) - 20 * x[model.nq + 6 :]
    law = ca.Function("u", [ca.MX.sym("t"), x], [servo])
    v = con.consistent_velocity(q, [0, 0, -0.3, *np.zeros(model.nv - 3)])
    motion = gd.simulate(con, (q, v), 2.0, law)
    assert motion.constraint_drift.max() < DRIFT
    assert motion.relative_balance < BALANCED
    kin, weight = gd.Kinematics(model), model.gravity.linear * gd.Kinematics(model).total_mass
    rates = kin.centroidal_momentum_rate(motion.q.T, motion.v.T, motion.a.T).full()[:3].T
    axes = [kin.frame_placement(foot.frame)(q).full()[:3, :3] for foot in feet]
    pushed = motion.forces[:, :3] @ axes[0].T + motion.forces[:, 6:9] @ axes[1].T
    assert relative_error(pushed + weight, rates) < 1e-7  # the soles turn by as much as they drift


@pytest.mark.long
def test_methods_for_slow_and_for_fast_stabilisation() -> None:
    for damping, method in ((100.0, "adams"), (1e4, "radau")):
        con, x0 = swinging(damping=damping)
        assert gd.simulate(con, x0, 0.01).method == method

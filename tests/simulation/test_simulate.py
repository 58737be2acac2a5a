"""simulate: laws of motion, agreement with other integrations, all forms of u, and what it says where it stops."""

from __future__ import annotations

import json
import pickle
import sys
from functools import cache
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, SimulationError, SimulationWarning
from gdalembert.model.configuration import lengths, unit_blocks
from gdalembert.simulation.integration import plant
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from tests.helpers.models import build, relative_error, states
from tests.helpers.sets import quick
from tests.helpers.terminals import Terminal

TIGHT: dict[str, Any] = {"reltol": 1e-11, "abstol": 1e-13}
SECOND = np.linspace(0, 1, 51)

METHODS: dict[str, dict[str, Any]] = {
    "adams": TIGHT,
    "bdf": TIGHT,
    "idas": TIGHT,
    "radau": TIGHT,
    "dop853": TIGHT,
    "rk4": {"step": 1e-3},
    "collocation": {"step": 1e-2},
}


def pendulum(joint: pin.JointModel | None = None, *, gravity: float = -9.81) -> pin.Model:
    """1 kg on a massless rod of 1 m that turns about the x axis."""
    model = pin.Model()
    model.name = "pendulum"
    index = model.addJoint(0, joint or pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    bob = pin.Inertia(1.0, np.array([0.0, 0.0, -1.0]), np.zeros((3, 3)))
    model.appendBodyToJoint(index, bob, pin.SE3.Identity())
    model.gravity.linear = np.array([0, 0, gravity])
    return model


PENDULUM = gd.NewtonEuler(pendulum())
CIRCLE = gd.NewtonEuler(pendulum(pin.JointModelRUBX()))
FLOATING = gd.NewtonEuler(pendulum(gravity=0.0))


@cache
def puma() -> Dynamics:
    return gd.NewtonEuler(gd.load_urdf("puma560"))


@cache
def two_link_arm() -> Dynamics:
    return gd.NewtonEuler(gd.load_urdf("two_link_arm"))


@cache
def beam_arm(*, damping: float = 0.0) -> gd.FlexibleArm:
    """Two beams; the second joint gives way."""
    model = gd.load_urdf("two_link_flexible")
    model.gravity.linear = np.array([0, -9.81, 0])
    links = {
        name: gd.FlexibleLink(gd.Beam(length, mu, EI_z=20.0), bending_y=gd.modes.hermite(), rayleigh=(0.0, damping))
        for name, length, mu in (("link1", 1.0, 0.6), ("link2", 0.8, 0.45))
    }
    joint = gd.FlexibleJoint(80.0, rotor_inertia=0.05, damping=100 * damping)
    return gd.FlexibleArm(model, links, {"joint2": joint})


def runge_kutta(model: pin.Model, x0: Array, times: Array, steps: int, torque: Any) -> Array:
    """x at the times, with pin.aba and so many steps between two of them; v = dq/dt."""
    data, nv = model.createData(), model.nv

    def rate(t: float, x: Array) -> Array:
        return np.concatenate([x[nv:], pin.aba(model, data, x[:nv], x[nv:], torque(t))])

    x, found = x0, [x0]
    for start, stop in pairwise(times):
        h = (stop - start) / steps
        for t in start + h * np.arange(steps):
            k1 = rate(t, x)
            k2 = rate(t + h / 2, x + h / 2 * k1)
            k3 = rate(t + h / 2, x + h / 2 * k2)
            k4 = rate(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        found.append(x)
    return np.array(found)


# Laws.


@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_keeps_its_energy_and_its_period(method: str) -> None:
    """The period from 90° is 4 K(1/√2) √(l/g), K the complete elliptic integral: Γ(1/4)² / (4 √π)."""
    period = 4 * 1.8540746773013719 / np.sqrt(9.81)
    motion = simulate(PENDULUM, [np.pi / 2, 0], [0, period / 2, period], method=method, **METHODS[method])
    assert motion.method == method
    assert motion.steps > 20
    assert motion.q[:, 0] == pytest.approx([np.pi / 2, -np.pi / 2, np.pi / 2], abs=1e-9)
    assert motion.relative_balance < 1e-9  # steps are right to 1e-11, and hundreds
    assert not motion.work.any()


def test_the_puma_swings_as_by_runge_kutta_on_pinocchio() -> None:
    model = gd.load_urdf("puma560")
    x0 = np.concatenate([np.full(6, 0.1), np.zeros(6)])
    torque = np.array([5.0, -20.0, 3.0, 0.5, -0.5, 0.2])
    expected = runge_kutta(model, x0, SECOND, 40, lambda t: torque * np.cos(3 * t))
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 12)
    u = ca.Function("u", [t, x], [torque * ca.cos(3 * t)])
    motion = simulate(gd.NewtonEuler(model, clean=0), (x0[:6], x0[6:]), SECOND, u, **TIGHT)
    assert relative_error(motion.x, expected) < 1e-8  # of fixed steps of 0.5 ms
    assert motion.relative_balance < 1e-9
    assert abs(motion.work[-1]) > 1
    data = model.createData()
    for q, v, a, u_now in zip(motion.q, motion.v, motion.a, motion.u, strict=True):
        assert relative_error(a, pin.aba(model, data, q, v, u_now)) < 1e-9


def tumbling() -> pin.Model:
    """A free body that carries another on a ball joint, without gravity."""
    rng = np.random.default_rng(3)
    model = build(rng, ("FreeFlyer", "Spherical", "RUBZ"), (0, 1, 2))
    model.gravity = pin.Motion.Zero()
    return model


def test_what_tumbles_keeps_energy_momentum_and_unit_quaternions() -> None:
    model = tumbling()
    model.armature = np.zeros(model.nv)  # a rotor's inertia is not part of the momentum
    q, v, _ = states(model, np.random.default_rng(1), 1)[0]
    motion = simulate(gd.LagrangeEuler(model), (q, 3 * v), np.linspace(0, 5, 26), **TIGHT)
    data, momenta = model.createData(), []
    for q, v in zip(motion.q, motion.v, strict=True):
        about_com = pin.computeCentroidalMomentum(model, data, q, v).copy()
        momenta.append(pin.SE3(np.eye(3), data.com[0]).act(about_com).vector)
    assert relative_error(np.array(momenta), np.tile(momenta[0], (len(momenta), 1))) < 1e-8
    assert motion.relative_balance < 1e-8
    assert np.ptp(motion.kinetic) < 1e-8 * motion.kinetic[0]
    blocks = unit_blocks(gd.LagrangeEuler(model).tree)
    assert [stop - start for _, start, stop in blocks] == [4, 4, 2]
    assert np.abs(lengths(motion.q, blocks) - 1).max() < 1e-15
    assert 0 < motion.length_drift.max() < 1e-8


@pytest.mark.parametrize(
    "name", quick(["RUBX", "Spherical", "Planar", "FreeFlyer", "Composite"], "FreeFlyer", "Composite")
)
def test_a_length_that_drifts_turns_nothing_aside(name: str) -> None:
    """The rates of directions and of all else are those of unit lengths."""
    rng = np.random.default_rng(0)
    model = build(rng, (name, "RX"), (0, 1))
    dyn = gd.NewtonEuler(model)
    blocks = unit_blocks(dyn.tree)
    assert blocks
    body = plant(dyn)
    q, v, u = states(model, rng, 1)[0]
    expected = body.flow(np.concatenate([q, v]), u)[0].full().ravel()
    assert relative_error(expected, dyn.state_derivative(np.concatenate([q, v]), u).full().ravel()) < 1e-14
    long = q.copy()
    for _, start, stop in blocks:
        long[start:stop] *= 1.3
        expected[start:stop] *= 1.3
    assert relative_error(body.flow(np.concatenate([long, v]), u)[0].full().ravel(), expected) < 1e-13


def test_the_drift_of_a_length_is_that_before_it_is_mended() -> None:
    """A step h of Runge and Kutta multiplies (cos, sin) that turns by ω with √(1 − z⁶/72 + z⁸/576), z = ω h."""
    dyn = gd.NewtonEuler(pendulum(pin.JointModelRUBX(), gravity=0.0))
    z = 2.5 * 0.2
    motion = simulate(dyn, [1.0, 0.0, 2.5], [0.0, 0.2], method="rk4", step=0.2)
    expected = 1 - np.sqrt(1 - z**6 / 72 + z**8 / 576)
    assert motion.length_drift == pytest.approx([0, expected], rel=1e-9)
    assert np.linalg.norm(motion.q[-1]) == pytest.approx(1, abs=1e-15)


def test_three_steps_are_three() -> None:
    """0.1 · 3 is 0.30000000000000004, which is not a fourth step."""
    times = np.array([0.0, 0.1 * 3])
    motion = simulate(PENDULUM, [1.0, 0.0], times, method="rk4", step=0.1)
    assert motion.steps == 3
    expected = runge_kutta(pendulum(), np.array([1.0, 0.0]), times, 3, lambda t: np.zeros(1))
    assert relative_error(motion.x, expected) < 1e-13


def test_a_continuous_joint_moves_as_an_angle() -> None:
    """Over the top, several turns."""
    angle = simulate(PENDULUM, [0.3, 9.0], 4.0, [0.5], **TIGHT)
    circle = simulate(CIRCLE, [np.cos(0.3), np.sin(0.3), 9.0], 4.0, [0.5], **TIGHT)
    assert angle.q[-1, 0] > 4 * np.pi
    assert relative_error(circle.q, np.hstack([np.cos(angle.q), np.sin(angle.q)])) < 1e-8
    assert relative_error(circle.v, angle.v) < 1e-8
    q, _ = circle.at(np.linspace(0, 4, 333))
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-15


# Flexible arms.


def test_actuators_of_a_flexible_arm() -> None:
    """tau = B u: the second acts on the rotor; and what it does is the energy that comes in."""
    arm = beam_arm()
    nq, nv = arm.tree.nq, arm.tree.nv
    motion = simulate(arm, np.zeros(nq + nv), SECOND, [2.0, -1.0], reltol=1e-10, abstol=1e-12)
    assert motion.method == "adams"
    for q, v, a in zip(motion.q, motion.v, motion.a, strict=True):
        tau = arm.inverse_dynamics(q, v, a).full().ravel()
        assert relative_error(tau, arm.actuation @ [2.0, -1.0]) < 1e-9  # M is worse conditioned than that of rigid arms
    rotor = arm.layout.index("joint2") if "joint2" not in arm.flexibility.rotors else nv - 1
    work = 2.0 * motion.q[-1, 0] - motion.q[-1, rotor]
    assert motion.work[-1] == pytest.approx(work, rel=1e-9)
    assert motion.relative_balance < 1e-9


@pytest.mark.long
def test_dampers_take_what_is_lost() -> None:
    arm = beam_arm(damping=2e-2)
    x0 = np.zeros(arm.tree.nq + arm.tree.nv)
    x0[0] = 0.4
    motion = simulate(arm, x0, SECOND, reltol=1e-10, abstol=1e-12)
    assert motion.method == "radau"
    assert np.all(np.diff(motion.dissipated) > 0)
    assert motion.dissipated[-1] > 1e-3 * motion.exchanged
    assert motion.relative_balance < 1e-8
    assert np.abs(motion.energy - motion.energy[0]).max() > 1e3 * motion.max_balance
    power = np.einsum("ij,jk,ik->i", motion.v, arm.damping_matrix, motion.v)
    rates = np.gradient(motion.dissipated, motion.t)
    assert rates[1:-1] == pytest.approx(power[1:-1], rel=0.5, abs=0.05 * power.max())


# Forms of u.


def test_what_means_the_same_gives_the_same() -> None:
    dyn = puma()
    x0 = np.zeros(12)
    torque = np.array([5.0, -20.0, 3.0, 0.5, -0.5, 0.2])
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 12)
    forms: list[tuple[Any, bool]] = [
        (torque, False),
        (torque.tolist(), False),
        (np.tile(torque, (len(SECOND), 1)), False),
        (np.tile(torque, (len(SECOND), 1)), True),
        (ca.Function("u", [t, x], [ca.DM(torque)]), False),
        (lambda t, q, v: torque, False),
        (lambda t, q, v: torque, True),
    ]
    motions = [simulate(dyn, x0, SECOND, u, hold=hold, **TIGHT) for u, hold in forms]
    for motion in motions[1:]:
        assert relative_error(motion.x, motions[0].x) < 1e-9
        assert relative_error(motion.u, motions[0].u) < 1e-15
        assert relative_error(motion.work, motions[0].work) < 1e-9


def test_none_is_zero() -> None:
    dyn = puma()
    assert np.array_equal(simulate(dyn, np.zeros(12), 0.5).x, simulate(dyn, np.zeros(12), 0.5, np.zeros(6)).x)


def test_rows_are_joined_by_straight_lines() -> None:
    """Of 1 kg m² without gravity: v = ∫ u dt by the trapezoidal rule, exactly; and a is u."""
    times = np.array([0.0, 0.3, 0.4, 1.0])
    rows = np.array([[0.0], [2.0], [-1.0], [3.0]])
    motion = simulate(FLOATING, [0, 0], times, rows, **TIGHT)
    expected = np.concatenate([[0], np.cumsum(np.diff(times) * (rows[1:, 0] + rows[:-1, 0]) / 2)])
    assert motion.v[:, 0] == pytest.approx(expected, abs=1e-11)
    assert np.array_equal(motion.u, rows)
    assert np.array_equal(motion.a, motion.a_before)
    # v is quadratic between the rows, which the interpolation has exactly
    assert motion.at(0.35)[1] == pytest.approx(expected[1] + 0.05 * (2 + 0.5) / 2, abs=1e-11)


def test_rows_are_held() -> None:
    times = np.array([0.0, 0.3, 0.4, 1.0])
    rows = np.array([[1.0], [2.0], [-1.0], [3.0]])
    motion = simulate(FLOATING, [0, 0], times, rows, hold=True, **TIGHT)
    expected = np.concatenate([[0], np.cumsum(np.diff(times) * rows[:-1, 0])])
    assert motion.v[:, 0] == pytest.approx(expected, abs=1e-11)
    assert motion.a[:, 0] == pytest.approx(rows[:, 0], abs=1e-14)
    assert motion.a_before[1:, 0] == pytest.approx(rows[:-1, 0], abs=1e-14)
    assert motion.at(0.37)[1] == pytest.approx(expected[1] + 0.07 * 2, abs=1e-11)
    assert motion.relative_balance < 1e-11


def test_feedback_is_continuous_or_sampled() -> None:
    """u = −v: v = e^−t, or (1 − h)^k."""

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -v

    times = np.linspace(0, 1, 11)
    continuous = simulate(FLOATING, ([0.0], [1.0]), times, law, **TIGHT)
    assert continuous.v[:, 0] == pytest.approx(np.exp(-times), abs=1e-10)
    sampled = simulate(FLOATING, ([0.0], [1.0]), times, law, hold=True, **TIGHT)
    assert sampled.v[:, 0] == pytest.approx(0.9 ** np.arange(11), abs=1e-11)
    assert sampled.u[:, 0] == pytest.approx(-(0.9 ** np.arange(11)), abs=1e-11)
    for method in ("bdf", "idas", "collocation"):  # these take derivatives of it
        other = simulate(FLOATING, ([0.0], [1.0]), times, law, method=method, **METHODS[method])
        assert other.v[:, 0] == pytest.approx(np.exp(-times), abs=1e-8)


@pytest.mark.parametrize("hold", [False, True])
def test_feedback_is_given_configurations_of_unit_length(hold: bool) -> None:
    seen = []

    def law(t: float, q: Array, v: Array) -> Array:
        seen.append(np.linalg.norm(q))
        q[:] = np.nan  # a copy
        return np.zeros(1)

    simulate(CIRCLE, [1.0, 0.0, 8.0], 3.0, law, hold=hold, reltol=1e-4, abstol=1e-6)
    assert np.abs(np.array(seen) - 1).max() < 1e-15


def test_a_sampled_callable_may_remember() -> None:
    """Asked once at each output time; here u is the number of the call."""
    asked: list[float] = []

    def law(t: float, q: Array, v: Array) -> list[float]:
        asked.append(t)
        return [float(len(asked))]

    motion = simulate(FLOATING, [0, 0], [0.0, 0.5, 0.75, 2.0], law, hold=True, **TIGHT)
    assert asked == motion.t.tolist()
    assert motion.u[:, 0].tolist() == [1, 2, 3, 4]
    assert motion.v[:, 0] == pytest.approx([0, 0.5, 1.0, 4.75], abs=1e-11)


def test_a_digital_controller_has_a_rate_of_its_own() -> None:
    """u = −v, sampled: v = (1 − h)^k whatever the output times are, on samples or between them."""
    asked: list[float] = []

    def law(t: float, q: Array, v: Array) -> Array:
        asked.append(t)
        return -v

    times = np.array([2.0, 2.3, 2.35, 3.0])
    motion = simulate(FLOATING, ([0.0], [1.0]), times, law, period=0.1, **TIGHT)
    assert np.array(asked) == pytest.approx(2 + 0.1 * np.arange(11), abs=1e-14)
    assert motion.t.tolist() == times.tolist()
    assert motion.v[:, 0] == pytest.approx([1, 0.9**3, 0.95 * 0.9**3, 0.9**10], abs=1e-10)
    assert motion.u[:, 0] == pytest.approx([-1, -(0.9**3), -(0.9**3), -(0.9**10)], abs=1e-10)
    assert motion.a_before[:, 0] == pytest.approx([-1, -(0.9**2), -(0.9**3), -(0.9**9)], abs=1e-10)
    assert motion.relative_balance < 1e-9
    coarse = simulate(FLOATING, ([0.0], [1.0]), [0.0, 1.0], law, period=0.3, **TIGHT)
    assert coarse.v[-1, 0] == pytest.approx(0.7**3 * 0.9, abs=1e-10)  # the last sample is held for 0.1 s


# Times and what lies between.


def test_an_end_is_a_hundred_and_one_times() -> None:
    motion = simulate(PENDULUM, [1.0, 0.0], 2)
    assert np.array_equal(motion.t, np.linspace(0, 2, 101))
    for array in (motion.q, motion.v, motion.a, motion.u, motion.kinetic, motion.balance, motion.length_drift):
        assert len(array) == 101


def test_time_may_start_anywhere() -> None:
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 2)
    u = ca.Function("u", [t, x], [t])
    motion = simulate(FLOATING, [0.0, 0.0], [2.0, 3.0], u, **TIGHT)
    assert motion.v[-1, 0] == pytest.approx(2.5, abs=1e-11)


def test_interpolation_is_of_fourth_order() -> None:
    times = np.linspace(0, 2, 801)
    fine = simulate(PENDULUM, [2.0, 0.0], times, **TIGHT)
    errors = []
    for n in (51, 101):
        q, v = simulate(PENDULUM, [2.0, 0.0], np.linspace(0, 2, n), **TIGHT).at(times)
        errors.append(max(np.abs(q - fine.q).max(), np.abs(v - fine.v).max()))
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.15)


def test_at_takes_one_time_or_many() -> None:
    motion = simulate(PENDULUM, [1.0, 0.0], 1.0)
    q, v = motion.at(motion.t)
    assert np.array_equal(q, motion.q)
    assert np.array_equal(v, motion.v)
    assert motion.at(0.5)[0].shape == (1,)
    for wrong in (-0.1, 1.1, [[0.1]], np.nan):
        with pytest.raises(ArgumentError, match="at: t"):
            motion.at(wrong)


# Results.


def test_results_print_pickle_and_become_json() -> None:
    motion = simulate(gd.NewtonEuler(tumbling()), pin.neutral(tumbling()).tolist() + [0.5] * 10, 0.2)
    text = str(motion)
    assert "random: 0 to 0.2 s at 101 times by adams" in text
    assert "balance" in text
    assert "unit lengths" in text
    again = pickle.loads(pickle.dumps(motion))
    assert json.dumps(again.to_dict()) == json.dumps(motion.to_dict())
    assert str(again) == text
    with pytest.raises(ValueError, match="read-only"):
        motion.q[0] = 1
    with pytest.raises(AttributeError):
        motion.t = motion.q  # type: ignore[misc]


def test_a_robot_at_rest_balances() -> None:
    motion = simulate(FLOATING, [0.0, 0.0], 1.0)
    assert motion.relative_balance == 0
    assert motion.exchanged == 0


def test_a_robot_that_hardly_moves_is_at_rest() -> None:
    """Its energies are errors of its configuration, which need not balance: no warning."""
    held = gd.NewtonEuler(pendulum(gravity=0.0), springs={"hinge": (1000.0, 0.0)})
    motion = simulate(held, [1e-14, 0.0], 1.0)
    assert 0 < motion.exchanged < 1e-20
    assert motion.relative_balance > 1e-3


def test_the_range_of_the_energies_is_printed() -> None:
    motion = simulate(PENDULUM, [1.0, 0.0], 1.5)
    text = str(motion)
    for name in ("kinetic", "potential"):
        energy = getattr(motion, name)
        assert not np.isclose(energy.max(), energy[-1])
        assert f"between {energy.min():.4g} and {energy.max():.4g} J" in text


def test_what_does_not_balance_is_said() -> None:
    with pytest.warns(SimulationWarning, match="pendulum: .* J of the energies do not balance.*a shorter step"):
        simulate(PENDULUM, [2.0, 0.0], np.linspace(0, 4, 5), method="rk4", step=0.5)


class WrongCoriolis(gd.NewtonEuler):
    """By one percent: too little for the eye."""

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return super().forward_dynamics_expression(q, v, tau - 0.01 * self.coriolis_matrix_expression(q, v) @ v)


@pytest.mark.parametrize("method", quick([name for name in METHODS if "reltol" in METHODS[name]], "adams", "radau"))
def test_wrong_dynamics_do_not_balance(method: str) -> None:
    model, times = gd.load_urdf("two_link_arm"), np.linspace(0, 2, 3)
    with pytest.warns(SimulationWarning, match="smaller tolerances, and .* the dynamics or the energies may be wrong"):
        simulate(WrongCoriolis(model), [1.0, 0.5, 1.0, -2.0], times, method=method)


def test_what_hardly_moves_balances_within_its_absolute_tolerance() -> None:
    """From rest for 1 ms, to 3e-5 rad/s: the absolute tolerance of v, 1e-10, is 4e-6 of it."""
    dyn = two_link_arm()
    held = dyn.generalized_gravity([0, 0]).full().ravel()
    motion = simulate(dyn, [0, 0, 0, 0], np.linspace(0, 1e-3, 5), held + 1e-3)
    assert motion.relative_balance < 1e-4
    assert 1e-5 < np.abs(motion.v).max() < 1e-4


def test_what_balances_within_the_tolerances_asked_for_is_not_said() -> None:
    motion = simulate(two_link_arm(), [1.0, 0.5, 1.0, -2.0], 2.0, reltol=1e-4, abstol=1e-5)
    assert 1e-5 < motion.relative_balance < 0.1


# Failures.


@pytest.mark.long
@pytest.mark.parametrize("method", quick(METHODS, "radau"))
def test_a_hopeless_motion_ends(method: str) -> None:
    """Negative damping of 1e3 N m s/rad."""
    settings = {} if "reltol" in METHODS[method] else METHODS[method]
    calls: list[float] = []

    def u(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        calls.append(t)
        return 1e3 * v

    dyn = two_link_arm()
    with pytest.raises(SimulationError, match="the motion runs away"):
        simulate(dyn, [0.1] * 4, np.linspace(0, 10, 3), u, method=method, **settings)
    assert len(calls) < (20_000 if method == "radau" else 300_000)


def escape(method: str, times: Array = SECOND * 2, **settings: Any) -> SimulationError:
    """v' = v² from 1: v = 1/(1 − t)."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 2)
    u = ca.Function("u", [t, x], [x[1] ** 2])
    with pytest.raises(SimulationError) as caught:
        simulate(FLOATING, [0.0, 1.0], times, u, method=method, **settings)
    return caught.value


@pytest.mark.parametrize("method", quick(METHODS, "adams", "rk4"))
def test_what_runs_away_is_said_and_kept(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    settings = {} if "reltol" in METHODS[method] else METHODS[method]
    if method == "adams":
        settings = {"options": {"max_num_steps": 2000}}
    error = escape(method, **settings)
    if method != "rk4":  # that steps across, and goes on for a while
        assert error.t == pytest.approx(0.96, abs=1e-12)
        assert f"pendulum: {method} stops between 0.96 and 1 s, with entries of x up to 25" in str(error)
    assert "\n" not in str(error)
    assert isinstance(error.result, Simulation)
    assert error.result.t[-1] == error.t
    early = error.result.t < 0.5
    assert error.result.v[early, 0] == pytest.approx(1 / (1 - error.result.t[early]), rel=1e-6)
    assert np.all(np.isfinite(error.result.x))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.t) == (str(error), error.t)
    out, err = capfd.readouterr()
    assert out + err == ""


def test_an_energy_that_is_not_finite_is_said() -> None:
    """The state is: 1e200 rad/s."""
    with pytest.raises(SimulationError, match="the steps diverge"):
        simulate(FLOATING, [0.0, 1e200], [0.0, 1e-200], method="rk4", step=1e-200)


@pytest.mark.parametrize("method", ["adams", "radau", "dop853"])
def test_too_many_steps_are_said(method: str) -> None:
    error = escape(method, np.array([0.0, 0.5, 0.9]), reltol=1e-12, abstol=1e-14, options={"max_num_steps": 10})
    assert "too many steps" in str(error)
    assert error.t == 0
    assert len(error.result.t) == 1
    assert "0 to 0 s at 1 times" in str(error.result)


@pytest.mark.parametrize("method", ["adams", "bdf", "radau", "dop853", "rk4"])
@pytest.mark.parametrize("hold", [False, True])
def test_what_a_callable_raises_is_the_cause(method: str, hold: bool, capfd: pytest.CaptureFixture[str]) -> None:
    def law(t: float, q: Array, v: Array) -> Array:
        if t > 0.5:
            raise LookupError("no more")
        return np.array([1.0])

    with pytest.raises(SimulationError, match="u raised an exception") as caught:
        simulate(FLOATING, [0, 0], SECOND, law, hold=hold, method=method, **({"step": 0.01} if method == "rk4" else {}))
    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.t == pytest.approx(0.52 if hold else 0.5, abs=1e-12)
    assert np.all(caught.value.result.u[:-1] == 1)
    assert caught.value.result.v[-1, 0] == pytest.approx(caught.value.t, abs=1e-6)
    out, err = capfd.readouterr()
    assert out + err == ""


def test_an_interrupt_is_not_swallowed() -> None:
    def law(t: float, q: Array, v: Array) -> Array:
        if t > 0.5:
            raise KeyboardInterrupt
        return np.zeros(1)

    with pytest.raises(KeyboardInterrupt):
        simulate(FLOATING, [0, 0], SECOND, law)


@pytest.mark.parametrize("hold", quick([False, True], True))
def test_the_effort_of_one_actuator_may_be_one_number(hold: bool) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation=[[2.0], [0.0]])
    times, start = [0.0, 0.1, 0.2], [0.0, 0.3, 0.0, 0.0]
    plain = simulate(dyn, start, times, [1.5], hold=hold)
    assert plain.u.shape == (3, 1)
    for u in (1.5, np.float64(1.5), np.array(1.5), ca.DM(1.5)):
        assert np.array_equal(simulate(dyn, start, times, u, hold=hold).x, plain.x)
        assert np.array_equal(simulate(dyn, start, times, lambda t, q, v, u=u: u, hold=hold).u, plain.u)
    feedback = simulate(dyn, start, times, lambda t, q, v: -3 * v[0], hold=hold)
    column = simulate(dyn, start, times, lambda t, q, v: -3 * v[:1], hold=hold)
    assert np.array_equal(feedback.x, column.x)
    # B u is the torque of the fully actuated cart
    both = simulate(gd.NewtonEuler(gd.load_urdf("cart_pendulum")), start, times, [3.0, 0.0], hold=hold)
    np.testing.assert_allclose(plain.x, both.x, rtol=0, atol=1e-9)


def test_one_number_is_not_u_of_several_actuators() -> None:
    with pytest.raises(ArgumentError, match=r"u has shape \(\); give \(6,\)"):
        simulate(puma(), np.zeros(12), 1.0, 1.0)
    with pytest.raises(ArgumentError, match=r"u\(t, q, v\) returned 1.0 .*; return 6"):
        simulate(puma(), np.zeros(12), 1.0, lambda t, q, v: 1.0)


@pytest.mark.parametrize("answer", [[1.0, 2.0], [[[1.0]]], [np.nan], np.nan, "push", None, np.array([1j])])
def test_a_callable_must_return_u(answer: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"u\(t, q, v\) returned .*; return 1"):
        simulate(FLOATING, [0, 0], 1.0, lambda t, q, v: answer)


@pytest.mark.parametrize("as_given", [ca.DM, lambda u: ca.DM(u).T, lambda u: u[:, None]], ids=["DM", "row", "column"])
@pytest.mark.parametrize("hold", quick([False, True], True))
def test_a_callable_may_return_matrices(as_given: Any, hold: bool) -> None:
    arm, given = two_link_arm(), ([0.1] * 2, [0.0] * 2)
    motion = simulate(arm, given, [0.0, 0.05, 0.1], lambda t, q, v: as_given(-20 * v), hold=hold)
    plain = simulate(arm, given, [0.0, 0.05, 0.1], lambda t, q, v: -20 * v, hold=hold)
    assert motion.u.any()
    assert np.array_equal(motion.x, plain.x)


def test_a_callable_that_python_cannot_look_into_is_asked() -> None:
    class Law:
        __signature__ = 1

        def __call__(self, *arguments: Any) -> Array:
            return np.zeros(1)

    assert simulate(FLOATING, [0, 1], 1.0, Law()).v[-1] == pytest.approx(1)


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([np.nan], "u returned something not finite at t = 0.5"),
        ([1.0, 2.0], "u did not return 1 real numbers at t = 0.5"),
    ],
)
def test_what_a_callable_returns_later_is_said(answer: Any, said: str, hold: bool) -> None:
    with pytest.raises(SimulationError, match=said) as caught:
        simulate(FLOATING, [0, 0], SECOND, lambda t, q, v: answer if t > 0.5 else [1.0], hold=hold)
    assert "raised" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ArgumentError)


def test_the_package_has_what_simulate_raises() -> None:
    assert gd.simulation.SimulationError is SimulationError
    assert gd.simulation.SimulationWarning is SimulationWarning


# Progress.


def test_progress_counts_output_times(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    simulate(PENDULUM, [1.0, 0.0], 1.0)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    monkeypatch.setattr("gdalembert.spatial.progress._MOVES", 0.0)
    simulate(PENDULUM, [1.0, 0.0], 1.0, progress=True)
    counts = [f"{PENDULUM.tree.name}: simulate: {5 * k} of 100 output times" for k in range(1, 21)]
    assert seen.states == [f"{PENDULUM.tree.name}: simulate", *counts, counts[-1]]


# Refusals.

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "model": ({"dyn": pendulum()}, "takes a Dynamics"),
    "x0 too long": ({"x0": [0, 0, 0]}, r"x0 has shape \(3,\); give \[q; v\] \(2,\)"),
    "pair of wrong lengths": ({"x0": ([0, 0], [0])}, r"x0 has shape \(2,\) and \(1,\)"),
    "x0 not finite": ({"x0": [0, np.inf]}, r"x0: entry \[1\] is inf"),
    "x0 no numbers": ({"x0": "rest"}, "x0: expected numbers"),
    "x0 complex": ({"x0": np.array([1.0, 1j])}, "x0: expected numbers"),
    "time in a text": ({"t": "1"}, "t: expected numbers, got '1'"),
    "off the circle": ({"dyn": CIRCLE, "x0": [1.1, 0, 0]}, r"simulate: x0 of joint 'hinge' is off unit length by 0.1"),
    "backwards": ({"t": [0, 2, 1]}, "each later than the last"),
    "twice the same": ({"t": [0, 1, 1]}, "each later than the last"),
    "one time": ({"t": [1.0]}, "at least two output times"),
    "end before start": ({"t": -1.0}, "above 0"),
    "times not finite": ({"t": [0, np.nan]}, r"t: entry \[1\] is nan"),
    "u too long": ({"u": [1, 2]}, r"u has shape \(2,\); give \(1,\)"),
    "u in columns": ({"u": np.ones((1, 101))}, r"or \(101, 1\) with one row for each output time"),
    "u not finite": ({"u": [np.nan]}, r"u: entry \[0\] is nan"),
    "u no numbers": ({"u": "push"}, "u is 'push'"),
    "u masked": ({"u": np.ma.masked_array([1.0], [1])}, "u: it has masked entries"),
    "u a class": ({"u": type}, "u is <class 'type'>; give real numbers"),
    "method an array": ({"method": np.array([])}, r"method: got array\(\[\], dtype=float64\); give 'auto', "),
    "u complex": ({"u": np.array([1j])}, "give real numbers"),
    "u of one argument": ({"u": lambda t: [0.0]}, r"u takes 1 argument; give u\(t, q, v\)"),
    "u of two arguments": ({"u": lambda t, x: [0.0]}, r"u takes 2 arguments; give u\(t, q, v\)"),
    "Function of x alone": ({"u": ca.Function("f", [ca.SX.sym("x", 2)], [ca.DM(0)])}, r"give a Function \(t, x\[2\]\)"),
    "Function held": (
        {"u": ca.Function("f", [ca.SX.sym("t"), ca.SX.sym("x", 2)], [ca.DM(0)]), "hold": True},
        "drop hold",
    ),
    "period of rows": ({"u": [1.0], "period": 0.1}, r"period takes a Python callable \(t, q, v\) -> u"),
    "no period": ({"u": lambda t, q, v: [0.0], "period": 0.0}, "period"),
    "too many samples": ({"u": lambda t, q, v: [0.0], "period": 1e-9}, r"makes 1e\+09 samples; give at most 1e\+07"),
    "option of radau": ({"method": "radau", "options": {"speed": 1}}, "'speed'.*takes 'max_num_steps' only"),
    "steps of radau": ({"method": "radau", "options": {"max_num_steps": "many"}}, "max_num_steps"),
    "method": ({"method": "euler"}, "method: got 'euler'; give 'auto', 'adams'"),
    "rk4 without step": ({"method": "rk4"}, "give step"),
    "rk4 with tolerance": ({"method": "rk4", "step": 0.1, "reltol": 1e-3}, "no tolerances"),
    "negative step": ({"method": "rk4", "step": -0.1}, "step"),
    "adams with step": ({"step": 0.1}, "chooses its steps"),
    "zero tolerance": ({"reltol": 0.0}, "reltol"),
    "options that are none": ({"options": "fast"}, "options='fast'"),
    "unknown option": ({"options": {"speed": 1}}, "options=.*'speed'.*CasADi refuses them: .*speed"),
    "option of a wrong type": ({"options": {"max_num_steps": "many"}}, "CasADi refuses them"),
    "singular start": (
        {"dyn": gd.NewtonEuler(gd.load_urdf("puma560")), "x0": [0.0] * 6 + [1e200] * 6},
        "a is not finite at x0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    given, message = REFUSED[name]
    arguments = {"dyn": PENDULUM, "x0": [1.0, 0.0], "t": 1.0} | given
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        simulate(**arguments)
    out, err = capfd.readouterr()
    assert out + err == ""


def test_casadi_numbers_are_numbers() -> None:
    motion = simulate(PENDULUM, (ca.DM([1.0]), ca.DM([0.5])), 1.0, ca.DM([0.2]))
    assert np.array_equal(motion.x, simulate(PENDULUM, [1.0, 0.5], 1.0, [0.2]).x)


def test_pieces_that_are_alike_share_an_integrator(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = ca.integrator
    monkeypatch.setattr(ca, "integrator", lambda *given: made.append(given) or original(*given))
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    gd.simulate(dyn, np.zeros(4), np.linspace(0.3, 1.3, 101), lambda t, q, v: [t, -t], hold=True, method="adams")
    assert len(made) == 1
    times = np.concatenate([np.linspace(0, 1, 51), np.linspace(1.05, 2, 20)])
    motion = gd.simulate(
        dyn, np.zeros(4), times, ca.Function("u", [t := ca.MX.sym("t"), ca.MX.sym("x", 4)], [ca.vertcat(t, -t)])
    )
    rows = gd.simulate(dyn, np.zeros(4), times, np.column_stack([times, -times]))
    assert len(made) > 2
    np.testing.assert_allclose(motion.x, rows.x, rtol=1e-5, atol=1e-5)  # each integrator's own tolerance, grown


def test_rounding_of_a_robot_that_hardly_moves_is_no_warning() -> None:
    """Upright but for 3e-7 rad, and held: what is exchanged is less than the rounding of the potential energy."""
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"))
    hold = lambda t, q, v: np.array([0.0, -20 * (q[1] - np.pi) - 2 * v[1]])  # noqa: E731
    motion = gd.simulate(dyn, ([0, np.pi - 3e-7], [0, 0]), np.linspace(0, 2, 201), hold, hold=True)
    assert motion.relative_balance > 1e-3
    assert motion.max_balance < 1e-14

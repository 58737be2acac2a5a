"""Exciting motions: better than random ones, within all limits; and what is refused."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.identification.excitation import Search, _known, condition_number, criterion
from gdalembert.identification.fourier import Plan
from gdalembert.model.limits import Bounds
from tests.helpers import models

MODEL = gd.load_urdf("puma560_3")
DYN = gd.NewtonEuler(MODEL)


def excitation(dyn: Any = DYN, bounds: Any = MODEL, **options: Any) -> gd.identification.Excitation:
    """A short search: what the tests assert holds for any result."""
    return gd.identification.excitation(dyn, bounds, **{"period": 4.0, "harmonics": 3, "starts": 1, **options})


@pytest.fixture(scope="module")
def found() -> gd.identification.Excitation:
    return excitation()


def w_of(motion: gd.identification.Excitation, model: pin.Model, instants: int) -> np.ndarray:
    """The rows of Pinocchio's regressor, divided by the effort limits, over one period."""
    data, t = model.createData(), np.arange(instants) * motion.period / instants
    states = zip(motion.q(t), motion.v(t), motion.a(t), strict=True)
    rows = [pin.computeJointTorqueRegressor(model, data, *state) / model.effortLimit[:, None] for state in states]
    return np.vstack(rows)


def test_the_limits_hold_at_all_times_and_some_are_reached(found: gd.identification.Excitation) -> None:
    t, q, v, a = found.samples(997)
    data = MODEL.createData()
    tau = np.array([pin.rnea(MODEL, data, *state) for state in zip(q, v, a, strict=True)])
    middle, half = (
        (MODEL.upperPositionLimit + MODEL.lowerPositionLimit) / 2,
        (MODEL.upperPositionLimit - MODEL.lowerPositionLimit) / 2,
    )
    used = {
        "position": np.abs(q - middle).max(axis=0) / half,
        "velocity": np.abs(v).max(axis=0) / MODEL.velocityLimit,
        "effort": np.abs(tau).max(axis=0) / MODEL.effortLimit,
    }
    for kind, parts in used.items():
        assert np.all(parts <= 0.95)
        for name, part in zip(MODEL.names[1:], parts, strict=True):
            assert found.limits[f"{kind} of {name}"] == pytest.approx(part, abs=2e-3)  # of other instants
    assert max(parts.max() for parts in used.values()) > 0.91
    assert found.excess == {}
    assert len(t) == 3989


def test_it_begins_and_ends_at_rest(found: gd.identification.Excitation) -> None:
    assert found.v([0, 4.0]) == pytest.approx(0, abs=1e-13)
    assert found.a([0, 4.0]) == pytest.approx(0, abs=1e-12)
    assert np.abs(excitation(at_rest=False).v(0.0)).max() > 0.01


def test_the_condition_number_is_that_of_pinocchios_regressor(found: gd.identification.Excitation) -> None:
    """Y = Y_base B, so that Y_base = Y B⁺; the instants are those of the search."""
    instants = 36
    base = w_of(found, MODEL, instants) @ np.linalg.pinv(DYN.base_parameters.matrix)
    assert found.parameters == DYN.base_parameters.names
    assert found.condition_number == pytest.approx(np.linalg.cond(base / np.linalg.norm(base, axis=0)), rel=1e-8)


def test_it_is_better_than_random_motions(found: gd.identification.Excitation) -> None:
    """By both criteria: each of them, than each of 50 motions with the same largest velocities."""
    rng, matrix = np.random.default_rng(1), np.linalg.pinv(DYN.base_parameters.matrix)
    by_condition = excitation(criterion="condition")
    bases = [w_of(motion, MODEL, 40) @ matrix for motion in (found, by_condition)]
    determinants = [np.linalg.slogdet(w.T @ w)[1] for w in bases]
    conditions = [condition_number(w) for w in bases]
    t = np.linspace(0, 4, 200)
    assert determinants[0] > determinants[1]
    assert conditions[1] < conditions[0]
    for _ in range(50):
        coefficients = found.coefficients * rng.uniform(-1.5, 1.5, size=found.coefficients.shape)
        speed = np.abs(replace(found, coefficients=coefficients).v(t)).max(axis=0)
        coefficients = np.vstack([coefficients[:1], coefficients[1:] * np.abs(found.v(t)).max(axis=0) / speed])
        w = w_of(replace(found, coefficients=coefficients), MODEL, 40) @ matrix
        assert np.linalg.slogdet(w.T @ w)[1] < determinants[0]
        assert condition_number(w) > conditions[1]


def test_it_improves_what_it_begins_with(found: gd.identification.Excitation) -> None:
    assert found.condition_number < found.first_condition_number
    more = excitation(starts=3)
    assert more.cost <= found.cost


def test_it_can_be_repeated_and_pickled(found: gd.identification.Excitation) -> None:
    again = excitation()
    assert np.all(again.coefficients == found.coefficients)
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert not np.allclose(excitation(seed=1).coefficients, found.coefficients)


def test_joints_that_are_not_named_are_held() -> None:
    """Fewer parameters can be excited then: those of the last link, and what the last torques depend on."""
    hold = np.array([0.4, -0.5, 0.6])
    moved = excitation(joints=["joint3"], hold=hold)
    q, v = moved.q(np.linspace(0, 4, 9)), moved.v(np.linspace(0, 4, 9))
    assert np.all(q[:, :2] == hold[:2])
    assert np.all(v[:, :2] == 0)
    assert v[:, 2].any()
    assert moved.joints == ("joint3",)
    w = w_of(moved, MODEL, 40)
    assert len(moved.parameters) == np.linalg.matrix_rank(w, tol=1e-8 * np.linalg.norm(w)) < 15
    assert np.isfinite(moved.condition_number)


def test_accelerations_and_paths_are_kept(found: gd.identification.Excitation) -> None:
    """Between the instants of the search too: the height of the tool, which the free motion leaves."""
    kin = gd.Kinematics(MODEL)
    frame = MODEL.frames[-1].name
    height = ca.Function("height", [q := ca.SX.sym("q", 3)], [kin.frame_placement(frame)(q)[2, 3]], ["q"], ["z"])
    t = np.linspace(0, 4, 1501)
    heights = height(found.q(t).T).full()
    middle = float(np.quantile(heights, 0.3))
    low = excitation(acceleration={"joint2": 2.0}, paths=[(height, middle, np.inf), (lambda v: v[0] ** 2, -1, 1.0)])
    assert height(low.q(t).T).full().min() >= middle - 1e-5
    assert np.abs(low.a(t)[:, 1]).max() <= 1.9
    assert np.abs(low.v(t)[:, 0]).max() <= 1 + 1e-4
    assert heights.min() < middle - 0.01
    assert np.abs(found.a(t)[:, 1]).max() > 2.5
    assert low.limits["acceleration of joint2"] == pytest.approx(np.abs(low.a(t)[:, 1]).max() / 2, abs=1e-3)
    assert "path 2" in low.limits


@pytest.mark.long
def test_a_base_that_is_not_actuated_is_held() -> None:
    rng = np.random.default_rng(2)
    model = models.build(rng, ["FreeFlyer", "RX", "RevoluteUnaligned", "PX"], [0, 1, 2, 3])
    dyn = gd.NewtonEuler(model)
    names = dyn.coordinate_names
    bounds = gd.ocp.Bounds.of(dyn, v=dict.fromkeys(names[6:], 1.0), q=dict.fromkeys(names[6:], 2.0))
    moved = excitation(dyn, bounds, joints=["RX_1", "RevoluteUnaligned_2", "PX_3"])
    assert np.all(moved.q(1.3)[:7] == pin.neutral(model)[:7])
    assert np.all(moved.v(np.linspace(0, 4, 5))[:, :6] == 0)
    assert {name.split()[0] for name in moved.limits} == {"position", "velocity"}
    with pytest.raises(UnsupportedError, match=r"'FreeFlyer_0' is a FreeFlyer, whose v is not dq/dt; name in joints"):
        excitation(dyn, bounds)


def test_parameters_of_the_dynamics_are_what_is_excited() -> None:
    """As many as the torques along the motion tell apart, by differences of torques that are linear in p."""
    dyn = gd.NewtonEuler(MODEL, parameters={"inertia": ["joint3"], "armature": True})
    moved = excitation(dyn)
    _, q, v, a = moved.samples(20)
    p = dyn.parameters.values
    nominal = dyn.inverse_dynamics(q.T, v.T, a.T, p).full()
    columns = [(dyn.inverse_dynamics(q.T, v.T, a.T, p + e).full() - nominal).ravel() for e in np.eye(len(p))]
    assert len(moved.parameters) == np.linalg.matrix_rank(np.column_stack(columns), tol=1e-6)
    assert set(moved.parameters) <= set(dyn.parameters.names)
    assert "joint2.armature" in moved.parameters
    assert np.all(np.abs(nominal) <= MODEL.effortLimit[:, None])


def test_noise_weighs_the_rows() -> None:
    """Only the ratios of the noise matter; where a joint is noisy, the others must do."""
    equal = excitation(noise=MODEL.effortLimit)
    assert equal.coefficients == pytest.approx(excitation().coefficients)
    assert not np.allclose(excitation(noise=[1.0, 100.0, 1.0]).coefficients, equal.coefficients, atol=1e-3)


def test_the_criteria_are_those_of_numpy() -> None:
    rng = np.random.default_rng(3)
    w = rng.normal(size=(40, 6))
    information = w.T @ w
    determinant = criterion("determinant", 6)(information).full().item()
    assert determinant == pytest.approx(-np.linalg.slogdet(information)[1] / 12, rel=1e-12)
    condition = np.exp(criterion("condition", 6)(information).full().item())
    assert condition == pytest.approx(np.linalg.norm(w) * np.linalg.norm(np.linalg.pinv(w)), rel=1e-12)
    assert np.linalg.cond(w) <= condition <= 6 * np.linalg.cond(w)
    assert condition_number(w) == pytest.approx(np.linalg.cond(w / np.linalg.norm(w, axis=0)), rel=1e-12)
    assert condition_number(np.ones((5, 2))) > 1e15


def test_without_effort_limits_the_torques_weigh_the_same() -> None:
    bounds = gd.ocp.Bounds.of(DYN, v=dict.fromkeys(DYN.coordinate_names, 1.0))
    moved = excitation(DYN, bounds)
    assert {name.split()[0] for name in moved.limits} == {"velocity"}
    assert np.abs(moved.v(np.linspace(0, 4, 301))).max() <= 1.0


NO_SPEED = gd.ocp.Bounds.of(DYN, MODEL, v={"joint2": np.inf})
PASSIVE = gd.ocp.Bounds.of(DYN, MODEL, u={"joint2": 0})

REFUSED = [
    ({"joints": ["joint9"]}, UnknownNameError, "no joint named 'joint9'; nearest: 'joint3', 'joint2', 'joint1'"),
    ({"joints": "joint1"}, ArgumentTypeError, "excitation: joints='joint1'; give a list of names"),
    ({"joints": 1}, ArgumentTypeError, "excitation: joints=1; give a list of names"),
    ({"joints": ca.SX.sym("x")}, ArgumentTypeError, "excitation: joints=SX(x); give a list of names"),
    ({"joints": np.zeros(0)}, ArgumentError, "excitation: no joint moves; give at least one name in joints"),
    ({"at_rest": np.zeros(2)}, ArgumentTypeError, "excitation: at_rest is array([0., 0.]); give True or False"),
    ({"at_rest": 1}, ArgumentTypeError, "excitation: at_rest is 1; give True or False"),
    ({"gains": ca.SX.sym("x")}, ArgumentTypeError, "excitation: gains is SX(x); give True or False"),
    ({"joints": []}, ArgumentError, "excitation: no joint moves; give at least one name in joints"),
    (
        {"bounds": NO_SPEED},
        ArgumentError,
        "excitation: the velocity of 'joint2' has the bounds (-inf, inf); give finite ones around 0, as "
        "Bounds.of(…, v={'joint2': 1.0})",
    ),
    (
        {"bounds": PASSIVE},
        UnsupportedError,
        "excitation: joint 'joint2' is passive; name in joints those that move, and it is held",
    ),
    (
        {"dyn": gd.NewtonEuler(MODEL, actuation=np.eye(3)[:, :2])},
        UnsupportedError,
        "excitation: puma560_3 has 2 actuators for 3 velocities, and what nothing drives follows no series; give a "
        "robot whose B can be inverted",
    ),
    ({"harmonics": 1}, ArgumentError, "excitation: harmonics: got 1; give an integer of at least 2"),
    ({"period": 0.0}, ArgumentError, "excitation: period: got 0.0; give one finite number [s], above 0"),
    ({"margin": 0.95}, ArgumentError, "excitation: margin is 0.95; give a part from 0 to 0.9"),
    ({"criterion": "trace"}, ArgumentError, "excitation: criterion: got 'trace'; give 'determinant' or 'condition'"),
    ({"starts": 0}, ArgumentError, "excitation: starts: got 0; give an integer of at least 1"),
    ({"noise": [1.0, 0.0, 1.0]}, ArgumentError, "excitation: noise of 'joint2' is 0; give more than 0"),
    ({"noise": [1.0, 1.0]}, ArgumentError, "excitation: noise has shape (2,); give (3,), or one number"),
    (
        {"acceleration": {"joint": 3.0}},
        UnknownNameError,
        "no moving entry of v named 'joint'; nearest: 'joint3', 'joint2', 'joint1'",
    ),
    (
        {"acceleration": -1.0},
        ArgumentError,
        "excitation: acceleration: got -1.0; give one finite number [rad/s² or m/s²], above 0",
    ),
    ({"paths": [lambda q: q[0]]}, ArgumentTypeError, "excitation: paths: give a list of (expression, lower, upper)"),
    (
        {"paths": [(lambda u: u[0], 0, 1)]},
        ArgumentError,
        "an expression at the instants has the inputs ['u']; give them names among ['q', 'v', 'a']",
    ),
    ({"options": 3}, ArgumentTypeError, "excitation: options=3; give {name: value}"),
    ({"hold": [0.0]}, ArgumentError, "excitation: hold has shape (1,); give (3,)"),
    (
        {"dyn": gd.NewtonEuler(gd.load_urdf("two_link_arm")), "bounds": NO_SPEED},
        ArgumentError,
        "excitation: the bounds are those of joint1, joint2, joint3 and the robot has joint1, joint2; give "
        "Bounds.of(dyn, model)",
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_what_cannot_be_excited_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        excitation(**options)


def test_a_slider_without_limits_is_refused() -> None:
    """It would slide away: a longer lever tells more. An angle without limits is well."""
    model = models.build(np.random.default_rng(0), ["RX", "PrismaticUnaligned"], [0, 1])
    dyn = gd.NewtonEuler(model)
    speeds = dict.fromkeys(dyn.coordinate_names, 1.0)
    with pytest.raises(
        ArgumentError,
        match=r"^excitation: the position of 'PrismaticUnaligned_1' has the bounds \(-inf, inf\); give finite ones, as "
        r"Bounds.of\(…, q={'PrismaticUnaligned_1': 1.0}\)$",
    ):
        excitation(dyn, gd.ocp.Bounds.of(dyn, v=speeds))
    moved = excitation(dyn, gd.ocp.Bounds.of(dyn, v=speeds, q={"PrismaticUnaligned_1": 1.0}))
    assert np.abs(moved.q(np.linspace(0, 4, 301))[:, 1]).max() <= 0.95
    assert moved.condition_number < 100


def test_a_flexible_arm_is_refused() -> None:
    links = {"link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0), gd.modes.clamped_free(1))}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    with pytest.raises(
        UnsupportedError, match=r"2 actuators for 3 velocities, and what nothing drives follows no series"
    ):
        excitation(arm, gd.ocp.Bounds.of(arm))


def test_options_that_casadi_does_not_know_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^excitation: CasADi refuses the options: "):
        excitation(options={"no_such_option": 1})


def test_what_no_motion_can_keep_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        gd.identification.ExcitationError,
        match=r"^excitation: no motion of puma560_3 within all limits was found in 1 starts; the best \(\w+\) exceeds "
        r"path 1 by \S+; give a longer period, other paths, more starts or more iterations$",
    ):
        excitation(paths=[(lambda v: v[0] ** 2, 1.0, 2.0)])  # never at rest


def test_the_best_start_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[gd.identification.Excitation] = []
    original = Search._run

    def run(search: Search, name: str) -> gd.identification.Excitation:
        seen.append(original(search, name))
        return seen[-1]

    monkeypatch.setattr(Search, "_run", run)
    best = excitation(starts=2)
    assert len(seen) == 2
    assert best.cost == min(motion.cost for motion in seen)


@pytest.mark.long
def test_a_motion_with_a_known_load_tells_gains_and_friction_under_load() -> None:
    """They are columns of W beside the parameters; without a number that is known they cannot be told."""
    model = gd.load_urdf("two_link_arm")
    model.velocityLimit, model.effortLimit = np.full(2, 2.0), np.full(2, 300.0)
    friction = {name: gd.Friction(1.0, 1.0, load=0.1) for name in ("joint1", "joint2")}
    dyn = gd.NewtonEuler(model, friction=friction, parameters={"inertia": True, "friction": True, "payload": ["link2"]})
    given: Any = {"period": 6.0, "harmonics": 3, "starts": 1, "gains": True}
    runs: Any = [{"link2": pin.Inertia.Zero()}, {"link2.m": 30.0}]
    found = gd.identification.excitation(dyn, model, runs=runs, **given)
    assert {"joint1.gain", "joint2.gain", "joint1.load", "joint2.load"} <= set(found.parameters)
    assert "link2.m" not in found.parameters
    assert found.limits["effort (run 2) of joint1"] > found.limits["effort of joint1"]  # of 30 kg more
    with pytest.raises(ArgumentError, match=r"^excitation: gains: 'joint1.gain' cannot be told: efforts and currents"):
        gd.identification.excitation(gd.NewtonEuler(model, friction="model", parameters=["inertia"]), model, **given)
    with pytest.raises(UnknownNameError, match=r"known\) named 'tool'"):
        gd.identification.excitation(dyn, model, runs=[{"tool": 1.0}])
    with pytest.raises(ArgumentTypeError, match=r"^excitation: runs=3; give a list of"):
        gd.identification.excitation(dyn, model, runs=3)  # type: ignore[arg-type]


def test_the_information_of_runs_is_that_of_fits() -> None:
    """Columns of W by differences of the efforts, each run with what it knows."""
    model = gd.load_urdf("two_link_arm")
    model.velocityLimit = np.full(2, 2.0)
    dyn = gd.NewtonEuler(model, parameters={"inertia": ["joint2"], "payload": ["link2"]})
    runs: Any = [{"link2": pin.Inertia.Zero()}, {"link2.m": 3.0}]
    plan = Plan(
        dyn, Bounds.of(dyn, model), (0, 1), np.zeros(2), np.full(2, np.inf), (), 6.0, 3, True, (0, 1), np.ones(2), 0.1,
        _known(dyn, runs), True,
    )  # fmt: skip
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    w = plan.functions[1](q, v, a).full().T
    names = plan.names
    assert w.shape == (4, len(names)) == (4, 10 + 9 + 2)
    for run, known in enumerate(plan.known):
        p = dyn.parameters.vector(known)
        u = dyn.inverse_dynamics(q, v, a, p).full().ravel()
        for k, name in enumerate(names[:-2]):
            step = np.zeros(len(p)) if name in known else np.eye(len(p))[dyn.parameters.index(name)]
            change = dyn.inverse_dynamics(q, v, a, p + step).full().ravel() - u
            assert w[2 * run : 2 * run + 2, k] == pytest.approx(change, abs=1e-9)
        assert w[2 * run : 2 * run + 2, -2:] == pytest.approx(np.diag(u), rel=1e-12)

"""Friction of joints: its torque, what it dissipates, and what every robot makes of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.dynamics.forces import Damping
from gdalembert.dynamics.friction import JointFriction
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, ModelError, UnknownNameError
from gdalembert.export.notes import notes
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.arrays import Array
from gdalembert.symbolic import symbolic_tree
from tests.helpers.models import build, relative_error, states
from tests.helpers.ocp import slider
from tests.helpers.sets import quick
from tests.helpers.validated_arms import FLEXIBLE_JOINT, PLANAR

KINDS = ["RX", "Spherical", "PY", "FreeFlyer", "RUBZ", "Universal"]
FORMULATIONS = [gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler]
JOINT1 = gd.Friction(0.7, 0.4, smoothing=0.3)
"""Smooth enough for finite differences."""

URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.4 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.3 0"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<dynamics damping="0.5" friction="0.3"/></joint>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics friction="0.2"/></joint></robot>"""


@pytest.fixture(scope="module")
def model() -> pin.Model:
    """Every velocity has friction."""
    rng = np.random.default_rng(21)
    model = build(rng, KINDS, [0, 1, 2, 1, 4, 0])
    model.damping, model.friction = rng.uniform(0.1, 1, size=(2, model.nv))
    return model


def friction(viscous: Array, coulomb: Array, smoothing: float | Array, v: Array) -> Array:
    """The second computation: 2 / (1 + e^(−2x)) − 1 is tanh x."""
    return viscous * v + coulomb * (2 / (1 + np.exp(-2 * v / smoothing)) - 1)


def vector(x: ca.DM) -> Array:
    return np.asarray(ca.DM(x).full().ravel())


# Laws.


def test_friction_costs_nothing_where_there_is_none() -> None:
    free = gd.load_urdf("two_link_arm")

    def size(**options: Any) -> int:
        return int(gd.NewtonEuler(free, **options).inverse_dynamics.n_instructions())

    assert size(friction={}) == size(friction={"joint1": gd.Friction()}) == size(friction="model") == size()
    assert not gd.NewtonEuler(free, friction="model").forces_depend_on_velocity
    assert size(friction={"joint1": gd.Friction(1.0)}) <= size() + 3  # a constant, a product, a sum


# Motions.


def test_a_slider_stops_as_the_formula_says() -> None:
    """m dv/dt = −c tanh(v/s) has the solution sinh(v/s) = sinh(v0/s) exp(−c t / (m s))."""
    mass, coulomb, smoothing, start = 2.0, 3.0, 0.05, 1.0
    dyn = gd.NewtonEuler(slider(mass), friction={"slide": gd.Friction(0, coulomb, smoothing=smoothing)})
    motion = gd.simulate(dyn, ([0.0], [start]), 1.0)
    expected = np.arcsinh(np.sinh(start / smoothing) * np.exp(-coulomb * motion.t / (mass * smoothing))) * smoothing
    assert motion.method == "radau"
    np.testing.assert_allclose(motion.v[:, 0], expected, rtol=0, atol=1e-6)  # of the integrator
    assert motion.dissipated[-1] == pytest.approx(0.5 * mass * start**2, rel=1e-6)


@pytest.mark.parametrize("smoothing", quick([1e-2, 1e-4], 1e-2))
def test_a_pendulum_comes_to_rest_where_friction_holds_it(smoothing: float) -> None:
    """It sticks at an angle, and then creeps as slowly as tanh says."""
    model = gd.load_urdf("two_link_arm")
    held = gd.Friction(0.5, 4.0, smoothing=smoothing)
    dyn = gd.NewtonEuler(model, friction={"joint1": held, "joint2": held})
    hanging = np.array([-np.pi / 2, 0.0])
    motion = gd.simulate(dyn, (hanging + np.array([0.8, 0.5]), np.zeros(2)), 20.0)
    assert motion.method == "radau"
    assert motion.relative_balance < 1e-6
    assert np.all(np.diff(motion.dissipated) > -1e-9)
    weight = vector(dyn.generalized_gravity(motion.q[-1]))
    assert np.abs(weight).max() > 0.1  # not at the bottom
    assert np.abs(weight).max() < 4.0
    # the viscous part of so slow a motion is 1e-3 of the Coulomb part
    np.testing.assert_allclose(motion.v[-1], -smoothing * np.arctanh(weight / 4), rtol=2e-2, atol=1e-7)
    assert np.abs(motion.v[-1]).max() < 2 * smoothing


# A model, its URDF and its parameters.


def test_a_urdf_says_what_a_robot_dissipates() -> None:
    with pytest.warns(gd.errors.UrdfWarning, match="tau is without them unless friction='model' is given"):
        model = gd.load_urdf(URDF)
    dyn = gd.NewtonEuler(model, friction="model", parameters={"friction": True})
    shoulder, elbow = (dyn.tree.velocity_names.index(name) for name in ("shoulder", "elbow"))
    assert dict(dyn.parameters) == {
        "shoulder.viscous": 0.5,
        "shoulder.coulomb": 0.3,
        "elbow.viscous": 0.0,
        "elbow.coulomb": 0.2,
    }
    p = dyn.parameters.vector({"elbow.viscous": 2.0, "shoulder.coulomb": 0.7})
    written = dyn.parameters.write(model, p)
    assert written.damping[[shoulder, elbow]].tolist() == [0.5, 2.0]
    assert written.friction[[shoulder, elbow]].tolist() == [0.7, 0.2]
    assert np.array_equal(written.lowerDryFrictionLimit, -written.upperDryFrictionLimit)
    assert model.damping[elbow] == 0
    assert np.array_equal(dyn.parameters.of(written), p)
    other = gd.NewtonEuler(written, friction="model")
    q, v, a = states(model, np.random.default_rng(25), 1)[0]
    assert relative_error(vector(dyn.inverse_dynamics(q, v, a, p)), vector(other.inverse_dynamics(q, v, a))) < 1e-12
    assert relative_error(vector(dyn.at(p).inverse_dynamics(q, v, a)), vector(other.inverse_dynamics(q, v, a))) < 1e-12
    assert np.array_equal(dyn.at(p).damping_matrix, other.damping_matrix)


def test_a_tree_has_the_friction_of_its_model(model: pin.Model) -> None:
    tree = read_tree(model)
    assert tree != read_tree(gd.load_urdf("two_link_arm"))
    q, v, a = states(model, np.random.default_rng(26), 1)[0]
    found, expected = (vector(gd.LagrangeEuler(x, friction="model").inverse_dynamics(q, v, a)) for x in (tree, model))
    assert np.array_equal(found, expected)
    closed = gd.LagrangeEuler(symbolic_tree("two_link_arm"), clean=0, friction={"joint1": gd.Friction(2.0)})
    assert closed.nle([0.0, 0.0], [1.0, 0.0], closed.parameters.values).full()[0] != 0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_friction_that_a_model_lacks_can_be_a_parameter(formulation: type[gd.Dynamics]) -> None:
    bare = gd.load_urdf("two_link_arm")
    dyn = formulation(bare, friction="model", parameters={"friction": True, "gravity": True})
    assert dyn.parameters.names[-4:] == ("joint1.viscous", "joint1.coulomb", "joint2.viscous", "joint2.coulomb")[-4:]
    rubbing = formulation(bare, friction={"joint2": gd.Friction(0.4, 0.3)})
    q, v, a = np.random.default_rng(27).normal(size=(3, 2))
    p = dyn.parameters.vector({"joint2.viscous": 0.4, "joint2.coulomb": 0.3})
    expected = vector(rubbing.inverse_dynamics(q, v, a))
    assert relative_error(vector(dyn.inverse_dynamics(q, v, a, p)), expected) < 1e-12
    assert relative_error(vector(dyn.forward_dynamics(q, v, expected, p)), a) < 1e-12
    regressor = ca.jacobian(dyn.inverse_dynamics(q, v, a, dyn.parameters.symbols), dyn.parameters.symbols)
    assert ca.jacobian(regressor, dyn.parameters.symbols).nnz() == 0  # tau is linear in friction


def test_friction_by_name_keeps_its_values_in_other_models() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, friction={"joint2": gd.Friction(0.4, 0.3)}, parameters=["friction"])
    assert dict(dyn.parameters) == {"joint2.viscous": 0.4, "joint2.coulomb": 0.3}
    other = model.copy()
    other.damping[:] = 7.0
    assert dyn.parameters.of(other).tolist() == [0.4, 0.3]
    assert dyn.parameters.write(model, [1, 2]).damping.tolist() == [0, 0]
    one = gd.NewtonEuler(model, friction="model", parameters={"friction": ["joint2"]})
    assert one.parameters.names == ("joint2.viscous", "joint2.coulomb")


# Every robot.


def test_the_motor_of_a_flexible_joint_has_friction_of_its_own() -> None:
    motor = gd.FlexibleArm(PLANAR, {}, FLEXIBLE_JOINT, friction={"joint2 rotor": gd.Friction(0.6, 0.1)})
    assert motor.damping_matrix[-1, -1] == pytest.approx(0.6 + 0.3)  # and the damping of the flexible joint
    report = gd.validate(motor, against=PLANAR, samples=5)
    assert report.ok, str(report)


def test_a_simplified_robot_has_friction() -> None:
    model = gd.load_urdf("two_link_arm")
    limits = {"a_max": 10.0, "v_max": 3.0, "tau_max": 100.0}
    options: Any = {"friction": {"joint1": gd.Friction(0.4, 0.3)}}
    dyn = gd.PrunedDynamics(model, 0.0, **limits, **options)
    q, v, a = np.random.default_rng(30).normal(size=(3, 2))
    expected = vector(gd.NewtonEuler(model, **options).inverse_dynamics(q, v, a))
    for each in (dyn, pickle.loads(pickle.dumps(dyn))):
        assert relative_error(vector(each.inverse_dynamics(q, v, a)), expected) < 1e-12


def test_small_vibrations_are_damped_by_the_slope_at_rest() -> None:
    model = gd.load_urdf("two_link_arm")
    held = {"joint1": (100.0, -np.pi / 2), "joint2": (50.0, 0.0)}
    free = gd.NewtonEuler(model, springs=held)
    dyn = gd.NewtonEuler(model, springs=held, friction={"joint1": JOINT1}, forces=[Damping(np.diag([0, 2.0]))])
    hanging = [-np.pi / 2, 0.0]
    assert np.array_equal(dyn.natural_frequencies(hanging), free.natural_frequencies(hanging))
    assert np.array_equal(dyn.damping_matrix, np.diag([0.7, 2.0]))
    a, _ = dyn.linearize(hanging)
    m = dyn.mass_matrix(hanging).full()
    slope = np.diag([0.7 + 0.4 / 0.3, 2.0])
    assert relative_error(a[2:, 2:], -np.linalg.solve(m, slope)) < 1e-12


def test_optimal_control_pays_for_friction() -> None:
    """∫ (m a + b v + c)² dt over a distance is least at constant velocity, by Jensen's inequality."""
    dyn = gd.NewtonEuler(slider(2.0), friction={"slide": gd.Friction(1.5, 0.5, smoothing=0.01)})
    problem = ocp.Problem(dyn, 1.0, 5)
    problem.start([0.0], [1.0])
    problem.end([1.0], [1.0])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert solution.cost == pytest.approx((1.5 + 0.5) ** 2, rel=1e-8)
    np.testing.assert_allclose(solution.v, 1.0, rtol=0, atol=1e-6)  # the solver's own tolerance


@pytest.mark.extras
def test_a_decomposition_of_torques_has_friction() -> None:
    from gdalembert.plotting.motions import contributions

    dyn = gd.GeneralizedDAlembert(gd.load_urdf("two_link_arm"), friction={"joint1": gd.Friction(0.4, 0.3)})
    q, v, a = np.random.default_rng(31).normal(size=(3, 5, 2))
    parts = contributions(dyn, q, v, a, "kind")
    expected = friction(np.array([0.4, 0]), np.array([0.3, 0]), 0.01, v)
    assert relative_error(parts["friction"], expected) < 1e-12
    assert relative_error(sum(parts.values()), dyn.inverse_dynamics(q.T, v.T, a.T).full().T) < 1e-12
    other = gd.LagrangeEuler(gd.load_urdf("puma560_3"), friction={"joint1": gd.Friction(0.4, 0.3)})
    q, v, a = np.random.default_rng(32).normal(size=(3, 5, 3))
    parts = contributions(other, q, v, a, "equation")
    assert [*parts] == ["inertia", "Coriolis, centrifugal", "gravity", "motors", "friction"]
    assert relative_error(parts["motors"], other.tree.armature * a) < 1e-12
    assert relative_error(sum(parts.values()), other.inverse_dynamics(q.T, v.T, a.T).full().T) < 1e-12


def test_exports_say_what_friction_is_in_them() -> None:
    options: Any = {"springs": {"joint1": (3.0, 0.1)}, "friction": {"joint2": gd.Friction(0.4, 0.3)}}
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), **options)
    line = "force in tau, nle and a: friction (joint2.viscous = 0.4, joint2.coulomb = 0.3, SI)"
    assert line in notes(dyn)
    copy = pickle.loads(pickle.dumps(dyn))
    assert copy.friction == dyn.friction
    assert np.array_equal(copy.nle([0.1, 0.2], [0.3, 0.4]).full(), dyn.nle([0.1, 0.2], [0.3, 0.4]).full())


# What is refused.


def robot(friction: Any) -> Callable[[], object]:
    return lambda: gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=friction)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: gd.Friction(-1),
            ArgumentError,
            "Friction: viscous: got -1; give at least 0, as friction ",
        ),
        (lambda: gd.Friction(1, -0.5), ArgumentError, r"Friction: coulomb: got -0\.5; give at least 0"),
        (lambda: gd.Friction(np.nan), ArgumentError, "Friction: viscous: it is nan; give finite numbers"),
        (lambda: gd.Friction(1, [1, np.inf]), ArgumentError, r"Friction: coulomb: entry \[1\] is inf; give finite"),
        (
            lambda: gd.Friction([[1]]),
            ArgumentError,
            r"Friction: viscous has shape \(1, 1\); give one number, or ",
        ),
        (lambda: gd.Friction("much"), ArgumentTypeError, "Friction: viscous: expected numbers, got 'much'"),
        (
            lambda: gd.Friction(smoothing=0),
            ArgumentError,
            "Friction: smoothing: got 0; give one finite .* above 0",
        ),
        (lambda: gd.Friction(smoothing=-1.0), ArgumentError, r"Friction: smoothing: got -1\.0; give one finite"),
        (
            lambda: gd.Friction(smoothing=[1]),
            ArgumentTypeError,
            r"Friction: smoothing: expected a number .* \[1\]",
        ),
        (robot({"joint3": gd.Friction()}), UnknownNameError, "no joint named 'joint3'; nearest: "),
        (
            robot({"joint1": 0.5}),
            ArgumentTypeError,
            r"friction of joint 'joint1': got 0\.5; give gd\.Friction\(",
        ),
        (
            robot({"joint1": gd.Friction([1, 2])}),
            ArgumentError,
            "'joint1': viscous has 2 numbers; give 1, or one",
        ),
        (robot("models"), ArgumentError, r"friction='models': give \{joint: gd\.Friction\(…\)\} or 'model'"),
        (
            robot(gd.Friction(1)),
            ArgumentTypeError,
            r"friction=Friction\(.*\): give \{joint: gd\.Friction",
        ),
        (robot([]), ArgumentTypeError, r"friction=\[\]: give \{joint"),
    ],
    ids=lambda x: None,
)
def test_friction_that_cannot_be_right_is_refused(
    make: Callable[[], object], error: type[GdalembertError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_friction_of_a_mimicking_joint_is_that_of_the_other() -> None:
    """The message says by which factors, and they are exact."""
    model = build(np.random.default_rng(32), ["RX", "PY"], [0, 1], mimic=1)
    with pytest.raises(ArgumentError, match="friction of joint 'mimic': it mimics another joint and has"):
        gd.NewtonEuler(model, friction={"mimic": gd.Friction(1.0)})
    s = abs(gd.NewtonEuler(model).tree.joints[-1].scaling or 0)
    given = {"RX_0": gd.Friction(1.0 * s * s, 0.5 * s, smoothing=0.1 / s)}
    v = np.array([0.05, 0.0])
    force = JointFriction.of(read_tree(model), given)
    # virtual work: the torque on the mimicked joint is s times that on the mimicking one, which moves at s v
    expected = s * friction(np.ones(1), np.array([0.5]), 0.1, s * v[:1])
    assert relative_error(vector(force.torque(ca.DM(2, 1), ca.DM(v)))[:1], expected) < 1e-14


@pytest.mark.parametrize(
    ("what", "value", "message"),
    [
        ("damping", -0.1, r"joint 'joint2': has the negative damping -0\.1; give at least 0"),
        ("friction", -2.0, "joint 'joint2': has the negative friction -2; give at least 0"),
        ("damping", np.nan, "its damping is not finite"),
        ("friction", np.inf, "its friction is not finite"),
    ],
)
def test_models_with_impossible_friction_are_refused(what: str, value: float, message: str) -> None:
    model = gd.load_urdf("two_link_arm")
    getattr(model, what)[1] = value
    with pytest.raises(ModelError, match=message):
        gd.NewtonEuler(model)


def test_friction_of_another_length_is_refused() -> None:
    model = gd.load_urdf("two_link_arm")
    model.damping = np.zeros(3)
    with pytest.raises(ModelError, match="its damping has 3 entries; give nv = 2"):
        gd.NewtonEuler(model)

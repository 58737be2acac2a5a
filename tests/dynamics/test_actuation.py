"""Actuators and tendons, beside wrenches at their points, their lengths and closed forms."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import nnls

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.testing import assert_valid
from tests.helpers.linkages import closed_four_bar, four_bar
from tests.helpers.models import build, relative_error, states

FLEXOR = gd.Tendon([("universe", (0, 0.05, 0.1)), ("link1", (0.3, 0.05, 0.02)), ("link2", (0.1, 0.05, 0.03))])
EXTENSOR = gd.Tendon([("universe", (0, -0.05, -0.1)), ("link1", (0.3, -0.05, 0.0)), ("link2", (0.1, -0.05, -0.04))])
SHOULDER = gd.Tendon([("universe", (-0.1, 0, -0.1)), ("link1", (0.2, 0.0, -0.03))])
BOTH = {"flexor": FLEXOR, "extensor": EXTENSOR, "shoulder": SHOULDER}


def test_by_default_there_is_an_actuator_for_each_velocity() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    assert np.array_equal(dyn.actuation, np.eye(2))
    assert (dyn.nu, dyn.coordinate_names, list(dyn.modes)) == (2, ("joint1", "joint2"), [])
    assert not dyn.damping_matrix.any()


def driven() -> ca.Function:
    """A force along the cart that a rope turns with the pendulum, and a motor whose torque is quadratic."""
    q, rope, motor = ca.SX.sym("q", 2), ca.SX.sym("rope"), ca.SX.sym("motor")
    tau = ca.vertcat(rope * ca.cos(q[1]), 0.5 * motor + 0.2 * motor**2 - rope * q[0])
    return ca.Function("driven", [q, rope, motor], [tau], ["q", "rope", "motor"], ["tau"])


@pytest.mark.long
def test_actuators_act_by_a_function() -> None:
    model, function = gd.load_urdf("cart_pendulum"), driven()
    dyn = gd.NewtonEuler(model, actuation=function)
    x, u = np.array([0.1, 0.2, 0.3, 0.4]), np.array([5.0, -2.0])
    tau = function(x[:2], *u)
    a = dyn.forward_dynamics(x[:2], x[2:], tau)
    for robot in (dyn, pickle.loads(pickle.dumps(dyn))):
        assert relative_error(robot.state_derivative(x, u).full().ravel(), np.r_[x[2:], a.full().ravel()]) < 1e-14
        assert (robot.nu, robot.actuator_names) == (2, ("rope", "motor"))
    motion, held = (
        gd.simulate(dyn, x, [0, 0.05], u),
        gd.simulate(gd.NewtonEuler(model), x, [0, 0.05], servo(function, u)),
    )
    assert relative_error(motion.x[-1], held.x[-1]) < 1e-9  # of the integrator
    with pytest.raises(UnsupportedError, match=r"^actuation: the actuators of cart_pendulum are a Function; give the"):
        _ = dyn.actuation
    assert_valid(dyn, model, samples=20)


def servo(function: ca.Function, u: np.ndarray) -> ca.Function:
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 4)
    return ca.Function("servo", [t, x], [function(x[:2], *u)])


def test_a_function_of_actuators_is_linearised() -> None:
    """Central differences of the state derivative, at the effort that holds the robot."""
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation=driven())
    q = np.array([0.3, 0.7])
    u = dyn.actuators.efforts(q, dyn.nle(q, [0, 0]).full().ravel())
    x = np.r_[q, 0, 0]
    assert np.abs(dyn.state_derivative(x, u).full()).max() < 1e-12  # at rest
    h = 1e-5
    by_x, by_u = (
        np.column_stack([(f(h * e) - f(-h * e)).full().ravel() / (2 * h) for e in np.eye(n)])
        for n, f in ((4, lambda d: dyn.state_derivative(x + d, u)), (2, lambda d: dyn.state_derivative(x, u + d)))
    )
    a, b = dyn.linearize(q)
    assert relative_error(a, by_x) < 1e-8  # of the differences
    assert relative_error(b, by_u) < 1e-8


def test_columns_have_names() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation={"belt": [2.0, 0.0], "cable": [1.0, -1.0]})
    assert dyn.actuator_names == ("belt", "cable")
    assert np.array_equal(dyn.actuation, [[2.0, 1.0], [0.0, -1.0]])


@pytest.mark.parametrize(
    ("actuation", "error", "message"),
    [
        ("eye", ArgumentTypeError, "actuation: expected numbers, got 'eye'"),
        ([1.0, 0.0], ArgumentError, r"actuation: got shape \(2,\); give B \(2 × nu\) of tau = B u"),
        (np.ones((3, 1)), ArgumentError, r"actuation: got shape \(3, 1\); give B"),
        ("B", ArgumentTypeError, "actuation: expected numbers"),
        (np.ones((2, 0)), ArgumentError, r"actuation: got shape \(2, 0\); give B"),
        ([[np.nan], [0.0]], ArgumentError, r"actuation: entry \[0, 0\] is nan"),
        ({"belt": [1.0]}, ArgumentError, r"actuation: got shape \(1, 1\); give B \(2 × nu\)"),
        (np.zeros((2, 1)), ArgumentError, "actuation: all entries of B are 0, so that nothing drives the robot; give"),
        (
            ca.Function("f", [q := ca.SX.sym("q", 2), u := ca.SX.sym("u")], [q]),
            ArgumentError,
            "actuation: tau of the Function does not depend on u; give a casadi.Function",
        ),
        ({0: [1.0, 0.0]}, ArgumentTypeError, r"actuation: the names are \[0\]; give {name: column of B \(nv\)}"),
        (
            ca.Function("f", [q := ca.SX.sym("q", 3), u := ca.SX.sym("u")], [u * q]),
            ArgumentError,
            r"actuation: the Function has inputs \[\(3, 1\), \(1, 1\)\] and .*; give a casadi.Function \(q, u\) -> ",
        ),
    ],
)
def test_other_matrices_are_refused(actuation: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.NewtonEuler(gd.load_urdf("cart_pendulum"), actuation=actuation)  # type: ignore[arg-type]


def arm(actuation: Mapping[str, object] = BOTH) -> gd.NewtonEuler:
    return gd.NewtonEuler(gd.load_urdf("two_link_arm"), actuation=actuation)


def torque(robot: gd.Dynamics | gd.FlexibleArm, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    return robot.actuators.torque(q, u)


def forces_at_points(points: list[np.ndarray], tension: float) -> list[np.ndarray]:
    """A tendon pulls each of its points towards the next one and the one before."""
    found = [np.zeros(3) for _ in points]
    for k, part in enumerate(np.diff(points, axis=0)):
        found[k] += tension * part / np.linalg.norm(part)
        found[k + 1] -= tension * part / np.linalg.norm(part)
    return found


@pytest.mark.parametrize(
    ("joints", "parents"),
    [
        (["RX", "RUBY", "PZ", "RevoluteUnaligned"], [0, 1, 2, 3]),
        (["FreeFlyer", "Spherical", "Planar"], [0, 1, 1]),
        (["Translation", "HX", "Ellipsoid"], [0, 1, 2]),
        (["Universal", "SphericalZYX", "Composite"], [0, 1, 1]),
    ],
)
def test_a_tension_does_the_work_of_the_forces_at_its_points(joints: list[str], parents: list[int]) -> None:
    """tau = Σ Jᵀ f of Pinocchio's Jacobians, through all links, back to the first, and along branches."""
    rng = np.random.default_rng(7)
    model = build(rng, joints, parents)
    names = ["universe", *(f"body_{k}" for k in range(len(joints))), "body_0"]
    points = [(name, rng.normal(size=3)) for name in names]
    dyn = gd.NewtonEuler(model, actuation={"tendon": gd.Tendon(points)}, clean=0)
    data = model.createData()
    for q, v, _ in states(model, rng, 3):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        at = [data.oMf[model.getFrameId(name)] * np.asarray(x) for name, x in points]
        expected = np.zeros(model.nv)
        for (name, x), force in zip(points, forces_at_points(at, 3.0), strict=True):
            frame = model.getFrameId(name)
            j = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            lever = data.oMf[frame].rotation @ x
            expected += (j[:3] - pin.skew(lever) @ j[3:]).T @ force
        assert relative_error(torque(dyn, q, np.array([3.0])), expected) < 1e-12
        _, rate = gd.Tendon(points).length(dyn.nominal)(q, v)
        assert relative_error(v @ expected, -3.0 * float(rate)) < 1e-12


def test_a_lever_is_that_of_the_triangle() -> None:
    """From a at the distance a before the axis to b on the link: l² = a² + b² + 2 a b cos q, −∂l/∂q = a b sin q / l."""
    model, a, b = pin.Model(), 0.3, 0.2
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    model.addFrame(pin.Frame("link", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    tendon = gd.Tendon([("universe", (-a, 0, 0)), ("link", (b, 0, 0))])
    dyn = gd.NewtonEuler(model, actuation={"tendon": tendon})
    for q in (0.3, 1.7, -2.5):
        length = np.sqrt(a * a + b * b + 2 * a * b * np.cos(q))
        assert float(tendon.length(model)(q, 0)[0]) == pytest.approx(length, rel=1e-14)
        assert torque(dyn, np.array([q]), np.array([4.0])).item() == pytest.approx(4 * a * b * np.sin(q) / length)


def test_only_what_lies_between_the_points_is_driven() -> None:
    """Structurally: a tendon from link to link crosses no joint before them."""
    model = gd.load_urdf("puma560")
    names = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    tendon = gd.Tendon([(names[3], (0.1, 0.05, 0.02)), (names[5], (0.0, 0.07, 0.03))])
    actuators = gd.NewtonEuler(model, actuation={"tendon": tendon}).actuators
    tau = actuators.tau(ca.SX.sym("q", 6), ca.SX.sym("u"))
    driven = set(range(model.frames[model.getFrameId(names[3])].parentJoint, 5))
    assert {i for i in range(6) if not tau[i].is_zero()} == driven


def test_tendons_follow_joints_that_mimic() -> None:
    """dl = −B dq, by differences."""
    model = build(np.random.default_rng(1), ["RX", "PY"], [0, 1], mimic=1)
    model.addFrame(pin.Frame("end", model.getJointId("mimic"), 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    tendon = gd.Tendon([("universe", (0.3, 0.1, 0)), ("body_1", (0, 1, 0)), ("end", (0.1, 0.2, 0.3))])
    dyn, length = gd.NewtonEuler(model, actuation={"tendon": tendon}), tendon.length(model)
    q, h = np.array([0.4, -0.3]), 1e-5
    slope = [(float(length(q + e, e)[0]) - float(length(q - e, e)[0])) / (2 * h) for e in h * np.eye(2)]
    assert relative_error(torque(dyn, q, np.array([1.0])), -np.array(slope)) < 1e-9  # of the differences


def test_stations_of_a_flexible_link_feel_its_tendon() -> None:
    """As the wrenches at the frames of the points; modes too."""
    beam = gd.Beam(1.0, 0.6, EI_y=8.0, EI_z=10.0, GJ=3.0)
    modes = gd.modes.clamped_free(2)
    bending = gd.FlexibleLink(beam, bending_y=modes, bending_z=modes, torsion=gd.modes.polynomial_torsion(1))
    tendon = gd.Tendon([("universe", (0, 0.02, 0.04)), ("link1 tip", (0, 0.02, 0.03)), ("link2", (0.2, 0.02, 0.01))])
    given = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": bending})
    robot = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": bending}, actuation={"tendon": tendon})
    kin, rng = gd.Kinematics(given.nominal, clean=0), np.random.default_rng(3)
    q, v = rng.normal(size=(2, robot.tree.nv)) * 0.1
    placed = [kin.frame_placement(name)(q).full() for name, _ in tendon.points]
    at = [t[:3, :3] @ x + t[:3, 3] for t, (_, x) in zip(placed, tendon.points, strict=True)]
    expected = np.zeros(robot.tree.nv)
    for t, (name, x), force in zip(placed, tendon.points, forces_at_points(at, 5.0), strict=True):
        j = kin.frame_jacobian(name, pin.LOCAL_WORLD_ALIGNED)(q).full()
        expected += (j[:3] - pin.skew(t[:3, :3] @ x) @ j[3:]).T @ force
    found = torque(robot, q, np.array([5.0]))
    assert relative_error(found, expected) < 1e-12
    assert np.abs(found[2:]).min() > 1e-4
    assert v @ found == pytest.approx(-5.0 * float(tendon.length(robot.nominal)(q, v)[1]), rel=1e-12)
    assert (robot.actuator_names, robot.nu) == (("tendon",), 1)


def test_work_is_tension_times_shortening() -> None:
    dyn, u = arm(), np.array([30.0, 10.0, 5.0])
    motion = gd.simulate(dyn, ([0.3, -0.5], [0.0, 0.0]), 0.3, u, reltol=1e-10, abstol=1e-12)
    lengths = [[float(t.length(dyn.nominal)(q, q)[0]) for t in BOTH.values()] for q in motion.q[[0, -1]]]
    energies = [
        float(dyn.kinetic_energy(q, v) + dyn.potential_energy(q)) for q, v in zip(motion.q, motion.v, strict=True)
    ]
    assert energies[-1] - energies[0] == pytest.approx(u @ np.subtract(*lengths), rel=1e-8)
    assert motion.relative_balance < 1e-8


@pytest.mark.long
def test_tendons_work_wherever_actuators_do() -> None:
    dyn, model = arm({**BOTH, "motor": [0.0, 1.0]}), gd.load_urdf("two_link_arm")
    q, v, u = np.array([0.3, -0.5]), np.array([0.2, 0.4]), np.array([20.0, 5.0, 8.0, -1.0])
    a = gd.NewtonEuler(model).forward_dynamics(q, v, torque(dyn, q, u)).full().ravel()
    x = np.r_[q, v]
    for robot in (dyn, pickle.loads(pickle.dumps(dyn)), dyn.at(), dyn.under()):
        assert relative_error(robot.state_derivative(x, u).full().ravel(), np.r_[v, a]) < 1e-13
        assert robot.actuator_names == ("flexor", "extensor", "shoulder", "motor")
    assert_valid(dyn, model, samples=20)
    held = dyn.actuators.efforts(q, dyn.nle(q, v).full().ravel())
    by_q, b = dyn.linearize(q, v, u=held)
    assert by_q.shape == (4, 4)
    assert relative_error(b[2:], dyn.mass_matrix_inverse(q).full() @ dyn.actuators.derivatives(q, u)[1]) < 1e-12
    with pytest.raises(UnsupportedError, match=r"^actuation: the actuators of two_link_arm are tendons; give"):
        _ = dyn.actuation


def test_tendons_drive_a_linkage() -> None:
    bars = four_bar()
    links = [frame.name for frame in bars.frames if frame.type == pin.FrameType.BODY]
    tendon = gd.Tendon([("universe", (0.1, 0.3, 0.0)), (links[1], (0.1, 0.02, 0.0))])
    loop = gd.Loop("coupler end", "rocker end", "3D")
    free, held = (
        gd.ConstrainedDynamics(gd.NewtonEuler(bars, actuation=given), [loop], regularization=1e-6)
        for given in (None, {"tendon": tendon})
    )
    q = held.closed_configuration([*closed_four_bar(0.4)], hold=["crank"])
    tau = torque(held.dynamics, q, np.array([6.0]))
    a, _ = free.forward_dynamics(q, np.zeros(3), tau)
    rate = held.state_derivative(np.r_[q, np.zeros(3)], 6.0).full().ravel()
    assert relative_error(rate[3:], a.full().ravel()) < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_efforts_are_the_best_tensions(seed: int) -> None:
    """Least squares as SciPy's, of tensions that are not negative."""
    rng = np.random.default_rng(seed)
    points = [[(name, rng.normal(size=3)) for name in ("universe", "link1", "link2")] for _ in range(4)]
    dyn = arm({f"t{k}": gd.Tendon(each) for k, each in enumerate(points)})
    q, tau = np.array([0.2, 0.4]), rng.normal(size=2)
    b, found = dyn.actuators.derivatives(q, np.ones(4))[1], dyn.actuators.efforts(q, tau)
    assert found.min() >= 0
    assert np.linalg.norm(b @ found - tau) == pytest.approx(nnls(b, tau)[1], abs=1e-12)


@pytest.mark.long
def test_tensions_are_planned() -> None:
    """Two tendons that hold the shoulder against each other, and a motor at the elbow; the motion is that of tau."""
    upper = gd.Tendon([("universe", (-0.1, 0, 0.1)), ("link1", (0.2, 0.0, 0.03))])
    actuation = {"upper": upper, "lower": SHOULDER, "elbow": [0.0, 1.0]}
    dyn, model = arm(actuation), gd.load_urdf("two_link_arm")
    assert ocp.Bounds.of(dyn).u_lower.tolist() == [0, 0, -np.inf]
    bounds = ocp.Bounds.of(dyn, model, u={"upper": (0, 300), "lower": (0, 300)})
    assert (bounds.u_names, bounds.u_upper.tolist()) == (tuple(actuation), [300, 300, model.effortLimit[1]])
    problem = ocp.Problem(dyn, 0.3, 8, bounds=bounds)
    problem.start([0.1, -0.3])
    problem.end([0.3, -0.1])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u) / 1e4))
    solution = problem.solve()
    assert solution.u[:, :2].min() > -1e-5  # of 300 N: the relaxed bounds of the solver
    assert solution.u[:, 0].max() == pytest.approx(300, abs=1e-4)
    assert np.abs(solution.simulate().q[-1] - [0.3, -0.1]).max() < 1e-5  # steps of 40 ms


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: gd.Tendon(3), ArgumentTypeError, r"^Tendon: got 3; give \[\(frame, position\), …\]"),
        (lambda: gd.Tendon(["link1", "link2"]), ArgumentTypeError, r"^Tendon: point 0 is 'link1'; give \(frame, pos"),
        (lambda: gd.Tendon([("link1", (0, 0, 0))]), ArgumentError, r"^Tendon: got 1 points; give at least two, as \["),
        (
            lambda: gd.Tendon([("link1", (0, 0)), ("link2", (0, 0, 0))]),
            ArgumentError,
            r"^Tendon: the position of point 0 has shape \(2,\); give \(3,\)",
        ),
        (
            lambda: arm({"t": gd.Tendon([("lnk1", (0, 0, 0)), ("link2", (0, 0, 0))])}),
            UnknownNameError,
            "^no frame named 'lnk1'; nearest: 'link1'",
        ),
        (
            lambda: arm({"t": gd.Tendon([("link1", (0, 0, 0)), ("link1", (1, 0, 0))])}),
            ArgumentError,
            "^actuation: no joint changes the length of 't'; give other points",
        ),
        (
            lambda: arm({"t": gd.Tendon([("universe", (0, 0.1, 0)), ("link1", (0, 0.1, 0)), ("link2", (1, 0, 0))])}),
            ArgumentError,
            "^actuation: two points in a row of 't' are always at the same place; leave one of them out",
        ),
        (lambda: arm(FLEXOR), ArgumentTypeError, "^actuation: got a Tendon without a name; give {name: tendon}"),
        (lambda: arm({"t": FLEXOR, "m": [1.0]}), ArgumentError, r"^actuation: column 'm' has shape \(1,\); give"),
        (
            lambda: ocp.Bounds.of(arm(), u={"flexor": 5}),
            ArgumentError,
            "two_link_arm: 'flexor' is a tendon, which cannot push, and its least tension is -5; give u={'flexor': ",
        ),
    ],
)  # fmt: skip
def test_what_is_no_tendon_is_refused(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]

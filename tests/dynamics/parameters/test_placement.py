"""Placements as parameters: beside a model that has them in numbers, their derivatives, and what they cannot be."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import export
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.symbolic import symbolic_tree
from tests.helpers.models import JOINTS, build, placement, relative_error, states
from tests.helpers.sets import quick

TIGHT = 1e-12
REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
PANDA, PUMA = gd.load_urdf("panda7"), gd.load_urdf("puma560_3")
ALL = {"placement": ["joint1", "joint2", "joint3", "tool"], "payload": ["tool"], "inertia": ["joint2"]}


def robot_with_tool(kind: str, *, mimic: bool = False) -> pin.Model:
    """A revolute joint, one of a kind and a slanted one, with a tool on the last link."""
    rng = np.random.default_rng(3)
    model = build(rng, ["RX", kind, "RevoluteUnaligned"], [0, 1, 2], mimic=1 if mimic else None)
    for k, name in enumerate(["joint1", "joint2", "joint3"], 1):
        model.names[k] = name
    model.addFrame(pin.Frame("tool", 3, 0, placement(rng), pin.FrameType.OP_FRAME))
    return model


def given(robot: gd.Dynamics | gd.Kinematics, model: pin.Model, seed: int = 0) -> tuple[np.ndarray, pin.Model]:
    """Random p, and the model that has it."""
    p = robot.parameters.random(np.random.default_rng(seed))
    return p, robot.parameters.write(model, p)


PAIRS = [(kind, gd.NewtonEuler) for kind in sorted(JOINTS)[::2]]
PAIRS += itertools.product(("FreeFlyer", "Composite", "HZ"), (gd.LagrangeEuler, gd.GeneralizedDAlembert))


@pytest.mark.parametrize(("kind", "formulation"), quick(PAIRS, *(x for x in PAIRS if x[0] in ("FreeFlyer", "PX"))))
def test_dynamics_are_those_of_a_model_with_these_placements(kind: str, formulation: type[gd.Dynamics]) -> None:
    model = robot_with_tool(kind)
    dyn = formulation(model, clean=0, parameters=ALL, wrenches={"tool": pin.LOCAL_WORLD_ALIGNED})
    p, other = given(dyn, model)
    data = other.createData()
    q, v, a = states(other, np.random.default_rng(1), 1)[0]
    wrench = np.random.default_rng(2).normal(size=6)
    pin.framesForwardKinematics(other, data, q)
    index = other.getFrameId("tool")
    at = pin.SE3(data.oMf[index].rotation, np.zeros(3))
    fext = pin.StdVec_Force([pin.Force.Zero() for _ in range(other.njoints)])
    fext[3] = other.frames[index].placement.act(at.actInv(pin.Force(wrench)))
    tau = pin.rnea(other, data, q, v, a, fext)
    found = dyn.inverse_dynamics(q, v, a, wrench, p).full().ravel()
    assert relative_error(found, tau) < TIGHT
    assert relative_error(dyn.forward_dynamics(q, v, found, wrench, p).full().ravel(), a) < 1e-10  # M is inverted
    m = np.triu(pin.crba(other, data, q))
    assert relative_error(np.triu(dyn.mass_matrix(q, p).full()), m) < TIGHT
    assert relative_error(dyn.at(p).under(wrench[:, None]).inverse_dynamics(q, v, a).full().ravel(), tau) < TIGHT
    nominal = pin.rnea(model, model.createData(), q, v, a)
    at_rest = dyn.inverse_dynamics(q, v, a, np.zeros(6), dyn.parameters.values).full().ravel()
    assert relative_error(at_rest, nominal) < TIGHT
    assert relative_error(found, nominal) > 1e-3


def test_mimic_joints_move_with_displaced_placements() -> None:
    model = robot_with_tool("RY", mimic=True)
    names = list(model.names)[1:]
    dyn = gd.NewtonEuler(model, clean=0, parameters={"placement": True})
    assert dyn.parameters.names[::6] == tuple(f"{name}.x" for name in names)
    p, other = given(dyn, model)
    q, v, a = states(other, np.random.default_rng(1), 1)[0]
    found = dyn.inverse_dynamics(q, v, a, p).full().ravel()
    assert relative_error(found, pin.rnea(other, other.createData(), q, v, a)) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize("kind", quick([*sorted(JOINTS)[1::2], "FreeFlyer", "Universal"], "FreeFlyer", "Universal"))
def test_kinematics_are_those_of_a_model_with_these_placements(kind: str) -> None:
    model = robot_with_tool(kind)
    kin = gd.Kinematics(model, clean=0, parameters=ALL)
    p, other = given(kin, model)
    data, index = other.createData(), other.getFrameId("tool")
    q, v, a = states(other, np.random.default_rng(1), 1)[0]
    pin.forwardKinematics(other, data, q, v, a)
    placed = pin.updateFramePlacement(other, data, index).homogeneous
    assert relative_error(kin.frame_placement("tool")(q, p).full(), placed) < TIGHT
    assert relative_error(kin.joint_placement("joint3")(q, p).full(), data.oMi[3].homogeneous) < TIGHT
    assert np.abs(kin.frame_error("tool")(q, placed, p).full()).max() < TIGHT
    assert kin.frame_error("tool").name_in() == ["q", "T", "p"]
    for reference in REFERENCES:
        j = pin.computeFrameJacobian(other, data, q, index, reference)
        assert relative_error(kin.frame_jacobian("tool", reference)(q, p).full(), j) < TIGHT
        twist = pin.getFrameVelocity(other, data, index, reference).vector
        assert relative_error(kin.frame_velocity("tool", reference)(q, v, p).full().ravel(), twist) < TIGHT
        spatial = pin.getFrameAcceleration(other, data, index, reference).vector
        assert relative_error(kin.frame_acceleration("tool", reference)(q, v, a, p).full().ravel(), spatial) < TIGHT
    assert relative_error(kin.center_of_mass(q, p).full().ravel(), pin.centerOfMass(other, data, q)) < TIGHT
    assert relative_error(kin.centroidal_map(q, p).full(), pin.computeCentroidalMap(other, data, q)) < TIGHT
    rate = pin.computeCentroidalMomentumTimeVariation(other, data, q, v, a).vector
    assert relative_error(kin.centroidal_momentum_rate(q, v, a, p).full().ravel(), rate) < TIGHT
    assert abs(kin.at(p).total_mass - pin.computeTotalMass(other)) < TIGHT


@pytest.mark.parametrize("parameters", [{"placement": True}, {"placement": ["joint4", "flange"]}, ["inertia"]], ids=str)
def test_kinematics_with_numbers_for_p_are_those_with_p(parameters: Any) -> None:
    kin = gd.Kinematics(PANDA, parameters=parameters)
    p, other = given(kin, PANDA)
    at_p, q = kin.at(p), np.linspace(-1, 1, 7)
    for name in ("center_of_mass", "centroidal_map"):
        found = getattr(kin, name)(q, p).full()
        assert relative_error(getattr(at_p, name)(q).full(), found) < TIGHT
        assert relative_error(getattr(gd.Kinematics(other), name)(q).full(), found) < TIGHT
    assert kin.integrate.name_in() == ["q", "v"]
    assert kin.difference.name_in() == ["q0", "q1"]
    assert at_p.frame_placement("flange").name_in() == ["q"]
    for robot in (kin, at_p):
        again = pickle.loads(pickle.dumps(robot))
        assert again.parameters.names == robot.parameters.names
        assert again.changes == robot.changes
    if "placement" in parameters:
        assert kin.at().tree == gd.Kinematics(PANDA).tree  # to the bit


@pytest.mark.parametrize("frame", ["joint5", "flange"])
def test_p_of_a_model_is_that_which_was_written(frame: str) -> None:
    parameters = gd.NewtonEuler(PANDA, parameters={"placement": ["joint2", frame]}).parameters
    p = np.random.default_rng(0).normal(size=12) * np.tile([0.1, 0.1, 0.1, 0.8, 0.8, 0.8], 2)
    other = parameters.write(PANDA, p)
    assert relative_error(parameters.of(other), p) < TIGHT
    assert relative_error(parameters.of(parameters.write(other, 2 * p[::-1])), 2 * p[::-1]) < TIGHT  # and not on top
    assert not parameters.of(PANDA).any()
    assert not parameters.values.any()
    for placed in (*other.jointPlacements, *(f.placement for f in other.frames)):
        assert np.abs(placed.rotation.T @ placed.rotation - np.eye(3)).max() < 1e-15


def test_derivatives_at_zero_are_the_kinematic_regressor() -> None:
    kin, q = gd.Kinematics(PANDA, parameters={"placement": True}), np.linspace(-1, 1, 7)
    s, p = ca.SX.sym("q", 7), ca.SX.sym("p", 42)
    place, zero = kin.at().frame_placement("flange")(q), np.zeros(42)
    graph = ca.Function("of_p", [s, p], [ca.jacobian(kin.frame_error("flange")(s, place, p), p)])
    data = PANDA.createData()
    pin.forwardKinematics(PANDA, data, q)
    pin.updateFramePlacements(PANDA, data)
    regressor = pin.computeFrameKinematicRegressor(PANDA, data, PANDA.getFrameId("flange"), pin.LOCAL)
    assert relative_error(-graph(q, zero).full(), regressor) < TIGHT


@pytest.mark.long
def test_second_derivatives_at_zero_are_right() -> None:
    dyn, rng = gd.NewtonEuler(PANDA, parameters={"placement": ["joint3"]}), np.random.default_rng(0)
    (q, v, a), (x, y), p = rng.normal(size=(3, 7)), rng.normal(size=(2, 6)), ca.SX.sym("p", 6)
    tau = dyn.inverse_dynamics(q, v, a, p)
    second = ca.Function("second", [p], [ca.jtimes(ca.jtimes(tau, p, x), p, y)])(np.zeros(6)).full().ravel()
    h = 1e-3

    def at(i: float, j: float) -> np.ndarray:
        return np.array(dyn.inverse_dynamics(q, v, a, h * (i * x + j * y)).full().ravel())

    steps = [(at(k, k) - at(k, -k) - at(-k, k) + at(-k, -k)) / (2 * k * h) ** 2 for k in (1, 2)]
    assert relative_error(second, (4 * steps[0] - steps[1]) / 3) < 1e-6  # differences of the fourth order


@pytest.mark.long
def test_a_payload_hangs_at_the_displaced_frame() -> None:
    dyn = gd.NewtonEuler(PANDA, parameters={"payload": ["flange"], "placement": ["flange"]})
    p = dyn.parameters.vector({"flange.m": 2.0, "flange.x": 0.1})
    q = np.linspace(-1, 1, 7)
    moved = dyn.parameters.write(PANDA, {"flange.x": 0.1})
    held = gd.payload_torques(moved, "flange", 2.0)(q) + dyn.at().generalized_gravity(q)
    assert relative_error(dyn.generalized_gravity(q, p).full(), held.full()) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize(("kind", "rows"), quick([("3D", {}), ("3D", {"rows": ("x", "z")}), ("1D", {})], ("1D", {})))
def test_contacts_hold_displaced_frames(kind: str, rows: dict[str, Any]) -> None:
    dyn = gd.NewtonEuler(PUMA, parameters={"placement": ["wrist", "joint2"]})
    p, other = given(dyn, PUMA)
    contacts = [gd.Contact("wrist", kind, **rows)]
    con, rigid = (gd.ConstrainedDynamics(each, contacts, damping=3.0) for each in (dyn, gd.NewtonEuler(other)))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 3))
    names = ("forward_dynamics", "jacobian", "bias_acceleration", "impact", "forward_dynamics_derivatives")
    for name in names:
        own, theirs = getattr(con, name), getattr(rigid, name)
        known = {"q": q, "v": v, "tau": tau, "p": p}
        found = own.call([known[x] for x in own.name_in()])
        wanted = theirs.call([known[x] for x in theirs.name_in()])
        assert all(relative_error(x.full(), y.full()) < 1e-11 for x, y in zip(found, wanted, strict=True))
    anchored = con.anchored(q, p)
    assert relative_error(anchored.constraints[0].anchor, rigid.anchored(q).constraints[0].anchor) < TIGHT
    assert np.abs(anchored.residual(q, p).full()).max() < TIGHT


@pytest.mark.long
def test_a_motion_holds_a_displaced_frame_where_it_begins() -> None:
    dyn = gd.NewtonEuler(PUMA, parameters={"placement": ["wrist"]})
    con, q = gd.ConstrainedDynamics(dyn, [gd.Contact("wrist", "1D")], damping=3.0), np.array([0.1, 0.5, -1.0])
    p = {"wrist.x": 0.1, "wrist.ry": 0.2}
    place = gd.Kinematics(dyn.parameters.write(PUMA, p)).frame_placement("wrist")
    motion = gd.simulate(con, (q, np.zeros(3)), 0.1, p=p)
    assert np.abs(motion.q[-1] - q).max() > 1e-3
    assert abs(place(motion.q[-1]).full()[2, 3] - place(q).full()[2, 3]) < 1e-6  # of the integration


@pytest.mark.long
def test_loops_close_at_displaced_frames() -> None:
    dyn = gd.NewtonEuler(PANDA, parameters={"placement": ["joint3", "flange"]})
    p, other = given(dyn, PANDA)
    loops = [gd.Loop("flange", "joint2", "3D")]
    con, rigid = (gd.ConstrainedDynamics(each, loops) for each in (dyn, gd.NewtonEuler(other)))
    q = con.at(p).closed_configuration(np.linspace(0.1, 1, 7))
    assert np.abs(rigid.residual(q).full()).max() < 1e-8
    assert relative_error(con.residual(q, p).full(), rigid.residual(q).full()) < TIGHT


@pytest.mark.long
def test_motions_are_those_of_a_model_with_these_placements() -> None:
    dyn = gd.NewtonEuler(PUMA, parameters={"placement": ["joint2"], "payload": ["wrist"]})
    p, other = given(dyn, PUMA)
    x, t = np.array([0.1, 0.5, -1.0, 0.3, -0.2, 0.1]), np.linspace(0, 0.1, 3)
    own, theirs = gd.simulate(dyn, x, t, p=p), gd.simulate(gd.NewtonEuler(other), x, t)
    assert np.abs(own.x - theirs.x).max() < 1e-8  # of the integration
    assert np.abs(own.x - gd.simulate(gd.NewtonEuler(PUMA), x, t).x).max() > 1e-4
    assert gd.validate(dyn, against=PUMA, samples=5).ok


@pytest.mark.long
def test_plans_are_those_of_a_model_with_these_placements() -> None:
    def cost(robot: gd.Dynamics, **options: Any) -> float:
        problem = gd.ocp.Problem(robot, 1.0, 8)
        problem.start([0.0, 0.3, -0.5], np.zeros(3))
        problem.end([0.5, 0.6, -0.3], np.zeros(3))
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        return float(problem.solve(**options).cost)

    dyn = gd.NewtonEuler(PUMA, parameters={"placement": ["joint2"]})
    p = 5 * given(dyn, PUMA)[0]
    wanted = cost(gd.NewtonEuler(dyn.parameters.write(PUMA, p)))
    assert abs(cost(dyn, p=p) - wanted) < 1e-8 * wanted  # of the solver
    assert abs(cost(dyn) - wanted) > 1e-3 * wanted


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_exported_code_has_both_branches_of_exp6(size: float) -> None:
    dyn = gd.NewtonEuler(PUMA, parameters={"placement": ["joint2"]})
    (code,) = export.derive(dyn, "python", terms=["inverse_dynamics"]).values()
    module: dict[str, Any] = {}
    exec(compile(code, "exported", "exec"), module)
    p, x = size * given(dyn, PUMA)[0], np.random.default_rng(0).normal(size=(3, 3))
    wanted = dyn.inverse_dynamics(*x, p).full().ravel()
    assert relative_error(module["inverse_dynamics"](*x.tolist(), p.tolist()), wanted) < TIGHT


def test_a_tree_of_formulas_has_its_symbols_as_p() -> None:
    kin, plain = gd.Kinematics(symbolic_tree("two_link_arm")), gd.Kinematics(gd.load_urdf("two_link_arm"))
    q, p = np.array([0.3, 0.4]), kin.parameters.values
    assert kin.center_of_mass.name_in() == ["q", "p"]
    for name in ("center_of_mass", "centroidal_map"):
        assert relative_error(getattr(kin, name)(q, p).full(), getattr(plain, name)(q).full()) < TIGHT
    assert relative_error(kin.at().joint_placement(2)(q).full(), plain.joint_placement(2)(q).full()) < TIGHT


def test_one_displacement_keeps_most_of_the_link_frames() -> None:
    """Without link frames of our own tau of panda7 has 1044 instructions; it has 905."""
    dyn = gd.NewtonEuler(PANDA, parameters={"placement": ["joint4"]})
    assert dyn.inverse_dynamics.n_instructions() < 950


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: gd.NewtonEuler(PANDA, parameters=["base", "placement"]),
            ArgumentError,
            "parameters: 'base' parameters are regrouped by the numbers of the geometry, which 'placement' varies; "
            "give 'inertia' in place of 'base'",
        ),
        (
            lambda: gd.Kinematics(PANDA, parameters={"placement": ["joint9"]}),
            UnknownNameError,
            "no joint or frame named 'joint9'; nearest: 'joint7', 'joint6', 'joint5'",
        ),
        (
            lambda: gd.Kinematics(PANDA, parameters=["gravity"]),
            UnknownNameError,
            "no kind of parameters of Kinematics named 'gravity'; known: 'placement', 'inertia', 'payload'",
        ),
        (
            lambda: gd.Kinematics(PANDA, parameters="placement"),  # type: ignore[arg-type]
            ArgumentTypeError,
            "parameters='placement': give {kind: True or names} or a list of kinds",
        ),
        (
            lambda: gd.Kinematics(PANDA, parameters=["inertia"]).total_mass,
            UnsupportedError,
            "panda7: total_mass: masses are parameters; take kin.at(p).total_mass",
        ),
        (
            lambda: gd.Kinematics(PANDA).at({"joint1.x": 0.1}),
            ArgumentError,
            "at: p is given, but panda7 has no parameters; drop p, or make the robot with parameters={kind: True}",
        ),
        (
            lambda: gd.NewtonEuler(
                PANDA,
                actuation={"cable": gd.Tendon([("universe", (0, 0, 1)), ("flange", (0, 0, 0))])},
                parameters={"placement": ["flange"]},
            ),
            UnsupportedError,
            "actuation: tendon 'cable': panda7 has placements as parameters, and its points are placed by numbers; "
            "give the tendon to a robot without them",
        ),
        (
            lambda: gd.ocp.Problem(
                gd.ConstrainedDynamics(
                    gd.NewtonEuler(PANDA, parameters={"placement": ["flange"]}), [gd.Contact("flange", "3D")]
                ),
                1.0,
                5,
            ),
            UnsupportedError,
            "Problem: panda7: its placements are parameters, and contacts and loops are held by numbers; give "
            "con.at(p)",
        ),
        (
            lambda: gd.identification.fit(
                gd.NewtonEuler(PUMA, parameters={"placement": ["wrist"], "payload": ["wrist"]}),
                *np.random.default_rng(0).normal(size=(4, 20, 3)),
            ),
            ArgumentError,
            "fit: tau is not affine in 'wrist.x', 'wrist.y', 'wrist.z', 'wrist.rx', …: placements are found from "
            "measured poses; leave 'placement' out of the parameters, and give the robot a model that has them",
        ),
    ],
)
def test_what_displaced_placements_cannot_be(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message


def test_what_stands_on_a_flexible_link_is_not_displaced() -> None:
    model = gd.load_urdf("two_link_arm")
    tube = gd.FlexibleLink(gd.Beam.tube(None, 0.04, 0.002, density=2700, youngs_modulus=7e10), keep_body=True)
    with pytest.raises(UnsupportedError) as raised:
        gd.FlexibleArm(model, {"link1": tube}, parameters={"placement": ["joint2"]})
    assert str(raised.value) == (
        "parameters: placement of 'joint2': it stands on a flexible link, where its beam places it; give joints and "
        "frames on rigid links"
    )
    arm = gd.FlexibleArm(model, {"link1": tube}, parameters={"placement": True})
    assert arm.parameters.names == tuple(f"joint1.{x}" for x in ("x", "y", "z", "rx", "ry", "rz"))
    p = arm.parameters.random(np.random.default_rng(0))
    q = np.linspace(0.1, 0.2, arm.nq)
    assert relative_error(arm.tip_placement("link1")(q, p).full(), arm.at(p).tip_placement("link1")(q).full()) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize("reference", REFERENCES[:1])
def test_flexible_arms_move_with_displaced_joints(reference: pin.ReferenceFrame) -> None:
    model = PANDA.copy()
    tube = gd.FlexibleLink(gd.Beam.tube(None, 0.01, 0.001, density=2700, youngs_modulus=7e10), keep_body=True)
    links, parameters = {"link3": tube}, {"placement": ["joint2", "joint3", "joint6"], "armature": True}
    arm = gd.FlexibleArm(model, links, parameters=parameters, wrenches={"flange": reference})
    assert gd.validate(arm, against=model, samples=5).ok
    p, other = given(arm, model)
    found, theirs, q = arm.at(p), gd.FlexibleArm(other, links), np.linspace(0.1, 0.2, arm.nq)
    wanted = theirs.tip_placement("link3")(q).full()
    assert relative_error(found.tip_placement("link3")(q).full(), wanted) < TIGHT
    assert relative_error(arm.tip_placement("link3")(q, p).full(), wanted) < TIGHT
    bent = arm.static_deflection(q[:7], "flange", np.ones(6), reference=reference, p=p)
    assert relative_error(bent, theirs.static_deflection(q[:7], "flange", np.ones(6), reference=reference)) < 1e-9
    kin = gd.Kinematics(arm.nominal, clean=0, parameters={"placement": parameters["placement"], "inertia": ["joint6"]})
    own = kin.parameters.vector(dict(zip(arm.parameters.names[:18], p[:18], strict=True)))
    for name in ("center_of_mass", "centroidal_map"):
        mine = getattr(gd.Kinematics(theirs.nominal, clean=0), name)(q).full()
        assert relative_error(getattr(kin, name)(q, own).full(), mine) < TIGHT

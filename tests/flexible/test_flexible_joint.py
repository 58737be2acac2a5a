"""Springs in directions of their own, at joints and at frames, beside closed forms and Pinocchio's composite joints."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import eigh

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError, UnknownNameError, UnsupportedError
from gdalembert.flexible.flexible_joint import DIRECTIONS, FlexibleJoint
from gdalembert.testing import assert_valid
from tests.helpers.models import relative_error
from tests.helpers.validated_arms import bending, robot

pytestmark = [
    pytest.mark.filterwarnings("ignore:link .* its body of"),
    pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning"),
]

TIGHT = 1e-12
STIFFNESS = np.array([3e4, 2e4, 5e4, 900.0, 700.0, 400.0])
DAMPING = np.array([30.0, 20.0, 50.0, 3.0, 2.0, 1.0])
INERTIA = '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.2" iyz="0" izz="0.21"/>'


def link(name: str, mass: float) -> str:
    body = f'<inertial><origin xyz="0.1 0.02 0.03"/><mass value="{mass}"/>{INERTIA}</inertial>'
    return f'<link name="{name}">{body}</link>'


def joint(name: str, kind: str, parent: str, child: str, place: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin {place}/>'
    ends += '<limit lower="-2" upper="2" effort="9" velocity="9"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 0 1"/></joint>'


def on_table() -> pin.Model:
    """Two links on a plate that is fixed to a table; a sensor, a gripper and a finger are fixed to the second link."""
    links = {"table": 30.0, "plate": 3.0, "upper": 2.0, "fore": 1.0, "sensor": 0.2, "gripper": 0.5, "finger": 0.1}
    joints = [
        joint("mount", "fixed", "table", "plate", 'xyz="0 0 0.1" rpy="0.2 0.1 0.3"'),
        joint("shoulder", "revolute", "plate", "upper", 'xyz="0 0 0.2" rpy="0.1 0.3 0.2"'),
        joint("elbow", "revolute", "upper", "fore", 'xyz="0.5 0 0.1" rpy="0.2 0.4 0.1"'),
        joint("wrist", "fixed", "fore", "sensor", 'xyz="0.4 0.1 0" rpy="0.3 0.1 0.2"'),
        joint("flange", "fixed", "sensor", "gripper", 'xyz="0 0 0.1" rpy="0.1 0.2 0.1"'),
        joint("slide", "prismatic", "gripper", "finger", 'xyz="0 0.05 0"'),
    ]
    return gd.load_urdf(f'<robot name="on_table">{"".join(map(link, links, links.values()))}{"".join(joints)}</robot>')


def six(**options: Any) -> FlexibleJoint:
    return FlexibleJoint(STIFFNESS, damping=DAMPING, directions=DIRECTIONS, **options)


def composite(directions: tuple[str, ...] = ("x", "y", "z", "rz", "ry", "rx")) -> pin.JointModelComposite:
    joint = pin.JointModelComposite()
    for direction in directions:
        joint.addJoint(getattr(pin, f"JointModel{'R' if direction.startswith('r') else 'P'}{direction[-1].upper()}")())
    return joint


def spatial_inertia(body: pin.Inertia) -> np.ndarray:
    """6 × 6 about the origin of the body's frame."""
    c, tensor = pin.skew(body.lever), body.inertia - body.mass * pin.skew(body.lever) @ pin.skew(body.lever)
    return np.block([[body.mass * np.eye(3), -body.mass * c], [body.mass * c, tensor]])


# Closed forms.


@pytest.mark.parametrize("coupled", [False, True])
def test_a_mass_on_six_springs(coupled: bool) -> None:
    """K ψ = ω² M ψ of one rigid body at rest, whose modes are those of numpy."""
    model, rng = on_table(), np.random.default_rng(2)
    mixing = np.eye(6) + coupled * 0.1 * rng.normal(size=(6, 6))
    stiffness = mixing.T @ np.diag(STIFFNESS) @ mixing
    arm = gd.FlexibleArm(
        model, {}, {"slide": FlexibleJoint(stiffness[np.ix_(range(2), range(2))], directions=("x", "y"))}
    )
    assert arm.layout[-2:] == ("slide x", "slide y")
    arm = gd.FlexibleArm(model, {}, {"wrist": FlexibleJoint(stiffness, directions=DIRECTIONS)}, clean=0)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.zeros(3))
    frame = data.oMf[model.getFrameId("wrist")]
    carried = [model.frames[model.getFrameId(name)] for name in ("wrist", "flange")]
    bodies = [(data.oMf[model.getFrameId(f.name)], f.inertia) for f in carried]
    bodies.append((data.oMi[3], model.inertias[3]))
    mass = sum(spatial_inertia(frame.inverse().act(place.act(body))) for place, body in bodies)
    squares, shapes = eigh(stiffness, mass)
    omega, modes = arm.natural_modes(np.zeros(3))
    assert relative_error(omega, np.sqrt(squares)) < TIGHT
    assert not modes[:3].any()
    overlap = np.abs(modes[3:].T @ mass @ shapes)
    assert np.abs(overlap - np.eye(6)).max() < 1e-10  # modes of nearly equal frequencies mix by rounding over their gap
    sag = arm.static_deflection(np.zeros(3))[3:]
    weight = np.concatenate([frame.rotation.T @ [0, 0, -9.81], np.zeros(3)])
    small = np.linalg.solve(stiffness, mass @ weight)
    assert np.abs(sag - small).max() < 0.05 * np.abs(sag).max()  # to first order in the angles


def test_two_links_on_a_base_of_three_springs() -> None:
    """The Lagrangian of a planar arm on a base with x, y and φ, written by hand."""
    model = gd.load_urdf("two_link_flexible")
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    stiffness, damping = np.array([800.0, 600.0, 90.0]), np.array([3.0, 2.0, 1.0])
    base = pin.Inertia(4.0, np.array([0.1, 0.05, 0.0]), np.diag([0.2, 0.2, 0.3]))
    spring = FlexibleJoint(stiffness, damping=damping, directions=("x", "y", "rz"), body=base)
    arm = gd.FlexibleArm(model, {}, {"base": spring}, clean=0)
    assert arm.layout == ("joint1", "joint2", "base x", "base y", "base rz")
    assert arm.modes == arm.modes_of("base") == range(2, 5)
    q, v, a = (ca.SX.sym(name, 5) for name in "qva")
    angles = q[4], q[4] + q[0], q[4] + q[0] + q[1]

    def ahead(angle: Any, lever: Any) -> Any:
        c, s = ca.cos(angle), ca.sin(angle)
        return ca.vertcat(c * lever[0] - s * lever[1], s * lever[0] + c * lever[1])

    origin, (first, second) = q[2:4], (model.inertias[1], model.inertias[2])
    elbow = origin + ahead(angles[1], model.jointPlacements[2].translation)
    bodies = [
        (base, origin + ahead(angles[0], base.lever), angles[0]),
        (first, origin + ahead(angles[1], first.lever), angles[1]),
        (second, elbow + ahead(angles[2], second.lever), angles[2]),
    ]
    kinetic, potential = 0, 0.5 * ca.dot(q[2:], ca.DM(stiffness) * q[2:])
    for body, place, angle in bodies:
        velocity, spin = ca.jtimes(place, q, v), ca.jtimes(angle, q, v)
        kinetic += 0.5 * (body.mass * ca.sumsqr(velocity) + body.inertia[2, 2] * spin**2)
        potential -= body.mass * ca.dot(ca.DM(model.gravity.linear[:2]), place)
    momentum, lagrangian = ca.gradient(kinetic, v), kinetic - potential
    rate = ca.jtimes(momentum, q, v) + ca.jtimes(momentum, v, a)
    tau = rate - ca.gradient(lagrangian, q) + ca.vertcat(0, 0, ca.DM(damping) * v[2:])
    wanted = ca.Function("tau", [q, v, a], [tau])
    for state in np.random.default_rng(3).normal(size=(3, 3, 5)):
        assert relative_error(arm.inverse_dynamics(*state).full(), wanted(*state).full()) < TIGHT


ROW = ("x", "y", "z", "rz", "ry", "rx")


def on_joints(model: pin.Model, bases: list[pin.JointModelComposite]) -> pin.Model:
    """The model whose base, with its body, is on joints in a row."""
    elastic, base = pin.Model(), 0
    for k, base_joint in enumerate(bases):
        base = elastic.addJoint(base, base_joint, pin.SE3.Identity(), f"base {k}")
    elastic.appendBodyToJoint(base, model.inertias[0], pin.SE3.Identity())
    for k in range(1, model.njoints):
        parent = base + model.parents[k]
        kind = composite(("z",) if model.names[k] == "slide" else ("rz",))
        index = elastic.addJoint(parent, kind, model.jointPlacements[k], model.names[k])
        elastic.appendBodyToJoint(index, model.inertias[k], pin.SE3.Identity())
    return elastic


def test_it_is_pinocchios_composite_joint_with_springs() -> None:
    """tau, M, a and derivatives of an arm on a table that gives way in six directions."""
    model = on_table()
    arm = gd.FlexibleArm(model, {}, {"table": six()}, clean=0)
    elastic = on_joints(model, [composite(ROW)])
    # Pinocchio's derivatives take S of a composite joint for constant
    in_a_row = on_joints(model, [composite((direction,)) for direction in ROW])
    order = [*(arm.layout.index(f"table {direction}") for direction in ROW), 0, 1, 2]
    back, k, d = np.argsort(order), np.zeros(9), np.zeros(9)
    k[3:], d[3:] = STIFFNESS, DAMPING
    for q, v, a in np.random.default_rng(4).normal(size=(3, 3, 9)):
        of_pin, data = (q[order], v[order], a[order]), elastic.createData()
        tau = pin.rnea(elastic, data, *of_pin)[back] + k * q + d * v
        assert relative_error(arm.inverse_dynamics(q, v, a).full().ravel(), tau) < TIGHT
        assert relative_error(arm.mass_matrix(q).full(), pin.crba(elastic, data, q[order])[np.ix_(back, back)]) < TIGHT
        # condition number of M: 1e4
        assert relative_error(arm.forward_dynamics(q, v, tau).full().ravel(), a) < 1e-10
        data = in_a_row.createData()  # the matrices are views of it
        slopes = pin.computeRNEADerivatives(in_a_row, data, *of_pin)
        wanted = [slopes[0][np.ix_(back, back)] + np.diag(k), slopes[1][np.ix_(back, back)] + np.diag(d)]
        for part, slope in zip(arm.inverse_dynamics_derivatives(q, v, a), wanted, strict=False):
            assert relative_error(part.full(), slope) < TIGHT
    # constants, products and sums of K x + D v, and x, y, z and their rates, on which no inertia depends
    rigid, springs = gd.FlexibleArm(elastic, clean=0), 2 * 6 * 3 + 2 * 3
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        assert getattr(arm, name).n_instructions() <= getattr(rigid, name).n_instructions() + springs


def test_stiff_springs_are_none() -> None:
    """The deflection falls as 1/K, and frequencies tend to those of the arm on the rigid base."""
    model = robot(("revolute", "base"), ("revolute", "l0"))
    rigid = gd.FlexibleArm(model, {"l0": bending()})
    omega, q = rigid.natural_frequencies([0.3, -0.5]), rigid.static_deflection([0.3, -0.5])
    errors = []
    for factor in (1e4, 1e6):
        arm = gd.FlexibleArm(
            model, {"l0": bending()}, {"base": FlexibleJoint(factor * STIFFNESS, directions=DIRECTIONS)}
        )
        bent = arm.static_deflection([0.3, -0.5])
        found = arm.natural_frequencies([0.3, -0.5])[: len(omega)]
        errors.append(
            [relative_error(found, omega), np.abs(np.delete(bent, range(2, 8)) - q).max(), np.abs(bent[2:8]).max()]
        )
    np.testing.assert_allclose(errors[0], 100 * np.array(errors[1]), rtol=0.02)


# Cetinkunt and Book's equations of flexible joints.


def test_equations_39_to_46() -> None:
    """Of arms with springs behind rotors, and mass of the joint on the link before, as corrected."""
    springs = {"joint1": FlexibleJoint(70.0, 0.03, 0.2), "joint2": FlexibleJoint(50.0, 0.02, 0.3)}
    model = gd.load_urdf("two_link_arm")
    bare, m = gd.FlexibleArm(model, {}, springs, clean=0), 0.7
    heavy = model.copy()
    heavy.appendBodyToJoint(1, pin.Inertia(m, np.zeros(3), np.zeros((3, 3))), model.jointPlacements[2])
    arm = gd.FlexibleArm(heavy, {}, springs, clean=0)
    rigid = gd.NewtonEuler(model, clean=0)
    q, v, a = np.random.default_rng(8).normal(size=(3, 4))
    elbow = gd.Kinematics(model).joint_placement("joint2")(q[:2]).full()[:3, 3]
    speed = gd.Kinematics(model).frame_jacobian("joint2", pin.LOCAL_WORLD_ALIGNED)(q[:2]).full()[:3] @ v[:2]
    k_t, d_t, inertia = np.diag([70.0, 50.0]), np.diag([0.2, 0.3]), np.diag([0.03, 0.02])
    x, rate = q[:2] - q[2:], v[:2] - v[2:]

    def value(dyn: gd.Dynamics, name: str, *state: np.ndarray) -> float:
        return float(getattr(dyn, name)(*state))

    gravity = arm.tree.gravity
    # (39): V_G has the weight of the joint, too
    difference = value(arm, "potential_energy", q) - value(bare, "potential_energy", q)
    assert difference == pytest.approx(-m * gravity @ elbow, rel=TIGHT, abs=TIGHT)
    # (40), (41): a point mass at the tip of the link before, with Dirac's distribution, not a δ that is 1 there
    difference = value(arm, "kinetic_energy", q, v) - value(bare, "kinetic_energy", q, v)
    assert difference == pytest.approx(0.5 * m * speed @ speed, rel=TIGHT)
    # (42), (43): ½ Σ J_i θ̇_i², with inertias on the joint's side of the gear
    turning = value(bare, "kinetic_energy", q, v) - value(rigid, "kinetic_energy", q[:2], v[:2])
    assert turning == pytest.approx(0.5 * v[2:] @ inertia @ v[2:], rel=TIGHT)
    # (44), (45): ½ (q − θ)ᵀ K_t (q − θ)
    assert value(bare, "elastic_energy", q) == pytest.approx(0.5 * x @ k_t @ x, rel=TIGHT)
    # (46a): M q̈ + … = −K_t (q − θ), where + is printed; (46b): J θ̈ = K_t (q − θ) + τ_m
    tau, through = bare.inverse_dynamics(q, v, a).full().ravel(), k_t @ x + d_t @ rate
    links = rigid.inverse_dynamics(q[:2], v[:2], a[:2]).full().ravel()
    assert relative_error(tau[:2], links + through) < TIGHT
    assert relative_error(tau[2:], inertia @ a[2:] - through) < TIGHT
    assert relative_error(bare.stiffness_matrix, np.block([[k_t, -k_t], [-k_t, k_t]])) < TIGHT


# What works with them.


@pytest.mark.long
def test_every_quantity_of_an_arm_with_springs_at_many_places() -> None:
    """Joints and frames, on a beam, nested, beside rotors, with bodies and offsets; with all kinds of parameters."""
    body = pin.Inertia(0.3, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3))
    offset = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([0.01, 0.02, 0.03]))
    model = robot(("revolute", "base"), ("revolute", "l0"), ("prismatic", "l1"), ("revolute", "l0"))
    joints = {
        "j1": (FlexibleJoint(100.0, 0.2), FlexibleJoint([1e3, 2e3], directions=("rx", "y"), body=body, offset=offset)),
        "flange": six(body=body, offset=offset),
        "j0": FlexibleJoint([[900.0, 100.0], [100.0, 800.0]], directions=("y", "x")),
    }
    links = {"l0": bending(root=np.eye(4), children={"j1": "tip", "j3": 0.4})}
    kinds = {"stiffness": True, "damping": True, "placement": ["j0"], "inertia": ["j2"], "armature": True}
    arm = gd.FlexibleArm(model, links, joints, parameters=kinds)
    assert [name for name in arm.layout if name.startswith("j0")] == ["j0", "j0 y", "j0 x"]
    assert not [name for name in arm.parameters.names if "x.armature" in name]
    assert np.array_equal(arm.parameters.of(model), arm.parameters.vector())
    assert_valid(arm, model, samples=20)
    again = pickle.loads(pickle.dumps(arm))
    assert again.nominal == arm.nominal
    assert again.layout == arm.layout


def test_nested_springs_divide_a_link() -> None:
    """A sensor on springs at the wrist, and the gripper with its finger on others, that stand on the first."""
    model = on_table()
    joints = {"gripper": six(), "sensor": FlexibleJoint([200.0, 300.0], directions=("rx", "z"))}
    arm = gd.FlexibleArm(model, {}, joints)
    assert arm.layout[3:5] == ("sensor rx", "sensor z")
    masses = {joint.name: joint.mass for joint in arm.tree.joints if joint.mass}
    wanted = {"shoulder": 2.0, "elbow": 1.0, "sensor rx": 0.2, "gripper rx": 0.5, "slide": 0.1}
    assert masses == pytest.approx(wanted, rel=TIGHT)
    with pytest.raises(UnsupportedError, match=r"^parameters: 'inertia': the link of 'elbow' has a part on springs; "):
        gd.FlexibleArm(model, {}, joints, parameters={"inertia": ["elbow"]})
    with pytest.raises(UnsupportedError, match=r"^parameters: placement of 'slide': it stands on springs, which "):
        gd.FlexibleArm(model, {}, joints, parameters={"placement": ["slide"]})
    free = gd.FlexibleArm(model, {}, joints, parameters={"inertia": True, "placement": True})
    assert {name.split(".")[0] for name in free.parameters.names} == {"shoulder", "elbow", "slide"}
    wanted = r"^no parameter named 'elbow.Ixx': the link of 'elbow' has a part on springs; nearest: 'elbow.x', "
    with pytest.raises(UnknownNameError, match=wanted) as refused:
        free.parameters["elbow.Ixx"]
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    with pytest.raises(UnknownNameError, match=r"^no parameter named 'elbow.Iyx'; nearest: "):
        free.parameters["elbow.Iyx"]


@pytest.mark.long
def test_every_quantity_on_nested_springs() -> None:
    model, sensor = on_table(), FlexibleJoint([200.0, 300.0], directions=("rx", "z"))
    assert_valid(gd.FlexibleArm(model, {}, {"gripper": six(), "sensor": sensor}), model, samples=5)


def test_all_formulations_and_the_papers_kinematics() -> None:
    model = on_table()
    arm = gd.FlexibleArm(model, {}, {"table": six(), "wrist": FlexibleJoint(50.0, directions=("ry",))}, clean=0)
    q, v, a = np.random.default_rng(6).normal(size=(3, arm.tree.nv))
    tau = arm.inverse_dynamics(q, v, a).full()
    for of in (gd.NewtonEuler, gd.GeneralizedDAlembert, gd.LagrangeEuler):
        other = of(arm.tree, forces=list(arm.forces), clean=0)
        assert relative_error(other.inverse_dynamics(q, v, a).full(), tau) < TIGHT
    first = gd.FirstOrderArm(model, {}, {"table": six(), "wrist": FlexibleJoint(50.0, directions=("ry",))}, clean=0)
    assert relative_error(first.inverse_dynamics(q, v, a).full(), tau) < TIGHT


def test_a_body_of_a_model_made_by_hand() -> None:
    """Its inertia is part of that of the link, which is told how much of it is on springs."""
    model, gripper = pin.Model(), pin.Inertia(0.5, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    hinge = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    place = pin.SE3(np.eye(3), np.array([0.7, 0.0, 0.0]))
    model.appendBodyToJoint(hinge, pin.Inertia(1.0, np.array([0.4, 0.0, 0.0]), 0.1 * np.eye(3)), pin.SE3.Identity())
    model.appendBodyToJoint(hinge, gripper, place)
    model.addBodyFrame("gripper", hinge, place, 0)
    spring = {"gripper": FlexibleJoint(50.0, directions=("y",))}
    with pytest.raises(ArgumentError, match=r"^joint 'gripper': the model does not tell the body at this frame from "):
        gd.FlexibleArm(model, {}, spring)
    with pytest.raises(UnknownNameError, match=r"^no body that the model does not tell from a flexible link named 'fo"):
        gd.FlexibleArm(model, {}, spring, fixed_bodies={"gripper": gripper, "foot": gripper})
    with pytest.raises(UnknownNameError, match=r"^no body that the model does not tell from a flexible link named 'se"):
        gd.FlexibleArm(on_table(), {}, {"wrist": six()}, fixed_bodies={"sensor": gripper})
    arm = gd.FlexibleArm(model, {}, spring, fixed_bodies={"gripper": gripper})
    assert arm.natural_frequencies([0.0])[0] == pytest.approx(np.sqrt(50.0 / 0.5), rel=TIGHT)
    assert_valid(arm, model, samples=5)


def test_parameters_scale_the_springs() -> None:
    model = on_table()
    arm = gd.FlexibleArm(model, {}, {"table": six()}, parameters=["stiffness", "damping"])
    twice = gd.FlexibleArm(
        model, {}, {"table": FlexibleJoint(2 * STIFFNESS, damping=3 * DAMPING, directions=DIRECTIONS)}
    )
    q, v, a = np.random.default_rng(6).normal(size=(3, arm.tree.nv))
    p = arm.parameters.vector({"table.stiffness_factor": 2.0, "table.damping_factor": 3.0})
    assert relative_error(arm.inverse_dynamics(q, v, a, p).full(), twice.inverse_dynamics(q, v, a).full()) < TIGHT
    rest = arm.static_deflection(q[:3], p={"table.stiffness_factor": 2.0})
    assert relative_error(rest, twice.static_deflection(q[:3])) < 1e-9  # Newton's last step


def test_a_plan_and_a_simulation_on_springs() -> None:
    """Least effort on a table that gives way; quasi-static where it is stiff, and then as on the ground."""
    model = gd.load_urdf("two_link_flexible")
    directions = ("x", "y", "rz")
    table = FlexibleJoint(
        [2e5, 2e5, 3e4],
        damping=[200.0, 200.0, 30.0],
        directions=directions,
        body=pin.Inertia(5.0, np.zeros(3), np.eye(3)),
    )
    arm, costs = gd.FlexibleArm(model, {}, {"base": table}), []
    for dyn, options in ((gd.NewtonEuler(model), {}), (arm, {"quasi_static": 5.0})):
        problem = ocp.Problem(dyn, 1.0, 8, **options)
        rest = np.zeros(dyn.tree.nv - 2)
        problem.start([0.0, 0.0, *rest])
        problem.end([0.8, -0.6, *rest])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        costs.append(problem.solve().cost)
    assert costs[1] == pytest.approx(costs[0], rel=2e-2)
    motion = gd.simulate(arm, np.zeros(2 * arm.tree.nv), [0.0, 0.05], lambda t, q, v: np.zeros(2))
    assert np.isfinite(motion.q).all()


def test_a_table_too_stiff_for_the_measure_of_a_plan() -> None:
    table = FlexibleJoint(1e12, directions=["x"], body=pin.Inertia(5.0, np.zeros(3), np.eye(3)))
    arm, rest = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {}, {"base": table}), np.zeros(3)
    problem = ocp.Problem(arm, 1.0, 4)
    problem.start(rest, rest)
    problem.end([0.8, -0.6, 0.0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    with pytest.warns(ocp.SolutionWarning, match=r"accuracy is unknown, .* diverge: .*simulate\(method=\"radau\"\)$"):
        problem.solve()


@pytest.mark.long
def test_real_time_iterations_and_machine_code_on_springs() -> None:
    """The optimum of IPOPT, with a bearing beside the rotor of a joint; and the numbers of the graph."""
    table = FlexibleJoint([2e3, 2e3, 3e2], damping=[20.0, 20.0, 3.0], directions=("x", "y", "rz"))
    joints = {"base": replace(table, body=pin.Inertia(5.0, np.zeros(3), np.eye(3))), "joint2": (
        FlexibleJoint(100.0, 0.05), FlexibleJoint(900.0, directions=["y"]))}  # fmt: skip
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {}, joints)
    assert arm.driven_names == ("joint1", "joint2", "base x", "base y", "base rz", "joint2 y", "joint2")
    costs, rest = [], np.zeros(arm.nv)
    for solver, options in (("ipopt", {}), ("rti", {"iterations": 15})):
        problem = ocp.Problem(arm, 1.0, 10, degree=1)
        problem.start(problem.parameter("q0", arm.nq), problem.parameter("v0", arm.nv))
        far = problem.integral(lambda q, v, u: 1e-2 * ca.sumsqr(u) + ca.sumsqr(q[:2] - ca.DM([0.3, -0.2])))
        problem.minimize(far)
        costs.append(problem.solver(solver, options)(q0=rest, v0=rest).cost)
    assert costs[1] == pytest.approx(costs[0], rel=1e-9)
    state = np.random.default_rng(0).normal(size=(3, arm.nv))
    compiled = gd.compile(arm.inverse_dynamics)(*state)
    assert relative_error(compiled, arm.inverse_dynamics(*state).full().ravel()) < TIGHT


# What is refused.


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"directions": ("x", "u")},
            ArgumentError,
            r"^FlexibleJoint: directions: got 'u'; give some of \('x', 'y', 'z'",
        ),
        ({"directions": ("x", "x")}, ArgumentError, r"^FlexibleJoint: directions: got 'x' twice; give each once$"),
        ({"directions": ()}, ArgumentError, r"^FlexibleJoint: directions: got \(\); give some of"),
        ({"directions": 3}, ArgumentError, r"^FlexibleJoint: directions: got 3; give some of"),
        (
            {"stiffness": [1.0, -1.0]},
            ArgumentError,
            r"^FlexibleJoint: stiffness: the matrix is not positive definite: entry \[1, 1\] is -1; give more than 0$",
        ),
        (
            {"stiffness": [1.0, 0.0]},
            ArgumentError,
            r"^FlexibleJoint: stiffness: the matrix is not positive definite: entry \[1, 1\] is 0; give more than 0$",
        ),
        (
            {"stiffness": [[1.0, 2.0], [2.0, 1.0]]},
            ArgumentError,
            r"^FlexibleJoint: stiffness: the matrix is not positive definite: an eigenvalue is -1 of its d",
        ),
        (
            {"stiffness": [[1.0, 0.5], [0.0, 1.0]]},
            ArgumentError,
            r"^FlexibleJoint: stiffness: the matrix is not symmetric: entry \[0, 1\] is 0\.5, and \[1, 0\] is 0; give",
        ),
        (
            {"stiffness": 5.0},
            ArgumentError,
            r"^FlexibleJoint: stiffness: got shape \(\); give 2 numbers, or 2 × 2 numbers$",
        ),
        (
            {"damping": [1.0, 2.0, 3.0]},
            ArgumentError,
            r"^FlexibleJoint: damping: got shape \(3,\); give 2 numbers, or 2 × 2",
        ),
        (
            {"damping": [1.0, -2.0]},
            ArgumentError,
            r"^FlexibleJoint: damping: the matrix is not positive semidefinite: entry \[1, 1\] is -2; give at least 0$",
        ),
        (
            {"rotor_inertia": 0.1},
            ArgumentError,
            r"^FlexibleJoint: rotor_inertia: springs in directions have no rotors; ",
        ),
        ({"body": 3.0}, ArgumentTypeError, r"^FlexibleJoint: body: expected a pin.Inertia, got 3.0$"),
        (
            {"body": pin.Inertia(1.0, np.zeros(3), np.diag([0.5, 1.0, 0.4]))},
            ArgumentError,
            r"^FlexibleJoint: body: of its principal moments 0.4, 0.5, 1 kg m² the last exceeds the sum of ",
        ),
        ({"offset": np.ones((4, 4))}, ArgumentError, r"^FlexibleJoint: offset"),
        (
            {"directions": None, "stiffness": 1.0, "body": pin.Inertia.Zero()},
            ArgumentError,
            r"^FlexibleJoint: body: it goes with springs in directions; give directions=, or leave it out$",
        ),
    ],
)
def test_springs_that_are_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        FlexibleJoint(**({"stiffness": [1.0, 2.0], "directions": ("x", "rz")} | given))


@pytest.mark.parametrize(
    ("joints", "error", "message"),
    [
        (
            {"shoulder": six()},
            ArgumentError,
            r"^joint 'shoulder': it moves along 'rz' already; leave that direction out, ",
        ),
        (
            {"slide": six()},
            ArgumentError,
            r"^joint 'slide': it moves along 'z' already; leave that direction out, and ",
        ),
        ({"wrist": FlexibleJoint(1.0, 0.1)}, ArgumentError, r"^joint 'wrist': a frame has no rotor; give directions="),
        ({"knee": six()}, UnknownNameError, r"^no joint or frame named 'knee'; known: 'shoulder', "),
        (
            {"upper": six()},
            ArgumentError,
            r"^joint 'upper': it is the link that joint 'shoulder' moves; give that joint",
        ),
        (
            {"wrist": six(), "sensor": six()},
            ArgumentError,
            r"^joint 'sensor': springs at 'wrist' are at the same place; ",
        ),
        (
            {"wrist": (six(), six())},
            ArgumentError,
            r"^joint 'wrist': it has two FlexibleJoints with directions; give one",
        ),
        ({"wrist": [3.0]}, ArgumentTypeError, r"^joint 'wrist': expected a FlexibleJoint, got float$"),
    ],
)
def test_places_that_are_refused(joints: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.FlexibleArm(on_table(), {}, joints)


def test_a_direction_of_a_base_that_moves_is_refused() -> None:
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(ArgumentError, match=r"^joint 'base': it moves along 'z' already; .* at a fixed joint of its "):
        gd.FlexibleArm(model, joints={"base": FlexibleJoint(1.0, directions=["z"])})


def test_joints_without_frames_are_on_the_universe() -> None:
    """Two coordinates of a turntable that has no frame: eigenvalues of M⁻¹ K."""
    model = pin.Model()
    turn = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pin.Inertia(2.0, np.array([0.3, 0, 0]), 0.01 * np.eye(3)), pin.SE3.Identity())
    arm = gd.FlexibleArm(model, joints={"universe": FlexibleJoint([100.0, 50.0], directions=("y", "rz"))})
    squares = np.linalg.eigvals(np.linalg.solve([[2.0, 0.6], [0.6, 0.19]], np.diag([100.0, 50.0])))
    assert relative_error(arm.natural_frequencies([0.0]), np.sqrt(np.sort(squares))) < TIGHT


def test_springs_that_move_nothing_are_refused() -> None:
    model = gd.load_urdf("two_link_arm")
    with pytest.raises(
        ArgumentError, match=r"^joint 'tip': the model has no body or joint on this frame, so that its "
    ):
        gd.FlexibleArm(model, {}, {"tip": FlexibleJoint(1.0, directions=("x",))})
    body = pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(
        ModelError, match=r"^two_link_arm: joint 'tip rx' moves no inertia, .*; give .* a body=, or leav"
    ):
        gd.FlexibleArm(model, {}, {"tip": FlexibleJoint([1.0, 1.0], directions=("x", "rx"), body=body)})

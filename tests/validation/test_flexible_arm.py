"""The validator on flexible arms: right ones pass, and what is wrong with a wrong one is said in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import modes
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function
from gdalembert.testing import assert_valid
from gdalembert.validation.flexible_arm import SecondComputation
from gdalembert.validation.validate import validate

PLANAR = gd.load_urdf("two_link_flexible")
LIGHT = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
GIVES = {"joint2": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=0.02, damping=0.3)}


def planar(of: type[gd.FlexibleArm] = gd.FlexibleArm, *, exact: bool = True, **options: Any) -> gd.FlexibleArm:
    links = {
        name: gd.FlexibleLink(beam, bending_y=modes.hermite(), foreshortening=exact, rayleigh=(0.0, 1e-3))
        for name, beam in LIGHT.items()
    }
    return of(PLANAR, links, kinematics="exact" if exact else "first_order", **options)


def robot(*joints: tuple[str, str], root_joint: Any = None) -> pin.Model:
    """Joints of a kind, each on a link ("base", "l0", …), with nothing aligned; a tool is fixed to the last link."""
    axes = ("0 0 1", "0 1 0", "0.6 0 0.8", "0.36 0.48 0.8")
    text = '<robot name="several"><link name="base"/>'
    if root_joint is not None:
        text = text.replace('"base"/>', '"base"><inertial><mass value="3"/>' + INERTIA + "</inertial></link>")
    for i, (kind, parent) in enumerate(joints):
        away = "0 0 0.1" if parent == "base" else "0.8 0 0"
        text += (
            f'<link name="l{i}">'
            f'<inertial><origin xyz="0.4 0.02 0.03"/><mass value="{1 + i}"/>{INERTIA}</inertial></link>'
            f'<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{away}" rpy="0.3 0.2 {0.1 * i}"/><axis xyz="{axes[i]}"/>'
            f'<dynamics armature="0.{i + 1}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
    text += (
        f'<link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>{INERTIA}</inertial></link>'
        f'<joint name="flange" type="fixed"><parent link="l{len(joints) - 1}"/><child link="tool"/>'
        '<origin xyz="0.7 0.1 0" rpy="0.1 0.2 0.3"/></joint></robot>'
    )
    return gd.load_urdf(text, root_joint=root_joint)


INERTIA = '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.2" iyz="0" izz="0.21"/>'
STIFF = gd.Beam(0.8, 1.5, EI_y=3000.0, EI_z=5000.0, EA=1e6, GJ=2000.0, section_inertia=(1e-3, 2e-3))


def bends(**options: Any) -> gd.FlexibleLink:
    return gd.FlexibleLink(STIFF, **({"bending_y": modes.hermite(), "bending_z": modes.hermite()} | options))


def twists() -> gd.FlexibleLink:
    hub = pin.Inertia(0.3, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3))
    return bends(bending_z=None, torsion=modes.sine(1), root=np.eye(4), hub=hub, modal_damping=0.02)


@cache
def chain() -> tuple[gd.FlexibleArm, pin.Model]:
    model = robot(("continuous", "base"), ("revolute", "l0"), ("prismatic", "l1"))
    links = {"l0": bends(), "l2": twists()}
    # the joint without a rotor_inertia hands its armature over
    joints = {"j1": gd.FlexibleJoint(1e3, damping=1.0), "j2": gd.FlexibleJoint(1e4, rotor_inertia=2.0)}
    return gd.FlexibleArm(model, links, joints, clean=0), model


def tree() -> tuple[gd.FlexibleArm, pin.Model]:
    model = robot(("revolute", "base"), ("revolute", "l0"), ("prismatic", "l0"), ("continuous", "l1"))
    along = np.eye(4)
    links = {"l0": bends(root=along, children={"j1": "tip", "j2": 0.5}), "l1": bends(bending_y=None)}
    return gd.FlexibleArm(model, links, springs={"j0": (30.0, 0.4), "j2": (10.0, 0.1)}), model


def flying() -> tuple[gd.FlexibleArm, pin.Model]:
    model = robot(("revolute", "base"), ("revolute", "l0"), root_joint=pin.JointModelFreeFlyer())
    return gd.FlexibleArm(model, {"l0": bends()}), model


def rigid() -> tuple[gd.FlexibleArm, pin.Model]:
    model = gd.load_urdf("panda7")
    return gd.FlexibleArm(model), model


ARMS: dict[str, Callable[[], tuple[gd.FlexibleArm, pin.Model]]] = {
    "planar": lambda: (planar(), PLANAR),
    "planar, flexible joint": lambda: (planar(joints=GIVES), PLANAR),
    "first order": lambda: (planar(exact=False), PLANAR),
    "first order, flexible joint": lambda: (planar(exact=False, joints=GIVES), PLANAR),
    "chain": chain,
    "tree": tree,
    "free-flyer": flying,
    "rigid": rigid,
}


# a beam is not as heavy as the body that it replaces, which is no matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")


@pytest.mark.parametrize("name", ARMS)
def test_right_arms_pass(name: str) -> None:
    arm, model = ARMS[name]()
    report = assert_valid(arm, model, samples=100)
    checks = [check.name for check in report.checks]
    assert report.diagnosis == ()
    assert len(checks) == (21 if name == "free-flyer" else 23)
    assert report["inverse_dynamics"].tolerance == 1e-12
    assert report["power balance"].tolerance == 1e-11
    assert report["forward_dynamics"].tolerance == 1e-9
    assert report["undeformed tau"].tolerance == (1e-12 if name == "chain" else 1e-9)


def test_all_checks_by_name() -> None:
    report = validate(planar(), against=PLANAR, samples=5)
    assert [check.name for check in report.checks] == [
        "inverse_dynamics",
        "mass_matrix",
        "nle",
        "generalized_gravity",
        "coriolis_matrix",
        "forward_dynamics",
        "state_derivative (dq/dt)",
        "state_derivative (a)",
        "kinetic_energy",
        "potential_energy",
        "M symmetric",
        "M positive definite",
        "dM/dt - 2C skew",
        "elastic_energy",
        "power balance",
        "terms (m)",
        "terms (C)",
        "terms (G)",
        "terms (K_f)",
        "undeformed tau",
        "undeformed M",
        "undeformed nle",
        "undeformed g",
    ]
    head = "two_link_flexible: FlexibleArm against a second computation and, undeformed, Pinocchio on 5 states (seed 0)"
    assert str(report).splitlines()[0] == head
    assert report.not_checked == ()
    assert report["mass_matrix"].per_joint.keys() == {*planar().layout}
    assert report["undeformed M"].per_joint.keys() == {"joint1", "joint2"}
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()


# Wrong arms, and what is said about them.

IN_PLANE = PLANAR.copy()
IN_PLANE.gravity.linear = np.array([0.0, -9.81, 0.0])


class OtherMass(gd.FlexibleArm):
    """One modal entry of M and its mirror image."""

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        m = ca.SX(super().mass_matrix_expression(q))
        m[2, 3] += 0.01
        m[3, 2] += 0.01
        return m


class Lopsided(gd.FlexibleArm):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        m = ca.SX(super().mass_matrix(s["q"]))
        m[2, 3] *= 1.01
        return function("mass_matrix", s, {"M": m})


class Negative(gd.FlexibleArm):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        m = ca.SX(super().mass_matrix(s["q"]))
        m[5, 5] -= 1.0
        return function("mass_matrix", s, {"M": m})


class GravityUpwards(gd.FlexibleArm):
    """In the rows of the modes."""

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        g = super().generalized_gravity_expression(q)
        return ca.vertcat(g[:2], -g[2:])


class WithoutDamping(gd.FlexibleArm):
    def _passive_torque(self, q: Matrix, v: Matrix) -> Matrix:
        return super()._passive_torque(q, 0 * v)


class HalfStiff(gd.FlexibleArm):
    @cached_property
    def nle(self) -> ca.Function:
        s = self.symbols("q", "v")
        less = super().nle(s["q"], s["v"]) - 0.5 * ca.DM(self.stiffness_matrix) @ s["q"]
        return function("nle", s, {"nle": less})


class WithoutElasticEnergy(gd.FlexibleArm):
    def _spring_energy(self, q: Matrix) -> Matrix:
        return ca.DM(0)


class TwiceElastic(gd.FlexibleArm):
    @cached_property
    def elastic_energy(self) -> ca.Function:
        s = self.symbols("q")
        return function("elastic_energy", s, {"elastic": 2 * super().elastic_energy(s["q"])})


class NotChristoffel(gd.FlexibleArm):
    """C v stays the same: a part of C that is orthogonal to v."""

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        c = ca.SX(super().coriolis_matrix_expression(q, v))
        c[2, 3] += v[2]
        c[2, 2] -= v[3]
        return c


class OneSignInTerms(gd.FlexibleArm):
    @cached_property
    def terms(self) -> ca.Function:
        s = self.symbols("q", "v")
        parts = super().terms.call(s)
        return function("terms", s, parts | {"C_2": -parts["C_2"]})


class MotorOnTheLink(gd.FlexibleArm):
    """u acts on the joint, not on the rotor."""

    @cached_property
    def state_derivative(self) -> ca.Function:
        n = self.tree.nv
        s = {"x": ca.SX.sym("x", 2 * n), "u": ca.SX.sym("u", 2)}
        q, v = s["x"][:n], s["x"][n:]
        tau = ca.vertcat(s["u"], ca.DM(n - 2, 1))
        return function("state_derivative", s, {"xdot": ca.vertcat(v, self.forward_dynamics(q, v, tau))})


class NotFinite(gd.FlexibleArm):
    """As the textbook's sin t / t in all derivatives at t = 0."""

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return super().inverse_dynamics_expression(q, v, a) + ca.sqrt(q[2]) * ca.DM([0, 0, 1, 0, 0, 0, 0])


WRONG: dict[type[gd.FlexibleArm], tuple[set[str], list[str]]] = {
    OtherMass: (
        {"mass_matrix", "kinetic_energy", "M positive definite", "power balance", "terms (m)"},
        [
            "mass matrix is wrong at 'link1 y1' × 'link1 y2' (in mass_matrix)",
        ],
    ),
    Lopsided: (
        {"mass_matrix", "M symmetric", "dM/dt - 2C skew"},
        [
            "mass matrix is not symmetric: wrong at 'link1 y1' × 'link1 y2', right at the mirrored "
            "place (in mass_matrix)",
        ],
    ),
    Negative: (
        {"mass_matrix", "M positive definite"},
        [
            "mass matrix is off by a constant, as another armature would have it, at joint 'link2 y2' "
            "(-1) (in mass_matrix)",
        ],
    ),
    GravityUpwards: (
        {"generalized_gravity", "terms (C)", "terms (G)"},
        [
            "gravity has the opposite sign at joint 'link1 y1', 'link1 y2', 'link2 y1', 'link2 y2' (in "
            "generalized_gravity)",
        ],
    ),
    WithoutDamping: (
        {"inverse_dynamics", "nle", "forward_dynamics", "state_derivative (a)", "power balance"},
        [
            "damping D v is missing (in inverse_dynamics, nle)",
        ],
    ),
    HalfStiff: (
        {"nle"},
        [
            "stiffness K q is 0.5 times that of the second computation (in nle)",
        ],
    ),
    WithoutElasticEnergy: (
        {"potential_energy", "power balance"},
        [
            "elastic energy is missing (in potential_energy)",
        ],
    ),
    TwiceElastic: (
        {"elastic_energy"},
        [
            "elastic energy is not ½ q·K q (in elastic_energy)",
        ],
    ),
    NotChristoffel: (
        {"dM/dt - 2C skew"},
        [
            "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (of "
            "Christoffel's symbols), worst at joint 'link1 y1' × 'link1 y1' (in dM/dt - 2C skew)",
        ],
    ),
    OneSignInTerms: (
        {"terms (C)"},
        [
            "terms are not the parts of the equation of motion, worst at joint 'link1 y1' (in terms (C))",
        ],
    ),
    MotorOnTheLink: (
        {"state_derivative (a)"},
        [
            "a is wrong, though forward_dynamics is right, worst at joint 'joint2' (in state_derivative (a))",
        ],
    ),
    NotFinite: (
        {"inverse_dynamics", "nle", "generalized_gravity", "power balance", "terms (C)", "terms (G)"},
        [
            "tau at rest is not finite at joint 'link1 y1', in some states (in inverse_dynamics)",
            "velocity terms are not finite at joint 'link1 y1', in some states (in nle)",
            "gravity is not finite at joint 'link1 y1', in some states (in nle, generalized_gravity)",
        ],
    ),
}


def in_plane(of: type[gd.FlexibleArm] = gd.FlexibleArm) -> gd.FlexibleArm:
    links = {name: gd.FlexibleLink(beam, bending_y=modes.hermite(), modal_damping=0.05) for name, beam in LIGHT.items()}
    return of(IN_PLANE, links, GIVES)


@pytest.mark.parametrize("of", WRONG)
def test_wrong_arms_are_found(of: type[gd.FlexibleArm]) -> None:
    report = validate(in_plane(of), against=IN_PLANE, samples=50)
    failed, sentences = WRONG[of]
    assert {check.name for check in report.checks if not check.ok} == failed
    assert list(report.diagnosis) == sentences


class LastNegative(gd.FlexibleArm):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        m = ca.SX(super().mass_matrix(s["q"]))
        m[5, 5] *= -1
        return function("mass_matrix", s, {"M": m})


def slender(of: type[gd.FlexibleArm], mass_per_length: float, stiffness: float) -> gd.FlexibleArm:
    """As :func:`planar`, the last link being another one."""
    beams = LIGHT | {"link2": gd.Beam(0.8, mass_per_length, EI_z=stiffness)}
    return of(PLANAR, {name: gd.FlexibleLink(beam, bending_y=modes.hermite()) for name, beam in beams.items()})


def test_the_sign_of_a_small_modal_mass() -> None:
    """Beside the inertia of the arm it is nothing; by itself it is an arm that runs away."""
    report = validate(slender(LastNegative, 1e-12, 10.0), PLANAR, samples=5)
    assert [check.name for check in report.checks if not check.ok] == ["M positive definite"]


def test_stiff_and_light_links() -> None:
    """Rounding of forces of 1e8 N makes accelerations that are wrong by more than 1e-9."""
    assert_valid(slender(gd.FlexibleArm, 1e-3, 1e8), PLANAR, samples=50)


OTHERS = (
    "undeformed, the arm is not the rigid robot of the model with beams in the place of its flexible links: a link, a "
    "placement or gravity is another one"
)


def _heavier(model: pin.Model) -> None:
    model.inertias[model.getJointId("j1")].mass *= 1.1


def _moved(model: pin.Model) -> None:
    model.jointPlacements[model.getJointId("j2")].translation += [0.01, 0, 0]


def _armature(model: pin.Model) -> None:
    model.armature = np.add(model.armature, [0.1, 0, 0])


def _gravity(model: pin.Model) -> None:
    model.gravity.linear = np.array([0, 0, -9.8])


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (_heavier, {"undeformed tau", "undeformed M", "undeformed nle", "undeformed g"}),
        (_moved, {"undeformed tau", "undeformed M", "undeformed nle", "undeformed g"}),
        (_armature, {"undeformed tau", "undeformed M"}),
        (_gravity, {"undeformed tau", "undeformed nle", "undeformed g"}),
    ],
)
def test_other_links(change: Callable[[pin.Model], None], failed: set[str]) -> None:
    """Of j0 and j2, whose links bend, only the placements and the armature are the model's."""
    arm, model = chain()
    other = model.copy()
    change(other)
    report = validate(arm, other, samples=20)
    assert {check.name for check in report.checks if not check.ok} == failed
    assert all(sentence.startswith(OTHERS) for sentence in report.diagnosis)
    assert len(report.diagnosis) > 0


def test_without_a_model() -> None:
    report = validate(planar(), samples=5)
    assert report.ok
    assert str(report).startswith("two_link_flexible: FlexibleArm against a second computation on 5 states (seed 0)")
    assert report.not_checked == ("the undeformed arm against Pinocchio: give against=model",)
    assert [check.name for check in report.checks][-1] == "terms (K_f)"


def test_no_coriolis_matrix_where_v_is_not_the_rate_of_q() -> None:
    arm, model = flying()
    report = validate(arm, model, samples=5)
    assert [reason.split(":")[0] for reason in report.not_checked] == ["coriolis_matrix"]
    assert not {"coriolis_matrix", "dM/dt - 2C skew"} & {check.name for check in report.checks}


def test_first_order_arms_that_are_too_large_are_held_against_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdalembert.validation.flexible_arm._MOST", 5)
    report = validate(planar(exact=False), PLANAR, samples=5)
    assert "against its own inverse dynamics and, undeformed, Pinocchio" in str(report)
    assert report.not_checked == (
        "a second computation of tau: the explicit equations are too large for 6 coordinates",
    )
    assert report["mass_matrix"].ok


def test_states() -> None:
    """Slopes of the sections with the standard deviation 0.05 rad (or deflections by length) at most, 1 rad/s of rates;
    which states does not depend on the batches."""
    arm, _ = chain()
    truth = SecondComputation(arm)
    (states,) = truth.states(4000, 1, 4000)
    for element in arm.assembly.elements:
        for j in range(element.inertia.modes):
            slopes = [
                max(np.linalg.norm(s.rotation[:, j]), np.linalg.norm(s.translation[:, j]) / 0.8)
                for s in element.stations
            ]
            k = element.first_mode + j
            # standard deviations of 4000 numbers are good to 5 % with odds of 1 to 1e5
            assert max(slopes) * states.q[:, k + arm.tree.nq - arm.tree.nv].std() == pytest.approx(0.05, rel=0.05)
            assert max(slopes) * states.v[:, k].std() == pytest.approx(1.0, rel=0.05)
    assert states.v[:, 0].std() == pytest.approx(1.0, rel=0.05)
    assert states.v[:, -1].std() == pytest.approx(1.0, rel=0.05)
    pieces = list(truth.states(4000, 1, 1500))
    assert [len(piece) for piece in pieces] == [1500, 1500, 1000]
    assert np.array_equal(np.vstack([piece.q for piece in pieces]), states.q)
    assert np.array_equal(np.vstack([piece.a for piece in pieces]), states.a)


def slides() -> pin.Model:
    """Joints of the same names, of which the second slides."""
    model = pin.Model()
    model.name = "slides"
    for k, joint in enumerate((pin.JointModelRZ(), pin.JointModelPZ())):
        model.addJoint(k, joint, pin.SE3.Identity(), f"joint{k + 1}")
        model.appendBodyToJoint(k + 1, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            gd.load_urdf("puma560_3"),
            r"the arm was made of 'two_link_flexible' with the joints 'joint1', 'joint2'; 'puma560_3' has 'joint1', "
            r"'joint2', 'joint3'; give the model that the arm was made of",
        ),
        (
            slides(),
            r"joint 'joint2' of 'slides' is Prismatic on 'joint1'; that of the arm is Revolute on 'joint1'; give the "
            "model that the arm was made of",
        ),
    ],
)
def test_another_model_is_refused(model: pin.Model, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        validate(planar(), against=model)

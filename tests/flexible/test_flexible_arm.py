"""A flexible arm behind the interface of a rigid robot."""

from __future__ import annotations

import pickle
import warnings

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.errors import ArgumentError, ArgumentTypeError, BeamWarning, UnknownNameError, UnsupportedError
from gdalembert.flexible import modes
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from tests.helpers.models import relative_error
from tests.helpers.validated_arms import BY_KINEMATICS, planar

TIGHT = 1e-12
BEAMS = {"link1": Beam(1.0, 0.6, EI_z=10.0), "link2": Beam(0.8, 0.45, EI_z=10.0)}
JOINTS = {"joint2": FlexibleJoint(stiffness=50.0, rotor_inertia=0.02, damping=0.3)}


def arm(*, kinematics: str = "exact", joints: dict[str, FlexibleJoint] | None = None) -> FlexibleArm:
    links = {
        name: FlexibleLink(beam, bending_y=modes.hermite(), foreshortening=kinematics == "exact", rayleigh=(0.0, 1e-3))
        for name, beam in BEAMS.items()
    }
    return BY_KINEMATICS[kinematics](gd.load_urdf("two_link_flexible"), links, joints)


def state(dyn: FlexibleArm, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = np.array([0.02 if "y" in name else 1.0 for name in dyn.layout])
    q, v, a = rng.normal(size=(3, dyn.tree.nv)) * size
    return q, v, a


def test_without_flexible_parts_it_is_the_rigid_robot() -> None:
    model = gd.load_urdf("panda7")
    dyn, rigid = FlexibleArm(model), gd.NewtonEuler(model)
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 7))
    for name, arguments in (("inverse_dynamics", (q, v, a)), ("mass_matrix", (q,)), ("potential_energy", (q,))):
        assert relative_error(getattr(dyn, name)(*arguments).full(), getattr(rigid, name)(*arguments).full()) < TIGHT
    frame = gd.Kinematics(dyn.tree).frame_placement("flange")(q).full()
    assert relative_error(frame, gd.Kinematics(model).frame_placement("flange")(q).full()) < TIGHT


@pytest.mark.extras
def test_what_cleaning_changes_is_that_of_the_rigid_robot() -> None:
    model = robots.load("ur5")
    dyn = FlexibleArm(model)
    assert dyn.change_in_tau == gd.NewtonEuler(model).change_in_tau > 0


def test_names_and_terms() -> None:
    dyn = arm(joints=JOINTS)
    assert dyn.layout == ("joint1", "joint2", "link1 y1", "link1 y2", "link2 y1", "link2 y2", "joint2 rotor")
    assert np.array_equal(dyn.actuation, np.eye(7)[:, [0, 6]])
    assert dyn.stiffness_matrix[1, 1] == 50 == -dyn.stiffness_matrix[1, 6]
    assert relative_error(dyn.damping_matrix[2:6, 2:6], 1e-3 * dyn.stiffness_matrix[2:6, 2:6]) < TIGHT
    q, v, _ = state(dyn, 4)
    parts = dyn.terms.call({"q": q, "v": v})
    m = dyn.mass_matrix(q).full()
    assert relative_error(parts["m_rf"].full(), m[:2, 2:6]) < TIGHT
    assert relative_error(parts["m_f"].full(), m[2:6, 2:6]) < TIGHT
    assert np.array_equal(parts["K_f"].full(), dyn.stiffness_matrix[2:6, 2:6])


def test_statics_and_linearisation() -> None:
    dyn = arm(joints=JOINTS)
    q = np.zeros(7)
    q[:2] = 0.3, -0.5
    loaded = dyn.static_deflection(q, "tip", [0, -1.0, 0, 0, 0, 0], reference=pin.LOCAL, hold="joints")
    jacobian = gd.Kinematics(dyn.tree).frame_jacobian("tip", pin.LOCAL)(loaded).full()
    rest = dyn.nle(loaded, np.zeros(7)).full().ravel() - jacobian.T @ [0, -1.0, 0, 0, 0, 0]
    assert np.array_equal(loaded[:2], q[:2])
    assert np.array_equal(q, [0.3, -0.5, 0, 0, 0, 0, 0])
    assert np.abs(rest[2:]).max() < 1e-11  # of forces of several newtons
    at_rest = dyn.static_deflection(q[:2])
    a, b = dyn.linearize(at_rest)
    held = np.linalg.lstsq(dyn.actuation, dyn.nle(at_rest, np.zeros(7)).full().ravel(), rcond=None)[0]
    step = 1e-6
    for k in range(14):
        ahead, behind = (
            dyn.state_derivative(np.concatenate([at_rest, np.zeros(7)]) + sign * step * np.eye(14)[k], held).full()
            for sign in (1, -1)
        )
        # central differences: error ~ step² and rounding / step, of entries up to 1e6
        assert relative_error(a[:, k], ((ahead - behind) / (2 * step)).ravel()) < 1e-6
    assert relative_error(b[7:], dyn.forward_dynamics_derivatives(at_rest, np.zeros(7), dyn.actuation @ held)[2].full()
                          @ dyn.actuation) < TIGHT  # fmt: skip


def test_linearisation_about_a_motion() -> None:
    """Nothing has to be at rest: by algorithmic differentiation of the equations, u being the nearest that holds it."""
    dyn = arm(joints=JOINTS)
    q, v, _ = state(dyn, 11)
    u = np.linalg.lstsq(dyn.actuation, dyn.nle(q, v).full().ravel(), rcond=None)[0]
    x, effort = ca.SX.sym("x", 14), ca.SX.sym("u", 2)
    xdot = dyn.state_derivative(x, effort)
    slopes = ca.Function("slopes", [x, effort], [ca.jacobian(xdot, x), ca.jacobian(xdot, effort)])
    for given in ((q, v), (q, v, u)):
        for found, wanted in zip(dyn.linearize(*given), slopes([*q, *v], u), strict=True):
            # both solve with M, whose condition number is 4e3
            assert relative_error(found, wanted.full()) < 1e-11


@pytest.mark.parametrize("weight", [0.0, 3000.0])
def test_what_counts_as_rest(weight: float) -> None:
    """A force of 1e-6 of the largest one, or of 1 N; half of that is left alone, five times as much is refused."""
    dyn = cantilever(weight=weight, flexural=5e4)
    rest = dyn.static_deflection(np.zeros(5))
    scale = max(1.0, np.abs(dyn.nle(rest, np.zeros(5)).full()).max())
    assert scale > 800 or weight == 0
    off = np.concatenate([[0], np.linalg.solve(dyn.stiffness_matrix[1:, 1:], [1e-6 * scale, 0, 0, 0])])
    dyn.linearize(rest + 0.5 * off)
    with pytest.raises(ArgumentError, match="nothing holds 'rod y1' at q"):
        dyn.linearize(rest + 5 * off)


def test_it_keeps_its_links_until_it_is_pickled() -> None:
    """Read only, and apart from the dict that was given; a function of the abscissa may not pickle, the arm does."""
    given = {"link1": FlexibleLink(Beam(1.0, lambda eta: 0.6 + 0 * eta, EI_z=10.0))}
    dyn = FlexibleArm(gd.load_urdf("two_link_flexible"), given)
    link = given.pop("link1")
    assert dyn.links is not None
    assert list(dyn.links.values()) == [link]
    with pytest.raises(TypeError):
        dyn.links["link1"] = link  # type: ignore[index]
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(link)
    assert pickle.loads(pickle.dumps(dyn)).links is None
    assert dict(FlexibleArm(gd.load_urdf("two_link_flexible")).links or {}) == {}


def test_the_user_is_told_what_a_beam_replaces() -> None:
    with pytest.warns(
        BeamWarning, match=r"link 'link1': its body of 0.6 kg at \[0.5, 0.0, 0.0\] m is now a beam of 0.7"
    ):
        FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": FlexibleLink(Beam(1.0, 0.7, EI_z=10.0))})


TIP = pin.Inertia(0.2, np.array([0.01, 0.0, 0.0]), np.diag([1e-4, 2e-4, 2e-4]))


@pytest.mark.parametrize("tip_is_its_own", [True, False])
def test_a_tip_body_is_part_of_what_a_beam_replaces_or_a_payload(tip_is_its_own: bool) -> None:
    """Neither warns; to follow the advice to give a hub for the tip body would count it twice."""
    model = gd.load_urdf("two_link_flexible")
    if tip_is_its_own:
        model.inertias[1] = model.inertias[1] + pin.SE3(np.eye(3), np.array([1.0, 0, 0])).act(TIP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dyn = FlexibleArm(model, {"link1": FlexibleLink(Beam(1.0, 0.6, EI_z=10.0), tip_body=TIP)})
    assert dyn.replacements[0].mass == pytest.approx(0.8 if tip_is_its_own else 0.6, rel=1e-12)
    assert dyn.replacements[0].beam_mass == pytest.approx(dyn.replacements[0].mass, rel=1e-12)


def test_a_tip_body_that_explains_no_difference_is_no_excuse() -> None:
    with pytest.warns(
        BeamWarning, match=r"a beam of 0.7 kg at .*, with its tip_body 0.9 kg; give a hub= or tip_body= "
    ):
        FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": FlexibleLink(Beam(1.0, 0.7, EI_z=10.0), tip_body=TIP)})


@pytest.mark.parametrize(
    ("joints", "error", "message"),
    [
        ({"joint3": JOINTS["joint2"]}, UnknownNameError, "^no joint named 'joint3'; nearest: 'joint"),
        (
            {"joint1": JOINTS["joint2"], "jiont2": JOINTS["joint2"]},
            UnknownNameError,
            "named 'jiont2'; nearest: 'joint2'",
        ),
        ({"joint2": 50.0}, TypeError, "^joint 'joint2': expected a FlexibleJoint, got float$"),
        (
            {"joint2": FlexibleJoint(1.0)},
            ArgumentError,
            "^joint 'joint2': its rotor has no inertia; give rotor_inertia, or",
        ),
    ],
)
def test_joints_that_do_not_fit_are_refused(
    joints: dict[str, FlexibleJoint], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        FlexibleArm(gd.load_urdf("two_link_flexible"), {}, joints)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((-5.0,), r"^FlexibleJoint: stiffness: got -5.0; give one finite number \[N m/rad or N/m\], above 0$"),
        ((0.0,), r"^FlexibleJoint: stiffness: got 0.0; .* above 0$"),
        ((5.0, -0.1), r"^FlexibleJoint: rotor_inertia: got -0.1; .* \[kg m² or kg\], above 0$"),
        ((5.0, 0.1, -0.1), r"^FlexibleJoint: damping: got -0.1; .* at least 0$"),
    ],
)
def test_springs_that_are_refused(given: tuple[float, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        FlexibleJoint(*given)


def test_a_continuous_joint_cannot_be_flexible() -> None:
    """Its angle is stored as (cos, sin), which a spring cannot take a difference of."""
    model = pin.Model()
    hinge = model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(hinge, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(
        UnsupportedError, match=r"^joint 'hinge': a UnboundedRevolute joint cannot be flexible; revolute"
    ):
        FlexibleArm(model, {}, {"hinge": JOINTS["joint2"]})


# Flexible joints.


@pytest.mark.parametrize("kinematics", ["exact", "first_order"])
def test_the_block_form_of_flexible_joints(kinematics: str) -> None:
    """CB46, corrected: mass diag(M, J), K + SᵀK_tS, −SᵀK_t, K_t, damping alike, forces (0; tau_m)."""
    springs = {"joint1": FlexibleJoint(70.0, 0.03, 0.2), "joint2": JOINTS["joint2"]}
    stiff, geared = arm(kinematics=kinematics), arm(kinematics=kinematics, joints=springs)
    n = stiff.tree.nv
    s, k_t, d_t, j = np.eye(n)[:2], np.diag([70.0, 50.0]), np.diag([0.2, 0.3]), np.diag([0.03, 0.02])
    q, v, a = state(geared, 7)
    m, nle = stiff.mass_matrix(q[:n]).full(), stiff.nle(q[:n], v[:n]).full().ravel()
    assert (
        relative_error(geared.mass_matrix(q).full(), np.block([[m, np.zeros((n, 2))], [np.zeros((2, n)), j]])) < TIGHT
    )
    for found, own, spring in (
        (geared.stiffness_matrix, stiff.stiffness_matrix, k_t),
        (geared.damping_matrix, stiff.damping_matrix, d_t),
    ):
        wanted = np.block([[own + s.T @ spring @ s, -s.T @ spring], [-spring @ s, spring]])
        assert relative_error(found, wanted) < TIGHT
    twist, rate = s @ q[:n] - q[n:], s @ v[:n] - v[n:]
    through = k_t @ twist + d_t @ rate
    tau = geared.inverse_dynamics(q, v, a).full().ravel()
    assert relative_error(tau, [*(m @ a[:n] + nle + s.T @ through), *(j @ a[n:] - through)]) < TIGHT
    assert np.array_equal(geared.actuation, np.vstack([np.zeros((n, 2)), np.eye(2)]))
    places = {joint.name: joint.idx_v for joint in geared.tree.joints}
    assert (places["joint1 rotor"], places["joint2 rotor"]) == (n, n + 1)
    turned = arm(kinematics=kinematics, joints=dict(reversed(springs.items())))
    assert turned.layout == geared.layout
    assert np.array_equal(turned.stiffness_matrix, geared.stiffness_matrix)


@pytest.mark.parametrize("stiffness", [20.0, 2e7, 2e-13])
def test_two_inertias_on_a_spring(stiffness: float) -> None:
    """ω² = k (1/I + 1/J): the printed sign of CB46 gives k (1/J − 1/I)."""
    model = pin.Model()
    hinge = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(hinge, pin.Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 0.3])), pin.SE3.Identity())
    dyn = FlexibleArm(model, {}, {"hinge": FlexibleJoint(stiffness, 0.05)})
    free = dyn.natural_frequencies(np.zeros(2), joints="free")
    assert free[0] == 0
    assert free[1] == pytest.approx(np.sqrt(stiffness * (1 / 0.3 + 1 / 0.05)), rel=1e-14, abs=0)
    link, rotor = (dyn.natural_frequencies([0.0], joints=joints)[0] for joints in ("braked", "locked"))
    assert link == pytest.approx(np.sqrt(stiffness / 0.3), rel=1e-14, abs=0)
    assert rotor == pytest.approx(np.sqrt(stiffness / 0.05), rel=1e-14, abs=0)


def test_a_stiff_joint_is_a_rigid_one_with_an_armature() -> None:
    """Rotor and link together, their acceleration differs from that of the armature by 1/K_t."""
    model = gd.load_urdf("two_link_flexible")
    model.armature = np.array([0.0, 0.02])
    links = {"link1": FlexibleLink(BEAMS["link1"], modes.hermite())}
    rigid = FlexibleArm(model, links)
    q, v, _ = state(rigid, 8)
    tau = np.array([0.3, -0.2, 0.0, 0.0])
    errors = []
    for stiffness in (1e6, 1e8):
        dyn = FlexibleArm(model, links, {"joint2": FlexibleJoint(stiffness)})  # the rotor is the armature
        assert dyn.mass_matrix(np.zeros(5)).full()[4, 4] == 0.02
        # both sides move as one where the spring is stretched by what the rotor asks of it
        a = rigid.forward_dynamics(q, v, tau).full().ravel()
        rotor = q[1] + (tau[1] - 0.02 * a[1]) / stiffness
        u = np.array([tau[0], tau[1]])
        found = dyn.forward_dynamics([*q, rotor], [*v, v[1]], dyn.actuation @ u).full().ravel()
        errors.append(relative_error(found, [*a, a[1]]))
    # what is left is rounding of the angle times the stiffness over the inertia: 1e-16 · 1e8 / 0.02
    assert max(errors) < 1e-6


def test_the_papers_kinematics_take_simple_joints_only() -> None:
    model = gd.load_urdf("two_link_flexible", root_joint=pin.JointModelPlanar())
    message = r"^joint 'root_joint': first-order kinematics take revolute and prismatic joints only, not a Planar"
    with pytest.raises(UnsupportedError, match=message):
        gd.FirstOrderArm(model, {"link1": FlexibleLink(BEAMS["link1"], foreshortening=False)})


# Tips.


def test_where_a_tip_is() -> None:
    """(l − ½ s f², y) of one mode, turned by its slope; at the end of the shipped robot stands its own frame."""
    dyn = FlexibleArm(gd.load_urdf("two_link_flexible"), {"link2": FlexibleLink(BEAMS["link2"], modes.polynomial(1))})
    q, slope = [0.0, 0.0, 0.05], 2 * 0.05 / 0.8
    t = dyn.tip_placement("link2")(q).full()
    assert np.abs(t[:3, 3] - [1.8 - 0.5 * 4 / (3 * 0.8) * 0.05**2, 0.05, 0]).max() < 1e-15
    assert np.abs(t[:2, :2] - [[np.cos(slope), -np.sin(slope)], [np.sin(slope), np.cos(slope)]]).max() < 1e-15
    assert np.abs(gd.Kinematics(dyn.tree).frame_placement("tip")(q).full() - t).max() < 1e-15
    clamped = gd.Kinematics(dyn.tree).frame_placement("link2 root")(q).full()
    assert np.abs(clamped[:3, 3] - [1, 0, 0]).max() < 1e-15
    with pytest.raises(UnknownNameError, match=r"^no flexible link named 'link3'; nearest: 'link2'$"):
        dyn.tip_placement("link3")


# What is asked of an arm.


def cantilever(*, weight: float = 9.81, tip: float = 0.0, flexural: float = 50.0) -> FlexibleArm:
    """A horizontal beam of 1 m and 0.6 kg."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0, -weight, 0.0]), np.zeros(3))
    hinge = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(
        hinge, pin.Inertia(0.6, np.array([0.5, 0, 0]), np.diag([0, 0.05, 0.05])), pin.SE3.Identity()
    )
    model.addBodyFrame("rod", hinge, pin.SE3.Identity(), 0)
    body = pin.Inertia(tip, np.zeros(3), np.zeros((3, 3)))
    return FlexibleArm(model, {"rod": FlexibleLink(Beam(1.0, 0.6, EI_z=flexural), modes.polynomial(4), tip_body=body)})


def test_a_cantilever_under_its_own_weight() -> None:
    """μ g l⁴ / 8 EI to first order; ξ⁴ is in the set, so that what is left is the square of the slope."""
    for flexural, allowed in ((50.0, 1e-3), (5e4, 1e-9)):
        dyn = cantilever(flexural=flexural)
        tip = dyn.tip_placement("rod")(dyn.static_deflection(np.zeros(5))).full()[1, 3]
        assert tip == pytest.approx(-0.6 * 9.81 / (8 * flexural), rel=allowed, abs=0)


@pytest.mark.filterwarnings("ignore:static_deflection")
def test_a_weight_at_the_end_keeps_its_direction() -> None:
    """P l³ / 3 EI; the same as a body on the tip, which a force that turns with the tip is not."""
    dyn, heavy = cantilever(weight=0.0, flexural=5.0), cantilever(weight=9.81, tip=0.2, flexural=5.0)
    load = [0, -0.2 * 9.81, 0, 0, 0, 0]
    world = dyn.static_deflection(np.zeros(5), "rod tip", load, reference=pin.LOCAL_WORLD_ALIGNED)
    turning = dyn.static_deflection(np.zeros(5), "rod tip", load, reference=pin.LOCAL)
    bare = cantilever(weight=9.81, flexural=5.0)
    # small loads add up; what is left is of the order of the square of the slope of 0.3
    both = world + bare.static_deflection(np.zeros(5))
    assert relative_error(heavy.static_deflection(np.zeros(5)), both) < 0.1
    small = cantilever(weight=0.0, flexural=5e4)
    tip = small.static_deflection(np.zeros(5), "rod tip", load, reference=pin.LOCAL_WORLD_ALIGNED)
    assert small.tip_placement("rod")(tip).full()[1, 3] == pytest.approx(-0.2 * 9.81 / 1.5e5, rel=1e-8, abs=0)
    assert np.abs(world - turning).max() > 1e-3


def test_rest_of_the_joints_alone() -> None:
    model = gd.load_urdf("two_link_flexible")
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    beam = gd.Beam.tube(None, outer_diameter=0.05, wall=0.002, density=2700, youngs_modulus=70e9)
    links = {"link1": gd.FlexibleLink(beam, gd.modes.clamped_free(1), keep_body=True)}
    arm = gd.FlexibleArm(model, links, joints={"joint2": gd.FlexibleJoint(1e3, rotor_inertia=0.1)})
    q = np.array([0.1, 0.2, 0.0, 0.2])
    found = arm.static_deflection(q[:2])
    np.testing.assert_array_equal(found, arm.static_deflection(q))
    np.testing.assert_array_equal(found[[0, 3]], q[[0, 3]])  # the motors
    left = arm.nle(found, np.zeros(4)).full().ravel()
    assert np.abs(left[1:3]).max() < 1e-12 * np.abs(left).max()
    assert left[3] == pytest.approx(1e3 * (0.2 - found[1]), rel=1e-12)  # what the brake carries
    locked = arm.static_deflection(q[:2], hold="joints")
    np.testing.assert_array_equal(locked[:2], q[:2])
    assert np.abs(arm.nle(locked, np.zeros(4)).full().ravel()[2:]).max() < 1e-12 * np.abs(left).max()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda dyn: dyn.static_deflection(np.zeros(3)), r"^static_deflection: q has shape \(3,\); give \(5,\), or "),
        (
            lambda dyn: dyn.static_deflection(np.zeros(5), "rod tip"),
            r"^static_deflection: give frame, wrench and reference= \(pin.LOCAL, …\) together$",
        ),
        (
            lambda dyn: dyn.static_deflection(np.zeros(5), "rod tip", [1.0], reference=pin.LOCAL),
            r"^static_deflection: wrench has shape \(1,\); give \(6,\)$",
        ),
        (
            lambda dyn: dyn.static_deflection(np.zeros(5), "rod tip", [0, 1e300, 0, 0, 0, 0], reference=pin.LOCAL),
            r"^static_deflection: Newton's method finds no equilibrium from q; the forces on modes and flexible",
        ),
        (
            lambda dyn: dyn.natural_frequencies(np.zeros(4)),
            r"^natural_frequencies: q has shape \(4,\); give \(5,\), or \(1,\) of",
        ),
        (
            lambda dyn: dyn.natural_frequencies(np.zeros(5), joints="held"),
            r"joints: got 'held'; give 'braked', 'locked' or 'free'$",
        ),
        (
            lambda dyn: dyn.linearize(np.zeros(5), np.zeros(2)),
            r"^linearize: v has shape \(2,\); give \(5,\)$",
        ),
        (
            lambda dyn: dyn.linearize(np.zeros(5)),
            r"^linearize: nothing holds 'rod y1' at q, where a force of 1.96 is left on it; start from s",
        ),
    ],
)
def test_questions_without_an_answer(ask: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ask(cantilever())


def test_free_frequencies() -> None:
    """A zero, and no rounding, for each motion that nothing holds back; a spring on a joint counts."""
    dyn = arm()
    free = dyn.natural_frequencies(np.zeros(6), joints="free")
    assert np.array_equal(free[:2], [0, 0])
    assert free[2] > 1
    links = {name: FlexibleLink(beam, bending_y=modes.hermite()) for name, beam in BEAMS.items()}
    held = FlexibleArm(gd.load_urdf("two_link_flexible"), links, springs={"joint1": (3.0, 0.0)})
    q = np.array([0.2, 0.1, 0, 0, 0, 0])
    pulled = held.nle(q, np.zeros(6)) - held.generalized_gravity(q)
    assert np.abs(pulled.full().ravel() - [0.6, 0, 0, 0, 0, 0]).max() < 1e-14
    assert float(held.potential_energy(q) - dyn.potential_energy(q)) == pytest.approx(0.06, rel=1e-12, abs=0)
    found = held.natural_frequencies(np.zeros(6), joints="free")
    assert found[0] == 0 < found[1]
    # a soft spring and the rigid arm: of the two joints by the eigenvalues of M⁻¹ K
    m = held.mass_matrix(np.zeros(6)).full()
    k = held.stiffness_matrix + np.diag([3.0, 0, 0, 0, 0, 0])
    wanted = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(m, k)).real)[1])
    assert found[1] == pytest.approx(wanted, rel=1e-9, abs=0)


@pytest.mark.parametrize(("stiffness", "held"), [(1e-11, True), (1e-12, False)])
def test_a_spring_that_is_lost_beside_another_holds_nothing(stiffness: float, held: bool) -> None:
    """Of two springs in a row the soft one is half the least eigenvalue of K in units of its diagonal: 1e-12 counts."""
    model = pin.Model()
    hinge = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(hinge, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    dyn = FlexibleArm(model, {}, {"hinge": FlexibleJoint(1.0, 1.0)}, springs={"hinge": (stiffness, 0.0)})
    lowest = dyn.natural_frequencies(np.zeros(2), joints="free")[0]
    # both inertias of 1 on the soft spring, whose square is right to rounding of the stiff one
    assert lowest**2 == pytest.approx(stiffness / 2 if held else 0.0, rel=1e-3, abs=0)


def test_a_load_that_takes_all_stiffness_finds_no_equilibrium() -> None:
    """m g s of a body on the tip of one mode is its stiffness, so that Newton's method divides by nothing."""
    nodes = gd.Nodes(
        masses=[1e-30],
        positions=[[1.0, 0, 0]],
        translations=[[[0, 1.0, 0]]],
        rotations=[[[0, 0, 1.0]]],
        stiffness=[[4.0]],
        shortening=[[[0.5]]],
    )
    model = pin.Model()
    model.gravity = pin.Motion(np.array([-8.0, 0, 0]), np.zeros(3))
    slide = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(slide, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addBodyFrame("rod", slide, pin.SE3.Identity(), 0)
    body = pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))
    dyn = FlexibleArm(model, {"rod": FlexibleLink(nodes, root=np.eye(4), tip_body=body, keep_body=True)})
    with pytest.raises(ArgumentError, match=r"^static_deflection: Newton's method finds no equilibrium from q"):
        dyn.static_deflection(np.zeros(2))


def test_a_load_that_bends_far_takes_several_steps() -> None:
    """A force that turns with the tip, by 45°, is in equilibrium in the end."""
    dyn, load = cantilever(weight=0.0, flexural=5.0), np.array([0, -30.0, 0, 0, 0, 0])
    with pytest.warns(
        BeamWarning, match=r"^static_deflection: link 'rod': its tip slopes by 2.25 rad, and assumed modes"
    ):
        found = dyn.static_deflection(np.zeros(5), "rod tip", load, reference=pin.LOCAL)
    torques = gd.joint_torques(dyn.tree, "rod tip", pin.LOCAL)(found, load).full().ravel()
    rest = dyn.nle(found, np.zeros(5)).full().ravel() - torques
    assert np.abs(rest[1:]).max() < 1e-11  # of forces of 30 N
    assert dyn.validity(found)["rod"].slope > 0.7


def test_the_papers_kinematics_refuse_foreshortening() -> None:
    """Where it is asked for; by default their links have none."""
    model, beam = gd.load_urdf("two_link_flexible"), BEAMS["link1"]
    with pytest.raises(ArgumentError, match="first-order kinematics lengthen what foreshortening shortens"):
        gd.FirstOrderArm(model, {"link1": FlexibleLink(beam, foreshortening=True)})
    default = gd.FirstOrderArm(model, {"link1": FlexibleLink(beam)})
    said = gd.FirstOrderArm(model, {"link1": FlexibleLink(beam, foreshortening=False)})
    assert not any(inertia.shortening.any() for inertia in default.tree.modal.values())
    q = np.array([0.1, 0.2, 0.01, 0.02, 0.03, 0.01])
    assert np.array_equal(default.mass_matrix(q).full(), said.mass_matrix(q).full())
    assert default.links is not None
    assert default.links["link1"].foreshortening is False


def test_rigid_formulations_refuse_a_tree_that_bends() -> None:
    tree = arm().tree
    for formulation in (gd.NewtonEuler, gd.LagrangeEuler, gd.GeneralizedDAlembert):
        with pytest.raises(
            UnsupportedError, match=rf"^two_link_flexible: its links are flexible, and {formulation.__name__} tak"
        ):
            formulation(tree)


@pytest.mark.parametrize("name", ["natural_frequencies", "static_deflection", "linearize"])
def test_questions_about_nothing(name: str) -> None:
    ask = getattr(arm(), name)
    for q, error in (([np.nan] * 6, ArgumentError), ("abc", ArgumentTypeError), (np.zeros((6, 2)), ArgumentError)):
        with pytest.raises(error, match=rf"^{name}: q"):
            ask(q)
    assert ask(np.zeros((6, 1))) is not None


@pytest.mark.parametrize("name", ["centroidal_map", "centroidal_momentum", "centroidal_momentum_rate"])
def test_first_order_rotations_have_no_angular_momentum(name: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        getattr(gd.Kinematics(planar(exact=False).tree), name)
    assert str(raised.value) == (
        "two_link_flexible: its links turn to first order only, and have no angular momentum; take FlexibleArm, or "
        "total_mass times center_of_mass_velocity for the linear momentum"
    )


def test_counts_that_no_computer_holds_are_refused() -> None:
    """At once, not after minutes."""
    beam = gd.Beam(1.0, 1.0, EI_z=1.0)
    with pytest.raises(ArgumentError, match=r"^CosseratRod: segments: got 1000000; give an integer from 1 to 1000$"):
        gd.CosseratRod(beam, segments=10**6, strains=("bending_y",))
    for make in (modes.clamped_free, modes.clamped_clamped, modes.craig_bampton, modes.sine, modes.polynomial):
        with pytest.raises(
            ArgumentError, match=rf"^{make.__name__}: n.*: got 1000000; give an integer from . to 1000$"
        ):
            make(10**6)

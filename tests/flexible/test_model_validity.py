"""Validity indicators: against closed forms, and in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, BeamWarning
from gdalembert.flexible.model_validity import FAST_STRAIGHT, LOADED, STEEP, Validity
from tests.helpers.validated_arms import BY_KINEMATICS

LENGTH, MU, EI = 1.2, 0.5, 8.0
BEAM = gd.Beam(LENGTH, MU, EI_z=EI)
FREQUENCY = 1.8751040687119611**2 * np.sqrt(EI / (MU * LENGTH**4))
BUCKLING = np.pi**2 * EI / (4 * LENGTH**2)
LINK = gd.FlexibleLink(BEAM, gd.modes.clamped_free(2))


def model(*gravity: float, axis: tuple[float, float, float] = (0, 0, 1)) -> pin.Model:
    """One link of the mass of the beam, on a joint at the origin."""
    made = pin.Model()
    made.name = "rod"
    made.gravity = pin.Motion(np.array(gravity or (0.0, 0, 0)), np.zeros(3))
    joint = made.addJoint(0, pin.JointModelRevoluteUnaligned(np.array(axis, dtype=float)), pin.SE3.Identity(), "hinge")
    mass = MU * LENGTH
    own = pin.Inertia(mass, np.array([LENGTH / 2, 0, 0]), mass * LENGTH**2 / 12 * np.diag([0.0, 1, 1]))
    made.appendBodyToJoint(joint, own, pin.SE3.Identity())
    made.addBodyFrame("rod", joint, pin.SE3.Identity(), 0)
    return made


def arm(link: gd.FlexibleLink = LINK, *gravity: float) -> gd.FlexibleArm:
    return gd.FlexibleArm(model(*gravity), {"rod": link})


def test_slope_and_spin() -> None:
    """The largest of all instants; the first frequency is that of the clamped beam."""
    dyn = arm()
    q, v = np.zeros((3, 3)), np.zeros((3, 3))
    q[1, 1:], v[2, 0] = (0.01, -0.02), -4.0
    found = dyn.validity(q, v)["rod"]
    slopes = gd.modes.clamped_free(2).slope(LENGTH, LENGTH)[:, 0]
    assert found.slope == pytest.approx(abs(slopes @ q[1, 1:]), rel=1e-14, abs=0)
    assert found.frequency == pytest.approx(FREQUENCY, rel=1e-12, abs=0)
    assert found.spin == pytest.approx(4.0 / FREQUENCY, rel=1e-12, abs=0)


def test_slope_on_a_joint_of_more_numbers_than_velocities() -> None:
    """A continuous joint has two numbers in q, (cos, sin), and one in v."""
    made = pin.Model()
    joint = made.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "hinge")
    made.appendBodyToJoint(joint, model().inertias[1], pin.SE3.Identity())
    made.addBodyFrame("rod", joint, pin.SE3.Identity(), 0)
    found = gd.FlexibleArm(made, {"rod": LINK}).validity([0.6, 0.8, 0.01, -0.02])["rod"]
    slopes = gd.modes.clamped_free(2).slope(LENGTH, LENGTH)[:, 0]
    assert found.slope == pytest.approx(abs(slopes @ [0.01, -0.02]), rel=1e-14, abs=0)


def test_a_body_on_the_tip_lowers_the_first_frequency() -> None:
    """To that of the exact mode of the loaded beam."""
    tip = pin.Inertia(MU * LENGTH, np.zeros(3), np.zeros((3, 3)))
    sets = gd.modes.clamped_tip(2, 1.0)
    found = arm(replace(LINK, bending_y=sets, tip_body=tip)).validity(np.zeros(3))["rod"]
    assert found.frequency == pytest.approx(sets.roots[0] ** 2 * np.sqrt(EI / (MU * LENGTH**4)), rel=1e-12, abs=0)


@pytest.mark.parametrize("foreshortening", [True, False])
def test_buckling_load(foreshortening: bool) -> None:
    """π² EI / 4 l² of a uniform column, from above; polynomials get there to 1e-9 with six of them."""
    link = replace(LINK, bending_y=gd.modes.polynomial(6), foreshortening=foreshortening)
    found = arm(link).validity(np.zeros(7))["rod"].buckling_load
    assert 0 <= found / BUCKLING - 1 < 1e-9


def test_buckling_load_of_a_taper() -> None:
    """EI (1 − η/2l)² with the root clamped: tan β ln 2 = −2 β with P = EI (β² + ¼) / 4 l² (Euler's equation)."""
    # of y = w − w(l), (1 − x/2)² y'' + k y = 0 with y(1) = 0, y'(0) = 0: y = r^½ sin(β ln 2r), r = 1 − x/2
    low, high = np.pi / 2 / np.log(2), np.pi / np.log(2)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.tan(middle * np.log(2)) + 2 * middle < 0 else (low, middle)
    wanted = EI * (low**2 + 0.25) / (4 * LENGTH**2)
    beam = gd.Beam(LENGTH, MU, EI_z=lambda eta: EI * (1 - eta / (2 * LENGTH)) ** 2)
    found = arm(replace(LINK, beam=beam, bending_y=gd.modes.polynomial(7))).validity(np.zeros(8))["rod"]
    assert 0 <= found.buckling_load / wanted - 1 < 1e-8


def test_what_does_not_bend_does_not_buckle() -> None:
    link = gd.FlexibleLink(replace(BEAM, EA=1e5), extension=gd.modes.linear())
    found = arm(link, -9.81, 0, 0).validity(np.zeros(2))["rod"]
    assert found.buckling_load == np.inf
    assert found.load == 0
    assert not found.foreshortening


def test_nodes_that_do_not_shorten_know_no_buckling() -> None:
    nodes = gd.Nodes(
        masses=[0.3, 0.3],
        positions=[[0.5, 0, 0], [LENGTH, 0, 0]],
        translations=[[[0, 0.3, 0], [0, 1, 0]]],
        rotations=[[[0, 0, 0.9], [0, 0, 1.1]]],
        stiffness=[[4.0]],
    )
    # masses and centre of mass are those of the two nodes, which the user is told
    with pytest.warns(BeamWarning, match="its body of 0.6 kg"):
        found = gd.FlexibleArm(model(), {"rod": gd.FlexibleLink(nodes, root=np.eye(4))}).validity(np.zeros(2))["rod"]
    assert np.isnan(found.buckling_load)
    assert np.isnan(found.load)
    assert not found.warnings


@pytest.mark.parametrize("foreshortening", [True, False])
@pytest.mark.parametrize(("tip", "up"), [(0.0, True), (2.0, True), (2.0, False)])
def test_weight_on_a_column(tip: float, up: bool, foreshortening: bool) -> None:
    """The weight of the tip, and half of the beam's own; it presses below, and pulls above."""
    body = pin.Inertia(tip, np.zeros(3), np.zeros((3, 3)))
    link = replace(LINK, tip_body=body, foreshortening=foreshortening)
    found = arm(link, -9.81 if up else 9.81, 0, 0).validity(np.zeros(3))["rod"]
    weight = 9.81 * (tip + MU * LENGTH / 2) * (1 if up else -1)
    assert found.load * found.buckling_load == pytest.approx(weight, rel=1e-12, abs=0)


def test_load_of_spinning_and_of_what_is_carried() -> None:
    """−Ω² ∫ξ η dm of the beam and −Ω² m l of the tip; an acceleration along the beam presses as gravity does."""
    body = pin.Inertia(2.0, np.zeros(3), np.zeros((3, 3)))
    found = arm(replace(LINK, tip_body=body)).validity(np.zeros(3), [3.0, 0, 0])["rod"]
    pull = -9.0 * (MU * LENGTH**2 / 3 + 2.0 * LENGTH)
    assert found.load * found.buckling_load == pytest.approx(pull, rel=1e-12, abs=0)


@pytest.mark.parametrize(("angle", "tilt"), [(0.0, 0.0), (np.pi / 2, 0.0), (1.0, 0.7)])
def test_load_of_a_beam_whose_root_stands_off_the_joint(angle: float, tilt: float) -> None:
    """e_x · ∫ξ (α × r + ω × (ω × r)) dm over points r = p + η e_x; the own body that is kept stands on the root."""
    p, spin, alpha = np.array([0.2, 0.1, -0.3]), 3.0, 2.0
    turn = pin.exp3(np.array([0, 0, angle])) @ pin.exp3(np.array([0, -tilt, 0]))
    e_x = turn[:, 0]
    link = replace(LINK, root=pin.SE3(turn, p), keep_body=True)
    found = arm(link).validity(np.zeros(3), [spin, 0, 0], [alpha, 0, 0])["rod"]
    place = MU * (p * LENGTH / 2 + e_x * LENGTH**2 / 3)  # ∫ξ r dm
    wanted = e_x @ (alpha * np.array([-place[1], place[0], 0]) - spin**2 * place * [1, 1, 0])
    assert found.load * found.buckling_load == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize("where", ["tip", 0.4])
@pytest.mark.parametrize("kinematics", ["exact", "first_order"])
def test_load_is_the_work_of_a_uniform_shortening(kinematics: str, where: str | float) -> None:
    """As a mode x = ξ of the first link it would be the force on that mode. With a distal link, at any motion.

    Without bending of the first link, of whose own mass the indicator takes the undeformed place.
    """
    skeleton = gd.load_urdf("two_link_flexible")
    skeleton.gravity = pin.Motion(np.array([3.0, -9.0, 1.0]), np.zeros(3))
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0, EA=1e5), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    second = gd.FlexibleLink(beams["link2"], gd.modes.hermite(), foreshortening=False)
    of = BY_KINEMATICS[kinematics]
    first = {"foreshortening": False, "children": {"joint2": where}}
    bending = gd.FlexibleLink(beams["link1"], gd.modes.hermite(), **first)
    stretching = gd.FlexibleLink(beams["link1"], extension=gd.modes.linear(), **first)
    dyn = of(skeleton, {"link1": bending, "link2": second}, clean=0)
    other = of(skeleton, {"link1": stretching, "link2": second}, clean=0)
    rng = np.random.default_rng(0)
    for _ in range(3):
        states = rng.normal(size=(3, 4)) * [1, 1, 0.02, 0.02]
        x, y = (np.insert(states, [2] * n, 0.0, axis=1) for n in (2, 1))
        found = dyn.validity(*x)["link1"]
        wanted = other.inverse_dynamics(*y).full()[2, 0]
        # exact but for what is left of the product of the two numbers
        assert found.load * found.buckling_load == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_what_stands_between_presses_by_its_share() -> None:
    """A load at a station counts by its abscissa; what stands on the root does not count."""
    made = model(-9.81, 0, 0)
    for name, x in (("low", 0.0), ("middle", LENGTH / 3)):
        joint = made.addJoint(1, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([x, 0, 0])), name)
        made.appendBodyToJoint(joint, pin.Inertia(1.5, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    made.addFrame(pin.Frame("end", 1, 0, pin.SE3(np.eye(3), np.array([LENGTH, 0, 0])), pin.FrameType.OP_FRAME))
    dyn = gd.FlexibleArm(made, {"rod": replace(LINK, to="end")})
    found = dyn.validity(np.zeros(dyn.tree.nq))["rod"]
    wanted = 9.81 * (MU * LENGTH / 2 + 1.5 / 3)
    assert found.load * found.buckling_load == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_the_model_buckles_at_the_load_that_is_said(share: float) -> None:
    """With foreshortening gravity is in the stiffness: a column is upright below, and not above."""
    light = gd.Beam(LENGTH, 1e-6, EI_z=EI)
    body = pin.Inertia(share * BUCKLING / 9.81, np.zeros(3), np.zeros((3, 3)))
    link = gd.FlexibleLink(light, gd.modes.polynomial(6), tip_body=body)
    with pytest.warns(BeamWarning, match="is now a beam"):
        dyn = gd.FlexibleArm(model(-9.81, 0, 0), {"rod": link})
    assert dyn.validity(np.zeros(7))["rod"].load == pytest.approx(share, rel=1e-6, abs=0)  # of the beam: 4e-7
    if share < 1:
        assert not dyn.static_deflection(np.zeros(7)).any()
    else:
        with pytest.raises(
            ArgumentError, match=r"^static_deflection: the equilibrium next to q is not stable, as of a"
        ):
            dyn.static_deflection(np.zeros(7))


def test_accelerations_from_the_actuators() -> None:
    """u says what a would be; without either a = 0."""
    links = {
        "link1": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0)),
        "link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0)),
    }
    dyn = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 5, 10)) * [1, 1, *[0.001] * 8]
    u = rng.normal(size=(5, 2))
    a = np.array([dyn.forward_dynamics(q[k], v[k], dyn.actuation @ u[k]).full().ravel() for k in range(5)])
    by_u, by_a, steady = (dyn.validity(q, v, *x, **y)["link1"].load for x, y in (((), {"u": u}), ((a,), {}), ((), {})))
    # of accelerations that differ by rounding of forces of the size of the stiffness
    assert by_u == pytest.approx(by_a, rel=1e-10, abs=0)
    assert steady != pytest.approx(by_a, rel=1e-2, abs=0)
    one = max(dyn.validity(q[k], v[k], a[k])["link1"].load for k in range(5))
    assert by_a == pytest.approx(one, rel=1e-12, abs=0)


@pytest.mark.parametrize(("foreshortening", "fast", "loaded"), [(True, 3.0, 0.5), (False, 0.3, 0.1)])
def test_what_is_warned_about(foreshortening: bool, fast: float, loaded: float) -> None:
    """The limits of the documentation, each by itself."""
    calm = Validity("rod", 0.2, fast, loaded, 1.0, 1.0, foreshortening)
    assert not calm.warnings
    for changes in ({"slope": 0.201}, {"spin": 1.01 * fast}, {"load": 1.01 * loaded}):
        assert len(replace(calm, **changes).warnings) == 1


def test_sentences() -> None:
    dyn = arm(replace(LINK, foreshortening=False), -9.81, 0, 0)
    calm = dyn.validity([np.pi, 0, 0])["rod"]
    assert not calm.warnings
    assert str(calm).startswith(
        "link 'rod': tip slope 0 rad; spin 0 of the first frequency (9.767 rad/s); axial load -"
    )
    wild = dyn.validity([0, 0.2, 0], [10.0, 0, 0], [0, 0, 0])["rod"]
    assert wild.slope > STEEP
    assert wild.spin > FAST_STRAIGHT
    steep, fast = wild.warnings
    assert steep == (
        "link 'rod': its tip slopes by 0.459 rad, and beams are taken to bend by less than 0.2 rad; divide the link "
        "into two, or take it as a gd.CosseratRod"
    )
    assert fast == (
        "link 'rod': it turns at 1.02 of its first frequency, 9.767 rad/s; turn it at less than 0.3 of that, or let it "
        "shorten: foreshortening=True"
    )
    assert str(wild).splitlines()[1:] == [steep, fast]
    heavy = arm(replace(LINK, tip_body=pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))), -9.81, 0, 0)
    (pressed,) = heavy.validity(np.zeros(3))["rod"].warnings
    assert heavy.validity(np.zeros(3))["rod"].load > LOADED
    assert pressed.startswith("link 'rod': it carries 0.9")
    assert pressed.endswith("under which it buckles; load it with less than 0.5 of that")
    assert gd.FlexibleArm(model()).validity([0.0]) == {}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda dyn: dyn.validity(np.zeros(4)),
            r"^validity: q has shape \(4,\); give \(N, 3\), one row",
        ),
        (
            lambda dyn: dyn.validity(np.zeros((2, 3)), np.zeros((1, 3))),
            r"^validity: v has shape \(1, 3\); give \(2, 3\)",
        ),
        (lambda dyn: dyn.validity(np.zeros(3), u=np.zeros(3)), r"^validity: u has shape \(3,\); give \(1, 1\)"),
        (lambda dyn: dyn.validity(np.zeros(3), None, np.zeros(3), u=[0.0]), r"^validity: got a and u; give one of"),
        (lambda dyn: dyn.validity([np.nan, 0, 0]), r"^validity: q: entry \[0\] is nan"),
    ],
)
def test_bad_input(ask: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ask(arm())

"""A flexible arm behind the interface of a rigid robot."""

from __future__ import annotations

import pickle

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import robots
from models import relative_error

import gdalembert as gd
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.flexible import modes
from gdalembert.flexible.arm import FlexibleArm
from gdalembert.flexible.beam import Beam
from gdalembert.flexible.joint import FlexibleJoint
from gdalembert.flexible.link import FlexibleLink

TIGHT = 1e-12
BEAMS = {"link1": Beam(1.0, 0.6, EI_z=10.0), "link2": Beam(0.8, 0.45, EI_z=10.0)}
JOINTS = {"joint2": FlexibleJoint(stiffness=50.0, rotor_inertia=0.02, damping=0.3)}


def arm(*, kinematics: str = "exact", joints: dict[str, FlexibleJoint] | None = None) -> FlexibleArm:
    links = {
        name: FlexibleLink(beam, bending_y=modes.hermite(), foreshortening=kinematics == "exact", rayleigh=(0.0, 1e-3))
        for name, beam in BEAMS.items()
    }
    return FlexibleArm(gd.load_urdf("two_link_flexible"), links, joints, kinematics=kinematics)


def state(dyn: FlexibleArm, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = np.array([0.02 if "y" in name else 1.0 for name in dyn.layout])
    q, v, a = rng.normal(size=(3, dyn.tree.nv)) * size
    return q, v, a


@pytest.mark.parametrize("joints", [{}, JOINTS])
@pytest.mark.parametrize("kinematics", ["exact", "first_order"])
def test_the_equation_of_motion(kinematics: str, joints: dict[str, FlexibleJoint]) -> None:
    dyn = arm(kinematics=kinematics, joints=joints)
    q, v, a = state(dyn, 0)
    m, c = dyn.mass_matrix(q).full(), dyn.coriolis_matrix(q, v).full()
    g, tau = dyn.generalized_gravity(q).full().ravel(), dyn.inverse_dynamics(q, v, a).full().ravel()
    nle = dyn.nle(q, v).full().ravel()
    assert relative_error(nle, c @ v + g + dyn.stiffness_matrix @ q + dyn.damping_matrix @ v) < TIGHT
    assert relative_error(tau, m @ a + nle) < TIGHT
    assert np.linalg.eigvalsh(m)[0] > 0
    # a can lose as many digits as M has in its condition number, of tau, which is up to fifty times as large
    conditioned = 1e-14 * np.linalg.cond(m)
    assert relative_error(dyn.forward_dynamics(q, v, tau).full().ravel(), a) < conditioned
    u = np.random.default_rng(1).normal(size=2)
    xdot = dyn.state_derivative(np.concatenate([q, v]), u).full().ravel()
    assert relative_error(xdot, [*v, *dyn.forward_dynamics(q, v, dyn.actuation @ u).full().ravel()]) < TIGHT
    assert relative_error(float(dyn.kinetic_energy(q, v)), 0.5 * v @ m @ v) < TIGHT


@pytest.mark.parametrize("joints", [{}, JOINTS])
def test_power_balance(joints: dict[str, FlexibleJoint]) -> None:
    """d/dt (kinetic + potential) = tau·v − v·damping v."""
    dyn = arm(joints=joints)
    q, v, a = state(dyn, 2)
    s = [ca.SX.sym(name, dyn.tree.nv) for name in "qva"]
    energy = dyn.kinetic_energy(s[0], s[1]) + dyn.potential_energy(s[0])
    rate = ca.Function("rate", s, [ca.jtimes(energy, ca.vertcat(*s[:2]), ca.vertcat(*s[1:]))])
    power = dyn.inverse_dynamics(q, v, a).full().ravel() @ v - v @ dyn.damping_matrix @ v
    assert relative_error(float(rate(q, v, a)), power) < TIGHT


def test_without_flexible_parts_it_is_the_rigid_robot() -> None:
    model = gd.load_urdf("panda7")
    dyn, rigid = FlexibleArm(model), gd.NewtonEuler(model)
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 7))
    for name, arguments in (("inverse_dynamics", (q, v, a)), ("mass_matrix", (q,)), ("potential_energy", (q,))):
        assert relative_error(getattr(dyn, name)(*arguments).full(), getattr(rigid, name)(*arguments).full()) < TIGHT
    frame = gd.Kinematics(dyn.tree).frame_placement("flange")(q).full()
    assert relative_error(frame, gd.Kinematics(model).frame_placement("flange")(q).full()) < TIGHT


def test_what_cleaning_changes_is_that_of_the_rigid_robot() -> None:
    model = robots.load("ur5")
    dyn = FlexibleArm(model)
    assert dyn.change_in_tau == gd.NewtonEuler(model).change_in_tau > 0


def test_joints_of_the_undeformed_arm_are_the_rigid_ones() -> None:
    """The shipped robot's links are thin rods, as the beams are; both have the same mass."""
    dyn, model = arm(), gd.load_urdf("two_link_flexible")
    q = np.zeros(dyn.tree.nq)
    q[:2] = 0.3, -0.5
    assert relative_error(dyn.mass_matrix(q).full()[:2, :2], pin.crba(model, model.createData(), q[:2])) < TIGHT
    g = pin.computeGeneralizedGravity(model, model.createData(), q[:2])
    assert relative_error(dyn.generalized_gravity(q).full().ravel()[:2], g) < TIGHT


def test_names_and_terms() -> None:
    dyn = arm(joints=JOINTS)
    assert dyn.layout == ("joint1", "joint2", "link1 y1", "link1 y2", "link2 y1", "link2 y2", "joint2 rotor")
    assert np.array_equal(dyn.actuation, np.eye(7)[:, [0, 6]])
    assert dyn.stiffness_matrix[1, 1] == 50 == -dyn.stiffness_matrix[1, 6]
    q, v, _ = state(dyn, 4)
    parts = dyn.terms.call({"q": q, "v": v})
    m = dyn.mass_matrix(q).full()
    assert relative_error(parts["m_rf"].full(), m[:2, 2:6]) < TIGHT
    assert relative_error(parts["m_f"].full(), m[2:6, 2:6]) < TIGHT
    assert np.array_equal(parts["K_f"].full(), dyn.stiffness_matrix[2:6, 2:6])


def test_frequencies_of_a_clamped_beam() -> None:
    dyn = FlexibleArm(
        gd.load_urdf("two_link_flexible"),
        {"link2": FlexibleLink(BEAMS["link2"], bending_y=modes.clamped_free(3), foreshortening=False)},
    )
    beta = np.array(modes.clamped_free(3).roots)
    expected = beta**2 * np.sqrt(10.0 / (0.45 * 0.8**4))
    assert relative_error(dyn.natural_frequencies(np.zeros(5)), expected) < TIGHT


def test_statics_and_linearisation() -> None:
    dyn = arm(joints=JOINTS)
    q = np.zeros(7)
    q[:2] = 0.3, -0.5
    loaded = dyn.static_deflection(q, "tip", [0, -1.0, 0, 0, 0, 0])
    jacobian = gd.Kinematics(dyn.tree).frame_jacobian("tip", pin.LOCAL)(loaded).full()
    rest = dyn.nle(loaded, np.zeros(7)).full().ravel() - jacobian.T @ [0, -1.0, 0, 0, 0, 0]
    assert np.array_equal(loaded[:2], q[:2])
    assert np.abs(rest[2:]).max() < 1e-11  # of forces of several newtons
    at_rest = dyn.static_deflection(q)
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


def test_it_survives_pickling() -> None:
    dyn = arm(joints=JOINTS)
    copy = pickle.loads(pickle.dumps(dyn))
    q, v, _ = state(dyn, 5)
    assert copy.layout == dyn.layout
    assert np.array_equal(copy.nle(q, v).full(), dyn.nle(q, v).full())


def test_the_user_is_told_what_a_beam_replaces() -> None:
    with pytest.warns(
        UserWarning, match=r"link 'link1': its body of 0.6 kg at \[0.5, 0.0, 0.0\] m is now a beam of 0.7"
    ):
        FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": FlexibleLink(Beam(1.0, 0.7, EI_z=10.0))})


@pytest.mark.parametrize(
    ("links", "joints", "error", "message"),
    [
        ({"link3": BEAMS["link1"]}, {}, UnknownNameError, "no link named 'link3'; nearest: 'link"),
        ({"tip": BEAMS["link1"]}, {}, ArgumentError, "link 'tip': it is fixed to link 'link2'; make that one flexible"),
        (
            {"link1": Beam(0.9, 0.6, EI_z=1.0)},
            {},
            ArgumentError,
            "link 'link1': the beam is 0.9 m long, but its child jo",
        ),
        ({}, {"joint3": JOINTS["joint2"]}, UnknownNameError, "no joint named 'joint3'"),
        (
            {},
            {"joint2": FlexibleJoint(1.0)},
            ArgumentError,
            "joint 'joint2': its rotor has no inertia; give rotor_inert",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    links: dict[str, Beam], joints: dict[str, FlexibleJoint], error: type[Exception], message: str
) -> None:
    described = {name: FlexibleLink(beam) for name, beam in links.items()}
    model = gd.load_urdf("two_link_flexible")
    with pytest.raises(error, match=message):
        FlexibleArm(model, described, joints)


def test_the_papers_kinematics_refuse_foreshortening() -> None:
    with pytest.raises(ArgumentError, match="kinematics='first_order' lengthens what foreshortening shortens"):
        FlexibleArm(
            gd.load_urdf("two_link_flexible"), {"link1": FlexibleLink(BEAMS["link1"])}, kinematics="first_order"
        )

"""Arms with flexible joints on the bench: brakes hold the motors, and the links swing on springs of their joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import brentq

import gdalembert as gd
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.flexible import modes
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

TIGHT = 1e-12


def braked(spring: float = 50.0) -> FlexibleArm:
    """A strip of 1.2 m with 0.3 kg on its tip, on a flexible joint across gravity."""
    model = pin.Model()
    model.name = "strip"
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hub")
    model.appendBodyToJoint(joint, pin.Inertia(1e-6, np.array([0.6, 0, 0]), 1e-9 * np.eye(3)), pin.SE3.Identity())
    model.addBodyFrame("strip", joint, pin.SE3.Identity(), 0)
    load = pin.Inertia(0.3, np.zeros(3), 1e-9 * np.eye(3))
    strip = FlexibleLink(gd.Beam(1.2, 0.486, EI_z=9.45), modes.craig_bampton(4), tip_body=load, keep_body=True)
    return FlexibleArm(model, {"strip": strip}, {"hub": FlexibleJoint(spring, 0.02, damping=0.1)})


def strip_frequencies(spring: float) -> list[float]:
    """ω of Euler and Bernoulli's beam on a rotational spring, with a mass on its tip, by the determinant."""

    def determinant(x: float) -> float:
        c, s, ch, sh = np.cos(x), np.sin(x), np.cosh(x), np.sinh(x)
        root, mass = spring * 1.2 / 9.45, 0.3 / (0.486 * 1.2) * x
        rows = [
            [1, 0, 1, 0],
            [-x, -root, x, -root],
            [-c, -s, ch, sh],
            [s + mass * c, -c + mass * s, sh + mass * ch, ch + mass * sh],
        ]
        return float(np.linalg.det(rows))

    x = np.linspace(0.1, 9, 500)
    values = np.array([determinant(each) for each in x])
    changes = np.flatnonzero(values[:-1] * values[1:] < 0)[:3]
    roots = [brentq(determinant, x[k], x[k + 1], xtol=1e-14, rtol=1e-14) for k in changes]
    return [root**2 * np.sqrt(9.45 / 0.486 / 1.2**4) for root in roots]


def test_a_braked_arm_vibrates_as_its_beam_on_a_spring() -> None:
    """With brakes on the motor stands, and the link swings on the spring of its joint: 0.79, 6.9 and 22 Hz."""
    dyn = braked()
    found = dyn.natural_frequencies([0.0])
    # by Rayleigh and Ritz with six shapes, from above
    np.testing.assert_allclose(found[:3], strip_frequencies(50.0), rtol=1e-4, atol=0)
    assert np.array_equal(found, dyn.natural_frequencies(np.zeros(8), joints="braked"))
    m, k = dyn.mass_matrix(np.zeros(8)).full()[:-1, :-1], dyn.stiffness_matrix[:-1, :-1]
    by_hand = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(m, k)).real))
    np.testing.assert_allclose(found, by_hand, rtol=1e-10, atol=0)
    frequencies, shapes = dyn.natural_modes([0.0])
    assert np.array_equal(shapes[-1], np.zeros(7))
    assert np.abs(shapes.T @ dyn.mass_matrix(np.zeros(8)).full() @ shapes - np.eye(7)).max() < 1e-12
    assert np.array_equal(frequencies, found)
    rigid = FlexibleArm(braked().rigid_tree, {}, {"hub": FlexibleJoint(50.0, 0.02)})
    assert dyn.natural_frequencies([0.0], joints="locked")[1] != found[1]
    assert rigid.natural_frequencies([0.3])[0] == pytest.approx(np.sqrt(50 / rigid.mass_matrix([0, 0]).full()[0, 0]))


def test_damping_ratios_of_natural_modes() -> None:
    """Of the bare clamped link as given, and of a link on a spring and a damper d / 2 sqrt(k I)."""
    link = FlexibleLink(gd.Beam(1.2, 0.486, EI_z=9.45), modes.clamped_free(3), keep_body=True)
    link = replace(link, modal_damping=(0.01, 0.02, 0.03))
    bare = FlexibleArm(braked().rigid_tree, {"strip": link})
    np.testing.assert_allclose(bare.modal_damping([0.0]), [0.01, 0.02, 0.03], rtol=1e-9, atol=0)
    rigid = FlexibleArm(braked().rigid_tree, {}, {"hub": FlexibleJoint(50.0, 0.02, damping=0.4)})
    inertia = rigid.mass_matrix([0, 0]).full()[0, 0]
    assert rigid.modal_damping([0.0])[0] == pytest.approx(0.2 / np.sqrt(50 * inertia), rel=1e-12)
    assert rigid.modal_damping([0.0], joints="locked")[0] == pytest.approx(0.2 / np.sqrt(50 * 0.02), rel=1e-12)
    free = rigid.modal_damping([0.0], joints="free")
    assert np.isnan(free[0])
    assert free[1] == pytest.approx(0.2 * np.sqrt((1 / inertia + 1 / 0.02) / 50), rel=1e-12)


def test_a_force_bends_beam_and_joint_while_the_motor_is_braked() -> None:
    """F l³ / 3 EI + F l² / k on the tip; with the link held, the beam's part alone."""
    dyn, force = braked(), 1e-6
    push = {"frame": "strip tip", "wrench": [0, force, 0, 0, 0, 0], "reference": pin.LOCAL_WORLD_ALIGNED}
    for hold, wanted in ((None, 1.2**3 / 3 / 9.45 + 1.2**2 / 50), ("joints", 1.2**3 / 3 / 9.45)):
        q = dyn.static_deflection([0.0], **push, hold=hold)
        moved = float(dyn.tip_placement("strip")(q)[1, 3])
        assert moved == pytest.approx(force * wanted, rel=1e-9, abs=0)
    assert q[-1] == 0  # nothing pulls at the motor of a link that is held
    with pytest.raises(ArgumentError, match=r"^static_deflection: hold: got 'brakes'; give 'motors' or 'joints'$"):
        dyn.static_deflection([0.0], hold="brakes")


@pytest.mark.parametrize("count", quick([8, 10], 10))
def test_rest_in_modes_that_are_nearly_dependent(count: int) -> None:
    """Polynomials on a taper, with a stiffness of condition 5e8, 4e11 and more: ∫ F (l − η)² / EI dη."""
    model = braked().rigid_tree
    beam = gd.Beam(1.2, lambda eta: 1 - 0.6 * eta, EI_z=lambda eta: 10 * (1 - 0.6 * eta) ** 3)
    dyn = FlexibleArm(model, {"strip": FlexibleLink(beam, modes.polynomial(count), keep_body=True)})
    x = np.linspace(0, 1.2, 20001)
    wanted = 1e-3 * np.trapezoid((1.2 - x) ** 2 / (10 * (1 - 0.6 * x) ** 3), x)
    q = dyn.static_deflection([0.0], "strip tip", [0, 1e-3, 0, 0, 0, 0], reference=pin.LOCAL_WORLD_ALIGNED)
    assert float(dyn.tip_placement("strip")(q)[1, 3]) == pytest.approx(wanted, rel=1e-4)
    pushed = FlexibleArm(model, dyn.links, wrenches={"strip tip": pin.LOCAL_WORLD_ALIGNED}).under(
        [[0], [0.3], *[[0]] * 4]
    )
    pushed.linearize(pushed.static_deflection([0.3]))  # which counts as at rest


def leg() -> pin.Model:
    model = pin.Model()
    model.name = "leg"
    kind = pin.JointModelUniversal(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    joint = model.addJoint(0, kind, pin.SE3.Identity(), "hip")
    body = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), 0.05 * np.eye(3))
    model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model


def test_a_joint_of_two_degrees_of_freedom_is_flexible() -> None:
    """τ = M a + … + K_t (q − θ) + D_t (q̇ − θ̇), J θ̈ = K_t (q − θ) + … + τ_m (Cetinkunt and Book 39 to 46), K_t full."""
    k, d = np.array([[50.0, 8.0], [8.0, 70.0]]), np.array([[0.3, 0.1], [0.1, 0.2]])
    model = leg()
    dyn = FlexibleArm(model, {}, {"hip": FlexibleJoint(k, [0.02, 0.03], d)})
    q, v, a = np.random.default_rng(5).normal(size=(3, 4))
    spring = k @ (q[:2] - q[2:]) + d @ (v[:2] - v[2:])
    wanted = pin.rnea(model, model.createData(), q[:2], v[:2], a[:2]) + spring
    tau = dyn.inverse_dynamics(q, v, a).full().ravel()
    assert relative_error(tau, [*wanted, *([0.02, 0.03] * a[2:] - spring)]) < TIGHT
    apart = {"hip[0]": FlexibleJoint(50.0, 0.02), "hip[1]": FlexibleJoint(70.0, 0.03)}
    together = {"hip": FlexibleJoint(np.diag([50.0, 70.0]), [0.02, 0.03])}
    one, other = (FlexibleArm(model, {}, joints).forward_dynamics(q, v, a) for joints in (apart, together))
    assert np.array_equal(one.full(), other.full())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ([[1.0, 2.0], [0.0, 1.0]],),
            r"stiffness: the matrix is not symmetric: entry \[0, 1\] is 2, and \[1, 0\] is 0; ",
        ),
        (
            ([[1.0, 0.0], [0.0, 0.0]],),
            r"stiffness: the matrix is not positive definite: entry \[1, 1\] is 0; give more ",
        ),
        (
            (np.eye(2), None, [[1.0, 2.0], [2.0, 1.0]]),
            r"damping: the matrix is not positive semidefinite: an eigenvalue is -1 of its diagonal; give less ",
        ),
        ((np.eye(2), None, np.eye(3)), r"damping: got shape \(3, 3\); give 2 × 2 numbers$"),
        ((np.ones(2),), r"stiffness: got shape \(2,\); give 2 × 2 numbers$"),
        ((np.eye(2), 0.1), r"rotor_inertia: got 0.1; give 2 above 0$"),
        ((np.eye(2), [0.1, 0.0]), r"rotor_inertia: got \[0.1, 0.0\]; give 2 above 0$"),
    ],
)
def test_matrices_that_are_refused(given: tuple[object, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^FlexibleJoint: {message}"):
        FlexibleJoint(*given)  # type: ignore[arg-type]


def test_a_part_is_flexible_once() -> None:
    joints = {"hip": FlexibleJoint(np.eye(2), [1.0, 1.0]), "hip[1]": FlexibleJoint(1.0, 1.0)}
    with pytest.raises(ArgumentError, match=r"^joint 'hip\[1\]': it is a part of 'hip', which is flexible"):
        FlexibleArm(leg(), {}, joints)


def test_a_universal_joint_is_flexible_axis_by_axis() -> None:
    """τ = M a + … + K_t (q − θ) on each axis; by its own name the error says how. FirstOrderArm takes it, too."""
    model, body = leg(), pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), 0.05 * np.eye(3))
    spring = FlexibleJoint(50.0, 0.02)
    message = (
        r"^joint 'hip': it has 2 degree\(s\) of freedom, and the stiffness of its FlexibleJoint is that of 1; "
        r"give 2 × 2 numbers, or a FlexibleJoint for each of 'hip\[0\]', 'hip\[1\]'$"
    )
    with pytest.raises(UnsupportedError, match=message):
        FlexibleArm(model, {}, {"hip": spring})
    dyn = FlexibleArm(model, {}, {"hip[1]": FlexibleJoint(70.0, 0.03), "hip[0]": spring})
    q, v, a = np.random.default_rng(5).normal(size=(3, 4))
    twist = q[:2] - q[2:]
    wanted = pin.rnea(model, model.createData(), q[:2], v[:2], a[:2]) + [50.0, 70.0] * twist
    tau = dyn.inverse_dynamics(q, v, a).full().ravel()
    assert relative_error(tau, [*wanted, *([0.02, 0.03] * a[2:] - [50.0, 70.0] * twist)]) < TIGHT
    plain = gd.FirstOrderArm(model).inverse_dynamics(q[:2], v[:2], a[:2]).full().ravel()
    assert relative_error(plain, pin.rnea(model, model.createData(), q[:2], v[:2], a[:2])) < TIGHT
    ball = pin.Model()
    ball.appendBodyToJoint(
        ball.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball"), body, pin.SE3.Identity()
    )
    with pytest.raises(UnsupportedError, match=r"^joint 'ball': a Spherical joint cannot be flexible; revolute joints"):
        FlexibleArm(ball, {}, {"ball": spring})

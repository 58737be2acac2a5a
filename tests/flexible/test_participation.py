"""What the natural modes of an arm carry."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.flexible.case_study import DEFAULT, arm
from gdalembert.errors import ArgumentError, UnknownNameError
from tests.helpers.models import relative_error


def one_beam(count: int) -> gd.FlexibleArm:
    """A uniform beam of 1 m on a joint."""
    model = pin.Model()
    model.name = "beam"
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(joint, pin.Inertia(0.5, np.array([0.5, 0, 0]), np.eye(3) / 24), pin.SE3.Identity())
    model.addBodyFrame("link", joint, pin.SE3.Identity(), 0)
    tip = pin.SE3(np.eye(3), np.array([1.0, 0, 0]))
    model.addFrame(pin.Frame("tip", joint, 1, tip, pin.FrameType.OP_FRAME))
    modes = gd.modes.clamped_free(count)
    return gd.FlexibleArm(model, {"link": gd.FlexibleLink(gd.Beam(1.0, 0.5, EI_z=10.0), modes, to="tip")})


def test_the_parts_of_a_clamped_beam_are_the_known_ones() -> None:
    """Modes of a cantilever: 12 / λ⁴ of the deflection under a force on its tip, 12 / λ⁴ of the inertia about its root.

    ψ(l) = 2 for unit mean square, ω² = λ⁴ EI / μ l⁴, and l³ / 3 EI in all; ∫ η ψ dη = 2 l² / λ², of l³ / 3.
    """
    found = one_beam(4).participation(np.zeros(5))
    expected = 12 / np.array([1.87510406871196, 4.69409113297417, 7.85475743823761, 10.9955407348755]) ** 4
    assert found.joints == ("turn",)
    assert found.coordinates == ("link y1", "link y2", "link y3", "link y4")
    assert relative_error(found.inertia[:, 0], expected) < 1e-10
    assert relative_error(found.deflection, expected / expected.sum()) < 1e-10
    assert found.frame == "link tip"
    assert relative_error(found.frequencies, np.sqrt(12 / expected * 10 / 0.5)) < 1e-10


def test_the_parts_add_up() -> None:
    """To that of M which modes have to do with, and to the deflection under forces."""
    dyn = arm(DEFAULT, 10.0)
    q = np.concatenate([[0.3, -0.5], 0.05 * np.random.default_rng(0).normal(size=8)])
    found = dyn.participation(q, "tip")
    m, f = dyn.mass_matrix(q).full(), slice(2, None)
    part = np.diag(m[:2, f] @ np.linalg.solve(m[f, f], m[f, :2])) / np.diag(m)[:2]
    assert relative_error(found.inertia.sum(axis=0), part) < 1e-12
    jacobian = gd.Kinematics(dyn.tree).frame_jacobian("tip", pin.LOCAL_WORLD_ALIGNED)(q).full()[:3, f]
    compliance = jacobian @ np.linalg.solve(dyn.stiffness_matrix[f, f], jacobian.T)
    omega, shapes = dyn.natural_modes(q)
    one = jacobian @ shapes[f] / omega
    assert np.trace(one @ one.T) == pytest.approx(np.trace(compliance), rel=1e-12)
    assert relative_error(found.deflection * np.trace(compliance), np.sum(one**2, axis=0)) < 1e-12
    assert found.deflection.sum() == pytest.approx(1, abs=1e-14)
    lines = str(found).splitlines()
    assert lines[0].split() == ["frequency", "[Hz]", "mostly", "joint1", "joint2", "tip"]
    assert len(lines) == 9
    assert len({len(line) for line in lines}) == 1


def test_the_modes_of_a_link_are_found_by_its_name() -> None:
    dyn = arm(DEFAULT, 10.0)
    assert [dyn.layout[k] for k in dyn.modes_of("link2")] == ["link2 y1", "link2 y2", "link2 y3", "link2 y4"]
    assert [*dyn.modes_of("link1"), *dyn.modes_of("link2")] == list(dyn.modes)
    with pytest.raises(UnknownNameError, match="flexible link"):
        dyn.modes_of("link3")


def test_participation_needs_what_is_flexible() -> None:
    model = gd.load_urdf("two_link_flexible")
    with pytest.raises(ArgumentError, match="participation: two_link_flexible has no flexible links or joints"):
        gd.FlexibleArm(model).participation([0.0, 0.0])
    springs = gd.FlexibleArm(model, joints={"joint1": gd.FlexibleJoint(100.0, 0.1)})
    with pytest.raises(ArgumentError, match="has no flexible links; give a frame"):
        springs.participation([0.0, 0.0, 0.0])
    assert springs.participation([0.0, 0.0, 0.0], "tip", joints="locked").coordinates == ("joint1 rotor",)
    found = springs.participation([0.0, 0.0], "tip")  # the link swings, which the motor has to accelerate with itself
    inertia = gd.NewtonEuler(model).mass_matrix([0.0, 0.0]).full()
    assert found.coordinates == ("joint1",)
    assert found.inertia[0, 0] == pytest.approx(inertia[0, 0] / (inertia[0, 0] + 0.1), rel=1e-12)
    assert found.inertia[0, 1] == pytest.approx(inertia[0, 1] ** 2 / inertia[0, 0] / inertia[1, 1], rel=1e-12)
    assert found.deflection == pytest.approx([1.0])
    with pytest.raises(ArgumentError, match=r"^participation: joints: got 'free'; give 'braked' or 'locked'$"):
        springs.participation([0.0, 0.0], "tip", joints="free")
    with pytest.raises(UnknownNameError):
        springs.participation([0.0, 0.0, 0.0], "top")
    with pytest.raises(ArgumentError, match="participation: q"):
        springs.participation([0.0], "tip")

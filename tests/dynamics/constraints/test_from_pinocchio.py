"""Constraints that are given as Pinocchio's objects, beside what Pinocchio makes of them."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.models import build, relative_error, states
from tests.helpers.sets import quick

TIGHT = 1e-11

POINT, FRAME = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D

JOINTS = {"loop": (2, 3), "contact": (2, 0), "universe first": (0, 3), "loop backwards": (3, 2)}

FOUR_BAR = """
<mujoco model="four_bar">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base">
      <body name="crank">
        <joint name="crank" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01" mass="0.2"/>
        <body name="coupler" pos="0 0 0.2">
          <joint name="coupler" type="hinge" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.01" mass="0.4"/>
        </body>
      </body>
      <body name="rocker" pos="0.4 0 0">
        <joint name="rocker" type="ball"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.01" mass="0.3"/>
      </body>
      <body name="load" pos="0.4 0 0.3">
        <joint name="x" type="slide" axis="1 0 0"/>
        <joint name="y" type="slide" axis="0 1 0"/>
        <joint name="z" type="slide" axis="0 0 1"/>
        <joint name="load" type="ball"/>
        <geom type="box" size="0.01 0.02 0.03" pos="0 0 0.01" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="pin" body1="coupler" body2="rocker" anchor="0.4 0 0"/>
    <weld name="grip" body1="load" body2="coupler" relpose="-0.4 0 -0.1 1 0 0 0"/>
  </equality>
</mujoco>
"""


def robot() -> pin.Model:
    return build(np.random.default_rng(4), ["FreeFlyer", "Translation", "Spherical"], [0, 1, 1])


def placed(seed: int) -> pin.SE3:
    rng = np.random.default_rng(seed)
    return pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))


def rigid(
    model: pin.Model, kind: pin.ContactType, joints: tuple[int, int], reference: pin.ReferenceFrame = pin.LOCAL
) -> pin.RigidConstraintModel:
    return pin.RigidConstraintModel(kind, model, joints[0], placed(1), joints[1], placed(2), reference)


ONCE = pin.ProximalSettings(1e-14, 0.0, 1)


def pinocchios(model: pin.Model, given: Sequence[pin.RigidConstraintModel]) -> tuple[Any, Any, pin.Data]:
    """What ``pin.constraintDynamics`` needs."""
    models, datas, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData(), model.createData()
    models.extend(given)
    datas.extend([each.createData() for each in models])
    pin.initConstraintDynamics(model, data, models, datas)
    return models, datas, data


def check_against_pinocchio(
    model: pin.Model, con: gd.ConstrainedDynamics, given: Sequence[pin.RigidConstraintModel]
) -> None:
    """Pinocchio's forces are in the axes of the universe where its reference is LOCAL_WORLD_ALIGNED."""
    models, datas, data = pinocchios(model, given)
    for q, v, tau in states(model, np.random.default_rng(0), 2):
        a = pin.constraintDynamics(model, data, q, v, tau, models, datas, ONCE)
        forces = []
        for part, each, its in zip(split(data.lambda_c, models), models, datas, strict=True):
            r = its.oMc1.rotation.T if each.reference_frame == pin.LOCAL_WORLD_ALIGNED else np.eye(3)
            forces += [r @ x for x in part.reshape(-1, 3)]
        found_a, found_forces = (x.full().ravel() for x in con.forward_dynamics(q, v, tau))
        assert relative_error(found_a, a) < TIGHT
        assert relative_error(found_forces, np.concatenate(forces)) < TIGHT


def split(forces: np.ndarray, models: Sequence[pin.RigidConstraintModel]) -> list[np.ndarray]:
    return np.split(forces, np.cumsum([each.residualSize() for each in models])[:-1])


@pytest.mark.parametrize(("kind", "reference"), [(POINT, pin.LOCAL_WORLD_ALIGNED), (FRAME, pin.LOCAL)])
@pytest.mark.parametrize("where", quick(JOINTS, "loop"))
def test_rigid_constraint_models_equal_pinocchio(
    where: str, kind: pin.ContactType, reference: pin.ReferenceFrame
) -> None:
    """The links are not at rest against each other, where the two references differ."""
    model = robot()
    given = rigid(model, kind, JOINTS[where], reference)
    given.m_baumgarte_parameters.Kp, given.m_baumgarte_parameters.Kd = 3.0, 2.0
    check_against_pinocchio(model, gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), [given]), [given])


@pytest.mark.long
def test_derivatives_of_an_open_loop_equal_differences() -> None:
    """Pinocchio's by q, in LOCAL_WORLD_ALIGNED, are not those of its accelerations."""
    model = robot()
    given = rigid(model, FRAME, (2, 3), pin.LOCAL_WORLD_ALIGNED)
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), [given])
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    da_dq, da_dv, *_ = con.forward_dynamics_derivatives(q, v, tau)
    h = 1e-5
    for step in h * np.eye(model.nv):
        k = int(step.argmax())
        by_q = [con.forward_dynamics(pin.integrate(model, q, x), v, tau)[0] for x in (step, -step)]
        by_v = [con.forward_dynamics(q, v + x, tau)[0] for x in (step, -step)]
        assert relative_error((by_q[0] - by_q[1]) / (2 * h), da_dq[:, k]) < 1e-6  # of differences
        assert relative_error((by_v[0] - by_v[1]) / (2 * h), da_dv[:, k]) < 1e-6
    models, datas, data = pinocchios(model, [given])
    pin.constraintDynamics(model, data, q, v, tau, models, datas, ONCE)
    theirs = pin.computeConstraintDynamicsDerivatives(model, data, models, datas, ONCE)
    assert relative_error(theirs[0], da_dq.full()) > 0.1
    assert relative_error(theirs[1], da_dv.full()) < TIGHT


@pytest.mark.parametrize("kind", [POINT, FRAME])
def test_impacts_of_contacts_equal_pinocchio(kind: pin.ContactType) -> None:
    """Pinocchio's of a loop leaves its second frame out, and the loop does not close."""
    model = robot()
    q, v, _ = states(model, np.random.default_rng(0), 1)[0]
    dyn = gd.NewtonEuler(model, clean=0)
    for joints in ((2, 0), (2, 3)):
        given = rigid(model, kind, joints)
        models, datas, data = pinocchios(model, [given])
        theirs = pin.impulseDynamics(model, data, q, v, models, datas, 0.0, ONCE)
        con = gd.ConstrainedDynamics(dyn, [given])
        after = con.impact(q, v)[0]
        assert np.abs((con.jacobian(q) @ after).full()).max() < TIGHT
        assert (relative_error(after.full().ravel(), theirs) < TIGHT) == (joints == (2, 0))


def test_several_with_their_own_correctors_equal_pinocchio() -> None:
    model = robot()
    given = pin.StdVec_RigidConstraintModel()
    given.extend([rigid(model, POINT, (3, 0)), rigid(model, FRAME, (2, 3), pin.LOCAL_WORLD_ALIGNED)])
    given[1].m_baumgarte_parameters.Kp = 4.0
    con = gd.ConstrainedDynamics(gd.LagrangeEuler(model, clean=0), given)
    check_against_pinocchio(model, con, given)


@pytest.mark.parametrize("anchor", [pin.PointAnchorConstraintModel, pin.FrameAnchorConstraintModel])
@pytest.mark.parametrize("where", quick(["loop"], "loop"))
def test_anchors_equal_pinocchio(where: str, anchor: type) -> None:
    model, joints = robot(), JOINTS[where]
    given = anchor(model, joints[0], placed(1), joints[1], placed(2))
    same = pin.convertToRigidConstraintModel(model, given)
    for corrector in (given.baumgarte_corrector_parameters, same.m_baumgarte_parameters):
        corrector.Kp, corrector.Kd = 3.0, 2.0
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), [pin.ConstraintModel(given)])
    check_against_pinocchio(model, con, [same])


@pytest.mark.long
@pytest.mark.parametrize("joint", ["SphericalZYX", "Composite"])
def test_they_are_loops_of_frames(joint: str) -> None:
    """A joint of Pinocchio may be several of the tree; Pinocchio's own constraints are not tested with all of these."""
    model = build(np.random.default_rng(1), ["RX", joint, "RevoluteUnaligned", "RY"], [0, 1, 2, 1])
    model.addFrame(pin.Frame("first", 3, placed(1), pin.OP_FRAME))
    model.addFrame(pin.Frame("second", 2, placed(2), pin.OP_FRAME))
    given = pin.RigidConstraintModel(POINT, model, 3, placed(1), 2, placed(2))
    dyn = gd.NewtonEuler(model, clean=0)
    one = gd.ConstrainedDynamics(dyn, [given], stiffness=5.0)
    other = gd.ConstrainedDynamics(dyn, [gd.Loop("first", "second", "3D")], stiffness=5.0)
    for state in states(model, np.random.default_rng(0), 2):
        for x, y in zip(one.forward_dynamics(*state), other.forward_dynamics(*state), strict=True):
            assert relative_error(x.full(), y.full()) < TIGHT


def test_they_hold_the_rigid_link_of_an_arm() -> None:
    model = gd.load_urdf("two_link_flexible")
    at = pin.SE3(np.eye(3), np.array([0.8, 0.0, 0.0]))
    model.addFrame(pin.Frame("end", 2, at, pin.OP_FRAME))
    link = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), bending_y=gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(model, {"link1": link})
    given = [pin.PointAnchorConstraintModel(model, 2, at)], [gd.Contact("end", "3D", [0, 0, 0])]
    one, other = (gd.ConstrainedDynamics(arm, each, regularization=1e-6) for each in given)
    q = np.random.default_rng(0).uniform(-0.1, 0.1, arm.tree.nq)
    assert np.array_equal(one.residual(q).full(), other.residual(q).full())
    assert np.array_equal(one.jacobian(q).full(), other.jacobian(q).full())


def test_they_are_anchored_even_at_the_origin() -> None:
    model = gd.load_urdf("puma560")
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [pin.RigidConstraintModel(FRAME, model, 6)])
    q = states(model, np.random.default_rng(0), 1)[0][0]
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    expected = -pin.log6(data.oMi[6].inverse()).vector
    assert relative_error(con.residual(q).full().ravel(), expected) < TIGHT
    assert con.anchored(q).constraints == con.constraints


def test_a_copy_is_the_same() -> None:
    model = robot()
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [rigid(model, FRAME, (2, 3), pin.LOCAL_WORLD_ALIGNED)])
    copy = pickle.loads(pickle.dumps(con))
    assert copy.constraints == con.constraints
    q, v, _ = states(model, np.random.default_rng(0), 1)[0]
    assert np.array_equal(copy.bias_acceleration(q, v).full(), con.bias_acceleration(q, v).full())


@pytest.fixture
def mjcf(tmp_path: Path) -> str:
    file = tmp_path / "four_bar.xml"
    file.write_text(FOUR_BAR)
    return str(file)


def test_connect_and_weld_of_an_mjcf_equal_pinocchio(mjcf: str) -> None:
    model, legacy = pin.buildModelAndLegacyConstraintsFromMJCF(mjcf)
    check_against_pinocchio(model, gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), legacy), legacy)


def test_all_parsers_of_an_mjcf_say_the_same(mjcf: str) -> None:
    model, *anchors = pin.buildModelAndConstraintsFromMJCF(mjcf)
    _, legacy = pin.buildModelAndLegacyConstraintsFromMJCF(mjcf)
    _, by_name, *_ = pin.buildModelsAndConstraintsFromMJCF(mjcf, constraints=True)
    dyn = gd.NewtonEuler(model)
    cons = [gd.ConstrainedDynamics(dyn, given) for given in (anchors, by_name, legacy)]
    assert [each.name for each in cons[0].constraints] == [
        "PointAnchorConstraintModel('coupler', 'rocker', '3D')",
        "FrameAnchorConstraintModel('Composite_x', 'coupler', '6D')",
    ]
    q = states(model, np.random.default_rng(0), 1)[0][0]
    for con in cons:
        assert np.abs(con.residual(pin.neutral(model)).full()).max() < TIGHT
        assert np.array_equal(con.residual(q).full(), cons[0].residual(q).full())

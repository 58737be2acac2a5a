"""Links: their rotations beside the matrices that they are, axes, rates, columns and frames."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.newton_euler.links import (
    NO_TURN,
    AboutZ,
    Full,
    Product,
    Rotation,
    is_parallel,
    place,
    placement_of,
    turns_about_z,
)
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Revolute
from gdalembert.model.regrouping import prepare, sense_of
from gdalembert.spatial.algebra import transform
from tests.helpers.models import JOINTS, QUICK_JOINTS, build, placement, relative_error, states
from tests.helpers.newton_euler import MODELS, everything, matrix, prepared
from tests.helpers.sets import quick, with_extras

ROUNDING = 1e-14


def about_z(angle: float) -> AboutZ:
    return AboutZ(ca.cos(ca.DM(angle)), ca.sin(ca.DM(angle)))


def full(seed: int = 0) -> Full:
    return Full(ca.DM(placement(np.random.default_rng(seed)).rotation))


ROTATIONS: dict[str, Rotation] = {
    "full": full(),
    "about z": about_z(0.7),
    "none": NO_TURN,
    "product": Product(full(1), about_z(-1.2)),
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_each_is_a_rotation_and_its_matrix(name: str) -> None:
    rotation, r = ROTATIONS[name], matrix(ROTATIONS[name])
    assert relative_error(r.T @ r, np.eye(3)) < ROUNDING
    assert np.linalg.det(r) == pytest.approx(1, rel=1e-14)
    x, s = np.random.default_rng(2).normal(size=(2, 3, 3))
    assert relative_error((rotation @ ca.DM(x)).full(), r @ x) < ROUNDING
    assert relative_error((rotation.T @ ca.DM(x)).full(), r.T @ x) < ROUNDING
    assert relative_error(rotation.conjugate(ca.DM(s)).full(), r @ s @ r.T) < ROUNDING
    assert relative_error(rotation.T.conjugate(ca.DM(s)).full(), r.T @ s @ r) < ROUNDING


def test_turns_about_z_add_up() -> None:
    assert relative_error(matrix(about_z(0.4).after(about_z(0.9))), matrix(about_z(1.3))) < ROUNDING
    assert NO_TURN.T is NO_TURN


@pytest.mark.parametrize("joint", sorted(JOINTS))
def test_the_rotations_of_a_joint_are_its_placement(joint: str) -> None:
    model = build(np.random.default_rng(3), [joint], [0])
    tree = read_tree(model)
    q = ca.DM(states(model, np.random.default_rng(4), 1)[0][0])
    for k, own in enumerate(tree.joints):
        turn, fixed, origin = placement_of(own, own.configuration(q))
        placed, _ = own.type.placement(own.configuration(q))
        assert relative_error(origin, own.placement(q)[1]) < ROUNDING, k
        assert relative_error(matrix(fixed) @ matrix(turn), own.rotation @ ca.DM(placed).full()) < ROUNDING, k
        assert (turn is NO_TURN) == (not turns_about_z(own))


def test_parallel_axes_leave_a_turn_about_z() -> None:
    model = build(np.random.default_rng(5), ["RZ"], [0])
    for angle, flipped in ((0.3, False), (0.0, True)):
        model.jointPlacements[1].rotation = np.diag([1.0, -1, -1]) if flipped else matrix(about_z(angle))
        joint = read_tree(model).joints[0]
        _, fixed, _ = placement_of(joint, ca.DM(1, 1))
        assert is_parallel(joint) == isinstance(fixed, AboutZ) == (not flipped)
        assert relative_error(matrix(fixed), joint.rotation) < ROUNDING


@pytest.mark.long
@pytest.mark.parametrize("name", ["fixed", *quick(["mimic"]), *with_extras(["legs"])])
def test_any_link_that_turns_about_z_may_keep_axes(name: str) -> None:
    model = MODELS[name]()
    tree = prepared(model)
    for keeps in (False, True):
        joints = [
            replace(joint, keeps_joint_axes=keeps) if isinstance(joint.type, Revolute) else joint
            for joint in tree.joints
        ]
        other = replace(tree, joints=tuple(joints))
        for state in states(model, np.random.default_rng(16), 2):
            q, v, a = map(ca.DM, state)
            for of, arguments in (
                (newton_euler.inverse_dynamics, (q, v, a)),
                (newton_euler.gravity_torques, (q,)),
                (newton_euler.mass_matrix, (q,)),
                (newton_euler.coriolis_matrix, (q, v)),
            ):
                assert relative_error(of(other, *arguments).full(), of(tree, *arguments).full()) < 1e-12


@pytest.mark.parametrize("name", with_extras(MODELS, "fixed", "free", "mimic", "all"))
def test_links_turn_about_z_last(name: str) -> None:
    tree = prepared(MODELS[name]())
    q = ca.SX.sym("q", tree.nq)
    for link in place(tree, q):
        if link.joint.parent < 0:
            assert link.turn is NO_TURN
        at = np.array([0.0, 0, 1])
        assert np.array_equal(ca.evalf(ca.SX(link.turn @ ca.DM(at))).full().ravel(), at)


def test_rates_carry_sense_and_scaling_and_columns_neither() -> None:
    tree = prepared(everything(3, free=False, mimic=True))
    seen = set()
    for link in place(tree, ca.DM(tree.nq, 1)):
        scaling = 1.0 if link.joint.scaling is None else link.joint.scaling
        assert link.rate == scaling * sense_of(link.joint.type)
        if link.joint.type.nv == 1:
            assert ca.vertcat(link.columns.linear, link.columns.angular).full()[[2, 5]].max() == 1
        linear, angular = link.joint.subspace(ca.DM(tree.nq, 1))
        assert relative_error(link.rate * link.columns.linear, linear.full()) < 1e-15
        assert relative_error(link.rate * link.columns.angular, angular.full()) < 1e-15
        seen.add((scaling == 1, link.rate > 0))
    assert {(True, True), (True, False), (False, False)} <= seen


@pytest.mark.parametrize("keep_axes", [True, False])
@pytest.mark.parametrize("joint", quick(JOINTS, *QUICK_JOINTS))
def test_frames_stay_where_they_are(joint: str, keep_axes: bool) -> None:
    rng = np.random.default_rng(3)
    model = build(rng, ["RZ", joint, "RX", "RUBY", "RevoluteUnaligned"], [0, 1, 2, 2, 3], mimic=1)
    tree = prepare(read_tree(model), keep_axes=keep_axes)
    q, _, _ = states(model, rng, 1)[0]
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    links, placed = place(tree, ca.DM(q)), {-1: (ca.DM.eye(3), ca.DM(3, 1))}
    for i, link in enumerate(links):
        r, p = placed[link.joint.parent]
        placed[i] = (r @ (link.rotation @ ca.DM.eye(3)), p + r @ link.origin)
    assert tree.frames
    for index, frame in enumerate(tree.frames):
        r, p = placed[frame.joint]
        fixed_r, fixed_p = links[frame.joint].frame(frame) if frame.joint >= 0 else fixed_placement(frame)
        found = transform(r @ fixed_r, p * tree.unit + r @ fixed_p * tree.unit).full()
        assert relative_error(found, data.oMf[index].homogeneous) < 1e-12

"""Links: their axes, rates, columns and frames."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.newton_euler.links import place
from gdalembert.dynamics.newton_euler.rotations import NO_TURN
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Revolute
from gdalembert.model.regrouping import prepare, sense_of
from gdalembert.spatial.algebra import transform
from tests.helpers.models import JOINTS, QUICK_JOINTS, build, relative_error, states
from tests.helpers.newton_euler import MODELS, everything, prepared
from tests.helpers.sets import quick, with_extras


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

"""Links and their motions, beside the placements of the tree and their derivatives."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.newton_euler.links import move, place
from gdalembert.dynamics.newton_euler.rotations import NO_TURN
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Revolute
from gdalembert.model.regrouping import keeps_joint_axes, prepare, sense_of
from gdalembert.spatial.algebra import transform
from tests.helpers.models import JOINTS, QUICK_JOINTS, build, relative_error, states
from tests.helpers.newton_euler import MODELS, composed, everything, prepared, symbolic_placements
from tests.helpers.sets import quick, with_extras


@pytest.mark.parametrize("name", with_extras(MODELS, "fixed", "free", "mimic", "all"))
def test_links_are_where_their_tree_places_them(name: str) -> None:
    """Axes may be those of the joint, before its turn about z."""
    model = MODELS[name]()
    tree = prepared(model)
    keeping = 0
    for q, _, _ in states(model, np.random.default_rng(6), 2):
        links = place(tree, ca.DM(q))
        for link, (r, p), (r0, p0) in zip(links, composed(links), tree.placements(ca.DM(q)), strict=True):
            assert np.abs(p - p0.full().ravel()).max() < 1e-12
            assert np.abs(r[:, 2] - r0.full()[:, 2]).max() < 1e-13
            held = r.T @ r0.full()
            keeps = keeps_joint_axes(link.joint)
            keeping += keeps
            assert keeps or np.abs(held - np.eye(3)).max() < 1e-13
            assert not keeps or link.turn is NO_TURN
            # the body turns by what the axes do not
            body = link.joint.pseudo_inertia
            assert np.abs(ca.DM(link.first).full().ravel() - held @ body[:3, 3]).max() < 1e-12
            assert np.abs(ca.DM(link.second).full() - held @ body[:3, :3] @ held.T).max() < 1e-12
            assert link.mass == body[3, 3]
    assert keeping > 0


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


@pytest.mark.parametrize("name", with_extras(MODELS, "fixed", "free", "mimic", "all"))
def test_motions_are_rates_of_placements(name: str) -> None:
    """ω, α and U, velocity and acceleration, from the links' placements and their derivatives along the motion."""
    model = MODELS[name]()
    tree = prepared(model)
    s = {letter: ca.SX.sym(letter, n) for letter, n in (("q", tree.nq), ("v", tree.nv), ("a", tree.nv))}
    q, v, a = s.values()
    q_rate = read_tree(model).configuration_rate(q, v)
    links = place(tree, q)
    motions = move(links, q, v, a, ca.DM(3, 1))
    outputs = []
    for i, ((r, _), (body_r, p)) in enumerate(zip(symbolic_placements(links), tree.placements(q), strict=True)):
        x = ca.vertcat(ca.vec(body_r), p)
        x_rate = ca.jtimes(x, q, q_rate)
        x_second = ca.jtimes(x_rate, q, q_rate) + ca.jtimes(x_rate, v, a)
        motion = motions[i]
        rate, second = (ca.reshape(y[:9], 3, 3) @ body_r.T for y in (x_rate, x_second))
        outputs += [
            r @ ca.skew(motion.omega) @ r.T - rate,
            r @ motion.spin.matrix @ r.T - second,
            r @ motion.velocity - x_rate[9:],
            r @ motion.acceleration - x_second[9:],
            motion.spin.matrix - ca.skew(motion.alpha) - ca.skew(motion.omega) @ ca.skew(motion.omega),
        ]
    differences = ca.Function("differences", list(s.values()), [ca.vertcat(*map(ca.vec, outputs))])
    for state in states(model, np.random.default_rng(7), 2):
        assert np.abs(differences(*state).full()).max() < 1e-9


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

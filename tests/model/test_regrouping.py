"""Prepared trees: other frames, other inertia, the same equations."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.dynamics.newton_euler.links import is_parallel
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.regrouping import (
    PreparedJoint,
    PreparedTree,
    in_own_unit,
    prepare,
    with_equal_magnitudes,
)
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import frozen
from tests.helpers.models import JOINTS, Rng, build, inertia, placement, relative_error, states, unit
from tests.helpers.sets import quick, with_extras

Array = np.ndarray
TIGHT = 1e-12

# Models with everything that preparation looks at.

AXES = [np.array(sign * row) for sign in (1.0, -1.0) for row in np.eye(3)]
KINDS = ("revolute", "unbounded", "prismatic", "helical")
OTHERS = ("Spherical", "Translation", "Planar", "Universal", "SphericalZYX", "Ellipsoid")


def add_along(model: pin.Model, parent: int, kind: str, axis: Array, at: pin.SE3, name: str, pitch: float = 0.7) -> int:
    """Add a joint of one of the kinds along an axis of the frame that it is placed at."""
    if kind == "revolute":
        joint = pin.JointModelRevoluteUnaligned(axis)
    elif kind == "prismatic":
        joint = pin.JointModelPrismaticUnaligned(axis)
    elif kind == "helical":
        joint = pin.JointModelHelicalUnaligned(axis, pitch)
    else:  # Pinocchio has no unbounded joint along an axis that can be chosen
        to_axis = pin.Quaternion.FromTwoVectors(np.array([0, 0, 1.0]), axis).toRotationMatrix()
        joint, at = pin.JointModelRUBZ(), at * pin.SE3(to_axis, np.zeros(3))
    return model.addJoint(parent, joint, at, name)


def simple_rotation(rng: Rng) -> Array:
    """None, quarter turns, a turn about the joint's z or x, as written in a URDF, or nothing special."""
    turns = [
        (0, 0, 0),
        (np.pi / 2, 0, -np.pi / 2),
        (0, np.pi, 0),
        (0, 0, 0.3),
        (0.7, 0, 0),
        (1.5707963, 0, 3.14159),
        tuple(rng.normal(size=3)),
    ]
    return pin.rpy.rpyToMatrix(*map(float, turns[rng.integers(len(turns))]))


def simple_body(rng: Rng) -> pin.Inertia:
    """A full body, one that is symmetrical, or none."""
    full = inertia(rng)
    return [full, full, pin.Inertia(2, np.array([0, 0, 0.3]), np.diag([0.2, 0.2, 0.1])), pin.Inertia.Zero()][
        rng.integers(4)
    ]


def model_of_everything(seed: int, *, mimic: bool) -> pin.Model:
    """A random tree of joints along positive, negative and generic axes, on a base that is fixed or free."""
    rng = np.random.default_rng(seed)
    model = pin.Model()
    model.name = f"everything{seed}"
    if seed % 3 == 0:
        model.addJoint(0, pin.JointModelFreeFlyer(), placement(rng), "base")
        model.appendBodyToJoint(1, inertia(rng), placement(rng))
    for k in range(6):
        axis = AXES[rng.integers(6)] if rng.uniform() < 0.8 else unit(rng)
        kind = rng.choice(["revolute", "revolute", "revolute", "prismatic", "helical", "unbounded", "other"])
        at = pin.SE3(simple_rotation(rng), rng.normal(size=3) * rng.integers(0, 2, size=3))
        parent = int(rng.integers(max(0, model.njoints - 3), model.njoints))
        if kind == "other":
            joint = model.addJoint(parent, JOINTS[rng.choice(OTHERS)](rng), at, f"{kind}{k}")
        else:
            joint = add_along(model, parent, kind, axis, at, f"{kind}{k}", rng.normal())
        model.appendBodyToJoint(joint, simple_body(rng), pin.SE3.Identity())
    if mimic:
        mimicked = next((k for k, n in enumerate(model.names) if n.startswith(("revolute", "prismatic"))), None)
        if mimicked is not None:
            follower = pin.JointModelMimic(model.joints[mimicked], rng.uniform(-2, -0.5), rng.normal())
            at = pin.SE3(simple_rotation(rng), rng.normal(size=3))
            joint = model.addJoint(int(rng.integers(model.njoints)), follower, at, "mimic")
            model.appendBodyToJoint(joint, inertia(rng), pin.SE3.Identity())
    model.gravity = pin.Motion(5 * rng.normal(size=3), np.zeros(3))
    model.armature = rng.uniform(0.1, 1, size=model.nv)
    return model


def siblings(axes: list[Array], kind: str, *, follows: bool) -> pin.Model:
    """Joints of one kind on one link in one orientation, along the given axes, each with a joint of its own behind it.

    If one ``follows``, the last mimics the first of them.
    """
    rng = np.random.default_rng(21)
    model = build(rng, ["RevoluteUnaligned"], [0])
    rotation = placement(rng).rotation
    for k, axis in enumerate(axes):
        at = pin.SE3(rotation, rng.normal(size=3))
        if follows and k == len(axes) - 1:
            across = np.cross([0, 0, 1] if kind == "unbounded" else axis, unit(rng))
            half_turn = 2 * np.outer(across, across) / (across @ across) - np.eye(3)
            at.rotation = model.jointPlacements[2].rotation @ half_turn
            index = model.addJoint(1, pin.JointModelMimic(model.joints[2], -1.3, 0.4), at, f"sibling{k}")
        else:
            index = add_along(model, 1, kind, axis, at, f"sibling{k}")
        model.appendBodyToJoint(index, inertia(rng), pin.SE3.Identity())
        index = add_along(model, index, "revolute", -axis, placement(rng), f"behind{k}")
        model.appendBodyToJoint(index, inertia(rng), pin.SE3.Identity())
    return model


# What shows outside.


def rows_of(model: pin.Model, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array, Array, Array]:
    """tau, nle, g and M by Pinocchio, and the size of each row of tau by its terms."""
    data, zero = model.createData(), np.zeros(model.nv)
    weightless = model.copy()
    weightless.gravity = pin.Motion.Zero()
    tau, nle, g = (pin.rnea(model, data, q, *x).copy() for x in ((v, a), (v, zero), (zero, zero)))
    m = np.array([pin.rnea(weightless, data, q, zero, e) for e in np.eye(model.nv)]).T
    return tau, nle, g, m, np.abs(m) @ np.abs(a) + np.abs(nle - g) + np.abs(g)


def assert_same_outside(model: pin.Model, *, coriolis: bool = True) -> None:
    """Newton–Euler on the prepared tree equals Pinocchio or, where that is not a reference, generalized d'Alembert."""
    dyn, reference = gd.NewtonEuler(model, clean=0), gd.GeneralizedDAlembert(model, clean=0)
    for q, v, a in states(model, np.random.default_rng(2), 2):
        tau, nle, g, m, _ = rows_of(model, q, v, a)
        assert relative_error(dyn.inverse_dynamics(q, v, a).full().ravel(), tau) < TIGHT
        assert relative_error(dyn.nle(q, v).full().ravel(), nle) < TIGHT
        assert relative_error(dyn.generalized_gravity(q).full().ravel(), g) < TIGHT
        assert relative_error(dyn.mass_matrix(q).full(), m) < TIGHT
        assert relative_error(float(dyn.kinetic_energy(q, v)), 0.5 * v @ m @ v) < TIGHT
        conditioned = max(TIGHT, 1e-15 * np.linalg.cond(m))
        assert relative_error(dyn.forward_dynamics(q, v, tau).full().ravel(), a) < conditioned
        if coriolis:
            assert relative_error(dyn.coriolis_matrix(q, v).full(), reference.coriolis_matrix(q, v).full()) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "follows"),
    # Pinocchio forgets the pitch of a helical joint that mimics
    quick(
        [(kind, follows) for kind in KINDS for follows in (False, True) if not (kind == "helical" and follows)],
        ("revolute", True),
    ),
)
def test_siblings_along_opposite_axes(kind: str, follows: bool) -> None:
    axis = unit(np.random.default_rng(20))
    model = siblings([axis, -axis, -axis], kind, follows=follows)
    prepared = prepare(read_tree(model))
    ours = [joint for joint in prepared.joints if joint.name.startswith("sibling")]
    assert {joint.type.axis for joint in ours} == {(0, 0, 1), (0, 0, -1)}
    for joint in ours[1:]:
        assert np.abs(joint.rotation[:, 2] - ours[0].rotation[:, 2]).max() < 1e-15
    assert_same_outside(model)


@pytest.mark.parametrize("kind", quick(["revolute", "prismatic", "helical"], "revolute", "helical"))
@pytest.mark.parametrize("axis", [*quick(AXES[:-1]), AXES[-1]], ids=str)
def test_axes_of_both_signs_in_a_row(axis: Array, kind: str) -> None:
    rng = np.random.default_rng(23)
    model = pin.Model()
    signs = np.array([1, -1, -1, 1])
    for k, sign in enumerate(signs):
        at = pin.SE3(np.eye(3), rng.normal(size=3))
        joint = add_along(model, k, "revolute" if k == 1 else kind, sign * axis, at, str(k))
        model.appendBodyToJoint(joint, inertia(rng), placement(rng))
    prepared = prepare(read_tree(model))
    upward = -1 if axis[2] == -1 else 1
    assert np.array_equal([joint.type.axis[2] for joint in prepared.joints], upward * signs)
    assert all(is_parallel(joint) for joint in prepared.joints[1:])
    assert_same_outside(model, coriolis=False)


@pytest.mark.long
@pytest.mark.parametrize("tilt", quick([1e-3, 1e-6, 1e-9, 1e-13], 1e-13))
def test_axes_that_are_almost_parallel(tilt: float) -> None:
    rng = np.random.default_rng(24)
    model = pin.Model()
    for k in range(5):
        turn = pin.rpy.rpyToMatrix(0, 0, rng.normal()) @ pin.rpy.rpyToMatrix(tilt + np.pi * (k == 3), 0, rng.normal())
        joint = model.addJoint(k, pin.JointModelRZ(), pin.SE3(turn, rng.normal(size=3)), str(k))
        model.appendBodyToJoint(joint, inertia(rng), placement(rng))
    assert_same_outside(model)


def rounded_angles() -> pin.Model:
    rng = np.random.default_rng(25)
    model = pin.Model()
    for k, joint in enumerate(("RZ", "RX", "RZ", "PZ", "RZ", "RY")):
        rotation = pin.rpy.rpyToMatrix(*((1.5707963, 0, 3.14159) if k % 2 else (-1.570796, 1.5708, 0)))
        index = model.addJoint(k, JOINTS[joint](rng), pin.SE3(rotation, rng.normal(size=3)), str(k))
        model.appendBodyToJoint(index, inertia(rng), pin.SE3.Identity())
    return model


@pytest.mark.long
def test_angles_as_they_are_rounded_in_a_urdf() -> None:
    assert_same_outside(rounded_angles())


@pytest.mark.filterwarnings("ignore:.* clean=1e-06 changes tau")
@pytest.mark.parametrize("clean", [1e-11, 1e-6])
def test_preparation_cleans_nothing_on_its_own(clean: float) -> None:
    """Formulations agree on a tree that was cleaned."""
    model = rounded_angles()
    one, other = (cls(model, clean=clean) for cls in (gd.NewtonEuler, gd.GeneralizedDAlembert))
    assert one.changes == other.changes
    for q, v, a in states(model, np.random.default_rng(2), 4):
        assert relative_error(one.inverse_dynamics(q, v, a).full(), other.inverse_dynamics(q, v, a).full()) < TIGHT


def resized(length: float) -> pin.Model:
    """An arm with reaches of about this length [m]."""
    rng = np.random.default_rng(26)
    model = pin.Model()
    for k in range(5):
        at = placement(rng)
        joint = model.addJoint(
            k, pin.JointModelRevoluteUnaligned(unit(rng)), pin.SE3(at.rotation, length * at.translation), str(k)
        )
        body = inertia(rng)
        model.appendBodyToJoint(
            joint, pin.Inertia(body.mass, length * body.lever, length**2 * body.inertia), pin.SE3.Identity()
        )
    return model


def with_finger(kind: str) -> pin.Model:
    """A robot of 100 kg with a finger of 1e-6 kg."""
    rng = np.random.default_rng(27)
    model = pin.Model()
    for k in range(5):
        at = placement(rng)
        at.translation *= 0.3
        joint = model.addJoint(k, pin.JointModelRevoluteUnaligned(unit(rng)), at, str(k))
        model.appendBodyToJoint(joint, pin.Inertia(20, 0.1 * rng.normal(size=3), np.diag([1, 2, 2.5])), placement(rng))
    for name in ("finger", "tip"):
        at = placement(rng)
        at.translation *= 0.01
        joint = add_along(model, model.njoints - 1, kind, unit(rng), at, name)
        model.appendBodyToJoint(joint, pin.Inertia(1e-6, 1e-3 * rng.normal(size=3), 1e-12 * np.diag([1, 2, 2.5])), at)
    return model


EXTREMES: dict[str, Callable[[], pin.Model]] = {
    "1 mm": lambda: resized(1e-3),
    "1 m": lambda: resized(1),
    "1 km": lambda: resized(1e3),
    "finger": lambda: with_finger("revolute"),
    "sliding finger": lambda: with_finger("prismatic"),
}


@pytest.mark.parametrize("clean", quick([0, 1e-11], 1e-11))
@pytest.mark.parametrize("name", quick(EXTREMES, "1 mm", "finger"))
def test_extremes_keep_their_digits_in_every_row(name: str, clean: float) -> None:
    model = EXTREMES[name]()
    dyn = gd.NewtonEuler(model, clean=clean)
    for q, v, a in states(model, np.random.default_rng(28), 20):
        tau, nle, _, m, size = rows_of(model, q, v, a)
        assert np.all(np.abs(dyn.inverse_dynamics(q, v, a).full().ravel() - tau) < TIGHT * size)
        assert np.all(np.abs(dyn.nle(q, v).full().ravel() - nle) < TIGHT * size)
        weights = np.sqrt(np.diag(m))
        assert np.abs((dyn.mass_matrix(q).full() - m) / np.outer(weights, weights)).max() < TIGHT


# Frames.


def own_frames(tree: Tree, prepared: Tree, q: Array, unit_length: float) -> list[Array]:
    """Each prepared link frame in the given one, lengths in m."""
    frames = []
    for (r, p), (ours, origin) in zip(tree.placements(ca.DM(q)), prepared.placements(ca.DM(q)), strict=True):
        frames.append(np.hstack([(r.T @ ours).full(), (r.T @ (origin * unit_length - p)).full()]))
    return frames


@pytest.mark.parametrize("seed", range(12))
def test_link_frames_are_fixed_in_their_links(seed: int) -> None:
    """z is the axis; the origin slides on it, is the centre of mass of a sliding leaf, or is the given one."""
    model = model_of_everything(seed, mimic=True)
    tree = read_tree(model)
    prepared = prepare(tree)
    unit_length = float(np.linalg.norm(tree.gravity) / np.linalg.norm(prepared.gravity))
    parents = {joint.parent for joint in tree.joints}
    one, other = (own_frames(tree, prepared, q, unit_length) for q, _, _ in states(model, np.random.default_rng(3), 2))
    for i, (joint, ours, at, still) in enumerate(zip(tree.joints, prepared.joints, one, other, strict=True)):
        assert np.abs(at - still).max() < 1e-12
        if joint.type.axis is not None:
            assert ours.type.axis in ((0, 0, 1), (0, 0, -1))
            assert np.abs(at[:, :3] @ ours.type.axis - joint.type.axis).max() < 1e-14
        if joint.type.is_revolute:
            assert np.abs(np.cross(at[:, 3], joint.type.axis)).max() < 1e-12
        else:
            leaf = not joint.type.can_rotate and i not in parents
            assert np.abs(at[:, 3] - (joint.com if leaf else 0)).max() < 1e-12


def test_axes_are_z_and_line_masses_are_gone() -> None:
    model = build(np.random.default_rng(3), ["RevoluteUnaligned", "PX", "RY", "RUBX", "HelicalUnaligned"], range(5))
    prepared = prepare(read_tree(model))
    assert {joint.type.axis for joint in prepared.joints} == {(0.0, 0.0, 1.0)}
    for joint, kind in zip(prepared.joints, ("R", "P", "R", "R", "H"), strict=True):
        on_axis = joint.pseudo_inertia[np.ix_((2, 3), (2, 3))]
        assert np.any(on_axis) == (kind != "R")


@pytest.mark.parametrize("seed", range(12))
def test_regrouped_parameters_are_zero(seed: int) -> None:
    for joint in prepare(read_tree(model_of_everything(seed, mimic=False))).joints:
        j = joint.pseudo_inertia
        if joint.type.is_revolute:
            assert not np.any(j[2:, 2:])
        if not joint.type.can_rotate:
            assert not np.any(j[:3, :3])


def test_a_sliding_leaf_is_a_point_mass() -> None:
    model = build(np.random.default_rng(4), ["RX", "PrismaticUnaligned"], [0, 1])
    body = prepare(read_tree(model)).joints[1].pseudo_inertia
    assert np.abs(body[:3]).max() < 1e-14
    assert body[3, 3] == model.inertias[2].mass


@pytest.mark.extras
def test_total_mass_stays_under_a_free_flyer() -> None:
    tree = read_tree(robots.load("talos"))
    prepared = prepare(tree)
    total = sum(joint.pseudo_inertia[3, 3] for joint in prepared.joints)
    assert total == pytest.approx(sum(joint.mass for joint in tree.joints), rel=1e-14)


def leaf_with(products: float) -> Tree:
    """Two crossed axes, and a leaf whose product of inertia J_xy is given."""
    model = pin.Model()
    for k, joint in enumerate((pin.JointModelRY(), pin.JointModelRZ())):
        model.addJoint(k, joint, pin.SE3(np.eye(3), np.array([0.3, 0, 0])), str(k))
        tensor = np.array([[2, -products, 0], [-products, 3, 0], [0, 0, 4.0]])
        model.appendBodyToJoint(k + 1, pin.Inertia(1, np.zeros(3), tensor), pin.SE3.Identity())
    return read_tree(model)


def test_an_angle_makes_the_leafs_axes_principal() -> None:
    straight, turned = (prepare(leaf_with(products)).joints[1] for products in (0.0, 0.4))
    assert isinstance(straight, PreparedJoint)
    assert isinstance(turned, PreparedJoint)
    assert straight.frame_offset == 0
    # tan 2φ = 2 J_xy / (J_xx − J_yy)
    assert abs(turned.frame_offset) == pytest.approx(0.5 * np.arctan(0.8))
    assert turned.pseudo_inertia[0, 1] == 0
    assert turned.keeps_joint_axes
    assert not prepare(leaf_with(0)).joints[0].keeps_joint_axes


@pytest.mark.parametrize("name", ["puma560_benchmark", *with_extras(["ur5", "kinova", "go2"])])
def test_links_keep_axes_where_all_children_are_parallel(name: str) -> None:
    prepared = prepare(read_tree(robots.load(name)))
    for i, joint in enumerate(prepared.joints):
        children = [child for child in prepared.joints if child.parent == i]
        parallel = all(child.type.is_revolute and is_parallel(child) for child in children)
        assert joint.keeps_joint_axes == (joint.type.is_revolute and parallel)


@pytest.mark.parametrize("name", with_extras(robots.NAMES, "puma560_benchmark", "panda7"))
def test_rotations_of_robots_are_orthogonal_and_clean(name: str) -> None:
    for joint in prepare(gd.NewtonEuler(robots.load(name)).tree).joints:
        assert np.abs(joint.rotation @ joint.rotation.T - np.eye(3)).max() < 2e-15
        assert np.all((joint.rotation == 0) | (np.abs(joint.rotation) > 1e-11))


# The unit of length, and magnitudes.


def in_metres(model: pin.Model) -> PreparedTree:
    """The links in their own frames, before they get a unit of length."""
    return PreparedTree(**vars(read_tree(model)))


def lengths_of(tree: Tree) -> list[float]:
    return [abs(float(x)) for joint in tree.joints if joint.parent >= 0 for x in joint.translation if x]


def test_the_length_that_occurs_most_often_is_one() -> None:
    model = build(np.random.default_rng(5), ["Spherical", "RX", "RX", "RX", "RX"], [0, 1, 2, 3, 4])
    for k, x in ((2, [0.3, 0, 0.7]), (3, [-0.3, 0, 0]), (4, [0, 0.2, 0.7]), (5, [0.3, 0, 0.1])):
        model.jointPlacements[k] = pin.SE3(np.eye(3), np.array(x))
    given = in_metres(model)
    found = in_own_unit(given)
    scale = np.diag([1, 1, 1, 0.3])
    for joint, ours in zip(given.joints, found.joints, strict=True):
        assert np.allclose(ours.translation * 0.3, joint.translation, rtol=1e-15, atol=0)
        body = scale @ joint.pseudo_inertia @ scale
        assert np.allclose(ours.pseudo_inertia, body, rtol=1e-15, atol=0)
    assert lengths_of(found).count(1.0) == 3
    assert np.allclose(found.gravity * 0.3, given.gravity, rtol=1e-15, atol=0)


def test_noise_is_no_unit_of_length() -> None:
    model = build(np.random.default_rng(5), ["RX", "RX", "RX"], range(3))
    for k in (2, 3):
        model.jointPlacements[k] = pin.SE3(np.eye(3), np.array([0.3, 1e-9, 1e-9]))
    assert lengths_of(in_own_unit(in_metres(model))).count(1.0) == 2


@pytest.mark.parametrize("sliding", ["PX", "HX", "Translation", "Planar", "FreeFlyer", "Ellipsoid"])
def test_what_slides_is_measured_in_metres(sliding: str) -> None:
    tree = in_metres(build(np.random.default_rng(6), ["RX", sliding, "RX"], [0, 1, 2]))
    assert in_own_unit(tree) is tree
    assert np.array_equal(prepare(tree).gravity, tree.gravity)


@pytest.mark.parametrize("turning", ["RX", "RUBX", "Spherical", "Universal", "SphericalZYX"])
def test_what_only_turns_has_a_unit_of_its_own(turning: str) -> None:
    prepared = prepare(read_tree(build(np.random.default_rng(6), ["RX", turning, "RX"], [0, 1, 2])))
    assert 1.0 in lengths_of(prepared)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_robot_without_lengths_has_no_unit(scale: float) -> None:
    model = build(np.random.default_rng(7), ["RX", "RY"], [0, 1])
    model.jointPlacements[1] = pin.SE3(np.eye(3), scale * np.ones(3))
    model.jointPlacements[2] = pin.SE3.Identity()
    tree = in_metres(model)
    assert in_own_unit(tree) is tree
    assert_same_outside(model)


def test_magnitudes_that_rounding_tells_apart_are_one() -> None:
    model = build(np.random.default_rng(8), ["RX"] * 4, range(4))
    above, below = np.nextafter(0.3, 1), np.nextafter(1.0, 0)
    values = ([0.3, -above, 0.0], [-0.3, 0.3 + 1e-14, below], [1 + 3e-16, -below, 0.25])
    tiny = [2e-17, -3e-17, 2e-18]
    tree = read_tree(model)
    joints = [replace(joint, translation=frozen(x)) for joint, x in zip(tree.joints, (*values, tiny), strict=True)]
    settled = with_equal_magnitudes(replace(tree, joints=tuple(joints)))
    first, second, third, fourth = (joint.translation for joint in settled.joints)
    assert fourth.tolist() == tiny
    assert first[0] == -first[1] == -second[0]
    assert abs(first[0] - 0.3) < 1e-16
    assert second[1] == 0.3 + 1e-14
    assert (first[2], second[2], third[0], third[1], third[2]) == (0, 1, 1, -1, 0.25)


@pytest.mark.parametrize("name", with_extras(["solo12", "go2", "talos"]))
def test_no_two_constants_differ_by_rounding(name: str) -> None:
    prepared = prepare(read_tree(robots.load(name)))
    numbers = [x for j in prepared.joints for x in (*j.translation, *j.pseudo_inertia.ravel())]
    magnitudes = np.unique(np.abs([1.0, *numbers]))
    assert np.all(np.diff(magnitudes) > 1e-15 * magnitudes[1:])


# The tree that is given.


def test_a_tree_is_left_as_it_was() -> None:
    tree = read_tree(robots.load("panda7"))
    dyn = gd.NewtonEuler(tree, clean=0)
    _ = dyn.inverse_dynamics
    assert dyn.tree == tree == read_tree(robots.load("panda7"))


def test_preparation_is_done_once() -> None:
    tree = read_tree(model_of_everything(1, mimic=True))
    untouched = copy.deepcopy(tree)
    prepared = prepare(tree)
    assert prepare(tree) is prepared
    assert prepare(untouched) is prepared
    assert tree == untouched
    assert [(j.name, j.parent, j.idx_q, j.idx_v, j.scaling, j.offset) for j in prepared.joints] == [
        (j.name, j.parent, j.idx_q, j.idx_v, j.scaling, j.offset) for j in tree.joints
    ]
    assert not any(x.flags.writeable for j in prepared.joints for x in (j.pseudo_inertia, j.rotation, j.translation))


def test_a_prepared_tree_says_nothing_that_is_not_so() -> None:
    """The views of a link show what regrouping left there, which is no body's."""
    prepared = prepare(read_tree(model_of_everything(1, mimic=True)))
    for joint in prepared.joints:
        left = joint.pseudo_inertia
        assert joint.mass == left[3, 3]
        assert np.allclose(joint.mass * joint.com, left[:3, 3] * (joint.mass != 0), rtol=1e-14, atol=0)
        assert np.all(np.isfinite([*joint.com, *joint.inertia.ravel()]))


@pytest.mark.extras
def test_the_smaller_forward_dynamics_is_taken() -> None:
    for name in ("puma560_benchmark", "ur5", "solo12"):
        dyn = gd.NewtonEuler(robots.load(name))
        s = [ca.SX.sym("q", dyn.tree.nq), ca.SX.sym("v", dyn.tree.nv), ca.SX.sym("tau", dyn.tree.nv)]
        ways = gd.Dynamics.forward_dynamics_expression(dyn, *s), newton_euler.forward_dynamics(dyn._prepared[0], *s)
        sizes = [ca.Function("a", s, ca.cse([way])).n_instructions() for way in ways]
        assert dyn.forward_dynamics.n_instructions() <= min(sizes) + 2  # what is spent on springs and armature

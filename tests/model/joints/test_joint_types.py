"""What each joint type answers about itself, against Pinocchio and against its own motion subspace."""

from __future__ import annotations

import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ModelError
from gdalembert.model import joints as jt
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.algebra import Matrix
from tests.helpers.models import JOINTS, build, inertia, relative_error, unit

NAMES = sorted(name for joint_type in jt.JOINT_TYPES for name in joint_type.pinocchio_names if name in JOINTS)
X = (1.0, 0.0, 0.0)
EACH: dict[str, jt.JointType] = {
    "Revolute": jt.Revolute((0.6, 0.0, 0.8)),
    "UnboundedRevolute": jt.UnboundedRevolute((0.6, 0.0, 0.8)),
    "Prismatic": jt.Prismatic((0.6, 0.0, 0.8)),
    "Helical": jt.Helical((0.6, 0.0, 0.8), 0.3),
    "Translation": jt.Translation(),
    "Planar": jt.Planar(),
    "Spherical": jt.Spherical(),
    "FreeFlyer": jt.FreeFlyer(),
    "Ellipsoid": jt.Ellipsoid((0.3, 0.4, 0.5)),
}

each_type = pytest.mark.parametrize("kind", EACH)
each_pinocchio = pytest.mark.parametrize("name", NAMES)


def of(name: str, seed: int = 0) -> tuple[pin.Model, jt.JointType]:
    model = build(np.random.default_rng(seed), [name], [0])
    return model, read_tree(model).joints[0].type


def configurations(model: pin.Model, number: int) -> np.ndarray:
    rng, neutral = np.random.default_rng(1), pin.neutral(model)
    return np.array([pin.integrate(model, neutral, rng.normal(size=model.nv)) for _ in range(number)])


def full(x: object) -> np.ndarray:
    return np.array(ca.DM(x), dtype=float)


def test_every_type_is_listed() -> None:
    assert {joint_type.__name__ for joint_type in jt.JOINT_TYPES} == set(EACH)
    names = [name for joint_type in jt.JOINT_TYPES for name in joint_type.pinocchio_names]
    assert len(names) == len(set(names))
    assert set(JOINTS) - set(names) == {"SphericalZYX", "Universal", "Composite"}  # sequences of others


# Against Pinocchio.


@each_pinocchio
def test_type_and_lengths_are_pinocchios(name: str) -> None:
    model, joint = of(name)
    assert name in type(joint).pinocchio_names
    assert (joint.nq, joint.nv) == (model.nq, model.nv)
    assert relative_error(full(joint.neutral()).ravel(), pin.neutral(model)) == 0


@each_pinocchio
def test_unit_length_entries_are_those_that_pinocchio_normalizes(name: str) -> None:
    model, joint = of(name)
    scaled = 2 * configurations(model, 1)[0]
    changed = np.flatnonzero(np.abs(pin.normalize(model, scaled) - scaled) > 1e-12)
    start, stop = joint.unit_length or (0, 0)
    assert list(changed) == list(range(start, stop))


def test_an_unaligned_continuous_joint_is_read_from_its_subspace() -> None:
    urdf = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0.6 0 0.8"/></joint></robot>"""
    assert read_tree(pin.buildModelFromXML(urdf)).joints[0].type == jt.UnboundedRevolute((0.6, 0.0, 0.8))


# Against its own motion.


def columns(joint: jt.JointType) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular halves of S at some configurations, side by side."""
    rng, parts = np.random.default_rng(3), []
    for _ in range(4):
        q = joint.integrate(joint.neutral(), ca.DM(rng.normal(size=joint.nv)))
        parts.append(full(ca.vertcat(*joint.subspace(q))))
    found = np.array(parts)
    return found[:, :3], found[:, 3:]


@each_type
def test_rotation_translation_and_constant_columns_are_those_of_the_subspace(kind: str) -> None:
    joint = EACH[kind]
    linear, angular = columns(joint)
    assert joint.kind == kind
    assert joint.can_rotate == bool(angular.any())
    assert joint.can_translate == bool(linear.any())
    assert joint.has_constant_subspace == all(np.array_equal(x[0], y) for x in (linear, angular) for y in x)
    assert joint.linear == tuple(not angular[:, :, k].any() for k in range(joint.nv))


@each_type
def test_the_axis_is_the_direction_of_the_only_column(kind: str) -> None:
    joint = EACH[kind]
    linear, angular = columns(joint)
    assert (joint.axis is not None) == (joint.nv == 1)
    if joint.axis is not None:
        for column in (*linear[:, :, 0], *angular[:, :, 0]):
            assert np.abs(np.cross(column, joint.axis)).max() < 1e-15
        assert joint.with_axis(X).axis == X
        assert type(joint.with_axis(X)) is type(joint)
        assert joint.with_axis(X).with_axis(joint.axis) == joint
    else:
        assert joint.with_axis(X) is joint


@each_type
def test_velocity_is_rate_and_quasi_velocities(kind: str) -> None:
    joint, rng = EACH[kind], np.random.default_rng(4)
    q = joint.integrate(joint.neutral(), ca.DM(rng.normal(size=joint.nv)))
    v = ca.DM(rng.normal(size=joint.nv))
    rate = full(joint.configuration_rate(q, v)).ravel()
    assert joint.velocity_is_rate == (rate.size == joint.nv and np.array_equal(rate, full(v).ravel()))
    minimal = joint.in_minimal_coordinates()
    assert joint.has_quasi_velocities == (not minimal.velocity_is_rate)
    assert minimal.axis == joint.axis
    if kind != "UnboundedRevolute":
        assert minimal is joint


def test_revolute_and_prismatic() -> None:
    assert [kind for kind, joint in EACH.items() if joint.is_revolute] == ["Revolute", "UnboundedRevolute"]
    assert [kind for kind, joint in EACH.items() if joint.is_prismatic] == ["Prismatic"]
    assert [kind for kind, joint in EACH.items() if not joint.is_actuated] == ["FreeFlyer"]


def test_a_continuous_joint_in_minimal_coordinates_is_the_same_motion() -> None:
    joint = EACH["UnboundedRevolute"]
    minimal = joint.in_minimal_coordinates()
    (r, _), (same, _) = joint.placement(ca.DM([np.cos(0.7), np.sin(0.7)])), minimal.placement(ca.DM(0.7))
    assert relative_error(full(r), full(same)) < 1e-15
    for each, q in ((joint, ca.DM([np.cos(0.7), np.sin(0.7)])), (minimal, ca.DM(0.7))):
        assert relative_error([float(x) for x in each.cosine_and_sine(q)], [np.cos(0.7), np.sin(0.7)]) < 1e-15


def test_units() -> None:
    assert EACH["Revolute"].configuration_units == ("rad",)
    assert EACH["UnboundedRevolute"].configuration_units == ("1", "1")
    assert EACH["Prismatic"].configuration_units == ("m",)
    assert EACH["Helical"].configuration_units == ("rad",)
    assert EACH["Planar"].configuration_units == ("m", "m", "1", "1")
    assert EACH["FreeFlyer"].configuration_units == ("m",) * 3 + ("1",) * 4
    assert EACH["Planar"].velocity_units == ("m/s", "m/s", "rad/s")
    assert EACH["Planar"].effort_units == ("N", "N", "N m")
    assert EACH["Ellipsoid"].configuration_units == ("rad",) * 3


# Constants.


def test_constants_are_all_numbers_of_the_type() -> None:
    assert EACH["Helical"].constants == (0.6, 0.0, 0.8, 0.3)
    assert EACH["Ellipsoid"].constants == (0.3, 0.4, 0.5)
    assert EACH["Spherical"].constants == ()
    with pytest.raises(TypeError):
        jt.Revolute()


@each_type
def test_a_type_is_a_frozen_value(kind: str) -> None:
    joint = EACH[kind]
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert replace(joint) == joint
    assert hash(replace(joint)) == hash(joint)
    with pytest.raises(AttributeError):
        joint.axis = X


# Regrouping.


def torque(joint: jt.JointType, model: pin.Model, body: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """tau of a revolute joint and this one on it, which moves ``body``, while ``shared`` is fixed to its parent."""
    rng = np.random.default_rng(8)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    placement = model.jointPlacements[2].homogeneous
    tau = np.zeros(model.nv)
    for joint_id, pseudo in ((2, body), (1, placement @ shared @ placement.T)):
        part = model.copy()
        for k in (1, 2):
            part.inertias[k] = pin.Inertia.Zero()
        tau += _torque_of_pseudo_inertia(part, joint_id, pseudo, q, v, a)
    return tau


def _torque_of_pseudo_inertia(
    model: pin.Model, joint_id: int, pseudo: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> np.ndarray:
    """tau is linear in the ten parameters of a body, whether or not a body has them."""
    second = pseudo[:3, :3]
    tensor = np.trace(second) * np.eye(3) - second
    parameters = np.zeros(10 * (model.njoints - 1))
    own = [pseudo[3, 3], *pseudo[:3, 3], *(tensor[i, j] for j in range(3) for i in range(j + 1))]
    parameters[10 * (joint_id - 1) : 10 * joint_id] = own
    regressor = pin.computeJointTorqueRegressor(model, model.createData(), q, v, a)
    return np.asarray(regressor @ parameters)


@each_pinocchio
def test_inertia_shared_with_the_parent_can_be_added_to_it(name: str) -> None:
    rng = np.random.default_rng(6)
    model = build(rng, ["RevoluteUnaligned", name], [0, 1])
    joint = read_tree(model).joints[1].type
    body = inertia(rng).toPseudoInertia().toMatrix()
    shared = joint.inertia_shared_with_parent(body)
    nothing = np.zeros((4, 4))
    assert relative_error(torque(joint, model, body - shared, shared), torque(joint, model, body, nothing)) < 1e-12
    assert shared.any() == (joint.is_revolute or not joint.can_rotate)


def test_a_link_without_mass_shares_nothing_if_it_slides() -> None:
    assert not jt.Prismatic(X).inertia_shared_with_parent(np.zeros((4, 4))).any()
    assert not jt.Translation().inertia_shared_with_parent(np.zeros((4, 4))).any()


def test_the_line_mass_of_an_axis_is_that_of_the_axis_turned_to_z() -> None:
    rng = np.random.default_rng(7)
    axis = unit(rng)
    body = inertia(rng).toPseudoInertia().toMatrix()
    turn = np.eye(4)
    turn[:3, :3] = pin.Quaternion.FromTwoVectors(axis, np.array([0.0, 0.0, 1.0])).toRotationMatrix()
    of_axis = jt.Revolute(tuple(axis)).inertia_shared_with_parent(body)
    of_z = jt.Revolute((0.0, 0.0, 1.0)).inertia_shared_with_parent(turn @ body @ turn.T)
    assert relative_error(turn @ of_axis @ turn.T, of_z) < 1e-14
    assert np.count_nonzero(of_z) == 4


class Symbolic(jt.Translation):
    """A translation whose S is a matrix of symbols, though its entries are 0 and 1."""

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        linear, angular = super().subspace(q)
        return ca.SX(linear), angular


def test_a_type_gives_numbers_for_numbers() -> None:
    tree = read_tree(build(np.random.default_rng(0), ["Translation"], [0]))
    symbolic = replace(tree, joints=(replace(tree.joints[0], type=Symbolic()),))
    message = "joint 'Translation_0': placement and subspace of its type Symbolic give symbols for numbers; give DM for"
    with pytest.raises(ModelError, match=message):
        _ = gd.NewtonEuler(symbolic).forward_dynamics

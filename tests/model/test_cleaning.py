"""Cleaning of constants: what it changes, by how much, and that it says so."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.errors import ArgumentError, ArgumentTypeError, CleaningWarning
from gdalembert.model.cleaning import clean_tree
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from tests.helpers.models import relative_error, states

TEXT = """<robot name="noisy"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 1e-14 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="1e-14" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0.1 0 0.2"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<joint name="one" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="two" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.5 0 0" rpy="1.57079632679 0 0"/>
<axis xyz="0 5e-12 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="tool"/><joint name="flange" type="fixed"><parent link="b"/><child link="tool"/>
<origin xyz="0.5 0 1e-13"/></joint></robot>"""


@pytest.fixture
def tree() -> Tree:
    return read_tree(pin.buildModelFromXML(TEXT))


def test_noise_is_removed_and_reported(tree: Tree) -> None:
    cleaned, changes = clean_tree(tree, 1e-11)
    one, two = cleaned.joints
    assert one.com.tolist() == [0.1, 0.0, 0.0]
    assert one.inertia[0, 1] == 0
    assert two.rotation.tolist() == [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    assert two.inertia[0, 1] == 0.01
    assert two.type.axis == (0, 0, 1)
    shown = {(change.element, change.quantity): (change.before, change.after) for change in changes}
    assert shown[("joint 'one'", "com[1]")] == (1e-14, 0.0)
    assert shown[("joint 'one'", "inertia[0, 1]")] == (1e-14, 0.0)
    before, after = shown[("joint 'two'", "rotation[1, 1]")]
    assert math.isclose(before, math.cos(1.57079632679), rel_tol=1e-3)
    assert after == 0
    assert str(changes[0]) == "joint 'one': com[1]: 1e-14 -> 0.0"


def test_frames_are_cleaned_too(tree: Tree) -> None:
    cleaned, changes = clean_tree(tree, 1e-11)
    where = [frame.name for frame in tree.frames].index("tool")
    assert tree.frames[where].translation[2] == 1e-13
    assert cleaned.frames[where].translation.tolist() == [0.5, 0, 0]
    assert "frame 'tool': translation[2]: 1e-13 -> 0.0" in map(str, changes)


def test_without_cleaning_every_bit_is_kept(tree: Tree) -> None:
    assert clean_tree(tree, 0) == (tree, ())


def test_an_axis_may_lose_its_noise_but_not_its_direction(tree: Tree) -> None:
    kept, _ = clean_tree(tree, 1e-12)
    assert kept.joints[1].type.axis == (0, 5e-12, 1)


@pytest.mark.parametrize("clean", [-1e-12, 1e-3, math.nan])
def test_a_tolerance_without_a_meaning_is_refused(tree: Tree, clean: float) -> None:
    with pytest.raises(ArgumentError, match=r"clean=.*: give a tolerance from 0 \(take every bit as given\) to 1e-6"):
        gd.NewtonEuler(tree, clean=clean)


def test_cleaning_makes_graphs_smaller_and_changes_no_torque() -> None:
    model = pin.buildModelFromXML(TEXT)
    for cls in gd.formulations().values():
        clean, raw = cls(model), cls(model, clean=0)
        assert clean.inverse_dynamics.n_instructions() < raw.inverse_dynamics.n_instructions()
        assert clean.changes
        assert raw.changes == ()
        for q, v, a in states(model, np.random.default_rng(0), 5):
            assert relative_error(clean.inverse_dynamics(q, v, a).full(), raw.inverse_dynamics(q, v, a).full()) < 1e-9


def test_a_light_body_beside_a_heavy_one_keeps_its_inertia() -> None:
    crane = pin.Model()
    for k, moment in enumerate((6e6, 1.0, 5e-6)):
        joint = crane.addJoint(k, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([10.0 ** (1 - k), 0, 0])), f"j{k}")
        crane.appendBodyToJoint(joint, pin.Inertia(moment, np.zeros(3), moment * np.eye(3)), pin.SE3.Identity())
    for cls in gd.formulations().values():
        torque = cls(crane).inverse_dynamics([0] * 3, [0] * 3, [0, 0, 100])
        assert float(torque[2]) == pytest.approx(5e-4, rel=1e-12)


def test_rotations_stay_orthogonal() -> None:
    """rpy = 1.5708 is π/2 to 4e-6 only: its sine is not 1, and its cosine not noise."""
    for rpy in ((1.5708, 0, 0), (1.57079632679, 0, 0), (1.57079632679, 1e-12, 0.3), (1.5708, -1.5708, 1.5708)):
        rotation = pin.rpy.rpyToMatrix(*rpy)
        given = pin.Model()
        joint = given.addJoint(0, pin.JointModelRZ(), pin.SE3(rotation, np.zeros(3)), "j")
        given.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        cleaned = clean_tree(read_tree(given), 1e-11)[0].joints[0].rotation
        assert np.abs(cleaned @ cleaned.T - np.eye(3)).max() < 1e-15
        assert np.abs(cleaned - rotation).max() <= 1e-11


def test_a_small_entry_among_large_ones_is_kept() -> None:
    """Dropping it would bend the rotation by as much: nothing is changed then."""
    rotation = pin.rpy.rpyToMatrix(0.7, 5e-12, 0.3)
    given = pin.Model()
    joint = given.addJoint(0, pin.JointModelRZ(), pin.SE3(rotation, np.zeros(3)), "j")
    given.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    assert 0 < abs(rotation[2, 0]) < 1e-11
    assert np.array_equal(clean_tree(read_tree(given), 1e-11)[0].joints[0].rotation, rotation)


def test_the_smallest_moment_of_a_body_is_kept() -> None:
    """A needle that turns about itself."""
    needle = pin.Model()
    joint = needle.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "j")
    needle.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.diag([1, 1, 1e-12])), pin.SE3.Identity())
    for cls in gd.formulations().values():
        # a pseudo-inertia of size 1 holds this moment as a difference, good to 1e-16
        assert float(cls(needle).mass_matrix(0)) == pytest.approx(1e-12, rel=1e-3, abs=0)


@pytest.mark.parametrize("clean", [None, "x", 1j, np.zeros(2), True])
def test_a_tolerance_that_is_no_number_is_refused(tree: Tree, clean: object) -> None:
    for cls in (gd.NewtonEuler, gd.Kinematics):
        with pytest.raises(ArgumentTypeError, match=r"clean=.*: give a number from 0 \(take every bit as"):
            cls(tree, clean=clean)


@pytest.mark.parametrize("far", [5e6, 1e6, 1e4])
@pytest.mark.parametrize("com", [3e-5, 5e-8])
def test_a_robot_may_stand_far_from_the_origin(far: float, com: float) -> None:
    """One revolute joint: a centre of mass is small only beside what is on its own link."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([far, far / 9, 0])), "j")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([com, 0, 0]), np.zeros((3, 3))), pin.SE3.Identity())
    reference = pin.rnea(model, model.createData(), np.zeros(1), np.zeros(1), np.ones(1))
    for cls in gd.formulations().values():
        assert float(cls(model).inverse_dynamics(0, 0, 1)) == pytest.approx(reference[0], rel=1e-12, abs=0)


def test_products_of_inertia_of_a_thin_rod_are_kept() -> None:
    """On a spherical joint: the effect of I_yz on a_z is divided by I_zz."""
    inertia = np.diag([0.8, 0.8, 5e-8])
    inertia[1, 2] = inertia[2, 1] = 7e-12
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "j")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), inertia), pin.SE3.Identity())
    tau = np.array([0.0, 1.0, 0.0])
    reference = np.linalg.solve(inertia, tau)
    for cls in gd.formulations().values():
        a = cls(model).forward_dynamics(pin.neutral(model), np.zeros(3), tau).full().ravel()
        # the moment 5e-8 is a difference in a pseudo-inertia of size 0.8, good to 1e-16 / 5e-8
        assert a[2] == pytest.approx(reference[2], rel=1e-7, abs=0)


@pytest.mark.parametrize("cls", [*gd.formulations().values()])
def test_cleaning_that_is_more_than_rounding_is_a_warning(cls: type[gd.Dynamics]) -> None:
    model = pin.buildModelFromXML(TEXT.replace("5e-12", "5e-7"))
    message = r"^noisy: clean=1e-06 changes tau by 3.3e-06 and accelerations by 7.3e-06 of their size; give a smaller"
    with pytest.warns(CleaningWarning, match=message) as found:
        dyn = cls(model, clean=1e-6)
    assert [each.filename for each in found] == [__file__]
    assert 1e-7 < dyn.change_in_tau < 1e-5
    cls(model)  # warnings are errors


def test_a_base_that_leans_against_gravity_is_a_warning_too() -> None:
    """M does not see it: of a pendulum in a plane the torque of gravity alone changes."""
    model = pin.Model()
    placement = pin.SE3(pin.rpy.rpyToMatrix(0, 5e-7, 0), np.zeros(3))
    joint = model.addJoint(0, pin.JointModelRY(), placement, "j")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0.3, 0, 0.4]), np.eye(3)), pin.SE3.Identity())
    with pytest.warns(CleaningWarning, match=r"changes tau by \d\.\de-07 and"):
        gd.NewtonEuler(model, clean=1e-6)


def test_the_warning_of_an_arm_is_of_the_line_that_makes_it() -> None:
    model = pin.buildModelFromXML(TEXT.replace("5e-12", "5e-7"))
    beam = gd.Beam.round(None, 0.01, density=7800.0, youngs_modulus=2e11)
    with pytest.warns(CleaningWarning) as found:
        gd.FlexibleArm(model, {"b": gd.FlexibleLink(beam, to="tool", keep_body=True)}, clean=1e-6)
    assert [each.filename for each in found] == [__file__]


@pytest.mark.extras
def test_what_cleaning_does_to_tau_is_measured() -> None:
    model = robots.load("ur5")
    for cls in gd.formulations().values():
        dyn, given = cls(model), cls(model, clean=0)
        assert 0 < dyn.change_in_tau < 1e-9
        assert given.change_in_tau == 0
        q, v, a = states(model, np.random.default_rng(0), 1)[0]
        change = relative_error(dyn.inverse_dynamics(q, v, a).full(), given.inverse_dynamics(q, v, a).full())
        assert 0 < change < 10 * dyn.change_in_tau

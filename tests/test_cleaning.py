"""Cleaning of constants: what it changes, by how much, and that it says so."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from models import relative_error, states

import gdalembert as gd
from gdalembert.cleaning import clean_tree
from gdalembert.errors import ArgumentError
from gdalembert.reading import read_tree
from gdalembert.tree import Tree

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

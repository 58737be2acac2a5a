"""Rotations that are applied, beside the matrices that they are."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert.dynamics.newton_euler.rotations import (
    NO_TURN,
    AboutZ,
    Full,
    Product,
    Rotation,
    fixed_turn,
    is_parallel,
    rotations_of,
    turns_about_z,
)
from gdalembert.model.from_pinocchio import read_tree
from tests.helpers.models import JOINTS, build, placement, relative_error, states

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


def matrix(rotation: Rotation) -> np.ndarray:
    return (rotation @ ca.DM.eye(3)).full()


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
        turn, fixed = rotations_of(own, q)
        placed, _ = own.type.placement(own.configuration(q))
        assert relative_error(matrix(fixed) @ matrix(turn), own.rotation @ ca.DM(placed).full()) < ROUNDING, k
        assert (turn is NO_TURN) == (not turns_about_z(own))


def test_a_fixed_turn_is_that_of_parallel_axes() -> None:
    model = build(np.random.default_rng(5), ["RZ"], [0])
    for angle, flipped in ((0.3, False), (0.0, True)):
        model.jointPlacements[1].rotation = np.diag([1.0, -1, -1]) if flipped else matrix(about_z(angle))
        joint = read_tree(model).joints[0]
        assert is_parallel(joint) == (not flipped)
        if not flipped:
            assert relative_error(matrix(fixed_turn(joint)), joint.rotation) < ROUNDING

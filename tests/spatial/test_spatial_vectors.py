"""Motions and wrenches, beside Pinocchio's."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.spatial.spatial_vectors import Motion, Wrench
from tests.helpers.models import placement, relative_error

ROUNDING = 1e-14


def motion(rng: np.random.Generator) -> tuple[Motion, pin.Motion]:
    linear, angular = rng.normal(size=(2, 3))
    return Motion(ca.DM(linear), ca.DM(angular)), pin.Motion(linear, angular)


def wrench(rng: np.random.Generator) -> tuple[Wrench, pin.Force]:
    force, moment = rng.normal(size=(2, 3))
    return Wrench(ca.DM(force), ca.DM(moment)), pin.Force(force, moment)


def numbers(x: Motion | Wrench) -> np.ndarray:
    parts = (x.linear, x.angular) if isinstance(x, Motion) else (x.force, x.moment)
    return ca.vertcat(*parts).full().ravel()


@pytest.mark.parametrize("make", [motion, wrench])
def test_frames_are_changed_as_by_pinocchio(make: object) -> None:
    rng = np.random.default_rng(0)
    own, theirs = make(rng)
    at = placement(rng)
    r, p = ca.DM(at.rotation), ca.DM(at.translation)
    assert relative_error(numbers(own.seen_from(r, p)), at.actInv(theirs).vector) < ROUNDING
    assert relative_error(numbers(own.to_parent(r, p)), at.act(theirs).vector) < ROUNDING


def test_sums_and_cross_products_are_pinocchios() -> None:
    rng = np.random.default_rng(1)
    (one, one_theirs), (other, other_theirs) = motion(rng), motion(rng)
    force, force_theirs = wrench(rng)
    assert relative_error(numbers(one + other), (one_theirs + other_theirs).vector) < ROUNDING
    assert relative_error(numbers(one.cross(other)), one_theirs.cross(other_theirs).vector) < ROUNDING
    assert relative_error(numbers(one.carry(force)), one_theirs.cross(force_theirs).vector) < ROUNDING
    assert relative_error(numbers(force + force), 2 * force_theirs.vector) < ROUNDING


def test_columns_are_carried_side_by_side() -> None:
    rng = np.random.default_rng(2)
    (one, _), (other, _), (force, _) = motion(rng), motion(rng), wrench(rng)
    both = Motion(ca.horzcat(one.linear, other.linear), ca.horzcat(one.angular, other.angular))
    carried = both.carry(force)
    for k, single in enumerate((one, other)):
        assert relative_error(carried.moment[:, k].full().ravel(), single.carry(force).moment.full().ravel()) < ROUNDING
    assert both.vector.shape == (6, 2)


def test_work_is_the_same_in_all_frames() -> None:
    rng = np.random.default_rng(3)
    (twist, twist_theirs), (force, force_theirs) = motion(rng), wrench(rng)
    at = placement(rng)
    r, p = ca.DM(at.rotation), ca.DM(at.translation)
    work = float(force.work(twist.linear, twist.angular))
    assert work == pytest.approx(twist_theirs.dot(force_theirs), rel=1e-12)
    moved, felt = twist.seen_from(r, p), force.seen_from(r, p)
    assert float(felt.work(moved.linear, moved.angular)) == pytest.approx(work, rel=1e-12)

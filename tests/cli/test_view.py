"""The joint sweep of ``gdalembert view``."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.cli.view import joint_sweep
from tests.helpers.viewer import every_joint


def test_a_joint_sweep_stays_within_limits() -> None:
    model = gd.load_urdf("panda7")
    t, q = joint_sweep(model, pin.neutral(model))
    assert np.all(np.diff(t) > 0)
    # neutral itself lies outside the range of joint 4 (and 6), which is its own upper limit there
    inside = (model.lowerPositionLimit <= 0) & (model.upperPositionLimit >= 0)
    assert np.all(q.min(axis=0)[inside] >= np.maximum(model.lowerPositionLimit, -np.pi)[inside] - 1e-12)
    assert np.all(q.max(axis=0)[inside] <= np.minimum(model.upperPositionLimit, np.pi)[inside] + 1e-12)
    assert np.all(np.ptp(q, axis=0) > 1)
    model = every_joint(0)
    t, q = joint_sweep(model, pin.neutral(model))
    assert len(t) == 32 * model.nv + 1
    assert all(pin.isNormalized(model, row, 1e-9) for row in q)


def test_a_joint_sweep_goes_from_where_it_is_to_the_limits() -> None:
    """But for slides by no more than 1 m."""
    model = pin.Model()
    kinds = (pin.JointModelRX(), pin.JointModelPY(), pin.JointModelTranslation())
    for k, kind in enumerate(kinds):
        model.addJoint(k, kind, pin.SE3.Identity(), f"joint {k}")
    model.lowerPositionLimit = np.array([-0.5, -5.0, -0.1, -0.3, -0.5])
    model.upperPositionLimit = np.array([0.8, 5.0, 0.2, 0.4, 0.6])
    _, rows = joint_sweep(model, np.array([0.2, 0.5, 0.05, 0.1, 0.2]))
    assert rows.max(axis=0) == pytest.approx([0.8, 1.5, 0.2, 0.4, 0.6])
    assert rows.min(axis=0) == pytest.approx([-0.5, -0.5, -0.1, -0.3, -0.5])
    assert rows[0] == pytest.approx(rows[-1])

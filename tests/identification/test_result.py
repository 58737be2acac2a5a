"""The parts of the result of a fit, beside their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from gdalembert.identification.result import Torques


def test_residuals_are_measured_by_their_root_mean_square() -> None:
    """Of the errors 3, −4, 0 N m it is 5/√3 N m, whatever the other torques; a torque that is always 0 has no share."""
    measured = np.array([[10.0, 2.0, 0.0, 0.0], [-10.0, 2.0, 0.0, 0.0], [10.0, 2.0, 0.0, 0.0]])
    errors = np.array([[3.0, 1.0, 0.0, 1.0], [-4.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, -1.0]])
    torques = Torques(measured, measured - errors, measured - 2 * errors, 0 * errors, errors > 2.0)
    assert torques.residuals[:, 0] == pytest.approx([3.0, -4.0, 0.0])
    assert torques.rms == pytest.approx([5 / np.sqrt(3), 1.0, 0.0, 1.0])
    assert torques.relative[:2] == pytest.approx([0.5 / np.sqrt(3), 0.5])
    assert np.isnan(torques.relative[2:]).all()
    assert torques.moving.rms == pytest.approx([4 / np.sqrt(2), 1.0, 0.0, 1.0])
    assert torques.every_sample.rms == pytest.approx([10 / np.sqrt(3), 2.0, 0.0, 2.0])

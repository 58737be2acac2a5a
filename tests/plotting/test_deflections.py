"""Deflections of the tip of a flexible link."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers import models
from tests.helpers.plots import flexible, lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


def test_the_tip_is_where_its_shapes_put_it() -> None:
    """±2 of each clamped-free mode, in mm; the slope of the root takes no part."""
    arm, _ = flexible()
    q = np.random.default_rng(0).normal(size=(5, arm.tree.nq)) * [1, 1, 1e-2, 1e-2, 1e-2]
    t = np.arange(5.0)
    ax = plotting.tip_deflection(arm, (t, q))
    drawn = lines(ax)
    assert list(drawn) == ["link2"]
    expected = 1e3 * q[:, 2:] @ gd.modes.clamped_free(3).value(0.8, 0.8)[:, 0]
    assert models.relative_error(drawn["link2"], expected) < 1e-12
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time [s]", "deflection of the tip [mm]")


def test_both_directions_of_a_tip_are_told_apart() -> None:
    beam = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0)
    link = gd.FlexibleLink(beam, gd.modes.clamped_free(1), gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link2": link})
    drawn = lines(plotting.tip_deflection(arm, ([0.0], [[0.4, 0.3, 0.01, -0.02]])))
    assert {name: line.tolist() for name, line in drawn.items()} == {
        "link2, y": [pytest.approx(20, rel=1e-12)],
        "link2, z": [pytest.approx(-40, rel=1e-12)],
    }


def test_tips_of_rigid_robots_are_refused() -> None:
    model = gd.load_urdf("two_link_flexible")
    with pytest.raises(ArgumentTypeError, match="expected a FlexibleArm, got NewtonEuler"):
        plotting.tip_deflection(gd.NewtonEuler(model), ([0.0], [[0, 0]]))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"has no flexible links; give an arm with links=\{…\}"):
        plotting.tip_deflection(gd.FlexibleArm(model), ([0.0], [[0, 0]]))

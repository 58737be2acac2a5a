"""Flexible robots that contacts and loops hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from tests.helpers.linkages import COUPLER, closed_four_bar, four_bar

pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

T = 0.02
STABILISED: dict[str, Any] = {"regularization": 1e-6, "stiffness": 1 / T**2, "damping": 2 / T}
LOOP = gd.Loop("coupler bar tip", "rocker end", "3D")


def flexible_four_bar() -> gd.ConstrainedDynamics:
    """A four-bar linkage with two modes of its coupler and one of its rocker; q = (joints, modes)."""
    links = {
        f"{name} bar": gd.FlexibleLink(gd.Beam(length, 1.0, EI_z=5.0), bending_y=gd.modes.clamped_free(modes))
        for name, length, modes in (("coupler", COUPLER, 2), ("rocker", 0.6, 1))
    }
    return gd.ConstrainedDynamics(gd.FlexibleArm(four_bar(), links), [LOOP], **STABILISED)


@pytest.mark.long
def test_a_flexible_linkage_stays_closed_and_keeps_its_energy() -> None:
    con = flexible_four_bar()
    q = con.closed_configuration([*closed_four_bar(0.4), 0, 0, 0], hold=["crank", "coupler bar", "rocker bar"])
    v = con.consistent_velocity(q, [3.0, 0, 0, 0, 0, 0], hold=["crank"])
    motion = gd.simulate(con, (q, v), 1.0)
    assert motion.constraint_drift.max() < 1e-9
    assert motion.relative_balance < 1e-6  # tolerances of 1e-8 of the state
    assert np.abs(motion.q[:, 3:]).max() > 1e-3

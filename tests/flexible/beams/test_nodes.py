"""Links of nodes in an arm: what is attached to a node is rigidly fixed to it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.arm_of_nodes import SHIFT, TIP, arm_of_nodes


@pytest.mark.parametrize("kinematics", ["exact", "first_order"])
@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_an_arm_described_from_two_origins_is_one_arm(kinematics: str) -> None:
    here, there = arm_of_nodes(np.zeros(3), kinematics), arm_of_nodes(SHIFT, kinematics)
    kinematics_of = [gd.Kinematics(arm.tree) for arm in (here, there)]
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v, a = rng.normal(size=(3, here.tree.nv))
        q[2:] *= 0.3
        for name, state in (("mass_matrix", (q,)), ("nle", (q, v)), ("inverse_dynamics", (q, v, a))):
            own, other = (getattr(arm, name)(*state).full() for arm in (here, there))
            assert np.abs(own - other).max() <= 1e-12 * max(1, np.abs(own).max())
        for frame in ("tip", "eye"):
            own, other = (kin.frame_placement(frame)(q).full() for kin in kinematics_of)
            assert np.abs(own - other).max() <= 1e-12


@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_what_is_attached_to_a_node_keeps_its_distance() -> None:
    arm = arm_of_nodes(SHIFT)
    frames = gd.Kinematics(arm.tree)
    q = np.array([0.4, -0.2, 0.3, 0.2, 0.5])
    root, tip = (frames.frame_placement(f"link1 {end}")(q).full() for end in ("root", "tip"))
    f = q[2:]
    shortened = -0.5 * (1.3 * f[0] ** 2 + 1.8 * f[1] ** 2)
    node = TIP - SHIFT + [shortened, f[0], f[1]] + np.cross([1, 0, 0], TIP) * f[2]
    turned = pin.exp3(np.array([f[2], -3 * f[1], 2 * f[0]]))
    lever = [0, *(SHIFT - TIP)[1:]]
    assert np.abs((root @ [*(node + turned @ lever), 1])[:3] - tip[:3, 3]).max() < 1e-14
    assert np.abs(root[:3, :3] @ turned - tip[:3, :3]).max() < 1e-14

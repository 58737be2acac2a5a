"""The law that what is attached to a node moves with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.link_model import Station
from gdalembert.validation.frames_on_nodes import FramesOnNodes
from gdalembert.validation.states import States
from gdalembert.validation.validate import validate
from tests.helpers.arm_of_nodes import arm_of_nodes

STATION = Nodes.station


def linearised(self: Nodes, node: int, body: object = None) -> Station:
    """A frame on the x axis with a linearised lever to the node."""
    own = STATION(self, node, body)
    beside = np.array([own.position[0], 0, 0])
    lever = np.cross(own.rotation.T, beside - own.position).T
    return replace(own, position=beside, translation=own.translation + lever)


@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_frames_move_with_their_node(monkeypatch: pytest.MonkeyPatch) -> None:
    q = np.random.default_rng(0).normal(size=(4, 5)) * 0.3
    states = States(q, q, q)
    for kinematics in ("exact", "first_order"):
        (right,) = FramesOnNodes(arm_of_nodes(kinematics=kinematics)).residuals(states)
        assert right.names == tuple(f"{frame} {axis}" for frame in ("eye", "link1 tip") for axis in "xyz")
        assert right.errors().max() < 1e-14
    monkeypatch.setattr(Nodes, "station", linearised)
    (wrong,) = FramesOnNodes(arm_of_nodes()).residuals(states)
    assert wrong.errors().max() > 1e-4


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_frames_that_leave_their_node_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a linearised lever; M, tau and the energies of such an arm agree with each other all the same."""
    right = validate(arm_of_nodes(), samples=3)
    assert right.ok
    assert right["frames on nodes"].tolerance == 1e-11
    monkeypatch.setattr(Nodes, "station", linearised)
    report = validate(arm_of_nodes(), samples=3)
    assert [check.name for check in report.checks if not check.ok] == ["frames on nodes"]
    cause = "what is attached to a node of a flexible link does not move with it as a rigid body"
    assert report.diagnosis == (f"{cause}, worst at 'link1 tip y' (in frames on nodes)",)

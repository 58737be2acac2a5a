"""Frames on the nodes of flexible links, placed by a second computation: a node moves them as a rigid body.

Node k of a link is at r_k + U_k f − ½ (fᵀ s_k f) e_x in the clamped frame and turned by exp([ϑ×]), ϑ = Θ_k f, or by
1 + [ϑ×] to first order (:mod:`gdalembert.model.joints.deflection`). It carries a frame, undeformed at x, to

    p = r_k + U_k f − ½ (fᵀ s_k f) e_x + exp([ϑ×]) (x − r_k)

U, Θ and s are those of the description, not of the arm's stations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np

from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.frames import find_frame
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.configuration import neutral
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, skew
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.lie import exp3
from gdalembert.validation.diagnosis import FRAMES_ON_NODES
from gdalembert.validation.residuals import LAW, Residual
from gdalembert.validation.states import States


class FramesOnNodes:
    """The positions of the frames on nodes in the clamped frame of their link, and what they should be.

    Attributes:
        names: of the frames.
        missing: why they are not checked, if so.
    """

    def __init__(self, arm: Arm) -> None:
        q = ca.SX.sym("q", arm.tree.nq)
        found = list(_frames(arm, q))
        lost = arm.links is None and any("f1" in link.mode_names for link in arm.assembly.links)
        self.missing = f"{FRAMES_ON_NODES}: an arm that was pickled or copied has no nodes" if lost else ""
        self.names = tuple(name for name, _, _ in found)
        self._functions = tuple(
            BatchFunction(ca.Function(what, [q], [ca.densify(ca.vertcat(*rows))]), 3 * len(found))
            for what, rows in (("found", [x for _, x, _ in found]), ("expected", [x for _, _, x in found]))
        )

    def residuals(self, states: States) -> Iterator[Residual]:
        """The residual of all coordinates, if there are frames on nodes."""
        if self.names:
            value, reference = (function(states.q) for function in self._functions)
            entries = tuple(f"{name} {axis}" for name in self.names for axis in "xyz")
            yield Residual(FRAMES_ON_NODES, "law", value, reference, LAW, names=entries)


def _frames(arm: Arm, q: ca.SX) -> Iterator[tuple[str, Matrix, Matrix]]:
    """Name, position and reference of each frame."""
    undeformed = neutral(arm.tree)
    for name, beam in arm.assembly.beams.items():
        link = None if arm.links is None else arm.links[name]
        if link is None or not isinstance(link.beam, Nodes):
            continue
        nodes = link.beam if link.shortens else replace(link.beam, shortening=None)
        placed = arm.assembly.links[beam.link]
        f = placed.modal_configuration(q)
        for frame in arm.assembly.frames:
            if frame.link == beam.link and frame.station > 0:
                node = nodes.nearest(placed.stations[frame.station].position)
                x = _in_clamped(arm.tree, beam.root, frame.name, undeformed)
                expected = _carried(nodes, node, x, f, exact=arm.kinematics == "exact")
                yield frame.name, _in_clamped(arm.tree, beam.root, frame.name, q), expected


def _in_clamped(tree: Tree, root: str, frame: str, q: Matrix) -> Matrix:
    """The position of a frame in the clamped frame (3)."""
    (r, p), (_, x) = (placement(tree, tree.frames[find_frame(tree, name)], q) for name in (root, frame))
    return r.T @ (x - p)


def _carried(nodes: Nodes, node: int, x: Matrix, f: Matrix, *, exact: bool) -> Matrix:
    """Where a node carries what stands at x when nothing is deformed (3)."""
    own = nodes.positions[node]
    theta = ca.DM(nodes.rotations[:, node].T) @ f
    turned = exp3(theta) if exact else ca.DM.eye(3) + skew(theta)
    shortening = np.zeros((nodes.modes, nodes.modes)) if nodes.shortening is None else nodes.shortening[:, :, node]
    shortened = ca.vertcat(ca.bilin(ca.DM(shortening), f, f) / 2, 0, 0)
    return own + ca.DM(nodes.translations[:, node].T) @ f - shortened + turned @ (x - own)

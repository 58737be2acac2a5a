"""The resolution of a Cosserat rod's shape by its nodes: its tip at q against that of denser nodes.

The strain of a segment is exact; positions are integrals of the tangents at the nodes, interpolated, and lose their
digits where a segment bends so far that a polynomial through its nodes is no arc any more. Here the same strain is
integrated again, step by step: on a step of length d from node to node, with x = −½ … ½,

    κ d = α₁ + α₂ x + α₃ x²

(:mod:`gdalembert.model.joints.strain_segment`), by Magnus' exponent over parts of the step, and Gauss' rule on each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import legendre

from gdalembert import spatial
from gdalembert.flexible.assembly import Flexibility, PlacedBeam
from gdalembert.model.joints.strain_segment import MagnusStep, SegmentAtQ, Turn
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function

RESOLVED = 1e-3
"""Distance over length. Beyond that a segment of constant strain bends by a turn, a cubic one by two and a half."""
_PARTS, _POINTS = 2, 5
"""Parts of a step, and points of Gauss' rule on each: a part that turns by a radian is right to 1e-9."""


@dataclass(frozen=True)
class RodResolution:
    """Indicators of how far a motion bends a Cosserat rod beyond what its nodes resolve.

    Attributes:
        link: its name.
        error: a bound of the distance over the rod's length by which its tip is off, for the strain that it has:
            against denser nodes, segment by segment. It is no measure of how well that strain fits the loads; a higher
            degree or more segments tell.
    """

    link: str
    error: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence if the error is above :data:`RESOLVED`."""
        if self.error <= RESOLVED:
            return ()
        return (
            f"link {self.link!r}: it bends further than its nodes resolve, and its tip is off by up to "
            f"{self.error:.2g} of its length; give the gd.CosseratRod more segments=, one for each turn, or a higher "
            "degree=",
        )

    def __str__(self) -> str:
        return "\n".join(
            [f"link {self.link!r}: its tip is off by up to {self.error:.2g} of its length", *self.warnings]
        )


def rod_errors(tree: Tree, flexibility: Flexibility) -> ca.Function:
    """(q) → (errors): of each rod, see :class:`RodResolution`."""
    s = {"q": ca.SX.sym("q", tree.nq)}
    return function(
        "errors", s, {"errors": ca.vertcat(*(_error(tree, rod, s["q"]) for rod in flexibility.rods.values()))}
    )


def resolutions(flexibility: Flexibility, errors: ca.Function, q: Array) -> dict[str, RodResolution]:
    """The largest errors over configurations (N × nq), by rod."""
    largest = errors(q.T).full().max(axis=1)
    return {name: RodResolution(name, float(error)) for name, error in zip(flexibility.rods, largest, strict=True)}


def _error(tree: Tree, rod: PlacedBeam, q: Matrix) -> Matrix:
    """The bound: what each segment is off, and what its end is turned too far times the length behind it."""
    total: Matrix = 0
    left = rod.length
    for joint, station in _segment_ends(tree, rod):
        at = SegmentAtQ(station.segment, joint.configuration(q))
        length = float(station.weights.sum())
        left -= length
        rotation, position = _integrated(at, length)
        off = _norm(position - station.sum(at.tangents))
        turned = _norm(ca.vec(rotation - at.rotations[-1])) / np.sqrt(2)
        total = total + off + max(left, 0.0) * turned
    return total / rod.length


def _segment_ends(tree: Tree, rod: PlacedBeam) -> list[tuple[Joint, Any]]:
    """The station at the end of each segment, which owns its coordinates, and its motion."""
    owners = (joint for joint in tree.joints if joint.scaling is None and joint.type.is_modal)
    return [(joint, joint.type) for joint in owners if joint.idx_v in rod.modes]


def _integrated(at: SegmentAtQ, length: float) -> tuple[Matrix, Matrix]:
    """The rotation of the end of a segment, and its position from its root."""
    tangents = at.segment.tangents
    nodes = _lobatto(len(tangents))
    values = np.linalg.inv(legendre.legvander(nodes, len(nodes) - 1))
    points, weights = legendre.leggauss(_POINTS)
    turned: Matrix = ca.DM.eye(3)
    position: Matrix = ca.DM(3, 1)
    for step, begin, end in zip(at.segment.steps, nodes[:-1], nodes[1:], strict=True):
        for part in range(_PARTS):
            for point, weight in zip(points, weights, strict=True):
                here = (part + (point + 1) / 2) / _PARTS
                ahead = legendre.legvander(np.array([begin + here * (end - begin)]), len(nodes) - 1)[0] @ values
                nu = spatial.constant(np.einsum("j,jkn->kn", ahead, tangents)) @ ca.vertcat(at.q, 1)
                turn = Turn.of(_part(step, part / _PARTS, here), at.axis, at.q)
                share = weight / 2 / _PARTS * (end - begin) / 2 * length
                position = position + share * (turned @ turn.rotation @ nu)
            turned = turned @ Turn.of(_part(step, part / _PARTS, (part + 1) / _PARTS), at.axis, at.q).rotation
    return turned, position


def _part(step: MagnusStep, begin: float, end: float) -> MagnusStep:
    """The rotation over a part of a step, from a fraction of it to another."""
    mean, a2, a3 = step.moments
    part, middle = end - begin, (begin + end - 1) / 2
    first = part * (mean - a3 / 12 + a2 * middle + a3 * middle**2)
    second, third = part**2 * (a2 + 2 * a3 * middle), part**3 * a3
    return MagnusStep(np.array([first + third / 12, second, third]))


def _lobatto(count: int) -> Array:
    """Nodes from −1 to 1."""
    inner = np.sort(legendre.legroots(legendre.legder([0.0] * (count - 1) + [1.0])))
    return np.concatenate([[-1.0], inner, [1.0]])


def _norm(x: Matrix) -> Matrix:
    return ca.sqrt(ca.sumsqr(x))

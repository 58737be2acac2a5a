"""The joints of a rod: stations on its segments, which share the coordinates of their segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.rods.segments import Settings
from gdalembert.model.joints import Fixed, Revolute
from gdalembert.model.segment_inertia import SegmentInertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array, frozen

LINK = -1
"""The link that carries the rod, in place of one of its own joints."""


@dataclass(frozen=True, eq=False)
class RodJoints:
    """A rod as joints of a tree.

    Attributes:
        joints: with parents among them, or :data:`LINK`; idx_q and idx_v from 0. Their pseudo-inertias include those of
            the segments whose root they carry, at rest.
        inertias: of the segments, by the joint that carries their root, or :data:`LINK`.
        at: the joint at each abscissa [m], 0.0 being :data:`LINK`.
        stiffness: K (n × n).
    """

    joints: tuple[Joint, ...]
    inertias: Mapping[int, SegmentInertia]
    at: Mapping[float, int]
    stiffness: Array

    @staticmethod
    def of(
        beam: Beam, settings: Settings, placement: Array, bodies: Mapping[float, Array], name: str = "rod"
    ) -> RodJoints:
        """The rod with a station at its tip and wherever something is attached.

        Args:
            beam: with a length.
            settings: of the rod.
            placement: the clamped frame in the link frame (4 × 4).
            bodies: pseudo-inertias (4 × 4) of what is attached, in link axes about the section, by abscissa [m].
            name: of the link, for joints and coordinates.
        """
        joints: list[Joint] = []
        inertias, at, first, carrier = {}, {0.0: LINK}, 0, LINK
        for part, names in zip(settings.along(beam, placement), settings.names, strict=True):
            segment = part.segment()
            inertia = part.inertia(segment)
            if carrier != LINK:
                root = Joint(
                    f"{name} {part.start:g} m", Fixed(), carrier, np.eye(3), np.zeros(3), NO_BODY, first, first
                )
                carrier = len(joints)
                joints.append(with_body(root, inertia.rigid))
            inertias[carrier] = inertia
            carrier_of_next = len(joints)
            for eta in part.stations([*bodies]):
                kind = part.station(segment, eta, tuple(f"{name} {each}" for each in names))
                joint = Joint(f"{name} at {eta:g} m", kind, carrier, np.eye(3), np.zeros(3), NO_BODY, first, first)
                shared = joint if len(joints) == carrier_of_next else replace(joint, scaling=1.0, offset=0.0)
                at[eta] = len(joints)
                joints.append(with_body(shared, bodies.get(eta, NO_BODY)))
            first, carrier = first + inertia.modes, carrier_of_next
        return RodJoints(tuple(joints), inertias, at, block_diagonal([each.stiffness for each in inertias.values()]))


def clamped_mass_matrix(rod: RodJoints) -> Array:
    """M (n × n) of a rod alone at q = 0, clamped at its root."""
    n = len(rod.stiffness)
    base = Joint("base", Revolute((0.0, 0.0, 1.0)), -1, np.eye(3), np.zeros(3), NO_BODY, 0, 0)
    base = with_body(base, rod.inertias[LINK].rigid)
    stations = [
        replace(each, parent=each.parent + 1, idx_q=each.idx_q + 1, idx_v=each.idx_v + 1) for each in rod.joints
    ]
    tree = Tree(
        name="rod",
        nq=n + 1,
        nv=n + 1,
        joints=(base, *stations),
        links=(0,),
        joint_names=("base",),
        armature=np.zeros(n + 1),
        damping=np.zeros(1),
        friction=np.zeros(1),
        gravity=np.zeros(3),
        frames=(),
        modal_inertias=tuple((k + 1, inertia) for k, inertia in rod.inertias.items()),
    )
    whole: Array = ca.DM(mass_matrix(tree, ca.DM.zeros(n + 1))).full()
    return whole[1:, 1:]


NO_BODY = frozen(np.zeros((4, 4)))


def with_body(joint: Joint, body: Array) -> Joint:
    """The joint with a body added to its link, in the same axes (4 × 4)."""
    return replace(joint, pseudo_inertia=frozen(joint.pseudo_inertia + body))


def block_diagonal(blocks: Sequence[Array]) -> Array:
    """A matrix of square blocks."""
    ends = np.cumsum([0, *(len(block) for block in blocks)])
    whole = np.zeros((ends[-1], ends[-1]))
    for block, start, end in zip(blocks, ends[:-1], ends[1:], strict=True):
        whole[start:end, start:end] = block
    return frozen(whole)

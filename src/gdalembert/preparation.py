"""Preparation of a tree for recursions: link frames of our own, and inertia moved towards the base.

Nothing of it shows outside: q, v, a, tau, M, C, g are those of the tree that is given.

**Frames.** A link frame may be turned so that z lies on the joint's axis; that of a sliding link may also be shifted.

**Inertia** (regrouping of base parameters). Points on the axis of a revolute joint belong to both of its links: the
line mass (m, h_z, J_zz) moves to the parent, and off the robot where the parent is the universe. A sliding link turns
with its parent: its second moments about its centre of mass move there, m alone is left behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from gdalembert import gauge, spatial
from gdalembert.cleaning import clean_rotation
from gdalembert.joints import Helical, JointType, Prismatic, Revolute, Spherical
from gdalembert.spatial import Matrix
from gdalembert.tree import Array, Joint, Tree, frozen


@dataclass(frozen=True, eq=False)
class PreparedJoint(Joint):
    """A joint in frames of our own.

    Attributes:
        body: the pseudo-inertia (4 × 4) of its link, which is no longer that of a single body.
        angle: what q is ahead of the joint's own angle.
        keeps: whether the link keeps the axes of its joint (:mod:`gdalembert.gauge`).
    """

    body: Array = field(default_factory=lambda: np.zeros((4, 4)))
    angle: float = 0.0
    keeps: bool = False

    @property
    def pseudo_inertia(self) -> ca.DM:
        return spatial.constant(self.body)

    def configuration(self, q: Matrix) -> Matrix:
        own = super().configuration(q)
        return self.type.integrate(own, ca.DM(self.angle)) if self.angle else own


@lru_cache(maxsize=64)
def prepare(tree: Tree, tolerance: float) -> Tree:
    """The same robot in frames of our own, with regrouped inertia.

    Args:
        tree: the robot.
        tolerance: of the cleaning of the new rotations, as in :func:`~gdalembert.cleaning.clean_tree`.
    """
    tolerance = max(tolerance, 1e-15)
    parents = [joint.parent for joint in tree.joints]
    types: list[JointType] = []
    placements: list[Array] = []
    bodies: list[Array] = []
    frames: list[Array] = []
    for i, joint in enumerate(tree.joints):
        parent = frames[joint.parent] if joint.parent >= 0 else np.eye(4)
        placement = np.linalg.inv(parent) @ _homogeneous(joint.rotation, joint.translation)
        siblings = [placements[k][:3, 2] for k in range(i) if parents[k] == joint.parent]
        own, joint_type = _own_frame(joint, placement, siblings, tolerance, leaf=i not in parents)
        placement = placement @ own
        placement[:3, :3] = clean_rotation(placement[:3, :3], tolerance)
        back = np.linalg.inv(own)
        types.append(joint_type)
        frames.append(own)
        placements.append(placement)
        bodies.append(back @ joint.pseudo_inertia.full() @ back.T)

    for i, joint in reversed(list(enumerate(tree.joints))):
        moved = _shared_with_parent(joint, bodies[i])
        bodies[i] = bodies[i] - moved
        if joint.parent >= 0:
            bodies[joint.parent] = bodies[joint.parent] + placements[i] @ moved @ placements[i].T

    links = [
        gauge.Link(joint.parent, placement, body, isinstance(joint.type, Revolute))
        for joint, placement, body in zip(tree.joints, placements, bodies, strict=True)
    ]
    gauges = gauge.choose(links)
    prepared = []
    for joint, joint_type, link, own_gauge in zip(tree.joints, types, links, gauges, strict=True):
        above = gauges[joint.parent] if joint.parent >= 0 else gauge.AS_GIVEN
        placement, angle = gauge.placed(above, link.placement, own_gauge)
        if not isinstance(joint_type, Revolute):
            placement, angle = gauge.without_rounding(above.inverse, link.placement, np.eye(4)), 0.0
        placement[:3, :3] = clean_rotation(placement[:3, :3], tolerance)
        prepared.append(
            PreparedJoint(
                **{
                    **vars(joint),
                    "type": joint_type,
                    "rotation": frozen(placement[:3, :3]),
                    "translation": frozen(placement[:3, 3]),
                    "body": frozen(gauge.without_rounding(own_gauge.inverse, link.body, own_gauge.inverse.T)),
                    "angle": angle * joint_type.axis[2] if isinstance(joint_type, Revolute) else 0.0,
                    "keeps": own_gauge.keeps,
                }
            )
        )
    return in_own_unit(replace(tree, joints=tuple(prepared)))


def in_own_unit(tree: Tree) -> Tree:
    """The same robot with the length that occurs most often as the unit of length, if nothing in it slides.

    A coordinate of 1 needs no multiplication. Torques do not change: h = ∫ x is multiplied by the unit and m by its
    square, while J is what it was.
    """
    lengths = [float(x) for joint in tree.joints if joint.parent >= 0 for x in np.abs(joint.translation) if x]
    if not lengths or any(not isinstance(joint.type, Revolute | Spherical) for joint in tree.joints):
        return tree
    unit = max(lengths, key=lambda x: sum(np.isclose(lengths, x, rtol=4e-16, atol=0)))
    scale = np.diag([1, 1, 1, unit])

    def scaled(x: Array) -> Array:
        whole = np.isclose(np.abs(x), unit, rtol=4e-16, atol=0)
        return frozen(np.where(whole, np.sign(x), x / unit))

    joints = [
        replace(joint, translation=scaled(joint.translation), body=frozen(scale @ joint.pseudo_inertia.full() @ scale))
        for joint in tree.joints
    ]
    return replace(tree, joints=tuple(joints), gravity=frozen(tree.gravity / unit))


def _own_frame(
    joint: Joint, placement: Array, siblings: list[Array], tolerance: float, *, leaf: bool
) -> tuple[Array, JointType]:
    """Our frame in the link frame (4 × 4), and the joint's type in it: z on the axis, and the way of the parent's z
    where both are parallel; the origin of a sliding leaf at its centre of mass."""
    own = np.eye(4)
    if not isinstance(joint.type, Revolute | Prismatic | Helical):
        return own, joint.type
    axis = np.array(joint.type.axis)
    z = placement[:3, :3] @ axis
    others = [np.array([0, 0, 1]), *siblings]
    sense = -1.0 if any(np.abs(z + other).max() <= tolerance for other in others) else 1.0
    own[:3, :3] = _turned_to(sense * axis)
    if isinstance(joint.type, Prismatic) and leaf:
        own[:3, 3] = joint.com
    return own, replace(joint.type, axis=(0.0, 0.0, sense))


def _turned_to(axis: Array) -> Array:
    """A rotation whose z is the axis; a permutation of axes where it can be one."""
    if np.count_nonzero(axis) == 1:
        k = int(np.flatnonzero(axis)[0])
        x = np.eye(3)[(k + 1) % 3]
    else:
        x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _shared_with_parent(joint: Joint, body: Array) -> Array:
    """The part of a link's pseudo-inertia that moves with the parent as well."""
    moved = np.zeros((4, 4))
    if isinstance(joint.type, Revolute):
        on_axis = np.ix_((2, 3), (2, 3))
        moved[on_axis] = body[on_axis]
    elif isinstance(joint.type, Prismatic) and body[3, 3] > 0:
        moved[:3, :3] = body[:3, :3] - np.outer(body[:3, 3], body[:3, 3]) / body[3, 3]
    return moved


def _homogeneous(rotation: Array, translation: Array) -> Array:
    return np.block([[rotation, translation[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

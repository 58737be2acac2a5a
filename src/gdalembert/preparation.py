"""Preparation of a tree for recursions: link frames of our own, and inertia moved towards the base.

Nothing of it shows outside: q, v, a, tau, M, C, g are those of the tree that is given.

**Frames.** A link frame may be turned so that z lies on the joint's axis; that of a sliding link may also be shifted.

**Inertia** (regrouping of base parameters). Points on the axis of a revolute joint belong to both of its links: the
line mass (m, h_z, J_zz) moves to the parent, and off the robot where the parent is the universe. A sliding link turns
with its parent: its second moments about its centre of mass move there, m alone is left behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.cleaning import clean_rotation
from gdalembert.joints import Helical, JointType, Prismatic, Revolute
from gdalembert.tree import Array, Joint, Tree, frozen


@dataclass(frozen=True, eq=False)
class PreparedJoint(Joint):
    """A joint whose link has the pseudo-inertia ``body`` (4 × 4), which is no longer that of a single body."""

    body: Array = field(default_factory=lambda: np.zeros((4, 4)))

    @property
    def pseudo_inertia(self) -> ca.DM:
        return spatial.constant(self.body)


def prepare(tree: Tree, tolerance: float) -> Tree:
    """The same robot in frames of our own, with regrouped inertia.

    Args:
        tree: the robot.
        tolerance: of the cleaning of the new rotations, as in :func:`~gdalembert.cleaning.clean_tree`.
    """
    parents = {joint.parent for joint in tree.joints}
    frames = [_own_frame(joint, leaf=i not in parents) for i, joint in enumerate(tree.joints)]
    placements, bodies = [], []
    for joint, own in zip(tree.joints, frames, strict=True):
        parent = frames[joint.parent] if joint.parent >= 0 else np.eye(4)
        placement = np.linalg.inv(parent) @ _homogeneous(joint.rotation, joint.translation) @ own
        placement[:3, :3] = clean_rotation(placement[:3, :3], max(tolerance, 1e-15))
        placements.append(placement)
        back = np.linalg.inv(own)
        bodies.append(back @ joint.pseudo_inertia.full() @ back.T)

    for i, joint in reversed(list(enumerate(tree.joints))):
        moved = _shared_with_parent(joint, bodies[i])
        bodies[i] = bodies[i] - moved
        if joint.parent >= 0:
            bodies[joint.parent] = bodies[joint.parent] + placements[i] @ moved @ placements[i].T

    return replace(
        tree,
        joints=tuple(
            PreparedJoint(
                **{
                    **vars(joint),
                    "type": _about_z(joint.type),
                    "rotation": frozen(placement[:3, :3]),
                    "translation": frozen(placement[:3, 3]),
                    "body": frozen(body),
                }
            )
            for joint, placement, body in zip(tree.joints, placements, bodies, strict=True)
        ),
    )


def _about_z(joint_type: JointType) -> JointType:
    if isinstance(joint_type, Revolute | Prismatic | Helical):
        return replace(joint_type, axis=(0.0, 0.0, 1.0))
    return joint_type


def _own_frame(joint: Joint, *, leaf: bool) -> Array:
    """Our frame in the link frame, 4 × 4: z on the axis; the origin of a sliding leaf at its centre of mass."""
    own = np.eye(4)
    if isinstance(joint.type, Revolute | Prismatic | Helical):
        own[:3, :3] = _turned_to(np.array(joint.type.axis))
    if isinstance(joint.type, Prismatic) and leaf:
        own[:3, 3] = joint.com
    return own


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

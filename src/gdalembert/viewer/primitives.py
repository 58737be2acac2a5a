"""Bodies for a robot without any: cylinders along its links, boxes at their ends, joints about their axes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import coal  # type: ignore[import-untyped,unused-ignore]
import numpy as np
import pinocchio as pin

from gdalembert.model.joints import JointType
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array, turned_to

Color = tuple[float, float, float]

PALETTE: tuple[Color, ...] = (
    (0.15, 0.39, 0.67),
    (0.90, 0.49, 0.13),
    (0.20, 0.60, 0.38),
    (0.76, 0.25, 0.30),
    (0.49, 0.38, 0.69),
    (0.09, 0.62, 0.66),
    (0.85, 0.65, 0.13),
    (0.79, 0.42, 0.62),
)
"""Colours of the links, in turn."""
DARK: Color = (0.25, 0.27, 0.31)
"""Colour of joints and of the base."""

_THIN = 0.022
"""Radius of a link, relative to the extent of the robot."""
FOOT = 0.045
"""Height of the foot under a robot, relative to its extent."""
_SMALL = 1e-3
"""Points at a smaller distance, relative to the extent of the robot, are the same."""


def color_of(joint: int) -> Color:
    """The colour of the link that a joint moves."""
    return PALETTE[joint % len(PALETTE)] if joint >= 0 else DARK


def extent(tree: Tree, placements: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The lowest and the highest corner (3) [m] of the box around all joints, frames and centres of mass."""
    points = [np.zeros(3), *(p for _, p in placements)]
    for frame in tree.frames:
        r, p = placements[frame.joint] if frame.joint >= 0 else (np.eye(3), np.zeros(3))
        points.append(p + r @ frame.translation)
    for joint, (r, p) in zip(tree.joints, placements, strict=True):
        points.append(p + r @ _body(joint)[1])
    return np.min(points, axis=0), np.max(points, axis=0)


def plain(name: str) -> str:
    """A name without slashes, which viser takes for a path of nodes."""
    return name.replace("/", "_")


def _object(
    name: str, joint: int, geometry: coal.ShapeBase, color: Color, at: pin.SE3 | None = None
) -> pin.GeometryObject:
    """A body in a link frame; joint −1 is the universe, as in ``Tree.joints``."""
    found = pin.GeometryObject(plain(name), joint + 1, 0, at or pin.SE3.Identity(), geometry)
    found.meshColor = np.array([*color, 1.0])
    return found


def primitives(
    tree: Tree, size: float, *, roots: Mapping[int, Array] | None = None, leave_out: Collection[int] = ()
) -> Iterator[pin.GeometryObject]:
    """The bodies of a robot of an extent [m].

    A link is a cylinder from its joint to each child joint, and to the root of a beam on it, if ``roots`` has one. The
    last link of a branch is a cylinder to its farthest frame, and at its centre of mass the uniform box with its
    inertia, or a sphere if there is no such box. A revolute joint is a short cylinder about its axis, a prismatic joint
    a box along it, any other joint a sphere; floating joints are not drawn. A robot with a fixed base stands on a foot.
    Joints to ``leave_out`` are not drawn, nor are their links and beams.
    """
    thin = _THIN * size
    if not any(joint.parent < 0 and _leaves_free(joint.type) for joint in tree.joints):
        below = pin.SE3(np.eye(3), np.array([0, 0, -FOOT * size / 2]))
        yield _object("base foot", -1, coal.Cylinder(3.2 * thin, FOOT * size), DARK, below)
    for i in range(-1, len(tree.joints)):
        if i in leave_out:
            continue
        name = tree.joints[i].name if i >= 0 else "base"
        if i >= 0:
            yield from _of_joint(tree.joints[i], i, thin)
        ends, is_leaf = _ends(tree, i, leave_out)
        if roots is not None and i in roots:
            ends.append(roots[i])
        for k, end in enumerate(ends):
            if (length := float(np.linalg.norm(end))) > _SMALL * size:
                along = pin.SE3(turned_to(end / length), end / 2)
                yield _object(f"{name} link {k}", i, coal.Cylinder(thin, length), color_of(i), along)
        if is_leaf:
            yield _leaf(tree.joints[i], i, size)


def _ends(tree: Tree, i: int, leave_out: Collection[int]) -> tuple[list[Array], bool]:
    """The end points of a link's cylinders, each once, and whether it is the last link of its branch."""
    children = [j for k, j in enumerate(tree.joints) if j.parent == i and k not in leave_out]
    frames = [frame.translation for frame in tree.frames if frame.joint == i]
    is_leaf = i >= 0 and not children
    if is_leaf and frames:
        ends = [max(frames, key=lambda end: float(np.linalg.norm(end)))]
    else:
        ends = [joint.translation for joint in children if joint.translation.any()]
    unique = {tuple(np.round(end, 9) + 0.0): end for end in ends}
    return list(unique.values()), is_leaf


def _of_joint(joint: Joint, i: int, thin: float) -> Iterator[pin.GeometryObject]:
    if not joint.type.is_actuated or _leaves_free(joint.type):
        return
    axis = joint.type.axis
    turned = np.eye(3) if axis is None else turned_to(np.asarray(axis, dtype=float))
    if axis is None:
        geometry: coal.ShapeBase = coal.Sphere(1.8 * thin)
    elif joint.type.is_prismatic:
        geometry = coal.Box(2.6 * thin, 2.6 * thin, 4 * thin)
    else:
        geometry = coal.Cylinder(1.5 * thin, 3.6 * thin)
    yield _object(f"{joint.name} joint", i, geometry, DARK, pin.SE3(turned, np.zeros(3)))


def _leaves_free(joint_type: JointType) -> bool:
    """Whether the joint translates its link in a plane or in space."""
    return joint_type.nv > 1 and any(joint_type.linear)


def _leaf(joint: Joint, i: int, size: float) -> pin.GeometryObject:
    mass, com, inertia = _body(joint)
    moments, axes = np.linalg.eigh(inertia)
    if mass <= 0 or moments.max() <= 0:
        sphere = coal.Sphere(1.5 * _THIN * size)
        return _object(f"{joint.name} body", i, sphere, color_of(i), pin.SE3(np.eye(3), com))
    squares = 6 * (moments.sum() - 2 * moments) / mass
    sides = np.clip(np.sqrt(np.maximum(squares, 0)), 2 * _THIN * size, 0.2 * size)
    if np.linalg.det(axes) < 0:
        axes = -axes
    return _object(f"{joint.name} body", i, coal.Box(*sides), color_of(i), pin.SE3(axes, com))


def _body(joint: Joint) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and the inertia tensor about it, of whatever says what the joint's body weighs."""
    body = joint.pseudo_inertia
    mass = float(body[3, 3])
    com = body[:3, 3] / mass if mass > 0 else np.zeros(3)
    second = body[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second

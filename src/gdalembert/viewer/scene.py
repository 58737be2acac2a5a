"""The content of the picture, and how it moves: bodies, tubes along flexible links, frames; their placements.

A robot without bodies of its own gets cylinders along its links, boxes at their ends, joints about their axes.

``ViserVisualizer`` shows a ``pin.Model``. A proxy model stands for a ``Tree``: it has a joint for each joint of the
tree, with placements from the tree's own graph. So rigid robots and flexible arms are shown in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import coal  # type: ignore[import-untyped,unused-ignore]  # typed in some wheels
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frames import find_frame
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.flexible.beams.beam import Beam, Rectangle, Tube
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.centreline import centreline
from gdalembert.flexible.flexible_arm import Arm, require_flexible_arm
from gdalembert.flexible.flexible_link import Links
from gdalembert.flexible.placed_links import links_of
from gdalembert.model.configuration import check_unit_lengths, neutral, projected, unit_blocks
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import JointType
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.ocp.joined_solution import PhasesSolution
from gdalembert.ocp.solution import Solution
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import instance, number, numbers, table
from gdalembert.spatial.arrays import Array, turned_to
from gdalembert.spatial.functions import function, symbols

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
_AROUND = 24
_SECTIONS = 41
"""Number of sections of a tube along a flexible link."""
_BEAM, _SLIDE = 0.016, 0.012
"""Radius of a beam with an unknown section, relative to its length; and of a slide, relative to the robot's extent."""
_NEAR = 0.09
"""Frames at a smaller distance, relative to the robot's extent, share a label."""
Interpolant = Callable[[float], Array]
"""t [s] → q (nq)."""


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
    name: str, joint: int, geometry: coal.ShapeBase, color: Color, body_to_link: pin.SE3 | None = None
) -> pin.GeometryObject:
    """A body in a link frame; joint −1 is the universe, as in ``Tree.joints``."""
    body = pin.GeometryObject(plain(name), joint + 1, 0, body_to_link or pin.SE3.Identity(), geometry)
    body.meshColor = np.array([*color, 1.0])
    return body


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
    """True if the joint translates its link in a plane or in space."""
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
    """Mass, centre of mass, and the inertia tensor about it, of the body of a joint."""
    # Not joint.com and joint.inertia, which are rounded to the digits that numbers of a model have: sides are roots.
    body = joint.pseudo_inertia
    mass = float(body[3, 3])
    com = body[:3, 3] / mass if mass > 0 else np.zeros(3)
    second = body[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second


def _circles(radii: Array) -> Array:
    angles = 2 * np.pi * np.arange(_AROUND) / _AROUND
    return np.asarray(radii[:, None, None] * np.column_stack([np.cos(angles), np.sin(angles)]))


def _rectangles(widths: Array, heights: Array) -> Array:
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) / 2
    return np.asarray(corners * np.stack([widths, heights], axis=-1)[:, None, :])


def profile_of(beam: Beam | Nodes, abscissae: Array, radius: float) -> Array:
    """The outlines (n × m × 2) of the cross-sections of a beam, counter-clockwise about x: y and z [m].

    A beam with a cross-section has its own. A beam given by stiffness and inertia has those of the solid bar with the
    same radii of gyration: circles if both are the same, else rectangles. Any other beam has circles of the radius.
    """
    if isinstance(beam, Beam):
        if isinstance(beam.section, Tube):
            return _circles(beam.section.radii(abscissae)[0])
        if isinstance(beam.section, Rectangle):
            return _rectangles(*beam.section.sides(abscissae))
        # ∫σ_z² dA / A and ∫σ_y² dA / A [m²]
        moments, area = beam.section_inertias(abscissae), beam.along("mass_per_length", abscissae)
        if min(np.min(j) for j in moments) <= 0 and None not in (beam.EA, beam.EI_y, beam.EI_z):
            moments = beam.along("EI_y", abscissae), beam.along("EI_z", abscissae)
            area = beam.along("EA", abscissae)
        i_y, i_z = (j / area for j in moments)
        if min(i_y.min(), i_z.min()) > 0:
            return _circles(2 * np.sqrt(i_y)) if np.allclose(i_y, i_z) else _rectangles(*np.sqrt([12 * i_z, 12 * i_y]))
    return _circles(np.full(len(abscissae), radius))


@dataclass(frozen=True, eq=False)
class SweptTube:
    """A tube along a line that depends on q.

    Attributes:
        name: unique. ``joint``: index of the link in ``Tree.joints``, for its colour.
        line: (q) → (positions, rotations) of n sections, 3 × n and 3 × 3n, x along the tube.
        profile: the outlines of these sections (n × m × 2).
    """

    name: str
    joint: int
    line: ca.Function
    profile: Array

    @property
    def is_round(self) -> bool:
        """True if the sections have no corners."""
        return len(self.profile[0]) == _AROUND

    @property
    def faces(self) -> Array:
        """Triangles (k × 3), counter-clockwise from outside: the wall, then the ends with vertices of their own."""
        n, m = self.profile.shape[:2]
        wall = [(k * m + i, k * m + (i + 1) % m) for k in range(n - 1) for i in range(m)]
        triangles = [face for a, b in wall for face in ((a, b, b + m), (a, b + m, a + m))]
        first, last = n * m, (n + 1) * m
        for i in range(1, m - 1):
            triangles += [(first, first + i + 1, first + i), (last, last + i, last + i + 1)]
        return np.array(triangles)

    def vertices(self, q: Array) -> Array:
        """Vertices (k × 3) [m] at a configuration (nq)."""
        positions, rotations = (x.full() for x in self.line(q))
        axes = rotations.T.reshape(-1, 3, 3)[:, 1:]
        wall = positions.T[:, None, :] + np.einsum("kia,kab->kib", self.profile, axes)
        return np.concatenate([wall.reshape(-1, 3), wall[0], wall[-1]])


class Scene:
    """A robot, ready to be shown.

    Attributes:
        tree: the robot. ``modes``: the entries of q that are modal coordinates.
        model, data: the proxy model; joint i of the tree is joint i + 1 of it. ``visual_model``: its bodies.
        tubes: flexible links and slides. ``labels``: text of each frame of the proxy model, or empty.
        neutral: the neutral configuration (nq). ``size``: extent of the robot there [m]. ``ground``: height of the
            ground below it [m].

    Args:
        robot: a ``pin.Model``, or any :class:`~gdalembert.Dynamics`.
        links: the flexible links of an arm that was pickled or copied.
        visual_model: the bodies of a ``pin.Model``; ``None`` for cylinders and boxes of our own.
        frames: names of frames to show; ``True`` for all, one for each point of a link.
    """

    def __init__(
        self,
        robot: pin.Model | Dynamics,
        *,
        links: Links | None = None,
        visual_model: pin.GeometryModel | None = None,
        frames: bool | Sequence[str] = False,
    ) -> None:
        self.tree = robot.tree if isinstance(robot, Dynamics) else read_tree(robot)
        s = symbols(q=self.tree.nq)
        placed = self.tree.placements(s["q"])
        self._placements = function("placements", s, {"T": ca.horzcat(*(ca.horzcat(r, p) for r, p in placed))})
        self.neutral = neutral(self.tree).full().ravel()
        low, high = extent(self.tree, self.placements(self.neutral))
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.ground = float(low[2]) - FOOT * self.size
        self.tubes: list[SweptTube] = list(_slides(self.tree, self.size))
        self.modes = slice(0, 0)
        roots: dict[int, Array] = {}
        hidden: list[int] = []
        if isinstance(robot, Dynamics) and robot.modes.start < robot.tree.nv:
            robot = require_flexible_arm("Viewer", robot)
            behind = self.tree.nq - self.tree.nv
            self.modes = slice(robot.modes.start + behind, robot.modes.stop + behind)
            hidden = [len(self.tree.joints) - 1 - k for k in range(len(robot.flexibility.rotors))]
            for beam in robot.flexibility.links.values():
                root = self.tree.frames[find_frame(self.tree, beam.root)]
                roots[root.joint] = root.translation
            self.tubes += _beams(robot, links_of(robot, links))
        elif links:
            raise ArgumentError("links: only a FlexibleArm has flexible links; leave it out")
        self.model = pin.Model()
        for i in range(len(self.tree.joints)):
            # Each on the world, by its placement: a chain of joints would need q of Pinocchio for flexible links.
            self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"joint {i}")
        self.labels = [""]
        for frame, label in _shown(self.tree, frames, self.placements(self.neutral), self.size):
            name = f"{len(self.labels)} {plain(frame.name)}"
            frame_to_link = pin.SE3(frame.rotation, frame.translation)
            self.model.addFrame(pin.Frame(name, frame.joint + 1, 0, frame_to_link, pin.FrameType.OP_FRAME))
            self.labels.append(label)
        self.data = self.model.createData()
        self.visual_model = pin.GeometryModel()
        if visual_model is None:
            for body in primitives(self.tree, self.size, roots=roots, leave_out=hidden):
                self.visual_model.addGeometryObject(body)
        else:
            self._adopt(visual_model)

    def _adopt(self, visual_model: pin.GeometryModel) -> None:
        instance("visual_model", visual_model, pin.GeometryModel, "a pin.GeometryModel")
        for k, body in enumerate(visual_model.geometryObjects):
            if body.parentJoint > len(self.tree.links):
                raise ArgumentError(
                    f"visual_model: {body.name!r} is on joint {body.parentJoint} of a model with "
                    f"{len(self.tree.links)}; give the bodies of this model"
                )
            joint = self.tree.links[body.parentJoint - 1] if body.parentJoint else -1
            shown_body = body.copy()
            shown_body.name, shown_body.parentJoint, shown_body.parentFrame = f"{k} {plain(body.name)}", joint + 1, 0
            if not body.overrideMaterial:
                shown_body.meshColor = np.array([*color_of(joint), 1.0])
            self.visual_model.addGeometryObject(shown_body)

    def placements(self, q: Array) -> list[tuple[Array, Array]]:
        """The rotation R (3 × 3) and the position p (3) [m] of each link."""
        t = self._placements(q).full().reshape(3, -1, 4)
        return [(t[:, i, :3], t[:, i, 3]) for i in range(t.shape[1])]

    def place(self, q: Array) -> None:
        """Set the placements of the proxy model's joints at q."""
        for i, (r, p) in enumerate(self.placements(q)):
            self.data.oMi[i + 1] = pin.SE3(r, p)

    def exaggerated(self, q: Array, scale: float) -> Array:
        """The configuration with all modal coordinates scaled."""
        q = q.copy()
        q[self.modes] *= scale
        return q


def _slides(tree: Tree, size: float) -> list[SweptTube]:
    """A tube from the frame of each prismatic joint to its link."""
    tubes = []
    s = symbols(q=tree.nq)
    placed = tree.placements(s["q"])
    for i, joint in enumerate(tree.joints):
        if not joint.type.is_prismatic:
            continue
        r, p = placed[joint.parent] if joint.parent >= 0 else (ca.DM.eye(3), ca.DM.zeros(3, 1))
        axes = placed[i][0] @ ca.DM(turned_to(np.asarray(joint.type.axis))[:, [2, 0, 1]])
        positions = ca.horzcat(p + r @ ca.DM(joint.translation), placed[i][1])
        line = function("slide", s, {"positions": positions, "rotations": ca.horzcat(axes, axes)})
        tubes.append(SweptTube(f"{plain(joint.name)} slide", i, line, _circles(np.full(2, _SLIDE * size))))
    return tubes


def _beams(arm: Arm, links: Links) -> list[SweptTube]:
    tubes = []
    for name, beam in arm.flexibility.links.items():
        abscissae = np.linspace(0, beam.length, _SECTIONS)
        line = centreline(arm, name, abscissae, links=links)
        profile = profile_of(links[name].beam, abscissae, _BEAM * beam.length)
        root = arm.tree.frames[find_frame(arm.tree, beam.root)]
        tubes.append(SweptTube(f"{plain(name)} beam", root.joint, line, profile))
    return tubes


def _shown(
    tree: Tree, frames: bool | Sequence[str], placements: list[tuple[Array, Array]], size: float
) -> list[tuple[Frame, str]]:
    """The frames to show, and their labels; frames that are too close for two labels share one."""
    if isinstance(frames, str):
        raise ArgumentTypeError(f"frames: got {shown(frames)}; give True, False or a list of names")
    if not frames:
        return []
    chosen: list[Frame] = []
    if frames is True:
        for frame in tree.frames:
            known = (f for f in chosen if f.joint == frame.joint)
            if frame.joint >= 0 and not any(np.allclose(f.translation, frame.translation) for f in known):
                chosen.append(frame)
    else:
        chosen = [tree.frames[find_frame(tree, name)] for name in frames]
    labels = [""] * len(chosen)
    places: list[tuple[int, Array]] = []
    for k, frame in enumerate(chosen):
        r, p = placements[frame.joint] if frame.joint >= 0 else (np.eye(3), np.zeros(3))
        origin = p + r @ frame.translation
        near = next((j for j, there in places if np.linalg.norm(origin - there) <= _NEAR * size), None)
        if near is None:
            places.append((k, origin))
            labels[k] = frame.name
        else:
            labels[near] += f", {frame.name}"
    return list(zip(chosen, labels, strict=True))


def motion_of(tree: Tree, motion: Any, context: str = "play") -> tuple[float, float, Interpolant]:
    """Start [s] and end [s] of a motion, and its interpolant on the configuration space.

    ``motion``: a :class:`~gdalembert.simulation.result.Simulation`, a :class:`~gdalembert.ocp.Solution`, a
    :class:`~gdalembert.ocp.PhasesSolution`, or a pair (t, q) of increasing times (N) [s] and configurations (N × nq).
    ``context`` begins the messages of errors.
    """
    if isinstance(motion, Simulation):
        if motion.q.shape[1] != tree.nq:
            raise ArgumentError(
                f"{context}: the motion has q of {motion.q.shape[1]} numbers; {tree.name} has {tree.nq}"
            )
        return float(motion.t[0]), float(motion.t[-1]), lambda time: motion.at(time)[0]
    if isinstance(motion, Solution | PhasesSolution):
        # Phases meet at one time, before and after an impact: of both the first is shown.
        later = np.append(True, np.diff(motion.t) > 0)
        motion = (motion.t[later], motion.q[later])
    if not isinstance(motion, tuple | list) or len(motion) != 2:
        raise ArgumentTypeError(
            f"{context}: expected a Simulation, a Solution or a pair (t, q), got {type(motion).__name__}"
        )
    t = numbers(f"{context}: t", motion[0])
    if t.ndim != 1 or t.size < 2:
        raise ArgumentError(f"{context}: t has shape {t.shape}; give at least two times (N,) [s]")
    q = table(f"{context}: q of {tree.name}", motion[1], tree.nq, t.size)
    if np.any(np.diff(t) <= 0):
        k = int(np.argmax(np.diff(t) <= 0))
        raise ArgumentError(f"{context}: t: {t[k + 1]:g} s comes after {t[k]:g} s; give increasing times")
    check_unit_lengths(f"{context}: q", q, tree)
    q = projected(q, unit_blocks(tree))
    kinematics, s = Kinematics(tree, clean=0), symbols(q0=tree.nq, q1=tree.nq, s=1)
    way = s["s"] * kinematics.difference(s["q0"], s["q1"])
    interpolate = function("interpolation", s, {"q": kinematics.integrate(s["q0"], way)})

    def at(time: float) -> Array:
        k = min(int(np.searchsorted(t, time, side="right")) - 1, t.size - 2)
        return np.asarray(interpolate(q[k], q[k + 1], (time - t[k]) / (t[k + 1] - t[k])).full().ravel())

    return float(t[0]), float(t[-1]), at


def frame_times(start: float, end: float, speed: float, fps: float, context: str = "play") -> tuple[Array, Array]:
    """Times of the frames after the first one, by the clock and in the motion [s]."""
    speed, fps = number(f"{context}: speed", speed), number(f"{context}: fps", fps, "1/s")
    last = (end - start) / speed
    clock = np.append(np.arange(0, last * (1 - ROUND_OFF), 1 / fps), last)
    return clock, np.append(start + speed * clock[:-1], end)

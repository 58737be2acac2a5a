"""The content of the picture: bodies that move with joints, tubes along flexible links, frames; and their placements.

``ViserVisualizer`` shows a ``pin.Model``. A proxy model stands for a ``Tree``: it has a joint for each joint of the
tree, with placements from the tree's own graph. So rigid robots and flexible arms are shown in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frames import find_frame
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.centreline import centreline, links_of
from gdalembert.flexible.flexible_arm import Arm, require_flexible_arm
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.model.configuration import neutral
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arrays import Array, turned_to
from gdalembert.spatial.functions import function, symbols
from gdalembert.viewer.primitives import FOOT, Primitive, color_of, extent, primitives
from gdalembert.viewer.tube import Profile, SweptTube, profile_of

_SECTIONS = 41
"""Number of sections of a tube along a flexible link."""
_BEAM, _SLIDE = 0.016, 0.012
"""Radius of a beam with an unknown section, relative to its length; and of a slide, relative to the robot's extent."""
_NEAR = 0.09
"""Frames at a smaller distance, relative to the robot's extent, share a label."""


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

    Raises:
        ArgumentTypeError: if the robot is none of these, or ``frames`` are not names.
        ArgumentError: if flexible links do not fit the arm, or bodies do not fit the model.
        UnknownNameError: if no frame has a name.
    """

    def __init__(
        self,
        robot: pin.Model | Dynamics,
        *,
        links: Mapping[str, FlexibleLink] | None = None,
        visual_model: pin.GeometryModel | None = None,
        frames: bool | Sequence[str] = False,
    ) -> None:
        self.tree = robot.tree if isinstance(robot, Dynamics) else read_tree(robot, dynamics=False)
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
            rotors = [len(self.tree.joints) - 1 - k for k in range(len(robot.assembly.rotors))]
            hidden = [*rotors, *_particles(robot.tree, robot.assembly)]
            for beam in robot.assembly.beams.values():
                root = self.tree.frames[find_frame(self.tree, beam.root)]
                roots[root.joint] = root.translation
            self.tubes += _beams(robot, links_of(robot, links))
        elif links:
            raise ArgumentError("links: only a FlexibleArm has flexible links; leave it out")
        self.model = pin.Model()
        for i in range(len(self.tree.joints)):
            self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"joint {i}")
        self.labels = [""]
        for frame, label in _shown(self.tree, frames, self.placements(self.neutral), self.size):
            name = f"{len(self.labels)} {_plain(frame.name)}"
            at = pin.SE3(frame.rotation, frame.translation)
            self.model.addFrame(pin.Frame(name, frame.joint + 1, 0, at, pin.FrameType.OP_FRAME))
            self.labels.append(label)
        self.data = self.model.createData()
        self.visual_model = pin.GeometryModel()
        if visual_model is None:
            for each in primitives(self.tree, self.size, roots=roots, leave_out=hidden):
                self.visual_model.addGeometryObject(_object(each))
        else:
            self._adopt(visual_model)

    def _adopt(self, given: pin.GeometryModel) -> None:
        if not isinstance(given, pin.GeometryModel):
            raise ArgumentTypeError(f"visual_model: expected a pin.GeometryModel, got {type(given).__name__}")
        for k, each in enumerate(given.geometryObjects):
            if each.parentJoint > len(self.tree.links):
                raise ArgumentError(
                    f"visual_model: {each.name!r} is on joint {each.parentJoint} of a model with "
                    f"{len(self.tree.links)}; give the bodies of this model"
                )
            joint = self.tree.links[each.parentJoint - 1] if each.parentJoint else -1
            own = each.copy()
            own.name, own.parentJoint, own.parentFrame = f"{k} {_plain(each.name)}", joint + 1, 0
            if not each.overrideMaterial:
                own.meshColor = np.array([*color_of(joint), 1.0])
            self.visual_model.addGeometryObject(own)

    def placements(self, q: Array) -> list[tuple[Array, Array]]:
        """R (3 × 3) and p (3) [m] of each link."""
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


def interpolation(tree: Tree) -> ca.Function:
    """(q0, q1, s) → (q): interpolation from q0 (s = 0) to q1 (s = 1) on the configuration space."""
    kinematics = Kinematics(tree, clean=0)
    s = symbols(q0=tree.nq, q1=tree.nq, s=1)
    way = kinematics.difference(s["q0"], s["q1"])
    return function("interpolation", s, {"q": kinematics.integrate(s["q0"], s["s"] * way)})


def _plain(name: str) -> str:
    """A name without slashes, which viser takes for a path of nodes."""
    return name.replace("/", "_")


def _object(primitive: Primitive) -> pin.GeometryObject:
    found = pin.GeometryObject(_plain(primitive.name), primitive.joint + 1, 0, primitive.placement, primitive.geometry)
    found.meshColor = np.array([*primitive.color, 1.0])
    return found


def _slides(tree: Tree, size: float) -> list[SweptTube]:
    """A tube from the frame of each prismatic joint to its link."""
    found = []
    s = symbols(q=tree.nq)
    placed = tree.placements(s["q"])
    for i, joint in enumerate(tree.joints):
        if not joint.type.is_prismatic:
            continue
        r, p = placed[joint.parent] if joint.parent >= 0 else (ca.DM.eye(3), ca.DM.zeros(3, 1))
        axes = placed[i][0] @ ca.DM(turned_to(np.asarray(joint.type.axis))[:, [2, 0, 1]])
        positions = ca.horzcat(p + r @ ca.DM(joint.translation), placed[i][1])
        line = function("slide", s, {"positions": positions, "rotations": ca.horzcat(axes, axes)})
        found.append(SweptTube(f"{_plain(joint.name)} slide", i, line, Profile.circles(np.full(2, _SLIDE * size))))
    return found


def _particles(tree: FlexibleTree, assembly: Assembly) -> Iterator[int]:
    """The joints that carry the mass of links that shorten; they come after the stations of their link."""
    for link, joint in zip(assembly.links, tree.links, strict=True):
        yield from tree.stations(joint)[len(link.stations) - 1 :]


def _beams(arm: Arm, links: Mapping[str, FlexibleLink]) -> list[SweptTube]:
    found = []
    for name, beam in arm.assembly.beams.items():
        abscissae = np.linspace(0, beam.length, _SECTIONS)
        line = centreline(arm, name, abscissae, links=links)
        profile = profile_of(links[name].beam, abscissae, _BEAM * beam.length)
        root = arm.tree.frames[find_frame(arm.tree, beam.root)]
        found.append(SweptTube(f"{_plain(name)} beam", root.joint, line, profile))
    return found


def _shown(
    tree: Tree, frames: bool | Sequence[str], placements: list[tuple[Array, Array]], size: float
) -> list[tuple[Frame, str]]:
    """The frames to show, and their labels; frames that are too close for two labels share one."""
    if isinstance(frames, str):
        raise ArgumentTypeError(f"frames: got {frames!r}; give True, False or a list of names")
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
        at = p + r @ frame.translation
        near = next((j for j, there in places if np.linalg.norm(at - there) <= _NEAR * size), None)
        if near is None:
            places.append((k, at))
            labels[k] = frame.name
        else:
            labels[near] += f", {frame.name}"
    return list(zip(chosen, labels, strict=True))

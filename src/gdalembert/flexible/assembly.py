"""Assembly: the description of a flexible robot, from a model, its flexible links and its flexible joints.

Coordinates: those of the joints in Pinocchio's order; the modes, link by link in the order of the tree; the rotors of
flexible joints. B says on which of them the actuators act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.flexible.attach import AttachedLink, Attachment, Replacement, attach
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.link_model import LinkModel, check_body, root
from gdalembert.flexible.rigid_link import (
    BodyFrames,
    RigidLink,
    merged_bodies,
    model_joint_name,
    placements_on,
)
from gdalembert.model.modal_inertia import rigid_inertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array, frozen, homogeneous


@dataclass(frozen=True, eq=False)
class AttachedFrame:
    """A frame by name: the index of its link (−1: the universe) and of the station there, and its placement (4 × 4)."""

    name: str
    link: int
    station: int
    placement: Array


@dataclass(frozen=True, eq=False)
class PlacedBeam:
    """The beam of a flexible link.

    Attributes:
        name: of the flexible link. ``link``: its index in :attr:`Assembly.links`.
        root, tip: names of the frames there.
        length: l [m].
        buckling_load: of the bare beam, as :meth:`~gdalembert.FlexibleLink.buckling_load` [N].
    """

    name: str
    link: int
    root: str
    tip: str
    length: float
    buckling_load: float


@dataclass(frozen=True, eq=False)
class Assembly:
    """All numbers of a flexible robot.

    Attributes:
        name: of the model. ``links``: joints with the links that they move, parents first.
        frames: the model's, and for each flexible link two of our own, in the axes of the clamped frame: at its root
            and at its tip.
        nq, nv: with modes and rotors. ``layout``: a name for each entry of v.
        armature: nv. ``gravity``: 3.
        joint_damping, joint_friction: of the joints of the model, the first entries of v.
        stiffness, damping: of links and flexible joints, nv × nv. ``actuation``: B, nv × number of actuators.
        rotors: names of the flexible joints, whose rotors are the last entries of v.
        replacements: what each beam replaces.
        beams: of the flexible links, by name.
        left_out: link and direction (``"bending_y"``, ``"bending_z"``) of modes that the links left to the arm, and
            that nothing in it excites.
    """

    name: str
    links: tuple[LinkModel, ...]
    frames: tuple[AttachedFrame, ...]
    nq: int
    nv: int
    layout: tuple[str, ...]
    armature: Array
    gravity: Array
    joint_damping: Array
    joint_friction: Array
    stiffness: Array
    damping: Array
    actuation: Array
    rotors: tuple[str, ...]
    replacements: tuple[Replacement, ...]
    beams: Mapping[str, PlacedBeam]
    left_out: tuple[tuple[str, str], ...] = ()


def assemble(
    tree: Tree,
    links: Mapping[str, FlexibleLink],
    joints: Mapping[str, FlexibleJoint],
    fixed_bodies: Mapping[str, pin.Inertia],
) -> Assembly:
    """Replace rigid links by beams, and rigid joints by springs.

    Args:
        tree: the rigid robot, cleaned; its frames tell the bodies apart.
        links: the flexible links, by the name of their body frame.
        joints: the flexible joints, by name.
        fixed_bodies: the inertia of bodies that are fixed to a flexible link, by the name of their body frame and in
            that frame, where the model does not tell them from the link's own body.

    Raises:
        UnknownNameError: if there is no such link, joint or child.
        UnsupportedError: if the model has mimic joints.
        ArgumentError: if a beam does not fit its link.
        ArgumentTypeError: if a description is of the wrong type.
    """
    if tree.has_mimic:
        raise UnsupportedError(f"{tree.name}: mimic joints are not supported beside flexible links")
    for what, given in (("links", links), ("joints", joints), ("fixed_bodies", fixed_bodies)):
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"{what}: expected a dict by name, got {type(given).__name__}")
    names = _names_by_index(tree, links)
    _check_fixed_bodies(tree, names, fixed_bodies)

    attached: list[AttachedLink] = []
    for i in range(len(tree.joints)):
        link = _rigid_link(tree, i, attached)
        if i in names:
            rigid = RigidLink.of(tree, i, names[i])
            attached.append(_attached(link, rigid, links[names[i]], fixed_bodies))
        else:
            attachments = {name: Attachment(0, placement) for name, placement in placements_on(tree, i).items()}
            attached.append(AttachedLink(link, attachments))
    return _assembly(tree, attached, names, joints)


def _assembly(
    tree: Tree, attached: Sequence[AttachedLink], names: Mapping[int, str], joints: Mapping[str, FlexibleJoint]
) -> Assembly:
    """The assembly of links, with springs and rotors at the flexible joints."""
    rotors = _rotors(tree, joints)
    matrices = _link_matrices(tree, attached)
    for name, joint in rotors.items():
        matrices = matrices.with_rotor(joint.idx_v, joints[name])
    frames = _frames(tree, attached)
    beams = _beams(attached, names, frames)
    nv = len(matrices.armature)
    return Assembly(
        name=tree.name,
        links=tuple(each.link for each in attached),
        frames=(*frames, *_beam_frames(beams, attached)),
        nq=tree.nq + nv - tree.nv,
        nv=nv,
        layout=(*tree.velocity_names, *_mode_names(attached, names), *(f"{name} rotor" for name in rotors)),
        armature=frozen(matrices.armature),
        gravity=tree.gravity,
        joint_damping=tree.damping,
        joint_friction=tree.friction,
        stiffness=frozen(matrices.stiffness),
        damping=frozen(matrices.damping),
        actuation=frozen(matrices.actuation),
        rotors=tuple(rotors),
        replacements=tuple(each.replacement for each in attached if each.replacement is not None),
        beams=beams,
    )


# The links.


def _names_by_index(tree: Tree, links: Mapping[str, FlexibleLink]) -> dict[int, str]:
    """The names of the flexible links by the index of the link."""
    bodies = BodyFrames.of(tree)
    for name, link in links.items():
        if not isinstance(link, FlexibleLink):
            raise ArgumentTypeError(f"link {name!r}: expected a FlexibleLink, got {type(link).__name__}")
        if name in bodies.grounded:
            raise ArgumentError(
                f"link {name!r}: it is fixed to the universe, and no joint moves it; make a link that a joint moves "
                "flexible, or load the model with a root_joint"
            )
        if name in bodies.fixed:
            raise ArgumentError(f"link {name!r}: it is fixed to link {bodies.fixed[name]!r}; make that one flexible")
        if name not in bodies.links:
            raise UnknownNameError("link", name, bodies.links)
    return {bodies.links[name]: name for name in links}


def _check_fixed_bodies(tree: Tree, names: Mapping[int, str], fixed_bodies: Mapping[str, pin.Inertia]) -> None:
    merged = [frame.name for i in names for frame in merged_bodies(tree, i)]
    for name, body in fixed_bodies.items():
        if name not in merged:
            raise UnknownNameError("body that the model does not tell from a flexible link", name, merged)
        check_body(f"fixed_bodies[{name!r}]", body)


def _rigid_link(tree: Tree, i: int, attached: Sequence[AttachedLink]) -> LinkModel:
    """Link i, rigid; modal coordinates begin behind those of the links before it."""
    joint = tree.joints[i]
    base = Attachment(0, homogeneous(joint.rotation, joint.translation))
    if joint.parent >= 0:
        base = attached[joint.parent].attachments[model_joint_name(tree, i)]
    modes = sum(each.link.inertia.modes for each in attached)
    return LinkModel(
        name=joint.name,
        type=joint.type,
        parent=joint.parent,
        parent_station=base.station,
        placement=base.placement,
        clamped=np.eye(4),
        inertia=rigid_inertia(joint.pseudo_inertia),
        stations=(root(0),),
        idx_q=joint.idx_q,
        idx_v=joint.idx_v,
        mode_idx_q=tree.nq + modes,
        mode_idx_v=tree.nv + modes,
    )


def _attached(
    link: LinkModel, rigid: RigidLink, beam: FlexibleLink, fixed_bodies: Mapping[str, pin.Inertia]
) -> AttachedLink:
    """The beam on its link; errors that only show there, in the beam itself, name the link."""
    try:
        return attach(link, rigid, beam, fixed_bodies)
    except ArgumentError as error:
        if str(error).startswith("link "):
            raise
        raise ArgumentError(f"link {rigid.name!r}: {error}") from None


def _mode_names(attached: Sequence[AttachedLink], names: Mapping[int, str]) -> list[str]:
    return [f"{names[i]} {mode}" for i, each in enumerate(attached) for mode in each.link.mode_names]


# The frames.


def _frames(tree: Tree, attached: Sequence[AttachedLink]) -> list[AttachedFrame]:
    """The model's."""
    frames: list[AttachedFrame] = []
    for f in tree.frames:
        at = Attachment(0, homogeneous(f.rotation, f.translation))
        if f.joint >= 0:
            at = attached[f.joint].attachments[f.name]
        frames.append(AttachedFrame(f.name, f.joint, at.station, at.placement))
    return frames


def _beams(
    attached: Sequence[AttachedLink], names: Mapping[int, str], frames: Sequence[AttachedFrame]
) -> dict[str, PlacedBeam]:
    """The beams, with names for their root and tip frames that no other frame has."""
    taken = {frame.name for frame in frames}

    def unused(name: str) -> str:
        while name in taken:
            name += " of the beam"
        taken.add(name)
        return name

    beams: dict[str, PlacedBeam] = {}
    for i, each in enumerate(attached):
        if each.beam is not None:
            name = names[i]
            ends = unused(f"{name} root"), unused(f"{name} tip")
            beams[name] = PlacedBeam(name, i, *ends, each.beam.length, each.beam.buckling_load())
    return beams


def _beam_frames(beams: Mapping[str, PlacedBeam], attached: Sequence[AttachedLink]) -> list[AttachedFrame]:
    """The frames at the root, which is station 0, and at the tip, which is fixed to station 1."""
    return [
        AttachedFrame(frame, beam.link, k, attached[beam.link].link.stations[k].to_axis(eta))
        for beam in beams.values()
        for k, (frame, eta) in enumerate(((beam.root, 0.0), (beam.tip, beam.length)))
    ]


# The matrices.


@dataclass(frozen=True, eq=False)
class _Matrices:
    """Constants of n coordinates: armature (n), stiffness and damping (n × n), actuation (n × number of actuators)."""

    armature: Array
    stiffness: Array
    damping: Array
    actuation: Array

    def with_rotor(self, own: int, spring: FlexibleJoint) -> _Matrices:
        """With one more coordinate: the rotor behind the spring of the joint with the velocity ``own``."""
        rotor = len(self.armature)
        inertia = float(self.armature[own]) if spring.rotor_inertia is None else spring.rotor_inertia
        armature = np.append(self.armature, inertia)
        if spring.rotor_inertia is None:
            armature[own] = 0.0
        between = np.zeros((rotor + 1, rotor + 1))
        between[np.ix_((own, rotor), (own, rotor))] = [[1, -1], [-1, 1]]
        actuation = np.pad(self.actuation, ((0, 1), (0, 0)))
        actuation[:, own] = np.eye(rotor + 1)[rotor]
        return _Matrices(
            armature,
            np.pad(self.stiffness, (0, 1)) + spring.stiffness * between,
            np.pad(self.damping, (0, 1)) + spring.damping * between,
            actuation,
        )


def _link_matrices(tree: Tree, attached: Sequence[AttachedLink]) -> _Matrices:
    """Those of joints and modes."""
    joints, links = np.zeros((tree.nv, tree.nv)), [(a.link, a.beam) for a in attached if a.beam is not None]
    stiffness = _block_diagonal(joints, *(link.inertia.stiffness for link, _ in links))
    damping = _block_diagonal(joints, *(beam.damping_matrix() for _, beam in links))
    armature = np.pad(tree.armature, (0, len(stiffness) - tree.nv))
    return _Matrices(armature, stiffness, damping, np.eye(len(stiffness))[:, : tree.nv])


def _block_diagonal(*blocks: Array) -> Array:
    ends = np.cumsum([len(block) for block in blocks])
    whole = np.zeros((ends[-1], ends[-1]))
    for block, end in zip(blocks, ends, strict=True):
        whole[end - len(block) : end, end - len(block) : end] = block
    return whole


def _rotors(tree: Tree, joints: Mapping[str, FlexibleJoint]) -> dict[str, Joint]:
    """The flexible joints in the order of the tree."""
    by_name = {joint.name: joint for joint in tree.joints}
    for name, spring in joints.items():
        if name not in by_name:
            raise UnknownNameError("joint", name, by_name)
        if not isinstance(spring, FlexibleJoint):
            raise ArgumentTypeError(f"joint {name!r}: expected a FlexibleJoint, got {type(spring).__name__}")
        joint_type = by_name[name].type
        if not (joint_type.is_revolute or joint_type.is_prismatic) or not joint_type.velocity_is_rate:
            raise UnsupportedError(
                f"joint {name!r}: a {joint_type.kind} joint cannot be flexible; revolute joints with limits "
                "and prismatic ones can"
            )
        if spring.rotor_inertia is None and tree.armature[by_name[name].idx_v] <= 0:
            raise ArgumentError(
                f"joint {name!r}: its rotor has no inertia; give rotor_inertia, or the model an armature"
            )
    return {joint.name: joint for joint in tree.joints if joint.name in joints}

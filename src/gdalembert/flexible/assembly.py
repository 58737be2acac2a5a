"""From a model and the description of its flexible parts to elements, matrices and names.

Coordinates: those of the joints in Pinocchio's order; the modes, link by link in the order of the tree; the rotors of
flexible joints. B says on which of them the actuators act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.flexible.attach import Placed, Replacement, by_hand, model_joint, place, standing_on
from gdalembert.flexible.bodies import pseudo_inertia
from gdalembert.flexible.element import Element, rigid_link, root
from gdalembert.flexible.flexible_joint import FlexibleJoint
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.model_validity import Span, span_of
from gdalembert.flexible.tree import Attachment
from gdalembert.model.joints import Prismatic, Revolute, UnboundedRevolute
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array, frozen, homogeneous


@dataclass(frozen=True, eq=False)
class Assembly:
    """All numbers of a flexible robot.

    Attributes:
        name: of the model. ``elements``: joints with their links. ``attachments``: the model's frames, and of each
            flexible link two of our own, in the axes of the clamped frame: at its root, and at its tip.
        nq, nv: with modes and rotors. ``layout``: a name for each entry of v.
        armature: nv. ``gravity``: 3.
        stiffness, damping: nv × nv. ``actuation``: B, nv × number of actuators.
        rotors: names of the flexible joints, whose rotors are the last entries of v.
        replacements: what each beam took the place of.
        spans: the flexible links, by name.
    """

    name: str
    elements: tuple[Element, ...]
    attachments: tuple[Attachment, ...]
    nq: int
    nv: int
    layout: tuple[str, ...]
    armature: Array
    gravity: Array
    stiffness: Array
    damping: Array
    actuation: Array
    rotors: tuple[str, ...]
    replacements: tuple[Replacement, ...]
    spans: Mapping[str, Span]


def assemble(
    model: pin.Model,
    tree: Tree,
    links: Mapping[str, FlexibleLink],
    joints: Mapping[str, FlexibleJoint],
    fixed_bodies: Mapping[str, pin.Inertia],
) -> Assembly:
    """Put beams in the place of links and springs in that of rigid joints.

    Args:
        model: the model; what it says of bodies is read from its frames.
        tree: its numbers, cleaned.
        links: the flexible links, by the name of their body frame.
        joints: the flexible joints, by name.
        fixed_bodies: the inertia of what is fixed to a flexible link, by the name of its body frame and in that frame,
            where the model does not tell it from the link's own body.

    Raises:
        UnknownNameError: if a link, a joint or a child is not there.
        UnsupportedError: if the model has mimic joints.
        ArgumentError: if a beam does not fit where it is put.
        ArgumentTypeError: if a description is none.
    """
    if tree.has_mimic:
        raise UnsupportedError(f"{tree.name}: mimic joints are not supported beside flexible links")
    for what, given in (("links", links), ("joints", joints), ("fixed_bodies", fixed_bodies)):
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"{what}: expected a dict by name, got {type(given).__name__}")
    described = _described(model, tree, links)
    untold = [f.name for i in described for f in by_hand(model, model_joint(tree, i))]
    for name, body in fixed_bodies.items():
        if name not in untold:
            raise UnknownNameError("body that the model does not tell from a flexible link", name, untold)
        pseudo_inertia(f"fixed_bodies[{name!r}]", body)

    elements: list[Element] = []
    placed: dict[int, Placed] = {}
    standing: list[Mapping[str, tuple[int, Array]]] = []  # of each link: station and placement of what stands on it
    names: list[str] = []
    mode = tree.nv
    damping = np.zeros((tree.nv, tree.nv))
    stiffness = np.zeros((tree.nv, tree.nv))
    for i, joint in enumerate(tree.joints):
        attached, placement = 0, homogeneous(joint.rotation, joint.translation)
        if joint.parent >= 0:
            attached, placement = standing[joint.parent][tree.joint_names[model_joint(tree, i) - 1]]
        if i in described:
            name, link = described[i]
            placed[i] = here = _placed(model, tree, i, name, link, fixed_bodies)
            element = replace(
                here.element, parent=joint.parent, attached=attached, placement=placement, first_mode=mode
            )
            standing.append(here.where)
            names += [f"{name} {mode_name}" for mode_name in here.link.mode_names]
            stiffness = _beside(stiffness, element.inertia.stiffness)
            damping = _beside(damping, here.link.damping_matrix())
        else:
            element = Element(
                joint.name,
                joint.type,
                joint.parent,
                attached,
                placement,
                np.eye(4),
                rigid_link(joint.pseudo_inertia),
                (root(0),),
                joint.idx_q,
                joint.idx_v,
                mode,
            )
            standing.append({name: (0, where) for name, where in standing_on(tree, i)[1].items()})
        mode += element.inertia.modes
        elements.append(element)

    rotors = _rotors(tree, joints)
    armature = np.concatenate([tree.armature, np.zeros(mode - tree.nv)])
    actuation = np.eye(mode)[:, : tree.nv]
    for name, joint in rotors.items():
        spring, own, rotor = joints[name], joint.idx_v, len(armature)
        inertia = spring.rotor_inertia if spring.rotor_inertia is not None else float(armature[own])
        if inertia <= 0:
            raise ArgumentError(
                f"joint {name!r}: its rotor has no inertia; give rotor_inertia, or the model an armature"
            )
        armature = np.append(armature, inertia)
        if spring.rotor_inertia is None:
            armature[own] = 0.0
        stiffness, damping = _beside(stiffness, np.zeros((1, 1))), _beside(damping, np.zeros((1, 1)))
        for matrix, value in ((stiffness, spring.stiffness), (damping, spring.damping)):
            matrix[np.ix_((own, rotor), (own, rotor))] += value * np.array([[1, -1], [-1, 1]])
        actuation = np.vstack([actuation, np.zeros((1, tree.nv))])
        actuation[:, own] = np.eye(rotor + 1)[rotor]
    nv = len(armature)
    frames = [
        Attachment(
            f.name,
            f.joint,
            *(standing[f.joint][f.name] if f.joint >= 0 else (0, homogeneous(f.rotation, f.translation))),
        )
        for f in tree.frames
    ]
    spans: dict[str, Span] = {}
    for i, here in placed.items():
        name = described[i][0]
        ends = [_unused(f"{name} {end}", frames) for end in ("root", "tip")]
        frames += [Attachment(end, i, station, np.eye(4)) for station, end in enumerate(ends)]
        spans[name] = span_of(name, i, here.link, elements[i], root=ends[0], tip=ends[1])
    return Assembly(
        name=tree.name,
        elements=tuple(elements),
        attachments=tuple(frames),
        nq=tree.nq + nv - tree.nv,
        nv=nv,
        layout=(*tree.velocity_names, *names, *(f"{name} rotor" for name in rotors)),
        armature=frozen(armature),
        gravity=tree.gravity,
        stiffness=frozen(stiffness),
        damping=frozen(damping),
        actuation=frozen(actuation),
        rotors=tuple(rotors),
        replacements=tuple(here.replacement for here in placed.values() if here.replacement is not None),
        spans=spans,
    )


def _beside(a: Array, b: Array) -> Array:
    """The block diagonal matrix of two."""
    return np.block([[a, np.zeros((len(a), len(b)))], [np.zeros((len(b), len(a))), b]])


def _unused(name: str, frames: Sequence[Attachment]) -> str:
    """The name, or where a frame of the model has it already, the name of the beam's own frame beside that."""
    taken = {frame.name for frame in frames}
    while name in taken:
        name += " of the beam"
    return name


def _described(model: pin.Model, tree: Tree, links: Mapping[str, FlexibleLink]) -> dict[int, tuple[str, FlexibleLink]]:
    """The flexible links by the element whose link they are."""
    own: dict[str, int] = {}
    fixed: dict[str, str] = {}
    first: dict[int, str] = {}
    still = {f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == 0}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint > 0:
            joint = frame.parentJoint
            if joint not in first and frame.placement.isIdentity(1e-12):
                first[joint] = frame.name
                own[frame.name] = tree.links[joint - 1]
            else:
                fixed[frame.name] = first.get(joint, model.names[joint])
    described: dict[int, tuple[str, FlexibleLink]] = {}
    for name, link in links.items():
        if not isinstance(link, FlexibleLink):
            raise ArgumentTypeError(f"link {name!r}: expected a FlexibleLink, got {type(link).__name__}")
        if name in still:
            raise ArgumentError(
                f"link {name!r}: it is fixed to the universe, and no joint moves it; make a link that a joint moves "
                "flexible, or load the model with a root_joint"
            )
        if name in fixed:
            raise ArgumentError(f"link {name!r}: it is fixed to link {fixed[name]!r}; make that one flexible")
        if name not in own:
            raise UnknownNameError("link", name, own)
        described[own[name]] = name, link
    return described


def _placed(
    model: pin.Model, tree: Tree, i: int, name: str, link: FlexibleLink, fixed_bodies: Mapping[str, pin.Inertia]
) -> Placed:
    """The beam on its link; what is wrong with the beam itself comes to light only there, and is said of that link."""
    try:
        return place(model, tree, i, name, link, fixed_bodies)
    except ArgumentError as error:
        if str(error).startswith("link "):
            raise
        raise ArgumentError(f"link {name!r}: {error}") from None


def _rotors(tree: Tree, joints: Mapping[str, FlexibleJoint]) -> dict[str, Joint]:
    """The flexible joints in the order of the tree."""
    by_name = {joint.name: joint for joint in tree.joints}
    for name, spring in joints.items():
        if name not in by_name:
            raise UnknownNameError("joint", name, by_name)
        if not isinstance(spring, FlexibleJoint):
            raise ArgumentTypeError(f"joint {name!r}: expected a FlexibleJoint, got {type(spring).__name__}")
        joint_type = by_name[name].type
        if not isinstance(joint_type, Revolute | Prismatic) or isinstance(joint_type, UnboundedRevolute):
            raise UnsupportedError(
                f"joint {name!r}: a {type(joint_type).__name__} joint cannot be flexible; revolute joints with limits "
                "and prismatic ones can"
            )
    return {joint.name: joint for joint in tree.joints if joint.name in joints}

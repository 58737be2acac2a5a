"""From a model and the description of its flexible parts to elements, matrices and names.

Coordinates: those of the joints in Pinocchio's order; the modes, link by link in the order of the tree; the rotors of
flexible joints. B says on which of them the actuators act.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.flexible.element import Element, rigid_link, root
from gdalembert.flexible.joint import FlexibleJoint
from gdalembert.flexible.link import FlexibleLink
from gdalembert.flexible.tree import Attachment
from gdalembert.joints import Prismatic, Revolute, UnboundedRevolute
from gdalembert.preparation import homogeneous, turned_to
from gdalembert.tree import Array, Joint, Tree, frozen

_SAME_LENGTH = 1e-6  # relative; what a default beam may miss its child by
_TOLD = 1e-2  # relative difference in mass, or in the centre of mass by length, that is warned about


@dataclass(frozen=True)
class Replacement:
    """A link's own body and the beam that stands for it: masses [kg], centres of mass in the link frame [m]."""

    link: str
    mass: float
    beam_mass: float
    com: Array
    beam_com: Array

    def __str__(self) -> str:
        return (
            f"link {self.link!r}: its body of {self.mass:.6g} kg at {np.round(self.com, 6).tolist()} m is now a beam "
            f"of {self.beam_mass:.6g} kg at {np.round(self.beam_com, 6).tolist()} m"
        )


@dataclass(frozen=True, eq=False)
class Assembly:
    """All numbers of a flexible robot.

    Attributes:
        name: of the model. ``elements``: joints with their links. ``attachments``: the model's frames.
        nq, nv: with modes and rotors. ``layout``: a name for each entry of v.
        armature: nv. ``gravity``: 3.
        stiffness, damping: nv × nv. ``actuation``: B, nv × number of actuators.
        rotors: names of the flexible joints, whose rotors are the last entries of v.
        replacements: what each beam took the place of.
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


def assemble(
    model: pin.Model,
    tree: Tree,
    links: Mapping[str, FlexibleLink],
    joints: Mapping[str, FlexibleJoint],
    own_bodies: Mapping[str, pin.Inertia],
) -> Assembly:
    """Put beams in the place of links and springs in that of rigid joints.

    Args:
        model: the model; what it says of bodies is read from its frames.
        tree: its numbers, cleaned.
        links: the flexible links, by the name of their body frame.
        joints: the flexible joints, by name.
        own_bodies: the inertia of a link's own body, in the link frame, where the model does not tell it from what is
            fixed to the link.

    Raises:
        UnknownNameError: if a link, a joint or a child is not there.
        UnsupportedError: if the model has mimic joints.
        ArgumentError: if a beam does not fit where it is put.
        ArgumentTypeError: if a description is none.
    """
    if tree.has_mimic:
        raise UnsupportedError(f"{tree.name}: mimic joints are not supported beside flexible links")
    owners = _owners(model, tree)
    described: dict[int, tuple[str, FlexibleLink]] = {}
    for name, link in links.items():
        if not isinstance(link, FlexibleLink):
            raise ArgumentTypeError(f"link {name!r}: expected a FlexibleLink, got {type(link).__name__}")
        described[_joint_of(model, owners, name)] = (name, link)

    elements: list[Element] = []
    replacements: list[Replacement] = []
    placed: list[dict[str, tuple[int, Array]]] = []  # of each link: station and placement of what stands on it
    names: list[str] = []
    mode = tree.nv
    damping = np.zeros((tree.nv, tree.nv))
    stiffness = np.zeros((tree.nv, tree.nv))
    for i, joint in enumerate(tree.joints):
        on_link = {
            child.name: homogeneous(child.rotation, child.translation) for child in tree.joints if child.parent == i
        }
        on_link |= {
            f.name: homogeneous(f.rotation, f.translation)
            for f in tree.frames
            if f.joint == i and f.name not in on_link
        }
        attached, placement = 0, homogeneous(joint.rotation, joint.translation)
        if joint.parent >= 0:
            attached, placement = placed[joint.parent][joint.name]
        if i in described:
            built = _build(model, tree, i, *described[i], own_bodies.get(described[i][0]), on_link)
            element = replace(
                built.element, parent=joint.parent, attached=attached, placement=placement, first_mode=mode
            )
            placed.append(built.placed)
            replacements.append(built.replacement)
            names += [f"{described[i][0]} {mode_name}" for mode_name in built.link.mode_names]
            stiffness = _beside(stiffness, element.inertia.stiffness)
            damping = _beside(damping, built.link.damping_matrix())
        else:
            element = Element(
                joint.name,
                joint.type,
                joint.parent,
                attached,
                placement,
                np.eye(4),
                rigid_link(joint.pseudo_inertia.full()),
                (root(0),),
                joint.idx_q,
                joint.idx_v,
                mode,
            )
            placed.append({name: (0, where) for name, where in on_link.items()})
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
            f.name, f.joint, *(placed[f.joint][f.name] if f.joint >= 0 else (0, homogeneous(f.rotation, f.translation)))
        )
        for f in tree.frames
    ]
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
        replacements=tuple(replacements),
    )


def _beside(a: Array, b: Array) -> Array:
    """The block diagonal matrix of two."""
    return np.block([[a, np.zeros((len(a), len(b)))], [np.zeros((len(b), len(a))), b]])


def _owners(model: pin.Model, tree: Tree) -> dict[str, tuple[int, bool]]:
    """Body frames by name: the element that carries them, and whether they are its own link (not a fixed child)."""
    first: dict[int, str] = {}
    owners: dict[str, tuple[int, bool]] = {}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint > 0:
            own = frame.placement.isIdentity(1e-12) and frame.parentJoint not in first
            if own:
                first[frame.parentJoint] = frame.name
            owners[frame.name] = (tree.links[frame.parentJoint - 1], own)
    return owners


def _joint_of(model: pin.Model, owners: Mapping[str, tuple[int, bool]], name: str) -> int:
    """The element whose link has the name."""
    if name not in owners:
        raise UnknownNameError("link", name, [known for known, (_, own) in owners.items() if own])
    index, own = owners[name]
    if not own:
        moved = next(known for known, (i, is_own) in owners.items() if i == index and is_own)
        raise ArgumentError(f"link {name!r}: it is fixed to link {moved!r}; make that one flexible")
    return index


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


@dataclass(frozen=True, eq=False)
class _Built:
    """A flexible link as an element; ``placed`` says on which station, and where, each child and frame stands."""

    element: Element
    link: FlexibleLink
    placed: dict[str, tuple[int, Array]]
    replacement: Replacement


def _build(
    model: pin.Model,
    tree: Tree,
    i: int,
    name: str,
    link: FlexibleLink,
    own: pin.Inertia | None,
    on_link: Mapping[str, Array],
) -> _Built:
    joint = tree.joints[i]
    children = {child.name: child for child in tree.joints if child.parent == i}
    clamped = _clamped_frame(joint, name, link, list(children.values()))
    fixed = _fixed_children(model, joint, name, own)
    link = link.by_role(carries=bool(children or fixed) or link.tip_body is not None)
    for child in link.children or {}:
        if child not in on_link:
            raise UnknownNameError(f"child of link {name!r}", child, on_link)

    abscissae: dict[str, float] = {}
    for child, where in on_link.items():
        ahead = float((np.linalg.inv(clamped) @ where)[0, 3])
        given = (link.children or {}).get(child, "tip" if child in children else min(max(ahead, 0.0), link.length))
        eta = float(given) if not isinstance(given, str) else link.length if given == "tip" else 0.0
        abscissae[child] = next((other for other in (0.0, link.length) if abs(eta - other) < 1e-9 * link.length), eta)
    stations = [0.0, link.length, *sorted(set(abscissae.values()) - {0.0, link.length})]
    bodies = {eta: np.zeros((4, 4)) for eta in stations}
    for body, where, mass in fixed:
        eta = abscissae[body] if own is None else 0.0
        seen = np.linalg.inv(clamped @ _ahead(eta)) @ where
        bodies[eta] += seen @ mass @ seen.T
    for given_body, eta in ((link.hub, 0.0), (link.tip_body, link.length)):
        if given_body is not None:
            bodies[eta] += _pseudo_inertia(given_body)

    placed = {
        child: (stations.index(eta), np.linalg.inv(clamped @ _ahead(eta)) @ on_link[child])
        for child, eta in abscissae.items()
    }
    inertia = link.inertia()
    made = tuple(link.station(eta, bodies[eta]) for eta in stations)
    element = Element(
        joint.name,
        joint.type,
        joint.parent,
        0,
        np.eye(4),
        clamped,
        inertia,
        made,
        joint.idx_q,
        joint.idx_v,
        0,
        link.mode_names,
    )
    total = _pseudo_inertia(model.inertias[model.getJointId(joint.name)])
    replaced = total - sum((where @ mass @ where.T for _, where, mass in fixed), np.zeros((4, 4)))
    hub = np.zeros((4, 4)) if link.hub is None else _pseudo_inertia(link.hub)
    beam = clamped @ (inertia.rigid + hub) @ clamped.T
    return _Built(element, link, placed, _replacement(name, replaced, beam, link.length))


def _ahead(eta: float) -> Array:
    return homogeneous(np.eye(3), np.array([eta, 0.0, 0.0]))


def _pseudo_inertia(inertia: pin.Inertia) -> Array:
    return np.asarray(inertia.toPseudoInertia().toMatrix())


def _clamped_frame(joint: Joint, name: str, link: FlexibleLink, children: list[Joint]) -> Array:
    """The clamped frame in the link frame: as given, or from the link frame to the one child joint.

    z, about which the beam bends in y, is as near to the joint's axis as the beam allows.
    """
    if link.root is not None:
        return np.asarray(link.root)
    if len(children) == 1:
        towards, what = children[0].translation, f"its child joint {children[0].name!r}"
    elif not children:
        towards, what = 2 * joint.com, "twice its centre of mass"
    else:
        raise ArgumentError(f"link {name!r}: it has {len(children)} child joints; say with root= where the beam runs")
    distance = float(np.linalg.norm(towards))
    if abs(distance - link.length) > _SAME_LENGTH * link.length:
        raise ArgumentError(
            f"link {name!r}: the beam is {link.length:g} m long, but {what} is {distance:g} m from the link's frame; "
            "give that length, or say with root= where the beam begins"
        )
    x = towards / distance
    axis = np.array(joint.type.axis) if isinstance(joint.type, Revolute) else np.array([0.0, 0.0, 1.0])
    across = axis - x * (x @ axis)
    z = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-6 else turned_to(x)[:, 0]
    return homogeneous(np.column_stack([x, np.cross(z, x), z]), np.zeros(3))


def _fixed_children(
    model: pin.Model, joint: Joint, name: str, own: pin.Inertia | None
) -> list[tuple[str, Array, Array]]:
    """Bodies that are fixed to the link: name, placement in the link frame (4 × 4), pseudo-inertia (4 × 4).

    A URDF's are those of its fixed joints. Of a link with ``own`` given they are what is left of the joint's inertia.
    """
    index = model.getJointId(joint.name)
    here = [f for f in model.frames if f.parentJoint == index]
    if own is not None:
        rest = _pseudo_inertia(model.inertias[index]) - _pseudo_inertia(own)
        return [(name, np.eye(4), rest)]
    fixed = [f for f in here if f.type == pin.FrameType.FIXED_JOINT]
    by_hand = [f.name for f in here if f.type == pin.FrameType.BODY and f.name != name and not _behind(model, f, fixed)]
    if by_hand:
        raise ArgumentError(
            f"link {name!r}: the model does not tell its own body from {', '.join(by_hand)}, fixed to it; give its own "
            f"inertia in the link frame: own_bodies={{{name!r}: pin.Inertia(...)}}"
        )
    return [(f.name, f.placement.homogeneous, _pseudo_inertia(f.inertia)) for f in fixed if f.inertia.mass > 0]


def _behind(model: pin.Model, frame: pin.Frame, fixed: list[pin.Frame]) -> bool:
    """Whether a body frame stands on a fixed joint."""
    return model.frames[frame.parentFrame].name in {f.name for f in fixed}


def _replacement(name: str, own: Array, beam: Array, length: float) -> Replacement:
    com = own[:3, 3] / own[3, 3] if own[3, 3] > 0 else np.zeros(3)
    found = Replacement(name, float(own[3, 3]), float(beam[3, 3]), frozen(com), frozen(beam[:3, 3] / beam[3, 3]))
    heavier = abs(found.mass - found.beam_mass) > _TOLD * max(found.mass, found.beam_mass)
    if heavier or np.abs(found.com - found.beam_com).max() > _TOLD * length:
        warnings.warn(f"{found}; give a hub= for what is left", stacklevel=5)
    return found

"""A tree with flexible links and joints, from a tree of rigid ones.

Coordinates: those of the joints in Pinocchio's order; the modes, link by link in the order of the tree; the rotors of
flexible joints. B says on which of them the actuators act. Modes that links leave to their arm stand only in directions
in which something bends them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.newton_euler.links import Loads
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.dynamics.wrenches import ExternalWrenches, WrenchesByFrame
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.flexible import attach
from gdalembert.flexible.beams.modal_integrals import DIRECTIONS
from gdalembert.flexible.flexible_joint import (
    Elastic,
    Springs,
    behind_rotors,
    in_directions_and_behind_rotors,
    is_merged,
    on_springs,
    rotors_of,
)
from gdalembert.flexible.flexible_link import BeamLink, Links
from gdalembert.flexible.station import AttachedBeam, AttachedLink, Attachment, Carrier, Replacement, check_body
from gdalembert.model.configuration import random_configuration
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.regrouping import prepare
from gdalembert.model.rounding import clean_matrix
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arrays import Array, frozen, homogeneous
from gdalembert.spatial.brief import Brief

_REST = 1e-10
"""The force on a mode that nothing excites, relative to that in a motion of all modes."""
_SMALL = 0.01
"""Size of modal coordinates, where joints turn by a radian."""


@dataclass(frozen=True, eq=False)
class PlacedBeam(Brief):
    """The beam of a flexible link.

    Attributes:
        name: that of the flexible link. ``link``: the index of its joint in the tree.
        root, tip: names of the frames there.
        length: l [m].
        modes: the entries of v that are its modal coordinates.
        kind: the class of the flexible link.
        buckling_load, frequency: as of :class:`~gdalembert.flexible.station.AttachedBeam`.
    """

    name: str
    link: int
    root: str
    tip: str
    length: float
    modes: range
    kind: type[BeamLink]
    buckling_load: float
    frequency: float


@dataclass(frozen=True, eq=False)
class Flexibility(Brief):
    """The flexible parts of a robot, beside its tree.

    Attributes:
        stiffness, damping: matrices (nv × nv) of each flexible link and joint, by name.
        actuation: B, nv × number of actuators.
        rotors: names of the flexible joints, whose rotors are the last entries of v.
        springs: the entries of v of springs in directions, by the name of their joint or frame.
        replacements: the body that each beam replaces.
        links: beams of the flexible links by name, in the order of their modes.
        left_out: link and direction (``"bending_y"``, ``"bending_z"``) of modes that the links left to the arm, and
            that nothing in it excites.
    """

    stiffness: Mapping[str, Array]
    damping: Mapping[str, Array]
    actuation: Array
    rotors: tuple[str, ...]
    springs: Mapping[str, range]
    replacements: tuple[Replacement, ...]
    links: Mapping[str, PlacedBeam]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def beams(self) -> dict[str, PlacedBeam]:
        """The flexible links in assumed modes."""
        return {name: beam for name, beam in self.links.items() if beam.kind.has_assumed_modes}

    @property
    def rods(self) -> dict[str, PlacedBeam]:
        """The flexible links that bend as far as they like."""
        return {name: beam for name, beam in self.links.items() if not beam.kind.has_assumed_modes}

    def link(self, name: str) -> PlacedBeam:
        """A flexible link by name."""
        if not isinstance(name, str) or name not in self.links:
            raise UnknownNameError("flexible link", name, self.links)
        return self.links[name]


def check_links(links: Links) -> None:
    """Refuse anything but flexible links by name."""
    if not isinstance(links, Mapping):
        raise ArgumentTypeError(f"links: expected a dict by name, got {type(links).__name__}")
    for name, link in links.items():
        if not isinstance(link, BeamLink):
            expected = "a FlexibleLink or a CosseratRod"
            raise ArgumentTypeError(f"link {name!r}: expected {expected}, got {type(link).__name__}")


def assemble(
    tree: Tree,
    links: Links,
    joints: Springs,
    fixed_bodies: Mapping[str, pin.Inertia],
    deflection: type[Deflection] = Deflection,
) -> tuple[Tree, Flexibility]:
    """Replace rigid links of a cleaned tree by beams, and rigid joints by springs; arguments as of FlexibleArm.

    Raises:
        UnknownNameError: if there is no such link, joint or child.
        UnsupportedError: if the model has mimic joints.
        ArgumentError: if a beam does not fit its link.
        ArgumentTypeError: if a description is of the wrong type.
    """
    if tree.has_mimic:
        raise UnsupportedError(
            f"{tree.name}: mimic joints are not supported beside flexible links, joints or springs; hold them by "
            "pin.buildReducedModel, or free them by load_urdf(…, mimic=False)"
        )
    if not isinstance(fixed_bodies, Mapping):
        raise ArgumentTypeError(f"fixed_bodies: expected a dict by name, got {type(fixed_bodies).__name__}")
    in_directions, with_rotors = in_directions_and_behind_rotors(joints)
    for name, body in fixed_bodies.items():
        check_body(f"fixed_bodies[{name!r}]", body)
    rigid, springs = on_springs(tree, in_directions, fixed_bodies)
    names = _names_by_index(rigid, links)
    merged = [frame.name for i in names for frame in attach.RigidLink(rigid, i).merged_bodies]
    bodies = (frame for frame in rigid.frames if is_merged(rigid, frame))
    merged += [frame.name for frame in bodies if rigid.joints[frame.joint].type.springs_at is not None]
    if unknown := [name for name in fixed_bodies if name not in merged]:
        raise UnknownNameError("body that the model does not tell from a flexible link", unknown[0], merged)
    attached = _attached(rigid, names, links, fixed_bodies, deflection)
    flexible, beams, elements = _with_beams(rigid, attached, names)
    rotors = rotors_of(tree, with_rotors)
    flexible, behind, actuation = behind_rotors(flexible, with_rotors, rotors, tree.nv)
    stiffness, damping = Elastic.sums([*springs, *elements, *behind], flexible.nv)
    replacements = (link.beam.replacement for link in attached if link.beam is not None)
    return flexible, Flexibility(
        stiffness=stiffness,
        damping=damping,
        actuation=actuation,
        rotors=tuple(part.name for parts in rotors.values() for part in parts),
        springs={spring.name: range(spring.columns[0], spring.columns[-1] + 1) for spring in springs},
        replacements=tuple(replacement for replacement in replacements if replacement is not None),
        links=beams,
    )


def _attached(
    tree: Tree,
    names: Mapping[int, str],
    links: Links,
    fixed_bodies: Mapping[str, pin.Inertia],
    deflection: type[Deflection],
) -> list[AttachedLink]:
    """The links of a tree, those with a name as beams."""
    rigid = [attach.RigidLink(tree, i, names.get(i, "")) for i in range(len(tree.joints))]
    attached: list[AttachedLink] = []
    for link in rigid:
        carrier = _carrier(link, attached, deflection)
        if link.name:
            try:
                attached.append(attach.beam_on_link(carrier, link, links[link.name], fixed_bodies))
            except ArgumentError as error:  # those of the beam itself do not name the link
                if str(error).startswith("link "):
                    raise
                raise ArgumentError(f"link {link.name!r}: {error}") from None
        else:
            on_link = {name: Attachment(carrier.index, placement) for name, placement in link.placements.items()}
            attached.append(AttachedLink((carrier.joint,), on_link))
    return attached


def _with_beams(
    tree: Tree, attached: Sequence[AttachedLink], names: Mapping[int, str]
) -> tuple[Tree, dict[str, PlacedBeam], list[Elastic]]:
    """The tree whose links are attached ones, its beams by name, and their stiffness and damping."""
    more = sum(link.modes for link in attached)
    index = np.cumsum([0, *(len(link.joints) for link in attached)]).tolist()
    frames = []
    for f in tree.frames:
        on_world = Attachment(-1, homogeneous(f.rotation, f.translation))
        frames.append(_frame(f.name, on_world if f.joint < 0 else attached[f.joint].attachments[f.name]))
    beams = {name: link.beam for i, name in sorted(names.items()) if (link := attached[i]).beam is not None}
    placed = _placed(beams, {name: index[i] for i, name in names.items()}, tree.nv, frames)
    flexible = replace(
        tree,
        nq=tree.nq + more,
        nv=tree.nv + more,
        joints=tuple(joint for link in attached for joint in link.joints),
        links=tuple(index[i] for i in tree.links),
        armature=frozen(np.pad(tree.armature, (0, more))),
        frames=tuple(frames),
        modal_inertias=tuple(modal_inertia for beam in beams.values() for modal_inertia in beam.inertias.items()),
    )
    return (
        flexible,
        placed,
        [Elastic(name, placed[name].modes, beam.stiffness, beam.damping) for name, beam in beams.items()],
    )


def _placed(
    beams: Mapping[str, AttachedBeam], index: Mapping[str, int], first: int, frames: list[Frame]
) -> dict[str, PlacedBeam]:
    """The beams; append frames at their roots and tips, with names that no other frame has."""
    placed: dict[str, PlacedBeam] = {}
    taken = {frame.name for frame in frames}
    for name, beam in beams.items():
        root, tip = f"{name} root", f"{name} tip"
        while root in taken:
            root += " of the beam"
        while tip in taken:
            tip += " of the beam"
        taken |= {root, tip}
        frames += [_frame(root, beam.root), _frame(tip, beam.tip)]
        modes = range(first, first := first + len(beam.stiffness))
        constants = beam.length, modes, beam.kind, beam.buckling_load, beam.frequency
        placed[name] = PlacedBeam(name, index[name], root, tip, *constants)
    return placed


def _names_by_index(tree: Tree, links: Links) -> dict[int, str]:
    """The names of the flexible links by the index of the link.

    The first body frame that coincides with a joint frame is that of the link; others are fixed to it.
    """
    moved: dict[str, int] = {}
    fixed: dict[str, str] = {}
    grounded, first = set[str](), dict[int, str]()
    for frame in tree.frames:
        if frame.type == "BODY" and frame.joint < 0:
            grounded.add(frame.name)
        elif frame.type == "BODY" and frame.joint not in first and attach.is_link_frame(frame):
            first[frame.joint] = frame.name
            moved[frame.name] = frame.joint
        elif frame.type == "BODY":
            fixed[frame.name] = first.get(frame.joint, attach.model_joint_name(tree, frame.joint))
    for name in links:
        if name in grounded:
            raise ArgumentError(
                f"link {name!r}: it is fixed to the universe, and no joint moves it; make a link that a joint moves "
                "flexible, or load the model with a root_joint"
            )
        if name in fixed:
            raise ArgumentError(f"link {name!r}: it is fixed to link {fixed[name]!r}; make that one flexible")
        if name not in moved and not (moved or grounded or fixed):
            raise ArgumentError(
                f"link {name!r}: {tree.name} has no links, as a model made by addJoint; give them names, "
                f"model.addBodyFrame({name!r}, joint_id, pin.SE3.Identity(), 0)"
            )
        if name not in moved:
            raise UnknownNameError("link", name, moved)
    return {moved[name]: name for name in links}


def _carrier(rigid: attach.RigidLink, attached: Sequence[AttachedLink], deflection: type[Deflection]) -> Carrier:
    """The joint of a link where it is attached; modal coordinates begin behind those of the links before it."""
    joint, tree = rigid.joint, rigid.tree
    if joint.parent >= 0:
        base = attached[joint.parent].attachments[attach.model_joint_name(tree, rigid.index)]
        at = _frame(joint.name, base)
        joint = replace(joint, parent=at.joint, rotation=at.rotation, translation=at.translation)
    modes = sum(link.modes for link in attached)
    index = sum(len(link.joints) for link in attached)
    return Carrier(joint, index, tree.nq + modes, tree.nv + modes, deflection)


def _frame(name: str, at: Attachment) -> Frame:
    placement = clean_matrix(at.placement)
    return Frame(name, at.joint, frozen(placement[:3, :3]), frozen(placement[:3, 3]))


def assemble_with_selected_modes(
    tree: Tree,
    links: Links,
    joints: Springs,
    fixed_bodies: Mapping[str, pin.Inertia],
    deflection: type[Deflection],
    wrenches: WrenchesByFrame | None,
) -> tuple[Tree, Flexibility, Links]:
    """The tree and what is flexible in it, as of :func:`~gdalembert.flexible.assembly.assemble`, and the links.

    A link whose modes are chosen by role gets none in a direction in which neither the joints nor gravity nor other
    modes nor the wrenches that the arm takes excite it, as those of a planar arm across its plane.
    """
    if not any(_choices(link) for link in links.values()):
        return *assemble(tree, links, joints, fixed_bodies, deflection), links
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are repeated
        whole, flexibility = assemble(tree, links, joints, fixed_bodies)
    links = dict(links)
    candidates = [(link, direction) for link in links for direction in _choices(links[link])]
    left_out = _at_rest(whole, flexibility, tree.nv, candidates, wrenches)
    for name, direction in left_out:
        links[name] = replace(links[name], **{direction: None})  # type: ignore[arg-type]  # of any field
    arm_tree, flexibility = assemble(tree, links, joints, fixed_bodies, deflection)
    return arm_tree, replace(flexibility, left_out=tuple(left_out)), links


def _choices(link: BeamLink) -> tuple[str, ...]:
    """The two directions of a link of which one may be left out."""
    return link.directions_by_role if len(link.directions_by_role) > 1 else ()


def _at_rest(
    tree: Tree,
    flexibility: Flexibility,
    joints: int,
    candidates: list[tuple[str, str]],
    wrenches: WrenchesByFrame | None,
) -> list[tuple[str, str]]:
    """The (link, direction) among candidates whose modes stay at rest, whatever joints, wrenches and other modes do.

    A link of which that is true in both directions keeps both.
    """
    prepared, rng = prepare(tree), np.random.default_rng(0)
    q = random_configuration(tree, rng).full().ravel()
    behind = tree.nq - tree.nv
    motions = rng.normal(size=(3, tree.nv)) * np.where(np.arange(tree.nv) < joints, 1.0, _SMALL)
    external = ExternalWrenches.of(tree, wrenches)
    loads = Loads(external, external.columns(ca.DM(rng.normal(size=external.shape))))
    modal = slice(joints + behind, None)

    def forces(resting: list[int]) -> Array:
        deflection, v, a = motions.copy()
        deflection[resting] = v[resting] = a[resting] = 0
        q[modal] = deflection[joints:]
        return np.asarray(inverse_dynamics(prepared, ca.DM(q), ca.DM(v), ca.DM(a), loads).full().ravel())

    columns: dict[tuple[str, str], list[int]] = {}
    for name, direction in candidates:
        station = tree.joints[tree.first_station(flexibility.beams[name].link)]
        letters = [mode.rpartition(" ")[2][0] for mode in station.type.coordinate_names]
        entries = [k for k, letter in zip(station.columns, letters, strict=True) if letter == DIRECTIONS[direction]]
        columns[name, direction] = entries
    moving, resting = np.abs(forces([])), list(candidates)
    while True:
        tau = forces([k for pair in resting for k in columns[pair]])
        excited = [pair for pair in resting if np.abs(tau[columns[pair]]).max() > _REST * moving[columns[pair]].max()]
        links = [name for name, _ in resting]
        if not (excited := excited or [pair for pair in resting if links.count(pair[0]) > 1]):
            return resting
        resting = [pair for pair in resting if pair not in excited]

"""One flexible link on its joint: where the beam runs, what it takes the place of, and where on it all else stands."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.flexible.element import Element
from gdalembert.flexible.flexible_link import FlexibleLink, stack_level
from gdalembert.model.joints import Revolute
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to

_SAME_LENGTH = 1e-6  # relative; what a beam of given length may miss its end by, and what counts as its tip
_STUBBY = 10.0  # length over radius of gyration: shear is then some 10 % (round) to 16 % (thin tube) of bending
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
class Placed:
    """A flexible link as an element; ``where`` says on which station, and how, each child joint and frame stands.

    ``replacement`` is ``None`` if the link's own body stays as a hub.
    """

    element: Element
    link: FlexibleLink
    where: dict[str, tuple[int, Array]]
    replacement: Replacement | None


@dataclass(frozen=True, eq=False)
class _Seat:
    """A link of the model, and what stands on it.

    Attributes:
        name: of its body frame. ``joint``: that moves it.
        index: of that joint in the model.
        children: child joints, by name. ``standing``: placements in the link frame (4 × 4) of these and of all frames.
    """

    model: pin.Model
    name: str
    joint: Joint
    index: int
    children: dict[str, Joint]
    standing: Mapping[str, Array]

    def fixture(self, name: str) -> str:
        """The outermost fixed joint on the link that carries a child joint or frame; itself if there is none."""
        frames = self.model.frames
        here = len(frames)
        if name not in self.children:
            here = next(k for k, f in enumerate(frames) if f.name == name and f.parentJoint == self.index)
        elif (own := self.model.getFrameId(name, pin.FrameType.JOINT)) < here:
            here = frames[own].parentFrame
        found = name
        while here < len(frames) and frames[here].parentJoint == self.index:
            if frames[here].type == pin.FrameType.FIXED_JOINT:
                found = frames[here].name
            if frames[here].parentFrame >= here:
                break
            here = frames[here].parentFrame
        return found


def model_joint(tree: Tree, element: int) -> int:
    """The index in the model of the joint that an elementary joint is a part of."""
    return bisect_left(tree.links, element) + 1


def standing_on(tree: Tree, i: int) -> tuple[dict[str, Joint], dict[str, Array]]:
    """Child joints of a link, and the placements on it (4 × 4) of these and of its frames, by the model's names."""
    children = {
        tree.joint_names[model_joint(tree, k) - 1]: child for k, child in enumerate(tree.joints) if child.parent == i
    }
    standing = {name: homogeneous(child.rotation, child.translation) for name, child in children.items()}
    for f in tree.frames:
        if f.joint == i:
            standing.setdefault(f.name, homogeneous(f.rotation, f.translation))
    return children, standing


def place(
    model: pin.Model, tree: Tree, i: int, name: str, link: FlexibleLink, fixed_bodies: Mapping[str, pin.Inertia]
) -> Placed:
    """The beam on the link that joint ``i`` moves.

    Raises:
        UnknownNameError: if ``to`` or a child is not on the link.
        ArgumentError: if the beam does not fit there.
    """
    children, standing = standing_on(tree, i)
    seat = _Seat(model, name, tree.joints[i], model_joint(tree, i), children, standing)
    for child in link.children:
        if child not in standing:
            raise UnknownNameError(f"child of link {name!r}", child, standing)
    end = _end(seat, link)
    clamped, link = _line(seat, link, end)
    abscissae = _abscissae(seat, link, clamped, end)
    fixed = _fixed_bodies(seat, fixed_bodies)
    carries = [abscissae[child] for child in children] + [abscissae[body] for body, _, _ in fixed]
    link = link.by_role(carries=any(eta > 0 for eta in carries) or link.tip_body is not None)

    stations = [0.0, link.length, *sorted(set(abscissae.values()) - {0.0, link.length})]
    seen = {eta: np.linalg.inv(clamped @ _ahead(eta)) for eta in stations}
    bodies = {eta: np.zeros((4, 4)) for eta in stations}
    for body, at, mass in fixed:
        eta = abscissae[body]
        bodies[eta] += seen[eta] @ at @ mass @ (seen[eta] @ at).T
    for given, eta in ((link.hub, 0.0), (link.tip_body, link.length)):
        if given is not None:
            bodies[eta] += _pseudo_inertia(given)
    own_body = _own_body(seat, fixed)
    if link.keep_body:
        bodies[0.0] += seen[0.0] @ own_body @ seen[0.0].T

    inertia, joint = link.inertia(), seat.joint
    _check_plausible(name, link)
    element = Element(
        joint.name,
        joint.type,
        joint.parent,
        0,
        np.eye(4),
        clamped,
        inertia,
        tuple(link.station(eta, bodies[eta]) for eta in stations),
        joint.idx_q,
        joint.idx_v,
        0,
        link.mode_names,
    )
    where = {child: (stations.index(eta), seen[eta] @ standing[child]) for child, eta in abscissae.items()}
    hub = np.zeros((4, 4)) if link.hub is None else _pseudo_inertia(link.hub)
    beam = clamped @ (inertia.rigid + hub) @ clamped.T
    return Placed(element, link, where, None if link.keep_body else _replacement(name, own_body, beam, link.length))


def _check_plausible(name: str, link: FlexibleLink) -> None:
    """Warn of beams that are none, and of numbers that were meant in other units."""
    inertia, tip = link.inertia(), link.station("tip")
    radius = float(np.sqrt(inertia.rigid.diagonal()[1:3].max() / inertia.rigid[3, 3]))
    if link.length < _STUBBY * radius:
        warnings.warn(
            f"link {name!r}: it is {link.length / radius:.3g} times as long as the radius of gyration of its sections; "
            f"below {_STUBBY:g}, shear, which is left out, softens it by a tenth or more; take the link as rigid, or "
            "check the units (m)",
            stacklevel=stack_level(),
        )
    weight = 9.81 * inertia.first[: inertia.modes, 3, :3]
    sag = float(np.abs(tip.translation[1:] @ np.linalg.solve(inertia.stiffness, weight)[:, 1:]).max())
    if sag > link.length:
        warnings.warn(
            f"link {name!r}: its own weight would bend it by {sag:.3g} m, and it is {link.length:g} m long; check the "
            "units (N m², Pa, kg/m, kg/m³)",
            stacklevel=stack_level(),
        )


def _ahead(eta: float) -> Array:
    return homogeneous(np.eye(3), np.array([eta, 0.0, 0.0]))


def _pseudo_inertia(inertia: pin.Inertia) -> Array:
    return np.asarray(inertia.toPseudoInertia().toMatrix())


def _end(seat: _Seat, link: FlexibleLink) -> str | None:
    """The child joint or frame that the beam runs to: the named one, or the only child joint."""
    if link.to is not None:
        if link.to not in seat.standing:
            raise UnknownNameError(f"joint or frame on link {seat.name!r}", link.to, seat.standing)
        return link.to
    return next(iter(seat.children)) if len(seat.children) == 1 else None


def _line(seat: _Seat, link: FlexibleLink, end: str | None) -> tuple[Array, FlexibleLink]:
    """The clamped frame in the link frame, and the link with its length.

    Without a root the beam runs from the link's frame straight to its end, and z, about which it bends in y, is as near
    to the joint's axis as that allows.
    """
    what = f"its child joint {end!r}" if end in seat.children else f"{end!r}"
    if end is None and (not link.has_length or (link.root is None and seat.children)):
        n = len(seat.children)
        ahead = ", ".join(repr(name) for name, at in seat.standing.items() if at[:3, 3].any())
        raise ArgumentError(
            f"link {seat.name!r}: it has {f'{n} child joints' if n else 'no child joint'}; say with to= on which of "
            f"{ahead} the beam ends, or give root= and the beam's length"
        )
    if link.root is not None:
        clamped = np.asarray(link.root)
        if end is None:
            return clamped, link
        length = float((np.linalg.inv(clamped) @ seat.standing[end])[0, 3])
        if link.has_length:
            if link.to is not None:
                _require_length(seat, link, end, length, f"{what} is {length:g} m along x of root=")
            return clamped, link
        if length <= 0:
            raise ArgumentError(
                f"link {seat.name!r}: {what} lies at {length:.6g} m along x of root=, so that the beam has no length; "
                "turn x of root= towards it, or give the beam a length"
            )
        return clamped, link.with_length(length)

    if end is None:
        towards, what = 2 * seat.joint.com, "twice its centre of mass"
    else:
        towards = seat.standing[end][:3, 3]
    length = float(np.linalg.norm(towards))
    if length == 0:
        raise ArgumentError(
            f"link {seat.name!r}: {what} lies in the link's frame, so that the beam has no direction; say with root= "
            "where it begins and runs"
        )
    if link.has_length:
        _require_length(seat, link, end, length, f"{what} is {length:g} m from the link's frame")
    else:
        link = link.with_length(length)
    x = towards / length
    axis = np.array(seat.joint.type.axis) if isinstance(seat.joint.type, Revolute) else np.array([0.0, 0.0, 1.0])
    across = axis - x * (x @ axis)
    z = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-6 else turned_to(x)[:, 0]
    return homogeneous(np.column_stack([x, np.cross(z, x), z]), np.zeros(3)), link


def _require_length(seat: _Seat, link: FlexibleLink, end: str | None, length: float, where: str) -> None:
    if abs(length - link.length) > _SAME_LENGTH * link.length and end not in link.children:
        raise ArgumentError(
            f"link {seat.name!r}: the beam is {link.length:g} m long, but {where}; give that length or none, say with "
            "children= where on the beam that stands, or with to= or root= where the beam runs"
        )


def _abscissae(seat: _Seat, link: FlexibleLink, clamped: Array, end: str | None) -> dict[str, float]:
    """Where on the beam each child joint and frame stands [m].

    What is fixed to each other stands together: where ``children`` says it of one of them; on the tip, if the beam ends
    at one of them; else where the outermost of them lies.
    """
    fixtures = {name: seat.fixture(name) for name in seat.standing}
    said: dict[str, str | float] = {}
    for name, where in link.children.items():
        said.setdefault(fixtures[name], where)
    inverse = np.linalg.inv(clamped)
    ends_there = end is not None and abs((inverse @ seat.standing[end])[0, 3] / link.length - 1) <= _SAME_LENGTH
    abscissae: dict[str, float] = {}
    for name, fixture in fixtures.items():
        given: str | float | None = link.children[name] if name in link.children else said.get(fixture)
        if given is None and ends_there and end is not None and fixture == fixtures[end]:
            given = "tip"
        if given is None:
            lies = float((inverse @ seat.standing[fixture])[0, 3])
            if name in seat.children and lies > link.length * (1 + _SAME_LENGTH):
                raise ArgumentError(
                    f"link {seat.name!r}: child joint {name!r} lies at {lies:g} m, beyond the tip of the beam of "
                    f"{link.length:g} m; give a longer beam, or say with children={{{name!r}: 'tip'}} that it stands "
                    "on the tip"
                )
            given = min(max(lies, 0.0), link.length)
        eta = given if not isinstance(given, str) else link.length if given == "tip" else 0.0
        ends = (e for e in (0.0, link.length) if abs(eta - e) <= _SAME_LENGTH * link.length)
        abscissae[name] = next(ends, float(eta))
    return abscissae


def by_hand(model: pin.Model, index: int) -> list[pin.Frame]:
    """Body frames of a joint beside that of its link, whose inertia the model does not tell from the link's own."""
    here = [f for f in model.frames if f.parentJoint == index]
    fixed = {f.name for f in here if f.type == pin.FrameType.FIXED_JOINT}
    bodies = [f for f in here if f.type == pin.FrameType.BODY]
    own = next((f.name for f in bodies if f.placement.isIdentity(1e-12)), None)
    return [f for f in bodies if f.name != own and model.frames[f.parentFrame].name not in fixed]


def _fixed_bodies(seat: _Seat, given: Mapping[str, pin.Inertia]) -> list[tuple[str, Array, Array]]:
    """Bodies that are fixed to the link: frame, placement in the link frame (4 × 4), pseudo-inertia (4 × 4) in it.

    A URDF's are those of its fixed joints; of a model made by hand they are given.
    """
    untold = by_hand(seat.model, seat.index)
    if missing := [f.name for f in untold if f.name not in given]:
        asked = ", ".join(f"{name!r}: pin.Inertia(...)" for name in missing)
        raise ArgumentError(
            f"link {seat.name!r}: the model does not tell its own body from what is fixed to it; give the inertia of "
            f"each in its frame: fixed_bodies={{{asked}}}"
        )
    fixed = [
        (f.name, f.placement.homogeneous, _pseudo_inertia(f.inertia))
        for f in seat.model.frames
        if f.parentJoint == seat.index and f.type == pin.FrameType.FIXED_JOINT and f.inertia.mass > 0
    ]
    return fixed + [(f.name, f.placement.homogeneous, _pseudo_inertia(given[f.name])) for f in untold]


def _own_body(seat: _Seat, fixed: list[tuple[str, Array, Array]]) -> Array:
    """The pseudo-inertia (4 × 4) of the link's own body, in the link frame."""
    whole = _pseudo_inertia(seat.model.inertias[seat.index])
    own: Array = whole - sum((at @ mass @ at.T for _, at, mass in fixed), np.zeros((4, 4)))
    if own[3, 3] < -1e-9 * whole[3, 3]:
        raise ArgumentError(
            f"link {seat.name!r}: what is fixed to it has {whole[3, 3] - own[3, 3]:.6g} kg, and the model gives it and "
            f"the link's own body {whole[3, 3]:.6g} kg together; give less in fixed_bodies"
        )
    return own


def _replacement(name: str, own: Array, beam: Array, length: float) -> Replacement:
    com = own[:3, 3] / own[3, 3] if own[3, 3] > 0 else np.zeros(3)
    found = Replacement(name, float(own[3, 3]), float(beam[3, 3]), frozen(com), frozen(beam[:3, 3] / beam[3, 3]))
    heavier = abs(found.mass - found.beam_mass) > _TOLD * max(found.mass, found.beam_mass)
    if heavier or np.abs(found.com - found.beam_com).max() > _TOLD * length:
        warnings.warn(
            f"{found}; give a hub= for what is left, or keep_body=True to have both", stacklevel=stack_level()
        )
    return found

"""Links that are beams, and flexible links in assumed modes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentError, ArgumentTypeError, TipWarning, UnsupportedError, shown
from gdalembert.flexible.beams import modal_integrals
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.modal_integrals import eigenmodes, eigenmodes_of, largest_eigenvalue, modal_mass
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.modes import ModeSet, clamped_free, craig_bampton
from gdalembert.flexible.station import (
    NO_BODY,
    AttachedBeam,
    AttachedLink,
    BeamSite,
    BeamStation,
    CarriedBeam,
    check_body,
)
from gdalembert.flexible.station import root as root_station
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import checked_transform, listed, number, numbers, warn
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief

Where: TypeAlias = str | float
"""``"root"``, ``"tip"``, or an abscissa [m]."""
_ROUNDING = 1e-9
"""Relative to the largest number: the difference between integrals of one link on different machines."""
_SECTIONS = 17
"""Cross sections of a piece of a tapered beam, of which the largest is taken."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BeamLink(Brief, ABC):
    """A link that is a beam.

    Attributes:
        beam: a :class:`~gdalembert.Beam`, or :class:`~gdalembert.Nodes`.
        to: the name of the child joint or frame to which the beam runs; ``None``: the only child joint.
        root: the clamped frame in the link frame, 4 × 4 or a ``pin.SE3``, x along the beam; a beam without a length
            then ends at the abscissa of ``to`` or of the child joint, whatever its offset from x. ``None``: at the link
            frame, x towards the end of the beam.
        children: where joints and frames on the link are attached, by name: ``"root"``, ``"tip"`` or an abscissa [m];
            with nodes, at the nearest one. A joint or frame with an offset from the beam is rigidly fixed to it. The
            arm places names that are left out; a child joint beyond the tip must not be left out.
        hub: a ``pin.Inertia`` fixed to the clamped frame, given in that frame.
        keep_body: whether the link's own body stays as a rigid hub at the root, beside the beam: a motor's housing.
        tip_body: a ``pin.Inertia`` fixed to the tip, given in the tip frame.
        modal_damping: damping ratios ζ of the modes of the bare clamped link: one for all, or one for each, from the
            lowest frequency up.
        rayleigh: (α [1/s], β [s]): α M_ff + β K_f of the bare clamped link.
        radius: that of a circle about every cross section [m], for distances; ``None``: of the section of the beam.
    """

    beam: Beam | Nodes
    to: str | None = None
    root: Any = None
    children: Mapping[str, Where] = field(default_factory=dict)
    hub: pin.Inertia | None = None
    keep_body: bool = False
    tip_body: pin.Inertia | None = None
    modal_damping: float | tuple[float, ...] | None = None
    rayleigh: tuple[float, float] | None = None
    radius: float | None = None

    has_assumed_modes: ClassVar[bool] = False
    """True if sections move by shapes times coordinates, for small slopes."""

    @property
    @abstractmethod
    def mode_names(self) -> tuple[str, ...]:
        """A name for each modal coordinate."""

    @property
    @abstractmethod
    def body(self) -> Array:
        """The pseudo-inertia (4 × 4) of the undeformed bare link, in the clamped frame."""

    @abstractmethod
    def station(self, where: Where) -> BeamStation:
        """A station of the undeformed link."""

    @abstractmethod
    def on_link(self, site: BeamSite) -> AttachedLink:
        """The beam as joints and inertias of a tree, at its site."""

    @abstractmethod
    def sections(self, etas: Array, f: Matrix, kind: type[Deflection]) -> list[tuple[Matrix, Matrix]]:
        """R and p of sections at abscissae [m] in the clamped frame, at modal coordinates f."""

    @property
    @abstractmethod
    def strained(self) -> tuple[str, ...]:
        """The kinds of strain that the coordinates have, of ``"bending_y"``, ``"bending_z"``, …"""

    @abstractmethod
    def fibre_strain(self, abscissa: float, y: float, z: float) -> Array:
        """Strain along the beam per unit of each modal coordinate (n) of the fibre at (y, z) [m] of a section [m]."""

    def radius_between(self, first: float, last: float) -> float | None:
        """The radius of a circle about all cross sections between two abscissae [m], if they are known."""
        section = self.beam.section if isinstance(self.beam, Beam) else None
        if self.radius is not None or section is None:
            return self.radius
        return float(section.radius(np.linspace(first, last, _SECTIONS)).max())

    def by_role(self, *, carries: bool) -> Self:
        """The link with the modes that it has in an arm, where it may carry something beyond its root."""
        return self

    @property
    def families(self) -> dict[str, ModeSet]:
        """The sets of shapes by direction, in the order of the modes; none of other links than those in such modes."""
        return {}

    @property
    def directions_by_role(self) -> tuple[str, ...]:
        """The arguments that hold modes which the arm chooses, and may leave out."""
        return ()

    def straight(self) -> Self:
        """The link without foreshortening, unless it says otherwise."""
        return self

    @property
    def shears(self) -> bool:
        """True if sections shear in both directions in which the beam bends."""
        return False

    def stands_as(self, tip: Any, inertia: Any, clamped: Array) -> bool:
        """True if the motion of the tip and the inertia in a tree are those of the link, as far as it can tell.

        Args:
            tip: the motion of its joint type. ``inertia``: in the frame of the link.
            clamped: the clamped frame there (4 × 4).
        """
        return True

    @property
    def sag(self) -> float:
        """Small deflection of the tip under the weight of the link [m]; zero of a rod, whose deflections are large."""
        return 0.0

    @property
    def has_length(self) -> bool:
        """True if the length is known; otherwise the arm gives it."""
        return isinstance(self.beam, Nodes) or self.beam.length is not None

    @property
    def length(self) -> float:
        """Length of the beam [m].

        Raises:
            ArgumentError: if it has none yet.
        """
        if isinstance(self.beam, Nodes):
            return float(self.beam.positions[self.beam.tip, 0])
        return self.beam.require_length()

    def with_length(self, length: float) -> Self:
        """The link with a beam of that length [m]."""
        return self if isinstance(self.beam, Nodes) else replace(self, beam=self.beam.with_length(length))

    def damping(self, mass: Array, stiffness: Array) -> Array:
        """D_f (n × n) of the modal coordinates of the bare clamped link, with M_ff and K_f; zero without damping.

        Raises:
            ArgumentError: if ``modal_damping`` is given and a mode has no inertia of its own.
        """
        if self.rayleigh is not None:
            alpha, beta = self.rayleigh
            return frozen(alpha * mass + beta * stiffness)
        if self.modal_damping is None:
            return frozen(np.zeros_like(stiffness))
        frequencies, vectors = eigenmodes_of(mass, stiffness)
        inverse = vectors.T @ mass  # Ψ⁻¹ = Ψᵀ M_ff of mass-normalised modes
        ratios = np.broadcast_to(np.asarray(self.modal_damping), len(stiffness))
        damping = inverse.T @ ((2 * ratios * frequencies)[:, None] * inverse)
        return frozen((damping + damping.T) / 2)

    def _settle(self) -> None:
        """Check the arguments, and give them the types that they have as attributes."""
        if not isinstance(self.keep_body, bool):
            raise ArgumentTypeError(
                f"{type(self).__name__}: keep_body: expected True or False, got {shown(self.keep_body)}"
            )
        if self.to is not None and not isinstance(self.to, str):
            raise ArgumentTypeError(f"to: expected the name of a joint or frame, got {shown(self.to)}")
        for name in ("hub", "tip_body"):
            if (body := getattr(self, name)) is not None:
                check_body(name, body)
        children: Any = {} if self.children is None else self.children
        if not isinstance(children, Mapping):
            raise ArgumentTypeError(
                f"children: expected {{name: 'root', 'tip' or an abscissa [m]}}, got {shown(children)}"
            )
        for name, place in children.items():
            if not isinstance(name, str):
                raise ArgumentTypeError(f"children: expected names, got {shown(name)}")
            self._abscissa(f"children[{name!r}]", place)
        settled: dict[str, Any] = {"children": dict(children)}
        if self.root is not None:
            settled["root"] = checked_transform(
                "root", self.root, expected="a pin.SE3 or 4 × 4 numbers", tolerance=1e-9
            )
        if self.radius is not None:
            settled["radius"] = number(f"{type(self).__name__}: radius", self.radius, "m")
        for name, value in (settled | self._settled_damping()).items():
            object.__setattr__(self, name, value)

    def _settled_damping(self) -> dict[str, Any]:
        """``rayleigh`` or ``modal_damping``, if given, with the types that they have as attributes."""
        if self.rayleigh is not None:
            if self.modal_damping is not None:
                raise ArgumentError(f"{type(self).__name__}: got modal_damping and rayleigh; give one of them")
            if len(pair := listed(self.rayleigh) or []) != 2:
                raise ArgumentTypeError(f"rayleigh: got {shown(self.rayleigh)}; give (α [1/s], β [s])")
            alpha = number("rayleigh α", pair[0], "1/s", inclusive=True)
            return {"rayleigh": (alpha, number("rayleigh β", pair[1], "s", inclusive=True))}
        if (ratios := listed(self.modal_damping)) is not None:
            checked = (number(f"modal_damping[{k}]", ratio, inclusive=True) for k, ratio in enumerate(ratios))
            return {"modal_damping": tuple(checked)}
        if self.modal_damping is not None:
            return {"modal_damping": number("modal_damping", self.modal_damping, inclusive=True)}
        return {}

    def _abscissa(self, argument: str, place: Where) -> float:
        """The abscissa [m] of an argument; that of the tip is infinite before the length is known."""
        length = self.length if self.has_length else np.inf
        if isinstance(place, str):
            if place not in ("root", "tip"):
                raise ArgumentError(f"{argument}: got {shown(place)}; give 'root', 'tip' or an abscissa [m]")
            return 0.0 if place == "root" else length
        eta = number(argument, place, "m", inclusive=True)
        if eta > length * (1 + ROUND_OFF):
            raise ArgumentError(f"{argument}: {eta:g} m does not lie on the link, which is {length:g} m long")
        return eta

    def _check_ratios(self) -> None:
        n = len(self.mode_names)
        if isinstance(self.modal_damping, tuple) and len(self.modal_damping) != n:
            count = len(self.modal_damping)
            raise ArgumentError(f"modal_damping: got {count} ratios; give one, or one for each of the {n} modes")


class Choice(Enum):
    """A choice that is left to the arm."""

    BY_ROLE = "by role"
    """A set of modes."""


Modes: TypeAlias = ModeSet | Choice | None
"""A set, the one of the link's role, or none."""


@dataclass(frozen=True, eq=False)
class FlexibleLink(BeamLink):
    """A flexible link, in bending, extension and torsion (Cetinkunt and Book 1988; foreshortening is ours).

    *What is replaced*: the beam replaces the link's own body, the one of its ``<inertial>``; the arm warns if mass or
    centre of mass then differ by more than 1 %. Bodies on fixed joints of the link stay, on the beam.

    *Where the beam runs*: by default straight from the link frame to the only child joint, which is attached to the
    tip. A beam without a length has that distance as its length. Other child joints and frames are attached where they
    lie along the beam; those that are fixed to each other are attached together.

    Modes are ordered y, z, extension, torsion. *Modes by role*: a beam without any set has no modes yet; the arm, which
    knows what the link carries and what can bend it, chooses them by :meth:`by_role`.

    Attributes:
        beam: a :class:`~gdalembert.Beam`, with a length or without, or
            :class:`~gdalembert.Nodes`, which bring their own modes; their length is the largest abscissa of a node,
            which :meth:`with_length` leaves as it is.
        bending_y, bending_z, extension, torsion: sets of :mod:`gdalembert.flexible.modes`; ``None``: none. By default
            bending is chosen by role if no set is given; otherwise the link has the given sets only. With
            foreshortening, extension is the axial strain on top of it.
        foreshortening: whether a bent beam shortens; by default it does, except in an arm with
            a :class:`~gdalembert.FirstOrderArm`, which cannot have it. Nodes shorten if they have a ``shortening``.
        to, root, children, hub, keep_body, tip_body, modal_damping, rayleigh: as in :class:`BeamLink`.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if a value is invalid, a set is not clamped at the root or contains a linear combination of
            other shapes, the beam has no stiffness for a set, or ``modal_damping`` is given for a mode without inertia
            of its own. The arm checks that torsion moves some inertia, of the section or of bodies on the link.

    Warns:
        TipWarning: if a set does not move the tip.
    """

    has_assumed_modes = True

    beam: Beam | Nodes
    bending_y: Modes = Choice.BY_ROLE
    bending_z: Modes = Choice.BY_ROLE
    extension: ModeSet | None = None
    torsion: ModeSet | None = None
    foreshortening: bool | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.beam, Beam | Nodes):
            raise ArgumentTypeError(f"FlexibleLink: expected a Beam or Nodes, got {shown(self.beam)}")
        if not isinstance(self.foreshortening, bool | None):
            raise ArgumentTypeError(
                f"FlexibleLink: foreshortening: expected True or False, got {shown(self.foreshortening)}"
            )
        for name in modal_integrals.DIRECTIONS:
            modes = getattr(self, name)
            if not isinstance(modes, Modes) or (modes is Choice.BY_ROLE and not name.startswith("bending")):
                raise ArgumentTypeError(f"{name}: expected a set of gdalembert.modes, got {shown(modes)}")
            if isinstance(modes, ModeSet) and isinstance(self.beam, Nodes):
                raise ArgumentError(f"{name}: Nodes bring their own modes; leave it out")
        self._settle()
        if not self.has_modes:
            return
        if isinstance(self.beam, Beam):
            modal_integrals.check_families(self.beam, self.families)
            for name in modal_integrals.unmoved_tip(self.beam, self.families):
                warn(
                    f"{name}: {', '.join(self.families[name].names)} neither shift nor turn the tip, so that what the "
                    "link carries moves as on a rigid link; add modes.hermite() (modes.craig_bampton has both)",
                    TipWarning,
                )
        for place in self.children.values():
            self.station(place)
        self._check_ratios()
        self.damping_matrix()

    @property
    def has_modes(self) -> bool:
        """True if modes and length are given, so that integrals and stations are known."""
        return isinstance(self.beam, Nodes) or (self.has_length and bool(self.families))

    @property
    def shortens(self) -> bool:
        """True if a bent beam shortens."""
        return self.foreshortening is not False

    @property
    def families(self) -> dict[str, ModeSet]:
        """The sets that are given, by direction, in the order of the modes."""
        values = ((name, getattr(self, name)) for name in modal_integrals.DIRECTIONS)
        return {name: modes for name, modes in values if isinstance(modes, ModeSet)}

    @property
    def mode_names(self) -> tuple[str, ...]:
        """``"y1"``, ``"y2"``, ``"z1"``, ``"x1"``, ``"t1"``, …; of nodes ``"f1"``, ``"f2"``, …"""
        if isinstance(self.beam, Nodes):
            return tuple(f"f{j}" for j in range(1, self.beam.modes + 1))
        return modal_integrals.mode_names(self.families)

    def with_modes(self, **families: Modes) -> FlexibleLink:
        """The link with other sets: ``bending_y=``, ``bending_z=``, ``extension=``, ``torsion=``."""
        return replace(self, **families)  # type: ignore[arg-type]  # of any field, for mypy

    @property
    def directions_by_role(self) -> tuple[str, ...]:
        """``"bending_y"``, ``"bending_z"``: where the arm chooses modes, as far as the beam can bend."""
        if self.families or not isinstance(self.beam, Beam):
            return ()
        stiffness = {"bending_y": self.beam.EI_z, "bending_z": self.beam.EI_y}
        return tuple(name for name, ei in stiffness.items() if ei is not None and getattr(self, name) is Choice.BY_ROLE)

    def by_role(self, *, carries: bool) -> FlexibleLink:
        """The link with modes: its own, or else those of its role, in each of :attr:`directions_by_role`.

        Args:
            carries: whether anything with inertia is attached to the beam beyond its root. Then the modes are
                ``craig_bampton(2)``, static shapes with two interior modes; otherwise they are ``clamped_free(4)``,
                exact for a bare beam.

        Raises:
            ArgumentError: if the beam has no bending stiffness, or it may have no modes.
        """
        if self.families or not isinstance(self.beam, Beam):
            return self
        if not self.directions_by_role:
            stiff = self.beam.EI_z is None and self.beam.EI_y is None
            why = (
                "the beam has neither EI_y nor EI_z; give one [N m²], or"
                if stiff
                else "it may bend in no direction; give"
            )
            raise ArgumentError(f"FlexibleLink: {why} a set of modes")
        chosen = craig_bampton(2) if carries else clamped_free(4)
        return self.with_modes(**dict.fromkeys(self.directions_by_role, chosen))

    @property
    def body(self) -> Array:
        return self.inertia().rigid

    def inertia(self) -> ModalInertia:
        """The integrals over the bare link, in the clamped frame: without hub and tip body, which are on stations.

        Raises:
            ArgumentError: if the link has no modes yet.
        """
        return self._inertia

    @cached_property
    def _inertia(self) -> ModalInertia:
        beam = self._with_modes()
        if isinstance(beam, Nodes):
            return beam.inertia
        return modal_integrals.beam_inertia(beam, self.families, foreshortening=self.shortens)

    def station(self, where: Where, body: Array | None = None) -> BeamStation:
        """A station of the link.

        Args:
            where: ``"root"``, ``"tip"`` or an abscissa [m]. With nodes, the node that lies nearest to that abscissa on
                the x axis; what is attached there is rigidly fixed to it.
            body: pseudo-inertia (4 × 4) of all bodies fixed to it, tip body and hub included, in its frame.

        Raises:
            ArgumentTypeError: if ``where`` is none of these.
            ArgumentError: if the link has no modes yet, or no such station.
        """
        beam, eta = self._with_modes(), self._abscissa("station", where)
        body = NO_BODY if body is None else numbers("station: body", body)
        if body.shape != (4, 4):
            raise ArgumentError(f"station: body has shape {body.shape}; give a pseudo-inertia, 4 × 4")
        if eta == 0:
            return root_station(self.inertia().modes, body)
        if isinstance(beam, Beam):
            return modal_integrals.beam_station(beam, self.families, eta, body, foreshortening=self.shortens)
        return beam.station(beam.nearest(np.array([eta, 0.0, 0.0])), body)

    def on_link(self, site: BeamSite) -> AttachedLink:
        inertia, etas, sections = self.inertia(), list(site.stations), tuple(site.stations.values())
        link_to_clamped = np.linalg.inv(site.clamped)
        names = tuple(f"{site.name} {mode}" for mode in self.mode_names)
        carried = CarriedBeam(site.carrier, inertia, site.clamped, sections, names)
        attachments = {
            name: carried.attachment(
                etas.index(eta), site.stations[eta].to_axis(0) @ link_to_clamped @ site.placements[name]
            )
            for name, eta in site.abscissae.items()
        }
        beam = AttachedBeam(
            inertias={site.carrier.index: inertia.placed(site.clamped)} if inertia.modes else {},
            stiffness=inertia.stiffness,
            damping=self.damping_matrix(),
            root=carried.attachment(0, np.eye(4)),
            tip=carried.attachment(1, sections[1].to_axis(self.length)),
            length=self.length,
            kind=type(self),
            replacement=site.replacement,
            buckling_load=self.buckling_load(),
            frequency=1 / np.sqrt(largest_eigenvalue(inertia.stiffness, modal_mass(inertia, *sections))),
        )
        return AttachedLink(carried.joints, attachments, beam)

    def sections(self, etas: Array, f: Matrix, kind: type[Deflection]) -> list[tuple[Matrix, Matrix]]:
        placed: list[tuple[Matrix, Matrix]] = []
        for eta in map(float, etas):
            station = self.station(eta)
            r, p = station.deflection(np.eye(4), kind=kind).placement(f)
            placed.append((r, p + r @ spatial.constant(station.to_axis(eta)[:3, 3])))
        return placed

    @property
    def strained(self) -> tuple[str, ...]:
        return tuple(self.families)

    def fibre_strain(self, abscissa: float, y: float, z: float) -> Array:
        if isinstance(self.beam, Nodes):
            raise UnsupportedError("strain: Nodes tell how they move, not the strain between them; give a Beam")
        return modal_integrals.fibre_strain(self.families, abscissa, self.length, y, z)

    def straight(self) -> FlexibleLink:
        return replace(self, foreshortening=False) if self.foreshortening is None else self

    def stands_as(self, tip: Any, inertia: Any, clamped: Array) -> bool:
        ours = self.station("tip").deflection(clamped)
        pairs = [(getattr(ours, name), getattr(tip, name)) for name in ("origin", "translation", "rotation")]
        pairs += [(ours.shortening, tip.shortening), (self.inertia().stiffness, inertia.stiffness)]
        return all(np.abs(a - b).max(initial=0) <= _ROUNDING * np.abs(b).max(initial=0) for a, b in pairs)

    @property
    def sag(self) -> float:
        inertia, tip = self.inertia(), self.station("tip")
        weight = 9.81 * inertia.first[: inertia.modes, 3, :3]
        return float(np.abs(tip.translation[1:] @ np.linalg.solve(inertia.stiffness, weight)[:, 1:]).max())

    def damping_matrix(self) -> Array:
        """D_f (n × n) of the modal coordinates of the bare link; zero without damping.

        Raises:
            ArgumentError: if the link has no modes yet, or if ``modal_damping`` is given and a mode has no inertia of
                its own.
        """
        inertia = self.inertia()
        return self.damping(modal_mass(inertia), inertia.stiffness)

    def own_frequencies(self, *loads: BeamStation) -> Array:
        """ω (n, rad/s), rising, of the link with its root clamped.

        Args:
            loads: stations whose bodies move with it; none for the bare link.

        Raises:
            ArgumentError: if the link has no modes yet, or a mode moves no inertia.
        """
        return eigenmodes(self.inertia(), *loads)[0]

    def buckling_load(self) -> float:
        """The axial force P [N] under which the bare link, clamped at its root, buckles.

        The least P with K_f − P s singular, s = s(l) being the shortening of the tip: π² EI / 4 l² for a uniform beam.
        Infinite without bending; nan for nodes without a ``shortening``.

        Raises:
            ArgumentError: if the link has no modes yet.
        """
        inertia, beam = self.inertia(), self.beam
        if isinstance(beam, Beam):
            shortening = modal_integrals.beam_station(beam, self.families, self.length).shortening
        elif beam.shortening is None:
            return np.nan
        else:
            shortening = beam.shortening[..., beam.tip]
        flexibility = largest_eigenvalue(inertia.stiffness, shortening)
        return 1 / flexibility if flexibility > 0 else np.inf

    def _with_modes(self) -> Beam | Nodes:
        """The beam of a link with modes; nodes shorten as far as the link does."""
        if not self.has_length:
            raise ArgumentError(
                "FlexibleLink: its beam has no length before an arm gives it one; give the beam a length, or ask "
                "with_length(…) [m]"
            )
        if not self.has_modes:
            raise ArgumentError(
                "FlexibleLink: its modes are chosen by its role in an arm; give bending_y=, bending_z=, extension= or "
                "torsion=, or ask by_role(carries=…)"
            )
        if isinstance(self.beam, Nodes) and not self.shortens:
            return replace(self.beam, shortening=None)
        return self.beam


Links: TypeAlias = Mapping[str, BeamLink]
"""The flexible links of an arm, by the name of their body frame."""

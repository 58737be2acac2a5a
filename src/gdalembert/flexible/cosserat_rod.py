"""A Cosserat rod as a link: geometrically exact, with strain as the unknown; its segments, and its joints in a tree.

On a segment from η₀ to η₁, with x = −1 … 1, coordinate d of a strain multiplies Legendre's polynomial P_d(x). The nodes
are those of Lobatto's rule with degree + 5 points, so that M and tau are right to 1e-6 where a segment bends by half a
radian; several segments of constant strain are with 4. (By measurement; ours.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.quadrature import Quadrature, converged
from gdalembert.flexible.flexible_link import BeamLink, Where
from gdalembert.flexible.station import (
    NO_BODY,
    AttachedBeam,
    AttachedLink,
    Attachment,
    BeamSite,
    BeamStation,
    ahead,
    root,
)
from gdalembert.model.joints import Fixed, JointType, Revolute
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.joints.strain_segment import MagnusStep, StrainSegment, StrainStation
from gdalembert.model.modal_inertia import SegmentInertia
from gdalembert.model.rounding import ROUND_OFF, clean_matrix, drop, known_digits
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import Property, evaluate, integer, number
from gdalembert.spatial.arrays import Array, frozen, homogeneous

STRAINS = {
    "torsion": (0, 0, 1, "GJ"),
    "bending_y": (0, 2, 1, "EI_z"),
    "bending_z": (0, 1, -1, "EI_y"),
    "elongation": (1, 0, 1, "EA"),
    "shear_y": (1, 1, 1, "GA_y"),
    "shear_z": (1, 2, 1, "GA_z"),
}
"""κ (0) or ν (1), its component and sign, and the stiffness: ``bending_z`` bends towards z, as a turn about −y does."""
_KNOWN = f"give some of ({', '.join(map(repr, STRAINS))})"
MOST = 20
"""The highest degree; integrals of higher ones lose digits."""
MOST_SEGMENTS = 1000
"""More have equations that no computer holds."""
_NODES = 5
"""More than the degree."""
_NOISE = 1e-14
"""Integrals below this multiple of ∫ |…| are zero (orthogonal polynomials)."""


@dataclass(frozen=True, eq=False)
class CosseratRod(BeamLink):
    """A flexible link that bends, twists and stretches as far as it likes (Renda et al. 2020, Boyer et al. 2021).

    The strain of each segment is a polynomial of the abscissa, and its coefficients are the coordinates: of strain s
    and of Legendre's polynomial P_d, segment by segment, strain by strain, with rising degree. Positions and rotations
    follow without a limit of small deflections. Coordinates are measured from the rod at rest: q = 0 has no stress.

    Where the beam runs, what it replaces and how it is damped is as of :class:`~gdalembert.FlexibleLink`.

    Attributes:
        beam: a beam with a length or without.
        segments: number of pieces of equal length, each with coordinates of its own.
        degree: that of the polynomials; 0 is piecewise constant strain.
        strains: those that the rod has, of ``"torsion"`` [rad/m], ``"bending_y"``, ``"bending_z"`` (curvature towards y
            and towards z, with EI_z and EI_y [1/m]), ``"elongation"``, ``"shear_y"``, ``"shear_z"``. It is rigid
            against the others.
        rest: strain of the unloaded rod, by name, also of strains that it does not have otherwise: a number, or a
            function of the abscissa η [m].
        to, root, children, hub, keep_body, tip_body, modal_damping, rayleigh: as in :class:`BeamLink`; ``rayleigh=(0,
            β)`` is Kelvin–Voigt's damping.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if a value is invalid, or the beam has no stiffness for a strain.
    """

    beam: Beam
    segments: int = 1
    degree: int = 3
    strains: tuple[str, ...] = ("torsion", "bending_y", "bending_z")
    rest: Mapping[str, Property] | None = field(default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.beam, Beam):
            raise ArgumentTypeError(f"CosseratRod: expected a Beam, got {shown(self.beam)}")
        object.__setattr__(self, "segments", integer("CosseratRod: segments", self.segments, 1, MOST_SEGMENTS))
        object.__setattr__(self, "degree", integer("CosseratRod: degree", self.degree, 0, MOST))
        self._check_strains()
        object.__setattr__(self, "strains", tuple(self.strains))
        object.__setattr__(self, "rest", self._checked_rest())
        self._settle()
        self._check_ratios()

    def _check_strains(self) -> None:
        argument, strains = "CosseratRod: strains", self.strains
        if not isinstance(strains, tuple | list):
            raise ArgumentTypeError(f"{argument}: got {shown(strains)}; {_KNOWN}")
        if not strains:
            raise ArgumentError(f"{argument}: got none; {_KNOWN}")
        for name in strains:
            if not isinstance(name, str) or name not in STRAINS:
                raise ArgumentError(f"{argument}: got {shown(name)}; {_KNOWN}")
            if strains.count(name) > 1:
                raise ArgumentError(f"{argument}: got {shown(name)} {strains.count(name)} times; give it once")
            if getattr(self.beam, stiffness := STRAINS[name][3]) is None:
                raise ArgumentError(
                    f"{argument}: {name!r} needs the stiffness {stiffness} of the beam; give it, as "
                    f"by dataclasses.replace(beam, {stiffness}=…), or leave {name!r} out"
                )

    def _checked_rest(self) -> dict[str, Property]:
        rest: Any = {} if self.rest is None else self.rest
        if not isinstance(rest, Mapping):
            raise ArgumentTypeError(
                f"CosseratRod: rest: got {shown(rest)}; give {{strain: number or function of η [m]}}"
            )
        checked: dict[str, Property] = {}
        for name, value in rest.items():
            if name not in STRAINS:
                raise ArgumentError(f"CosseratRod: rest: got {shown(name)}; {_KNOWN}")
            argument = f"CosseratRod: rest[{name!r}]"
            checked[name] = value if callable(value) else number(argument, value, least=-np.inf)
            if name == "elongation" and not callable(value) and value <= -1:
                raise ArgumentError(f"{argument}: got {value:g}; give more than -1, where the rod has no length")
        return checked

    @property
    def body(self) -> Array:
        return self.beam.pseudo_inertia

    @property
    def shears(self) -> bool:
        return all(self.strains.count(f"shear_{x}") >= self.strains.count(f"bending_{x}") for x in "yz")

    def station(self, where: Where) -> BeamStation:
        """The section at ``"root"``, ``"tip"`` or an abscissa [m], straight and without modes.

        Raises:
            ArgumentError: if it does not lie on the rod.
        """
        return replace(root(0), position=np.array([self._abscissa("station", where), 0.0, 0.0]))

    def on_link(self, site: BeamSite) -> AttachedLink:
        carrier, clamped = site.carrier, site.clamped
        axes = homogeneous(clamped[:3, :3], np.zeros(3))
        on_sections = {eta: axes @ station.body @ axes.T for eta, station in site.stations.items() if eta > 0}
        made = RodJoints.of(
            self, clamped, on_sections, site.name, carrier.index, carrier.mode_idx_q, carrier.mode_idx_v
        )
        body = made.inertias[carrier.index].rigid + clamped @ site.stations[0.0].body @ clamped.T
        carried = replace(carrier.joint, pseudo_inertia=frozen(clean_matrix(body)))

        def attached(eta: float, placement: Array) -> Attachment:
            """Place along the rod of a placement in the link frame of the straight rod."""
            root = np.zeros(3) if eta == 0 else -(clamped @ ahead(eta))[:3, 3]
            return Attachment(made.at[eta], homogeneous(np.eye(3), root) @ placement)

        beam = AttachedBeam(
            inertias=made.inertias,
            stiffness=made.stiffness,
            damping=self.damping_matrix(),
            root=attached(0.0, clamped),
            tip=attached(self.length, clamped @ ahead(self.length)),
            length=self.length,
            kind=type(self),
            replacement=site.replacement,
        )
        attachments = {name: attached(eta, site.placements[name]) for name, eta in site.abscissae.items()}
        return AttachedLink((carried, *made.joints), attachments, beam)

    @property
    def strained(self) -> tuple[str, ...]:
        return self.strains

    def fibre_strain(self, abscissa: float, y: float, z: float) -> Array:
        """Linear in the coordinates, as (ν + κ × r)_x is; of a rod that is curved at rest, per length at rest."""
        segments, row = segments_of(self, np.eye(4)), []
        on = min(int(abscissa / self.length * self.segments), self.segments - 1)
        for k, part in enumerate(segments):
            s = np.array([abscissa - part.start])
            kappa, nu = (part._columns(kind, s)[..., 0] for kind in (0, 1))
            along = nu[0] + kappa[1] * z - kappa[2] * y
            row.append(along[:-1] / along[-1] if k == on else np.zeros(len(along) - 1))
        return np.concatenate(row)

    def sections(self, etas: Array, f: Matrix, kind: type[Deflection]) -> list[tuple[Matrix, Matrix]]:
        placements: list[tuple[Matrix, Matrix]] = []
        root: tuple[Matrix, Matrix] = (ca.DM.eye(3), ca.DM(3, 1))
        for eta in etas:
            self.station(float(eta))
        for part in segments_of(self, np.eye(4)):
            q_segment, f = ca.vertsplit(f, [0, part.kinematics.coordinates, f.shape[0]])
            on_segment = [x for x in etas[len(placements) :] if x <= part.end * (1 + ROUND_OFF)]
            placed = [part.station(float(x), ()).placement(q_segment) for x in (*on_segment, part.end)]
            *here, root = [(root[0] @ r, root[1] + root[0] @ p) for r, p in placed]
            placements += here
        return placements

    def damping_matrix(self) -> Array:
        """D (n × n) of the coordinates of the bare rod, straight and clamped at its root; zero without damping.

        Raises:
            ArgumentError: if ``modal_damping`` is given and a coordinate has no inertia of its own.
        """
        if self.rayleigh is None and self.modal_damping is None:
            n = len(self.mode_names)
            return frozen(np.zeros((n, n)))
        made = RodJoints.of(self, np.eye(4), {}, "rod", 0, 1, 1)
        return self.damping(made.clamped_mass_matrix, made.stiffness)

    @property
    def mode_names(self) -> tuple[str, ...]:
        """``"torsion P0"``, …, of several segments ``"segment 1 torsion P0"``, …"""
        heads = [f"segment {k} " for k in range(1, self.segments + 1)] if self.segments > 1 else [""]
        degrees = range(self.degree + 1)
        return tuple(f"{head}{strain} P{d}" for head in heads for strain in self.strains for d in degrees)


def segments_of(rod: CosseratRod, clamped: Array) -> list[RodSegment]:
    """The segments of a rod with a length, whose clamped frame is placed so in the link frame (4 × 4)."""
    rest = {
        name: partial(evaluate, f"CosseratRod: rest[{name!r}]", "1/m", value, least=-np.inf)
        for name, value in (rod.rest or {}).items()
        if callable(value) or value
    }
    length = rod.length / rod.segments
    origins = [clamped[:3, 3], *[np.zeros(3)] * (rod.segments - 1)]
    return [RodSegment(rod, rest, k * length, length, clamped[:3, :3], origin) for k, origin in enumerate(origins)]


@dataclass(frozen=True, eq=False)
class RodJoints:
    """A rod as joints of a tree: stations on its segments, which share the coordinates of their segment.

    Attributes:
        joints: behind the joint of the link. Their pseudo-inertias include those of the segments whose root they carry,
            at rest.
        inertias: those of the segments, by the joint that carries their root.
        at: the joint at each abscissa [m], 0.0 being that of the link.
        stiffness: K (n × n).
    """

    joints: tuple[Joint, ...]
    inertias: Mapping[int, SegmentInertia]
    at: Mapping[float, int]
    stiffness: Array

    @staticmethod
    def of(
        rod: CosseratRod, clamped: Array, bodies: Mapping[float, Array], name: str, link: int, idx_q: int, idx_v: int
    ) -> RodJoints:
        """The rod with a station at its tip and wherever something is attached.

        Args:
            rod: a rod with a length.
            clamped: the clamped frame in the link frame (4 × 4).
            bodies: pseudo-inertias (4 × 4) of what is attached, in link axes about the section, by abscissa [m].
            name: that of the link, for joints and coordinates.
            link: the index of its joint in the tree; the stations follow it.
            idx_q, idx_v: where the coordinates start in q and v.
        """
        joints: list[Joint] = []

        def add(label: str, kind: JointType, parent: int, body: Array, start: int, *shared: float) -> int:
            place, starts = (np.eye(3), np.zeros(3)), (idx_q + start, idx_v + start)
            joints.append(Joint(f"{name} {label}", kind, parent, *place, frozen(body), *starts, *shared))
            return link + len(joints)

        inertias, at, first, carrier = dict[int, SegmentInertia](), {0.0: link}, 0, link
        for part in segments_of(rod, clamped):
            inertia = part.inertia()
            names = tuple(f"{name} {mode}" for mode in rod.mode_names[first : first + inertia.modes])
            if first:
                carrier = add(f"{part.start:g} m", Fixed(), carrier, inertia.rigid, first)
            inertias[carrier] = inertia
            end, *inside = part.stations([*bodies])
            for eta in (end, *inside):
                shared = () if eta == end else (1.0, 0.0)  # scaling, offset
                body = bodies.get(eta, NO_BODY)
                at[eta] = add(f"at {eta:g} m", part.station(eta, names), carrier, body, first, *shared)
            first, carrier = first + inertia.modes, at[end]
        stiffness = ca.diagcat(*(ca.DM(inertia.stiffness) for inertia in inertias.values()))
        return RodJoints(tuple(joints), inertias, at, frozen(stiffness.full()))

    @property
    def clamped_mass_matrix(self) -> Array:
        """M (n × n) of a rod at q = 0 on joint 0, at rest."""
        n = len(self.stiffness) + 1
        body = self.inertias[0].rigid
        base = Joint("base", Revolute((0.0, 0.0, 1.0)), -1, np.eye(3), np.zeros(3), body, 0, 0)
        tree = Tree(
            name="rod",
            nq=n,
            nv=n,
            joints=(base, *self.joints),
            links=(0,),
            joint_names=("base",),
            armature=np.zeros(n),
            damping=np.zeros(1),
            friction=np.zeros(1),
            gravity=np.zeros(3),
            frames=(),
            modal_inertias=tuple(self.inertias.items()),
        )
        whole: Array = ca.DM(mass_matrix(tree, ca.DM.zeros(n))).full()
        return whole[1:, 1:]


@dataclass(frozen=True, eq=False)
class RodSegment:
    """The part of a rod between two abscissae, in the clamped frame turned by ``axes``.

    Attributes:
        rod: the whole rod. ``rest``: its strain where it is unloaded, as functions of the abscissae [m].
        start, length: η₀ and η₁ − η₀ [m].
        axes: the clamped frame in the link frame (3 × 3). ``origin``: the root of the segment there (3, m).
    """

    rod: CosseratRod
    rest: Mapping[str, Callable[[Array], Array]]
    start: float
    length: float
    axes: Array
    origin: Array

    @property
    def end(self) -> float:
        """η₁ [m]."""
        return self.start + self.length

    @cached_property
    def nodes(self) -> Array:
        """Abscissae of the nodes, from 0 to the length [m]."""
        number = self.rod.degree + (_NODES if self.rod.degree or self.rod.segments == 1 else _NODES - 1)
        # Lobatto's: equidistant ones put the tip of half a turn off by 2.5e-4 of the length, not 6e-6
        inner = np.sort(legendre.legroots(legendre.legder([0.0] * (number - 1) + [1.0])))
        inner = (inner - inner[::-1]) / 2  # symmetric to the last bit: equal steps are the same expression
        return np.concatenate([[0.0], (inner + 1) / 2 * self.length, [self.length]])

    @cached_property
    def kinematics(self) -> StrainSegment:
        """Motion of the segment."""
        steps = [self._step(a, b) for a, b in itertools.pairwise(self.nodes)]
        shared = steps[: (len(steps) + 1) // 2]
        if self.rod.degree == 0 and not self.rest:
            steps = shared + shared[: len(steps) // 2][::-1]
        tangents = _with_known_digits([self._columns(1, np.array([s]))[..., 0] for s in self.nodes])
        return StrainSegment(tuple(steps), tangents, frozen(self.origin))

    def _over(self, a: float, b: float, panels: int) -> Quadrature:
        """Between two abscissae of the segment [m]."""
        return Quadrature.of(a, b, panels, np.array(self.rod.beam.breaks) - self.start)

    def _step(self, a: float, b: float) -> MagnusStep:
        """The rotation from abscissa a to b of the segment [m]."""
        over = self._over(a, b, 4)
        columns, x = self._columns(0, over.points), (over.points - (a + b) / 2) / (b - a)
        size = np.abs(columns) @ over.weights
        powers = (columns * over.weights) @ np.column_stack([np.ones_like(x), 12 * x, 180 * x**2 - 15])
        return MagnusStep(_with_known_digits(drop(np.moveaxis(powers, 2, 0), _NOISE * size)))

    def stations(self, etas: Sequence[float]) -> list[float]:
        """Abscissae of the beam [m] that lie on the segment beyond its root, after its end."""
        near, end = ROUND_OFF * self.rod.length, self.end
        inside = [eta for eta in etas if self.start + near < eta < end - near]
        return [next((eta for eta in etas if abs(eta - end) <= near), end), *sorted(inside)]

    def station(self, eta: float, names: tuple[str, ...]) -> StrainStation:
        """The section at an abscissa of the beam [m]; ``names``: of the coordinates."""
        nodes, s = self.nodes, eta - self.start
        if abs(s - nodes).min() <= ROUND_OFF * self.length:
            s = float(nodes[abs(s - nodes).argmin()])
        node = int(np.searchsorted(nodes, s, side="right")) - 1
        weights = _with_known_digits(clean_matrix(self._interpolation(np.array([s]))[1][0]))
        step = None if nodes[node] == s else self._step(nodes[node], s)
        return StrainStation(self.kinematics, weights, node, step, frozen(self.axes[:, 0]), names)

    def inertia(self) -> SegmentInertia:
        """Mass, and the stiffness K = ∫ Φᵀ diag(GJ, EI, EA, GA) Φ ds."""
        beam, strains, n = self.rod.beam, self.rod.strains, len(self.nodes)

        def mass(panels: int) -> tuple[list[Array], list[Array]]:
            over = self._over(0.0, self.length, panels)
            at = self.start + over.points
            mu = beam.along("mass_per_length", at) * over.weights
            lagrange, weights = self._interpolation(over.points)
            a, j = np.column_stack([weights, np.ones(len(at))]), np.array(beam.section_inertias(at)) * over.weights
            return [(a.T * mu) @ a, j @ lagrange], [(np.abs(a.T) * mu) @ np.abs(a), np.abs(j) @ np.abs(lagrange)]

        def stiffness(panels: int) -> tuple[list[Array], list[Array]]:
            over = self._over(0.0, self.length, panels)
            basis = self._basis(over.points)
            weights = [beam.along(STRAINS[name][3], self.start + over.points) * over.weights for name in strains]
            blocks = [(basis.T * w) @ basis for w in weights]
            return blocks, [(np.abs(basis.T) * w) @ np.abs(basis) for w in weights]

        gram, (j_y, j_z) = converged("CosseratRod", mass, 2)[0]
        particles = np.linalg.cholesky(gram[:n, :n])
        sections = [self.axes @ np.diag([0.0, zz, yy]) @ self.axes.T for yy, zz in zip(j_y, j_z, strict=True)]
        blocks = zip(*converged("CosseratRod", stiffness, 2), strict=True)
        k = ca.diagcat(*(ca.DM(drop(block, _NOISE * size)) for block, size in blocks)).full()
        return SegmentInertia(
            segment=self.kinematics,
            mass=float(gram[n, n]),
            particles=_with_known_digits(particles),
            weights=_with_known_digits(np.linalg.solve(particles, gram[:n, n])),
            sections=_with_known_digits([clean_matrix(x) for x in sections]),
            stiffness=frozen((k + k.T) / 2),
        )

    def _basis(self, s: Array) -> Array:
        """P_d (m × degree + 1) at abscissae of the segment (m,)."""
        return np.asarray(legendre.legvander(2 * s / self.length - 1, self.rod.degree))

    def _columns(self, kind: int, s: Array) -> Array:
        """κ (kind 0) or ν (1) per unit of each coordinate and, last, at q = 0, in link axes: 3 × (n + 1) × m."""
        count = self.rod.degree + 1
        columns = np.zeros((3, len(self.rod.strains) * count + 1, len(s)))
        columns[0, -1] = kind
        for i, name in enumerate(self.rod.strains):
            strain_kind, component, sign, _ = STRAINS[name]
            if strain_kind == kind:
                columns[component, i * count : (i + 1) * count] = sign * self._basis(s).T
        for name, rest in self.rest.items():
            strain_kind, component, sign, _ = STRAINS[name]
            if strain_kind == kind:
                columns[component, -1] += sign * rest(self.start + s)
        return np.asarray(np.einsum("ab,bkm->akm", self.axes, columns))

    def _interpolation(self, s: Array) -> tuple[Array, Array]:
        """ℓ_j and a_j = ∫₀ˢ ℓ_j (m × nodes) at abscissae (m,)."""
        degree = len(self.nodes) - 1
        inverse = np.linalg.inv(legendre.legvander(2 * self.nodes / self.length - 1, degree))
        p = legendre.legvander(2 * s / self.length - 1, degree + 1)
        # ∫₋₁ˣ P_d = (P_d+1 − P_d−1) / (2d + 1)
        below = np.column_stack([-np.ones(len(s)), p[:, :degree]])
        integrals = (p[:, 1:] - below) / (2 * np.arange(degree + 1) + 1)
        return p[:, :-1] @ inverse, integrals @ inverse * self.length / 2


def _with_known_digits(x: ArrayLike) -> Array:
    """Constants with the digits that rounding has left them: those that symmetry makes equal are one number."""
    values = np.asarray(x, dtype=float)
    # as they were computed, rounding told equal ones apart, by processor, and graphs were larger
    return frozen(known_digits(values, np.full(values.shape, _NOISE * np.abs(values).max(initial=0))))

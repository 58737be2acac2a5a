"""Constant integrals of a flexible link, and its stations (CB14, CB29).

A point r of the undeformed link, in its clamped frame, moves with mode j by φ_j = u_j + ϑ_j × σ, σ being its offset
from the centre of its section. A beam is taken as its Gauss points: sections with mass, section inertia, displacement
u_j and small rotation ϑ_j; a link from finite elements or a measurement is given as such points, :class:`Nodes`, from
the beginning. The sums over them are the same. Section inertia, foreshortening and nodes are not in the source.

Modes are ordered: bending in y, bending in z, extension, torsion. ϑ is (τ, −z', y'): the minus sign goes with the
positive rotation about y, which takes x to −z.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.beam import Beam, Quadrature, converged
from gdalembert.flexible.element import ModalInertia, Station, root
from gdalembert.flexible.modes import ModeSet
from gdalembert.tree import Array, ByValue, frozen

Families: TypeAlias = Mapping[str, ModeSet]
"""Mode sets by direction: keys ``"bending_y"``, ``"bending_z"``, ``"extension"``, ``"torsion"``."""

DIRECTIONS = {"bending_y": "y", "bending_z": "z", "extension": "x", "torsion": "t"}
"""In the order of the modes; with the letter of their names."""

_STIFFNESS = {"bending_y": "EI_z", "bending_z": "EI_y", "extension": "EA", "torsion": "GJ"}
_NOISE = 1e-13
"""Integrals that are this small against ∫|…| are zero (modes that are orthogonal)."""
_DEPENDENT = 1e-12
"""What is left of ∫φ² of a shape that is a combination of others, by rounding."""


class TipWarning(UserWarning):
    """Modes that leave the tip of a link where it is."""


def ordered(families: Families) -> Iterator[tuple[str, ModeSet]]:
    """Direction and set, in the order of the modes."""
    return ((name, families[name]) for name in DIRECTIONS if name in families)


def mode_names(families: Families) -> tuple[str, ...]:
    """``"y1"``, ``"y2"``, ``"z1"``, ``"x1"``, ``"t1"``, …"""
    return tuple(f"{DIRECTIONS[name]}{j}" for name, each in ordered(families) for j in range(1, len(each) + 1))


def _skews(columns: Array) -> Array:
    """[ϑ×] of vectors (…, 3), (…, 3, 3)."""
    matrices = np.zeros((*columns.shape, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrices[..., a, b], matrices[..., b, a] = -columns[..., c], columns[..., c]
    return matrices


@dataclass(frozen=True, eq=False)
class _Points:
    """Sections of a link: m masses (m), positions r (m × 3), second moments about them (m × 3 × 3), translations u and
    rotations ϑ of the shapes (N × m × 3), and S_b of those that follow (:class:`ModalInertia`)."""

    masses: Array
    positions: Array
    moments: Array
    translations: Array
    rotations: Array
    shortening: Array

    @classmethod
    def of(
        cls, masses: Array, positions: Array, moments: Array, translations: Array, rotations: Array, s: Array
    ) -> _Points:
        """Of modes that shorten the link by s_jk (n × n × m, zero if they do not).

        Masses shorten by the fit s_jk ≈ S_jk·(r; 1), weighted by mass. It keeps ∫ s dm and ∫ r s dm, which is all of s
        that counts to second order in f. The kinetic energy is that of a motion, so that M is positive definite at any
        f, and costs two stretches of a beam instead of a shape for every product of modes.
        """
        r = np.column_stack([positions, np.ones(len(masses))])
        r = r[:, r.any(axis=0)]
        fit = np.linalg.pinv((r.T * masses) @ r, rcond=_DEPENDENT, hermitian=True)
        shortening = np.einsum("ba,am,jkm->bjk", fit, r.T * masses, s)
        used = shortening.any(axis=(1, 2))
        stretches = np.zeros((int(used.sum()), len(masses), 3))
        stretches[..., 0] = r.T[used]
        return cls(
            masses,
            positions,
            moments,
            np.concatenate([translations, stretches]),
            np.concatenate([rotations, np.zeros_like(stretches)]),
            (shortening[used] + shortening[used].transpose(0, 2, 1)) / 2,
        )

    def sums(self, *, absolute: bool = False) -> dict[str, Array]:
        """C, C_j, C_jk, and S_b; or their magnitudes, from the absolute values of all that is summed."""
        m, u, moments = self.masses, self.translations, self.moments
        r, turns, n = np.column_stack([self.positions, np.ones(len(m))]), _skews(self.rotations), len(u)
        if absolute:
            r, u, turns = (np.abs(each) for each in (r, u, turns))
        first, second = np.zeros((n, 4, 4)), np.zeros((n, n, 4, 4))
        rigid = np.einsum("m,ma,mb->ab", m, r, r)
        rigid[:3, :3] += moments.sum(axis=0)
        first[:, :, :3] = np.einsum("ma,jmb->jab", m[:, None] * r, u, optimize=True)
        first[:, :3, :3] += np.einsum("mac,jmbc->jab", moments, turns, optimize=True)
        second[:, :, :3, :3] = np.einsum("jma,kmb->jkab", m[:, None] * u, u, optimize=True)
        second[:, :, :3, :3] += np.einsum("jmad,kmbd->jkab", turns @ moments, turns, optimize=True)
        shortening = self.shortening
        if absolute:  # of a fit nothing better is known than its largest entry
            largest = np.abs(shortening).max(axis=(1, 2), keepdims=True, initial=0)
            shortening = np.broadcast_to(largest, shortening.shape)
        return {"rigid": rigid, "first": first, "second": second, "shortening": shortening}


def _shapes(families: Families, eta: Array, length: float) -> tuple[Array, Array]:
    """u and ϑ (n × m × 3) at abscissae (m,)."""
    translations, rotations = [np.zeros((0, eta.size, 3))], [np.zeros((0, eta.size, 3))]
    for name, each in ordered(families):
        u, theta = np.zeros((2, len(each), eta.size, 3))
        if name == "extension":
            u[..., 0] = each.value(eta, length)
        elif name == "torsion":
            theta[..., 0] = each.value(eta, length)
        elif name == "bending_y":
            u[..., 1], theta[..., 2] = each.value(eta, length), each.slope(eta, length)
        else:
            u[..., 2], theta[..., 1] = each.value(eta, length), -each.slope(eta, length)
        translations.append(u)
        rotations.append(theta)
    return np.concatenate(translations), np.concatenate(rotations)


def _steepness(families: Families, eta: Array, length: float) -> Array:
    """y_j' y_k' + z_j' z_k' at abscissae (m,), n × n × m."""
    _, theta = _shapes(families, eta, length)
    slopes = theta[..., 1:]
    result: Array = np.einsum("jma,kma->jkm", slopes, slopes)
    return result


def quadrature(beam: Beam, families: Families, end: float | None = None, panels: int | None = None) -> Quadrature:
    """On as many panels as products of the shapes need, from the root to an abscissa (the tip if there is none)."""
    least = max((each.panels for each in families.values()), default=1) if panels is None else panels
    breaks = {*beam.breaks, *(b for each in families.values() for b in each.breaks(beam.length))}
    return Quadrature.of(0, beam.length if end is None else end, least, sorted(breaks))


def _sections(beam: Beam, families: Families, over: Quadrature, foreshortening: bool) -> _Points:
    eta, n = over.points, sum(map(len, families.values()))
    u, theta = _shapes(families, eta, beam.length)
    j_y, j_z = beam.section_inertias(eta)
    moments = np.zeros((eta.size, 3, 3))
    moments[:, 1, 1], moments[:, 2, 2] = j_z * over.weights, j_y * over.weights
    positions = np.column_stack([eta, np.zeros((eta.size, 2))])
    s = over.running(_steepness(families, eta, beam.length)) if foreshortening else np.zeros((n, n, eta.size))
    return _Points.of(beam.along("mass_per_length", eta) * over.weights, positions, moments, u, theta, s)


def _stiffness(beam: Beam, families: Families, over: Quadrature) -> tuple[Array, Array]:
    """K_f, and ∫|…| (10)."""
    n = sum(map(len, families.values()))
    k, size, first = np.zeros((n, n)), np.zeros((n, n)), 0
    for name, each in ordered(families):
        strain = each.curvature if name.startswith("bending") else each.slope
        shapes, here = strain(over.points, beam.length), slice(first, first := first + len(each))
        weights = beam.along(_STIFFNESS[name], over.points) * over.weights
        k[here, here] = (shapes * weights) @ shapes.T
        size[here, here] = (np.abs(shapes) * weights) @ np.abs(shapes).T
    return k, size


def _flat(arrays: Mapping[str, Array]) -> Array:
    return np.concatenate([each.ravel() for each in arrays.values()])


def beam_inertia(beam: Beam, families: Families, *, foreshortening: bool = True) -> ModalInertia:
    """The integrals of a beam (CB14, CB20, CB29), by Gauss–Legendre quadrature to rounding; without bodies on it.

    Args:
        beam: its sections; section inertia is counted.
        families: its modes.
        foreshortening: whether the beam shortens when it bends.

    Raises:
        ArgumentError: if the beam has no stiffness in the direction of a mode, if a function of the beam or a shape
            cannot be used, or if the integrals do not settle.
    """
    shapes: dict[str, tuple[int, ...]] = {}

    def integral(panels: int) -> tuple[Array, Array]:
        over = quadrature(beam, families, panels=panels)
        points = _sections(beam, families, over, foreshortening)
        stiffness, size = _stiffness(beam, families, over)
        sums = points.sums() | {"stiffness": stiffness}
        sizes = points.sums(absolute=True) | {"stiffness": size}
        shapes.update((name, each.shape) for name, each in sums.items())
        return _flat(sums), _flat(sizes)

    values, sizes = converged("flexible link", integral, quadrature(beam, families).edges.size - 1)
    values = np.where(np.abs(values) <= _NOISE * sizes, 0, values)
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    pieces = zip(shapes.items(), np.split(values, ends), strict=True)
    return ModalInertia(**{name: frozen(each.reshape(shape)) for (name, shape), each in pieces})


def beam_station(
    beam: Beam, families: Families, abscissa: float, body: Array | None = None, *, foreshortening: bool = True
) -> Station:
    """The section at an abscissa [m], with the pseudo-inertia (4 × 4) of what is fixed to it.

    Raises:
        ArgumentError: if the abscissa does not lie on the beam.
    """
    n = sum(map(len, families.values()))
    if not 0 <= abscissa <= beam.length * (1 + 1e-12):
        raise ArgumentError(f"station: {abscissa:g} m does not lie on the beam, which goes from 0 to {beam.length:g} m")
    if abscissa == 0:
        return root(n, body)
    end = min(abscissa, beam.length)
    u, theta = _shapes(families, np.array([end]), beam.length)
    s = np.zeros((n, n))
    if foreshortening:
        over = quadrature(beam, families, end)
        products = _steepness(families, over.points, beam.length)
        s = products @ over.weights
        s[np.abs(s) <= _NOISE * (np.abs(products) @ over.weights)] = 0
    none = np.zeros((4, 4)) if body is None else body
    at = np.array([end, 0, 0])
    return Station(frozen(at), frozen(u[:, 0].T), frozen(theta[:, 0].T), frozen(s), frozen(none))


@dataclass(frozen=True, eq=False)
class Nodes(ByValue):
    """A link by N nodes and n modes, from finite elements or a measurement; in axes of the clamped frame.

    Attributes:
        masses: m_k (N, kg).
        positions: r_k, undeformed (N × 3, m).
        translations: of the nodes per unit of each modal coordinate (n × N × 3).
        stiffness: K_f (n × n); or
        frequencies: of mass-normalised modes (n, rad/s), so that K_f = diag(ω²).
        rotations: small rotation vectors of the nodes (n × N × 3); needed where something is attached.
        inertias: of what is lumped at the nodes, about them (N × 3 × 3, kg m²); they count with ``rotations``.
        shortening: s_jk of the nodes (n × n × N), if foreshortening is to be counted.

    Raises:
        ArgumentTypeError: if one holds no numbers.
        ArgumentError: if shapes do not fit, a number is not finite, a mass or inertia is negative, K_f is not
            symmetric and positive definite, or modes with ``frequencies`` are not mass-normalised.
    """

    masses: Array
    positions: Array
    translations: Array
    stiffness: Array | None = None
    frequencies: Array | None = None
    rotations: Array | None = None
    inertias: Array | None = None
    shortening: Array | None = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, _numbers(f"Nodes: {name}", given))
        count, n = self.masses.size, len(self.translations) if self.translations.ndim else 0
        for name, shape in {
            "masses": (count,),
            "positions": (count, 3),
            "translations": (n, count, 3),
            "stiffness": (n, n),
            "frequencies": (n,),
            "rotations": (n, count, 3),
            "inertias": (count, 3, 3),
            "shortening": (n, n, count),
        }.items():
            if (given := getattr(self, name)) is not None and given.shape != shape:
                wanted = " × ".join(map(str, shape))
                raise ArgumentError(f"Nodes: {name}: got shape {given.shape} with {count} masses; give {wanted}")
        if not count or not n:
            raise ArgumentError(f"Nodes: got {count} nodes and {n} modes; give at least one of each")
        if self.masses.min() < 0 or self.masses.max() == 0:
            raise ArgumentError(f"Nodes: masses: got {self.masses.min():g}; give masses of at least 0, not all zero")
        if self.inertias is not None and np.linalg.eigvalsh(self.inertias).min() < 0:
            raise ArgumentError("Nodes: inertias: one has a negative principal moment; give symmetric, positive ones")
        if self.shortening is not None:
            off = np.abs(self.shortening - self.shortening.transpose(1, 0, 2))
            j, k, node = (int(i) for i in np.unravel_index(off.argmax(), off.shape))
            if off[j, k, node] > 1e-9 * np.abs(self.shortening).max():
                raise ArgumentError(
                    f"Nodes: shortening: of modes {j + 1}, {k + 1} it differs from that of {k + 1}, {j + 1} by "
                    f"{off[j, k, node]:.3g} m at node {node}; give s_jk = s_kj"
                )
        if (self.stiffness is None) == (self.frequencies is None):
            raise ArgumentError(
                "Nodes: give the stiffness K_f, or the frequencies of mass-normalised modes: one of them"
            )
        if self.stiffness is not None:
            off = np.abs(self.stiffness - self.stiffness.T).max() / max(np.abs(self.stiffness).max(), 1e-300)
            if off > 1e-9 or np.linalg.eigvalsh(self.stiffness).min() <= 0:
                raise ArgumentError(
                    f"Nodes: stiffness: its least eigenvalue is {np.linalg.eigvalsh(self.stiffness).min():.3g}, and it "
                    f"differs from its transpose by {off:.1e}; give a symmetric, positive definite K_f"
                )
            return
        mass = modal_mass(self.inertia)
        worst = np.abs(mass - np.eye(n))
        j, k = (int(i) for i in np.unravel_index(worst.argmax(), worst.shape))
        if worst[j, k] > 1e-6:
            raise ArgumentError(
                f"Nodes: with frequencies, modes must be mass-normalised, but the modal mass of {j + 1}, {k + 1} is "
                f"{mass[j, k]:.6g}, not {int(j == k)}; scale them, or give the stiffness"
            )

    @property
    def modes(self) -> int:
        """n."""
        return len(self.translations)

    @property
    def tip(self) -> int:
        """The node that lies farthest along x."""
        return int(self.positions[:, 0].argmax())

    @property
    def inertia(self) -> ModalInertia:
        """The integrals, as sums over the nodes."""
        n, count = self.translations.shape[:2]
        rotations = np.zeros((n, count, 3)) if self.rotations is None else self.rotations
        tensors = np.zeros((count, 3, 3)) if self.inertias is None else self.inertias
        moments = np.trace(tensors, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - tensors
        s = np.zeros((n, n, count)) if self.shortening is None else self.shortening
        sums = _Points.of(self.masses, self.positions, moments, self.translations, rotations, s).sums()
        stiffness = self.stiffness if self.frequencies is None else np.diag(self.frequencies**2)
        return ModalInertia(
            **{name: frozen(each) for name, each in sums.items()}, stiffness=frozen(np.asarray(stiffness))
        )

    def nearest(self, position: Array) -> int:
        """The node that lies nearest to a point."""
        return int(np.sum((self.positions - position) ** 2, axis=1).argmin())

    def station(self, node: int, body: Array | None = None, position: Array | None = None) -> Station:
        """A node, or a frame that is rigidly fixed to it, with the pseudo-inertia (4 × 4) of what stands there.

        Args:
            node: its index.
            body: in the frame of the station.
            position: of the frame, undeformed, in the clamped frame (3, m); ``None`` for that of the node.

        Raises:
            ArgumentError: if there is no such node, or the nodes have no rotations.
        """
        if not 0 <= node < self.masses.size:
            raise ArgumentError(f"station: got node {node}; give 0 … {self.masses.size - 1}")
        if self.rotations is None:
            raise ArgumentError(f"station: node {node}: what is attached there turns with it; give rotations")
        s = np.zeros((self.modes, self.modes)) if self.shortening is None else self.shortening[:, :, node]
        u, theta = self.translations[:, node], self.rotations[:, node]
        at = self.positions[node] if position is None else frozen(position)
        u = u + np.cross(theta, at - self.positions[node])
        none = np.zeros((4, 4)) if body is None else body
        return Station(at, frozen(u.T), frozen(theta.T), frozen(s), frozen(none))


def _numbers(what: str, given: npt.ArrayLike) -> Array:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what}: expected numbers, got {given!r}") from None
    if not np.all(np.isfinite(array)):
        raise ArgumentError(f"{what}: one is not finite; give finite numbers")
    return frozen(array)


def modal_mass(inertia: ModalInertia, *loads: Station) -> Array:
    """M_ff = [Tr C_jk] of a link, and of the bodies at stations on it, undeformed (n × n)."""
    mass: Array = np.einsum("jkaa->jk", inertia.second[: inertia.modes, : inertia.modes])
    for load in loads:
        fields = np.zeros((inertia.modes, 4, 4))
        fields[:, :3, :3], fields[:, :3, 3] = _skews(load.rotation.T), load.translation.T
        mass = mass + np.einsum("jab,bc,kac->jk", fields, load.body, fields)
    return (mass + mass.T) / 2


def eigenmodes(inertia: ModalInertia, *loads: Station) -> tuple[Array, Array]:
    """ω (n, rad/s), rising, and mass-normalised Ψ (n × n) of K_f ψ = ω² M_ff ψ; bodies at stations count in M_ff.

    Raises:
        ArgumentError: if a mode moves no inertia.
    """
    mass = modal_mass(inertia, *loads)
    if (j := dependent(mass)) is not None:
        raise ArgumentError(
            f"mode {j + 1} moves no inertia of its own, so that the link alone has no frequencies; give "
            "the beam a section_inertia, count a body on the tip, or damp by rayleigh="
        )
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    vectors = inverse.T @ np.linalg.eigh(inverse @ inertia.stiffness @ inverse.T)[1]
    # eigenvalues lose the digits of their ratio to the largest one; Rayleigh's quotients have them all
    squares = np.sum(vectors * (inertia.stiffness @ vectors), axis=0) / np.sum(vectors * (mass @ vectors), axis=0)
    return np.sqrt(squares), vectors


def dependent(gram: Array, threshold: float = _DEPENDENT) -> int | None:
    """The first of some shapes that is zero, or a combination of those before it, by their products ∫φ_j φ_k."""
    diagonal = gram.diagonal()
    if not np.all(diagonal > 0):
        return int(np.argmax(~(diagonal > 0)))
    scaled = gram / np.sqrt(np.outer(diagonal, diagonal))
    for j in range(len(gram)):
        left = scaled[j, j]
        if not left > threshold:
            return j
        scaled = scaled - np.outer(scaled[:, j], scaled[j]) / left
    return None


def check_families(beam: Beam, families: Families) -> None:
    """Refuse sets that are not clamped at the root, or hold a shape that is a combination of others.

    Raises:
        ArgumentError: naming the set and the mode.
    """
    for name, each in ordered(families):
        each.check_root(name, beam.length, bending=name.startswith("bending"))
        over = quadrature(beam, {name: each})
        shapes = each.value(over.points, beam.length)
        if (j := dependent((shapes * over.weights) @ shapes.T)) is not None:
            raise ArgumentError(
                f"{name}: mode {j + 1} ({each.names[j]}) is a combination of those before it, to rounding, so that the "
                "mass matrix is singular; leave it out, or take fewer modes"
            )


def unmoved_tip(beam: Beam, families: Families) -> tuple[str, ...]:
    """The sets that neither shift nor turn the tip."""
    still: list[str] = []
    for name, each in ordered(families):
        inside = np.linspace(0, beam.length, 101)
        ends = [(each.value(beam.length, beam.length), each.value(inside, beam.length))]
        if name.startswith("bending"):
            ends.append((each.slope(beam.length, beam.length), each.slope(inside, beam.length)))
        if all(np.all(np.abs(tip) <= 1e-9 * np.abs(size).max()) for tip, size in ends):
            still.append(name)
    return tuple(still)


def check_mass(names: tuple[str, ...], inertia: ModalInertia, *loads: Station) -> None:
    """Refuse modes that move no inertia: that of the link, and of the bodies at stations on it.

    Raises:
        ArgumentError: naming the mode, if M_ff is not positive definite.
    """
    j = dependent(modal_mass(inertia, *loads))
    if j is None:
        return
    if names[j].startswith(DIRECTIONS["torsion"]):
        raise ArgumentError(
            f"torsion: mode {names[j]!r} moves no inertia of its own, so that the mass matrix is singular; give the "
            "beam a section_inertia, or fewer torsion modes and a body on the tip"
        )
    raise ArgumentError(
        f"mode {names[j]!r} moves no inertia of its own, so that the mass matrix is singular; leave it out"
    )


def pseudo_inertia(what: str, body: Any) -> Array:
    """The 4 × 4 matrix ∫ x̂ x̂ᵀ dm of a ``pin.Inertia``, about the origin of its frame.

    Raises:
        ArgumentTypeError: if it is none.
        ArgumentError: if it is no inertia of a body.
    """
    if not isinstance(body, pin.Inertia):
        raise ArgumentTypeError(f"{what}: expected a pin.Inertia, got {body!r}")
    mass, lever, tensor = float(body.mass), np.array(body.lever), np.array(body.inertia)
    if not (math.isfinite(mass) and np.all(np.isfinite(lever)) and np.all(np.isfinite(tensor))):
        raise ArgumentError(f"{what}: a number is not finite; give a pin.Inertia of finite numbers")
    least = float(np.linalg.eigvalsh(tensor)[0])
    if mass < 0 or least < -1e-9 * max(float(np.abs(tensor).max()), 1e-12):
        raise ArgumentError(
            f"{what}: its mass is {mass:g} kg and its least principal moment {least:g} kg m²; give at least 0"
        )
    second = np.trace(tensor) / 2 * np.eye(3) - tensor + mass * np.outer(lever, lever)
    return frozen(np.block([[second, mass * lever[:, None]], [mass * lever[None], mass]]))

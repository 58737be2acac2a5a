"""Constant integrals of a flexible link, and its stations (CB14, CB29).

Mode j displaces a point r of the undeformed link, in the clamped frame, by φ_j = u_j + ϑ_j × σ, where σ is the offset
of the point from the centre of its cross section. A beam is represented by its Gauss points: cross sections with mass,
section inertia, displacement u_j and small rotation ϑ_j. A link from finite elements or a measurement consists of such
points, :class:`Nodes`; the sums are the same. Section inertia, foreshortening and nodes are not in the source.

Modes are ordered: bending in y, bending in z, extension, torsion. ϑ is (τ, −z', y'); the minus sign is that of a
positive rotation about y, which turns x to −z.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.quadrature import Quadrature, converged
from gdalembert.flexible.modes import ModeSet
from gdalembert.flexible.station import NO_BODY, BeamStation, root
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import drop
from gdalembert.spatial.arrays import Array, frozen

_SINGULAR = 1e-12
"""Resolution of second moments of mass, relative to the largest: below it the sections lie on a line, or at a point."""
_DEPENDENT = 1e-12
"""Relative: the rounding error that remains of ∫φ² of a linear combination of other shapes."""
Families: TypeAlias = Mapping[str, ModeSet]
"""Mode sets by direction: keys ``"bending_y"``, ``"bending_z"``, ``"extension"``, ``"torsion"``."""
DIRECTIONS = {"bending_y": "y", "bending_z": "z", "extension": "x", "torsion": "t"}
"""Directions in the order of the modes, with the letters of their names."""
_STIFFNESS = {"bending_y": "EI_z", "bending_z": "EI_y", "extension": "EA", "torsion": "GJ"}
_NOISE = 1e-13
"""Integrals below this multiple of ∫|…| are zero (orthogonal modes)."""


def skews(columns: Array) -> Array:
    """Skew matrices [ϑ×] of vectors (…, 3), (…, 3, 3)."""
    return np.cross(np.eye(3), columns[..., None, :])


def mass_integrals(
    masses: Array, positions: Array, moments: Array, translations: Array, rotations: Array, s: Array
) -> tuple[list[Array], list[Array]]:
    """C, C_j, C_jk and S_b of the m cross sections of a link; and their magnitudes, from absolute values of summands.

    The masses shorten by the fit s_jk ≈ S_jk·(r; 1), weighted by mass. It preserves ∫ s dm and ∫ r s dm, which are
    all effects of s to second order in f. The kinetic energy remains that of a motion, so that M is positive definite
    at any f, and a beam needs two stretches instead of a shape for every product of modes.

    Args:
        masses, positions, moments: (m), r (m × 3), and second moments about the sections (m × 3 × 3).
        translations, rotations: u and ϑ of the modes (n × m × 3).
        s: s_jk (n × n × m), zero without foreshortening.
    """
    hat = np.column_stack([positions, np.ones(len(masses))])
    r = hat[:, hat.any(axis=0)]
    fit = np.linalg.pinv((r.T * masses) @ r, rcond=_SINGULAR, hermitian=True)
    shortening = np.einsum("ba,am,jkm->bjk", fit, r.T * masses, s)
    if not shortening.any():
        shortening, r = shortening[:0], r[:, :0]
    shortening = (shortening + shortening.transpose(0, 2, 1)) / 2
    stretches = np.zeros((len(shortening), len(masses), 3))
    stretches[..., 0] = r.T
    u, turns = np.concatenate([translations, stretches]), skews(np.concatenate([rotations, np.zeros_like(stretches)]))

    def sums(hat: Array, u: Array, turns: Array, shortening: Array) -> list[Array]:
        n = len(u)
        first, second = np.zeros((n, 4, 4)), np.zeros((n, n, 4, 4))
        rigid = np.einsum("m,ma,mb->ab", masses, hat, hat)
        rigid[:3, :3] += moments.sum(axis=0)
        first[:, :, :3] = np.einsum("ma,jmb->jab", masses[:, None] * hat, u, optimize=True)
        first[:, :3, :3] += np.einsum("mac,jmbc->jab", moments, turns, optimize=True)
        second[:, :, :3, :3] = np.einsum("jma,kmb->jkab", masses[:, None] * u, u, optimize=True)
        second[:, :, :3, :3] += np.einsum("jmad,kmbd->jkab", turns @ moments, turns, optimize=True)
        return [rigid, first, second, shortening]

    # the magnitude of a fit is that of its largest entry
    largest = np.abs(shortening).max(axis=(1, 2), keepdims=True, initial=0)
    sizes = sums(np.abs(hat), np.abs(u), np.abs(turns), np.broadcast_to(largest, shortening.shape))
    return sums(hat, u, turns, shortening), sizes


def modal_mass(inertia: ModalInertia, *loads: BeamStation) -> Array:
    """M_ff = [Tr C_jk] of the undeformed link, with the bodies on the stations ``loads`` (n × n)."""
    mass: Array = np.einsum("jkaa->jk", inertia.second[: inertia.modes, : inertia.modes])
    for load in loads:
        fields = np.zeros((inertia.modes, 4, 4))
        fields[:, :3, :3], fields[:, :3, 3] = skews(load.rotation.T), load.translation.T
        mass = mass + np.einsum("jab,bc,kac->jk", fields, load.body, fields)
    return (mass + mass.T) / 2


def eigenmodes(inertia: ModalInertia, *loads: BeamStation) -> tuple[Array, Array]:
    """ω (n, rad/s), rising, and mass-normalised Ψ (n × n) of K_f ψ = ω² M_ff ψ, M_ff with the loads.

    Raises:
        ArgumentError: if a mode moves no inertia.
    """
    return eigenmodes_of(modal_mass(inertia, *loads), inertia.stiffness)


def eigenmodes_of(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """Eigenmodes of given M_ff and K_f."""
    if (j := dependent(mass)) is not None:
        raise ArgumentError(
            f"mode {j + 1} moves no inertia of its own, so that the link alone has no frequencies; give "
            "the beam a section_inertia, count a body on the tip, or damp by rayleigh="
        )
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    vectors = inverse.T @ np.linalg.eigh(inverse @ stiffness @ inverse.T)[1]
    # eigenvalues lose digits by their ratio to the largest one; Rayleigh quotients keep them all
    squares = np.sum(vectors * (stiffness @ vectors), axis=0) / np.sum(vectors * (mass @ vectors), axis=0)
    return np.sqrt(squares), vectors


def largest_eigenvalue(stiffness: Array, load: Array) -> float:
    """The largest λ with λ K − A singular."""
    half = np.linalg.inv(np.linalg.cholesky(stiffness))
    return float(np.linalg.eigvalsh(half @ load @ half.T)[-1])


def dependent(gram: Array, threshold: float = _DEPENDENT) -> int | None:
    """The first shape that is zero or a linear combination of those before it, from the products ∫φ_j φ_k."""
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


def ordered(families: Families) -> Iterator[tuple[str, ModeSet]]:
    """Direction and set, in the order of the modes."""
    return ((name, families[name]) for name in DIRECTIONS if name in families)


def mode_names(families: Families) -> tuple[str, ...]:
    """``"y1"``, ``"y2"``, ``"z1"``, ``"x1"``, ``"t1"``, …"""
    return tuple(f"{DIRECTIONS[name]}{j}" for name, modes in ordered(families) for j in range(1, len(modes) + 1))


def _shapes(families: Families, eta: Array, length: float) -> tuple[Array, Array]:
    """u and ϑ (n × m × 3) at abscissae (m,)."""
    translations, rotations = [np.zeros((0, eta.size, 3))], [np.zeros((0, eta.size, 3))]
    for name, modes in ordered(families):
        u, theta = np.zeros((2, len(modes), eta.size, 3))
        if name == "extension":
            u[..., 0] = modes.value(eta, length)
        elif name == "torsion":
            theta[..., 0] = modes.value(eta, length)
        elif name == "bending_y":
            u[..., 1], theta[..., 2] = modes.value(eta, length), modes.slope(eta, length)
        else:
            u[..., 2], theta[..., 1] = modes.value(eta, length), -modes.slope(eta, length)
        translations.append(u)
        rotations.append(theta)
    return np.concatenate(translations), np.concatenate(rotations)


def _steepness(families: Families, eta: Array, length: float) -> Array:
    """y_j' y_k' + z_j' z_k' at abscissae (m,), n × n × m."""
    slopes = _shapes(families, eta, length)[1][..., 1:]
    return np.asarray(np.einsum("jma,kma->jkm", slopes, slopes))


def fibre_strain(families: Families, abscissa: float, length: float, y: float, z: float) -> Array:
    """u' − y w_y'' − z w_z'' of each mode (n) at an abscissa [m], of a fibre at (y, z) of the section [m]."""
    levers = {"bending_y": -y, "bending_z": -z, "extension": 1.0, "torsion": 0.0}
    rows = [
        levers[name] * (modes.curvature if name.startswith("bending") else modes.slope)(abscissa, length)[:, 0]
        for name, modes in ordered(families)
    ]
    return np.concatenate(rows)


def quadrature(beam: Beam, families: Families, end: float | None = None, panels: int | None = None) -> Quadrature:
    """The quadrature on as many panels as products of the shapes need, from the root to an abscissa (the tip's)."""
    least = max((modes.panels for modes in families.values()), default=1) if panels is None else panels
    breaks = {*beam.breaks, *(b for modes in families.values() for b in modes.breaks(beam.length))}
    return Quadrature.of(0, beam.length if end is None else end, least, sorted(breaks))


def integrals(
    beam: Beam, families: Families, over: Quadrature, foreshortening: bool
) -> tuple[list[Array], list[Array]]:
    """C, C_j, C_jk, S_b and K_f of a beam by a quadrature, and their magnitudes ∫|…| (10)."""
    eta, n = over.points, sum(map(len, families.values()))
    j_y, j_z = beam.section_inertias(eta)
    moments, positions = np.zeros((eta.size, 3, 3)), np.column_stack([eta, np.zeros((eta.size, 2))])
    moments[:, 1, 1], moments[:, 2, 2] = j_z * over.weights, j_y * over.weights
    s = over.running(_steepness(families, eta, beam.length)) if foreshortening else np.zeros((n, n, eta.size))
    masses = beam.along("mass_per_length", eta) * over.weights
    sums, sizes = mass_integrals(masses, positions, moments, *_shapes(families, eta, beam.length), s)
    k, size, first = np.zeros((n, n)), np.zeros((n, n)), 0
    for name, modes in ordered(families):
        strain = modes.curvature if name.startswith("bending") else modes.slope
        shapes, here = strain(eta, beam.length), slice(first, first := first + len(modes))
        weights = beam.along(_STIFFNESS[name], eta) * over.weights
        k[here, here] = (shapes * weights) @ shapes.T
        size[here, here] = (np.abs(shapes) * weights) @ np.abs(shapes).T
    return [*sums, k], [*sizes, size]


def beam_inertia(beam: Beam, families: Families, *, foreshortening: bool = True) -> ModalInertia:
    """The integrals of a beam (CB14, CB20, CB29), by Gauss–Legendre quadrature to rounding; without bodies on it.

    Raises:
        ArgumentError: if the beam has no stiffness in the direction of a mode, if a function of the beam or a shape
            cannot be used, or if the integrals do not converge.
    """

    def found(panels: int) -> tuple[list[Array], list[Array]]:
        return integrals(beam, families, quadrature(beam, families, panels=panels), foreshortening)

    values, sizes = converged("flexible link", found, quadrature(beam, families).edges.size - 1)
    return ModalInertia(*(frozen(drop(integral, _NOISE * size)) for integral, size in zip(values, sizes, strict=True)))


def beam_station(
    beam: Beam, families: Families, abscissa: float, body: Array = NO_BODY, *, foreshortening: bool = True
) -> BeamStation:
    """The station at an abscissa [m], with the pseudo-inertia (4 × 4) of the bodies that are fixed to it."""
    n = sum(map(len, families.values()))
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
    return BeamStation(frozen([end, 0, 0]), frozen(u[:, 0].T), frozen(theta[:, 0].T), frozen(s), frozen(body))


def check_families(beam: Beam, families: Families) -> None:
    """Refuse sets that are not clamped at the root, or that contain a linear combination of other shapes."""
    for name, modes in ordered(families):
        modes.check_root(name, beam.length, bending=name.startswith("bending"))
        over = quadrature(beam, {name: modes})
        shapes = modes.value(over.points, beam.length)
        if (j := dependent((shapes * over.weights) @ shapes.T)) is not None:
            raise ArgumentError(
                f"{name}: mode {j + 1} ({modes.names[j]}) is a combination of those before it, to rounding, so that "
                "the mass matrix is singular; leave it out, or take fewer modes"
            )


def unmoved_tip(beam: Beam, families: Families) -> tuple[str, ...]:
    """The names of the sets that neither shift nor turn the tip."""
    inside = np.linspace(0, beam.length, 101)

    def moves(name: str, modes: ModeSet) -> bool:
        motions = (modes.value, modes.slope) if name.startswith("bending") else (modes.value,)
        along = (np.abs(motion(inside, beam.length)) for motion in motions)
        return any(bool(np.any(size[:, -1] > 1e-9 * size.max())) for size in along)

    return tuple(name for name, modes in ordered(families) if not moves(name, modes))

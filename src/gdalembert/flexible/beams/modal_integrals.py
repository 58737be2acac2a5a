"""Constant integrals of a flexible link, and its stations (CB14, CB29).

Mode j displaces a point r of the undeformed link, in the clamped frame, by φ_j = u_j + ϑ_j × σ, where σ is the offset
of the point from the centre of its cross section. A beam is represented by its Gauss points: cross sections with mass,
section inertia, displacement u_j and small rotation ϑ_j. A link from finite elements or a measurement consists of such
points, :class:`Nodes`; the sums are the same. Section inertia, foreshortening and nodes are not in the source.

Modes are ordered: bending in y, bending in z, extension, torsion. ϑ is (τ, −z', y'); the minus sign is that of a
positive rotation about y, which turns x to −z.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.mass_points import MassPoints
from gdalembert.flexible.beams.modal_mass import dependent
from gdalembert.flexible.beams.quadrature import Quadrature, converged
from gdalembert.flexible.link_model import Station, root
from gdalembert.flexible.modes import ModeSet
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arrays import Array, frozen

Families: TypeAlias = Mapping[str, ModeSet]
"""Mode sets by direction: keys ``"bending_y"``, ``"bending_z"``, ``"extension"``, ``"torsion"``."""

DIRECTIONS = {"bending_y": "y", "bending_z": "z", "extension": "x", "torsion": "t"}
"""In the order of the modes, with the letter of their names."""

_STIFFNESS = {"bending_y": "EI_z", "bending_z": "EI_y", "extension": "EA", "torsion": "GJ"}
_NOISE = 1e-13
"""Integrals below this multiple of ∫|…| are zero (orthogonal modes)."""


def ordered(families: Families) -> Iterator[tuple[str, ModeSet]]:
    """Direction and set, in the order of the modes."""
    return ((name, families[name]) for name in DIRECTIONS if name in families)


def mode_names(families: Families) -> tuple[str, ...]:
    """``"y1"``, ``"y2"``, ``"z1"``, ``"x1"``, ``"t1"``, …"""
    return tuple(f"{DIRECTIONS[name]}{j}" for name, each in ordered(families) for j in range(1, len(each) + 1))


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
    """On as many panels as products of the shapes need, from the root to an abscissa, by default that of the tip."""
    least = max((each.panels for each in families.values()), default=1) if panels is None else panels
    breaks = {*beam.breaks, *(b for each in families.values() for b in each.breaks(beam.length))}
    return Quadrature.of(0, beam.length if end is None else end, least, sorted(breaks))


def _sections(beam: Beam, families: Families, over: Quadrature, foreshortening: bool) -> MassPoints:
    eta, n = over.points, sum(map(len, families.values()))
    u, theta = _shapes(families, eta, beam.length)
    j_y, j_z = beam.section_inertias(eta)
    moments = np.zeros((eta.size, 3, 3))
    moments[:, 1, 1], moments[:, 2, 2] = j_z * over.weights, j_y * over.weights
    positions = np.column_stack([eta, np.zeros((eta.size, 2))])
    s = over.running(_steepness(families, eta, beam.length)) if foreshortening else np.zeros((n, n, eta.size))
    return MassPoints.of(beam.along("mass_per_length", eta) * over.weights, positions, moments, u, theta, s)


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
        beam: the beam, section inertia included.
        families: its modes.
        foreshortening: whether the beam shortens as it bends.

    Raises:
        ArgumentError: if the beam has no stiffness in the direction of a mode, if a function of the beam or a shape
            cannot be used, or if the integrals do not converge.
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
    """The station at an abscissa [m], with the pseudo-inertia (4 × 4) of the bodies that are fixed to it.

    Raises:
        ArgumentError: if the abscissa does not lie on the beam.
    """
    n = sum(map(len, families.values()))
    if not 0 <= abscissa <= beam.length * (1 + ROUND_OFF):
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


def check_families(beam: Beam, families: Families) -> None:
    """Refuse sets that are not clamped at the root, or that contain a linear combination of other shapes.

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
    """The names of the sets that neither shift nor turn the tip."""
    still: list[str] = []
    for name, each in ordered(families):
        inside = np.linspace(0, beam.length, 101)
        ends = [(each.value(beam.length, beam.length), each.value(inside, beam.length))]
        if name.startswith("bending"):
            ends.append((each.slope(beam.length, beam.length), each.slope(inside, beam.length)))
        if all(np.all(np.abs(tip) <= 1e-9 * np.abs(size).max()) for tip, size in ends):
            still.append(name)
    return tuple(still)

"""The assembly of a flexible arm that has p: what the reference of an arm with parameters is made of.

It is computed from the names of the parameters and the assembly alone, independently of the tree that the arm's own
Functions are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.parameters.kind import with_entries
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.flexible.link_model import LinkModel
from gdalembert.model.inertia import pseudo_inertia_of
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array


def assembly_at(arm: Arm, p: Matrix) -> Assembly:
    """The assembly with p (n_p), symbols (SX) or numbers (DM); not the factors of stiffness and damping."""
    assembly = arm.assembly
    for kind, part in arm.parameters.parts(p):
        assembly = _PUT[kind.kind](assembly, kind.elements, part)
    return assembly


def _with_inertia(assembly: Assembly, names: Sequence[str], p: Matrix) -> Assembly:
    links = list(assembly.links)
    index = {link.name: k for k, link in enumerate(links)}
    for name, body in zip(names, _bodies(p), strict=True):
        link = links[index[name]]
        links[index[name]] = replace(link, inertia=replace(link.inertia, rigid=entries(body)))
    return replace(assembly, links=tuple(links))


def _with_payload(assembly: Assembly, names: Sequence[str], p: Matrix) -> Assembly:
    links = list(assembly.links)
    frames = {frame.name: frame for frame in assembly.frames}
    for name, body in zip(names, _bodies(p), strict=True):
        frame = frames[name]
        links[frame.link] = _loaded(links[frame.link], frame.station, frame.placement, body)
    return replace(assembly, links=tuple(links))


def _loaded(link: LinkModel, station: int, placement: Array, body: Matrix) -> LinkModel:
    """A link with one more body at a station."""
    stations, here = list(link.stations), spatial.constant(placement)
    whole = spatial.constant(stations[station].body) + here @ body @ here.T
    stations[station] = replace(stations[station], body=entries(whole))
    return replace(link, stations=tuple(stations))


def _with_armature(assembly: Assembly, names: Sequence[str], p: Matrix) -> Assembly:
    columns = {link.name: range(link.idx_v, link.idx_v + link.type.nv) for link in assembly.links}
    rotors = enumerate(assembly.rotors, assembly.nv - len(assembly.rotors))
    columns |= {f"{name} rotor": range(k, k + 1) for k, name in rotors}
    return replace(assembly, armature=with_entries(assembly.armature, [k for name in names for k in columns[name]], p))


def _with_gravity(assembly: Assembly, axes: Sequence[str], p: Matrix) -> Assembly:
    return replace(assembly, gravity=with_entries(assembly.gravity, ["xyz".index(axis) for axis in axes], p))


def _bodies(p: Matrix) -> list[Matrix]:
    return [pseudo_inertia_of(p[k : k + 10]) for k in range(0, p.shape[0], 10)]


_PUT: dict[str, Callable[[Assembly, Sequence[str], Any], Assembly]] = {
    "inertia": _with_inertia,
    "payload": _with_payload,
    "armature": _with_armature,
    "gravity": _with_gravity,
}
"""By kind of the parameters."""


def elastic_matrices(arm: Arm, p: Array | None) -> tuple[Array, Array]:
    """K and D (nv × nv each) of an arm that has p, with their factors."""
    values = _by_name(arm, p)
    k, d = np.array(arm.assembly.stiffness), np.array(arm.assembly.damping)
    for name, rows in _elastic_rows(arm.assembly):
        own = np.ix_(rows, rows)
        k[own] *= values.get(f"{name}.stiffness_factor", 1.0)
        d[own] *= values.get(f"{name}.damping_factor", 1.0)
    return k, d


def stiffness_of_links(arm: Arm, p: Array | None) -> Array:
    """K_f of all links (nv × nv) of an arm that has p, from the links themselves."""
    values, k = _by_name(arm, p), np.zeros((arm.tree.nv, arm.tree.nv))
    for name, beam in arm.assembly.beams.items():
        link = arm.assembly.links[beam.link]
        own = np.ix_(link.mode_columns, link.mode_columns)
        k[own] = link.inertia.stiffness * values.get(f"{name}.stiffness_factor", 1.0)
    return k


def _by_name(arm: Arm, p: Array | None) -> dict[str, float]:
    return {} if p is None else dict(zip(arm.parameters.names, p.tolist(), strict=True))


def _elastic_rows(assembly: Assembly) -> Iterator[tuple[str, list[int]]]:
    """The rows of v of each flexible link and joint; no two share an entry of K."""
    for name, beam in assembly.beams.items():
        yield name, list(assembly.links[beam.link].mode_columns)
    own = {link.name: link.idx_v for link in assembly.links}
    for k, name in enumerate(assembly.rotors, assembly.nv - len(assembly.rotors)):
        yield name, [own[name], k]

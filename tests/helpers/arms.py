"""Random flexible robots that are clouds of mass points, so that every integral over them is a finite sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import Polynomial

from gdalembert.flexible.station import Attachment, BeamStation, CarriedBeam, Carrier, root
from gdalembert.model.joints import JointType, Prismatic, Revolute, UnboundedRevolute
from gdalembert.model.joints.deflection import Deflection, FirstOrderDeflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from tests.helpers.models import unit

Rng = np.random.Generator

X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Mode:
    """u(η) and the torsion τ(η) of a mode of a beam that is clamped at η = 0."""

    x: Polynomial
    y: Polynomial
    z: Polynomial
    torsion: Polynomial

    def displacement(self, eta: float) -> Array:
        """u(η)."""
        return np.array([self.x(eta), self.y(eta), self.z(eta)])

    def rotation(self, eta: float) -> Array:
        """ϑ(η) = (τ, −z', y')."""
        return np.array([self.torsion(eta), -self.z.deriv()(eta), self.y.deriv()(eta)])

    def shortening(self, other: Mode, eta: float) -> float:
        """s(η) = ∫ y' y' + z' z' from the root, of this mode and another."""
        slopes = self.y.deriv() * other.y.deriv() + self.z.deriv() * other.z.deriv()
        return float(slopes.integ()(eta))


@dataclass(frozen=True)
class Point:
    """A mass point of a link or of a body on a section of it.

    Attributes:
        mass: in kg.
        position: r, undeformed (3).
        displacement: φ (3 × n). ``shortening``: s (n × n). Both zero for points of a body.
        station: the section that a point of a body stands on, in whose frame ``position`` is; ``None`` for a link's.
    """

    mass: float
    position: Array
    displacement: Array
    shortening: Array
    station: int | None = None


@dataclass(frozen=True)
class LinkModel:
    """A joint, placed on a station of its parent, and the link that it moves."""

    name: str
    type: JointType
    parent: int
    parent_station: int
    placement: Array
    clamped: Array
    inertia: ModalInertia
    stations: tuple[BeamStation, ...]
    idx_q: int
    idx_v: int
    mode_idx_q: int
    mode_idx_v: int

    @property
    def mode_columns(self) -> range:
        return range(self.mode_idx_v, self.mode_idx_v + self.inertia.modes)


@dataclass(frozen=True)
class Arm:
    """A robot, and the mass points of each of its links."""

    links: tuple[LinkModel, ...]
    points: tuple[tuple[Point, ...], ...]
    gravity: Array

    @property
    def nv(self) -> int:
        return sum(e.type.nv + e.inertia.modes for e in self.links)

    @property
    def nq(self) -> int:
        return sum(e.type.nq + e.inertia.modes for e in self.links)

    def configuration(self, x: Array) -> Array:
        """q of nv coordinates of which every joint has one: an angle where q holds (cos, sin)."""
        q = np.zeros(self.nq)
        for e in self.links:
            angle = x[e.idx_v]
            continuous = isinstance(e.type, UnboundedRevolute)
            q[e.idx_q : e.idx_q + e.type.nq] = (np.cos(angle), np.sin(angle)) if continuous else angle
            q[e.mode_idx_q : e.mode_idx_q + e.inertia.modes] = x[e.mode_columns]
        return q

    @property
    def modal(self) -> Array:
        """Which entries of v are modal coordinates."""
        mask = np.zeros(self.nv, dtype=bool)
        for e in self.links:
            mask[e.mode_columns] = True
        return mask


def clamped(rng: Rng, lowest: int, size: float) -> Polynomial:
    """A polynomial that starts with η to the power ``lowest``; none for a size of 0."""
    return Polynomial(np.concatenate([np.zeros(lowest), size * rng.normal(size=3)])) if size else Polynomial([0.0])


def planar_mode(rng: Rng) -> Mode:
    """Bending in y."""
    none = Polynomial([0.0])
    return Mode(none, clamped(rng, 2, 1), none, none)


def spatial_mode(rng: Rng) -> Mode:
    """Bending in both planes, torsion and extension at once."""
    return Mode(clamped(rng, 1, 0.3), clamped(rng, 2, 1), clamped(rng, 2, 1), clamped(rng, 1, 1))


def homogeneous(rotation: Array, translation: Array) -> Array:
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = rotation, translation
    return frame


def turn(rng: Rng, axis: Array | None) -> Array:
    """A random rotation, about the axis if there is one."""
    a, angle = unit(rng) if axis is None else axis, rng.uniform(-3, 3)
    k = np.array([np.cross(a, e) for e in np.eye(3)]).T
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def joint_type(rng: Rng, kind: str, planar: bool) -> JointType:
    if kind == "prismatic":
        axis = np.append(rng.normal(size=2), 0.0) if planar else rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        return Prismatic((float(axis[0]), float(axis[1]), float(axis[2])))
    axis = Z if planar else unit(rng)
    axis3 = (float(axis[0]), float(axis[1]), float(axis[2]))
    return UnboundedRevolute(axis3) if kind == "continuous" else Revolute(axis3)


def hat(r: Array) -> Array:
    return np.append(r, 1.0)


def inertia_of(points: Sequence[Point], modes: int) -> ModalInertia:
    """C, C_j, C_jk as sums over the points, which also shorten in proportion to x, y, z and 1."""
    shortening = fitted(points, modes) if any(p.shortening.any() for p in points) else np.zeros((0, modes, modes))
    shapes = modes + len(shortening)
    rigid, first, second = np.zeros((4, 4)), np.zeros((shapes, 4, 4)), np.zeros((shapes, shapes, 4, 4))
    for p in points:
        phi = [np.append(p.displacement[:, j], 0.0) for j in range(modes)]
        phi += [np.array([x, 0, 0, 0]) for x in hat(p.position)][: len(shortening)]
        rigid += p.mass * np.outer(hat(p.position), hat(p.position))
        for j in range(shapes):
            first[j] += p.mass * np.outer(hat(p.position), phi[j])
            for k in range(shapes):
                second[j, k] += p.mass * np.outer(phi[j], phi[k])
    return ModalInertia(rigid, first, second, shortening, np.eye(modes))


def fitted(points: Sequence[Point], modes: int) -> Array:
    """S_b with s ≈ S·(x, y, z, 1), the least squares weighted by the masses (4 × n × n)."""
    weights = np.sqrt([p.mass for p in points])[:, None]
    places = np.array([hat(p.position) for p in points])
    values = np.array([p.shortening.ravel() for p in points])
    return np.linalg.lstsq(weights * places, weights * values)[0].reshape(4, modes, modes)


def link(
    rng: Rng, modes: Sequence[Mode], *, shortening: bool, fit: bool, etas: Sequence[float]
) -> tuple[ModalInertia, tuple[BeamStation, ...], tuple[Point, ...]]:
    """A link with bodies on its root and on the sections at ``etas``."""
    n = len(modes)

    def shortened(eta: float) -> Array:
        return np.array([[shortening * a.shortening(b, eta) for b in modes] for a in modes]).reshape(n, n)

    points = []
    for _ in range(3 + n):
        eta, offset = rng.uniform(0.1, 1), np.append(0.0, 0.3 * rng.normal(size=2))
        phi = [mode.displacement(eta) + np.cross(mode.rotation(eta), offset) for mode in modes]
        columns = np.array(phi).reshape(n, 3).T
        points.append(Point(rng.uniform(0.1, 1), eta * X + offset, columns, shortened(eta)))
    inertia = inertia_of(points, n)
    if len(inertia.shortening) and fit:
        points = [replace(p, shortening=np.einsum("b,bjk->jk", hat(p.position), inertia.shortening)) for p in points]
    stations = []
    for at, eta in enumerate((0.0, *etas)):
        body = np.zeros((4, 4))
        for _ in range(2):
            mass, r = rng.uniform(0.1, 1), 0.3 * rng.normal(size=3)
            body += mass * np.outer(hat(r), hat(r))
            points.append(Point(mass, r, np.zeros((3, n)), np.zeros((n, n)), at))
        u = np.array([mode.displacement(eta) for mode in modes]).reshape(n, 3).T
        theta = np.array([mode.rotation(eta) for mode in modes]).reshape(n, 3).T
        stations.append(BeamStation(eta * X, u, theta, shortened(eta), body))
    return inertia, tuple(stations), tuple(points)


def arm(
    seed: int, kinds: Sequence[str], modes: Sequence[int], parents: Sequence[int] | None = None, *,
    planar: bool = False, shortening: bool = False, fit: bool = True,
) -> Arm:  # fmt: skip
    """Joints of the given kinds ("revolute", "continuous", "prismatic"), each with so many modes on its link.

    The entries of v are shuffled: nothing may depend on their order. Points shorten by the fit that the model makes;
    without ``fit`` by what it fits.
    """
    rng = np.random.default_rng(seed)
    parents = list(range(-1, len(kinds) - 1)) if parents is None else parents
    order = rng.permutation(len(kinds))
    idx_v = {int(i): k for k, i in enumerate(order)}
    widths = [2 if kind == "continuous" else 1 for kind in kinds]
    idx_q = {int(i): sum(widths[j] for j in order[:k]) for k, i in enumerate(order)}
    modal_order = rng.permutation(len(kinds))
    first = {int(i): len(kinds) + sum(modes[j] for j in modal_order[:k]) for k, i in enumerate(modal_order)}
    about = Z if planar else None
    links: list[LinkModel] = []
    points = []
    for i, (kind, n, parent) in enumerate(zip(kinds, modes, parents, strict=True)):
        shapes = [(planar_mode if planar else spatial_mode)(rng) for _ in range(n)]
        inertia, stations, own = link(rng, shapes, shortening=shortening, fit=fit, etas=(0.55, 1.0))
        points.append(own)
        links.append(
            LinkModel(
                name=f"joint_{i}", type=joint_type(rng, kind, planar), parent=parent,
                parent_station=int(rng.integers(1, 3)) if i % 3 != 2 else 0,
                placement=homogeneous(turn(rng, about), 0.3 * rng.normal(size=3)),
                clamped=homogeneous(turn(rng, about), 0.3 * rng.normal(size=3)),
                inertia=inertia, stations=stations, idx_q=idx_q[i], idx_v=idx_v[i],
                mode_idx_q=first[i] + sum(widths) - len(kinds), mode_idx_v=first[i],
            )
        )  # fmt: skip
    return Arm(tuple(links), tuple(points), 9.81 * unit(rng))


def tree_of(links: Sequence[LinkModel], gravity: Array, deflection: type[Deflection] = Deflection) -> Tree:
    """Links alone: no frames, no rotors."""
    joints: list[Joint] = []
    beams: list[CarriedBeam] = []
    for link in links:
        base = Attachment(-1, link.placement)
        if link.parent >= 0:
            base = beams[link.parent].attachment(link.parent_station, link.placement)
        joint = Joint(
            link.name, link.type, base.joint, base.placement[:3, :3], base.placement[:3, 3], np.zeros((4, 4)),
            link.idx_q, link.idx_v,
        )  # fmt: skip
        carrier = Carrier(joint, len(joints), link.mode_idx_q, link.mode_idx_v, deflection)
        beams.append(CarriedBeam(carrier, link.inertia, link.clamped, link.stations))
        joints += beams[-1].joints
    nv = sum(link.type.nv + link.inertia.modes for link in links)
    nq = sum(link.type.nq + link.inertia.modes for link in links)
    nothing, indices = np.zeros(nv), tuple(beam.carrier.index for beam in beams)
    placed = ((i, link.inertia.placed(link.clamped)) for i, link in zip(indices, links, strict=True))
    return Tree(
        name="arm", nq=nq, nv=nv, joints=tuple(joints), links=indices, joint_names=tuple(link.name for link in links),
        armature=nothing, damping=nothing, friction=nothing, gravity=gravity, frames=(),
        modal_inertias=tuple((i, inertia) for i, inertia in placed if inertia.modes),
    )  # fmt: skip


def state(arm: Arm, seed: int, size: float = 0.1) -> tuple[Array, Array, Array]:
    """x (nv, an angle for every joint), v and a; modal coordinates and rates of the given size."""
    rng = np.random.default_rng(seed)
    scale = np.where(arm.modal, size, 1.0)
    x, v, a = (scale * rng.normal(size=arm.nv) for _ in range(3))
    return x, v, a


CASES: dict[str, dict[str, object]] = {
    "one planar": {"kinds": ["revolute"], "modes": [2], "planar": True},
    "two planar": {"kinds": ["revolute", "continuous"], "modes": [2, 2], "planar": True},
    "planar slide": {"kinds": ["prismatic", "revolute", "revolute"], "modes": [1, 0, 2], "planar": True},
    "one spatial": {"kinds": ["continuous"], "modes": [4]},
    "two spatial": {"kinds": ["revolute", "revolute"], "modes": [3, 2]},
    "three spatial": {"kinds": ["continuous", "prismatic", "revolute"], "modes": [2, 1, 2]},
    "rigid between": {"kinds": ["revolute", "revolute", "prismatic", "continuous"], "modes": [2, 0, 0, 2]},
    "four": {"kinds": ["revolute", "continuous", "revolute", "revolute"], "modes": [1, 2, 1, 2]},
    "tree": {"kinds": ["revolute", "revolute", "prismatic", "continuous"], "modes": [2, 1, 2, 0],
             "parents": [-1, 0, 0, 1]},
    "rigid": {"kinds": ["continuous", "prismatic", "revolute", "revolute"], "modes": [0, 0, 0, 0],
              "parents": [-1, 0, 1, 0]},
    "forest": {"kinds": ["continuous", "prismatic"], "modes": [2, 2], "parents": [-1, -1]},
}  # fmt: skip


QUICK_CASES = ("two planar", "one spatial")
"""Those of the quick tests."""

BY_EXACTNESS: dict[bool, type[Deflection]] = {True: Deflection, False: FirstOrderDeflection}

KINEMATICS = [(True, False), (True, True), (False, False)]
"""(exact rotation, foreshortening) that belong together."""


def case(name: str, *, shortening: bool = False, fit: bool = True, seed: int = 0) -> Arm:
    """One of the random robots by name."""
    return arm(seed, shortening=shortening, fit=fit, **CASES[name])  # type: ignore[arg-type]


def row_of_links(number: int) -> tuple[LinkModel, ...]:
    """Equal links of 1 m, two modes in each plane of bending, axes alternately z and y, frames along the beam."""
    none = Polynomial([0.0])
    shapes = [Polynomial([0, 0, 1.0]), Polynomial([0, 0, 0, 1.0])]
    modes = [Mode(none, y, none, none) for y in shapes] + [Mode(none, none, z, none) for z in shapes]
    points = []
    for eta in np.linspace(0.1, 1, 10):
        for y, z in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
            offset = np.array([0, y, z])
            columns = np.array([m.displacement(eta) + np.cross(m.rotation(eta), offset) for m in modes]).T
            points.append(Point(0.0125, eta * X + offset, columns, np.zeros((4, 4))))
    whole = inertia_of(points, 4)
    parts = (whole.rigid, whole.first, whole.second, whole.shortening, whole.stiffness)
    inertia = ModalInertia(*(np.where(np.abs(part) < 1e-15, 0, part) for part in parts))
    u, theta = (np.array([getattr(m, of)(1.0) for m in modes]).T for of in ("displacement", "rotation"))
    stations = (root(4), BeamStation(X, u, theta, np.zeros((4, 4)), np.zeros((4, 4))))
    return tuple(
        LinkModel(
            name=f"joint_{i}", type=Revolute((0.0, 0.0, 1.0) if i % 2 == 0 else (0.0, 1.0, 0.0)), parent=i - 1,
            parent_station=1, placement=np.eye(4), clamped=np.eye(4), inertia=inertia, stations=stations,
            idx_q=i, idx_v=i, mode_idx_q=number + 4 * i, mode_idx_v=number + 4 * i,
        )
        for i in range(number)
    )  # fmt: skip

"""D(q) and V(q) as finite sums: trigonometric in angles, polynomial in distances.

    f(x) = Σ  X (α cos φ + β sin φ),    X = Π_l x_l^m_l over sliding joints,    φ = Σ_l κ_l x_l over turning joints

x has one coordinate for each velocity: the angle of a revolute or continuous joint, the distance of a prismatic one
from the middle of its range, and so a modal coordinate of first-order kinematics. An entry of D is of degree 2 in each
coordinate and V of degree 1, because points of a link are of degree 1. So 5 values of an angle and 3 of a distance
determine D, 3 and 2 determine V: a grid of them gives all coefficients, by FFT along the angles and by interpolation
along the distances. Ours; RSD-TR-8-82 has no such expansion.

The largest contribution of a term to the torques tells which terms can be left out. A term δ = A X cos(φ + phase) of
D_ij = D_ji, left out, changes the torques, by Lagrange's equations, by

    row i    δ a_j + δ̇ v_j − ∂δ/∂q_i v_i v_j          row j    likewise with i and j exchanged
    row l    −∂δ/∂q_l v_i v_j                         of every other joint l

and if i = j by δ a_i + δ̇ v_i − ½ ∂δ/∂q_i v_i² and −½ ∂δ/∂q_l v_i². A term of V changes row l by ∂δ/∂q_l. With
|v| ≤ v_max, |a| ≤ a_max, any angles and all distances within their range, |x_l| ≤ half_l:

    |δ| ≤ F = A Π half_l^m_l,    |∂δ/∂q_l| ≤ F_l = |κ_l| F of an angle, m_l / half_l F of a distance.

In row i, ∂δ/∂q_i v_i v_j cancels what δ̇ v_j has of it (half of it if i = j). δ a_j goes with the cosine of the phase
and what the angles make of δ̇ with its sine: together they are at most the root of the sum of their squares. So, the
first sum over the angles, the second over the distances, l = i left out of both (taken half if i = j),

    |row i| ≤ F √(a_j² + (Σ |κ_l| v_l v_j)²) + Σ F_l v_l v_j,    |row l| ≤ F_l v_i v_j   (half of it if i = j).

All of it is ours. The plain sum A (a_j + |κ|·v_max v_j) is never smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import integrate, neutral
from gdalembert.model.limits import NO_LIMIT, Limits
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen

MOST_POINTS = 20_000
"""The largest grid: 6 angles."""

_ROUNDING = 1e-14  # amplitudes below this part of an entry's own scale are rounding
_REPRODUCED = 1e-12  # of that scale: how well the sum must agree with the graph
_BATCH = 10_000  # points at once

Wave = tuple["Shape", float, float]
"""A shape with its α and β."""

Coefficients = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class Shape:
    """A function of x without its amplitudes.

    Attributes:
        frequencies: κ, one for each velocity. powers: m, likewise.
    """

    frequencies: tuple[int, ...]
    powers: tuple[int, ...]

    @property
    def turns(self) -> tuple[int, ...]:
        """The angles in φ."""
        return tuple(k for k, frequency in enumerate(self.frequencies) if frequency)

    @property
    def factors(self) -> str:
        """X in words, as ``x3^2``; empty if it is one."""
        return " ".join(f"x{k + 1}" if m == 1 else f"x{k + 1}^{m}" for k, m in enumerate(self.powers) if m)

    @property
    def phase(self) -> str:
        """φ in words, as ``q2 + 2 q3``; empty if it is zero."""
        parts = [
            ("- " if k < 0 else "+ ") + (f"{abs(k)} " if abs(k) > 1 else "") + f"q{i + 1}"
            for i, k in enumerate(self.frequencies)
            if k
        ]
        return " ".join(parts).removeprefix("+ ")


@dataclass(frozen=True)
class Term:
    """One term α X cos φ + β X sin φ = A X cos(φ + phase) of an entry of D, or of V.

    Attributes:
        entry: (i, j), i ≤ j, of D, counted from 0; the term is added at (j, i) too. ``None`` for a term of V.
        shape: X and φ.
        cosine, sine: α and β.
    """

    entry: tuple[int, int] | None
    shape: Shape
    cosine: float
    sine: float

    @property
    def amplitude(self) -> float:
        """A ≥ 0: kg m², kg m or kg in D, J in V, per m for each power of a distance."""
        return math.hypot(self.cosine, self.sine)

    @property
    def is_free(self) -> bool:
        """Whether it is a constant of V or of the diagonal of D."""
        constant = not any(self.shape.frequencies) and not any(self.shape.powers)
        return constant and (self.entry is None or self.entry[0] == self.entry[1])

    def __str__(self) -> str:
        name = "V" if self.entry is None else "D" + "".join(f"_{k + 1}" for k in self.entry)
        phase = self.shape.phase
        turned = math.atan2(-self.sine, self.cosine)
        if not phase:
            value, wave = self.cosine, ""
        elif self.sine == 0:
            value, wave = self.cosine, f"cos({phase})"
        elif self.cosine == 0:
            value, wave = self.sine, f"sin({phase})"
        else:
            value, wave = self.amplitude, f"cos({phase} {'-' if turned < 0 else '+'} {abs(turned):.4g})"
        return f"{name}: {' '.join(part for part in (f'{value:.6g}', self.shape.factors, wave) if part)}"


@dataclass(frozen=True)
class Coordinates:
    """x of a tree: one coordinate for each velocity.

    Attributes:
        tree: the robot.
        joints: the joint of each coordinate.
        centre, half: middle and half length of the range of sliding joints [m]; 0 and π of the others.
    """

    tree: Tree
    joints: tuple[Joint, ...]
    centre: Array
    half: Array

    def slides(self, k: int) -> bool:
        """Whether coordinate k is a distance, or a modal coordinate, in which points are linear, too."""
        return self.joints[k].type.is_prismatic or self.joints[k].type.is_modal

    def index(self, k: int) -> int:
        """Index in q of the distance k."""
        return self.joints[k].idx_q + k - self.joints[k].idx_v

    def configuration(self, x: Matrix) -> Matrix:
        """q (nq) of x (nv)."""
        return integrate(self.tree, neutral(self.tree), x + ca.DM(self.centre))

    def configurations(self, x: Array) -> Array:
        """N × nq of N × nv."""
        symbol = ca.SX.sym("x", len(self.joints))
        return self.evaluate(symbol, self.configuration(symbol), x).T

    def evaluate(self, x: ca.SX, rows: ca.SX, points: Array) -> Array:
        """Expressions of x at N points (N × nv): rows × N."""
        graph = ca.Function("rows", [x], [ca.densify(rows)])
        parts = np.array_split(points, 1 + len(points) // _BATCH)
        return np.concatenate([graph.map(len(part))(part.T).full() for part in parts], axis=1)

    def points_of(self, k: int, degree: int) -> int:
        """How many values of coordinate k determine what is of this degree in the positions of points."""
        if self.slides(k):
            return degree + 1
        turns = [abs(joint.scaling or 1.0) for joint in self.tree.joints if joint.idx_v == k]
        return 2 * degree * round(sum(turns)) + 1


def coordinates_of(tree: Tree, joints: tuple[Joint, ...], limits: Limits, relevant: set[int]) -> Coordinates:
    """x, with the ranges of the distances among the entries ``relevant`` of q; others have no effect on torques.

    Raises:
        ArgumentError: if one of these has no finite range.
    """
    found = Coordinates(tree, joints, np.zeros(tree.nv), np.full(tree.nv, np.pi))
    for k, name in enumerate(tree.velocity_names):
        if found.slides(k):
            found.half[k] = 1.0
            if found.index(k) in relevant:
                lower, upper = limits.lower[k], limits.upper[k]
                if not -NO_LIMIT < lower < upper < NO_LIMIT:
                    raise ArgumentError(
                        f"{tree.name}: joint {name!r}: its range is from {lower:.9g} to {upper:.9g} m, and "
                        "inertia or gravity depends on it; give a finite q_range"
                    )
                found.centre[k], found.half[k] = (lower + upper) / 2, (upper - lower) / 2
    return Coordinates(tree, joints, frozen(found.centre), frozen(found.half))


@dataclass(frozen=True)
class Expansion:
    """An expression to expand.

    Attributes:
        name: for messages. expression: of x.
        degree: in the positions of points: 2 of D, 1 of V.
        scale: the magnitude that rounding is measured by.
    """

    name: str
    expression: ca.SX
    degree: int
    scale: float


def joints_of(tree: Tree) -> tuple[Joint, ...]:
    """The joint of each velocity.

    Raises:
        UnsupportedError: if a joint neither rotates about nor slides along one axis, or if it rotates by a
            fractional multiple of another joint's angle, so that nothing is periodic.
    """
    for joint in tree.joints:
        where = f"{tree.name}: joint {joint.name!r}"
        if not (joint.type.is_revolute or joint.type.is_prismatic or joint.type.is_modal):
            raise UnsupportedError(
                f"{where}: {joint.type.kind} joints have no Fourier expansion; only revolute, continuous and prismatic "
                "joints do"
            )
        if joint.scaling is not None and joint.type.is_revolute and joint.scaling % 1:
            raise UnsupportedError(
                f"{where}: it turns {joint.scaling:.9g} times as far as the joint it mimics, so that nothing repeats "
                "after a turn; give a whole number, or load the model with mimic=False"
            )
    own = {k: joint for joint in tree.independent_joints for k in joint.columns}
    return tuple(own[k] for k in range(tree.nv))


def expand(coordinates: Coordinates, x: ca.SX, rows: Sequence[Expansion]) -> list[list[Wave]]:
    """The terms of each row, an expression of x.

    Raises:
        UnsupportedError: if a row depends on so many joints that its grid has more than ``MOST_POINTS`` points, or
            if the sum does not reproduce the row, at other points than those of the grid.
    """
    stacked = ca.densify(ca.vertcat(*(row.expression for row in rows)))
    depends = ca.jacobian_sparsity(stacked, x)
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for k, row in enumerate(rows):
        own = tuple(i for i in range(x.numel()) if depends.has_nz(k, i))
        counts = tuple(coordinates.points_of(i, row.degree) for i in own)
        groups.setdefault((own, counts), []).append(k)
        if math.prod(counts) > MOST_POINTS:
            raise UnsupportedError(
                f"{coordinates.tree.name}: {row.name} depends on {len(own)} joints, whose grid has "
                f"{math.prod(counts):,} points, more than {MOST_POINTS:,}; lock joints with pin.buildReducedModel"
            )
    found: list[list[Wave]] = [[] for _ in rows]
    for (own, counts), members in groups.items():
        values = coordinates.evaluate(x, stacked[members], _grid(coordinates, own, counts))
        for k, value in zip(members, values, strict=True):
            coefficients = _coefficients(coordinates, own, value.reshape(counts))
            found[k] = list(_waves(coordinates, own, coefficients, _ROUNDING * rows[k].scale))
    _require_reproduced(coordinates, x, stacked, rows, found)
    return found


def _require_reproduced(
    coordinates: Coordinates, x: ca.SX, stacked: ca.SX, rows: Sequence[Expansion], found: list[list[Wave]]
) -> None:
    points = np.random.default_rng(1).uniform(-1, 1, size=(100, x.numel())) * coordinates.half
    for row, waves, true in zip(rows, found, coordinates.evaluate(x, stacked, points), strict=True):
        error = np.abs(evaluate(waves, points) - true).max()
        if error > _REPRODUCED * row.scale:
            raise UnsupportedError(
                f"{coordinates.tree.name}: {row.name} differs from the sum of its {len(waves)} terms by {error:.1e}; "
                "it is no finite sum of such terms; if sections of a flexible arm turn by rotations, take FirstOrderArm"
            )


def evaluate(waves: Sequence[Wave], x: Array) -> Array:
    """The sum of the terms at N points x (N × nv)."""
    total = np.zeros(len(x))
    for shape, cosine, sine in waves:
        phase = x @ np.array(shape.frequencies)
        power = np.prod(x ** np.array(shape.powers), axis=1)
        total += power * (cosine * np.cos(phase) + sine * np.sin(phase))
    return total


def _grid(coordinates: Coordinates, own: Sequence[int], counts: Sequence[int]) -> Array:
    """All points, N × nv."""
    axes = [
        np.linspace(-1, 1, n) * coordinates.half[k] if coordinates.slides(k) else 2 * np.pi * np.arange(n) / n
        for k, n in zip(own, counts, strict=True)
    ]
    grid = np.zeros((math.prod(counts), len(coordinates.joints)))
    if own:
        grid[:, own] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(own))
    return grid


def _coefficients(coordinates: Coordinates, own: Sequence[int], values: Array) -> Coefficients:
    """c of Σ c Π exp(i κ x) Π (x / half)^m: κ as ``np.fft`` orders it, m = 0, 1, …"""
    c = values.astype(complex)
    for axis, k in enumerate(own):
        n = c.shape[axis]
        if coordinates.slides(k):
            powers = np.linalg.inv(np.vander(np.linspace(-1, 1, n), increasing=True))
            c = np.moveaxis(np.tensordot(powers, c, axes=(1, axis)), 0, axis)
        else:
            c = np.fft.fft(c, axis=axis) / n
    return c


def _waves(coordinates: Coordinates, own: Sequence[int], c: Coefficients, floor: float) -> Iterator[Wave]:
    """The terms above the floor, each pair κ, −κ as one."""
    nv = len(coordinates.joints)
    for index in map(tuple, np.argwhere(2 * np.abs(c) > floor)):
        frequencies, powers, reach = [0] * nv, [0] * nv, 1.0
        for k, i, n in zip(own, index, c.shape, strict=True):
            if coordinates.slides(k):
                powers[k], reach = int(i), reach * coordinates.half[k] ** int(i)
            else:
                frequencies[k] = int(i) if 2 * i < n else int(i) - n
        first = next((k for k in frequencies if k), 0)
        if first < 0:
            continue
        value = c[index] * (2 if first else 1)
        cosine, sine = (float(part / reach) if abs(part) > floor else 0.0 for part in (value.real, -value.imag))
        if cosine or sine:
            yield Shape(tuple(frequencies), tuple(powers)), cosine, sine


def largest(coordinates: Coordinates, term: Term) -> float:
    """F, the largest value of a term."""
    return float(term.amplitude * np.prod(coordinates.half ** np.array(term.shape.powers)))


def contributions(coordinates: Coordinates, limits: Limits, terms: Sequence[Term]) -> Array:
    """The most that each term adds to each torque (terms × nv)."""
    return np.array([_contribution(coordinates, limits, term) for term in terms]).reshape(-1, len(limits.tau))


def _contribution(coordinates: Coordinates, limits: Limits, term: Term) -> Array:
    size = largest(coordinates, term)
    turning = size * np.abs(term.shape.frequencies)
    sliding = size * np.array(term.shape.powers) / coordinates.half
    slopes: Array = turning + sliding
    if term.entry is None:
        return slopes
    i, j = term.entry
    v, a = limits.v, limits.a
    rows: Array = slopes * v[i] * v[j] * (0.5 if i == j else 1)
    for row, other in ((i, j), (j, i)):
        own = np.ones(len(v))
        own[row] = 0.5 if i == j else 0
        rows[row] = np.hypot(size * a[other], own @ (turning * v) * v[other]) + own @ (sliding * v) * v[other]
    return rows


def droppable(contributions: Array, allowed: Array) -> npt.NDArray[np.bool_]:
    """The terms to leave out: the smallest first, relative to the allowed error, while no row's sum exceeds it."""
    dropped, total = np.zeros(len(contributions), dtype=bool), np.zeros(len(allowed))
    if np.any(allowed > 0):
        for k in np.argsort((contributions / allowed).max(axis=1), kind="stable"):
            if np.all(total + contributions[k] <= allowed):
                total += contributions[k]
                dropped[k] = True
    return dropped

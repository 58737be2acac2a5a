"""D(q) and V(q) as finite sums, trigonometric in angles and polynomial in distances, and dynamics made of their terms.

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

The plain sum A (a_j + |κ|·v_max v_j) is never smaller. From the terms that stay, everything follows exactly:

    L = ½ v·D v − V + ½ v·I_act v
    tau_i = Σ_j (D_ij a_j + Ḋ_ij v_j) − ∂(½ v·D v − V)/∂q_i + I_act,i a_i
    C     = ½ (Ḋ + Q − Qᵀ),    Q_il = Σ_j ∂D_ij/∂q_l v_j

D is symmetric, C is Christoffel's matrix of this D, g is the gradient of V: dM/dt − 2 C is skew and energy is conserved
whichever terms are there. All of it is ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import integrate, neutral
from gdalembert.model.limits import NO_LIMIT, Limits
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array

MOST_POINTS = 20_000
"""The largest grid: 6 angles."""

_ROUNDING = 1e-14  # amplitudes below this part of an entry's own scale are rounding
_REPRODUCED = 1e-12  # of that scale: how well the sum must agree with the graph
_BATCH = 10_000  # points at once

_ZERO = ca.DM(1, 1)

Amplitudes = dict[tuple[int, int], tuple[float, float]]
"""Amplitudes α and β of one shape in each entry of D."""


@dataclass(frozen=True)
class Harmonic:
    """A function of x without its amplitudes.

    Attributes:
        frequencies: κ, one for each velocity. ``powers``: m, likewise.
    """

    frequencies: tuple[int, ...]
    powers: tuple[int, ...]

    @property
    def turns(self) -> tuple[int, ...]:
        """The angles in φ."""
        return tuple(k for k, frequency in enumerate(self.frequencies) if frequency)


def named(entry: tuple[int, int] | None) -> str:
    """The name ``D_1_2`` of an entry of D, or ``V``."""
    return "V" if entry is None else "D" + "".join(f"_{k + 1}" for k in entry)


@dataclass(frozen=True)
class SeriesTerm:
    """One term α X cos φ + β X sin φ = A X cos(φ + phase) of an entry of D, or of V.

    Attributes:
        entry: (i, j), i ≤ j, of D, counted from 0; the term is added at (j, i) too. ``None`` for a term of V.
        shape: X and φ.
        cosine, sine: α and β.
    """

    entry: tuple[int, int] | None
    shape: Harmonic
    cosine: float
    sine: float

    @property
    def amplitude(self) -> float:
        """A ≥ 0: kg m², kg m or kg in D, J in V, per m for each power of a distance."""
        return math.hypot(self.cosine, self.sine)

    @property
    def is_free(self) -> bool:
        """True for a constant of V or of the diagonal of D."""
        constant = not any(self.shape.frequencies) and not any(self.shape.powers)
        return constant and (self.entry is None or self.entry[0] == self.entry[1])

    def __str__(self) -> str:
        factors = [f"x{k + 1}" if m == 1 else f"x{k + 1}^{m}" for k, m in enumerate(self.shape.powers) if m]
        angles = [
            (k, f"q{i + 1}" if abs(k) == 1 else f"{abs(k)} q{i + 1}") for i, k in enumerate(self.shape.frequencies)
        ]
        phase = " ".join(("- " if k < 0 else "+ ") + angle for k, angle in angles if k).removeprefix("+ ")
        turned = math.atan2(-self.sine, self.cosine)
        if not phase:
            value, wave = self.cosine, ""
        elif self.sine == 0:
            value, wave = self.cosine, f"cos({phase})"
        elif self.cosine == 0:
            value, wave = self.sine, f"sin({phase})"
        else:
            value, wave = self.amplitude, f"cos({phase} {'-' if turned < 0 else '+'} {abs(turned):.4g})"
        return " ".join(part for part in (f"{named(self.entry)}: {value:.6g}", *factors, wave) if part)


@dataclass(frozen=True)
class Coordinates:
    """Coordinates x of a tree: one coordinate for each velocity.

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
        """True if coordinate k is a distance, or a modal coordinate, in which points are linear, too."""
        return self.joints[k].type.is_prismatic or self.joints[k].type.is_modal

    def index(self, k: int) -> int:
        """Index in q of the distance k."""
        return self.joints[k].idx_q + k - self.joints[k].idx_v

    @cached_property
    def x(self) -> ca.SX:
        """The coordinates (nv), symbols."""
        return ca.SX.sym("x", len(self.joints))

    @cached_property
    def q(self) -> Matrix:
        """The configuration q (nq) of x."""
        return integrate(self.tree, neutral(self.tree), self.x + ca.DM(self.centre))

    def evaluate(self, rows: ca.SX, points: Array) -> Array:
        """Expressions of x at N points (N × nv): rows × N."""
        graph = ca.Function("rows", [self.x], [ca.densify(rows)])
        parts = np.array_split(points, 1 + len(points) // _BATCH)
        return np.concatenate([graph.map(len(part))(part.T).full() for part in parts], axis=1)

    def points_of(self, k: int, degree: int) -> int:
        """The number of values of coordinate k that determine a term of this degree in the positions of points."""
        if self.slides(k):
            return degree + 1
        turns = [abs(joint.scaling or 1.0) for joint in self.tree.joints if joint.idx_v == k]
        return 2 * degree * round(sum(turns)) + 1


def coordinates_of(tree: Tree, joints: tuple[Joint, ...], limits: Limits, relevant: set[int]) -> Coordinates:
    """Coordinates x, with the ranges of distances among the entries ``relevant`` of q; others do not change torques."""
    coordinates = Coordinates(tree, joints, np.zeros(tree.nv), np.full(tree.nv, np.pi))
    for k, name in enumerate(tree.velocity_names):
        if coordinates.slides(k):
            coordinates.half[k] = 1.0
            if coordinates.index(k) in relevant:
                lower, upper = limits.lower[k], limits.upper[k]
                if not -NO_LIMIT < lower < upper < NO_LIMIT:
                    raise ArgumentError(
                        f"{tree.name}: joint {name!r}: its range is from {lower:.9g} to {upper:.9g} m, and "
                        "inertia or gravity depends on it; give a finite q_range"
                    )
                coordinates.centre[k], coordinates.half[k] = (lower + upper) / 2, (upper - lower) / 2
    return coordinates


@dataclass(frozen=True)
class Expansion:
    """An expression of x to expand: an entry of D, or V (``None``), and the magnitude that rounding is measured by."""

    entry: tuple[int, int] | None
    expression: ca.SX
    scale: float


def joints_of(tree: Tree) -> tuple[Joint, ...]:
    """The joint of each velocity, all of which rotate about or slide along one axis."""
    for joint in tree.joints:
        context = f"{tree.name}: joint {joint.name!r}"
        if not (joint.type.is_revolute or joint.type.is_prismatic or joint.type.is_modal):
            raise UnsupportedError(
                f"{context}: {joint.type.kind} joints have no Fourier expansion; only revolute, continuous and "
                "prismatic joints do"
            )
        if joint.scaling is not None and joint.type.is_revolute and joint.scaling % 1:
            raise UnsupportedError(
                f"{context}: it turns {joint.scaling:.9g} times as far as the joint it mimics, so that nothing repeats "
                "after a turn; give a whole number, or load the model with mimic=False"
            )
    by_column = {k: joint for joint in tree.independent_joints for k in joint.columns}
    return tuple(by_column[k] for k in range(tree.nv))


def expand(coordinates: Coordinates, rows: Sequence[Expansion]) -> list[list[SeriesTerm]]:
    """The terms of each row, an expression of x; their sum has to reproduce the row at other points than the grid's."""
    stacked = ca.densify(ca.vertcat(*(row.expression for row in rows)))
    depends, nv = ca.jacobian_sparsity(stacked, coordinates.x), len(coordinates.joints)
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for k, row in enumerate(rows):
        relevant = tuple(i for i in range(nv) if depends.has_nz(k, i))
        counts = tuple(coordinates.points_of(i, 1 if row.entry is None else 2) for i in relevant)
        groups.setdefault((relevant, counts), []).append(k)
        if math.prod(counts) > MOST_POINTS:
            raise UnsupportedError(
                f"{coordinates.tree.name}: {named(row.entry)} depends on {len(relevant)} joints, whose grid has "
                f"{math.prod(counts):,} points, more than {MOST_POINTS:,}; lock joints with pin.buildReducedModel"
            )
    terms_by_row: list[list[SeriesTerm]] = [[] for _ in rows]
    for (relevant, counts), members in groups.items():
        axes = [
            np.linspace(-1, 1, n) * coordinates.half[k] if coordinates.slides(k) else 2 * np.pi * np.arange(n) / n
            for k, n in zip(relevant, counts, strict=True)
        ]
        grid = np.zeros((math.prod(counts), nv))
        if relevant:
            grid[:, relevant] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(relevant))
        values = coordinates.evaluate(stacked[members], grid)
        for k, value in zip(members, values, strict=True):
            terms_by_row[k] = list(_terms(coordinates, relevant, value.reshape(counts), rows[k]))
    points = np.random.default_rng(1).uniform(-1, 1, size=(100, nv)) * coordinates.half
    for row, terms, true in zip(rows, terms_by_row, coordinates.evaluate(stacked, points), strict=True):
        error = np.abs(evaluate(terms, points) - true).max()
        if error > _REPRODUCED * row.scale:
            raise UnsupportedError(
                f"{coordinates.tree.name}: {named(row.entry)} differs from the sum of its {len(terms)} terms by "
                f"{error:.1e}; it is no finite sum of such terms; if sections of a flexible arm turn by rotations, "
                "take FirstOrderArm"
            )
    return terms_by_row


def evaluate(terms: Sequence[SeriesTerm], x: Array) -> Array:
    """The sum of the terms at N points x (N × nv)."""
    total = np.zeros(len(x))
    for term in terms:
        phase = x @ np.array(term.shape.frequencies)
        power = np.prod(x ** np.array(term.shape.powers), axis=1)
        total += power * (term.cosine * np.cos(phase) + term.sine * np.sin(phase))
    return total


def _terms(coordinates: Coordinates, relevant: Sequence[int], values: Array, row: Expansion) -> Iterator[SeriesTerm]:
    """The terms of a row with these values on its grid, but for rounding.

    Of c in Σ c Π exp(i κ x) Π (x / half)^m, κ as ``np.fft`` orders it and m = 0, 1, …, each pair κ, −κ is one term.
    """
    c = values.astype(complex)
    for axis, k in enumerate(relevant):
        n = c.shape[axis]
        if coordinates.slides(k):
            powers_of_points = np.linalg.inv(np.vander(np.linspace(-1, 1, n), increasing=True))
            c = np.moveaxis(np.tensordot(powers_of_points, c, axes=(1, axis)), 0, axis)
        else:
            c = np.fft.fft(c, axis=axis) / n  # a fit by least squares would solve a system of the whole grid
    nv, floor = len(coordinates.joints), _ROUNDING * row.scale
    for index in map(tuple, np.argwhere(2 * np.abs(c) > floor)):
        frequencies, powers, reach = [0] * nv, [0] * nv, 1.0
        for k, i, n in zip(relevant, index, c.shape, strict=True):
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
            yield SeriesTerm(row.entry, Harmonic(tuple(frequencies), tuple(powers)), cosine, sine)


def largest(coordinates: Coordinates, term: SeriesTerm) -> float:
    """The largest value F of a term."""
    return float(term.amplitude * np.prod(coordinates.half ** np.array(term.shape.powers)))


def contributions(coordinates: Coordinates, limits: Limits, terms: Sequence[SeriesTerm]) -> Array:
    """The most that each term adds to each torque (terms × nv)."""
    v, a, most = limits.v, limits.a, np.zeros((len(terms), len(limits.tau)))
    for rows, term in zip(most, terms, strict=True):
        size = largest(coordinates, term)
        turning = size * np.abs(term.shape.frequencies)
        sliding = size * np.array(term.shape.powers) / coordinates.half
        rows[:] = turning + sliding
        if term.entry is not None:
            i, j = term.entry
            rows *= v[i] * v[j] * (0.5 if i == j else 1)
            for row, other in ((i, j), (j, i)):
                weights = np.ones(len(v))
                weights[row] = 0.5 if i == j else 0
                rows[row] = (
                    np.hypot(size * a[other], weights @ (turning * v) * v[other]) + weights @ (sliding * v) * v[other]
                )
    return most


def droppable(contributions: Array, allowed: Array) -> npt.NDArray[np.bool_]:
    """The terms to leave out: the smallest first, relative to the allowed error, while no row's sum exceeds it."""
    dropped, total = np.zeros(len(contributions), dtype=bool), np.zeros(len(allowed))
    if np.any(allowed > 0):
        for k in np.argsort((contributions / allowed).max(axis=1), kind="stable"):
            if np.all(total + contributions[k] <= allowed):
                total += contributions[k]
                dropped[k] = True
    return dropped


class Lagrangian:
    """Expressions of M, C, tau and V of a set of terms, as expressions."""

    def __init__(self, coordinates: Coordinates, terms: Iterable[SeriesTerm]) -> None:
        self._coordinates, self._nv = coordinates, len(coordinates.joints)
        self._inertia: dict[Harmonic, Amplitudes] = {}
        self._potential: dict[Harmonic, tuple[float, float]] = {}
        for term in terms:
            amplitudes = self._inertia.setdefault(term.shape, {})
            if term.entry is None:
                self._potential[term.shape] = term.cosine, term.sine
            else:
                amplitudes[term.entry] = term.cosine, term.sine

    def mass_matrix(self, q: Matrix) -> Matrix:
        """The mass matrix D, nv × nv."""
        waves, d = Waves(self._coordinates, q), self._matrix()
        for shape, amplitudes in self._inertia.items():
            _add(d, amplitudes, *waves.values(shape))
        return spatial.rows(*d)

    def potential(self, q: Matrix) -> Matrix:
        """The potential energy V [J]."""
        waves, total = Waves(self._coordinates, q), ca.DM(1, 1)
        for shape, (cosine, sine) in self._potential.items():
            c, s = waves.values(shape)
            total = total + cosine * c + sine * s
        return total

    def inverse_dynamics(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """The torques tau, nv."""
        # wave by wave; CasADi's derivatives of L make 317 instructions of 252 (PUMA 560, error 0.02), of C 226 of 188
        nv, waves = self._nv, Waves(self._coordinates, q)
        d, rate = self._matrix(), self._matrix()
        tau: list[Matrix] = [_ZERO] * nv
        for shape, amplitudes in self._inertia.items():
            c, s = waves.values(shape)
            slopes = waves.slopes(shape)
            _add(d, amplitudes, c, s)
            _add(rate, amplitudes, *waves.rates(shape, v))
            along_c, along_s = (-x for x in self._potential.get(shape, (0.0, 0.0)))  # of L along c and s
            for (i, j), (cosine, sine) in amplitudes.items():
                product = (0.5 if i == j else 1) * (v[i] * v[j])
                along_c, along_s = along_c + cosine * product, along_s + sine * product
            if shape.turns:
                by_phase = along_s * c - along_c * s
                for k in shape.turns:
                    tau[k] = tau[k] - shape.frequencies[k] * by_phase
            for k, (c_k, s_k) in slopes.items():
                tau[k] = tau[k] - (along_c * c_k + along_s * s_k)
        return ca.vertcat(*tau) + spatial.rows(*d) @ a + spatial.rows(*rate) @ v

    def coriolis_matrix(self, q: Matrix, v: Matrix) -> Matrix:
        """The Coriolis matrix C, nv × nv."""
        waves = Waves(self._coordinates, q)
        rate, gradient = self._matrix(), self._matrix()
        for shape, amplitudes in self._inertia.items():
            _add(rate, amplitudes, *waves.rates(shape, v))
            c, s = waves.values(shape)
            slopes = {k: (-shape.frequencies[k] * s, shape.frequencies[k] * c) for k in shape.turns}
            slopes |= waves.slopes(shape)
            along: dict[int, tuple[Matrix, Matrix]] = {}
            for (i, j), (cosine, sine) in amplitudes.items():
                for row, column in {(i, j), (j, i)}:
                    c_row, s_row = along.get(row, (_ZERO, _ZERO))
                    along[row] = (c_row + cosine * v[column], s_row + sine * v[column])
            for row, (c_row, s_row) in along.items():
                for k, (c_k, s_k) in slopes.items():
                    gradient[row][k] = gradient[row][k] + c_row * c_k + s_row * s_k
        q_il = spatial.rows(*gradient)
        return 0.5 * (spatial.rows(*rate) + q_il - q_il.T)

    def _matrix(self) -> list[list[Matrix]]:
        return [[_ZERO] * self._nv for _ in range(self._nv)]


def _add(matrix: list[list[Matrix]], amplitudes: Amplitudes, c: Matrix, s: Matrix) -> None:
    for (i, j), (cosine, sine) in amplitudes.items():
        matrix[i][j] = matrix[i][j] + cosine * c + sine * s
        matrix[j][i] = matrix[i][j]


class Waves:
    """The waves X cos φ and X sin φ of shapes at one q, products of cosines and sines of single angles."""

    def __init__(self, coordinates: Coordinates, q: Matrix) -> None:
        self._coordinates, self._q = coordinates, q
        self._pairs: dict[tuple[int, ...], tuple[Matrix, Matrix]] = {}

    def values(self, shape: Harmonic) -> tuple[Matrix, Matrix]:
        """The waves X cos φ and X sin φ of a shape."""
        (c, s), power = self._pair(shape.frequencies), self._power(shape.powers)
        return power * c, power * s

    def slopes(self, shape: Harmonic) -> dict[int, tuple[Matrix, Matrix]]:
        """Derivatives of the waves by the distances."""
        (c, s), slopes = self._pair(shape.frequencies), {}
        for k, m in enumerate(shape.powers):
            if m:
                slope = m * self._power((*shape.powers[:k], m - 1, *shape.powers[k + 1 :]))
                slopes[k] = slope * c, slope * s
        return slopes

    def rates(self, shape: Harmonic, v: Matrix) -> tuple[Matrix, Matrix]:
        """Rates of the waves along v."""
        c, s = self.values(shape)
        turn = sum((shape.frequencies[k] * v[k] for k in shape.turns), _ZERO)
        c_rate, s_rate = -s * turn, c * turn
        for k, (c_k, s_k) in self.slopes(shape).items():
            c_rate, s_rate = c_rate + c_k * v[k], s_rate + s_k * v[k]
        return c_rate, s_rate

    def _power(self, powers: tuple[int, ...]) -> Matrix:
        product: Matrix = ca.DM(1)
        for k, m in enumerate(powers):
            for _ in range(m):
                product = product * (self._q[self._coordinates.index(k)] - self._coordinates.centre[k])
        return product

    def _pair(self, frequencies: tuple[int, ...]) -> tuple[Matrix, Matrix]:
        """The pair cos φ, sin φ: that of one step less of the last angle, turned by that angle."""
        if frequencies in self._pairs:
            return self._pairs[frequencies]
        last = max((k for k, frequency in enumerate(frequencies) if frequency), default=-1)
        if last < 0:
            return ca.DM(1), ca.DM(1, 1)
        step = 1 if frequencies[last] > 0 else -1
        before = (*frequencies[:last], frequencies[last] - step, *frequencies[last + 1 :])
        joint = self._coordinates.joints[last]
        cosine, sine = joint.type.cosine_and_sine(joint.configuration(self._q))
        sine = step * sine
        if any(before):
            c, s = self._pair(before)
            cosine, sine = c * cosine - s * sine, s * cosine + c * sine
        self._pairs[frequencies] = cosine, sine
        return cosine, sine

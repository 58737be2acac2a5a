"""Dynamics made of terms: the Lagrangian is the sum, and everything else follows from it exactly.

    L = ½ v·D v − V + ½ v·I_act v,    D and V sums of terms (:mod:`gdalembert.dynamics.simplified.series`)

    tau_i = Σ_j (D_ij a_j + Ḋ_ij v_j) − ∂(½ v·D v − V)/∂q_i + I_act,i a_i
    C     = ½ (Ḋ + Q − Qᵀ),    Q_il = Σ_j ∂D_ij/∂q_l v_j

D is symmetric, C is Christoffel's matrix of this D, g is the gradient of V: dM/dt − 2 C is skew and energy is conserved
whichever terms are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.simplified.series import Coordinates, Shape, Term
from gdalembert.spatial.algebra import Matrix

_ZERO = ca.DM(1, 1)


@dataclass(frozen=True)
class Amplitudes:
    """What one shape is multiplied by: α and β of each entry of D, and of V."""

    d: dict[tuple[int, int], tuple[float, float]]
    v: tuple[float, float]


class Lagrangian:
    """M, C, tau and V of a set of terms, as expressions."""

    def __init__(self, coordinates: Coordinates, terms: Iterable[Term]) -> None:
        self._coordinates, self._nv = coordinates, len(coordinates.joints)
        self._terms: dict[Shape, Amplitudes] = {}
        for term in terms:
            own = self._terms.setdefault(term.shape, Amplitudes({}, (0.0, 0.0)))
            if term.entry is None:
                self._terms[term.shape] = Amplitudes(own.d, (term.cosine, term.sine))
            else:
                own.d[term.entry] = (term.cosine, term.sine)

    def mass_matrix(self, q: Matrix) -> Matrix:
        """D, nv × nv."""
        waves, d = Waves(self._coordinates, q), self._matrix()
        for shape, amplitudes in self._terms.items():
            _add(d, amplitudes, *waves.values(shape))
        return spatial.rows(*d)

    def potential(self, q: Matrix) -> Matrix:
        """V."""
        waves, total = Waves(self._coordinates, q), ca.DM(1, 1)
        for shape, amplitudes in self._terms.items():
            c, s = waves.values(shape)
            total = total + amplitudes.v[0] * c + amplitudes.v[1] * s
        return total

    def inverse_dynamics(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """tau, nv."""
        nv, waves = self._nv, Waves(self._coordinates, q)
        d, rate = self._matrix(), self._matrix()
        tau: list[Matrix] = [_ZERO] * nv
        for shape, amplitudes in self._terms.items():
            c, s = waves.values(shape)
            slopes = waves.slopes(shape)
            _add(d, amplitudes, c, s)
            _add(rate, amplitudes, *waves.rates(shape, v))
            along_c, along_s = -amplitudes.v[0], -amplitudes.v[1]  # of L along c and s
            for (i, j), (cosine, sine) in amplitudes.d.items():
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
        """C, nv × nv."""
        waves = Waves(self._coordinates, q)
        rate, gradient = self._matrix(), self._matrix()
        for shape, amplitudes in self._terms.items():
            _add(rate, amplitudes, *waves.rates(shape, v))
            c, s = waves.values(shape)
            slopes = {k: (-shape.frequencies[k] * s, shape.frequencies[k] * c) for k in shape.turns}
            slopes |= waves.slopes(shape)
            along: dict[int, tuple[Matrix, Matrix]] = {}
            for (i, j), (cosine, sine) in amplitudes.d.items():
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
    for (i, j), (cosine, sine) in amplitudes.d.items():
        matrix[i][j] = matrix[i][j] + cosine * c + sine * s
        matrix[j][i] = matrix[i][j]


class Waves:
    """X cos φ and X sin φ of shapes at one q, products of cosines and sines of single angles."""

    def __init__(self, coordinates: Coordinates, q: Matrix) -> None:
        self._coordinates, self._q = coordinates, q
        self._pairs: dict[tuple[int, ...], tuple[Matrix, Matrix]] = {}

    def values(self, shape: Shape) -> tuple[Matrix, Matrix]:
        """X cos φ, X sin φ."""
        return self._scaled(self._power(shape.powers), shape)

    def slopes(self, shape: Shape) -> dict[int, tuple[Matrix, Matrix]]:
        """Derivatives of the waves by the distances."""
        found = {}
        for k, m in enumerate(shape.powers):
            if m:
                less = (*shape.powers[:k], m - 1, *shape.powers[k + 1 :])
                found[k] = self._scaled(m * self._power(less), shape)
        return found

    def rates(self, shape: Shape, v: Matrix) -> tuple[Matrix, Matrix]:
        """Rates of the waves along v."""
        c, s = self.values(shape)
        turn = sum((shape.frequencies[k] * v[k] for k in shape.turns), _ZERO)
        c_rate, s_rate = -s * turn, c * turn
        for k, (c_k, s_k) in self.slopes(shape).items():
            c_rate, s_rate = c_rate + c_k * v[k], s_rate + s_k * v[k]
        return c_rate, s_rate

    def _scaled(self, factor: Matrix, shape: Shape) -> tuple[Matrix, Matrix]:
        c, s = self._pair(shape.frequencies)
        return factor * c, factor * s

    def _power(self, powers: tuple[int, ...]) -> Matrix:
        product: Matrix = ca.DM(1)
        for k, m in enumerate(powers):
            for _ in range(m):
                product = product * (self._q[self._coordinates.index(k)] - self._coordinates.centre[k])
        return product

    def _pair(self, frequencies: tuple[int, ...]) -> tuple[Matrix, Matrix]:
        """cos φ, sin φ: that of one step less of the last angle, turned by that angle."""
        if frequencies not in self._pairs:
            self._pairs[frequencies] = self._new_pair(frequencies)
        return self._pairs[frequencies]

    def _new_pair(self, frequencies: tuple[int, ...]) -> tuple[Matrix, Matrix]:
        last = max((k for k, frequency in enumerate(frequencies) if frequency), default=-1)
        if last < 0:
            return ca.DM(1), ca.DM(1, 1)
        step = 1 if frequencies[last] > 0 else -1
        before = (*frequencies[:last], frequencies[last] - step, *frequencies[last + 1 :])
        joint = self._coordinates.joints[last]
        cosine, sine = joint.type.cosine_and_sine(joint.configuration(self._q))
        if not any(before):
            return cosine, step * sine
        c, s = self._pair(before)
        sine = step * sine
        return c * cosine - s * sine, s * cosine + c * sine

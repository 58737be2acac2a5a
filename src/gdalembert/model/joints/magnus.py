"""The rotation of a section against one before it, from the strain between them.

R' = R [κ×], with κ = κ₀ + Φ_κ q, turns R by Magnus' exponent, of order six (Blanes, Casas, Oteo and Ros 2009, section
5.4, for this order of factors) along a step of length d:

    R(s + d) = R(s) exp([ψ×])      ψ = α₁ + α₃/12 + (20 α₁ + α₃ + c) × (α₂ + α₁ × (2 α₃ − c) / 60) / 240
    c = α₁ × α₂                    α₁ = m₀ − α₃/12,  α₂ = 12 m₁,  α₃ = 180 m₂ − 15 m₀,  m_k = ∫ (s − s̄)ᵏ κ ds / dᵏ

It is exact where κ keeps its direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.deflection import RotationVector
from gdalembert.model.rounding import clean_matrix
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen

_TERMS = 9
"""Of the series of a step's rotation; their truncation error is below rounding up to 2 rad, 2e-11 at π."""


@dataclass(frozen=True, eq=False)
class Step(ByValue):
    """The rotation of a section against one before it.

    Attributes:
        moments: m₀, α₂ and α₃ per unit of each coordinate, and, in the last column, at q = 0 (3 × 3 × (n + 1)).
    """

    moments: Array

    def turned(self, r: Array) -> Step:
        """The same in other axes, R x for x."""
        return Step(frozen(clean_matrix(r @ self.moments)))


@lru_cache
def magnus() -> tuple[ca.Function, ...]:
    """Of the moments m = (m₀, α₂, α₃): ψ, ψ̇ of (m, ṁ), ψ̈ of (m, ṁ, m̈), and of (m, x) ∂(x·ψ)/∂m.

    Besides ∂ψ/∂m with its first and second rate (3 × 9 each) of (m, ṁ, m̈), and ∂²(x·ψ)/∂m² (9 × 9) of (m, x).
    """
    m, rate, second, x = (ca.SX.sym(name, k) for name, k in (("m", 9), ("rate", 9), ("second", 9), ("x", 3)))
    mean, a2, a3 = ca.vertsplit(m, 3)
    a1 = mean - a3 / 12
    c = ca.cross(a1, a2)
    psi = mean + ca.cross(20 * a1 + a3 + c, a2 + ca.cross(a1, 2 * a3 - c) / 60) / 240
    first = ca.jtimes(psi, m, rate)
    again = ca.jtimes(first, ca.vertcat(m, rate), ca.vertcat(rate, second))
    slope = ca.jacobian(psi, m)
    slope_rate = ca.jtimes(ca.vec(slope), m, rate)
    slope_second = ca.jtimes(slope_rate, ca.vertcat(m, rate), ca.vertcat(rate, second))
    slopes = [ca.reshape(ca.densify(each), 3, 9) for each in (slope, slope_rate, slope_second)]
    return (
        ca.Function("psi", [m], [psi]),
        ca.Function("rate", [m, rate], [first]),
        ca.Function("second_rate", [m, rate, second], [again]),
        ca.Function("effort", [m, x], [ca.jtimes(psi, m, x, True)]),
        ca.Function("slopes", [m, rate, second], slopes),
        ca.Function("curvature", [m, x], [spatial.symmetric(ca.hessian(ca.dot(psi, x), m)[0])]),
    )


@dataclass(frozen=True)
class Turn:
    """A step at q: the rotation E = exp([ψ×]) and its right Jacobian J_r.

    Attributes:
        moments: (m₀, α₂, α₃) (9), or m₀ alone where ψ = m₀. ``columns``: their derivatives by q.
        axis: that of all rotations of the segment, on which J_r is 1; or ``None``.
    """

    moments: Matrix
    columns: Matrix
    axis: Array | None

    @staticmethod
    def of(step: Step, axis: Array | None, q: Matrix) -> Turn:
        varies = step.moments[1:].any()  # the strain along the step; else ψ = m₀
        used = step.moments if axis is None and varies else step.moments[:1]
        columns = spatial.constant(used.reshape(-1, used.shape[2]))
        return Turn(columns @ ca.vertcat(q, 1), columns[:, :-1], axis)

    @property
    def _is_linear(self) -> bool:
        """Whether ψ = m₀."""
        return bool(self.columns.shape[0] == 3)

    @cached_property
    def psi(self) -> Matrix:
        """ψ."""
        return self.moments if self._is_linear else magnus()[0](self.moments)

    @cached_property
    def _vector(self) -> RotationVector:
        return RotationVector(self.psi, self.axis, _TERMS)

    @property
    def rotation(self) -> Matrix:
        """E."""
        return self._vector.matrix

    def rate(self, v: Matrix) -> Matrix:
        """ψ̇."""
        along = self.columns @ v
        return along if self._is_linear else magnus()[1](self.moments, along)

    def second_rate(self, v: Matrix, a: Matrix) -> Matrix:
        """ψ̈."""
        if self._is_linear:
            return self.columns @ a
        return magnus()[2](self.moments, self.columns @ v, self.columns @ a)

    def effort(self, moment: Matrix) -> Matrix:
        """(J_r ∂ψ/∂q)ᵀ m (n): of a moment m in the axes of the section."""
        x = self._vector.jacobian(moment, 1)
        return self.columns.T @ (x if self._is_linear else magnus()[3](self.moments, x))

    def turned_by(self, r: Matrix) -> Matrix:
        """Γ = R J_l ∂ψ/∂q (3 × n): ω per unit of each rate, in the axes in which the section before it stands at R."""
        if self.axis is not None:  # which R leaves as it is
            return self.columns
        slope = ca.DM.eye(3) if self._is_linear else magnus()[4](self.moments, 0, 0)[0]
        return r @ self._vector.left_jacobian() @ slope @ self.columns

    def rates_turned_by(self, r: Matrix, omega: Matrix, spin: Matrix, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix]:
        """The first and the second rate of Γ (3 × n each), seen from axes that do not turn.

        Args:
            omega, spin: ω and U of the section before it, in its axes; of the link where all rotations share an axis.
        """
        turning = spatial.skew(omega)
        if self.axis is not None:
            return turning @ self.columns, spin @ self.columns
        left = self._vector.left_jacobian()
        rate, second = self._vector.left_jacobian_rates(self.rate(v), self.second_rate(v, a))
        second = r @ (second + 2 * turning @ rate + spin @ left)
        left, rate = r @ left, r @ (rate + turning @ left)
        if self._is_linear:
            return rate @ self.columns, second @ self.columns
        slopes = magnus()[4](self.moments, self.columns @ v, self.columns @ a)
        first = rate @ slopes[0] + left @ slopes[1]
        again = second @ slopes[0] + 2 * rate @ slopes[1] + left @ slopes[2]
        return first @ self.columns, again @ self.columns

    def effort_stiffness(self, moment: Matrix) -> Matrix:
        """∂/∂q of the effort of a moment that keeps its components in the axes of the section (n × n)."""
        if self.axis is not None:
            return ca.DM(self.columns.shape[1], self.columns.shape[1])
        slope = self._vector.left_jacobian_slope(moment)
        if not self._is_linear:
            along = magnus()[4](self.moments, 0, 0)[0]
            curvature = magnus()[5](self.moments, self._vector.jacobian(moment, 1))
            slope = along.T @ slope @ along + curvature
        return self.columns.T @ slope @ self.columns

    def carried_velocity(self, omega: Matrix, v: Matrix) -> Matrix:
        """ω of the section, in its axes, from that of the one before it."""
        return self.rotation.T @ omega + self._vector.jacobian(self.rate(v), -1)

    def carried_acceleration(self, omega: Matrix, alpha: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """dω/dt of the section, in its axes, from ω and dω/dt of the one before it."""
        rate = self.rate(v)
        own, carried = self._vector.jacobian(rate, -1), self.rotation.T @ omega
        second = self._vector.angular_acceleration(rate, self.second_rate(v, a))
        return self.rotation.T @ alpha + ca.cross(carried, own) + second

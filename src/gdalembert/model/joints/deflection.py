"""Deflection: the motion of a cross section with the modes of its link, as a joint with modal coordinates.

At modal coordinates f, the section is placed in the clamped frame at (CB4; rotation and shortening are ours)

    p = p̄ + U f − ½ (fᵀ s f) e_x        R_E = exp([ϑ×])        ϑ = Θ f

Its velocity, in its own axes, is S ḟ with

    S = [ R_Eᵀ (U − e_x fᵀ s) ]         J_r = a 1 − b [ϑ×] + c ϑ ϑᵀ
        [ J_r Θ               ]

where a = sin t / t, b = (1 − cos t) / t² and c = (t − sin t) / t³, t = |ϑ|. In the first-order kinematics of the source
R_E = 1 + [ϑ×] (:class:`FirstOrderDeflection`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.joint_type import JointType
from gdalembert.model.rounding import ENTRY_ERROR, clean_matrix
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue

_TERMS = 12


@dataclass(frozen=True)
class Angle:
    """The functions c_n of x = t², c_n = Σ_k (−x)^k / (2k + n)!, that a rotation by the vector ϑ of length t needs.

    c₀ = cos t, c₁ = sin t / t, c₂ = (1 − cos t) / t², c₃ = (t − sin t) / t³. The others follow from c₄ and c₅ by
    c_n = 1/n! − x c_{n+2}, and the rates by dc_n/dx = (n c_{n+2} − c_{n+1}) / 2. c₄ and c₅ are polynomials here,
    without roots, quotients or cases, so that all derivatives are correct from t = 0 on. Their truncation error is
    below rounding up to t = π; it reaches 1e-7 at t = 2π, and no section of a beam turns that far.
    """

    x: Matrix

    def c(self, n: int) -> Matrix:
        """c_n."""
        if n < 4:
            return 1 / math.factorial(n) - self.x * self.c(n + 2)
        series: Matrix = 0
        for k in reversed(range(_TERMS)):
            series = series * self.x + (-1) ** k / math.factorial(2 * k + n)
        return series

    def slope(self, n: int) -> Matrix:
        """2 dc_n/dx."""
        return n * self.c(n + 2) - self.c(n + 1)


@dataclass(frozen=True, eq=False)
class Deflection(ByValue, JointType):
    """The motion of a section in the frame of its link; undeformed, the section has the axes of that frame.

    Attributes:
        origin: p̄, the undeformed section (3, m).
        translation: U (3 × n). ``rotation``: Θ (3 × n).
        shortening: s (n × n, symmetric).
        beam: e_x, the unit vector along the undeformed beam (3).
    """

    origin: Array
    translation: Array
    rotation: Array
    shortening: Array
    beam: Array

    has_constant_subspace: ClassVar[bool] = False
    is_actuated: ClassVar[bool] = False
    is_modal: ClassVar[bool] = True

    @property
    def nv(self) -> int:  # type: ignore[override]  # of this section, not of its class
        """n."""
        return int(self.translation.shape[1])

    @property
    def nq(self) -> int:  # type: ignore[override]  # of this section, not of its class
        """n."""
        return self.nv

    @property
    def rotation_axis(self) -> Array | None:
        """The unit axis of all rotations of the section; ``None`` if the modes turn it about several axes."""
        if self.nv == 0 or not self.rotation.any():
            return np.array([0.0, 0.0, 1.0])
        largest = self.rotation[:, np.argmax(np.linalg.norm(self.rotation, axis=0))]
        axis: Array = clean_matrix(largest / np.linalg.norm(largest))
        others = self.rotation - np.outer(axis, axis @ self.rotation)
        return axis if np.abs(others).max() <= ENTRY_ERROR * np.abs(self.rotation).max() else None

    # Placement.

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        shift = ca.dot(q, self._shifts(q)) / 2
        p = spatial.constant(self.origin) + spatial.constant(self.translation) @ q + spatial.constant(self.beam) * shift
        return self._rotation(q), p

    def transform(self, q: Matrix) -> Matrix:
        """E, 4 × 4."""
        return spatial.transform(*self.placement(q))

    def _rotation(self, q: Matrix) -> Matrix:
        theta = self._vector(q)
        if (axis := self.rotation_axis) is not None:
            about = ca.dot(spatial.constant(axis), theta)
            return spatial.axis_rotation(axis, ca.cos(about), ca.sin(about))
        angle = Angle(ca.sumsqr(theta))
        return angle.c(0) * ca.DM.eye(3) + angle.c(1) * spatial.skew(theta) + angle.c(2) * spatial.outer(theta)

    def _vector(self, q: Matrix) -> Matrix:
        """ϑ = Θ f."""
        return spatial.constant(self.rotation) @ q

    # Motion.

    def displacement(self, q: Matrix) -> Matrix:
        """∂p/∂f = U − e_x fᵀ s, 3 × n, in the axes of the link frame."""
        return spatial.constant(self.translation) + self.displacement_rate(q)

    def displacement_rate(self, v: Matrix) -> Matrix:
        """d/dt ∂p/∂f = −e_x ḟᵀ s, 3 × n."""
        return spatial.constant(self.beam) @ self._shifts(v).T

    def displacement_bias(self, v: Matrix) -> Matrix:
        """d/dt ∂p/∂f ḟ = −e_x ḟᵀ s ḟ: the acceleration of p in the link frame where f̈ = 0."""
        weights = np.triu(-2 * self.shortening, 1) - np.diag(np.diag(self.shortening))
        # the products of rates are those of all stations of the link
        return spatial.constant(self.beam) * ca.dot(spatial.constant(weights), spatial.outer(v))

    def _shifts(self, x: Matrix) -> Matrix:
        """−s x (n)."""
        return spatial.constant(-self.shortening) @ x

    def angular_velocity(self, q: Matrix, v: Matrix) -> Matrix:
        """J_r Θ ḟ, in section axes."""
        return self._turned(q, self._vector(v), -1)

    def angular_acceleration(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """J_r Θ f̈ + dJ_r/dt Θ ḟ, in section axes."""
        theta, rate, second_rate = self._vector(q), self._vector(v), self._vector(a)
        along = self._turned(q, second_rate, -1)
        if self.rotation_axis is not None:
            return along
        angle, growth = Angle(ca.sumsqr(theta)), ca.dot(theta, rate)
        return (
            along
            + (angle.slope(1) + angle.c(3)) * growth * rate
            - angle.slope(2) * growth * ca.cross(theta, rate)
            + (angle.slope(3) * growth * growth + angle.c(3) * ca.sumsqr(rate)) * theta
        )

    def modal_forces(self, q: Matrix, moment: Matrix) -> Matrix:
        """(J_r Θ)ᵀ m: the modal forces of a moment m in section axes."""
        return spatial.constant(self.rotation).T @ self._turned(q, moment, 1)

    def _turned(self, q: Matrix, x: Matrix, sign: int) -> Matrix:
        """J_r x (sign −1) or J_rᵀ x (sign 1) of a vector x; with a single axis J_r is 1 on all vectors that occur."""
        theta = self._vector(q)
        if self.rotation_axis is not None:
            return x
        angle = Angle(ca.sumsqr(theta))
        return angle.c(1) * x + sign * angle.c(2) * ca.cross(theta, x) + angle.c(3) * ca.dot(theta, x) * theta

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        modes = ca.horzsplit(ca.DM.eye(self.nv)) if self.nv else []
        angular = ca.horzcat(ca.DM(3, 0), *(self.angular_velocity(q, mode) for mode in modes))
        return self._rotation(q).T @ self.displacement(q), angular

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        r = self._rotation(q)
        carried = spatial.skew(self.angular_velocity(q, v)) @ r.T @ self.displacement(q)
        return r.T @ self.displacement_rate(v) - carried, self._jacobian_rate(q, v) @ spatial.constant(self.rotation)

    def _jacobian_rate(self, q: Matrix, v: Matrix) -> Matrix:
        """dJ_r/dt, 3 × 3."""
        theta, rate = self._vector(q), self._vector(v)
        if self.rotation_axis is not None:
            return ca.DM(3, 3)
        angle, growth = Angle(ca.sumsqr(theta)), ca.dot(theta, rate)
        mixed = rate @ theta.T
        return (
            angle.slope(1) * growth * ca.DM.eye(3)
            - (angle.slope(2) * growth * spatial.skew(theta) + angle.c(2) * spatial.skew(rate))
            + (angle.slope(3) * growth * spatial.outer(theta) + angle.c(3) * (mixed + mixed.T))
        )


class FirstOrderDeflection(Deflection):
    """A deflection whose section turns by R_E = 1 + [ϑ×], which is no rotation (CB4).

    S is correct to first order, with J_r = 1 − ½ [ϑ×]: R_E has no exact angular velocity.
    """

    is_first_order: ClassVar[bool] = True

    def _rotation(self, q: Matrix) -> Matrix:
        return ca.DM.eye(3) + spatial.skew(self._vector(q))

    def angular_acceleration(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return self._turned(q, self._vector(a), -1)

    def _turned(self, q: Matrix, x: Matrix, sign: int) -> Matrix:
        return x + sign * ca.cross(self._vector(q), x) / 2

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        turning = spatial.skew(self._vector(v))
        linear = self._rotation(q).T @ self.displacement_rate(v) - turning @ self.displacement(q)
        return linear, -turning / 2 @ spatial.constant(self.rotation)

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
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.joint_type import JointType
from gdalembert.model.rounding import ENTRY_ERROR, PRODUCT_ERROR, clean_matrix, known_digits
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen


@lru_cache
def _series(terms: int) -> ca.Function:
    """The Function (x) → (c₀ … c₇): one call writes what takes a hundred operations."""
    x = ca.SX.sym("x")
    c: dict[int, Matrix] = {}
    for n in (7, 6):
        c[n] = 0
        for k in reversed(range(terms - 1)):
            c[n] = c[n] * x + (-1) ** k / math.factorial(2 * k + n)
    for n in reversed(range(6)):
        c[n] = 1 / math.factorial(n) - x * c[n + 2]
    return ca.Function("series", [x], [c[n] for n in range(8)])


@dataclass(frozen=True)
class Angle:
    """The functions c_n of x = t², c_n = Σ_k (−x)^k / (2k + n)!, that a rotation by the vector ϑ of length t needs.

    c₀ = cos t, c₁ = sin t / t, c₂ = (1 − cos t) / t², c₃ = (t − sin t) / t³. The others follow from c₆ and c₇ by
    c_n = 1/n! − x c_{n+2}, and the rates by dc_n/dx = (n c_{n+2} − c_{n+1}) / 2. c₆ and c₇ are polynomials here,
    without roots, quotients or cases, so that all derivatives are correct from t = 0 on. Their truncation error is
    below rounding up to t = π; it reaches 1e-7 at t = 2π, and no section of a beam turns that far. c₄ and c₅ have
    ``terms`` terms.
    """

    x: Matrix
    terms: int = 12

    @cached_property
    def _c(self) -> Sequence[Matrix]:
        return tuple(_series(self.terms)(self.x))

    def c(self, n: int) -> Matrix:
        """The function c_n, n ≤ 7."""
        return self._c[n]

    def slope(self, n: int) -> Matrix:
        """The slope 2 dc_n/dx."""
        return n * self.c(n + 2) - self.c(n + 1)


@dataclass(frozen=True)
class RotationVector:
    """The rotation exp([ϑ×]), with ω = J_r dϑ/dt in turned axes, J_l dϑ/dt in those that ϑ is given in, J_r = J_lᵀ.

    Attributes:
        theta: ϑ.
        axis: that of ϑ and of all its rates, if it is always the same; on these vectors the Jacobians are 1.
        terms: of the series of c₄ and c₅.
    """

    theta: Matrix
    axis: Array | None = None
    terms: int = 12

    @cached_property
    def _angle(self) -> Angle:
        return Angle(ca.sumsqr(self.theta), self.terms)

    @cached_property
    def matrix(self) -> Matrix:
        """The rotation matrix exp([ϑ×])."""
        if self.axis is not None:
            about = ca.dot(spatial.constant(self.axis), self.theta)
            return spatial.axis_rotation(self.axis, ca.cos(about), ca.sin(about))
        c = self._angle.c
        return c(0) * ca.DM.eye(3) + c(1) * spatial.skew(self.theta) + c(2) * spatial.outer(self.theta)

    def jacobian(self, x: Matrix, sign: int) -> Matrix:
        """The product J_r x (sign −1) or J_l x (sign 1) of a vector x."""
        if self.axis is not None:
            return x
        c, theta = self._angle.c, self.theta
        return c(1) * x + sign * c(2) * ca.cross(theta, x) + c(3) * ca.dot(theta, x) * theta

    def angular_acceleration(self, rate: Matrix, second_rate: Matrix) -> Matrix:
        """The angular acceleration J_r d²ϑ/dt² + dJ_r/dt dϑ/dt."""
        along = self.jacobian(second_rate, -1)
        if self.axis is not None:
            return along
        angle, c3, theta = self._angle, self._angle.c(3), self.theta
        growth = ca.dot(theta, rate)
        return (
            along
            + (angle.slope(1) + c3) * growth * rate
            - angle.slope(2) * growth * ca.cross(theta, rate)
            + (angle.slope(3) * growth * growth + c3 * ca.sumsqr(rate)) * theta
        )

    def left_jacobian(self) -> Matrix:
        """The left Jacobian J_l = c₁ 1 + c₂ [ϑ×] + c₃ ϑ ϑᵀ (3 × 3)."""
        c, theta = self._angle.c, self.theta
        return c(1) * ca.DM.eye(3) + spatial.skew(c(2) * theta) + c(3) * spatial.outer(theta)

    def left_jacobian_rates(self, rate: Matrix, second_rate: Matrix) -> tuple[Matrix, Matrix]:
        """The rates dJ_l/dt and d²J_l/dt² (3 × 3 each)."""
        theta, angle, growth = self.theta, self._angle, ca.dot(self.theta, rate)
        second_growth = ca.sumsqr(rate) + ca.dot(theta, second_rate)

        def c(n: int) -> tuple[Matrix, Matrix, Matrix]:
            slope, second_slope = angle.slope(n), n * angle.slope(n + 2) - angle.slope(n + 1)
            return angle.c(n), slope * growth, second_slope * growth * growth + slope * second_growth

        (_, c1_rate, c1_second), (c2, c2_rate, c2_second), (c3, c3_rate, c3_second) = c(1), c(2), c(3)
        one, mixed, second_mixed = ca.DM.eye(3), rate @ theta.T, second_rate @ theta.T
        square, square_rate = spatial.outer(theta), mixed + mixed.T
        square_second = second_mixed + second_mixed.T + 2 * spatial.outer(rate)
        first = c1_rate * one + spatial.skew(c2_rate * theta + c2 * rate) + c3_rate * square + c3 * square_rate
        second = c1_second * one + spatial.skew(c2_second * theta + 2 * c2_rate * rate + c2 * second_rate)
        return first, second + (c3_second * square + 2 * c3_rate * square_rate + c3 * square_second)

    def left_jacobian_slope(self, moment: Matrix) -> Matrix:
        """The derivative ∂(J_l m)/∂ϑ (3 × 3) of a constant m."""
        angle, theta, along = self._angle, self.theta, ca.dot(self.theta, moment)
        growing = angle.slope(1) * moment + angle.slope(2) * ca.cross(theta, moment) + angle.slope(3) * along * theta
        slope = growing @ theta.T + angle.c(3) * (theta @ moment.T + along * ca.DM.eye(3))
        return slope - angle.c(2) * spatial.skew(moment)


class FirstOrderRotation(RotationVector):
    """The matrix 1 + [ϑ×], which is no rotation, with J_r = 1 − ½ [ϑ×]: it has no exact angular velocity."""

    @property
    def matrix(self) -> Matrix:
        return ca.DM.eye(3) + spatial.skew(self.theta)

    def jacobian(self, x: Matrix, sign: int) -> Matrix:
        return x + sign * ca.cross(self.theta, x) / 2

    def angular_acceleration(self, rate: Matrix, second_rate: Matrix) -> Matrix:
        return self.jacobian(second_rate, -1)


class ModalMotion(ByValue, JointType):
    """The motion of a section with the coordinates of its link.

    Attributes:
        beam: the unit vector along the undeformed beam at its root (3).
        coordinate_names: of the coordinates (n).
    """

    beam: Array
    has_constant_subspace = False
    is_actuated = False
    is_modal = True

    @property
    def nq(self) -> int:  # type: ignore[override]  # of this section, not of its class
        """The number of coordinates n."""
        return self.nv

    @property
    @abstractmethod
    def rotation_axis(self) -> Array | None:
        """The unit axis of all rotations of the section; ``None`` if the coordinates turn it about several axes."""

    @abstractmethod
    def seen_from(self, rotation: Array) -> ModalMotion:
        """The motion in a frame that stands at R in the frame of the link; the section has its axes, too."""


def common_axis(vectors: Array | ca.SX) -> Array | None:
    """The unit axis of rotation vectors (3 × m), e_z if they are zero; ``None`` if they have several.

    Of vectors with symbols one axis of the frame, if it is that of all, or ``None``.
    """
    if isinstance(vectors, ca.SX):
        rows = set(vectors.sparsity().row()) or {2}
        return np.eye(3)[rows.pop()] if len(rows) == 1 else None
    if not vectors.any():
        return np.array([0.0, 0.0, 1.0])
    largest = vectors[:, np.argmax(np.linalg.norm(vectors, axis=0))]
    axis: Array = clean_matrix(largest / np.linalg.norm(largest))
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    others = vectors - np.outer(axis, axis @ vectors)
    return axis if np.abs(others).max() <= ENTRY_ERROR * np.abs(vectors).max() else None


@dataclass(frozen=True, eq=False)
class Deflection(ModalMotion):
    """The motion of a section in the frame of its link; undeformed, the section has the axes of that frame.

    Attributes:
        origin: p̄, the undeformed section (3, m).
        translation: U (3 × n). ``rotation``: Θ (3 × n).
        shortening: s (n × n, symmetric).
    """

    origin: Array
    translation: Array
    rotation: Array
    shortening: Array
    beam: Array
    coordinate_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("translation", "rotation", "shortening"):
            x = getattr(self, name)
            if isinstance(x, np.ndarray) and x.ndim == 1:  # numbers in place of symbols: one mode is a column
                object.__setattr__(self, name, frozen(np.reshape(x, (-1, 1))))

    @property
    def nv(self) -> int:  # type: ignore[override]  # of this section, not of its class
        """The number of coordinates n."""
        return int(self.translation.shape[1])

    @property
    def rotation_axis(self) -> Array | None:
        return common_axis(self.rotation)

    def seen_from(self, rotation: Array) -> Deflection:
        def turned(x: Array) -> Array:
            return frozen(clean_matrix(rotation.T @ x))

        p, moves, turns, beam = map(turned, (self.origin, self.translation, self.rotation, self.beam))
        return replace(self, origin=p, translation=moves, rotation=turns, beam=beam)

    def with_known_digits(self) -> Deflection:
        def rounded(x: Array) -> Array:
            return frozen(known_digits(x, np.full(x.shape, PRODUCT_ERROR * np.abs(x).max(initial=0))))

        moves, turns, shortens = map(rounded, (self.translation, self.rotation, self.shortening))
        return replace(self, translation=moves, rotation=turns, shortening=shortens)

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        shift = ca.dot(q, self._shifts(q)) / 2
        p = spatial.constant(self.origin) + spatial.constant(self.translation) @ q + spatial.constant(self.beam) * shift
        return self._turn(q).matrix, p

    def transform(self, q: Matrix) -> Matrix:
        """The placement E (4 × 4) of the section."""
        return spatial.transform(*self.placement(q))

    def _turn(self, q: Matrix) -> RotationVector:
        return RotationVector(self._vector(q), self.rotation_axis)

    def _vector(self, q: Matrix) -> Matrix:
        """The rotation vector ϑ = Θ f."""
        return spatial.constant(self.rotation) @ q

    def displacement(self, q: Matrix) -> Matrix:
        """The derivative ∂p/∂f = U − e_x fᵀ s, 3 × n, in the axes of the link frame."""
        return spatial.constant(self.translation) + self.displacement_rate(q)

    def displacement_rate(self, v: Matrix) -> Matrix:
        """The rate d/dt ∂p/∂f = −e_x ḟᵀ s, 3 × n."""
        return spatial.constant(self.beam) @ self._shifts(v).T

    def displacement_bias(self, v: Matrix) -> Matrix:
        """The vector d/dt ∂p/∂f ḟ = −e_x ḟᵀ s ḟ: the acceleration of p in the link frame where f̈ = 0."""
        weights = np.triu(-2 * self.shortening, 1) - np.diag(np.diag(self.shortening))
        # the products of rates are those of all stations of the link
        return spatial.constant(self.beam) * ca.dot(spatial.constant(weights), spatial.outer(v))

    def _shifts(self, x: Matrix) -> Matrix:
        """The vector −s x (n)."""
        return spatial.constant(-self.shortening) @ x

    def angular_velocity(self, q: Matrix, v: Matrix) -> Matrix:
        """The angular velocity J_r Θ ḟ, in section axes."""
        return self._turn(q).jacobian(self._vector(v), -1)

    def angular_acceleration(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """The angular acceleration J_r Θ f̈ + dJ_r/dt Θ ḟ, in section axes."""
        return self._turn(q).angular_acceleration(self._vector(v), self._vector(a))

    def modal_forces(self, q: Matrix, moment: Matrix) -> Matrix:
        """The modal forces (J_r Θ)ᵀ m of a moment m in section axes."""
        return spatial.constant(self.rotation).T @ self._turn(q).jacobian(moment, 1)

    @property
    def turns(self) -> tuple[Array, Array]:
        """The factors B (3 × m) and Θ_B (m × n) of Θ = B Θ_B: the axes of its turns, and how far each mode turns it."""
        if not self.rotation.any():
            return np.zeros((3, 0)), np.zeros((0, self.nv))
        if (axis := self.rotation_axis) is not None:
            return axis[:, None], axis[None] @ self.rotation
        which = self.rotation.any(axis=1)
        return np.eye(3)[:, which], self.rotation[which]

    def turning(self, q: Matrix, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """The matrix J_l B and its first and second rate (3 × m each), J_l = J_rᵀ: J_l Θ ḟ is ω in link axes."""
        axes, _ = self.turns
        along, none = spatial.constant(axes), ca.DM(*axes.shape)
        if self.rotation_axis is not None:
            return along, none, none
        turn = self._turn(q)
        first, second = turn.left_jacobian_rates(self._vector(v), self._vector(a))
        return turn.left_jacobian() @ along, first @ along, second @ along

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        modes = ca.horzsplit(ca.DM.eye(self.nv)) if self.nv else []
        angular = ca.horzcat(ca.DM(3, 0), *(self.angular_velocity(q, mode) for mode in modes))
        return self._turn(q).matrix.T @ self.displacement(q), angular

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        turn, rate = self._turn(q), self._vector(v)
        r, omega = turn.matrix, turn.jacobian(rate, -1)
        linear = r.T @ self.displacement_rate(v) - spatial.skew(omega) @ r.T @ self.displacement(q)
        if turn.axis is not None:
            return linear, ca.DM(3, self.nv)
        jacobian_rate, _ = turn.left_jacobian_rates(rate, ca.DM(3, 1))
        return linear, jacobian_rate.T @ spatial.constant(self.rotation)


class FirstOrderDeflection(Deflection):
    """A deflection whose section turns by R_E = 1 + [ϑ×], which is no rotation (CB4); S is correct to first order."""

    is_first_order = True

    def _turn(self, q: Matrix) -> RotationVector:
        return FirstOrderRotation(self._vector(q))

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        turning = spatial.skew(self._vector(v))
        linear = self._turn(q).matrix.T @ self.displacement_rate(v) - turning @ self.displacement(q)
        return linear, -turning / 2 @ spatial.constant(self.rotation)

"""Strain segment: the motion of the sections of a rod whose strain is a polynomial of the abscissa.

A section at s has the axes R(s) and the origin p(s) in the frame of the segment's root,

    R' = R [κ×]        p' = R ν        κ = κ₀ + Φ_κ q        ν = ν₀ + Φ_ν q

κ: torsion and bending [rad/m], ν: elongation and shear, (1, 0, 0) of a straight rod. (Renda et al. 2020: geometric
variable strain.) From node to node R turns by Magnus' exponent, of order six (Blanes, Casas, Oteo and Ros 2009,
section 5.4, for this order of factors), which is exact where κ keeps its direction: along a step of length d

    R(s + d) = R(s) exp([ψ×])      ψ = α₁ + α₃/12 + (20 α₁ + α₃ + c) × (α₂ + α₁ × (2 α₃ − c) / 60) / 240
    c = α₁ × α₂                    α₁ = m₀ − α₃/12,  α₂ = 12 m₁,  α₃ = 180 m₂ − 15 m₀,  m_k = ∫ (s − s̄)ᵏ κ ds / dᵏ

Positions are integrals of the tangents t_j = R_j ν_j at the nodes, interpolated (ours): with the Lagrange polynomials
ℓ_j

    p(s) = o + Σ a_j(s) t_j        a_j(s) = ∫₀ˢ ℓ_j
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.deflection import ModalMotion, RotationVector, common_axis
from gdalembert.model.rounding import clean_matrix
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen, homogeneous

_TERMS = 9
"""Terms of the series of a step's rotation; their truncation error is below rounding up to 2 rad, 2e-11 at π."""


@dataclass(frozen=True, eq=False)
class MagnusStep(ByValue):
    """The rotation of a section against one before it.

    Attributes:
        moments: m₀, α₂ and α₃ per unit of each coordinate, and, in the last column, at q = 0 (3 × 3 × (n + 1)).
    """

    moments: Array

    def turned(self, r: Array) -> MagnusStep:
        """A rotation into other axes, R x for x."""
        return MagnusStep(frozen(clean_matrix(r @ self.moments)))


@lru_cache
def magnus() -> tuple[ca.Function, ...]:
    """Functions of the moments m = (m₀, α₂, α₃): ψ, ψ̇ of (m, ṁ), ψ̈ of (m, ṁ, m̈), and of (m, x) ∂(x·ψ)/∂m.

    Besides ∂ψ/∂m with its first and second rate (3 × 9 each) of (m, ṁ, m̈), and ∂²(x·ψ)/∂m² (9 × 9) of (m, x).
    """
    # As Functions: each operation takes CasADi about 30 µs from Python, and a call as long as three.
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
    slopes = [ca.reshape(ca.densify(matrix), 3, 9) for matrix in (slope, slope_rate, slope_second)]
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
    def of(step: MagnusStep, axis: Array | None, q: Matrix) -> Turn:
        varies = step.moments[1:].any()  # the strain along the step; else ψ = m₀
        used = step.moments if axis is None and varies else step.moments[:1]
        columns = spatial.constant(used.reshape(-1, used.shape[2]))
        return Turn(columns @ ca.vertcat(q, 1), columns[:, :-1], axis)

    @property
    def _is_linear(self) -> bool:
        """True if ψ = m₀."""
        return bool(self.columns.shape[0] == 3)

    @cached_property
    def psi(self) -> Matrix:
        """The rotation vector ψ of the step."""
        return self.moments if self._is_linear else magnus()[0](self.moments)

    @cached_property
    def _vector(self) -> RotationVector:
        return RotationVector(self.psi, self.axis, _TERMS)

    @property
    def rotation(self) -> Matrix:
        """The rotation E of the step."""
        return self._vector.matrix

    def rate(self, v: Matrix) -> Matrix:
        """The rate ψ̇ of the rotation vector."""
        along = self.columns @ v
        return along if self._is_linear else magnus()[1](self.moments, along)

    def second_rate(self, v: Matrix, a: Matrix) -> Matrix:
        """The second rate ψ̈ of the rotation vector."""
        if self._is_linear:
            return self.columns @ a
        return magnus()[2](self.moments, self.columns @ v, self.columns @ a)

    def effort(self, moment: Matrix) -> Matrix:
        """The efforts (J_r ∂ψ/∂q)ᵀ m (n) of a moment m in the axes of the section."""
        x = self._vector.jacobian(moment, 1)
        return self.columns.T @ (x if self._is_linear else magnus()[3](self.moments, x))

    def turned_by(self, r: Matrix) -> Matrix:
        """The columns Γ = R J_l ∂ψ/∂q (3 × n): ω per unit of each rate, where the section before it stands at R."""
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
        """The derivative by q (n × n) of the effort of a moment that is constant in the axes of the section."""
        if self.axis is not None:
            return ca.DM(self.columns.shape[1], self.columns.shape[1])
        slope = self._vector.left_jacobian_slope(moment)
        if not self._is_linear:
            along = magnus()[4](self.moments, 0, 0)[0]
            curvature = magnus()[5](self.moments, self._vector.jacobian(moment, 1))
            slope = along.T @ slope @ along + curvature
        return self.columns.T @ slope @ self.columns

    def carried_velocity(self, omega: Matrix, v: Matrix) -> Matrix:
        """The angular velocity ω of the section, in its axes, from that of the one before it."""
        return self.rotation.T @ omega + self._vector.jacobian(self.rate(v), -1)

    def carried_acceleration(self, omega: Matrix, alpha: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """The rate dω/dt of the section, in its axes, from ω and dω/dt of the one before it."""
        rate = self.rate(v)
        turn_rate, carried = self._vector.jacobian(rate, -1), self.rotation.T @ omega
        second = self._vector.angular_acceleration(rate, self.second_rate(v, a))
        return self.rotation.T @ alpha + ca.cross(carried, turn_rate) + second


@dataclass(frozen=True, eq=False)
class StrainSegment(ByValue):
    """A piece of a rod with n coordinates.

    Attributes:
        steps: from node to node, one fewer than nodes.
        tangents: ν at each node per unit of each coordinate, and, in the last column, at q = 0 (nodes × 3 × (n + 1)).
        origin: o, the root of the segment in the link frame (3, m).
    """

    steps: tuple[MagnusStep, ...]
    tangents: Array
    origin: Array

    @property
    def coordinates(self) -> int:
        """The number of coordinates n."""
        return int(self.tangents.shape[2] - 1)

    def placed(self, frame: Array) -> StrainSegment:
        """A copy in another frame, in which the frame of the segment has the placement ``frame`` (4 × 4)."""
        r = frame[:3, :3]
        steps = tuple(step.turned(r) for step in self.steps)
        tangents, origin = clean_matrix(r @ self.tangents), clean_matrix(frame[:3, 3] + r @ self.origin)
        return StrainSegment(steps, frozen(tangents), frozen(origin))

    @property
    def is_extensible(self) -> bool:
        """True if some coordinates are elongation or shear."""
        return bool(self.tangents[:, :, :-1].any())

    @property
    def axis(self) -> Array | None:
        """The unit axis of all rotations; ``None`` if the strains turn sections about several axes."""
        return common_axis(np.hstack([x for step in self.steps for x in step.moments]))


@dataclass(frozen=True)
class SegmentAtQ:
    """A segment at q; vectors are in link axes unless they are said to be in those of their section."""

    segment: StrainSegment
    q: Matrix

    @cached_property
    def axis(self) -> Array | None:
        """The axis of all rotations, if there is one."""
        return self.segment.axis

    @cached_property
    def turns(self) -> list[Turn]:
        """The turns from each node to the next one."""
        return [Turn.of(step, self.axis, self.q) for step in self.segment.steps]

    @cached_property
    def rotations(self) -> list[Matrix]:
        """The rotations R_j of the nodes; about a single axis by the whole angle from the root."""
        if self.axis is not None:
            # A product of the turns would take operations, and rounding, at each node.
            sums = np.cumsum([step.moments for step in self.segment.steps], axis=0)
            whole = (Turn.of(MagnusStep(moments), self.axis, self.q) for moments in sums)
            return [ca.DM.eye(3), *(turn.rotation for turn in whole)]
        return list(accumulate((turn.rotation for turn in self.turns), operator.matmul, initial=ca.DM.eye(3)))

    @cached_property
    def strains(self) -> list[Matrix]:
        """The strains ν_j at the nodes, in section axes."""
        return [spatial.constant(x) @ ca.vertcat(self.q, 1) for x in self.segment.tangents]

    @cached_property
    def strain_columns(self) -> list[Matrix]:
        """The derivatives ∂ν_j/∂q (3 × n)."""
        return [spatial.constant(x[:, :-1]) for x in self.segment.tangents]

    @cached_property
    def tangents(self) -> list[Matrix]:
        """The tangents t_j at the nodes."""
        return [r @ nu for r, nu in zip(self.rotations, self.strains, strict=True)]

    @cached_property
    def turn_columns(self) -> list[Matrix]:
        """The columns Γ_j of the steps (3 × n)."""
        return [turn.turned_by(r) for turn, r in zip(self.turns, self.rotations, strict=False)]

    @cached_property
    def angular_columns(self) -> list[Matrix]:
        """The columns Ω_j = Σ Γ (3 × n), angular velocity per unit of each rate."""
        return sums(self.turn_columns, self.segment.coordinates)

    @cached_property
    def tangent_columns(self) -> list[Matrix]:
        """The columns T_j = ∂t_j/∂q = Ω_j × t_j + R_j ∂ν_j/∂q (3 × n)."""
        sections = zip(self.rotations, self.tangents, self.angular_columns, self.strain_columns, strict=True)
        return [r @ strain - spatial.skew(t) @ turned for r, t, turned, strain in sections]

    def sections(self, omega: Matrix, v: Matrix) -> list[Matrix]:
        """The angular velocities ω_j of the sections, in their axes, from that of the link."""
        velocities = [omega]
        for turn in self.turns:
            velocities.append(turn.carried_velocity(velocities[-1], v))
        return velocities

    def accelerations(self, omega: Matrix, alpha: Matrix, v: Matrix, a: Matrix) -> list[Matrix]:
        """The angular accelerations α_j of the sections, in their axes, from ω and α of the link."""
        accelerations = [alpha]
        for turn, carrier in zip(self.turns, self.sections(omega, v), strict=False):
            accelerations.append(turn.carried_acceleration(carrier, accelerations[-1], v, a))
        return accelerations

    def tangent_rates(self, omega: Matrix, v: Matrix) -> list[Matrix]:
        """The rates dt_j/dt against the origin."""
        sections = zip(self.rotations, self.strains, self.strain_columns, self.sections(omega, v), strict=True)
        return [r @ (ca.cross(w, nu) + strain @ v) for r, nu, strain, w in sections]

    def tangent_accelerations(self, omega: Matrix, alpha: Matrix, v: Matrix, a: Matrix) -> list[Matrix]:
        """The second rates d²t_j/dt² against the origin: R (U ν + 2 ω × ν̇ + ν̈)."""
        turning = zip(self.sections(omega, v), self.accelerations(omega, alpha, v, a), strict=True)
        accelerations = []
        for j, (w, w_rate) in enumerate(turning):
            relative = spatial.spin(w_rate, w) @ self.strains[j]
            if self.segment.is_extensible:
                strain = self.strain_columns[j]
                relative = relative + 2 * ca.cross(w, strain @ v) + strain @ a
            accelerations.append(self.rotations[j] @ relative)
        return accelerations

    def efforts(self, forces: list[Matrix], moments: list[Matrix]) -> tuple[Matrix, Matrix]:
        """The modal forces Σ (∂t_j/∂q)ᵀ f_j + W_jᵀ m_j (n), and the moment about the root of the segment.

        Args:
            forces: f_j conjugate to the tangents. ``moments``: m_j, in section axes.
        """
        g: Matrix = ca.DM(self.segment.coordinates, 1)
        carried = self.passed_on(forces, moments)
        for j in reversed(range(len(forces))):
            if self.segment.is_extensible:
                g = g + self.strain_columns[j].T @ (self.rotations[j].T @ forces[j])
            if j > 0:
                g = g + self.turns[j - 1].effort(carried[j])
        return g, carried[0]

    def passed_on(self, forces: list[Matrix], moments: list[Matrix]) -> list[Matrix]:
        """The moment of what acts on the sections from j on, about the tangents of these, in the axes of section j."""
        passed: list[Matrix] = []
        for j in reversed(range(len(forces))):
            moment = moments[j] + ca.cross(self.strains[j], self.rotations[j].T @ forces[j])
            passed.append(self.turns[j].rotation @ passed[-1] + moment if passed else moment)
        return passed[::-1]

    def efforts_of_columns(self, forces: list[Matrix], moments: list[Matrix]) -> Matrix:
        """The modal forces (n × k) of columns of forces and moments (3 × k each), all in link axes."""
        g: Matrix = 0
        carried: Matrix = 0
        for j in reversed(range(len(forces))):
            if self.segment.is_extensible:
                g = g + (self.rotations[j] @ self.strain_columns[j]).T @ forces[j]
            carried = carried + moments[j] + spatial.skew(self.tangents[j]) @ forces[j]
            if j > 0:
                g = g + self.turn_columns[j - 1].T @ carried
        return g


def sums(columns: list[Matrix], n: int) -> list[Matrix]:
    """The sums of the columns (3 × n each) before each node."""
    return list(accumulate(columns, initial=ca.DM(3, n)))


def weighted_sum(weights: Array, values: list[Matrix]) -> Matrix:
    """The weighted sum Σ w_k x_k."""
    total: Matrix = ca.DM(*values[0].shape)
    for weight, value in zip(weights, values, strict=True):
        if weight:
            total = total + float(weight) * value
    return total


@dataclass(frozen=True, eq=False)
class StrainStation(ModalMotion):
    """The motion of one section in the frame of its link; straight, the section has the axes of that frame.

    Attributes:
        segment: that it belongs to.
        weights: a_j(s) [m], one for each node.
        node: the last node at or before the section.
        step: from that node to the section; ``None`` at the node.
    """

    segment: StrainSegment
    weights: Array
    node: int
    step: MagnusStep | None
    beam: Array
    coordinate_names: tuple[str, ...] = ()

    @property
    def nv(self) -> int:  # type: ignore[override]  # of this segment, not of its class
        """The number of coordinates n."""
        return self.segment.coordinates

    @property
    def constants(self) -> tuple[float, ...]:
        steps = (*self.segment.steps, *(() if self.step is None else (self.step,)))
        arrays = [self.segment.tangents, self.weights, *(step.moments for step in steps)]
        return tuple(float(x) for array in arrays for x in np.ravel(array))

    @property
    def rotation_axis(self) -> Array | None:
        return self.segment.axis

    def seen_from(self, rotation: Array) -> StrainStation:
        r = rotation.T
        segment = self.segment.placed(homogeneous(r, np.zeros(3)))
        step = None if self.step is None else self.step.turned(r)
        return replace(self, segment=segment, step=step, beam=frozen(clean_matrix(r @ self.beam)))

    def turn(self, at: SegmentAtQ) -> Turn | None:
        """The step from the node."""
        return None if self.step is None else Turn.of(self.step, at.axis, at.q)

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        at = SegmentAtQ(self.segment, q)
        return self.rotation(at), spatial.constant(self.segment.origin) + self.sum(at.tangents)

    def rotation(self, at: SegmentAtQ) -> Matrix:
        """The rotation R(s) of the section."""
        turn = self.turn(at)
        return at.rotations[self.node] if turn is None else at.rotations[self.node] @ turn.rotation

    def sum(self, values: list[Matrix]) -> Matrix:
        """The interpolated value Σ a_j x_j."""
        return weighted_sum(self.weights, values)

    def angular_columns(self, at: SegmentAtQ) -> Matrix:
        """The columns Ω(s) (3 × n), in link axes."""
        turn, columns = self.turn(at), at.angular_columns[self.node]
        return columns if turn is None else columns + turn.turned_by(at.rotations[self.node])

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        at = SegmentAtQ(self.segment, q)
        r = self.rotation(at).T
        return r @ self.sum(at.tangent_columns), r @ self.angular_columns(at)

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        x, y = ca.SX.sym("q", self.nv), ca.SX.sym("v", self.nv)
        both = ca.densify(ca.vertcat(*self.subspace(x)))
        rate = ca.reshape(ca.jtimes(ca.vec(both), x, y), 6, self.nv)
        rates = ca.Function("rate", [x, y], [rate])(q, v)
        return rates[:3, :], rates[3:, :]

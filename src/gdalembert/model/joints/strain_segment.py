"""Strain segment: the motion of the sections of a rod whose strain is a polynomial of the abscissa.

A section at s has the axes R(s) and the origin p(s) in the frame of the segment's root,

    R' = R [κ×]        p' = R ν        κ = κ₀ + Φ_κ q        ν = ν₀ + Φ_ν q

κ: torsion and bending [rad/m], ν: elongation and shear, (1, 0, 0) of a straight rod. (Renda et al. 2020: geometric
variable strain.) From node to node R turns by Magnus' exponent
(:mod:`gdalembert.model.joints.magnus`). Positions are integrals of the tangents t_j = R_j ν_j at the nodes,
interpolated (ours): with the Lagrange polynomials ℓ_j

    p(s) = o + Σ a_j(s) t_j        a_j(s) = ∫₀ˢ ℓ_j
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.joint_type import JointType
from gdalembert.model.joints.magnus import Step, Turn
from gdalembert.model.rounding import ENTRY_ERROR, clean_matrix
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen, homogeneous


@dataclass(frozen=True, eq=False)
class StrainSegment(ByValue):
    """A piece of a rod with n coordinates.

    Attributes:
        steps: from node to node, one fewer than nodes.
        tangents: ν at each node per unit of each coordinate, and, in the last column, at q = 0 (nodes × 3 × (n + 1)).
        origin: o, the root of the segment in the link frame (3, m).
    """

    steps: tuple[Step, ...]
    tangents: Array
    origin: Array

    @property
    def coordinates(self) -> int:
        """n."""
        return int(self.tangents.shape[2] - 1)

    def placed(self, frame: Array) -> StrainSegment:
        """The same in a frame in which its own is placed at ``frame`` (4 × 4)."""
        r = frame[:3, :3]
        steps = tuple(step.turned(r) for step in self.steps)
        tangents, origin = clean_matrix(r @ self.tangents), clean_matrix(frame[:3, 3] + r @ self.origin)
        return StrainSegment(steps, frozen(tangents), frozen(origin))

    @property
    def is_extensible(self) -> bool:
        """Whether some coordinates are elongation or shear."""
        return bool(self.tangents[:, :, :-1].any())

    @property
    def axis(self) -> Array | None:
        """The unit axis of all rotations; ``None`` if the strains turn sections about several axes."""
        columns = np.hstack([x for step in self.steps for x in step.moments])
        if not columns.any():
            return np.array([0.0, 0.0, 1.0])
        largest = columns[:, np.argmax(np.linalg.norm(columns, axis=0))]
        axis: Array = largest / np.linalg.norm(largest)
        axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
        others = columns - np.outer(axis, axis @ columns)
        return axis if np.abs(others).max() <= ENTRY_ERROR * np.abs(columns).max() else None


@dataclass(frozen=True)
class SegmentAtQ:
    """A segment at q; vectors are in link axes unless they are said to be in those of their section."""

    segment: StrainSegment
    q: Matrix

    @cached_property
    def axis(self) -> Array | None:
        """That of all rotations, if it is one."""
        return self.segment.axis

    @cached_property
    def turns(self) -> list[Turn]:
        """From node to node."""
        return [Turn.of(step, self.axis, self.q) for step in self.segment.steps]

    @cached_property
    def rotations(self) -> list[Matrix]:
        """R_j; about a single axis by the whole angle from the root."""
        if self.axis is not None:
            sums = np.cumsum([step.moments for step in self.segment.steps], axis=0)
            whole = (Turn.of(Step(moments), self.axis, self.q) for moments in sums)
            return [ca.DM.eye(3), *(turn.rotation for turn in whole)]
        found = [ca.DM.eye(3)]
        for turn in self.turns:
            found.append(found[-1] @ turn.rotation)
        return found

    @cached_property
    def strains(self) -> list[Matrix]:
        """ν_j, in section axes."""
        return [spatial.constant(x) @ ca.vertcat(self.q, 1) for x in self.segment.tangents]

    @cached_property
    def strain_columns(self) -> list[Matrix]:
        """∂ν_j/∂q (3 × n)."""
        return [spatial.constant(x[:, :-1]) for x in self.segment.tangents]

    @cached_property
    def tangents(self) -> list[Matrix]:
        """t_j."""
        return [r @ nu for r, nu in zip(self.rotations, self.strains, strict=True)]

    @cached_property
    def turn_columns(self) -> list[Matrix]:
        """Γ_j of the steps (3 × n)."""
        return [turn.turned_by(r) for turn, r in zip(self.turns, self.rotations, strict=False)]

    @cached_property
    def angular_columns(self) -> list[Matrix]:
        """Ω_j = Σ Γ (3 × n), angular velocity per unit of each rate."""
        return sums(self.turn_columns, self.segment.coordinates)

    @cached_property
    def tangent_columns(self) -> list[Matrix]:
        """T_j = ∂t_j/∂q = Ω_j × t_j + R_j ∂ν_j/∂q (3 × n)."""
        each = zip(self.rotations, self.tangents, self.angular_columns, self.strain_columns, strict=True)
        return [r @ own - spatial.skew(t) @ turned for r, t, turned, own in each]

    def sections(self, omega: Matrix, v: Matrix) -> list[Matrix]:
        """ω_j of the sections, in their axes, from that of the link."""
        found = [omega]
        for turn in self.turns:
            found.append(turn.carried_velocity(found[-1], v))
        return found

    def accelerations(self, omega: Matrix, alpha: Matrix, v: Matrix, a: Matrix) -> list[Matrix]:
        """α_j of the sections, in their axes, from ω and α of the link."""
        found = [alpha]
        for turn, carrier in zip(self.turns, self.sections(omega, v), strict=False):
            found.append(turn.carried_acceleration(carrier, found[-1], v, a))
        return found

    def tangent_rates(self, omega: Matrix, v: Matrix) -> list[Matrix]:
        """dt_j/dt against the origin."""
        each = zip(self.rotations, self.strains, self.strain_columns, self.sections(omega, v), strict=True)
        return [r @ (ca.cross(w, nu) + own @ v) for r, nu, own, w in each]

    def tangent_accelerations(self, omega: Matrix, alpha: Matrix, v: Matrix, a: Matrix) -> list[Matrix]:
        """d²t_j/dt² against the origin: R (U ν + 2 ω × ν̇ + ν̈)."""
        turning = zip(self.sections(omega, v), self.accelerations(omega, alpha, v, a), strict=True)
        found = []
        for j, (w, w_rate) in enumerate(turning):
            relative = spatial.spin(w_rate, w) @ self.strains[j]
            if self.segment.is_extensible:
                own = self.strain_columns[j]
                relative = relative + 2 * ca.cross(w, own @ v) + own @ a
            found.append(self.rotations[j] @ relative)
        return found

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
        found: list[Matrix] = []
        for j in reversed(range(len(forces))):
            moment = moments[j] + ca.cross(self.strains[j], self.rotations[j].T @ forces[j])
            found.append(self.turns[j].rotation @ found[-1] + moment if found else moment)
        return found[::-1]

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
    """Σ of the columns (3 × n each) before each node."""
    found: list[Matrix] = [ca.DM(3, n)]
    for each in columns:
        found.append(found[-1] + each)
    return found


def weighted_sum(weights: Array, values: list[Matrix]) -> Matrix:
    """Σ w_k x_k."""
    total: Matrix = ca.DM(*values[0].shape)
    for weight, value in zip(weights, values, strict=True):
        if weight:
            total = total + float(weight) * value
    return total


@dataclass(frozen=True, eq=False)
class StrainStation(ByValue, JointType):
    """The motion of one section in the frame of its link; straight, the section has the axes of that frame.

    Attributes:
        segment: that it belongs to.
        weights: a_j(s) [m], one for each node.
        node: the last node at or before the section.
        step: from that node to the section; ``None`` at the node.
        beam: the unit vector along the rod at its root, straight (3).
        coordinate_names: of the coordinates (n).
    """

    segment: StrainSegment
    weights: Array
    node: int
    step: Step | None
    beam: Array
    coordinate_names: tuple[str, ...] = ()

    has_constant_subspace: ClassVar[bool] = False
    is_actuated: ClassVar[bool] = False
    is_modal: ClassVar[bool] = True

    @property
    def nv(self) -> int:  # type: ignore[override]  # of this segment, not of its class
        """n."""
        return self.segment.coordinates

    @property
    def nq(self) -> int:  # type: ignore[override]  # of this segment, not of its class
        """n."""
        return self.nv

    @property
    def constants(self) -> tuple[float, ...]:
        steps = (*self.segment.steps, *(() if self.step is None else (self.step,)))
        arrays = [self.segment.tangents, self.weights, *(step.moments for step in steps)]
        return tuple(float(x) for array in arrays for x in np.ravel(array))

    def seen_from(self, rotation: Array) -> StrainStation:
        """The same motion in a frame that stands at R in the frame of the link; the section has its axes, too."""
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
        """R(s)."""
        turn = self.turn(at)
        return at.rotations[self.node] if turn is None else at.rotations[self.node] @ turn.rotation

    def sum(self, values: list[Matrix]) -> Matrix:
        """Σ a_j x_j."""
        return weighted_sum(self.weights, values)

    def angular_columns(self, at: SegmentAtQ) -> Matrix:
        """Ω(s) (3 × n), in link axes."""
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
        found = ca.Function("rate", [x, y], [rate])(q, v)
        return found[:3, :], found[3:, :]

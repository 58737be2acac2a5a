"""Natural modes in the place of the modal coordinates of a problem: each has a size of its own, and moves alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert.dynamics.parameters.physical import check_mass_matrix, columns
from gdalembert.ocp.guess import Guess
from gdalembert.ocp.places import Indices
from gdalembert.ocp.systems import System
from gdalembert.ocp.transcription import Motion
from gdalembert.ocp.vibrations import vibrations
from gdalembert.spatial.arrays import Array

_NONE = np.zeros(0)
"""The parameters of a robot without any."""
_LEAST = 1e-3
"""The smallest force on a natural mode that counts, over the largest."""


@dataclass(frozen=True, eq=False)
class NaturalModes:
    """The coordinates η of x = Ψ η, where x are those of modes and rotors, and Ψ the natural modes, joints locked.

    In η, mass and stiffness are 1 and ω²; they are so exactly where the joints are as in q, and nearly elsewhere.

    Attributes:
        shapes: Ψ (n × n), mass-normalised; 0 × 0 of a rigid robot.
        q, v, a: typical magnitudes in a motion: of joints, and of η in the place of x (nq, nv and nv), all positive.
        forces: those of the forces Ψᵀ f on η (n).
    """

    shapes: Array
    q: Array
    v: Array
    a: Array
    forces: Array

    @classmethod
    def of(cls, system: System, motion: Guess, duration: float, p: Array = _NONE) -> NaturalModes:
        """Those in the middle of a motion of ``duration`` [s], with p (n_p), or those that the states already are.

        Joints have the magnitude 1, and the largest a of any joint; η under a force f: f/ω², f/ω, f.
        """
        dyn = system.dynamics
        q, v, a, _ = motion.at(np.linspace(0, 1, 21), duration)
        first, nv = dyn.modes.start, dyn.tree.nv
        sizes = np.ones(dyn.tree.nq), np.ones(nv), np.full(nv, np.abs(a).max(initial=1.0))
        if first == nv:
            return cls(np.zeros((0, 0)), *sizes, np.zeros(0))
        middle = q[len(q) // 2]
        check_mass_matrix("solve", dyn, middle, p)
        stiffness = dyn.force_stiffness(middle, p)[first:, first:]
        squares, shapes = vibrations(dyn.mass_matrix(middle, *columns(p, 1)).full()[first:, first:], stiffness)
        if system.shapes is not None:
            shapes = system.shapes
            squares = np.diag(shapes.T @ stiffness @ shapes)
        tau = dyn.inverse_dynamics(q.T, v.T, a.T, *columns(p, len(q))).full()
        load = np.abs(shapes.T @ (tau[first:] - stiffness @ q[:, first - nv :].T)).max(axis=1)
        load = np.maximum(load, _LEAST * load.max()) if load.any() else np.ones_like(load)
        for size, power in zip(sizes, (1, 0.5, 0), strict=True):
            size[first - nv :] = load / np.where(squares > 0, squares, 1.0) ** power
        if system.shapes is None:
            return cls(shapes, *sizes, load)
        at, rate, second = sizes
        kept, s = slice(0, -system.stiff), system.stiff
        return cls(np.zeros((0, 0)), at[kept], rate[kept], np.concatenate([second[kept], at[-s:]]), load)

    def inverse(self) -> NaturalModes:
        """Those that turn x into η."""
        return replace(self, shapes=_inverse(self.shapes))

    def variables(self, motion: Motion, entries: Callable[[ca.MX], Indices], n: int) -> tuple[ca.DM, Indices]:
        """The matrix that turns η into x among n variables of a motion; and which these are."""
        size, states = len(self.shapes), motion.size
        nq, nv = motion.dyn.tree.nq - motion.system.stiff, motion.dyn.tree.nv
        blocks = [(motion.state, nq - size), (motion.state, states - size)]
        if motion.k is not None:
            blocks.append((motion.k, nv - size))
        found = [entries(matrix[start : start + size, :]).reshape(matrix.shape[1], size) for matrix, start in blocks]
        return _spread(self.shapes, np.vstack(found), n), np.concatenate(found).ravel()

    def equations(self, motion: Motion, opti: ca.OptiAdvanced) -> tuple[ca.DM, Array]:
        """The matrix that turns the equations of motion into those of η among all rows; and the sizes of these."""
        sizes = np.array(opti.g_linear_scale, dtype=float).ravel()
        if motion.k is None:
            return ca.DM.eye(opti.ng), sizes
        first = opti.get_meta_con(opti.constraints()[motion.gaps - 1]).start
        stages = np.arange(motion.k.shape[1])[:, None]
        rows = first + motion.k.shape[0] * stages + motion.dyn.tree.nv + np.arange(-len(self.forces), 0)
        sizes[rows] = self.forces
        return _spread(self.shapes.T, rows[:, : len(self.shapes)], opti.ng), sizes

    def states(self, motion: Motion) -> ca.DM:
        """The matrix that turns x into η in the states at the ends of all intervals, column by column."""
        columns, n = motion.state.shape[0] * np.arange(motion.intervals)[:, None], motion.intervals
        rows = [columns + end + np.arange(-len(self.shapes), 0) for end in (motion.dyn.tree.nq, motion.size)]
        return _spread(_inverse(self.shapes), np.vstack(rows), motion.state.shape[0] * n)


def _inverse(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _spread(block: Array, rows: Indices, n: int) -> ca.DM:
    """The n × n matrix that is one but for this block at each row of indices."""
    diagonal = np.ones(n)
    diagonal[rows.ravel()] = 0
    plain = np.flatnonzero(diagonal)
    size = len(block)
    i = np.concatenate([np.repeat(rows, size, axis=1).ravel(), plain])
    j = np.concatenate([np.tile(rows, (1, size)).ravel(), plain])
    values = np.concatenate([np.tile(block.ravel(), len(rows)), np.ones(len(plain))])
    return ca.DM.triplet(i.tolist(), j.tolist(), ca.DM(values), n, n)

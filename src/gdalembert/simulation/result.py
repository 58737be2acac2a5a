"""The result of a simulation: the motion, its energies and their balance; and the error of one that fails."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import Blocks, projected
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class Simulation:
    """The motion that :func:`~gdalembert.simulation.simulate.simulate` computed, one row for each of N output times.

    Attributes:
        model: name of the robot.
        method: the name of the integrator.
        steps: its number of steps.
        t: output times (N) [s].
        q, v, a: those of the dynamics (N × nq, N × nv, N × nv).
        dq: dq/dt (N × nq).
        u: the control (N × nu). Where u jumps, u and a are the values just after t.
        a_before: a just before t (N × nv).
        wrenches: those that acted on the robot as an input (N × 6 × n), as u.
        kinetic, potential: energies (N) [J].
        work: that of u and of wrenches up to t (N) [J].
        dissipated: energy dissipated by dampers up to t (N) [J].
        constraint_work: that of the forces of constraints up to t (N) [J]: 0 but for what stabilises them.
        action: ∫ kinetic energy dt up to t (N) [J s].
        forces: those of the constraints (N × nc) [N, N m], just after t.
        residual: the distance by which q violates the constraints (N × nc) [m, rad].
        length_drift: the largest drift of the length of a quaternion, or of a pair (cos, sin), from one before the
            output was projected (N).
        blocks: the entries of q that are quaternions and pairs (cos, sin).
        p: the parameters of the robot (n_p); empty if it has none.
    """

    model: str
    method: str
    steps: int
    t: Array
    q: Array
    v: Array
    a: Array
    dq: Array
    a_before: Array
    u: Array
    wrenches: Array
    kinetic: Array
    potential: Array
    work: Array
    dissipated: Array
    constraint_work: Array
    action: Array
    forces: Array
    residual: Array
    length_drift: Array
    blocks: Blocks
    p: Array

    @property
    def x(self) -> Array:
        """States [q; v], N × (nq + nv)."""
        return np.hstack([self.q, self.v])

    @property
    def energy(self) -> Array:
        """Kinetic plus potential energy (N) [J]."""
        return self.kinetic + self.potential

    @property
    def driven_by(self) -> str:
        """The inputs that do work on the robot, in words: u, and wrenches if they are an input."""
        return "u, wrenches" if self.wrenches.size else "u"

    @property
    def balance(self) -> Array:
        """Energy gained minus work, also of constraints, plus dissipated energy (N) [J].

        Zero except for errors of the integration.
        """
        return np.asarray(self.energy - self.energy[0] - self.work - self.constraint_work + self.dissipated)

    @property
    def max_balance(self) -> float:
        """The largest absolute value of :attr:`balance` [J]."""
        return float(np.abs(self.balance).max())

    @property
    def exchanged(self) -> float:
        """The largest of kinetic energy, its mean, range of potential energy, work, and dissipated energy [J]."""
        mean = self.action[-1:] / max(self.t[-1] - self.t[0], np.finfo(float).tiny)
        parts = (self.kinetic, mean, self.potential - self.potential.min(), self.work, self.dissipated)
        return float(max(np.abs(part).max() for part in parts))

    @property
    def relative_balance(self) -> float:
        """The ratio :attr:`max_balance` / :attr:`exchanged`; 0 for a robot at rest."""
        return self.max_balance / self.exchanged if self.exchanged > 0 else 0.0

    @property
    def constraint_drift(self) -> Array:
        """The largest entry of :attr:`residual` (N) [m, rad]."""
        return np.asarray(np.abs(self.residual).max(axis=1, initial=0.0))

    def at(self, t: npt.ArrayLike) -> tuple[Array, Array]:
        """State q, v at a time, or a row for each of several times, by cubic Hermite interpolation between outputs.

        The error is at most h⁴/384 max|d⁴x/dt⁴| between output times h apart: (ωh)⁴/384 of the amplitude of a
        vibration at ω rad/s. Output times cost little: ask for more of them if that is too much.

        Raises:
            ArgumentError: if a time lies outside the motion.
        """
        times = numbers("at: t", t)
        if times.ndim > 1 or np.any((times < self.t[0]) | (times > self.t[-1])):
            raise ArgumentError(f"at: t must be numbers from {self.t[0]:g} to {self.t[-1]:g} s")
        k = np.minimum(np.searchsorted(self.t, times, side="right") - 1, len(self.t) - 2)
        h = (self.t[k + 1] - self.t[k])[..., None]
        s = (times[..., None] - self.t[k][..., None]) / h
        start, end = self.x[k], self.x[k + 1]
        rate, last = np.hstack([self.dq, self.a])[k], np.hstack([self.dq, self.a_before])[k + 1]
        x = (
            (1 + 2 * s) * (1 - s) ** 2 * start
            + s**2 * (3 - 2 * s) * end
            + h * s * (1 - s) * ((1 - s) * rate - s * last)
        )
        nq = self.q.shape[1]
        return projected(x[..., :nq], self.blocks), x[..., nq:]

    def to_dict(self) -> dict[str, Any]:
        """All attributes, ready for ``json.dumps``."""
        everything = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in everything.items()}

    def __str__(self) -> str:
        nq, nv = self.q.shape[1], self.v.shape[1]
        lines = [
            f"{self.model}: {self.t[0]:g} to {self.t[-1]:g} s at {len(self.t)} times by {self.method}, "
            f"{self.steps} steps (nq = {nq}, nv = {nv})",
            f"  kinetic energy       between {self.kinetic.min():.4g} and {self.kinetic.max():.4g} J",
            f"  potential energy     between {self.potential.min():.4g} and {self.potential.max():.4g} J",
            f"  {f'work of {self.driven_by}':20} {self.work[-1]:.4g} J",
            f"  taken by dampers     {self.dissipated[-1]:.4g} J",
            f"  balance              {self.max_balance:.1e} J, {self.relative_balance:.1e} of the energy exchanged",
        ]
        if self.forces.shape[1]:
            strongest, drift = np.abs(self.forces).max(), self.constraint_drift.max()
            lines.append(f"  constraints          forces up to {strongest:.4g} N or N m, drift {drift:.1e} m or rad")
        if self.blocks:
            lines.append(f"  drift of unit lengths in q {self.length_drift.max():.1e}, projected")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Simulation({self.model!r}, t={self.t[0]:g}…{self.t[-1]:g}, N={len(self.t)}, method={self.method!r})"

"""Errors of a simplified model at random states, beside their bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction

_ROUNDING = 1e-11  # of the largest torque


@dataclass(frozen=True, eq=False)
class BoundCheck:
    """Torque errors at random states.

    Attributes:
        names: of the entries of v.
        samples: number of states.
        bound: guaranteed largest error [N m or N].
        observed: largest error found. rms: its root mean square.
        rms_tau, largest_tau: root mean square and largest of the exact torque.
        tau_max: the limits of the torques.
    """

    names: tuple[str, ...]
    samples: int
    bound: Array
    observed: Array
    rms: Array
    rms_tau: Array
    largest_tau: Array
    tau_max: Array

    @property
    def ok(self) -> bool:
        """Whether no error is above the bound, but for rounding."""
        return bool(np.all(self.observed <= self.bound + _ROUNDING * np.max(self.largest_tau)))

    def __str__(self) -> str:
        lines = [f"{self.samples} random states: the bound {'holds' if self.ok else 'IS EXCEEDED'}"]
        width = max(len(name) for name in self.names)
        for k, name in enumerate(self.names):
            lines.append(
                f"  {name:{width}}  error at most {self.observed[k]:.3g} ({self.observed[k] / self.tau_max[k]:.2%} of "
                f"the limit), bound {self.bound[k]:.3g} ({self.bound[k] / self.tau_max[k]:.2%}); "
                f"RMS error {_part(self.rms[k], self.rms_tau[k])} of RMS tau"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Definiteness:
    """How much of the exact mass matrix is left in the direction that has lost the most.

    Attributes:
        guaranteed: whether that holds in every configuration.
        least: the least eigenvalue of M⁻¹ exact times M: a lower bound of it, or the least that was found.
        configurations: how many were looked at, 0 if it is guaranteed.
    """

    guaranteed: bool
    least: float
    configurations: int

    def __str__(self) -> str:
        if self.guaranteed:
            return f"M is positive definite everywhere: at least {self.least:.3g} times the exact M"
        return (
            f"M was positive definite in {self.configurations} random configurations, at least {self.least:.3g} times "
            "the exact M; the armature is too small to guarantee it everywhere"
        )


def _part(value: float, whole: float) -> str:
    return f"{value / whole:.2%}" if whole else "–"


class Errors:
    """Errors of torques, a batch of states at a time."""

    def __init__(self, exact: BatchFunction, simplified: BatchFunction, nv: int) -> None:
        self._exact, self._simplified = exact, simplified
        self._samples, self._largest, self._largest_tau = 0, np.zeros(nv), np.zeros(nv)
        self._squares, self._squares_tau = np.zeros(nv), np.zeros(nv)

    def add(self, q: Array, v: Array, a: Array) -> None:
        """Add states (N × nq, N × nv, N × nv)."""
        tau = self._exact(q, v, a)
        error = np.abs(self._simplified(q, v, a) - tau)
        self._samples += len(q)
        self._largest = np.maximum(self._largest, error.max(axis=0))
        self._largest_tau = np.maximum(self._largest_tau, np.abs(tau).max(axis=0))
        self._squares += (error**2).sum(axis=0)
        self._squares_tau += (tau**2).sum(axis=0)

    def beside(self, bound: Array, names: tuple[str, ...], tau_max: Array) -> BoundCheck:
        """The outcome."""
        rms, rms_tau = np.sqrt(self._squares / self._samples), np.sqrt(self._squares_tau / self._samples)
        return BoundCheck(
            names, self._samples, bound, self._largest, rms, rms_tau, largest_tau=self._largest_tau, tau_max=tau_max
        )

"""Small motions about a configuration: natural frequencies and linearisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.equations_of_motion import EquationsOfMotion
from gdalembert.dynamics.forces.springs import ASYMMETRY
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import checked_configuration
from gdalembert.spatial.arguments import choice, vector
from gdalembert.spatial.arrays import Array, frozen

_AT_REST = 1e-6
"""Relative to the largest effort: what may be left of the forces at a configuration that counts as at rest."""
_HELD = 1e-12
"""Relative to the diagonal of the stiffness: the least eigenvalue of what a spring holds."""


class LinearAnalysis(EquationsOfMotion, ABC):
    """What follows from the linearised equations of motion; a part of :class:`~gdalembert.Dynamics`.

    Arguments ``p`` are values of the parameters, all or some by name; by default those of the model.
    """

    @abstractmethod
    def at(self, p: Values = None) -> Self:
        """The robot with numbers in place of p."""

    @abstractmethod
    def under(self, wrenches: npt.ArrayLike | None = None) -> Self:
        """The robot under constant wrenches."""

    @property
    @abstractmethod
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v."""

    @property
    @abstractmethod
    def modes(self) -> range:
        """The entries of v that are modal coordinates."""

    def force_stiffness(self, q: Array, p: Values = None) -> Array:
        """∂force/∂q at rest (nv × nv) [N m/rad, N/m]: the stiffness of the force elements; gravity is not in it."""
        s = self.symbols("q")
        by_q, _ = self.force_derivatives_expression(s["q"], ca.DM.zeros(self.tree.nv))
        graph = ca.Function("stiffness", list(s.values()), [by_q])
        return frozen(graph(q, *self._values_of("force_stiffness", p)).full())

    def _values_of(self, where: str, p: Values) -> list[Array]:
        """p as the last input of a Function."""
        if self.parameters:
            return [self.parameters.vector(p, f"{where}: p")]
        self.parameters.refuse(where, p)
        return []

    def natural_frequencies(self, q: npt.ArrayLike, *, joints: str | None = None, p: Values = None) -> Array:
        """Frequencies [rad/s] of small vibrations about q, lowest first.

        Args:
            q: a configuration (nq).
            joints: ``"locked"``: the modes alone vibrate, and rotors against their joints; ``"free"``: all coordinates
                do, with one zero for each motion that no spring holds back. By default locked where the robot has
                flexible links or joints, free where it is rigid.

        Gravity, wrenches, velocities and damping are left out; the eigenvalues of :meth:`linearize` have them.

        Raises:
            ArgumentError: if ``joints`` is neither, q is not a configuration, or the stiffness of the forces is not
                symmetric and positive semidefinite.
        """
        return self._natural_modes("natural_frequencies", q, joints, p)[0]

    def natural_modes(self, q: npt.ArrayLike, *, joints: str | None = None, p: Values = None) -> tuple[Array, Array]:
        """The frequencies (n) [rad/s] and shapes (nv × n) of small vibrations about q: a column for each frequency.

        Shapes are mass-normalised, ψᵀ M ψ = 1. Arguments and errors are those of :meth:`natural_frequencies`; where
        joints are locked, their entries are zero.
        """
        return self._natural_modes("natural_modes", q, joints, p)

    def _natural_modes(self, where: str, q: npt.ArrayLike, joints: str | None, p: Values) -> tuple[Array, Array]:
        first, nv = self.modes.start, self.tree.nv
        if joints is None:
            joints = "locked" if first < nv else "free"
        choice(f"{where}: joints", joints, ("locked", "free"))
        configuration = checked_configuration(f"{where}: q", q, self.tree)
        chosen = range(nv) if joints == "free" else range(first, nv)
        index = np.ix_(chosen, chosen)
        given = self._values_of(where, p)
        stiffness = self.force_stiffness(configuration, p)[index]
        _check_stiffness(where, stiffness)
        half = np.linalg.inv(np.linalg.cholesky(self.mass_matrix(configuration, *given).full()[index]))
        squares, vectors = np.linalg.eigh(half @ stiffness @ half.T)
        # K alone, in units of its own diagonal, says how many of them are zero; in the products it is lost in rounding
        squares[: np.count_nonzero(_held(stiffness) < _HELD)] = 0
        shapes = np.zeros((nv, len(chosen)))
        shapes[chosen] = half.T @ vectors
        return np.sqrt(np.maximum(squares, 0.0)), shapes

    def linearize(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        *,
        p: Values = None,
        wrenches: npt.ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """A (2 nv × 2 nv) and B (2 nv × nu) of d/dt [δq; δv] = A [δq; δv] + B δu about (q, v, u), δq tangent to q.

        Args:
            q: a configuration (nq).
            v: velocities (nv), 0 by default.
            u: efforts of the actuators (nu), by default those that hold the robot at q: without v, q has to be a
                configuration at rest, as :meth:`~gdalembert.FlexibleArm.static_deflection` gives it for an arm. With v
                or u the equations are linearised about any motion.

        Wrenches that are an input are zero; ``dyn.under(wrenches).linearize(q)`` has constant ones.

        Raises:
            ArgumentError: if an argument has a wrong length, or if without v and u no u holds the robot at q.
        """
        nv, actuators = self.tree.nv, self.actuators
        configuration = checked_configuration("linearize: q", q, self.tree)
        rate = np.zeros(nv) if v is None else vector("linearize: v", v, nv)
        robot = self.at(p).under()
        nle = robot.inverse_dynamics(configuration, rate, np.zeros(nv)).full().ravel()
        if u is None:
            effort = actuators.efforts(configuration, nle)
            left = np.abs(nle - actuators.torque(configuration, effort))
            if v is None and left.max() > _AT_REST * max(1.0, np.abs(nle).max()):
                rest = "static_deflection(q)" if self.modes.start < nv else "a configuration at rest"
                raise ArgumentError(
                    f"linearize: nothing holds {self.coordinate_names[int(left.argmax())]!r} at q, where a force of "
                    f"{left.max():.3g} is left on it; start from {rest}, or give u"
                )
        else:
            effort = vector("linearize: u", u, actuators.nu)
        m = robot.mass_matrix(configuration).full()
        acceleration = np.linalg.solve(m, actuators.torque(configuration, effort) - nle)
        of_q, b = actuators.derivatives(configuration, effort)
        by_q, by_v = (x.full() for x in robot.inverse_dynamics_derivatives(configuration, rate, acceleration))
        rates = np.linalg.solve(m, np.hstack([of_q - by_q, -by_v, b]))
        a_matrix = np.vstack([np.hstack([self._drift(configuration, rate), np.eye(nv)]), rates[:, : 2 * nv]])
        return a_matrix, np.vstack([np.zeros_like(b), rates[:, 2 * nv :]])

    def _drift(self, q: Array, v: Array) -> Array:
        """∂(dδq/dt)/∂δq at (q, v), nv × nv: 0 where v = dq/dt, −ad v for a spherical joint or a free-flyer.

        With dq/dt = T v and a neighbouring motion q + T δq: T dδq/dt = ∂(T v)/∂q T δq − dT/dt δq + T δv.
        """
        x = ca.SX.sym("q", self.tree.nq)
        t = self.tree.tangent_map(x)
        change = ca.jtimes(t @ ca.DM(v), x, t) - ca.reshape(ca.jtimes(ca.vec(t), x, t @ ca.DM(v)), *t.shape)
        tangent, drift = ca.Function("drift", [x], [t, change])(q)
        return np.asarray(np.linalg.lstsq(tangent.full(), drift.full(), rcond=None)[0])


def _held(stiffness: Array) -> Array:
    """The eigenvalues of K in units of its own diagonal, rising."""
    unit = np.sqrt(np.where(stiffness.diagonal() > 0, stiffness.diagonal(), 1.0))
    return np.asarray(np.linalg.eigvalsh(stiffness / np.outer(unit, unit)))


def _check_stiffness(where: str, stiffness: Array) -> None:
    """Refuse a stiffness without vibrations, which is not symmetric and positive semidefinite."""
    size = np.abs(stiffness).max(initial=0)
    if not np.isfinite(size) or np.abs(stiffness - stiffness.T).max(initial=0) > ASYMMETRY * size:
        raise ArgumentError(
            f"{where}: the stiffness of the forces is not finite and symmetric at q; take the eigenvalues of "
            "linearize(q)"
        )
    if _held(stiffness).min(initial=0) < -ASYMMETRY:
        raise ArgumentError(
            f"{where}: a force drives the robot away from q (negative stiffness), so that it does not vibrate about "
            "it; take the eigenvalues of linearize(q)"
        )

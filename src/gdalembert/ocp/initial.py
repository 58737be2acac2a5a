"""Where a solver begins, and the typical magnitudes of its variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.parameters.physical import check_mass_matrix
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import neutral, unit_blocks
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.ends import End
from gdalembert.ocp.guess import Guess, rest_to_rest_of
from gdalembert.ocp.model_parameters import ModelParameters
from gdalembert.ocp.natural_modes import NaturalModes
from gdalembert.ocp.rigid_plans import is_rigid_plan, with_deflections
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.transcription import Motion
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arrays import Array

_FEW, _SAMPLES = 11, 51
"""Instants at which the fastest v is looked for, and those of a guess."""


class Initial:
    """Where the solves of a problem begin: a guess, or the motion from rest to rest between its ends.

    Args:
        motion: of a robot.
        bounds, ends: of the problem. ``parameters``: those of the robot.

    Attributes:
        nearby: configurations from the phases before and after, where an end fixes none.
    """

    def __init__(self, motion: Motion, bounds: Bounds, ends: Sequence[End], parameters: ModelParameters) -> None:
        self._motion, self._bounds, self._ends, self._parameters = motion, bounds, ends, parameters
        self._guess: Guess | None = None
        self.nearby: tuple[Array | None, Array | None] = None, None

    def set(self, guess: Guess | Simulation | Solution) -> None:
        """Begin there ever after.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none of these, or another robot's.
        """
        self._guess = self._checked(guess)

    def set_scales(self) -> NaturalModes:
        """Tell the ``Opti`` the magnitudes of its variables, with natural modes in the place of modal coordinates."""
        return set_scales(self._motion, self._likely(), self._parameters)

    def configuration(self, row: int) -> Array:
        """q at the first (0) or last (−1) instant of the guess."""
        return np.asarray(self._likely().q[row])

    def _likely(self) -> Guess:
        """The guess, or a motion between the ends, or none."""
        rest = neutral(self._motion.dyn.tree).full().ravel()
        return self._known() or self._between(rest, rest)

    def variables(self, guess: Any) -> Array:
        """The variables of the ``Opti`` in a guess; in that of the problem, if it is ``None``.

        Raises:
            ArgumentTypeError, ArgumentError: if there is none, or as :meth:`set`.
        """
        motion = self._known() if guess is None else self._checked(guess)
        if motion is None:
            raise ArgumentError("there is no motion to start from; call guess(…), or start(q) or end(q) with all of q")
        check_mass_matrix("solve", self._motion.system.dynamics, motion.q[0], self._parameters.last)
        set_initial(self._motion, motion, self._bounds, self._parameters)
        opti = self._motion.opti.debug
        return np.array(opti.value(opti.x, opti.initial()), dtype=float).ravel()

    def _known(self) -> Guess | None:
        """The guess, or the motion between the ends, if one of them is known."""
        if self._guess is not None:
            return self._guess
        start = self._ends[0].configuration(None)
        end = self._ends[1].configuration(start)
        start, end = start if start is not None else self.nearby[0], end if end is not None else self.nearby[1]
        if start is None and end is None:
            return None
        first, last = (start if start is not None else end), (end if end is not None else start)
        closed = (self._closed(k, np.asarray(q)) for k, q in enumerate((first, last)))
        return self._between(*closed)

    def _closed(self, end: int, q: Array) -> Array:
        """q on the constraints, with the joints that this end fixes as they are."""
        fixed = self._ends[end].fixed[0]
        if fixed.all():
            return q
        tree = self._motion.dyn.tree
        hold = [
            joint.name for joint in tree.independent_joints if fixed[joint.idx_q : joint.idx_q + joint.type.nq].all()
        ]
        return self._motion.system.closed(q, hold)

    def _between(self, q_start: Array, q_end: Array) -> Guess:
        return between(self._motion, self._bounds, q_start, q_end, self._parameters.last)

    def _checked(self, motion: Guess | Simulation | Solution) -> Guess:
        dyn = self._motion.system.dynamics
        if isinstance(motion, Solution):
            motion = motion.guess()
        if isinstance(motion, Simulation):
            if motion.model != dyn.tree.name:
                raise ArgumentError(f"guess: the simulation is of {motion.model!r}, not of {dyn.tree.name!r}")
            motion = Guess(motion.t - motion.t[0], motion.q, motion.v, motion.a, motion.u, unit_blocks(dyn.tree))
        if not isinstance(motion, Guess):
            raise ArgumentTypeError(f"guess takes a Guess, a Simulation or a Solution, not {type(motion).__name__}")
        if is_rigid_plan(motion, dyn):
            motion = with_deflections(self._motion.system, motion, self._parameters.last)
        shapes = motion.q.shape[1], motion.v.shape[1], motion.u.shape[1]
        if shapes != (own := (dyn.tree.nq, dyn.tree.nv, dyn.nu)):
            raise ArgumentError(f"guess: it has nq, nv, nu = {shapes}; {dyn.tree.name} has {own}")
        return motion


def between(motion: Motion, bounds: Bounds, q_start: Array, q_end: Array, p: Array) -> Guess:
    """The motion from rest to rest, within the bounds of v if the duration allows it."""
    once = rest_to_rest_of(motion.system, q_start, q_end, 1.0, _FEW, p)
    fastest = (np.abs(once.v) / bounds.v_upper).max()
    duration = float(np.clip(1.25 * fastest, *motion.range))
    return rest_to_rest_of(motion.system, q_start, q_end, duration, _SAMPLES, p)


def set_scales(motion: Motion, guess: Guess, parameters: ModelParameters) -> NaturalModes:
    """Tell the ``Opti`` the magnitudes of its variables in a guess, with natural modes for modal coordinates."""
    modes = NaturalModes.of(motion.system, guess, _duration(motion, guess), parameters.last)
    constants = np.concatenate([np.ones(int(motion.free_time)), parameters.sizes])
    sizes = [(motion.state, np.concatenate([modes.q, modes.v, constants])), (motion.u, motion.effort)]
    if motion.k is not None:
        sizes.append(
            (motion.k, np.concatenate([modes.a, np.ones(len(motion.free)), _force_sizes(motion, guess, parameters)]))
        )
    for matrix, size in sizes:
        motion.opti.set_linear_scale(matrix, ca.repmat(ca.DM(size), 1, matrix.shape[1]))
    return modes


def set_initial(motion: Motion, guess: Guess, bounds: Bounds, parameters: ModelParameters) -> None:
    """Tell the ``Opti`` a guess, its time scaled to the fixed duration, or into the range of a free one."""
    opti, n, duration = motion.opti, motion.intervals, _duration(motion, guess)
    q, v, _, u = guess.at(np.linspace(0, 1, n + 1), duration)
    constants = np.concatenate([[duration][: motion.free_time], parameters.last[parameters.chosen]])
    states = motion.system.states_of(ca.DM(np.hstack([q, v]).T))
    opti.set_initial(motion.state, ca.vertcat(states, ca.repmat(ca.DM(constants), 1, n + 1)))
    opti.set_initial(motion.u, np.clip(u, bounds.u_lower, bounds.u_upper)[: motion.u.shape[1]].T)
    if motion.k is not None:
        q, v, a, u = guess.at(motion.fractions, duration)
        u = np.clip(u, bounds.u_lower, bounds.u_upper)
        _, forces = motion.system.efforts(q, v, a, parameters.last, u)
        rates = ca.DM(0, len(q))
        if motion.free:
            found = [motion.dyn.tree.configuration_rate(ca.DM(x), ca.DM(y)) for x, y in zip(q, v, strict=True)]
            rates = ca.horzcat(*found)[motion.free, :]
        opti.set_initial(motion.k, ca.vertcat(motion.system.unknowns(q, a), rates, forces.T))


def _force_sizes(motion: Motion, guess: Guess, parameters: ModelParameters) -> Array:
    """Typical magnitudes of the independent forces."""
    if not motion.system.independent:
        return np.zeros(0)
    _, forces = motion.system.efforts(*guess.at(np.linspace(0, 1, 5), _duration(motion, guess))[:3], parameters.last)
    return np.full(motion.system.independent, np.abs(forces).max(initial=1.0))


def _duration(motion: Motion, guess: Guess) -> float:
    return float(np.clip(guess.t[-1] - guess.t[0], *motion.range))

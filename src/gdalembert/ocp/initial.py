"""Where a solver begins, and the typical magnitudes of its variables."""

from __future__ import annotations

import casadi as ca
import numpy as np

from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.guess import Guess, rest_to_rest, typical_sizes
from gdalembert.ocp.model_parameters import ModelParameters
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.arrays import Array


def between(motion: Motion, bounds: Bounds, q_start: Array, q_end: Array, p: Array) -> Guess:
    """The motion from rest to rest, within the bounds of v if the duration allows it."""
    once = rest_to_rest(motion.dyn, q_start, q_end, 1.0, p=p)
    fastest = (np.abs(once.v) / bounds.v_upper).max()
    duration = float(np.clip(1.25 * fastest, *motion.range))
    return rest_to_rest(motion.dyn, q_start, q_end, duration, p=p)


def set_scales(motion: Motion, guess: Guess, parameters: ModelParameters) -> None:
    """Tell the ``Opti`` the magnitudes of its variables in a guess."""
    duration = _duration(motion, guess)
    q, v, a = typical_sizes(motion.dyn, guess, duration, parameters.last)
    constants = np.concatenate([np.ones(int(motion.free_time)), parameters.sizes])
    sizes = [(motion.state, np.concatenate([q, v, constants])), (motion.u, motion.effort)]
    if motion.k is not None:
        sizes.append((motion.k, np.concatenate([a, np.ones(len(motion.free))])))
    for matrix, size in sizes:
        motion.opti.set_linear_scale(matrix, ca.repmat(ca.DM(size), 1, matrix.shape[1]))


def set_initial(motion: Motion, guess: Guess, bounds: Bounds, parameters: ModelParameters) -> None:
    """Tell the ``Opti`` a guess, its time scaled to the fixed duration, or into the range of a free one."""
    opti, n, duration = motion.opti, motion.intervals, _duration(motion, guess)
    q, v, _, u = guess.at(np.linspace(0, 1, n + 1), duration)
    constants = np.concatenate([[duration][: motion.free_time], parameters.last[parameters.chosen]])
    opti.set_initial(motion.state, np.hstack([q, v, np.tile(constants, (n + 1, 1))]).T)
    opti.set_initial(motion.u, np.clip(u, bounds.u_lower, bounds.u_upper)[: motion.u.shape[1]].T)
    if motion.k is not None:
        q, v, a, _ = guess.at(motion.fractions, duration)
        rates = [motion.dyn.tree.configuration_rate(ca.DM(x), ca.DM(y)) for x, y in zip(q, v, strict=True)]
        opti.set_initial(motion.k, ca.vertcat(a.T, ca.horzcat(*rates)[motion.free, :]))


def _duration(motion: Motion, guess: Guess) -> float:
    return float(np.clip(guess.t[-1] - guess.t[0], *motion.range))

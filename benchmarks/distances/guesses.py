"""Guesses of a planner: a path that is pushed out of obstacles, and trees of random configurations.

A path is pushed by Gauss–Newton steps on its squared length and the squares of what its gaps lack; trees grow from both
ends until they meet (Kuffner and LaValle 2000).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import solveh_banded

from gdalembert.spatial.arrays import Array

Clear = Callable[[Array], Array]
"""Whether each configuration of some (n × nq) is clear."""
STEP, FINE = 0.4, 0.08
"""The longest edge, and the distance at which it is looked at [rad]."""
_SHORTCUTS = 60
GENTLE, HARD = (3e3, 3e4, 3e5, 3e6), (1e5, 1e6, 1e7)
"""Weights of what gaps lack, one after the other: for a path in collision, and for a clear one, which they keep so."""
_STEPS, _LONGEST_STEP, _DONE = 30, 0.3, 1e-3
"""Of each weight: the most steps, how far they go [rad], and the part of the cost that ends them."""

Gaps = Callable[[Array], tuple[Array, Array]]
"""What gaps lack at configurations (n × nq): n × gaps, and the derivatives of the gaps, n × gaps × nq."""


class _Tree:
    def __init__(self, root: Array) -> None:
        self.nodes, self._above = [root], [-1]

    def extend(self, to: Array, clear: Clear) -> bool:
        """Grow from the nearest node towards a configuration, as far as it is clear; whether it is reached."""
        nearest = int(np.argmin(((np.array(self.nodes) - to) ** 2).sum(axis=1)))
        while (away := float(np.linalg.norm(to - self.nodes[nearest]))) > 1e-9:
            begin, length = self.nodes[nearest], min(STEP, away)
            parts = np.linspace(0, length / away, int(np.ceil(length / FINE)) + 1)[1:]
            free = clear(begin + parts[:, None] * (to - begin))
            count = len(free) if free.all() else int(np.argmin(free))
            if not count:  # out of a grasp it goes in smaller steps
                parts = parts[0] * np.array([0.5, 0.25, 0.125])
                free = clear(begin + parts[:, None] * (to - begin))
                if not free.any():
                    return False
                count, parts = 1, parts[[int(np.argmax(free))]]
            self.nodes.append(begin + parts[count - 1] * (to - begin))
            self._above.append(nearest)
            nearest = len(self.nodes) - 1
            if not free.all():
                return False
        return True

    def path(self, node: int) -> list[Array]:
        """Nodes from one to the root."""
        found = []
        while node >= 0:
            found.append(self.nodes[node])
            node = self._above[node]
        return found


def connect(
    clear: Clear, ends: tuple[Array, Array], limits: tuple[Array, Array], rng: np.random.Generator, seconds: float
) -> Array | None:
    """A clear path between both ends (n × nq), shortened at random; ``None`` if there is none in time of the processor.

    A third of the configurations are anywhere, a third about the straight line, and a third about an end.
    """
    trees, begin, k = [_Tree(end) for end in ends], time.process_time(), 0
    while time.process_time() - begin < seconds:
        sample = rng.uniform(*limits)
        if kind := rng.integers(3):
            share = rng.uniform() if kind == 1 else rng.integers(2)
            sample = ends[0] + share * (ends[1] - ends[0]) + rng.normal(size=len(sample)) * (0.5 if kind == 1 else 0.3)
        one, other = trees[k], trees[1 - k]
        before = len(one.nodes)
        one.extend(np.clip(sample, *limits), clear)
        if len(one.nodes) > before and other.extend(one.nodes[-1], clear):
            halves = [tree.path(len(tree.nodes) - 1) for tree in trees]
            return _shortened(np.array([*halves[0][::-1], *halves[1][1:]]), clear, rng)
        k = 1 - k
    return None


def _shortened(path: Array, clear: Clear, rng: np.random.Generator) -> Array:
    for _ in range(_SHORTCUTS):
        first, last = sorted(rng.choice(len(path), 2, replace=False))
        if last - first > 1:
            parts = np.linspace(0, 1, int(np.ceil(np.linalg.norm(path[last] - path[first]) / FINE)) + 1)[1:, None]
            if clear(path[first] + parts * (path[last] - path[first])).all():
                path = np.vstack([path[: first + 1], path[last:]])
    return path


def pushed(path: Array, lacking: Gaps, limits: tuple[Array, Array], weights: tuple[float, ...]) -> Array:
    """A short path (n × nq) near one, whose gaps lack little; its ends stay."""
    n = len(path) - 1
    short, slopes = lacking(path[1:-1])
    for weight in weights:

        def cost(path: Array, short: Array, weight: float = weight) -> float:
            return float(n * (np.diff(path, axis=0) ** 2).sum() + weight * (short**2).sum())

        before, damping = cost(path, short), 1e-3
        for _ in range(_STEPS):
            scaled = weight * (short > 0)[:, :, None] * slopes
            blocks = np.einsum("ngi,ngj->nij", scaled, slopes)
            right = n * np.diff(path, 2, axis=0) + np.einsum("ngi,ng->ni", scaled, short)
            while damping < 1e4:
                new = path.copy()
                new[1:-1] = np.clip(path[1:-1] + _step(blocks, right, n, damping), *limits)
                new_short, new_slopes = lacking(new[1:-1])
                if (after := cost(new, new_short)) < before:
                    break
                damping = max(8 * damping, 1e-2)
            else:
                break
            path, short, slopes = new, new_short, new_slopes
            gained, before, damping = before - after, after, max(damping / 4, 1e-6)
            if gained < _DONE * before:
                break
    return path


def _step(blocks: Array, right: Array, n: int, damping: float) -> Array:
    """That of the normal equations, of a block for each configuration and springs between neighbours."""
    count, nq = right.shape
    bands = np.zeros((nq + 1, count * nq))
    for i in range(nq):
        for j in range(i, nq):
            bands[nq - (j - i), j::nq] += blocks[:, i, j]
    bands[nq] += (2 + damping) * n
    bands[0, nq:] -= n
    step = np.asarray(solveh_banded(bands, right.ravel())).reshape(count, nq)
    return step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))


def even(path: Array, intervals: int) -> Array:
    """Configurations along straight pieces, equally far from each other."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    places = np.linspace(0, lengths[-1], intervals + 1)
    return np.column_stack([np.interp(places, lengths, column) for column in path.T])

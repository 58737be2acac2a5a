"""Which combinations of parameters the torques depend on, by structure and in the data: base parameters.

All in s = (p − p₀) / size. The torques at random states span what the structure of the robot lets anyone know: the row
space V of Y. The data tell a direction of V to the standard deviation 1 / (its singular value in the weighted data).
A direction is *known* where that is below 1: a larger error than the parameters themselves is no knowledge.

Base parameters by numbers: Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
Systems 8(4), 1991: columns that depend on those before are dropped. The threshold 1 and the order of columns are ours:
from the base to the tips, so that what links share goes to the one nearer to the base.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdalembert.dynamics.parameters.base import formula
from gdalembert.identification.sizes import element, quantity
from gdalembert.spatial.arrays import Array

_DEPENDENT = 1e-9
"""Relative singular value below which columns of unit norm are dependent by structure."""
_ZERO = 1e-9
"""Entry of a unit vector, or a coefficient between parameters in units of their sizes, that is rounding."""
_ORDER = ("mx", "my", "Ixx", "Ixy", "Ixz", "Iyz", "Izz", "Iyy", "mz", "m")
"""Which parameters of a body give base parameters their names first."""
_INDEPENDENT = (0.1, 1e-3, 1e-6, 1e-9)
"""The part of a column that those before it must leave, in the first pass over the columns, in the second, …"""


def row_space(rows: Array) -> Array:
    """An orthonormal basis (n_p × r) of the row space of rows (… × n_p), each column being judged by its own norm."""
    norms = np.linalg.norm(rows, axis=0)
    acts = norms > _ZERO * norms.max(initial=0)
    scaled = np.divide(rows, norms, out=np.zeros_like(rows), where=acts)
    _, values, vt = np.linalg.svd(np.linalg.qr(scaled, mode="r"))
    rank = int(np.count_nonzero(values > _DEPENDENT * values.max(initial=0)))
    return np.asarray(np.linalg.qr(norms[:, None] * vt[:rank].T)[0])


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What data tell of s, direction by direction.

    Attributes:
        directions: orthonormal columns (n_p × r) that span what the structure lets anyone know, best known first.
        deviations: the standard deviation of each of them (r); inf if the data say nothing.
    """

    directions: Array
    deviations: Array

    @property
    def known(self) -> Array:
        """The directions that are known, with a standard deviation below 1."""
        return self.directions[:, self.deviations < 1]

    def covariance(self, combinations: Array) -> Array:
        """Of combinations (k × n_p) of s that lie in the known directions."""
        parts = combinations @ self.known * self.deviations[self.deviations < 1]
        return np.asarray(parts @ parts.T)

    def deviation(self, combinations: Array) -> Array:
        """The standard deviation (k) of any combinations (k × n_p) of s; inf where the data cannot know it.

        That is where it is 1 or more, or most of it is that of directions which are not known: the estimate does not
        move along these.
        """
        parts = combinations @ self.directions
        rest = combinations - parts @ self.directions.T
        parts[np.abs(parts) < _ZERO] = 0.0
        with np.errstate(invalid="ignore"):
            squares = np.nan_to_num((parts * self.deviations) ** 2, nan=0.0, posinf=np.inf)
        is_known = self.deviations < 1
        known, unknown = squares[:, is_known].sum(axis=1), squares[:, ~is_known].sum(axis=1)
        cut = (known + unknown >= 1) | (unknown > known)
        outside = np.linalg.norm(rest, axis=1) > _ZERO * np.linalg.norm(combinations, axis=1)
        return np.where(cut | outside, np.inf, np.sqrt(known + unknown))


def base_combinations(space: Array, names: tuple[str, ...]) -> tuple[Array, tuple[int, ...]]:
    """Combinations (r × n_p) of s that span a row space (n_p × r), and the parameter that each is named after.

    Each has the factor 1 for its own parameter and 0 for those of the others.
    """
    own = np.sort(np.array(_independent(space, _ordered(names)), dtype=int))
    combinations = np.linalg.solve(space[own].T, space.T)
    combinations[np.abs(combinations) < _ZERO] = 0.0
    combinations[:, own] = np.eye(len(own))
    return combinations, tuple(int(k) for k in own)


def _ordered(names: tuple[str, ...]) -> list[int]:
    """The parameters of bodies from the base to the tips, then all others."""
    bodies = [k for k, name in enumerate(names) if quantity(name) in _ORDER]
    elements = {element(names[k]): k for k in reversed(bodies)}
    bodies.sort(key=lambda k: (elements[element(names[k])], _ORDER.index(quantity(names[k]))))
    return bodies + [k for k in range(len(names)) if k not in bodies]


def _independent(rows: Array, order: list[int]) -> list[int]:
    """As many rows (… × r) as there are columns, none of which depends on the others."""
    norms, basis = np.linalg.norm(rows, axis=1), np.zeros((rows.shape[1], 0))
    found: list[int] = []
    for least in _INDEPENDENT:
        for k in order:
            if k in found or norms[k] < _ZERO or len(found) == rows.shape[1]:
                continue
            rest = rows[k]
            for _ in range(2):  # once more, for what rounding leaves
                rest = rest - basis @ (basis.T @ rest)
            if np.linalg.norm(rest) > least * norms[k]:
                basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
                found.append(k)
    return found


def named(row: Array, own: int, names: tuple[str, ...]) -> str:
    """A combination of p in words, as ``"joint2.Izz + joint2.armature - 0.08*joint3.mx"``, its own parameter first."""
    order = [own, *(k for k in range(len(names)) if k != own)]
    return formula(row[order], [names[k] for k in order])

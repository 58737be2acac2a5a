"""What is estimated: parameters, their sizes, and what the structure of the robot lets anyone know of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError
from gdalembert.identification.estimates import BaseEstimate, NotIdentifiable
from gdalembert.identification.identifiability import Knowledge, base_combinations, named, row_space
from gdalembert.identification.least_squares import Estimate, least_squares
from gdalembert.identification.limits import Prior, priors
from gdalembert.identification.regression import AffineTorque, reduce
from gdalembert.identification.samples import Samples
from gdalembert.identification.sizes import Body, bodies, sizes
from gdalembert.spatial.arrays import Array

_ZERO = 1e-9
"""Part of a size that is rounding."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The parameters of a robot as unknowns s = (p − p₀) / size.

    Attributes:
        torque: tau as a function of p. ``bodies``: those among the parameters.
        sizes: of the parameters (n_p).
        space: orthonormal columns (n_p × r): what the structure of the robot, and priors, let anyone know of s.
        completion: the prior (n_p).
        measured: rows of parameters with a measured value, (unit vector, value) / standard deviation (k × (n_p + 1)).
    """

    torque: AffineTorque
    bodies: tuple[Body, ...]
    sizes: Array
    space: Array
    completion: Array
    measured: Array

    @classmethod
    def of(cls, where: str, dyn: Dynamics, prior: Prior | None = None) -> Problem:
        """The problem of a robot with parameters.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError, UnsupportedError: as
                :class:`~gdalembert.identification.regression.AffineTorque`, or if the prior cannot be used.
        """
        values, deviations = priors(where, dyn.parameters.names, dyn.parameters.values, prior)
        torque = AffineTorque(where, dyn)
        found = bodies(torque.names, torque.nominal, dyn.nominal)
        size = sizes(torque, found)
        completion = (values - torque.nominal) / size
        at = list(deviations)
        rows = np.column_stack([np.eye(len(size))[at], completion[at]])
        measured = rows * (size[at] / np.array(list(deviations.values())))[:, None]
        y, _ = torque(*torque.random_states)
        space = row_space(np.vstack([y.reshape(-1, len(size)) * size, rows[:, :-1]]))
        return cls(torque, found, size, space, completion, measured)

    def estimate(self, where: str, samples: Samples, *, weighted: bool, decimation: int = 1) -> Estimate:
        """Least squares.

        Raises:
            ArgumentError: if there are fewer torques than base parameters.
        """
        reduced = reduce(self.torque, samples, self.sizes, decimation)
        count, rank = int(reduced.counts.sum()), self.space.shape[1]
        if count <= rank:
            raise ArgumentError(
                f"{where}: {len(samples)} samples have {count} torques with a weight, for {rank} base parameters and "
                "their noise; give more samples"
            )
        return least_squares(reduced, self.space, self.measured, self.completion, weighted=weighted)

    def base(self, knowledge: Knowledge, p: Array) -> BaseEstimate:
        """The base parameters that are known: those of the structure if all of them are, else those of the data."""
        known, names = knowledge.known, self.torque.names
        combinations, own = base_combinations(self.space if known.shape == self.space.shape else known, names)
        matrix = self.in_p(combinations, own)
        formulas = tuple(named(row, k, names) for row, k in zip(matrix, own, strict=True))
        unit = self.sizes[list(own)]
        covariance = unit[:, None] * knowledge.covariance(combinations) * unit
        return BaseEstimate(formulas, matrix, matrix @ self.torque.nominal, matrix @ p, covariance)

    def in_p(self, combinations: Array, own: tuple[int, ...]) -> Array:
        """Combinations of s as such of p, with the factor 1 for their own parameters."""
        return np.asarray(self.sizes[list(own)][:, None] * combinations / self.sizes)

    def not_identifiable(self, knowledge: Knowledge) -> NotIdentifiable:
        """What the data cannot know."""
        names, each = self.torque.names, np.eye(len(self.sizes))
        inside = np.linalg.norm(self.space, axis=1)
        combinations, own = base_combinations(self.space, names)
        matrix, unknown = self.in_p(combinations, own), ~(knowledge.deviation(combinations) < 1)
        return NotIdentifiable(
            parameters=_chosen(names, ~(knowledge.deviation(each) < 1)),
            without_effect=_chosen(names, inside < _ZERO),
            combined=_chosen(names, (inside >= _ZERO) & (inside < 1 - _ZERO)),
            not_excited=tuple(named(matrix[i], own[i], names) for i in np.flatnonzero(unknown)),
            directions=(knowledge.directions[:, ~(knowledge.deviations < 1)] * self.sizes[:, None]).T,
        )


def _chosen(names: tuple[str, ...], which: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, chosen in zip(names, which, strict=True) if chosen)

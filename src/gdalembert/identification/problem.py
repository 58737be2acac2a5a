"""What is estimated: parameters, their sizes, and what the structure of the robot lets anyone know of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError
from gdalembert.identification.estimates import BaseEstimate, NotIdentifiable
from gdalembert.identification.identifiability import Combinations, named
from gdalembert.identification.least_squares import Estimate, least_squares
from gdalembert.identification.limits import Prior, priors
from gdalembert.identification.regression import AffineTorque, reduce
from gdalembert.identification.samples import Samples
from gdalembert.identification.sizes import Body, bodies, sizes
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class Problem:
    """The parameters of a robot as unknowns s = (p − p₀) / size.

    Attributes:
        torque: tau as a function of p. ``bodies``: those among the parameters.
        sizes: of the parameters (n_p).
        structure: the base parameters (r) that the structure of the robot, and priors, let anyone know.
        random_torques: the root mean square of the torque of each joint that each entry of s makes in random motions
            (nv × n_p).
        completion: the prior (n_p).
        measured: rows of parameters with a measured value, (unit vector, value) / standard deviation (k × (n_p + 1)).
    """

    torque: AffineTorque
    bodies: tuple[Body, ...]
    sizes: Array
    structure: Combinations
    random_torques: Array
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
        y = torque(*torque.random_states)[0] * size / np.sqrt(len(torque.random_states[0]))
        structure = Combinations.of_structure(np.vstack([*y, rows[:, :-1]]), torque.names)
        return cls(torque, found, size, structure, np.linalg.norm(y, axis=0), completion, measured)

    def estimate(self, where: str, samples: Samples, *, weighted: bool, decimation: int = 1) -> Estimate:
        """Least squares.

        Raises:
            ArgumentError: if there are fewer torques than base parameters.
        """
        reduced = reduce(self.torque, samples, self.sizes, decimation)
        count, rank = int(reduced.counts.sum()), len(self.structure.own)
        if count <= rank:
            raise ArgumentError(
                f"{where}: {len(samples)} samples have {count} torques with a weight, for {rank} base parameters and "
                "their noise; give more samples"
            )
        motion = reduced.factors[..., :-1].reshape(-1, len(self.sizes)) / np.sqrt(reduced.counts.max())
        priors = np.sign(self.measured[:, :-1])
        base = self.structure.excited(np.vstack([motion, priors]), self.torque.names)
        return least_squares(reduced, base, self.measured, self.completion, weighted=weighted)

    def base(self, estimate: Estimate, p: Array) -> BaseEstimate:
        """The base parameters that the data excite."""
        matrix, own = self.in_p(estimate.base), list(estimate.base.own)
        formulas = tuple(named(row, k, self.torque.names) for row, k in zip(matrix, own, strict=True))
        factor = self.sizes[own, None] * estimate.factor
        return BaseEstimate(formulas, matrix, matrix @ self.torque.nominal, matrix @ p, factor @ factor.T)

    def in_p(self, base: Combinations) -> Array:
        """C of base parameters as combinations of p, with the factor 1 for their own parameters."""
        return np.asarray(self.sizes[list(base.own), None] * base.matrix / self.sizes)

    def not_identifiable(self, estimate: Estimate) -> NotIdentifiable:
        """What the data cannot know."""
        names, each, structure = self.torque.names, np.eye(len(self.sizes)), self.structure
        acts = structure.torques > 0
        unknown = ~estimate.base.spans(structure.matrix)
        matrix, own = self.in_p(structure), structure.own
        return NotIdentifiable(
            parameters=_chosen(names, ~estimate.base.spans(each)),
            without_effect=_chosen(names, ~acts),
            combined=_chosen(names, acts & ~structure.spans(each)),
            not_excited=tuple(named(matrix[i], own[i], names) for i in np.flatnonzero(unknown)),
            directions=structure.beyond(estimate.base).T * self.sizes,
        )


def _chosen(names: tuple[str, ...], which: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, chosen in zip(names, which, strict=True) if chosen)

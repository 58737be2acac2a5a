"""The parts of the result of a fit: torques, base parameters, and what the data cannot know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class Torques:
    """Measured and predicted torques (N × nv) [N m, N], one row for each sample."""

    measured: Array
    predicted: Array

    @property
    def residuals(self) -> Array:
        """Measured minus predicted (N × nv)."""
        return self.measured - self.predicted

    @property
    def rms(self) -> Array:
        """The root mean square of the residuals of each torque (nv)."""
        return np.asarray(np.sqrt(np.mean(self.residuals**2, axis=0)))

    @property
    def relative(self) -> Array:
        """``rms`` over the root mean square of the measured torque (nv); nan for a torque that is always 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.rms / np.sqrt(np.mean(self.measured**2, axis=0)))


@dataclass(frozen=True, eq=False)
class BaseEstimate:
    """The combinations of parameters that the data excite.

    Attributes:
        names: formulas, as ``"joint2.Izz + joint2.armature"``.
        matrix: the combinations (r × n_p): matrix @ p. The first parameter of each formula has the factor 1 in its row
            and 0 in all others.
        nominal: their values in the model (r).
        values: the estimates (r).
        covariance: of the estimates of least squares without constraints (r × r), for independent errors.
    """

    names: tuple[str, ...]
    matrix: Array
    nominal: Array
    values: Array
    covariance: Array

    def __len__(self) -> int:
        return len(self.names)

    @property
    def standard_deviation(self) -> Array:
        """Of the estimates (r)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


@dataclass(frozen=True, eq=False)
class NotIdentifiable:
    """What the data cannot know.

    Attributes:
        parameters: the names of all parameters that the data cannot know by themselves, for any reason, however small
            the noise is.
        without_effect: those that no motion of the robot could tell, since they change no torque.
        combined: those that no motion could tell from others, only a combination with them.
        not_excited: base parameters of the robot that another motion could tell, and these data do not.
        directions: changes of p that change no torque of the data (rows, k × n_p), for lack of excitation.
    """

    parameters: tuple[str, ...]
    without_effect: tuple[str, ...]
    combined: tuple[str, ...]
    not_excited: tuple[str, ...]
    directions: Array

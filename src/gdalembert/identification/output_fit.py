"""The result of a fit of outputs: parameters, how well each output of each record is explained, and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError
from gdalembert.identification.records import Record, checked
from gdalembert.identification.result import Estimate
from gdalembert.identification.simulation_errors import Prediction, SimulationErrors
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import aligned


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputFit(Estimate):
    """The result of :func:`~gdalembert.identification.fit_outputs`; ``str(result)`` is a report.

    Attributes:
        names: of the parameters that were estimated and, behind them, of ``others``.
        nominal: the values to begin with.
        outputs: names of the outputs. ``noise``: the standard deviation of each, from its residuals.
        records: measured and simulated outputs of each record, by its label.
        at_bounds: names of unknowns at a bound.
        base, not_identifiable: combinations of the unknowns, initial states that are free included.
    """

    nominal: Array
    outputs: tuple[str, ...]
    noise: Array
    records: Mapping[str, Prediction]
    at_bounds: tuple[str, ...]
    _errors: SimulationErrors

    @property
    def dynamics(self) -> Dynamics:
        """The robot with the estimate in place of its parameters."""
        (p,) = self._errors.model.values(self.values)
        return self._errors.model.dyn.at(p)

    @property
    def fit(self) -> Mapping[str, Mapping[str, float]]:
        """The part of each output that is explained [%], record by record (:attr:`Prediction.fit`)."""
        return {label: prediction.fit for label, prediction in self.records.items()}

    def predict(self, record: Record) -> Prediction:
        """The outputs of another record, of which nothing is fitted.

        The motion begins as ``initial`` of the record says or, by default, ``"measured"``: with the values and rates of
        the outputs in its first samples.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: if a channel of the record cannot be used.
        """
        model = self._errors.model
        samples = checked("predict", model.dyn, model.outputs, record, "1", "measured", self._errors.samples[0].motion)
        if samples.initial == "free":
            raise ArgumentError(f"{samples.context}: initial='free' would be fitted; give 'measured' or (q, v)")
        errors = self._errors.of((samples,)).paced_by(self.values)
        try:
            return errors.prediction(0, self.values)
        except np.linalg.LinAlgError:  # of rows that are not finite
            cure = errors.turns or "give initial=(q, v) from which the robot moves as it did"
            raise ArgumentError(f"{samples.context}: the motion that is simulated leaves all bounds; {cure}") from None

    def __str__(self) -> str:
        rows = [["unknown", "begin", "estimate", "± std. dev."]]
        for name, *numbers in zip(self.names, self.nominal, self.values, self.standard_deviation, strict=True):
            rows.append([name, *(f"{x:.{digits}g}" for x, digits in zip(numbers, (4, 5, 2), strict=True))])
        fits = [["fit [%]", *self.outputs]]
        fits += [[label, *(f"{x:.1f}" for x in record.fit.values())] for label, record in self.records.items()]
        count = sum(len(record.t) for record in self.records.values())
        lines = [
            f"{self.robot}: {len(self.names)} unknowns by the outputs of {count} samples in {len(self.records)} "
            f"record{'s' * (len(self.records) != 1)}",
            *(f"  {remark}" for remark in self.remarks),
            *aligned(fits),
            *aligned(rows),
        ]
        return "\n".join(lines)

"""The result of a calibration: placements, residuals, what the data cannot know, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.identification.result import Estimate, short, shown, some
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import aligned, html_report

_CORRECTIONS = 10
"""Combinations that are printed: those that are the most standard deviations from the model."""
_COLUMNS = 120
_INDENTS: Any = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration(Estimate):
    """The result of :func:`~gdalembert.calibration.fit.fit`; ``str(result)`` is a report. Parameters are in m and rad.

    ``base``, ``standard_deviation`` and ``not_identifiable`` are of small changes of p at the fitted placements: if p
    is of other placements near them, ``base.matrix @ p - base.values`` has the covariance of ``base``, but for products
    of differences. A parameter of which no more than a hundredth lies in directions that the data cannot tell counts as
    known, has a finite deviation, and is not in ``not_identifiable.parameters``; where p is so far from the model that
    a hundredth of its change is more than this deviation, look at ``base``.

    Attributes:
        frame: what was measured, in words. ``frames``: the names of these frames.
        noise: the estimated standard deviation of a measured coordinate and, of poses, of an angle [m, rad], of mean
            weight; nan if none has a weight.
        weights: weights of the rows of the samples that were fitted (N × 6, or N × 3 for each frame), their mean being
            1.
        before, residuals: residuals of these samples with the model and after the fit: the twist from the frame to the
            measured pose, LOCAL (N × 6) [m; rad], or the measured position minus that of the frame (N × 3, or N × 3 k
            of k markers) [m]; NaN where nothing was measured.
        held_back: residuals of the samples that were held back, or ``None``.
    """

    frame: str
    frames: tuple[str, ...]
    noise: Array
    weights: Array
    before: Array
    residuals: Array
    held_back: Array | None

    @property
    def model(self) -> pin.Model:
        """A copy of the model that was given, with the estimated placements.

        Raises:
            UnsupportedError: if no model was given.
        """
        if self._model is None:
            raise UnsupportedError(f"calibration of {self.robot}: there is no model: give model= to fit")
        return self._model.copy()

    def rms(self, residuals: Array, weights: Array | None = None) -> tuple[float, ...]:
        """The root mean square of distances [m], for each of several markers, and, of poses, of angles [rad].

        Args:
            residuals: a row for each measurement (N × m). ``weights``: weights of each number (N × m); those of weight
                0 do not count.

        Raises:
            ArgumentTypeError, ArgumentError: if they are no such rows.
        """
        width, distances = self.residuals.shape[1], []
        residuals = numbers("rms: residuals", residuals, finite=False)
        weights = None if weights is None else numbers("rms: weights", weights, finite=False)
        for name, rows in (("residuals", residuals), ("weights", residuals if weights is None else weights)):
            if rows.ndim != 2 or rows.shape != (len(residuals), width):
                raise ArgumentError(
                    f"rms: {name} has shape {rows.shape}; give (N, {width}), a row for each measurement"
                )
        for first in range(0, residuals.shape[1], 3):
            rows = residuals[:, first : first + 3]
            seen = np.isfinite(rows).all(axis=1)
            if weights is not None:
                seen &= (weights[:, first : first + 3] > 0).all(axis=1)
            distances.append(float(np.sqrt(np.mean(np.sum(rows[seen] ** 2, axis=1)))) if seen.any() else np.nan)
        return tuple(distances)

    @cached_property
    def report(self) -> str:
        """Residuals, what is not known, and the largest corrections with their standard deviations."""
        held_back = f", {len(self.held_back)} held back" if self.held_back is not None else ""
        is_pose, width = len(self.noise) == 2, self.residuals.shape[1] // 3
        kind = "poses" if is_pose else "positions"
        head = ["rms", "before", "after", "noise", *(["held back"] if held_back else [])]
        columns = [self.rms(self.before, self.weights), self.rms(self.residuals, self.weights)]
        columns.append(tuple(self.noise) if is_pose else tuple(self.noise) * width)
        columns += [] if self.held_back is None else [self.rms(self.held_back)]
        titles = ["distance [mm]", "angle [mrad]"] if is_pose or width == 1 else [f"{x} [mm]" for x in self.frames]
        rows = [
            [title, *(shown(1e3 * x, ".3g") for x in values)]
            for title, *values in zip(titles[: len(columns[0])], *columns, strict=True)
        ]
        lines = [
            f"{self.robot}: {len(self.names)} placement parameters of {len(self.residuals)} {kind} of {self.frame}"
            f"{held_back}",
            f"  combinations   {len(self.base)} of {self.structural_rank} known, condition number "
            f"{self.condition_number:.3g}",
            *(f"  {remark}" for remark in self.remarks),
            *aligned([head, *rows]),
        ]
        missing = self.not_identifiable
        several = [short(name) for name in self.base.names if " " in name]
        unknown = (
            ("not excited by the samples", missing.not_excited, "; "),
            ("known in combinations alone", several, "; "),
            ("without effect", missing.without_effect, ", "),
        )
        for reason, known, comma in unknown:
            lines += wrap(f"{reason}: {some(known, comma)}", _COLUMNS, **_INDENTS) if known else []
        values, deviation = 1e3 * self.base.values, 1e3 * self.base.standard_deviation
        order = np.argsort(-np.abs(values) / deviation, kind="stable")[:_CORRECTIONS]
        table = [
            ["largest corrections [mm, mrad]", "estimate", "± std. dev."],
            *([short(self.base.names[k]), f"{values[k]:.4g}", f"{deviation[k]:.2g}"] for k in order),
        ]
        return "\n".join([*lines, *aligned(table)])

    def __str__(self) -> str:
        return self.report

    def _repr_html_(self) -> str:
        return html_report(self.report)

    def __repr__(self) -> str:
        return f"Calibration({self.robot!r}, {self.frame}, {len(self.base)} combinations)"

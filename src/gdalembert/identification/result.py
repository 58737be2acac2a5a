"""The result of a fit: torques, base parameters, what the data cannot know, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief, aligned, html_report

METHODS = ("ordinary", "weighted", "consistent")
"""Methods of a fit."""
_SHOWN = 12
"""Names of a list that are printed."""
_COLUMNS, _LINES = 120, 48
"""Columns and lines of a screen."""
_INDENTS: Any = {"subsequent_indent": "    ", "break_on_hyphens": False}
_FRICTION = ("viscous", "coulomb", "offset", "load")
_WIDTH = 60
"""Characters of a formula that are printed."""


@dataclass(frozen=True, eq=False)
class Torques(Brief):
    """Measured and predicted efforts (N × m) [N m, N; A], one row for each sample, and the speeds of their axes.

    ``measured`` is NaN where nothing was measured. ``at_rest``: where an axis is slower than ``sticking`` of the fit.
    Friction holds it there by an effort that the motion does not determine; ``predicted`` is the nearest one to what
    was measured that the identified Coulomb friction can hold, and ``from_motion`` what q, v and a alone tell.
    """

    measured: Array
    predicted: Array
    from_motion: Array
    speeds: Array
    at_rest: npt.NDArray[np.bool_]

    @property
    def moving(self) -> Torques:
        """Without what was measured at rest, which is NaN: a prediction from q, v and a alone."""
        return replace(self, measured=np.where(self.at_rest, np.nan, self.measured))

    @property
    def every_sample(self) -> Torques:
        """The torques with ``from_motion`` as the prediction, at rest as elsewhere."""
        return replace(self, predicted=self.from_motion)

    @property
    def residuals(self) -> Array:
        """Measured minus predicted (N × m)."""
        return self.measured - self.predicted

    @property
    def rms(self) -> Array:
        """The root mean square of the residuals of each sensor (m); nan for one that measured nothing."""
        return root_mean_square(self.residuals)

    @property
    def relative(self) -> Array:
        """The ratio of ``rms`` to the root mean square of what was measured (m); nan for a sensor that always has 0."""
        size = root_mean_square(self.measured)
        return np.asarray(self.rms / np.where(size > 0, size, np.nan))


def root_mean_square(rows: Array) -> Array:
    """The root mean square of each column, without NaN; nan for a column of them."""
    seen = np.isfinite(rows)
    count = np.where(seen.any(axis=0), seen.sum(axis=0), np.nan)
    return np.asarray(np.sqrt(np.sum(np.where(seen, rows, 0.0) ** 2, axis=0) / count))


@dataclass(frozen=True, eq=False)
class BaseEstimate(Brief):
    """The combinations of parameters that the data excite.

    Attributes:
        names: formulas, as ``"joint2.Izz + joint2.armature"``.
        matrix: the combinations (r × n_p): matrix @ p. The first parameter of each formula has the factor 1 in its row
            and 0 in all others.
        nominal: their values in the model (r).
        values: the estimates (r).
        covariance: that of the estimates of least squares without constraints (r × r), for independent errors.
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
        """Standard deviation of the estimates (r)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


@dataclass(frozen=True, eq=False)
class NotIdentifiable(Brief):
    """Parameters that the data cannot know.

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


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate(Brief):
    """Parameters of a robot that a fit estimates.

    Attributes:
        robot: its name.
        names: names of the parameters.
        values: the estimate of p (n_p).
        standard_deviation: that of each parameter by itself (n_p), by least squares without constraints; inf where the
            data tell no more than a combination of it with others.
        base: the combinations that the data excite.
        structural_rank: the number of base parameters that the structure of the robot lets anyone know.
        not_identifiable: what the data cannot know.
        condition_number: that of the weighted regressor of these base parameters, with columns of unit length.
        remarks: why the estimate is not to be trusted as it is, one sentence each.
    """

    robot: str
    names: tuple[str, ...]
    values: Array
    standard_deviation: Array
    base: BaseEstimate
    structural_rank: int
    not_identifiable: NotIdentifiable
    condition_number: float
    remarks: tuple[str, ...]
    _model: pin.Model | None

    @property
    def parameters(self) -> Mapping[str, float]:
        """The estimate of p by name."""
        return MappingProxyType(dict(zip(self.names, self.values.tolist(), strict=True)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Identification(Estimate):
    """The result of :func:`~gdalembert.identification.fit.fit`; ``str(result)`` is a report.

    Attributes:
        method: ``"ordinary"``, ``"weighted"`` or ``"consistent"``.
        joints: names of the sensors: joints, or actuators where currents were measured.
        nominal: p of the model before (n_p).
        unknowns: names of all that was estimated (n_x): p, then coefficients of columns, offsets of sensors, what runs
            have of their own, and logarithms of gains. ``base`` and ``not_identifiable`` are combinations of them.
        gains: drive gains by actuator [N m/A, N/A], where currents were measured. ``gains_standard_deviation``: theirs,
            0 of those that were given.
        coefficients: those of columns, offsets and what single runs have, by name. ``coefficients_standard_deviation``:
            theirs.
        noise: the estimated standard deviation of each torque (nv) [N m, N]: of a sample of mean weight, and of the
            rows that remain after decimation, if there was any; nan for a torque without any weight.
        residual: the root mean square of the residuals of each torque (nv) [N m, N] in the same rows.
        at_bounds: of the consistent fit, the parameters at a bound, and the bodies that could exist no more if they
            were a little different: constraints decided these, not the data alone.
        sticking: the speed below which an axis is taken to be at rest, or ``None``.
        fitted: torques of the samples with a weight. ``held_back``: those of the samples held back, or ``None``.
        least_eigenvalues: the least eigenvalue of the pseudo-inertia of each body that was estimated, by name.
    """

    method: str
    joints: tuple[str, ...]
    nominal: Array
    unknowns: tuple[str, ...]
    gains: Mapping[str, float]
    gains_standard_deviation: Mapping[str, float]
    coefficients: Mapping[str, float]
    coefficients_standard_deviation: Mapping[str, float]
    noise: Array
    residual: Array
    at_bounds: tuple[str, ...]
    sticking: float | None
    fitted: Torques
    held_back: Torques | None
    least_eigenvalues: Mapping[str, float]
    _dynamics: Dynamics | None

    @property
    def dynamics(self) -> Dynamics:
        """The robot with the estimate in place of its parameters, to simulate, plan and control with: friction, motors
        and all.

        Raises:
            ArgumentError: if it was loaded from a file, which has no robot.
        """
        if self._dynamics is None:
            raise ArgumentError(
                f"identification of {self.robot}: it was loaded without its robot; give it: load(file, dyn=dyn)"
            )
        return self._dynamics.at(self.values)

    @property
    def friction(self) -> Mapping[str, float]:
        """Estimated friction by name: ``joint.viscous``, ``joint.coulomb``, ``joint.offset``, ``joint.load``."""
        chosen = {name: x for name, x in self.parameters.items() if name.rpartition(".")[2] in _FRICTION}
        return MappingProxyType(chosen)

    @property
    def is_consistent(self) -> bool | None:
        """True if every body that was estimated can exist: its pseudo-inertia is positive definite.

        ``None`` if none was estimated, as with base parameters or friction alone.
        """
        return all(least > 0 for least in self.least_eigenvalues.values()) if self.least_eigenvalues else None

    @cached_property
    def report(self) -> str:
        """A screen: residuals and gains of each sensor, friction, coefficients, and what is not known or doubtful."""
        rank, possible = len(self.base), self.structural_rank
        held_back = f", {len(self.held_back.measured)} held back" if self.held_back else ""
        head = ["joint", "noise", "residual", "relative"]
        of_joints = [self.noise, self.residual, self.fitted.relative]
        if self.held_back:
            head += ["held back", "relative"]
            of_joints += [self.held_back.rms, self.held_back.relative]
        formats = [".1%" if title == "relative" else ".3g" for title in head[1:]]
        rows = [
            [name, *(shown(x, how) for how, x in zip(formats, values, strict=True))]
            for name, *values in zip(self.joints, *of_joints, strict=True)
        ]
        if self.gains:
            head.append("gain")
            for row in rows:
                if row[0] in self.gains:
                    row.append(f"{self.gains[row[0]]:.4g} ± {self.gains_standard_deviation[row[0]]:.1g}")
                else:
                    row.append("–")
        lines = [
            f"{self.robot}: {len(self.names)} parameters by the {self.method} fit of {len(self.fitted.measured)} "
            f"sample{'s' * (len(self.fitted.measured) != 1)}{held_back}",
            f"  base parameters   {rank} of {possible} excited, condition number {self.condition_number:.3g}",
            *(f"  {remark}" for remark in self.remarks),
            *([f"  at a bound: {some(self.at_bounds)}"] if self.at_bounds else []),
            *aligned([head, *rows]),
            *self._at_rest(),
            *self._of_elements(),
        ]
        missing = self.not_identifiable
        unknown = (
            ("not excited by the samples", missing.not_excited, "; "),
            ("known in combinations alone", missing.combined, ", "),
            ("without effect on any torque", missing.without_effect, ", "),
        )
        lines += [f"  {reason}: {some(names, comma)}" for reason, names, comma in unknown if names]
        lines = [short for line in lines for short in wrap(line, _COLUMNS, **_INDENTS)]
        if len(lines) >= _LINES:
            lines = [*lines[: _LINES - 2], f"  … {len(lines) - _LINES + 2} lines more"]
        return "\n".join([*lines, "  all parameters: print(result.details)"])

    def _at_rest(self) -> list[str]:
        """Lines on how samples at rest are judged, and residuals with and without them, if there are any."""
        judged, samples = (self.fitted, "fitted") if self.held_back is None else (self.held_back, "held back")
        if not judged.at_rest.any():
            return []
        count, total = judged.at_rest.sum(axis=0), np.maximum(np.isfinite(judged.measured).sum(axis=0), 1)
        parts = np.array([judged.every_sample.relative, judged.relative, judged.moving.relative]).T
        rows = [
            [name, *(shown(x, ".1%") for x in residuals), f"{n} of {of} ({n / of:.1%})"]
            for name, residuals, n, of in zip(self.joints, parts, count, total, strict=True)
        ]
        return [
            f"  at rest, at speeds below {self.sticking:g}, friction holds by any torque up to its Coulomb friction. "
            f"Relative residuals of the samples {samples}: every sample predicted from its motion; at rest what is "
            "beyond this friction, as in the table above; moving, without samples at rest",
            *aligned([[samples, "every sample", "beyond friction", "moving", "samples at rest"], *rows]),
        ]

    def _of_elements(self) -> list[str]:
        """Tables of friction and motors by element, and of coefficients."""
        place, elements = {name: k for k, name in enumerate(self.names)}, dict[str, None]()
        for name in self.friction:
            elements.setdefault(name.rpartition(".")[0])
        quantities = [x for x in _FRICTION if any(f"{name}.{x}" in place for name in elements)]

        def cell(name: str) -> str:
            if name not in place:
                return ""
            k = place[name]
            return f"{self.values[k]:.3g} ± {shown(self.standard_deviation[k], '.1g')}"

        lines = []
        if elements:
            rows = [[name, *(cell(f"{name}.{x}") for x in quantities)] for name in elements]
            lines += aligned([["friction", *quantities], *rows])
        if self.coefficients:
            errors = self.coefficients_standard_deviation
            rows = [[name, f"{x:.4g}", shown(errors[name], ".2g")] for name, x in self.coefficients.items()]
            lines += aligned([["coefficient", "estimate", "± std. dev."], *rows])
        return lines

    @cached_property
    def details(self) -> str:
        """Every base parameter and parameter, with its standard deviation."""
        lines, missing, base = list[str](), self.not_identifiable, self.base
        tables = (
            ("base parameter", base.names, base.nominal, base.values, base.standard_deviation),
            ("parameter", self.names, self.nominal, self.values, self.standard_deviation),
        )
        for heading, *columns in tables:
            rows = [[heading, "nominal", "estimate", "± std. dev.", "%"]]
            for name, nominal, value, deviation in zip(*columns, strict=True):
                if name not in missing.without_effect:
                    relative = 100 * deviation / abs(value) if value else np.inf
                    numbers = f"{nominal:.4g}", f"{value:.4g}", shown(deviation, ".2g"), shown(relative, ".2g")
                    rows.append([short(name), *numbers])
            lines += aligned(rows)
        return "\n".join(lines)

    @property
    def model(self) -> pin.Model:
        """A copy of the model that was given, with the estimate; it moves as the data do.

        Friction is in its ``damping`` and ``friction`` if the robot was made with ``friction="model"``.

        Raises:
            UnsupportedError: if no model was given, or the estimate is not that of bodies.
        """
        if self._model is None:
            raise UnsupportedError(
                f"identification of {self.robot}: there is no model: give model= to fit, and identify bodies, not base "
                "parameters, which are no parameters of single bodies"
            )
        if self.is_consistent is False:
            name, least = min(self.least_eigenvalues.items(), key=lambda item: item[1])
            raise UnsupportedError(
                f"identification of {self.robot}: the estimate for {name!r} is that of no body: its pseudo-inertia has "
                f"the eigenvalue {least:.3g}; take method='consistent'"
            )
        return self._model.copy()

    def __str__(self) -> str:
        return self.report

    def _repr_html_(self) -> str:
        return html_report(self.report, details=self.details)

    def __repr__(self) -> str:
        return f"Identification({self.robot!r}, method={self.method!r}, {len(self.base)} base parameters)"


def some(names: Sequence[str], comma: str = ", ") -> str:
    """The first names of a list, and how many more there are."""
    more = f"{comma}and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return comma.join(names[:_SHOWN]) + more


def short(formula: str) -> str:
    """The beginning of a formula."""
    return formula if len(formula) <= _WIDTH else f"{formula[: _WIDTH - 2]} …"


def shown(x: float, how: str) -> str:
    """A number as a format says; a dash where there is none."""
    return f"{x:{how}}" if np.isfinite(x) else "–"

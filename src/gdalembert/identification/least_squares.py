"""Base parameters, by structure and in the data, and their ordinary and weighted least squares on triangular factors.

All in s = (p − p₀) / size, and in units in which each parameter makes the same torque in random motions, where it says
how far rows are from each other. The torques at random states span what the structure of the robot lets anyone know. A
direction of it is *excited* if the torques of the samples depend on it: by the rank of their regressor, in these units.
Neither the noise of the torques nor nominal values decide that; how well an excited direction is known is told by its
standard deviation.

Least squares need no more of N samples than the triangular factor R_j of the rows of each sensor j: the residuals have
the norm ‖R_j (s, −1)‖ for every s, whatever N is.

Base parameters by numbers: Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
Systems 8(4), 1991: columns that depend on those before are dropped. The order of columns is ours: from the base to the
tips, so that what links share goes to the one nearer to the base.

The torque of joint j has the standard deviation σ_j, the same in all samples of weight 1. Ordinary least squares take
one σ for all joints; weighted least squares estimate each σ_j from the residuals of the last estimate, until they agree
(Gautier and Poignet, "Extended Kalman filtering and weighted least squares dynamic identification of robot", Control
Engineering Practice 9(12), 2001). What the fit takes of the degrees of freedom is shared among all rows alike, or taken
from each group of rows as much as it determines: the trace of its block of the hat matrix. Where one group is far more
precise than another, it determines nearly all (as restricted maximum likelihood does it: Patterson and Thompson,
"Recovery of inter-block information when block sizes are unequal", Biometrika 58(3), 1971).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.base import formula
from gdalembert.identification.result import BaseEstimate, NotIdentifiable
from gdalembert.identification.unknowns import element, quantity
from gdalembert.spatial.arrays import Array, independent_columns
from gdalembert.spatial.progress import current

_DEPENDENT = 1e-9
"""Relative singular value below which columns of unit norm are dependent by structure."""
_EXCITED = 1e-5
"""Singular value of an excited direction, where that of a parameter is about 1 in random motions. A URDF that rounds
π/2 to 1.5708 makes directions of 1e-6 that geometry does not have, and no torque sensor resolves them."""
SPANNED = 1e-2
"""The part of a combination that may lie outside the excited directions: it changes the value by about as much."""
_ZERO = 1e-9
"""Entry of a unit vector, or a coefficient between parameters that make the same torque, that is rounding."""
_ORDER = ("mx", "my", "Ixx", "Ixy", "Ixz", "Iyz", "Izz", "Iyy", "mz", "m")
"""Parameters of a body, in the order in which they give base parameters their names."""
_INDEPENDENT = (0.1, 1e-3, 1e-6, 1e-9)
"""The part of a row of an orthonormal basis that those before it must leave, in the first pass, in the second, …"""
_AGREE = 1e-6
"""Relative change of the noise at which the iteration ends."""
_ITERATIONS = 50
_LEAST_FREE = 1e-3
"""Least degrees of freedom that a group of rows keeps: one that determines as many values as it has rows has none."""
_STEPS, _HALVINGS = 50, 10
_HELD = 1e-3
"""Deviation of an unknown that is held at the end of its longest step, in units of this step."""
_AT_BOUND = 1e-8
"""Deviation of an unknown that is held at a bound, in units of its size."""
_NEAR = 0.1
"""The part of the sum of squares by which a step makes it fall, below which the next one is extrapolated."""
_LAST, _LEVEL, _FLAT = 5, 1e-9, 1e-6
"""The last steps, the part of the sum of squares by which it falls in them all if it does not fall any more, and the
largest such part that is not told where the steps end for another reason."""
_CONVERGED = 1e-5
"""Root mean square of the change of the residuals by a step, relative to the noise, below which it is the last one."""
_ROUNDING = 1e-9
"""Relative change of the cost that is none, and change of the residuals relative to what was measured."""
_LEAST_NOISE = 1e-6
"""Least noise, as part of the torque: data without noise have that of rounding, which would be too good a weight."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """The samples, as far as least squares need them.

    Attributes:
        factors: R_j of the rows of each entry of tau (nv × (n_p + 1) × (n_p + 1)), weighted.
        counts: the number of rows with a weight (nv).
        weights: the mean weight of these rows (nv), 1 being that of all rows with a weight; 0 if there are none.
        torques: the root mean square of what was measured in samples with a weight (nv).
    """

    factors: Array
    counts: Array
    weights: Array
    torques: Array

    def norms(self, s: Array) -> Array:
        """The norm of the weighted residuals of each entry of tau (nv)."""
        return np.asarray(np.linalg.norm(self.factors @ np.append(s, -1.0), axis=1))


def triangular(rows: Array) -> Array:
    """The square matrix R (n × n) with Rᵀ R = rowsᵀ rows: the triangular factor of the columns that are not zero."""
    acts = rows.any(axis=0)
    # Cholesky's factor of rowsᵀ rows squares the condition number: of Panda's base parameters (9e3) it leaves errors of
    # 2e-12, this one 7e-15
    factor = np.linalg.qr(rows[:, acts], mode="r")
    r = np.zeros((rows.shape[1], rows.shape[1]))
    r[: len(factor), acts] = factor
    return r


@dataclass(frozen=True, eq=False)
class Combinations:
    """Base parameters β = C s.

    Attributes:
        matrix: C (k × n_p). Each row has the factor 1 for its own parameter and 0 for those of the others.
        pivots: the parameter that each row is named after (k): Y s = Y[:, pivots] β for every Y with rows in this
            space.
        torques: the root mean square of the torque that each parameter makes in random motions (n_p).
        space: an orthonormal basis (n_p × k) of the rows, in units in which these torques are 1.
        tolerance: the part of a row that may lie outside the space.
    """

    matrix: Array
    pivots: tuple[int, ...]
    torques: Array
    space: Array
    tolerance: float

    @classmethod
    def of(cls, space: Array, torques: Array, names: tuple[str, ...], tolerance: float) -> Combinations:
        """Combinations that span a space."""
        bodies = [k for k, name in enumerate(names) if quantity(name) in _ORDER]  # from the base to the tips
        others = [k for k, name in enumerate(names) if quantity(name) not in _ORDER]
        first = {element(names[k]): k for k in reversed(bodies)}
        bodies.sort(key=lambda k: (first[element(names[k])], _ORDER.index(quantity(names[k]))))
        pivots = np.sort(np.array(independent_columns(space.T, *_INDEPENDENT, order=bodies + others)[0], dtype=int))
        matrix = np.linalg.solve(space[pivots].T, space.T)
        matrix[np.abs(matrix) < _ZERO] = 0.0
        matrix[:, pivots] = np.eye(len(pivots))
        unit = np.where(torques > 0, torques, 1.0)
        return cls(matrix * unit / unit[pivots, None], tuple(pivots.tolist()), torques, space, tolerance)

    @classmethod
    def of_structure(cls, rows: Array, names: tuple[str, ...], tolerance: float = _ZERO) -> Combinations:
        """The combinations that the rows (… × n_p) of random motions span."""
        torques = np.linalg.norm(rows, axis=0)
        torques[torques < _ZERO * torques.max(initial=0)] = 0.0
        _, values, vt = np.linalg.svd(np.linalg.qr(_over(rows, torques), mode="r"))
        rank = int(np.count_nonzero(values > _DEPENDENT * values.max(initial=0)))
        return cls.of(vt[:rank].T, torques, names, tolerance)

    def excited(self, rows: Array, names: tuple[str, ...]) -> Combinations:
        """Combinations that other rows (… × n_p) span, in the unit of the rows of random motions.

        These are the same, if the rows span all of them.
        """
        # by rank, and not by standard deviations below the sizes of the parameters: a wrist whose data sheet has no
        # friction has a tiny size, and its friction, known to 1 %, was set back to 0
        _, values, vt = np.linalg.svd(np.linalg.qr(_over(rows, self.torques) @ self.space, mode="r"))
        rank = int(np.count_nonzero(values > _EXCITED * max(1.0, values.max(initial=0))))
        if rank == len(self.pivots):
            return self
        return type(self).of(self.space @ vt[:rank].T, self.torques, names, SPANNED)

    @cached_property
    def inverse(self) -> Array:
        """The least s that has given β (n_p × k)."""
        return np.asarray(np.linalg.pinv(self.matrix))

    def spans(self, rows: Array) -> npt.NDArray[np.bool_]:
        """The rows of other combinations of s (… × n_p) that follow from these: row = row[pivots] C."""
        scaled = _over(rows, self.torques)
        rest = np.linalg.norm(scaled - scaled @ self.space @ self.space.T, axis=1)
        without_effect = rows[:, self.torques == 0].any(axis=1)
        return np.asarray((rest <= self.tolerance * np.linalg.norm(scaled, axis=1)) & ~without_effect)

    def beyond(self, other: Combinations) -> Array:
        """Orthonormal columns: changes of s within these combinations that others do not see."""
        basis, _ = np.linalg.qr(self.matrix.T)
        seen = other.matrix @ basis
        return np.asarray(basis @ np.linalg.svd(seen)[2][len(seen) :].T)


def _over(rows: Array, torques: Array) -> Array:
    """Rows in units in which each parameter makes the torque 1; those that make none are left out."""
    return np.divide(rows, torques, out=np.zeros_like(rows), where=torques > 0)


def named(row: Array, pivot: int, names: tuple[str, ...], effects: Array | None = None) -> str:
    """A combination of p in words, as ``"joint2.Izz + joint2.armature - 0.08*joint3.mx"``, its own parameter first.

    With the effects of single parameters (n_p), those that make less than a hundredth of it are left out, and factors
    have three digits.
    """
    if effects is not None:
        large = np.abs(row) * effects >= SPANNED * effects[pivot]
        row = np.array([float(f"{x:.3g}") if seen else 0.0 for x, seen in zip(row, large, strict=True)])
    order = [pivot, *(k for k in range(len(names)) if k != pivot)]
    return formula(row[order], [names[k] for k in order])


@dataclass(frozen=True, eq=False)
class LinearEstimate:
    """Least squares, in s = (p − p₀) / size.

    Attributes:
        reduced: the samples. ``weighted``: whether each torque has a noise of its own.
        noise: the standard deviation of each torque of weight 1 (nv).
        base: the base parameters β = C s that the data excite (k).
        factor: T (k × k) of the covariance T Tᵀ of their estimates.
        s: the estimate (n_p) that is nearest to the completion of the problem.
        condition_number: that of the weighted regressor of β, with columns of unit length.
    """

    reduced: Reduced
    weighted: bool
    noise: Array
    base: Combinations
    factor: Array
    s: Array
    condition_number: float

    def deviation(self, combinations: Array) -> Array:
        """The standard deviation of any combinations (… × n_p) of s; inf where the data do not excite them."""
        deviations = np.linalg.norm(combinations[:, list(self.base.pivots)] @ self.factor, axis=1)
        return np.where(self.base.spans(combinations), deviations, np.inf)

    @property
    def torque_noise(self) -> Array:
        """The standard deviation of each torque of mean weight (nv) [N m, N]; nan for one without any weight."""
        return self._in_torque(self.noise)

    def residuals(self, s: Array) -> Array:
        """The root mean square of the residuals of each torque (nv) in the rows that were fitted, by their weights."""
        return self._in_torque(self.reduced.norms(s) / np.sqrt(np.maximum(self.reduced.counts, 1)))

    def _in_torque(self, of_weight_one: Array) -> Array:
        weights = self.reduced.weights
        nothing = np.full(len(weights), np.nan)
        return np.asarray(np.divide(of_weight_one, np.sqrt(weights), out=nothing, where=weights > 0))


def _solve(reduced: Reduced, base: Combinations, priors: Array, noise: Array) -> tuple[Array, Array, float]:
    """The estimate β (k), T (k × k) and the condition number, by the singular values of columns of unit length."""
    rows = triangular(np.vstack([*(reduced.factors / noise[:, None, None]), priors]))
    columns = rows[:, list(base.pivots)]
    lengths = np.linalg.norm(columns, axis=0)
    # By singular values, where a triangular solve would do: the condition number is asked for as well.
    u, values, vt = np.linalg.svd(columns / lengths, full_matrices=False)
    factor = vt.T / values / lengths[:, None]
    condition = float(values[0] / values[-1]) if len(values) else np.inf
    return factor @ (u.T @ rows[:, -1]), factor, condition


def _noise(reduced: Reduced, base: Combinations, values: Array, weighted: bool, determined: Array | None) -> Array:
    """The noise σ_j from the residuals, whose degrees of freedom are shared among the samples of all joints.

    ``determined``: the number of values that each group of rows determines, if they are not shared.
    """
    s = np.zeros(base.matrix.shape[1])
    s[list(base.pivots)] = values
    norms, counts = reduced.norms(s), reduced.counts
    free = 1 - len(values) / counts.sum()
    if not weighted:
        return np.full(len(counts), np.sqrt(np.sum(norms**2) / (counts.sum() * free)))
    if determined is not None:
        return np.asarray(norms / np.sqrt(np.maximum(counts - determined, _LEAST_FREE)))
    return np.asarray(norms / np.sqrt(np.maximum(counts, 1) * free))


def _determined(reduced: Reduced, base: Combinations, factor: Array, noise: Array) -> Array:
    """The number of values that each group of rows determines: the trace of its block of the hat matrix."""
    columns = reduced.factors[:, :, list(base.pivots)] @ factor / noise[:, None, None]
    return np.asarray(np.sum(columns**2, axis=(1, 2)))


def estimated(
    reduced: Reduced,
    structure: Combinations,
    names: tuple[str, ...],
    measured: Array,
    completion: Array,
    weighted: bool,
    *,
    shared: bool = True,
) -> LinearEstimate:
    """Ordinary or weighted least squares along what the samples excite; the rest stays at the completion.

    Args:
        reduced: the samples. ``structure``: what the structure of the robot lets anyone know.
        names: of the parameters (n_p).
        measured: rows of parameters with a measured value, (unit vector, value) / standard deviation (k × (n_p + 1)).
        completion: s that is preferred where the samples tell nothing (n_p).
        weighted: whether each torque has a noise of its own.
        shared: whether all rows alike lose degrees of freedom to the fit, or each group as many as it determines.
    """
    base = excited(reduced, structure, names, measured)
    scale = np.sqrt(np.mean(reduced.torques**2)) or 1.0  # of torques that are all 0
    least = _LEAST_NOISE * np.maximum(reduced.torques, _LEAST_NOISE * scale)
    noise = np.full(len(reduced.counts), scale)
    for _ in range(_ITERATIONS):
        values, factor, _ = _solve(reduced, base, measured, noise)
        determined = None if shared else _determined(reduced, base, factor, noise)
        before, noise = noise, np.maximum(_noise(reduced, base, values, weighted, determined), least)
        if np.all(np.abs(noise - before) <= _AGREE * before):
            break
    values, factor, condition = _solve(reduced, base, measured, noise)
    s = np.asarray(completion + base.inverse @ (values - base.matrix @ completion))
    return LinearEstimate(reduced, weighted, noise, base, factor, s, condition)


@dataclass(frozen=True, eq=False)
class Descent:
    """The end of Gauss and Newton's steps.

    Attributes:
        estimate: the estimate of the last linear problem.
        s: the unknowns (n_p).
        fall: the part of the sum of squares by which it still falls, 0 where the steps converged.
    """

    estimate: LinearEstimate
    s: Array
    fall: float

    @property
    def has_converged(self) -> bool:
        """True where the sum of squares does not fall any more."""
        return self.fall == 0


def descended(
    linearized: Callable[[Array], Reduced],
    norms: Callable[[Array], Array],
    structure: Callable[[Array], Combinations],
    names: tuple[str, ...],
    measured: Array,
    completion: Array,
    start: Array,
    *,
    weighted: bool = True,
    shared: bool = True,
    longest: Array | None = None,
    bounds: tuple[Array, Array] | None = None,
) -> Descent:
    """Least squares of rows that are not linear in s: a linear problem at each step, which is halved while it fails.

    If it fails however short it is, and after half of the steps, what the samples tell of it is taken alone: the way to
    the completion may be long and bent. The last step changes the residuals by little beside the noise, or the sum of
    squares has not fallen in some steps: along directions that are nearly free the residuals may change for long.

    Unknowns in which the rows are linear, once a few others are given, are eliminated in each of them: the step of the
    others is that of variable projection (Kaufman, "A variable projection method for solving separable nonlinear least
    squares problems", BIT 15, 1975). Where residuals remain, such steps converge slowly; near the end they are
    extrapolated (Walker and Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer. Anal. 49(4), 2011).

    Args:
        linearized: rows [J | r + J s] of the residuals r at s, as triangular factors. ``norms``: those of r (nv).
        structure: what of s anyone could know there. ``bounds``: its least and largest values (n_p).
        names, measured, completion, weighted, shared: as of :func:`estimated`. ``start``: s to begin with (n_p).
        longest: the longest step of each entry of s (n_p), inf where any is right: rows may say nothing far away.
    """
    s, reduced, falls, past = start, linearized(start), list[float](), list[tuple[Array, Array]]()
    for count in range(_STEPS):
        _tell(count, falls)
        space = structure(s)

        def solved(measured: Array, reduced: Reduced = reduced, space: Combinations = space) -> LinearEstimate:
            return estimated(reduced, space, names, measured, completion, weighted=weighted, shared=shared)

        estimate = solved(measured)
        bounded = _bounded(solved, estimate, measured, s, longest, bounds)
        whole, now = bounded.s - s, _cost(bounded, reduced.norms(s), measured, s)
        told = bounded.base.inverse @ (bounded.base.matrix @ whole)
        past.append((s, whole))
        near = [_extrapolated(past, reduced, bounded.noise)] if falls and falls[-1] < _NEAR else []
        # where the samples tell few of many directions, whole steps alone turn what they see: such steps were halved
        # until they failed, or crept until their number was up, while the residuals had converged
        steps = _steps(near, (told,) if 2 * count >= _STEPS else (whole, told), s, bounds)
        trials = ((step, _cost(bounded, norms(s + step), measured, s + step)) for step in steps)
        better = next((trial for trial in trials if trial[-1] <= now * (1 + _ROUNDING) + _ROUNDING), None)
        if better is None:
            promised = _part(now, _cost(bounded, reduced.norms(s + told), measured, s + told))
            return Descent(estimate, s, promised if promised > _FLAT else 0.0)
        step, then = better
        falls.append(_part(now, then))
        s, fall = s + step, sum(falls[-_LAST:])
        if _is_small(told, reduced, estimate.noise) or (count >= _LAST and fall <= _LEVEL):
            return Descent(estimate, s, 0.0)
        reduced = linearized(s)
    return Descent(estimate, s, fall if fall > _FLAT else 0.0)


def _tell(count: int, falls: Sequence[float]) -> None:
    fell = f", the sum of squares fell by {falls[-1]:.1e} of itself" if falls else ""
    current().show(f"step {count + 1}{fell}")


def _bounded(
    solved: Callable[[Array], LinearEstimate],
    estimate: LinearEstimate,
    measured: Array,
    s: Array,
    longest: Array | None,
    bounds: tuple[Array, Array] | None,
) -> LinearEstimate:
    """The estimate whose step from s is nowhere longer and stays in bounds: entries beyond are held there, and the
    others follow."""
    most = np.full(len(s), np.inf) if longest is None else longest
    lower, upper = (
        (s - most, s + most) if bounds is None else (np.maximum(s - most, bounds[0]), np.minimum(s + most, bounds[1]))
    )
    held, rows = np.zeros(len(s), dtype=bool), measured
    deviation = np.where(np.isfinite(most), _HELD * most, _AT_BOUND)
    while (far := ((estimate.s < lower) | (estimate.s > upper)) & ~held).any():
        held |= far
        at = np.flatnonzero(far)
        ends = np.clip(estimate.s, lower, upper)
        rows = np.vstack([rows, np.column_stack([np.eye(len(s))[at], ends[at]]) / deviation[at, None]])
        estimate = solved(rows)
    return estimate


def _cost(estimate: LinearEstimate, norms: Array, measured: Array, s: Array) -> float:
    """The sum of squares, of residuals by their noise and of measured parameters at s."""
    return float(np.sum((norms / estimate.noise) ** 2) + np.sum((measured @ np.append(s, -1.0)) ** 2))


def _is_small(step: Array, reduced: Reduced, noise: Array) -> bool:
    """True if a step changes the residuals by little beside the noise."""
    change = np.linalg.norm(reduced.factors[..., :-1] @ step, axis=1) / np.sqrt(np.maximum(reduced.counts, 1))
    return bool(np.all(change <= np.maximum(_CONVERGED * noise, _ROUNDING * reduced.torques)))


def _part(now: float, then: float) -> float:
    return (now - then) / now if now else 0.0


def _steps(
    first: Sequence[Array], directions: Sequence[Array], s: Array, bounds: tuple[Array, Array] | None
) -> Iterator[Array]:
    """Steps from s along directions: of the first ones the whole, of each other one the whole, half of it, a quarter, …

    Each stays in the bounds.
    """
    steps = itertools.chain(first, (whole / 2**k for whole in directions for k in range(_HALVINGS)))
    return steps if bounds is None else (np.clip(s + step, *bounds) - s for step in steps)


def _extrapolated(past: Sequence[tuple[Array, Array]], reduced: Reduced, noise: Array) -> Array:
    """The step that is none where the last points and their whole steps change linearly, as the residuals see them."""
    points, steps = (np.diff(np.array(history[-_LAST - 1 :]), axis=0).T for history in zip(*past, strict=True))
    rows = (reduced.factors[..., :-1] / noise[:, None, None]).reshape(-1, len(points))
    combination = np.linalg.lstsq(rows @ steps, rows @ past[-1][1], rcond=_ZERO)[0]
    return np.asarray(past[-1][1] - (points + steps) @ combination)


def excited(reduced: Reduced, structure: Combinations, names: tuple[str, ...], measured: Array) -> Combinations:
    """The combinations of the structure that the samples, and measured parameters, tell."""
    motion = reduced.factors[..., :-1].reshape(-1, len(names)) / np.sqrt(reduced.counts.max())
    return structure.excited(np.vstack([motion, np.sign(measured[:, :-1])]), names)


def in_p(base: Combinations, sizes: Array) -> Array:
    """The matrix C of base parameters as combinations of p, with the factor 1 for their own parameters."""
    return np.asarray(sizes[list(base.pivots), None] * base.matrix / sizes)


def base_estimate(
    estimate: LinearEstimate,
    names: tuple[str, ...],
    sizes: Array,
    nominal: Array,
    p: Array,
    effects: Array | None = None,
) -> BaseEstimate:
    """The base parameters that the data excite, of p and of the nominal one (n_p); ``effects`` as of :func:`named`."""
    matrix, pivots = in_p(estimate.base, sizes), list(estimate.base.pivots)
    formulas = tuple(named(row, k, names, effects) for row, k in zip(matrix, pivots, strict=True))
    factor = sizes[pivots, None] * estimate.factor
    return BaseEstimate(formulas, matrix, matrix @ nominal, matrix @ p, factor @ factor.T)


def not_identifiable(
    base: Combinations,
    structure: Combinations,
    names: tuple[str, ...],
    sizes: Array,
    effects: Array | None = None,
) -> NotIdentifiable:
    """The parameters that the data, or any data, cannot know; ``effects`` as of :func:`named`."""
    acts, parameters = structure.torques > 0, np.eye(len(names))
    matrix, pivots = in_p(structure, sizes), structure.pivots

    def chosen(which: npt.NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(names[k] for k in np.flatnonzero(which))

    return NotIdentifiable(
        parameters=chosen(~base.spans(parameters)),
        without_effect=chosen(~acts),
        combined=chosen(acts & ~structure.spans(parameters)),
        not_excited=tuple(
            named(matrix[i], pivots[i], names, effects) for i in np.flatnonzero(~base.spans(structure.matrix))
        ),
        directions=structure.beyond(base).T * sizes,
    )

"""The search for the coefficients of an exciting motion, by IPOPT, and the check of what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, GdalembertError
from gdalembert.identification.experiment import Experiment, Limit
from gdalembert.identification.fourier import Excitation
from gdalembert.model.limits import NEGLIGIBLE
from gdalembert.spatial.arrays import Array, frozen, independent_columns, unit_columns
from gdalembert.spatial.interrupts import Interrupts

CRITERIA = ("determinant", "condition")
_FINER = 8
"""The limits are checked at so many times the instants of the search."""
_ROUNDS = 4
"""The search goes on so many times with limits that are tightened where they do not hold between the instants."""
_MORE = 1.1
"""They are tightened by so many times the excess."""
_DEPENDENT = 1e-8
"""A column of W (of unit length) whose part that is orthogonal to the others is shorter depends on them."""
_ROUNDING = 1e-12
"""A column that is shorter than this part of the longest one is zero but for rounding."""
_TYPICAL = 8
"""Number of random motions that give the size of each column of W."""
_OPTIONS: Mapping[str, Any] = {
    "print_time": False,
    "error_on_fail": False,
    "show_eval_warnings": False,  # where W loses rank on a line search, IPOPT makes a shorter step
    "ipopt.print_level": 0,
    "ipopt.sb": "yes",
    "ipopt.hessian_approximation": "limited-memory",
    "ipopt.max_iter": 150,
    "ipopt.tol": 1e-3,  # the digits of a condition number after the third are of no use
    "ipopt.constr_viol_tol": 1e-6,
    "ipopt.acceptable_tol": 1e-2,
    "ipopt.acceptable_obj_change_tol": 1e-4,
    "ipopt.acceptable_iter": 5,
}


def criterion(name: str, size: int) -> ca.Function:
    """(information) → (cost), of an information matrix A = Wᵀ W (size × size).

    ``"determinant"``: −½ log det A / size, the mean logarithm of the semi-axes of the confidence ellipsoid.
    ``"condition"``: ½ log(tr A tr A⁻¹), the logarithm of the condition number of W in Frobenius' norm. It is smooth, at
    least the condition number in the spectral norm, and at most its ``size``-fold.
    """
    information = ca.SX.sym("information", size, size)
    factor = ca.chol(information)  # A = Rᵀ R
    if name == "determinant":
        cost = -ca.sum1(ca.log(ca.diag(factor))) / size
    else:
        inverse = ca.solve(factor.T, ca.SX.eye(size))
        cost = ca.log(ca.trace(information) * ca.sumsqr(inverse)) / 2
    return ca.Function("criterion", [information], [cost], ["information"], ["cost"])


def condition_number(w: Array) -> float:
    """Condition number of W, with columns of unit length: within √n of the smallest that any scaling of them reaches.

    (van der Sluis, "Condition numbers and equilibration of matrices", Numerische Mathematik 14, 1969.)
    """
    values = np.linalg.svd(w / np.linalg.norm(w, axis=0), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


class ExcitationError(GdalembertError, RuntimeError):
    """No motion within all limits was found."""


class Search:
    """Minimises a criterion of W over the coefficients of the series.

    Args:
        experiment: the motion, its limits and its regressor.
        name: of the criterion.
        rng: for the motions that the search starts from.
        options: of the solver.
    """

    def __init__(self, experiment: Experiment, name: str, rng: np.random.Generator, options: Mapping[str, Any]) -> None:
        self.experiment, self._name, self._rng = experiment, name, rng
        self._options = {**_OPTIONS, **options}
        typical = [self.w(experiment.random(rng)) for _ in range(_TYPICAL)]
        every = np.vstack(typical)
        if not np.isfinite(every).all():
            raise ArgumentError("excitation: the regressor is not finite on random motions; move fewer joints")
        self.columns = sorted(independent_columns(unit_columns(every, _ROUNDING), _DEPENDENT)[0])
        if not self.columns:
            raise ArgumentError("excitation: no parameter changes the measured efforts; move other joints")
        self._size = np.linalg.norm(every[:, self.columns], axis=0) / np.sqrt(len(typical))

    def w(self, x: Array) -> Array:
        """W of the motion with unknowns x, all columns."""
        return np.asarray(self.experiment.rows_of_w(self.experiment.coefficients(x)).full().T)

    def condition_number(self, x: Array) -> float:
        """Condition number of the columns of W that do not depend on each other."""
        return condition_number(self.w(x)[:, self.columns])

    @cached_property
    def _problem(self) -> tuple[ca.Function, Array, Array]:
        """The solver, and the bounds of each row of its constraints."""
        experiment = self.experiment
        x = ca.MX.sym("x", experiment.basis.shape[1], len(experiment.columns))
        coefficients = experiment.coefficients(x)
        motion = experiment.motion(coefficients, experiment.times())
        scaled = [limit.scaled(experiment.at_instants) for limit in experiment.limits(*motion)]
        scaled += [limit.scaled() for limit in experiment.path_limits(*motion)]
        w = experiment.rows_of_w(coefficients, self.columns) / self._size
        constraints = ca.vertcat(*(rows for rows, _, _ in scaled))
        cost = criterion(self._name, len(self.columns))(ca.mtimes(w, w.T))
        problem = {"x": ca.vec(x), "f": cost, "g": ca.vec(constraints)}
        try:
            solver = ca.nlpsol("excitation", "ipopt", problem, dict(self._options))
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[-1]
            raise ArgumentError(f"excitation: CasADi refuses the options: {reason}") from None
        return solver, np.concatenate([low for _, low, _ in scaled]), np.concatenate([up for _, _, up in scaled])

    def best(self, starts: int) -> Excitation:
        """The best motion within all limits that random starts lead to.

        Raises:
            ExcitationError: if there is none.
        """
        found = [self._run() for _ in range(starts)]
        valid = [motion for motion in found if not motion.excess]
        if not valid:
            motion = min(found, key=lambda each: sum(each.excess.values()))
            name, over = max(motion.excess.items(), key=lambda item: item[1])
            raise ExcitationError(
                f"excitation: no motion of {motion.model} within all limits was found in {starts} starts; the best "
                f"({motion.status}) exceeds {name} by {over:.3g}; give a longer period, other paths, more starts or "
                "more iterations"
            )
        return min(valid, key=lambda each: each.cost)

    def _run(self) -> Excitation:
        """The motion that one random start leads to.

        Where a limit is exceeded between the instants, it is tightened by as much, and the search goes on.
        """
        solver, lower, upper = self._problem
        first = x = self.experiment.random(self._rng)
        for _ in range(_ROUNDS):
            limits = {"lbg": np.tile(lower, self.experiment.instants), "ubg": np.tile(upper, self.experiment.instants)}
            with Interrupts(__name__) as interrupts, interrupts.around_solver():
                solved = solver(x0=x.ravel(order="F"), **limits)
            x = solved["x"].full().reshape(first.shape, order="F")
            below, above = self._overshoot(x)
            if max(below.max(initial=0), above.max(initial=0)) <= NEGLIGIBLE:
                break
            lower, upper = lower + _MORE * below, upper - _MORE * above
            if np.any(lower > upper):
                break
        return self._result(first, x, solver.stats()["return_status"], float(solved["f"]))

    def _limits(self, x: Array) -> list[tuple[Limit, float]]:
        """All limits of a motion at finer instants, in numbers, and the part of each that may be used."""
        experiment = self.experiment
        motion = experiment.motion(experiment.coefficients(x), experiment.times(_FINER))
        limits = [(limit, 1 - experiment.margin) for limit in experiment.limits(*motion)]
        limits += [(limit, 1.0) for limit in experiment.path_limits(*(ca.MX(part) for part in motion))]
        return [(limit._replace(rows=ca.evalf(ca.MX(limit.rows)).full()), part) for limit, part in limits]

    def _overshoot(self, x: Array) -> tuple[Array, Array]:
        """Overshoot: by how much each row of the constraints is below its lower limit and above its upper one."""
        below, above = [], []
        for limit, part in self._limits(x):
            rows, lower, upper = limit.scaled(part)
            below.append(np.maximum(lower - rows.min(axis=1), 0.0))
            above.append(np.maximum(rows.max(axis=1) - upper, 0.0))
        return np.concatenate(below), np.concatenate(above)

    def _result(self, first: Array, x: Array, status: str, cost: float) -> Excitation:
        experiment, tree = self.experiment, self.experiment.dyn.tree
        used, excess = self._check(x)
        return Excitation(
            model=tree.name,
            joints=tuple(experiment.bounds.v_names[column] for column in experiment.columns),
            period=experiment.period,
            coefficients=frozen(experiment.coefficients(x).full()),
            hold=frozen(experiment.hold),
            q_indices=experiment.entries,
            v_indices=experiment.columns,
            nv=tree.nv,
            parameters=tuple(experiment.parameter_names[column] for column in self.columns),
            condition_number=self.condition_number(x),
            first_condition_number=self.condition_number(first),
            limits=used,
            excess=excess,
            cost=cost,
            status=status,
        )

    def _check(self, x: Array) -> tuple[dict[str, float], dict[str, float]]:
        """Limits by name: the part of each limit that is used, and by how much any is exceeded."""
        used: dict[str, float] = {}
        excess: dict[str, float] = {}
        for limit, part in self._limits(x):
            rows, lower, upper = limit.scaled(part)
            over = np.maximum(lower - rows.min(axis=1), rows.max(axis=1) - upper)
            for k, i in enumerate(limit.bounded):
                name, half = limit.names[i], limit.range[1][i]
                if over[k] > NEGLIGIBLE:
                    excess[name] = max(float(over[k] * half), excess.get(name, 0.0))
                if limit.two_sided[i]:
                    used[name] = max(float(np.abs(rows[k]).max()), used.get(name, 0.0))
        return used, excess

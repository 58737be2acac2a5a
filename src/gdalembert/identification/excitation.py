"""Exciting motions: finite Fourier series that determine parameters well, within the limits of a robot.

The coefficients of the series (:mod:`gdalembert.identification.fourier`) maximise the determinant of the information
matrix Wᵀ W, where W are the rows of the regressor along the motion (Swevers, Ganseman, Tükel, De Schutter and Van
Brussel, "Optimal robot excitation and identification", IEEE Transactions on Robotics and Automation 13(5), 1997), or
minimise the condition number of W (Swevers, Ganseman, De Schutter and Van Brussel, "Generation of periodic trajectories
for optimal robot excitation", Journal of Manufacturing Science and Engineering 119, 1997), subject to limits of
position, velocity, acceleration and effort at N equidistant instants. Ours: the smooth condition number, the scaling of
columns, and the check between the instants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import cos, pi
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.constrained.constrained_dynamics import check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    ExcitationError,
    UnknownNameError,
    UnsupportedError,
    reason_of,
    shown,
)
from gdalembert.identification.experiment import Known
from gdalembert.identification.fourier import INSTANTS, Excitation, Limit, Path, Plan
from gdalembert.identification.unknowns import known_values
from gdalembert.model.configuration import checked_configuration, neutral
from gdalembert.model.limits import NEGLIGIBLE, Bounds
from gdalembert.model.tree import Joint
from gdalembert.spatial.arguments import SEEDS, choice, flag, integer, listed, number, vector
from gdalembert.spatial.arrays import Array, frozen, independent_columns, unit_columns
from gdalembert.spatial.interrupts import Interrupts, interruptible
from gdalembert.spatial.progress import current
from gdalembert.spatial.progress import progress as show_progress

_MOST_MARGIN = 0.9
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
    # the exact one would differentiate the regressor twice, at each instant
    "ipopt.hessian_approximation": "limited-memory",
    "ipopt.max_iter": 150,
    "ipopt.tol": 1e-3,  # the digits of a condition number after the third are of no use
    "ipopt.constr_viol_tol": 1e-6,
    "ipopt.acceptable_tol": 1e-2,
    "ipopt.acceptable_obj_change_tol": 1e-4,
    "ipopt.acceptable_iter": 5,
}


@interruptible
def excitation(
    dyn: Dynamics,
    bounds: Bounds | pin.Model,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    joints: Sequence[str] | None = None,
    hold: npt.ArrayLike | None = None,
    acceleration: float | Mapping[str, float] | None = None,
    paths: Sequence[Path] = (),
    at_rest: bool = True,
    criterion: str = "determinant",
    noise: npt.ArrayLike | None = None,
    runs: Sequence[Known] = ({},),
    gains: bool = False,
    margin: float = 0.05,
    starts: int = 3,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> Excitation:
    """A periodic motion that determines the parameters of a robot well, within its limits.

    Args:
        dyn: the robot, at its nominal parameters. What is to be determined are its ``parameters``; if it has none, its
            base parameters.
        bounds: limits of position, velocity and effort: :class:`~gdalembert.ocp.Bounds`, or the ``pin.Model``.
        period: duration of the motion before it repeats [s]; 1 / period is the lowest frequency.
        harmonics: number of harmonics K; K / period is the highest frequency of q.
        joints: names of the joints that move, by default all; v must be dq/dt of them, they must be actuated, and have
            finite limits of velocity and, if they translate, of position.
        hold: the configuration (nq) of the joints that do not move, by default the neutral one.
        acceleration: limits by the names of the entries of v, or one for all [rad/s², m/s²]; by default none.
        paths: further constraints (expression, lower, upper), as those of :meth:`gdalembert.ocp.Problem.path`: a
            ``casadi.Function`` or a callable with inputs named q, v, a, and its bounds.
        at_rest: whether v and a vanish at the start and after each period.
        criterion: ``"determinant"`` of Wᵀ W, which uses the limits and makes the estimates accurate; or
            ``"condition"``, the condition number of W, with columns in units of their root mean square over random
            motions.
        noise: standard deviations of the measured efforts (nu) [N m, N]; by default proportional to the effort limits
            if these are finite, else equal.
        runs: what is known of the parameters in each of the runs in which the motion is made, as of an
            :class:`~gdalembert.identification.Experiment`: ``[{"tool": pin.Inertia.Zero()}, {"tool.m": 2.0}]`` without
            and with a load.
        gains: whether drive gains are to be determined as well, from currents; a number of the robot must be known
            then, as that of the load.
        margin: part of each limit that is left free at all times, since the nominal parameters are not those of the
            robot, and a servo needs some.
        starts: number of random motions to start from; the best result is returned. ``seed``: that of their generator.
        options: options of the ``casadi.nlpsol`` with IPOPT, as ``{"ipopt.max_iter": 500}``; they override ours.
        progress: show the progress on stderr.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used; the message names it.
        UnsupportedError: if a joint cannot follow a series, or the robot is flexible.
        ExcitationError: if no motion within all limits was found.
    """
    choice("excitation: criterion", criterion, CRITERIA)
    starts = integer("excitation: starts", starts, 1)
    rng = np.random.default_rng(integer("excitation: seed", seed, 0, SEEDS))
    if not isinstance(options, Mapping | None):
        raise ArgumentTypeError(f"excitation: options={shown(options)}; give {{name: value}}")
    margin = number("excitation: margin", margin, inclusive=True)
    if margin > _MOST_MARGIN:
        raise ArgumentError(f"excitation: margin is {margin:g}; give a part from 0 to {_MOST_MARGIN}")
    harmonics = integer("excitation: harmonics", harmonics, 2 if flag("excitation: at_rest", at_rest) else 1)
    if not isinstance(paths, Sequence) or any(not isinstance(path, tuple) or len(path) != 3 for path in paths):
        raise ArgumentTypeError("excitation: paths: give a list of (expression, lower, upper)")
    check_driven_by_u("excitation", dyn)
    _check_robot(dyn)
    limits = _bounds(dyn, bounds)
    columns = _moving(dyn, limits, joints)
    efforts = tuple(i for i, name in enumerate(limits.u_names) if name not in limits.passive)
    plan = Plan(
        dyn=dyn,
        bounds=limits,
        columns=columns,
        hold=frozen(checked_configuration("excitation: hold", neutral(dyn.tree) if hold is None else hold, dyn.tree)),
        acceleration=_acceleration(dyn, columns, acceleration),
        paths=tuple(paths),
        period=number("excitation: period", period, "s"),
        harmonics=harmonics,
        at_rest=bool(at_rest),
        efforts=efforts,
        noise=_noise(limits, efforts, noise),
        margin=margin,
        known=_known(dyn, runs),
        with_gains=flag("excitation: gains", gains),
    )
    with show_progress(f"{dyn.tree.name}: excitation", shown=flag("excitation: progress", progress)) as line:
        line.show("regressor")
        return Search(plan, criterion, rng, options or {}).best(starts)


def _known(dyn: Dynamics, runs: Any) -> tuple[Mapping[str, float], ...]:
    """Known parameters of each run."""
    if not isinstance(runs, list | tuple) or not runs or not all(isinstance(run, Mapping) for run in runs):
        raise ArgumentTypeError(f"excitation: runs={shown(runs)}; give a list of {{name: value}}, one of each run")
    return tuple(known_values("excitation", run, tuple(dyn.parameters.names)) for run in runs)


def _bounds(dyn: Dynamics, limits: Bounds | pin.Model) -> Bounds:
    """The bounds of the robot, given or those of its model."""
    if not isinstance(limits, Bounds | pin.Model):
        raise ArgumentTypeError(
            f"excitation: bounds is a {type(limits).__name__}; give Bounds.of(dyn, model), or the pin.Model"
        )
    bounds = limits if isinstance(limits, Bounds) else Bounds.of(dyn, limits)
    if bounds.v_names != dyn.coordinate_names:
        raise ArgumentError(
            f"excitation: the bounds are those of {', '.join(bounds.v_names)} and the robot has "
            f"{', '.join(dyn.coordinate_names)}; give Bounds.of(dyn, model)"
        )
    return bounds


def _check_robot(dyn: Dynamics) -> None:
    """Refuse robots whose motion cannot be prescribed, or whose actuators cannot be told from it."""
    inputs = dyn.inverse_dynamics.name_in()
    if inputs != ["q", "v", "a", "p"][: len(inputs)]:
        raise UnsupportedError(
            f"excitation: tau of {dyn.tree.name} is a function of {', '.join(inputs)}; give one of q, v, a and p alone"
        )
    if dyn.actuation.shape != (dyn.tree.nv, dyn.tree.nv) or np.linalg.matrix_rank(dyn.actuation) < dyn.tree.nv:
        raise UnsupportedError(
            f"excitation: {dyn.tree.name} has {dyn.nu} actuators for {dyn.tree.nv} velocities, and what nothing drives "
            "follows no series; give a robot whose B can be inverted"
        )


def _moving(dyn: Dynamics, bounds: Bounds, joints: Sequence[str] | None) -> tuple[int, ...]:
    """The entries of v of the joints that move; each of them can."""
    known = {joint.name: joint for joint in dyn.tree.independent_joints}
    names = list(known) if joints is None else listed(joints)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"excitation: joints={shown(joints)}; give a list of names")
    for name in names:
        if name not in known:
            raise UnknownNameError("joint", name, known)
    moving = [known[name] for name in dict.fromkeys(names)]
    if not moving:
        raise ArgumentError("excitation: no joint moves; give at least one name in joints")
    for joint in moving:
        if not joint.type.velocity_is_rate or joint.type.has_quasi_velocities:
            raise UnsupportedError(
                f"excitation: joint {joint.name!r} is a {joint.type.kind}, whose v is not dq/dt; name in joints those "
                "that move, and it is held"
            )
        _check_limits(joint, bounds)
    return tuple(sorted(column for joint in moving for column in joint.columns))


def _check_limits(joint: Joint, bounds: Bounds) -> None:
    """Refuse a passive joint, and one without limits: the farther and faster that moves, the more it would tell."""
    for k, column in enumerate(joint.columns):
        name, entry = bounds.v_names[column], joint.idx_q + k
        if name in bounds.passive:
            raise UnsupportedError(
                f"excitation: joint {joint.name!r} is passive; name in joints those that move, and it is held"
            )
        ends = {"velocity": ("v", bounds.v_lower[column], bounds.v_upper[column])}
        if joint.type.can_translate:
            ends["position"] = ("q", bounds.q_lower[entry], bounds.q_upper[entry])
        for quantity, (key, lower, upper) in ends.items():
            if not np.isfinite([lower, upper]).all() or (key == "v" and not lower < 0 < upper):
                raise ArgumentError(
                    f"excitation: the {quantity} of {name!r} has the bounds ({lower:g}, {upper:g}); give finite ones"
                    f"{' around 0' if key == 'v' else ''}, as Bounds.of(…, {key}={{{name!r}: 1.0}})"
                )


def _acceleration(dyn: Dynamics, columns: tuple[int, ...], acceleration: float | Mapping[str, float] | None) -> Array:
    """A limit for each entry of v, infinite where there is none, or where it does not move."""
    names = [dyn.coordinate_names[column] for column in columns]
    if not isinstance(acceleration, Mapping | None):
        most = number("excitation: acceleration", acceleration, "rad/s² or m/s²")
        acceleration = dict.fromkeys(names, most)
    limits = np.full(dyn.tree.nv, np.inf)
    for name, most in (acceleration or {}).items():
        if name not in names:
            raise UnknownNameError("moving entry of v", name, names)
        limits[columns[names.index(name)]] = number(f"excitation: acceleration of {name!r}", most, "rad/s² or m/s²")
    return limits


def _noise(bounds: Bounds, efforts: tuple[int, ...], sigma: npt.ArrayLike | None) -> Array:
    """The standard deviation of each measured effort."""
    if sigma is None:
        largest = bounds.u_upper[list(efforts)]
        return largest if np.isfinite(largest).all() else np.ones(len(efforts))
    noise = vector("excitation: noise", sigma, len(bounds.u_names), names=bounds.u_names, repeat=True)[list(efforts)]
    if np.any(noise <= 0):
        name = bounds.u_names[efforts[int(noise.argmin())]]
        raise ArgumentError(f"excitation: noise of {name!r} is {noise.min():g}; give more than 0")
    return noise


def criterion(name: str, size: int) -> ca.Function:
    """The Function (information) → (cost) of an information matrix A = Wᵀ W (size × size).

    ``"determinant"``: −½ log det A / size, the mean logarithm of the semi-axes of the confidence ellipsoid.
    ``"condition"``: ½ log(tr A tr A⁻¹), the logarithm of the condition number of W in Frobenius' norm. It is smooth, at
    least the condition number in the spectral norm, and at most its ``size``-fold.
    """
    information = ca.SX.sym("information", size, size)
    # By Cholesky: ca.det expands by minors, 109,664 instructions for 8 × 8 where these are 240.
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


class Search:
    """Minimises a criterion of W over the coefficients of the series, from random motions."""

    def __init__(self, plan: Plan, name: str, rng: np.random.Generator, options: Mapping[str, Any]) -> None:
        self.plan, self._name, self._rng = plan, name, rng
        self._options = {**_OPTIONS, **options}
        # Several motions: in one alone a column may be small by chance, and its unit would make it large everywhere.
        typical = [self.w(plan.random(rng)) for _ in range(_TYPICAL)]
        every = np.vstack(typical)
        if not np.isfinite(every).all():
            raise ArgumentError("excitation: the regressor is not finite on random motions; move fewer joints")
        self.columns = sorted(independent_columns(unit_columns(every, _ROUNDING), _DEPENDENT)[0])
        if not self.columns:
            raise ArgumentError("excitation: no parameter changes the measured efforts; move other joints")
        told = [plan.names[column] for column in self.columns]
        if plan.with_gains and (lost := [name for name in plan.names if name.endswith(".gain") and name not in told]):
            raise ArgumentError(
                f"excitation: gains: {lost[0]!r} cannot be told: efforts and currents scale together while no number "
                "of the robot is known; give runs=[{'tool': pin.Inertia.Zero()}, {'tool.m': mass}] of a load"
            )
        self._size = np.linalg.norm(every[:, self.columns], axis=0) / np.sqrt(len(typical))

    def w(self, x: Array) -> Array:
        """The matrix W of the motion with unknowns x, with all its columns."""
        return np.asarray(self.plan.rows_of_w(self.plan.coefficients(x)).full().T)

    def condition_number(self, x: Array) -> float:
        """Condition number of the columns of W that do not depend on each other."""
        return condition_number(self.w(x)[:, self.columns])

    @cached_property
    def _problem(self) -> tuple[ca.Function, Array, Array]:
        """The solver, and the bounds of each row of its constraints."""
        plan = self.plan
        x = ca.MX.sym("x", plan.basis.shape[1], len(plan.columns))
        coefficients = plan.coefficients(x)
        motion = plan.motion(coefficients, plan.times())
        # A trigonometric polynomial of degree K is at most 1 / cos(π K / N) times its largest value at N equidistant
        # instants (Ehlich and Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Mathematische Zeitschrift 86,
        # 1964): with this part of the limits at these instants, q, v and a keep the margin at all times.
        part = (1 - plan.margin) * cos(pi / INSTANTS)
        scaled = [limit.scaled(most) for limit, most in plan.limits(*motion, part)]
        w = plan.rows_of_w(coefficients, self.columns) / self._size
        constraints = ca.vertcat(*(rows for rows, _, _ in scaled))
        cost = criterion(self._name, len(self.columns))(ca.mtimes(w, w.T))
        problem = {"x": ca.vec(x), "f": cost, "g": ca.vec(constraints)}
        try:
            solver = ca.nlpsol("excitation", "ipopt", problem, dict(self._options))
        except RuntimeError as error:
            reason = reason_of(error)
            raise ArgumentError(f"excitation: CasADi refuses the options: {reason}") from None
        return solver, np.concatenate([low for _, low, _ in scaled]), np.concatenate([up for _, _, up in scaled])

    def best(self, starts: int) -> Excitation:
        """The best motion within all limits that random starts lead to."""
        motions = [self._run(f"start {k} of {starts}") for k in range(1, starts + 1)]
        valid = [motion for motion in motions if not motion.excess]
        if not valid:
            motion = min(motions, key=lambda candidate: sum(candidate.excess.values()))
            name, over = max(motion.excess.items(), key=lambda item: item[1])
            raise ExcitationError(
                f"excitation: no motion of {motion.model} within all limits was found in {starts} starts; the best "
                f"({motion.status}) exceeds {name} by {over:.3g}; give a longer period, other paths, more starts or "
                "more iterations"
            )
        # Of those within the limits: the least cost of all is that of a motion that exceeds them.
        return min(valid, key=lambda candidate: candidate.cost)

    def _run(self, name: str) -> Excitation:
        """The motion that one random start of this name leads to.

        Where a limit is exceeded between the instants, it is tightened by as much, and the search goes on.
        """
        solver, lower, upper = self._problem
        first, instants = self.plan.random(self._rng), len(self.plan.times())
        x = first
        for count in range(1, _ROUNDS + 1):
            current().show(f"{name}, round {count}")
            limits = {"lbg": np.tile(lower, instants), "ubg": np.tile(upper, instants)}
            with Interrupts(__name__) as interrupts, interrupts.around_solver():
                solved = solver(x0=x.ravel(order="F"), **limits)
            x = solved["x"].full().reshape(first.shape, order="F")
            violations = self._violations(x)
            below, above = (np.concatenate([violation[k] for violation in violations]) for k in (2, 3))
            if max(below.max(initial=0), above.max(initial=0)) <= NEGLIGIBLE:
                break
            lower, upper = lower + _MORE * below, upper - _MORE * above
            if np.any(lower > upper):
                break
        plan, dyn = self.plan, self.plan.dyn
        used, excess = _summary(violations)
        return Excitation(
            model=dyn.tree.name,
            joints=tuple(plan.bounds.v_names[column] for column in plan.columns),
            period=plan.period,
            coefficients=frozen(plan.coefficients(x).full()),
            hold=frozen(plan.hold),
            q_indices=plan.entries,
            v_indices=plan.columns,
            nv=dyn.tree.nv,
            parameters=tuple(plan.names[column] for column in self.columns),
            condition_number=self.condition_number(x),
            first_condition_number=self.condition_number(first),
            limits=used,
            excess=excess,
            cost=float(solved["f"]),
            status=solver.stats()["return_status"],
        )

    def _violations(self, x: Array) -> list[tuple[Limit, Array, Array, Array]]:
        """The limits of a motion at finer instants, their rows, and by how much each is below and above its bounds."""
        plan = self.plan
        motion = plan.motion(plan.coefficients(x), plan.times(_FINER))
        violations = []
        for limit, part in plan.limits(*motion, 1 - plan.margin):
            numbers, lower, upper = limit._replace(rows=ca.evalf(ca.MX(limit.rows)).full()).scaled(part)
            below, above = lower - numbers.min(axis=1), numbers.max(axis=1) - upper
            violations.append((limit, numbers, np.maximum(below, 0.0), np.maximum(above, 0.0)))
        return violations


def _summary(violations: list[tuple[Limit, Array, Array, Array]]) -> tuple[dict[str, float], dict[str, float]]:
    """Limits by name: the part of each limit that is used, and by how much any is exceeded."""
    used: dict[str, float] = {}
    excess: dict[str, float] = {}
    for limit, rows, below, above in violations:
        half, two_sided = limit.range[1], limit.two_sided
        for k, i in enumerate(limit.bounded):
            name, over = limit.names[i], max(below[k], above[k])
            if over > NEGLIGIBLE:
                excess[name] = max(float(over * half[i]), excess.get(name, 0.0))
            if two_sided[i]:
                used[name] = max(float(np.abs(rows[k]).max()), used.get(name, 0.0))
    return used, excess

"""Ways to close the loop of model predictive control, at the same states in one process.

    python -m benchmarks.optimal_control.receding_horizon               40 ticks
    python -m benchmarks.optimal_control.receding_horizon --ticks 10

A UR5 carries its hand after a moving pose, past a sphere. At every tick each way solves the same problem: a solver
that is built once (``problem.solver()``), a ``casadi.Opti`` written by hand with parameters and warm starts, a new
problem for each tick, and, to count iterations, a cold start. Times are those of the processor. The page goes to
standard output and to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from importlib import metadata
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import load
from benchmarks.common.tables import RESULTS, markdown
from gdalembert import ocp
from gdalembert.spatial.arrays import Array

ROBOT, TIP = "ur5", "tool0"
HOME = np.array([0.0, -1.2, 1.6, -0.4, 1.57, 0.0])
TICK, INTERVALS, DEGREE = 0.05, 15, 2
RADIUS = 0.12
"""The hand stays so far from the centre of the sphere [m]."""
TOLERANCE = 1e-6
OURS, BY_HAND, NEW, COLD = "problem.solver()", "Opti by hand", "a new Problem each tick", "cold start"


class Plan(NamedTuple):
    """What a tick finds: iterations, the cost, u of each interval."""

    iterations: int
    cost: float
    u: Array


class Tick(NamedTuple):
    """What a way needs at a tick: seconds of the processor, and iterations."""

    seconds: float
    iterations: int


class Task:
    """The problem: its robot, and its cost and constraint at a stage.

    Args:
        model: of the robot.
    """

    def __init__(self, model: pin.Model) -> None:
        self.model, self.dyn = model, gd.NewtonEuler(model)
        self.bounds = ocp.Bounds.of(self.dyn, model)
        self.placement = gd.Kinematics(model).frame_placement(TIP)
        start = self.placement(HOME).full()
        self.begin, self.axis = start[:3, 3], start[:3, 2]
        self.centre = self.begin + np.array([0.0, 0.2, 0.1])

    def target(self, t: Array) -> Array:
        """Where the hand should be, and its axis: 6 × len(t)."""
        moved = self.begin[:, None] + np.array([0 * t, 0.2 * (1 - np.cos(1.5 * t)), 0.04 * np.sin(1.5 * t)])
        return np.vstack([moved, np.repeat(self.axis[:, None], len(t), axis=1)])

    def away(self, q: ca.MX, target: ca.MX) -> ca.MX:
        """The squared error of the pose."""
        place = self.placement(q)
        return 100 * ca.sumsqr(place[:3, 3] - target[:3]) + 10 * ca.sumsqr(place[:3, 2] - target[3:])

    def clear(self, q: ca.MX, centre: ca.MX) -> ca.MX:
        """The squared distance from the sphere's centre."""
        return ca.sumsqr(self.placement(q)[:3, 3] - centre)

    @staticmethod
    def calm(v: ca.MX, u: ca.MX) -> ca.MX:
        """The weights of velocities and efforts."""
        return 1e-2 * ca.sumsqr(v) + 1e-5 * ca.sumsqr(u)

    def problem(self) -> ocp.Problem:
        """By ``gd.ocp``, with the parameters target and centre."""
        made = ocp.Problem(self.dyn, TICK * INTERVALS, INTERVALS, bounds=self.bounds, degree=DEGREE)
        made.parameter("target", 6, at="grid")
        centre = made.parameter("centre", 3)
        made.path(lambda q: self.clear(q, centre), lower=RADIUS**2)
        calm = made.integral(lambda v, u: self.calm(v, u))
        made.minimize(made.integral(lambda q, target: self.away(q, target)) + calm)
        return made

    def rest(self) -> ocp.Guess:
        """The guess of a cold start."""
        return ocp.rest_to_rest(self.dyn, HOME, HOME, TICK * INTERVALS)


class ByHand:
    """The same problem in a ``casadi.Opti``: built once, with parameters, primal and dual warm starts, shifted."""

    def __init__(self, task: Task) -> None:
        n, nq, nv, nu = INTERVALS, task.dyn.nq, task.dyn.nv, task.dyn.nu
        self.opti = opti = ca.Opti()
        x, k, u = opti.variable(nq + nv, n + 1), opti.variable(nv, n * DEGREE), opti.variable(nu, n)
        self.x0, self.target, self.centre = opti.parameter(nq + nv), opti.parameter(6, n + 1), opti.parameter(3)
        step = ocp.collocation(task.dyn, degree=DEGREE).map(n)
        x_next, residual, q, v, _ = step(x[:, :-1], k, u, TICK)
        efforts = np.tile(task.model.effortLimit, DEGREE)
        one_q, one_v, one_u = ca.MX.sym("q", nq), ca.MX.sym("v", nv), ca.MX.sym("u", nu)
        aim, point = ca.MX.sym("target", 6), ca.MX.sym("centre", 3)
        clear = ca.Function("clear", [one_q, point], [task.clear(one_q, point)]).expand().map(n * DEGREE)
        clear_at_grid = ca.Function("clear", [one_q, point], [task.clear(one_q, point)]).expand().map(n)
        away = ca.Function("away", [one_q, aim], [task.away(one_q, aim)]).expand().map(n * DEGREE)
        calm = ca.Function("calm", [one_v, one_u], [task.calm(one_v, one_u)]).expand().map(n * DEGREE)
        points = ca.collocation_points(DEGREE, "legendre")
        weights = ca.DM(ca.collocation_coeff(points)[2])
        fractions = (np.arange(n)[:, None] + np.array(points)).ravel()
        spread = ca.DM(np.maximum(0, 1 - np.abs(fractions[None, :] - np.arange(n + 1)[:, None])))
        b = task.bounds
        by_interval = ca.reshape(residual, nv * DEGREE, n) / ca.repmat(efforts, 1, n)
        opti.subject_to(x[:, 0] == self.x0)
        constraints = [
            (by_interval == 0, n),
            (x[:, 1:] == x_next, n),
            (self._between(b.q_lower, x[:nq, 1:], b.q_upper), n),
            (self._between(b.v_lower, x[nq:, 1:], b.v_upper), n),
            (self._between(b.q_lower, q, b.q_upper), n * DEGREE),
            (self._between(b.v_lower, v, b.v_upper), n * DEGREE),
            (self._between(b.u_lower, u, b.u_upper), n),
            (clear(q, self.centre) >= RADIUS**2, n * DEGREE),
            (clear_at_grid(x[:nq, 1:], self.centre) >= RADIUS**2, n),
        ]
        self.rows, begin = [], x.shape[0]
        for constraint, columns in constraints:
            opti.subject_to(constraint)
            size = opti.ng - begin
            self.rows.append(begin + np.arange(size).reshape(columns, -1).T)
            begin += size
        errors = away(q, self.target @ spread) + calm(v, ca.kron(u, ca.DM.ones(1, DEGREE)))
        opti.minimize(TICK * ca.mtimes(errors, ca.repmat(weights, n, 1)))
        opti.set_linear_scale(u, ca.repmat(task.model.effortLimit, 1, n))
        self.variables = x, k, u
        opti.set_initial(x, ca.repmat(ca.vertcat(HOME, np.zeros(nv)), 1, n + 1))
        opti.set_initial(u, ca.repmat(task.dyn.nle(HOME, np.zeros(nv)), 1, n))
        self.warm = False

    def _between(self, lower: Array, x: ca.MX, upper: Array) -> ca.MX:
        return self.opti.bounded(ca.repmat(lower, 1, x.shape[1]), x, ca.repmat(upper, 1, x.shape[1]))

    def __call__(self, q: Array, v: Array, target: Array, centre: Array) -> Plan:
        """The plan from a measured state."""
        opti = self.opti
        for symbol, value in ((self.x0, np.concatenate([q, v])), (self.target, target), (self.centre, centre)):
            opti.set_value(symbol, value)
        if not self.warm:
            opti.solver("ipopt", COMMON)
        solution = opti.solve()
        for matrix, per_interval in zip(self.variables, (1, DEGREE, 1), strict=True):
            opti.set_initial(matrix, _shifted(solution.value(matrix), per_interval))
        multipliers = solution.value(opti.lam_g)
        for rows in self.rows:
            multipliers[rows] = _shifted(multipliers[rows], max(1, rows.shape[1] // INTERVALS))
        opti.set_initial(opti.lam_g, multipliers)
        if not self.warm:
            opti.solver("ipopt", COMMON | WARM)
            self.warm = True
        return Plan(solution.stats()["iter_count"], solution.value(opti.f), solution.value(self.variables[2]).T)


def _shifted(columns: Array, by: int) -> Array:
    return np.hstack([columns[:, by:], columns[:, -by:]])


COMMON = {
    "print_time": False,
    "detect_simple_bounds": True,
    "ipopt.print_level": 0,
    "ipopt.sb": "yes",
    "ipopt.tol": TOLERANCE,
}
WARM = {
    "ipopt.warm_start_init_point": "yes",
    "ipopt.mu_init": 1e-4,
    "ipopt.warm_start_bound_push": 1e-6,
    "ipopt.warm_start_slack_bound_push": 1e-6,
    "ipopt.warm_start_mult_bound_push": 1e-6,
}


def ways(task: Task) -> dict[str, Callable[[Array, Array, Array, int], Plan]]:
    """What makes a plan from (q, v, target, shift), by name."""
    options = {"ipopt.tol": TOLERANCE}

    def built() -> ocp.Solver:
        problem = task.problem()
        problem.start(problem.parameter("q0", task.dyn.nq), problem.parameter("v0", task.dyn.nv))
        problem.guess(task.rest())
        return problem.solver("ipopt", options)

    solver, from_rest, by_hand = built(), built(), ByHand(task)
    last = [task.rest()]

    def ours(q: Array, v: Array, target: Array, shift: int) -> Plan:
        found = solver(q0=q, v0=v, target=target, centre=task.centre, shift=shift)
        return Plan(found.iterations, found.cost, found.u)

    def hand(q: Array, v: Array, target: Array, shift: int) -> Plan:
        return by_hand(q, v, target, task.centre)

    def new(q: Array, v: Array, target: Array, shift: int) -> Plan:
        problem = task.problem()
        problem.start(q, v)
        problem.guess(last[0])
        found = problem.solve("ipopt", options, target=target, centre=task.centre)
        last[0] = found.guess()
        return Plan(found.iterations, found.cost, found.u)

    def cold(q: Array, v: Array, target: Array, shift: int) -> Plan:
        found = from_rest(q0=q, v0=v, target=target, centre=task.centre, guess=task.rest())
        return Plan(found.iterations, found.cost, found.u)

    return {OURS: ours, BY_HAND: hand, NEW: new, COLD: cold}


def measure(ticks: int) -> dict[str, list[Tick]]:
    """Each tick by each way, in turns; our plan moves a robot that carries 0.5 kg more than the plan knows.

    Ends with a sentence unless all find the same cost.
    """
    model = load(ROBOT)
    task, heavy = Task(model), model.copy()
    joint = model.frames[model.getFrameId(TIP)].parentJoint
    heavy.inertias[joint] += pin.Inertia(0.5, np.array([0.0, 0.0, 0.1]), 1e-3 * np.eye(3))
    robot, solvers = gd.NewtonEuler(heavy), ways(task)
    found: dict[str, list[Tick]] = {name: [] for name in solvers}
    q, v, order = HOME, np.zeros(model.nv), list(solvers)
    for tick in range(ticks):
        target, plans = task.target(TICK * (tick + np.arange(INTERVALS + 1))), {}
        for name in order:
            begin = time.process_time()
            plans[name] = solvers[name](q, v, target, min(tick, 1))
            found[name].append(Tick(time.process_time() - begin, plans[name].iterations))
        costs = [plan.cost for plan in plans.values()]
        if not np.allclose(costs, costs[0], rtol=1e-3, atol=1e-6):
            raise SystemExit(f"tick {tick}: the costs differ, {costs}, so the ways did not solve the same problem")
        motion = gd.simulate(robot, (q, v), [0, TICK], plans[OURS].u[0])
        q, v, order = motion.q[-1], motion.v[-1], [*order[1:], order[0]]
    return found


NOTES = """\
# A receding horizon, and ways to close its loop

A UR5 carries its hand after a moving pose, past a sphere of {radius} m: {ticks} ticks of {tick} s, each a plan of
{intervals} intervals with {degree} collocation points, solved by IPOPT to {tolerance:g}. All ways solve the same
problem at the same states in one process, in turns; the times are those of the processor:
`python -m benchmarks.optimal_control.receding_horizon`.

* *{ours}*: built once, warm-started primal and dual, shifted.
* *{hand}*: the same transcription in a `casadi.Opti` with parameters, simple bounds detected, expressions
  expanded, and a warm start of variables and multipliers that are shifted too.
* *{new}*: which begins at its last plan.
* *{cold}*: the solver that is built once, from rest.

A tick by *{ours}* takes **{against_hand:.2f}** of the time by hand and **{against_new:.2f}** of that with a new
problem; it needs **{against_cold:.2f}** of the iterations of a cold start. These are medians of the ratios of each tick
but the first.

{rows}

{machine}
"""


def report(found: dict[str, list[Tick]]) -> str:
    """The page: the ratios, then the medians of each way without the first tick."""

    def ratio(name: str, what: str) -> float:
        pairs = zip(found[OURS][1:], found[name][1:], strict=True)
        return float(np.median([getattr(a, what) / getattr(b, what) for a, b in pairs]))

    def row(name: str) -> tuple[str, ...]:
        later = found[name][1:]
        iterations = [tick.iterations for tick in later]
        seconds = [1e3 * tick.seconds for tick in later]
        return (
            name,
            f"{np.median(seconds):.0f}",
            f"{max(seconds):.0f}",
            f"{np.median(iterations):.0f}",
            str(max(iterations)),
        )

    heads = ["", "ms a tick (median)", "largest", "iterations (median)", "largest"]
    return NOTES.format(
        radius=RADIUS,
        ticks=len(found[OURS]),
        tick=TICK,
        intervals=INTERVALS,
        degree=DEGREE,
        tolerance=TOLERANCE,
        ours=OURS,
        hand=BY_HAND,
        new=NEW,
        cold=COLD,
        against_hand=ratio(BY_HAND, "seconds"),
        against_new=ratio(NEW, "seconds"),
        against_cold=ratio(COLD, "iterations"),
        rows="\n".join(markdown(heads, [row(name) for name in found])),
        machine=f"Measured with Python {platform.python_version()}, casadi {metadata.version('casadi')}, pin "
        f"{metadata.version('pin')}.",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=40, metavar="N", help="length of the loop")
    arguments = parser.parse_args()
    text = report(measure(arguments.ticks))
    print(text)
    (RESULTS / "receding_horizon.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

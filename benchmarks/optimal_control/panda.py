"""The cost of our graphs and of adam's in an optimal control problem: the Panda's fastest motion over a table.

    python -m benchmarks.optimal_control.panda               five solutions with each, alternately
    python -m benchmarks.optimal_control.panda --rounds 9

All sets of graphs are used in the same transcription and solved alternately in one process, by the same solver from
the same guess; ours also as machine code. The benchmark compares the time in the functions of the problem (CasADi's
``t_proc_nlp_*``) per iteration. The page goes to standard output and to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from collections.abc import Callable
from importlib import metadata
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common import peers
from benchmarks.common.robots import load
from benchmarks.common.tables import RESULTS, markdown
from gdalembert.compilation.machine_code import external

ROBOT, TIP = "panda7", "flange"
START = (-0.9, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8)
GOAL = (0.9, 0.45, 0.3, -1.2, -0.3, 1.8, 0.2)
"""[rad]; the arm is at rest in both."""
TABLE = 0.5
"""The lowest height of the flange [m]; without this constraint the fastest motion goes lower."""
INTERVALS, DEGREE = 30, 3
EFFORT = 1e-2
"""Weight of ∫ Σ (tau / limit)² dt against the time: makes the optimum unique."""
OURS, COMPILED, ADAM = "gdalembert", "gdalembert, compiled", "adam"


class Graphs(NamedTuple):
    """The Functions that the transcription needs: (q, v, a) → tau, and (q) → position of the flange [m]."""

    inverse_dynamics: ca.Function
    position: ca.Function


class Run(NamedTuple):
    """One solution: its iterations, the optimum, and the seconds in the functions of the problem and in total.

    ``parts`` are the seconds by function: objective, constraints, gradient, Jacobian, Hessian.
    """

    iterations: int
    objective: float
    duration: float
    functions: float
    total: float
    parts: dict[str, float]

    @property
    def per_iteration(self) -> float:
        """Seconds in the functions of the problem per iteration."""
        return self.functions / self.iterations


def ours(model: pin.Model) -> Graphs:
    """Newton–Euler and ``gd.Kinematics``."""
    q = ca.SX.sym("q", model.nq)
    position = gd.Kinematics(model).frame_placement(TIP)(q)[:3, 3]
    return Graphs(gd.NewtonEuler(model).inverse_dynamics, ca.Function("position", [q], [position]))


def compiled(model: pin.Model) -> Graphs:
    """The same as machine code, with their derivatives."""
    return Graphs(*(external(each, 2, "panda") for each in ours(model)))


def adam(model: pin.Model) -> Graphs:
    """adam's M a + h and its placement of the flange, after ``ca.cse``; both compared with Pinocchio's."""
    inputs, outputs = peers.adam_graphs(ROBOT, model)  # which says what to install
    from adam.casadi import KinDynComputations

    peers.compare(ROBOT, model, inputs, outputs)
    states = [inputs[name] for name in "qva"]
    robot = KinDynComputations(peers.with_origins(ROBOT), list(model.names)[1:])
    placement = robot.forward_kinematics(TIP, ca.SX.eye(4), inputs["q"])
    position = ca.Function("position", states[:1], ca.cse([placement[:3, 3]]))
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(GOAL))
    true = data.oMf[model.getFrameId(TIP)].translation
    if not np.allclose(position(GOAL).full().ravel(), true, rtol=0, atol=1e-9):
        raise SystemExit(f"{ROBOT}: adam does not place {TIP} where Pinocchio does")
    return Graphs(ca.Function("tau", states, ca.cse([outputs["inverse_dynamics"]])), position)


PACKAGES: dict[str, Callable[[pin.Model], Graphs]] = {OURS: ours, COMPILED: compiled, ADAM: adam}


def problem(model: pin.Model, graphs: Graphs, intervals: int = INTERVALS) -> ca.Opti:
    """Radau collocation with tau = ID(q, v, a) as a constraint at each point; no M⁻¹, free final time.

    q, v, a and tau are variables at all points; the last point of an interval is the first of the next.
    """
    n, count = model.nv, intervals * DEGREE
    opti = ca.Opti()
    duration = opti.variable()
    q, v = opti.variable(n, count + 1), opti.variable(n, count + 1)
    a, tau = opti.variable(n, count), opti.variable(n, count)
    slopes, _, weights = ca.collocation_coeff(ca.collocation_points(DEGREE, "radau"))
    h = duration / intervals
    for k in range(0, count, DEGREE):
        points, inner = slice(k, k + DEGREE + 1), slice(k + 1, k + DEGREE + 1)
        opti.subject_to(q[:, points] @ slopes == h * v[:, inner])
        opti.subject_to(v[:, points] @ slopes == h * a[:, k : k + DEGREE])
    opti.subject_to(graphs.inverse_dynamics.map(count)(q[:, 1:], v[:, 1:], a) == tau)
    opti.subject_to(graphs.position.map(count)(q[:, 1:])[2, :] >= TABLE)
    for variable, low, high in (
        (q[:, 1:], model.lowerPositionLimit, model.upperPositionLimit),
        (v[:, 1:], -model.velocityLimit, model.velocityLimit),
        (tau, -model.effortLimit, model.effortLimit),
    ):
        opti.subject_to(opti.bounded(ca.repmat(low, 1, count), variable, ca.repmat(high, 1, count)))
    for state, rest in ((q[:, 0], START), (q[:, -1], GOAL), (v[:, 0], [0] * n), (v[:, -1], [0] * n)):
        opti.subject_to(state == rest)
    opti.subject_to(opti.bounded(0.1, duration, 10))
    effort = ca.sum1((tau / ca.repmat(model.effortLimit, 1, count)) ** 2)
    opti.minimize(duration + EFFORT * h * effort @ ca.repmat(weights, intervals, 1))
    along = np.linspace(0, 1, count + 1)
    opti.set_initial(q, np.outer(START, 1 - along) + np.outer(GOAL, along))
    opti.set_initial(duration, 2.0)
    quiet = {"print_level": 0, "sb": "yes", "linear_solver": "mumps", "tol": 1e-8}
    opti.solver("ipopt", {"print_time": False, "record_time": True}, quiet)
    return opti


def solve(opti: ca.Opti) -> Run:
    """Solve from the guess of the problem; times are those of the processor, by CasADi."""
    solution = opti.solve()
    stats = opti.stats()
    parts = {name.removeprefix("t_proc_"): t for name, t in stats.items() if name.startswith("t_proc_nlp_")}
    return Run(
        iterations=stats["iter_count"],
        objective=solution.value(opti.f),
        duration=solution.value(opti.x[0]),
        functions=sum(parts.values()),
        total=stats["t_proc_total"],
        parts=parts,
    )


def measure(rounds: int, intervals: int = INTERVALS) -> tuple[dict[str, Graphs], dict[str, list[Run]]]:
    """The graphs and all solutions; in each round every package has its turn, and then the order is reversed.

    Ends with a sentence unless all solutions have the same optimum.
    """
    model = load(ROBOT)
    graphs = {name: graphs_of(model) for name, graphs_of in PACKAGES.items()}
    problems = {name: problem(model, each, intervals) for name, each in graphs.items()}
    found: dict[str, list[Run]] = {name: [] for name in problems}
    order = list(problems)
    for _ in range(rounds):
        for name in order:
            found[name].append(solve(problems[name]))
        order.reverse()
    every = [each for solutions in found.values() for each in solutions]
    if not np.allclose([each.objective for each in every], every[0].objective, rtol=1e-6, atol=0):
        raise SystemExit(f"{ROBOT}: the optima differ, so the two did not solve the same problem")
    return graphs, found


def ratio(found: dict[str, list[Run]], seconds: Callable[[Run], float], ours: str = OURS) -> float:
    """The median over the rounds of ours over adam's."""
    return statistics.median(seconds(a) / seconds(b) for a, b in zip(found[ours], found[ADAM], strict=True))


PARTS = {
    "constraints": "nlp_g",
    "their Jacobian": "nlp_jac_g",
    "Hessian of the Lagrangian": "nlp_hess_l",
    "objective": "nlp_f",
    "its gradient": "nlp_grad_f",
}

NOTES = """\
# An optimal control problem with our graphs and with adam's

The Panda's flange moves from one side to the other in the least time (with a small weight on the torques), from rest to
rest, within the limits of q, v and tau, and never below {table} m. The transcription is Radau collocation of degree
{degree} in {intervals} intervals, written in plain `casadi.Opti`; tau = ID(q, v, a) is a constraint at each of the
{count} points.

All sets of graphs are used in the same transcription and solved alternately in one process, {rounds} times each, by
IPOPT with MUMPS from the same guess: `python -m benchmarks.optimal_control.panda`.

* *gdalembert*: `gd.NewtonEuler(model).inverse_dynamics` and `gd.Kinematics`.
* *compiled*: the same and their derivatives as machine code, as `gd.ocp.Problem(…, compiled=True)` has them.
* *adam*: M a + h, because it has no inverse dynamics, and its forward kinematics, after `ca.cse`; both are compared
  with Pinocchio's.

Our time in the functions of the problem (CasADi's `t_proc_nlp_*`) per iteration is **{per_iteration:.2f}** of adam's,
compiled **{compiled_per_iteration:.3f}**; our time for the whole solution is **{total:.2f}** of adam's, compiled
**{compiled_total:.2f}**. These are medians of the ratios of each round.

{rows}

{machine}
"""


def report(graphs: dict[str, Graphs], found: dict[str, list[Run]], intervals: int = INTERVALS) -> str:
    """The page: the ratios, then the medians of each package."""

    def row(title: str, form: str, value: Callable[[Run], float]) -> tuple[str, ...]:
        ours, compiled, adam = (form.format(statistics.median(map(value, found[name]))) for name in PACKAGES)
        return title, ours, adam, f"{ratio(found, value):.2f}", compiled, f"{ratio(found, value, COMPILED):.3f}"

    def counts(title: str, function: Callable[[Graphs], ca.Function]) -> tuple[str, ...]:
        sizes = [function(graphs[name]).n_instructions() for name in (OURS, ADAM)]
        return title, *map(str, sizes), f"{sizes[0] / sizes[1]:.2f}", "", ""

    rows = [
        counts("instructions of tau", lambda g: g.inverse_dynamics),
        counts("instructions of the position", lambda g: g.position),
        row("iterations", "{:.0f}", lambda s: s.iterations),
        row("duration of the motion [s]", "{:.6f}", lambda s: s.duration),
        row("functions [ms per iteration]", "{:.3g}", lambda s: 1e3 * s.per_iteration),
        *(
            row(f"… {title}", "{:.3g}", lambda s, part=part: 1e3 * s.parts[part] / s.iterations)
            for title, part in PARTS.items()
        ),
        row("whole solution [s]", "{:.3g}", lambda s: s.total),
        row("… outside the functions [s]", "{:.3g}", lambda s: s.total - s.functions),
    ]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("casadi", "pin", "adam-robotics"))
    return NOTES.format(
        table=TABLE,
        degree=DEGREE,
        intervals=intervals,
        count=intervals * DEGREE,
        rounds=len(found[OURS]),
        per_iteration=ratio(found, lambda s: s.per_iteration),
        total=ratio(found, lambda s: s.total),
        compiled_per_iteration=ratio(found, lambda s: s.per_iteration, COMPILED),
        compiled_total=ratio(found, lambda s: s.total, COMPILED),
        rows="\n".join(markdown(["", OURS, ADAM, "ratio", "compiled", "ratio"], rows)),
        machine=f"Measured with Python {platform.python_version()}, {versions}.",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="solutions with each set of graphs")
    arguments = parser.parse_args()
    text = report(*measure(arguments.rounds))
    print(text)
    (RESULTS / "optimal_control.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

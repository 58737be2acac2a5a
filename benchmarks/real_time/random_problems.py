"""A thousand random problems of 8 arms and 2 quadrupeds by real-time iterations: each is solved, or tells.

    python -m benchmarks.real_time.random_problems
    python -m benchmarks.real_time.random_problems --problems 10 panda7 solo12

A problem has a random start, a quarter of them beyond limits of q, a quarter beyond those of v, a random target, which
a third of arms cannot reach, and random weights. Its first call is followed by ticks of 50 ms (20 ms) with kicks. The
stage of each robot is compiled once. The page goes to standard output and to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import re
import textwrap
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.robots import path
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.real_time.tasks import INTERVALS, OF_Q, OF_U, OF_V, Plant
from gdalembert import ocp
from gdalembert.nlp.program import InvalidStartError
from gdalembert.spatial.arrays import Array

ARMS: dict[str, str] = {
    "puma560": "puma560",
    "panda7": "panda7",
    "ur5": "ur5",
    "kinova": "kinova",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "so100": "so_arm_description/urdf/so100.urdf",
}
QUADRUPEDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "solo12": ("solo12", ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")),
}
ROBOTS = (*ARMS, *QUADRUPEDS)
PROBLEMS, TICKS = 100, 10


class Drawn(NamedTuple):
    """A random problem: a start, a guess, and parameters."""

    q: Array
    v: Array
    guess: Any
    values: Mapping[str, Any]


class Robot(ABC):
    """What random problems of a robot have in common; the base of arms and quadrupeds."""

    tick: float

    def __init__(self, model: pin.Model, con: gd.ConstrainedDynamics) -> None:
        self.model, self.con, self.dyn = model, con, con.dynamics
        torques = {name: 100.0 for name, most in zip(self._drives, self._most(model), strict=True) if most <= 0}
        self.bounds = ocp.Bounds.of(self.dyn, model, u=torques)
        self.plant = Plant(con.damped(20.0) if con.nc else con, 1e-3)
        self.solver = self._problem().solver("rti")

    @property
    def _drives(self) -> tuple[str, ...]:
        return self.dyn.actuator_names[-self.nu :]

    @property
    def nu(self) -> int:
        return self.model.nv - (6 if self.con.nc else 0)

    def _most(self, model: pin.Model) -> Array:
        return np.asarray(model.upperEffortLimit if hasattr(model, "upperEffortLimit") else model.effortLimit)[
            -self.nu :
        ]

    @abstractmethod
    def _problem(self) -> ocp.Problem:
        """By ``gd.ocp``, with the parameters of :meth:`drawn`."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> Drawn:
        """A random problem."""

    def _speeds(self, rng: np.random.Generator, scale: float) -> Array:
        most = np.where(self.bounds.v_upper < 50, self.bounds.v_upper, 2.0)
        far = 2.0 if rng.random() < 0.25 else 1.0
        return np.clip(scale * far * rng.normal(size=len(most)), -far, far) * most

    def kicked(self, q: Array, v: Array, rng: np.random.Generator) -> Array:
        return v + 0.1 * np.where(rng.random() < 0.3, 1.0, 0.0) * rng.normal(size=len(v))


class Arm(Robot):
    """An arm whose last frame goes to a point."""

    tick = 0.05

    def __init__(self, name: str) -> None:
        model = gd.load_urdf(_file(ARMS[name]), mimic=False, check="off")
        self.place = gd.Kinematics(model).frame_placement(model.nframes - 1)
        super().__init__(model, gd.ConstrainedDynamics(gd.NewtonEuler(model), []))

    def _problem(self) -> ocp.Problem:
        made = ocp.Problem(self.dyn, self.tick * INTERVALS, INTERVALS, bounds=self.bounds)
        made.start(made.parameter("q0", self.model.nq), made.parameter("v0", self.model.nv))
        target = made.parameter("target", 3)
        weights = made.parameter("weights", 3)
        of_u = 1 / ca.DM(self.bounds.u_upper)
        there = weights[0] * made.integral(lambda q: ca.sumsqr(self.place(q)[:3, 3] - target))
        calm = weights[1] * made.integral(lambda v: ca.sumsqr(v))
        made.minimize(there + calm + weights[2] * made.integral(lambda u: ca.sumsqr(of_u * u)))
        return made

    def drawn(self, rng: np.random.Generator) -> Drawn:
        model, lower, upper = self.model, *self._ends()
        q = pin.randomConfiguration(model, lower, upper)
        unit = pin.randomConfiguration(model, lower, upper)
        target = self.place(unit).full()[:3, 3] * (rng.uniform(1.5, 3) if rng.random() < 1 / 3 else 1)
        inside = q.copy()
        if rng.random() < 0.25:
            q = pin.integrate(model, q, rng.normal(size=model.nv) * 0.3)
        weights = 10 ** np.array([rng.uniform(1, 3), rng.uniform(-3, -1), rng.uniform(-3, 0)])
        guess = ocp.rest_to_rest(self.dyn, inside, inside, self.tick * INTERVALS)
        return Drawn(q, self._speeds(rng, 0.4), guess, {"target": target, "weights": weights})

    def _ends(self) -> tuple[Array, Array]:
        return tuple(np.clip(x, -3.0, 3.0) for x in (self.model.lowerPositionLimit, self.model.upperPositionLimit))


class Quadruped(Robot):
    """A quadruped on four feet whose base goes to a pose."""

    tick = 0.02

    def __init__(self, name: str) -> None:
        file, feet = QUADRUPEDS[name]
        model = gd.load_urdf(_file(file), root_joint=pin.JointModelFreeFlyer(), check="off")
        kin = gd.Kinematics(model)
        self.start = pin.neutral(model)
        for joint in range(2, model.njoints):
            if model.names[joint].endswith("FE"):
                hind = model.names[joint].startswith(("H", "LH", "RH"))
                size = 0.9 if model.names[joint].endswith("HFE") else -1.8
                self.start[model.joints[joint].idx_q] = -size if hind else size
        self.start[2] -= float(kin.frame_placement(feet[0])(self.start)[2, 3])
        self.difference = kin.difference
        con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact(foot, "3D") for foot in feet])
        super().__init__(model, con)

    def _problem(self) -> ocp.Problem:
        duration = self.tick * INTERVALS
        made = ocp.Problem(self.con, duration, INTERVALS, bounds=self.bounds)
        made.start(made.parameter("q0", 19), made.parameter("v0", 18))
        target, weights = made.parameter("target", 19), made.parameter("weights", 3)
        of_q, of_v = ca.DM(OF_Q), ca.DM(OF_V)
        there = weights[0] * made.integral(lambda q: ca.dot(of_q, self.difference(target, q) ** 2))
        calm = weights[1] * made.integral(lambda v: ca.dot(of_v, v**2))
        made.minimize(there + calm + weights[2] * made.integral(lambda u: ca.sumsqr(u)))
        made.friction(0.5)
        return made

    def drawn(self, rng: np.random.Generator) -> Drawn:
        moved = np.r_[0.05 * rng.normal(size=3), 0.1 * rng.normal(size=3), 0.1 * rng.normal(size=12)]
        q = pin.integrate(self.model, self.start, moved)
        v = np.r_[0.2 * rng.normal(size=3), 0.4 * rng.normal(size=3), 0.5 * rng.normal(size=12)]
        if rng.random() < 0.75:  # otherwise the feet slip
            v = self.con.impact(q, v)[0].full().ravel()
        target = pin.integrate(self.model, self.start, np.r_[0.1 * rng.normal(size=6), np.zeros(12)])
        weights = 10 ** np.array([rng.uniform(0, 2), rng.uniform(0, 2), rng.uniform(-1, 1)]) * [1, 1, OF_U]
        still = self.con.anchored(q)
        guess = ocp.rest_to_rest(still, q, q, self.tick * INTERVALS)
        return Drawn(q, v, guess, {"target": target, "weights": weights})

    def kicked(self, q: Array, v: Array, rng: np.random.Generator) -> Array:
        if rng.random() < 0.7:
            return v
        kick = np.r_[0.2 * rng.normal(size=3), 0.4 * rng.normal(size=3), np.zeros(12)]
        return self.con.impact(q, v + kick)[0].full().ravel()


def _file(name: str) -> Path:
    """The URDF of a robot of the benchmarks by its name, or of example-robot-data by its place there."""
    if "/" not in name:
        return path(name)
    shared = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return Path(str(shared)) / name


class Outcome(NamedTuple):
    """Of a problem: its name in the table, the largest part of a limit in u that is sent, what the last tick leaves of
    infeasibility and, relative to the penalty, of the gap, and the sentence that told."""

    kind: str
    used: float
    infeasibility: float
    gap: float
    told: str = ""


SOLVED, TOLD_FIRST, TOLD_LATER = "solved", "first call told", "a tick told"


def run(robot: Robot, problem: Drawn, rng: np.random.Generator) -> Outcome:
    """The first call and the ticks; ends with an error if a limit of u is exceeded, or a number is not finite."""
    solver, q, v = robot.solver, problem.q, problem.v
    solver.last, used, told, first = None, 0.0, "", False
    driven = robot.bounds.u_upper > 0
    for k in range(TICKS + 1):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", ocp.SolutionWarning)
            warnings.filterwarnings("ignore", ".*real-time iterations take limits and ends as soft")  # as starts are
            given = {"guess": problem.guess} if not k else {}
            try:
                plan = solver(q0=q, v0=v, shift=int(k > 0), **given, **problem.values)
            except (ocp.OptimizationError, InvalidStartError) as error:
                return Outcome(TOLD_FIRST, used, 1.0, np.inf, str(error).splitlines()[0])
        told = told or next((str(each.message) for each in seen if each.category is ocp.SolutionWarning), "")
        first = first or bool(told and not k)
        u, limit = plan.u[:, driven], robot.bounds.u_upper[driven]
        if not all(np.isfinite(x).all() for x in (plan.q, plan.v, u)) or np.any(np.abs(u) > limit):
            raise SystemExit(f"{robot.model.name}: a plan has inputs beyond limits, or numbers that are not finite")
        used = max(used, float(np.max(np.abs(plan.u[0, driven]) / limit)))
        q, v = robot.plant(q, v, plan.u[0], robot.tick)
        v = robot.kicked(q, v, rng)
        if not np.isfinite(np.r_[q, v]).all():
            return Outcome(TOLD_LATER, used, 1.0, np.inf, told or "the simulation diverged")
    kind = TOLD_FIRST if first else TOLD_LATER if told else SOLVED
    left = plan.stats
    return Outcome(kind, used, left["infeasibility"], left["gap"] / solver._steps.tick.weight, told)


def measure(name: str, problems: int) -> list[Outcome]:
    """Random problems of a robot."""
    robot = Arm(name) if name in ARMS else Quadruped(name)
    found = []
    for seed in range(problems):
        pin.seed(seed)
        rng = np.random.default_rng(seed)
        found.append(run(robot, robot.drawn(rng), rng))
    return found


NOTES = """\
# Random problems of real-time iterations

{problems} random problems of each of 8 arms and 2 quadrupeds: `python -m benchmarks.real_time.random_problems`. A start
(a quarter beyond limits of q, or slipping feet; a quarter faster), a target (of arms a third out of reach) and weights
are random; a first call is followed by {ticks} ticks with three iterations each and kicks. *solved*: the first call
settled, and each tick took its step; otherwise an error or a warning told so. No plan has an input beyond its limit, or
a number that is not finite. *infeasibility* is the part of the first violations that the interior point left at the
last tick, *gap* what it left relative to the penalty: median, and the largest.

{table}

What told:

{told}
"""


def _without_numbers(told: str) -> str:
    """A sentence without the name of the robot and with … for its numbers."""
    return re.sub(r"(?<![\w-])\d[\w.+-]*(?=%| of the plan| iterations| s of motion| m\b)", "…", told.partition(": ")[2])


def report(found: Mapping[str, list[Outcome]]) -> str:
    """The page."""
    head = ["", SOLVED, TOLD_FIRST, TOLD_LATER, "most u / limit", "infeasibility", "largest", "gap", "largest"]
    rows, sentences = [], Counter[str]()
    every = [each for own in found.values() for each in own]
    for name, own in {**found, "all": every}.items():
        kinds = Counter(each.kind for each in own)
        good = [each for each in own if each.kind == SOLVED]
        left = [np.array([getattr(each, key) for each in good] or [0.0]) for key in ("infeasibility", "gap")]
        cells = [f"{value:.0e}" for x in left for value in (np.median(x), x.max())]
        rows.append(
            [
                name,
                *(kinds[kind] for kind in (SOLVED, TOLD_FIRST, TOLD_LATER)),
                f"{max(each.used for each in own):.6g}",
                *cells,
            ]
        )
    sentences.update(_without_numbers(each.told) for each in every if each.told)
    lines = [f"* {count}: {text}" for text, count in sentences.most_common(10)] or ["* nothing"]
    told = "\n".join(textwrap.fill(line, 120, subsequent_indent="  ") for line in lines)
    problems = len(next(iter(found.values())))
    return NOTES.format(problems=problems, ticks=TICKS, table="\n".join(markdown(head, rows)), told=told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=ROBOTS, metavar="robot", help=f"of {', '.join(ROBOTS)}")
    parser.add_argument("--problems", type=int, default=PROBLEMS, metavar="N", help="of each robot")
    given = parser.parse_args()
    if other := next((name for name in given.robots if name not in ROBOTS), None):
        parser.error(f"no robot {other}; there are {', '.join(ROBOTS)}")
    text = report({name: measure(name, given.problems) for name in given.robots})
    print(text)
    if tuple(given.robots) == ROBOTS and given.problems == PROBLEMS:
        (RESULTS / "rti_random.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

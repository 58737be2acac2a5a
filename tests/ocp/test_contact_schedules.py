"""Contact schedules by solvers of nonlinear programs, beside real-time iterations, phases, and each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    OptimizationError,
    SolutionWarning,
    UnknownNameError,
    UnsupportedError,
)
from tests.helpers.models import relative_error
from tests.helpers.ocp import biped
from tests.helpers.sets import quick
from tests.ocp.test_quasi_static import arm

TIGHT = {"ipopt.tol": 1e-11}
N, H = 6, 0.03
HOP = ["stance", "flight", "flight", "flight", "stance", "stance"]


def hopper() -> pin.Model:
    """A body above a leg, whose foot is a point."""
    model = pin.Model()
    model.name = "hopper"
    for name, mass in (("body", 2.0), ("leg", 0.4)):
        inertia = pin.Inertia(mass, np.zeros(3), np.eye(3))
        joint = model.addJoint(model.njoints - 1, pin.JointModelPZ(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", joint, 0, pin.SE3(np.eye(3), np.array([0, 0, -0.5])), pin.FrameType.OP_FRAME))
    return model


HOPPER = gd.NewtonEuler(hopper(), actuation=[[0.0], [1.0]])
LIMITED = ocp.Bounds.of(HOPPER, u={"leg": 90.0})


def phase(
    stands: bool,
    n: int = N,
    *,
    degree: int = 1,
    anchored: bool = False,
    redundant: bool = False,
    weight: float = 1.0,
    **options: Any,
) -> ocp.Problem:
    """The body follows a height, with small torques."""
    anchor = np.zeros(3) if anchored else None
    if redundant:
        held = gd.ConstrainedDynamics(HOPPER, [gd.Contact("foot", "3D", anchor)], regularization=1e-6)
    else:
        held = gd.ConstrainedDynamics(HOPPER, [gd.Contact("foot", "3D", anchor, rows=("z",))])
    robot = held if stands else HOPPER
    bounds = options.pop("bounds", LIMITED)
    problem = ocp.Problem(robot, options.pop("duration", n * H), n, bounds=bounds, degree=degree, **options)
    problem.squares(lambda q: q[0] - 0.6, 100 * weight)
    problem.squares(lambda q: q[1])
    problem.squares(lambda v: v, 0.1)
    problem.squares(lambda u: u, 1e-3)
    return problem


def gait(**options: Any) -> ocp.ContactSchedule:
    """The start is a parameter; costs differ."""
    problems = {"stance": phase(True, **options), "flight": phase(False, weight=2.0, **options)}
    first = problems["stance"]
    first.start(first.parameter("q0", 2), first.parameter("v0", 2))
    for k, problem in enumerate(problems.values()):
        problem.squares(lambda v: v[0] - 1.0, 1.0 + k, at="end")
    return ocp.ContactSchedule(problems)


START = {"q0": [0.5, 0.0], "v0": [0.0, 0.0]}


def settled(solver: Any, **values: Any) -> ocp.PhasesSolution:
    """Real-time iterations whose cost changes no more."""
    plan = solver(**values)
    for _ in range(30):
        former, plan = plan.cost, solver(**values)
        if abs(plan.cost - former) < 1e-13 * abs(plan.cost):
            break
    return plan


def assert_alike(plan: ocp.PhasesSolution, other: ocp.PhasesSolution, tolerance: float = 1e-6) -> None:
    """The same phases, and impulses."""
    assert abs(plan.cost - other.cost) < tolerance * abs(other.cost)
    assert abs(sum(each.cost for each in plan.phases) - plan.cost) < 1e-12 * abs(plan.cost)
    for one, two in zip(plan.phases, other.phases, strict=True):
        assert abs(one.cost - two.cost) < tolerance * abs(other.cost)
        for name in ("t", "q", "v", "u"):
            assert relative_error(getattr(one, name), getattr(two, name)) < 10 * tolerance, name
    for hit, expected in zip(plan.impulses, other.impulses, strict=True):
        assert hit.shape == expected.shape
        assert np.abs(hit - expected).max(initial=0) < 100 * tolerance


@pytest.mark.system
def test_ipopt_and_settled_real_time_iterations_have_one_optimum() -> None:
    """Limits of u and v are active: v⁻ at the landing has none, as there."""
    bounds = ocp.Bounds.of(HOPPER, u={"leg": 60.0}, v={"leg": 1.0})
    hops = gait(bounds=bounds)
    plan = hops.solve(HOP, options=TIGHT, **START)
    assert [len(each.u) for each in plan.phases] == [1, 3, 2]
    assert [each.size for each in plan.impulses] == [0, 0, 1]
    assert np.abs(plan.u).max() > 60 - 1e-4
    assert np.abs(plan.phases[1].v[:-1, 1]).max() > 1 - 1e-4
    assert plan.constraint_violation < 1e-6
    assert_alike(plan, settled(hops.solver("rti", {"iterations": 60}), schedule=HOP, **START))


@pytest.mark.system
def test_real_time_iterations_solve_a_schedule() -> None:
    """One solver takes all schedules; it is built anew where numbers that fix ends change."""
    hops = gait()
    for schedule in (HOP, ["stance"] * N, HOP):
        assert_alike(hops.solve(schedule, "rti", {"iterations": 60}, **START), hops.solve(schedule, **START))
    built = hops._built
    assert built is not None
    raised = START | {"q0": [0.52, 0.0]}
    assert_alike(hops.solve(HOP, "rti", {"iterations": 60}, **raised), hops.solve(HOP, **raised))
    assert hops._built is built
    for problem in hops.problems.values():
        problem.end({"body": 0.5}, None)
    assert_alike(hops.solve(HOP, "rti", {"iterations": 60}, **START), hops.solve(HOP, **START))
    for problem in hops.problems.values():
        problem.end({"body": 0.51}, None)
    assert_alike(hops.solve(HOP, "rti", {"iterations": 60}, **START), hops.solve(HOP, **START))


def test_a_landing_is_an_impact() -> None:
    plan = gait().solve(HOP, options=TIGHT, **START)
    before, after = plan.phases[1:]
    assert isinstance(after.dyn, gd.ConstrainedDynamics)
    v, impulses = after.dyn.impact(before.q[-1], before.v[-1])
    assert np.abs(v.full().ravel() - after.v[0]).max() < 1e-10
    assert np.abs(impulses.full().ravel() - plan.impulses[2]).max() < 1e-10
    assert plan.impulses[2] > 0.01
    assert len(plan.simulate()) == 3
    assert "3 phases" in str(plan)


def test_costs_of_an_instant_are_those_of_the_interval_that_begins_there() -> None:
    """By Simpson's rule, as of ``degree=1``; behind an impact with v⁺."""
    plan = gait().solve(HOP, options=TIGHT, **START)

    def rate(q: np.ndarray, v: np.ndarray, weight: float) -> np.ndarray:
        return 100 * weight * (q[..., 0] - 0.6) ** 2 + q[..., 1] ** 2 + 0.1 * (v**2).sum(axis=-1)

    end = plan.phases[-1]
    cost = (end.v[-1, 0] - 1.0) ** 2 + H / 6 * rate(end.q[-1], end.v[-1], 1.0)
    for part, weight in zip(plan.phases, (1.0, 2.0, 1.0), strict=True):
        at_grid = rate(part.q[:-1], part.v[:-1], weight)
        cost += H / 3 * at_grid.sum() - (H / 6 * at_grid[0] if part is plan.phases[0] else 0.0)
        cost += 2 * H / 3 * rate(part.stages.q, part.stages.v, weight).sum() + H * 1e-3 * (part.u**2).sum()
    assert abs(cost - plan.cost) < 1e-12 * cost


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", quick([{}, {"anchored": True}, {"anchored": True, "redundant": True}], {"anchored": True})
)
@pytest.mark.parametrize("degree", quick([2, 3], 2))
def test_a_schedule_is_that_of_phases(degree: int, kind: dict[str, bool]) -> None:
    """With two stages and more, costs are those of phases, which see no instant of the grid."""
    hops = gait(degree=degree, **kind)
    plan = hops.solve(HOP, options=TIGHT, **START)
    alone = [
        phase(stands, n, degree=degree, weight=weight, **kind)
        for stands, n, weight in ((True, 1, 1.0), (False, 3, 2.0), (True, 2, 1.0))
    ]
    alone[0].start(START["q0"], START["v0"])
    alone[-1].squares(lambda v: v[0] - 1.0, at="end")
    by_hand = ocp.Phases(alone).solve(options=TIGHT)
    assert_alike(plan, by_hand, 1e-7)
    if kind:
        assert max(each.violations["contacts and loops"] for each in (plan.phases[0], plan.phases[2])) < 1e-9


@pytest.mark.long
def test_all_solvers_take_a_schedule() -> None:
    hops = gait()
    plan = hops.solve(HOP, options=TIGHT, **START)
    for name, options in (("fatrop", {"fatrop.tolerance": 1e-8}), ("sqpmethod", {})):
        assert_alike(hops.solve(HOP, name, options, **START), plan, 1e-7)


@pytest.mark.parametrize("degree", quick([1, 2], 1))
def test_a_schedule_of_one_problem_is_that_problem(degree: int) -> None:
    """Here all is as of ``Problem``: paths and rows of single instants, fixed ends, linear control, a free duration."""

    def say(problem: ocp.Problem) -> None:
        problem.start([0.5, 0.0])
        problem.end([0.52, -0.02])
        problem.at(2, lambda q: q[0], 0.515, np.inf)
        problem.path(lambda q, v: q[0] + 0.1 * v[0], -np.inf, 0.56)
        problem.minimize(20 * problem.duration)

    options: dict[str, Any] = {"degree": degree, "duration": (0.1, 0.4), "control": "linear"}
    alone, other = phase(True, **options), phase(True, **options)
    say(alone)
    say(other)
    plan = ocp.ContactSchedule({"air": phase(False, **options), "stance": other})
    with pytest.raises(ArgumentError, match="there is no motion to start from"):
        plan.solve(["stance"] * N)
    found = ocp.ContactSchedule({"stance": other}).solve(["stance"] * N, options=TIGHT)
    expected = alone.solve(options=TIGHT)
    assert abs(found.cost - expected.cost) < 1e-9 * expected.cost
    assert relative_error(found.phases[0].q, expected.q) < 1e-7
    assert relative_error(found.phases[0].stages.forces, expected.stages.forces) < 1e-6
    assert set(found.phases[0].violations) == set(expected.violations)


def flexible(n: int, *, touches: bool, quasi_static: float | None = None) -> ocp.Problem:
    """An arm whose links bend, free or with its tip on a line."""
    dyn = arm(100.0)
    robot = gd.ConstrainedDynamics(dyn, [gd.Contact("tip", rows=("x",))]) if touches else dyn
    problem = ocp.Problem(robot, n * 0.02, n, degree=2, quasi_static=quasi_static)
    problem.squares(lambda q: q[:2] - ca.DM([0.35, -1.5]), 100)
    problem.squares(lambda u: u, 1e-2)
    problem.squares(lambda v: v, 0.1)
    return problem


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")
def test_flexible_links_meet_a_contact_as_in_phases() -> None:
    """In natural modes, the same ones for both problems."""
    start = np.r_[0.3, -1.6, np.zeros(flexible(1, touches=False).dyn.tree.nq - 2)]
    whole, alone = (
        [flexible(n, touches=touches) for n, touches in sizes]
        for sizes in (((5, False), (5, True)), ((2, False), (3, True)))
    )
    for problem in (whole[0], alone[0]):
        problem.start(start)
    schedule = ["free"] * 2 + ["touching"] * 3
    gait = ocp.ContactSchedule(dict(zip(("free", "touching"), whole, strict=True)))
    plan = gait.solve(schedule, options=TIGHT)
    assert_alike(plan, ocp.Phases(alone).solve(options=TIGHT), 1e-7)
    assert abs(gait.solve(schedule, "fatrop", {"fatrop.tolerance": 1e-8}).cost - plan.cost) < 1e-7 * plan.cost


FEET = ("left", "right")


def trot(*, degree: int, mu: float) -> tuple[ocp.ContactSchedule, dict[str, Any]]:
    """A biped whose base moves so fast that feet would slip; it stands on both feet, on one, or on none."""
    model = biped()
    dyn, frames = gd.NewtonEuler(model), gd.Kinematics(model)
    legs = np.array([0.2, -0.4, 0.2, -0.4])
    standing = pin.integrate(model, pin.neutral(model), np.r_[np.zeros(6), legs])
    drives = dict.fromkeys(dyn.actuator_names[:6], (0.0, 0.0)) | dict.fromkeys(dyn.actuator_names[6:], 8.0)
    problems = {}
    for name, feet in (("both", FEET), ("left", FEET[:1]), ("right", FEET[1:]), ("none", ())):
        robot = gd.ConstrainedDynamics(dyn, [gd.Contact(foot, "3D") for foot in feet]) if feet else dyn
        problem = ocp.Problem(robot, 0.12, N, bounds=ocp.Bounds.of(dyn, u=drives), degree=degree)
        problem.start(problem.parameter("q0", model.nq), problem.parameter("v0", model.nv))
        problem.parameter("goal", 3, at="grid")
        problem.squares(lambda q, goal: q[:3] - goal, 50)
        problem.squares(lambda q: frames.difference(standing, q)[3:], 50)
        problem.squares(lambda v: v, 1e-2)
        problem.squares(lambda u: u, 1e-3)
        still = np.zeros((2, model.nv))
        problem.guess(ocp.Guess(np.array([0.0, 0.12]), np.tile(standing, (2, 1)), still, still, np.zeros((2, dyn.nu))))
        if feet:
            problem.friction(mu)
        problems[name] = problem
    goal = np.array([0.05, 0.0, 0.0])[:, None] + np.outer([0.02, 0.01, 0.0], np.arange(N + 1))
    return ocp.ContactSchedule(problems), {"q0": standing, "v0": np.zeros(model.nv), "goal": goal}


@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize(
    "schedule",
    [
        ["both", "left", "left", "none", "both", "both"],
        ["left", "left", "right", "right", "both", "left"],
        ["right", "right", "none", "left", "left", "left"],
    ],
)
def test_a_biped_trots_to_one_optimum(schedule: Sequence[str]) -> None:
    """Friction is active, whose barrier leaves parts of 1e-8; the first interval need not be of the first problem."""
    gait, values = trot(degree=1, mu=0.6)
    plan = gait.solve(schedule, options=TIGHT, **values)
    assert any(name.startswith("friction") for each in plan.phases for name in each.violations)
    assert_alike(plan, settled(gait.solver("rti", {"iterations": 100}), schedule=schedule, **values))
    assert abs(gait.solve(schedule, "fatrop", {"fatrop.tolerance": 1e-8}, **values).cost - plan.cost) < 1e-7 * plan.cost
    slipping = trot(degree=1, mu=10.0)[0].solve(schedule, options=TIGHT, **values)
    assert slipping.cost < 0.999 * plan.cost


@pytest.mark.long
@pytest.mark.parametrize("degree", [2, 3])
def test_a_biped_trots_by_more_stages(degree: int) -> None:
    gait, values = trot(degree=degree, mu=0.6)
    for schedule in (
        ["both", "left", "left", "none", "both", "both"],
        ["left", "left", "right", "right", "both", "left"],
    ):
        plan = gait.solve(schedule, options=TIGHT, **values)
        fatrop = gait.solve(schedule, "fatrop", {"fatrop.tolerance": 1e-8}, **values)
        assert abs(fatrop.cost - plan.cost) < 1e-7 * plan.cost
        for former, part, hit in zip(plan.phases, plan.phases[1:], plan.impulses[1:], strict=False):
            assert part.violations.get("contacts and loops", 0.0) < 1e-9
            if hit.size:
                v, impulses = part.dyn.impact(former.q[-1], former.v[-1])
                assert np.abs(v.full().ravel() - part.v[0]).max() < 1e-9
                assert np.abs(impulses.full().ravel() - hit).max() < 1e-9


# A horizon


@pytest.mark.long
def test_a_schedule_moves_with_the_horizon() -> None:
    hops = gait()
    solver = hops.solver("ipopt", TIGHT)
    schedule = [*HOP, "flight", "flight"]
    assert isinstance(solver, ocp.ScheduledSolver)
    first = solver(schedule=schedule[:N], **START)
    plan = solver(schedule=schedule[1 : N + 1], shift=1, q0=first.phases[0].q[1], v0=first.phases[0].v[1])
    assert [len(each.u) for each in plan.phases] == [3, 2, 1]
    values = {"q0": first.phases[0].q[1], "v0": first.phases[0].v[1]}
    assert_alike(plan, gait().solve(schedule[1 : N + 1], options=TIGHT, **values), 1e-9)
    assert solver.last is plan
    again = solver(q0=first.phases[0].q[1] + 1e-4)
    assert again.iterations < first.iterations
    back = solver(schedule=schedule[:N], **START)
    assert abs(back.cost - first.cost) < 1e-9 * first.cost
    assert len(solver._solvers) == 2


@pytest.mark.long
def test_a_schedule_that_was_seen_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    hops, built = gait(), []
    make = ca.nlpsol
    monkeypatch.setattr(ca, "nlpsol", lambda *given: built.append(given[0]) or make(*given))  # type: ignore[func-returns-value]
    hops.solve(HOP, **START)
    hops.solve(HOP[::-1], **START)
    assert len(built) == 2
    known = len(hops._known)
    hops.solve(HOP, **(START | {"q0": [0.51, -0.01]}))
    hops.solve(HOP[::-1], **START)
    assert len(built) == 2
    hops.solve(["stance"] * 2 + ["flight"] * 2 + ["stance"] * 2, **START)
    assert len(built) == 3
    assert len(hops._known) == known  # of derivatives nothing
    for k in range(9):
        hops._for((0,) * k + (1,) * (N - k))
    assert len(hops._scheduled) == 8


@pytest.mark.long
def test_no_solution_of_another_schedule_stands_for_one_that_is_not_found() -> None:
    hops = gait()
    first = hops.problems["stance"]
    first.at("end", lambda q: q[0], first.parameter("lowest"), np.inf)
    solver = hops.solver("ipopt")
    solver(schedule=HOP, lowest=0.0, **START)
    solver(schedule=["stance"] * N)
    with pytest.warns(SolutionWarning, match="the last plan stands for the solution"):
        assert not solver(lowest=5.0).solved
    with pytest.raises(OptimizationError):
        solver(schedule=HOP)
    assert [len(each.u) for each in solver(schedule=HOP, lowest=0.0).phases] == [1, 3, 2]


# What is refused


def test_what_is_no_schedule_is_refused() -> None:
    hops = gait()
    with pytest.raises(ArgumentError, match="solve: schedule: got 5 names; give one for each of 6 intervals"):
        hops.solve(HOP[1:], **START)
    with pytest.raises(UnknownNameError, match="no problem of the schedule named 'run'; known: 'stance', 'flight'"):
        hops.solve(["run"] * N, **START)
    with pytest.raises(ArgumentTypeError, match="solve: schedule: got 'stance'; give a list of 6 names"):
        hops.solve("stance", **START)
    with pytest.raises(ArgumentError, match="CasADi has no solver 'ipot'; give 'ipopt'"):
        hops.solver("ipot")
    with pytest.raises(ArgumentError, match="solver: no schedule; give schedule=…"):
        hops.solver("ipopt")(**START)
    with pytest.raises(UnknownNameError, match="no parameter of the problems named 'q1'"):
        hops.solve(HOP, q1=[0.0, 0.0], **START)
    with pytest.raises(ArgumentError, match="no value of the parameter 'v0'"):
        gait().solve(HOP, q0=START["q0"])


def test_problems_that_differ_are_refused() -> None:
    for what, options in (
        ("kinds of control", {"control": "linear"}),
        ("durations", {"duration": 1.0}),
        (r"bounds \(u_lower\)", {"bounds": ocp.Bounds.of(HOPPER, u={"leg": 1.0})}),
    ):
        with pytest.raises(ArgumentError, match=f"{what} of 'flight' differ from those of 'stance'; give the same"):
            ocp.ContactSchedule({"stance": phase(True), "flight": phase(False, **options)})


@pytest.mark.long
def test_rows_of_instants_of_several_problems_are_refused() -> None:
    hops = gait()
    hops.problems["stance"].subject_to(hops.problems["stance"].q[0, 0] == hops.problems["stance"].q[0, 5])
    hops.solve(["stance"] * N, **START)
    hops.solve(["flight"] * N, **START)
    hops.solve(["stance", *HOP[1:]], **START)
    with pytest.raises(UnsupportedError, match="'stance': subject_to 1 connects instants of which some are of other"):
        hops.solve([*HOP[:-1], "flight"], **START)


def test_fast_modes_that_follow_their_loads_are_refused_beside_contacts() -> None:
    slow, fast = (flexible(N, touches=True, quasi_static=each) for each in (None, 30.0))
    with pytest.raises(ArgumentError, match=r"modes that follow their loads \(quasi_static\) of 'b' differ from"):
        ocp.ContactSchedule({"a": slow, "b": fast})
    with pytest.raises(UnsupportedError, match=r"'a': contacts or loops hold where fast modes follow .*; give Problem"):
        ocp.ContactSchedule({"a": fast}).solve(["a"] * N)


def test_what_rebounds_is_refused() -> None:
    bounces = gd.ConstrainedDynamics(HOPPER, [gd.Contact("foot", "3D", rows=("z",))], restitution=0.5)
    problems = {
        "air": phase(False),
        "ground": ocp.Problem(bounces, N * H, N, bounds=LIMITED),
    }
    with pytest.raises(ArgumentError, match="hopper: its constraints have a restitution"):
        ocp.ContactSchedule(problems).solve(["air"] * 3 + ["ground"] * 3)


def test_each_problem_minimises_something() -> None:
    hops = ocp.ContactSchedule({"air": phase(False), "idle": ocp.Problem(HOPPER, N * H, N, bounds=LIMITED)})
    for name in ("ipopt", "rti"):
        with pytest.raises(ArgumentError, match="'idle' minimises nothing; call its squares or minimize"):
            hops.solver(name)
    with pytest.raises(ArgumentError, match="'idle' minimises nothing; call its squares or minimize"):
        hops.solve(["air"] * N)

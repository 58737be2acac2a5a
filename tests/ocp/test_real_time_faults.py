"""A thousand ticks with faults: none is lost, no plan is half of another, and each fault is one sentence."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import warnings
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, CompilationError, GdalembertError, UnknownNameError, UnsupportedError
from gdalembert.ocp.real_time.solver import RealTimeSolver
from tests.helpers.names import SPLICES
from tests.helpers.sets import quick
from tests.helpers.signals import Alarm, assert_stops, no_collector, ring, rings
from tests.ocp.test_real_time import ARM, DYN, PLACE, numbers, reaching

TICKS = 1000


def quietly(solver: RealTimeSolver, values: dict[str, Any], shift: int) -> ocp.Solution:
    """A plan; where it begins far away, of a start that three iterations may not meet."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "two_link_arm: .* are left after 3 iterations", ocp.SolutionWarning)
        return solver(**values, shift=shift)


@pytest.mark.system
@pytest.mark.long
def test_a_thousand_ticks_with_faults() -> None:
    rng, solver, values = np.random.default_rng(0), reaching().solver("rti"), numbers()
    plan = solver(**values)
    wrong = {
        "q0": ([np.nan, 0.4], "q0"),
        "v0": (["fast", 0.1], "v0"),
        "target": (np.zeros((2, 3)), "target has shape"),
        "weight": (np.inf, "weight"),
        "shift": (-1, "solver: shift"),
    }
    told = 0
    for tick in range(TICKS):
        fault, before = tick % 8, (plan.q.copy(), solver._q.copy())
        far = 0.7 if fault == 7 else 0.03
        given = values | {"q0": np.array([0.2, 0.4]) + rng.uniform(-far, far, 2), "v0": rng.uniform(-far, far, 2)}
        given["target"] = values["target"] * (rng.uniform(1.0, 3.0) if fault == 2 else 1.0)  # often out of reach
        if fault == 1:
            name = list(wrong)[tick // 8 % len(wrong)]
            with pytest.raises((ArgumentError, TypeError), match=wrong[name][1]) as error:
                solver(**given | {name: wrong[name][0]})
            assert "\n" not in str(error.value)
            assert np.array_equal(solver._q, before[1])
        elif fault == 3:
            with pytest.warns(ocp.SolutionWarning, match="the last plan stands for it|are left after") as warned:
                plan = solver(**given | {"v0": [10.0 ** rng.uniform(12, 300), 0.0]})
            assert len(warned) == 1
            assert not plan.solved
            assert plan.status in ("Invalid_Number_Detected", "Maximum_Iterations_Exceeded")
            told += 1
        elif fault == 5:
            plan = quietly(solver, given, int(rng.integers(0, 9)))  # ticks that were missed
        else:
            plan = quietly(solver, given, 1)
        assert np.isfinite(plan.q).all()
        assert np.isfinite(plan.u).all()
    assert told == TICKS // 8
    for _ in range(10):
        plan = solver(**values)
    q = reaching().solver("rti")(**values).q
    assert np.abs(plan.q - q).max() < 1e-4  # as if nothing had happened


FAR = [(10.0, 5), (-10.0, 10), (1e3, 10), (1e6, 3), (-1e6, 10), (1e9, 10), (1e300, 10)]
MOST, FASTEST, TICK = 40.0, 5.0, 0.05


@pytest.mark.system
@pytest.mark.parametrize("limited", [False, True], ids=["torques", "torques and velocities"])
def test_outlandish_targets_are_left_behind(limited: bool) -> None:
    """Targets that nothing reaches stand for some ticks, of which the last are beyond the horizon; then the loop is
    back within twenty ticks, at the targets that it can reach.
    """
    fastest = dict.fromkeys(ocp.Bounds.of(DYN).v_names, FASTEST if limited else np.inf)
    bounds = ocp.Bounds.of(DYN, u=dict.fromkeys(DYN.actuator_names, MOST), v=fastest)
    solver, near = reaching(bounds=bounds).solver("rti"), np.tile([[0.6], [0.3]], 9)
    x_0, u = ca.SX.sym("x", 4), ca.SX.sym("u", 2)
    move = ca.Function("move", [x_0, u], [ocp.rk4(DYN)(x_0, u, TICK / 20)[0]]).mapaccum(20)
    x, errors = np.array([0.2, 0.4, 0.0, 0.0]), []
    for far, ticks in [(0.3, 0), *FAR]:
        for k in range(ticks + 20):
            target = np.full((2, 9), far) if k < ticks else near
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                plan = solver(q0=x[:2], v0=x[2:], target=target, weight=1.5, shift=int(solver.last is not None))
            assert len(told) == (not plan.solved)
            assert not any("\n" in str(each.message) for each in told)
            assert all(np.isfinite(each).all() for each in (plan.q, plan.v, plan.u, plan.stages.a))
            assert np.abs(plan.u).max() <= MOST
            x = move(x, ca.repmat(plan.u[0], 1, 20))[:, -1].full().ravel()
        errors.append(float(np.linalg.norm(PLACE(x[:2]).full()[[0, 2], 3] - near[:, 0])))
        assert np.abs(x[2:]).max() < 0.1
    assert max(errors) < 3e-3


@pytest.mark.system
@pytest.mark.long
def test_an_interrupt_leaves_a_plan_of_a_whole_tick_or_of_none() -> None:
    solver, alone, values = reaching().solver("rti"), reaching().solver("rti"), numbers()
    for each in (solver, alone):
        each(**values)
    rng, stopped = np.random.default_rng(0), 0

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(300):
            try:
                with no_collector():
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 4e-4))
                    while True:
                        solver(**values, shift=1)
            except KeyboardInterrupt:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert np.isfinite(solver._q).all()
    finally:
        signal.signal(signal.SIGALRM, former)
    assert stopped == 300
    for _ in range(30):
        after, whole = solver(**values), alone(**values)
    assert np.abs(after.q - whole.q).max() < 1e-4


def state_of(solver: RealTimeSolver) -> list[Any]:
    """All that a tick begins with: the plan, the parameters, and the weight of limits."""
    arrays = [solver._steps.arrays[name] for name in "xuw"]
    return [x.tolist() for x in (*arrays, *solver._given.values())] + [solver._steps.tick.weight, id(solver.last)]


@pytest.mark.system
@pytest.mark.parametrize("step", [0, 1, 4], ids=["in the guess", "in the first step", "in the fourth step"])
def test_a_call_that_is_stopped_or_refused_changes_nothing(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Neither the plan nor the parameters, also where a signal comes again and again."""
    solver, values, count = reaching().solver("rti"), numbers(), [0]
    plan = solver(**values)
    before, other = state_of(solver), values | {"target": values["target"] + 0.2, "weight": 0.7}
    for wrong in ({"guess": object()}, {"v0": ["fast", 0.1]}, {"p": [1.0]}, {"shift": 9}, {"goal": 1.0}):
        with pytest.raises(GdalembertError):
            solver(**other | wrong)
        assert state_of(solver) == before

    def ringing(call: Any, first: int) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            count[0] += 1
            if count[0] >= first:
                signal.raise_signal(signal.SIGALRM)
                signal.raise_signal(signal.SIGALRM)
            return call(*args, **kwargs)

        return wrapped

    owner, name = (solver._steps, "step") if step else (solver._first.formulation.initial, "motion")
    with rings():
        monkeypatch.setattr(owner, name, ringing(getattr(owner, name), step))
        with pytest.raises(Alarm):
            solver(**other, guess=plan)
        assert signal.getsignal(signal.SIGALRM) is ring
    monkeypatch.undo()
    assert state_of(solver) == before
    assert count[0] == max(step, 1)
    after, whole = solver(shift=1, **values), reaching().solver("rti")
    whole(**values)
    assert np.array_equal(after.q, whole(shift=1, **values).q)


def ticks(kind: str) -> tuple[RealTimeSolver, Any]:
    """A solver with a plan, and what a tick of a kind is."""
    dyn: Any = gd.NewtonEuler(ARM, parameters={"inertia": True}) if kind == "p" else DYN
    problem = reaching(dyn)
    if kind == "computed start":
        far = problem.parameter("far", 2)
        problem.start(far + 0.01, [0.0, 0.0])
        del problem._parameters.symbols["q0"], problem._parameters.symbols["v0"]
    solver, values = problem.solver("rti"), numbers()
    if kind == "computed start":
        values = {name: x for name, x in values.items() if name not in ("q0", "v0")} | {"far": np.array([0.2, 0.4])}
    plan = solver(**values)
    if kind == "plain":
        values |= {"q0": np.array(values["q0"]), "weight": np.full((1, 1), 1.5)}
    further = {"p": {"p": dyn.parameters.values}, "guess": {"guess": plan}}.get(kind, {})
    return solver, lambda: solver(**values, **further)


@pytest.mark.system
@pytest.mark.parametrize("kind", ["plain", "numbers", "p", "guess", "computed start"])
@pytest.mark.parametrize("count", quick([20, 1000], 20))
def test_no_stop_is_lost_in_any_kind_of_tick(kind: str, count: int) -> None:
    """None, and none becomes another error; what is there is a whole tick, or none."""
    solver, tick = ticks(kind)
    rng, longest = np.random.default_rng(0), 3e-3 if kind == "guess" else 6e-4
    for _ in range(count):
        before, last = state_of(solver), solver.last
        assert_stops(tick, rng.uniform(1e-5, longest))
        assert np.isfinite(solver._q).all()
        assert solver.last is not last or state_of(solver) == before


@pytest.mark.system
@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_solver_is_not_copied(take: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"^RealTimeSolver: it works in memory of its own, and cannot be copied"):
        take(reaching().solver("rti"))


@pytest.mark.system
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_violations_have_both_ends_of_a_bound(end: str) -> None:
    """Of a start beyond it, which the plan leaves as fast as it may."""
    sign = 1 if end == "lower" else -1
    bound = {"lower": (0.5, 2.0), "upper": (-2.0, -0.5)}[end]
    efforts = dict.fromkeys(DYN.actuator_names, 5.0)
    bounds = ocp.Bounds.of(DYN, q={ocp.Bounds.of(DYN).q_names[0]: bound}, u=efforts)
    solver = reaching(bounds=bounds).solver("rti")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ocp.SolutionWarning)
        plan = solver(**numbers() | {"q0": [sign * 0.2, 0.4], "v0": [-sign * 2.0, 0.0]})
    beyond = sign * (sign * 0.5 - plan.q[1:, 0])
    assert beyond.max() > 0.01
    assert plan.violations["bounds of q at the grid"] == pytest.approx(beyond.max(), rel=1e-12)


@pytest.mark.system
@pytest.mark.long
def test_a_full_disk_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(CompilationError, match="No space left on device; set GDALEMBERT_CACHE to a folder of your own"):
        reaching().solver("rti")
    monkeypatch.undo()
    solver = reaching().solver("rti")
    solver(**numbers())
    target = tmp_path / "tick.c"
    target.write_text("as before")
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        solver.generate(target)
    monkeypatch.undo()
    assert target.read_text() == "as before"
    assert [each.name for each in tmp_path.glob("*tick*")] == ["tick.c"]


# C without Python

MAIN = """
#include <math.h>
#include <stdio.h>
extern int tick(int);
extern double tick_x_0[4], tick_x[9][4], tick_u[9][2], tick_infeasibility;
int main(void) {
  const double x_0[4] = {0.25, 0.3, 0.0, 0.2};
  for (int k = 0; k < 5; ++k) {
    for (int i = 0; i < 4; ++i) tick_x_0[i] = x_0[i];
    int failed = tick(k > 0);
    printf("%d", failed);
    for (int i = 0; i < 9; ++i) printf(" %.17g %.17g", tick_x[i][0], tick_x[i][1]);
    for (int i = 0; i < 8; ++i) printf(" %.17g %.17g", tick_u[i][0], tick_u[i][1]);
    printf("\\n");
  }
  tick_x_0[0] = 8.0;
  for (int k = 0; k < 3; ++k) {
    int verdict = tick(1);
    printf("%d %.17g\\n", verdict, tick_infeasibility);
  }
  tick_x_0[0] = NAN;
  printf("%d\\n", tick(1));
  return tick(9) != -1 || tick(-1) != -1;
}
"""


@pytest.mark.system
@pytest.mark.long
@pytest.mark.parametrize("flags", ["-std=c99 -O2", "-std=c99 -O1 -march=native"])
def test_generated_c_takes_the_same_steps(tmp_path: Path, flags: str) -> None:
    bounds = ocp.Bounds.of(DYN, u=dict.fromkeys(DYN.actuator_names, MOST))
    solver, values = reaching(bounds=bounds).solver("rti"), numbers()
    with pytest.raises(ArgumentError, match="generate: there is no plan yet; call the solver first"):
        solver.generate(tmp_path / "tick.c")
    solver(**values)
    with pytest.raises(ArgumentError, match=r"generate: got 'my-tick\.c'; give a name as 'tick\.c'"):
        solver.generate(tmp_path / "my-tick.c")
    solver.generate(tmp_path / "tick.c")
    (tmp_path / "main.c").write_text(MAIN)
    text = (tmp_path / "tick.c").read_text()
    assert "tick_target" in text
    assert not any(name in text for name in ("tick_q0", "tick_v0"))  # which the start alone reads
    command = f"cc {flags} -Wall -Wextra -pedantic -Werror tick.c main.c -o main -lm"
    built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    printed = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    for k, line in enumerate(printed[:5]):
        plan = solver(**values | {"q0": [0.25, 0.3], "v0": [0.0, 0.2]}, shift=int(k > 0))
        found = np.array(line.split(), dtype=float)
        assert found[0] == 0
        wanted = np.concatenate([plan.q.ravel(), plan.u.ravel()])
        assert np.abs(found[1:] - wanted).max() < 1e-10 * np.abs(wanted).max()  # of other orders of sums
    for line in printed[5:8]:
        plan = quietly(solver, values | {"q0": [8.0, 0.3], "v0": [0.0, 0.2]}, 1)
        verdict, left = line.split()
        assert (verdict, plan.solved) == ("4", False)
        assert abs(float(left) - plan.stats["infeasibility"]) < 1e-8
    assert printed[8:] == ["1"]


def falling() -> ocp.Problem:
    """An arm that costs next to nothing where it falls faster than its limits of v, which are active."""
    dyn = gd.NewtonEuler(gd.load_urdf("puma560_3"))
    problem = ocp.Problem(dyn, 1.0, 10, bounds=ocp.Bounds.of(dyn, v=dict.fromkeys(dyn.coordinate_names, 1.0)), degree=1)
    problem.start(np.zeros(3))
    problem.squares(lambda u: u, 1e-6)
    return problem


FALLS = """
#include <stdio.h>
extern int tick(int);
extern double tick_x[11][6];
int main(void) {
  for (int k = 0; k < 12; ++k) {
    printf("%d", tick(0));
    for (int i = 0; i < 11; ++i) printf(" %.17g", tick_x[i][4]);
    printf("\\n");
  }
  return 0;
}
"""


@pytest.mark.system
def test_ticks_keep_the_weight_that_limits_need(tmp_path: Path) -> None:
    """An arm that would rather fall than hold itself settles within its limits, and stays there, in C as well."""
    problem = falling()
    solver = problem.solver("rti", {"iterations": 30})
    plan, wanted = solver(), problem.solve(options={"ipopt.tol": 1e-10})
    assert wanted.v[1:].min() == pytest.approx(-1, abs=1e-6)
    assert plan.cost == pytest.approx(wanted.cost, rel=1e-6)
    solver.generate(tmp_path / "tick.c")
    (tmp_path / "main.c").write_text(FALLS)
    command = "cc -std=c99 -O0 -Wall -Wextra -pedantic -Werror tick.c main.c -o main -lm"
    built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    printed = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in printed:
        plan = solver()
        outcome, *v = map(float, line.split())
        assert outcome == 0
        assert np.abs(plan.v).max() < 1 + 1e-6
        assert np.abs(plan.v[:, 1] - v).max() < 1e-6


@pytest.mark.system
@pytest.mark.parametrize("name", quick(SPLICES, SPLICES[1], SPLICES[4]))
@pytest.mark.parametrize("of", ["the robot", "a problem"])
def test_no_name_is_code(tmp_path: Path, name: str, of: str) -> None:
    model = ARM.copy()
    model.name = name if of == "the robot" else "arm"
    problem = reaching(gd.NewtonEuler(model))
    solver: Any = ocp.ContactSchedule({name: problem}).solver("rti") if of == "a problem" else problem.solver("rti")
    solver(**numbers(), **({"schedule": [name] * 8} if of == "a problem" else {}))
    solver.generate(tmp_path / "tick.c")
    (tmp_path / "main.c").write_text('#include <stdio.h>\nint main(void) { puts("done"); return 0; }')
    for standard in ("c99", "gnu17"):
        command = f"cc -std={standard} -O0 -Wall -Wextra -pedantic -Werror -Wno-trigraphs tick.c main.c -o main -lm"
        built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert not built.returncode, built.stderr
        assert subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "done\n"


@pytest.mark.system
def test_a_path_or_a_name_that_c_has_not_is_refused(tmp_path: Path) -> None:
    problem = reaching()
    größe = problem.parameter("größe")
    problem.minimize(größe * problem.integral(lambda q: ca.sumsqr(q)) + problem.integral(lambda u: ca.sumsqr(u)))
    solver = problem.solver("rti")
    solver(**numbers(), größe=1.0)
    with pytest.raises(ArgumentError, match="generate: the parameter 'größe' is no name in C; give it letters from a"):
        solver.generate(tmp_path / "tick.c")
    for path in (None, "", "a\0b.c", 3):
        with pytest.raises(GdalembertError, match=r"generate: got .* give the name of a file, as 'tick\.c'"):
            solver.generate(path)  # type: ignore[arg-type]


@pytest.mark.system
@pytest.mark.parametrize(("name", "stem"), [("gap", "tick"), ("stage_0", "tick"), ("H", "TICK"), ("EXAMPLE", "TICK")])
def test_a_parameter_of_generated_c_has_a_name_of_its_own(name: str, stem: str, tmp_path: Path) -> None:
    """Beside arrays, and macros: the guard of TICK.h is TICK_H."""
    problem = reaching()
    weight = problem.parameter(name)
    problem.minimize(weight * problem.integral(lambda q: ca.sumsqr(q)) + problem.integral(lambda u: ca.sumsqr(u)))
    solver = problem.solver("rti")
    solver(**numbers(), **{name: 1.0})  # the reference and its weight have no cost now
    told = f"generate: the parameter '{name}' would be {stem}_{name}, a name of the file itself; rename it"
    with pytest.raises(ArgumentError, match=told):
        solver.generate(tmp_path / f"{stem}.c")


@pytest.mark.system
def test_warnings_are_one_sentence() -> None:
    solver, values = reaching().solver("rti"), numbers()
    solver(**values)
    with pytest.raises(UnknownNameError, match="no parameter of the problem named 'goal'"):
        solver(**values, goal=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver(**values)

"""Exceptions of signal handlers that interrupt long computations."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import functools
import inspect
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert import cpin
from gdalembert.spatial.interrupts import Interrupts, interruptible
from tests.helpers.linkages import closed_four_bar, four_bar_loop
from tests.helpers.sets import quick
from tests.helpers.signals import Alarm, assert_ends, assert_stops, ring, rings

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    with rings():
        yield


def ring_once(monkeypatch: pytest.MonkeyPatch, is_own: Callable[[Any], bool]) -> None:
    """A signal as soon as a handler of this kind is set."""
    left = [1]

    def set_and_ring(number: int, handler: Any) -> Any:
        before = set_handler(number, handler)
        if number == signal.SIGALRM and is_own(handler) and left:
            left.pop()
            signal.raise_signal(signal.SIGALRM)
        return before

    set_handler = _signal.signal
    monkeypatch.setattr(_signal, "signal", set_and_ring)


def test_a_signal_while_handlers_are_replaced_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    ring_once(monkeypatch, lambda handler: handler is not ring)
    with pytest.raises(Alarm):
        interruptible(pytest.fail)("the with begins")
    assert signal.getsignal(signal.SIGALRM) is ring


def test_a_signal_while_handlers_are_restored_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [signal.SIGUSR1, signal.SIGINT]
    before = [signal.signal(number, ring) for number in others]
    ring_once(monkeypatch, lambda handler: handler is ring)
    try:
        with pytest.raises(Alarm):
            interruptible(len)("")
        assert [signal.getsignal(number) for number in others] == [ring, ring]
        assert signal.getsignal(signal.SIGALRM) is ring
    finally:
        for number, handler in zip(others, before, strict=True):
            signal.signal(number, handler)


def test_the_exception_takes_the_place_of_what_casadi_makes_of_it() -> None:
    @interruptible
    def work(rung: bool) -> str:
        """The work."""
        try:
            if rung:
                signal.raise_signal(signal.SIGALRM)
        except Alarm:
            raise TypeError("wrong type") from None
        return "done"

    with pytest.raises(Alarm):
        work(True)
    assert work(False) == "done"
    assert (work.__doc__, list(inspect.signature(work).parameters)) == ("The work.", ["rung"])


def test_around_a_solver_the_exception_waits_for_its_end() -> None:
    seen: list[Any] = []

    @interruptible
    def solve() -> None:
        with Interrupts() as interrupts, interrupts.around_solver(evaluations_end_it=False):
            signal.raise_signal(signal.SIGALRM)
            seen.append(interrupts.error)
        seen.append("the end")

    with pytest.raises(Alarm) as caught:
        solve()
    assert seen == [caught.value]
    assert signal.getsignal(signal.SIGALRM) is ring


def test_other_threads_have_no_signals() -> None:
    seen: list[Any] = []

    def work() -> None:
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGALRM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [ring]


def closing() -> Callable[[], object]:
    con, q = four_bar_loop(), closed_four_bar(0.4)
    return lambda: con.closed_configuration(q + np.array([0, 0.2, -0.15]), hold=["crank"])


def deflection() -> Callable[[], object]:
    link = gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0), gd.modes.clamped_free(3))
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link2": link})
    return lambda: arm.static_deflection(np.zeros(arm.tree.nq))


@pytest.mark.long
@pytest.mark.parametrize("prepare", [closing, deflection])
def test_signals_end_loops_of_newton_methods(prepare: Callable[[], Callable[[], object]]) -> None:
    work = prepare()
    for after in (0.03, 0.1, 0.31):
        assert_ends(work, after)


MODEL = gd.load_urdf("two_link_arm", check="off")


def robot() -> Callable[[], object]:
    return lambda: gd.NewtonEuler(MODEL).inverse_dynamics


def robot_at_p() -> Callable[[], object]:
    dyn = gd.NewtonEuler(MODEL, parameters={"inertia": True})
    return lambda: dyn.at(dyn.parameters.values)


def held_robot() -> Callable[[], object]:
    dyn = gd.NewtonEuler(MODEL)
    return lambda: gd.ConstrainedDynamics(dyn, [gd.Contact("tip", "3D", rows=("x",))]).jacobian


def frames() -> Callable[[], object]:
    return lambda: gd.Kinematics(MODEL).frame_jacobian("tip", pin.LOCAL)


def of_pinocchio() -> Callable[[], object]:
    model = cpin.Model(MODEL)
    data, q = model.createData(), np.array([0.1, 0.2])
    return lambda: cpin.rnea(model, data, q, q, q)


def rotation() -> Callable[[], object]:
    w = np.array([0.1, 0.2, 0.3])
    return lambda: gd.lie.log3(gd.lie.exp3(w))


def wrenches() -> Callable[[], object]:
    wrench, pose = np.arange(6.0), np.eye(4)
    return lambda: (gd.transform_wrench(wrench, pose), gd.joint_torques(MODEL, "tip", pin.LOCAL))


def interpreted() -> Callable[[], object]:
    graph = gd.NewtonEuler(MODEL).inverse_dynamics
    return lambda: gd.compile(graph, interpreter=True)


def problem() -> Callable[[], object]:
    dyn = gd.NewtonEuler(MODEL)

    def state() -> None:
        problem = gd.ocp.Problem(dyn, 1.0, 2, degree=1)
        problem.start(np.zeros(2))
        problem.path(lambda q: ca.sumsqr(q), 0.0, 1.0)
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))

    return state


def guess() -> Callable[[], object]:
    dyn = gd.NewtonEuler(MODEL)
    return lambda: gd.ocp.rest_to_rest(dyn, np.zeros(2), np.ones(2))


def text() -> Callable[[], object]:
    return lambda: gd.export.derive(MODEL, "python", terms=["generalized_gravity"])


def arm() -> Callable[[], object]:
    link = gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0), gd.modes.clamped_free(2))
    model = gd.load_urdf("two_link_flexible")
    return lambda: gd.FlexibleArm(model, {"link2": link}).inverse_dynamics


def poses() -> Callable[[], object]:
    kin = gd.Kinematics(gd.load_urdf("puma560"), parameters={"placement": ["joint2", "tool"]})
    return lambda: gd.calibration.poses(kin, "tool", 5, (-np.full(6, 2.0), np.full(6, 2.0)), candidates=12)


def graph() -> Callable[[], object]:
    dyn, q = gd.NewtonEuler(MODEL), np.array([0.1, 0.2])
    return lambda: dyn.inverse_dynamics(q, q, [0.1, 0.2])


def graph_of_symbols() -> Callable[[], object]:
    dyn, q = gd.NewtonEuler(MODEL), ca.SX.sym("q", 2)
    return lambda: dyn.inverse_dynamics(q, q, q)


def objects() -> Callable[[], object]:
    one = cpin.SE3(ca.SX.sym("R", 3, 3), ca.SX.sym("p", 3))
    return lambda: (one * one).inverse()


def maps() -> Callable[[], object]:
    twist = ca.SX.sym("v", 6)
    return lambda: cpin.exp6(twist)


def values_of_a_model() -> Callable[[], object]:
    parameters, base = (
        gd.NewtonEuler(MODEL, parameters={"inertia": True}).parameters,
        gd.NewtonEuler(MODEL).base_parameters,
    )
    return lambda: (parameters.of(MODEL), base.of(MODEL))


def loading() -> Callable[[], object]:
    return lambda: gd.load_urdf("two_link_arm", check="off")


def rotors() -> Callable[[], object]:
    return lambda: gd.with_rotors(MODEL, {"joint2": gd.Rotor(1e-4, 50.0)})


def tendon() -> Callable[[], object]:
    path = gd.Tendon([("tip", [0, 0.1, 0]), ("universe", [0, 0, 1.0])])
    return lambda: path.length(MODEL)


def closed_forms() -> Callable[[], object]:
    return lambda: gs.closed_forms(gs.symbolic_tree(MODEL), of="generalized_gravity")


def function_of_a_solver() -> Callable[[], object]:
    stated = gd.ocp.Problem(gd.NewtonEuler(MODEL), 1.0, 2, degree=1)
    stated.start(np.zeros(2))
    stated.minimize(stated.integral(lambda u: ca.sumsqr(u)))
    solver = stated.solver()
    return lambda: solver.function()


PREPARED = (
    tendon,
    closed_forms,
    function_of_a_solver,
    graph,
    graph_of_symbols,
    objects,
    maps,
    values_of_a_model,
    loading,
    rotors,
    robot,
    robot_at_p,
    held_robot,
    frames,
    of_pinocchio,
    rotation,
    wrenches,
    interpreted,
    problem,
    guess,
    text,
)


@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("prepare", quick([*PREPARED, arm, poses], *PREPARED))
@pytest.mark.parametrize("count", quick([2, 200], 2))
def test_no_signal_is_lost_in_public_calls(prepare: Callable[[], Callable[[], object]], count: int) -> None:
    """None becomes another error, where CasADi takes it for an argument of a wrong type.

    Python prints what is raised in a finalizer, which is kept like the others; and it warns when it closes a file that
    a signal has left between ``open`` and ``with``.
    """
    work, rng = prepare(), np.random.default_rng(0)
    work()
    for _ in range(count):
        assert_stops(work, rng.uniform(1e-4, 2e-2))


@pytest.mark.parametrize("prepare", PREPARED)
def test_public_calls_replace_handlers(prepare: Callable[[], Callable[[], object]]) -> None:
    """Of all that runs CasADi, each call does."""
    work, begun = prepare(), []
    enter = Interrupts.__enter__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Interrupts, "__enter__", lambda interrupts: begun.append(1) or enter(interrupts))
        work()
    assert begun


def test_a_call_within_another_one_replaces_no_handlers() -> None:
    begun: list[Any] = []

    @interruptible
    def inner() -> Any:
        return signal.getsignal(signal.SIGALRM)

    @interruptible
    def outer() -> None:
        begun.extend([signal.getsignal(signal.SIGALRM), inner()])

    outer()
    assert begun[0] is begun[1] is not ring
    assert inner() is not ring
    assert signal.getsignal(signal.SIGALRM) is ring


def test_classes_guard_their_public_methods() -> None:
    @interruptible
    class Work:
        def __init__(self) -> None:
            self.seen = [signal.getsignal(signal.SIGALRM)]

        def method(self) -> Any:
            return signal.getsignal(signal.SIGALRM)

        @functools.cached_property
        def read(self) -> Any:
            return signal.getsignal(signal.SIGALRM)

        @classmethod
        def made(cls) -> Any:
            return signal.getsignal(signal.SIGALRM)

        def _own(self) -> Any:
            return signal.getsignal(signal.SIGALRM)

    work = Work()
    for handler in (*work.seen, work.method(), work.read, Work.made()):
        assert handler is not ring
    assert work._own() is ring


def test_two_signals_ring_no_longer_than_the_call() -> None:
    """An exception that is raised again after a while, since it may be lost, is not raised when all is over."""

    @interruptible
    def work() -> None:
        for _ in range(2):
            with contextlib.suppress(Alarm):
                signal.raise_signal(signal.SIGALRM)

    with pytest.raises(Alarm):
        work()
    time.sleep(0.7)  # more than the while

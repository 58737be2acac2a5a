"""Ctrl-C, and exceptions of other signal handlers, while CasADi runs: at once, and with the motion so far."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from gdalembert.spatial.arrays import Array
from tests.helpers.sets import quick

DYN = gd.NewtonEuler(gd.load_urdf("cart_pendulum"))
START = [0.0, 0.3, 0.0, 0.0]
AFTER = 0.2
"""Time until the signal [s]."""
FOR_EVER: dict[str, dict[str, Any]] = {
    "adams": {"options": {"max_num_steps": 10**9}},
    "bdf": {"options": {"max_num_steps": 10**9}},
    "idas": {"options": {"max_num_steps": 10**9}},
    "radau": {"options": {"max_num_steps": 10**9}},
    "dop853": {"options": {"max_num_steps": 10**9}},
    "rk4": {"step": 1e-3},
    "collocation": {"step": 1e-2},
}
LONG = np.array([0.0, 0.01, 0.02, 5e3, 1e4])
"""Output times of a motion that takes far longer than the tests."""


class Alarm(Exception):
    """What the handler of a signal raises."""


def ring(number: int, frame: FrameType | None) -> None:
    raise Alarm("ring")


@pytest.fixture
def alarm() -> Iterator[None]:
    """A signal after a time, whose handler raises."""
    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's handler of Ctrl-C, also in a job in a shell's background, where the signal is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def law(kind: str) -> Any:
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 4)
    graph = ca.Function("u", [t, x], [ca.vertcat(ca.sin(t), 0)])
    return {"none": None, "graph": graph, "callable": lambda t, q, v: [np.sin(t), 0]}[kind.partition(" ")[0]]


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(
    ("method", "kind"),
    quick(
        itertools.product(FOR_EVER, ("none", "graph", "callable", "callable held")),
        ("adams", "none"),
        ("bdf", "callable"),
        ("radau", "callable"),
        ("rk4", "none"),
    ),
)
def test_what_a_signal_handler_raises_stops_a_motion(capfd: pytest.CaptureFixture[str], method: str, kind: str) -> None:
    simulate(DYN, START, [0.0, 0.01], law(kind), method=method, **FOR_EVER[method])  # builds the graphs
    signal.setitimer(signal.ITIMER_REAL, AFTER)
    begun = time.monotonic()
    with pytest.raises(Alarm, match=r"^ring") as caught:
        simulate(DYN, START, LONG, law(kind), method=method, hold="held" in kind, **FOR_EVER[method])
    assert time.monotonic() - begun < AFTER + 1
    result = caught.value.result  # type: ignore[attr-defined]
    assert isinstance(result, Simulation)
    assert result.t.tolist() == LONG[: len(result.t)].tolist()
    note = f"simulate: cart_pendulum: stopped after {result.t[-1]:g} s; the motion up to there is in .result"
    assert caught.value.__notes__ == [note]
    assert signal.getsignal(signal.SIGALRM) is ring
    assert capfd.readouterr() == ("", "")
    simulate(DYN, START, [0.0, 0.01], law(kind), method=method, **FOR_EVER[method])  # as if nothing had been


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_a_motion() -> None:
    simulate(DYN, START, [0.0, 0.01])
    begun = time.monotonic()
    interrupt = ["sh", "-c", f"sleep {AFTER}; kill -INT {os.getpid()}"]
    with subprocess.Popen(interrupt), pytest.raises(KeyboardInterrupt) as caught:
        simulate(DYN, START, LONG, method="adams", **FOR_EVER["adams"])
    assert time.monotonic() - begun < AFTER + 2  # the shell starts, too
    assert len(caught.value.result.t) < len(LONG)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("hold", [False, True])
def test_u_is_interrupted_itself_and_may_clean_up(hold: bool) -> None:
    cleaned = []

    def slow(t: float, q: Array, v: Array) -> Array:
        try:
            if t > 0.5:
                signal.setitimer(signal.ITIMER_REAL, AFTER)
                time.sleep(60)
        finally:
            cleaned.append(sum(range(1000)))
        return np.zeros(2)

    begun = time.monotonic()
    with pytest.raises(Alarm) as caught:
        simulate(DYN, START, np.linspace(0, 1, 51), slow, hold=hold)
    assert time.monotonic() - begun < 50  # of 60
    assert caught.value.result.t[-1] == pytest.approx(0.5, abs=0.03)  # type: ignore[attr-defined]
    assert set(cleaned) == {499500}


def first_motion() -> Any:
    """Of a robot whose graphs are to be built."""
    dyn = gd.NewtonEuler(gd.load_urdf("puma560"))
    return lambda: simulate(dyn, np.full(12, 0.1), [0, 0.1], method="adams")


def many_outputs() -> Any:
    """Of which most of the time is spent in the results."""
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 4)
    u = ca.Function("u", [t, x], [ca.vertcat(-0.1 * x[2], 0)])
    return lambda: simulate(DYN, START, np.linspace(0, 0.1, 5001), u)


def validation() -> Any:
    """Of a robot whose graphs are to be built."""
    dyn, model = gd.NewtonEuler(gd.load_urdf("puma560")), gd.load_urdf("puma560")
    return lambda: gd.validate(dyn, model, samples=20)


@pytest.mark.long
@pytest.mark.usefixtures("alarm")
@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("prepare", [first_motion, many_outputs, validation])
def test_no_exception_is_lost_between_the_calls_of_casadi(prepare: Any) -> None:
    """CasADi converts arrays there, and takes what is raised for a wrong type.

    Python prints what is raised in a callback of its garbage collector (JAX has one), which is kept like the others.
    """
    run = prepare()
    begun = time.monotonic()
    run()
    takes = time.monotonic() - begun
    for share in np.linspace(0.05, 0.9, 8):
        run = prepare()
        with pytest.raises(Alarm, match=r"^ring"):
            _interrupted(run, share * takes)


def _interrupted(run: Any, after: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, after)
    run()
    time.sleep(after)  # it was faster


def test_handlers_that_raise_nothing_do_their_work() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
    try:
        while not seen:  # a fast machine ends a motion before the first signal
            motion = simulate(DYN, START, 30.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert np.array_equal(motion.x, simulate(DYN, START, 30.0).x)
    assert set(seen) == {signal.SIGALRM}


def test_other_threads_simulate_without_signals() -> None:
    found: list[Simulation] = []
    thread = threading.Thread(target=lambda: found.append(simulate(DYN, START, 0.1)))
    thread.start()
    thread.join()
    assert np.array_equal(found[0].x, simulate(DYN, START, 0.1).x)

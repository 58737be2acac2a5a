"""Long computations: their progress, and exceptions of signal handlers that interrupt them."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.spatial.interrupts import Interrupts, interruptible, progress
from tests.helpers.linkages import closed_four_bar, four_bar_loop
from tests.helpers.signals import Alarm, assert_ends, ring, rings

Capture = pytest.CaptureFixture[str]


def count_to_three(shown: bool) -> None:
    with progress("robot: task", 3, "states", shown=shown) as advance:
        advance(1)
        advance(2)


def test_nothing_is_shown_unless_asked_for(capfd: Capture) -> None:
    count_to_three(False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.extras
def test_a_bar(capfd: Capture) -> None:
    count_to_three(True)
    out, err = capfd.readouterr()
    assert out == ""
    last = err.split("\r")[-1]
    assert last.startswith("robot: task: 100%")
    assert "3/3" in last
    assert "states/s" in last
    assert err.endswith("\n")


def test_a_line_without_tqdm(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    count_to_three(True)
    assert capfd.readouterr() == ("", "\rrobot: task: 1 of 3 states\rrobot: task: 3 of 3 states\n")


@pytest.mark.parametrize("installed", [True, False])
def test_an_exception_ends_the_line(installed: bool, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ZeroDivisionError), progress("task", 2, "states", shown=True) as advance:
        advance(1 // 0)
    assert capfd.readouterr().err.endswith("\n")


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

"""Signals whose handlers raise, at a time."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

LIMIT = 5.0
"""A second, and what a busy machine takes besides [s]."""


class Alarm(Exception):
    """What the handler of a signal raises."""


def ring(number: int, frame: FrameType | None) -> None:
    raise Alarm("ring")


@contextlib.contextmanager
def rings() -> Iterator[None]:
    """SIGALRM raises an Alarm."""
    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Python loses what a handler raises in a callback of its garbage collector, and Hypothesis has one. The library
    keeps it within its calls, but nobody does between two of them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def assert_ends(work: Callable[[], object], after: float) -> None:
    """An Alarm ends what is done again and again, soon after the signal."""
    with rings():
        begun = time.monotonic()
        with pytest.raises(Alarm, match=r"^ring"):
            _repeated(work, after)
        assert time.monotonic() - begun < after + LIMIT
        assert signal.getsignal(signal.SIGALRM) is ring


def assert_stops(work: Callable[[], object], after: float) -> None:
    """An Alarm leaves the call in which its signal comes, of those that are made again and again, and nothing else."""
    rung: list[int] = []

    def once(number: int, frame: FrameType | None) -> None:
        rung.append(number)
        raise Alarm("ring")

    before = signal.signal(signal.SIGALRM, once)
    try:
        with pytest.raises(Alarm, match=r"^ring"):
            _repeated(work, after, lambda: not rung)
        assert signal.getsignal(signal.SIGALRM) is once
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _repeated(work: Callable[[], object], after: float, goes_on: Callable[[], bool] = lambda: True) -> None:
    with no_collector():
        signal.setitimer(signal.ITIMER_REAL, after)
        while goes_on():
            work()

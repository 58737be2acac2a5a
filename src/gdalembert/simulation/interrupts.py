"""Ctrl-C, and what other signal handlers raise, while CasADi integrates.

CasADi runs Python's signal handlers before it evaluates a Function. What they raise is lost: it takes the evaluation
for one that failed, and the integrator tries again with a shorter step. So the exception is kept, and the handler runs
again at every evaluation, until the integrator gives up.
"""

from __future__ import annotations

import contextlib
import functools
import io
import signal
import threading
from _thread import interrupt_main
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_REPETITIONS = 100_000
"""More than any integrator endures, and u needs to return."""

_INTEGRATION, _CONTROL = f"{__package__}.integration", f"{__package__}.control"
_run_again: Any = interrupt_main


class Interrupts:
    """Keeps the first exception that a signal handler raises, from ``with`` on until its end.

    Attributes:
        error: the exception.
        prepares: whether the integration has not begun, so that the exception is raised as usual, too.
        stops: whether the exception stops what runs now; otherwise it is kept only.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.prepares, self.stops = True, False
        self._left = _REPETITIONS
        self._restore = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # the others run no signal handlers
            for number in signal.valid_signals():
                if callable(handler := signal.getsignal(number)):
                    signal.signal(number, functools.partial(self._handle, handler))
                    self._restore.callback(signal.signal, number, handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stops = False
        self._restore.close()

    def _handle(self, handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
        first = self.error is None
        if first:
            try:
                handler(number, frame)
                return
            except BaseException as raised:
                self.error = raised
                # CasADi prints one line for each evaluation that fails
                self._restore.enter_context(contextlib.redirect_stderr(io.StringIO()))
        error, where = self.error, _caller(frame)
        if first and self.prepares and error is not None:
            raise error
        if error is None or not self.stops or not self._left:
            return
        self._left -= 1
        # within u once, so that it can clean up; never between u and CasADi, which would print the exception
        raises = where == _INTEGRATION or (first and where != _CONTROL)
        for _ in map(_run_again, (number,)):  # not by a call, after which Python would at once run this method again
            if raises:
                raise error
            return


def _caller(frame: FrameType | None) -> str:
    """The module that runs, or that has called CasADi."""
    while frame is not None and (name := str(frame.f_globals.get("__name__"))).partition(".")[0] == "casadi":
        frame = frame.f_back
    return "" if frame is None else name

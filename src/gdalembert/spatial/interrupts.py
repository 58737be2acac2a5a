"""Ctrl-C, and what other signal handlers raise, while CasADi builds graphs, evaluates or integrates.

CasADi runs Python's signal handlers where it converts arrays and before it evaluates a Function. What they raise there
is lost: it takes the array for one of a wrong type, or the evaluation for one that failed, and an integrator tries
again with a shorter step. So the exception is kept, and the handler runs again: after a while, or at every evaluation
until the integrator gives up.
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

_AGAIN = 0.5
"""Time until an exception that was lost is raised again [s]; what cleans up needs less."""

_run_again: Any = interrupt_main


class Interrupts:
    """Keeps the first exception that a signal handler raises, from ``with`` on until its end.

    The exception takes the place of any other one that leaves the ``with``.

    Args:
        integration, control: names of the modules that call the integrator, and that it calls.

    Attributes:
        error: the exception.
        is_raised: whether the exception is raised as usual, too, and once more at the end of ``with``.
        stops: whether the exception stops the integrator that runs now; otherwise it is kept only.
    """

    def __init__(self, integration: str = "", control: str = "") -> None:
        self.error: BaseException | None = None
        self.is_raised, self.stops = True, False
        self._integration, self._control = integration, control
        self._left = _REPETITIONS
        self._ended = False
        self._bell: threading.Timer | None = None
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
        self._ended, self.stops = True, False
        if self._bell is not None:
            self._bell.cancel()
            self._bell.join()
        self._restore.close()
        if self.error is not None and error is not self.error and (self.is_raised or error is not None):
            raise self.error from None

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
        if self._ended or self.error is None:
            return
        if self.is_raised:
            self._bell = threading.Timer(_AGAIN, interrupt_main, (number,))
            self._bell.start()
            raise self.error
        if not self.stops or not self._left:
            return
        self._left -= 1
        error = self.error
        where = _caller(frame)
        # within u once, so that it can clean up; never between u and CasADi, which would print the exception
        raises = where == self._integration or (first and where != self._control)
        for _ in map(_run_again, (number,)):  # not by a call, after which Python would at once run this method again
            if raises:
                raise error
            return


def _caller(frame: FrameType | None) -> str:
    """The module that runs, or that has called CasADi."""
    while frame is not None and (name := str(frame.f_globals.get("__name__"))).partition(".")[0] == "casadi":
        frame = frame.f_back
    return "" if frame is None else name

"""Ctrl-C, and what other signal handlers raise, while CasADi computes.

CasADi runs Python's signal handlers where it converts arrays and before it evaluates a Function. What they raise there
is lost: it takes the array for one of a wrong type, or the evaluation for one that failed, and an integrator tries
again with a shorter step, a solver reports that it failed, or goes on. So the exception is kept, and the handler runs
again: after a while, or at every evaluation until the integrator or solver gives up.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal without its enumerations, which take 0.2 ms
import contextlib
import functools
import io
import signal
import threading
from _thread import allocate_lock, interrupt_main, start_new_thread
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType, TracebackType
from typing import Any, Self, TypeVar, cast

_REPETITIONS = 100_000
"""More than any integrator endures, and u needs to return."""
_AGAIN = 0.5
"""Time until an exception that was lost is raised again [s]; what cleans up needs less."""
_SIGNALS = tuple(sorted(map(int, signal.valid_signals())))
_run_again: Any = interrupt_main
Handler = Callable[[int, FrameType | None], Any]
Target = TypeVar("Target", bound=Callable[..., Any])


class Interrupts:
    """Keeps the first exception that a signal handler raises, from ``with`` on until its end.

    The exception takes the place of any other one that leaves the ``with``. Threads other than the main one run no
    signal handlers, and nothing happens there.

    Args:
        caller, called: names of the modules that call the integrator or solver, and of those that it calls, by Python.

    Attributes:
        error: the exception.
        is_raised: whether the exception is raised as usual, too, and once more at the end of ``with``.
        stops: whether the exception stops the integrator or solver that runs now; otherwise it is kept only.
    """

    def __init__(self, caller: str = "", called: str = "") -> None:
        self.error: BaseException | None = None
        self.is_raised, self.stops = False, False
        self._caller, self._called = caller, called
        self._left = _REPETITIONS
        self._ended = False
        self._bell: _Bell | None = None
        self._replaced: list[tuple[int, Handler]] = []
        self._silence = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            if threading.current_thread() is threading.main_thread():
                _ACTIVE.append(self)
                for number in _SIGNALS:
                    if callable(handler := _signal.getsignal(number)):
                        self._replaced.append((number, handler))
                        _signal.signal(number, functools.partial(self._handle, handler))
            if self.error is not None:
                raise self.error
        except BaseException:  # by a handler: without a with there is no end of it
            self._restore()
            raise
        self.is_raised = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended, self.stops = True, False
        if self._bell is not None:
            self._bell.silence()
        self._restore()
        if self.error is not None and error is not self.error and (self.is_raised or error is not None):
            raise self.error from None

    @contextlib.contextmanager
    def around_solver(self, *, evaluations_end_it: bool = True) -> Iterator[None]:
        """Let an exception end the solver that is called in this ``with``, and raise it at the end; a solver that no
        failed evaluation ends asks for :attr:`error` itself."""
        self.is_raised, self.stops = False, evaluations_end_it
        try:
            yield
        finally:
            self.is_raised, self.stops = True, False
        if self.error is not None:
            raise self.error

    def _restore(self) -> None:
        """Set the handlers that were there before: all of them, whatever they raise meanwhile."""
        self._silence.close()
        if self in _ACTIVE:
            _ACTIVE.remove(self)
        while self._replaced:
            try:
                _signal.signal(*self._replaced[-1])
                self._replaced.pop()
            except BaseException as raised:
                self.error = self.error or raised

    def _handle(self, handler: Handler, number: int, frame: FrameType | None) -> None:
        first = self.error is None
        if first:
            try:
                handler(number, frame)
                return
            except BaseException as raised:
                self.error = raised
                # CasADi prints one line for each evaluation that fails
                self._silence.enter_context(contextlib.redirect_stderr(io.StringIO()))
        if self._ended or self.error is None or (frame is not None and frame.f_code is _EXIT):
            return
        if self.is_raised:
            if self._bell is None or not self._bell.is_waiting:
                self._bell = _Bell(number)
            raise self.error
        if not self.stops or not self._left:
            return
        self._left -= 1
        error = self.error
        caller = _caller(frame)
        # within u once, so that it can clean up; never between u and CasADi, which would print the exception
        raises = caller == self._caller or (first and caller != self._called)
        for _ in map(_run_again, (number,)):  # not by a call, after which Python would at once run this method again
            if raises:
                raise error
            return


_ACTIVE: list[Interrupts] = []
"""Those of the main thread that have begun, the outermost first."""


class _Bell:
    """Runs the handler of a signal again after a while, unless it is silenced before.

    A ``threading.Timer`` is removed from a WeakSet when it ends, and what a handler raises meanwhile is lost there.
    """

    def __init__(self, number: int) -> None:
        self._silenced, self._ended = allocate_lock(), allocate_lock()
        self._silenced.acquire()
        self._ended.acquire()
        start_new_thread(self._wait, (number,))

    def _wait(self, number: Any) -> None:
        if not self._silenced.acquire(timeout=_AGAIN):
            interrupt_main(number)
        self._ended.release()

    @property
    def is_waiting(self) -> bool:
        return self._ended.locked()

    def silence(self) -> None:
        """Once this returns, it does not ring any more."""
        self._silenced.release()
        with self._ended:
            pass


_EXIT = Interrupts.__exit__.__code__
"""Where an exception would leave handlers that are not restored."""


_SPECIAL = ("__init__", "__call__", *(f"__{name}__" for name in ("mul", "rmul", "matmul", "add", "sub", "neg", "xor")))
"""Methods of Python that are public: calls and operators."""


def interruptible(target: Target) -> Target:
    """A function in which no exception of a signal handler is lost; or a class, of its constructor, its public methods
    and what it computes when it is first read.

    It costs 5 µs, but nothing within another one.
    """
    if not isinstance(target, type):
        return cast(Target, _guarded(target))
    for name, member in list(vars(target).items()):
        if (name.startswith("_") and name not in _SPECIAL) or getattr(member, "is_guarded", False):
            continue
        if isinstance(member, FunctionType):
            setattr(target, name, _guarded(member))
        elif isinstance(member, classmethod):
            setattr(target, name, classmethod(_guarded(member.__func__)))
        elif isinstance(member, functools.cached_property):
            member.func = _guarded(member.func)
    return target


def _guarded(function: Any) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if (innermost := _ACTIVE[-1:]) and innermost[0].is_raised:
            return function(*args, **kwargs)
        with Interrupts():
            return function(*args, **kwargs)

    run.is_guarded = True  # type: ignore[attr-defined]  # a base class of several is guarded once
    return run


def _caller(frame: FrameType | None) -> str:
    """The module that runs, or that has called CasADi."""
    while frame is not None and (name := str(frame.f_globals.get("__name__"))).partition(".")[0] == "casadi":
        frame = frame.f_back
    return "" if frame is None else name

"""The progress of long work: a line on stderr that moves while somebody watches, and few whole lines in a file.

Whoever is called by a user opens a line, if he asks for it; what works below speaks to the line that is open, by
:func:`current`, and need not be told of it.

    with progress("ur5: simulate", shown=True):
        current().count(20, 100, "output times")
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gdalembert.spatial.arguments import flag

_MOVES, _TELLS = 0.1, 10.0
"""The least time between two states of a line that is watched, and between two lines in a file [s]."""
_SHORT, _LONG = 10.0, 120.0
"""Seconds from which on tenths are not shown, and from which on minutes are."""


class ProgressLine:
    """A line about work that goes on: a title, what is done, and the time that it takes.

    In a terminal or a notebook it is drawn over itself, no wider than the terminal: counts and times ten times a
    second at most, other words at once, since what they announce may take long. Elsewhere, as in a log, a line is
    written every 10 s at most, and at the end. stderr that is closed is no error.

    Attributes:
        shown: whether anything is written.
    """

    def __init__(self, title: str, *, shown: bool) -> None:
        self.shown, self.title, self._text = shown, title, ""
        self._stream, self._moves = sys.stderr, is_watched()
        self._begin = time.monotonic()
        self._next = self._begin + (0.0 if self._moves else _TELLS)
        self._drawn, self._written = 0, ""
        self._counted, self._first = ("", 0), (0, 0.0)

    @property
    def is_due(self) -> bool:
        """Whether what is said now is written: for what takes time to say."""
        return self.shown and time.monotonic() >= self._next

    def show(self, text: str) -> None:
        """Say what is done now, as ``"derivatives of stage 3"``."""
        self._text = text
        if self.is_due or (self.shown and self._moves):
            self._write()

    def count(self, done: int, total: int, unit: str) -> None:
        """Say how much is done, and how long the rest will take if it goes on as since the first step."""
        if done and (self._counted != (unit, total) or done <= self._first[0]):
            self._counted, self._first = (unit, total), (done, time.monotonic())
        first, since = self._first
        left = (total - done) * (time.monotonic() - since) / (done - first) if done > first else 0.0
        self._text = f"{done} of {total} {unit}" + (f", about {_duration(left)} left" if left >= 1 else "")
        self.move()

    def move(self) -> None:
        """Write the line with the time that has passed, unless it was written a moment ago."""
        if self.is_due:
            self._write()

    def end(self) -> None:
        """Write the last state, and end the line."""
        if not self.shown:
            return
        if self._moves or self._state != self._written:
            self._write()
        if self._moves:
            self._print("\n")

    @property
    def _state(self) -> str:
        return " ".join(": ".join(filter(None, (self.title, self._text))).split())

    def _write(self) -> None:
        self._written, self._next = self._state, time.monotonic() + (_MOVES if self._moves else _TELLS)
        line = f"{self._written}, {_duration(time.monotonic() - self._begin)}"
        if not self._moves:
            self._print(f"{line}\n")
            return
        # one column is left free: terminals go on to the next line where the last one is written
        width = self._columns - 1
        if len(line) > width:  # without its last parts: half a number would be a wrong one
            line = line[: width + 2].rpartition(", ")[0] or line[:width]
        self._print(f"\r{line.ljust(min(self._drawn, width))}")
        self._drawn = len(line)

    @property
    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or shutil.get_terminal_size().columns
        except (OSError, ValueError, AttributeError):  # a notebook, or a stream without a file
            return shutil.get_terminal_size().columns

    def _print(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or None
            self._stream.write(text)
            self._stream.flush()


class Watchable:
    """A solver whose calls show their progress on stderr if they are to."""

    _progress = False

    @property
    def progress(self) -> bool:
        """Whether builds and iterations of calls are shown on stderr."""
        return self._progress

    @progress.setter
    def progress(self, shown: bool) -> None:
        self._progress = flag("solver.progress", shown)


_OPEN: ContextVar[ProgressLine | None] = ContextVar("open", default=None)


def current() -> ProgressLine:
    """The line that is open in this thread, or one that shows nothing."""
    return _OPEN.get() or _SILENT


@contextmanager
def progress(title: str, *, shown: bool) -> Iterator[ProgressLine]:
    """A line that is open in this ``with``, if it is ``shown``; within another one, that one under this title.

    What is not shown leaves a line that is open to those below. The end is written before an exception leaves; warnings
    belong behind it.
    """
    outer = current()
    if not shown:
        yield _SILENT
        return
    if outer.shown:
        former, outer.title = outer.title, title
        try:
            yield outer
        finally:
            outer.title = former
        return
    line = ProgressLine(title, shown=True)
    token = _OPEN.set(line)
    try:
        line.move()
        yield line
    finally:
        _OPEN.reset(token)
        line.end()


def is_watched() -> bool:
    """True if somebody sees what is written to stderr as it comes: in a terminal or a notebook, not in a file."""
    with contextlib.suppress(ValueError, AttributeError):  # closed, or None
        return type(sys.stderr).__module__.startswith("ipykernel.") or sys.stderr.isatty()
    return False


def _duration(seconds: float) -> str:
    if seconds < _SHORT:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if seconds < _LONG else f"{whole // 60} min {whole % 60:02} s"


_SILENT = ProgressLine("", shown=False)

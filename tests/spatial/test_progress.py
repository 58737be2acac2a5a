"""The line about work that goes on: in a terminal, in a file, within another one, and where stderr is closed."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios
import threading
from types import SimpleNamespace
from typing import TypeVar

import pytest

from gdalembert.spatial.progress import current, is_watched, progress
from tests.helpers.terminals import Terminal

Patch = pytest.MonkeyPatch
Stream = TypeVar("Stream")


@pytest.fixture
def clock(monkeypatch: Patch) -> list[float]:
    """The time [s], which is what its only entry says."""
    now = [100.0]
    monkeypatch.setattr("gdalembert.spatial.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def terminal(monkeypatch: Patch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "40")
    return as_stderr(Terminal(), monkeypatch)


@pytest.fixture
def log(monkeypatch: Patch) -> io.StringIO:
    return as_stderr(io.StringIO(), monkeypatch)


def as_stderr(stream: Stream, monkeypatch: Patch) -> Stream:
    """In that module alone: pytest sets sys.stderr between a fixture and its test."""
    monkeypatch.setattr("gdalembert.spatial.progress.sys", SimpleNamespace(stderr=stream))
    return stream


def test_a_line_that_is_too_long_loses_whole_parts(terminal: Terminal) -> None:
    """Half of a number would be another one."""
    with progress("arm: ipopt", shown=True) as line:
        line.show("iteration 57, cost 1.10087, violation 8.6e-07")
    assert terminal.getvalue().rstrip().endswith("iteration 57, cost 1.10087")


def test_nothing_is_shown_unless_asked_for(terminal: Terminal) -> None:
    with progress("task", shown=False) as line:
        line.show("step 1")
        current().count(1, 2, "steps")
        assert not line.is_due
    assert terminal.getvalue() == ""


def test_a_line_moves_in_a_terminal(terminal: Terminal, clock: list[float]) -> None:
    with progress("ur5: task", shown=True) as line:
        clock[0] += 0.5
        line.show("a long step")
        clock[0] += 0.5
        current().show("short")
    written = "\rur5: task, 0.0 s", "\rur5: task: a long step, 0.5 s", "\rur5: task: short, 1.0 s      "
    assert terminal.getvalue() == "".join(written) + "\rur5: task: short, 1.0 s\n"


def test_it_moves_ten_times_a_second_at_most(terminal: Terminal, clock: list[float]) -> None:
    with progress("task", shown=True) as line:
        for k in range(1000):
            clock[0] += 0.001
            line.count(k + 1, 1000, "steps")
    assert terminal.getvalue().count("\r") <= 12
    assert terminal.states[-1] == "task: 1000 of 1000 steps"


def test_what_may_take_long_is_told_at_once(terminal: Terminal, clock: list[float]) -> None:
    """Otherwise the line would tell of the work before it for as long as this one takes."""
    with progress("task", shown=True) as line:
        line.count(1, 9, "steps")
        line.show("derivatives")
        line.count(2, 9, "steps")
    assert terminal.states == ["task", "task: derivatives", "task: 2 of 9 steps"]


def test_it_is_not_longer_than_the_terminal(terminal: Terminal, clock: list[float]) -> None:
    """A line as wide as the terminal would go on in the next one, where it cannot be drawn over."""
    with progress("a robot of a very long name\nin two lines", shown=True) as line:
        for k in range(20):
            clock[0] += 1
            line.show("x" * 3 * k)
    states = terminal.getvalue().rstrip("\n").split("\r")[1:]
    assert max(map(len, states)) == 39
    assert "\n" not in terminal.getvalue().rstrip("\n")
    assert all(state.startswith("a robot of a very long name in two line") for state in states)


def test_the_width_is_that_of_the_terminal_of_stderr(monkeypatch: Patch) -> None:
    reader, writer = os.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 31, 0, 0))
    with os.fdopen(writer, "w") as stream, os.fdopen(reader, "rb", buffering=0) as screen:
        as_stderr(stream, monkeypatch)
        with progress("x" * 100, shown=True):
            pass
        assert max(map(len, screen.read(1000).decode().replace("\n", "").split("\r"))) == 30


def test_a_file_has_whole_lines_at_sparse_times(log: io.StringIO, clock: list[float]) -> None:
    with progress("ur5: task", shown=True) as line:
        for k in range(100):
            line.show(f"step {k}")
            clock[0] += 0.25
    assert log.getvalue().splitlines() == [
        "ur5: task: step 40, 10 s",
        "ur5: task: step 80, 20 s",
        "ur5: task: step 99, 25 s",
    ]


def test_short_work_is_one_line_of_a_file(log: io.StringIO, clock: list[float]) -> None:
    with progress("ur5: task", shown=True) as line:
        line.show("3 steps")
    assert log.getvalue() == "ur5: task: 3 steps, 0.0 s\n"
    with progress("ur5: task", shown=True):
        clock[0] += 200
        current().move()
    assert log.getvalue().splitlines()[1:] == ["ur5: task, 3 min 20 s"]  # and not once more at the end


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_an_exception_finds_the_line_ended(stream: type[io.StringIO], monkeypatch: Patch) -> None:
    told = as_stderr(stream(), monkeypatch)
    with pytest.raises(ZeroDivisionError), progress("task", shown=True) as line:
        line.show(f"step {1 // 0}")
    assert told.getvalue().endswith("\n")
    assert current().shown is False


@pytest.mark.parametrize("closed", [True, False])
def test_no_stderr_is_no_error(closed: bool, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    stream.close()
    as_stderr(stream if closed else None, monkeypatch)
    assert not is_watched()
    with progress("task", shown=True) as line:
        line.show("step 1")
    assert capsys.readouterr().out == ""


def test_a_line_within_another_one_takes_its_place(terminal: Terminal, clock: list[float]) -> None:
    with progress("outer", shown=True) as outer:
        clock[0] += 1
        with progress("inner", shown=True) as inner:
            inner.show("step 1")
        clock[0] += 1
        with progress("silent", shown=False) as silent:
            silent.show("nobody sees this")
            current().show("from below")
        clock[0] += 1
        outer.show("done")
    assert terminal.states == ["outer", "inner: step 1", "outer: from below", "outer: done", "outer: done"]
    assert terminal.getvalue().count("\n") == 1


def test_another_thread_has_no_line(terminal: Terminal) -> None:
    seen: list[bool] = []
    with progress("task", shown=True):
        thread = threading.Thread(target=lambda: seen.append(current().shown))
        thread.start()
        thread.join()
    assert seen == [False]


def test_what_is_left_is_estimated(terminal: Terminal, clock: list[float], monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with progress("task", shown=True) as line:
        for _ in range(2):
            clock[0] += 60  # which the first step takes besides, as a build
            for k, seconds in enumerate((0, 3, 6), start=1):
                clock[0] += seconds
                line.count(k, 4, "pairs")
    once = ["task: 1 of 4 pairs", "task: 2 of 4 pairs, about 6.0 s left", "task: 3 of 4 pairs, about 4.5 s left"]
    assert terminal.states[1:7] == 2 * once


def test_a_notebook_sees_it_move(monkeypatch: Patch) -> None:
    """By the class of its stderr, which is no terminal: a kernel whose stderr was redirected to a file sees nothing."""
    kind = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    as_stderr(kind(), monkeypatch)
    assert is_watched()
    as_stderr(io.StringIO(), monkeypatch)
    assert not is_watched()

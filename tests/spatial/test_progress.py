"""The progress of a long computation: a bar by tqdm, a line without it, nothing if it is not asked for."""

from __future__ import annotations

import sys

import pytest

from gdalembert.spatial.progress import progress

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

"""Files are all there, or as they were."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.export import write

FILES = {"one.txt": "1\n", "two.txt": "2\n", "three.txt": "3\n"}


def contents(folder: Path) -> dict[str, str]:
    return {str(x.relative_to(folder)): x.read_text() for x in folder.rglob("*") if x.is_file()}


def test_files_are_written(tmp_path: Path) -> None:
    paths = write(FILES, tmp_path / "a" / "b")
    assert paths == [tmp_path / "a" / "b" / name for name in FILES]
    assert contents(tmp_path) == {f"a/b/{name}": text for name, text in FILES.items()}
    write({"x.tex": "é"}, tmp_path / "named.tex")
    assert (tmp_path / "named.tex").read_bytes() == "é".encode()
    write({"x.tex": "x"}, tmp_path / "a")
    write({"x.tex": "x"}, f"{tmp_path}/new/")
    assert (tmp_path / "a" / "x.tex").read_text() == (tmp_path / "new" / "x.tex").read_text() == "x"


def test_files_are_not_replaced_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("mine")
    with pytest.raises(ArgumentError, match=r"two\.txt: is there already; choose another output, or replace it"):
        write(FILES, tmp_path)
    assert contents(tmp_path) == {"two.txt": "mine"}
    write(FILES, tmp_path, force=True)
    assert contents(tmp_path) == FILES
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(ArgumentError, match="is there already"):
        write({"folder.txt": ""}, f"{tmp_path}/", force=True)


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match=r"file.*: cannot be written: .*; choose another output"):
        write(FILES, tmp_path / "file" / "inner")
    with pytest.raises(ArgumentError, match=r"aaa/one.txt: cannot be written: .*; choose another output"):
        write(FILES, tmp_path / ("a" * 300))
    assert contents(tmp_path) == {"file": ""}


@pytest.mark.parametrize(
    ("output", "error", "message"),
    [
        (3, ArgumentTypeError, "output=3: is not a path; give a file or a folder"),
        ("", ArgumentError, "output (--output) is empty; give a file or a folder"),
        ("new/one.txt", ArgumentError, "one.txt: is a file name, and there are 3 files; give a folder"),
    ],
)
def test_outputs_that_are_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Any, error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=re.escape(message)):
        write(FILES, output)
    assert list(tmp_path.iterdir()) == []


Break = Callable[[int], None]


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Ctrl-C at the k-th step of writing, before it or right after it."""

    def at(k: int) -> None:
        steps = 0

        def stopping(step: Callable[..., Any]) -> Callable[..., Any]:
            def stepped(*args: Any, **kwargs: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps == k:
                    raise KeyboardInterrupt
                result = step(*args, **kwargs)
                steps += 1
                if steps == k:
                    raise KeyboardInterrupt
                return result

            return stepped

        for owner, name in ((os, "replace"), (shutil, "copy2"), (Path, "write_text"), (Path, "mkdir")):
            monkeypatch.setattr(owner, name, stopping(getattr(owner, name)))

    return at


@pytest.mark.parametrize("k", range(1, 15))
def test_an_interruption_leaves_nothing(tmp_path: Path, interrupt: Break, k: int) -> None:
    interrupt(k)
    with pytest.raises(KeyboardInterrupt):
        write(FILES, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("k", range(1, 19))
def test_an_interruption_brings_back_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupt: Break, k: int
) -> None:
    before = {"one.txt": "mine", "three.txt": "mine too"}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    interrupt(k)
    with pytest.raises(KeyboardInterrupt):
        write(FILES, tmp_path, force=True)
    monkeypatch.undo()
    assert contents(tmp_path) == before
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted(before)

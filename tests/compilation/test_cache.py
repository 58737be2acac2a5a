"""The cache of libraries: whose code it runs, what it heals, how large it becomes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import casadi as ca
import pytest

from gdalembert.compilation import cache as caches
from gdalembert.compilation.cache import DAY, Cache
from gdalembert.compilation.compiled_function import compile
from gdalembert.errors import CompilationError

NOBODY = 65534


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no compiler of the user's own choice."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def open_mask() -> Iterator[None]:
    """Files are made for everybody, as under ``umask 000``."""
    before = os.umask(0)
    yield
    os.umask(before)


def filled(folder: Path, key: str, contents: bytes = b"machine code") -> Path:
    """A library in a cache, which no system would load."""
    cache = Cache(folder)
    with cache.build() as place:
        (place / "function.so").write_bytes(contents)
        return cache.add(key * 64, place / "function.so")


def found(folder: Path, key: str) -> list[Path]:
    return list(Cache(folder, "square").libraries(key * 64))


def square() -> ca.Function:
    x = ca.SX.sym("x", 2)
    return ca.Function("square", [x], [x * x], ["x"], ["y"])


# Whose code it is


@pytest.mark.usefixtures("open_mask")
def test_folders_and_libraries_are_for_their_owner_alone_whatever_the_mask(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cache"
    library = filled(folder, "a")
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder, library.parent, library)] == [0o700] * 4
    assert found(folder, "a") == [library]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
@pytest.mark.parametrize("what", ["cache", "entry", "library"])
def test_what_others_can_write_is_refused(cache: Path, what: str, mode: int) -> None:
    library = filled(cache, "a")
    path = {"cache": cache, "entry": library.parent, "library": library}[what]
    path.chmod(mode)
    with pytest.raises(CompilationError) as caught:
        found(cache, "a")
    assert str(caught.value) == (
        f"square: {path} can be written by others (mode {mode:04o}), and what is in it would run with your rights; "
        "delete it, or set GDALEMBERT_CACHE to a folder of your own"
    )
    if what == "cache":
        with pytest.raises(CompilationError, match="can be written by others"):
            filled(cache, "b")


@pytest.mark.parametrize("what", ["cache", "entry", "library"])
def test_what_belongs_to_another_user_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    library = filled(cache, "a")
    foreign = {"cache": cache, "entry": library.parent, "library": library}[what]
    own = foreign.lstat()
    other = os.stat_result((*own[:4], NOBODY, *own[5:]))
    for name in ("stat", "lstat"):
        real = getattr(Path, name)
        monkeypatch.setattr(Path, name, lambda path, real=real, **o: other if path == foreign else real(path, **o))
    with pytest.raises(CompilationError, match=rf"^square: {foreign} belongs to another user \(uid {NOBODY}\), and"):
        found(cache, "a")


def test_a_link_to_an_entry_of_others_is_refused(cache: Path, tmp_path: Path) -> None:
    library = filled(tmp_path / "theirs", "a")
    filled(cache, "b")
    (cache / ("a" * 64)).symlink_to(library.parent)
    with pytest.raises(CompilationError, match=r"a{64} is a symbolic link, and"):
        found(cache, "a")


@pytest.mark.system
@pytest.mark.parametrize("what", ["cache", "entry"])
def test_foreign_code_is_not_run(cache: Path, tmp_path: Path, what: str) -> None:
    """What was planted in a folder that everybody could write to."""
    library = compile(square()).library
    assert library is not None
    proof = tmp_path / "proof"
    code = tmp_path / "planted.c"
    code.write_text(
        f'#include <stdio.h>\n__attribute__((constructor)) static void run(void) {{ fclose(fopen("{proof}", "w")); }}\n'
    )
    os.system(f"cc -shared -fPIC -o {tmp_path}/planted.so {code}")
    planted = filled(tmp_path / "other", "a", (tmp_path / "planted.so").read_bytes())
    library.unlink()
    shutil.copy(planted, library.parent / planted.name)
    (cache if what == "cache" else library.parent).chmod(0o777)
    with pytest.raises(CompilationError, match="would run with your rights"):
        compile(square())
    assert not proof.exists()


# What it heals


@pytest.mark.parametrize("what", ["garbage", "folder", "link", "loop"])
def test_what_is_no_library_is_removed(cache: Path, what: str) -> None:
    library = filled(cache, "a")
    library.unlink()
    if what == "garbage":
        library.write_bytes(b"garbage")
    elif what == "folder":
        library.mkdir()
        (library / "file").touch()
    else:
        library.symlink_to(library if what == "loop" else "/nowhere")
    assert found(cache, "a") == []
    assert list(library.parent.glob("*.so")) == []
    assert filled(cache, "a") == library
    assert found(cache, "a") == [library]


@pytest.mark.system
def test_a_library_without_our_symbols_is_built_anew(cache: Path, tmp_path: Path) -> None:
    library = compile(square()).library
    assert library is not None
    (tmp_path / "other.c").write_text("int other;\n")
    os.system(f"cc -shared -fPIC -o {tmp_path}/other.so {tmp_path}/other.c")
    library.unlink()
    other = filled(tmp_path / "elsewhere", "a", (tmp_path / "other.so").read_bytes())
    stranger = Path(shutil.copy2(other, library.parent / other.name))
    assert compile(square())([3, 4]).tolist() == [9, 16]
    assert not stranger.exists()
    odd = tmp_path / "odd"
    odd.write_text(f'#!/bin/sh\ncase "$*" in *-dM*) echo macros;; *) cp {tmp_path}/other.so function.so;; esac\n')
    odd.chmod(0o755)
    with pytest.raises(CompilationError, match=r"^square: the library that .*odd built does not load from .*symbol"):
        compile(square(), compiler=str(odd))


@pytest.mark.parametrize("step", ["libraries", "build"])
def test_a_folder_that_cannot_be_entered_is_an_error_of_ours(
    cache: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(cache))

    monkeypatch.setattr(Cache, step, denied)
    message = f"^square: cannot use the cache folder {cache}: Permission denied; set GDALEMBERT_CACHE to a folder"
    with pytest.raises(CompilationError, match=message):
        compile(square(), compiler=str(shutil.which("true")))


@pytest.mark.parametrize("folder", ["~no-such-user/cache", "nul\0byte"])
def test_a_folder_that_cannot_be_is_an_error_of_ours(folder: str) -> None:
    with pytest.raises(CompilationError, match=r"^square: .*; set GDALEMBERT_CACHE to a folder of your own$"):
        compile(square(), cache=folder, compiler=str(shutil.which("true")))


def test_the_remains_of_killed_builds_are_removed_after_a_day(cache: Path) -> None:
    filled(cache, "a")
    for name, age in (("build-old", DAY + 1), ("build-young", DAY - 60)):
        (cache / name).mkdir()
        (cache / name / "function.c").touch()
        os.utime(cache / name, (time.time() - age,) * 2)
    filled(cache, "b")
    assert sorted(os.listdir(cache)) == ["a" * 64, "b" * 64, "build-young"]


# How large it becomes


def test_above_its_bound_the_cache_loses_what_was_not_used_longest(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "MAX_SIZE", 35)
    for age, key in enumerate("abc"):
        os.utime(filled(cache, key, 10 * key.encode()), (time.time() - 100 + age,) * 2)
    assert found(cache, "a")  # used now
    filled(cache, "d", b"d" * 10)
    assert [entry.folder.name[0] for entry in Cache().entries()][-1:] == ["c"]
    assert sorted(each[0] for each in os.listdir(cache)) == ["a", "c", "d"]
    filled(cache, "e", b"e" * 100)  # larger than all that fits, and kept because it is used now
    assert sorted(each[0] for each in os.listdir(cache)) == ["e"]


def test_to_clear_a_cache_removes_its_libraries_and_nothing_else(cache: Path) -> None:
    filled(cache, "a")
    filled(cache, "b")
    (cache / "build-killed").mkdir()
    (cache / "notes.txt").touch()
    (cache / "folder").mkdir()
    (cache / ("c" * 64)).symlink_to(cache / "folder")
    assert sorted(entry.folder.name[0] for entry in Cache().clear()) == ["a", "b"]
    assert sorted(os.listdir(cache)) == ["c" * 64, "folder", "notes.txt"]
    assert Cache().clear() == Cache().entries() == []
    assert Cache(cache / "missing").entries() == []

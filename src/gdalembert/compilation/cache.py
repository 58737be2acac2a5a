"""The cache of libraries: a folder for each key and in it a library, named after its contents.

Whoever loads a library runs its code. So the folders are made for their owner alone, and what belongs to another user,
or what others can write to, is refused. A hash protects against damage, not against people.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gdalembert.errors import CompilationError
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.source_text import comment_text

MAX_SIZE = 1_000_000_000
"""Size of the libraries in a cache [bytes]; above it, those that were not used for the longest time are removed."""
DAY = 86400.0
"""Age at which the folder of a build is what a killed process left [s]; no compiler runs for so long."""

_NAME = "name.txt"
_KEY, _BUILDS = re.compile(r"[0-9a-f]{64}"), re.compile("build-.*")


@dataclass(frozen=True)
class CachedLibrary(Brief):
    """A library in a cache.

    Attributes:
        folder: of the library. ``size``: [bytes]. ``used``: when it was last used [s since the epoch].
        name: the Function that it was built for first, or the caller; "" if that is not known.
    """

    folder: Path
    name: str
    size: int
    used: float


class Cache:
    """A folder of libraries.

    Args:
        folder: by default ``$GDALEMBERT_CACHE``, else ``gdalembert`` in the user's cache folder.
        name: that of the Function to be compiled, for messages.

    What is in it raises CompilationError if another user could have put code there, OSError if it cannot be used.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, name: str = "cache") -> None:
        self.name = name
        xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
        try:
            if path := folder or os.environ.get("GDALEMBERT_CACHE"):
                self.folder = Path(path).expanduser().absolute()
            elif xdg.is_absolute():
                self.folder = xdg / "gdalembert"
            else:
                self.folder = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "gdalembert"
        except RuntimeError as error:
            raise CompilationError(name, f"{error}; set GDALEMBERT_CACHE to a folder of your own") from error

    def libraries(self, key: str) -> Iterator[Path]:
        """The intact libraries of a key; damaged ones are removed."""
        entry = self.folder / key
        if not os.path.lexists(entry):
            return
        self._check(self.folder)
        self._check(entry)
        for path in (entry / name for name in sorted(os.listdir(entry)) if name.endswith(".so")):
            if not _is_intact(path):
                remove(path)
                continue
            self._check(path)
            # when it was last used, in mtime: file systems are often mounted without atime
            with contextlib.suppress(OSError):  # in a folder that can only be read
                os.utime(path)
            yield path

    @contextlib.contextmanager
    def build(self) -> Iterator[Path]:
        """A new folder to compile in, on the same file system."""
        _make(self.folder)
        self._check(self.folder)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="build-") as folder:
            yield Path(folder)

    def add(self, key: str, library: Path) -> Path:
        """Move a library into the cache, and remove what killed builds left, and the libraries that do not fit."""
        entry = self.folder / key
        library.chmod(0o700)
        name = f"{hashlib.sha256(library.read_bytes()).hexdigest()}.so"
        # again and not under a lock file, which a killed process would leave behind
        for attempt in range(3):
            _make(entry)
            try:
                self._check(entry)
                (entry / _NAME).write_text(comment_text(self.name), encoding="ascii")
                added = library.replace(entry / name)
                break
            except FileNotFoundError:  # another process has removed the entry meanwhile
                if attempt == 2:
                    raise
        for folder in self._folders(_BUILDS):
            with contextlib.suppress(OSError):
                if time.time() - folder.lstat().st_mtime > DAY:
                    remove(folder)
        total = 0
        for cached in self.entries():
            total += cached.size
            if total > MAX_SIZE and cached.folder != entry:
                remove(cached.folder)
        return added

    def entries(self) -> list[CachedLibrary]:
        """Libraries in the cache, the last used first."""
        libraries = []
        for folder in self._folders(_KEY):
            with contextlib.suppress(OSError):  # removed meanwhile, or not ours to read
                states = [path.lstat() for path in folder.glob("*.so")]
                size = sum(state.st_size for state in states)
                used = max((state.st_mtime for state in states), default=0.0)
                libraries.append(CachedLibrary(folder, _name_in(folder), size, used))
        return sorted(libraries, key=lambda entry: entry.used, reverse=True)

    def clear(self) -> list[CachedLibrary]:
        """Remove all libraries and builds, and nothing else; returns the entries removed."""
        before = self.entries()
        for folder in (*self._folders(_KEY), *self._folders(_BUILDS)):
            remove(folder)
        return [entry for entry in before if not os.path.lexists(entry.folder)]

    def _folders(self, name: re.Pattern[str]) -> list[Path]:
        folders = []
        with contextlib.suppress(FileNotFoundError):
            for item in os.scandir(self.folder):
                with contextlib.suppress(OSError):
                    if name.fullmatch(item.name) and item.is_dir(follow_symlinks=False):
                        folders.append(Path(item))
        return folders

    def _check(self, path: Path) -> None:
        """Refuse a file or folder that another user could have written."""
        state = path.stat() if path == self.folder else path.lstat()
        if os.name != "posix":
            return
        if state.st_uid not in (0, os.geteuid()):
            why = f"belongs to another user (uid {state.st_uid})"
        elif stat.S_ISLNK(state.st_mode):
            why = "is a symbolic link"
        elif state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            why = f"can be written by others (mode {stat.S_IMODE(state.st_mode):04o})"
        else:
            return
        raise CompilationError(
            self.name,
            f"{path} {why}, and what is in it would run with your rights; "
            "delete it, or set GDALEMBERT_CACHE to a folder of your own",
        )


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it, as far as possible."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _name_in(folder: Path) -> str:
    """The name beside a library, as text for a terminal; "" if there is none."""
    with contextlib.suppress(OSError):
        return comment_text((folder / _NAME).read_text(encoding="ascii", errors="replace"))
    return ""


def _make(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone."""
    for missing in reversed([above for above in (folder, *folder.parents) if not above.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def _is_intact(path: Path) -> bool:
    """True if it is a regular file that is named after its contents."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            return path.stem == hashlib.sha256(path.read_bytes()).hexdigest()
    return False

"""Files that are all written, or none."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gdalembert.errors import ArgumentError, ArgumentTypeError


def write(files: Mapping[str, str], output: str | os.PathLike[str], *, force: bool = False) -> list[Path]:
    """Write texts as UTF-8; after any interruption the folder has either all files or its former contents.

    Args:
        files: text by file name.
        output: the folder, made if it does not exist. A single text goes into the file of this name, unless it is a
            folder or ends with a slash.
        force: whether existing files are replaced.

    Returns:
        The paths of the files.

    Raises:
        ArgumentTypeError: if the output is not a path.
        ArgumentError: if a file exists already, or cannot be written.
    """
    if not isinstance(output, str | os.PathLike):
        raise ArgumentTypeError(f"output={output!r}: is not a path; give a file or a folder")
    if not os.fspath(output):
        raise ArgumentError("output (--output) is empty; give a file or a folder, '.' for the one you are in")
    path, as_folder = Path(output), os.fspath(output).endswith(("/", os.sep))
    try:
        targets = _targets(files, path, as_folder or len(files) > 1 or path.is_dir(), force)
        _write_into(next(iter(targets)).parent, targets)
    except OSError as error:
        where = error.filename or path
        raise ArgumentError(f"{where}: cannot be written: {error.strerror}; choose another output") from error
    return list(targets)


def _targets(files: Mapping[str, str], path: Path, as_folder: bool, force: bool) -> dict[Path, str]:
    """Text by path."""
    if len(files) > 1 and path.suffix in {Path(name).suffix for name in files} - {""} and not path.is_dir():
        raise ArgumentError(f"{path}: is a file name, and there are {len(files)} files; give a folder")
    targets = {path / name if as_folder else path: text for name, text in files.items()}
    for target in targets:
        if target.exists() and not (force and target.is_file()):
            raise ArgumentError(f"{target}: is there already; choose another output, or replace it by force (--force)")
    return targets


def _write_into(folder: Path, targets: Mapping[Path, str]) -> None:
    """Make the folder if it is not there, and write; folders that were made go if that fails."""
    made = _missing(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".gdalembert-") as stage:
            _write(targets, Path(stage))
        made = []
    finally:
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()


def _missing(folder: Path) -> list[Path]:
    """The folders that have to be made, the innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _write(targets: Mapping[Path, str], stage: Path) -> None:
    """Write all texts into ``stage``, then move all into place; if that fails, restore the former files."""
    new = {target: stage / f"{k}.new" for k, target in enumerate(targets)}
    old = {target: stage / f"{k}.old" for k, target in enumerate(targets)}
    for target, text in targets.items():
        new[target].write_text(text, encoding="utf-8", newline="\n")
    kept = [target for target in targets if target.exists()]
    for target in kept:
        shutil.copy2(target, old[target])
    try:
        for target in targets:
            os.replace(new[target], target)
    except BaseException:
        for target in targets:
            if new[target].exists():
                continue
            if target in kept:
                os.replace(old[target], target)
            else:
                target.unlink(missing_ok=True)
        raise

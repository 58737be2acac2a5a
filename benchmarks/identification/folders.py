"""What the scripts of measured robots share: files of a folder, residuals as rows of tables, and their pages."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.common.tables import RESULTS

Array = npt.NDArray[np.float64]


def file_in(folder: Path, name: str) -> Path:
    """A file of a folder or of the folders in it, as of a checkout of a repository."""
    paths = sorted(path for path in folder.rglob(name) if path.is_file())
    if not paths:
        raise SystemExit(f"{folder}: no file {name} in it; give the folder of the data")
    return paths[0]


def relative(predicted: Array, measured: Array) -> Array:
    """Root mean squares of the residuals, % of those of what was measured."""
    return np.asarray(100 * np.linalg.norm(measured - predicted, axis=0) / np.linalg.norm(measured, axis=0))


def row(title: str, numbers: Array, *more: str | None) -> list[object]:
    """A row of a table: numbers with a digit after the point, and what stands after them."""
    return [title, *(f"{x:.1f}" for x in numbers), *more]


def write_page(description: str | None, page: Callable[[Path], str], name: str) -> None:
    """Print the page of the folder that the command line names, and write it into the results."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="of the data")
    text = page(parser.parse_args().folder)
    print(text)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")

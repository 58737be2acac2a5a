"""``gdalembert cache``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from gdalembert.cli.output import print_table
from gdalembert.compilation.cache import MAX_SIZE, Cache, CachedLibrary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run` reads."""
    parser.add_argument("--clear", action="store_true", help="remove the libraries, and what killed builds left")


def run(arguments: argparse.Namespace) -> int:
    """List or remove the libraries that ``gd.compile`` has built."""
    cache = Cache()
    if arguments.clear:
        print(f"{cache.folder}: removed {_sum(cache.clear())}")
        return 0
    entries = cache.entries()
    print(f"{cache.folder}: {_sum(entries)}, of at most {_size(MAX_SIZE)}")
    if entries:
        used = (time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used)) for entry in entries)
        rows = [(entry.folder.name[:12], _size(entry.size), date) for entry, date in zip(entries, used, strict=True)]
        print_table(("library", "size", "last used"), rows, left=(0, 2))
    return 0


def _sum(entries: Sequence[CachedLibrary]) -> str:
    number = "1 library" if len(entries) == 1 else f"{len(entries)} libraries"
    return f"{number}, {_size(sum(entry.size for entry in entries))}"


def _size(number: float) -> str:
    """Bytes, with the unit that suits them."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"

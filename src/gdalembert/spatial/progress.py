"""The progress of a long computation, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def progress(what: str, total: int, unit: str, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """A function that is called with the number of units done since the last call.

    Args:
        what: the name of the computation.
        total, unit: how many units there are, and their name in the plural.
        shown: whether to show a bar, by tqdm, or a line that counts where tqdm is not installed.
    """
    if not shown:
        yield lambda _: None
        return
    try:
        bar = import_module("tqdm").tqdm
    except ImportError:
        with _line(what, total, unit) as advance:
            yield advance
        return
    with bar(desc=what, total=total, unit=f" {unit}") as opened:
        yield opened.update


@contextmanager
def _line(what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        print(f"\r{what}: {done} of {total} {unit}", end="", file=sys.stderr, flush=True)

    try:
        yield advance
    finally:
        print(file=sys.stderr)

"""The threads that share the work of batches: started when they are first needed, and kept."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

Part = TypeVar("Part")


def share(work: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Do the work of all parts, the first one here, and raise what the earliest part raises."""
    first, *others = parts
    futures = [_pool().submit(work, part) for part in others]
    try:
        work(first)
    finally:
        wait(futures)
    for future in futures:
        future.result()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4 * (os.cpu_count() or 1), "gdalembert")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads are not forked

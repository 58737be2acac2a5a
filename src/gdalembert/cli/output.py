"""What the command line writes: tables on stdout, messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> None:
    """Print aligned columns; those in ``left`` are flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            f"{cell:<{width}}" if k in left else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


PROG = "gdalembert"


def tell(message: object) -> None:
    """One line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"{PROG}: {' '.join(str(message).split())}", file=sys.stderr, flush=True)

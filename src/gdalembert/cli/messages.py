"""Messages on stderr, one line each."""

from __future__ import annotations

import sys

PROG = "gdalembert"


def tell(message: object) -> None:
    """One line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"{PROG}: {' '.join(str(message).split())}", file=sys.stderr, flush=True)


def is_watched() -> bool:
    """Whether somebody sees stderr while the command runs: it is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()

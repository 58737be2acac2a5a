"""A terminal in the place of stderr, and what is seen there."""

from __future__ import annotations

import io
import re


class Terminal(io.StringIO):
    """Keeps what is written; as wide as ``COLUMNS`` of the environment says."""

    def isatty(self) -> bool:
        return True

    @property
    def states(self) -> list[str]:
        """States of the lines that moved, without the seconds at their ends."""
        return [without_seconds(state) for state in re.split(r"[\r\n]", self.getvalue()) if state]


def without_seconds(line: str) -> str:
    return re.sub(r", (\d+ min )?[\d.]+ s *$", "", line)

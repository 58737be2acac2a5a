"""Where the entries of an NLP stand along the motion."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Indices: TypeAlias = npt.NDArray[Any]
"""Integers or truth values."""

NOWHERE = -1
"""The interval of what belongs to none."""


class Places:
    """Where each entry of a vector stands: its group, its interval, and its number in both.

    Args:
        groups: of entries that are repeated in every interval, one number for each entry.
        intervals: of the entries, or :data:`NOWHERE`.
    """

    def __init__(self, groups: Indices, intervals: Indices) -> None:
        self.groups, self.intervals = groups, intervals
        self._keys: list[tuple[int, int]] = []
        self._at: dict[tuple[int, int, int], int] = {}
        self._shifted: dict[int, Indices] = {}
        counts: dict[tuple[int, int], int] = {}
        for i, (group, interval) in enumerate(zip(groups.tolist(), intervals.tolist(), strict=True)):
            number = counts.get((group, interval), 0)
            counts[group, interval] = number + 1
            self._keys.append((group, number))
            self._at[group, number, interval] = i

    def shifted(self, by: int) -> Indices:
        """For each entry that which stands so many intervals later; the last of them where there is none."""
        if by not in self._shifted:
            found = []
            for i, ((group, number), interval) in enumerate(zip(self._keys, self.intervals.tolist(), strict=True)):
                later = range(interval + by, interval, -1) if interval != NOWHERE else ()
                found.append(next((j for k in later if (j := self._at.get((group, number, k))) is not None), i))
            self._shifted[by] = np.array(found, dtype=int)
            self._shifted[by].setflags(write=False)
        return self._shifted[by]

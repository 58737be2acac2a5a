"""The entries of a program's variables and rows: the interval of each, and what it stands for."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Indices: TypeAlias = npt.NDArray[Any]
"""Integers or truth values."""

NOWHERE = -1
"""The interval of what belongs to none."""


class IntervalIndex:
    """The group and the interval of each entry of a vector, and its number in both.

    Args:
        groups: of entries that are repeated in every interval, one number for each entry.
        intervals: of the entries, or :data:`NOWHERE`.
    """

    def __init__(self, groups: Indices, intervals: Indices) -> None:
        self.groups, self.intervals = groups, intervals
        self._keys: list[tuple[int, int]] = []
        self._at: dict[tuple[int, int, int], int] = {}
        self._shifted: dict[int, Indices] = {}
        counts: Counter[tuple[int, int]] = Counter()
        for i, (group, interval) in enumerate(zip(groups.tolist(), intervals.tolist(), strict=True)):
            self._keys.append((group, counts[group, interval]))
            self._at[*self._keys[-1], interval] = i
            counts[group, interval] += 1

    def shifted(self, by: int) -> Indices:
        """The entry of the same number so many intervals later, of each entry; the last one where there is none."""
        if by not in self._shifted:
            later_entries = []
            for i, ((group, number), interval) in enumerate(zip(self._keys, self.intervals.tolist(), strict=True)):
                later = range(interval + by, interval, -1) if interval != NOWHERE else ()
                later_entries.append(next((j for k in later if (j := self._at.get((group, number, k))) is not None), i))
            self._shifted[by] = np.array(later_entries, dtype=int)
            self._shifted[by].setflags(write=False)
        return self._shifted[by]


class Label(NamedTuple):
    """Origin of a row or of a fixed variable.

    Attributes:
        name: of the constraint. ``where``: its place along the motion.
        user: whether the user asked for it.
        rank: 0: it takes part in everything, as the equations of motion, and is named last; 2: it is named first.
    """

    name: str
    where: str = ""
    user: bool = False
    rank: int = 1

    def __str__(self) -> str:
        return f"{self.name} {self.where}".rstrip()


Labels: TypeAlias = tuple[list[Label], dict[int, Label]]
"""What the rows of g stand for, and those variables that a constraint fixes by equal bounds."""

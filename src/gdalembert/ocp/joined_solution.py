"""The solution of several problems that are solved as one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from gdalembert.ocp.solution import Solution
from gdalembert.ocp.systems import Robot
from gdalembert.simulation.result import Simulation


@dataclass(frozen=True, eq=False, kw_only=True)
class JoinedSolution(ABC):
    """What the solutions of problems in phases and in scenarios have in common."""

    kind: ClassVar[str]
    """What each problem is."""

    status: str
    iterations: int
    cost: float
    constraint_violation: float
    violations: dict[str, float]
    stats: dict[str, Any]
    solved: bool
    hints: tuple[str, ...] = ()

    @property
    @abstractmethod
    def parts(self) -> tuple[Solution, ...]:
        """The solution of each problem."""

    @property
    def dyn(self) -> Robot:
        """The robot of the first problem."""
        return self.parts[0].dyn

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.parts[0].duration

    @property
    def step_error(self) -> float:
        """The largest :attr:`Solution.step_error` of any of them."""
        return max(each.step_error for each in self.parts)

    @property
    def excess(self) -> dict[str, float]:
        """:attr:`Solution.excess` of all, by names with the number of the problem."""
        return {f"{label}: {name}": x for label, each in self.labelled() for name, x in each.excess.items()}

    def labelled(self) -> Iterator[tuple[str, Solution]]:
        """The solution of each problem, with what it is: ``"phase 2"``."""
        return ((f"{self.kind} {k}", each) for k, each in enumerate(self.parts, start=1))

    def simulate(self, **options: Any) -> list[Simulation]:
        """Each motion under its u, from its start: :meth:`Solution.simulate`."""
        return [each.simulate(**options) for each in self.parts]

    def __str__(self) -> str:
        head = (
            f"{self.dyn.tree.name}: {self.status} after {self.iterations} iterations: cost {self.cost:.6g}, "
            f"{self.duration:.6g} s in {len(self.parts)} {self.kind}s, constraints violated by "
            f"{self.constraint_violation:.1e}"
        )
        rows = [f"  {label}: {self._about(k, each)}" for k, (label, each) in enumerate(self.labelled())]
        return "\n".join([head, *rows])

    @abstractmethod
    def _about(self, k: int, part: Solution) -> str:
        """A row of the printed solution."""

"""The solutions of problems that are solved as one: motions in phases, and under one u in scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.ocp.solution import Deferred, JoinedSolution, Solution
from gdalembert.ocp.system.guess import Guess
from gdalembert.spatial.arrays import Array


def joined_outcome(kind: str, parts: tuple[Solution, ...], cost: float) -> dict[str, Any]:
    """Summary that a :class:`JoinedSolution` gives of all parts, each of which is of a kind."""
    named = {f"{kind} {k}: {name}": x for k, part in enumerate(parts, 1) for name, x in part.violations.items()}
    shared = {key: getattr(parts[0], key) for key in ("status", "iterations", "stats", "solved")}
    worst = max(each.constraint_violation for each in parts)
    return shared | {"cost": cost, "constraint_violation": worst, "violations": named}


@dataclass(frozen=True, eq=False, kw_only=True)
class PhasesSolution(JoinedSolution):
    """The motions that solve a problem in phases.

    Attributes:
        phases: the solution of each phase; their times begin at 0.
        impulses: those of the constraints (nc) at the start of each phase [N s, N m s]; none where nothing takes hold.
        cost: the minimum, the sum of the phases' costs.
        violations: by name, the largest violation of each kind, in each phase and where they meet.
        status, iterations, stats, constraint_violation, solved, hints: as of a :class:`Solution`.
    """

    kind: ClassVar[str] = "phase"

    phases: tuple[Solution, ...]
    impulses: tuple[Array, ...]

    @property
    def duration(self) -> float:
        """Duration of all phases [s]."""
        return float(sum(phase.duration for phase in self.phases))

    @property
    def t(self) -> Array:
        """Times of the grids of all phases [s]; where two meet, there are two rows, before and after an impact."""
        return np.concatenate([begin + phase.t for begin, phase in zip(self._begins, self.phases, strict=True)])

    @property
    def _begins(self) -> Sequence[float]:
        return [float(x) for x in np.cumsum([0.0, *(phase.duration for phase in self.phases[:-1])])]

    @property
    def q(self) -> Array:
        """A row for each of these times."""
        return np.vstack([phase.q for phase in self.phases])

    @property
    def v(self) -> Array:
        """A row for each of these times."""
        return np.vstack([phase.v for phase in self.phases])

    @property
    def u(self) -> Array:
        """A row for each of these times; where u is constant, that of the interval that begins there.

        Raises:
            ArgumentError: if actuators or the kind of control differ from phase to phase.
        """
        if len({(phase.control, phase.bounds.u_names) for phase in self.phases}) > 1:
            raise ArgumentError("u of phases: their actuators or their control differ; take u of each of phases")
        return np.vstack([phase._rows_of_u for phase in self.phases])

    @property
    def control(self) -> str:
        """The kind of control of the first phase: ``"constant"`` or ``"linear"``."""
        return self.phases[0].control

    def _about(self, k: int, part: Solution) -> str:
        impulses = self.impulses[k]
        hit = f", after impulses up to {np.abs(impulses).max():.3g} N s or N m s" if impulses.size else ""
        return f"{part.duration:.4g} s, steps off by {part.step_error:.1e}{hit}"


class RealTimePhasesSolution(Deferred, PhasesSolution):
    """A plan of a tick under a schedule of contacts, of which violations are computed when they are read."""


def whole_motion(solution: PhasesSolution, shift: int = 0) -> Guess:
    """A solution as a guess of the whole motion, behind impacts where there are any.

    ``shift``: how many intervals are cut from its start; its end is repeated as often.
    """
    t, q, v, u = solution.t, solution.q, solution.v, solution.u
    a = np.vstack([phase.guess().a for phase in solution.phases])
    kept = np.append(np.diff(t) > 0, True)
    q, v, a, u = (np.vstack([x[kept][shift:], np.tile(x[-1:], (shift, 1))]) for x in (q, v, a, u))
    return Guess(t[kept], q, v, a, u, solution.phases[0].guess().blocks)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScenariosSolution(JoinedSolution):
    """The motions under the u that solves a problem in scenarios.

    Attributes:
        scenarios: the solution of each, all with the same ``t`` and ``u``.
        cost: the minimum, of the costs of the scenarios.
        violations: by name, the largest violation of each kind, in each scenario.
        status, iterations, stats, constraint_violation, solved, hints: as of a :class:`Solution`.
    """

    kind: ClassVar[str] = "scenario"

    scenarios: tuple[Solution, ...]

    @property
    def t(self) -> Array:
        """Times of the grid (N + 1) [s]."""
        return self.scenarios[0].t

    @property
    def u(self) -> Array:
        """The efforts that all scenarios share, a row for each interval or instant."""
        return self.scenarios[0].u

    @property
    def costs(self) -> Array:
        """The cost of each scenario."""
        return np.array([each.cost for each in self.scenarios])

    def _about(self, k: int, part: Solution) -> str:
        return f"cost {part.cost:.6g}, steps off by {part.step_error:.1e}"

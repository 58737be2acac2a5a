"""What the ends of problems of real-time iterations fix, as stages of a plan read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import casadi as ca
import numpy as np

from gdalembert.ocp.ends import EndpointConstraints
from gdalembert.ocp.real_time_problem import Layout, RealTimeProblem
from gdalembert.spatial.arrays import Array


class FixedEnds:
    """[q; v] at the ends of problems, and how contacts and loops that hold there combine what is fixed of it.

    Args:
        problems: of a schedule, which ends with one of them, or in sequence. ``layouts``: where their numbers are.
        spans: the instants of each problem in sequence, or of all.
        in_sequence: whether each problem has an end of its own.

    Attributes:
        arrays: ``x_end`` and ``combined`` of a :class:`~gdalembert.ocp.linear_stage.LinearStage`: the same for all
            stages, or with a row for each instant of problems in sequence.
        moved: the problems whose ends contacts or loops move.
    """

    def __init__(
        self,
        problems: Sequence[RealTimeProblem],
        layouts: Sequence[Layout],
        spans: Sequence[slice],
        *,
        in_sequence: bool,
    ) -> None:
        self._problems, self._spans, self._in_sequence = problems, spans, in_sequence
        tree = problems[0].con.tree
        sizes = {"x_end": tree.nq + tree.nv, "combined": layouts[0].combined}
        rows = [spans[-1].stop][: int(in_sequence)]
        self.arrays: dict[str, Array] = {name: np.zeros((*rows, size)) for name, size in sizes.items()}
        self._values = {
            k: problem.of_parameters(problem.end.expression) for k, problem in enumerate(problems) if problem.has_end
        }
        self.moved = {k: self._endpoint(k) for k in self._values if sum(problems[k].of_end)}
        self._last: dict[int, Array] = {}

    def __bool__(self) -> bool:
        """Whether any end fixes anything."""
        return bool(self._values)

    def _endpoint(self, k: int) -> EndpointConstraints:
        problem = self._problems[k]
        initial = self._problems[k if self._in_sequence else 0].formulation.initial
        return EndpointConstraints(problem.end, problem.system, partial(initial.configuration, -1))

    def _of(self, k: int) -> dict[str, Array]:
        """The arrays of a problem."""
        return {name: x[self._spans[k]] if self._in_sequence else x for name, x in self.arrays.items()}

    def set(self, last: int) -> None:
        """Take the parameters of problems as they are now; ``last``: the problem with which a schedule ends.

        Raises:
            ArgumentError: if contacts or loops hold there, and the values cannot be those of an end.
        """
        for k in self._values if self._in_sequence else self._values.keys() & {last}:
            values, problem = self._number(k), self._problems[k]
            if endpoint := self.moved.get(k):
                if (former := self._last.pop(k, None)) is None or not np.array_equal(former, values):
                    problem.end.set(problem.parameters)
                    endpoint.prepare()
                self._last[k], values = values, np.concatenate(problem.end.values)
                matrices = zip(endpoint.numbers[2:], problem.of_end, strict=True)
                entries = np.concatenate([x[:count, :count].ravel(order="F") for x, count in matrices])
                self._of(k)["combined"][..., : len(entries)] = entries
            self._of(k)["x_end"][:] = values

    def _number(self, k: int) -> Array:
        graph, known = self._values[k], self._problems[k].parameters.values
        value: ca.DM = graph.call([known[name] for name in graph.name_in()])[0]
        return np.array(value.full().ravel())

    def missed(self, k: int) -> Callable[[Array], dict[str, float]] | None:
        """[q; v] → by how much it misses the end of a problem as it is now, if that is fixed."""
        if k not in self._values:
            return None
        end, value = self._problems[k].end, np.atleast_2d(self._of(k)["x_end"])[0].copy()
        if k not in self.moved:
            return partial(end.missed, value=value)
        combined, turned = self.moved[k].numbers[2:], end.rotations()

        def of_combinations(x: Array) -> dict[str, float]:
            at, given, found = ca.MX(ca.DM(x)), ca.MX(ca.DM(value)), {}
            for key, matrix in zip("qv", combined, strict=True):
                rows = end.differences(key, at, given)
                if key == "q" and turned is not None:
                    rows = ca.vertcat(rows, turned(at[: len(end.fixed[0])], given))
                left = matrix[:, : rows.shape[0]] @ ca.evalf(rows).full()
                if rows.shape[0]:
                    found[f"{key} of {end.name}"] = float(np.abs(left).max(initial=0.0))
            return found

        return of_combinations

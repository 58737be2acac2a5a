"""Gaps that a motion keeps: rows of a problem, what raises their margins between instants, and ends in collision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.distances.distances import Distances
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.model.limits import Bounds
from gdalembert.model.tree import Tree
from gdalembert.nlp.program import InvalidStartError
from gdalembert.ocp.clearance.clear_path import cleared
from gdalembert.ocp.ends.ends import End
from gdalembert.ocp.ends.initial import Initial
from gdalembert.ocp.stage import Motion
from gdalembert.ocp.system.constraints import Gaps, LimitedExpression
from gdalembert.ocp.system.guess import Guess
from gdalembert.ocp.system.parameters import BoundaryCondition, ProblemParameters, RobotParameters
from gdalembert.ocp.system.system import Robot, System
from gdalembert.spatial.arguments import flag, number
from gdalembert.spatial.arrays import Array

_NUMBERS = count(1)
"""Of the parameters that raise margins: phases and scenarios must not share them, and they share what has one name."""
_SMALL, _MORE = 5e-6, 1.1
"""How much less than its margin a gap may be between instants [m]; and the part of it by which margins are raised."""
_LOOSE, _FIRST = 1e-3, 2
"""How much larger than its margin a gap may be where that is raised [m], in the first solutions, so many."""
_ROUNDING = 1e-9
"""By how much less than its margin a gap of an end may be [m]."""


class KeepsClear:
    """Part of :class:`~gdalembert.ocp.Problem` on this page."""

    dyn: Robot
    bounds: Bounds
    intervals: int
    _system: System
    _motion: Motion
    _initial: Initial
    _parameters: ProblemParameters
    _robot: RobotParameters
    _limited: list[LimitedExpression]
    _ends: list[End]
    _fixed: list[BoundaryCondition]

    def keep_clear(self, shapes: Distances, margin: float = 0.01, *, between: bool = True) -> None:
        """Keep the gaps of shapes at or above a margin, at the instants of the grid and between them.

            shapes = gd.Distances(dyn, geometry, {"post": gd.Capsule((0.4, 0, 0), (0.4, 0, 1), 0.05)})
            problem.keep_clear(shapes, margin=0.02)
            solution = problem.solve()
            solution.clearance  # gap [m], pair, time [s]

        Derivatives of the rows are those of ``shapes.derivatives``. At the start they make way for q and v that
        parameters give.

        Args:
            shapes: of this robot. Obstacles that are inputs are parameters of the problem, of their names: those that
                are there already, also of every instant; or they are made.
            margin: the least gap [m].
            between: whether gaps are looked at between instants, too. Where one is below the margin by the finer steps
                of the motion, its margin is raised at both instants beside it, and the problem solved again from
                there. ``"rti"`` keeps gaps of margin + h/2 |dd/dt| instead, with the length h of its intervals and the
                speeds of the last plan, which is enough where a gap is a convex or concave function of time over an
                interval. Of a tick, gaps that are 0.1 m larger than that are no limits.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used, the shapes are of another robot, or a
                parameter of the name of an obstacle has another size. By a solve: if a fixed end is closer than the
                margin, or a start that parameters give in collision; of ``"rti"`` by the first tick alone.
        """
        _check(shapes, self.dyn)
        margin = number("keep_clear: margin", margin, "m", inclusive=True)
        flag("keep_clear: between", between)
        if not shapes.pairs:
            raise ArgumentError("keep_clear: the shapes have no pairs that can come near; leave keep_clear out")
        if margin > shapes.near:
            raise ArgumentError(
                f"keep_clear: margin is {margin:g} m, and pairs of links that never come nearer than {shapes.near:g} m "
                f"are left out of the shapes; give gd.Distances(…, near={margin:g})"
            )
        known = self._parameters.symbols
        for name, size in shapes.inputs.items():
            if name not in known:
                self._parameters.make(name, size, None)
            elif known[name].shape[0] != size:
                raise ArgumentError(
                    f"keep_clear: the parameter {name!r} has {known[name].shape[0]} entries, and the obstacle of this "
                    f"name {size} numbers; give problem.parameter({name!r}, {size})"
                )
        (graph, slopes), raised = _graphs(shapes, len(self._robot)), f"keep_clear_{next(_NUMBERS)}"
        rows = np.full(len(shapes.pairs), margin)
        added = self._parameters.make(raised, len(rows), "grid")
        self._parameters.values[raised] = np.zeros(added.shape)
        inputs = {name: ca.MX.sym(name, *graph.size_in(name)) for name in graph.name_in()}
        extra = ca.MX.sym(raised, len(rows))
        value = graph(*inputs.values()) - extra
        path = ca.Function("gaps", [*inputs.values(), extra], [value], [*inputs, raised], ["value"])
        gaps = Gaps(graph, slopes, shapes.pairs, rows, raised, between)
        places = ("inner", "grid") if between else ("grid",)
        name = f"keep_clear {1 + sum(limited.gaps is not None for limited in self._limited)}"
        self._limited.append(LimitedExpression(name, path, rows, rows + np.inf, places, True, gaps))
        self._fixed.append(KeptGaps(gaps, shapes, self._ends, self._robot))
        if not self._system.con.nc:  # on which a path would have to stay
            self._initial.out_of_collision = self._out_of_collision

    def _out_of_collision(self, guess: Guess) -> Guess:
        kept, values, n = [path.gaps for path in self._limited if path.gaps], self._parameters.values, self.intervals

        def gaps_at(fractions: Array, q: Array) -> tuple[Array, Array]:
            count, found = len(q), list[tuple[Array, Array]]()
            known = {"q": q.T, "p": np.tile(self._robot.last[:, None], (1, count))}
            for gaps in kept:
                for name in gaps.slopes.name_in():
                    if name not in known:
                        rows = values[name] if values[name].shape[1] > 1 else np.tile(values[name], (1, n + 1))
                        known[name] = np.array([np.interp(fractions * n, np.arange(n + 1), row) for row in rows])
                d, slopes = gaps.slopes.map(count)(*(known[name] for name in gaps.slopes.name_in()))
                found.append((d.full() - gaps.margin[:, None], slopes.full().reshape(len(gaps.margin), count, -1)))
            return np.concatenate([d for d, _ in found]), np.concatenate([slopes for _, slopes in found])

        return cleared(guess, gaps_at, self._system, self.bounds, self._motion.range, self._robot.last)


def _check(shapes: Any, robot: Robot) -> None:
    """Refuse shapes that are none, or of another robot."""
    if not isinstance(shapes, Distances):
        raise ArgumentTypeError(f"keep_clear: got {shown(shapes)}; give gd.Distances(robot, …)")
    tree, other = robot.tree, shapes.kinematics.tree
    if _names(tree) != _names(other):
        raise ArgumentError(
            f"keep_clear: the shapes are of {other.name!r} (nq = {other.nq}), the problem of {tree.name!r} (nq = "
            f"{tree.nq}); give gd.Distances of the robot of the problem"
        )
    for joint, same in zip(tree.joints, other.joints, strict=True):
        for x, y in ((joint.rotation, same.rotation), (joint.translation, same.translation)):
            if not isinstance(x, ca.SX) and not isinstance(y, ca.SX) and not np.allclose(x, y, rtol=0, atol=1e-8):
                raise ArgumentError(
                    f"keep_clear: joint {joint.name!r} of the shapes stands elsewhere than that of the problem; give "
                    "gd.Distances of the robot of the problem"
                )
    if shapes.kinematics.parameters and shapes.kinematics.parameters.names != robot.parameters.names:
        raise ArgumentError(
            "keep_clear: the shapes have other parameters than the robot of the problem; give gd.Distances(dyn, …)"
        )


def _names(tree: Tree) -> list[tuple[str, int]]:
    return [(joint.name, joint.type.nq) for joint in tree.joints]


def _graphs(shapes: Distances, parameters: int) -> tuple[ca.Function, ca.Function]:
    """(q, obstacles by name, p) → (d), and to (d, dd_dq)."""
    tree = shapes.kinematics.tree
    inputs = {"q": ca.MX.sym("q", tree.nq)} | {name: ca.MX.sym(name, n) for name, n in shapes.inputs.items()}
    values = {"q": inputs["q"], "obstacles": ca.vertcat(*(inputs[name] for name in shapes.inputs))}
    if "p" in shapes.distance.name_in():
        values["p"] = inputs["p"] = ca.MX.sym("p", parameters)
    arguments = [values[name] for name in shapes.distance.name_in()]
    gaps, slopes = shapes.distance.call(arguments), shapes.derivatives.call(arguments)
    both = ((gaps, ["d"]), (slopes, ["d", "dd_dq"]))
    graph, with_slopes = (ca.Function("gaps", [*inputs.values()], out, [*inputs], names) for out, names in both)
    return graph, with_slopes


class KeptGaps(BoundaryCondition):
    """Checks of gaps by a solve: that they are large enough at both ends, and, behind it, between instants."""

    symbols: Sequence[ca.MX] = ()

    def __init__(self, gaps: Gaps, shapes: Distances, ends: Sequence[End], robot: RobotParameters) -> None:
        self._gaps, self._shapes, self._ends, self._robot, self._times = gaps, shapes, ends, robot, 0

    @property
    def numbers(self) -> Sequence[Array]:
        return []

    @property
    def pattern(self) -> tuple[bool, ...]:
        return ()

    def check(self, values: Mapping[str, Array]) -> None:
        self._shapes.check_obstacles(values)

    def set(self, parameters: ProblemParameters) -> None:
        self.check(parameters.values)
        self._times = 0
        parameters.values[self._gaps.raised] = np.zeros_like(parameters.values[self._gaps.raised])
        for end in self._ends:
            if (q := end.configuration(None)) is None:
                continue
            known = {name: x[:, [end.column if x.shape[1] > 1 else 0]] for name, x in parameters.values.items()}
            known |= {"q": q, "p": self._robot.last}
            gaps = self._gaps.graph(*(known[name] for name in self._gaps.graph.name_in())).full().ravel()
            self._refuse(end, gaps)

    def tighten(self, parameters: ProblemParameters, accuracy: Any) -> bool:
        """Raise the margins at both instants beside an interval in which a gap is too small, but not at fixed ends.

        Where the first time raised them by far too much, as when the first motion jumped over a shape, lower them.
        """
        if not self._gaps.guarded:
            return False
        self._times += 1
        missing = accuracy.missing(next(path for path in accuracy.paths.values() if path.gaps is self._gaps))
        raised = parameters.values[self._gaps.raised]
        of_intervals = np.maximum(raised[:, :-1], raised[:, 1:])
        loose = (of_intervals > 0) & (missing < -_LOOSE) & (self._times <= _FIRST)
        if missing.max() <= _SMALL and not loose.any():
            return False
        change = np.where(missing > _SMALL, _MORE * missing, np.where(loose, missing, 0.0))
        wanted = np.pad(np.maximum(of_intervals + change, 0.0), ((0, 0), (1, 1)))
        raised = np.maximum(wanted[:, :-1], wanted[:, 1:])
        raised[:, [end.column for end in self._ends if end.fixed[0].all()]] = 0.0
        parameters.values[self._gaps.raised] = raised
        return True

    def _refuse(self, end: End, gaps: Array) -> None:
        """Refuse an end that is too close, of the gaps there."""
        k = int((gaps - self._gaps.margin).argmin())
        gap, margin, (first, second) = gaps[k], self._gaps.margin[k], self._gaps.pairs[k]
        makes_way = end.measured == "qv" and not end.column
        if gap >= (0.0 if makes_way else margin) - _ROUNDING:
            return
        error = InvalidStartError if end.is_measured("q") else ArgumentError
        if gap < 0:
            raise error(f"keep_clear: at the {end.name} {first} is {-gap:.3g} m inside {second}; move one of them")
        raise error(
            f"keep_clear: at the {end.name} the gap of {first} and {second} is {gap:.3g} m, less than the margin "
            f"{margin:g} m; move one of them, or give a smaller margin"
        )

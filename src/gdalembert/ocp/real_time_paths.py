"""Real-time plans: where numbers of several problems are, and by how much paths are exceeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.compiled_function import CompiledFunction
from gdalembert.ocp.solution import FollowedPath
from gdalembert.spatial.arrays import Array


class LimitedPaths(NamedTuple):
    """The paths of a problem, and by how much each is exceeded at an instant, of the arrays of the plan.

    Attributes:
        names: of the paths.
        of_state: those of q and v alone.
    """

    names: tuple[str, ...]
    excess: CompiledFunction
    arrays: list[Array]
    of_state: list[int]

    def inputs(self, first: int, end: int) -> list[Array]:
        """A copy of the arrays from one instant to another."""
        return [x[first : end + 1].copy() if x.ndim > 1 else x.copy() for x in self.arrays]

    def violations(self, inputs: Sequence[Array], *, measured: bool) -> dict[str, float]:
        """Of these arrays; ``measured``: q and v at their first instant are measured, which no plan changes."""
        beyond = self.excess.batch(*inputs)
        if measured:
            beyond[0, self.of_state] = 0.0
        return dict(zip(self.names, beyond.max(axis=0, initial=0.0).tolist(), strict=True))


class PathOfParameters(NamedTuple):
    """A path of q and v, whose limits, and whose other inputs, are those of parameters.

    Attributes:
        graph: the expression. ``limits``: its two limits, by parameters. ``names``: of its other inputs.
    """

    graph: ca.Function
    limits: ca.Function
    names: tuple[str, ...]

    @property
    def parameters(self) -> list[str]:
        """All that the path depends on."""
        return [*self.limits.name_in(), *self.names]

    @classmethod
    def of(cls, path: FollowedPath, symbols: Mapping[str, ca.MX]) -> PathOfParameters:
        limits = [ca.MX(ca.DM(x)) if isinstance(x, np.ndarray) else x for x in (path.lower, path.upper)]
        named = {name: x for name, x in symbols.items() if any(ca.depends_on(limit, x) for limit in limits)}
        graph = ca.Function("limits", list(named.values()), limits, list(named), ["lower", "upper"])
        return cls(path.graph, graph, tuple(path.constants))


class PathAtParameters(NamedTuple):
    """A path at values of its parameters, a column for each instant of the grid, of some of these instants."""

    path: PathOfParameters
    values: Mapping[str, Array]
    instants: slice

    def excess(self, t: Array, q: Array, v: Array, grid: Array) -> float:
        """The largest violation by a motion, a row for each time."""
        graph, limits, names = self.path
        lower, upper = (x.full().ravel() for x in limits.call([self.values[name] for name in limits.name_in()]))
        constants = {name: self.values[name].reshape(len(self.values[name]), -1) for name in names}
        own = {name: x[:, self.instants] if x.shape[1] > 1 else x for name, x in constants.items()}
        return FollowedPath(graph, lower, upper, own).excess(t, q, v, grid)


class Layout(NamedTuple):
    """Where numbers of a problem are among those of several, with other contacts.

    Attributes:
        driven: the entries of u that are not fixed by their bounds. ``selection``: them, as rows of an identity matrix.
        fixed: u where they are zero.
        forces: the number of forces of all constraints. ``own``: those of the problem among them.
        instants: those that have costs of their own. ``places``: where rows hold, but for the whole grid.
    """

    driven: list[int]
    selection: Array
    fixed: Array
    forces: int
    own: list[int]
    instants: list[int]
    places: list[str | int]

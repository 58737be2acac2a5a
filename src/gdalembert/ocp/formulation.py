"""What a problem says, its costs, limits and ends, and the quantities of a stage in which it says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import Indices
from gdalembert.ocp.constraints import LimitedExpression
from gdalembert.ocp.couplings import Relation
from gdalembert.ocp.ends import End, EndpointConstraints, InputBefore
from gdalembert.ocp.initial import Initial, Scales
from gdalembert.ocp.parameters import Inputs
from gdalembert.ocp.stage import Motion, Stages
from gdalembert.ocp.steps import RungeKutta


class Integral(NamedTuple):
    """A term of a cost: a weight of parameters times ∫ graph dt.

    Attributes:
        weight, graph: of it. ``has_grid``: whether it is integrated by Simpson's rule, which has the grid in it.
        residuals: those of which ``graph`` is the sum of squares, if it was said so.
    """

    weight: ca.MX
    graph: ca.Function
    has_grid: bool
    residuals: ca.Function | None = None

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of the quadrature at the stages, and of the trapezoidal rule at the grid."""
        return (2 / 3, 1 / 3) if self.has_grid else (1.0, 0.0)


class InstantCost(NamedTuple):
    """A term of a cost: a weight of parameters times an expression at one instant of the grid.

    Attributes:
        weight, graph, instant: of it. ``residuals``: those of which ``graph`` is the sum of squares, if it was said so.
    """

    weight: ca.MX
    graph: ca.Function
    instant: int
    residuals: ca.Function | None = None


class Formulation(NamedTuple):
    """What a problem asks for, as it is now.

    Attributes:
        motion, inputs: of it. ``start``: where it begins, and ``before``: u before it. ``ends``: those that it fixes;
            ``endpoints``: what contacts and loops ask of both.
        initial: where a solve begins. ``scales``: other ones than those of its variables there.
        limited: expressions between bounds. ``relations``: rows of any instants.
        integrals, instants, others: terms of the cost: integrals, those of single instants, and all others.
        bounds_at_stages: whether q and v obey their bounds between the instants of the grid, too.
        remembers: whether u before each instant is a state, as rates of u count from there.
    """

    motion: Motion
    inputs: Inputs
    start: End
    before: InputBefore
    ends: Sequence[End]
    endpoints: Sequence[EndpointConstraints]
    initial: Initial
    scales: Scales | None
    limited: Sequence[LimitedExpression]
    relations: Sequence[Relation]
    integrals: Sequence[Integral]
    instants: Sequence[InstantCost]
    others: Sequence[ca.MX]
    bounds_at_stages: bool
    remembers: bool


class Instant(NamedTuple):
    """Quantities by name at one or several instants, a column for each, and parameters of ends by their symbols."""

    values: Mapping[str, ca.MX]
    columns: int
    of_ends: Mapping[int, ca.MX]

    def __call__(self, graph: ca.Function) -> ca.MX:
        """An expression, a column for each instant."""
        inputs = [self.values[name] for name in graph.name_in()]
        inputs = [ca.repmat(x, 1, self.columns // x.shape[1]) for x in inputs]
        return ca.MX((graph.map(self.columns) if self.columns > 1 else graph).call(inputs)[0])


def instants_of_interval(
    rule: RungeKutta,
    state: tuple[ca.MX, ca.MX],
    stages: Stages,
    times: tuple[ca.MX, ca.MX],
    known: Mapping[str, ca.MX],
) -> tuple[Instant, Instant]:
    """Quantities where an interval begins, with its a, u and forces, and at its stages.

    Args:
        state: q and v where it begins. ``stages``: of the motion. ``times``: where it begins, and its length [s].
        known: parameters by name: a column, or two of what varies, at both ends.
    """
    c = ca.DM(rule.c).T
    values = stages._asdict() | {"t": times[0] + times[1] * c}
    values |= {name: x @ ca.vertcat(1 - c, c) if x.shape[1] == 2 else x for name, x in known.items()}
    begin = {"q": state[0], "v": state[1], "t": times[0]} | {name: x[:, 0] for name, x in known.items()}
    first = {name: x[:, 0] for name, x in stages._asdict().items()}
    return Instant(first | begin, 1, {}), Instant(values, len(rule.c), {})


class StageParameters:
    """The entries of p that a stage takes, as symbols, and where they are at each of its places."""

    def __init__(self, inputs: Inputs, motion: Motion, instants: Indices, *, interval: bool) -> None:
        self._inputs, self._count = inputs, len(instants)
        self.fraction = ca.MX.sym("fraction")
        self.symbols, self.entries = [self.fraction], [inputs.entries(inputs.fractions)[instants, 0][None, :]]
        self.others = ca.MX(0, 1)
        if motion.parameters.others:
            self.others = self.add(motion.parameters.fixed)
        self.named: dict[str, ca.MX] = {}
        for name, x in inputs.named.items():
            if x.shape[1] == 1:
                self.named[name] = self.add(x)
                continue
            where = inputs.entries(x)
            columns = [where[:, instants], where[:, instants + 1]] if interval else [where[:, instants]]
            self.named[name] = ca.MX.sym(name, x.shape[0], len(columns))
            self.symbols.append(self.named[name])
            self.entries.append(np.vstack(columns))

    def add(self, symbol: ca.MX) -> ca.MX:
        """A symbol that stands for a parameter, the same at all places."""
        own = ca.MX.sym(symbol.name(), *symbol.shape)
        self.symbols.append(own)
        self.entries.append(np.tile(self._inputs.entries(symbol).ravel(order="F")[:, None], (1, self._count)))
        return own

    @property
    def parameters(self) -> Indices:
        """k × n."""
        return np.vstack(self.entries)

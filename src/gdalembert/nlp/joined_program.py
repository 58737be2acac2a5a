"""Several programs of stages as one: phases that follow each other, scenarios that share their controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.entries import NOWHERE, Indices, IntervalIndex, Label, Labels
from gdalembert.nlp.program import NonlinearProgram
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.terms import RowsAndCost, Sum, Term, of_its_variables, picked
from gdalembert.spatial.arrays import Array


class LinkRows(NamedTuple):
    """A constraint that connects parts, lower ≤ rows ≤ upper; ``user``: whether the user asked for it."""

    name: str
    rows: ca.MX
    lower: Array
    upper: Array
    user: bool = False


class Connection(NamedTuple):
    """How parts are joined: links, and where the variables begin that are of no part.

    Attributes:
        weights: of the cost of each part, and of the further variables.
        cost_rows: rows Σ c_j cost_j + d further ≤ 0: (c, d).
    """

    weights: tuple[Array, Array]
    links: list[LinkRows]
    begin: ca.MX
    cost_rows: tuple[Array, Array]


class JoinedProgram(NonlinearProgram):
    """Several programs as one.

    Its variables are those of the first part, what the others do not share with it, and ``further`` ones of its own.

    ``connect`` gives its links, ``shared`` are the entries of x of each part that are the same in all. ``z`` are the
    variables of each part as expressions, ``kind`` is what a part is called.
    """

    def __init__(
        self,
        kind: str,
        parts: Sequence[StageProgram],
        further: int,
        connect: Callable[[JoinedProgram], Connection],
        shared: Sequence[Indices] = (),
    ) -> None:
        self.kind, self._parts = kind, parts
        self._place(shared)
        size = self._size + further
        x, p = ca.MX.sym("z", size), ca.vertcat(*(part.problem["p"] for part in parts))
        numbers = ca.MX.sym("p", p.numel())
        self.z, self.further = self.split(x), x[self._size :]
        self.problem = {"x": x, "p": numbers}
        connection = connect(self)
        self.links = connection.links
        ends_p = np.cumsum([0, *(part.problem["p"].numel() for part in parts)]).tolist()
        ends_g = np.cumsum([0, *(len(part.equal) for part in parts)]).tolist()
        of_links = [np.equal(link.lower, link.upper) for link in self.links]
        of_costs = len(connection.cost_rows[0])
        rows = ends_g[-1] + sum(map(len, of_links)) + of_costs
        first = rows - of_costs
        terms, linear = list[Term](), ca.DM(rows, size)
        for k, (part, of_z) in enumerate(zip(parts, self._of_z(size), strict=True)):
            of_p = picked(np.arange(*ends_p[k : k + 2]), p.numel())
            of_rows = picked(np.arange(*ends_g[k : k + 2]), rows).T
            weights = connection.weights[0][k], connection.cost_rows[0][:, k], first
            terms += [_weighted(term.moved(of_z, of_p, of_rows), *weights) for term in part.sum.terms]
            linear += of_rows @ part.sum.linear @ of_z
        for i in range(of_costs):
            linear[first + i, self._size :] = connection.cost_rows[1][i]
        begin = ends_g[-1]
        for link in self.links:
            entries, y, values = of_its_variables(link.rows, x, numbers)
            of_rows = picked(np.arange(begin, begin + len(link.lower)), rows).T
            function = RowsAndCost(y, numbers, values, ca.MX(0))
            terms.append(Term(function, 1, picked(entries, size), ca.DM.eye(p.numel()), of_rows))
            begin += len(link.lower)
        if further:
            y, none = ca.MX.sym("y", further), ca.MX.sym("p", 0)
            cost = RowsAndCost(y, none, ca.MX(0, 1), ca.dot(ca.DM(connection.weights[1]), y))
            of_z = picked(np.arange(self._size, size), size)
            terms.append(Term(cost, 1, of_z, ca.DM(0, p.numel()), ca.DM(rows, 0)))
        self.sum = Sum(terms, ca.sparsify(linear))
        f = self.sum.cost(x, numbers)
        self.problem |= {"f": f, "g": self.sum.constraints(x, numbers)}
        self.equal = np.concatenate([*(part.equal for part in parts), *of_links, np.zeros(of_costs, dtype=bool)])
        self._of_costs = of_costs
        self.limits = self._limits(numbers, further)
        self._link_rows = ca.Function("links", [x, numbers], [link.rows for link in self.links])
        self._begin = ca.Function("begin", [x, numbers], [connection.begin])
        self._cost = ca.Function("cost", [x, numbers], [f])
        self.variables = _joined_index([part.variables for part in parts], self._own, further)
        index = [part.constraints for part in parts]
        self.constraints = _joined_index(index, [slice(None)] * len(parts), rows - ends_g[-1])

    @property
    def costs(self) -> list[ca.MX]:
        """The cost of each part."""
        pairs = zip(self._parts, self.z, self.split_numbers(self.problem["p"]), strict=True)
        return [part.sum.cost(z, p) for part, z, p in pairs]

    def _place(self, shared: Sequence[Indices]) -> None:
        """Find where the variables of each part are among all, and what these are to be multiplied by."""
        self._size, self._where, self._factors, self._own = 0, [], [], []
        common: list[tuple[Indices, Array]] = []
        for k, part in enumerate(self._parts):
            where, factors = np.full(part.size, NOWHERE), np.ones(part.size)
            if shared:
                entries, sizes = part.positions(shared[k])
                if common:
                    where[entries], factors[entries] = common[0][0], common[0][1] / sizes
                common.append((entries, sizes))
            own = np.flatnonzero(where == NOWHERE)
            where[own] = self._size + np.arange(len(own))
            self._size += len(own)
            self._where.append(where)
            self._factors.append(factors)
            self._own.append(own)

    def _limits(self, p: ca.MX, further: int) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg)."""
        parameters = self.split_numbers(p)
        found = [part.limits(p=own) for part, own in zip(self._parts, parameters, strict=True)]
        ends = {}
        for key, tighter in (("lbx", ca.fmax), ("ubx", ca.fmin)):
            each_own = zip(found, self._own, strict=True)
            bound = ca.MX(ca.vertcat(*(each[key][own.tolist()] for each, own in each_own)))
            for each, where, factors, own in zip(found, self._where, self._factors, self._own, strict=True):
                if others := np.setdiff1d(np.arange(len(where)), own).tolist():
                    at = where[others].tolist()
                    bound[at] = tighter(bound[at], each[key][others] / ca.DM(factors[others]))
            ends[key] = ca.vertcat(bound, (ca.inf if key == "ubx" else -ca.inf) * ca.DM.ones(further))
        lower, upper = [link.lower for link in self.links], [link.upper for link in self.links]
        none = ca.DM.zeros(self._of_costs)
        ends["lbg"] = ca.vertcat(*(each["lbg"] for each in found), *lower, none - ca.inf)
        ends["ubg"] = ca.vertcat(*(each["ubg"] for each in found), *upper, none)
        return ca.Function("limits", [p], list(ends.values()), ["p"], list(ends))

    def split(self, z: Any) -> list[Any]:
        """The variables of each part."""
        parts = [of_z @ z for of_z in self._of_z(z.shape[0])]
        return [part if isinstance(part, ca.MX) else part.full().ravel() for part in parts]

    def _of_z(self, size: int) -> list[ca.DM]:
        """What takes the variables of each part from all, with its scales."""
        places = zip(self._factors, self._where, strict=True)
        return [ca.diag(ca.DM(factors)) @ picked(where, size) for factors, where in places]

    def split_numbers(self, p: Any) -> list[Any]:
        """The parameters of each part."""
        ends = np.cumsum([0, *(part.problem["p"].numel() for part in self._parts)]).tolist()
        return [p[i:j] for i, j in pairwise(ends)]

    def merged(self, parts: Sequence[Array], numbers: Callable[[], Array]) -> Array:
        """The variables, of those of each part: what they share is the mean."""
        total, counts = np.zeros(self._size), np.zeros(self._size)
        for z, where, factors in zip(parts, self._where, self._factors, strict=True):
            total[where] += z / factors
            counts[where] += 1
        begun = np.concatenate([total / counts, np.zeros(self.further.numel())])
        if len(begun) > self._size:
            begun[self._size :] = self._begin(begun, numbers()).full().ravel()
        return begun

    def labels(self) -> Labels:
        """What the rows and fixed variables stand for, each with the name of its part."""
        rows: list[Label] = []
        fixed: dict[int, Label] = {}
        for k, (part, where) in enumerate(zip(self._parts, self._where, strict=True), start=1):
            own, held = part.labels()
            rows += [label._replace(name=f"{self.kind} {k}: {label.name}") for label in own]
            fixed |= {int(where[i]): x._replace(name=f"{self.kind} {k}: {x.name}") for i, x in held.items()}
        for link in self.links:
            rows += [Label(link.name, user=link.user)] * len(link.lower)
        return rows + [Label("the largest cost")] * self._of_costs, fixed

    def violations(self, z: Array, p: Array) -> dict[str, float]:
        """The largest violation of each link."""
        values = (rows.full().ravel() for rows in self._link_rows.call([z, p]))
        return {
            link.name: float(np.maximum(link.lower - rows, rows - link.upper).max(initial=0.0))
            for link, rows in zip(self.links, values, strict=True)
        }

    def cost(self, z: Array, p: Array) -> float:
        """The cost of all parts."""
        return float(self._cost(z, p))

    def structure(self) -> dict[str, int | list[int]]:
        raise UnsupportedError(f"{self.kind}s are not one sequence of intervals; take another solver, as 'ipopt'")


def _weighted(term: Term, weight: float, row_weights: Array, first: int) -> Term:
    """A term whose cost is multiplied by a weight, and added to further rows."""
    if weight == 1 and not len(row_weights):
        return term
    n, more = term.places, len(row_weights)
    count = term.of_rows.shape[1] // n
    own, of_costs = (
        ca.kron(ca.DM.eye(n), ca.DM.eye(count + more)[rows, :]) for rows in (slice(count), slice(count, None))
    )
    places = np.tile(first + np.arange(more), n)
    of_rows = term.of_rows @ own + picked(places, term.of_rows.shape[0]).T @ of_costs
    return term._replace(function=term.function.weighted(weight, row_weights), of_rows=of_rows)


def _joined_index(parts: Sequence[IntervalIndex], chosen: Sequence[Any], further: int) -> IntervalIndex:
    """The chosen entries of all parts, and further ones that are nowhere."""
    groups = [part.groups[own] * len(parts) + k for k, (part, own) in enumerate(zip(parts, chosen, strict=True))]
    intervals = [part.intervals[own] for part, own in zip(parts, chosen, strict=True)]
    nowhere = np.full(further, NOWHERE)
    return IntervalIndex(np.concatenate([*groups, nowhere]), np.concatenate([*intervals, nowhere]))

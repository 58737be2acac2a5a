"""Nonlinear programs as one: parts, what they share, and links between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.program import NOWHERE, Indices, IntervalIndex, Label, Labels, NonlinearProgram
from gdalembert.nlp.stagewise import StagewiseProgram
from gdalembert.spatial.arrays import Array


class LinkRows(NamedTuple):
    """A constraint that connects parts, lower ≤ rows ≤ upper; ``user``: whether the user asked for it."""

    name: str
    rows: ca.MX
    lower: Array
    upper: Array
    user: bool = False


class Connection(NamedTuple):
    """How parts are joined: the cost of all, links, and where the variables begin that are of no part."""

    cost: ca.MX
    links: list[LinkRows]
    begin: ca.MX


class JoinedProgram(NonlinearProgram):
    """Several nonlinear programs as one.

    Its variables are those of the first part, what the others do not share with it, and ``further`` ones of its own.

    Args:
        kind: what each part is called.
        connect: gives the cost and the links, of this program.
        shared: matrices of variables in the ``Opti`` of each part that are the same in all; nothing by default.

    Attributes:
        z: the variables of each part, as expressions of ``problem["x"]``. ``further``: those of none.
        costs: of the parts.
        links: between the parts.
    """

    def __init__(
        self,
        kind: str,
        parts: Sequence[StagewiseProgram],
        further: int,
        connect: Callable[[JoinedProgram], Connection],
        shared: Sequence[ca.MX] = (),
    ) -> None:
        self.kind, self._parts = kind, parts
        self._place(shared)
        x, p = ca.MX.sym("z", self._size + further), ca.vertcat(*(part.problem["p"] for part in parts))
        self.z, self.further = self.split(x), x[self._size :]
        found = []
        for part, z in zip(parts, self.z, strict=True):
            own, of_p, f, g = (part.problem[key] for key in "xpfg")
            found.append(ca.Function("program", [own, of_p], [f, g]).call([z, of_p], True, False))
        self.costs = [f for f, _ in found]
        self.problem = {"x": x, "p": p}
        cost, self.links, begin = connect(self)
        self.problem |= {"f": cost, "g": ca.vertcat(*(g for _, g in found), *(link.rows for link in self.links))}
        of_links = [np.equal(link.lower, link.upper) for link in self.links]
        self.equal = np.concatenate([*(part.equal for part in parts), *of_links])
        self.limits = self._limits(p, further)
        self._link_rows = ca.Function("links", [x, p], [link.rows for link in self.links])
        self._begin, self._cost = ca.Function("begin", [x, p], [begin]), ca.Function("cost", [x, p], [cost])
        self.variables = _joined_index([part.variables for part in parts], self._own, further)
        rows = [part.constraints for part in parts]
        self.constraints = _joined_index(rows, [slice(None)] * len(parts), sum(map(len, of_links)))

    def _place(self, shared: Sequence[ca.MX]) -> None:
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
        ends["lbg"] = ca.vertcat(*(each["lbg"] for each in found), *lower)
        ends["ubg"] = ca.vertcat(*(each["ubg"] for each in found), *upper)
        return ca.Function("limits", [p], list(ends.values()), ["p"], list(ends))

    def split(self, z: Any) -> list[Any]:
        """The variables of each part."""
        parts = [(z[where.tolist()], factors) for where, factors in zip(self._where, self._factors, strict=True)]
        symbolic = isinstance(z, ca.MX)
        return [
            own if np.all(factors == 1) else (ca.DM(factors) if symbolic else factors) * own for own, factors in parts
        ]

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
        return rows, fixed

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


def _joined_index(parts: Sequence[IntervalIndex], chosen: Sequence[Any], further: int) -> IntervalIndex:
    """The chosen entries of all parts, and further ones that are nowhere."""
    groups = [part.groups[own] * len(parts) + k for k, (part, own) in enumerate(zip(parts, chosen, strict=True))]
    intervals = [part.intervals[own] for part, own in zip(parts, chosen, strict=True)]
    nowhere = np.full(further, NOWHERE)
    return IntervalIndex(np.concatenate([*groups, nowhere]), np.concatenate([*intervals, nowhere]))

"""The end of a phase as a stage of no length, behind which the next phase begins.

q and the u before go on, and v too, unless contacts of the next phase take hold: then w = (v⁺, Λ) are the unknowns of
an impact,

    M(q) (v⁺ − v) − J(q)ᵀ Λ = 0        J(q) v⁺ = 0

as accelerations and forces are those of an interval, and the impulses Λ may be in friction cones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.ocp.ends import Mask
from gdalembert.ocp.linear_stage import LimitedRow, LinearStage
from gdalembert.ocp.real_time_problem import Layout, RealTimeProblem
from gdalembert.ocp.stage import Instant, Step
from gdalembert.ocp.tangent_space import TangentSystem
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function, symbols


class Impact(NamedTuple):
    """What takes hold where the next phase begins.

    Attributes:
        problem: the next phase. ``forces``: the places of its forces among those of all problems.
        cones: of its contacts: (q, forces) → margins, at least 0.
        asked: which rows of positions do not hold already.
    """

    problem: RealTimeProblem
    forces: list[int]
    cones: Sequence[ca.Function]
    asked: Mask


class JunctionStage(LinearStage):
    """The Functions of the end of a phase. ``impact``: what takes hold there, if anything does."""

    def __init__(
        self,
        problem: RealTimeProblem,
        layout: Layout,
        inputs: Mapping[str, str],
        damping: float,
        impact: Impact | None,
    ) -> None:
        self._impact, self._of_impact = impact, list[LimitedRow]()
        idle = layout._replace(driven=[], selection=np.zeros_like(layout.selection), held=[])
        super().__init__(problem, idle, inputs, damping)

    def _instants(self) -> tuple[Instant, Step, Instant | None]:
        s, nq, nv = self._s, self.tree.nq, self.tree.nv
        point, v = ca.vertcat(s["x"][:nq], self._delta[:nv], self._zero), self._velocity()
        q = TangentSystem(self.system).configuration(point)
        values = {"q": q, "v": v, "t": s["t"]} | {name: x[:, 0] for name, x in self._known.items()}
        here = Instant(values, 1)
        self._rows_of_w = []
        if self._impact is None:
            return here, Step(ca.vertcat(point, v), ca.MX(0, 1)), None
        system = self._impact.problem.motion.system
        self._rows_of_w = [*range(nv), *(nv + i for i in self._impact.forces)]
        after, impulses = s["w"][:nv], s["w"][self._rows_of_w[nv:]]
        p = [s[self.inputs["p"]]] if "p" in self.inputs and system.con.parameters else []
        for cone in self._impact.cones:
            margins = cone(q, impulses)
            zero = ca.MX(ca.DM.zeros(margins.shape[0]))
            self._of_impact.append(LimitedRow("", margins, zero, zero + ca.inf, "grid"))
        if self._impact.asked.any():
            left = system.places.residual(ca.vertcat(q, v), *p)[np.flatnonzero(self._impact.asked).tolist()]
            zero = ca.MX(ca.DM.zeros(left.shape[0]))
            self._of_impact.append(LimitedRow("", left, zero, zero, "grid"))
        residual = _balance(system.con)(q, v, after, impulses, *p)
        return here, Step(ca.vertcat(point, after), residual), None

    def _kept(self, values: Mapping[str, Matrix], change: Matrix) -> Matrix:
        return values["x"][self.tree.nq + self.tree.nv :] + change

    def _velocity_reached(self) -> ca.SX:
        nq, nv = self.tree.nq, self.tree.nv
        return self._symbols["x"][nq : nq + nv] if self._impact is None else self._symbols["w"][:nv]

    def _limited_rows(self) -> Iterator[LimitedRow]:
        yield from super()._limited_rows()
        yield from self._of_impact


def _balance(con: ConstrainedDynamics) -> ca.Function:
    """(q, v, v⁺, Λ) → what an impact leaves of momentum, and of the velocities of constraints."""
    s = symbols(q=con.nq, v=con.nv, after=con.nv, impulses=con.nc) | con.symbols()
    q, v, after, impulses, *p = s.values()
    jacobian = con.jacobian(q, *p)
    momentum = con.dynamics.mass_matrix(q, *p) @ (after - v)
    return function("balance", s, {"left": ca.vertcat(momentum - jacobian.T @ impulses, jacobian @ after)})

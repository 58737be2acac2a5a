"""Constraints and costs of a problem: limited expressions, rows of any instants, costs, cones of contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.constraints.constraint import Contact
from gdalembert.dynamics.constraints.constraint_types import Frame6D, RowSelection
from gdalembert.dynamics.constraints.friction_cones import friction_cone, wrench_cone
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.limits import Bounds
from gdalembert.nlp.entries import NOWHERE, Indices, Label
from gdalembert.nlp.stage_terms import Rows, StageTerm
from gdalembert.nlp.terms import of_its_variables
from gdalembert.ocp.system.parameters import Inputs, matrices_of
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.expressions import foreign, path_bound, path_bounds
from gdalembert.spatial.functions import function, symbols

Bound = Array | ca.MX
"""A number for each row, or an expression of parameters."""
OF_INTERVAL = {"a", "u", "du", "forces"}
"""What an interval has, and an instant has not."""
MOTION = "the equations of motion"
"""The name of what the transcription itself asks for."""
CLOSED = "contacts and loops"
"""The name of the largest violation of c(q) = 0 and J v = 0 on the grid."""


class Gaps(NamedTuple):
    """Gaps that :meth:`Problem.keep_clear` keeps.

    Attributes:
        graph: (q, obstacles by name, p) → (d) [m], without what is added to the margin; ``slopes``: to (d, dd_dq).
        pairs: the names of both shapes of each. ``margin``: of all [m].
        raised: the name of the parameter that has what is added to the margin of each at each instant [m].
        guarded: whether the margin is raised where gaps fall below it between instants.
    """

    graph: ca.Function
    slopes: ca.Function
    pairs: Sequence[tuple[str, str]]
    margin: Array
    raised: str
    guarded: bool

    def with_rates(self, h: float) -> ca.Function:
        """(q, obstacles by name, p, v) → (d − h/2 |dd/dt|), whose slopes by q are those of d.

        A gap that is a convex function of time over an interval of length h lies above its tangents at both ends, of
        which each is above this up to the middle; a concave one is least at an end. The slopes of the rates by q, which
        are second derivatives of d, are left out: they are of the size of h, and take as many operations as all else.
        """
        inputs = {name: ca.MX.sym(name, *self.slopes.size_in(name)) for name in self.slopes.name_in()}
        v = ca.MX.sym("v", self.slopes.size2_out("dd_dq"))
        gaps, slopes = self.slopes.call([*inputs.values()])
        rates = slopes @ v
        blocks = {name: ca.MX(len(self.margin), x.numel()) for name, x in inputs.items()}
        blocks["q"] = ca.jacobian(self.graph(*inputs.values()), inputs["q"])
        blocks["v"] = -h / 2 * ca.diag(ca.sign(rates)) @ slopes
        arguments, names = [*inputs.values(), v], [*inputs, "v"]
        jacobian = ca.Function(
            "jac_gaps",
            [*arguments, ca.MX.sym("out", len(self.margin))],
            [*blocks.values()],
            [*names, "out_d"],
            [f"jac_d_{name}" for name in names],
        )
        options: dict[str, Any] = {"custom_jacobian": jacobian, "jac_penalty": 0, "never_inline": True}
        return ca.Function("gaps", arguments, [gaps - h / 2 * ca.fabs(rates)], names, ["d"], options)


class LimitedExpression(NamedTuple):
    """An expression of the motion between two bounds.

    Attributes:
        name: of it. ``graph``: its Function, with inputs by name.
        lower, upper: numbers or expressions of parameters; the same object makes an equation.
        places: where it holds: ``"stages"``, ``"inner"`` (those between the instants of the grid), ``"intervals"``
            (once in each), ``"everywhere"`` (at the stages; of a single one, where its interval begins), ``"grid"``, or
            the number of an instant of it.
        makes_way: whether it makes way at the start for q and v that parameters give.
        gaps: those that it keeps, if it keeps any.
    """

    name: str
    graph: ca.Function
    lower: Bound
    upper: Bound
    places: tuple[str | int, ...]
    makes_way: bool = False
    gaps: Gaps | None = None

    @property
    def is_of_interval(self) -> bool:
        """True if it has what an interval has, and the end of a motion has not."""
        return bool(OF_INTERVAL & set(self.graph.name_in()))

    @property
    def is_of_rates(self) -> bool:
        """True if it has nothing of the motion but rates of u."""
        return {"q", "v", "a", "u", "du", "t", "forces"} & set(self.graph.name_in()) == {"du"}

    @property
    def is_of_motion(self) -> bool:
        """True if it holds all the time."""
        return all(isinstance(place, str) for place in self.places)


def symbolic_bounds(lower: Any, upper: Any, size: int) -> tuple[Bound, Bound]:
    """Bounds as of :func:`path_bounds`, where expressions of parameters may be among them."""
    if not isinstance(lower, ca.MX) and not isinstance(upper, ca.MX):
        return path_bounds(lower, upper, size)
    found: list[Bound] = []
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isinstance(bound, ca.MX):
            found.append(path_bound(name, bound, size))
            continue
        if bound.numel() not in (1, size):
            raise ArgumentError(f"path: {name} has {bound.numel()} entries; give {size}, or one")
        found.append(ca.repmat(bound, size, 1) if bound.numel() == 1 else ca.vec(bound))
    return (found[0], found[0]) if lower is upper else (found[0], found[1])


def checked_bounds(dyn: Dynamics | ConstrainedDynamics, bounds: Any) -> Bounds:
    """The bounds of q, v and u of a robot; none by default, and an error if they are not those of the robot."""
    if not isinstance(bounds, Bounds | None):
        raise ArgumentTypeError(f"bounds: expected Bounds.of(dyn, model), got {type(bounds).__name__}")
    none = Bounds.of(dyn)
    if bounds is None:
        return none
    if (bounds.v_names, bounds.u_names) != (none.v_names, none.u_names):
        raise ArgumentError(f"the bounds are not those of {dyn.tree.name}; make them by Bounds.of(dyn, model)")
    return bounds


def check_cost(where: str, cost: object, known: Sequence[ca.MX]) -> None:
    """Refuse what a problem cannot minimise, of the known symbols."""
    if not isinstance(cost, ca.MX):
        hint = "nothing can change it" if isinstance(cost, int | float) else "it is not an expression"
        raise ArgumentTypeError(f"{where}: {hint}; give one of duration, where it is free, q, v, u, or an integral")
    if not cost.is_scalar():
        raise ArgumentError(f"{where}: the cost has {cost.numel()} entries; give one, as ca.sum1 of them")
    if not ca.symvar(cost):
        raise ArgumentError(f"{where}: nothing can change the cost; give an expression of q, v, u, or an integral")
    if other := foreign(cost, known):
        raise ArgumentError(
            f"{where}: the cost has the symbol {other[0].name()!r}, which is none of the problem; make parameters by "
            "problem.parameter(name, size)"
        )


def parts_of_state(graph: ca.Function) -> Iterator[tuple[ca.Function, bool]]:
    """Part of an expression without a, u and forces, and the rest of it, each as a Function, and true if it is the
    former.
    """
    try:
        scalar = graph.expand()
    except RuntimeError:
        yield graph, False
        return
    inputs = dict(zip(scalar.name_in(), scalar.sx_in(), strict=True))
    interval = ca.vertcat(ca.SX(0, 1), *(x for name, x in inputs.items() if name in OF_INTERVAL))
    of_state, rest = ca.SX(scalar.size1_out(0), 1), ca.SX(scalar.size1_out(0), 1)
    for row, value in enumerate(ca.vertsplit(scalar.call([*inputs.values()])[0])):
        left = [(value, 1)]
        while left:
            term, sign = left.pop()
            op = ca.OP_PARAMETER if term.is_symbolic() or term.is_constant() else term.op()
            if op in (ca.OP_ADD, ca.OP_SUB):
                left += [(term.dep(0), sign), (term.dep(1), sign if op == ca.OP_ADD else -sign)]
            elif op == ca.OP_NEG:
                left.append((term.dep(0), -sign))
            elif not ca.depends_on(term, interval):
                of_state[row] += sign * term
            else:
                rest[row] += sign * term
    for part, is_of_state in ((of_state, True), (rest, False)):
        used = {name: x for name, x in inputs.items() if ca.depends_on(part, x)}
        if used:
            yield ca.Function("part", [*used.values()], [part], [*used], ["value"]), is_of_state


def parts_of_residuals(residuals: ca.Function) -> Iterator[tuple[ca.Function, bool]]:
    """The residuals without a, u and forces, and the others, each as a Function, and whether they are the former."""
    inputs = dict(zip(residuals.name_in(), residuals.mx_in(), strict=True))
    rows = residuals.call([*inputs.values()], True, False)[0]
    of_interval = np.zeros(rows.shape[0], dtype=bool)
    for name, x in inputs.items():
        if name in OF_INTERVAL:
            of_interval[ca.jacobian_sparsity(rows, x).row()] = True
    whole: dict[str, Any] = {"enable_forward": False, "reverse_options": {"enable_forward": False}}
    for chosen, is_of_state in ((~of_interval, True), (of_interval, False)):
        if chosen.any():
            seen = rows[np.flatnonzero(chosen).tolist()]
            used = {name: x for name, x in inputs.items() if ca.depends_on(seen, x)}
            values = [used.get(name, ca.MX.zeros(*x.shape)) for name, x in inputs.items()]
            part = residuals.call(values, True, False)[0][np.flatnonzero(chosen).tolist()]
            graph = ca.Function("residuals", [*used.values()], [part], [*used], ["residuals"], whole)
            yield graph, is_of_state


def squared(residuals: ca.Function) -> ca.Function:
    """The sum of the squares of residuals."""
    inputs = residuals.mx_in()
    square = ca.sumsqr(residuals.call(inputs, True, False)[0])
    return ca.Function("square", inputs, [square], residuals.name_in(), ["square"])


def square_weights(weight: npt.ArrayLike | ca.MX, count: int) -> tuple[ca.DM, ca.MX]:
    """√w of each of ``count`` residuals, and what weights all their squares: an expression of parameters, or 1."""
    if isinstance(weight, ca.MX):
        if not weight.is_scalar():
            raise ArgumentError(f"squares: weight: got an expression of shape {weight.shape}; give a scalar one")
        return ca.DM.ones(count), weight
    weights = vector("squares: weight", weight, count, repeat=True)
    if np.any(weights < 0):
        raise ArgumentError(f"squares: weight: got {weights.min():g}; give none below 0")
    return ca.DM(np.sqrt(weights)), ca.MX(1)


class Relation(NamedTuple):
    """Rows of variables at any instants: lower ≤ rows ≤ upper."""

    label: Label
    rows: ca.MX
    lower: Bound
    upper: Bound


_RELATIONS = (ca.OP_EQ, ca.OP_LE, ca.OP_LT)


def relation(where: str, constraint: Any) -> tuple[ca.MX, Array, Array]:
    """The first expression of an equation or inequality less the second, at most 0; at least 0, too, in an equation."""
    if not isinstance(constraint, ca.MX) or not any(constraint.is_op(op) for op in _RELATIONS):
        raise ArgumentTypeError(
            f"{where}: got {shown(constraint)}; give an equation or inequality, as last.q[:, -1] == first.q[:, 0]"
        )
    left, right = (constraint.dep(i) for i in range(2))
    shape = max(left.shape, right.shape)
    whole = [ca.repmat(side, *shape) if side.is_scalar() else side for side in (left, right)]
    rows = ca.vec(whole[0] - whole[1])
    zeros = np.zeros(rows.shape[0])
    return rows, zeros if constraint.is_op(ca.OP_EQ) else zeros - np.inf, zeros


class Whole(NamedTuple):
    """All variables and parameters of motions, which expressions of several instants have.

    Attributes:
        variables: matrices, whose entries are those of x behind each other. ``intervals``: of these entries.
        parameters: matrices, whose entries are those of p.
    """

    variables: Sequence[ca.MX]
    intervals: Indices
    parameters: Sequence[ca.MX]

    def term(
        self, rows: Sequence[tuple[Rows, ca.MX]], cost: ca.MX | float = 0.0, *, interval: int | None = None
    ) -> StageTerm:
        """Rows and a cost, of the variables that they have; by default of the first interval of these."""
        total, p = (ca.MX.sym("all", sum(x.numel() for x in given)) for given in (self.variables, self.parameters))
        both = ca.densify(ca.vertcat(*(ca.vec(x) for _, x in rows), cost))
        graph = ca.Function("graph", [*self.variables, *self.parameters], [both])
        given = matrices_of(total, self.variables), matrices_of(p, self.parameters)
        entries, y, values = of_its_variables(graph.call([*given[0], *given[1]], True, False)[0], total, p)
        if interval is None:
            interval = self.intervals[entries].min(initial=max(self.intervals)) if len(entries) else NOWHERE
        return StageTerm(
            function=ca.Function("term", [y, p], [values[:-1], values[-1]]),
            variables=entries[:, None],
            parameters=np.arange(p.numel())[:, None],
            intervals=np.array([interval]),
            where="at grid point" if len(set(self.intervals[entries].tolist())) == 1 else "",
            rows=[kind for kind, _ in rows],
        )


def couplings(
    whole: Whole, inputs: Inputs, costs: Sequence[ca.MX], relations: Sequence[Relation]
) -> Iterator[StageTerm]:
    """A term for each cost that is no integral, and for each relation.

    Args:
        costs: scalars, of the variables and parameters of a motion.
        relations: rows of these, between bounds that are numbers or expressions of parameters.
    """
    for cost in costs:
        yield whole.term([], cost)
    for relation in relations:
        low = inputs.of(relation.lower) if isinstance(relation.lower, ca.MX) else relation.lower
        high = inputs.of(relation.upper) if isinstance(relation.upper, ca.MX) else relation.upper
        limits = low, low if relation.lower is relation.upper else high
        yield whole.term([(Rows.unscaled(relation.label, *limits), ca.vec(relation.rows))])


def check_places(robot: Dynamics | ConstrainedDynamics) -> None:
    """Refuse contacts and loops of a robot whose placements are parameters: states are checked in numbers."""
    if isinstance(robot, ConstrainedDynamics) and robot.nc and robot.tree.has_displacements:
        raise UnsupportedError(
            f"Problem: {robot.tree.name}: its placements are parameters, and contacts and loops are held by numbers; "
            "give con.at(p)"
        )


def friction_cones(
    con: ConstrainedDynamics,
    contacts: Sequence[str] | None,
    mu: float,
    normal: npt.ArrayLike | None,
    form: str,
    **sole: Any,
) -> list[tuple[str, ca.Function]]:
    """Names and cones of contacts, of the frames of :meth:`Problem.friction`.

    A cone is (q, forces) → (margin), at least 0 where the contact holds; forces are those of all constraints (nc).
    ``sole``: half_length, half_width and sole of 6D contacts, as for :func:`~gdalembert.wrench_cone`.
    """
    starts = np.cumsum([0, *con._set.rows]).tolist()
    pairs = zip(con.constraints, starts, strict=False)
    every = {each.frame: (each, start) for each, start in pairs if isinstance(each, Contact)}
    if not every:
        raise ArgumentError(
            "friction: the robot has no contacts; give gd.ConstrainedDynamics with gd.Contact to Problem"
        )
    if isinstance(contacts, str) or not isinstance(contacts, Sequence | None):
        raise ArgumentTypeError(f"friction: contacts={shown(contacts)}; give a list of frames")
    for name in contacts or ():
        if not isinstance(name, str) or name not in every:
            raise UnknownNameError("contact", name, tuple(str(frame) for frame in every))
    chosen = [every[frame] for frame in (every if contacts is None else dict.fromkeys(contacts))]
    soles = [isinstance(contact.holds, Frame6D) for contact, _ in chosen]
    if any(each is not None for each in sole.values()) and not any(soles):
        raise ArgumentError(
            "friction: points have no half_length, half_width or sole; drop them, or give '6D' contacts"
        )
    if normal is not None and all(soles):
        raise ArgumentError(
            "friction: normal is of the ground under '3D' contacts, and all of these are '6D'; drop it, or give sole="
        )
    upward = (0.0, 0.0, 1.0) if normal is None else normal
    s, cones = symbols(q=con.nq, forces=con.nc), []
    for contact, start in chosen:
        holds = contact.holds
        rows = s["forces"][start : start + len(holds.units)]
        if isinstance(holds, Frame6D):
            if sole["half_length"] is None or sole["half_width"] is None:
                raise ArgumentError(f"friction: {contact.name} is a sole; give half_length and half_width [m]")
            margin: Matrix = wrench_cone(mu, form=form, **sole)(rows)
        else:
            if isinstance(holds, RowSelection):
                directions = ca.evalf(holds.force(ca.DM.eye(len(holds.units)), ca.DM.eye(3), ca.DM(3, 1))).full()
                if not (vector("friction: normal", upward, 3, names="xyz") @ directions).any():
                    raise ArgumentError(
                        f"friction: {contact.name} bears no force along the normal; leave it out of contacts="
                    )
            one, other = contact.frames(con.tree)
            r, x = placement(con.tree, one, s["q"])
            force = holds.force(rows, r, x - spatial.constant(other.translation))
            margin = friction_cone(mu, upward, form=form)(force)
        cones.append((contact.name, function("margin", s, {"margin": margin})))
    return cones

"""Closed loops: configurations, velocities and accelerations that satisfy the constraints; degrees of freedom.

c(q) = 0 is solved by the steps δ of Levenberg and Marquardt in the tangent space of q,

    (Jᵀ J + λ) δ = −Jᵀ c          J = ∂c/∂q          λ = ‖J‖ ‖c‖ / (1 rad)

which converge quadratically even where rows of J are redundant, because λ vanishes with c (Fan and Yuan 2005, Computing
74; ‖J‖ is ours: it gives λ its units, so that a step is no longer than about a radian).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constrained.checks import DEPENDENT, check_independent_at, gains, rank
from gdalembert.dynamics.constraints.constraint import Constraint, Contact
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet, residual
from gdalembert.dynamics.constraints.relative_motion import FramePair
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.parameters.parameters import Parameters, Values
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.configuration import (
    checked_configuration,
    integrate,
    projected,
    random_configuration,
    unit_blocks,
)
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import number, vector
from gdalembert.spatial.arrays import Array, frozen, homogeneous
from gdalembert.spatial.functions import derivative_along, function, symbols
from gdalembert.spatial.interrupts import interruptible

_SATISFIED = 1e-6
"""Constraints that are violated by less [m, rad; m/s, rad/s relative to v where that is above 1] may begin a motion."""
_STEPS = 200
_DESCENT = 1e-4
"""The part of the expected decrease of ‖c‖² that a step must bring."""
_STATIONARY = 1e-10
"""Relative: a smaller decrease of ‖c‖² is none."""
_TRIES = 3
"""Configurations from which loops are closed, to see whether they are redundant there."""
_SPREADS = (0.0, 0.1, 1.0)
"""Distances from q0 [rad, m] of the start: beside a linkage that is stretched out, where no step makes c smaller."""


@interruptible
class Closure:
    """Copies of a robot that constraints hold, and states and accelerations that satisfy them.

    It is a part of :class:`~gdalembert.ConstrainedDynamics`.

    Contacts without an anchor are held wherever they are at the given configuration.
    """

    dynamics: Dynamics
    constraints: tuple[Constraint, ...]
    regularization: float
    damping: float | Sequence[npt.ArrayLike]
    tree: Tree
    parameters: Parameters
    _robot: Dynamics
    _set: ConstraintSet

    def __reduce__(self) -> tuple[Any, ...]:
        options = {name: getattr(self, name) for name in ("stiffness", "damping", "restitution", "regularization")}
        return partial(type(self), **options), (self.dynamics, self.constraints)

    def at(self, p: Values = None) -> Self:
        """A copy with numbers in place of p, as :meth:`~gdalembert.Dynamics.at`."""
        return self._of(self.dynamics.at(p))

    def under(self, wrenches: npt.ArrayLike | None = None) -> Self:
        """A copy under constant wrenches (6 × n), which are no input then, as :meth:`~gdalembert.Dynamics.under`."""
        return self._of(self.dynamics.under(wrenches))

    def anchored(self, q: npt.ArrayLike, p: Values = None) -> Self:
        """A copy with every contact that has no anchor held where its frame is at q.

        Args:
            q: a configuration (nq).
            p: values of the parameters, all or some by name, where placements are; by default those of the model.

        Raises:
            ArgumentTypeError, ArgumentError: if q is not a configuration, or p cannot be used.
        """
        if self.tree.has_displacements and p is not None:
            return self._with(constraints=self.at(p).anchored(q).constraints)
        configuration = checked_configuration("anchored: q", q, self._robot.nominal)
        if self.is_anchored:
            return self
        anchors = iter(self.missing_anchors(configuration, self.parameters.values).reshape(-1, 4, 3))
        held: list[Constraint] = []
        for constraint in self.constraints:
            if isinstance(constraint, Contact) and not constraint.is_anchored:
                *axes, point = next(anchors)
                constraint = constraint.with_anchor(frozen(homogeneous(np.column_stack(axes), point)))
            held.append(constraint)
        return self._with(constraints=tuple(held))

    @property
    def is_anchored(self) -> bool:
        """True if every contact has an anchor."""
        return all(constraint.is_anchored for constraint in self.constraints)

    def with_anchors(self, q: Array, p: Array) -> tuple[Self, Array]:
        """A copy with the missing anchors as parameters behind p, built once, and the values of all at q (nq)."""
        if self.is_anchored:
            return self, p
        return self._with_anchors, np.concatenate([p, self.missing_anchors(q, p)])

    def missing_anchors(self, q: Array, p: Array) -> Array:
        """Placements [R p] of each contact without an anchor, column by column, where its frame is at q (nq)."""
        placements = np.asarray(self._places(q, *([p] if len(p) else [])).full().ravel())
        missing = (constraint for constraint in self.constraints if not constraint.is_anchored)
        for constraint, anchor in zip(missing, placements.reshape(-1, 12), strict=True):
            if not np.isfinite(anchor).all():
                raise ArgumentError(
                    f"{constraint.name}: no point touches at this q, as of a wheel whose axle is along the normal; "
                    "begin from another q"
                )
        return placements

    @cached_property
    def _places(self) -> ca.Function:
        """(q) → (anchors) of :meth:`missing_anchors`; p is the last input where the robot has parameters."""
        tree, s, columns = self._robot.tree, self.symbols("q"), [ca.SX(0, 1)]
        for constraint, pair in zip(self.constraints, self._set.pairs, strict=True):
            if isinstance(constraint, Contact) and not constraint.is_anchored:
                r, x = placement(tree, tree.frames[pair.first], s["q"])
                columns.append(ca.vec(ca.densify(ca.SX(ca.horzcat(r, constraint.touching_point(r, x))))))
        return function("anchors", s, {"anchors": ca.vertcat(*columns)})

    @cached_property
    def _with_anchors(self) -> Self:
        """A copy in which the missing anchors are symbols behind the parameters, whose values are not known."""
        # symbols and not numbers, with which each motion would build its integrators anew
        made, held, symbols = self._with(), list[Constraint](), ca.SX(0, 1)
        for k, constraint in enumerate(self.constraints):
            if isinstance(constraint, Contact) and not constraint.is_anchored:
                anchor = ca.SX.sym(f"anchor_{k}", 3, 4)
                symbols, constraint = ca.vertcat(symbols, ca.vec(anchor)), constraint.with_anchor(anchor)
            held.append(constraint)
        made.constraints = tuple(held)
        robot, pairs = with_frames(self.dynamics, made.constraints)
        known, n = robot.parameters, symbols.numel()
        names = (*known.names, *(f"anchors[{k}]" for k in range(n)))
        values = np.concatenate([known.values, np.full(n, np.nan)])
        made._robot = made.dynamics = robot._on(robot.tree)
        made.tree, made._set = robot.tree, replace(self._set, pairs=pairs)
        symbols = ca.vertcat(known.symbols, symbols)
        made.parameters = made._robot.parameters = Parameters(names, values, symbols, robot.tree, robot.forces)
        return made

    def damped(self, rate: float) -> Self:
        """A copy in which velocities that violate a constraint decay at this rate at least [1/s]: more ``damping``.

        Raises:
            ArgumentTypeError, ArgumentError: if the rate is no number of at least 0.
        """
        least = number("damped: rate", rate, "1/s", inclusive=True)
        own_damping = gains("damping", [constraint.damping for constraint in self.constraints], self._set.pairs)
        missing = np.where(own_damping > 0, 0.0, np.maximum(self._set.damping, least))
        made = self._with()
        made.damping = [rates.full().ravel() for rates in self._set.split(ca.DM(missing))]
        made._set = replace(made._set, damping=frozen(own_damping + missing))
        return made

    def _of(self, dynamics: Dynamics) -> Self:
        return self if dynamics is self.dynamics else self._with(dynamics=dynamics)

    def _with(self, **changed: Any) -> Self:
        make, (dynamics, constraints) = self.__reduce__()
        made: Self = make(changed.get("dynamics", dynamics), changed.get("constraints", constraints))
        return made

    @property
    def nc(self) -> int:
        """The number of rows of all constraints: of forces and residuals."""
        return sum(self._set.rows)

    def symbols(self, *names: str) -> dict[str, ca.SX]:
        """The inputs of a Function by name, as those of ``dynamics``."""
        return self._robot.symbols(*names)

    @cached_property
    def residual(self) -> ca.Function:
        """(q) → (c) [m; rad]: by how much the first frames are away from the second, in the axes of the first.

        The difference x₁ − x₂ of the points that are held together (3D), or −log6(T₁⁻¹ T₂) (6D), as
        ``contact_placement_error`` of Pinocchio.

        Raises:
            ArgumentError: if a contact has no anchor.
        """
        s = self.symbols("q")
        return function("residual", s, {"c": self._set.residual(self._robot.tree, s["q"])})

    @cached_property
    def jacobian(self) -> ca.Function:
        """(q) → (J): velocity = J v; equals ``pin.getConstraintJacobian``."""
        s = self.symbols("q")
        return function("jacobian", s, {"J": self._set.jacobian(self._robot.tree, s["q"])})

    @cached_property
    def velocity(self) -> ca.Function:
        """(q, v) → (velocity): of the first frames against the second, J v [m/s; rad/s]."""
        s = self.symbols("q", "v")
        return function("velocity", s, {"velocity": self._set.velocity(self._robot.tree, s["q"], s["v"])})

    @cached_property
    def bias_acceleration(self) -> ca.Function:
        """(q, v) → (bias): the acceleration of the constraints at a = 0, so that acceleration = J a + bias.

        6D: the rate of the velocity's entries, J̇ v. 3D: the difference of the classical accelerations.
        """
        s = self.symbols("q", "v")
        return function("bias_acceleration", s, {"bias": self._set.bias_acceleration(self._robot.tree, s["q"], s["v"])})

    @cached_property
    def acceleration_error(self) -> ca.Function:
        """(q, v, a) → (error): J a + bias + damping J v + stiffness c, which :attr:`forward_dynamics` makes 0."""
        s = self.symbols("q", "v", "a")
        error = self._set.acceleration_error(self._robot.tree, s["q"], s["v"], s["a"])
        return function("acceleration_error", s, {"error": error})

    def closed_configuration(self, q0: npt.ArrayLike, hold: Sequence[str] = (), *, tolerance: float = 1e-12) -> Array:
        """The configuration (nq) near q0 that satisfies the constraints.

        Args:
            q0: where to begin (nq).
            hold: what stays as it is at q0, by name: joints, flexible links (their modes), or single
                ``dynamics.coordinate_names``.
            tolerance: the largest entry of the residual that may remain [m, rad].

        Where placements are parameters they have the values of the model, here and in what asks for consistent states;
        ``con.at(p)`` has others.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used, or the constraints cannot be satisfied: the
                message says which one stays violated, and by how much.
            UnknownNameError: if ``hold`` has a name that is not there.
        """
        context, tree = "closed_configuration", self._robot.nominal
        start = checked_configuration(f"{context}: q0", q0, tree)
        free = self._free(context, hold)
        for joint in tree.independent_joints:
            if not joint.type.velocity_is_rate and 0 < np.isin(joint.columns, free).sum() < joint.type.nv:
                raise ArgumentError(
                    f"{context}: hold names a part of joint {joint.name!r}, which turns as a whole; hold {joint.name!r}"
                )
        number(f"{context}: tolerance", tolerance)
        con, q0 = self.anchored(start), projected(start, unit_blocks(tree))
        beside, rng = np.zeros(tree.nv), np.random.default_rng(0)
        missed = []
        for spread in _SPREADS:
            beside[free] = spread * rng.normal(size=len(free))
            q, c = con._descended(con._integrated(q0, beside), free, tolerance)
            if np.abs(c).max(initial=0) <= tolerance:
                return frozen(q)
            missed.append(c)
        name, gap = con._worst(min(missed, key=lambda c: float(np.linalg.norm(c))))
        fewer = " or hold less" if len(free) < tree.nv else ""
        raise ArgumentError(f"{context}: from this q0 {name} stays violated by {gap}; begin from another q0{fewer}")

    def _descended(self, q: Array, free: Array, tolerance: float) -> tuple[Array, Array]:
        """Configuration q and residual c where c is small, or no step of the free coordinates makes it smaller."""
        (c, j), n = self._violation(q), len(free)
        for _ in range(_STEPS):
            step, free_columns = np.zeros(j.shape[1]), j[:, free]
            damping = np.sqrt(np.linalg.norm(free_columns) * np.linalg.norm(c))
            # J δ = −c and √λ δ = 0, by least squares: (Jᵀ J + λ)⁻¹ would square the condition of J near the solution
            stacked = np.vstack([free_columns, damping * np.eye(n)])
            step[free] = np.linalg.lstsq(stacked, np.concatenate([-c, np.zeros(n)]), rcond=None)[0]
            slope, part = 2 * float(c @ j @ step), 1.0
            if np.abs(c).max(initial=0) <= tolerance or -slope < _STATIONARY * (c @ c):
                break
            reached = self._reached(q, step)
            while reached[1] @ reached[1] > c @ c + _DESCENT * part * slope:  # Armijo
                part /= 2
                reached = self._reached(q, part * step)
            q, c, j = reached
        return q, c

    def _reached(self, q: Array, step: Array) -> tuple[Array, Array, Array]:
        """The configuration (nq) that is reached by a step (nv), c and J there."""
        there = self._integrated(q, step)
        return there, *self._violation(there)

    def _integrated(self, q: Array, step: Array) -> Array:
        """The configuration (nq) that is reached by a step (nv)."""
        return projected(self._step(q, step).full().ravel(), unit_blocks(self._robot.nominal))

    def consistent_velocity(self, q: npt.ArrayLike, v: npt.ArrayLike, hold: Sequence[str] = ()) -> Array:
        """The velocity (nv) that satisfies the constraints, J v = 0, at the least kinetic energy of the change of v.

        That is what is left of v after an :attr:`~gdalembert.ConstrainedDynamics.impact` without restitution, redundant
        constraints included.

        Args:
            q: a configuration that satisfies the constraints (nq).
            v: any velocity (nv).
            hold: what keeps its velocity, by name, as in :meth:`closed_configuration`.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used, q violates a constraint, or the constraints
                do not let what is held move so.
            UnknownNameError: if ``hold`` has a name that is not there.
        """
        context = "consistent_velocity"
        at = self._satisfied(context, q)
        velocity = self._nearest(context, at, vector(f"{context}: v", v, self._robot.tree.nv), np.zeros(self.nc), hold)
        self._check_velocity(context, at, velocity, "hold less")
        return velocity

    def consistent_acceleration(
        self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike, hold: Sequence[str] = ()
    ) -> Array:
        """The acceleration (nv) that satisfies the constraints, J a + bias = 0, nearest to a in the metric of M.

        For inverse dynamics: with the drives held, it is that of the whole mechanism. With a = M⁻¹ (tau − nle) it is
        what :attr:`~gdalembert.ConstrainedDynamics.forward_dynamics` makes of it without stabilisation (Gauss's
        principle of least constraint).

        Args:
            q, v: a state that satisfies the constraints (nq; nv).
            a: any acceleration (nv).
            hold: what keeps its acceleration, by name, as in :meth:`closed_configuration`.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: as :meth:`consistent_velocity`.
        """
        context, nv = "consistent_acceleration", self._robot.tree.nv
        at = self._satisfied(context, q)
        moving = vector(f"{context}: v", v, nv)
        self._check_velocity(context, at, moving, "take consistent_velocity(q, v)")
        bias = self.bias_acceleration(at, moving, *self._values).full().ravel()
        acceleration = self._nearest(context, at, vector(f"{context}: a", a, nv), -bias, hold)
        self._check_rates(f"{context}: a", self._rates(at) @ acceleration + bias, acceleration, "/s²", "hold less")
        return acceleration

    def _nearest(self, context: str, q: Array, x: Array, target: Array, hold: Sequence[str]) -> Array:
        """The vector x + δ (nv) with J (x + δ) = target and the least δ·M δ, by least squares."""
        free = self._free(context, hold)
        j, m = self._rates(q), self.dynamics.mass_matrix(q, *self._values).full()
        try:
            factor = np.linalg.cholesky(m[np.ix_(free, free)])
        except np.linalg.LinAlgError:
            raise ArgumentError(f"{context}: M is singular at q; begin from another q") from None
        half = np.linalg.solve(factor, j[:, free].T)
        change = np.linalg.lstsq(half.T, target - j @ x, rcond=DEPENDENT)[0]
        nearest = x.copy()
        nearest[free] += np.linalg.solve(factor.T, change)
        return frozen(nearest)

    def degrees_of_freedom(self, q: npt.ArrayLike) -> int:
        """The number nv − rank J of independent motions from a configuration that satisfies the constraints.

        Raises:
            ArgumentTypeError, ArgumentError: if q is not a configuration, or violates a constraint.
        """
        at = self._satisfied("degrees_of_freedom", q)
        return int(self._robot.tree.nv - rank(self._rates(at)))

    def check_state(self, context: str, q: npt.ArrayLike, v: npt.ArrayLike) -> None:
        """Refuse a state (nq; nv) from which no motion can begin.

        Args:
            context: the beginning of the message.
            q, v: the state.

        Raises:
            ArgumentTypeError, ArgumentError: if it is not a state, or violates a constraint: the message says which
                one, by how much, and what to do; if constraints are redundant there, as those of an overconstrained
                linkage are wherever it is closed, and there is no regularization.
        """
        at = self._satisfied(context, q)
        rates = self._rates(at)
        check_independent_at(f"{context}: ", [rates], self._set, "at this q")
        moving = vector(f"{context}: v", v, self._robot.tree.nv)
        self._check_rates(f"{context}: v", rates @ moving, moving, "/s", "take consistent_velocity(q, v)")

    def _check_where_closed(self) -> None:
        """Refuse, without a regularization, loops that are redundant wherever they are closed, as far as is seen."""
        if not self.nc or self.regularization or not all(constraint.is_anchored for constraint in self.constraints):
            return
        tree, rng = self._robot.nominal, np.random.default_rng(0)
        closed = []
        for _ in range(_TRIES):
            with contextlib.suppress(ArgumentError):
                closed.append(self._rates(self.closed_configuration(random_configuration(tree, rng))))
        if closed:
            check_independent_at("", closed, self._set, "wherever it is closed")

    def _satisfied(self, context: str, q: npt.ArrayLike) -> Array:
        """The configuration q, which must satisfy the constraints, of contacts without an anchor wherever they are."""
        at = checked_configuration(f"{context}: q", q, self._robot.nominal)
        self.missing_anchors(at, self.dynamics.parameters.values)
        c, _ = self._violation(at)
        if np.abs(c).max(initial=0) > _SATISFIED:
            name, gap = self._worst(c)
            raise ArgumentError(f"{context}: q violates {name} by {gap}; take closed_configuration(q)")
        return at

    def _check_velocity(self, context: str, q: Array, v: Array, cure: str) -> None:
        self._check_rates(f"{context}: v", self._rates(q) @ v, v, "/s", cure)

    def _check_rates(self, argument: str, rates: Array, x: Array, per: str, cure: str) -> None:
        if np.abs(rates).max(initial=0) > _SATISFIED * max(1.0, np.abs(x).max()):
            name, rate = self._worst(rates, per)
            raise ArgumentError(f"{argument} violates {name} by {rate}; {cure}")

    def _worst(self, c: Array, per: str = "") -> tuple[str, str]:
        """The name of the constraint that is violated most, and by how much."""
        parts = [part.full().ravel() for part in self._set.split(ca.DM(c))]
        k = int(np.argmax([np.abs(part).max() for part in parts]))
        units = np.array(self.constraints[k].holds.units)
        gaps = (f"{np.linalg.norm(parts[k][units == unit]):.3g} {unit}{per}" for unit in ("m", "rad") if unit in units)
        return self.constraints[k].name, " and ".join(gaps)

    def _violation(self, q: Array) -> tuple[Array, Array]:
        """Residual c, and ∂c/∂q in the tangent space, which is J where c is 0."""
        c, j = self._closure(q)
        return c.full().ravel(), self._defined(j.full())

    def _rates(self, q: Array) -> Array:
        """The Jacobian J at q, with the parameters of the model."""
        return self._defined(np.asarray(self.jacobian(q, *self._values).full()))

    def _defined(self, j: Array) -> Array:
        """The Jacobian J, if each row of it is defined."""
        ends = np.cumsum(self._set.rows)
        for row in np.flatnonzero(~np.isfinite(j).all(axis=1)):
            name = self.constraints[int(np.searchsorted(ends, row, side="right"))].name
            raise ArgumentError(
                f"{name}: its rows are not defined at this q, as those of a wheel whose axle is along the normal; "
                "begin from another q"
            )
        return j

    @property
    def _values(self) -> list[Array]:
        """The parameters p of the model, as the last input of a Function."""
        parameters = self.dynamics.parameters
        return [parameters.values] if parameters else []

    @cached_property
    def _closure(self) -> ca.Function:
        tree = self._robot.nominal
        s = symbols(q=tree.nq)
        rows = (
            residual(tree, pair, s["q"]) if pair.is_anchored else ca.DM(pair.rows, 1)  # wherever it is
            for pair in self._set.pairs
        )
        c = ca.SX(ca.vertcat(*rows))
        return function("closure", s, {"c": c, "J": derivative_along(c, s["q"], tree.tangent_map(s["q"]))})

    @cached_property
    def _step(self) -> ca.Function:
        tree = self._robot.nominal
        s = symbols(q=tree.nq, v=tree.nv)
        return function("step", s, {"reached": integrate(tree, s["q"], s["v"])})

    def _free(self, context: str, hold: Sequence[str]) -> Array:
        """The entries of v that are not held."""
        if isinstance(hold, str) or not isinstance(hold, Sequence):
            raise ArgumentTypeError(f"{context}: hold={shown(hold)}; give a list of names")
        names, links = self.dynamics.coordinate_names, self.dynamics.modes_by_link
        owners = list(self.dynamics.driven_names)  # of a rotor its joint
        for link, modes in links.items():
            owners[modes.start : modes.stop] = [link] * len(modes)
        held: set[int] = set()
        for name in hold:
            names_by_column = enumerate(zip(names, owners, strict=True))
            matches = {k for k, both in names_by_column if name in both or both[1].startswith(f"{name}[")}
            if not matches:
                known = dict.fromkeys([*names, *links])
                raise UnknownNameError("joint, flexible link or coordinate", name, list(known))
            held |= matches
        return np.array([k for k in range(len(names)) if k not in held], dtype=int)


def with_frames(dynamics: Dynamics, constraints: Sequence[Constraint]) -> tuple[Dynamics, tuple[FramePair, ...]]:
    """The robot with the frames of the constraints behind its own, and the pairs of them."""
    if not constraints:
        return dynamics, ()
    first = range(len(dynamics.tree.frames), len(dynamics.tree.frames) + 2 * len(constraints), 2)
    pairs = tuple(
        FramePair(constraint.name, k, k + 1, constraint.holds, constraint.is_anchored)
        for constraint, k in zip(constraints, first, strict=True)
    )

    def with_both(tree: Tree) -> Tree:
        added = (frame for constraint in constraints for frame in constraint.frames(tree))
        return replace(tree, frames=(*tree.frames, *added))

    robot = dynamics._on(with_both(dynamics.tree))
    robot.nominal = with_both(dynamics.nominal)
    return robot, pairs

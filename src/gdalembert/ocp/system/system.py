"""A robot as a transcription sees it: its constraints, its unknowns, and modes that follow their loads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics, check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.physical_parameters import columns
from gdalembert.errors import ArgumentError, SolutionWarning, UnsupportedError
from gdalembert.model.configuration import (
    integrate,
    integrate_derivatives,
    neutral,
    unit_and_scale,
    unit_blocks,
)
from gdalembert.ocp.system import steps
from gdalembert.ocp.system.steps import RungeKutta
from gdalembert.spatial import constant
from gdalembert.spatial.arguments import choice, number, warn
from gdalembert.spatial.arrays import Array, vibrations
from gdalembert.spatial.functions import function, symbols

Robot = Dynamics | ConstrainedDynamics
"""What can be planned for."""


class System:
    """A robot as a transcription sees it; of a flexible arm, natural modes above a frequency may follow their loads.

    These are the modes of its links at the neutral configuration, joints locked, and have no inertia: their amplitudes
    are unknowns of each stage, not states. Rotors of flexible joints keep theirs. Constraints hold by the states: rates
    of deflections are neglected in J v = 0, c(q) = 0 has the deflections in it, and states move with these.

    Attributes:
        robot: as given. ``con``: the same with its constraints, which may be none. ``dynamics``: without them.
        rows: of all constraints. ``places``: of those that are anchored, the rates of residuals.
        independent: the number of forces that are unknowns.
        projections: the number of unknowns that move the end of a step onto the constraints. There are none if
            velocities that violate them decay instead: then residuals drift by no more than the error of the steps.
        stiff: the number of natural modes that follow their loads. Then ``shapes`` Φ (nv × nv) gives v by the
            velocities of joints, other natural modes, rotors, and these modes; 0 × 0 otherwise.
        order: the entry of v in whose place each column of Φ stands.
    """

    def __init__(self, where: str, robot: Robot) -> None:
        self.robot, self.con = robot, ConstrainedDynamics.of(where, robot)
        self.dynamics: Dynamics = self.con.dynamics
        check_driven_by_u(where, self.dynamics)
        self.rows = steps.IndependentRows.of(self.con)
        self.places = steps.IndependentRows.of(steps.anchored_part(self.con), positions=True)
        self.independent = len(self.rows)
        self.projections = self.independent + len(self.places)
        self._decay = 0.0
        self.stiff, self.shapes, self.order = 0, np.zeros((0, 0)), [*range(self.con.nv)]

    def relax(self, cutoff: float, p: Array) -> str:
        """Let modes above a frequency [Hz] follow their loads, of an arm with parameters p (n_p).

        Returns:
            The name of a constraint that the other coordinates alone cannot hold, for which all vibrate; or nothing.
        """
        limit, dyn, modes = number("quasi_static", cutoff, "Hz"), self.dynamics, self.dynamics.modes
        if not modes:
            raise UnsupportedError(f"quasi_static: {dyn.tree.name} has no modes; leave it out")
        frequencies, natural = locked_modes(dyn, p)
        stiff = int(np.sum(frequencies > limit))
        if not stiff:
            raise ArgumentError(
                f"quasi_static={limit:g} Hz: no mode of {dyn.tree.name} is above it, the highest is at "
                f"{frequencies[-1]:.4g} Hz; give a lower one, or leave it out"
            )
        kept, shapes = len(modes) - stiff, np.eye(dyn.nv)
        shapes[np.ix_(modes, modes)] = natural
        order = [*range(modes.start), *modes[:kept], *range(modes.stop, dyn.nv), *modes[kept:]]
        if lost := self.rows.unreachable(shapes[:, order[: dyn.nv - stiff]]):
            return lost[0]
        self.stiff, self.order, self.shapes = stiff, order, shapes[:, order]
        return ""

    def cutoff(self, count: int, p: Array) -> float:
        """A frequency [Hz] above which there are so many modes."""
        frequencies = locked_modes(self.dynamics, p)[0]
        below = frequencies[-count - 1] if count < len(frequencies) else frequencies[0] / 4
        return float(np.sqrt(below * frequencies[-count]))

    def decaying(self, rate: float) -> System:
        """A copy in which velocities that violate constraints decay at a rate [1/s], in place of projections."""
        system = copy(self)
        for name in ("equations", "stage", "finer"):
            vars(system).pop(name, None)
        system.projections, system._decay = 0, rate
        return system

    def vibrating(self, p: Array) -> Array:
        """Frequencies [Hz] of modes with inertia and of rotors, rising, with all joints locked and neutral."""
        dyn, modes = self.dynamics, locked_modes(self.dynamics, p)[0]
        rotors = locked_vibrations(dyn, p, range(dyn.modes.stop, dyn.nv))[0]
        return np.sort(np.concatenate([modes[: len(modes) - self.stiff], rotors]))

    def check(self, method: str, rule: RungeKutta) -> None:
        """Refuse a method that cannot be used, or a robot whose M is singular, by an UnsupportedError."""
        if rule.is_explicit and (self.stiff or self.con.nc):
            what = "unknowns for quasi_static" if self.stiff else "forces of contacts and loops"
            raise UnsupportedError(f"{self.con.tree.name}: method={method!r} has no {what}; take 'collocation'")
        if not self.con.nc:
            _ = self.finer

    def drift(self, x: Array, p: Array) -> float:
        """The largest residual of contacts and loops that are anchored, at states [q; v] (rows) [m, rad]."""
        if not len(self.places):
            return 0.0
        return float(np.abs(self.places.residual(x.T, *columns(p, len(x))).full()).max())

    @property
    def states(self) -> int:
        """The number of entries of q and v that are states."""
        return int(self.con.tree.nq + self.con.tree.nv - 2 * self.stiff)

    @property
    def positions(self) -> int:
        """The number of those of q."""
        return int(self.con.tree.nq - self.stiff)

    @property
    def moves_ends(self) -> bool:
        """True if what ends fix makes way for constraints, as deflections are what loads make of them."""
        return bool(self.stiff and self.independent)

    @property
    def moving(self) -> list[int]:
        """The unknowns of a stage that are accelerations of states."""
        return [*range(self.con.tree.nv - self.stiff)]

    def states_of(self, x: Any) -> Any:
        """The states of [q; v] (columns)."""
        if not self.stiff:
            return x
        nq, nv, s = self.con.tree.nq, self.con.tree.nv, self.stiff
        back = np.asarray(np.linalg.inv(self.shapes), dtype=float)
        return ca.vertcat(_along(back, nq)[: nq - s, :] @ x[:nq, :], _along(back, nv)[: nv - s, :] @ x[nq:, :])

    @property
    def fixed_by(self) -> list[int]:
        """The entry of [q; v], for each state, with which it is fixed."""
        nq, nv, s = self.con.tree.nq, self.con.tree.nv, self.stiff
        of_q = [*range(nq - nv), *(nq - nv + k for k in self.order)]
        return [*of_q[: nq - s], *(nq + k for k in self.order[: nv - s])]

    def on_grid(self, states: ca.MX, k: ca.MX | None, rule: RungeKutta) -> ca.MX:
        """q and v at the N + 1 instants of the grid, of states there and unknowns k at the stages."""
        if not self.stiff or k is None:
            return states
        steps_behind = [*ca.horzsplit(k, len(rule.c)), k[:, k.shape[1] - len(rule.c) :]]
        last = states.shape[1] - 1
        parts = enumerate(zip(ca.horzsplit(states), steps_behind, strict=True))
        return ca.horzcat(*(self.at_instant(x, unknowns, rule, last=i == last) for i, (x, unknowns) in parts))

    def at_instant(self, state: ca.MX, k: ca.MX, rule: RungeKutta, *, last: bool) -> ca.MX:
        """[q; v] at one instant of the grid, of the unknowns of the interval behind it, or before it if it is last."""
        if not self.stiff:
            return state
        return ca.MX(ca.vertcat(*self._with_stiff(state, self._deflections(k) @ ca.DM(extrapolation(rule.c)[last]))))

    def unknowns(self, q: Array, a: Array) -> Array:
        """The first nv rows of k (columns) in a motion (a row for each stage)."""
        if not self.stiff:
            return a.T
        at, second = (np.linalg.solve(self.shapes, x[:, -self.con.tree.nv :].T) for x in (q, a))
        return np.vstack([second[: -self.stiff], at[-self.stiff :]])

    def _deflections(self, k: ca.MX) -> ca.MX:
        """The amplitudes of modes that follow their loads, of unknowns (columns)."""
        nv = self.con.tree.nv
        return k[nv - self.stiff : nv, :]

    def with_stiff(self, positions: ca.MX, k: ca.MX) -> ca.MX:
        """q of its states and of unknowns (columns)."""
        return positions if not self.stiff else self._position(positions, self._deflections(k))

    def _with_stiff(self, states: Any, eta: Any) -> tuple[Any, Any]:
        """q and v (columns) of states and the amplitudes of stiff modes."""
        return self._position(states[: self.positions, :], eta), self.with_stiff_rates(states[self.positions :, :])

    def _position(self, positions: Any, eta: Any) -> Any:
        return _along(self.shapes, self.con.tree.nq) @ ca.vertcat(positions, eta)

    def with_stiff_rates(self, rates: Any) -> Any:
        """v or a (columns) of those of the states."""
        if not self.stiff:
            return rates
        return _along(self.shapes, self.con.tree.nv)[:, : -self.stiff] @ rates

    def of_states(self, jacobian: Any) -> Any:
        """The columns of states of a matrix that is multiplied by v."""
        if not self.stiff:
            return jacobian
        shapes = self.shapes[:, : -self.stiff]
        return jacobian @ (shapes if isinstance(jacobian, np.ndarray) else ca.sparsify(ca.DM(shapes)))

    @cached_property
    def moved(self) -> ca.Function:
        """(positions, displacement) → (reached): what is reached from the states of q with a displacement of them.

        Natural modes and rotors, in the place of coordinates that add up, add up as well.
        """
        tree, nv = self.con.tree, self.con.tree.nv
        s = symbols(positions=self.positions, displacement=nv - self.stiff)
        none = ca.DM(self.stiff, 1)
        reached = integrate(tree, *(ca.vertcat(x, none) for x in s.values()))
        return steps.differentiable(function("moved", s, {"reached": reached[: self.positions]}))

    def rates_left(self, curved: Sequence[int]) -> ca.Function:
        """(displacement, rates, v) → (left): J(displacement) rates − v of joints whose displacements do not add up."""
        n = self.con.tree.nv - self.stiff
        s = symbols(displacement=n, rates=n, v=n)
        along = integrate_derivatives(self.con.tree, ca.vertcat(s["displacement"], ca.DM(self.stiff, 1)))[1][:n, :n]
        left = ca.SX(along @ s["rates"] - s["v"])[list(curved)]
        return steps.differentiable(function("rates_left", s, {"left": left}))

    def equation_sizes(self, effort: Array, of_modes: Array, curved: int) -> Array:
        """Typical magnitudes of the residual of a stage, of those of u and of the forces on natural modes."""
        rest = neutral(self.robot.tree).full().ravel()
        efforts = np.abs(self.dynamics.actuators.derivatives(rest, effort)[1]) @ effort
        sizes = np.where(efforts > 0, efforts, 1.0)
        sizes = sizes[self.order]
        if len(of_modes):
            first = self.dynamics.modes.start
            sizes[first : first + len(of_modes)] = of_modes
        return np.concatenate([sizes, np.ones(curved + self.independent)])

    def accelerations(self, k: ca.MX) -> ca.MX:
        """a (columns) of unknowns."""
        if not self.stiff:
            return k[: self.con.tree.nv, :]
        return ca.MX(self.with_stiff_rates(k[self.moving, :]))

    def takes_hold(self, before: System) -> bool:
        """True if constraints hold that did not before, so that v jumps."""
        return any(each not in before.con.constraints for each in self.con.constraints)

    def check_impact(self, piece: str) -> None:
        """Refuse a restitution of what takes hold in a ``piece`` of a motion, by an ArgumentError."""
        if self.con._set.restitution.any():
            raise ArgumentError(
                f"{self.con.tree.name}: its constraints have a restitution, and what rebounds does not hold in the "
                f"next {piece}; give restitution=0"
            )

    def balance(self, q: Any, change: Any, impulses: Any, p: Sequence[Any]) -> Any:
        """M Δv − Jᵀ Λ of independent impulses Λ: zero in an impact."""
        return self.con.dynamics.mass_matrix(q, *p) @ change - self.rows.jacobian(q, p).T @ impulses

    @property
    def mass(self) -> float:
        """The largest entry of M where the robot is neutral."""
        q = neutral(self.con.tree)
        return float(np.abs(self.con.dynamics.mass_matrix(q, *steps.values_of(self.con)).full()).max())

    @cached_property
    def finer(self) -> Callable[..., Any]:
        """A step of the classical Runge–Kutta method (x, u, h) → (x_next, …), which shows the error of other steps.

        What constraints hold takes it from the equations of a stage, since the graph of its forward dynamics takes
        longer to build than a problem to solve.
        """
        if not self.con.nc:
            return steps.rk4(self.robot)
        return steps.HeldStep(self.con, steps.stage(self.rows) if self.stiff else self.stage)

    def kinetic_energies(self, q: Array, v: Array, *p: Array) -> Array:
        """Kinetic energies (n) [J] of columns q, v and p."""
        if isinstance(self.finer, steps.HeldStep):
            return self.finer.kinetic_energies(q, v, *p)
        return np.asarray(self.dynamics.kinetic_energy(q, v, *p).full().ravel())

    @cached_property
    def equations(self) -> steps.IndependentRows:
        """The constraints as the equations of motion have them."""
        return replace(self.rows, con=self.con.damped(self._decay)) if self._decay and self.con.nc else self.rows

    @cached_property
    def stage(self) -> ca.Function:
        """The equations of motion at a collocation point, as :func:`~gdalembert.ocp.system.steps.stage`."""
        return steps.stage(self.equations, _along(self.shapes, self.con.nv) if self.stiff else None)

    def constraint_rows(self, x: ca.MX, *p: ca.MX) -> ca.MX:
        """Independent rows of c(q) and J v at [q; v] (columns)."""
        n = x.shape[1]
        positions = self.places.residual.map(n)(x, *p) if len(self.places) else ca.MX(0, n)
        return ca.MX(ca.vertcat(positions, self.rows.velocity.map(n)(x, *p)))

    @cached_property
    def projection(self) -> ca.Function:
        """(x, s) → (displacement, change): how s moves states at the end of a step from x onto the constraints."""
        con, nq, p = self.con, self.con.nq, self.con.symbols()
        s = symbols(x=nq + con.nv, s=self.projections) | p
        q, s_q, s_v = s["x"][:nq], s["s"][: len(self.places), :], s["s"][len(self.places) :, :]
        unit, _ = unit_and_scale(q, unit_blocks(con.tree))
        along = self.of_states(self.places.jacobian(unit, [*p.values()])).T @ s_q
        outputs = {"displacement": along, "change": self.of_states(self.rows.jacobian(unit, [*p.values()])).T @ s_v}
        return steps.differentiable(function("projection", s, outputs))

    def forces(self, k: ca.MX) -> ca.MX:
        """The forces of all constraints (nc), of unknowns (columns)."""
        return ca.MX(constant(self.rows.basis).T @ k[k.shape[0] - self.independent :, :])

    def closed(self, q: Array, hold: Sequence[str] = ()) -> Array:
        """A configuration near q that satisfies the constraints where that can be, with some joints as they are."""
        modes = [self.dynamics.coordinate_names[i] for i in self.dynamics.modes] if self.stiff else []
        for held in ([*hold, *modes], hold)[not self.stiff :] if len(self.places) else ():
            with contextlib.suppress(ArgumentError):
                return np.array(self.places.con.closed_configuration(q, held))
        return q

    def consistent(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """A motion nearby (a row for each time) that satisfies the constraints where that is possible."""
        p = steps.values_of(self.con)
        q, v, a = np.array([self.closed(each) for each in q]), v.copy(), a.copy()
        for i, here in enumerate(q if self.independent else ()):
            jacobian = self.rows.numbers(here)
            inverse = self.of_states(np.eye(self.con.nv)) @ np.linalg.pinv(self.of_states(jacobian))
            v[i] -= inverse @ jacobian @ v[i]
            bias = self.rows.basis @ self.con.bias_acceleration(here, v[i], *p).full().ravel()
            a[i] -= inverse @ (jacobian @ a[i] + bias)
        return q, v, a

    def generalized(self, q: Array, forces: Array, p: Array) -> Array:
        """Jᵀ f of independent forces (a row for each time)."""
        given = columns(p, 1)
        rows = [self.rows.jacobian(ca.DM(here), given).T @ f for here, f in zip(q, forces, strict=True)]
        return np.array([ca.DM(row).full().ravel() for row in rows])

    def efforts(self, q: Array, v: Array, a: Array, p: Array, u: Array | None = None) -> tuple[Array, Array]:
        """u (N × nu) and the independent forces of the constraints that come nearest to a motion (a row for each time).

        With u given, the forces alone.
        """
        actuators, tree, one = self.dynamics.actuators, self.dynamics.tree, np.ones(self.dynamics.nu)
        idle = [i for joint in tree.joints if not joint.type.is_actuated for i in joint.columns]
        by_u = actuators.derivatives(neutral(tree).full().ravel(), one)[1][np.setdiff1d(np.arange(tree.nv), idle)]
        driven = np.flatnonzero(np.any(by_u, axis=0)).tolist()  # whatever drives anything but a free-flyer
        torques = self.dynamics.inverse_dynamics(q.T, v.T, a.T, *columns(p, len(q))).full().T
        inputs = np.zeros((len(q), self.dynamics.nu)) if u is None else u
        forces = np.zeros((len(q), self.independent))
        for i, (here, tau) in enumerate(zip(q, torques, strict=True)):
            if not self.independent and u is None:
                inputs[i] = actuators.efforts(here, tau)
            elif self.independent:
                pushed = self.rows.jacobian(ca.DM(here), columns(p, 1)).full().T
                left = tau - actuators.torque(here, one if u is None else u[i])
                if u is None:
                    b = actuators.derivatives(here, one)[1]
                    pushed, left = np.hstack([b[:, driven], pushed]), left + b @ one
                found = np.linalg.lstsq(self.of_states(pushed.T).T, self.of_states(left), rcond=None)[0]
                forces[i] = found[len(found) - self.independent :]
                if u is None:
                    inputs[i, driven] = found[: len(driven)]
        return inputs, forces


def locked_modes(dyn: Dynamics, p: Array) -> tuple[Array, Array]:
    """Frequencies [Hz] and shapes of an arm's links at the neutral configuration, joints locked; none of a rigid robot.

    Rotors of flexible joints have no part in them, as springs connect these with the joints alone.
    """
    return locked_vibrations(dyn, p, dyn.modes)


def locked_vibrations(dyn: Dynamics, p: Array, chosen: range) -> tuple[Array, Array]:
    """Frequencies [Hz], rising, and shapes of some coordinates at the neutral configuration, the others held."""
    if not chosen:
        return np.zeros(0), np.zeros((0, 0))
    q, index = neutral(dyn.tree).full().ravel(), np.ix_(chosen, chosen)
    mass, stiffness = dyn.mass_matrix(q, *columns(p, 1)).full()[index], dyn.force_stiffness(q, p)[index]
    frequencies, shapes, _ = vibrations(mass, stiffness)
    return frequencies / (2 * np.pi), shapes


def _along(shapes: Array, size: int) -> ca.DM:
    """Φ as a sparse matrix (size × size), for v, or for q, which begins with entries that are no coordinates of Φ."""
    return ca.diagcat(ca.DM.eye(size - len(shapes)), ca.sparsify(ca.DM(shapes)))


AUTO = "auto"
"""What lets modes follow their loads where the intervals are too long for them."""
PERIODS = 4.0
"""A mode of more periods in the shortest interval is far too fast for its stages, fewer than one a period."""


def system_of(robot: Robot, quasi_static: float | str | None, p: Array, rule: RungeKutta, interval: float) -> System:
    """The system of a robot with parameters p, modes of a flexible arm above ``quasi_static`` following their loads.

    ``"auto"``: those of more than :data:`PERIODS` periods in an ``interval`` [s], the shortest one, where that can be.

    With one stage, velocities that violate constraints decay within some intervals, unless modes follow their loads.

    Warns:
        SolutionWarning: if these vibrate all the same, as steps are explicit, or a constraint holds by them alone.
    """
    system = System("Problem", robot)
    _relax(system, quasi_static, p, rule, interval)
    return system.decaying(1 / interval) if len(rule.c) == 1 and not system.moves_ends else system


def _relax(system: System, quasi_static: float | str | None, p: Array, rule: RungeKutta, interval: float) -> None:
    """Let fast modes follow their loads, as :func:`system_of` says."""
    limit = PERIODS / interval
    if isinstance(quasi_static, str):
        choice("quasi_static", quasi_static, (AUTO,))
        modes = system.vibrating(p) if rule.is_explicit else locked_modes(system.dynamics, p)[0]
        if not len(modes) or modes[-1] <= limit:
            return
        stays = "the steps are explicit"
        if not rule.is_explicit:
            lost = system.relax(limit, p)
            if not lost:
                return
            stays = f"{lost} holds by them alone"
        warn(
            f"Problem: {system.con.tree.name}: vibrations of up to {modes[-1]:.3g} Hz have "
            f"{modes[-1] * interval:.2g} periods in an interval, which no stage resolves, and cannot follow their "
            f"loads since {stays}; the solver may find no plan: take fewer modes or more intervals, or "
            "quasi_static=None to leave it so",
            SolutionWarning,
        )
    elif quasi_static is not None and (lost := system.relax(quasi_static, p)):
        raise UnsupportedError(
            f"quasi_static={quasi_static:g} Hz: {system.con.tree.name}: {lost} holds by modes above it alone; give a "
            "higher one, or None, or hold less, as by rows=(…)"
        )


def extrapolation(c: Array) -> tuple[Array, Array]:
    """The weights of values at c, by which their polynomial has its values at 0 and at 1."""
    powers = np.arange(len(c))
    to_coefficients = np.linalg.inv(c[:, None] ** powers)
    return to_coefficients[0], to_coefficients.sum(axis=0)

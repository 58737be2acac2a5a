"""What a transcription asks of a robot that nc ≥ 0 rows of contacts and loops hold."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics, check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.physical_parameters import columns
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import neutral, unit_and_scale, unit_blocks
from gdalembert.ocp import steps
from gdalembert.spatial import constant
from gdalembert.spatial.arguments import choice, number
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

Robot = Dynamics | ConstrainedDynamics
"""What can be planned for."""


class System:
    """A robot as a transcription sees it; of a flexible arm, natural modes above a frequency may follow their loads.

    These are the modes at the neutral configuration, joints locked, and have no inertia: their amplitudes are unknowns
    of each stage, not states.

    Args:
        where: what messages begin with.
        robot: a free robot, or one with constraints.

    Attributes:
        robot: as given. ``con``: the same with its constraints, which may be none. ``dynamics``: without them.
        rows: of all constraints. ``places``: of those that are anchored, the rates of residuals.
        independent: the number of forces that are unknowns.
        projections: the number of unknowns that move the end of a step.
        stiff: the number of natural modes that follow their loads, the last ones of ``shapes``, Ψ (n × n).

    Raises:
        ArgumentTypeError: if it is neither a Dynamics nor a ConstrainedDynamics.
        UnsupportedError: if wrenches are an input of it, or what is redundant among its constraints turns with q.
    """

    def __init__(self, where: str, robot: Robot) -> None:
        self.robot, self.con = robot, ConstrainedDynamics.of(where, robot)
        self.dynamics: Dynamics = self.con.dynamics
        check_driven_by_u(where, self.dynamics)
        self.rows = steps.IndependentRows.of(self.con)
        self.places = steps.IndependentRows.of(steps.anchored_part(self.con), positions=True)
        self.independent = len(self.rows)
        self.projections = self.independent + len(self.places)
        self.stiff, self.shapes = 0, np.zeros((0, 0))

    def relax(self, cutoff: float, p: Array) -> None:
        """Let modes above a frequency [Hz] follow their loads, of an arm with parameters p (n_p).

        Raises:
            ArgumentError: if no mode is above it.
            UnsupportedError: if the robot has constraints or rotors, or nothing of it bends.
        """
        limit, tree, bends = number("quasi_static", cutoff, "Hz"), self.con.tree, self.dynamics.modes
        if self.con.nc or not bends.start < bends.stop == tree.nv:
            what = "no modes" if bends.start == tree.nv else "rotors, whose inertia counts"
            what = "contacts or loops" if self.con.nc else what
            raise UnsupportedError(f"quasi_static: {tree.name} has {what}; leave it out")
        frequencies, self.shapes = locked_modes(self.dynamics, p)
        self.stiff = int(np.sum(frequencies > limit))
        if not self.stiff:
            raise ArgumentError(
                f"quasi_static={limit:g} Hz: no mode of {tree.name} is above it, the highest is at "
                f"{frequencies[-1]:.4g} Hz; give a lower one, or leave it out"
            )

    def check(self, method: str, rule: steps.RungeKutta) -> None:
        """Refuse a method that cannot be used, or a robot whose M is singular, by an UnsupportedError."""
        if rule.is_explicit and (self.stiff or self.con.nc):
            what = "unknowns for quasi_static" if self.stiff else "forces of contacts and loops"
            raise UnsupportedError(f"{self.con.tree.name}: method={method!r} has no {what}; take 'collocation'")
        if not self.con.nc:
            _ = self.finer

    @property
    def states(self) -> int:
        """The number of entries of q and v that are states."""
        return int(self.con.tree.nq + self.con.tree.nv - 2 * self.stiff)

    def states_of(self, x: Any) -> Any:
        """The states of [q; v] (columns)."""
        if not self.stiff:
            return x
        n, nq = len(self.shapes), self.con.tree.nq
        to_kept = ca.DM(np.linalg.inv(self.shapes)[: n - self.stiff])
        parts = x[:nq, :], x[nq:, :]
        return ca.vertcat(*(y for part in parts for y in (part[:-n, :], to_kept @ part[-n:, :])))

    @property
    def fixed_by(self) -> list[int]:
        """For each state, the entry of [q; v] with which it is fixed."""
        nq, nv = self.con.tree.nq, self.con.tree.nv
        return [*range(nq - self.stiff), *range(nq, nq + nv - self.stiff)]

    def on_grid(self, states: ca.MX, k: ca.MX | None, rule: steps.RungeKutta) -> ca.MX:
        """q and v at the N + 1 instants of the grid, of states there and unknowns k at the stages."""
        if not self.stiff or k is None:
            return states
        nv, degree, n = self.con.tree.nv, len(rule.c), states.shape[1] - 1
        begin, end = extrapolation(rule.c)
        eta = k[nv - self.stiff : nv, :]
        at_grid = ca.horzcat(eta @ ca.kron(ca.DM.eye(n), ca.DM(begin)), eta[:, (n - 1) * degree :] @ ca.DM(end))
        return ca.MX(ca.vertcat(*self._with_stiff(states, at_grid)))

    def unknowns(self, q: Array, a: Array) -> Array:
        """The first nv rows of k (columns) in a motion (a row for each stage)."""
        if not self.stiff:
            return a.T
        n, kept = len(self.shapes), len(self.shapes) - self.stiff
        eta, second = (np.linalg.solve(self.shapes, x[:, -n:].T) for x in (q, a))
        return np.vstack([a[:, :-n].T, second[:kept], eta[kept:]])

    def points(self, rule: steps.RungeKutta, x: ca.MX, k: ca.MX, h: ca.MX) -> tuple[ca.MX, ca.MX, ca.MX, ca.MX]:
        """q, v and the unknowns of :attr:`stage`, a column for each collocation point, and the states after each step.

        ``x`` and ``h`` are states and length at the start of each step, ``k`` the unknowns at each point.
        """
        tree, s = self.con.tree, self.stiff
        if not s:
            moving = k[: k.shape[0] - self.independent, :]
            q, v, x_next = steps.interpolated(tree, rule, x, moving, h)
            return ca.MX(q), ca.MX(v), k, ca.MX(x_next)
        slow, eta, rates = k[: tree.nv - s, :], k[tree.nv - s : tree.nv, :], k[tree.nv :, :]
        at, rate, x_next = steps.interpolated(tree, rule, x, ca.vertcat(slow, rates), h, s)
        q, v = self._with_stiff(ca.vertcat(at, rate), eta)
        return q, v, ca.vertcat(self._without_stiff(slow), rates), ca.MX(x_next)

    def _with_stiff(self, states: Any, eta: Any) -> tuple[Any, Any]:
        """q and v (columns) of states and the amplitudes of stiff modes."""
        kept, nq = len(self.shapes) - self.stiff, self.con.tree.nq - self.stiff
        slow, stiff = ca.DM(self.shapes[:, :kept]), ca.DM(self.shapes[:, kept:])
        q = ca.vertcat(states[: nq - kept, :], slow @ states[nq - kept : nq, :] + stiff @ eta)
        return q, self._without_stiff(states[nq:, :])

    def _without_stiff(self, rates: Any) -> Any:
        """v or a (nv) of those of the states."""
        kept = len(self.shapes) - self.stiff
        first = rates.shape[0] - kept
        return ca.vertcat(rates[:first, :], ca.DM(self.shapes[:, :kept]) @ rates[first:, :])

    @cached_property
    def finer(self) -> ca.Function:
        """A step by forward dynamics, which shows the error of other steps."""
        return steps.rk4(self.robot)

    @cached_property
    def stage(self) -> ca.Function:
        """The equations of motion at a collocation point, as :func:`~gdalembert.ocp.steps.stage`."""
        joints = self.con.nv - len(self.shapes)
        return steps.stage(self.rows, ca.diagcat(ca.DM.eye(joints), ca.DM(self.shapes)) if self.stiff else None)

    @cached_property
    def projection(self) -> ca.Function:
        """(x, s) → (moved): how s moves the end of a step that begins at x onto the constraints."""
        con, nq, p = self.con, self.con.nq, self.con.symbols()
        s = symbols(x=self.states, s=self.projections) | p
        q, s_q, s_v = s["x"][:nq], s["s"][: len(self.places), :], s["s"][len(self.places) :, :]
        unit, _ = unit_and_scale(q, unit_blocks(con.tree))
        along = self.places.jacobian(unit, [*p.values()]).T @ s_q
        moved = ca.vertcat(con.tree.configuration_rate(q, along), self.rows.jacobian(unit, [*p.values()]).T @ s_v)
        return steps.differentiable(function("projection", s, {"moved": moved}))

    def forces(self, k: ca.MX) -> ca.MX:
        """The forces of all constraints (nc), of unknowns (columns)."""
        return ca.MX(constant(self.rows.basis).T @ k[k.shape[0] - self.independent :, :])

    def closed(self, q: Array, hold: Sequence[str] = ()) -> Array:
        """A configuration near q that satisfies the constraints where that can be, with some joints as they are."""
        if len(self.places):
            with contextlib.suppress(ArgumentError):
                return np.array(self.places.con.closed_configuration(q, hold))
        return q

    def consistent(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """A motion nearby (a row for each time) that satisfies the constraints where that is possible."""
        p = steps.values_of(self.con)
        q, v, a = np.array([self.closed(each) for each in q]), v.copy(), a.copy()
        for i, here in enumerate(q if self.independent else ()):
            jacobian = self.rows.numbers(here)
            inverse = np.linalg.pinv(jacobian)
            v[i] -= inverse @ jacobian @ v[i]
            bias = self.rows.basis @ self.con.bias_acceleration(here, v[i], *p).full().ravel()
            a[i] -= inverse @ (jacobian @ a[i] + bias)
        return q, v, a

    def efforts(self, q: Array, v: Array, a: Array, p: Array, u: Array | None = None) -> tuple[Array, Array]:
        """u (N × nu) and the independent forces of the constraints that come nearest to a motion (a row for each time).

        With u given, the forces alone.
        """
        actuators, tree, one = self.dynamics.actuators, self.dynamics.tree, np.ones(self.dynamics.nu)
        idle = [i for joint in tree.joints if not joint.type.is_actuated for i in joint.columns]
        by_u = actuators.derivatives(neutral(tree).full().ravel(), one)[1][np.setdiff1d(np.arange(tree.nv), idle)]
        driven = np.flatnonzero(np.any(by_u, axis=0)).tolist()  # whatever drives anything but a free-flyer
        torques = self.dynamics.inverse_dynamics(q.T, v.T, a.T, *columns(p, len(q))).full().T
        inputs, forces = np.zeros((len(q), self.dynamics.nu)), np.zeros((len(q), self.independent))
        for i, (here, tau) in enumerate(zip(q, torques, strict=True)):
            if not self.independent:
                inputs[i] = actuators.efforts(here, tau) if u is None else u[i]
                continue
            jacobian = self.rows.jacobian(ca.DM(here), columns(p, 1)).full()
            if u is None:
                b = actuators.derivatives(here, one)[1]
                left = tau - actuators.torque(here, one) + b @ one
                both = np.linalg.lstsq(np.hstack([b[:, driven], jacobian.T]), left, rcond=None)[0]
                inputs[i, driven], forces[i] = both[: len(driven)], both[len(driven) :]
            else:
                inputs[i] = u[i]
                forces[i] = np.linalg.lstsq(jacobian.T, tau - actuators.torque(here, u[i]), rcond=None)[0]
        return inputs, forces


def locked_modes(dyn: Dynamics, p: Array) -> tuple[Array, Array]:
    """Frequencies [Hz] and shapes of an arm at the neutral configuration, joints locked; none of a rigid robot."""
    first, q = dyn.modes.start, neutral(dyn.tree).full().ravel()
    if first == dyn.tree.nv:
        return np.zeros(0), np.zeros((0, 0))
    mass = dyn.mass_matrix(q, *columns(p, 1)).full()[first:, first:]
    squares, shapes = vibrations(mass, dyn.force_stiffness(q, p)[first:, first:])
    return np.sqrt(squares) / (2 * np.pi), shapes


def vibrations(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """ω² and mass-normalised shapes Ψ of M and the symmetric part of K; zero where K drives away."""
    half = np.linalg.inv(np.linalg.cholesky(mass))
    squares, vectors = np.linalg.eigh(half @ (stiffness + stiffness.T) @ half.T / 2)
    return np.maximum(squares, 0.0), half.T @ vectors


AUTO = "auto"
"""What lets modes follow their loads where the intervals are too long for them."""
PERIODS = 4.0
"""A mode of more periods in the shortest interval is far too fast for its stages, fewer than one a period."""


def system_of(
    robot: Robot,
    quasi_static: float | str | None,
    p: Array,
    rule: steps.RungeKutta,
    interval: float,
    *,
    design: bool,
) -> System:
    """The system of a robot with parameters p, modes of a flexible arm above ``quasi_static`` following their loads.

    ``"auto"``: those of more than :data:`PERIODS` periods in an ``interval`` [s], the shortest one, where that can be.
    """
    system = System("Problem", robot)
    if isinstance(quasi_static, str):
        choice("quasi_static", quasi_static, (AUTO,))
        alone, quasi_static = system.dynamics, None
        bends = alone.modes.start < alone.tree.nv == alone.modes.stop
        if bends and not (system.con.nc or rule.is_explicit or design):
            quasi_static = PERIODS / interval if locked_modes(alone, p)[0][-1] * interval > PERIODS else None
    if quasi_static is not None:
        system.relax(quasi_static, p)
    return system


def extrapolation(c: Array) -> tuple[Array, Array]:
    """The weights of values at c, by which their polynomial has its values at 0 and at 1."""
    powers = np.arange(len(c))
    to_coefficients = np.linalg.inv(c[:, None] ** powers)
    return to_coefficients[0], to_coefficients.sum(axis=0)

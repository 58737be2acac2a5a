"""Natural modes that are too stiff to vibrate in a plan: they follow their loads without inertia.

With x = Ψ_f ζ + Ψ_s η, Ψ_s being the stiff natural modes, η has neither velocity nor acceleration: at each stage it is
the unknown of its own row of the equations of motion, and no state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.parameters.physical import physical_parameters
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import unit_and_scale, unit_blocks
from gdalembert.ocp.model_parameters import Design
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.steps import (
    Method,
    collocation_method,
    control_at,
    differentiable,
    free_rates,
    interpolated,
    step_symbols,
)
from gdalembert.ocp.systems import Robot, System
from gdalembert.ocp.vibrations import locked_modes
from gdalembert.spatial.arguments import choice, number
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function

AUTO = "auto"
"""What lets modes follow their loads where the intervals are too long for them."""
PERIODS = 4.0
"""A mode of more periods in the shortest interval is far too fast for its stages, fewer than one a period."""


def system_of(
    dyn: Robot, quasi_static: float | str | None, p: Values, method: str, interval: float, design: Design | None
) -> System:
    """That of a robot, modes of a flexible arm above ``quasi_static`` following their loads.

    ``"auto"``: those of more than :data:`PERIODS` periods in an ``interval`` [s], the shortest one, where that can be.

    Raises:
        ArgumentTypeError, ArgumentError: if ``quasi_static`` is another word; and as :func:`quasi_static_system`.
    """
    if quasi_static is not None and not isinstance(quasi_static, str):
        return quasi_static_system(dyn, quasi_static, p)
    system = System.of("Problem", dyn)
    if quasi_static is None:
        return system
    choice("quasi_static", quasi_static, (AUTO,))
    alone = system.dynamics
    bends = alone.modes.start < alone.tree.nv == alone.modes.stop
    if system.con is not None or method != "collocation" or design or not bends:
        return system
    values = physical_parameters("Problem", alone, p)
    fast = locked_modes(alone, values)[0][-1] * interval > PERIODS
    return QuasiStaticSystem(alone, PERIODS / interval, values) if fast else system


def too_fast(system: System, solution: Solution) -> Iterator[str]:
    """What may help where modes vibrate that the intervals of a motion do not resolve."""
    alone, interval = system.dynamics, solution.duration / (len(solution.t) - 1)
    frequencies = locked_modes(alone, solution.p)[0]
    vibrating = frequencies[: len(frequencies) - system.stiff]
    if not len(vibrating) or (times := vibrating[-1] * interval) <= 1:
        return
    highest = f"modes of up to {vibrating[-1]:.3g} Hz vibrate {times:.2g} times in an interval"
    if system.con is not None or alone.modes.stop < alone.tree.nv:
        yield f"{highest}; take fewer modes or more intervals"
    else:
        yield f"{highest}; let them follow their loads, quasi_static={1 / interval:.3g}, or take more intervals"


def quasi_static_system(dyn: Robot, cutoff: float, p: Values) -> QuasiStaticSystem:
    """That of a flexible arm whose modes above a frequency [Hz] follow their loads.

    Raises:
        As :class:`QuasiStaticSystem` and :meth:`System.of`.
    """
    system = System.of("Problem", dyn)
    if system.con is not None:
        raise UnsupportedError(f"quasi_static: {dyn.tree.name} has contacts or loops; leave it out")
    return QuasiStaticSystem(system.dynamics, cutoff, physical_parameters("Problem", system.dynamics, p))


class QuasiStaticSystem(System):
    """A flexible arm whose natural modes above a frequency follow their loads without inertia.

    The modes are those at the neutral configuration, joints locked.

    Args:
        dynamics: a flexible arm.
        cutoff: [Hz].
        p: its parameters (n_p).

    Attributes:
        shapes: Ψ (n × n), the natural modes by their frequencies.
        stiff: the number of those above the cutoff, the last ones.

    Raises:
        ArgumentError: if no mode is above the cutoff.
        UnsupportedError: if nothing of the robot bends, or it has rotors.
    """

    def __init__(self, dynamics: Dynamics, cutoff: float, p: Array) -> None:
        super().__init__(dynamics)
        limit, name = number("quasi_static", cutoff, "Hz"), dynamics.tree.name
        first, nv = dynamics.modes.start, dynamics.tree.nv
        if first == nv or dynamics.modes.stop < nv:
            what = "no modes" if first == nv else "rotors, whose inertia counts"
            raise UnsupportedError(f"quasi_static: {name} has {what}; leave it out")
        frequencies, self._shapes = locked_modes(dynamics, p)
        self.stiff = int(np.sum(frequencies > limit))
        if not self.stiff:
            raise ArgumentError(
                f"quasi_static={limit:g} Hz: no mode of {name} is above it, the highest is at "
                f"{frequencies[-1]:.4g} Hz; give a lower one, or leave it out"
            )
        self.shapes = self._shapes
        self._inverse = np.linalg.inv(self._shapes)

    def check(self, method: str) -> None:
        if method != "collocation":
            raise UnsupportedError(
                f"{self.robot.tree.name}: method={method!r} has no unknowns for quasi_static; take 'collocation'"
            )
        super().check(method)

    @property
    def states(self) -> int:
        return super().states - 2 * self.stiff

    def states_of(self, x: Any) -> Any:
        n, nq = len(self._inverse), self.robot.tree.nq
        to_kept = ca.DM(self._inverse[: n - self.stiff])
        parts = x[:nq, :], x[nq:, :]
        return ca.vertcat(*(y for part in parts for y in (part[:-n, :], to_kept @ part[-n:, :])))

    @property
    def fixed_by(self) -> list[int]:
        tree, s = self.robot.tree, self.stiff
        return [*range(tree.nq - s), *range(tree.nq, tree.nq + tree.nv - s)]

    def check_fixed(self, where: str, fixed: npt.NDArray[np.bool_]) -> None:
        modes = fixed[-len(self._inverse) :]
        if modes.any() and not modes.all():
            raise ArgumentError(
                f"{where} fixes some modal coordinates; with quasi_static fix all of them, or none; or give "
                "quasi_static=None"
            )

    def full(self, states: ca.MX, k: ca.MX | None, rule: Method) -> ca.MX:
        assert k is not None
        tree, s, degree, n = self.robot.tree, self.stiff, len(rule.c), states.shape[1] - 1
        begin, end = extrapolation(rule.c)
        eta = k[tree.nv - s : tree.nv, :]
        at_grid = ca.horzcat(eta @ ca.kron(ca.DM.eye(n), ca.DM(begin)), eta[:, (n - 1) * degree :] @ ca.DM(end))
        return ca.MX(ca.vertcat(*self._full(states, at_grid)))

    def unknowns(self, q: Array, a: Array) -> Array:
        n, s = len(self._inverse), self.stiff
        eta, second = (self._inverse @ x[:, -n:].T for x in (q, a))
        return np.vstack([a[:, :-n].T, second[: n - s], eta[n - s :]])

    def _full(self, states: Any, eta: Any) -> tuple[Any, Any]:
        """q and v (columns) of states and the amplitudes of stiff modes."""
        n, s, nq = len(self._inverse), self.stiff, self.robot.tree.nq - self.stiff
        slow, stiff = ca.DM(self._shapes[:, : n - s]), ca.DM(self._shapes[:, n - s :])
        at, rate = states[:nq, :], states[nq:, :]
        q = ca.vertcat(at[: nq - (n - s), :], slow @ at[nq - (n - s) :, :] + stiff @ eta)
        return q, self._moving(rate)

    def _moving(self, rates: Any) -> Any:
        """v or a (nv) of those of the states."""
        kept = len(self._inverse) - self.stiff
        first = rates.shape[0] - kept
        return ca.vertcat(rates[:first, :], ca.DM(self._shapes[:, :kept]) @ rates[first:, :])

    def implicit_step(self, degree: int, scheme: str, control: str) -> ca.Function:
        dyn, method, tree, stiff = self.dynamics, collocation_method(degree, scheme), self.robot.tree, self.stiff
        free, blocks, n = free_rates(tree)[0], unit_blocks(tree), len(self._inverse)
        s = step_symbols(dyn, control, k=(tree.nv + len(free), degree))
        s["x"] = ca.SX.sym("x", self.states)
        k, eta = s["k"], s["k"][tree.nv - stiff : tree.nv, :]
        moving = ca.vertcat(k[: tree.nv - stiff, :], k[tree.nv :, :])
        at, rate, x_next = interpolated(tree, method, s["x"], moving, s["h"], stiff)
        q, v = self._full(ca.vertcat(at, rate), eta)
        a = self._moving(k[: tree.nv - stiff, :])
        stages, residual = [], []
        for i in range(degree):
            unit, _ = unit_and_scale(q[:, i], blocks)
            stages.append(unit)
            force = dyn.inverse_dynamics(unit, v[:, i], a[:, i], *dyn.symbols().values())
            left = force - dyn.actuators.tau(unit, control_at(s["u"], method.c[i]))
            w = k[tree.nv :, i] - tree.configuration_rate(q[:, i], v[:, i])[free, 0]
            residual += [left[: tree.nv - n], ca.DM(self._shapes.T) @ left[tree.nv - n :], w]
        outputs = {"x_next": x_next, "residual": ca.vertcat(*residual), "q": ca.horzcat(*stages), "v": v, "a": a}
        return differentiable(function("quasi_static_collocation", s, outputs))


def extrapolation(c: Array) -> tuple[Array, Array]:
    """The weights of values at c, by which their polynomial has its values at 0 and at 1."""
    powers = np.arange(len(c))
    to_coefficients = np.linalg.inv(c[:, None] ** powers)
    return to_coefficients[0], to_coefficients.sum(axis=0)

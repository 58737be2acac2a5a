"""Initial guesses of a motion."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.physical_parameters import columns, physical_parameters
from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import Blocks, checked_configuration, difference, integrate, projected, unit_blocks
from gdalembert.ocp.system.system import Robot, System
from gdalembert.spatial.arguments import integer, number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible


@dataclass(frozen=True, eq=False)
class Guess(Brief):
    """An initial guess, one row for each of N times; it need not obey the equations of motion.

    Attributes:
        t: from 0 to the duration (N) [s].
        q, v, a: N × nq, N × nv, N × nv. ``u``: N × nu.
        blocks: the entries of q that are quaternions and pairs (cos, sin).
    """

    t: Array
    q: Array
    v: Array
    a: Array
    u: Array
    blocks: Blocks = ()

    def __post_init__(self) -> None:
        n = numbers("Guess: t", self.t).size
        for name in ("t", "q", "v", "a", "u"):
            rows = numbers(f"Guess: {name}", getattr(self, name))
            if rows.shape[:1] != (n,) or rows.ndim != (1 if name == "t" else 2):
                raise ArgumentError(f"Guess: {name} has shape {rows.shape}; give a row for each of {n} times")
        if n < 2 or np.any(np.diff(self.t) <= 0):
            raise ArgumentError("Guess: t must be at least two times [s], each later than the last")

    def at(self, fractions: Array, duration: float) -> tuple[Array, Array, Array, Array]:
        """q, v, a, u at fractions (N) of the duration, scaled to ``duration`` [s].

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        fractions = numbers("at: fractions", fractions).ravel()
        pace = (self.t[-1] - self.t[0]) / number("at: duration", duration, "s")
        times = self.t[0] + fractions * (self.t[-1] - self.t[0])
        q, v, a, u = (
            np.column_stack([np.interp(times, self.t, column) for column in rows.T])
            for rows in (self.q, self.v, self.a, self.u)
        )
        return projected(q, self.blocks), pace * v, pace**2 * a, u


@interruptible
def rest_to_rest(
    dyn: Robot,
    q_start: npt.ArrayLike,
    q_end: npt.ArrayLike,
    duration: float = 1.0,
    samples: int = 51,
    *,
    p: Values = None,
) -> Guess:
    """Motion from rest to rest on the geodesic, q(t) = q_start ⊕ s(t) (q_end ⊖ q_start), s = 10 τ³ − 15 τ⁴ + 6 τ⁵.

    τ = t / duration. u is the least-squares solution of tau(q, u) + Jᵀ forces = inverse dynamics.

    Args:
        dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`, whose constraints the motion need not
            satisfy between both ends.
        q_start, q_end: configurations (nq).
        duration: [s].
        samples: number of rows, at least 2.
        p: the parameters of the robot, all or some by name; by default those of the model.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used.
    """
    return rest_to_rest_of(System("rest_to_rest", dyn), q_start, q_end, duration, samples, p)


def rest_to_rest_of(
    system: System, q_start: npt.ArrayLike, q_end: npt.ArrayLike, duration: float, samples: int, p: Values
) -> Guess:
    """The guess of :func:`rest_to_rest`, of a system."""
    tree = system.dynamics.tree
    start = checked_configuration("rest_to_rest: q_start", q_start, tree)
    end = checked_configuration("rest_to_rest: q_end", q_end, tree)
    samples = integer("rest_to_rest: samples", samples, 2)
    duration = number("rest_to_rest: duration", duration, "s")
    values = physical_parameters("rest_to_rest", system.dynamics, p)
    s = symbols(q=tree.nq, v=tree.nv)
    step = function("integrate", s, {"q_next": integrate(tree, s["q"], s["v"])})
    tau, way = np.linspace(0, 1, samples), ca.evalf(difference(tree, ca.DM(start), ca.DM(end))).full().ravel()
    fraction = 10 * tau**3 - 15 * tau**4 + 6 * tau**5
    rate = (30 * tau**2 - 60 * tau**3 + 30 * tau**4) / duration
    with np.errstate(over="ignore"):
        second = (60 * tau - 180 * tau**2 + 120 * tau**3) / duration / duration
    if not np.isfinite(second).all():
        raise ArgumentError(f"rest_to_rest: duration: got {duration:g} s, in which accelerations overflow; give more")
    q = step.map(samples)(start, np.outer(way, fraction)).full().T
    q, v, a = system.consistent(q, np.outer(rate, way), np.outer(second, way))
    u, _ = system.efforts(q, v, a, values)
    return Guess(duration * tau, q, v, a, u, unit_blocks(tree))


def with_deflections(system: System, plan: Guess, p: Array) -> Guess:
    """A motion of the joints with the deflections x = −K⁻¹ f, f being the forces that it exerts on modes and rotors.

    Modes have no velocities, which differences would make of every jump of a plan; those of rotors are differences. u
    is the plan's, if it has as many entries.
    """
    dyn = system.dynamics
    flexible, nv, nq, n = dyn.modes.start, dyn.tree.nv, dyn.tree.nq, len(plan.t)
    q, v, a = (
        np.hstack([rows, np.zeros((n, width - rows.shape[1]))])
        for rows, width in ((plan.q, nq), (plan.v, nv), (plan.a, nv))
    )
    stiffness = dyn.force_stiffness(q[0], p)[flexible:, flexible:]
    forces = dyn.inverse_dynamics(q.T, v.T, a.T, *columns(p, n)).full()[flexible:]
    deflections = -np.linalg.lstsq(stiffness, forces, rcond=None)[0].T
    q[:, flexible + nq - nv :] = deflections
    rotors = slice(dyn.modes.stop, nv)
    v[:, rotors] = np.gradient(deflections[:, dyn.modes.stop - flexible :], plan.t, axis=0)
    a[:, rotors] = np.gradient(v[:, rotors], plan.t, axis=0)
    u = plan.u if plan.u.shape[1] == dyn.nu else system.efforts(q, v, a, p)[0]
    return Guess(plan.t, q, v, a, u, unit_blocks(dyn.tree))

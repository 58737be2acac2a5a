"""Initial values of a solver, and the typical magnitudes of its variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.physical_parameters import check_mass_matrix, columns
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import neutral, unit_blocks
from gdalembert.ocp.ends.ends import End
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.stage import Motion
from gdalembert.ocp.system.guess import Guess, rest_to_rest_of, with_deflections
from gdalembert.ocp.system.system import System
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arrays import Array, vibrations

_FEW, _SAMPLES, _CONSTRAINED = 11, 51, 5
"""Instants at which the fastest v is looked for, those of a guess, and those of forces of constraints."""
_LEAST = 1e-3
"""The smallest force on a natural mode that counts, over the largest."""
_ROUNDING = 1e-12
"""Forces on modes that are no more than this, over the elastic ones, are those of rounding."""


class Initial:
    """Initial values of the solves of a problem: a guess, or the motion from rest to rest between its ends.

    ``nearby`` are configurations from the phases before and after, where an end fixes none; ``out_of_collision``
    changes a guess in which gaps are too small.
    """

    def __init__(self, motion: Motion, ends: Sequence[End]) -> None:
        self._motion, self._ends = motion, ends
        self._guess: Guess | None = None
        self.nearby: tuple[Array | None, Array | None] = None, None
        self.out_of_collision: Callable[[Guess], Guess] | None = None

    def set(self, guess: Guess | Simulation | Solution) -> None:
        """Take a guess, at which all later solves begin; ArgumentError if it is none of these, or another robot's."""
        self._guess = self._checked(guess)

    def configuration(self, row: int) -> Array:
        """q at the first (0) or last (−1) instant of the guess."""
        return np.asarray(self.default_guess().q[row])

    def scales(self) -> Scales:
        """The magnitudes of the variables, with natural modes in the place of modal coordinates."""
        return self.scales_of(self.default_guess())

    def scales_of(self, guess: Guess) -> Scales:
        """The same, of a guess."""
        motion = self._motion
        parameters, duration = motion.parameters, self._duration(guess)
        modes = NaturalModes.of(motion.system, guess, duration, parameters.last)
        constants = np.concatenate([np.ones(int(motion.free_time)), parameters.sizes])
        forces = np.zeros(motion.system.independent)
        if motion.system.independent:
            few = guess.at(np.linspace(0, 1, _CONSTRAINED), duration)[:3]
            forces += np.abs(motion.system.efforts(*few, parameters.last)[1]).max(initial=1.0)
        return Scales(
            modes,
            state=np.concatenate([modes.q, modes.v, constants]),
            unknowns=np.concatenate([modes.a, np.ones(len(motion.curved)), forces]),
            equations=motion.system.equation_sizes(motion.effort, modes.forces, len(motion.curved)),
        )

    def motion(self, guess: Any) -> Guess:
        """A guess; that of the problem, if it is ``None``."""
        found = self._known_guess() if guess is None else self._checked(guess)
        if found is None:
            raise ArgumentError("there is no motion to start from; call guess(…), or start(q) or end(q) with all of q")
        return found if self.out_of_collision is None else self.out_of_collision(found)

    def variables(self, guess: Any) -> Array:
        """All variables in a guess; in that of the problem, if it is ``None``."""
        found = self.motion(guess)
        check_mass_matrix("solve", self._motion.system.dynamics, found.q[0], self._motion.parameters.last)
        motion, bounds, p = self._motion, self._motion.bounds, self._motion.parameters
        n, duration = motion.intervals, self._duration(found)
        q, v, _, u = found.at(np.linspace(0, 1, n + 1), duration)
        constants = np.concatenate([[duration][: motion.free_time], p.last[p.chosen]])
        states = motion.system.states_of(ca.DM(np.hstack([q, v]).T))
        values = {id(motion.state): ca.vertcat(states, ca.repmat(ca.DM(constants), 1, n + 1))}
        values[id(motion.u)] = ca.DM(np.clip(u, bounds.u_lower, bounds.u_upper)[: motion.u.shape[1]].T)
        held = values[id(motion.u)]
        values[id(motion.u_before)] = ca.horzcat(held[:, 0], held)[:, : motion.u_before.shape[1]]
        if motion.k is not None:
            q, v, a, u = found.at(motion.fractions, duration)
            u = np.clip(u, bounds.u_lower, bounds.u_upper)
            _, forces = motion.system.efforts(q, v, a, p.last, u)
            values[id(motion.k)] = ca.DM(np.vstack([motion.system.unknowns(q, a), v.T[motion.curved], forces.T]))
        if motion.s is not None:
            values[id(motion.s)] = ca.DM.zeros(*motion.s.shape)
        return np.concatenate([values[id(matrix)].full().ravel(order="F") for matrix in motion.variables])

    def _duration(self, guess: Guess) -> float:
        """The fixed duration, or that of a guess in the range of a free one."""
        return float(np.clip(guess.t[-1] - guess.t[0], *self._motion.range))

    def default_guess(self) -> Guess:
        """The guess, or a motion between the ends, or one that stays where the robot is neutral."""
        rest = neutral(self._motion.dyn.tree).full().ravel()
        return self._known_guess() or self._between(rest, rest)

    def _known_guess(self) -> Guess | None:
        """The guess, or the motion between the ends, if one of them is known, on the constraints where it is free."""
        if self._guess is not None:
            return self._guess
        start = self._ends[0].configuration(None)
        end = self._ends[1].configuration(start)
        start, end = start if start is not None else self.nearby[0], end if end is not None else self.nearby[1]
        if start is None and end is None:
            return None
        found = [np.asarray(end if start is None else start), np.asarray(start if end is None else end)]
        for k, fixed in enumerate(each.fixed[0] for each in self._ends):
            if not fixed.all():
                joints = self._motion.dyn.tree.independent_joints
                hold = [joint.name for joint in joints if fixed[joint.idx_q : joint.idx_q + joint.type.nq].all()]
                found[k] = self._motion.system.closed(found[k], hold)
        return self._between(*found)

    def _between(self, q_start: Array, q_end: Array) -> Guess:
        """The motion from rest to rest, within the bounds of v if the duration allows it."""
        motion, p = self._motion, self._motion.parameters.last
        once = rest_to_rest_of(motion.system, q_start, q_end, 1.0, _FEW, p)
        fastest = (np.abs(once.v) / motion.bounds.v_upper).max()
        duration = float(np.clip(1.25 * fastest, *motion.range))
        return rest_to_rest_of(motion.system, q_start, q_end, duration, _SAMPLES, p)

    def _checked(self, motion: Guess | Simulation | Solution) -> Guess:
        dyn = self._motion.system.dynamics
        if isinstance(motion, Solution):
            motion = motion.guess()
        if isinstance(motion, Simulation):
            if motion.model != dyn.tree.name:
                raise ArgumentError(f"guess: the simulation is of {motion.model!r}, not of {dyn.tree.name!r}")
            motion = Guess(motion.t - motion.t[0], motion.q, motion.v, motion.a, motion.u, unit_blocks(dyn.tree))
        if not isinstance(motion, Guess):
            raise ArgumentTypeError(f"guess takes a Guess, a Simulation or a Solution, not {type(motion).__name__}")
        flexible = dyn.tree.nv - dyn.modes.start
        joints = dyn.tree.nq - flexible, dyn.tree.nv - flexible
        if flexible and (motion.q.shape[1], motion.v.shape[1]) == joints:
            motion = with_deflections(self._motion.system, motion, self._motion.parameters.last)
        shapes = motion.q.shape[1], motion.v.shape[1], motion.u.shape[1]
        if shapes != (own := (dyn.tree.nq, dyn.tree.nv, dyn.nu)):
            raise ArgumentError(f"guess: it has nq, nv, nu = {shapes}; {dyn.tree.name} has {own}")
        return motion


class Scales(NamedTuple):
    """Typical magnitudes in a motion: of states, unknowns of a stage, and its equations."""

    modes: NaturalModes
    state: Array
    unknowns: Array
    equations: Array


@dataclass(frozen=True, eq=False)
class NaturalModes:
    """The coordinates η of x = Ψ η, where x are those of modes and rotors, and Ψ the natural modes, joints locked.

    In η, mass and stiffness are 1 and ω²; they are so exactly where the joints are as in q, and nearly elsewhere.

    Attributes:
        shapes: Ψ (n × n), mass-normalised; 0 × 0 of a rigid robot.
        q, v, a: typical magnitudes in a motion: of joints, and of η in the place of x (nq, nv and nv), all positive.
        forces: those of the forces Ψᵀ f on η (n).
    """

    shapes: Array
    q: Array
    v: Array
    a: Array
    forces: Array

    @classmethod
    def of(cls, system: System, motion: Guess, duration: float, p: Array) -> NaturalModes:
        """The modes in the middle of a motion of ``duration`` [s], with p (n_p), or those that the states already are.

        Joints have the magnitude 1, and the largest a of any joint; η of mass m and stiffness k under a force f: f/k,
        f/√(m k), f/m; m is 1 of natural modes.
        """
        dyn = system.dynamics
        q, v, a, _ = motion.at(np.linspace(0, 1, 21), duration)
        first, nv = dyn.modes.start, dyn.tree.nv
        sizes = np.ones(dyn.tree.nq), np.ones(nv), np.full(nv, np.abs(a).max(initial=1.0))
        if first == nv:
            return cls(np.zeros((0, 0)), *sizes, np.zeros(0))
        middle = q[len(q) // 2]
        check_mass_matrix("solve", dyn, middle, p)
        mass = dyn.mass_matrix(middle, *columns(p, 1)).full()[first:, first:]
        stiffness = dyn.force_stiffness(middle, p)[first:, first:]
        shapes = system.shapes[first:, first:] if system.stiff else vibrations(mass, stiffness)[1]
        inertia, squares = (np.diag(shapes.T @ x @ shapes) for x in (mass, stiffness))
        tau = dyn.inverse_dynamics(q.T, v.T, a.T, *columns(p, len(q))).full()
        bent = stiffness @ q[:, first - nv :].T
        load = np.abs(shapes.T @ (tau[first:] - bent)).max(axis=1)
        if load.max() <= _ROUNDING * np.abs(shapes.T @ bent).max() and system.independent:  # at rest, pressing
            few = motion.at(np.linspace(0, 1, _CONSTRAINED), duration)[:3]
            pushed = system.generalized(few[0], system.efforts(*few, p)[1], p)[:, first:]
            load = np.abs(pushed @ shapes).max(axis=0)
        load = np.maximum(load, _LEAST * load.max()) if load.any() else np.ones_like(load)
        squares = np.where(squares > 0, squares, inertia)
        at, rate, second = sizes
        for size, unit in ((at, squares), (rate, np.sqrt(squares * inertia)), (second, inertia)):
            size[first - nv :] = load / unit
        if not system.stiff:
            return cls(shapes, *sizes, load)
        kept, s = slice(0, -system.stiff), system.stiff
        return cls(np.zeros((0, 0)), at[kept], rate[kept], np.concatenate([second[kept], at[-s:]]), load)


def plain_states(system: System, modes: NaturalModes) -> list[int]:
    """The states that are entries of q and v, and variables of the solver."""
    nq, nv, flexible = system.con.tree.nq, system.con.tree.nv, system.dynamics.modes
    mixed = flexible if system.stiff else range(nv - len(modes.shapes), nv)
    coordinates = [entry - nq if entry >= nq else entry - (nq - nv) for entry in system.fixed_by]
    return [state for state, i in enumerate(coordinates) if i not in mixed]

"""Outputs of a robot along a record, by simulation, with their derivatives by what is unknown.

Entries of v whose motion is prescribed (h) are inputs, the others (f) states:

    M_ff a_f = (B u)_f − nle_f − M_fh a_h

Steps are Runge and Kutta's of order four, several for each sample where modes are fast; a prescribed motion is the
quintic polynomial between two samples that has q, v and a of both. Derivatives S of the states follow the same steps,
Ṡ = f_x S + f_θ, so that they are those of the discrete solution to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.outputs import output_function
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.identification.records import Outputs, Samples
from gdalembert.model.configuration import integrate, neutral
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.expressions import Expression
from gdalembert.spatial.factorization import symmetric_solve
from gdalembert.spatial.functions import symbols

_STEP = 0.5
"""The longest step in units of 1/ω of the fastest vibration: its amplitude falls by ω⁶ h⁶ / 144, 1e-4 of it, a step."""
_MOST_STEPS = 100
"""Steps for each sample, beyond which vibrations are too fast for the samples."""
_FIRST, _LINES = 5, 5
"""Samples through which a line is laid, for values and rates, and how many lines tell the start: in the rate of one
alone, fast vibrations pass for slow ones."""
_READINGS, _SETTLED, _DEPENDENT, _NO_ENERGY = 6, 1e-10, 1e-7, 1e-9
"""Newton's steps to a measured state, the relative step that is none, the relative singular value that is none, and the
stiffness of what has none, in parts of the largest."""


def _rated(dyn: Dynamics, columns: Sequence[int]) -> list[int]:
    """The entries of q whose rates are these entries of v, in every configuration.

    Raises:
        UnsupportedError: if an entry of v is not the rate of one of q, as of (cos, sin) and of quaternions.
    """
    rates = dyn.tree.tangent_map(ca.SX.sym("q", dyn.tree.nq))
    rows = [rates[i, :] for i in range(dyn.tree.nq)]
    entries = {tuple(ca.evalf(row).full().ravel()): i for i, row in enumerate(rows) if row.is_constant()}
    found = [entries.get(tuple(unit)) for unit in np.eye(dyn.tree.nv)[[*columns]]]
    for k, i in zip(columns, found, strict=True):
        if i is None:
            joint = next(joint for joint in dyn.tree.independent_joints if k in joint.columns)
            cure = "take the joint as revolute, or drive it" if joint.type.is_revolute else "drive it"
            raise UnsupportedError(
                f"fit_outputs: motion of {dyn.coordinate_names[k]!r}: joint {joint.name!r} is a {joint.type.kind}, "
                f"whose v is not the rate of one entry of q; {cure}"
            )
    return [i for i in found if i is not None]


def _lines(t: Array) -> tuple[Array, Array]:
    """Value at its begin, and rise over its span, of a line through each _FIRST samples (2 k × N); their spans (k)."""
    parts = np.split(t, max(1, len(t) // _FIRST))
    spans = np.array([part[-1] - part[0] for part in parts])
    matrix = np.zeros((2 * len(parts), len(t)))
    for k, (part, span) in enumerate(zip(parts, spans, strict=True)):
        first = k * len(part)
        line = np.linalg.pinv(np.vander((part - part[0]) / span, 2, increasing=True))
        matrix[2 * k : 2 * k + 2, first : first + len(part)] = line
    return matrix, spans


def _noise(y: Array) -> float:
    """The standard deviation of independent errors of smooth samples, which may be NaN, by their third differences."""
    differences = np.diff(y, 3, axis=0)
    seen = differences[np.isfinite(differences)]
    return float(np.sqrt(np.mean(seen**2) / 20)) if seen.size else 0.0  # 1² + 3² + 3² + 1²


class OutputModel:
    """A robot whose motion is simulated, with unknowns θ: some entries of p, and others that outputs and drive have.

    Attributes:
        dyn: the robot. ``p``: values of all its parameters. ``at``: the entries of p that are unknown.
        others: names of the other unknowns, one number each.
        held: the entries of v whose motion is prescribed. ``free``: the others. ``held_q``, ``free_q``: theirs in q.
    """

    def __init__(
        self,
        dyn: Dynamics,
        outputs: Outputs,
        drive: Expression | None,
        p: Array,
        at: Sequence[int],
        others: Sequence[str],
        held: Sequence[int],
    ) -> None:
        self.dyn, self.outputs, self.p, self.at, self.others, self.held = dyn, outputs, p, [*at], [*others], [*held]
        self.drive = None if drive is None else output_function(dyn, "drive", drive, dict.fromkeys(others, 1))
        if self.drive is not None and self.drive.size1_out(0) != dyn.nu:
            raise ArgumentError(f"fit_outputs: drive gives {self.drive.size1_out(0)} efforts; give {dyn.nu}")
        self.free = [k for k in range(dyn.tree.nv) if k not in held]
        self.held_q = _rated(dyn, held)
        self.free_q = [k for k in range(dyn.tree.nq) if k not in self.held_q]
        self.nx, self._runs = len(self.free_q) + len(self.free), dict[tuple[int, int, int], ca.Function]()

    # Graphs of x (states), w = [u; q_h; v_h; a_h] of a record, θ, and S, with columns for θ and then for others

    @cached_property
    def _symbols(self) -> dict[str, ca.SX]:
        inputs = self.dyn.nu + 3 * len(self.held)
        return symbols(x=self.nx, w=inputs, theta=len(self.at) + len(self.others))

    @cached_property
    def _motion(self) -> ca.Function:
        """(x, w, θ) → (xdot, q, v, a, u of the actuators[, p])."""
        dyn, s, n, nu, nh = self.dyn, self._symbols, len(self.free_q), self.dyn.nu, len(self.held)
        q, v, a, values = ca.SX(dyn.tree.nq, 1), ca.SX(dyn.tree.nv, 1), ca.SX(dyn.tree.nv, 1), ca.SX(ca.DM(self.p))
        q[self.free_q], v[self.free] = s["x"][:n], s["x"][n:]
        u, q[self.held_q], v[self.held], held = ca.vertsplit(s["w"], [0, nu, nu + nh, nu + 2 * nh, nu + 3 * nh])
        theta = ca.vertsplit(s["theta"])
        for k, value in zip(self.at, theta, strict=False):
            values[k] = value
        p = [values] if len(self.p) else []
        if self.drive is not None:
            u = self.drive(q, v, a, u, *p, *theta[len(self.at) :])
        if self.held:
            a[self.held] = held
            if self.free:
                rest = dyn.actuators.tau(q, u) - dyn.inverse_dynamics(q, v, a, *p)
                a[self.free] = symmetric_solve(dyn.mass_matrix(q, *p)[self.free, self.free], rest[self.free])
        else:
            a = dyn.state_derivative(ca.vertcat(q, v), u, *p)[dyn.tree.nq :]
        xdot = ca.vertcat(ca.vec(dyn.tree.configuration_rate(q, v)[self.free_q]), ca.vec(a[self.free]))
        return ca.Function("motion", list(s.values()), [xdot, q, v, a, u, *p], {"cse": True})

    def _rate(self, columns: int) -> ca.Function:
        """(x, S, w, θ) → (ẋ, Ṡ)."""
        s, big = self._symbols, ca.SX.sym("S", self.nx, columns)
        xdot = self._motion(*s.values())[0]
        rate = ca.jacobian(xdot, s["x"]) @ big
        if columns:
            rate[:, : s["theta"].shape[0]] += ca.jacobian(xdot, s["theta"])
        return ca.Function("rate", [s["x"], big, s["w"], s["theta"]], [xdot, ca.densify(rate)], {"cse": True})

    def _observed(self, columns: int) -> ca.Function:
        """(x, S, w, θ) → (y, dy), m and m × columns."""
        x, w, theta = (ca.MX.sym(name, symbol.shape[0]) for name, symbol in self._symbols.items())
        big = ca.MX.sym("S", self.nx, columns)
        _, *of_outputs = self._motion(x, w, theta)
        others = ca.vertsplit(theta)[len(self.at) :]
        y = ca.densify(ca.vertcat(*(output(*of_outputs, *others) for output in self.outputs.functions.values())))
        dy = ca.jacobian(y, x) @ big
        if columns:
            dy += ca.horzcat(ca.jacobian(y, theta), ca.MX(y.shape[0], columns - theta.shape[0]))
        whole = ca.Function("observed", [x, big, w, theta], [y, ca.densify(dy)])
        try:
            return whole.expand()
        except RuntimeError:  # as of an interpolant
            return whole

    def _step(self, columns: int, count: int) -> ca.Function:
        """(x, S, h, w at the stages, θ) → (x, S): the steps of a sample."""
        rate = self._rate(columns)
        x, big, length = ca.MX.sym("x", self.nx), ca.MX.sym("S", self.nx, columns), ca.MX.sym("h")
        w = ca.MX.sym("w", self._symbols["w"].shape[0], 2 * count + 1)
        theta = ca.MX.sym("theta", self._symbols["theta"].shape[0])
        state, h, stages = [x, big], length / count, ca.horzsplit(w)
        for i in range(0, 2 * count, 2):
            slopes = [rate(*state, stages[i], theta)]
            for at, part in ((i + 1, 0.5), (i + 1, 0.5), (i + 2, 1.0)):
                shifted = [z + part * h * dz for z, dz in zip(state, slopes[-1], strict=True)]
                slopes.append(rate(*shifted, stages[at], theta))
            sums = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*slopes, strict=True)]
            state = [z + h * dz for z, dz in zip(state, sums, strict=True)]
        return ca.Function("step", [x, big, length, w, theta], state)

    def _run(self, columns: int, count: int, n: int) -> ca.Function:
        """(x, S, lengths of steps, w at their stages, w, θ) → (y, dy) of n samples, made once."""
        if (columns, count, n) not in self._runs:
            width = self._symbols["w"].shape[0]
            sizes = (self.nx, 1), (self.nx, columns), (1, n - 1), (width, (n - 1) * (2 * count + 1))
            inputs = [ca.MX.sym("i", *size) for size in sizes]
            w, theta = (ca.MX.sym("i", self._symbols[name].shape[0], k) for name, k in (("w", n), ("theta", 1)))
            states = ca.MX(0, n), ca.MX(0, n * columns)
            if self.nx:
                step = self._step(columns, count).mapaccum("steps", n - 1, [0, 1], [0, 1], {"base": 10})
                xs, bigs = step(*inputs, ca.repmat(theta, 1, n - 1))
                states = ca.horzcat(inputs[0], xs), ca.horzcat(inputs[1], bigs)
            observed: Any = self._observed(columns).map(n)(*states, w, ca.repmat(theta, 1, n))
            self._runs[columns, count, n] = ca.Function("run", [*inputs, w, theta], [*observed])
        return self._runs[columns, count, n]

    # Along a record

    def _motions(self, samples: Samples) -> list[Array]:
        """q, v and a (N × 3) of each entry that is held."""
        return [samples.motion[self.dyn.coordinate_names[k]] for k in self.held]

    def widest(self, samples: Samples) -> tuple[float, str]:
        """The range [rad] of the angle that ranges farthest of those that are prescribed, and its name; 0 of none."""
        joints = [joint for joint in self.dyn.tree.independent_joints if joint.columns[0] not in self.dyn.modes]
        turns = {
            k
            for joint in joints
            for k, is_linear in zip(joint.columns, joint.type.linear, strict=True)
            if not is_linear
        }
        names = [self.dyn.coordinate_names[k] for k in self.held if k in turns]
        return max(((float(np.ptp(samples.motion[name][:, 0])), name) for name in names), default=(0.0, ""))

    def _stages(self, samples: Samples, count: int) -> Array:
        """The inputs w at the stages of all steps (n_w × (N − 1)(2 count + 1))."""
        c, h, u = np.linspace(0, 1, 2 * count + 1), np.diff(samples.t), samples.u.T
        rows = np.zeros((3, len(self.held), len(h), len(c)))
        for i, (q, v, a) in enumerate(motion.T for motion in self._motions(samples)):
            # q = Σ b_k cᵏ: b_0 … b_2 by the start, b_3 … b_5 by the end
            b = [q[:-1], h * v[:-1], h**2 * a[:-1] / 2]
            left = np.array([q[1:] - b[0] - b[1] - b[2], h * v[1:] - b[1] - 2 * b[2], h**2 * a[1:] - 2 * b[2]])
            b += [*np.linalg.solve([[math.perm(k, d) for k in (3, 4, 5)] for d in range(3)], left)]
            for d in range(3):
                powers = np.array([math.perm(k, d) * c ** max(k - d, 0) for k in range(6)])
                rows[d, i] = np.einsum("ks,kc->sc", b, powers) / h[:, None] ** d
        of_u = u[:, :-1, None] + np.diff(u)[..., None] * (0 * c if samples.hold else c)
        return np.concatenate([of_u, *rows]).reshape(self._symbols["w"].shape[0], -1)

    def steps(self, samples: Samples, theta: Array) -> int:
        """The number of steps for each sample, by the fastest vibration where the record begins."""
        if not self.free:
            return 1
        mass, stiffness = self._at_rest(samples, theta)
        fastest = float(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(mass, stiffness))).max(initial=0)))
        count = max(1, math.ceil(float(np.diff(samples.t).max()) * fastest / _STEP))
        if count > _MOST_STEPS:
            raise ArgumentError(
                f"{samples.context}: a vibration of {fastest / (2 * np.pi):.4g} Hz takes {count} steps for each "
                "sample; give fewer modes, a lower stiffness, or more samples"
            )
        return count

    def _at_rest(self, samples: Samples, theta: Array) -> tuple[Array, Array]:
        """M and K of the forces (n_f × n_f) where a record begins."""
        q, p = self.start(samples)[0], self.values(theta)
        mass, stiffness = (f(q, *p).full() for f in (self.dyn.mass_matrix, self.dyn._force_stiffness))
        chosen = np.ix_(self.free, self.free)
        return mass[chosen], (stiffness + stiffness.T)[chosen] / 2

    def values(self, theta: Array) -> list[Array]:
        """[p] of θ, as the last input of a Function; nothing of a robot without parameters."""
        p = np.array(self.p)
        p[self.at] = theta[: len(self.at)]
        return [p] if len(p) else []

    def start(self, samples: Samples) -> tuple[Array, Array]:
        """The state (q, v) at the first instant as given, or neutral and at rest; of what is held, its motion."""
        q, v = neutral(self.dyn.tree).full().ravel(), np.zeros(self.dyn.tree.nv)
        if isinstance(samples.initial, tuple):
            q, v = (np.array(x, dtype=float) for x in samples.initial)
        for k, i, motion in zip(self.held, self.held_q, self._motions(samples), strict=True):
            q[i], v[k] = motion[0, :2]
        return q, v

    @cached_property
    def moved(self) -> ca.Function:
        """(q, v, δ) → (x, ∂x/∂δ): a state that is displaced by δ = [δ_q; δ_v] of free entries, in tangent space."""
        tree, n = self.dyn.tree, len(self.free)
        s, shift = symbols(q=tree.nq, v=tree.nv, delta=2 * n), ca.SX(tree.nv, 1)
        shift[self.free] = s["delta"][:n]
        q, v = ca.vec(integrate(tree, s["q"], shift)[self.free_q]), ca.vec(s["v"][self.free])
        x = ca.vertcat(q, v + s["delta"][n:])
        return ca.Function("moved", list(s.values()), [x, ca.densify(ca.jacobian(x, s["delta"]))], {"cse": True})

    def measured_start(
        self, samples: Samples, theta: Array, sizes: Array, count: int, most: int = _LINES
    ) -> tuple[Array, Array]:
        """The state (q, v) from which outputs have the values and rates of the first samples, by least squares.

        Energy counts as the noise of the samples does: what they do not tell is at rest. ``most``: lines through them;
        of one, the state of least energy that has its values and rates.
        """
        (q, v), n = self.start(samples), len(self.free)
        if not n:
            return q, v
        mass, stiffness = self._at_rest(samples, theta)
        largest = max(float(np.abs(stiffness).max(initial=0)), float(np.abs(mass).max(initial=0)))
        unit = [np.linalg.inv(np.linalg.cholesky(x)).T for x in (stiffness + _NO_ENERGY * largest * np.eye(n), mass)]
        metric = ca.diagcat(*map(ca.DM, unit)).full()
        first = samples.part(slice(_FIRST * max(1, min(most, len(samples.t) // _FIRST))))
        lines, spans = _lines(first.t)
        shown = lines @ (first.y / sizes)
        shown[::2] += shown[1::2] * self.outputs.lags / spans[:, None]
        seen = np.repeat([(part > 0).all(axis=0) for part in np.split(first.weights, len(spans))], 2, axis=0)
        noise = _noise(np.where(first.weights > 0, first.y / sizes, np.nan)) if len(spans) > 1 else 0.0
        z = np.zeros(2 * n)
        for _ in range(_READINGS if seen.any() else 0):
            x, slope = (y.full() for y in self.moved(q, v, np.zeros(2 * n)))
            slopes = np.hstack([np.zeros((self.nx, len(theta))), slope])
            y, dy = self.simulate(first, theta, x, slopes, count, sensed=False)
            left = (shown - lines @ (y / sizes))[seen]
            jacobian = np.einsum("ik,kjl->ijl", lines, dy[..., len(theta) :] / sizes[:, None])[seen] @ metric
            # a motion with so much energy that its rates show as much as the outputs do is one deviation
            weight = noise * float(np.linalg.norm(jacobian[:, n:], 2))
            rows = np.vstack([jacobian, weight * np.eye(2 * n)])
            change = np.linalg.pinv(rows, rcond=_DEPENDENT) @ np.concatenate([left, -weight * z])
            z, step = z + change, metric @ change
            shift = np.zeros(len(v))
            shift[self.free], v[self.free] = step[:n], v[self.free] + step[n:]
            q = integrate(self.dyn.tree, ca.DM(q), ca.DM(shift)).full().ravel()
            if np.abs(step).max(initial=0) < _SETTLED:
                break
        return q, v

    def simulate(
        self, samples: Samples, theta: Array, x: Array, slopes: Array, count: int, *, sensed: bool = True
    ) -> tuple[Array, Array]:
        """y (N × m) and its derivatives (N × m × columns), from the state x with its derivatives (n_x × columns).

        ``sensed``: as sensors show them, with their dynamics.
        """
        n, columns = len(samples.t), slopes.shape[1]
        w = np.vstack([samples.u.T, *(motion[:, d] for d in range(3) for motion in self._motions(samples))])
        run = self._run(columns, count, n)
        y, dy = run(x, slopes, np.diff(samples.t)[None, :], self._stages(samples, count), w, theta)
        y, dy = y.full().T, dy.full().reshape(len(self.outputs.names), n, columns).transpose(1, 0, 2)
        for name, at in self.outputs.slices.items() if sensed else ():
            sensor, first = self.outputs.sensors[name], samples.part(slice(_FIRST))
            if sensor.lag:
                line = np.linalg.pinv(np.vander(first.t - first.t[0], 2, increasing=True)) @ first.y[:, at]
                y[:, at] = sensor.seen(samples.t, y[:, at], line)
                dy[:, at] = sensor.seen(samples.t, dy[:, at], np.zeros((2, *dy[0, at].shape)))
        return y, dy

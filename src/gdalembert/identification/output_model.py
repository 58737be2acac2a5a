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

import casadi as ca
import numpy as np
import numpy.typing as npt

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
"""The longest step in units of 1/ω of the fastest vibration: the amplitude falls by ω⁶ h⁶ / 144, 1e-4 of it a step."""
_MOST_STEPS = 100
"""Steps for each sample, beyond which vibrations are too fast for the samples."""
_FIRST = 5
"""Samples through which a line is laid for values and rates at the start."""
_READINGS, _DEPENDENT, _NO_ENERGY = 6, 1e-7, 1e-9
"""Newton's steps to a measured state; relative singular value that is 0; energy of what has none, in parts of the
largest."""


Mask = npt.NDArray[np.bool_]


class OutputModel:
    """A robot whose motion is simulated, with unknowns θ: some entries of p, and others that outputs and drive have.

    Attributes:
        dyn: the robot. ``p``: values of all its parameters. ``at``: the entries of p that are unknown.
        others: names of the other unknowns, one number each.
        held: the entries of v whose motion is prescribed, in order. ``free``: the others; ``free_q``: theirs in q.
    """

    def __init__(
        self, dyn: Dynamics, outputs: Outputs, drive: Expression | None, p: Array, at: Sequence[int],
        others: Sequence[str], held: Sequence[int],
    ) -> None:  # fmt: skip
        self.dyn, self.outputs, self.p, self.at, self.others = dyn, outputs, p, list(at), list(others)
        sizes = dict.fromkeys(self.others, 1)
        self.drive = None if drive is None else output_function(dyn, "drive", drive, sizes)
        if self.drive is not None and self.drive.size1_out(0) != dyn.nu:
            raise ArgumentError(f"fit_outputs: drive gives {self.drive.size1_out(0)} efforts; give {dyn.nu}")
        self.held, nq = list(held), dyn.tree.nq
        self.free = [k for k in range(dyn.tree.nv) if k not in self.held]
        moved = ca.evalf(dyn.tree.tangent_map(neutral(dyn.tree))).full()
        self.held_q = [int(np.flatnonzero(moved[:, k]).item()) for k in self.held if np.count_nonzero(moved[:, k]) == 1]
        if len(self.held_q) < len(self.held) or not np.all(moved[self.held_q].sum(axis=1) == 1):
            raise UnsupportedError("fit_outputs: the motion of a joint is prescribed, and v is not the rate of its q")
        self.free_q = [k for k in range(nq) if k not in self.held_q]
        self.nx = len(self.free_q) + len(self.free)

    # Symbols: x of the states, w = [u; q_h; v_h; a_h] of a record, θ

    @cached_property
    def _symbols(self) -> dict[str, ca.SX]:
        inputs = self.dyn.nu + 3 * len(self.held)
        return symbols(x=self.nx, w=inputs, theta=len(self.at) + len(self.others))

    @cached_property
    def _motion(self) -> ca.Function:
        """(x, w, θ) → (xdot, q, v, a, u of the actuators, p)."""
        dyn, s, n, nu, nh = self.dyn, self._symbols, len(self.free_q), self.dyn.nu, len(self.held)
        q, v, a, values = ca.SX(dyn.tree.nq, 1), ca.SX(dyn.tree.nv, 1), ca.SX(dyn.tree.nv, 1), ca.SX(ca.DM(self.p))
        q[self.free_q], v[self.free] = s["x"][:n], s["x"][n:]
        u, q[self.held_q], v[self.held], held = ca.vertsplit(s["w"], [0, nu, nu + nh, nu + 2 * nh, nu + 3 * nh])
        theta = ca.vertsplit(s["theta"])
        for k, value in zip(self.at, theta, strict=False):
            values[k] = value
        p, others = [values] if len(self.p) else [], theta[len(self.at) :]
        if self.drive is not None:
            u = self.drive(q, v, a, u, *p, *others)
        if not self.held:
            rate = dyn.state_derivative(ca.vertcat(q, v), u, *p)
            a = rate[dyn.tree.nq :]
        else:
            a[self.held] = held
            m = dyn.mass_matrix(q, *p)[self.free, self.free]
            rest = dyn.actuators.tau(q, u) - dyn.inverse_dynamics(q, v, a, *p)
            a[self.free] = symmetric_solve(m, rest[self.free])
        xdot = ca.vertcat(dyn.tree.configuration_rate(q, v)[self.free_q], a[self.free])
        return ca.Function("motion", list(s.values()), [xdot, q, v, a, u, *p], {"cse": True})

    def _augmented(self, columns: int) -> ca.Function:
        """(x, S, w, θ) → (ẋ, Ṡ), with columns of S for θ first, and for the initial state."""
        s, big = self._symbols, ca.SX.sym("S", self.nx, columns)
        xdot = self._motion(*s.values())[0]
        rate = ca.jacobian(xdot, s["x"]) @ big
        if columns:
            n = s["theta"].shape[0]
            rate[:, :n] += ca.jacobian(xdot, s["theta"])
        inputs = [s["x"], big, s["w"], s["theta"]]
        return ca.Function("augmented", inputs, [xdot, ca.densify(rate)], {"cse": True})

    def _observed(self, columns: int) -> ca.Function:
        """(x, S, w, θ) → (y, dy), m and m × columns."""
        x, w, theta = (ca.MX.sym(name, symbol.shape[0]) for name, symbol in self._symbols.items())
        big = ca.MX.sym("S", self.nx, columns)
        _, *of_outputs = self._motion(x, w, theta)
        others = ca.vertsplit(theta)[len(self.at) :] if self.others else []
        y = ca.vertcat(*(function(*of_outputs, *others) for function in self.outputs.functions.values()))
        dy = ca.jacobian(y, x) @ big
        if columns:
            n = theta.shape[0]
            dy = dy + ca.horzcat(ca.jacobian(y, theta), ca.MX(y.shape[0], columns - n))
        whole = ca.Function("observed", [x, big, w, theta], [ca.densify(y), ca.densify(dy)])
        try:
            return whole.expand()
        except RuntimeError:
            return whole

    @cached_property
    def _functions(self) -> dict[tuple[str, int, int], ca.Function]:
        return {}

    def _steps(self, columns: int, count: int) -> ca.Function:
        """(x, S, h, w of the stages, θ) → (x, S): the steps of a sample."""
        key = "steps", columns, count
        if key not in self._functions:
            rate = self._augmented(columns)
            x, big = ca.MX.sym("x", self.nx), ca.MX.sym("S", self.nx, columns)
            length, stages = ca.MX.sym("h"), ca.MX.sym("w", self._symbols["w"].shape[0], 2 * count + 1)
            theta = ca.MX.sym("theta", self._symbols["theta"].shape[0])
            state, h, columns_of = (x, big), length / count, ca.horzsplit(stages)
            for i in range(count):
                begin, middle, end = columns_of[2 * i : 2 * i + 3]

                def moved(k: Sequence[ca.MX], c: float, state: Sequence[ca.MX] = state, h: ca.MX = h) -> list[ca.MX]:
                    return [z + c * h * dz for z, dz in zip(state, k, strict=True)]

                k1 = rate(*state, begin, theta)
                k2 = rate(*moved(k1, 0.5), middle, theta)
                k3 = rate(*moved(k2, 0.5), middle, theta)
                k4 = rate(*moved(k3, 1.0), end, theta)
                sums = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
                state = tuple(moved(sums, 1.0))
            self._functions[key] = ca.Function("steps", [x, big, length, stages, theta], list(state))
        return self._functions[key]

    def _function(self, kind: str, columns: int, count: int) -> ca.Function:
        """Outputs of N samples, or the ends of N − 1 steps; made once."""
        if (kind, columns, count) not in self._functions:
            made = self._observed(columns).map(count)
            self._functions[kind, columns, count] = made
        return self._functions[kind, columns, count]

    # Along a record

    def _motions_of(self, samples: Samples) -> list[Array]:
        """q, v and a (N × 3) of each entry that is held."""
        return [samples.motion[self.dyn.coordinate_names[k]] for k in self.held]

    def stages(self, samples: Samples, count: int) -> Array:
        """[u; q_h; v_h; a_h] at the stages of the steps (n_w × (N − 1) × (2 count + 1))."""
        c = np.linspace(0, 1, 2 * count + 1)
        h = np.diff(samples.t)
        rows = np.zeros((3, len(self.held), len(h), len(c)))
        for i, motion in enumerate(self._motions_of(samples)):
            q, v, a = motion.T
            # q = Σ b_k cᵏ; the first three of q, v and a at the start, the last three of those at the end
            b = [q[:-1], h * v[:-1], h**2 * a[:-1] / 2]
            left = np.array([q[1:] - b[0] - b[1] - b[2], h * v[1:] - b[1] - 2 * b[2], h**2 * a[1:] - 2 * b[2]])
            ends = np.linalg.inv([[math.perm(k, d) for k in (3, 4, 5)] for d in range(3)])
            b += list(ends @ left)
            for d in range(3):
                powers = [math.perm(k, d) * c ** max(k - d, 0) for k in range(6)]
                rows[d, i] = sum(np.outer(b_k, power) for b_k, power in zip(b, powers, strict=True)) / h[:, None] ** d
        u = samples.u.T
        change = 0 * c if samples.hold else c
        u = u[:, :-1, None] + np.diff(u)[..., None] * change
        return np.concatenate([u, rows.reshape(3 * len(self.held), len(h), len(c))])

    def steps_for(self, samples: Samples, theta: Array) -> int:
        """Steps for each sample, by the fastest vibration at the neutral configuration."""
        dyn, p = self.dyn, self.values(theta)
        q = self.start(samples, theta)[0]
        m = dyn.mass_matrix(q, *p).full()[np.ix_(self.free, self.free)]
        k = dyn._force_stiffness(q, *p).full()[np.ix_(self.free, self.free)]
        fastest = float(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(m, k))).max(initial=0)))
        count = max(1, math.ceil(float(np.diff(samples.t).max()) * fastest / _STEP))
        if count > _MOST_STEPS:
            raise ArgumentError(
                f"{samples.context}: a vibration of {fastest / (2 * np.pi):.4g} Hz takes {count} steps for each sample; "
                "give fewer modes, a stiffness that is less, or more samples"
            )
        return count

    def check_held(self, samples: Samples) -> None:
        """Refuse a record that prescribes the motion of other coordinates than the robot was made for."""
        names = [self.dyn.coordinate_names[k] for k in self.held]
        if sorted(samples.motion) != sorted(names):
            raise ArgumentError(
                f"{samples.context}: it prescribes the motion of {[*samples.motion]}, and others that of {names}; give "
                "the same of all"
            )

    def values(self, theta: Array) -> list[Array]:
        """[p] of θ, as the last input of a Function; nothing of a robot without parameters."""
        p = np.array(self.p)
        p[self.at] = theta[: len(self.at)]
        return [p] if len(p) else []

    def start(self, samples: Samples, theta: Array) -> tuple[Array, Array]:
        """q and v at the first instant: as given, or else those at rest of the motion that is prescribed."""
        tree = self.dyn.tree
        q, v = np.zeros(tree.nq), np.zeros(tree.nv)
        if isinstance(samples.initial, tuple):
            q, v = (np.array(x, dtype=float) for x in samples.initial)
        else:
            q[:] = neutral(self.dyn.tree).full().ravel()
        for k, i, rows in zip(self.held, self.held_q, self._motions_of(samples), strict=True):
            q[i], v[k] = rows[0, 0], rows[0, 1]
        return q, v

    @cached_property
    def moved(self) -> ca.Function:
        """(q, v, δ) → (x, ∂x/∂δ): the state that is displaced by δ = [δ_q; δ_v] of free entries, in tangent space."""
        tree, n = self.dyn.tree, len(self.free)
        s = symbols(q=tree.nq, v=tree.nv, delta=2 * n)
        shift = ca.SX(tree.nv, 1)
        shift[self.free] = s["delta"][:n]
        x = ca.vertcat(ca.SX(integrate(tree, s["q"], shift))[self.free_q], s["v"][self.free] + s["delta"][n:])
        return ca.Function("moved", list(s.values()), [x, ca.densify(ca.jacobian(x, s["delta"]))], {"cse": True})

    @cached_property
    def _reading(self) -> ca.Function:
        """(x, w, θ) → (y and ẏ, their derivatives by x), the part of accelerations in ẏ left out."""
        s = {name: ca.SX.sym(name, symbol.shape[0]) for name, symbol in self._symbols.items()}
        y = self._observed(0)(s["x"], ca.SX(self.nx, 0), s["w"], s["theta"])[0]
        xdot, nu, nh, n = self._motion(*s.values())[0], self.dyn.nu, len(self.held), len(self.free_q)
        rate = ca.jtimes(y, s["x"], ca.vertcat(xdot[:n], ca.SX(self.nx - n, 1)))
        if nh:
            rate += ca.jtimes(y, s["w"], ca.vertcat(ca.SX(nu, 1), s["w"][nu + nh :], ca.SX(nh, 1)))
        rows = ca.vertcat(y, rate)
        return ca.Function("reading", list(s.values()), [rows, ca.jacobian(rows, s["x"])], {"cse": True})

    @cached_property
    def read_outputs(self) -> Array:
        """The outputs (m, Boolean) from which a state can be read: those without accelerations."""
        reads = []
        for function in self.outputs.functions.values():
            s = dict(
                zip(
                    function.name_in(),
                    function.sx_in() if function.is_a("SXFunction") else function.mx_in(),
                    strict=True,
                )
            )
            y = function(*s.values())
            reads += [not ca.depends_on(y[k], s["a"]) for k in range(y.shape[0])]
        return np.array(reads)

    def measured_start(self, samples: Samples, theta: Array, sizes: Array) -> tuple[Array, Array]:
        """q and v at the first instant that the outputs show there: of all that do, those of least energy."""
        q, v = self.start(samples, theta)
        p, n, free = self.values(theta), len(self.free), np.ix_(self.free, self.free)
        k, m = (x.full()[free] for x in (self.dyn._force_stiffness(q, *p), self.dyn.mass_matrix(q, *p)))
        k = (k + k.T) / 2 + _NO_ENERGY * max(float(np.abs(k).max(initial=0)), float(np.abs(m).max())) * np.eye(n)
        w = np.linalg.inv(np.linalg.cholesky(k)).T, np.linalg.inv(np.linalg.cholesky(m)).T
        metric = np.block([[w[0], np.zeros((n, n))], [np.zeros((n, n)), w[1]]])
        rows, seen, duration = self._shown(samples, theta, sizes)
        for _ in range(_READINGS):
            x, slope = (z.full() for z in self.moved(q, v, np.zeros(2 * n)))
            value, by_x = (z.full() for z in self._reading(x, self._inputs(samples)[:, 0], theta))
            scale = np.concatenate([1 / sizes, duration / sizes])[seen]
            left = scale * (rows - value.ravel())[seen]
            c = scale[:, None] * (by_x @ slope)[seen] @ metric
            step = metric @ (np.linalg.pinv(c, rcond=_DEPENDENT) @ left)
            shift = np.zeros(self.dyn.tree.nv)
            shift[self.free] = step[:n]
            q = ca.DM(integrate(self.dyn.tree, ca.DM(q), ca.DM(shift))).full().ravel()
            v[self.free] += step[n:]
            if np.abs(step).max(initial=0) < 1e-12:
                break
        return q, v

    def _shown(self, samples: Samples, theta: Array, sizes: Array) -> tuple[Array, Mask, float]:
        """Values and rates of outputs at the start (2 m), which of them are known, and a time to weigh rates with."""
        t, m = samples.t[:_FIRST] - samples.t[0], len(sizes)
        line = np.linalg.lstsq(np.column_stack([np.ones_like(t), t]), samples.y[:_FIRST], rcond=None)[0]
        lags = np.concatenate(
            [np.full(s.stop - s.start, self.outputs.sensors[name].lag) for name, s in self.outputs.slices.items()]
        )
        values = line[0] + lags * line[1]
        seen = self.read_outputs & (samples.weights[:_FIRST] > 0).all(axis=0)
        return np.concatenate([values, line[1]]), np.tile(seen, 2), float(t[-1])

    def _inputs(self, samples: Samples) -> Array:
        """[u; q_h; v_h; a_h] at the samples (n_w × N)."""
        motions = self._motions_of(samples)
        return np.vstack([samples.u.T, *(rows[:, d] for d in range(3) for rows in motions)])

    def simulate(self, samples: Samples, theta: Array, x0: Array, s0: Array, count: int) -> tuple[Array, Array]:
        """y (N × m) and its derivatives (N × m × columns) from an initial state x0 with derivatives s0 (n_x × columns).

        Sensors show them as they do. What is not finite is infinite: the simulation left its range.
        """
        columns, steps = s0.shape[1], self._steps(s0.shape[1], count)
        n, stages, lengths = len(samples.t), self.stages(samples, count), np.diff(samples.t)
        key = "ends", columns * 1000 + count, n
        if key not in self._functions:
            self._functions[key] = steps.mapaccum("ends", n - 1, [0, 1], [0, 1], {"base": 10})
        ends = self._functions[key](
            x0, s0, lengths[None, :], stages.reshape(len(stages), -1), np.tile(theta[:, None], (1, n - 1))
        )
        xs, bigs = ca.horzcat(x0, ends[0]), ca.horzcat(s0, ends[1]) if columns else ca.DM(self.nx, 0)
        observed = self._function("observed", columns, n)
        y, dy = (z.full() for z in observed(xs, bigs, self._inputs(samples), np.tile(theta[:, None], (1, n))))
        m = y.shape[0]
        return self._sensed(
            samples, y.T, dy.reshape(m, n, columns).transpose(1, 0, 2) if columns else np.zeros((n, m, 0))
        )

    def _sensed(self, samples: Samples, y: Array, dy: Array) -> tuple[Array, Array]:
        for name, at in self.outputs.slices.items():
            sensor = self.outputs.sensors[name]
            if sensor.low_pass is None and not sensor.delay:
                continue
            t = samples.t[:_FIRST] - samples.t[0]
            line = np.linalg.lstsq(np.column_stack([np.ones_like(t), t]), samples.y[:_FIRST, at], rcond=None)[0]
            y[:, at] = sensor.seen(samples.t, y[:, at], line)
            dy[:, at] = sensor.seen(samples.t, dy[:, at], np.zeros((2, *dy[0, at].shape)))
        return y, dy

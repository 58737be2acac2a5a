"""The torques as an affine function of the parameters, and the samples reduced to triangular factors.

    tau(q, v, a, p) = tau(q, v, a, p₀) + Y(q, v, a) (p − p₀)            Y = ∂tau/∂p, p₀ the nominal parameters

What is estimated is s = (p − p₀) / size, so that all columns have the unit of a torque. Least squares need no more of N
samples than the triangular factor R_j of [Y_j size | tau_j − tau_j(p₀)] for each entry j of tau: the residuals have the
norm ‖R_j (s, −1)‖ for every s, whatever N is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.identification.samples import Samples
from gdalembert.identification.signals import decimated
from gdalembert.model.configuration import random_configuration
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import function

_AT_ONCE = 4096
"""Samples that are evaluated in one call: bounds the memory."""
_RANDOM_STATES = 200
_AFFINE = 1e-9
"""Relative change of a column of Y between two values of p, below which it is rounding."""


def check_dynamics(where: str, dyn: Dynamics) -> None:
    """Refuse what has nothing to identify.

    Raises:
        ArgumentTypeError: if it is not a ``Dynamics``.
        ArgumentError: if it has no parameters.
        UnsupportedError: if tau depends on more than q, v, a and p.
    """
    if not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"{where}: expected a Dynamics, got {type(dyn).__name__}")
    if not len(dyn.parameters):
        raise ArgumentError(
            f"{where}: {dyn!r} has no parameters to identify; make it with parameters={{'inertia': True, "
            "'armature': True, 'friction': True}, friction='model'"
        )
    dyn.external_wrenches.refuse(where)
    names = dyn.inverse_dynamics.name_in()
    if names != ["q", "v", "a", "p"]:
        raise UnsupportedError(f"{where}: tau is a function of {', '.join(names)}; give one of q, v, a and p alone")


class AffineTorque:
    """tau(p₀) and Y at many states.

    Attributes:
        names, nominal: of the parameters (n_p).
        random_states: q, v and a of some random states, always the same.

    Raises:
        ArgumentError: if tau is not affine in the parameters.
    """

    names: tuple[str, ...]
    nominal: Array
    random_states: tuple[Array, Array, Array]

    def __init__(self, where: str, dyn: Dynamics) -> None:
        self.names, self.nominal = tuple(dyn.parameters.names), np.array(dyn.parameters.values)
        self._dyn = dyn
        self._batch = BatchFunction(self._function(self.nominal), dyn.tree.nv, len(self.names) + 1)
        self.random_states = self._random_states(_RANDOM_STATES)
        self._check_affine(where)

    def _function(self, p: Array) -> ca.Function:
        """(q, v, a) → ([Y | tau]) (nv × (n_p + 1)) at p."""
        s = {name: ca.SX.sym(name, self._dyn.inverse_dynamics.size1_in(name)) for name in ("q", "v", "a", "p")}
        tau = self._dyn.inverse_dynamics(*s.values())
        both = ca.substitute(ca.horzcat(ca.jacobian(tau, s["p"]), tau), s.pop("p"), ca.DM(p))
        return function("regressor", s, {"Y_tau": both})

    def __call__(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Y (N × nv × n_p) and tau(p₀) (N × nv)."""
        both = self._batch(q, v, a)
        return both[..., :-1], both[..., -1]

    def torque(self, samples: Samples, p: Array) -> Array:
        """tau (N × nv) with the parameters p."""
        tau = np.empty_like(samples.tau)
        for start in range(0, len(samples), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            y, nominal = self(samples.q[rows], samples.v[rows], samples.a[rows])
            tau[rows] = nominal + y @ (p - self.nominal)
        return tau

    def _random_states(self, count: int) -> tuple[Array, Array, Array]:
        rng, tree = np.random.default_rng(0), self._dyn.nominal
        q = np.array([random_configuration(tree, rng).full().ravel() for _ in range(count)])
        return q, rng.normal(size=(count, tree.nv)), rng.normal(size=(count, tree.nv))

    def _check_affine(self, where: str) -> None:
        """Y must be the same at another p: for a graph of analytic functions this is a proof but for a null set."""
        rng = np.random.default_rng(1)
        states = tuple(part[:3] for part in self.random_states)
        here, _ = self(*states)
        other = self.nominal * rng.uniform(0.5, 1.5, len(self.nominal)) + rng.uniform(0.1, 1, len(self.nominal))
        there = BatchFunction(self._function(other), *here.shape[1:2], len(self.names) + 1)(*states)[..., :-1]
        size = np.abs(here).max(axis=(0, 1), initial=0)
        moved = ~(np.abs(there - here).max(axis=(0, 1)) <= _AFFINE * np.maximum(1, size))
        if moved.any():
            wrong = [name for name, each in zip(self.names, moved, strict=True) if each]
            shown = ", ".join(map(repr, wrong[:4])) + (", …" if len(wrong) > 4 else "")
            raise ArgumentError(
                f"{where}: tau is not affine in {shown}: products of parameters cannot be identified at once; free "
                "only some of them"
            )


@dataclass(frozen=True, eq=False)
class Reduced:
    """What least squares need of the samples.

    Attributes:
        factors: R_j of the rows of each entry of tau (nv × (n_p + 1) × (n_p + 1)), weighted.
        counts: the number of rows with a weight (nv).
        weights: the mean weight of these rows (nv), 1 being that of all rows with a weight; 0 if there are none.
        torques: the root mean square of the measured torques (nv).
    """

    factors: Array
    counts: Array
    weights: Array
    torques: Array

    def norms(self, s: Array) -> Array:
        """The norm of the weighted residuals of each entry of tau (nv)."""
        return np.asarray(np.linalg.norm(self.factors @ np.append(s, -1.0), axis=1))


def reduce(torque: AffineTorque, samples: Samples, sizes: Array, decimation: int = 1) -> Reduced:
    """The triangular factors of the samples, some thousand samples at a time.

    With decimation all rows of the regressor are in memory at once: N × nv × (n_p + 1) numbers.
    """
    n, nv = len(sizes) + 1, samples.tau.shape[1]
    factors = np.zeros((nv, n, n))
    weights = samples.weights[::decimation]
    counts = np.count_nonzero(weights, axis=0).astype(float)
    weights = weights * (counts.sum() / (weights.sum() or 1.0))
    blocks = _rows(torque, samples, sizes)
    if decimation > 1:
        blocks = iter([decimated(np.concatenate(list(blocks)), decimation)])
    start = 0
    for rows in blocks:
        rows = rows * np.sqrt(weights[start : start + len(rows)])[..., None]
        start += len(rows)
        for j in range(nv):
            factors[j] = triangular(np.vstack([factors[j], rows[:, j]]))
    rms = np.sqrt(np.mean(samples.tau**2, axis=0))
    return Reduced(factors, counts, weights.sum(axis=0) / np.maximum(counts, 1), rms)


def _rows(torque: AffineTorque, samples: Samples, sizes: Array) -> Iterator[Array]:
    """[Y size | tau − tau(p₀)] (… × nv × (n_p + 1)), some thousand samples at a time."""
    for start in range(0, len(samples), _AT_ONCE):
        part = samples.part(slice(start, start + _AT_ONCE))
        y, nominal = torque(part.q, part.v, part.a)
        yield np.concatenate([y * sizes, (part.tau - nominal)[..., None]], axis=2)


def triangular(rows: Array) -> Array:
    """A square R (n × n) with Rᵀ R = rowsᵀ rows: the triangular factor of the columns that are not zero."""
    acts = rows.any(axis=0)
    own = np.linalg.qr(rows[:, acts], mode="r")
    r = np.zeros((rows.shape[1], rows.shape[1]))
    r[: len(own), acts] = own
    return r

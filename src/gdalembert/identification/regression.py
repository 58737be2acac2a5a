"""Samples, the torques as an affine function of the parameters, and the samples reduced to triangular factors.

    tau(q, v, a, p) = tau(q, v, a, p₀) + Y(q, v, a) (p − p₀)            Y = ∂tau/∂p, p₀ the nominal parameters

What is estimated is s = (p − p₀) / size, so that all columns have the unit of a torque. Least squares need no more of N
samples than the triangular factor R_j of [Y_j size | tau_j − tau_j(p₀)] for each entry j of tau: the residuals have the
norm ‖R_j (s, −1)‖ for every s, whatever N is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.identification.signals import decimated
from gdalembert.model.configuration import check_unit_lengths, lengths, random_configuration, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import UNIT_ERROR, numbers
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import BatchFunction, function

_AT_ONCE = 4096
"""Samples that are evaluated in one call: bounds the memory."""
_RANDOM_STATES = 200
_AFFINE = 1e-9
"""Relative change of a column of Y between two values of p, below which it is rounding."""


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion and its torques, one row for each of N samples.

    Attributes:
        q, v, a: of the robot (N × nq, N × nv, N × nv).
        tau: the measured torques (N × nv) [N m, N].
        weights: of the squared residuals (N × nv).
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.tau)

    def part(self, rows: slice | npt.NDArray[np.bool_]) -> Samples:
        """Some of the samples."""
        return Samples(*(each[rows] for each in vars(self).values()))

    def parts(self) -> Iterator[Samples]:
        """All of them, some thousand at a time."""
        return (self.part(slice(start, start + _AT_ONCE)) for start in range(0, len(self), _AT_ONCE))


def checked_samples(where: str, tree: Tree, q: Any, v: Any, a: Any, tau: Any, weights: Any = None) -> Samples:
    """The samples as arrays.

    Raises:
        ArgumentTypeError: if one of the arguments does not consist of numbers.
        ArgumentError: if widths are not those of the robot, lengths differ, a number is not finite, a quaternion or a
            pair (cos, sin) in q is off unit length, or a weight is negative.
    """
    widths = {"q": tree.nq, "v": tree.nv, "a": tree.nv, "tau": tree.nv}
    given = {
        name: _columns(f"{where}: {name}", value, width)
        for (name, width), value in zip(widths.items(), (q, v, a, tau), strict=True)
    }
    count = len(given["q"])
    for name, array in given.items():
        if len(array) != count:
            raise ArgumentError(f"{where}: q has {count} rows, {name} has {len(array)}; give one row for each sample")
        if len(wrong := np.argwhere(~np.isfinite(array))):
            row, column = (int(k) for k in wrong[0])
            raise ArgumentError(
                f"{where}: {name} is {array[row, column]} in row {row}, column {column}; leave that sample out"
            )
    off = np.abs(lengths(given["q"], unit_blocks(tree)) - 1) > UNIT_ERROR
    if off.any():
        row = int(off.any(axis=1).argmax())
        check_unit_lengths(f"{where}: row {row} of q: the part", given["q"][row], tree)
    return Samples(**given, weights=_weights(where, weights, count, tree.nv))


def _columns(what: str, value: Any, width: int) -> Array:
    array = numbers(what, value, finite=False)
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise ArgumentError(f"{what} has shape {array.shape}; give (N, {width}), one row for each sample")
    return array


def _weights(where: str, given: Any, count: int, nv: int) -> Array:
    if given is None:
        return frozen(np.ones((count, nv)))
    array = numbers(f"{where}: weights", given)
    if array.shape not in ((count,), (count, nv)):
        raise ArgumentError(f"{where}: weights has shape {array.shape}; give ({count},) or ({count}, {nv})")
    if np.any(array < 0):
        row = int(np.argwhere(array < 0)[0][0])
        raise ArgumentError(f"{where}: the weight of row {row} is negative: {array[row].min():.6g}; give at least 0")
    return frozen(np.broadcast_to(array[:, None] if array.ndim == 1 else array, (count, nv)))


def split(where: str, tree: Tree, samples: Samples, held_back: Any) -> tuple[Samples, Samples | None]:
    """The samples to fit, and those to predict.

    Args:
        where: the function, for messages.
        tree: the robot.
        samples: all that were given.
        held_back: ``None``; the fraction of the samples, the last ones, that is held back; or other samples as
            (q, v, a, tau).

    Raises:
        ArgumentTypeError, ArgumentError: if ``held_back`` cannot be used.
    """
    if held_back is None:
        return samples, None
    if isinstance(held_back, list | tuple) and len(held_back) == 4:
        return samples, checked_samples(f"{where}: held_back", tree, *held_back)
    if isinstance(held_back, bool) or not isinstance(held_back, int | float | np.floating):
        raise ArgumentTypeError(
            f"{where}: held_back: expected a fraction of the samples or (q, v, a, tau), got {type(held_back).__name__}"
        )
    count = round(held_back * len(samples)) if 0 < held_back < 1 else 0
    if not 0 < count < len(samples):
        raise ArgumentError(
            f"{where}: held_back={held_back!r} of {len(samples)} samples leaves none to fit or none to predict; give a "
            "fraction between 0 and 1"
        )
    return samples.part(slice(0, len(samples) - count)), samples.part(slice(len(samples) - count, None))


def check_dynamics(where: str, dyn: Dynamics) -> None:
    """Refuse what has nothing to identify.

    Raises:
        ArgumentTypeError: if it is not a ``Dynamics``.
        ArgumentError: if it has no parameters.
        UnsupportedError: if wrenches are an input of it.
    """
    if not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"{where}: expected a Dynamics, got {type(dyn).__name__}")
    if not len(dyn.parameters):
        raise ArgumentError(
            f"{where}: {dyn!r} has no parameters to identify; make it with parameters={{'inertia': True, "
            "'armature': True, 'friction': True}, friction='model'"
        )
    dyn.external_wrenches.refuse(where)


class AffineTorque:
    """tau(p₀) and Y at many states.

    Attributes:
        names, nominal: of the parameters (n_p).
        random_states: q, v and a of some random states, always the same.

    Raises:
        ArgumentError: if tau is not affine in the parameters.
    """

    def __init__(self, where: str, dyn: Dynamics) -> None:
        self.names, self.nominal = tuple(dyn.parameters.names), np.array(dyn.parameters.values)
        self._dyn = dyn
        self._batch = BatchFunction(self._function(self.nominal), dyn.tree.nv, len(self.names) + 1)
        rng, tree = np.random.default_rng(0), dyn.nominal
        q = np.array([random_configuration(tree, rng).full().ravel() for _ in range(_RANDOM_STATES)])
        v, a = (rng.normal(size=(_RANDOM_STATES, tree.nv)) for _ in range(2))
        self.random_states = q, v, a
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
        known = (self(part.q, part.v, part.a) for part in samples.parts())
        return np.concatenate([nominal + y @ (p - self.nominal) for y, nominal in known])

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
    """Rows [Y size | tau − tau(p₀)] (… × nv × (n_p + 1)), some thousand samples at a time."""
    for part in samples.parts():
        y, nominal = torque(part.q, part.v, part.a)
        yield np.concatenate([y * sizes, (part.tau - nominal)[..., None]], axis=2)


def triangular(rows: Array) -> Array:
    """A square R (n × n) with Rᵀ R = rowsᵀ rows: the triangular factor of the columns that are not zero."""
    acts = rows.any(axis=0)
    own = np.linalg.qr(rows[:, acts], mode="r")
    r = np.zeros((rows.shape[1], rows.shape[1]))
    r[: len(own), acts] = own
    return r

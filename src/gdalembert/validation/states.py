"""Random states of a model, and torques at many of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arrays import Array

Torque = Callable[[Array, Array, Array], Array]
"""tau (n × nv) of q (n × nq), v, a (n × nv): n states at once."""

_STEP = 5e-4  # of differences of fourth order: 1e-12 of truncation meets 1e-12 of rounding


@dataclass(frozen=True, eq=False)
class States:
    """n states: q (n × nq), v, a (n × nv)."""

    q: Array
    v: Array
    a: Array

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, which: slice | npt.NDArray[np.bool_]) -> States:
        """Some of them."""
        return States(self.q[which], self.v[which], self.a[which])

    def join(self, other: States) -> States:
        """These, then those."""
        return States(*(np.vstack(pair) for pair in ((self.q, other.q), (self.v, other.v), (self.a, other.a))))


def batches(model: pin.Model, samples: int, seed: int, size: int) -> Iterator[States]:
    """Random states, ``size`` at a time; which ones does not depend on ``size``.

    q = integrate(neutral, x) and v, a, with x, v, a normally distributed: on the configuration manifold, and finite
    where a joint has no limits.
    """
    integrate, neutral = integration(model), pin.neutral(model)
    for x, v, a in draws(model.nv, samples, seed, size):
        yield States(integrate(np.broadcast_to(neutral, (len(x), model.nq)), x), v, a)


def draws(nv: int, samples: int, seed: int, size: int) -> Iterator[Array]:
    """Normally distributed x, v and a (3 × n × nv), ``size`` states at a time."""
    rng = np.random.default_rng(seed)
    for done in range(0, samples, size):
        yield rng.standard_normal((min(size, samples - done), 3, nv)).transpose(1, 0, 2).copy()


def integration(model: pin.Model) -> Callable[[Array, Array], Array]:
    """``pin.integrate`` of n configurations and velocities at once."""
    return lambda q, v: np.array([pin.integrate(model, *pair) for pair in zip(q, v, strict=True)])


def configuration_rates(integrate: Callable[[Array, Array], Array], states: States) -> Array:
    """dq/dt (n × nq) of (q, v), by differences of ``integrate``, good to about 1e-11."""
    back2, back, on, on2 = (integrate(states.q, k * _STEP * states.v) for k in (-2, -1, 1, 2))
    return np.asarray((8 * (on - back) - (on2 - back2)) / (12 * _STEP))


def rnea(model: pin.Model) -> Torque:
    """Pinocchio's tau."""
    data = model.createData()

    def torque(q: Array, v: Array, a: Array) -> Array:
        return np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])

    return torque


def torque_of_callable(candidate: Callable[..., npt.ArrayLike], nv: int) -> Torque:
    """tau of a Python callable of three vectors; what it raises or gives wrongly becomes an ArgumentError."""

    def one(q: Array, v: Array, a: Array) -> Array:
        at = f"at q = {q.tolist()}, v = {v.tolist()}, a = {a.tolist()}"
        try:
            given = candidate(q.copy(), v.copy(), a.copy())
        except Exception as error:
            raise ArgumentError(f"the candidate raised {type(error).__name__}: {error}; {at}") from error
        try:
            values = np.array(given)
            if given is None or values.dtype.kind == "c":  # NumPy would take them for NaN, and for their real part
                raise TypeError
            tau = values.astype(float)
        except Exception:
            raise ArgumentError(f"the candidate gives {type(given).__name__}, not {nv} numbers, {at}") from None
        if tau.size != nv or max(tau.shape, default=0) != nv:
            raise ArgumentError(f"the candidate gives numbers of shape {tau.shape}, not {nv} of them, {at}")
        return tau.ravel()

    def torque(q: Array, v: Array, a: Array) -> Array:
        return np.array([one(*state) for state in zip(q, v, a, strict=True)])

    return torque

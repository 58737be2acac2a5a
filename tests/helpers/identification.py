"""A simulated Panda with armature and friction, and samples of its motion with noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.identification.efforts import Efforts
from gdalembert.identification.experiment import checked_runs
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.identification.sensors import Sensors

PARAMETERS = {"inertia": True, "armature": True, "friction": True}


def with_friction(model: pin.Model, parameters: Any = None) -> gd.NewtonEuler:
    """A robot with the friction of ``model.damping`` and ``model.friction``."""
    return gd.NewtonEuler(model, friction="model", parameters=parameters)


@dataclass(frozen=True, eq=False)
class Experiment:
    """A robot as it is and as it is believed to be, and a motion with its torques, with noise and without.

    Attributes:
        truth, nominal: the models.
        dyn: of the nominal model, with its parameters.
        p: the true parameters.
        q, v, a, exact: of the motion (N rows).
        sigma: the standard deviation of the noise (nv).
    """

    truth: pin.Model
    nominal: pin.Model
    dyn: gd.NewtonEuler
    p: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    exact: np.ndarray
    sigma: np.ndarray

    def measured(self, seed: int) -> np.ndarray:
        return self.exact + self.sigma * np.random.default_rng(seed).normal(size=self.exact.shape)


def fourier(rng: np.random.Generator, nv: int, samples: int, seconds: float = 20.0) -> tuple[np.ndarray, ...]:
    """A motion of five harmonics of 0.1 Hz in each joint."""
    t = np.linspace(0, seconds, samples)[:, None]
    q, v, a = (np.zeros((samples, nv)) for _ in range(3))
    for k in range(1, 6):
        w = 2 * np.pi * 0.1 * k
        sine, cosine = 0.5 / k * rng.normal(size=(2, nv))
        q += sine * np.sin(w * t) + cosine * np.cos(w * t)
        v += w * (sine * np.cos(w * t) - cosine * np.sin(w * t))
        a -= w**2 * (sine * np.sin(w * t) + cosine * np.cos(w * t))
    return q, v, a


def believed(truth: pin.Model, rng: np.random.Generator) -> pin.Model:
    """A model with other bodies, which exist."""
    nominal = truth.copy()
    for k in range(1, truth.njoints):
        j = pin.PseudoInertia.FromInertia(truth.inertias[k]).toMatrix()
        change = np.eye(4) + 0.1 * rng.normal(size=(4, 4))
        other = pin.PseudoInertia.FromMatrix(change @ j @ change.T)
        nominal.inertias[k] = pin.Inertia.FromDynamicParameters(other.toDynamicParameters())
    return nominal


def experiment(truth: pin.Model, samples: int, still: str | None = None) -> Experiment:
    """Noise of 1 % of each torque's root mean square; one joint may stand still."""
    rng = np.random.default_rng(5)
    truth = truth.copy()
    truth.armature = rng.uniform(0.05, 0.2, truth.nv)
    truth.damping, truth.friction = rng.uniform(0.3, 2, truth.nv), rng.uniform(0.2, 1, truth.nv)
    nominal = believed(truth, rng)
    nominal.armature, nominal.damping, nominal.friction = (np.zeros(truth.nv) for _ in range(3))
    q, v, a = fourier(np.random.default_rng(4), truth.nv, samples)
    if still is not None:
        column = truth.joints[truth.getJointId(still)].idx_v
        q[:, column], v[:, column], a[:, column] = 0.3, 0.0, 0.0
    exact = with_friction(truth).inverse_dynamics(q.T, v.T, a.T).full().T
    p = with_friction(truth, PARAMETERS).parameters.values
    sigma = 0.01 * np.sqrt(np.mean(exact**2, axis=0))
    return Experiment(truth, nominal, with_friction(nominal, PARAMETERS), p, q, v, a, exact, sigma)


@lru_cache(maxsize=4)
def panda(samples: int = 600, still: str | None = None) -> Experiment:
    return experiment(gd.load_urdf("panda7"), samples, still)


def exact_torques(model: pin.Model, states: Any) -> np.ndarray:
    data = model.createData()
    return np.array([pin.rnea(model, data, *state).copy() for state in zip(*states, strict=True)])


def fitted(e: Experiment, seed: int = 0, **arguments: Any) -> gd.identification.Identification:
    return gd.identification.fit(e.dyn, e.q, e.v, e.a, e.measured(seed), model=e.nominal, **arguments)


def problem_of(dyn: gd.Dynamics, *samples: np.ndarray) -> LeastSquaresProblem:
    """The least squares of q, v, a and tau, by default of a few random states."""
    sensors = Sensors.of(dyn, "tau", None)
    efforts = Efforts(dyn, sensors)
    q, v, a, _ = efforts.random_states
    experiment = gd.identification.Experiment(*(samples or (q, v, a, v)))
    return LeastSquaresProblem.of(efforts, checked_runs(dyn, sensors, [experiment], None))


def refused(**changed: Any) -> Any:
    e = panda(600)
    given: dict[str, Any] = {"dyn": e.dyn, "q": e.q, "v": e.v, "a": e.a, "tau": e.exact} | changed
    return gd.identification.fit(**given)


def stacked(e: Experiment) -> np.ndarray:
    """The regressor (N nv × n_p) by Pinocchio, armature and friction beside it."""
    data, nv = e.nominal.createData(), e.nominal.nv
    rows = []
    for q, v, a in zip(e.q, e.v, e.a, strict=True):
        friction = np.zeros((nv, 2 * nv))  # viscous and Coulomb, joint by joint
        friction[:, ::2], friction[:, 1::2] = np.diag(v), np.diag(np.tanh(v / SMOOTHING))
        rows.append(np.hstack([pin.computeJointTorqueRegressor(e.nominal, data, q, v, a), np.diag(a), friction]))
    return np.vstack(rows)

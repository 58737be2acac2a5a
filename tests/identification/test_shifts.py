"""Efforts that were logged later or earlier than the motion: told, and nothing else is taken for that."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import Experiment, fit
from gdalembert.identification.suspicions import shift
from tests.helpers.identification import PARAMETERS, fourier, problem_of, with_friction

DT, GAINS = 0.02, np.array([12.0, 8.0])


@cache
def arm() -> pin.Model:
    real = gd.load_urdf("two_link_arm")
    real.armature, real.damping, real.friction = np.array([0.3, 0.1]), np.array([2.0, 0.5]), np.array([1.0, 3.0])
    return real


@cache
def exact() -> tuple[np.ndarray, ...]:
    """q, v, a and torques."""
    motion = fourier(np.random.default_rng(3), 2, 1000, DT * 999)
    return (*motion, with_friction(arm()).inverse_dynamics(*(part.T for part in motion)).full().T)


@cache
def sheet(*parameters: str) -> gd.NewtonEuler:
    """With all parameters, or some kinds."""
    return with_friction(gd.load_urdf("two_link_arm"), list(parameters) or PARAMETERS)


def run(late: int, noise: float = 0.02) -> tuple[np.ndarray, ...]:
    """The torques are late by some samples, with noise as a part of their root mean square."""
    *motion, tau = exact()
    tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(0).normal(size=tau.shape)
    ends = slice(abs(late), len(tau) - abs(late))
    return (*(part[ends] for part in motion), np.roll(tau, late, axis=0)[ends])


def told(dyn: gd.NewtonEuler, *samples: np.ndarray, **arguments: Any) -> list[str]:
    """What is said of shifts in time."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", IdentificationWarning)
        result = fit(dyn, *samples, method="weighted", **arguments)
    said = [each.removeprefix("fit: ") for each in (str(each.message) for each in found)]
    assert said == list(result.remarks)
    return [each for each in said if "align them in time" in each]


@pytest.mark.parametrize("late", [3, -6])
def test_torques_that_are_late_or_early_are_told(late: int) -> None:
    said = told(sheet(), *run(late))
    assert len(said) == 1
    how = "lag behind" if late > 0 else "are ahead of"
    assert said[0].startswith(f"the torques {how} q, v and a by about ")
    milliseconds = float(said[0].split("about ")[1].split(" ms")[0])
    assert milliseconds == pytest.approx(1e3 * DT * abs(late), abs=3)


def test_currents_are_told_by_run_whatever_their_gains_are() -> None:
    q, v, a, tau = run(3)
    late = Experiment(q, v, a, current=tau / GAINS, label="late")
    q, v, a, tau = run(0)
    there = Experiment(q, v, a, current=tau / GAINS, known={"link2.m": 0.0}, label="there")
    dyn = with_friction(gd.load_urdf("two_link_arm"), PARAMETERS | {"payload": ["link2"]})
    gains = {"joint1": 12.0, "joint2": (8.0, 1.0)}
    said = told(dyn, experiments=[late, there], gains=gains)
    assert [each.split(" by about")[0] for each in said] == ["in run 'late' the currents lag behind q, v and a"]


@pytest.mark.parametrize(
    "parameters",
    [(), ("inertia",), ("friction",)],
    ids=["all", "friction is not in the model", "other bodies"],
)
def test_what_is_not_late_is_not_told(parameters: tuple[str, ...]) -> None:
    """Without noise and with; friction or bodies that the model has not are no shift."""
    for noise in (0.0, 0.02):
        assert told(sheet(*parameters), *run(0, noise)) == []


def test_samples_that_do_not_follow_each_other_or_are_missing() -> None:
    q, v, a, tau = run(3)
    order = np.random.default_rng(0).permutation(len(q))
    assert told(sheet(), *(each[order] for each in (q, v, a, tau))) == []
    assert told(sheet(), *(each[::40] for each in (q, v, a, tau))) == []
    assert told(sheet("friction"), *(each[:3] for each in (q, v, a, tau))) == []
    tau[::17, 0], tau[300:500, 1], v[700:720, 0] = np.nan, np.nan, np.nan
    assert "the torques lag behind" in told(sheet(), q, v, a, tau, sticking=0.02)[0]


def test_the_estimate_is_within_its_deviation() -> None:
    """Of the fit and of the true parameters; a search over whole samples, of one regressor of both joints, agrees."""
    q, v, a, tau = run(4)
    problem = problem_of(sheet(), q, v, a, tau)
    for x in (problem.x(problem.estimate(weighted=True).s), sheet().parameters.of(arm())):
        found = shift(problem, problem.runs[0], problem.unknowns.views[0], x)
        assert found is not None
        assert found.dt == pytest.approx(DT, rel=1e-3)
        assert abs(found.samples - 4) < max(4 * found.standard_deviation, 0.1)
        assert 0.001 < found.standard_deviation < 0.1
    y, f = problem.efforts.derivatives(problem.unknowns.nominal, *problem.runs[0].samples.part(slice(8, -8)).states)
    y, size = np.concatenate([y, f[..., None]], axis=2), np.sqrt(np.mean(tau**2, axis=0))
    u, values, _ = np.linalg.svd((y / size[:, None]).reshape(-1, y.shape[2]), full_matrices=False)
    u = u[:, values > 1e-6 * values[0]]
    shifted = {d: (np.roll(tau, -d, axis=0)[8:-8] / size).ravel() for d in range(-8, 9)}
    left = {d: np.linalg.norm(each - u @ (u.T @ each)) for d, each in shifted.items()}
    assert min(left, key=left.__getitem__) == 4

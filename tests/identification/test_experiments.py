"""Several runs in one fit, what each knows and has of its own, and columns of one's own."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.identification import Experiment, fit
from tests.helpers.identification import PARAMETERS, fourier, with_friction


def motion(seed: int, samples: int = 300) -> tuple[np.ndarray, ...]:
    return fourier(np.random.default_rng(seed), 2, samples)


def arm(**changed: Any) -> pin.Model:
    """Two links with armature and friction."""
    robot = gd.load_urdf("two_link_arm")
    robot.armature, robot.damping, robot.friction = np.array([2.0, 0.5]), np.array([2.0, 0.5]), np.array([1.0, 3.0])
    for name, value in changed.items():
        setattr(robot, name, value)
    return robot


def torques(robot: pin.Model, states: tuple[np.ndarray, ...]) -> np.ndarray:
    return with_friction(robot).inverse_dynamics(*(part.T for part in states)).full().T


def noise(tau: np.ndarray, seed: int = 0) -> np.ndarray:
    return 0.01 * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(seed).normal(size=tau.shape)


@cache
def sheet(**more: Any) -> gd.NewtonEuler:
    """A data sheet, with more to be found."""
    return with_friction(gd.load_urdf("two_link_arm"), PARAMETERS | more)


def test_runs_of_one_robot_are_one_long_run() -> None:
    """Also decimated, each by itself."""
    parts = [motion(3), motion(4, 200)]
    tau = [each + noise(each) for each in (torques(arm(), states) for states in parts)]
    whole = [np.concatenate(rows) for rows in zip(*parts, strict=True)]
    one = fit(sheet(), *whole, np.concatenate(tau), method="weighted", held_back=None)
    runs = [Experiment(*states, each) for states, each in zip(parts, tau, strict=True)]
    several = fit(sheet(), experiments=runs, method="weighted")
    assert several.base.values == pytest.approx(one.base.values, rel=1e-8, abs=1e-8)
    assert np.array_equal(several.fitted.measured, one.fitted.measured)
    held = fit(sheet(), experiments=runs, method="weighted", held_back=0.25)
    assert held.held_back is not None
    assert len(held.held_back.measured) == 75 + 50
    other = fit(sheet(), experiments=runs[:1], method="weighted", held_back=runs[1:])
    assert other.held_back is not None
    assert np.array_equal(other.held_back.measured, tau[1])
    assert len(fit(sheet(), experiments=runs, method="weighted", decimation=2).fitted.measured) == 500


@pytest.mark.extras
def test_what_a_run_has_of_its_own_is_found_apart() -> None:
    """Friction of a warm gearbox in two runs, and of a cold one; all else is shared."""
    cold, warm = arm(), arm(damping=np.array([1.0, 0.5]))
    given = []
    for seed, (robot, label) in enumerate([(cold, "cold"), (warm, "warm"), (warm, "warm")]):
        states = motion(seed)
        tau = torques(robot, states)
        own = ["joint1.viscous"] if label == "warm" else []
        given.append(Experiment(*states, tau + noise(tau, seed), label=label, own=own))
    result = fit(sheet(), experiments=given, method="weighted")
    assert result.parameters["joint1.viscous"] == pytest.approx(2.0, rel=0.03)
    assert tuple(result.coefficients) == ("warm/joint1.viscous",)
    error = result.coefficients["warm/joint1.viscous"] - 1.0
    assert abs(error) < 4 * result.coefficients_standard_deviation["warm/joint1.viscous"] < 0.2
    with pytest.raises(ArgumentError, match=r"no run with the label 'hot' tells 'joint1.viscous'; drop it there"):
        fit(sheet(), experiments=given, held_back=[Experiment(*states, tau, label="hot", own=["joint1.viscous"])])


@pytest.mark.extras
def test_each_run_has_a_load_of_its_own() -> None:
    """None, one of unknown mass, another of known mass: bodies that exist."""
    loads = [pin.Inertia(m, np.array([0.1, 0.05, 0.02]), 0.01 * m * np.eye(3)) for m in (1.0, 2.0)]
    given, empty = [], {"link2": pin.Inertia.Zero()}
    for seed, load in enumerate([None, *loads]):
        robot, states = arm(), motion(seed)
        if load is not None:
            frame = robot.frames[robot.getFrameId("link2")]
            robot.inertias[frame.parentJoint] += frame.placement.act(load)
        tau = torques(robot, states)
        known = (empty, None, {"link2.m": 2.0})[seed]
        own = ["link2"] if load is not None else []
        given.append(Experiment(*states, tau + noise(tau, seed), label=str(load and load.mass), known=known, own=own))
    result = fit(sheet(payload=("link2",)), experiments=given, model=gd.load_urdf("two_link_arm"))
    assert result.coefficients["1.0/link2.mx"] == pytest.approx(0.1, rel=0.1)
    assert result.coefficients["2.0/link2.mx"] == pytest.approx(0.2, rel=0.1)
    assert result.coefficients["2.0/link2.m"] == pytest.approx(2.0, rel=1e-8)
    assert result.is_consistent
    assert result.parameters["link2.m"] == 0  # without a load


@pytest.mark.long
def test_a_base_that_is_placed_otherwise_has_another_gravity() -> None:
    """Gravity is known in each run, where it is no product of unknowns."""
    given = []
    for seed, gravity in enumerate([(0.0, 0, -9.81), (0.0, -9.81, 0), (9.81, 0, 0)]):
        robot, states = arm(), motion(seed)
        robot.gravity.linear = np.array(gravity)
        given.append(Experiment(*states, torques(robot, states), known={"gravity": gravity}))
    dyn = sheet(gravity=True)
    result = fit(dyn, experiments=given, method="weighted")
    assert result.base.values == pytest.approx(result.base.matrix @ dyn.parameters.of(arm()), rel=1e-6, abs=1e-6)
    with pytest.raises(ArgumentError, match=r"free only some of them, or say what they are in known"):
        fit(dyn, *motion(0), torques(arm(), motion(0)), method="weighted")


@pytest.mark.filterwarnings("ignore:fit. the model cannot explain the data")  # that the cable is weaker
def test_columns_beside_the_regressor() -> None:
    """A spring of a cable on one joint, and friction that is quadratic in v, with priors, bounds and deviations."""
    states = motion(3)
    tau = torques(arm(), states)
    tau[:, 1] += 4.0 * np.sin(states[0][:, 1]) - 1.5 * states[1][:, 1] * np.abs(states[1][:, 1])

    def cable(q: ca.SX, v: ca.SX, a: ca.SX) -> ca.SX:
        return ca.vertcat(0, ca.sin(q[1]))

    def drag(q: ca.SX, v: ca.SX, a: ca.SX) -> ca.SX:
        return ca.diag(v * ca.fabs(v))

    given: dict[str, Any] = {"columns": {"cable": cable, "drag": drag}, "method": "weighted"}
    result = fit(sheet(), *states, tau + noise(tau), **given)
    assert tuple(result.coefficients) == ("cable", "drag[0]", "drag[1]")
    true = {"cable": 4.0, "drag[0]": 0.0, "drag[1]": -1.5}
    for name, value in true.items():
        assert abs(result.coefficients[name] - value) < 4 * result.coefficients_standard_deviation[name] < 0.5
    assert "cable" in result.report
    prior = fit(sheet(), *states, tau + noise(tau), prior={"cable": (3.0, 1e-5)}, **given)
    assert prior.coefficients["cable"] == pytest.approx(3.0, abs=1e-3)


@pytest.mark.extras
@pytest.mark.filterwarnings("ignore:fit. the model cannot explain the data")  # by a weaker spring
def test_bounds_of_columns_hold() -> None:
    states = motion(3)
    tau = torques(arm(), states) + 4.0 * states[0]
    result = fit(
        sheet(),
        *states,
        tau + noise(tau),
        columns={"spring": lambda q, v, a: q},
        bounds={"spring": (None, 3.9)},
        margin=1e-4,
    )
    assert result.coefficients["spring"] == pytest.approx(3.9, abs=1e-6)
    assert "spring" in result.at_bounds


def test_columns_that_are_none_are_refused() -> None:
    states = motion(3)
    tau = torques(arm(), states)
    with pytest.raises(ArgumentTypeError, match=r"^fit: columns\['a'\] is 3; give a function of \(q, v, a\)$"):
        fit(sheet(), *states, tau, columns={"a": 3})
    with pytest.raises(ArgumentTypeError, match=r"^fit: columns\['a'\] cannot be evaluated in CasADi: "):
        fit(sheet(), *states, tau, columns={"a": lambda q, v, a: str(q) + 1})
    with pytest.raises(ArgumentError, match=r"^fit: columns\['a'\] has shape \(3, 1\); give \(2, k\)"):
        fit(sheet(), *states, tau, columns={"a": lambda q, v, a: ca.vertcat(q, 1)})
    with pytest.raises(ArgumentError, match=r"^fit: columns\['joint1.m'\]: 'joint1.m' is the name of a parameter"):
        fit(sheet(), *states, tau, columns={"joint1.m": lambda q, v, a: q})
    with pytest.raises(ArgumentError, match=r"^fit: columns are not finite in random states; give functions that are$"):
        fit(sheet(), *states, tau, columns={"a": lambda q, v, a: ca.sqrt(-1 - q**2)})


def test_bad_runs_are_refused_in_one_sentence() -> None:
    states = motion(3)
    tau = torques(arm(), states)
    good = Experiment(*states, tau, label="first")
    still = [np.tile(part[:1], (300, 1)) for part in states[:1]] + [np.zeros((300, 2))] * 2

    def refused(told: str, *runs: Any, error: Any = ArgumentError) -> None:
        with pytest.raises(error, match=told):
            fit(sheet(), experiments=[good, *runs], method="weighted")

    refused("^fit: run '2': q has 300 rows, tau has 299; give one row", Experiment(*states, tau[:-1]))
    refused("^fit: run '2': nothing moves: all 300 samples are at the same q, at rest", Experiment(*still, tau))
    refused("^fit: run 'b': got current, where other runs have tau;", Experiment(*states, current=tau, label="b"))
    refused("^fit: run '2': none of its 300 samples has a measurement of weight", Experiment(*states, np.nan * tau))
    refused("^fit: run '2': tau is inf in row 0, column 0", Experiment(*states, np.inf + tau))
    unknown = Experiment(*states, tau, known={"tool": 1.0})
    refused(r"^no parameter or element \(fit: run '2': known\) named 'tool'", unknown, error=UnknownNameError)
    refused(
        r"^fit: run '2': known\['joint1'\] has 1 numbers; give 13: m, mx", Experiment(*states, tau, known={"joint1": 1})
    )
    with pytest.raises(ArgumentError, match=r"^Experiment: got both tau and current; give one of them$"):
        Experiment(*states, tau, current=tau)
    with pytest.raises(
        ArgumentError, match=r"^fit: experiments have q, v, a, tau, current and weights; give them there$"
    ):
        fit(sheet(), *states, tau, experiments=[good])
    with pytest.raises(ArgumentError, match=r"^fit: no q is given; give q, v, a and tau or current, or experiments="):
        fit(sheet())
    masses = [Experiment(*states, tau, known={"joint2.m": m}) for m in (1.0, 2.0)]
    refused(
        r"known\['joint2.m'\] is 2 here and 1 in another run, .* give the runs labels and own=\['joint2'\]$", *masses
    )

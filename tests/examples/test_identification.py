"""``examples/identification.py``: what is fitted to one motion predicts another one, and moves as the robot does."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.long, pytest.mark.usefixtures("clean_matplotlib")]


@pytest.fixture(scope="module")
def run() -> Iterator[SimpleNamespace]:
    """The script, and what it found."""
    script = example("identification")
    seen = SimpleNamespace(script=script, found=None, simulations=[])

    def identify(*arguments: object, original=script.identify) -> object:
        seen.found = original(*arguments)
        return seen.found

    def simulate(*arguments: object, original=script.simulate) -> gd.Simulation:
        seen.simulations.append(original(*arguments))
        return seen.simulations[-1]

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(script, "identify", identify)
        patch.setattr(script, "simulate", simulate)
        script.main([])
        yield seen


def test_the_motion_keeps_the_limits_on_the_real_robot(run: SimpleNamespace) -> None:
    model = run.script.data_sheet()
    for each in run.found.measured:
        assert np.all(each.simulation.q <= model.upperPositionLimit)
        assert np.all(each.simulation.q >= model.lowerPositionLimit)
        assert np.all(np.abs(each.simulation.v) <= model.velocityLimit)
        assert np.all(np.abs(each.simulation.u) <= model.effortLimit)


def test_the_simulated_robot_obeys_pinocchio(run: SimpleNamespace) -> None:
    real, simulation = run.found.real, run.found.measured[0].simulation
    data, smoothing = real.createData(), 0.01
    for k in range(0, len(simulation.t), 50):
        q, v, a = simulation.q[k], simulation.v[k], simulation.a[k]
        friction = real.damping * v + real.friction * np.tanh(v / smoothing)
        assert pin.rnea(real, data, q, v, a) + friction == pytest.approx(simulation.u[k], abs=1e-6)


def test_another_motion_is_predicted_to_the_noise(run: SimpleNamespace) -> None:
    """Beside the noise of the sensors there is that of the accelerations, and where a joint reverses, the filter's."""
    held_back, noise = run.found.result.held_back, run.found.measured[1].noise
    by_data_sheet = np.sqrt(np.mean((held_back.measured - run.found.nominal) ** 2, axis=0))
    assert np.all(held_back.rms < 2 * noise)  # the most is 1.5, in the wrist, as the excitation is one of many optima
    assert np.all(by_data_sheet > 8 * noise)


def test_the_base_parameters_are_those_of_the_robot(run: SimpleNamespace) -> None:
    """To their standard deviations: chi-square of 62 is below 110 but once in 10,000 times."""
    found, model = run.found, run.script.data_sheet()
    dyn = gd.NewtonEuler(model, friction="model", parameters=run.script.PARAMETERS)
    off = (found.result.base.values - found.result.base.matrix @ dyn.parameters.of(found.real)) / (
        found.result.base.standard_deviation
    )
    assert np.sum(off**2) < 110
    assert np.abs(off).max() < 4.5


def test_the_bodies_can_exist_and_friction_is_found(run: SimpleNamespace) -> None:
    identified, real = run.found.result.model, run.found.real
    for body in list(identified.inertias)[1:]:
        assert np.linalg.eigvalsh(pin.PseudoInertia.FromInertia(body).toMatrix())[0] > 0
    assert identified.damping == pytest.approx(real.damping, abs=0.1)
    assert identified.friction == pytest.approx(real.friction, abs=0.1)
    assert np.all(identified.armature >= 0)


def test_the_identified_model_moves_as_the_robot_does(run: SimpleNamespace) -> None:
    """Under the same servo; the data sheet's does not."""
    _, real, identified = run.simulations
    model, motion = run.script.data_sheet(), run.found.motions[1]
    known = gd.NewtonEuler(model, friction="model")
    by_data_sheet = run.script.simulate(model, known, motion)
    off = [np.abs(each.q - real.q).max() for each in (identified, by_data_sheet)]
    assert off[0] < 5e-4
    assert off[0] < 0.02 * off[1]

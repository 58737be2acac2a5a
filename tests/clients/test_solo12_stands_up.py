"""``examples/solo12_stands_up.py``: the plan obeys the equations of motion of the whole robot, by Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("solo12_stands_up")


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return SCRIPT.build()


@pytest.fixture(scope="module")
def plan(model: pin.Model) -> object:
    return SCRIPT.stand_up(model, SCRIPT.pose(model, SCRIPT.LYING), SCRIPT.pose(model, SCRIPT.STANDING), 15)


def test_it_stands_up(model: pin.Model, plan: object) -> None:
    assert plan.iterations <= 15
    assert plan.q[2, 0] < 0.09
    assert plan.q[2, -1] > 0.24
    assert np.abs(pin.difference(model, plan.q[:, -1], SCRIPT.pose(model, SCRIPT.STANDING))).max() < 1e-8
    assert np.abs(plan.v[:, [0, -1]]).max() < 1e-8
    assert np.abs(np.linalg.norm(plan.q[3:7], axis=0) - 1).max() < 1e-12


def test_the_forces_move_the_base_and_the_joints_do_the_rest(model: pin.Model, plan: object) -> None:
    """pin.rnea with the forces of the feet: no torque at the free-flyer, and moderate ones at the joints."""
    data, taus = model.createData(), []
    for q, v, a, forces in zip(plan.q.T, plan.v.T, plan.a.T, plan.forces.T, strict=False):
        pin.framesForwardKinematics(model, data, q)
        fext = [pin.Force.Zero() for _ in range(model.njoints)]
        for k, foot in enumerate(SCRIPT.FEET):
            frame, turned = model.frames[model.getFrameId(foot)], data.oMf[model.getFrameId(foot)].rotation
            force = pin.Force(turned.T @ forces[3 * k : 3 * k + 3], np.zeros(3))
            fext[frame.parentJoint] += frame.placement.act(force)
        taus.append(pin.rnea(model, data, q, v, a, fext))
    # the solver's tolerance is 1e-8, of equations that it scales
    assert np.abs(taus)[:, :6].max() < 1e-7
    assert np.abs(taus)[:, 6:].max() < 2.7
    assert np.abs(np.array(taus).T - SCRIPT.torques(model, plan)).max() < 1e-9


def test_the_feet_stay_and_push(model: pin.Model, plan: object) -> None:
    data, places = model.createData(), []
    for q in plan.q.T:
        pin.framesForwardKinematics(model, data, q)
        places.append([data.oMf[model.getFrameId(foot)].translation.copy() for foot in SCRIPT.FEET])
    assert np.ptp(places, axis=0).max() < 1e-8
    x, y, z = plan.forces.reshape(4, 3, -1).transpose(1, 0, 2)
    assert z.min() > -1e-6
    assert np.all(np.hypot(x, y) <= SCRIPT.FRICTION * z + 1e-6)


def test_the_momentum_is_that_of_pinocchio(model: pin.Model, plan: object) -> None:
    """Its rate is that of Pinocchio, and it is zero at both ends."""
    data, weight = model.createData(), pin.computeTotalMass(model) * model.gravity.linear
    for q, v, a, forces in zip(plan.q.T, plan.v.T, plan.a.T, plan.forces.T, strict=False):
        rate = pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        assert np.abs(rate.linear - forces.reshape(4, 3).sum(axis=0) - weight).max() < 1e-7
    assert np.abs(pin.computeCentroidalMomentum(model, data, plan.q[:, -1], plan.v[:, -1]).vector).max() < 1e-8

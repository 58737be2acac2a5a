"""``examples/solo12_hops.py``: the hop obeys the equations of motion, impacts and friction, by Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from gdalembert import ocp
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("solo12_hops")
Robot = tuple[pin.Model, np.ndarray]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return SCRIPT.build()


@pytest.fixture(scope="module")
def solution(robot: Robot) -> ocp.PhasesSolution:
    return SCRIPT.hop(*robot, 5)


def feet(model: pin.Model, q: np.ndarray) -> list[pin.SE3]:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return [data.oMf[model.getFrameId(foot)].copy() for foot in SCRIPT.FEET]


def test_it_hops_from_rest_to_rest(robot: Robot, solution: ocp.PhasesSolution) -> None:
    _, standing = robot
    assert np.abs(solution.q[[0, -1]] - standing).max() < 1e-8
    assert np.abs(solution.v[[0, -1]]).max() < 1e-8
    assert solution.duration == pytest.approx(0.6 + 2 * np.sqrt(2 * SCRIPT.HEIGHT / 9.81))
    assert solution.q[:, 2].max() > standing[2] + 0.15
    assert solution.constraint_violation < 1e-6


def test_forces_of_the_feet_move_the_base(robot: Robot, solution: ocp.PhasesSolution) -> None:
    """pin.rnea with the forces at the stages: no torque at the free-flyer, u at the joints."""
    model, _ = robot
    data = model.createData()
    for phase in solution.phases:
        stages = phase.stages
        for q, v, a, u, forces in zip(stages.q, stages.v, stages.a, stages.u, stages.forces, strict=True):
            fext = [pin.Force.Zero() for _ in range(model.njoints)]
            for force, foot in zip(forces.reshape(-1, 3), SCRIPT.FEET, strict=False):
                frame = model.frames[model.getFrameId(foot)]
                fext[frame.parentJoint] += frame.placement.act(pin.Force(force, np.zeros(3)))
            # the solver's tolerance is 1e-8, of equations that it scales
            assert np.abs(pin.rnea(model, data, q, v, a, fext) - u).max() < 1e-6


def test_it_lands_as_by_pinocchios_impact(robot: Robot, solution: ocp.PhasesSolution) -> None:
    model, _ = robot
    data = model.createData()
    q, v = solution.phases[1].q[-1], solution.phases[1].v[-1]
    ids = [model.getFrameId(foot) for foot in SCRIPT.FEET]
    jacobian = np.vstack([pin.computeFrameJacobian(model, data, q, i, pin.LOCAL)[:3] for i in ids])
    after = pin.impulseDynamics(model, data, q, v, jacobian, 0.0, 0.0)
    assert np.abs(after - solution.phases[2].v[0]).max() < 1e-7
    assert -v[2] > 0.5
    assert np.abs(data.impulse_c - solution.impulses[2]).max() < 1e-7


def test_the_feet_hold_and_stay_above_the_ground(robot: Robot, solution: ocp.PhasesSolution) -> None:
    model, standing = robot
    there = np.array([foot.translation for foot in feet(model, standing)])
    stance, flight, landing = solution.phases
    for phase in (stance, landing):
        assert max(np.abs([foot.translation for foot in feet(model, q)] - there).max() for q in phase.q) < 1e-8
        for q, forces in zip(phase.stages.q, phase.stages.forces, strict=True):
            check_cones(model, q, forces)
    check_cones(model, landing.q[0], solution.impulses[2])
    assert min(foot.translation[2] for q in flight.q for foot in feet(model, q)) > -SCRIPT.GRAZE - 1e-8


def check_cones(model: pin.Model, q: np.ndarray, forces: np.ndarray) -> None:
    for foot, force in zip(feet(model, q), forces.reshape(-1, 3), strict=True):
        x, y, z = foot.rotation @ force
        assert np.hypot(x, y) <= SCRIPT.FRICTION * z + 1e-6


def test_the_simulated_motion_is_near_the_plan(solution: ocp.PhasesSolution) -> None:
    """Steps of 60 ms miss the motion by some hundredths of a rad in the landing."""
    assert max(np.abs(m.q - p.q).max() for m, p in zip(solution.simulate(), solution.phases, strict=True)) < 0.1

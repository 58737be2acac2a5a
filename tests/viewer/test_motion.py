"""Motions frame by frame: simulations, solutions and rows."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.viewer.motion import frame_times, motion_of
from gdalembert.viewer.scene import Scene
from tests.helpers.models import relative_error
from tests.helpers.ocp import slider
from tests.helpers.viewer import every_joint

pytestmark = pytest.mark.extras


def test_times_of_frames() -> None:
    clock, times = frame_times(1.0, 2.0, 0.5, 10.0)
    assert relative_error(clock, np.arange(21) / 10) < 1e-15
    assert relative_error(times, 1 + np.arange(21) / 20) < 1e-15
    clock, times = frame_times(0.0, 0.25, 1.0, 10.0)
    assert relative_error(clock, [0, 0.1, 0.2, 0.25]) < 1e-15
    assert (times[0], times[-1]) == (0, 0.25)
    clock, _ = frame_times(0.0, 0.1 * 3, 1.0, 10.0)  # which is 0.30000000000000004
    assert relative_error(clock, [0, 0.1, 0.2, 0.3]) < 1e-15


def test_between_rows_on_the_configuration_space() -> None:
    model = every_joint(1)
    scene = Scene(model)
    q = np.array([pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)) for _ in range(3)])
    start, end, at = motion_of(scene.tree, ([0.0, 1.0, 3.0], q))
    assert (start, end) == (0, 3)
    # pin.integrate chooses its own sign of a quaternion: compare the rotations that the joints make
    data = model.createData()
    for time, k, share in ((0.0, 0, 0.0), (0.25, 0, 0.25), (2.0, 1, 0.5), (3.0, 1, 1.0)):
        scene.place(at(time))
        pin.forwardKinematics(model, data, pin.interpolate(model, q[k], q[k + 1], share))
        for joint, own in enumerate(scene.tree.links, start=1):
            # differences of two quaternions lose what arccos near its end loses
            assert relative_error(scene.data.oMi[own + 1].homogeneous, data.oMi[joint].homogeneous) < 1e-9


def test_a_simulation_is_asked_at_its_times() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"))
    motion = gd.simulate(dyn, [0, 2.0, 0, 0], np.linspace(0.5, 1.5, 11))
    start, end, at = motion_of(dyn.tree, motion)
    assert (start, end) == (0.5, 1.5)
    assert np.array_equal(at(0.777), motion.at(0.777)[0])


def test_a_solution_is_a_motion() -> None:
    problem = gd.ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 0.5, 5)
    problem.start([0.0, 0.0], [0.0, 0.0])
    problem.end([0.2, 0.1], [0.0, 0.0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    start, end, at = motion_of(solution.dyn.tree, solution)
    assert (start, end) == (0.0, 0.5)
    assert at(float(solution.t[2])) == pytest.approx(solution.q[2], abs=1e-15)
    assert at(0.5) == pytest.approx([0.2, 0.1], abs=1e-8)


def test_phases_are_a_motion() -> None:
    dyn = gd.NewtonEuler(slider())
    first, second = (gd.ocp.Problem(dyn, duration, 2, degree=1) for duration in (0.5, 0.25))
    first.start([0.0])
    second.end([0.2])
    second.minimize(second.integral(lambda u: u**2))
    solution = gd.ocp.Phases([first, second]).solve()
    start, end, at = motion_of(dyn.tree, solution)
    assert (start, end) == (0.0, 0.75)
    assert relative_error(at(0.625), solution.phases[1].q[1]) < 1e-12
    assert relative_error(at(0.5), solution.phases[0].q[-1]) < 1e-8  # of the solver

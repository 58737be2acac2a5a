"""Paths, integrals and costs: expressions of q, v, a and u along the motion."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.spatial.arrays import Array
from tests.helpers.ocp import slider


def test_a_path_is_kept() -> None:
    """The tip of a two-link arm stays below a height, which the free optimum passes."""
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model)
    tip = gd.Kinematics(model).frame_placement(model.frames[model.nframes - 1].name)

    def solved(keep: Callable[[ocp.Problem], None]) -> ocp.Solution:
        problem = ocp.Problem(dyn, 1.0, 20)
        problem.start([0.0, 0.0])
        problem.end([1.2, -0.4])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        keep(problem)
        return problem.solve()

    def heights(solution: ocp.Solution) -> Array:
        data = model.createData()
        found = []
        for q in solution.stages.q:
            pin.framesForwardKinematics(model, data, q)
            found.append(data.oMf[model.nframes - 1].translation[0])
        return np.array(found)

    free = heights(solved(lambda problem: None))
    lowest, highest = free.min(), free.max()
    limit = lowest + 0.03 * (highest - lowest)
    kept = heights(solved(lambda problem: problem.path(lambda q: tip(q)[0, 3], lower=max(limit, free[-1] - 1e-3))))
    assert kept.min() > lowest - 1e-9


def test_a_path_may_be_an_equation() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), 1.5, 4)
    problem.start([0.0])
    problem.path(lambda u: u, 2.5, 2.5)
    problem.minimize(problem.integral(lambda v: v**2))
    solution = problem.solve()
    np.testing.assert_allclose(solution.u, 2.5, rtol=1e-9)
    assert solution.v[-1, 0] == pytest.approx(2.5 * 1.5 / 2.0, rel=1e-9)


def test_a_path_of_a_matrix_has_bounds_in_its_shape() -> None:
    """Forces from −2 to 3 at 2 kg, as the columns of a matrix have them: T² = 2 d (m/3 + m/2), turned at 0.4 T."""
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), (0.1, 10.0), 10)
    problem.start([0.0])
    problem.end([0.5])
    problem.path(lambda v, u: ca.blockcat([[v, u], [-v, -u]]), upper=[[1.0, 3.0], [0.5, 2.0]])
    problem.minimize(problem.duration)
    solution = problem.solve()
    assert solution.duration == pytest.approx(np.sqrt(2 * 0.5 * (2 / 3 + 2 / 2)), rel=1e-6)


def test_a_path_at_the_grid() -> None:
    """The fastest of 1.5 d/T is at the middle, which is an instant of the grid."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 2, control="linear")
    problem.start([0.0], v=None)
    problem.end([1.0], v=None)
    problem.path(lambda q, v: q + v, upper=1.2, at="grid")
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert (solution.q + solution.v).max() == pytest.approx(1.2, abs=1e-7)


def test_functions_are_expressions_too() -> None:
    model = slider()
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 10)
    problem.start([0.0])
    problem.end([1.0])
    problem.path(dyn.kinetic_energy, upper=1.3)
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    energies = 0.5 * 2.0 * solution.stages.v**2
    assert energies.max() == pytest.approx(1.3, rel=1e-6)


def test_an_integral_is_that_of_the_motion() -> None:
    """The work of u is the energy gained."""
    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 20)
    problem.start(np.zeros(6))
    problem.end(np.full(6, 0.4))
    work = problem.integral(lambda u, v: ca.dot(u, v))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    gained = float(dyn.potential_energy(solution.q[-1]) - dyn.potential_energy(solution.q[0]))
    assert float(problem.value(work)) == pytest.approx(gained, rel=1e-6)  # quadrature of order 6


def test_a_path_of_q_and_v_holds_at_the_grid_too() -> None:
    """What a path forbids at the end cannot be reached, and it is said which."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 10)
    problem.start([0.0], v=0.0)
    problem.end([0.5], v=3.0)
    problem.path(lambda v: v**2, upper=1.0)
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(ocp.OptimizationError, match=r"contradict each other.*path 1 by") as caught:
        problem.solve(options={"ipopt.max_iter": 100})
    assert caught.value.solution.violations["path 1"] > 0.1


@pytest.mark.parametrize(("side", "sign"), [("upper", 1.0), ("lower", -1.0)])
def test_excess_of_a_path_is_that_of_the_motion(side: str, sign: float) -> None:
    """A parabola, upwards or downwards, that the three instants of the grid let pass."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 2)
    problem.start([0.0], v=8.0 * sign)
    problem.end([0.0], v=None)
    problem.path(lambda q, scale=2.0: scale * q, at="grid", **{side: 2.0 * sign})
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    t = np.arange(17) / 32
    top = (8 * t + sign * solution.u[0, 0] / 2.0 * t**2 / 2).max()
    assert solution.excess == {"path 1": pytest.approx(2 * top - 2, rel=1e-9)}

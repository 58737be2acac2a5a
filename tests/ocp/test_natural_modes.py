"""Flexible arms: natural modes as a solver's variables, whatever the modal coordinates are."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.ocp.ends.initial import NaturalModes
from gdalembert.ocp.system.parameters import matrices_of
from gdalembert.ocp.system.system import System
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick

HERMITE = gd.modes.hermite()
NEARLY_DEPENDENT = HERMITE.combined([[1.0, 0.0], [1.0, 0.02]])


def planar(shapes: gd.modes.ModeSet = HERMITE, continuous: bool = False) -> gd.FlexibleArm:
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    urdf = (ROOT / "urdf" / "two_link_flexible.urdf").read_text(encoding="utf-8")
    if continuous:
        urdf = urdf.replace('name="joint2" type="revolute"', 'name="joint2" type="continuous"')
    model = gd.load_urdf(urdf, check="off")
    return gd.FlexibleArm(model, {name: gd.FlexibleLink(beam, bending_y=shapes) for name, beam in beams.items()})


@pytest.mark.parametrize("continuous", quick([False, True], True))
def test_natural_modes_have_sizes_of_their_own(continuous: bool) -> None:
    """f/ω², f/ω, f, where f are the forces of the guess that bend the arm, elastic forces apart."""
    arm = planar(continuous=continuous)
    q_start = np.array([0.0, 1.0, *np.zeros(5)] if continuous else np.zeros(6))
    q_end = gd.Kinematics(arm.tree).integrate(q_start, [0.8, -0.6, 0.1, 0, 0, 0.02]).full().ravel()
    motion = ocp.rest_to_rest(arm, q_start, q_end, 2.0, samples=21)
    found = NaturalModes.of(System("test", arm), motion, 2.0, np.empty(0))
    frequencies, shapes = arm.natural_modes(motion.q[10])
    assert np.abs(np.abs(found.shapes) - np.abs(shapes[2:])).max() < 1e-12
    tau = arm.inverse_dynamics(motion.q.T, motion.v.T, motion.a.T).full()
    straight = tau - arm.stiffness_matrix @ np.vstack([np.zeros((2, 21)), motion.q[:, -4:].T])
    force = np.abs(found.shapes.T @ straight[2:]).max(axis=1)
    assert found.q[:-4].tolist() == [1] * (2 + continuous)
    assert found.v[:2].tolist() == [1, 1]
    assert found.a[0] == found.a[1] == np.abs(motion.a).max()
    np.testing.assert_allclose(found.forces, force, rtol=1e-12)
    np.testing.assert_allclose(found.q[-4:] * frequencies**2, force, rtol=1e-12)
    np.testing.assert_allclose(found.v[2:] * frequencies, force, rtol=1e-12)
    np.testing.assert_allclose(found.a[2:], force, rtol=1e-12)


def test_a_rigid_robot_has_none() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    found = NaturalModes.of(System("test", dyn), ocp.rest_to_rest(dyn, [0, 0], [1, 1], 1.0), 1.0, np.empty(0))
    assert found.shapes.shape == (0, 0)
    assert found.q.tolist() == [1, 1]


def least_effort(arm: gd.FlexibleArm) -> ocp.Solution:
    problem = ocp.Problem(arm, 2.0, 30, degree=2)
    problem.start(np.zeros(arm.tree.nq))
    problem.end([0.8, -0.6, *np.zeros(arm.tree.nq - 2)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve(options={"ipopt.max_iter": 60})


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")
def test_modal_coordinates_do_not_matter() -> None:
    """Shapes that are nearly dependent take as many iterations as Hermite's, to the same motion."""
    arms = planar(), planar(NEARLY_DEPENDENT)
    one, other = (least_effort(arm) for arm in arms)
    assert other.iterations <= one.iterations + 2
    assert abs(one.cost - other.cost) < 1e-8 * one.cost  # the tolerance of the solver
    tips = [arm.tip_placement("link2")(found.q[15]) for arm, found in zip(arms, (one, other), strict=True)]
    assert ca.norm_fro(tips[0] - tips[1]) < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("method", quick(["collocation", "rk4"], "collocation"))
def test_variables_and_equations_are_those_of_natural_modes(method: str) -> None:
    """The solver has the motion's variables and rows in other coordinates; one variable of its own closes each gap."""
    problem = ocp.Problem(planar(), 0.03, 3, method=method, degree=2)
    problem.start(np.zeros(6))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    program = problem.solver()._program
    nlp, motion, scales = program.nlp, program.parts[0].motion, problem._initial.scales()
    x = 0.1 * np.random.default_rng(1).normal(size=sum(matrix.numel() for matrix in motion.variables))
    x = nlp.unscaled(nlp.scaled(x))  # u before an interval is that of the last one
    z = nlp.scaled(x)
    assert np.abs(nlp.unscaled(z) - x).max() < 1e-12
    rows = ca.Function("rows", [nlp.problem["x"], nlp.problem["p"]], [nlp.problem["g"]])(z, program.current())
    rows = rows.full().ravel()

    width = len(motion.rule.c)
    steps = []
    for i in range(3):
        k = None if motion.k is None else motion.k[:, i * width : (i + 1) * width]
        steps.append(motion.step(motion.state[:, i], motion.u[:, i], motion.u[:, i], k, None, [])[1])
    reached, residuals = (ca.horzcat(*(getattr(step, name) for step in steps)) for name in ("reached", "residual"))
    graph = ca.Function("step", motion.variables, [motion.state[:, 1:] - reached, residuals])
    gaps, residual = (values.full() for values in graph.call(matrices_of(ca.DM(x), motion.variables)))
    psi, nq, nv = scales.modes.shapes, motion.dyn.tree.nq, motion.dyn.tree.nv
    size = len(psi)
    for stop in (nq, motion.size):
        gaps[stop - size : stop] = np.linalg.solve(psi, gaps[stop - size : stop])
    expected = (gaps.T / scales.state).ravel()
    assert np.abs(rows[nlp.gaps] - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    if motion.k is not None:
        residual[nv - size : nv] = psi.T @ residual[nv - size : nv]
        expected = (residual.T / scales.equations).ravel()
        assert np.abs(rows[~nlp.gaps] - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    gap_rows = np.flatnonzero(nlp.gaps)
    row, column = (np.array(index) for index in nlp.sum.pattern.get_triplet())
    later = np.isin(row, gap_rows) & (nlp.variables.intervals[column] > nlp.constraints.intervals[row])
    assert np.bincount(row[later], minlength=len(rows))[gap_rows].tolist() == [1] * len(gap_rows)


def spatial() -> tuple[pin.Model, gd.FlexibleArm]:
    """PUMA's first three joints with two tubes and 2 kg: 10 coordinates, modes from 7 to 690 Hz."""
    model = gd.load_urdf("puma560_3")
    material = {"density": 2700.0, "youngs_modulus": 70e9, "poisson_ratio": 0.33, "wall": 0.0015}
    upper, lower = (gd.Beam.tube(None, outer_diameter=x, **material) for x in (0.03, 0.025))
    load = pin.Inertia(2.0, np.zeros(3), 0.01 * np.eye(3))
    links = {
        "link2": gd.FlexibleLink(upper, HERMITE, HERMITE, modal_damping=0.01),
        "link3": gd.FlexibleLink(
            lower, HERMITE, gd.modes.clamped_free(1), to="wrist", tip_body=load, modal_damping=0.01
        ),
    }
    return model, gd.FlexibleArm(model, links)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link")
@pytest.mark.parametrize(("duration", "intervals"), [(1.0, 20), ((0.5, 3.0), 20)])
def test_a_spatial_arm_in_gravity_is_planned_as_it_is_posed(
    duration: float | tuple[float, float], intervals: int
) -> None:
    """Least effort, and least time: with the cost as it is, beside IPOPT's barrier, 47 and more than 150 iterations."""
    model, arm = spatial()
    ends = [arm.static_deflection([*joints, *np.zeros(7)]) for joints in ([0, -0.5, 1.0], [0.8, 0.2, 0.5])]
    assert arm.tree.nq == 10
    assert arm.natural_frequencies(ends[0])[-1] > 2 * np.pi * 500
    problem = ocp.Problem(arm, duration, intervals, bounds=ocp.Bounds.of(arm, model), quasi_static=None)
    problem.start(ends[0])
    problem.end(ends[1])
    effort = problem.integral(lambda u: ca.sumsqr(u / ca.DM(model.effortLimit)))
    problem.minimize(effort + (0 if duration == 1.0 else problem.duration))
    solution = problem.solve(options={"ipopt.max_iter": 80})
    assert solution.constraint_violation < 1e-6
    assert solution.step_error < 0.02

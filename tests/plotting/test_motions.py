"""Motions and energies over time."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers import models
from tests.helpers.linkages import closed_four_bar, four_bar_loop
from tests.helpers.ocp import slider
from tests.helpers.plots import flexible, lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


@pytest.fixture(scope="module")
def planar() -> tuple[pin.Model, gd.Simulation]:
    model = gd.load_urdf("two_link_arm")
    return model, gd.simulate(gd.NewtonEuler(model), [0.3, 0.2, 0, 0], 0.5, lambda t, q, v: [1 - v[0], 0.1])


def test_figures_with_several_axes_are_saved(planar: tuple[pin.Model, gd.Simulation], tmp_path: Path) -> None:
    for axes in (plotting.motion(planar[1], planar[0]), plotting.energy_balance(planar[1])):
        axes.savefig(tmp_path / "motion.svg")
        assert (tmp_path / "motion.svg").read_text().startswith("<?xml")
        assert axes.figure is axes[0].figure
        (tmp_path / "motion.svg").unlink()


def test_a_motion_is_drawn_with_its_limits(planar: tuple[pin.Model, gd.Simulation]) -> None:
    model, simulation = planar
    axes = plotting.motion(simulation, model)
    assert [ax.get_ylabel() for ax in axes] == ["q [rad]", "v [rad/s]", "u [N m]"]
    assert axes[-1].get_xlabel() == "time [s]"
    bounds = (model.upperPositionLimit, model.velocityLimit, model.effortLimit)
    for ax, values, bound in zip(axes, (simulation.q, simulation.v, simulation.u), bounds, strict=True):
        drawn = lines(ax)
        assert list(drawn) == ["joint1", "joint2"]
        assert all(np.all(drawn[f"joint{k + 1}"] == values[:, k]) for k in (0, 1))
        dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
        found = sorted(float(np.asarray(line.get_ydata())[0]) for line in dashed)
        assert found == pytest.approx(sorted([*bound, *-bound]))
    assert plotting.motion(simulation)[0].get_ylabel() == "q [rad or m]"
    assert all(line.get_linestyle() == "-" for line in plotting.motion(simulation, gd.NewtonEuler(model))[0].lines)


def test_names_are_no_formulas(tmp_path: Path) -> None:
    """matplotlib refuses what stands between two ``$`` if it is no formula, here with an unknown command."""
    model = gd.load_urdf("two_link_arm")
    model.names[1], model.names[2] = r"$\a$", "a $ and $ b_"
    model.frames[model.nframes - 1].name = r"$\b$"
    robot = gd.NewtonEuler(model)
    simulation = gd.simulate(robot, [0.3, 0.2, 0, 0], 0.1)
    figures = [plotting.motion(simulation, model), plotting.torque_decomposition(robot, simulation)]
    figures += [plotting.torque_decomposition(robot, simulation, joint=k) for k in model.names[1:]]
    figures += [plotting.velocity_ellipsoid(model, r"$\b$", [0.3, 0.2], pin.LOCAL, plane="xz")]
    for k, axes in enumerate(figures):
        figure = axes.figure if hasattr(axes, "figure") else axes[0].figure
        figure.savefig(tmp_path / f"{k}.svg")
        assert ("a $ and $ b_" in (tmp_path / f"{k}.svg").read_text()) == (k in (0, 1, 3))


def test_a_robot_needs_no_name(planar: tuple[pin.Model, gd.Simulation]) -> None:
    model = planar[0].copy()
    model.name = ""
    axes = plotting.motion(gd.simulate(gd.NewtonEuler(model), [0.3, 0.2, 0, 0], 0.1), model)
    assert [ax.get_title() for ax in axes] == [ax.get_title() for ax in plotting.motion(planar[1], planar[0])]


def test_limits_that_are_none_are_not_drawn() -> None:
    model = gd.load_urdf("two_link_arm")
    model.upperPositionLimit = np.array([np.inf, np.finfo(float).max])
    model.lowerPositionLimit = np.array([-np.inf, -2.0])
    simulation = gd.simulate(gd.NewtonEuler(model), np.zeros(4), 0.1)
    ax = plotting.motion(simulation, model)[0]
    assert [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"] == [-2.0]


def test_coordinates_of_any_joint_have_names_and_units() -> None:
    rng = np.random.default_rng(0)
    model = models.build(rng, ["FreeFlyer", "RUBX", "PrismaticUnaligned"], [0, 1, 2])
    model.armature = np.zeros(model.nv)
    simulation = gd.simulate(gd.NewtonEuler(model), (pin.neutral(model), np.zeros(8)), [0, 0.01])
    axes = plotting.motion(simulation, gd.NewtonEuler(model))
    assert [ax.get_ylabel() for ax in axes] == ["q [m, 1]", "v [m/s, rad/s]", "u [N, N m]"]
    expected = [*(f"FreeFlyer_0[{k}]" for k in range(7)), "RUBX_1[0]", "RUBX_1[1]", "PrismaticUnaligned_2"]
    assert list(lines(axes[0])) == expected
    assert list(lines(axes[1]))[-2:] == ["RUBX_1", "PrismaticUnaligned_2"]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes[0].lines}) == 10


def test_of_an_arm_the_joints_are_shown() -> None:
    arm = flexible()[0]
    simulation = gd.simulate(arm, np.zeros(2 * arm.tree.nv), [0, 0.01])
    axes = plotting.motion(simulation, arm)
    assert [list(lines(ax)) for ax in axes] == [["joint1", "joint2"]] * 3
    assert np.all(lines(axes[1])["joint2"] == simulation.v[:, 1])


def test_the_energies_are_drawn(planar: tuple[pin.Model, gd.Simulation]) -> None:
    simulation = planar[1]
    above, below = plotting.energy_balance(simulation)
    drawn = lines(above)
    assert list(drawn) == ["energy gained", "kinetic", "potential, from its start", "work of u"]
    assert np.all(drawn["work of u"] == simulation.work)
    gained = drawn["kinetic"] - drawn["kinetic"][0] + drawn["potential, from its start"]
    assert gained == pytest.approx(drawn["energy gained"], abs=1e-12)
    assert np.all(lines(below)["balance"] == simulation.balance)
    assert [ax.get_ylabel() for ax in (above, below)] == ["energy [J]", "balance [J]"]


def test_motions_of_constrained_robots_are_drawn() -> None:
    """With the names of the robot alone; forces that do work are in the figure of the energies."""
    loose, q = four_bar_loop(), closed_four_bar(0.4)
    motion = gd.simulate(loose, (q, np.zeros(3)), 0.2)
    assert list(lines(plotting.motion(motion, loose)[0])) == ["crank", "coupler", "rocker"]
    assert "work of constraints" not in lines(plotting.energy_balance(motion)[0])
    slipping = gd.ConstrainedDynamics(loose.dynamics, loose.constraints, regularization=1.0)
    with pytest.warns(gd.simulation.SimulationWarning, match="drift"):
        motion = gd.simulate(slipping, motion.x[0], 1.0)
    drawn = lines(plotting.energy_balance(motion)[0])
    assert np.all(drawn["work of constraints"] == motion.constraint_work)


def test_motions_of_others_are_refused(planar: tuple[pin.Model, gd.Simulation]) -> None:
    for draw in (plotting.motion, plotting.energy_balance):
        with pytest.raises(ArgumentTypeError, match=r"expected a Simulation, as gd\.simulate gives it, got list"):
            draw([1, 2])
    with pytest.raises(ArgumentError, match="q of the simulation of 'two_link_arm' has 2 entries, that of the robot 6"):
        plotting.motion(planar[1], gd.load_urdf("puma560"))
    with pytest.raises(ArgumentTypeError, match=r"expected a pin\.Model or a Dynamics, got str"):
        plotting.motion(planar[1], "puma560")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="motion: the simulation is of 'two_link_arm', the robot is 'two_link_flex"):
        plotting.motion(planar[1], gd.load_urdf("two_link_flexible"))
    stiff = gd.FlexibleArm(planar[0], joints={"joint1": gd.FlexibleJoint(100.0, 0.1)})
    simulation = gd.simulate(stiff, np.zeros(6), [0, 0.01])
    with pytest.raises(ArgumentError, match="q of the simulation of 'two_link_arm' has 3 entries, that of the robot 2"):
        plotting.motion(simulation, planar[0])


@pytest.mark.parametrize("hold", [True, False])
def test_what_is_held_is_drawn_in_steps(hold: bool) -> None:
    model = gd.load_urdf("two_link_arm")
    simulation = gd.simulate(gd.NewtonEuler(model), np.zeros(4), [0, 0.1, 0.2], [[1, 0], [3, 0], [2, 1]], hold=hold)
    q, v, u = plotting.motion(simulation)
    assert {line.get_drawstyle() for line in u.lines} == {"steps-post" if hold else "default"}
    assert {line.get_drawstyle() for line in (*q.lines, *v.lines)} == {"default"}


def test_limits_of_pairs_and_quaternions_are_not_drawn() -> None:
    model = models.build(np.random.default_rng(0), ["RUBX", "RX", "Spherical"], [0, 1, 2])
    model.armature = np.zeros(model.nv)
    model.lowerPositionLimit = np.array([-1.01, -1.01, -2.0, *[-1.01] * 4])
    model.upperPositionLimit = np.array([1.01, 1.01, 2.0, *[1.01] * 4])
    simulation = gd.simulate(gd.NewtonEuler(model), (pin.neutral(model), np.zeros(model.nv)), [0, 0.01])
    ax = plotting.motion(simulation, model)[0]
    assert [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 0.8] == [-2.0, 2.0]


@pytest.fixture(scope="module", params=["constant", "linear"])
def solution(request: pytest.FixtureRequest) -> gd.ocp.Solution:
    problem = gd.ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 0.5, 5, control=request.param)
    problem.start([0.0, 0.0], [0.0, 0.0])
    problem.end([0.2, 0.1], [0.0, 0.0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve()


def test_a_solution_is_a_motion(solution: gd.ocp.Solution) -> None:
    model = gd.load_urdf("two_link_arm")
    axes = plotting.motion(solution, model)
    assert np.all(lines(axes[0])["joint2"] == solution.q[:, 1])
    held = solution.control == "constant"
    styles = {line.get_drawstyle() for line in axes[2].lines if line.get_linewidth() > 1}
    assert styles == {"steps-post" if held else "default"}
    u = solution.u[:, 0]
    assert np.all(lines(axes[2])["joint1"] == ([*u, u[-1]] if held else u))
    drawn = lines(plotting.torque_decomposition(model, solution, joint="joint2"))
    assert drawn["sum, τ"] == pytest.approx(solution.stages.u[:, 1], abs=1e-6)
    with pytest.raises(ArgumentError, match="q of the solution of 'two_link_arm' has 2 entries, that of the robot 6"):
        plotting.motion(solution, gd.load_urdf("puma560"))


def test_the_equation_of_any_formulation_is_drawn(solution: gd.ocp.Solution) -> None:
    dyn = gd.LagrangeEuler(gd.load_urdf("two_link_arm"))
    drawn = lines(plotting.torque_decomposition(dyn, solution, joint="joint2"))
    assert [*drawn] == ["sum, τ", "inertia", "Coriolis, centrifugal", "gravity"]
    assert drawn["sum, τ"] == pytest.approx(solution.stages.u[:, 1], abs=1e-6)
    with pytest.raises(ArgumentError, match="by='link': parts of GeneralizedDAlembert; give it, its model, or by="):
        plotting.torque_decomposition(dyn, solution, joint="joint2", by="link")


def test_phases_are_one_motion() -> None:
    dyn = gd.NewtonEuler(slider())
    first, second = (gd.ocp.Problem(dyn, duration, 3, degree=1) for duration in (0.5, 0.3))
    first.start([0.0])
    second.end([0.2])
    second.minimize(second.integral(lambda u: u**2))
    solution = gd.ocp.Phases([first, second]).solve()
    axes = plotting.motion(solution, slider())
    assert np.array_equal(axes[0].lines[0].get_xdata(), solution.t)
    assert np.array_equal(axes[2].lines[0].get_ydata(), solution.u.ravel())
    assert solution.t[-1] == 0.8


def test_lengths_that_are_not_one_are_refused() -> None:
    model = models.build(np.random.default_rng(0), ["RX", "RUBX"], [0, 1])
    model.armature = np.zeros(model.nv)
    for q in ([0.3, 0.45, 0.0], [0.3, 1 + 2e-6, 0.0]):
        off = f"q of joint 'RUBX_1' is off unit length by {abs(q[1] - 1):.3g}; normalise it"
        for where, draw in (
            ("force_ellipsoid", plotting.force_ellipsoid),
            ("velocity_ellipsoid", plotting.velocity_ellipsoid),
        ):
            with pytest.raises(ArgumentError, match=f"^{where}: {off}"):
                draw(model, "body_1", q, pin.LOCAL, plane="xy")
        rows = [[0.0, 1.0, 0.0], q]
        with pytest.raises(ArgumentError, match=f"^torque_decomposition: {off}"):
            plotting.torque_decomposition(model, ([0, 1], rows, np.zeros((2, 2)), np.zeros((2, 2))))
    q = [0.3, 1 + 5e-7, 0.0]
    plotting.velocity_ellipsoid(model, "body_1", q, pin.LOCAL, plane="xy")


def test_efforts_have_the_names_of_their_actuators() -> None:
    model = gd.load_urdf("two_link_arm")
    acrobot = gd.NewtonEuler(model, actuation=[[0.0], [1.0]])
    axes = plotting.motion(gd.simulate(acrobot, [0.3, 0.2, 0, 0], 0.2, lambda t, q, v: 0.1), acrobot)
    assert [list(lines(ax)) for ax in axes] == [["joint1", "joint2"], ["joint1", "joint2"], ["joint2"]]
    assert axes[-1].get_ylabel() == "u [N m]"
    coupled = gd.NewtonEuler(model, actuation=[[1.0], [1.0]])
    axes = plotting.motion(gd.simulate(coupled, [0.3, 0.2, 0, 0], 0.2), coupled)
    assert list(lines(axes[-1])) == ["u[0]"]

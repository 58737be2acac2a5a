"""The figures: what is drawn is what is computed, axes have units, and nothing is left behind in matplotlib."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi as ca
import matplotlib
import numpy as np
import pinocchio as pin
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gdalembert as gd
from benchmarks.common import robots, tables
from benchmarks.complexity import study as complexity
from benchmarks.graph_size import scaling, sizes
from benchmarks.simplification import simplification
from gdalembert import plotting
from gdalembert.cli import main as cli
from gdalembert.cli import plot as command
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.plotting import ellipsoids
from gdalembert.plotting.mode_shapes import natural_modes
from tests.helpers import models
from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

A_MAX = [8, 6, 12, 25, 25, 25]
BEAM = gd.Beam(0.8, 0.45, EI_z=10.0)


@pytest.fixture(autouse=True)
def _nothing_is_left_in_matplotlib(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pyplot.switch_backend("agg")
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("a figure is shown"))
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")


def lines(ax: Axes) -> dict[str, np.ndarray]:
    """What has a label."""
    return {
        str(line.get_label()): np.asarray(line.get_ydata())
        for line in ax.lines
        if not str(line.get_label()).startswith("_")
    }


def swing(model: pin.Model, samples: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    states = models.states(model, np.random.default_rng(1), samples)
    return np.linspace(0, 1, samples), *(np.array(part) for part in zip(*states, strict=True))


def rnea(model: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    data = model.createData()
    return np.array([pin.rnea(model, data, *state).copy() for state in zip(q, v, a, strict=True)])


# The package


def test_matplotlib_is_imported_by_the_first_figure_only() -> None:
    code = "import sys, gdalembert, gdalembert.plotting; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("gdalembert.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = r"^gdalembert\.plotting needs matplotlib: pip install 'gdalembert\[plot\]'$"
    with pytest.raises(UnsupportedError, match=message) as error:
        importlib.import_module("gdalembert.plotting")
    assert isinstance(error.value, ModuleNotFoundError)
    assert error.value.name == "matplotlib"


def test_figures_go_where_they_are_told() -> None:
    model = gd.load_urdf("two_link_arm")
    ax = Figure().subplots()
    assert plotting.torque_decomposition(model, swing(model), joint=0, ax=ax) is ax
    assert pyplot.get_fignums() == []
    assert plotting.torque_decomposition(model, swing(model), joint=0) is pyplot.gca()
    for draw in (
        lambda ax: plotting.torque_decomposition(model, swing(model), joint=0, ax=ax),
        lambda ax: plotting.scaling({"a": {1: 1}}, ax=ax),
        lambda ax: plotting.instructions({"a": {"b": 1}}, "b", ax=ax),
        lambda ax: plotting.force_ellipsoid(model, "tip", [0, 1], pin.LOCAL, plane="xz", ax=ax),
    ):
        with pytest.raises(ArgumentTypeError, match="ax: expected a matplotlib Axes, got Figure"):
            draw(Figure())


# torque_decomposition


def tree_with_everything() -> pin.Model:
    rng = np.random.default_rng(3)
    return models.build(rng, ["FreeFlyer", "RevoluteUnaligned", "PrismaticUnaligned", "RUBX"], [0, 1, 1, 2])


@pytest.mark.parametrize("by", ["kind", "link"])
@pytest.mark.parametrize("name", ["puma560", "shala_likaj_rpr", "tree"])
def test_the_sum_that_is_drawn_is_the_torque(name: str, by: Any) -> None:
    model = tree_with_everything() if name == "tree" else gd.load_urdf(name)
    sprung = "RevoluteUnaligned_1" if name == "tree" else model.names[2]
    dyn = gd.GeneralizedDAlembert(model, springs={sprung: (30.0, 0.2)}, clean=0)
    t, q, v, a = swing(model)
    axes = plotting.torque_decomposition(dyn, (t, q, v, a), by=by)
    assert len(axes) == model.nv
    joint = model.joints[model.getJointId(sprung)]
    tau = rnea(model, q, v, a)
    tau[:, joint.idx_v] += 30 * (q[:, joint.idx_q] - 0.2)
    for k, ax in enumerate(axes):
        drawn = lines(ax)
        whole = drawn.pop("sum, τ")
        assert models.relative_error(whole, tau[:, k]) < 1e-12
        assert models.relative_error(whole, dyn.inverse_dynamics(q.T, v.T, a.T).full()[k]) < 1e-12
        assert models.relative_error(sum(drawn.values()), tau[:, k]) < 1e-12
        assert np.all(ax.lines[0].get_xdata() == t)
        assert ax.get_title(loc="left") == dyn.tree.velocity_names[k]


def test_the_kinds_are_those_of_point_masses_and_of_pure_inertia() -> None:
    model = gd.load_urdf("puma560")
    t, q, v, a = swing(model)
    drawn = lines(plotting.torque_decomposition(gd.GeneralizedDAlembert(model, clean=0), (t, q, v, a), joint="joint2"))
    assert list(drawn) == ["sum, τ", "translational", "rotational", "gravity", "motors"]
    points = model.copy()
    for k in range(1, model.njoints):
        points.inertias[k] = pin.Inertia(model.inertias[k].mass, model.inertias[k].lever, np.zeros((3, 3)))
    points.armature = np.zeros(6)
    gravity = rnea(model, q, 0 * v, 0 * a)[:, 1]
    translational = rnea(points, q, v, a)[:, 1] - gravity
    motors = 4.71 * a[:, 1]
    assert models.relative_error(drawn["gravity"], gravity) < 1e-12
    assert models.relative_error(drawn["translational"], translational) < 1e-12
    assert models.relative_error(drawn["motors"], motors) < 1e-12
    rotational = rnea(model, q, v, a)[:, 1] - gravity - translational - motors
    assert models.relative_error(drawn["rotational"], rotational) < 1e-12


def test_the_links_are_those_of_robots_with_one_link() -> None:
    model = gd.load_urdf("puma560")
    t, q, v, a = swing(model)
    dyn = gd.GeneralizedDAlembert(model, clean=0)
    drawn = lines(plotting.torque_decomposition(dyn, (t, q, v, a), joint="joint2", by="link"))
    assert list(drawn) == ["sum, τ", *(f"link of joint{k}" for k in range(2, 7)), "gravity", "motors"]  # 1 is below
    for k in range(2, 7):
        alone = model.copy()
        alone.gravity.linear = np.zeros(3)
        alone.armature = np.zeros(6)
        for other in set(range(1, 7)) - {k}:
            alone.inertias[other] = pin.Inertia.Zero()
        assert models.relative_error(drawn[f"link of joint{k}"], rnea(alone, q, v, a)[:, 1]) < 1e-12


def test_torques_have_the_units_of_their_joints() -> None:
    model = gd.load_urdf("shala_likaj_rpr")
    axes = plotting.torque_decomposition(model, swing(model))
    assert [ax.get_ylabel() for ax in axes] == ["torque [N m]", "torque [N]", "torque [N m]"]
    assert axes[-1].get_xlabel() == "time [s]"
    ax = plotting.torque_decomposition(model, swing(model), joint=1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time [s]", "torque of joint2 [N]")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines(ax))


def test_a_simulation_is_decomposed_too() -> None:
    model = gd.load_urdf("two_link_arm")
    motion = gd.simulate(gd.NewtonEuler(model), [0.3, 0.2, 0, 0], [0, 0.1, 0.2], [3.0, 1.0])
    ax = plotting.torque_decomposition(model, motion, joint="joint1")
    assert lines(ax)["sum, τ"] == pytest.approx(3 * np.ones(3), abs=1e-9)  # the default cleaning, 1e-11


def test_wrong_decompositions_are_refused() -> None:
    model = gd.load_urdf("two_link_arm")
    t, q, v, a = swing(model)
    draw = plotting.torque_decomposition
    with pytest.raises(ArgumentTypeError, match=r"a pin\.Model or a GeneralizedDAlembert.*got NewtonEuler"):
        draw(gd.NewtonEuler(model), (t, q, v, a))
    with pytest.raises(ArgumentError, match="by='sort'; give 'kind' or 'link'"):
        draw(model, (t, q, v, a), by="sort")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no joint named 'joint3'; nearest: 'joint2', 'joint1'"):
        draw(model, (t, q, v, a), joint="joint3")
    with pytest.raises(ArgumentError, match="joint 2: give an index in v, from 0 to 1"):
        draw(model, (t, q, v, a), joint=2)
    with pytest.raises(ArgumentTypeError, match=r"a name or an index, got 1\.5"):
        draw(model, (t, q, v, a), joint=1.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="ax takes one joint"):
        draw(model, (t, q, v, a), ax=Figure().subplots())
    with pytest.raises(ArgumentTypeError, match=r"a Simulation, a Solution or \(t, q, v, a\), got 3 of them"):
        draw(model, (t, q, v))
    with pytest.raises(ArgumentError, match=r"v has shape \(9, 1\), but two_link_arm at 9 times needs \(9, 2\)"):
        draw(model, (t, q, v[:, :1], a))
    with pytest.raises(ArgumentError, match=r"t has shape \(9, 2\); give the times"):
        draw(model, (q, q, v, a))


# motion, energy_balance


@pytest.fixture(scope="module")
def planar() -> tuple[pin.Model, gd.Simulation]:
    model = gd.load_urdf("two_link_arm")
    return model, gd.simulate(gd.NewtonEuler(model), [0.3, 0.2, 0, 0], 0.5, lambda t, q, v: [1 - v[0], 0.1])


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
                draw(model, model.nframes - 1, q, pin.LOCAL, plane="xy")
        rows = [[0.0, 1.0, 0.0], q]
        with pytest.raises(ArgumentError, match=f"^torque_decomposition: {off}"):
            plotting.torque_decomposition(model, ([0, 1], rows, np.zeros((2, 2)), np.zeros((2, 2))))
    q = [0.3, 1 + 5e-7, 0.0]
    plotting.velocity_ellipsoid(model, model.nframes - 1, q, pin.LOCAL, plane="xy")


def test_modes_at_lengths_that_are_not_one_are_refused() -> None:
    model = pin.Model()
    turn = model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    bend = model.addJoint(turn, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.8, 0, 0])), "bend")
    model.appendBodyToJoint(bend, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    arm = gd.FlexibleArm(model, joints={"bend": gd.FlexibleJoint(100.0, 0.1)})
    q = np.concatenate([[0.45, 0.0], np.zeros(arm.tree.nq - 2)])
    with pytest.raises(ArgumentError, match=r"^mode_shapes: q of joint 'turn' is off unit length by 0\.55; normalise"):
        natural_modes(arm, q)


# Flexible links


def flexible() -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    links = {"link2": gd.FlexibleLink(BEAM, gd.modes.clamped_free(3))}
    return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links), links


def test_the_tip_is_where_its_shapes_put_it() -> None:
    """±2 of each clamped-free mode, in mm; the slope of the root takes no part."""
    arm, _ = flexible()
    q = np.random.default_rng(0).normal(size=(5, arm.tree.nq)) * [1, 1, 1e-2, 1e-2, 1e-2]
    t = np.arange(5.0)
    ax = plotting.tip_deflection(arm, (t, q))
    drawn = lines(ax)
    assert list(drawn) == ["link2"]
    expected = 1e3 * q[:, 2:] @ gd.modes.clamped_free(3).value(0.8, 0.8)[:, 0]
    assert models.relative_error(drawn["link2"], expected) < 1e-12
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time [s]", "deflection of the tip [mm]")


def test_both_directions_of_a_tip_are_told_apart() -> None:
    beam = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0)
    link = gd.FlexibleLink(beam, gd.modes.clamped_free(1), gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link2": link})
    drawn = lines(plotting.tip_deflection(arm, ([0.0], [[0.4, 0.3, 0.01, -0.02]])))
    assert {name: line.tolist() for name, line in drawn.items()} == {
        "link2, y": [pytest.approx(20, rel=1e-12)],
        "link2, z": [pytest.approx(-40, rel=1e-12)],
    }


def test_tips_of_rigid_robots_are_refused() -> None:
    model = gd.load_urdf("two_link_flexible")
    with pytest.raises(ArgumentTypeError, match="expected a FlexibleArm, got NewtonEuler"):
        plotting.tip_deflection(gd.NewtonEuler(model), ([0.0], [[0, 0]]))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"has no flexible links; give an arm with links=\{…\}"):
        plotting.tip_deflection(gd.FlexibleArm(model), ([0.0], [[0, 0]]))


FREE = np.array([1.87510406871196, 4.69409113297417, 7.85475743823761])
"""1 + cos x cosh x = 0."""


@pytest.mark.parametrize("natural", [False, True])
def test_the_modes_of_a_bare_beam_are_drawn_with_their_frequencies(natural: bool) -> None:
    (ax,) = plotting.mode_shapes(flexible()[1]["link2"], natural=natural)
    hertz = FREE**2 * np.sqrt(10.0 / (0.45 * 0.8**4)) / (2 * np.pi)
    drawn = lines(ax)
    assert [name.split(": ")[1] for name in drawn] == [f"{f:.4g} Hz" for f in hertz]
    assert next(iter(drawn)).split(": ")[0] == ("mode 1" if natural else "y1, clamped-free 1")
    eta = np.linspace(0, 0.8, 201)
    assert np.all(ax.lines[0].get_xdata() == eta)
    for line, shape in zip(drawn.values(), gd.modes.clamped_free(3).value(eta, 0.8), strict=True):
        assert np.abs(line - shape / shape[-1]).max() < (1e-10 if natural else 1e-14)  # eigenvectors; the same sums
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("abscissa [m]", "shape, largest 1")


def test_each_direction_of_a_link_has_its_panel() -> None:
    beam = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0, GJ=5.0)
    link = gd.FlexibleLink(beam, gd.modes.clamped_free(2), gd.modes.clamped_free(1), torsion=gd.modes.linear())
    axes = plotting.mode_shapes(link)
    assert [ax.get_title(loc="left") for ax in axes] == ["bending, y", "bending, z", "torsion"]
    assert [len(lines(ax)) for ax in axes] == [2, 1, 1]
    assert list(lines(axes[2])) == ["t1, power 1"]  # without section inertia it has no frequency
    assert [len(lines(ax)) for ax in plotting.mode_shapes(link, count=2)] == [2, 0, 0]


def test_an_arm_with_one_bare_beam_has_the_modes_of_the_beam() -> None:
    arm, links = flexible()
    q = np.array([0.3, 0.4, 0, 0, 0])
    (ax,) = plotting.mode_shapes(arm, q, count=2)
    hertz = FREE[:2] ** 2 * np.sqrt(10.0 / (0.45 * 0.8**4)) / (2 * np.pi)
    assert list(lines(ax)) == [f"mode {k + 1}: {f:.4g} Hz" for k, f in enumerate(hertz)]
    for line, shape in zip(
        lines(ax).values(), gd.modes.clamped_free(2).value(np.linspace(0, 0.8, 201), 0.8), strict=True
    ):
        assert np.abs(line - shape / shape[-1]).max() < 1e-9  # eigenvectors
    assert ax.get_title(loc="left") == "link2"
    (again,) = plotting.mode_shapes(pickle.loads(pickle.dumps(arm)), q, links=links, count=2)
    assert {k: line.tolist() for k, line in lines(again).items()} == {k: line.tolist() for k, line in lines(ax).items()}


def test_the_modes_of_two_links_are_on_one_scale() -> None:
    """With links that leave length and modes to the arm; tips against eigenvectors of M⁻¹ K."""
    links = {"link1": gd.FlexibleLink(gd.Beam(None, 0.6, EI_z=10.0)), "link2": gd.FlexibleLink(BEAM)}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    q = np.zeros(arm.tree.nq)
    q[1] = 0.8
    axes = plotting.mode_shapes(arm, q)
    square, vectors = np.linalg.eig(np.linalg.solve(arm.mass_matrix(q).full()[2:, 2:], arm.stiffness_matrix[2:, 2:]))
    order = np.argsort(square)[:3]
    shapes = [gd.modes.craig_bampton(2), gd.modes.clamped_free(4)]
    eta = [np.linspace(0, length, 201) for length in (1.0, 0.8)]
    for k, mode in enumerate(order):
        both = [vectors[4 * i : 4 * i + 4, mode] @ shapes[i].value(eta[i], eta[i][-1]) for i in (0, 1)]
        largest = max(both[0], both[1], key=lambda x: np.abs(x).max())
        scale = largest[np.abs(largest).argmax()]
        for ax, curve in zip(axes, both, strict=True):
            assert (
                np.abs(list(lines(ax).values())[k] - curve / scale).max() < 1e-8
            )  # eigenvectors, of M not symmetrised
    labels = [f"mode {k + 1}: {f / 2 / np.pi:.4g} Hz" for k, f in enumerate(arm.natural_frequencies(q)[:3])]
    assert list(lines(axes[0])) == labels


def test_wrong_modes_are_refused() -> None:
    arm, links = flexible()
    q = np.zeros(arm.tree.nq)
    draw = plotting.mode_shapes
    with pytest.raises(ArgumentTypeError, match="expected a FlexibleLink or FlexibleArm, got Beam"):
        draw(BEAM)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="mode_shapes: an arm vibrates about a configuration; give q"):
        draw(arm)
    with pytest.raises(ArgumentError, match="an arm that was pickled or copied has no shapes of its modes; give links"):
        draw(pickle.loads(pickle.dumps(arm)), q)
    with pytest.raises(ArgumentError, match="q and links go with an arm"):
        draw(links["link2"], q)
    with pytest.raises(ArgumentError, match="natural= goes with a link"):
        draw(arm, q, natural=True)
    with pytest.raises(UnknownNameError, match="no flexible link named 'link1'"):
        draw(arm, q, links={"link1": links["link2"]})
    with pytest.raises(ArgumentError, match=r"link 'link2': this is not the link of 0\.8 m that the arm was made of"):
        draw(arm, q, links={"link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=11.0))})
    with pytest.raises(ArgumentTypeError, match="link 'link2': expected a FlexibleLink, got Beam"):
        draw(arm, q, links={"link2": BEAM})
    with pytest.raises(ArgumentError, match="count: got 0; give at least 1"):
        draw(links["link2"], count=0)
    with pytest.raises(ArgumentTypeError, match=r"count: expected a whole number, got 1\.5"):
        draw(links["link2"], count=1.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="its modes are chosen by its role"):
        draw(gd.FlexibleLink(BEAM))
    with pytest.raises(ArgumentError, match="has no flexible links"):
        draw(gd.FlexibleArm(gd.load_urdf("two_link_flexible")), [0, 0])
    nodes = gd.Nodes(
        masses=[0.0, 0.5],
        positions=[[0, 0, 0], [0.8, 0, 0]],
        translations=[[[0, 0, 0], [0, 1, 0]]],
        stiffness=[[9.0]],
        rotations=[[[0, 0, 0], [0, 0, 1.5]]],
    )
    with pytest.raises(
        UnsupportedError, match="mode_shapes: Nodes have no shapes between them; give a link with a Beam"
    ):
        draw(gd.FlexibleLink(nodes))
    assert pyplot.get_fignums() == []


def test_an_arm_that_only_twists_keeps_its_frequencies() -> None:
    """Its link does not move across; in y and z the other does, on lines of two kinds."""
    twisting = gd.Beam(1.0, 0.6, GJ=5.0, section_inertia=(1e-4, 1e-4))
    bending = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0)
    links = {
        "link1": gd.FlexibleLink(twisting, torsion=gd.modes.linear()),
        "link2": gd.FlexibleLink(bending, gd.modes.clamped_free(1), gd.modes.clamped_free(1)),
    }
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    above, below = plotting.mode_shapes(arm, np.zeros(arm.tree.nq))
    assert not above.lines
    assert [line.get_linestyle() for line in below.lines] == ["-"] * 3 + ["--"] * 3
    (legend,) = below.figure.legends
    hertz = arm.natural_frequencies(np.zeros(arm.tree.nq)) / (2 * np.pi)
    assert [text.get_text() for text in legend.get_texts()] == [
        f"mode {k + 1}: {f:.4g} Hz" for k, f in enumerate(hertz)
    ]
    assert legend.get_title().get_text() == "joints locked, solid y, dashed z"


# Ellipsoids

POSE = np.array([0.3, -0.6, 0.9, 0.2, 0.8, 0.1])
REFERENCES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED, pin.WORLD)


def linear_jacobian(model: pin.Model, reference: pin.ReferenceFrame) -> np.ndarray:
    return pin.computeFrameJacobian(model, model.createData(), POSE, model.getFrameId("tool"), reference)[:3]


def outline(ax: Axes) -> np.ndarray:
    """Its points, from the centre, in metres of the picture."""
    (line,) = (line for line in ax.lines if len(line.get_xdata()) == 181)
    points = np.array(line.get_data())
    return points - (points.max(axis=1, keepdims=True) + points.min(axis=1, keepdims=True)) / 2


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_forces_on_the_outline_need_torques_of_unit_norm(reference: pin.ReferenceFrame, limited: bool) -> None:
    model = gd.load_urdf("puma560")
    limits = model.effortLimit if limited else None
    ax = plotting.force_ellipsoid(model, "tool", POSE, reference, plane="zx", limits=limits, scale=1e3)
    force = np.zeros((3, 181))
    force[[2, 0]] = 1e3 * outline(ax)
    torque = linear_jacobian(model, reference).T @ force / (1 if limits is None else limits[:, None])
    # the centre that is subtracted is that of 181 points
    assert np.abs(np.linalg.norm(torque, axis=0) - 1).max() < 1e-3
    found = ellipsoids._ellipsoid("", model, "tool", POSE, reference, None, limits, inverse=True)
    torque = linear_jacobian(model, reference).T @ found.semi_axes / (1 if limits is None else limits[:, None])
    assert np.linalg.norm(torque, axis=0) == pytest.approx(np.ones(3), rel=1e-9)  # cleaning, 1e-11
    assert torque.T @ torque == pytest.approx(np.eye(3), abs=1e-8)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_velocities_on_the_outline_are_the_largest_of_unit_rates(reference: pin.ReferenceFrame) -> None:
    model = gd.load_urdf("puma560")
    ax = plotting.velocity_ellipsoid(model, "tool", POSE, reference, plane="xy", limits=model.velocityLimit, scale=2.0)
    jacobian = linear_jacobian(model, reference)[:2] * model.velocityLimit
    points = 2 * outline(ax)
    for angle in np.linspace(0, np.pi, 7):
        direction = np.array([np.cos(angle), np.sin(angle)])
        # the largest of d·J v over |v| ≤ 1 is |Jᵀ d|; 181 points miss it by 1 − cos 1°
        assert (direction @ points).max() == pytest.approx(np.linalg.norm(jacobian.T @ direction), rel=2e-4)


def test_the_robot_stands_in_the_axes_of_the_reference() -> None:
    model = gd.load_urdf("puma560")
    data = model.createData()
    pin.framesForwardKinematics(model, data, POSE)
    tool = data.oMf[model.getFrameId("tool")]
    elbow = data.oMi[3].translation

    def drawn(reference: pin.ReferenceFrame) -> np.ndarray:
        ax = plotting.force_ellipsoid(model, "tool", POSE, reference, plane="xz")
        assert ax.get_aspect() == 1
        return np.hstack([line.get_data() for line in ax.lines if line.get_marker() == "o"])

    for reference, point, end in (
        (pin.LOCAL_WORLD_ALIGNED, elbow, tool.translation),
        (pin.LOCAL, tool.actInv(elbow), np.zeros(3)),
    ):
        points = drawn(reference)
        assert np.abs(points - point[[0, 2], None]).max(axis=0).min() < 1e-9
        assert points[:, -1] == pytest.approx(end[[0, 2]], abs=1e-9)


def test_ellipsoids_have_axes_units_and_a_scale() -> None:
    model = gd.load_urdf("puma560")
    ax = plotting.force_ellipsoid(model, "tool", POSE, pin.LOCAL)
    assert ax.name == "3d"
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()] == [f"{x} of tool [m]" for x in "xyz"]
    flat = plotting.velocity_ellipsoid(gd.load_urdf("two_link_arm"), "tip", [0.5, 1.4], pin.WORLD, plane="xz", scale=5)
    assert (flat.get_xlabel(), flat.get_ylabel()) == ("x [m]", "z [m]")
    assert re.fullmatch(
        r"semi-axes \S+, \S+ m/s; 0\.1 m of the picture: 0\.5 m/s", flat.get_legend().get_title().get_text()
    )
    assert flat.get_legend().get_texts()[1].get_text() == "velocities by joint rates of norm 1 [rad/s]"


def test_forces_that_need_no_torque_are_refused_and_flat_velocities_drawn() -> None:
    model = gd.load_urdf("two_link_arm")
    with pytest.raises(ArgumentError, match=r"forces along \(0, -?1, 0\) in xyz need no torque"):
        plotting.force_ellipsoid(model, "tip", [0.5, 1.4], pin.WORLD)
    with pytest.raises(ArgumentError, match=r"forces along \(-?1, 0\) in xz need no torque"):
        plotting.force_ellipsoid(model, "tip", [0, 0], pin.WORLD, plane="xz")
    assert isinstance(plotting.velocity_ellipsoid(model, "tip", [0.5, 1.4], pin.WORLD), Axes)


def test_wrong_ellipsoids_are_refused() -> None:
    model = gd.load_urdf("puma560")
    draw = plotting.force_ellipsoid
    for plane in ("xx", "x", "xw", 1):
        with pytest.raises(ArgumentError, match=f"plane={plane!r}; give two axes, as 'xy', or None for all three"):
            draw(model, "tool", POSE, pin.LOCAL, plane=plane)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no frame named 'tol'; nearest: 'tool'"):
        draw(model, "tol", POSE, pin.LOCAL)
    with pytest.raises(ArgumentTypeError, match=r"reference: expected pin\.LOCAL"):
        draw(model, "tool", POSE, "LOCAL")
    with pytest.raises(ArgumentError, match=r"force_ellipsoid: q has shape \(2,\); give \(6,\)"):
        draw(model, "tool", [0, 0], pin.LOCAL)
    with pytest.raises(ArgumentError, match="limits: 0 of 'joint3'; give positive numbers"):
        draw(model, "tool", POSE, pin.LOCAL, limits=[1, 1, 0, 1, 1, 1])
    with pytest.raises(ArgumentError, match=r"scale: got -1; give one finite number \[N/m\], above 0"):
        draw(model, "tool", POSE, pin.LOCAL, plane="xy", scale=-1)
    with pytest.raises(ArgumentError, match="ax must be 3-D Axes"):
        draw(model, "tool", POSE, pin.LOCAL, ax=Figure().subplots())
    with pytest.raises(ArgumentError, match="ax must be plane Axes"):
        draw(model, "tool", POSE, pin.LOCAL, plane="xy", ax=Figure().add_subplot(projection="3d"))


# Simplified models


def test_errors_stand_beside_their_bounds() -> None:
    simple = gd.PrunedDynamics(gd.load_urdf("puma560"), 0.03, a_max=A_MAX)
    check = simple.check(50, seed=2, corners=True)
    for ax in (plotting.pruning_error(simple, samples=50, seed=2, corners=True), plotting.pruning_error(check)):
        assert ax.get_ylabel() == "torque error [% of the limit]"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == list(simple.tree.velocity_names)
        bound, seen = ([bar.get_height() for bar in bars] for bars in ax.containers)
        assert bound == pytest.approx(100 * simple.bound / simple.limits.tau)
        assert seen == pytest.approx(100 * check.observed / simple.limits.tau)
        assert lines(ax)["RMS error"] == pytest.approx(100 * check.rms / simple.limits.tau)
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert texts == ["bound, guaranteed", "largest of 50 states", "RMS error"]
    with pytest.raises(
        ArgumentTypeError, match="expected a PrunedDynamics or the result of its check, got NewtonEuler"
    ):
        plotting.pruning_error(gd.NewtonEuler(gd.load_urdf("puma560")))  # type: ignore[arg-type]


# Graph sizes and the benchmarks


def test_sizes_are_drawn_in_multiples_of_the_reference() -> None:
    ax = plotting.instructions({"arm": {"N–E": 1000, "other": 2500}, "leg": {"N–E": 400, "other": None}}, "N–E")
    (bars,) = ax.containers
    assert [(bar.get_y(), bar.get_height()) for bar in bars] == [(1, 1.5), (1, 0)]
    assert [text.get_text() for text in ax.texts] == ["2.5", "–"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["arm\n1,000", "leg\n400"]
    assert ax.get_ylabel() == "instructions / N–E"
    with pytest.raises(ArgumentError, match="robot 'leg' has no count for 'N–E'; give one above 0"):
        plotting.instructions({"leg": {"other": 3}}, "N–E")


def test_growth_is_drawn_with_its_texts() -> None:
    counts = {"a": {1: 10, 10: 1000}, "b": {1: 9, 10: 900}}
    corner = plotting.scaling(counts, texts={"a": "$n^2$"})
    assert {name: line.tolist() for name, line in lines(corner).items()} == {"a": [10, 1000], "b": [9, 900]}
    assert (corner.get_xscale(), corner.get_yscale()) == ("log", "log")
    assert (corner.get_xlabel(), corner.get_ylabel()) == ("joints n", "instructions")
    assert [text.get_text() for text in corner.texts] == ["$n^2$"]
    ends = plotting.scaling(counts, texts={"a": "A", "b": "B"}, at_ends=True, key=False)
    assert ends.get_legend() is None
    heights = {text.get_text(): np.log10(text.get_position()[1]) for text in ends.texts}
    assert heights["A"] - heights["B"] == pytest.approx(0.26)  # moved apart


@pytest.mark.parametrize("draw", [plotting.scaling, lambda x: plotting.instructions(x, "N–E")])
def test_counts_that_are_none_are_refused(draw: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected counts as \{name: \{name or n: count\}\}, got (list|dict)"):
        draw([1, 2])
    with pytest.raises(ArgumentTypeError, match="expected counts"):
        draw({"a": 3})
    for empty in ({}, {"a": {}}):
        with pytest.raises(ArgumentError, match="got no counts; give at least one"):
            draw(empty)


def results(name: str) -> str:
    return (robots.HERE / "results" / f"{name}.md").read_text(encoding="utf-8")


def test_recorded_results_are_read_as_they_were_written() -> None:
    assert scaling.table(scaling.recorded()) == results("scaling")
    assert complexity.table(complexity.recorded()) == results("complexity")
    comparison = sizes.recorded()
    text = results("sizes")
    assert list(comparison) == list(sizes.COMPARED)
    for rows in comparison.values():
        assert list(rows) == list(robots.NAMES)
        for name, row in rows.items():
            shown = re.findall(rf"^\| {name} \| {row['N–E']} .*\| ([\d.]+) \|$", text, re.MULTILINE)
            assert f"{row['N–E'] / row['Pinocchio']:.2f}" in shown
    assert "urdf2casadi" not in comparison["inverse_dynamics"]["talos"]
    by_limit, by_use, newton_euler = simplification.recorded()
    assert [f"{allowed:g}" for allowed in by_limit] == [f"{100 * e:g}" for e in simplification.ERRORS if e]
    assert list(by_limit) == list(by_use)
    assert newton_euler == gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics.n_instructions()
    for points in (by_limit, by_use):
        for allowed, (cost, seen) in points.items():
            row = rf"^\| {allowed:g} % \|(?:[^|]*\|){{3}} {cost:g} \|(?:[^|]*\|){{3}} {seen:g} % \|"
            assert re.search(row, results("simplification"), re.MULTILINE)


@pytest.mark.parametrize("script", [sizes, scaling, complexity, simplification], ids=lambda script: script.__name__)
def test_figures_are_drawn_again_from_the_results(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = script.__name__
    (tmp_path / f"{name}.md").write_text(results(name), encoding="utf-8")
    monkeypatch.setattr(script, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", [name, "--redraw"])
    script.main()
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / f"{name}.md").read_text(encoding="utf-8") == results(name)
    assert pyplot.get_fignums() == []


def test_without_matplotlib_a_benchmark_writes_its_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    for name in [name for name in sys.modules if name.startswith("gdalembert.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(gd, "plotting")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match=r"scaling\.md is written, scaling\.png is not: pip install"):
        tables.write("scaling", "text", lambda: scaling.draw(scaling.recorded()))


# The gallery


def make_gallery() -> ModuleType:
    return script(ROOT / "docs" / "make_gallery.py")


def test_every_figure_has_its_picture_in_the_gallery() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    pictures = [picture for _, picture in make_gallery().steps() if picture]
    assert sorted(pictures) == sorted(set(re.findall(r"\]\((images/\w+\.png)\)", page)))
    there = sorted((ROOT / "docs" / "images").glob("gallery_*.png"))
    assert [path.name for path in there] == sorted(Path(picture).name for picture in pictures)
    assert [path.name for path in there if path.stat().st_size > 120_000] == []
    code = "".join(code for code, _ in make_gallery().steps())
    assert [name for name in plotting.__all__ if f"plotting.{name}(" not in code] == []


def test_the_gallery_makes_its_pictures_from_its_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery = make_gallery()
    page = "```python\nimport matplotlib.pyplot as plt\n```\ntext\n```python\nplt.plot([1, 2])\n```\n\n"
    (tmp_path / "gallery.md").write_text(page + "![a line](images/gallery_line.png)\n", encoding="utf-8")
    monkeypatch.setattr(gallery, "HERE", tmp_path)
    monkeypatch.setattr(gallery, "PAGE", tmp_path / "gallery.md")
    gallery.main()
    assert (tmp_path / "images" / "gallery_line.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.startswith("images/gallery_line.png ")


# The command


def plot(*arguments: str) -> int:
    return cli.main(["plot", *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        ("torque-decomposition", "puma560", "--joint", "joint2", "--by", "link"),
        ("torque-decomposition", "two_link_arm", "--free-flyer", "--seed", "3"),
        ("force-ellipsoid", "puma560", "--frame", "tool", "--limits", "--q=-0.3,-0.6,0.9,0.2,0.8,0.1"),
        ("velocity-ellipsoid", "two_link_arm", "--plane", "xz", "--reference", "local"),
    ],
    ids=" ".join,
)
def test_the_command_writes_a_picture(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "picture.png"
    assert plot(*arguments, "--output", str(output)) == 0
    assert output.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == f"{output}\n"
    assert pyplot.get_fignums() == []


def test_a_picture_has_a_name_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plot("force-ellipsoid", "panda7") == 0
    assert capsys.readouterr().out == "force-ellipsoid_panda7.png\n"
    assert (tmp_path / "force-ellipsoid_panda7.png").read_bytes().startswith(b"\x89PNG")


def test_the_other_figures_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plot("torque-decomposition", "puma560", "--limits", "--output", str(tmp_path / "x.png")) == 2
    message = "--limits: torque-decomposition does not use it, force-ellipsoid and velocity-ellipsoid do; leave it out"
    assert message in capsys.readouterr().err


def test_the_command_draws_what_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    own = plotting.force_ellipsoid
    monkeypatch.setattr(plotting, "force_ellipsoid", lambda *args, **kw: given.append((args, kw)) or own(*args, **kw))
    model, output = gd.load_urdf("puma560"), ("--output", str(tmp_path / "x.png"))
    for arguments in ((), ("--seed", "7"), ("--limits", "--frame", "tool", "--reference", "local", "--plane", "xz")):
        assert plot("force-ellipsoid", "puma560", *arguments, *output) == 0
    (_, frame, _, reference), options = given[0]
    assert (frame, reference, options) == (model.nframes - 1, pin.LOCAL_WORLD_ALIGNED, {"plane": None, "limits": None})
    for seed, (args, _) in zip((0, 7), given, strict=False):
        assert np.array_equal(args[2], np.random.default_rng(seed).uniform(-1, 1, 6))
    (_, frame, _, reference), options = given[2]
    assert (frame, reference, options["plane"]) == ("tool", pin.LOCAL, "xz")
    assert np.array_equal(options["limits"], model.effortLimit)


def test_a_random_motion_goes_from_rest_to_rest_along_its_own_rates() -> None:
    """v and a are the rates of q: differences of fourth order over 5 ms, of a motion of one second."""
    model = tree_with_everything()
    t, q, v, a = command.random_motion(model, 1.0, 0)
    assert np.abs(v[[0, -1]]).max() == np.abs(a[[0, -1]]).max() == 0
    h = t[1]
    steps = np.array(
        [pin.difference(model, q[k], q[k + 1]) - pin.difference(model, q[k], q[k - 1]) for k in range(1, 200)]
    )
    assert np.abs(steps / (2 * h) - v[1:-1]).max() < 3 * h**2 * 60
    assert np.abs((v[2:] - v[:-2]) / (2 * h) - a[1:-1]).max() < h**2 * 360
    for duration in (0.0, np.inf):
        with pytest.raises(ArgumentError, match=r"--duration .*: give a positive number of seconds"):
            command.random_motion(model, duration, 0)


def test_a_trajectory_is_read_from_a_file(tmp_path: Path) -> None:
    """Parabolas, of which differences are exact."""
    model = gd.load_urdf("two_link_arm")
    t = np.linspace(0, 1, 11)
    q = np.column_stack([t**2, 1 - 2 * t])
    path = tmp_path / "motion.csv"
    np.savetxt(path, np.column_stack([t, q]), delimiter=",")
    found = command.read_motion(model, path)
    v, a = np.column_stack([2 * t, 0 * t - 2]), np.column_stack([0 * t + 2, 0 * t])
    for array, true in zip(found, (t, q, v, a), strict=True):
        assert array == pytest.approx(true, abs=1e-12)
    np.savetxt(path, np.column_stack([t, q, v + 1, a + 1]), delimiter=",")
    assert np.all(command.read_motion(model, path)[2] == v + 1)
    assert (
        plot("torque-decomposition", "two_link_arm", "--trajectory", str(path), "--output", str(tmp_path / "a.svg"))
        == 0
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,0\n1,0\n2,0\n", r"has 2 columns; give 3 \(t, q\) or 7 \(t, q, v, a\)"),
        ("0,0,0\n1,1,1\n", "v and a need at least three rows, each later than the last"),
        ("0,0,0\n0,1,1\n1,2,2\n", "v and a need at least three rows, each later than the last"),
        ("t,q,q\n", "give numbers with commas between them"),
    ],
)
def test_wrong_files_are_refused(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "motion.csv").write_text(rows)
    with pytest.raises(ArgumentError, match=message):
        command.read_motion(gd.load_urdf("two_link_arm"), tmp_path / "motion.csv")


@pytest.mark.parametrize(
    ("arguments", "output", "message"),
    [
        ((), "picture.txt", "the format of a picture is its ending; give one as picture.png"),
        (("--q", "1,x"), "picture.png", "--q 1,x: give numbers, as 0,0.5,-1"),
        (("--joint", "joint2"), "picture.png", "--joint: force-ellipsoid does not use it, torque-decomposition does"),
        (("--by", "kind"), "picture.png", "--by: force-ellipsoid does not use it, torque-decomposition does; leave"),
        (("--q", "0,0,0,0,inf,0"), "picture.png", "--q 0,0,0,0,inf,0: number 5 of 6 is inf; give finite numbers"),
        (("--q", "1,2"), "picture.png", "--q 1,2: puma560 takes 6 finite numbers, and these are 2"),
        (("--plane", "xx"), "picture.png", "plane"),
    ],
)
def test_wrong_commands_are_refused(
    arguments: tuple[str, ...], output: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plot("force-ellipsoid", "puma560", *arguments, "--output", str(tmp_path / output)) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("gdalembert: error: ")
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert pyplot.get_fignums() == []

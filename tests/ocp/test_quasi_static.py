"""Natural modes that follow their loads without inertia."""

from __future__ import annotations

import re
from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import neutral
from gdalembert.ocp.system.system import extrapolation
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick

pytestmark = pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")

MODEL = gd.load_urdf("two_link_flexible")
END = [0.8, -0.6]


def arm(stiffness: float = 10.0, model: pin.Model = MODEL) -> gd.FlexibleArm:
    """Frequencies of 0.8, 4.8, 17 and 59 Hz, joints locked, with 10 N m²."""
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=stiffness), "link2": gd.Beam(0.8, 0.45, EI_z=stiffness)}
    links = {name: gd.FlexibleLink(beam, bending_y=gd.modes.hermite()) for name, beam in beams.items()}
    return gd.FlexibleArm(model, links)


def continuous() -> pin.Model:
    """The arm whose elbow turns without end."""
    text = (ROOT / "urdf" / "two_link_flexible.urdf").read_text(encoding="utf-8")
    turned = text.replace('name="joint2" type="revolute"', 'name="joint2" type="continuous"')
    return gd.load_urdf(turned, check="off")


def least_effort(dyn: gd.Dynamics, quasi_static: float | None = None, intervals: int = 10) -> ocp.Solution:
    problem = ocp.Problem(dyn, 2.0, intervals, control="linear", quasi_static=quasi_static)
    start = neutral(dyn.tree)
    problem.start(start)
    problem.end(gd.Kinematics(dyn.tree).integrate(start, [*END, *np.zeros(dyn.tree.nv - 2)]))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve()


@pytest.mark.parametrize("c", [[0.5], [0.2, 0.7], [0.1, 0.5, 0.9]])
def test_polynomials_are_extrapolated(c: list[float]) -> None:
    at = np.array(c)
    powers = np.arange(len(at))
    begin, end = extrapolation(at)
    np.testing.assert_allclose(begin @ at[:, None] ** powers, [1.0, *np.zeros(len(at) - 1)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(end @ at[:, None] ** powers, np.ones(len(at)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", quick([lambda: MODEL, continuous], continuous), ids=["revolute", "continuous"])
def test_stiff_modes_follow_their_loads(make: Callable[[], pin.Model]) -> None:
    """All equations of the arm hold at the stages; modes above 11 Hz have no velocity and no acceleration."""
    dyn = arm(model=make())
    solution = least_effort(dyn, 11.0, intervals=4)
    stages = solution.stages
    left = dyn.inverse_dynamics(stages.q.T, stages.v.T, stages.a.T).full()
    left[:2] -= stages.u.T
    assert np.abs(left).max() < 1e-9
    frequencies, shapes = dyn.natural_modes(neutral(dyn.tree))
    assert (frequencies / (2 * np.pi) > 11).tolist() == [False, False, True, True]
    for rows in (solution.v, stages.v, stages.a):
        natural = np.linalg.solve(shapes[2:], rows[:, 2:].T)
        assert np.abs(natural[2:]).max() < 1e-9 * np.abs(natural[:2]).max()
    assert np.abs(np.linalg.solve(shapes[2:], stages.q[:, -4:].T)[2:]).max() > 1e-5


@pytest.mark.long
def test_modes_follow_their_loads_beside_rotors() -> None:
    """All equations hold at the stages; the rotor of the flexible joint has inertia, modes above 11 Hz have none."""
    rotor = {"joint1": gd.FlexibleJoint(stiffness=300.0, rotor_inertia=1.0, damping=0.1)}
    dyn = gd.FlexibleArm(MODEL, arm().links, rotor)
    problem = ocp.Problem(dyn, 2.0, 4, control="linear", quasi_static=11.0)
    problem.start(np.zeros(7))
    problem.end([*END, 0, 0, 0, 0, END[0]])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    stages = solution.stages
    left = dyn.inverse_dynamics(stages.q.T, stages.v.T, stages.a.T).full() - dyn.actuation @ stages.u.T
    assert np.abs(left).max() < 1e-9
    shapes = dyn.natural_modes(np.zeros(7), joints="locked")[1]
    shapes = shapes[:, np.abs(shapes[-1]) < 1e-9][2:6]  # without that of the rotor
    for rows in (solution.v, stages.v, stages.a):
        natural = np.linalg.solve(shapes, rows[:, 2:6].T)
        assert np.abs(natural[2:]).max() < 1e-9 * np.abs(natural[:2]).max()
    assert np.abs(np.linalg.solve(shapes, stages.q[:, 2:6].T)[2:]).max() > 1e-5
    assert np.abs(stages.a[:, -1]).max() > 0.1
    np.testing.assert_allclose(solution.q[[0, -1]][:, [0, 1, 6]], [[0, 0, 0], [*END, END[0]]], rtol=0, atol=1e-9)


@pytest.mark.long
def test_phases_are_one_motion_in_parts() -> None:
    """Of the same cost: nothing but the slow states connects two intervals, in one phase or in two."""

    def problem(duration: float, intervals: int) -> ocp.Problem:
        made = ocp.Problem(arm(), duration, intervals, quasi_static=0.1)
        made.minimize(made.integral(lambda u: ca.sumsqr(u)))
        return made

    whole, first, last = problem(1.5, 3), problem(1.0, 2), problem(0.5, 1)
    for begin, end in ((whole, whole), (first, last)):
        begin.start(np.zeros(6))
        end.end([*END, 0, 0, 0, 0])
    parts = ocp.Phases([first, last]).solve()
    assert parts.cost == pytest.approx(whole.solve().cost, rel=1e-6)


@pytest.mark.filterwarnings("error")
def test_what_no_stage_resolves_is_said_before_the_solve() -> None:
    """By the problem itself, unless quasi_static=None."""
    stiff_joint = {"joint1": gd.FlexibleJoint(stiffness=1e6, rotor_inertia=0.1)}
    rotor, held = (
        gd.FlexibleArm(MODEL, joints=stiff_joint),
        gd.ConstrainedDynamics(arm(), [gd.Contact("tip", rows=("x", "y", "rz"))]),
    )
    cases: list[tuple[gd.Dynamics | gd.ConstrainedDynamics, str, dict[str, str]]] = [
        (rotor, "503 Hz have .* periods in an interval, .* since the steps are explicit", {"method": "rk4"}),
        (arm(), "59 Hz have 59 periods in an interval, .* since the steps are explicit", {"method": "rk4"}),
        (held, r"59 Hz have 5.9e\+02 periods in an interval, .* since Contact\('tip', .*\) holds by them alone", {}),
    ]
    for dyn, message, options in cases:
        duration = 20.0 if dyn is held else 2.0
        with pytest.warns(ocp.SolutionWarning, match=rf"^Problem: two_link_flexible: vibrations of up to {message}"):
            ocp.Problem(dyn, duration, 2, **options)  # type: ignore[arg-type]
        ocp.Problem(dyn, duration, 2, quasi_static=None, **options)  # type: ignore[arg-type]
    with pytest.raises(
        UnsupportedError, match=r"^quasi_static=0.1 Hz: two_link_flexible: Contact\('tip', .* by modes above it"
    ):
        ocp.Problem(held, 2.0, 2, quasi_static=0.1)
    ocp.Problem(arm(), 2.0, 2)
    ocp.Problem(rotor, 2.0, 2)  # which collocation takes, however stiff its spring is


@pytest.mark.long
def test_plans_tend_to_those_of_the_rigid_robot() -> None:
    """As 1/stiffness: plans, and what the arm with all its inertia makes of them."""
    rigid = least_effort(gd.NewtonEuler(MODEL))
    apart, missed = [], []
    for stiffness in (1e2, 1e3):
        dyn = arm(stiffness)
        plan = least_effort(dyn, 0.1)
        tip = dyn.tip_placement("link2")
        apart.append(np.abs(plan.q[:, :2] - rigid.q).max())
        missed.append(float(ca.norm_fro(tip(plan.simulate().q[-1]) - tip(plan.q[-1]))))
    assert apart[0] < 0.02
    assert missed[0] < 0.02
    assert apart[1] < apart[0] / 8
    assert missed[1] < missed[0] / 8


@pytest.mark.long
def test_what_cannot_follow_its_load() -> None:
    joints = {"joint1": gd.FlexibleJoint(stiffness=1e3, rotor_inertia=0.1)}
    with pytest.raises(UnsupportedError, match=r"^quasi_static: two_link_flexible has no modes; leave it out"):
        ocp.Problem(gd.NewtonEuler(MODEL), 1.0, 2, quasi_static=10.0)
    with pytest.raises(UnsupportedError, match=r"^quasi_static: two_link_flexible has no modes; leave it out"):
        ocp.Problem(gd.FlexibleArm(MODEL, joints=joints), 1.0, 2, quasi_static=10.0)
    with pytest.raises(UnsupportedError, match=r"^two_link_flexible: method='rk4' has no unknowns for quasi_static"):
        ocp.Problem(arm(), 1.0, 2, quasi_static=10.0, method="rk4")
    highest = re.escape("no mode of two_link_flexible is above it, the highest is at 58.9")
    with pytest.raises(ArgumentError, match=rf"^quasi_static=100 Hz: {highest}"):
        ocp.Problem(arm(), 1.0, 2, quasi_static=100.0)
    problem = ocp.Problem(arm(), 1.0, 2, quasi_static=10.0)
    with pytest.raises(
        ArgumentError, match=r"^start: q fixes some modal coordinates; with quasi_static fix all of them, .*=None"
    ):
        problem.start({"link1 y1": 0.0})
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    with pytest.raises(
        UnsupportedError,
        match=r"^Phases: of the fast modes 2 in phase 1 follow their loads, 0 in phase 2; give .*=9.08 \(Hz\)",
    ):
        ocp.Phases([problem, ocp.Problem(arm(), 1.0, 2, quasi_static=None)])


def stiff(dyn: gd.Dynamics, duration: float | tuple[float, float], intervals: int, **options: object) -> int:
    """The number of modes that follow their loads."""
    return ocp.Problem(dyn, duration, intervals, **options)._system.stiff  # type: ignore[arg-type]


@pytest.mark.long
def test_modes_that_intervals_cannot_resolve_follow_their_loads() -> None:
    """Of 0.8, 4.8, 17 and 59 Hz those of more than four periods in an interval, by default."""
    dyn = arm()
    assert [stiff(dyn, 2.0, n) for n in (4, 10, 40)] == [2, 1, 0]
    assert [stiff(dyn, (2.0, 5.0), n) for n in (4, 10, 40)] == [2, 1, 0]
    assert stiff(dyn, 2.0, 4, quasi_static="auto") == 2
    assert stiff(dyn, 2.0, 4, quasi_static=None) == 0
    assert stiff(dyn, 2.0, 4, quasi_static=4.0) == 3
    with pytest.raises(ArgumentError, match=r"^quasi_static"):
        stiff(dyn, 2.0, 4, quasi_static="none")


@pytest.mark.long
def test_modes_vibrate_where_they_cannot_follow_their_loads() -> None:
    joints = {"joint1": gd.FlexibleJoint(stiffness=1e6, rotor_inertia=0.1)}
    beam = gd.Beam(1.0, 0.6, EI_z=10.0)
    link = {"link1": gd.FlexibleLink(beam, bending_y=gd.modes.hermite())}
    designed = gd.FlexibleArm(MODEL, link, parameters={"stiffness": True})
    assert stiff(designed, 2.0, 1) > 0
    assert stiff(designed, 2.0, 1, design={designed.parameters.names[0]: (1.0, 2.0)}) > 0
    assert stiff(gd.FlexibleArm(MODEL, joints=joints), 2.0, 1) == 0
    assert stiff(arm(), 2.0, 1, method="rk4") == 0
    assert stiff(gd.NewtonEuler(MODEL), 2.0, 1) == 0


@pytest.mark.long
def test_a_design_whose_fast_modes_follow_their_loads() -> None:
    """The equations hold with the stiffness that was found."""
    dyn = gd.FlexibleArm(MODEL, arm().links, parameters={"stiffness": True})
    name = dyn.parameters.names[0]
    problem = ocp.Problem(dyn, 2.0, 4, control="linear", design={name: (0.5, 2.0)}, quasi_static=11.0)
    problem.start(np.zeros(6))
    problem.end([*END, 0, 0, 0, 0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)) + problem.p[0] ** 2)
    solution = problem.solve()
    stages, p = solution.stages, np.tile(solution.p[:, None], len(solution.stages.t))
    left = dyn.inverse_dynamics(stages.q.T, stages.v.T, stages.a.T, p).full()
    left[:2] -= stages.u.T
    # IPOPT relaxes bounds by 1e-8, and p is what it found, moved onto its bound.
    assert np.abs(left).max() < 1e-7
    assert solution.p[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.long
def test_a_failure_names_modes_that_are_too_fast() -> None:
    def said(**options: object) -> str:
        problem = ocp.Problem(arm(), 2.0, 10, **options)  # type: ignore[arg-type]
        problem.start(np.zeros(6))
        problem.end([*END, 0, 0, 0, 0])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        with pytest.raises(ocp.OptimizationError) as caught:
            problem.solve(options={"ipopt.max_iter": 0})
        return str(caught.value)

    follow = "times in an interval; let them follow their loads, quasi_static=5, or take more intervals"
    assert f"modes of up to 59 Hz vibrate 12 {follow}" in said(quasi_static=None)
    assert f"modes of up to 17.2 Hz vibrate 3.4 {follow}" in said()
    assert "follow" not in said(quasi_static=2.0)


BOOM = """<robot name="boom"><link name="base"/>
<joint name="yaw" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="20" velocity="3"/></joint>
<link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="0.5"/>
<inertia ixx="1e-4" iyy="0.04" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pitch" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="10" velocity="3"/></joint>
<link name="lower"><inertial><origin xyz="0.4 0 0"/><mass value="0.3"/>
<inertia ixx="1e-4" iyy="0.016" izz="0.016" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hold" type="fixed"><parent link="lower"/><child link="load"/><origin xyz="0.8 0 0"/></joint>
<link name="load"><inertial><mass value="0.5"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link")
@pytest.mark.parametrize(("few", "intervals"), [(True, 12), (False, 40)])
def test_a_spatial_boom_in_gravity_is_planned_as_it_is_posed(few: bool, intervals: int) -> None:
    """10 coordinates up to 280 Hz, of which all are not solved for after 120, and 18 of default modes up to 1200 Hz."""
    model = gd.load_urdf(BOOM)
    tube = gd.Beam.tube(None, outer_diameter=0.02, wall=0.001, density=2700, youngs_modulus=70e9)
    modes = {name: gd.modes.hermite() for name in ("bending_y", "bending_z")} if few else {}
    links = {"upper": gd.FlexibleLink(tube, **modes), "lower": gd.FlexibleLink(tube, to="load", **modes)}
    dyn = gd.FlexibleArm(model, links)
    assert dyn.tree.nq == (10 if few else 18)
    problem = ocp.Problem(dyn, 1.0, intervals, bounds=ocp.Bounds.of(dyn, model), control="linear")
    still = np.zeros(dyn.tree.nq - 2)
    problem.start(dyn.static_deflection([0, 0, *still]))
    problem.end(dyn.static_deflection([1.2, -0.4, *still]))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve(options={"ipopt.max_iter": 120})
    assert solution.constraint_violation < 1e-6
    assert solution.cost < 90

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
from gdalembert.ocp.quasi_static import extrapolation
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
    with pytest.raises(UnsupportedError, match=r"^quasi_static: two_link_flexible has rotors, whose inertia counts"):
        ocp.Problem(gd.FlexibleArm(MODEL, joints=joints), 1.0, 2, quasi_static=10.0)
    with pytest.raises(UnsupportedError, match=r"^two_link_flexible: method='rk4' has no unknowns for quasi_static"):
        ocp.Problem(arm(), 1.0, 2, quasi_static=10.0, method="rk4")
    highest = re.escape("no mode of two_link_flexible is above it, the highest is at 58.9")
    with pytest.raises(ArgumentError, match=rf"^quasi_static=100 Hz: {highest}"):
        ocp.Problem(arm(), 1.0, 2, quasi_static=100.0)
    problem = ocp.Problem(arm(), 1.0, 2, quasi_static=10.0)
    with pytest.raises(
        ArgumentError, match=r"^start: q fixes some modal coordinates; with quasi_static fix all of them"
    ):
        problem.start({"link1 y1": 0.0})
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    with pytest.raises(UnsupportedError, match=r"^Phases: a phase has quasi_static modes"):
        ocp.Phases([problem, ocp.Problem(arm(), 1.0, 2)])

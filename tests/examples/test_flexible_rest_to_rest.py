"""``examples/flexible_rest_to_rest.py``: the flexible plan leaves next to no vibration, and both plans are optima."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

RIGID, FLEXIBLE = 0, 1


@pytest.fixture(scope="module")
def run() -> Iterator[SimpleNamespace]:
    """The script on its coarse grid, and what its functions gave."""
    script = example("flexible_rest_to_rest")
    seen = SimpleNamespace(script=script, problems=[], plans=[], motions={})

    def problem(*arguments: object, original=script.problem) -> ocp.Problem:
        seen.problems.append(original(*arguments))
        return seen.problems[-1]

    def follow(plan: ocp.Solution, arm: gd.FlexibleArm, servo: bool, after: float, original=script.follow) -> object:
        if not any(plan is known for known in seen.plans):
            seen.plans.append(plan)
        which = next(i for i, known in enumerate(seen.plans) if known is plan)
        seen.arm = arm
        seen.motions[which, servo] = original(plan, arm, servo, after)
        return seen.motions[which, servo]

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(script, "problem", problem)
        patch.setattr(script, "follow", follow)
        script.main(["--coarse"])
        yield seen


@pytest.mark.parametrize("servo", [True, False])
def test_the_flexible_plan_leaves_a_twentieth_of_the_vibration(run: SimpleNamespace, servo: bool) -> None:
    left = [run.script.residual(run.motions[which, servo]) for which in (RIGID, FLEXIBLE)]
    assert left[RIGID] > 0.03  # m
    assert left[RIGID] > 20 * left[FLEXIBLE]


@pytest.mark.parametrize("servo", [True, False])
def test_little_energy_is_left_too(run: SimpleNamespace, servo: bool) -> None:
    """At the end of the plan; it goes with the square of the vibration."""
    left = []
    for which in (RIGID, FLEXIBLE):
        motion = run.motions[which, servo].simulation
        q, v = motion.at(run.script.DURATION)
        left.append(float(run.arm.kinetic_energy(q, v) + run.arm.elastic_energy(q)))
    assert left[RIGID] > 20**2 * left[FLEXIBLE]


def test_the_arm_has_more_modes_than_the_plan_knows(run: SimpleNamespace) -> None:
    assert run.arm.tree.nv == 10
    assert run.plans[FLEXIBLE].dyn.tree.nv == 7


def test_motors_stay_within_their_limits_and_energies_balance(run: SimpleNamespace) -> None:
    limits = gd.load_urdf("two_link_flexible").effortLimit
    for motion in run.motions.values():
        assert np.all(np.abs(motion.simulation.u) <= limits)
        assert motion.simulation.relative_balance < 1e-5  # tolerances of the integrator: 1e-6


def test_the_servo_holds_the_joints_at_the_goal(run: SimpleNamespace) -> None:
    """Of the arm that does not vibrate; without it they stay close, as nothing moves them."""
    for servo, close in ((True, 1e-4), (False, 1e-3)):
        end = run.motions[FLEXIBLE, servo].simulation.q[-1, :2]
        assert end == pytest.approx(run.script.GOAL, abs=close)


def test_the_rigid_plan_obeys_pinocchio(run: SimpleNamespace) -> None:
    model, stages = gd.load_urdf("two_link_flexible"), run.plans[RIGID].stages
    data = model.createData()
    for q, v, a, u in zip(stages.q, stages.v, stages.a, stages.u, strict=True):
        assert pin.rnea(model, data, q, v, a) == pytest.approx(u, abs=2e-7)  # the solver's 1e-8 of 20 N m


def test_the_flexible_plan_obeys_the_forward_dynamics(run: SimpleNamespace) -> None:
    """They are another recursion than the inverse dynamics of the problem."""
    plan = run.plans[FLEXIBLE]
    stages = plan.stages
    xdot = plan.dyn.state_derivative(np.hstack([stages.q, stages.v]).T, stages.u.T).full()[7:].T
    assert xdot == pytest.approx(stages.a, abs=1e-5 * np.abs(stages.a).max())  # residuals of 1e-8 over light modes


def test_plans_go_from_rest_to_rest(run: SimpleNamespace) -> None:
    for plan in run.plans:
        goal = np.zeros(plan.dyn.tree.nq)
        goal[:2] = run.script.GOAL
        assert plan.q[0] == pytest.approx(0, abs=1e-8)
        assert plan.q[-1] == pytest.approx(goal, abs=1e-8)
        assert plan.v[[0, -1]] == pytest.approx(0, abs=1e-8)
        assert plan.u[[0, -1]] == pytest.approx(0, abs=2e-7)
        assert plan.duration == pytest.approx(run.script.DURATION, rel=1e-12)
        assert not plan.excess
        assert plan.constraint_violation < 2e-7


def test_plans_simulated_end_where_they_should(run: SimpleNamespace) -> None:
    for plan, close in zip(run.plans, (1e-5, 3e-4), strict=True):  # of the modes up to 115 Hz what 160 steps leave
        assert plan.simulate().q[-1] == pytest.approx(plan.q[-1], abs=close)


def test_plans_are_stationary(run: SimpleNamespace) -> None:
    """The gradient of the Lagrangian vanishes; that of the cost alone is of order one."""
    for problem in run.problems:
        solver = problem.solver()
        solver()
        assert solver.stationarity() < 1e-6


def test_plans_cost_little(run: SimpleNamespace) -> None:
    """Less than the polynomial; and rest for the modes costs the flexible plan some more than the rigid one."""
    rigid, flexible = run.plans
    polynomial = ocp.rest_to_rest(rigid.dyn, np.zeros(2), run.script.GOAL, run.script.DURATION, len(rigid.t))
    rates = np.diff(polynomial.u, axis=0) / np.diff(polynomial.t)[:, None]
    efforts = np.sum(polynomial.u**2) + run.script.SMOOTHING * np.sum(rates**2)  # torques are zero at both ends
    naive = efforts * polynomial.t[1]
    assert 4.6 < rigid.cost < 4.61 < flexible.cost < 4.68
    assert flexible.cost < 0.95 * naive


def test_deflection_is_that_of_the_shapes(run: SimpleNamespace) -> None:
    """Clamped-free modes are 2 or −2 at the tip; joints and a straight link 1 change nothing."""
    q = np.array([[0.3, -0.5, 0, 0, 0, 0, 1e-2, 2e-3, 3e-4, 4e-5]])
    expected = 2 * np.array([1, -1, 1, -1]) @ q[0, 6:]
    assert run.script.tip_deflection(run.arm, q) == pytest.approx([expected], rel=1e-9)


def test_frequencies_are_those_it_speaks_of(run: SimpleNamespace) -> None:
    """The first mode with joints held; and the highest of the plan's, with free joints, half-way."""
    assert run.arm.natural_frequencies(np.zeros(10))[0] / (2 * np.pi) == pytest.approx(0.80, abs=0.005)
    plan = run.plans[FLEXIBLE]
    mass = plan.dyn.mass_matrix(np.append(np.divide(run.script.GOAL, 2), np.zeros(5))).full()
    highest = np.sqrt(np.linalg.eigvals(np.linalg.solve(mass, plan.dyn.stiffness_matrix)).real.max()) / (2 * np.pi)
    assert highest == pytest.approx(115, abs=0.5)
    assert plan.t[1] < 1 / highest

"""``examples/payload_lifting.py``: statics take the sag away, and the plan that knows the payload keeps the limits."""

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


@pytest.fixture(scope="module")
def run() -> Iterator[SimpleNamespace]:
    """The script on its coarse grid, and what its functions gave."""
    script = example("payload_lifting")
    seen = SimpleNamespace(script=script, models=[], problems=[], plans=[], lifts=[])

    def problem(model: pin.Model, intervals: int, original=script.problem) -> ocp.Problem:
        seen.models.append(model)
        seen.problems.append(original(model, intervals))
        return seen.problems[-1]

    def follow(plan: ocp.Solution, *arguments: object, original=script.follow) -> object:
        if not any(plan is known for known in seen.plans):
            seen.plans.append(plan)
        seen.lifts.append(original(plan, *arguments))
        return seen.lifts[-1]

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(script, "problem", problem)
        patch.setattr(script, "follow", follow)
        script.main(["--coarse"])
        yield seen


def test_the_payload_is_in_the_loaded_model(run: SimpleNamespace) -> None:
    """Its weight is what the statics say, and it is 3 kg."""
    bare, loaded = run.models
    weight = gd.payload_torques(bare, run.script.TOOL, run.script.MASS, run.script.CENTER)
    for q in (run.script.START, run.script.GOAL):
        gravity = [pin.computeGeneralizedGravity(model, model.createData(), q) for model in run.models]
        assert gravity[1] - gravity[0] == pytest.approx(weight(q).full().ravel(), abs=1e-9)  # constants are cleaned
    masses = [pin.computeTotalMass(model) for model in (bare, loaded)]
    assert masses[1] - masses[0] == pytest.approx(run.script.MASS, rel=1e-12)


def test_plans_obey_pinocchio(run: SimpleNamespace) -> None:
    for model, plan in zip(run.models, run.plans, strict=True):
        data, stages = model.createData(), plan.stages
        for q, v, a, u in zip(stages.q, stages.v, stages.a, stages.u, strict=True):
            assert pin.rnea(model, data, q, v, a) == pytest.approx(u, abs=1e-5)  # the solver's 1e-7 of 87 N m


def test_plans_keep_the_limits_and_one_reaches_them(run: SimpleNamespace) -> None:
    used = []
    for model, plan in zip(run.models, run.plans, strict=True):
        for q, v in ((plan.q, plan.v), (plan.stages.q, plan.stages.v)):
            assert np.all(q >= model.lowerPositionLimit - 1e-7)
            assert np.all(q <= model.upperPositionLimit + 1e-7)
            assert np.all(np.abs(v) <= model.velocityLimit + 1e-7)
        used.append(np.abs(plan.u / model.effortLimit).max())
        assert plan.constraint_violation < 1e-6
    assert used[0] < 0.8
    assert used[1] == pytest.approx(run.script.PLANNED, abs=1e-6)


def test_plans_go_from_rest_to_rest(run: SimpleNamespace) -> None:
    for model, plan in zip(run.models, run.plans, strict=True):
        assert plan.v[[0, -1]] == pytest.approx(0, abs=1e-7)
        assert plan.duration == pytest.approx(run.script.DURATION, rel=1e-12)
        for row, q in ((0, run.script.START), (-1, run.script.GOAL)):
            assert plan.q[row] == pytest.approx(q, abs=1e-7)
            holding = pin.computeGeneralizedGravity(model, model.createData(), q)
            assert plan.u[row] == pytest.approx(holding, abs=1e-5)


def test_plans_simulated_end_where_they_should(run: SimpleNamespace) -> None:
    for plan in run.plans:
        assert plan.simulate().q[-1] == pytest.approx(plan.q[-1], abs=1e-2)  # no servo: the wrist drifts


def test_plans_are_stationary(run: SimpleNamespace) -> None:
    """The gradient of the Lagrangian vanishes; that of the cost alone does not."""
    for problem in run.problems:
        solver = problem.solver()
        solver()
        assert solver.stationarity() < 1e-4


def test_plans_cost_little(run: SimpleNamespace) -> None:
    """Less than the polynomial, which breaks limits besides; and the payload costs."""
    naive, used = [], []
    for model, plan in zip(run.models, run.plans, strict=True):
        straight = ocp.rest_to_rest(plan.dyn, run.script.START, run.script.GOAL, run.script.DURATION, 201)
        parts = straight.u / model.effortLimit
        squares = np.sum(parts**2, axis=1)
        naive.append(np.sum(squares[1:] + squares[:-1]) / 2 * straight.t[1])  # and it changes torques at no cost
        used.append(np.abs(parts).max())
    assert used[1] > 1
    bare, loaded = run.plans
    assert 0.38 < bare.cost < 0.40 < naive[0]
    assert 0.86 < loaded.cost < 0.89 < naive[1]


def test_the_servo_alone_sags_as_its_stiffness_says(run: SimpleNamespace) -> None:
    """K (goal − q) + torques of the plan's end = gravity of the loaded robot."""
    bare, loaded = run.models
    goal = q = run.script.GOAL
    held = pin.computeGeneralizedGravity(bare, bare.createData(), goal)
    for _ in range(50):
        q = goal - (pin.computeGeneralizedGravity(loaded, loaded.createData(), q) - held) / run.script.STIFFNESS
    alone = run.lifts[0]
    assert alone.simulation.q[-1] == pytest.approx(q, abs=5e-5)  # it still creeps, by exp(−10 t)
    assert alone.error[-1] > 0.02


def test_statics_take_the_sag_away(run: SimpleNamespace) -> None:
    alone, with_statics, _ = (lift.error for lift in run.lifts)
    assert with_statics[-1] < 1e-3 * alone[-1]
    assert with_statics.max() < 0.4 * alone.max()


def test_the_plan_that_knows_the_payload_is_followed(run: SimpleNamespace) -> None:
    _, with_statics, knowing = (lift.error for lift in run.lifts)
    assert knowing.max() < 5e-4
    assert knowing.max() < 0.05 * with_statics.max()


def test_motors_stay_within_their_limits_and_energies_balance(run: SimpleNamespace) -> None:
    limits = run.models[0].effortLimit
    for lift in run.lifts:
        assert np.all(np.abs(lift.simulation.u) <= limits)
        assert lift.simulation.relative_balance < 1e-7
    assert np.abs(run.lifts[0].simulation.u / limits).max() == 1  # the servo alone runs into one
    assert np.abs(run.lifts[2].simulation.u / limits).max() < 0.97


def test_the_tool_is_where_pinocchio_has_it(run: SimpleNamespace) -> None:
    model = run.models[1]
    data, lift, plan = model.createData(), run.lifts[0], run.plans[0]
    places = []
    for q in (lift.simulation.q[-1], plan.q[-1]):
        pin.framesForwardKinematics(model, data, q)
        places.append(data.oMf[model.getFrameId(run.script.TOOL)].translation.copy())
    assert lift.error[-1] == pytest.approx(np.linalg.norm(places[0] - places[1]), abs=1e-7)

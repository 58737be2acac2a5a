"""``examples/quadrotor_to_pose.py``: both plans obey the equations of motion, by Pinocchio and in a simulation."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.scripts import example

SCRIPT = example("quadrotor_to_pose")


def check(plan: object, steps: int) -> None:
    model = SCRIPT.build()
    data, h = model.createData(), SCRIPT.DURATION / steps
    gaps = []
    for k in range(steps):
        q, v = plan.q[:, k], plan.v[:, k]
        v_next = v + h * pin.aba(model, data, q, v, SCRIPT.B @ plan.u[:, k])
        q_next = pin.integrate(model, q, h * v_next)
        gaps += [pin.difference(model, q_next, plan.q[:, k + 1]), v_next - plan.v[:, k + 1]]
    # the solver's tolerance is 1e-8, of equations that it scales
    assert np.abs(gaps).max() < 1e-6
    assert np.abs(plan.q[:, 0] - SCRIPT.START).max() < 1e-12
    assert np.abs(pin.difference(model, plan.q[:, -1], SCRIPT.GOAL)).max() < 1e-8
    assert np.abs(plan.v[:, [0, -1]]).max() < 1e-8
    assert -1e-6 < plan.u.min() < plan.u.max() < SCRIPT.THRUST[1] + 1e-6
    assert plan.u.max() > SCRIPT.THRUST[1] - 1e-3
    assert np.abs(np.linalg.norm(plan.q[3:], axis=0) - 1).max() < 1e-11
    assert plan.iterations <= 20


def test_few_steps_with_opti() -> None:
    check(SCRIPT.with_opti(SCRIPT.build(), 20), 20)


@pytest.mark.long
def test_eighty_steps_with_opti() -> None:
    check(SCRIPT.with_opti(SCRIPT.build(), 80), 80)


def test_the_plan_of_ocp_is_flown() -> None:
    """Its thrusts, held for 160 ms each, lead to the goal."""
    solution = SCRIPT.with_ocp(gd.NewtonEuler(SCRIPT.build(), actuation=SCRIPT.B), 10)
    assert solution.status == "Solve_Succeeded"
    assert solution.iterations <= 15
    motion = solution.simulate()
    # what intervals of 160 ms leave of the equations of motion
    assert np.abs(motion.q[-1] - SCRIPT.GOAL).max() < 1e-3
    assert motion.relative_balance < 1e-6
    assert solution.u.min() > -1e-6
    assert solution.u.max() == pytest.approx(SCRIPT.THRUST[1], abs=1e-3)

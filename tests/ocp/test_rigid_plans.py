"""Plans of rigid robots as guesses for flexible ones."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError
from gdalembert.ocp.system.guess import with_deflections
from gdalembert.ocp.system.system import System

MODEL = gd.load_urdf("two_link_flexible")
BEAMS = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
LINKS = {name: gd.FlexibleLink(beam, bending_y=gd.modes.hermite()) for name, beam in BEAMS.items()}
NO_P = np.zeros(0)


def least_effort(dyn: gd.Dynamics) -> ocp.Problem:
    problem = ocp.Problem(dyn, 2.0, 20, degree=2, control="linear", quasi_static=None)
    problem.start(np.zeros(dyn.tree.nq))
    problem.end([0.8, -0.6, *np.zeros(dyn.tree.nq - 2)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link", "ignore::gdalembert.ocp.SolutionWarning")
def test_a_flexible_arm_begins_at_the_rigid_plan() -> None:
    """Its optimum is near, and found in 60 % of the iterations."""
    plan = least_effort(gd.NewtonEuler(MODEL)).solve()
    alone = least_effort(gd.FlexibleArm(MODEL, LINKS))
    from_rest = alone.solve()
    alone.guess(plan)
    from_plan = alone.solve()
    assert from_plan.iterations <= 0.6 * from_rest.iterations
    assert abs(from_plan.cost - from_rest.cost) < 1e-8 * from_rest.cost  # the tolerance of the solver


@pytest.mark.filterwarnings("ignore:link")
def test_modes_deflect_by_the_forces_on_them() -> None:
    """What is left of the forces is of second order in the deflections."""
    arm = gd.FlexibleArm(MODEL, LINKS)
    plan = ocp.rest_to_rest(gd.NewtonEuler(MODEL), [0, 0], [0.8, -0.6], 2.0)
    found = with_deflections(System("guess", arm), plan, NO_P)
    assert np.array_equal(found.q[:, :2], plan.q)

    def forces(q: np.ndarray) -> float:
        straight = np.hstack([plan.v, np.zeros((51, 4))]), np.hstack([plan.a, np.zeros((51, 4))])
        return float(np.abs(arm.inverse_dynamics(q.T, *(x.T for x in straight)).full()[2:]).max())

    assert forces(found.q) < 0.01 * forces(np.hstack([plan.q, np.zeros((51, 4))]))
    assert not found.v[:, 2:].any()


def test_rotors_turn_ahead_of_their_joints() -> None:
    """At rest in gravity as far as in ``static_deflection``, which is linear in them."""
    model = gd.load_urdf("two_link_arm")
    arm = gd.FlexibleArm(model, joints={"joint1": gd.FlexibleJoint(stiffness=1e3, rotor_inertia=0.1)})
    plan = ocp.rest_to_rest(gd.NewtonEuler(model), [0.3, 0.2], [0.8, -0.6], 1.0)
    found = with_deflections(System("guess", arm), plan, NO_P)
    for k in (0, -1):
        at_rest = arm.static_deflection(plan.q[k], hold="joints")
        np.testing.assert_allclose(found.q[k], at_rest, rtol=0, atol=1e-12)
    rates = (found.q[2:, 2] - found.q[:-2, 2]) / (found.t[2:] - found.t[:-2])
    np.testing.assert_allclose(found.v[1:-1, 2], rates, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:link")
def test_a_plan_of_other_joints_is_refused() -> None:
    problem = least_effort(gd.FlexibleArm(MODEL, LINKS))
    other = ocp.rest_to_rest(gd.NewtonEuler(gd.load_urdf("puma560_3")), np.zeros(3), np.ones(3))
    with pytest.raises(
        ArgumentError, match=r"^guess: it has nq, nv, nu = \(3, 3, 3\); two_link_flexible has \(6, 6, 2\)"
    ):
        problem.guess(other)

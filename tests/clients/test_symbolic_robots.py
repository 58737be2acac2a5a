"""What clients met with symbols for inertial parameters: everything takes them, or says what it takes instead."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.symbolic import symbolic_tree
from gdalembert.testing import assert_valid
from tests.helpers.models import relative_error

MODEL = gd.load_urdf("two_link_arm")
STATE = np.array([0.3, -0.7]), np.array([0.8, 0.4]), np.array([-0.2, 0.5])


def robot(formulation: str = "newton_euler") -> gd.Dynamics:
    return gd.formulations()[formulation](symbolic_tree(MODEL))


@pytest.mark.parametrize("formulation", sorted(gd.formulations()))
def test_every_function_takes_symbols(formulation: str) -> None:
    assert_valid(robot(formulation), MODEL, samples=20)


def test_derivatives_take_symbols() -> None:
    dyn, (q, v, a) = robot(), STATE
    p, data = dyn.parameters.values, MODEL.createData()
    pin.computeRNEADerivatives(MODEL, data, q, v, a)
    by_q, by_v = dyn.inverse_dynamics_derivatives(q, v, a, p)
    np.testing.assert_allclose(by_q, data.dtau_dq, rtol=0, atol=1e-13)
    np.testing.assert_allclose(by_v, data.dtau_dv, rtol=0, atol=1e-13)


def test_motions_take_symbols() -> None:
    times, start = np.linspace(0, 0.5, 3), STATE[:2]
    symbols, numbers = (gd.simulate(dyn, start, times) for dyn in (robot(), gd.NewtonEuler(MODEL)))
    np.testing.assert_allclose(symbols.q, numbers.q, rtol=0, atol=1e-7)  # within the tolerances of the integrator


@pytest.mark.long
def test_optimal_control_takes_symbols() -> None:
    plans = []
    for dyn in (robot(), gd.NewtonEuler(MODEL)):
        problem = gd.ocp.Problem(dyn, 0.5, 3)
        problem.start([0, 0])
        problem.end([0.2, -0.1])
        problem.minimize(problem.integral(lambda u: u.T @ u))
        plans.append(problem.solve())
    np.testing.assert_allclose(plans[0].u, plans[1].u, rtol=0, atol=1e-5)  # within the tolerance of IPOPT


def test_kinematics_of_symbols_takes_their_values() -> None:
    tree = symbolic_tree(MODEL)
    kin = gd.Kinematics(tree)
    q, numbers = np.array([0.3, -0.4])[: MODEL.nq], gd.Kinematics(MODEL)
    placed = kin.joint_placement("joint2")(q, tree.parameters.values)
    assert relative_error(placed.full(), numbers.joint_placement("joint2")(q).full()) < 1e-14


def test_a_payload_alone_brings_its_own_numbers_alone() -> None:
    model = gd.load_urdf("puma560")
    payload = gd.NewtonEuler(model, parameters={"payload": ["tool"]})
    assert payload.inverse_dynamics.size_in("p") == (10, 1)
    assert {name.split(".")[0] for name in payload.parameters.names} == {"tool"}


@pytest.mark.long
def test_a_floating_base_takes_parameters() -> None:
    floating = gd.load_urdf("two_link_arm", root_joint=pin.JointModelFreeFlyer())
    assert_valid(gd.NewtonEuler(floating, parameters={"inertia": ["joint2"]}), floating, samples=20)

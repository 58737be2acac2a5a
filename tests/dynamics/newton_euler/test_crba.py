"""Composite bodies, the rates of their sums, and the derivatives of inverse dynamics."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.newton_euler.crba import composites
from gdalembert.dynamics.newton_euler.derivatives import moving
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.from_pinocchio import read_tree
from tests.helpers.models import relative_error, states
from tests.helpers.newton_euler import MODELS, composed, prepared, symbolic_placements
from tests.helpers.sets import quick, with_extras


@pytest.mark.parametrize("name", ["free", *with_extras(["legs"])])
def test_the_composite_of_a_free_robot_is_the_robot(name: str) -> None:
    """No mass has left it: m, the centre of mass, and the inertia about it."""
    model = MODELS[name]()
    data = model.createData()
    for q, v, _ in states(model, np.random.default_rng(8), 2):
        robot = RobotAtQ.of(prepared(model), ca.DM(q))
        whole, (r, p) = composites(robot)[0], composed(robot.links)[0]
        mass, first, second = float(whole.mass), r @ whole.first.full().ravel(), r @ whole.second.full() @ r.T
        pin.ccrba(model, data, q, v)
        assert mass == pytest.approx(data.Ig.mass, rel=1e-14)
        com = pin.centerOfMass(model, data, q)
        assert np.abs(p + first / mass - com).max() < 1e-13
        about_com = second - np.outer(first, first) / mass
        tensor = np.trace(about_com) * np.eye(3) - about_com
        assert relative_error(tensor, data.Ig.inertia) < 1e-12


@pytest.mark.parametrize("name", ["fixed", "free", "mimic", *with_extras(["legs"])])
def test_sums_of_velocities_are_rates_of_sums(name: str) -> None:
    """r = Σ m ẋ and R = Σ m ẋ xᵀ of each subtree, seen from its root link's origin: dh/dt, and R + Rᵀ = dJ/dt."""
    model = MODELS[name]()
    tree = prepared(model)
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    robot = RobotAtQ.of(tree, q)
    links, motions = robot.links, robot.motions(q, v, ca.DM(tree.nv, 1), ca.DM(3, 1))
    sums = moving(robot, {i: motion.omega for i, motion in motions.items()}, v)
    q_rate = read_tree(model).configuration_rate(q, v)
    outputs = []
    for (r, _), body, rate in zip(symbolic_placements(links), sums.bodies, sums.rates, strict=True):
        first, second = r @ body.first, r @ body.second @ r.T
        second_rate = r @ (rate.second + rate.second.T) @ r.T
        outputs += [
            ca.jtimes(first, q, q_rate) - r @ rate.first,
            ca.reshape(ca.jtimes(ca.vec(second), q, q_rate), 3, 3) - second_rate,
        ]
    differences = ca.Function("differences", [q, v], [ca.vertcat(*map(ca.vec, outputs))])
    for at, rates, _ in states(model, np.random.default_rng(9), 2):
        assert np.abs(differences(at, rates).full()).max() < 1e-10


@pytest.mark.parametrize("name", quick(["fixed", "free", "mimic"], "fixed"))
def test_derivatives_are_those_of_inverse_dynamics(name: str) -> None:
    model = MODELS[name]()
    dyn = gd.NewtonEuler(model, clean=0)
    s = [ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("a", model.nv)]
    by_differentiation = ca.Function("derivatives", s, gd.Dynamics.inverse_dynamics_derivatives_expression(dyn, *s))
    for state in states(model, np.random.default_rng(17), 2):
        for found, truth in zip(dyn.inverse_dynamics_derivatives(*state), by_differentiation(*state), strict=True):
            assert relative_error(found.full(), truth.full()) < 1e-12

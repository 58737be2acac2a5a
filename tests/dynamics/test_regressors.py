"""Regressors: those of Pinocchio, base parameters and their number, and graph sizes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from tests.helpers.models import JOINTS, MIMICABLE, build, relative_error, states
from tests.helpers.sets import quick, with_extras

TIGHT = 1e-11
FORMULATIONS = sorted(gd.formulations())

NUMBER = {"puma560_benchmark": 36, "panda7": 43, "ur5": 36, "panda": 51, "solo12": 94}
"""Of base parameters; the first two are what the literature reports."""


def check_regressors(model: pin.Model, name: str) -> None:
    dyn, data = gd.formulations()[name](model, clean=0), model.createData()
    bare = model.copy()
    bare.armature = np.zeros(model.nv)
    pi = np.concatenate([body.toDynamicParameters() for body in list(model.inertias)[1:]])
    for q, v, a in states(model, np.random.default_rng(3), 2):
        y, kinetic, potential = (
            found.full()
            for found in (
                dyn.torque_regressor(q, v, a),
                dyn.kinetic_energy_regressor(q, v),
                dyn.potential_energy_regressor(q),
            )
        )
        assert relative_error(y @ pi, pin.rnea(bare, bare.createData(), q, v, a)) < TIGHT
        if model.nvExtended == model.nv:
            truth = pin.computeJointTorqueRegressor(model, data, q, v, a).reshape(y.shape)  # a vector where nv = 1
            assert relative_error(y, truth) < TIGHT
            assert relative_error(kinetic[0], pin.computeKineticEnergyRegressor(model, data, q, v)) < TIGHT
            assert relative_error(potential[0], pin.computePotentialEnergyRegressor(model, data, q)) < TIGHT
        else:
            assert relative_error(y, of_unit_bodies(bare, q, v, a)) < TIGHT
        whole = dyn.base_regressor(q, v, a).full() @ dyn.base_parameters.matrix
        assert relative_error(whole, y) < TIGHT


def of_unit_bodies(model: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The regressor by differences of ``pin.rnea``, which is linear: columns of 10 bodies of mass 1, for each joint."""
    columns = []
    without = model.copy()
    for k in range(1, model.njoints):
        without.inertias[k] = pin.Inertia.Zero()
    for k in range(1, model.njoints):
        torques = []
        bodies = np.vstack([np.zeros(10), np.eye(10)[1:]]) + np.eye(10)[0]
        for body in bodies:
            with_one = without.copy()
            with_one.inertias[k] = pin.Inertia.FromDynamicParameters(body)
            torques.append(pin.rnea(with_one, with_one.createData(), q, v, a).copy())
        columns += [torques[0], *(torque - torques[0] for torque in torques[1:])]
    return np.array(columns).T


@pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler", "lagrange_euler"))
@pytest.mark.parametrize("joint", quick(sorted(JOINTS), "SphericalZYX"))
def test_each_joint_type_alone(joint: str, name: str) -> None:
    check_regressors(build(np.random.default_rng(8), [joint], [0]), name)


@pytest.mark.long
@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("joint", sorted(JOINTS))
def test_each_joint_type_in_a_tree(joint: str, name: str) -> None:
    check_regressors(build(np.random.default_rng(9), ["FreeFlyer", joint, joint, "PZ"], [0, 1, 2, 2]), name)


@pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))
@pytest.mark.parametrize("joint", quick(MIMICABLE, "RX"))
def test_each_joint_type_mimicked(joint: str, name: str) -> None:
    check_regressors(build(np.random.default_rng(10), ["RX", joint, "RZ"], [0, 1, 2], mimic=2), name)


@pytest.mark.parametrize(
    "robot", [*quick(["puma560_benchmark", "panda7"], "panda7"), *with_extras(quick(["ur5", "panda", "solo12"]))]
)
def test_number_of_base_parameters(robot: str) -> None:
    """As many as Pinocchio's own regressor over 200 states has independent columns, each scaled to 1."""
    model = robots.load(robot)
    data = model.createData()
    y = np.vstack(
        [
            pin.computeJointTorqueRegressor(model, data, *state).reshape(model.nv, -1).copy()
            for state in states(model, np.random.default_rng(4), 200)
        ]
    )
    size = np.linalg.norm(y, axis=0)
    values = np.linalg.svd(y / np.where(size > 1e-9 * size.max(), size, np.inf), compute_uv=False)
    rank = int(np.sum(values > 1e-9 * values[0]))
    found = gd.NewtonEuler(model).base_parameters
    assert len(found) == len(found.labels) == len(found.names) == rank == NUMBER[robot]
    assert np.linalg.matrix_rank(found.matrix) == rank


SIZES = {"puma560": (523, 351, 851, 691, 1148), "panda7": (626, 436, 1368, 829, 1877)}
"""tau and M of base parameters, base regressor, tau of all inertia, torque regressor; the first two plus 3 %."""


@pytest.mark.long
@pytest.mark.parametrize("robot", SIZES)
def test_graphs_are_as_small_as_promised(robot: str) -> None:
    model = gd.load_urdf(robot)
    tau, m, base_regressor, tau_of_inertia, regressor = SIZES[robot]
    numeric, base = gd.NewtonEuler(model), gd.NewtonEuler(model, parameters=["base"])
    inertia = gd.NewtonEuler(model, parameters=["inertia"])
    assert base.inverse_dynamics.n_instructions() <= 1.03 * tau
    assert base.mass_matrix.n_instructions() <= 1.03 * m
    assert numeric.base_regressor.n_instructions() <= base_regressor
    assert inertia.inverse_dynamics.n_instructions() <= tau_of_inertia
    assert numeric.torque_regressor.n_instructions() <= regressor


@pytest.mark.long
def test_what_is_not_asked_for_stays_a_number() -> None:
    """Gravity costs one addition for each of its two further components; no other constant becomes an input."""
    model = robots.load("panda7")
    numeric = gd.NewtonEuler(model).inverse_dynamics.n_instructions()
    one = gd.NewtonEuler(model, parameters={"gravity": ["z"]}).inverse_dynamics
    assert one.n_instructions() <= numeric + 3
    last = gd.NewtonEuler(model, parameters={"inertia": ["joint7"]}).inverse_dynamics
    every = gd.NewtonEuler(model, parameters=["inertia"]).inverse_dynamics
    assert last.size1_in(3) == 10
    assert numeric < last.n_instructions() < every.n_instructions()

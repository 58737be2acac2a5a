"""Regressors: those of Pinocchio, base parameters and their number, and graph sizes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from tests.helpers.models import states
from tests.helpers.sets import quick, with_extras

NUMBER = {"puma560_benchmark": 36, "panda7": 43, "ur5": 36, "panda": 51, "solo12": 94}
"""Of base parameters; the first two are what the literature reports."""


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

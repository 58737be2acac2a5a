"""The promise: all formulations equal Pinocchio on every robot, over 1,000 random states."""

from __future__ import annotations

import itertools

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.spatial.functions import BatchFunction
from gdalembert.testing import assert_valid
from gdalembert.validation.references import PinocchioReference
from gdalembert.validation.states import rnea
from tests.helpers.sets import quick, with_extras

ROBOTS = [
    *quick(gd.robots(), "shala_likaj_rpr"),
    *with_extras(quick(["panda", "ur5", "solo12", "talos"])),
]


@pytest.mark.parametrize("formulation", sorted(gd.formulations()))
@pytest.mark.parametrize("name", ROBOTS[:-1])
def test_formulations_equal_pinocchio(name: str, formulation: str) -> None:
    model = robots.load(name)
    dyn = gd.formulations()[formulation](model)
    assert_valid(dyn, model, samples=1000)
    check_forward_dynamics(dyn, model)


@pytest.mark.long
@pytest.mark.extras
def test_formulations_of_talos_equal_pinocchio() -> None:
    """Newton–Euler with all derivatives; the graphs of the others' take a minute, and torques and M tell."""
    model = robots.load("talos")
    dyn = gd.NewtonEuler(model)
    assert_valid(dyn, model, samples=1000)
    check_forward_dynamics(dyn, model)
    states = next(PinocchioReference(model).random_states(100, 0, 100))
    tau = rnea(model)(states.q, states.v, states.a)
    for cls in (gd.GeneralizedDAlembert, gd.LagrangeEuler):
        other = cls(model)
        found = BatchFunction(other.inverse_dynamics, model.nv)(states.q, states.v, states.a)
        assert np.abs(found - tau).max() < 1e-9 * np.abs(tau).max()
        check_forward_dynamics(other, model)


def check_forward_dynamics(dyn: gd.Dynamics, model: pin.Model) -> None:
    """The validator allows for the condition number of M; these robots do not need it."""
    for states in PinocchioReference(model).random_states(1000, 0, 500):
        q, v, a = states.q, states.v, states.a
        found = BatchFunction(dyn.forward_dynamics, model.nv)(q, v, rnea(model)(q, v, a))
        scale = np.maximum(1, np.maximum(np.abs(a).max(axis=1), np.square(v).max(axis=1)))  # as large as C v
        assert (np.abs(found - a).max(axis=1) / scale).max() < 1e-9


def test_graphs_are_as_small_as_promised() -> None:
    model = robots.load("puma560_benchmark")
    limits = {gd.GeneralizedDAlembert: 1800, gd.LagrangeEuler: 1800, gd.NewtonEuler: 700}
    for cls, limit in limits.items():
        assert cls(model).inverse_dynamics.n_instructions() <= limit


@pytest.mark.long
def test_growth_is_as_slow_as_promised() -> None:
    """Second differences of the counts: none for a linear Function, not growing for a quadratic one."""
    lengths = (5, 10, 15, 20)
    for cls in gd.formulations().values():
        dynamics = [cls(robots.chain(n)) for n in lengths]
        tau = [dyn.inverse_dynamics.n_instructions() for dyn in dynamics]
        mass = [dyn.mass_matrix.n_instructions() for dyn in dynamics]
        steps = [b - a for a, b in itertools.pairwise(tau)]
        # linear, but for what the frames of one random chain save more than those of another
        assert max(steps) - min(steps) <= 0.06 * max(steps)
        bends = [c - 2 * b + a for a, b, c in zip(mass, mass[1:], mass[2:], strict=False)]
        assert bends[1] <= 1.05 * bends[0]  # Newton–Euler writes long chains in fewer axes

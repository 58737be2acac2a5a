"""The promise: all formulations equal Pinocchio on every robot, over 1,000 random states."""

from __future__ import annotations

import itertools

import pytest
import robots

import gdalembert as gd
from gdalembert.testing import assert_valid

ROBOTS = (*gd.robots(), "panda", "ur5", "solo12", "talos")


@pytest.mark.parametrize("clean", [0, 1e-11])
@pytest.mark.parametrize("formulation", sorted(gd.formulations()))
@pytest.mark.parametrize("name", ROBOTS)
def test_formulations_equal_pinocchio(name: str, formulation: str, clean: float) -> None:
    model = robots.load(name)
    assert_valid(gd.formulations()[formulation](model, clean=clean), model, samples=1000)


def test_graphs_are_as_small_as_promised() -> None:
    model = robots.load("puma560_benchmark")
    limits = {gd.GeneralizedDAlembert: 1800, gd.LagrangeEuler: 1800, gd.NewtonEuler: 700}
    for cls, limit in limits.items():
        assert cls(model).inverse_dynamics.n_instructions() <= limit


def test_growth_is_as_slow_as_promised() -> None:
    """Second differences of the counts: none for a linear Function, constant for a quadratic one."""
    lengths = (5, 10, 15, 20)
    for cls in gd.formulations().values():
        dynamics = [cls(robots.chain(n)) for n in lengths]
        tau = [dyn.inverse_dynamics.n_instructions() for dyn in dynamics]
        mass = [dyn.mass_matrix.n_instructions() for dyn in dynamics]
        steps = [b - a for a, b in itertools.pairwise(tau)]
        # linear, but for an instruction more or less where a random number happens to save one
        assert max(steps) - min(steps) <= 0.02 * max(steps)
        bends = [c - 2 * b + a for a, b, c in zip(mass, mass[1:], mass[2:], strict=False)]
        assert abs(bends[1] - bends[0]) <= 0.05 * max(bends)

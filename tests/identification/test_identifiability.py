"""What data and the structure of a robot let anyone know, and what is reported as unknown."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.identification.identifiability import base_combinations, named
from gdalembert.identification.problem import Problem
from tests.helpers import models
from tests.helpers.identification import (
    fitted,
    panda,
    stacked,
)
from tests.helpers.sets import quick, with_extras


@pytest.mark.long
def test_a_joint_that_stands_still_is_reported_with_names() -> None:
    e = panda(600, "joint7")
    result = fitted(e, method="weighted", held_back=0.25)
    missing = result.not_identifiable
    assert result.structural_rank == 62
    assert len(result.base) == 62 - len(missing.directions)
    assert {"joint7.armature", "joint7.viscous", "joint7.coulomb"} <= set(missing.not_excited)
    assert {"joint7.armature", "joint7.viscous", "joint7.coulomb"} <= set(missing.parameters)
    assert all("joint7" in name for name in missing.not_excited)
    assert "not excited, for want of motion: " in str(result)
    assert "joint7.viscous" in str(result)
    assert result.held_back is not None
    assert result.held_back.rms == pytest.approx(e.sigma, rel=0.2)
    for name in ("joint7.armature", "joint7.viscous", "joint7.coulomb"):
        k = result.names.index(name)
        assert result.standard_deviation[k] == np.inf
        assert result.values[k] == pytest.approx(0, abs=1e-12)  # the model's
    y = stacked(e)
    scale = np.abs(y).max()
    assert np.all(np.abs(y @ missing.directions.T) <= 1e-2 * scale * np.abs(missing.directions).max(axis=1))


@pytest.mark.long
def test_parameters_that_no_motion_tells_are_reported_apart() -> None:
    missing = fitted(panda(), method="weighted").not_identifiable
    assert {"joint1.m", "joint1.mx", "joint1.Ixx"} <= set(missing.without_effect)
    assert {"joint7.m", "joint3.mz"} <= set(missing.combined)
    assert missing.not_excited == ()
    assert missing.directions.shape == (0, 91)
    assert set(missing.parameters) == {*missing.without_effect, *missing.combined}


RANKS = [("puma560_benchmark", 36), ("panda7", 43), ("ur5", 36), ("panda", 51), ("solo12", 94)]


@pytest.mark.parametrize(("robot", "rank"), [*quick(RANKS[:2], RANKS[0]), *with_extras(quick(RANKS[2:]))])
def test_the_structural_rank_is_that_of_the_literature(robot: str, rank: int) -> None:
    dyn = gd.NewtonEuler(robots.load(robot), parameters=["inertia"])
    problem = Problem.of("fit", dyn)
    by_geometry = dyn.base_parameters.matrix * problem.sizes
    assert problem.space.shape[1] == len(by_geometry) == rank
    basis, _ = np.linalg.qr(by_geometry.T)  # the same row space
    assert np.abs(problem.space - basis @ (basis.T @ problem.space)).max() < 1e-9  # the tolerance of the rank


@pytest.mark.long
def test_base_parameters_have_the_factor_one_for_their_own_parameter() -> None:
    base = fitted(panda(), method="weighted").base
    own = [panda().dyn.parameters.names.index(name.split()[0]) for name in base.names]
    assert np.array_equal(base.matrix[:, own], np.eye(62))
    assert "joint1.Izz + joint2.Iyy + joint1.armature" in base.names
    assert base.nominal == pytest.approx(base.matrix @ panda().dyn.parameters.values, rel=1e-12)


def test_base_parameters_of_a_free_flyer_belong_to_the_link_nearest_to_the_base() -> None:
    """The mass of a whole robot stands first in its formula."""
    model = models.build(np.random.default_rng(0), ["FreeFlyer", "RZ"], [0, 1])
    problem = Problem.of("fit", gd.NewtonEuler(model, parameters=["inertia"]))
    combinations, own = base_combinations(problem.space, problem.torque.names)
    assert named(problem.in_p(combinations, own)[0], own[0], problem.torque.names) == "FreeFlyer_0.m + RZ_1.m"
    assert [problem.torque.names[k] for k in own[:10]] == list(problem.torque.names[:10])
    assert not {"RZ_1.m", "RZ_1.mz", "RZ_1.Iyy"} & {problem.torque.names[k] for k in own}

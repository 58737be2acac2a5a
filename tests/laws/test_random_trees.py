"""All laws on random trees of every joint type, with massless links, points and masses that span 1e6."""

from __future__ import annotations

import pytest

import gdalembert as gd
from tests.helpers.random_trees import check, random_tree
from tests.helpers.sets import quick

pytestmark = pytest.mark.long


@pytest.mark.parametrize("formulation", quick(sorted(gd.formulations()), "newton_euler"))
def test_random_trees_hold_all_laws(formulation: str) -> None:
    check(0, formulation)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_more_random_trees_hold_all_laws(seed: int) -> None:
    for formulation in gd.formulations():
        check(seed, formulation)


def test_random_trees_are_of_every_kind() -> None:
    models = [random_tree(seed) for seed in range(100)]
    assert len({joint.shortname() for model in models for joint in model.joints[1:]}) == 24  # with mimic joints
    assert any(inertia.mass == 0 for model in models for inertia in model.inertias[1:])

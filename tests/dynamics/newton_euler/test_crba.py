"""All links in the axes of the root: the same M, C and derivatives, of fewer instructions in long chains."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import chain
from gdalembert.dynamics import recursive_newton_euler
from gdalembert.dynamics.newton_euler.crba import mass_matrix, place_in_root_axes
from gdalembert.dynamics.newton_euler.links import Placing, place
from gdalembert.dynamics.newton_euler.rnea_derivatives import coriolis_matrix, inverse_dynamics_derivatives
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from tests.helpers.models import build, relative_error, states
from tests.helpers.newton_euler import MODELS, composed, prepared
from tests.helpers.sets import quick, with_extras
from tests.laws.cases import draw
from tests.laws.machine import check

EXACT = 1e-12

Write = Callable[[Tree, ca.DM, ca.DM, ca.DM, Placing], ca.DM]

WRITTEN: dict[str, Write] = {
    "M": lambda tree, q, v, a, placed: mass_matrix(tree, q, placed),
    "C": lambda tree, q, v, a, placed: coriolis_matrix(tree, q, v, placed),
    "∂tau": lambda tree, q, v, a, placed: ca.horzcat(*inverse_dynamics_derivatives(tree, q, v, a, placed=placed)),
}


def numbers(model: pin.Model, seed: int) -> list[ca.DM]:
    return [ca.DM(x) for x in states(model, np.random.default_rng(seed), 1)[0]]


@pytest.mark.parametrize("name", ["fixed", "free", "mimic", *with_extras(["ur5", "legs"])])
def test_links_stand_where_the_root_stands(name: str) -> None:
    model = MODELS[name]()
    tree, q = prepared(model), numbers(model, 1)[0]
    links = place_in_root_axes(tree, q)
    for link, (r, p), (own_r, own_p) in zip(links, composed(links), composed(place(tree, q)), strict=True):
        root = tree.path(links.index(link))[0]
        there = composed(links)[root]
        assert relative_error(r, there[0]) < EXACT
        assert relative_error(p, there[1]) < EXACT
        # the same first moment and second moment, seen from the universe
        own = place(tree, q)[links.index(link)]
        mass = float(ca.DM(link.mass))
        h, own_h = (x.first.full().ravel() for x in (link, own))
        assert relative_error(r @ h + mass * p, own_r @ own_h + mass * own_p) < EXACT


@pytest.mark.parametrize("what", WRITTEN)
@pytest.mark.parametrize("joint", quick(["RX", "RUBZ", "PY", "HX", "Planar", "Spherical", "FreeFlyer"], "RUBZ"))
def test_the_axes_do_not_matter(joint: str, what: str) -> None:
    """On trees of each joint type, as given and prepared, with a limb on each side of it."""
    model = build(np.random.default_rng(3), ["RX", joint, "RevoluteUnaligned", "RZ", "PY"], [0, 1, 2, 3, 2])
    for tree in (read_tree(model), prepared(model)):
        own, root = (WRITTEN[what](tree, *numbers(model, 4), placed).full() for placed in (place, place_in_root_axes))
        assert relative_error(root, own) < EXACT


@pytest.mark.parametrize("what", WRITTEN)
@pytest.mark.parametrize("name", ["fixed", "free", "mimic", *with_extras(["legs"])])
def test_the_axes_do_not_matter_on_trees_of_everything(name: str, what: str) -> None:
    model = MODELS[name]()
    own, root = (
        WRITTEN[what](prepared(model), *numbers(model, 5), placed).full() for placed in (place, place_in_root_axes)
    )
    assert relative_error(root, own) < EXACT


# Forward dynamics.


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every robot is taken for a long chain, and moved by articulated bodies."""
    monkeypatch.setattr(recursive_newton_euler.RecursiveNewtonEuler, "_is_deep", True)
    monkeypatch.setattr(recursive_newton_euler, "_LONG", 0)
    monkeypatch.setattr(recursive_newton_euler, "_VERY_LONG", 0)


def draws_of(formulation: str, number: int) -> list[int]:
    """Seeds of robots without rods, whose graphs are ten times as large."""
    drawn = ((seed, draw(seed)) for seed in range(1000))
    seeds = (seed for seed, case in drawn if case.formulation == formulation and not any(j.rod for j in case.joints))
    return list(itertools.islice(seeds, number))


DRAWS = [*draws_of("newton_euler", 2), 78, *draws_of("flexible_arm", 1), 83]  # the last one has a rod


@pytest.mark.usefixtures("swept")
@pytest.mark.parametrize("seed", quick(DRAWS))
def test_what_is_swept_obeys_the_laws(seed: int) -> None:
    """Joints that share a coordinate, columns that are not constant, modes, wrenches and forces included."""
    check(draw(seed), "equation_of_motion", "derivatives", "constraints", "regularized_constraints")


# Instructions, at most: 0.1 % more than counted, as the processor decides which constants are equal in all digits.
LIMITS = {
    15: {
        "mass_matrix": 4398,
        "coriolis_matrix": 9340,
        "inverse_dynamics_derivatives": 16464,
        "forward_dynamics_derivatives": 30396,
    },
    30: {"mass_matrix": 12143, "forward_dynamics_derivatives": 90388},
}


@pytest.mark.long
@pytest.mark.parametrize("number", LIMITS)
def test_long_chains_stay_within_their_limits(number: int) -> None:
    dyn, limits = gd.NewtonEuler(chain(number)), LIMITS[number]
    found = {function: getattr(dyn, function).n_instructions() for function in limits}
    assert {f: n for f, n in found.items() if n > limits[f]} == {}

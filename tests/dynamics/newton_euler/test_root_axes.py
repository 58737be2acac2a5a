"""All links in the axes of the root: the same M, C and derivatives, of fewer instructions in long chains."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import chain
from gdalembert.dynamics import recursive_newton_euler
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.newton_euler.derivatives import coriolis_matrix, inverse_dynamics_derivatives
from gdalembert.dynamics.newton_euler.forward_derivatives import forward_dynamics_derivatives
from gdalembert.dynamics.newton_euler.links import Placing, place
from gdalembert.dynamics.newton_euler.root_axes import place_in_root_axes
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from tests.dynamics.test_derivatives import DIFFERENCED, check_against_differences, jacobian
from tests.dynamics.test_wrenches import check_derivatives_by_differences, references
from tests.helpers.models import CONSTANT_SUBSPACE, QUICK_JOINTS, build, relative_error, states
from tests.helpers.newton_euler import MODELS, composed, prepared
from tests.helpers.sets import quick, with_extras

EXACT = 1e-12
SOLVED = 1e-11  # condition numbers of M reach 1e3

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
@pytest.mark.parametrize("joint", quick(CONSTANT_SUBSPACE, *QUICK_JOINTS))
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


def check_against_pinocchio(model: pin.Model, tree: Tree) -> None:
    q, v, a = states(model, np.random.default_rng(6), 1)[0]
    data = model.createData()
    tau = pin.rnea(model, data, q, v, a)
    truth = [x.copy() for x in pin.computeABADerivatives(model, data, q, v, tau)]
    found = forward_dynamics_derivatives(tree, ca.DM(q), ca.DM(v), ca.DM(tau)).full()
    for ours, theirs in zip(np.hsplit(found, 3), truth, strict=True):
        assert relative_error(ours, theirs) < SOLVED
    assert np.array_equal(found[:, 2 * model.nv :], found[:, 2 * model.nv :].T)


@pytest.mark.parametrize("joint", quick(CONSTANT_SUBSPACE, *QUICK_JOINTS))
def test_derivatives_of_forward_dynamics(joint: str) -> None:
    """Below each joint type two limbs, beside it another."""
    model = build(np.random.default_rng(7), ["RX", joint, "RevoluteUnaligned", "RZ", "PY", "RX"], [0, 1, 2, 3, 2, 1])
    for tree in (read_tree(model), prepared(model)):
        check_against_pinocchio(model, tree)


@pytest.mark.parametrize("held", [True, False])
def test_derivatives_of_forward_dynamics_of_a_free_robot(held: bool) -> None:
    model = build(np.random.default_rng(8), ["FreeFlyer", "RX", "RevoluteUnaligned", "RZ", "PY"], [0, 1, 2, 1, 4])
    if not held:
        model.armature = np.concatenate([np.zeros(6), model.armature[6:]])
    check_against_pinocchio(model, prepared(model))


def test_derivatives_of_forward_dynamics_of_several_trees() -> None:
    model = build(np.random.default_rng(9), ["RX", "RevoluteUnaligned", "Spherical", "PY"], [0, 1, 0, 3])
    check_against_pinocchio(model, prepared(model))


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every robot is taken for a long chain."""
    monkeypatch.setattr(recursive_newton_euler, "_LONG", 0)
    monkeypatch.setattr(recursive_newton_euler, "_VERY_LONG", 0)


@pytest.mark.usefixtures("swept")
def test_wrenches_and_forces_are_added_to_what_is_swept() -> None:
    model = build(np.random.default_rng(10), ["RX", "RevoluteUnaligned", "PY"], [0, 1, 2])
    check_derivatives_by_differences(model, "newton_euler", references(model))
    damped = gd.NewtonEuler(model, clean=0, friction=dict.fromkeys(model.names[1:], gd.Friction(viscous=0.3)))
    q, v, tau = states(model, np.random.default_rng(11), 1)[0]
    da_dv, forward = damped.forward_dynamics_derivatives(q, v, tau)[1].full(), damped.forward_dynamics
    assert relative_error(da_dv, jacobian(lambda d: forward(q, v + d, tau).full().ravel(), 3)) < DIFFERENCED


@pytest.mark.usefixtures("swept")
@pytest.mark.parametrize(("joint", "mimic"), [("RUBX", None), ("RX", 2), ("Ellipsoid", None)])
def test_what_cannot_be_swept_is_not(joint: str, mimic: int | None) -> None:
    """Joints that share a coordinate, and columns that are not constant."""
    model = build(np.random.default_rng(12), ["RX", joint, "PY"], [0, 1, 2], mimic=mimic)
    assert gd.NewtonEuler(model)._can_be_swept == (joint == "RUBX")
    check_against_differences(model, "newton_euler")


# Instructions, at most.
LIMITS = {
    15: {
        "mass_matrix": 4394,
        "coriolis_matrix": 9331,
        "inverse_dynamics_derivatives": 16448,
        "forward_dynamics_derivatives": 30366,
    },
    30: {"mass_matrix": 12131, "forward_dynamics_derivatives": 90298},
}


@pytest.mark.long
@pytest.mark.parametrize("number", LIMITS)
def test_long_chains_stay_within_their_limits(number: int) -> None:
    dyn, limits = gd.NewtonEuler(chain(number)), LIMITS[number]
    found = {function: getattr(dyn, function).n_instructions() for function in limits}
    assert {f: n for f, n in found.items() if n > limits[f]} == {}

"""Configurations of a tree, against Pinocchio."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import (
    check_unit_lengths,
    difference,
    integrate,
    lengths,
    neutral,
    projected,
    random_configuration,
    unit_and_scale,
    unit_blocks,
)
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from tests.helpers.models import build, relative_error, states

KINDS = ("FreeFlyer", "RX", "Planar", "RUBZ", "Spherical", "Composite", "PZ")


def robot(*, mimic: int | None = None) -> tuple[pin.Model, Tree]:
    model = build(np.random.default_rng(0), KINDS, range(len(KINDS)), mimic=mimic)
    return model, read_tree(model)


def test_neutral_is_pinocchios() -> None:
    model, tree = robot(mimic=2)
    assert np.array_equal(neutral(tree).full().ravel(), pin.neutral(model))


def test_integrate_and_difference_are_pinocchios() -> None:
    model, tree = robot()
    for q, v, _ in states(model, np.random.default_rng(1), 5):
        reached = pin.integrate(model, q, 0.3 * v)
        assert relative_error(integrate(tree, ca.DM(q), ca.DM(0.3 * v)).full().ravel(), reached) < 1e-13
        assert relative_error(difference(tree, ca.DM(q), ca.DM(reached)).full().ravel(), 0.3 * v) < 1e-12


def test_the_functions_of_kinematics_are_these() -> None:
    model, tree = robot()
    kinematics = Kinematics(model)
    (q, v, _), (other, _, _) = states(model, np.random.default_rng(2), 2)
    same = integrate(tree, ca.DM(q), ca.DM(v)).full()
    assert relative_error(kinematics.integrate(q, v).full(), same) < 1e-15
    same = difference(tree, ca.DM(q), ca.DM(other)).full()
    assert relative_error(kinematics.difference(q, other).full(), same) < 1e-15


def test_a_mimic_joint_has_no_configuration_of_its_own() -> None:
    model, tree = robot(mimic=2)
    assert [joint.name for joint in tree.joints if joint not in tree.independent_joints] == ["mimic"]
    assert integrate(tree, neutral(tree), ca.DM.zeros(tree.nv)).shape == (model.nq, 1)
    assert difference(tree, neutral(tree), neutral(tree)).shape == (model.nv, 1)


def test_random_configurations_are_on_the_manifold_and_reproducible() -> None:
    model, tree = robot()
    q = random_configuration(tree, np.random.default_rng(3)).full().ravel()
    assert np.array_equal(q, random_configuration(tree, np.random.default_rng(3)).full().ravel())
    v = np.random.default_rng(3).normal(size=tree.nv)
    assert relative_error(q, pin.integrate(model, pin.neutral(model), v)) < 1e-13
    check_unit_lengths("q", q, tree)
    assert relative_error(pin.normalize(model, q), q) < 1e-15


def test_unit_blocks_are_the_quaternions_and_pairs() -> None:
    model, tree = robot(mimic=2)
    blocks = unit_blocks(tree)
    assert [(name, stop - start) for name, start, stop in blocks] == [
        ("FreeFlyer_0", 4),
        ("Planar_2", 2),
        ("RUBZ_3", 2),
        ("Spherical_4", 4),
        ("Composite_5[5]", 2),
    ]
    scaled = 2 * random_configuration(tree, np.random.default_rng(4)).full().ravel()
    assert relative_error(lengths(scaled, blocks), np.full(len(blocks), 2.0)) < 1e-15
    assert relative_error(projected(scaled, blocks), pin.normalize(model, scaled)) < 1e-15


def test_off_unit_length_is_refused_with_the_joint() -> None:
    _, tree = robot()
    q = random_configuration(tree, np.random.default_rng(5)).full().ravel()
    _, start, stop = unit_blocks(tree)[3]
    q[start:stop] *= 1.5
    with pytest.raises(ArgumentError, match=r"'Spherical_4' is off unit length by 0\.5; normalise it"):
        check_unit_lengths("q", q, tree)


def test_unit_and_scale_divide_an_expression() -> None:
    _, tree = robot()
    blocks = unit_blocks(tree)
    symbol = ca.SX.sym("q", tree.nq)
    graph = ca.Function("scaled", [symbol], list(unit_and_scale(symbol, blocks)))
    q = 3 * random_configuration(tree, np.random.default_rng(6)).full().ravel()
    unit, scale = (x.full().ravel() for x in graph(q))
    assert relative_error(unit, projected(q, blocks)) < 1e-15
    assert relative_error(unit * scale, q) < 1e-15

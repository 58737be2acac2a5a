"""Prepared trees: other frames, other inertia, the same equations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import robots
from models import JOINTS, build, placement, relative_error, states

import gdalembert as gd
from gdalembert.formulations import newton_euler
from gdalembert.preparation import prepare
from gdalembert.reading import read_tree
from gdalembert.rotations import AboutZ, Full, Product

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("joint", sorted(JOINTS))
def test_nothing_shows_outside(joint: str) -> None:
    model = build(np.random.default_rng(1), ["RevoluteUnaligned", joint, "PrismaticUnaligned", "RX"], [0, 1, 2, 2])
    tree = read_tree(model)
    prepared = prepare(tree, 0)
    for q, v, a in states(model, np.random.default_rng(2), 2):
        q, v, a = ca.DM(q), ca.DM(v), ca.DM(a)
        for ours, arguments in (
            (newton_euler.inverse_dynamics, (q, v, a)),
            (newton_euler.mass_matrix, (q,)),
            (newton_euler.coriolis_matrix, (q, v)),
            (newton_euler.gravity_torques, (q,)),
            (newton_euler.kinetic_energy, (q, v)),
            (newton_euler.forward_dynamics, (q, v, a)),
        ):
            given, found = (ours(of, *arguments).full() for of in (tree, prepared))
            assert relative_error(found, given) < 1e-11, ours.__name__


def test_axes_are_z_and_line_masses_are_gone() -> None:
    model = build(np.random.default_rng(3), ["RevoluteUnaligned", "PX", "RY", "RUBX", "HelicalUnaligned"], range(5))
    prepared = prepare(read_tree(model), 0)
    assert {joint.type.axis for joint in prepared.joints} == {(0.0, 0.0, 1.0)}
    for joint, kind in zip(prepared.joints, ("R", "P", "R", "R", "H"), strict=True):
        on_axis = joint.pseudo_inertia.full()[np.ix_((2, 3), (2, 3))]
        assert np.any(on_axis) == (kind != "R")


def test_a_sliding_leaf_is_a_point_mass() -> None:
    model = build(np.random.default_rng(4), ["RX", "PrismaticUnaligned"], [0, 1])
    body = prepare(read_tree(model), 0).joints[1].pseudo_inertia.full()
    assert np.abs(body[:3]).max() < 1e-14
    assert body[3, 3] == model.inertias[2].mass


def test_total_mass_stays_under_a_free_flyer() -> None:
    tree = read_tree(robots.load("talos"))
    prepared = prepare(tree, 1e-11)
    total = sum(joint.pseudo_inertia.full()[3, 3] for joint in prepared.joints)
    assert total == pytest.approx(sum(joint.mass for joint in tree.joints), rel=1e-14)


def test_a_tree_is_left_as_it_was() -> None:
    tree = read_tree(robots.load("panda7"))
    dyn = gd.NewtonEuler(tree, clean=0)
    _ = dyn.inverse_dynamics
    assert dyn.tree == tree == read_tree(robots.load("panda7"))


def test_rotations_are_their_matrices() -> None:
    angle = 0.7
    about_z = AboutZ(ca.DM(np.cos(angle)), ca.DM(np.sin(angle)))
    fixed = placement(RNG).rotation
    rotation, matrix = Product(Full(ca.DM(fixed)), about_z), fixed @ pin.rpy.rpyToMatrix(0, 0, angle)
    x, s = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 3))
    assert relative_error((rotation @ ca.DM(x)).full(), matrix @ x) < 1e-14
    assert relative_error((rotation.T @ ca.DM(x)).full(), matrix.T @ x) < 1e-14
    assert relative_error(rotation.conjugate(ca.DM(s)).full(), matrix @ s @ matrix.T) < 1e-14
    assert relative_error(rotation.T.conjugate(ca.DM(s)).full(), matrix.T @ s @ matrix) < 1e-14


def test_the_smaller_forward_dynamics_is_taken() -> None:
    for name in ("puma560_benchmark", "ur5", "solo12"):
        dyn = gd.NewtonEuler(robots.load(name))
        s = [ca.SX.sym("q", dyn.tree.nq), ca.SX.sym("v", dyn.tree.nv), ca.SX.sym("tau", dyn.tree.nv)]
        ways = gd.Dynamics._forward_dynamics(dyn, *s), newton_euler.forward_dynamics(dyn._prepared, *s)
        sizes = [ca.Function("a", s, ca.cse([way])).n_instructions() for way in ways]
        assert dyn.forward_dynamics.n_instructions() <= min(sizes) + 2  # what is spent on springs and armature

"""Matrices of which a part is written."""

from __future__ import annotations

import pickle

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.models import relative_error

ROUNDING = 4e-15


def legs() -> gd.NewtonEuler:
    """Two legs on a free base: the entries of M between them are always zero."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia.FromBox(5.0, 0.4, 0.3, 0.1), pin.SE3.Identity())
    for side in (1, -1):
        parent, place = base, pin.SE3(np.eye(3), np.array([0.0, 0.1 * side, 0.0]))
        for name, joint in (("hip", pin.JointModelRX()), ("knee", pin.JointModelRY())):
            parent = model.addJoint(parent, joint, place, f"{name} {side}")
            place = pin.SE3(np.eye(3), np.array([0.0, 0.02, -0.2]))
            model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.1, 0.05, 0.2), place)
    return gd.NewtonEuler(model)


KINDS = [{"interpreter": True}, pytest.param({}, marks=pytest.mark.system)]


@pytest.mark.parametrize("options", KINDS, ids=["interpreter", "machine code"])
def test_the_upper_triangle_is_the_matrix(options: dict[str, bool]) -> None:
    dyn = legs()
    nv = dyn.tree.nv
    rng = np.random.default_rng(0)
    qs = rng.normal(size=(5, dyn.tree.nq))
    qs[:, 3:7] /= np.linalg.norm(qs[:, 3:7], axis=1, keepdims=True)
    function = gd.compile(dyn.mass_matrix, output="upper", **options)
    places = function.places["M"]
    assert function.outputs == {"M": (len(places),)}
    there = np.abs(np.triu(dyn.mass_matrix(qs[0]).full())) > 0
    assert len(places) == there.sum() < nv * (nv + 1) // 2 - 4  # hips and knees of one leg by those of the other
    assert there[places.rows, places.columns].all()
    for q in qs:
        assert relative_error(places.full(function(q)), dyn.mass_matrix(q).full()) < ROUNDING
    matrices = places.full(function.batch(qs))
    assert matrices.shape == (5, nv, nv)
    assert relative_error(matrices[3], dyn.mass_matrix(qs[3]).full()) < ROUNDING
    again = pickle.loads(pickle.dumps(function))
    assert np.array_equal(again(qs[0]), function(qs[0]))
    assert again.places["M"].mirrored


def test_nonzeros_are_those_of_any_matrix_and_columns_stay() -> None:
    dyn = legs()
    graph = dyn.inverse_dynamics_derivatives
    state = np.random.default_rng(1).normal(size=dyn.tree.nq), *np.random.default_rng(2).normal(size=(2, dyn.tree.nv))
    function = gd.compile(graph, output="nonzeros", interpreter=True)
    for name, numbers, true in zip(function.outputs, function(*state), graph(*state), strict=True):
        places = function.places[name]
        assert len(places) < true.numel()
        assert not places.mirrored
        assert relative_error(places.full(numbers), true.full()) < ROUNDING
    tau = gd.compile(dyn.inverse_dynamics, output="nonzeros", interpreter=True)
    assert tau.outputs == {"tau": (dyn.tree.nv,)}
    assert tau.places == {}


def test_a_matrix_of_mx_has_the_entries_of_its_sparsity() -> None:
    x = ca.MX.sym("x", 2)
    function = gd.compile(ca.Function("f", [x], [ca.diag(x)], ["x"], ["D"]), output="upper", interpreter=True)
    assert np.array_equal(function([3.0, 4.0]), [3.0, 4.0])
    assert np.array_equal(function.places["D"].full([3.0, 4.0]), np.diag([3.0, 4.0]))


def test_what_is_refused() -> None:
    dyn = legs()
    with pytest.raises(ArgumentError, match=r"_derivatives: output='upper': dtau_dq is not symmetric;"):
        gd.compile(dyn.inverse_dynamics_derivatives, output="upper", interpreter=True)
    with pytest.raises(ArgumentError, match=r"^compile: output: got 'lower'; give 'full', 'nonzeros' or 'upper'$"):
        gd.compile(dyn.mass_matrix, output="lower", interpreter=True)
    places = gd.compile(dyn.mass_matrix, output="upper", interpreter=True).places["M"]
    with pytest.raises(ArgumentError, match=r"^full: got the shape \(3,\); give \(43,\) or \(N, 43\)$"):
        places.full(np.zeros(3))
    with pytest.raises(ArgumentTypeError, match=r"^full: expected numbers, got 'x'$"):
        places.full("x")

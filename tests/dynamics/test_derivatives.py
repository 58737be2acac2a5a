"""Derivatives of the dynamics: where Pinocchio's are wrong, who writes them, and their size."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import chain, load
from gdalembert.errors import UnsupportedError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.instructions import count
from tests.helpers.models import CONSTANT_SUBSPACE, JOINTS, build, relative_error, states
from tests.helpers.sets import quick
from tests.laws.laws import jacobian

FORMULATIONS = sorted(gd.formulations())
SEQUENCES = sorted(set(JOINTS) - set(CONSTANT_SUBSPACE))
"""Joints for which Pinocchio's derivatives are wrong: spherical ZYX, universal, ellipsoid, composite."""

EXACT = 1e-11

mostly_newton_euler = pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))

Vector = np.ndarray


def call(graph: ca.Function, *arguments: Vector) -> list[Vector]:
    return [x.full() for x in graph.call(list(arguments))]


def rnea(model: pin.Model, q: Vector, v: Vector, a: Vector) -> Vector:
    return pin.rnea(model, model.createData(), q, v, a)


@pytest.mark.parametrize("joint", SEQUENCES)
def test_where_pinocchios_derivatives_are_wrong(joint: str) -> None:
    """If this fails, Pinocchio has been mended and the laws can trust it."""
    model = build(np.random.default_rng(2), ["RX", joint, "RUBY"], [0, 1, 2])
    q, v, a = states(model, np.random.default_rng(1), 1)[0]
    theirs = pin.computeRNEADerivatives(model, model.createData(), q, v, a)[0]
    moved = jacobian(lambda d: rnea(model, pin.integrate(model, q, d), v, a), model.nv)
    assert relative_error(theirs, moved) > 0.1


@mostly_newton_euler
def test_the_hook_takes_numbers_and_expressions(name: str) -> None:
    model = build(np.random.default_rng(10), ["RX", "FreeFlyer", "PY"], [0, 1, 2])
    dyn = gd.formulations()[name](model)
    numbers = states(model, np.random.default_rng(11), 1)[0]
    expected = call(dyn.inverse_dynamics_derivatives, *numbers)
    for ours, theirs in zip(dyn.inverse_dynamics_derivatives_expression(*map(ca.DM, numbers)), expected, strict=True):
        assert relative_error(ours.full(), theirs) < 1e-13
    for kind in (ca.SX, ca.MX):
        symbols = [kind.sym("x", len(x)) for x in numbers]
        q, v, a = (2 * symbol for symbol in symbols)
        again = ca.Function("again", symbols, list(dyn.inverse_dynamics_derivatives_expression(q, v, a)))
        for ours, theirs in zip(call(again, *(x / 2 for x in numbers)), expected, strict=True):
            assert relative_error(ours, theirs) < 1e-13


class Wrong(gd.NewtonEuler):
    """Derivatives of its own, wrong on purpose."""

    def inverse_dynamics_derivatives_expression(self, q: Matrix, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix]:
        dtau_dq, dtau_dv = super().inverse_dynamics_derivatives_expression(q, v, a)
        return 2 * dtau_dq, dtau_dv + ca.DM.eye(self.tree.nv)


def test_what_a_formulation_writes_down_itself_is_used_for_both() -> None:
    model = build(np.random.default_rng(12), ["RX", "PY"], [0, 1])
    q, _, a = states(model, np.random.default_rng(13), 1)[0]
    right, wrong = gd.NewtonEuler(model), Wrong(model)
    numbers = q, np.zeros(2), a  # at rest, where C v is zero with the wrong C too
    (dtau_dq, dtau_dv), (da_dq, da_dv, inverse) = (
        call(f, *numbers) for f in (right.inverse_dynamics_derivatives, right.forward_dynamics_derivatives)
    )
    expected = [2 * dtau_dq, dtau_dv + np.eye(2), 2 * da_dq, da_dv - inverse, inverse]
    found = [
        *call(wrong.inverse_dynamics_derivatives, *numbers),
        *call(wrong.forward_dynamics_derivatives, *numbers),
    ]
    for one, other in zip(found, expected, strict=True):
        assert relative_error(one, other) < EXACT


# Size.


@pytest.mark.long
@mostly_newton_euler
@pytest.mark.parametrize("robot", quick(["panda7", "solo12"], "panda7"))
def test_derivatives_are_taken_in_the_smaller_way(robot: str, name: str) -> None:
    dyn = gd.formulations()[name](load(robot))
    q, v, a = (ca.SX.sym(letter, n) for letter, n in (("q", dyn.tree.nq), ("v", dyn.tree.nv), ("a", dyn.tree.nv)))
    tau, rate = dyn.inverse_dynamics(q, v, a), ca.jacobian(dyn.tree.configuration_rate(q, v), v)
    both = ca.vertcat(q, v)
    reverse = ca.jtimes(tau, both, ca.DM.eye(dyn.tree.nv), True).T
    sizes = []
    for columns in (ca.jacobian(tau, both), reverse):
        in_tangent_space = ca.horzcat(columns[:, : dyn.tree.nq] @ rate, columns[:, dyn.tree.nq :])
        sizes.append(ca.Function("f", [q, v, a], ca.cse([ca.densify(in_tangent_space)])).n_instructions())
    assert dyn.inverse_dynamics_derivatives.n_instructions() <= min(sizes)


@pytest.mark.long
@mostly_newton_euler
def test_there_is_one_division_for_each_pivot(name: str) -> None:
    graph = gd.formulations()[name](chain(8)).forward_dynamics_derivatives
    operations = [graph.instruction_id(k) for k in range(graph.n_instructions())]
    assert sum(operation in (ca.OP_DIV, ca.OP_INV) for operation in operations) == 8


def test_the_second_derivatives_are_not_larger_than_those_of_all_variables_at_once() -> None:
    dyn = gd.NewtonEuler(load("panda7"))
    q, v, a, lam = (ca.SX.sym(letter, dyn.tree.nv) for letter in ("q", "v", "a", "lam"))
    everything = ca.hessian(ca.dot(lam, dyn.inverse_dynamics(q, v, a)), ca.vertcat(q, v, a))[0]
    plain = ca.Function("plain", [q, v, a, lam], ca.cse([everything]))
    assert count(dyn.inverse_dynamics_hessian)["instructions"] < 0.8 * plain.n_instructions()


# Errors.


def test_no_derivatives_of_a_mass_matrix_that_is_always_singular() -> None:
    """A free-flyer on a massless base: it can turn against the first joint with nothing moving."""
    dyn = gd.NewtonEuler(gd.load_urdf("panda7", root_joint=pin.JointModelFreeFlyer()))
    assert dyn.inverse_dynamics_derivatives.n_instructions() > 0
    with pytest.raises(UnsupportedError, match="panda7: M is singular in every configuration, so that no tau determin"):
        _ = dyn.forward_dynamics_derivatives

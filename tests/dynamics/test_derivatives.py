"""Derivatives of the dynamics: against Pinocchio's where those are right, against differences of its rnea elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import chain, load
from gdalembert.errors import UnsupportedError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.instructions import count
from tests.helpers.models import CONSTANT_SUBSPACE, JOINTS, MIMICABLE, QUICK_JOINTS, build, relative_error, states
from tests.helpers.sets import quick, with_extras

FORMULATIONS = sorted(gd.formulations())
SEQUENCES = sorted(set(JOINTS) - set(CONSTANT_SUBSPACE))
"""Joints for which Pinocchio's derivatives are wrong: spherical ZYX, universal, ellipsoid, composite."""

EXACT = 1e-11
DIFFERENCED = 1e-10
"""Tolerance against differences: extrapolation of the steps 1/16 … 1/128 leaves an error of order (1/16)⁸ times a
ninth derivative, and rounding of 1e-16 × 128 times the size of what is differenced: about 1e-12 in these models."""

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)
mostly_newton_euler = pytest.mark.parametrize("name", quick(FORMULATIONS, "newton_euler"))

Vector = np.ndarray


def extrapolated(differences: Callable[[float], Vector]) -> Vector:
    """The limit for a step to zero of differences whose error is even in the step (Richardson)."""
    table = [differences(2.0**-k) for k in range(4, 8)]
    power = 1
    while len(table) > 1:
        power *= 4
        table = [(power * fine - coarse) / (power - 1) for coarse, fine in pairwise(table)]
    return table[0]


def derivative(f: Callable[[float], Vector]) -> Vector:
    return extrapolated(lambda h: (f(h) - f(-h)) / (2 * h))


def second_derivative(f: Callable[[float], Vector]) -> Vector:
    return extrapolated(lambda h: (f(h) - 2 * f(0) + f(-h)) / h**2)


def jacobian(f: Callable[[Vector], Vector], n: int) -> Vector:
    """∂f/∂x (n columns) at x = 0."""
    return np.column_stack([derivative(lambda h, unit=unit: f(h * unit)) for unit in np.eye(n)])


def call(graph: ca.Function, *arguments: Vector) -> list[Vector]:
    return [x.full() for x in graph.call(list(arguments))]


def rnea(model: pin.Model, q: Vector, v: Vector, a: Vector) -> Vector:
    return pin.rnea(model, model.createData(), q, v, a)


def acceleration(model: pin.Model, q: Vector, v: Vector, tau: Vector) -> Vector:
    """M⁻¹ (tau − nle) of rnea alone: right for every joint, mimic joints included."""
    nle = rnea(model, q, v, np.zeros(model.nv))
    m = np.array([rnea(model, q, v, unit) - nle for unit in np.eye(model.nv)]).T
    return np.linalg.solve(m, tau - nle)


def check_against_pinocchio(model: pin.Model, name: str, number: int = 2) -> None:
    dyn, data = gd.formulations()[name](model, clean=0), model.createData()
    for q, v, a in states(model, np.random.default_rng(0), number):
        truth = [x.copy() for x in pin.computeRNEADerivatives(model, data, q, v, a)[:2]]
        for ours, theirs in zip(call(dyn.inverse_dynamics_derivatives, q, v, a), truth, strict=True):
            assert relative_error(ours, theirs) < EXACT
        tau = rnea(model, q, v, a)
        truth = [x.copy() for x in pin.computeABADerivatives(model, data, q, v, tau)]
        for ours, theirs in zip(call(dyn.forward_dynamics_derivatives, q, v, tau), truth, strict=True):
            assert relative_error(ours, theirs) < EXACT


def check_against_differences(model: pin.Model, name: str) -> None:
    dyn, nv = gd.formulations()[name](model, clean=0), model.nv
    q, v, a = states(model, np.random.default_rng(1), 1)[0]

    dtau_dq, dtau_dv = call(dyn.inverse_dynamics_derivatives, q, v, a)
    moved = jacobian(lambda d: rnea(model, pin.integrate(model, q, d), v, a), nv)
    assert relative_error(dtau_dq, moved) < DIFFERENCED
    assert relative_error(dtau_dv, jacobian(lambda d: rnea(model, q, v + d, a), nv)) < DIFFERENCED

    tau = rnea(model, q, v, a)
    da_dq, da_dv, inverse = call(dyn.forward_dynamics_derivatives, q, v, tau)
    moved = jacobian(lambda d: acceleration(model, pin.integrate(model, q, d), v, tau), nv)
    assert relative_error(da_dq, moved) < DIFFERENCED
    assert relative_error(da_dv, jacobian(lambda d: acceleration(model, q, v + d, tau), nv)) < DIFFERENCED
    at_rest = acceleration(model, q, v, np.zeros(nv))
    truth = np.column_stack([acceleration(model, q, v, unit) - at_rest for unit in np.eye(nv)])
    assert relative_error(inverse, truth) < EXACT


def check_hessian(model: pin.Model, name: str) -> None:
    """Along straight lines (pin.integrate in q) against rnea, and block by block against the first derivatives."""
    dyn, nv = gd.formulations()[name](model, clean=0), model.nv
    rng = np.random.default_rng(2)
    q, v, a = states(model, rng, 1)[0]
    lam = rng.normal(size=nv)
    qq, qv, vv, aq = call(dyn.inverse_dynamics_hessian, q, v, a, lam)
    assert np.array_equal(qq, qq.T)
    assert np.array_equal(vv, vv.T)

    dq, dv, da = rng.normal(size=(3, nv)) / 2
    along = second_derivative(lambda s: lam @ rnea(model, pin.integrate(model, q, s * dq), v + s * dv, a + s * da))
    form = dq @ qq @ dq + 2 * dq @ qv @ dv + dv @ vv @ dv + 2 * da @ aq @ dq
    size = max(np.abs(block).max() for block in (qq, qv, vv, aq))
    # second differences lose twice the digits: rounding of 1e-16 × 128²
    assert abs(form - along) < 1e-8 * max(1, size)

    first = dyn.inverse_dynamics_derivatives
    by_q = jacobian(lambda d: lam @ call(first, pin.integrate(model, q, d), v, a)[0], nv)
    assert relative_error(qq, (by_q + by_q.T) / 2) < DIFFERENCED
    assert relative_error(qv, jacobian(lambda d: lam @ call(first, q, v + d, a)[0], nv)) < DIFFERENCED
    assert relative_error(vv, jacobian(lambda d: lam @ call(first, q, v + d, a)[1], nv)) < DIFFERENCED
    m_lam = jacobian(lambda d: dyn.mass_matrix(pin.integrate(model, q, d)).full() @ lam, nv)
    assert relative_error(aq, m_lam) < DIFFERENCED


@every_formulation
@pytest.mark.parametrize("joint", quick(CONSTANT_SUBSPACE, *QUICK_JOINTS))
def test_each_joint_type_against_pinocchio(joint: str, name: str) -> None:
    model = build(np.random.default_rng(1), ["RX", joint, "RevoluteUnaligned", "PY"], [0, 1, 2, 1])
    assert np.all(model.armature > 0)
    check_against_pinocchio(model, name)


@every_formulation
@pytest.mark.long
@pytest.mark.parametrize("robot", ["puma560_benchmark", "panda7", *with_extras(["ur5", "kinova", "solo12"])])
def test_robots_against_pinocchio(robot: str, name: str) -> None:
    check_against_pinocchio(load(robot), name, number=1)


@pytest.mark.long
@pytest.mark.extras
def test_talos_against_pinocchio() -> None:
    check_against_pinocchio(load("talos"), "newton_euler", number=1)


@mostly_newton_euler
@pytest.mark.parametrize("joint", quick([*SEQUENCES, "Spherical"], "SphericalZYX"))
def test_each_other_joint_type_against_differences(joint: str, name: str) -> None:
    check_against_differences(build(np.random.default_rng(2), ["RX", joint, "RUBY"], [0, 1, 2]), name)


@mostly_newton_euler
@pytest.mark.parametrize("joint", quick(MIMICABLE, "RUBZ"))
def test_each_mimicked_joint_type_against_differences(joint: str, name: str) -> None:
    check_against_differences(build(np.random.default_rng(3), ["RX", joint, "Spherical"], [0, 1, 2], mimic=2), name)


@pytest.mark.parametrize("joint", SEQUENCES)
def test_where_pinocchios_derivatives_are_wrong(joint: str) -> None:
    """If this fails, Pinocchio has been mended and the tests above can trust it."""
    model = build(np.random.default_rng(2), ["RX", joint, "RUBY"], [0, 1, 2])
    q, v, a = states(model, np.random.default_rng(1), 1)[0]
    theirs = pin.computeRNEADerivatives(model, model.createData(), q, v, a)[0]
    moved = jacobian(lambda d: rnea(model, pin.integrate(model, q, d), v, a), model.nv)
    assert relative_error(theirs, moved) > 0.1


@every_formulation
@pytest.mark.parametrize("joint", quick(JOINTS, "RUBX"))
def test_hessian_of_each_joint_type(joint: str, name: str) -> None:
    check_hessian(build(np.random.default_rng(4), ["RX", joint, "RevoluteUnaligned"], [0, 1, 2]), name)


@every_formulation
@pytest.mark.parametrize("joint", ["RUBZ", "PX"])
def test_hessian_with_a_mimic_joint(joint: str, name: str) -> None:
    check_hessian(build(np.random.default_rng(5), ["Planar", joint], [0, 1], mimic=2), name)


@pytest.mark.extras
@mostly_newton_euler
def test_hessian_of_a_robot_that_moves_freely(name: str) -> None:
    check_hessian(load("solo12"), name)


@pytest.mark.extras
@mostly_newton_euler
def test_inverse_of_the_mass_matrix_is_symmetric_to_the_bit(name: str) -> None:
    model = load("solo12")
    dyn = gd.formulations()[name](model)
    q, v, tau = states(model, np.random.default_rng(6), 1)[0]
    inverse = call(dyn.forward_dynamics_derivatives, q, v, tau)[2]
    assert np.array_equal(inverse, inverse.T)
    assert relative_error(inverse @ dyn.mass_matrix(q).full(), np.eye(model.nv)) < EXACT


@pytest.mark.long
@mostly_newton_euler
def test_springs_add_their_stiffness(name: str) -> None:
    model = build(np.random.default_rng(7), ["RX", "Spherical", "PY", "Translation"], [0, 1, 1, 2])
    springs = {"RX_0": (3.0, 0.2), "PY_2": (7.0, -0.1), "Translation_3": ([1.0, 0.0, 2.0], 0.3)}
    k = np.zeros(model.nv)
    k[0], k[4], k[5:] = 3.0, 7.0, [1.0, 0.0, 2.0]
    cls = gd.formulations()[name]
    plain, sprung = cls(model, clean=0), cls(model, clean=0, springs=springs)
    q, v, a = states(model, np.random.default_rng(8), 1)[0]

    without, with_springs = (call(dyn.inverse_dynamics_derivatives, q, v, a) for dyn in (plain, sprung))
    assert relative_error(with_springs[0] - without[0], np.diag(k)) < EXACT
    assert np.array_equal(with_springs[1], without[1])
    lam = np.random.default_rng(9).normal(size=model.nv)
    for one, other in zip(*(call(dyn.inverse_dynamics_hessian, q, v, a, lam) for dyn in (plain, sprung)), strict=True):
        assert np.array_equal(one, other)

    tau = sprung.inverse_dynamics(q, v, a).full().ravel()
    da_dq, da_dv, _ = call(sprung.forward_dynamics_derivatives, q, v, tau)
    forward = sprung.forward_dynamics
    moved = jacobian(lambda d: forward(pin.integrate(model, q, d), v, tau).full().ravel(), model.nv)
    assert relative_error(da_dq, moved) < DIFFERENCED
    assert relative_error(da_dv, jacobian(lambda d: forward(q, v + d, tau).full().ravel(), model.nv)) < DIFFERENCED


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

"""The squares of a cost: those that are written, and those of matrices of weights."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import UnsupportedError
from gdalembert.nlp.least_squares import squares
from tests.helpers.models import relative_error
from tests.ocp.test_real_time import numbers, reaching


def test_a_cost_is_taken_apart_into_squares() -> None:
    x, w = ca.SX.sym("x", 3), ca.SX.sym("w")
    cost = w * ca.sumsqr(x - 1) / 2 - (-((x[0] * x[1]) ** 2)) + ca.dot(x, x) + w**3 + 2 * (x[2] + w) ** 2
    found = squares(cost, x, "the cost")
    assert len(found) == 8
    rest = cost - sum((each.weight * each.residual**2 for each in found), ca.SX(0))
    graph = ca.Function("rest", [x, w], [rest])
    one, other = (float(graph(point, 0.7)) for point in np.random.default_rng(0).normal(size=(2, 3)))
    assert one == pytest.approx(other, abs=1e-12) == pytest.approx(0.7**3, abs=1e-12)


@pytest.mark.parametrize(
    "cost",
    [
        lambda e, w: e.T @ ca.diag(w) @ e,
        lambda e, w: ca.bilin(ca.diag(w) * 2, e, e),
        lambda e, w: (e[0] * 3) * e[0] + w[1] * (2 * e[1]) * (-e[1]) * -1,
        lambda e, w: (w[0] * e[0]) * (e[0] / w[1]) + e[0] * e[1] * e[1] * e[0],
        lambda e, w: ca.sumsqr(ca.DM([[2, 0], [1, 3]]).T @ e),
    ],
)
def test_weights_are_written_in_many_ways(cost: Callable[[ca.SX, ca.SX], ca.SX]) -> None:
    x, w = ca.SX.sym("x", 2), ca.SX.sym("w", 2)
    written = cost(x - 1, w)
    found = squares(written, x, "the cost")
    graph = ca.Function(
        "rest",
        [x, w],
        [written, sum((w * s**2 for w, s in found), ca.SX(0)), ca.vertcat(*(each.weight for each in found))],
    )
    one, other, weights = graph([0.3, -0.7], [0.5, 0.9])
    assert float(one) == pytest.approx(float(other), rel=1e-14)
    assert np.all(weights.full() > 0)
    assert len(found) == 2


BENT = ca.Function("e", [x := ca.SX.sym("x", 4)], [ca.vertcat(x[0] * ca.sin(x[1]), x[1] - 3, -2 * x[2], x[3] / 3)])


def positive(rank: int) -> ca.DM:
    """A symmetric matrix, positive semidefinite, of entries of different sizes."""
    half = np.random.default_rng(rank).normal(size=(4, rank)) * [[1e3], [1], [1e-2], [1e-3]]
    return ca.DM(half @ half.T)


@pytest.mark.parametrize(("kind", "rank"), [(ca.SX, 4), (ca.MX, 2)])
@pytest.mark.parametrize(
    ("cost", "more"),
    [
        (lambda e, matrix: ca.bilin(matrix, e, e), 0),
        (lambda e, matrix: 3 * e.T @ matrix @ e / 2, 0),
        (lambda e, matrix: ca.dot(e, ca.mtimes(matrix, e)) + ca.sumsqr(e[:2]), 2),
        (lambda e, matrix: ca.bilin(ca.tril(matrix) * 2, e, e) - ca.dot(ca.diag(matrix), e**2), 0),
    ],
)
def test_a_matrix_of_weights_has_as_many_squares_as_its_rank(cost: Callable, more: int, kind: type, rank: int) -> None:
    x, p, matrix = ca.SX.sym("x", 4), ca.SX.sym("p", 4), positive(rank)
    own = kind.sym("x", 4), kind.sym("p", 4)
    written = ca.Function("cost", own, [cost(BENT(own[0]) - own[1], matrix)]).expand()(x, p)
    found = squares(written, x, "the cost")
    assert len(found) == min(4, rank + more)
    total = sum((w * s**2 for w, s in found), ca.SX(0))
    graph = ca.Function("both", [x, p], [written, total, ca.vertcat(*(each.weight for each in found))])
    for point in np.random.default_rng(0).normal(size=(5, 8)):
        one, other, weights = graph(point[:4], point[4:])
        assert float(one) == pytest.approx(float(other), rel=1e-12)
        assert np.all(weights.full() > 0)


def test_parameters_weigh_matrices() -> None:
    """Each matrix with its own; what is beside them stays as it is."""
    x, w = ca.SX.sym("x", 4), ca.SX.sym("w", 2)
    cost = w[0] * ca.bilin(positive(4), x, x) + x.T @ positive(2) @ x / w[1] + w[0] ** 2 * (x[3] - 1) ** 2
    found = squares(cost, x, "the cost")
    graph = ca.Function("both", [x, w], [cost, sum((weight * s**2 for weight, s in found), ca.SX(0))])
    assert len(found) == 7
    one, other = graph([0.3, -0.2, 0.5, 0.1], [0.7, 0.4])
    assert float(one) == pytest.approx(float(other), rel=1e-12)


def test_a_panda_that_follows_a_pose_has_26_squares() -> None:
    """Of 3 entries of a position, 9 of a rotation, 7 velocities and 7 torques; the cost is their sum, nothing else."""
    place = gd.Kinematics(gd.load_urdf("panda7", check="off")).frame_placement("flange")
    motion, target = ca.SX.sym("x", 21), ca.SX.sym("target", 12)
    here = place(motion[:7])
    away = ca.sumsqr(here[:3, 3] - target[:3]) + 0.05 * ca.sumsqr(ca.vec(here[:3, :3]) - target[3:])
    cost = 100 * away + 1e-2 * ca.sumsqr(motion[7:14]) + 1e-6 * ca.sumsqr(motion[14:])
    found = squares(cost, motion, "the cost")
    assert len(found) == 26
    both = ca.Function("both", [motion, target], [cost, sum((w * s**2 for w, s in found), ca.SX(0))])
    for point in np.random.default_rng(0).normal(size=(5, 33)):
        one, other = both(point[:21], point[21:])
        assert float(one) == pytest.approx(float(other), rel=1e-12)


@pytest.mark.parametrize(
    ("cost", "eigenvalue"),
    [
        (lambda x: ca.bilin(ca.DM([[1, 2], [2, 1]]), x - 1, x - 1), "-1"),
        (lambda x: x.T @ ca.DM([[1, 1], [1, 1 - 1e-9]]) @ x, "-5e-10"),
        (lambda x: ca.sumsqr(x) + 3 * x[0] * x[1], "-0.5"),
        (lambda x: ca.sumsqr(x) - 3 * x[0] ** 2, "-2"),
        (lambda x: x[0] * x[1], "-0.5"),
        (lambda x: ca.bilin(ca.DM([[1, np.inf], [np.inf, 1]]), x, x), "nan"),
    ],
)
def test_what_is_negative_somewhere_is_refused_with_its_eigenvalue(cost: Callable, eigenvalue: str) -> None:
    x = ca.SX.sym("x", 2)
    told = f"^rti: the cost is no sum of squares: a quadratic form in it has the eigenvalue {eigenvalue}; give a matrix"
    with pytest.raises(UnsupportedError, match=told):
        squares(cost(x), x, "the cost")


@pytest.mark.parametrize("term", [lambda x: ca.norm_2(x), lambda x: ca.exp(x[1]), lambda x: 3 * x[0]])
def test_what_is_no_square_is_refused(term: Callable[[ca.SX], ca.SX]) -> None:
    x = ca.SX.sym("x", 2)
    with pytest.raises(UnsupportedError, match=r"^rti: the cost is no sum of squares of q, v, a, u and forces; write"):
        squares(ca.sumsqr(x) + term(x), x, "the cost")


def test_a_matrix_of_parameters_is_refused() -> None:
    x, matrix = ca.SX.sym("x", 2), ca.SX.sym("W", 2, 2)
    with pytest.raises(UnsupportedError, match=r"one of parameters, W = L Lᵀ, as ca\.sumsqr\(L\.T @ e\), or take"):
        squares(ca.bilin(matrix, x, x), x, "the cost")


@pytest.mark.system
def test_a_plan_by_a_matrix_is_that_by_its_factor() -> None:
    weights = np.array([[3.0, 1.0], [1.0, 2.0]])
    half = np.linalg.cholesky(weights)
    costs = (lambda e: ca.bilin(ca.DM(weights), e, e)), (lambda e: ca.sumsqr(ca.DM(half).T @ e))
    plans = []
    for cost in costs:
        problem = reaching()
        goal = problem.integral(lambda q, cost=cost: cost(q - [0.3, 0.1]))
        problem.minimize(goal + problem.integral(lambda u: 1e-3 * ca.sumsqr(u)) + cost(problem.v[:, -1]))
        plans.append(problem.solver("rti", {"levenberg_marquardt": 0.0, "first_gap": 1e-9})(**numbers()))
    assert relative_error(plans[0].q, plans[1].q) < 1e-6
    assert plans[0].cost == pytest.approx(plans[1].cost, rel=1e-6)

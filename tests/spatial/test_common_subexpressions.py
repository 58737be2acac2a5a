"""Every value once, be it with a plus or with a minus: the same values from no more operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.regrouping import prepare
from gdalembert.spatial.functions import function
from gdalembert.spatial.instructions import eliminate_common_subexpressions
from tests.helpers.sets import with_extras

Rng = np.random.Generator
Make = Callable[[ca.SX, ca.SX, ca.SX], list[ca.SX]]

# No two of them have a product of ±1 that rounding hides: CasADi puts x for 3 (x / 3).
CONSTANTS = (0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 0.7, -0.7, 3.0, -3.0)


def size(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> int:
    return int(ca.Function("f", list(inputs), list(outputs)).n_instructions())


def operations(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> int:
    """How many instructions are neither inputs nor outputs nor constants."""
    graph = ca.Function("f", list(inputs), list(outputs))
    found = [graph.instruction_id(k) for k in range(graph.n_instructions())]
    return sum(op not in (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST) for op in found)


def assert_same(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX], rng: Rng) -> list[ca.SX]:
    """No value, no shape and no place differs, and the graph is not larger than by ``ca.cse``."""
    small = eliminate_common_subexpressions(inputs, outputs)
    before, after = (ca.Function("f", list(inputs), list(x)) for x in (outputs, small))
    assert [x.shape for x in small] == [x.shape for x in outputs]
    assert all(x.is_dense() for x in small)
    for _ in range(5):
        numbers = [rng.normal(size=x.shape) for x in inputs]
        for x, y in zip(before.call(numbers), after.call(numbers), strict=True):
            # CasADi puts x for c + (x − c), which can cost a rounding error
            assert np.allclose(x.full(), y.full(), rtol=1e-15, atol=1e-15, equal_nan=True)
    assert size(inputs, small) <= size(inputs, ca.cse(list(outputs)))
    return small


def random_expressions(rng: Rng, leaves: Sequence[ca.SX], number: int) -> list[ca.SX]:
    """Of all operations that the package uses; denominators keep away from zero, on both sides of it."""
    pool = list(leaves)

    def pick() -> ca.SX:
        if rng.uniform() < 0.15:
            return ca.SX(CONSTANTS[rng.integers(len(CONSTANTS))])
        return pool[rng.integers(len(pool))]

    def away_from_zero() -> ca.SX:
        return (-1) ** int(rng.integers(2)) * (0.7 + ca.fabs(pick()))

    makers: list[Callable[[], ca.SX]] = [
        lambda: pick() + pick(),
        lambda: pick() - pick(),
        lambda: pick() * pick(),
        lambda: -pick(),
        lambda: -(pick() * pick()),
        lambda: -pick() - pick(),
        lambda: pick() / away_from_zero(),
        lambda: 1 / away_from_zero(),
        lambda: 2 * pick(),
        lambda: ca.sin(pick()),
        lambda: ca.cos(-pick()),
        lambda: ca.sqrt(ca.fabs(pick())),
        lambda: pick() ** 2,
        lambda: ca.fmin(pick(), pick()),
        lambda: ca.fmax(pick(), -pick()),
        lambda: ca.if_else(pick() < pick(), pick(), pick()),
        lambda: ca.atan2(away_from_zero(), pick()),
    ]
    for _ in range(number):
        pool.append(ca.SX(makers[rng.integers(len(makers))]()))
        if rng.uniform() < 0.3:  # the mirror image of what is there
            pool.append(-pool[-1])
    return pool


@pytest.mark.parametrize("seed", range(150))
def test_random_expressions_keep_their_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = [ca.SX.sym("x", 3), ca.SX.sym("y", 2, 2)]
    pool = random_expressions(rng, [x[k] for x in inputs for k in range(x.numel())], 60)
    chosen = [pool[k] for k in rng.integers(len(pool), size=16)]
    outputs = [
        ca.reshape(ca.vertcat(*chosen[:6]), 2, 3),
        ca.vertcat(*chosen[6:12]),
        ca.horzcat(*chosen[12:], chosen[0], -chosen[1]),
    ]
    assert_same(inputs, [ca.densify(x) for x in outputs], rng)


PAIRS: dict[str, tuple[Make, int]] = {
    "sums": (lambda x, y, z: [ca.sin(x + y), ca.sin(y + x)], 2),
    "sums of minus": (lambda x, y, z: [ca.sin(x + y), ca.sin(-x - y)], 3),
    "differences": (lambda x, y, z: [ca.cos(x - y), ca.cos(y - x)], 2),
    "products": (lambda x, y, z: [ca.exp(x * y), ca.exp(y * x)], 2),
    "minus constants": (lambda x, y, z: [ca.exp(x * -0.3) * y, y - (x * 0.3)], 5),
    "minus constants in sums": (lambda x, y, z: [z + x * -0.3, z - x * 0.3], 2),
    "signs of products": (lambda x, y, z: [(-x) * y + z, z - x * y], 2),
    "signs of both factors": (lambda x, y, z: [(-x) * (-y) + z, z + x * y], 2),
    "quotients": (lambda x, y, z: [z + x / -y, z - x / y, z + (-x) / y], 2),
    "quotients of minus": (lambda x, y, z: [z + x / y, z + (-x) / (-y)], 2),
    "sines": (lambda x, y, z: [z + ca.sin(-x), z - ca.sin(x)], 2),
    "cosines": (lambda x, y, z: [z + ca.cos(x - y), z + ca.cos(y - x)], 3),
    "squares": (lambda x, y, z: [z + (x - y) ** 2, z + (y - x) ** 2], 3),
    "absolutes": (lambda x, y, z: [z + ca.fabs(x - y), z + ca.fabs(y - x)], 3),
    "twice": (lambda x, y, z: [z + 2 * (x - y), z - 2 * (y - x)], 3),
    "inverses": (lambda x, y, z: [z + 1 / (x - y), z - 1 / (y - x)], 3),
    "signs of sums": (lambda x, y, z: [z - (x + y), z + (-x - y)], 2),
    "a sign that an output must take": (lambda x, y, z: [x * y, -(x * y)], 2),
    "a sign that a function must take": (lambda x, y, z: [ca.exp(x - y), ca.exp(y - x)], 4),
    "minus of minus": (lambda x, y, z: [-(-(x + y) * 1.0), x + y], 1),
    "what a sign is taken of twice": (lambda x, y, z: [ca.exp(-(x * y)), ca.atan2(z, -(x * y))], 4),
}


@pytest.mark.parametrize("name", PAIRS)
def test_equal_up_to_sign_is_computed_once(name: str) -> None:
    make, number = PAIRS[name]
    inputs = [ca.SX.sym(letter) for letter in "xyz"]
    outputs = [ca.densify(x) for x in make(*inputs)]
    assert operations(inputs, assert_same(inputs, outputs, np.random.default_rng(0))) == number


@pytest.mark.parametrize("name", ["exp", "sqrt", "floor", "ceil", "acos", "erf", "log1p", "not", "sign"])
def test_functions_that_are_neither_odd_nor_even_keep_their_argument(name: str) -> None:
    functions: dict[str, Callable[[ca.SX], ca.SX]] = {"not": ca.logic_not}
    of = functions.get(name) or getattr(ca, name)
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    difference = 0.1 * ca.sin(x - y)
    assert_same([x, y], [ca.vertcat(of(difference), of(-difference), -of(difference))], np.random.default_rng(1))


@pytest.mark.parametrize("name", ["atan2", "fmin", "fmax", "fmod", "power", "hypot", "if_else_zero", "lt", "copysign"])
def test_functions_of_two_values_take_their_signs(name: str) -> None:
    functions: dict[str, Callable[[ca.SX, ca.SX], ca.SX]] = {
        "lt": lambda a, b: a < b,
        "power": lambda a, b: a**b,
        "if_else_zero": lambda a, b: ca.if_else(a, b, 0),
    }
    of = functions.get(name) or getattr(ca, name)
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    a, b = x - y, x * y
    values = [of(a, b), of(-a, b), of(a, -b), of(-a, -b), of(b, a), of(y - x, b)]
    assert_same([x, y], [ca.densify(ca.vertcat(*values))], np.random.default_rng(2))


def test_outputs_may_be_inputs_constants_and_each_other() -> None:
    x, m = ca.SX.sym("x", 2), ca.SX.sym("m", 2, 3)
    value = ca.sin(x[0])
    outputs = [
        x,
        -x,
        m,
        ca.SX([0, 3, -3, 0.5, 1, -1]),
        ca.SX(ca.DM.zeros(2, 2)),
        ca.vertcat(value, value, -value, -value, x[1], 0, -2),
        ca.densify(m.T @ ca.DM([[0, 0], [0, -1]])),
    ]
    assert_same([x, m], outputs, np.random.default_rng(3))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 3), (3, 2), (0, 0), (0, 3), (3, 0)])
def test_shapes_are_kept(shape: tuple[int, int]) -> None:
    x = ca.SX.sym("x", *shape)
    assert_same([x], [ca.SX(x * x), ca.SX(-x)], np.random.default_rng(4))


def test_calls_of_functions_are_left_alone() -> None:
    x = ca.SX.sym("x", 2)
    called = ca.Function("called", [x], [ca.sin(x[0]) * x[1]], {"never_inline": True})
    outputs = [ca.densify(called(x) - 2), ca.densify(called(-x))]
    assert_same([x], outputs, np.random.default_rng(5))


def test_the_given_graph_is_kept_where_ours_is_larger() -> None:
    """A difference that is met the other way round first costs a sign that the given graph does not need."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    for outputs in ([ca.exp(x - y), ca.exp(y - x)], [y - x, x - y, ca.exp(x - y), ca.exp(y - x)], [-x, ca.exp(-x)]):
        assert_same([x, y], outputs, np.random.default_rng(6))


@pytest.mark.parametrize("name", ["panda7", *with_extras(["solo12", "go2"])])
def test_robots_keep_their_values_and_lose_operations(name: str) -> None:
    tree = prepare(read_tree(robots.load(name)))
    q, v, a = (ca.SX.sym(letter, number) for letter, number in (("q", tree.nq), ("v", tree.nv), ("a", tree.nv)))
    tau, m = (ca.densify(x) for x in (newton_euler.inverse_dynamics(tree, q, v, a), newton_euler.mass_matrix(tree, q)))
    small = eliminate_common_subexpressions([q, v, a], [tau, m])
    assert size([q, v, a], small) < size([q, v, a], ca.cse([tau, m]))
    before, after = (ca.Function("f", [q, v, a], x) for x in ([tau, m], small))
    rng = np.random.default_rng(7)
    for _ in range(3):
        numbers = [rng.normal(size=x.shape) for x in (q, v, a)]
        for x, y in zip(before.call(numbers), after.call(numbers), strict=True):
            assert np.abs((x - y).full()).max() <= 1e-15 * np.abs(x.full()).max()


@pytest.mark.extras
def test_every_function_goes_through_it() -> None:
    dyn = gd.NewtonEuler(robots.load("solo12"))
    for graph in (dyn.inverse_dynamics, dyn.mass_matrix, dyn.coriolis_matrix, dyn.forward_dynamics):
        s = [ca.SX.sym(name, graph.size1_in(k)) for k, name in enumerate(graph.name_in())]
        again = eliminate_common_subexpressions(s, graph.call(s, True, False))
        assert size(s, again) == graph.n_instructions()


X, P = ca.SX.sym("x", 16), ca.SX.sym("p", 3)


def divisions(graph: ca.Function) -> int:
    return sum(graph.instruction_id(k) in (ca.OP_DIV, ca.OP_INV) for k in range(graph.n_instructions()))


def shared_divisions(quotients: ca.SX) -> int:
    """The number of divisions, where each reciprocal takes two instructions besides, and the constant 2."""
    before, after = (
        ca.Function("f", [X, P], outputs)
        for outputs in ([quotients], eliminate_common_subexpressions([X, P], [quotients]))
    )
    rng = np.random.default_rng(8)
    at = [rng.normal(size=16), rng.normal(size=3)]
    assert np.allclose(before(*at).full(), after(*at).full(), rtol=1e-15, atol=0)
    assert after.n_instructions() <= before.n_instructions() + 1 + 2 * P.numel()
    return divisions(after)


@pytest.mark.parametrize("divisor", [P[0], P[0] - P[1], P[0] * P[1], ca.sin(P[0])])
def test_many_divisions_become_one(divisor: ca.SX) -> None:
    assert shared_divisions(X[:11] / divisor) == 11
    assert shared_divisions(X[:12] / divisor) == 1
    assert shared_divisions(ca.vertcat(X / divisor, 1 / divisor)) == 1


def test_beside_many_divisions_several_become_one() -> None:
    assert shared_divisions(ca.vertcat(X / P[0], X[:8] / P[1])) == 1 + 1
    assert shared_divisions(ca.vertcat(X / P[0], X / P[1], X[:7] / P[2])) == 1 + 1 + 7
    assert shared_divisions(ca.vertcat(X[:15] / P[0], X[:8] / P[1])) == 15 + 8


def test_a_function_keeps_its_reciprocals_where_it_is_called() -> None:
    graph = function("f", {"x": X, "p": P}, {"y": X / (P[0] + P[1])})
    again = ca.Function("again", [X, P], ca.cse(graph.call([X, P])))
    assert divisions(graph) == divisions(again) == 1


def test_zeros_that_are_not_stored_stay_so() -> None:
    y = ca.diag(ca.sin(X[:3] - X[1:4]))
    (small,) = eliminate_common_subexpressions([X], [y])
    assert small.sparsity() == y.sparsity()

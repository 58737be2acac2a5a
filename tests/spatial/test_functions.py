"""Functions: inputs and outputs by name, and their values at many states in one call."""

from __future__ import annotations

import pickle
from copy import copy
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.spatial.arguments import MASKED
from gdalembert.spatial.functions import BatchFunction, Function, TupleFunction, function, symbols


def test_outputs_are_named_and_dense() -> None:
    s = symbols(q=2)
    graph = function("f", s, {"M": ca.diag(s["q"]), "zero": ca.DM(2, 1)})
    assert (graph.name_in(), graph.name_out()) == (["q"], ["M", "zero"])
    assert graph.sparsity_out("M").is_dense()
    assert graph(q=[1, 2])["M"].full().tolist() == [[1, 0], [0, 2]]


def test_common_subexpressions_are_computed_once() -> None:
    s = symbols(q=1)
    graph = function("f", s, {"a": ca.sin(s["q"]) * 2, "b": ca.sin(s["q"]) + 1})
    assert [graph.instruction_id(k) for k in range(graph.n_instructions())].count(ca.OP_SIN) == 1


def test_a_foreign_symbol_is_named() -> None:
    s = symbols(q=1, v=1)
    message = "^f: its expression has the symbol k, which is none of its inputs q, v; give a number in its place"
    with pytest.raises(ArgumentError, match=message):
        function("f", s, {"a": ca.sin(s["q"]), "b": ca.SX.sym("k") * s["v"]})


def product() -> ca.Function:
    s = symbols(x=2, y=2)
    return function("product", s, {"matrix": s["x"] @ s["y"].T})


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 100])
def test_a_matrix_of_each_state(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n, 2))
    assert np.array_equal(BatchFunction(product(), 2, 2)(x, y), x[:, :, None] * y[:, None, :])


def test_vectors_and_numbers() -> None:
    s = symbols(x=3)
    x = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(BatchFunction(function("f", s, {"y": 2 * s["x"]}), 3)(x), 2 * x)
    assert np.array_equal(BatchFunction(function("f", s, {"y": ca.sum1(s["x"])}))(x), x.sum(axis=1))


def test_entries_that_are_no_numbers_of_the_graph_are_zero() -> None:
    """Of a Function whose output is sparse: as CasADi's call of each state has them."""
    x, matrix = ca.SX.sym("x", 3), ca.SX(2, 3)
    matrix[0, 1], matrix[1, 2] = x[0] * x[2], x[1]
    states = np.random.default_rng(0).normal(size=(5, 3))
    graph = ca.Function("f", [x], [matrix])
    assert np.array_equal(BatchFunction(graph, 2, 3)(states), [graph(each).full() for each in states])
    column = ca.Function("f", [x], [matrix[:, 1]])
    assert np.array_equal(BatchFunction(column, 2)(states), [column(each).full().ravel() for each in states])


class Python(ca.Callback):
    """A Function with Python in it."""

    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.fails = fails
        self.construct("own", {})

    def eval(self, arg: list[ca.DM]) -> list[ca.DM]:
        if self.fails:
            raise ValueError("no number")
        return [arg[0] * 3]


def test_python_runs_on_one_thread() -> None:
    callback = Python(fails=False)
    x = np.arange(6.0)[:, None]
    assert np.array_equal(BatchFunction(callback)(x), 3 * x[:, 0])


def test_what_cannot_be_evaluated_is_named() -> None:
    callback = Python(fails=True)
    with pytest.raises(ArgumentError, match=r"^the Function 'own' cannot be evaluated: "):
        BatchFunction(callback)(np.ones((2, 1)))


def pose_function() -> ca.Function:
    """(q, T) → (x), 3: the point q of the frame T."""
    s = symbols(q=3) | {"T": ca.SX.sym("T", 4, 4)}
    return function("f", s, {"x": s["T"][:3, :3] @ s["q"] + s["T"][:3, 3]})


def test_functions_take_objects_of_pinocchio_and_lists_of_symbols() -> None:
    f, placement, q = pose_function(), pin.exp6(np.linspace(0.1, 0.6, 6)), [0.3, -0.2, 0.5]
    wanted = placement.act(np.array(q))
    assert np.abs(f(q, placement).full().ravel() - wanted).max() < 1e-15
    assert np.abs(f(q=q, T=placement)["x"].full().ravel() - wanted).max() < 1e-15
    for kind in (ca.SX, ca.MX):
        entries = [kind.sym(name) for name in "xyz"]
        rows = [[kind(x) for x in row] for row in placement.homogeneous.tolist()]
        for given in (placement, rows):
            graph = ca.Function("graph", entries, [f(entries, given)])
            assert np.abs(graph(*q).full().ravel() - wanted).max() < 1e-15
    s = symbols(w=6, pi=10)
    halves = function("g", s, {"x": s["w"], "y": s["pi"]})
    force, body = pin.Force(np.arange(6.0)), pin.Inertia.FromSphere(2.0, 0.3)
    for given in (force, pin.Motion(force.vector)):
        w, pi = halves(given, body)
        assert w.full().ravel().tolist() == force.vector.tolist()
        assert pi.full().ravel().tolist() == body.toDynamicParameters().tolist()


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((np.zeros(2), np.eye(4)), {}, ArgumentError, "f: q has shape 2 × 1; give 3 × 1"),
        ((np.zeros(3), np.eye(3)), {}, ArgumentError, "f: T has shape 3 × 3; give 4 × 4"),
        ((np.zeros(3),), {}, ArgumentError, "f takes 2 arguments, q, T, and got 1"),
        (([], np.eye(4)), {}, ArgumentError, "f: q is empty; give 3 × 1"),
        ((), {"q": []}, ArgumentError, "f: q is empty; give 3 × 1"),
        ((), {"T": pin.Motion.Zero()}, ArgumentError, "f: T has shape 6 × 1; give 4 × 4"),
        ((), {"S": 1}, UnknownNameError, "no input of f named 'S'; known: 'q', 'T'"),
        (("zero", np.eye(4)), {}, ArgumentTypeError, "f: q is 'zero'; give 3 × 1 numbers or symbols"),
        (
            (ca.SX.sym("q", 3), ca.MX.sym("T", 4, 4)),
            {},
            ArgumentTypeError,
            "f: q is SX and T is MX; give symbols of one",
        ),
    ],
)
def test_a_call_is_refused_in_one_sentence(
    args: tuple[Any, ...], kwargs: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        pose_function()(*args, **kwargs)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


EMPTY, MASKED_ENTRY = "f: q is empty; give 3 × 1", f"f: q: {MASKED}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros(0), EMPTY),
        (np.zeros((3, 0)), EMPTY),
        ((), EMPTY),
        ([[]], EMPTY),
        ([[], [], []], EMPTY),
        (iter([]), "f: q is <list_iterator"),
        (map(float, [1, 2, 3]), "f: q is <map"),
        (np.ma.masked_array([0.1, 99.0, 0.9], [0, 1, 0]), MASKED_ENTRY),
        ([np.ma.masked_array([0.1, 99.0, 0.9], [0, 1, 0])], MASKED_ENTRY),
        (np.array(["a", "b", "c"]), "f: q is array(['a', 'b', 'c']"),
        (np.array([1j, 2, 3]), "f: q is array([0.+1.j"),
        (np.array([None] * 3), "f: q is array([None, None, None]"),
        (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "f: q is array(['2020-01-01'"),
    ],
)
def test_what_casadi_would_take_for_zeros_or_refuse_in_many_lines(given: Any, message: str) -> None:
    """As compiled Functions refuse it."""
    f = pose_function()
    for call in (lambda: f(given, np.eye(4)), lambda: f(q=given, T=np.eye(4))):
        with pytest.raises((ArgumentError, ArgumentTypeError)) as raised:
            call()
        assert str(raised.value).startswith(message)
        assert "\n" not in str(raised.value)


def test_what_casadi_takes_is_taken() -> None:
    f = pose_function()
    assert f(1, np.eye(4)).full().ravel().tolist() == [1, 1, 1]
    assert f(np.ones((1, 3)), np.eye(4)).shape == (3, 1)
    assert f(np.ones((3, 5)), np.eye(4)).shape == (3, 5)
    assert f(T=np.eye(4))["x"].full().ravel().tolist() == [0, 0, 0]
    for given in (range(3), [np.array([k]) for k in range(3)], np.ma.masked_array([0, 1, 2]), np.arange(3).astype("O")):
        assert f(given, np.eye(4)).full().ravel().tolist() == [0, 1, 2]
    assert f(10**40, np.eye(4)).full().ravel().tolist() == [1e40] * 3
    with pytest.raises(SyntaxError, match="requires all arguments to be named or none"):
        f(np.zeros(3), T=np.eye(4))


def test_functions_are_casadis_in_copies_and_pickles() -> None:
    s = symbols(q=2)
    for kind in (Function, TupleFunction):
        graph = function("f", s, {"x": 2 * s["q"]}, kind)
        for other in (graph, pickle.loads(pickle.dumps(graph)), copy(graph)):
            assert type(other) is kind
            assert isinstance(other, ca.Function)
            found = other([1, 2])
            assert ((found,) if kind is Function else found)[0].full().ravel().tolist() == [2, 4]
            assert list(other(q=[1, 2])) == ["x"]

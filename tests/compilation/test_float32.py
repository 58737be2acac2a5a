"""Functions of float32: what is computed in it, how exact it is, and that no number is rounded without a word."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.compilation.compiled_function import CompiledFunction, compile
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.models import relative_error

WIDTHS = {width: f"-O2 -march=native -DWIDTH={width} -Wno-psabi" for width in (16, 8, 4)}
ROUNDING = 6e-8
"""Of one number: half a unit in the last place of float32."""
Compile = Callable[[ca.Function], CompiledFunction]


@pytest.fixture(scope="module", params=WIDTHS)
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """What compiles for vectors of a width."""
    folder = tmp_path_factory.mktemp("libraries")

    def make(function: ca.Function) -> CompiledFunction:
        fast = compile(function, flags=WIDTHS[request.param], cache=folder, dtype="float32")
        assert fast.width == request.param
        return fast

    return make


def single(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


KINDS = [{"interpreter": True}, pytest.param({}, marks=pytest.mark.system)]


@pytest.mark.parametrize("options", KINDS, ids=["interpreter", "machine code"])
def test_a_single_call_computes_in_float64_and_rounds(options: dict[str, bool]) -> None:
    graph = gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics_derivatives
    function = compile(graph, dtype=np.float32, **options)
    state, out = single(3, 6), tuple(np.empty((6, 6), np.float32) for _ in range(2))
    for found in (function(*state), function(*state.tolist()), function(*state, out=out)):
        for value, true in zip(found, graph(*state.astype(float)), strict=True):
            assert value.dtype == np.float32
            np.testing.assert_allclose(value, true.full(), rtol=ROUNDING, atol=1e-12)
    assert function.dtype == np.float32
    assert str(function).endswith(", float32)")
    again = pickle.loads(pickle.dumps(function))
    assert again.dtype == np.float32
    assert np.array_equal(again(*state)[0], out[0])


@pytest.mark.parametrize("options", KINDS, ids=["interpreter", "machine code"])
def test_arrays_that_would_be_rounded_are_refused(options: dict[str, bool]) -> None:
    function = compile(gd.NewtonEuler(gd.load_urdf("two_link_arm")).inverse_dynamics, dtype="float32", **options)
    x = single(2)
    many = single(5, 2)
    refused = (
        r"inverse_dynamics: input 'v' is {}, and numbers of this Function are float32; give v.astype\('float32'\)$"
    )
    for kind in ("float64", "int64", "int32"):
        with pytest.raises(ArgumentTypeError, match=refused.format(kind)):
            function(x, x.astype(kind), x)
        with pytest.raises(ArgumentTypeError, match=refused.format(kind)):
            function.batch(many, many.astype(kind), many)
    whole = np.array([1, 2], dtype=np.int16)
    assert np.array_equal(function(x, whole, x), function(x, whole.astype(np.float32), x))
    assert np.array_equal(function(x, [0.1, 2], x), function(x, np.array([0.1, 2], np.float32), x))
    with pytest.raises(ArgumentError, match=r"out must be writable, C-contiguous and float32, of shape \(2,\)$"):
        function(x, x, x, out=np.empty(2))
    wide = compile(gd.NewtonEuler(gd.load_urdf("two_link_arm")).inverse_dynamics, **options)
    assert wide(x, x, x).dtype == wide.dtype == np.float64


@pytest.mark.parametrize("dtype", ["float16", "int32", "numbers", None, 3])
def test_a_type_that_there_is_not(dtype: object) -> None:
    with pytest.raises(ArgumentError, match=r"^compile: dtype is .*; give 'float64' or 'float32'$"):
        compile(gd.NewtonEuler(gd.load_urdf("two_link_arm")).mass_matrix, interpreter=True, dtype=dtype)


def test_packed_numbers_of_float32_make_a_matrix_of_float32() -> None:
    function = compile(
        gd.NewtonEuler(gd.load_urdf("two_link_arm")).mass_matrix, interpreter=True, dtype="float32", output="upper"
    )
    places, many = function.places["M"], single(2, 5)
    matrices = places.full(function.batch(many, axis=-1), axis=-1)
    assert matrices.dtype == np.float32
    assert matrices.shape == (2, 2, 5)
    assert np.array_equal(matrices[..., 4], places.full(function(many[:, 4].copy())))
    assert places.full([1.0, 2.0, 3.0]).dtype == np.float64


@pytest.mark.system
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("inverse_dynamics", 8e-7),
        ("mass_matrix", 8e-7),
        ("forward_dynamics", 8e-6),
        ("inverse_dynamics_derivatives", 1e-6),
    ],
)
def test_batches_are_as_exact_as_the_documentation_says(compiled: Compile, name: str, error: float) -> None:
    """Relative to the largest entry of a state, beside the graph at the same numbers."""
    graph = getattr(gd.NewtonEuler(gd.load_urdf("panda7")), name)
    function = compiled(graph)
    inputs = [single(301, 7), single(7, 301).T.copy(), single(301, 7)[::-1].copy()][: graph.n_in()]
    found = function.batch(*inputs)
    last = function.batch(*(x.T.copy() for x in inputs), axis=-1)
    for value, other, k in zip(*map(_listed, (found, last)), range(2), strict=False):
        assert value.dtype == np.float32
        assert np.array_equal(np.moveaxis(other, -1, 0), value)
        true = [np.array(graph(*state)[k] if graph.n_out() > 1 else graph(*state)) for state in _rows(inputs)]
        worst = max(np.abs(y.reshape(z.shape) - z).max() / np.abs(z).max() for y, z in zip(value, true, strict=True))
        assert 1e-9 < worst < error


def _listed(values: object) -> tuple[np.ndarray, ...]:
    return values if isinstance(values, tuple) else (values,)  # type: ignore[return-value]


def _rows(inputs: list[np.ndarray]) -> list[tuple[np.ndarray, ...]]:
    return list(zip(*(x.astype(float) for x in inputs), strict=True))


@pytest.mark.system
def test_sine_and_cosine_are_right_to_a_unit_in_the_last_place(compiled: Compile) -> None:
    """0.97 ulp was the largest error of all numbers up to 8,000; larger ones are those of the C library, rounded."""
    rng = np.random.default_rng(1)
    x = ca.SX.sym("x")
    function = compiled(ca.Function("turn", [x], [ca.sin(x), ca.cos(x)]))
    multiples = (rng.integers(-5000, 5000, 20_000) * (np.pi / 2)).astype(np.float32)
    angles = [rng.normal(size=50_000), rng.uniform(-8e3, 8e3, 50_000), multiples, np.nextafter(multiples, 9e9)]
    angles += [10 ** rng.uniform(-30, 12, 5000), [0.0, 8e3, np.nextafter(np.float32(8e3), np.float32(9e3)), 2.3584902]]
    every = np.concatenate(angles).astype(np.float32)
    for value, true in zip(function.batch(every[:, np.newaxis]), (np.sin, np.cos), strict=True):
        exact = true(every.astype(float))
        units = np.maximum(np.spacing(np.abs(exact).astype(np.float32)), np.finfo(np.float32).tiny)  # of 0, too
        errors = np.abs(value[:, 0] - exact) / units
        assert errors.max() < 0.98
        assert errors[np.abs(every) > 8e3].max() < 0.501
    strange = np.array([[np.inf], [np.nan], [0.5]], np.float32)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(np.isnan(function.batch(strange)[0].ravel()), [True, True, False])


@pytest.mark.system
def test_every_operation_of_a_batch_is_that_of_the_graph(compiled: Compile) -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    ones = [f(a) for f in (ca.sqrt, ca.exp, ca.log, ca.tan, ca.atan, ca.tanh, ca.fabs, ca.sign, ca.floor, ca.logic_not)]
    twos = [a + b, a - b, a * b, a / b, a**b, a < b, a <= b, a == b, a != b, ca.logic_and(a, b), ca.logic_or(a, b)]
    twos += [f(a, b) for f in (ca.atan2, ca.fmin, ca.fmax, ca.copysign, ca.hypot)]
    twos += [ca.if_else(a > 1, b, a + 1)]
    graph = ca.Function("operations", [a, b], [ca.vertcat(*ones), ca.vertcat(*twos)])
    special = np.array([0.0, -0.0, 1.0, 0.5, 3.0, -2.0, np.inf, np.nan], np.float32)
    pairs = np.array([(x, y) for x in special for y in special], np.float32)
    found = compiled(graph).batch(pairs[:, :1].copy(), pairs[:, 1:].copy())
    for k, pair in enumerate(pairs.astype(float)):
        for value, true in zip(found, graph(*pair), strict=True):
            np.testing.assert_allclose(value[k], true.full().ravel(), rtol=2 * ROUNDING, atol=0)


@pytest.mark.system
def test_functions_that_are_evaluated_in_turn_compute_in_float64(tmp_path: Path) -> None:
    x = ca.MX.sym("x", 3)
    graph = ca.Function("f", [x], [ca.solve(ca.diag(x) + 1, x), ca.sumsqr(x)])
    function = compile(graph, cache=tmp_path, dtype="float32")
    assert function.width == 1
    states = np.abs(single(9, 3))
    for value, last, k in zip(function.batch(states), function.batch(states.T.copy(), axis=-1), range(2), strict=True):
        assert np.array_equal(last.T, value)
        true = np.array([graph(state)[k].full().ravel() for state in states.astype(float)])
        np.testing.assert_allclose(value, true, rtol=ROUNDING, atol=0)
    assert relative_error(function(states[4])[0], function.batch(states)[0][4]) == 0

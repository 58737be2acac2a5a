"""Batches evaluate several states at once: the numbers of single calls, whatever N, the shapes, and the angles."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import mpmath
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.compilation.compiled_function import CompiledFunction, compile, share
from gdalembert.errors import ArgumentError
from tests.helpers.models import build, relative_error, states

ROUNDING = 4e-15
"""Of each state. Vectors and numbers may fuse different multiplications and additions."""
WIDTHS = {8: "-O2 -march=native -DWIDTH=8 -Wno-psabi", 4: "-O2 -march=native -DWIDTH=4 -Wno-psabi", 2: "-O1 -DWIDTH=2"}

Compile = Callable[[ca.Function], CompiledFunction]


@pytest.fixture(scope="module", params=WIDTHS)
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """What compiles for vectors of a width."""
    folder = tmp_path_factory.mktemp("libraries")

    def make(function: ca.Function) -> CompiledFunction:
        fast = compile(function, flags=WIDTHS[request.param], cache=folder)
        assert fast.width == request.param
        return fast

    return make


def in_turn(function: CompiledFunction, *inputs: np.ndarray) -> list[np.ndarray]:
    """Each output of single calls, stacked."""
    values = [function(*state) for state in zip(*inputs, strict=True)]
    return [np.array(each) for each in zip(*(v if isinstance(v, tuple) else (v,) for v in values), strict=True)]


def assert_same(function: CompiledFunction, *inputs: np.ndarray) -> None:
    for value, expected in zip(_listed(function.batch(*inputs)), in_turn(function, *inputs), strict=True):
        assert np.array_equal(np.isfinite(value), np.isfinite(expected))
        for one, other in zip(np.nan_to_num(value), np.nan_to_num(expected), strict=True):
            assert relative_error(one, other) < ROUNDING


@pytest.mark.system
@pytest.mark.parametrize(
    ("robot", "name"),
    [
        ("puma560", "inverse_dynamics"),
        ("puma560", "forward_dynamics"),
        ("free-flyer", "mass_matrix"),
        ("two_link_arm", "inverse_dynamics_derivatives"),
    ],
)
def test_batches_of_any_length_are_single_calls(compiled: Compile, robot: str, name: str) -> None:
    rng = np.random.default_rng(0)
    model = build(rng, ["FreeFlyer", "RX", "Spherical"], [0, 1, 1]) if robot == "free-flyer" else gd.load_urdf(robot)
    dyn = gd.NewtonEuler(model)
    graph = getattr(dyn, name)
    function = compiled(graph)
    samples = [np.array(x) for x in zip(*states(model, rng, 1000), strict=True)]
    inputs = [np.tile(x, (10, 1)) for x in samples][: graph.n_in()]
    whole = function.batch(*inputs)
    if name == "forward_dynamics":  # rounding moves M a = tau − nle, and a by M⁻¹ of that
        errors = whole[:1000] - in_turn(function, *(x[:1000] for x in inputs))[0]
        for q, v, tau, error in zip(*inputs, errors, strict=False):
            forces = np.abs(tau) + np.abs(dyn.nle(q, v).full().ravel())
            assert relative_error(forces + dyn.mass_matrix(q).full() @ error, forces) < ROUNDING
    else:
        assert_same(function, *(x[:1000] for x in inputs))
    for n in (1, 7, 8, 9, 9999):
        for value, all_values in zip(_listed(function.batch(*(x[-n:] for x in inputs))), _listed(whole), strict=True):
            assert np.array_equal(value, all_values[-n:])  # a state's numbers do not depend on its neighbours


def _listed(values: object) -> tuple[np.ndarray, ...]:
    return values if isinstance(values, tuple) else (values,)  # type: ignore[return-value]


@pytest.mark.system
def test_rows_of_any_length_go_in_and_out_and_nothing_beside_them_is_written(compiled: Compile) -> None:
    rng = np.random.default_rng(1)
    sizes = (1, 2, 3, 4, 5, 7, 8, 9, 12, 17)
    x = [ca.SX.sym(f"x{n}", n) for n in sizes]
    function = compiled(ca.Function("turned", x, [3 * each[::-1] for each in x]))
    for n in (1, 2, 3, 5, 7, 8, 9, 16, 17, 31):
        inputs = [rng.normal(size=(n, size)) for size in sizes]
        guarded = [np.full((n + 4, size), 7.0) for size in sizes]
        function.batch(*inputs, out=tuple(y[2:-2] for y in guarded))
        for given, y in zip(inputs, guarded, strict=True):
            assert np.array_equal(y[2:-2], 3 * given[:, ::-1])
            assert np.all(y[[0, 1, -2, -1]] == 7)


@pytest.mark.system
def test_inputs_may_be_shared_or_lie_apart(compiled: Compile) -> None:
    rng = np.random.default_rng(2)
    sizes = (3, 5, 8, 11)
    x = [ca.SX.sym(f"x{n}", n) for n in sizes]
    function = compiled(ca.Function("sums", x, [ca.vertcat(*(ca.cumsum(each) for each in x))]))
    wide = [rng.normal(size=(60, 2 * size)) for size in sizes]
    expected = np.hstack([np.cumsum(w[:20, :size], axis=1) for w, size in zip(wide, sizes, strict=True)])
    assert relative_error(function.batch(*(w[:20, : w.shape[1] // 2] for w in wide)), expected) < ROUNDING
    first = np.hstack([np.tile(np.cumsum(w[0, :size]), (20, 1)) for w, size in zip(wide, sizes, strict=True)])
    for shared in itertools.product((True, False), repeat=4):
        inputs = [w[0, :n] if alike else w[:20, :n] for w, n, alike in zip(wide, sizes, shared, strict=True)]
        if all(shared):
            continue
        starts = np.cumsum((0, *sizes))
        mixed = [first if alike else expected for alike in shared]
        correct = np.hstack([m[:, a:b] for m, a, b in zip(mixed, starts, starts[1:], strict=False)])
        assert relative_error(function.batch(*inputs), correct) < ROUNDING


@pytest.mark.system
def test_few_states_are_one_call_of_c(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python checks what does not fit, and batches of more than a million instructions."""
    function = compiled(gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics)
    q, v, a = np.random.default_rng(7).normal(size=(3, 16, 6))
    expected, out = function.batch(q[:, ::-1].copy()[:, ::-1], v, a), np.empty((16, 6))
    checked: list[int] = []
    check = CompiledFunction._checked

    def counted(self: CompiledFunction, k: int, x: object, axis: int | None = None) -> np.ndarray:
        checked.append(k)
        return check(self, k, x, axis)

    monkeypatch.setattr(CompiledFunction, "_checked", counted)
    assert np.array_equal(function.batch(q, v, a), expected)
    assert np.array_equal(function.batch(q, a=a, v=v), expected)
    assert function.batch(q, v, a, out=out) is out
    assert np.array_equal(out, expected)
    assert np.array_equal(function.batch(q, v[0], a), function.batch(q, np.tile(v[0], (16, 1)), a))
    columns = [x.T.copy() for x in (q, v, a)]
    assert np.array_equal(function.batch(*columns, axis=-1).T, expected)
    assert not checked
    assert np.array_equal(function.batch(q.tolist(), v, a), expected)
    assert function.batch(q, v, a, out=q) is q  # which is an input, too
    assert np.array_equal(q, expected)
    many = np.zeros((1 + 10**6 // function.function.n_instructions(), 6))
    function.batch(many, many, many)
    assert checked == 3 * [0, 1, 2]
    for wrong, message in (
        ((q[:3], v, a), "the inputs of a batch must have one number of states"),
        ((q[0], v[0], a[0]), "each input is of one state"),
        ((q[:, :5].copy(), v, a), r"input 'q' has shape \(16, 5\)"),
        ((q, v), "'a' is missing"),
    ):
        with pytest.raises(ArgumentError, match=message):
            function.batch(*wrong)
    with pytest.raises(ArgumentError, match="out must be writable"):
        function.batch(q, v, a, out=np.empty((15, 6)))


# States along the last axis


@pytest.mark.system
def test_states_along_the_last_axis_are_those_along_the_first(compiled: Compile) -> None:
    """And nothing is written beside them, whatever is left for the last vector and the last tile."""
    rng = np.random.default_rng(8)
    x, m, p = ca.SX.sym("x", 5), ca.SX.sym("m", 2, 3), ca.SX.sym("p", 3)
    long = ca.vertcat(*(x[k % 5] * p[k % 3] + k for k in range(150)))  # of which a tile holds few
    outputs = [ca.sin(x) * p[0], m.T @ ca.diag(ca.cos(x[:2])), long, x[3]]
    function = compiled(ca.Function("f", [x, m, p], outputs, ["x", "m", "p"], ["s", "M", "long", "y"]))
    shapes = [(5,), (3, 2), (150,), (1,)]
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 127, 300):
        first = rng.normal(size=(n, 5)), rng.normal(size=(n, 2, 3)), rng.normal(size=3)
        first[0][n // 2, 1] = 1e9  # an angle for the C library
        expected = function.batch(*first)
        last = [np.moveaxis(first[0], 0, -1).copy(), np.moveaxis(first[1], 0, -1).copy(), first[2]]
        guarded = [np.full((shape[0] + 4, *shape[1:], n), 7.0) for shape in shapes]
        for found in (
            function.batch(*last, axis=-1),
            function.batch(*last, axis=-1, threads=2),
            function.batch(last[0], last[1].tolist(), last[2], axis=-1),
            function.batch(*last, axis=-1, out=tuple(y[2:-2] for y in guarded)),
        ):
            for value, true, shape in zip(found, expected, shapes, strict=True):
                assert value.shape == (*shape, n)
                assert np.array_equal(np.moveaxis(value, -1, 0), true)
        assert all(np.all(y[[0, 1, -2, -1]] == 7) for y in guarded)


@pytest.mark.parametrize("output", ["full", "upper"])
def test_the_interpreter_takes_states_along_the_last_axis(output: str) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters=["gravity"])
    function = compile(dyn.mass_matrix, interpreter=True, output=output)
    torque = compile(dyn.inverse_dynamics, interpreter=True)
    p, (q, v, a) = dyn.parameters.values, np.random.default_rng(9).normal(size=(3, 5, 2))
    found = function.batch(q.T, p, axis=-1)
    assert np.array_equal(np.moveaxis(found, -1, 0), function.batch(q, p))
    expected, out = torque.batch(q, v, a, p), np.empty((2, 5))
    assert torque.batch(q.T, v.T, a.T, p, axis=-1, out=out) is out
    assert np.array_equal(out.T, expected)
    assert np.array_equal(torque.batch(q.T, v[0], a.T, p, axis=-1).T, torque.batch(q, v[0], a, p))
    every = np.tile(p[:, np.newaxis], 5)
    assert np.array_equal(torque.batch(q.T, v.T, a.T, every, axis=-1).T, expected)
    assert np.array_equal(torque.batch(q=q.T, v=v.T, a=a.T, p=p, axis=-1, threads=3).T, expected)
    if output == "upper":
        matrices = function.places["M"].full(found, axis=-1)
        assert matrices.shape == (2, 2, 5)
        assert relative_error(matrices[..., 3], dyn.mass_matrix(q[3], p).full()) < ROUNDING


def test_an_axis_of_the_states_that_there_is_not() -> None:
    function = compile(gd.NewtonEuler(gd.load_urdf("two_link_arm")).inverse_dynamics, interpreter=True)
    q = np.zeros((2, 5))
    for axis in (1, "last", None):
        with pytest.raises(ArgumentError, match=r": axis is .*; give 0 for states \(N, …\), or -1 for \(…, N\)$"):
            function.batch(q, q, q, axis=axis)
    with pytest.raises(ArgumentError, match=r"input 'q' has shape \(5, 2\), not \(2,\) or \(2, N\)$"):
        function.batch(q.T, q, q, axis=-1)
    with pytest.raises(ArgumentError, match=r"one number of states, but 'q' has 5, 'v' has 4, 'a' has 5$"):
        function.batch(q, q[:, :4], q, axis=-1)
    with pytest.raises(ArgumentError, match=r"and float64, of shape \(2, 5\)$"):
        function.batch(q, q, q, axis=-1, out=np.empty((5, 2)))


# Every operation


def operations() -> ca.Function:
    """All operations of a graph that are written for several states; a and b are numbers of any kind."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    ones = [-a, ca.fabs(a), ca.sign(a), ca.floor(a), ca.ceil(a), 1 / a, a * a, 2 * a, ca.sin(a), ca.cos(a), ca.tan(a)]
    ones += [f(a) for f in (ca.sqrt, ca.exp, ca.expm1, ca.log, ca.log1p, ca.erf, ca.asin, ca.acos, ca.atan)]
    ones += [f(a) for f in (ca.sinh, ca.cosh, ca.tanh, ca.asinh, ca.acosh, ca.atanh, ca.logic_not)]
    twos = [a + b, a - b, a * b, a / b, a**b, a**3.5, a < b, a <= b, a == b, a != b, ca.logic_and(a, b)]
    twos += [f(a, b) for f in (ca.logic_or, ca.atan2, ca.fmin, ca.fmax, ca.copysign, ca.hypot, ca.fmod, ca.remainder)]
    twos += [ca.if_else(a > 1, b, a + 1), ca.if_else(a, b, 3)]
    return ca.Function("operations", [a, b], [ca.vertcat(*ones), ca.vertcat(*twos)])


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.pi / 4, 1e-300, -1e-300, 1e9, -1e9, 3e8, 1e300, np.inf, -np.inf, np.nan]


@pytest.mark.system
def test_every_operation_gives_what_the_single_call_gives(compiled: Compile) -> None:
    function = compiled(operations())
    pairs = np.array([*itertools.product(SPECIAL, SPECIAL), *np.random.default_rng(3).normal(size=(200, 2))])
    inputs = pairs[:, :1], pairs[:, 1:]
    for value, expected in zip(function.batch(*inputs), in_turn(function, *inputs), strict=True):
        np.testing.assert_allclose(value, expected, rtol=ROUNDING, atol=0)


# Sine and cosine


@pytest.mark.system
def test_sine_and_cosine_are_right_to_a_unit_in_the_last_place(compiled: Compile) -> None:
    """0.756 ulp was the largest error among 80,000 angles."""
    rng = np.random.default_rng(4)
    x = ca.SX.sym("x")
    function = compiled(ca.Function("turn", [x], [ca.sin(x), ca.cos(x)]))
    multiples = rng.integers(-500_000, 500_000, 300) * (np.pi / 2)
    angles = [
        rng.normal(size=300),
        rng.uniform(-8e5, 8e5, 300),
        multiples,
        multiples + 1e-6,
        10 ** rng.uniform(-300, 9, 200),
    ]
    angles += [np.array([0, 8e5, np.nextafter(8e5, 9e5), 1e9, 1e22, 1e300, np.pi / 4, np.nextafter(np.pi / 4, 0)])]
    values = function.batch(np.concatenate(angles)[:, np.newaxis])
    with mpmath.workdps(400):
        for k, angle in enumerate(np.concatenate(angles).tolist()):
            for value, true in zip(values, (mpmath.sin(angle), mpmath.cos(angle)), strict=True):
                assert abs(mpmath.mpf(value[k, 0]) - true) < 0.8 * np.spacing(abs(float(true)))


@pytest.mark.system
@pytest.mark.parametrize("flags", [*WIDTHS.values(), "-O1 -DWIDTH=1"])
def test_all_sines_of_a_state_at_once_are_those_of_the_c_library(tmp_path: Path, flags: str) -> None:
    """Of one angle, and of more than two vectors, some of them large or not finite."""
    x = ca.SX.sym("x", 9)
    for n in (1, 9):
        angles = 2 * x[:n]
        function = compile(ca.Function("turn", [x], [ca.sin(angles), ca.cos(angles)]), flags=flags, cache=tmp_path)
        for k, values in enumerate(np.random.default_rng(n).normal(size=(4, 9))):
            values[0] *= (1, 1e9, np.inf, np.nan)[k]
            with np.errstate(invalid="ignore"):
                expected = np.sin(2 * values[:n]), np.cos(2 * values[:n])
            for found, each in zip(function(values), expected, strict=True):
                np.testing.assert_allclose(found, each, rtol=3e-16, atol=0)


@pytest.mark.system
def test_a_single_state_and_a_batch_have_the_same_sines(compiled: Compile) -> None:
    """Both have them of the same code, up to LARGEST_ANGLE."""
    x = ca.SX.sym("x", 3)
    function = compiled(ca.Function("turn", [x], [ca.sin(x), ca.cos(x)]))
    states = np.random.default_rng(10).uniform(-8e5, 8e5, size=(200, 3))
    for one, many in zip(in_turn(function, states), function.batch(states), strict=True):
        assert np.array_equal(one, many)


@pytest.mark.system
def test_states_with_large_angles_or_what_is_not_finite_leave_their_neighbours_alone(compiled: Compile) -> None:
    rng = np.random.default_rng(5)
    function = compiled(gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics)
    q, v, a = rng.normal(size=(3, 50, 6))
    before = function.batch(q, v, a)
    strange = {3: 1e9, 8: -8.00001e5, 20: np.nan, 21: np.inf, 22: -np.inf, 49: 123456789.0}
    for k, angle in strange.items():
        q[k, k % 6] = angle
    v[30, 2] = np.nan
    after = function.batch(q, v, a)
    others = [k for k in range(50) if k not in strange and k != 30]
    assert np.array_equal(after[others], before[others])
    for k in strange:
        assert np.array_equal(after[k], function(q[k], v[k], a[k]), equal_nan=True)
    assert np.all(np.isfinite(after[[3, 8, 49]]))
    assert np.isnan(after[30]).any()
    assert_same(function, 1e9 * q[others], v[others], a[others])


# What is not evaluated several states at once


@pytest.mark.system
def test_the_machine_chooses_the_width(tmp_path: Path) -> None:
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [ca.sin(x)])
    assert compile(function, cache=tmp_path).width in (2, 4, 8)
    assert compile(function, cache=tmp_path, flags="-O3 -ffast-math").width == 1
    assert compile(function, interpreter=True).width == 1


@pytest.mark.system
@pytest.mark.parametrize("kind", ["MX", "call"])
def test_what_cannot_be_written_for_vectors_is_evaluated_in_turn(tmp_path: Path, kind: str) -> None:
    x, y = ca.SX.sym("x", 2), ca.MX.sym("y", 2)
    inner = ca.Function("inner", [x], [ca.sin(x)], {"never_inline": True})
    graphs = {"MX": ca.Function("f", [y], [ca.sin(y)]), "call": ca.Function("f", [x], [2 * inner(x)])}
    function = compile(graphs[kind], cache=tmp_path)
    assert function.width == 1
    inputs = np.random.default_rng(6).uniform(-1, 1, size=(9, 2))
    assert np.array_equal(function.batch(inputs), in_turn(function, inputs)[0])


# Threads


@pytest.mark.system
def test_the_number_of_threads_changes_nothing(compiled: Compile) -> None:
    function = compiled(gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics)
    for n in (1, 5, 40, 1001):
        inputs = np.random.default_rng(n).normal(size=(3, n, 6))
        expected = function.batch(*inputs)
        for threads in (2, 3, 7, None):
            assert np.array_equal(function.batch(*inputs, threads=threads), expected)


def test_threads_are_kept() -> None:
    used: list[set[threading.Thread]] = []
    for _ in range(3):
        used.append(set())
        share(lambda _: used[-1].add(threading.current_thread()), range(3))
    others = set.union(*used) - {threading.current_thread()}
    assert others
    assert others <= set(threading.enumerate())


def test_the_earliest_part_that_fails_is_the_one_that_is_raised() -> None:
    done = []

    def work(part: int) -> None:
        done.append(part)
        if part % 2:
            raise ValueError(part)

    with pytest.raises(ValueError, match=r"^1$"):
        share(work, range(6))
    assert sorted(done) == list(range(6))


def test_a_forked_process_starts_its_own_threads() -> None:
    program = """
import os
from gdalembert.compilation.compiled_function import share
share(print, ["", ""])
child = os.fork()
share(print, ["", ""])
if child:
    raise SystemExit(os.waitpid(child, 0)[1])
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0

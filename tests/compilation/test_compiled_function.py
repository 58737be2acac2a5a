"""Compiled Functions: the same numbers, whatever the shapes; a cache that heals; errors that say what to do."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.linalg import _umath_linalg

import gdalembert as gd
from gdalembert.compilation import machine_code
from gdalembert.compilation.compiled_function import CompiledFunction, compile
from gdalembert.errors import ArgumentError, ArgumentTypeError, CompilationError, UnknownNameError
from gdalembert.spatial.arguments import MASKED
from tests.helpers.models import relative_error

Compile = Callable[[ca.Function], CompiledFunction]

ROUNDING = 1e-13  # a fused multiply-add rounds once where CasADi rounds twice; these graphs have a thousand of them
SEVERAL_STATES = 4e-15  # the code of a batch may fuse other multiplications and additions than that of a single call


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture(params=["interpreter", pytest.param("C", marks=pytest.mark.system)])
def ready(request: pytest.FixtureRequest, libraries: Path) -> Compile:
    """What makes a Function callable; the compiled ones are kept from test to test."""
    if request.param == "interpreter":
        return lambda function: compile(function, interpreter=True)
    return lambda function: compile(function, cache=libraries)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no compiler of the user's own choice."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def fake_compiler(path: Path, *, macros: str = "version 1", build: str = "echo garbage > function.so") -> str:
    """A compiler that says these macros of itself, and builds by this command."""
    return script(path, f'case "$*" in *-dM*) echo "{macros}";; *) {build};; esac')


def mixed(kind: type = ca.SX) -> ca.Function:
    """Matrices in and out, neither square nor symmetric; sparse ones; a column, a row, a number."""
    A, x, L, k = kind.sym("A", 2, 3), kind.sym("x", 3), kind.sym("L", ca.Sparsity.lower(3)), kind.sym("k")
    outputs = [A @ ca.densify(L), k * L, A @ x, x.T * k, ca.dot(x, x)]
    return ca.Function("mixed", [A, x, L, k], outputs, ["A", "x", "L", "k"], ["AL", "kL", "Ax", "row", "xx"])


def mixed_arrays(rng: np.random.Generator, *n: int) -> list[np.ndarray]:
    A, x, L, k = (rng.normal(size=(*n, *shape)) for shape in ((2, 3), (3,), (3, 3), (1,)))
    return [A, x, np.tril(L), k]


def mixed_results(A: np.ndarray, x: np.ndarray, L: np.ndarray, k: np.ndarray) -> list[np.ndarray]:
    return [A @ L, k * L, A @ x, x[np.newaxis] * k, np.array([x @ x])]


def square() -> ca.Function:
    x = ca.SX.sym("x", 2)
    return ca.Function("square", [x], [x * x], ["x"], ["y"])


def product() -> ca.Function:
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 2)
    return ca.Function("product", [x, y], [ca.vertcat(x[0] * y[1], x[1] * y[0])], ["x", "y"], ["z"])


# The same numbers


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_matrices_are_row_by_row_and_sparse_ones_full(ready: Compile, kind: type) -> None:
    function, arrays = ready(mixed(kind)), mixed_arrays(np.random.default_rng(1))
    assert function.inputs == {"A": (2, 3), "x": (3,), "L": (3, 3), "k": (1,)}
    assert function.outputs == {"AL": (2, 3), "kL": (3, 3), "Ax": (2,), "row": (1, 3), "xx": (1,)}
    for value, expected in zip(function(*arrays), mixed_results(*arrays), strict=True):
        assert relative_error(value, expected) < ROUNDING


def test_inputs_go_by_position_or_by_name_as_arrays_or_lists(ready: Compile) -> None:
    function = ready(product())
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    wide = np.arange(1.0, 9.0)
    for value in (
        function(x, y),
        function(x, y=y),
        function(y=y, x=x),
        function([1, 2], (3, 4)),
        function(x.astype(int), y.astype(np.float32)),
        function(x.astype(">f8"), y[::-1][::-1]),
        function(wide[:2], wide[2:4]),
        function(wide.reshape(4, 2)[0], np.array([3.0, 0.0, 4.0])[::2]),
    ):
        assert value.tolist() == [4.0, 6.0]
    a_number = ready(mixed())
    arrays = mixed_arrays(np.random.default_rng(2))
    assert np.array_equal(a_number(*arrays[:3], float(arrays[3][0]))[1], a_number(*arrays)[1])


def test_what_is_not_finite_passes_through(ready: Compile) -> None:
    value = ready(square())([np.nan, -np.inf])
    assert np.isnan(value[0])
    assert value[1] == np.inf


def test_results_belong_to_the_caller(ready: Compile) -> None:
    function = ready(square())
    first = function([1, 2])
    second = function([3, 4])
    assert (first.tolist(), second.tolist()) == ([1, 4], [9, 16])
    assert first.flags.owndata


def test_out_takes_the_results_even_in_the_memory_of_an_input(ready: Compile) -> None:
    function = ready(product())
    out = np.empty(2)
    assert function([1, 2], [3, 4], out=out) is out
    assert out.tolist() == [4, 6]
    both = np.array([1.0, 2.0])
    assert function(both, [3, 4], out=both).tolist() == [4, 6]
    y = np.array([3.0, 4.0])
    for first in (0, 1, 2):  # the results lie before x, in it, behind it
        wide = np.array([7.0, 1.0, 2.0, 7.0])
        assert function(wide[1:3], y, out=wide[first : first + 2]).tolist() == [4, 6]
    many = np.array([[1.0, 2.0], [5.0, 6.0], [1.0, 1.0]])
    assert function.batch(many[:2], [3, 4], out=many[1:])[1].tolist() == [20, 18]
    assert many.tolist() == [[1, 2], [4, 6], [20, 18]]
    several = ready(mixed())
    arrays = mixed_arrays(np.random.default_rng(3))
    outs = tuple(np.full(shape, np.nan) for shape in several.outputs.values())
    assert several(*arrays, out=outs) is outs
    assert all(np.array_equal(a, b) for a, b in zip(outs, several(*arrays), strict=True))


@pytest.mark.parametrize("threads", [1, 3, None])
@pytest.mark.parametrize("n", [1, 2, 100])
def test_a_batch_is_its_single_calls(ready: Compile, n: int, threads: int | None) -> None:
    function = ready(mixed())
    arrays = mixed_arrays(np.random.default_rng(4), n)
    singles = [function(*state) for state in zip(*arrays, strict=True)]
    outs = tuple(np.full((n, *shape), np.nan) for shape in function.outputs.values())
    assert function.batch(*arrays, threads=threads, out=outs) is outs
    named = dict(zip(function.inputs, arrays, strict=True))
    for batch in (outs, function.batch(**named, threads=threads)):
        for value, *expected in zip(batch, *singles, strict=True):
            assert relative_error(value, expected) < SEVERAL_STATES


def test_a_batch_shares_the_inputs_of_one_state_and_takes_any_layout(ready: Compile) -> None:
    function = ready(product())
    x = np.asfortranarray(np.arange(10.0).reshape(5, 2))
    expected = [[4 * a, 3 * b] for a, b in x.tolist()]
    assert function.batch(x, [3, 4]).tolist() == expected
    assert function.batch(x[::-1], y=[3, 4]).tolist() == expected[::-1]
    assert function.batch(x.astype(int).tolist(), np.tile([3, 4], (5, 1))).tolist() == expected
    assert function.batch(np.empty((0, 2)), [3, 4]).shape == (0, 2)


def test_a_batch_of_dynamics_on_several_threads(ready: Compile) -> None:
    rng = np.random.default_rng(5)
    graph = gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics
    q, v, a = rng.normal(size=(3, 500, 6))
    tau = ready(graph).batch(q, v, a, threads=4)
    assert relative_error(tau, graph.map(500)(q.T, v.T, a.T).full().T) < ROUNDING


def test_many_threads_may_call_at_once(ready: Compile) -> None:
    graph = gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics
    function = ready(graph)
    samples = np.random.default_rng(6).normal(size=(200, 3, 6))
    expected = [function(*sample) for sample in samples]
    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(lambda sample: function(*sample), samples))
    assert np.array_equal(values, expected)


def test_functions_without_inputs_outputs_or_elements(ready: Compile) -> None:
    x, none = ca.SX.sym("x"), ca.SX.sym("none", 0, 0)
    constant = ready(ca.Function("constant", [], [ca.DM([[1, 2], [3, 4]])]))
    assert constant().tolist() == [[1, 2], [3, 4]]
    silent = ready(ca.Function("silent", [x], []))
    assert silent([1]) == silent.batch([[1], [2]]) == ()
    empty = ready(ca.Function("empty", [none, x], [ca.SX(0, 1), ca.SX(2, 2), ca.SX(0, 3)]))
    assert [y.tolist() for y in empty(np.empty((0, 0)), [1])] == [[], [[0, 0], [0, 0]], []]


@pytest.mark.parametrize("name", ["main", "double", "exp"])
def test_names_that_mean_something_in_c(ready: Compile, name: str) -> None:
    x = ca.SX.sym("x")
    assert ready(ca.Function(name, [x], [2 * ca.exp(x)], ["int"], ["return"]))([0]).tolist() == [2]


def test_copies_and_pickles(ready: Compile) -> None:
    function = ready(product())
    for other in (copy.copy(function), copy.deepcopy(function), pickle.loads(pickle.dumps(function))):
        assert other([1, 2], [3, 4]).tolist() == [4, 6]
        assert other.library == function.library
    kind = "C" if function.library else "interpreter"
    assert repr(function) == f"CompiledFunction(product: x (2,), y (2,) -> z (2,); {kind})"


# What cannot be evaluated


@pytest.mark.parametrize(
    ("inputs", "named", "message"),
    [
        (([1, 2],), {}, "product: 'y' is missing; give x (2,), y (2,)"),
        ((), {}, "product: 'x' is missing, 'y' is missing; give x (2,), y (2,)"),
        (([1, 2], [1, 2], [1, 2]), {}, "product: 3 inputs are given; give x (2,), y (2,)"),
        (([1, 2], [1, 2]), {"y": [1, 2]}, "product: 'y' is given twice; give x (2,), y (2,)"),
        (([1, 2], [1, 2, 3]), {}, "product: input 'y' has shape (3,), not (2,)"),
        ((np.ones(3), np.ones(2)), {}, "product: input 'x' has shape (3,), not (2,)"),
        ((1.0, [1, 2]), {}, "product: input 'x' has shape (), not (2,)"),
        ((np.ones((2, 1)), [1, 2]), {}, "product: input 'x' has shape (2, 1), not (2,)"),
        ((np.ones((5, 2)), [1, 2]), {}, "product: input 'x' has shape (5, 2), not (2,); many states go to batch"),
        ((np.ones(2), np.ma.masked_array([1.0, 2.0], [1, 0])), {}, f"product: input 'y': {MASKED}"),
    ],
)
def test_single_calls_refuse(ready: Compile, inputs: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ready(product())(*inputs, **named)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        (([1, 2], [1, 2]), {}, "must have one number of states, but each input is of one state"),
        ((np.ones((3, 2)), np.ones((4, 2))), {}, "must have one number of states, but 'x' has 3, 'y' has 4"),
        ((np.ones((3, 3)), [1, 2]), {}, "product: input 'x' has shape (3, 3), not (2,) or (N, 2)"),
        ((np.ones((3, 2)),), {}, "product: 'y' is missing"),
        (([1, 2], np.ma.masked_array(np.ones((3, 2)), np.eye(3, 2))), {}, f"product: input 'y': {MASKED}"),
        ((np.ones((3, 2)), [1, 2]), {"threads": 0}, "threads is 0; give a positive integer, or None"),
        ((np.ones((3, 2)), [1, 2]), {"threads": "all"}, "threads is 'all'; give a positive integer, or None"),
        ((np.ones((3, 2)), [1, 2]), {"out": np.ones((2, 2))}, "of shape (3, 2)"),
    ],
)
def test_batches_refuse(ready: Compile, inputs: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ready(product()).batch(*inputs, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("x", [[1j, 2], ["1", "2"], [None, 1], [[1], [1, 2]], ca.SX.sym("x", 2), ca.MX.sym("x", 2)])
def test_what_is_no_real_number_is_refused(ready: Compile, x: Any) -> None:
    kind = type(x).__name__
    with pytest.raises(ArgumentTypeError, match=f"^square: input 'x' does not hold real numbers: {kind}$"):
        ready(square())(x)


def test_unknown_names_are_answered_with_the_nearest(ready: Compile) -> None:
    x = ca.SX.sym("x")
    function = ready(ca.Function("f", [x], [x], ["position"], ["y"]))
    with pytest.raises(UnknownNameError, match=r"no input of f named 'positon'; nearest: 'position'"):
        function(positon=1)


def test_numbers_outside_the_sparsity_are_refused(ready: Compile) -> None:
    function, arrays = ready(mixed()), mixed_arrays(np.random.default_rng(7), 3)
    arrays[2][1, 0, 2] = 1e-300
    message = "^mixed: input 'L' has a number where the Function's sparsity has none$"
    with pytest.raises(ArgumentError, match=message):
        function.batch(*arrays)
    with pytest.raises(ArgumentError, match=message):
        function(*(x[1] for x in arrays))


def _read_only() -> np.ndarray:
    array = np.empty(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("out", [np.empty(3), np.empty(2, np.float32), np.empty(4)[::2], [1.0, 2.0], (), _read_only()])
def test_out_is_checked(ready: Compile, out: Any) -> None:
    with pytest.raises(
        ArgumentError, match=r"^square: out must be writable, C-contiguous and float64, of shape \(2,\)$"
    ):
        ready(square())([1, 2], out=out)


def test_an_evaluation_that_fails_says_at_which_state(ready: Compile) -> None:
    x = ca.MX.sym("x")
    function = ready(ca.Function("root", [x], [ca.sqrt(x.attachAssert(x >= 0, "negative"))]))
    assert function([4]).tolist() == [2]
    with pytest.raises(ArgumentError, match=r"^root: the evaluation fails at state 0$"):
        function([-4])
    assert function([9]).tolist() == [3]
    for threads in (1, 2, 4):
        with pytest.raises(ArgumentError, match=r"^root: the evaluation fails at state 2$"):
            function.batch([[1], [4], [-1], [9]], threads=threads)


# What cannot be compiled


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (gd.NewtonEuler, "compile takes a casadi.Function, as dyn.inverse_dynamics, not ABCMeta"),
        (lambda x: x, "compile takes a casadi.Function, as dyn.inverse_dynamics, not function"),
    ],
)
def test_only_functions_are_compiled(given: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        compile(given)


@pytest.mark.parametrize(
    "options",
    [
        {"compiler": ["cc"]},
        {"flags": 3},
        {"flags": ["-O3", 3]},
        {"cache": 3},
        {"time_limit": "1"},
        {"interpreter": np.array([])},
    ],
)
def test_options_have_a_type(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^compile: {next(iter(options))} is "):
        compile(square(), **options)


def test_the_interpreter_takes_no_options_of_the_compiler() -> None:
    with pytest.raises(ArgumentError, match="the interpreter compiles nothing; drop flags, cache"):
        compile(square(), interpreter=True, flags="-O3", cache="here")


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_the_error_says_what_to_do(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = r"^square: no C compiler: looked for cc, gcc, clang \(\$CC is not set\); install one \(.*\); "
    with pytest.raises(CompilationError, match=message + r".*compile\(function, interpreter=True\)$") as caught:
        compile(square())
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    assert caught.value.name == "square"
    monkeypatch.setenv("CC", "mycc -m64")
    with pytest.raises(CompilationError, match="no C compiler: looked for 'mycc -m64'; install one"):
        compile(square())
    with pytest.raises(CompilationError, match="no C compiler: looked for 'other'; install one"):
        compile(square(), compiler="other")
    assert not cache.exists()


def test_a_compiler_that_fails_is_quoted_in_one_line(cache: Path, tmp_path: Path) -> None:
    noise = "echo 'In file included' >&2; echo 'f.c:1:1: error: no such thing' >&2; echo '  1 | x' >&2; exit 1"
    compiler = fake_compiler(tmp_path / "fails", build=noise)
    with pytest.raises(CompilationError) as caught:
        compile(square(), compiler=compiler)
    assert str(caught.value) == (
        f"square: {compiler} fails: f.c:1:1: error: no such thing; "
        "CasADi's interpreter needs no compiler: compile(function, interpreter=True)"
    )
    silent = script(tmp_path / "silent", "exit 3")
    with pytest.raises(CompilationError, match=f"^square: {silent} fails: exit status 3; "):
        compile(square(), compiler=silent)
    (tmp_path / "broken").write_bytes(b"\x7fELF")
    (tmp_path / "broken").chmod(0o755)
    with pytest.raises(CompilationError, match=r"broken does not run: Exec format error; "):
        compile(square(), compiler=str(tmp_path / "broken"))
    assert not list(cache.rglob("build-*"))
    assert not list(cache.rglob("*.so"))


def test_a_compiler_that_reports_success_without_a_library_is_named(cache: Path, tmp_path: Path) -> None:
    nothing = fake_compiler(tmp_path / "nothing", build="exit 0")
    message = f"^square: {nothing} reports success, but writes no library; CasADi's interpreter needs no compiler"
    with pytest.raises(CompilationError, match=message):
        compile(square(), compiler=nothing)


@pytest.mark.parametrize("part", [0.001, 0.5, 0.9999])
def test_a_part_of_a_library_is_not_loaded(cache: Path, tmp_path: Path, part: float) -> None:
    """Of a disk that is full; to read what is missing would end the process."""
    whole = Path(_umath_linalg.__file__)
    size = int(part * whole.stat().st_size)
    half = fake_compiler(tmp_path / "half", build=f"head -c {size} '{whole}' > function.so")
    with pytest.raises(CompilationError, match=f"^square: {half} reports success, but writes a part|does not load"):
        compile(square(), compiler=half)
    assert not list(cache.rglob("*.so"))


@pytest.mark.system
def test_a_build_is_told_and_an_error_finds_its_line_ended(
    cache: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the compiler runs, which ends at the time limit as before; what is in the cache is not told."""
    monkeypatch.setattr(machine_code, "_TICK", 0.1)
    monkeypatch.setattr("gdalembert.spatial.progress._TELLS", 0.3)
    compile(square(), progress=True)
    assert capfd.readouterr().err.splitlines()[-1].startswith("compile square, ")
    hanging = fake_compiler(tmp_path / "hanging", build="sleep 2")
    with pytest.raises(CompilationError, match=rf"^square: {hanging} is not done after 0\.7 s"):
        compile(square(), compiler=hanging, time_limit=0.7, progress=True)
    first, *_, last = capfd.readouterr().err.splitlines()
    assert first.startswith(f"compile square: {hanging} compiles square, 0.")
    assert last.startswith(f"compile square: {hanging} compiles square, 0.")
    assert os.listdir(cache) != []
    with pytest.raises(ArgumentTypeError, match=r"^compile: progress is 1; give True or False$"):
        compile(square(), progress=1)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_compiler_that_hangs_is_ended_with_what_it_has_started(cache: Path, tmp_path: Path) -> None:
    late = tmp_path / "late"
    hanging = fake_compiler(tmp_path / "hanging", build=f"(sleep 2; touch {late}) & wait")
    begun = time.monotonic()
    message = rf"^square: {hanging} is not done after 0\.5 s; give a larger time_limit, or flags='-O1'"
    with pytest.raises(CompilationError, match=message):
        compile(square(), compiler=hanging, time_limit=0.5)
    assert time.monotonic() - begun < 1.9
    time.sleep(max(0.0, begun + 3 - time.monotonic()))
    assert not late.exists()
    assert os.listdir(cache) == []


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), float("inf"), 1e6])
def test_the_time_limit_is_checked(limit: float) -> None:
    with pytest.raises(ArgumentError, match=r"^compile: time_limit is .*; give seconds above 0 and at most 86400$"):
        compile(square(), time_limit=limit)


@pytest.mark.parametrize("options", [{"compiler": 'cc "-O2'}, {"flags": '-O2 "'}, {"compiler": "cc \\"}])
def test_words_that_no_shell_takes_are_an_error_of_ours(cache: Path, tmp_path: Path, options: dict[str, str]) -> None:
    fake = fake_compiler(tmp_path / "cc")
    given = {"compiler": fake, **{name: words.replace("cc", fake) for name, words in options.items()}}
    message = r"^square: the compiler or its flags .* cannot be read: No .*; write it as a shell would take it$"
    with pytest.raises(CompilationError, match=message):
        compile(square(), **given)


def test_a_cache_that_cannot_be_written_says_which_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = fake_compiler(tmp_path / "fake")
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "cache"
    message = (
        f"square: cannot use the cache folder {folder}: Not a directory; set GDALEMBERT_CACHE to a folder of your own"
    )
    with pytest.raises(CompilationError) as caught:
        compile(square(), compiler=compiler, cache=folder)
    assert str(caught.value) == message
    monkeypatch.setenv("GDALEMBERT_CACHE", str(folder))
    with pytest.raises(CompilationError) as caught:
        compile(square(), compiler=compiler)
    assert str(caught.value) == message


def test_a_library_that_does_not_load_is_an_error_only_when_just_built(cache: Path, tmp_path: Path) -> None:
    fake = fake_compiler(tmp_path / "fake")
    message = f"^square: the library that {fake} built does not load from {cache}: .*(garbage|too short).*; try another"
    with pytest.raises(CompilationError, match=message):
        compile(square(), compiler=fake)
    assert not list(cache.rglob("*.so"))


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, "home/.cache/gdalembert"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/gdalembert"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/gdalembert"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg", "GDALEMBERT_CACHE": "{}/own"}, "own"),
        ("linux", {"GDALEMBERT_CACHE": "~/mine"}, "home/mine"),
        ("darwin", {}, "home/Library/Caches/gdalembert"),
    ],
)
def test_where_the_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], folder: str
) -> None:
    for name in ("XDG_CACHE_HOME", "GDALEMBERT_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "{}/home", **variables}.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(CompilationError, match=f"does not load from {tmp_path / folder}"):
        compile(square(), compiler=fake_compiler(tmp_path / "fake"))
    assert len(list((tmp_path / folder).iterdir())) == 1


def test_the_key_is_all_that_determines_a_library(cache: Path, tmp_path: Path) -> None:
    old, new = (fake_compiler(tmp_path / name, macros=name) for name in ("old", "new"))
    x = ca.SX.sym("x", 2)
    same = ca.Function("another_name", [x], [x * x], ["u"], ["w"])
    other = ca.Function("square", [x], [x * x * x], ["x"], ["y"])
    seen = []
    for function, options in (
        (square(), {"compiler": old}),
        (square(), {"compiler": old, "flags": "-O3 -march=native"}),
        (same, {"compiler": old, "flags": ["-O3", "-march=native"]}),
        (square(), {"compiler": new}),
        (square(), {"compiler": f"{old} -m64"}),
        (square(), {"compiler": old, "flags": "-O3"}),
        (other, {"compiler": old}),
    ):
        with pytest.raises(CompilationError, match="does not load"):
            compile(function, **options)
        seen.append(len(os.listdir(cache)))
    assert seen == [1, 1, 1, 2, 3, 4, 5]
    script(Path(old), Path(old).read_text().replace('"old"', '"old, on another processor"'))
    with pytest.raises(CompilationError, match="does not load"):
        compile(square(), compiler=old)
    assert len(os.listdir(cache)) == 6


def test_a_compiler_that_does_not_know_the_processor_gets_portable_flags(cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = f'case "$*" in *native*) echo "error: -march" >&2; exit 1;; esac; echo "$*" >> {log}; echo macros'
    with pytest.raises(CompilationError, match="writes no library"):
        compile(square(), compiler=script(tmp_path / "old", text))
    asked, built = log.read_text().splitlines()
    assert asked.startswith("-O3 -dM")
    assert built == "-shared -fPIC -o function.so function.c -O3 -lm"
    with pytest.raises(CompilationError, match="error: -march"):
        compile(square(), compiler=str(tmp_path / "old"), flags="-march=native")


# With a compiler


@pytest.fixture
def counting(tmp_path: Path) -> tuple[str, Callable[[], int]]:
    """The machine's compiler, and how often it has built something."""
    log = tmp_path / "builds"
    log.touch()
    command = script(tmp_path / "counting", f'case "$*" in *-shared*) echo build >> {log};; esac\nexec cc "$@"')
    return command, lambda: len(log.read_text().splitlines())


@pytest.mark.system
def test_a_library_is_built_once(cache: Path, counting: tuple[str, Callable[[], int]]) -> None:
    compiler, builds = counting
    function = compile(square(), compiler=compiler)
    again = compile(square(), compiler=compiler)
    assert (function([3, 4]).tolist(), again([3, 4]).tolist(), builds()) == ([9, 16], [9, 16], 1)
    assert function.library == again.library
    assert function.library is not None
    assert {*cache.rglob("*.*")} == {function.library, function.library.with_name("name.txt")}
    compile(square(), compiler=compiler, flags="-O1")
    assert builds() == 2


@pytest.mark.system
def test_what_is_in_the_cache_is_not_written_in_c_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = compile(square()).library
    monkeypatch.setattr(machine_code, "_source", None)
    assert compile(square()).library == library
    with pytest.raises(TypeError):
        compile(product())


@pytest.mark.system
def test_arrays_go_to_the_machine_code_unseen_by_position_by_name_and_with_out(libraries: Path) -> None:
    function = compile(product(), cache=libraries)
    x, y, out = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.empty(2)
    function._checked = None  # type: ignore[assignment, method-assign]
    for value in (
        function(x, y),
        function(x, y=y),
        function(y=y, x=x),
        function(x, y, out=out),
        function(x=x, y=y, out=out),
    ):
        assert value.tolist() == [4, 6]
    with pytest.raises(TypeError):
        function(x, [3, 4])


@pytest.mark.system
@pytest.mark.parametrize("damage", [b"", b"garbage", "half", "flipped"])
def test_a_damaged_library_is_built_anew(
    cache: Path, counting: tuple[str, Callable[[], int]], damage: bytes | str
) -> None:
    compiler, builds = counting
    library = compile(square(), compiler=compiler).library
    assert library is not None
    whole = library.read_bytes()
    half = len(whole) // 2
    broken = {"half": whole[:half], "flipped": whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :]}
    library.unlink()  # this process still has the first one in memory
    library.write_bytes(damage if isinstance(damage, bytes) else broken[damage])
    assert compile(square(), compiler=compiler)([3, 4]).tolist() == [9, 16]
    assert builds() == 2
    assert library.read_bytes() == whole
    compile(square(), compiler=compiler)
    assert builds() == 2


@pytest.mark.system
def test_a_library_of_another_kind_is_built_anew(cache: Path, counting: tuple[str, Callable[[], int]]) -> None:
    compiler, builds = counting
    library = compile(square(), compiler=compiler).library
    assert library is not None
    library.unlink()
    (library.parent / "9b5e1a.so").write_bytes(b"not named after its contents")
    assert compile(square(), compiler=compiler)([3, 4]).tolist() == [9, 16]
    assert builds() == 2


@pytest.mark.system
def test_several_processes_compile_at_once(cache: Path) -> None:
    program = """
import casadi as ca
from gdalembert.compilation.compiled_function import compile
x = ca.SX.sym("x", 3)
f = compile(ca.Function("f", [x], [ca.sin(x) * x], ["x"], ["y"]))
print(f([1, 2, 3]).tolist(), f.library)
"""
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    printed = [process.communicate(timeout=60) for process in running]
    assert [error for _, error in printed] == [""] * 4
    assert len({output for output, _ in printed}) == 1
    assert [path.suffix for path in sorted(cache.rglob("*.*"))] == [".so", ".txt"]


@pytest.mark.system
def test_a_read_only_cache_is_enough_for_what_is_in_it(cache: Path) -> None:
    library = compile(square()).library
    assert library is not None
    library.parent.chmod(0o500)
    cache.chmod(0o500)
    try:
        assert compile(square()).library == library
    finally:
        cache.chmod(0o700)
        library.parent.chmod(0o700)


@pytest.mark.system
def test_what_casadi_cannot_write_in_c_goes_to_the_interpreter(cache: Path) -> None:
    x, y = ca.MX.sym("x"), ca.MX.sym("y")
    solver = ca.rootfinder("solver", "newton", {"x": y, "p": x, "g": y * y - x})
    root = ca.Function("root", [x], [solver(1, x)])
    with pytest.raises(CompilationError, match=r"^root: .* fails: .*error.*Newton; CasADi's interpreter needs no"):
        compile(root)
    assert np.isclose(compile(root, interpreter=True)([4.0])[0], 2)


@pytest.mark.system
def test_solvers_that_share_memory_are_right_on_several_threads(cache: Path) -> None:
    x, p = ca.MX.sym("x", 2), ca.MX.sym("p", 2)
    quiet = {"print_header": False, "print_time": False, "print_iteration": False, "print_status": False}
    quiet["qpsol_options"] = {"print_header": False, "print_iter": False, "print_info": False}
    solver = ca.nlpsol("s", "sqpmethod", {"x": x, "p": p, "f": ca.sumsqr(x - p)}, {"qpsol": "qrqp", **quiet})
    nearest = compile(ca.Function("nearest", [p], [solver(p=p)["x"]], ["p"], ["x"]))
    points = np.random.default_rng(8).normal(size=(200, 2))
    assert relative_error(nearest.batch(points, threads=4), points) < 1e-9
    with ThreadPoolExecutor(2) as pool:
        halves = list(pool.map(nearest.batch, (points[:100], points[100:])))
    assert relative_error(np.vstack(halves), points) < 1e-9


@pytest.mark.system
def test_the_flags_of_the_user_reach_the_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile(square(), flags=["-O0", "-g"])([3, 4]).tolist() == [9, 16]
    monkeypatch.setenv("CC", "cc -O1")
    assert compile(square())([3, 4]).tolist() == [9, 16]
    with pytest.raises(CompilationError, match=r"square: .*cc fails: .*error.*no-such-flag"):
        compile(square(), flags="--no-such-flag")

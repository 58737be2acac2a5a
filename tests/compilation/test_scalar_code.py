"""C99 of scalar operations beside CasADi's own evaluation."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from gdalembert.compilation.machine_code import REALS
from gdalembert.compilation.scalar_code import angles_code, literal, scalar_code
from gdalembert.errors import UnsupportedError

X, Y = ca.SX.sym("x", 2, 2), ca.SX.sym("y", 3)
UNREAD = ca.SX.sym("unread", 2)
A, B = X[0, 1], Y[2]
ALL = ca.vertcat(
    *(f(A) for f in (ca.sin, ca.cos, ca.tan, ca.exp, ca.expm1, ca.sinh, ca.cosh, ca.tanh, ca.atan, ca.asinh, ca.erf)),
    *(f(0.3 * A) for f in (ca.asin, ca.acos, ca.atanh, ca.floor, ca.ceil, ca.sign, ca.fabs)),
    *(f(2 + A) for f in (ca.sqrt, ca.log, ca.log1p, ca.acosh)),
    *(f(A, B) for f in (ca.fmin, ca.fmax, ca.atan2, ca.hypot, ca.fmod, ca.remainder, ca.copysign)),
    *(A < B, A <= B, ca.eq(A, B), ca.ne(A, B), ca.logic_and(A, B), ca.logic_or(A, B), ca.logic_not(A)),
    *(ca.if_else(A < B, A, -2 * B), (2 + A) ** B, A**3, 1 / B, -A, 2 * A, A - B, A / B, ca.SX(-1e300), A**2),
    *(ca.sin(X[1, 0] * 1e3), ca.cos(X[1, 0] * -1e3), ca.sin(X[0, 0] * 1e9)),
)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("length", [7, 1000])
def test_every_operation_is_that_of_casadi(dtype: str, length: int, tmp_path: Path) -> None:
    function = ca.Function("f", [X, UNREAD, Y], [ALL, X @ X], ["x", "unread", "y"], ["all", "square"])
    code, real = scalar_code("f", function, dtype, length), REALS[dtype]
    assert list(code.arguments) == ["x", "y", "all", "square"]
    assert (code.text.count("static void f_") > 5) == (length == 7)
    call = f"void g({real}* x, {real}* y, {real}* all, {real}* square) {{ f(x, y, all, square); }}"
    declared = f"void g({real}*, {real}*, {real}*, {real}*);"
    text = "\n".join(["#include <math.h>", "#include <stdint.h>", angles_code(dtype), code.text, declared, call, ""])
    (tmp_path / "f.c").write_text(text)
    command = "cc -std=c99 -O1 -Wall -Wextra -pedantic -Werror -fPIC -shared f.c -o f.so -lm"
    built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    library = ctypes.CDLL(str(tmp_path / "f.so"))
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.uniform(-1, 1, (2, 2)).astype(dtype), rng.uniform(-1, 1, 3).astype(dtype)
        values, square = np.zeros(ALL.numel(), dtype=dtype), np.zeros((2, 2), dtype=dtype)
        library.g(*(ctypes.c_void_p(array.ctypes.data) for array in (x, y, values, square)))
        wanted, product = (np.array(part) for part in function(x.astype(float), np.zeros(2), y.astype(float)))
        close = {"float64": 1e-13, "float32": 2e-4}[dtype]
        finite = np.abs(wanted.ravel()) < 1e30
        finite[-3:] &= dtype == "float64"  # of angles whose last bit turns them
        assert np.abs(values - wanted.ravel())[finite].max() < close
        assert np.abs(square - product).max() < close


def test_an_operation_that_c_has_not_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="generate: f has OP_ERFINV, which C has not"):
        scalar_code("f", ca.Function("f", [A], [ca.erfinv(A)], ["x"], ["y"]))


def test_literals_are_numbers_of_their_type() -> None:
    assert [literal(x, "float64") for x in (1.0, -0.5, np.inf, np.nan)] == ["1.0", "(-0.5)", "INFINITY", "NAN"]
    assert [literal(x, "float32") for x in (0.1, -1e300, 1e-60)] == ["0.1f", "(-INFINITY)", "0.0f"]

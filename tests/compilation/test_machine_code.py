"""Machine code in the place of a Function in CasADi's graphs: the same values and derivatives, from the cache."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from gdalembert.compilation.machine_code import external
from gdalembert.errors import CompilationError
from tests.helpers.models import relative_error

ROUNDING = 1e-14


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no compiler of the user's own choice."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def spiral(**options: object) -> ca.Function:
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
    outputs = [ca.vertcat(x[0] * ca.cos(p * x[1]), ca.exp(x[0]) * x[1]), ca.sumsqr(x) * p]
    return ca.Function("spiral", [x, p], outputs, ["x", "p"], ["y", "z"], dict(options))


def derivatives(function: ca.Function) -> ca.Function:
    """Jacobian and Hessian of sums of the outputs of three evaluations, as a solver builds them."""
    x, p = ca.MX.sym("x", 2, 3), ca.MX.sym("p", 1, 3)
    y, z = function.map(3)(x, p)
    g = ca.vertcat(ca.vec(y), ca.vec(z))
    both = ca.vertcat(ca.vec(x), ca.vec(p))
    total = ca.sumsqr(g)
    return ca.Function("all", [x, p], [g, ca.jacobian(g, both), ca.hessian(total, both)[0]])


@pytest.mark.system
def test_values_and_derivatives_are_those_of_the_graph() -> None:
    compiled = external(spiral(), 2, "here")
    assert compiled.is_a("External")
    assert (compiled.name_in(), compiled.name_out()) == (["x", "p"], ["y", "z"])
    x, p = np.random.default_rng(0).normal(size=(2, 3)), np.random.default_rng(1).normal(size=(1, 3))
    for value, expected in zip(derivatives(compiled)(x, p), derivatives(spiral())(x, p), strict=True):
        assert np.abs(expected.full()).max() > 0.1
        assert relative_error(value.full(), expected.full()) < ROUNDING


@pytest.mark.system
def test_an_input_that_is_not_differentiated_stays_so() -> None:
    graph = spiral(is_diff_in=[True, False])
    plain, compiled = graph.jacobian(), external(graph, 2, "here").jacobian()
    assert [compiled.sparsity_out(i).nnz() for i in range(4)] == [plain.sparsity_out(i).nnz() for i in range(4)]
    assert compiled.sparsity_out("jac_y_p").nnz() == 0


@pytest.mark.system
def test_it_is_compiled_once_for_each_graph_and_order(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    external(spiral(), 1, "here")
    external(spiral(), 2, "here")
    assert len(list(cache.iterdir())) == 2
    monkeypatch.setattr(ca, "CodeGenerator", None)
    assert relative_error(external(spiral(), 1, "there")([1, 2], 3)[1], [[15]]) < ROUNDING


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_a_sentence_says_who_wants_it_and_what_to_do() -> None:
    message = (
        r"^here: no C compiler: looked for cc, gcc, clang \(\$CC is not set\); install one \(.*\); drop compiled=True$"
    )
    with pytest.raises(CompilationError, match=message):
        external(spiral(), 1, "here")

"""Julia: the functions of an export are the graph, parsed by the grammar and evaluated, and run where Julia is there.

The evaluator knows what an export may contain and nothing else: another piece of Julia is an error of the test.
"""

from __future__ import annotations

import math
import operator
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.export import derive, write
from gdalembert.export.formats import NUMERIC
from tests.helpers.exports import TOLERANCE, functions_of, mixed, reference, states
from tests.helpers.models import relative_error

_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": math.pow,
    "<": operator.lt,
    "!=": operator.ne,
}
_CALLS: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (math.sin, math.cos, math.tan, math.asin, math.acos)},
    **{each.__name__: each for each in (math.sqrt, math.exp, math.log, math.sinh, math.cosh, math.tanh)},
    "atan": lambda y, x=1.0: math.atan2(y, x),
    "abs": abs,
    "float": float,
    "zero": lambda x: 0.0,
    "ifelse": lambda condition, yes, no: yes if condition else no,
    "length": len,
    "reshape": lambda x, rows, columns: np.reshape(x, (int(rows), int(columns)), order="F"),
}


class WrongLengthError(Exception):
    """What ``throw(DimensionMismatch(…))`` is here."""


def text(node: Any) -> str:
    return str(node.text.decode())


class Module:
    """The functions of one module of Julia, by tree-sitter's grammar."""

    def __init__(self, source: str) -> None:
        import tree_sitter
        import tree_sitter_julia

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))
        tree = parser.parse(source.encode())
        assert not tree.root_node.has_error
        (module,) = (each for each in tree.root_node.named_children if each.type == "module_definition")
        self.name = text(module.child_by_field_name("name"))
        functions = [each for each in module.named_children if each.type == "function_definition"]
        self.functions = {text(each.named_children[0].named_children[0].named_children[0]): each for each in functions}
        assert len(self.functions) == len(functions)

    def call(self, name: str, *values: np.ndarray) -> list[np.ndarray]:
        """The results of a function, as arrays."""
        signature, *body = self.functions[name].named_children
        (call,) = signature.named_children
        _, arguments = call.named_children
        scope = dict(zip(map(text, arguments.named_children), values, strict=True))
        *statements, returned = body if len(body) > 1 else body[0].named_children
        for each in statements:
            if each.type == "assignment":
                left, _, right = each.named_children
                assert text(left) not in scope
                scope[text(left)] = self.value(right, scope)
            else:
                self.value(each, scope)
        assert returned.type == "return_statement"
        (results,) = returned.named_children
        several = results.named_children if results.type in ("open_tuple", "tuple_expression") else [results]
        return [np.asarray(self.value(each, scope), dtype=float) for each in several]

    def value(self, node: Any, scope: Mapping[str, Any]) -> Any:
        """Of an expression."""
        inner = node.named_children
        match node.type:
            case "identifier":
                return scope[text(node)]
            case "float_literal" | "integer_literal":
                return float(text(node))
            case "parenthesized_expression":
                return self.value(inner[0], scope)
            case "unary_expression":
                assert text(inner[0]) == "-"
                return -self.value(inner[1], scope)
            case "binary_expression" if text(inner[1]) == "||":
                return self.value(inner[0], scope) or self.value(inner[2], scope)
            case "binary_expression" if text(inner[1]) == "==":
                return self.value(inner[0], scope) == self.value(inner[2], scope)
            case "binary_expression":
                return _OPERATORS[text(inner[1])](self.value(inner[0], scope), self.value(inner[2], scope))
            case "index_expression":
                ((index,),) = (each.named_children for each in inner[1:])
                return scope[text(inner[0])][int(text(index)) - 1]
            case "call_expression" if text(inner[0]) == "throw":
                raise WrongLengthError(text(inner[1]))
            case "call_expression":
                return _CALLS[text(inner[0])](*(self.value(each, scope) for each in inner[1].named_children))
            case "vector_expression":
                return [self.value(each, scope) for each in inner]
        raise AssertionError(f"{node.type}: {text(node)[:80]}")


def evaluated(source: str, calls: Sequence[tuple[str, list[np.ndarray]]], folder: Path) -> list[np.ndarray]:
    """All entries of the results of each call, row by row."""
    module = Module(source)
    return [np.concatenate([x.ravel() for x in module.call(name, *values)]) for name, values in calls]


def run(source: str, calls: Sequence[tuple[str, list[np.ndarray]]], folder: Path) -> list[np.ndarray]:
    """The same by Julia itself."""
    write({"robot.jl": source}, folder / "robot.jl")
    (name,) = (line.removeprefix("module ") for line in source.splitlines() if line.startswith("module "))
    lines = ['include("robot.jl")', "rows(y) = y isa Tuple ? vcat(map(rows, y)...) : vec(permutedims([y;;]))"]
    for own, values in calls:
        given = ", ".join(f"[{', '.join(repr(float(x)) for x in value)}]" for value in values)
        lines.append(f"println(join(rows({name}.{own}({given})), ' '))")
    (folder / "main.jl").write_text("\n".join(lines))
    done = subprocess.run(["julia", "main.jl"], cwd=folder, capture_output=True, text=True, check=True)
    return [np.array(line.split(), dtype=float) for line in done.stdout.splitlines()]


ROUTES = [pytest.param(evaluated, marks=pytest.mark.extras)]
if shutil.which("julia"):
    ROUTES.append(pytest.param(run, marks=pytest.mark.system))


@pytest.mark.parametrize("route", ROUTES)
def test_julia_is_the_graph(route: Callable[..., list[np.ndarray]], tmp_path: Path) -> None:
    """Of a branched robot that flies; with choices of ``ca.if_else`` and parameters; with several outputs."""
    arm = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"placement": ["joint2"], "gravity": True})
    robots = {
        "robot": (gd.NewtonEuler(mixed()), ["terms", "inverse_dynamics", "mass_matrix", "kinetic_energy"]),
        "arm": (arm, ["terms", *NUMERIC[:7], "inverse_dynamics_derivatives"]),
    }
    rng = np.random.default_rng(5)
    for name, (dynamics, terms) in robots.items():
        (source,) = derive(dynamics, "julia", terms=terms).values()
        assert ("ifelse(" in source) is (name == "arm")
        functions = functions_of(dynamics, terms)
        calls = [(own, states(dynamics, function, rng)) for own, function in functions.items()]
        (tmp_path / name).mkdir()
        found = route(source, calls, tmp_path / name)
        for (own, values), result in zip(calls, found, strict=True):
            expected = np.concatenate([x.ravel() for x in reference(functions[own], values)])
            assert relative_error(result, expected) < TOLERANCE, own


@pytest.mark.extras
def test_results_are_vectors_matrices_and_numbers() -> None:
    """And what has a wrong length is refused."""
    (source,) = derive("puma560_3", "julia", terms=["inverse_dynamics", "mass_matrix", "potential_energy"]).values()
    module, q = Module(source), np.full(3, 0.3)
    assert module.name == "puma560_3_dynamics"
    shapes = [module.call(*each)[0].shape for each in (("inverse_dynamics", q, q, q), ("mass_matrix", q))]
    assert [*shapes, module.call("potential_energy", q)[0].shape] == [(3,), (3, 3), ()]
    with pytest.raises(WrongLengthError, match="mass_matrix: q has 3 entries"):
        module.call("mass_matrix", np.full(4, 0.3))


def test_julia_is_plain() -> None:
    """The text alone: no mutation, so that it can be differentiated in reverse."""
    (source,) = derive("puma560_3", "julia").values()
    code = "\n".join(line for line in source.splitlines() if not line.startswith("#"))
    assert "function inverse_dynamics(q, v, a)\n" in code
    assert "] =" not in code
    assert "!(" not in code
    assert "Units are SI" in source

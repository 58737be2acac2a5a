"""Source text: closed forms in SymPy; graphs, an assignment an operation, in Python, JAX, C, Rust, Julia, MATLAB."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import casadi as ca
import sympy
from sympy.printing.str import StrPrinter

from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.export.formats import ClosedForms, Files, closed_format, code_format
from gdalembert.export.notes import signature
from gdalembert.spatial.instructions import evaluate, operation_name
from gdalembert.spatial.source_text import c_comment

_IMPORTED = ("Matrix", "Rational", "cos", "sin", "symbols", "forms")
_NAMES = "sin cos tan asin acos atan atan2 sqrt exp log sinh cosh tanh"
FUNCTIONS = {getattr(ca, f"OP_{name.upper()}"): name for name in _NAMES.split()}
"""Functions with the same name in all languages."""
_ARITHMETIC = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2.0 * {0}",
    ca.OP_ASSIGN: "{0}",
}
_RESULTS = "Arguments are sequences; vectors come back as lists, matrices as lists of rows, single numbers as floats."
_ARRAYS = (
    "Pure functions of arrays, for jax.jit, jax.vmap, jax.grad. Matrices that are given are flat, column by column. "
    "JAX computes in single precision unless you write jax.config.update('jax_enable_x64', True) first."
)
_MODULE = (
    "Matrices come back as arrays of rows, M[row][column]; those that are given are flat, column by column. Nothing is "
    "allocated, there is no unsafe code, and only std is used."
)
_JULIA_MODULE = (
    "Pure functions of numbers of any type, without mutation, as algorithmic differentiation (ForwardDiff, Zygote) "
    "needs them. Vectors and matrices come back as arrays; matrices that are given may be flat, column by column."
)
_CALLS = (
    "Arrays are dense, matrices column by column. The functions allocate nothing and keep no state: they may run in "
    "parallel. Compile with: cc -O2 -c"
)


@closed_format("sympy")
def sympy_files(forms: ClosedForms) -> Files:
    """One module with the matrices by name in ``forms``."""
    names = [x.name for x in forms.symbols]
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name) or name in _IMPORTED:
            raise ArgumentError(f"symbol {name!r}: cannot name a Python variable here; rename it")
    first, *others = forms.notes
    lines = ['"""' + first, *others, "", "forms holds the matrices by name.", '"""', ""]
    lines += ["from sympy import Matrix, Rational, cos, sin, symbols", ""]
    lines += [f'{name} = symbols("{name}", real=True)' for name in names]
    lines += ["", *(f"{short} = {_code(meaning)}" for short, meaning in forms.shorthand.items())]
    lines += ["", "forms = {}"]
    for matrix in forms.matrices:
        rows = (",\n     ".join(map(_code, row)) for row in forms.short(matrix).tolist())
        lines += ["", f'forms["{matrix}"] = Matrix([', *(f"    [{row}]," for row in rows), "])"]
    return {f"{forms.name}_sympy.py": "\n".join([*lines, ""])}


class _Printer(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """Fractions as ``Rational``, because Python would make 1/2 a float."""

    def _print_Rational(self, expr: sympy.Rational) -> str:
        return f"Rational({expr.p}, {expr.q})"


def _code(expression: sympy.Expr) -> str:
    return str(_Printer().doprint(expression))


@dataclass(frozen=True)
class Language:
    """Spellings of operations (``ca.OP_…``) and of entries of inputs (name, index from 0)."""

    name: str
    operations: Mapping[int, str]
    entry: Callable[[str, int], str]

    @classmethod
    def of(
        cls,
        name: str,
        prefix: str,
        entry: Callable[[str, int], str],
        *,
        power: str,
        absolute: str = "abs({0})",
        renamed: Mapping[str, str] = MappingProxyType({}),
    ) -> Language:
        """A language that writes functions as ``prefix`` and their names, or what it calls them instead."""
        called = {
            op: f"{prefix}{renamed.get(key, key)}({'{0}, {1}' if key == 'atan2' else '{0}'})"
            for op, key in FUNCTIONS.items()
        }
        powers = dict.fromkeys((ca.OP_POW, ca.OP_CONSTPOW), power)
        return cls(name, _ARITHMETIC | called | powers | {ca.OP_FABS: absolute}, entry)

    def with_choices(self, *, less: str, other: str, chosen: str) -> Language:
        """The language with what ``ca.if_else`` of a < b consists of: a < b, its opposite, and x where it holds."""
        choices = {ca.OP_LT: less, ca.OP_NOT: other, ca.OP_IF_ELSE_ZERO: chosen}
        return replace(self, operations={**self.operations, **choices})


def statements(function: ca.Function, language: Language) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Assignments (name, expression) of an SX Function, in order, and the entries of each output, column by column.

    Constants keep all their digits.
    """
    assignments: list[tuple[str, str]] = []

    def constant(x: float) -> str:
        if x - x != 0:
            raise UnsupportedError(
                f"{function.name()}: its graph holds the constant {x}, which is not finite; look at the model"
            )
        return repr(float(x)) if x >= 0 else f"({float(x)!r})"

    def operation(op: int, *operands: str) -> str:
        if op not in language.operations:
            raise UnsupportedError(
                f"{function.name()}: its operation {operation_name(op)} cannot be written in {language.name}; export "
                "it to C"
            )
        assignments.append((f"w{len(assignments) + 1}", language.operations[op].format(*operands)))
        return assignments[-1][0]

    inputs = [[language.entry(name, k) for k in range(function.numel_in(name))] for name in function.name_in()]
    outputs = evaluate(function, inputs, constant, operation)
    return assignments, outputs


def _entry_of_python(name: str, k: int) -> str:
    return f"{name}_{k + 1}"


_PYTHON = Language.of("Python", "math.", _entry_of_python, power="{0} ** {1}").with_choices(
    less="float({0} < {1})", other="float(not {0})", chosen="{1} if {0} else 0.0"
)


@code_format("python")
def python_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """One module with a function for each Function."""
    head = ['"""' + notes[0], *notes[1:], "", _RESULTS, '"""', "", "import math"]
    parts = ["\n".join(head)] + [_python_function(key, x, _PYTHON, "{0}") for key, x in functions.items()]
    return {f"{name}.py": "\n\n\n".join(parts) + "\n"}


def _python_function(name: str, function: ca.Function, language: Language, result: str) -> str:
    assignments, outputs = statements(function, language)
    lines = [f"def {name}({', '.join(function.name_in())}):", f'    """{signature(name, function)}."""']
    for argument in function.name_in():  # assignments that fail if the argument has the wrong length
        names = ", ".join(f"{argument}_{k + 1}" for k in range(function.numel_in(argument)))
        names += "," if function.numel_in(argument) == 1 else ""
        wrapped = textwrap.wrap(f"({names})\0=\0{argument}", 114, initial_indent="    ", subsequent_indent="     ")
        lines += [line.replace("\0", " ") for line in wrapped]  # no line breaks beside the =
    lines += [f"    {variable} = {expression}" for variable, expression in assignments]
    results = []
    for i, entries in enumerate(outputs):
        rows, columns = function.size_out(i)
        nested = entries if columns == 1 else [f"[{', '.join(entries[k::rows])}]" for k in range(rows)]
        results.append(result.format(entries[0] if rows == columns == 1 else f"[{', '.join(nested)}]"))
    return "\n".join([*lines, f"    return {', '.join(results)}"])


_JAX = Language.of(
    "JAX",
    "jnp.",
    _entry_of_python,
    power="{0} ** {1}",
    renamed={"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"},
).with_choices(less="jnp.where({0} < {1}, 1.0, 0.0)", other="1.0 - {0}", chosen="jnp.where({0} != 0.0, {1}, 0.0)")


@code_format("jax")
def jax_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """One module with a pure function of arrays for each Function: for ``jax.jit``, ``jax.vmap`` and ``jax.grad``."""
    head = ['"""' + notes[0], *notes[1:], "", *textwrap.wrap(_ARRAYS, 100), '"""', "", "import jax.numpy as jnp"]
    parts = ["\n".join(head)] + [_python_function(key, x, _JAX, "jnp.array({0})") for key, x in functions.items()]
    return {f"{name}_jax.py": "\n\n\n".join(parts) + "\n"}


@code_format("c")
def c_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """``name.c`` and ``name.h`` with a function ``name_…`` for each Function."""
    first = f"{name}_{next(iter(functions))}"  # names CasADi's helpers and the guard, so that exports can be linked
    generator = ca.CodeGenerator(first, {"with_export": False, "casadi_int": "int"})
    guard = f"{first.upper()}_H"
    head = [*c_comment([*notes, "", *textwrap.wrap(f"{_CALLS} {name}.c", 100)]), ""]
    head += [f"#ifndef {guard}", f"#define {guard}", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    wrappers = [f'#include "{name}.h"']
    for key, function in functions.items():
        symbols, names, results = function.sx_in(), function.name_in(), function.name_out()
        inner = ca.Function(f"{name}_{key}_casadi", symbols, [ca.densify(x) for x in function.call(symbols)])
        generator.add(inner)
        arguments = [f"const double* {x}" for x in names] + [f"double* {x}" for x in results]
        prototype = f"void {name}_{key}({', '.join(arguments)})"
        head += [*c_comment([signature(key, function)]), f"{prototype};", ""]
        wrappers += ["", f"{prototype} {{"]
        wrappers += [f"  const double* arg[{max(1, inner.sz_arg())}] = {{{', '.join(names) or '0'}}};"]
        wrappers += [f"  double* res[{max(1, inner.sz_res())}] = {{{', '.join(results)}}};"]
        wrappers += [f"  int iw[{max(1, inner.sz_iw())}];", f"  double w[{max(1, inner.sz_w())}];"]
        wrappers += [f"  {inner.name()}(arg, res, iw, w, 0);", "}"]
    head += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    code = "\n".join([*c_comment([*notes, "", f"How to call it: {name}.h."]), generator.dump(), *wrappers, ""])
    return {f"{name}.c": code, f"{name}.h": "\n".join(head)}


_RUST = Language.of(
    "Rust",
    "f64::",
    lambda name, k: f"{name}[{k}]",
    power="f64::powf({0}, {1})",
    absolute="f64::abs({0})",
    renamed={"log": "ln"},
).with_choices(
    less="if {0} < {1} {{ 1.0 }} else {{ 0.0 }}",
    other="1.0 - {0}",
    chosen="if {0} != 0.0 {{ {1} }} else {{ 0.0 }}",
)


@code_format("rust")
def rust_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """One module ``name.rs`` with a function for each Function."""
    head = [f"//! {line}".rstrip() for line in (*notes, "", *textwrap.wrap(_MODULE, 100))]
    head += ["#![allow(dead_code, non_snake_case, unused_parens, unused_variables, clippy::all)]"]
    parts = ["\n".join(head)] + [_rust_function(key, function) for key, function in functions.items()]
    return {f"{name}.rs": "\n\n".join(parts) + "\n"}


def _rust_function(name: str, function: ca.Function) -> str:
    assignments, outputs = statements(function, _RUST)
    arguments = ", ".join(f"{x}: &[f64; {function.numel_in(x)}]" for x in function.name_in())
    kinds, results = [], []
    for i, entries in enumerate(outputs):
        rows, columns = function.size_out(i)
        nested = entries if columns == 1 else [f"[{', '.join(entries[k::rows])}]" for k in range(rows)]
        kind = "f64" if columns == 1 else f"[f64; {columns}]"
        single = rows == columns == 1
        kinds.append(kind if single else f"[{kind}; {rows}]")
        results.append(entries[0] if single else f"[{', '.join(nested)}]")
    returned, value = (items[0] if len(items) == 1 else f"({', '.join(items)})" for items in (kinds, results))
    lines = [f"/// {signature(name, function)}.", f"pub fn {name}({arguments}) -> {returned} {{"]
    lines += [f"    let {variable}: f64 = {expression};" for variable, expression in assignments]
    return "\n".join([*lines, f"    {value}", "}"])


_JULIA = Language.of(
    "Julia", "", lambda name, k: f"{name}[{k + 1}]", power="{0} ^ {1}", renamed={"atan2": "atan"}
).with_choices(less="float({0} < {1})", other="1.0 - {0}", chosen="ifelse({0} != 0.0, {1}, zero({1}))")


@code_format("julia")
def julia_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """One module ``NAME_dynamics``, which no name of Julia's own can be, with a function for each Function."""
    head = [f"# {line}".rstrip() for line in (*notes, "", *textwrap.wrap(_JULIA_MODULE, 100))]
    parts = ["\n".join([*head, "", f"module {name}_dynamics"])]
    parts += [_julia_function(key, function) for key, function in functions.items()]
    return {f"{name}.jl": "\n\n".join([*parts, f"end # module {name}_dynamics"]) + "\n"}


def _julia_function(name: str, function: ca.Function) -> str:
    assignments, outputs = statements(function, _JULIA)
    lines = ['"""', f"    {signature(name, function)}", '"""', f"function {name}({', '.join(function.name_in())})"]
    for argument in function.name_in():
        length = function.numel_in(argument)
        wrong = f'DimensionMismatch("{name}: {argument} has {length} entries, got $(length({argument}))")'
        lines.append(f"    length({argument}) == {length} || throw({wrong})")
    lines += [f"    {variable} = {expression}" for variable, expression in assignments]
    results = []
    for i, entries in enumerate(outputs):
        rows, columns = function.size_out(i)
        column = f"[{', '.join(entries)}]"
        matrix = column if columns == 1 else f"reshape({column}, {rows}, {columns})"
        results.append(entries[0] if rows == columns == 1 else matrix)
    return "\n".join([*lines, f"    return {', '.join(results)}", "end"])


_MATLAB = Language.of("MATLAB", "", lambda name, k: f"{name}({k + 1})", power="{0} ^ {1}").with_choices(
    less="double({0} < {1})", other="double(~{0})", chosen="{0} * {1}"
)


@code_format("matlab")
def matlab_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """A file ``ROBOT_FUNCTION.m`` for each Function; a file ``moment.m`` would hide MATLAB's own function."""
    named = {f"{name}_{key}": function for key, function in functions.items()}
    return {f"{file_name}.m": _matlab_function(file_name, function, notes) for file_name, function in named.items()}


def _matlab_function(name: str, function: ca.Function, notes: Sequence[str]) -> str:
    assignments, outputs = statements(function, _MATLAB)
    results = function.name_out()
    left = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
    lines = [f"function {left} = {name}({', '.join(function.name_in())})"]
    lines += [f"% {line}".rstrip() for line in (signature(name, function), "", *notes)]
    for argument in function.name_in():
        length = function.numel_in(argument)
        wrong = f"    error('{name}: {argument} has {length} entries, got %d', numel({argument}));"
        lines += [f"if numel({argument}) ~= {length}", wrong, "end"]
    lines += [f"{variable} = {expression};" for variable, expression in assignments]
    for i, (result, entries) in enumerate(zip(results, outputs, strict=True)):
        rows, columns = function.size_out(i)
        lines.append(f"{result} = zeros({rows}, {columns});")
        lines += [f"{result}({k + 1}) = {x};" for k, x in enumerate(entries) if x != "0.0"]
    return "\n".join([*lines, "end", ""])

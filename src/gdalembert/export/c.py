"""C without dependencies: CasADi's code behind functions that take plain arrays."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import casadi as ca

from gdalembert.export.formats import Files, code_format
from gdalembert.export.notes import signature

_CALLS = (
    "Arrays are dense, matrices column by column. The functions allocate nothing and keep no state: they may run in "
    "parallel. Compile with: cc -O2 -c"
)


@code_format("c")
def c_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """``name.c`` and ``name.h`` with a function ``name_…`` for each Function."""
    first = f"{name}_{next(iter(functions))}"  # names CasADi's helpers and the guard, so that exports can be linked
    generator = ca.CodeGenerator(first, {"with_export": False, "casadi_int": "int"})
    for own, function in functions.items():
        generator.add(_named(f"{name}_{own}_casadi", function))
    guard = f"{first.upper()}_H"
    head = [
        *_comment([*notes, "", *textwrap.wrap(f"{_CALLS} {name}.c", 100)]),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
    ]
    head += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for own, function in functions.items():
        head += [*_comment([signature(own, function)]), f"{_prototype(name, own, function)};", ""]
    head += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    wrappers = [_wrapper(name, own, function) for own, function in functions.items()]
    code = "\n".join([*_comment([*notes, "", f"How to call it: {name}.h."]), generator.dump()])
    code += "\n".join([f'\n#include "{name}.h"', *wrappers, ""])
    return {f"{name}.c": code, f"{name}.h": "\n".join(head)}


def _named(name: str, function: ca.Function) -> ca.Function:
    symbols = function.sx_in()
    return ca.Function(name, symbols, [ca.densify(x) for x in function.call(symbols)])


def _prototype(name: str, own: str, function: ca.Function) -> str:
    arguments = [f"const double* {x}" for x in function.name_in()] + [f"double* {x}" for x in function.name_out()]
    return f"void {name}_{own}({', '.join(arguments)})"


def _wrapper(name: str, own: str, function: ca.Function) -> str:
    inner = _named(f"{name}_{own}_casadi", function)
    lines = ["", f"{_prototype(name, own, function)} {{"]
    lines += [f"  const double* arg[{max(1, inner.sz_arg())}] = {{{', '.join(function.name_in()) or '0'}}};"]
    lines += [f"  double* res[{max(1, inner.sz_res())}] = {{{', '.join(function.name_out())}}};"]
    lines += [f"  int iw[{max(1, inner.sz_iw())}];", f"  double w[{max(1, inner.sz_w())}];"]
    return "\n".join([*lines, f"  {name}_{own}_casadi(arg, res, iw, w, 0);", "}"])


def _comment(lines: Sequence[str]) -> list[str]:
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]

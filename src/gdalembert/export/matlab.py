"""Function files that run in MATLAB and in GNU Octave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from gdalembert.export.formats import Files, code_format
from gdalembert.export.notes import signature
from gdalembert.export.statements import FUNCTIONS, Language, statements

_MATLAB = Language(
    "MATLAB",
    {op: f"{name}({'{0}, {1}' if name == 'atan2' else '{0}'})" for op, name in FUNCTIONS.items()}
    | {ca.OP_POW: "{0} ^ {1}", ca.OP_CONSTPOW: "{0} ^ {1}", ca.OP_FABS: "abs({0})"},
    lambda name, k: f"{name}({k + 1})",
)


@code_format("matlab")
def matlab_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """A file ``ROBOT_FUNCTION.m`` for each Function; a file ``moment.m`` would hide MATLAB's own function."""
    named = {f"{name}_{own}": function for own, function in functions.items()}
    return {f"{own}.m": _definition(own, function, notes) for own, function in named.items()}


def _definition(name: str, function: ca.Function, notes: Sequence[str]) -> str:
    body = statements(function, _MATLAB)
    results = function.name_out()
    left = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
    lines = [f"function {left} = {name}({', '.join(function.name_in())})"]
    lines += [f"% {line}".rstrip() for line in (signature(name, function), "", *notes)]
    for i, given in enumerate(function.name_in()):
        length = function.numel_in(i)
        lines += [
            f"if numel({given}) ~= {length}",
            f"    error('{name}: {given} has {length} entries, got %d', numel({given}));",
            "end",
        ]
    lines += [f"{variable} = {expression};" for variable, expression in body.assignments]
    for i, (result, entries) in enumerate(zip(results, body.outputs, strict=True)):
        rows, columns = function.size_out(i)
        lines.append(f"{result} = zeros({rows}, {columns});")
        lines += [f"{result}({k + 1}) = {x};" for k, x in enumerate(entries) if x != "0.0"]
    return "\n".join([*lines, "end", ""])

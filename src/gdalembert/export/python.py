"""Python code that needs only ``math``."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import casadi as ca

from gdalembert.export.formats import Files, code_format
from gdalembert.export.notes import signature
from gdalembert.export.statements import FUNCTIONS, Language, statements

_PYTHON = Language(
    "Python",
    {op: f"math.{name}({'{0}, {1}' if name == 'atan2' else '{0}'})" for op, name in FUNCTIONS.items()}
    | {ca.OP_POW: "{0} ** {1}", ca.OP_CONSTPOW: "{0} ** {1}", ca.OP_FABS: "abs({0})"},
    lambda name, k: f"{name}_{k + 1}",
)
_RESULTS = "Arguments are sequences; vectors come back as lists, matrices as lists of rows, single numbers as floats."


@code_format("python")
def python_files(name: str, functions: Mapping[str, ca.Function], notes: Sequence[str]) -> Files:
    """One module with a function for each Function."""
    head = ['"""' + notes[0], *notes[1:], "", _RESULTS, '"""', "", "import math"]
    parts = ["\n".join(head)] + [_definition(own, function) for own, function in functions.items()]
    return {f"{name}.py": "\n\n\n".join(parts) + "\n"}


def _definition(name: str, function: ca.Function) -> str:
    body = statements(function, _PYTHON)
    lines = [f"def {name}({', '.join(function.name_in())}):", f'    """{signature(name, function)}."""']
    for i, given in enumerate(function.name_in()):
        lines += _unpacked(given, function.numel_in(i))
    lines += [f"    {variable} = {expression}" for variable, expression in body.assignments]
    results = [_nested(entries, *function.size_out(i)) for i, entries in enumerate(body.outputs)]
    return "\n".join([*lines, f"    return {', '.join(results)}"])


def _unpacked(given: str, length: int) -> list[str]:
    """An assignment that fails if the argument has the wrong length."""
    names = "".join(f"{given}_{k + 1}, " for k in range(length)).strip()
    wrapped = textwrap.wrap(f"({names.rstrip(',') if length > 1 else names}) = {given}", 110)
    return [f"    {line}" if k == 0 else f"     {line}" for k, line in enumerate(wrapped)]


def _nested(entries: Sequence[str], rows: int, columns: int) -> str:
    if rows == columns == 1:
        return entries[0]
    if columns == 1:
        return _list(entries)
    return _list([_list(entries[i::rows]) for i in range(rows)])


def _list(entries: Sequence[str]) -> str:
    return f"[{', '.join(entries)}]"

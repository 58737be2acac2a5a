"""LaTeX that fits a page: one equation for each entry, broken into lines where it is too long."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

import sympy

from gdalembert.export.closed import ClosedForms
from gdalembert.export.formats import Files, closed_format
from gdalembert.export.formula_text import Printer, broken, symbol, width
from gdalembert.export.notes import UNITS, coordinates, plain, source, symbols, writer

LINE = 445.0
"""Width of an equation in points, of the 455 between margins of 25 mm on A4."""
_HEAD = r"""\documentclass[a4paper,10pt]{article}
\usepackage{amsmath}
\usepackage[margin=25mm]{geometry}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\begin{document}
\sloppy
"""
_INDENT = {False: r"\quad", True: r"\qquad"}
_SPECIAL = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\textasciitilde{}"} | {x: rf"\{x}" for x in "_&%$#{}"}


@closed_format("latex", has_preamble=True)
def latex_files(forms: ClosedForms, *, body_only: bool = False) -> Files:
    """One document, or the part between its ``\\begin{document}`` and ``\\end{document}``.

    Args:
        forms: the matrices.
        body_only: whether the preamble is left out; the body needs amsmath.
    """
    printer = Printer(frozenset(forms.shorthand))
    tree = forms.tree
    origin = source(forms.dynamics)
    parts = [rf"\section*{{{_text(plain(tree.name))}}}", _text(f"{origin[0].upper()}{origin[1:]} {writer()}")]
    lines = [f"{_text(joint)}: {_formulas(what)}" for joint, what in coordinates(tree)]
    lines += map(_formulas, forms.remarks)
    parts += [UNITS + " \\\\\n" + " \\\\\n".join(lines)]
    used = [x for x in forms.symbols if not re.fullmatch(r"[qva]_\d+", x.name)]
    if forms.shorthand:
        meanings = (f"{printer.text(x)} = {printer.text(meaning)}" for x, meaning in forms.shorthand.items())
        parts += [r"\subsection*{Abbreviations}", _list(meanings)]
    if used:
        values = (f"{symbol(x)} = {printer.decimal(tree.numbers[x.name])}" for x in used if x.name in tree.numbers)
        meant = [_meanings(x.name for x in used)] if forms.automatic else []
        others = (symbol(x) for x in used if x.name not in tree.numbers)
        parts += [r"\subsection*{Symbols}", *meant, _list([*values, *others])]
    for own in forms.matrices:
        parts += _matrix(own, forms.short(own), printer)
    if printer.rounded:
        parts.append("Numbers are rounded to six significant digits.")
    body = "\n\n".join(parts) + "\n"
    return {f"{forms.name}.tex": body if body_only else f"{_HEAD}\n{body}\n\\end{{document}}\n"}


def equations(left: Sequence[str], right: Sequence[list[tuple[str, int]]], line: float = LINE) -> list[str]:
    """Lines of an align environment; the right sides are pieces between which they may be broken."""
    room = line - max(width(x) for x in left) - width(" = ")
    lines = []
    for name, pieces in zip(left, right, strict=True):
        first, *rest = broken(pieces, room, room - width(r"\qquad"))
        lines += [f"{name} &= {first[0]}", *(rf"&{_INDENT[depth > 0]} {each}" for each, depth in rest)]
    return lines


def _matrix(name: str, matrix: sympy.Matrix, printer: Printer) -> list[str]:
    rows, columns = matrix.shape
    heading = rf"\subsection*{{${_name(name)}$}}"
    if matrix.is_zero_matrix:
        return [heading, f"${_name(name)} = 0$."]
    symmetric = rows == columns > 1 and matrix == matrix.T
    shown = [(i, j) for i in range(rows) for j in range(columns) if not (symmetric and j < i) and matrix[i, j] != 0]
    said = ["The matrix is symmetric."] if symmetric else []
    if any(x == 0 for x in matrix):
        said.append("Entries that are not shown are zero.")
    left = [_entry(name, i, j, matrix.shape) for i, j in shown]
    lines = equations(left, [printer.pieces(matrix[i, j]) for i, j in shown])
    align = "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"
    return [heading, f"{' '.join(said)}\n{align}".strip()]


def _name(name: str, index: str = "") -> str:
    """The name of a matrix or entry: ``D_tra`` with index 12 is D^{tra}_{12}; several letters are upright."""
    if match := re.fullmatch(r"([a-zA-Z])_(\d+)", name):
        return f"{match[1]}_{{{match[2]}{index}}}"
    base, _, rest = name.partition("_")
    letter = base if len(base) == 1 else rf"\{base}" if base == "tau" else rf"\mathrm{{{base}}}"
    above = rf"^{{\mathrm{{{rest.replace('_', ' ')}}}}}" if rest else ""
    return f"{letter}{above}_{{{index}}}" if index else f"{letter}{above}"


def _entry(name: str, i: int, j: int, shape: tuple[int, int]) -> str:
    own = [] if shape == (1, 1) else [i + 1] if shape[1] == 1 else [i + 1, j + 1]
    match = re.fullmatch(r"[a-zA-Z]_(\d+)", name)
    apart = "," if max([*own, int(match[1]) if match else 0], default=0) > 9 else ""
    return _name(name, (apart if match and own else "") + apart.join(map(str, own)))


def _meanings(names: Iterable[str]) -> str:
    return "; ".join(f"{_formulas(kind)}: {_formulas(meaning)}" for kind, meaning in symbols(names).items()) + "."


def _formulas(words: str) -> str:
    """Words, with names such as q_1, I_ixx and powers such as m^2 in mathematics."""
    parts = re.split(r"(\b\w+_\w+\b|\bg\b|\^2)", words)
    maths = ["$^2$" if x == "^2" else f"${symbol(sympy.Symbol(x))}$" for x in parts[1::2]]
    return "".join(itertools.chain(*itertools.zip_longest(map(_text, parts[::2]), maths, fillvalue="")))


def _list(formulas: Iterable[str]) -> str:
    return ", ".join(f"${each}$" for each in formulas) + "."


def _text(words: str) -> str:
    return "".join(_SPECIAL.get(x, x) for x in words).replace("...", r"\dots{}")

"""LaTeX that fits a page: one equation for each entry, broken into lines where it is too long.

The formulas are sums and products of symbols, numbers, sines and cosines. Parentheses do not grow, so that a line can
be broken inside of them.

Lines are broken here, and not by LaTeX: ``breqn`` is in neither MathJax nor KaTeX, which set the pages of the
documentation, notebooks and what ``body_only`` is pasted into, nor in a basic TeX installation, which has amsmath.
``multiline_latex`` of SymPy breaks between the terms of the outer sum alone: of 386 entries of robots of three joints
61 are longer than a line, and 31 of these have one term that is longer than a line.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import sympy

from gdalembert.export.formats import ClosedForms, Files, closed_format
from gdalembert.export.meanings import meaning
from gdalembert.export.notes import UNITS, coordinates, symbols
from gdalembert.spatial.source_text import comment_text

Piece: TypeAlias = tuple[str, int]
"""A summand with its sign, and the number of parentheses around it; a line may be broken before it."""

_BREAK = "\n"
"""Marks a place in a text where a line may be broken."""
_LONGEST_FRACTION = 100
_MOTION = re.compile(r"[va]_\d+(_\d+)?")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[_^]\{|.", re.DOTALL)
_WIDE = frozenset("mwMWDHGCNUVABEKO")
_WIDTHS = {r"\cos": 14.0, r"\sin": 13.0, r"\mathrm": 0.0, r"\frac": 3.0, r"\cdot": 7.3, " ": 0.0}
_WIDTHS |= (
    {r"\quad": 10.0, r"\qquad": 20.0} | dict.fromkeys("+-=", 12.5) | dict.fromkeys("()", 3.9) | {",": 2.8, ".": 2.8}
)
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
_SPECIAL = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\textasciitilde{}"} | {x: rf"\{x}" for x in "_&%$#{}"}


class Printer:
    """Writes formulas as LaTeX; symbols of the shorthand, as c_23, are upright, not to be mistaken for lengths.

    ``rounded``: whether a number was rounded.
    """

    def __init__(self, shorthand: frozenset[sympy.Symbol] = frozenset()) -> None:
        self.shorthand = shorthand
        self.rounded = False

    def text(self, expression: sympy.Expr) -> str:
        """The formula in one piece."""
        return self._sum(expression).replace(_BREAK, "")

    def pieces(self, expression: sympy.Expr) -> list[Piece]:
        """The summands of an expression, also those of sums in parentheses."""
        pieces: list[Piece] = []
        depth = 0
        for text in self._sum(expression).split(_BREAK):
            pieces.append((text, depth))
            depth += text.count("(") - text.count(")")
        return pieces

    def decimal(self, x: float) -> str:
        """Six significant digits."""
        text = f"{float(x):.6g}"
        self.rounded |= float(text) != float(x)
        mantissa, _, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def _sum(self, expression: sympy.Expr) -> str:
        """The terms, a positive one first, with a break before each of the others."""
        terms = [term.as_coeff_Mul() for term in expression.as_ordered_terms()]
        first = next((k for k, (number, _) in enumerate(terms) if number > 0), 0)
        text = ""
        for number, rest in (terms[first], *terms[:first], *terms[first + 1 :]):
            sign = "-" if number < 0 else "+" if text else ""
            text += f"{_BREAK} {sign} " if text else sign
            text += self._product(abs(number), rest)
        return text

    def _product(self, number: sympy.Expr, rest: sympy.Expr) -> str:
        factors = sorted(sympy.Mul.make_args(rest) if rest != 1 else (), key=self._order)
        if number.is_Rational and number.q > _LONGEST_FRACTION and factors and factors[-1].is_Add:
            factors[-1] = sympy.Add(*(number * term for term in factors[-1].args))
            number = sympy.Integer(1)
        text = "" if number == 1 and factors else self._number(number)
        for factor in factors:
            base, exponent = factor.as_base_exp()
            power = "" if exponent == 1 else f"^{{{exponent}}}"
            if base.is_Add:
                text += f"({self._sum(base)}){power}"
                continue
            text += " " if text else ""
            if isinstance(base, sympy.sin | sympy.cos):
                argument = self.text(base.args[0])
                argument = argument if base.args[0].is_Symbol else f"({argument})"
                text += rf"\{base.func.__name__}{power} {argument}"
            elif base.is_Symbol:
                text += f"{symbol(base, upright=base in self.shorthand)}{power}"
            else:
                text += f"{sympy.latex(base)}{power}"
        return text

    def _number(self, number: sympy.Expr) -> str:
        """Fractions such as 1/2 and 1/12, but decimals such as 0.05."""
        if number.is_Integer:
            return str(number)
        if number.is_Rational and number.q <= _LONGEST_FRACTION:
            exact = sympy.Rational(f"{float(number):.6g}") == number
            if number.q < 10 or not exact:
                return rf"\frac{{{number.p}}}{{{number.q}}}"
        return self.decimal(float(number))

    def _order(self, factor: sympy.Expr) -> tuple[int, str]:
        """The key that sorts factors: masses, other symbols, sines and cosines, velocities, sums."""
        base = factor.as_base_exp()[0]
        if base.is_Add:
            return 4, str(base)
        if isinstance(base, sympy.sin | sympy.cos) or base in self.shorthand:
            return 2, str(base)
        name = str(base)
        return (3 if _MOTION.fullmatch(name) else 0 if name.startswith("m_") else 1), name


@functools.cache
def symbol(x: sympy.Symbol, *, upright: bool = False) -> str:
    """The symbol with its index: ``I_act_1`` is I_{act,1}."""
    letter, _, index = x.name.partition("_")
    if upright:
        letter = rf"\mathrm{{{letter}}}"
        if not re.fullmatch(r"[\d_]+", index):
            return f"{letter}_{{{symbol(sympy.Symbol(index))}}}"
    elif len(letter) > 1:
        known = sympy.latex(sympy.Symbol(letter))
        letter = known if known.startswith("\\") else rf"\mathrm{{{letter}}}"
    index = re.sub(r"[a-zA-Z]{2,}(?=,)", r"\\mathrm{\g<0>}", index.replace("_", ","))
    return f"{letter}_{{{index}}}" if index else letter


def broken(pieces: Sequence[Piece], first: float, others: float) -> list[Piece]:
    """Lines of at most ``first`` and ``others`` points, broken inside as few parentheses as possible."""
    lines: list[Piece] = []
    rest = list(pieces)
    while rest:
        room = others if lines else first
        total, fitting = 0.0, 0
        while fitting < len(rest) and (total := total + width(rest[fitting][0])) <= room:
            fitting += 1
        if fitting < len(rest):
            fitting = max(1, fitting)
            late = range(max(1, fitting // 2), fitting + 1)
            fitting = min(late, key=lambda k: (rest[k][1], -k))
        lines.append(("".join(text for text, _ in rest[:fitting]).strip(), rest[0][1]))
        rest = rest[fitting:]
    return lines


def width(text: str) -> float:
    """The width of LaTeX mathematics at 10 pt, in points; an estimate that is seldom too small."""
    total, scales = 0.0, [1.0]
    for token in _TOKEN.findall(text):
        if token in ("_{", "^{"):
            scales.append(0.75 * scales[-1])
            total += 0.5
        elif token == "{":
            scales.append(scales[-1])
        elif token == "}":
            scales.pop()
        else:
            known = _WIDTHS.get(token)
            total += scales[-1] * (9.5 if token in _WIDE else 6.0 if known is None else known)
    return total


@closed_format("latex", has_preamble=True)
def latex_files(forms: ClosedForms, *, body_only: bool = False) -> Files:
    """One document, or the part between its ``\\begin{document}`` and ``\\end{document}``, which needs amsmath."""
    printer = Printer(frozenset(forms.shorthand))
    tree = forms.tree
    about = " ".join(forms.origin)
    parts = [rf"\section*{{{_text(comment_text(tree.name))}}}", _text(f"{about[0].upper()}{about[1:]}")]
    lines = [f"{_text(joint)}: {_formulas(coordinate)}" for joint, coordinate in coordinates(tree)]
    lines += map(_formulas, forms.remarks)
    parts += [UNITS + " \\\\\n" + " \\\\\n".join(lines)]
    parts += [_equations_of(forms)] if forms.sums else []
    used = [x for x in forms.symbols if not re.fullmatch(r"[qvaf]_\d+(_\d+)?", x.name)]
    if forms.shorthand:
        meanings = (f"{printer.text(x)} = {printer.text(meaning)}" for x, meaning in forms.shorthand.items())
        parts += [r"\subsection*{Abbreviations}", _list(meanings)]
    if used:
        values = (f"{symbol(x)} = {printer.decimal(tree.numbers[x.name])}" for x in used if x.name in tree.numbers)
        kinds = (f"{_formulas(kind)}: {_formulas(x)}" for kind, x in symbols(x.name for x in used).items())
        meant = ["; ".join(kinds) + "."] if forms.automatic else []
        others = (symbol(x) for x in used if x.name not in tree.numbers)
        parts += [r"\subsection*{Symbols}", *meant, _list([*values, *others])]
    parts += [text] if (text := _told_apart(forms, used)) else []
    for matrix in forms.matrices:
        parts += _matrix(matrix, forms.short(matrix), printer)
    if printer.rounded:
        parts.append("Numbers are rounded to six significant digits.")
    body = "\n\n".join(parts) + "\n"
    return {f"{forms.name}.tex": body if body_only else f"{_HEAD}\n{body}\n\\end{{document}}\n"}


def _equations_of(forms: ClosedForms) -> str:
    """Equations of the torque in terms of the matrices, and the meaning of each matrix."""
    lines = [f"${total.latex}$" for total in forms.sums]
    named: dict[str, str] = {}  # h_1, h_2, … together
    for name in forms.matrices:
        if words := meaning(name):
            named.setdefault(re.sub(r"^([a-zA-Z])_\d+$", r"\1", name), words)
    lines += ["; ".join(f"${_name(name)}$: {_formulas(words)}" for name, words in named.items()) + "."] if named else []
    return " \\\\\n".join(lines)


def _told_apart(forms: ClosedForms, used: Sequence[sympy.Symbol]) -> str:
    """A sentence about letters that stand for several things on the page, or ""."""
    letters: dict[tuple[str, str], str] = {}  # an example of each letter and meaning
    for x, wave in forms.shorthand.items():
        words = "a sine" if isinstance(wave, sympy.sin) else "a cosine"
        letters.setdefault((x.name.partition("_")[0], words), f"upright ${symbol(x, upright=True)}$")
    for kind, words in symbols(x.name for x in used).items() if forms.automatic else ():
        first = kind.partition(",")[0]
        letters.setdefault((first.partition("_")[0], _SHORTLY.get(words) or _formulas(words)), _formulas(first))
    for name in forms.matrices:
        letter, _, index = name.partition("_")
        if not index or index.isdigit():
            example = f"${_entry(name, 0, 0, forms.matrices[name].shape)}$"
            letters.setdefault((letter, f"an entry of ${_name(letter)}$"), example)
    told = [
        f"{example} is {words}"
        for (letter, words), example in sorted(letters.items())
        if sum(other == letter for other, _ in letters) > 1
    ]
    return f"Told apart: {', '.join(told)}." if told else ""


_SHORTLY = {
    "its centre of mass, from the origin of joint i, in the axes of the link [m]": "a coordinate of a centre of mass",
    "gravity [m/s^2]": "the acceleration of gravity",
    "mass of link i [kg]": "a mass",
    "its inertia tensor about the centre of mass [kg m^2]": "an entry of an inertia tensor",
    "rotor inertia at joint i [kg m^2 or kg]": "a rotor inertia",
    "integral of the product of phi in modes j and k": "an integral",
    "its stiffness in bending in y [N m^2]": "a stiffness",
    "its stiffness in bending in z [N m^2]": "a stiffness",
}
"""Kinds of symbols, in the words in which they are told apart from others."""


def equations(left: Sequence[str], right: Sequence[list[tuple[str, int]]], line: float = LINE) -> list[str]:
    """Lines of an align environment; the right sides are pieces between which they may be broken."""
    room = line - max(width(x) for x in left) - width(" = ")
    lines = []
    for name, pieces in zip(left, right, strict=True):
        first, *rest = broken(pieces, room, room - width(r"\qquad"))
        lines += [f"{name} &= {first[0]}", *(rf"&\{'qquad' if depth else 'quad'} {piece}" for piece, depth in rest)]
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
    indices = [] if shape == (1, 1) else [i + 1] if shape[1] == 1 else [i + 1, j + 1]
    match = re.fullmatch(r"[a-zA-Z]_(\d+)", name)
    apart = "," if max([*indices, int(match[1]) if match else 0], default=0) > 9 else ""
    return _name(name, (apart if match and indices else "") + apart.join(map(str, indices)))


def _formulas(words: str) -> str:
    """Words, with names such as q_1, I_ixx and powers such as m^2 in mathematics."""
    parts = re.split(r"(\b\w+_\w+\b|\bg\b|\^2)", words)
    maths = ["$^2$" if x == "^2" else f"${symbol(sympy.Symbol(x))}$" for x in parts[1::2]]
    return "".join(itertools.chain(*itertools.zip_longest(map(_text, parts[::2]), maths, fillvalue="")))


def _list(formulas: Iterable[str]) -> str:
    return ", ".join(f"${formula}$" for formula in formulas) + "."


def _text(words: str) -> str:
    return "".join(_SPECIAL.get(x, x) for x in words).replace("...", r"\dots{}")

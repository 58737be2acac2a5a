"""Python source that builds the SymPy expressions."""

from __future__ import annotations

import keyword

import sympy
from sympy.printing.str import StrPrinter

from gdalembert.errors import ArgumentError
from gdalembert.export.formats import ClosedForms, Files, closed_format

_IMPORTED = ("Matrix", "Rational", "cos", "sin", "symbols", "forms")


@closed_format("sympy")
def sympy_files(forms: ClosedForms) -> Files:
    """One module with the matrices by name in ``forms``.

    Raises:
        ArgumentError: if the name of a symbol cannot be one of a Python variable.
    """
    names = [x.name for x in forms.symbols]
    for each in names:
        if not each.isidentifier() or keyword.iskeyword(each) or each in _IMPORTED:
            raise ArgumentError(f"symbol {each!r}: cannot name a Python variable here; rename it")
    first, *others = forms.notes
    lines = ['"""' + first, *others, "", "forms holds the matrices by name.", '"""', ""]
    lines += ["from sympy import Matrix, Rational, cos, sin, symbols", ""]
    lines += [f'{each} = symbols("{each}", real=True)' for each in names]
    lines += ["", *(f"{short} = {_code(meaning)}" for short, meaning in forms.shorthand.items())]
    lines += ["", "forms = {}"]
    for own in forms.matrices:
        lines += ["", f'forms["{own}"] = Matrix([', *(f"    {row}," for row in _rows(forms.short(own))), "])"]
    return {f"{forms.name}_sympy.py": "\n".join([*lines, ""])}


def _rows(matrix: sympy.Matrix) -> list[str]:
    separator = ",\n     "
    return [f"[{separator.join(map(_code, row))}]" for row in matrix.tolist()]


class _Printer(StrPrinter):  # type: ignore[misc]
    """Fractions as ``Rational``, because Python would make 1/2 a float."""

    def _print_Rational(self, expr: sympy.Rational) -> str:
        return f"Rational({expr.p}, {expr.q})"


def _code(expression: sympy.Expr) -> str:
    return str(_Printer().doprint(expression))

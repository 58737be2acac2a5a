"""The formats of exports, and what they write: chosen Functions, or closed forms of them as readable SymPy matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import sympy

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.export.notes import called, identifier, notes, values
from gdalembert.spatial.arguments import listed
from gdalembert.symbolic import abbreviations, closed_forms, readable
from gdalembert.symbolic.closed_forms import CLOSED
from gdalembert.symbolic.graph import Formulas
from gdalembert.symbolic.tree import SymbolicTree

NUMERIC = tuple(dict.fromkeys((*CLOSED, *FUNCTIONS)))
"""Functions that can be written as code."""
_WRITTEN = 100
"""Making one term readable takes longer than this number of products of terms."""
Files: TypeAlias = dict[str, str]
"""Text by file name."""
CodeWriter: TypeAlias = Callable[[str, Mapping[str, ca.Function], Sequence[str]], Files]
"""``(name of the robot, Functions by name, lines for the head of each file)``."""


@dataclass(frozen=True)
class ExportedGraph:
    """A Function of a formulation, or one output of its ``terms``.

    Attributes:
        of: the name of the Function.
        output: the output, ``None`` for all of them.
    """

    of: str
    output: str | None = None

    @property
    def name(self) -> str:
        """Name in exported code."""
        return self.output or self.of

    def function(self, dynamics: Dynamics) -> ca.Function:
        """The Function; that of a term has the inputs that the term depends on, and an output called value."""
        whole: ca.Function = getattr(dynamics, self.of)
        if self.output is None:
            return whole
        symbols = whole.sx_in()
        value = ca.densify(dict(zip(whole.name_out(), whole.call(symbols), strict=True))[self.output])
        used = [k for k, x in enumerate(symbols) if ca.depends_on(value, x)]
        names = [whole.name_in(k) for k in used]
        return ca.Function(self.output, [symbols[k] for k in used], [value], names, ["value"])


def choose(dynamics: Dynamics, terms: Iterable[str] | None, functions: Sequence[str]) -> list[ExportedGraph]:
    """The parts by their names: ``terms`` and its outputs, ``h`` for h_1, h_2, …, and Functions.

    Args:
        dynamics: the formulation on a robot.
        terms: the names; ``None`` for the formulation's own terms.
        functions: the names of the Functions that can be exported.

    Raises:
        UnknownNameError: if there is no such part.
        ArgumentError: if there are no names.
        ArgumentTypeError: if they are not strings.
    """
    names = ["terms"] if terms is None else [terms] if isinstance(terms, str) else listed(terms)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"terms={shown(terms if names is None else names)}: give names, as ['mass_matrix']")
    if not names:
        raise ArgumentError("terms: none are given; name at least one, as 'mass_matrix'")
    try:
        outputs = dynamics.terms.name_out()
    except UnsupportedError:
        if "terms" in names:
            raise
        outputs = []
    available = [name for name in functions if hasattr(type(dynamics), name)]
    chosen: list[ExportedGraph] = []
    for name in names:
        numbered = [x for x in outputs if re.fullmatch(rf"{re.escape(name)}_\d+", x)]
        if name in available:
            chosen.append(ExportedGraph(name))
        elif name == "terms":
            chosen += [ExportedGraph("terms", x) for x in outputs]
        elif name in outputs or numbered:
            chosen += [ExportedGraph("terms", x) for x in ([name] if name in outputs else numbered)]
        else:
            families = dict.fromkeys(re.sub(r"_\d+$", "", x) for x in outputs)
            raise UnknownNameError(
                f"term of {called(dynamics)}", name, dict.fromkeys([*families, *outputs, "terms", *available])
            )
    return list(dict.fromkeys(chosen))


@dataclass(frozen=True)
class ClosedForms:
    """Matrices by name, and their shorthand.

    Attributes:
        tree: the robot.
        dynamics: the formulation on the robot.
        matrices: without shorthand.
        shorthand: {c_23: cos(q_2 + q_3)}, for all matrices.
        automatic: whether the symbols are those that :func:`~gdalembert.symbolic.parameters.symbolic_tree` chooses.
        remarks: lines about the coordinates.
    """

    tree: SymbolicTree
    dynamics: Dynamics
    matrices: dict[str, sympy.Matrix]
    shorthand: dict[sympy.Symbol, sympy.Expr]
    automatic: bool
    remarks: Sequence[str]

    @property
    def name(self) -> str:
        """The robot's name, as one of a file."""
        return identifier(self.tree.name)

    @property
    def notes(self) -> list[str]:
        """The lines at the head of a file."""
        used = values(self.tree, (x.name for x in self.symbols), self.automatic)
        return notes(self.dynamics, [*self.remarks, *used])

    @property
    def symbols(self) -> list[sympy.Symbol]:
        """All symbols of the matrices, sorted by name."""
        return sorted({x for matrix in self.matrices.values() for x in matrix.free_symbols}, key=str)

    def short(self, name: str) -> sympy.Matrix:
        """A matrix in shorthand."""
        return self.matrices[name].xreplace({meaning: short for short, meaning in self.shorthand.items()})


def close(
    tree: SymbolicTree,
    dynamics: Dynamics,
    formulation: type[Dynamics],
    choices: Sequence[ExportedGraph],
    max_terms: int,
    *,
    automatic: bool,
    remarks: Sequence[str],
) -> ClosedForms:
    """Multiply out and make readable.

    Raises:
        UnsupportedError: if the robot is too large; the message has its size.
    """
    unique: dict[str, Formulas] = {}
    for of in dict.fromkeys(choice.of for choice in choices):
        outputs = [choice.output for choice in choices if choice.of == of and choice.output is not None]
        unique |= closed_forms(tree, formulation, of=of, outputs=outputs or None, max_terms=max_terms)
    terms = sum(len(x) for matrix in unique.values() for row in matrix.tolist() for x in row)
    if terms * _WRITTEN > max_terms:
        raise UnsupportedError(
            f"{tree.name}: too large to be written: its {terms} terms, {_WRITTEN} to be counted for each, are more "
            f"than max_terms={max_terms}; ask for fewer outputs, give numbers for parameters, or raise max_terms"
        )
    matrices = {name: readable(matrix, shorthand=False) for name, matrix in unique.items()}
    shorthand = abbreviations(sympy.Matrix([x for matrix in matrices.values() for x in matrix]))
    return ClosedForms(tree, dynamics, matrices, shorthand, automatic, remarks)


FormsWriter: TypeAlias = Callable[[ClosedForms], Files]


@dataclass(frozen=True)
class Format:
    """A format of exports.

    Attributes:
        name: what ``derive`` and the command line call it.
        closed: whether it takes closed forms; else it takes Functions.
        write: makes the files, as :data:`CodeWriter` or :data:`FormsWriter`.
        has_preamble: whether ``write`` takes ``body_only``.
    """

    name: str
    closed: bool
    write: Callable[..., Files]
    has_preamble: bool = False


FORMATS: dict[str, Format] = {}
"""All formats by name."""


def code_format(name: str) -> Callable[[CodeWriter], CodeWriter]:
    """Decorator that registers a format for graphs, written instruction by instruction."""

    def register(write: CodeWriter) -> CodeWriter:
        FORMATS[name] = Format(name, closed=False, write=write)
        return write

    return register


def closed_format(name: str, *, has_preamble: bool = False) -> Callable[[Any], Any]:
    """Decorator that registers a format for closed forms."""

    def register(write: Callable[..., Files]) -> Callable[..., Files]:
        FORMATS[name] = Format(name, closed=True, write=write, has_preamble=has_preamble)
        return write

    return register


def formats_of(*, closed: bool) -> str:
    """The names of the formats for closed forms, ``"latex or sympy"``, or for code, ``"python, c or matlab"``."""
    *others, last = (each.name for each in FORMATS.values() if each.closed is closed)
    return f"{', '.join(others)} or {last}"

"""The chosen parts of a formulation as readable SymPy matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import UnsupportedError
from gdalembert.export.choice import Choice
from gdalembert.export.notes import identifier, notes, values
from gdalembert.symbolic import abbreviations, closed_forms, readable
from gdalembert.symbolic.graph import Formulas
from gdalembert.symbolic.tree import SymbolicTree

_WRITTEN = 100
"""Making one term readable takes longer than this number of products of terms."""


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
    choices: Sequence[Choice],
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

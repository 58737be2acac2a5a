"""Closed forms: graphs as SymPy expressions, robots with symbols for numbers, trigonometric polynomials.

import gdalembert as gd
import gdalembert.symbolic as gs

robot = gs.symbolic_tree("puma560_3")  # a symbol for every constant that is not zero
forms = gs.closed_forms(robot, gd.LagrangeEuler)  # D, h_1 …, c in unique form: == decides equality
gs.readable(forms["D"])  # a SymPy matrix with c_2, s_23
"""

from gdalembert.symbolic.closed_forms import (
    abbreviations,
    closed_forms,
    readable,
    readable_forms,
    to_sympy,
    to_trigonometric,
)
from gdalembert.symbolic.constants import SymbolicTree
from gdalembert.symbolic.flexible import SymbolicArm
from gdalembert.symbolic.formula import TrigonometricPolynomial, formula, symbol
from gdalembert.symbolic.tree import Row, from_denavit_hartenberg, symbolic_tree

__all__ = [
    "Row",
    "SymbolicArm",
    "SymbolicTree",
    "TrigonometricPolynomial",
    "abbreviations",
    "closed_forms",
    "formula",
    "from_denavit_hartenberg",
    "readable",
    "readable_forms",
    "symbol",
    "symbolic_tree",
    "to_sympy",
    "to_trigonometric",
]

"""From a robot to text."""

from __future__ import annotations

from collections.abc import Iterable

import pinocchio as pin

from gdalembert.dynamics import Dynamics
from gdalembert.errors import ArgumentTypeError, UnknownNameError
from gdalembert.export.c import c_files
from gdalembert.export.choice import CLOSED, NUMERIC, choose
from gdalembert.export.closed import close
from gdalembert.export.latex import latex_files
from gdalembert.export.matlab import matlab_files
from gdalembert.export.notes import identifier, notes, parameters, values
from gdalembert.export.python import python_files
from gdalembert.export.sympy_source import sympy_files
from gdalembert.registry import formulations
from gdalembert.symbolic.graph import MAX_TERMS
from gdalembert.symbolic.parameters import symbolic_tree
from gdalembert.symbolic.tree import SymbolicTree
from gdalembert.tree import Tree
from gdalembert.urdf import load_urdf

FORMATS = ("latex", "sympy", "python", "c", "matlab")
_CLOSED_FORMATS = ("latex", "sympy")
_CODE = ("inverse_dynamics", "mass_matrix", "nle", "generalized_gravity")


def derive(
    robot: str | pin.Model | Tree,
    to: str,
    *,
    formulation: str | type[Dynamics] | None = None,
    terms: Iterable[str] | None = None,
    symbolic: bool | None = None,
    max_terms: int = MAX_TERMS,
    clean: float = 1e-11,
    body_only: bool = False,
) -> dict[str, str]:
    """The equations of a robot as text.

    ``"latex"`` and ``"sympy"`` are closed forms; ``"python"``, ``"c"`` and ``"matlab"`` write down the graph, of robots
    of any size. In code with symbols the last argument of each function is ``parameters``, whose order stands at the
    head of the file; a ``SymbolicTree`` keeps its own.

    Args:
        robot: a shipped robot's name, a URDF (path or text), a ``pin.Model``, a ``Tree`` or a ``SymbolicTree``.
        to: one of ``FORMATS``.
        formulation: its name or its class; by default generalized d'Alembert, and Newton–Euler for code with numbers.
        terms: outputs of the formulation's ``terms`` (``"D_tra"``; ``"h"`` is h_1, h_2, …), ``"terms"`` for all of
            them, and names of Functions (``"mass_matrix"``). By default ``terms``; for code inverse_dynamics,
            mass_matrix, nle and generalized_gravity.
        symbolic: whether constants become symbols; by default in closed forms only.
        max_terms: size of closed forms at which to give up, see :func:`~gdalembert.symbolic.graph.to_trigonometric`.
        clean: tolerance of the cleaning of constants.
        body_only: LaTeX without a preamble.

    Returns:
        Text by the name of the file that it is for.

    Raises:
        UnknownNameError: if the format, the formulation or a term is not there.
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
        UnsupportedError: if the robot is too large for closed forms, or what was asked for has none.
    """
    if to not in FORMATS:
        raise UnknownNameError("format", to, FORMATS)
    closed = to in _CLOSED_FORMATS
    with_symbols = isinstance(robot, SymbolicTree) or (closed if symbolic is None else symbolic)
    kind = _formulation(formulation, "generalized_dalembert" if closed or with_symbols else "newton_euler")
    model = load_urdf(robot) if isinstance(robot, str) else robot
    if closed or with_symbols:
        tree = _symbolic(model, with_symbols, clean)
        dynamics = tree.dynamics(kind)
    else:
        dynamics = kind(model, clean=clean)
    wanted: Iterable[str] | None = _CODE if terms is None and not closed else terms
    choices = choose(dynamics, wanted, CLOSED if closed or with_symbols else NUMERIC)
    name = identifier(dynamics.tree.name)
    automatic = not isinstance(robot, SymbolicTree)
    if closed:
        forms = close(tree, kind, choices, max_terms)
        if to == "latex":
            return latex_files(name, forms, dynamics, body_only=body_only, automatic=automatic)
        used = values(tree, (x.name for x in forms.symbols), automatic)
        return sympy_files(name, forms, notes(dynamics, used))
    functions = {choice.name: choice.function(dynamics) for choice in choices}
    head = notes(dynamics, parameters(tree, automatic) if with_symbols else ())
    if to == "python":
        return python_files(name, functions, head)
    if to == "c":
        return c_files(name, functions, head)
    return matlab_files(name, functions, head)


def _formulation(given: str | type[Dynamics] | None, default: str) -> type[Dynamics]:
    if isinstance(given, type) and issubclass(given, Dynamics):
        return given
    if given is not None and not isinstance(given, str):
        raise ArgumentTypeError(f"formulation={given!r}: give a name or a class, as 'lagrange_euler'")
    known = formulations()
    name = default if given is None else given
    if name not in known:
        raise UnknownNameError("formulation", name, known)
    return known[name]


def _symbolic(model: pin.Model | Tree, with_symbols: bool, clean: float) -> SymbolicTree:
    if isinstance(model, SymbolicTree):
        return model
    return symbolic_tree(model, others="symbols" if with_symbols else "numbers", clean=clean)

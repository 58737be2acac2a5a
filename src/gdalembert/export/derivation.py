"""From a robot to text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.registry import formulations
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.export.c import c_files
from gdalembert.export.choice import CLOSED, NUMERIC, Choice, called, choose
from gdalembert.export.closed import close
from gdalembert.export.latex import latex_files
from gdalembert.export.matlab import matlab_files
from gdalembert.export.notes import angles, identifier, notes, parameters, values
from gdalembert.export.python import python_files
from gdalembert.export.sympy_source import sympy_files
from gdalembert.model.load_urdf import load_urdf
from gdalembert.model.tree import Tree
from gdalembert.symbolic.graph import MAX_TERMS
from gdalembert.symbolic.parameters import symbolic_tree
from gdalembert.symbolic.tree import SymbolicTree

FORMATS = ("latex", "sympy", "python", "c", "matlab")
_Make: TypeAlias = Callable[[type[Dynamics]], Dynamics]
_CLOSED_FORMATS = ("latex", "sympy")
_ORDER = ("newton_euler", "generalized_dalembert", "lagrange_euler")
_DEFAULT = ("inverse_dynamics", "mass_matrix", "nle", "generalized_gravity")


def derive(
    robot: str | pin.Model | Tree | Dynamics,
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
        robot: a shipped robot's name, a URDF (path or text), a ``pin.Model``, a ``Tree`` or a ``SymbolicTree``; for
            code also a ``Dynamics``, as :class:`~gdalembert.PrunedDynamics`, whose own are taken.
        to: one of ``FORMATS``.
        formulation: its name or its class; by default generalized d'Alembert, and Newton–Euler for code with numbers;
            if that has not all ``terms``, the first one that has.
        terms: outputs of the formulation's ``terms`` (``"D_tra"``; ``"h"`` is h_1, h_2, …), ``"terms"`` for all of
            them, and names of Functions (``"mass_matrix"``). By default ``terms``; for code inverse_dynamics,
            mass_matrix, nle and generalized_gravity.
        symbolic: whether constants become symbols; by default in closed forms only.
        max_terms: size of closed forms at which to give up, see :func:`~gdalembert.symbolic.graph.to_trigonometric`.
        clean: tolerance of the cleaning of constants; a ``Dynamics`` has its own.
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
    if body_only and to != "latex":
        raise ArgumentError(f"body_only (--body-only): only latex has a preamble, and {to} has none; leave it out")
    closed = to in _CLOSED_FORMATS
    if isinstance(robot, Dynamics):
        if formulation is not None or symbolic is not None:
            raise ArgumentError(f"{robot!r}: has its formulation and its constants; give no formulation, no symbolic")
        if closed:
            raise UnsupportedError(f"{robot!r}: is exported as code alone; choose python, c or matlab")
        own = parameters(robot.tree, False) if isinstance(robot.tree, SymbolicTree) else []
        chosen = choose(robot, _DEFAULT if terms is None else terms, CLOSED if own else NUMERIC)
        return _code(to, robot, chosen, own)
    with_symbols = isinstance(robot, SymbolicTree) or (closed if symbolic is None else symbolic)
    order = _ORDER[1:] if closed or with_symbols else _ORDER
    kinds = [formulations()[x] for x in order] if formulation is None else [_formulation(formulation)]
    model = load_urdf(robot) if isinstance(robot, str) else robot
    tree = _symbolic(model, with_symbols, clean) if closed or with_symbols else None
    make: _Make = partial(_numeric, model, clean) if tree is None else tree.dynamics
    wanted: Iterable[str] | None = _DEFAULT if terms is None and not closed else terms
    if isinstance(wanted, Iterable) and not isinstance(wanted, str):
        wanted = list(wanted)  # it may be looked at more than once
    others = [formulations()[x] for x in order]
    kind, dynamics, choices = _first(kinds, others, make, wanted, NUMERIC if tree is None else CLOSED)
    if tree is None:
        return _code(to, dynamics, choices, [])
    automatic = not isinstance(robot, SymbolicTree)
    remarks = angles(model) if automatic else []
    if not closed:
        return _code(to, dynamics, choices, [*remarks, *parameters(tree, automatic)])
    name = identifier(tree.name)
    forms = close(tree, kind, choices, max_terms)
    if to == "latex":
        return latex_files(name, forms, dynamics, body_only=body_only, automatic=automatic, remarks=remarks)
    used = values(tree, (x.name for x in forms.symbols), automatic)
    return sympy_files(name, forms, notes(dynamics, [*remarks, *used]))


def _numeric(model: pin.Model | Tree, clean: float, kind: type[Dynamics]) -> Dynamics:
    return kind(model, clean=clean)


def _code(to: str, dynamics: Dynamics, choices: Sequence[Choice], constants: Iterable[str]) -> dict[str, str]:
    """The Functions of a formulation."""
    named = hasattr(dynamics, "name")  # others are told from the exact ones of this robot by their class
    name = identifier(dynamics.tree.name if named else f"{dynamics.tree.name} {called(dynamics)}")
    functions = {choice.name: choice.function(dynamics) for choice in choices}
    head = notes(dynamics, constants)
    if to == "python":
        return python_files(name, functions, head)
    if to == "c":
        return c_files(name, functions, head)
    return matlab_files(name, functions, head)


def _first(
    kinds: Sequence[type[Dynamics]],
    others: Sequence[type[Dynamics]],
    make: _Make,
    terms: Iterable[str] | None,
    functions: Sequence[str],
) -> tuple[type[Dynamics], Dynamics, list[Choice]]:
    """The first of ``kinds`` that has all terms; the error for the first says which of ``others`` has what it lacks."""
    missing: UnknownNameError | None = None
    for kind in kinds:
        dynamics = make(kind)
        try:
            return kind, dynamics, choose(dynamics, terms, functions)
        except UnknownNameError as error:
            missing = missing or error
    assert missing is not None
    having = []
    for kind in others:
        try:
            choose(make(kind), [missing.name], functions)
        except (UnknownNameError, UnsupportedError):
            continue
        having.append(kind.name)
    also = f" ({' and '.join(having)} {'has' if len(having) == 1 else 'have'} it)" if having else ""
    raise UnknownNameError(f"{missing.kind}{also}", missing.name, missing.known)


def _formulation(given: str | type[Dynamics]) -> type[Dynamics]:
    if isinstance(given, type) and issubclass(given, Dynamics):
        return given
    if not isinstance(given, str):
        raise ArgumentTypeError(f"formulation={given!r}: give a name or a class, as 'lagrange_euler'")
    known = formulations()
    if given not in known:
        raise UnknownNameError("formulation", given, known)
    return known[given]


def _symbolic(model: pin.Model | Tree, with_symbols: bool, clean: float) -> SymbolicTree:
    if isinstance(model, SymbolicTree):
        return model
    return symbolic_tree(model, others="symbols" if with_symbols else "numbers", clean=clean)

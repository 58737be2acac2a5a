"""The equations of a robot as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.dynamics.lagrange_euler import LagrangeEuler
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.dynamics.registry import formulations
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.export.choice import NUMERIC, Choice, called, choose
from gdalembert.export.closed import close
from gdalembert.export.formats import FORMATS, Files, Format, code_formats
from gdalembert.export.notes import angles, identifier, notes, parameters, wrenches
from gdalembert.model.load_urdf import load_urdf
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import listed
from gdalembert.symbolic.closed_forms import CLOSED
from gdalembert.symbolic.graph import MAX_TERMS
from gdalembert.symbolic.parameters import symbolic_tree
from gdalembert.symbolic.tree import SymbolicTree

_Make: TypeAlias = Callable[[type[Dynamics]], Dynamics]
_SYMBOLIC: tuple[type[Dynamics], ...] = (GeneralizedDAlembert, LagrangeEuler)
"""The formulations that take symbols for constants, in the order in which they are tried."""
_NUMERIC: tuple[type[Dynamics], ...] = (NewtonEuler, *_SYMBOLIC)
_CODE = ("inverse_dynamics", "mass_matrix", "nle", "generalized_gravity")
_FORMS = ("mass_matrix", "coriolis_matrix", "generalized_gravity")
"""The closed forms of a robot, which are the same in every formulation."""


def derive(
    robot: str | pin.Model | Tree | Dynamics,
    to: str,
    *,
    formulation: str | type[Dynamics] | None = None,
    terms: Iterable[str] | None = None,
    symbolic: bool | None = None,
    max_terms: int = MAX_TERMS,
    clean: float = CLEANED,
    body_only: bool = False,
) -> Files:
    """The equations of a robot as text.

    ``"latex"`` and ``"sympy"`` are closed forms; ``"python"``, ``"c"`` and ``"matlab"`` are code of the graph, for
    robots of any size. In code of a robot with parameters, and with symbols, the last argument of each function is
    ``p``; the head of the file has the names of its entries and their values in the robot. A ``SymbolicTree`` keeps its
    own symbols.

    Args:
        robot: a shipped robot's name, a URDF (path or text), a ``pin.Model``, a ``Tree`` or a ``SymbolicTree``; for
            code also a ``Dynamics``, as :class:`~gdalembert.PrunedDynamics`, with its own equations and parameters.
        to: a name in ``FORMATS``.
        formulation: its name or its class; by default generalized d'Alembert, or Newton–Euler for code with numbers;
            if that lacks any of ``terms``, the first formulation that has them all.
        terms: outputs of the formulation's ``terms`` (``"D_tra"``; ``"h"`` is h_1, h_2, …), ``"terms"`` for all of
            them, and names of Functions (``"mass_matrix"``). By default inverse_dynamics, mass_matrix, nle and
            generalized_gravity in code, and M, C and g (mass_matrix, coriolis_matrix, generalized_gravity) as closed
            forms; those of a ``formulation`` that is given are its own ``terms``.
        symbolic: whether constants become symbols; by default in closed forms only.
        max_terms: size of closed forms at which to give up, see :func:`~gdalembert.symbolic.graph.to_trigonometric`.
        clean: tolerance of the cleaning of constants; a ``Dynamics`` has its own.
        body_only: LaTeX without a preamble.

    Returns:
        Text by file name.

    Raises:
        UnknownNameError: if there is no such format, formulation or term.
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
        UnsupportedError: if the robot is too large for closed forms, or there are none.
    """
    if not isinstance(to, str) or to not in FORMATS:
        raise UnknownNameError("format", to, FORMATS)
    into = FORMATS[to]
    if body_only and not into.has_preamble:
        having = " and ".join(each.name for each in FORMATS.values() if each.has_preamble)
        raise ArgumentError(f"body_only (--body-only): only {having} has a preamble, and {to} has none; leave it out")
    if isinstance(robot, Dynamics):
        if formulation is not None or symbolic is not None:
            raise ArgumentError(f"{robot!r}: has its formulation and its constants; give no formulation, no symbolic")
        return _of_dynamics(robot, into, terms)
    with_symbols = isinstance(robot, SymbolicTree) or (into.closed if symbolic is None else symbolic)
    model = load_urdf(robot) if isinstance(robot, str) else robot
    tree = _symbolic(model, with_symbols, clean) if into.closed or with_symbols else None
    make: _Make = partial(_numeric, model, clean) if tree is None else tree.dynamics
    others = _NUMERIC if tree is None else _SYMBOLIC
    kinds = others if formulation is None else [_formulation(formulation)]
    wanted = _wanted(terms, into, formulation)
    kind, dynamics, choices = _first(kinds, others, make, wanted, CLOSED if into.closed else NUMERIC)
    if tree is None:
        return _code(into, dynamics, choices, [])
    automatic = not isinstance(robot, SymbolicTree)
    remarks = angles(model) if automatic else []
    if not into.closed:
        return _code(into, dynamics, choices, [*remarks, *parameters(dynamics, automatic)])
    forms = close(tree, dynamics, kind, choices, max_terms, automatic=automatic, remarks=remarks)
    return into.write(forms, body_only=body_only) if into.has_preamble else into.write(forms)


def _wanted(
    terms: Iterable[str] | None, into: Format, formulation: str | type[Dynamics] | None
) -> Iterable[str] | None:
    """The names of the parts, which may be read more than once; ``None`` for the formulation's own terms."""
    if terms is None and not into.closed:
        return _CODE
    if terms is None and formulation is None:
        return _FORMS
    return terms if (several := listed(terms)) is None else several


def _of_dynamics(dynamics: Dynamics, into: Format, terms: Iterable[str] | None) -> Files:
    if into.closed:
        raise UnsupportedError(f"{dynamics!r}: is exported as code alone; choose {code_formats()}")
    chosen = choose(dynamics, _CODE if terms is None else terms, NUMERIC)
    return _code(into, dynamics, chosen, [*wrenches(dynamics), *parameters(dynamics)])


def _numeric(model: pin.Model | Tree, clean: float, kind: type[Dynamics]) -> Dynamics:
    return kind(model, clean=clean)


def _code(into: Format, dynamics: Dynamics, choices: Sequence[Choice], constants: Iterable[str]) -> Files:
    """The Functions of a formulation."""
    named = hasattr(dynamics, "name")  # the class tells others from the exact equations of the robot
    name = identifier(dynamics.tree.name if named else f"{dynamics.tree.name} {called(dynamics)}")
    functions = {choice.name: choice.function(dynamics) for choice in choices}
    return into.write(name, functions, notes(dynamics, constants))


def _first(
    kinds: Sequence[type[Dynamics]],
    others: Sequence[type[Dynamics]],
    make: _Make,
    terms: Iterable[str] | None,
    functions: Sequence[str],
) -> tuple[type[Dynamics], Dynamics, list[Choice]]:
    """The first of ``kinds`` that has all terms; the error names those of ``others`` that have the missing term."""
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

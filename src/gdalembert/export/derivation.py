"""The equations of a robot as text, and the files that hold it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics, formulations
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.dynamics.lagrange_euler import LagrangeEuler
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.export.formats import FORMATS, NUMERIC, ExportedGraph, Files, Format, choose, close, formats_of
from gdalembert.export.notes import angles, called, identifier, notes, parameters, wrenches
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
    tree = model if isinstance(model, SymbolicTree) else None
    if tree is None and (into.closed or with_symbols):
        tree = symbolic_tree(model, others="symbols" if with_symbols else "numbers", clean=clean)
    make: _Make = (lambda kind: kind(model, clean=clean)) if tree is None else tree.dynamics
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
        raise UnsupportedError(f"{dynamics!r}: is exported as code alone; choose {formats_of(closed=False)}")
    chosen = choose(dynamics, _CODE if terms is None else terms, NUMERIC)
    return _code(into, dynamics, chosen, [*wrenches(dynamics), *parameters(dynamics)])


def _code(into: Format, dynamics: Dynamics, choices: Sequence[ExportedGraph], constants: Iterable[str]) -> Files:
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
) -> tuple[type[Dynamics], Dynamics, list[ExportedGraph]]:
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


def write(files: Mapping[str, str], output: str | os.PathLike[str], *, force: bool = False) -> list[Path]:
    """Write texts as UTF-8; after any interruption the folder has either all files or its former contents.

    Args:
        files: text by file name.
        output: the folder, made if it does not exist. A single text goes into the file of this name, unless it is a
            folder or ends with a slash.
        force: whether existing files are replaced.

    Returns:
        The paths of the files.

    Raises:
        ArgumentTypeError: if the output is not a path.
        ArgumentError: if a file exists already, or cannot be written.
    """
    if not isinstance(output, str | os.PathLike):
        raise ArgumentTypeError(f"output={output!r}: is not a path; give a file or a folder")
    if not os.fspath(output):
        raise ArgumentError("output (--output) is empty; give a file or a folder, '.' for the one you are in")
    path, as_folder = Path(output), os.fspath(output).endswith(("/", os.sep))
    try:
        targets = _targets(files, path, as_folder or len(files) > 1 or path.is_dir(), force)
        _write_into(next(iter(targets)).parent, targets)
    except OSError as error:
        where = error.filename or path
        raise ArgumentError(f"{where}: cannot be written: {error.strerror}; choose another output") from error
    return list(targets)


def _targets(files: Mapping[str, str], path: Path, as_folder: bool, force: bool) -> dict[Path, str]:
    """Text by path."""
    if len(files) > 1 and path.suffix in {Path(name).suffix for name in files} - {""} and not path.is_dir():
        raise ArgumentError(f"{path}: is a file name, and there are {len(files)} files; give a folder")
    targets = {path / name if as_folder else path: text for name, text in files.items()}
    for target in targets:
        if target.exists() and not (force and target.is_file()):
            raise ArgumentError(f"{target}: is there already; choose another output, or replace it by force (--force)")
    return targets


def _write_into(folder: Path, targets: Mapping[Path, str]) -> None:
    """Make the folder if it is not there, and write; folders that were made go if that fails."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".gdalembert-") as stage:
            _write(targets, Path(stage))
        made = []
    finally:
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()


def _write(targets: Mapping[Path, str], stage: Path) -> None:
    """Write all texts into ``stage``, then move all into place; if that fails, restore the former files."""
    for k, text in enumerate(targets.values()):
        (stage / f"{k}.new").write_text(text, encoding="utf-8", newline="\n")
    with contextlib.ExitStack() as undo:
        for k, target in enumerate(targets):
            if target.exists():
                shutil.copy2(target, stage / f"{k}.old")
                undo.callback(os.replace, stage / f"{k}.old", target)
            else:
                undo.callback(target.unlink, missing_ok=True)
            os.replace(stage / f"{k}.new", target)
        undo.pop_all()

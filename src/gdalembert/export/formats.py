"""The equations of a robot as text: what is written, the formats that write it, and the files that hold it."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import casadi as ca
import numpy as np
import pinocchio as pin
import sympy

from gdalembert.dynamics.dynamics import Dynamics, formulations
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.dynamics.lagrange_euler import LagrangeEuler
from gdalembert.dynamics.named_functions import KINEMATIC, OF_FRAMES, NamedFunction
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.export.meanings import TorqueEquation, of_functions, sums
from gdalembert.export.notes import angles, called, modal_coordinates, notes, origin, parameters, values, wrenches
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.from_pinocchio import idle_joints, read_tree
from gdalembert.model.load_mjcf import load_robot
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Tree, TreeOfSymbols
from gdalembert.spatial.arguments import file_path, flag, listed
from gdalembert.spatial.arrays import frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import current
from gdalembert.spatial.progress import progress as show_progress
from gdalembert.spatial.source_text import identifier
from gdalembert.symbolic import SymbolicArm, SymbolicTree, abbreviations, closed_forms, readable, symbolic_tree
from gdalembert.symbolic.closed_forms import CLOSED, MAX_TERMS, Formulas

Files: TypeAlias = dict[str, str]
"""Text by file name."""
CodeWriter: TypeAlias = Callable[[str, Mapping[str, ca.Function], Sequence[str]], Files]
"""``(name of the robot, Functions by name, lines for the head of each file)``."""
Writer = TypeVar("Writer", bound=Callable[..., Files])
NUMERIC = tuple(dict.fromkeys((*CLOSED, *FUNCTIONS)))
"""Functions of a formulation that can be written as code; those of :data:`KINEMATIC` can be besides."""
_CODE = ("inverse_dynamics", "mass_matrix", "nle", "generalized_gravity")
_FORMS = ("mass_matrix", "coriolis_matrix", "generalized_gravity")
"""The closed forms of a robot, which are the same in every formulation."""
_WRITTEN = 100
"""Making one term readable takes longer than this number of products of terms."""
_Make: TypeAlias = Callable[[type[Dynamics]], Dynamics]
_Find: TypeAlias = Callable[..., tuple[Dynamics, list["ExportedGraph"]]]
"""``(make, numeric=)``: the formulation that is made, and what is asked of it."""
_SYMBOLIC: tuple[type[Dynamics], ...] = (GeneralizedDAlembert, LagrangeEuler, NewtonEuler)
"""The formulations that are tried with symbols for constants, in their order."""


@dataclass(frozen=True)
class Format:
    """A format: its ``name``, whether it takes ``closed`` forms or Functions, and the function that makes the files.

    ``has_preamble``: whether ``write`` takes ``body_only``.
    """

    name: str
    closed: bool
    write: Callable[..., Files]
    has_preamble: bool = False


FORMATS: dict[str, Format] = {}
"""All formats by name."""


def _registered(name: str, closed: bool, has_preamble: bool = False) -> Callable[[Writer], Writer]:
    def register(write: Writer) -> Writer:
        FORMATS[name] = Format(name, closed, write, has_preamble)
        return write

    return register


def code_format(name: str) -> Callable[[CodeWriter], CodeWriter]:
    """Decorator that registers a format for graphs, written instruction by instruction."""
    return _registered(name, closed=False)


def closed_format(name: str, *, has_preamble: bool = False) -> Callable[[Writer], Writer]:
    """Decorator that registers a format for closed forms: of a function of :class:`ClosedForms`."""
    return _registered(name, closed=True, has_preamble=has_preamble)


class ExportedGraph(NamedTuple):
    """A Function by its name, or one output of the ``terms`` of a formulation."""

    of: NamedFunction
    output: str | None = None

    @property
    def name(self) -> str:
        """Name in exported code."""
        return self.output or self.of.label

    def function(self, dynamics: Dynamics) -> ca.Function:
        """The Function, dense; that of a term has the inputs that it depends on, and an output called value."""
        whole = self.of.function(dynamics)
        if self.output is None and all(whole.sparsity_out(k).is_dense() for k in range(whole.n_out())):
            return whole
        symbols = whole.sx_in()
        values = dict(zip(whole.name_out(), map(ca.densify, whole.call(symbols)), strict=True))
        if self.output is None:
            return ca.Function(self.name, symbols, list(values.values()), whole.name_in(), list(values))
        value = values[self.output]
        used = [k for k, x in enumerate(symbols) if ca.depends_on(value, x)]
        names = [whole.name_in(k) for k in used]
        return ca.Function(self.output, [symbols[k] for k in used], [value], names, ["value"])

    def matrix_name(self, output: str) -> str:
        """Name of an output among closed forms: that of the frame follows, or of what the regressor is of."""
        if self.of.frame:
            return f"{output}{self.of.label.removeprefix(self.of.of)}"
        return f"{output}_{self.of.of.removesuffix('_regressor')}" if self.of.of in _REGRESSORS else output


_REGRESSORS = ("base_regressor", "kinetic_energy_regressor", "potential_energy_regressor")
"""Regressors beside that of the torque, which has the letter Y for itself."""


def choose(dynamics: Dynamics, terms: Iterable[str] | None, functions: Sequence[str]) -> list[ExportedGraph]:
    """The parts by their names: ``terms``, the default, and its outputs, ``h`` for h_1, h_2, …, and Functions."""
    names = ["terms"] if terms is None else [terms] if isinstance(terms, str) else listed(terms)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"terms={shown(terms if names is None else names)}: give names, as ['mass_matrix']")
    if not names:
        raise ArgumentError("terms: none are given; name at least one, as 'mass_matrix'")
    try:
        outputs = [name for name in dynamics.terms.name_out() if dynamics.terms.numel_out(name)]
    except UnsupportedError:
        if "terms" in names:
            raise
        outputs = []
    available = [name for name in functions if hasattr(type(dynamics), name)]
    parts = dict.fromkeys(part for name in names for part in _parts(dynamics, name, outputs, available))
    by_name: dict[str, ExportedGraph] = {}
    for part in parts:
        if (other := by_name.setdefault(part.name, part)) != part:
            raise ArgumentError(
                f"terms: frames {other.of.frame!r} and {part.of.frame!r} have the same name in code, "
                f"{part.name}; write them to different files"
            )
    return list(parts)


def _parts(dynamics: Dynamics, name: str, outputs: Sequence[str], functions: Sequence[str]) -> list[ExportedGraph]:
    """The parts of a name: a Function, all outputs of ``terms``, one of them, or those with the name and a number."""
    if name == "terms":
        chosen = outputs
    elif name in outputs:
        chosen = [name]
    elif (named := NamedFunction.read(name)).of in functions or named.is_kinematic:
        return [ExportedGraph(named)]
    elif not (chosen := [x for x in outputs if re.fullmatch(rf"{re.escape(name)}_\d+", x)]):
        families = dict.fromkeys(re.sub(r"_\d+$", "", x) for x in outputs)
        known = dict.fromkeys([*families, *outputs, "terms", *functions, *KINEMATIC])
        raise UnknownNameError(f"term of {called(dynamics)}", name, known)
    return [ExportedGraph(_TERMS, x) for x in chosen]


_TERMS = NamedFunction("terms")


@dataclass(frozen=True)
class ClosedForms(Brief):
    """Matrices of a formulation on a robot by name, without shorthand.

    Attributes:
        automatic: whether the symbols are those that :func:`~gdalembert.symbolic.symbolic_tree` chooses.
        has_terms: whether some are terms of the formulation, rather than Functions that every one has.
        remarks: lines about the coordinates.
    """

    tree: SymbolicTree
    dynamics: Dynamics
    matrices: dict[str, sympy.Matrix]
    automatic: bool
    has_terms: bool
    remarks: Sequence[str]

    @property
    def name(self) -> str:
        """The robot's name, as one of a file."""
        return identifier(self.tree.name)

    @functools.cached_property
    def shorthand(self) -> dict[sympy.Symbol, sympy.Expr]:
        """{c_23: cos(q_2 + q_3)}, for all matrices."""
        return abbreviations(sympy.Matrix([x for matrix in self.matrices.values() for x in matrix]))

    @property
    def notes(self) -> list[str]:
        """The lines at the head of a file."""
        used = values(self.tree, (x.name for x in self.symbols), self.automatic)
        sums = [total.plain for total in self.sums]
        return notes(self.dynamics, [*self.remarks, *(["", *sums] if sums else []), *used], self.origin)

    @property
    def origin(self) -> list[str]:
        """The source of the equations, if it is that of these matrices, and the package that writes them."""
        source, writer = origin(self.dynamics)
        return [
            source
            if self.has_terms or self.tree.arm is not None
            else "closed forms that are the same in every formulation.",
            writer,
        ]

    @property
    def sums(self) -> list[TorqueEquation]:
        """Equations of the torque in terms of the matrices."""
        return sums(self.dynamics, self.matrices, self.has_terms)

    @property
    def symbols(self) -> list[sympy.Symbol]:
        """All symbols of the matrices, sorted by name."""
        return sorted({x for matrix in self.matrices.values() for x in matrix.free_symbols}, key=str)

    def short(self, name: str) -> sympy.Matrix:
        """A matrix in shorthand."""
        return self.matrices[name].xreplace({meaning: short for short, meaning in self.shorthand.items()})


@interruptible
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
    progress: bool = False,
) -> Files:
    """The equations of a robot as text.

    ``"latex"`` and ``"sympy"`` are closed forms; ``"python"``, ``"jax"``, ``"c"``, ``"rust"``, ``"julia"`` and
    ``"matlab"`` are code of the graph, for robots of any size. In code of a robot with parameters, and with symbols,
    the last argument of each function is ``p``; the head of the file has the names of its entries and their values in
    the robot. A ``SymbolicTree`` keeps its own symbols.

    Args:
        robot: a shipped robot's name, a URDF or MJCF file (path or text), a ``pin.Model``, a ``Tree`` or a
            ``SymbolicTree``; a :class:`~gdalembert.FlexibleArm` or :class:`~gdalembert.FirstOrderArm`; for code also
            any other ``Dynamics``, as :class:`~gdalembert.PrunedDynamics`, with its own equations and parameters.
        to: a name in ``FORMATS``.
        formulation: its name or its class; by default generalized d'Alembert, or Newton–Euler for code with numbers;
            if that lacks any of ``terms``, the first formulation that has them all.
        terms: outputs of the formulation's ``terms`` (``"D_tra"``; ``"h"`` is h_1, h_2, …), ``"terms"`` for all of
            them, and names of Functions: ``"mass_matrix"`` or ``"M"``, ``"torque_regressor"``, ``"joint_wrenches"``,
            ``"frame_placement:tool0"``, ``"frame_jacobian:tool0:LOCAL"``
            (:mod:`gdalembert.dynamics.named_functions`). By default inverse_dynamics, mass_matrix, nle and
            generalized_gravity in code, and M, C and g (mass_matrix, coriolis_matrix, generalized_gravity) as closed
            forms, with K (stiffness) of an arm; those of a ``formulation`` that is given are its own ``terms``.
        symbolic: whether constants become symbols; by default in closed forms only. A ``Dynamics`` that is no arm has
            its own constants.
        max_terms: size of closed forms at which to give up, see :func:`~gdalembert.symbolic.to_trigonometric`.
        clean: tolerance of the cleaning of constants; a ``Dynamics`` has its own.
        body_only: LaTeX without a preamble.
        progress: show the progress on stderr.

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
    flag("derive: body_only", body_only)
    flag("derive: progress", progress)
    if symbolic is not None:
        flag("derive: symbolic", symbolic)
    if body_only and not into.has_preamble:
        having = " and ".join(format_.name for format_ in FORMATS.values() if format_.has_preamble)
        raise ArgumentError(f"body_only (--body-only): only {having} has a preamble, and {to} has none; leave it out")
    with show_progress(f"{_called(robot)}: derive {to}", shown=progress) as line:
        files = _derived(robot, into, formulation, terms, symbolic, max_terms, clean, body_only)
        line.show("")
    return files


def _derived(
    robot: str | pin.Model | Tree | Dynamics,
    into: Format,
    formulation: str | type[Dynamics] | None,
    terms: Iterable[str] | None,
    symbolic: bool | None,
    max_terms: int,
    clean: float,
    body_only: bool,
) -> Files:
    """The files of :func:`derive`."""
    is_arm = isinstance(robot, Arm) or (isinstance(robot, SymbolicTree) and robot.arm is not None)
    with_formulas = isinstance(robot, Arm) and (into.closed or symbolic is not None)
    if isinstance(robot, Dynamics) and not (with_formulas and formulation is None):
        if formulation is not None or symbolic is not None:
            raise ArgumentError(f"{robot!r}: has its formulation and its constants; give no formulation, no symbolic")
        if into.closed:
            raise UnsupportedError(
                f"{robot!r}: is exported as code alone; choose {formats_of(closed=False)}, or give the model in its "
                f"place, and {_by_name(robot)}: closed forms have symbols "
                "for its numbers"
            )
        chosen = choose(robot, _CODE if terms is None else terms, NUMERIC)
        return _code(into, robot, chosen, [*wrenches(robot), *parameters(robot)])
    model = load_robot(robot) if isinstance(robot, str) else robot
    if terms is None and (formulation is None or not into.closed):
        terms = (*_FORMS, *(("stiffness",) if is_arm else ())) if into.closed else _CODE
    if is_arm and formulation is None:
        formulation = SymbolicArm
    several = listed(terms)  # may be read more than once
    if symbolic is None and into.closed and "base_regressor" in (several or ()):
        symbolic = False  # base parameters are those of a geometry in numbers
    if (
        not is_arm
        and several
        and all(NamedFunction.read(name).of in OF_FRAMES for name in several if isinstance(name, str))
    ):
        model = _with_rotors(model if isinstance(model, Tree) else read_tree(model))
    find = functools.partial(_first, into, formulation, terms if several is None else several)
    if not into.closed:
        return _derived_code(into, model, find, with_symbols=bool(symbolic), clean=clean)
    forms = _derived_forms(model, find, with_symbols=symbolic is None or symbolic, clean=clean, max_terms=max_terms)
    return into.write(forms, body_only=body_only) if into.has_preamble else into.write(forms)


def _called(robot: Any) -> str:
    """The name of a robot, for a line of progress."""
    if isinstance(robot, str):  # a name, a path, or the text of a file
        return shown(robot) if "\n" in robot else Path(robot).stem
    return str(getattr(getattr(robot, "tree", robot), "name", type(robot).__name__))


def _with_rotors(tree: Tree) -> Tree:
    """The robot with armatures of 1 where it has none at all: frames need no inertia, and formulations ask for some."""
    if isinstance(tree, TreeOfSymbols):
        rotors: Any = ca.SX.ones(tree.nv)
        with_rotors = replace(tree, armature=rotors)
        if isinstance(with_rotors, SymbolicTree) and isinstance(with_rotors.exact, SymbolicTree):
            return replace(with_rotors, exact=replace(with_rotors.exact, armature=rotors))
        return with_rotors
    return replace(tree, armature=frozen(np.ones(tree.nv))) if idle_joints(tree) else tree


def _by_name(robot: Dynamics) -> str:
    """The argument that asks a model for the formulation of a Dynamics."""
    name = getattr(robot, "name", None)
    return f"formulation={shown(name)}" if name in formulations() else "terms=['mass_matrix'], for example"


def _derived_code(
    into: Format, model: pin.Model | Tree | Arm, find: _Find, *, with_symbols: bool, clean: float
) -> Files:
    """Code of a robot with its numbers, or with symbols, whose values are in its head."""
    if not with_symbols and not isinstance(model, SymbolicTree | Arm):
        dynamics, choices = find(lambda kind: kind(model, clean=clean), numeric=True)
        return _code(into, dynamics, choices, [])
    tree, remarks = _symbolic(model, with_symbols=True, clean=clean)
    dynamics, choices = find(tree.dynamics, numeric=False)
    return _code(into, dynamics, choices, [*remarks, *parameters(dynamics, tree is not model)])


def _derived_forms(
    model: pin.Model | Tree | Arm, find: _Find, *, with_symbols: bool, clean: float, max_terms: int
) -> ClosedForms:
    """Closed forms of a robot with its numbers, or with symbols."""
    tree, remarks = _symbolic(model, with_symbols=with_symbols, clean=clean)
    dynamics, choices = find(tree.dynamics, numeric=False)
    matrices, remarks = _closed(tree, type(dynamics), choices, max_terms), [*remarks, *modal_coordinates(tree)]
    has_terms = any(choice.output is not None for choice in choices)
    return ClosedForms(tree, dynamics, matrices, tree is not model, has_terms, remarks)


def _symbolic(model: pin.Model | Tree | Arm, *, with_symbols: bool, clean: float) -> tuple[SymbolicTree, list[str]]:
    """The robot with symbols, or numbers, for constants, and lines about its coordinates; a SymbolicTree as it is."""
    if isinstance(model, SymbolicTree):
        return model, []
    tree = symbolic_tree(model, others="symbols" if with_symbols else "numbers", clean=clean)
    return tree, angles(model.rigid_tree if isinstance(model, Arm) else model)


def _first(
    into: Format, formulation: str | type[Dynamics] | None, terms: Iterable[str] | None, make: _Make, *, numeric: bool
) -> tuple[Dynamics, list[ExportedGraph]]:
    """The given formulation, or the first that has all terms; the error names those that have the missing term."""
    known, functions = formulations(), CLOSED if into.closed else NUMERIC
    others: Sequence[type[Dynamics]] = (NewtonEuler, *_SYMBOLIC) if numeric else _SYMBOLIC
    if formulation is SymbolicArm:
        others = (SymbolicArm,)
    if isinstance(formulation, str):
        if formulation not in known:
            raise UnknownNameError("formulation", formulation, known)
        formulation = known[formulation]
    if formulation is not None and not (isinstance(formulation, type) and issubclass(formulation, Dynamics)):
        raise ArgumentTypeError(f"formulation={shown(formulation)}: give a name or a class, as 'lagrange_euler'")
    missing: UnknownNameError | None = None
    for kind in others if formulation is None else [formulation]:
        dynamics = make(kind)
        try:
            return dynamics, choose(dynamics, terms, functions)
        except UnknownNameError as error:
            missing = missing or error
    assert missing is not None
    having = []
    for kind in others:
        with contextlib.suppress(UnknownNameError, UnsupportedError):
            choose(make(kind), [missing.name], functions)
            having.append(kind.name)
    also = f" ({' and '.join(having)} {'has' if len(having) == 1 else 'have'} it)" if having else ""
    raise UnknownNameError(f"{missing.kind}{also}", missing.name, missing.known)


def _code(into: Format, dynamics: Dynamics, choices: Sequence[ExportedGraph], constants: Iterable[str]) -> Files:
    """The Functions of a formulation."""
    named = hasattr(dynamics, "name")  # the class tells others from the exact equations of the robot
    name = identifier(dynamics.tree.name if named else f"{dynamics.tree.name} {called(dynamics)}")
    functions = {}
    for choice in choices:
        current().show(f"graph of {choice.name}")
        functions[choice.name] = choice.function(dynamics)
    current().show("code")
    written = [choice.name for choice in choices if choice.output is not None]
    added = [total.plain for total in sums(dynamics, written, has_terms=True)]
    lines = [*constants, *(["", *added] if added else []), *of_functions((x.of for x in choices), dynamics)]
    return into.write(name, functions, notes(dynamics, lines))


def _closed(
    tree: SymbolicTree, formulation: type[Dynamics], choices: Sequence[ExportedGraph], max_terms: int
) -> dict[str, sympy.Matrix]:
    """The closed forms, multiplied out and made readable, without shorthand."""
    unique: dict[str, Formulas] = {}
    for choice in choices:
        if choice.output in unique:
            continue
        outputs = [other.output for other in choices if other.of == choice.of and other.output is not None]
        current().show(f"closed form of {choice.name}")
        matrices = closed_forms(tree, formulation, of=choice.of, outputs=outputs or None, max_terms=max_terms)
        unique |= {choice.matrix_name(name): matrix for name, matrix in matrices.items()}
    terms = sum(len(x) for matrix in unique.values() for row in matrix.tolist() for x in row)
    if terms * _WRITTEN > max_terms:
        raise UnsupportedError(
            f"{tree.name}: too large to be written: its {terms} terms, {_WRITTEN} to be counted for each, are more "
            f"than max_terms={max_terms}; ask for fewer outputs, give numbers for parameters, or raise max_terms"
        )
    written = {}
    for name, matrix in unique.items():
        current().show(f"readable form of {name}")
        written[name] = readable(matrix, shorthand=False)
    return written


def formats_of(*, closed: bool) -> str:
    """The names of the formats for closed forms, ``"latex or sympy"``, or for code, ``"python, c or rust"``."""
    *others, last = (format_.name for format_ in FORMATS.values() if format_.closed is closed)
    return f"{', '.join(others)} or {last}"


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
    usable = isinstance(files, Mapping) and all(isinstance(x, str) for texts in files.items() for x in texts)
    if not usable or not files:
        raise ArgumentTypeError(f"write: files: got {shown(files)}; give {{name: text}}, as derive does")
    path = file_path("output (--output)", output, "a file or a folder, '.' for the one you are in")
    flag("write: force", force)
    as_folder = os.fspath(output).endswith(("/", os.sep))
    try:
        if len(files) > 1 and path.suffix in {Path(name).suffix for name in files} - {""} and not path.is_dir():
            raise ArgumentError(f"{path}: is a file name, and there are {len(files)} files; give a folder")
        as_folder = as_folder or len(files) > 1 or path.is_dir()
        targets = {path / name if as_folder else path: text for name, text in files.items()}
        for target in targets:
            if target.exists() and not (force and target.is_file()):
                raise ArgumentError(
                    f"{target}: is there already; choose another output, or replace it by force (--force)"
                )
        _write_all(next(iter(targets)).parent, targets)
    except OSError as error:
        place = error.filename or path
        raise ArgumentError(f"{place}: cannot be written: {error.strerror}; choose another output") from error
    return list(targets)


def _write_all(folder: Path, targets: Mapping[Path, str]) -> None:
    """Write all texts beside their places, then move them there; whatever fails, all is as it was before."""
    made = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".gdalembert-") as stage, contextlib.ExitStack() as undo:
            new, old = ([Path(stage, f"{k}.{age}") for k in range(len(targets))] for age in ("new", "old"))
            for place, text in zip(new, targets.values(), strict=True):
                place.write_text(text, encoding="utf-8", newline="\n")
            for target, place, former in zip(targets, new, old, strict=True):
                if target.exists():
                    shutil.copy2(target, former)
                    undo.callback(os.replace, former, target)
                else:
                    undo.callback(target.unlink, missing_ok=True)
                os.replace(place, target)
            undo.pop_all()
    except BaseException:
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()
        raise

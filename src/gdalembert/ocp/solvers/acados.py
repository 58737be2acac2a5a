"""acados (Verschueren et al. 2022): the stages of a problem as its optimal control problem, with an SQP in C.

States stay states, all other variables of an interval are its controls, and rows that are no gaps are its h(x, u). What
holds at some instants alone is multiplied by a parameter, which is 0 at the others.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import Compiler, library_of
from gdalembert.errors import ArgumentError, UnsupportedError, reason_of
from gdalembert.nlp.backends import Backend
from gdalembert.nlp.entries import NOWHERE, Indices
from gdalembert.nlp.program import Found
from gdalembert.nlp.solver import Solver
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.terms import RowsAndCost, Term
from gdalembert.ocp.solvers.registry import solver
from gdalembert.spatial.arrays import Array

_LIMITLESS = 1e6
"""What stands for no limit: beside larger numbers the least multipliers of HPIPM, 1e-16, are not complementary."""
_OPTIONS = {
    "nlp_solver_type": "SQP",
    "globalization": "MERIT_BACKTRACKING",
    "nlp_solver_max_iter": 200,
    "qp_solver_iter_max": 200,
    "nlp_solver_tol_eq": 1e-9,
    "nlp_solver_tol_ineq": 1e-9,
    "nlp_solver_tol_comp": 1e-9,
}
_OURS = ("integrator_type", "tf", "time_steps", "shooting_nodes", "Tsim")
"""Options that tell what stages are."""
_STATUS = (
    "Solve_Succeeded",
    "Invalid_Number_Detected",
    "Maximum_Iterations_Exceeded",
    "Minimum_Step_Size_Reached",
    "QP_Solver_Failed",
)
"""acados' statuses, in words."""
_ROOT, _NO_ROOT = 1e-6, "Root_Not_Found"
"""What may be left of the equations that Newton's method solves within a step, and the status where more is."""
_TIMES = ("time_tot", "time_lin", "time_qp", "time_qp_solver_call", "time_reg", "time_glob")
"""Parts of a solve [s]."""
_LIBRARIES = ("blasfeo", "hpipm", "qpOASES_e", "acados")
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
"""Of libraries."""
_INSTALL = (
    "acados: needs its Python package acados_template; build acados (docs.acados.org) and set ACADOS_SOURCE_DIR, or "
    "take its wheel as docs/solvers.md says, without the CasADi in it"
)


@solver("acados")
def acados(problem: Any, options: Mapping[str, Any]) -> AcadosSolver[Any]:
    """Sequential quadratic programming by acados, with HPIPM."""
    made: AcadosSolver[Any] = problem.nonlinear_solver("acados", options, AcadosSolver)
    return made


class AcadosSolver(Solver[Found]):
    """A :class:`~gdalembert.ocp.Solver` by acados, which is called alike."""

    def __init__(self, program: Any, name: str, options: Mapping[str, Any]) -> None:
        if len(program.parts) > 1:
            raise UnsupportedError(f"acados: {program.name}: it takes one problem, not several; take 'ipopt'")
        motion = program.parts[0].motion
        self._unknowns = [group for group, (matrix, _) in enumerate(motion.blocks) if matrix is motion.k]
        super().__init__(program, name, options)

    @classmethod
    def form(cls, name: str) -> Backend:
        return Backend(stagewise=True, fixes=True, compiles=True)

    def _made(self, leash: Any, *, warm: bool = False) -> Any:
        return self._cold if warm else AcadosProgram(self._nlp, self._unknowns, self._options)

    def function(self, *, warm: bool = False) -> ca.Function:
        raise UnsupportedError("function: acados is no Function of CasADi; take 'ipopt', 'fatrop' or 'sqpmethod'")

    def stationarity(self) -> float:
        raise UnsupportedError("stationarity: acados has no multipliers of the equations of motion; take 'ipopt'")


class StageForm:
    """Stages of one form: those of all intervals, or of the last instant.

    The equations of motion E(x, u, w) = 0, as many as unknowns w of the step, are solved for w by Newton's method. As
    rows they would leave HPIPM no digits of what they do not determine: its weights of equations grow without end.

    Args:
        nlp: of which they are. ``first``: where the variables of each interval begin. ``instants``: the stages.
        sizes: of x, u and w. ``order``: the entry of [x, u, w] of each variable of an interval.

    Attributes:
        places, gaps: the rows of g of limited expressions, and of the gaps, at each stage (rows × stages).
        numbers: the entries of p at each stage, of the parameters of the program, 0 and 1.
    """

    def __init__(
        self, nlp: StageProgram, first: Indices, instants: Indices, sizes: tuple[int, int, int], order: Indices
    ) -> None:
        self._symbols, self._sizes = [ca.SX.sym(name, size) for name, size in zip("xuw", sizes, strict=True)], sizes
        x, u, w = self._symbols
        self._moving, self._cost = ca.vertcat(u, x, w), ca.SX(0)
        self._curvature = ca.SX(self._moving.numel(), self._moving.numel())
        self._next: dict[int, tuple[ca.SX, Indices]] = {}
        self._equations, self._rows = [ca.SX(0, 1)], [(ca.SX(0, 1), np.zeros((0, len(instants)), dtype=int))]
        state = dict(zip(*nlp.sum.linear.sparsity().get_triplet(), strict=True))
        z, zero, parameters, numbers = ca.vertcat(x, u, w)[order.tolist()], nlp.problem["p"].numel(), [ca.SX(0, 1)], []
        for term in nlp.sum.terms:
            if not term.of_z.nnz():  # of parameters alone
                continue
            when = nlp.variables.intervals[_first_columns(term.of_z, term.places)]
            holds = np.isin(instants, when)
            if not holds.any():
                continue
            at = np.searchsorted(when, np.where(holds, instants, instants[holds][0]))
            own = np.array(term.of_p.T.sparsity().row(), dtype=int).reshape(term.places, -1).T
            numbers.append(np.vstack([own[:, at], zero + holds]))
            p, on = ca.SX.sym("p", len(own)), ca.SX.sym("on")
            parameters += [p, on]
            on, (k, count) = ca.SX(1) if holds.all() else on, (at[0], term.of_z.shape[0] // term.places)
            y = term.of_z[k * count : (k + 1) * count, first[when[k]] : first[when[k]] + z.numel()] @ z
            self._add_cost(term.function, y, p, on)
            for value, places in _rows_of(term, term.function.rows(y, p)):
                kept = np.where(holds, places[at], NOWHERE)
                row = int(kept.max())
                if row == NOWHERE:
                    continue
                if nlp.gaps[row]:
                    self._next[state[kept[0]] - first[1]] = -value, kept
                elif nlp.of_step[row]:
                    self._equations.append(value)
                else:
                    self._rows.append((on * value, kept))
        self._symbols.append(ca.vertcat(*parameters))
        self.numbers = np.vstack([np.zeros((0, len(instants)), dtype=int), *numbers])
        self.places = np.vstack([row for _, row in self._rows])
        self.gaps = np.array([self._next[i][1] for i in range(len(self._next))])

    def _add_cost(self, term: RowsAndCost, y: ca.SX, p: ca.SX, on: ca.SX) -> None:
        """Add that of a term, with the curvature of Gauss and Newton for squares that are said."""
        rest = term.cost(y, p)
        self._cost += on * rest
        if term.squares is not None:
            residuals, rest = term.squares.expand().call([y, p])
            slopes = ca.jacobian(residuals, self._moving)
            self._curvature += 2 * on * slopes.T @ slopes
        self._curvature += on * ca.hessian(rest, self._moving)[0]

    @property
    def size(self) -> int:
        """The number of entries of p, the unknowns where Newton's method begins among them."""
        return len(self.numbers) + self._sizes[2]

    @cached_property
    def unknowns(self) -> ca.Function | None:
        """(x, u, p) → (w, what is left of their equations); none if a step has no w.

        A root that is not found is no exception: acados goes through such points, or ends at one.
        """
        if not self._sizes[2]:
            return None
        x, u, w, p = self._symbols
        equations = ca.Function("equations", [w, ca.vertcat(x, u, p)], [ca.vertcat(*self._equations)])
        options: dict[str, Any] = {"linear_solver": "qr", "abstol": 1e-13, "max_iter": 30, "error_on_fail": False}
        solve = ca.rootfinder("unknowns", "fast_newton", equations, options)
        given = [ca.MX.sym(name, size) for name, size in zip("xup", (*self._sizes[:2], self.size), strict=True)]
        known = ca.vertcat(*given[:2], given[2][: len(self.numbers)])
        root = solve(given[2][len(self.numbers) :], known)
        return ca.Function("unknowns", given, [root, equations(root, known)])

    def expressions(self, x: ca.MX, u: ca.MX, p: ca.MX) -> tuple[ca.MX, ca.MX, ca.MX, ca.MX]:
        """The next state, rows and cost of x, u and p, and the cost's Hessian by (u, x), without that of w itself."""
        p, moving = p[: self.size], ca.vertcat(u, x)
        w = ca.MX(0, 1) if self.unknowns is None else self.unknowns(x, u, p)[0]

        def value(expression: ca.SX) -> ca.MX:
            graph = ca.Function("part", self._symbols, [expression])
            own = w if ca.depends_on(expression, self._symbols[2]) else ca.MX.zeros(self._sizes[2])
            return ca.MX(graph(x, u, own, p[: len(self.numbers)]))

        slopes = ca.vertcat(ca.MX(ca.DM.eye(moving.numel())), ca.jacobian(w, moving))
        if not ca.depends_on(self._curvature, self._symbols[2]) and not self._curvature[:, moving.numel() :].nnz():
            slopes = slopes[: moving.numel(), :]
        curvature = value(self._curvature)[: slopes.shape[0], : slopes.shape[0]]
        reached = ca.vertcat(ca.SX(0, 1), *(self._next[i][0] for i in range(len(self._next))))
        rows = ca.vertcat(*(row for row, _ in self._rows))
        return value(reached), value(rows), value(self._cost), slopes.T @ curvature @ slopes


class AcadosProgram:
    """acados for a program of stages, in the place of a ``casadi.nlpsol``."""

    def __init__(self, nlp: StageProgram, unknowns: Sequence[int], options: Mapping[str, Any]) -> None:
        try:
            structure: dict[str, Any] = nlp.structure()
        except UnsupportedError as error:
            raise UnsupportedError(f"acados: {error}") from None
        n, nx, groups = structure["N"], structure["nx"][0], nlp.variables.groups
        first = np.searchsorted(nlp.variables.intervals, np.arange(n + 1))
        implicit = np.isin(groups[first[0] : first[1]], unknowns)
        known, solved = np.flatnonzero(~implicit), np.flatnonzero(implicit)
        sizes = nx, len(known) - nx, len(solved)
        forms = (
            StageForm(nlp, first, np.arange(n), sizes, np.argsort(np.r_[known, solved])),
            StageForm(nlp, first, np.array([n]), (nx, 0, 0), np.arange(nx)),
        )
        self._x = [slice(k, k + nx) for k in first]
        self._u, self._w = ([k + each for k in first[:n]] for each in (known[nx:], solved))
        self._numbers = [*forms[0].numbers.T, *forms[1].numbers.T]
        self._gaps, self._unknowns = forms[0].gaps.T, forms[0].unknowns
        bounded = _bounded(nlp)
        inner = bounded[first[:n, None] + known]
        boxes = dict(zip(("x_0", "x_e"), (bounded[:nx], bounded[first[n] :]), strict=True))
        boxes |= {"x": inner[1:, :nx].any(axis=0), "u": inner[:, nx:].any(axis=0)}
        entries = {key: np.flatnonzero(box) for key, box in boxes.items()}
        self._limited: list[dict[str, Indices]] = []
        for k, rows in enumerate([*forms[0].places.T, *forms[1].places.T]):
            self._limited.append({"bu": self._u[k][entries["u"]]} if k < n else {})
            self._limited[k]["bx"] = first[k] + entries["x_0" if not k else "x" if k < n else "x_e"]
            self._limited[k]["h"] = np.where(rows == NOWHERE, NOWHERE, nlp.size + rows)
        # HPIPM eliminates a start that is fixed; where a part of it is, it then misses rows of the others
        entries["xe_0"] = np.arange(nx if set(range(nx)) <= set(nlp.labels()[1]) else 0)
        self._stats: dict[str, Any] = {}
        with _package() as package:
            self._solver = _built(package, _described(package.AcadosOcp(), n, sizes, forms, entries, options))

    def get_function(self) -> list[str]:
        """The names of Functions that it is made of: none."""
        return []

    def stats(self) -> dict[str, Any]:
        """The statistics of the last solve."""
        return self._stats

    def __call__(self, *, x0: Any, p: Any, lam_x0: Any = None, lam_g0: Any = None, **limits: Any) -> dict[str, ca.DM]:
        """Solve, with the arguments and results of a ``casadi.nlpsol``."""
        inner, z, numbers = self._solver, _column(x0), np.r_[_column(p), 0.0, 1.0]
        lower, upper = (
            np.clip(np.r_[_column(limits[f"{side}bx"]), _column(limits[f"{side}bg"]), none], -_LIMITLESS, _LIMITLESS)
            for side, none in (("l", -_LIMITLESS), ("u", _LIMITLESS))
        )
        multipliers = np.zeros(len(lower)) if lam_x0 is None else np.r_[_column(lam_x0), _column(lam_g0), 0.0]
        of_p = np.zeros(len(inner.acados_ocp.parameter_values))
        for k, limited in enumerate(self._limited):
            own = np.r_[numbers[self._numbers[k]], z[self._w[k]] if k < len(self._u) else []]
            of_p[: len(own)] = own
            inner.set(k, "p", of_p)
            inner.set(k, "x", z[self._x[k]])
            for key, where in limited.items():
                if len(where):
                    inner.constraints_set(k, f"l{key}", lower[where])
                    inner.constraints_set(k, f"u{key}", upper[where])
            own = multipliers[np.concatenate([*limited.values()])]
            inner.set(k, "lam", np.maximum(np.r_[-own, own], 0.0))
            if k < len(self._u):
                inner.set(k, "u", z[self._u[k]])
                inner.set(k, "pi", -multipliers[len(z) + self._gaps[k]])
        status, left = int(inner.solve()), 0.0
        for k, limited in enumerate(self._limited):
            z[self._x[k]] = inner.get(k, "x")
            low, high = np.split(inner.get(k, "lam"), 2)
            multipliers[np.concatenate([*limited.values()])] = high - low
            if k < len(self._u):
                z[self._u[k]] = inner.get(k, "u")
                if self._unknowns is not None:
                    own = np.r_[numbers[self._numbers[k]], z[self._w[k]]]
                    w, rest = self._unknowns(z[self._x[k]], z[self._u[k]], own)
                    z[self._w[k]] = w.full().ravel()
                    left = np.maximum(left, np.abs(rest.full()).max())
                multipliers[len(z) + self._gaps[k]] = -inner.get(k, "pi")
        self._stats = {key: float(inner.get_stats(key)[0]) for key in _TIMES}
        self._stats |= {"iter_count": int(inner.get_stats("sqp_iter")[0]), "t_wall_total": self._stats["time_tot"]}
        found = bool(left < _ROOT)  # not where it is no number
        self._stats |= {
            "return_status": _STATUS[status] if status or found else _NO_ROOT,
            "success": not status and found,
        }
        return {"x": ca.DM(z), "lam_x": ca.DM(multipliers[: len(z)]), "lam_g": ca.DM(multipliers[len(z) : -1])}


def _described(
    ocp: Any,
    intervals: int,
    sizes: tuple[int, int, int],
    forms: Sequence[StageForm],
    bounded: Mapping[str, Indices],
    options: Mapping[str, Any],
) -> Any:
    """An ``AcadosOcp`` of stages of both forms; ``bounded``: the entries that have bounds, as acados calls them."""
    model, limits = ocp.model, ocp.constraints
    x, u = (ca.MX.sym(name, size) for name, size in zip("xu", sizes, strict=False))
    p = ca.MX.sym("p", max(form.size for form in forms))
    model.name, model.x, model.u, model.p = "gdalembert", x, u, p
    ocp.dims.N, ocp.parameter_values = intervals, np.zeros(p.numel())
    for end, form, own_u in (("_e", forms[1], ca.MX(0, 1)), ("", forms[0], u)):
        model.disc_dyn_expr, rows, cost, curvature = form.expressions(x, own_u, p)
        setattr(ocp.cost, f"cost_type{end}", "EXTERNAL")
        setattr(model, f"cost_expr_ext_cost{end}", cost)
        setattr(model, f"cost_expr_ext_cost_custom_hess{end}", curvature)
        if count := len(form.places):
            setattr(model, f"con_h_expr{end}", rows)
            setattr(limits, f"lh{end}", np.zeros(count))
            setattr(limits, f"uh{end}", np.zeros(count))
    for key, box in bounded.items():
        setattr(limits, f"idxb{key}", box)
        if key != "xe_0":
            setattr(limits, f"lb{key}", np.zeros(len(box)))
            setattr(limits, f"ub{key}", np.ones(len(box)))
    _set_options(ocp.solver_options, options)
    ocp.solver_options.tf, ocp.solver_options.integrator_type = float(intervals), "DISCRETE"
    return ocp


def _first_columns(matrix: ca.DM, places: int) -> Indices:
    """The first column of each of so many blocks below each other."""
    row, column = (np.array(each, dtype=int) for each in matrix.sparsity().get_triplet())
    found = np.full(places, matrix.shape[1])
    np.minimum.at(found, row // (matrix.shape[0] // places), column)
    return found


def _rows_of(term: Term, values: ca.SX) -> Iterator[tuple[ca.SX, Indices]]:
    """The rows of g that a term is the only part of, and where they are at each place."""
    count, weights = values.numel(), dict[int, list[tuple[int, float]]]()
    for i, j, weight in zip(*term.of_rows.sparsity().get_triplet(), term.of_rows.nonzeros(), strict=True):
        weights.setdefault(i, []).append((j, weight))
    found: dict[tuple[tuple[int, float], ...], Indices] = {}
    for i, own in sorted(weights.items()):
        key = tuple((j % count, weight) for j, weight in own)
        found.setdefault(key, np.full(term.places, NOWHERE))[own[0][0] // count] = i
    for key, places in found.items():
        yield sum((weight * values[j] for j, weight in key), ca.SX(0)), places


def _column(numbers: Any) -> Array:
    """A column of CasADi's, or an array, as an array of its own."""
    return np.array(ca.DM(numbers).full().ravel())


def _bounded(nlp: StageProgram) -> Indices:
    """Variables that may have bounds."""
    limits = nlp.limits
    bounded = np.zeros(nlp.size, dtype=bool)
    for i, bound in enumerate(limits.call([ca.DM.zeros(limits.size_in(0))])[:2]):
        bounded |= np.isfinite(bound.full().ravel())
        bounded[limits.jac_sparsity(i, 0).row()] = True
    return bounded


def _set_options(chosen: Any, options: Mapping[str, Any]) -> None:
    """Set the options of acados, ours and those of the user."""
    known = [name for name in dir(type(chosen)) if not name.startswith("_") and name not in _OURS]
    for key, value in (_OPTIONS | {key.removeprefix("acados."): value for key, value in options.items()}).items():
        if key not in known:
            raise ArgumentError(f"solve: acados has no option {key!r}; give any of {', '.join(known)}")
        try:
            setattr(chosen, key, value)
        except Exception as error:
            raise ArgumentError(f"solve: acados refuses the option {key}={value!r}: {reason_of(error)}") from None


@contextlib.contextmanager
def _package() -> Iterator[Any]:
    """acados' Python package, whose messages are not shown; it changes the folder, and raises Exception alone."""
    if find_spec("acados_template") is None and (wheel := find_spec("acados")) is not None and wheel.origin:
        folder = Path(wheel.origin).parent
        os.environ.setdefault("ACADOS_SOURCE_DIR", str(folder / "install"))
        os.environ.setdefault("ACADOS_PYTHON_INTERFACE_PATH", str(folder / "acados_template"))
    folder = Path.cwd()
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
            package = import_module("acados_template" if find_spec("acados_template") else "acados.acados_template")
            tera = Path(os.environ.setdefault("TERA_PATH", f"{package.get_acados_path()}/bin/t_renderer"))
            if not os.access(tera, os.X_OK):
                raise UnsupportedError(f"acados: {tera} is no program, by which acados writes its C code; make it one")
            yield package
    except ModuleNotFoundError as error:
        raise UnsupportedError(_INSTALL) from error
    finally:
        os.chdir(folder)


def _built(package: Any, ocp: Any) -> Any:
    """The solver of acados, compiled into the cache; nothing else stays on disk."""
    for name in _LIBRARIES:
        with contextlib.suppress(OSError):
            ctypes.CDLL(f"{ocp.acados_lib_path}/lib{name}{_SUFFIX}", ctypes.RTLD_GLOBAL)
    with tempfile.TemporaryDirectory() as folder:
        description, ocp.code_export_directory = f"{folder}/ocp.json", f"{folder}/code"
        package.AcadosOcpSolver.generate(ocp, json_file=description)

        def opened(library: Path) -> Any:
            (link := Path(folder, "code", f"libacados_ocp_solver_gdalembert{_SUFFIX}")).unlink(missing_ok=True)
            link.symlink_to(library)
            return package.AcadosOcpSolver(ocp, description, build=False, generate=False)

        compiler = Compiler("acados", "-O1", without="acados needs one").find()
        includes = [
            f"-I{ocp.acados_include_path}/{each}" for each in (".", "acados", "blasfeo/include", "hpipm/include")
        ]
        compiler.flags = (*compiler.flags, *includes, f"-L{ocp.acados_lib_path}", "-lacados")
        return library_of(compiler, _source(Path(folder, "code")), opened)


def _source(folder: Path) -> str:
    """The C code of a solver in one file: its own files, in the place of their includes, and CasADi's that it calls."""

    def text(path: Path) -> str:
        def included(match: re.Match[str]) -> str:
            inner = folder / match[1]
            return text(inner) if inner.is_file() else match[0]

        return re.sub(r'#include "([^"]+)"', included, path.read_text(encoding="utf-8"))

    main = folder / "acados_solver_gdalembert.c"
    used = main.read_text(encoding="utf-8")
    called = [path for path in sorted(folder.glob("*/*.c")) if re.search(rf"\b{path.stem}\b", used)]
    code = "\n#undef CASADI_PREFIX\n".join(map(text, [main, *called]))
    return code.replace("int mem)", "void* mem)")  # as acados declares what CasADi writes otherwise

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
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import Compiler, library_of
from gdalembert.errors import ArgumentError, UnsupportedError, reason_of
from gdalembert.nlp.entries import NOWHERE, Indices
from gdalembert.nlp.program import Found, Solvable
from gdalembert.nlp.solver import Solver
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.ocp.solvers import solver
from gdalembert.spatial.arrays import Array

_LIMITLESS = 1e6
"""What stands for no limit: larger numbers leave complementarity that HPIPM, whose multipliers are 1e-16, cannot end."""
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
    made: AcadosSolver[Any] = problem._nonlinear("acados", options, AcadosSolver)
    return made


class AcadosSolver(Solver[Found]):
    """A :class:`~gdalembert.ocp.Solver` by acados, which is called alike."""

    def __init__(self, program: Any, name: str, options: Mapping[str, Any]) -> None:
        if not isinstance(program.nlp, StageProgram):
            raise UnsupportedError(f"acados: {program.name}: phases and schedules have stages of several forms; take 'ipopt'")
        (part,) = program.parts
        part.nlp = program.nlp = part.row_of_stages.program(stagewise=True, fixing=True)
        super().__init__(program, name, options)

    def _made(self, leash: Any, *, warm: bool = False) -> Any:
        return self._cold if warm else AcadosProgram(self._nlp, self._options)

    def function(self, *, warm: bool = False) -> ca.Function:
        raise UnsupportedError("function: acados is no Function of CasADi; take 'ipopt', 'fatrop' or 'sqpmethod'")


class StageForm:
    """Stages of one form: those of all intervals, or of the last instant.

    Attributes:
        cost, rows, p: expressions. ``gaps``: the next state, of whose gap each entry has a row of g at each stage.
        places: the rows of g that ``rows`` are at each stage (rows × stages).
        numbers: the entries of p at each stage, among the parameters of the program, 0 and 1.
    """

    def __init__(self, nlp: StageProgram, first: Indices, instants: Indices, z: ca.SX) -> None:
        self.cost, self.gaps, zero = ca.SX(0), dict[int, tuple[ca.SX, Indices]](), nlp.problem["p"].numel()
        rows, p, places, numbers = [ca.SX(0, 1)], [ca.SX(0, 1)], [], [np.zeros((0, len(instants)), dtype=int)]
        gaps = dict(zip(*nlp.sum.linear.sparsity().get_triplet(), strict=True))
        for term in nlp.terms:
            when = nlp.variables.intervals[term.variables[0]] if len(term.variables) else np.zeros(0, dtype=int)
            holds = np.isin(instants, when)
            if not holds.any():
                continue
            at = np.searchsorted(when, np.where(holds, instants, instants[holds][0]))
            numbers.append(np.vstack([term.parameters[:, at], zero + holds]))
            p.append(ca.SX.sym("p", len(numbers[-1])))
            y, on = z[(term.variables[:, at[0]] - first[when[at[0]]]).tolist()], 1 if holds.all() else p[-1][-1]
            self.cost += on * term.cost(y, p[-1][:-1])
            values = ca.vertsplit(term.values(y, p[-1][:-1]))
            for value, row in zip(values, np.where(holds, term.rows[:, at], NOWHERE), strict=True):
                if row[0] in gaps:
                    self.gaps[gaps[row[0]] - first[1]] = -value, row
                elif row.max() != NOWHERE:
                    rows.append(on * value)
                    places.append(row)
        self.rows, self.p, self.numbers = ca.vertcat(*rows), ca.vertcat(*p), np.vstack(numbers)
        self.places = np.array(places, dtype=int).reshape(len(places), len(instants))

    def of(self, p: ca.SX, expression: ca.SX) -> ca.SX:
        """An expression, of the first entries of p."""
        return ca.SX(ca.substitute(expression, self.p, p[: self.p.numel()]))


class AcadosProgram:
    """acados for a program of stages, in the place of a ``casadi.nlpsol``."""

    def __init__(self, nlp: StageProgram, options: Mapping[str, Any]) -> None:
        try:
            structure: dict[str, Any] = nlp.structure()
        except UnsupportedError as error:
            raise UnsupportedError(f"acados: {error}") from None
        n, nx, nu, size = structure["N"], structure["nx"][0], structure["nu"][0], nlp.size
        first = np.searchsorted(nlp.variables.intervals, np.arange(n + 1))
        x, u = ca.SX.sym("x", nx), ca.SX.sym("u", nu)
        forms = StageForm(nlp, first, np.arange(n), ca.vertcat(x, u)), StageForm(nlp, first, np.array([n]), x)
        bounded = _bounded(nlp)
        inner = bounded[first[:n, None] + np.arange(nx + nu)]
        boxes = bounded[:nx], inner[1:, :nx].any(axis=0), bounded[first[n] :], inner[:, nx:].any(axis=0)
        of_x, of_u = dict(zip(("x_0", "x", "x_e"), map(np.flatnonzero, boxes), strict=False)), np.flatnonzero(boxes[3])
        self._x = [slice(first[k], first[k] + nx) for k in range(n + 1)]
        self._u = [slice(first[k] + nx, first[k] + nx + nu) for k in range(n)]
        self._numbers = [*forms[0].numbers.T, *forms[1].numbers.T]
        self._gaps = np.array([forms[0].gaps[i][1] for i in range(nx)]).T
        self._limited: list[dict[str, Indices]] = []
        for k, rows in enumerate([*forms[0].places.T, *forms[1].places.T]):
            box = of_x["x_0" if not k else "x" if k < n else "x_e"]
            self._limited.append({"bu": self._u[k].start + of_u} if k < n else {})
            self._limited[k] |= {"bx": first[k] + box, "h": np.where(rows == NOWHERE, NOWHERE, size + rows)}
        self._stats: dict[str, Any] = {}
        p = ca.SX.sym("p", max(form.p.numel() for form in forms))
        with _package() as package:
            ocp = package.AcadosOcp()
            model, limits, ocp.dims.N, ocp.parameter_values = ocp.model, ocp.constraints, n, np.zeros(p.numel())
            model.name, model.x, model.u, model.p = "gdalembert", x, u, p
            model.disc_dyn_expr = forms[0].of(p, ca.vertcat(*(forms[0].gaps[i][0] for i in range(nx))))
            for end, form in zip(("", "_e"), forms, strict=True):
                setattr(ocp.cost, f"cost_type{end}", "EXTERNAL")
                setattr(model, f"cost_expr_ext_cost{end}", form.of(p, form.cost))
                if count := len(form.places):
                    setattr(model, f"con_h_expr{end}", form.of(p, form.rows))
                    setattr(limits, f"lh{end}", np.zeros(count))
                    setattr(limits, f"uh{end}", np.zeros(count))
            for key, box in (of_x | {"u": of_u}).items():
                for kind, value in (("idxb", box), ("lb", np.zeros(len(box))), ("ub", np.ones(len(box)))):
                    setattr(limits, kind + key, value)
            # HPIPM eliminates a start that is fixed; where a part of it is, it then misses rows of the others
            limits.idxbxe_0 = np.arange(nx if set(range(nx)) <= set(nlp.labels()[1]) else 0)
            _set_options(ocp.solver_options, options)
            ocp.solver_options.tf, ocp.solver_options.integrator_type = float(n), "DISCRETE"
            self._solver = _built(package, ocp)

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
            of_p[: len(self._numbers[k])] = numbers[self._numbers[k]]
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
        status = int(inner.solve())
        for k, limited in enumerate(self._limited):
            z[self._x[k]] = inner.get(k, "x")
            low, high = np.split(inner.get(k, "lam"), 2)
            multipliers[np.concatenate([*limited.values()])] = high - low
            if k < len(self._u):
                z[self._u[k]] = inner.get(k, "u")
                multipliers[len(z) + self._gaps[k]] = -inner.get(k, "pi")
        self._stats = {key: float(inner.get_stats(key)[0]) for key in _TIMES}
        self._stats |= {"iter_count": int(inner.get_stats("sqp_iter")[0]), "t_wall_total": self._stats["time_tot"]}
        self._stats |= {"return_status": _STATUS[status], "success": not status}
        return {"x": ca.DM(z), "lam_x": ca.DM(multipliers[: len(z)]), "lam_g": ca.DM(multipliers[len(z) : -1])}


def _column(numbers: Any) -> Array:
    """A column of CasADi's, or an array, as an array of its own."""
    return np.array(ca.DM(numbers).full().ravel())


def _bounded(nlp: StageProgram) -> Indices:
    """Which variables may have bounds."""
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
        with contextlib.redirect_stdout(io.StringIO()):
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
        folders = [f"-I{ocp.acados_include_path}{inner}" for inner in ("", "/acados", "/blasfeo/include", "/hpipm/include")]
        compiler.flags = (*compiler.flags, *folders, f"-L{ocp.acados_lib_path}", "-lacados")
        return library_of(compiler, _source(Path(folder, "code")), opened)


def _source(folder: Path) -> str:
    """The C code of a solver in one file: its own files, in the place of their includes, and CasADi's that it calls."""

    def text(path: Path) -> str:
        def included(match: re.Match[str]) -> str:
            inner = folder / match[1]
            return text(inner) if inner.is_file() else match[0]

        return re.sub(r'#include "([^"]+)"', included, path.read_text(encoding="utf-8"))

    main = text(folder / "acados_solver_gdalembert.c")
    called = [path for path in sorted(folder.glob("*/*.c")) if re.search(rf"\b{path.stem}\b", main)]
    code = "\n#undef CASADI_PREFIX\n".join([main, *map(text, called)])
    return code.replace("int mem)", "void* mem)")  # as acados declares what CasADi writes otherwise

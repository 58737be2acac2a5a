"""Ticks of acados in the loops of the arm: SQP_RTI with HPIPM (Verschueren et al. 2022), on our own graphs.

    python -m benchmarks.real_time.loops --acados

acados is there as ``docs/solvers.md`` says. The problem is that of ``"rti"``, written by hand as acados has it fastest:
nonlinear least squares with Gauss and Newton's Hessian, the same semi-implicit steps as discrete dynamics, hard bounds
of u, soft ones of q and v, external functions compiled with ``-O3 -march=native``.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from benchmarks.common.tables import markdown
from benchmarks.real_time.crocoddyl import Plan
from benchmarks.real_time.tasks import INTERVALS, PandaArm, Task
from gdalembert.ocp.solvers.acados import _LIBRARIES, _SUFFIX, _package
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from benchmarks.real_time.loops import Row

TASKS = (PandaArm,)
"""Arms without rows: what is written by hand here."""
CONDENSED = (20, 10, 5)
"""Intervals of the program that HPIPM solves: 20 where nothing is condensed."""
MOST = 50
"""Iterations of HPIPM; with the three of rti it ends unsolved, acados takes no step, and the arm is lost."""
FIRST = 30
"""Iterations of the first call, which settles the plan."""
SOFT = 100.0
"""The weight of limits of q and v."""


def name(condensed: int) -> str:
    """The name of the solver in a loop."""
    return f"acados, condensed to {condensed}"


class Peer:
    """The solver of a task, with a condensed program, which is called as ours are.

    Attributes:
        last: the last plan; a loop begins where it is ``None``.
    """

    def __init__(self, task: PandaArm, condensed: int) -> None:
        self._task, self.last = task, None
        with _package() as package, tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            ocp = described(package, task, condensed)
            for library in _LIBRARIES:
                with contextlib.suppress(OSError):
                    ctypes.CDLL(f"{ocp.acados_lib_path}/lib{library}{_SUFFIX}", ctypes.RTLD_GLOBAL)
            ocp.code_export_directory = f"{folder}/code"
            self._solver = package.AcadosOcpSolver(ocp, json_file=f"{folder}/ocp.json", verbose=False)

    def __call__(self, *, q0: Array, v0: Array, shift: int, target: Array) -> Plan:
        """A tick, shifted by an interval."""
        solver, x0 = self._solver, np.r_[q0, v0]
        for k in range(INTERVALS + 1):
            solver.set(k, "p", target[:, k])
        if self.last is None:
            u = self._task.dyn.generalized_gravity(q0).full().ravel()
            x = np.tile(x0, (INTERVALS + 1, 1))
            inputs = np.tile(u, (INTERVALS, 1))
        else:
            x, inputs = self._plan()
            x, inputs = np.vstack([x[shift:], x[-1:]]), np.vstack([inputs[shift:], inputs[-1:]])
        for k in range(INTERVALS + 1):
            solver.set(k, "x", x[k])
            if k < INTERVALS:
                solver.set(k, "u", inputs[k])
        for side in ("lbx", "ubx"):
            solver.set(0, side, x0)
        for _ in range(FIRST if self.last is None else 1):
            status = solver.solve()
        x, inputs = self._plan()
        self.last = Plan(inputs, x[:, len(v0) :], status == 0, float(np.ravel(solver.get_stats("time_tot"))[0]), {})
        return self.last

    def _plan(self) -> tuple[Array, Array]:
        x = np.array([self._solver.get(k, "x") for k in range(INTERVALS + 1)])
        return x, np.array([self._solver.get(k, "u") for k in range(INTERVALS)])


def described(package: Any, task: PandaArm, condensed: int) -> Any:
    """The optimal control problem of a task, as acados takes it."""
    model, ocp, h, n = package.AcadosModel(), package.AcadosOcp(), task.interval, task.dyn.tree.nv
    q, v, u, p = (ca.SX.sym(letter, size) for letter, size in zip("qvup", (n, n, n, 3), strict=True))
    model.name = f"ticks_{condensed}"
    model.x, model.u, model.p = ca.vertcat(q, v), u, p
    after = v + h * task.dyn.forward_dynamics(q, v, u)
    model.disc_dyn_expr = ca.vertcat(q + h * after, after)
    away = task.place(q)[:3, 3] - p
    model.cost_y_expr, model.cost_y_expr_e = ca.vertcat(away, v, u), ca.vertcat(away, v)
    ocp.model, ocp.parameter_values, ocp.dims.N = model, np.zeros(3), INTERVALS
    weights = 2 * np.diag(np.repeat([task.of_target, task.of_v, task.of_u], [3, n, n]))
    ocp.cost.cost_type = ocp.cost.cost_type_e = "NONLINEAR_LS"
    ocp.cost.W, ocp.cost.yref = weights, np.zeros(3 + 2 * n)
    ocp.cost.W_e, ocp.cost.yref_e = h / 2 * weights[: 3 + n, : 3 + n], np.zeros(3 + n)
    bounds, limits = task.bounds, ocp.constraints
    limits.lbu, limits.ubu, limits.idxbu = bounds.u_lower, bounds.u_upper, np.arange(n)
    for end in ("", "_e"):
        setattr(limits, f"lbx{end}", np.r_[bounds.q_lower, bounds.v_lower])
        setattr(limits, f"ubx{end}", np.r_[bounds.q_upper, bounds.v_upper])
        for key in ("idxbx", "idxsbx"):
            setattr(limits, f"{key}{end}", np.arange(2 * n))
        for key, weight in (("Zl", 0.0), ("Zu", 0.0), ("zl", SOFT), ("zu", SOFT)):
            setattr(ocp.cost, f"{key}{end}", np.full(2 * n, weight))
    limits.x0 = np.r_[task.start, np.zeros(n)]
    chosen = {
        "tf": INTERVALS * h,
        "integrator_type": "DISCRETE",
        "nlp_solver_type": "SQP_RTI",
        "hessian_approx": "GAUSS_NEWTON",
        "qp_solver": "PARTIAL_CONDENSING_HPIPM",
        "hpipm_mode": "SPEED",
        "qp_solver_cond_N": condensed,
        "qp_solver_iter_max": MOST,
        "qp_solver_warm_start": 1,
        "levenberg_marquardt": 0.0,
        "ext_fun_compile_flags": "-O3 -march=native",
    }
    for key, value in chosen.items():
        setattr(ocp.solver_options, key, value)
    return ocp


def peers(task: Task) -> dict[str, Peer]:
    """The solvers of a task by name, none of a task that is not written by hand here."""
    return {name(condensed): Peer(task, condensed) for condensed in CONDENSED} if type(task) in TASKS else {}


NOTES = """\
## Beside acados

The same loops, with the same references, kicks and robots between the ticks, by SQP_RTI of acados with HPIPM
(Verschueren et al. 2022), in one process with rti, on the same graphs of `gdalembert`: one iteration a tick, which
begins at the shifted plan, nonlinear least squares, hard bounds of u, soft ones of q and v, external functions compiled
with `-O3 -march=native`. acados is the wheel `comma-deps-acados` {version}, with BLASFEO for {target}. Its
times are those that its library tells of itself, without Python; ours are of the whole tick, called from Python. These
loops are of a process of their own, at another time than those above. Steps of acados are semi-implicit Euler's, as
those of crocoddyl below. Of programs condensed to 20, 10 and 5 intervals, the table has the one with the lowest median.
(With the three iterations of rti, HPIPM ends unsolved and acados takes no step.)

{table}
"""
HEAD = (
    *("", "rti [µs]", "worst [µs]", "acados [µs]", "worst [µs]", "ratio", "error of rti [mm]", "of acados [mm]"),
    *("most u / limit of acados", "not solved", "condensed to"),
)


def section(rows: Sequence[Row]) -> str:
    """The section of the page; without rows it says that acados was not measured."""
    if not rows:
        return "## Beside acados\n\nNot measured: acados was not asked for (`--acados`)."
    with _package() as package:
        header = Path(package.get_acados_path(), "include", "blasfeo", "include", "blasfeo_target.h")
    target = header.read_text(encoding="utf-8").split("TARGET_", 1)[1].split()[0].replace("_", " ").title()
    shown = {"version": metadata.version("comma-deps-acados"), "target": target}
    return NOTES.format(**shown, table="\n".join(table(rows)))


def table(rows: Sequence[Row]) -> list[str]:
    """The lines of the tasks that acados has."""
    cells = []
    for row in rows:
        loops = {condensed: row.loops[name(condensed)] for condensed in CONDENSED if name(condensed) in row.loops}
        if not loops:
            continue
        best = min(loops, key=lambda condensed: float(np.median(loops[condensed].seconds[1:])))
        both = [row.loops["rti"], loops[best]]
        micro = [1e6 * loop.seconds[1:] for loop in both]
        times = [f"{number:,.0f}" for x in micro for number in (np.median(x), x.max())]
        errors = [f"{row.error(solver):.2f}" for solver in ("rti", name(best))]
        ratio, most = f"{np.median(micro[0]) / np.median(micro[1]):.2f}", f"{both[1].used.max():.6g}"
        lost = int((~both[1].solved).sum())
        cells.append([f"{row.task.title}, {row.case}", *times, ratio, *errors, most, lost, best])
    return markdown(HEAD, cells)

"""The quadratic programs of the loops by our engine, by HPIPM of CasADi's wheel from C, and by PIQP.

A solution is judged by the inputs that it has: by the cost, penalties included, of the motion that they make.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

import gdalembert as gd
from benchmarks.common.robots import HERE
from benchmarks.common.tables import markdown
from benchmarks.speed.programs import BUILD
from gdalembert.spatial.arrays import Array

OURS, HPIPM, PIQP = "gd.ocp.StageQP", "HPIPM", "PIQP"
EVERY = 4
"""Of how many programs PIQP is given one; between two kicks there is another number of ticks."""


class Program(NamedTuple):
    """A quadratic program: arrays by the names of ``gd.ocp.StageQP.memory``, its sizes, and the cost of the plan."""

    memory: Mapping[str, Array]
    nx: int
    nu: int
    intervals: int
    rows: int
    wide: int
    plan: float

    @property
    def limits(self) -> tuple[Array, Array]:
        """Of z and of rows, of each stage; none of x_0 and of the last u."""
        found = []
        for name, none in (("lower", -np.inf), ("upper", np.inf)):
            whole = self.memory[name]
            own = np.hstack([whole[:, : self.nu + self.nx], whole[:, self.wide : self.wide + self.rows]])
            own[0, self.nu : self.nu + self.nx] = own[-1, : self.nu] = none
            found.append(own)
        return found[0], found[1]

    @property
    def weights(self) -> Array:
        """What x and rows cost beyond their limits (nx + rows)."""
        w1: Array = self.memory["w1"]
        return np.r_[w1[self.nu : self.nu + self.nx], w1[self.wide : self.wide + self.rows]]

    def cost(self, u: Array) -> float:
        """Of inputs (N × nu), which are moved into their limits."""
        m, nz, n = self.memory, self.nu + self.nx, self.intervals
        lower, upper = self.limits
        z = np.zeros((n + 1, nz))
        z[:-1, : self.nu] = np.clip(u, lower[:-1, : self.nu], upper[:-1, : self.nu])
        z[0, self.nu :] = m["x_0"]
        for k in range(n):
            z[k + 1, self.nu :] = m["A"][k, :, :nz] @ z[k] + m["b"][k]
        limited = np.hstack([z, np.einsum("kij,kj->ki", m["G"][..., :nz], z)])
        beyond = np.maximum(0.0, np.maximum(lower - limited, limited - upper))[:, self.nu :]
        squares = np.einsum("ki,kij,kj->", z, m["H"][..., :nz], z) / 2 + np.sum(m["g"][:, :nz] * z)
        return float(self.plan + squares + np.sum(self.weights * (beyond + beyond**2 / 2)))


def of(solver: Any) -> Program:
    """The program of the last tick."""
    steps, sizes = solver._steps, solver._steps.sizes
    memory = {name: array.copy() for name, array in steps.qp.memory.items()}
    upper = np.triu(memory["H"][..., : sizes.nu + sizes.nx])
    memory["H"][..., : sizes.nu + sizes.nx] = upper + np.triu(upper, 1).transpose(0, 2, 1)
    return Program(memory, sizes.nx, sizes.nu, sizes.intervals, sizes.rows, steps.qp.wide, steps.cost)


class Found(NamedTuple):
    """Inputs, whether they are a solution, and the seconds and iterations that they took."""

    u: Array
    solved: bool
    seconds: float
    iterations: int


class Own:
    """``gd.ocp.StageQP``, called as C."""

    def __init__(self, program: Program) -> None:
        self.qp = gd.ocp.StageQP(program.nx, program.nu, program.intervals, rows=program.rows)

    def __call__(self, program: Program) -> Found:
        for name, array in program.memory.items():
            self.qp.memory[name][:] = array
        weight, best, x_0 = program.memory["w1"][program.nu], np.inf, program.memory["x_0"].copy()
        for _ in range(5):
            begin = time.thread_time()
            found = self.qp(x_0, iterations=100, first_gap=1e-3 * weight, tolerance=1e-13 * weight)
            best = min(best, time.thread_time() - begin)
        return Found(found.u, found.solved, best, found.iterations)


class Hpipm:
    """HPIPM of CasADi's wheel from C; limits that are never finite are not given."""

    ARRAYS = (
        *("A", "B", "b", "Q", "S", "R", "q", "r", "C", "D", "lbx", "ubx", "lbu", "ubu", "lg", "ug"),
        *("lbx_mask", "ubx_mask", "lbu_mask", "ubu_mask", "lg_mask", "ug_mask", "Zl", "Zu", "zl", "zu"),
    )

    def __init__(self, programs: Sequence[Program]) -> None:
        self._library, first = ctypes.CDLL(str(_library())), programs[0]
        nx, nu, rows = first.nx, first.nu, first.rows
        finite = np.any([np.isfinite(each) for one in programs for each in one.limits], axis=(0, 1))
        self._of_u, self._of_x = np.flatnonzero(finite[:nu]), np.flatnonzero(finite[nu : nu + nx])
        sizes = (first.intervals, nx, nu, len(self._of_x), _integers(self._of_x), len(self._of_u))
        self._library.hpipm_new.restype = ctypes.c_void_p
        balanced = 2
        self._solver = self._library.hpipm_new(*sizes, _integers(self._of_u), rows, balanced)

    def __call__(self, program: Program) -> Found:
        arrays = [np.ascontiguousarray(self._arrays(program)[name]) for name in self.ARRAYS]
        names = (ctypes.c_char_p * len(arrays))(*(name.encode() for name in self.ARRAYS))
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        steps = np.array([array[0].size for array in arrays], dtype=np.int64)
        x, u = np.zeros((program.intervals + 1, program.nx)), np.zeros((program.intervals + 1, program.nu))
        found, best = np.zeros(3), np.inf
        for _ in range(3):
            solver, count = ctypes.c_void_p(self._solver), ctypes.c_int(len(arrays))
            outputs = (ctypes.c_void_p(array.ctypes.data) for array in (x, u, found))
            tables = names, pointers, ctypes.c_void_p(steps.ctypes.data)
            self._library.hpipm_solve(solver, count, *tables, ctypes.c_int(100), ctypes.c_double(1e-8), *outputs)
            best = min(best, found[2])
        return Found(u[:-1], not found[0], best, int(found[1]))

    def _arrays(self, program: Program) -> dict[str, Array]:
        """Matrices by columns, with x_0 in what is linear."""
        m, nu, nz = {name: array.copy() for name, array in program.memory.items()}, program.nu, program.nu + program.nx
        x_0, lower, upper = m["x_0"], *program.limits
        m["b"][0] += m["A"][0, :, nu:nz] @ x_0
        m["g"][0, :nu] += m["H"][0, :nu, nu:nz] @ x_0
        moved = m["G"][0, :, nu:nz] @ x_0
        lower[0, nz:] -= moved
        upper[0, nz:] -= moved
        found = {"A": m["A"][..., nu:nz], "B": m["A"][..., :nu], "Q": m["H"][:, nu:nz, nu:nz]}
        found |= {"S": m["H"][:, :nu, nu:nz], "R": m["H"][:, :nu, :nu], "C": m["G"][..., nu:nz], "D": m["G"][..., :nu]}
        found = {name: np.swapaxes(matrix, 1, 2) for name, matrix in found.items()}
        found |= {"b": m["b"], "q": m["g"][:, nu:nz], "r": m["g"][:, :nu]}
        parts = {"bx": nu + self._of_x, "bu": self._of_u, "g": np.arange(nz, nz + program.rows)}
        for part, entries in parts.items():
            for side, limit in (("l", lower), ("u", upper)):
                known = np.isfinite(limit[:, entries])
                found[side + part] = np.where(known, limit[:, entries], 0.0)
                found[f"{side}{part}_mask"] = known.astype(float)
        weights = np.r_[program.weights[self._of_x], program.weights[program.nx :]]
        slacks = np.tile(weights, (len(lower), 1))
        return found | dict.fromkeys(("Zl", "Zu", "zl", "zu"), slacks)


def _integers(values: npt.NDArray[np.intp]) -> Any:
    return (ctypes.c_int * max(1, len(values)))(*values.tolist())


def _library() -> Path:
    """``hpipm.c`` with the library and headers of CasADi's wheel."""
    source, wheel = HERE / "real_time" / "hpipm.c", Path(ca.__file__).parent
    target = BUILD / f"hpipm_{metadata.version('casadi')}_{int(source.stat().st_mtime)}.so"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")))
        folders = [f"-I{wheel / 'include'}", f"-L{wheel}", f"-Wl,-rpath,{wheel}"]
        command = [*shlex.split(compiler), "-O3", "-march=native", "-shared", "-fPIC", str(source), *folders]
        subprocess.run([*command, "-o", f"{target}.part", "-lhpipm", "-lblasfeo", "-lm"], check=True)
        Path(f"{target}.part").rename(target)
    return target


class Piqp:
    """PIQP, by CasADi's interface; a slack for each soft limit."""

    def __init__(self, program: Program) -> None:
        n, nz, nu, nx, rows = program.intervals, program.nu + program.nx, program.nu, program.nx, program.rows
        count, soft = nz * (n + 1), nx + rows
        h = ca.DM.ones(nz, nz)
        a = np.zeros((nx * n + 2 * soft * (n + 1), count + soft * (n + 1)))
        for k in range(n):
            a[nx * k : nx * (k + 1), nz * k : nz * (k + 1) + nu + nx] = 1
        for k in range(n + 1):
            for side in range(2):
                first = nx * n + soft * (2 * k + side)
                a[first : first + soft, nz * k : nz * (k + 1)] = 1
                a[first : first + soft, count + soft * k : count + soft * (k + 1)] = np.eye(soft)
        weights = ca.DM.eye(soft * (n + 1))
        self._h = ca.diagcat(*[h] * (n + 1), weights).sparsity()
        self._a = ca.sparsify(ca.DM(a)).sparsity()
        options = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 500}
        self._solver = ca.conic("piqp", "piqp", {"h": self._h, "a": self._a}, {"piqp": options, "error_on_fail": False})

    def __call__(self, program: Program) -> Found:
        m, n, nz, nu, nx = program.memory, program.intervals, program.nu + program.nx, program.nu, program.nx
        soft, count, lower, upper = nx + program.rows, nz * (program.intervals + 1), *program.limits
        weights = np.tile(program.weights, n + 1)
        h, a = np.zeros(self._h.shape), np.zeros(self._a.shape)
        np.fill_diagonal(h[count:, count:], weights)
        lba, uba = np.zeros(len(a)), np.zeros(len(a))
        least, most = np.full(len(h), -np.inf), np.full(len(h), np.inf)
        least[count:] = 0.0
        for k in range(n + 1):
            at = slice(nz * k, nz * (k + 1))
            h[at, at] = m["H"][k, :, :nz]
            least[at], most[at] = np.r_[lower[k, :nu], np.full(nx, -np.inf)], np.r_[upper[k, :nu], np.full(nx, np.inf)]
            if k < n:
                own = slice(nx * k, nx * (k + 1))
                a[own, at] = m["A"][k, :, :nz]
                a[own, nz * (k + 1) + nu : nz * (k + 2)] = -np.eye(nx)
                lba[own] = uba[own] = -m["b"][k]
            for side, limit in enumerate((lower, upper)):
                rows = slice(nx * n + soft * (2 * k + side), nx * n + soft * (2 * k + side + 1))
                a[rows, at] = np.vstack([np.eye(nz)[nu:], m["G"][k, :, :nz]])
                a[rows, count + soft * k : count + soft * (k + 1)] = np.eye(soft) * (1 if side == 0 else -1)
                lba[rows], uba[rows] = (-np.inf, limit[k, nu:]) if side else (limit[k, nu:], np.inf)
        least[nu:nz] = most[nu:nz] = m["x_0"]
        least[count - nz : count - nx] = most[count - nz : count - nx] = 0.0
        g = np.r_[m["g"][:, :nz].ravel(), weights]
        given = {"h": _filled(self._h, h), "g": g, "a": _filled(self._a, a), "lba": lba, "uba": uba}
        begin = time.thread_time()
        found = self._solver(**given, lbx=least, ubx=most)
        seconds, stats = time.thread_time() - begin, self._solver.stats()
        z = found["x"].full().ravel()[:count].reshape(n + 1, nz)
        return Found(z[:-1, :nu], bool(stats["success"]), seconds, int(stats.get("iter_count", 0)))


def _filled(pattern: ca.Sparsity, matrix: Array) -> ca.DM:
    rows, columns = (np.array(each) for each in pattern.get_triplet())
    return ca.DM(pattern, matrix[rows, columns])


class Comparison(NamedTuple):
    """Of the programs of a loop: how many an engine is given and solves, its median and worst seconds, iterations, and
    by how much its largest cost is above ours, relative to that of the plan, where it solves."""

    name: str
    programs: Mapping[str, int]
    solved: Mapping[str, int]
    seconds: Mapping[str, float]
    worst: Mapping[str, float]
    iterations: Mapping[str, float]
    above: Mapping[str, float]
    below: Mapping[str, float]


def compare(name: str, programs: Sequence[Program]) -> Comparison:
    """All engines at the same programs, in turns; PIQP, which is slow, at every fourth."""
    engines: dict[str, Callable[[Program], Found]] = {
        OURS: Own(programs[0]),
        HPIPM: Hpipm(programs),
        PIQP: Piqp(programs[0]),
    }
    found: dict[str, dict[int, Found]] = {engine: {} for engine in engines}
    for k, program in enumerate(programs):
        for engine, solve in engines.items():
            if engine != PIQP or k % EVERY == 0:
                found[engine][k] = solve(program)
    ours = [program.cost(each.u) for program, each in zip(programs, found[OURS].values(), strict=True)]
    difference: dict[str, list[float]] = {}
    for engine, own in found.items():
        difference[engine] = [
            (programs[k].cost(each.u) - ours[k]) / max(abs(programs[k].plan), abs(ours[k]))
            for k, each in own.items()
            if each.solved
        ] or [0.0]
    seconds = {engine: [each.seconds for each in own.values()] for engine, own in found.items()}
    return Comparison(
        name,
        {engine: len(own) for engine, own in found.items()},
        {engine: sum(each.solved for each in own.values()) for engine, own in found.items()},
        {engine: float(np.median(own)) for engine, own in seconds.items()},
        {engine: max(own) for engine, own in seconds.items()},
        {engine: float(np.median([each.iterations for each in own.values()])) for engine, own in found.items()},
        {engine: max(own) for engine, own in difference.items()},
        {engine: -min(own) for engine, own in difference.items()},
    )


NOTES = """\
## Their quadratic programs

The programs of these loops, with soft limits of q, v and rows and hard ones of u, each solved to the end (rti takes
three iterations of each): by `gd.ocp.StageQP` from Python; by HPIPM of CasADi's wheel (its BLASFEO is the generic one),
called from C without the filling, `BALANCE`, to 1e-8; by PIQP through CasADi's interface, to 1e-9, every fourth. Each
time is the least of several (of PIQP the only one): medians of µs (iterations), the worst, and how many are solved.
*lower cost than ours* is the most by which the inputs of the others cost less, where they converge, relative to the
cost of the plan; ours cost less by up to the last number.

{table}
"""


def section(compared: Sequence[Comparison]) -> str:
    """Of the page."""
    head = ["", "programs", *(each for name in (OURS, HPIPM, PIQP) for each in (f"{name} [µs]", "worst [µs]"))]
    head += ["solved", "lower cost than ours", "higher cost than ours"]
    rows = []
    for each in compared:
        times = []
        for name in (OURS, HPIPM, PIQP):
            iterations = "" if name == PIQP else f" ({each.iterations[name]:.0f})"
            times += [f"{1e6 * each.seconds[name]:,.0f}{iterations}", f"{1e6 * each.worst[name]:,.0f}"]
        counts, solved = (
            ", ".join(str(of[name]) for name in (OURS, HPIPM, PIQP)) for of in (each.programs, each.solved)
        )
        least, most = (max(side[name] for name in (HPIPM, PIQP)) for side in (each.below, each.above))
        rows.append([each.name, counts, *times, solved, f"{max(0.0, least):.0e}", f"{max(0.0, most):.0e}"])
    return NOTES.format(table="\n".join(markdown(head, rows)))

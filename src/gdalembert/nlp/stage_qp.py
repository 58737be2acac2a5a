"""Quadratic programs of optimal control, as machine code for their sizes: an interior point and a Riccati recursion.

The recursion goes backwards through the stages, so that the time grows with their number and not with its cube; limits
of states may be soft, so that every start has a solution. ``c/stage_qp.c`` has the equations (ours, after Mehrotra 1992
and Rao, Wright and Rawlings 1998).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gdalembert.compilation.machine_code import aligned, opened, source_of
from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import flag, integer, number, vector
from gdalembert.spatial.arrays import Array, FilledInPlace
from gdalembert.spatial.brief import Brief

_STATUS = ("solved", "iterations", "not finite")


@dataclass(frozen=True, eq=False)
class StageQPSolution(Brief):
    """Solution of a :class:`StageQP`.

    Attributes:
        u: of each interval (N × nu). ``x``: of each instant (N + 1 × nx).
        status: ``"solved"``; ``"iterations"``: their cap was reached, or forces passed 1e100, as where hard limits have
            no solution; ``"not finite"``: numbers or limits overflowed, or are NaN, and u and x are the last before.
        iterations: of the interior point.
        gap: the mean product of a force and the slack of its limit; 0 at the optimum.
        infeasibility: the part of the first violations of limits and dynamics that is left.
    """

    u: Array
    x: Array
    status: str
    iterations: int
    gap: float
    infeasibility: float

    @property
    def solved(self) -> bool:
        return self.status == _STATUS[0]


class StageQP(FilledInPlace):
    """A quadratic program of N stages, as those of optimal control, for controllers that solve one each tick.

        min  Σ_k  z_kᵀ H_k z_k / 2 + g_kᵀ z_k + penalties,     z_k = (u_k, x_k),  k = 0 … N
             x_{k+1} = A_k z_k + b_k,     lower_k ≤ z_k ≤ upper_k,     rows_lower_k ≤ G_k z_k ≤ rows_upper_k

    Its arrays are filled in place before it is called, as ``qp.upper[:] = 1``, and cannot be replaced or deleted.
    At first, the dynamics and costs are zero and there are no limits. Limits of u are hard, those of x and of rows
    soft, where ``soften`` says so. Equal soft limits make an equation, which holds to about 4e-11 of its force. H_k
    must be such that the cost is convex in u.

    Args:
        nx, nu: numbers of states and inputs. ``intervals``: N.
        rows: number of rows of G_k.
        free: numbers of the entries of the first state that are not given, but variables.

    Attributes:
        dynamics: A (N × nx × (nu + nx)). ``offset``: b (N × nx).
        hessian: H (N + 1 × (nu + nx) × (nu + nx)), of which the upper triangle is read. ``gradient``: g (N + 1 × (nu +
            nx)); at the last stage those of u are zero.
        lower, upper: limits of z (N + 1 × (nu + nx)); those of given entries of x_0 and of the last u are not read.
        rows: G (N + 1 × rows × (nu + nx)). ``rows_lower``, ``rows_upper``: their limits (N + 1 × rows).
        memory: of these by name, N + 1 stages of each, with rows of ``wide`` numbers, and of ``limits`` for limits:
            first those of z, and from ``wide`` on those of G z.
        program, workspace: these as C takes them, and the memory of all stages. ``vector``: of so many numbers.

    Raises:
        ArgumentTypeError, ArgumentError: if a size cannot be used; or by an assignment, if an array would be replaced.
        UnknownNameError: by an assignment, if there is no such attribute.
        CompilationError: if there is no C compiler, or it fails.
    """

    def __init__(self, nx: int, nu: int, intervals: int, *, rows: int = 0, free: Sequence[int] = ()) -> None:
        self.nx, self.nu = integer("StageQP: nx", nx, 1, 100), integer("StageQP: nu", nu, 0, 100)
        self.intervals = integer("StageQP: intervals", intervals, 1, 10_000)
        count = integer("StageQP: rows", rows, 0, 200)
        chosen = [integer("StageQP: free", entry, 0, self.nx - 1) for entry in free]
        self._library = _library(self.nx, self.nu, count, bool(chosen))
        size, wide, limits, self.vector = (self._library.stage_qp_layout(k) for k in range(4))
        self.wide, self.limits = wide, limits
        n, nz = self.intervals, self.nx + self.nu
        self.workspace = aligned((n + 1) * size // 8)
        shapes = {"A": (self.nx, wide), "H": (nz, wide), "g": (wide,), "G": (count, wide), "b": (self.nx,)}
        shapes |= {"lower": (limits,), "upper": (limits,)}
        self.memory = {name: aligned(n + 1, *shape) for name, shape in shapes.items()}
        self.memory |= {"x_0": aligned(self.nx), "w1": aligned(limits), "w2": aligned(limits)}
        self.memory["lower"][:], self.memory["upper"][:], self.memory["w1"][:] = -np.inf, np.inf, -1.0
        self.memory["free"] = aligned(self.nx)
        self.memory["free"][chosen] = 1.0
        self._z, self._found, self._first_row = aligned(n + 1, wide), np.zeros(4), wide
        addresses = [array.ctypes.data for array in self.memory.values()]
        self.program = (ctypes.c_void_p * len(addresses))(*addresses)
        self.hessian, self.gradient, self.rows = (self.memory[key][..., :nz] for key in "HgG")
        self.dynamics, self.offset = self.memory["A"][:n, :, :nz], self.memory["b"][:n]
        self.lower, self.upper = (self.memory[key][:, :nz] for key in ("lower", "upper"))
        self.rows_lower, self.rows_upper = (self.memory[key][:, wide : wide + count] for key in ("lower", "upper"))
        self._complete()

    def soften(self, linear: float, quadratic: float, *, x: bool = True, rows: bool = True) -> None:
        """Let limits be exceeded, by s at the cost linear · s + quadratic · s² / 2, at least one of them positive.

        Args:
            linear, quadratic: the weights; a large linear one keeps limits wherever that is possible.
            x, rows: whether those of the states, and those of the rows.

        Raises:
            ArgumentTypeError, ArgumentError: if they are no numbers of at least 0, or both are 0.
        """
        x, rows = flag("soften: x", x), flag("soften: rows", rows)
        weights = [
            number(f"soften: {name}", w, inclusive=True) for name, w in (("linear", linear), ("quadratic", quadratic))
        ]
        if not any(weights):
            raise ArgumentError("soften: both weights are 0, so that limits would cost nothing; give one above 0")
        for key, weight in zip(("w1", "w2"), weights, strict=True):
            self.memory[key][self.nu : self.nu + self.nx] = weight if x else (-1.0 if key == "w1" else 0.0)
            self.memory[key][self._first_row :] = weight if rows else (-1.0 if key == "w1" else 0.0)

    def __call__(
        self, x_0: npt.ArrayLike, *, iterations: int = 60, tolerance: float = 1e-8, first_gap: float = 1.0
    ) -> StageQPSolution:
        """Solve from a state on; the search begins at zero, so that a controller takes steps from its last plan as z.

        Args:
            x_0: the first state (nx), of which free entries are not read.
            iterations: at most so many; three or four are enough for a controller that begins near its last solution.
            tolerance: of the gap, in units of the cost.
            first_gap: the products of forces and slacks where the search begins, in units of the cost.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        self.memory["x_0"][:] = vector("StageQP: x_0", x_0, self.nx)
        cap = integer("StageQP: iterations", iterations, 1, 1000)
        gaps = number("StageQP: tolerance", tolerance), number("StageQP: first_gap", first_gap)
        self._z[:] = 0.0
        memory, *ends = (ctypes.c_void_p(array.ctypes.data) for array in (self.workspace, self._z, self._found))
        self._library.stage_qp(self.intervals, self.program, memory, cap, *map(ctypes.c_double, gaps), *ends)
        steps, gap, left, status = self._found.tolist()
        u, x = self._z[:-1, : self.nu].copy(), self._z[:, self.nu : self.nu + self.nx].copy()
        return StageQPSolution(u, x, _STATUS[int(status)], int(steps), gap, left)


def _library(nx: int, nu: int, rows: int, free: bool) -> ctypes.CDLL:
    """The engine for these sizes, from the cache or compiled now."""

    def usable(path: Path) -> ctypes.CDLL:
        library = ctypes.CDLL(str(path))
        library.stage_qp_layout.restype = ctypes.c_int64
        return library

    return opened(
        "StageQP", source_of(__package__, {"NX": nx, "NU": nu, "NG": rows, "FREE": int(free)}, "stage_qp.c"), usable
    )

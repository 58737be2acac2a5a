"""CasADi's NLP solvers: what each wants of a problem, the options that measurements chose, and what ends it early."""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, reason_of, shown
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import Interrupts

JACOBIAN = "nlp_jac_g"
_LARGEST_FACTOR = 1e4
"""The largest factor of a cost."""
BUDGET = "max_wall_time"
"""The option of every solver that limits the wall time of a solve [s]."""
OUT_OF_TIME = "Maximum_WallTime_Exceeded"
"""IPOPT's status of a solve that took more."""


def _to_hundred(size: float) -> float:
    """Factor that makes a smaller cost 100: barrier and regularization have no unit, and it counts beside them."""
    return min(max(100 / size, 1.0), _LARGEST_FACTOR) if size > 0 else 1.0


def _halfway_to_hundred(size: float) -> float:
    """The root of :func:`_to_hundred`, and at least what makes a smaller cost 1: more costs fatrop iterations, and the
    phases of a falling leg find no end."""
    return max(math.sqrt(_to_hundred(size)), _to_hundred(100 * size))


@dataclass(frozen=True)
class Backend:
    """An NLP solver.

    Attributes:
        options: ours, which those of the user override. ``warm``: besides, to begin at a solution.
        stagewise: whether it is told the structure of the intervals. ``fixes``: whether variables may be fixed all the
            same. ``compiles``: whether it compiles the program as a whole.
        hessian: the outputs of its ``nlp_hess_l``: ``"upper"``: the upper triangle; ``"whole"``: the gradient and the
            whole; ``""``: it has no such Function.
        endless: whether it never ends where a number is not finite, so that it must not see one.
        cost_factor: by which it sees a cost of a size multiplied. ``cost_option``: its option for that; without one,
            the cost of the program is multiplied, and its multipliers with it.
        time_option: its option that limits the wall time.
        asks: where it may be told to end, and its iterations are seen: its option for a Function that it calls in each
            iteration, or the Jacobian, for one that catches what is raised where it evaluates, and goes on.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    warm: Mapping[str, Any] = field(default_factory=dict)
    stagewise: bool = False
    fixes: bool = False
    compiles: bool = False
    hessian: str = ""
    endless: bool = False
    cost_factor: Callable[[float], float] | None = None
    cost_option: str = ""
    time_option: str = ""
    asks: str = ""

    @property
    def equations_as_rows(self) -> bool:
        """True if what would fix a variable is a row."""
        return self.stagewise and not self.fixes

    @property
    def catches(self) -> bool:
        """True if an exception in an evaluation does not end the solver."""
        return self.asks == JACOBIAN


BACKENDS: dict[str, Backend] = {
    "ipopt": Backend(
        {"ipopt.print_level": 0, "ipopt.sb": "yes"},
        {
            "ipopt.warm_start_init_point": "yes",
            "ipopt.mu_strategy": "adaptive",
            "ipopt.mu_init": 1e-4,
            "ipopt.warm_start_mult_bound_push": 1e-4,
        }
        | {f"ipopt.warm_start_{part}_{way}": 1e-4 for part in ("bound", "slack_bound") for way in ("push", "frac")},
        hessian="upper",
        cost_factor=_to_hundred,
        cost_option="ipopt.obj_scaling_factor",
        time_option="ipopt.max_wall_time",
        asks="iteration_callback",
    ),
    "fatrop": Backend(
        {
            "fatrop.print_level": 0,
            "fatrop.tolerance": 1e-6,
            "fatrop.mu_superlinear_decrease_power": 1.1,
            "fatrop.mu_allow_fast_monotone_decrease": False,
            "fatrop.kappa_wmin": 0.1,
            "fatrop.mu_init": 1.0,
            "fatrop.linsol_lu_fact_tol": 1e-9,
        },
        {"fatrop.mu_init": 1e-4},
        stagewise=True,
        hessian="whole",
        endless=True,
        cost_factor=_halfway_to_hundred,
        asks=JACOBIAN,
    ),
    "sqpmethod": Backend(
        {
            "print_header": False,
            "print_iteration": False,
            "print_status": False,
            "qpsol": "qrqp",
            "qpsol_options": {"print_iter": False, "print_header": False, "error_on_fail": False},
        },
        asks="iteration_callback",
    ),
}
"""The solvers that are known; any other has no options."""


def backend(solver: str) -> Backend:
    """The solver of this name, refused by an ArgumentError if CasADi has none."""
    if not isinstance(solver, str) or not (solver in BACKENDS or ca.has_nlpsol(solver)):
        raise ArgumentError(
            f"solve: CasADi has no solver {shown(solver)}; give 'ipopt', 'fatrop', 'sqpmethod' or another"
        )
    return BACKENDS.get(solver, Backend())


def leash_for(
    solver: str, chosen: Backend, nlp: StageProgram, budget: float | None, *, watched: bool = False
) -> Leash | None:
    """Function that ends a solver; ``None`` for one that signals end and that keeps its budget itself.

    ``watched``: that it is to tell of iterations, too; ``None`` then for one that tells of none.
    """
    if chosen.catches:
        return Leash([nlp.size], budget)
    if budget is None or chosen.time_option:
        if not (watched and chosen.asks):
            return None
    elif not chosen.asks:
        raise UnsupportedError(
            f"solve: {solver!r} takes no {BUDGET}; give {', '.join(map(repr, BACKENDS))}, or an option of its own"
        )
    n, m = nlp.size, len(nlp.equal)
    return Leash([n, 1, m, n, m, nlp.problem["p"].numel()], None if chosen.time_option else budget)


def checked_options(where: str, options: Any) -> dict[str, Any]:
    """The options of a solver, refused by an ArgumentTypeError if they are not values by name; none for ``None``."""
    if not isinstance(options, Mapping | None) or not all(isinstance(name, str) for name in options or ()):
        raise ArgumentTypeError(
            f"{where}: options={shown(options)}; give values by name, as {{'ipopt.max_iter': 200}}, or leave it out"
        )
    return dict(options or {})


def derivatives(chosen: Backend, nlp: StageProgram, factor: float) -> dict[str, ca.Function]:
    """The Functions of these names that a solver would make by differentiating the whole graph.

    ``factor``: what the cost is multiplied by.
    """
    if not chosen.hessian:
        return {}
    first, second, slope = nlp.sum.jacobian, nlp.sum.hessian, nlp.sum.gradient
    x, p, of_cost, of_rows = second.mx_in()
    outputs = list(second.call([x, p, factor * of_cost, of_rows], True, False))
    names = second.name_out()
    if chosen.hessian == "upper":
        outputs, names = [ca.triu(outputs[1])], ["triu_hess_gamma_x_x"]
    second = ca.Function("nlp_hess_l", [x, p, of_cost, of_rows], outputs, second.name_in(), names)
    cost, slopes = slope.call([x, p], True, False)
    outputs, names = [factor * cost, factor * slopes], slope.name_out()
    if chosen.hessian == "whole":
        outputs, names = outputs[1:], names[1:]
    slope = ca.Function("nlp_grad_f", [x, p], outputs, slope.name_in(), names)
    if chosen.endless:
        first, second, slope = _finite(first, 1), _finite(second, 0), _finite(slope, 0)
    return {JACOBIAN: first, "nlp_hess_l": second, "nlp_grad_f": slope}


def _finite(function: ca.Function, start: int) -> ca.Function:
    """A copy of a Function, with 0 in place of what is not finite in its outputs from ``start`` on."""
    inputs = function.mx_in()
    outputs = list(function.call(inputs, True, False))
    for i, value in enumerate(outputs[start:], start):
        entries = value.nz[:]
        outputs[i] = ca.MX(value.sparsity(), ca.if_else(ca.fabs(entries) < ca.inf, entries, 0))
    return ca.Function(function.name(), inputs, outputs, function.name_in(), function.name_out())


def same_options(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True if all values are equal numbers or texts, or the same objects."""
    plain = str | int | float
    return one.keys() == other.keys() and all(
        x is other[key] or (isinstance(x, plain) and isinstance(other[key], plain) and x == other[key])
        for key, x in one.items()
    )


_WANTED = {"double": "a number", "int": "a whole number", "string": "a text", "bool": "True or False"}
"""What CasADi asks of an option, by the name of its type."""


def last_line(error: BaseException) -> str:
    """Last words of an exception of CasADi, without the line of its code."""
    if wanted := re.search(r"is_(double|int|string|bool)\(\)\" failed:\s+type mismatch", str(error)):
        return f"it is of another type; give {_WANTED[wanted[1]]}"
    return re.sub(r"^\S+\.(?:[ch]pp|cxx):\d+: ", "", reason_of(error).strip())


def refused(solver: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The first of the solver's own options that it refuses for a program of one variable, too; none if it takes all.

    fatrop reads them when it is called first, and does not say which one it refuses.
    """
    x, ours = ca.MX.sym("x"), backend(solver).options
    quiet = {"print_time": False} | {name: value for name, value in ours.items() if "print" in name}
    for name, value in options.items():
        if name.startswith(f"{solver}.") and isinstance(value, str | int | float):
            try:
                ca.nlpsol("one", solver, {"x": x, "f": x**2}, quiet | {name: value})(x0=1.0)
            except RuntimeError:
                return {name: value}
    return {}


Tell = Callable[[int, Array], None]
"""Takes the number of an iteration, and the iterate."""


class Leash(ca.Callback):
    """1 if the solver that runs now is to end, else 0: asked once in an iteration, by Python, and tells of it.

    ``inputs`` are numbers of entries, of which the first is the iterate, ``budget`` is wall time [s]. The last solve
    ended for it at ``iterate`` if ``is_out_of_time``.
    """

    iterate: Array
    iterations = -1

    def __init__(self, inputs: Sequence[int], budget: float | None) -> None:
        super().__init__()
        self._inputs, self._budget = tuple(inputs), budget
        self._interrupts: Interrupts | None = None
        self._tell: Tell | None = None
        self._end = float("inf")
        self.is_out_of_time = False
        self.construct("leash")

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._inputs[i])

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arg: Sequence[Any], res: Sequence[Any]) -> int:
        self.iterations += 1
        self.is_out_of_time = time.monotonic() > self._end
        if self.is_out_of_time:
            self.iterate = np.frombuffer(arg[0]).copy()
        if self._tell is not None:
            self._tell(self.iterations, np.frombuffer(arg[0]))
        stopped = self._interrupts is not None and self._interrupts.error is not None
        np.frombuffer(res[0])[0] = float(stopped or self.is_out_of_time)
        return 0

    @contextlib.contextmanager
    def held(self, interrupts: Interrupts, tell: Tell | None = None) -> Iterator[None]:
        """Around a solve, of which it tells."""
        self._interrupts, self.is_out_of_time, self.iterations, self._tell = interrupts, False, -1, tell
        self._end = float("inf") if self._budget is None else time.monotonic() + self._budget
        try:
            yield
        finally:
            self._interrupts, self._end, self._tell = None, float("inf"), None


def leashed(jacobian: ca.Function, leash: Leash) -> ca.Function:
    """(x, p) → (g, dg/dx), the latter zero if the solver is to end: fatrop refuses gaps that are not of its form."""
    x, p = jacobian.mx_in()
    g, slopes = jacobian.call([x, p], True, False)
    end = leash.call([x], True, False)[0]
    return ca.Function(jacobian.name(), [x, p], [g, (1 - end) * slopes], jacobian.name_in(), jacobian.name_out())

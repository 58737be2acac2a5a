"""Systems under test: their Functions, built and checked in one place, beside what they are compared with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter
from typing import Self

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnsupportedError, reason_of
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import BatchFunction, directional_derivative
from gdalembert.validation.references import Reference, ReferenceRecursion
from gdalembert.validation.report import AFTER_CLEANING, EXACT
from gdalembert.validation.states import Torque

LOADED = ("inverse_dynamics", "forward_dynamics", "state_derivative")
"""The Functions that are compared under wrenches."""
OF_TORQUE, OF_ACCELERATION = _DERIVATIVES = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
PUSHED_TORQUE = "inverse_dynamics_under_constant_wrenches"
"""tau that is differentiated, where wrenches act."""
Graphs = dict[str, tuple[ca.Function, tuple[int, ...]]]
"""Functions by name, and the shape of each one's output."""
ROUNDING = 1e-14
"""Relative error of M and tau by rounding alone."""
_CALLS_KEPT = 2**16
_GIVE_P = "give p=, the values that the model has"


@dataclass(frozen=True, eq=False)
class SystemUnderTest:
    """A system under test, at one p, and the reference that it is compared with.

    Attributes:
        name: the name in the report.
        functions: functions by name, at n states: a robot's own, of their inputs, and what is made of them, of (q, v,
            a).
        p: values of the parameters, if it has any.
        robot: what the functions are of; ``None`` for a torque function, "tau".
        unsupported: what cannot be checked, and why.
        tolerance: that of the comparison with the reference. ``noise``: relative error of M and tau.
        is_slow: whether it is Python code that is called state by state.
        counts: numbers of the states that were compared, and of those where M was singular, at all p.
    """

    name: str
    functions: Mapping[str, Callable[..., Array]]
    reference: Reference
    p: Array | None = None
    robot: Dynamics | None = None
    unsupported: Sequence[str] = ()
    tolerance: float = AFTER_CLEANING
    noise: float = ROUNDING
    is_slow: bool = False
    counts: dict[str, int] = field(default_factory=lambda: {"states": 0, "singular": 0})

    @property
    def torque(self) -> Torque:
        """The torque at n states."""
        return self.functions["tau" if self.robot is None else "inverse_dynamics"]

    @property
    def batch(self) -> int:
        """Number of states that are evaluated at a time; few where progress is to be seen."""
        return 20 if self.is_slow else 500

    def at(self, p: Array) -> Self:
        """The system under test at other values of its parameters, beside the reference that has them."""
        functions = {name: f.at(p) for name, f in self.functions.items() if isinstance(f, BatchFunction)}
        return replace(self, p=p, functions=functions, reference=self.reference.at(p))

    def effort(self, samples: int) -> tuple[str, float]:
        """Effort of validating a Python callable, in words and in seconds, by its first call, whose result is kept."""
        if not self.is_slow:
            return "", 0.0
        first = next(self.reference.random_states(1, 0, 1))
        start = perf_counter()
        self.torque(first.q, 0 * first.v, 0 * first.a)
        calls = samples * (self.reference.tree.nv + 3)
        seconds = calls * (perf_counter() - start)
        return f"at most {calls} calls, about {seconds:.2g} s", seconds

    @property
    def against(self) -> str:
        """The reference, in words."""
        undeformed = isinstance(self.reference, ReferenceRecursion) and self.reference.undeformed is not None
        return f"{self.reference.title} and, undeformed, Pinocchio" if undeformed else self.reference.title

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Parts that have not been checked so far, and the reasons."""
        reasons = list(self.unsupported)
        if self.counts["singular"]:
            count = f"{self.counts['singular']} of {self.counts['states']} states"
            solved = "mass_matrix_inverse, forward_dynamics and state_derivative (a)"
            reasons.append(f"{solved} at {count}, where M is singular (cond(M) > 1e12)")
        if isinstance(self.reference, ReferenceRecursion):
            if self.reference.missing:
                reasons.append(self.reference.missing)
            if self.reference.undeformed is None:
                reasons.append("the undeformed arm against Pinocchio: give against=model")
        return tuple(reasons)


def torque_function(system: object, reference: Reference, p: object) -> SystemUnderTest:
    """The system under test of a Function or a callable (q, v, a) → tau, or (q, v, a, p) → tau at one p."""
    tree, values = reference.tree, None
    if isinstance(system, ca.Function):
        _check_function(system, tree, p is not None)
        if p is not None:
            values = vector("validate: p", p, system.size1_in(3))
        return SystemUnderTest(system.name(), {"tau": BatchFunction(system, tree.nv).at(values)}, reference, values)
    if isinstance(system, type):
        name = system.__name__
        raise ArgumentTypeError(f"the system under test is the class {name}; give an object of it: {name}(model)")
    if not callable(system):
        raise ArgumentTypeError(
            f"cannot validate {type(system).__name__}; give a Dynamics, or a Function or callable (q, v, a) -> tau"
        )
    _check_signature(system, p is not None)
    if p is not None:
        values = numbers("validate: p", p).ravel()
    name, tau = getattr(system, "__name__", type(system).__name__), _torque_of_callable(system, tree, values)
    return SystemUnderTest(name, {"tau": tau}, reference, values, is_slow=True)


def robot_under_test(robot: Dynamics, reference: Reference) -> SystemUnderTest:
    """A Dynamics as the system under test; Functions that it does not support are not checked."""
    unsupported: list[str] = []
    graphs = _graphs(robot, ca.DM(direction_of(reference.scales)), unsupported)
    functions = {name: BatchFunction(graph, *shape) for name, (graph, shape) in graphs.items()}
    tolerance, noise = EXACT, ROUNDING
    if not isinstance(robot, Arm):  # the reference of an arm is computed from the same cleaned constants
        tolerance = EXACT if robot.clean == 0 else AFTER_CLEANING
        noise = max(ROUNDING, 10 * robot.clean if robot.changes else 0.0)  # a handful of cleaned constants may add up
    name = getattr(robot, "name", type(robot).__name__)
    return SystemUnderTest(
        name, functions, reference, robot=robot, unsupported=unsupported, tolerance=tolerance, noise=noise
    )


def direction_of(scales: Array) -> Array:
    """A direction d (nv) in which no entry of a matrix hides, each entry of the size of its coordinate."""
    direction: Array = scales * np.random.default_rng(0).uniform(0.5, 1.5, len(scales))
    return direction


def shapes_of_functions(robot: Dynamics) -> dict[str, tuple[int, ...]]:
    """The Functions that are compared, or that something is compared by, and the shape of each one's first output."""
    nq, nv = robot.tree.nq, robot.tree.nv
    of_arm = {"elastic_energy": (), "terms": (robot.modes.start, robot.modes.start)}
    return {
        "inverse_dynamics": (nv,),
        "mass_matrix": (nv, nv),
        "mass_matrix_inverse": (nv, nv),
        "nle": (nv,),
        "generalized_gravity": (nv,),
        "coriolis_matrix": (nv, nv),
        "forward_dynamics": (nv,),
        "state_derivative": (nq + nv,),
        "kinetic_energy": (),
        "potential_energy": (),
        **dict.fromkeys(_DERIVATIVES, (nv, nv)),
        **(of_arm if isinstance(robot, Arm) else {}),
    }


def _graphs(robot: Dynamics, d: ca.DM, unsupported: list[str]) -> Graphs:
    """All that is evaluated: first the Functions without wrenches, then what is made of them.

    Last come the Functions under wrenches, which are a vector (6 n), column by column, behind the other inputs but p.
    """
    wrenches, shapes = robot.external_wrenches, shapes_of_functions(robot)
    free = robot.under(np.zeros(wrenches.shape)) if wrenches else robot
    pushed = robot.under(np.random.default_rng(0).normal(size=wrenches.shape)) if wrenches.is_input else robot
    functions = _supported(free, [name for name in shapes if name not in _DERIVATIVES], unsupported)
    of_pushed = _supported(pushed, ["inverse_dynamics", *_DERIVATIVES], unsupported)
    graphs = {name: (function, shapes[name]) for name, function in functions.items()} | _made_of(
        free, functions, of_pushed, d
    )
    if wrenches and isinstance(robot, Arm) and robot.kinematics != "exact":
        unsupported.append("Functions under wrenches: with first-order kinematics they do work to first order only")
    elif wrenches:
        for name, function in _supported(robot, [name for name in LOADED if name in functions], unsupported).items():
            s = {of: ca.SX.sym(of, *function.size_in(of)) for of in function.name_in()}
            w, p = ca.SX.sym("wrenches", 6, len(wrenches)), [s["p"]] if "p" in s else []
            outputs = function.call([wrenches.given(w) if of == "wrenches" else x for of, x in s.items()])
            s = {of: x for of, x in s.items() if of not in ("wrenches", "p")}
            graphs[f"{name} under wrenches"] = ca.Function(name, [*s.values(), ca.vec(w), *p], outputs), shapes[name]
    return graphs


def _supported(robot: Dynamics, names: Iterable[str], unsupported: list[str]) -> dict[str, ca.Function]:
    """Functions of a Dynamics; what goes wrong in the user's code while one is built becomes an ArgumentError."""
    functions: dict[str, ca.Function] = {}
    shapes = shapes_of_functions(robot)
    for name in names:
        try:
            functions[name] = function = getattr(robot, name)
        except UnsupportedError as error:
            unsupported.append(f"{name}: {error}")
            continue
        except GdalembertError:
            raise
        except Exception as error:
            reason = reason_of(error)
            raise ArgumentError(f"the system under test: {name} cannot be built: {reason}") from error
        if name != "terms":  # its blocks go by name, in any order
            _check_shape(name, function.size_out(0), shapes[name])
    return functions


def _check_shape(name: str, size: tuple[int, int], shape: tuple[int, ...]) -> None:
    rows, columns = (*shape, 1, 1)[:2]
    if size != (rows, columns):
        wrong = f"{name} is {size[0]} × {size[1]}; it must be {rows} × {columns}"
        raise ArgumentError(f"the system under test: {wrong}")


def _blocks(robot: Arm, terms: ca.Function, inputs: Sequence[Matrix]) -> dict[str, Matrix]:
    """The blocks of ``terms`` by name."""
    r, f = robot.modes.start, len(robot.modes)
    shapes = {"m_r": (r, r), "m_rf": (r, f), "m_f": (f, f), "K_f": (f, f)}
    shapes |= {"C_1": (r, 1), "C_2": (f, 1), "G_1": (r, 1), "G_2": (f, 1)}
    blocks = dict(zip(terms.name_out(), terms.call(inputs), strict=True))
    if missing := [name for name in shapes if name not in blocks]:
        raise ArgumentError(f"the system under test: terms has no output {missing[0]!r}")
    for name, shape in shapes.items():
        _check_shape(f"{name} of terms", blocks[name].shape, shape)
    return blocks


def _made_of(
    robot: Dynamics, functions: Mapping[str, ca.Function], pushed: Mapping[str, ca.Function], d: ca.DM
) -> Graphs:
    """Graphs made of a robot's own Functions and, along d, of those under constant wrenches: all of (q, v, a, p).

    ``power`` is dV/dt, ``energy_rate`` the rate of kinetic and potential energy.
    """
    inputs, tree, nv, n = [*robot.symbols("q", "v", "a").values()], robot.tree, robot.tree.nv, robot.modes.stop
    q, v, a, *p = inputs
    tau, potential = pushed["inverse_dynamics"](*inputs), functions["potential_energy"](q, *p)
    rate, moved = ca.SX(tree.configuration_rate(q, v)), ca.SX(tree.configuration_rate(q, d))
    along = directional_derivative(tau, q, moved), directional_derivative(tau, v, ca.SX(d))
    made: dict[str, tuple[Matrix, tuple[int, ...]]] = {
        "power": (directional_derivative(potential, q, rate), ()),
        "mass_matrix_rate": (robot.mass_matrix_rate(q, v), (nv, nv)),
        "inverse_dynamics_along": (ca.vertcat(*along), (2 * nv,)),
    }
    if robot.external_wrenches:
        made[PUSHED_TORQUE] = tau, (nv,)
    for name in [name for name in _DERIVATIVES if name in pushed]:
        products = [matrix @ d for matrix in pushed[name].call(inputs)]
        made[name] = ca.vertcat(*products), (len(products) * nv,)
    if isinstance(robot, Arm):
        energy, t = functions["kinetic_energy"](q, v, *p) + potential, _blocks(robot, functions["terms"], [q, v, *p])
        made |= {
            "energy_rate": (directional_derivative(energy, ca.vertcat(q, v), ca.vertcat(rate, a)), ()),
            "terms (m)": (ca.blockcat(t["m_r"], t["m_rf"], t["m_rf"].T, t["m_f"]), (n, n)),
            "terms (C)": (ca.vertcat(t["C_1"], t["C_2"]), (n,)),
            "terms (G)": (ca.vertcat(t["G_1"], t["G_2"]), (n,)),
            "terms (K_f)": (ca.diagcat(ca.SX(robot.modes.start, robot.modes.start), t["K_f"]), (n, n)),
        }
    return {
        name: (ca.Function(name.strip(")").replace(" (", "_"), inputs, [ca.densify(x)]), shape)
        for name, (x, shape) in made.items()
    }


def _check_function(function: ca.Function, tree: Tree, has_p: bool) -> None:
    name = f"the Function {function.name()!r}"
    inputs, wanted = function.name_in(), ["q", "v", "a"] + ["p"] * has_p
    if "wrenches" in inputs:
        raise ArgumentError(
            f"{name} takes ({', '.join(inputs)}); give the Dynamics, or its Function of dyn.under(), without wrenches"
        )
    if not has_p and function.n_in() == 4 and inputs[:3] in (wanted, ["i0", "i1", "i2"]):
        raise ArgumentError(f"{name} takes ({', '.join(inputs)}); {_GIVE_P}")
    if function.n_in() != len(wanted) or "tau" in inputs or (sorted(inputs) == sorted(wanted) and inputs != wanted):
        raise ArgumentError(f"{name} takes ({', '.join(inputs)}); it must take ({', '.join(wanted)})")
    if function.n_out() != 1:
        raise ArgumentError(f"{name} has {function.n_out()} outputs; it must have one, tau")
    if function.has_free():
        raise ArgumentError(f"{name} has free variables: {', '.join(function.get_free())}; give them values")
    shapes = [function.size_in(k) for k in range(3)] + [function.size_out(0)]
    for argument, (rows, columns), n in zip(("q", "v", "a", "tau"), shapes, (tree.nq, *[tree.nv] * 3), strict=True):
        if (rows, columns) != (n, 1):
            raise ArgumentError(f"{name}: {argument} is {rows} × {columns}; for {tree.name!r} it must be {n} × 1")


def _check_signature(system: Callable[..., object], has_p: bool) -> None:
    try:
        signature = inspect.signature(system)
    except (TypeError, ValueError):  # written in another language
        return
    if not _takes(signature, 4 if has_p else 3):
        if not has_p and _takes(signature, 4):
            raise ArgumentError(f"the system under test takes {signature}; {_GIVE_P}")
        wanted = "(q, v, a, p)" if has_p else "(q, v, a)"
        raise ArgumentError(f"the system under test takes {signature}; it must take {wanted}")


def _takes(signature: inspect.Signature, number: int) -> bool:
    try:
        signature.bind(*[0] * number)
    except TypeError:
        return False
    return True


def _torque_of_callable(system: Callable[..., npt.ArrayLike], tree: Tree, p: Array | None) -> Torque:
    """The torque of a Python callable of vectors, called once for each state.

    An exception or a wrong result becomes an ArgumentError.
    """
    last, nq, nv = () if p is None else (p,), tree.nq, tree.nv

    def one(q: Array, v: Array, a: Array) -> Array:
        at = f"at q = {q.tolist()}, v = {v.tolist()}, a = {a.tolist()}"
        try:
            answer = system(q.copy(), v.copy(), a.copy(), *(x.copy() for x in last))
        except Exception as error:
            raise ArgumentError(f"the system under test raised {type(error).__name__}: {error}; {at}") from error
        try:
            values = np.array(answer)
            if answer is None or values.dtype.kind == "c":  # NumPy would take them for NaN, and for their real part
                raise TypeError
            tau = values.astype(float)
        except Exception:
            raise ArgumentError(
                f"the system under test returned {type(answer).__name__}, not {nv} numbers, {at}"
            ) from None
        if tau.size != nv or max(tau.shape, default=0) != nv:
            raise ArgumentError(f"the system under test returned the shape {tau.shape}, not {nv} numbers, {at}")
        return tau.ravel()

    # Kept, since the diagnosis asks for states that the comparison has had, and a call may take long.
    @lru_cache(maxsize=_CALLS_KEPT)
    def known(state: bytes) -> Array:
        q, v, a = np.split(np.frombuffer(state), [nq, nq + nv])
        return one(q, v, a)

    def torque(q: Array, v: Array, a: Array) -> Array:
        states = np.hstack([q, v, a]) + 0.0  # −0 is 0
        return np.array([known(state.tobytes()) for state in states])

    return torque

"""One step of a motion as a ``casadi.Function``, which a transcription repeats.

A transcription is a Runge–Kutta method (A, b, c), explicit or implicit, that registers by :func:`transcription`. With x
= [q; v] at its start, the stages of a step are

    v_i = v + h Σ_j A_ij a_j        q_i = q + h Σ_j A_ij dq_j        tau(q_i, v_i, a_i) = tau of u_i

and ``x_next`` is the same sum with b. If dq/dt = v, the second equation is q + h c_i v + h² Σ_j (A²)_ij a_j, so that
the accelerations a_j are the only unknowns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.constrained.checks import NEARLY_DEPENDENT, rank
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics, check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, shown
from gdalembert.model.configuration import lengths, projected, random_configuration, unit_and_scale, unit_blocks
from gdalembert.model.rounding import clean_matrix
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import choice, integer, numbers
from gdalembert.spatial.arrays import Array, ByValue, independent_columns
from gdalembert.spatial.functions import Evaluation, Function, function, symbols
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.registry import Registry

CONTROLS = ("constant", "linear")
SCHEMES = ("legendre", "radau")
_INCONSISTENT = 1e-9
"""By how much sums of a table may be off: nine digits."""


@dataclass(frozen=True, eq=False)
class RungeKutta(ByValue):
    """A Runge–Kutta method of s stages: ``a`` (s × s), ``b`` (s), ``c`` (s).

    Raises:
        ArgumentTypeError, ArgumentError: if they are no numbers, not of these shapes, or no table of a method of any
            order: the b_i add up to 1, and each row of a to its c_i.
    """

    a: Array
    b: Array
    c: Array

    def __post_init__(self) -> None:
        for name in ("a", "b", "c"):
            object.__setattr__(self, name, numbers(f"RungeKutta: {name}", getattr(self, name)))
        s = self.b.size
        for name, shape in (("b", (s,)), ("a", (s, s)), ("c", (s,))):
            if (given := getattr(self, name).shape) != shape or not s:
                raise ArgumentError(f"RungeKutta: {name} has the shape {given}; give a (s × s), b (s) and c (s)")
        if abs(total := self.b.sum() - 1) > _INCONSISTENT:
            raise ArgumentError(f"RungeKutta: the entries of b add up to {total + 1:.9g}; they must to 1")
        for i, (total, c) in enumerate(zip(self.a.sum(axis=1), self.c, strict=True)):
            if abs(total - c) > _INCONSISTENT:
                raise ArgumentError(f"RungeKutta: row {i} of a adds up to {total:.9g}, not to c[{i}] = {c:.9g}")

    @property
    def is_explicit(self) -> bool:
        """True if each stage follows from those before it."""
        return not np.triu(self.a).any()


Transcription: TypeAlias = Callable[[int, str], RungeKutta]
"""Gives the method of a degree and a scheme, as those of :func:`collocation`."""
Made = TypeVar("Made", bound=Transcription)
TRANSCRIPTIONS = Registry[Transcription]("transcription", ("degree", "scheme"), (1, "legendre"))
"""All transcriptions by name: explicit ones take forward dynamics, implicit ones inverse dynamics."""


def transcription(name: str) -> Callable[[Made], Made]:
    """Decorator that registers a transcription as a ``method`` of :class:`~gdalembert.ocp.Problem`.

    Raises:
        ArgumentTypeError: if the name is no text, or what is decorated no function of (degree, scheme).
        ArgumentError: if another transcription has the name.
    """
    return TRANSCRIPTIONS.register(name)


def method_of(name: str, degree: int, scheme: str) -> RungeKutta:
    """The method of a transcription; an ArgumentTypeError or an ArgumentError if there is none."""
    choice("method", name, tuple(TRANSCRIPTIONS))
    method = TRANSCRIPTIONS[name](degree, scheme)
    if not isinstance(method, RungeKutta):
        raise ArgumentTypeError(f"transcription {name!r}: expected a RungeKutta, got {shown(method)}")
    return method


@transcription("collocation")
def collocation_method(degree: int, scheme: str) -> RungeKutta:
    """The method whose stages are the collocation points, of order 2 s (Legendre) or 2 s − 1 (Radau)."""
    degree = integer("degree", degree, 1, 9)
    choice("scheme", scheme, SCHEMES)
    c = np.array(ca.collocation_points(degree, scheme))
    powers = np.arange(degree)
    to_coefficients = np.linalg.inv(c[:, None] ** powers)
    integrals = c[:, None] ** (powers + 1) / (powers + 1)
    return RungeKutta(integrals @ to_coefficients, (1 / (powers + 1)) @ to_coefficients, c)


@transcription("rk4")
def rk4_method(degree: int = 4, scheme: str = "classical") -> RungeKutta:
    """The classical Runge–Kutta method of order 4, whatever the degree and scheme of a collocation."""
    a = np.zeros((4, 4))
    a[1, 0] = a[2, 1] = 1 / 2
    a[3, 2] = 1
    return RungeKutta(a, np.array([1, 2, 2, 1]) / 6, np.array([0, 1 / 2, 1 / 2, 1]))


@interruptible
def rk4(dyn: Dynamics | ConstrainedDynamics, *, control: str = "constant") -> ca.Function:
    """A step of the classical Runge–Kutta method, with forward dynamics.

    Args:
        dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`.
        control: ``"constant"``: u (nu) is held over the step; ``"linear"``: u (nu × 2) are its values at both ends.

    Returns:
        (x, u, h) → (x_next, q, v, a): [q; v] (nq + nv) after the step of h [s], with quaternions and pairs (cos, sin)
        normalised; and the four stages, a column each. If the robot has parameters, p is the last input.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """
    check_driven_by_u("rk4", ConstrainedDynamics.of("rk4", dyn).dynamics)
    return explicit_step(dyn, rk4_method(), control, "rk4")


def explicit_step(
    dyn: Dynamics | ConstrainedDynamics, method: RungeKutta, control: str, name: str = "explicit_step"
) -> ca.Function:
    """A step of an explicit method, with forward dynamics, as :func:`rk4`."""
    nq = dyn.tree.nq
    s = step_symbols(dyn, control)
    blocks = unit_blocks(dyn.tree)
    states: list[ca.SX] = []
    rates: list[ca.SX] = []
    for i in range(len(method.c)):
        x = s["x"] + s["h"] * sum((w * f for w, f in zip(method.a[i], rates, strict=False) if w), ca.SX(0))
        q, scale = unit_and_scale(x[:nq], blocks)
        rate = dyn.state_derivative(ca.vertcat(q, x[nq:]), control_at(s["u"], method.c[i]), *dyn.symbols().values())
        states.append(ca.vertcat(q, x[nq:]))
        rates.append(ca.vertcat(scale * rate[:nq], rate[nq:]))
    x = s["x"] + s["h"] * sum((w * f for w, f in zip(method.b, rates, strict=True)), ca.SX(0))
    q, _ = unit_and_scale(x[:nq], blocks)
    stages, slopes = ca.horzcat(*states), ca.horzcat(*rates)
    outputs = {"x_next": ca.vertcat(q, x[nq:]), "q": stages[:nq, :], "v": stages[nq:, :], "a": slopes[nq:, :]}
    return differentiable(function(name, s, outputs))


def stage(rows: IndependentRows, shapes: Matrix | None = None) -> ca.Function:
    """The equations of motion at a collocation point, with the forces f of the constraints as unknowns:

        tau(q, v, a) − Jᵀ f = tau of u        J a + J̇ v + damping J v + stiffness c = 0

    It is (q, v, a, f, u) → (unit, residual): q with quaternions normalised; f are the independent forces. With
    ``shapes`` Ψ (nv × nv), the first equation is along natural modes, times Ψᵀ.
    """
    con, tree = rows.con, rows.con.tree
    p = con.symbols()
    s = symbols(q=tree.nq, v=tree.nv, a=tree.nv, f=len(rows), u=con.nu) | p
    q, v, a, f, u, basis = *(s[name] for name in "qvafu"), spatial.constant(rows.basis)
    unit, _ = unit_and_scale(q, unit_blocks(tree))
    left = con.inverse_dynamics(unit, v, a, basis.T @ f, *p.values()) - con.dynamics.actuators.tau(unit, u)
    residual = ca.vertcat(
        left if shapes is None else shapes.T @ left, basis @ con.acceleration_error(unit, v, a, *p.values())
    )
    return differentiable(function("stage", s, {"unit": unit, "residual": residual}))


class HeldStep:
    """A step of the classical Runge–Kutta method from the equations of a stage, which are solved in numbers.

    They are affine in accelerations and forces but for friction that grows with the load, where Newton's method takes
    a few steps. The result is that of :func:`rk4`, without its graph.
    """

    def __init__(self, con: ConstrainedDynamics, equations: ca.Function) -> None:
        self._dynamics, self._tree = con.dynamics, con.tree
        q, v, a, f, *others = equations.sx_in()
        residual, k = ca.SX(equations(q, v, a, f, *others)[1]), ca.vertcat(a, f)
        self._is_affine = not any(ca.which_depends(residual, k, 2, True))
        rate = ca.SX(con.tree.configuration_rate(q, v))
        outputs = [ca.densify(each) for each in (residual, ca.jacobian(residual, k), rate)]
        self._equations = ca.Function("equations", [q, v, k, *others], outputs)
        self._at_columns: dict[int, ca.Function] = {}

    def __call__(self, x: Any, u: Any, h: Array, *p: Array) -> list[ca.DM]:
        """x after a step from columns x under columns u, h (1 × n) long; NaN where it has no accelerations."""
        states, method = ca.DM(x).full(), rk4_method()
        rates: list[Array] = []
        for row in method.a:
            moved = sum((w * f for w, f in zip(row, rates, strict=False) if w), np.zeros_like(states))
            rates.append(self._rates(states + h * moved, ca.DM(u).full(), *p))
        reached = states + h * sum((w * f for w, f in zip(method.b, rates, strict=True)), np.zeros_like(states))
        nq = self._tree.nq
        return [ca.DM(np.vstack([projected(reached[:nq].T, unit_blocks(self._tree)).T, reached[nq:]]))]

    def kinetic_energies(self, q: Array, v: Array, *p: Array) -> Array:
        """½ v·M v (n) of columns; M is ∂residual/∂a, so that no other graph is built, but under load friction."""
        if self._dynamics.has_load_friction:
            return np.asarray(self._dynamics.kinetic_energy(q, v, *p).full().ravel())
        (nv, n), rest = v.shape, np.zeros((self._equations.size1_in(2), v.shape[1]))
        _, slopes, _ = self._evaluated(q, v, rest, np.zeros((self._equations.size1_in(3), n)), *p)
        return np.asarray(0.5 * np.einsum("ik,kij,jk->k", v, slopes[:, :nv, :nv], v))

    def _evaluated(self, *columns: Array) -> tuple[Array, Array, Array]:
        """Residuals (n × m), their derivatives by k (n × m × m), rates of q (nq × n), at columns q, v, k, u and p."""
        n, m = columns[0].shape[1], self._equations.size1_in(2)
        mapped = self._at_columns.setdefault(n, self._equations.map(n))
        residuals, by_k, rates = np.zeros((n, m)), np.zeros((n, m, m)), np.zeros((n, self._tree.nq))
        evaluation = Evaluation(mapped, [np.ascontiguousarray(x.T) for x in columns], [residuals, by_k, rates])
        evaluation.evaluate()
        return residuals, by_k.swapaxes(1, 2), rates.T

    def _rates(self, x: Array, u: Array, *p: Array) -> Array:
        """The rates of [q; v] (columns)."""
        (nq, nv), n, blocks = (self._tree.nq, self._tree.nv), x.shape[1], unit_blocks(self._tree)
        unit, scale = projected(x[:nq].T, blocks).T, np.ones((nq, n))
        for (_, start, stop), length in zip(blocks, lengths(x[:nq].T, blocks).T, strict=True):
            scale[start:stop] = length
        k = np.zeros((self._equations.size1_in(2), n))
        for _ in range(_NEWTON):
            left, slopes, rate = self._evaluated(unit, x[nq:], k, u, *p)
            try:
                change = np.linalg.solve(slopes, -left[..., None])[..., 0].T
            except np.linalg.LinAlgError:  # M is singular, or the constraints are redundant
                return np.full_like(x, np.nan)
            k += change
            if self._is_affine or not np.abs(change).max() > _SOLVED * np.abs(k).max():
                break
        return np.vstack([scale * rate, k[:nv]])


def free_rates(tree: Tree) -> tuple[list[int], ca.DM]:
    """The entries of q whose rate is not an entry of v; and the matrix (nq × nv) of ones that gives the other rates."""
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    rates = ca.jacobian(tree.configuration_rate(q, v), v)
    free = [i for i in range(tree.nq) if not (rates[i, :].nnz() == 1 and rates[i, :].nz[0].is_one())]
    follows = ca.evalf(ca.substitute(rates, q, ca.DM.zeros(tree.nq)))
    follows[free, :] = 0
    return free, ca.sparsify(follows)


def differentiable(step: ca.Function) -> ca.Function:
    """A copy of a Function, for which CasADi uses whole Jacobians, not forward directions column by column."""
    inputs = step.sx_in()
    by_jacobian = {"enable_forward": False}
    options = by_jacobian | {"reverse_options": by_jacobian}
    return Function(step.name(), inputs, step.call(inputs), step.name_in(), step.name_out(), options)


def step_symbols(dyn: Dynamics | ConstrainedDynamics, control: str, **more: tuple[int, int]) -> dict[str, ca.SX]:
    choice("control", control, CONTROLS)
    shapes = {"x": (dyn.tree.nq + dyn.tree.nv, 1), **more, "u": (dyn.nu, 1 + (control == "linear"))}
    return {name: ca.SX.sym(name, *shape) for name, shape in (shapes | {"h": (1, 1)}).items()} | dyn.symbols()


def control_at(u: ca.SX, fraction: float) -> Matrix:
    """u at a fraction of the step."""
    return u if u.shape[1] == 1 else (1 - fraction) * u[:, 0] + fraction * u[:, 1]


_NEWTON, _SOLVED = 20, 1e-12
"""Newton's steps for the accelerations of a robot whose friction grows with the load, and when they are solved."""
_TRIES = 3
"""Configurations at which the rows of constraints are compared."""


@dataclass(frozen=True, eq=False)
class IndependentRows:
    """Independent combinations of the rows of constraints.

    Attributes:
        con: the constraints.
        basis: orthonormal coefficients (r × nc).
    """

    con: ConstrainedDynamics
    basis: Array

    @classmethod
    def of(cls, con: ConstrainedDynamics, *, positions: bool = False) -> IndependentRows:
        """The rows of a robot that are not redundant, unit vectors where they can be.

        ``positions``: those alone that are the rates of residuals. They are compared at random configurations, closed
        as far as they can be; an UnsupportedError if others are redundant at some of them.
        """
        chosen = con._set.is_holonomic | (not positions)
        rows = np.eye(con.nc)[chosen]
        if not con.regularization:
            return cls(con, rows)
        samples = [con.jacobian(q, *values_of(con)).full()[chosen] for q in closed_configurations(con)]
        everywhere = np.hstack(samples)
        _, basis = independent_columns(everywhere, NEARLY_DEPENDENT * float(np.linalg.norm(everywhere, 2)))
        if any(rank(each, NEARLY_DEPENDENT) < basis.shape[1] for each in samples):
            raise UnsupportedError(
                f"{con.tree.name}: which rows of its constraints are redundant changes with q, so that no combination "
                "of them is independent on a whole motion; hold less, as by '3D' in place of '6D'"
            )
        _, found = independent_columns(basis @ basis.T, NEARLY_DEPENDENT)  # the basis with the most unit vectors
        return cls(con, clean_matrix(found.T @ rows))

    def __len__(self) -> int:
        return len(self.basis)

    @cached_property
    def configurations(self) -> list[Array]:
        """Random configurations, closed as far as they can be."""
        return closed_configurations(self.con)

    def unreachable(self, directions: Array) -> list[str]:
        """The constraints of which some row has no rate, or that of others, along directions of v (nv × n)."""
        found: list[str] = []
        for q in self.configurations if len(self) else []:
            left, sizes, _ = np.linalg.svd(self.numbers(q) @ directions)
            lost = left[:, int(np.sum(sizes > NEARLY_DEPENDENT * sizes.max(initial=0.0))) :]
            found += [self.names[int(np.argmax(np.abs(column)))] for column in lost.T]
        return list(dict.fromkeys(found))

    @property
    def names(self) -> list[str]:
        """The constraint that each combination is of, the first one if there are several."""
        of = [each.name for each, n in zip(self.con.constraints, self.con._set.rows, strict=True) for _ in range(n)]
        return [of[int(np.argmax(np.abs(row) > 0))] for row in self.basis]

    def known(self, kept: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Mask of the rows of constraints that are kept.

        Raises:
            UnsupportedError: if a row combines them with others.
        """
        sizes = self.con._set.rows
        own = [each in kept for each, n in zip(self.con.constraints, sizes, strict=True) for _ in range(n)]
        mask = np.array(own, dtype=bool)
        of_kept, of_others = (np.abs(self.basis[:, chosen]).sum(axis=1) > 0 for chosen in (mask, ~mask))
        if np.any(of_kept & of_others):
            raise UnsupportedError(
                f"{self.con.tree.name}: redundant rows combine constraints that hold already with others that take "
                "hold; hold less, as by '3D' in place of '6D'"
            )
        return np.asarray(of_kept)

    def jacobian(self, q: Matrix, p: Sequence[Matrix]) -> Matrix:
        """J (r × nv)."""
        return spatial.constant(self.basis) @ self.con.jacobian(q, *p)

    def numbers(self, q: Array) -> Array:
        """J (r × nv) as numbers, at the parameters of the model."""
        return np.asarray(self.jacobian(ca.DM(q), values_of(self.con)).full())

    @cached_property
    def residual(self) -> ca.Function:
        """(x) → (r): c(q), of constraints that are anchored."""
        return self._at_state(lambda q, v, p: self.con.residual(q, *p))

    @cached_property
    def velocity(self) -> ca.Function:
        """(x) → (r): J v."""
        return self._at_state(lambda q, v, p: self.con.velocity(q, v, *p))

    def _at_state(self, rows: Callable[[Matrix, Matrix, list[ca.SX]], Matrix]) -> ca.Function:
        nq = self.con.nq
        s = symbols(x=nq + self.con.nv) | self.con.symbols()
        q, _ = unit_and_scale(s["x"][:nq], unit_blocks(self.con.tree))
        values = rows(q, s["x"][nq:], list(self.con.symbols().values()))
        return function("rows", s, {"rows": spatial.constant(self.basis) @ values})


def closed_configurations(con: ConstrainedDynamics) -> list[Array]:
    """Random configurations, closed as far as they can be."""
    rng, found = np.random.default_rng(0), []
    for _ in range(_TRIES):
        q = np.asarray(ca.DM(random_configuration(con.tree, rng)).full().ravel())
        with contextlib.suppress(ArgumentError):
            q = con.closed_configuration(q)
        found.append(q)
    return found


def anchored_part(con: ConstrainedDynamics) -> ConstrainedDynamics:
    """The robot with those of its constraints whose places are known."""
    known = tuple(each for each in con.constraints if each.is_anchored)
    if len(known) == len(con.constraints):
        return con
    return ConstrainedDynamics(con.dynamics, known, regularization=con.regularization)


def values_of(con: ConstrainedDynamics) -> list[Array]:
    """p of the model, as the last input of a Function."""
    return [con.parameters.values] if con.parameters else []

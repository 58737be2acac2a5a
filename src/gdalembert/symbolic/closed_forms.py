"""Closed forms: the instructions of a graph in another algebra, in unique form and in readable form.

The algebra is SymPy's (:func:`to_sympy`) or that of trigonometric polynomials (:func:`to_trigonometric`).

Readable are products instead of multiple angles, common factors, c_2 and s_23. Sums of two waves become products
(1 − cos 2x = 2 sin² x, cos x + cos y = 2 cos ½(x + y) cos ½(x − y)) where that leaves whole angles. Terms with the same
trigonometric factor, the same velocities, the same mass or inertia are collected and factored. The value never changes.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin
import sympy

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.dynamics.named_functions import KINEMATIC, NamedFunction
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, reason_of, shown
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import constant
from gdalembert.spatial.arguments import flag, integer, listed
from gdalembert.spatial.instructions import evaluate, operation_name
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import current
from gdalembert.spatial.progress import progress as show_progress
from gdalembert.symbolic.constants import SymbolicTree
from gdalembert.symbolic.flexible import SymbolicArm
from gdalembert.symbolic.formula import (
    Angle,
    Formula,
    Monomial,
    TrigonometricPolynomial,
    Wave,
    formula,
    monomial_to_sympy,
    polynomial_to_sympy,
    rational,
    symbol,
    wave_to_sympy,
)
from gdalembert.symbolic.tree import symbolic_tree

Formulas: TypeAlias = npt.NDArray[np.object_]
"""A matrix of :class:`~gdalembert.symbolic.TrigonometricPolynomial`, two-dimensional."""
Inputs: TypeAlias = Mapping[str, Sequence[Formula]]
"""A formula (a number, a string, an expression) for each entry of inputs of a Function."""
MAX_TERMS = 1_000_000
"""The default limit of products of two terms: a few seconds of work."""
CLOSED = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "nle",
    "generalized_gravity",
    "kinetic_energy",
    "potential_energy",
    "link_torques",
    "joint_wrenches",
    "torque_regressor",
    "base_regressor",
    "kinetic_energy_regressor",
    "potential_energy_regressor",
    "stiffness",
    "damping",
)
"""Functions that have closed forms, besides the ``terms`` of a formulation and those of ``Kinematics``."""
_Spectrum: TypeAlias = tuple[tuple[Wave, Fraction], ...]

_MOTION = re.compile(r"[va]_\d+(_\d+)?")
_JOINT = re.compile(r"q_(\d+)")
_MOST_WAVES = 8
"""Largest number of waves in a sum that is searched for pairs."""
_MOST_ANGLES = 3
"""Largest number of angles in a sum that is written in powers of sines and cosines of single angles."""
_MOST_TERMS = 16
"""Largest number of terms in a sum that is factored; for more, in many symbols, SymPy needs many seconds."""


@interruptible
def to_sympy(function: ca.Function, inputs: Inputs | None = None) -> dict[str, sympy.Matrix]:
    """The outputs of a Function as SymPy matrices, by name.

    The expressions have the structure of the graph; nothing is multiplied out. Constants of the graph become the
    fractions that they stand for: 0.25 is 1/4.

    Args:
        function: any ``casadi.Function`` of elementary operations, SX or MX.
        inputs: ``{input: formulas}``, one for each entry, column by column. By default entry k of q is the
            real symbol ``q_k``, from q_1 on; entry (i, j) of a matrix ``M_i_j``.

    Raises:
        ArgumentTypeError: if it is not a ``casadi.Function``, or a formula is not one.
        UnknownNameError: if ``inputs`` names an input that does not exist.
        ArgumentError: if ``inputs`` has the wrong number of entries or a string that is not a formula, or uses the
            name of another input's entry.
        UnsupportedError: if SymPy lacks an operation of the graph; the message names it.
    """
    results = _evaluated(_expanded(function), _values(function, inputs), "SymPy", _sympy_number, _SYMPY)
    return {name: sympy.Matrix(result) for name, result in results.items()}


@interruptible
def to_trigonometric(
    function: ca.Function,
    inputs: Inputs | None = None,
    *,
    outputs: Iterable[str] | None = None,
    max_terms: int = MAX_TERMS,
) -> dict[str, Formulas]:
    """The outputs of a Function in the unique form of trigonometric polynomials, by name.

    Args:
        function, inputs: as for :func:`to_sympy`; expressions must be trigonometric polynomials.
        outputs: names of the wanted outputs; by default all.
        max_terms: the number of products of two terms at which to give up; a million take seconds.

    Raises:
        ArgumentTypeError, ArgumentError: as :func:`to_sympy`.
        UnknownNameError: if there is no such input or output.
        UnsupportedError: if the graph is not a trigonometric polynomial, or takes more than ``max_terms`` products.
    """
    graph = _expanded(function)
    if outputs is not None:
        wanted = [outputs] if isinstance(outputs, str) else listed(outputs)
        if wanted is None:
            raise ArgumentTypeError(f"outputs: got {shown(outputs)}; give names of outputs")
        for name in wanted:
            if not isinstance(name, str) or name not in graph.name_out():
                raise UnknownNameError("output", name, graph.name_out())
        arguments = graph.sx_in()
        results = dict(zip(graph.name_out(), graph.call(arguments), strict=True))
        graph = ca.Function(graph.name(), arguments, [results[name] for name in wanted], graph.name_in(), wanted)
    values = [[TrigonometricPolynomial.of(x) for x in entries] for entries in _values(function, inputs)]
    parameters = values[graph.index_in("p")] if "p" in graph.name_in() else []
    multiply = _limited(graph, max_terms, any(x.as_number() is None for x in parameters))
    operations = _POLYNOMIAL | {ca.OP_MUL: multiply, ca.OP_SQ: lambda x: multiply(x, x)}
    return _evaluated(graph, values, "a trigonometric polynomial", TrigonometricPolynomial.of, operations)


def _limited(graph: ca.Function, max_terms: int, parametric: bool) -> Callable[..., TrigonometricPolynomial]:
    """The product, which counts the products of terms, and gives up when there are too many."""
    max_terms = integer("max_terms", max_terms, 1)
    spent = products = 0

    def multiply(a: TrigonometricPolynomial, b: TrigonometricPolynomial) -> TrigonometricPolynomial:
        nonlocal spent, products
        spent += len(a) * len(b)
        products += 1
        current().move()
        if spent > max_terms:
            entries = sum(graph.numel_in(i) for i in range(graph.n_in()))
            advice = "give numbers for parameters, " if parametric else ""
            raise UnsupportedError(
                f"{graph.name()}: too large for closed forms: its {graph.n_instructions()} instructions in {entries} "
                f"symbols take more than max_terms={max_terms} products of terms (the graph's product "
                f"{products} alone is {len(a)} by {len(b)} terms); ask for fewer outputs, {advice}or raise max_terms"
            )
        return a * b

    return multiply


def _expanded(function: ca.Function) -> ca.Function:
    if not isinstance(function, ca.Function):
        raise ArgumentTypeError(f"expected a casadi.Function, got {type(function).__name__}")
    if function.is_a("SXFunction"):
        return function
    try:
        return function.expand()
    except RuntimeError as error:
        reason = reason_of(error)
        raise UnsupportedError(f"{function.name()}: cannot be expanded to scalar operations: {reason}") from None


def _by_name(inputs: Inputs | None) -> dict[str, Sequence[Any]]:
    if not isinstance(inputs, Mapping | None):
        raise ArgumentTypeError(f"inputs: got {shown(inputs)}; give {{name: formulas}}")
    return dict(inputs or {})


def _values(function: ca.Function, inputs: Inputs | None) -> list[list[sympy.Expr]]:
    """The formulas of all entries of each input, in which no symbol has two meanings."""
    entries_of = _by_name(inputs)
    for name in entries_of:
        if name not in function.name_in():
            raise UnknownNameError("input", name, function.name_in())
    values = []
    for i, name in enumerate(function.name_in()):
        entries = list(entries_of[name]) if name in entries_of else _names(name, *function.size_in(i))
        if len(entries) != function.numel_in(i):
            raise ArgumentError(f"input {name!r}: has {function.numel_in(i)} entries, got {len(entries)} names")
        values.append([x if isinstance(x, sympy.Expr) else formula(x) for x in entries])
        used = {x.name for entry in values[-1] for x in entry.free_symbols}
        for other in {*function.name_in()} - {name, *entries_of}:
            if taken := used & set(_names(other, *function.size_in(other))):
                raise ArgumentError(
                    f"input {name!r}: the name {min(taken)} is that of an entry of {other!r} too; rename it, or give "
                    f"inputs={{{other!r}: […]}} other names"
                )
    return values


def _names(name: str, rows: int, columns: int) -> list[str]:
    if columns == 1:
        return [f"{name}_{k + 1}" for k in range(rows)]
    return [f"{name}_{i + 1}_{j + 1}" for j, i in itertools.product(range(columns), range(rows))]


def _evaluated(
    function: ca.Function,
    inputs: Sequence[Sequence[Any]],
    algebra: str,
    constant: Callable[[float], Any],
    operations: Mapping[int, Callable[..., Any]],
) -> dict[str, Formulas]:
    """The outputs as matrices by name, in the algebra of these constants and operations (``ca.OP_…``)."""

    def operation(op: int, *operands: Any) -> Any:
        if op not in operations:
            raise UnsupportedError(
                f"{function.name()}: its operation {operation_name(op)} has no form in {algebra}; write it with "
                "sums, products, quotients, powers and elementary functions"
            )
        return operations[op](*operands)

    results = {}
    for name, entries in zip(function.name_out(), evaluate(function, inputs, constant, operation), strict=True):
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
        results[name] = column.reshape(function.size_out(name), order="F")
    return results


def _sympy_number(x: float) -> sympy.Expr:
    return sympy.Rational(rational(x)) if np.isfinite(x) else sympy.sympify(x)


def _truth(condition: sympy.Expr) -> Any:
    """CasADi's truth values are the numbers 1 and 0; SymPy's are not numbers."""
    return sympy.Piecewise((1, condition), (0, True))


_COMMON: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: operator.add,
    ca.OP_SUB: operator.sub,
    ca.OP_MUL: operator.mul,
    ca.OP_DIV: operator.truediv,
    ca.OP_NEG: operator.neg,
    ca.OP_INV: lambda x: 1 / x,
    ca.OP_SQ: lambda x: x * x,
    ca.OP_TWICE: lambda x: x * 2,
    ca.OP_ASSIGN: lambda x: x,
}

_NAMES = "sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf sign floor"
_SYMPY = (
    _COMMON
    | {getattr(ca, f"OP_{name.upper()}"): getattr(sympy, name) for name in _NAMES.split()}
    | {
        ca.OP_POW: sympy.Pow,
        ca.OP_CONSTPOW: sympy.Pow,
        ca.OP_EXPM1: lambda x: sympy.exp(x) - 1,
        ca.OP_LOG1P: lambda x: sympy.log(1 + x),
        ca.OP_HYPOT: lambda x, y: sympy.sqrt(x**2 + y**2),
        ca.OP_FABS: sympy.Abs,
        ca.OP_CEIL: sympy.ceiling,
        ca.OP_FMIN: sympy.Min,
        ca.OP_FMAX: sympy.Max,
        ca.OP_LT: lambda x, y: _truth(sympy.Lt(x, y)),
        ca.OP_LE: lambda x, y: _truth(sympy.Le(x, y)),
        ca.OP_EQ: lambda x, y: _truth(sympy.Eq(x, y)),
        ca.OP_NE: lambda x, y: _truth(sympy.Ne(x, y)),
        ca.OP_NOT: lambda x: _truth(sympy.Eq(x, 0)),
        ca.OP_AND: lambda x, y: _truth(sympy.And(sympy.Ne(x, 0), sympy.Ne(y, 0))),
        ca.OP_OR: lambda x, y: _truth(sympy.Or(sympy.Ne(x, 0), sympy.Ne(y, 0))),
        ca.OP_IF_ELSE_ZERO: lambda condition, x: sympy.Piecewise((x, sympy.Ne(condition, 0)), (0, True)),
    }
)


def _power(x: TrigonometricPolynomial, exponent: TrigonometricPolynomial) -> TrigonometricPolynomial:
    number = exponent.as_number()
    if number is None or number.denominator != 1:
        raise UnsupportedError(f"({x})**({exponent}): is not a trigonometric polynomial")
    return x ** int(number)


_POLYNOMIAL = _COMMON | {
    ca.OP_INV: lambda x: TrigonometricPolynomial.of(1) / x,
    ca.OP_SIN: TrigonometricPolynomial.sin,
    ca.OP_COS: TrigonometricPolynomial.cos,
    ca.OP_POW: _power,
    ca.OP_CONSTPOW: _power,
}


@interruptible
def readable(formulas: Formulas | TrigonometricPolynomial, *, shorthand: bool = True) -> sympy.Matrix | sympy.Expr:
    """A readable form of each entry; a matrix of polynomials gives a SymPy matrix.

    Args:
        formulas: a trigonometric polynomial, or a matrix of them.
        shorthand: whether sines and cosines are written ``s_2``, ``c_23`` for sin(q_2), cos(q_2 + q_3), and ``c_beta``
            for those of other angles; :func:`abbreviations` says what they mean.

    Raises:
        ArgumentTypeError: if an entry is not a trigonometric polynomial.
    """
    rows = np.atleast_2d(np.asarray(formulas, dtype=object))
    for x in rows.ravel():
        if not isinstance(x, TrigonometricPolynomial):
            raise ArgumentTypeError(
                f"readable: {x!r} is not a trigonometric polynomial; give what closed_forms returns"
            )
    once: dict[TrigonometricPolynomial, sympy.Expr] = {}
    for x in rows.ravel():
        if x not in once:
            once[x] = _readable(x)
            current().move()
    matrix = sympy.Matrix(*rows.shape, [once[x] for x in rows.ravel()])
    if shorthand:
        matrix = matrix.xreplace({meaning: short for short, meaning in abbreviations(matrix).items()})
    return matrix[0, 0] if isinstance(formulas, TrigonometricPolynomial) else matrix


@interruptible
def abbreviations(expression: sympy.Matrix | sympy.Expr) -> dict[sympy.Symbol, sympy.Expr]:
    """The meaning of the shorthand of an expression with ``shorthand=False``: {c_23: cos(q_2 + q_3)}.

    Names that are symbols already and angles without a short name are left out.
    """
    if not isinstance(expression, sympy.MatrixBase | sympy.Expr):
        raise ArgumentTypeError(f"abbreviations: got {shown(expression)}; give a matrix or an expression of SymPy's")
    taken = {x.name for x in expression.free_symbols}
    waves = sorted(expression.atoms(sympy.sin, sympy.cos), key=str)
    meanings: dict[sympy.Symbol, sympy.Expr] = {}
    for wave in waves:
        letter, parts = wave.func.__name__[0], sympy.Add.make_args(wave.args[0])
        joints = sorted(int(match[1]) for part in parts if (match := _JOINT.fullmatch(str(part))))
        if len(joints) == len(parts):
            name = f"{letter}_" + ("" if joints[-1] < 10 else "_").join(map(str, joints))
        elif len(parts) == 1 and parts[0].is_Symbol:
            name = f"{letter}_{parts[0].name}"
        else:
            continue
        if name not in taken:
            meanings[symbol(name)] = wave
    return meanings


def _readable(formula: TrigonometricPolynomial) -> sympy.Expr:
    """Σ velocities × Σ monomial × waves, each sum in products and factored."""
    by_motion: dict[Monomial, dict[Monomial, dict[Wave, Fraction]]] = {}
    for wave, polynomial in formula.terms.items():
        for monomial, c in polynomial.items():
            motion = tuple(x for x in monomial if _MOTION.fullmatch(x[0]))
            rest = tuple(x for x in monomial if not _MOTION.fullmatch(x[0]))
            by_motion.setdefault(motion, {}).setdefault(rest, {})[wave] = c
    parts = []
    for motion, spectra in sorted(by_motion.items()):
        together: dict[_Spectrum, dict[Monomial, Fraction]] = {}  # monomials of proportional waves
        for monomial, waves in spectra.items():
            items = sorted(waves.items())
            lead = items[0][1]
            together.setdefault(tuple((wave, c / lead) for wave, c in items), {})[monomial] = lead
        summands = (sympy.expand(polynomial_to_sympy(p) * _as_products(waves)) for waves, p in together.items())
        parts.append(_times(monomial_to_sympy(motion), _factored(sympy.Add(*summands))))
    return sympy.Add(*parts)


def _factored(total: sympy.Expr) -> sympy.Expr:
    """The sum with common factors in front, also those of parts of it."""
    if len(sympy.Add.make_args(total)) > _MOST_TERMS:
        return _grouped(total)
    parts = [_grouped(part) if part.is_Add else part for part in sympy.Mul.make_args(sympy.factor(total))]
    return sympy.Mul(*parts)


def _grouped(total: sympy.Expr) -> sympy.Expr:
    """The sum with the terms collected that share a symbol, a sine or a cosine in the first power."""
    terms = list(sympy.Add.make_args(total))
    done: list[sympy.Expr] = []
    while len(terms) > 1:
        powers = [term.as_powers_dict() for term in terms]
        uses = {x: [factors[x] for factors in powers if x in factors] for x in set().union(*powers) if not x.is_number}
        shares = {x: len(exponents) for x, exponents in uses.items() if set(exponents) == {1} and not x.is_Add}
        shared = max(sorted(shares, key=str), key=lambda x: (shares[x], x.is_Symbol), default=None)
        if shared is None or shares[shared] < 2:
            break
        with_it = [term for term, factors in zip(terms, powers, strict=True) if shared in factors]
        terms = [term for term, factors in zip(terms, powers, strict=True) if shared not in factors]
        done.append(_times(shared, _factored(sympy.Add(*(term / shared for term in with_it)))))
    return sympy.Add(*done, *terms)


def _times(factor: sympy.Expr, total: sympy.Expr) -> sympy.Expr:
    """The product, with the number and the minus sign that all terms of ``total`` share in front."""
    number, rest = total.primitive()
    if rest.is_Add and rest.could_extract_minus_sign():
        number, rest = -number, -rest
    return sympy.Mul(number, factor, rest)


@functools.lru_cache(maxsize=10_000)
def _as_products(waves: _Spectrum) -> sympy.Expr:
    """The sum of waves as the fewest products that pairs of them give."""
    if len(waves) > _MOST_WAVES:
        return sympy.Add(*map(_single, waves))
    names = {name for (_, angle), _ in waves for name, _ in angle}
    if len(names) <= _MOST_ANGLES and not all(_JOINT.fullmatch(name) for name in names):
        return _in_single_angles(waves, sorted(names))
    return sympy.Add(*_shortest(list(waves)))


def _in_single_angles(waves: _Spectrum, names: Sequence[str]) -> sympy.Expr:
    """The sum of waves in powers of sin x and cos x of each angle, factored: constant angles stay apart.

    The squares of either the sine or the cosine of each angle are kept, whichever is shorter.
    """
    total = sympy.Add(*(sympy.Rational(c) * wave_to_sympy(wave) for wave, c in waves))
    total = sympy.expand(sympy.expand_trig(total))
    candidates = []
    for functions in itertools.product(((sympy.sin, sympy.cos), (sympy.cos, sympy.sin)), repeat=len(names)):
        reduced = total
        for name, (gone, kept) in zip(names, functions, strict=True):
            base, rest = gone(symbol(name)), 1 - kept(symbol(name)) ** 2
            powers = {x: rest ** (x.exp // 2) * base ** (x.exp % 2) for x in reduced.atoms(sympy.Pow) if x.base == base}
            reduced = sympy.expand(reduced.xreplace(powers))
        candidates.append(sympy.factor(reduced))
    return min(candidates, key=sympy.count_ops)


def _shortest(items: Sequence[tuple[Wave, Fraction]]) -> list[sympy.Expr]:
    if not items:
        return []
    first, rest = items[0], items[1:]
    best = [_single(first), *_shortest(rest)]
    for k, other in enumerate(rest):
        product = _pair(first, other)
        if product is not None:
            shorter = [product, *_shortest([*rest[:k], *rest[k + 1 :]])]
            if len(shorter) < len(best):
                best = shorter
    return best


def _single(item: tuple[Wave, Fraction]) -> sympy.Expr:
    (sine, angle), c = item
    half = _half(dict(angle))
    if sine and half is not None:
        return 2 * sympy.Rational(c) * wave_to_sympy((True, half)) * wave_to_sympy((False, half))
    return sympy.Rational(c) * wave_to_sympy((sine, angle))


def _pair(one: tuple[Wave, Fraction], other: tuple[Wave, Fraction]) -> sympy.Expr | None:
    """Two waves of equal amplitude as one product, or ``None`` if half angles would be left."""
    ((sine, a), c), ((other_sine, b), d) = one, other
    if sine != other_sine or abs(c) != abs(d):
        return None
    total, difference = dict(a), dict(a)
    for name, k in b:
        total[name] = total.get(name, 0) + k
        difference[name] = difference.get(name, 0) - k
    x, y = _half(total), _half(difference)
    if x is None or y is None:
        return None
    # 2 sin x cos y of a sum of sines, 2 cos x sin y of a difference; 2 cos x cos y and −2 sin x sin y of cosines
    summed = c == d
    twice = 2 * sympy.Rational(c) * (1 if sine or summed else -1)
    return twice * wave_to_sympy((sine == summed, x)) * wave_to_sympy((not summed, y))


def _half(angle: Mapping[str, int]) -> Angle | None:
    """Half of k·x if that is whole, else ``None``."""
    if any(k % 2 for k in angle.values()):
        return None
    return tuple(sorted((name, k // 2) for name, k in angle.items() if k))


@interruptible
def closed_forms(
    robot: SymbolicTree | Tree | pin.Model | str | Arm,
    formulation: type[Dynamics] | None = None,
    *,
    of: str | NamedFunction = "terms",
    outputs: Iterable[str] | None = None,
    inputs: Inputs | None = None,
    max_terms: int = MAX_TERMS,
    progress: bool = False,
) -> dict[str, Formulas]:
    """The outputs of one Function of a formulation in unique form, by name, in the symbols q_1 …, v_1 …, a_1 ….

    Args:
        robot: a :class:`~gdalembert.symbolic.SymbolicTree`, or what
            :func:`~gdalembert.symbolic.symbolic_tree` makes one of.
        formulation: ``GeneralizedDAlembert``, the default, or ``LagrangeEuler``; of a flexible arm it is
            :class:`~gdalembert.symbolic.SymbolicArm`.
        of: the Function: ``"terms"`` (D_tra, D_rot, H_tra, H_rot, G, I_act, or D, h_1 …, c, I_act),
            ``"link_torques"`` (T_ij), ``"inverse_dynamics"``, ``"mass_matrix"``, ``"kinetic_energy"``, …, or of its
            kinematics, ``"frame_placement:joint2"``, ``"frame_jacobian:joint2:LOCAL"``
            (:mod:`gdalembert.dynamics.named_functions`).
        outputs: which of its outputs; by default all.
        inputs: other names, as ``{"a": ["alpha_1", "alpha_2"]}``; needed if a length is called a_2 and the Function
            has accelerations.
        max_terms: the size at which to give up, see :func:`~gdalembert.symbolic.to_trigonometric`.
        progress: show on stderr that it goes on.

    Raises:
        UnknownNameError: if there is no such Function, output or input.
        ArgumentError: if a parameter has the name of an input's entry; if a frame or a reference is missing.
        UnsupportedError: if the robot is too large; the message has its size.
    """
    symbolic = robot if isinstance(robot, SymbolicTree) else symbolic_tree(robot)
    tree = symbolic.exact or symbolic
    dynamics = tree.dynamics(formulation or (GeneralizedDAlembert if tree.arm is None else SymbolicArm))
    if not isinstance(of, str | NamedFunction):
        raise ArgumentTypeError(f"closed_forms: of is {shown(of)}; give the name of a Function")
    named = NamedFunction.read(of) if isinstance(of, str) else of
    known = [name for name in ("terms", *CLOSED) if hasattr(type(dynamics), name)]
    if named.of not in known and not named.is_kinematic:
        raise UnknownNameError("Function", named.of, [*known, *KINEMATIC])
    function = _base_regressor(symbolic, dynamics) if named.of == "base_regressor" else named.function(dynamics)
    known_inputs = {name: x for name, x in tree.inputs().items() if name in function.name_in()}
    named_inputs, shows = {**known_inputs, **_by_name(inputs)}, flag("closed_forms: progress", progress)
    try:
        with show_progress(f"{tree.name}: closed form of {named.label}", shown=shows):
            return to_trigonometric(function, named_inputs, outputs=outputs, max_terms=max_terms)
    except UnsupportedError as error:
        exact = any(joint.type.is_modal and not joint.type.is_first_order for joint in tree.joints)
        reason = "; sections of a FlexibleArm turn by exact rotations: take FirstOrderArm" if exact else ""
        raise UnsupportedError(f"{tree.name}: {error}{reason}") from None


def _base_regressor(symbolic: SymbolicTree, dynamics: Dynamics) -> ca.Function:
    """The base regressor of ``dynamics``, whose numbers are symbols, with the base parameters of its numbers."""
    symbolic.require_rigid_links("base parameters are those of bodies that are rigid")
    bodies = symbolic.dynamics(type(dynamics)).base_parameters.bodies
    whole = dynamics.torque_regressor
    inputs = whole.sx_in()
    return ca.Function("base_regressor", inputs, [whole(*inputs) @ constant(bodies)], whole.name_in(), ["Y"])


@interruptible
def readable_forms(
    robot: SymbolicTree | Tree | pin.Model | str | Arm,
    formulation: type[Dynamics] | None = None,
    *,
    of: str | NamedFunction = "terms",
    outputs: Iterable[str] | None = None,
    inputs: Inputs | None = None,
    max_terms: int = MAX_TERMS,
    progress: bool = False,
) -> dict[str, sympy.Matrix]:
    """Closed forms as readable SymPy matrices, see :func:`~gdalembert.symbolic.readable`."""
    with show_progress("readable forms", shown=flag("readable_forms: progress", progress)):
        forms = closed_forms(robot, formulation, of=of, outputs=outputs, inputs=inputs, max_terms=max_terms)
        return {name: readable(matrix) for name, matrix in forms.items()}

"""Closed forms of the Functions of a formulation, in unique form and in readable form.

Readable are products instead of multiple angles, common factors, c_2 and s_23. Sums of two waves become products
(1 − cos 2x = 2 sin² x, cos x + cos y = 2 cos ½(x + y) cos ½(x − y)) where that leaves whole angles. Terms with the same
trigonometric factor, the same velocities, the same mass or inertia are collected and factored. The value never changes.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import casadi as ca
import numpy as np
import pinocchio as pin
import sympy

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.errors import ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.symbolic.formula import (
    Angle,
    Monomial,
    TrigonometricPolynomial,
    Wave,
    monomial_to_sympy,
    polynomial_to_sympy,
    symbol,
    wave_to_sympy,
)
from gdalembert.symbolic.graph import MAX_TERMS, Formulas, Inputs, to_trigonometric
from gdalembert.symbolic.parameters import symbolic_tree
from gdalembert.symbolic.tree import SymbolicTree

_Spectrum: TypeAlias = tuple[tuple[Wave, Fraction], ...]

_MOTION = re.compile(r"[va]_\d+")
_JOINT = re.compile(r"q_(\d+)")
_MOST_WAVES = 8
"""Largest number of waves in a sum that is searched for pairs."""
_MOST_ANGLES = 3
"""Largest number of angles in a sum that is written in powers of sines and cosines of single angles."""
_MOST_TERMS = 16
"""Largest number of terms in a sum that is factored; for more, in many symbols, SymPy needs many seconds."""
CLOSED = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "nle",
    "generalized_gravity",
    "kinetic_energy",
    "potential_energy",
    "link_torques",
)
"""Functions that have closed forms, besides the ``terms`` of a formulation."""


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
    once = {x: _readable(x) for x in set(rows.ravel())}
    matrix = sympy.Matrix(*rows.shape, [once[x] for x in rows.ravel()])
    if shorthand:
        matrix = matrix.xreplace({meaning: short for short, meaning in abbreviations(matrix).items()})
    return matrix[0, 0] if isinstance(formulas, TrigonometricPolynomial) else matrix


def abbreviations(expression: sympy.Matrix | sympy.Expr) -> dict[sympy.Symbol, sympy.Expr]:
    """The meaning of the shorthand of an expression with ``shorthand=False``: {c_23: cos(q_2 + q_3)}.

    Names that are symbols already and angles without a short name are left out.
    """
    taken = {x.name for x in expression.free_symbols}
    waves = sorted(expression.atoms(sympy.sin, sympy.cos), key=str)
    found: dict[sympy.Symbol, sympy.Expr] = {}
    for wave in waves:
        name = _short_name(wave)
        if name is not None and name not in taken:
            found[symbol(name)] = wave
    return found


def _short_name(wave: sympy.Expr) -> str | None:
    letter = "s" if isinstance(wave, sympy.sin) else "c"
    parts = sympy.Add.make_args(wave.args[0])
    if not all(part.is_Symbol for part in parts):
        return None
    joints = sorted(int(match[1]) for part in parts if (match := _JOINT.fullmatch(part.name)))
    if len(joints) == len(parts):
        return f"{letter}_" + ("" if joints[-1] < 10 else "_").join(map(str, joints))
    return f"{letter}_{parts[0].name}" if len(parts) == 1 else None


def _readable(formula: TrigonometricPolynomial) -> sympy.Expr:
    by_motion: dict[Monomial, dict[Monomial, dict[Wave, Fraction]]] = {}
    for wave, polynomial in formula.terms.items():
        for monomial, c in polynomial.items():
            motion = tuple(x for x in monomial if _MOTION.fullmatch(x[0]))
            rest = tuple(x for x in monomial if not _MOTION.fullmatch(x[0]))
            by_motion.setdefault(motion, {}).setdefault(rest, {})[wave] = c
    parts = [_times(monomial_to_sympy(motion), _tidy(spectra)) for motion, spectra in sorted(by_motion.items())]
    return sympy.Add(*parts)


def _tidy(spectra: Mapping[Monomial, Mapping[Wave, Fraction]]) -> sympy.Expr:
    """Σ monomial × waves, with monomials of proportional waves collected."""
    together: dict[_Spectrum, dict[Monomial, Fraction]] = {}
    for monomial, waves in spectra.items():
        items = sorted(waves.items())
        lead = items[0][1]
        together.setdefault(tuple((wave, c / lead) for wave, c in items), {})[monomial] = lead
    total = sympy.Add(*(sympy.expand(polynomial_to_sympy(p) * _as_products(waves)) for waves, p in together.items()))
    return _factored(total)


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
        uses = {x: [each[x] for each in powers if x in each] for x in set().union(*powers) if not x.is_number}
        shares = {x: len(exponents) for x, exponents in uses.items() if set(exponents) == {1} and not x.is_Add}
        shared = max(sorted(shares, key=str), key=lambda x: (shares[x], x.is_Symbol), default=None)
        if shared is None or shares[shared] < 2:
            break
        with_it = [term for term, each in zip(terms, powers, strict=True) if shared in each]
        terms = [term for term, each in zip(terms, powers, strict=True) if shared not in each]
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
            reduced = _without_squares(reduced, gone(symbol(name)), kept(symbol(name)))
        candidates.append(sympy.factor(reduced))
    return min(candidates, key=sympy.count_ops)


def _without_squares(total: sympy.Expr, gone: sympy.Expr, kept: sympy.Expr) -> sympy.Expr:
    """The sum with 1 − kept² for gone²."""
    powers = {x for x in total.atoms(sympy.Pow) if x.base == gone}
    return sympy.expand(total.xreplace({x: (1 - kept**2) ** (x.exp // 2) * gone ** (x.exp % 2) for x in powers}))


def _shortest(items: Sequence[tuple[Wave, Fraction]]) -> list[sympy.Expr]:
    if not items:
        return []
    first, rest = items[0], items[1:]
    best = [_single(first), *_shortest(rest)]
    for k, other in enumerate(rest):
        product = _pair(first, other)
        if product is not None:
            found = [product, *_shortest([*rest[:k], *rest[k + 1 :]])]
            if len(found) < len(best):
                best = found
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


def closed_forms(
    robot: SymbolicTree | Tree | pin.Model | str,
    formulation: type[Dynamics] = GeneralizedDAlembert,
    *,
    of: str = "terms",
    outputs: Iterable[str] | None = None,
    inputs: Inputs | None = None,
    max_terms: int = MAX_TERMS,
) -> dict[str, Formulas]:
    """The outputs of one Function of a formulation in unique form, by name, in the symbols q_1 …, v_1 …, a_1 ….

    Args:
        robot: a :class:`~gdalembert.symbolic.tree.SymbolicTree`, or what
            :func:`~gdalembert.symbolic.parameters.symbolic_tree` makes one of.
        formulation: ``GeneralizedDAlembert`` or ``LagrangeEuler``.
        of: the Function: ``"terms"`` (D_tra, D_rot, H_tra, H_rot, G, I_act, or D, h_1 …, c, I_act),
            ``"link_torques"`` (T_ij), ``"inverse_dynamics"``, ``"mass_matrix"``, ``"kinetic_energy"``, ….
        outputs: which of its outputs; by default all.
        inputs: other names, as ``{"a": ["alpha_1", "alpha_2"]}``; needed if a length is called a_2 and the Function
            has accelerations.
        max_terms: the size at which to give up, see :func:`~gdalembert.symbolic.graph.to_trigonometric`.

    Raises:
        UnknownNameError: if there is no such Function, output or input.
        ArgumentError: if a parameter has the name of an input's entry.
        UnsupportedError: if the robot is too large; the message has its size.
    """
    given = robot if isinstance(robot, SymbolicTree) else symbolic_tree(robot)
    tree = given.exact or given
    dynamics = tree.dynamics(formulation)
    known = [name for name in ("terms", *CLOSED) if hasattr(type(dynamics), name)]
    if of not in known:
        raise UnknownNameError("Function", of, known)
    function: ca.Function = getattr(dynamics, of)
    try:
        return to_trigonometric(function, {**tree.inputs(), **(inputs or {})}, outputs=outputs, max_terms=max_terms)
    except UnsupportedError as error:
        raise UnsupportedError(f"{tree.name}: {error}") from None


def readable_forms(
    robot: SymbolicTree | Tree | pin.Model | str,
    formulation: type[Dynamics] = GeneralizedDAlembert,
    *,
    of: str = "terms",
    outputs: Iterable[str] | None = None,
    inputs: Inputs | None = None,
    max_terms: int = MAX_TERMS,
) -> dict[str, sympy.Matrix]:
    """Closed forms as readable SymPy matrices, see :func:`~gdalembert.symbolic.closed_forms.readable`."""
    forms = closed_forms(robot, formulation, of=of, outputs=outputs, inputs=inputs, max_terms=max_terms)
    return {name: readable(matrix) for name, matrix in forms.items()}

"""The squares that a cost is the sum of, found by a walk over its graph: what Gauss and Newton take."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from gdalembert.errors import UnsupportedError


class Square(NamedTuple):
    """A term w s² of a cost; w is free of the motion."""

    weight: ca.SX
    residual: ca.SX


def squares(cost: ca.SX, motion: ca.SX, where: str) -> list[Square]:
    """The squares that a cost is the sum of, but for terms free of the motion.

    Raises:
        UnsupportedError: if a term is no square of an expression, or has a number below zero as its weight.
    """
    found: list[Square] = []
    left = [(cost, ca.SX(1))]
    while left:
        term, weight = left.pop()
        if not ca.depends_on(term, motion):
            continue
        if _operation(term) in (ca.OP_ADD, ca.OP_SUB):
            sign = 1 if _operation(term) == ca.OP_ADD else -1
            left += [(term.dep(0), weight), (term.dep(1), sign * weight)]
            continue
        by, moving = _factors(term, motion)
        weight, root = weight * by, _root(moving)
        if root is not None and not (weight.is_constant() and float(weight) < 0):
            found.append(Square(weight, root))
        elif len(moving) == 1 and not ca.is_equal(moving[0], term):
            left.append((moving[0], weight))
        else:
            raise UnsupportedError(
                f"rti: {where} is no sum of squares of q, v, a, u and forces; write one with a matrix of weights "
                "W = L Lᵀ as ca.sumsqr(L.T @ e), or take 'ipopt'"
            )
    return found


def _operation(x: ca.SX) -> int:
    return int(ca.OP_PARAMETER if x.is_symbolic() else x.op())


def _factors(term: ca.SX, motion: ca.SX) -> tuple[ca.SX, list[ca.SX]]:
    """The factor of a product that is free of the motion, and those that are not; a square is twice one factor."""
    weight, moving, left = ca.SX(1), [], [term]
    while left:
        x = left.pop()
        op = _operation(x)
        if not ca.depends_on(x, motion):
            weight *= x
        elif op == ca.OP_MUL:
            left += [x.dep(0), x.dep(1)]
        elif op in (ca.OP_NEG, ca.OP_TWICE):
            weight *= -1 if op == ca.OP_NEG else 2
            left.append(x.dep(0))
        elif op == ca.OP_DIV and not ca.depends_on(x.dep(1), motion):
            weight /= x.dep(1)
            left.append(x.dep(0))
        else:
            moving += [x.dep(0)] * 2 if op == ca.OP_SQ else [x]
    return weight, moving


def _root(factors: list[ca.SX]) -> ca.SX | None:
    """The root of a product of factors that occur twice."""
    root, left = ca.SX(1), list(factors)
    while left:
        x = left.pop()
        other = next((k for k, y in enumerate(left) if ca.is_equal(x, y, 4)), None)
        if other is None:
            return None
        root *= left.pop(other)
    return root

"""The small algebra that every formulation shares: products of 3-vectors, rotations, pseudo-inertias.

Each function takes and returns CasADi matrices of any kind (``SX``, ``MX``, ``DM``); nothing here knows about robots.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from gdalembert.spatial.arrays import frozen

Matrix: TypeAlias = Any
"""A CasADi matrix of any kind: SX, MX or DM, and what they give when they meet (a union cannot say that to mypy)."""


Written = TypeVar("Written", bound=Callable[..., Any])


def kernel(write: Written) -> Written:
    """A function of matrices whose result, a matrix, is written once for each of their shapes.

    Each operation takes CasADi about 30 µs from Python, mostly to find out what its operands are; a call, which puts in
    a graph of any number of operations, takes as long as three. The graph and its values are those of the operations,
    and what is zero whatever the symbols are is no entry of the result. A call in MX would remain a call: there the
    operations are carried out.
    """
    graphs: dict[tuple[tuple[int, ...], ...], ca.Function] = {}

    @functools.wraps(write)
    def put_in(*arguments: Any) -> Any:
        if any(isinstance(x, ca.MX) for x in arguments):
            return write(*arguments)
        shapes = tuple(getattr(x, "shape", ()) for x in arguments)
        if shapes not in graphs:
            inputs = [ca.SX.sym(f"x{k}", *shape) for k, shape in enumerate(shapes)]
            graphs[shapes] = ca.Function("kernel", inputs, [write(*inputs)])
        return ca.sparsify(graphs[shapes](*arguments))

    return cast(Written, put_in)


def constant(values: ArrayLike | ca.SX) -> Matrix:
    """Numbers as a sparse DM, symbols as a sparse SX: a zero of a model never enters a graph."""
    return ca.sparsify(values if isinstance(values, ca.SX) else ca.DM(np.asarray(values, dtype=float)))


def entries(x: Matrix) -> Any:
    """The inverse of :func:`constant`: a frozen array of numbers, of one axis for a column; a sparse SX of symbols."""
    if isinstance(x, ca.SX) and not x.is_constant():
        return ca.sparsify(x)
    values = ca.evalf(x).full()
    return frozen(values.ravel() if values.shape[1] == 1 else values)


def skew(w: Matrix) -> Matrix:
    """Skew matrix [w×], the 3 × 3 matrix with ``skew(w) @ x == cross(w, x)``."""
    return ca.skew(w)


@kernel
def spin(alpha: Matrix, omega: Matrix) -> Matrix:
    """The matrix U = [α×] + [ω×][ω×]: a point at x of a link with ω, α accelerates by U x against the origin."""
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    xy, xz, yz = omega[0] * omega[1], omega[0] * omega[2], omega[1] * omega[2]
    return rows(
        (-(yy + zz), xy - alpha[2], xz + alpha[1]),
        (xy + alpha[2], -(xx + zz), yz - alpha[0]),
        (xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )


def rows(*entries: Sequence[Any]) -> Matrix:
    """A matrix from its rows."""
    return ca.vertcat(*(ca.horzcat(*row) for row in entries))


@kernel
def congruence(r: Matrix, s: Matrix) -> Matrix:
    """The product R S Rᵀ of a symmetric S, each pair of equal entries computed once."""
    return symmetric(r @ s @ r.T)


def symmetric(m: Matrix) -> Matrix:
    """The upper triangle of M, and its mirror image below."""
    n = m.shape[0]
    return rows(*([m[min(i, j), max(i, j)] for j in range(n)] for i in range(n))) if n else m


@kernel
def inertia_of(j: Matrix) -> Matrix:
    """The inertia tensor tr(J) 1 − J of a 3 × 3 pseudo-inertia J = ∫x xᵀ; up to a factor, the inverse map, too."""
    return ca.diag(ca.vertcat(j[1, 1] + j[2, 2], j[0, 0] + j[2, 2], j[0, 0] + j[1, 1])) - (j - ca.diag(ca.diag(j)))


def pseudo_inertia_of(i: Matrix) -> Matrix:
    """The pseudo-inertia ½ tr(I) 1 − I = ∫x xᵀ of an inertia tensor I."""
    return 0.5 * ca.trace(i) * ca.DM.eye(3) - i


def transform(r: Matrix, p: Matrix) -> Matrix:
    """The 4 × 4 homogeneous matrix of a rotation R and a translation p."""
    return ca.vertcat(ca.horzcat(r, p), ca.DM([[0, 0, 0, 1]]))


def axis_rotation(axis: ArrayLike, cosine: Matrix, sine: Matrix) -> Matrix:
    """Rotation about a constant unit axis by the angle with the given cosine and sine (Rodrigues)."""
    return _axis_rotation(constant(axis), cosine, sine)


@kernel
def _axis_rotation(axis: Matrix, cosine: Matrix, sine: Matrix) -> Matrix:
    outer = axis @ axis.T
    return outer + cosine * (ca.DM.eye(3) - outer) + sine * skew(axis)


def cross_columns(columns: Matrix, x: Matrix) -> Matrix:
    """The cross product w × x of each column w."""
    return -skew(x) @ columns


def outer(x: Matrix) -> Matrix:
    """The product x xᵀ, each pair of equal entries computed once."""
    return congruence(x, ca.DM(1))


def twist(linear: Matrix, angular: Matrix) -> Matrix:
    """The 4 × 4 matrix [[ω×], x; 0, 0] of a twist (x; ω)."""
    return ca.vertcat(ca.horzcat(skew(angular), linear), ca.DM(1, 4))


def translation(x: Matrix) -> Matrix:
    """The 4 × 4 matrix with x in its last column and zeros elsewhere."""
    return ca.horzcat(ca.DM(4, 3), ca.vertcat(x, 0))

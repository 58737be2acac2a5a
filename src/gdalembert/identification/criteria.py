"""How well a motion determines parameters: smooth functions of the information matrix Wᵀ W, and the condition of W."""

from __future__ import annotations

import casadi as ca
import numpy as np

from gdalembert.spatial.arrays import Array

CRITERIA = ("determinant", "condition")


def criterion(name: str, size: int) -> ca.Function:
    """(information) → (cost), of an information matrix A = Wᵀ W (size × size).

    ``"determinant"``: −½ log det A / size, the mean logarithm of the semi-axes of the confidence ellipsoid.
    ``"condition"``: ½ log(tr A tr A⁻¹), the logarithm of the condition number of W in Frobenius' norm. It is smooth, at
    least the condition number in the spectral norm, and at most its ``size``-fold.
    """
    information = ca.SX.sym("information", size, size)
    factor = ca.chol(information)  # A = Rᵀ R
    if name == "determinant":
        cost = -ca.sum1(ca.log(ca.diag(factor))) / size
    else:
        inverse = ca.solve(factor.T, ca.SX.eye(size))
        cost = ca.log(ca.trace(information) * ca.sumsqr(inverse)) / 2
    return ca.Function("criterion", [information], [cost], ["information"], ["cost"])


def condition_number(w: Array) -> float:
    """Of W, with its columns of unit length: within √n of the smallest that any scaling of columns reaches.

    (van der Sluis, "Condition numbers and equilibration of matrices", Numerische Mathematik 14, 1969.)
    """
    values = np.linalg.svd(w / np.linalg.norm(w, axis=0), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")

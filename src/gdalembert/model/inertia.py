"""The pseudo-inertia of a link, and mass, centre of mass and inertia tensor as views of it.

J = ∫ x̂ x̂ᵀ dm with x̂ = (x, y, z, 1): 4 × 4, about the origin of the link frame, in its axes, numbers or symbols. It is
all that a link needs: [[∫ x xᵀ, m c], [m cᵀ, m]]. The way from (m, c, I) to J and back loses the last bits of c and I,
those that the products m c and m c cᵀ are rounded by. The views leave these out: they are rounded to the decimal digits
that J holds, so that 0.35 kg m² in a URDF is 0.35 again and what cancels is zero. Symbols come back as they were.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.model.rounding import PRODUCT_ERROR, known_digits
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen


def pseudo_inertia(mass: Any, com: npt.ArrayLike | ca.SX, inertia: npt.ArrayLike | ca.SX) -> Any:
    """J of a body: an array (4 × 4, frozen) of numbers, a sparse SX of symbols.

    Args:
        mass: m [kg].
        com: centre of mass c in the link frame (3, m).
        inertia: tensor I about the centre of mass, axes of the link frame (3 × 3, kg m²).
    """
    c = spatial.constant(com)
    first = mass * c
    second = spatial.symmetric(spatial.pseudo_inertia_of(spatial.constant(inertia)) + first @ c.T)
    j = spatial.rows((second, first), (first.T, mass))
    return ca.sparsify(j) if isinstance(j, ca.SX) else frozen(j.full())


def mass_of(j: Array | ca.SX) -> Any:
    """m [kg]."""
    return j[3, 3] if isinstance(j, ca.SX) else float(j[3, 3])


def center_of_mass(j: Array | ca.SX) -> Any:
    """c in the link frame (3, m); zero for a link without mass."""
    if isinstance(j, ca.SX):
        return _symbolic_center(j)
    c = j[:3, 3] / j[3, 3] if j[3, 3] else np.zeros(3)
    return frozen(known_digits(c, PRODUCT_ERROR * np.abs(c)))


def central_inertia(j: Array | ca.SX) -> Any:
    """I about the centre of mass, axes of the link frame (3 × 3, kg m²)."""
    if isinstance(j, ca.SX):
        # one common subexpression m c cᵀ, so that it cancels
        at_com = ca.cse([spatial.symmetric(j[:3, :3] - j[:3, 3] @ _symbolic_center(j).T)])[0]
        return ca.sparsify(ca.simplify(spatial.inertia_of(ca.simplify(at_com))))
    whole, part = j[:3, :3], np.outer(j[:3, 3], j[:3, 3]) / (j[3, 3] or 1.0)
    size = np.abs(whole) + np.abs(part)
    error = PRODUCT_ERROR * (size + np.trace(size) * np.eye(3))
    return frozen(known_digits(spatial.inertia_of(spatial.constant(whole - part)).full(), error))


def _symbolic_center(j: ca.SX) -> Matrix:
    return ca.DM(3, 1) if j[3, 3].is_zero() else ca.sparsify(j[:3, 3] / j[3, 3])

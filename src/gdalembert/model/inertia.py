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
from gdalembert.model.rounding import PRODUCT_ERROR, clean_product, known_digits
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, frozen


def pseudo_inertia(mass: Any, com: npt.ArrayLike | ca.SX, inertia: npt.ArrayLike | ca.SX) -> Any:
    """The pseudo-inertia of m, c in the link frame and I about c, in its axes: a frozen array, or a sparse SX."""
    c = spatial.constant(com)
    first = mass * c
    # Symmetric by writing it once: products rounded apart would make two numbers of one constant.
    second = spatial.symmetric(spatial.pseudo_inertia_of(spatial.constant(inertia)) + first @ c.T)
    j = spatial.rows((second, first), (first.T, mass))
    return ca.sparsify(j) if isinstance(j, ca.SX) else frozen(j.full())


DYNAMIC_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Names of the dynamic parameters of a body, in the order of ``pin.Inertia.toDynamicParameters``."""


def dynamic_parameters(j: Array | ca.SX) -> Matrix:
    """The parameters m, m c and the inertia tensor about the origin (10): what torques and energies are linear in.

    In the order of ``pin.Inertia.toDynamicParameters``, see :data:`DYNAMIC_PARAMETERS` [kg, kg m, kg m²].
    """
    full = spatial.constant(j)
    tensor = spatial.inertia_of(full[:3, :3])
    upper = [tensor[i, k] for k in range(3) for i in range(k + 1)]
    return ca.vertcat(full[3, 3], full[:3, 3], *upper)


def pseudo_inertia_of(p: Matrix) -> Matrix:
    """The pseudo-inertia (4 × 4) of a body with the dynamic parameters p (10)."""
    mass, first, (xx, xy, yy, xz, yz, zz) = p[0], p[1:4], ca.vertsplit(p[4:])
    second = spatial.pseudo_inertia_of(spatial.rows((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return spatial.rows((second, first), (first.T, mass))


def transformed(frame: Array | ca.SX, j: Array | ca.SX) -> Any:
    """The pseudo-inertia F J Fᵀ of a body in a frame in which its own frame is placed at F (4 × 4)."""
    if isinstance(j, ca.SX) or isinstance(frame, ca.SX):
        return ca.sparsify(spatial.congruence(spatial.constant(frame), spatial.constant(j)))
    return frozen(clean_product(frame, j, frame.T))


def difference(j: Array | ca.SX, part: Array | ca.SX) -> Any:
    """The pseudo-inertia without a part of it."""
    return entries(j - part)


def mass_of(j: Array | ca.SX) -> Any:
    """The mass m [kg]."""
    return j[3, 3] if isinstance(j, ca.SX) else float(j[3, 3])


def center_of_mass(j: Array | ca.SX) -> Any:
    """The centre of mass c in the link frame (3, m); zero for a link without mass."""
    if isinstance(j, ca.SX):
        return _symbolic_center(j)
    c = j[:3, 3] / j[3, 3] if j[3, 3] else np.zeros(3)
    return frozen(known_digits(c, PRODUCT_ERROR * np.abs(c)))


def central_inertia(j: Array | ca.SX) -> Any:
    """The inertia tensor I about the centre of mass, in the axes of the link frame (3 × 3, kg m²)."""
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

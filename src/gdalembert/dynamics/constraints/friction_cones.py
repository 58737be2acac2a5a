"""Friction cones: which forces and wrenches a contact with dry friction can bear, as margins that are at least 0.

A point bears f if it is pressed and does not slip, n being the normal of the ground, towards the robot,

    n·f ≥ 0        |f_t| ≤ μ n·f        f_t = f − (n·f) n                                              (Coulomb)

and a pyramid with the sides d_k around n, |d_k| = 1, makes linear functions of it, d_k·f ≤ μ' n·f with

    μ' = μ              the sides touch the cone (circumscribed)
    μ' = μ cos(π/N)     the edges lie on it (inscribed)

A rectangular sole, 2X long and 2Y wide, bears a wrench (f; m) about its centre if forces at its corners make it, each
in a pyramid of four sides along the sole's. These are conditions (i) to (iii) of the abstract of S. Caron, Q.-C. Pham,
Y. Nakamura, Stability of surface contacts for humanoid robots: closed-form formulae of the contact wrench cone for
rectangular support areas, ICRA 2015, pp. 5107–5112:

    |f_x| ≤ μ' f_z      |f_y| ≤ μ' f_z                                                      (i) no slip
    |m_x| ≤ Y f_z       |m_y| ≤ X f_z                                  (ii) centre of pressure in the sole
    |m_z| ≤ μ' (X + Y) f_z − |Y f_x ± μ' m_x| − |X f_y ± μ' m_y|     (iii) no yaw; + for m_z, − for −m_z

Both bounds of m_z are four linear functions each. That all of this is the cone of the corners' forces, neither more nor
less, the tests find again from these forces.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.errors import ArgumentError, shown
from gdalembert.model.rounding import NEGLIGIBLE, clean_matrix
from gdalembert.spatial.arguments import checked_transform, choice, integer, number, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.spatial_vectors import Wrench

_PYRAMIDS = ("inscribed", "circumscribed")
_FORMS = ("squared", "norm", *_PYRAMIDS)


@interruptible
def friction_cone(
    mu: float,
    normal: npt.ArrayLike = (0.0, 0.0, 1.0),
    *,
    form: str = "squared",
    edges: int | None = None,
    smoothing: float | None = None,
) -> ca.Function:
    """(force) → (margin): by how much a force (3) [N] on a robot is in its friction cone; outside an entry is negative.

    * ``"squared"``: (n·f, μ² (n·f)² − |f_t|²) [N, N²], polynomials; the gradient of the second is 0 at f = 0.
    * ``"norm"``: μ n·f − √(|f_t|² + smoothing²) [N], concave; it leaves out what is nearer to the cone than that.
    * ``"inscribed"``, ``"circumscribed"``: linear [N], one entry for each side of a pyramid in or around the cone. The
      first side faces x, seen along the ground (y, where the normal is x).

    Force and normal are in the same axes. The forces of a :class:`~gdalembert.ConstrainedDynamics` are in those of the
    contact's frame; of a foot that turns on the ground, turn them with it: ``cone(kin.frame_placement(foot)(q)[:3, :3]
    @ force)``.

    Args:
        mu: coefficient of friction.
        normal: of the ground, towards the robot (3), of any length.
        form: of the margin.
        edges: of a pyramid, at least 3; 4 by default.
        smoothing: of the norm [N]; 1e-3 by default.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """
    function_name = "friction_cone"
    number(f"{function_name}: mu", mu)
    choice(f"{function_name}: form", form, _FORMS)
    for name, value, forms in (("edges", edges, _PYRAMIDS), ("smoothing", smoothing, ("norm",))):
        if value is not None and form not in forms:
            of = " or ".join(f"form={other!r}" for other in forms)
            raise ArgumentError(
                f"{function_name}: {name}={shown(value)} has no part in form={form!r}; drop it, or take {of}"
            )
    n = unit_vector(f"{function_name}: normal", normal, "the direction from the ground to the robot")
    edges = integer(f"{function_name}: edges", 4 if edges is None else edges, 3)
    s = symbols(force=3)
    pressure, slip = spatial.constant(n).T @ s["force"], spatial.constant(axes_across(n)) @ s["force"]
    if form in _PYRAMIDS:
        angles = 2 * np.pi * np.arange(edges) / edges
        sides = spatial.constant(clean_matrix(np.column_stack([np.cos(angles), np.sin(angles)])))
        margin = _of_pyramid(mu, edges, form) * pressure - sides @ slip
    elif form == "norm":
        rounded = number(f"{function_name}: smoothing", 1e-3 if smoothing is None else smoothing, "N")
        margin = mu * pressure - ca.sqrt(ca.sumsqr(slip) + rounded**2)
    else:
        margin = ca.vertcat(pressure, (mu * pressure) ** 2 - ca.sumsqr(slip))
    return function(function_name, s, {"margin": margin})


@interruptible
def wrench_cone(
    mu: float, half_length: float, half_width: float, *, form: str = "inscribed", sole: Any = None
) -> ca.Function:
    """(wrench) → (margin): by how much a wrench (6) on a robot is in the cone of a flat rectangular foot (16).

    All 16 are linear in the wrench (f; m) [N, N m]: four that the foot does not slip [N], four that the centre of
    pressure (−m_y, m_x) / f_z is in the sole [N m], eight that it does not turn about its normal [N m].

    Args:
        mu: coefficient of friction.
        half_length, half_width: of the sole, along x and y [m].
        form: ``"inscribed"``: the force at each corner is in a pyramid inside its friction cone, so that the foot
            stands; ``"circumscribed"``: in one around it, as the source has it.
        sole: where the centre of the sole is in the frame of the wrench, with x along its length, and z its normal
            towards the robot: a ``pin.SE3`` or 4 × 4 numbers. By default that frame itself.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """
    function_name = "wrench_cone"
    number(f"{function_name}: mu", mu)
    x, y = (
        number(f"{function_name}: half_length", half_length, "m"),
        number(f"{function_name}: half_width", half_width, "m"),
    )
    mu = _of_pyramid(mu, 4, choice(f"{function_name}: form", form, _PYRAMIDS))
    s = symbols(wrench=6)
    wrench = Wrench(s["wrench"][:3], s["wrench"][3:])
    if sole is not None:
        placement = checked_transform(f"{function_name}: sole", sole, expected="a pin.SE3 or 4 × 4 numbers")
        wrench = wrench.seen_from(spatial.constant(placement[:3, :3]), spatial.constant(placement[:3, 3]))
    f_x, f_y, f_z, m_x, m_y, m_z = (part[k] for part in (wrench.force, wrench.moment) for k in range(3))
    bounds = [(mu * f_z, f_x), (mu * f_z, f_y), (y * f_z, m_x), (x * f_z, m_y)]
    margins = [most - sign * value for most, value in bounds for sign in (1, -1)]
    for turn, a, b in product((1, -1), repeat=3):
        lost = a * (y * f_x + turn * mu * m_x) + b * (x * f_y + turn * mu * m_y)
        margins.append(mu * (x + y) * f_z - lost - turn * m_z)
    return function(function_name, s, {"margin": ca.vertcat(*margins)})


def _of_pyramid(mu: float, edges: int, form: str) -> float:
    """The coefficient μ' of the sides of a pyramid."""
    return mu if form == "circumscribed" else mu * float(np.cos(np.pi / edges))


def unit_vector(argument: str, value: npt.ArrayLike, wanted: str = "a direction") -> Array:
    """A direction (3) of length 1."""
    direction = vector(argument, value, 3, names="xyz")
    if not direction.any():
        raise ArgumentError(f"{argument} is zero (0, 0, 0); give {wanted}")
    direction = direction / np.abs(direction).max()  # its square may overflow
    return frozen(clean_matrix(direction / np.linalg.norm(direction)))


def axes_across(n: Array) -> Array:
    """Two axes across a unit vector (2 × 3), the first along x, or y where that is x."""
    x, y = (along - n * (n @ along) for along in np.eye(3)[:2])
    first = x if np.linalg.norm(x) > NEGLIGIBLE else y
    first = first / np.linalg.norm(first)
    return clean_matrix(np.stack([first, np.cross(n, first)]))

"""Values of the parameters for a motion: refused before anything runs if no robot has them."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ModelError
from gdalembert.model.from_pinocchio import check_body
from gdalembert.model.inertia import center_of_mass, central_inertia, mass_of
from gdalembert.model.regrouping import RegroupedTree
from gdalembert.model.rounding import SINGULAR, least_moment
from gdalembert.spatial.algebra import constant
from gdalembert.spatial.arrays import Array


def physical_parameters(context: str, dyn: Dynamics, p: Values = None) -> Array:
    """The vector p (n_p) as numbers that a robot can have.

    Every link has the inertia of a body: no negative mass, and no negative principal moment, and every joint moves
    inertia. No armature, stiffness or friction is negative.

    A payload may be negative, as long as the link that carries it is still a body. Base parameters do not say what the
    links are: :func:`check_mass_matrix` is what can be asked of them. Messages begin with ``context``, and name the
    joint and the number.
    """
    if not dyn.parameters:
        dyn.parameters.refuse(context, p)
        return dyn.parameters.values
    values = dyn.parameters.vector(p, f"{context}: p")
    tree = dyn.tree
    bodies = [] if isinstance(tree, RegroupedTree) else [j for j in tree.joints if isinstance(j.pseudo_inertia, ca.SX)]
    symbols = [ca.densify(ca.SX(x)) for x in (*(joint.pseudo_inertia for joint in bodies), constant(tree.armature))]
    *inertias, rotors = ca.Function("constants", [dyn.parameters.symbols], symbols).call([ca.DM(values)])
    if dyn.parameters.idle_in_model or any(float(body[3, 3]) == 0 for body in inertias):
        dyn.require_inertia_of(context, values)
    for joint, body in zip(bodies, inertias, strict=True):
        _check_link(f"{context}: joint {joint.name!r}", body.full())
    for name, x in zip(tree.velocity_names, rotors.full().ravel(), strict=True):
        if x < 0:
            raise ArgumentError(
                f"{context}: joint {name!r} has the negative armature {x:.9g} with this p; give at least 0"
            )
    not_negative = {quantity for force in dyn.forces for quantity in force.not_negative}
    below_one = {quantity for force in dyn.forces for quantity in force.below_one}
    for name, x in zip(dyn.parameters.names, values, strict=True):
        if x < 0 and name.rpartition(".")[2] in not_negative:
            raise ArgumentError(f"{context}: p[{name!r}] is {x:.9g}; give at least 0")
        if x >= 1 and name.rpartition(".")[2] in below_one:
            raise ArgumentError(f"{context}: p[{name!r}] is {x:.9g}; give less than 1, or the joint is blocked")
    return values


def replaced(dyn: Dynamics, values: Array, p: Values) -> Values:
    """The parameters p, where names that are missing have these values, not those of the model."""
    if p is None:
        return values
    return dict(zip(dyn.parameters.names, values.tolist(), strict=True)) | dict(p) if isinstance(p, Mapping) else p


def columns(p: Array, count: int) -> list[Array]:
    """The vector p (n_p) as the last input of a Function at ``count`` states, a column for each; empty without."""
    return [np.tile(p[:, None], (1, count))] if len(p) else []


def check_mass_matrix(context: str, dyn: Dynamics, q: Array, p: Array) -> None:
    """Refuse base parameters with which M is not positive definite at q."""
    if not isinstance(dyn.tree, RegroupedTree):
        return
    m = dyn.mass_matrix(q, p).full()
    size = np.sqrt(np.maximum(np.abs(np.diag(m)), np.finfo(float).tiny))
    least = float(np.linalg.eigvalsh(m / np.outer(size, size))[0])
    if not least > SINGULAR:
        raise ArgumentError(
            f"{context}: M is not positive definite at the start with this p: its least eigenvalue is {least:.3g}, "
            "scaled to a diagonal of ones; give base parameters of bodies"
        )


def _check_link(context: str, body: Array) -> None:
    """Refuse a pseudo-inertia (4 × 4) that is not that of a body."""
    if mass_of(body) == 0 and (moment := float(np.abs(body[:3, 3]).max())) > 0:
        raise ArgumentError(
            f"{context}: with this p its link has no mass, but the first moment of mass {moment:.9g} kg m; give both"
        )
    link = pin.Inertia.Zero()  # which the constructor would refuse in its own words
    link.mass, link.lever, link.inertia = mass_of(body), center_of_mass(body), central_inertia(body)
    if (moment := least_moment(link.inertia, link.mass)) < 0:
        raise ArgumentError(
            f"{context}: with this p its link has the negative principal moment {moment:.9g} kg m² about the centre of "
            "mass: Ixx, Ixy, … are about the origin, where the mass alone has m (c·c 1 − c cᵀ); give those of "
            "pin.Inertia(m, c, I).toDynamicParameters(), and check the signs of Ixy, Ixz, Iyz"
        )
    try:
        check_body(context, link, "with this p its link")
    except ModelError as error:
        raise ArgumentError(str(error)) from None

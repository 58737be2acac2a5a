"""What is asked of a flexible arm: small vibrations, rest, linearisation, and how far a motion strains the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.statics import joint_torques
from gdalembert.errors import ArgumentError
from gdalembert.flexible.model_validity import Validity
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import choice, table, vector
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from gdalembert.flexible.flexible_arm import FlexibleArm

_CONVERGED = 1e-24
"""Energy of the last step of Newton's method over that of the deflection."""
_AT_REST = 1e-6
"""Relative to the largest effort: what may be left of the forces at a configuration that counts as at rest."""


def natural_frequencies(arm: FlexibleArm, q: npt.ArrayLike, joints: str) -> Array:
    """See :meth:`FlexibleArm.natural_frequencies`."""
    choice("natural_frequencies: joints", joints, ("locked", "free"))
    m = arm.mass_matrix(vector("natural_frequencies: q", q, arm.tree.nq)).full()
    chosen = range(arm.tree.nv) if joints == "free" else range(arm.modes.start, arm.tree.nv)
    index = np.ix_(chosen, chosen)
    stiffness = arm._passive_derivatives[0].full()[index]
    half = np.linalg.inv(np.linalg.cholesky(m[index]))
    squares = np.linalg.eigvalsh(half @ stiffness @ half.T)
    # K alone, in units of its own diagonal, says how many of them are zero; in the products it is lost in rounding
    unit = np.sqrt(np.where(stiffness.diagonal() > 0, stiffness.diagonal(), 1.0))
    rigid = np.linalg.eigvalsh(stiffness / np.outer(unit, unit)) < 1e-12
    squares[: np.count_nonzero(rigid)] = 0
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def static_deflection(
    arm: FlexibleArm,
    q: npt.ArrayLike,
    frame: str | None,
    wrench: npt.ArrayLike | None,
    reference: pin.ReferenceFrame | None,
) -> Array:
    """See :meth:`FlexibleArm.static_deflection`."""
    where = "static_deflection"
    configuration = vector(f"{where}: q", q, arm.tree.nq).copy()
    push: Matrix = ca.DM(arm.tree.nv, 1)
    s = arm.symbols("q")
    if len({frame is None, wrench is None, reference is None}) > 1:
        raise ArgumentError(f"{where}: give frame, wrench and reference= (pin.LOCAL, …) together")
    if frame is not None and wrench is not None:
        push = joint_torques(arm.tree, frame, reference, clean=0)(s["q"], vector(f"{where}: wrench", wrench, 6))
    zero = ca.DM(arm.tree.nv, 1)
    rest = arm.generalized_gravity_expression(s["q"]) + arm._passive_torque(s["q"], zero) - push
    free = slice(arm.modes.start, arm.tree.nv)
    first = free.start + arm.tree.nq - arm.tree.nv
    residual = ca.Function("residual", [s["q"]], [rest[free], ca.jacobian(rest[free], s["q"])[:, first:]])
    for _ in range(50):
        force, slope = (x.full() for x in residual(configuration))
        try:
            step = np.linalg.solve(slope, force.ravel())
        except np.linalg.LinAlgError:
            break
        configuration[first:] -= step
        # by energies: modes have different units
        with np.errstate(over="ignore", invalid="ignore"):
            last, whole = (abs(x @ slope @ x) for x in (step, configuration[first:]))
        if not np.isfinite(whole):
            break
        if last <= _CONVERGED * whole:
            if np.linalg.eigvals(slope).real.min(initial=np.inf) > 0:
                return configuration
            raise ArgumentError(
                f"{where}: the equilibrium next to q is not stable, as of a beam that buckles; load the arm less, "
                "or start from a q whose modes are bent"
            )
    raise ArgumentError(
        f"{where}: Newton's method finds no equilibrium from q; the forces on modes and rotors still differ by up "
        f"to {np.abs(force).max():.3g}; load the arm less, or start from a q closer to the equilibrium"
    )


def linearize(
    arm: FlexibleArm, q: npt.ArrayLike, v: npt.ArrayLike | None, u: npt.ArrayLike | None
) -> tuple[Array, Array]:
    """See :meth:`FlexibleArm.linearize`."""
    nv = arm.tree.nv
    configuration = vector("linearize: q", q, arm.tree.nq)
    rate = np.zeros(nv) if v is None else vector("linearize: v", v, nv)
    effort = np.zeros(arm.actuation.shape[1]) if u is None else vector("linearize: u", u, arm.actuation.shape[1])
    if u is None:
        asked = arm.nle(configuration, rate).full().ravel()
        effort = np.linalg.lstsq(arm.actuation, asked, rcond=None)[0]
        left = np.abs(asked - arm.actuation @ effort)
        if v is None and left.max() > _AT_REST * max(1.0, np.abs(asked).max()):
            raise ArgumentError(
                f"linearize: nothing holds {arm.layout[int(left.argmax())]!r} at q, where a force of "
                f"{left.max():.3g} is left on it; start from static_deflection(q), or give u"
            )
    m = arm.mass_matrix(configuration).full()
    acceleration = np.linalg.solve(m, arm.actuation @ effort - arm.nle(configuration, rate).full().ravel())
    by_q, by_v = (x.full() for x in arm.inverse_dynamics_derivatives(configuration, rate, acceleration))
    return (
        np.block([[np.zeros((nv, nv)), np.eye(nv)], [-np.linalg.solve(m, by_q), -np.linalg.solve(m, by_v)]]),
        np.vstack([np.zeros_like(arm.actuation), np.linalg.solve(m, arm.actuation)]),
    )


def validity(
    arm: FlexibleArm, q: npt.ArrayLike, v: npt.ArrayLike | None, a: npt.ArrayLike | None, u: npt.ArrayLike | None
) -> dict[str, Validity]:
    """See :meth:`FlexibleArm.validity`."""
    tree, nu = arm.tree, arm.actuation.shape[1]
    if a is not None and u is not None:
        raise ArgumentError("validity: got a and u; give one of them")
    rows = table("validity: q", q, tree.nq)
    count = len(rows)
    rates = np.zeros((count, tree.nv)) if v is None else table("validity: v", v, tree.nv, count)
    if u is not None:
        states = np.hstack([rows, rates]).T
        accelerations = arm.state_derivative(states, table("validity: u", u, nu, count).T).full()[tree.nq :].T
    else:
        accelerations = np.zeros((count, tree.nv)) if a is None else table("validity: a", a, tree.nv, count)
    if not arm.assembly.spans:
        return {}
    slope, spin, load = (x.full().max(axis=1) for x in arm.indicators(rows.T, rates.T, accelerations.T))
    return {
        span.link: Validity(
            link=span.link,
            slope=float(slope[k]),
            spin=float(spin[k]) / span.frequency,
            load=float(load[k]) / span.buckling_load,
            frequency=span.frequency,
            buckling_load=span.buckling_load,
            foreshortening=span.foreshortening,
        )
        for k, span in enumerate(arm.assembly.spans.values())
    }

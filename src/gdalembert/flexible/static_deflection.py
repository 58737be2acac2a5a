"""Rest: where gravity, a wrench and the forces leave the modes and rotors."""

from __future__ import annotations

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.statics import joint_torques
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import vector
from gdalembert.spatial.arrays import Array

_CONVERGED = 1e-24
"""Energy of the last step of Newton's method over that of the deflection."""


def static_deflection(
    arm: Dynamics,
    q: npt.ArrayLike,
    frame: str | None,
    wrench: npt.ArrayLike | None,
    reference: pin.ReferenceFrame | None,
) -> Array:
    """See :meth:`~gdalembert.FlexibleArm.static_deflection`."""
    where = "static_deflection"
    configuration = vector(f"{where}: q", q, arm.tree.nq).copy()
    push: Matrix = ca.DM(arm.tree.nv, 1)
    s = arm.symbols("q")
    if len({frame is None, wrench is None, reference is None}) > 1:
        raise ArgumentError(f"{where}: give frame, wrench and reference= (pin.LOCAL, …) together")
    if frame is not None and wrench is not None:
        push = joint_torques(arm.tree, frame, reference, clean=0)(s["q"], vector(f"{where}: wrench", wrench, 6))
    zero = ca.DM(arm.tree.nv, 1)
    rest = arm.generalized_gravity_expression(s["q"]) + arm.force_torque_expression(s["q"], zero) - push
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

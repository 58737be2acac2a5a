"""Rest: where gravity, a wrench and the forces leave the modes and rotors."""

from __future__ import annotations

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.frames import find_frame
from gdalembert.dynamics.statics import joint_torques
from gdalembert.errors import ArgumentError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

_CONVERGED = 1e-24
"""Energy of the last step of Newton's method over that of the deflection."""
_OFF = 1e-9
"""The part of a wrench that may point out of the plane of an arm."""


@interruptible
def static_deflection(
    arm: Dynamics,
    tree: FlexibleTree,
    assembly: Assembly,
    q: npt.ArrayLike,
    frame: str | None,
    wrench: npt.ArrayLike | None,
    reference: pin.ReferenceFrame | None,
) -> Array:
    """See :meth:`~gdalembert.FlexibleArm.static_deflection`; ``tree`` is the arm in numbers."""
    where = "static_deflection"
    configuration = _configuration(f"{where}: q", arm, q)
    push: Matrix = ca.DM(arm.tree.nv, 1)
    s = arm.symbols("q")
    if len({frame is None, wrench is None, reference is None}) > 1:
        raise ArgumentError(f"{where}: give frame, wrench and reference= (pin.LOCAL, …) together")
    if frame is not None and wrench is not None:
        given = vector(f"{where}: wrench", wrench, 6)
        push = joint_torques(arm.tree, frame, reference, clean=0)(s["q"], given)
        _check_wrench(tree, assembly, configuration, frame, given, reference)
    zero = ca.DM(arm.tree.nv, 1)
    alone = arm.under() if arm.external_wrenches.is_input else arm
    rest = alone.inverse_dynamics(s["q"], zero, zero) - push
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


def _configuration(what: str, arm: Dynamics, q: npt.ArrayLike) -> Array:
    """q (nq): the joints held, and the initial guess of modes and rotors, zero where q is that of the joints alone."""
    nq, of_joints = arm.tree.nq, arm.tree.nq - arm.tree.nv + arm.modes.start
    given = numbers(what, q)
    if given.shape not in ((nq,), (nq, 1), (of_joints,), (of_joints, 1)):
        raise ArgumentError(f"{what} has shape {given.shape}; give ({nq},), or ({of_joints},) of the joints alone")
    return np.concatenate([given.ravel(), np.zeros(nq - given.size)])


def _check_wrench(
    tree: FlexibleTree, assembly: Assembly, q: Array, frame: str, wrench: Array, reference: pin.ReferenceFrame | None
) -> None:
    """Refuse a wrench that bends a link in a direction in which its modes are left out.

    Raises:
        ArgumentError: naming the link.
    """
    at = tree.frames[find_frame(tree, frame)]
    r, origin = (x.full() for x in placement(tree, at, ca.DM(q)))
    force, moment = wrench[:3], wrench[3:]
    if reference == pin.ReferenceFrame.LOCAL:
        force, moment = r @ force, r @ moment
    elif reference == pin.ReferenceFrame.WORLD:
        moment = moment - np.cross(origin.ravel(), force)
    carriers = tree.path(at.joint)
    for name, direction in assembly.left_out:
        beam = assembly.beams[name]
        root, start = (x.full() for x in placement(tree, tree.frames[find_frame(tree, beam.root)], ca.DM(q)))
        normal = root[:, 1 if direction == "bending_y" else 2]
        bends = tree.links[beam.link] in carriers and np.linalg.norm(origin - start) > _OFF * beam.length
        off = abs(force @ normal) + np.linalg.norm(np.cross(normal, moment)) / beam.length
        size = np.linalg.norm(force) + np.linalg.norm(moment) / beam.length
        if bends and off > _OFF * size:
            raise ArgumentError(
                f"static_deflection: the wrench bends link {name!r} in {direction[-1]}, where it has no modes, since "
                f"nothing in the model bends it there; give the link {direction}="
            )

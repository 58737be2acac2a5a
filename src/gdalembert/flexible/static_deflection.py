"""Rest: where gravity, a wrench and the forces leave the modes and rotors."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.frames import find_frame
from gdalembert.dynamics.wrenches import joint_torques
from gdalembert.errors import ArgumentError, BeamWarning
from gdalembert.flexible.assembly import Flexibility
from gdalembert.flexible.elastic_forces import Stiffness
from gdalembert.flexible.model_validity import STEEP, tip_slope
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

_CONVERGED = 1e-12
"""The last step of Newton's method over the deflection, as roots of energies."""
_NOISE = 1e-9
"""Below this part of the deflection, steps need not contract."""
_MOST_STEPS = 50
"""Iterations of Newton's method."""
_LEAST_LOAD = 1e-4
"""The smallest step of load."""
_HALVINGS = 12
"""Halvings of a step of Newton's method, before the whole step is taken after all."""
_OFF = 1e-9
"""The part of a wrench that may point out of the plane of an arm."""


_UNSTABLE = (
    "static_deflection: the equilibrium next to q is not stable, as of a beam that buckles; load the arm less, or "
    "start from a q whose modes are bent about as far as you expect"
)


@interruptible
def static_deflection(
    arm: Dynamics,
    tree: Tree,
    flexibility: Flexibility,
    q: npt.ArrayLike,
    frame: str | None,
    wrench: npt.ArrayLike | None,
    reference: pin.ReferenceFrame | None,
) -> Array:
    """See :meth:`~gdalembert.FlexibleArm.static_deflection`; ``tree`` is the arm in numbers."""
    where, given = "static_deflection", numbers("static_deflection: q", q)
    nq, nv, held = arm.tree.nq, arm.tree.nv, arm.tree.nq - arm.tree.nv + arm.modes.start
    if given.shape not in ((nq,), (nq, 1), (held,), (held, 1)):
        raise ArgumentError(f"{where}: q has shape {given.shape}; give ({nq},), or ({held},) of the joints alone")
    guess = np.pad(given.ravel(), (0, nq - given.size))
    x, load, zero = ca.SX.sym("x", nq - held), ca.SX.sym("load"), ca.DM(nv, 1)
    bent = ca.vertcat(ca.DM(guess[:held]), x)
    push: Matrix = zero
    if len({frame is None, wrench is None, reference is None}) > 1:
        raise ArgumentError(f"{where}: give frame, wrench and reference= (pin.LOCAL, …) together")
    if frame is not None and wrench is not None:
        acting = vector(f"{where}: wrench", wrench, 6)
        push = joint_torques(arm.tree, frame, reference, clean=0)(bent, acting)
        _check_wrench(tree, flexibility, guess, frame, acting, reference)
    alone, free = arm.under() if arm.external_wrenches.is_input else arm, slice(arm.modes.start, nv)
    elastic = sum((each.torque(bent, zero) for each in arm.forces if isinstance(each, Stiffness)), zero)
    forces = (elastic + load * (alone.inverse_dynamics(bent, zero, zero) - push - elastic))[free]
    residual = ca.Function("residual", [x, load], [forces, ca.jacobian(forces, x)])
    stiffness = sum(flexibility.stiffness.values(), np.zeros((nv, nv)))[free, free]
    newton = Newton(residual, np.asarray(np.linalg.inv(np.linalg.cholesky(stiffness))))
    found = np.concatenate([guess[:held], (newton.damped if guess[held:].any() else newton.loaded)(guess[held:])])
    for name, beam in flexibility.beams.items():
        if (slope := float(tip_slope(tree, beam, ca.DM(found)))) > STEEP:
            warn(
                f"{where}: link {name!r}: its tip slopes by {slope:.3g} rad, and assumed modes are meant for "
                f"less than {STEEP:g} rad; take a gd.CosseratRod for the link, or load the arm less",
                BeamWarning,
            )
    return found


@dataclass(frozen=True)
class Newton:
    """Newton's method for the modes and rotors x at rest.

    Attributes:
        residual: (x, load) → (forces on them, slope), load being the part of all forces but the elastic ones.
        compliance: L⁻¹ of their stiffness L Lᵀ, by which forces and deflections have one unit.
    """

    residual: ca.Function
    compliance: Array

    def loaded(self, x: Array) -> Array:
        """Follow the deflection from the unloaded arm, in steps of load in which Newton's method contracts at once.

        (P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, chapter 5.)
        """
        load, more, stable = 0.0, 1.0, True
        while load < 1:
            ahead = min(load + more, 1.0)
            found = self._contracted(x, ahead)
            if found is not None and (stable := self._is_stable(found, ahead)):
                x, load, more = found, ahead, 2 * more
                continue
            more /= 2
            if more < _LEAST_LOAD:
                raise self._lost(x) if stable else ArgumentError(_UNSTABLE)
        return x

    def damped(self, x: Array) -> Array:
        """Newton's method from a guess, in steps that are halved until the forces (as energies) are smaller."""
        for _ in range(_MOST_STEPS):
            step = self._step(x, 1.0)
            if step is None:
                break
            parts, before = 0.5 ** np.arange(_HALVINGS), self._energy(x)
            step = step * next((part for part in parts if self._energy(x - part * step) < before), 1.0)
            x = x - step
            if self._length(step) <= _CONVERGED * self._length(x):
                if self._is_stable(x, 1.0):
                    return x
                raise ArgumentError(_UNSTABLE)
        raise self._lost(x)

    def _contracted(self, x: Array, load: float) -> Array | None:
        """The equilibrium, if each step is at most half as long as the one before."""
        length = np.inf
        for _ in range(_MOST_STEPS):
            step = self._step(x, load)
            if step is None or self._length(step) > max(length / 2, _NOISE * self._length(x)):
                return None
            x, length = x - step, self._length(step)
            if length <= _CONVERGED * self._length(x):
                return x if np.isfinite(self.residual(x, load)[1].full()).all() else None
        return None

    def _step(self, x: Array, load: float) -> Array | None:
        force, slope = (each.full() for each in self.residual(x, load))
        try:
            step: Array = np.linalg.solve(slope, force.ravel())
        except np.linalg.LinAlgError:
            return None
        return step if np.isfinite(step).all() else None

    def _length(self, deflection: Array) -> float:
        """The root of the elastic energy, but for a factor: modes have different units."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.linalg.norm(np.linalg.solve(self.compliance.T, deflection)))

    def _energy(self, x: Array) -> float:
        """The root of the elastic energy of the forces at rest, which vanish in an equilibrium."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.linalg.norm(self.compliance @ self.residual(x, 1.0)[0].full()))

    def _is_stable(self, x: Array, load: float) -> bool:
        slope = self.residual(x, load)[1].full()
        return bool(np.linalg.eigvals(slope).real.min(initial=np.inf) > 0)

    def _lost(self, x: Array) -> ArgumentError:
        force = self.residual(x, 1.0)[0].full()
        return ArgumentError(
            "static_deflection: Newton's method finds no equilibrium from q; the forces on modes and rotors still "
            f"differ by up to {np.abs(force).max():.3g}; load the arm less, or start from a q closer to the equilibrium"
        )


def _check_wrench(
    tree: Tree, flexibility: Flexibility, q: Array, frame: str, wrench: Array, reference: pin.ReferenceFrame | None
) -> None:
    """Refuse a wrench that bends a link in a direction in which its modes are left out."""
    at = tree.frames[find_frame(tree, frame)]
    r, origin = (x.full() for x in placement(tree, at, ca.DM(q)))
    force, moment = wrench[:3], wrench[3:]
    if reference == pin.ReferenceFrame.LOCAL:
        force, moment = r @ force, r @ moment
    elif reference == pin.ReferenceFrame.WORLD:
        moment = moment - np.cross(origin.ravel(), force)
    carriers = tree.path(at.joint)
    for name, direction in flexibility.left_out:
        beam = flexibility.beams[name]
        root, start = (x.full() for x in placement(tree, tree.frames[find_frame(tree, beam.root)], ca.DM(q)))
        normal = root[:, 1 if direction == "bending_y" else 2]
        bends = beam.link in carriers and np.linalg.norm(origin - start) > _OFF * beam.length
        off = abs(force @ normal) + np.linalg.norm(np.cross(normal, moment)) / beam.length
        size = np.linalg.norm(force) + np.linalg.norm(moment) / beam.length
        if bends and off > _OFF * size:
            raise ArgumentError(
                f"static_deflection: the wrench bends link {name!r} in {direction[-1]}, where it has no modes, since "
                f"nothing in the model bends it there; give the link {direction}="
            )

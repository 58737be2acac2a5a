"""Rest: where gravity, a wrench and the forces leave the modes and rotors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.frames import find_frame
from gdalembert.dynamics.wrenches import joint_torques
from gdalembert.errors import ArgumentError
from gdalembert.flexible.assembly import Flexibility
from gdalembert.flexible.elastic_forces import Stiffness
from gdalembert.flexible.flexible_link import stack_level
from gdalembert.flexible.model_validity import STEEP, tip_slope
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

_CONVERGED = 1e-12
"""The last step of Newton's method over the deflection, as roots of energies."""
_NOISE = 1e-9
"""Below this part of the deflection, steps need not contract."""
_MOST_STEPS = 50
"""Of Newton's method."""
_LEAST_LOAD = 1e-4
"""The smallest step of load."""
_HALVINGS = 12
"""Of a step of Newton's method, before the whole step is taken after all."""
_OFF = 1e-9
"""The part of a wrench that may point out of the plane of an arm."""


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
    where = "static_deflection"
    configuration = _configuration(f"{where}: q", arm, q)
    push: Matrix = ca.DM(arm.tree.nv, 1)
    s = arm.symbols("q")
    if len({frame is None, wrench is None, reference is None}) > 1:
        raise ArgumentError(f"{where}: give frame, wrench and reference= (pin.LOCAL, …) together")
    if frame is not None and wrench is not None:
        given = vector(f"{where}: wrench", wrench, 6)
        push = joint_torques(arm.tree, frame, reference, clean=0)(s["q"], given)
        _check_wrench(tree, flexibility, configuration, frame, given, reference)
    zero = ca.DM(arm.tree.nv, 1)
    alone = arm.under() if arm.external_wrenches.is_input else arm
    rest = alone.inverse_dynamics(s["q"], zero, zero) - push
    free = slice(arm.modes.start, arm.tree.nv)
    first = free.start + arm.tree.nq - arm.tree.nv
    elastic = sum((each.torque(s["q"], zero) for each in arm.forces if isinstance(each, Stiffness)), zero)
    load = ca.SX.sym("load")
    forces = (elastic + load * (rest - elastic))[free]
    residual = ca.Function("residual", [s["q"], load], [forces, ca.jacobian(forces, s["q"])[:, first:]])
    stiffness = sum(flexibility.stiffness.values(), np.zeros((arm.tree.nv,) * 2))[free, free]
    newton = Newton(residual, first, np.asarray(np.linalg.inv(np.linalg.cholesky(stiffness))))
    found = newton.damped(configuration) if configuration[first:].any() else newton.loaded(configuration)
    _warn_of_slopes(tree, flexibility, found)
    return found


@dataclass(frozen=True)
class Newton:
    """Newton's method for the modes and rotors at rest, q[first:].

    Attributes:
        residual: (q, load) → (forces on them, slope), load being the part of all forces but the elastic ones.
        compliance: L⁻¹ of their stiffness L Lᵀ, by which forces and deflections have one unit.
    """

    residual: ca.Function
    first: int
    compliance: Array

    def loaded(self, q: Array) -> Array:
        """Follow the deflection from the unloaded arm, in steps of load in which Newton's method contracts at once.

        (P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, chapter 5.)
        """
        load, more, stable = 0.0, 1.0, True
        while load < 1:
            found = self._contracted(q, min(load + more, 1.0))
            if found is not None and (stable := self._is_stable(found, min(load + more, 1.0))):
                q, load, more = found, min(load + more, 1.0), 2 * more
                continue
            more /= 2
            if more < _LEAST_LOAD:
                raise _unstable() if not stable else self._lost(q)
        return q

    def damped(self, q: Array) -> Array:
        """Newton's method from a guess, in steps that are halved until the forces are smaller."""
        for _ in range(_MOST_STEPS):
            step = self._step(q, 1.0)
            if step is None:
                break
            step = step * _step_length(step, q, lambda x: self.compliance @ self.residual(x, 1.0)[0].full().ravel())
            q = self._moved(q, step)
            if self._has_converged(q, step):
                if self._is_stable(q, 1.0):
                    return q
                raise _unstable()
        raise self._lost(q)

    def _contracted(self, q: Array, load: float) -> Array | None:
        """The equilibrium, if each step is at most half as long as the one before."""
        length = np.inf
        for _ in range(_MOST_STEPS):
            step = self._step(q, load)
            if step is None:
                return None
            new = self._length(step)
            if new > max(length / 2, _NOISE * self._length(q[self.first :])):
                return None
            q, length = self._moved(q, step), new
            if self._has_converged(q, step):
                return q if np.isfinite(self.residual(q, load)[1].full()).all() else None
        return None

    def _step(self, q: Array, load: float) -> Array | None:
        force, slope = (x.full() for x in self.residual(q, load))
        try:
            step: Array = np.linalg.solve(slope, force.ravel())
        except np.linalg.LinAlgError:
            return None
        return step if np.isfinite(step).all() else None

    def _moved(self, q: Array, step: Array) -> Array:
        return np.concatenate([q[: self.first], q[self.first :] - step])

    def _length(self, deflection: Array) -> float:
        """The root of the elastic energy, but for a factor: modes have different units."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.linalg.norm(np.linalg.solve(self.compliance.T, deflection)))

    def _has_converged(self, q: Array, step: Array) -> bool:
        return self._length(step) <= _CONVERGED * self._length(q[self.first :])

    def _is_stable(self, q: Array, load: float) -> bool:
        slope = self.residual(q, load)[1].full()
        return bool(np.linalg.eigvals(slope).real.min(initial=np.inf) > 0)

    def _lost(self, q: Array) -> ArgumentError:
        force = self.residual(q, 1.0)[0].full()
        return ArgumentError(
            "static_deflection: Newton's method finds no equilibrium from q; the forces on modes and rotors still "
            f"differ by up to {np.abs(force).max():.3g}; load the arm less, or start from a q closer to the equilibrium"
        )


def _unstable() -> ArgumentError:
    return ArgumentError(
        "static_deflection: the equilibrium next to q is not stable, as of a beam that buckles; load the arm less, or "
        "start from a q whose modes are bent about as far as you expect"
    )


def _warn_of_slopes(tree: Tree, flexibility: Flexibility, q: Array) -> None:
    """Warn of beams that bend further than their modes are meant to."""
    for name, beam in flexibility.beams.items():
        if (slope := float(tip_slope(tree, beam, ca.DM(q)))) > STEEP:
            warnings.warn(
                f"static_deflection: link {name!r}: its tip slopes by {slope:.3g} rad, and assumed modes are meant for "
                f"less than {STEEP:g} rad; take a gd.CosseratRod for the link, or load the arm less",
                stacklevel=stack_level(),
            )


def _step_length(step: Array, configuration: Array, residual: Callable[[Array], Array]) -> float:
    """The part of a Newton step, a power of ½, that makes the residual (an energy, squared) smaller; or all of it."""
    whole = np.pad(step, (len(configuration) - len(step), 0))
    with np.errstate(over="ignore", invalid="ignore"):
        before = np.linalg.norm(residual(configuration))
        for length in 0.5 ** np.arange(_HALVINGS):
            if np.linalg.norm(residual(configuration - length * whole)) < before:
                return float(length)
    return 1.0


def _configuration(what: str, arm: Dynamics, q: npt.ArrayLike) -> Array:
    """q (nq): the joints held, and the initial guess of modes and rotors, zero where q is that of the joints alone."""
    nq, of_joints = arm.tree.nq, arm.tree.nq - arm.tree.nv + arm.modes.start
    given = numbers(what, q)
    if given.shape not in ((nq,), (nq, 1), (of_joints,), (of_joints, 1)):
        raise ArgumentError(f"{what} has shape {given.shape}; give ({nq},), or ({of_joints},) of the joints alone")
    return np.concatenate([given.ravel(), np.zeros(nq - given.size)])


def _check_wrench(
    tree: Tree, flexibility: Flexibility, q: Array, frame: str, wrench: Array, reference: pin.ReferenceFrame | None
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

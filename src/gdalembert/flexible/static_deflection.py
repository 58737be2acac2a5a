"""Rest: where gravity, a wrench and the forces leave what bends.

The coordinates x that are not held have the stiffness K = L Lᵀ. Newton's method works in y = Lᵀ (x − x₀), where x₀ is
undeformed: elastic forces are then y itself, whatever the shapes of modes and their units, and nothing is lost to
rounding where K is nearly singular, as that of polynomials.
"""

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
from gdalembert.spatial.arguments import vector, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

_CONVERGED = 1e-12
"""The last step of Newton's method over the deflection, as roots of energies."""
_NOISE = 1e-9
"""Below this part of the deflection, steps that no longer contract are rounding."""
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
    acting: tuple[str | None, npt.ArrayLike | None, pin.ReferenceFrame | None],
    hold: str,
) -> Array:
    """See :meth:`~gdalembert.FlexibleArm.static_deflection`; ``tree`` is the arm in numbers, ``acting`` the wrench."""
    context, frame, wrench, reference = "static_deflection", *acting
    guess = arm.configuration(f"{context}: q", q)
    if len({argument is None for argument in acting}) > 1:
        raise ArgumentError(f"{context}: give frame, wrench and reference= (pin.LOCAL, …) together")
    free = [*arm.modes, *range(arm.modes.stop, tree.nv)]
    places, undeformed = [tree.nq - tree.nv + k for k in free], np.array(guess)
    rotors, swinging = places[len(arm.modes) :], [joint.idx_q for joint in arm.flexible_joints]
    if hold == "motors":
        free = [*(joint.idx_v for joint in arm.flexible_joints), *arm.modes]
        places, rotors, swinging = [*swinging, *places[: len(arm.modes)]], swinging, rotors
    undeformed[places] = 0
    undeformed[rotors] = guess[swinging]
    root = _root(arm, free)
    shapes = np.zeros((tree.nq, len(free)))
    shapes[places] = np.linalg.inv(root).T
    y, load = ca.SX.sym("y", len(free)), ca.SX.sym("load")
    bent = ca.DM(undeformed) + ca.sparsify(ca.DM(shapes)) @ y
    push: Matrix = ca.DM(tree.nv, 1)
    if frame is not None and wrench is not None:
        force = vector(f"{context}: wrench", wrench, 6)
        push = joint_torques(arm.tree, frame, reference, clean=0)(bent, force)
        _check_wrench(tree, flexibility, guess, frame, force, reference)
    rest = arm.under() if arm.external_wrenches.is_input else arm
    forces = y + load * (ca.sparsify(ca.DM(np.linalg.inv(root))) @ (_loads(rest, bent) - push)[free])
    newton = Newton(ca.Function("residual", [y, load], [forces, ca.jacobian(forces, y)]), root)
    begin = root.T @ (guess - undeformed)[places]
    deflected = undeformed + shapes @ (newton.damped(begin) if begin.any() else newton.loaded(begin))
    for name, beam in flexibility.beams.items():
        if (slope := float(tip_slope(tree, beam, ca.DM(deflected)))) > STEEP:
            warn(
                f"{context}: link {name!r}: its tip slopes by {slope:.3g} rad, and assumed modes are meant for "
                f"less than {STEEP:g} rad; take a gd.CosseratRod for the link, or load the arm less",
                BeamWarning,
            )
    for line in arm.bending_warnings(deflected[None]):
        warn(f"{context}: {line}", BeamWarning)
    return deflected


def _root(arm: Dynamics, free: list[int]) -> Array:
    """L of the stiffness of some coordinates."""
    matrices = (force.matrix for force in arm.forces if isinstance(force, Stiffness))
    stiffness: Array = ca.evalf(sum(matrices, ca.DM(arm.tree.nv, arm.tree.nv))).full()
    try:
        return np.asarray(np.linalg.cholesky(stiffness[np.ix_(free, free)]))
    except np.linalg.LinAlgError:
        weak = arm.coordinate_names[free[int(stiffness.diagonal()[free].argmin())]]
        raise ArgumentError(
            f"static_deflection: the stiffness of {arm.tree.name} is singular, as at {weak!r}; give factors above 0"
        ) from None


def _loads(arm: Dynamics, q: Matrix) -> Matrix:
    """tau (nv) at rest without that of the stiffness."""
    zero = ca.DM(arm.tree.nv, 1)
    others = sum((force.torque(q, zero) for force in arm.forces if not isinstance(force, Stiffness)), zero)
    wrenches = arm.wrench_torque_expression(q, arm.wrenches_of({}))
    return arm.generalized_gravity_expression(q) + wrenches + others


@dataclass(frozen=True)
class Newton:
    """Newton's method for y, the deflection of which the square is twice the elastic energy.

    Attributes:
        residual: (y, load) → (forces on it, slope), load being the part of all forces but the elastic ones.
        root: L, by which forces on x are those on y.
    """

    residual: ca.Function
    root: Array

    def loaded(self, y: Array) -> Array:
        """Follow the deflection from the unloaded arm, in steps of load in which Newton's method contracts at once.

        (P. Deuflhard, Newton Methods for Nonlinear Problems, 2004, chapter 5.)
        """
        # the whole load at once: a straight rod of EI 1 N m² and 0.8 kg has its equilibrium at 50 m/s²; from 100 m/s²
        # on Newton's steps end in a singular slope, and halved ones at none or at an unstable one
        load, more, stable = 0.0, 1.0, True
        while load < 1:
            ahead = min(load + more, 1.0)
            contracted = self._contracted(y, ahead)
            if contracted is not None and (stable := self._is_stable(contracted, ahead)):
                y, load, more = contracted, ahead, 2 * more
                continue
            more /= 2
            if more < _LEAST_LOAD:
                raise self._lost(y) if stable else ArgumentError(_UNSTABLE)
        return y

    def damped(self, y: Array) -> Array:
        """Newton's method from a guess, in steps that are halved until the forces are smaller."""
        length = np.inf
        for _ in range(_MOST_STEPS):
            step = self._step(y, 1.0)
            if step is None:
                break
            parts, before = 0.5 ** np.arange(_HALVINGS), self._size(y)
            step = step * next((part for part in parts if self._size(y - part * step) < before), 1.0)
            y, last, length = y - step, length, _length(step)
            if _is_rounding(length, last, y):
                if self._is_stable(y, 1.0):
                    return y
                raise ArgumentError(_UNSTABLE)
        raise self._lost(y)

    def _contracted(self, y: Array, load: float) -> Array | None:
        """The equilibrium, if each step is at most half as long as the one before."""
        length = np.inf
        for _ in range(_MOST_STEPS):
            step = self._step(y, load)
            if step is None:
                return None
            y, last, length = y - step, length, _length(step)
            if _is_rounding(length, last, y):
                return y if np.isfinite(self.residual(y, load)[1].full()).all() else None
            if length > last / 2:
                return None
        return None

    def _step(self, y: Array, load: float) -> Array | None:
        force, slope = (value.full() for value in self.residual(y, load))
        try:
            step: Array = np.linalg.solve(slope, force.ravel())
        except np.linalg.LinAlgError:
            return None
        return step if np.isfinite(step).all() else None

    def _size(self, y: Array) -> float:
        """The size of the forces at rest, which vanish in an equilibrium."""
        return _length(self.residual(y, 1.0)[0].full())

    def _is_stable(self, y: Array, load: float) -> bool:
        slope = self.residual(y, load)[1].full()
        return bool(np.linalg.eigvals(slope).real.min(initial=np.inf) > 0)

    def _lost(self, y: Array) -> ArgumentError:
        force = self.root @ self.residual(y, 1.0)[0].full()
        return ArgumentError(
            "static_deflection: Newton's method finds no equilibrium from q; the forces on modes and flexible joints "
            f"still differ by up to {np.abs(force).max():.3g}; load the arm less, or start from a q closer to the "
            "equilibrium"
        )


def _is_rounding(length: float, last: float, y: Array) -> bool:
    """True if a step is so short, or as short as rounding lets it become."""
    size = _length(y)
    return length <= _CONVERGED * size or (length > last / 2 and length <= _NOISE * size)


def _length(deflection: Array) -> float:
    """The root of twice the elastic energy."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(deflection))


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

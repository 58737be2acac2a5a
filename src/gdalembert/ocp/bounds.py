"""Bounds of an optimal control problem: the limits of a model, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.configuration import unit_blocks
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.tree import Tree
from gdalembert.ocp.steps import check_dynamics
from gdalembert.ocp.systems import Robot
from gdalembert.spatial.arrays import Array, frozen

Range = float | tuple[float, float]
"""(lower, upper), or one number for −number to number."""

NEGLIGIBLE = 1e-6
"""A smaller excess counts as none: solvers relax bounds by 1e-8 of them."""

_NO_LIMIT = 1e100
"""A larger limit of a model is none: it is infinite, or the largest double."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of q (nq) [rad, m], v (nv) [rad/s, m/s] and u (nu) [N m, N]; infinite if there are none.

    Attributes:
        q_names, v_names: names of the entries: the joint, with ``[k]`` appended if it has several.
        u_names: names of the actuators (:attr:`~gdalembert.Dynamics.actuator_names`).
    """

    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    u_names: tuple[str, ...]
    q_lower: Array
    q_upper: Array
    v_lower: Array
    v_upper: Array
    u_lower: Array
    u_upper: Array

    @classmethod
    def of(
        cls,
        dyn: Robot,
        model: pin.Model | None = None,
        *,
        q: Mapping[str, Range] | None = None,
        v: Mapping[str, Range] | None = None,
        u: Mapping[str, Range] | None = None,
    ) -> Bounds:
        """The limits of a model; bounds by name replace them.

        Quaternions, pairs (cos, sin), modes and rotors have no bounds. A joint with an effort limit of 0 is passive:
        its u is 0. So is a free-flyer. With a B of your own, an actuator that drives one joint alone has its effort
        limit, divided by the entry of B; the effort of any other, and those of a Function, are not bounded, and no
        free-flyer is passive.

        Args:
            dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`.
            model: the model of ``dyn``, with ``lowerPositionLimit``, ``upperPositionLimit``, ``velocityLimit`` and
                ``effortLimit``. Without it there are only the bounds by name.
            q, v, u: bounds by the names of the entries, (lower, upper) or one number for −number to number.

        Raises:
            ArgumentTypeError: if an argument has another type.
            UnknownNameError: if no entry has a name.
            ArgumentError: if the model is another robot's, or a range is empty; the message names the joint.
        """
        if isinstance(dyn, ConstrainedDynamics):
            dyn = dyn.dynamics
        check_dynamics("Bounds.of", dyn)
        tree = dyn.tree
        joints, v_names = dyn.modes.start, dyn.coordinate_names
        names = {"q": _configuration_names(tree, joints, v_names), "v": v_names, "u": dyn.actuator_names}
        lower = {key: np.full(len(entries), -np.inf) for key, entries in names.items()}
        upper = {key: np.full(len(entries), np.inf) for key, entries in names.items()}
        if model is not None:
            _check_model(model, tree, joints)
            behind = tree.nq - tree.nv
            lower["q"][: joints + behind] = model.lowerPositionLimit
            upper["q"][: joints + behind] = model.upperPositionLimit
            for _, start, stop in unit_blocks(tree):
                lower["q"][start:stop], upper["q"][start:stop] = -np.inf, np.inf
            lower["v"][:joints], upper["v"][:joints] = -model.velocityLimit, model.velocityLimit
            upper["u"] = _effort_limits(dyn, model.effortLimit)
            lower["u"] = -upper["u"]
        unactuated = [joint for joint in tree.joints if dyn.actuators.are_default and not joint.type.is_actuated]
        passive = {v_names[i] for joint in unactuated for i in joint.columns if i < joints}
        held = [name in passive for name in names["u"]]
        lower["u"][held], upper["u"][held] = 0.0, 0.0
        for key, given in {"q": q, "v": v, "u": u}.items():
            _set(key, given, names[key], lower[key], upper[key])
        for key, entries in names.items():
            lower[key][lower[key] < -_NO_LIMIT] = -np.inf
            upper[key][upper[key] > _NO_LIMIT] = np.inf
            _check(tree.name, key, entries, lower[key], upper[key])
        arrays = (frozen(x) for key in names for x in (lower[key], upper[key]))
        return cls(tuple(names["q"]), tuple(names["v"]), tuple(names["u"]), *arrays)

    @property
    def passive(self) -> tuple[str, ...]:
        """Names of the entries of u that are fixed at 0."""
        held = (self.u_lower == 0) & (self.u_upper == 0)
        return tuple(name for name, zero in zip(self.u_names, held, strict=True) if zero)

    def check_drives(self, tree: Tree) -> None:
        """Refuse a floating robot all of whose actuators are held at 0.

        Raises:
            ArgumentError: with what to do.
        """
        floating = [joint.name for joint in tree.joints if not joint.type.is_actuated]
        if floating and len(self.passive) == len(self.u_names):
            raise ArgumentError(
                f"{tree.name}: nothing drives it: joint {floating[0]!r} has no actuators, and all of u are held at 0; "
                "give the robot actuation=B (nv × nu), or bounds u={name: (lower, upper)}"
            )

    def check(self, what: str, x: Array, key: str) -> None:
        """Raises ArgumentError unless x, q or v (``key``), lies within its bounds."""
        names, lower, upper = (getattr(self, f"{key}_{part}") for part in ("names", "lower", "upper"))
        outside = np.flatnonzero((x < lower) | (x > upper))
        if len(outside):
            i = int(outside[0])
            raise ArgumentError(
                f"{what} of {names[i]!r} is {x[i]:.6g}, outside its bounds ({lower[i]:.6g}, {upper[i]:.6g})"
            )

    def excess(self, q: npt.ArrayLike, v: npt.ArrayLike) -> dict[str, float]:
        """The largest violation of the bounds by rows of q (N × nq) and v (N × nv), by name, where it is above 1e-6."""
        found: dict[str, float] = {}
        for names, rows, lower, upper in (
            (self.q_names, np.asarray(q), self.q_lower, self.q_upper),
            (self.v_names, np.asarray(v), self.v_lower, self.v_upper),
        ):
            over = np.maximum(lower - rows, rows - upper).max(axis=0)
            found |= {
                (f"rate of {name}" if names is self.v_names else name): float(x)
                for name, x in zip(names, over, strict=True)
                if x > NEGLIGIBLE
            }
        return found


def _configuration_names(tree: Tree, joints: int, v_names: tuple[str, ...]) -> tuple[str, ...]:
    names = [""] * (tree.nq - tree.nv + joints)
    for joint in tree.joints:
        if joint.scaling is None and joint.idx_q < len(names):
            for k in range(joint.type.nq):
                names[joint.idx_q + k] = joint.name if joint.type.nq == 1 else f"{joint.name}[{k}]"
    return (*names, *v_names[joints:])


def _effort_limits(dyn: Dynamics, of_joints: Array) -> Array:
    """The largest effort of each actuator (nu), infinite if the joints' do not say it."""
    by_name = dict(zip(dyn.coordinate_names, np.where(of_joints > _NO_LIMIT, np.inf, of_joints), strict=False))
    return dyn.actuators.effort_limits(dyn.driven_names, by_name)


def _check_model(model: object, tree: Tree, joints: int) -> None:
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"Bounds.of: model is a {type(model).__name__}; give the pin.Model of the dynamics")
    if model.nv != joints or name_of(model) != tree.name:
        raise ArgumentError(
            f"Bounds.of: the model is {name_of(model)!r} with nv = {model.nv}, the dynamics are of {tree.name!r} with "
            f"{joints}; give the model of the dynamics"
        )


def _set(key: str, given: object, names: tuple[str, ...], lower: Array, upper: Array) -> None:
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"Bounds.of: {key}={given!r}; give {{name: (lower, upper)}}")
    for name, ends in given.items():
        if name not in names:
            raise UnknownNameError(f"entry of {key}", name, names)
        try:
            number = float(ends) if np.ndim(ends) == 0 else None
            low, high = (0.0 - number, number) if number is not None else (float(x) for x in ends)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentTypeError(f"Bounds.of: {key}: {name!r}: {shown(ends)}; give (lower, upper)") from None
        lower[names.index(name)], upper[names.index(name)] = low, high


def _check(robot: str, key: str, names: tuple[str, ...], lower: Array, upper: Array) -> None:
    may_be_held = key == "u"
    for name, low, high in zip(names, lower, upper, strict=True):
        if not (low < high or (may_be_held and low == high)):
            what = {"q": "position", "v": "velocity", "u": "effort"}[key]
            raise ArgumentError(
                f"{robot}: joint {name!r}: its {what} has the bounds ({low:.9g}, {high:.9g}); give others, as "
                f"{key}={{{name!r}: (lower, upper)}}"
            )

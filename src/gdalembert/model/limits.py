"""Limits of a robot: of q, v and u by name, and the torques and motions over which an error is bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.configuration import unit_blocks
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arguments import table, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief

Range: TypeAlias = float | tuple[float, float]
"""(lower, upper), or one number for −number to number."""
Ranges: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike] | Array
"""(lower, upper), a number for all or one for each."""

NEGLIGIBLE = 1e-6
"""A smaller excess, relative to bounds above 1, counts as none: solvers relax bounds by 1e-8 of them."""

NO_LIMIT = 1e100
"""A larger limit of a model is none: it is infinite, or the largest double."""


@runtime_checkable
class Robot(Protocol):
    """The attributes of a robot that bounds need, as those of a :class:`~gdalembert.Dynamics`."""

    tree: Tree
    modes: range
    actuators: Any
    coordinate_names: tuple[str, ...]
    driven_names: tuple[str, ...]
    actuator_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Bounds(Brief):
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
        dyn: Any,
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
        robot = getattr(dyn, "dynamics", dyn)
        if not isinstance(robot, Robot) or not isinstance(robot.tree, Tree):
            raise ArgumentTypeError(f"Bounds.of takes a Dynamics, as gd.NewtonEuler(model), not {type(dyn).__name__}")
        tree = robot.tree
        joints, v_names = robot.modes.start, robot.coordinate_names
        position_sizes = [(joint.name, joint.type.nq) for joint in tree.independent_joints if joint.idx_v < joints]
        q_names = [name if nq == 1 else f"{name}[{k}]" for name, nq in position_sizes for k in range(nq)]
        names = {"q": (*q_names, *v_names[joints:]), "v": v_names, "u": robot.actuator_names}
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
        lower["u"], upper["u"] = _effort_limits(robot, model)
        unactuated = [joint for joint in tree.joints if robot.actuators.are_default and not joint.type.is_actuated]
        passive = {v_names[i] for joint in unactuated for i in joint.columns if i < joints}
        held = [name in passive for name in names["u"]]
        lower["u"][held], upper["u"][held] = 0.0, 0.0
        for key, ranges in {"q": q, "v": v, "u": u}.items():
            _set(key, ranges, names[key], lower[key], upper[key])
        _check_tensions(robot, lower["u"])
        for key, entries in names.items():
            lower[key][lower[key] < -NO_LIMIT] = -np.inf
            upper[key][upper[key] > NO_LIMIT] = np.inf
            _check(tree.name, key, entries, lower[key], upper[key])
        arrays = (frozen(x) for key in names for x in (lower[key], upper[key]))
        return cls(tuple(names["q"]), tuple(names["v"]), tuple(names["u"]), *arrays)

    @property
    def passive(self) -> tuple[str, ...]:
        """Names of the entries of u that are fixed at 0."""
        held = (self.u_lower == 0) & (self.u_upper == 0)
        return tuple(name for name, zero in zip(self.u_names, held, strict=True) if zero)

    def check_drives(self, tree: Tree) -> None:
        """Raises ArgumentError for a floating robot all of whose actuators are held at 0."""
        floating = [joint.name for joint in tree.joints if not joint.type.is_actuated]
        if floating and len(self.passive) == len(self.u_names):
            raise ArgumentError(
                f"{tree.name}: nothing drives it: joint {floating[0]!r} has no actuators, and all of u are held at 0; "
                "give the robot actuation=B (nv × nu), or bounds u={name: (lower, upper)}"
            )

    def within(self, what: str, x: Array, key: str) -> Array:
        """The entries x of q or v (``key``), moved to a bound that they exceed by 1e-6 or less, as those of solvers do.

        Raises:
            ArgumentError: if an entry lies farther outside; NaN, an entry without a value, does not.
        """
        names, lower, upper = (getattr(self, f"{key}_{part}") for part in ("names", "lower", "upper"))
        clipped = np.clip(x, lower, upper)
        outside = np.flatnonzero(np.abs(x - clipped) > NEGLIGIBLE * np.maximum(1.0, np.abs(clipped)))
        if len(outside):
            i = int(outside[0])
            ends = f"({lower[i]:.9g}, {upper[i]:.9g})"
            raise ArgumentError(f"{what} of {names[i]!r} is {x[i]:.9g}, outside its bounds {ends}")
        return frozen(clipped)

    def excess(self, q: npt.ArrayLike, v: npt.ArrayLike) -> dict[str, float]:
        """The largest violation of the bounds by rows of q (N × nq) and v (N × nv), by name, where it is above 1e-6.

        Raises:
            ArgumentTypeError, ArgumentError: if they are no such rows.
        """
        excesses: dict[str, float] = {}
        for prefix, names, rows, lower, upper in (
            ("", self.q_names, table("excess: q", q, len(self.q_names)), self.q_lower, self.q_upper),
            ("rate of ", self.v_names, table("excess: v", v, len(self.v_names)), self.v_lower, self.v_upper),
        ):
            over = np.maximum(lower - rows, rows - upper).max(axis=0)
            excesses |= {prefix + name: float(x) for name, x in zip(names, over, strict=True) if x > NEGLIGIBLE}
        return excesses


def _effort_limits(robot: Robot, model: pin.Model | None) -> tuple[Array, Array]:
    """Least and largest effort of each actuator (nu), infinite if the joints' do not say it."""
    of_joints = np.array([]) if model is None else np.where(model.effortLimit > NO_LIMIT, np.inf, model.effortLimit)
    by_name = dict(zip(robot.coordinate_names, of_joints, strict=False))
    least, most = robot.actuators.effort_limits(robot.driven_names, by_name)
    return np.array(least), np.array(most)


def _check_tensions(robot: Robot, lower: Array) -> None:
    for name, least, tension in zip(robot.actuator_names, _effort_limits(robot, None)[0], lower, strict=True):
        if tension < least:
            raise ArgumentError(
                f"{robot.tree.name}: {name!r} is a tendon, which cannot push, and its least tension is {tension:g}; "
                f"give u={{{name!r}: (0, largest)}}"
            )


def _check_model(model: object, tree: Tree, joints: int) -> None:
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"Bounds.of: model is a {type(model).__name__}; give the pin.Model of the dynamics")
    if model.nv != joints or name_of(model) != tree.name:
        raise ArgumentError(
            f"Bounds.of: the model is {name_of(model)!r} with nv = {model.nv}, the dynamics are of {tree.name!r} with "
            f"{joints}; give the model of the dynamics"
        )


def _set(key: str, ranges: object, names: tuple[str, ...], lower: Array, upper: Array) -> None:
    if ranges is None:
        return
    if not isinstance(ranges, Mapping):
        raise ArgumentTypeError(f"Bounds.of: {key}={shown(ranges)}; give {{name: (lower, upper)}}")
    for name, ends in ranges.items():
        if name not in names:
            raise UnknownNameError(f"entry of {key}", name, names)
        try:
            number = float(ends) if np.ndim(ends) == 0 else None
            low, high = (0.0 - number, number) if number is not None else (float(x) for x in ends)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentTypeError(f"Bounds.of: {key}: {name!r}: {shown(ends)}; give (lower, upper)") from None
        lower[names.index(name)], upper[names.index(name)] = low, high


def _check(robot: str, key: str, names: tuple[str, ...], lower: Array, upper: Array) -> None:
    for name, low, high in zip(names, lower, upper, strict=True):
        if not (low < high or (key == "u" and low == high)):
            quantity = {"q": "position", "v": "velocity", "u": "effort"}[key]
            raise ArgumentError(
                f"{robot}: joint {name!r}: its {quantity} has the bounds ({low:.9g}, {high:.9g}); give others, as "
                f"{key}={{{name!r}: (lower, upper)}}"
            )


@dataclass(frozen=True)
class Limits(Brief):
    """Largest torque, velocity and acceleration of each entry of v, and the range of each distance.

    Attributes:
        tau: [N m or N]. v: [rad/s or m/s]. a: [rad/s² or m/s²]. All nv, positive and finite.
        lower, upper: of each coordinate [rad or m]; NaN where the model has none that can be used.
    """

    tau: Array
    v: Array
    a: Array
    lower: Array
    upper: Array


def limits_of(
    model: pin.Model | Tree,
    tree: Tree,
    joints: Sequence[Joint],
    *,
    tau_max: npt.ArrayLike | None,
    v_max: npt.ArrayLike | None,
    a_max: npt.ArrayLike,
    q_range: Ranges | None,
) -> Limits:
    """The limits that are given, or else those of the model: ``effortLimit``, ``velocityLimit``, position limits."""
    described = model if isinstance(model, pin.Model) else None
    columns = [joint.idx_q for joint in joints]
    if q_range is not None:
        try:
            first, last = q_range
        except (TypeError, ValueError):
            hint = f"give (lower, upper), each {tree.nv} numbers or one"
            raise ArgumentTypeError(f"q_range={shown(q_range)}: {hint}") from None
        lower, upper = (vector("q_range", x, tree.nv, finite=False, repeat=True) for x in (first, last))
    elif described is not None:
        lower, upper = described.lowerPositionLimit[columns], described.upperPositionLimit[columns]
    else:
        lower, upper = np.full((2, tree.nv), np.nan)
    tau = _positive("tau_max", tau_max, "effortLimit", described, tree)
    v = _positive("v_max", v_max, "velocityLimit", described, tree)
    a = _positive("a_max", a_max, None, described, tree)
    return Limits(tau, v, a, frozen(lower), frozen(upper))


def _positive(
    name: str, limits: npt.ArrayLike | None, attribute: str | None, model: pin.Model | None, tree: Tree
) -> Array:
    if limits is not None:
        values, source = vector(name, limits, tree.nv, finite=False, repeat=True), name
    elif model is not None and attribute is not None:
        values, source = np.array(getattr(model, attribute), dtype=float), f"model.{attribute}"
    else:
        raise ArgumentError(f"{tree.name}: {name} is missing; give {tree.nv} positive numbers, or one for all joints")
    for joint, value in zip(tree.velocity_names, values, strict=True):
        if not 0 < value < NO_LIMIT:
            hint = "give a positive finite number" if source == name else f"give a positive finite {name}"
            raise ArgumentError(f"{tree.name}: joint {joint!r}: {source} is {value:.9g}; {hint}")
    return frozen(values)

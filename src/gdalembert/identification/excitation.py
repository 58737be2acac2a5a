"""Exciting motions: finite Fourier series that determine parameters well, within the limits of a robot.

The coefficients of the series (:mod:`gdalembert.identification.fourier`) maximise the determinant of the information
matrix Wᵀ W, where W are the rows of the regressor along the motion (Swevers, Ganseman, Tükel, De Schutter and Van
Brussel, "Optimal robot excitation and identification", IEEE Transactions on Robotics and Automation 13(5), 1997), or
minimise the condition number of W (Swevers, Ganseman, De Schutter and Van Brussel, "Generation of periodic trajectories
for optimal robot excitation", Journal of Manufacturing Science and Engineering 119, 1997), subject to limits of
position, velocity, acceleration and effort at N equidistant instants. Ours: the smooth condition number, the scaling of
columns, and the check between the instants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.constrained.constrained_dynamics import check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.identification.experiment import Experiment, Path
from gdalembert.identification.fourier import Excitation
from gdalembert.identification.search import CRITERIA, Search
from gdalembert.model.configuration import checked_configuration, neutral
from gdalembert.model.limits import Bounds
from gdalembert.model.tree import Joint
from gdalembert.spatial.arguments import SEEDS, choice, integer, number, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.interrupts import interruptible

_MOST_MARGIN = 0.9


@interruptible
def excitation(
    dyn: Dynamics,
    bounds: Bounds | pin.Model,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    joints: Sequence[str] | None = None,
    hold: npt.ArrayLike | None = None,
    acceleration: float | Mapping[str, float] | None = None,
    paths: Sequence[Path] = (),
    at_rest: bool = True,
    criterion: str = "determinant",
    noise: npt.ArrayLike | None = None,
    margin: float = 0.05,
    starts: int = 3,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Excitation:
    """A periodic motion that determines the parameters of a robot well, within its limits.

    Args:
        dyn: the robot, at its nominal parameters. What is to be determined are its ``parameters``; if it has none, its
            base parameters.
        bounds: limits of position, velocity and effort: :class:`~gdalembert.ocp.Bounds`, or the ``pin.Model``.
        period: duration of the motion before it repeats [s]; 1 / period is the lowest frequency.
        harmonics: number of harmonics K; K / period is the highest frequency of q.
        joints: names of the joints that move, by default all; v must be dq/dt of them, they must be actuated, and have
            finite limits of velocity and, if they translate, of position.
        hold: the configuration (nq) of the joints that do not move, by default the neutral one.
        acceleration: limits by the names of the entries of v, or one for all [rad/s², m/s²]; by default none.
        paths: further constraints (expression, lower, upper), as those of :meth:`gdalembert.ocp.Problem.path`: a
            ``casadi.Function`` or a callable with inputs named q, v, a, and its bounds.
        at_rest: whether v and a vanish at the start and after each period.
        criterion: ``"determinant"`` of Wᵀ W, which uses the limits and makes the estimates accurate; or
            ``"condition"``, the condition number of W, with columns in units of their root mean square over random
            motions.
        noise: standard deviations of the measured efforts (nu) [N m, N]; by default proportional to the effort limits
            if these are finite, else equal.
        margin: part of each limit that is left free at all times, since the nominal parameters are not those of the
            robot, and a servo needs some.
        starts: number of random motions to start from; the best result is returned. ``seed``: of these.
        options: of the ``casadi.nlpsol`` with IPOPT, as ``{"ipopt.max_iter": 500}``; they override ours.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used; the message names it.
        UnsupportedError: if a joint cannot follow a series, or the robot is flexible.
        ExcitationError: if no motion within all limits was found.
    """
    choice("excitation: criterion", criterion, CRITERIA)
    starts = integer("excitation: starts", starts, 1)
    rng = np.random.default_rng(integer("excitation: seed", seed, 0, SEEDS))
    if not isinstance(options, Mapping | None):
        raise ArgumentTypeError(f"excitation: options={options!r}; give {{name: value}}")
    margin = number("excitation: margin", margin, inclusive=True)
    if margin > _MOST_MARGIN:
        raise ArgumentError(f"excitation: margin is {margin:g}; give a part from 0 to {_MOST_MARGIN}")
    harmonics = integer("excitation: harmonics", harmonics, 2 if at_rest else 1)
    if not isinstance(paths, Sequence) or any(not isinstance(each, tuple) or len(each) != 3 for each in paths):
        raise ArgumentTypeError("excitation: paths: give a list of (expression, lower, upper)")
    check_driven_by_u("excitation", dyn)
    _check_robot(dyn)
    limits = _bounds(dyn, bounds)
    columns = _moving(dyn, limits, joints)
    efforts = tuple(i for i, name in enumerate(limits.u_names) if name not in limits.passive)
    experiment = Experiment(
        dyn=dyn,
        bounds=limits,
        columns=columns,
        hold=frozen(checked_configuration("excitation: hold", neutral(dyn.tree) if hold is None else hold, dyn.tree)),
        acceleration=_acceleration(dyn, columns, acceleration),
        paths=tuple(paths),
        period=number("excitation: period", period, "s"),
        harmonics=harmonics,
        at_rest=at_rest,
        efforts=efforts,
        noise=_noise(limits, efforts, noise),
        margin=margin,
    )
    return Search(experiment, criterion, rng, options or {}).best(starts)


def _bounds(dyn: Dynamics, given: Bounds | pin.Model) -> Bounds:
    """The bounds of the robot, given or those of its model."""
    if not isinstance(given, Bounds | pin.Model):
        raise ArgumentTypeError(
            f"excitation: bounds is a {type(given).__name__}; give Bounds.of(dyn, model), or the pin.Model"
        )
    bounds = given if isinstance(given, Bounds) else Bounds.of(dyn, given)
    if bounds.v_names != dyn.coordinate_names:
        raise ArgumentError(
            f"excitation: the bounds are those of {', '.join(bounds.v_names)} and the robot has "
            f"{', '.join(dyn.coordinate_names)}; give Bounds.of(dyn, model)"
        )
    return bounds


def _check_robot(dyn: Dynamics) -> None:
    """Refuse robots whose motion cannot be prescribed, or whose actuators cannot be told from it."""
    inputs = dyn.inverse_dynamics.name_in()
    if inputs != ["q", "v", "a", "p"][: len(inputs)]:
        raise UnsupportedError(
            f"excitation: tau of {dyn.tree.name} is a function of {', '.join(inputs)}; give one of q, v, a and p alone"
        )
    if dyn.actuation.shape != (dyn.tree.nv, dyn.tree.nv) or np.linalg.matrix_rank(dyn.actuation) < dyn.tree.nv:
        raise UnsupportedError(
            f"excitation: {dyn.tree.name} has {dyn.nu} actuators for {dyn.tree.nv} velocities, and what nothing drives "
            "follows no series; give a robot whose B can be inverted"
        )


def _moving(dyn: Dynamics, bounds: Bounds, joints: Sequence[str] | None) -> tuple[int, ...]:
    """The entries of v of the joints that move; each of them can."""
    known = {joint.name: joint for joint in dyn.tree.independent_joints}
    if joints is not None and (isinstance(joints, str) or not all(isinstance(name, str) for name in joints)):
        raise ArgumentTypeError(f"excitation: joints={joints!r}; give a list of names")
    for name in joints or ():
        if name not in known:
            raise UnknownNameError("joint", name, known)
    moving = [known[name] for name in (known if joints is None else dict.fromkeys(joints))]
    if not moving:
        raise ArgumentError("excitation: no joint moves; give at least one name in joints")
    for joint in moving:
        if not joint.type.velocity_is_rate or joint.type.has_quasi_velocities:
            raise UnsupportedError(
                f"excitation: joint {joint.name!r} is a {joint.type.kind}, whose v is not dq/dt; name in joints those "
                "that move, and it is held"
            )
        _check_bounds(joint, bounds)
    return tuple(sorted(column for joint in moving for column in joint.columns))


def _check_bounds(joint: Joint, bounds: Bounds) -> None:
    """Refuse a joint without an actuator or without limits: the farther and faster it moves, the more it would tell."""
    for k, column in enumerate(joint.columns):
        name, entry = bounds.v_names[column], joint.idx_q + k
        if name in bounds.passive:
            raise UnsupportedError(
                f"excitation: joint {joint.name!r} is passive; name in joints those that move, and it is held"
            )
        ends = {"velocity": ("v", bounds.v_lower[column], bounds.v_upper[column])}
        if joint.type.can_translate:
            ends["position"] = ("q", bounds.q_lower[entry], bounds.q_upper[entry])
        for what, (key, lower, upper) in ends.items():
            if not np.isfinite([lower, upper]).all() or (key == "v" and not lower < 0 < upper):
                raise ArgumentError(
                    f"excitation: the {what} of {name!r} has the bounds ({lower:g}, {upper:g}); give finite ones"
                    f"{' around 0' if key == 'v' else ''}, as Bounds.of(…, {key}={{{name!r}: 1.0}})"
                )


def _acceleration(dyn: Dynamics, columns: tuple[int, ...], given: float | Mapping[str, float] | None) -> Array:
    """A limit for each moving entry of v, infinite where there is none."""
    names = [dyn.coordinate_names[column] for column in columns]
    if given is None:
        return np.full(len(names), np.inf)
    if not isinstance(given, Mapping):
        return np.full(len(names), number("excitation: acceleration", given, "rad/s² or m/s²"))
    for name in given:
        if name not in names:
            raise UnknownNameError("moving entry of v", name, names)
    return np.array(
        [
            number(f"excitation: acceleration of {n!r}", given[n], "rad/s² or m/s²") if n in given else np.inf
            for n in names
        ]
    )


def _noise(bounds: Bounds, efforts: tuple[int, ...], given: npt.ArrayLike | None) -> Array:
    """The standard deviation of each measured effort."""
    if given is None:
        largest = bounds.u_upper[list(efforts)]
        return largest if np.isfinite(largest).all() else np.ones(len(efforts))
    noise = vector("excitation: noise", given, len(bounds.u_names), names=bounds.u_names, repeat=True)[list(efforts)]
    if np.any(noise <= 0):
        name = bounds.u_names[efforts[int(noise.argmin())]]
        raise ArgumentError(f"excitation: noise of {name!r} is {noise.min():g}; give more than 0")
    return noise

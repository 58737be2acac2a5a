"""The choice of configurations in which a calibration measures: those that tell most of the placements.

Of random candidates within the limits a set is chosen whose information matrix Σ JᵀJ, in the combinations that anyone
could know, has the largest determinant: one after the other, then by exchanges for as long as they help (Fedorov,
Theory of Optimal Experiments, 1972; for robots Borm and Menq, "Determination of optimal measurement configurations for
robot calibration based on observability measure", Int. J. Robotics Research 10(1), 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.calibration.measurement import Measurement
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import random_configuration
from gdalembert.model.limits import NO_LIMIT, Bounds
from gdalembert.spatial.arguments import call_of, flag, integer, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.interrupts import interruptible

_BEGIN = 1e-6
"""Information before the first pose, relative to that of one: any direction may come first."""
_GAIN = 1e-9
"""Gain of ln det below which an exchange is rounding."""
_SWEEPS = 20
_ATTEMPTS = 50
"""Random configurations for each candidate that is accepted."""
_JUDGED, _FEW = 1000, 0.1
"""Configurations after which so small a part of the candidates needed is taken for too few: by chance 1 in 10⁷."""


@interruptible
def poses(
    kin: Kinematics,
    frame: str | int | Sequence[str | int],
    count: int,
    bounds: pin.Model | Bounds | tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    positions: bool = False,
    accept: Callable[[Array], bool] | None = None,
    candidates: int = 1000,
    noise: tuple[float, float] | None = None,
    seed: int = 0,
) -> Array:
    """Configurations (count × nq) in which measured poses determine the placements of a robot well.

    Args:
        kin: kinematics with ``parameters={"placement": names}``, as for :func:`~gdalembert.calibration.fit.fit`.
        frame: the frame that will be measured, or two frames of a loop.
        count: the number of configurations.
        bounds: limits of q: the ``pin.Model``, :class:`~gdalembert.ocp.Bounds`, or (lower, upper), nq numbers each
            [rad, m]; a joint whose limits are equal is held. Revolute joints without a limit turn by π either way;
            quaternions and pairs (cos, sin) have any direction.
        positions: whether positions alone will be measured.
        accept: says of a configuration q (nq) whether the robot can be there: without collision, the target in view.
        candidates: the number of random configurations to choose from. ``seed``: that of their generator.
        noise: the standard deviations of a measured coordinate and angle [m, rad], whose ratio counts; by default that
            of a laser tracker which sees targets as far apart as the frame moves.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used, a sliding joint has no limit,
            ``count`` poses cannot tell all that can be known, or ``accept`` refuses nearly all configurations.
    """
    measurement = Measurement(kin, frame, not flag("poses: positions", positions), "poses")
    number_of = integer("poses: count", count, least=1)
    structure, width = measurement.of_model, 3 if positions else 6
    if number_of * width <= len(structure.pivots):
        raise ArgumentError(
            f"poses: count: {number_of} {'positions' if positions else 'poses'} have {number_of * width} numbers, for "
            f"{len(structure.pivots)} combinations of placements and their noise; give at least "
            f"{len(structure.pivots) // width + 1}"
        )
    drawn = _candidates(
        kin, bounds, accept, integer("poses: candidates", candidates, least=number_of), integer("poses: seed", seed, 0)
    )
    p = np.zeros(len(measurement.names))
    scale = np.divide(measurement.sizes, structure.torques, out=np.zeros_like(p), where=structure.torques > 0)
    rows = measurement.slopes(drawn, p) * scale @ structure.space
    if noise is not None:
        sigma = vector("poses: noise", noise, 2, names=("of coordinates", "of angles"))
        if sigma.min() <= 0:
            raise ArgumentError(f"poses: noise is {sigma.min():g}; give more than 0")
        rows[:, 3:] *= sigma[0] / (sigma[1] * measurement.length)
    return frozen(drawn[_chosen(rows, number_of)])


def _chosen(rows: Array, count: int) -> list[int]:
    """The candidates (… × m × k) of the largest determinant of Σ JᵀJ."""
    k = rows.shape[2]
    information = _BEGIN * np.eye(k) * float(np.mean(np.sum(rows**2, axis=(1, 2)))) / k

    def gains(inverse: Array) -> Array:
        """The gain ln det(M + JᵀJ) − ln det M of every candidate."""
        # By the lemma of the determinant: 6 × 6 for each candidate, where M has a row for each combination.
        return np.asarray(np.linalg.slogdet(np.eye(rows.shape[1]) + rows @ inverse @ rows.transpose(0, 2, 1))[1])

    chosen: list[int] = []
    for _ in range(count):
        increase = gains(np.linalg.inv(information))
        increase[chosen] = -np.inf
        chosen.append(int(increase.round(9).argmax()))  # of equal ones the first: rounding would choose by processor
        information = information + rows[chosen[-1]].T @ rows[chosen[-1]]
    # exchanges make the axes of the ellipsoid shorter by 1 % in the mean, where few poses are chosen (12 of Panda)
    for _ in range(_SWEEPS):
        improved = False
        for place, candidate in enumerate(chosen):
            without = information - rows[candidate].T @ rows[candidate]
            increase = gains(np.linalg.inv(without))
            allowed = np.array(increase)
            allowed[[k for k in chosen if k != candidate]] = -np.inf
            best = int(allowed.round(9).argmax())
            if increase[best] > increase[candidate] + _GAIN:
                chosen[place], information, improved = best, without + rows[best].T @ rows[best], True
        if not improved:
            break
    return chosen


def _candidates(kin: Kinematics, bounds: Any, accept: Any, count: int, seed: int) -> Array:
    """Random configurations within the limits, that are accepted."""
    if accept is not None and not callable(accept):
        raise ArgumentTypeError(f"poses: accept: expected a function of q, got {type(accept).__name__}")
    lower, upper = _limits(kin, bounds)
    rng, tree, bounded = np.random.default_rng(seed), kin.tree, np.isfinite(lower)
    configurations: list[Array] = []
    for tried in range(1, _ATTEMPTS * count + 1):
        q = random_configuration(tree, rng).full().ravel()
        q[bounded] = rng.uniform(lower[bounded], upper[bounded])
        if accept is not None:
            with call_of("poses: accept(q)"):
                taken = accept(q)
        if accept is None or flag("poses: accept(q)", taken):
            configurations.append(q)
        if len(configurations) == count:
            return np.array(configurations)
        if tried >= _JUDGED and len(configurations) * _ATTEMPTS < _FEW * tried:
            break
    raise ArgumentError(
        f"poses: accept takes {len(configurations)} of {tried} random configurations, of which {count} are needed; "
        "give narrower limits, or fewer candidates"
    )


def _limits(kin: Kinematics, bounds: Any) -> tuple[Array, Array]:
    """Limits of q (nq), NaN where a joint has any direction."""
    tree = kin.tree
    if isinstance(bounds, pin.Model):
        limits = bounds.lowerPositionLimit, bounds.upperPositionLimit
    elif isinstance(bounds, Bounds):
        limits = bounds.q_lower, bounds.q_upper
    elif isinstance(bounds, list | tuple) and len(bounds) == 2:
        limits = bounds[0], bounds[1]
    else:
        raise ArgumentTypeError("poses: bounds: give the pin.Model, Bounds, or (lower, upper)")
    lower, upper = (
        np.array(vector(f"poses: {side} bounds", x, tree.nq, finite=False))
        for side, x in zip(("lower", "upper"), limits, strict=True)
    )
    for joint in tree.independent_joints:
        for k in range(joint.idx_q, joint.idx_q + joint.type.nq):
            if joint.type.nq != joint.type.nv or joint.type.unit_length is not None:
                lower[k] = upper[k] = np.nan
                continue
            free = not (abs(lower[k]) < NO_LIMIT and abs(upper[k]) < NO_LIMIT)
            if free and not joint.type.is_revolute:
                raise ArgumentError(f"poses: joint {joint.name!r} has no limits; give finite ones")
            lower[k], upper[k] = (-np.pi, np.pi) if free else (lower[k], upper[k])
            if lower[k] > upper[k]:
                raise ArgumentError(
                    f"poses: joint {joint.name!r} has the lower limit {lower[k]:g} above the upper one {upper[k]:g}; "
                    "exchange them"
                )
    return lower, upper

"""The placements of a robot from measured poses: Gauss–Newton on the least squares of identification.

Each step is a linear problem in p: rows of positions and rows of angles with a noise each, estimated along what the
samples excite; what they cannot know is the least p, in sizes by which the ends of the robot may be anywhere. At the
last p the problem is made linear once more: what can be known, in which combinations and how well is said there, since
directions turn with placements (Hollerbach and Wampler, "The calibration
index and taxonomy for robot kinematic calibration methods", Int. J. Robotics Research 15(6), 1996; the combinations
that nobody could know are found by numbers, as base parameters are; that and the names are ours).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.calibration.measurement import Measurement, PoseSamples, are_of_markers, measured_array
from gdalembert.calibration.result import Calibration
from gdalembert.dynamics.constraints.constraint import Loop
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, CalibrationWarning, UnsupportedError
from gdalembert.identification.least_squares import (
    Reduced,
    base_estimate,
    descended,
    estimated,
    excited,
    not_identifiable,
    triangular,
)
from gdalembert.spatial.arguments import flag, held_back_counts, instance, numbers, warn
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress

_TURNS = 20
"""Number of turns of the base about measured positions, each followed by shifts of both ends."""
_FAR = 100.0
"""Measured positions this many times as far from each other as the robot moves the frame are in another unit."""
_AT_REST = 1e-9
"""Range of every entry of q below which the samples are one configuration."""
_SAME = 1e-6
"""Displacement [m, rad] below which two models have the same placements."""
_UNEXPLAINED = 0.05
"""Noise that is this part of how far the frame moves: no sensor is so bad."""


@interruptible
def fit(
    kin: Kinematics,
    frame: str | int | Sequence[str | int] | Loop,
    q: npt.ArrayLike,
    measured: Any = None,
    *,
    model: pin.Model | None = None,
    weights: npt.ArrayLike | None = None,
    held_back: float | tuple[npt.ArrayLike, Any] | None = None,
    progress: bool = False,
) -> Calibration:
    """The placements of joints and frames with which a robot is where it was measured.

    Positions and angles have a noise each, which follows from the residuals. Combinations of placements that the
    samples tell are estimated, however large their standard deviations are; ``not_identifiable`` names all others.
    Along these the placements between the ends stay as near to the model as they can: the first joint and the measured
    frame take what they share with them. How a frame is turned stays as it is if positions alone are measured.
    Combinations and their standard deviations are those of small changes at the fitted placements, standard deviations
    those of independent errors.

    Args:
        kin: kinematics with ``parameters={"placement": names}``: joints and frames whose placements are estimated. Its
            first joint takes in where the robot stands in the frame of the measurements, the measured frame itself how
            the tool or the target is fixed, and the rotation of a joint about its axis the offset of its encoder.
        frame: the frame that is measured, by name or index; or two frames: the second is measured in the first; or a
            ``gd.Loop`` of kind ``"6D"`` or ``"3D"`` that closes in each sample; or several frames, as of markers, whose
            positions are measured in each sample.
        q: configurations, a row for each of N samples (N × nq).
        measured: poses (N × 4 × 4, or ``pin.SE3`` objects) or positions (N × 3) [m], in the universe; NaN where nothing
            was measured. Of two frames by default the identity: a loop that closes in each sample. Of markers a list,
            positions (N × 3) of each frame, which have one noise together.
        model: the ``pin.Model`` that ``kin`` was made of, for ``result.model``.
        weights: relative weights of the squared residuals, at least 0: of samples (N) or of their rows (N × 6, or N × 3
            for each frame).
        held_back: the fraction of the samples, the last ones, that is predicted and not fitted; or (q, measured).
        progress: show the progress on stderr.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used, or there are too few samples,
            or all of them are one configuration.
        UnsupportedError: if a loop is of another kind.

    Warns:
        CalibrationWarning: if the calibrated robot does not explain the measurements, or the steps do not converge.
    """
    frames, measured = _asked(frame, q, measured)
    of_markers = are_of_markers(frames, measured)
    is_pose = not of_markers and measured_array("fit", measured).ndim == 3
    measurement = Measurement(kin, frames, is_pose, "fit", of_markers=of_markers)
    samples = measurement.samples("fit", q, measured, weights)
    samples, others = _split(measurement, samples, held_back)
    sizes, names, nominal = measurement.sizes, measurement.names, np.zeros(len(measurement.names))
    _check_model(kin, model)
    _check_samples(measurement, samples)
    _check_motion(measurement, samples)
    with show_progress(f"{kin.tree.name}: fit of placements", shown=flag("fit: progress", progress)):
        p, remarks = _descended(measurement, samples)
    structure, reduced = measurement.structure(p), _reduced(measurement, samples, p / sizes)
    estimate = estimated(reduced, structure, names, _no_priors(p), nominal, weighted=True, shared=False)
    effects = structure.torques / sizes
    off = float(np.nanmax(estimate.torque_noise))
    if off > _UNEXPLAINED * measurement.length:
        remarks = [
            f"after the fit {measurement.label} is off by {off / measurement.length:.0%} of how far it moves; check "
            "units, the frame that was measured, and the order and signs of q"
        ]
    for remark in remarks:
        warn(f"fit: {remark}", CalibrationWarning)
    return Calibration(
        robot=kin.tree.name,
        frame=measurement.label,
        frames=tuple(kin.tree.frames[k].name for k in measurement.frames),
        names=names,
        values=frozen(p),
        standard_deviation=frozen(sizes * estimate.deviation(np.eye(len(p)))),
        base=base_estimate(estimate, names, sizes, nominal, p, effects),
        structural_rank=len(structure.pivots),
        not_identifiable=not_identifiable(estimate.base, structure, names, sizes, effects),
        condition_number=estimate.condition_number,
        noise=frozen(estimate.torque_noise / np.array([1.0, measurement.length])[: len(estimate.noise)]),
        weights=samples.weights,
        before=frozen(measurement.residuals(samples, nominal)),
        residuals=frozen(measurement.residuals(samples, p)),
        held_back=None if others is None else frozen(measurement.residuals(others, p)),
        remarks=tuple(remarks),
        _model=None if model is None else kin.parameters.write(model, p),
    )


def _asked(frame: Any, q: Any, measured: Any) -> tuple[Any, Any]:
    """The frames, and what is measured: of a loop that closes in each sample, the identity or zeros."""
    kind = "6D"
    if isinstance(frame, Loop):
        if frame.kind not in ("6D", "3D") or frame.options:
            raise UnsupportedError(f"fit: {frame.name}: give a loop of kind '6D' or '3D', without rows")
        if measured is not None:
            raise ArgumentError(f"fit: {frame.name} closes in each sample: drop measured, or give its two frames alone")
        frame, kind = (frame.first, frame.second), frame.kind
    if measured is None:
        if isinstance(frame, str) or not isinstance(frame, Sequence):
            raise ArgumentError("fit: got no measured poses or positions; only a loop of two frames needs none")
        count = max(1, len(np.atleast_1d(numbers("fit: q", q))))
        measured = np.zeros((count, 3)) if kind == "3D" else np.broadcast_to(np.eye(4), (count, 4, 4))
    return frame, measured


def _split(measurement: Measurement, samples: PoseSamples, held_back: Any) -> tuple[PoseSamples, PoseSamples | None]:
    """The samples to fit, and those to predict: the last ones, a fraction of all, or others (q, measured)."""
    if held_back is None:
        return samples, None
    if isinstance(held_back, list | tuple) and len(held_back) == 2:
        return samples, measurement.samples("fit: held_back", *held_back)
    # The last ones, not random ones: neighbours in time would be nearly the same poses, and tell nothing new.
    (count,) = held_back_counts("fit: held_back", held_back, [len(samples)], "(q, measured)")
    last = len(samples) - count
    return samples.part(slice(0, last)), samples.part(slice(last, None))


def _check_samples(measurement: Measurement, samples: PoseSamples) -> None:
    """Refuse too few samples, poses without angles, and positions in millimetres."""
    count, rank = int(np.count_nonzero(samples.weights)), len(measurement.of_model.pivots)
    if count <= rank:
        raise ArgumentError(
            f"fit: {len(samples)} sample{'s have' if len(samples) != 1 else ' has'} {count} numbers with a weight, for "
            f"{rank} combinations of placements and their noise; give more samples"
        )
    if measurement.is_pose and not samples.weights[:, 3:].any():
        raise ArgumentError("fit: no angle has a weight; give positions (N, 3) in place of poses")
    x = samples.measured[samples.weights[:, 0] > 0]
    x = x[:, 12:15] if measurement.is_pose else x[:, :3]
    spread = float(np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))) if len(x) else 0.0
    if spread > _FAR * measurement.length:
        raise ArgumentError(
            f"fit: measured positions of {measurement.label} lie {spread:.3g} m from their mean, the robot moves it by "
            f"{measurement.length:.3g} m; give metres"
        )


def _check_motion(measurement: Measurement, samples: PoseSamples) -> None:
    """Refuse a robot at rest, unless one configuration tells all."""
    nominal, structure = np.zeros(len(measurement.names)), measurement.of_model
    known = excited(_reduced(measurement, samples, nominal), structure, measurement.names, _no_priors(nominal))
    q = samples.q[samples.weights.any(axis=1)]
    if len(known.pivots) < len(structure.pivots) and np.ptp(q, axis=0).max(initial=0) <= _AT_REST:
        raise ArgumentError(
            f"fit: all {len(q)} samples have the same q, which tells {len(known.pivots)} of {len(structure.pivots)} "
            "combinations of placements; measure in other configurations"
        )


def _check_model(kin: Kinematics, model: Any) -> None:
    """Refuse a model that ``kin`` was not made of."""
    if model is None:
        return
    instance("fit: model", model, pin.Model, "a pin.Model")
    displaced = np.abs(kin.parameters.of(model))
    if displaced.max() > _SAME:
        name = kin.parameters.names[int(displaced.argmax())]
        raise ArgumentError(
            f"fit: model: {name} is {displaced.max():.3g} from that of kin; give the model that kin was made of"
        )


def _reduced(measurement: Measurement, samples: PoseSamples, s: Array) -> Reduced:
    """The triangular factors of [J | r + J s] of each group of rows, in s = p / sizes."""
    rows = measurement.rows(samples, s * measurement.sizes)
    rows[..., :-1] = measurement.scaled(rows[..., :-1])
    rows[..., -1] += rows[..., :-1] @ s
    rows *= np.sqrt(samples.weights)[..., None]
    factors = np.array([triangular(rows[:, group].reshape(-1, len(s) + 1)) for group in measurement.groups])
    counts = np.array([np.count_nonzero(samples.weights[:, group]) for group in measurement.groups], dtype=float)
    sums = np.array([samples.weights[:, group].sum() for group in measurement.groups])
    return Reduced(factors, counts, sums / np.maximum(counts, 1), np.full(len(counts), measurement.length))


def _norms(measurement: Measurement, samples: PoseSamples, s: Array) -> Array:
    """The norms of the weighted residuals of positions and of angles [m] at s, as of :func:`_reduced`."""
    residuals = measurement.in_length(np.nan_to_num(measurement.residuals(samples, s * measurement.sizes)))
    rows = residuals * np.sqrt(samples.weights)
    return np.array([np.linalg.norm(rows[:, group]) for group in measurement.groups])


def _no_priors(p: Array) -> Array:
    return np.zeros((0, len(p) + 1))


def _descended(measurement: Measurement, samples: PoseSamples) -> tuple[Array, list[str]]:
    """The values p, from the model or from where its ends fit best, and remarks on it."""
    nothing = np.zeros(len(measurement.names))
    # from the model alone 5 of 10 descents ended elsewhere with base and tool turned by 3 rad, from the ends none did
    starts = nothing, ends(measurement, samples) / measurement.sizes
    descent = descended(
        lambda s: _reduced(measurement, samples, s),
        lambda s: _norms(measurement, samples, s),
        lambda s: measurement.structure(s * measurement.sizes),
        measurement.names,
        _no_priors(nothing),
        nothing,
        min(starts, key=lambda s: float(np.linalg.norm(_norms(measurement, samples, s)))),
        shared=False,
    )
    told = f"the steps did not converge: the sum of squares still falls by {descent.fall:.2g} of itself; begin nearer"
    return descent.s * measurement.sizes, [] if descent.has_converged else [told]


# The placements of the base and of the tool in closed form: the descent begins there, however far it is.


def ends(measurement: Measurement, samples: PoseSamples) -> Array:
    """The values p (n_p) with which the ends alone are displaced; 0 of ends that are not unknown, and of a loop.

    A robot that is the model between its ends has the poses B X E in place of X, with displacements B of its base, in
    the universe, and E of the measured frame, in its own axes. Rotations: of both by the singular vectors of
    Σ Rᵀ ⊗ R_Tᵀ, with R of X and R_T measured (Shah, "Solving the robot-world/hand-eye calibration problem using the
    Kronecker product", J. Mechanisms and Robotics 5(3), 2013), of one by the rotation nearest to a sum; of the base by
    the pattern of positions, if these alone are measured. Translations are linear then.

    It is a start and no estimate: it may be far off where the samples tell little of the ends.
    """
    p, names, tree = np.zeros(len(measurement.names)), measurement.names, measurement.kinematics.parameters.nominal
    frames = [tree.frames[k] for k in measurement.frames]
    path = tree.path(frames[-1].joint)
    first = f"{tree.joints[path[0]].name.removesuffix('[0]')}.x" if path else ""
    has_base = first in names
    has_tool = np.array([f"{frame.name}.x" in names and frame.name not in tree.joint_names for frame in frames])
    if measurement.is_loop or not (has_base or has_tool.any()):
        return p
    k = len(frames)
    x = measurement.placements(samples.q, p).reshape(-1, k, 4, 4).transpose(0, 1, 3, 2)
    r, t, seen = x[..., :3, :3], x[..., :3, 3], samples.weights[:, : 3 * k].reshape(-1, k, 3).any(axis=2)
    base, tool, offsets = np.eye(3), np.eye(3), np.zeros((k, 3))
    measured = samples.measured
    if measurement.is_pose:
        poses, turns = measured.reshape(-1, 4, 4).transpose(0, 2, 1), samples.weights[:, 3:].any(axis=1)
        base, tool = _rotations(r[turns, 0], poses[turns, :3, :3], has_base, bool(has_tool[0]))
        measured = poses[:, :3, 3]
    of_frame = np.nonzero(seen)[1]
    r, t, measured = r[seen], t[seen], measured.reshape(-1, k, 3)[seen]
    for _ in range(1 if measurement.is_pose else _TURNS):
        if has_base and not measurement.is_pose:
            there = t + np.einsum("nij,nj->ni", r, offsets[of_frame])
            # By turns: beside offsets of tools, which turn with the links, the rotation of the base has no closed form.
            base = _rotation((measured - measured.mean(axis=0)).T @ (there - there.mean(axis=0)))
        of_tools = np.einsum("nij,nk->nikj", base @ r, np.eye(k)[of_frame] * has_tool).reshape(-1, 3 * k)
        unknown = np.hstack([has_base * np.tile(np.eye(3), (len(t), 1)), of_tools])
        solution = np.linalg.lstsq(unknown, (measured - t @ base.T).ravel(), rcond=None)[0]
        shift, offsets = solution[:3], solution[3:].reshape(k, 3)
    if has_base:
        joint, at = tree.joints[path[0]], names.index(first)
        joint_to_universe = pin.SE3(np.asarray(joint.rotation), np.asarray(joint.translation))
        p[at : at + 6] = pin.log6(joint_to_universe.actInv(pin.SE3(base, shift) * joint_to_universe)).vector
    for frame, offset in ((frames[j], offsets[j]) for j in np.flatnonzero(has_tool)):
        at = names.index(f"{frame.name}.x")
        p[at : at + 6] = pin.log6(pin.SE3(tool, offset)).vector
    return p


def _rotations(r: Array, measured: Array, has_base: bool, has_tool: bool) -> tuple[Array, Array]:
    """Rotations of the base and of the measured frame with which R of the model (N × 3 × 3) is what was measured."""
    if has_base and has_tool:
        both = np.einsum("kji,kml->iljm", r, measured).reshape(9, 9)  # vec(R_E⁻¹) = (Rᵀ ⊗ R_Tᵀ) vec(R_B), by columns
        u, _, vt = np.linalg.svd(both)
        back, base = u[:, 0].reshape(3, 3).T, vt[0].reshape(3, 3).T
        sign = np.copysign(1.0, np.linalg.det(base))
        return _rotation(sign * base), _rotation(sign * back).T
    if has_base:
        return _rotation(np.einsum("kij,klj->il", measured, r)), np.eye(3)
    return np.eye(3), _rotation(np.einsum("kji,kjl->il", r, measured))


def _rotation(matrix: Array) -> Array:
    """The rotation that is nearest to a matrix (3 × 3)."""
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u * [1.0, 1.0, np.copysign(1.0, np.linalg.det(u @ vt))] @ vt)

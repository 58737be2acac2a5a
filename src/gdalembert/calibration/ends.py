"""The placements of a robot's base and of its tool, in closed form: the descent begins there, however far it is.

A robot that is the model between its ends has the poses B X E in place of X, with displacements B of its base, in the
universe, and E of the measured frame, in its own axes. Rotations: of both by the singular vectors of Σ Rᵀ ⊗ R_Tᵀ, with
R of X and R_T measured (Shah, "Solving the robot-world/hand-eye calibration problem using the Kronecker product", J.
Mechanisms and Robotics 5(3), 2013), of one by the rotation nearest to a sum; of the base by the pattern of positions,
if these alone are measured. Translations are linear then.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from gdalembert.calibration.measurement import Measurement, PoseSamples
from gdalembert.spatial.arrays import Array

_TURNS = 20
"""Number of turns of the base about measured positions, each followed by shifts of both ends."""


def ends(measurement: Measurement, samples: PoseSamples) -> Array:
    """p (n_p) with which the ends alone are displaced; 0 of ends that are not unknown, and of a loop.

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
    """The nearest rotation."""
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u * [1.0, 1.0, np.copysign(1.0, np.linalg.det(u @ vt))] @ vt)

"""Measurements of a frame, as a function of q and of the placements p, and the rows that least squares take.

X(q, p) is the placement of the frame in the universe, or in another frame. The residual of a measured pose T is the
twist from X to T in the axes of the frame, log6(X⁻¹ T); that of a measured position t is t − x, in the axes that X is
given in. Rows of an angle are multiplied by a length, the distance that the frame moves in random configurations, so
that all of them are in m. As p changes by δ, X moves by a twist J δ in its own axes, and the residual by −L J δ:

    J = … Ad(X⁻¹ M_j) Jexp(p_j) …                      L = Jlog(T⁻¹ X), 1 where the residual is 0

with M_j the frame of joint j before its motion, as of ``pin.computeFrameKinematicRegressor``, and Jexp and Jlog the
derivatives of exp6 and log6. Ours: L, from log6(exp6(−ε) Y) = log6(Y) − Jlog(Y⁻¹) ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.frame_motion import joints_seen_from
from gdalembert.dynamics.frames import asked_frame
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.identification.least_squares import SPANNED, Combinations
from gdalembert.model.configuration import check_samples, reached
from gdalembert.spatial import lie
from gdalembert.spatial.algebra import Matrix, transform
from gdalembert.spatial.arguments import checked_transform, numbers, sample_rows, sample_weights
from gdalembert.spatial.arrays import Array, SampleArrays, frozen
from gdalembert.spatial.functions import BatchFunction, function
from gdalembert.spatial.lie.maps import motion_exp_jacobian, motion_log, motion_log_jacobian

_RANDOM_STATES = 200
_NOTHING = 1e-9
"""A shorter motion of a frame [m] is rounding."""
_INNER = 1e-3
"""Size of the displacements between joints, where those of the ends are 1 m and 1 rad."""
_KEPT = 8
"""Measurements whose functions, and robots whose random configurations are kept for the next fit."""
_PLACEMENT = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class PoseSamples(SampleArrays):
    """Configurations (N × nq), what was measured in each (N × 16 or N × 3), and weights of squared rows (N × m).

    The mean of the weights is 1, without those that are 0. ``missing``: rows without a measurement (N × m).
    """

    q: Array
    measured: Array
    weights: Array
    missing: npt.NDArray[np.bool_]


class Measurement:
    """Poses or positions of a frame in the universe, or of the second of two frames in the first; or positions of
    several frames, as of markers.

    Attributes:
        kinematics: kinematics with placements as parameters. ``names``: names of p (n_p).
        frames: indices of the frames. ``label``: their names, for messages.
        is_pose: whether poses are measured, not positions. ``context``: the head of messages.
        is_loop: whether the second of two frames is measured in the first. ``of_markers``: whether several frames are.
        groups: the rows that have one noise, positions and angles.
    """

    def __init__(self, kinematics: Any, frame: Any, is_pose: bool, context: str, *, of_markers: bool = False) -> None:
        if not isinstance(kinematics, Kinematics):
            raise ArgumentTypeError(
                f"{context}: got {type(kinematics).__name__}; give gd.Kinematics(model, parameters={{'placement': …}})"
            )
        self.kinematics, self.names = kinematics, tuple(kinematics.parameters.names)
        other = [name for name in self.names if name.rpartition(".")[2] not in _PLACEMENT]
        if not self.names or other:
            got = f"its parameters include {other[0]!r}" if other else "it has no parameters"
            raise ArgumentError(
                f"{context}: {kinematics.tree.name}: {got}; give gd.Kinematics(model, parameters={{'placement': …}})"
            )
        pair = isinstance(frame, Sequence) and not isinstance(frame, str)
        if pair and len(frame) != 2 and not of_markers:
            raise ArgumentError(
                f"{context}: got {len(frame)} frames; give one, two that a loop joins, or of several markers positions "
                "(N, 3) of each"
            )
        self.frames = [asked_frame(kinematics.tree, name) for name in (frame if pair else [frame])]
        self.is_pose, self.context = is_pose, context
        self.of_markers, self.is_loop = of_markers, pair and not of_markers
        labels = [repr(kinematics.tree.frames[k].name) for k in self.frames]
        self.label = ", ".join(labels) if of_markers else " in ".join(reversed(labels))
        if of_markers and len(set(self.frames)) < len(self.frames):
            raise ArgumentError(f"{context}: a marker stands twice in {self.label}; give each once")
        self.groups = (slice(0, 3), slice(3, 6)) if is_pose else (slice(0, self.height),)

    @property
    def height(self) -> int:
        """The number of rows of a sample (m)."""
        return 6 if self.is_pose else 3 * len(self.frames) if self.of_markers else 3

    def placement(self, q: Matrix, p: Matrix) -> Matrix:
        """The placement X (4 × 4) of the frame."""
        placed: Matrix = self.kinematics.frame_placements(self.frames)(q, p)
        if len(placed) == 1:
            return placed[0]
        (r_first, x_first), (r_second, x_second) = ((pose[:3, :3], pose[:3, 3]) for pose in placed)
        return transform(r_first.T @ r_second, r_first.T @ (x_second - x_first))

    def _twists(self, index: int, q: Matrix) -> Matrix:
        """The Jacobian J (6 × n_p): the twist of a frame, in its own axes, as p moves the placements of elements."""
        # CasADi's Jacobian of the residuals has 13083 and 16456 instructions for an arm of six joints where these have
        # 3398 and 2171
        tree, p = self.kinematics.tree, self.kinematics.parameters.symbols
        frame, names = tree.frames[index], list(dict.fromkeys(name.rpartition(".")[0] for name in self.names))
        blocks: list[Matrix] = [ca.DM(6, 6)] * len(names)
        for k, name in enumerate(names):
            if name not in tree.joint_names and [other.name for other in tree.frames].index(name) == index:
                blocks[k] = motion_exp_jacobian(p[6 * k : 6 * k + 6])
        for i, r, x in joints_seen_from(tree, frame, pin.LOCAL, q):
            name = tree.joints[i].name.removesuffix("[0]")
            if name in names and name in tree.joint_names:
                k = names.index(name)
                blocks[k] = lie.adjoint(transform(r, x)) @ motion_exp_jacobian(p[6 * k : 6 * k + 6])
        return ca.horzcat(*blocks)

    def functions(self) -> tuple[BatchFunction, ...]:
        """The Functions (q, measured) → [L | r], (q) → X as a column, and (q) → J where r is zero, at any p."""
        q, p = ca.SX.sym("q", self.kinematics.tree.nq), self.kinematics.parameters.symbols
        if self.of_markers:
            return self._functions_of_markers(q, p)
        placed, twists = self.placement(q, p), self._twists(self.frames[-1], q)
        r, x = placed[:3, :3], placed[:3, 3]
        if self.is_loop:
            twists = twists - lie.adjoint(transform(r.T, -r.T @ x)) @ self._twists(self.frames[0], q)
        if self.is_pose:
            measured = ca.SX.sym("measured", 16)
            t: Matrix = ca.reshape(measured, 4, 4)
            twist = motion_log(transform(r.T @ t[:3, :3], r.T @ (t[:3, 3] - x)))
            left = motion_log_jacobian(transform(t[:3, :3].T @ r, t[:3, :3].T @ (x - t[:3, 3])))
            rows, slope = ca.horzcat(left, twist), twists
        else:
            measured = ca.SX.sym("measured", 3)
            rows, slope = ca.horzcat(ca.DM.eye(3), measured - x), r @ twists[:3, :]
        return _batches(q, measured, p, rows, ca.vec(placed), slope)

    def _functions_of_markers(self, q: ca.SX, p: ca.SX) -> tuple[BatchFunction, ...]:
        """Functions of the positions of all frames, one below the other, and of their placements."""
        placed: Any = self.kinematics.frame_placements(self.frames)(q, p)
        measured = ca.SX.sym("measured", self.height)
        rest = measured - ca.vertcat(*(x[:3, 3] for x in placed))
        slopes = (x[:3, :3] @ self._twists(k, q)[:3, :] for x, k in zip(placed, self.frames, strict=True))
        rows = ca.horzcat(ca.DM.eye(self.height), rest)
        return _batches(q, measured, p, rows, ca.vertcat(*map(ca.vec, placed)), ca.vertcat(*slopes))

    @cached_property
    def _functions(self) -> tuple[BatchFunction, ...]:
        first, *others = self.frames
        frames = (first, *others) if others or self.of_markers else first
        return _functions(self.kinematics, frames, self.is_pose, self.of_markers)

    @cached_property
    def random_configurations(self) -> Array:
        """Configurations that show what anyone could know, always the same."""
        return _random_configurations(self.kinematics)

    @cached_property
    def length(self) -> float:
        """The distance that the frame moves in random configurations [m]: 1 rad counts as much."""
        x = self.placements(self.random_configurations, np.zeros(len(self.names)))[:, 12:15]
        spread = float(np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1))))
        return spread if spread > _NOTHING else 1.0

    def placements(self, q: Array, p: Array) -> Array:
        """The placements X of the configurations, by columns (N × 16), and of further markers beside it."""
        return self._functions[1].at(p)(q)

    def residuals(self, samples: PoseSamples, p: Array) -> Array:
        """The residuals (N × 6 [m; rad], or N × 3 [m] for each frame), NaN where nothing was measured."""
        residuals = self._functions[0].at(p)(samples.q, samples.measured)[..., -1]
        return np.where(samples.missing, np.nan, residuals)

    def rows(self, samples: PoseSamples, p: Array) -> Array:
        """The rows [L J | r] of each sample (N × m × (n_p + 1)), in m."""
        linearized = self._functions[0].at(p)(samples.q, samples.measured)
        slopes = linearized[..., :-1] @ self._functions[2].at(p)(samples.q)
        return self.in_length(np.concatenate([slopes, linearized[..., -1:]], axis=2))

    def slopes(self, q: Array, p: Array) -> Array:
        """The Jacobian J of each configuration (N × m × n_p), in m."""
        return self.in_length(self._functions[2].at(p)(q))

    @cached_property
    def sizes(self) -> Array:
        """Sizes of the displacements, relative to each other (n_p): what the data leave open goes to the large ones.

        The ends are large, the first joints on the way to the measured frames and the frames themselves: a robot may
        stand anywhere, and its tool be fixed anyhow, while its links are nearly those of the model.
        """
        tree = self.kinematics.tree
        paths = [tree.path(tree.frames[k].joint) for k in self.frames]
        if self.is_loop:
            paths = [[i for i in path if i not in other] for path, other in permutations(paths)]
        ends = {tree.joints[path[0]].name.removesuffix("[0]") for path in paths if path}
        ends |= {tree.frames[k].name for k in self.frames}
        return frozen([1.0 if name.rpartition(".")[0] in ends else _INNER for name in self.names])

    @cached_property
    def _held(self) -> npt.NDArray[np.bool_]:
        """Rotations of a frame whose position alone is measured (n_p): nothing tells them, and they stay at zero."""
        measured = [] if self.is_pose else self.frames if self.of_markers else self.frames[-1:]
        frames = [self.kinematics.tree.frames[k].name for k in measured]
        held = [f"{frame}.{axis}" for frame in frames for axis in _PLACEMENT[3:]]
        return np.isin(self.names, held)

    def scaled(self, slopes: Array) -> Array:
        """Derivatives by s = p / ``sizes`` of those by p (… × n_p)."""
        return np.where(self._held, 0.0, slopes * self.sizes)

    def structure(self, p: Array) -> Combinations:
        """The combinations of changes of s = p / ``sizes`` that poses in random configurations let anyone know at p."""
        rows = self.scaled(self.slopes(self.random_configurations, p)).reshape(-1, len(self.names))
        return Combinations.of_structure(rows / np.sqrt(_RANDOM_STATES), self.names, SPANNED)

    @cached_property
    def of_model(self) -> Combinations:
        """The combinations of changes of s that anyone could know of the model.

        Raises:
            ArgumentError: if there is none.
        """
        combinations = self.structure(np.zeros(len(self.names)))
        if combinations.torques.max(initial=0.0) <= _NOTHING:
            raise ArgumentError(
                f"{self.context}: none of the {len(self.names)} parameters moves {self.label}; make kin with the "
                "placements of joints before it, or its own"
            )
        return combinations

    def in_length(self, rows: Array) -> Array:
        """Rows of each sample (N × m …), those of angles in m."""
        if self.is_pose:
            rows[:, 3:] *= self.length
        return rows

    def samples(self, context: str, q: Any, measured: Any, weights: Any = None) -> PoseSamples:
        """Samples that a user gives, checked; poses and coordinates with NaN have the weight 0."""
        tree, rows = self.kinematics.tree, self.height
        configurations = sample_rows(f"{context}: q", q, tree.nq)
        count = len(configurations)
        check_samples(context, configurations, tree)
        array = self._of_markers(context, measured) if self.of_markers else measured_array(context, measured)
        if (array.ndim == 3) != self.is_pose:
            kinds = ("poses", "positions") if self.is_pose else ("positions", "poses")
            raise ArgumentError(f"{context}: got {kinds[1]}, and {kinds[0]} are fitted; give {kinds[0]}")
        if len(array) != count:
            raise ArgumentError(f"{context}: q has {count} rows, measured has {len(array)}; give one for each sample")
        of_rows = sample_weights(context, weights, count, rows)
        missing = np.isnan(array)
        if self.is_pose:
            poses, nothing = np.array(array), np.asarray(missing.any(axis=(1, 2)))
            poses[nothing] = np.eye(4)
            for k, pose in enumerate(poses):
                checked_transform(f"{context}: pose {k}", pose, expected="numbers or a pin.SE3")
            values, missing = poses.transpose(0, 2, 1).reshape(count, 16), np.tile(nothing[:, None], rows)
        else:
            values = np.where(missing, 0.0, array)
        of_rows[missing] = 0.0
        of_rows *= np.count_nonzero(of_rows) / (of_rows.sum() or 1.0)
        return PoseSamples(configurations, frozen(values), frozen(of_rows), missing)

    def _of_markers(self, context: str, measured: Any) -> Array:
        """Positions of all frames side by side (N × 3 k)."""
        if not isinstance(measured, list | tuple | np.ndarray) or len(measured) != len(self.frames):
            raise ArgumentError(f"{context}: measured: give positions (N, 3) of each of {self.label}")
        of_frames = [numbers(f"{context}: measured[{k}]", x, finite=False) for k, x in enumerate(measured)]
        for k, positions in enumerate(of_frames):
            if positions.shape != (len(of_frames[0]), 3) or np.isinf(positions).any():
                raise ArgumentError(
                    f"{context}: measured[{k}] has shape {positions.shape}; give ({len(of_frames[0])}, 3), finite or "
                    "NaN"
                )
        return np.hstack(of_frames)


def _batches(*graph: Any) -> tuple[BatchFunction, ...]:
    """The functions of a measurement, of their inputs and outputs."""
    q, measured, p, rows, placed, slope = graph
    s, (m, n) = {"q": q, "p": p}, slope.shape
    return (
        BatchFunction(function("rows", {"q": q, "measured": measured, "p": p}, {"rows": rows}), m, m + 1),
        BatchFunction(function("placement", s, {"X": placed}), placed.numel()),
        BatchFunction(function("slope", s, {"J": slope}), m, n),
    )


@lru_cache(maxsize=_KEPT)
def _random_configurations(kin: Kinematics) -> Array:
    return frozen(reached(kin.tree, np.random.default_rng(0).normal(size=(_RANDOM_STATES, kin.tree.nv))))


@lru_cache(maxsize=_KEPT)
def _functions(
    kin: Kinematics, frame: int | tuple[int, ...], is_pose: bool, of_markers: bool
) -> tuple[BatchFunction, ...]:
    """Functions of a measurement, which take longer to make than a fit."""
    return Measurement(kin, frame, is_pose, "", of_markers=of_markers).functions()


def are_of_markers(frame: Any, measured: Any) -> bool:
    """True if positions (N × 3) are measured of each of several frames."""
    if isinstance(frame, str) or not isinstance(frame, Sequence):
        return False
    try:
        return np.ndim(measured[0]) == 2 and np.shape(measured[0])[1] == 3
    except (TypeError, KeyError, IndexError, ValueError):  # no list, an empty one, or rows that are not alike
        return False


def measured_array(context: str, measured: Any) -> Array:
    """Poses (N × 4 × 4) or positions (N × 3), NaN where nothing was measured."""
    if isinstance(measured, list | tuple) and any(hasattr(pose, "homogeneous") for pose in measured):
        measured = [getattr(pose, "homogeneous", pose) for pose in measured]
    array = numbers(f"{context}: measured", measured, finite=False)
    if array.shape[1:] not in ((3,), (4, 4)):
        raise ArgumentError(
            f"{context}: measured has shape {array.shape}; give poses (N, 4, 4) or pin.SE3 objects, or positions (N, 3)"
        )
    if np.isinf(array).any():
        raise ArgumentError(f"{context}: measured is infinite in row {int(np.argwhere(np.isinf(array))[0][0])}")
    return array

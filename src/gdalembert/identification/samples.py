"""Samples of a motion: configurations, velocities, accelerations and torques, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import check_unit_lengths, lengths, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import UNIT_ERROR, numbers
from gdalembert.spatial.arrays import Array, frozen


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion and its torques, one row for each of N samples.

    Attributes:
        q, v, a: of the robot (N × nq, N × nv, N × nv).
        tau: the measured torques (N × nv) [N m, N].
        weights: of the squared residuals (N × nv).
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.tau)

    def with_weight(self) -> Samples:
        """Those of which a torque has a weight."""
        return self.part(np.asarray(self.weights.any(axis=1)))

    def part(self, rows: slice | npt.NDArray[np.bool_]) -> Samples:
        """Some of the samples."""
        return Samples(*(each[rows] for each in vars(self).values()))


def checked_samples(where: str, tree: Tree, q: Any, v: Any, a: Any, tau: Any, weights: Any = None) -> Samples:
    """The samples as arrays.

    Raises:
        ArgumentTypeError: if one of the arguments does not consist of numbers.
        ArgumentError: if widths are not those of the robot, lengths differ, a number is not finite, a quaternion or a
            pair (cos, sin) in q is off unit length, or a weight is negative.
    """
    widths = {"q": tree.nq, "v": tree.nv, "a": tree.nv, "tau": tree.nv}
    given = {
        name: _columns(f"{where}: {name}", value, width)
        for (name, width), value in zip(widths.items(), (q, v, a, tau), strict=True)
    }
    count = len(given["q"])
    for name, array in given.items():
        if len(array) != count:
            raise ArgumentError(f"{where}: q has {count} rows, {name} has {len(array)}; give one row for each sample")
        if len(wrong := np.argwhere(~np.isfinite(array))):
            row, column = (int(k) for k in wrong[0])
            raise ArgumentError(
                f"{where}: {name} is {array[row, column]} in row {row}, column {column}; leave that sample out"
            )
    off = np.abs(lengths(given["q"], unit_blocks(tree)) - 1) > UNIT_ERROR
    if off.any():
        row = int(off.any(axis=1).argmax())
        check_unit_lengths(f"{where}: row {row} of q: the part", given["q"][row], tree)
    return Samples(**given, weights=_weights(where, weights, count, tree.nv))


def _columns(what: str, value: Any, width: int) -> Array:
    array = numbers(what, value, finite=False)
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise ArgumentError(f"{what} has shape {array.shape}; give (N, {width}), one row for each sample")
    return array


def _weights(where: str, given: Any, count: int, nv: int) -> Array:
    if given is None:
        return frozen(np.ones((count, nv)))
    array = numbers(f"{where}: weights", given)
    if array.shape not in ((count,), (count, nv)):
        raise ArgumentError(f"{where}: weights has shape {array.shape}; give ({count},) or ({count}, {nv})")
    if np.any(array < 0):
        row = int(np.argwhere(array < 0)[0][0])
        raise ArgumentError(f"{where}: the weight of row {row} is negative: {array[row].min():.6g}; give at least 0")
    return frozen(np.broadcast_to(array[:, None] if array.ndim == 1 else array, (count, nv)))


def split(where: str, tree: Tree, samples: Samples, held_back: Any) -> tuple[Samples, Samples | None]:
    """The samples to fit, and those to predict.

    Args:
        where: the function, for messages.
        tree: the robot.
        samples: all that were given.
        held_back: ``None``; the fraction of the samples, the last ones, that is held back; or other samples as
            (q, v, a, tau).

    Raises:
        ArgumentTypeError, ArgumentError: if ``held_back`` cannot be used.
    """
    if held_back is None:
        return samples, None
    if isinstance(held_back, list | tuple) and len(held_back) == 4:
        return samples, checked_samples(f"{where}: held_back", tree, *held_back)
    if isinstance(held_back, bool) or not isinstance(held_back, int | float | np.floating):
        raise ArgumentTypeError(
            f"{where}: held_back: expected a fraction of the samples or (q, v, a, tau), got {type(held_back).__name__}"
        )
    count = round(held_back * len(samples)) if 0 < held_back < 1 else 0
    if not 0 < count < len(samples):
        raise ArgumentError(
            f"{where}: held_back={held_back!r} of {len(samples)} samples leaves none to fit or none to predict; give a "
            "fraction between 0 and 1"
        )
    return samples.part(slice(0, len(samples) - count)), samples.part(slice(len(samples) - count, None))

"""Arrays of numbers: frozen copies, equality by value, homogeneous transforms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class ByValue:
    """Equality and hash of a dataclass that holds arrays: by value."""

    def _key(self) -> tuple[object, ...]:
        return tuple((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in vars(self).values())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __setstate__(self, state: dict[str, object]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)


def frozen(values: npt.ArrayLike) -> Array:
    """A copy that cannot be written to."""
    array = np.array(values, dtype=float) + 0.0  # + 0.0: −0 and 0 are the same number and shall have the same bytes
    array.setflags(write=False)
    return array


def homogeneous(rotation: Array, translation: Array) -> Array:
    """The 4 × 4 matrix of a rotation and a translation."""
    return np.block([[rotation, translation[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def turned_to(axis: Array) -> Array:
    """A rotation whose z is the axis; a permutation of axes where possible."""
    if np.count_nonzero(axis) == 1:
        k = int(np.flatnonzero(axis)[0])
        x = np.eye(3)[(k + 1) % 3]
    else:
        x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])

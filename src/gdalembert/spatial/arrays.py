"""Arrays of numbers: frozen copies, equality by value, transforms, eigenvectors, what is filled in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError, shown
from gdalembert.spatial.brief import Brief

Array = npt.NDArray[np.float64]
_HELD = 1e-12
"""Relative to the diagonal of the stiffness: the least eigenvalue of what a spring holds."""


class ByValue(Brief):
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


class SampleArrays:
    """A dataclass of arrays with one row for each sample."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def part(self, rows: slice | npt.NDArray[np.bool_]) -> Self:
        """The same arrays with some of the samples."""
        return type(self)(*(column[rows] for column in vars(self).values()))


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


def independent_columns(a: Array, *tolerances: float, order: Iterable[int] | None = None) -> tuple[list[int], Array]:
    """Columns that do not depend on those that were chosen before, and the orthonormal basis that they make.

    By Gram–Schmidt: next is the first column in the order whose part that is orthogonal to those before is longer than
    the tolerance; without an order, the one with the longest part (pivoting, as by LAPACK's geqp3). Several tolerances
    count one after the other. The first k columns of the basis (m × r) span what the first k of the r chosen ones do.
    """
    # scipy.linalg.qr(pivoting=True) takes no order, and among equal columns its choice is that of rounding.
    rest, chosen, basis = np.array(a, dtype=float), list[int](), np.zeros((len(a), 0))
    sequence = None if order is None else list(order)
    for tolerance in tolerances:
        while len(chosen) < len(a):
            size = np.linalg.norm(rest, axis=0)
            long = size > tolerance
            if not long.any():
                break
            longest = int((size / size.max()).round(9).argmax())  # rounding does not choose among equals
            k = longest if sequence is None else next(i for i in sequence if long[i])
            chosen.append(k)
            direction = rest[:, k] - basis @ (basis.T @ rest[:, k])  # once more, for what rounding leaves
            direction /= np.linalg.norm(direction)
            basis = np.column_stack([basis, direction])
            rest -= np.outer(direction, direction @ rest)
            rest[:, k] = 0.0
    return chosen, basis


def unit_columns(a: Array, negligible: float = 0.0) -> Array:
    """The columns divided by their lengths; those that are no longer than this part of the longest one are zero."""
    size = np.linalg.norm(a, axis=0)
    return np.asarray(a / np.where(size > negligible * size.max(initial=0.0), size, np.inf))


def vibrations(mass: Array, stiffness: Array) -> tuple[Array, Array, float]:
    """ω (n) [rad/s], rising, and mass-normalised shapes Ψ (n × n) of M and the symmetric part of K, zero where K drives
    away; and the least eigenvalue of K, in units of its diagonal, or 0 if none is negative."""
    stiffness = (stiffness + stiffness.T) / 2
    unit = np.sqrt(np.where(stiffness.diagonal() > 0, stiffness.diagonal(), 1.0))
    eigenvalues, directions = np.linalg.eigh(stiffness / np.outer(unit, unit))
    # K alone, in units of its own diagonal, says how many of them are zero; in the products it is lost in rounding
    held = np.where(eigenvalues < _HELD, 0.0, eigenvalues)
    # singular values of M^(-1/2) K^(1/2), since ω² of eigh are right to rounding of the stiffest spring's alone: of a
    # soft link on a table of 1e10 N/m a few per mille are lost
    half = np.linalg.inv(np.linalg.cholesky(mass))
    vectors, frequencies, _ = np.linalg.svd(half @ (unit[:, None] * directions * np.sqrt(held)))
    frequencies[np.count_nonzero(held) :] = 0
    return frequencies[::-1], half.T @ vectors[:, ::-1], float(eigenvalues.min(initial=0.0))


class Uncopied:
    """An object that cannot be copied or pickled, and says so: others hold what belongs to it."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        class_name = type(self).__name__
        raise UnsupportedError(f"{class_name}: it works in memory of its own, and cannot be copied; make another")


class FilledInPlace(Uncopied):
    """An object that reads its arrays where they are: they are filled, and never replaced; once it is complete, nothing
    is added."""

    _is_complete = False

    def __setattr__(self, name: str, value: Any) -> None:
        class_name, known = type(self).__name__, self.__dict__
        if self._is_complete and name not in known:
            raise UnknownNameError(
                f"attribute of {class_name}", name, [key for key in known if not key.startswith("_")]
            )
        present = known.get(name, value)
        if isinstance(present, np.ndarray) and present is not value:  # which ``x.array *= 2`` assigns again
            raise ArgumentError(
                f"{class_name}: {name} is read where it is, and cannot be replaced; write {name}[:] = …"
            )
        if self._is_complete and present is not value:
            raise ArgumentError(f"{class_name}: {name} is {shown(present)} and remains so; make another {class_name}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise ArgumentError(f"{type(self).__name__}: {name} is read at each call, and cannot be deleted")

    def _complete(self) -> None:
        self._is_complete = True

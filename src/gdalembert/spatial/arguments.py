"""Checks of arguments: numbers, integers, choices, vectors, tables, rotations, functions of the abscissa; packages.

``what`` names the argument and where it was given, as ``"Beam: length"``; every message begins with it. What has the
wrong type raises ArgumentTypeError, what has the wrong value or shape ArgumentError. Warnings point at the user's own
line.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, MissingPackageError, shown
from gdalembert.spatial.arrays import Array, frozen

Property: TypeAlias = float | Callable[[Any], Any]
"""A number, or a function of the abscissa η [m] that takes a NumPy array, or a single number, of it."""

UNIT_ERROR = 1e-6
"""How far a unit vector, a rotation or the unit length in a configuration may be off: nobody normalises these again,
and torques are wrong by as much. Numbers of single precision pass."""

MOST = 2**63 - 1
"""The largest integer that arrays and CasADi hold."""
SEEDS = 2**128 - 1
"""The largest seed: NumPy's own have 128 bits."""
MASKED = "it has masked entries; leave them out, or give the numbers that they stand for"
"""What messages say of NumPy's masked arrays."""


def number(what: str, value: Any, unit: str = "", *, least: float = 0.0, inclusive: bool = False) -> float:
    """One finite number above (or, inclusive, at least) a limit."""
    given = f" [{unit}]" if unit else ""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(f"{what}: expected a number{given}, got {shown(value)}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found) or found < least or (found == least and not inclusive):
        limit = f", at least {least:g}" if inclusive else f", above {least:g}"
        limit = limit if math.isfinite(least) else ""
        raise ArgumentError(f"{what}: got {shown(value)}; give one finite number{given}{limit}")
    return found


def integer(what: str, value: Any, least: int, most: int = MOST) -> int:
    """One integer within limits, both included; without an upper one, of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(f"{what}: expected an integer, got {shown(value)}")
    if not least <= value <= most:
        limits = f"of at least {least}" if value < least and most >= MOST else f"from {least} to {most}"
        raise ArgumentError(f"{what}: got {shown(value)}; give an integer {limits}")
    return int(value)


def flag(what: str, value: Any) -> bool:
    """True or False, and nothing that Python takes for one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(f"{what} is {shown(value)}; give True or False")
    return bool(value)


def file_path(what: str, given: Any, wanted: str) -> Path:
    """The path of a file or a folder, as systems can have it."""
    if not isinstance(given, str | os.PathLike):
        raise ArgumentTypeError(f"{what}: got {shown(given)}; give {wanted}")
    text = os.fsdecode(given)
    try:
        usable = bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise ArgumentError(f"{what}: got {shown(given)}, which no file can be called; give {wanted}")
    return Path(text)


def choice(what: str, value: Any, known: Sequence[str]) -> str:
    """One of several words."""
    if not isinstance(value, str) or value not in known:
        words = " or ".join(filter(None, [", ".join(map(repr, known[:-1])), repr(known[-1])]))
        raise ArgumentError(f"{what}: got {shown(value)}; give {words}")
    return value


def listed(given: Any) -> list[Any] | None:
    """The entries of a list or another iterable; ``None`` for a word, and for what is none, as CasADi's matrices."""
    try:
        return None if isinstance(given, str) else list(given)
    except TypeError:
        return None


def real(given: Any) -> Array:
    """An array of real numbers; TypeError or ValueError for texts, complex numbers, True, None and masked entries."""
    if is_masked(given):
        raise ValueError("entries are masked")
    array = np.asarray(given.full() if isinstance(given, ca.DM) else given)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{array.dtype} is not real")
    return array.astype(float)


def is_masked(given: Any) -> bool:
    """Whether entries of a NumPy array, or of arrays in a list, are masked: arrays that are made of it forget that."""
    if isinstance(given, list | tuple):
        return any(is_masked(each) for each in given if isinstance(each, list | tuple | np.ma.MaskedArray))
    return bool(np.ma.is_masked(given))


def numbers(
    what: str, given: Any, *, expected: str = "numbers", names: Sequence[str] = (), finite: bool = True
) -> Array:
    """Numbers of any shape, frozen; messages ask for what is ``expected``, and name the entry that is not finite."""
    try:
        array = real(given)
    except (TypeError, ValueError):
        if is_masked(given):
            raise ArgumentError(f"{what}: {MASKED}") from None
        try:
            entries = np.asarray(given).ravel().tolist()
        except ValueError:
            raise ArgumentError(f"{what}: the rows are of unequal lengths") from None
        except Exception:  # CasADi's own refusal of symbols
            entries = []
        if entries and all(isinstance(x, int | float) and not isinstance(x, bool) for x in entries):  # as 10**400
            raise ArgumentError(f"{what}: {shown(given)} is beyond floating point; give finite numbers") from None
        raise ArgumentTypeError(f"{what}: expected {expected}, got {shown(given)}") from None
    if finite and not np.all(np.isfinite(array)):
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        entry = names[at[0]] if array.size == len(names) else f"entry {list(at)}" if at else "it"
        raise ArgumentError(f"{what}: {entry} is {array[at]}; give finite numbers")
    return frozen(array)


def vector(
    what: str, given: Any, length: int, *, names: Sequence[str] = (), finite: bool = True, repeat: bool = False
) -> Array:
    """Numbers (length,), frozen; a column, as Functions return it, is one too. With ``repeat``, one number is all."""
    array = numbers(what, given, names=names, finite=finite)
    if repeat and array.shape in ((), (1,)):
        return frozen(np.full(length, array.item()))
    if array.shape not in ((length,), (length, 1)):
        raise ArgumentError(f"{what} has shape {array.shape}; give ({length},){', or one number' if repeat else ''}")
    return array.ravel()


def table(what: str, given: Any, width: int, count: int | None = None) -> Array:
    """Finite numbers (count × width), frozen: one row for each time; one row may come without its brackets."""
    array = np.atleast_2d(numbers(what, given))
    if array.ndim != 2 or not len(array) or array.shape[1] != width or count not in (None, len(array)):
        n = "N" if count is None else count
        raise ArgumentError(f"{what} has shape {np.shape(given)}; give ({n}, {width}), one row for each time")
    return array


def checked_rotation(what: str, given: Any, *, expected: str, tolerance: float = UNIT_ERROR) -> Array:
    """A rotation matrix R (3 × 3)."""
    r = numbers(what, given, expected=expected)
    if r.shape != (3, 3):
        raise ArgumentError(f"{what}: got numbers of shape {r.shape}; give 3 × 3")
    _check_axes(what, r, tolerance)
    return r


def checked_transform(what: str, given: Any, *, expected: str, tolerance: float = UNIT_ERROR) -> Array:
    """A transform [n o a p; 0 0 0 1] (4 × 4): numbers, or a ``pin.SE3``."""
    t = numbers(what, getattr(given, "homogeneous", given), expected=expected)
    if t.shape != (4, 4):
        raise ArgumentError(f"{what}: got numbers of shape {t.shape}; give 4 × 4, [n o a p; 0 0 0 1]")
    if np.any(t[3] != (0, 0, 0, 1)):
        raise ArgumentError(f"{what}: its last row is {t[3].tolist()}, not [0, 0, 0, 1]; give [n o a p; 0 0 0 1]")
    _check_axes(what, t[:3, :3], tolerance)
    return t


def _check_axes(what: str, r: Array, tolerance: float) -> None:
    products = r.T @ r
    i, j = (int(k) for k in np.unravel_index(np.abs(products - np.eye(3)).argmax(), (3, 3)))
    if abs(products[i, j] - (i == j)) > tolerance:
        raise ArgumentError(
            f"{what}: its columns n, o, a are not orthonormal: {'noa'[i]}·{'noa'[j]} is {products[i, j]:.12g}, "
            f"not {int(i == j)}; give the axes of the frame as unit vectors"
        )
    if np.linalg.det(r) < 0:
        raise ArgumentError(f"{what}: its columns n, o, a are left-handed: n × o is −a; change the sign of one of them")


def evaluate(
    what: str, unit: str, given: Property, eta: Array, *, least: float = 0.0, inclusive: bool = False
) -> Array:
    """The values of a property at abscissae (m,), finite and above (or, inclusive, at least) a limit."""
    if not callable(given):
        return np.full(eta.shape, given)
    with call_of(what):
        try:
            found = given(eta)
        except (TypeError, ValueError):  # a function of single numbers
            found = [given(float(x)) for x in eta]
    try:
        values = np.broadcast_to(np.asarray(found, dtype=float), eta.shape)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(f"{what}: expected one number [{unit}] for each abscissa, got {shown(found)}") from None
    wrong = ~np.isfinite(values) | (values < least) | ((values == least) & (not inclusive))
    if wrong.any():
        k = int(wrong.argmax())
        limit = f" and {'at least' if inclusive else 'above'} {least:g}" if np.isfinite(least) else ""
        raise ArgumentError(f"{what}: {values[k]:.6g} at {eta[k]:.6g} m; it must be finite [{unit}]{limit}")
    return values


@contextmanager
def call_of(what: str) -> Iterator[None]:
    """A call of a function of the user: what it raises passes, with a note that says which function it was."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, GdalembertError):
            error.add_note(f"{what} raised this")
        raise


def required(where: str, name: str, extra: str) -> Any:
    """The module of this name, which something at ``where`` needs, and an extra of gdalembert installs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise MissingPackageError(where, package, extra) from None


def is_shown(category: type[Warning]) -> bool:
    """Whether a warning may be shown, so that what only a warning tells is worth computing."""
    for action, message, other, module, _ in warnings.filters:
        if issubclass(category, other) and (message is None and module is None):
            return action != "ignore"
    return True


def warn(message: str, category: type[Warning]) -> None:
    """Warn of what the user's line led to."""
    frame, level, inside = sys._getframe(0), 1, ("gdalembert", "dataclasses")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in inside:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

"""Checks of arguments: numbers, integers, choices, vectors, tables, rotations, functions of the abscissa; packages.

``what`` names the argument and where it was given, as ``"Beam: length"``; every message begins with it. What has the
wrong type raises ArgumentTypeError, what has the wrong value or shape ArgumentError. Warnings point at the user's own
line.
"""

from __future__ import annotations

import math
import os
import re
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


def number(argument: str, value: Any, unit: str = "", *, least: float = 0.0, inclusive: bool = False) -> float:
    """A finite number above (or, inclusive, at least) a limit."""
    unit_suffix = f" [{unit}]" if unit else ""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(f"{argument}: expected a number{unit_suffix}, got {shown(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result) or result < least or (result == least and not inclusive):
        limit = f", at least {least:g}" if inclusive else f", above {least:g}"
        limit = limit if math.isfinite(least) else ""
        raise ArgumentError(f"{argument}: got {shown(value)}; give one finite number{unit_suffix}{limit}")
    return result


def integer(argument: str, value: Any, least: int, most: int = MOST) -> int:
    """An integer within limits, both included; without an upper one, of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(f"{argument}: expected an integer, got {shown(value)}")
    if not least <= value <= most:
        limits = f"of at least {least}" if value < least and most >= MOST else f"from {least} to {most}"
        raise ArgumentError(f"{argument}: got {shown(value)}; give an integer {limits}")
    return int(value)


def flag(argument: str, value: Any) -> bool:
    """True or False, and nothing that Python takes for one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(f"{argument} is {shown(value)}; give True or False")
    return bool(value)


def file_path(argument: str, value: Any, wanted: str) -> Path:
    """The path of a file or a folder, as systems can have it."""
    if not isinstance(value, str | os.PathLike):
        raise ArgumentTypeError(f"{argument}: got {shown(value)}; give {wanted}")
    text = os.fsdecode(value)
    try:
        usable = bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise ArgumentError(f"{argument}: got {shown(value)}, which no file can be called; give {wanted}")
    return Path(text)


def c_file(path: Any, example: str) -> Path:
    """The path of a C file whose stem is an identifier, as ``generate`` takes it.

    Raises:
        ArgumentTypeError, ArgumentError: if it is none.
    """
    target = file_path("generate", path, f"the name of a file, as {example!r}")
    if not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", target.stem) or target.suffix != ".c":
        raise ArgumentError(
            f"generate: got {shown(target.name)}; give a name as {example!r}, of letters, digits and single _"
        )
    return target


def choice(argument: str, value: Any, known: Sequence[str]) -> str:
    """A word that is one of several."""
    if not isinstance(value, str) or value not in known:
        words = " or ".join(filter(None, [", ".join(map(repr, known[:-1])), repr(known[-1])]))
        raise ArgumentError(f"{argument}: got {shown(value)}; give {words}")
    return value


def listed(value: Any) -> list[Any] | None:
    """The entries of a list or another iterable; ``None`` for a word, and for what is none, as CasADi's matrices."""
    try:
        return None if isinstance(value, str) else list(value)
    except TypeError:
        return None


def real(value: Any) -> Array:
    """An array of real numbers; TypeError or ValueError for texts, complex numbers, True, None and masked entries."""
    if is_masked(value):
        raise ValueError("entries are masked")
    # Without dtype=float, by which NumPy takes True for 1, "3" for 3.0, and of complex numbers the real part.
    array = np.asarray(value.full() if isinstance(value, ca.DM) else value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{array.dtype} is not real")
    return array.astype(float)


def is_masked(value: Any) -> bool:
    """True if entries of a NumPy array, or of arrays in a list, are masked: arrays that are made of it forget that."""
    if isinstance(value, list | tuple):
        return any(is_masked(item) for item in value if isinstance(item, list | tuple | np.ma.MaskedArray))
    return bool(np.ma.is_masked(value))


def numbers(
    argument: str, value: Any, *, expected: str = "numbers", names: Sequence[str] = (), finite: bool = True
) -> Array:
    """Numbers of any shape, frozen; messages ask for what is ``expected``, and name the entry that is not finite."""
    try:
        array = real(value)
    except (TypeError, ValueError):
        if is_masked(value):
            raise ArgumentError(f"{argument}: {MASKED}") from None
        try:
            entries = np.asarray(value).ravel().tolist()
        except ValueError:
            raise ArgumentError(f"{argument}: the rows are of unequal lengths") from None
        except Exception:  # CasADi's own refusal of symbols
            entries = []
        if entries and all(isinstance(x, int | float) and not isinstance(x, bool) for x in entries):  # as 10**400
            raise ArgumentError(f"{argument}: {shown(value)} is beyond floating point; give finite numbers") from None
        raise ArgumentTypeError(f"{argument}: expected {expected}, got {shown(value)}") from None
    if finite and not np.all(np.isfinite(array)):
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        entry = names[at[0]] if array.size == len(names) else f"entry {list(at)}" if at else "it"
        raise ArgumentError(f"{argument}: {entry} is {array[at]}; give finite numbers")
    return frozen(array)


def vector(
    argument: str, value: Any, length: int, *, names: Sequence[str] = (), finite: bool = True, repeat: bool = False
) -> Array:
    """Numbers (length,), frozen; a column, as Functions return it, is one too. With ``repeat``, one number is all."""
    array = numbers(argument, value, names=names, finite=finite)
    if repeat and array.shape in ((), (1,)):
        return frozen(np.full(length, array.item()))
    if array.shape not in ((length,), (length, 1)):
        raise ArgumentError(
            f"{argument} has shape {array.shape}; give ({length},){', or one number' if repeat else ''}"
        )
    return array.ravel()


def table(argument: str, value: Any, width: int, count: int | None = None) -> Array:
    """Finite numbers (count × width), frozen: one row for each time; one row may come without its brackets."""
    array = np.atleast_2d(numbers(argument, value))
    if array.ndim != 2 or not len(array) or array.shape[1] != width or count not in (None, len(array)):
        n = "N" if count is None else count
        raise ArgumentError(f"{argument} has shape {np.shape(value)}; give ({n}, {width}), one row for each time")
    return array


def sample_rows(argument: str, value: Any, width: int, *, finite: bool = True) -> Array:
    """Numbers (N × width), frozen: one row for each sample."""
    array = numbers(argument, value, finite=finite)
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise ArgumentError(f"{argument} has shape {array.shape}; give (N, {width}), one row for each sample")
    return array


def sample_weights(context: str, weights: Any, count: int, width: int) -> Array:
    """Weights (count × width), at least 0, of samples or of their single numbers; 1 by default."""
    array = numbers(f"{context}: weights", 1.0 if weights is None else weights)
    if weights is not None and array.shape not in ((count,), (count, width)):
        raise ArgumentError(f"{context}: weights has shape {array.shape}; give ({count},) or ({count}, {width})")
    if np.any(array < 0):
        row = int(np.argwhere(array < 0)[0][0])
        raise ArgumentError(f"{context}: the weight of row {row} is negative: {array[row].min():.6g}; give at least 0")
    return np.array(np.broadcast_to(array[:, None] if array.ndim == 1 else array, (count, width)))


def held_back_counts(argument: str, part: Any, counts: Sequence[int], others: str) -> list[int]:
    """The samples that a fraction holds back of runs with so many; messages tell the ``others`` that may be given."""
    if isinstance(part, bool) or not isinstance(part, int | float | np.floating):
        got = type(part).__name__
        raise ArgumentTypeError(f"{argument}: expected a fraction of the samples or {others}, got {got}")
    last = [round(part * count) if 0 < part < 1 else 0 for count in counts]
    for number_of_last, count in zip(last, counts, strict=True):
        if not 0 < number_of_last < count:
            raise ArgumentError(
                f"{argument}={shown(part)} of {count} samples leaves none to fit or none to predict; give a fraction "
                "between 0 and 1"
            )
    return last


def instance(argument: str, value: Any, kinds: Any, wanted: str) -> Any:
    """A value of one of these types."""
    if not isinstance(value, kinds):
        raise ArgumentTypeError(f"{argument}: expected {wanted}, got {type(value).__name__}")
    return value


def checked_rotation(argument: str, value: Any, *, expected: str, tolerance: float = UNIT_ERROR) -> Array:
    """A rotation matrix R (3 × 3)."""
    r = numbers(argument, value, expected=expected)
    if r.shape != (3, 3):
        raise ArgumentError(f"{argument}: got numbers of shape {r.shape}; give 3 × 3")
    _check_axes(argument, r, tolerance)
    return r


def checked_transform(argument: str, value: Any, *, expected: str, tolerance: float = UNIT_ERROR) -> Array:
    """A transform [n o a p; 0 0 0 1] (4 × 4): numbers, or a ``pin.SE3``."""
    t = numbers(argument, getattr(value, "homogeneous", value), expected=expected)
    if t.shape != (4, 4):
        raise ArgumentError(f"{argument}: got numbers of shape {t.shape}; give 4 × 4, [n o a p; 0 0 0 1]")
    if np.any(t[3] != (0, 0, 0, 1)):
        raise ArgumentError(f"{argument}: its last row is {t[3].tolist()}, not [0, 0, 0, 1]; give [n o a p; 0 0 0 1]")
    _check_axes(argument, t[:3, :3], tolerance)
    return t


def _check_axes(argument: str, r: Array, tolerance: float) -> None:
    products = r.T @ r
    i, j = (int(k) for k in np.unravel_index(np.abs(products - np.eye(3)).argmax(), (3, 3)))
    if abs(products[i, j] - (i == j)) > tolerance:
        raise ArgumentError(
            f"{argument}: its columns n, o, a are not orthonormal: {'noa'[i]}·{'noa'[j]} is {products[i, j]:.12g}, "
            f"not {int(i == j)}; give the axes of the frame as unit vectors"
        )
    if np.linalg.det(r) < 0:
        raise ArgumentError(
            f"{argument}: its columns n, o, a are left-handed: n × o is −a; change the sign of one of them"
        )


def evaluate(
    argument: str, unit: str, profile: Property, eta: Array, *, least: float = 0.0, inclusive: bool = False
) -> Array:
    """The values of a property at abscissae (m,), finite and above (or, inclusive, at least) a limit."""
    if not callable(profile):
        return np.full(eta.shape, profile)
    with call_of(argument):
        try:
            samples = profile(eta)
        except (TypeError, ValueError):  # a function of single numbers
            samples = [profile(float(x)) for x in eta]
    try:
        values = np.broadcast_to(np.asarray(samples, dtype=float), eta.shape)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(
            f"{argument}: expected one number [{unit}] for each abscissa, got {shown(samples)}"
        ) from None
    wrong = ~np.isfinite(values) | (values < least) | ((values == least) & (not inclusive))
    if wrong.any():
        k = int(wrong.argmax())
        limit = f" and {'at least' if inclusive else 'above'} {least:g}" if np.isfinite(least) else ""
        raise ArgumentError(f"{argument}: {values[k]:.6g} at {eta[k]:.6g} m; it must be finite [{unit}]{limit}")
    return values


@contextmanager
def call_of(function_name: str) -> Iterator[None]:
    """A call of a function of the user: what it raises passes, with a note that says which function it was."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, GdalembertError):
            error.add_note(f"{function_name} raised this")
        raise


def required(context: str, name: str, extra: str) -> Any:
    """The module of this name, which what ``context`` names needs, and an extra of gdalembert installs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise MissingPackageError(context, package, extra) from None


def is_shown(category: type[Warning]) -> bool:
    """True if a warning may be shown, so that what only a warning tells is worth computing."""
    # Not by warnings.catch_warnings, which changes the filters of all threads.
    for action, message, other, module, _ in warnings.filters:
        if issubclass(category, other) and (message is None and module is None):
            return action != "ignore"
    return True


def warn(message: str, category: type[Warning]) -> None:
    """Warn of what the user's line led to."""
    # No fixed number of frames: decorators, and calls of ours inside, lie between by turns.
    frame, level, inside = sys._getframe(0), 1, ("gdalembert", "dataclasses")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in inside:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

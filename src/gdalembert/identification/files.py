"""Results of a fit as JSON: numbers and names, readable by other programs; the robot itself is not in the file."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.identification.result import METHODS, BaseEstimate, Identification, NotIdentifiable, Torques
from gdalembert.spatial.arguments import file_path, instance
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import as_json

_FORMAT = "gdalembert identification 1"
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_WROTE = "give a file that save wrote"
_ROUNDING = 1e-9
"""Error that rounding may leave in variances and condition numbers."""


def save(result: Identification, path: str | PathLike[str]) -> None:
    """Write the result of a fit to a JSON file; NaN and infinity, which JSON lacks, are words there.

    Raises:
        ArgumentTypeError, ArgumentError: if it is not the result of a fit, or the path is none.
        OSError: if the file cannot be written.
    """
    instance("save", result, Identification, "the result of gd.identification.fit")
    file = file_path("save", path, "the name of a file, as 'result.json'")
    # JSON and not pickle, which runs code of whoever wrote the file, and no other program reads.
    text = json.dumps({"format": _FORMAT} | as_json(result), indent=1, allow_nan=False)
    file.write_text(text + "\n", encoding="utf-8")


def load(path: str | PathLike[str], dyn: Dynamics | None = None, model: pin.Model | None = None) -> Identification:
    """The result of a fit from its JSON file.

    Args:
        path: the path of the file.
        dyn: the robot that was fitted, for ``result.dynamics``. ``model``: its model, for ``result.model``.

    Raises:
        ArgumentTypeError, ArgumentError: if the file is no such result, which names the key; or that of another robot.
        OSError: if the file cannot be read.
    """
    file = file_path("load", path, "the name of a file that save wrote")
    _check_robot(dyn, model)
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"load: {path}: it is no JSON: {error}") from None
    if not isinstance(entries, dict) or entries.get("format") != _FORMAT:
        raise ArgumentError(f"load: {path}: it is not the result of an identification; {_WROTE}")
    try:
        result = _Reader().identification(entries)
    except _WrongEntry as error:
        raise ArgumentError(f"load: {path}: {error}; {_WROTE}") from None
    if dyn is None:
        return result
    if tuple(dyn.parameters.names) != result.names:
        raise ArgumentError(
            f"load: {path}: the parameters of {dyn!r} are not those that were estimated; give the robot that was fitted"
        )
    written = None
    if model is not None and result.is_consistent is not False:
        written = dyn.parameters.write(model, result.values)
    values = {entry.name: getattr(result, entry.name) for entry in fields(Identification)}
    return Identification(**values | {"_model": written, "_dynamics": dyn})


def _check_robot(dyn: Any, model: Any) -> None:
    if dyn is not None and not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"load: dyn is {shown(dyn)}; give the Dynamics that was fitted")
    if model is None:
        return
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"load: model is {shown(model)}; give the pin.Model that dyn was made of")
    if dyn is None:
        raise ArgumentError("load: model says nothing without the robot that was fitted; give dyn=, too")
    dyn.parameters.of(model)


class _WrongEntry(Exception):
    """An entry of a file that cannot be used: its key, and what it is."""


class _Reader:
    """The result in a file, entry by entry; lengths and names that several entries share are those of the first one."""

    def __init__(self) -> None:
        self._lengths: dict[str, tuple[int, str]] = {}
        self._names: dict[str, tuple[set[str], str]] = {}

    def identification(self, entries: Mapping[str, Any]) -> Identification:
        """The result, without its robot."""
        words, finite, by_name = self._words, self._finite, self._by_name
        readers: dict[str, Callable[[str, Any], Any]] = {
            "robot": _word,
            "method": lambda key, x: _one_of(key, x, METHODS),
            "names": words("parameters"),
            "joints": words("sensors"),
            "unknowns": words("unknowns"),
            "nominal": finite("parameters"),
            "values": finite("parameters"),
            "standard_deviation": self._array(_deviation, "parameters"),
            "base": self._part(
                BaseEstimate,
                names=words("base parameters"),
                matrix=finite("base parameters", "unknowns"),
                nominal=finite("base parameters"),
                values=finite("base parameters"),
                covariance=self._covariance,
            ),
            "structural_rank": _count,
            "not_identifiable": self._part(
                NotIdentifiable,
                **{name: words() for name in ("parameters", "without_effect", "combined", "not_excited")},
                directions=finite("directions", "unknowns"),
            ),
            "condition_number": _condition,
            "remarks": words(),
            "gains": by_name("gains", _finite),
            "gains_standard_deviation": by_name("gains", _deviation),
            "coefficients": by_name("coefficients", _finite),
            "coefficients_standard_deviation": by_name("coefficients", _deviation),
            "noise": self._array(_scatter, "sensors"),
            "residual": self._array(_scatter, "sensors"),
            "at_bounds": words(),
            "sticking": lambda key, x: None if x is None else _speed(key, x),
            "fitted": self._torques("samples"),
            "held_back": lambda key, x: None if x is None else self._torques("samples held back")(key, x),
            "least_eigenvalues": by_name("bodies", _finite),
        }
        values = _entries("", entries, readers)
        if values["sticking"] is None:
            for key in ("fitted", "held_back"):
                if values[key] is not None and values[key].at_rest.any():
                    raise _WrongEntry(
                        f"{key}.at_rest: samples are at rest, and sticking says of no speed that they are"
                    )
        _check_together(values)
        return Identification(**values, _model=None, _dynamics=None)

    def _torques(self, samples: str) -> Callable[[str, Any], Any]:
        effort = self._array(_effort, samples, "sensors")
        flags = self._array(_flag, samples, "sensors", kind=bool)
        return self._part(Torques, measured=effort, predicted=effort, from_motion=effort, speeds=effort, at_rest=flags)

    def _part(self, kind: type, **readers: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
        return lambda key, x: kind(**_entries(f"{key}.", x, readers))

    def _words(self, length: str = "") -> Callable[[str, Any], tuple[str, ...]]:
        def read(key: str, entry: Any) -> tuple[str, ...]:
            texts = tuple(_word(f"{key}[{k}]", x) for k, x in enumerate(_list(key, entry)))
            self._check_length(key, len(texts), length)
            if twice := next((name for name, count in Counter(texts).items() if length and count > 1), None):
                raise _WrongEntry(f"{key} has {twice!r} twice")
            return texts

        return read

    def _finite(self, *lengths: str) -> Callable[[str, Any], Array]:
        return self._array(_finite, *lengths)

    def _covariance(self, key: str, entry: Any) -> Array:
        covariance = self._finite("base parameters", "base parameters")(key, entry)
        if len(covariance) and covariance.diagonal().min() < 0:
            raise _WrongEntry(f"{key} has {covariance.diagonal().min():.3g} on its diagonal, where variances are")
        size = np.sqrt(covariance.diagonal())
        most = np.outer(size, size)
        excess = np.abs(covariance) - most
        skew = np.abs(covariance - covariance.T)
        for wrong, told in ((skew, "it is not symmetric"), (excess, "more than variances allow")):
            if len(covariance) and (wrong - _ROUNDING * most).max() > 0:
                i, j = (int(k) for k in np.unravel_index((wrong - _ROUNDING * most).argmax(), wrong.shape))
                raise _WrongEntry(f"{key}[{i}][{j}] is {covariance[i, j]:.6g}, and {told}")
        return covariance

    def _array(self, of: Callable[[str, Any], Any], *lengths: str, kind: type = float) -> Callable[[str, Any], Array]:
        """Lists of lists as an array; the lengths of one without entries are those of others."""

        def nested(key: str, entry: Any, *rest: str) -> Any:
            if not rest:
                return of(key, entry)
            rows = [nested(f"{key}[{k}]", x, *rest[1:]) for k, x in enumerate(_list(key, entry))]
            self._check_length(key, len(rows), rest[0])
            return rows

        def read(key: str, entry: Any) -> Array:
            array: Array = np.array(nested(key, entry, *lengths), dtype=kind)
            return frozen(array.reshape(*(self._lengths[length][0] for length in lengths)))

        return read

    def _by_name(self, of_what: str, of: Callable[[str, Any], float]) -> Callable[[str, Any], dict[str, float]]:
        def read(key: str, entry: Any) -> dict[str, float]:
            numbers = {name: of(f"{key}[{name!r}]", x) for name, x in _table(key, entry).items()}
            names, first = self._names.setdefault(of_what, (set(numbers), key))
            if different := sorted(names ^ set(numbers)):
                raise _WrongEntry(f"{key} has other names than {first}: {different[0]!r} is in one of them alone")
            return numbers

        return read

    def _check_length(self, key: str, count: int, length: str) -> None:
        if not length:
            return
        expected, of = self._lengths.setdefault(length, (count, key))
        if count != expected:
            raise _WrongEntry(f"{key} has {count} entries, and {of} has {expected}")


def _entries(of: str, entry: Any, readers: Mapping[str, Callable[[str, Any], Any]]) -> dict[str, Any]:
    """Values that the readers find, each in the entry of its name."""
    _instance(dict, "no entries by name")(of.removesuffix("."), entry)
    if missing := next((name for name in readers if name not in entry), None):
        raise _WrongEntry(f"{of}{missing} is missing")
    return {name: read(f"{of}{name}", entry[name]) for name, read in readers.items()}


def _instance(kind: type, complaint: str) -> Callable[[str, Any], Any]:
    """Make a reader that refuses entries of other types."""

    def read(key: str, entry: Any) -> Any:
        if not isinstance(entry, kind):
            raise _WrongEntry(f"{key} is {shown(entry)}, and {complaint}")
        return entry

    return read


_list, _word = _instance(list, "no list"), _instance(str, "no text")
_flag = _instance(bool, "neither true nor false")
_table = _instance(dict, "no numbers by name")


def _one_of(key: str, entry: Any, known: tuple[str, ...]) -> str:
    if entry not in known:
        raise _WrongEntry(f"{key} is {shown(entry)}, and none of {', '.join(known)}")
    return str(entry)


def _number(key: str, entry: Any) -> float:
    """A number, or a word for NaN and infinity."""
    if isinstance(entry, str) and entry in _WORDS:
        return _WORDS[entry]
    try:
        if isinstance(entry, int | float) and not isinstance(entry, bool):
            return float(entry)
    except OverflowError:
        pass
    raise _WrongEntry(f"{key} is {shown(entry)}, and no number")


def _number_that(accepts: Callable[[float], bool], complaint: str) -> Callable[[str, Any], float]:
    """Make a reader that refuses other numbers."""

    def read(key: str, entry: Any) -> float:
        if not accepts(number := _number(key, entry)):
            raise _WrongEntry(f"{key} is {number}, and no {complaint}")
        return number

    return read


_finite = _number_that(math.isfinite, "finite number")
_effort = _number_that(lambda x: not math.isinf(x), "finite number")  # NaN where nothing was measured
_deviation = _number_that(lambda x: x >= 0, "standard deviation")  # infinite of what the data do not know
_scatter = _number_that(lambda x: not (x < 0 or math.isinf(x)), "root mean square")  # NaN without measurements
_condition = _number_that(lambda x: x >= 1 - _ROUNDING, "condition number, which is at least 1")


def _speed(key: str, entry: Any) -> float:
    if not (speed := _finite(key, entry)) > 0:
        raise _WrongEntry(f"{key} is {speed}, and no speed above 0")
    return speed


def _check_together(values: Mapping[str, Any]) -> None:
    """Refuse entries that contradict each other."""
    names, unknowns, rank = values["names"], values["unknowns"], values["structural_rank"]
    if unknowns[: len(names)] != names:
        raise _WrongEntry("unknowns does not begin with names")
    if list(values["coefficients"]) != list(unknowns[len(names) :][: len(values["coefficients"])]):
        raise _WrongEntry("coefficients are not those of unknowns")
    if unknown := next((name for name in values["gains"] if name not in values["joints"]), None):
        raise _WrongEntry(f"gains has {unknown!r}, which is none of joints")
    if not len(values["base"]) <= rank <= len(unknowns):
        raise _WrongEntry(
            f"structural_rank is {rank}, of {len(unknowns)} unknowns and {len(values['base'])} base parameters"
        )
    if unknown := next((name for name in values["not_identifiable"].parameters if name not in unknowns), None):
        raise _WrongEntry(f"not_identifiable.parameters has {unknown!r}, which is none of unknowns")


def _count(key: str, entry: Any) -> int:
    if not isinstance(entry, int) or isinstance(entry, bool) or entry < 0:
        raise _WrongEntry(f"{key} is {shown(entry)}, and no count")
    return entry

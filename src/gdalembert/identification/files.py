"""Results of a fit as JSON: numbers and names, readable by other programs; the robot itself is not in the file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.identification.result import BaseEstimate, Identification, NotIdentifiable, Torques
from gdalembert.spatial.arrays import frozen

_FORMAT = "gdalembert identification 1"
_PARTS: Mapping[str, type] = {
    "base": BaseEstimate, "not_identifiable": NotIdentifiable, "fitted": Torques, "held_back": Torques,
}  # fmt: skip
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def save(result: Identification, path: str | PathLike[str]) -> None:
    """Write the result of a fit to a JSON file; NaN and infinity, which JSON lacks, are words there.

    Raises:
        ArgumentTypeError: if it is not the result of a fit.
    """
    if not isinstance(result, Identification):
        raise ArgumentTypeError(f"save: expected the result of gd.identification.fit, got {type(result).__name__}")
    text = json.dumps({"format": _FORMAT} | _written(result), indent=1, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def load(path: str | PathLike[str], dyn: Dynamics | None = None, model: pin.Model | None = None) -> Identification:
    """The result of a fit from its JSON file.

    Args:
        path: of the file.
        dyn: the robot that was fitted, for ``result.dynamics``. ``model``: its model, for ``result.model``.

    Raises:
        ArgumentError: if the file is no such result, or that of another robot.
    """
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ArgumentError(f"load: {path}: it is no JSON: {error}") from None
    if not isinstance(given, dict) or given.get("format") != _FORMAT:
        raise ArgumentError(f"load: {path}: it is not the result of an identification; give a file that save wrote")
    known = {each.name for each in fields(Identification) if not each.name.startswith("_")}
    if missing := sorted(known - set(given)):
        raise ArgumentError(f"load: {path}: {missing[0]!r} is missing; give a file that save wrote")
    found = Identification(**{name: _read(name, given[name]) for name in known}, _model=None, _dynamics=None)
    if dyn is None:
        return found
    if tuple(dyn.parameters.names) != found.names:
        raise ArgumentError(
            f"load: {path}: the parameters of {dyn!r} are not those that were estimated; give the robot that was fitted"
        )
    written = None
    if model is not None and found.is_consistent is not False:
        written = dyn.parameters.write(model, found.values)
    own = {each.name: getattr(found, each.name) for each in fields(Identification)}
    return Identification(**own | {"_model": written, "_dynamics": dyn})


def _written(value: Any) -> Any:
    """A value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        own = (each.name for each in fields(value) if not each.name.startswith("_"))
        return {name: _written(getattr(value, name)) for name in own}
    if isinstance(value, np.ndarray | tuple | list):
        return [_written(each) for each in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, Mapping):
        return {name: _written(each) for name, each in value.items()}
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(float(value))
    return value


def _read(name: str, value: Any) -> Any:
    """A field of the result; lists of numbers are arrays, of words tuples."""
    if name in _PARTS and value is not None:
        return _PARTS[name](**{part: _read(part, each) for part, each in value.items()})
    if isinstance(value, dict):
        return {key: _WORDS.get(each, each) for key, each in value.items()}
    if isinstance(value, list):
        numbers = name not in ("names", "joints", "unknowns", "remarks", "at_bounds", *_LISTS)
        return frozen(np.array(value, dtype=bool if name == "at_rest" else float)) if numbers else tuple(value)
    return _WORDS.get(value, value) if isinstance(value, str) else value


_LISTS = ("parameters", "without_effect", "combined", "not_excited")
"""Lists of names in what is not identifiable."""

"""``gdalembert identify ROBOT DATA …``: the parameters of a robot from the file of a measured motion."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.cli.main import tell
from gdalembert.cli.options import add_robot, load, numbers
from gdalembert.dynamics.friction import Friction, FrictionOfJoints
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError, IdentificationWarning
from gdalembert.identification.experiment import Experiment
from gdalembert.identification.files import save
from gdalembert.identification.fit import fit
from gdalembert.identification.result import METHODS
from gdalembert.identification.signals import filtered
from gdalembert.spatial.arguments import file_path
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.progress import is_watched

_NAMES = ("t", "q", "v", "tau", "current")


def add_identify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`run_identify` reads."""
    add_robot(parser)
    parser.add_argument("data", metavar="DATA", help="file of numbers: a row for each instant, by commas or blanks")
    text = (
        "what its columns are, in their order: t [s], q, v, tau or current, each as many as the robot has, and -N for "
        "N columns that are skipped, as t,q,v,current,-12 (default: %(default)s)"
    )
    parser.add_argument("--columns", default="t,q,tau", metavar="NAMES", help=text)
    parser.add_argument("--rows", metavar="FIRST:LAST", help="rows to read, from 1 (default: all)")
    parser.add_argument("--cutoff", type=float, required=True, metavar="HZ", help="of the low-pass filter")
    parser.add_argument("--rate", type=float, metavar="HZ", help="interpolate at this rate, where steps are not equal")
    parser.add_argument("--decimation", type=int, default=1, metavar="N", help="N samples become one row (default: 1)")
    text = "drive gains of currents, one for all or one for each actuator, by commas"
    parser.add_argument("--gains", metavar="X[,Y,…]", help=text)
    parser.add_argument("--load", action="store_true", help="let Coulomb friction grow with the transmitted torque")
    parser.add_argument("--offsets", action="store_true", help="let each sensor have an offset")
    text = (
        "leave samples out whose joint is slower, where it may stick [rad/s, m/s]; the report has the residuals with "
        "and without them, and how many they are"
    )
    parser.add_argument("--sticking", type=float, metavar="SPEED", help=text)
    parser.add_argument("--held-back", type=float, metavar="PART", help="predict this part of the samples, the last")
    parser.add_argument("--validate", metavar="DATA", help="predict another file, of the same columns")
    parser.add_argument("--method", choices=METHODS, default="consistent", help="of the fit (default: %(default)s)")
    parser.add_argument("--details", action="store_true", help="print every parameter")
    parser.add_argument("--output", metavar="FILE.json", help="write the result (gd.identification.load reads it)")


def run_identify(arguments: argparse.Namespace) -> int:
    """Print the report of a fit; what it warns of goes to stderr, too."""
    model = load(arguments.robot, arguments)
    if arguments.output is not None:
        file_path("--output", arguments.output, "the name of a file")
    if arguments.held_back is not None and arguments.validate is not None:
        raise ArgumentError("--held-back and --validate: give one of both")
    names = [name for name in model.names if name != "universe"]
    friction: FrictionOfJoints = {name: Friction(load=0.0) for name in names} if arguments.load else "model"
    dyn = NewtonEuler(model, friction=friction, parameters={"inertia": True, "armature": True, "friction": True})
    run = _experiment(arguments.data, model, arguments, arguments.rows)
    unseen: Any = arguments.held_back
    if arguments.validate is not None:
        unseen = [_experiment(arguments.validate, model, arguments, None)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # they are in the report
        result = fit(
            dyn,
            experiments=[run],
            gains=_gains(arguments.gains, dyn.actuator_names),
            offsets=arguments.offsets,
            sticking=arguments.sticking,
            model=model,
            method=arguments.method,
            held_back=unseen,
            decimation=arguments.decimation,
            progress=is_watched(),
        )
    print(result.report)
    if arguments.details:
        print(result.details)
    if arguments.output:
        save(result, arguments.output)
    for remark in result.remarks:
        tell(f"warning: {remark}")
    return 0


def _gains(text: str | None, names: Sequence[str]) -> Any:
    if text is None:
        return None
    gains = numbers("--gains", text, "11.0 or 14.9,13.3,11.1")
    if len(gains) not in (1, len(names)):
        raise ArgumentError(f"--gains {text}: got {len(gains)} numbers; give 1, or {len(names)}: {', '.join(names)}")
    return gains[0] if len(gains) == 1 else dict(zip(names, gains, strict=True))


def _experiment(path: str, model: pin.Model, arguments: argparse.Namespace, rows: str | None) -> Experiment:
    """The filtered samples of a file."""
    parts = _parts(path, _table(path, rows), arguments.columns, model)
    efforts = [name for name in ("tau", "current") if name in parts]
    missing = [name for name in ("t", "q") if name not in parts]
    if missing or len(efforts) != 1:
        raise ArgumentError(f"--columns {arguments.columns}: give t, q and one of tau and current")
    signals = filtered(
        parts["t"][:, 0],
        parts["q"],
        parts[efforts[0]],
        v=parts.get("v"),
        cutoff=arguments.cutoff,
        rate=arguments.rate,
    )
    measured: Any = {efforts[0]: signals.unfiltered_tau}
    return Experiment(signals.q, signals.v, signals.a, **measured)


def _table(path: str, rows: str | None) -> Array:
    """The numbers of a file; a first line of words is skipped."""
    try:
        lines = file_path("DATA", path, "a file of measured samples").read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ArgumentError(
            f"{path}: byte {error.start} is no text of UTF-8; give a file of numbers, by commas or blanks"
        ) from None
    separator = "," if any("," in line for line in lines[:2]) else None
    first, last = 1, len(lines)
    if rows is not None:
        begin, colon, end = rows.partition(":")
        if not colon or not all(x.isdecimal() or not x for x in (begin, end)):
            raise ArgumentError(f"--rows {rows}: give FIRST:LAST, as 100:2000")
        first, last = int(begin or 1), int(end or len(lines))
    table = []
    for number, line in enumerate(lines[max(first - 1, 0) : last], start=max(first, 1)):
        try:
            # Line by line: np.loadtxt counts rows without headers and comments, and an editor lines.
            table.append([float(x) for x in line.split(separator)])
        except ValueError:
            if number > 1:
                raise ArgumentError(f"{path}: line {number} is no row of numbers: {line[:60]!r}") from None
    if not table:
        raise ArgumentError(f"{path}: no rows of numbers in it; give a file of measured samples")
    widths = [len(row) for row in table]
    if min(widths) < max(widths):
        raise ArgumentError(f"{path}: rows have {min(widths)} to {max(widths)} numbers; give the same in all")
    return np.array(table)


def _parts(path: str, table: Array, columns: str, model: pin.Model) -> dict[str, Array]:
    """The blocks of a table by name."""
    width = {"t": 1, "q": model.nq, "v": model.nv, "tau": model.nv, "current": model.nv}
    parts, start = dict[str, Array](), 0
    for name in columns.split(","):
        skipped = name[1:].isdecimal() and name.startswith("-")
        if not skipped and (name not in _NAMES or name in parts):
            raise ArgumentError(f"--columns {columns}: {name!r}: give {', '.join(_NAMES)}, once each, or -N to skip N")
        count = int(name[1:]) if skipped else width[name]
        if not skipped:
            parts[name] = table[:, start : start + count]
        start += count
    if start != table.shape[1]:
        raise ArgumentError(
            f"{path}: has {table.shape[1]} columns, and --columns {columns} are {start} of {model.name}; give all"
        )
    return parts

"""``gdalembert validate ROBOT …``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence

from gdalembert.cli.main import tell
from gdalembert.cli.options import add_dynamics, chosen_formulations, load, options, several
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import GdalembertError, shortened
from gdalembert.spatial.progress import is_watched
from gdalembert.validation.report import Report
from gdalembert.validation.validate import validate

_SHOWN = 200
"""Number of characters of an error that a summary shows."""


def add_validate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`run_validate` reads."""
    add_dynamics(parser, nargs="+")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="number of states (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the states (default: 0)")
    parser.add_argument("--tolerance", type=float, metavar="X", help="relative tolerance of all checks")
    parser.add_argument("--json", action="store_true", help="print the reports as JSON")
    text = "show the progress on stderr (default: if it is a terminal)"
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help=text)


def run_validate(arguments: argparse.Namespace) -> int:
    """Print a report for each robot and formulation, and a summary; one of several robots may be unusable."""
    if arguments.progress is None:
        arguments.progress = is_watched()
    chosen = chosen_formulations(arguments).values()
    summaries, reports, errors = [], [], {}
    for robot in arguments.robot:
        try:
            robot_reports = _validate(robot, chosen, arguments)
        except BrokenPipeError:  # nobody reads the reports; the robot can be used
            raise
        except (GdalembertError, OSError) as error:
            if len(arguments.robot) == 1:
                raise
            tell(f"error: {error}")
            errors[robot] = str(error)
            summaries.append(f"{robot}: cannot be used: {shortened(str(error), _SHOWN)}")
        else:
            summaries.append(_summary(robot_reports, arguments.samples))
            reports += robot_reports
    ok = not errors and all(report.ok for report in reports)
    if arguments.json:
        print(json.dumps({"ok": ok, "reports": [r.to_dict() for r in reports], "errors": errors}, indent=2))
    else:
        print("\n".join(summaries))
    return 2 if errors else 0 if ok else 1


def _validate(robot: str, chosen: Iterable[type[Dynamics]], arguments: argparse.Namespace) -> list[Report]:
    """The reports about one robot, which are printed as they come."""
    model, settings, reports = load(robot, arguments), options(arguments), []
    how = {name: getattr(arguments, name) for name in ("samples", "seed", "tolerance", "progress")}
    for formulation in chosen:
        report = validate(formulation(model, **settings), model, **how)
        reports.append(report)
        if not arguments.json:
            print(report, end="\n\n", flush=True)
    return reports


def _summary(reports: Sequence[Report], samples: int) -> str:
    robot, number = reports[0].model, len(reports)
    failed = [report.system for report in reports if not report.ok]
    if failed:
        disagree = "disagrees" if len(failed) == 1 else "disagree"
        return f"{robot}: {len(failed)} of {number} formulations {disagree} with Pinocchio: {', '.join(failed)}"
    agree = several(number, "formulation agrees", "formulations agree")
    return f"{robot}: {agree} with Pinocchio on {several(samples, 'state', 'states')}"

"""``gdalembert validate ROBOT …``."""

from __future__ import annotations

import argparse
import json

from gdalembert.cli.options import (
    add_clean,
    add_formulation,
    add_parameters,
    add_robot,
    add_wrenches,
    chosen_formulations,
    chosen_parameters,
    chosen_wrenches,
    load,
)
from gdalembert.validation.validate import validate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run` reads."""
    add_robot(parser, nargs="+")
    add_formulation(parser)
    add_clean(parser)
    add_parameters(parser)
    add_wrenches(parser)
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="number of states (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the states (default: 0)")
    parser.add_argument("--tolerance", type=float, metavar="X", help="relative tolerance of all checks")
    parser.add_argument("--json", action="store_true", help="print the reports as JSON")
    parser.add_argument("--progress", action="store_true", help="show the progress on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Print a report for each robot and formulation, and a summary.

    Returns:
        1 if a check of one of them fails, else 0.
    """
    chosen, parameters = chosen_formulations(arguments), chosen_parameters(arguments)
    wrenches = chosen_wrenches(arguments)
    summaries, reports = [], []
    for model in [load(robot, arguments) for robot in arguments.robot]:
        own = []
        for formulation in chosen.values():
            dynamics = formulation(model, clean=arguments.clean, parameters=parameters, wrenches=wrenches)
            report = validate(
                dynamics,
                model,
                samples=arguments.samples,
                seed=arguments.seed,
                tolerance=arguments.tolerance,
                progress=arguments.progress,
            )
            own.append(report)
            if not arguments.json:
                print(report, end="\n\n", flush=True)
        failed = [report.system for report in own if not report.ok]
        summaries.append(_summary(model.name, len(own), failed, arguments.samples))
        reports += own
    if arguments.json:
        print(json.dumps({"ok": all(r.ok for r in reports), "reports": [r.to_dict() for r in reports]}, indent=2))
    else:
        print("\n".join(summaries))
    return 0 if all(report.ok for report in reports) else 1


def _summary(robot: str, number: int, failed: list[str], samples: int) -> str:
    states = "1 state" if samples == 1 else f"{samples} states"
    if failed:
        disagree = "disagrees" if len(failed) == 1 else "disagree"
        return f"{robot}: {len(failed)} of {number} formulations {disagree} with Pinocchio: {', '.join(failed)}"
    agree = "1 formulation agrees" if number == 1 else f"{number} formulations agree"
    return f"{robot}: {agree} with Pinocchio on {states}"

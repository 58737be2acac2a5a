"""``gdalembert count ROBOT``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import casadi as ca

from gdalembert.cli.options import add_dynamics, chosen_formulations, load, options
from gdalembert.cli.output import print_table
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.errors import UnsupportedError
from gdalembert.spatial.instructions import count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run` reads."""
    add_dynamics(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the instructions, multiplications and additions of every Function of the formulations."""
    chosen, given = chosen_formulations(arguments), options(arguments)
    model = load(arguments.robot, arguments)
    rows = []
    for name, formulation in chosen.items():
        rows += [(name, *row) for row in _costs(formulation(model, **given))]
    print_table((f"{model.name}", "Function", "instructions", "multiplications", "additions"), rows, left=(0, 1))
    return 0


def _costs(dynamics: Dynamics) -> Iterable[tuple[str, ...]]:
    for name in (*FUNCTIONS, "terms"):
        try:
            function: ca.Function = getattr(dynamics, name)
        except UnsupportedError:
            yield name, "–", "–", "–"
        else:
            yield name, *(str(number) for number in count(function).values())

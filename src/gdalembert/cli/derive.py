"""``gdalembert derive ROBOT --to FORMAT``."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import Any

import pinocchio as pin

from gdalembert.cli.options import add_clean, add_robot, check_output, load, numbers
from gdalembert.dynamics.dynamics import Dynamics, formulations
from gdalembert.dynamics.simplified.dynamics import PrunedDynamics
from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError
from gdalembert.export import FORMATS, derive, write
from gdalembert.export.formats import formats_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.progress import is_watched
from gdalembert.symbolic.closed_forms import MAX_TERMS


def add_derive(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`run_derive` reads."""
    add_robot(parser, also="; or FILE.py:NAME, a robot that a Python file makes, as a gd.FirstOrderArm named arm")
    add_clean(parser)
    kinds = f"closed forms: {formats_of(closed=True)}; code: {formats_of(closed=False)}"
    parser.add_argument("--to", choices=FORMATS, required=True, help=kinds)
    text = f"one of {', '.join(formulations())} (default: generalized_dalembert; newton_euler for code with numbers)"
    parser.add_argument("--formulation", metavar="NAME", help=text)
    text = (
        "Functions, as mass_matrix or M, torque_regressor, frame_placement:tool0, frame_jacobian:tool0:LOCAL, and "
        "parts of a formulation, as D_tra,G or D,h,c, or terms for all of them "
        "(default: mass_matrix,coriolis_matrix,generalized_gravity, or all parts of the formulation that is given; "
        "for code inverse_dynamics,mass_matrix,nle,generalized_gravity)"
    )
    parser.add_argument("--terms", metavar="A,B,…", help=text)
    constants = parser.add_mutually_exclusive_group()
    constants.add_argument("--symbolic", action="store_true", default=None, help="symbols for constants, also in code")
    constants.add_argument("--numbers", dest="symbolic", action="store_false", help="numbers, also in closed forms")
    text = f"number of products of terms above which closed forms are refused (default: {MAX_TERMS})"
    parser.add_argument("--max-terms", type=int, default=MAX_TERMS, metavar="N", help=text)
    parser.add_argument("--body-only", action="store_true", help="LaTeX without a preamble")
    text = "drop terms as long as no torque is wrong by more than X times its limit (code only)"
    parser.add_argument("--simplify", type=float, metavar="X", help=text)
    for name, quantity in (("a-max", "accelerations"), ("v-max", "velocities"), ("tau-max", "torques")):
        default = "" if name == "a-max" else " (default: the model's)"
        text = f"with --simplify: the largest {quantity}, or one for all{default}"
        parser.add_argument(f"--{name}", metavar="X,Y,…", help=text)
    text = "a file, or a folder, new or not (default: print, if there is one file)"
    parser.add_argument("--output", metavar="PATH", help=text)
    parser.add_argument("--force", action="store_true", help="replace existing files")


def run_derive(arguments: argparse.Namespace) -> int:
    """Print the files, or write them."""
    model = _made(arguments) or load(arguments.robot, arguments)
    limits = _limits(arguments)
    if arguments.output == "":
        raise ArgumentError("--output is empty; give a file or a folder, '.' for the one you are in")
    if arguments.output is not None:
        check_output("--output", arguments.output)
    settings = {
        name: getattr(arguments, name) for name in ("formulation", "symbolic", "max_terms", "clean", "body_only")
    }
    terms = arguments.terms and [x.strip() for x in arguments.terms.split(",")]
    watched = is_watched()
    try:
        if arguments.simplify is not None:
            model = PrunedDynamics(model, arguments.simplify, **limits, clean=arguments.clean, progress=watched)
        files = derive(model, arguments.to, terms=terms, progress=watched, **settings)
    except UnsupportedError as error:
        options = " (options --terms, --numbers, --max-terms)" if "max_terms" in str(error) else ""
        raise UnsupportedError(f"{error}{options}") from None
    if arguments.output is not None:
        print("\n".join(map(str, write(files, arguments.output, force=arguments.force))))
    elif len(files) == 1:
        print(*files.values(), end="")
    else:
        raise ArgumentError(f"--to {arguments.to} makes {len(files)} files, {', '.join(files)}; give --output FOLDER")
    return 0


def _made(arguments: argparse.Namespace) -> Any:
    """The robot with a name in a Python file, of ``FILE.py:NAME``; ``None`` for any other text."""
    path, _, name = arguments.robot.rpartition(":")
    if not path.endswith(".py"):
        return None
    for option in ("free_flyer", "no_mimic", "round_angles"):
        if getattr(arguments, option):
            raise ArgumentError(f"--{option.replace('_', '-')}: changes how a file is read, and {path} makes its robot")
    if not Path(path).is_file():
        raise ArgumentError(f"{arguments.robot}: there is no file {path}; check the name")
    folder = str(Path(path).resolve().parent)
    sys.path.insert(0, folder)  # as python puts it there, which run_path does not
    try:
        robots = {x: made for x, made in runpy.run_path(path).items() if isinstance(made, Dynamics | pin.Model | Tree)}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ArgumentError(f"{arguments.robot}: the file stopped with {reason}; run it by python first") from error
    finally:
        sys.path.remove(folder)
    if name not in robots:
        raise UnknownNameError(f"robot of {path}", name, robots)
    return robots[name]


def _limits(arguments: argparse.Namespace) -> dict[str, Any]:
    """The limits for ``--simplify``, by the names that ``PrunedDynamics`` has for them."""
    texts = {name: text for name in ("a_max", "v_max", "tau_max") if (text := getattr(arguments, name)) is not None}
    if arguments.simplify is None:
        for name in texts:
            option = f"--{name.replace('_', '-')}"
            raise ArgumentError(f"{option}: is a limit for --simplify, which is not given; give it, as 0.01")
        return {}
    if FORMATS[arguments.to].closed:
        raise UnsupportedError(
            f"--simplify: makes code, and --to is {arguments.to}; choose --to {formats_of(closed=False)}"
        )
    if arguments.formulation is not None or arguments.symbolic is not None:
        raise ArgumentError("--simplify: has its own equations in numbers; no --formulation, --symbolic or --numbers")
    if arguments.a_max is None:
        raise ArgumentError("--simplify: --a-max is missing; give the largest accelerations, as 8,6,12 or 10 for all")
    return {name: numbers(f"--{name.replace('_', '-')}", text, "8,6,12 or 10 for all") for name, text in texts.items()}

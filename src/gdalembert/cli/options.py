"""Parts that several commands share: options and their meanings, counted nouns, tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics, Options, formulations
from gdalembert.dynamics.wrenches import REFERENCES, GivenIn
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.model.configuration import checked_configuration
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.load_mjcf import is_mjcf, load_mjcf
from gdalembert.model.load_urdf import Check, load_urdf
from gdalembert.model.rounding import CLEANED
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import aligned

_REFERENCES = {reference.name: reference for reference in REFERENCES}


def add_robot(parser: argparse.ArgumentParser, nargs: str | None = None, also: str = "") -> None:
    """Add ``ROBOT`` and the options by which :func:`load` loads it."""
    text = f"name of a shipped robot, or path of a URDF or an MJCF file{also}"
    parser.add_argument("robot", nargs=nargs, metavar="ROBOT", help=text)
    parser.add_argument("--free-flyer", action="store_true", help="let the root link move freely")
    parser.add_argument("--no-mimic", action="store_true", help="let mimic joints move freely (mimic=False)")
    text = "take angles within X rad of a multiple of π/4 or π/6 for that multiple (default: %(default)s)"
    parser.add_argument("--round-angles", type=float, default=0.0, metavar="X", help=text)


def load(
    robot: str, arguments: argparse.Namespace, check: Check = "warn", round_angles: float | None = None
) -> pin.Model:
    """Load a robot of the command line; ``round_angles`` takes the place of ``--round-angles``."""
    root_joint = pin.JointModelFreeFlyer() if arguments.free_flyer else None
    if is_mjcf(robot):
        of_urdf = {"--no-mimic": arguments.no_mimic, "--round-angles": arguments.round_angles}
        for option in (name for name, value in of_urdf.items() if value):
            raise ArgumentError(f"{option}: changes how a URDF is read, and {robot} is MJCF; leave it out")
        return load_mjcf(robot, root_joint=root_joint, check=check)
    angle = arguments.round_angles if round_angles is None else round_angles
    return load_urdf(robot, root_joint, not arguments.no_mimic, check, angle)


def add_dynamics(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add robots, formulations and their options for :func:`load`, :func:`chosen_formulations`, :func:`options`."""
    add_robot(parser, nargs)
    text = f"one of {', '.join(formulations())}; repeatable (default: all)"
    parser.add_argument("--formulation", action="append", metavar="NAME", help=text)
    add_clean(parser)
    text = (
        "what is an input p of every Function, as inertia, armature or payload=tool0: a kind, all of it or the "
        "elements with these names; repeatable (default: none)"
    )
    parser.add_argument("--parameters", action="append", metavar="KIND[=X,Y,…]", help=text)
    text = (
        "a frame at which a wrench acts on the robot, an input of the dynamics, and what it is given in, as "
        f"tool0=LOCAL ({', '.join(_REFERENCES)}), or tool0=LOCAL,3D for a force; repeatable (default: none)"
    )
    parser.add_argument("--wrench", action="append", metavar="FRAME=REFERENCE[,3D]", help=text)


def options(arguments: argparse.Namespace) -> Options:
    """The arguments of a Dynamics beside its model."""
    pairs = (text.partition("=") for text in arguments.parameters or ())
    wrenches: dict[str, GivenIn] = {}
    for text in arguments.wrench or ():
        frame, _, reference = text.rpartition("=")
        reference, _, kind = reference.partition(",")
        if not frame or reference not in _REFERENCES or kind not in ("", "3D", "6D"):
            raise ArgumentError(f"--wrench {text}: give a frame and {', '.join(_REFERENCES)}, as tool0=LOCAL")
        wrenches[frame] = (_REFERENCES[reference], "3D") if kind == "3D" else _REFERENCES[reference]
    parameters = {kind: names.split(",") if asked else True for kind, asked, names in pairs}
    return Options(clean=arguments.clean, parameters=parameters, wrenches=wrenches)


def chosen_formulations(arguments: argparse.Namespace) -> dict[str, type[Dynamics]]:
    """The formulations in the order given, or all."""
    known = formulations()
    names = list(dict.fromkeys(arguments.formulation or known))
    for name in names:
        if name not in known:
            raise UnknownNameError("formulation", name, known)
    return {name: known[name] for name in names}


def add_clean(parser: argparse.ArgumentParser) -> None:
    """Add ``--clean``, the tolerance of cleaning."""
    text = "tolerance within which constants are rounded; 0 takes every bit as given (default: %(default)s)"
    parser.add_argument("--clean", type=float, default=CLEANED, metavar="X", help=text)


def add_configuration(parser: argparse.ArgumentParser | argparse._ArgumentGroup, default: str) -> None:
    """Add ``--q``, which :func:`configuration` reads."""
    text = f"the configuration, as 0,0.5,-1; --q=-1,0 if it begins with a minus (default: {default})"
    parser.add_argument("--q", metavar="X,Y,…", help=text)


def configuration(model: pin.Model, text: str) -> Array:
    """A configuration (nq) from numbers with commas between them."""
    q = numbers("--q", text, "0,0.5,-1")
    if len(q) != model.nq:
        raise ArgumentError(f"--q {text}: {model.name} takes {model.nq} finite numbers, and these are {len(q)}")
    return checked_configuration(f"--q {text}: q", q, read_tree(model))


def check_output(option: str, output: str) -> None:
    """Refuse a file or folder in a folder that does not exist: its name may be mistyped."""
    folder = Path(output).parent
    if not folder.is_dir():
        raise ArgumentError(f"{option} {output}: there is no folder {folder}; make it first, or check the name")


def numbers(option: str, text: str, example: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentError(f"{option} {text}: give numbers, as {example}") from None


def several(number: int, one: str, many: str) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number} {one if number == 1 else many}"


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> None:
    """Print aligned columns; those in ``left`` are flush left, the others flush right."""
    print("\n".join(aligned([head, *rows], left, indent="")))

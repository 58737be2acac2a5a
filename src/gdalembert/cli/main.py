"""The command line: robots, info, validate, count, derive, plot, view."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from typing import Never, TextIO

import casadi as ca
import pinocchio as pin

from gdalembert.cli import derive, plot, view
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.newton_euler import NewtonEuler
from gdalembert.dynamics.registry import formulations
from gdalembert.errors import GdalembertError, UnknownNameError, UnsupportedError, UrdfWarning
from gdalembert.model import load_urdf as urdf
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.load_urdf import load_urdf, robots
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.functions import count
from gdalembert.validation.validate import validate

_PROG = "gdalembert"
_STATUS = (
    "exit status: 0 if all went well; 1 if a formulation disagrees with Pinocchio; "
    "2 if the command line or a robot cannot be used; 130 if interrupted; 141 if nobody reads the output"
)
_FUNCTIONS = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "nle",
    "generalized_gravity",
    "forward_dynamics",
    "kinetic_energy",
    "potential_energy",
    "state_derivative",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_hessian",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; see ``gdalembert --help``.

    Args:
        argv: the arguments, by default those of the process.

    Returns:
        The exit status: 0 only if all went well, 1 if a validation fails, 2 for errors, 130 if interrupted, 141 if
        the reader of the output has gone.
    """
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    with warnings.catch_warnings():
        warnings.simplefilter("always", UrdfWarning)
        warnings.showwarning = _show_warning
        try:
            status = command(arguments)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the interpreter's own last flush
            return 141
        except KeyboardInterrupt:
            print(f"{_PROG}: interrupted", file=sys.stderr)
            return 130
        except (GdalembertError, OSError) as error:
            print(f"{_PROG}: error: {_one_line(error)}", file=sys.stderr)
            return 2
    return status


class _Parser(argparse.ArgumentParser):
    """Errors on one line, as all of ours are; argparse would print the usage first."""

    def error(self, message: str) -> Never:
        self.exit(2, f"{_PROG}: error: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=_PROG,
        description="Dynamics of Pinocchio models as CasADi graphs, checked against Pinocchio.",
        epilog=_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"{_PROG} {metadata.version('gdalembert')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, *aliases: str
    ) -> argparse.ArgumentParser:
        sentence = f"{text[0].upper()}{text[1:]}."
        own = commands.add_parser(name, aliases=aliases, help=text, description=sentence, epilog=_STATUS)
        own.set_defaults(command=run)
        return own

    command("robots", _robots, "list the robots that come with the package")

    info = command("info", _info, "show the joints and links of a robot, and what cleaning changes")
    _add_robot(info)
    _add_clean(info)

    check = command("validate", _validate, "compare formulations with Pinocchio at random states")
    _add_robot(check, nargs="+")
    _add_formulation(check)
    _add_clean(check)
    check.add_argument("--samples", type=int, default=1000, metavar="N", help="number of states (default: 1000)")
    check.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the states (default: 0)")
    check.add_argument("--tolerance", type=float, metavar="X", help="relative tolerance of all checks")
    check.add_argument("--json", action="store_true", help="print the reports as JSON")
    check.add_argument("--progress", action="store_true", help="show on stderr how far it is")

    cost = command("count", _count, "count the instructions of every Function")
    _add_robot(cost)
    _add_formulation(cost)
    _add_clean(cost)

    text = "write the equations of a robot as LaTeX, SymPy, Python, C or MATLAB"
    closed = command("derive", _with_model(derive.run), text, "export")
    _add_robot(closed)
    _add_clean(closed)
    derive.add_arguments(closed)

    drawn = command("plot", _with_model(plot.run), "draw a figure of a robot into a file (needs the extra plot)")
    figures = ", ".join(plot.FIGURES)
    drawn.add_argument("figure", metavar="FIGURE", choices=plot.FIGURES, help=f"one of {figures}")
    _add_robot(drawn)
    plot.add_arguments(drawn)

    shown = command("view", _with_model(view.run), "show a robot in the browser until Ctrl-C (needs the extra viewer)")
    _add_robot(shown)
    view.add_arguments(shown)
    return parser


def _add_robot(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    parser.add_argument("robot", nargs=nargs, metavar="ROBOT", help="name of a shipped robot, or path of a URDF")
    parser.add_argument("--free-flyer", action="store_true", help="let the root link move freely")
    parser.add_argument("--no-mimic", action="store_true", help="let mimic joints move freely (mimic=False)")


def _add_formulation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--formulation",
        action="append",
        metavar="NAME",
        help=f"one of {', '.join(formulations())}; repeatable (default: all)",
    )


def _add_clean(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clean",
        type=float,
        default=1e-11,
        metavar="X",
        help="tolerance of the cleaning of constants; 0 takes every bit as given (default: 1e-11)",
    )


def _robots(_: argparse.Namespace) -> int:
    rows = []
    for name in robots():
        model = load_urdf(name)
        rows.append((name, str(model.njoints - 1), str(model.nq), str(model.nv), _headline(name)))
    _print_table(("robot", "joints", "nq", "nv", ""), rows, left=(0, 4))
    return 0


def _headline(robot: str) -> str:
    """The first line of the comment at the head of a shipped robot's file."""
    text = (urdf.robot_folder() / f"{robot}.urdf").read_text(encoding="utf-8")
    return text.partition("<!--")[2].strip().partition("\n")[0]


def _info(arguments: argparse.Namespace) -> int:
    model = _load(arguments.robot, arguments)
    tree = read_tree(model)
    dynamics = NewtonEuler(tree, clean=arguments.clean)
    changes = dynamics.changes
    gravity = ", ".join(f"{g:.6g}" for g in tree.gravity)
    print(f"{tree.name}: nq = {tree.nq}, nv = {tree.nv}, gravity ({gravity}) m/s²")
    _print_table(("joint", "type", "parent", "mass [kg]", "armature"), [_row(tree, j) for j in tree.joints], (0, 1, 2))
    numbers = "1 number" if len(changes) == 1 else f"{len(changes)} numbers"
    effect = f", and tau by at most {dynamics.change_in_tau:.1e} (relative)" if changes else ""
    print(f"cleaning with tolerance {arguments.clean:g} changes {numbers}{effect}")
    for change in changes:
        print(f"  {change}")
    return 0


def _row(tree: Tree, joint: Joint) -> tuple[str, ...]:
    axis = getattr(joint.type, "axis", None)
    kind = type(joint.type).__name__ + ("" if axis is None else f" ({', '.join(f'{x:.6g}' for x in axis)})")
    if joint.scaling is not None:
        kind += f", mimics v[{joint.idx_v}]"
    parent = tree.joints[joint.parent].name if joint.parent >= 0 else "–"
    own = [f"{x:.6g}" for x in tree.armature[list(joint.columns)]] if joint.scaling is None else ["–"]
    return joint.name, kind, parent, f"{joint.mass:.6g}", own[0] if len(set(own)) == 1 else ", ".join(own)


def _validate(arguments: argparse.Namespace) -> int:
    chosen = _chosen(arguments)
    summaries, reports = [], []
    for model in [_load(robot, arguments) for robot in arguments.robot]:
        own = []
        for formulation in chosen.values():
            dynamics = formulation(model, clean=arguments.clean)
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
        failed = [report.candidate for report in own if not report.ok]
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


def _count(arguments: argparse.Namespace) -> int:
    chosen = _chosen(arguments)
    model = _load(arguments.robot, arguments)
    rows = []
    for name, formulation in chosen.items():
        dynamics = formulation(model, clean=arguments.clean)
        rows += [(name, *row) for row in _costs(dynamics)]
    _print_table((f"{model.name}", "Function", "instructions", "multiplications", "additions"), rows, left=(0, 1))
    return 0


def _costs(dynamics: Dynamics) -> Iterable[tuple[str, ...]]:
    for name in (*_FUNCTIONS, "terms"):
        try:
            function: ca.Function = getattr(dynamics, name)
        except UnsupportedError:
            yield name, "–", "–", "–"
        else:
            yield name, *(str(number) for number in count(function).values())


def _chosen(arguments: argparse.Namespace) -> dict[str, type[Dynamics]]:
    known = formulations()
    names = list(dict.fromkeys(arguments.formulation or known))
    for name in names:
        if name not in known:
            raise UnknownNameError("formulation", name, known)
    return {name: known[name] for name in names}


def _with_model(run: Callable[[pin.Model, argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    return lambda arguments: run(_load(arguments.robot, arguments), arguments)


def _load(robot: str, arguments: argparse.Namespace) -> pin.Model:
    root_joint = pin.JointModelFreeFlyer() if arguments.free_flyer else None
    return load_urdf(robot, root_joint=root_joint, mimic=not arguments.no_mimic)


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> None:
    """Aligned columns, those in ``left`` to the left."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            f"{cell:<{width}}" if k in left else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"{_PROG}: warning: {_one_line(message)}", file=sys.stderr)


def _one_line(message: object) -> str:
    return " ".join(str(message).split())

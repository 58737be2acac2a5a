"""The command line: robots, info, validate, count, derive, view."""

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

from gdalembert import urdf
from gdalembert.dynamics import Dynamics
from gdalembert.errors import ArgumentError, GdalembertError, UnknownNameError, UnsupportedError, UrdfWarning
from gdalembert.export import FORMATS, derive, write
from gdalembert.formulations.newton_euler import NewtonEuler
from gdalembert.functions import count
from gdalembert.reading import read_tree
from gdalembert.registry import formulations
from gdalembert.simplify.recipes import PrunedDynamics
from gdalembert.symbolic.graph import MAX_TERMS
from gdalembert.tree import Joint, Tree
from gdalembert.urdf import load_urdf, robots
from gdalembert.validation import validate
from gdalembert.viewer.command import add_view, view

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
    closed = command("derive", _derive, text, "export")
    _add_robot(closed)
    _add_clean(closed)
    _add_export(closed)

    shown = command("view", _view, "show a robot in the browser until Ctrl-C (needs the extra viewer)")
    _add_robot(shown)
    add_view(shown)
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


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", choices=FORMATS, required=True, help="latex and sympy: closed forms; else code")
    parser.add_argument(
        "--formulation",
        metavar="NAME",
        help=f"one of {', '.join(formulations())} (default: generalized_dalembert; newton_euler for code with numbers)",
    )
    parser.add_argument(
        "--terms",
        metavar="A,B,…",
        help="parts of the formulation, as D_tra,G or D,h,c, and Functions, as mass_matrix (default: all its parts; "
        "for code inverse_dynamics,mass_matrix,nle,generalized_gravity)",
    )
    constants = parser.add_mutually_exclusive_group()
    constants.add_argument("--symbolic", action="store_true", default=None, help="symbols for constants, also in code")
    constants.add_argument("--numbers", dest="symbolic", action="store_false", help="numbers, also in closed forms")
    parser.add_argument(
        "--max-terms",
        type=int,
        default=MAX_TERMS,
        metavar="N",
        help=f"products of terms at which closed forms are given up (default: {MAX_TERMS})",
    )
    parser.add_argument("--body-only", action="store_true", help="LaTeX without a preamble")
    parser.add_argument(
        "--simplify",
        type=float,
        metavar="X",
        help="leave out terms as long as no torque is wrong by more than X times its limit (code alone)",
    )
    for name, what in (("a-max", "accelerations"), ("v-max", "velocities"), ("tau-max", "torques")):
        default = "" if name == "a-max" else " (default: the model's)"
        text = f"with --simplify: the largest {what}, or one for all{default}"
        parser.add_argument(f"--{name}", metavar="X,Y,…", help=text)
    parser.add_argument("--output", metavar="PATH", help="a file, or a folder (default: print, if it is one file)")
    parser.add_argument("--force", action="store_true", help="replace files that are there")


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


def _derive(arguments: argparse.Namespace) -> int:
    simple = arguments.simplify is not None
    _check_simplify(arguments)
    if arguments.output == "":
        raise ArgumentError("--output is empty; give a file or a folder, '.' for the one you are in")
    if arguments.formulation == "newton_euler" and (arguments.to in ("latex", "sympy") or arguments.symbolic):
        raise UnsupportedError(
            "--formulation newton_euler: takes no symbols; give --formulation generalized_dalembert or lagrange_euler, "
            "or choose --to python, c or matlab without --symbolic"
        )
    model = _load(arguments.robot, arguments)
    try:
        files = derive(
            _simplified(model, arguments) if simple else model,
            arguments.to,
            formulation=arguments.formulation,
            terms=arguments.terms and [x.strip() for x in arguments.terms.split(",")],
            symbolic=arguments.symbolic,
            max_terms=arguments.max_terms,
            clean=arguments.clean,
            body_only=arguments.body_only,
        )
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


def _view(arguments: argparse.Namespace) -> int:
    return view(_load(arguments.robot, arguments), arguments)


def _check_simplify(arguments: argparse.Namespace) -> None:
    limits = {"--a-max": arguments.a_max, "--v-max": arguments.v_max, "--tau-max": arguments.tau_max}
    if arguments.simplify is None:
        for option, value in limits.items():
            if value is not None:
                raise ArgumentError(f"{option}: is a limit for --simplify, which is not given; give it, as 0.01")
        return
    if arguments.to in ("latex", "sympy"):
        raise UnsupportedError(f"--simplify: makes code, and --to is {arguments.to}; choose --to python, c or matlab")
    if arguments.formulation is not None or arguments.symbolic is not None:
        raise ArgumentError("--simplify: has its own equations in numbers; no --formulation, --symbolic or --numbers")
    if arguments.a_max is None:
        raise ArgumentError("--simplify: --a-max is missing; give the largest accelerations, as 8,6,12 or 10 for all")


def _simplified(model: pin.Model, arguments: argparse.Namespace) -> PrunedDynamics:
    limits = {name: getattr(arguments, name) for name in ("a_max", "v_max", "tau_max")}
    numbers = {name: None if text is None else _numbers(name, text) for name, text in limits.items()}
    return PrunedDynamics(
        model,
        arguments.simplify,
        a_max=numbers["a_max"] or [],
        v_max=numbers["v_max"],
        tau_max=numbers["tau_max"],
        clean=arguments.clean,
    )


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise ArgumentError(f"--{name.replace('_', '-')} {text}: give numbers, as 8,6,12 or 10 for all") from None


def _chosen(arguments: argparse.Namespace) -> dict[str, type[Dynamics]]:
    known = formulations()
    names = list(dict.fromkeys(arguments.formulation or known))
    for name in names:
        if name not in known:
            raise UnknownNameError("formulation", name, known)
    return {name: known[name] for name in names}


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

"""``gdalembert COMMAND …``: the parser, the exit status, and errors on one line.

A command's module is imported when the command is given: ``gdalembert --help`` loads neither Pinocchio nor CasADi.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Never

from gdalembert.errors import FileWarning, GdalembertError, UnknownNameError

PROG = "gdalembert"
_STATUS = (
    "exit status: 0 if all went well; 1 if a formulation disagrees with Pinocchio; "
    "2 if the command line or a robot cannot be used; 3 if gdalembert itself has a fault; 130 if interrupted; "
    "141 if nobody reads the output"
)
_COMMANDS = {
    "robots": ("tables", "list the robots that come with the package"),
    "info": ("tables", "show the joints, links, limits and frames of a robot, and which constants are rounded"),
    "validate": ("validate", "compare formulations with Pinocchio at random states"),
    "count": ("tables", "count the instructions of every Function"),
    "derive": ("derive", "write the equations of a robot as closed forms or as code"),
    "identify": ("identify", "find the parameters of a robot in the file of a measured motion"),
    "plot": ("plot", "draw a figure of a robot into a file (needs the extra plot)"),
    "view": ("view", "show a robot in the browser until Ctrl-C (needs the extra viewer)"),
    "report": ("report", "write one page of HTML about a robot: checks, validation, speed, torques, formulas, a scene"),
    "cache": ("tables", "sum up, list or remove the libraries of machine code"),
}
"""The name of each command, its module, and what it does."""
_ALIASES = {"derive": ("export",)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; see ``gdalembert --help``.

    A character that the encoding of the output does not have is written by its number, as Python does on stderr.

    Args:
        argv: the arguments, by default those of the process.

    Returns:
        The exit status: 0 only if all went well, 1 if a validation fails, 2 for errors, 3 for a fault of the package,
        130 if interrupted, 141 if the reader of the output has gone.
    """
    if sys.stdout is None:
        tell("error: standard output is closed; give one, as >output.txt")
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):  # may lack characters; what the user has chosen stays
        c_locale = sys.stdout.errors == "surrogateescape" and sys.stdout.encoding.lower() not in ("utf-8", "utf8")
        if c_locale or sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return _run(sys.argv[1:] if argv is None else list(argv))
    except BrokenPipeError:
        _discard_output()
        return 141
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    except (GdalembertError, OSError) as error:
        tell(f"error: {error}")
        try:
            sys.stdout.flush()
        except OSError:
            _discard_output()
        return 2
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        tell(f"a fault of the package: {type(error).__name__}: {error}; 'python -X dev -m {PROG} …' shows where")
        return 3


def _run(argv: Sequence[str]) -> int:
    """Read the arguments, run the command, and write all of its output."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FileWarning)
        warnings.showwarning = lambda message, *_, **__: tell(f"warning: {message}")
        try:
            arguments = _parser(argv).parse_args(argv)
            status: int = arguments.run(arguments)
        finally:  # also of --help, which raises SystemExit
            sys.stdout.flush()
    return status


def _discard_output() -> None:
    """Send to nowhere what could not be written, for the interpreter's own last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Version(argparse.Action):
    """Prints the version, which takes a moment to look up."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib import metadata

        print(f"{PROG} {metadata.version('gdalembert')}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Errors on one line, like all of ours: argparse prints the usage first, and drops help that cannot be written."""

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> Never:
        self.exit(2, f"{PROG}: error: {message}; see {self.prog} --help\n")


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands; only the command in argv has its arguments."""
    about = "Dynamics of Pinocchio models as CasADi graphs, checked against Pinocchio."
    parser = _Parser(prog=PROG, description=about, epilog=_STATUS)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # Before argparse, whose own message lists the choices and names none that is near.
    asked = next((text for text in argv if not text.startswith("-")), None)
    known = (*_COMMANDS, *(alias for aliases in _ALIASES.values() for alias in aliases))
    if asked is not None and asked not in known:
        raise UnknownNameError("command", asked, known)
    for name, (home, text) in _COMMANDS.items():
        aliases = _ALIASES.get(name, ())
        sentence = f"{text[0].upper()}{text[1:]}."
        subparser = commands.add_parser(name, aliases=aliases, help=text, description=sentence, epilog=_STATUS)
        if asked in (name, *aliases):  # the modules of all commands take 2.5 s to import
            module = import_module(f"gdalembert.cli.{home}")
            getattr(module, f"add_{name}")(subparser)
            subparser.set_defaults(run=getattr(module, f"run_{name}"))
    return parser


def tell(message: object) -> None:
    """Print a message as one line of stderr, if there is one."""
    if sys.stderr is not None:
        print(f"{PROG}: {' '.join(str(message).split())}", file=sys.stderr, flush=True)

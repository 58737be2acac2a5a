"""``gdalembert COMMAND …``: the parser, the exit status, and errors on one line.

A command's module is imported when the command is given: ``gdalembert --help`` loads neither Pinocchio nor CasADi.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Never, TextIO

from gdalembert.errors import GdalembertError, UrdfWarning

_PROG = "gdalembert"
_STATUS = (
    "exit status: 0 if all went well; 1 if a formulation disagrees with Pinocchio; "
    "2 if the command line or a robot cannot be used; 130 if interrupted; 141 if nobody reads the output"
)
_COMMANDS = {
    "robots": "list the robots that come with the package",
    "info": "show the joints and links of a robot, and which constants are rounded",
    "validate": "compare formulations with Pinocchio at random states",
    "count": "count the instructions of every Function",
    "derive": "write the equations of a robot as closed forms or as code",
    "plot": "draw a figure of a robot into a file (needs the extra plot)",
    "view": "show a robot in the browser until Ctrl-C (needs the extra viewer)",
}
"""The name of each command, which is that of its module, and what it does."""
_ALIASES = {"derive": ("export",)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; see ``gdalembert --help``.

    Args:
        argv: the arguments, by default those of the process.

    Returns:
        The exit status: 0 only if all went well, 1 if a validation fails, 2 for errors, 130 if interrupted, 141 if
        the reader of the output has gone.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    arguments = _parser(argv).parse_args(argv)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UrdfWarning)
        warnings.showwarning = _show_warning
        try:
            status: int = arguments.run(arguments)
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
    """Errors on one line, like all of ours; argparse would print the usage first."""

    def error(self, message: str) -> Never:
        self.exit(2, f"{_PROG}: error: {message}; see {self.prog} --help\n")


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands; only the command in argv has its arguments."""
    parser = _Parser(
        prog=_PROG,
        description="Dynamics of Pinocchio models as CasADi graphs, checked against Pinocchio.",
        epilog=_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"{_PROG} {metadata.version('gdalembert')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    given = next((text for text in argv if not text.startswith("-")), None)
    for name, text in _COMMANDS.items():
        aliases = _ALIASES.get(name, ())
        sentence = f"{text[0].upper()}{text[1:]}."
        own = commands.add_parser(name, aliases=aliases, help=text, description=sentence, epilog=_STATUS)
        if given in (name, *aliases):
            module = import_module(f"gdalembert.cli.{name}")
            module.add_arguments(own)
            own.set_defaults(run=module.run)
    return parser


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

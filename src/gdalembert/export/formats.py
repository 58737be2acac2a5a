"""The formats of exports; the module that writes a format registers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca

from gdalembert.export.closed import ClosedForms

Files: TypeAlias = dict[str, str]
"""Text by file name."""
CodeWriter: TypeAlias = Callable[[str, Mapping[str, ca.Function], Sequence[str]], Files]
"""``(name of the robot, Functions by name, lines for the head of each file)``."""
FormsWriter: TypeAlias = Callable[[ClosedForms], Files]


@dataclass(frozen=True)
class Format:
    """A format of exports.

    Attributes:
        name: what ``derive`` and the command line call it.
        closed: whether it takes closed forms; else it takes Functions.
        write: makes the files, as :data:`CodeWriter` or :data:`FormsWriter`.
        has_preamble: whether ``write`` takes ``body_only``.
    """

    name: str
    closed: bool
    write: Callable[..., Files]
    has_preamble: bool = False


FORMATS: dict[str, Format] = {}
"""All formats by name."""


def code_format(name: str) -> Callable[[CodeWriter], CodeWriter]:
    """Decorator that registers a format for graphs, written instruction by instruction."""

    def register(write: CodeWriter) -> CodeWriter:
        FORMATS[name] = Format(name, closed=False, write=write)
        return write

    return register


def closed_format(name: str, *, has_preamble: bool = False) -> Callable[[Any], Any]:
    """Decorator that registers a format for closed forms."""

    def register(write: Callable[..., Files]) -> Callable[..., Files]:
        FORMATS[name] = Format(name, closed=True, write=write, has_preamble=has_preamble)
        return write

    return register


def closed_formats() -> str:
    """The names of the formats for closed forms: ``"latex or sympy"``."""
    return _listed(closed=True)


def code_formats() -> str:
    """The names of the formats for code: ``"python, c or matlab"``."""
    return _listed(closed=False)


def _listed(*, closed: bool) -> str:
    *others, last = (each.name for each in FORMATS.values() if each.closed is closed)
    return f"{', '.join(others)} or {last}"

"""The parts of a formulation that are exported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.spatial.arguments import listed
from gdalembert.symbolic.closed_forms import CLOSED

NUMERIC = tuple(dict.fromkeys((*CLOSED, *FUNCTIONS)))
"""Functions that can be written as code."""


@dataclass(frozen=True)
class Choice:
    """A Function of a formulation, or one output of its ``terms``.

    Attributes:
        of: the name of the Function.
        output: the output, ``None`` for all of them.
    """

    of: str
    output: str | None = None

    @property
    def name(self) -> str:
        """Its name in exported code."""
        return self.output or self.of

    def function(self, dynamics: Dynamics) -> ca.Function:
        """The Function; that of a term has the inputs that the term depends on, and an output called value."""
        whole: ca.Function = getattr(dynamics, self.of)
        if self.output is None:
            return whole
        symbols = whole.sx_in()
        value = ca.densify(dict(zip(whole.name_out(), whole.call(symbols), strict=True))[self.output])
        used = [k for k, x in enumerate(symbols) if ca.depends_on(value, x)]
        names = [whole.name_in(k) for k in used]
        return ca.Function(self.output, [symbols[k] for k in used], [value], names, ["value"])


def choose(dynamics: Dynamics, terms: Iterable[str] | None, functions: Sequence[str]) -> list[Choice]:
    """The parts by their names: ``terms`` and its outputs, ``h`` for h_1, h_2, …, and Functions.

    Args:
        dynamics: the formulation on a robot.
        terms: the names; ``None`` for the formulation's own terms.
        functions: the names of the Functions that can be exported.

    Raises:
        UnknownNameError: if there is no such part.
        ArgumentError: if there are no names.
        ArgumentTypeError: if they are not strings.
    """
    names = ["terms"] if terms is None else [terms] if isinstance(terms, str) else listed(terms)
    if names is None:
        raise ArgumentTypeError(f"terms={shown(terms)}: give names, as ['mass_matrix']")
    if not names:
        raise ArgumentError("terms: none are given; name at least one, as 'mass_matrix'")
    if not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"terms={shown(names)}: give names, as ['mass_matrix']")
    try:
        outputs = dynamics.terms.name_out()
    except UnsupportedError:
        if "terms" in names:
            raise
        outputs = []
    available = [name for name in functions if hasattr(type(dynamics), name)]
    chosen: list[Choice] = []
    for name in names:
        numbered = [x for x in outputs if re.fullmatch(rf"{re.escape(name)}_\d+", x)]
        if name in available:
            chosen.append(Choice(name))
        elif name == "terms":
            chosen += [Choice("terms", x) for x in outputs]
        elif name in outputs or numbered:
            chosen += [Choice("terms", x) for x in ([name] if name in outputs else numbered)]
        else:
            families = dict.fromkeys(re.sub(r"_\d+$", "", x) for x in outputs)
            raise UnknownNameError(
                f"term of {called(dynamics)}", name, dict.fromkeys([*families, *outputs, "terms", *available])
            )
    return list(dict.fromkeys(chosen))


def called(dynamics: Dynamics) -> str:
    """The name of a formulation, or that of its class."""
    return getattr(dynamics, "name", type(dynamics).__name__)

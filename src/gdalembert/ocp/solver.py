"""The NLP solver of an ``Opti``, without output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from gdalembert.errors import ArgumentError

_QUIET = {"print_time": False, "detect_simple_bounds": True}
_QUIET_IPOPT = {"ipopt.print_level": 0, "ipopt.sb": "yes"}


def choose_solver(opti: ca.Opti, solver: str, options: Mapping[str, Any]) -> None:
    """Choose a solver by name; options override ours, which make it quiet.

    Raises:
        ArgumentError: if CasADi refuses them.
    """
    quiet: dict[str, Any] = _QUIET | (_QUIET_IPOPT if solver == "ipopt" else {})
    try:
        opti.solver(solver, quiet | dict(options))
    except Exception as error:
        raise ArgumentError(f"solve: CasADi refuses {solver!r} with {options}: {last_line(error)}") from None


def same_options(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether all values are equal numbers or texts, or the same objects."""
    plain = str | int | float
    return one.keys() == other.keys() and all(
        x is other[key] or (isinstance(x, plain) and isinstance(other[key], plain) and x == other[key])
        for key, x in one.items()
    )


def last_line(error: BaseException | None) -> str:
    """What an exception of CasADi says at last."""
    return str(error).strip().splitlines()[-1]

"""Citations of the package and of the sources of its formulations, which stand on their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from gdalembert.dynamics.dynamics import Dynamics
    from gdalembert.dynamics.sources import Source

Format = Literal["bibtex", "text"]

TITLE = "gdalembert: dynamics of Pinocchio models as CasADi graphs"
YEAR = 2026


def citation(format: Format = "bibtex", *, sources: bool = False) -> str:
    """Citation of this version of the package: one BibTeX entry, or one line of text.

    Args:
        format: ``"bibtex"`` or ``"text"``.
        sources: the sources of the formulations too, each with what it is used for.

    Raises:
        ArgumentError: if the format is neither of the two.
    """
    from importlib.metadata import metadata  # here, since the package imports this module at once

    from gdalembert.dynamics.sources import Source
    from gdalembert.spatial.arguments import choice, flag

    choice("citation: format", format, get_args(Format))
    flag("citation: sources", sources)
    about = metadata("gdalembert")
    fields = {"note": f"Version {about['Version']}", "year": str(YEAR)}
    package = Source("gdalembert", "misc", TITLE, (f"{{{about['Author']}}}",), "", fields)
    used = all_sources() if sources else ()
    if format == "text":
        return "\n".join([package.text, *(f"[{each.key}] {each.text} ({each.used_for})" for each in used)])
    return "\n\n".join([package.bibtex, *(f"% {each.used_for}\n{each.bibtex}" for each in used)])


def all_sources() -> tuple[Source, ...]:
    """The sources of all formulations, and of the flexible arm; each once."""
    from gdalembert.dynamics.dynamics import formulations
    from gdalembert.flexible.flexible_arm import FlexibleArm

    classes: list[type[Dynamics]] = [*formulations().values(), FlexibleArm]
    return tuple({source.key: source for each in classes for source in each.sources}.values())

"""How to cite the package, and the papers that its formulations come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from gdalembert.errors import ArgumentError

Format = Literal["bibtex", "text"]

TITLE = "gdalembert: dynamics of Pinocchio models as CasADi graphs"
YEAR = 2026


@dataclass(frozen=True)
class Source:
    """A paper, report or book.

    Attributes:
        key: its BibTeX key.
        kind: its BibTeX type.
        authors: initials and family name of each.
        used_for: what the package takes from it, by the name of the formulation where it is one.
        fields: further BibTeX fields, in the order in which a text lists them.
    """

    key: str
    kind: str
    title: str
    authors: tuple[str, ...]
    used_for: str
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def bibtex(self) -> str:
        """The entry."""
        rows = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}", **self.fields}
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in rows.items())
        return f"@{self.kind}{{{self.key},\n{body}\n}}"

    @property
    def text(self) -> str:
        """One line."""
        return ", ".join([*self.authors, self.title, *self.fields.values()]).replace("{", "").replace("}", "") + "."


SOURCES = (
    Source(
        "lee1982",
        "techreport",
        "An Efficient Formulation of Robot Arm Dynamics for Control Analysis and Manipulator Design",
        ("C. S. G. Lee", "B. H. Lee", "R. Nigam"),
        "generalized_dalembert",
        {"number": "RSD-TR-8-82", "institution": "University of Michigan", "year": "1982"},
    ),
    Source(
        "horn1977",
        "techreport",
        "Dynamics of a Three Degree of Freedom Kinematic Chain",
        ("B. K. P. Horn", "K. Hirokawa", "V. V. Vazirani"),
        "generalized_dalembert, link_torques",
        {"number": "AI Memo 478", "institution": "Massachusetts Institute of Technology", "year": "1977"},
    ),
    Source(
        "niku",
        "book",
        "Introduction to Robotics: Analysis, Control, Applications",
        ("S. B. Niku",),
        "lagrange_euler",
    ),
    Source(
        "luh1980",
        "article",
        "On-Line Computational Scheme for Mechanical Manipulators",
        ("J. Y. S. Luh", "M. W. Walker", "R. P. C. Paul"),
        "newton_euler",
        {"journal": "Journal of Dynamic Systems, Measurement, and Control", "year": "1980"},
    ),
    Source(
        "shala",
        "article",
        "Dynamic Modeling of 3 DoF Robot Manipulator",
        ("A. Shala", "R. Likaj"),
        "newton_euler",
        {"journal": "Acta Technica Corviniensis"},
    ),
    Source(
        "book1984",
        "article",
        "Recursive Lagrangian Dynamics of Flexible Manipulator Arms",
        ("W. J. Book",),
        "flexible links",
        {"journal": "The International Journal of Robotics Research", "year": "1984"},
    ),
    Source(
        "cetinkunt1988",
        "article",
        "Symbolic Modeling and Dynamic Simulation of Robotic Manipulators with Compliant Links and Joints",
        ("S. Cetinkunt", "W. J. Book"),
        "flexible links and joints",
        {"journal": "Robotics and Computer-Integrated Manufacturing", "year": "1988"},
    ),
)


def citation(format: Format = "bibtex", *, sources: bool = False) -> str:
    """How to cite this version of the package: one BibTeX entry, or one line of text.

    Args:
        format: ``"bibtex"`` or ``"text"``.
        sources: the papers of the formulations too, each with what it is used for.

    Raises:
        ArgumentError: if the format is neither of the two.
    """
    if format not in get_args(Format):
        raise ArgumentError(f"citation: format={format!r}; give 'bibtex' or 'text'")
    from importlib.metadata import metadata  # here, since every import of the package reads this module

    about = metadata("gdalembert")
    fields = {"note": f"Version {about['Version']}", "year": str(YEAR)}
    package = Source("gdalembert", "misc", TITLE, (f"{{{about['Author']}}}",), "", fields)
    if format == "text":
        lines = [package.text, *(f"[{each.key}] {each.text} ({each.used_for})" for each in SOURCES if sources)]
        return "\n".join(lines)
    return "\n\n".join([package.bibtex, *(f"% {each.used_for}\n{each.bibtex}" for each in SOURCES if sources)])

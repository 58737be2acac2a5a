"""The papers, reports and books that equations of motion come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gdalembert.spatial.brief import Brief


@dataclass(frozen=True)
class Source(Brief):
    """A paper, report or book.

    Attributes:
        key: its BibTeX key.
        kind: its BibTeX type.
        title: its title.
        authors: initials and family name of each.
        used_for: what the package takes from it, by the name of the formulation where it is one.
        fields: further BibTeX fields, in the order in which a text lists them.
        equations: what its equations are called, and where they stand.
    """

    key: str
    kind: str
    title: str
    authors: tuple[str, ...]
    used_for: str
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    equations: str = ""

    @property
    def bibtex(self) -> str:
        """The entry of a BibTeX file."""
        rows = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}", **self.fields}
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in rows.items())
        return f"@{self.kind}{{{self.key},\n{body}\n}}"

    @property
    def text(self) -> str:
        """The reference in one line of text."""
        return ", ".join([*self.authors, self.title, *self.fields.values()]).replace("{", "").replace("}", "") + "."

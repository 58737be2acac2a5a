"""The field's words among the index entries of the site, which its search shows before all other text.

This is an extension of Sphinx. An entry leads to the first paragraph of its page that has the word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WORDS = {
    "docs/cookbook": ("end effector",),
    "docs/optimal_control": ("initial state", "path constraint", "running cost", "stage cost", "terminal cost"),
    "docs/solvers": ("LICQ",),
    "docs/flexible": ("eigenfrequency", "brake", "motor side", "link side"),
}
"""By page; each page has them, if only in brackets."""
_FENCES = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"^(?!#).*$", re.MULTILINE)
"""All but headings."""


def paragraph_with(text: str, word: str) -> int:
    """Where the first heading that has a word begins, in singular or plural, or the first paragraph; or ValueError."""
    stem = re.escape(word.removesuffix("y"))
    prose = _FENCES.sub(_blank, text)
    for searched in (_TEXT.sub(_blank, prose), prose):
        if place := re.search(rf"\b{stem}", re.sub(r"\s", " ", searched), re.IGNORECASE):
            return text.rfind("\n\n", 0, place.start()) + 2
    raise ValueError(f"no paragraph has '{word}'")


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def with_index_entries(app: Sphinx, docname: str, source: list[str]) -> None:
    """A directive ``index`` before the paragraph of each word; ``!`` marks it as the main entry, which counts most."""
    for word in WORDS.get(docname, ()):
        place = paragraph_with(source[0], word)
        source[0] = f"{source[0][:place]}```{{index}} !{word}\n```\n\n{source[0][place:]}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", with_index_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The head of generated C: a comment, whatever is in it."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from gdalembert.nlp.step_code import _head
from gdalembert.spatial.source_text import comment_text
from tests.helpers.names import SPLICES


def as_compilers_read_it(text: str) -> str:
    """The text after trigraphs, and after lines are joined where they end with a backslash, blanks behind it or not."""
    return re.sub(r"\\[ \t]*\n", "", text.replace("??/", "\\"))


@pytest.mark.parametrize("name", SPLICES)
@pytest.mark.parametrize("cleaned", [True, False], ids=["cleaned", "as it is"])
def test_no_name_ends_the_comment(name: str, cleaned: bool) -> None:
    steps: Any = SimpleNamespace(arrays={}, sizes=SimpleNamespace(intervals=3))
    text = comment_text(name) if cleaned else name
    head = _head(steps, "tick", {}, f"Real-time iterations of {text}", f"The schedule:\n      0  {text}", 3, 0.5)
    read = as_compilers_read_it(head)
    assert read.startswith("/*")
    assert read.index("*/") == len(read) - 2

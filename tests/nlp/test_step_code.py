"""The texts of generated C are comments, whatever is in them."""

from __future__ import annotations

import re

import pytest

from gdalembert.nlp.step_text import Described, ExportedArray, head, header
from gdalembert.spatial.source_text import comment_text
from tests.helpers.names import SPLICES


def as_compilers_read_it(text: str) -> str:
    """The text after trigraphs, and after lines are joined where they end with a backslash, blanks behind it or not."""
    return re.sub(r"\\[ \t]*\n", "", text.replace("??/", "\\"))


@pytest.mark.parametrize("name", SPLICES)
@pytest.mark.parametrize("cleaned", [True, False], ids=["cleaned", "as it is"])
def test_no_name_ends_the_comment(name: str, cleaned: bool) -> None:
    text = comment_text(name) if cleaned else name
    exported = {"x_0": ExportedArray("x_0", f"entries: {text}")}
    about, remarks = f"Real-time iterations of {text}", f"The schedule:\n      0  {text}"
    code = Described("tick", exported, {"x_0": (2,)}, "double", about, remarks, 3, 0.5, 1, "", 100, 10, 1000)
    read = as_compilers_read_it("\n".join(head(code)))
    assert read.startswith("/*")
    assert read.index("*/") == len(read) - 2
    left = re.sub(r"/\*.*?\*/", "", as_compilers_read_it(header(code)), flags=re.DOTALL)
    assert [
        line for line in left.splitlines() if line and not line.startswith(("#", "extern ", "int tick(", "}"))
    ] == []

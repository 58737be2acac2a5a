"""Names of strangers in source text: none ends a comment or a string, and each names a file."""

from __future__ import annotations

import ast
import re

import pytest

import gdalembert as gd
from gdalembert.export import FORMATS, derive
from gdalembert.spatial.source_text import c_comment, comment_text, identifier

EVIL = (
    "arm*\\\n/ int canary(void) { return 7; } /*",  # a line splice makes the end of a comment
    "arm*\\ \n/ int canary(void) { return 7; } /*",  # compilers take a blank after the backslash
    "arm*??/\n/ int canary(void) { return 7; } /*",  # a trigraph is a backslash
    "*/ int canary(void) { return 7; } /*",
    "??/",
    "???/",
    "??\\/",
    'canary"""; canary = 7; """',
    "canary'''; canary = 7; '''",
    'canary"\ncanary = 7\n#',
    "canary\r\ncanary = 7",
    "canary\u2028canary = 7\u2029\x85\x0b\x0c\x1c",
    "canary\u202e\u2066 reversed \u2069",  # bidirectional controls reorder what a reader sees
    "$(canary()) `canary` \\$(canary())",
    "=# canary #= %} canary %{",
    "\\end{document}\\input{canary}^^5cinput",
    "\\",
    "\x00\x1b[31m\x7f",
)


def compiler_view(text: str) -> str:
    """Text after the first phases of a C compiler: trigraphs replaced, lines spliced, comments removed."""
    spliced = re.sub(r"\\[ \t]*\n", "", text.replace("??/", "\\"))
    return re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*", "", spliced), flags=re.DOTALL)


@pytest.mark.parametrize("name", EVIL)
def test_a_name_leaves_no_comment_and_no_string(name: str) -> None:
    text = comment_text(name)
    assert text.isascii()
    assert text.isprintable()
    assert not set("\\\"'*`") & set(text)
    assert "??" not in text
    assert compiler_view(f"/* {text}\n*/ end") == "  end"
    assert compiler_view("\n".join([*c_comment([name, "", name]), "end"])) == " \nend"
    for quote in ('"', "'", '"""', "'''"):
        assert ast.literal_eval(f"{quote}{text}{quote}") == text


def test_the_view_of_a_compiler_sees_what_is_not_cleaned() -> None:
    assert all("canary" in compiler_view(f"/* {name} */") for name in EVIL[:4])


def test_names_keep_what_is_harmless_and_are_cut() -> None:
    assert comment_text("LF_FOOT (left, 3.5 kg) é?") == "LF_FOOT (left, 3.5 kg) _xe9?"
    assert comment_text("x" * 300) == "x" * 197 + "..."
    assert comment_text("x" * 300, 10) == "xxxxxxx..."


def test_comments_keep_what_is_harmless() -> None:
    assert c_comment(["a * b / c", "", "d"]) == ["/*", " * a * b / c", " *", " * d", " */"]


@pytest.mark.parametrize("name", ["con", "NUL", "prn", "Aux", "com1", "LPT9", "con*", "1st", "", "_x", "ärm"])
def test_no_file_has_the_name_of_a_device_or_of_nothing(name: str) -> None:
    stem = identifier(name)
    assert stem.isascii()
    assert stem.isidentifier()
    assert stem[0].isalpha()
    assert stem.lower() not in ("con", "nul", "prn", "aux", "com1", "lpt9")


def test_files_of_a_robot_that_is_called_as_a_device() -> None:
    model = gd.load_urdf("two_link_arm")
    for name in ("con", "NUL"):
        model.name = name
        assert list(derive(model, "c", terms="mass_matrix")) == [f"robot_{name}.c", f"robot_{name}.h"]


@pytest.mark.parametrize("to", FORMATS)
def test_exports_hold_no_code_of_a_name(to: str) -> None:
    model = gd.load_urdf("two_link_arm")
    model.name, model.names[1], model.names[2] = EVIL[0], EVIL[2], EVIL[8]
    for text in derive(model, to, terms="generalized_gravity").values():
        if to == "c":
            assert not re.search(r"\bcanary\b", compiler_view(text))
        elif to in ("python", "jax", "sympy"):
            assert not [x for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Name) and x.id == "canary"]
        elif to != "latex":
            lines = [line for line in text.splitlines() if re.search(r"\bcanary\b", line)]
            assert lines
            assert all(line.startswith({"rust": "//!", "julia": "#", "matlab": "%"}[to]) for line in lines)
        else:
            assert r"\input" not in text

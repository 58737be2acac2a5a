"""The pages of the sources: their formulas are those derived, their code runs, their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sympy

import gdalembert.symbolic as gs
from tests.helpers.paths import ROOT
from tests.helpers.scripts import script
from tests.helpers.sets import quick

source_pages = script(ROOT / "docs" / "make_source_pages.py")
each_page = pytest.mark.parametrize("name", quick(source_pages.PAGES, "niku", "shala_likaj", "horn"))


def page(name: str) -> str:
    return (source_pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")


def test_every_source_has_its_page() -> None:
    assert sorted(source_pages.PAGES) == sorted(path.stem for path in source_pages.FOLDER.glob("*.md"))


@each_page
def test_the_formulas_are_those_derived(name: str) -> None:
    text = page(name)
    assert source_pages.written(text, source_pages.PAGES[name]()) == text


@each_page
def test_the_code_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", page(name), flags=re.MULTILINE | re.DOTALL)
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)
    assert capsys.readouterr().out


@each_page
def test_links_and_tests_are_there(name: str) -> None:
    text = page(name)
    links = re.findall(r"\]\(([^)]+)\)", text)
    tests = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert links
    assert tests
    missing = [x for x in links if not (source_pages.FOLDER / x).is_file()]
    assert missing + [x for x in tests if not (ROOT / x).is_file()] == []


@each_page
def test_tables_have_full_rows(name: str) -> None:
    for table in re.findall(r"(?:^\|.*\|\n)+", page(name), flags=re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table


def test_the_script_writes_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_pages, "FOLDER", tmp_path)
    monkeypatch.setattr(source_pages, "PAGES", {"one": lambda: {"M": "new"}})
    file = source_pages.FOLDER / "one.md"
    file.write_text("before\n<!-- derived: M -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    source_pages.main()
    assert file.read_text(encoding="utf-8") == "before\n<!-- derived: M -->\nnew\n<!-- end -->\nafter\n"


def test_a_misprint_is_refused() -> None:
    q = gs.TrigonometricPolynomial.symbol("q_2")
    derived = {"T": q.sin() * 2 * q.cos()}
    assert "2 \\mathrm{c}_{2} \\mathrm{s}_{2}" in source_pages.beside(derived, {"T": "2*s_2*c_2"})
    with pytest.raises(SystemExit, match="T as printed is not T as derived"):
        source_pages.beside(derived, {"T": "s_2*c_2"})
    with pytest.raises(SystemExit, match="give the same ones"):
        source_pages.beside(derived, {"T": "2*s_2*c_2", "U": "0"})


@pytest.mark.parametrize("blocks", [{}, {"M": "", "G": ""}, {"G": ""}])
def test_each_block_has_one_place(blocks: dict[str, str]) -> None:
    text = "<!-- derived: M -->\n<!-- end -->\n"
    assert source_pages.written(text, {"M": "x"}) == "<!-- derived: M -->\nx\n<!-- end -->\n"
    with pytest.raises(SystemExit, match="one place"):
        source_pages.written(text, blocks)
    with pytest.raises(SystemExit, match="one place"):
        source_pages.written(text + text, {"M": "x"})


def test_shorthand() -> None:
    q_2, q_3, beta = (gs.symbol(name) for name in ("q_2", "q_3", "beta"))
    written = gs.formula("s_23*c_2 + s_beta + c_3x")
    assert source_pages.long_hand(written) == (
        sympy.sin(q_2 + q_3) * sympy.cos(q_2) + sympy.sin(beta) + gs.symbol("c_3x")
    )

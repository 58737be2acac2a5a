"""The site as it is built: ``.ci/run site`` runs this after Sphinx, in the environment that has it."""

from __future__ import annotations

import html
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sphinx.search.en import SearchEnglish

import gdalembert as gd
from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

SITE = ROOT / "docs" / "_build"
PAGES = sorted((SITE / "docs" / "api").glob("*.html"))
ELSEWHERE = {
    "https://numpy.org/doc/stable/reference/",
    "https://web.casadi.org/python-api/#casadi.casadi.",
    "https://gepettoweb.laas.fr/doc/stack-of-tasks/pinocchio/master/doxygen-html/",
}
SEARCHED = {
    "inverse kinematics": {"docs/examples", "docs/api/kinematics"},
    "model predictive control": {"docs/examples", "docs/mpc"},
    "linkages": {"docs/examples"},
    "payload": {"docs/examples"},
    "friction": {"docs/forces"},
    "identification": {"docs/identification"},
    "calibration": {"docs/calibration"},
    "installation": {"docs/installation"},
    "flexible links": {"docs/flexible"},
}
"""What people search, and the pages that have it as a heading, which search shows before all other text."""


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def signatures() -> dict[str, str]:
    """Of each documented name, as a reader sees it."""
    found = re.findall(r'<dt class="sig[^>]* id="([\w.]+)">(.*?)</dt>', "".join(map(text, PAGES)), re.DOTALL)
    return {name: " ".join(html.unescape(re.sub(r"<[^>]+>", "", line)).split()) for name, line in found}


SIGNATURES = signatures()
START = text(SITE / "docs" / "index.html")


def test_every_public_function_has_types() -> None:
    functions = [name for name in gd.__all__ if inspect.isfunction(getattr(gd, name))]
    assert len(functions) > 10
    for name in functions:
        assert "→" in SIGNATURES[f"gdalembert.{name}"], name
        for parameter in inspect.signature(getattr(gd, name)).parameters:
            assert f"{parameter}: " in SIGNATURES[f"gdalembert.{name}"]


def test_no_type_is_written_as_it_is_stored() -> None:
    """The unions that NumPy's names stand for, and Pinocchio's private module."""
    hidden = ("_SupportsArray", "dtype[", "pinocchio_pywrap", "ForwardRef", "casadi.casadi.", "~", "<")
    assert {name for name, line in SIGNATURES.items() if any(each in line for each in hidden)} == set()


def test_each_page_begins_with_a_table_of_what_is_on_it() -> None:
    for page in PAGES:
        entries = set(re.findall(r'<dt class="sig[^>]* id="(gdalembert[\w.]+)">', text(page)))
        classes = set(
            re.findall(r'<dl class="py (?:class|exception)">\s*<dt class="sig[^>]* id="([\w.]+)">', text(page))
        )
        own = {name for name in entries if name.rpartition(".")[0] not in classes}
        if len(own) > 3:
            table = re.search(r'<table class="[^"]*\bsummary\b.*?</table>', text(page), re.DOTALL)[0]
            assert set(re.findall(r'href="#([\w.]+)"', table)) <= entries
            assert len(re.findall("<tr", table)) > 3


def test_types_of_other_packages_lead_to_them() -> None:
    links = set(re.findall(r'class="reference external" href="(https://[^"]+)"', "".join(map(text, PAGES))))
    assert {start for start in ELSEWHERE if any(link.startswith(start) for link in links)} == ELSEWHERE


@pytest.mark.parametrize("words", SEARCHED)
def test_search_finds_headings(words: str) -> None:
    index = re.fullmatch(r"Search\.setIndex\((.*)\)\s*", text(SITE / "searchindex.js"), re.DOTALL)
    found = json.loads(index[1])
    pages = {
        found["docnames"][place[0]]
        for title, at in found["alltitles"].items()
        for place in at
        if words in title.lower()
    }
    assert SEARCHED[words] <= pages


FIELD = {word: page for page, words in script(ROOT / "docs/search_words.py").WORDS.items() for word in words}
"""Words of the field, and the page that answers."""


@pytest.mark.parametrize("words", FIELD)
def test_search_finds_words_of_the_field(words: str) -> None:
    """The page that answers has all of them in its text, and an index entry, which search shows first."""
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)\s*", text(SITE / "searchindex.js"), re.DOTALL)[1])
    stems = [SearchEnglish({}).stem(word.lower()) for word in words.split()]
    number = index["docnames"].index(FIELD[words])
    for stem in stems:
        assert number in np.hstack([index[where].get(stem, []) for where in ("terms", "titleterms")])
    assert [(page, main) for page, _, main in index["indexentries"][words.lower()]] == [(number, True)]


def test_the_sidebar_has_eight_entries() -> None:
    entries = re.findall(r'<li class="toctree-l1.*?>\s*<a class="reference internal" href="(.*?)">(.*?)</a>', START)
    assert [name for _, name in entries] == [
        *("Start", "Control", "Flexible", "Identify"),
        *("Formulations", "Export", "Reference", "About"),
    ]
    assert 'class="toctree-l2' in START  # the others are folded below


def test_the_reference_begins_with_formulations() -> None:
    entries = re.findall(r'<a class="reference internal" href="(.*?)">', text(SITE / "docs/api/index.html"))
    inside = [entry for entry in entries if "/" not in entry and not entry.startswith("#")]
    assert inside[0] == "formulations.html"


def test_nothing_is_loaded_from_elsewhere() -> None:
    loaded = re.compile(r'<(?:script|img|link)[^>]* (?:src|href)="(?:https?:)?//')
    assert [page.name for page in SITE.rglob("*.html") if loaded.search(text(page))] == []


def test_each_notebook_stands_beside_its_page() -> None:
    notebooks = sorted(SITE.rglob("*.ipynb"))
    assert len(notebooks) > 30
    for notebook in notebooks:
        colab, here = re.search(
            r'</h1>\n<p class="notebook"><a href="(.*?)">Open in Colab</a><a href="(.*?)" download>',
            text(notebook.with_suffix(".html")),
        ).groups()
        assert here == notebook.name
        path = notebook.relative_to(SITE).as_posix()
        assert re.fullmatch(
            rf"https://colab\.research\.google\.com/github/[^/]+/[^/]+/blob/gh-pages/[^/]+/{path}", colab
        )

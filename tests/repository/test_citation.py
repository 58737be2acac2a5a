"""How to cite: one place, which CITATION.cff and pyproject.toml agree with."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from typing import Any

import pytest
import yaml

import gdalembert as gd
from gdalembert.citation import TITLE, YEAR, all_sources
from gdalembert.dynamics.dynamics import REGISTRY
from gdalembert.dynamics.sources import Source
from gdalembert.errors import ArgumentError
from tests.helpers.paths import ROOT

SOURCES = all_sources()


@pytest.fixture(scope="module")
def cff() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_package_is_that_of_the_citation_file(cff: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cff["version"] == project["version"] == version("gdalembert")
    assert [author["name"] for author in cff["authors"]] == [author["name"] for author in project["authors"]]
    assert (cff["title"], cff["date-released"].year) == (TITLE, YEAR)
    assert cff["license"] == project["license"]


def test_readme_has_the_entry_for_a_bibliography() -> None:
    assert gd.citation() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_sources_are_those_of_the_citation_file(cff: dict[str, Any]) -> None:
    listed = {
        each["title"]: (
            tuple(f"{author['given-names']} {author['family-names']}" for author in each["authors"]),
            each.get("year"),
            each.get("number"),
            each.get("journal"),
            each.get("institution", {}).get("name"),
        )
        for each in cff["references"]
    }
    ours = {
        source.title: (
            source.authors,
            int(source.fields["year"]) if "year" in source.fields else None,
            source.fields.get("number"),
            source.fields.get("journal"),
            source.fields.get("institution"),
        )
        for source in SOURCES
    }
    assert ours == listed


def test_the_kinds_of_the_sources_are_those_of_the_citation_file(cff: dict[str, Any]) -> None:
    kinds = {"report": "techreport", "book": "book", "article": "article"}
    listed = {each["title"]: kinds[each["type"]] for each in cff["references"]}
    assert {source.title: source.kind for source in SOURCES} == listed


def test_bibtex() -> None:
    assert gd.citation() == (
        "@misc{gdalembert,\n"
        "  author = {{The gdalembert developers}},\n"
        "  title = {{gdalembert: dynamics of Pinocchio models as CasADi graphs}},\n"
        f"  note = {{Version {version('gdalembert')}}},\n"
        "  year = {2026}\n"
        "}"
    )


def test_text() -> None:
    assert gd.citation("text") == f"The gdalembert developers, {TITLE}, Version {version('gdalembert')}, {YEAR}."


def test_with_the_sources() -> None:
    entries = gd.citation("bibtex", sources=True)
    assert re.findall(r"^@\w+\{(\w+),$", entries, re.MULTILINE) == ["gdalembert", *(each.key for each in SOURCES)]
    assert entries.count("{") == entries.count("}")
    lines = gd.citation("text", sources=True).splitlines()
    assert lines[0] == gd.citation("text")
    assert re.findall(r"^\[(\w+)\]", "\n".join(lines), re.MULTILINE) == [each.key for each in SOURCES]


def test_each_source_comes_with_what_it_is_used_for() -> None:
    entries = gd.citation("bibtex", sources=True).split("\n\n")[1:]
    assert entries == [f"% {each.used_for}\n{each.bibtex}" for each in SOURCES]
    lines = gd.citation("text", sources=True).splitlines()[1:]
    assert lines == [f"[{each.key}] {each.text} ({each.used_for})" for each in SOURCES]


def test_every_formulation_has_a_source() -> None:
    for cls in (gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler):
        assert {each.used_for.split(",")[0] for each in cls.sources} == {cls.name}
        assert cls.sources[0].equations
    assert all(each in SOURCES for each in gd.FlexibleArm.sources)


def test_sources_of_a_formulation_are_its_own() -> None:
    """Not those of the class that it is derived from; they are listed when it is registered."""

    class Another(gd.NewtonEuler):
        name = "another"

    try:
        assert Another.sources == ()
        assert all_sources() == SOURCES
        Another.sources = (Source("me2026", "misc", "Mine", ("A. Me",), "another"),)
        assert all_sources() == (*Another.sources, *SOURCES)
        assert "% another\n@misc{me2026,\n" in gd.citation(sources=True)
    finally:
        del REGISTRY["another"]


def test_an_unknown_format() -> None:
    with pytest.raises(ArgumentError, match=r"^citation: format: got 'ris'; give 'bibtex' or 'text'$"):
        gd.citation("ris")  # type: ignore[arg-type]

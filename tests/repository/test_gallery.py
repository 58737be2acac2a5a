"""The gallery of the documentation has each figure, and makes its pictures from its code."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from gdalembert import plotting
from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]


def make_gallery() -> ModuleType:
    return script(ROOT / "docs" / "make_gallery.py")


def test_every_figure_has_its_picture_in_the_gallery() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    pictures = [picture for _, picture in make_gallery().steps() if picture]
    assert sorted(pictures) == sorted(set(re.findall(r"\]\((images/\w+\.png)\)", page)))
    there = sorted((ROOT / "docs" / "images").glob("gallery_*.png"))
    assert [path.name for path in there] == sorted(Path(picture).name for picture in pictures)
    assert [path.name for path in there if path.stat().st_size > 120_000] == []
    code = "".join(code for code, _ in make_gallery().steps())
    assert [name for name in plotting.__all__ if f"plotting.{name}(" not in code] == []


def test_the_gallery_makes_its_pictures_from_its_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery = make_gallery()
    page = "```python\nimport matplotlib.pyplot as plt\n```\ntext\n```python\nplt.plot([1, 2])\n```\n\n"
    (tmp_path / "gallery.md").write_text(page + "![a line](images/gallery_line.png)\n", encoding="utf-8")
    monkeypatch.setattr(gallery, "HERE", tmp_path)
    monkeypatch.setattr(gallery, "PAGE", tmp_path / "gallery.md")
    gallery.main()
    assert (tmp_path / "images" / "gallery_line.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.startswith("images/gallery_line.png ")

"""The gallery of the documentation has each figure."""

from __future__ import annotations

import pytest

from gdalembert import plotting
from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

pytestmark = pytest.mark.extras
EXECUTE = script(ROOT / "docs" / "execute.py")


def test_every_figure_has_its_picture_in_the_gallery() -> None:
    blocks = EXECUTE.blocks((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"))
    there = sorted((ROOT / "docs" / "images").glob("gallery_*.png"))
    assert sorted(block.picture for block in blocks if block.picture) == [f"images/{path.name}" for path in there]
    assert [path.name for path in there if path.stat().st_size > 120_000] == []
    code = "".join(block.code for block in blocks)
    assert [name for name in plotting.__all__ if f"plotting.{name}(" not in code] == []

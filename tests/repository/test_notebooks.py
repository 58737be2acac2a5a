"""Each page is a notebook too: valid, with links that lead from anywhere, and it runs."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.scripts import script

pytestmark = pytest.mark.extras
EXECUTE = script(ROOT / "docs" / "execute.py")


@pytest.fixture
def notebooks() -> ModuleType:
    return script(ROOT / "docs" / "notebooks.py")


def test_every_page_is_a_notebook(notebooks: ModuleType) -> None:
    """With the code of its blocks after the cell that installs; nothing in it is relative, or MyST's."""
    published = notebooks.Published("v1.2.3", "https://github.com/o/n", "https://o.github.io/n/")
    assert {"README", "docs/flexible", "docs/gallery"} <= set(notebooks.pages())
    for name, page in notebooks.pages().items():
        made = notebooks.notebook(name, page, published)
        install, *code = [cell.source for cell in made.cells if cell.cell_type == "code"]
        text = page.read_text(encoding="utf-8")
        assert re.fullmatch(r'%pip install --quiet "gdalembert(\[[\w,]+\])?==1\.2\.3"', install)
        assert code == [block.code.rstrip() for block in EXECUTE.blocks(text)]
        prose = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
        assert prose.startswith("# ")
        assert [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if not link.startswith("https://")] == []
        assert not re.search(r"^```(\{|math|python)", prose, re.MULTILINE)
        images = [output for cell in made.cells for output in cell.get("outputs", ()) if "data" in output]
        assert len(images) == len([block for block in EXECUTE.blocks(text) if block.picture])


def test_addresses_follow_from_the_version(notebooks: ModuleType) -> None:
    release = notebooks.Published("v1.2.3", "https://github.com/o/n", "https://o.github.io/n/")
    main = notebooks.Published("main", release.repository, release.site)
    assert release.link("forces.md#friction", "docs/a") == "https://o.github.io/n/1.2.3/docs/forces.html#friction"
    assert release.link("#here", "docs/a") == "https://o.github.io/n/1.2.3/docs/a.html#here"
    assert main.link("../examples/a.py", "docs/a") == "https://github.com/o/n/blob/main/examples/a.py"
    assert main.link("images/a.png", "docs/a") == "https://github.com/o/n/raw/main/docs/images/a.png"
    start = "https://colab.research.google.com/github/o/n/blob/gh-pages/"
    assert [each.colab("docs/a") for each in (release, main)] == [
        f"{start}1.2.3/docs/a.ipynb",
        f"{start}main/docs/a.ipynb",
    ]
    assert release.requirement(["plot"]) == "gdalembert[plot]==1.2.3"
    assert main.requirement([]) == "gdalembert @ git+https://github.com/o/n@main"


def test_cells_that_need_a_package_of_no_extra_are_left_to_the_reader(notebooks: ModuleType) -> None:
    """Of the page on JAX and PyTorch the first, which installs, and the last, with what it prints."""
    name = "docs/learning"
    cells = notebooks.notebook(name, notebooks.pages()[name], notebooks.Published.here()).cells
    code = [each for each in cells if each.cell_type == "code"]
    assert ["skip-execution" in each.metadata.get("tags", ()) for each in code] == [True, False, False, True]
    assert "import torch" in code[-1].source
    assert code[-1].outputs[0].text == "True\nTrue\n"


@pytest.mark.long
@pytest.mark.parametrize("name", ["docs/case_study", "docs/continuous_joints"])
def test_a_notebook_prints_what_it_shows(name: str, notebooks: ModuleType, tmp_path: Path) -> None:
    """Run by Jupyter, from the file, in a folder with nothing else."""
    import nbformat
    from nbclient import NotebookClient

    notebooks.write(tmp_path, {name: notebooks.pages()[name]})
    shown = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4)
    run = NotebookClient(shown.copy(), resources={"metadata": {"path": str(tmp_path)}}).execute()
    for before, after in zip(shown.cells, run.cells, strict=True):
        one, other = (
            "".join(output.text for output in cell.get("outputs", ()) if output.output_type == "stream")
            for cell in (before, after)
        )
        assert EXECUTE.same(one, other)

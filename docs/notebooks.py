"""Each page that has Python blocks as a notebook, and on the site the links that open it in Colab and download it.

This is an extension of Sphinx. Without the site:

python docs/notebooks.py FOLDER [PAGE …]    writes the notebooks, by default of all pages
jupyter nbconvert --to notebook --execute --inplace FOLDER/*.ipynb

The first cell installs what the page needs. Outputs are those that the page shows, which ``execute.py`` has written.
"""

from __future__ import annotations

import base64
import os
import posixpath
import re
import sys
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

sys.path.insert(0, str(Path(__file__).parent))

import execute

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")  # of a picture inside a link too
_DIRECTIVE = re.compile(r"^```\{(?P<name>[\w-]+)\} *(?P<file>\S*)\n.*?^```\n", re.MULTILINE | re.DOTALL)
_MATH = re.compile(r"^( *)```math\n(.*?)^ *```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Published:
    """A version of the site, as main or v0.2.0, and of the repository: the metadata of the package have the address."""

    version: str
    repository: str
    site: str

    @classmethod
    def here(cls) -> Published:
        """The version that is being published, or main."""
        urls = dict(line.split(", ", 1) for line in metadata("gdalembert").get_all("Project-URL"))
        return cls(
            os.environ.get("SITE_VERSION", "main"),
            urls["Repository"],
            urls["Documentation"],
        )

    @property
    def release(self) -> str | None:
        """The number of a tag, which is also its folder on the site."""
        return self.version[1:] if re.match(r"v\d", self.version) else None

    def colab(self, name: str) -> str:
        """A notebook of the branch gh-pages, opened there; the name is that of the page, as docs/flexible."""
        owned = self.repository.removeprefix("https://github.com/")
        folder = self.release or self.version
        return f"https://colab.research.google.com/github/{owned}/blob/gh-pages/{folder}/{name}.ipynb"

    def requirement(self, extras: list[str]) -> str:
        package = f"gdalembert[{','.join(extras)}]" if extras else "gdalembert"
        return f"{package}=={self.release}" if self.release else f"{package} @ git+{self.repository}@{self.version}"

    def link(self, target: str, name: str) -> str:
        """The address of what a page links to: of pages on the site, of other files in the repository."""
        file, _, heading = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), file)) if file else f"{name}.md"
        if path.endswith(".md"):
            page = f"{self.site}{self.release or self.version}/{path.removesuffix('.md')}.html"
            return f"{page}#{heading}" if heading else page
        return f"{self.repository}/{'raw' if path.endswith(('.png', '.webp')) else 'blob'}/{self.version}/{path}"


_SKIPPED = {"tags": ["skip-execution"]}
"""By nbclient and nbconvert: a cell that installs, or that needs a package of no extra."""


def pages() -> dict[str, Path]:
    """Those that become notebooks, by the names that Sphinx gives them; the reference has entries, not a text."""
    names = {page.relative_to(execute.ROOT).with_suffix("").as_posix(): page for page in execute.pages()}
    return {name: page for name, page in names.items() if not name.startswith("docs/api/")}


def extras_of(text: str) -> list[str]:
    """Those that a page says how to install."""
    return sorted({extra for named in re.findall(r"gdalembert\[([\w,-]+)\]", text) for extra in named.split(",")})


def notebook(name: str, page: Path, published: Published) -> nbformat.NotebookNode:
    text = page.read_text(encoding="utf-8")
    install = f'%pip install --quiet "{published.requirement(extras_of(text))}"'
    cells = [new_code_cell(install, metadata=_SKIPPED)]
    at = 0
    for block in execute.blocks(text):
        cells += [
            *_prose(text[at : block.span[0]], name, published),
            new_code_cell(block.code.rstrip("\n"), metadata=_SKIPPED if block.needs else {}),
        ]
        cells[-1].outputs = _outputs(block, page)
        at = block.span[1]
    cells += _prose(text[at:], name, published)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same in each build, so that a notebook changes with its page alone
    made = new_notebook(cells=cells)
    made.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.validate(made)
    return made


def _prose(text: str, name: str, published: Published) -> list[nbformat.NotebookNode]:
    """A cell of Markdown without what MyST adds to it, or none."""

    def directive(found: re.Match[str]) -> str:
        file = found["file"]
        return f"[{posixpath.basename(file)}]({file})\n" if found["name"] == "literalinclude" else ""

    text = _MATH.sub(r"\1$$\n\2\1$$\n", _DIRECTIVE.sub(directive, text))
    text = _LINK.sub(lambda link: f"]({published.link(link[1], name)})", text).strip()
    return [new_markdown_cell(text)] if text else []


def _outputs(block: execute.Block, page: Path) -> list[nbformat.NotebookNode]:
    outputs = [new_output("stream", text=block.output)] if block.output else []
    if block.picture:
        picture = base64.b64encode((page.parent / block.picture).read_bytes()).decode()
        outputs.append(new_output("display_data", data={"image/png": picture}))
    return outputs


def write(folder: Path, chosen: dict[str, Path]) -> None:
    """Into a folder that has the folders of the site."""
    published = Published.here()
    for name, page in chosen.items():
        file = folder / f"{name}.ipynb"
        file.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook(name, page, published), file)


# ---- the site


def _write_on_site(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        write(Path(app.outdir), pages())


def _add_links(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: object,
) -> None:
    """Under the title."""
    if pagename in pages():
        colab, here = (
            Published.here().colab(pagename),
            f"{posixpath.basename(pagename)}.ipynb",
        )
        links = f'<a href="{colab}">Open in Colab</a><a href="{here}" download>Download the notebook</a>'
        context["body"] = context["body"].replace("</h1>", f'</h1>\n<p class="notebook">{links}</p>', 1)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _add_links)
    app.connect("build-finished", _write_on_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("give the folder of the notebooks: python docs/notebooks.py FOLDER [PAGE …]")
    asked = {Path(each).resolve() for each in sys.argv[2:]}
    write(
        Path(sys.argv[1]),
        {name: page for name, page in pages().items() if not asked or page in asked},
    )

"""The site: ``sphinx-build -c docs . docs/_build`` in the folder of README.

The source folder is that of README, so that links between README, the pages here and the results of the benchmarks
are the same on the site as in the repository.
"""

from __future__ import annotations

import re
from importlib.metadata import version as version_of

from sphinx.application import Sphinx

project = "gdalembert"
author = "The gdalembert developers"
release = version = version_of("gdalembert")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
extensions += ["sphinx-mathjax-offline"]  # MathJax is in the site: equations are read without a network
include_patterns = ["*.md", "docs/**.md", "benchmarks/**.md", "urdf/README.md"]
root_doc = "docs/index"

html_theme = "furo"
html_title = f"gdalembert {release}"
html_show_copyright = False
html_show_sourcelink = False
html_additional_pages = {"index": "start.html"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_attr_annotations = False
napoleon_use_rtype = False


def as_typed(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings hold equations: indented lines between paragraphs stay as they are typed, | and (q) are no markup."""
    typed: list[str] = []
    before = ""
    equation = False
    for line in lines:
        if line and not line.startswith(" "):
            equation = False
        elif line and not typed[-1] and before and not before.startswith((" ", ".. ", ":", "* ")):
            equation = True
            typed += [] if before.endswith("::") else ["::", ""]
        typed.append(line if equation else without_markup(line))
        before = line or before
    lines[:] = typed


def as_text(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """The first line of a property says what it is; behind a comment napoleon does not take it for a type."""
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def without_markup(line: str) -> str:
    """The line with | and a leading (q) escaped, but for what is typed as code."""
    parts = re.sub(r"^(\s*)\((\w)\) ", r"\1\\(\2) ", line).split("``")
    return "``".join(part if k % 2 else part.replace("|", "\\|") for k, part in enumerate(parts))


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", as_text, priority=100)
    app.connect("autodoc-process-docstring", as_typed, priority=900)

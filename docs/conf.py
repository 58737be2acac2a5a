"""The site: ``sphinx-build -c docs . docs/_build`` in the folder of README.

The source folder is that of README, so that links between README, the pages here and the results of the benchmarks
are the same on the site as in the repository.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "gdalembert"
author = "The gdalembert developers"
release = version = version_of("gdalembert")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
extensions += ["sphinx-mathjax-offline"]  # MathJax is in the site: equations are read without a network
extensions += ["api_reference", "notebooks", "search_words"]  # beside this file
include_patterns = ["*.md", "docs/**.md", "benchmarks/**.md", "urdf/README.md"]
exclude_patterns = [".*", "dist", "docs/_build", "examples", "src", "tests"]  # not searched for pages: 100,000 files
root_doc = "docs/index"

html_theme = "furo"
html_title = f"gdalembert {release}"
html_show_copyright = False
html_show_sourcelink = False
html_additional_pages = {"index": "start.html"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"has_versions": "SITE_VERSION" in os.environ}  # of a release, or of main, beside the others
html_sidebars = {
    "**": [
        *(f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start", "navigation")),
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Array": "numpy.ndarray"}
python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True
napoleon_attr_annotations = False
napoleon_use_rtype = False

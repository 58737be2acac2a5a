"""One folder of pages with the site of each version.

python .ci/site.py docs/_build pages v0.2.0

copies a site that is built into pages/0.2.0 (that of another name, as main, into pages/main), lists all of them in
pages/versions.html, and leads from pages/index.html to the newest release.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

_HEAD = '<!doctype html>\n<meta charset="utf-8">\n<title>gdalembert</title>\n'


def publish(site: Path, pages: Path, name: str) -> None:
    """Add a site, or replace the one of the same name."""
    if not (site / "index.html").is_file():
        sys.exit(f"{site}: has no index.html; build the site: bash .ci/run site")
    folder = pages / re.sub(r"^v(?=\d)", "", name)
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(site, folder, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))
    versions = sorted((each.parent.name for each in pages.glob("*/index.html")), key=_age)
    links = "".join(f'<li><a href="{each}/index.html">{each}</a></li>\n' for each in versions)
    newest = f'<meta http-equiv="refresh" content="0; url={versions[0]}/index.html">\n'
    (pages / "versions.html").write_text(f"{_HEAD}<h1>gdalembert</h1>\n<ul>\n{links}</ul>\n", encoding="utf-8")
    (pages / "index.html").write_text(f"{_HEAD}{newest}<ul>\n{links}</ul>\n", encoding="utf-8")
    (pages / ".nojekyll").touch()  # folders that begin with _ are shown too


def _age(name: str) -> tuple[bool, list[int], str]:
    """The newest release first, then what is no release."""
    numbers = [-int(each) for each in re.findall(r"\d+", name)] if name[0].isdigit() else []
    return not numbers, numbers, name


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(
            "give the built site, the folder of pages and the version: python .ci/site.py docs/_build pages v0.2.0"
        )
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])

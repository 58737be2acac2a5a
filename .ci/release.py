"""Whether a tag may be published; and if so, the text of its release: its section of CHANGELOG.md.

python .ci/release.py v0.2.0 "$ADDRESS" > release.md

The second argument is the address of the repository that publishes. It needs hatchling, which builds the package.
"""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def text_of_release(root: Path, tag: str, repository: str) -> str:
    """The section of CHANGELOG.md, with links to the files of the tag.

    Raises:
        SystemExit: with one sentence, if the tag, CHANGELOG.md, CITATION.cff or the address do not fit the version.
    """
    about = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    version = about["project"]["version"]
    address = about["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    if tag != f"v{version}":
        sys.exit(f"the tag is {tag}, the version in pyproject.toml {version}; tag v{version}, or set the version")
    if address != repository:
        sys.exit(f"pyproject.toml: repository is {address}, and {repository} publishes; set it there")
    heading, date, text = first_section((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if (heading, bool(date)) != (version, True):
        sys.exit(f"CHANGELOG.md: begins with [{heading}] {date}; give it the heading [{version}] - YEAR-MONTH-DAY")
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", (root / "CITATION.cff").read_text("utf-8"), re.M))
    if cited != {"version": version, "date-released": date}:
        sys.exit(f"CITATION.cff: has {cited}; CHANGELOG.md has {version} of {date}")
    absolute = runpy.run_path(str(ROOT / "hatch_build.py"))["with_absolute_links"]
    return str(absolute(text, repository, tag, "CHANGELOG.md"))


def first_section(changelog: str) -> tuple[str, str, str]:
    """The newest version of a changelog, its date ('' if it has none yet) and its text."""
    _, version, date, text = re.split(r"^## \[(.+)\](?: - (\S+))?$", changelog, maxsplit=1, flags=re.MULTILINE)
    return version, date or "", re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("give the tag and the address of the repository: python .ci/release.py v0.2.0 https://…")
    print(text_of_release(ROOT, *sys.argv[1:]), end="")

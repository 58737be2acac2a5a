"""What is published: the metadata, the text on PyPI, the release of a tag, the sizes on disk."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import tomllib
from email.message import Message
from functools import cache
from importlib.metadata import distribution
from importlib.util import cache_from_source
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

from tests.helpers.paths import ROOT

pytestmark = pytest.mark.extras

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]
REPOSITORY = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    return ZipFile(next(iter(WheelBuilder(str(ROOT)).build(directory=str(folder)))))


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    from email import message_from_bytes

    return message_from_bytes(wheel.read(f"gdalembert-{VERSION}.dist-info/METADATA"))


def test_the_wheel_has_the_package_and_its_robots(wheel: ZipFile) -> None:
    names = set(wheel.namelist())
    for folder, place in ((ROOT / "src" / "gdalembert", "gdalembert"), (ROOT / "urdf", "gdalembert/urdf")):
        files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        assert {f"{place}/{path.relative_to(folder).as_posix()}" for path in files} <= names
    assert {name.split("/")[0] for name in names} == {"gdalembert", f"gdalembert-{VERSION}.dist-info"}


def test_every_link_on_pypi_is_to_the_tag_of_the_version(metadata: Message) -> None:
    """And to a file that is there; README itself has those between its files relative."""
    written = str(metadata.get_payload(decode=True), "utf-8")
    there, here = LINK.findall(written), LINK.findall(README)
    assert len(there) == len(here) > 20
    assert all(link.startswith("https://") for link in there)
    inner = [(a, b) for a, b in zip(there, here, strict=True) if not b.startswith("https://")]
    for absolute, relative in inner:
        kind, path = re.fullmatch(rf"{re.escape(REPOSITORY)}/(blob|raw)/v{VERSION}/([^#]+)(?:#.+)?", absolute).groups()
        assert (ROOT / path).is_file()
        assert (kind == "raw") == path.endswith((".png", ".webp"))
        assert absolute.endswith(relative)
    assert LINK.sub("", written) == LINK.sub("", README)


def test_urls_follow_from_the_address(metadata: Message) -> None:
    urls = dict(each.split(", ") for each in metadata.get_all("Project-URL"))
    owner, name = REPOSITORY.split("/")[3:]
    assert urls == {
        "Documentation": f"https://{owner}.github.io/{name}/",
        "Repository": REPOSITORY,
        "Changelog": f"{REPOSITORY}/blob/v{VERSION}/CHANGELOG.md",
        "Issues": f"{REPOSITORY}/issues",
    }


def test_the_address_stands_in_one_place() -> None:
    """No other file of the source distribution names a repository or a site of this package."""
    pattern = re.compile(rb"github\.com/[^/\s]+/gdalembert\b|github\.io/gdalembert\b")
    files = [Path(each.path) for each in SdistBuilder(str(ROOT)).recurse_included_files()]
    assert ROOT / ".github" / "workflows" / "release.yml" in files
    found = {
        str(path.relative_to(ROOT)) for path in {*files, ROOT / "pyproject.toml"} if pattern.search(path.read_bytes())
    }
    assert found == {"pyproject.toml"}


# ---- the release of a tag


def release(root: Path, tag: str, repository: str) -> tuple[int, str, str]:
    command = [sys.executable, root / ".ci" / "release.py", tag, repository]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that a release is made of, as of a version that is complete."""
    (tmp_path / ".ci").mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "CITATION.cff", ".ci/release.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    date = re.search(r"^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M).group(1)
    text = f"# Changelog\n\n## [{VERSION}] - {date}\n\n- A [page](docs/a.md).\n\n## [0.0.1] - 2020-01-01\n\n- Old.\n"
    (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_release_has_its_section_of_the_changelog(checkout: Path) -> None:
    link = f"{REPOSITORY}/blob/v{VERSION}/docs/a.md"
    assert release(checkout, f"v{VERSION}", REPOSITORY) == (0, f"- A [page]({link}).\n", "")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("pyproject.toml", f'version = "{VERSION}"', 'version = "9.0"', f"the tag is v{VERSION}, the version in "),
        (
            "pyproject.toml",
            REPOSITORY,
            "https://example.org/a/b",
            "pyproject.toml: repository is https://example.org/a/b",
        ),
        ("CHANGELOG.md", f"## [{VERSION}]", "## [Unreleased]\n\n## [9.0]", r"CHANGELOG.md: begins with [Unreleased]"),
        ("CITATION.cff", f"version: {VERSION}", "version: 9.0", "CITATION.cff: has {'version': '9.0', 'date-release"),
        ("CITATION.cff", "date-released: 2", "date-released: 1", f"CITATION.cff: has {{'version': '{VERSION}', 'dat"),
    ],
)
def test_what_does_not_fit_is_not_released(checkout: Path, file: str, old: str, new: str, message: str) -> None:
    path = checkout / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    code, out, err = release(checkout, f"v{VERSION}", REPOSITORY)
    assert (code, out) == (1, "")
    assert err.startswith(message)


# ---- sizes on disk


@cache
def requirements(name: str, extra: str) -> frozenset[str]:
    """The distributions that one needs with an extra ('' for none), itself included."""
    found = {name}
    for line in distribution(name).requires or []:
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            canonical = re.sub(r"[-_.]+", "-", need.name).lower()
            found |= {canonical} if canonical in found else requirements(canonical, "")
            for inner in need.extras:
                found |= requirements(canonical, inner)
    return frozenset(found)


@cache
def size(name: str) -> int:
    """[bytes] That the files of a distribution take on disk, with their bytecode; none of the package itself."""
    installed = distribution(name)
    folder, record = str(installed.locate_file("")), installed.read_text("RECORD") or ""
    places = {os.path.join(folder, row[0]) for row in csv.reader(record.splitlines()) if name != "gdalembert"}
    places |= {cache_from_source(place) for place in places if place.endswith(".py")}  # uv does not record it
    return sum(os.stat(place).st_blocks * 512 for place in places if os.path.isfile(place))


def gigabytes(extra: str) -> float:
    return sum(map(size, requirements("gdalembert", extra))) / 1e9


def test_sizes_on_disk_are_measured() -> None:
    """Of the newest versions, with a tenth of tolerance for the next ones."""
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    alone = gigabytes("")
    for text in (page, README):
        said = re.search(r"(?:needs|installs) ([\d.]+) GB[^.]*?nearly\s+all of it\s+Pinocchio", text)
        assert float(said.group(1)) == pytest.approx(alone, rel=0.1)
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([\d.]+) GB \|$", page, re.MULTILINE))
    extras = PYPROJECT["project"]["optional-dependencies"]
    assert set(rows) == set(extras) - {"test", "test-all", "docs", "dev", "benchmark"}
    more = {extra: gigabytes(extra) - alone for extra in rows}
    assert {extra: float(said) for extra, said in rows.items()} == pytest.approx(more, rel=0.1, abs=0.01)
    test, test_all = re.search(r"with the package itself\s+([\d.]+) and ([\d.]+) GB", page).groups()
    assert [float(test), float(test_all)] == pytest.approx([gigabytes("test"), gigabytes("test-all")], rel=0.1)
    assert float(re.search(r"The second\b[^.]*\binstalls ([\d.]+) GB", README).group(1)) == float(test)


def test_the_table_of_extras_has_their_packages() -> None:
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    for extra, packages in re.findall(r"^\| `([\w-]+)` \| .* \| ([\w, -]*) \| [\d.]+ GB \|$", page, re.MULTILINE):
        needed = PYPROJECT["project"]["optional-dependencies"][extra]
        assert extra == "all" or packages.split(", ") == [Requirement(each).name for each in needed]

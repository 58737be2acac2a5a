"""The workflows of .github: they run what anyone can run, on every platform that the metadata name."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
STAGES = set(re.findall(r"^stage_(\w+)\(\)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE))
COMMANDS = {
    r'bash \.ci/run "\$STAGE"',  # of the matrix
    r'bash \.ci/push_site "\$GITHUB_REF_NAME"',
    r'\.venv/bin/python \.ci/release\.py "\$GITHUB_REF_NAME" "\$GITHUB_SERVER_URL/\$GITHUB_REPOSITORY" > release\.md',
    r'gh release create "\$GITHUB_REF_NAME" dist/\* --repo "\$GITHUB_REPOSITORY" .* --notes-file release\.md',
}
"""What a step runs besides a stage of .ci/run, as patterns; tests run the scripts among them."""


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in read(path)["jobs"].items():
            yield f"{path.stem}.{name}", job


JOBS = dict(jobs())


def test_each_step_runs_a_stage_or_a_script_that_is_tested() -> None:
    commands = [step["run"] for job in JOBS.values() for step in job.get("steps", []) if "run" in step]
    assert commands
    for command in commands:
        stages = re.fullmatch(r"bash \.ci/run ([\w ]+)", command)
        assert set(stages[1].split()) <= STAGES if stages else any(re.fullmatch(each, command) for each in COMMANDS)


def test_every_stage_runs_in_a_workflow() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    in_matrix = set(JOBS["tests.stage"]["strategy"]["matrix"]["stage"])
    assert in_matrix | set(re.findall(r"bash \.ci/run (\w+)", text)) == STAGES


def test_all_but_the_installed_wheel_run_without_a_choice() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert set(re.search(r"stages=\((\w.*)\)$", script, re.MULTILINE)[1].split()) == STAGES - {"installed"}


def test_an_unknown_stage_is_refused() -> None:
    done = subprocess.run(["bash", ROOT / ".ci" / "run", "lint", "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no stage x; see the head of .ci/run\n")


def test_platforms_are_those_of_the_metadata() -> None:
    """Python by the classifiers; Linux and macOS, each on both kinds of processors."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    matrices = [JOBS[name]["strategy"]["matrix"] for name in ("tests.quick", "release.installed")]
    assert matrices[0] == matrices[1]
    assert matrices[0]["python"] == versions
    assert project["requires-python"] == f">={versions[0]}"
    assert matrices[0]["os"] == ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel"]


def test_the_file_that_is_published_is_the_one_that_is_tested() -> None:
    """Nothing is built after the first job, and nothing is published before the others."""
    release = {name.partition(".")[2]: job for name, job in JOBS.items() if name.startswith("release.")}
    building = [name for name, job in release.items() if ".ci/run wheel" in str(job)]
    assert building == ["build"]
    assert set(release["publish"]["needs"]) == {"build", "tests", "installed"}
    assert release["announce"]["needs"] == "publish"
    downloads = {name for name, job in release.items() if "download-artifact" in str(job)}
    assert downloads == {"installed", "publish", "announce"}


def test_rights_are_few() -> None:
    """Reading, but for what publishes: which has no password."""
    rights = {path.stem: read(path)["permissions"] for path in WORKFLOWS}
    assert rights == {"tests": {"contents": "read"}, "release": {"contents": "read"}, "site": {}}
    more = {name: job["permissions"] for name, job in JOBS.items() if "permissions" in job}
    assert more == {
        "release.publish": {"id-token": "write"},
        "release.announce": {"contents": "write"},
        "site.publish": {"contents": "write"},
    }
    assert not any("secrets." in path.read_text(encoding="utf-8") for path in WORKFLOWS)
    assert all("timeout-minutes" in job for name, job in JOBS.items() if "uses" not in job)


@pytest.mark.extras
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", "workflows/*.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", "ISSUE_TEMPLATE/config.yml"),
        ("dependabot", "dependabot.yml"),
    ],
)
def test_files_have_the_form_that_github_reads(schema: str, files: str) -> None:
    paths = sorted((ROOT / ".github").glob(files))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert paths
    assert (done.returncode, done.stdout.strip()) == (0, "ok -- validation done")


# ---- the site of each version


def built(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(text, encoding="utf-8")
    return folder


def test_sites_of_versions_stand_side_by_side(tmp_path: Path) -> None:
    publish = runpy.run_path(str(ROOT / ".ci" / "site.py"))["publish"]
    pages = tmp_path / "pages"
    for name in ("main", "v0.9.1", "v0.10.0", "v0.10.0rc1", "v0.2.0"):
        publish(built(tmp_path / name, name), pages, name)
    publish(built(tmp_path / "again", "again"), pages, "main")
    links = re.findall(r'href="(.+)/index.html"', (pages / "versions.html").read_text(encoding="utf-8"))
    assert links == ["0.10.0", "0.10.0rc1", "0.9.1", "0.2.0", "main"]
    assert 'content="0; url=0.10.0/index.html"' in (pages / "index.html").read_text(encoding="utf-8")
    assert (pages / "main" / "index.html").read_text(encoding="utf-8") == "again"


def test_what_is_no_site_is_refused(tmp_path: Path) -> None:
    publish = runpy.run_path(str(ROOT / ".ci" / "site.py"))["publish"]
    with pytest.raises(SystemExit, match=r"has no index\.html; build the site: bash \.ci/run site$"):
        publish(tmp_path, tmp_path / "pages", "main")


def test_the_site_is_pushed_beside_those_that_are_there(tmp_path: Path) -> None:
    """Into a bare repository; the first time, and once more for a tag."""

    def git(*words: str, cwd: Path) -> str:
        return subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True).stdout

    origin, checkout = tmp_path / "origin.git", tmp_path / "checkout"
    git("init", "--quiet", "--bare", str(origin), cwd=tmp_path)
    git("clone", "--quiet", str(origin), str(checkout), cwd=tmp_path)
    (checkout / ".ci").mkdir()
    for name in ("push_site", "site.py"):
        shutil.copy(ROOT / ".ci" / name, checkout / ".ci" / name)
    git("add", "--all", cwd=checkout)
    git("-c", "user.name=me", "-c", "user.email=me@localhost", "commit", "--quiet", "-m", "Scripts", cwd=checkout)
    built(checkout / "docs" / "_build", "site")
    for name in ("main", "v0.2.0", "main"):
        (checkout / "docs" / "_build" / "index.html").write_text(f"site of {name}", encoding="utf-8")
        done = subprocess.run(
            ["bash", ".ci/push_site", name], cwd=checkout, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    files = git("ls-tree", "-r", "--name-only", "gh-pages", cwd=origin).split()
    assert files == [".nojekyll", "0.2.0/index.html", "index.html", "main/index.html", "versions.html"]
    assert git("worktree", "list", cwd=checkout).count("\n") == 1

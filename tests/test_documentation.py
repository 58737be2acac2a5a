"""What README and the pages in docs say: their code runs, and their numbers are those that are measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import robots

import gdalembert as gd

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=lambda page: page.name)
def test_code_blocks_run_in_order(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    registered = dict(gd.registry.REGISTRY)
    namespace: dict[str, object] = {}
    try:
        for block in python_blocks(page):
            exec(compile(block, str(page), "exec"), namespace)
    finally:
        gd.registry.REGISTRY.clear()
        gd.registry.REGISTRY.update(registered)
    assert capsys.readouterr().out


def test_the_own_formulation_in_the_docs_is_right() -> None:
    namespace: dict[str, object] = {}
    registered = dict(gd.registry.REGISTRY)
    try:
        for block in python_blocks(ROOT / "docs" / "extending.md"):
            exec(block, namespace)
    finally:
        gd.registry.REGISTRY.clear()
        gd.registry.REGISTRY.update(registered)
    model = gd.load_urdf("puma560")
    gd.validate(namespace["LagrangeByDifferentiation"](model), against=model, samples=20).raise_for_failure()


def test_the_five_line_start_has_five_lines() -> None:
    first = python_blocks(ROOT / "README.md")[0]
    assert len([line for line in first.splitlines() if line.strip()]) == 5


def test_the_cost_table_is_measured() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \|.*?\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", readme, re.MULTILINE
    )
    printed = {name: [int(x) for x in counts] for name, *counts in rows}
    models = [robots.load(name) for name in ("puma560_benchmark", "panda7", "talos")]
    measured = {}
    for cls in (gd.GeneralizedDAlembert, gd.LagrangeEuler, gd.NewtonEuler):
        dynamics = [cls(model) for model in models]
        measured[cls.__name__] = [
            graph.n_instructions() for dyn in dynamics for graph in (dyn.inverse_dynamics, dyn.mass_matrix)
        ]
    assert printed == measured


def test_the_recorded_sizes_are_measured() -> None:
    """benchmarks/results/sizes.md, for the two robots that need nothing but this package."""
    import sizes

    recorded = (robots.HERE / "results" / "sizes.md").read_text(encoding="utf-8")
    for name in ("puma560_benchmark", "panda7"):
        section = sizes.table([name]).split("## ", 1)[1]
        assert section.strip() in recorded


def test_every_shipped_robot_has_its_row() -> None:
    for page in (ROOT / "README.md", ROOT / "urdf" / "README.md"):
        text = page.read_text(encoding="utf-8")
        assert [name for name in gd.robots() if f"| `{name}` |" not in text] == []


def test_readme_has_exactly_two_set_up_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^<!-- setup: (\w+) -->\n```sh\n([^\n]*)\n```$", readme, re.MULTILINE)
    assert [name for name, _ in commands] == ["run", "test"]
    assert all("python3 -m venv" in command for _, command in commands)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rows_of_results_are_rows_of_results(page: Path) -> None:
    """Under "rows of FILE": the numbers of each row begin one of the file."""
    text = page.read_text(encoding="utf-8")
    for source, table in re.findall(r"<!-- rows of (\S+) -->\n((?:\|.*\n)+)", text):
        recorded = [cells(line)[1:] for line in (ROOT / source).read_text(encoding="utf-8").splitlines() if "|" in line]
        for row in table.splitlines()[2:]:
            numbers = cells(row)[1:]
            assert any(known[: len(numbers)] == numbers for known in recorded), row

"""The scripts in ``benchmarks``, with arguments for which they are quick: each runs and prints its numbers."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.common import tables
from tests.helpers.printed import assert_printed

RESULTS = tables.RESULTS
PAGES = sorted(RESULTS.glob("*.md"))

PRINTED = {
    "complexity.study --longest 2": (
        "| Table 1 | 5531 | 804 | 6.88 | 482 |",
        "| L-E literal, as written: D, H, G, τ | 98 | 1076 |",
        "| N-E regrouped inertia, every value once: τ | 8 | 49 |",
    ),
    "graph_size.sizes --without-peers puma560_benchmark": (
        "| inverse_dynamics | 764 (695) | 995 (915) | 347 (289) |",
        "| mass_matrix | 690 (601) | 666 (571) | 218 (139) |",
        "| forward_dynamics_derivatives | 6154 (5950) | 6478 (6270) | 2242 (2054) |",
    ),
}
"""A module with its arguments, and lines that it prints."""

TIMED = {
    "flexible.sizes --links 1": (r"^\| recursion, with\w* foreshortening \| (\d+) \((\d+\.\d\d) s\) \| – \|$", 12),
    "speed.speed --rounds 1 puma560_benchmark": (r"^\| PUMA 560 \| \S+ \| (\S+) \((\S+)×\) \| .* \| (\S+) \|$", 6),
    "speed.batch --rounds 1 puma560_benchmark": (
        r"^\| PUMA 560 \| .* \| 10,000 \| ([\d.,]+) \| ([\d.,]+)×? \|.*\|$",
        8,
    ),
}
"""A module with its arguments, a row whose numbers depend on the machine, and how many such rows there are."""


@pytest.mark.extras
@pytest.mark.parametrize(
    "command",
    [pytest.param(each, marks=[pytest.mark.system] * each.startswith("speed")) for each in (*PRINTED, *TIMED)],
)
def test_a_benchmark_prints_its_numbers(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And writes no page, as it does with its default arguments alone."""
    name, *arguments = command.split()
    script, folder = importlib.import_module(f"benchmarks.{name}"), tmp_path / "results"
    shutil.copytree(RESULTS, folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for module in (tables, script):
        monkeypatch.setattr(module, "RESULTS", folder, raising=False)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    script.main()
    said = capsys.readouterr().out
    assert_printed(said, *PRINTED.get(command, ()))
    row, number = TIMED.get(command, ("(?!)", 0))
    rows = re.findall(row, said, re.MULTILINE)
    assert len(rows) == number
    assert all(float(x.replace(",", "")) > 0 for cells in rows for x in cells)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recorded_page_has_small_pictures(page: Path) -> None:
    pictures = re.findall(r"\]\((\w+\.png)\)", page.read_text(encoding="utf-8"))
    assert pictures == ([f"{page.stem}.png"] if (RESULTS / f"{page.stem}.png").is_file() else [])
    assert all(0 < (RESULTS / name).stat().st_size < 150_000 for name in pictures)


def test_most_recorded_pages_have_pictures() -> None:
    assert len(list(RESULTS.glob("*.png"))) >= 10

"""Recorded results are read as they were written, and drawn again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from matplotlib import pyplot

import gdalembert as gd
from benchmarks.common import robots, tables
from benchmarks.complexity import study as complexity
from benchmarks.graph_size import scaling, sizes
from benchmarks.simplification import simplification

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]

STUDIES = {"sizes": sizes, "scaling": scaling, "complexity": complexity, "simplification": simplification}


def results(name: str) -> str:
    return (robots.HERE / "results" / f"{name}.md").read_text(encoding="utf-8")


def test_recorded_results_are_read_as_they_were_written() -> None:
    assert scaling.table(scaling.recorded()) == results("scaling")
    assert complexity.table(complexity.recorded()) == results("complexity")
    comparison = sizes.recorded()
    text = results("sizes")
    assert list(comparison) == list(sizes.COMPARED)
    for rows in comparison.values():
        assert list(rows) == list(robots.NAMES)
        for name, row in rows.items():
            shown = re.findall(rf"^\| {name} \| {row['N–E']} .*\| ([\d.]+) \|$", text, re.MULTILINE)
            assert f"{row['N–E'] / row['Pinocchio']:.2f}" in shown
    assert "urdf2casadi" not in comparison["inverse_dynamics"]["talos"]
    by_limit, by_use, newton_euler = simplification.recorded()
    assert [f"{allowed:g}" for allowed in by_limit] == [f"{100 * e:g}" for e in simplification.ERRORS if e]
    assert list(by_limit) == list(by_use)
    assert newton_euler == gd.NewtonEuler(gd.load_urdf("puma560")).inverse_dynamics.n_instructions()
    for points in (by_limit, by_use):
        for allowed, (cost, seen) in points.items():
            row = rf"^\| {allowed:g} % \|(?:[^|]*\|){{3}} {cost:g} \|(?:[^|]*\|){{3}} {seen:g} % \|"
            assert re.search(row, results("simplification"), re.MULTILINE)


@pytest.mark.parametrize("name", STUDIES)
def test_figures_are_drawn_again_from_the_results(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = STUDIES[name]
    (tmp_path / f"{name}.md").write_text(results(name), encoding="utf-8")
    monkeypatch.setattr(script, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", [name, "--redraw"])
    script.main()
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / f"{name}.md").read_text(encoding="utf-8") == results(name)
    assert pyplot.get_fignums() == []


def test_without_matplotlib_a_benchmark_writes_its_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    for name in [name for name in sys.modules if name.startswith("gdalembert.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(gd, "plotting")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match=r"scaling\.md is written, scaling\.png is not: pip install"):
        tables.write("scaling", "text", lambda: scaling.draw(scaling.recorded()))

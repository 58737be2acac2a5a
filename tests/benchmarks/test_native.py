"""The benchmark in C++: what the program prints becomes a table and a figure."""

from __future__ import annotations

import re

import pytest

from benchmarks.common.tables import RESULTS
from benchmarks.speed import native

ANSWER = "error 1e-12\n" + "".join(
    f"time\t{name}\t{seconds}\n"
    for round_ in range(3)
    for name, seconds in (
        ("mass_matrix", 4e-7),
        ("mass_matrix WORLD", 2e-7 * (1 + round_)),
        ("ours 0", 1e-7),
        ("ours 1", 2e-8 * (1 + round_)),
    )
)


def test_ratios_are_those_of_a_round_to_the_faster_convention() -> None:
    times = native._read(ANSWER, "test")
    assert times["mass_matrix WORLD"] == pytest.approx([2e-7, 4e-7, 6e-7])
    assert native.ratios(times, "mass_matrix WORLD") == pytest.approx({native.SCALAR: 4, native.SIMD: 10})
    (row,) = native.table({("panda7", "mass_matrix"): times})[2:]
    assert row == "| Panda arm | M | 400 | 100 | 40 | 4.0× | 10.0× |"


def test_outputs_that_differ_are_not_timed() -> None:
    with pytest.raises(SystemExit, match="panda7: the outputs differ by 1e-3"):
        native._read("error 1e-3\n", "panda7")


def test_the_recorded_table_has_every_function_of_every_robot() -> None:
    text = (RESULTS / "native.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S[^|]*) \| (\S[^|]*) \|.*× \| [\d.]+× \|$", text, re.M)
    symbols = {name: symbol for name, (symbol, _) in native.FUNCTIONS.items()}
    robots = [(robot, native.functions(robot)) for robot in native.ROBOTS]
    assert rows == [(native.TITLES[robot], symbols[name]) for robot, names in robots for name in names]
    assert len(rows) == 3 * 6 + 4


@pytest.mark.extras
def test_the_figure_has_a_panel_for_each_robot() -> None:
    figure = native.draw(native.recorded((RESULTS / "native.md").read_text(encoding="utf-8")))
    assert [axis.get_title() for axis in figure.axes] == [native.TITLES[robot] for robot in native.ROBOTS]
    assert [len(axis.patches) for axis in figure.axes] == [12, 12, 12, 8]
    assert [bar.get_width() for bar in figure.axes[0].patches][::6] == [8.5, 41.6]

"""Published results: rods and beams beside what is printed, and beside second computations without the package."""

from __future__ import annotations

import dataclasses
import re
import sys

import numpy as np
import pytest

import gdalembert as gd
from benchmarks.flexible import published
from tests.helpers import rods_apart
from tests.helpers.printed import EXECUTE
from tests.helpers.sets import quick

BARS: dict[str, tuple[float | None, tuple[float, ...]]] = {
    "elastica": (6e-6, (3e-5, 3e-6)),  # five decimals are printed
    "bend": (2e-3, (2e-6, 1.2e-4)),  # eight elements; without stretch and shear
    "princeton": (8e-4, (6e-5,)),  # ANSYS's elements
    "timoshenko": (1e-7, (1e-10,)),
    "roll_up": (None, (0.2, 2e-8)),
    "follower": (None, (2.5e-2, 2e-3, 1e-5)),
    "flapping": (2e-5, (3e-5, 7e-3, 1.5e-3)),  # four decimals
    "lagging": (None, (1.5e-4, 1e-2, 8e-3)),
    "spin_up": (1e-3, (1.5e-4, 1.5e-4, 5e-3)),  # three digits
    "kane": (None, (2e-4, 1.2e-2, 1.2e-2)),
}
"""How far the print and the models may be from the second computation, over the size of the table."""


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    """The tables of the page."""
    page = published.PAGE.read_text(encoding="utf-8")
    return {match[2]: match[0] for match in published.REGION.finditer(page)}


@pytest.mark.parametrize("name", quick(BARS, "elastica", "timoshenko"))
def test_a_published_result(name: str, recorded: dict[str, str]) -> None:
    """And the page has the table, its numbers as those of other pages."""
    table, (print_bar, bars) = published.TABLES[name](), BARS[name]
    assert np.isnan(table.printed).all() == (print_bar is None)
    assert print_bar is None or table.off(table.printed) < print_bar
    for robot, bar in zip(table.robots, bars, strict=True):
        assert bar / 50 < table.off(robot.results) < bar or bar < 1e-7
    lines = recorded[name].splitlines()[1:-1]
    assert len(lines) == len(table.rows())
    for line, wanted in zip(lines, table.rows(), strict=True):
        assert EXECUTE.same(line, wanted), f"{line}\n{wanted}"
    if name == "roll_up":  # the nodes do not resolve four turns, and say so
        assert table.robots[0].unresolved == pytest.approx(0.194, rel=1e-2)
    if name == "follower":  # the nodes resolve what a cubic does not have
        assert table.robots[0].unresolved < 1e-3 < table.off(table.robots[0].results)


def test_each_benchmark_is_on_the_page(recorded: dict[str, str]) -> None:
    assert [*recorded] == [*published.TABLES]
    assert {*BARS} == {*published.TABLES}


@pytest.mark.long
def test_eight_elements_are_not_converged() -> None:
    """Of the 45° bend: elements of two nodes come to shooting with h², and eight to the print within 0.05."""
    length, stiff = published.BEND_LENGTH, published.BEND_MODULUS
    true = rods_apart.tip_under_force(length, np.array([1, 2, 2, 12, 12, 12]) / stiff, [0, 0, 600], 0.01)
    tips = {n: rods_apart.bend_of_elements(n, [600])[0] for n in (8, 16, 32)}
    page = published.PAGE.read_text(encoding="utf-8")
    for tip in tips.values():
        assert ", ".join(f"{x:.2f}" for x in tip) in page
    printed = np.array([float(x) for x in published.BEND[600].split()])
    assert np.abs(tips[8] - printed).max() < 0.05 < np.abs(tips[8] - true).max()
    np.testing.assert_allclose(tips[32] + (tips[32] - tips[16]) / 3, true, atol=1e-4)
    saint_venant = np.array([1, 2, 2, 2 / 0.1405770, 12, 12]) / stiff
    other = rods_apart.tip_under_force(length, saint_venant, [0, 0, 600], 0.01)
    assert ", ".join(f"{x:.1f}" for x in other) == "46.9, 15.6, 53.6"


@pytest.mark.long
def test_a_beam_that_does_not_shorten_is_lost() -> None:
    link = gd.FlexibleLink(published.KANE.beam, bending_y=gd.modes.clamped_free(2), foreshortening=False)
    assert np.abs(published.KANE.lag(published.arm(link))).max() > 10 * published.KANE.beam.length


def test_second_computations_agree_with_each_other() -> None:
    """A plane elastica by shooting in space, a soft bar, a follower force that is small, a beam that does not spin."""
    u, w, _ = rods_apart.elastica(2.0)
    tip = rods_apart.tip_under_force(1.0, [0, 0, 0, 0, 0, 1.0], [0, 2.0, 0], loads=2)
    np.testing.assert_allclose(tip, [1 - u, w, 0], atol=1e-9)
    assert rods_apart.follower(1e-4)[1] == pytest.approx(1e-4 / 3, rel=1e-6)
    assert rods_apart.flapping(0.0, 3.5) == pytest.approx(1.8751040687119611**2, rel=1e-9)
    assert rods_apart.stretch(0.01, 2.0, 3.0, 4.0) == pytest.approx(0.01**2 * 3 / 4 * 8 / 3, rel=1e-3)


def test_tables_go_to_their_places(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = published.Table("x", ["a", "b"], ["1.00", ""], "again", np.array([[1.0], [-2.0]]), 1, "of l", 2.0, [])
    rows = table.rows()
    assert rows[2:5] == ["| a | 1.00 | 1.0 |", "| b | – | −2.0 |", "| largest difference, of l | 0.0e+00 | – |"]
    page = "<!-- published: one -->\nold\n<!-- end -->\n<!-- published: two -->\nkept\n<!-- end -->\n"
    placed = published.written(page, {"one": table})
    assert re.findall(r"\| a .*\n", placed) == [rows[2] + "\n"]
    assert "old" not in placed
    assert "\nkept\n" in placed
    monkeypatch.setattr(published, "TABLES", {"one": lambda: dataclasses.replace(table)})
    monkeypatch.setattr(sys, "argv", ["published", "one"])
    monkeypatch.setattr(published, "PAGE", None)  # nothing is written
    published.main()
    assert rows[2] in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["published", "three"])
    with pytest.raises(SystemExit):
        published.main()
    assert "no benchmark three; there are one" in capsys.readouterr().err

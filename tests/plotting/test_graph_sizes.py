"""Instruction counts, compared and over the number of joints, and errors of simplified robots beside their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.plots import lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]
A_MAX = [8, 6, 12, 25, 25, 25]


def test_sizes_are_drawn_in_multiples_of_the_reference() -> None:
    ax = plotting.instructions({"arm": {"N–E": 1000, "other": 2500}, "leg": {"N–E": 400, "other": None}}, "N–E")
    (bars,) = ax.containers
    assert [(bar.get_y(), bar.get_height()) for bar in bars] == [(1, 1.5), (1, 0)]
    assert [text.get_text() for text in ax.texts] == ["2.5", "–"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["arm\n1,000", "leg\n400"]
    assert ax.get_ylabel() == "instructions / N–E"
    with pytest.raises(ArgumentError, match="robot 'leg' has no count for 'N–E'; give one above 0"):
        plotting.instructions({"leg": {"other": 3}}, "N–E")


def test_growth_is_drawn_with_its_texts() -> None:
    counts = {"a": {1: 10, 10: 1000}, "b": {1: 9, 10: 900}}
    corner = plotting.scaling(counts, texts={"a": "$n^2$"})
    assert {name: line.tolist() for name, line in lines(corner).items()} == {"a": [10, 1000], "b": [9, 900]}
    assert (corner.get_xscale(), corner.get_yscale()) == ("log", "log")
    assert (corner.get_xlabel(), corner.get_ylabel()) == ("joints n", "instructions")
    assert [text.get_text() for text in corner.texts] == ["$n^2$"]
    ends = plotting.scaling(counts, texts={"a": "A", "b": "B"}, at_ends=True, key=False)
    assert ends.get_legend() is None
    heights = {text.get_text(): np.log10(text.get_position()[1]) for text in ends.texts}
    assert heights["A"] - heights["B"] == pytest.approx(0.26)  # moved apart


@pytest.mark.parametrize("draw", [plotting.scaling, lambda x: plotting.instructions(x, "N–E")])
def test_counts_that_are_none_are_refused(draw: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected counts as \{name: \{name or n: count\}\}, got (list|dict)"):
        draw([1, 2])
    with pytest.raises(ArgumentTypeError, match="expected counts"):
        draw({"a": 3})
    for empty in ({}, {"a": {}}):
        with pytest.raises(ArgumentError, match="got no counts; give at least one"):
            draw(empty)


def test_errors_stand_beside_their_bounds() -> None:
    simple = gd.PrunedDynamics(gd.load_urdf("puma560"), 0.03, a_max=A_MAX)
    check = simple.check(50, seed=2, corners=True)
    for ax in (plotting.pruning_error(simple, samples=50, seed=2, corners=True), plotting.pruning_error(check)):
        assert ax.get_ylabel() == "torque error [% of the limit]"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == list(simple.tree.velocity_names)
        bound, seen = ([bar.get_height() for bar in bars] for bars in ax.containers)
        assert bound == pytest.approx(100 * simple.bound / simple.limits.tau)
        assert seen == pytest.approx(100 * check.observed / simple.limits.tau)
        assert lines(ax)["RMS error"] == pytest.approx(100 * check.rms / simple.limits.tau)
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert texts == ["bound, guaranteed", "largest of 50 states", "RMS error"]
    with pytest.raises(
        ArgumentTypeError, match="expected a PrunedDynamics or the result of its check, got NewtonEuler"
    ):
        plotting.pruning_error(gd.NewtonEuler(gd.load_urdf("puma560")))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["texts", "styles", "at_ends", "key"])
def test_options_of_another_kind_are_refused(name: str) -> None:
    for given in ("no", 1.0, np.zeros(0)):
        with pytest.raises(ArgumentTypeError, match=rf"^scaling: {name}"):
            plotting.scaling({"a": {1: 10, 10: 1000}}, **{name: given})  # type: ignore[arg-type]

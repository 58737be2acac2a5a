"""The benchmark in C++: who takes part, that outputs are compared, and what the times become."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

import gdalembert as gd
from benchmarks.common.robots import HERE
from benchmarks.common.tables import RESULTS
from benchmarks.speed import native, programs
from benchmarks.speed.programs import Contestant

TIMES = {
    f"{native.PINOCCHIO} LOCAL": np.array([5e-7, 4e-7, 6e-7, 4e-7]),
    f"{native.PINOCCHIO} WORLD": np.array([3e-7, 9e-7, 3e-7, 9e-7]),
    native.NATIVE: np.array([2.4e-7, 2e-7, 9e-7, 2e-7]),
    native.OURS: np.array([1e-7, 8e-7, 2e-7, 1e-7]),
    native.BATCH: np.array([9e-8, 2e-8, 2e-8, 8e-8]),
}
"""Four rounds; one of the columns that a function can lack is not there."""


def test_a_time_is_the_fastest_round_of_the_faster_convention() -> None:
    assert native.fastest(TIMES) == pytest.approx(
        {native.PINOCCHIO: 300, native.NATIVE: 200, native.OURS: 100, native.BATCH: 20}
    )
    seconds, gains = native.tables({("panda7", "mass_matrix"): TIMES})
    assert seconds[2:] == ["| Panda arm | M | 300 | 200 | – | – | 100 | 20 |"]
    assert gains[2:] == ["| Panda arm | M | 3.0× | – | 15× | – | 2.0× | 10× |"]


def test_the_triangle_has_a_section_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "machine", lambda: "a machine")
    times = TIMES | {native.UPPER: np.array([5e-8, 6e-8]), native.UPPERS: np.array([1e-8, 2e-8])}
    section = native.triangle_section({("talos", native.TRIANGLE): times}, 192, 4)
    assert "| Talos | M | 300 | 200 | 100 | 50 | 20 | 10 |" in section
    assert "| Talos | M | 6.0× | 30× | 4.0× | 20× |" in section
    assert "a machine\nThe registers of this processor have 256 bits: 4 states at once." in section
    assert native.recorded(f"| Talos | M | 2.0× |\n\n{section}") == {"Talos": {"M": [2.0]}}


@pytest.mark.system
def test_a_matrix_in_part_is_compared_in_full() -> None:
    graph, q = gd.NewtonEuler(gd.load_urdf("puma560")).mass_matrix, np.random.default_rng(0).normal(size=(9, 6))
    ways = {
        f"{way} {output}": programs.compiled(graph, way, [q], output)
        for way in (programs.TOGETHER, programs.IN_TURN)
        for output in ("full", "upper")
    }
    assert programs.largest_difference(ways)[0] < 4e-15
    assert ways[f"{programs.TOGETHER} upper"].outputs[0].shape == (9, 36)


def test_the_page_says_how_much_the_passes_differ() -> None:
    """Half of the rounds are of each pass; the largest difference is that of a batch of 25 ns after one of 20 ns."""
    halves = {**TIMES, native.BATCH: np.array([2e-8, 2e-8, 2.5e-8, 8e-8])}
    assert native.changes({("panda7", "mass_matrix"): TIMES}) == [0, 0, 0, 0]
    assert native.changes({("panda7", "mass_matrix"): halves}) == pytest.approx([0, 0.25, 0, 0.25])


def test_every_contestant_is_named_exactly() -> None:
    """Each algorithm of Pinocchio is what our Function of that name equals, in all conventions and no other."""
    source = (HERE / "speed" / "pinocchio.cpp").read_text(encoding="utf-8")
    rows = re.findall(
        r'\{"([\w ]+)",\s*\{CALL\(pin::(\w+)\(model, data, ([\w, ]+?)(?:, pin::Convention::(\w+))?\)\)', source
    )
    there = {name: (call, letters, convention) for name, call, letters, convention in rows}
    calls = dict(zip(native.FUNCTIONS, ("rnea", "crba", "computeCoriolisMatrix", "aba"), strict=False))
    calls |= dict(zip(native.DERIVATIVES, ("computeRNEADerivatives", "computeABADerivatives"), strict=True))
    assert there == {
        f"{name}{convention}": (calls[name], ", ".join(letters.replace("u", "a")), convention.strip())
        for name, (_, letters, conventions) in native.FUNCTIONS.items()
        for convention in conventions
    }
    assert set(calls.values()) == set(programs.ALGORITHMS)


def of(*outputs: object) -> Contestant:
    return Contestant(None, 0, [np.array(each, dtype=float) for each in outputs])


def test_outputs_are_compared_by_state_and_output() -> None:
    """Relative to the largest entry of an output in a state: a large state hides no error of a small one."""
    first = of([[1e6, 1.0], [1e-3, 0.0]], [[1.0], [1.0]])
    equal = of([[1e6, 1.0], [1e-3, 1e-13]], [[1.0], [1.0]])
    wrong = of([[1e6, 1.0], [1e-3, 1e-11]], [[1.0], [1.0]])
    nan = of([[1e6, 1.0], [1e-3, 0.0]], [[1.0], [np.nan]])
    assert programs.largest_difference({"first": first, "equal": equal}) == (pytest.approx(1e-10), "equal")
    assert programs.largest_difference({"first": first, "equal": equal, "wrong": wrong}) == (
        pytest.approx(1e-8),
        "wrong",
    )
    assert programs.largest_difference({"first": first, "nan": nan, "wrong": wrong}) == (np.inf, "nan")


def test_outputs_that_differ_are_not_timed() -> None:
    native.check("panda7", 9e-10, "ours")
    for error in (1e-9, float("nan")):
        with pytest.raises(SystemExit, match=r"panda7: the outputs of ours differ from Pinocchio's by (1\.0e-09|nan)"):
            native.check("panda7", error, "ours")


@pytest.mark.system
def test_contestants_take_turns() -> None:
    """A round that is not timed, then rounds that another contestant begins each."""
    seen: list[str] = []
    kind = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_void_p)

    def contestant(name: str, result: int) -> Contestant:
        return Contestant(kind(lambda _: seen.append(name) or result), 0, [])

    times = programs.take_turns({name: contestant(name, 0) for name in "abc"}, rounds=3)
    assert "".join(seen) == "abcbcacababc"
    assert {name: (len(seconds), bool((seconds > 0).all())) for name, seconds in times.items()} == dict.fromkeys(
        "abc", (3, True)
    )
    with pytest.raises(SystemExit, match="b: a state fails"):
        programs.take_turns({"a": contestant("a", 0), "b": contestant("b", 1)}, rounds=1)


def test_the_recorded_tables_have_every_function_of_every_robot() -> None:
    text = (RESULTS / "native.md").read_text(encoding="utf-8")
    assert [f"| {theirs} / {ours} |" in text for theirs, ours in native.RATIOS] == [True] * 6
    rows = [
        (native.TITLES[robot], native.FUNCTIONS[name][0]) for robot in native.ROBOTS for name in native.functions(robot)
    ]
    assert len(rows) == 3 * 6 + 4
    text, _, triangle = text.partition(native.TRIANGLE_HEADING)
    parts = re.findall(r"^\| (\S[^|]*) \| (M) \|", triangle, re.M)
    assert parts == 2 * [(native.TITLES[robot], "M") for robot in native.ROBOTS]
    found = re.findall(r"^\| (\S[^|]*) \| (\S[^|]*) \|", text, re.M)
    assert found == 2 * rows
    gains = native.recorded(text)
    assert [(robot, symbol) for robot, row in gains.items() for symbol in row] == rows
    for row in gains.values():
        for symbol, ratios in row.items():
            own = [
                ratio is not None for (theirs, _), ratio in zip(native.RATIOS, ratios, strict=True) if "own" in theirs
            ]
            assert own == 2 * [symbol in "τMa"]
            assert [ratio is None for ratio in ratios].count(True) == own.count(False)


@pytest.mark.extras
def test_the_figure_has_a_bar_for_each_ratio() -> None:
    gains = native.recorded((RESULTS / "native.md").read_text(encoding="utf-8"))
    axes = native.draw(gains).axes
    assert [axis.get_title(loc="left") for axis in axes[:4]] == [native.TITLES[robot] for robot in native.ROBOTS]
    assert [len(axis.patches) for axis in axes] == 2 * [15, 15, 15, 11]
    panda = dict(zip(native.RATIOS, gains["Panda arm"]["τ"], strict=True))
    for axis, ours in ((axes[1], native.OURS), (axes[5], native.BATCH)):
        first = sorted(bars[0].get_width() for bars in axis.containers)
        assert first == sorted(ratio for (_, own), ratio in panda.items() if own == ours)

"""The scripts in ``benchmarks``: what they count and draw, not how long anything takes."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import peers, robots, tables
from benchmarks.graph_size import scaling, sizes
from benchmarks.optimal_control import panda as optimal_control
from benchmarks.optimal_control import receding_horizon, solvers
from benchmarks.real_time import random_problems
from benchmarks.speed import batch, compiled, speed
from gdalembert.nlp.least_squares import squares
from tests.helpers import models

pytestmark = pytest.mark.extras

PUMA = "puma560_benchmark"
QUANTITIES = list(sizes.COMPARED)


@pytest.fixture
def own_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adam whose graphs all have 5,000 instructions, but who has no derivatives."""
    found = dict.fromkeys((quantity for quantity in QUANTITIES if "deriv" not in quantity), 5000)
    monkeypatch.setattr(peers, "adam", lambda _: found)
    monkeypatch.setattr(peers, "adam_version", lambda: "9.9")


# robots


def test_every_robot_has_a_file_and_a_title() -> None:
    assert [name for name in robots.NAMES if not robots.path(name).is_file()] == []
    assert len({robots.TITLES[name] for name in robots.NAMES}) == len(robots.NAMES)
    assert [robots.load(name).nv for name in robots.NAMES] == [6, 7, 6, 9, 6, 18, 18, 38]


def test_an_unknown_robot_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    for script in (sizes, speed, batch, random_problems):
        monkeypatch.setattr(sys, "argv", ["script", "pumma"])
        with pytest.raises(SystemExit, match="2"):
            script.main()
        assert "no robot pumma; there are puma560" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_are_depth_first_and_full(seed: int) -> None:
    model = robots.random_tree(12, seed)
    assert models.is_depth_first(model)
    assert model.nv == 12
    assert 3 <= len(set(model.parents[1:])) < 12  # not a star, not a chain
    assert list(model.parents)[1:].count(0) == 1
    assert model == robots.random_tree(12, seed)
    assert model != robots.random_tree(12, seed + 1)
    q, v, a = np.random.default_rng(0).normal(size=(3, 12))
    found = gd.NewtonEuler(model).inverse_dynamics(q, v, a).full().ravel()
    true = pin.rnea(model, model.createData(), q, v, a)
    assert np.abs(found - true).max() < 1e-10 * np.abs(true).max()


# sizes


def test_the_comparison_sets_ours_beside_what_is_recorded(own_adam: None) -> None:
    comparison = sizes.compare([PUMA, "solo12"])
    own = gd.NewtonEuler(robots.load(PUMA))
    tau = own.inverse_dynamics.n_instructions()
    row = comparison["inverse_dynamics"][PUMA]
    assert row["N–E"] == tau
    assert row["L–E"] == gd.LagrangeEuler(robots.load(PUMA)).inverse_dynamics.n_instructions()
    assert (row["Pinocchio"], row["urdf2casadi"], row["adam"]) == (829, 919, 5000)
    derivatives = own.inverse_dynamics_derivatives.n_instructions()
    assert comparison["jacobian_of_inverse_dynamics"][PUMA]["N–E"] == derivatives
    text = sizes.comparison_table(comparison)
    section = text.split("## Inverse dynamics: τ(q, v, a)\n")[1].split("##")[0]
    assert (
        "| *Pinocchio* | *Pinocchio, cleaned* | *casadi-kin-dyn* | *urdf2casadi* | adam | N–E / Pinocchio |" in section
    )
    assert f"| {PUMA} | {tau} |" in section
    assert f"| 829 | 696 | 820 | 919 | 5000 | {tau / 829:.2f} |" in section
    assert "| 2196 | 2196 | 2196 | – | 5000 |" in section  # urdf2casadi has no moving base
    assert "adam: version 9.9" in text
    assert "{" not in text


def test_a_missing_adam_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adam", None)
    with pytest.raises(SystemExit, match=r"'\.\[benchmark\]'.*--without-peers") as error:
        peers.adam(PUMA)
    assert "\n" not in str(error.value)


def test_adam_is_given_the_origins_and_the_placement_it_needs() -> None:
    root = ET.fromstring(peers.with_origins("talos"))
    elements = [*root.iterfind("joint"), *root.iterfind("link/inertial")]
    assert [element.get("name") for element in elements if len(element.findall("origin")) != 1] == []
    assert {key for element in root.iter("origin") for key in element.attrib} == {"xyz", "rpy"}
    q = np.array([1.0, 2, 3, 0.5, -0.5, 0.1, 0.7])
    q[3:] /= np.linalg.norm(q[3:])
    found = ca.Function("f", [s := ca.SX.sym("q", 7)], [peers._placement(s)])(q).full()
    assert np.abs(found - pin.XYZQUATToSE3(q).homogeneous).max() < 1e-15


@pytest.mark.parametrize("name", [PUMA, "solo12"])
def test_adam_is_compared_with_pinocchio_before_it_is_counted(name: str) -> None:
    model = robots.load(name)
    dyn = gd.NewtonEuler(model)
    inputs = {"q": dyn.inverse_dynamics.sx_in(0), **{x: ca.SX.sym(x, model.nv) for x in ("v", "a", "tau")}}
    q, v, a, tau = inputs.values()
    right = {"inverse_dynamics": dyn.inverse_dynamics(q, v, a), "forward_dynamics": dyn.forward_dynamics(q, v, tau)}
    peers.compare(name, model, inputs, right)
    for quantity in right:
        with pytest.raises(SystemExit, match="does not agree with Pinocchio"):
            peers.compare(name, model, inputs, {**right, quantity: right[quantity] * (1 + 1e-6)})


def test_the_recorded_counts_are_complete_and_consistent() -> None:
    packages, names, counts = (peers.RECORDED[key] for key in ("packages", "robots", "counts"))
    assert sorted(names) == sorted(robots.NAMES)
    assert list(counts) == QUANTITIES
    assert {package for own in counts.values() for package in own} == set(packages)
    moving = [robots.load(name).joints[1].nv == 6 for name in names]
    for own in counts.values():
        assert {"Pinocchio", "Pinocchio, cleaned"} <= set(own)
        for package, sizes_ in own.items():
            none = moving if package == "urdf2casadi" else [False] * len(names)
            assert [size is None for size in sizes_] == none
            assert all(isinstance(size, int) and size > 0 for size in sizes_ if size is not None)
    for package in packages:
        for k in range(len(names)):
            g, nle, a = (counts[x][package][k] or 0 for x in ("generalized_gravity", "nle", "forward_dynamics"))
            assert g == nle == a == 0 or g < nle < a
    for quantity in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "inverse_dynamics_derivatives"):
        own = counts[quantity]
        assert all(c <= p for c, p in zip(own["Pinocchio, cleaned"], own["Pinocchio"], strict=True))


def test_the_bars_are_the_ratios_of_the_table(own_adam: None) -> None:
    names = [PUMA, "solo12"]
    comparison = sizes.compare(names)
    axes = sizes.draw(comparison).axes
    assert len(axes) == len(sizes.DRAWN)
    for axis, quantities in zip(axes, sizes.DRAWN.values(), strict=True):
        assert [bars.get_label() for bars in axis.containers] == list(sizes.PACKAGES)
        for bars in axis.containers:
            for bar, name in zip(bars, names, strict=True):
                rows = [comparison[quantity][name] for quantity in quantities]
                theirs = [row[bars.get_label()] for row in rows if bars.get_label() in row]
                ratio = min(theirs) / rows[0]["N–E"] if theirs else 1
                assert bar.get_y() == 1
                assert bar.get_height() == pytest.approx(ratio - 1, abs=1e-12)
        own = [f"{comparison[quantities[0]][name]['N–E']:,}" for name in names]
        assert [tick.get_text().split("\n")[1] for tick in axis.get_xticklabels()] == own
    tau = comparison["inverse_dynamics"][PUMA]
    assert f"{829 / tau['N–E']:.1f}" in [text.get_text() for text in axes[0].texts]


# speed


def test_paired_calls_take_turns() -> None:
    calls: list[str] = []

    def note(name: str) -> Callable[[], object]:
        return lambda: calls.append(name)

    timings = speed.paired({name: note(name) for name in "abc"}, "b", rounds=3, slice_=0)
    assert calls[9:] == list("abcbcacab")  # three of each before, to see how long they take
    assert list(timings) == ["a", "b", "c"]
    assert all(timing.seconds > 0 and timing.gain > 0 for timing in timings.values())
    assert timings["b"].gain == 1


def test_short_calls_are_repeated_to_fill_their_slice() -> None:
    calls: list[int] = []
    speed.paired({"a": lambda: calls.append(0)}, "a", rounds=1, slice_=1e-3)
    assert len(calls) > 10


def test_wrong_numbers_are_not_timed() -> None:
    model = robots.load(PUMA)
    right = np.arange(6.0)
    speed.check(model, {"gd.compile": lambda: ca.DM(right), "Pinocchio": lambda: right})
    with pytest.raises(SystemExit, match=r"gd\.compile and Pinocchio do not agree"):
        speed.check(model, {"gd.compile": lambda: right + 1e-6, "Pinocchio": lambda: right})


@pytest.fixture
def timings(monkeypatch: pytest.MonkeyPatch) -> tuple[speed.Timings, speed.Timings]:
    """Of the PUMA in batches of three, without a compiler."""
    compile_ = gd.compile
    monkeypatch.setattr(gd, "compile", lambda f, **_: compile_(f, interpreter=True))
    return speed.measure([PUMA], rounds=1, n=3)


def test_every_way_of_calling_is_timed(timings: tuple[speed.Timings, speed.Timings]) -> None:
    single, batch = timings
    assert list(single) == list(batch) == [(PUMA, function) for function in speed.FUNCTIONS]
    ways = {*speed.WAYS, "Pinocchio"} - {speed.IN_ONE_CALL}
    assert all(set(row) == ways for row in single.values())
    assert all(set(row) >= ways for row in batch.values())
    assert all(t.seconds > 0 for rows in timings for row in rows.values() for t in row.values())


def test_the_batches_are_what_a_loop_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = gd.compile
    monkeypatch.setattr(gd, "compile", lambda f, **_: compile_(f, interpreter=True))
    model = robots.load(PUMA)
    calls = speed.batch_calls(model, gd.NewtonEuler(model).inverse_dynamics, 4)
    loop = np.array(calls["Pinocchio"]())
    assert loop.shape == (4, 6)
    assert np.abs(calls["gd.compile"]() - loop).max() < 1e-12
    assert np.abs(calls["casadi.Function"]().full().T - loop).max() < 1e-12
    if speed.IN_ONE_CALL in calls:
        assert np.abs(calls[speed.IN_ONE_CALL]().T - loop).max() < 1e-12


@pytest.mark.system
def test_the_machine_is_named_by_its_parts() -> None:
    found = speed.machine()
    for name in ("casadi", "pin", "numpy"):
        assert f"{name} {metadata.version(name)}" in found
    assert re.fullmatch(r"Measured on \S.*: Python 3\.\d+\.\d+, [^/]*,\n\S.*, -O3 -march=native\.", found)


def test_the_bars_are_the_measured_ratios(timings: tuple[speed.Timings, speed.Timings]) -> None:
    axes = speed.draw(*timings, 3).axes
    for axis, rows in zip(axes, timings, strict=True):
        for bars in axis.containers:
            gains = [row[bars.get_label()].gain for row in rows.values() if bars.get_label() in row]
            assert [bar.get_x() + bar.get_width() for bar in bars] == pytest.approx(gains)
            assert {bar.get_x() for bar in bars} == {1}


def test_a_section_takes_the_place_of_the_one_of_its_heading() -> None:
    page = "# Page\n\nText.\n\n## One\n\nold\n\n## Two\n\nkept\n"
    assert tables.with_section(page, "## One\n\nnew\n") == "# Page\n\nText.\n\n## Two\n\nkept\n\n## One\n\nnew\n"
    assert tables.with_section(page, "## Three\n") == f"{page}\n## Three\n"


def test_batches_are_compared_and_then_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = gd.compile
    monkeypatch.setattr(gd, "compile", lambda f, flags=None, **options: compile_(f, interpreter=True, **options))
    rows, _ = batch.measure([PUMA], rounds=1, n=3)
    small = batch.few_table([PUMA], rounds=1)
    choices = batch.choices_table([PUMA], rounds=1, counts=[3])
    assert [row[:3] for row in rows] == [(PUMA, function, 3) for function in speed.FUNCTIONS]
    assert len(small) == 2 + len(speed.FUNCTIONS)
    assert [row.split(" | ")[:3] for row in choices[2:]] == [
        ["| PUMA 560", symbol, "3"] for symbol, *_ in speed.FUNCTIONS.values()
    ]
    assert [row.count("×") for row in choices[2:]] == [3, 4, 3, 4]
    end = batch.kinematics_table([PUMA], rounds=1, n=3)
    assert [row.split(" | ")[1:3] for row in end[2:]] == [[title, "3"] for title in batch.KINEMATICS.values()]
    ways = batch.few(model := robots.load(PUMA), "inverse_dynamics")
    whole = ways[batch.ONE_BATCH]()
    ways[batch.SINGLE_CALLS]()
    assert len(whole) == batch.FEW
    assert [np.array_equal(row, out) for row, out in zip(whole, batch._rows(whole), strict=True)] == [True] * batch.FEW
    with pytest.raises(SystemExit, match=r"inverse_dynamics: the batches do not agree"):
        batch._compare(model, "inverse_dynamics", np.ones(3), np.ones(3) + 1e-14, batch.ROUNDING)


def test_compiled_motions_are_those_of_the_graphs_and_then_timed() -> None:
    rows = compiled.measure({"a motion": lambda by_machine_code: lambda: np.ones(2)}, rounds=1)
    assert set(rows["a motion"].timings) == {compiled.INTERPRETED, compiled.COMPILED}
    with pytest.raises(SystemExit, match="another: the motions differ"):
        compiled.measure({"another": lambda by_machine_code: lambda: np.full(2, float(by_machine_code))}, rounds=1)


# scaling


@pytest.mark.parametrize("power", [1, 1.5, 3])
def test_the_exponent_is_that_of_the_upper_half(power: float) -> None:
    counts = {n: 7 * n**power for n in (15, 30, 60)}
    assert scaling.exponent({2: 1000, 4: 1, 8: 50, **counts}) == pytest.approx(power)


def test_growth_is_counted_and_drawn() -> None:
    counts = scaling.measure((1, 2, 4))
    assert len(counts) == 2 * (4 * 3 + 2)
    chain = counts["chain", "mass_matrix", "Lagrange–Euler"]
    assert chain == {n: gd.LagrangeEuler(robots.chain(n)).mass_matrix.n_instructions() for n in (1, 2, 4)}
    trees = [gd.NewtonEuler(robots.random_tree(4, seed)).inverse_dynamics.n_instructions() for seed in scaling.SEEDS]
    assert counts["random trees", "inverse_dynamics", "Newton–Euler"][4] == sorted(trees)[1] < max(trees)
    axes = scaling.draw(counts).axes
    panels = dict(zip([(s, f) for s in scaling.SHAPES for f in scaling.FUNCTIONS], axes, strict=True))
    for (shape, function, formulation), row in counts.items():
        axis = panels[shape, function]
        lines = {line.get_label(): line for line in axis.lines}
        assert list(lines[formulation].get_xdata()) == list(row)
        assert list(lines[formulation].get_ydata()) == list(row.values())
        assert f"$n^{{{scaling.exponent(row):.2f}}}$" in [text.get_text() for text in axis.texts]


# tables


def test_a_markdown_table() -> None:
    assert tables.markdown(["", "b"], [("x", 1), ("y", None)]) == ["|  | b |", "|---|---:|", "| x | 1 |", "| y | – |"]


def test_results_are_written_as_text_and_a_small_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from PIL import Image

    monkeypatch.setattr(tables, "RESULTS", tmp_path / "results")

    def draw() -> object:
        figure, axes = tables.panels(1, 1, (2, 1))
        axes[0, 0].bar([0], [1], color=tables.BLUE)
        return figure

    tables.write("name", "text\n", draw)
    assert (tmp_path / "results" / "name.md").read_text() == "text\n"
    with Image.open(tmp_path / "results" / "name.png") as picture:
        assert (picture.size, picture.mode) == ((360, 180), "P")
        assert (0, 114, 178) in {tuple(c) for _, c in picture.convert("RGB").getcolors()}


def test_without_matplotlib_the_text_is_written_and_a_sentence_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SystemExit, match=r"name\.md is written, name\.png is not: pip install '\.\[plot\]'"):
        tables.write("name", "text\n", lambda: tables.panels(1, 1, (2, 1))[0])
    assert (tmp_path / "name.md").read_text() == "text\n"


# optimal_control.py


def rows_of(text: str) -> dict[str, list[str]]:
    """Of the tables of a page: the cells behind the first, by the first."""
    lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line)
    return {name: rest for name, *rest in lines}


def test_one_problem_has_one_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packages with the same graphs: the same iterations and sizes; with other graphs it is refused."""
    monkeypatch.setattr(optimal_control, "PACKAGES", dict.fromkeys(optimal_control.PACKAGES, optimal_control.ours))
    monkeypatch.setattr(optimal_control.metadata, "version", lambda name: "0")
    text = optimal_control.report(*optimal_control.measure(1, 6), 6)
    rows = rows_of(text)
    for name in ("instructions of tau", "instructions of the position", "iterations", "duration of the motion [s]"):
        assert rows[name][0] == rows[name][1]
        assert rows[name][2] == "1.00"

    def heavier(model: pin.Model) -> optimal_control.Graphs:
        graphs = optimal_control.ours(model)
        s = graphs.inverse_dynamics.sx_in()
        return graphs._replace(inverse_dynamics=ca.Function("tau", s, [1.2 * graphs.inverse_dynamics(*s)]))

    monkeypatch.setattr(optimal_control, "PACKAGES", {"gdalembert": optimal_control.ours, "adam": heavier})
    with pytest.raises(SystemExit, match="the optima differ"):
        optimal_control.measure(1, 6)


def test_the_recorded_comparison_with_adam() -> None:
    """Our graphs take at most 0.2 of the time in functions that adam's take, compiled 0.05; their sizes are as said."""
    text = (robots.HERE / "results" / "optimal_control.md").read_text(encoding="utf-8")
    rows = rows_of(text)
    assert float(rows["functions [ms per iteration]"][2]) <= 0.2
    assert float(rows["functions [ms per iteration]"][4]) <= 0.05
    assert float(rows["whole solution [s]"][4]) <= 0.12
    graphs = optimal_control.ours(robots.load(optimal_control.ROBOT))
    assert int(rows["instructions of tau"][0]) == graphs.inverse_dynamics.n_instructions()
    assert int(rows["instructions of the position"][0]) == graphs.position.n_instructions()


# receding_horizon.py and solvers.py


def recorded(name: str) -> dict[str, list[str]]:
    return rows_of((robots.HERE / "results" / f"{name}.md").read_text(encoding="utf-8"))


def test_all_ways_of_a_tick_solve_the_same_problem() -> None:
    found = receding_horizon.measure(2)
    rows, known = rows_of(receding_horizon.report(found)), recorded("receding_horizon")
    assert [name for name in found if name not in rows or name not in known] == []
    assert found[receding_horizon.OURS][1].iterations <= found[receding_horizon.COLD][1].iterations


def test_the_cost_of_a_receding_horizon_is_a_sum_of_squares() -> None:
    """Of 6 entries of a pose, 6 velocities and 6 torques, with nothing left over, for the solver "rti"."""
    problem, found, total, written = receding_horizon.Task(robots.load("ur5")).problem(), [], 0, 0
    inputs = {"q": 6, "v": 6, "u": 6, "target": 6}
    known = {name: ca.SX.sym(name, size) for name, size in inputs.items()}
    for weight, graph, *_ in problem._formulation().integrals:
        term = float(weight) * graph.expand()(*(known[name] for name in graph.name_in()))
        own = squares(term, ca.vertcat(*(known[name] for name in "qvu")), "the cost")
        found += own
        written, total = written + term, total + sum(w * s**2 for w, s in own)
    assert len(found) == 18
    both = ca.Function("both", list(known.values()), [written, total])
    for point in np.random.default_rng(0).normal(size=(5, 4, 6)):
        one, other = both(*point)
        assert float(one) == pytest.approx(float(other), rel=1e-12)


def test_the_recorded_receding_horizon() -> None:
    """A tick takes at most a quarter of a new problem, no more than by hand, and half of the cold iterations."""
    rows = recorded("receding_horizon")
    ours, by_hand, new, cold = (rows[name] for name in (
        receding_horizon.OURS, receding_horizon.BY_HAND, receding_horizon.NEW, receding_horizon.COLD
    ))  # fmt: skip
    assert float(ours[0]) <= min(float(by_hand[0]), 0.25 * float(new[0]))
    assert float(ours[2]) <= 0.5 * float(cold[2])


def test_both_solvers_find_the_same() -> None:
    name = "two-link arm, least effort"
    rows = rows_of(solvers.report(solvers.measure(1, [name], compiled=False)))
    known = recorded("solvers")
    assert rows[name][:2] == known[name][:2]
    assert list(known)[-len(solvers.PROBLEMS) :] == list(solvers.PROBLEMS)
    assert float(known["Panda, least time, 2 stages"][-1]) >= 1.3

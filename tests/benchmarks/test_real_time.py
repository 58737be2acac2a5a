"""Real-time iterations in loops: what is recorded keeps its bounds, and a small sample of it all."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks.common.tables import RESULTS
from benchmarks.real_time import acados, crocoddyl, loops, programs, random_problems
from benchmarks.real_time.tasks import EASY, KICKED, TASKS, FlexibleArm, PandaArm, Standing, Trot


def recorded(name: str) -> dict[str, list[str]]:
    """Of the tables of a page: the cells behind the first, by the first; of two rows of a name, the first."""
    found: dict[str, list[str]] = {}
    for line in (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines():
        if "|" in line:
            title, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(title, rest)
    return found


def test_the_recorded_ticks_keep_their_bounds() -> None:
    """Ratios to IPOPT of 0.02, of the quadruped 0.01; errors of 1.5 times its."""
    rows = recorded("rti")
    for task in TASKS:
        for case in task.cases:
            _, _, _, _, ratio, _, _, of_errors, used, *_ = rows[f"{task.title}, {case}"]
            assert float(used) <= 1
            if task is not Trot:
                assert float(ratio) <= (0.01 if task is Standing else 0.02)
                assert float(of_errors) <= 1.5


def test_the_recorded_programs_cost_the_same() -> None:
    text = (RESULTS / "rti.md").read_text(encoding="utf-8").partition("## Their quadratic programs")[2]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    (head, _, *compared), count = table, sum(len(task.cases) for task in TASKS)
    for row in compared[:count]:
        cells = dict(zip(head, row, strict=True))
        assert cells["solved"].split(",")[0] == cells["programs"].split(",")[0]
        assert float(cells["lower cost than ours"]) <= 1e-6


def test_crocoddyl_is_recorded_in_every_case() -> None:
    """Arms and quadrupeds, easy, saturated and kicked, with the median and the worst tick of both."""
    text = (RESULTS / "rti.md").read_text(encoding="utf-8").partition("## Beside crocoddyl")[2]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    rows = {title: cells for title, *cells in table[2:]}
    assert list(rows) == [f"{task.title}, {case}" for task in (PandaArm, Standing) for case in task.cases]
    assert all(float(x.replace(",", "")) > 0 for cells in rows.values() for x in cells[:4])


def test_the_recorded_random_problems_are_solved_or_told() -> None:
    rows = recorded("rti_random")
    assert [name for name in random_problems.ROBOTS if name not in rows] == []
    solved, first, later, used, *_ = rows["all"]
    assert int(solved) + int(first) + int(later) == 1000
    of_arms, of_quadrupeds = (
        sum(int(rows[name][0]) for name in names) for names in (random_problems.ARMS, random_problems.QUADRUPEDS)
    )
    assert of_arms > 740  # of 800
    assert of_quadrupeds > 120  # of 200: with a quarter, feet slip at the start, which is refused
    assert float(used) <= 1


@pytest.mark.extras
def test_the_reference_of_the_trot_moves_with_its_contacts() -> None:
    trot = object.__new__(Trot)
    times = 0.02 * np.arange(60)
    for t in times:
        lifted = [foot for foot, z in zip(Trot.sets["stand"], trot.heights(t), strict=True) if z > 1e-9]
        assert not set(lifted) & set(Trot.sets[trot.stance(t)])
    assert {trot.stance(t) for t in times} == {"stand", "left", "right"}


def test_acados_is_recorded_in_every_case() -> None:
    """Of the arm; a tick of rti takes at most half of its time, and errs less."""
    text = (RESULTS / "rti.md").read_text(encoding="utf-8").partition("## Beside acados")[2].partition("\n## ")[0]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    rows = {title: dict(zip(table[0][1:], cells, strict=True)) for title, *cells in table[2:]}
    assert list(rows) == [f"{PandaArm.title}, {case}" for case in PandaArm.cases]
    for cells in rows.values():
        assert float(cells["ratio"]) <= 0.5
        assert float(cells["error of rti [mm]"]) <= float(cells["of acados [mm]"])
        assert cells["not solved"] == "0"


def test_what_is_not_asked_for_is_not_measured() -> None:
    assert "Not measured: acados was not asked for" in acados.section([])
    assert "Not measured: no environment with crocoddyl was given" in crocoddyl.section([], None)


@pytest.mark.long
@pytest.mark.system
@pytest.mark.parametrize(("kind", "case"), [(PandaArm, KICKED), (FlexibleArm, EASY)])
def test_a_loop_and_its_programs(kind: type, case: str) -> None:
    """By ours, HPIPM and PIQP the same costs."""
    task, kept = kind(), []
    solver = task.solver("rti")
    found = loops.loop(task, solver, task.cases[case], task.skipped + 12, lambda each: kept.append(programs.of(each)))
    assert found.solved.all()
    assert found.used.max() <= 1
    compared = loops.elsewhere(programs.compare, task.title, kept[1:12:3])
    assert compared.solved == compared.programs == {programs.OURS: 4, programs.HPIPM: 4, programs.PIQP: 1}
    assert all(0 < compared.seconds[name] <= compared.worst[name] for name in compared.solved)
    assert f"| {1e6 * compared.worst[programs.HPIPM]:,.0f} |" in programs.section([compared])
    assert max(compared.below.values()) < 1e-6
    assert max(compared.above.values()) < 2e-5  # where theirs ends
    row = loops.Row(kind, EASY, {loops.RTI: found})
    assert loops.draw([row]).axes[0].get_xscale() == "log"
    assert len(loops._cells(row)) == len(loops.HEAD)


@pytest.mark.long
@pytest.mark.system
def test_acados_keeps_the_arm_on_its_line() -> None:
    """In a process of its own, beside rti, at twice its errors at most."""
    (row, *_) = loops.elsewhere(loops.beside, 1, PandaArm.skipped + 10)
    peers = [name for name in row.loops if name != loops.RTI]
    assert peers == [acados.name(condensed) for condensed in acados.CONDENSED]
    for peer in peers:
        assert row.loops[peer].solved.all()
        assert row.error(peer) < 3 * row.error(loops.RTI)
        assert (row.loops[peer].seconds > 0).all()
    head, _, line = acados.table([row])
    assert len(head.split("|")) == len(line.split("|"))


@pytest.mark.long
@pytest.mark.system
def test_crocoddyl_stands_beside_rti_in_every_case() -> None:
    """In the loops of rti; a Python without it says so."""
    task = PandaArm()
    solver = task.solver("rti")
    found = loops.loop(task, solver, task.cases[EASY], task.skipped + 2)
    rows = [loops.Row(PandaArm, case, {loops.RTI: found, crocoddyl.NAME: found}) for case in task.cases]
    head, _, *lines = crocoddyl.table(rows)
    assert head.count("worst [µs]") == 2
    assert [line.split("|")[1].strip() for line in lines] == [f"{task.title}, {case}" for case in task.cases]
    assert all(" | 1.00 | " in line for line in lines)
    with pytest.raises(SystemExit, match="ModuleNotFoundError: No module named 'crocoddyl'"):
        crocoddyl.Peer(sys.executable, task)


@pytest.mark.long
@pytest.mark.system
@pytest.mark.parametrize("name", ["solo12", "panda7"])
def test_some_random_problems_are_solved_or_told(name: str) -> None:
    found = random_problems.measure(name, 8)
    slips = [each.told for each in found if "violates Contact" in each.told]
    assert len(slips) == int(name == "solo12")  # the feet of the seventh
    assert all(each.kind == random_problems.SOLVED or each.told for each in found)
    assert max(each.used for each in found) <= 1
    assert f"| {name} |" in random_problems.report({name: found})

"""``benchmarks/graph_size/composed.py``: what is recorded is what is counted, and within the limits."""

from __future__ import annotations

import casadi as ca
import pytest

from benchmarks.common import robots
from benchmarks.graph_size import composed
from tests.helpers.paths import ROOT

RECORDED = (robots.HERE / "results" / "composed.md").read_text(encoding="utf-8")

LIMITS = {
    ("panda7", "`frame_jacobian_rate`, LOCAL"): 470,
    ("panda7", "`frame_jacobian_rate`, WORLD"): 500,
    ("panda7", "`frame_jacobian_rate`, LOCAL_WORLD_ALIGNED"): 550,
    ("talos", "`centroidal_map`"): 5600,
    ("talos", "`centroidal_momentum`"): 4000,
    ("talos", "`centroidal_momentum_rate`"): 4300,
    ("solo12", "`ConstrainedDynamics.forward_dynamics`, three feet (3D)"): 5250,
    ("talos", "`ConstrainedDynamics.forward_dynamics`, two soles (6D)"): 16500,
}
"""The most instructions that a quantity may have."""


def section(text: str, robot: str) -> str:
    return text.split(f"## {robot} ")[1].split("\n## ")[0].strip()


def lines(robot: str) -> list[list[str]]:
    """The cells of the recorded rows of a robot."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section(RECORDED, robot).splitlines()[4:]]


def test_recorded_sizes_are_within_their_limits_and_save_something() -> None:
    for (robot, quantity), limit in LIMITS.items():
        sizes = [int(own) for name, _, own, *_ in lines(robot) if name == quantity]
        assert sizes
        assert max(sizes) <= limit
    assert min(float(ratio) for robot in composed.ROBOTS for *_, ratio in lines(robot)) >= 1


@pytest.mark.parametrize("robot", ["solo12", "talos"])
def test_the_page_of_constraints_shows_what_is_recorded(robot: str) -> None:
    (own,) = (cells for cells in lines(robot) if cells[0].startswith("`ConstrainedDynamics"))
    quantity, *counted, _ = own
    row = f", {quantity.split(', ')[1]} | {' | '.join(counted)} |"
    page = (ROOT / "docs" / "constraints.md").read_text(encoding="utf-8")
    assert row in page


@pytest.mark.long
def test_what_is_recorded_of_the_panda_is_counted() -> None:
    assert section(composed.table(["panda7"]), "panda7") == section(RECORDED, "panda7")


@pytest.mark.extras
def test_what_is_recorded_of_solo12_is_counted() -> None:
    assert section(composed.table(["solo12"]), "solo12") == section(RECORDED, "solo12")


@pytest.mark.extras
def test_what_is_recorded_of_talos_is_counted() -> None:
    """Our own Functions; their compositions are those of Solo 12."""
    counted = [[row.quantity, row.how, str(row.own.n_instructions())] for row in composed.rows("talos")]
    assert counted == [cells[:3] for cells in lines("talos")]


def test_another_quantity_is_refused() -> None:
    robot = composed.Robot("panda7")
    row = robot.row("a velocity", robot.kin.center_of_mass_velocity, "a wrong one", lambda q, v: 2 * v[:3])
    with pytest.raises(SystemExit, match="panda7: a velocity as a wrong one: they differ by"):
        composed.compare(row, composed.composition(row, shared=True))
    right = robot.row(
        "a velocity",
        robot.kin.center_of_mass_velocity,
        "a product",
        lambda q, v: robot.kin.center_of_mass_jacobian(q) @ v,
    )
    composed.compare(right, composed.composition(right, shared=False))
    assert isinstance(composed.composition(right, shared=True), ca.Function)

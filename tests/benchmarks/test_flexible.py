"""The scripts in ``benchmarks`` about flexible arms: what they count, simulate and draw, not how long it takes."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from benchmarks.flexible import case_study as study
from benchmarks.flexible import sizes
from gdalembert.errors import TipWarning
from tests.helpers.models import relative_error

pytestmark = pytest.mark.extras

TIGHT = 1e-12
RESULTS = robots.HERE / "results"
DOCS = robots.HERE.parent / "docs"


def rows(text: str) -> list[str]:
    """Of its tables, without heads."""
    return [line for line in re.findall(r"^\|.*\|$", text, re.MULTILINE) if not line.startswith(("|  |", "|---"))]


# sizes


@pytest.fixture(scope="module")
def counted() -> sizes.Sizes:
    """Of arms of one and two links."""
    return sizes.measure(2)


@pytest.mark.parametrize("foreshortening", [False, True])
def test_three_ways_are_the_same_dynamics(foreshortening: bool) -> None:
    dyn = sizes.arm(2, foreshortening=foreshortening)
    size = np.array([0.02 if " " in name else 1.0 for name in dyn.layout])
    q, v = np.random.default_rng(0).normal(size=(2, dyn.tree.nv)) * size
    m, nle = (x.full() for x in sizes.by_recursion(dyn)(q, v))
    assert np.array_equal(m, dyn.mass_matrix(q).full())
    for way in (sizes.by_formula, sizes.by_differentiation):
        other = [x.full() for x in way(dyn)(q, v)]
        assert relative_error(other[0], m) < TIGHT
        assert relative_error(other[1], nle) < TIGHT


def test_the_arm_is_what_the_text_says() -> None:
    dyn = sizes.arm(3, foreshortening=True)
    assert dyn.tree.nv == 15
    assert [inertia.modes for inertia in dyn.tree.modal.values()] == [4, 4, 4]
    q = np.zeros(15)
    q[1:3] = np.pi / 2, np.pi / 6
    tip = gd.Kinematics(dyn.tree).frame_placement("tip")(q).full()[:3, 3]
    assert tip == pytest.approx([1, 0.5, -1 - np.sqrt(0.75)], abs=TIGHT)  # about z, y, z


@pytest.mark.parametrize(("foreshortening", "more"), [(False, 1.0), (True, 1.4)])
def test_graphs_are_as_small_as_promised(foreshortening: bool, more: float) -> None:
    two, three = (sizes.arm(n, foreshortening=foreshortening) for n in (2, 3))
    for name, most in (("inverse_dynamics", 1200), ("forward_dynamics", 3400)):
        counts = [getattr(dyn, name).n_instructions() for dyn in (two, three)]
        assert counts[1] <= 3 * most * more
        assert counts[1] - counts[0] <= most * more
    assert three.mass_matrix.n_instructions() <= 3800 * more


def test_the_recorded_sizes_are_counted(counted: sizes.Sizes) -> None:
    recorded = (RESULTS / "flexible_sizes.md").read_text(encoding="utf-8")
    assert "N = 6 | last link |" in recorded
    found = rows(sizes.table(counted))
    assert len(found) == len(rows(recorded)) == len(counted)
    for row, full in zip(found, rows(recorded), strict=True):
        (name, *counts), (recorded_name, *recorded_counts) = (line.split("|")[1:4] for line in (row, full))
        assert name == recorded_name
        # the processor decides the last digits of modal integrals, and with them which constants are equal
        assert [*map(int, counts)] == pytest.approx([*map(int, recorded_counts)], rel=0.03, abs=5)


def test_sizes_are_counted_and_drawn(counted: sizes.Sizes) -> None:
    one, _ = counted["mass_matrix: M", sizes.RECURSION, True].values()
    assert one.instructions == sizes.arm(1, foreshortening=True).mass_matrix.n_instructions()
    axes = sizes.draw(counted).axes
    assert [len(axis.lines) for axis in axes] == [2, 2, 2, 2, 2, 6]
    drawn = [list(line.get_ydata()) for axis in axes for line in axis.lines]
    assert sorted(drawn) == sorted([size.instructions / 1000 for size in row.values()] for row in counted.values())


# case study


@pytest.fixture(scope="module")
def soft() -> dict[str, study.Motion]:
    """EI = 10 N m²."""
    return study.measure((10.0,))[10.0]


def energies(dyn: gd.FlexibleArm, motion: study.Motion) -> np.ndarray:
    nv = dyn.tree.nv
    q, v = motion.state[:nv], motion.state[nv:]
    return (dyn.kinetic_energy(q, v) + dyn.potential_energy(q)).full().ravel()


def test_the_torques_do_the_work(soft: dict[str, study.Motion]) -> None:
    for name, motion in soft.items():
        energy = energies(study.arm(name, 10.0), motion)
        assert energy.max() > 0.2
        # the tolerance of the integrator
        assert energy - energy[0] == pytest.approx(motion.work, abs=1e-8)


@pytest.mark.parametrize("name", [study.RIGID, study.FREE, study.CLAMPED, study.DEFAULT])
def test_energy_is_kept_in_gravity(name: str) -> None:
    motion = study.dropped(name)
    energy = energies(study.arm(name, 10.0, in_gravity=True), motion)
    assert np.abs(motion.state[len(motion.state) // 2 :]).max() > 5
    # the tolerance of the integrator, of about ten joules that come and go
    assert energy == pytest.approx(energy[0], abs=2e-6)


def test_the_rigid_arm_moves_as_in_pinocchio(soft: dict[str, study.Motion]) -> None:
    model = study.model()
    data = model.createData()

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        u = np.array([0.6 * np.sin(np.pi * t), -0.25 * np.sin(2 * np.pi * t)])
        return np.concatenate([x[2:], pin.aba(model, data, x[:2], x[2:], u)])

    x, h = np.array([*study.START, 0, 0]), study.DURATION / 2000
    for k in range(2000):  # Runge and Kutta's method, whose error is far below the tolerance of the other
        k1 = rate(k * h, x)
        k2 = rate((k + 0.5) * h, x + h / 2 * k1)
        k3 = rate((k + 0.5) * h, x + h / 2 * k2)
        k4 = rate((k + 1) * h, x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert soft[study.RIGID].state[:, -1] == pytest.approx(x, abs=1e-7)


def test_differences_from_the_rigid_arm_go_with_the_inverse_of_the_stiffness(soft: dict[str, study.Motion]) -> None:
    rigid = soft[study.RIGID].joints
    stiff = study.simulate(study.arm(study.FREE, 100.0))
    ratio = study.largest(soft[study.FREE].joints - rigid) / study.largest(stiff.joints - rigid)
    # what is left is of second order in 1 / EI
    assert ratio == pytest.approx([10, 10], rel=0.05)


def test_clamped_clamped_modes_leave_the_tips_where_they_are(soft: dict[str, study.Motion]) -> None:
    assert np.abs(soft[study.CLAMPED].deflection).max() < TIGHT
    assert np.abs(soft[study.FREE].deflection).max() > 0.02
    assert np.abs(soft[study.CLAMPED].state[2:6]).max() > 1e-5  # though they bend the links
    errors = [study.apart(soft[name], soft[study.DEFAULT]) for name in (study.CLAMPED, study.RIGID, study.FREE)]
    assert errors[0] == pytest.approx(errors[1], rel=0.1)
    assert errors[0] > 5 * errors[2]
    with pytest.warns(TipWarning, match="neither shift nor turn the tip"):
        gd.FlexibleLink(gd.Beam(1.0, 0.5, EI_z=10.0), bending_y=gd.modes.clamped_clamped(2))


def test_the_recorded_case_study_is_simulated(soft: dict[str, study.Motion]) -> None:
    recorded = (RESULTS / "flexible_case_study.md").read_text(encoding="utf-8")
    page = (DOCS / "case_study.md").read_text(encoding="utf-8")
    for row in rows(study.table({10.0: soft})):
        assert row in recorded
    assert [row for row in rows(recorded) if row not in page] == []


def test_the_case_study_is_drawn(soft: dict[str, study.Motion]) -> None:
    both = {10.0: soft, 100.0: soft}
    axes = np.array(study.draw(both).axes).reshape(5, 2)
    for axis in axes[1:].flat:
        assert len(axis.lines) == 4
    free = soft[study.FREE]
    drawn = axes[3, 0].lines[2]
    assert np.array_equal(drawn.get_xdata(), free.t)
    assert np.array_equal(drawn.get_ydata(), 1000 * free.deflection[0])
    assert [axis.get_title(loc="left") for axis in axes[0]] == ["EI = 10 N m²", "EI = 100 N m²"]

"""Models, Functions and simulations on a Dask cluster: the numbers of a loop in one process, bit for bit."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

import gdalembert as gd
from tests.helpers import scripts

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return scripts.example("payload_sweep")


def test_a_cluster_finds_what_a_loop_finds(example: ModuleType, cluster: LocalCluster) -> None:
    drawn = example.samples(12, seed=3)
    outcomes = example.sweep(drawn, scheduler=cluster.scheduler_address)
    assert outcomes == example.serial(drawn)
    assert all("error" not in outcome for outcome in outcomes)
    assert [tuple(outcome[name] for name in example.DRAWN) for outcome in outcomes] == drawn


@pytest.mark.filterwarnings("ignore:.*vibrates at")  # before it fails
def test_samples_that_fail_are_reported_among_the_others(
    example: ModuleType, cluster: LocalCluster, tmp_path: Path
) -> None:
    """A beam too stiff for the step of the integrator, and a payload that is none."""
    drawn = [(0.2, 200.0), (0.2, 1e8), (-0.3, 200.0), (0.3, 300.0)]
    outcomes = example.sweep(drawn, scheduler=cluster.scheduler_address)
    assert outcomes == example.serial(drawn)
    assert ["error" in outcome for outcome in outcomes] == [False, True, True, False]
    said = example.summary(outcomes)
    assert "2 simulations, 2 failures" in said
    assert "failed: payload [kg] 0.2, EI [N m²] 100000000.0, error SimulationError: simulate: two_link_flexible" in said
    assert "failed: payload [kg] -0.3, EI [N m²] 200.0, error ArgumentError: tip_body" in said
    example.write(str(tmp_path / "sweep.csv"), outcomes)
    with open(tmp_path / "sweep.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["error"] for row in rows] == [outcome.get("error", "") for outcome in outcomes]
    assert [float(rows[k]["relative balance"]) for k in (0, 3)] == [outcomes[k]["relative balance"] for k in (0, 3)]


def test_errors_that_are_nobodys_fault_but_ours_end_the_sweep(example: ModuleType, cluster: LocalCluster) -> None:
    with pytest.raises(TypeError):
        example.sweep([("a payload", 200.0)], scheduler=cluster.scheduler_address)


def test_the_samples_depend_on_the_seed_alone(example: ModuleType) -> None:
    assert example.samples(5, 0) == example.samples(5, 0)
    assert example.samples(5, 0) != example.samples(5, 1)
    assert example.samples(9, 0)[:5] == example.samples(5, 0)


def test_the_arm_is_the_one_that_was_drawn(example: ModuleType) -> None:
    """Under a payload so heavy that the links count for nothing: ω² = 1 / (compliance of the tip · payload)."""
    payload, ei = 1e6, 300.0
    b = 1.8751040687119611
    s = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    value = np.cosh(b) - np.cos(b) - s * (np.sinh(b) - np.sin(b))
    slope = b * (np.sinh(b) + np.sin(b) - s * (np.cosh(b) - np.cos(b)))
    # lengths 1 m and 0.8 m; the mode of a link of length l has the stiffness EI b⁴ / l³
    compliance = ((value + 0.8 * slope) ** 2 + 0.8**3 * value**2) / (ei * b**4)
    arm = example.build(gd.load_urdf("two_link_flexible"), payload, ei)
    first = arm.natural_frequencies(np.zeros(arm.tree.nq))[0]
    # the links have a millionth of the payload
    assert first == pytest.approx(1 / np.sqrt(compliance * payload), rel=1e-6)


def test_a_sample_is_measured(example: ModuleType) -> None:
    robot = gd.load_urdf("two_link_flexible")
    soft, stiff = (example.simulate((0.2, ei), robot) for ei in (100.0, 400.0))
    for outcome in (soft, stiff):
        assert 0 < outcome["residual vibration [m]"] < outcome["peak deflection [m]"]
        assert outcome["relative balance"] < 1e-8
    assert stiff["first frequency [Hz]"] == pytest.approx(2 * soft["first frequency [Hz]"], rel=1e-12)
    assert stiff["peak deflection [m]"] < soft["peak deflection [m]"]


def test_models_arms_and_functions_travel(cluster: LocalCluster) -> None:
    """Each is sent, used there, and what it gives comes back."""
    model = gd.load_urdf("two_link_flexible")
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=50.0), "link2": gd.Beam(0.8, 0.45, EI_z=9.0)}
    arm = gd.FlexibleArm(model, {name: gd.FlexibleLink(beam) for name, beam in beams.items()})
    rigid = gd.NewtonEuler(model)
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    graph, fast = rigid.inverse_dynamics, gd.compile(rigid.inverse_dynamics, interpreter=True)
    bent = np.random.default_rng(1).normal(size=(3, arm.tree.nv))
    with Client(cluster) as client:
        made = client.submit(gd.NewtonEuler, model, pure=False)
        tau = client.submit(graph, q, v, a, pure=False)
        quick = client.submit(fast, q, v, a, pure=False)
        efforts = client.submit(arm.inverse_dynamics, *bent, pure=False)
        motion = client.submit(gd.simulate, arm, (bent[0] / 100, bent[1] / 100), 0.05, pure=False)
        assert made.result().tree == rigid.tree
        np.testing.assert_array_equal(tau.result().full(), graph(q, v, a).full())
        np.testing.assert_array_equal(quick.result(), fast(q, v, a))
        np.testing.assert_array_equal(efforts.result().full(), arm.inverse_dynamics(*bent).full())
        assert motion.result().to_dict() == gd.simulate(arm, (bent[0] / 100, bent[1] / 100), 0.05).to_dict()

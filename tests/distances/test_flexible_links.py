"""Capsules along the deformed axes of flexible links."""

from __future__ import annotations

from functools import cache
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.flexible.centreline import centreline
from tests.helpers.validated_arms import robot

BEAM = gd.Beam.tube(0.8, 0.04, 0.002, density=2700, youngs_modulus=70e9, poisson_ratio=0.3)
RADIUS = 0.02
OBSTACLES = {"pole": gd.Capsule([1.0, 0.5, -1], [1.0, 0.5, 1], 0.05), "floor": gd.HalfSpace([0, 0, 1], -0.3)}

pytestmark = pytest.mark.filterwarnings("ignore::gdalembert.errors.BeamWarning")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def arm_of(links: dict[str, Any], of: type[Any] = gd.FlexibleArm, root_joint: Any = None) -> tuple[Any, pin.Model]:
    """A revolute arm of three links with a tool; the links bend that are given."""
    kinds = ("revolute", "base"), ("revolute", "l0"), ("revolute", "l1")
    model = robot(*kinds, root_joint=root_joint)
    return of(model, links=links), model


ARMS: dict[str, Any] = {
    "modes": lambda: arm_of({"l1": gd.FlexibleLink(BEAM)}),
    "rod": lambda: arm_of({"l1": gd.CosseratRod(BEAM, degree=0)}),
    "free-flyer": lambda: arm_of({"l1": gd.FlexibleLink(BEAM)}, root_joint=pin.JointModelFreeFlyer()),
}


@cache
def shapes_of(name: str) -> tuple[Any, pin.Model, gd.Distances]:
    arm, model = ARMS[name]()
    return arm, model, gd.Distances(arm, obstacles=OBSTACLES)


def configuration(arm: Any, model: pin.Model, rng: np.random.Generator, size: float = 0.1) -> np.ndarray:
    f = size * rng.normal(size=arm.tree.nv - model.nv)
    return np.r_[pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), f]


@pytest.mark.parametrize("name", ARMS)
def test_capsules_lie_along_the_centreline(name: str, rng: np.random.Generator) -> None:
    arm, model, shapes = shapes_of(name)
    for link in arm.flexibility.links:
        rows = [k for k, pair in enumerate(shapes.pairs) if pair == (link, "floor")]
        line = centreline(arm, link, np.linspace(0, 0.8, len(rows) + 1))
        for _ in range(3):
            q = configuration(arm, model, rng)
            heights = line(q)[0].full()[2]
            lowest = np.minimum(heights[:-1], heights[1:]) + 0.3 - RADIUS
            np.testing.assert_allclose(shapes.distance(q).full().ravel()[rows], lowest, atol=1e-13)


@pytest.mark.parametrize("name", ARMS)
def test_derivatives_are_differences(name: str, rng: np.random.Generator) -> None:
    (arm, model, shapes), step = shapes_of(name), 1e-6
    move = gd.Kinematics.of(arm.parameters).integrate
    assert {pair[1] for pair in shapes.pairs} >= set(OBSTACLES)
    for _ in range(3):
        q = configuration(arm, model, rng)
        slopes = shapes.derivatives(q)[1].full()
        for column, direction in enumerate(step * np.eye(arm.tree.nv)):
            ends = [shapes.distance(move(q, sign * direction)).full().ravel() for sign in (1, -1)]
            np.testing.assert_allclose((ends[0] - ends[1]) / (2 * step), slopes[:, column], atol=1e-7)


def test_what_stands_on_a_flexible_link_moves_with_its_tip(rng: np.random.Generator) -> None:
    arm, model = arm_of({"l1": gd.FlexibleLink(BEAM)})
    geometry = pin.GeometryModel()
    for name, link, frame in (("hand", 3, "tool"), ("housing", 2, "l1")):
        placed = pin.SE3(np.eye(3), np.array([0.75, 0.1, 0.0]))
        item = pin.GeometryObject(name, link, model.getFrameId(frame), placed, coal.Sphere(0.05))
        geometry.addGeometryObject(item)
    shapes = gd.Distances(arm, geometry, OBSTACLES)
    assert not any("housing" in pair for pair in shapes.pairs)
    hand = shapes.pairs.index(("hand", "floor"))
    placement = gd.Kinematics.of(arm.parameters).joint_placement("j2")
    q = configuration(arm, model, rng)
    centre = placement(q).full() @ [0.75, 0.1, 0, 1]
    assert float(shapes.distance(q)[hand]) == pytest.approx(centre[2] + 0.3 - 0.05, abs=1e-13)


def test_links_that_are_always_near_are_no_pair_and_others_are() -> None:
    last = gd.FlexibleLink(BEAM, to="tool", children={"tool": "tip"})
    arm, _ = arm_of({"l0": gd.FlexibleLink(BEAM), "l2": last})
    shapes = gd.Distances(arm)
    assert set(shapes.pairs) == {("l0", "l2")}
    assert "distances between links, 0 to obstacles" in shapes.report()
    assert 0 < len(shapes.pairs) < 16
    assert gd.Distances(arm, pairs=[("l0", "l2")]).pairs == [("l0", "l2")] * 16


def test_a_beam_without_a_section_needs_a_radius() -> None:
    beam = gd.Beam(0.8, 1.5, EI_z=5000.0)
    arm, _ = arm_of({"l1": gd.FlexibleLink(beam)})
    with pytest.raises(gd.errors.ArgumentError, match=r"'l1' has no section.*radius"):
        gd.Distances(arm, obstacles=OBSTACLES)
    arm, _ = arm_of({"l1": gd.FlexibleLink(beam, radius=0.03)})
    thin, _ = arm_of({"l1": gd.FlexibleLink(beam, radius=0.01)})
    q = np.zeros(arm.tree.nq)
    gaps = [gd.Distances(made, obstacles=OBSTACLES).distance(q).full() for made in (arm, thin)]
    np.testing.assert_allclose(gaps[1] - gaps[0], 0.02, atol=1e-13)
    with pytest.raises(gd.errors.ArgumentError, match="radius"):
        gd.FlexibleLink(beam, radius=-1.0)


def test_a_tapered_beam_has_the_largest_radius_of_each_piece() -> None:
    beam = gd.Beam.round(0.8, lambda eta: 0.1 - 0.1 * eta, density=1000, youngs_modulus=1e9)
    arm, _ = arm_of({"l1": gd.FlexibleLink(beam, bending_y=gd.modes.hermite(), bending_z=None)})
    shapes, even = gd.Distances(arm, obstacles=OBSTACLES), shapes_of("modes")[2]
    q = np.zeros(arm.tree.nq)
    rows = [k for k, pair in enumerate(shapes.pairs) if pair == ("l1", "floor")]
    q_even = np.zeros(even.tree.nq)
    change = even.distance(q_even).full().ravel()[rows] - shapes.distance(q).full().ravel()[rows]
    np.testing.assert_allclose(change, [0.05 - RADIUS, 0.04 - RADIUS, 0.03 - RADIUS, 0.02 - RADIUS], atol=1e-12)

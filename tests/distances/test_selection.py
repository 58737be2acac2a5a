"""The choice of pairs and covers on robots of a few boxes: which are left out and why, and what the others tell."""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.distances import selection
from gdalembert.distances.closest import closest
from gdalembert.distances.placed import RobotWithShapes
from gdalembert.distances.sampling import configurations
from gdalembert.distances.selection import ChosenPairs, Item, select
from gdalembert.distances.shapes import Box, Capsule, Sphere
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from gdalembert.spatial.progress import progress
from tests.helpers.meshes import box_of, hull_of, item_of
from tests.helpers.terminals import Terminal

TURN = np.pi


@pytest.fixture(autouse=True)
def _few_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, count in (("CONFIGURATIONS", 1000), ("TRIED", 500), ("_FEW", 100)):
        monkeypatch.setattr(selection, name, count)


def arm() -> Tree:
    """Three links of 1 m that turn about y, one behind the other."""
    model, joint = pin.Model(), 0
    for k in range(3):
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0 if k else 0.0]))
        joint = model.addJoint(joint, pin.JointModelRY(), at, f"joint{k + 1}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    return read_tree(model)


def rod(name: str, link: int, low: float = 0.15, high: float = 0.85) -> Item:
    """A square rod along z, as a mesh."""
    return Item(name, link, item_of(hull_of(box_of([0, 0, (low + high) / 2], [0.1, 0.1, high - low])), name=name))


def dumbbell(name: str, link: int) -> Item:
    """Two cubes with a thin rod between, of which one capsule is a bad cover."""
    boxes = box_of([0, 0, 0.2], [0.3] * 3), box_of([0, 0, 0.8], [0.3] * 3), box_of([0, 0, 0.5], [0.04, 0.04, 0.4])
    return Item(name, link, item_of(hull_of(*boxes), name=name))


def post(name: str = "post", at: tuple[float, float, float] = (0.8, 0.0, 0.9)) -> Item:
    return Item(name, -1, item_of(coal.Box(0.1, 0.5, 0.1), pin.SE3(np.eye(3), np.array(at)), name))


def chosen(items: list[Item], pairs: list[tuple[int, int]] | None = None, **options: Any) -> ChosenPairs:
    limits = {"lower": np.full(3, -TURN), "upper": np.full(3, TURN)}
    return select(arm(), items, pairs, **limits | options)


def said(tree: Tree, selected: ChosenPairs, q: np.ndarray) -> np.ndarray:
    symbol = ca.SX.sym("q", tree.nq)
    robot = RobotWithShapes(tree, symbol)
    gaps = [closest(*map(robot.placed, row)).gap for row in selected.rows]
    return np.asarray(ca.Function("gaps", [symbol], [ca.densify(ca.vertcat(*gaps))]).map(len(q))(q.T).full() < 0)


def touching(tree: Tree, first: Item, second: Item, q: np.ndarray) -> np.ndarray:
    symbol = ca.SX.sym("q", tree.nq)
    places = ca.Function("places", [symbol], [ca.densify(x) for placed in tree.placements(symbol) for x in placed])
    found = []
    for values in q:
        placed = [x.full() for x in places(values)]
        at = []
        for item in (first, second):
            local, k = item.geometry.placement, item.link
            world = pin.SE3(placed[2 * k], placed[2 * k + 1].ravel()) * local if k >= 0 else local
            at.append(coal.Transform3s(world.rotation, world.translation))
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        found.append(coal.collide(first.geometry.geometry, at[0], second.geometry.geometry, at[1], request, result))
    return np.array(found, dtype=bool)


def test_no_contact_of_meshes_is_missed_and_cuts_lessen_false_alarms() -> None:
    items = [post(), dumbbell("bell", 1)]
    one, cut = chosen(items, pays=1.0), chosen(items, pays=0.002)
    assert len(one.rows) == 1
    assert len(cut.rows) > 1
    assert cut.false_alarms < 0.6 * one.false_alarms
    assert max(cover.outside for cover in cut.covers) <= 0
    q = configurations(arm(), np.full(3, -TURN), np.full(3, TURN), 1500, seed=5)
    contacts, overlaps = touching(arm(), *items, q), said(arm(), cut, q).any(axis=0)
    assert contacts.sum() > 20
    assert not (contacts & ~overlaps).any()
    assert abs((overlaps & ~contacts).mean() - cut.false_alarms) < 0.02  # of 1,500 and 1,000 configurations


def test_pairs_and_capsules_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [post(), dumbbell("bell", 1)]
    expected = chosen(items)
    monkeypatch.setattr("gdalembert.spatial.progress._MOVES", 0.0)
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    with progress("arm", shown=True):
        found = chosen(items)
    assert str(found) == str(expected)
    assert "arm: pair 1 of 1: post and bell" in seen.states
    assert "arm: capsule 1 of 1" in seen.states
    assert "arm: 0 of 1 pairs refined, 1 distances" in seen.states
    assert "arm: cover of bell beside obstacles" in seen.states


@pytest.mark.long
def test_the_choice_is_the_same_every_time() -> None:
    items = [post(), dumbbell("bell", 1)]
    first, second = (chosen(items, pays=0.002) for _ in range(2))
    assert first.false_alarms == second.false_alarms
    assert all(
        a.shape == b.shape
        for one, two in zip(first.rows, second.rows, strict=True)
        for a, b in zip(one, two, strict=True)
    )


def test_pairs_that_tell_nothing_are_left_out_with_the_reason() -> None:
    around = Item("around", -1, item_of(coal.Sphere(1.5), name="around"))
    hidden = Item("hidden", 1, item_of(hull_of(box_of([0, 0, 0.1], [0.6] * 3)), name="hidden"))
    ring = Item("ring", -1, item_of(hull_of(*(box_of([0, y, 0], [3.0, 0.1, 3.0]) for y in (-0.5, 0.5))), name="ring"))
    selected = chosen([post("far", (5.0, 0.0, 0.0)), around, ring, rod("upper", 0), rod("lower", 1), hidden])
    reasons = {pair[:2]: pair[2] for pair in selected.left_out}
    assert reasons["upper", "lower"] == reasons["around", "upper"] == "are on neighbours"
    assert reasons["far", "lower and hidden"].startswith("never nearer than 3.")
    assert reasons["around", "lower and hidden"] == "touch in more than 99% of 100 configurations"
    assert reasons["ring", "lower and hidden"].startswith("never touch in 1000 configurations, though covers do in 100")
    assert selected.rows == []


def test_pairs_that_are_asked_for_stay() -> None:
    items = [post("far", (5.0, 0.0, 0.0)), rod("upper", 0), rod("lower", 1)]
    selected = chosen(items, [(0, 2), (1, 2)], pays=1.0)
    assert [tuple(body.name for body in row) for row in selected.rows] == [("far", "lower"), ("upper", "lower")]
    assert selected.left_out == []


def test_shapes_with_a_closed_form_stay_exact_and_boxes_beside_meshes_are_covered_with_them() -> None:
    ball = Item("ball", -1, item_of(coal.Sphere(0.2), pin.SE3(np.eye(3), np.array([0.8, 0, 0.9])), "ball"))
    box = Item("box", 2, item_of(coal.Box(0.1, 0.1, 0.4), name="box"))
    ((first, second),) = chosen([ball, box], [(0, 1)]).rows
    assert isinstance(first.shape, Sphere)
    assert isinstance(second.shape, Box)
    beside = chosen([ball, box, rod("tip", 2)], pays=1.0)
    assert {type(body.shape) for row in beside.rows for body in row} == {Sphere, Capsule}
    assert beside.covers[0].names == ("box", "tip")


def test_objects_that_are_alone_share_no_cover_and_stay_exact() -> None:
    boxes = [Item(name, 2, item_of(coal.Box(0.1, 0.1, 0.4), name=name)) for name in ("left", "right")]
    items = [post(), *boxes, rod("tip", 2)]
    selected = chosen(items, [(0, 1), (0, 3)], beside=[2], alone=True, pays=1.0)
    shapes = {(one.name, other.name): (type(one.shape), type(other.shape)) for one, other in selected.rows}
    assert shapes == {("post", "left"): (Box, Box), ("post", "tip"): (Box, Capsule)}
    assert [(body.name, type(body.shape)) for body in selected.bodies] == [("right", Box)]


def test_pairs_that_are_asked_for_and_touch_always_are_told() -> None:
    around = Item("around", -1, item_of(coal.Sphere(2.5), name="around"))
    selected = chosen([around, rod("upper", 0), rod("lower", 1)], [(0, 2), (1, 2)], pays=1.0)
    assert selected.touching == [("around", "lower")]
    assert "around and lower touch always" in str(selected)


def test_pairs_whose_covers_overlap_always_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_ROWS", 2)
    plate, knob = box_of([0, -0.0101, 0], [6.0, 0.02, 6.0]), box_of([1.0, 0.0, 0], [0.2, 0.2, 0.2])
    wall = Item("wall", -1, item_of(hull_of(plate, knob), name="wall"))
    disc = Item("disc", 1, item_of(hull_of(box_of([0, 0.0101, 0], [0.5, 0.02, 0.5])), name="disc"))
    asked, sampled = (chosen([wall, disc], pairs, beside=[]) for pairs in ([(0, 1)], None))
    assert asked.inseparable == sampled.inseparable == [("wall", "disc")]
    assert [(first.name, second.name) for first, second in asked.rows] == [("wall", "disc")]
    assert sampled.rows == []
    assert asked.false_alarms == 0
    q = configurations(arm(), np.full(3, -TURN), np.full(3, TURN), 1000, seed=0)[:500]
    touch = touching(arm(), wall, disc, q)
    assert 0 < touch.mean() < 0.5
    reason = f"covers overlap always, objects in {touch.mean():.1%} of configurations"
    assert ("wall", "disc", reason) in sampled.left_out
    assert "wall and disc touch not always, but their covers do" in str(asked)


@pytest.mark.long
def test_flat_faces_that_pass_closely_are_told_apart_by_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pin.Model()
    waist = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "waist")
    model.appendBodyToJoint(waist, pin.Inertia.Random(), pin.SE3.Identity())
    beside = pin.SE3(np.eye(3), np.array([0.0, 0.136, 0.09]))
    shoulder = model.addJoint(waist, pin.JointModelRY(), beside, "shoulder")
    model.appendBodyToJoint(shoulder, pin.Inertia.Random(), pin.SE3.Identity())
    tree, angles = read_tree(model), np.pi / 16 * np.arange(32)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    disc = np.vstack([np.column_stack([0.073 * ring, np.full(32, z)]) for z in (0.0, 0.02)])
    motor = np.vstack([np.column_stack([0.06 * ring[:, 0], np.full(32, y), 0.06 * ring[:, 1]]) for y in (-0.06, 0.06)])
    plug, tube = (
        box_of([0, -0.085, 0.01], [0.04, 0.05, 0.02]),
        np.vstack([np.column_stack([0.05 * ring, np.full(32, z)]) for z in (0.03, 0.4)]),
    )
    items = [
        Item("base", -1, item_of(hull_of(disc, plug), name="base")),
        Item("arm", tree.links[1], item_of(hull_of(motor, tube), name="arm")),
    ]
    limits: dict[str, Any] = {"lower": np.full(2, -TURN), "upper": np.full(2, TURN), "beside": []}
    selected = select(tree, items, **limits)
    monkeypatch.setattr(selection, "_MANY", 1.0)
    capsules = select(tree, items, **limits)
    assert {Box, Capsule} == {type(body.shape) for row in selected.rows for body in row}
    assert selected.false_alarms < 0.7 * capsules.false_alarms
    assert max(cover.outside for cover in selected.covers) <= 0
    assert "box" in str(selected)
    q = configurations(tree, limits["lower"], limits["upper"], 400, seed=5)
    contacts, overlaps = touching(tree, *items, q), said(tree, selected, q).any(axis=0)
    assert contacts.any()
    assert not (contacts & ~overlaps).any()


def test_one_of_two_boxes_is_covered() -> None:
    items = [Item(name, link, item_of(coal.Box(0.1, 0.1, 0.4), name=name)) for name, link in (("one", -1), ("two", 2))]
    kinds = {frozenset(type(body.shape) for body in row) for row in chosen(items, [(0, 1)], pays=1.0).rows}
    assert kinds == {frozenset((Box, Capsule))}


def test_two_half_spaces_have_no_gap() -> None:
    floor = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    items = [Item(name, link, item_of(floor, name=name)) for name, link in (("floor", -1), ("wall", 2))]
    selected = chosen(items)
    assert selected.rows == []
    assert selected.left_out == [("floor", "wall", "two half-spaces have no gap")]


def test_obstacles_are_compared_with_each_moving_link() -> None:
    selected = chosen([post(), rod("upper", 0), dumbbell("bell", 1), rod("tip", 2)], [])
    assert {(body.name, body.link) for body in selected.bodies} == {("upper", 0), ("bell", 1), ("tip", 2)}


def test_the_report_tells_covers_and_reasons() -> None:
    text = str(chosen([post(), rod("upper", 0), dumbbell("bell", 1)], pays=1.0))
    assert "covers alone in" in text
    assert "bell, beside links: in capsules of" in text
    assert "upper, bell: are on neighbours" in text


def test_joints_without_limits_turn_once_and_free_flyers_stay() -> None:
    model = pin.Model()
    joint = 0
    for k, type_ in enumerate(
        (pin.JointModelFreeFlyer(), pin.JointModelRUBZ(), pin.JointModelRX(), pin.JointModelPY())
    ):
        joint = model.addJoint(joint, type_, pin.SE3.Identity(), f"joint{k}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    tree = read_tree(model)
    lower, upper = np.full(tree.nq, -np.inf), np.full(tree.nq, np.inf)
    lower[-2:], upper[-2:] = [1.0, -np.inf], [2.0, np.inf]
    q = configurations(tree, lower, upper, 2000, seed=0)
    np.testing.assert_array_equal(q[:, :7], np.tile([0, 0, 0, 0, 0, 0, 1], (2000, 1)))
    np.testing.assert_allclose(np.hypot(q[:, 7], q[:, 8]), 1)
    assert np.abs(q[:, 7:9].mean(axis=0)).max() < 0.1
    assert 1 <= q[:, 9].min() < 1.01 < 1.99 < q[:, 9].max() <= 2
    assert -1 <= q[:, 10].min() < -0.99 < 0.99 < q[:, 10].max() <= 1

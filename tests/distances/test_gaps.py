"""Gaps of spheres, capsules, boxes and half-spaces against coal's, and their derivatives against differences."""

from __future__ import annotations

import pickle
import re
from itertools import product
from typing import Any

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.distances.placed import RobotWithShapes
from tests.helpers.meshes import box_of, hull_of, item_of
from tests.helpers.models import build, placement, states

pytestmark = pytest.mark.filterwarnings("ignore::gdalembert.errors.DistanceWarning")  # of solids at random
KINDS = ("sphere", "capsule", "box", "half-space")
TREE = ("FreeFlyer", "RUBX", "SphericalZYX", "HelicalUnaligned", "Ellipsoid", "Planar", "PX")
"""Joints with a quaternion, pairs (cos, sin), velocities that are no rates of q, a pitch, and a slide."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def solid_of(kind: str, rng: np.random.Generator) -> Any:
    sizes = rng.uniform(0.05, 0.4, 3)
    if kind == "sphere":
        return coal.Sphere(sizes[0])
    if kind == "capsule":
        return coal.Capsule(sizes[0], 2 * sizes[1])
    if kind == "box":
        return coal.Box(*sizes)
    normal = rng.normal(size=3)
    return coal.Halfspace(normal / np.linalg.norm(normal), -1.5)


def with_solids(rng: np.random.Generator, joints: tuple[str, ...] = TREE, kinds: tuple[str, ...] = KINDS) -> Any:
    """A tree of two branches with a shape on each link and two on the universe, every two of which are a pair."""
    model = build(rng, joints, [0, 1, 2, 1, 4, 5, 6][: len(joints)], mimic=2 if "RUBX" in joints else None)
    geometry = pin.GeometryModel()
    for joint in range(-1, model.njoints):
        kind = kinds[joint % len(kinds)]
        where = rng.normal(scale=0.2, size=3)
        placed = pin.SE3(placement(rng).rotation, where)
        item = pin.GeometryObject(f"{kind} {joint}", max(joint, 0), placed, solid_of(kind, rng))
        geometry.addGeometryObject(item)
    objects = geometry.geometryObjects
    for first in range(len(objects)):
        for second in range(first):
            both = {objects[first].name.split()[0], objects[second].name.split()[0]}
            if objects[first].parentJoint != objects[second].parentJoint and both != {"half-space"}:
                geometry.addCollisionPair(pin.CollisionPair(first, second))
    return model, geometry


def true_gaps(model: pin.Model, geometry: pin.GeometryModel, q: np.ndarray) -> np.ndarray:
    data, of_geometry = model.createData(), geometry.createData()
    pin.computeDistances(model, data, geometry, of_geometry, q)
    return np.array([result.min_distance for result in of_geometry.distanceResults])


def test_distances_tell_how_many_they_are(rng: np.random.Generator, capfd: pytest.CaptureFixture[str]) -> None:
    model, geometry = with_solids(rng, TREE[:3])
    assert gd.Distances(model, geometry, progress=True).pairs == gd.Distances(model, geometry).pairs
    assert re.fullmatch(rf"{model.name}: distances: \d+ between links, [\d.]+ s\n", capfd.readouterr().err)
    with pytest.raises(gd.errors.ArgumentTypeError, match=r"^Distances: progress is 1; give True or False$"):
        gd.Distances(model, geometry, progress=1)  # type: ignore[arg-type]


def test_gaps_are_those_of_coal_where_shapes_are_apart(rng: np.random.Generator) -> None:
    compared = 0
    for joints in (TREE[:3], ("Spherical", "RX")):
        model, geometry = with_solids(rng, joints)
        shapes = gd.Distances(model, geometry)
        for q, _, _ in states(model, rng, 6):
            gaps, true = shapes.distance(q).full().ravel(), true_gaps(model, geometry, q)
            apart = true > 1e-6
            compared += apart.sum()
            # coal's own tolerance of the distance of two convex shapes is 1e-6 of it
            np.testing.assert_allclose(gaps[apart], true[apart], rtol=2e-6, atol=1e-9)
            assert (gaps[~apart] < 1e-5).all()
    assert compared > 60


def test_capsules_and_spheres_are_exact_to_rounding(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, kinds=("sphere", "capsule"))
    shapes = gd.Distances(model, geometry)
    for q, _, _ in states(model, rng, 10):
        gaps, true = shapes.distance(q).full().ravel(), true_gaps(model, geometry, q)
        np.testing.assert_allclose(gaps[true > 0], true[true > 0], rtol=0, atol=1e-13 * max(1.0, true.max()))


def test_closest_points_are_those_of_coal(rng: np.random.Generator) -> None:
    compared = 0
    for joints in (TREE[:3], ("Spherical", "RX")):
        model, geometry = with_solids(rng, joints)
        shapes, data, of_geometry = gd.Distances(model, geometry), model.createData(), geometry.createData()
        for q, _, _ in states(model, rng, 6):
            pin.computeDistances(model, data, geometry, of_geometry, q)
            gaps, points = shapes.distance(q).full().ravel(), [x.full().T for x in shapes.closest(q)]
            np.testing.assert_allclose(np.linalg.norm(points[0] - points[1], axis=1), np.abs(gaps), atol=1e-9)
            for k, result in enumerate(of_geometry.distanceResults):
                if result.min_distance > 1e-3:
                    theirs = [result.getNearestPoint1(), result.getNearestPoint2()]
                    if geometry.geometryObjects[geometry.collisionPairs[k].first].name != shapes.pairs[k][0]:
                        theirs.reverse()
                    # points move by the root of the tolerance of a distance
                    np.testing.assert_allclose([points[0][k], points[1][k]], theirs, atol=2e-3)
                    compared += 1
    assert compared > 60


def test_bodies_stand_where_their_gaps_say(rng: np.random.Generator) -> None:
    """Distances of the shapes in the universe, as obstacles of a robot that does not move."""
    model, geometry = with_solids(rng, ("RX", "PY", "RZ"), KINDS[:3])
    moving = {"ball": gd.Sphere, "pole": gd.Capsule, "floor": gd.HalfSpace}
    numbers = np.r_[2, 1, 3, 0.1, -2, 1, 0, -2.5, 1, 1, 0.2, 0, 1, 2, -4]
    shapes = gd.Distances(model, geometry, moving)
    q = rng.normal(size=3)
    placed = {body.name: body for body in shapes.bodies(q, numbers)}
    assert {name: body.link for name, body in placed.items()} == {
        item.name: item.parentJoint - 1 for item in geometry.geometryObjects
    } | dict.fromkeys(moving, -1)
    probe = pin.GeometryModel()
    probe.addGeometryObject(pin.GeometryObject("probe", 1, pin.SE3.Identity(), coal.Sphere(0.1)))
    one = pin.Model()
    one.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "probe")
    beside = gd.Distances(one, probe, {name: body.shape for name, body in placed.items()})
    solids = [name for _, name in beside.pairs]
    points, gaps = [x.full().T for x in shapes.closest(q, numbers)], shapes.distance(q, numbers).full().ravel()
    assert (gaps > 0).sum() > 10
    for k in np.flatnonzero(gaps > 0):
        for name, point in zip(shapes.pairs[k], (side[k] for side in points), strict=True):
            assert abs(beside.distance(point).full()[solids.index(name), 0] + 0.1) < 1e-9


def test_objects_of_pairs_that_are_asked_for_share_no_cover(rng: np.random.Generator) -> None:
    model, geometry = build(rng, ("RX",), [0]), pin.GeometryModel()
    for name, height in (("rod", 0.0), ("cap", 0.5)):
        placed = pin.SE3(np.eye(3), np.array([0, 0, height]))
        geometry.addGeometryObject(pin.GeometryObject(name, 1, placed, coal.Cylinder(0.1, 0.4)))
    solids = {"ball": gd.Sphere([1, 2, 3], 0.1), "floor": gd.HalfSpace([0, 0, 1], -5.0)}
    one = gd.Distances(model, geometry, solids, pairs=[("rod", "ball")])
    assert set(one.pairs) == {("rod", "ball")}
    both = gd.Distances(model, geometry, solids, pairs=[("ball", "rod"), ("cap", "ball")])
    assert set(both.pairs) == {("rod", "ball"), ("cap", "ball")}
    assert both.distance([0.3])[0] == one.distance([0.3])


def test_derivatives_are_differences_of_gaps(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng)
    shapes, step, compared = gd.Distances(model, geometry), 1e-6, 0
    for q, _, _ in states(model, rng, 4):
        gaps, slopes = (x.full() for x in shapes.derivatives(q))
        columns = []
        for direction in step * np.eye(model.nv):
            ends = [shapes.distance(pin.integrate(model, q, sign * direction)).full().ravel() for sign in (1, -1)]
            columns.append((ends[0] - ends[1]) / (2 * step))
        near_corner = np.abs(np.column_stack(columns) - slopes).max(axis=1) > 1e-6 * max(1, np.abs(slopes).max())
        apart = gaps.ravel() > 1e-3
        compared += apart.sum()
        # a difference is wrong beside a place where the nearest edge changes
        assert (near_corner & apart).sum() <= 0.02 * apart.sum()
    assert compared > 50


def test_casadi_has_the_derivatives_of_the_envelope_theorem(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng)
    shapes = gd.Distances(model, geometry)
    q, v = ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv)
    rate = gd.Kinematics(model).tree.configuration_rate(q, v)
    along = ca.Function("along", [q, v], [ca.jtimes(shapes.distance(q), q, rate)])
    mapped = shapes.distance.map(3).expand()
    for at, velocity, _ in states(model, rng, 3):
        gaps, slopes = shapes.derivatives(at)
        np.testing.assert_allclose(along(at, velocity).full(), slopes.full() @ velocity[:, None], atol=1e-11)
        np.testing.assert_array_equal(mapped(np.column_stack([at] * 3)).full()[:, 2:], gaps.full())


def test_a_map_has_the_same_derivatives(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "RY", "PX"), ("capsule", "sphere"))
    shapes, count = gd.Distances(model, geometry), 4
    q = ca.MX.sym("q", 3 * count)
    gaps = ca.vec(shapes.distance.map(count)(ca.reshape(q, 3, count)))
    slopes = ca.Function("slopes", [q], [ca.jacobian(gaps, q)])
    at = rng.normal(size=(count, 3))
    expected = ca.diagcat(*(shapes.derivatives(row)[1] for row in at))
    np.testing.assert_allclose(slopes(at.ravel()).full(), expected.full(), atol=1e-15)
    assert slopes.expand().n_instructions() <= count * shapes.derivatives.n_instructions()


def test_batches_take_several_states_at_once(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "sphere"))
    shapes = gd.Distances(model, geometry)
    assert gd.compile(shapes.distance).width == gd.compile(shapes.derivatives).width


def test_second_derivatives_are_differences_of_first_ones(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "RY", "PX"), ("capsule", "sphere"))
    shapes, weights = gd.Distances(model, geometry), rng.normal(size=100)
    q = ca.MX.sym("q", model.nq)
    lagrangian = ca.dot(weights[: len(shapes.pairs)], shapes.distance(q))
    hessian, gradient = (ca.Function("f", [q], [x]) for x in ca.hessian(lagrangian, q))
    at, step = rng.normal(size=3), 1e-6
    ends = [[gradient(at + sign * column).full() for sign in (1, -1)] for column in step * np.eye(3)]
    differences = np.hstack([(ahead - behind) / (2 * step) for ahead, behind in ends])
    np.testing.assert_allclose(hessian(at).full(), differences, atol=1e-6 * np.abs(differences).max())


def test_second_derivatives_are_symmetric_where_q_has_unit_lengths(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("FreeFlyer", "RUBX", "Spherical"), ("capsule", "sphere"))
    shapes, tangent = gd.Distances(model, geometry), ca.MX.sym("tangent", model.nv)
    q, kinematics = ca.MX.sym("q", model.nq), gd.Kinematics(model)
    at = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    weights = rng.normal(size=len(shapes.pairs))
    hessian, gradient = ca.hessian(ca.dot(weights, shapes.distance(q)), q)
    by_gradient = ca.Function("both", [q], [hessian, ca.jacobian(gradient, q)])(at)
    np.testing.assert_allclose(*(x.full() for x in by_gradient), atol=1e-12 * float(ca.norm_inf(by_gradient[0])))
    moved = ca.dot(weights, shapes.distance(kinematics.integrate(at, tangent)))
    second = ca.Function("second", [tangent], [ca.hessian(moved, tangent)[0], ca.gradient(moved, tangent)])
    step = 1e-5 * np.eye(model.nv)
    differences = [(second(s)[1] - second(-s)[1]).full().ravel() / 2e-5 for s in step]
    np.testing.assert_allclose(second(0)[0].full(), differences, atol=1e-6 * np.abs(differences).max())


def test_shapes_without_a_pair_have_no_bodies(rng: np.random.Generator) -> None:
    model, _ = with_solids(rng, ("RX",), ("sphere",))
    assert gd.Distances(model, pin.GeometryModel()).bodies(np.zeros(1)) == []


def test_obstacles_are_numbers_or_inputs(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, kinds=("sphere", "capsule"))
    solids = {
        "ball": gd.Sphere([1, 0.5, 0.2], 0.3),
        "pole": gd.Capsule([1, 0, 0], [1, 0, 2], 0.05),
        "floor": gd.HalfSpace([0, 0, 1], -3.0),
    }
    known = gd.Distances(model, geometry, solids)
    moving = gd.Distances(model, geometry, {name: type(solid) for name, solid in solids.items()})
    numbers = np.concatenate([solid.numbers for solid in solids.values()])
    assert moving.pairs == known.pairs
    assert moving.inputs == {"ball": 4, "pole": 7, "floor": 4}
    for q, _, _ in states(model, rng, 3):
        for ours, others in zip(moving.derivatives(q, numbers), known.derivatives(q), strict=True):
            np.testing.assert_allclose(ours.full(), others.full(), atol=1e-13)


def test_distances_are_pickled(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "sphere"))
    shapes = gd.Distances(model, geometry, {"ball": gd.Sphere})
    at, numbers = rng.normal(size=2), [2, 1, 3, 0.1]
    gaps = shapes.derivatives(at, numbers)
    copied = pickle.loads(pickle.dumps(shapes))
    assert copied.pairs == shapes.pairs
    for ours, others in zip(copied.derivatives(at, numbers), gaps, strict=True):
        np.testing.assert_array_equal(ours.full(), others.full())


def test_a_normal_of_any_length_is_made_one(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "box"))
    fixed = gd.Distances(model, geometry, {"floor": gd.HalfSpace([0, 3, 4], -1.0)})
    moving = gd.Distances(model, geometry, {"floor": gd.HalfSpace})
    q = rng.normal(size=2)
    np.testing.assert_allclose(moving.distance(q, [0, 30, 40, -1]).full(), fixed.distance(q).full(), atol=1e-13)


def test_pairs_that_touch_often_are_kept() -> None:
    """In 26 % of configurations of the two spheres; all that touch there overlap."""
    model, geometry, joint = pin.Model(), pin.GeometryModel(), 0
    for k in range(3):
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.3 * (k > 0), 0, 0])), f"{k}")
    for name, parent, radius in (("base", 0, 0.25), ("tip", joint, 0.1)):
        place = pin.SE3(np.eye(3), np.array([0.3 * (parent > 0), 0, 0]))
        geometry.addGeometryObject(pin.GeometryObject(name, parent, place, coal.Sphere(radius)))
    assert gd.Distances(model, geometry).pairs == [("base", "tip")]


def test_derivatives_by_obstacles_are_differences(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "box"))
    kinds = {"ball": gd.Sphere, "pole": gd.Capsule, "floor": gd.HalfSpace}
    shapes = gd.Distances(model, geometry, kinds)
    q, x = ca.MX.sym("q", model.nq), ca.MX.sym("x", 15)
    slopes = ca.Function("slopes", [q, x], [ca.jacobian(shapes.distance(q, x), x)])
    numbers = np.r_[2, 1, 3, 0.1, -2, 1, 0, -2.5, 1, 1, 0.2, 0, 1, 2, -4]
    at, step = rng.normal(size=2), 1e-6
    ends = [[shapes.distance(at, numbers + sign * e) for sign in (1, -1)] for e in step * np.eye(15)]
    differences = np.hstack([(ahead - behind).full() / (2 * step) for ahead, behind in ends])
    np.testing.assert_allclose(slopes(at, numbers).full(), differences, atol=1e-8)


def test_placements_are_parameters(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY", "RZ"), ("capsule", "sphere"))
    shapes = gd.Distances(gd.Kinematics(model, parameters={"placement": True}), geometry)
    names = shapes.kinematics.parameters.names
    q, p = ca.MX.sym("q", model.nq), ca.MX.sym("p", len(names))
    slopes = ca.Function("slopes", [q, p], [ca.jacobian(shapes.distance(q, p), p)])
    at, values, step = rng.normal(size=3), 0.1 * rng.normal(size=len(names)), 1e-6
    ends = [[shapes.distance(at, values + sign * e) for sign in (1, -1)] for e in step * np.eye(len(names))]
    differences = np.hstack([(ahead - behind).full() / (2 * step) for ahead, behind in ends])
    np.testing.assert_allclose(slopes(at, values).full(), differences, atol=1e-8)
    displaced = shapes.kinematics.parameters.write(model, values)
    np.testing.assert_allclose(
        gd.Distances(displaced, geometry).distance(at).full(), shapes.distance(at, values).full(), atol=1e-12
    )


def degenerate(rng: np.random.Generator) -> list[list[float]]:
    """Placements of one capsule beside another: parallel, in a line, touching, crossing, within each other."""
    angles = rng.choice([0.0, np.pi / 2, np.pi], size=3)
    steps = rng.choice([0.0, 0.1, 0.2, -0.1], size=3)
    return [*angles, *steps]


def test_nothing_is_nan_where_axes_are_parallel_touch_or_cross(rng: np.random.Generator) -> None:
    model = pin.Model()
    joint = 0
    for kind in (
        pin.JointModelRX(),
        pin.JointModelRY(),
        pin.JointModelRZ(),
        *map(pin.JointModelPrismaticUnaligned, np.eye(3)),
    ):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), f"{joint}")
    geometry, kinds = pin.GeometryModel(), [coal.Capsule(0.1, 0.2), coal.Box(0.2, 0.2, 0.2), coal.Sphere(0.1)]
    for parent in (0, joint):
        for kind in kinds:
            geometry.addGeometryObject(pin.GeometryObject(f"{parent} {kind}", parent, pin.SE3.Identity(), kind))
    shapes = gd.Distances(model, geometry, {"floor": gd.HalfSpace([0, 0, 1])})
    hessian = ca.Function("hessian", [q := ca.MX.sym("q", 6)], [ca.hessian(ca.sum1(shapes.distance(q)), q)[0]])
    columns = np.array([degenerate(rng) for _ in range(1000)]).T
    gaps, slopes = (x.full() for x in shapes.derivatives.map(1000)(columns))
    assert np.isfinite(gaps).all()
    assert np.isfinite(slopes).all()
    assert np.isfinite(hessian.map(200)(columns[:, :200]).full()).all()


def test_gaps_are_nan_where_q_is(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY", "RZ"), ("capsule", "sphere", "box"))
    base, last = ([item.name for item in geometry.geometryObjects if item.parentJoint == k] for k in (0, 3))
    solids = {"floor": gd.HalfSpace([0.2, 0.3, 1], -2.0), "block": gd.Box(placement(rng), [1, 1, 1])}
    shapes = gd.Distances(model, geometry, solids, pairs=list(product(last, [*base, *solids])))
    for k in range(3):
        q = rng.normal(size=3)
        q[k] = np.nan
        assert np.isnan(shapes.distance(q).full()).all()
        assert np.isnan(shapes.derivatives(q)[1].full()).any(axis=1).all()


def test_a_factory_gives_the_derivatives_of_the_envelope(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY", "RZ"), ("capsule", "sphere"))
    shapes, q = gd.Distances(model, geometry), rng.normal(size=3)
    made = shapes.distance.factory("both", ["q"], ["d", "jac:d:q"])(q)
    for one, other in zip(made, shapes.derivatives(q), strict=True):
        np.testing.assert_allclose(one.full(), other.full(), atol=1e-14)


@pytest.mark.parametrize(("first", "second", "most"), [("capsule", "capsule", 45), ("capsule", "box", 120)])
def test_a_further_pair_takes_so_many_instructions(first: str, second: str, most: int) -> None:
    assert _instructions(first, second, 3) - _instructions(first, second, 2) <= most


def _instructions(first: str, second: str, count: int) -> int:
    """Those of distances between shapes on links of their own, without those that place them."""
    rng, model, geometry = np.random.default_rng(0), pin.Model(), pin.GeometryModel()
    for k in range(count):
        for kind in (first, second):
            joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"{model.njoints}")
            item = pin.GeometryObject(f"{joint}", joint, pin.SE3.Identity(), solid_of(kind, rng))
            geometry.addGeometryObject(item)
        geometry.addCollisionPair(pin.CollisionPair(2 * k, 2 * k + 1))
    shapes = gd.Distances(model, geometry)
    robot = RobotWithShapes(shapes.tree, q := ca.SX.sym("q", model.nq))
    placed = [ca.SX(x) for pair in shapes._rows for body in pair for x in _matrices(robot.placed(body))]
    kinematics = ca.Function("placed", [q], ca.cse(placed)).n_instructions() - sum(x.nnz() for x in placed)
    return shapes.distance.n_instructions() - kinematics


def _matrices(placed: Any) -> list[Any]:
    return [x for field in placed for x in (field if isinstance(field, list) else [field]) if isinstance(x, ca.SX)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"robot": 3}, "takes a pin.Model"),
        ({"geometry": 3}, "geometry"),
        ({"obstacles": [1]}, "obstacles"),
        ({"obstacles": {"box": gd.Box}}, "box"),
        ({"obstacles": {"pole": 3}}, "pole"),
        ({"pairs": [("a", "pole")]}, "'a'"),
        ({"pairs": ["pole"]}, "pole"),
        ({"pairs": [("pole", "floor")]}, "do not move"),
        ({"cover": "spheres"}, "cover"),
        ({"bounds": 3}, "bounds"),
        ({"near": -1}, "near"),
        ({"pairs": "all"}, "pairs"),
        ({"pairs": [("sphere 1", "sphere 1")]}, "no distance"),
        ({"geometry": None}, "no shapes that move"),
        ({"obstacles": {"sphere 1": gd.Sphere([0, 0, 0], 1.0)}}, "sphere 1"),
        ({"obstacles": {"": gd.Sphere([0, 0, 0], 1.0)}}, "name ''; give letters, digits and _"),
        ({"obstacles": {"a b": gd.Sphere}}, "name 'a b'; give letters, digits and _"),
        ({"obstacles": {"q": gd.Sphere}}, "'q' has the name of another input; rename it"),
        ({"obstacles": {"p": gd.Sphere([0, 0, 0], 1.0)}}, "'p' has the name of another input; rename it"),
    ],
)
def test_bad_arguments_are_told_in_a_sentence(
    rng: np.random.Generator, arguments: dict[str, Any], message: str
) -> None:
    model, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "sphere"))
    obstacles = {"pole": gd.Capsule([0, 0, 0], [0, 0, 1], 0.1), "floor": gd.HalfSpace([0, 0, 1])}
    given = {"robot": model, "geometry": geometry, "obstacles": obstacles} | arguments
    with pytest.raises(gd.errors.GdalembertError, match=message) as caught:
        gd.Distances(**given)
    assert "\n" not in str(caught.value)


def test_two_parts_of_one_name_are_refused(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "sphere"))
    geometry.addGeometryObject(geometry.geometryObjects[1].copy())
    with pytest.raises(gd.errors.ArgumentError, match=r"two parts of the robot have the name '.*'; rename one of them"):
        gd.Distances(model, geometry)


def test_boxes_of_pairs_that_are_asked_for_stay_exact(rng: np.random.Generator) -> None:
    """As fingers beside a hand, which are among its capsules for pairs that nobody names."""
    model, geometry = build(rng, ("RX",), [0]), pin.GeometryModel()
    for name, solid in (("finger", coal.Box(0.1, 0.2, 0.3)), ("hand", coal.Cylinder(0.1, 0.4))):
        geometry.addGeometryObject(pin.GeometryObject(name, 1, pin.SE3.Identity(), solid))
    ball = gd.Sphere([0, 0, 1.0], 0.1)
    exact = gd.Distances(model, geometry, {"ball": ball}, pairs=[("finger", "ball")])
    alone = pin.GeometryModel()
    alone.addGeometryObject(geometry.geometryObjects[0].copy())
    assert exact.pairs == [("finger", "ball")]
    assert exact.distance([0.3]) == gd.Distances(model, alone, {"ball": ball}).distance([0.3])
    assert gd.Distances(model, geometry, {"ball": ball}).pairs == [("finger and hand", "ball")]


def test_pairs_that_touch_always_are_warned_of(rng: np.random.Generator) -> None:
    model, geometry = build(rng, ("RX",), [0]), pin.GeometryModel()
    for name, parent in (("base", 0), ("arm", 1)):
        geometry.addGeometryObject(pin.GeometryObject(name, parent, pin.SE3.Identity(), coal.Sphere(2.0)))
    with pytest.warns(gd.errors.DistanceWarning, match="base and arm: touch in all configurations, leave them out"):
        shapes = gd.Distances(model, geometry, pairs=[("base", "arm")])
    assert "base and arm touch always, and are kept as asked" in shapes.report()


def test_pairs_whose_covers_overlap_always_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdalembert.distances.selection._ROWS", 2)
    monkeypatch.setattr("gdalembert.distances.selection.CONFIGURATIONS", 4000)
    model, geometry = pin.Model(), pin.GeometryModel()
    model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    for name, parent, y in (("base", 0, -0.0101), ("disc", 1, 0.0101)):  # flat faces 0.2 mm from each other
        geometry.addGeometryObject(item_of(hull_of(box_of([0, y, 0], [0.5, 0.02, 0.5])), name=name, joint=parent))
    text = "base and disc: covers overlap in all configurations, though the meshes do not; leave them out, and bound q"
    with pytest.warns(gd.errors.DistanceWarning, match=text):
        shapes = gd.Distances(model, geometry, pairs=[("base", "disc")])
    assert shapes.pairs == [("base", "disc")]


def test_two_half_spaces_have_no_gap(rng: np.random.Generator) -> None:
    model, geometry = with_solids(rng, ("RX",), ("half-space",))
    with pytest.raises(gd.errors.UnsupportedError, match="half-spaces"):
        gd.Distances(model, geometry, {"floor": gd.HalfSpace([0, 0, 1])})


def test_the_geometry_of_another_model_is_refused(rng: np.random.Generator) -> None:
    _, geometry = with_solids(rng, ("RX", "PY"), ("capsule", "sphere"))
    other, _ = with_solids(rng, ("RX",), ("capsule", "sphere"))
    with pytest.raises(gd.errors.ArgumentError, match="geometry of this model"):
        gd.Distances(other, geometry)
    longer, _ = with_solids(rng, ("RX", "PY", "RZ"), ("capsule", "sphere"))
    item = geometry.geometryObjects[2].copy()
    item.parentFrame = longer.getFrameId("body_2")
    geometry.addGeometryObject(item)
    with pytest.raises(gd.errors.ArgumentError, match="frame 3 of random is not; give the geometry of this model"):
        gd.Distances(longer, geometry)
    named, solids = model_of_names("arm"), pin.GeometryModel()
    for frame in (2, 1):
        name = f"{named.frames[3 - frame].name}_0"
        solids.addGeometryObject(pin.GeometryObject(name, frame, frame, pin.SE3.Identity(), coal.Sphere(0.1)))
    with pytest.raises(gd.errors.ArgumentError, match="'arm1_0' is on frame 2, which is 'arm2' in arm; give the geom"):
        gd.Distances(named, solids)
    with pytest.warns(gd.errors.DistanceWarning, match="no object, as 'arm1_0', has the name of a body of leg; give"):
        gd.Distances(model_of_names("leg"), solids)


def test_an_object_may_have_the_name_of_its_frame() -> None:
    """Also where that ends with a number, and another frame has the words before it."""
    model, geometry = model_of_names("arm"), pin.GeometryModel()
    model.addFrame(pin.Frame("arm1_0", 2, model.getFrameId("arm2"), pin.SE3.Identity(), pin.FrameType.BODY))
    for name, joint in (("arm1", 1), ("arm1_0", 2)):
        frame, place = model.getFrameId(name), pin.SE3(np.eye(3), np.array([joint, 0.0, 0]))
        geometry.addGeometryObject(pin.GeometryObject(name, joint, frame, place, coal.Sphere(0.1)))
    assert gd.Distances(model, geometry, pairs=[("arm1", "arm1_0")]).pairs == [("arm1", "arm1_0")]


def model_of_names(name: str) -> pin.Model:
    """Two joints in a row, whose frames are its only ones."""
    model, joint = pin.Model(), 0
    model.name = name
    for k in (1, 2):
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.5, 0, 0])), f"{name}{k}")
        model.addJointFrame(joint)
    return model


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan])
def test_a_radius_is_positive(radius: float) -> None:
    for make in (lambda: gd.Sphere([0, 0, 0], radius), lambda: gd.Capsule([0, 0, 0], [0, 0, 1], radius)):
        with pytest.raises(gd.errors.ArgumentError, match="radius"):
            make()
    with pytest.raises(gd.errors.ArgumentError, match="half_sizes"):
        gd.Box(pin.SE3.Identity(), [1, 1, radius])
    with pytest.raises(gd.errors.ArgumentError, match="normal"):
        gd.HalfSpace([0, 0, 0])

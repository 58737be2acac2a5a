"""Covers hold what they cover; shapes with a closed form are taken as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull

from gdalembert.distances.covers import (
    CoveredPart,
    Surface,
    exact_shape,
    smallest_box,
    smallest_capsule,
    surface_of,
    volume,
)
from gdalembert.distances.shapes import Box
from gdalembert.errors import ModelError, UnsupportedError
from tests.helpers.meshes import box_of, item_of, mesh_of
from tests.helpers.models import placement


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def area(surface: Surface) -> float:
    a, b, c = np.moveaxis(surface.points[surface.triangles], 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def cloud(rng: np.random.Generator) -> Surface:
    points = rng.normal(size=(40, 3)) * [0.3, 0.1, 0.05]
    return Surface(points, np.asarray(ConvexHull(points).simplices, dtype=np.int64))


def test_exact_shapes_are_placed_as_coal_places_them(rng: np.random.Generator) -> None:
    at = placement(rng)
    normal = np.array([0.0, 0.6, 0.8])
    sphere, capsule, box, half_space = (
        exact_shape(item_of(solid, at))
        for solid in (coal.Sphere(0.2), coal.Capsule(0.1, 0.6), coal.Box(0.2, 0.4, 0.6), coal.Halfspace(normal, 0.3))
    )
    np.testing.assert_allclose(sphere.centre, at.translation)
    np.testing.assert_allclose([capsule.a, capsule.b], [at.act(np.array([0, 0, z])) for z in (-0.3, 0.3)], atol=1e-15)
    np.testing.assert_allclose(box.half_sizes, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(half_space.normal, at.rotation @ normal, atol=1e-15)
    assert half_space.offset == pytest.approx(0.3 + at.rotation @ normal @ at.translation)
    assert (sphere.radius, capsule.radius) == (0.2, 0.1)


def on_cylinder(directions: np.ndarray) -> np.ndarray:
    return directions / np.maximum(np.hypot(*directions.T[:2]) / 0.2, np.abs(directions[:, 2]) / 0.4)[:, None]


def on_cone(directions: np.ndarray) -> np.ndarray:
    heights = np.linspace(-0.4, 0.4, len(directions))
    flat = directions[:, :2] / np.linalg.norm(directions[:, :2], axis=1)[:, None]
    return np.column_stack([0.2 * (0.5 - heights / 0.8)[:, None] * flat, heights])


def on_ellipsoid(directions: np.ndarray) -> np.ndarray:
    return directions / np.linalg.norm(directions, axis=1)[:, None] * [0.1, 0.2, 0.4]


@pytest.mark.parametrize(
    ("solid", "points_on"),
    [
        (coal.Cylinder(0.2, 0.8), on_cylinder),
        (coal.Cone(0.2, 0.8), on_cone),
        (coal.Ellipsoid(0.1, 0.2, 0.4), on_ellipsoid),
    ],
    ids=["cylinder", "cone", "ellipsoid"],
)
def test_capsules_hold_round_solids(solid: Any, points_on: Any, rng: np.random.Generator) -> None:
    at = placement(rng)
    part = CoveredPart([surface_of(item_of(solid, at))])
    points = points_on(rng.normal(size=(2000, 3))) @ at.rotation.T + at.translation
    capsule = part.capsule
    way = capsule.b - capsule.a
    share = np.clip((points - capsule.a) @ way / (way @ way), 0, 1)
    distances = np.linalg.norm(points - capsule.a - share[:, None] * way, axis=1)
    assert distances.max() <= capsule.radius
    assert distances.max() > 0.95 * capsule.radius  # the prism is 2 % wider, the polyhedron 4 %


def test_the_smallest_capsule_around_a_capsule_is_itself(rng: np.random.Generator) -> None:
    directions = rng.normal(size=(2000, 3))
    points = 0.1 * directions / np.linalg.norm(directions, axis=1)[:, None]
    points[points[:, 2] > 0, 2] += 0.5
    capsule = smallest_capsule(points)
    assert volume(capsule) == pytest.approx(np.pi * 0.1**2 * (0.5 + 4 / 3 * 0.1), rel=0.02)  # of 2,000 points


def test_both_sides_of_a_plane_are_the_whole_surface(rng: np.random.Generator) -> None:
    surface = cloud(rng)
    normal = np.array([0.6, 0.0, 0.8])
    above, below = surface.beyond(normal, 0.05), surface.beyond(-normal, -0.05)
    assert area(above) + area(below) == pytest.approx(area(surface), rel=1e-12)
    assert (above.points @ normal).min() > 0.05 - 1e-12
    assert (below.points @ normal).max() < 0.05 + 1e-12


def test_no_corner_of_a_part_is_outside_its_capsule(rng: np.random.Generator) -> None:
    part = CoveredPart([cloud(rng), cloud(rng)])
    assert {len(parts) for parts in part.cuts} == {2, 3, 4}
    for parts in part.cuts:
        assert max(piece.outside for piece in parts) <= 0
        cut_area = sum(area(surface) for piece in parts for surface in piece.surfaces)
        assert cut_area == pytest.approx(sum(map(area, part.surfaces)), rel=1e-12)


def test_meshes_have_their_scale(tmp_path: Path) -> None:
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    facets = [[corners[k] for k in order] for order in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))]
    text = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*x) for x in facet)
        + "endloop\nendfacet\n"
        for facet in facets
    )
    (tmp_path / "mesh.stl").write_text(f"solid a\n{text}endsolid a\n")
    collision = (
        f'<collision><geometry><mesh filename="{tmp_path}/mesh.stl" scale="0.1 0.2 0.3"/></geometry></collision>'
    )
    urdf = f'<robot name="a"><link name="b">{collision}</link></robot>'
    geometry = pin.buildGeomFromUrdfString(pin.buildModelFromXML(urdf), urdf, pin.GeometryType.COLLISION)
    surface = surface_of(geometry.geometryObjects[0])
    np.testing.assert_allclose(surface.points.max(axis=0), [0.1, 0.2, 0.3])


def test_what_no_capsule_covers_is_refused() -> None:
    plane = item_of(coal.Plane(np.array([0.0, 0.0, 1.0]), 0.0))
    assert exact_shape(plane) is None
    with pytest.raises(UnsupportedError, match="'part' is a Plane, which no capsules cover; leave it out"):
        surface_of(plane)
    with pytest.raises(ModelError, match="the mesh of 'part' has no triangles; look at its file"):
        surface_of(item_of(mesh_of(np.zeros((0, 3)), [])))
    thick = coal.Sphere(0.1)
    thick.setSweptSphereRadius(0.05)
    with pytest.raises(UnsupportedError, match=r"'part' has a swept sphere radius of 0.05 m, which covers do not have"):
        exact_shape(item_of(thick))


def test_the_smallest_box_around_a_box_is_itself(rng: np.random.Generator) -> None:
    at, half_sizes = placement(rng), np.array([0.3, 0.1, 0.02])
    inside = rng.uniform(-1, 1, (200, 3)) * half_sizes
    box = smallest_box(np.vstack([inside, box_of([0, 0, 0], 2 * half_sizes)]) @ at.rotation.T + at.translation)
    np.testing.assert_allclose(np.sort(box.half_sizes), np.sort(half_sizes), rtol=1e-9)
    np.testing.assert_allclose(box.placement[:3, 3], at.translation, atol=1e-9)


def test_a_disc_with_a_plug_has_boxes_of_sectors_and_one_of_the_plug() -> None:
    disc = surface_of(item_of(coal.Cylinder(0.1, 0.02)))
    plug = surface_of(item_of(coal.Box(0.03, 0.08, 0.02), pin.SE3(np.eye(3), np.array([0.0, 0.1, 0.0]))))
    part = CoveredPart([disc, plug])
    best = min(
        part.boxes, key=lambda parts: max(np.hypot(*corners_of(piece.box)[:, :2].T).max() for piece in parts[:5])
    )
    assert len(best) == 6
    assert max(np.hypot(*corners_of(piece.box)[:, :2].T).max() for piece in best[:5]) < 0.111  # of one box: 0.141
    for parts in part.boxes:
        assert max(piece.outside for piece in parts) <= 0
    surfaces = [surface for piece in best for surface in piece.surfaces]
    assert sum(map(area, surfaces)) == pytest.approx(area(disc) + area(plug), rel=1e-12)


def corners_of(box: Box) -> np.ndarray:
    return box_of([0, 0, 0], 2 * box.half_sizes) @ box.placement[:3, :3].T + box.placement[:3, 3]

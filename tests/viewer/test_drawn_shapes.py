"""Shapes of distances on the page: meshes on their surfaces, where they stand, and lines of the gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.viewer import Viewer
from gdalembert.viewer.drawn_shapes import mesh
from tests.helpers.models import relative_error

pytestmark = pytest.mark.extras

BALL = np.array([0.5, 0.9, 0.1, 0.1])
"""Centre and radius [m]."""


def pendulums() -> tuple[pin.Model, pin.GeometryModel]:
    """Two capsules that swing side by side, 0.5 m apart."""
    model, geometry = pin.Model(), pin.GeometryModel()
    for k in range(2):
        joint = model.addJoint(0, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([0.5 * k, 0, 0])), f"hinge {k}")
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3(np.eye(3), np.array([0, 0, 1.0])))
        middle = pin.SE3(np.eye(3), np.array([0, 0, 0.5]))
        geometry.addGeometryObject(pin.GeometryObject(f"rod {k}", joint, middle, coal.Capsule(0.05, 1.0)))
    return model, geometry


def shapes(obstacles: Any = None) -> gd.Distances:
    model, geometry = pendulums()
    pairs = [("rod 0", "rod 1"), *((f"rod {k}", name) for k in range(2) for name in obstacles or ())]
    return gd.Distances(model, geometry, obstacles, pairs=pairs)


BODIES = ["rod 0", "rod 1", "ball"]
SOLIDS = {
    "sphere": gd.Sphere([1, 2, 3], 0.4),
    "capsule": gd.Capsule([1, 0, 0], [0, 1, 0.5], 0.2),
    "point": gd.Capsule([1, 0, 0], [1, 0, 0], 0.2),
    "box": gd.Box(pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.4, 0.5), np.array([1.0, 2, 3])), [0.1, 0.2, 0.3]),
    "floor": gd.HalfSpace([1, 2, 2], 0.5),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_vertices_are_on_the_surface(name: str) -> None:
    vertices, faces, placement = mesh(SOLIDS[name], 1.0)
    points = vertices @ placement.rotation.T + placement.translation
    probe, geometry = pin.Model(), pin.GeometryModel()
    probe.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "probe")
    geometry.addGeometryObject(pin.GeometryObject("probe", 1, pin.SE3.Identity(), coal.Sphere(0.1)))
    gaps = gd.Distances(probe, geometry, {name: SOLIDS[name]}).distance.map(len(points))(points.T).full()
    assert np.abs(gaps + 0.1).max() < 2e-3  # lengths are drawn in steps of 1e-3
    assert np.array_equal(np.unique(faces), np.arange(len(points)))


@pytest.mark.parametrize(("name", "volume"), [("box", 0.048), ("sphere", 4 / 3 * np.pi * 0.064)])
def test_faces_look_outwards(name: str, volume: float) -> None:
    vertices, faces, _ = mesh(SOLIDS[name], 1.0)
    found = np.linalg.det(vertices[faces]).sum() / 6
    assert 0.9 * volume < found < (1 + 1e-12) * volume  # a polyhedron within the ball


def test_shapes_stand_and_gaps_are_drawn_where_they_are() -> None:
    solids = {"ball": gd.Sphere}
    model, _ = pendulums()
    with Viewer(model, port=0, shapes=shapes(solids), obstacles=BALL, near=0.45) as shown:
        drawn = shown._shapes
        assert drawn is not None
        assert [body.name for body in drawn._shapes.bodies([0, 0], BALL)] == BODIES
        for q, drawn_lines in (([0.0, 0.0], 1), ([0.3, -0.2], 1), ([-0.8, -0.8], 2), ([-1.2, -1.3], 3)):
            shown.show(q)
            gaps = drawn._shapes.distance(q, BALL).full().ravel()
            middles = {0: [[0, -np.sin(q[0]) / 2, np.cos(q[0]) / 2], q[0]]}
            middles[1] = [[0.5, -np.sin(q[1]) / 2, np.cos(q[1]) / 2], q[1]]
            for solid, body in zip(drawn._solids, drawn._shapes.bodies(q, BALL), strict=True):
                if body.link < 0:
                    assert relative_error(solid.position, BALL[:3]) < 1e-12
                else:
                    place, angle = middles[body.link]
                    assert relative_error(solid.position, place) < 1e-12
                    along = pin.Quaternion(*solid.wxyz).matrix()[:, 2]
                    assert relative_error(along, [0, -np.sin(angle), np.cos(angle)]) < 1e-12
            near = np.sort(gaps[gaps <= 0.45])
            assert len(near) == drawn_lines
            assert drawn._lines.visible
            lengths = np.linalg.norm(np.diff(drawn._lines.points, axis=1)[:, 0], axis=1)
            assert relative_error(np.sort(lengths), np.sort(np.abs(near))) < 1e-6  # single precision
            texts = sorted(label.text for label in drawn._labels.values() if label.visible)
            assert texts == sorted(f"{1e3 * gap:.0f} mm" for gap in near)
        drawn._near = 0.1
        shown.show([3.0, 0.0])
        assert not drawn._lines.visible
        assert not any(label.visible for label in drawn._labels.values())


def test_obstacles_move_with_the_motion(tmp_path: Path) -> None:
    model, _ = pendulums()
    times: list[float] = []

    def ball(t: float) -> np.ndarray:
        times.append(t)
        return BALL + np.array([t, 0, 0, 0])

    motion = [0.0, 0.5], np.zeros((2, 2))
    with Viewer(model, port=0, shapes=shapes({"ball": gd.Sphere}), obstacles=ball) as shown:
        still = shown.page()
        del times[:]
        shown.play(motion, fps=4, speed=0.5)
        shown.record(motion, tmp_path / "x.html", fps=4, speed=0.5)
        assert times == [0, 0.125, 0.25, 0.375, 0.5] * 2
        assert (
            relative_error(shown._shapes._solids[BODIES.index("ball")].position, BALL[:3] + np.array([0.5, 0, 0]))
            < 1e-12
        )
    assert len((tmp_path / "x.html").read_text()) > len(still)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"shapes": 3}, ArgumentTypeError, "Viewer: shapes: expected a gd.Distances"),
        ({"obstacles": None}, ArgumentError, "4 numbers or a function of t"),
        ({"obstacles": {"ball": BALL}}, ArgumentTypeError, "Viewer: obstacles"),
        ({"obstacles": [1, 2]}, ArgumentError, "Viewer: obstacles has shape"),
        ({"shapes": shapes, "obstacles": [1, 2]}, ArgumentError, "are none"),
        ({"near": -1.0}, ArgumentError, "near"),
        ({"scale": 2.0}, ArgumentError, "scale"),
        ({"robot": "puma560"}, ArgumentError, "puma560 has 6"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    given = {"robot": pendulums()[0], "port": 0, "obstacles": BALL, "shapes": lambda: shapes({"ball": gd.Sphere})}
    given |= options
    if callable(given["shapes"]):
        given["shapes"] = given["shapes"]()
    with pytest.raises(error, match=message):
        Viewer(**given)

"""Bodies that a URDF describes."""

from __future__ import annotations

import socket
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.errors import UnsupportedError, UrdfWarning
from gdalembert.viewer import Viewer
from gdalembert.viewer.loading import visuals
from gdalembert.viewer.primitives import color_of
from gdalembert.viewer.scene import Scene
from tests.helpers.models import relative_error
from tests.helpers.paths import ROOT
from tests.helpers.viewer import ROUNDING, placed

pytestmark = pytest.mark.extras

BODIES = """<robot name="lamp"><link name="foot"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5"/><geometry>{}</geometry>
<material name="green"><color rgba="0 1 0 1"/></material></visual></link>
<joint name="hinge" type="continuous"><parent link="foot"/><child link="arm"/><axis xyz="1 0 0"/></joint></robot>"""


def test_bodies_of_the_urdf_are_used() -> None:
    text = BODIES.format('<cylinder radius="0.1" length="1"/>')
    model = gd.load_urdf(text, check="off")
    scene = Scene(model, visual_model=visuals(text, model))
    foot, arm = scene.visual_model.geometryObjects
    assert isinstance(foot.geometry, coal.Box)
    assert (arm.geometry.radius, arm.geometry.halfLength) == (0.1, 0.5)
    assert np.array_equal(arm.meshColor, [0, 1, 0, 1])
    at = placed(scene, np.array([0.0, 1.0]))[arm.name]  # a quarter turn
    assert relative_error(at.translation, [0, -0.5, 0]) < ROUNDING
    with Viewer(text, port=0) as shown:
        assert len(shown.scene.visual_model.geometryObjects) == 2


def test_bodies_without_a_material_have_the_colors_of_their_links() -> None:
    text = BODIES.format('<cylinder radius="0.1" length="1"/>')
    text = text.replace('<material name="green"><color rgba="0 1 0 1"/></material>', "")
    model = gd.load_urdf(text, check="off")
    foot, arm = Scene(model, visual_model=visuals(text, model)).visual_model.geometryObjects
    assert foot.meshColor == pytest.approx([*color_of(-1), 1])
    assert arm.meshColor == pytest.approx([*color_of(0), 1])


def test_bodies_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "lamp.urdf"
    path.write_text(BODIES.format('<mesh filename="package://lamp/arm.stl"/>'))
    model = gd.load_urdf(path, check="off")
    with pytest.warns(UrdfWarning, match=r"^lamp.urdf: its visual bodies cannot be read \(.*arm.stl.*package_dirs="):
        assert visuals(path, model) is None
    mesh = tmp_path / "lamp" / "arm.stl"
    mesh.parent.mkdir()
    mesh.write_text(
        "solid arm\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "endsolid arm\n"
    )
    assert visuals(path, model, [tmp_path]).ngeoms == 2
    with Viewer(path, port=0, package_dirs=[tmp_path]) as shown:
        assert len(shown.scene.visual_model.geometryObjects) == 2


def test_packages_are_looked_for_beside_the_urdf(tmp_path: Path) -> None:
    path, mesh = tmp_path / "lamp.urdf", tmp_path / "lamp" / "arm.stl"
    path.write_text(BODIES.format('<mesh filename="package://lamp/arm.stl"/>'))
    mesh.parent.mkdir()
    mesh.write_text(
        "solid arm\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "endsolid arm\n"
    )
    found = visuals(path, gd.load_urdf(path, check="off"))
    assert found is not None
    assert found.ngeoms == 2


def test_a_urdf_that_only_speaks_of_bodies_has_none() -> None:
    text = (ROOT / "urdf" / "cart_pendulum.urdf").read_text(encoding="utf-8")
    text = text.replace("</robot>", "<!-- no <visual> here -->\n</robot>")
    assert visuals(text, gd.load_urdf(text)) is None


def test_a_viewer_that_cannot_be_filled_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    own = Viewer.close
    monkeypatch.setattr(Viewer, "close", lambda self: (closed.append(self.url), own(self)))
    bodies = pin.GeometryModel()
    bodies.addGeometryObject(pin.GeometryObject("egg", 1, 0, pin.SE3.Identity(), coal.Ellipsoid(1, 2, 3)))
    with pytest.raises(UnsupportedError):
        Viewer(gd.load_urdf("cart_pendulum"), visual_model=bodies, port=0)
    (url,) = closed
    with socket.socket() as probe:
        assert probe.connect_ex(("localhost", int(url.rpartition(":")[2]))) != 0


def test_a_shape_that_the_visualizer_does_not_know() -> None:
    model = gd.load_urdf("cart_pendulum")
    bodies = pin.GeometryModel()
    bodies.addGeometryObject(pin.GeometryObject("egg", 1, 0, pin.SE3.Identity(), coal.Ellipsoid(1, 2, 3)))
    with pytest.raises(
        UnsupportedError,
        match=r"cart_pendulum: a body cannot be shown .*egg.*; to have cylinders and boxes, give the pin",
    ):
        Viewer(model, visual_model=bodies, port=0)


@pytest.mark.parametrize(("name", "bodies"), [("ur5", 7), ("panda", 11)])
def test_collada_meshes_are_shown(name: str, bodies: int) -> None:
    """By ``pycollada``: each body of the URDF is a mesh on the page, where Pinocchio has it."""
    path, model = robots.path(name), robots.load(name)
    share = path.parents[4]  # of package://example-robot-data
    given = visuals(path, model, [share])
    assert given is not None
    assert {Path(body.meshPath).suffix for body in given.geometryObjects} == {".dae"}
    q = np.random.default_rng(0).uniform(-1, 1, model.nq)
    data, there = model.createData(), given.createData()
    pin.updateGeometryPlacements(model, data, given, there, q)
    with Viewer(model, q=q, visual_model=given, port=0) as shown:
        nodes = [node for key, node in shown.visualizer.frames.items() if key.startswith("pinocchio/visual/")]
        assert [type(node).__name__ for node in nodes] == ["GlbHandle"] * bodies
        for node, at in zip(nodes, there.oMg, strict=True):
            assert relative_error(node.position, at.translation) < ROUNDING

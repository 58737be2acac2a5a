"""The viewer: the page it serves, motions it plays, the bodies of a URDF, and what it refuses."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import coal
import matplotlib.image
import numpy as np
import pinocchio as pin
import pytest
from PIL import Image, ImageSequence

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, UrdfWarning
from gdalembert.viewer import Viewer, film, viewer
from gdalembert.viewer.scene import Scene, color_of, extent
from gdalembert.viewer.viewer import visuals
from tests.helpers.models import relative_error
from tests.helpers.paths import ROOT
from tests.helpers.viewer import ROUNDING, bent, every_joint, flexible, pixel, placed

pytestmark = pytest.mark.extras

# ---- motions
BODIES = """<robot name="lamp"><link name="foot"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5"/><geometry>{}</geometry>
<material name="green"><color rgba="0 1 0 1"/></material></visual></link>
<joint name="hinge" type="continuous"><parent link="foot"/><child link="arm"/><axis xyz="1 0 0"/></joint></robot>"""


class Clock:
    """A clock that goes when one sleeps, and ``cost`` when a frame is shown."""

    def __init__(self, cost: float) -> None:
        self.now, self.cost = 100.0, cost

    def monotonic(self) -> float:
        return self.now

    def sleep(self, pause: float) -> None:
        self.now += pause


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[float, float]]]:
    """Clock and first coordinate of each frame."""

    def run(cost: float, **options: float) -> list[tuple[float, float]]:
        clock, seen = Clock(cost), []
        monkeypatch.setattr(viewer, "time", clock)

        def show(self: Viewer, q: np.ndarray) -> None:
            seen.append((clock.now - 100, q[0]))
            clock.now += clock.cost

        with Viewer("cart_pendulum", port=0) as shown:
            monkeypatch.setattr(Viewer, "show", show)
            shown.play(([0.0, 1.0], [[0.0, 0.0], [2.0, 0.0]]), **options)
        return seen

    return run


def test_play_keeps_time(played: Callable[..., list[tuple[float, float]]]) -> None:
    seen = np.array(played(0.01, speed=0.5, fps=10))
    assert relative_error(seen[:, 0], np.arange(21) / 10) < 1e-12
    assert relative_error(seen[:, 1], np.arange(21) / 10) < 1e-12


def test_play_leaves_late_frames_out(played: Callable[..., list[tuple[float, float]]]) -> None:
    seen = np.array(played(0.35, fps=10))
    assert len(seen) < 6
    assert np.all(np.abs(2 * seen[:-1, 0] - seen[:-1, 1]) <= 2 * 0.1 + 1e-12)
    assert seen[-1, 1] == 2


# ---- the page


def test_it_serves_a_page_until_it_is_closed(capfd: pytest.CaptureFixture[str]) -> None:
    with Viewer("puma560", port=0, frames=True) as shown:
        port = int(shown.url.rpartition(":")[2])
        with urllib.request.urlopen(shown.url, timeout=20) as page:
            assert page.status == 200
        shown.show([0.1] * 6)
        assert np.array_equal(shown.q, [0.1] * 6)
    with socket.socket() as probe:
        assert probe.connect_ex(("localhost", port)) != 0
    assert capfd.readouterr() == ("", "")


def test_what_the_page_is_told() -> None:
    """The nodes that viser sends: as many as there are bodies and tubes, where the scene has them."""
    arm, _ = flexible()
    q = bent(arm)
    with Viewer(arm, port=0, scale=2.0) as shown:
        shown.show(q)
        drawn = shown.scene.exaggerated(q, 2.0)
        for handle, tube in zip(shown._tubes, shown.scene.tubes, strict=True):
            assert relative_error(handle.vertices, tube.vertices(drawn)) < 1e-6  # single precision
        for name, at in placed(shown.scene, drawn).items():
            node = shown.visualizer.frames[f"pinocchio/visual/{name}"]
            assert relative_error(node.position, at.translation) < ROUNDING
            assert relative_error(np.abs(node.wxyz[1:]), np.abs(pin.Quaternion(at.rotation).coeffs()[:3])) < 1e-7
        assert shown.server.scene.get_handle_by_name("/legend").text == "deflections × 2"
    with Viewer(arm, port=0) as shown:
        assert shown.server.scene.get_handle_by_name("/legend") is None


def test_a_page_is_recorded(tmp_path: Path) -> None:
    with Viewer("cart_pendulum", port=0) as shown:
        still, moving = tmp_path / "still.html", tmp_path / "moving.html"
        shown.record(None, still)
        assert np.array_equal(shown.q, [0, 0])
        shown.record(([0.0, 1.0], [[0.0, 0.0], [1.0, 3.0]]), moving)
        assert np.array_equal(shown.q, [1, 3])
    assert still.read_text().startswith("<!")
    assert len(moving.read_text()) > len(still.read_text())


def test_a_recorded_page_has_the_pace_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    recorder = SimpleNamespace(insert_sleep=pauses.append, as_html=lambda: "<!doctype html>")
    with Viewer("cart_pendulum", port=0) as shown:
        monkeypatch.setattr(shown.server, "get_scene_serializer", lambda: recorder)
        shown.record(([0.0, 1.0], np.zeros((2, 2))), tmp_path / "x.html", speed=0.5, fps=4.0)
        assert pauses == pytest.approx([0.25] * 8)
        assert (tmp_path / "x.html").read_text() == "<!doctype html>"


@pytest.mark.parametrize("ending", ["gif", "webp", "mp4"])
def test_a_film_has_a_picture_for_each_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """The browser's pictures are grey by q here; what a browser draws is in test_pictures."""
    path = tmp_path / f"film.{ending}"
    with Viewer("cart_pendulum", port=0) as shown:

        def render(height: int, width: int, **_: object) -> np.ndarray:
            return np.full((height, width, 4), [*[round(200 * shown.q[0])] * 3, 255], dtype=np.uint8)

        monkeypatch.setattr(shown.server, "get_clients", lambda: {0: SimpleNamespace(get_render=render)})
        shown.record(([0.0, 1.0], [[0.0, 0.0], [1.0, 0.0]]), path, fps=4.0, width=64, height=48)
    if ending == "mp4":
        import imageio_ffmpeg

        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        done = subprocess.run(command, capture_output=True, check=True)
        assert b"4 fps" in done.stderr
        pictures = np.frombuffer(done.stdout, np.uint8).reshape(-1, 48, 64, 3)
    else:
        with Image.open(path) as opened:
            pictures = np.array([np.array(each.convert("RGB")) for each in ImageSequence.Iterator(opened)])
    assert pictures.shape == (5, 48, 64, 3)
    assert pictures.mean(axis=(1, 2, 3)) == pytest.approx([0, 50, 100, 150, 200], abs=4)


def test_a_browser_without_a_window_is_started_and_ended(tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$@" > {told}.part; mv {told}.part {told}; exec sleep 60\n')
    program.chmod(0o755)
    with film.headless(str(program), "http://localhost:1/", 300, 200):
        while not told.exists():
            time.sleep(0.01)
    options = told.read_text().split()
    assert options[-1] == "http://localhost:1/"
    assert "--window-size=300,200" in options
    profile = next(each for each in options if each.startswith("--user-data-dir=")).partition("=")[2]
    assert not Path(profile).exists()


def test_a_motion_is_played_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    clock = Clock(0.0)
    monkeypatch.setattr(viewer, "time", clock)

    def show(self: Viewer, q: np.ndarray) -> None:
        seen.append(q[0])
        if len(seen) == 7:
            raise KeyboardInterrupt

    with Viewer("cart_pendulum", port=0) as shown:
        monkeypatch.setattr(Viewer, "show", show)
        with pytest.raises(KeyboardInterrupt):
            shown.play(([0.0, 1.0], [[0.0, 0.0], [2.0, 0.0]]), fps=2, loop=True)
    assert seen == pytest.approx([0, 1, 2, 0, 1, 2, 0])


def test_a_picture_is_laid_on_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the browser that came first; where it is transparent the background shows."""
    asked: list[tuple[int, int]] = []

    def render(height: int, width: int, **_: object) -> np.ndarray:
        asked.append((height, width))
        rgba = np.zeros((height, width, 4), dtype=np.uint8)
        rgba[0, :, 3], rgba[0, :, 0] = 255, 200
        rgba[1, 0] = 100, 0, 0, 51
        return rgba

    with Viewer("cart_pendulum", port=0) as shown:
        monkeypatch.setattr(
            shown.server, "get_clients", lambda: {7: SimpleNamespace(), 3: SimpleNamespace(get_render=render)}
        )
        shown.screenshot(tmp_path / "x.png", width=3, height=2)
    found = np.rint(255 * matplotlib.image.imread(tmp_path / "x.png")[..., :3])
    assert asked == [(2, 3)]
    assert found[0].tolist() == [[200, 0, 0]] * 3
    background = np.array([244, 246, 249])
    assert found[1].tolist() == np.rint([[20, 0, 0] + 0.8 * background, background, background]).tolist()


def test_lengths_of_the_grid_are_round() -> None:
    found = [viewer._round_length(x) for x in (1.0, 1.9, 2.0, 4.9, 5.0, 9.9, 0.03)]
    assert found == pytest.approx([1, 1, 2, 2, 5, 5, 0.02])


@pytest.mark.parametrize(("name", "flat"), [("two_link_flexible", True), ("puma560", False)])
def test_the_camera_sees_the_whole_robot(name: str, flat: bool) -> None:
    """What is flat it sees from above."""
    with Viewer(name, port=0) as shown:
        camera, scene = shown.server.initial_camera, shown.scene
        towards = camera.position - camera.look_at
        assert (towards[2] / np.linalg.norm(towards) > 0.7) == flat
        low, high = extent(scene.tree, scene.placements(scene.neutral))
        assert camera.look_at == pytest.approx((low + high) / 2)
        for corner in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T:
            row, column = pixel(shown, corner)
            assert 0 < row < 600
            assert 0 < column < 900


def test_deflections_may_be_left_out() -> None:
    arm, _ = flexible()
    with Viewer(arm, port=0, q=bent(arm), scale=0) as shown:
        assert shown.server.scene.get_handle_by_name("/legend").text == "deflections × 0"


def test_the_package_does_not_need_viser() -> None:
    code = (
        "import sys; sys.modules['viser'] = None; import gdalembert as gd; "
        "assert 'gdalembert.viewer' not in sys.modules; from gdalembert.viewer import Viewer\n"
        "try: Viewer('puma560')\nexcept gd.errors.UnsupportedError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == 'the 3-D view needs viser: pip install "gdalembert[viewer]"\n'


# ---- what is refused


@pytest.mark.parametrize(
    ("error", "message", "robot", "options"),
    [
        (ArgumentError, "port: got 70000; give an integer from 0 to 65535", "puma560", {"port": 70000}),
        (ArgumentError, "scale: got -1", "puma560", {"scale": -1.0}),
        (UnknownNameError, "no shipped robot named 'pumma'", "pumma", {}),
        (UnknownNameError, "no frame named 'tol'; nearest: 'tool'", "puma560", {"frames": ["tol"]}),
        (ArgumentTypeError, "frames: got 'tool'; give True, False or a list of names", "puma560", {"frames": "tool"}),
        (ArgumentError, r"Viewer: q has shape \(2,\); give \(6,\)", "puma560", {"q": [0, 0]}),
        (ArgumentError, "links: only a FlexibleArm has flexible links", "puma560", {"links": {"link1": None}}),
        (ArgumentTypeError, "visual_model: expected a pin.GeometryModel, got str", "puma560", {"visual_model": "x"}),
        (ArgumentTypeError, "expected a pin.Model, got int", 3, {}),
    ],
)
def test_refusals(error: type[Exception], message: str, robot: object, options: dict[str, object]) -> None:
    with pytest.raises(error, match=message):
        Viewer(robot, **options)


def test_lengths_that_are_not_one_are_refused() -> None:
    model = every_joint(0)
    q = pin.neutral(model)
    joint = model.joints[model.getJointId("Spherical")]
    q[joint.idx_q + 3] = 0.45
    off = "q of joint 'Spherical' is off unit length by 0.55; normalise it"
    with pytest.raises(ArgumentError, match=f"^Viewer: {off}"):
        Viewer(model, q=q, port=0)
    with Viewer(model, port=0) as shown:
        with pytest.raises(ArgumentError, match=f"^show: {off}"):
            shown.show(q)
        with pytest.raises(ArgumentError, match=f"^play: {off}"):
            shown.play(([0.0, 1.0], [pin.neutral(model), q]))


def test_a_closed_viewer_shows_nothing(tmp_path: Path) -> None:
    with Viewer("cart_pendulum", port=0) as shown:
        pass
    for name, run in (
        ("show", lambda: shown.show([0.0, 0.0])),
        ("play", lambda: shown.play(([0.0, 0.1], np.zeros((2, 2))))),
        ("record", lambda: shown.record(None, tmp_path / "x.html")),
        ("screenshot", lambda: shown.screenshot("x.png")),
        ("wait_for_browser", lambda: shown.wait_for_browser(0.1)),
    ):
        with pytest.raises(UnsupportedError, match=f"^{name}: the viewer of cart_pendulum is closed; make a new one$"):
            run()


def test_refusals_of_arms() -> None:
    arm, links = flexible()
    with pytest.raises(
        ArgumentError,
        match="two_link_flexible: an arm that was pickled or copied has no shapes of its modes; give links=, the dict",
    ):
        Viewer(pickle.loads(pickle.dumps(arm)))
    with pytest.raises(UnknownNameError, match="no flexible link named 'link3'"):
        Viewer(arm, links=links | {"link3": links["link1"]})
    bodies = pin.GeometryModel()
    bodies.addGeometryObject(pin.GeometryObject("box", 5, 0, pin.SE3.Identity(), coal.Box(1, 1, 1)))
    with pytest.raises(ArgumentError, match="visual_model: 'box' is on joint 5 of a model with 2"):
        Viewer(gd.load_urdf("cart_pendulum"), visual_model=bodies)


def test_refusals_of_an_open_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    still = ([0.0, 1.0], np.zeros((2, 2)))
    with Viewer("cart_pendulum", port=0) as shown:
        motion = gd.simulate(gd.NewtonEuler(gd.load_urdf("puma560_3")), np.zeros(6), [0, 0.01])
        for run, message in (
            (lambda: shown.show([1.0]), r"show: q has shape \(1,\); give \(2,\)"),
            (lambda: shown.show([1.0, np.nan]), r"show: q: entry \[1\] is nan"),
            (lambda: shown.play(motion), "play: the motion has q of 3 numbers; cart_pendulum has 2"),
            (
                lambda: shown.play(([0.0, 1.0], np.zeros((2, 3)))),
                r"play: q of cart_pendulum has shape \(2, 3\); give \(2, 2\)",
            ),
            (
                lambda: shown.play(([0.0], np.zeros((1, 2)))),
                r"play: t has shape \(1,\); give at least two times \(N,\) \[s\]",
            ),
            (lambda: shown.play(([0.0, 0.0], np.zeros((2, 2)))), "play: t: 0 s comes after 0 s"),
            (lambda: shown.play(([0.0, 3.0, 2.0], np.zeros((3, 2)))), "play: t: 2 s comes after 3 s"),
            (lambda: shown.play(([0.0, 1.0], np.zeros((2, 2))), speed=0), "play: speed"),
            (
                lambda: shown.record(still, "x.avi"),
                "record: x.avi: give a name that ends in .html, .mp4, .webp or .gif",
            ),
            (lambda: shown.record(None, "x.gif"), "record: x.gif: a film has a motion, and None was given; give one"),
            (lambda: shown.record(still, "x.mp4", width=601), "record: 601 × 600 pixels: an .mp4 has sides of even"),
            (lambda: shown.record(([0.0], [[0.0, 0.0]]), "x.html"), "record: t has shape"),
            (lambda: shown.screenshot("x.jpg"), "screenshot: x.jpg: give a name that ends in .png"),
            (lambda: shown.screenshot("x.png", width=0), "screenshot: width: got 0; give an integer of at least 1"),
        ):
            with pytest.raises(ArgumentError, match=message):
                run()
        with pytest.raises(
            ArgumentTypeError, match=r"play: expected a Simulation, a Solution or a pair \(t, q\), got int"
        ):
            shown.play(3)
        monkeypatch.setattr(film, "BROWSERS", ())
        with pytest.raises(UnsupportedError, match=f"screenshot: no browser shows the page; open {shown.url} first"):
            shown.screenshot(tmp_path / "x.png")
        with pytest.raises(UnsupportedError, match=f"no browser came within 0.1 s; open {shown.url}"):
            shown.wait_for_browser(0.1)


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


LAMP = BODIES.format('<mesh filename="package://lamp/arm.stl"/>')


def with_mesh(folder: Path) -> Path:
    """A folder with the package ``lamp``, whose mesh is a triangle."""
    (folder / "lamp").mkdir(parents=True)
    corners = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0"
    (folder / "lamp" / "arm.stl").write_text(
        f"solid arm\nfacet normal 0 0 1\nouter loop\n{corners}\nendloop\nendfacet\nendsolid arm\n"
    )
    return folder


def test_bodies_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "urdf" / "lamp.urdf"
    path.parent.mkdir()
    path.write_text(LAMP)
    model = gd.load_urdf(path, check="off")
    with pytest.warns(UrdfWarning, match=r"^lamp.urdf: its visual bodies cannot be read \(.*arm.stl.*package_dirs="):
        assert visuals(path, model) is None
    elsewhere = with_mesh(tmp_path / "elsewhere")
    assert visuals(path, model, [elsewhere]).ngeoms == 2
    with Viewer(path, port=0, package_dirs=[elsewhere]) as shown:
        assert len(shown.scene.visual_model.geometryObjects) == 2


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_packages_are_looked_for_in_the_folders_above_the_urdf(tmp_path: Path, levels: int) -> None:
    path = tmp_path.joinpath(*"abc"[:levels], "lamp.urdf")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LAMP)
    with_mesh(tmp_path)
    assert visuals(path, gd.load_urdf(path, check="off")).ngeoms == 2


def test_given_folders_come_first_and_near_ones_before_far_ones(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "lamp.urdf"
    near, far, given = (with_mesh(tmp_path / name) for name in ("a", ".", "given"))
    path.parent.mkdir()
    path.write_text(LAMP)
    model = gd.load_urdf(path, check="off")
    used = [visuals(path, model, folders).geometryObjects[1].meshPath for folders in ([], [given])]
    assert [Path(mesh).resolve().parents[1] for mesh in used] == [near, given]
    assert far.resolve() == tmp_path


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
    given = visuals(path, model)
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

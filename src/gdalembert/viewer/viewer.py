"""Viewer: a robot in the browser, through Pinocchio's ``ViserVisualizer`` and viser."""

from __future__ import annotations

import contextlib
import io
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.distances.distances import Distances
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, UnsupportedError, UrdfWarning, reason_of
from gdalembert.flexible.flexible_link import Links
from gdalembert.model.configuration import checked_configuration
from gdalembert.model.load_mjcf import is_mjcf, load_robot
from gdalembert.model.load_urdf import read_source
from gdalembert.spatial.arguments import file_path, integer, number, required
from gdalembert.spatial.arrays import Array
from gdalembert.viewer.drawn_shapes import DrawnShapes, Obstacles
from gdalembert.viewer.film import PAGE, Picture, check_film, find_browser, headless, write_film
from gdalembert.viewer.scene import Scene, color_of, extent, frame_times, motion_of
from gdalembert.viewer.server import serve

_BACKGROUND = np.array([244.0, 246.0, 249.0])
_FIELD_OF_VIEW = 0.7
_SETTLE = 5.0
"""Time for a browser to adopt the camera of the page [s]; it never does if somebody turns the picture meanwhile."""
_LETTERS = 1.5
"""Time for a browser to load the font of labels [s]; viser does not report it."""
_DIGITS = 13
"""Binary digits of what a recorded page says of tubes, which keep it small: a tenth of a millimetre of a metre."""
_START = 60.0
"""Time for a browser to start and to show the page [s]."""
_TOWARDS, _FROM_ABOVE = np.array([0.62, -0.70, 0.36]), np.array([0.30, -0.60, 0.85])
"""Directions from the robot to the camera; the one from above is for flat robots."""


def visuals(
    source: str | os.PathLike[str], model: pin.Model, package_dirs: Sequence[str | os.PathLike[str]] = ()
) -> pin.GeometryModel | None:
    """The ``<visual>`` bodies of the URDF of a model, if it has any; with a warning ``None`` if they cannot be read.

    Packages are looked for in ``package_dirs``, then in the folder of the URDF and in those above it.
    """
    return bodies(source, model, package_dirs, "visual", "it is drawn with cylinders and boxes")


def bodies(
    source: str | os.PathLike[str],
    model: pin.Model,
    package_dirs: Sequence[str | os.PathLike[str]],
    kind: str,
    instead: str,
) -> pin.GeometryModel | None:
    """The ``"visual"`` or ``"collision"`` bodies, as of :func:`visuals`; the warning says what is done ``instead``."""
    if is_mjcf(source):
        return None
    data, name, _, shipped = read_source(source)
    text = data.decode("utf-8", errors="replace") if isinstance(data, bytes) else data
    if f"<{kind}" not in text:
        return None
    above = [] if shipped or "<" in str(source) else Path(source).resolve().parents
    folders = [os.fspath(folder) for folder in (*package_dirs, *above)]
    try:
        geometry = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.names[kind.upper()], None, folders)
    except Exception as error:
        reason = reason_of(error)
        warnings.warn(
            f"{name}: its {kind} bodies cannot be read ({reason}), and {instead}; give package_dirs=, the folders that "
            "its meshes are in",
            UrdfWarning,
            stacklevel=4,
        )
        return None
    return geometry if geometry.ngeoms else None


class Viewer:
    """A robot in the browser.

    It serves a page at :attr:`url` until it is closed; everyone who opens the page sees the robot and can turn it.

    A robot without bodies, or of an MJCF file, gets cylinders along its links and, at their ends, uniform boxes with
    the inertia of the link. A flexible link is a tube along its deformed centreline.

    Args:
        robot: the name of a shipped robot, the path or the text of a URDF or an MJCF file, a ``pin.Model``, or any
            :class:`~gdalembert.Dynamics`, also a flexible arm.
        q: the first configuration (nq), for which the camera is placed; ``None`` for the neutral one.
        links: the flexible links of an arm that was pickled or copied, by name.
        visual_model: the bodies of a ``pin.Model``; ``None`` for those of the URDF, if it has any.
        package_dirs: folders to search for the URDF's ``package://``, before its own folder and those above it.
        frames: names of frames to show, with their axes (x red, y green, z blue); ``True`` for all.
        scale: exaggeration of the deflections of flexible links; the picture states it if it is not 1.
        shapes: the :class:`~gdalembert.Distances` of the robot, to draw its shapes and obstacles, translucent.
        obstacles: the numbers of obstacles that are inputs of the shapes, or a function of the motion's time [s] that
            returns them.
        near: gaps of the shapes below it have a line between the closest points, and a number [m].
        host, port: address of the page; port 0 takes any free port, and a port in use is replaced by the next one. Who
            can reach the address sees the robot; pages of other sites in the same browser do not.
        open: whether to open the page in a browser.

    Attributes:
        scene: the robot as it is shown. ``visualizer``: Pinocchio's. ``server``: viser's; add your own objects to
            either. ``q``: the current configuration (nq).

    Raises:
        MissingPackageError: if viser is not installed.
        UnsupportedError: if ``ViserVisualizer`` does not know the shape of a body.
        ArgumentTypeError, ArgumentError, UnknownNameError, UrdfError: if an argument cannot be used.

    Warns:
        UrdfWarning: if a URDF has bodies that cannot be read.
    """

    def __init__(
        self,
        robot: str | os.PathLike[str] | pin.Model | Dynamics,
        *,
        q: npt.ArrayLike | None = None,
        links: Links | None = None,
        visual_model: pin.GeometryModel | None = None,
        package_dirs: Sequence[str | os.PathLike[str]] = (),
        frames: bool | Sequence[str] = False,
        scale: float = 1.0,
        shapes: Distances | None = None,
        obstacles: Obstacles | None = None,
        near: float = 0.1,
        host: str = "localhost",
        port: int = 8080,
        open: bool = False,
    ) -> None:
        self._closed, self._time = False, 0.0
        self.scale = number("Viewer: scale", scale, inclusive=True)
        integer("Viewer: port", port, 0, 65535)
        viser = required("the 3-D view", "viser", "viewer")
        if isinstance(robot, str | os.PathLike):
            source, robot = robot, load_robot(robot)
            if visual_model is None:
                visual_model = visuals(source, robot, package_dirs)
        self.scene = Scene(robot, links=links, visual_model=visual_model, frames=frames)
        self.q = self.scene.neutral if q is None else checked_configuration("Viewer: q", q, self.scene.tree)
        with _quiet():
            self.server = serve(viser, host, port, self.scene.tree.name)
        self._shapes: DrawnShapes | None = None
        try:
            if shapes is not None:
                if self.scale != 1:
                    raise ArgumentError("Viewer: gaps of shapes are true at scale 1 alone; leave out scale or shapes")
                self._shapes = DrawnShapes(self.server, self.scene.tree, shapes, obstacles, near, self.scene.size)
            self._fill()
        except Exception:
            self.close()
            raise
        if open:
            import webbrowser

            webbrowser.open(self.url)

    def _fill(self) -> None:
        from pinocchio.visualize import ViserVisualizer

        scene = self.scene
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        self._set_camera()
        self.server.scene.configure_environment_map(None)
        light = {"sky_color": (255, 255, 255), "ground_color": (190, 195, 205), "intensity": 3.0}
        self.server.scene.add_light_hemisphere("/sky", **light)
        self.visualizer = ViserVisualizer(scene.model, pin.GeometryModel(), scene.visual_model, data=scene.data)
        scene.place(self.q)
        self.visualizer.initViewer(viewer=self.server)
        axes = 0.08 * scene.size
        try:
            self.visualizer.loadViewerModel(frame_axis_length=axes, frame_axis_radius=0.05 * axes)
        except (RuntimeError, ValueError, ImportError, OSError) as error:
            raise UnsupportedError(
                f"{scene.tree.name}: a body cannot be shown ({' '.join(str(error).split())}); "
                "to have cylinders and boxes, give the pin.Model without it (gdalembert view --plain)"
            ) from error
        if len(scene.labels) > 1:
            self.visualizer.displayFrames(True)
        root = self.visualizer.framesRootNodeName
        for frame, label in zip(scene.model.frames, scene.labels, strict=True):
            if label:
                path = f"{root}/{frame.name}/label"
                self.server.scene.add_label(path, label, anchor="bottom-left", font_screen_scale=0.9)
        self._tubes = []
        for tube in scene.tubes:
            look = {"color": color_of(tube.joint), "flat_shading": not tube.is_round, "side": "double"}
            place = f"pinocchio/tubes/{tube.name}"
            self._tubes.append(self.server.scene.add_mesh_simple(place, tube.vertices(self.q), tube.faces, **look))
        if self.scale != 1:
            text = f"deflections × {self.scale:g}"
            self.server.gui.add_markdown(text)
            below = (0.0, 0.0, scene.ground - 0.02 * scene.size)
            self.server.scene.add_label("/legend", text, position=below, anchor="top-center")
        cell = _round_length(scene.size / 6)
        side = 2 * cell * math.ceil(0.9 * scene.size / cell)
        grid: dict[str, Any] = {"width": side, "height": side, "cell_size": cell, "section_size": 5 * cell}
        grid |= {"cell_color": (214, 218, 224), "section_color": (190, 196, 204), "position": (0, 0, scene.ground)}
        self.server.scene.add_grid("/ground", **grid)
        self.server.scene.set_background_image(np.full((2, 2, 3), _BACKGROUND, dtype=np.uint8), format="png")
        self.show(self.q)

    def _set_camera(self) -> None:
        """Place the camera so that it sees the whole robot."""
        camera = self.server.initial_camera
        low, high = extent(self.scene.tree, self.scene.placements(self.scene.exaggerated(self.q, self.scale)))
        centre = (low + high) / 2
        size = max(float(np.linalg.norm(high - low)), 0.7 * self.scene.size)
        towards = _FROM_ABOVE if high[2] - low[2] < 0.2 * size else _TOWARDS
        away = 0.6 * size / math.tan(_FIELD_OF_VIEW / 2)
        camera.fov, camera.up = _FIELD_OF_VIEW, (0.0, 0.0, 1.0)
        camera.look_at = centre
        camera.position = centre + away * towards / np.linalg.norm(towards)
        camera.near, camera.far = away / 100, away * 100

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def show(self, q: npt.ArrayLike) -> None:
        """Show a configuration (nq).

        Raises:
            ArgumentTypeError, ArgumentError: if q is not nq finite numbers, or a unit length in it is off.
            UnsupportedError: if the viewer is closed.
        """
        self._check_open("show")
        self.q = checked_configuration("show: q", q, self.scene.tree)
        self._draw()

    def _draw(self, digits: int | None = None) -> None:
        """Place the bodies and tubes at q; the vertices of tubes with so many binary digits of the robot's size."""
        drawn = self.scene.exaggerated(self.q, self.scale)
        self.scene.place(drawn)
        with self.server.atomic():
            self.visualizer.display()
            for handle, tube in zip(self._tubes, self.scene.tubes, strict=True):
                vertices = tube.vertices(drawn)
                if digits is not None:
                    # Powers of two leave zeros at the end of a number, by which the page is compressed.
                    step = 2.0 ** (math.ceil(math.log2(self.scene.size)) - digits)
                    vertices = step * np.rint(vertices / step)
                handle.vertices = vertices.astype(np.float32)
            if self._shapes is not None:
                self._shapes.draw(self.q, self._time)

    def _check_open(self, context: str) -> None:
        if self._closed:
            raise UnsupportedError(f"{context}: the viewer of {self.scene.tree.name} is closed; make a new one")

    def play(self, motion: Any, *, speed: float = 1.0, fps: float = 30.0, loop: bool = False) -> None:
        """Show a motion in real time; late frames are skipped.

        Args:
            motion: a :class:`~gdalembert.simulation.result.Simulation`, a :class:`~gdalembert.ocp.Solution`, a
                :class:`~gdalembert.ocp.PhasesSolution`, or a pair (t, q) of times (N) [s] and configurations (N × nq).
            speed: seconds of the motion per second of the clock. ``fps``: frames per second of the clock.
            loop: whether to repeat the motion until interrupted.

        Raises:
            ArgumentTypeError, ArgumentError: if the motion, ``speed`` or ``fps`` cannot be used.
        """
        self._check_open("play")
        start, end, at = motion_of(self.scene.tree, motion)
        clock, times = frame_times(start, end, speed, fps)
        while True:
            begun = time.monotonic()
            for k, (due, instant) in enumerate(zip(clock, times, strict=True)):
                # By the clock of the start: a sleep of one frame after another would add up what each draws.
                late = time.monotonic() - begun - due
                if late > 1 / fps and k < len(clock) - 1:
                    continue
                if late < 0:
                    time.sleep(-late)
                self._time = float(instant)
                self.show(at(self._time))
            if not loop:
                return

    def screenshot(self, path: str | os.PathLike[str], width: int = 1200, height: int = 800) -> None:
        """Write the picture as a PNG of the given size in pixels.

        The first browser that shows the page draws it; if there is none, one without a window that is started for it.

        Raises:
            ArgumentTypeError, ArgumentError: if a size is not a positive integer, or the file is not a ``.png``.
            UnsupportedError: if no browser is found, or it returns no picture within a minute.
        """
        from imageio.v3 import imwrite  # a dependency of viser

        self._check_open("screenshot")
        check_png("screenshot:", path)
        with self._camera("screenshot", width, height) as draw:
            imwrite(Path(path), draw())

    @contextlib.contextmanager
    def _camera(self, context: str, width: int, height: int) -> Iterator[Callable[[], Picture]]:
        """Give a function that draws the picture of the moment, in the first browser or in one started for it."""
        for name, pixels in (("width", width), ("height", height)):
            integer(f"{context}: {name}", pixels, 1)
        with contextlib.ExitStack() as stack:
            if not self.server.get_clients():
                if (program := find_browser()) is None:
                    raise UnsupportedError(
                        f"{context}: no browser shows the page; open {self.url} first, or install chromium"
                    )
                stack.enter_context(headless(program, self.url, width, height))
                self.wait_for_browser(_START)
            clients = self.server.get_clients()
            client = clients[min(clients)]

            def draw() -> Picture:
                try:
                    picture = client.get_render(height, width, transport_format="png", timeout=60.0)
                except (TimeoutError, RuntimeError) as error:
                    raise UnsupportedError(f"{context}: the browser gives no picture; reload its page") from error
                color, opacity = picture[..., :3].astype(float), picture[..., 3:] / 255.0
                opaque: Picture = np.rint(color * opacity + _BACKGROUND * (1 - opacity)).astype(np.uint8)
                return opaque

            yield draw

    def wait_for_browser(self, timeout: float | None = None) -> None:
        """Wait until a browser shows the page, for at most ``timeout`` seconds.

        Raises:
            UnsupportedError: if none does.
        """
        self._check_open("wait_for_browser")
        begun = time.monotonic()
        while not self.server.get_clients():
            if timeout is not None and time.monotonic() - begun > timeout:
                raise UnsupportedError(f"no browser came within {timeout:g} s; open {self.url}")
            time.sleep(0.05)
        # viser counts a browser as soon as it reports its camera, before it adopts the camera of the page
        come, wanted = time.monotonic(), self.server.initial_camera.position
        while time.monotonic() - come < _SETTLE and not any(
            np.allclose(client.camera.position, wanted, atol=1e-2 * self.scene.size)
            for client in self.server.get_clients().values()
        ):
            time.sleep(0.05)
        time.sleep(_LETTERS)

    def record(
        self,
        motion: Any,
        path: str | os.PathLike[str],
        *,
        speed: float = 1.0,
        fps: float = 30.0,
        width: int = 900,
        height: int = 600,
    ) -> None:
        """Write a motion as a page that turns under the mouse, or as a film.

        Args:
            motion: as for :meth:`play`; of a page also ``None``: the current configuration.
            path: name of the file. ``.html`` is one page that needs neither a server, nor a network, nor Python.
                ``.gif``, ``.webp`` and ``.mp4`` are films (``.mp4`` needs ffmpeg, or the package imageio-ffmpeg); a
                browser draws them as it does a :meth:`screenshot`.
            speed, fps: as for :meth:`play`. ``width``, ``height``: size of a film, in pixels.

        Raises:
            ArgumentTypeError, ArgumentError: as for :meth:`play`; if the file is of no such kind, or a size is none.
            UnsupportedError: as for :meth:`screenshot`; if there is no ffmpeg.
        """
        self._check_open("record")
        if check_film(path, width, height) == PAGE:
            Path(path).write_text(self.page(motion, speed=speed, fps=fps), encoding="utf-8")
            return
        if motion is None:
            raise ArgumentError(f"record: {os.fspath(path)}: a film has a motion, and None was given; give one")
        frames = self._frames(motion, speed, fps)
        with self._camera("record", width, height) as draw:

            def pictures() -> Iterator[Picture]:
                for _, self._time, q in frames:
                    self.show(q)
                    yield draw()

            write_film(path, pictures(), fps)

    def page(self, motion: Any = None, *, speed: float = 1.0, fps: float = 30.0) -> str:
        """The page that :meth:`record` writes, as text; without a motion, of the current configuration."""
        self._check_open("page")
        frames = [(0.0, self._time, self.q)] if motion is None else list(self._frames(motion, speed, fps))
        _, self._time, self.q = frames[0]
        self._draw(_DIGITS)
        recorded = self.server.get_scene_serializer()
        for (before, _, _), (now, self._time, self.q) in pairwise(frames):
            recorded.insert_sleep(now - before)
            self._draw(_DIGITS)
        return str(recorded.as_html())

    def _frames(self, motion: Any, speed: float, fps: float) -> Iterator[tuple[float, float, Array]]:
        """Time by the clock [s], time of the motion [s] and configuration of each frame."""
        start, end, at = motion_of(self.scene.tree, motion, "record")
        clock, times = frame_times(start, end, speed, fps, "record")
        return ((float(now), float(instant), at(float(instant))) for now, instant in zip(clock, times, strict=True))

    def close(self) -> None:
        """Stop serving."""
        self._closed = True
        with _quiet():
            self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_png(argument: str, path: str | os.PathLike[str]) -> None:
    """Refuse the name of a screenshot that does not end in ``.png``."""
    if file_path(argument.rstrip(":"), path, "a name that ends in .png").suffix.lower() != ".png":
        raise ArgumentError(f"{argument} {os.fspath(path)}: give a name that ends in .png")


def _round_length(at_most: float) -> float:
    """The largest 1, 2 or 5 times a power of ten up to a length."""
    unit = 10.0 ** math.floor(math.log10(at_most))
    return unit * max([1, *(factor for factor in (2, 5) if factor * unit <= at_most)])


def _quiet() -> contextlib.redirect_stdout[io.StringIO]:
    """Suppress what viser prints when it starts and stops."""
    return contextlib.redirect_stdout(io.StringIO())

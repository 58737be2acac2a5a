"""``gdalembert view ROBOT``."""

from __future__ import annotations

import argparse
import contextlib
import logging
import signal
import time
from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from gdalembert.cli.options import add_configuration, add_robot, check_output, configuration, load
from gdalembert.distances.distances import Distances
from gdalembert.errors import ArgumentError
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.progress import is_watched
from gdalembert.viewer.scene import motion_of
from gdalembert.viewer.viewer import Viewer, bodies, check_png, visuals

_BROWSER_TIMEOUT = 60.0
"""Time that a screenshot waits for the browser that it opens [s]."""
_FRAME_PERIOD = 1 / 30
"""Time between pictures [s]."""
_SWEEP_TIME = 4.0
"""Time in which a joint moves through its range and back [s]."""


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`run_view` reads."""
    add_robot(parser)
    add_configuration(parser, "neutral")
    parser.add_argument("--plain", action="store_true", help="cylinders and boxes instead of the URDF's bodies")
    parser.add_argument("--frames", action="store_true", help="show frames with their names")
    parser.add_argument("--swing", action="store_true", help="move one joint after the other through its range")
    text = "draw capsules around the URDF's collision bodies, and gaps below 0.1 m; covers of meshes take half a minute"
    parser.add_argument("--shapes", action="store_true", help=text)
    text = "port of the page; 0: any free port (default: 8080)"
    parser.add_argument("--port", type=int, default=8080, metavar="N", help=text)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    text = "write a PNG of what the browser shows, and exit; starts chromium, or Chrome, if no browser shows the page"
    parser.add_argument("--screenshot", metavar="FILE", help=text)
    text = "where package:// is looked for, before the folders above the URDF; repeatable"
    parser.add_argument("--package-dir", action="append", default=[], metavar="FOLDER", help=text)


def run_view(arguments: argparse.Namespace) -> int:
    """Serve the robot until interrupted."""
    model = load(arguments.robot, arguments)
    if arguments.screenshot is not None:
        check_png("--screenshot", arguments.screenshot)
        check_output("--screenshot", arguments.screenshot)
    q = None if arguments.q is None else configuration(model, arguments.q)
    seen = None if arguments.plain else visuals(arguments.robot, model, arguments.package_dir)
    shapes = _shapes(arguments, model) if arguments.shapes else None
    page = {"frames": arguments.frames, "port": arguments.port, "open": arguments.open}
    with Viewer(model, q=q, visual_model=seen, shapes=shapes, **page) as viewer:
        logging.getLogger("websockets").setLevel(logging.CRITICAL)  # browsers open idle connections
        address = f"{model.name}: {viewer.url} (Ctrl-C ends)"
        if arguments.screenshot is not None:
            print(address, flush=True)
            if arguments.open:
                viewer.wait_for_browser(_BROWSER_TIMEOUT)
            viewer.screenshot(arguments.screenshot)
            print(arguments.screenshot)
            return 0
        motion = motion_of(viewer.scene.tree, joint_sweep(model, viewer.q)) if arguments.swing else None
        with _interrupts() as interrupts:
            print(address, flush=True)
            start = time.monotonic()
            while not interrupts:
                if motion is not None:
                    _, end, at = motion
                    viewer.show(at((time.monotonic() - start) % end))
                time.sleep(_FRAME_PERIOD)
    return 0


def _shapes(arguments: argparse.Namespace, model: pin.Model) -> Distances:
    geometry = bodies(arguments.robot, model, arguments.package_dir, "collision", "there are no shapes of them")
    if geometry is None:
        raise ArgumentError(f"--shapes: {model.name} has no collision bodies that can be read; leave it out")
    return Distances(model, geometry, progress=is_watched())


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect Ctrl-C in a list that is read between pictures: CasADi and viser do not survive it within a call."""
    signals: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        yield signals
    finally:
        signal.signal(signal.SIGINT, before)


def joint_sweep(model: pin.Model, q: Array) -> tuple[Array, Array]:
    """The motion (t, q) of one velocity after the other, from q to its upper limit, to its lower limit, and back.

    A joint without limits, or with limits beyond half a turn (or 1 m), moves by half a turn (or 1 m) each way; by an
    eighth of a turn where v is not dq/dt.
    """
    t, rows = [0.0], [q]
    for joint in read_tree(model).independent_joints:
        for k in range(joint.type.nv):
            column, at_q = joint.idx_v + k, joint.idx_q + k
            if joint.type.nq == joint.type.nv:
                most = 1.0 if joint.type.linear[k] else np.pi
                low = np.clip(model.lowerPositionLimit[at_q] - q[at_q], -most, 0.0)
                high = np.clip(model.upperPositionLimit[at_q] - q[at_q], 0.0, most)
            else:
                low, high = -np.pi / 4, np.pi / 4
            for at in (*np.linspace(0, high, 9)[1:], *np.linspace(high, low, 17)[1:], *np.linspace(low, 0, 9)[1:]):
                rows.append(pin.integrate(model, q, at * np.eye(model.nv)[column]))
                t.append(t[-1] + _SWEEP_TIME / 32)
    return np.array(t), np.array(rows)

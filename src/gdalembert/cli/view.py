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

from gdalembert.cli.options import add_configuration, configuration
from gdalembert.spatial.arrays import Array
from gdalembert.viewer.loading import visuals
from gdalembert.viewer.motion import motion_of
from gdalembert.viewer.viewer import Viewer, check_png

_PATIENCE = 60.0
"""For a browser, before a screenshot [s]."""
_PAUSE = 1 / 30
"""Between pictures [s]."""
_LAP = 4.0
"""In which a joint goes through its range and back [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of :func:`run`."""
    add_configuration(parser, "neutral")
    parser.add_argument("--plain", action="store_true", help="cylinders and boxes in place of the URDF's bodies")
    parser.add_argument("--frames", action="store_true", help="show frames with their names")
    parser.add_argument("--swing", action="store_true", help="move each joint through its range, one after the other")
    parser.add_argument("--port", type=int, default=8080, metavar="N", help="of the page; 0: any (default: 8080)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--screenshot", metavar="FILE", help="write a PNG of what the browser shows, and end; needs a browser"
    )
    parser.add_argument(
        "--package-dir", action="append", default=[], metavar="FOLDER", help="where package:// is; repeatable"
    )


def run(model: pin.Model, arguments: argparse.Namespace) -> int:
    """Serve the robot until interrupted.

    Args:
        model: the robot.
        arguments: as parsed, with the URDF's name as ``robot``.
    """
    if arguments.screenshot is not None:
        check_png("--screenshot", arguments.screenshot)
    q = None if arguments.q is None else configuration(model, arguments.q)
    bodies = None if arguments.plain else visuals(arguments.robot, model, arguments.package_dir)
    with Viewer(
        model, q=q, visual_model=bodies, frames=arguments.frames, port=arguments.port, open=arguments.open
    ) as viewer:
        logging.getLogger("websockets").setLevel(logging.CRITICAL)  # browsers open connections that they never use
        address = f"{model.name}: {viewer.url} (Ctrl-C ends)"
        if arguments.screenshot is not None:
            print(address, flush=True)
            viewer.wait_for_browser(_PATIENCE)
            viewer.screenshot(arguments.screenshot)
            print(arguments.screenshot)
            return 0
        motion = motion_of(viewer.scene.tree, swing(model, viewer.q)) if arguments.swing else None
        with _interrupts() as interrupts:
            print(address, flush=True)
            begun = time.monotonic()
            while not interrupts:
                if motion is not None:
                    _, end, at = motion
                    viewer.show(at((time.monotonic() - begun) % end))
                time.sleep(_PAUSE)
    return 0


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Ctrl-C as an entry in a list, to be looked at between pictures: CasADi and viser do not survive it in a call."""
    found: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: found.append(number))
    try:
        yield found
    finally:
        signal.signal(signal.SIGINT, before)


def swing(model: pin.Model, q: Array) -> tuple[Array, Array]:
    """(t, q): each velocity in turn moves its joint from q to its upper limit, to its lower one, and back.

    Joints without limits, or with limits beyond half a turn (or 1 m), go half a turn (or 1 m) each way; where v is not
    dq/dt, a quarter of that.
    """
    t, rows = [0.0], [q]
    for joint in list(model.joints)[1:]:
        for k in range(joint.nv if joint.idx_v >= 0 else 0):
            column = joint.idx_v + k
            low, high = _reach(model, joint, q, k)
            for at in (*np.linspace(0, high, 9)[1:], *np.linspace(high, low, 17)[1:], *np.linspace(low, 0, 9)[1:]):
                rows.append(pin.integrate(model, q, at * np.eye(model.nv)[column]))
                t.append(t[-1] + _LAP / 32)
    return np.array(t), np.array(rows)


def _reach(model: pin.Model, joint: pin.JointModel, q: Array, k: int) -> tuple[float, float]:
    """How far the velocity k of a joint may take it, down and up."""
    if joint.nq != joint.nv:
        return -np.pi / 4, np.pi / 4
    limit = 1.0 if joint.shortname().startswith("JointModelP") else np.pi
    low = model.lowerPositionLimit[joint.idx_q + k] - q[joint.idx_q + k]
    high = model.upperPositionLimit[joint.idx_q + k] - q[joint.idx_q + k]
    return float(np.clip(low, -limit, 0.0)), float(np.clip(high, 0.0, limit))

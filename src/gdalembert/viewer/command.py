"""``gdalembert view ROBOT``."""

from __future__ import annotations

import argparse
import contextlib
import logging
import time

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError
from gdalembert.tree import Array
from gdalembert.viewer.loading import visuals
from gdalembert.viewer.viewer import Viewer

_PATIENCE = 60.0
"""For a browser, before a screenshot [s]."""
_LAP = 4.0
"""In which a joint goes through its range and back [s]."""


def add_view(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("--q", metavar="X,Y,…", help="the configuration, as 0,0.5,-1 (default: neutral)")
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


def view(model: pin.Model, arguments: argparse.Namespace) -> int:
    """Serve the robot until interrupted.

    Args:
        model: the robot.
        arguments: as parsed, with the URDF's name as ``robot``.
    """
    q = None if arguments.q is None else configuration(model, arguments.q)
    bodies = None if arguments.plain else visuals(arguments.robot, model, arguments.package_dir)
    with Viewer(
        model, q=q, visual_model=bodies, frames=arguments.frames, port=arguments.port, open=arguments.open
    ) as viewer:
        logging.getLogger("websockets").setLevel(logging.CRITICAL)  # browsers open connections that they never use
        print(f"{model.name}: {viewer.url} (Ctrl-C ends)", flush=True)
        if arguments.screenshot is not None:
            viewer.wait_for_browser(_PATIENCE)
            viewer.screenshot(arguments.screenshot)
            print(arguments.screenshot)
            return 0
        with contextlib.suppress(KeyboardInterrupt):
            if arguments.swing:
                viewer.play(swing(model, viewer.q), loop=True)
            while True:
                time.sleep(3600)
    return 0


def configuration(model: pin.Model, text: str) -> Array:
    """A configuration (nq) from numbers with commas between them.

    Raises:
        ArgumentError: if it is none.
    """
    try:
        q = np.array([float(x) for x in text.split(",")])
    except ValueError:
        raise ArgumentError(f"--q {text}: give numbers, as 0,0.5,-1") from None
    if q.size != model.nq or not np.all(np.isfinite(q)):
        raise ArgumentError(f"--q {text}: {model.name} takes {model.nq} finite numbers, and these are {q.size}")
    return q


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

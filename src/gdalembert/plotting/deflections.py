"""Deflections of the tips of flexible links over a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError
from gdalembert.flexible.flexible_arm import Arm, require_flexible_arm
from gdalembert.plotting.coordinates import MotionLike, trajectory
from gdalembert.plotting.style import axes, label, legend, line_style
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tip_deflection(arm: Arm, motion: MotionLike, *, ax: Axes | None = None) -> Axes:
    """The transverse deflection of each flexible link's tip over time [mm], along y and z of its clamped frame.

    Args:
        arm: an arm with flexible links.
        motion: a :class:`~gdalembert.simulation.result.Simulation` of it, a :class:`~gdalembert.ocp.Solution` (at its
            stages), or (t, q): (N,), N × nq.
        ax: the Axes to draw on.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if the arm has no flexible links, or the motion is not one of the arm.
    """
    if not require_flexible_arm("tip_deflection", arm).assembly.beams:
        raise ArgumentError(f"tip_deflection: {arm.tree.name} has no flexible links; give an arm with links={{…}}")
    t, q = trajectory("tip_deflection", motion, "tq", arm.tree)
    ax = axes("tip_deflection", ax)
    for k, (name, line) in enumerate(deflections(arm, q).items()):
        ax.plot(t, 1e3 * line, label=name, **line_style(k))
    label(ax, "time [s]", "deflection of the tip [mm]")
    legend(ax)
    return ax


def deflections(arm: Arm, q: Array) -> dict[str, Array]:
    """By link: deflections (N) [m] at configurations (N × nq); with the direction if a link bends in both."""
    kinematics, s = Kinematics(arm.tree, clean=0), ca.SX.sym("q", arm.tree.nq)
    found: dict[str, Array] = {}
    for beam in arm.assembly.beams.values():
        root, tip = (kinematics.frame_placement(frame)(s) for frame in (beam.root, beam.tip))
        offset = root[:3, :3].T @ (tip[:3, 3] - root[:3, 3])
        across = ca.Function("across", [s], [offset[1:]])(q.T).full()
        bends = np.abs(arm.assembly.links[beam.link].stations[1].translation[1:]).max(axis=1) > 0
        for direction, line, here in zip("yz", across, bends, strict=True):
            if here:
                found[f"{beam.name}, {direction}" if bends.all() else beam.name] = line
    return found

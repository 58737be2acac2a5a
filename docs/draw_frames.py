"""The figure of frames_and_wrenches.md: one wrench in two frames, one twist in three references.

python docs/draw_frames.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes

import gdalembert as gd

FILE = Path(__file__).parent / "images" / "frames_and_wrenches.png"
INK, FORCE, MOTION, LINK = "0.15", "#b3261e", "#1a5fb4", "0.78"

WRENCH = np.array([6.0, 8.0, 0, 0, 0, 3.2])  # in A: force [N] in the plane, moment [N m] about z
TURN, SHIFT = np.deg2rad(40), np.array([1.05, 0.18])  # of B in A [rad, m]
Q, V = [0.9, -1.4], [1.2, -0.9]  # of the arm [rad, rad/s]


def arrow(axes: Axes, start: np.ndarray, along: np.ndarray, color: str, width: float = 2.2, style: str = "-") -> None:
    """From start by along."""
    shape = {"arrowstyle": "-|>", "color": color, "lw": width, "ls": style, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=start + along, xytext=start, arrowprops=shape)


def frame(axes: Axes, origin: np.ndarray, angle: float, letters: tuple[str, str], style: str = "-") -> None:
    """Two axes with their letters."""
    for direction, letter in zip((angle, angle + np.pi / 2), letters, strict=True):
        along = 0.24 * np.array([np.cos(direction), np.sin(direction)])
        arrow(axes, origin, along, INK, 1.4, style)
        axes.text(*(origin + 1.2 * along), letter, color=INK, ha="center", va="center", fontsize=10)


def turn_mark(axes: Axes, centre: np.ndarray, radius: float, start: float, stop: float, color: str) -> None:
    """An arc with a head: a moment or an angular velocity that comes out of the plane."""
    angles = np.deg2rad(np.linspace(start, stop, 60))
    arc = centre + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    axes.plot(*arc.T, color=color, lw=1.6)
    arrow(axes, arc[-2], arc[-1] - arc[-2], color, 1.6)


def draw_wrench(axes: Axes) -> None:
    """The force stays on its line of action; its components and the moment are those of a frame."""
    placement = np.eye(4)
    placement[:2, :2] = [[np.cos(TURN), -np.sin(TURN)], [np.sin(TURN), np.cos(TURN)]]
    placement[:2, 3] = SHIFT
    seen = gd.transform_wrench(WRENCH, placement)
    force, moment = WRENCH[:2], WRENCH[5]
    direction = force / np.linalg.norm(force)
    foot = moment / (force @ force) * np.array([force[1], -force[0]])  # nearest point of the line to A
    foot_b = foot + direction * ((SHIFT - foot) @ direction)
    line = foot + np.outer([-0.3, 1.2], direction)
    axes.plot(*line.T, color=FORCE, lw=0.9, ls=(0, (5, 4)))
    axes.text(*(line[-1] + [0.03, -0.02]), "line of action", color=FORCE, fontsize=9, ha="left", va="center")
    arrow(axes, foot + 0.5 * direction, 0.045 * force, FORCE)
    axes.text(*(foot + 0.72 * direction + [-0.05, 0.04]), "f", color=FORCE, fontsize=13, ha="right", style="italic")
    for origin, angle, letters, nearest in (
        (np.zeros(2), 0.0, ("n", "o"), foot),
        (SHIFT, TURN, ("n", "o"), foot_b),
    ):
        frame(axes, origin, angle, letters)
        axes.plot(*np.column_stack([origin, nearest]), color="0.5", lw=0.9, ls=":")
    for origin, name, x, place in ((np.zeros(2), "A", WRENCH, (-0.62, -0.2)), (SHIFT, "B", seen, (0.93, -0.05))):
        sense = (25, 320) if x[5] > 0 else (320, 25)
        turn_mark(axes, origin, 0.085, *sense, FORCE)
        text = f"in {name}\nf = ({x[0]:.1f}, {x[1]:.1f}) N\nm = {x[5]:.1f} N m".replace("-", "−")
        axes.text(*place, text, fontsize=9.5, va="top", color=INK, linespacing=1.35)
    axes.set_title("One wrench, seen from two frames", fontsize=11)
    axes.set(xlim=(-0.9, 1.7), ylim=(-0.5, 1.0))


def draw_twist(axes: Axes) -> None:
    """LOCAL and LOCAL_WORLD_ALIGNED are the velocity of the frame's origin, WORLD that of the universe's."""
    kin = gd.Kinematics(gd.load_urdf("two_link_arm"))
    plane = [0, 2]  # x and z; the axes of the joints are −y
    elbow, tip = (kin.frame_placement(name)(Q).full()[plane, 3] for name in ("link2", "tip"))
    angle = Q[0] + Q[1]
    twists = {name: kin.frame_velocity("tip", getattr(pin, name))(Q, V).full().ravel() for name in REFERENCES}
    axes.plot(*np.column_stack([np.zeros(2), elbow, tip]), color=LINK, lw=9, solid_capstyle="round", zorder=0)
    axes.plot(*np.column_stack([np.zeros(2), elbow]), "o", color="white", mec="0.4", ms=7, zorder=1)
    frame(axes, np.zeros(2), 0.0, ("x", "z"))
    frame(axes, tip, 0.0, ("x", "z"), "--")
    frame(axes, tip, angle, ("", ""))
    scale = 0.6
    aligned, world = twists["LOCAL_WORLD_ALIGNED"], twists["WORLD"]
    arrow(axes, tip, scale * aligned[plane], MOTION)
    arrow(axes, np.zeros(2), scale * world[plane], MOTION)
    for (name, meaning), place in zip(REFERENCES.items(), ((1.12, 0.72), (1.12, 0.36), (-0.3, -0.38)), strict=True):
        x = twists[name]
        text = f"{name}\n{meaning}\n({x[0]:+.2f}, {x[2]:+.2f}) m/s".replace("-", "−")
        axes.text(*place, text, fontsize=9, va="center", color=MOTION, linespacing=1.35)
    axes.text(-0.05, -0.06, "universe", fontsize=9.5, color=INK, va="top", ha="right")
    axes.text(tip[0] - 0.06, tip[1] - 0.08, "tip", fontsize=9.5, color=INK, va="top")
    axes.set_title("One twist of the tip, three references", fontsize=11)
    axes.set(xlim=(-0.4, 2.2), ylim=(-0.5, 0.9))


REFERENCES = {
    "LOCAL": "velocity of the tip, axes of the tip",
    "LOCAL_WORLD_ALIGNED": "velocity of the tip, axes x, z",
    "WORLD": "velocity at the universe's origin, axes x, z",
}


def main(arguments: list[str]) -> None:
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.8, 7.4), layout="constrained")
    draw_wrench(top)
    draw_twist(bottom)
    for axes in (top, bottom):
        axes.set_aspect("equal")
        axes.axis("off")
    file = Path(arguments[0]) if arguments else FILE
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, dpi=160, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1:])

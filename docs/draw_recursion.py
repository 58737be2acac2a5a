"""The figure of house.md: one recursion along a rigid link, a flexible link and a rod.

python docs/draw_recursion.py [FILE]
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

FILE = Path(__file__).parent / "images" / "recursion.png"
INK, FORCE, MOTION, LINK = "0.15", "#b3261e", "#1a5fb4", "0.78"

RIGID = np.array([[0.0, 0.0], [1.3, 0.25]])
"""The ends of the rigid link."""
FLEXIBLE = RIGID[1] + np.column_stack([s := np.linspace(0, 1.7, 60), 0.12 * s - 0.10 * s**2])
TIP_SLOPE = 0.12 - 0.20 * 1.7
"""Of the flexible link at its end."""
TURN = 2.1
"""Of the rod from its root to its tip [rad]."""


def rod() -> np.ndarray:
    """A centreline of constant curvature, from the end of the flexible link on."""
    slopes = TIP_SLOPE + TURN * np.linspace(0, 1, 120)
    step = 1.9 / len(slopes)
    return FLEXIBLE[-1] + step * np.cumsum(np.column_stack([np.cos(slopes), np.sin(slopes)]), axis=0)


def text(axes: Axes, at: np.ndarray | tuple[float, float], words: str, color: str = INK, size: float = 9.5) -> None:
    axes.text(*at, words, color=color, fontsize=size, ha="center", va="center", linespacing=1.4)


def arc(axes: Axes, start: np.ndarray, stop: np.ndarray, bend: float, color: str) -> None:
    """A curved arrow from one body to the next."""
    shape = {"arrowstyle": "-|>", "color": color, "lw": 1.9, "connectionstyle": f"arc3,rad={bend}"}
    axes.annotate("", xy=stop, xytext=start, arrowprops={**shape, "shrinkA": 2, "shrinkB": 2})


def draw(axes: Axes) -> None:
    bodies = [np.linspace(*RIGID, 2), FLEXIBLE, rod()]
    for line in bodies:
        axes.plot(*line.T, color=LINK, lw=11, solid_capstyle="round", zorder=0)
    axes.plot(*FLEXIBLE.T, color="0.5", lw=0.8, ls="--", zorder=1)
    axes.plot(*bodies[2].T, color="0.5", lw=0.8, ls="--", zorder=1)
    axes.fill_between([-0.28, 0.28], -0.24, -0.1, color="0.55", hatch="///", facecolor="white", lw=0)
    axes.plot([-0.28, 0.28], [-0.1, -0.1], color=INK, lw=1.4)
    for at in (RIGID[0], RIGID[1]):
        axes.plot(*at, "o", color="white", mec=INK, ms=12, mew=1.6, zorder=3)
    axes.plot(*FLEXIBLE[-1], "s", color="white", mec=INK, ms=10, mew=1.6, zorder=3)
    stations = bodies[2][[34, 84, 119]]
    axes.plot(*stations.T, "s", color="white", mec=INK, ms=7, mew=1.3, zorder=3, ls="")

    above, below, left, right = np.array([[0, 0.16], [0, -0.16], [-0.14, 0.1], [0.16, -0.02]])
    joints = [RIGID[0], RIGID[1], FLEXIBLE[-1]]
    for start, stop in pairwise(joints):
        arc(axes, start + above, stop + above, -0.32, MOTION)
        arc(axes, stop + below, start + below, -0.32, FORCE)
    arc(axes, joints[2] + above, stations[2] + left, 0.3, MOTION)
    arc(axes, stations[2] + right, joints[2] + below, -0.62, FORCE)

    text(axes, (0.55, 0.74), "ω, α, ẍ", MOTION, 11.5)
    text(axes, (0.75, -0.33), "f, n", FORCE, 11.5)
    text(axes, (-0.45, 0.0), "joint\nq₁", size=9)
    text(axes, (1.3, 0.62), "joint\nq₂", size=9)
    text(axes, (2.95, 0.85), "station\nq₃ … q₆: the modes\nof the whole link", size=9)
    text(axes, (5.25, 0.95), "stations\nq₇ … q₁₀: the strain\nof the whole segment", size=9)
    text(axes, (0.55, -0.72), "rigid link\nJ", size=9)
    text(axes, (2.1, -0.72), "flexible link\nJ and modal inertia", size=9)
    text(axes, (3.75, -0.72), "Cosserat rod\nJ and its Gauss points", size=9)
    axes.set(xlim=(-0.7, 6.0), ylim=(-0.95, 1.5))


def main(arguments: list[str]) -> None:
    figure, axes = plt.subplots(figsize=(8.6, 3.4), layout="constrained")
    draw(axes)
    axes.set_aspect("equal")
    axes.axis("off")
    text(axes, (1.3, 1.4), "outward: motions", MOTION, 11)
    text(axes, (1.3, 1.18), "inward: wrenches, torques τ = Sᵀ (f; n)", FORCE, 11)
    file = Path(arguments[0]) if arguments else FILE
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, dpi=160, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1:])

"""``gdalembert plot FIGURE ROBOT``: the figures that need nothing but a robot.

matplotlib is an extra: :mod:`gdalembert.plotting` is imported when a figure is drawn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.cli.options import add_configuration, add_robot, check_output, configuration, load
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import ArgumentError
from gdalembert.ocp.system.guess import rest_to_rest
from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array

_SAMPLES = 201
_REFERENCES = {"local": pin.LOCAL, "world": pin.WORLD, "local-world-aligned": pin.LOCAL_WORLD_ALIGNED}
_OPTIONS = {
    ("torque-decomposition",): ("joint", "by", "trajectory", "duration"),
    ("force-ellipsoid", "velocity-ellipsoid"): ("frame", "reference", "q", "plane", "limits"),
}
"""The options that only these figures use."""


def add_plot(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`run_plot` reads."""
    parser.add_argument("figure", metavar="FIGURE", choices=FIGURES, help=f"one of {', '.join(FIGURES)}")
    add_robot(parser)
    parser.add_argument("--output", metavar="FILE", help="a picture: .png, .pdf, .svg (default: FIGURE_ROBOT.png)")
    text = "seed of random motions and configurations (default: 0)"
    parser.add_argument("--seed", type=int, default=0, metavar="S", help=text)
    torque = parser.add_argument_group("torque-decomposition")
    torque.add_argument("--joint", metavar="NAME", help="one joint (default: one panel for each joint)")
    torque.add_argument("--by", choices=("kind", "link", "equation"), help="(default: kind; equation: M a, C v, g)")
    text = "CSV with one row t, q or t, q, v, a for each time (default: a smooth random motion)"
    torque.add_argument("--trajectory", metavar="FILE", help=text)
    torque.add_argument("--duration", type=float, metavar="T", help="duration of the random motion in s (default: 1)")
    ellipsoid = parser.add_argument_group("force-ellipsoid, velocity-ellipsoid")
    ellipsoid.add_argument("--frame", metavar="NAME", help="(default: the last frame of the model)")
    ellipsoid.add_argument("--reference", choices=_REFERENCES, help="reference frame (default: local-world-aligned)")
    add_configuration(ellipsoid, "random")
    ellipsoid.add_argument("--plane", metavar="XY", help="two axes, as xy (default: all three)")
    ellipsoid.add_argument("--limits", action="store_true", help="as fractions of the model's limits")


def run_plot(arguments: argparse.Namespace) -> int:
    """Draw and write the figure."""
    model = load(arguments.robot, arguments)
    from gdalembert import plotting  # says what to install if matplotlib is missing

    for figures, options in _OPTIONS.items():
        for option in options:
            if arguments.figure not in figures and getattr(arguments, option) not in (None, False):
                others = " and ".join(figures) + (" do" if len(figures) > 1 else " does")
                raise ArgumentError(f"--{option}: {arguments.figure} does not use it, {others}; leave it out")
    default = f"{arguments.figure}_{Path(arguments.robot).stem}.png"
    output = Path(default if arguments.output is None else arguments.output)
    from matplotlib import backend_bases, pyplot

    if output.suffix.lower().removeprefix(".") not in backend_bases.FigureCanvasBase.get_supported_filetypes():
        raise ArgumentError(f"--output {output}: the format of a picture is its ending; give one as {output.stem}.png")
    check_output("--output", str(output))
    drawn = FIGURES[arguments.figure](plotting, model, arguments)  # one or several Axes
    figure = np.ravel(drawn)[0].get_figure(root=True)
    try:
        figure.savefig(output, dpi=180)
    finally:
        pyplot.close(figure)
    print(output)
    return 0


def _torques(plotting: Any, model: pin.Model, arguments: argparse.Namespace) -> Any:
    if arguments.trajectory is None:
        motion = random_motion(model, 1.0 if arguments.duration is None else arguments.duration, arguments.seed)
    else:
        motion = read_motion(model, Path(arguments.trajectory))
    return plotting.torque_decomposition(model, motion, joint=arguments.joint, by=arguments.by)


def _ellipsoid(name: str, limits: str, plotting: Any, model: pin.Model, arguments: argparse.Namespace) -> Any:
    if arguments.q is None:
        q = pin.integrate(model, pin.neutral(model), np.random.default_rng(arguments.seed).uniform(-1, 1, model.nv))
    else:
        q = configuration(model, arguments.q)
    frame = model.nframes - 1 if arguments.frame is None else arguments.frame
    reference = _REFERENCES[arguments.reference or "local-world-aligned"]
    joint_limits = getattr(model, limits) if arguments.limits else None
    return getattr(plotting, name)(model, frame, q, reference, plane=arguments.plane, limits=joint_limits)


FIGURES: dict[str, Callable[[Any, pin.Model, argparse.Namespace], Any]] = {
    "force-ellipsoid": partial(_ellipsoid, "force_ellipsoid", "effortLimit"),
    "torque-decomposition": _torques,
    "velocity-ellipsoid": partial(_ellipsoid, "velocity_ellipsoid", "velocityLimit"),
}


def random_motion(model: pin.Model, duration: float, seed: int) -> tuple[Array, Array, Array, Array]:
    """t, q, v, a from rest to rest, from the neutral configuration by up to 1 rad or m at each joint."""
    number("--duration", duration, "s")
    start, delta = pin.neutral(model), np.random.default_rng(seed).uniform(-1, 1, model.nv)
    motion = rest_to_rest(NewtonEuler(model), start, pin.integrate(model, start, delta), duration, _SAMPLES)
    return motion.t, motion.q, motion.v, motion.a


def read_motion(model: pin.Model, path: Path) -> tuple[Array, Array, Array, Array]:
    """t, q, v, a of a CSV file; if v and a are not in it, they are central differences."""
    try:
        table = np.loadtxt(path, delimiter=",", ndmin=2)
    except ValueError as error:
        raise ArgumentError(f"{path}: {error}; give numbers with commas between them") from None
    t, q = table[:, 0], table[:, 1 : 1 + model.nq]
    if table.shape[1] == 1 + model.nq + 2 * model.nv:
        v, a = np.hsplit(table[:, 1 + model.nq :], 2)
        return t, q, v, a
    if table.shape[1] != 1 + model.nq:
        wanted = f"{1 + model.nq} (t, q) or {1 + model.nq + 2 * model.nv} (t, q, v, a)"
        raise ArgumentError(f"{path}: has {table.shape[1]} columns; give {wanted}")
    if len(t) < 3 or np.any(np.diff(t) <= 0):
        raise ArgumentError(
            f"{path}: v and a need at least three rows, each later than the last; give such, or v and a"
        )
    if model.nq != model.nv:
        raise ArgumentError(f"{path}: v is not dq/dt of {model.name}; give t, q, v, a")
    v = np.gradient(q, t, axis=0, edge_order=2)
    return t, q, v, np.gradient(v, t, axis=0, edge_order=2)

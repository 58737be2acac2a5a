"""Flexible arms: deflections of tips over a motion, mode shapes and frequencies of a link and of an arm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.frames import find_frame
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.flexible.beams.modal_integrals import DIRECTIONS, eigenmodes, modal_mass
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.flexible_arm import Arm, require_flexible_arm
from gdalembert.flexible.flexible_link import BeamLink, FlexibleLink
from gdalembert.flexible.modes import ModeSet
from gdalembert.flexible.placed_links import placed_link
from gdalembert.model.rounding import clean_matrix
from gdalembert.plotting.style import (
    MotionLike,
    axes,
    label,
    legend,
    line_style,
    panels,
    plain,
    shared_legend,
    trajectory,
)
from gdalembert.spatial.arguments import flag, integer
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 201
_NONE = 1e-12
"""Part of the largest entry: a smaller one is rounding, of a shape that does not move a link."""
_NAMES = {"bending_y": "bending, y", "bending_z": "bending, z", "extension": "extension", "torsion": "torsion"}


@interruptible
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
    if not require_flexible_arm("tip_deflection", arm).flexibility.links:
        raise ArgumentError(f"tip_deflection: {arm.tree.name} has no flexible links; give an arm with links={{…}}")
    t, q = trajectory("tip_deflection", motion, "tq", arm.tree)
    ax = axes("tip_deflection", ax)
    for k, (name, line) in enumerate(deflections(arm, q).items()):
        ax.plot(t, 1e3 * line, label=plain(name), **line_style(k))
    label(ax, "time [s]", "deflection of the tip [mm]")
    legend(ax)
    return ax


def deflections(arm: Arm, q: Array) -> dict[str, Array]:
    """Curves by link: deflections (N) [m] at configurations (N × nq); with the direction if a link bends in both."""
    kinematics, s = Kinematics(arm.tree, clean=0), ca.SX.sym("q", arm.tree.nq)
    curves: dict[str, Array] = {}
    for beam in arm.flexibility.links.values():
        root, tip = (kinematics.frame_placement(frame)(s) for frame in (beam.root, beam.tip))
        offset = root[:3, :3].T @ (tip[:3, 3] - root[:3, 3])
        across = ca.Function("across", [s], [offset[1:]])(q.T).full()
        bends = np.abs(across).max(axis=1) > 0
        if beam.name in arm.flexibility.beams:
            section = arm.tree.sections(beam.link)[0]
            clamped = arm.tree.frames[find_frame(arm.tree, beam.root)].rotation
            bends = np.abs(clean_matrix(clamped.T @ section.translation)[1:]).max(axis=1) > 0
        for direction, line, here in zip("yz", across, bends, strict=True):
            if here:
                curves[f"{beam.name}, {direction}" if bends.all() else beam.name] = line
    return curves


@interruptible
def mode_shapes(
    flexible: FlexibleLink | Arm,
    q: npt.ArrayLike | None = None,
    *,
    links: Mapping[str, FlexibleLink] | None = None,
    count: int | None = None,
    natural: bool = False,
) -> Any:
    """The mode shapes of a link or an arm along the abscissae of its links, with their frequencies [Hz].

    A link: its assumed shapes, a panel for each direction. The frequency is that of the bare link, clamped at its root
    and constrained to this shape, √(K_jj / M_jj) (Rayleigh's quotient). With ``natural``: its eigenmodes, which are
    combinations of the assumed shapes. The largest value of each shape is 1.

    An arm: its natural modes at q with all motors held, a panel for each link with its transverse deflection. The
    largest deflection of each mode over all links is 1. Lines are solid along y and dashed along z of the clamped
    frame. Extension, torsion and rotors contribute to the frequencies and are not drawn.

    Args:
        flexible: a link with a beam and modes, or an arm.
        q: a configuration of the arm (nq).
        links: the flexible links of the arm by name; an arm that was pickled or copied needs them.
        count: number of modes; by default all modes of a link, three of an arm.
        natural: whether to draw the eigenmodes of a link.

    Returns:
        An array of Axes.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if q or links are missing or do not fit the arm, or the link has no modes.
        UnknownNameError: if the names of links are not those of the arm.
        UnsupportedError: if a link is made of nodes, between which shapes are unknown.
    """
    natural = flag("mode_shapes: natural", natural)
    if isinstance(flexible, FlexibleLink):
        if q is not None or links is not None:
            raise ArgumentError("mode_shapes: q and links go with an arm, not with a link; leave them out")
        return _of_link(flexible, count, natural)
    require_flexible_arm("mode_shapes", flexible, "FlexibleLink or FlexibleArm")
    if natural:
        raise ArgumentError("mode_shapes: modes of an arm are natural ones; natural= goes with a link, leave it out")
    if q is None:
        raise ArgumentError("mode_shapes: an arm vibrates about a configuration; give q")
    return _of_arm(flexible, q, links, 3 if count is None else count)


def _of_link(link: FlexibleLink, count: int | None, natural: bool) -> Any:
    inertia = link.inertia()
    families = _families("mode_shapes", link)
    eta = np.linspace(0, link.length, _POINTS)
    if natural:
        omega, shapes = eigenmodes(inertia)
        names = [f"mode {j}" for j in range(1, len(omega) + 1)]
    else:
        mass, shapes = modal_mass(inertia).diagonal(), np.eye(inertia.modes)
        omega = np.sqrt(inertia.stiffness.diagonal() / np.where(mass > 0, mass, np.nan))
        assumed = [name for family in families.values() for name in family.names]
        names = [f"{short}, {name}" for short, name in zip(link.mode_names, assumed, strict=True)]
    shapes = shapes.T[: None if count is None else integer("mode_shapes: count", count, 1)]
    axes = panels(len(families), 1, (6.4, 0.4 + 2.1 * len(families)), sharex=True).ravel()
    lines = _along(families, eta, link.length)
    largest = np.array([max(np.abs(shape @ lines[name]).max() for name in lines) for shape in shapes])
    for ax, (name, line) in zip(axes, lines.items(), strict=True):
        for k, shape in enumerate(shapes):
            curve = shape @ line
            if np.abs(curve).max() > _NONE * largest[k]:
                scaled = curve / np.abs(curve).max()
                upright = -scaled if scaled[-1] < -1e-6 else scaled
                ax.plot(eta, upright, label=_frequency(names[k], omega[k]), **line_style(k))
        label(ax, "abscissa [m]" if ax is axes[-1] else "", "shape, largest 1", _NAMES[name])
        legend(ax)
    return axes


def _of_arm(arm: Arm, q: npt.ArrayLike, links: Mapping[str, FlexibleLink] | None, count: int) -> Any:
    beams = arm.flexibility.beams
    if not beams:
        raise ArgumentError(
            f"mode_shapes: {arm.tree.name} has no links in assumed modes; give an arm with FlexibleLinks"
        )
    omega, shapes = arm.natural_modes(arm.configuration("mode_shapes: q", q))
    shown = min(integer("mode_shapes: count", count, 1), len(omega))
    etas = {name: np.linspace(0, beam.length, _POINTS) for name, beam in beams.items()}
    curves: dict[str, dict[str, Array]] = {}
    for name, beam in beams.items():
        families = _families(f"link {name!r}", placed_link(arm, name, links))
        own_part = shapes[arm.modes_of(name), :shown].T
        lines = _along(families, etas[name], beam.length)
        curves[name] = {key[-1]: own_part @ line for key, line in lines.items() if key.startswith("bending")}
    every = np.hstack(
        [lines for by_direction in curves.values() for lines in by_direction.values()] or [np.zeros((shown, 1))]
    )
    largest = every[np.arange(shown), np.abs(every).argmax(axis=1)]
    axes = panels(len(beams), 1, (6.4, 0.4 + 2.1 * len(beams))).ravel()
    for ax, (name, by_direction) in zip(axes, curves.items(), strict=True):
        for direction, of_modes in by_direction.items():
            for k, curve in enumerate(of_modes):
                style = line_style(k) | {"linestyle": "-" if direction == "y" else "--"}
                text = _frequency(f"mode {k + 1}", omega[k]) if direction == next(iter(by_direction)) else None
                ax.plot(etas[name], curve / (largest[k] or 1.0), label=text, **style)
        label(ax, "abscissa [m]" if ax is axes[-1] else "", "deflection, largest 1", plain(name))
    held = "motors held" if arm.flexible_joints else "joints locked"
    both = any(len(by_direction) > 1 for by_direction in curves.values())
    labelled = next((ax for ax in axes if ax.lines), axes[0])
    shared_legend(labelled, f"{held}, solid y, dashed z" if both else held)
    return axes


def _families(context: str, link: BeamLink) -> dict[str, ModeSet]:
    if isinstance(link.beam, Nodes):
        raise UnsupportedError(f"{context}: Nodes have no shapes between them; give a link with a Beam")
    return {name: link.families[name] for name in DIRECTIONS if name in link.families}


def _along(families: Mapping[str, ModeSet], eta: Array, length: float) -> dict[str, Array]:
    """Values by direction: those of all modes of the link (n × m); those of other directions are zero."""
    values, first, n = {}, 0, sum(map(len, families.values()))
    for name, modes in families.items():
        lines = np.zeros((n, len(eta)))
        lines[first : first + len(modes)] = modes.value(eta, length)
        values[name], first = lines, first + len(modes)
    return values


def _frequency(name: str, omega: float) -> str:
    return f"{name}: {omega / (2 * np.pi):.4g} Hz" if np.isfinite(omega) else name

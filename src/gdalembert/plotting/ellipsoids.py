"""Force and velocity ellipsoids at a frame of the robot, for joint torques and joint rates of unit norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.frames import check_reference, find_frame
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, shown
from gdalembert.model.configuration import checked_configuration
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.model.tree import Tree
from gdalembert.plotting.style import BLUE, GREY, INK, LEGEND, SMALL, axes, label, names_of, plain
from gdalembert.spatial.arguments import number, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SINGULAR = 1e-9
"""Ratio of the shortest to the longest axis of the velocity ellipsoid; below it J is rank-deficient."""
_SIZE = 0.35
"""Ratio of the longest axis in the picture to the extent of the robot."""


@interruptible
def force_ellipsoid(
    model: pin.Model | Tree,
    frame: str | int,
    q: npt.ArrayLike,
    reference: pin.ReferenceFrame,
    *,
    plane: str | None = None,
    limits: npt.ArrayLike | None = None,
    scale: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The forces f at a frame that joint torques Jᵀ f of at most unit norm balance: fᵀ J Jᵀ f ≤ 1 (Niku 4.5).

    J is the linear half of the Jacobian: the moment is zero. In a plane: the forces that lie in it. The robot is drawn
    too.

    Args:
        model: any ``pin.Model``, or a tree.
        frame: name, or index in ``model.frames``.
        q: the configuration (nq).
        reference: the axes of the forces and of the picture. ``pin.LOCAL``: of the frame; ``pin.LOCAL_WORLD_ALIGNED``:
            of the universe; ``pin.WORLD``: of the universe, for forces that act at its origin.
        plane: two axes, as ``"xy"``; ``None``: all three, on 3-D Axes.
        limits: the largest torque of each joint [N m or N], as ``model.effortLimit``; then torques are relative to
            them, Σ (tau_i / limit_i)² ≤ 1.
        scale: force that one metre of the picture represents [N/m]; by default a round number.
        ax: the Axes to draw on; 3-D without a plane.

    Raises:
        ArgumentTypeError, UnknownNameError: as for :class:`~gdalembert.dynamics.kinematics.Kinematics`.
        ArgumentError: if an argument cannot be used, no joint moves the frame, or J is rank-deficient at q, so that
            some forces need no torque.
    """
    return _draw(_FORCE, model, frame, q, reference, plane, limits, scale, ax)


@interruptible
def velocity_ellipsoid(
    model: pin.Model | Tree,
    frame: str | int,
    q: npt.ArrayLike,
    reference: pin.ReferenceFrame,
    *,
    plane: str | None = None,
    limits: npt.ArrayLike | None = None,
    scale: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The velocities J v of a frame for joint rates of at most unit norm; in a plane, their projection.

    Arguments are those of :func:`force_ellipsoid`; limits are those of the rates [rad/s or m/s], as
    ``model.velocityLimit``, and the scale is in (m/s)/m. If J is rank-deficient, the ellipsoid is flat.
    """
    return _draw(_VELOCITY, model, frame, q, reference, plane, limits, scale, ax)


class _Kind(NamedTuple):
    """Words and units of one of the two ellipsoids; ``inverse``: whether its semi-axes are inverse singular values."""

    function: str
    text: str
    unit: str
    inverse: bool


_FORCE = _Kind("force_ellipsoid", "forces held by torques", "N", True)
_VELOCITY = _Kind("velocity_ellipsoid", "velocities by joint rates", "m/s", False)


def _draw(
    kind: _Kind,
    model: pin.Model | Tree,
    frame: str | int,
    q: npt.ArrayLike,
    reference: pin.ReferenceFrame,
    plane: str | None,
    limits: npt.ArrayLike | None,
    scale: float | None,
    ax: Axes | None,
) -> Axes:
    """The ellipsoid in the axes of the picture, and the robot."""
    function, unit = kind.function, kind.unit
    check_reference(reference)
    kinematics = Kinematics(model)
    if plane is not None and not (
        isinstance(plane, str) and len(plane) == 2 and len(set(plane)) == 2 and set(plane) <= set("xyz")
    ):
        raise ArgumentError(f"{function}: plane={shown(plane)}; give two axes, as 'xy', or None for all three")
    names, q = names_of(model), checked_configuration(f"{function}: q", q, kinematics.tree)
    jacobian = kinematics.frame_jacobian(frame, reference)(q).full()
    semi_axes = _semi_axes(kind, jacobian, names.v, plane or "xyz", limits)
    centre, segments, labels = _robot(kinematics, frame, q, reference, plane or "xyz")
    size = np.linalg.norm(semi_axes, axis=0)
    if scale is None:
        reach = float(np.linalg.norm(np.ptp(np.vstack(segments), axis=0))) or 1.0
        least = size.max() / (_SIZE * reach)  # rounded up to 1, 2 or 5 times a power of ten
        power = 10.0 ** np.floor(np.log10(least))
        scale = float(next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - ROUND_OFF)))
    scale = number(f"{function}: scale", scale, f"{unit}/m")
    solid = plane is None
    ax = axes(function, ax, (6.4, 4.8) if solid else (6.4, 4.2), "3d" if solid else None)
    if solid != hasattr(ax, "get_zlim"):
        wanted = "3-D Axes (projection='3d')" if solid else "plane Axes"
        raise ArgumentError(f"{function}: ax must be {wanted} here; give such, or {'a plane' if solid else 'no plane'}")
    for k, segment in enumerate(segments):
        ax.plot(*segment.T, "-o", color=GREY, linewidth=2, markersize=3, alpha=0.7, label="robot" if k == 0 else None)
    units = ", ".join(dict.fromkeys(names.effort_units if kind.inverse else names.v_units))
    text = f"{kind.text} {f'of norm 1 [{units}]' if limits is None else 'over their limits, of norm 1'}"
    (_draw_solid if solid else _draw_outline)(ax, centre, semi_axes / scale, labels, text)
    listed = ", ".join(f"{x:.3g}" for x in sorted(size, reverse=True))
    title = f"semi-axes {listed} {unit}; 0.1 m of the picture: {0.1 * scale:.3g} {unit}"
    key = ax.legend(title=title, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, **LEGEND)
    key.get_title().set_color(INK)
    return ax


def _semi_axes(kind: _Kind, jacobian: Array, joints: Sequence[str], chosen: str, limits: npt.ArrayLike | None) -> Array:
    """A column each, in the chosen axes."""
    jacobian = jacobian[["xyz".index(axis) for axis in chosen]]
    if limits is not None:
        bounds = vector(f"{kind.function}: limits", limits, len(joints))
        if not np.all(bounds > 0):
            worst = int(bounds.argmin())
            raise ArgumentError(
                f"{kind.function}: limits: {bounds[worst]:g} of {joints[worst]!r}; give positive numbers"
            )
        jacobian = jacobian / bounds if kind.inverse else jacobian * bounds
    directions, sizes, _ = np.linalg.svd(jacobian)
    sizes = np.append(sizes, np.zeros(len(chosen) - len(sizes)))
    if sizes[0] == 0:
        raise ArgumentError(f"{kind.function}: at q no joint moves the frame in {chosen}; give another frame or plane")
    if not kind.inverse:
        return np.asarray(directions * sizes)
    if sizes[-1] <= _SINGULAR * sizes[0]:
        along = ", ".join(f"{x:g}" for x in np.round(directions[:, -1], 3) + 0.0)
        raise ArgumentError(
            f"{kind.function}: at q forces along ({along}) in {chosen} need no torque, so that the ellipsoid has no "
            "end; give another q, or a plane without that direction"
        )
    return np.asarray(directions / sizes)


def _robot(
    kinematics: Kinematics, frame: str | int, q: Array, reference: pin.ReferenceFrame, chosen: str
) -> tuple[Array, list[Array], list[str]]:
    """Centre of the ellipsoid, segments between the origins of parent and child joints, labels."""
    tree = kinematics.tree
    drawn_frame, frame_to_universe = tree.frames[find_frame(tree, frame)], kinematics.frame_placement(frame)(q).full()
    centre, axis = frame_to_universe[:3, 3], ""
    origins = [ca.DM(p).full().ravel() for _, p in tree.placements(ca.DM(q))]
    ends = [*zip((joint.parent for joint in tree.joints), origins, strict=True), (drawn_frame.joint, centre)]
    segments = [np.array([origins[parent] if parent >= 0 else np.zeros(3), end]) for parent, end in ends]
    if reference == pin.LOCAL:
        segments = [(segment - centre) @ frame_to_universe[:3, :3] for segment in segments]
        axis = f" of {plain(drawn_frame.name)}"
    if reference != pin.LOCAL_WORLD_ALIGNED:
        centre = np.zeros(3)
    columns = ["xyz".index(axis) for axis in chosen]
    return centre[columns], [segment[:, columns] for segment in segments], [f"{x}{axis} [m]" for x in chosen]


def _draw_solid(ax: Any, centre: Array, semi_axes: Array, labels: list[str], text: str) -> None:
    u, w = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, np.pi, 19))
    sphere = np.stack([np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w)])
    surface = centre[:, None, None] + np.einsum("ij,jkl->ikl", semi_axes, sphere)
    ax.plot_surface(*surface, color=BLUE, alpha=0.25, linewidth=0)
    ax.plot_wireframe(*surface, color=BLUE, linewidth=0.4, rstride=3, cstride=3)
    ax.plot([], [], [], color=BLUE, alpha=0.4, linewidth=6, label=text)
    for set_label, name in zip((ax.set_xlabel, ax.set_ylabel, ax.set_zlabel), labels, strict=True):
        set_label(name, fontsize=SMALL + 1, color=INK)
    ax.tick_params(labelsize=SMALL - 1, labelcolor=INK)
    ax.set_aspect("equal")


def _draw_outline(ax: Any, centre: Array, semi_axes: Array, labels: list[str], text: str) -> None:
    angle = np.linspace(0, 2 * np.pi, 181)
    outline = centre[:, None] + semi_axes @ np.array([np.cos(angle), np.sin(angle)])
    ax.fill(*outline, color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(*outline, color=BLUE, linewidth=1.6, label=text)
    for semi_axis, linestyle in zip(semi_axes.T, ("-", "--"), strict=True):
        ax.plot(*np.array([centre - semi_axis, centre + semi_axis]).T, color=BLUE, linewidth=0.8, linestyle=linestyle)
    label(ax, *labels)
    ax.set_aspect("equal", adjustable="datalim")

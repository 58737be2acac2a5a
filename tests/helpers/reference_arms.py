"""References of flexible robots from their mass points alone: energies, and Lagrange's equations by CasADi.

Nothing is shared with the package but the numbers of the links: points are placed by
W (r + Σ f_j φ_j − ½ fᵀ s f e_x) with rotations written out here, and everything else is differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.flexible.station import BeamStation
from gdalembert.model.joints import Prismatic, Revolute
from gdalembert.spatial.arrays import Array
from tests.helpers.arms import Arm, LinkModel, Point


def rotation(vector: Any) -> Any:
    """exp([ϑ×]) of ϑ ≠ 0, as Rodrigues wrote it."""
    t = ca.norm_2(vector)
    k = ca.skew(vector / t)
    return ca.DM.eye(3) + ca.sin(t) * k + (1 - ca.cos(t)) * k @ k


def frame(r: Any, p: Any) -> Any:
    return ca.vertcat(ca.horzcat(r, p), ca.DM([[0, 0, 0, 1]]))


def joint_frame(link: LinkModel, x: Any) -> Any:
    axis = ca.DM(link.type.axis)
    if isinstance(link.type, Prismatic):
        return frame(ca.DM.eye(3), axis * x)
    return frame(rotation(axis * x), ca.DM.zeros(3))


def shortened(f: Any, s: Array) -> Any:
    """−½ (fᵀ s f) e_x."""
    return ca.vertcat(-ca.dot(f, ca.DM(s) @ f) / 2, 0, 0) if f.numel() else ca.DM.zeros(3)


def section_frame(station: BeamStation, f: Any, exact: bool) -> Any:
    if f.numel() == 0:
        return frame(ca.DM.eye(3), ca.DM(station.position))
    theta = ca.DM(station.rotation) @ f
    p = ca.DM(station.position) + ca.DM(station.translation) @ f + shortened(f, station.shortening)
    if not station.rotation.any():
        return frame(ca.DM.eye(3), p)
    return frame(rotation(theta) if exact else ca.DM.eye(3) + ca.skew(theta), p)


@dataclass(frozen=True)
class Placed:
    """A mass point in space."""

    mass: float
    position: Any  # W (r + Σ f φ − ½ fᵀ s f e_x)


def place(arm: Arm, x: Any, exact: bool) -> list[Placed]:
    """All mass points at x (nv, an angle for every joint)."""
    sections: list[list[Any]] = []
    placed: list[Placed] = []
    for link, points in zip(arm.links, arm.points, strict=True):
        below = ca.DM.eye(4) if link.parent < 0 else sections[link.parent][link.parent_station]
        w = below @ ca.DM(link.placement) @ joint_frame(link, x[link.idx_v]) @ ca.DM(link.clamped)
        f = x[link.mode_columns.start : link.mode_columns.stop]
        on_link = [w @ section_frame(station, f, exact) for station in link.stations]
        sections.append(on_link)
        placed += [placed_point(p, w if p.station is None else on_link[p.station], f) for p in points]
    return placed


def placed_point(point: Point, w: Any, f: Any) -> Placed:
    h = ca.DM(point.position) + shortened(f, point.shortening)
    if f.numel():
        h = h + ca.DM(point.displacement) @ f
    return Placed(point.mass, (w @ ca.vertcat(h, 1))[:3])


@dataclass(frozen=True)
class Lagrange:
    """M, C(q, q̇) and G of (x, v) from L(x, v), and the kinetic energy."""

    mass: ca.Function
    coriolis: ca.Function
    gravity: ca.Function
    energy: ca.Function

    def evaluated(self, x: Array, v: Array) -> tuple[Array, Array, Array]:
        return self.mass(x).full(), self.coriolis(x, v).full().ravel(), self.gravity(x).full().ravel()


def lagrange(arm: Arm, *, exact: bool) -> Lagrange:
    """Lagrange's equations of the mass points."""
    x, v = ca.SX.sym("x", arm.nv), ca.SX.sym("v", arm.nv)
    kinetic: Any = 0
    potential: Any = 0
    gravity = ca.DM(arm.gravity)
    for p in place(arm, x, exact):
        kinetic += p.mass * ca.sumsqr(ca.jtimes(p.position, x, v)) / 2
        potential -= p.mass * ca.dot(gravity, p.position)
    momentum = ca.gradient(kinetic, v)
    coriolis = ca.jtimes(momentum, x, v) - ca.gradient(kinetic, x)
    return Lagrange(
        ca.Function("M", [x], [ca.densify(ca.jacobian(momentum, v))]),
        ca.Function("C", [x, v], [ca.densify(coriolis)]),
        ca.Function("G", [x], [ca.densify(ca.gradient(potential, x))]),
        ca.Function("K", [x, v], [kinetic]),
    )


def rigid_model(arm: Arm) -> tuple[pin.Model, Array]:
    """The robot with links that do not deform, and where each of the model's velocities stands in the robot's v."""
    model = pin.Model()
    model.gravity = pin.Motion(arm.gravity, np.zeros(3))
    ids: list[int] = []
    for link in arm.links:
        below, parent = np.eye(4), 0
        if link.parent >= 0:
            carrier = arm.links[link.parent]
            below = carrier.clamped @ undeformed(carrier.stations[link.parent_station])
            parent = ids[link.parent]
        turns = isinstance(link.type, Revolute)  # a continuous joint as well: by its angle
        of_kind = pin.JointModelRevoluteUnaligned if turns else pin.JointModelPrismaticUnaligned
        joint = of_kind(np.array(link.type.axis))
        ids.append(model.addJoint(parent, joint, pin.SE3(below @ link.placement), link.name))
        bodies = link.inertia.rigid + sum(undeformed(s) @ s.body @ undeformed(s).T for s in link.stations)
        model.appendBodyToJoint(ids[-1], body_of(link.clamped @ bodies @ link.clamped.T), pin.SE3.Identity())
    where = np.zeros(model.nv, dtype=int)
    for joint, link in zip(ids, arm.links, strict=True):
        where[model.joints[joint].idx_v] = link.idx_v
    return model, where


def undeformed(station: BeamStation) -> Array:
    e = np.eye(4)
    e[:3, 3] = station.position
    return e


def body_of(pseudo_inertia: Array) -> pin.Inertia:
    mass = pseudo_inertia[3, 3]
    com = pseudo_inertia[:3, 3] / mass
    second = pseudo_inertia[:3, :3] - mass * np.outer(com, com)
    return pin.Inertia(mass, com, np.trace(second) * np.eye(3) - second)

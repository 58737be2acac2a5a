"""Meshes and geometry objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull


def mesh_of(points: np.ndarray, triangles: Sequence[Sequence[int]] | np.ndarray) -> Any:
    """A mesh of coal."""
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(triangles), len(points))
    mesh.addVertices(np.asarray(points, dtype=float).reshape(-1, 3))
    for corners in triangles:
        mesh.addTriangle(*(points[k] for k in corners))
    mesh.endModel()
    return mesh


def hull_of(*clouds: np.ndarray) -> Any:
    """The convex hulls of several clouds of points as one mesh."""
    corners = [cloud[simplex] for cloud in clouds for simplex in ConvexHull(cloud).simplices]
    points = np.vstack(corners)
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(corners), len(points))
    for triangle in corners:
        mesh.addTriangle(*triangle)
    mesh.endModel()
    return mesh


def box_of(centre: Sequence[float], sizes: Sequence[float]) -> np.ndarray:
    """The corners of a box."""
    signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
    return np.asarray(centre) + signs * sizes


def item_of(solid: Any, at: pin.SE3 | None = None, name: str = "part", joint: int = 0) -> pin.GeometryObject:
    """A geometry object."""
    return pin.GeometryObject(name, joint, at or pin.SE3.Identity(), solid)

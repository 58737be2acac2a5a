"""Foreshortening in the reference equations: all shapes as independent modes, and a projection.

The mass of a bent beam shortens in shapes whose coordinates follow from the modes, −½ fᵀ S_b f. Equations of motion of
linear modes hold for all shapes, with independent coordinates g. With q̇_free = Γ q̇ they are projected (d'Alembert):

    M = Γᵀ M_free Γ        V = Γᵀ (V_free + M_free Γ̇ q̇)        G = Γᵀ G_free
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class ForeshorteningProjection:
    """Projection of a robot whose links shorten with their modes to one, ``free``, whose shapes are all modes."""

    tree: Tree
    free: Tree

    @classmethod
    def of(cls, tree: Tree) -> ForeshorteningProjection:
        """Number the shapes anew; joints and links keep their order. Rods are refused."""
        if len(tree.assumed_modes) < len(tree.modal):
            raise UnsupportedError(
                f"{tree.name}: these equations are those of links in assumed modes, and one of its links is a rod; "
                "take FlexibleArm"
            )
        starts: dict[int, tuple[int, int]] = {}
        nq = nv = 0
        for joint in tree.independent_joints:
            starts[joint.idx_v] = nq, nv
            more = 0 if (inertia := modes_of(tree, joint)) is None else inertia.shapes - inertia.modes
            nq, nv = nq + joint.type.nq + more, nv + joint.type.nv + more
        joints = []
        for joint in tree.joints:
            inertia, (idx_q, idx_v) = modes_of(tree, joint), starts[joint.idx_v]
            kind: Any = joint.type
            if inertia is not None:
                more = inertia.shapes - inertia.modes  # its own shortening follows from the modes
                all_shapes = {name: _padded(getattr(kind, name), 0, more) for name in ("translation", "rotation")}
                kind = replace(kind, **all_shapes, shortening=_padded(kind.shortening, more, more), coordinate_names=())
            joints.append(replace(joint, type=kind, idx_q=idx_q, idx_v=idx_v))
        free = []
        for i, inertia in tree.assumed_modes.items():
            n = inertia.shapes
            free.append((i, replace(inertia, shortening=np.zeros((0, n, n)), stiffness=np.zeros((n, n)))))
        return cls(tree, replace(tree, nq=nq, nv=nv, joints=tuple(joints), modal_inertias=tuple(free)))

    def configuration(self, q: Matrix) -> Matrix:
        """q_free."""
        parts = []
        for joint in self.tree.independent_joints:
            coordinates, inertia = joint.configuration(q), modes_of(self.tree, joint)
            parts.append(coordinates if inertia is None else inertia.coordinates(coordinates))
        return ca.vertcat(*parts)

    def jacobian(self, q: Matrix) -> Matrix:
        """Γ."""
        rates, rows = ca.DM.eye(self.tree.nv), []
        for joint in self.tree.independent_joints:
            rate, inertia = rates[joint.columns.start : joint.columns.stop, :], modes_of(self.tree, joint)
            rows.append(rate if inertia is None else inertia.coordinates_jacobian(joint.configuration(q)) @ rate)
        return ca.vertcat(*rows)

    def bias(self, v: Matrix) -> Matrix:
        """Γ̇ q̇."""
        parts = []
        for joint in self.tree.independent_joints:
            inertia = modes_of(self.tree, joint)
            parts.append(ca.DM(joint.type.nv, 1) if inertia is None else inertia.coordinates_bias(joint.velocity(v)))
        return ca.vertcat(*parts)


def _padded(x: Any, rows: int, columns: int) -> Any:
    """Numbers or symbols, with rows and columns of zeros behind them."""
    return ca.diagcat(x, ca.SX(rows, columns)) if isinstance(x, ca.SX) else np.pad(x, ((0, rows), (0, columns)))


def modes_of(tree: Tree, joint: Joint) -> ModalInertia | None:
    """The modal inertia of the link whose modes move a station; ``None`` for any other joint."""
    return tree.assumed_modes.get(joint.parent) if joint.type.is_modal else None

"""Foreshortening in the reference equations: all shapes as independent modes, and a projection.

The mass of a bent beam shortens in shapes whose coordinates follow from the modes, −½ fᵀ S_b f. Equations of motion of
linear modes hold for all shapes, with independent coordinates g. With q̇_free = Γ q̇ they are projected (d'Alembert):

    M = Γᵀ M_free Γ        V = Γᵀ (V_free + M_free Γ̇ q̇)        G = Γᵀ G_free
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert.flexible.link_model import LinkModel, Station
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class ForeshorteningProjection:
    """From a robot whose links shorten with their modes to one whose shapes are all independent.

    Attributes:
        links: the robot, whose modes shorten its links.
        free: the same joints and links; every shape is a mode.
    """

    links: Sequence[LinkModel]
    free: Sequence[LinkModel]

    @classmethod
    def of(cls, links: Sequence[LinkModel]) -> ForeshorteningProjection:
        """For links, parents first."""
        free: list[LinkModel] = []
        first_q, first_v = (sum(getattr(link.type, n) for link in links) for n in ("nq", "nv"))
        for link in links:
            inertia = link.inertia
            free.append(
                replace(
                    link,
                    inertia=_independent(inertia),
                    stations=tuple(_with_all_shapes(station, inertia) for station in link.stations),
                    mode_idx_q=first_q,
                    mode_idx_v=first_v,
                )
            )
            first_q, first_v = first_q + inertia.shapes, first_v + inertia.shapes
        return cls(links, free)

    def configuration(self, q: Matrix) -> Matrix:
        """q_free."""
        parts: dict[int, Matrix] = {}
        for link, free in zip(self.links, self.free, strict=True):
            parts[free.idx_q] = link.joint_configuration(q)
            parts[free.mode_idx_q] = link.inertia.coordinates(link.modal_configuration(q))
        return _stacked(parts)

    def jacobian(self, q: Matrix) -> Matrix:
        """Γ."""
        rates = ca.DM.eye(velocities(self.links))
        rows: dict[int, Matrix] = {}
        for link, free in zip(self.links, self.free, strict=True):
            modes = rates[link.mode_columns.start : link.mode_columns.stop, :]
            rows[free.idx_v] = rates[link.idx_v : link.idx_v + link.type.nv, :]
            rows[free.mode_idx_v] = link.inertia.coordinates_jacobian(link.modal_configuration(q)) @ modes
        return _stacked(rows)

    def bias(self, v: Matrix) -> Matrix:
        """Γ̇ q̇."""
        parts: dict[int, Matrix] = {}
        for link, free in zip(self.links, self.free, strict=True):
            parts[free.idx_v] = ca.DM(link.type.nv, 1)
            parts[free.mode_idx_v] = link.inertia.coordinates_bias(link.modal_velocity(v))
        return _stacked(parts)


def velocities(links: Sequence[LinkModel]) -> int:
    """The number of velocities of joints and modes."""
    return sum(link.type.nv + link.inertia.modes for link in links)


def _stacked(parts: Mapping[int, Matrix]) -> Matrix:
    """Parts below one another, by the index where each starts; links without modes have an empty one."""
    return ca.vertcat(*(parts[start] for start in sorted(parts) if parts[start].numel()))


def _independent(inertia: ModalInertia) -> ModalInertia:
    n = inertia.shapes
    return ModalInertia(inertia.rigid, inertia.first, inertia.second, np.zeros((0, n, n)), np.zeros((n, n)))


def _with_all_shapes(station: Station, inertia: ModalInertia) -> Station:
    """The station; only modes move it, since its own shortening follows from them."""
    more = inertia.shapes - inertia.modes
    return replace(
        station,
        translation=np.pad(station.translation, ((0, 0), (0, more))),
        rotation=np.pad(station.rotation, ((0, 0), (0, more))),
        shortening=np.pad(station.shortening, (0, more)),
    )

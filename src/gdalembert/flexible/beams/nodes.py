"""Links from finite elements or a measurement: nodes with masses, and modes that move them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.flexible.beams.modal_integrals import mass_integrals, modal_mass
from gdalembert.flexible.station import NO_BODY, BeamStation
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array, ByValue, frozen

_ROOT, _RISE = 1e-6, 50.0
"""Relative to the largest motion: the motion that a mode may give a node at the root, and per relative distance of the
first node from the root."""


@dataclass(frozen=True, eq=False)
class Nodes(ByValue):
    """A link of N nodes and n modes, from finite elements or a measurement; in the axes of the clamped frame.

    The modes are those of the link with its root clamped: they neither shift nor turn the origin.

    Attributes:
        masses: m_k (N, kg).
        positions: r_k, undeformed (N × 3, m).
        translations: those of the nodes per unit of each modal coordinate (n × N × 3).
        stiffness: K_f (n × n); or
        frequencies: those of mass-normalised modes (n, rad/s), so that K_f = diag(ω²).
        rotations: small rotation vectors of the nodes (n × N × 3), or of some of them by index, ``{node: n × 3}``;
            needed where anything is attached to the link or a node has a rotary inertia. NaN at the other nodes.
        inertias: rotary inertia tensors lumped at the nodes (N × 3 × 3, kg m²); zero where a node is a mass point.
        shortening: s_jk of the nodes (n × n × N), for foreshortening.

    Raises:
        ArgumentTypeError: if an argument is not numeric.
        ArgumentError: if shapes do not fit, a number is not finite, a mass or inertia is negative, K_f is not
            symmetric and positive definite, modes with ``frequencies`` are not mass-normalised, a mode moves the root,
            or a node has a rotary inertia and no rotations.
    """

    masses: Array
    positions: Array
    translations: Array
    stiffness: Array | None = None
    frequencies: Array | None = None
    rotations: Any = None
    inertias: Array | None = None
    shortening: Array | None = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if (values := getattr(self, name)) is not None and not isinstance(values, Mapping):
                object.__setattr__(self, name, numbers(f"Nodes: {name}", values, finite=name != "rotations"))
        self._check_shapes()
        if self.masses.min() < 0 or self.masses.max() == 0:
            raise ArgumentError(f"Nodes: masses: got {self.masses.min():g}; give masses of at least 0, not all zero")
        if self.inertias is not None and np.linalg.eigvalsh(self.inertias).min() < 0:
            raise ArgumentError("Nodes: inertias: one has a negative principal moment; give symmetric, positive ones")
        self._check_rotations()
        self._check_root()
        if self.shortening is not None:
            off = np.abs(self.shortening - self.shortening.transpose(1, 0, 2))
            j, k, node = (int(i) for i in np.unravel_index(off.argmax(), off.shape))
            if off[j, k, node] > 1e-9 * np.abs(self.shortening).max():
                raise ArgumentError(
                    f"Nodes: shortening: of modes {j + 1}, {k + 1} it differs from that of {k + 1}, {j + 1} by "
                    f"{off[j, k, node]:.3g} m at node {node}; give s_jk = s_kj"
                )
        if (self.stiffness is None) == (self.frequencies is None):
            raise ArgumentError(
                "Nodes: give the stiffness K_f, or the frequencies of mass-normalised modes: one of them"
            )
        self._check_stiffness()

    def _check_shapes(self) -> None:
        for name in ("masses", "positions", "translations"):
            object.__setattr__(self, name, frozen(numbers(f"Nodes: {name}", getattr(self, name))))
        count, n = self.masses.size, len(np.atleast_1d(self.translations))
        if self.translations.ndim != 3:
            raise ArgumentError(
                f"Nodes: translations: got shape {self.translations.shape}; give n × {count} × 3, of each mode and "
                "each node"
            )
        if isinstance(self.rotations, Mapping):
            rotations = np.full((n, count, 3), np.nan)
            for node, node_rotations in self.rotations.items():
                if not isinstance(node, int) or not 0 <= node < count:
                    raise ArgumentError(f"Nodes: rotations: got those of node {node!r}; give nodes 0 … {count - 1}")
                checked = numbers(f"Nodes: rotations: node {node}", node_rotations)
                if checked.shape != (n, 3):
                    raise ArgumentError(f"Nodes: rotations: node {node}: got shape {checked.shape}; give {n} × 3")
                rotations[:, node] = checked
            object.__setattr__(self, "rotations", frozen(rotations))
        for name, shape in {
            "masses": (count,),
            "positions": (count, 3),
            "translations": (n, count, 3),
            "stiffness": (n, n),
            "frequencies": (n,),
            "rotations": (n, count, 3),
            "inertias": (count, 3, 3),
            "shortening": (n, n, count),
        }.items():
            if (values := getattr(self, name)) is not None and values.shape != shape:
                wanted = " × ".join(map(str, shape))
                raise ArgumentError(f"Nodes: {name}: got shape {values.shape} with {count} masses; give {wanted}")
        if not count or not n:
            raise ArgumentError(f"Nodes: got {count} nodes and {n} modes; give at least one of each")

    def _check_rotations(self) -> None:
        if self.rotations is not None and np.isinf(self.rotations).any():
            raise ArgumentError("Nodes: rotations: one is infinite; give finite numbers, or NaN where they are unknown")
        turning = np.zeros(self.masses.size) if self.inertias is None else np.abs(self.inertias).max(axis=(1, 2))
        for node in np.flatnonzero(turning):
            if not self.turns(int(node)):
                raise ArgumentError(
                    f"Nodes: rotations: none are given of node {node}, which has a rotary inertia; give those of the "
                    f"modes, as rotations={{{node}: …}}, or no inertia"
                )

    def _check_stiffness(self) -> None:
        if self.stiffness is not None:
            off = np.abs(self.stiffness - self.stiffness.T).max() / max(np.abs(self.stiffness).max(), 1e-300)
            least = np.linalg.eigvalsh(self.stiffness).min()
            if off > 1e-9 or least <= 0:
                raise ArgumentError(
                    f"Nodes: stiffness: its least eigenvalue is {least:.3g}, and it differs from its transpose by "
                    f"{off:.1e}; give a symmetric, positive definite K_f"
                )
            return
        mass = modal_mass(self.inertia)
        worst = np.abs(mass - np.eye(self.modes))
        j, k = (int(i) for i in np.unravel_index(worst.argmax(), worst.shape))
        if worst[j, k] > 1e-6:
            raise ArgumentError(
                f"Nodes: with frequencies, modes must be mass-normalised, but the modal mass of {j + 1}, {k + 1} is "
                f"{mass[j, k]:.6g}, not {int(j == k)}; scale them, or give the stiffness"
            )

    def _check_root(self) -> None:
        """Refuse modes that move the clamped frame, judged by the node next to it: shapes rise from zero there."""
        first, size = self.nearest(np.zeros(3)), np.linalg.norm(self.positions, axis=1)
        near = max(_ROOT, _RISE * size[first] / size.max()) if size.max() > 0 else _ROOT
        turns = np.zeros_like(self.translations) if self.rotations is None else np.nan_to_num(self.rotations)
        still = ~(self.translations.any(axis=(1, 2)) | turns.any(axis=(1, 2)))
        if still.any():
            raise ArgumentError(f"Nodes: translations: mode {still.argmax() + 1} moves no node; leave it out")
        for quantity, unit, motion in (("translations", "m", self.translations), ("rotations", "rad", turns)):
            for k, shape in enumerate(np.linalg.norm(motion, axis=2)):
                if shape[first] > near * shape.max():
                    raise ArgumentError(
                        f"Nodes: {quantity}: mode {k + 1} moves node {first} by {shape[first]:.3g} {unit}, where the "
                        f"link is clamped, {size[first]:.3g} m from the origin; give modes of the link with its root "
                        "held"
                    )

    def turns(self, node: int) -> bool:
        """True if the rotations of a node are known."""
        return self.rotations is not None and not bool(np.isnan(self.rotations[:, node]).any())

    @property
    def modes(self) -> int:
        """n."""
        return len(self.translations)

    @property
    def tip(self) -> int:
        """The node that lies farthest along x."""
        return int(self.positions[:, 0].argmax())

    @property
    def inertia(self) -> ModalInertia:
        """The integrals, as sums over the nodes."""
        n, count = self.translations.shape[:2]
        rotations = np.zeros((n, count, 3)) if self.rotations is None else np.nan_to_num(self.rotations)
        tensors = np.zeros((count, 3, 3)) if self.inertias is None else self.inertias
        moments = np.trace(tensors, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - tensors
        s = np.zeros((n, n, count)) if self.shortening is None else self.shortening
        sums, _ = mass_integrals(self.masses, self.positions, moments, self.translations, rotations, s)
        stiffness = np.asarray(self.stiffness) if self.frequencies is None else np.diag(self.frequencies**2)
        return ModalInertia(*map(frozen, (*sums, stiffness)))

    def nearest(self, position: Array) -> int:
        """The node that lies nearest to a point."""
        return int(np.sum((self.positions - position) ** 2, axis=1).argmin())

    def station(self, node: int, body: Array | None = None) -> BeamStation:
        """A node, by index, with the pseudo-inertia (4 × 4, in the station's frame) of the bodies attached to it.

        Raises:
            ArgumentError: if there is no such node, or the nodes have no rotations.
        """
        if not 0 <= node < self.masses.size:
            raise ArgumentError(f"station: got node {node}; give 0 … {self.masses.size - 1}")
        if not self.turns(node):
            raise ArgumentError(
                f"station: node {node}: what is attached there turns with it; give its rotations, as "
                f"rotations={{{node}: …}}"
            )
        s = np.zeros((self.modes, self.modes)) if self.shortening is None else self.shortening[:, :, node]
        u, theta = self.translations[:, node], self.rotations[:, node]
        return BeamStation(
            self.positions[node], frozen(u.T), frozen(theta.T), frozen(s), frozen(NO_BODY if body is None else body)
        )

"""Base parameters: combinations of parameters that the torques depend on, by structure and in the data.

All in s = (p − p₀) / size, and in units in which each parameter makes the same torque in random motions, where it says
how far rows are from each other. The torques at random states span what the structure of the robot lets anyone know. A
direction of it is *excited* if the torques of the samples depend on it: by the rank of their regressor, in these units.
Neither the noise of the torques nor nominal values decide that; how well an excited direction is known is told by its
standard deviation.

Base parameters by numbers: Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
Systems 8(4), 1991: columns that depend on those before are dropped. The order of columns is ours: from the base to the
tips, so that what links share goes to the one nearer to the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.base import formula
from gdalembert.identification.sizes import element, quantity
from gdalembert.spatial.arrays import Array

_DEPENDENT = 1e-9
"""Relative singular value below which columns of unit norm are dependent by structure."""
_EXCITED = 1e-5
"""Singular value of an excited direction, where that of a parameter is about 1 in random motions. A URDF that rounds
π/2 to 1.5708 makes directions of 1e-6 that geometry does not have, and no torque sensor resolves them."""
_SPANNED = 1e-2
"""The part of a combination that may lie outside the excited directions: it changes the value by about as much."""
_ZERO = 1e-9
"""Entry of a unit vector, or a coefficient between parameters that make the same torque, that is rounding."""
_ORDER = ("mx", "my", "Ixx", "Ixy", "Ixz", "Iyz", "Izz", "Iyy", "mz", "m")
"""Which parameters of a body give base parameters their names first."""
_INDEPENDENT = (0.1, 1e-3, 1e-6, 1e-9)
"""The part of a row of an orthonormal basis that those before it must leave, in the first pass, in the second, …"""


@dataclass(frozen=True, eq=False)
class Combinations:
    """Base parameters β = C s.

    Attributes:
        matrix: C (k × n_p). Each row has the factor 1 for its own parameter and 0 for those of the others.
        own: the parameter that each row is named after (k): Y s = Y[:, own] β for every Y with rows in this space.
        torques: the root mean square of the torque that each parameter makes in random motions (n_p).
        space: an orthonormal basis (n_p × k) of the rows, in units in which these torques are 1.
        tolerance: the part of a row that may lie outside the space.
    """

    matrix: Array
    own: tuple[int, ...]
    torques: Array
    space: Array
    tolerance: float

    @classmethod
    def of(cls, space: Array, torques: Array, names: tuple[str, ...], tolerance: float) -> Combinations:
        """Those that span a space."""
        own = np.sort(np.array(_independent(space, _ordered(names)), dtype=int))
        matrix = np.linalg.solve(space[own].T, space.T)
        matrix[np.abs(matrix) < _ZERO] = 0.0
        matrix[:, own] = np.eye(len(own))
        unit = np.where(torques > 0, torques, 1.0)
        return cls(matrix * unit / unit[own, None], tuple(own.tolist()), torques, space, tolerance)

    @classmethod
    def of_structure(cls, rows: Array, names: tuple[str, ...]) -> Combinations:
        """All that the rows (… × n_p) of random motions span."""
        torques = np.linalg.norm(rows, axis=0)
        torques[torques < _ZERO * torques.max(initial=0)] = 0.0
        _, values, vt = np.linalg.svd(np.linalg.qr(_over(rows, torques), mode="r"))
        rank = int(np.count_nonzero(values > _DEPENDENT * values.max(initial=0)))
        return cls.of(vt[:rank].T, torques, names, _ZERO)

    def excited(self, rows: Array, names: tuple[str, ...]) -> Combinations:
        """Those of them that other rows (… × n_p) span, in the unit of the rows of random motions.

        These are the same, if the rows span all of them.
        """
        _, values, vt = np.linalg.svd(np.linalg.qr(_over(rows, self.torques) @ self.space, mode="r"))
        rank = int(np.count_nonzero(values > _EXCITED * max(1.0, values.max(initial=0))))
        if rank == len(self.own):
            return self
        return type(self).of(self.space @ vt[:rank].T, self.torques, names, _SPANNED)

    @cached_property
    def inverse(self) -> Array:
        """The least s that has given β (n_p × k)."""
        return np.asarray(np.linalg.pinv(self.matrix))

    def spans(self, rows: Array) -> npt.NDArray[np.bool_]:
        """Which of other combinations of s (… × n_p) follow from these: row = row[own] C."""
        scaled = _over(rows, self.torques)
        rest = np.linalg.norm(scaled - scaled @ self.space @ self.space.T, axis=1)
        without_effect = rows[:, self.torques == 0].any(axis=1)
        return np.asarray((rest <= self.tolerance * np.linalg.norm(scaled, axis=1)) & ~without_effect)

    def beyond(self, other: Combinations) -> Array:
        """Orthonormal columns: changes of s within these combinations that others do not see."""
        basis, _ = np.linalg.qr(self.matrix.T)
        seen = other.matrix @ basis
        return np.asarray(basis @ np.linalg.svd(seen)[2][len(seen) :].T)


def _over(rows: Array, torques: Array) -> Array:
    """Rows in units in which each parameter makes the torque 1; those that make none are left out."""
    return np.divide(rows, torques, out=np.zeros_like(rows), where=torques > 0)


def _ordered(names: tuple[str, ...]) -> list[int]:
    """The parameters of bodies from the base to the tips, then all others."""
    bodies = [k for k, name in enumerate(names) if quantity(name) in _ORDER]
    elements = {element(names[k]): k for k in reversed(bodies)}
    bodies.sort(key=lambda k: (elements[element(names[k])], _ORDER.index(quantity(names[k]))))
    return bodies + [k for k in range(len(names)) if k not in bodies]


def _independent(rows: Array, order: list[int]) -> list[int]:
    """As many rows of an orthonormal basis (n_p × r) as it has columns, none of which depends on the others."""
    basis, found = np.zeros((rows.shape[1], 0)), list[int]()
    for least in _INDEPENDENT:
        for k in order:
            if k in found or len(found) == rows.shape[1]:
                continue
            rest = rows[k]
            for _ in range(2):  # once more, for what rounding leaves
                rest = rest - basis @ (basis.T @ rest)
            if np.linalg.norm(rest) > least:
                basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
                found.append(k)
    return found


def named(row: Array, own: int, names: tuple[str, ...]) -> str:
    """A combination of p in words, as ``"joint2.Izz + joint2.armature - 0.08*joint3.mx"``, its own parameter first."""
    order = [own, *(k for k in range(len(names)) if k != own)]
    return formula(row[order], [names[k] for k in order])

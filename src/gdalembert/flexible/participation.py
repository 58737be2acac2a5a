"""What the natural modes of an arm carry: parts of the inertia of the joints, and of a static deflection (ours)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.model.configuration import checked_configuration
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class Participation:
    """What each of n natural modes carries, all joints locked.

    Attributes:
        frequencies: ω (n), rising [rad/s].
        coordinates: for each mode the coordinate that has most of its elastic energy.
        joints: the names of the r velocities of the joints.
        inertia: the part (n × r) of M_jj that it carries as the joint accelerates, (m_jf ψ)² / M_jj. A mode of none is
            not excited by that joint. What is missing to 1 moves as on a rigid arm.
        frame: its name.
        deflection: the part (n) of the static deflection of the frame under a force there, in the mean of three
            directions. What a mode of none would add is invisible there. The sum is 1.
    """

    frequencies: Array
    coordinates: tuple[str, ...]
    joints: tuple[str, ...]
    inertia: Array
    frame: str
    deflection: Array

    def __str__(self) -> str:
        heads = ("frequency [Hz]", "mostly", *self.joints, self.frame)
        rows = [
            (f"{omega / (2 * np.pi):.4g}", name, *(f"{100 * x:.2f} %" for x in (*inertia, deflection)))
            for omega, name, inertia, deflection in zip(
                self.frequencies, self.coordinates, self.inertia, self.deflection, strict=True
            )
        ]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = ("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in (heads, *rows))
        return "\n".join(lines)


def participation(arm: Dynamics, tree: FlexibleTree, q: npt.ArrayLike, frame: str, p: Values) -> Participation:
    """See :meth:`~gdalembert.FlexibleArm.participation`; ``tree`` is the arm in numbers."""
    configuration = checked_configuration("participation: q", q, tree)
    frequencies, shapes = arm.natural_modes(configuration, joints="locked", p=p)
    m = arm.at(p).mass_matrix(configuration).full()
    joints = range(arm.modes.start)
    jacobian = Kinematics(tree, clean=0).frame_jacobian(frame, pin.LOCAL_WORLD_ALIGNED)(configuration).full()[:3]
    squares = np.sum((jacobian @ shapes / frequencies) ** 2, axis=0)
    most = (shapes * (arm.force_stiffness(configuration, p) @ shapes)).argmax(axis=0)
    return Participation(
        frequencies=frequencies,
        coordinates=tuple(arm.coordinate_names[k] for k in most),
        joints=arm.coordinate_names[: len(joints)],
        inertia=((m[joints] @ shapes) ** 2 / m.diagonal()[joints, None]).T,
        frame=frame,
        deflection=squares / max(float(squares.sum()), np.finfo(float).tiny),
    )

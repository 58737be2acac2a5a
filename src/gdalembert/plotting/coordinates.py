"""Names and units of a robot's coordinates, and motions as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import check_unit_lengths
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from gdalembert.ocp.solution import Solution
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import numbers, table
from gdalembert.spatial.arrays import Array

MotionLike: TypeAlias = Simulation | Solution | Sequence[npt.ArrayLike]
"""What the figures take as a motion."""


@dataclass(frozen=True)
class Names:
    """Names of the entries of q and of v, units of q, and which entries of v are ``linear``."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    q_units: tuple[str, ...]
    linear: tuple[bool, ...]

    @property
    def v_units(self) -> tuple[str, ...]:
        return tuple("m/s" if linear else "rad/s" for linear in self.linear)

    @property
    def effort_units(self) -> tuple[str, ...]:
        return tuple("N" if linear else "N m" for linear in self.linear)


def names_of(robot: pin.Model | Tree | Dynamics) -> Names:
    """The names of the joints; modes and rotors of an arm follow them and are left out."""
    tree = robot.tree if isinstance(robot, Dynamics) else read_tree(robot, dynamics=False)
    first_mode = robot.modes.start if isinstance(robot, Dynamics) else tree.nv
    joints = [joint for joint in tree.independent_joints if joint.idx_v < first_mode]
    q: dict[int, tuple[str, str]] = {}
    v: dict[int, tuple[str, bool]] = {}
    for joint in joints:
        for k, linear in enumerate(joint.type.linear):
            v[joint.idx_v + k] = (_entry(joint.name, k, joint.type.nv), linear)
        for k, unit in enumerate(joint.type.configuration_units):
            q[joint.idx_q + k] = (_entry(joint.name, k, joint.type.nq), unit)
    in_q, in_v = [q[k] for k in sorted(q)], [v[k] for k in sorted(v)]
    return Names(
        tuple(name for name, _ in in_q),
        tuple(name for name, _ in in_v),
        tuple(unit for _, unit in in_q),
        tuple(linear for _, linear in in_v),
    )


def _entry(name: str, k: int, length: int) -> str:
    return name if length == 1 else f"{name}[{k}]"


def with_units(what: str, units: Iterable[str]) -> str:
    """As ``"q [rad, m]"``."""
    return f"{what} [{', '.join(dict.fromkeys(units))}]"


def trajectory(where: str, given: MotionLike, parts: str, tree: Tree) -> list[Array]:
    """The parts ``"tq"`` or ``"tqva"`` of a motion, a row for each time; of a Solution at its stages.

    Raises:
        ArgumentTypeError: if the motion is not a Simulation, a Solution, or as many arrays as parts.
        ArgumentError: if shapes do not fit the robot, or a unit length in q is off.
    """
    if isinstance(given, Simulation):
        arrays = [np.asarray(getattr(given, part)) for part in parts]
    elif isinstance(given, Solution):
        arrays = [np.asarray(getattr(given.stages, part)) for part in parts]
        arrays[0] = arrays[0].ravel()
    else:
        wanted = f"a Simulation, a Solution or ({', '.join(parts)})"
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(parts):
            raise ArgumentTypeError(f"{where}: expected {wanted}, got {_described(given)}")
        arrays = [numbers(f"{where}: {part}", each) for part, each in zip(parts, given, strict=True)]
    widths = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
    if arrays[0].ndim != 1 or not len(arrays[0]):
        raise ArgumentError(f"{where}: t has shape {arrays[0].shape}; give the times (N,) [s]")
    for part, array in zip(parts[1:], arrays[1:], strict=True):
        table(f"{where}: {part} of {tree.name}", array, widths[part], len(arrays[0]))
    if not isinstance(given, Simulation | Solution):
        check_unit_lengths(f"{where}: q", arrays[1], tree)
    return arrays


def _described(given: Any) -> str:
    return f"{len(given)} of them" if isinstance(given, list | tuple) else type(given).__name__

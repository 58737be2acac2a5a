"""The robot of a report, and how it swings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.cli.options import load
from gdalembert.cli.tables import about_rounded_angles, description, rounded_angles
from gdalembert.dynamics.recursive_newton_euler import NewtonEuler
from gdalembert.errors import FileWarning
from gdalembert.model.limits import NO_LIMIT
from gdalembert.model.load_mjcf import is_mjcf
from gdalembert.model.tree import Joint, Tree
from gdalembert.ocp.system.guess import Guess, rest_to_rest
from gdalembert.spatial.arrays import Array

SAMPLES = 201
"""Number of instants of the swing."""
_FARTHEST = 1.0
"""Largest swing of a joint [rad, m]."""
_SHARE = 0.6
"""Largest share of the way to its farther limit."""
_FASTEST = 0.5
"""The largest velocity of the swing, relative to the limit."""
_PEAK = 1.875
"""Peak of the rate of 10 x³ − 15 x⁴ + 6 x⁵ over [0, 1]."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A robot and what its sections share.

    Attributes:
        source: the robot's name or file, as it was given. ``model``: the robot. ``remarks``: what its loader says of
            it.
        line: the line of Python that loads it. ``clean``: tolerance of the cleaning.
    """

    source: str
    model: pin.Model
    remarks: tuple[str, ...]
    line: str
    clean: float
    plain: bool = False
    package_dirs: Sequence[str] = field(default=())
    with_gaps: bool = True

    @cached_property
    def dynamics(self) -> NewtonEuler:
        """Newton–Euler, whose graphs are the smallest."""
        return NewtonEuler(self.model, clean=self.clean)

    @property
    def tree(self) -> Tree:
        """The tree of the model as it is."""
        return self.dynamics.nominal

    @cached_property
    def description(self) -> dict[str, Any]:
        """The description that ``gdalembert info`` prints."""
        return description(self.model, self.clean)

    @property
    def driven(self) -> list[tuple[Joint, int]]:
        """The joints with a motor, and the entries of v that are theirs: not those of a floating base."""
        driven = (joint for joint in self.tree.independent_joints if not _floats(joint))
        return [(joint, column) for joint in driven for column in joint.columns]

    @property
    def has_floating_base(self) -> bool:
        """True if a joint moves a link freely, without a motor."""
        return any(_floats(joint) for joint in self.tree.joints)

    def range_of(self, joint: Joint, column: int) -> tuple[float, float]:
        """The limits of a coordinate [rad, m]; half a turn or 1 m each way where it has none."""
        most = 1.0 if joint.type.linear[column - joint.idx_v] else np.pi
        at = entry_of_q(joint, column)
        if at is None:
            return -most, most
        low, high = float(self.model.lowerPositionLimit[at]), float(self.model.upperPositionLimit[at])
        return (low if abs(low) < NO_LIMIT else -most), (high if abs(high) < NO_LIMIT else most)

    @cached_property
    def home(self) -> Array:
        """The neutral configuration, or the nearest one within the limits (nq)."""
        q: Array = pin.neutral(self.model)
        for joint, column in self.driven:
            if (at := entry_of_q(joint, column)) is not None:
                low, high = sorted(self.range_of(joint, column))
                q[at] = min(max(q[at], low), high)
        return q

    def way_to_limits(self, joint: Joint, column: int) -> tuple[float, float]:
        """The ways from home to the lower and the upper limit of a coordinate [rad, m]."""
        at = entry_of_q(joint, column)
        low, high = np.sort(self.range_of(joint, column)) - (0.0 if at is None else self.home[at])
        return float(low), float(high)

    @cached_property
    def swing(self) -> Guess:
        """All joints move towards their farther limits, as fast as half of the limits of velocity allow."""
        way, duration = np.zeros(self.tree.nv), 1.0
        for joint, column in self.driven:
            low, high = self.way_to_limits(joint, column)
            way[column] = np.clip(_SHARE * max(high, low, key=abs), -_FARTHEST, _FARTHEST)
            limit = float(self.model.velocityLimit[column])
            if 0 < limit < NO_LIMIT:
                duration = max(duration, _PEAK * abs(way[column]) / (_FASTEST * limit))
        end = pin.integrate(self.model, self.home, way)
        return rest_to_rest(self.dynamics, self.home, end, duration, SAMPLES)


def _floats(joint: Joint) -> bool:
    return joint.type.nv > 1 and any(joint.type.linear)


def entry_of_q(joint: Joint, column: int) -> int | None:
    """The entry of q whose rate is entry ``column`` of v; ``None`` in quaternions and pairs of cosine and sine."""
    return joint.idx_q + column - joint.idx_v if joint.type.nq == joint.type.nv else None


def read(arguments: Any) -> Subject:
    """The robot of the command line, with the warnings of its loader."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileWarning)
        model = load(arguments.robot, arguments)
    remarks = tuple(str(warning.message) for warning in caught if issubclass(warning.category, FileWarning))
    if about := about_rounded_angles(rounded_angles(arguments.robot, arguments)):
        remarks = (*remarks, about)
    robot = repr(str(Path(arguments.robot).resolve()) if Path(arguments.robot).is_file() else arguments.robot)
    options = ", root_joint=pin.JointModelFreeFlyer()" if arguments.free_flyer else ""
    options += ", mimic=False" if arguments.no_mimic else ""
    options += f", round_angles={arguments.round_angles!r}" if arguments.round_angles else ""
    loader = "load_mjcf" if is_mjcf(arguments.robot) else "load_urdf"
    line = f"model = gd.{loader}({robot}{options})"
    folders = tuple(arguments.package_dir)
    return Subject(
        arguments.robot, model, remarks, line, arguments.clean, arguments.plain, folders, not arguments.no_gaps
    )

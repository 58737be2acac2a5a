"""Sensors of efforts: torques of joints, or currents of actuators with their drive gains.

tau = B K i with the currents i of the actuators and their gains K, so that currents measure, row by row,

    i = K⁻¹ B⁺ tau(q, v, a),        0 = Nᵀ tau(q, v, a)

where N spans what nothing drives (Nᵀ B = 0): the six rows of a base that floats. The noise of currents is that of i,
whatever K is: least squares of K i − B⁺ tau take it for that of a regressor, and make gains too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array, frozen

_NOTHING = 1e-9
"""An entry of B, or a singular value relative to the largest, that is 0."""
Gains: TypeAlias = float | Mapping[str, float | tuple[float, float]]
"""One gain of all actuators, or a gain, or a gain and its standard deviation, by the name of an actuator [N m/A]."""


@dataclass(frozen=True, eq=False)
class Sensors:
    """Sensors, one for each effort that is measured in a sample.

    Attributes:
        kind: ``"tau"`` or ``"current"``, as an :class:`~gdalembert.identification.Experiment` calls it.
        names: names of the rows (m): joints, or actuators and then what nothing drives.
        width: number of rows that are measured; the others are 0.
        matrix: factor of tau (m × nv) that gives what is measured at the gain 1.
        speeds: factor of v (m × nv) that gives the speeds of the axes whose efforts these are.
        known: the gains that are given, and 1 of rows without one; nan where one is to be estimated (m).
        expected, deviations: gains that are to be estimated and were given (m), and how well; inf where none is.
        is_driven: which rows some actuator drives (m); the others are 0.
    """

    kind: Literal["tau", "current"]
    names: tuple[str, ...]
    width: int
    matrix: Array
    speeds: Array
    known: Array
    expected: Array
    deviations: Array
    is_driven: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, dyn: Dynamics, kind: Literal["tau", "current"], gains: Gains | None) -> Sensors:
        """Sensors of joints, or of the actuators of a robot."""
        nv = dyn.nominal.nv
        if kind == "tau":
            if gains is not None:
                raise ArgumentError("fit: gains are those of currents; give current= in place of tau, or drop gains")
            ones = np.ones(nv)
            b = getattr(dyn.actuators, "b", np.eye(nv))
            is_driven = np.abs(b).max(axis=1) > _NOTHING
            names, none = tuple(dyn.coordinate_names), np.full(nv, np.inf)
            return cls(kind, names, nv, np.eye(nv), np.eye(nv), ones, ones, none, is_driven)
        b = np.array(dyn.actuators.matrix("fit: current"))
        nu = b.shape[1]
        if np.linalg.matrix_rank(b) < nu:
            raise UnsupportedError(
                f"fit: current: the {nu} actuators of {dyn.tree.name} drive {np.linalg.matrix_rank(b)} directions, so "
                "that its motion does not tell their efforts one by one; give tau"
            )
        names = tuple(dyn.actuator_names)
        known, expected, deviations = _given(gains, names)
        free, free_names = _undriven(b, dyn.coordinate_names)
        rest = np.ones(len(free))
        return cls(
            kind,
            (*names, *free_names),
            nu,
            # Not B⁻¹: fewer actuators than velocities leave rows that nothing drives, and these are data as well.
            np.vstack([np.linalg.pinv(b), free]),
            np.vstack([b.T, free]),
            frozen(np.concatenate([known, rest])),
            frozen(np.concatenate([expected, rest])),
            frozen(np.concatenate([deviations, np.inf * rest])),
            np.arange(nv) < nu,
        )

    @property
    def unknown(self) -> tuple[int, ...]:
        """The rows whose gain is to be estimated."""
        return tuple(int(k) for k in np.flatnonzero(np.isnan(self.known)))

    def slow(self, v: Array, speed: float, names: Sequence[str]) -> Any:
        """Mark axes (N × m) that have Coulomb friction among the parameters and are slower than a speed.

        Raises:
            ArgumentError: if there are none.
        """
        may_stick = np.array([f"{name}.coulomb" in names for name in self.names])
        if not may_stick.any():
            raise ArgumentError(
                "fit: sticking: no sensor has Coulomb friction among the parameters; make the robot with friction= and "
                "parameters={'friction': True}"
            )
        return (np.abs(v @ self.speeds.T) < speed) & may_stick


def _undriven(b: Array, coordinates: tuple[str, ...]) -> tuple[Array, list[str]]:
    """Rows Nᵀ ((nv − nu) × nv) and their names: coordinates that no actuator drives, or combinations."""
    count = b.shape[0] - b.shape[1]
    alone = np.flatnonzero(np.abs(b).max(axis=1) <= _NOTHING)
    if len(alone) == count:
        return np.eye(b.shape[0])[alone], [coordinates[k] for k in alone]
    return np.linalg.svd(b)[0][:, b.shape[1] :].T, [f"not driven[{k}]" for k in range(count)]


def _given(gains: Gains | None, names: tuple[str, ...]) -> tuple[Array, Array, Array]:
    """Known gains, expected ones, and the deviations of these."""
    known, expected, deviations = np.full(len(names), np.nan), np.full(len(names), np.nan), np.full(len(names), np.inf)
    if gains is None:
        return known, expected, deviations
    if not isinstance(gains, Mapping):
        return np.full(len(names), number("fit: gains", gains, "N m/A")), expected, deviations
    for name, gain in gains.items():
        if name not in names:
            raise UnknownNameError("actuator", name, names)
        k, argument = names.index(name), f"fit: gains[{name!r}]"
        if isinstance(gain, list | tuple | np.ndarray):
            if len(gain) != 2:
                raise ArgumentTypeError(f"{argument}: expected a gain or (gain, standard deviation), got {shown(gain)}")
            expected[k], deviations[k] = number(argument, gain[0]), number(f"{argument}: standard deviation", gain[1])
        else:
            known[k] = number(argument, gain, "N m/A")
    return known, expected, deviations

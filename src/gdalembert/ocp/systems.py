"""What a transcription asks of a robot: one that moves freely, or one that contacts and loops hold."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import neutral
from gdalembert.ocp.constrained_steps import Rows, anchored_part, constrained_collocation, values_of
from gdalembert.ocp.steps import Method, check_driven_by_u, rk4
from gdalembert.spatial.arrays import Array

Robot = Dynamics | ConstrainedDynamics
"""What can be planned for."""


def robot_alone(robot: Robot) -> Dynamics:
    """The robot without its constraints."""
    return robot.dynamics if isinstance(robot, ConstrainedDynamics) else robot


class System:
    """A robot that moves freely.

    Args:
        dynamics: the robot.

    Attributes:
        dynamics: the robot without constraints. ``robot``: with them. ``con``: the same, ``None`` if there are none.
        rows: of all constraints; ``None`` if there are none. ``places``: of those that are anchored.
        nc: the number of forces of the constraints. ``independent``: the number of those that are unknowns.
        projections: the number of unknowns that move the end of a step.
        stiff: the number of natural modes that follow their loads; ``shapes``: all natural modes, if there are any.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics: Dynamics = dynamics
        self.robot: Robot = dynamics
        self.con: ConstrainedDynamics | None = None
        self.rows: Rows | None = None
        self.places: Rows | None = None
        self.nc = self.independent = self.projections = self.stiff = 0
        self.shapes: Array | None = None

    @staticmethod
    def of(where: str, robot: Any) -> System:
        """That of a robot whose motion follows from u alone.

        Raises:
            ArgumentTypeError: if it is neither a Dynamics nor a ConstrainedDynamics.
            UnsupportedError: if wrenches are an input of it, or what is redundant among its constraints turns with q.
        """
        if isinstance(robot, ConstrainedDynamics):
            check_driven_by_u(where, robot.dynamics)
            return ConstrainedSystem(robot)
        check_driven_by_u(where, robot)
        return System(robot)

    def check(self, method: str) -> None:
        """Refuse a method that cannot be used, or a robot whose M is singular.

        Raises:
            UnsupportedError: if it is so.
        """
        _ = self.finer

    @property
    def states(self) -> int:
        """The number of entries of q and v that are states."""
        return int(self.robot.tree.nq + self.robot.tree.nv)

    def states_of(self, x: Any) -> Any:
        """The states of [q; v] (columns)."""
        return x

    @property
    def fixed_by(self) -> list[int]:
        """For each state, the entry of [q; v] with which it is fixed."""
        return list(range(self.states))

    def check_fixed(self, where: str, fixed: npt.NDArray[np.bool_]) -> None:
        """Refuse entries of q or v that cannot be fixed without others.

        Raises:
            ArgumentError: if there are such.
        """

    def full(self, states: ca.MX, k: ca.MX | None, rule: Method) -> ca.MX:
        """q and v at the N + 1 instants of the grid, of states there and unknowns k at the stages."""
        return states

    def unknowns(self, q: Array, a: Array) -> Array:
        """The first nv rows of k (columns) in a motion (a row for each stage)."""
        return a.T

    @cached_property
    def finer(self) -> ca.Function:
        """A step by forward dynamics, which shows the error of other steps."""
        return rk4(self.robot)

    def implicit_step(self, degree: int, scheme: str, control: str) -> ca.Function | None:
        """A step of collocation that is more than its stages: (x, k, s, u, h) → (x_next, residual, q, v, a, forces)."""
        return None

    def closed(self, q: Array, hold: Sequence[str] = ()) -> Array:
        """A configuration near q that satisfies the constraints where that can be, with some joints as they are."""
        return q

    def consistent(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """A motion nearby (a row for each time) that satisfies the constraints where that is possible."""
        return q, v, a

    def efforts(self, q: Array, v: Array, a: Array, p: Array, u: Array | None = None) -> tuple[Array, Array]:
        """u (N × nu) and the independent forces of the constraints that come nearest to a motion (a row for each time).

        With u given, the forces alone.
        """
        tau = self.dynamics.inverse_dynamics(q.T, v.T, a.T, *([np.tile(p[:, None], (1, len(q)))] if p.size else []))
        if u is None:
            u = np.array([self.dynamics.actuators.efforts(*each) for each in zip(q, tau.full().T, strict=True)])
        return u, np.zeros((len(q), 0))


class ConstrainedSystem(System):
    """A robot that contacts and loops hold.

    Args:
        con: the robot.
    """

    def __init__(self, con: ConstrainedDynamics) -> None:
        super().__init__(con.dynamics)
        self.robot = con
        self.con, self.rows = con, Rows.of(con)
        known = anchored_part(con)
        self.places = self.rows if known is con else None if known is None else Rows.of(known)
        self.nc, self.independent = con.nc, len(self.rows)
        self.projections = self.independent + (0 if self.places is None else len(self.places))

    def check(self, method: str) -> None:
        if method != "collocation":
            raise UnsupportedError(
                f"{self.robot.tree.name}: method={method!r} has no forces of contacts and loops; take 'collocation'"
            )

    def implicit_step(self, degree: int, scheme: str, control: str) -> ca.Function:
        assert self.rows is not None
        return constrained_collocation(self.rows, self.places, degree=degree, scheme=scheme, control=control)

    def closed(self, q: Array, hold: Sequence[str] = ()) -> Array:
        if self.places is not None:
            with contextlib.suppress(ArgumentError):
                return np.array(self.places.con.closed_configuration(q, hold))
        return q

    def consistent(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        assert self.rows is not None
        p = values_of(self.rows.con)
        q, v, a = np.array([self.closed(each) for each in q]), v.copy(), a.copy()
        for i, here in enumerate(q):
            jacobian = self.rows.numbers(here)
            inverse = np.linalg.pinv(jacobian)
            v[i] -= inverse @ jacobian @ v[i]
            bias = self.rows.basis @ self.rows.con.bias_acceleration(here, v[i], *p).full().ravel()
            a[i] -= inverse @ (jacobian @ a[i] + bias)
        return q, v, a

    def efforts(self, q: Array, v: Array, a: Array, p: Array, u: Array | None = None) -> tuple[Array, Array]:
        assert self.rows is not None
        own = [p] if p.size else []
        actuators, driven, one = self.dynamics.actuators, self._driven, np.ones(self.dynamics.nu)
        inputs, forces = np.zeros((len(q), self.dynamics.nu)), np.zeros((len(q), self.independent))
        for i, (here, speed, rate) in enumerate(zip(q, v, a, strict=True)):
            tau = self.dynamics.inverse_dynamics(here, speed, rate, *own).full().ravel()
            jacobian = self.rows.jacobian(ca.DM(here), own).full()
            if u is None:
                b = actuators.derivatives(here, one)[1]
                left = tau - actuators.torque(here, one) + b @ one
                both = np.linalg.lstsq(np.hstack([b[:, driven], jacobian.T]), left, rcond=None)[0]
                inputs[i, driven], forces[i] = both[: len(driven)], both[len(driven) :]
            else:
                inputs[i] = u[i]
                forces[i] = np.linalg.lstsq(jacobian.T, tau - actuators.torque(here, u[i]), rcond=None)[0]
        return inputs, forces

    @property
    def _driven(self) -> list[int]:
        """The entries of u that drive anything but a free-flyer."""
        idle = [i for joint in self.dynamics.tree.joints if not joint.type.is_actuated for i in joint.columns]
        others = np.setdiff1d(np.arange(self.dynamics.tree.nv), idle)
        at_rest = neutral(self.dynamics.tree).full().ravel(), np.ones(self.dynamics.nu)
        return np.flatnonzero(np.any(self.dynamics.actuators.derivatives(*at_rest)[1][others], axis=0)).tolist()

"""What a motion asks of a robot: one that moves freely, or one that constraints hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.physical import columns
from gdalembert.errors import ArgumentTypeError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array

Robot = Dynamics | ConstrainedDynamics
"""What can be simulated."""

_NONE = ca.DM(0, 1)
_FAST = 1e3
"""1/s: errors of constraints that decay faster ask for a method with Newton's iteration."""


@dataclass(frozen=True, eq=False)
class System:
    """A robot that moves freely.

    Attributes:
        dynamics: the robot alone.
    """

    dynamics: Dynamics

    @staticmethod
    def of(robot: Any) -> System:
        """The system of what can be simulated.

        Raises:
            ArgumentTypeError: if it is neither a Dynamics nor a ConstrainedDynamics.
        """
        if isinstance(robot, ConstrainedDynamics):
            return ConstrainedSystem(robot.dynamics, robot)
        if isinstance(robot, Dynamics):
            return System(robot)
        raise ArgumentTypeError(f"simulate takes a Dynamics, as gd.NewtonEuler(model), not {type(robot).__name__}")

    @property
    def robot(self) -> Robot:
        """What is simulated."""
        return self.dynamics

    @property
    def is_damped(self) -> bool:
        """Whether something takes energy out of a motion, so that parts of it may decay fast."""
        return self.dynamics.forces_depend_on_velocity

    @property
    def accuracy(self) -> float:
        """The part of the usual tolerances that is taken by default."""
        return 1.0

    def started(self, q: Array, v: Array) -> System:
        """The system that moves on from a state.

        Raises:
            ArgumentError: if the state violates a constraint.
        """
        return self

    def motion(
        self, q: Matrix, v: Matrix, tau: Matrix, wrenches: list[Matrix], p: list[Matrix]
    ) -> tuple[Matrix, Matrix, Matrix]:
        """a (nv), the forces of the constraints (nc), and the velocities that these work on (nc).

        ``wrenches`` and ``p`` hold one matrix each, if they are inputs of the robot.
        """
        return self.dynamics.forward_dynamics(q, v, tau, *wrenches, *p), _NONE, _NONE

    def residual(self, q: Array, p: Array) -> Array:
        """By how much the constraints are violated (N × nc), at configurations (N × nq)."""
        return np.zeros((len(q), 0))


@dataclass(frozen=True, eq=False)
class ConstrainedSystem(System):
    """A robot that constraints hold.

    Attributes:
        constrained: the robot and its constraints.
    """

    constrained: ConstrainedDynamics

    @property
    def robot(self) -> Robot:
        return self.constrained

    @property
    def is_damped(self) -> bool:
        return super().is_damped or self.constrained.stabilisation_rate > _FAST

    @property
    def accuracy(self) -> float:
        return 0.01  # stabilised constraints then drift by less than 1e-9 m

    def started(self, q: Array, v: Array) -> System:
        anchored = self.constrained.anchored(q)
        anchored.check_state("simulate", q, v)
        return ConstrainedSystem(self.dynamics, anchored)

    def motion(
        self, q: Matrix, v: Matrix, tau: Matrix, wrenches: list[Matrix], p: list[Matrix]
    ) -> tuple[Matrix, Matrix, Matrix]:
        a, forces = self.constrained.forward_dynamics(q, v, tau, *wrenches, *p)
        return a, forces, self.constrained.velocity(q, v, *p)

    def residual(self, q: Array, p: Array) -> Array:
        return np.asarray(self.constrained.residual(q.T, *columns(p, len(q))).full().T)

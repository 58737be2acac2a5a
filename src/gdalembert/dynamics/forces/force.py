"""The contract of a force element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import casadi as ca

from gdalembert.errors import ArgumentTypeError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


class Force(ABC):
    """A force element: what acts on a robot beside the inertia of its links.

    Its torque stands on the left-hand side of the equations of motion,

        tau = M a + C v + g + Σ torque(q, v),

    and splits into a conservative part, the gradient of ``energy``, and a dissipative part, which takes ``power`` out
    of the robot:

        vᵀ torque(q, v) = d energy(q)/dt + power(q, v).

    Arguments q (nq) and v (nv) are CasADi matrices of any kind: numbers, SX or MX.

    Attributes:
        name: what a decomposition of torques calls the element.
    """

    name: ClassVar[str]

    @abstractmethod
    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """The torque (nv) [N m, N]."""

    @abstractmethod
    def derivatives(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """∂torque/∂q and ∂torque/∂v (nv × nv each), columns in the tangent space of q."""

    @property
    def damping(self) -> Array | float:
        """The part of ∂torque/∂v that is constant, D (nv × nv) [N m s/rad, N s/m]; 0 if there is none."""
        return 0.0

    def energy(self, q: Matrix) -> Matrix:
        """The potential energy [J]; 0 for an element that stores none."""
        return ca.DM(0)

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """The power that the element dissipates [W]; 0 for an element that dissipates none."""
        return ca.DM(0)


def check_forces(forces: Iterable[object]) -> tuple[Force, ...]:
    """The force elements as a tuple.

    Raises:
        ArgumentTypeError: if one of them is not a force element.
    """
    given: list[Force] = []
    for each in forces:
        if not isinstance(each, Force):
            raise ArgumentTypeError(f"forces: expected force elements of gdalembert.dynamics.forces, got {each!r}")
        given.append(each)
    return tuple(given)

"""Lie groups, as the configurations of joints, with the names that ``pinocchio.liegroups`` has."""

from __future__ import annotations

from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.calls import submodule, taken
from gdalembert.cpin.matrices import matrix, shape_of
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, shown
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import integer, numbers


class LieGroup:
    """A Lie group: configurations q (nq) and velocities v (nv), SX, MX or numbers.

    Raises:
        ArgumentTypeError, ArgumentError: by its methods, for what has another shape or is no matrix.
    """

    def __init__(self, name: str, *joints: Any) -> None:
        model = pin.Model()
        for k, joint in enumerate(joints):
            model.addJoint(k, joint, pin.SE3.Identity(), f"joint{k}")
        self.name, self.nq, self.nv, self.neutral = name, model.nq, model.nv, ca.DM(pin.neutral(model))
        self._joints, self._model, self._kinematics = joints, model, Kinematics(model)

    def __mul__(self, other: Any) -> LieGroup:
        """The product of two groups, whose configurations stand one after the other."""
        if not isinstance(other, LieGroup):
            return NotImplemented
        return LieGroup(f"{self.name} x {other.name}", *self._joints, *other._joints)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LieGroup) and self._model == other._model

    def __hash__(self) -> int:
        return hash(self.name)

    def _call(self, quantity: str, *configurations: Any, v: Any = None) -> Any:
        """Evaluate a Function of configurations, and of a velocity."""
        states = [matrix(f"{self.name}: q", q, self.nq) for q in configurations]
        states += [] if v is None else [matrix(f"{self.name}: v", v, self.nv)]
        return getattr(self._kinematics, quantity)(*states)

    def integrate(self, q: Any, v: Any) -> Matrix:
        """The configuration that v leads to from q in unit time."""
        return self._call("integrate", q, v=v)

    def difference(self, q0: Any, q1: Any) -> Matrix:
        """The velocity that leads from q0 to q1 in unit time."""
        return self._call("difference", q0, q1)

    def interpolate(self, q0: Any, q1: Any, u: Any) -> Matrix:
        """The configuration between q0 (u = 0) and q1 (1)."""
        return self.integrate(q0, matrix(f"{self.name}: u", u, 1) * self.difference(q0, q1))

    def squaredDistance(self, q0: Any, q1: Any) -> Matrix:
        return ca.sumsqr(self.difference(q0, q1))

    def distance(self, q0: Any, q1: Any) -> Matrix:
        return ca.norm_2(self.difference(q0, q1))

    def normalize(self, q: Any) -> Matrix:
        """The configuration q with quaternions, and cosines and sines, of unit length."""
        return self._call("normalize", q)

    def random(self) -> Matrix:
        """A configuration within unit time of the neutral one."""
        return self.integrate(self.neutral, ca.DM.rand(self.nv))

    def randomConfiguration(self, lower: Any, upper: Any) -> Matrix:
        """A configuration within bounds (numbers)."""
        bounds = [numbers(f"{self.name}: bounds", q).ravel() for q in (lower, upper)]
        return ca.DM(taken(f"{self.name}: randomConfiguration", pin.randomConfiguration, self._model, *bounds))

    def _one_of(self, method: str, both: Any, argument: Any) -> Matrix:
        if argument not in (0, 1):
            raise ArgumentError(f"{self.name}: {method}: got the argument {shown(argument)}; give ARG0 or ARG1")
        derivative: Matrix = both[int(argument)]
        return derivative

    def dIntegrate(self, q: Any, v: Any, arg: Any) -> Matrix:
        """The derivative of integrate by q (ARG0) or v (ARG1) (nv × nv), in tangent spaces."""
        return self._one_of("dIntegrate", self._call("integrate_derivatives", q, v=v), arg)

    def dDifference(self, q0: Any, q1: Any, arg: Any) -> Matrix:
        """The derivative of difference by q0 (ARG0) or q1 (ARG1) (nv × nv), in tangent spaces."""
        return self._one_of("dDifference", self._call("difference_derivatives", q0, q1), arg)

    def dIntegrateTransport(self, q: Any, v: Any, J: Any, arg: Any) -> Matrix:
        """The derivative of integrate by q or v, times a matrix J (nv × m)."""
        return self.dIntegrate(q, v, arg) @ self._columns("J", J, self.nv)

    def _columns(self, argument: str, value: Any, rows: int) -> Matrix:
        return matrix(f"{self.name}: {argument}", value, rows, (*shape_of(value), 1)[1])

    def tangentMap(self, q: Any) -> Matrix:
        """The matrix T (nq × nv) of dq/dt = T v."""
        x = ca.SX.sym("q", self.nq)
        tangent_map = ca.Function("tangent_map", [x], [ca.densify(self._kinematics.tree.tangent_map(x))])
        return tangent_map(matrix(f"{self.name}: q", q, self.nq))

    def tangentMapProduct(self, q: Any, M: Any) -> Matrix:
        """The product T M (nq × m)."""
        return self.tangentMap(q) @ self._columns("M", M, self.nv)

    def tangentMapTransposeProduct(self, q: Any, M: Any) -> Matrix:
        """The product Tᵀ M (nv × m)."""
        return self.tangentMap(q).T @ self._columns("M", M, self.nq)

    def dIntegrate_dq(self, q: Any, v: Any) -> Matrix:
        """The derivative of integrate by q (nv × nv), in tangent spaces."""
        return self._call("integrate_derivatives", q, v=v)[0]

    def dIntegrate_dv(self, q: Any, v: Any) -> Matrix:
        """The derivative of integrate by v (nv × nv), in tangent spaces."""
        return self._call("integrate_derivatives", q, v=v)[1]

    def dDifference_dq0(self, q0: Any, q1: Any) -> Matrix:
        """The derivative of difference by q0 (nv × nv), in tangent spaces."""
        return self._call("difference_derivatives", q0, q1)[0]

    def dDifference_dq1(self, q0: Any, q1: Any) -> Matrix:
        """The derivative of difference by q1 (nv × nv), in tangent spaces."""
        return self._call("difference_derivatives", q0, q1)[1]


liegroups = submodule(
    "liegroups",
    SO3=lambda: LieGroup("SO(3)", pin.JointModelSpherical()),
    SE3=lambda: LieGroup("SE(3)", pin.JointModelFreeFlyer()),
    SO2=lambda: LieGroup("SO(2)", pin.JointModelRUBZ()),
    SE2=lambda: LieGroup("SE(2)", pin.JointModelPlanar()),
    R3=lambda: LieGroup("R^3", pin.JointModelTranslation()),
    R1=lambda: LieGroup("R^1", pin.JointModelPX()),
    R2=lambda: LieGroup("R^2", *[pin.JointModelPX()] * 2),
    Rn=lambda n: LieGroup(f"R^{n}", *[pin.JointModelPX()] * integer("liegroups.Rn: n", n, 1)),
)
"""Groups ``SO3()``, ``SE3()``, ``SO2()``, ``SE2()``, ``R1()``, ``R2()``, ``R3()`` and ``Rn(n)``, and their products."""

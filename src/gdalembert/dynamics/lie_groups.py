"""Lie groups of their own, as the configurations of joints, with the names that ``pinocchio.liegroups`` has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.matrices import matrix


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
        self._kinematics = Kinematics(model)

    def _call(self, quantity: str, *given: Any, v: Any = None) -> Any:
        states = [matrix(f"{self.name}: q", q, self.nq) for q in given]
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
        """q of unit length."""
        return self._call("normalize", q)

    def random(self) -> Matrix:
        """A configuration within unit time of the neutral one."""
        return self.integrate(self.neutral, ca.DM.rand(self.nv))

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


liegroups = SimpleNamespace(
    SO3=lambda: LieGroup("SO(3)", pin.JointModelSpherical()),
    SE3=lambda: LieGroup("SE(3)", pin.JointModelFreeFlyer()),
    SO2=lambda: LieGroup("SO(2)", pin.JointModelRUBZ()),
    SE2=lambda: LieGroup("SE(2)", pin.JointModelPlanar()),
    R3=lambda: LieGroup("R^3", pin.JointModelTranslation()),
    Rn=lambda n: LieGroup(f"R^{n}", *[pin.JointModelPX()] * integer("liegroups.Rn: n", n, 1)),
)
"""``SO3()``, ``SE3()``, ``SO2()``, ``SE2()``, ``R3()`` and ``Rn(n)``: groups with integrate, difference and so on."""

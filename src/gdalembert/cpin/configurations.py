"""Configuration spaces: integrate, difference and their derivatives, neutral and random configurations.

They are those of a model, and those of Lie groups, with the names that ``pinocchio.liegroups`` has.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.calls import submodule, taken
from gdalembert.cpin.matrices import is_constant, matrix, shape_of
from gdalembert.cpin.model import Model
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, shown
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import integer, numbers

__all__ = [
    *("dDifference", "dIntegrate", "difference", "distance", "integrate", "interpolate"),
    *("neutral", "normalize", "randomConfiguration", "squaredDistance"),
]


def _call(space: Any, context: str, quantity: str, *configurations: Any, v: Any = None) -> Any:
    """Evaluate a Function of configurations, and of a velocity, of a model or a group."""
    states = [matrix(f"{context}: q", q, space.nq) for q in configurations]
    states += [] if v is None else [matrix(f"{context}: v", v, space.nv)]
    return getattr(space.configurations, quantity)(*states)


def integrate(model: Model, q: Any, v: Any) -> Matrix:
    """The configuration (nq) that v leads to from q in unit time."""
    return _call(model, "integrate", "integrate", q, v=v)


def difference(model: Model, q1: Any, q2: Any) -> Matrix:
    """The velocity (nv) that leads from q1 to q2 in unit time."""
    return _call(model, "difference", "difference", q1, q2)


def interpolate(model: Model, q1: Any, q2: Any, alpha: Any) -> Matrix:
    """The configuration between q1 (alpha = 0) and q2 (1)."""
    return integrate(model, q1, matrix("interpolate: alpha", alpha, 1) * difference(model, q1, q2))


def squaredDistance(model: Model, q1: Any, q2: Any) -> Matrix:
    """The squared distance of each joint (njoints − 1)."""
    velocity, joints = difference(model, q1, q2), range(1, model.njoints)
    return ca.vertcat(*(ca.sumsqr(velocity[model.idx_vs[k] : model.idx_vs[k] + model.nvs[k]]) for k in joints))


def distance(model: Model, q1: Any, q2: Any) -> Matrix:
    """The length of the velocity that leads from q1 to q2 in unit time."""
    return ca.norm_2(difference(model, q1, q2))


def _at_position(algorithm: str, both: Any, position: Any) -> Any:
    """Both derivatives, or that by the argument at this position."""
    if position not in (None, 0, 1):
        raise ArgumentError(f"{algorithm}: got the position {position!r} of an argument; give ARG0, ARG1, or none")
    return both if position is None else both[int(position)]


def dIntegrate(model: Model, q: Any, v: Any, argument_position: Any = None) -> Any:
    """Derivatives of integrate by q and by v (nv × nv each), in tangent spaces; or one of them, by ARG0 or ARG1."""
    return _at_position("dIntegrate", _call(model, "dIntegrate", "integrate_derivatives", q, v=v), argument_position)


def dDifference(model: Model, q1: Any, q2: Any, argument_position: Any = None) -> Any:
    """Derivatives of difference by q1 and by q2 (nv × nv each), in tangent spaces; or one of them, by ARG0 or ARG1."""
    return _at_position("dDifference", _call(model, "dDifference", "difference_derivatives", q1, q2), argument_position)


def normalize(model: Model, q: Any) -> Matrix:
    """The configuration q with quaternions, and cosines and sines, of unit length."""
    return _call(model, "normalize", "normalize", q)


def _numbers(model: Model, algorithm: str, q: Any) -> Any:
    configuration = matrix(f"{algorithm}: q", q, model.nq)
    if not is_constant(configuration):
        raise UnsupportedError(f"{algorithm}: q has symbols, which have no value yet; give numbers")
    return ca.evalf(configuration).full().ravel()


def neutral(model: Model) -> ca.DM:
    """The neutral configuration (nq)."""
    return ca.DM(pin.neutral(model.pin))


def randomConfiguration(model: Model, lower_bound: Any = None, upper_bound: Any = None) -> ca.DM:
    """A random configuration within the position limits, or within bounds (numbers)."""
    bounds = [q for q in (lower_bound, upper_bound) if q is not None]
    if len(bounds) == 1:
        raise ArgumentTypeError("randomConfiguration: got one bound; give lower_bound and upper_bound, or none")
    return ca.DM(pin.randomConfiguration(model.pin, *(_numbers(model, "randomConfiguration", q) for q in bounds)))


# Lie groups, as the configurations of joints.


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
        self._joints, self._model, self.configurations = joints, model, Kinematics(model)

    def __mul__(self, other: Any) -> LieGroup:
        """The product of two groups, whose configurations stand one after the other."""
        if not isinstance(other, LieGroup):
            return NotImplemented
        return LieGroup(f"{self.name} x {other.name}", *self._joints, *other._joints)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LieGroup) and self._model == other._model

    def __hash__(self) -> int:
        return hash(self.name)

    def integrate(self, q: Any, v: Any) -> Matrix:
        """The configuration that v leads to from q in unit time."""
        return _call(self, self.name, "integrate", q, v=v)

    def difference(self, q0: Any, q1: Any) -> Matrix:
        """The velocity that leads from q0 to q1 in unit time."""
        return _call(self, self.name, "difference", q0, q1)

    def interpolate(self, q0: Any, q1: Any, u: Any) -> Matrix:
        """The configuration between q0 (u = 0) and q1 (1)."""
        return self.integrate(q0, matrix(f"{self.name}: u", u, 1) * self.difference(q0, q1))

    def squaredDistance(self, q0: Any, q1: Any) -> Matrix:
        return ca.sumsqr(self.difference(q0, q1))

    def distance(self, q0: Any, q1: Any) -> Matrix:
        return ca.norm_2(self.difference(q0, q1))

    def normalize(self, q: Any) -> Matrix:
        """The configuration q with quaternions, and cosines and sines, of unit length."""
        return _call(self, self.name, "normalize", q)

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
        return self._one_of("dIntegrate", _call(self, self.name, "integrate_derivatives", q, v=v), arg)

    def dDifference(self, q0: Any, q1: Any, arg: Any) -> Matrix:
        """The derivative of difference by q0 (ARG0) or q1 (ARG1) (nv × nv), in tangent spaces."""
        return self._one_of("dDifference", _call(self, self.name, "difference_derivatives", q0, q1), arg)

    def dIntegrateTransport(self, q: Any, v: Any, J: Any, arg: Any) -> Matrix:
        """The derivative of integrate by q or v, times a matrix J (nv × m)."""
        return self.dIntegrate(q, v, arg) @ self._columns("J", J, self.nv)

    def _columns(self, argument: str, value: Any, rows: int) -> Matrix:
        return matrix(f"{self.name}: {argument}", value, rows, (*shape_of(value), 1)[1])

    def tangentMap(self, q: Any) -> Matrix:
        """The matrix T (nq × nv) of dq/dt = T v."""
        x = ca.SX.sym("q", self.nq)
        tangent_map = ca.Function("tangent_map", [x], [ca.densify(self.configurations.tree.tangent_map(x))])
        return tangent_map(matrix(f"{self.name}: q", q, self.nq))

    def tangentMapProduct(self, q: Any, M: Any) -> Matrix:
        """The product T M (nq × m)."""
        return self.tangentMap(q) @ self._columns("M", M, self.nv)

    def tangentMapTransposeProduct(self, q: Any, M: Any) -> Matrix:
        """The product Tᵀ M (nv × m)."""
        return self.tangentMap(q).T @ self._columns("M", M, self.nq)

    def dIntegrate_dq(self, q: Any, v: Any) -> Matrix:
        """The derivative of integrate by q (nv × nv), in tangent spaces."""
        return _call(self, self.name, "integrate_derivatives", q, v=v)[0]

    def dIntegrate_dv(self, q: Any, v: Any) -> Matrix:
        """The derivative of integrate by v (nv × nv), in tangent spaces."""
        return _call(self, self.name, "integrate_derivatives", q, v=v)[1]

    def dDifference_dq0(self, q0: Any, q1: Any) -> Matrix:
        """The derivative of difference by q0 (nv × nv), in tangent spaces."""
        return _call(self, self.name, "difference_derivatives", q0, q1)[0]

    def dDifference_dq1(self, q0: Any, q1: Any) -> Matrix:
        """The derivative of difference by q1 (nv × nv), in tangent spaces."""
        return _call(self, self.name, "difference_derivatives", q0, q1)[1]


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

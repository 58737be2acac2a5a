"""Symmetric matrices, and the bodies that they describe: inertia, pseudo-inertia, log-Cholesky parameters."""

from __future__ import annotations

from typing import Any, Self

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.cpin.matrices import matrix, shape_of
from gdalembert.cpin.objects.parts import Additive, MatrixPart, SpatialObject, filled
from gdalembert.cpin.objects.placements import SE3
from gdalembert.cpin.objects.vectors import Force, Motion
from gdalembert.errors import ArgumentTypeError
from gdalembert.spatial.algebra import Matrix, skew


class Symmetric3(Additive):
    """A symmetric matrix (3 × 3), of which the lower triangle counts, or its entries xx, xy, yy, xz, yz, zz."""

    pin = pin.Symmetric3
    _names = ("_matrix",)
    _wanted = "a matrix (3 × 3), or xx, xy, yy, xz, yz, zz"
    _matrix = MatrixPart(3, 3)

    def __init__(self, *args: Any) -> None:
        super().__init__(*([list(args)] if len(args) == 6 else args))

    @classmethod
    def _parts_of(cls, x: Any) -> tuple[Any, ...]:
        return (x.matrix(),)

    def _set(self, *args: Any) -> None:
        if args and shape_of(args[0]) == (3, 3):
            # ``symmetric`` reads the upper triangle, Pinocchio the lower one.
            self._matrix = spatial.symmetric(matrix("Symmetric3", args[0], 3, 3).T)
        else:
            xx, xy, yy, xz, yz, zz = ca.vertsplit(matrix("Symmetric3", args[0], 6) if args else ca.DM.zeros(6))
            self._matrix = spatial.rows((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))

    Identity, setIdentity = filled("Identity")

    def matrix(self) -> Matrix:
        return self._matrix

    np = property(matrix)

    @property
    def data(self) -> Matrix:
        return ca.vertcat(*(self._matrix[i, k] for i in range(3) for k in range(i + 1)))

    @data.setter
    def data(self, column: Any) -> None:
        self._set(matrix("Symmetric3.data", column, 6))

    def fill(self, value: Any) -> None:
        """Make all entries one number or symbol."""
        self._set([value] * 6)

    def setDiagonal(self, diag: Any) -> None:
        xx, yy, zz = ca.vertsplit(matrix("Symmetric3.setDiagonal", diag, 3))
        _, xy, _, xz, yz, _ = ca.vertsplit(self.data)
        self._set([xx, xy, yy, xz, yz, zz])

    def inverse(self) -> Matrix:
        """The inverse matrix (3 × 3), whose columns are cross products of those of this one."""
        x, y, z = ca.horzsplit(self._matrix)
        adjugate = spatial.symmetric(ca.horzcat(ca.cross(y, z), ca.cross(z, x), ca.cross(x, y)))
        return adjugate / ca.dot(x, adjugate[:, 0])

    def rotate(self, R: Any) -> Symmetric3:
        return Symmetric3(spatial.congruence(matrix("Symmetric3.rotate", R, 3, 3), self._matrix))

    def rhsMult(self, vin: Any) -> Matrix:
        return self._matrix @ matrix("Symmetric3.rhsMult", vin, 3)

    def __mul__(self, v: Any) -> Matrix:
        return self.rhsMult(v)

    def __imul__(self, factor: Any) -> Self:
        self._set(self.data * matrix("Symmetric3: factor", factor, 1))
        return self

    def vtiv(self, v: Any) -> Matrix:
        return ca.dot(matrix("Symmetric3.vtiv", v, 3), self.rhsMult(v))

    def vxs(self, v: Any) -> Matrix:
        """The product [v×] S (3 × 3)."""
        return skew(matrix("Symmetric3.vxs", v, 3)) @ self.matrix()

    def svx(self, v: Any) -> Matrix:
        """The product S [v×] (3 × 3)."""
        return self.matrix() @ skew(matrix("Symmetric3.svx", v, 3))

    def __add__(self, other: Any) -> Self:
        return type(self)(self._matrix + Symmetric3(other).matrix())

    def __sub__(self, other: Any) -> Self:
        return type(self)(self._matrix - Symmetric3(other).matrix())


def _scalars(context: str, *values: Any) -> list[Matrix]:
    """Convert single numbers or symbols to matrices (1 × 1)."""
    return [matrix(context, x, 1) for x in values]


class Inertia(Additive):
    """A body: mass [kg], centre of mass ``lever`` (3, m), and ``inertia`` about it (3 × 3, kg m²)."""

    pin = pin.Inertia
    _names = ("mass", "lever", "inertia")
    _wanted = "(mass, lever, inertia about the centre of mass), or an Inertia"
    mass = MatrixPart(1)
    lever = MatrixPart(3)
    inertia = MatrixPart(3, 3)

    def __init__(self, *args: Any, **parts: Any) -> None:
        if len(args) == 3:
            args = *args[:2], Symmetric3(args[2]).matrix()
        super().__init__(*args, **parts)

    def _set(self, *args: Any) -> None:
        if args:
            raise ArgumentTypeError(f"Inertia: give {self._wanted}")
        self.mass, self.lever, self.inertia = 0.0, [0.0] * 3, ca.DM.zeros(3, 3)

    Identity, setIdentity = filled("Identity")

    def numbers(self) -> Any:
        """Pinocchio's object; its constructor refuses a tensor that is not positive, as differences have it."""
        body = pin.Inertia.Zero()
        body.mass, body.lever, body.inertia = self._values()
        return body

    @classmethod
    def FromDynamicParameters(cls, dynamic_parameters: Any) -> Inertia:
        """Make a body of m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin."""
        p = matrix("Inertia.FromDynamicParameters", dynamic_parameters, 10)
        c = ca.DM.zeros(3) if p[:4].is_zero() else p[1:4] / p[0]
        return cls(p[0], c, Symmetric3(p[4:]).matrix() + p[0] * (skew(c) @ skew(c)))

    @classmethod
    def FromPseudoInertia(cls, pseudo_inertia: Any) -> Inertia:
        return PseudoInertia(pseudo_inertia).toInertia()

    @classmethod
    def FromLogCholeskyParameters(cls, log_cholesky_parameters: Any) -> Inertia:
        return LogCholeskyParameters(log_cholesky_parameters).toInertia()

    @classmethod
    def FromEllipsoid(cls, mass: Any, length_x: Any, length_y: Any, length_z: Any) -> Inertia:
        """Make a solid ellipsoid by its half axes; FromSphere takes the radius, FromBox the edges."""
        m, x, y, z = _scalars("Inertia of a solid", mass, length_x, length_y, length_z)
        return cls._solid(m, m / 5 * (y * y + z * z), m / 5 * (x * x + z * z), m / 5 * (x * x + y * y))

    @classmethod
    def FromSphere(cls, mass: Any, radius: Any) -> Inertia:
        return cls.FromEllipsoid(mass, radius, radius, radius)

    @classmethod
    def FromBox(cls, mass: Any, length_x: Any, length_y: Any, length_z: Any) -> Inertia:
        # m / 12 times squares of edges, as m / 5 times squares of half axes: one formula for both.
        scale, edges = (5 / 12) ** 0.5, _scalars("Inertia.FromBox", length_x, length_y, length_z)
        return cls.FromEllipsoid(mass, *(scale * edge for edge in edges))

    @classmethod
    def FromCylinder(cls, mass: Any, radius: Any, length: Any) -> Inertia:
        """Make a cylinder along z."""
        m, r, h = _scalars("Inertia.FromCylinder", mass, radius, length)
        across = m * (r * r / 4 + h * h / 12)
        return cls._solid(m, across, across, m * r * r / 2)

    @classmethod
    def FromCapsule(cls, mass: Any, radius: Any, height: Any) -> Inertia:
        """Make a cylinder along z of this height between two half spheres."""
        m, r, h = _scalars("Inertia.FromCapsule", mass, radius, height)
        middle = m * h / (h + 4 / 3 * r)
        ends = m - middle
        across = middle * (r * r / 4 + h * h / 12) + ends * (2 / 5 * r * r + h * h / 4 + 3 / 8 * r * h)
        return cls._solid(m, across, across, (middle / 2 + 2 / 5 * ends) * r * r)

    @classmethod
    def _solid(cls, mass: Matrix, *principal: Matrix) -> Inertia:
        """Make a body about the origin by its principal moments of inertia."""
        return cls(mass, [0.0] * 3, ca.diag(ca.vertcat(*principal)))

    def matrix(self) -> Matrix:
        """The matrix (6 × 6) of momentum by a motion, about the origin."""
        m, c = self.mass, skew(self.lever)
        return ca.blockcat([[m * ca.DM.eye(3), -m * c], [m * c, self.inertia - m * (c @ c)]])

    np = property(matrix)

    def toDynamicParameters(self) -> Matrix:
        m, c = self.mass, skew(self.lever)
        return ca.vertcat(m, m * self.lever, Symmetric3(self.inertia - m * (c @ c)).data)

    def toPseudoInertia(self) -> PseudoInertia:
        return PseudoInertia.FromInertia(self)

    def inverse(self) -> Matrix:
        """The inverse of :meth:`matrix` (6 × 6): the acceleration that a force gives a free body at rest."""
        about_c, c = Symmetric3(self.inertia).inverse(), skew(self.lever)
        turning = c @ about_c
        return ca.blockcat([[ca.DM.eye(3) / self.mass - turning @ c, turning], [turning.T, about_c]])

    def se3Action(self, M: Any) -> Inertia:
        r, p = SE3(M).parts
        return Inertia(self.mass, p + r @ self.lever, spatial.congruence(r, self.inertia))

    def se3ActionInverse(self, M: Any) -> Inertia:
        return self.se3Action(SE3(M).inverse())

    def __add__(self, other: Any) -> Inertia:
        """The body that both are together."""
        more = Inertia(other)
        for body, rest in ((self, more), (more, self)):
            # By parameters, the other centre of mass would be m c / m: rounded, and a larger graph.
            if body.isZero(0.0):
                return rest.copy()
        return Inertia.FromDynamicParameters(self.toDynamicParameters() + more.toDynamicParameters())

    def __sub__(self, other: Any) -> Inertia:
        """The body without a part of it."""
        part = Inertia(other)
        if part.isZero(0.0):
            return self.copy()
        return Inertia.FromDynamicParameters(self.toDynamicParameters() - part.toDynamicParameters())

    def __mul__(self, v: Any) -> Force:
        """The momentum of the body that moves with v."""
        linear, angular = Motion(v).parts
        force = self.mass * (linear + ca.cross(angular, self.lever))
        return Force(force, self.inertia @ angular + ca.cross(self.lever, force))

    def vxiv(self, v: Any) -> Any:
        return Motion(v).cross(self * v)

    def vtiv(self, v: Any) -> Matrix:
        return Motion(v).dot(self * v)

    def vxi(self, v: Any) -> Matrix:
        return Motion(v).dualAction @ self.matrix()

    def ivx(self, v: Any) -> Matrix:
        return self.matrix() @ Motion(v).action

    def variation(self, v: Any) -> Matrix:
        """The rate (6 × 6) of :meth:`matrix`, in resting axes, of a body that moves with v."""
        return self.vxi(v) - self.ivx(v)


class PseudoInertia(SpatialObject):
    """The matrix ∫ x̂ x̂ᵀ dm of x̂ = (x, y, z, 1), from mass, h = m c and sigma = ∫ x xᵀ dm, or a matrix (4 × 4)."""

    pin = pin.PseudoInertia
    _names = ("mass", "h", "sigma")
    _wanted = "(mass, h, sigma), or one matrix (4 × 4)"
    mass = MatrixPart(1)
    h = MatrixPart(3)
    sigma = MatrixPart(3, 3)

    def _set(self, *args: Any) -> None:
        j = matrix("PseudoInertia", args[0], 4, 4) if args else ca.DM.zeros(4, 4)
        self.mass, self.h, self.sigma = j[3, 3], j[:3, 3], spatial.symmetric(j[:3, :3])

    @classmethod
    def FromMatrix(cls, pseudo_inertia_matrix: Any) -> Self:
        return cls(matrix("PseudoInertia.FromMatrix", pseudo_inertia_matrix, 4, 4))

    @classmethod
    def FromInertia(cls, inertia: Any) -> Self:
        return cls.FromDynamicParameters(Inertia(inertia).toDynamicParameters())

    @classmethod
    def FromDynamicParameters(cls, dynamic_parameters: Any) -> Self:
        p = matrix("PseudoInertia.FromDynamicParameters", dynamic_parameters, 10)
        return cls(p[0], p[1:4], spatial.pseudo_inertia_of(Symmetric3(p[4:]).matrix()))

    def toMatrix(self) -> Matrix:
        return spatial.rows((self.sigma, self.h), (self.h.T, self.mass))

    np = property(toMatrix)

    def toDynamicParameters(self) -> Matrix:
        return ca.vertcat(self.mass, self.h, Symmetric3(spatial.inertia_of(self.sigma)).data)

    def toInertia(self) -> Inertia:
        return Inertia.FromDynamicParameters(self.toDynamicParameters())


class LogCholeskyParameters(SpatialObject):
    """Parameters α, d1, d2, d3, s12, s23, s13, t1, t2, t3 (10), any numbers: the factor U of a pseudo-inertia U Uᵀ.

    exp(α) [[exp d1, s12, s13, t1], [0, exp d2, s23, t2], [0, 0, exp d3, t3], [0, 0, 0, 1]] (Rucker and Wensing, Smooth
    Parameterization of Rigid-Body Inertia, IEEE Robotics and Automation Letters 7(2), 2022).
    """

    pin = pin.LogCholeskyParameters
    _names = ("parameters",)
    _wanted = "one column (10)"
    parameters = MatrixPart(10)

    def _set(self, *args: Any) -> None:
        self.parameters = args[0] if args else ca.DM.zeros(10)

    np = property(lambda self: self.parameters)

    def toPseudoInertia(self) -> PseudoInertia:
        scale, d1, d2, d3 = ca.vertsplit(ca.exp(self.parameters[:4]))
        s12, s23, s13, t1, t2, t3 = ca.vertsplit(self.parameters[4:])
        factor = spatial.rows((d1, s12, s13, t1), (0, d2, s23, t2), (0, 0, d3, t3), (0, 0, 0, 1))
        return PseudoInertia(spatial.outer(scale * factor))

    def toDynamicParameters(self) -> Matrix:
        return self.toPseudoInertia().toDynamicParameters()

    def toInertia(self) -> Inertia:
        return self.toPseudoInertia().toInertia()

    def calculateJacobian(self) -> Matrix:
        """The derivative (10 × 10) of the dynamic parameters by these parameters."""
        x = ca.SX.sym("parameters", 10)
        of_x = ca.jacobian(LogCholeskyParameters(x).toDynamicParameters(), x)
        return ca.Function("jacobian", [x], [ca.densify(of_x)])(self.parameters)

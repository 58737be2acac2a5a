"""Spin: the second derivative of a rotation, U = [α×] + [ω×][ω×].

A point at x of a link that turns with ω and α accelerates by U x against the origin, and a link with the pseudo-inertia
J asks for the moment vee(U J − (U J)ᵀ). The diagonal of U enters that moment by its differences alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.spatial import Matrix


@dataclass(frozen=True)
class Spin:
    """U, and the differences (U_zz − U_yy, U_xx − U_zz, U_yy − U_xx) of its diagonal."""

    matrix: Matrix
    differences: tuple[Matrix, Matrix, Matrix]

    def __matmul__(self, x: Matrix) -> Matrix:
        """U x, x of 3 × n."""
        return self.matrix @ x

    def moment(self, j: Matrix) -> Matrix:
        """vee(U J − (U J)ᵀ) of a symmetric J, with 15 products instead of 18."""
        u, (zy, xz, yx) = self.matrix, self.differences
        return ca.vertcat(
            zy * j[1, 2] + u[2, 0] * j[0, 1] + u[2, 1] * j[1, 1] - u[1, 0] * j[0, 2] - u[1, 2] * j[2, 2],
            xz * j[0, 2] + u[0, 1] * j[1, 2] + u[0, 2] * j[2, 2] - u[2, 0] * j[0, 0] - u[2, 1] * j[0, 1],
            yx * j[0, 1] + u[1, 0] * j[0, 0] + u[1, 2] * j[0, 2] - u[0, 1] * j[1, 1] - u[0, 2] * j[1, 2],
        )


NO_SPIN = Spin(ca.DM(3, 3), (ca.DM(1, 1), ca.DM(1, 1), ca.DM(1, 1)))


def spin_of(alpha: Matrix, omega: Matrix) -> Spin:
    """U of a link that turns with ω and α."""
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    return Spin(spatial.spin(alpha, omega), (zz - yy, xx - zz, yy - xx))


def alpha_of_axis(on_axis: Matrix, omega: Matrix, alpha_z: Matrix) -> Matrix:
    """α of a link that turns about its z axis, from U e_z = (ω_x ω_z + α_y, ω_y ω_z − α_x, −ω_x² − ω_y²).

    U e_z is the parent's: the points of the axis move with it as well.
    """
    return ca.vertcat(omega[1] * omega[2] - on_axis[1], on_axis[0] - omega[0] * omega[2], alpha_z)


def spin_about_axis(on_axis: Matrix, omega: Matrix, alpha: Matrix, *, axes_shared: bool) -> Spin:
    """U of a link that turns about its z axis, from U e_z.

    ω_x² is left out where U_zz makes it superfluous; a link that shares its axes with others shares the square too.
    """
    x, y, z = omega[0], omega[1], omega[2]
    yy, zz = y * y, z * z
    u_xx, u_zz, zy = -(yy + zz), on_axis[2], zz - yy
    if axes_shared:
        u_yy, xz, yx = -(x * x + zz), x * x - zz, yy - x * x
    else:
        u_yy, xz, yx = u_zz - zy, u_xx - u_zz, -(zy + (u_xx - u_zz))
    matrix = spatial.rows(
        (u_xx, x * y - alpha[2], on_axis[0]),
        (x * y + alpha[2], u_yy, on_axis[1]),
        (x * z - alpha[1], y * z + alpha[0], u_zz),
    )
    return Spin(matrix, (zy, xz, yx))

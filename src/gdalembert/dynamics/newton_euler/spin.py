"""Spin: the second derivative of a rotation, U = [α×] + [ω×][ω×].

A point at x of a link that turns with ω and α accelerates by U x against the origin, and a link with the pseudo-inertia
J needs the moment vee(U J − (U J)ᵀ). The diagonal of U enters that moment by its differences alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix


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
    return Spin(spatial.spin(alpha, omega), _differences(omega))


def spin_about_axis(on_axis: Matrix, omega: Matrix, alpha_z: Matrix) -> tuple[Matrix, Spin]:
    """α and U of a link that turns about its z axis, from U e_z: points of the axis move with the parent as well.

    With that column given, α_x and α_y follow from U e_z = (ω_x ω_z + α_y, ω_y ω_z − α_x, −ω_x² − ω_y²).
    """
    alpha = ca.vertcat(omega[1] * omega[2] - on_axis[1], on_axis[0] - omega[0] * omega[2], alpha_z)
    matrix = spatial.spin(alpha, omega)
    return alpha, Spin(ca.horzcat(matrix[:, :2], on_axis), _differences(omega))


def _differences(omega: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    return zz - yy, xx - zz, yy - xx

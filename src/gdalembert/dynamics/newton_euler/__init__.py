"""Recursive Newton–Euler equations (Luh, Walker and Paul 1980, as used by Shala and Likaj), in link axes.

Outward, from the base to the tips, with Rᵀ to the axes of link i, p its origin in the parent, S_i = (linear; angular):

    ω = Rᵀ ω_λ + angular v        α = Rᵀ α_λ + angular a + Rᵀ ω_λ × (angular v)
    ẍ = Rᵀ (ẍ_λ + U_λ p) + linear a + (Rᵀ ω_λ + ω) × (linear v),         U = [α×] + [ω×][ω×]

Each link, in trace form, with m, h = m c and the pseudo-inertia J = ∫ x xᵀ about the origin of its axes (ours; of a
prepared tree those that regrouping has left it):

    f = m ẍ + U h                 n = vee(Φ − Φᵀ) + h × ẍ,  Φ = U J

Inward, from the tips to the base:

    f_λ += R f,   n_λ += R n + p × R f,   tau_i = S_iᵀ (f; n)

Gravity is an acceleration −g of the base. What is computed where:

    links         R, p, S, m, h, J of the links at q, and their motion outward
    spin          U and the moment it makes
    rnea          inward; tau, nle, g
    crba          M, from composite bodies
    derivatives   C and the derivatives of tau, from composite bodies in motion
    aba           forward dynamics, from articulated bodies (Featherstone); or M a = tau − nle, if that is smaller

All of it runs on a prepared tree (``base_parameters``, ``link_frames``) with z on the joints' axes. A turn then changes
two components only (``rotations``), and U e_z, the acceleration of the axis, is the parent's.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import casadi as ca

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.aba import forward_dynamics
from gdalembert.dynamics.newton_euler.base_parameters import prepare
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.newton_euler.derivatives import coriolis_matrix, inverse_dynamics_derivatives
from gdalembert.dynamics.newton_euler.links import move, place
from gdalembert.dynamics.newton_euler.rnea import (
    gravity_torques,
    inverse_dynamics,
    joint_wrenches,
    kinetic_energy,
)
from gdalembert.dynamics.sources import Source
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function, smaller


class NewtonEuler(Dynamics):
    """Dynamics by the recursive Newton–Euler equations; see the module for the equations.

    Arguments, errors and all common Functions: :class:`~gdalembert.Dynamics`.
    """

    name: ClassVar[str] = "newton_euler"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "luh1980",
            "article",
            "On-Line Computational Scheme for Mechanical Manipulators",
            ("J. Y. S. Luh", "M. W. Walker", "R. P. C. Paul"),
            "newton_euler",
            {"journal": "Journal of Dynamic Systems, Measurement, and Control", "year": "1980"},
            equations="recursive Newton-Euler equations",
        ),
        Source(
            "shala",
            "article",
            "Dynamic Modeling of 3 DoF Robot Manipulator",
            ("A. Shala", "R. Likaj"),
            "newton_euler",
            {"journal": "Acta Technica Corviniensis"},
        ),
    )

    @cached_property
    def _prepared(self) -> Tree:
        return prepare(self.tree)

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return inverse_dynamics(self._prepared, q, v, a)

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        return gravity_torques(self._prepared, q)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return mass_matrix(self._prepared, q)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return coriolis_matrix(self._prepared, q, v)

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        if self.tree.has_mimic:  # joints that share a coordinate cannot be eliminated one by one
            return super().forward_dynamics_expression(q, v, tau)
        articulated = forward_dynamics(self._prepared, q, v, tau)
        if self._is_deep:
            return articulated
        return smaller(articulated, super().forward_dynamics_expression(q, v, tau))

    @property
    def _is_deep(self) -> bool:
        """Whether M, with as many entries in a row as the joint has ancestors, is far too large to be solved for a.

        In operations: an entry of M takes about 20 (and the elimination one for each pair of them), an articulated
        body about 350. Where the two are near each other both graphs are made and compared.
        """
        depths = [sum(self.tree.joints[i].type.nv for i in self.tree.path(j)) for j in range(len(self.tree.joints))]
        elimination, articulated = sum(d * d + 20 * d for d in depths), 350 * len(depths)
        return elimination > 2 * articulated

    def inverse_dynamics_derivatives_expression(self, q: Matrix, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix]:
        if not all(joint.type.has_constant_subspace for joint in self.tree.joints):
            return super().inverse_dynamics_derivatives_expression(q, v, a)
        return inverse_dynamics_derivatives(self._prepared, q, v, a)

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return kinetic_energy(self._prepared, q, v)

    @cached_property
    def terms(self) -> ca.Function:
        """(q, v, a) → (force, moment), 3 × (njoints − 1) each: the wrench on each link through its joint.

        In the joint's (moved) frame, about its origin: ``data.f`` of ``pin.rnea``, gravity included, armature not.
        """
        s = self.symbols("q", "v", "a")
        links = place(self.tree, s["q"])
        wrenches = joint_wrenches(links, move(links, s["q"], s["v"], s["a"], Gravity(self.tree).base_acceleration))
        shown = [wrenches[i] for i in self.tree.links]
        return function(
            "terms",
            s,
            {
                "force": ca.horzcat(*(wrench.force for wrench in shown)),
                "moment": ca.horzcat(*(wrench.moment for wrench in shown)),
            },
        )

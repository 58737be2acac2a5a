"""The contract of every formulation, in equations, and what follows from it once and for all.

    tau = M(q) a + C(q, v) v + g(q) + Σ force(q, v)         M = (links) + diag(armature)
    nle = C v + g + Σ force(q, v)                           dM/dt − 2 C skew
    a   = M⁻¹ (tau − nle)                                   g = ∂V/∂q
    ∂a/∂q = −M⁻¹ ∂tau/∂q,  ∂a/∂v = −M⁻¹ ∂tau/∂v             (∂tau at constant a)

A formulation is a subclass that writes down ``inverse_dynamics_expression`` for the links and their weight alone;
armature and the other force elements (:mod:`gdalembert.dynamics.forces`) are added here. What it does not write down
itself follows from that one function.

Derivatives with respect to q are taken in the tangent space, nv columns: in the direction δ q moves as
``pin.integrate(q, s δ)`` does, dq/ds = T(q) δ, so that ∂f/∂q there is the partial derivative times T. T is the matrix
of dq/dt = T(q) v; where v = dq/dt it is 1.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, TypedDict

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.actuation import actuation_matrix, actuator_names
from gdalembert.dynamics.forces import Force, Springs
from gdalembert.dynamics.forces.force import check_forces
from gdalembert.dynamics.forces.springs import SpringsByJoint
from gdalembert.dynamics.linear_analysis import LinearAnalysis
from gdalembert.dynamics.sources import Source
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.checks import is_singular
from gdalembert.model.cleaning import Change, clean_tree
from gdalembert.model.configuration import random_configuration
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.rounding import CLEANED
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import symmetric, symmetric_solve
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import directional_derivative, function, symbols

FUNCTIONS = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "nle",
    "generalized_gravity",
    "forward_dynamics",
    "kinetic_energy",
    "potential_energy",
    "state_derivative",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_hessian",
)
"""The Functions that every :class:`Dynamics` has; ``terms`` is the formulation's own."""


class Options(TypedDict, total=False):
    """The arguments that every :class:`Dynamics` takes beside its model."""

    clean: float
    springs: SpringsByJoint | None
    forces: Sequence[Force] | None
    actuation: npt.ArrayLike | None


REGISTRY: dict[str, type[Dynamics]] = {}
"""Every subclass of :class:`Dynamics` that gives itself a ``name``, by that name."""


class Dynamics(LinearAnalysis, ABC):
    """Equations of motion of a model as ``casadi.Function`` objects, each built when it is first asked for.

    q, v, a, tau are Pinocchio's: lengths nq, nv, nv, nv; rad, m, s, N m, N; velocities of joints with nq ≠ nv in the
    axes of the moved link. Functions take numbers, SX and MX, by position or by name, and can be saved, loaded,
    pickled, mapped and differentiated as CasADi's can.

    Args:
        model: any ``pin.Model``, or a :class:`~gdalembert.model.tree.Tree`.
        clean: tolerance of the cleaning of constants (:func:`~gdalembert.model.cleaning.clean_tree`); 0 takes every
            bit as given. What was cleaned is in ``changes``.
        springs: ``{joint: (stiffness, rest)}`` adds ``stiffness (q − rest)`` to tau (Niku, examples 4.1 and 4.2):
            stiffness in N m/rad or N/m, rest in rad or m; one number each, or nv of them.
        forces: further force elements (:class:`~gdalembert.dynamics.forces.Force`).
        actuation: B (nv × nu) of tau = B u, where the actuators are not one for each velocity; by default 1.

    Attributes:
        sources: where the equations come from, the first being what exports name; of the class.
        tree: the numbers that stand in the graphs, after cleaning.
        clean: the tolerance of the cleaning, as given.
        changes: what cleaning changed; :attr:`change_in_tau` is what that did to tau.
        springs: as given.
        forces: the force elements beside gravity. ``added_forces``: those of the arguments ``springs`` and ``forces``.
        actuation: B (nv × nu); u (nu) are the efforts of the actuators [N m, N].

    Raises:
        ArgumentTypeError: if the model is not one.
        ModelError: if it holds numbers without a meaning (:func:`~gdalembert.model.from_pinocchio.read_tree`).
        ArgumentError: if ``clean``, a spring or ``actuation`` cannot be used.
        UnknownNameError: if a spring names a joint that is not there.
    """

    name: ClassVar[str]
    sources: ClassVar[tuple[Source, ...]] = ()
    tree: Tree
    clean: float
    changes: tuple[Change, ...]
    springs: SpringsByJoint
    forces: tuple[Force, ...]
    added_forces: tuple[Force, ...]
    actuation: Array

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            taken = REGISTRY.get(cls.name)
            if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ArgumentError(f"{cls.__qualname__}: the name {cls.name!r} is that of {taken.__qualname__}")
            REGISTRY[cls.name] = cls
            if "sources" not in cls.__dict__:  # those of a base class are not where its equations come from
                cls.sources = ()

    def __init__(
        self,
        model: pin.Model | Tree,
        *,
        clean: float = CLEANED,
        springs: SpringsByJoint | None = None,
        forces: Sequence[Force] | None = None,
        actuation: npt.ArrayLike | None = None,
    ) -> None:
        self._given = read_tree(model)
        if not self._given.is_rigid:
            raise UnsupportedError(
                f"{self._given.name}: its links are flexible, and {type(self).__name__} takes them for rigid; the "
                "Functions of the FlexibleArm have the inertia of its modes"
            )
        self.clean = clean
        self.tree, self.changes = clean_tree(self._given, clean)
        self._set_forces(springs, forces)
        self._given_actuation = actuation
        self.actuation = actuation_matrix(self.tree.nv, actuation)

    def _set_forces(self, springs: SpringsByJoint | None, forces: Sequence[Force] | None) -> None:
        at_joints = Springs.at_joints(self.tree, {} if springs is None else springs)
        self.springs = MappingProxyType(dict(springs or {}))
        self._given_forces = check_forces(forces, self.tree)
        self.added_forces = (*((at_joints,) if springs else ()), *self._given_forces)
        self.forces = self.added_forces

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._arguments), (self._given,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tree.name!r}, nq={self.tree.nq}, nv={self.tree.nv})"

    @property
    def _arguments(self) -> Options:
        """The arguments beside the model."""
        return {
            "clean": self.clean,
            "springs": dict(self.springs),
            "forces": self._given_forces,
            "actuation": self._given_actuation,
        }

    # What callers ask of any robot, rigid or flexible.

    @property
    def nu(self) -> int:
        """The number of actuators."""
        return int(self.actuation.shape[1])

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """A name for each entry of u: that of the coordinate which the actuator drives alone, else ``u[k]``."""
        return actuator_names(self.actuation, self.coordinate_names)

    @property
    def damping_matrix(self) -> Array:
        """D (nv × nv) [N m s/rad, N s/m]: viscous damping, the constant part of ∂force/∂v."""
        q, v = symbols(q=self.tree.nq, v=self.tree.nv).values()
        _, by_v = self.force_derivatives_expression(q, v)
        constant = [x if (x := by_v[k]).is_constant() else 0 for k in range(by_v.numel())]
        return frozen(ca.reshape(ca.evalf(ca.vertcat(*constant)), *by_v.shape).full())

    @property
    def forces_depend_on_velocity(self) -> bool:
        """Whether a force element has a torque that depends on v."""
        q, v = symbols(q=self.tree.nq, v=self.tree.nv).values()
        return bool(ca.jacobian_sparsity(ca.SX(self.force_torque_expression(q, v)), v).nnz())

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of v."""
        return self.tree.velocity_names

    @property
    def modes(self) -> range:
        """The entries of v that are modal coordinates; none of a rigid robot."""
        return range(self.tree.nv, self.tree.nv)

    # The public Functions.

    @cached_property
    def inverse_dynamics(self) -> ca.Function:
        """(q, v, a) → (tau), nv: equals ``pin.rnea``."""
        s = self.symbols("q", "v", "a")
        tau = (
            self.inverse_dynamics_expression(s["q"], s["v"], s["a"])
            + self._armature * s["a"]
            + self.force_torque_expression(s["q"], s["v"])
        )
        return function("inverse_dynamics", s, {"tau": tau})

    @cached_property
    def mass_matrix(self) -> ca.Function:
        """(q) → (M), nv × nv, full and symmetric, armature included: equals ``pin.crba``."""
        s = self.symbols("q")
        return function("mass_matrix", s, {"M": self.mass_matrix_expression(s["q"]) + self._armature_matrix})

    @cached_property
    def coriolis_matrix(self) -> ca.Function:
        """(q, v) → (C), nv × nv: C_ij = Σ_s tr(U̇_sj J_s U_siᵀ), so that dM/dt − 2 C is skew.

        Christoffel's matrix where v = dq/dt; equals ``pin.computeCoriolisMatrix`` for joints with a constant motion
        subspace.
        """
        s = self.symbols("q", "v")
        return function("coriolis_matrix", s, {"C": self.coriolis_matrix_expression(s["q"], s["v"])})

    @cached_property
    def nle(self) -> ca.Function:
        """(q, v) → (nle), nv: C v + g, and the torque of the forces."""
        s = self.symbols("q", "v")
        links = self.inverse_dynamics_expression(s["q"], s["v"], ca.DM(self.tree.nv, 1))
        return function("nle", s, {"nle": links + self.force_torque_expression(s["q"], s["v"])})

    @cached_property
    def generalized_gravity(self) -> ca.Function:
        """(q) → (g), nv: the torque that holds the links against gravity, +∂V/∂q; other forces are not in it."""
        s = self.symbols("q")
        return function("generalized_gravity", s, {"g": self.generalized_gravity_expression(s["q"])})

    @cached_property
    def forward_dynamics(self) -> ca.Function:
        """(q, v, tau) → (a), nv: equals ``pin.aba``. Where M is singular the result is not finite.

        Raises:
            UnsupportedError: if M is singular in every configuration, as with a free-flyer on a link without mass.
        """
        self._require_regular_mass_matrix()
        s = self.symbols("q", "v", "tau")
        tau = s["tau"] - self.force_torque_expression(s["q"], s["v"])
        return function("forward_dynamics", s, {"a": self.forward_dynamics_expression(s["q"], s["v"], tau)})

    @cached_property
    def inverse_dynamics_derivatives(self) -> ca.Function:
        """(q, v, a) → (dtau_dq, dtau_dv), nv × nv each, all forces included.

        Row i is that of tau_i. Column j of dtau_dq is the derivative of tau as q moves to ``pin.integrate(q, s e_j)``,
        in the direction of the j-th velocity: N m or N per rad or m, in the axes of the moved link where v is. Where
        v = dq/dt it is the partial derivative. dtau_dv is per rad/s or m/s; ∂tau/∂a is the mass matrix.

        Equals ``pin.computeRNEADerivatives`` for joints with a constant motion subspace. That is wrong for spherical
        ZYX, universal, ellipsoid and composite joints and refuses mimic joints; here these are as exact as all others.
        """
        s = self.symbols("q", "v", "a")
        dtau_dq, dtau_dv = self.inverse_dynamics_derivatives_expression(s["q"], s["v"], s["a"])
        by_q, by_v = self.force_derivatives_expression(s["q"], s["v"])
        return function("inverse_dynamics_derivatives", s, {"dtau_dq": dtau_dq + by_q, "dtau_dv": dtau_dv + by_v})

    @cached_property
    def forward_dynamics_derivatives(self) -> ca.Function:
        """(q, v, tau) → (da_dq, da_dv, Minv), nv × nv each, armature and all forces included.

        da_dq and da_dv are derivatives of a(q, v, tau), columns as in :attr:`inverse_dynamics_derivatives`; Minv = M⁻¹
        = ∂a/∂tau is full and exactly symmetric. With a = ``forward_dynamics(q, v, tau)``, by the implicit function
        theorem: da_dq = −M⁻¹ dtau_dq(q, v, a), da_dv = −M⁻¹ dtau_dv(q, v, a), all with one elimination of M.

        Equals ``pin.computeABADerivatives``, for the joints that :attr:`inverse_dynamics_derivatives` names. Where M is
        singular the results are not finite.

        Raises:
            UnsupportedError: as :attr:`forward_dynamics`.
        """
        self._require_regular_mass_matrix()
        s = self.symbols("q", "v", "tau")
        q, v, nv = s["q"], s["v"], self.tree.nv
        m = self.mass_matrix_expression(q) + self._armature_matrix
        bias = self.inverse_dynamics_expression(q, v, ca.DM(nv, 1)) + self.force_torque_expression(q, v)
        dtau_dq, dtau_dv = self.inverse_dynamics_derivatives(q, v, symmetric_solve(m, s["tau"] - bias))
        # one elimination: that of the second call is a common subexpression
        solved = symmetric_solve(m, ca.horzcat(-dtau_dq, -dtau_dv, ca.DM.eye(nv)))
        da_dq, da_dv, inverse = ca.horzsplit(solved, nv)
        return function("forward_dynamics_derivatives", s, {"da_dq": da_dq, "da_dv": da_dv, "Minv": symmetric(inverse)})

    @cached_property
    def inverse_dynamics_hessian(self) -> ca.Function:
        """(q, v, a, lam) → (d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq), nv × nv each.

        The second derivatives of f = lamᵀ tau(``pin.integrate(q, δq)``, v + δv, a + δa) at δ = 0: rows are those of
        the variable named first, columns of the second, so that d2tau_dqdv[i, j] = ∂²f/∂δq_i ∂δv_j. To second order

            f = lamᵀ tau + … + ½ δq·d2tau_dqdq δq + δq·d2tau_dqdv δv + ½ δv·d2tau_dvdv δv + δa·d2tau_dadq δq.

        d2tau_dadq is the derivative of M lam. tau is linear in a, with M that does not depend on v: the blocks dvda
        and dada are zero. d2tau_dqdq and d2tau_dvdv are exactly symmetric. For joints with nq ≠ nv derivatives along
        two directions X_i, X_j of the tangent space do not commute; d2tau_dqdq is ½ (X_i X_j + X_j X_i) f, the second
        derivative along ``pin.integrate``. Linear springs, damping and armature have no part in any of it.
        """
        s = self.symbols("q", "v", "a", "lam")
        q, v, a, nq, nv = s["q"], s["v"], s["a"], self.tree.nq, self.tree.nv
        tau = ca.cse([self.inverse_dynamics_expression(q, v, a) + self.force_torque_expression(q, v)])[0]
        gradient = ca.jtimes(tau, ca.vertcat(q, v, a), s["lam"], True)
        by_q, by_v, by_a = gradient[:nq], gradient[nq : nq + nv], gradient[nq + nv :]
        t, y = self.tree.tangent_map(q), ca.SX.sym("y", nq)
        # d²/ds² f(q(s)) with dq/ds = T δ: δ·Tᵀ (∂²f/∂q²) T δ + ∂f/∂q·dT/ds δ
        bend = ca.substitute(ca.jtimes(t.T @ y, q, t), y, by_q)
        return function(
            "inverse_dynamics_hessian",
            s,
            {
                "d2tau_dqdq": symmetric(t.T @ ca.jtimes(by_q, q, t) + 0.5 * (bend + bend.T)),
                "d2tau_dqdv": ca.jtimes(by_v, q, t).T,
                "d2tau_dvdv": symmetric(ca.jtimes(by_v, v, ca.DM.eye(nv))),
                "d2tau_dadq": ca.jtimes(by_a, q, t),
            },
        )

    @cached_property
    def kinetic_energy(self) -> ca.Function:
        """(q, v) → (kinetic) [J], that of the armature included."""
        s = self.symbols("q", "v")
        energy = self.kinetic_energy_expression(s["q"], s["v"]) + 0.5 * ca.dot(self._armature, s["v"] * s["v"])
        return function("kinetic_energy", s, {"kinetic": energy})

    @cached_property
    def potential_energy(self) -> ca.Function:
        """(q) → (potential) [J]: −Σ m g·r, zero with all masses at the universe's origin, and the forces' energy."""
        s = self.symbols("q")
        return function("potential_energy", s, {"potential": self.potential_energy_expression(s["q"])})

    @cached_property
    def state_derivative(self) -> ca.Function:
        """(x, u) → (xdot): x = [q; v] (nq + nv), u (nu), tau = B u, xdot = [dq/dt; a]: what an integrator wants.

        Raises:
            UnsupportedError: as :attr:`forward_dynamics`.
        """
        self._require_regular_mass_matrix()
        nq, nv = self.tree.nq, self.tree.nv
        s = symbols(x=nq + nv, u=self.nu)
        q, v = s["x"][:nq], s["x"][nq:]
        tau = spatial.constant(self.actuation) @ s["u"] - self.force_torque_expression(q, v)
        a = self.forward_dynamics_expression(q, v, tau)
        return function("state_derivative", s, {"xdot": ca.vertcat(self.tree.configuration_rate(q, v), a)})

    @property
    def terms(self) -> ca.Function:
        """The formulation's own parts, one Function with named outputs; what they are, the subclass says."""
        raise UnsupportedError(f"{type(self).__name__} names no terms")

    @cached_property
    def change_in_tau(self) -> float:
        """How much cleaning changes tau: the largest relative error, max|Δ| / max(1, max|tau|), at 100 random states.

        The states are always the same. 0 if nothing was cleaned.
        """
        if not self.changes:
            return 0.0
        rng, given = np.random.default_rng(0), type(self)(self._given, **(self._arguments | Options(clean=0)))
        worst = 0.0
        for _ in range(100):
            state = random_configuration(self.tree, rng), rng.normal(size=self.tree.nv), rng.normal(size=self.tree.nv)
            before = given.inverse_dynamics(*state).full()
            change = np.abs(self.inverse_dynamics(*state).full() - before).max()
            worst = max(worst, float(change / max(1.0, np.abs(before).max())))
        return worst

    def mass_matrix_rate(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """dM/dt (nv × nv) along v, as an expression of SX symbols q and v: for laws and tests."""
        m = self.mass_matrix(q)
        return ca.reshape(directional_derivative(ca.vec(m), q, self.tree.configuration_rate(q, v)), m.shape)

    def _require_regular_mass_matrix(self) -> None:
        if is_singular(self.tree):
            raise UnsupportedError(
                f"{self.tree.name}: M is singular in every configuration, so that no tau determines a: some joints can "
                "move against each other without moving any inertia; give the massless links between them a mass"
            )

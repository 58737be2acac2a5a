"""The contract of every formulation, in equations, and what follows from it once and for all.

    tau = M(q) a + C(q, v) v + g(q) + K (q − rest)          M = (links) + diag(armature)
    nle = C v + g + K (q − rest)                            dM/dt − 2 C skew
    a   = M⁻¹ (tau − nle)                                   g = ∂V/∂q
    ∂a/∂q = −M⁻¹ ∂tau/∂q,  ∂a/∂v = −M⁻¹ ∂tau/∂v             (∂tau at constant a)

A formulation is a subclass that writes down ``inverse_dynamics_expression`` for the links alone; armature and springs
are added here. What it does not write down itself follows from that one function.

Derivatives with respect to q are taken in the tangent space, nv columns: in the direction δ q moves as
``pin.integrate(q, s δ)`` does, dq/ds = T(q) δ, so that ∂f/∂q there is the partial derivative times T. T is the matrix
of dq/dt = T(q) v; where v = dq/dt it is 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.sources import Source
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.model.checks import is_singular
from gdalembert.model.cleaning import Change, clean_tree
from gdalembert.model.configuration import random_configuration
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import UnboundedRevolute
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix, symmetric, symmetric_solve
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import directional_derivative, function, smaller, symbols

Springs = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]

REGISTRY: dict[str, type[Dynamics]] = {}
"""Every subclass of :class:`Dynamics` that gives itself a ``name``, by that name."""


class Dynamics(ABC):
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

    Attributes:
        sources: where the equations come from, the first being what exports name; of the class.
        tree: the numbers that stand in the graphs, after cleaning.
        clean: the tolerance of the cleaning, as given.
        changes: what cleaning changed; :attr:`change_in_tau` is what that did to tau.
        springs: as given.

    Raises:
        ArgumentTypeError: if the model is not one.
        ModelError: if it holds numbers without a meaning (:func:`~gdalembert.model.from_pinocchio.read_tree`).
        ArgumentError: if ``clean`` or a spring cannot be used.
        UnknownNameError: if a spring names a joint that is not there.
    """

    name: ClassVar[str]
    sources: ClassVar[tuple[Source, ...]] = ()
    tree: Tree
    clean: float
    changes: tuple[Change, ...]
    springs: Springs

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            taken = REGISTRY.get(cls.name)
            if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ArgumentError(f"{cls.__qualname__}: the name {cls.name!r} is that of {taken.__qualname__}")
            REGISTRY[cls.name] = cls
            if "sources" not in cls.__dict__:  # those of a base class are not where its equations come from
                cls.sources = ()

    def __init__(self, model: pin.Model | Tree, *, clean: float = 1e-11, springs: Springs | None = None) -> None:
        self._given = read_tree(model)
        if not self._given.is_rigid:
            raise UnsupportedError(
                f"{self._given.name}: its links bend, and {type(self).__name__} takes them for rigid; the Functions of "
                "the FlexibleArm have the inertia of its modes"
            )
        self.clean = clean
        self.tree, self.changes = clean_tree(self._given, clean)
        if springs is not None and not isinstance(springs, Mapping):
            raise ArgumentTypeError(f"springs={springs!r}: give {{joint: (stiffness, rest)}}")
        self.springs = MappingProxyType(dict(springs or {}))
        self._stiffness, self._rest = spring_vectors(self.tree, self.springs)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), clean=self.clean, springs=dict(self.springs)), (self._given,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tree.name!r}, nq={self.tree.nq}, nv={self.tree.nv})"

    # What a formulation writes down, for the links alone: no armature, no springs.

    @abstractmethod
    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """tau (nv) of the links, gravity included."""

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        """M (nv × nv) of the links: tau is linear in a."""
        a = ca.SX.sym("a", self.tree.nv)
        return ca.jacobian(self.inverse_dynamics_expression(q, ca.DM(self.tree.nv, 1), a), a)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """C (nv × nv): Christoffel's matrix, ½ ∂(C v)/∂v, which is the trace form's where v = dq/dt."""
        if any(joint.type.nq != joint.type.nv for joint in self.tree.joints):
            raise UnsupportedError(
                f"{type(self).__name__}: a Coriolis matrix does not follow from tau alone where v is not dq/dt; "
                "write coriolis_matrix_expression in the subclass"
            )
        product = self.inverse_dynamics_expression(q, v, ca.DM(self.tree.nv, 1)) - self.generalized_gravity_expression(
            q
        )
        return 0.5 * ca.jacobian(product, v)

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        """g (nv): tau at rest."""
        zero = ca.DM(self.tree.nv, 1)
        return self.inverse_dynamics_expression(q, zero, zero)

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        """a (nv) of M a = tau − nle, armature included."""
        bias = self.inverse_dynamics_expression(q, v, ca.DM(self.tree.nv, 1))
        return symmetric_solve(self.mass_matrix_expression(q) + self._armature_matrix, tau - bias)

    def inverse_dynamics_derivatives_expression(self, q: Matrix, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix]:
        """∂tau/∂q and ∂tau/∂v (nv × nv) of the links, in the tangent space of q.

        By algorithmic differentiation of ``inverse_dynamics_expression``, forward (column by column) or in reverse (row
        by row): which makes the smaller graph depends on the formulation and the robot, so both are tried.
        """
        s = self.symbols("q", "v", "a")
        tau = ca.cse([self.inverse_dynamics_expression(s["q"], s["v"], s["a"])])[0]
        x = ca.vertcat(s["q"], s["v"])
        directions = ca.diagcat(self._tangent_map(s["q"]), ca.DM.eye(self.tree.nv))
        forward = ca.jtimes(tau, x, directions)
        reverse = ca.jtimes(tau, x, ca.DM.eye(self.tree.nv), True).T @ directions
        graph = ca.Function("derivatives", list(s.values()), [smaller(forward, reverse)])
        dtau_dq, dtau_dv = ca.horzsplit(graph(q, v, a), self.tree.nv)
        return dtau_dq, dtau_dv

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """½ v·M v of the links."""
        return 0.5 * ca.dot(v, self.mass_matrix_expression(q) @ v)

    def gravitational_energy_expression(self, q: Matrix) -> Matrix:
        """−Σ m g·r of the links."""
        return -ca.dot(spatial.constant(self.tree.gravity), self.tree.first_moment(q))

    # What acts beside the links, linear in q and v.

    def _passive_torque(self, q: Matrix, v: Matrix) -> Matrix:
        """nv, on the left-hand side of the equation of motion."""
        return self.spring_torque(q)

    @property
    def _passive_derivatives(self) -> tuple[ca.DM, ca.DM]:
        """Its derivatives by q and v, nv × nv."""
        return self._stiffness_matrix, ca.DM(self.tree.nv, self.tree.nv)

    # The public Functions.

    @cached_property
    def inverse_dynamics(self) -> ca.Function:
        """(q, v, a) → (tau), nv: equals ``pin.rnea``."""
        s = self.symbols("q", "v", "a")
        tau = (
            self.inverse_dynamics_expression(s["q"], s["v"], s["a"])
            + self._armature * s["a"]
            + self._passive_torque(s["q"], s["v"])
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
        """(q, v) → (nle), nv: C v + g, and the torque of the springs."""
        s = self.symbols("q", "v")
        tau = self.inverse_dynamics_expression(s["q"], s["v"], ca.DM(self.tree.nv, 1)) + self._passive_torque(
            s["q"], s["v"]
        )
        return function("nle", s, {"nle": tau})

    @cached_property
    def generalized_gravity(self) -> ca.Function:
        """(q) → (g), nv: the torque that holds the links against gravity, +∂V/∂q; springs are not in it."""
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
        tau = s["tau"] - self._passive_torque(s["q"], s["v"])
        return function("forward_dynamics", s, {"a": self.forward_dynamics_expression(s["q"], s["v"], tau)})

    @cached_property
    def inverse_dynamics_derivatives(self) -> ca.Function:
        """(q, v, a) → (dtau_dq, dtau_dv), nv × nv each, springs included.

        Row i is that of tau_i. Column j of dtau_dq is the derivative of tau as q moves to ``pin.integrate(q, s e_j)``,
        in the direction of the j-th velocity: N m or N per rad or m, in the axes of the moved link where v is. Where
        v = dq/dt it is the partial derivative. dtau_dv is per rad/s or m/s; ∂tau/∂a is the mass matrix.

        Equals ``pin.computeRNEADerivatives`` for joints with a constant motion subspace. That is wrong for spherical
        ZYX, universal, ellipsoid and composite joints and refuses mimic joints; here these are as exact as all others.
        """
        s = self.symbols("q", "v", "a")
        dtau_dq, dtau_dv = self.inverse_dynamics_derivatives_expression(s["q"], s["v"], s["a"])
        by_q, by_v = self._passive_derivatives
        return function("inverse_dynamics_derivatives", s, {"dtau_dq": dtau_dq + by_q, "dtau_dv": dtau_dv + by_v})

    @cached_property
    def forward_dynamics_derivatives(self) -> ca.Function:
        """(q, v, tau) → (da_dq, da_dv, Minv), nv × nv each, armature and springs included.

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
        bias = self.inverse_dynamics_expression(q, v, ca.DM(nv, 1)) + self._passive_torque(q, v)
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
        derivative along ``pin.integrate``. Springs and armature have no part in any of it.
        """
        s = self.symbols("q", "v", "a", "lam")
        q, v, a, nq, nv = s["q"], s["v"], s["a"], self.tree.nq, self.tree.nv
        tau = ca.cse([self.inverse_dynamics_expression(q, v, a)])[0]
        gradient = ca.jtimes(tau, ca.vertcat(q, v, a), s["lam"], True)
        by_q, by_v, by_a = gradient[:nq], gradient[nq : nq + nv], gradient[nq + nv :]
        t, y = self._tangent_map(q), ca.SX.sym("y", nq)
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
        """(q) → (potential) [J]: −Σ m g·r, zero with all masses at the universe's origin, and ½ K (q − rest)²."""
        s = self.symbols("q")
        energy = self.gravitational_energy_expression(s["q"]) + self._spring_energy(s["q"])
        return function("potential_energy", s, {"potential": energy})

    @cached_property
    def state_derivative(self) -> ca.Function:
        """(x, u) → (xdot): x = [q; v] (nq + nv), u = tau (nv), xdot = [dq/dt; a]: what an integrator wants.

        Raises:
            UnsupportedError: as :attr:`forward_dynamics`.
        """
        self._require_regular_mass_matrix()
        nq, nv = self.tree.nq, self.tree.nv
        s = symbols(x=nq + nv, u=nv)
        q, v = s["x"][:nq], s["x"][nq:]
        a = self.forward_dynamics_expression(q, v, s["u"] - self._passive_torque(q, v))
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
        rng, given = np.random.default_rng(0), type(self)(self._given, clean=0, springs=dict(self.springs))
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

    def spring_torque(self, q: Matrix) -> Matrix:
        """K (q − rest), nv, of the springs."""
        torque: Matrix = ca.DM(self.tree.nv, 1)
        for joint in self._sprung:
            own = ca.DM(self._stiffness[list(joint.columns)]) * (
                joint.configuration(q) - self._rest[list(joint.columns)]
            )
            torque = torque + ca.vertcat(ca.DM(joint.idx_v, 1), own, ca.DM(self.tree.nv - joint.columns.stop, 1))
        return torque

    def _require_regular_mass_matrix(self) -> None:
        if is_singular(self.tree):
            raise UnsupportedError(
                f"{self.tree.name}: M is singular in every configuration, so that no tau determines a: some joints can "
                "move against each other without moving any inertia; give the massless links between them a mass"
            )

    def _spring_energy(self, q: Matrix) -> Matrix:
        energy: Matrix = ca.DM(0)
        for joint in self._sprung:
            stretch = joint.configuration(q) - self._rest[list(joint.columns)]
            energy = energy + 0.5 * ca.dot(ca.DM(self._stiffness[list(joint.columns)]), stretch * stretch)
        return energy

    @property
    def _sprung(self) -> list[Joint]:
        return [joint for joint in self.tree.joints if joint.name in self.springs]

    @property
    def _armature(self) -> Matrix:
        return spatial.constant(self.tree.armature)

    @property
    def _armature_matrix(self) -> Matrix:
        return ca.diag(spatial.constant(self.tree.armature))

    @property
    def _stiffness_matrix(self) -> ca.DM:
        return ca.sparsify(ca.diag(ca.DM(self._stiffness)))

    def _tangent_map(self, q: ca.SX) -> ca.SX:
        """T (nq × nv) of dq/dt = T(q) v."""
        v = ca.SX.sym("v", self.tree.nv)
        return ca.jacobian(self.tree.configuration_rate(q, v), v)

    def symbols(self, *names: str) -> dict[str, ca.SX]:
        return symbols(**{name: self.tree.nq if name == "q" else self.tree.nv for name in names})


def spring_vectors(tree: Tree, springs: Springs) -> tuple[Array, Array]:
    """Stiffness and rest position for each entry of v."""
    stiffness, rest = np.zeros(tree.nv), np.zeros(tree.nv)
    by_name = {joint.name: joint for joint in tree.joints}
    for name, spring in springs.items():
        if name not in by_name:
            raise UnknownNameError("joint", name, by_name)
        joint = by_name[name]
        if joint.scaling is not None:
            raise ArgumentError(f"spring at joint {name!r}: it mimics another joint; put the spring on that one")
        if joint.type.nq != joint.type.nv or isinstance(joint.type, UnboundedRevolute):
            raise ArgumentError(
                f"spring at joint {name!r}: q − rest has no meaning for a {type(joint.type).__name__} joint; "
                "springs stand on joints with nq = nv"
            )
        try:
            if not isinstance(spring, Sequence | np.ndarray):
                raise TypeError
            stiffness_here, rest_here = (np.broadcast_to(np.asarray(x, dtype=float), joint.type.nv) for x in spring)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"spring at joint {name!r}: got {spring!r}; give (stiffness, rest), each {joint.type.nv} numbers or one"
            ) from None
        if not (np.all(np.isfinite(stiffness_here)) and np.all(np.isfinite(rest_here)) and np.all(stiffness_here >= 0)):
            raise ArgumentError(f"spring at joint {name!r}: got {spring!r}; give finite numbers, stiffness at least 0")
        columns = list(joint.columns)
        stiffness[columns], rest[columns] = stiffness_here, rest_here
    return stiffness, rest

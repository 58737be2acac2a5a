"""Functions of the equations of motion, made of a formulation's expressions, and regressors.

Regressors are derivatives with respect to the dynamic parameters π of the links, in which torques and energies are
linear. π has ten numbers for each of Pinocchio's joints 1, 2, … that carries a rigid body: m, m c, and the inertia
tensor about the joint frame's origin as Ixx, Ixy, Iyy, Ixz, Iyz, Izz (``pin.Inertia.toDynamicParameters``). Armature,
force elements and flexible links are not in the regressors: tau of an arm is Y π beside what its beams need. Outputs
are sparse: a column is zero where the body does not load the joint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any, Self, TypeVar

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.actuation import Actuators
from gdalembert.dynamics.compositions import COMPOSITIONS
from gdalembert.dynamics.expressions import Expressions
from gdalembert.dynamics.parameters.base import Base, BaseParameters
from gdalembert.dynamics.parameters.groups import LinkInertias
from gdalembert.errors import UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.factorization import Factorization
from gdalembert.spatial.functions import Function, directional_derivative, function, symbols
from gdalembert.spatial.instructions import eliminate_common_subexpressions
from gdalembert.spatial.interrupts import interruptible

Twin = TypeVar("Twin", bound="EquationsOfMotion")
FUNCTIONS = (
    "inverse_dynamics",
    "mass_matrix",
    "mass_matrix_inverse",
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


class smallest(cached_property[ca.Function]):
    """A Function of a robot, built when it is first asked for: the smallest of the robot and its alternatives.

    Of a robot of few joints, what is made of its other Functions competes, too.

    Attributes:
        variant: the smallest that is made of expressions alone.
    """

    variant: Callable[[EquationsOfMotion], ca.Function]

    def __init__(self, build: Callable[[Any], ca.Function]) -> None:
        name, size = build.__name__, ca.Function.n_instructions

        def variant(robot: EquationsOfMotion) -> ca.Function:
            least: ca.Function = min([build(robot), *(getattr(other, name) for other in robot._alternatives)], key=size)
            return least

        @wraps(build)
        def of_all(robot: EquationsOfMotion) -> ca.Function:
            composed = COMPOSITIONS[name](robot) if robot._is_small and name in COMPOSITIONS else ()
            least: ca.Function = min([variant(robot), *composed], key=size)
            return least

        super().__init__(of_all)
        self.variant = variant


_BODY = np.array([1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1])
"""Dynamic parameters of a body, any whose mass is not zero."""


class FreeBases:
    """The free-flyers on the universe, without armature, and the known derivatives of their accelerations.

    Newton's laws are the same in all frames that move at constant velocity, however they are turned, and weight
    accelerates all masses alike. So a robot whose base is free moves its joints in the same way in whatever pose the
    base is and at whatever linear velocity. The base itself, in its axes and with g in them, accelerates by

        a_lin = g − ω × v_lin + …,   ∂a_lin/∂θ = [g×],   ∂a_lin/∂v_lin = −[ω×],   ∂a_lin/∂ω = [v_lin×] + …

    where … is what depends neither on its pose nor on v_lin; only external wrenches and force elements may besides.
    (Ours.)

    Attributes:
        pose: the projection (nv × nv) on their poses, among displacements of q.
        linear: the projection on their linear velocities, among velocities v.
    """

    def __init__(self, tree: Tree) -> None:
        armature, entries = spatial.constant(tree.armature), np.arange(tree.nv)
        roots = (joint for joint in tree.joints if joint.parent < 0 and joint.type.is_free)
        self.tree, self.joints = tree, [root for root in roots if not root.velocity(armature).nnz()]
        columns = np.array([joint.columns for joint in self.joints]).reshape(-1, 6)
        self.pose = spatial.constant(np.diag(1.0 * np.isin(entries, columns)))
        self.linear = spatial.constant(np.diag(1.0 * np.isin(entries, columns[:, :3])))

    def derivatives(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """The known part of ∂a/∂q and ∂a/∂v (nv × nv each): all of the columns of their poses and of v_lin."""
        by_q, by_v = (ca.SX(self.tree.nv, self.tree.nv) for _ in range(2))
        for joint in self.joints:
            rotation, _ = joint.placement(q)
            twist, linear, angular = joint.velocity(v), joint.columns[:3], joint.columns[3:]
            by_q[linear, angular] = spatial.skew(rotation.T @ spatial.constant(self.tree.gravity))
            by_v[linear, linear] = -spatial.skew(twist[3:])
            by_v[linear, angular] = spatial.skew(twist[:3])
        return by_q, by_v


@interruptible
class EquationsOfMotion(Expressions):
    """The Functions of (q, v, a, tau), each built when it is first asked for; a part of :class:`~gdalembert.Dynamics`.

    Attributes:
        nominal: the robot in numbers.
        actuators: tau of u (nu).
    """

    nominal: Tree
    actuators: Actuators

    @property
    def _alternatives(self) -> tuple[EquationsOfMotion, ...]:
        """The same robot by other formulations, which may have smaller graphs."""
        return ()

    @property
    def _is_small(self) -> bool:
        """True if Functions that are made of others can be smaller than those of the robot's expressions."""
        return False

    @property
    def nq(self) -> int:
        """The length of q."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """The length of v."""
        return self.tree.nv

    @property
    def nu(self) -> int:
        """The number of actuators."""
        return self.actuators.nu

    @property
    def actuation(self) -> Array:
        """B (nv × nu) of tau = B u.

        Raises:
            UnsupportedError: if the actuators are a Function.
        """
        return self.actuators.matrix("actuation")

    @smallest
    def inverse_dynamics(self) -> ca.Function:
        """(q, v, a) → (tau), nv: equals ``pin.rnea``."""
        s = self.symbols("q", "v", "a", "wrenches")
        links = self.inverse_dynamics_expression(s["q"], s["v"], s["a"], self.wrenches_of(s))
        tau = links + self._rotor_torque(s["a"]) + self.force_torque_expression(s["q"], s["v"])
        return function("inverse_dynamics", s, {"tau": self.under_load_expression(s["q"], s["v"], tau)})

    @smallest
    def mass_matrix(self) -> ca.Function:
        """(q) → (M), nv × nv, full and symmetric, armature included: equals ``pin.crba``."""
        s = self.symbols("q")
        return function("mass_matrix", s, {"M": self.mass_matrix_expression(s["q"]) + self._armature_matrix})

    @smallest
    def mass_matrix_inverse(self) -> ca.Function:
        """(q) → (Minv), nv × nv, full and exactly symmetric, armature included: equals ``pin.computeMinverse``.

        Where M is singular the result is not finite.

        Raises:
            UnsupportedError: as :attr:`forward_dynamics`.
        """
        self._require_regular_mass_matrix()
        s = self.symbols("q")
        m = self.mass_matrix_expression(s["q"]) + self._armature_matrix
        return function("mass_matrix_inverse", s, {"Minv": Factorization(m).inverse})

    @smallest
    def coriolis_matrix(self) -> ca.Function:
        """(q, v) → (C), nv × nv: C_ij = Σ_s tr(U̇_sj J_s U_siᵀ), so that dM/dt − 2 C is skew.

        Christoffel's matrix where v = dq/dt; equals ``pin.computeCoriolisMatrix`` for joints with a constant motion
        subspace.
        """
        s = self.symbols("q", "v")
        return function("coriolis_matrix", s, {"C": self.coriolis_matrix_expression(s["q"], s["v"])})

    @smallest
    def nle(self) -> ca.Function:
        """(q, v) → (nle), nv: C v + g, and the torque of the forces; tau at a = 0.

        With friction that grows with the load tau is M a + nle at a = 0 alone.
        """
        s = self.symbols("q", "v")
        tau = self.nle_expression(s["q"], s["v"]) + self.force_torque_expression(s["q"], s["v"])
        return function("nle", s, {"nle": self.under_load_expression(s["q"], s["v"], tau)})

    @smallest
    def generalized_gravity(self) -> ca.Function:
        """(q) → (g), nv: the torque that holds the links against gravity, +∂V/∂q; other forces are not in it."""
        s = self.symbols("q")
        return function("generalized_gravity", s, {"g": self.generalized_gravity_expression(s["q"])})

    @smallest
    def forward_dynamics(self) -> ca.Function:
        """(q, v, tau) → (a), nv: equals ``pin.aba``. Where M is singular the result is not finite.

        Raises:
            UnsupportedError: if M is singular in every configuration, as with a free-flyer on a link without mass.
        """
        self._require_regular_mass_matrix()
        s = self.symbols("q", "v", "tau", "wrenches")
        tau = self.net_torque_expression(s["q"], s["v"], s["tau"])
        a = self.forward_dynamics_expression(s["q"], s["v"], tau, self.wrenches_of(s))
        return function("forward_dynamics", s, {"a": a})

    @smallest
    def inverse_dynamics_derivatives(self) -> ca.Function:
        """(q, v, a) → (dtau_dq, dtau_dv), nv × nv each, all forces included.

        Row i is that of tau_i. Column j of dtau_dq is the derivative of tau as q moves to ``pin.integrate(q, s e_j)``,
        in the direction of the j-th velocity: N m or N per rad or m, in the axes of the moved link where v is. Where
        v = dq/dt it is the partial derivative. dtau_dv is per rad/s or m/s; ∂tau/∂a is the mass matrix.

        With friction that grows with the load ∂tau/∂a is not the mass matrix.

        Equals ``pin.computeRNEADerivatives`` for joints with a constant motion subspace. That is wrong for spherical
        ZYX, universal, ellipsoid and composite joints and refuses mimic joints; here these are as exact as all others.
        """
        s = self.symbols("q", "v", "a", "wrenches")
        dtau_dq, dtau_dv = self.inverse_dynamics_derivatives_expression(s["q"], s["v"], s["a"], self.wrenches_of(s))
        by_q, by_v = self.force_derivatives_expression(s["q"], s["v"])
        dtau_dq, dtau_dv = dtau_dq + by_q, dtau_dv + by_v
        if self.has_load_friction:
            links = self.inverse_dynamics_expression(s["q"], s["v"], s["a"], self.wrenches_of(s))
            tau = links + self._rotor_torque(s["a"]) + self.force_torque_expression(s["q"], s["v"])
            by_v, by_tau = self._load_derivatives(self.under_load_expression, s["q"], s["v"], tau)
            dtau_dq, dtau_dv = by_tau @ dtau_dq, by_tau @ dtau_dv + by_v
        return function("inverse_dynamics_derivatives", s, {"dtau_dq": dtau_dq, "dtau_dv": dtau_dv})

    @smallest
    def forward_dynamics_derivatives(self) -> ca.Function:
        """(q, v, tau) → (da_dq, da_dv, Minv), nv × nv each, armature and all forces included.

        da_dq and da_dv are derivatives of a(q, v, tau), columns as in :attr:`inverse_dynamics_derivatives`; Minv = M⁻¹
        = ∂a/∂tau is full and exactly symmetric. With a = ``forward_dynamics(q, v, tau)``, by the implicit function
        theorem: da_dq = −M⁻¹ dtau_dq(q, v, a), da_dv = −M⁻¹ dtau_dv(q, v, a), all with one elimination of M. With
        friction that grows with the load Minv is ∂a/∂tau, which is not M⁻¹.

        Equals ``pin.computeABADerivatives``, for the joints that :attr:`inverse_dynamics_derivatives` names. Where M is
        singular the results are not finite.

        Raises:
            UnsupportedError: as :attr:`forward_dynamics`.
        """
        self._require_regular_mass_matrix()
        s = self.symbols("q", "v", "tau", "wrenches")
        tau = self.without_load_expression(s["q"], s["v"], s["tau"])
        solved = self.forward_dynamics_derivatives_expression(s["q"], s["v"], tau, self.wrenches_of(s))
        da_dq, da_dv, inverse = ca.horzsplit(solved, self.tree.nv)
        if self.has_load_friction:
            by_v, by_tau = self._load_derivatives(self.without_load_expression, s["q"], s["v"], s["tau"])
            da_dv, inverse = da_dv + inverse @ by_v, inverse @ by_tau
        return function("forward_dynamics_derivatives", s, {"da_dq": da_dq, "da_dv": da_dv, "Minv": inverse})

    def forward_dynamics_derivatives_expression(self, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix) -> Matrix:
        """Derivatives ∂a/∂q, ∂a/∂v and M⁻¹ (nv × 3 nv), armature and all forces included."""
        factorization = Factorization(self.mass_matrix_expression(q) + self._armature_matrix)
        # what is known of a free base needs no elimination: Pinocchio's humanoid has 64,725 instructions, else 72,300
        a, free = ca.SX.sym("a", self.tree.nv), FreeBases(self.tree)
        bias, by_q, by_v = self._bias_and_derivatives(free, q, v, a, wrenches)
        by_q = ca.substitute(by_q, a, factorization.solve(tau - bias))
        half = factorization.half_solve(-ca.horzcat(by_q, by_v))
        derivatives = ca.horzcat(*free.derivatives(q, v)) + factorization.half_inverse.T @ factorization.divide(half)
        return ca.horzcat(derivatives, factorization.inverse)

    def _bias_and_derivatives(
        self, free: FreeBases, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Bias tau (nv) at a = 0, and ∂tau/∂q and ∂tau/∂v (nv × nv) at a, but for what is known of free bases."""
        slow = v - free.linear @ v
        by_q, by_v = self.inverse_dynamics_derivatives_expression(q, slow, a, wrenches)
        at_rest = self.generalized_gravity_expression(q) + self.wrench_torque_expression(q, wrenches)
        # C v is quadratic in v and follows from ∂tau/∂v, which is there already; by nle the derivatives of a have 2344
        # instructions in place of 2256 (PUMA 560)
        bias = at_rest + 0.5 * (by_v @ slow) + self.force_torque_expression(q, v)
        # what is not known already of a free base: how wrenches depend on its pose
        by_q += (self.wrench_stiffness_expression(q, wrenches) - by_q) @ free.pose
        by_v -= by_v @ free.linear
        force_dq, force_dv = self.force_derivatives_expression(q, v)
        return bias, by_q + force_dq, by_v + force_dv

    @smallest
    def inverse_dynamics_hessian(self) -> ca.Function:
        """(q, v, a, lam) → (d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq), nv × nv each.

        The second derivatives of f = lamᵀ tau(``pin.integrate(q, δq)``, v + δv, a + δa) at δ = 0: rows are those of
        the variable named first, columns of the second, so that d2tau_dqdv[i, j] = ∂²f/∂δq_i ∂δv_j. To second order

            f = lamᵀ tau + … + ½ δq·d2tau_dqdq δq + δq·d2tau_dqdv δv + ½ δv·d2tau_dvdv δv + δa·d2tau_dadq δq.

        d2tau_dadq is the derivative of M lam. tau is linear in a, with M that does not depend on v: the blocks dvda
        and dada are zero. d2tau_dqdq and d2tau_dvdv are exactly symmetric. For joints with nq ≠ nv derivatives along
        two directions X_i, X_j of the tangent space do not commute; d2tau_dqdq is ½ (X_i X_j + X_j X_i) f, the second
        derivative along ``pin.integrate``. Linear springs, damping and armature have no part in any of it.

        With friction that grows with the load tau is not affine in a: d2tau_dadq is not that of M lam, springs, damping
        and armature have a part in all, and two blocks follow, d2tau_dadv and d2tau_dada (nv × nv each).
        """
        s = self.symbols("q", "v", "a", "lam", "wrenches")
        q, v, a, lam = (s[name] for name in ("q", "v", "a", "lam"))
        blocks = ca.horzsplit(self.inverse_dynamics_hessian_expression(q, v, a, lam, self.wrenches_of(s)), self.tree.nv)
        names = ("d2tau_dqdq", "d2tau_dqdv", "d2tau_dvdv", "d2tau_dadq", "d2tau_dadv", "d2tau_dada")
        return function("inverse_dynamics_hessian", s, dict(zip(names[: len(blocks)], blocks, strict=True)))

    def inverse_dynamics_hessian_expression(
        self, q: Matrix, v: Matrix, a: Matrix, lam: Matrix, wrenches: Matrix
    ) -> Matrix:
        """The blocks of the Hessian side by side (nv × 4 nv, under load friction nv × 6 nv), all forces included."""
        nq, nv, has_load = self.tree.nq, self.tree.nv, self.has_load_friction
        tau = self.inverse_dynamics_expression(q, v, a, wrenches) + self.force_torque_expression(q, v)
        if has_load:
            tau = self.under_load_expression(q, v, tau + self._rotor_torque(a))
        tau = ca.cse([tau])[0]
        # block by block, since others are zero: ca.hessian by (q, v, a) makes 3275 instructions, not 2638 (PUMA 560)
        gradient = ca.jtimes(tau, ca.vertcat(q, v, a), lam, True)
        by_q, by_v, by_a = gradient[:nq], gradient[nq : nq + nv], gradient[nq + nv :]
        t, y = self.tree.tangent_map(q), ca.SX.sym("y", nq)
        # d²/ds² f(q(s)) with dq/ds = T δ: δ·Tᵀ (∂²f/∂q²) T δ + ∂f/∂q·dT/ds δ
        bend = ca.substitute(ca.jtimes(t.T @ y, q, t), y, by_q)
        return ca.horzcat(
            symmetric(t.T @ ca.jtimes(by_q, q, t) + 0.5 * (bend + bend.T)),
            ca.jtimes(by_v, q, t).T,
            symmetric(ca.jtimes(by_v, v, ca.DM.eye(nv))),
            ca.jtimes(by_a, q, t),
            *([ca.jtimes(by_a, v, ca.DM.eye(nv)), symmetric(ca.jtimes(by_a, a, ca.DM.eye(nv)))] if has_load else []),
        )

    @smallest
    def kinetic_energy(self) -> ca.Function:
        """(q, v) → (kinetic) [J], that of armature and motors included."""
        s = self.symbols("q", "v")
        links, v = self.kinetic_energy_expression(s["q"], s["v"]), s["v"]
        energy = links + 0.5 * ca.dot(self._armature, v * v)
        if self.motor_inertia is not None:
            energy += 0.5 * ca.dot(v, self.motor_inertia @ v)
        return function("kinetic_energy", s, {"kinetic": energy})

    @smallest
    def potential_energy(self) -> ca.Function:
        """(q) → (potential) [J]: −Σ m g·r, zero with all masses at the universe's origin, and the forces' energy."""
        s = self.symbols("q")
        return function("potential_energy", s, {"potential": self.potential_energy_expression(s["q"])})

    @smallest
    def state_derivative(self) -> ca.Function:
        """(x, u) → (xdot): x = [q; v] (nq + nv), u (nu) of the actuators, xdot = [dq/dt; a]: for integrators.

        Raises:
            UnsupportedError: as :attr:`forward_dynamics`.
        """
        self._require_regular_mass_matrix()
        nq, nv = self.tree.nq, self.tree.nv
        s = symbols(x=nq + nv, u=self.nu) | self.symbols("wrenches")
        q, v = s["x"][:nq], s["x"][nq:]
        tau = self.net_torque_expression(q, v, self.actuators.tau(q, s["u"]))
        a = self.forward_dynamics_expression(q, v, tau, self.wrenches_of(s))
        return function("state_derivative", s, {"xdot": ca.vertcat(self.tree.configuration_rate(q, v), a)})

    @property
    def terms(self) -> ca.Function:
        """The formulation's own parts, one Function with named outputs; what they are, the subclass says."""
        raise UnsupportedError(f"{type(self).__name__} names no terms")

    def mass_matrix_rate(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """Rate dM/dt (nv × nv) along v, as an expression of SX symbols q and v: for laws and tests."""
        m = self.mass_matrix(q, *self.parameters.inputs.values())
        return ca.reshape(directional_derivative(ca.vec(m), q, self.tree.configuration_rate(q, v)), m.shape)

    def _require_regular_mass_matrix(self) -> None:
        if self.parameters.is_singular:
            raise UnsupportedError(
                f"{self.tree.name}: M is singular in every configuration, so that no tau determines a: some joints can "
                "move against each other without moving any inertia; give the massless links between them a mass"
            )

    @smallest
    def torque_regressor(self) -> ca.Function:
        """(q, v, a) → (Y), nv × 10 (njoints − 1), sparse: tau = Y π; equals ``pin.computeJointTorqueRegressor``.

        Armature, friction and other forces have no columns, also where they are parameters: those are columns of the
        derivative of tau by p.
        """
        return self._regressor("torque_regressor", "inverse_dynamics_expression", "q", "v", "a")

    @smallest
    def kinetic_energy_regressor(self) -> ca.Function:
        """(q, v) → (Y), 1 × 10 (njoints − 1): T = Y π; equals ``pin.computeKineticEnergyRegressor``."""
        return self._regressor("kinetic_energy_regressor", "kinetic_energy_expression", "q", "v")

    @smallest
    def potential_energy_regressor(self) -> ca.Function:
        """(q) → (Y), 1 × 10 (njoints − 1): V = Y π of gravity; equals ``pin.computePotentialEnergyRegressor``."""
        return self._regressor("potential_energy_regressor", "gravitational_energy_expression", "q")

    @smallest
    def base_regressor(self) -> ca.Function:
        """(q, v, a) → (Y), nv × n_b, sparse: tau = Y β with β = ``base_parameters.of(model)``.

        ``base_regressor @ base_parameters.matrix`` is ``torque_regressor``.
        """
        s = self.symbols("q", "v", "a")
        return _sparse("base_regressor", s, self.base_regressor_expression(s["q"], s["v"], s["a"]))

    @cached_property
    def base_parameters(self) -> BaseParameters:
        """The fewest combinations of π that joint torques depend on (:mod:`gdalembert.dynamics.parameters.base`)."""
        return self._base.found

    def base_regressor_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """Regressor Y (nv × n_b) of the base parameters."""
        return self.torque_regressor(q, v, a, *self.parameters.inputs.values()) @ spatial.constant(
            self.base_parameters.bodies
        )

    @cached_property
    def _base(self) -> Base:
        placements = (x for joint in self.tree.joints for x in (joint.rotation, joint.translation))
        if any(isinstance(x, ca.SX) and not x.is_constant() for x in placements):
            raise UnsupportedError(
                f"{self.tree.name}: its lengths or angles are symbols, and base parameters are those of a geometry in "
                "numbers; give them, as dyn.at(p) does"
            )
        return Base.select(replace(self.nominal, gravity=self.tree.gravity), None)

    def _regressor(self, name: str, expression: str, *inputs: str) -> ca.Function:
        """The derivative of an expression by π; of some formulations it has π in it, and any value will do."""
        s, inertia = self.symbols(*inputs), LinkInertias.select(self.nominal, None)
        pi = ca.SX.sym("pi", len(inertia.names))
        twin = self._on(inertia.substitute(self.tree, pi))
        y = ca.jacobian(ca.SX(getattr(twin, expression)(*(s[name] for name in inputs))), pi)
        if ca.depends_on(y, pi):
            y = ca.substitute(y, pi, ca.DM(np.tile(_BODY, len(inertia.elements))))
        return _sparse(name, s, y)

    def _on(self, tree: Tree) -> Self:
        """The formulation with another tree in its expressions."""
        twin = self._by(type(self))  # a copy would have symbols of its own
        twin.tree = tree
        return twin

    def _by(self, formulation: type[Twin]) -> Twin:
        """The same robot by a formulation."""
        twin = object.__new__(formulation)
        for name, value in vars(self).items():
            if not isinstance(getattr(type(self), name, None), cached_property):
                vars(twin)[name] = value
        return twin


def _sparse(name: str, inputs: dict[str, ca.SX], y: Matrix) -> ca.Function:
    y = ca.sparsify(ca.SX(y))
    small = eliminate_common_subexpressions(list(inputs.values()), [y])
    return Function(name, list(inputs.values()), small, list(inputs), ["Y"])

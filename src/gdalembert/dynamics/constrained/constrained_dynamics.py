"""ConstrainedDynamics: a robot that nc ≥ 0 rows of contacts and loops hold; a free robot is held by none.

M a + nle = tau + Jᵀ f                   f: the forces of the constraints, which act on the robot
J a + J̇ v = −damping J v − stiffness c   c(q): the residual, with rate J v where it is 0

G f = −J̇ v − … − J M⁻¹ (tau − nle)       G = J M⁻¹ Jᵀ

Its derivatives follow by the implicit function theorem.

    M da = dtau − ∂tau/∂q dq − ∂tau/∂v dv + ∂(Jᵀ f)/∂q dq + Jᵀ df
    J da = −∂e/∂q dq − ∂e/∂v dv                   e = J a + J̇ v + damping E + stiffness c

Of a free base a part of da is known, as if nothing held it (``equations_of_motion.FreeBases``). That part satisfies
the first equation, so that the constraints have to undo J of it and nothing else.

The KKT system and its inverse are

    M a − Jᵀ f = r               a = P r − Qᵀ s
        J a    = s               f = Q r + Γ s

P = ∂a/∂tau, Q = ∂f/∂tau, Γ = (J M⁻¹ Jᵀ)⁻¹. Columns r and s of derivatives are zero but for one branch of the tree and
the constraints that it reaches. Coordinates that move a constraint and several branches are the core c; those of the
branches b are eliminated before it (Featherstone's sparsity; the split is ours):

    N M Nᵀ = diag(A, D)          X = N Jᵀ           y = N r           t = s − X_bᵀ D⁻¹ y_b

    f = Q_c y_c + Γ t            a_c = P_c y_c − Q_cᵀ t               a_b = N_cbᵀ a_c + N_bbᵀ D⁻¹ (y_b + X_b f)

so that what is far away feels a column by y_c and t alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, NoReturn

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.constrained.checks import (
    check_consistent,
    check_independent,
    checked_constraints,
    gains,
    with_own,
)
from gdalembert.dynamics.constrained.closure import Closure, with_frames
from gdalembert.dynamics.constraints.constraint_set import ConstraintJacobian, ConstraintSet
from gdalembert.dynamics.constraints.relative_motion import RelativeMotion
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.equations_of_motion import FreeBases
from gdalembert.errors import ArgumentTypeError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.arguments import number
from gdalembert.spatial.brief import first_of
from gdalembert.spatial.factorization import Factorization, dense_inverse
from gdalembert.spatial.functions import derivative_along, function, smaller, symbols
from gdalembert.spatial.interrupts import interruptible

Gain = float | Sequence[npt.ArrayLike]
"""One number for all constraints, or one for each of them: a number, or one for each of its rows."""


@interruptible
class ConstrainedDynamics(Closure):
    """Dynamics of a robot that contacts and loops hold, as ``casadi.Function`` objects.

    q, v, a, tau, and wrenches and p where the robot has them, are those of ``dynamics``. ``forces`` is one column: 3 or
    6 rows for each constraint in turn, (force; moment) [N, N m], that act on the robot at the constraint's first frame,
    in the axes of that frame; on the second frame of a loop they act with the opposite sign. Residuals and velocities
    have the same rows [m, rad]. A ``RigidConstraintModel`` in LOCAL_WORLD_ALIGNED has these axes too; Pinocchio's own
    forces of it are in those of the universe.

    Redundant constraints, such as all six of a weld that closes a planar linkage, do not determine their forces. They
    are refused unless ``regularization`` is given; then the forces are, nearly, the smallest of all that do the work.

    Args:
        dynamics: of the robot alone, in any formulation; a :class:`~gdalembert.FlexibleArm` too.
        constraints: a list of :class:`~gdalembert.Contact` and :class:`~gdalembert.Loop`; of Pinocchio's
            ``RigidConstraintModel``, ``PointAnchorConstraintModel`` and ``FrameAnchorConstraintModel`` of this robot's
            model; or of lists of them, as its parsers give them. None: a free robot.
        stiffness, damping: of Baumgarte's stabilisation [1/s²; 1/s]: the constraints' acceleration is made
            ``−damping · velocity − stiffness · residual`` instead of 0; one number, or one for each constraint (or for
            each of its rows). A critically damped error that vanishes at the rate 1/T has 1/T² and 2/T. Constraints of
            Pinocchio keep those of their own Baumgarte corrector, Kp and Kd.
        restitution: the part of a constraint's velocity that an :attr:`impact` gives back: one number from 0 to 1, or
            one for each constraint.
        regularization: μ of (J M⁻¹ Jᵀ + μ) f = … [1/kg; 1/(kg m²)], solved in three proximal steps, each of which
            multiplies the error by μ / λ; 0 for none. Keep μ far below λ, the least eigenvalue of J M⁻¹ Jᵀ that is not
            0: 1e-6 λ leaves no error but rounding, 0.1 λ one of 1e-3 in the accelerations. Where no acceleration meets
            redundant constraints, as with velocities that violate them, forces grow with 1/μ.

    Attributes:
        dynamics, constraints, stiffness, damping, restitution, regularization: as given.
        tree, nq, nv, nu, parameters: those of ``dynamics``.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        UnknownNameError: if a frame is not there.
        ArgumentError: if a gain cannot be used, a constraint is given twice, no joint moves what it holds, two
            constraints of the same links contradict each other, or constraints are redundant and there is no
            regularization.
        UnsupportedError: if a constraint of Pinocchio has bounds, asks for a motion, or is compliant.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        constraints: Sequence[Any],
        *,
        stiffness: Gain = 0.0,
        damping: Gain = 0.0,
        restitution: Gain = 0.0,
        regularization: float = 0.0,
    ) -> None:
        self.constraints = checked_constraints(dynamics, constraints)
        self.dynamics, self.stiffness, self.damping, self.restitution = dynamics, stiffness, damping, restitution
        self.tree, self.parameters = dynamics.tree, dynamics.parameters
        self.nq, self.nv, self.nu = dynamics.nq, dynamics.nv, dynamics.nu
        self.regularization = number("regularization", regularization, inclusive=True)
        self._robot, pairs = with_frames(dynamics, self.constraints)
        self._set = ConstraintSet(
            pairs,
            with_own("stiffness", stiffness, self.constraints, pairs),
            with_own("damping", damping, self.constraints, pairs),
            self.regularization,
            gains("restitution", restitution, pairs, most=1.0),
        )
        check_consistent(dynamics.nominal, self.constraints)
        check_independent(self._robot.nominal, self._set)
        self._check_where_closed()

    @staticmethod
    def of(context: str, robot: object) -> ConstrainedDynamics:
        """A robot with its constraints, of which a :class:`~gdalembert.Dynamics` has none.

        Raises:
            ArgumentTypeError: if it is neither a Dynamics nor a ConstrainedDynamics.
        """
        if isinstance(robot, ConstrainedDynamics):
            return robot
        if isinstance(robot, Dynamics):
            return ConstrainedDynamics(robot, [])
        raise ArgumentTypeError(f"{context} takes a Dynamics, as gd.NewtonEuler(model), not {type(robot).__name__}")

    def __repr__(self) -> str:
        names = first_of([constraint.name for constraint in self.constraints])
        return f"ConstrainedDynamics({self.dynamics!r}, [{names}])"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say where to find what the robot has without its constraints."""
            known = not name.startswith("_") and name in dir(self.__dict__.get("dynamics"))
            there = f"; that of the robot without constraints is con.dynamics.{name}" if known else ""
            raise AttributeError(f"ConstrainedDynamics has no {name}{there}")

    @property
    def stabilisation_rate(self) -> float:
        """The highest rate of decay of errors of the constraints [1/s]: the damping, or the root of the stiffness."""
        return float(np.maximum(self._set.damping, np.sqrt(self._set.stiffness)).max(initial=0.0))

    @cached_property
    def forward_dynamics(self) -> ca.Function:
        """(q, v, tau) → (a, forces): equals ``pin.constraintDynamics``.

        Without regularization the result means nothing where constraints become redundant, ``degrees_of_freedom(q)``
        above nv − nc: it is not finite, or has arbitrary forces. ``check_state`` refuses such a q.
        """
        s = self.symbols("q", "v", "tau", "wrenches")
        a, forces = self._solved(s, s["q"], s["v"], s["tau"])
        return function("forward_dynamics", s, {"a": a, "forces": forces})

    @cached_property
    def state_derivative(self) -> ca.Function:
        """(x, u) → (xdot): x = [q; v], xdot = [dq/dt; a], as of a :class:`~gdalembert.Dynamics`."""
        nq, tree = self.tree.nq, self.tree
        s = symbols(x=nq + tree.nv, u=self.dynamics.nu) | self.symbols("wrenches")
        q, v = s["x"][:nq], s["x"][nq:]
        a, _ = self._solved(s, q, v, self.dynamics.actuators.tau(q, s["u"]))
        return function("state_derivative", s, {"xdot": ca.vertcat(tree.configuration_rate(q, v), a)})

    def _solved(self, s: dict[str, ca.SX], q: Matrix, v: Matrix, tau: Matrix) -> tuple[Matrix, Matrix]:
        robot = self._robot
        if not self.nc:
            inputs = (s[name] for name in ("wrenches", "p") if name in s)
            return robot.forward_dynamics(q, v, tau, *inputs), ca.DM(0, 1)
        effort = robot.net_torque_expression(q, v, tau)
        return robot.constrained_dynamics_expression(self._set, q, v, effort, robot.wrenches_of(s))

    @cached_property
    def inverse_dynamics(self) -> ca.Function:
        """(q, v, a, forces) → (tau), nv: M a + nle − Jᵀ forces."""
        nq, nv = self.tree.nq, self.tree.nv
        s = symbols(q=nq, v=nv, a=nv, forces=self.nc) | self.symbols("wrenches")
        robot, q, v, a = self._robot, s["q"], s["v"], s["a"]
        frames, wrenches = self._set.wrenches(robot.tree, q, s["forces"])
        loaded = robot._on(robot.tree)
        loaded.external_wrenches = robot.external_wrenches.joined(robot.tree, frames)
        links = loaded.inverse_dynamics_expression(q, v, a, ca.horzcat(robot.wrenches_of(s), wrenches))
        tau = links + robot._rotor_torque(a) + robot.force_torque_expression(q, v)
        return function("inverse_dynamics", s, {"tau": robot.under_load_expression(q, v, tau)})

    @cached_property
    def impact(self) -> ca.Function:
        """(q, v) → (v_after, impulses): the constraints take hold at once; equals ``pin.impulseDynamics``.

        Without regularization the result means nothing where constraints become redundant, ``degrees_of_freedom(q)``
        above nv − nc: it is not finite, or has arbitrary forces. ``check_state`` refuses such a q.

        J v_after = −restitution J v, M (v_after − v) = Jᵀ impulses; impulses have the rows of forces [N s; N m s].
        """
        s = self.symbols("q", "v")
        robot, q, v = self._robot, s["q"], s["v"]
        if not self.nc:
            return function("impact", s, {"v_after": v, "impulses": ca.DM(0, 1)})
        rebound = -spatial.constant(1 + self._set.restitution) * self._set.velocity(robot.tree, q, v)
        change, impulses = robot.impact_expression(self._set, q, rebound)
        return function("impact", s, {"v_after": v + change, "impulses": impulses})

    @cached_property
    def forward_dynamics_derivatives(self) -> ca.Function:
        """(q, v, tau) → (da_dq, da_dv, da_dtau, dforces_dq, dforces_dv, dforces_dtau).

        Equals ``pin.computeConstraintDynamicsDerivatives``; columns by q are in the tangent space, as those of
        :attr:`~gdalembert.Dynamics.forward_dynamics_derivatives`. By the implicit function theorem, with one
        elimination of the KKT system. da_dtau is exactly symmetric, unless friction grows with the load.
        """
        s, nv = self.symbols("q", "v", "tau", "wrenches"), self.tree.nv
        blocks: list[Matrix]
        if self.nc:
            arguments = self._set, s["q"], s["v"], s["tau"], self._robot.wrenches_of(s)
            variants = (constrained_dynamics_derivatives(variant, *arguments) for variant in self._robot._variants)
            rates, loads = ca.vertsplit(reduce(smaller, variants), [0, nv, nv + self.nc])
            blocks = [*ca.horzsplit(rates, nv), *ca.horzsplit(loads, nv)]
        else:
            blocks = [*self._robot.forward_dynamics_derivatives.call([*s.values()]), *[ca.SX(0, nv)] * 3]
        names = [f"{output}_{by}" for output in ("da", "dforces") for by in ("dq", "dv", "dtau")]
        return function("forward_dynamics_derivatives", s, dict(zip(names, blocks, strict=True)))

    @cached_property
    def inverse_dynamics_derivatives(self) -> ca.Function:
        """(q, v, a, forces) → (dtau_dq, dtau_dv), nv × nv each, of :attr:`inverse_dynamics`.

        Columns by q are in the tangent space, as those of :attr:`~gdalembert.Dynamics.inverse_dynamics_derivatives`. By
        a it is the mass matrix, by forces −Jᵀ.
        """
        nv, robot = self.tree.nv, self._robot
        s = symbols(q=self.tree.nq, v=nv, a=nv, forces=self.nc) | self.symbols("wrenches")
        q, v, a, wrenches = s["q"], s["v"], s["a"], robot.wrenches_of(s)
        dtau_dq, dtau_dv = robot.inverse_dynamics_derivatives_expression(q, v, a, wrenches)
        force_dq, force_dv = robot.force_derivatives_expression(q, v)
        by_constraints, _, _ = _of_constraints(
            ConstraintJacobian(self._set, robot.tree, q), q, v, a, s["forces"], errors=False
        )
        blocks = {"dtau_dq": dtau_dq + force_dq - by_constraints, "dtau_dv": dtau_dv + force_dv}
        return function("inverse_dynamics_derivatives", s, blocks)

    @cached_property
    def acceleration_error_derivatives(self) -> ca.Function:
        """(q, v, a) → (derror_dq, derror_dv), nc × nv each, of :attr:`acceleration_error`.

        Columns by q are in the tangent space. By a it is J.
        """
        s, robot = self.symbols("q", "v", "a"), self._robot
        rows = ConstraintJacobian(self._set, robot.tree, s["q"])
        _, by_q, by_v = _of_constraints(rows, s["q"], s["v"], s["a"], ca.DM(self.nc, 1))
        blocks = {"derror_dq": rows.to_first_frames(by_q), "derror_dv": rows.to_first_frames(by_v)}
        return function("acceleration_error_derivatives", s, blocks)

    @cached_property
    def impact_derivatives(self) -> ca.Function:
        """(q, v) → (dv_after_dq, dv_after_dv, dimpulses_dq, dimpulses_dv), of :attr:`impact`.

        Columns by q are in the tangent space. By the implicit function theorem: M Δv = Jᵀ λ and J (v_after + e v) = 0,
        with the restitution e, hold at every q (ours; ``pin.computeImpulseDynamicsDerivatives`` is of v_after by q and
        v too).
        """
        s, nv, robot = self.symbols("q", "v"), self.tree.nv, self._robot
        q, v, zero = s["q"], s["v"], ca.DM(self.tree.nv, 1)
        v_after, impulses = self.impact(*s.values())
        blocks: list[Matrix]
        if not self.nc:
            blocks = [ca.DM(nv, nv), ca.DM.eye(nv), ca.DM(0, nv), ca.DM(0, nv)]
        else:
            rows = ConstraintJacobian(self._set, robot.tree, q)
            kkt = KKTInverse(robot.mass_matrix_expression(q) + robot._armature_matrix, rows)
            moved, _, _ = _of_constraints(rows, q, zero, zero, impulses, errors=False)
            at_rest, _ = robot.inverse_dynamics_derivatives_expression(q, zero, zero)
            by_change, _ = robot.inverse_dynamics_derivatives_expression(q, zero, v_after - v)
            rebound = ca.diag(spatial.constant(self._set.restitution))
            after_dq, before_dq = (_of_velocity(rows, q, velocity) for velocity in (v_after, v))
            turned = rows.from_first_frames(rebound @ rows.to_first_frames(before_dq))
            lost = rows.from_first_frames((ca.DM.eye(self.nc) + rebound) @ rows.to_first_frames(rows.matrix))
            torques = ca.horzcat(moved - (by_change - at_rest), ca.DM(nv, nv))
            changes, loads = kkt.solve(torques, -ca.horzcat(after_dq + turned, lost))
            by_q, by_v = ca.horzsplit(changes, nv)
            blocks = [by_q, ca.DM.eye(nv) + by_v, *ca.horzsplit(loads, nv)]
        names = [f"{output}_{by}" for output in ("dv_after", "dimpulses") for by in ("dq", "dv")]
        return function("impact_derivatives", s, dict(zip(names, blocks, strict=True)))


def check_driven_by_u(context: str, dyn: object) -> None:
    """Refuse what is no robot, and a robot whose motion does not follow from u alone.

    Raises:
        ArgumentTypeError: if it is not a Dynamics.
        UnsupportedError: if wrenches are an input of it.
    """
    if isinstance(dyn, ConstrainedDynamics):
        raise ArgumentTypeError(
            f"{context} takes a Dynamics, not ConstrainedDynamics, which gd.ocp.Problem takes; in a transcription of "
            "your own its inverse_dynamics and acceleration_error take a and forces as variables"
        )
    ConstrainedDynamics.of(context, dyn).dynamics.external_wrenches.refuse(context)


def constrained_dynamics_derivatives(
    robot: Dynamics, constraints: ConstraintSet, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix
) -> Matrix:
    """Derivatives of a (nv) above those of f (n), by q in the tangent space, by v and by tau (3 nv columns)."""
    tree, nv, free = robot.tree, robot.tree.nv, FreeBases(robot.tree)
    loaded_tau, tau = tau, robot.without_load_expression(q, v, tau)
    rows = ConstraintJacobian(constraints, tree, q)
    m = robot.mass_matrix_expression(q) + robot._armature_matrix
    kkt = KKTInverse(m, rows)

    a = ca.SX.sym("a", nv)
    bias, tau_dq, tau_dv = robot._bias_and_derivatives(free, q, v, a, wrenches)
    known_dq, known_dv = free.derivatives(q, v)
    drift = known_dv @ (free.linear @ v)
    error = rows.bias(v) + rows.from_first_frames(constraints.correction(tree, q, v)) + rows.matrix @ drift
    mu, zero = constraints.regularization, ca.DM(rows.matrix.shape[0], 3 * nv)
    forces, loads = zero[:, 0], zero
    for _ in range(constraints.proximal_steps):
        classical, forces = kkt.solve(tau - bias, mu * rows.from_first_frames(forces) - error)
        moved, error_dq, error_dv = _of_constraints(rows, q, v, classical + drift, forces)
        torques = ca.horzcat(moved - ca.substitute(tau_dq, a, classical), -tau_dv, ca.DM.eye(nv))
        errors = ca.horzcat(error_dq + rows.matrix @ known_dq, error_dv + rows.matrix @ known_dv, zero[:, :nv])
        rates, loads = kkt.solve(torques, mu * rows.from_first_frames(loads) - ca.cse([errors])[0])
    by_q, by_v, by_tau = ca.horzsplit(rates, nv)
    derivatives = ca.vertcat(ca.horzcat(known_dq + by_q, known_dv + by_v, symmetric(by_tau)), loads)
    if not robot.has_load_friction:
        return derivatives
    load_v, load_tau = robot._load_derivatives(robot.without_load_expression, q, v, loaded_tau)
    of_q, of_v, of_tau = ca.horzsplit(derivatives, nv)
    return ca.horzcat(of_q, of_v + of_tau @ load_v, of_tau @ load_tau)


def _of_constraints(
    rows: ConstraintJacobian, q: Matrix, v: Matrix, a: Matrix, forces: Matrix, *, errors: bool = True
) -> tuple[Matrix, Matrix, Matrix]:
    """Derivatives ∂(Jᵀ f)/∂q, ∂e/∂q and ∂e/∂v in the axes of the pairs; f is given in the axes of the first frames.

    Without ``errors`` the second and third are of no meaning.
    """
    constraints, tree = rows.constraints, rows.tree
    if tree.is_first_order:  # S is not the derivative of the placement to the last digit
        return _by_differentiation(constraints, tree, q, v, a, forces)
    none = ca.DM(0, tree.nv)
    parts: list[tuple[Matrix, Matrix, Matrix]] = [(ca.DM(tree.nv, tree.nv), none, none)]
    for alone, motion, f in zip(constraints.each, rows.motions, constraints.split(forces), strict=True):
        # by formulas where there are any; by CasADi's derivatives a PUMA 560 whose hand is held (6D) has 9321
        # instructions in place of 7580
        if not motion.has_derivatives:
            parts.append(_by_differentiation(alone, tree, q, v, a, f))
            continue
        moved = motion.torque_derivatives(motion.from_first_frame(f))
        parts.append((moved, *(_of_error(alone, motion, v, a) if errors else (none, none))))
    moved, errors_dq, errors_dv = zip(*parts, strict=True)
    return sum(moved[1:], moved[0]), ca.vertcat(*errors_dq), ca.vertcat(*errors_dv)


def _of_error(alone: ConstraintSet, motion: RelativeMotion, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix]:
    """Derivatives ∂e/∂q and ∂e/∂v of one constraint, in the axes of its pair."""
    derivatives = motion.derivatives(v, a)
    by_q, by_v = derivatives.acceleration_dq, derivatives.acceleration_dv
    if alone.damping.any():
        damping = ca.diag(spatial.constant(alone.damping))
        by_q += motion.from_first_frame(damping @ motion.to_first_frame(derivatives.velocity_dq))
        by_v += motion.from_first_frame(damping @ motion.to_first_frame(motion.jacobian))
    if alone.stiffness.any():
        stiffness = ca.diag(spatial.constant(alone.stiffness))
        by_q += motion.from_first_frame(stiffness @ motion.residual_derivative())
    return by_q, by_v


def _of_velocity(rows: ConstraintJacobian, q: Matrix, v: Matrix) -> Matrix:
    """Derivative ∂(J v)/∂q in the axes of the pairs."""
    tree, parts = rows.tree, []
    for alone, motion in zip(rows.constraints.each, rows.motions, strict=True):
        if motion.has_derivatives and not tree.is_first_order:
            parts.append(motion.derivatives(v, ca.DM(tree.nv, 1)).velocity_dq)
            continue
        s = symbols(q=tree.nq, v=tree.nv)
        velocity = ca.cse([ca.SX(alone.velocity(tree, s["q"], s["v"]))])[0]
        slope = derivative_along(velocity, s["q"], tree.tangent_map(s["q"]))
        parts.append(ca.Function("of_velocity", [*s.values()], [slope], {"allow_free": True})(q, v))
    return ca.vertcat(*parts)


def _by_differentiation(
    constraints: ConstraintSet, tree: Tree, q: Matrix, v: Matrix, a: Matrix, forces: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """Derivatives by algorithmic differentiation, in the axes of the first frames."""
    s = symbols(q=tree.nq, v=tree.nv, a=tree.nv, forces=forces.shape[0])
    tangent = tree.tangent_map(s["q"])
    error = ca.cse([ca.SX(constraints.acceleration_error(tree, s["q"], s["v"], s["a"]))])[0]
    torque = ca.cse([ca.SX(constraints.torques(tree, s["q"], s["forces"]))])[0]
    directions = ca.diagcat(tangent, ca.DM.eye(tree.nv))
    by_q, by_v = ca.horzsplit(derivative_along(error, ca.vertcat(s["q"], s["v"]), directions), tree.nv)
    graph = [derivative_along(torque, s["q"], tangent), by_q, by_v]
    of_state = ca.Function("by_differentiation", list(s.values()), graph, {"allow_free": True})  # of displacements
    moved, error_dq, error_dv = of_state(q, v, a, forces)
    return moved, error_dq, error_dv


class KKTInverse:
    """P, Q and Γ of M (nv × nv) and J, applied to columns r and s; f is in the axes of the first frames."""

    def __init__(self, m: Matrix, rows: ConstraintJacobian) -> None:
        jacobian, turned, pattern = rows.matrix, rows.to_first_frames, m.sparsity()
        core = []  # coordinates that move a constraint and more than one branch, whose joints do not move each other
        for i in sorted(set(jacobian.sparsity().get_triplet()[1])):
            outward = [k for k in range(i + 1, m.shape[0]) if pattern.has_nz(k, i)]
            if any(not pattern.has_nz(k, j) for j, k in combinations(outward, 2)):
                core.append(i)
        # branches before the core: with M eliminated as a whole, and G after it, Talos on two 6D feet had 219,234
        # instructions where it then had 130,597
        self._order = [*core, *(i for i in range(m.shape[0]) if i not in core)]
        self._blocks = [0, len(core), m.shape[0]]
        eliminated = Factorization(m[self._order, self._order], len(core))
        self._n = eliminated.half_inverse
        self._n_c, self._n_b = ca.vertsplit(self._n[:, len(core) :], self._blocks)
        self._d_inverse = ca.diag(ca.vertcat(*(1 / pivot for pivot in eliminated.pivots[len(core) :])))
        x_c, x_b = ca.vertsplit(self._n @ jacobian[:, self._order].T, self._blocks)
        self._x = self._d_inverse @ x_b

        a_inverse = dense_inverse(eliminated.remainder) if core else ca.DM(0, 0)
        rates = a_inverse @ x_c
        gamma = rows.constraints.inverse(symmetric(x_b.T @ self._x + x_c.T @ rates))
        self._q = -gamma @ rates.T
        self._p = symmetric(a_inverse + rates @ self._q) if core else a_inverse
        self._turned_gamma, self._turned_q = turned(gamma), turned(self._q)
        self._u = turned(self._x.T @ self._n_b).T
        self._p_cb = self._p @ self._n_c + self._q.T @ (self._x.T @ self._n_b)

    def solve(self, r: Matrix, s: Matrix) -> tuple[Matrix, Matrix]:
        """Accelerations a (nv × k) and forces f (n × k) of columns r and s."""
        y_c, y_b = ca.vertsplit(self._n @ r[self._order, :], self._blocks)
        t = ca.sparsify(s - self._x.T @ y_b)
        f = self._turned_q @ y_c + self._turned_gamma @ t
        a_c = self._p @ y_c - self._q.T @ t
        moves = [t[:, k].nnz() > 0 for k in range(t.shape[1])]
        order = sorted(range(len(moves)), key=moves.__getitem__)
        still, moved = order[: moves.count(False)], order[moves.count(False) :]
        # a_b gets its part from the core and the forces, or from y_c at once where it is all that there is
        far = ca.horzcat(self._p_cb.T @ y_c[:, still], self._n_c.T @ a_c[:, moved] + self._u @ f[:, moved])
        a_b = self._n_b.T @ self._d_inverse @ y_b + far[:, [order.index(k) for k in range(len(order))]]
        return ca.vertcat(a_c, a_b)[[self._order.index(i) for i in range(len(self._order))], :], f


class ConstrainedAnywhere(ConstrainedDynamics):
    """Constraints of Pinocchio that are evaluated at any q, as Pinocchio does: the caller need not close them.

    Their stabilisation is that of ``stiffness`` and ``damping`` alone.
    """

    def __init__(self, robot: Dynamics, constraints: Sequence[pin.RigidConstraintModel], **options: Any) -> None:
        plain = [pin.RigidConstraintModel(constraint) for constraint in constraints]
        for constraint in plain:
            constraint.m_baumgarte_parameters.Kp = constraint.m_baumgarte_parameters.Kd = 0.0
        super().__init__(robot, plain, **options)

    def _check_where_closed(self) -> None: ...

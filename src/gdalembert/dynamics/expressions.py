"""Equations of motion as CasADi expressions, which every formulation has."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, Self

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_set import ConstraintJacobian, ConstraintSet
from gdalembert.dynamics.forces import Force, Gravity, dissipated_power
from gdalembert.dynamics.friction import under_load, without_load
from gdalembert.dynamics.parameters.parameters import Parameters
from gdalembert.dynamics.wrenches import NO_WRENCHES, REFERENCES, ExternalWrenches
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, shown
from gdalembert.model.regrouping import RegroupedTree
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.factorization import symmetric_solve
from gdalembert.spatial.functions import derivative_along, symbols


class Expressions(ABC):
    """The equations of motion as expressions of q, v, a, tau: SX, MX or numbers.

    A formulation overrides :meth:`inverse_dynamics_expression`, for the links and their weight alone, and whichever of
    the others it has a better way to write. Wrenches (6 × n) that act on the robot are a last, optional argument; a
    formulation whose method does not take them has their part added to what it returns.

    Attributes:
        tree: the robot.
        forces: the force elements beside gravity.
        parameters: what varies; its symbols stand in ``tree``, ``forces`` and the expressions, which are SX then.
        external_wrenches: the frames at which wrenches act on the robot.
    """

    tree: Tree
    forces: tuple[Force, ...]
    parameters: Parameters
    external_wrenches: ExternalWrenches

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _INPUTS:
            method = vars(cls).get(name)
            if method and "wrenches" not in inspect.signature(method, follow_wrapped=False).parameters:
                setattr(cls, name, _with_wrenches(name, method))
        if "inverse_dynamics_expression" in vars(cls) and "nle_expression" not in vars(cls):
            # nle of a class that has a tau of its own follows from that, not from the tau of its base
            cls.nle_expression = Expressions.nle_expression  # type: ignore[method-assign]  # of a class

    # What a formulation writes down, for the links and their weight: no armature, no other force.

    @abstractmethod
    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        """Torque tau (nv) of the links, gravity included: M a + nle − Σ Jᵀ w.

        The other expressions of this class call it with symbols, and put numbers into the graph: a formulation may
        differentiate by v and a.
        """

    def nle_expression(self, q: Matrix, v: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        """Bias C v + g − Σ Jᵀ w (nv) of the links: tau at a = 0."""
        nle = self._evaluated(self.inverse_dynamics_expression, q, v)
        return nle + self.wrench_torque_expression(q, wrenches)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        """Mass matrix M (nv × nv) of the links: tau is linear in a."""
        return self._evaluated(lambda q, v, a: ca.jacobian(self.inverse_dynamics_expression(q, v, a), a), q)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """Coriolis matrix C (nv × nv): Christoffel's matrix, ½ ∂(C v)/∂v, which is the trace form's where v = dq/dt."""
        if not all(joint.type.velocity_is_rate for joint in self.tree.joints):
            raise UnsupportedError(
                f"{type(self).__name__}: a Coriolis matrix does not follow from tau alone where v is not dq/dt; "
                "write coriolis_matrix_expression in the subclass"
            )
        return self._evaluated(lambda q, v, a: 0.5 * ca.jacobian(self.nle_expression(q, v), v), q, v)

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        """Gravity g (nv): tau at rest."""
        return self.nle_expression(q, ca.DM(self.tree.nv, 1))

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        """Acceleration a (nv) of M a = tau − nle + Σ Jᵀ w, armature included."""
        bias = self.nle_expression(q, v, wrenches)
        return symmetric_solve(self.mass_matrix_expression(q) + self._armature_matrix, tau - bias)

    def inverse_dynamics_derivatives_expression(
        self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES
    ) -> tuple[Matrix, Matrix]:
        """Derivatives ∂tau/∂q and ∂tau/∂v (nv × nv) of the links, in the tangent space of q.

        By algorithmic differentiation of ``inverse_dynamics_expression``.
        """
        s = self.symbols("q", "v", "a")
        tau = ca.cse([self.inverse_dynamics_expression(s["q"], s["v"], s["a"])])[0]
        x = ca.vertcat(s["q"], s["v"])
        directions = ca.diagcat(self.tree.tangent_map(s["q"]), ca.DM.eye(self.tree.nv))
        graph = ca.Function("derivatives", list(s.values()), [derivative_along(tau, x, directions)])
        dtau_dq, dtau_dv = ca.horzsplit(graph(q, v, a, *self.parameters.inputs.values()), self.tree.nv)
        return dtau_dq + self.wrench_stiffness_expression(q, wrenches), dtau_dv

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """The energy ½ v·M v [J] of the links."""
        return 0.5 * ca.dot(v, self.mass_matrix_expression(q) @ v)

    def gravitational_energy_expression(self, q: Matrix) -> Matrix:
        """The energy −Σ m g·r [J] of the weight of the links."""
        return self.gravity.energy(q)

    def constrained_dynamics_expression(
        self, constraints: ConstraintSet, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix
    ) -> tuple[Matrix, Matrix]:
        """Acceleration a (nv) of M a = tau − nle + Σ Jᵀ w + Jᵀ f, and forces f in the axes of the first frames."""
        tree = self.tree
        bias = self.nle_expression(q, v, wrenches)
        rows = ConstraintJacobian(constraints, tree, q)
        correction = rows.from_first_frames(constraints.correction(tree, q, v))
        m = self.mass_matrix_expression(q) + self._armature_matrix
        return rows.solve(m, tau - bias, -rows.bias(v) - correction)

    def impact_expression(self, constraints: ConstraintSet, q: Matrix, change: Matrix) -> tuple[Matrix, Matrix]:
        """Change Δv (nv) of M Δv = Jᵀ f, J Δv = ``change``, and impulses f; rows in the axes of the first frames."""
        rows = ConstraintJacobian(constraints, self.tree, q)
        m = self.mass_matrix_expression(q) + self._armature_matrix
        return rows.solve(m, ca.DM(self.tree.nv, 1), rows.from_first_frames(change))

    def wrench_torque_expression(self, q: Matrix, wrenches: Matrix) -> Matrix:
        """The torque −Σ Jᵀ w (nv) of the wrenches, on the side of M a."""
        if not wrenches.shape[1]:
            return ca.DM(self.tree.nv, 1)
        return self._torque_of(self.external_wrenches, q, wrenches)

    def _torque_of(self, wrenches: ExternalWrenches, q: Matrix, values: Matrix) -> Matrix:
        """Torque of some of the wrenches."""
        return wrenches.torque(self.tree, q, values)

    def wrench_stiffness_expression(
        self, q: Matrix, wrenches: Matrix, references: Collection[pin.ReferenceFrame] = REFERENCES
    ) -> Matrix:
        """Derivative of the wrenches' torque by q, in the tangent space (nv × nv), for wrenches in some references.

        A LOCAL wrench turns with its frame, the others keep their direction.
        """
        chosen, which = self.external_wrenches.given_in(references)
        if not (chosen and wrenches.shape[1]):
            return ca.DM(self.tree.nv, self.tree.nv)
        s = self.symbols("q") | {"wrenches": ca.SX.sym("wrenches", 6, len(chosen))}
        torque = ca.SX(self._torque_of(chosen, s["q"], s["wrenches"]))
        by_q = derivative_along(torque, s["q"], self.tree.tangent_map(s["q"]))
        return ca.Function("wrench_stiffness", list(s.values()), [by_q])(
            q, *self.parameters.inputs.values(), wrenches[:, which]
        )

    # The force elements: gravity, which the formulations take as an acceleration of the base, and the others.

    @property
    def gravity(self) -> Gravity:
        """The weight of the links."""
        return Gravity(self.tree)

    def force_torque_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """Torque Σ force(q, v) (nv), on the left-hand side of the equations of motion."""
        return sum((force.torque(q, v) for force in self.forces), ca.DM(self.tree.nv, 1))

    @property
    def has_load_friction(self) -> bool:
        """True if some friction grows with the transmitted torque, so that tau is not affine in a."""
        return any(force.load(ca.DM(self.tree.nv, 1)) is not None for force in self.forces)

    def _friction(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """Friction (nv) without what grows with the load, and that in parts of |tau_l| (nv)."""
        zero = ca.DM(self.tree.nv, 1)
        friction = sum((force.torque(q, v) for force in self.forces if force.is_friction), zero)
        loads = (force.load(v) for force in self.forces)
        return friction, sum((load for load in loads if load is not None), zero)

    def under_load_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        """Torque tau (nv) with the friction that grows with the load, of tau with all the rest."""
        if not self.has_load_friction:
            return tau
        friction, load = self._friction(q, v)
        return friction + under_load(load, tau - friction)

    def without_load_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        """Torque tau (nv) without the friction that grows with the load, of the whole."""
        if not self.has_load_friction:
            return tau
        friction, load = self._friction(q, v)
        return friction + without_load(load, tau - friction)

    def net_torque_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        """The part of tau (nv) that is left for the links: tau without the torque of any force element."""
        return self.without_load_expression(q, v, tau) - self.force_torque_expression(q, v)

    def _load_derivatives(
        self, expression: Callable[[Matrix, Matrix, Matrix], Matrix], q: Matrix, v: Matrix, tau: Matrix
    ) -> tuple[Matrix, Matrix]:
        """Derivatives by v and tau (nv × nv each) of one of the two above; friction does not depend on q."""
        y, w = ca.SX.sym("tau", self.tree.nv), ca.SX.sym("v", self.tree.nv)
        torque = ca.SX(expression(q, w, y))
        by_v, by_tau = ca.substitute([ca.jacobian(torque, w), ca.jacobian(torque, y)], [w, y], [ca.SX(v), ca.SX(tau)])
        return by_v, by_tau

    def force_derivatives_expression(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """Derivatives of the forces' torque by q, in the tangent space, and by v (nv × nv each)."""
        s = self.symbols("q", "v")
        torque = ca.SX(self.force_torque_expression(s["q"], s["v"]))
        derivatives = [ca.jacobian(torque, s["q"]) @ self.tree.tangent_map(s["q"]), ca.jacobian(torque, s["v"])]
        graph = ca.Function("force_derivatives", list(s.values()), derivatives)
        by_q, by_v = graph(q, v, *self.parameters.inputs.values())
        return by_q, by_v

    def dissipated_power_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """The power that the forces take out of the robot [W]."""
        return sum((dissipated_power(force, self.tree, q, v) for force in self.forces), ca.DM(0))

    def potential_energy_expression(self, q: Matrix) -> Matrix:
        """Potential energy V [J]: that of gravity and of the forces."""
        return self.gravitational_energy_expression(q) + sum((force.energy(q) for force in self.forces), ca.DM(0))

    def _evaluated(self, expression: Callable[..., Matrix], q: Matrix, v: Matrix | None = None) -> Matrix:
        """An expression of symbols q, v and a at a = 0, and at v = 0 if no v is given."""
        # by a Function and not ca.substitute, since q and v may be MX or numbers
        s, zero = self.symbols("q", "v", "a"), ca.DM(self.tree.nv, 1)
        graph = ca.Function("expression", [*s.values()], [expression(s["q"], s["v"], s["a"])])
        return graph(q, zero if v is None else v, zero, *self.parameters.inputs.values())

    def _check_torque(self, tau: object) -> None:
        """Refuse what is not nv expressions or numbers of CasADi."""
        of, nv = f"{type(self).__name__}: inverse_dynamics_expression", self.tree.nv
        if not isinstance(tau, ca.SX | ca.MX | ca.DM):
            raise ArgumentTypeError(f"{of} returned {shown(tau)}; return tau ({nv}), made of q, v and a by CasADi")
        if tau.shape != (nv, 1):
            raise ArgumentError(f"{of} returned {tau.shape[0]} × {tau.shape[1]} entries; return tau, a column of {nv}")
        if self.parameters and isinstance(tau, ca.SX):
            graph = ca.Function("graph", ca.symvar(tau), [tau])
            constants = (k for k in range(graph.n_instructions()) if graph.instruction_id(k) == ca.OP_CONST)
            if any(math.isnan(graph.instruction_constant(k)) for k in constants):
                raise ArgumentError(
                    f"{of} has a constant that is not a number; use the constants of the tree as they are, since ca.DM "
                    "of a symbol is NaN"
                )

    def _require_bodies(self, purpose: str) -> None:
        """Refuse what base parameters, in place of the inertia of the links, do not determine."""
        if isinstance(self.tree, RegroupedTree):
            raise UnsupportedError(
                f"{self.tree.name}: {purpose}: base parameters determine torques, but not what each link has part in; "
                "make parameters of 'inertia' instead of 'base'"
            )

    @property
    def _variants(self) -> list[Self]:
        """Variants of the robot's equations, of which the smallest is taken."""
        return [self]

    @property
    def _armature(self) -> Matrix:
        return spatial.constant(self.tree.armature)

    @property
    def motor_inertia(self) -> Matrix | None:
        """B J Bᵀ (nv × nv) of motors, which armature on the diagonal of M does not say; ``None`` without motors."""
        inertias = [inertia for force in self.forces if (inertia := force.inertia()) is not None]
        return sum(inertias[1:], inertias[0]) if inertias else None

    @property
    def _armature_matrix(self) -> Matrix:
        motors = self.motor_inertia
        return ca.diag(self._armature) if motors is None else ca.diag(self._armature) + motors

    def _rotor_torque(self, a: Matrix) -> Matrix:
        """The torque of armature and motors, a part of tau (nv)."""
        motors = self.motor_inertia
        return self._armature * a if motors is None else self._armature * a + motors @ a

    def symbols(self, *names: str) -> dict[str, ca.SX]:
        """The inputs of a Function by name, p last.

        nq long for ``q``, 6 × n for ``wrenches`` (3 × n, or a column, with 3D forces), there only if the robot
        takes them, nv long for any other.
        """
        inputs = symbols(
            **{name: self.tree.nq if name == "q" else self.tree.nv for name in names if name != "wrenches"}
        )
        if "wrenches" in names and self.external_wrenches.is_input:
            inputs["wrenches"] = ca.SX.sym("wrenches", *self.external_wrenches.shape)
        return inputs | self.parameters.inputs

    def wrenches_of(self, inputs: Mapping[str, ca.SX]) -> Matrix:
        """The wrenches (6 × n) among the inputs of a Function, or the constant ones."""
        external = self.external_wrenches
        return external.columns(inputs["wrenches"]) if "wrenches" in inputs else external.constant


_INPUTS = {
    "inverse_dynamics_expression": 3,
    "nle_expression": 2,
    "forward_dynamics_expression": 3,
    "inverse_dynamics_derivatives_expression": 3,
}
"""The expressions that a formulation may write without wrenches, and how many inputs each has beside them."""


def _with_wrenches(name: str, write: Callable[..., Any]) -> Callable[..., Any]:
    """An expression that its formulation has written without wrenches, with their part in it."""

    @wraps(write)
    def expression(self: Expressions, *inputs: Matrix, wrenches: Matrix = NO_WRENCHES) -> Any:
        state, (wrenches,) = inputs[: _INPUTS[name]], inputs[_INPUTS[name] :] or (wrenches,)
        if name == "forward_dynamics_expression":
            q, v, tau = state
            return write(self, q, v, tau - self.wrench_torque_expression(q, wrenches))
        value = write(self, *state)
        if name == "inverse_dynamics_derivatives_expression":
            dtau_dq, dtau_dv = value
            return dtau_dq + self.wrench_stiffness_expression(state[0], wrenches), dtau_dv
        if name == "inverse_dynamics_expression":
            self._check_torque(value)
        return value + self.wrench_torque_expression(state[0], wrenches)

    return expression

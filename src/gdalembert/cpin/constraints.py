"""Robots that contacts and loops hold, by constraint models or by a Jacobian that the caller computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.cpin.data import Data, fills
from gdalembert.cpin.kinematics import evaluate
from gdalembert.cpin.model import Model
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.errors import ArgumentTypeError
from gdalembert.spatial import skew
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import vector
from gdalembert.spatial.factorization import constrained_solve
from gdalembert.spatial.functions import function
from gdalembert.spatial.matrices import matrix
from gdalembert.spatial.objects import SE3, Force

__all__ = [
    *("RigidConstraintData", "RigidConstraintModel", "computeConstraintDynamicsDerivatives", "constraintDynamics"),
    *("forwardDynamics", "getConstraintJacobian", "getConstraintsJacobian", "impulseDynamics"),
    "initConstraintDynamics",
]


class RigidConstraintModel:
    """A contact or a loop of numbers: (type, model, joint, …) as of ``pin.RigidConstraintModel``.

    Attributes:
        pin: Pinocchio's object, which has everything else.
        corrector: the gains ``Kp`` and ``Kd`` of a stabilisation, a number each or an entry for each row, as pin 3 had
            them; beside those of ``m_baumgarte_parameters``, which take one number.
    """

    pin: pin.RigidConstraintModel

    def __init__(self, *given: Any) -> None:
        other = given[0] if len(given) == 1 else None
        known = getattr(other, "pin", other) if len(given) == 1 else pin.RigidConstraintModel(*map(_numeric, given))
        if not isinstance(known, pin.RigidConstraintModel):
            raise ArgumentTypeError(f"RigidConstraintModel: got {type(known).__name__}; give (type, model, joint, …)")
        self.__dict__["pin"] = known
        own = SimpleNamespace(Kp=np.zeros(self.size()), Kd=np.zeros(self.size()))
        self.__dict__["corrector"] = other.corrector if isinstance(other, RigidConstraintModel) else own

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["pin"], name)

    def __setattr__(self, name: str, x: Any) -> None:
        setattr(self.pin, name, _numeric(x))

    def gains(self, name: str) -> tuple[float, ...]:
        """Kp or Kd of each row."""
        given = vector(f"corrector.{name}", getattr(self.corrector, name), self.size(), repeat=True)
        return tuple(given + getattr(self.pin.m_baumgarte_parameters, name))

    def size(self) -> int:
        """The number of its rows."""
        return 3 if self.pin.type == pin.ContactType.CONTACT_3D else 6

    def createData(self) -> RigidConstraintData:
        return RigidConstraintData(self)


class RigidConstraintData(SimpleNamespace):
    """What an algorithm found of a constraint: ``contact_force``, a Force in the axes of its reference."""

    def __init__(self, model: RigidConstraintModel) -> None:
        super().__init__()


def _numeric(x: Any) -> Any:
    """What Pinocchio's constructor takes."""
    return x.numbers("RigidConstraintModel") if isinstance(x, Model) else x.numbers() if isinstance(x, SE3) else x


def initConstraintDynamics(model: Model, data: Data, contact_models: Sequence[Any], *contact_datas: Any) -> None:
    """Do nothing: there is no memory to be prepared."""


def _held(
    model: Model, contact_models: Any, settings: Any = None, restitution: float = 0.0
) -> tuple[ConstrainedDynamics, list[RigidConstraintModel]]:
    """The robot with its constraints, made once."""
    if not isinstance(contact_models, Sequence) and not hasattr(contact_models, "tolist"):
        raise ArgumentTypeError("contact_models: give a list of RigidConstraintModel")
    constraints, mu = [RigidConstraintModel(each) for each in contact_models], float(getattr(settings, "mu", 0.0))

    kp, kd = ([each.gains(name) for each in constraints] for name in ("Kp", "Kd"))

    def identity(each: RigidConstraintModel) -> tuple[Any, ...]:
        places = (each.joint1_placement.homogeneous.tobytes(), each.joint2_placement.homogeneous.tobytes())
        return each.type, each.reference_frame, each.joint1_id, each.joint2_id, *places

    def make() -> ConstrainedDynamics:
        plain = [pin.RigidConstraintModel(each.pin) for each in constraints]
        for each in plain:
            each.m_baumgarte_parameters.Kp = each.m_baumgarte_parameters.Kd = 0.0
        gains = {"stiffness": kp, "damping": kd, "regularization": mu, "restitution": restitution}
        return ConstrainedDynamics(model.robot(), plain, **gains)

    return model.cached(("held", mu, restitution, *kp, *kd, *map(identity, constraints)), make), constraints


def _axes(model: Model, constraint: RigidConstraintModel, q: Matrix) -> Matrix:
    """R (3 × 3) from the axes of a constraint's first frame to those of its forces, the universe's or these."""
    if constraint.reference_frame == pin.LOCAL:
        return ca.DM.eye(3)
    placed = evaluate(model, model.kinematics.frame_placement(model.joint_frame(constraint.joint1_id)), q)
    return placed[:3, :3] @ ca.DM(constraint.joint1_placement.rotation)


def _turned(model: Model, constraints: Sequence[RigidConstraintModel], q: Matrix, rows: Matrix) -> Matrix:
    """Rows (3 or 6 for each constraint) in the axes of each constraint's reference."""
    parts, first = [ca.DM(0, rows.shape[1])], 0
    for constraint in constraints:
        r = _axes(model, constraint, q)
        for _ in range(constraint.size() // 3):
            parts.append(r @ rows[first : first + 3, :])
            first += 3
    return ca.vertcat(*parts)


def _shared(constraints: Sequence[RigidConstraintModel], datas: Any, forces: Matrix) -> None:
    """Give each constraint its force."""
    first = 0
    for constraint, own in zip(constraints, datas or (), strict=False):
        column = forces[first : first + constraint.size()]
        own.contact_force = Force(ca.vertcat(column, ca.DM.zeros(6 - constraint.size())))
        first += constraint.size()


@fills("ddq", "lambda_c")
def constraintDynamics(
    model: Model,
    data: Data,
    q: Any,
    v: Any,
    tau: Any,
    contact_models: Any,
    contact_datas: Any = None,
    prox_settings: Any = None,
) -> Matrix:
    """a (nv) under contacts and loops; their forces, which act on the robot, are in data.lambda_c and contact_datas."""
    state = *data.keep("constraintDynamics", q=q, v=v), matrix("constraintDynamics: tau", tau, model.nv)
    held, constraints = _held(model, contact_models, prox_settings)
    acceleration, forces = evaluate(model, held.forward_dynamics, *state)
    turned = ca.densify(_turned(model, constraints, state[0], forces))
    _shared(constraints, contact_datas, turned)
    data.fill(ddq=lambda: acceleration, lambda_c=lambda: turned)
    data.state["tau"] = state[2]
    return acceleration


@fills("dlambda_dq", "dlambda_dv", "dlambda_dtau")
def computeConstraintDynamicsDerivatives(
    model: Model, data: Data, contact_models: Any, contact_datas: Any = None, settings: Any = None
) -> tuple[Matrix, ...]:
    """∂a/∂q, ∂a/∂v, ∂a/∂tau, and those of the forces, where constraintDynamics was called last."""
    state = data.known("computeConstraintDynamicsDerivatives", "q", "v", "tau")
    q, held, constraints = state[0], *_held(model, contact_models, settings)
    *accelerations, by_q, by_v, by_tau = evaluate(model, held.forward_dynamics_derivatives, *state)
    _, forces = evaluate(model, held.forward_dynamics, *state)
    by_q = by_q - _carried(model, constraints, q, forces)
    found = *accelerations, *(_turned(model, constraints, q, rows) for rows in (by_q, by_v, by_tau))
    names = "ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau"
    data.fill(**{name: _constant(x) for name, x in zip(names, found, strict=True)})
    return found


def _constant(x: Matrix) -> Callable[[], Matrix]:
    return lambda: x


def _carried(model: Model, constraints: Sequence[RigidConstraintModel], q: Matrix, forces: Matrix) -> Matrix:
    """[f×] J_ω (rows × nv) in the axes of the first frames: what forces in the universe's axes turn against these."""
    parts, first = [ca.DM(0, model.nv)], 0
    for constraint in constraints:
        for _ in range(constraint.size() // 3):
            part = ca.DM(3, model.nv)
            if constraint.reference_frame != pin.LOCAL:
                frame = model.joint_frame(constraint.joint1_id)
                jacobian = evaluate(model, model.kinematics.frame_jacobian(frame, pin.LOCAL), q)
                part = skew(forces[first : first + 3]) @ ca.DM(constraint.joint1_placement.rotation.T) @ jacobian[3:, :]
            parts.append(part)
            first += 3
    return ca.vertcat(*parts)


def getConstraintsJacobian(model: Model, data: Data, contact_models: Any, *contact_datas: Any) -> Matrix:
    """J (rows × nv) of constraints at the last q, in the axes of their references."""
    (q,) = data.known("getConstraintsJacobian", "q")
    held, constraints = _held(model, contact_models)
    return _turned(model, constraints, q, evaluate(model, held.jacobian, q))


def getConstraintJacobian(model: Model, data: Data, contact_model: Any, *contact_data: Any) -> Matrix:
    """J (3 or 6 × nv) of one constraint."""
    return getConstraintsJacobian(model, data, [contact_model])


# A Jacobian of the caller's, in place of constraints.


def _solved(algorithm: str, model: Model, q: Matrix, r: Matrix, j: Any, s: Any, damping: Any) -> tuple[Matrix, Matrix]:
    """x (nv) and f of M x = r + Jᵀ f, J x + damping f = s(J)."""
    rows = j.shape[0] if hasattr(j, "shape") else len(j)
    jacobian = matrix(f"{algorithm}: the Jacobian", j, rows, model.nv)
    size = model.nv, model.nv

    def make() -> ca.Function:
        pattern = ca.sparsify(model.robot().mass_matrix(ca.SX.sym("q", model.nq), *map(_like, model.inputs))).sparsity()
        known = {"M": ca.SX.sym("M", pattern), "r": ca.SX.sym("r", model.nv), "J": ca.SX.sym("J", rows, model.nv)}
        known |= {"s": ca.SX.sym("s", rows), "damping": ca.SX.sym("damping")}
        return function("solved", known, dict(zip(("x", "f"), constrained_solve(*known.values()), strict=True)))

    mass = matrix("M", evaluate(model, model.robot().mass_matrix, q), *size)
    solve = model.cached(("solved", rows), make)
    x, f = solve(mass, r, jacobian, s(jacobian), matrix(f"{algorithm}: damping", damping, 1))
    return x, f


def _like(x: Matrix) -> ca.SX:
    return ca.SX.sym("p", *x.shape)


@fills("ddq", "lambda_c")
def forwardDynamics(
    model: Model, data: Data, q: Any, v: Any, tau: Any, J: Any, drift: Any, damping: Any = 0.0
) -> Matrix:
    """a (nv) with J a + drift = 0 under tau and the forces Jᵀ lambda_c; J and its drift are the caller's."""
    state = data.keep("forwardDynamics", q=q, v=v)
    free = matrix("forwardDynamics: tau", tau, model.nv) - evaluate(model, model.robot().nle, *state)

    def opposite(j: Matrix) -> Matrix:
        return -matrix("forwardDynamics: the drift", drift, j.shape[0])

    ddq, forces = _solved("forwardDynamics", model, state[0], free, J, opposite, damping)
    data.fill(ddq=lambda: ddq, lambda_c=lambda: forces)
    return ddq


@fills("dq_after", "impulse_c")
def impulseDynamics(
    model: Model, data: Data, q: Any, v: Any, J: Any, *given: Any, restitution: Any = 0.0, damping: Any = 0.0
) -> Matrix:
    """The velocity (nv) after an impact: of (…, J, restitution, damping) or (…, contact_models, contact_datas, …)."""
    at_q, before = data.keep("impulseDynamics", q=q, v=v)
    if isinstance(J, list) or type(J).__name__.startswith("StdVec"):
        _, restitution, settings = given + (None, restitution, None)[len(given) :]
        held, constraints = _held(model, J, settings, float(restitution))
        after, impulses = evaluate(model, held.impact, at_q, before)
        impulses = _turned(model, constraints, at_q, impulses)
    else:
        restitution, damping = given + (restitution, damping)[len(given) :]
        momentum = evaluate(model, model.robot().mass_matrix, at_q) @ before
        after, impulses = _solved(
            "impulseDynamics", model, at_q, momentum, J, lambda j: -restitution * (j @ before), damping
        )
    data.fill(dq_after=lambda: after, impulse_c=lambda: impulses)
    return after

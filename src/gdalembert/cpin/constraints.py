"""Robots that contacts and loops hold, by constraint models or by a Jacobian that the caller computes."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.cpin.calls import synonyms, taken
from gdalembert.cpin.data import Data
from gdalembert.cpin.kinematics import evaluate
from gdalembert.cpin.matrices import index_of, is_constant, matrix, number_of
from gdalembert.cpin.model import Model
from gdalembert.cpin.objects import SE3, Force
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial import skew
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import listed, number, vector
from gdalembert.spatial.factorization import constrained_solution

__all__ = [
    *("ProximalSettings", "RigidConstraintData", "RigidConstraintModel"),
    *("computeConstraintDynamicsDerivatives", "constraintDynamics", "forwardDynamics", "getConstraintJacobian"),
    *("getConstraintsJacobian", "impulseDynamics", "initConstraintDynamics"),
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
        other, is_new = next(iter(given), None), isinstance(next(iter(given[1:]), None), Model | pin.Model)
        known = getattr(other, "pin", other)
        if is_new:
            numbers = (_numeric(x, given[1].njoints) for x in given)
            known = taken("RigidConstraintModel", pin.RigidConstraintModel, *numbers)
        if not isinstance(known, pin.RigidConstraintModel):
            got = ", ".join(type(x).__name__ for x in given)
            raise ArgumentTypeError(f"RigidConstraintModel: got {got}; give (type, model, joint, …)")
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


class ProximalSettings(pin.ProximalSettings):  # type: ignore[misc]  # Pinocchio has no types
    """Pinocchio's: (accuracies, mu, number of iterations); no accuracy is needed here, where it may be ``None``."""

    def __init__(self, *given: Any) -> None:
        known = (0.0 if x is None and k < len(given) - 2 else x for k, x in enumerate(given))
        taken("ProximalSettings", super().__init__, *known)


class RigidConstraintData(SimpleNamespace):
    """What an algorithm found of a constraint: ``contact_force``, a Force in the axes of its reference."""

    def __init__(self, model: RigidConstraintModel) -> None:
        super().__init__()


def _numeric(x: Any, njoints: int = 0) -> Any:
    """What Pinocchio's constructor takes; it ends the interpreter where a joint is not there."""
    if njoints and (isinstance(x, str | np.integer) or type(x) is int):
        return index_of("RigidConstraintModel: model.joints", x, njoints)
    return x.pin if isinstance(x, Model) else x.numbers() if isinstance(x, SE3) else x


def initConstraintDynamics(model: Model, data: Data, contact_models: Sequence[Any], *contact_datas: Any) -> None:
    """Check the constraints: there is no memory to be prepared."""
    _held(model, contact_models)


def _held(model: Model, contact_models: Any, settings: Any = None, restitution: float = 0.0) -> tuple[Any, list[Any]]:
    """The robot with its constraints, made once."""
    from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedAnywhere

    if not isinstance(contact_models, Sequence) and not hasattr(contact_models, "tolist"):
        raise ArgumentTypeError("contact_models: give a list of RigidConstraintModel")
    if not (settings is None or hasattr(settings, "mu")):
        raise ArgumentTypeError(f"settings: got a {type(settings).__name__}; give ProximalSettings, or none")
    constraints, mu = [RigidConstraintModel(each) for each in contact_models], float(getattr(settings, "mu", 0.0))
    kp, kd = ([each.gains(name) for each in constraints] for name in ("Kp", "Kd"))

    def identity(each: RigidConstraintModel) -> tuple[Any, ...]:
        places = (each.joint1_placement.homogeneous.tobytes(), each.joint2_placement.homogeneous.tobytes())
        return each.type, each.reference_frame, each.joint1_id, each.joint2_id, *places

    def make() -> Any:
        options = {"stiffness": kp, "damping": kd, "regularization": mu, "restitution": restitution}
        return ConstrainedAnywhere(model.dynamics, [each.pin for each in constraints], **options)

    return model.cached(("held", mu, restitution, *kp, *kd, *map(identity, constraints)), make), constraints


def _axes(model: Model, constraints: Sequence[RigidConstraintModel], q: Matrix) -> tuple[Matrix, Matrix]:
    """R, from the axes of the first frames to those of forces, and their angular velocity for v (rows × nv)."""
    rotations, turning = [ca.DM(0, 0)], [ca.DM(0, model.nv)]
    for constraint in constraints:
        r, w = ca.DM.eye(3), ca.DM(3, model.nv)
        if constraint.reference_frame != pin.LOCAL:
            frame, own = model.joint_frame(constraint.joint1_id), ca.DM(constraint.joint1_placement.rotation)
            r = evaluate(model, model.kinematics.frame_placement(frame), q)[:3, :3] @ own
            w = own.T @ evaluate(model, model.kinematics.frame_jacobian(frame, pin.LOCAL), q)[3:, :]
        rotations += [r] * (constraint.size() // 3)
        turning += [w] * (constraint.size() // 3)
    return ca.diagcat(*rotations), ca.vertcat(*turning)


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
    state = data.run("constraintDynamics", q=q, v=v, tau=tau)
    held, constraints = _held(model, contact_models, prox_settings)
    acceleration, forces = evaluate(model, held.forward_dynamics, *state)
    forces, first = ca.densify(_axes(model, constraints, state[0])[0] @ forces), 0
    datas = [] if contact_datas is None else listed(contact_datas)
    datas = [contact_datas] if datas is None else datas
    if wrong := [x for x in datas if not isinstance(x, RigidConstraintData)]:
        raise ArgumentTypeError(f"contact_datas: got a {type(wrong[0]).__name__}; give contact.createData() of each")
    for constraint, own in zip(constraints, datas, strict=False):
        column = forces[first : first + constraint.size()]
        own.contact_force = Force(ca.vertcat(column, ca.DM.zeros(6 - constraint.size())))
        first += constraint.size()
    data.put(ddq=acceleration, lambda_c=forces)
    data.note("lambda_c", *state)
    return acceleration


def computeConstraintDynamicsDerivatives(
    model: Model, data: Data, contact_models: Any, contact_datas: Any = None, settings: Any = None
) -> tuple[Matrix, ...]:
    """∂a/∂q, ∂a/∂v, ∂a/∂tau, and those of the forces, where constraintDynamics was called last."""
    state = data.known("computeConstraintDynamicsDerivatives", "lambda_c")
    held, constraints = _held(model, contact_models, settings)
    *accelerations, by_q, by_v, by_tau = evaluate(model, held.forward_dynamics_derivatives, *state)
    acceleration, forces = evaluate(model, held.forward_dynamics, *state)
    data.run("computeConstraintDynamicsDerivatives", q=state[0], v=state[1], a=acceleration)
    axes, turning = _axes(model, constraints, state[0])
    if turning.nnz():  # forces of constant length that turn against the axes of the frames
        by_q = by_q - ca.diagcat(*map(skew, ca.vertsplit(forces, 3))) @ turning
    found = *accelerations, *(axes @ rows for rows in (by_q, by_v, by_tau))
    names = "ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau"
    data.put(**dict(zip(names, found, strict=True)))
    return found


def getConstraintsJacobian(model: Model, data: Data, constraint_models: Any, constraint_datas: Any = None) -> Matrix:
    """J (rows × nv) of constraints at the last q, in the axes of their references."""
    (q,) = data.known("getConstraintsJacobian", "oMi")
    held, constraints = _held(model, constraint_models, SimpleNamespace(mu=1.0))  # rows may be redundant
    return _axes(model, constraints, q)[0] @ evaluate(model, held.jacobian, q)


def getConstraintJacobian(model: Model, data: Data, constraint_model: Any, constraint_data: Any = None) -> Matrix:
    """J (3 or 6 × nv) of one constraint."""
    return getConstraintsJacobian(model, data, [constraint_model])


# A Jacobian of the caller's, in place of constraints.


def _solved(algorithm: str, model: Model, q: Matrix, r: Matrix, j: Matrix, s: Matrix, damping: Any) -> Any:
    """x (nv) and f of M x = r + Jᵀ f, J x + damping f = s."""
    mass = evaluate(model, model.dynamics.mass_matrix, q)
    if is_constant(mu := matrix(f"{algorithm}: damping", damping, 1)) and number_of(mu) < 0:
        raise ArgumentError(f"{algorithm}: damping is {number_of(mu):g}; give 0, or a positive number")
    pattern = model.dynamics.mass_matrix.sparsity_out(0)
    solution = model.cached(("solution", j.shape[0]), lambda: constrained_solution(pattern, j.shape[0]))
    return solution(mass, r, j, s, mu)


def _jacobian(algorithm: str, model: Model, j: Any) -> Matrix:
    rows = j.shape[0] if getattr(j, "shape", ()) else len(listed(j) or "J")
    return matrix(f"{algorithm}: J", j, rows, model.nv)


def forwardDynamics(
    model: Model,
    data: Data,
    q: Any = None,
    v: Any = None,
    tau: Any = None,
    constraint_jacobian: Any = None,
    constraint_drift: Any = None,
    damping: Any = 0.0,
) -> Matrix:
    """a (nv) with J a + drift = 0 under tau and the forces Jᵀ lambda_c; J and its drift are the caller's.

    Of (model, data, tau, constraint_jacobian, constraint_drift, damping) it is at the q, v of the last computeAllTerms.
    """
    if constraint_drift is None and tau is not None:
        damping = 0.0 if constraint_jacobian is None else constraint_jacobian
        q, v, tau, constraint_jacobian, constraint_drift = None, None, q, v, tau
    if q is None and v is None:
        q, v = data.known("forwardDynamics", "nle")
    *state, torques, _ = data.run("forwardDynamics", q=q, v=v, tau=tau, a=ca.DM.zeros(model.nv))
    jacobian = _jacobian("forwardDynamics", model, constraint_jacobian)
    free = torques - evaluate(model, model.dynamics.nle, *state)
    wanted = -matrix("forwardDynamics: drift", constraint_drift, jacobian.shape[0])
    ddq, forces = _solved("forwardDynamics", model, state[0], free, jacobian, wanted, damping)
    data.put(ddq=ddq, lambda_c=forces)
    return ddq


@synonyms(
    v_before="v", constraint_jacobian="contact_models", restitution_coefficient="contact_datas", damping="r_coeff"
)
def impulseDynamics(
    model: Model,
    data: Data,
    q: Any = None,
    v: Any = None,
    contact_models: Any = None,
    contact_datas: Any = None,
    r_coeff: Any = 0.0,
    prox_settings: Any = None,
) -> Matrix:
    """The velocity (nv) after an impact, by the coefficient of restitution ``r_coeff``.

    Or of (model, data, q, v_before, constraint_jacobian, restitution_coefficient, damping), or of these without q, at
    that of the last crba.
    """
    if contact_models is None or isinstance(contact_models, int | float):
        damping = 0.0 if contact_datas is None else contact_datas
        q, v, contact_models, contact_datas, r_coeff = None, q, v, contact_models, damping
    if q is None:
        (q,) = data.known("impulseDynamics", "M")
    at_q, before = data.run("impulseDynamics", q=q, v=v)
    if isinstance(contact_models, list) or (hasattr(contact_models, "tolist") and not hasattr(contact_models, "shape")):
        restitution = number("impulseDynamics: restitution", r_coeff, inclusive=True)
        held, constraints = _held(model, contact_models, prox_settings, restitution)
        after, impulses = evaluate(model, held.impact, at_q, before)
        data.fill_at("ov", at_q, before)
        data.empty("ddq", "lambda_c")  # where Pinocchio leaves impulses
        impulses = _axes(model, constraints, at_q)[0] @ impulses
    else:
        jacobian = _jacobian("impulseDynamics", model, contact_models)
        restitution = matrix("impulseDynamics: restitution", 0.0 if contact_datas is None else contact_datas, 1)
        momentum = evaluate(model, model.dynamics.mass_matrix, at_q) @ before
        wanted = -restitution * (jacobian @ before)
        after, impulses = _solved("impulseDynamics", model, at_q, momentum, jacobian, wanted, r_coeff)
    data.put(dq_after=after, impulse_c=impulses)
    return after

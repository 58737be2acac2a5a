"""Robots that contacts and loops hold, by constraint models or by a Jacobian that the caller computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.cpin.calls import MissingAttributeError, synonyms, taken
from gdalembert.cpin.data import Data, filling_call
from gdalembert.cpin.kinematics import evaluate
from gdalembert.cpin.matrices import index_of, is_constant, matrix, number_of
from gdalembert.cpin.model import Model
from gdalembert.cpin.objects import SE3, Force
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.spatial import skew
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import listed, number, vector
from gdalembert.spatial.factorization import constrained_solution

__all__ = [
    *("ProximalSettings", "RigidConstraintData", "RigidConstraintModel"),
    *("computeConstraintDynamicsDerivatives", "constraintDynamics", "forwardDynamics", "getConstraintJacobian"),
    *("getConstraintsJacobian", "impulseDynamics", "initConstraintDynamics"),
]


@dataclass(slots=True)
class Corrector:
    """Gains of the stabilisation of each row, as pin 3 had them; no other attribute can be set."""

    Kp: npt.ArrayLike
    Kd: npt.ArrayLike


class RigidConstraintModel:
    """A contact or a loop of numbers: (type, model, joint, …) as of ``pin.RigidConstraintModel``.

    Attributes:
        pin: Pinocchio's object, which has everything else.
        corrector: the gains ``Kp`` and ``Kd`` of a stabilisation, a number each or an entry for each row, as pin 3 had
            them; beside those of ``m_baumgarte_parameters``, which take one number.
    """

    pin: pin.RigidConstraintModel

    def __init__(self, *args: Any) -> None:
        other, is_new = next(iter(args), None), isinstance(next(iter(args[1:]), None), Model | pin.Model)
        constraint = getattr(other, "pin", other)
        if is_new:
            numbers = (_numeric(x, args[1].njoints) for x in args)
            constraint = taken("RigidConstraintModel", pin.RigidConstraintModel, *numbers)
        if not isinstance(constraint, pin.RigidConstraintModel):
            got = ", ".join(type(x).__name__ for x in args)
            raise ArgumentTypeError(f"RigidConstraintModel: got {got}; give (type, model, joint, …)")
        self.__dict__["pin"] = constraint
        no_gains = Corrector(np.zeros(self.size()), np.zeros(self.size()))
        self.__dict__["corrector"] = other.corrector if isinstance(other, RigidConstraintModel) else no_gains

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["pin"], name)

    def __setattr__(self, name: str, x: Any) -> None:
        setattr(self.pin, name, _numeric(x))

    def gains(self, name: str) -> tuple[float, ...]:
        """The gains Kp or Kd of all rows."""
        by_row = vector(f"corrector.{name}", getattr(self.corrector, name), self.size(), repeat=True)
        return tuple(by_row + getattr(self.pin.m_baumgarte_parameters, name))

    def size(self) -> int:
        """The number of rows."""
        return 3 if self.pin.type == pin.ContactType.CONTACT_3D else 6

    def createData(self) -> RigidConstraintData:
        return RigidConstraintData(self)


class ProximalSettings(pin.ProximalSettings):  # type: ignore[misc]  # Pinocchio has no types
    """Settings (accuracies, mu, number of iterations) as Pinocchio's; an accuracy, which nothing needs, may be None."""

    def __init__(self, *args: Any) -> None:
        numbers = (0.0 if x is None and k < len(args) - 2 else x for k, x in enumerate(args))
        taken("ProximalSettings", super().__init__, *numbers)


class RigidConstraintData:
    """Results of ``constraintDynamics`` for a constraint: ``contact_force``, a Force in the axes of its reference."""

    contact_force: Force

    def __init__(self, model: RigidConstraintModel) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if name != "contact_force":
            raise MissingAttributeError(str(UnknownNameError("result of a constraint", name, ["contact_force"])))
        raise MissingAttributeError(f"contact_force: nothing has computed it; call {filling_call('lambda_c')} before")


def _numeric(x: Any, njoints: int = 0) -> Any:
    """Convert an argument to Pinocchio's; a joint is checked here."""
    # Pinocchio's constructor ends the interpreter where a joint is not there.
    if njoints and (isinstance(x, str | np.integer) or type(x) is int):
        return index_of("RigidConstraintModel: model.joints", x, njoints)
    return x.pin if isinstance(x, Model) else x.numbers() if isinstance(x, SE3) else x


def initConstraintDynamics(model: Model, data: Data, contact_models: Sequence[Any], *contact_datas: Any) -> None:
    """Check the constraints; there is no memory to be prepared."""
    _held(model, contact_models)


def _held(model: Model, contact_models: Any, settings: Any = None, restitution: float = 0.0) -> tuple[Any, list[Any]]:
    """The robot with its constraints, made once, and the constraints."""
    # Imported here, since few programs hold their robots, and all would wait for it.
    from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedAnywhere

    if not isinstance(contact_models, Sequence) and not hasattr(contact_models, "tolist"):
        raise ArgumentTypeError("contact_models: give a list of RigidConstraintModel")
    if not (settings is None or hasattr(settings, "mu")):
        raise ArgumentTypeError(f"settings: got a {type(settings).__name__}; give ProximalSettings, or none")
    constraints, mu = [*map(RigidConstraintModel, contact_models)], float(getattr(settings, "mu", 0.0))
    kp, kd = ([constraint.gains(name) for constraint in constraints] for name in ("Kp", "Kd"))

    def identity(x: RigidConstraintModel) -> tuple[Any, ...]:
        placements = (x.joint1_placement.homogeneous.tobytes(), x.joint2_placement.homogeneous.tobytes())
        return x.type, x.reference_frame, x.joint1_id, x.joint2_id, *placements

    def make() -> Any:
        options = {"stiffness": kp, "damping": kd, "regularization": mu, "restitution": restitution}
        return ConstrainedAnywhere(model.dynamics, [constraint.pin for constraint in constraints], **options)

    return model.cached(("held", mu, restitution, *kp, *kd, *map(identity, constraints)), make), constraints


def _axes(model: Model, constraints: Sequence[RigidConstraintModel], q: Matrix) -> tuple[Matrix, Matrix]:
    """The rotations from axes of first frames to axes of forces, and their angular velocities by v (rows × nv)."""
    rotations, rates = [ca.DM(0, 0)], [ca.DM(0, model.nv)]
    for constraint in constraints:
        r, w = ca.DM.eye(3), ca.DM(3, model.nv)
        if constraint.reference_frame != pin.LOCAL:
            frame, inside = model.joint_frame(constraint.joint1_id), ca.DM(constraint.joint1_placement.rotation)
            r = evaluate(model, model.kinematics.frame_placement(frame), q)[:3, :3] @ inside
            w = inside.T @ evaluate(model, model.kinematics.frame_jacobian(frame, pin.LOCAL), q)[3:, :]
        rotations += [r] * (constraint.size() // 3)
        rates += [w] * (constraint.size() // 3)
    return ca.diagcat(*rotations), ca.vertcat(*rates)


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
    """The acceleration (nv) under contacts and loops; their forces on it go to data.lambda_c and contact_datas."""
    state = data.run("constraintDynamics", q=q, v=v, tau=tau)
    held, constraints = _held(model, contact_models, prox_settings)
    acceleration, forces = evaluate(model, held.forward_dynamics, *state)
    forces, first = ca.densify(_axes(model, constraints, state[0])[0] @ forces), 0
    datas = [] if contact_datas is None else listed(contact_datas)
    datas = [contact_datas] if datas is None else datas
    if wrong := [x for x in datas if not isinstance(x, RigidConstraintData)]:
        raise ArgumentTypeError(f"contact_datas: got a {type(wrong[0]).__name__}; give contact.createData() of each")
    for constraint, constraint_data in zip(constraints, datas, strict=False):
        column = forces[first : first + constraint.size()]
        constraint_data.contact_force = Force(ca.vertcat(column, ca.DM.zeros(6 - constraint.size())))
        first += constraint.size()
    data.put(ddq=acceleration, lambda_c=forces)
    data.note("lambda_c", *state)
    return acceleration


def computeConstraintDynamicsDerivatives(
    model: Model, data: Data, contact_models: Any, contact_datas: Any = None, settings: Any = None
) -> tuple[Matrix, ...]:
    """The derivatives of a and of the forces by q, v and tau, at the state of the last constraintDynamics."""
    state = data.known("computeConstraintDynamicsDerivatives", "lambda_c")
    held, constraints = _held(model, contact_models, settings)
    *accelerations, by_q, by_v, by_tau = evaluate(model, held.forward_dynamics_derivatives, *state)
    acceleration, forces = evaluate(model, held.forward_dynamics, *state)
    data.run("computeConstraintDynamicsDerivatives", q=state[0], v=state[1], a=acceleration)
    axes, turning = _axes(model, constraints, state[0])
    if turning.nnz():  # forces of constant length that turn against the axes of the frames
        by_q = by_q - ca.diagcat(*map(skew, ca.vertsplit(forces, 3))) @ turning
    derivatives = *accelerations, *(axes @ rows for rows in (by_q, by_v, by_tau))
    names = "ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau"
    data.put(**dict(zip(names, derivatives, strict=True)))
    return derivatives


def getConstraintsJacobian(model: Model, data: Data, constraint_models: Any, constraint_datas: Any = None) -> Matrix:
    """The Jacobian (rows × nv) of constraints at the last q, in the axes of their references."""
    (q,) = data.known("getConstraintsJacobian", "oMi")
    held, constraints = _held(model, constraint_models, ProximalSettings(0.0, 1.0, 1))  # rows may be redundant
    return _axes(model, constraints, q)[0] @ evaluate(model, held.jacobian, q)


def getConstraintJacobian(model: Model, data: Data, constraint_model: Any, constraint_data: Any = None) -> Matrix:
    """The Jacobian (3 or 6 × nv) of one constraint."""
    return getConstraintsJacobian(model, data, [constraint_model])


# A Jacobian of the caller's, in place of constraints.


def _solved(algorithm: str, model: Model, q: Matrix, r: Matrix, j: Matrix, s: Matrix, damping: Any) -> Any:
    """Solve M x = r + Jᵀ f, J x + damping f = s for x (nv) and f."""
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
    """The acceleration a (nv) with J a + drift = 0 under tau and forces Jᵀ lambda_c; J and drift are the caller's.

    A call (model, data, tau, constraint_jacobian, constraint_drift, damping) takes q, v of the last computeAllTerms.
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

    Calls (model, data, q, v_before, constraint_jacobian, restitution_coefficient, damping) have a Jacobian of the
    caller's; without q, that of the last crba is taken.
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

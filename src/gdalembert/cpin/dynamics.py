"""Dynamics: torques, accelerations, their derivatives, momenta, energies and regressors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.data import SLOTS, Data, WholeRobotList
from gdalembert.cpin.kinematics import algorithm, evaluate, in_convention, prepared
from gdalembert.cpin.matrices import is_constant, number_of
from gdalembert.cpin.model import Model
from gdalembert.cpin.objects import SE3, Force, Inertia
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import listed

__all__ = [
    *("aba", "ccrba", "centerOfMass", "computeABADerivatives", "computeAllTerms"),
    *("computeCentroidalDynamicsDerivatives", "computeCentroidalMap", "computeCentroidalMapTimeVariation"),
    *("computeCentroidalMomentum", "computeCentroidalMomentumTimeVariation", "computeCoriolisMatrix"),
    *("computeGeneralizedGravity", "computeJointTorqueRegressor", "computeKineticEnergy"),
    *("computeKineticEnergyRegressor", "computeMechanicalEnergy", "computeMinverse", "computePotentialEnergy"),
    *("computePotentialEnergyRegressor", "computeRNEADerivatives", "computeStaticTorque", "computeTotalMass", "crba"),
    *("dccrba", "getCenterOfMassVelocityDerivatives", "getCentroidalDynamicsDerivatives", "getCoriolisMatrix"),
    *("jacobianCenterOfMass", "nle", "nonLinearEffects", "rnea"),
]


def _forced(algorithm: str, model: Model, data: Data, fext: Any, **state: Any) -> tuple[Any, tuple[Matrix, ...]]:
    """The dynamics with forces on joints, in the axes of each, and their inputs: the state, and [forces (6 × n)]."""
    wrenches, name = dict[int, Matrix](), algorithm.split()[0]
    if fext is not None:
        if (forces := listed(fext)) is None or len(forces) != model.njoints:
            got = "is no list" if forces is None else f"has {len(forces)} forces"
            raise ArgumentError(f"{name}: fext {got}; give njoints = {model.njoints} forces, the universe's first")
        columns = {k: Force(force).vector for k, force in enumerate(forces) if k}
        # Forces of zeros, which programs give for most joints, would make the graph larger.
        wrenches = {k: f for k, f in columns.items() if not (is_constant(f) and not number_of(f).any())}
    inputs = [ca.horzcat(*wrenches.values())] if wrenches else []
    return model.robot([*wrenches]), (*data.run(algorithm, **state), *inputs)


def _torques(model: Model, data: Data, robot: Any, *state: Matrix) -> Matrix:
    inputs = model.inputs
    data.put(tau=robot.inverse_dynamics(*state, *inputs))
    data.fill(f=lambda: [Force(), *map(Force, ca.horzsplit(robot.joint_wrenches(*state, *inputs)))])
    return data.tau


def rnea(model: Model, data: Data, q: Any, v: Any, a: Any, fext: Any = None) -> Matrix:
    """The torques (nv) of a motion under ``fext``, forces on the links of all joints in the axes of these.

    Forces that joints pass on are in ``data.f``, in the same axes.
    """
    robot, state = _forced("rnea", model, data, fext, q=q, v=v, a=a)
    return _torques(model, data, robot, *state)


def aba(
    model: Model, data: Data, q: Any, v: Any, tau: Any, fext: Any = None, convention: Any = pin.Convention.LOCAL
) -> Matrix:
    """The acceleration (nv) under tau and forces on links, as those of rnea."""
    if isinstance(fext, pin.Convention):  # (…, tau, convention) is a call of Pinocchio, too
        fext, convention = None, fext
    robot, state = _forced(in_convention("aba", convention), model, data, fext, q=q, v=v, tau=tau)
    data.put(ddq=evaluate(model, robot.forward_dynamics, *state))
    data.note("ddq", *state[:3])
    return data.ddq


def computeStaticTorque(model: Model, data: Data, q: Any, fext: Any) -> Matrix:
    """The torques (nv) that hold the robot still under forces on links."""
    robot, (at_q, *forces) = _forced("computeStaticTorque", model, data, fext, q=q)
    return _torques(model, data, robot, at_q, ca.DM.zeros(model.nv), ca.DM.zeros(model.nv), *forces)


def computeRNEADerivatives(model: Model, data: Data, q: Any, v: Any, a: Any, fext: Any = None) -> tuple[Matrix, ...]:
    """The derivatives ∂tau/∂q and ∂tau/∂v, and M (nv × nv each)."""
    robot, state = _forced("computeRNEADerivatives", model, data, fext, q=q, v=v, a=a)
    dtau_dq, dtau_dv = evaluate(model, robot.inverse_dynamics_derivatives, *state)
    inputs = model.inputs
    data.put(dtau_dq=dtau_dq, dtau_dv=dtau_dv)
    data.fill(tau=lambda: robot.inverse_dynamics(*state, *inputs))
    return dtau_dq, dtau_dv, data.M


def computeABADerivatives(
    model: Model, data: Data, q: Any = None, v: Any = None, tau: Any = None, fext: Any = None
) -> tuple[Matrix, ...]:
    """The derivatives ∂a/∂q and ∂a/∂v, and M⁻¹ (nv × nv each); (model, data, fext) takes the last aba's q, v, tau."""
    if v is None and tau is None:
        fext = fext if q is None else q
        q, v, tau = data.known("computeABADerivatives", "ddq")
    robot, state = _forced("computeABADerivatives", model, data, fext, q=q, v=v, tau=tau)
    by_q, by_v, inverse = evaluate(model, robot.forward_dynamics_derivatives, *state)
    inputs = model.inputs
    data.put(ddq_dq=by_q, ddq_dv=by_v, ddq_dtau=inverse, Minv=inverse)
    ddq = cache(lambda: robot.forward_dynamics(*state, *inputs))

    @cache
    def torques() -> Any:
        return robot.inverse_dynamics_derivatives(*state[:2], ddq(), *state[3:], *inputs)

    data.fill(ddq=ddq)
    data.fill(dtau_dq=lambda: torques()[0], dtau_dv=lambda: torques()[1])
    return by_q, by_v, inverse


def _whole(slot: str) -> Callable[[Matrix], WholeRobotList]:
    return lambda x: WholeRobotList(f"data.{slot}", lambda: ca.densify(x))


def _centroidal_inertia(model: Model, data: Data, q: Matrix) -> Callable[[], Inertia]:
    """The inertia of the whole robot at its centre of mass, in the axes of the world."""
    placements, bodies = SLOTS["oMi"][1](model, data, q)(), [Inertia(body) for body in model.inertias]
    center = prepared("kinematics", "center_of_mass")(model, data, q)

    def inertia() -> Inertia:
        whole = sum((body.se3Action(placements[k]) for k, body in enumerate(bodies) if k), Inertia.Zero())
        return whole.se3ActionInverse(SE3(ca.DM.eye(3), center()))

    return inertia


def _energy(model: Model, data: Data, q: Matrix, v: Matrix) -> Callable[[], Matrix]:
    parts = SLOTS["kinetic_energy"][1](model, data, q, v), SLOTS["potential_energy"][1](model, data, q)
    return lambda: parts[0]() + parts[1]()


def _centroidal_maps(model: Model, data: Data, q: Matrix, v: Matrix) -> Callable[[], Matrix]:
    """Make the preparation of dAg, and put in that of Ag: one graph has both."""
    both = cache(prepared("kinematics", "centroidal_maps", tuple)(model, data, q, v))
    data.fill(Ag=lambda: both()[0])
    data.note("Ag", q)
    return lambda: both()[1]


SLOTS |= {
    "M": ("q", prepared("dynamics", "mass_matrix")),
    "Minv": ("q", prepared("dynamics", "mass_matrix_inverse")),
    "nle": ("qv", prepared("dynamics", "nle")),
    "g": ("q", prepared("dynamics", "generalized_gravity")),
    "C": ("qv", prepared("dynamics", "coriolis_matrix")),
    "kinetic_energy": ("qv", prepared("dynamics", "kinetic_energy")),
    "potential_energy": ("q", prepared("dynamics", "potential_energy")),
    "mechanical_energy": ("qv", _energy),
    "jointTorqueRegressor": ("qva", prepared("dynamics", "torque_regressor")),
    "kineticEnergyRegressor": ("qv", prepared("dynamics", "kinetic_energy_regressor")),
    "potentialEnergyRegressor": ("q", prepared("dynamics", "potential_energy_regressor")),
    "com": ("q", prepared("kinematics", "center_of_mass", _whole("com"))),
    "vcom": ("qv", prepared("kinematics", "center_of_mass_velocity", _whole("vcom"))),
    "acom": ("qva", prepared("kinematics", "center_of_mass_acceleration", _whole("acom"))),
    "Jcom": ("q", prepared("kinematics", "center_of_mass_jacobian")),
    "Ag": ("q", prepared("kinematics", "centroidal_map")),
    "dAg": ("qv", _centroidal_maps),
    "Ig": ("q", _centroidal_inertia),
    "_dFda": ("qva", prepared("kinematics", "centroidal_dynamics_derivatives", tuple)),
    "hg": ("qv", prepared("kinematics", "centroidal_momentum", Force)),
    "dhg": ("qva", prepared("kinematics", "centroidal_momentum_rate", Force)),
}


crba, computeMinverse = algorithm("crba", "convention"), algorithm("computeMinverse")
nonLinearEffects = nle = algorithm("nonLinearEffects")
computeGeneralizedGravity = algorithm("computeGeneralizedGravity")
computeCoriolisMatrix = getCoriolisMatrix = algorithm("computeCoriolisMatrix")
computeKineticEnergy, computePotentialEnergy = algorithm("computeKineticEnergy"), algorithm("computePotentialEnergy")
computeJointTorqueRegressor = algorithm("computeJointTorqueRegressor")
computeKineticEnergyRegressor = algorithm("computeKineticEnergyRegressor")
computePotentialEnergyRegressor = algorithm("computePotentialEnergyRegressor")
computeMechanicalEnergy = algorithm("computeMechanicalEnergy")
centerOfMass = algorithm("centerOfMass", "kinematic_level", "compute_subtree_coms")
jacobianCenterOfMass = algorithm("jacobianCenterOfMass", "compute_subtree_coms")
computeCentroidalMap, ccrba = algorithm("computeCentroidalMap"), algorithm("ccrba")
dccrba = computeCentroidalMapTimeVariation = algorithm("dccrba")
computeCentroidalMomentum = algorithm("computeCentroidalMomentum")
computeCentroidalMomentumTimeVariation = algorithm("computeCentroidalMomentumTimeVariation")


def computeAllTerms(model: Model, data: Data, q: Any, v: Any) -> None:
    """Fill placements, J and dJ, motions at a = 0, M, momenta and energies; each is made when it is read."""
    data.run("computeAllTerms", q=q, v=v, a=ca.DM.zeros(model.nv))


def computeTotalMass(model: Model, data: Data | None = None) -> float | Matrix:
    """The mass of all links that a joint moves [kg], as in ``data.mass[0]``."""
    return model.total_mass


def computeCentroidalDynamicsDerivatives(model: Model, data: Data, q: Any, v: Any, a: Any) -> tuple[Matrix, ...]:
    """The derivatives ∂h/∂q, ∂ḣ/∂q, ∂ḣ/∂v and ∂ḣ/∂a (6 × nv each)."""
    data.run("computeCentroidalDynamicsDerivatives", q=q, v=v, a=a)
    return getCentroidalDynamicsDerivatives(model, data)


def getCentroidalDynamicsDerivatives(model: Model, data: Data) -> tuple[Matrix, ...]:
    """The derivatives of :func:`computeCentroidalDynamicsDerivatives` at the last q, v, a."""
    state = data.known("getCentroidalDynamicsDerivatives", "_dFda")
    return tuple(evaluate(model, model.kinematics.centroidal_dynamics_derivatives, *state))


def getCenterOfMassVelocityDerivatives(model: Model, data: Data) -> Matrix:
    """The derivative of the velocity of the centre of mass by q (3 × nv), at the last q, v."""
    state = *data.known("getCenterOfMassVelocityDerivatives", "v"), ca.DM.zeros(model.nv)
    # The momentum of the robot is its mass times the velocity of the centre of mass, whatever a is.
    momentum, *_ = evaluate(model, model.kinematics.centroidal_dynamics_derivatives, *state)
    return momentum[:3, :] / computeTotalMass(model)

"""Dynamics: torques, accelerations, their derivatives, momenta, energies and regressors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.data import FILLED_BY, Data, fills
from gdalembert.cpin.kinematics import evaluate, fill_joint_jacobians, later
from gdalembert.cpin.model import Model
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import listed
from gdalembert.spatial.matrices import is_constant, matrix, number_of
from gdalembert.spatial.objects import Force

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

_Option = bool | pin.Convention | pin.KinematicLevel
"""What stands behind the state in some calls, and says how Pinocchio computes."""


def _forces(algorithm: str, model: Model, fext: Any) -> tuple[list[int], list[Matrix]]:
    """The joints that forces act on, each in the axes of its joint, and [the forces (6 × n)]; [] if there are none."""
    if fext is None:
        return [], []
    if (given := listed(fext)) is None or len(given) != model.njoints:
        got = "is no list" if given is None else f"has {len(given)} forces"
        raise ArgumentError(f"{algorithm}: fext {got}; give njoints = {model.njoints} forces, the universe's first")
    forces = {k: Force(force).vector for k, force in enumerate(given) if k}
    acting = {k: f for k, f in forces.items() if not (is_constant(f) and not number_of(f).any())}
    return list(acting), [ca.horzcat(*acting.values())] if acting else []


@fills("tau", "f")
def rnea(model: Model, data: Data, q: Any, v: Any, a: Any, fext: Any = None) -> Matrix:
    """tau (nv) of a motion; forces act on the robot, one for each joint, in its axes, as those on links do (data.f)."""
    state = data.keep("rnea", q=q, v=v, a=a)
    joints, forces = _forces("rnea", model, fext)
    robot, inputs = model.robot(joints), model.inputs
    tau = evaluate(model, robot.inverse_dynamics, *state, *forces)
    data.put(tau=tau)
    data.fill(f=lambda: [Force(), *map(Force, ca.horzsplit(robot.joint_wrenches(*state, *forces, *inputs)))])
    return tau


@fills("ddq")
def aba(model: Model, data: Data, q: Any, v: Any, tau: Any, fext: Any = None, *convention: Any) -> Matrix:
    """a (nv) under tau and forces, as of rnea."""
    state = *data.keep("aba", q=q, v=v), matrix("aba: tau", tau, model.nv)
    joints, forces = _forces("aba", model, None if isinstance(fext, _Option) else fext)
    ddq = evaluate(model, model.robot(joints).forward_dynamics, *state, *forces)
    data.put(ddq=ddq)
    return ddq


def computeStaticTorque(model: Model, data: Data, q: Any, fext: Any) -> Matrix:
    """tau (nv) that holds the robot still under forces."""
    rest = ca.DM.zeros(model.nv)
    return rnea(model, data, q, rest, rest, fext)


@fills("dtau_dq", "dtau_dv")
def computeRNEADerivatives(model: Model, data: Data, q: Any, v: Any, a: Any, fext: Any = None) -> tuple[Matrix, ...]:
    """∂tau/∂q, ∂tau/∂v and M (nv × nv each)."""
    state = data.keep("computeRNEADerivatives", q=q, v=v, a=a)
    joints, forces = _forces("computeRNEADerivatives", model, fext)
    robot = model.robot(joints)
    dtau_dq, dtau_dv = evaluate(model, robot.inverse_dynamics_derivatives, *state, *forces)
    mass_matrix = evaluate(model, robot.mass_matrix, state[0])
    inputs = model.inputs
    data.put(dtau_dq=dtau_dq, dtau_dv=dtau_dv, M=mass_matrix)
    data.fill(tau=lambda: robot.inverse_dynamics(*state, *forces, *inputs))
    return dtau_dq, dtau_dv, mass_matrix


@fills("ddq_dq", "ddq_dv", "ddq_dtau", "Minv")
def computeABADerivatives(model: Model, data: Data, q: Any, v: Any, tau: Any, fext: Any = None) -> tuple[Matrix, ...]:
    """∂a/∂q, ∂a/∂v and M⁻¹ (nv × nv each)."""
    state = *data.keep("computeABADerivatives", q=q, v=v), matrix("computeABADerivatives: tau", tau, model.nv)
    joints, forces = _forces("computeABADerivatives", model, fext)
    robot = model.robot(joints)
    by_q, by_v, inverse = evaluate(model, robot.forward_dynamics_derivatives, *state, *forces)
    inputs = model.inputs
    data.put(ddq_dq=by_q, ddq_dv=by_v, ddq_dtau=inverse, Minv=inverse)
    data.fill(ddq=lambda: robot.forward_dynamics(*state, *forces, *inputs))
    return by_q, by_v, inverse


def _alone(x: Matrix) -> list[Matrix]:
    """The whole robot's, of a list whose other entries, those of subtrees, are not computed."""
    return [ca.densify(x)]


_SLOTS: dict[str, tuple[str, str, str, Callable[[Any], Any]]] = {
    "M": ("dynamics", "mass_matrix", "q", ca.densify),
    "Minv": ("dynamics", "mass_matrix_inverse", "q", ca.densify),
    "nle": ("dynamics", "nle", "qv", ca.densify),
    "g": ("dynamics", "generalized_gravity", "q", ca.densify),
    "C": ("dynamics", "coriolis_matrix", "qv", ca.densify),
    "kinetic_energy": ("dynamics", "kinetic_energy", "qv", ca.densify),
    "potential_energy": ("dynamics", "potential_energy", "q", ca.densify),
    "jointTorqueRegressor": ("dynamics", "torque_regressor", "qva", ca.densify),
    "kineticEnergyRegressor": ("dynamics", "kinetic_energy_regressor", "qv", ca.densify),
    "potentialEnergyRegressor": ("dynamics", "potential_energy_regressor", "q", ca.densify),
    "com": ("kinematics", "center_of_mass", "q", _alone),
    "vcom": ("kinematics", "center_of_mass_velocity", "qv", _alone),
    "acom": ("kinematics", "center_of_mass_acceleration", "qva", _alone),
    "Jcom": ("kinematics", "center_of_mass_jacobian", "q", ca.densify),
    "Ag": ("kinematics", "centroidal_map", "q", ca.densify),
    "dAg": ("kinematics", "centroidal_map_rate", "qv", ca.densify),
    "hg": ("kinematics", "centroidal_momentum", "qv", Force),
    "dhg": ("kinematics", "centroidal_momentum_rate", "qva", Force),
}
"""Slots, the Functions of q, v, a that compute them, and what they are given as."""


def _algorithm(name: str, *slots: str) -> Callable[..., Any]:
    """The algorithm of (model, data, q, v, a), as far as its slots need them, that fills slots and returns the first.

    Without q it is about the q, v, a of the last sweep.
    """

    def compute(model: Model, data: Data, q: Any = None, v: Any = None, a: Any = None, *options: Any) -> Any:
        given = {key: x for key, x in zip("qva", (q, v, a), strict=True) if not isinstance(x, _Option | None)}
        data.keep(name, **given)
        for slot in slots:
            of, quantity, state, made = _SLOTS[slot]
            if slot == slots[0] or set(state) <= set(given or data.state):
                data.fill(**{slot: later(model, of, quantity, data.known(name, *state), made)})
            else:
                data.empty(slot)
        if "dAg" in slots:
            both = cache(later(model, "kinematics", "centroidal_maps", data.known(name, "q", "v"), tuple))
            data.fill(Ag=lambda: both()[0], dAg=lambda: both()[1])
        value = getattr(data, slots[0])
        return value[0] if isinstance(value, list) else value

    for slot in slots:
        FILLED_BY.setdefault(slot, f"{name}(model, data, {', '.join(_SLOTS[slot][2])})")
    compute.__name__, compute.__doc__ = name, f"Fill {', '.join(f'data.{slot}' for slot in slots)}; return the first."
    return compute


crba = _algorithm("crba", "M")
computeMinverse = _algorithm("computeMinverse", "Minv")
nonLinearEffects = nle = _algorithm("nonLinearEffects", "nle")
computeGeneralizedGravity = _algorithm("computeGeneralizedGravity", "g")
computeCoriolisMatrix = getCoriolisMatrix = _algorithm("computeCoriolisMatrix", "C")
computeKineticEnergy = _algorithm("computeKineticEnergy", "kinetic_energy")
computePotentialEnergy = _algorithm("computePotentialEnergy", "potential_energy")
computeJointTorqueRegressor = _algorithm("computeJointTorqueRegressor", "jointTorqueRegressor")
computeKineticEnergyRegressor = _algorithm("computeKineticEnergyRegressor", "kineticEnergyRegressor")
computePotentialEnergyRegressor = _algorithm("computePotentialEnergyRegressor", "potentialEnergyRegressor")
centerOfMass = _algorithm("centerOfMass", "com", "vcom", "acom")
jacobianCenterOfMass = _algorithm("jacobianCenterOfMass", "Jcom", "com")
computeCentroidalMap = _algorithm("computeCentroidalMap", "Ag", "com")
ccrba = _algorithm("ccrba", "Ag", "hg", "com", "vcom")
dccrba = computeCentroidalMapTimeVariation = _algorithm("dccrba", "dAg", "Ag", "hg", "com", "vcom")
computeCentroidalMomentum = _algorithm("computeCentroidalMomentum", "hg", "com", "vcom")
computeCentroidalMomentumTimeVariation = _algorithm(
    "computeCentroidalMomentumTimeVariation", "dhg", "hg", "com", "vcom", "acom"
)
_all_terms = _algorithm(
    "computeAllTerms", "com", "M", "nle", "g", "Jcom", "Ag", "hg", "vcom", "kinetic_energy", "potential_energy"
)


def computeAllTerms(model: Model, data: Data, q: Any, v: Any) -> None:
    """Placements, J and dJ, and what belongs to masses; each of them is made when it is read."""
    data.keep("computeAllTerms", q=q, v=v)
    fill_joint_jacobians(model, data, q, v)
    _all_terms(model, data, q, v)


@fills("mechanical_energy")
def computeMechanicalEnergy(model: Model, data: Data, q: Any = None, v: Any = None) -> Matrix:
    """Kinetic and potential energy [J]."""
    energy = computeKineticEnergy(model, data, q, v) + computePotentialEnergy(model, data, q)
    data.put(mechanical_energy=energy)
    return energy


@fills("mass")
def computeTotalMass(model: Model, data: Data | None = None) -> Matrix:
    """The mass of all links that a joint moves [kg]."""
    mass = sum((body.mass for body in model.inertias[1:]), ca.DM(0))
    if data is not None:
        data.put(mass=[mass])
    return mass


def computeCentroidalDynamicsDerivatives(model: Model, data: Data, q: Any, v: Any, a: Any) -> tuple[Matrix, ...]:
    """∂h/∂q, ∂ḣ/∂q, ∂ḣ/∂v and ∂ḣ/∂a (6 × nv each)."""
    computeCentroidalMomentumTimeVariation(
        model, data, *data.keep("computeCentroidalDynamicsDerivatives", q=q, v=v, a=a)
    )
    return getCentroidalDynamicsDerivatives(model, data)


def getCentroidalDynamicsDerivatives(model: Model, data: Data) -> tuple[Matrix, ...]:
    """The derivatives of :func:`computeCentroidalDynamicsDerivatives` at the last q, v, a."""
    state = data.known("getCentroidalDynamicsDerivatives", *"qva")
    return tuple(evaluate(model, model.kinematics.centroidal_dynamics_derivatives, *state))


def getCenterOfMassVelocityDerivatives(model: Model, data: Data) -> Matrix:
    """The derivative of the velocity of the centre of mass by q (3 × nv), at the last q, v."""
    state = *data.known("getCenterOfMassVelocityDerivatives", *"qv"), ca.DM.zeros(model.nv)
    momentum, *_ = evaluate(model, model.kinematics.centroidal_dynamics_derivatives, *state)
    return momentum[:3, :] / computeTotalMass(model)

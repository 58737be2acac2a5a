"""Data: slots that algorithms fill, each with its own q, v, a, and each computed when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import GdalembertError, UnknownNameError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import check_one_kind
from gdalembert.spatial.matrices import is_same, matrix
from gdalembert.spatial.objects import SE3

__all__ = ["Data", "MissingAttributeError"]

_Q = "oMi liMi"
_V = f"{_Q} v"
_A = f"{_V} a"
_RATES = "ov J dJ"
_MOTION = f"{_A} oa {_RATES}"
_TERMS = f"nle {_A} {_RATES} com vcom Jcom dAg hg Ig M g kinetic_energy potential_energy mechanical_energy -f -dhg"
WRITES: dict[str, str] = {
    "forwardKinematics": _A,
    "framesForwardKinematics": f"oMf {_Q}",
    "computeJointJacobians": f"J {_Q}",
    "computeJointJacobiansTimeVariation": f"dJ {_V} {_RATES}",
    "computeForwardKinematicsDerivatives": f"a {_MOTION}",
    "computeFrameJacobian": "~liMi",
    "computeJointJacobian": "~liMi",
    "frameJacobianTimeVariation": f"dJ {_V} {_RATES} oMf",
    "rnea": "tau f liMi v",
    "computeStaticTorque": "tau f liMi",
    "aba": "ddq liMi v -a -f",
    "crba": "M liMi",
    "computeMinverse": f"Minv {_Q} J",
    "nonLinearEffects": "nle liMi v -f",
    "computeGeneralizedGravity": "g liMi -f",
    "computeCoriolisMatrix": f"C {_V} {_RATES} -Ag",
    "computeRNEADerivatives": f"dtau_dq dtau_dv tau M {_MOTION} -_dFda",
    "computeABADerivatives": f"ddq_dq ddq_dv ddq_dtau Minv ddq dtau_dq dtau_dv {_Q} {_RATES} -oa -_dFda",
    "computeKineticEnergy": f"kinetic_energy {_Q} v",
    "computePotentialEnergy": f"potential_energy {_Q}",
    "computeMechanicalEnergy": f"mechanical_energy kinetic_energy potential_energy {_Q} v",
    "computeJointTorqueRegressor": "jointTorqueRegressor liMi v",
    "computeKineticEnergyRegressor": f"kineticEnergyRegressor {_Q} v",
    "computePotentialEnergyRegressor": f"potentialEnergyRegressor {_Q} -com",
    "centerOfMass": f"com vcom acom {_Q} v a",
    "jacobianCenterOfMass": f"Jcom com J {_Q}",
    "computeCentroidalMap": f"Ag com J {_Q}",
    "ccrba": f"Ag hg J com Ig {_Q}",
    "dccrba": f"dAg hg com vcom Ig {_V} {_RATES}",
    "computeCentroidalMomentum": f"hg com vcom {_Q} v",
    "computeCentroidalMomentumTimeVariation": f"dhg hg com vcom {_Q} v a -f",
    "computeCentroidalDynamicsDerivatives": f"dhg _dFda hg com Ag Ig {_MOTION} -tau -f",
    "computeAllTerms": _TERMS,
    "constraintDynamics": f"ddq lambda_c {_Q} ov -oa J com Ag M nle -impulse_c -_dFda",
    "computeConstraintDynamicsDerivatives": f"dlambda_dq dlambda_dv dlambda_dtau {_MOTION} Minv -dtau_dq -dtau_dv",
    "forwardDynamics": f"ddq lambda_c {_TERMS}",
    "impulseDynamics": f"dq_after impulse_c {_Q} J com Ag M",
}
"""The slots that Pinocchio's algorithms fill, the first of which is their result; behind "-" those that they leave with
what belongs to no state, behind "~" those that they leave so at another q."""
ARGUMENTS = dict.fromkeys(("tau", "f", "dtau_dq", "dtau_dv"), "q, v, a")
ARGUMENTS |= dict.fromkeys(("ddq", "ddq_dq", "ddq_dv", "ddq_dtau"), "q, v, tau")
ARGUMENTS |= {"lambda_c": "q, v, tau, contact_models, contact_datas", "dq_after": "q, v, J", "impulse_c": "q, v, J"}
ARGUMENTS |= dict.fromkeys(("dlambda_dq", "dlambda_dv", "dlambda_dtau"), "contact_models, contact_datas")
"""What a slot is computed from, of those that :data:`SLOTS` has not."""
SLOTS: dict[str, tuple[str, Callable[..., Callable[[], Any]]]] = {}
"""Which of q, v, a a slot is computed from, and what prepares that: (model, data, q, …) → () → value."""


def _call(slot: str) -> str:
    """The call that fills a slot."""
    algorithm = next(name for name, slots in WRITES.items() if slot in slots.split())
    return f"{algorithm}(model, data, {', '.join(SLOTS[slot][0]) if slot in SLOTS else ARGUMENTS[slot]})"


class MissingAttributeError(GdalembertError, AttributeError):
    """A quantity that no algorithm has computed, where Pinocchio gives zeros; a name that is not there."""


class Data:
    """The results of algorithms, ``data.oMf[k]``, ``data.M`` and so on; a MissingAttributeError for what none computed.

    Attributes:
        at, made_of: the q, v, a of slots, as far as they are computed from these, and the kinematics of then.
        swept: the kinematics, the q and the placements that were read last.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._slots: dict[str, Callable[[], Any]] = {}
        self.at: dict[str, tuple[Matrix, ...]] = {}
        self.made_of: dict[str, Kinematics] = {}
        self.swept: tuple[Kinematics, Matrix, Callable[[int], SE3]] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "mass":
            return [sum((body.mass for body in self._model.inertias[1:]), ca.DM(0))]
        if name in self._slots:
            value = self.__dict__[name] = self._slots[name]()
            return value
        if name in SLOTS or name in ARGUMENTS:
            raise MissingAttributeError(f"data.{name}: nothing has computed it; call {_call(name)} before")
        raise MissingAttributeError(str(UnknownNameError("slot of data", name, (*SLOTS, *ARGUMENTS))))

    def fill(self, **slots: Callable[[], Any]) -> None:
        """Take what computes each slot, in place of what was there."""
        self.empty(*slots)
        self._slots |= slots

    def put(self, **values: Any) -> None:
        """Take what is computed already."""
        self.empty(*values)
        self.__dict__.update(values)

    def empty(self, *slots: str) -> None:
        """Forget slots, which belong to another state."""
        for name in slots:
            for known in (self.__dict__, self._slots, self.at):
                known.pop(name, None)

    def run(self, algorithm: str, **state: Any) -> tuple[Matrix, ...]:
        """Check q, v, a or tau, and fill what the algorithm fills; forget what needs others too, if of another q."""
        sizes = {"q": self._model.pin.nq}
        state = {name: matrix(f"{algorithm}: {name}", x, sizes.get(name, self._model.nv)) for name, x in state.items()}
        check_one_kind(algorithm, state)
        for slot in WRITES[algorithm].split():
            needed = SLOTS[slot][0] if slot in SLOTS else ""
            own = tuple(state[name] for name in needed if name in state)
            if own and len(own) == len(needed):
                self.fill_at(slot, *own)
            elif slot.startswith("-") or not all(map(is_same, self.at.get(slot.strip("~"), ()), own or state.values())):
                self.empty(slot.strip("-~"))
        if not all(map(is_same, self.at.get("oMf", ()), self.at.get("oMi", ()))):
            self.empty("oMf")
        return tuple(state.values())

    def fill_at(self, slot: str, *state: Matrix) -> None:
        """Take what computes a slot at q, v, a."""
        self.fill(**{slot: SLOTS[slot][1](self._model, self, *state)})
        self.at[slot], self.made_of[slot] = state, self._model.kinematics

    def run_again(self, algorithm: str) -> None:
        """Fill what Pinocchio's algorithm fills from the placements, velocities and accelerations that are there."""
        first, *others = WRITES[algorithm].split()
        found = {"C": self.placed(algorithm, "dJ", "J")} if first == "C" else {}
        for slot in () if found else (first, *(x for x in others if x in SLOTS and x not in f"{_A} oa ov dJ".split())):
            source = {"q": "oMi", "qv": "v", "qva": "a"}[SLOTS[slot][0]]
            if slot == first or source in self.at:
                found[slot] = self.placed(algorithm, source, "liMi")
        self.empty(*(slot[1:] for slot in others if slot.startswith("-")))
        for slot, state in found.items():
            self.fill_at(slot, *state)

    def known(self, algorithm: str, *slots: str) -> tuple[Matrix, ...]:
        """The q, v, a of the first of these slots that something has filled, of the model as it is; else an error."""
        slot = next((slot for slot in slots if slot in self.at), slots[-1])
        if slot in self.at and self.made_of[slot] is self._model.kinematics:
            return self.at[slot]
        why = "the model has changed since data.{} was computed" if slot in self.at else "nothing has computed data.{}"
        raise MissingAttributeError(f"{algorithm}: {why.format(slot)}; call {_call(slot)} before")

    def placed(self, algorithm: str, *slots: str) -> tuple[Matrix, ...]:
        """The q, v, a of the first slot; an error if one of them is not of the q of the placements."""
        for slot in slots:
            if not is_same(self.known(algorithm, slot)[0], self.known(algorithm, "oMi")[0]):
                raise MissingAttributeError(f"{algorithm}: data.{slot} has another q than data.oMi; call {_call(slot)}")
        return self.at[slots[0]]

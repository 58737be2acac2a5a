"""Data: slots that algorithms fill, each with its own q, v, a, and each computed when it is first read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from gdalembert.cpin.calls import MissingAttributeError
from gdalembert.cpin.matrices import LazyList, is_same, matrix
from gdalembert.cpin.objects import SE3
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import check_one_kind

__all__ = ["Data"]

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
    "computeFrameJacobian": "",
    "computeJointJacobian": "",
    "frameJacobianTimeVariation": f"dJ {_V} {_RATES} oMf",
    "rnea": "tau f liMi v",
    "computeStaticTorque": "tau f liMi",
    "aba": "ddq liMi v -a -f",
    "aba WORLD": f"ddq {_Q} ov J -oa",
    "crba": "M liMi",
    "crba WORLD": f"M {_Q} J Ag com",
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
"""The slots that Pinocchio's algorithms fill, by name and Convention, the first of which is their result; behind "-"
those that they leave with what belongs to no state."""
ARGUMENTS = dict.fromkeys(("tau", "f", "dtau_dq", "dtau_dv"), "q, v, a")
ARGUMENTS |= dict.fromkeys(("ddq", "ddq_dq", "ddq_dv", "ddq_dtau"), "q, v, tau")
ARGUMENTS |= {"lambda_c": "q, v, tau, contact_models, contact_datas", "dq_after": "q, v, J", "impulse_c": "q, v, J"}
ARGUMENTS |= dict.fromkeys(("dlambda_dq", "dlambda_dv", "dlambda_dtau"), "contact_models, contact_datas")
"""The arguments of calls that fill the slots that :data:`SLOTS` has not."""
SLOTS: dict[str, tuple[str, Callable[..., Callable[[], Any]]]] = {}
"""The letters of q, v, a that a slot is computed from, and its preparation: (model, data, q, …) → () → value."""


def filling_call(slot: str) -> str:
    """The call that fills a slot."""
    algorithm = next(name for name, slots in WRITES.items() if slot in slots.split())
    return f"{algorithm}(model, data, {', '.join(SLOTS[slot][0]) if slot in SLOTS else ARGUMENTS[slot]})"


class WholeRobotList(LazyList):
    """A list of one quantity, the robot's; those of subtrees, which Pinocchio has behind it, are not computed."""

    def __init__(self, name: str, value: Callable[[], Any]) -> None:
        super().__init__(name, 1, lambda _: value())

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice) and index != 0:
            raise ArgumentError(f"{self.name}[{index}]: subtrees are not computed; read {self.name}[0], of the robot")
        return super().__getitem__(index)


class Data:
    """Results of algorithms, as ``data.oMf[k]`` and ``data.M``; a MissingAttributeError where none has computed them.

    Attributes:
        at, made_of: the q, v, a of slots, as far as they are computed from these, and the kinematics of then.
        partial: the entries of placements that were computed, where not all of them were.
        swept: the kinematics, the q and the placements that were read last.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._slots: dict[str, Callable[[], Any]] = {}
        self.at: dict[str, tuple[Matrix, ...]] = {}
        self.made_of: dict[str, Kinematics] = {}
        self.partial: dict[str, set[int]] = {}
        self.swept: tuple[Kinematics, Matrix, Callable[[int], SE3]] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "mass":
            model = self._model
            return WholeRobotList("data.mass", lambda: model.total_mass)
        if name in self._slots:
            value = self.__dict__[name] = self._slots[name]()  # found there from now on, without this method
            return value
        if name in SLOTS or name in ARGUMENTS:
            raise MissingAttributeError(f"data.{name}: nothing has computed it; call {filling_call(name)} before")
        raise MissingAttributeError(str(UnknownNameError("slot of data", name, (*SLOTS, *ARGUMENTS))))

    def copy(self) -> Data:
        """A copy of the results, which other calls may fill."""
        copied = type(self)(self._model)
        copied.__dict__.update({name: dict(x) if isinstance(x, dict) else x for name, x in self.__dict__.items()})
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Data:
        copied = self.copy()
        copied._model = deepcopy(self._model, memo)
        return copied

    def __reduce__(self) -> Any:
        raise UnsupportedError("data: its results are graphs, which cannot be pickled; pickle the model, and call anew")

    def follow(self, model: Any) -> None:
        """Become the workspace of the model of a call, as in Pinocchio; results of other sizes are forgotten."""
        new, old = ((x.pin.nq, x.pin.nv, x.pin.njoints, x.pin.nframes) for x in (model, self._model))
        if new != old:
            self.empty(*SLOTS, *ARGUMENTS)
        self._model = model

    def fill(self, **slots: Callable[[], Any]) -> None:
        """Keep a function that computes each slot, in place of its value."""
        self.empty(*slots)
        self._slots |= slots

    def put(self, **values: Any) -> None:
        """Keep values that are computed already."""
        self.empty(*values)
        self.__dict__.update(values)

    def empty(self, *slots: str) -> None:
        """Forget slots, which belong to another state."""
        for name in slots:
            for known in (self.__dict__, self._slots, self.at, self.made_of, self.partial):
                known.pop(name, None)

    def is_at(self, slot: str, *state: Matrix) -> bool:
        """True if a slot is empty, or of this q, v, a and of the model of the call as it is now."""
        known = slot not in self.at or self.made_of[slot] is self._model.kinematics
        return known and all(map(is_same, self.at.get(slot, ()), state))

    def _is_together(self, slot: str, other: str) -> bool:
        """True if two slots are of the same q, v, a, and of the same model."""
        return self.made_of[slot] is self.made_of[other] and all(map(is_same, self.at[slot], self.at[other]))

    def run(self, algorithm: str, **state: Any) -> tuple[Matrix, ...]:
        """Check q, v, a or tau, and fill what the algorithm fills; forget what needs others too, if of another q."""
        sizes, name = {"q": self._model.pin.nq}, algorithm.split()[0]
        state = {x: matrix(f"{name}: {x}", value, sizes.get(x, self._model.nv)) for x, value in state.items()}
        check_one_kind(name, state)
        for slot in WRITES[algorithm].split():
            needed = SLOTS[slot][0] if slot in SLOTS else ""
            state_of_slot = tuple(state[x] for x in needed if x in state)
            if state_of_slot and len(state_of_slot) == len(needed):
                self.fill_at(slot, *state_of_slot)
            elif slot.startswith("-") or not self.is_at(slot, *(state_of_slot or state.values())):
                # An old value beside slots of the new state would be a wrong number that nobody sees.
                self.empty(slot.strip("-"))
        # Pinocchio leaves data.oMf at an older q, where programs forget to call updateFramePlacements.
        if "oMf" in self.at and "oMi" in self.at and not self._is_together("oMf", "oMi"):
            self.empty("oMf")
        return tuple(state.values())

    def fill_at(self, slot: str, *state: Matrix) -> None:
        """Keep a function that computes a slot at q, v, a."""
        self.fill(**{slot: SLOTS[slot][1](self._model, self, *state)})
        self.note(slot, *state)

    def note(self, slot: str, *state: Matrix) -> None:
        """Keep the state q, v, a of a slot."""
        self.at[slot], self.made_of[slot] = state, self._model.kinematics

    def fill_entries(self, slot: str, entries: Iterable[int], q: Matrix) -> None:
        """Keep a function that computes some placements of a list at q, unless all of them are known there."""
        if slot not in self.at or not self.is_at(slot, q):
            computed, whole = set[int](), SLOTS[slot][1](self._model, self, q)
            self.fill(**{slot: lambda: _some(whole(), computed, slot)})
            self.note(slot, q)
            self.partial[slot] = computed
        self.partial.get(slot, set()).update(entries)

    def run_again(self, algorithm: str) -> None:
        """Fill what Pinocchio's algorithm fills from the placements, velocities and accelerations that are there."""
        first, *others = WRITES[algorithm].split()
        states = {"C": self.placed(algorithm, "dJ", "J")} if first == "C" else {}
        for slot in () if states else (first, *(x for x in others if x in SLOTS and x not in f"{_A} oa ov dJ".split())):
            source = {"q": "oMi", "qv": "v", "qva": "a"}[SLOTS[slot][0]]
            if slot == first or source in self.at:
                states[slot] = self.placed(algorithm, source, "liMi")
        self.empty(*(slot[1:] for slot in others if slot.startswith("-")))
        for slot, state in states.items():
            self.fill_at(slot, *state)

    def known(self, algorithm: str, *slots: str) -> tuple[Matrix, ...]:
        """The state of the first of these slots that something has filled, of the model as it is; else an error."""
        whole = self.at.keys() - self.partial.keys()
        slot = next((slot for slot in slots if slot in whole), slots[-1])
        if slot in whole and self.made_of[slot] is self._model.kinematics:
            return self.at[slot]
        changed = f"the model is another, or has changed, since data.{slot} was computed"
        reason = changed if slot in whole else f"nothing has computed data.{slot}"
        raise MissingAttributeError(f"{algorithm}: {reason}; call {filling_call(slot)} before")

    def placed(self, algorithm: str, *slots: str) -> tuple[Matrix, ...]:
        """The state of the first slot; an error if one of the slots is not of the q of the placements."""
        for slot in slots:
            if not is_same(self.known(algorithm, slot)[0], self.known(algorithm, "oMi")[0]):
                raise MissingAttributeError(
                    f"{algorithm}: data.{slot} has another q than data.oMi; call {filling_call(slot)}"
                )
        return self.at[slots[0]]


def _some(whole: LazyList, entries: set[int], slot: str) -> LazyList:
    """Restrict a list to those entries that have been computed."""

    def entry(k: int) -> Any:
        if k not in entries:
            raise MissingAttributeError(f"{whole.name}[{k}]: nothing has computed it; call {filling_call(slot)} before")
        return whole[k]

    return LazyList(whole.name, len(whole), entry)

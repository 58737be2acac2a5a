"""Random sequences of algorithms at random states: what is read afterwards is Pinocchio's, or an error that names a
call, wherever Pinocchio's number belongs to one state."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from gdalembert import cpin
from gdalembert.cpin.data import ARGUMENTS, SLOTS, WRITES
from tests.cpin.test_slots import LAST, calls, numbers, robot
from tests.helpers.models import states

AXES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
STATELESS = ("updateFramePlacements", "updateGlobalPlacements", "computeJointJacobians", "computeKineticEnergy")
STATELESS += ("computePotentialEnergy", "computeMechanicalEnergy", "computeCentroidalMomentum", "getCoriolisMatrix")
STATELESS += ("computeCentroidalMomentumTimeVariation", "jacobianCenterOfMass", "centerOfMass")
OF_FRAMES = ("Velocity", "Acceleration", "ClassicalAcceleration", "Jacobian", "JacobianTimeVariation")
SEQUENCES = 100

Call = Callable[..., Any]
State = tuple[np.ndarray, np.ndarray, np.ndarray]


def algorithms(lib: ModuleType, model: Any) -> dict[str, Call]:
    """Those of (data, q, v, a), and those that take the last sweep."""

    def plain(name: str) -> Call:
        return lambda data, *_: getattr(lib, name)(model, data)

    return calls(lib, model) | {f"{name}()": plain(name) for name in STATELESS}


def readers(lib: ModuleType, model: Any) -> dict[str, Call]:
    """Slots, and getters of a joint and of a frame, of data."""

    def getter(name: str, reference: pin.ReferenceFrame) -> Call:
        return lambda data: numbers("", getattr(lib, name)(model, data, LAST, reference))

    def slot(name: str) -> Call:
        return lambda data: numbers(name, getattr(data, name))

    theirs = robot().createData()
    slots = [x for x in (*SLOTS, *ARGUMENTS) if hasattr(theirs, x) and x != "ddq_dtau"]  # which Pinocchio has as Minv
    names = [f"getFrame{what}" for what in OF_FRAMES] + [f"get{what}" for what in OF_FRAMES[:3]]
    names += [f"getJoint{what}" for what in OF_FRAMES[3:]]
    found = {f"{name} {axes}": getter(name, axes) for name, axes in itertools.product(names, AXES)}
    return found | {name: slot(name) for name in slots}


def at_one_state(state: State) -> dict[str, np.ndarray]:
    """What Pinocchio gives for each of the readers if everything belongs to the state."""
    model = robot()
    found, algorithms, read = {}, calls(pin, model), readers(pin, model)
    for name, reader in read.items():
        by = next((x for x, slots in WRITES.items() if name in slots.split()), "frameJacobianTimeVariation")
        data = model.createData()
        algorithms["computeForwardKinematicsDerivatives"](data, *state)
        algorithms[by](data, *state)
        found[name] = reader(data)
    return found


def is_equal(found: np.ndarray, expected: np.ndarray) -> bool:
    found, expected = np.squeeze(found), np.squeeze(expected)
    size = max(1.0, np.abs(expected).max(initial=0))
    return found.shape == expected.shape and bool(np.abs(found - expected).max(initial=0) < 1e-10 * size)


def attempt(call: Call, *arguments: Any) -> tuple[Any, str]:
    """The result, or why there is none."""
    try:
        return call(*arguments), ""
    except cpin.MissingAttributeError as error:
        return None, str(error)


@pytest.mark.long
def test_no_sequence_reads_a_wrong_number() -> None:
    rng, model = np.random.default_rng(8), robot()
    pool = states(model, np.random.default_rng(5), 2)
    ours, theirs = cpin.Model(model, clean=0), model
    own, pinocchios = algorithms(cpin, ours), algorithms(pin, theirs)
    read, known = readers(cpin, ours), readers(pin, theirs)
    one_state = [at_one_state(state) for state in itertools.product(*zip(*pool, strict=True))]
    compared = refused = 0
    for _ in range(SEQUENCES):
        data, others, done = ours.createData(), theirs.createData(), []
        for name in ("computeForwardKinematicsDerivatives", "ccrba", "centerOfMass", *rng.choice(list(own), 3)):
            state = tuple(pool[k][i] for i, k in enumerate(rng.integers(2, size=3)))
            refusal = attempt(own[name], data, *state)[1]
            if refusal:
                assert "call" in refusal, (done, name)
            else:
                pinocchios[name](others, *state)
                done.append(str(name))
        for name in rng.permutation(list(read)):
            found, refusal = attempt(read[name], data)
            if refusal:
                assert "call" in refusal, (done, name)
                refused += 1
                continue
            expected = known[name](others)
            compared += 1
            if not is_equal(found, expected):  # which mixes two states
                assert not any(is_equal(fresh[name], expected) for fresh in one_state), (done, name)
    assert compared > refused > 0

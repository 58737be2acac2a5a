"""Which slots an algorithm fills, and what is read after it: those of Pinocchio, whatever was computed at other q."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import cpin
from gdalembert.cpin.data import WRITES
from tests.helpers.models import build, states
from tests.helpers.sets import quick

READERS = ("getFrameVelocity", "getFrameAcceleration", "getFrameClassicalAcceleration", "getFrameJacobian")
LAST = 4
"""The frame that is read."""


def robot() -> pin.Model:
    """Two limbs on a floating base."""
    return build(np.random.default_rng(3), ("FreeFlyer", "RX", "PY", "Spherical"), (0, 1, 2, 1))


def calls(lib: ModuleType, model: Any) -> dict[str, Any]:
    """Algorithms of (data, q, v, a), a being tau where they take that."""
    forces = [lib.Force(np.arange(6.0) + k) for k in range(model.njoints)]
    fext = forces if lib is cpin else pin.StdVec_Force(forces)
    contact = lib.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, LAST, pin.LOCAL)
    by_q = {"framesForwardKinematics", "computeJointJacobians", "crba", "computeMinverse", "computeGeneralizedGravity"}
    by_q |= {
        "computePotentialEnergy",
        "computePotentialEnergyRegressor",
        "jacobianCenterOfMass",
        "computeCentroidalMap",
    }
    by_motion = {
        "forwardKinematics",
        "computeForwardKinematicsDerivatives",
        "centerOfMass",
        "computeJointTorqueRegressor",
    }
    by_motion |= {"computeCentroidalMomentumTimeVariation", "computeCentroidalDynamicsDerivatives"}
    forced = {"rnea", "aba", "computeRNEADerivatives", "computeABADerivatives"}

    models, datas = lib.StdVec_RigidConstraintModel(), lib.StdVec_RigidConstraintData()
    models.append(contact)
    datas.append(contact.createData())

    def constrained(data: Any, q: Any, v: Any, tau: Any) -> None:
        lib.initConstraintDynamics(model, data, models, datas)
        lib.constraintDynamics(model, data, q, v, tau, models, datas)

    def differentiated(data: Any, q: Any, v: Any, tau: Any) -> None:
        constrained(data, q, v, tau)
        lib.computeConstraintDynamicsDerivatives(model, data, models, datas)

    own = {
        "computeStaticTorque": lambda d, q, v, a: lib.computeStaticTorque(model, d, q, fext),
        "computeConstraintDynamicsDerivatives": differentiated,
        "computeFrameJacobian": lambda d, q, v, a: lib.computeFrameJacobian(model, d, q, LAST, pin.LOCAL),
        "computeJointJacobian": lambda d, q, v, a: lib.computeJointJacobian(model, d, q, LAST),
        "frameJacobianTimeVariation": lambda d, q, v, a: lib.frameJacobianTimeVariation(
            model, d, q, v, LAST, pin.LOCAL
        ),
        "constraintDynamics": constrained,
        "forwardDynamics": lambda d, q, v, a: lib.forwardDynamics(
            model, d, q, v, a, np.eye(3, model.nv), np.zeros(3), 1e-12
        ),
        "impulseDynamics": lambda d, q, v, a: lib.impulseDynamics(model, d, q, v, np.eye(3, model.nv), 0.0, 1e-12),
    }

    def plain(name: str) -> Any:
        number = 1 if name in by_q else 3 if name in by_motion | forced else 2
        more = (fext,) if name in forced else ()
        return lambda d, *state: getattr(lib, name)(model, d, *state[:number], *more)

    return {name: own.get(name) or plain(name) for name in WRITES}


def numbers(slot: str, x: Any) -> np.ndarray:
    """A slot as an array, without what Pinocchio leaves undefined: the universe's, subtrees', and lower triangles."""
    if slot in ("com", "vcom", "acom", "mass"):
        x = x[0]
    if isinstance(x, cpin.Inertia | pin.Inertia):
        return np.array(ca.DM(x.matrix()))
    if hasattr(x, "vector"):
        return np.array(ca.DM(x.vector)).ravel()
    if hasattr(x, "homogeneous"):
        return np.array(ca.DM(x.homogeneous))
    if hasattr(x, "tolist") and not isinstance(x, np.ndarray | ca.DM):
        return np.array([numbers("", each) for each in list(x)[1:]])
    if isinstance(x, list):
        return np.array([numbers("", each) for each in x[1:]])
    found = np.array(ca.DM(x))
    return np.triu(found) if slot in ("M", "Minv") else found.squeeze()


def read(lib: ModuleType, model: Any, data: Any) -> dict[str, Any]:
    """What programs read of a frame after an algorithm."""
    found: dict[str, Any] = {}
    for reference in (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED):
        for name in READERS:
            try:
                found[f"{name} {reference}"] = numbers("", getattr(lib, name)(model, data, LAST, reference))
            except cpin.MissingAttributeError:
                found[f"{name} {reference}"] = None
    return found


def after(lib: ModuleType, model: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Data that has been filled at one state, after an algorithm at another, and what is read of a frame."""
    data, (first, second) = model.createData(), states(robot(), np.random.default_rng(5), 2)
    lib.computeJointJacobiansTimeVariation(model, data, *first[:2])
    lib.forwardKinematics(model, data, *first)
    lib.updateFramePlacements(model, data)
    calls(lib, model)[name](data, *second)
    return data, read(lib, model, data)


@pytest.mark.parametrize("name", quick(WRITES, "rnea", "crba", "computeKineticEnergy", "centerOfMass"))
def test_slots_and_readers_are_those_of_pinocchio(name: str) -> None:
    """Every slot of the table, and every reader of a frame, which may refuse only what the algorithm leaves undone."""
    (theirs, by_theirs), (ours, by_ours) = (
        after(lib, model, name) for lib, model in ((pin, robot()), (cpin, cpin.Model(robot(), clean=0)))
    )
    for slot in ("oMi", *(slot for slot in WRITES[name].split() if "_dFda" not in slot)):  # which is not read
        if slot.startswith(("-", "~")):
            with pytest.raises(cpin.MissingAttributeError):
                getattr(ours, slot[1:])
        elif slot != "ddq_dtau":  # which Pinocchio has as Minv
            expected, got = numbers(slot, getattr(theirs, slot)), numbers(slot, getattr(ours, slot))
            assert got == pytest.approx(expected, rel=1e-11, abs=1e-11), slot
    for reader, expected in by_theirs.items():
        refused = by_ours[reader] is None
        assert refused == ("celeration" in reader and name == "aba"), reader
        if not refused:
            assert by_ours[reader] == pytest.approx(expected, rel=1e-11, abs=1e-11), reader


def test_readers_of_derivatives_ask_for_one_state() -> None:
    """After forward dynamics at another state velocities are those of that, as the derivatives are; a is not known."""
    found = []
    for lib, model in ((pin, robot()), (cpin, cpin.Model(robot(), clean=0))):
        data, (first, second) = model.createData(), states(robot(), np.random.default_rng(5), 2)
        lib.computeForwardKinematicsDerivatives(model, data, *first)
        lib.computeABADerivatives(model, data, *second)
        found.append(numbers("", lib.getFrameVelocityDerivatives(model, data, LAST, pin.LOCAL)[0]))
    assert found[1] == pytest.approx(found[0], rel=1e-11, abs=1e-11)
    with pytest.raises(cpin.MissingAttributeError, match=r"nothing has computed data.oa"):
        cpin.getFrameAccelerationDerivatives(model, data, LAST, pin.LOCAL)
    cpin.framesForwardKinematics(model, data, first[0])
    with pytest.raises(cpin.MissingAttributeError, match=r"data.dJ has another q than data.oMi; call compute"):
        cpin.getFrameJacobianTimeVariation(model, data, LAST, pin.LOCAL)


@pytest.mark.parametrize("name", ["computeKineticEnergy", "computePotentialEnergy", "computeMechanicalEnergy"])
def test_calls_without_a_state_take_what_is_there(name: str) -> None:
    """And refuse velocities of one q beside placements of another."""
    found = []
    for lib, model in ((pin, robot()), (cpin, cpin.Model(robot(), clean=0))):
        data, (first, second) = model.createData(), states(robot(), np.random.default_rng(5), 2)
        lib.forwardKinematics(model, data, *first)
        lib.forwardKinematics(model, data, *second)
        energy = float(getattr(lib, name)(model, data))
        found.append([energy, *numbers("", data.v[2]), *numbers("", data.oMi[2]).ravel()])
    assert found[1] == pytest.approx(found[0], rel=1e-11, abs=1e-11)
    cpin.rnea(model, data, *first)
    if name != "computePotentialEnergy":
        with pytest.raises(cpin.MissingAttributeError, match=r"data.v has another q than data.oMi; call forwardKin"):
            getattr(cpin, name)(model, data)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_what_is_written_into_q_afterwards_changes_nothing(kind: Any) -> None:
    model, q = cpin.Model(robot()), kind(pin.neutral(robot()))
    data = model.createData()
    cpin.computeAllTerms(model, data, q, np.zeros(model.nv))
    cpin.framesForwardKinematics(model, data, q)
    q[7] = 0.7
    before = ca.evalf(ca.MX(data.M) if kind is ca.MX else data.M)
    assert numbers("", before) == pytest.approx(numbers("", cpin.crba(model, model.createData(), pin.neutral(robot()))))
    cpin.framesForwardKinematics(model, data, q)
    turned = pin.neutral(robot())
    turned[7] = 0.7
    theirs, pdata = robot(), robot().createData()
    pin.framesForwardKinematics(theirs, pdata, turned)
    assert numbers("", ca.evalf(data.oMi[2].homogeneous)) == pytest.approx(pdata.oMi[2].homogeneous, abs=1e-12)


def test_readers_refuse_a_model_that_has_changed() -> None:
    model = cpin.Model(robot())
    data, ((q, v, _), *_) = model.createData(), states(robot(), np.random.default_rng(5), 1)
    cpin.forwardKinematics(model, data, q, v)
    model.jointPlacements[2].translation = [0.1, 0.2, 0.3]
    with pytest.raises(cpin.MissingAttributeError, match=r"the model is another, or has changed, since data.v .* call"):
        cpin.getVelocity(model, data, 2)


def test_a_jacobian_without_a_state_is_at_the_placements() -> None:
    found = []
    for lib, model in ((pin, robot()), (cpin, cpin.Model(robot(), clean=0))):
        data, (first, second) = model.createData(), states(robot(), np.random.default_rng(5), 2)
        lib.computeJointJacobians(model, data, first[0])
        lib.framesForwardKinematics(model, data, second[0])
        lib.jacobianCenterOfMass(model, data)
        found.append(np.hstack([numbers("J", data.J), numbers("", lib.getFrameJacobian(model, data, LAST, pin.LOCAL))]))
    assert found[1] == pytest.approx(found[0], rel=1e-11, abs=1e-11)


def test_calls_without_a_state_refuse_what_another_q_has_left() -> None:
    """Pinocchio takes placements in parents at one q and velocities at another."""
    model = cpin.Model(robot())
    data, (first, second) = model.createData(), states(robot(), np.random.default_rng(5), 2)
    cpin.forwardKinematics(model, data, *first)
    cpin.computeStaticTorque(model, data, second[0], [cpin.Force.Zero()] * model.njoints)
    with pytest.raises(cpin.MissingAttributeError, match=r"data.liMi has another q than data.oMi; call forwardKinem"):
        cpin.computeCentroidalMomentum(model, data)

"""Which slots an algorithm fills, and what is read after it: those of Pinocchio, whatever was computed at other q."""

from __future__ import annotations

from functools import cache
from itertools import product
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import cpin
from gdalembert.cpin.data import WRITES
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.models import build, states
from tests.helpers.sets import quick

READERS = ("getFrameVelocity", "getFrameAcceleration", "getFrameClassicalAcceleration", "getFrameJacobian")
LAST = 4
"""The frame that is read."""
AT = pin.SE3(pin.exp3(np.array([0.3, -0.5, 0.8])), np.array([0.1, 0.4, -0.2]))
"""Where a frame is placed at a joint."""


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
        "aba WORLD": lambda d, q, v, a: lib.aba(model, d, q, v, a, fext, pin.Convention.WORLD),
        "crba WORLD": lambda d, q, v, a: lib.crba(model, d, q, pin.Convention.WORLD),
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
    frames = {"": (LAST,), " at a joint": (3, lib.SE3(AT))}
    for reference, (name, way) in product((pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED), product(READERS, frames)):
        try:
            value = numbers("", getattr(lib, name)(model, data, *frames[way], reference))
        except cpin.MissingAttributeError:
            value = None
        found[f"{name} {reference}{way}"] = value
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
        if slot.startswith("-"):
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


PLACING = ("getFrameJacobian", "getFrameJacobianTimeVariation", "getFrameVelocityDerivatives")
PLACING += ("getFrameAccelerationDerivatives", "computeFrameKinematicRegressor")
REFERENCES = {"LOCAL": pin.LOCAL, "WORLD": pin.WORLD, "LOCAL_WORLD_ALIGNED": pin.LOCAL_WORLD_ALIGNED}
READING = [f"{name} {axes}" for name in (*PLACING, "computeFrameJacobian", "getFrameVelocity") for axes in REFERENCES]
"""Readers of a frame, in axes, after sweeps."""
LISTS = ["oMi", "liMi", "oMf", "v", "a", "ov", "oa", "f"]
SOURCES = {
    "computeForwardKinematicsDerivatives": "oMi liMi v a ov oa J dJ",
    "framesForwardKinematics": "oMf",
    "rnea": "tau f",
    "aba": "ddq",
    "crba": "M",
    "computeMinverse": "Minv",
    "nonLinearEffects": "nle",
    "computeGeneralizedGravity": "g",
    "computeCoriolisMatrix": "C",
    "centerOfMass": "com vcom acom",
    "jacobianCenterOfMass": "Jcom",
    "dccrba": "Ag dAg hg Ig",
    "computeCentroidalMomentumTimeVariation": "dhg",
    "computeMechanicalEnergy": "kinetic_energy potential_energy mechanical_energy",
}
"""Algorithms, and slots that are right after each of them."""


def reading(lib: ModuleType, model: Any, name: str) -> Any:
    """A call of (data, q, v, a): one of :func:`calls`, or sweeps and a reader behind them."""
    reader, _, axes = name.partition(" ")
    if name not in READING:
        return calls(lib, model)[name]
    if reader == "computeFrameJacobian":
        return lambda d, q, v, a: lib.computeFrameJacobian(model, d, q, LAST, REFERENCES[axes])

    def swept(data: Any, q: Any, v: Any, a: Any) -> None:
        lib.computeForwardKinematicsDerivatives(model, data, q, v, a)
        getattr(lib, reader)(model, data, LAST, REFERENCES[axes])

    return swept


def entries(data: Any, slot: str) -> dict[int, Any]:
    """What computes a slot as numbers, entry by entry where it is a list."""
    if slot not in LISTS:
        return {0: lambda: numbers(slot, getattr(data, slot))}
    return {k: lambda k=k: numbers("", getattr(data, slot)[k]) for k in range(1, len(list(data_lists()[slot])))}


@cache
def data_lists() -> dict[str, Any]:
    return {slot: getattr(robot().createData(), slot) for slot in LISTS}


@cache
def right() -> dict[tuple[str, int], np.ndarray]:
    """Every entry of every slot, by Pinocchio."""
    found, model = dict[tuple[str, int], np.ndarray](), robot()
    for name, slots in SOURCES.items():
        data = model.createData()
        calls(pin, model)[name](data, *states(robot(), np.random.default_rng(5), 1)[0])
        found |= {(slot, k): x() for slot in slots.split() for k, x in entries(data, slot).items()}
    return found


FRESH = ("computeFrameJacobian LOCAL_WORLD_ALIGNED", "getFrameJacobian LOCAL", "aba WORLD", "crba WORLD")


@pytest.mark.parametrize("name", quick([*READING, *WRITES], *FRESH))
def test_what_pinocchio_has_right_in_new_data_is_right(name: str) -> None:
    """Each entry of each slot, also where an algorithm fills those of one frame, or of the joints before it, alone."""
    state, model = states(robot(), np.random.default_rng(5), 1)[0], robot()
    theirs, untouched, cmodel = model.createData(), model.createData(), cpin.Model(model, clean=0)
    ours = cmodel.createData()
    reading(pin, model, name)(theirs, *state)
    reading(cpin, cmodel, name)(ours, *state)
    filled = {
        (slot, k)
        for (slot, k), expected in right().items()
        if entries(theirs, slot)[k]() == pytest.approx(expected, rel=1e-11, abs=1e-11)
        and entries(untouched, slot)[k]() != pytest.approx(expected, rel=1e-11, abs=1e-11)
    }
    assert filled
    for slot, k in sorted(filled):
        assert entries(ours, slot)[k]() == pytest.approx(right()[slot, k], rel=1e-11, abs=1e-11), (slot, k)


def test_entries_that_no_reader_fills_are_refused() -> None:
    model = cpin.Model(robot())
    data, (first, second) = model.createData(), states(robot(), np.random.default_rng(5), 2)
    cpin.framesForwardKinematics(model, data, first[0])
    placed = data.oMf[LAST]
    cpin.computeFrameJacobian(model, data, second[0], LAST, pin.LOCAL_WORLD_ALIGNED)
    assert data.oMf[LAST] is not placed
    for slot in ("oMf", "oMi", "liMi"):
        assert getattr(data, slot)[LAST] is getattr(data, slot)[LAST]
        with pytest.raises(cpin.MissingAttributeError, match=rf"data.{slot}\[2\]: nothing has computed it; call"):
            getattr(data, slot)[2]  # which is on the other limb, and where it was in Pinocchio
    with pytest.raises(cpin.MissingAttributeError, match=r"updateFramePlacements: nothing has computed data.oMi"):
        cpin.updateFramePlacements(model, data)
    cpin.computeJointJacobians(model, data, second[0])
    for frame in (LAST, 2):
        cpin.getFrameJacobian(model, data, frame)
        assert data.oMf[frame].translation.shape == (3, 1)
    cpin.computeFrameJacobian(model, data, first[0], LAST, pin.WORLD)
    with pytest.raises(cpin.MissingAttributeError, match=r"data.oMf: nothing has computed it"):
        data.oMf  # noqa: B018


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_placements_at_joints_may_have_symbols(kind: Any) -> None:
    """Beside constants of the model that have symbols, too; and such a call places nothing in data.oMf."""
    (q, v, a), model = states(robot(), _rng(), 1)[0], cpin.Model(robot(), clean=0)
    x, shift = kind.sym("x", 3), kind.sym("shift", 3)
    model.jointPlacements[2].translation = shift
    data = model.createData()
    cpin.forwardKinematics(model, data, q, v, a)
    cpin.computeJointJacobians(model, data, q)
    at = 3, cpin.SE3(cpin.exp3(x), 2 * x), pin.LOCAL_WORLD_ALIGNED
    found = cpin.getFrameJacobian(model, data, *at), cpin.getFrameClassicalAcceleration(model, data, *at).vector
    with pytest.raises(cpin.MissingAttributeError, match=r"data.oMf: nothing has computed it"):
        data.oMf  # noqa: B018
    numeric, turn, moved = robot(), np.array([0.3, -0.5, 0.8]), np.array([0.1, 0.2, 0.3])
    numeric.jointPlacements[2].translation = moved
    theirs = forward(numeric, (q, v, a))
    pin.computeJointJacobians(numeric, theirs, q)
    at = 3, pin.SE3(pin.exp3(turn), 2 * turn), pin.LOCAL_WORLD_ALIGNED
    expected = (
        pin.getFrameJacobian(numeric, theirs, *at),
        pin.getFrameClassicalAcceleration(numeric, theirs, *at).vector,
    )
    for got, wanted in zip(ca.Function("f", [x, shift], found)(turn, moved), expected, strict=True):
        assert got.full().squeeze() == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    other = (ca.MX if kind is ca.SX else ca.SX).sym("other", 3)
    with pytest.raises(ArgumentTypeError, match=r"frame: .* is SX and .* is MX; give symbols of one kind"):
        cpin.getFrameVelocity(model, data, 3, cpin.SE3(ca.DM.eye(3), other))


def changed() -> pin.Model:
    """The robot with another body and another placement."""
    model = robot()
    model.inertias[3].mass = 20.0
    model.jointPlacements[2] = model.jointPlacements[2] * pin.SE3(np.eye(3), np.array([0.0, 0.1, 0.2]))
    return model


@pytest.mark.parametrize("name", quick(WRITES, "crba", "rnea", "forwardKinematics", "computeCentroidalMap"))
def test_data_is_the_workspace_of_the_model_of_the_call(name: str) -> None:
    """As in Pinocchio, where data of another model of the same sizes will do."""
    (ours, theirs), state = (m.createData() for m in (cpin.Model(robot()), robot())), states(robot(), _rng(), 1)[0]
    calls(cpin, cpin.Model(changed(), clean=0))[name](ours, *state)
    calls(pin, changed())[name](theirs, *state)
    for slot in WRITES[name].split():
        if slot[0] not in "-_" and slot != "ddq_dtau":
            expected, got = numbers(slot, getattr(theirs, slot)), numbers(slot, getattr(ours, slot))
            assert got == pytest.approx(expected, rel=1e-11, abs=1e-11), slot


def _rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_data_follows_the_model_of_each_call() -> None:
    light, heavy, state = cpin.Model(robot()), cpin.Model(changed()), states(robot(), _rng(), 1)[0]
    data = light.createData()
    cpin.forwardKinematics(light, data, *state)
    cpin.crba(heavy, data, state[0])
    assert data.mass[0] == pytest.approx(sum(body.mass for body in changed().inertias[1:]), rel=1e-14)
    assert numbers("", data.oMi[3]) == pytest.approx(numbers("", forward(robot(), state).oMi[3]), abs=1e-12)
    with pytest.raises(cpin.MissingAttributeError, match=r"the model is another, or has changed, since data.v was"):
        cpin.getFrameVelocity(heavy, data, LAST)
    cpin.forwardKinematics(heavy, data, *state[:2])
    assert numbers("", data.oMi[3]) == pytest.approx(numbers("", forward(changed(), state).oMi[3]), abs=1e-12)
    with pytest.raises(cpin.MissingAttributeError, match=r"data.a: nothing has computed it"):
        data.a  # noqa: B018  the accelerations of the other robot
    arm = cpin.buildSampleModelManipulator()
    cpin.forwardKinematics(arm, data, np.zeros(arm.nq))
    assert len(data.oMi) == arm.njoints
    with pytest.raises(cpin.MissingAttributeError, match=r"data.M: nothing has computed it"):
        data.M  # noqa: B018  which is of other sizes
    with pytest.raises(ArgumentError, match=rf"crba: q: got {arm.nq} × 1 entries; give {light.nq} × 1"):
        cpin.crba(light, data, np.zeros(arm.nq))


def forward(model: pin.Model, state: Any) -> pin.Data:
    data = model.createData()
    pin.forwardKinematics(model, data, *state)
    return data


def test_a_copy_of_data_is_filled_alone() -> None:
    model, (first, second) = cpin.Model(robot()), states(robot(), _rng(), 2)
    data = model.createData()
    cpin.computeJointJacobians(model, data, first[0])
    cpin.getFrameJacobian(model, data, LAST)
    copied, before = data.copy(), numbers("", data.oMi[2])
    cpin.forwardKinematics(model, copied, *second)
    assert numbers("", data.oMi[2]) == pytest.approx(before, abs=0)
    assert numbers("", copied.v[2]) == pytest.approx(numbers("", forward(robot(), second).v[2]), rel=1e-11)
    assert cpin.getFrameJacobian(model, data, LAST).shape == (6, model.nv)


def test_readers_of_accelerations_ask_for_the_velocities_of_the_last_sweep() -> None:
    """Jacobians at the same q and another v leave velocities that those accelerations do not belong to."""
    model, ((q, v, a), (_, other, _)) = cpin.Model(robot()), states(robot(), _rng(), 2)
    data = model.createData()
    cpin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    cpin.computeJointJacobiansTimeVariation(model, data, q, other)
    with pytest.raises(cpin.MissingAttributeError, match=r"getFrameAcceler.*: nothing has computed data.oa; call"):
        cpin.getFrameAccelerationDerivatives(model, data, LAST, pin.LOCAL)


@pytest.mark.long
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

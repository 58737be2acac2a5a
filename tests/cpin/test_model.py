"""Models of cpin: constants with symbols, building, what is read from Pinocchio, and errors."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import cpin
from gdalembert.cpin.matrices import matrix
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from tests.helpers.models import build, relative_error, states
from tests.helpers.sets import quick

Values = dict[str, Any]

BAR = """<robot name="bar"><link name="base"/><link name="bar"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="turn" type="revolute">
<parent link="base"/><child link="bar"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint></robot>"""


@pytest.fixture(scope="module")
def robot() -> pin.Model:
    """A universal joint in the middle has its placement in the first of its two parts."""
    rng = np.random.default_rng(0)
    model = build(rng, ["FreeFlyer", "Universal", "RY", "PZ"], [0, 1, 2, 3])
    model.addFrame(pin.Frame("tool", 4, pin.SE3.Random(), pin.OP_FRAME))
    return model


def numbers(model: pin.Model, rng: np.random.Generator) -> Values:
    return {
        "mass": np.array([2.5]),
        "first": rng.normal(size=3),
        "joint": 0.3 * rng.normal(size=6),
        "tool": 0.3 * rng.normal(size=6),
        "gravity": rng.normal(size=3),
        "armature": rng.uniform(0.1, 1, model.nv),
    }


def changed(lib: Any, model: Any, x: Values) -> None:
    """What a client changes in a model."""
    model.inertias[3] = lib.Inertia(x["mass"][0], x["first"], model.inertias[3].inertia)
    model.jointPlacements[2] = model.jointPlacements[2] * lib.exp6(x["joint"])
    tool = model.getFrameId("tool")
    model.frames[tool].placement = model.frames[tool].placement * lib.exp6(x["tool"])
    model.gravity = lib.Motion(x["gravity"], np.zeros(3))
    model.armature = x["armature"]


def results(lib: Any, model: Any, q: Any, v: Any, a: Any) -> list[Any]:
    data, tool = model.createData(), model.getFrameId("tool")
    lib.framesForwardKinematics(model, data, q)
    placed, mass = data.oMf[tool].homogeneous, lib.computeTotalMass(model)
    torque, m, acceleration = lib.rnea(model, data, q, v, a), lib.crba(model, data, q), lib.aba(model, data, q, v, a)
    center, momentum = lib.centerOfMass(model, data, q), lib.computeCentroidalMomentum(model, data, q, v).vector
    jacobian = lib.computeFrameJacobian(model, data, q, tool, lib.LOCAL)
    return [placed, mass, torque, m, acceleration, center, momentum, jacobian]


@pytest.mark.long
@pytest.mark.parametrize("kind", quick([ca.SX, ca.MX], ca.SX))
def test_constants_with_symbols(robot: pin.Model, kind: Any) -> None:
    rng = np.random.default_rng(1)
    (q, v, a), *_ = states(robot, rng, 1)
    values = numbers(robot, rng)
    expected = pin.Model(robot)
    changed(pin, expected, values)

    x = {name: kind.sym(name, len(value)) for name, value in values.items()}
    s = [kind.sym(name, n) for name, n in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv))]
    model = cpin.Model(robot)
    changed(cpin, model, x)
    function = ca.Function("f", [*s, *x.values()], results(cpin, model, *s))
    found = function(q, v, a, *values.values())
    for ours, theirs in zip(found, results(pin, expected, q, v, a), strict=True):
        assert relative_error(ours.full().ravel(), np.ravel(theirs)) < 1e-12


@pytest.mark.long
def test_changed_numbers_are_those_of_pinocchio(robot: pin.Model) -> None:
    rng = np.random.default_rng(2)
    (q, v, a), *_ = states(robot, rng, 1)
    values, expected, model = numbers(robot, rng), pin.Model(robot), cpin.Model(robot)
    results(cpin, model, q, v, a)  # what was made of the model as it was is not used again
    for lib, each in ((pin, expected), (cpin, model)):
        changed(lib, each, values)
    for ours, theirs in zip(results(cpin, model, q, v, a), results(pin, expected, q, v, a), strict=True):
        assert relative_error(ca.DM(ours).full().ravel(), np.ravel(theirs)) < 1e-12


def test_what_is_changed_in_place_is_seen(robot: pin.Model) -> None:
    model, mass = cpin.Model(robot), ca.SX.sym("mass")
    model.inertias[2].mass = mass
    model.frames[1].placement.translation = ca.vertcat(0, 0, mass)
    total = cpin.computeTotalMass(model, model.createData())
    others = sum(body.mass for k, body in enumerate(robot.inertias) if k not in (0, 2))
    assert float(ca.Function("f", [mass], [total])(5.0)) == pytest.approx(others + 5.0, rel=1e-14)
    assert [float(x) for x in ca.vertsplit(ca.DM(model.lowerPositionLimit))] == robot.lowerPositionLimit.tolist()
    model.inertias[2].mass = 4.0
    assert float(cpin.computeTotalMass(model)) == pytest.approx(others + 4.0, rel=1e-14)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_single_entries_become_symbols(robot: pin.Model, kind: Any) -> None:
    """Those of an armature, of gravity, of placements and of centres of mass; others stay the numbers of the model."""
    (q, v, a), *_ = states(robot, np.random.default_rng(1), 1)
    expected, model, x = pin.Model(robot), cpin.Model(robot), kind.sym("x", 4)
    for each, values in ((expected, [0.7, -3.0, 0.2, 0.1]), (model, ca.vertsplit(x))):
        each.armature[2] = values[0]
        each.gravity.linear[2] = values[1]
        placed = each.jointPlacements[3]
        placed.translation[1] = values[2]
        body = each.inertias[4]
        body.lever[0] = values[3]
    expected.gravity.linear = np.array([*robot.gravity.linear[:2], -3.0])
    tau = ca.Function("f", [x], [cpin.rnea(model, model.createData(), q, v, a)])([0.7, -3.0, 0.2, 0.1])
    assert relative_error(tau.full().ravel(), pin.rnea(expected, expected.createData(), q, v, a)) < 1e-12
    copied = cpin.SE3(model.jointPlacements[2])
    copied.translation[0] = x[0]
    assert isinstance(model.jointPlacements[2].translation, ca.DM)
    with pytest.raises(ArgumentTypeError, match="an entry of numbers cannot become"):
        matrix("x", [1.0, 2.0], 2)[0] = x[0]


def test_an_arm_with_a_symbol_for_its_length() -> None:
    """As figaroh's tests build one: the tool lies on a circle, and inertia grows with the square of the length."""
    length, mass, q = ca.SX.sym("length"), ca.SX.sym("mass"), ca.SX.sym("q")
    model = cpin.Model()
    joint = model.addJoint(0, cpin.JointModelRY(), cpin.SE3.Identity(), "shoulder")
    model.appendBodyToJoint(joint, cpin.Inertia.FromSphere(mass, 0.1), cpin.SE3(np.eye(3), ca.vertcat(0, 0, length)))
    model.addJointFrame(joint)
    tool = model.addFrame(cpin.Frame("tool", joint, cpin.SE3(np.eye(3), ca.vertcat(0, 0, length)), cpin.OP_FRAME))
    body = model.addBodyFrame("body", joint, cpin.SE3.Identity(), 0)
    data = model.createData()
    cpin.framesForwardKinematics(model, data, q)
    inertia = cpin.crba(model, data, q)
    function = ca.Function("f", [q, length, mass], [data.oMf[tool].translation, inertia, data.oMf[body].translation])
    at, m, origin = function(0.4, 2.0, 3.0)
    assert relative_error(at.full().ravel(), 2.0 * np.array([np.sin(0.4), 0, np.cos(0.4)])) < 1e-15
    assert float(m) == pytest.approx(3.0 * (0.4 * 0.01 + 4.0), rel=1e-14)
    assert not origin.full().any()
    assert model.names[1] == "shoulder"
    assert (model.nq, model.nv, model.njoints, model.existFrame("tool")) == (1, 1, 2, True)


def test_symbols_stay_when_the_model_grows() -> None:
    mass, model = ca.SX.sym("mass"), cpin.Model(gd.load_urdf("two_link_arm"))
    model.inertias[1].mass = mass
    model.armature = ca.SX.sym("armature", model.nv)
    n = model.nv
    model.addJoint(1, cpin.JointModelRX(), cpin.SE3.Identity(), "more")
    assert model.armature.shape == (n + 1, 1)
    assert ca.is_equal(model.inertias[1].mass, mass, 0)
    assert len(model.inertias) == model.njoints


def test_a_subclass_and_a_copy(robot: pin.Model) -> None:
    class Robot(cpin.Model):
        def __init__(self, model: pin.Model) -> None:
            super().__init__(model)
            self.data = self.createData()

        def torque(self, *state: Any) -> Any:
            return cpin.rnea(self, self.data, *state)

    (state,) = states(robot, np.random.default_rng(3), 1)
    own = Robot(robot)
    assert relative_error(own.torque(*state).full().ravel(), pin.rnea(robot, robot.createData(), *state)) < 1e-13
    own.inertias[1].mass = ca.SX.sym("mass")
    copied = cpin.Model(own)
    assert ca.is_equal(copied.inertias[1].mass, own.inertias[1].mass, 0)
    copied.inertias[1].mass = 1.0
    assert not own.inertias[1].mass.is_constant()


def test_constants_are_floats_where_numpy_meets_them(robot: pin.Model) -> None:
    model = cpin.Model(robot)
    data, mass = model.createData(), sum(body.mass for body in robot.inertias[1:])
    for x, expected in (
        (data.mass[0], mass),
        (cpin.computeTotalMass(model), mass),
        (model.inertias[1].mass, robot.inertias[1].mass),
        (model.inertias[1].lever[2], robot.inertias[1].lever[2]),
        (model.gravity.linear[2], robot.gravity.linear[2]),
        (model.armature[0], robot.armature[0]),
        (model.upperPositionLimit[0], robot.upperPositionLimit[0]),
    ):
        assert isinstance(x, float)
        assert np.array([0, 0, x])[2] == pytest.approx(expected, rel=1e-14)
    assert model.upperPositionLimit[0:1].shape == (1, 1)
    model.inertias[1].mass = ca.SX.sym("m")
    assert np.array([0, 0, -9.81 * data.mass[0]]).dtype == object


class Robot(cpin.Model):
    """A model whose constructor takes more, and which keeps more."""

    def __init__(self, model: pin.Model, notes: list[str]) -> None:
        super().__init__(model)
        self.notes = notes


def test_copies_keep_what_a_subclass_has(robot: pin.Model) -> None:
    own, m = Robot(robot, ["first"]), ca.SX.sym("m")
    own.inertias[1].mass = m
    shallow, deep = copy.copy(own), copy.deepcopy(own)
    for copied in (shallow, deep):
        assert type(copied) is Robot
        assert ca.is_equal(copied.inertias[1].mass, m, 0)
        copied.inertias[1].mass = 2.0
        copied.gravity.linear = [0.0, 0.0, -1.0]
    assert own.inertias[1].mass is not shallow.inertias[1].mass
    assert ca.is_equal(own.inertias[1].mass, m, 0)
    assert own.gravity.linear[2] == robot.gravity.linear[2]
    assert (shallow.notes is own.notes, deep.notes is own.notes, deep.notes) == (True, False, ["first"])


def test_models_of_numbers_are_pickled(robot: pin.Model) -> None:
    (state,) = states(robot, np.random.default_rng(4), 1)
    own = Robot(robot, ["first"])
    own.inertias[2].mass = 7.0
    loaded = pickle.loads(pickle.dumps(own))
    assert (type(loaded), loaded.notes, loaded.inertias[2].mass) == (Robot, ["first"], 7.0)
    torques = [cpin.rnea(each, each.createData(), *state).full() for each in (own, loaded)]
    assert relative_error(*torques) < 1e-15
    with pytest.raises(UnsupportedError, match=r"data: its results are graphs, which cannot be pickled; pickle the m"):
        pickle.dumps(own.createData())
    own.inertias[2].mass = ca.SX.sym("m")
    with pytest.raises(UnsupportedError, match=r"pickle: model.inertias\[2\] has symbols; give a model of numbers"):
        pickle.dumps(own)


def test_equal_robots_share_what_was_built(robot: pin.Model) -> None:
    first, second = cpin.Model(robot), cpin.Model(robot.copy())
    made, parts = first.dynamics.mass_matrix, (first.kinematics, first.configurations)
    assert second.dynamics.mass_matrix is made
    assert (second.kinematics, second.configurations) == parts
    assert cpin.Model(robot, clean=0).kinematics is not parts[0]
    second.inertias[2].mass = 9.0
    assert second.dynamics.mass_matrix is not made
    assert first.dynamics.mass_matrix is made
    second.inertias[2].mass = robot.inertias[2].mass
    assert second.dynamics.mass_matrix is made
    second.addJoint(1, cpin.JointModelRX(), cpin.SE3.Identity(), "more")
    assert (second.kinematics.tree.nv, first.kinematics.tree.nv) == (robot.nv + 1, robot.nv)
    third, fourth = cpin.Model(robot), cpin.Model(robot)
    for model in (third, fourth):
        model.inertias[1].mass = ca.SX.sym("m")
    assert third.kinematics is not fourth.kinematics


def changes() -> dict[str, Any]:
    """Numbers of a model, each of which makes another robot."""
    return {
        "mass": lambda m: setattr(m.inertias[2], "mass", 5.0),
        "lever": lambda m: setattr(m.inertias[2], "lever", np.ones(3)),
        "inertia": lambda m: setattr(m.inertias[2], "inertia", 3 * np.eye(3)),
        "placement": lambda m: setattr(m.jointPlacements[2], "translation", np.ones(3)),
        "frame": lambda m: setattr(m.frames[m.nframes - 1].placement, "translation", np.ones(3)),
        "gravity": lambda m: setattr(m.gravity, "linear", np.ones(3)),
        "armature": lambda m: m.armature.__setitem__(0, 3.0),
    }


@pytest.mark.parametrize("name", changes())
def test_other_numbers_share_nothing(robot: pin.Model, name: str) -> None:
    first, other = cpin.Model(robot), robot.copy()
    assert first.kinematics is cpin.Model(other).kinematics
    changes()[name](other)
    assert first.kinematics is not cpin.Model(other).kinematics


def test_names_that_are_those_of_pinocchio() -> None:
    assert np.array(cpin.XAxis).tolist() == [1, 0, 0]
    assert (cpin.ScalarType, cpin.BaumgarteCorrectorParameters) == (ca.SX, pin.BaumgarteCorrectorParameters)
    settings = cpin.ProximalSettings(None, 1e-5, 10)
    assert isinstance(settings, pin.ProximalSettings)
    assert (settings.mu, settings.max_iter) == (1e-5, 10)
    assert cpin.ProximalSettings(1e-9, 1e-8, 1e-3, 7).relative_accuracy == 1e-8
    with pytest.raises(ArgumentTypeError, match=r"ProximalSettings: Pinocchio does not take \(float, NoneType, int\)"):
        cpin.ProximalSettings(1e-9, None, 10)


def test_deep_copies(robot: pin.Model) -> None:
    (state,) = states(robot, np.random.default_rng(4), 1)
    own = cpin.Model(robot)
    own.frames[-1].placement.translation = np.array([0.1, 0.2, 0.3])
    copied = copy.deepcopy(own)
    own.frames[-1].placement.translation = np.zeros(3)
    data = copied.createData()
    cpin.framesForwardKinematics(copied, data, state[0])
    inside = data.oMi[robot.frames[robot.nframes - 1].parentJoint].actInv(data.oMf[-1])
    assert relative_error(inside.translation.full().ravel(), np.array([0.1, 0.2, 0.3])) < 1e-13


def test_models_of_files(tmp_path: Path) -> None:
    path = tmp_path / "bar.urdf"
    path.write_text(BAR, encoding="utf-8")
    model, expected = cpin.buildModelFromUrdf(str(path), cpin.JointModelFreeFlyer()), pin.buildModelFromXML(BAR)
    assert (model.nq, cpin.buildModelFromXML(BAR).nq) == (8, 1)
    arm = cpin.buildModelFromXML(BAR)
    torque = cpin.rnea(arm, arm.createData(), [0.3], [0.4], [0.5])
    numbers = pin.rnea(expected, expected.createData(), *(np.array([x]) for x in (0.3, 0.4, 0.5)))
    assert relative_error(torque.full().ravel(), numbers) < 1e-13
    assert cpin.buildSampleModelManipulator().nv == 6
    assert not hasattr(cpin, "buildModelFromDreams")


def test_reduced_models() -> None:
    full = gd.load_urdf("panda7")
    q = np.linspace(0.1, 0.7, 7)
    expected = pin.buildReducedModel(full, [2, 5], q)
    found = cpin.buildReducedModel(cpin.Model(full), [2, 5], q)
    state = q[:5], q[:5], q[:5]
    torque = cpin.rnea(found, found.createData(), *state)
    assert relative_error(torque.full().ravel(), pin.rnea(expected, expected.createData(), *state)) < 1e-12
    assert cpin.buildReducedModel(full, [2, 5], q[:, None]) == expected  # which ``pin`` takes, too
    with pytest.raises(UnsupportedError, match="the reference configuration has symbols; give numbers"):
        cpin.buildReducedModel(full, [2], ca.SX.sym("q", 7))
    with pytest.raises(ArgumentError, match="no joint 9; give indices from 1 to 7"):
        cpin.buildReducedModel(full, [9], q)
    moved = cpin.Model(full)
    moved.jointPlacements[1].translation = ca.SX.sym("p", 3)
    with pytest.raises(UnsupportedError, match=r"buildReducedModel: model.jointPlacements\[1\] has symbols"):
        cpin.buildReducedModel(moved, [2], q)


def test_limits_are_written_into_the_model(robot: pin.Model) -> None:
    model = cpin.Model(robot)
    model.lowerPositionLimit[2] = -0.5
    model.upperPositionLimit[:] = np.arange(1.0, robot.nq + 1)
    model.effortLimit = 7.0
    assert model.pin.lowerPositionLimit[2] == -0.5
    assert model.upperPositionLimit.full().ravel().tolist() == model.pin.upperPositionLimit.tolist()
    assert model.pin.upperPositionLimit.tolist() == list(range(1, robot.nq + 1))
    assert model.pin.effortLimit.tolist() == [7.0] * robot.nv
    assert model.copy().lowerPositionLimit[2] == -0.5
    assert robot.lowerPositionLimit[2] != -0.5
    with pytest.raises(ArgumentError, match=r"model.velocityLimit has shape \(2,\); give .*, or one n"):
        model.velocityLimit = [1.0, 2.0]
    with pytest.raises(ArgumentTypeError, match=r"model.velocityLimit: expected numbers, got SX"):
        model.velocityLimit[0] = ca.SX.sym("x")


def test_constants_are_those_of_the_model_where_they_are_not_cleaned() -> None:
    """A placement turned by 1.57079632679, as URDFs have it: 4.9e-12 from a right angle."""
    model = pin.Model()
    for k in range(6):
        placed = pin.SE3(pin.rpy.rpyToMatrix(1.57079632679, 0.0, 0.0), np.array([0.0, 0.3, 0.2]))
        joint = model.addJoint(k, pin.JointModelRZ(), placed, f"joint{k}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    q, data = np.linspace(0.1, 1.0, 6), model.createData()
    pin.forwardKinematics(model, data, q)
    errors = []
    for clean in (None, 0):
        cmodel = cpin.Model(model) if clean is None else cpin.Model(model, clean=clean)
        assert cmodel.copy().clean == cmodel.clean
        cdata = cmodel.createData()
        cpin.forwardKinematics(cmodel, cdata, q)
        errors.append(float(np.abs(cdata.oMi[6].translation.full().ravel() - data.oMi[6].translation).max()))
    assert errors[0] > 1e-12
    assert errors[1] < 1e-15
    with pytest.raises(ArgumentError, match=r"clean=-1: give a tolerance from 0"):
        cpin.Model(model, clean=-1).tree  # noqa: B018


def test_refusals(robot: pin.Model) -> None:
    model = cpin.Model(robot)
    with pytest.raises(ArgumentTypeError, match=r"cpin.Model: expected a pin.Model, got str"):
        cpin.Model("robot.urdf")
    with pytest.raises(ArgumentError, match=r"model.inertias\[9\]: give an index from 0 to 4"):
        model.inertias[9] = cpin.Inertia.Zero()
    with pytest.raises(ArgumentError, match=r"model.armature: got 2 × 1 entries; give 10 × 1"):
        model.armature = np.zeros(2)
    with pytest.raises(ArgumentTypeError, match="Frame: got no placement"):
        cpin.Frame("tool", 1, cpin.OP_FRAME)
    with pytest.raises(ArgumentTypeError, match=r"Inertia: give \(mass, lever, inertia about the centre of mass\)"):
        model.inertias[1] = 3.0
    with pytest.raises(AttributeError, match="nothing"):
        model.nothing  # noqa: B018

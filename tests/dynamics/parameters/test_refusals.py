"""What parameters cannot be, and what they cannot tell: one sentence each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.symbolic import symbolic_tree

PUMA = gd.load_urdf("puma560")
OTHER = gd.load_urdf("cart_pendulum")


def robot(**options: Any) -> gd.Dynamics:
    return gd.NewtonEuler(PUMA, **options)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: robot(parameters="inertia"), ArgumentTypeError, "parameters='inertia': give {kind: True or names}"),
        (lambda: robot(parameters=3), ArgumentTypeError, "parameters=3: give {kind: True or names}"),
        (lambda: robot(parameters={"inertia": 1}), ArgumentTypeError, "'inertia': got 1; give True or a list of names"),
        (
            lambda: robot(parameters=["inertias"]),
            UnknownNameError,
            "no kind of parameters of this robot named 'inertias'; nearest: 'inertia'",
        ),
        (
            lambda: robot(parameters=["springs"]),
            ArgumentError,
            "'springs': the robot has none; give springs={joint: (stiffness, rest)} as well",
        ),
        (
            lambda: robot(parameters=["friction"]),
            ArgumentError,
            "'friction': the robot has none; give friction='model' or",
        ),
        (
            lambda: robot(parameters={"springs": ["joint2"]}, springs={"joint1": (1.0, 0.0)}),
            UnknownNameError,
            "no element of springs named 'joint2'; nearest: 'joint1'",
        ),
        (lambda: robot(parameters={"inertia": ["joint9"]}), UnknownNameError, "no joint named 'joint9'; nearest: "),
        (lambda: robot(parameters={"armature": ["link2"]}), UnknownNameError, "no joint named 'link2'"),
        (lambda: robot(parameters={"gravity": ["w"]}), UnknownNameError, "no component of gravity named 'w'"),
        (lambda: robot(parameters=["payload"]), ArgumentError, "'payload': give the names of the frames"),
        (lambda: robot(parameters={"payload": ["hand"]}), UnknownNameError, "no frame named 'hand'"),
        (
            lambda: robot(parameters={"payload": ["universe"]}),
            ArgumentError,
            "payload at 'universe': the frame is fixed to the base",
        ),
        (lambda: robot(parameters={"inertia": ["joint1"] * 2}), ArgumentError, "'joint1.m' occurs twice"),
        (lambda: robot(parameters={"base": ["joint1"]}), UnknownNameError, "no element of base"),
        (lambda: robot(parameters=[[1, 2], [3]]), ArgumentTypeError, "parameters=[[1, 2], [3]]: give {kind: True or"),
        (lambda: robot(parameters=ca.SX.sym("x")), ArgumentTypeError, "parameters=SX(x): give {kind: True or names}"),
        (lambda: robot(friction=np.array([])), ArgumentTypeError, "friction=array([], dtype=float64): give {joint:"),
        (lambda: robot(parameters=["base"]).terms, UnsupportedError, "terms: base parameters determine torques"),
        (
            lambda: gd.GeneralizedDAlembert(PUMA, parameters=["base"]).terms,
            UnsupportedError,
            "terms: base parameters determine torques",
        ),
        (
            lambda: gd.GeneralizedDAlembert(PUMA, parameters=["base"]).link_torques,
            UnsupportedError,
            "link_torques: base parameters determine torques",
        ),
        (
            lambda: gd.NewtonEuler(symbolic_tree("two_link_arm"), parameters=["gravity"]),
            UnsupportedError,
            "its constants are formulas, whose symbols are the parameters",
        ),
        (lambda: gd.Kinematics(robot(parameters=["inertia"]).tree), UnsupportedError, "Kinematics takes numbers"),
    ],
)
def test_what_cannot_be_a_parameter(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        make()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("p", "error", "message"),
    [
        ([1.0], ArgumentError, "p"),
        ({"joint1.n": 1.0}, UnknownNameError, "no parameter named 'joint1.n'; nearest: 'joint1.m'"),
        ({"joint1.m": np.nan}, ArgumentError, "p['joint1.m']"),
        ({"joint1.m": "heavy"}, ArgumentTypeError, "p['joint1.m']"),
        (np.full(10, np.inf), ArgumentError, "p"),
    ],
)
def test_what_p_cannot_be(p: Any, error: type[Exception], message: str) -> None:
    parameters = robot(parameters={"inertia": ["joint1"]}).parameters
    with pytest.raises(error) as raised:
        parameters.vector(p)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_models_of_other_robots_have_no_values() -> None:
    parameters = robot(parameters=["inertia"]).parameters
    base = robot().base_parameters
    for take in (parameters.of, parameters.write, base.of):
        with pytest.raises(ArgumentError, match=r"'cart_pendulum' has a joint '.*' where 'puma560' has 'joint1'; give"):
            take(OTHER)
        with pytest.raises(ArgumentError, match="has no further joint where 'puma560' has 'joint6'"):
            take(pin.buildReducedModel(PUMA, [6], np.zeros(6)))


def siblings(*names: str) -> pin.Model:
    """Two joints on the base."""
    model = pin.Model()
    for name in names:
        model.inertias[model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)] = pin.Inertia.Random()
    return model


@pytest.mark.parametrize("kind", ["armature", "friction"])
def test_nothing_is_written_into_a_model_with_another_order_of_joints(kind: str) -> None:
    ours = gd.NewtonEuler(siblings("a", "b"), friction="model", parameters=[kind])
    with pytest.raises(ArgumentError, match="has a joint 'b' where 'unnamed model' has 'a'; give a"):
        ours.parameters.write(siblings("b", "a"))


@pytest.mark.parametrize("robot", ["puma560", "panda7", "cart_pendulum"])
def test_base_parameters_of_the_model_change_no_body(robot: str) -> None:
    model = gd.load_urdf(robot)
    parameters = gd.NewtonEuler(model, parameters=["base"]).parameters
    written = parameters.write(model)
    for own, found in zip(model.inertias, written.inertias, strict=True):
        assert np.array_equal(own.toDynamicParameters(), found.toDynamicParameters())
    assert np.allclose(parameters.of(written), parameters.of(model), rtol=1e-12, atol=1e-14)  # of the copy's digits


def test_parameters_can_be_pickled() -> None:
    parameters = robot(parameters=["inertia", "springs"], springs={"joint2": (1.0, 0.5)}).parameters
    again = pickle.loads(pickle.dumps(parameters))
    assert again.items() == parameters.items()


def test_a_payload_of_a_point_needs_its_inertia_about_the_origin() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"payload": ["tip"]})
    point = pin.Inertia(2.0, np.array([3.0, 0.0, 0.0]), np.zeros((3, 3))).toDynamicParameters()
    assert gd.simulate(dyn, np.zeros(4), 0.01, p=point).x.shape[1] == 4
    with pytest.raises(ArgumentError, match="Ixx, Ixy, … are about the origin, where the mass alone has") as raised:
        gd.simulate(dyn, np.zeros(4), 0.01, p={"tip.m": 2.0, "tip.mx": 6.0})
    assert "off-diagonal" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "p"),
    [
        ({"friction": "model"}, {"joint1.viscous": -0.1}),
        ({"friction": "model"}, {"joint1.coulomb": -0.1}),
        ({"springs": {"joint2": (1.0, 0.0)}}, {"joint2.stiffness": -3.0}),
    ],
)
def test_motions_refuse_forces_that_drive_the_robot(options: dict[str, Any], p: dict[str, float]) -> None:
    dyn = robot(**options, parameters=list(options))
    (name, value), *_ = p.items()
    with pytest.raises(ArgumentError, match=rf"p\['{name}'\] is {value:g}; give at least 0"):
        gd.simulate(dyn, np.zeros(12), 0.1, p=p)


def test_a_body_that_pinocchio_cannot_hold_is_not_written() -> None:
    parameters = robot(parameters={"inertia": ["joint6"]}).parameters
    with pytest.raises(ArgumentError, match="the body of 'joint6' has the mass 0 and the first moment"):
        parameters.write(PUMA, {"joint6.m": 0.0, "joint6.mz": 0.1})


def test_base_parameters_stand_in_place_of_inertia() -> None:
    with pytest.raises(ArgumentError, match="'base' parameters stand in place of 'inertia'; give one of them"):
        robot(parameters=["base", "inertia"])


@pytest.mark.parametrize("formulation", gd.formulations().values())
@pytest.mark.parametrize("kinds", [{"payload": ["link6"], "base": True}, {"base": True, "payload": ["link6"]}])
def test_payloads_are_added_to_the_bodies_that_are_parameters(formulation: type[gd.Dynamics], kinds: Any) -> None:
    robot, rng = formulation(PUMA, parameters=kinds), np.random.default_rng(1)
    body = dict(zip(("m", "mx", "Iyy"), (2.0, 0.1, 0.02), strict=True))
    p = {f"link6.{name}": value for name, value in body.items()}
    loaded = robot.parameters.write(PUMA, p)
    q, v, a = rng.normal(size=(3, 6))
    tau = pin.rnea(loaded, loaded.createData(), q, v, a)
    assert np.abs(tau - pin.rnea(PUMA, PUMA.createData(), q, v, a)).max() > 0.1
    found = robot.inverse_dynamics(q, v, a, robot.parameters.vector(p)).full().ravel()
    assert np.abs(found - tau).max() < 1e-12 * np.abs(tau).max()

"""Robots whose joints move no inertia: kinematics as of any robot, dynamics where motors or parameters give inertia."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, CleaningWarning, ModelError
from gdalembert.model import cleaning
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

FORMULATIONS = (gd.NewtonEuler, gd.LagrangeEuler, gd.GeneralizedDAlembert)
HINT = (
    "so that the mass matrix is singular; give the links mass and inertia, the joints an armature or motors=, or the "
    "robot parameters={'inertia': True}, so that p has them; gd.Kinematics, gd.joint_torques and the kinematics of "
    "cpin need no inertia"
)


def chain(joints: int = 3, inertia: bool = False, last: bool = False) -> pin.Model:
    """Revolute joints in a row, with bodies or without; ``last``: with one on the last link alone."""
    model, rng, parent = pin.Model(), np.random.default_rng(5), 0
    model.name = "chain"
    for k in range(joints):
        kind = pin.JointModelRZ() if k % 2 else pin.JointModelRY()
        place = pin.SE3(pin.exp3(rng.normal(size=3)), np.array([0.1, 0.0, 0.3]))
        parent = model.addJoint(parent, kind, place, f"j{k + 1}")
        body = pin.Inertia(1 + rng.uniform(), 0.1 * rng.normal(size=3), 0.02 * np.eye(3))
        if inertia or (last and k == joints - 1):
            model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        model.addBodyFrame(f"l{k + 1}", parent, pin.SE3.Identity(), 0)
    return model


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_dynamics_names_the_joints_and_the_ways_on(formulation: type[gd.Dynamics]) -> None:
    with pytest.raises(ModelError) as refused:
        formulation(chain(12))
    names = ", ".join(f"'j{k}'" for k in range(1, 9))
    assert str(refused.value) == f"chain: joints {names}, … (12 in all) move no inertia, {HINT}"
    massless = chain(2, inertia=True)
    massless.inertias[2] = pin.Inertia.Zero()
    with pytest.raises(ModelError) as refused:
        formulation(massless)
    assert str(refused.value) == f"chain: joint 'j2' moves no inertia, {HINT}"


def test_kinematics_and_statics_are_those_of_the_robot_with_inertia() -> None:
    bare, real, rng = chain(), chain(inertia=True), np.random.default_rng(0)
    q, wrench = rng.normal(size=3), rng.normal(size=6)
    for of in (
        lambda model: gd.Kinematics(model).frame_jacobian("l3", pin.LOCAL)(q),
        lambda model: gd.joint_torques(model, "l3", pin.LOCAL)(q, wrench),
        lambda model: gd.payload_torques(model, "l3", 2.0)(q),
    ):
        assert relative_error(of(bare).full(), of(real).full()) < 1e-12


@pytest.mark.parametrize("formulation", quick(FORMULATIONS, gd.GeneralizedDAlembert, gd.LagrangeEuler))
@pytest.mark.parametrize("kind", ["inertia", "base"])
def test_p_gives_the_inertia(formulation: type[gd.Dynamics], kind: str) -> None:
    bare, real = chain(2), chain(2, inertia=True)
    dyn, truth = formulation(bare, parameters={kind: True}), formulation(real)
    p = dyn.parameters.of(real)
    assert not dyn.parameters.of(bare).any()
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    tau = truth.inverse_dynamics(q, v, a).full()
    assert relative_error(dyn.inverse_dynamics(q, v, a, p).full(), tau) < 1e-12
    assert relative_error(dyn.forward_dynamics(q, v, tau, p).full().ravel(), a) < 1e-11  # condition of M: about 10
    assert relative_error(dyn.at(p).forward_dynamics(q, v, tau).full().ravel(), a) < 1e-11


def test_validation_takes_p_with_inertia() -> None:
    assert gd.validate(gd.NewtonEuler(chain(1), parameters={"inertia": True}), against=chain(1), samples=5).ok


WITHOUT_P: dict[str, Callable[[gd.Dynamics], object]] = {
    "at": lambda dyn: dyn.at(),
    "simulate": lambda dyn: gd.simulate(dyn, (np.zeros(3), np.zeros(3)), 0.1),
    "Problem": lambda dyn: gd.ocp.Problem(dyn, 1.0, 4),
    "natural_frequencies": lambda dyn: dyn.natural_frequencies(np.zeros(3)),
    "validate": lambda dyn: gd.validate(dyn, against=chain(), p=dyn.parameters.values),
}


@pytest.mark.parametrize("use", WITHOUT_P)
def test_p_without_inertia_is_refused_where_m_is_needed(use: str) -> None:
    dyn = gd.NewtonEuler(chain(), parameters={"inertia": True})
    with pytest.raises(ArgumentError) as refused:
        WITHOUT_P[use](dyn)
    assert str(refused.value) == (
        f"{use}: chain: with this p joints 'j1', 'j2', 'j3' move no inertia, so that the mass matrix is singular; give "
        "p of a robot with inertia"
    )
    assert not dyn.damping_matrix.any()
    assert not dyn.force_stiffness(np.zeros(3)).any()


def test_p_that_takes_the_last_mass_away_is_refused() -> None:
    dyn = gd.NewtonEuler(chain(2, last=True), parameters={"inertia": ["j2"]})
    assert gd.simulate(dyn, (np.zeros(2), np.zeros(2)), 0.01)
    with pytest.raises(ArgumentError, match=r"^simulate: chain: with this p joints 'j1', 'j2' move no inertia"):
        gd.simulate(dyn, (np.zeros(2), np.zeros(2)), 0.01, p=np.zeros(10))


GIVEN: dict[str, Mapping[str, Any]] = {
    "payload at the tip": {"parameters": {"payload": ["l2"]}},
    "armature as a parameter": {"parameters": {"armature": True}},
    "motors": {"actuation": {f"m{k}": row for k, row in enumerate(np.eye(2))}, "motors": {}},
    "motors as parameters": {
        "actuation": {f"m{k}": row for k, row in enumerate(np.eye(2))},
        "motors": {f"m{k}": gd.Motor() for k in range(2)},
        "parameters": {"motors": True},
    },
}
GIVEN["motors"]["motors"].update({f"m{k}": gd.Motor(0.1 + k) for k in range(2)})


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_inertia_that_comes_from_elsewhere_counts(given: str, formulation: type[gd.Dynamics]) -> None:
    dyn = formulation(chain(2), **GIVEN[given])
    p = [dyn.parameters.random(np.random.default_rng(0))] if dyn.parameters else []
    m = dyn.mass_matrix(np.array([0.3, 0.7]), *p).full()
    assert np.linalg.eigvalsh(m)[0] > 1e-4
    assert np.isfinite(dyn.forward_dynamics(np.ones(2), np.ones(2), np.ones(2), *p).full()).all()
    if given == "motors":
        assert relative_error(m, np.diag([0.1, 1.1])) < 1e-12


@pytest.mark.parametrize("parameters", [{"gravity": True}, {"placement": True}, {"payload": ["l2"]}])
def test_parameters_that_give_no_inertia_do_not_count(parameters: dict[str, Any]) -> None:
    names = r"joint 'j3' moves" if "payload" in parameters else r"joints 'j1', 'j2', 'j3' move"
    with pytest.raises(ModelError, match=f"^chain: {names} no inertia, so that"):
        gd.NewtonEuler(chain(), parameters=parameters)


def test_one_motor_does_not_move_two_joints_apart() -> None:
    coupled = {"m1": [1.0, 1.0, 0.0], "m2": [0.0, 0.0, 1.0], "m3": [1.0, 1.0, 1.0]}
    dyn = gd.NewtonEuler(chain(), actuation=coupled, motors={name: gd.Motor(0.1) for name in coupled})
    with pytest.raises(gd.errors.UnsupportedError, match="M is singular in every configuration"):
        _ = dyn.forward_dynamics


def test_rotors_count() -> None:
    model = gd.with_rotors(chain(1), {"j1": gd.Rotor(inertia=1e-3, ratio=10.0)})
    assert gd.NewtonEuler(model).mass_matrix(0.0).full().item() == pytest.approx(0.1, rel=1e-12)


@pytest.mark.long
def test_beams_give_inertia_and_a_rotor_behind_a_spring_does_not() -> None:
    section = gd.Beam.round(None, 0.01, density=2700.0, youngs_modulus=70e9)
    last = gd.FlexibleLink(gd.Beam.round(0.2, 0.01, density=2700.0, youngs_modulus=70e9), root=pin.SE3.Identity())
    arm = gd.FlexibleArm(chain(2), {"l1": gd.FlexibleLink(section), "l2": last})
    assert np.linalg.eigvalsh(arm.mass_matrix(np.zeros(arm.tree.nq)).full())[0] > 0
    elastic = {"j2": gd.FlexibleJoint(50.0, 0.02)}
    massless = chain(2, inertia=True)
    massless.inertias[2] = pin.Inertia.Zero()
    with pytest.raises(ModelError, match=r"^chain: joint 'j2' moves no inertia, .*; rotors are behind springs"):
        gd.FlexibleArm(massless, {}, elastic)
    with pytest.raises(ModelError, match=r"^chain: joint 'j3' moves no inertia, so that"):
        gd.FlexibleArm(chain(3), {"l1": gd.FlexibleLink(section), "l2": gd.FlexibleLink(section)})
    of_p = gd.FlexibleArm(chain(2), {}, elastic, parameters={"inertia": True})
    p = of_p.parameters.of(chain(2, inertia=True))
    assert np.linalg.eigvalsh(of_p.mass_matrix(np.zeros(3), p).full())[0] > 0


@pytest.mark.extras
def test_a_robot_without_inertia_is_identified() -> None:
    bare, real, rng = chain(1), chain(1, inertia=True), np.random.default_rng(2)
    dyn, (q, v, a) = gd.NewtonEuler(bare, parameters={"inertia": True}), rng.normal(size=(3, 60, 1))
    data = real.createData()
    tau = np.array([pin.rnea(real, data, *state).copy() for state in zip(q, v, a, strict=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = gd.identification.fit(dyn, q, v, a, tau)
    predicted = dyn.inverse_dynamics.map(60)(q.T, v.T, a.T, np.tile(result.values[:, None], (1, 60))).full().T
    assert relative_error(predicted, tau) < 1e-8  # the tolerance of the conic solver
    assert result.dynamics.parameters.names == ()


def test_a_callable_is_not_compared_with_nothing() -> None:
    with pytest.raises(ModelError, match=r"^validate: against: chain: joints 'j1', 'j2', 'j3' move no inertia, so"):
        gd.validate(lambda q, v, a: np.zeros(3), against=chain())


def test_cleaning_is_not_measured_where_no_warning_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where it takes rounding away, nor where the warning is ignored; where it is told, it is."""
    calls = []
    original = cleaning.generic_dynamics
    monkeypatch.setattr(cleaning, "generic_dynamics", lambda tree: calls.append(1) or original(tree))
    model = chain(inertia=True)
    model.jointPlacements[2].rotation = pin.rpy.rpyToMatrix(np.pi / 2, 0, 0)
    assert gd.NewtonEuler(model).changes
    assert not calls
    model.jointPlacements[2].rotation = pin.rpy.rpyToMatrix(1.57079632679, 0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CleaningWarning)
        assert gd.NewtonEuler(model).changes
    assert not calls
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gd.NewtonEuler(model).changes  # 5e-12: nothing to tell
    assert calls

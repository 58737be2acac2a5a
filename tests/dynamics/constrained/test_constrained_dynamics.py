"""Constrained dynamics beside Pinocchio's, and beside the KKT system of its parts."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics.constraints.constraint import Constraint
from gdalembert.dynamics.dynamics import REGISTRY
from tests.helpers.models import build, relative_error, states
from tests.helpers.sets import quick

TIGHT = 1e-11

DERIVATIVES = ("da_dq", "da_dv", "da_dtau", "dforces_dq", "dforces_dv", "dforces_dtau")


def reference(model: pin.Model, constraints: Sequence[Constraint]) -> tuple[object, object]:
    """Pinocchio's constraint models and datas."""
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for each in constraints:
        kind = pin.ContactType.CONTACT_3D if each.kind == "3D" else pin.ContactType.CONTACT_6D
        names = (each.frame,) if isinstance(each, gd.Contact) else (each.first, each.second)
        frames = [model.frames[model.getFrameId(name)] for name in names]
        places = [x for frame in frames for x in (frame.parentJoint, frame.placement)]
        models.append(pin.RigidConstraintModel(kind, model, *places, pin.LOCAL))
    for each in models:
        datas.append(each.createData())
    return models, datas


def check_against_pinocchio(con: gd.ConstrainedDynamics, model: pin.Model, seed: int = 0) -> None:
    models, datas = reference(model, con.constraints)
    data, once = model.createData(), pin.ProximalSettings(1e-14, 0.0, 1)
    pin.initConstraintDynamics(model, data, models, datas)
    rng = np.random.default_rng(seed)
    for q, v, tau in states(model, rng, 2):
        a = pin.constraintDynamics(model, data, q, v, tau, models, datas, once)
        forces = data.lambda_c.copy()
        found = [x.full().ravel() for x in con.forward_dynamics(q, v, tau)]
        assert relative_error(found[0], a) < TIGHT
        assert relative_error(found[1], forces) < TIGHT
        assert relative_error(con.inverse_dynamics(q, v, *found).full().ravel(), tau) < TIGHT
        assert np.abs(con.acceleration_error(q, v, found[0]).full()).max() < TIGHT * max(1, np.abs(a).max())
        expected = pin.computeConstraintDynamicsDerivatives(model, data, models, datas, once)
        for name, value, wanted in zip(DERIVATIVES, con.forward_dynamics_derivatives(q, v, tau), expected, strict=True):
            assert relative_error(value.full(), wanted) < TIGHT, name
        check_impact(con, model, q, v)


def check_impact(con: gd.ConstrainedDynamics, model: pin.Model, q: np.ndarray, v: np.ndarray) -> None:
    """Pinocchio's impact of constraint models leaves out the second frame of a loop; that of a Jacobian is right."""
    after, impulses = (x.full().ravel() for x in con.impact(q, v))
    data = model.createData()
    assert relative_error(after, pin.impulseDynamics(model, data, q, v, con.jacobian(q).full(), 0.0, 0.0)) < TIGHT
    assert relative_error(impulses, data.impulse_c) < TIGHT
    assert np.abs(con.jacobian(q).full() @ after).max() < TIGHT * max(1.0, np.abs(v).max())


@pytest.mark.parametrize("formulation", quick(REGISTRY.values(), gd.NewtonEuler))
def test_every_formulation_equals_pinocchio(formulation: type[gd.Dynamics]) -> None:
    """A base that nothing holds but a foot and a hand on it."""
    model = build(np.random.default_rng(5), ["FreeFlyer", "HelicalUnaligned", "Spherical"], [0, 1, 1])
    model.armature = np.concatenate([np.zeros(6), model.armature[6:]])
    constraints = [gd.Contact("body_1"), gd.Loop("body_2", "body_1", "3D")]
    check_against_pinocchio(gd.ConstrainedDynamics(formulation(model, clean=0), constraints), model)


FEET: dict[str, list[Constraint]] = {
    "solo12": [gd.Contact(foot, "3D") for foot in ("FL_FOOT", "FR_FOOT", "HL_FOOT")],
    "talos": [gd.Contact(f"{side}_sole_link") for side in ("left", "right")],
}


@pytest.mark.extras
@pytest.mark.parametrize(("robot", "limits"), [("solo12", (4600, 3600, 1250, 33_340)), ("talos", (12_770, 9300, 3860))])
def test_graphs_are_small(robot: str, limits: tuple[int, ...]) -> None:
    con = gd.ConstrainedDynamics(gd.NewtonEuler(robots.load(robot)), FEET[robot])
    names = "forward_dynamics", "impact", "inverse_dynamics", "forward_dynamics_derivatives"
    for name, limit in zip(names, limits, strict=False):
        assert getattr(con, name).n_instructions() <= limit, name


@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_impacts_give_back_a_part_of_the_velocity(restitution: float) -> None:
    model = build(np.random.default_rng(6), ["FreeFlyer", "RX", "Spherical"], [0, 1, 1])
    constraints = [gd.Contact("body_1", "3D"), gd.Loop("body_1", "body_2", "3D")]
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), constraints, restitution=restitution)
    q, v, _ = states(model, np.random.default_rng(0), 1)[0]
    after, impulses = (x.full().ravel() for x in con.impact(q, v))
    data, j = model.createData(), con.jacobian(q).full()
    assert relative_error(after, pin.impulseDynamics(model, data, q, v, j, restitution, 0.0)) < TIGHT
    assert relative_error(impulses, data.impulse_c) < TIGHT
    assert relative_error(j @ after, -restitution * j @ v) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize("mu", [1e-3, 1.0])
def test_redundant_constraints_equal_pinocchio(mu: float) -> None:
    """Twelve rows hold eight degrees of freedom; with as many proximal steps Pinocchio's forces are the same.

    Its derivatives by q are not those of its forces and accelerations; the laws have those.
    """
    model = build(np.random.default_rng(3), ["FreeFlyer", "RX", "RY"], [0, 1, 1])
    constraints = [gd.Contact("body_1"), gd.Contact("body_2")]
    con = gd.ConstrainedDynamics(gd.LagrangeEuler(model, clean=0), constraints, regularization=mu)
    models, datas = reference(model, constraints)
    data, settings = model.createData(), pin.ProximalSettings(0.0, mu, con._set.proximal_steps)
    pin.initConstraintDynamics(model, data, models, datas)
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    a = pin.constraintDynamics(model, data, q, v, tau, models, datas, settings)
    found_a, forces = (x.full().ravel() for x in con.forward_dynamics(q, v, tau))
    rounding = max(TIGHT, 1e-15 / mu)  # of what the constraints do not determine
    assert relative_error(found_a, a) < rounding
    assert relative_error(forces, data.lambda_c) < rounding
    theirs = pin.computeConstraintDynamicsDerivatives(model, data, models, datas, settings)
    found = con.forward_dynamics_derivatives(q, v, tau)
    errors = [relative_error(value.full(), expected) for value, expected in zip(found, theirs, strict=True)]
    assert min(errors[0], errors[3]) > 1e-4
    assert max(errors[1], errors[2], errors[4], errors[5]) < rounding


@pytest.mark.long
def test_a_copy_is_the_same() -> None:
    model = gd.load_urdf("puma560_3")
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("wrist", "3D", anchor=[1, 2, 3])], damping=2.0)
    copy = pickle.loads(pickle.dumps(con))
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    assert relative_error(copy.forward_dynamics(q, v, tau)[0], con.forward_dynamics(q, v, tau)[0]) == 0


def test_derivatives_of_a_robot_without_constraints_are_those_of_its_dynamics() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm", check="off"))
    con, q = gd.ConstrainedDynamics(dyn, []), [0.1, 0.2]
    found = con.inverse_dynamics_derivatives(q, q, q, np.zeros(0))
    for one, other in zip(found, dyn.inverse_dynamics_derivatives(q, q, q), strict=False):
        assert relative_error(one.full(), other.full()) < TIGHT
    assert {x.shape[0] for x in con.acceleration_error_derivatives(q, q, q)} == {0}


@pytest.mark.long
def test_a_robot_without_constraints_moves_as_its_dynamics() -> None:
    """The Functions of a free robot, of the same size, and a motion of the same steps."""
    model = build(np.random.default_rng(6), ["FreeFlyer", "RX", "Spherical"], [0, 1, 1])
    dyn = gd.NewtonEuler(model, wrenches={"body_2": pin.LOCAL}, parameters={"payload": ["body_1"]})
    con = gd.ConstrainedDynamics(dyn, [])
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    inputs = np.ones((6, 1)), dyn.parameters.values
    a, forces = con.forward_dynamics(q, v, tau, *inputs)
    assert np.array_equal(a.full(), dyn.forward_dynamics(q, v, tau, *inputs).full())
    assert forces.shape == (0, 1)
    assert relative_error(con.inverse_dynamics(q, v, a, forces, *inputs).full().ravel(), tau) < TIGHT
    for name in ("forward_dynamics", "inverse_dynamics", "state_derivative", "forward_dynamics_derivatives"):
        assert getattr(con, name).n_instructions() <= getattr(dyn, name).n_instructions()
    assert np.array_equal(con.impact(q, v, dyn.parameters.values)[0].full().ravel(), v)
    assert con.jacobian(q, dyn.parameters.values).shape == (0, con.nv)
    assert con.degrees_of_freedom(q) == con.nv
    alone, held = (gd.simulate(robot, (q, v), 0.1) for robot in (dyn, con))
    assert np.array_equal(alone.x, held.x)

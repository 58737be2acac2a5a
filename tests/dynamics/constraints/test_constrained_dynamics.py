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
from tests.helpers.models import CONSTANT_SUBSPACE, build, relative_error, states
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


@pytest.mark.parametrize("formulation", quick(REGISTRY.values(), gd.LagrangeEuler))
@pytest.mark.parametrize("joint", quick(CONSTANT_SUBSPACE, "RUBX"))
def test_every_joint_equals_pinocchio(joint: str, formulation: type[gd.Dynamics]) -> None:
    rng = np.random.default_rng(4)
    model = build(rng, ["FreeFlyer", joint, "RX", "RevoluteUnaligned", "RY"], [0, 1, 2, 1, 4])
    constraints = [gd.Contact("body_2", "3D"), gd.Loop("body_2", "body_4", "3D")]
    con = gd.ConstrainedDynamics(formulation(model, clean=0), constraints)
    check_against_pinocchio(con, model)


ROBOTS: dict[str, list[Constraint]] = {
    "panda": [gd.Contact("panda_link8")],
    "ur5": [gd.Contact("tool0", "3D")],
    "solo12": [gd.Contact("FL_FOOT", "3D"), gd.Contact("HR_FOOT", "3D"), gd.Loop("FR_FOOT", "HL_FOOT", "3D")],
    "talos": [gd.Contact("left_sole_link"), gd.Loop("gripper_left_base_link", "gripper_right_base_link")],
}


@pytest.mark.extras
@pytest.mark.parametrize("robot", ROBOTS)
def test_robots_equal_pinocchio(robot: str) -> None:
    model = robots.load(robot)
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), ROBOTS[robot])
    check_against_pinocchio(con, model)


@pytest.mark.extras
@pytest.mark.parametrize(
    ("robot", "feet", "kind", "limit"),
    [
        ("talos", ("left_sole_link", "right_sole_link"), "6D", 16_500),
        ("solo12", ("FL_FOOT", "FR_FOOT", "HL_FOOT"), "3D", 5_250),
    ],
)
def test_graphs_are_small(robot: str, feet: tuple[str, ...], kind: str, limit: int) -> None:
    con = gd.ConstrainedDynamics(gd.NewtonEuler(robots.load(robot)), [gd.Contact(foot, kind) for foot in feet])
    assert con.forward_dynamics.n_instructions() <= limit


def test_a_copy_is_the_same() -> None:
    model = gd.load_urdf("puma560")
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("link6", "3D", anchor=[1, 2, 3])], damping=2.0)
    copy = pickle.loads(pickle.dumps(con))
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    assert relative_error(copy.forward_dynamics(q, v, tau)[0], con.forward_dynamics(q, v, tau)[0]) == 0

"""Contacts and loops of cpin against Pinocchio's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import cpin
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from tests.helpers.models import build, relative_error, states

REFERENCES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)


@pytest.fixture(scope="module")
def model() -> pin.Model:
    """A free base on two legs of three joints."""
    legs = ("RX", "RevoluteUnaligned", "RY")
    return build(np.random.default_rng(0), ["FreeFlyer", *legs, *legs], [0, 1, 2, 3, 1, 5, 6])


def contacts(lib: ModuleType, model: Any, kinds: tuple[str, str], reference: Any, damping: float = 0.0) -> list[Any]:
    """Both feet."""
    held = []
    for joint, kind in zip((4, 7), kinds, strict=True):
        placement = pin.SE3(pin.exp3(np.array([0.1, 0.2, -0.3])), np.array([0.1, 0.0, -0.2]))
        type_ = lib.ContactType.CONTACT_6D if kind == "6D" else lib.ContactType.CONTACT_3D
        each = lib.RigidConstraintModel(type_, model, joint, lib.SE3(placement), reference)
        each.m_baumgarte_parameters.Kd = damping / 2
        if lib is cpin and kind == "3D":  # as programs for pin 3 write it
            each.m_baumgarte_parameters.Kd = 0.0
            each.corrector.Kd[:] = damping / 2
        held.append(each)
    return held


def in_numbers(model: pin.Model, held: list[Any], q: Any, v: Any, tau: Any) -> tuple[pin.Data, Any, Any]:
    data, models, datas = model.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for each in held:
        models.append(each)
        datas.append(each.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    pin.constraintDynamics(model, data, q, v, tau, models, datas, pin.ProximalSettings(1e-14, 1e-14, 0.0, 1))
    return data, models, datas


@pytest.mark.long
@pytest.mark.parametrize("kinds", [("6D", "3D"), pytest.param(("3D", "3D"), marks=pytest.mark.long)])
@pytest.mark.parametrize("reference", REFERENCES)
def test_constraint_dynamics_and_derivatives(model: pin.Model, kinds: tuple[str, str], reference: Any) -> None:
    (q, v, tau), *_ = states(model, np.random.default_rng(0), 1)
    damping = 5.0
    data, models, datas = in_numbers(model, contacts(pin, model, kinds, reference, damping), q, v, tau)

    cmodel = cpin.Model(model)
    cdata, held = cmodel.createData(), contacts(cpin, cmodel, kinds, reference, damping)
    own = [each.createData() for each in held]
    with pytest.raises(cpin.MissingAttributeError, match=r"contact_force: nothing has computed it; call constraintDyn"):
        own[0].contact_force  # noqa: B018
    cpin.initConstraintDynamics(cmodel, cdata, held, own)
    x = [ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv))]
    cpin.constraintDynamics(cmodel, cdata, *x, held, own)
    forces = [each.contact_force.vector for each in own]
    found = ca.Function("f", x, [cdata.ddq, cdata.lambda_c, *forces])(q, v, tau)
    expected = [data.ddq, data.lambda_c, *(each.contact_force.vector for each in datas)]
    for a, b in zip(found, expected, strict=True):
        assert relative_error(a.full().ravel(), b) < 1e-10  # Pinocchio solves by one proximal step

    if reference == pin.LOCAL:  # in the other one Pinocchio's are wrong by q
        pin.computeConstraintDynamicsDerivatives(model, data, models, datas)
    derivatives = cpin.computeConstraintDynamicsDerivatives(cmodel, cdata, held, own)
    assert derivatives[3] is cdata.dlambda_dq
    found = ca.Function("f", x, list(derivatives))(q, v, tau)
    names = "ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau"
    by_differences = ca.Function("f", x, [*along(cmodel, x, ca.vertcat(cdata.ddq, cdata.lambda_c))])(q, v, tau)
    joined = [ca.vertcat(found[k], found[k + 3]) for k in range(3)]
    for a, b in zip(joined, by_differences, strict=True):
        assert relative_error(a.full(), b.full()) < 1e-10
    if reference == pin.LOCAL:
        for name, a in zip(names, found, strict=True):
            assert relative_error(a.full(), getattr(data, name)) < 1e-8, name


def along(cmodel: cpin.Model, x: list[ca.SX], y: ca.SX) -> list[ca.SX]:
    """The derivatives of y by q, in the tangent space, v and tau, by CasADi."""
    d = ca.SX.sym("d", cmodel.nv)
    moved = ca.substitute(y, x[0], cpin.integrate(cmodel, x[0], d))
    return [ca.substitute(ca.jacobian(moved, d), d, ca.DM.zeros(cmodel.nv)), *(ca.jacobian(y, each) for each in x[1:])]


@pytest.mark.parametrize("reference", REFERENCES)
def test_constraint_jacobians(model: pin.Model, reference: Any) -> None:
    (q, v, tau), *_ = states(model, np.random.default_rng(1), 1)
    data, models, datas = in_numbers(model, contacts(pin, model, ("6D", "3D"), reference), q, v, tau)
    cmodel = cpin.Model(model)
    cdata, held = cmodel.createData(), contacts(cpin, cmodel, ("6D", "3D"), reference)
    cpin.computeJointJacobians(cmodel, cdata, ca.MX(q))
    both = cpin.getConstraintsJacobian(cmodel, cdata, held, [each.createData() for each in held])
    assert relative_error(ca.evalf(both).full(), pin.getConstraintsJacobian(model, data, models, datas)) < 1e-12
    alone = cpin.getConstraintJacobian(cmodel, cdata, held[1], held[1].createData())
    assert relative_error(ca.evalf(alone).full(), ca.evalf(both).full()[6:]) < 1e-12


def test_a_contact_is_evaluated_where_it_is_not_closed() -> None:
    """The wrist of this arm meets the origin, where the contact would hold it, at singular configurations alone."""
    arm = pin.buildSampleModelManipulator()
    (q, v, tau), *_ = states(arm, np.random.default_rng(2), 1)
    given = cpin.ContactType.CONTACT_3D, arm, arm.njoints - 1, pin.SE3.Identity(), pin.LOCAL
    held, cmodel = cpin.RigidConstraintModel(*given), cpin.Model(arm)
    data, models, datas = in_numbers(arm, [held.pin], q, v, tau)
    cdata = cmodel.createData()
    found = cpin.constraintDynamics(cmodel, cdata, ca.DM(q), v, tau, [held])
    assert relative_error(found.full().ravel(), data.ddq) < 1e-10  # Pinocchio solves by one proximal step
    rows = cpin.getConstraintJacobian(cmodel, cdata, held)
    assert relative_error(rows.full(), pin.getConstraintJacobian(arm, data, models[0], datas[0])) < 1e-12


def test_jacobians_of_redundant_rows() -> None:
    arm = pin.buildSampleModelManipulator()
    (q, v, tau), *_ = states(arm, np.random.default_rng(3), 1)
    held = cpin.RigidConstraintModel(cpin.ContactType.CONTACT_6D, arm, 2, pin.SE3.Identity(), pin.LOCAL)
    cmodel = cpin.Model(arm)
    cdata = cmodel.createData()
    cpin.computeJointJacobians(cmodel, cdata, ca.DM(q))
    data, models, datas = in_numbers(arm, [held.pin], q, v, tau)
    rows = cpin.getConstraintJacobian(cmodel, cdata, held)
    assert relative_error(rows.full(), pin.getConstraintJacobian(arm, data, models[0], datas[0])) < 1e-12
    with pytest.raises(ArgumentError, match="redundant"):
        cpin.constraintDynamics(cmodel, cdata, ca.DM(q), v, tau, [held])


def test_impulses_of_contact_models(model: pin.Model) -> None:
    (q, v, tau), *_ = states(model, np.random.default_rng(2), 1)
    data, models, datas = in_numbers(model, contacts(pin, model, ("6D", "3D"), pin.LOCAL), q, v, tau)
    after = pin.impulseDynamics(model, data, q, v, models, datas, 0.5, pin.ProximalSettings(1e-14, 1e-14, 0.0, 1))
    cmodel = cpin.Model(model)
    held = contacts(cpin, cmodel, ("6D", "3D"), pin.LOCAL)
    found = cpin.impulseDynamics(cmodel, cmodel.createData(), q, v, held, [each.createData() for each in held], 0.5)
    assert relative_error(found.full().ravel(), after) < 1e-10


@pytest.mark.long
def test_redundant_rows_of_a_jacobian_take_damping(model: pin.Model) -> None:
    (q, v, tau), *_ = states(model, np.random.default_rng(3), 1)
    cmodel = cpin.Model(model)
    cdata, data = cmodel.createData(), model.createData()
    row = pin.computeFrameJacobian(model, data, q, model.nframes - 1, pin.LOCAL)[:1]
    twice, drift = np.vstack([row, row]), np.array([0.1, 0.1])
    expected = pin.forwardDynamics(model, data, q, v, tau, twice, drift, 1e-6)
    found = cpin.forwardDynamics(cmodel, cdata, q, v, tau, twice, drift, 1e-6)
    assert relative_error(found.full().ravel(), expected) < 1e-8  # the inner matrix is nearly singular


def test_refusals(model: pin.Model) -> None:
    cmodel = cpin.Model(model)
    cdata, rest = cmodel.createData(), np.zeros(model.nv)
    q = pin.neutral(model)
    with pytest.raises(ArgumentTypeError, match="contact_models: give a list of RigidConstraintModel"):
        cpin.constraintDynamics(cmodel, cdata, q, rest, rest, 3)
    with pytest.raises(ArgumentTypeError, match=r"RigidConstraintModel: got int; give \(type, model, joint, …\)"):
        cpin.constraintDynamics(cmodel, cdata, q, rest, rest, [3])
    with pytest.raises(ArgumentTypeError, match=r"got ContactType, int, SE3; give \(type, model, joint, …\)"):
        cpin.RigidConstraintModel(cpin.ContactType.CONTACT_3D, 1, pin.SE3.Identity())
    with pytest.raises(ArgumentError, match="forwardDynamics: drift: got 2 × 1 entries; give 1 × 1"):
        cpin.forwardDynamics(cmodel, cdata, q, rest, rest, np.zeros((1, model.nv)), np.zeros(2))
    with pytest.raises(ArgumentError, match=f"forwardDynamics: J: got 1 × 3 entries; give 1 × {model.nv}"):
        cpin.forwardDynamics(cmodel, cdata, q, rest, rest, np.zeros((1, 3)), np.zeros(1))
    moved = cpin.SE3(np.eye(3), ca.SX.sym("p", 3))
    with pytest.raises(UnsupportedError, match=r"SE3: has symbols, which have no value yet; give numbers here"):
        cpin.RigidConstraintModel(cpin.ContactType.CONTACT_3D, cmodel, 1, moved, pin.LOCAL)
    for wrong in (99, "nowhere"):
        with pytest.raises(ArgumentError, match=rf"RigidConstraintModel: model.joints\[{wrong}\]: give an in"):
            cpin.RigidConstraintModel(cpin.ContactType.CONTACT_6D, cmodel, wrong, pin.LOCAL)
    last = cpin.RigidConstraintModel(cpin.ContactType.CONTACT_6D, cmodel, -1, pin.LOCAL)
    assert last.joint1_id == model.njoints - 1


def test_constraints_of_a_robot_with_a_symbol_in_a_placement(model: pin.Model) -> None:
    (q, v, tau), *_ = states(model, np.random.default_rng(4), 1)
    twist, moved = 0.1 * np.arange(6.0), model.copy()
    moved.jointPlacements[2] = moved.jointPlacements[2] * pin.exp6(twist)
    data, *_ = in_numbers(moved, contacts(pin, moved, ("3D", "3D"), pin.LOCAL), q, v, tau)
    cmodel, s = cpin.Model(model), ca.SX.sym("s", 6)
    cmodel.jointPlacements[2] = cmodel.jointPlacements[2] * cpin.exp6(s)
    held = contacts(cpin, cmodel, ("3D", "3D"), pin.LOCAL)
    ddq = cpin.constraintDynamics(cmodel, cmodel.createData(), q, v, tau, held, [each.createData() for each in held])
    assert relative_error(ca.Function("ddq", [s], [ddq])(twist).full().ravel(), data.ddq) < 1e-10

"""The validator on robots with wrenches as inputs: right ones pass, wrong ones are told by name."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.sets import quick
from tests.helpers.validated_arms import FLEXIBLE_JOINT, PLANAR, planar

pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

MODEL = gd.load_urdf("puma560_3")
TOOL = MODEL.frames[-1].name
GIVEN = {TOOL: pin.LOCAL, "link2": pin.WORLD, "link1": pin.LOCAL_WORLD_ALIGNED}
UNDER = [f"{name} under wrenches" for name in ("inverse_dynamics", "forward_dynamics", "state_derivative (a)")]


@pytest.mark.parametrize("name", quick(sorted(gd.formulations()), "lagrange_euler"))
def test_right_formulations_pass(name: str) -> None:
    dyn = gd.formulations()[name](MODEL, clean=0, wrenches=GIVEN, parameters=["gravity"])
    report = assert_valid(dyn, MODEL, samples=40)
    assert [check.name for check in report.checks][-3:] == UNDER
    assert report[UNDER[0]].tolerance == 1e-12
    assert report[UNDER[1]].tolerance == 1e-9
    assert report.not_checked == ()


@pytest.mark.long
def test_constant_wrenches_are_compared_too() -> None:
    report = assert_valid(gd.NewtonEuler(MODEL, wrenches=GIVEN).under(np.ones((6, 3))), MODEL, samples=20)
    assert [check.name for check in report.checks][-3:] == UNDER


@pytest.mark.long
def test_an_arm_is_compared_with_the_virtual_work() -> None:
    given = {"tip": pin.LOCAL, "link1 tip": pin.LOCAL_WORLD_ALIGNED, "link2": pin.WORLD}
    report = assert_valid(planar(joints=FLEXIBLE_JOINT, wrenches=given), PLANAR, samples=20)
    assert report[UNDER[0]].tolerance == 1e-12


@pytest.mark.long
def test_first_order_kinematics_are_not() -> None:
    report = assert_valid(planar(exact=False, wrenches={"tip": pin.LOCAL}), PLANAR, samples=10)
    assert not [check for check in report.checks if "wrenches" in check.name]
    assert report.not_checked == (
        "Functions under wrenches: with first-order kinematics they do work to first order only",
    )


class WrongSign(gd.LagrangeEuler):
    def wrench_torque_expression(self, q: Matrix, wrenches: Matrix) -> Matrix:
        return -super().wrench_torque_expression(q, wrenches)


class Turned(gd.LagrangeEuler):
    def wrench_torque_expression(self, q: Matrix, wrenches: Matrix) -> Matrix:
        return super().wrench_torque_expression(q, wrenches[[1, 2, 0, 4, 5, 3], :])


class OnlyForward(gd.LagrangeEuler):
    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return super().forward_dynamics_expression(q, v, tau)


class NoStiffness(gd.LagrangeEuler):
    def wrench_stiffness_expression(self, *given: object) -> Matrix:
        return ca.DM(self.tree.nv, self.tree.nv)


@pytest.mark.long
def test_derivatives_are_those_under_wrenches() -> None:
    report = validate(NoStiffness(MODEL, wrenches=GIVEN), MODEL, samples=20)
    wrong = {check.name for check in report.checks if not check.ok}
    assert wrong == {name for name in wrong if "derivatives" in name} != set()


@pytest.mark.long
def test_wrong_wrenches_are_told() -> None:
    report = validate(WrongSign(MODEL, wrenches=GIVEN), MODEL, samples=20)
    assert {*UNDER} <= {check.name for check in report.checks if not check.ok}
    assert "torque of the wrenches has the opposite sign (in inverse_dynamics under wrenches)" in report.diagnosis
    report = validate(Turned(MODEL, wrenches=GIVEN), MODEL, samples=20)
    assert any(each.startswith("tau is right without wrenches, but not with them") for each in report.diagnosis)
    report = validate(OnlyForward(MODEL, wrenches=GIVEN), MODEL, samples=20)
    assert {check.name for check in report.checks if not check.ok} == {*UNDER[1:]}
    assert any(each.startswith("a is right without wrenches, but not with them") for each in report.diagnosis)


@pytest.mark.long
def test_a_model_that_lacks_the_frame() -> None:
    model = MODEL.copy()
    model.frames[model.getFrameId("link2")].name = "other"
    with pytest.raises(ArgumentError, match="has no frame 'link2', at which wrenches act on the system under test"):
        validate(gd.NewtonEuler(MODEL, wrenches=GIVEN), model, samples=1)


@pytest.mark.long
def test_frames_may_have_other_indices() -> None:
    model = MODEL.copy()
    model.addFrame(pin.Frame("new", 1, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    assert_valid(gd.NewtonEuler(model, wrenches={"new": pin.LOCAL}), model, samples=5)
    given = {"link2": pin.LOCAL}
    tree = gd.NewtonEuler(model, wrenches=given)
    assert_valid(tree, MODEL, samples=5)


@pytest.mark.long
def test_functions_are_judged_without_wrenches() -> None:
    dyn = gd.NewtonEuler(MODEL, wrenches=GIVEN)
    with pytest.raises(
        ArgumentError, match=r"takes \(q, v, a, wrenches\); give the Dynamics, or its Function of dyn.un"
    ):
        validate(dyn.inverse_dynamics, MODEL, samples=1)
    assert validate(dyn.under().inverse_dynamics, MODEL, samples=5).ok
    s = [ca.MX.sym(name, 3) for name in "qva"]
    loaded = ca.Function("loaded", s, [dyn.inverse_dynamics(*s, ca.DM.zeros(6, 3))])
    assert validate(loaded, MODEL, samples=5).ok

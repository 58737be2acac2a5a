"""The validator on robots with motors and friction that grows with the load: right ones pass, wrong ones are told."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.spatial.algebra import Matrix
from gdalembert.testing import assert_valid
from gdalembert.validation.references import PinocchioReference
from gdalembert.validation.validate import validate
from tests.helpers.sets import quick
from tests.helpers.validated_arms import PLANAR, planar

pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")

MODEL = gd.load_urdf("puma560_3")
COLUMNS = {"motor1": [1.0, 0.0, 0.0], "motor2": [0.0, 1.0, 0.0], "motor3": [0.0, 1.0, -1.5]}
MOTORS = {"motor1": gd.Motor(0.8, 1.0, 2.0, offset=0.3), "motor3": gd.Motor(0.2, 0.4, 0.6)}
FRICTION = {
    "joint1": gd.Friction(1.0, 0.5, offset=0.7, load=0.3),
    "joint2": gd.Friction(0.5, 2.0, load=0.99, smoothing=0.3),
}
GIVEN = {"friction": FRICTION, "actuation": COLUMNS, "motors": MOTORS}


@pytest.mark.parametrize("name", quick(sorted(gd.formulations()), "newton_euler"))
def test_right_formulations_pass(name: str) -> None:
    kinds = ["friction", "motors"]
    dyn = gd.formulations()[name](MODEL, clean=0, springs={"joint1": (3.0, 0.1)}, parameters=kinds, **GIVEN)
    report = assert_valid(dyn, MODEL, samples=40)
    assert report["inverse_dynamics"].tolerance == 1e-12
    assert report.not_checked == ()


@pytest.mark.long
def test_wrenches_are_transmitted_too_and_actuators_may_be_few() -> None:
    dyn = gd.NewtonEuler(MODEL, clean=0, wrenches={MODEL.frames[-1].name: pin.LOCAL}, **GIVEN)
    assert "inverse_dynamics under wrenches" in [check.name for check in assert_valid(dyn, MODEL, samples=40).checks]
    few = {name: column for name, column in COLUMNS.items() if name != "motor2"}
    assert_valid(gd.NewtonEuler(MODEL, **(GIVEN | {"actuation": few})), MODEL, samples=40)


@pytest.mark.long
def test_arms_have_it_too() -> None:
    friction = {"joint1": gd.Friction(1.0, 0.5, offset=0.7, load=0.3)}
    report = assert_valid(planar(friction=friction), PLANAR, samples=20)
    assert "undeformed tau" in [check.name for check in report.checks]


class OfTheWhole(gd.NewtonEuler):
    def under_load_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        _, part = self._friction(q, v)
        return tau + part * (ca.sqrt(tau**2 + 0.01**2) - 0.01)


class NoRotors(gd.NewtonEuler):
    @property
    def motor_inertia(self) -> None:
        return None


class OnlyForward(gd.NewtonEuler):
    def without_load_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return tau


@pytest.mark.long
def test_wrong_ones_are_told() -> None:
    """Friction under load that counts itself as load; rotors that are left out; and forward dynamics without load."""

    def wrong(dyn: gd.Dynamics) -> set[str]:
        return {check.name for check in validate(dyn, MODEL, samples=20).checks if not check.ok}

    assert {"inverse_dynamics", "nle"} <= wrong(OfTheWhole(MODEL, **GIVEN))
    assert {"inverse_dynamics", "mass_matrix", "kinetic_energy"} <= wrong(NoRotors(MODEL, **GIVEN))
    found = wrong(OnlyForward(MODEL, **GIVEN))
    assert "forward_dynamics" in found
    assert "inverse_dynamics" not in found


def test_the_transmitted_torque_is_found_by_newtons_method() -> None:
    reference, rng = PinocchioReference(MODEL, gd.NewtonEuler(MODEL, friction=FRICTION)), np.random.default_rng(0)
    q, v = rng.normal(size=(2, 500, 3))
    tau = rng.normal(size=(500, 3)) * 10.0 ** rng.integers(-8, 5, size=(500, 3))
    again, slope = reference.without_load(q, v, reference.under_load(q, v, tau))
    assert np.max(np.abs(again - tau) / np.maximum(1, np.abs(tau))) < 1e-12
    step = 1e-6
    difference = reference.under_load(q, v, tau + step) - reference.under_load(q, v, tau - step)
    assert np.median(np.abs(difference / (2 * step) - slope)) < 1e-8

"""No Function of NewtonEuler is larger than that of another formulation, or than what differentiation of tau gives."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.spatial.functions import function
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

ALL = (*FUNCTIONS, *(f"{name}_regressor" for name in ("torque", "base", "kinetic_energy", "potential_energy")))


def limbs(count: int) -> pin.Model:
    """Limbs of two joints side by side."""
    model = pin.Model()
    model.name = f"{count} limbs"
    body = pin.Inertia(1.3, pin.SE3.Random().translation, pin.Inertia.Random().inertia)
    for k in range(count):
        joint = 0
        for part, kind in (("upper", pin.JointModelRY), ("lower", pin.JointModelRX)):
            joint = model.addJoint(joint, kind(), pin.SE3.Random(), f"{part} {k}")
            model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model


@pytest.mark.parametrize("name", quick(gd.robots(), "cart_pendulum", "two_link_arm", "two_link_flexible"))
def test_no_function_is_larger_than_another_formulation_has_it(name: str) -> None:
    check(gd.load_urdf(name))


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nor_one_of_limbs_side_by_side(count: int) -> None:
    check(limbs(count))


def check(model: pin.Model) -> None:
    own, others = gd.NewtonEuler(model), (gd.LagrangeEuler(model), gd.GeneralizedDAlembert(model))
    for name in ALL:
        least = min(getattr(other, name).n_instructions() for other in others)
        assert getattr(own, name).n_instructions() <= least, name
    s = own.symbols("q", "v", "a")
    found = Dynamics.inverse_dynamics_derivatives_expression(own, s["q"], s["v"], s["a"])
    differentiated = function("derivatives", s, dict(zip(("by_q", "by_v"), found, strict=True)))
    assert own.inverse_dynamics_derivatives.n_instructions() <= differentiated.n_instructions()


def test_no_other_variant_of_large_robots_is_built() -> None:
    assert not gd.NewtonEuler(gd.load_urdf("panda7"))._alternatives
    assert gd.NewtonEuler(gd.load_urdf("two_link_arm"))._alternatives


@pytest.mark.long
@pytest.mark.extras
def test_nor_of_a_humanoid() -> None:
    assert not gd.NewtonEuler(robots.load("talos"))._alternatives


def test_a_subclass_keeps_its_own_equations() -> None:
    class Twice(gd.NewtonEuler):
        def mass_matrix_expression(self, q):  # type: ignore[no-untyped-def]
            return 2 * super().mass_matrix_expression(q)

    model = gd.load_urdf("two_link_arm")
    expected = 2 * gd.NewtonEuler(model).mass_matrix([0.1, 0.2]).full()
    assert (abs(Twice(model).mass_matrix([0.1, 0.2]).full() - expected) < 1e-12).all()


def test_no_alternative_divides_by_a_mass_that_p_takes_away() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters={"inertia": True, "payload": ["link2"]})
    nothing = np.zeros(len(dyn.parameters))
    assert not dyn.inverse_dynamics(*np.ones((3, 2)), nothing).full().any()


@pytest.mark.parametrize("name", ["generalized_dalembert", "lagrange_euler", "newton_euler"])
def test_every_p_is_right_also_without_masses(name: str) -> None:
    """tau = Y p, whatever p is: no formulation divides by a mass, of which a fit may leave first moments alone."""
    model = gd.load_urdf("puma560_3")
    model.armature = np.zeros(3)
    dyn, rng = gd.formulations()[name](model, parameters={"inertia": True}), np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 3))
    regressor = gd.NewtonEuler(model).torque_regressor(q, v, a).full()
    for p in (np.zeros(30), rng.normal(size=30), rng.normal(size=30) * (np.arange(30) % 10 > 0)):
        tau = dyn.inverse_dynamics(q, v, a, p).full().ravel()
        assert relative_error(tau, regressor @ p) < 1e-12
        energy = 0.5 * v @ dyn.mass_matrix(q, p).full() @ v
        assert relative_error(float(dyn.kinetic_energy(q, v, p)), energy) < 1e-12
        nle = dyn.coriolis_matrix(q, v, p).full() @ v + dyn.generalized_gravity(q, p).full().ravel()
        assert relative_error(nle, dyn.nle(q, v, p).full().ravel()) < 1e-12

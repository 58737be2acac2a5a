"""Every Function of a formulation: right ones pass, what cannot be checked is named, wrong shapes are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.dynamics.forces import Damping
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function
from gdalembert.testing import assert_valid
from gdalembert.validation.systems import shapes_of_functions
from gdalembert.validation.validate import validate
from tests.helpers.models import JOINTS, MIMICABLE, build, inertia
from tests.helpers.sets import quick
from tests.helpers.torque_functions import PUMA, TRUE, Broken, mimic_model, tree_model


@pytest.mark.parametrize("name", quick(sorted(gd.formulations()), "generalized_dalembert"))
@pytest.mark.parametrize(
    ("make", "clean"),
    [(lambda: PUMA, 1e-11), *quick([(tree_model, 0)]), (mimic_model, 1e-11)],
    ids=["puma560", "tree", "mimic"],
)
def test_right_formulations_pass(name: str, clean: float, make: Callable[[], pin.Model]) -> None:
    model = make()
    report = assert_valid(gd.formulations()[name](model, clean=clean), model, samples=100)
    assert report.ok
    assert report.diagnosis == report.not_checked == ()
    assert report.system == name
    assert [check.name for check in report.checks] == [
        "inverse_dynamics",
        "mass_matrix",
        "nle",
        "generalized_gravity",
        "coriolis_matrix",
        "mass_matrix_inverse",
        "forward_dynamics",
        "state_derivative (dq/dt)",
        "state_derivative (a)",
        "inverse_dynamics_derivatives (q)",
        "inverse_dynamics_derivatives (v)",
        "forward_dynamics_derivatives (q)",
        "forward_dynamics_derivatives (v)",
        "forward_dynamics_derivatives (Minv)",
        "kinetic_energy",
        "potential_energy",
        "M symmetric",
        "M positive definite",
        "dM/dt - 2C skew",
    ]
    assert report["nle"].tolerance == (1e-12 if clean == 0 else 1e-9)
    assert report["forward_dynamics"].tolerance == report["state_derivative (a)"].tolerance == 1e-9
    assert report["dM/dt - 2C skew"].tolerance == 1e-11


def random_tree(seed: int) -> pin.Model:
    """One to eight joints, mostly few, of any type; some links are massless, others points, and masses span 1e6."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9, size=3).min())
    names = [str(rng.choice(sorted(JOINTS))) for _ in range(count)]
    parents = [int(rng.integers(0, k + 1)) for k in range(count)]
    mimicable = [k + 1 for k, name in enumerate(names) if name in MIMICABLE]
    mimic = int(rng.choice(mimicable)) if mimicable and rng.random() < 0.3 else None
    model = build(rng, names, parents, mimic=mimic)
    leaves = set(range(1, model.njoints)) - set(model.parents)
    for joint in range(1, model.njoints):
        scale = float(10 ** rng.uniform(-3, 3)) if rng.random() < 0.3 else 1.0
        body = pin.Inertia.FromDynamicParameters(scale * inertia(rng).toDynamicParameters())
        kind = rng.random()
        if kind < 0.1 and joint not in leaves:
            body = pin.Inertia.Zero()
        elif kind < 0.2 and joint not in leaves:
            body = pin.Inertia(body.mass, body.lever, np.zeros((3, 3)))
        model.inertias[joint] = body
    if rng.random() < 0.2:
        model.gravity = pin.Motion.Zero()
    if rng.random() < 0.5:
        model.armature = np.zeros(model.nv)
    return model


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3, 17, 147, 191])
def test_torques_that_cancel_are_no_fault(seed: int) -> None:
    """Forces of 1e4 N at 100 rad/s whose torque is 0 but for rounding; a heavy mimic joint in balance."""
    model = random_tree(seed)
    for formulation in gd.formulations().values():
        assert_valid(formulation(model, clean=0), model, samples=100)


def test_velocity_terms_are_judged_by_the_forces_that_add_up() -> None:
    """An error of 1e-10 v² is found in states of any speed, though M v² is the scale."""

    def wrong_by_little(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return TRUE(q, v, a) + 1e-10 * v * v

    report = validate(wrong_by_little, PUMA, samples=50, tolerance=1e-12)
    assert [check.name for check in report.checks if not check.ok] == ["tau", "C v"]


def test_springs() -> None:
    springs = {"joint2": (30.0, 0.4)}
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, springs=springs)
    assert assert_valid(dyn, model, samples=50)["potential_energy"].error > 0
    assert not validate(dyn.inverse_dynamics, model, samples=5).ok  # a Function's springs are not known


@pytest.mark.long
def test_force_elements() -> None:
    """They are added to Pinocchio's tau: at rest to gravity, the rest to the velocity terms."""
    damping = Damping(np.diag([1.0, 0.0, 2.0, 0.0, 0.0, 0.5]))
    dyn = gd.GeneralizedDAlembert(PUMA, springs={"joint2": (30.0, 0.4)}, forces=[damping])
    assert_valid(dyn, PUMA, samples=50)
    sentence = "velocity terms contain damping proportional to v, which Pinocchio's rnea does not have, at joint "
    (found,) = validate(gd.NewtonEuler(PUMA, forces=[damping]).inverse_dynamics, PUMA, samples=20).diagnosis
    assert found == f"{sentence}'joint1' (1), 'joint3' (2), 'joint6' (0.5)"


class WithoutForcesInForwardDynamics(Broken):
    @cached_property
    def forward_dynamics(self) -> ca.Function:
        return Broken(PUMA).forward_dynamics


@pytest.mark.long
def test_force_elements_that_are_forgotten() -> None:
    dyn = WithoutForcesInForwardDynamics(PUMA, forces=[Damping(np.eye(6))])
    report = validate(dyn, PUMA, samples=20)
    assert [check.name for check in report.checks if not check.ok] == ["forward_dynamics"]


@pytest.mark.long
@pytest.mark.parametrize("b", [np.eye(3)[:, 1:], 100 * np.eye(3), np.eye(3)[:, ::-1]], ids=["few", "geared", "order"])
def test_actuation(b: np.ndarray) -> None:
    arm = gd.load_urdf("puma560_3")
    assert_valid(gd.NewtonEuler(arm, actuation=b), arm, samples=50)


def test_no_function_is_forgotten() -> None:
    """All are compared but the Hessian; of ``potential_energy`` it is the rate."""
    assert {*shapes_of_functions(gd.NewtonEuler(PUMA))} == set(FUNCTIONS) - {"inverse_dynamics_hessian"}


def test_what_a_formulation_does_not_have_is_named() -> None:
    class OnlyTau(Broken):
        coriolis_matrix_expression = gd.Dynamics.coriolis_matrix_expression

    model = build(np.random.default_rng(0), ["RX", "Spherical"], [0, 1])
    report = assert_valid(OnlyTau(model), model, samples=5)
    assert len(report.checks) == 17
    assert report.not_checked[0].startswith("coriolis_matrix: OnlyTau: a Coriolis matrix does not follow")
    assert "  not checked: coriolis_matrix: OnlyTau" in str(report)


def test_singular_mass_matrices_are_named() -> None:
    """Two joints on one axis with next to nothing between them."""
    model = pin.Model()
    model.name = "coaxial"
    for k, moment in enumerate((5e-13, 1.0)):
        joint = model.addJoint(k, pin.JointModelRZ(), pin.SE3.Identity(), f"joint{k + 1}")
        model.appendBodyToJoint(joint, pin.Inertia(0, np.zeros(3), moment * np.eye(3)), pin.SE3.Identity())
    report = assert_valid(gd.NewtonEuler(model, clean=0), model, samples=10)
    assert report.not_checked == (
        "mass_matrix_inverse, forward_dynamics and state_derivative (a) at 10 of 10 states, where M is singular "
        "(cond(M) > 1e12)",
    )
    assert "forward_dynamics" not in [check.name for check in report.checks]


def test_a_formulation_of_the_wrong_shape() -> None:
    class Short(Broken):
        @cached_property
        def nle(self) -> ca.Function:
            s = self.symbols("q", "v")
            return function("nle", s, {"nle": s["v"][:5]})

    with pytest.raises(ArgumentError) as caught:
        validate(Short(PUMA), PUMA)
    assert str(caught.value) == "the system under test: nle is 5 × 1; it must be 6 × 1"


def test_what_goes_wrong_in_a_users_formulation_is_said_in_words() -> None:
    class Raising(Broken):
        def mass_matrix_expression(self, q: Matrix) -> Matrix:
            raise KeyError("no such link")

    with pytest.raises(ArgumentError, match="the system under test: mass_matrix cannot be built: 'no such link'"):
        validate(Raising(PUMA), PUMA, samples=2)


@pytest.mark.extras
def test_forward_dynamics_after_cleaning_is_judged_by_the_condition_of_the_mass_matrix() -> None:
    """rpy of 12 digits, and a free base: what cleaning changes in M comes back, cond(M) times, in a."""
    model = gd.load_urdf(robots.path("ur5"), root_joint=pin.JointModelFreeFlyer(), check="off")
    dyn = gd.NewtonEuler(model)
    assert dyn.changes
    assert_valid(dyn, model, samples=100)

"""The validator on flexible arms: right ones pass, and what is wrong with a wrong one is said in words."""

from __future__ import annotations

import json
from functools import cached_property

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import modes
from gdalembert.dynamics.forces import Damping
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function
from gdalembert.testing import assert_valid
from gdalembert.validation.validate import validate
from tests.helpers.sets import quick
from tests.helpers.validated_arms import FLEXIBLE_JOINT, LIGHT, PLANAR, planar

# a beam is not as heavy as the body that it replaces, which does not matter here
pytestmark = pytest.mark.filterwarnings("ignore:link .* its body of")


@pytest.mark.long
def test_all_checks_by_name() -> None:
    report = validate(planar(), against=PLANAR, samples=5)
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
        "elastic_energy",
        "power balance",
        "terms (m)",
        "terms (C)",
        "terms (G)",
        "terms (K_f)",
        "undeformed tau",
        "undeformed M",
        "undeformed nle",
        "undeformed g",
    ]
    head = "two_link_flexible: FlexibleArm against a second computation and, undeformed, Pinocchio on 5 states (seed 0)"
    assert str(report).splitlines()[0] == head
    assert report.not_checked == ()
    assert report["mass_matrix"].per_joint.keys() == {*planar().layout}
    assert report["undeformed M"].per_joint.keys() == {"joint1", "joint2"}
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()


# Wrong arms, and what is said about them.

IN_PLANE = PLANAR.copy()
IN_PLANE.gravity.linear = np.array([0.0, -9.81, 0.0])


class OtherMass(gd.FlexibleArm):
    """One modal entry of M and its mirror image."""

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        m = ca.SX(super().mass_matrix_expression(q))
        m[2, 3] += 0.01
        m[3, 2] += 0.01
        return m


class Asymmetric(gd.FlexibleArm):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        m = ca.SX(super().mass_matrix(s["q"]))
        m[2, 3] *= 1.01
        return function("mass_matrix", s, {"M": m})


class Negative(gd.FlexibleArm):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        m = ca.SX(super().mass_matrix(s["q"]))
        m[5, 5] -= 1.0
        return function("mass_matrix", s, {"M": m})


class GravityUpwards(gd.FlexibleArm):
    """In the rows of the modes."""

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        g = super().generalized_gravity_expression(q)
        return ca.vertcat(g[:2], -g[2:])


class WithoutDamping(gd.FlexibleArm):
    def force_torque_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return super().force_torque_expression(q, 0 * v)


class HalfStiff(gd.FlexibleArm):
    @cached_property
    def nle(self) -> ca.Function:
        s = self.symbols("q", "v")
        less = super().nle(s["q"], s["v"]) - 0.5 * ca.DM(self.stiffness_matrix) @ s["q"]
        return function("nle", s, {"nle": less})


class WithoutElasticEnergy(gd.FlexibleArm):
    def potential_energy_expression(self, q: Matrix) -> Matrix:
        return self.gravitational_energy_expression(q)


class TwiceElastic(gd.FlexibleArm):
    @cached_property
    def elastic_energy(self) -> ca.Function:
        s = self.symbols("q")
        return function("elastic_energy", s, {"elastic": 2 * super().elastic_energy(s["q"])})


class NotChristoffel(gd.FlexibleArm):
    """C v stays the same: a part of C that is orthogonal to v."""

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        c = ca.SX(super().coriolis_matrix_expression(q, v))
        c[2, 3] += v[2]
        c[2, 2] -= v[3]
        return c


class OneSignInTerms(gd.FlexibleArm):
    @cached_property
    def terms(self) -> ca.Function:
        s = self.symbols("q", "v")
        parts = super().terms.call(s)
        return function("terms", s, parts | {"C_2": -parts["C_2"]})


class MotorOnTheLink(gd.FlexibleArm):
    """u acts on the joint, not on the rotor."""

    @cached_property
    def state_derivative(self) -> ca.Function:
        n = self.tree.nv
        s = {"x": ca.SX.sym("x", 2 * n), "u": ca.SX.sym("u", 2)}
        q, v = s["x"][:n], s["x"][n:]
        tau = ca.vertcat(s["u"], ca.DM(n - 2, 1))
        return function("state_derivative", s, {"xdot": ca.vertcat(v, self.forward_dynamics(q, v, tau))})


class NotFinite(gd.FlexibleArm):
    """As the textbook's sin t / t in all derivatives at t = 0."""

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return super().inverse_dynamics_expression(q, v, a) + ca.sqrt(q[2]) * ca.DM([0, 0, 1, 0, 0, 0, 0])


WRONG: dict[type[gd.FlexibleArm], tuple[set[str], list[str]]] = {
    OtherMass: (
        {
            "mass_matrix",
            "mass_matrix_inverse",
            "forward_dynamics_derivatives (q)",
            "forward_dynamics_derivatives (v)",
            "forward_dynamics_derivatives (Minv)",
            "M positive definite",
            "terms (m)",
        },
        [
            "mass matrix is wrong at 'link1 y1' × 'link1 y2' (in mass_matrix)",
        ],
    ),
    Asymmetric: (
        {"mass_matrix", "M symmetric", "dM/dt - 2C skew"},
        [
            "mass matrix is not symmetric: wrong at 'link1 y1' × 'link1 y2', right at the transposed "
            "entry (in mass_matrix)",
        ],
    ),
    Negative: (
        {"mass_matrix", "M positive definite"},
        [
            "mass matrix is off by a constant, as if the armature were different, at joint 'link2 y2' "
            "(-1) (in mass_matrix)",
        ],
    ),
    GravityUpwards: (
        {"generalized_gravity", "forward_dynamics_derivatives (q)", "terms (C)", "terms (G)"},
        [
            "gravity has the opposite sign at joint 'link2 y2', 'link2 y1', 'link1 y2', 'link1 y1' (in "
            "generalized_gravity)",
            "forward_dynamics_derivatives are not −M⁻¹ times those of inverse_dynamics, and M⁻¹, worst at 'link1 y1' "
            "(in forward_dynamics_derivatives (q))",
        ],
    ),
    WithoutDamping: (
        {
            "inverse_dynamics",
            "nle",
            "forward_dynamics",
            "forward_dynamics_derivatives (q)",
            "state_derivative (a)",
            "power balance",
        },
        [
            "damping D v is missing (in inverse_dynamics, nle)",
        ],
    ),
    HalfStiff: (
        {"nle"},
        [
            "stiffness K q is 0.5 times that of the second computation (in nle)",
        ],
    ),
    WithoutElasticEnergy: (
        {"potential_energy", "power balance"},
        [
            "elastic energy is missing (in potential_energy)",
        ],
    ),
    TwiceElastic: (
        {"elastic_energy"},
        [
            "elastic energy is not ½ q·K q (in elastic_energy)",
        ],
    ),
    NotChristoffel: (
        {"dM/dt - 2C skew"},
        [
            "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (Christoffel "
            "symbols), worst at 'link1 y1' × 'link1 y1' (in dM/dt - 2C skew)",
        ],
    ),
    OneSignInTerms: (
        {"terms (C)"},
        [
            "terms are not the blocks of the equation of motion, worst at 'link1 y1' (in terms (C))",
        ],
    ),
    MotorOnTheLink: (
        {"state_derivative (a)"},
        [
            "a is wrong, though forward_dynamics is right, worst at 'joint2' (in state_derivative (a))",
        ],
    ),
    NotFinite: (
        {
            "inverse_dynamics",
            "nle",
            "inverse_dynamics_derivatives (q)",
            "forward_dynamics_derivatives (q)",
            "power balance",
            "terms (C)",
        },
        [
            "tau at rest is not finite at joint 'link1 y1', in some states (in inverse_dynamics)",
            "velocity terms are not finite at joint 'link1 y1', in some states (in nle)",
            "gravity is not finite at joint 'link1 y1', in some states (in nle)",
        ],
    ),
}


def in_plane(of: type[gd.FlexibleArm] = gd.FlexibleArm) -> gd.FlexibleArm:
    links = {name: gd.FlexibleLink(beam, bending_y=modes.hermite(), modal_damping=0.05) for name, beam in LIGHT.items()}
    return of(IN_PLANE, links, FLEXIBLE_JOINT)


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C_2": ca.SX(5, 1)}, "C_2 of terms is 5 × 1; it must be 4 × 1"),
        ({"m_r": ca.SX(2, 1)}, "m_r of terms is 2 × 1; it must be 2 × 2"),
        ({"m_r": None}, "terms has no output 'm_r'"),
    ],
)
def test_terms_of_the_wrong_shape(given: dict[str, ca.SX | None], message: str) -> None:
    class Other(gd.FlexibleArm):
        @cached_property
        def terms(self) -> ca.Function:
            s = self.symbols("q", "v")
            parts = super().terms.call(s) | given
            return function("terms", s, {name: part for name, part in parts.items() if part is not None})

    with pytest.raises(ArgumentError, match=f"^the system under test: {message}$"):
        validate(in_plane(Other), against=IN_PLANE, samples=5)


@pytest.mark.long
@pytest.mark.parametrize("of", quick(WRONG, Asymmetric))
def test_wrong_arms_are_found(of: type[gd.FlexibleArm]) -> None:
    report = validate(in_plane(of), against=IN_PLANE, samples=50)
    failed, sentences = WRONG[of]
    assert {check.name for check in report.checks if not check.ok} == failed
    assert list(report.diagnosis) == sentences


class LastNegative(gd.FlexibleArm):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        m = ca.SX(super().mass_matrix(s["q"]))
        m[5, 5] *= -1
        return function("mass_matrix", s, {"M": m})


def slender(of: type[gd.FlexibleArm], mass_per_length: float, stiffness: float) -> gd.FlexibleArm:
    """As :func:`planar`, the last link being another one."""
    beams = LIGHT | {"link2": gd.Beam(0.8, mass_per_length, EI_z=stiffness)}
    return of(PLANAR, {name: gd.FlexibleLink(beam, bending_y=modes.hermite()) for name, beam in beams.items()})


@pytest.mark.long
def test_the_sign_of_a_small_modal_mass() -> None:
    """It is nothing beside the inertia of the arm; by itself it makes the arm unstable."""
    report = validate(slender(LastNegative, 1e-12, 10.0), PLANAR, samples=5)
    assert [check.name for check in report.checks if not check.ok] == ["M positive definite"]


@pytest.mark.long
def test_stiff_and_light_links() -> None:
    """Rounded forces of 1e8 N make accelerations that are wrong by more than 1e-9."""
    assert_valid(slender(gd.FlexibleArm, 1e-3, 1e8), PLANAR, samples=50)


@pytest.mark.long
def test_force_elements_and_actuation() -> None:
    """Beside those of the arm's own flexibility, also in the undeformed arm."""
    n = planar(joints=FLEXIBLE_JOINT).tree.nv
    damping = Damping(np.diag(np.arange(1.0, n + 1)))
    b = np.eye(n)[:, [0, n - 1, 2]]  # the last one is a mode's
    arm = planar(joints=FLEXIBLE_JOINT, springs={"joint1": (3.0, 0.2)}, forces=[damping], actuation=b)
    assert_valid(arm, PLANAR, samples=30)

"""Wrong formulations, and what the report says about them."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import casadi as ca
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function
from gdalembert.validation.validate import validate
from tests.helpers.sets import quick
from tests.helpers.torque_functions import PUMA, Broken


class WithoutArmature(Broken):
    @property
    def _armature(self) -> ca.DM:
        return ca.DM(6, 1)

    @property
    def _armature_matrix(self) -> ca.DM:
        return ca.DM(6, 6)


class UpsideDown(Broken):
    def __init__(self, model: pin.Model) -> None:
        super().__init__(model)
        self.tree = dataclasses.replace(self.tree, gravity=-self.tree.gravity)


class WrongGravityFunction(Broken):
    @cached_property
    def generalized_gravity(self) -> ca.Function:
        s = self.symbols("q")
        return function("g", s, {"g": -super().generalized_gravity(s["q"])})


class WrongEntry(Broken):
    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        m = super().mass_matrix_expression(q)
        m[2, 3] *= 2
        m[3, 2] *= 2
        return m


class Asymmetric(Broken):
    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        m = super().mass_matrix_expression(q)
        m[2, 3] += q[1]
        return m


class Indefinite(Broken):
    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return super().mass_matrix_expression(q) - 3 * ca.DM.eye(6)


class Undefined(Broken):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        return function("mass_matrix", s, {"M": super().mass_matrix(s["q"]) * ca.sqrt(s["q"][0])})


class HalfCoriolis(Broken):
    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return 0.5 * super().coriolis_matrix_expression(q, v)


class OtherCoriolis(Broken):
    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        idle = ca.vertcat(ca.horzcat(v[1], -v[0], ca.DM(1, 4)), ca.DM(5, 6))
        return super().coriolis_matrix_expression(q, v) + idle


class NoBias(Broken):
    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return ca.solve(self.mass_matrix_expression(q) + self._armature_matrix, tau)


class InverseWithoutArmature(Broken):
    @cached_property
    def mass_matrix_inverse(self) -> ca.Function:
        s = self.symbols("q")
        return function("mass_matrix_inverse", s, {"Minv": ca.inv(self.mass_matrix_expression(s["q"]))})


class KineticWithoutArmature(Broken):
    @cached_property
    def kinetic_energy(self) -> ca.Function:
        s = self.symbols("q", "v")
        return function("kinetic_energy", s, {"kinetic": self.kinetic_energy_expression(s["q"], s["v"])})


class HalfKinetic(Broken):
    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return 0.5 * super().kinetic_energy_expression(q, v) - 0.25 * ca.dot(self._armature, v * v)


class OtherKinetic(Broken):
    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return super().kinetic_energy_expression(q, v) + v[0]


class PotentialDownwards(Broken):
    @cached_property
    def potential_energy(self) -> ca.Function:
        s = self.symbols("q")
        return function("potential_energy", s, {"potential": -super().potential_energy(s["q"])})


class NleWithoutGravity(Broken):
    @cached_property
    def nle(self) -> ca.Function:
        s = self.symbols("q", "v")
        gravity_torque = super().generalized_gravity(s["q"])
        return function("nle", s, {"nle": super().nle(s["q"], s["v"]) - gravity_torque})


class WrongStateDerivative(Broken):
    entry = 1

    @cached_property
    def state_derivative(self) -> ca.Function:
        x, u = ca.SX.sym("x", 12), ca.SX.sym("u", 6)
        xdot = super().state_derivative(x, u)
        xdot[self.entry] *= 2
        return function("state_derivative", {"x": x, "u": u}, {"xdot": xdot})


class WrongStateAcceleration(WrongStateDerivative):
    entry = 7


_FORWARD = {f"forward_dynamics_derivatives ({of})" for of in ("q", "v", "Minv")}
_ALL = ", ".join(f"'joint{k + 1}' ({x:.6g} kg m²)" for k, x in enumerate(PUMA.armature))
_MINUS_3 = ", ".join(f"'joint{k + 1}' (-3 kg m²)" for k in range(6))
BROKEN: dict[type[gd.Dynamics], tuple[set[str], list[str]]] = {
    WithoutArmature: (
        {"inverse_dynamics", "mass_matrix", "mass_matrix_inverse", "kinetic_energy", *_FORWARD},
        [
            f"armature is missing at joint {_ALL} (in inverse_dynamics, mass_matrix)",
            "armature is missing (in kinetic_energy)",
        ],
    ),
    UpsideDown: (
        {
            "inverse_dynamics",
            "nle",
            "generalized_gravity",
            "forward_dynamics",
            "state_derivative (a)",
            "potential_energy",
            "forward_dynamics_derivatives (q)",
        },
        [
            "gravity has the opposite sign (in inverse_dynamics, nle, generalized_gravity)",
            "potential energy has the opposite sign (in potential_energy)",
        ],
    ),
    WrongGravityFunction: ({"generalized_gravity"}, ["gravity has the opposite sign (in generalized_gravity)"]),
    WrongEntry: (
        {"mass_matrix", "mass_matrix_inverse", "dM/dt - 2C skew", *_FORWARD},
        ["mass matrix is wrong at 'joint3' × 'joint4' (in mass_matrix)"],
    ),
    Asymmetric: (
        {"mass_matrix", "M symmetric", "dM/dt - 2C skew"},
        ["mass matrix is not symmetric: wrong at 'joint3' × 'joint4', right at the transposed entry (in mass_matrix)"],
    ),
    Indefinite: (
        {"mass_matrix", "mass_matrix_inverse", "M positive definite", *_FORWARD},
        [f"mass matrix is off by a constant, as if the armature were different, at joint {_MINUS_3} (in mass_matrix)"],
    ),
    Undefined: (
        {"mass_matrix", "M symmetric", "M positive definite", "dM/dt - 2C skew"},
        ["mass matrix is not finite at every joint, in some states (in mass_matrix)"],
    ),
    HalfCoriolis: (
        {"coriolis_matrix", "dM/dt - 2C skew"},
        ["velocity terms are 0.5 times Pinocchio's (in coriolis_matrix)"],
    ),
    OtherCoriolis: (
        {"dM/dt - 2C skew"},
        [
            "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (Christoffel "
            "symbols), worst at 'joint1' × 'joint1' (in dM/dt - 2C skew)"
        ],
    ),
    NoBias: (
        {"forward_dynamics", "state_derivative (a)"},
        ["forward_dynamics does not invert inverse_dynamics, which is right, worst at 'joint3' (in forward_dynamics)"],
    ),
    InverseWithoutArmature: (
        {"mass_matrix_inverse"},
        [
            "mass_matrix_inverse is not the inverse of mass_matrix, which is right, worst at 'joint6' × 'joint6' "
            "(in mass_matrix_inverse)"
        ],
    ),
    KineticWithoutArmature: ({"kinetic_energy"}, ["armature is missing (in kinetic_energy)"]),
    HalfKinetic: ({"kinetic_energy"}, ["kinetic energy is 0.5 times Pinocchio's (in kinetic_energy)"]),
    OtherKinetic: (
        {"kinetic_energy"},
        ["kinetic energy is not ½ v·M v, though mass_matrix is right (in kinetic_energy)"],
    ),
    PotentialDownwards: ({"potential_energy"}, ["potential energy has the opposite sign (in potential_energy)"]),
    NleWithoutGravity: ({"nle"}, ["gravity is missing (in nle)"]),
    WrongStateDerivative: (
        {"state_derivative (dq/dt)"},
        ["dq/dt is not the rate of q at the velocity v, worst at 'joint2' (in state_derivative (dq/dt))"],
    ),
    WrongStateAcceleration: (
        {"state_derivative (a)"},
        ["a is wrong, though forward_dynamics is right, worst at 'joint2' (in state_derivative (a))"],
    ),
}


@pytest.mark.parametrize("broken", quick(BROKEN, *list(BROKEN)[:1]), ids=lambda cls: cls.__name__)
def test_wrong_formulations_are_explained(broken: type[gd.Dynamics]) -> None:
    failed, sentences = BROKEN[broken]
    report = validate(broken(PUMA), PUMA, samples=100)
    assert {check.name for check in report.checks if not check.ok} == failed
    assert list(report.diagnosis) == sentences

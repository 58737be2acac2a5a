"""Right formulations in other conventions: refused, and named; wrong ones are not named so."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.forces import Force
from gdalembert.spatial.algebra import Matrix
from gdalembert.validation.validate import validate
from tests.helpers.models import build
from tests.helpers.torque_functions import PUMA, TRUE, Array, Broken, Torque, rnea

LEGS = build(np.random.default_rng(8), ["FreeFlyer"] + ["RX", "RY", "PZ"] * 2, [0, 1, 2, 3, 1, 5, 6])
"""A base with two legs."""
BOOMS = build(np.random.default_rng(5), ["RZ", "RY", "RY", "PX", "RY"], [0, 1, 2, 3, 4])
"""Yaw, then parallel axes, with a slide between them."""
for joint in (3, 4, 5):
    BOOMS.jointPlacements[joint].rotation = np.eye(3) if joint != 3 else np.diag([1.0, -1.0, -1.0])
BRANCHES = build(np.random.default_rng(2), ["RX", "RY", "RZ", "RX"], [0, 1, 1, 2])
TURNS = build(np.random.default_rng(3), ["RUBX", "RUBY", "PZ"], [0, 1, 2])
TRUE_LEGS, TRUE_BOOMS, TRUE_BRANCHES = rnea(LEGS), rnea(BOOMS), rnea(BRANCHES)
EQUAL_LEGS = LEGS.copy()
for joint in (5, 6, 7):
    EQUAL_LEGS.inertias[joint] = EQUAL_LEGS.inertias[joint - 3]
    EQUAL_LEGS.jointPlacements[joint] = EQUAL_LEGS.jointPlacements[joint - 3]
EQUAL_LEGS.jointPlacements[5] = pin.SE3(np.eye(3), np.array([-0.3, 0.1, 0.2])) * EQUAL_LEGS.jointPlacements[2]


def reordered(true: Torque, order: list[int], base: int = 0) -> Torque:
    """Joint ``order[i]`` stands at place i; the first ``base`` velocities stay where they are."""
    of_q = [*range(base + (base > 0)), *(k + base + (base > 0) for k in np.argsort(order))]
    of_v = [*range(base), *(k + base for k in np.argsort(order))]
    back = [*range(base), *(k + base for k in order)]
    return lambda q, v, a: true(q[of_q], v[of_v], a[of_v])[back]


def base_map(q: Array, frame: str, angular_first: bool) -> Array:
    """v of the formulation = X v of Pinocchio, of the first six entries."""
    base = LEGS.jointPlacements[1] * pin.SE3(pin.Quaternion(q[6], q[3], q[4], q[5]), q[:3])
    r, p, x = base.rotation, base.translation, np.eye(LEGS.nv)
    if frame != "body":
        x[:3, :3] = r
    if frame in ("mixed", "spatial"):
        x[3:6, 3:6] = r
    if frame == "spatial":
        x[:3, 3:6] = pin.skew(p) @ r
    return x[[3, 4, 5, 0, 1, 2, *range(6, LEGS.nv)]] if angular_first else x


def in_frame(true: Torque, frame: str, angular_first: bool = False, wxyz: bool = False) -> Torque:
    """The law in Pinocchio's velocities, whose rate is by differences of X along v."""

    def torque(q: Array, v: Array, a: Array) -> Array:
        q = q[[0, 1, 2, 4, 5, 6, 3, *range(7, LEGS.nq)]] if wxyz else q
        inverse = np.linalg.inv(base_map(q, frame, angular_first))
        own, h = inverse @ v, 1e-4
        size = max(1.0, float(abs(own).max()))
        back2, back, on, on2 = (
            base_map(pin.integrate(LEGS, q, k * h / size * own), frame, angular_first) for k in (-2, -1, 1, 2)
        )
        rate = (8 * (on - back) - (on2 - back2)) / (12 * h) * size
        return inverse.T @ true(q, own, inverse @ (a - rate @ own))

    return torque


def about_origin(body: pin.Inertia) -> Array:
    tensor: Array = body.inertia + body.mass * pin.skew(body.lever).T @ pin.skew(body.lever)
    return tensor


def other_products(body: pin.Inertia) -> Array:
    return np.asarray(2 * np.diag(np.diag(body.inertia)) - body.inertia)


SKEWED = PUMA.copy()
"""With products of inertia, and with more inertia about each centre of mass than Steiner's term."""
for index in range(1, 7):
    heavy = SKEWED.inertias[index]
    turned = pin.exp3(0.3 * np.array([1.0, 2.0, -1.0])) @ np.diag([0.5, 0.7, 0.9])
    tensor = about_origin(heavy) + turned @ pin.exp3(0.3 * np.array([1.0, 2.0, -1.0])).T
    SKEWED.inertias[index] = pin.Inertia(heavy.mass, heavy.lever, (tensor + tensor.T) / 2)


def of_skewed(change: Callable[[pin.Inertia], Array], *bodies: int) -> Torque:
    other = SKEWED.copy()
    for k in bodies or range(1, 7):
        body = other.inertias[k]
        other.inertias[k] = pin.Inertia(body.mass, body.lever, change(body))
    return rnea(other)


def without_steiner(body: pin.Inertia) -> Array:
    return np.asarray(2 * body.inertia - about_origin(body))


ABSOLUTE = np.eye(5)
ABSOLUTE[2] = [0, -1, 1, 0, 0]
ABSOLUTE[4] = [0, -1, 1, 0, 1]
"""The axis of the third joint is opposite to that of the second one; a slide turns nothing."""
RELATIVE = np.linalg.inv(ABSOLUTE)
HALF_TURNS = np.pi / 2 * np.array([0, 1, -1, 2, 0, 1])
"""That of the last joint, about which its body is symmetric, is seen in no torque."""
ZEROS = np.array([0, 0.3, -np.pi / 2, 0, 0])


class Case(NamedTuple):
    system: Torque
    model: pin.Model
    sentence: str


_MUJOCO = "linear in the axes of the universe and angular in those of the body, as in MuJoCo"
_MIXED = "in the axes of the universe, as in adam and iDynTree (mixed)"
_BASE = "v, a and tau of joint 'FreeFlyer_0' are"
CASES = {
    "order": Case(
        reordered(TRUE, [2, 0, 1, 3, 5, 4]), PUMA,
        "q, v, a and tau have the joints in another order: 'joint3' in the place of 'joint1', 'joint1' in the place of "
        "'joint2', 'joint2' in the place of 'joint3', 'joint6' in the place of 'joint5', 'joint5' in the place of "
        "'joint6'",
    ),
    "order of legs": Case(
        reordered(TRUE_LEGS, [3, 4, 5, 0, 1, 2], 6), LEGS,
        "q, v, a and tau have the joints in another order: 'RX_4' in the place of 'RX_1'",
    ),
    "order of equal legs": Case(
        reordered(rnea(EQUAL_LEGS), [3, 4, 5, 0, 1, 2], 6), EQUAL_LEGS,
        "q, v, a and tau have the joints in another order: 'RX_4' in the place of 'RX_1'",
    ),
    "MuJoCo": Case(in_frame(TRUE_LEGS, "hybrid"), LEGS, f"{_BASE} {_MUJOCO}"),
    "MuJoCo with its quaternion": Case(
        in_frame(TRUE_LEGS, "hybrid", wxyz=True), LEGS, f"{_BASE} {_MUJOCO}, and its quaternion is (w, x, y, z)"
    ),
    "MuJoCo in another order": Case(
        reordered(in_frame(TRUE_LEGS, "hybrid", wxyz=True), [3, 4, 5, 0, 1, 2], 6), LEGS,
        "q, v, a and tau have the joints in another order: 'RX_4' in the place of 'RX_1', 'RY_5' in the place of "
        "'RY_2', 'PZ_6' in the place of 'PZ_3', 'RX_1' in the place of 'RX_4', 'RY_2' in the place of 'RY_5', 'PZ_3' "
        f"in the place of 'PZ_6'; {_BASE} {_MUJOCO}, and its quaternion is (w, x, y, z)",
    ),
    "mixed": Case(in_frame(TRUE_LEGS, "mixed"), LEGS, f"{_BASE} {_MIXED}"),
    "spatial": Case(
        in_frame(TRUE_LEGS, "spatial"), LEGS,
        f"{_BASE} at the origin of the universe and in its axes (pin.WORLD, inertial-fixed)",
    ),
    "angular first": Case(
        in_frame(TRUE_LEGS, "body", angular_first=True), LEGS,
        f"{_BASE} in the axes of the body, with the angular part first, as in RBDL",
    ),
    "mixed, angular first": Case(
        in_frame(TRUE_LEGS, "mixed", angular_first=True), LEGS,
        f"{_BASE} {_MIXED}, with the angular part first, as in RBDL",
    ),
    "absolute angles": Case(
        lambda q, v, a: RELATIVE.T @ TRUE_BOOMS(RELATIVE @ q, RELATIVE @ v, RELATIVE @ a), BOOMS,
        "the angles of joint 'RY_2', 'RY_4' are absolute, not relative to the parent, and tau belongs to them",
    ),
    "absolute angles, torques at joints": Case(
        lambda q, v, a: TRUE_BOOMS(RELATIVE @ q, RELATIVE @ v, RELATIVE @ a), BOOMS,
        "the angles of joint 'RY_2', 'RY_4' are absolute, not relative to the parent, though tau acts at the joints",
    ),
    "zeros": Case(
        lambda q, v, a: TRUE(q + HALF_TURNS, v, a), PUMA,
        "q is zero in another configuration: to become Pinocchio's it needs an offset at joint 'joint2' (+1.5708 rad), "
        "'joint3' (-1.5708 rad), 'joint4' (+3.14159 rad)",
    ),
    "a zero": Case(
        lambda q, v, a: TRUE(q + 0.1 * np.eye(6)[2], v, a), PUMA,
        "q is zero in another configuration: to become Pinocchio's it needs an offset at joint 'joint3' (+0.1 rad)",
    ),
    "zeros of joints that were not added depth first": Case(  # where pin.crba is wrong
        lambda q, v, a: TRUE_BRANCHES(q + np.array([0.2, 0, 0.5, 0]), v, a), BRANCHES,
        "q is zero in another configuration: to become Pinocchio's it needs an offset at joint 'RX_0' (+0.2 rad), "
        "'RZ_2' (+0.5 rad)",
    ),
    "zeros of continuous joints": Case(
        lambda q, v, a: rnea(TURNS)(pin.integrate(TURNS, q, np.array([0.5, np.pi / 2, 0])), v, a), TURNS,
        "q is zero in another configuration: to become Pinocchio's it needs an offset at joint 'RUBX_0' (+0.5 rad), "
        "'RUBY_1' (+1.5708 rad)",
    ),
    "zero of a slide": Case(
        lambda q, v, a: TRUE_BOOMS(q + 0.2 * np.eye(5)[3], v, a), BOOMS,
        "q is zero in another configuration: to become Pinocchio's it needs an offset at joint 'PX_3' (+0.2 m)",
    ),
    "zeros of absolute angles": Case(
        lambda q, v, a: RELATIVE.T @ TRUE_BOOMS(RELATIVE @ q + ZEROS, RELATIVE @ v, RELATIVE @ a), BOOMS,
        "q is zero in another configuration: to become Pinocchio's it needs an offset at joint 'RY_1' (+0.3 rad), "
        "'RY_2' (-1.5708 rad); the angles of joint 'RY_2', 'RY_4' are absolute",
    ),
    "direction": Case(
        lambda q, v, a: TRUE(q * [1, 1, -1, 1, 1, 1], v * [1, 1, -1, 1, 1, 1], a * [1, 1, -1, 1, 1, 1])
        * [1, 1, -1, 1, 1, 1],
        PUMA, "the positive direction of joint 'joint3' is reversed in q, v, a and tau",
    ),
    "Steiner missing": Case(
        of_skewed(without_steiner), SKEWED,
        "the inertia of every body is taken about the origin of the joint, not about the centre of mass",
    ),
    "Steiner twice": Case(
        of_skewed(about_origin), SKEWED,
        "the inertia of every body about the origin of the joint is taken for that about the centre of mass",
    ),
    "Steiner twice in one body": Case(
        of_skewed(about_origin, 3), SKEWED,
        "the inertia of the body at joint 'joint3' about the origin of the joint is taken for that about the centre",
    ),
    "products": Case(
        of_skewed(other_products), SKEWED, "the products of inertia of every body have the opposite sign"
    ),
    "products of some": Case(
        of_skewed(other_products, 3, 5), SKEWED,
        "the products of inertia of the bodies at joint 'joint3', 'joint5' have the opposite sign",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_conventions_are_named(name: str) -> None:
    system, model, sentence = CASES[name]
    report = validate(system, model, samples=30)
    assert not report.ok
    assert len(report.diagnosis) == 1
    assert report.diagnosis[0].startswith(sentence)


CARTS = build(np.random.default_rng(6), ["Planar", "RZ", "Spherical"], [0, 1, 2])
"""A planar base on a turned floor, and a spherical joint."""
CARTS.jointPlacements[1] = pin.SE3(pin.exp3(np.array([0, 0, 0.4])), np.array([0.1, 0.2, 0.3]))
TRUE_CARTS = rnea(CARTS)


def planar_in_world(q: Array, v: Array, a: Array) -> Array:
    """As (ẋ, ẏ, θ̇) of robots on wheels are: in the axes of the universe."""
    turned, x = CARTS.jointPlacements[1].rotation, np.eye(CARTS.nv)
    x[:2, :2] = (turned @ np.array([[q[2], -q[3], 0], [q[3], q[2], 0], [0, 0, 1]]))[:2, :2]
    own = x.T @ v
    bias = np.concatenate([own[2] * np.array([-own[1], own[0]]), np.zeros(CARTS.nv - 2)])
    return x @ TRUE_CARTS(q, own, x.T @ a - bias)


def sphere_in_parent(q: Array, v: Array, a: Array) -> Array:
    """ω in the axes of the joint frame, whose rate is that in those of the body, turned."""
    x = np.eye(CARTS.nv)
    x[4:, 4:] = pin.Quaternion(q[8], q[5], q[6], q[7]).toRotationMatrix()
    return x @ TRUE_CARTS(q, x.T @ v, x.T @ a)


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (planar_in_world, "v, a and tau of joint 'Planar_0' are in the axes of the universe"),
        (sphere_in_parent, "v, a and tau of joint 'Spherical_2' are in the axes of the joint frame"),
    ],
    ids=["planar", "spherical"],
)
def test_joints_that_turn_their_axes(system: Torque, sentence: str) -> None:
    report = validate(system, CARTS, samples=30)
    assert not report.ok
    assert report.diagnosis == (sentence,)


OFF_DIAGONAL = np.zeros((6, 6))
OFF_DIAGONAL[1, 2] = OFF_DIAGONAL[2, 1] = 1e-3


@pytest.mark.parametrize(
    ("system", "model"),
    [
        (lambda q, v, a: reordered(TRUE, [2, 0, 1, 3, 4, 5])(q, v, a) + OFF_DIAGONAL @ a, PUMA),
        (lambda q, v, a: in_frame(TRUE_LEGS, "hybrid")(q, v, a) * (1 + 1e-6), LEGS),
        (lambda q, v, a: RELATIVE.T @ TRUE_BOOMS(RELATIVE @ q, RELATIVE @ v, ABSOLUTE @ a), BOOMS),
        (lambda q, v, a: TRUE(q + HALF_TURNS, v, a) + 1e-4 * v * abs(v), PUMA),
        (of_skewed(lambda body: body.inertia + 0.5 * (about_origin(body) - body.inertia)), SKEWED),
        (of_skewed(lambda body: body.inertia + 0.1 * np.diag(np.diag(body.inertia)), 2, 4), SKEWED),
    ],
    ids=["order", "MuJoCo", "absolute angles", "zeros", "half of Steiner", "moments"],
)
def test_a_bug_beside_a_convention_is_no_convention(system: Torque, model: pin.Model) -> None:
    report = validate(system, model, samples=30)
    assert not report.ok
    words = "another order", "are in the axes", "linear in the axes", "absolute", "zero in another", "inertia of"
    assert not [text for text in report.diagnosis if any(word in text for word in words)]


def test_a_function_is_diagnosed_as_a_callable_is() -> None:
    q, v, a = (ca.SX.sym(x, 6) for x in "qva")
    tau = gd.NewtonEuler(PUMA).inverse_dynamics(q + HALF_TURNS, v, a)
    report = validate(ca.Function("mine", [q, v, a], [tau], ["q", "v", "a"], ["tau"]), PUMA, samples=30)
    assert report.diagnosis == (CASES["zeros"].sentence,)


PLACES, JOINTS = [2, 0, 1], [1, 2, 0]


class Reordered(Broken):
    """Right, with three joints in another order."""

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return super().inverse_dynamics_expression(q[JOINTS], v[JOINTS], a[JOINTS])[PLACES]

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return super().mass_matrix_expression(q[JOINTS])[PLACES, PLACES]

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return super().coriolis_matrix_expression(q[JOINTS], v[JOINTS])[PLACES, PLACES]

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return super().forward_dynamics_expression(q[JOINTS], v[JOINTS], tau[JOINTS])[PLACES]


def test_one_sentence_about_all_functions_of_a_formulation() -> None:
    model = gd.load_urdf("puma560_3")
    model.armature = np.zeros(3)
    report = validate(Reordered(model), model, samples=30)
    assert report.diagnosis == (
        "q, v, a and tau have the joints in another order: 'joint3' in the place of 'joint1', 'joint1' in the place of "
        "'joint2', 'joint2' in the place of 'joint3' (in inverse_dynamics, mass_matrix, nle, coriolis_matrix)",
    )


class Root(Force):
    """No number where the second joint is below zero."""

    name = "root"

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.vertcat(0, ca.sqrt(q[1]))

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.sqrt(q[1]) * v[1]


def test_a_reference_that_is_no_number_is_told() -> None:
    model = gd.load_urdf("two_link_arm")
    report = validate(gd.NewtonEuler(model, forces=[Root()]), model, samples=20)
    assert not report.ok
    assert report.diagnosis == (
        "the reference itself is not finite, so that nothing can be compared there: tau at rest is not finite at joint "
        "'joint2', in some states, by the force elements that are added to it",
    )

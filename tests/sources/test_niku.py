"""Lectures on S. B. Niku, Introduction to Robotics, ch. 4: the examples, and the trace form of Lagrange–Euler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.dh_chains import (
    FORMULATIONS,
    Array,
    Chain,
    Rng,
    check,
    check_erratum,
    evaluate,
    random_chain,
    random_rotary_and_prismatic,
    random_state,
    value,
)
from tests.helpers.sets import quick

G = 9.81

each_formulation = pytest.mark.parametrize("name", quick(FORMULATIONS, "lagrange_euler", "generalized_dalembert"))


def dynamics(name: str, model: pin.Model, **options: object) -> gd.Dynamics:
    return gd.formulations()[name](model, clean=0, **options)


# Example 4.1


@each_formulation
def test_cart_and_spring(name: str) -> None:
    """Example 4.1: F = m ẍ + k x."""
    rng = np.random.default_rng(1)
    m, k, rest = rng.uniform(0.5, 5, 3)
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(joint, pin.Inertia(m, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    x, v, a = rng.uniform(-2, 2, 3)
    dyn = dynamics(name, model, springs={"slide": (k, 0)})
    check(value(dyn.inverse_dynamics, x, v, a), [[m * a + k * x]])
    check_erratum([[0.5 * m * a]], [[0.5 * m * v**2]], value(dyn.kinetic_energy, x, v))
    check(value(dyn.potential_energy, x), [[0.5 * k * x**2]])
    stretched = dynamics(name, model, springs={"slide": (k, rest)})
    check(value(stretched.inverse_dynamics, x, v, a), [[m * a + k * (x - rest)]])


# Example 4.9


def test_a_wrench_in_another_frame() -> None:
    """Example 4.9, which the slides break off at f × p + m = (80, 0, −10): B's axes are z, x and y."""
    force, moment = np.array([0.0, 10.0, 0.0]), np.array([0.0, 0.0, 20.0])
    n, o, a, p = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [3, 5, 8]], dtype=float)
    at_p = np.cross(force, p) + moment
    check(at_p, [80, 0, -10])
    frame = pin.SE3(np.column_stack([n, o, a]), p)
    found = gd.transform_wrench([*force, *moment], frame)
    check(found, [0, 0, 10, -10, 80, 0])
    check(found, [axis @ each for each in (force, at_p) for axis in (n, o, a)])


# Example 4.2


@dataclass(frozen=True)
class CartPendulum:
    m1: float
    m2: float
    ell: float
    k: float

    @staticmethod
    def random(rng: Rng) -> CartPendulum:
        return CartPendulum(*rng.uniform(0.3, 3, 4))

    def model(self) -> pin.Model:
        """Cart along x, z up, θ from straight down towards +x."""
        model = pin.Model()
        slide = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
        model.appendBodyToJoint(slide, point(self.m1, np.zeros(3)), pin.SE3.Identity())
        axis = pin.JointModelRevoluteUnaligned(0, -1, 0)
        swing = model.addJoint(slide, axis, pin.SE3.Identity(), "swing")
        model.appendBodyToJoint(swing, point(self.m2, np.array([0, 0, -self.ell])), pin.SE3.Identity())
        return model

    def mass(self, q: Array) -> Array:
        coupling = self.m2 * self.ell * np.cos(q[1])
        return np.array([[self.m1 + self.m2, coupling], [coupling, self.m2 * self.ell**2]])

    def velocity_matrix(self, q: Array) -> Array:
        """What multiplies (ẋ², θ̇²)."""
        return np.array([[0, -self.m2 * self.ell * np.sin(q[1])], [0, 0]])

    def gravity(self, q: Array) -> Array:
        return np.array([0, self.m2 * G * self.ell * np.sin(q[1])])

    def statics(self, q: Array) -> Array:
        """Spring and gravity."""
        return self.gravity(q) + np.array([self.k * q[0], 0])

    def tau(self, q: Array, v: Array, a: Array) -> Array:
        return self.mass(q) @ a + self.velocity_matrix(q) @ v**2 + self.statics(q)

    def kinetic(self, q: Array, v: Array) -> float:
        m1, m2, ell = self.m1, self.m2, self.ell
        return 0.5 * (m1 + m2) * v[0] ** 2 + 0.5 * m2 * (ell**2 * v[1] ** 2 + 2 * ell * v[0] * v[1] * np.cos(q[1]))

    def potential(self, q: Array) -> float:
        return 0.5 * self.k * q[0] ** 2 + self.m2 * G * self.ell * (1 - np.cos(q[1]))


def point(mass: float, at: Array) -> pin.Inertia:
    return pin.Inertia(mass, at, np.zeros((3, 3)))


def check_cart_pendulum(name: str, given: CartPendulum, model: pin.Model, rng: Rng) -> None:
    rest = 0.3
    dyn, stretched = (dynamics(name, model, springs={"slide": (given.k, length)}) for length in (0, rest))
    height = given.m2 * G * given.ell  # the example's P is 0 at the bottom, ours with the bob at the cart
    for _ in range(5):
        q, v, a = random_state(rng, 2)
        check(value(dyn.inverse_dynamics, q, v, a), given.tau(q, v, a))
        check(value(dyn.mass_matrix, q), given.mass(q))
        check(value(dyn.coriolis_matrix, q, v) @ v, given.velocity_matrix(q) @ v**2)
        check(value(dyn.nle, q, v), given.velocity_matrix(q) @ v**2 + given.statics(q))
        check(value(dyn.generalized_gravity, q), given.gravity(q))
        check(value(dyn.forward_dynamics, q, v, given.tau(q, v, a)), a)
        check(value(dyn.kinetic_energy, q, v), [[given.kinetic(q, v)]])
        check(value(dyn.potential_energy, q) + height, [[given.potential(q)]])
        check(value(stretched.inverse_dynamics, q, v, a), given.tau(q, v, a) - np.array([given.k * rest, 0]))


@each_formulation
def test_cart_and_pendulum(name: str) -> None:
    """Example 4.2 with random numbers."""
    rng = np.random.default_rng(2)
    for _ in range(3):
        given = CartPendulum.random(rng)
        check_cart_pendulum(name, given, given.model(), rng)


@each_formulation
def test_shipped_cart_and_pendulum(name: str) -> None:
    given = CartPendulum(m1=2, m2=0.5, ell=0.6, k=50)
    check_cart_pendulum(name, given, gd.load_urdf("cart_pendulum"), np.random.default_rng(3))


def test_pendulum_terms_that_cancel() -> None:
    """d/dt ∂L/∂θ̇ and ∂L/∂θ both have −m2 l ẋ θ̇ sin θ: no velocities are left in T."""
    given = CartPendulum.random(np.random.default_rng(4))
    h = evaluate(dynamics("lagrange_euler", given.model()).terms, [0.3, 0.7])
    check(h["h_1"], [[0, 0], [0, given.velocity_matrix([0.3, 0.7])[0, 1]]])
    check(h["h_2"], np.zeros((2, 2)))


CART_ERRATA: dict[str, Callable[[CartPendulum, Array, Array, Array], Array]] = {
    "first display: +m2 l sin θ on accelerations": lambda x, q, v, a: (
        x.mass(q) @ a - x.velocity_matrix(q) @ a + x.statics(q)
    ),
    "first display: accelerations for velocities": lambda x, q, v, a: (
        x.mass(q) @ a + x.velocity_matrix(q) @ a + x.statics(q)
    ),
    "F: −m2 l θ̇ sin θ; last display: (ẋ, θ̇)": lambda x, q, v, a: (
        x.mass(q) @ a + x.velocity_matrix(q) @ v + x.statics(q)
    ),
    "T: m2 l ẋ θ̈ cos θ": lambda x, q, v, a: (
        x.tau(q, v, a) + x.m2 * x.ell * np.cos(q[1]) * np.array([0, v[0] * a[1] - a[0]])
    ),
}


@pytest.mark.parametrize("erratum", CART_ERRATA)
def test_errata_of_cart_and_pendulum(erratum: str) -> None:
    rng = np.random.default_rng(5)
    given = CartPendulum.random(rng)
    q, v, a = random_state(rng, 2)
    reference = value(
        dynamics("lagrange_euler", given.model(), springs={"slide": (given.k, 0)}).inverse_dynamics, q, v, a
    ).ravel()
    check_erratum(CART_ERRATA[erratum](given, q, v, a), given.tau(q, v, a), reference)


def test_momenta_of_cart_and_pendulum() -> None:
    """∂L/∂ẋ and ∂L/∂θ̇ have velocities in them, not accelerations."""
    rng = np.random.default_rng(6)
    given = CartPendulum.random(rng)
    q, v, a = random_state(rng, 2)
    momenta = value(dynamics("lagrange_euler", given.model()).mass_matrix, q) @ v
    m1, m2, ell, cosine = given.m1, given.m2, given.ell, np.cos(q[1])
    corrected = [(m1 + m2) * v[0] + m2 * ell * v[1] * cosine, m2 * ell**2 * v[1] + m2 * ell * v[0] * cosine]
    check_erratum((m1 + m2) * a[0] + m2 * ell * v[1] * cosine, corrected[0], momenta[0])
    check_erratum(m2 * ell**2 * a[1] + m2 * ell * v[0] * a[1] * cosine, corrected[1], momenta[1])


# Examples 4.4 and 4.7


@dataclass(frozen=True)
class TwoRods:
    """Two uniform thin rods; gravity along −y."""

    m1: float
    m2: float
    l1: float
    l2: float
    motors: tuple[float, float] = (0.0, 0.0)

    @staticmethod
    def random(rng: Rng, **given: object) -> TwoRods:
        m1, m2, l1, l2 = rng.uniform(0.3, 3, 4)
        return replace(TwoRods(m1, m2, l1, l2), **given)

    def chain(self) -> Chain:
        """In the x–y plane, frames at the ends of the rods."""
        m, ell = np.array([self.m1, self.m2]), np.array([self.l1, self.l2])
        across = m * ell**2 / 12
        return Chain(
            rotary=(True, True),
            theta=np.zeros(2),
            d=np.zeros(2),
            a=ell,
            alpha=np.zeros(2),
            mass=m,
            com=np.column_stack([-ell / 2, np.zeros(2), np.zeros(2)]),
            inertia=np.array([np.diag([0, i, i]) for i in across]),
            armature=np.array(self.motors),
            gravity=np.array([0, -G, 0]),
        )

    def mass(self, q: Array) -> Array:
        """Of the links."""
        m1, m2, l1, l2, c2 = self.m1, self.m2, self.l1, self.l2, np.cos(q[1])
        d11 = m1 * l1**2 / 3 + m2 * l1**2 + m2 * l2**2 / 3 + m2 * l1 * l2 * c2
        d12 = m2 * l2**2 / 3 + m2 * l1 * l2 * c2 / 2
        return np.array([[d11, d12], [d12, m2 * l2**2 / 3]])

    def products(self, q: Array, v: Array) -> Array:
        x = self.m2 * self.l1 * self.l2 * np.sin(q[1])
        return np.array([-x * v[0] * v[1] - x / 2 * v[1] ** 2, x / 2 * v[0] ** 2])

    def gravity(self, q: Array) -> Array:
        second = self.m2 * G * self.l2 * np.cos(q[0] + q[1]) / 2
        return np.array([(self.m1 / 2 + self.m2) * G * self.l1 * np.cos(q[0]) + second, second])

    def torques(self, q: Array, accelerations: Array, products: Array) -> Array:
        """Without the motors; for the errata, with other things in the place of accelerations and products."""
        return self.mass(q) @ accelerations + products + self.gravity(q)

    def tau(self, q: Array, v: Array, a: Array) -> Array:
        return self.torques(q, a, self.products(q, v)) + np.array(self.motors) * a

    def kinetic(self, q: Array, v: Array) -> float:
        m1, m2, l1, l2, c2 = self.m1, self.m2, self.l1, self.l2, np.cos(q[1])
        about_a, about_d = m1 * l1**2 / 3, m2 * l2**2 / 12
        v_d = (
            v[0] ** 2 * (l1**2 + l2**2 / 4 + l1 * l2 * c2)
            + l2**2 * v[1] ** 2 / 4
            + v[0] * v[1] * (l2**2 / 2 + l1 * l2 * c2)
        )
        return 0.5 * about_a * v[0] ** 2 + 0.5 * about_d * (v[0] + v[1]) ** 2 + 0.5 * m2 * v_d

    def potential(self, q: Array) -> float:
        s1, s12 = np.sin(q[0]), np.sin(q[0] + q[1])
        return 0.5 * self.m1 * G * self.l1 * s1 + self.m2 * G * (self.l1 * s1 + 0.5 * self.l2 * s12)

    def effective_inertias(self, q: Array) -> tuple[Array, Array]:
        """D_1jk and D_2jk of section 4.3."""
        x = 0.5 * self.m2 * self.l1 * self.l2 * np.sin(q[1])
        return np.array([[0, -x], [-x, -x]]), np.array([[x, 0], [0, 0]])


def check_two_rods(name: str, given: TwoRods, model: pin.Model, rng: Rng) -> None:
    dyn = dynamics(name, model)
    motors = np.diag(given.motors)
    for _ in range(5):
        q, v, a = random_state(rng, 2)
        check(value(dyn.inverse_dynamics, q, v, a), given.tau(q, v, a))
        check(value(dyn.mass_matrix, q), given.mass(q) + motors)
        check(value(dyn.nle, q, v), given.products(q, v) + given.gravity(q))
        check(value(dyn.generalized_gravity, q), given.gravity(q))
        check(value(dyn.kinetic_energy, q, v), [[given.kinetic(q, v) + 0.5 * v @ motors @ v]])
        check(value(dyn.potential_energy, q), [[given.potential(q)]])


def check_effective_inertias(given: TwoRods, model: pin.Model, rng: Rng) -> None:
    q, _, _ = random_state(rng, 2)
    terms = evaluate(dynamics("lagrange_euler", model).terms, q)
    check(terms["D"], given.mass(q))
    check(terms["h_1"], given.effective_inertias(q)[0])
    check(terms["h_2"], given.effective_inertias(q)[1])
    check(terms["c"], given.gravity(q))
    check(terms["I_act"], given.motors)


@each_formulation
def test_two_link_arm(name: str) -> None:
    """Examples 4.4 and 4.7 (motors; any two lengths) with random numbers."""
    rng = np.random.default_rng(7)
    for motors in ((0.0, 0.0), (0.4, 0.1), (1.5, 0.7)):
        given = TwoRods.random(rng, motors=motors)
        check_two_rods(name, given, given.chain().model(), rng)


@each_formulation
def test_shipped_two_link_arm(name: str) -> None:
    """Example 4.4, then with motors; the robot stands in the x–z plane."""
    rng = np.random.default_rng(8)
    given = TwoRods(m1=3, m2=1.5, l1=0.5, l2=0.4)
    model = gd.load_urdf("two_link_arm")
    check_two_rods(name, given, model, rng)
    model.armature = np.array([0.3, 0.2])
    check_two_rods(name, replace(given, motors=(0.3, 0.2)), model, rng)


def test_effective_inertias() -> None:
    """Section 4.3: D_ij, D_ijk and D_i are Lagrange–Euler's D, h_ikm and c."""
    rng = np.random.default_rng(9)
    given = TwoRods.random(rng, motors=(0.4, 0.1))
    check_effective_inertias(given, given.chain().model(), rng)
    check_effective_inertias(TwoRods(m1=3, m2=1.5, l1=0.5, l2=0.4), gd.load_urdf("two_link_arm"), rng)


def equal_lengths(x: TwoRods, q: Array, v: Array, a: Array) -> Array:
    """Example 4.7, corrected."""
    m1, m2, ell, (c1, c2), c12, s2 = x.m1, x.m2, x.l1, np.cos(q), np.cos(q[0] + q[1]), np.sin(q[1])
    return np.array(
        [
            (m1 / 3 + 4 / 3 * m2 + m2 * c2) * ell**2 * a[0]
            + (1 / 3 + c2 / 2) * m2 * ell**2 * a[1]
            - 0.5 * m2 * ell**2 * s2 * v[1] ** 2
            - m2 * ell**2 * s2 * v[0] * v[1]
            + 0.5 * m1 * G * ell * c1
            + 0.5 * m2 * G * ell * c12
            + m2 * G * ell * c1
            + x.motors[0] * a[0],
            (1 / 3 + c2 / 2) * m2 * ell**2 * a[0]
            + m2 * ell**2 / 3 * a[1]
            + 0.5 * m2 * ell**2 * s2 * v[0] ** 2
            + 0.5 * m2 * G * ell * c12
            + x.motors[1] * a[1],
        ]
    )


def product(x: TwoRods, q: Array) -> float:
    """m2 l1 l2 S2."""
    return x.m2 * x.l1 * x.l2 * np.sin(q[1])


RODS_ERRATA: dict[str, tuple[tuple[int, ...], Callable[[TwoRods, Array, Array, Array], Array]]] = {
    "4.4: θ̇ on inertias": ((0, 1), lambda x, q, v, a: x.torques(q, v, x.products(q, v))),
    "4.3, 4.7, T1: θ̇² on inertias": ((0,), lambda x, q, v, a: x.torques(q, v**2, x.products(q, v))),
    "4.3, T2: θ̇² on inertias": ((1,), lambda x, q, v, a: x.torques(q, v**2, x.products(q, v))),
    "4.3, T1: θ̇_2 for θ̇_2²": (
        (0,),
        lambda x, q, v, a: x.torques(q, a, product(x, q) * np.array([-v[0] * v[1] - v[1] / 2, 0])),
    ),
    "4.3, T2: θ̇_1 θ̇_2 for θ̇_1²": (
        (1,),
        lambda x, q, v, a: x.torques(q, a, product(x, q) * np.array([0, v[0] * v[1] / 2])),
    ),
    "4.7, T1: +½ θ̇_1 θ̇_2 + θ̇_1 θ̇_2": (
        (0,),
        lambda x, q, v, a: x.torques(q, a, product(x, q) * np.array([v[0] * v[1] / 2 + v[0] * v[1], 0])),
    ),
    "4.7, T2: θ̇_2², θ̇_1² on inertias": ((1,), lambda x, q, v, a: x.torques(q, v[::-1] ** 2, x.products(q, v))),
    "4.7, T2: (½ m2 l² S2)²": (
        (1,),
        lambda x, q, v, a: x.torques(q, a, np.array([0, (product(x, q) / 2) ** 2])),
    ),
    "4.7: θ̇² on I_act": (
        (0, 1),
        lambda x, q, v, a: x.tau(q, v, a) + np.array(x.motors) * (v**2 - a),
    ),
    "4.7 without the motors": ((0, 1), lambda x, q, v, a: equal_lengths(replace(x, motors=(0, 0)), q, v, a)),
}


@pytest.mark.parametrize("erratum", RODS_ERRATA)
def test_errata_of_the_two_link_arm(erratum: str) -> None:
    rng = np.random.default_rng(10)
    motors = (0.4, 0.3) if "I_act" in erratum or "motors" in erratum else (0.0, 0.0)
    given = TwoRods.random(rng, l1=0.8, l2=0.8, motors=motors)
    q, v, a = random_state(rng, 2)
    reference = value(dynamics("lagrange_euler", given.chain().model()).inverse_dynamics, q, v, a).ravel()
    rows, printed = RODS_ERRATA[erratum]
    for row in rows:
        check_erratum(printed(given, q, v, a)[row], given.tau(q, v, a)[row], reference[row])
        check(equal_lengths(given, q, v, a)[row], reference[row])


# Section 4.4: the trace form.

Q_ROTARY = np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
Q_PRISMATIC = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


@dataclass(frozen=True)
class TraceForm:
    """The 4 × 4 matrices, all indices 1-based."""

    chain: Chain
    q: Array

    @property
    def n(self) -> int:
        return self.chain.n

    def a(self, i: int, j: int) -> Array:
        """^iA_j, i ≤ j."""
        return np.linalg.multi_dot([np.eye(4), np.eye(4), *self.chain.matrices(self.q)[i:j]])

    def big_q(self, j: int) -> Array:
        return Q_ROTARY if self.chain.rotary[j - 1] else Q_PRISMATIC

    def u(self, i: int, j: int) -> Array:
        """U_ij = ∂^0A_i/∂q_j."""
        return self.a(0, j - 1) @ self.big_q(j) @ self.a(j - 1, i) if j <= i else np.zeros((4, 4))

    def uu(self, i: int, j: int, k: int) -> Array:
        """U_ijk = ∂U_ij/∂q_k."""
        if i < j or i < k:
            return np.zeros((4, 4))
        j, k = min(j, k), max(j, k)
        return self.a(0, j - 1) @ self.big_q(j) @ self.a(j - 1, k - 1) @ self.big_q(k) @ self.a(k - 1, i)

    def pseudo_inertia(self, i: int) -> Array:
        """J_i about the origin of frame i, from the inertia about the centre of mass."""
        m, r = self.chain.mass[i - 1], self.chain.com[i - 1]
        about_origin = self.chain.inertia[i - 1] + m * (r @ r * np.eye(3) - np.outer(r, r))
        sigma = 0.5 * np.trace(about_origin) * np.eye(3) - about_origin
        return np.block([[sigma, m * r[:, None]], [m * r[None, :], np.array([[m]])]])

    def r(self, j: int) -> Array:
        """^jr̄_j."""
        return np.append(self.chain.com[j - 1], 1)

    @property
    def g(self) -> Array:
        return np.append(self.chain.gravity, 0)

    def trace(self, x: Array, j: int, y: Array) -> float:
        """Tr(X J_j Yᵀ)."""
        return np.trace(x @ self.pseudo_inertia(j) @ y.T)

    @property
    def joints(self) -> range:
        return range(1, self.n + 1)

    def d(self) -> Array:
        """D_ik."""
        return np.array(
            [
                [
                    sum(self.trace(self.u(j, k), j, self.u(j, i)) for j in range(max(i, k), self.n + 1))
                    for k in self.joints
                ]
                for i in self.joints
            ]
        )

    def h(self) -> Array:
        """h_ikm."""
        return np.array(
            [
                [
                    [
                        sum(self.trace(self.uu(j, k, m), j, self.u(j, i)) for j in range(max(i, k, m), self.n + 1))
                        for m in self.joints
                    ]
                    for k in self.joints
                ]
                for i in self.joints
            ]
        )

    def c(self) -> Array:
        """c_i."""
        return np.array(
            [
                -sum(self.chain.mass[j - 1] * self.g @ self.u(j, i) @ self.r(j) for j in range(i, self.n + 1))
                for i in self.joints
            ]
        )

    def tau(self, v: Array, a: Array) -> Array:
        return self.d() @ a + self.chain.armature * a + self.h() @ v @ v + self.c()

    def kinetic(self, v: Array) -> float:
        links = sum(
            self.trace(self.u(i, p), i, self.u(i, r)) * v[p - 1] * v[r - 1]
            for i in self.joints
            for p in range(1, i + 1)
            for r in range(1, i + 1)
        )
        return 0.5 * links + 0.5 * self.chain.armature @ v**2

    def potential(self) -> float:
        return -sum(self.chain.mass[i - 1] * self.g @ self.a(0, i) @ self.r(i) for i in self.joints)

    def products(self, v: Array) -> tuple[Array, Array]:
        """A_i = ΣΣΣ Tr(U_jkm J_j U_jiᵀ) v_k v_m and B_i = ΣΣΣ Tr(U_jk J_j U_jimᵀ) v_k v_m of the derivation."""
        first, second = np.zeros((2, self.n))
        for i in self.joints:
            for j in range(i, self.n + 1):
                for k in range(1, j + 1):
                    for m in range(1, j + 1):
                        rates = v[k - 1] * v[m - 1]
                        first[i - 1] += self.trace(self.uu(j, k, m), j, self.u(j, i)) * rates
                        second[i - 1] += self.trace(self.u(j, k), j, self.uu(j, i, m)) * rates
        return first, second


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_trace_form(n: int) -> None:
    rng = np.random.default_rng(20 + n)
    for _ in range(2):
        chain = random_rotary_and_prismatic(rng, n)
        dyn = dynamics("lagrange_euler", chain.model())
        q, v, a = random_state(rng, n)
        literal = TraceForm(chain, q)
        terms = evaluate(dyn.terms, q)
        check(terms["D"], literal.d())
        for i, h_i in enumerate(literal.h(), start=1):
            check(terms[f"h_{i}"], h_i, i)
        check(terms["c"], literal.c())
        check(terms["I_act"], chain.armature)
        check(value(dyn.inverse_dynamics, q, v, a), literal.tau(v, a))
        check(value(dyn.kinetic_energy, q, v), [[literal.kinetic(v)]])
        check(value(dyn.potential_energy, q), [[literal.potential()]])


@pytest.mark.long
def test_trace_form_of_six_joints() -> None:
    rng = np.random.default_rng(30)
    chain = random_rotary_and_prismatic(rng, 6)
    q, v, a = random_state(rng, 6)
    for name in FORMULATIONS:
        found = value(dynamics(name, chain.model()).inverse_dynamics, q, v, a)
        check(found, TraceForm(chain, q).tau(v, a), name)


def test_derivatives_of_placements() -> None:
    """U_ij and U_ijk are the derivatives of ^0A_i, 0 beyond link i; U_ijk = U_ikj; U_ijj = 0 of a prismatic joint."""
    rng = np.random.default_rng(31)
    chain = random_chain(rng, [True, False, True, False])
    q = rng.uniform(-2, 2, 4)
    form = TraceForm(chain, q)
    for i in form.joints:
        for j in form.joints:
            step = 1e-30j * np.eye(4)[j - 1]
            check(form.u(i, j), chain.placements(q + step)[i].imag / 1e-30)
            for k in form.joints:
                check(form.uu(i, k, j), TraceForm(chain, q + step).u(i, k).imag / 1e-30)
                assert np.array_equal(form.uu(i, j, k), form.uu(i, k, j))
            assert chain.rotary[j - 1] or not form.uu(i, j, j).any()


def test_pseudo_inertia_is_pinocchio_s() -> None:
    rng = np.random.default_rng(32)
    chain = random_rotary_and_prismatic(rng, 3)
    model = chain.model()
    for i in (1, 2, 3):
        in_frame = chain.tail(i).actInv(model.inertias[i])
        check(TraceForm(chain, np.zeros(3)).pseudo_inertia(i), in_frame.toPseudoInertia().toMatrix())


def test_derivation_of_the_trace_form() -> None:
    """d/dt ∂K/∂v_i = (D a)_i + I_i a_i + A_i + B_i and ∂K/∂q_i = B_i; in print, A_i stands for B_i in both."""
    rng = np.random.default_rng(33)
    chain = random_chain(rng, [True, False, True, True])
    kinetic = dynamics("lagrange_euler", chain.model()).kinetic_energy
    q, v, a = (ca.SX.sym(name, 4) for name in "qva")
    energy = kinetic(q, v)
    momentum = ca.gradient(energy, v)
    rate = ca.jacobian(momentum, q) @ v + ca.jacobian(momentum, v) @ a
    lagrange = ca.Function("lagrange", [q, v, a], [rate, ca.gradient(energy, q)], ["q", "v", "a"], ["rate", "slope"])
    state = random_state(rng, 4)
    found = evaluate(lagrange, *state)
    form = TraceForm(chain, state[0])
    first, second = form.products(state[1])
    linear = form.d() @ state[2] + chain.armature * state[2]
    check_erratum(linear + 2 * first, linear + first + second, found["rate"].ravel())
    check_erratum(first, second, found["slope"].ravel())


@dataclass(frozen=True)
class PutTogetherWrongly(Chain):
    """^{i−1}A_i = T_{z,θ} T_{z,d} T_{z,a} T_{x,α}, as above the two-link example."""

    def matrices(self, q: Array) -> list[Array]:
        moved = replace(Chain(**vars(self)), d=self.d + self.a, a=0 * self.a)
        return moved.matrices(q)


TRACE_ERRATA: dict[str, tuple[Callable[..., object], Callable[..., object], str]] = {
    "D_ijk = Σ Tr(U_pj J_p U_piᵀ)": (
        lambda x, v, a: np.array(
            [
                sum(
                    x.trace(x.u(p, j), p, x.u(p, i)) * v[j - 1] * v[k - 1]
                    for j in x.joints
                    for k in x.joints
                    for p in range(max(i, j, k), x.n + 1)
                )
                for i in x.joints
            ]
        ),
        lambda x, v, a: x.h() @ v @ v,
        "velocity",
    ),
    "q̈_j q̈_k in the D_ijk sum": (lambda x, v, a: x.h() @ a @ a, lambda x, v, a: x.h() @ v @ v, "velocity"),
    "K without velocities": (
        lambda x, v, a: x.kinetic(np.ones(x.n)),
        lambda x, v, a: x.kinetic(v),
        "kinetic",
    ),
    "K with accelerations": (lambda x, v, a: x.kinetic(a), lambda x, v, a: x.kinetic(v), "kinetic"),
    "−Σ m_j g U_jiᵀ r_j": (
        lambda x, v, a: np.array(
            [-sum(x.chain.mass[j - 1] * x.g @ x.u(j, i).T @ x.r(j) for j in range(i, x.n + 1)) for i in x.joints]
        ),
        lambda x, v, a: x.c(),
        "gravity",
    ),
    "T_{z,a} for T_{x,a}": (
        lambda x, v, a: TraceForm(PutTogetherWrongly(**vars(x.chain)), x.q).d(),
        lambda x, v, a: x.d(),
        "mass",
    ),
}


@pytest.mark.parametrize("erratum", TRACE_ERRATA)
def test_errata_of_the_trace_form(erratum: str) -> None:
    rng = np.random.default_rng(34)
    chain = random_chain(rng, [True, True, False, True])
    q, v, a = random_state(rng, 4)
    dyn = dynamics("lagrange_euler", chain.model())
    references = {
        "velocity": lambda: value(dyn.coriolis_matrix, q, v) @ v,
        "kinetic": lambda: value(dyn.kinetic_energy, q, v).item(),
        "gravity": lambda: value(dyn.generalized_gravity, q).ravel(),
        "mass": lambda: evaluate(dyn.terms, q)["D"],
    }
    printed, corrected, kind = TRACE_ERRATA[erratum]
    form = TraceForm(chain, q)
    check_erratum(printed(form, v, a), corrected(form, v, a), references[kind]())


# The two-link example in trace form: equal lengths.


def rows(*of_two: list[float]) -> Array:
    """4 × 4 with two rows given."""
    return np.vstack([of_two, np.zeros((2, 4))])


def test_two_links_in_trace_form() -> None:
    rng = np.random.default_rng(40)
    ell = 0.7
    given = TwoRods.random(rng, l1=ell, l2=ell)
    m1, m2 = given.m1, given.m2
    q, v, _ = random_state(rng, 2)
    (s1, s2), (c1, c2), s12, c12 = np.sin(q), np.cos(q), np.sin(q[0] + q[1]), np.cos(q[0] + q[1])
    form = TraceForm(given.chain(), q)

    for i, m in ((1, m1), (2, m2)):
        j = np.zeros((4, 4))
        j[0, 0], j[0, 3], j[3, 0], j[3, 3] = m * ell**2 / 3, -m * ell / 2, -m * ell / 2, m
        check(form.pseudo_inertia(i), j)
    u_11 = rows([-s1, -c1, 0, -ell * s1], [c1, -s1, 0, ell * c1])
    check_erratum(rows([-s1, -c1, 0, -ell * s1], [c1, -s1, 0, ell * s1]), u_11, form.u(1, 1))
    check(form.u(2, 1), rows([-s12, -c12, 0, -ell * (s12 + s1)], [c12, -s12, 0, ell * (c12 + c1)]))
    check(form.u(2, 2), rows([-s12, -c12, 0, -ell * s12], [c12, -s12, 0, ell * c12]))

    d_12 = m2 * ell**2 / 3 + m2 * ell**2 * c2 / 2
    d = np.array([[m1 * ell**2 / 3 + 4 / 3 * m2 * ell**2 + m2 * ell**2 * c2, d_12], [d_12, m2 * ell**2 / 3]])
    h = m2 * ell**2 * s2 * np.array([-(v[1] ** 2) / 2 - v[0] * v[1], v[0] ** 2 / 2])
    g1, g2, g12 = m1 * G * ell * c1 / 2, m2 * G * ell * c1, m2 * G * ell * c12 / 2
    terms = evaluate(dynamics("lagrange_euler", given.chain().model()).terms, q)
    check(terms["D"], d)
    check([v @ terms["h_1"] @ v, v @ terms["h_2"] @ v], h)
    check(terms["c"][1], [g12])
    check_erratum(g1 + g12 + g2 / 2, g1 + g12 + g2, terms["c"][0, 0])

"""Natural frequencies and linearisation of rigid robots."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.forces import Damping, Force
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from tests.helpers.models import build, relative_error, states


def test_a_rigid_robot_with_springs_has_natural_frequencies() -> None:
    """A cart (1 coordinate) and a pendulum on springs: eigenvalues of M⁻¹ K, and of the linearised equations."""
    model = gd.load_urdf("cart_pendulum")
    springs = {"cart": (30.0, 0.0), "pendulum": (4.0, 0.0)}
    names = list(model.names)[1:]
    dyn = gd.NewtonEuler(model, springs=dict(zip(names, springs.values(), strict=True)), clean=0)
    q = np.zeros(2)
    k, m = np.diag([30.0, 4.0]), dyn.mass_matrix(q).full()
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(m, k)).real))
    assert relative_error(dyn.natural_frequencies(q), expected) < 1e-12
    assert relative_error(dyn.natural_frequencies(q, joints="free"), expected) < 1e-12
    assert dyn.natural_frequencies(q, joints="locked").shape == (0,)
    free = gd.NewtonEuler(model)
    assert not free.natural_frequencies(q).any()
    omega, shapes = dyn.natural_modes(q)
    assert np.array_equal(omega, dyn.natural_frequencies(q))
    assert relative_error(shapes.T @ m @ shapes, np.eye(2)) < 1e-12
    assert relative_error(k @ shapes, m @ shapes * omega**2) < 1e-12


@pytest.mark.parametrize("stiffness", [1e4, 1e12])
def test_soft_modes_beside_a_stiff_spring_keep_their_digits(stiffness: float) -> None:
    """Of a cart on a stiff spring and a pendulum on a soft one, ω² from the coefficients of det(K − ω² M)."""
    model = gd.load_urdf("cart_pendulum")
    names = list(model.names)[1:]
    springs = dict(zip(names, ((stiffness, 0.0), (4.0, 0.0)), strict=True))
    dyn, q = gd.NewtonEuler(model, springs=springs, clean=0), np.zeros(2)
    (a, b), (_, c) = dyn.mass_matrix(q).full()
    omega, shapes = dyn.natural_modes(q)
    half, product = (stiffness * c + 4.0 * a) / 2, 4.0 * stiffness * (a * c - b * b)
    largest = half + np.sqrt(half**2 - product)
    expected = np.sqrt([4.0 * stiffness / largest, largest / (a * c - b * b)])
    # rounding of the greatest frequency, which the lesser one has in full
    assert np.abs(omega - expected).max() < 1e-14 * expected[1]
    assert relative_error(shapes.T @ dyn.mass_matrix(q).full() @ shapes, np.eye(2)) < 1e-12


def test_modes_at_lengths_that_are_not_one_are_refused() -> None:
    model = pin.Model()
    turn = model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    bend = model.addJoint(turn, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.8, 0, 0])), "bend")
    model.appendBodyToJoint(bend, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    arm = gd.FlexibleArm(model, joints={"bend": gd.FlexibleJoint(100.0, 0.1)})
    q = np.concatenate([[0.45, 0.0], np.zeros(arm.tree.nq - 2)])
    with pytest.raises(ArgumentError, match=r"^natural_modes: q of joint 'turn' is off unit length by 0\.55"):
        arm.natural_modes(q)


def test_linearisation_of_a_rigid_robot_is_the_derivative_of_its_state() -> None:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model, actuation=[[1.0], [0.0]], forces=[Damping(np.diag([0.5, 0.1]))], clean=0)
    q, v, u = np.array([0.2, 0.7]), np.array([0.3, -0.4]), np.array([2.0])
    a, b = dyn.linearize(q, v, u)
    x, s = ca.SX.sym("x", 4), ca.SX.sym("u")
    xdot = dyn.state_derivative(x, s)
    expected = ca.Function("expected", [x, s], [ca.jacobian(xdot, x), ca.jacobian(xdot, s)])(np.r_[q, v], u)
    for found, reference in zip((a, b), expected, strict=True):
        assert relative_error(found, reference.full()) < 1e-12
    with pytest.raises(ArgumentError, match=r"nothing holds .* at q.*start from a configuration at rest, or give u"):
        dyn.linearize([0.0, 0.3])


@pytest.mark.long
@pytest.mark.parametrize(
    "names", [("Spherical",), pytest.param(("FreeFlyer", "RX"), marks=pytest.mark.long), ("Planar", "RUBZ")]
)
def test_linearisation_about_a_motion_is_that_of_the_flow(names: tuple[str, ...]) -> None:
    """Neighbouring motions over a short time, by pin.integrate, pin.difference and Runge–Kutta; errors go with h²."""
    model = build(np.random.default_rng(11), names, range(len(names)))
    dyn = gd.NewtonEuler(model, clean=0)
    q, v, u = states(model, np.random.default_rng(12), 1)[0]
    a, _ = dyn.linearize(q, v, u)
    h, step = 2e-4, 1e-5

    def flow(x: np.ndarray, t: float) -> np.ndarray:
        k1 = dyn.state_derivative(x, u).full().ravel()
        k2 = dyn.state_derivative(x + t / 2 * k1, u).full().ravel()
        k3 = dyn.state_derivative(x + t / 2 * k2, u).full().ravel()
        k4 = dyn.state_derivative(x + t * k3, u).full().ravel()
        return x + t / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def neighbour(direction: np.ndarray, t: float) -> np.ndarray:
        x = np.r_[pin.integrate(model, q, step * direction[: model.nv]), v + step * direction[model.nv :]]
        moved, still = flow(x, t), flow(np.r_[q, v], t)
        dq = pin.difference(model, still[: model.nq], moved[: model.nq])
        return np.r_[dq, moved[model.nq :] - still[model.nq :]] / step

    for direction in np.eye(2 * model.nv):
        rate = (neighbour(direction, h) - neighbour(direction, -h)) / (2 * h)
        assert np.abs(rate - a @ direction).max() < 2e-3 * max(1.0, np.abs(a).max())


def test_stiffness_that_gives_no_frequencies_is_refused() -> None:
    class Linear(Force):
        name = "linear"

        def __init__(self, k: object) -> None:
            self.k = ca.DM(k)

        def torque(self, q: Matrix, v: Matrix) -> Matrix:
            return self.k @ q

    model = gd.load_urdf("cart_pendulum")
    for k, message in (([[4, 3], [0, 5]], "not finite and symmetric"), ([[-4, 0], [0, 5]], "negative stiffness")):
        dyn = gd.NewtonEuler(model, forces=[Linear(k)])
        with pytest.raises(ArgumentError, match=message):
            dyn.natural_frequencies([0.0, 0.0])
    continuous = gd.NewtonEuler(build(np.random.default_rng(4), ["RUBZ", "RX"], [0, 1]))
    with pytest.raises(ArgumentError, match="off unit length"):
        continuous.natural_frequencies([0.0, 2.0, 0.0])

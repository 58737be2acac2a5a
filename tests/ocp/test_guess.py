"""Guesses: motions from rest to rest, and sizes of coordinates."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.ocp import slider, turning

# Expressions along the path.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": [[0.0], [np.nan], [1.0]]}, "Guess: q: entry [1, 0] is nan; give finite numbers"),
        ({"t": [0.0, 1.0]}, "Guess: q has shape (3, 1); give a row for each of 2 times"),
        ({"t": [0.0, 1.0, 1.0]}, "Guess: t must be at least two times [s], each later than the last"),
    ],
)
def test_wrong_guesses(change: dict[str, object], message: str) -> None:
    rows = {"t": [0.0, 1.0, 2.0], **{name: np.zeros((3, 1)) for name in ("q", "v", "a", "u")}} | change
    with pytest.raises(gd.errors.GdalembertError) as caught:
        ocp.Guess(**{name: np.array(value) for name, value in rows.items()})
    assert str(caught.value) == message


# Guesses.


@pytest.mark.parametrize("name", ["puma560", "cart_pendulum"])
def test_rest_to_rest_is_a_motion(name: str) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf(name))
    guess = ocp.rest_to_rest(dyn, np.zeros(dyn.tree.nq), np.full(dyn.tree.nq, 0.5), 2.0, samples=2001)
    np.testing.assert_allclose(guess.q[-1], 0.5, rtol=1e-14)
    assert not guess.v[[0, -1]].any()
    np.testing.assert_allclose(np.gradient(guess.q, guess.t, axis=0)[1:-1], guess.v[1:-1], rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.gradient(guess.v, guess.t, axis=0)[1:-1], guess.a[1:-1], rtol=0, atol=1e-5)
    tau = dyn.inverse_dynamics(guess.q.T, guess.v.T, guess.a.T).full().T
    np.testing.assert_allclose(guess.u, tau, rtol=1e-12, atol=1e-12)


def test_rest_to_rest_turns_on_the_geodesic() -> None:
    dyn = turning(pin.JointModelSpherical())
    kinematics = gd.Kinematics(dyn.tree)
    end = kinematics.integrate([0, 0, 0, 1], [0.3, -0.4, 1.2]).full().ravel()
    guess = ocp.rest_to_rest(dyn, [0, 0, 0, 1], end, samples=5)
    np.testing.assert_allclose(
        kinematics.difference(guess.q[0], guess.q[2]).full().ravel(), [0.15, -0.2, 0.6], atol=1e-14
    )
    np.testing.assert_allclose(np.linalg.norm(guess.q, axis=1), 1, rtol=1e-14)


def test_rest_to_rest_gives_the_actuators_what_they_can() -> None:
    """An elastic joint has the torque of its rotor, a rigid one its own; what a spring would have to give is lost."""
    joints = {"joint1": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=0.1)}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), joints=joints)
    guess = ocp.rest_to_rest(arm, np.zeros(3), [0.4, -0.3, 0.4], samples=5)
    tau = arm.inverse_dynamics(guess.q.T, guess.v.T, guess.a.T).full().T
    np.testing.assert_allclose(guess.u, tau[:, [2, 1]], rtol=1e-12, atol=1e-12)


def test_a_guess_has_unit_lengths_between_its_rows() -> None:
    dyn = turning(pin.JointModelSpherical())
    guess = ocp.rest_to_rest(dyn, [0, 0, 0, 1], [0, 0, 1, 0], samples=3)
    q = guess.at(np.array([0.2, 0.7]), 1.0)[0]
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, rtol=1e-15)


def test_rest_to_rest_takes_no_quaternion_of_another_length() -> None:
    with pytest.raises(gd.errors.ArgumentError, match="rest_to_rest: q_end of joint 'turn' is off unit length by 1"):
        ocp.rest_to_rest(turning(pin.JointModelSpherical()), [0, 0, 0, 1], [0, 0, 0, 0])


def test_a_guess_is_stretched() -> None:
    dyn = gd.NewtonEuler(slider())
    guess = ocp.rest_to_rest(dyn, [0.0], [1.0], 1.0, samples=11)
    q, v, a, u = guess.at(np.array([0.0, 0.5, 1.0]), 2.0)
    np.testing.assert_allclose(q.ravel(), [0, 0.5, 1], atol=1e-15)
    np.testing.assert_allclose(v.ravel(), guess.v[[0, 5, 10], 0] / 2)
    np.testing.assert_allclose(a.ravel(), guess.a[[0, 5, 10], 0] / 4)
    np.testing.assert_allclose(u.ravel(), guess.u[[0, 5, 10], 0])

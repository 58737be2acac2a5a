"""Motors that drive several joints: rotor inertia and friction at their speeds."""

from __future__ import annotations

import pickle

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from tests.helpers.models import relative_error

B = {"m1": np.array([1.0, 0.0]), "m2": np.array([0.5, -2.0])}
MOTORS = {
    "m1": gd.Motor(0.3, 0.2, 0.4, smoothing=0.1),
    "m2": gd.Motor(0.1, 0.5, 0.2, offset=0.3, smoothing=0.1),
}
Q, V, A = np.array([0.3, -0.8]), np.array([0.4, -0.1]), np.array([1.5, 2.0])
FORMULATIONS = [gd.NewtonEuler, gd.GeneralizedDAlembert, gd.LagrangeEuler]


def expected(model: pin.Model) -> np.ndarray:
    """tau by Pinocchio, with the motors at w = Bᵀ v."""
    b = np.column_stack(list(B.values()))
    w, dw = b.T @ V, b.T @ A
    u = np.array([0.3, 0.1]) * dw + np.array([0.2, 0.5]) * w + np.array([0.4, 0.2]) * np.tanh(w / 0.1) + [0.0, 0.3]
    return pin.rnea(model, model.createData(), Q, V, A) + b @ u


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_motors_turn_at_the_speeds_that_their_efforts_work_at(formulation: type[gd.Dynamics]) -> None:
    model = gd.load_urdf("two_link_arm")
    model.armature = np.array([0.05, 0.02])
    dyn = formulation(model, actuation=B, motors=MOTORS)
    b, rotors = np.column_stack(list(B.values())), np.diag([0.3, 0.1])
    tau = dyn.inverse_dynamics(Q, V, A).full().ravel()
    assert relative_error(tau, expected(model)) < 1e-14
    mass = pin.crba(model, model.createData(), Q) + b @ rotors @ b.T
    mass = np.triu(mass) + np.triu(mass, 1).T
    assert relative_error(dyn.mass_matrix(Q).full(), mass) < 1e-14
    assert relative_error(mass @ A + dyn.nle(Q, V).full().ravel(), tau) < 1e-14
    assert relative_error(dyn.mass_matrix_inverse(Q).full(), np.linalg.inv(mass)) < 1e-13
    assert float(dyn.kinetic_energy(Q, V)) == pytest.approx(0.5 * V @ mass @ V, rel=1e-13)
    assert relative_error(dyn.forward_dynamics(Q, V, tau).full().ravel(), A) < 1e-12
    u = np.linalg.solve(b, tau)
    assert relative_error(dyn.state_derivative([*Q, *V], u).full().ravel(), [*V, *A]) < 1e-12
    by_q, by_v, inverse = (x.full() for x in dyn.forward_dynamics_derivatives(Q, V, tau))
    assert relative_error(inverse, np.linalg.inv(mass)) < 1e-12
    own_q, own_v = (x.full() for x in dyn.inverse_dynamics_derivatives(Q, V, A))
    assert relative_error(by_q, -inverse @ own_q) < 1e-12
    assert relative_error(by_v, -inverse @ own_v) < 1e-12


@pytest.mark.long
def test_long_chains_have_them_too() -> None:
    """Where forward dynamics are by articulated bodies otherwise, and of robots that are held."""
    model = gd.load_urdf("panda7")
    b = np.eye(7)
    b[5, 6] = 0.8
    columns = dict(zip([f"m{k}" for k in range(1, 8)], b.T, strict=True))
    dyn = gd.NewtonEuler(model, actuation=columns, motors={"m6": gd.Motor(0.2, 0.1), "m7": gd.Motor(0.1)})
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 7))
    tau = dyn.inverse_dynamics(q, v, a)
    assert relative_error(dyn.forward_dynamics(q, v, tau).full().ravel(), a) < 1e-11
    own = dyn.inverse_dynamics_derivatives(q, v, a)[0].full()
    found = dyn.forward_dynamics_derivatives(q, v, tau)
    assert relative_error(found[0].full(), -found[2].full() @ own) < 1e-10
    con = gd.ConstrainedDynamics(dyn, [gd.Contact("link7", "3D")])
    held, forces = con.forward_dynamics(q, v, tau)
    assert relative_error(con.inverse_dynamics(q, v, held, forces).full().ravel(), tau.full().ravel()) < 1e-10


def test_they_are_parameters_and_can_be_pickled() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, actuation=B, motors=MOTORS, parameters=["motors"])
    assert dyn.parameters.names == (
        "m1.inertia", "m1.viscous", "m1.coulomb", "m2.inertia", "m2.viscous", "m2.coulomb", "m2.offset",
    )  # fmt: skip
    tau = dyn.inverse_dynamics(Q, V, A, dyn.parameters.values).full().ravel()
    assert relative_error(tau, expected(model)) < 1e-14
    assert relative_error(dyn.at().inverse_dynamics(Q, V, A).full().ravel(), expected(model)) < 1e-14
    again = pickle.loads(pickle.dumps(gd.NewtonEuler(model, actuation=B, motors=MOTORS)))
    assert relative_error(again.inverse_dynamics(Q, V, A).full().ravel(), expected(model)) < 1e-14
    with pytest.raises(ArgumentError, match=r"^simulate: p\['m1.inertia'\] is -1; give at least 0$"):
        gd.simulate(dyn, (Q, V), 1.0, p={"m1.inertia": -1.0})


def test_a_simulation_accounts_for_their_energy() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), actuation=B, motors={"m2": gd.Motor(0.2, 0.3, 0.1)})
    assert gd.simulate(dyn, ([-1.0, 0.3], [0.0, 0.0]), 2.0).relative_balance < 1e-6


def test_motors_that_cannot_be_are_refused() -> None:
    model = gd.load_urdf("two_link_arm")
    with pytest.raises(UnknownNameError, match="no actuator named 'm3'"):
        gd.NewtonEuler(model, actuation=B, motors={"m3": gd.Motor(1.0)})
    with pytest.raises(ArgumentTypeError, match=r"^motors: 'm1': got 1.0; give gd.Motor\(inertia, viscous, coulomb\)$"):
        gd.NewtonEuler(model, actuation=B, motors={"m1": 1.0})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match=r"^Motor: inertia: got -1; give one finite number, at least 0$"):
        gd.Motor(-1)
    with pytest.raises(ArgumentError, match=r"^parameters: 'motors': the robot has none; give motors=\{actuator"):
        gd.NewtonEuler(model, parameters=["motors"])

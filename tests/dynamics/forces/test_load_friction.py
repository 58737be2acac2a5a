"""Friction that grows with the transmitted torque, and its offset."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.friction import under_load, without_load
from gdalembert.errors import ArgumentError
from tests.helpers import models
from tests.helpers.models import relative_error

SMOOTHING, ROUNDED = 0.2, 0.01
VALUES = {
    "joint1": gd.Friction(1.0, 0.5, load=0.3, offset=0.7, smoothing=SMOOTHING),
    "joint2": gd.Friction(0.5, 0.2, load=0.1, offset=-0.2, smoothing=SMOOTHING),
}
Q, V, A = np.array([0.3, -0.8]), np.array([0.4, -0.1]), np.array([1.5, 2.0])


def expected(tau: np.ndarray, v: np.ndarray) -> np.ndarray:
    """tau of all but friction, with friction."""
    load = np.array([0.3, 0.1]) * (np.sqrt(tau**2 + ROUNDED**2) - ROUNDED)
    dry = (np.array([0.5, 0.2]) + load) * np.tanh(v / SMOOTHING)
    return tau + np.array([1.0, 0.5]) * v + dry + np.array([0.7, -0.2])


def numerical(function: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    moves = step * np.eye(len(x))
    return np.column_stack([(function(x + d) - function(x - d)) / (2 * step) for d in moves])


@pytest.mark.parametrize("formulation", [gd.NewtonEuler, gd.GeneralizedDAlembert, gd.LagrangeEuler])
def test_it_is_a_part_of_the_torque_of_all_but_friction(formulation: type[gd.Dynamics]) -> None:
    """Gravity, springs and armature are load; forward dynamics invert it, and derivatives are those of differences."""
    model = gd.load_urdf("two_link_arm")
    model.armature = np.array([0.3, 0.1])
    dyn = formulation(model, friction=VALUES, springs={"joint1": (3.0, 0.1)})
    load = pin.rnea(model, model.createData(), Q, V, A) + np.array([3.0 * (Q[0] - 0.1), 0.0])
    tau = dyn.inverse_dynamics(Q, V, A).full().ravel()
    assert relative_error(tau, expected(load, V)) < 1e-14
    assert relative_error(dyn.forward_dynamics(Q, V, tau).full().ravel(), A) < 1e-12
    assert relative_error(dyn.state_derivative([*Q, *V], tau).full().ravel(), [*V, *A]) < 1e-12
    assert relative_error(dyn.nle(Q, V).full().ravel(), dyn.inverse_dynamics(Q, V, 0 * A).full().ravel()) < 1e-14
    by_q, by_v = (x.full() for x in dyn.inverse_dynamics_derivatives(Q, V, A))
    assert relative_error(by_q, numerical(lambda q: dyn.inverse_dynamics(q, V, A).full().ravel(), Q)) < 1e-7
    assert relative_error(by_v, numerical(lambda v: dyn.inverse_dynamics(Q, v, A).full().ravel(), V)) < 1e-7
    found = [x.full() for x in dyn.forward_dynamics_derivatives(Q, V, tau)]
    forward = dyn.forward_dynamics
    assert relative_error(found[0], numerical(lambda q: forward(q, V, tau).full().ravel(), Q)) < 1e-7
    assert relative_error(found[1], numerical(lambda v: forward(Q, v, tau).full().ravel(), V)) < 1e-7
    assert relative_error(found[2], numerical(lambda x: forward(Q, V, x).full().ravel(), tau)) < 1e-7


@pytest.mark.parametrize(
    ("formulation", "kinds"), [(gd.NewtonEuler, ["Spherical", "RZ"]), (gd.LagrangeEuler, ["RX", "PY"])]
)
def test_second_derivatives_have_blocks_of_accelerations(formulation: type[gd.Dynamics], kinds: list[str]) -> None:
    """Beside differences of first derivatives along ``pin.integrate``, where |tau_l| bends: little torque is
    transmitted there."""
    rng = np.random.default_rng(0)
    model = models.build(rng, kinds, [0, 1])
    model.armature, n = rng.uniform(0.1, 0.3, model.nv), model.nv
    friction = {name: gd.Friction(0.5, 0.2, load=0.3, smoothing=SMOOTHING) for name in list(model.names)[1:]}
    dyn = formulation(model, friction=friction)
    q, v, _ = models.states(model, rng, 1)[0]
    a = pin.aba(model, model.createData(), q, v, rng.uniform(0.02, 0.06, n))
    lam = rng.normal(size=n)
    s = dyn.symbols("q", "v", "a")
    by_a = ca.Function("by_a", list(s.values()), [ca.jacobian(dyn.inverse_dynamics(*s.values()), s["a"])])

    def gradient(x: np.ndarray) -> np.ndarray:
        moved = pin.integrate(model, q, x[:n]), v + x[n : 2 * n], a + x[2 * n :]
        return np.concatenate([lam @ each.full() for each in (*dyn.inverse_dynamics_derivatives(*moved), by_a(*moved))])

    differenced = numerical(gradient, np.zeros(3 * n), 1e-7)
    qq, qv, vv, aq, av, aa = (x.full() for x in dyn.inverse_dynamics_hessian(q, v, a, lam))
    of_q, of_v, of_a = np.split(differenced, 3, axis=1)
    for found, expected in (
        (qq, (of_q[:n] + of_q[:n].T) / 2),
        (qv, of_v[:n]), (vv, of_v[n : 2 * n]), (aq, of_q[2 * n :]), (av, of_v[2 * n :]), (aa, of_a[2 * n :]),
    ):  # fmt: skip
        assert relative_error(found, expected) < 1e-5
    assert np.array_equal(aa, aa.T)
    assert np.abs(aa).max() > 0.01


@pytest.mark.parametrize("part", [-0.99, -0.3, 0.0, 0.5, 0.99])
def test_the_transmitted_torque_follows_from_the_whole(part: float) -> None:
    tau = np.array([-1e3, -1.0, -1e-3, -1e-9, 0.0, 1e-6, 1e-2, 5.0, 1e4])
    whole = np.array([float(under_load(part, x)) for x in tau])
    assert np.all(np.diff(whole) > 0)
    assert [float(without_load(part, x)) for x in whole] == pytest.approx(tau, rel=1e-12, abs=1e-15)


def test_constrained_robots_have_it() -> None:
    """A tip that is held: tau of inverse dynamics gives the accelerations and forces back, and their derivatives."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=VALUES)
    con = gd.ConstrainedDynamics(dyn, [gd.Contact("link2", rows=("x",))])
    tau = np.array([3.0, -2.0])
    a, forces = con.forward_dynamics(Q, V, tau)
    assert relative_error(con.inverse_dynamics(Q, V, a, forces).full().ravel(), tau) < 1e-12
    derivatives = con.forward_dynamics_derivatives
    outputs = dict(zip(derivatives.name_out(), derivatives(Q, V, tau), strict=True))
    for by, x in (("dq", Q), ("dv", V), ("dtau", tau)):
        for k, what in enumerate(("da", "dforces")):

            def moved(y: np.ndarray, by: str = by, k: int = k) -> np.ndarray:
                state = {"dq": (y, V, tau), "dv": (Q, y, tau), "dtau": (Q, V, y)}[by]
                return con.forward_dynamics(*state)[k].full().ravel()

            assert relative_error(outputs[f"{what}_{by}"].full(), numerical(moved, x)) < 1e-6


def test_a_simulation_accounts_for_what_it_dissipates() -> None:
    friction = {"joint1": gd.Friction(0.5, 1.0, load=0.2, smoothing=0.1)}
    swing = gd.simulate(gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=friction), ([-1.0, 0.3], [0.0, 0.0]), 2.0)
    assert swing.relative_balance < 1e-6


def test_parameters_are_those_that_were_given() -> None:
    model = gd.load_urdf("two_link_arm")
    given = {"joint1": gd.Friction(1.0, 2.0, load=0.1), "joint2": gd.Friction(3.0, offset=0.4)}
    dyn = gd.NewtonEuler(model, friction=given, parameters=["friction"])
    assert dict(dyn.parameters) == {
        "joint1.viscous": 1.0, "joint1.coulomb": 2.0, "joint1.load": 0.1,
        "joint2.viscous": 3.0, "joint2.coulomb": 0.0, "joint2.offset": 0.4,
    }  # fmt: skip
    p = dyn.parameters.values
    at = gd.NewtonEuler(model, friction=given).inverse_dynamics(Q, V, A).full()
    assert relative_error(dyn.inverse_dynamics(Q, V, A, p).full(), at) < 1e-14
    assert relative_error(dyn.at(p).inverse_dynamics(Q, V, A).full(), at) < 1e-14


def test_what_cannot_be_is_refused() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=VALUES, parameters=["friction"])
    with pytest.raises(ArgumentError, match=r"^Friction: load: got 1.0; give less than 1: friction that grows as fast"):
        gd.Friction(load=1.0)
    with pytest.raises(ArgumentError, match=r"^Friction: load: got -0.1; give at least 0"):
        gd.Friction(load=-0.1)
    with pytest.raises(ArgumentError, match=r"^simulate: p\['joint1.load'\] is 1.5; give less than 1"):
        gd.simulate(dyn, (Q, V), 1.0, p={"joint1.load": 1.5})

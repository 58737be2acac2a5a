"""Steps of a transcription: they are the Runge–Kutta methods they say they are, on every kind of joint."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.model.configuration import random_configuration, unit_blocks
from gdalembert.ocp.system.steps import collocation_method, free_rates
from gdalembert.simulation.integration import plant
from gdalembert.spatial.arrays import Array
from tests.helpers import models
from tests.helpers.sets import quick

BEAM = gd.Beam(1.0, 0.6, EI_z=100.0)


def flexible() -> gd.FlexibleArm:
    return gd.FlexibleArm(
        gd.load_urdf("two_link_flexible"), {"link1": gd.FlexibleLink(BEAM, bending_y=gd.modes.clamped_free(2))}
    )


def on_manifolds() -> gd.NewtonEuler:
    """A free-flyer that carries a planar, a spherical, a continuous and a revolute joint."""
    kinds = ["FreeFlyer", "Planar", "Spherical", "RUBX", "RY"]
    return gd.NewtonEuler(models.build(np.random.default_rng(4), kinds, range(5)))


DYNAMICS = {"rigid": lambda: gd.NewtonEuler(gd.load_urdf("puma560")), "flexible": flexible, "manifold": on_manifolds}


def state(dyn: gd.Dynamics, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    q, v = random_configuration(dyn.tree, rng).full().ravel(), 0.5 * rng.normal(size=dyn.tree.nv)
    if isinstance(dyn, gd.FlexibleArm):
        q[2:] *= 1e-3
        v[2:] *= 1e-3
    return np.concatenate([q, v])


def effort(dyn: gd.Dynamics, columns: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=(dyn.state_derivative.size1_in(1), columns))


def by_newton(step: ca.Function, x: Array, u: Array, h: float) -> dict[str, Array]:
    """What the step gives where its residual is zero."""
    k = ca.MX.sym("k", *step.size_in("k"))
    residual = ca.vec(step(x, k, u, h)[1])
    newton = ca.Function("newton", [k], [k - ca.reshape(ca.solve(ca.jacobian(residual, ca.vec(k)), residual), k.shape)])
    found = ca.DM.zeros(k.shape)
    for _ in range(12):
        found = newton(found)
    return {name: value.full() for name, value in step.call({"x": x, "k": found, "u": u, "h": h}).items()}


def test_collocation_methods_meet_the_order_conditions() -> None:
    for scheme, order in (("legendre", 0), ("radau", 1)):
        for degree in range(1, 10):
            method = collocation_method(degree, scheme)
            for k in range(1, 2 * degree - order + 1):
                assert method.b @ method.c ** (k - 1) == pytest.approx(1 / k, rel=1e-9)  # cond(Vandermonde) is 1e7
            for k in range(1, degree + 1):
                np.testing.assert_allclose(method.a @ method.c ** (k - 1), method.c**k / k, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", quick(DYNAMICS, "rigid", "flexible"))
def test_rk4_is_the_classical_method(name: str) -> None:
    """Written out, with the flow that ``simulate`` integrates."""
    dyn = DYNAMICS[name]()
    x, u, h = state(dyn), effort(dyn, 1), 0.01
    body = plant(dyn)
    flow = lambda x: body.flow(x, u)[0].full().ravel()  # noqa: E731
    k1 = flow(x)
    k2 = flow(x + h / 2 * k1)
    k3 = flow(x + h / 2 * k2)
    k4 = flow(x + h * k3)
    expected = body.unit(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)).full().ravel()
    outputs = ocp.rk4(dyn).call({"x": x, "u": u, "h": h})
    np.testing.assert_allclose(outputs["x_next"].full().ravel(), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(outputs["a"].full()[:, 2], k3[dyn.tree.nq :], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(outputs["v"].full()[:, 1], (x + h / 2 * k1)[dyn.tree.nq :], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("scheme", ["legendre", "radau"])
@pytest.mark.parametrize("name", quick(DYNAMICS, "rigid", "flexible"))
def test_stages_of_collocation_obey_forward_dynamics(name: str, scheme: str) -> None:
    dyn = DYNAMICS[name]()
    x, u, h = state(dyn), effort(dyn, 1), 0.01
    found = by_newton(ocp.collocation(dyn, scheme=scheme), x, u, h)
    method, nq = collocation_method(3, scheme), dyn.tree.nq
    assert abs(found["residual"]).max() < 1e-11
    rates = np.column_stack(
        [
            dyn.state_derivative(np.concatenate([q, v]), u).full()
            for q, v in zip(found["q"].T, found["v"].T, strict=True)
        ]
    )
    np.testing.assert_allclose(found["a"], rates[nq:], rtol=1e-10, atol=1e-9)
    # the stages as given have unit lengths; those of the method are the sums of the rates, off by its error
    sums = x[:, None] + h * rates @ method.a.T
    atol = 1e-9 if unit_blocks(dyn.tree) else 1e-11
    np.testing.assert_allclose(np.vstack([found["q"], found["v"]]), sums, rtol=0, atol=atol)
    np.testing.assert_allclose(found["x_next"].ravel(), x + h * rates @ method.b, rtol=0, atol=atol)


@pytest.mark.parametrize("name", quick(DYNAMICS, "rigid", "flexible"))
def test_legendre_agrees_with_casadis_collocation(name: str) -> None:
    """The same method, by ``simulate``; CasADi's interpolates x where ours sums accelerations."""
    dyn = DYNAMICS[name]()
    x, u, h = state(dyn), effort(dyn, 1), 0.01
    found = by_newton(ocp.collocation(dyn), x, u, h)
    motion = gd.simulate(dyn, x, [0, h], u.ravel(), method="collocation", step=h)
    np.testing.assert_allclose(found["x_next"].ravel(), motion.x[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("scheme", "order"), [("legendre", 4), ("radau", 3)])
def test_the_order_shows(scheme: str, order: int) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    x, u = np.array([0.3, -0.4, 1.0, 2.0]), np.array([[1.0], [0.5]])
    step = ocp.collocation(dyn, degree=2, scheme=scheme)
    end = gd.simulate(dyn, x, 0.2, u.ravel(), reltol=1e-13, abstol=1e-14).x[-1]
    errors = []
    for n in (10, 20):
        reached = x
        for _ in range(n):
            reached = by_newton(step, reached, u, 0.2 / n)["x_next"].ravel()
        errors.append(np.linalg.norm(reached - end))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)  # of a finite step


@pytest.mark.long
def test_legendre_keeps_unit_lengths() -> None:
    dyn = on_manifolds()
    x, u = state(dyn), effort(dyn, 1)
    step = ocp.collocation(dyn, degree=2)
    for _ in range(5):
        x = by_newton(step, x, u, 0.05)["x_next"].ravel()
    for _, start, stop in unit_blocks(dyn.tree):
        assert np.linalg.norm(x[start:stop]) == pytest.approx(1, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("make", quick([ocp.rk4, ocp.collocation], ocp.collocation))
def test_a_length_that_has_drifted_turns_nothing_aside(make: object) -> None:
    """The stages that are given have unit lengths; rk4 brings x_next to them, collocation keeps those of x."""
    dyn = gd.NewtonEuler(models.build(np.random.default_rng(5), ["Spherical", "RUBX", "RY"], range(3)))
    x, u, h = state(dyn), effort(dyn, 1), 0.01
    scale = np.ones(len(x))
    for (_, start, stop), length in zip(unit_blocks(dyn.tree), (1.5, 0.8), strict=True):
        scale[start:stop] = length
    step = make(dyn)
    if "k" in step.name_in():
        own, drifted = (by_newton(step, each, u, h) for each in (x, scale * x))
    else:
        own, drifted = (
            {name: value.full() for name, value in step.call({"x": each, "u": u, "h": h}).items()}
            for each in (x, scale * x)
        )
        scale[:] = 1
    for name in ("q", "v", "a"):
        np.testing.assert_allclose(drifted[name], own[name], rtol=1e-9, atol=1e-9)  # of solved residuals
    np.testing.assert_allclose(drifted["x_next"].ravel(), scale * own["x_next"].ravel(), rtol=0, atol=1e-11)
    for _, start, stop in unit_blocks(dyn.tree):
        np.testing.assert_allclose(np.linalg.norm(drifted["q"][start:stop], axis=0), 1, rtol=0, atol=1e-15)


@pytest.mark.parametrize("make", [ocp.rk4, ocp.collocation])
def test_linear_control_has_its_values_at_the_ends(make: object) -> None:
    """A unit mass that slides: x_next is that of a cubic, which both methods integrate exactly."""
    model = pin.Model()
    model.gravity.linear = np.zeros(3)
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    dyn = gd.NewtonEuler(model)
    step = make(dyn, control="linear")
    u, h = np.array([[2.0, 5.0]]), 0.3
    if "k" in step.name_in():
        found = by_newton(step, np.array([1.0, -1.0]), u, h)["x_next"].ravel()
    else:
        found = step(np.array([1.0, -1.0]), u, h)[0].full().ravel()
    expected = [1 - h + 2 * h**2 / 2 + 3 / h * h**3 / 6, -1 + 2 * h + 3 / h * h**2 / 2]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_free_rates_are_those_that_are_no_velocities() -> None:
    dyn = on_manifolds()
    free, follows = free_rates(dyn.tree)
    assert free == list(range(7 + 4 + 4 + 2))  # all but the revolute joint's
    q, v = np.split(state(dyn), [dyn.tree.nq])
    rate = ca.DM(dyn.tree.configuration_rate(ca.DM(q), ca.DM(v))).full().ravel()
    others = np.setdiff1d(np.arange(dyn.tree.nq), free)
    np.testing.assert_array_equal((follows @ v).full().ravel()[others], rate[others])
    assert abs((follows @ v).full().ravel()[free]).max() == 0
    assert free_rates(gd.NewtonEuler(gd.load_urdf("puma560")).tree)[0] == []


@pytest.mark.parametrize("make", [ocp.rk4, ocp.collocation])
def test_derivatives_are_those_of_the_graph(make: object) -> None:
    """CasADi takes our steps' directional derivatives by way of the Jacobian."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    step = make(dyn)
    inputs = step.sx_in()
    plain = ca.Function("plain", inputs, step.call(inputs), step.name_in(), step.name_out())
    rng = np.random.default_rng(3)
    values = [rng.normal(size=step.size_in(i)) for i in range(step.n_in())]
    symbols = [ca.MX.sym(name, *step.size_in(i)) for i, name in enumerate(step.name_in())]
    weights = [rng.normal(size=step.size_out(i)) for i in range(step.n_out())]
    everything = ca.vertcat(*map(ca.vec, symbols))
    found = []
    for f in (step, plain):
        total = sum((ca.dot(ca.DM(w), y) for w, y in zip(weights, f(*symbols), strict=True)), ca.MX(0))
        hessian, gradient = ca.hessian(total, everything)
        jacobian = ca.jacobian(ca.vertcat(*map(ca.vec, f(*symbols))), everything)
        found.append([x.full() for x in ca.Function("d", symbols, [hessian, gradient, jacobian])(*values)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11 * abs(other).max())


@pytest.mark.long
def test_a_step_costs_little_more_than_its_inverse_dynamics() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("panda7"))
    assert ocp.collocation(dyn, degree=3).n_instructions() < 3 * (dyn.inverse_dynamics.n_instructions() + 170)
    assert ocp.rk4(dyn).n_instructions() < 4 * (dyn.state_derivative.n_instructions() + 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: ocp.collocation(d, degree=0), "degree: got 0; give an integer from 1 to 9"),
        (lambda d: ocp.collocation(d, degree=10), "degree: got 10; give an integer from 1 to 9"),
        (lambda d: ocp.collocation(d, degree=2.0), "degree: expected an integer, got 2.0"),
        (lambda d: ocp.collocation(d, scheme="gauss"), "scheme: got 'gauss'; give 'legendre' or 'radau'"),
        (lambda d: ocp.rk4(d, control="cubic"), "control: got 'cubic'; give 'constant' or 'linear'"),
        (lambda d: ocp.rk4(d.tree), "rk4 takes a Dynamics, as gd.NewtonEuler(model), not Tree"),
        (lambda d: ocp.collocation("puma560"), "collocation takes a Dynamics, as gd.NewtonEuler(model), not str"),
    ],
)
def test_wrong_arguments(call: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        call(gd.NewtonEuler(gd.load_urdf("two_link_arm")))
    assert isinstance(caught.value, gd.errors.GdalembertError)
    assert str(caught.value) == message

"""Robots in rockit."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.ocp import slider, turning

pytestmark = pytest.mark.extras


def cart() -> tuple[gd.Dynamics, ocp.Bounds]:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model)
    return dyn, ocp.Bounds.of(dyn, model, u={"swing": 0.0})


@pytest.mark.parametrize("implicit", [True, False])
def test_rockit_finds_the_same_optimum(implicit: bool) -> None:
    import rockit

    dyn, bounds = cart()
    problem = ocp.Problem(dyn, 2.0, 40, bounds=bounds)
    problem.start([0.0, 0.0])
    problem.end([0.0, np.pi])
    problem.minimize(problem.integral(lambda u: u[0] ** 2))
    ours = problem.solve()

    other = rockit.Ocp(T=2.0)
    robot = ocp.add_to_rockit(other, dyn, bounds, implicit=implicit)
    for x in (robot.q, robot.v):
        other.subject_to(other.at_t0(x) == 0)
    other.subject_to(other.at_tf(robot.q) == ca.vertcat(0, np.pi))
    other.subject_to(other.at_tf(robot.v) == 0)
    other.add_objective(other.integral(robot.u[0] ** 2))
    other.set_initial(robot.q, ca.vertcat(0, np.pi * other.t / 2))
    # scaled by gradients, IPOPT may end at another stationary point, 3e-5 above
    quiet = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}
    other.solver("ipopt", {**quiet, "ipopt.nlp_scaling_method": "none"})
    other.method(
        rockit.DirectCollocation(N=40, M=1, degree=3, scheme="legendre")
        if implicit
        else rockit.MultipleShooting(N=40, M=2, intg="rk")
    )
    theirs = other.solve()
    # the same collocation, or another method of order 4 with steps of 25 ms
    assert float(theirs.value(other.objective)) == pytest.approx(ours.cost, rel=1e-8 if implicit else 1e-4)


@pytest.mark.parametrize("implicit", [True, False])
def test_rockit_has_the_actuators(implicit: bool) -> None:
    """The cart alone is driven: u is one number, within the limit of its joint."""
    import rockit

    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model, actuation=[[1.0], [0.0]])
    other = rockit.Ocp(T=1.0)
    robot = ocp.add_to_rockit(other, dyn, ocp.Bounds.of(dyn, model), implicit=implicit)
    assert robot.u.shape == (1, 1)
    for x in (robot.q, robot.v):
        other.subject_to(other.at_t0(x) == 0)
    other.subject_to(other.at_tf(robot.q) == ca.vertcat(0.3, 0))
    other.subject_to(other.at_tf(robot.v) == 0)
    other.add_objective(other.integral(robot.u**2))
    other.solver("ipopt", {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"})
    other.method(
        rockit.DirectCollocation(N=20, M=1, degree=3, scheme="legendre")
        if implicit
        else rockit.MultipleShooting(N=20, M=2, intg="rk")
    )
    theirs = other.solve()

    problem = ocp.Problem(dyn, 1.0, 20, bounds=ocp.Bounds.of(dyn, model))
    problem.start([0.0, 0.0])
    problem.end([0.3, 0.0])
    problem.minimize(problem.integral(lambda u: u**2))
    ours = problem.solve()
    assert float(theirs.value(other.objective)) == pytest.approx(ours.cost, rel=1e-8 if implicit else 1e-4)


def test_rockit_refuses_in_words() -> None:
    import rockit

    dyn, bounds = cart()
    with pytest.raises(
        gd.errors.ArgumentTypeError, match=r"add_to_rockit takes a rockit.Ocp or a stage of it, not Opti"
    ):
        ocp.add_to_rockit(ca.Opti(), dyn)
    with pytest.raises(gd.errors.ArgumentTypeError, match=r"^bounds='slider': give Bounds.of\(dyn, model\)$"):
        ocp.add_to_rockit(rockit.Ocp(T=1), dyn, "slider")
    with pytest.raises(gd.errors.UnsupportedError, match="joint 'turn' has unit lengths in q"):
        ocp.add_to_rockit(rockit.Ocp(T=1), turning(pin.JointModelSpherical()))
    with pytest.raises(gd.errors.ArgumentError, match="the bounds are not those of slider"):
        ocp.add_to_rockit(rockit.Ocp(T=1), gd.NewtonEuler(slider()), bounds)


@pytest.mark.parametrize("implicit", [True, False])
def test_rockit_takes_p_as_numbers_and_as_a_parameter(implicit: bool) -> None:
    """∫ u² dt of a mass from rest to rest is 12 m² d²/T³."""
    import rockit

    dyn = gd.NewtonEuler(slider(2.0), parameters=["inertia"])
    n = len(dyn.parameters)
    heavy = dyn.parameters.vector({"slide.m": 5.0})
    for given in (heavy, {"slide.m": 5.0}, "parameter"):
        other = rockit.Ocp(T=1.5)
        p = other.parameter(n) if isinstance(given, str) else given
        robot = ocp.add_to_rockit(other, dyn, implicit=implicit, p=p)
        if isinstance(given, str):
            other.set_value(p, heavy)
        for x, end in ((robot.q, 0.7), (robot.v, 0.0)):
            other.subject_to(other.at_t0(x) == 0)
            other.subject_to(other.at_tf(x) == end)
        other.add_objective(other.integral(robot.u[0] ** 2))
        other.solver("ipopt", {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"})
        other.method(rockit.DirectCollocation(N=10) if implicit else rockit.MultipleShooting(N=10, intg="rk"))
        cost = float(other.solve().value(other.objective))
        # u is held over ten intervals: 1 / (1 − 1/N²) more
        assert cost == pytest.approx(12 * 25 * 0.7**2 / 1.5**3 / (1 - 1 / 100), rel=1e-6)


def test_rockit_refuses_wrong_parameters() -> None:
    import rockit

    dyn, plain = gd.NewtonEuler(slider(2.0), parameters=["inertia"]), gd.NewtonEuler(slider(2.0))
    problem = rockit.Ocp(T=1.0)
    with pytest.raises(
        gd.errors.ArgumentError, match=r"^add_to_rockit: p has shape \(3, 1\); slider has 10 parameters"
    ):
        ocp.add_to_rockit(problem, dyn, p=problem.parameter(3))
    with pytest.raises(gd.errors.ArgumentError, match=r"slider has 0 parameters: give none$"):
        ocp.add_to_rockit(problem, plain, p=problem.parameter(3))
    with pytest.raises(gd.errors.ArgumentError, match=r"^add_to_rockit: joint 'slide': with this p its link has the "):
        ocp.add_to_rockit(problem, dyn, p={"slide.m": -1.0})

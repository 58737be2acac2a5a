"""Bounds of models and of coordinates, at stages and at the grid."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from tests.helpers import models
from tests.helpers.models import relative_error
from tests.helpers.ocp import slider

# Expressions along the path.


@pytest.mark.parametrize("bounds_at", ["stages", "grid"])
@pytest.mark.parametrize(("what", "limit"), [("q", 0.95), ("v", 1.4)])
def test_bounds_hold_at_the_stages_unless_the_grid_is_asked_for(what: str, limit: float, bounds_at: str) -> None:
    """q = 4 t (1 − t) and v = 6 t (1 − t) are largest at a half, between the instants of the grid, but at a stage."""
    dyn = gd.NewtonEuler(slider())
    options = {} if bounds_at == "stages" else {"bounds_at": bounds_at}  # the stages are the default
    bounds = ocp.Bounds.of(dyn, **{what: {"slide": limit}})
    problem = ocp.Problem(dyn, 1.0, 3, bounds=bounds, control="linear", **options)
    problem.start([0.0], v=4.0 if what == "q" else 0.0)
    problem.end([0.0 if what == "q" else 1.0], v=-4.0 if what == "q" else 0.0)
    problem.minimize(problem.integral(lambda u: u**2))
    solution, free = problem.solve(), 1.0 if what == "q" else 1.5
    largest = getattr(solution.stages, what).max()
    assert largest == pytest.approx(limit if bounds_at == "stages" else free, abs=1e-6)
    if bounds_at == "grid":
        name = "slide" if what == "q" else "rate of slide"
        assert solution.excess == {name: pytest.approx(free - limit, abs=1e-6)}


@pytest.mark.parametrize("by_name", [False, True])
def test_a_value_that_a_solver_leaves_beyond_a_bound_is_on_it(by_name: bool) -> None:
    """IPOPT relaxes bounds by 1e-8 of them; what is farther out is refused with the digits that show it."""
    dyn = gd.NewtonEuler(slider())
    bounds = ocp.Bounds.of(dyn, q={"slide": 2.175}, v={"slide": 0.5})

    def end(q: float, v: float) -> ocp.Problem:
        problem = ocp.Problem(dyn, 20.0, 3, bounds=bounds)
        problem.start({"slide": -q} if by_name else [-q])
        problem.end({"slide": q} if by_name else [q], {"slide": v} if by_name else v)
        return problem

    problem = end(2.175 + 1e-8, 0.5 + 1e-8)
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert (solution.q[-1], solution.v[-1], solution.q[0]) == pytest.approx((2.175, 0.5, -2.175), rel=0, abs=1e-12)
    with pytest.raises(ArgumentError, match=r"^end: v of 'slide' is 0\.500002, outside its bounds \(-0\.5, 0\.5\)$"):
        end(2.0, 0.5 + 2e-6)
    with pytest.raises(ArgumentError, match=r"^start: q of 'slide' is -2\.175003, outside its bounds \(-2\.175, 2\.17"):
        end(2.175 + 3e-6, 0.0)


def test_bounds_that_contradict_are_said() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 10)
    problem.start([0.0])
    problem.end([0.5], v=3.0)
    problem.path(lambda v: v, upper=1.0)
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(
        ocp.OptimizationError, match=r"after 0 iterations .* ends, bounds and paths contradict each other"
    ):
        problem.solve()


# Bounds.


def test_bounds_are_those_of_the_model() -> None:
    model = gd.load_urdf("puma560")
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model, v={model.names[2]: 0.5}, u={model.names[3]: (-7, 8)})
    np.testing.assert_array_equal(bounds.q_lower, model.lowerPositionLimit)
    np.testing.assert_array_equal(bounds.q_upper, model.upperPositionLimit)
    np.testing.assert_array_equal(bounds.v_upper, np.where(np.arange(6) == 1, 0.5, model.velocityLimit))
    np.testing.assert_array_equal(bounds.v_lower, -bounds.v_upper)
    np.testing.assert_array_equal(bounds.u_upper, np.where(np.arange(6) == 2, 8, model.effortLimit))
    np.testing.assert_array_equal(bounds.u_lower, np.where(np.arange(6) == 2, -7, -model.effortLimit))
    assert bounds.u_names == tuple(list(model.names)[1:])


def test_a_model_needs_no_name() -> None:
    model = slider()
    model.name = ""
    assert ocp.Bounds.of(gd.NewtonEuler(model), model).q_names == ("slide",)
    with pytest.raises(ArgumentError, match=r"the model is 'slider'.*, the dynamics are of 'unnamed model' with 1"):
        ocp.Bounds.of(gd.NewtonEuler(model), slider())


def test_bounds_of_an_arm_leave_its_modes_alone() -> None:
    model = gd.load_urdf("two_link_flexible")
    beam = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), bending_y=gd.modes.clamped_free(2))
    arm = gd.FlexibleArm(model, {"link1": beam}, {"joint2": gd.FlexibleJoint(stiffness=10.0, rotor_inertia=0.1)})
    bounds = ocp.Bounds.of(arm, model)
    assert bounds.q_names == bounds.v_names == arm.layout
    assert bounds.u_names == ("joint1", "joint2")
    np.testing.assert_array_equal(np.isfinite(bounds.q_upper), [True, True, False, False, False])
    np.testing.assert_array_equal(np.isfinite(bounds.v_upper), [True, True, False, False, False])
    np.testing.assert_array_equal(bounds.u_upper, model.effortLimit)


def test_bounds_of_manifolds() -> None:
    """Unit lengths have none, and nothing drives a free-flyer."""
    model = models.build(np.random.default_rng(0), ["FreeFlyer", "RUBX", "RX"], [0, 1, 2])
    model.lowerPositionLimit, model.upperPositionLimit = np.full(10, -1.01), np.full(10, 1.01)
    model.effortLimit, model.velocityLimit = np.full(8, 5.0), np.full(8, 3.0)
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model)
    assert np.flatnonzero(np.isfinite(bounds.q_upper)).tolist() == [0, 1, 2, 9]
    assert bounds.passive == tuple(f"FreeFlyer_0[{i}]" for i in range(6))
    assert bounds.q_names[7:] == ("RUBX_1[0]", "RUBX_1[1]", "RX_2")


def test_no_limit_of_a_model_is_infinite() -> None:
    model = slider()
    model.effortLimit = np.array([np.finfo(float).max])
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model)
    assert bounds.u_upper == np.inf
    assert bounds.u_lower == -np.inf


def test_what_follows_another_joint_has_no_bounds_of_its_own() -> None:
    model = models.build(np.random.default_rng(0), ["RX", "PY"], [0, 1], mimic=1)
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), q={"RX_0": 0.5})
    assert bounds.q_names == bounds.v_names == bounds.u_names == ("RX_0", "PY_1")
    assert bounds.q_upper.tolist() == [0.5, np.inf]


def test_excess_is_what_lies_beyond_either_bound() -> None:
    """q from −4 to 5 and v from −10 to 10, and a millionth is nothing."""
    model = slider()
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model)
    assert bounds.excess([[5 + 5e-7], [-4 - 5e-7]], [[10 + 5e-7], [0.0]]) == {}
    above = bounds.excess([[5.25], [5.125], [0.0]], [[0.0], [10.5], [0.0]])
    assert above == {"slide": 0.25, "rate of slide": 0.5}
    below = bounds.excess([[-4.25], [5.125], [0.0]], [[0.0], [-10.5], [10.25]])
    assert below == {"slide": 0.25, "rate of slide": 0.5}


def test_a_passive_joint_gets_no_torque() -> None:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model, u={"swing": 0.0})
    assert bounds.passive == ("swing",)
    problem = ocp.Problem(dyn, 1.0, 20, bounds=bounds)
    problem.start([0.0, 0.0])
    problem.end([0.3, 0.0])
    problem.minimize(problem.integral(lambda u: u[0] ** 2))
    solution = problem.solve()
    assert not solution.u[:, 1].any()
    assert np.abs(solution.simulate().q[-1] - [0.3, 0.0]).max() < 1e-5  # steps of 50 ms


# Actuators other than one for each velocity. The efforts of the two joints are 60 and 20 N m.


@pytest.mark.parametrize(
    ("b", "names", "limits"),
    [
        (np.eye(2), ("joint1", "joint2"), [60, 20]),
        ([[1.0], [0.0]], ("joint1",), [60]),
        ([[0.0], [1.0]], ("joint2",), [20]),
        ([[0.0, 1.0], [1.0, 0.0]], ("joint2", "joint1"), [20, 60]),
        ([[0.0, -4.0], [0.5, 0.0]], ("joint2", "joint1"), [40, 15]),
        ([[1.0, 1.0], [0.0, -1.0]], ("joint1", "u[1]"), [60, np.inf]),
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], ("joint1", "joint2", "u[2]"), [60, 20, np.inf]),
        ([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], ("u[0]", "u[1]", "joint2"), [np.inf, np.inf, 20]),
        ([[0.0, 1.0], [0.0, 0.0]], ("u[0]", "joint1"), [np.inf, 60]),
    ],
    ids=["unit", "first", "second", "permuted", "geared", "coupled", "redundant", "antagonists", "idle"],
)
def test_efforts_are_bounded_by_the_joint_that_an_actuator_drives(
    b: list[list[float]], names: tuple[str, ...], limits: list[float]
) -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, actuation=b)
    bounds = ocp.Bounds.of(dyn, model)
    assert bounds.u_names == dyn.actuator_names == names
    assert bounds.u_upper.tolist() == limits
    assert bounds.u_lower.tolist() == [-limit for limit in limits]
    given = ocp.Bounds.of(dyn, model, u={names[-1]: (-1.0, 2.0)})
    assert given.u_lower.tolist() == [*bounds.u_lower[:-1], -1.0]
    assert given.u_upper.tolist() == [*limits[:-1], 2.0]
    assert not np.isfinite(ocp.Bounds.of(dyn).u_upper).any()


@pytest.mark.parametrize(
    ("columns", "limits"),
    [
        ({"m1": [1.0, 0.0], "m2": [0.0, -2.0]}, [60, 10]),
        ({"joint2": [1.0, 0.0], "joint1": [0.0, 1.0]}, [60, 20]),
        ({"joint1": [1.0, 1.0], "both": [1.0, -1.0]}, [np.inf, np.inf]),
    ],
)
def test_limits_do_not_depend_on_names(columns: dict[str, list[float]], limits: list[float]) -> None:
    model = gd.load_urdf("two_link_arm")
    bounds = ocp.Bounds.of(gd.NewtonEuler(model, actuation=columns), model)
    assert (bounds.u_names, bounds.u_upper.tolist()) == (tuple(columns), limits)


def test_a_passive_joint_stays_passive_under_another_name() -> None:
    model = gd.load_urdf("cart_pendulum").copy()
    model.effortLimit = np.array([20.0, 0.0])
    bounds = ocp.Bounds.of(gd.NewtonEuler(model, actuation={"belt": [1.0, 0.0], "pin": [0.0, 1.0]}), model)
    assert bounds.passive == ("pin",)


def test_a_free_flyer_is_driven_by_a_matrix_that_says_so() -> None:
    model = gd.load_urdf("two_link_arm", root_joint=pin.JointModelFreeFlyer())
    assert len(ocp.Bounds.of(gd.NewtonEuler(model), model).passive) == 6
    assert ocp.Bounds.of(gd.NewtonEuler(model, actuation=np.eye(8)), model).passive == ()


def test_an_actuator_at_a_rotor_is_that_of_its_joint() -> None:
    """Coordinates: joint1, joint2, the rotor of joint2."""
    model = gd.load_urdf("two_link_arm")
    flexible = {"joint2": gd.FlexibleJoint(stiffness=10.0, rotor_inertia=0.1)}
    assert gd.FlexibleArm(model, joints=flexible).actuator_names == ("joint1", "joint2")
    at_rotor = gd.FlexibleArm(model, joints=flexible, actuation=[[0.0], [0.0], [2.0]])
    bounds = ocp.Bounds.of(at_rotor, model)
    assert (bounds.u_names, bounds.u_upper.tolist()) == (("joint2",), [10.0])
    both = gd.FlexibleArm(model, joints=flexible, actuation=np.eye(3))
    bounds = ocp.Bounds.of(both, model)
    assert (bounds.u_names, bounds.u_upper.tolist()) == (("joint1", "u[1]", "u[2]"), [60.0, np.inf, np.inf])


def test_an_actuator_of_a_mode_has_no_limit_of_a_joint() -> None:
    model = gd.load_urdf("two_link_flexible")
    beam = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), bending_y=gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(model, {"link1": beam}, actuation=np.eye(3)[:, [0, 2]])
    bounds = ocp.Bounds.of(arm, model)
    assert bounds.u_names == ("joint1", arm.layout[2])
    assert bounds.u_upper.tolist() == [model.effortLimit[0], np.inf]


def test_a_free_flyer_is_passive_unless_an_actuation_says_what_drives_it() -> None:
    """Its own entries are held at 0 where u are all joints' torques; a thruster of an own B is not."""
    model = models.build(np.random.default_rng(0), ["FreeFlyer", "RX"], [0, 1])
    model.effortLimit = np.full(7, 5.0)
    thruster = np.array([0.0, 0.0, 1.0, 0.1, 0.0, 0.0, 0.0])
    dyn = gd.NewtonEuler(model, actuation=np.column_stack([np.eye(7)[6], np.eye(7)[2], thruster]))
    bounds = ocp.Bounds.of(dyn, model)
    assert bounds.u_names == ("RX_1", "FreeFlyer_0[2]", "u[2]")
    assert bounds.passive == ()
    assert bounds.u_upper.tolist() == [5.0, 5.0, np.inf]
    assert len(ocp.Bounds.of(gd.NewtonEuler(model), model).passive) == 6


@pytest.mark.long
def test_efforts_of_a_function_have_the_bounds_of_the_user() -> None:
    """The same problem as with the matrix that the Function multiplies by."""
    model, b = models_of_gears(), np.array([[2.0, 0.0], [0.5, -1.0]])
    q, u = ca.SX.sym("q", 2), ca.SX.sym("u", 2)
    function = ca.Function("gears", [q, u], [ca.DM(b) @ u], ["q", "u"], ["tau"])
    found = []
    for actuation in (b, function):
        dyn = gd.NewtonEuler(model, actuation=actuation)
        bounds = ocp.Bounds.of(dyn, model, u={"u[0]": 1.2, dyn.actuator_names[1]: (-9.0, 9.0)})
        problem = ocp.Problem(dyn, 0.6, 5, bounds=bounds, degree=2)
        problem.start([0.1, 0.2])
        problem.end([0.4, -0.2])
        problem.minimize(problem.integral(lambda u, v: ca.sumsqr(u) + ca.sumsqr(v)))
        found.append(problem.solve())
    assert found[1].bounds.u_names == ("u[0]", "u[1]")
    assert np.abs(found[0].u[:, 0]).max() == pytest.approx(1.2, abs=1e-6)
    assert relative_error(found[1].u, found[0].u) < 1e-8


def models_of_gears() -> pin.Model:
    """Horizontal: nothing holds it up."""
    model = gd.load_urdf("two_link_arm")
    model.gravity = pin.Motion.Zero()
    return model


def test_an_unlimited_effort_is_so_behind_any_gear() -> None:
    model = slider()
    model.effortLimit = np.array([np.finfo(float).max])
    bounds = ocp.Bounds.of(gd.NewtonEuler(model, actuation=[[1e-3]]), model)
    assert (bounds.u_lower.item(), bounds.u_upper.item()) == (-np.inf, np.inf)


def test_bounds_of_other_actuators_are_refused() -> None:
    model = gd.load_urdf("two_link_arm")
    acrobot = gd.NewtonEuler(model, actuation=[[1.0], [0.0]])
    with pytest.raises(ArgumentError, match="the bounds are not those of two_link_arm"):
        ocp.Problem(acrobot, 1.0, 5, bounds=ocp.Bounds.of(gd.NewtonEuler(model), model))
    with pytest.raises(UnknownNameError, match="joint2"):
        ocp.Bounds.of(acrobot, model, u={"joint2": 1.0})


def test_bounds_are_those_of_a_robot() -> None:
    model = gd.load_urdf("two_link_arm")
    with pytest.raises(ArgumentTypeError, match=r"^Bounds.of takes a Dynamics, as gd.NewtonEuler\(model\), not Model$"):
        ocp.Bounds.of(model, model)

"""Natural modes that follow their loads where contacts and loops hold the arm."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import root

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import neutral
from tests.helpers.linkages import COUPLER, closed_four_bar, four_bar, four_bar_loop
from tests.helpers.sets import quick
from tests.ocp.test_quasi_static import MODEL, arm, continuous

pytestmark = pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning", "ignore:link .* its body of")

START = np.array([0.3, -1.6, 0, 0, 0, 0])
HINGES = ["link1", "link2"]


def pressing(dyn: gd.Dynamics, q: np.ndarray = START) -> gd.ConstrainedDynamics:
    """The arm whose tip stays on the line x = const through its place at q."""
    return gd.ConstrainedDynamics(dyn, [gd.Contact("tip", rows=("x",))]).anchored(q)


CON = pressing(arm(100.0))  # 2.5, 15, 54 and 187 Hz, joints locked
END = CON.closed_configuration([1.2, -1.2, 0, 0, 0, 0], hold=["joint2", *HINGES])


def problem(
    con: gd.Dynamics | gd.ConstrainedDynamics, duration: float, intervals: int, **options: object
) -> ocp.Problem:
    made = ocp.Problem(con, duration, intervals, **options)  # type: ignore[arg-type]
    made.minimize(made.integral(lambda u: ca.sumsqr(u)))
    return made


def from_start_to_end(con: gd.ConstrainedDynamics, **options: object) -> ocp.Problem:
    made = problem(con, 1.5, 6, **({"quasi_static": 30.0} | options))
    made.start(START[: con.tree.nq])
    made.end(END[: con.tree.nq])
    return made


def flexible_four_bar(stiffness: float) -> gd.ConstrainedDynamics:
    """A linkage whose coupler and rocker bend, by three modes."""
    links = {
        f"{name} bar": gd.FlexibleLink(gd.Beam(length, 1.0, EI_z=stiffness), bending_y=gd.modes.clamped_free(modes))
        for name, length, modes in (("coupler", COUPLER, 2), ("rocker", 0.6, 1))
    }
    loop = gd.Loop("coupler bar tip", "rocker end", "3D")
    return gd.ConstrainedDynamics(gd.FlexibleArm(four_bar(), links), [loop], regularization=1e-6)


def left_at_stages(con: gd.ConstrainedDynamics, solution: ocp.Solution) -> float:
    """The largest residual of the equations of motion, with the forces of the plan."""
    stages, dyn = solution.stages, con.dynamics
    u = stages.u if len(stages.u) == len(stages.t) else np.repeat(solution.u, len(stages.t) // len(solution.u), axis=0)
    left = dyn.inverse_dynamics(stages.q.T, stages.v.T, stages.a.T).full() - dyn.actuation @ u.T
    for k, (q, forces) in enumerate(zip(stages.q, stages.forces, strict=True)):
        left[:, k] -= con.jacobian(q).full().T @ forces
    return float(np.abs(left).max())


@pytest.mark.parametrize("degree", quick([1, 2, 3], 2))
@pytest.mark.parametrize("cutoff", quick([30.0, 1.0], 30.0))
def test_an_arm_at_rest_presses_as_in_statics(degree: int, cutoff: float) -> None:
    """Deflections and the force of the contact are those of K x = Jᵀ f, J_jᵀ f = −u and c = 0."""
    u = -5.0 * CON.jacobian(START).full()[0, :2]

    def left(x: np.ndarray) -> np.ndarray:
        q, f = x[:6], x[6:]
        tau = CON.dynamics.inverse_dynamics(q, np.zeros(6), np.zeros(6)).full().ravel() - np.r_[u, 0, 0, 0, 0]
        return np.r_[tau - CON.jacobian(q).full().T @ f, CON.residual(q).full().ravel()]

    found = root(left, np.r_[START, 5.0], tol=1e-14).x
    assert np.abs(left(found)).max() < 1e-13
    assert np.abs(found[2:6]).max() > 0.01
    resting = ocp.Problem(CON, 0.5, 3, degree=degree, quasi_static=cutoff)
    resting.start(found[:6])
    wanted = ca.DM(u)
    resting.minimize(resting.integral(lambda u: ca.sumsqr(u - wanted) + 1))  # a size of the cost, to end a solve by
    solution = resting.solve()
    assert np.abs(solution.q - found[:6]).max() < 1e-9
    assert np.abs(solution.stages.q - found[:6]).max() < 1e-9
    assert np.abs(solution.stages.forces - found[6]).max() < 1e-9


@pytest.mark.parametrize("degree", quick([1, 2, 3], 2))
def test_constraints_hold_at_the_grid(degree: int) -> None:
    """To rounding at all instants; fast modes have no velocity, and states leave what is fixed by deflections alone."""
    solution = from_start_to_end(CON, degree=degree).solve()
    for q, v in zip(solution.q, solution.v, strict=True):
        assert np.abs(CON.residual(q).full()).max() < 1e-12
        assert np.abs(CON.velocity(q, v).full()).max() < 1e-12
    assert left_at_stages(CON, solution) < 1e-7
    shapes = CON.dynamics.natural_modes(neutral(CON.tree), joints="locked")[1][2:, -4:]
    for rows in (solution.v, solution.stages.v, solution.stages.a):
        natural = np.linalg.solve(shapes, rows[:, 2:].T)
        assert np.abs(natural[2:]).max() < 1e-9 * np.abs(natural[:2]).max()
    fast = np.linalg.solve(shapes, solution.stages.q[:, 2:].T)[2:]
    assert np.abs(fast).max() > 1e-5
    for found, given in ((solution.q[0], START), (solution.q[-1], END)):
        moved = (found - given)[:2]
        assert np.abs(moved).max() < 1e-4
        along = CON.jacobian(given).full()[0, :2]
        slow = np.linalg.solve(shapes, (found - given)[2:])[:2]
        normal = np.r_[along, CON.jacobian(given).full()[0, 2:] @ shapes[:, :2]]
        states = np.r_[moved, slow]
        assert np.abs(states - normal * (normal @ states) / (normal @ normal)).max() < 1e-9


@pytest.mark.long
def test_stages_alone_do_not_hold_them() -> None:
    """fatrop is refused before it is built; with all modes vibrating it is not."""
    with pytest.raises(UnsupportedError, match=r"^fatrop: two_link_flexible: contacts or loops hold where fast modes"):
        from_start_to_end(CON).solver("fatrop")
    from_start_to_end(CON, degree=1, quasi_static=None).solver("fatrop")


@pytest.mark.long
def test_plans_tend_to_those_of_the_rigid_robot() -> None:
    """As 1/stiffness: 3.8e-3 and 3.8e-4 rad apart; and what all inertia makes of them, 1.2e-2 and 1e-3."""
    rigid = from_start_to_end(pressing(gd.NewtonEuler(MODEL), START[:2]), control="linear", quasi_static=None).solve()
    apart, missed = [], []
    for stiffness in (1e2, 1e3):
        plan = from_start_to_end(pressing(arm(stiffness)), control="linear", quasi_static=0.1).solve()
        apart.append(np.abs(plan.q[:, :2] - rigid.q).max())
        missed.append(np.abs(plan.simulate().q[-1] - plan.q[-1])[:2].max())
    assert apart[0] < 0.01
    assert apart[1] < apart[0] / 9
    assert missed[0] < 0.02
    assert missed[1] < missed[0] / 9


@pytest.mark.long
def test_linkages_tend_to_the_rigid_one() -> None:
    """As 1/stiffness: 8.5e-4 and 8.5e-5 rad apart."""
    ends = [closed_four_bar(crank) for crank in (0.4, 1.4)]

    def plan(con: gd.ConstrainedDynamics, cutoff: float | None) -> ocp.Solution:
        made = problem(con, 1.0, 10, control="linear", degree=2, quasi_static=cutoff)
        still = np.zeros(con.tree.nq - 3)
        made.start(np.r_[ends[0], still])
        made.end(np.r_[ends[1], still])
        return made.solve()

    rigid, apart = plan(four_bar_loop(), None), []
    for stiffness in (5e2, 5e3):
        found = plan(flexible_four_bar(stiffness), 0.1)
        assert found.violations["contacts and loops"] < 1e-9
        apart.append(np.abs(found.q[:, :3] - rigid.q).max())
    assert apart[0] < 0.002
    assert apart[1] < apart[0] / 9


@pytest.mark.long
def test_joints_without_end_and_rotors() -> None:
    """The elbow turns without end: the same plan. A rotor keeps its inertia, and all equations hold."""
    turning = arm(100.0, continuous())
    kin = gd.Kinematics(turning.tree)
    ends = [kin.integrate(neutral(turning.tree), q).full().ravel() for q in (START, END)]
    made = problem(pressing(turning, ends[0]), 1.5, 12, control="linear", quasi_static=30.0)
    made.start(ends[0])
    made.end(ends[1])
    plain = problem(CON, 1.5, 12, control="linear", quasi_static=30.0)
    plain.start(START)
    plain.end(END)
    found, plan = made.solve(), plain.solve()
    assert found.cost == pytest.approx(plan.cost, rel=1e-6)
    assert found.length_violation < 1e-12
    assert found.violations["contacts and loops"] < 1e-9

    rotor = {"joint1": gd.FlexibleJoint(stiffness=300.0, rotor_inertia=1.0, damping=0.1)}
    driven = gd.FlexibleArm(MODEL, arm(100.0).links, rotor)
    con = pressing(driven, np.r_[START, START[0]])
    made = problem(con, 1.5, 12, control="linear", quasi_static=30.0)
    made.start(np.r_[START, START[0]])
    made.end(np.r_[END, END[0]])
    found = made.solve()
    assert found.violations["contacts and loops"] < 1e-9
    assert left_at_stages(con, found) < 1e-7
    assert np.abs(found.stages.a[:, -1]).max() > 0.1


@pytest.mark.long
def test_phases_under_one_contact_are_one_motion() -> None:
    """Nearly, since where two meet, contacts hold with the deflections before and after: 6e-6 apart in cost."""
    whole = problem(CON, 1.5, 24, degree=2, quasi_static=30.0)
    first, last = (problem(CON, time, n, degree=2, quasi_static=30.0) for time, n in ((1.0, 16), (0.5, 8)))
    for begin, end in ((whole, whole), (first, last)):
        begin.start(START)
        end.end(END)
    parts = ocp.Phases([first, last]).solve()
    assert parts.cost == pytest.approx(whole.solve().cost, rel=1e-4)
    assert parts.constraint_violation < 1e-9
    assert [each.size for each in parts.impulses] == [0, 0]


@pytest.mark.long
def test_a_contact_takes_hold_by_an_impact() -> None:
    """M (v⁺ − v⁻) = Jᵀ Λ along the states; fast modes have no momentum."""
    flight = problem(CON.dynamics, 1.0, 5, degree=2, quasi_static=30.0)
    held = problem(CON, 1.0, 5, degree=2, quasi_static=30.0)
    flight.start(START + np.eye(6)[1] * 0.4)
    held.end(END)
    found = ocp.Phases([flight, held]).solve()
    before, after = found.phases[0], found.phases[1]
    shapes = CON.dynamics.natural_modes(neutral(CON.tree), joints="locked")[1][2:, -4:-2]
    states = np.block([[np.eye(2), np.zeros((2, 2))], [np.zeros((4, 2)), shapes]])
    q, change = after.q[0], after.v[0] - before.v[-1]
    left = CON.dynamics.mass_matrix(q).full() @ change - CON.jacobian(q).full().T @ found.impulses[1]
    assert np.abs(states.T @ left).max() < 1e-9
    assert np.abs(found.impulses[1]).max() > 1e-3
    assert np.abs(CON.velocity(q, after.v[0]).full()).max() < 1e-9
    assert found.constraint_violation < 1e-9


@pytest.mark.long
def test_intervals_decide_by_themselves() -> None:
    """Modes of more than four periods in an interval follow their loads by default, as without a contact."""
    assert [ocp.Problem(CON, 2.0, n)._system.stiff for n in (4, 10, 40, 120)] == [3, 2, 1, 0]


@pytest.mark.long
def test_a_free_base_holds_on_by_its_tip() -> None:
    """A quaternion keeps its length; the costs with and without inertia of the fast modes are 4e-5 apart."""
    model = gd.load_urdf("two_link_flexible", root_joint=pin.JointModelFreeFlyer())
    for joint, mass, at in ((1, 2.0, 0.0), (2, 0.1, 0.4), (3, 0.1, 0.4)):
        body = pin.Inertia(mass, np.array([at, 0, 0]), 0.05 * mass * np.eye(3))
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    dyn = arm(100.0, model)
    displacement = np.r_[0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.3, -1.0, np.zeros(4)]
    start = gd.Kinematics(dyn.tree).integrate(neutral(dyn.tree), displacement).full().ravel()
    con = gd.ConstrainedDynamics(dyn, [gd.Contact("tip", "3D")]).anchored(start)
    near = gd.Kinematics(dyn.tree).integrate(start, 0.1 * np.eye(12)[3:8].sum(axis=0)).full().ravel()
    goal, costs = ca.DM(con.closed_configuration(near, hold=HINGES)), []
    for cutoff in (30.0, None):
        made = ocp.Problem(con, 0.3, 6, degree=2, quasi_static=cutoff)
        made.start(start)
        made.minimize(made.integral(lambda u, q: 0.01 * ca.sumsqr(u) + ca.sumsqr(q - goal)))
        found = made.solve(options={"ipopt.tol": 1e-11})
        costs.append(found.cost)
        assert found.length_violation < 1e-12
        assert found.violations["contacts and loops"] < 1e-9
        assert np.abs(found.q[0] - start).max() < 1e-3
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)


@pytest.mark.long
def test_a_solver_begins_where_it_is_measured() -> None:
    """Built before any value is known; v is fixed along what the contact leaves free, and J v = 0."""
    made = problem(CON, 1.5, 6, quasi_static=30.0)
    made.start(made.parameter("q0", 6), made.parameter("v0", 6))
    made.end(END)
    solver = made.solver()
    assert solver(q0=START, v0=0.0).solved
    v = CON.consistent_velocity(START, [0.3, -0.2, 0, 0, 0, 0])
    moving = solver(q0=START + 0.001 * np.eye(6)[0], v0=v)
    assert moving.solved
    assert 0 < moving.corrections["q of start"] < 1e-3
    assert np.abs(CON.velocity(moving.q[0], moving.v[0]).full()).max() < 1e-12
    assert np.abs(moving.v[0, :2] - v[:2]).max() < 1e-3

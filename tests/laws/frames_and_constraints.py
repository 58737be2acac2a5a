"""Laws of frames, momenta and constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.errors import ArgumentError
from tests.laws.laws import DIFFERENCED, TIGHT, Compared, derivative, jacobian, law, solved
from tests.laws.robots import DAMPING, STIFFNESS, Robot, State, Vector, constraint_of, frame_of

REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


def frame_and_reference(robot: Robot) -> tuple[str, pin.ReferenceFrame]:
    """A frame on the last link or on a flexible one, and a reference; consecutive seeds go through these."""
    case = robot.case
    flexible = [joint for joint in case.joints if joint.modes]
    joint = flexible[0] if flexible and case.state % 8 == 3 else case.joints[-1]
    return frame_of(joint), REFERENCES[case.state % 3]


@law
def frames(robot: Robot) -> Iterator[Compared]:
    """Placement, twist and accelerations: the laws between them, and beside Pinocchio's."""
    if not robot.case.has_rotations:
        return
    kin, s, (frame, reference) = robot.kinematics, robot.states[0], frame_and_reference(robot)
    q, v, a = s.q, s.v, s.a
    placed, j = kin.frame_placement(frame), kin.frame_jacobian(frame, reference)(q).full()
    twist = kin.frame_velocity(frame, reference)(q, v).full().ravel()
    spatial = kin.frame_acceleration(frame, reference)(q, v, a).full().ravel()
    classical = kin.frame_classical_acceleration(frame, reference)(q, v, a).full().ravel()
    yield "J v", j @ v, twist, TIGHT
    bias = kin.frame_bias_acceleration(frame, reference)(q, v).full().ravel()
    yield "J a + bias", j @ a + bias, spatial, TIGHT
    yield "ω × v", classical, spatial + np.append(np.cross(twist[3:], twist[:3]), np.zeros(3)), TIGHT
    local = kin.frame_velocity(frame, pin.LOCAL)(q, v).full().ravel()
    turning = placed(q).full()[:3, :3].T @ derivative(lambda h: placed(robot.moved(q, h * v)).full())[:3]
    yield "dT/dt", np.column_stack([pin.skew(local[3:]), local[:3]]), turning, DIFFERENCED
    if robot.case.is_flexible:
        return
    model, data, index = robot.truth, robot.truth.createData(), robot.truth.getFrameId(frame)
    theirs = pin.computeFrameJacobian(model, data, q, index, reference)
    yield "J", j, theirs.reshape(j.shape), TIGHT  # a vector where nv = 1
    pin.forwardKinematics(model, data, q, v, a)
    yield "T", placed(q).full(), pin.updateFramePlacement(model, data, index).homogeneous, TIGHT
    yield "twist", twist, pin.getFrameVelocity(model, data, index, reference).vector, TIGHT
    yield "spatial", spatial, pin.getFrameAcceleration(model, data, index, reference).vector, TIGHT
    wanted = pin.getFrameClassicalAcceleration(model, data, index, reference).vector
    yield "classical", classical, wanted, TIGHT


@law
def frame_derivatives(robot: Robot) -> Iterator[Compared]:
    """Beside differences along the motion, and along each velocity."""
    if not robot.case.has_rotations:
        return
    kin, s, given = robot.kinematics, robot.states[0], frame_and_reference(robot)
    q, v, a, nv = s.q, s.v, s.a, robot.dyn.nv
    j, twist, spatial = (getattr(kin, f"frame_{of}")(*given) for of in ("jacobian", "velocity", "acceleration"))
    rate = derivative(lambda h: j(robot.moved(q, h * v)).full())
    yield "dJ", kin.frame_jacobian_rate(*given)(q, v).full(), rate, DIFFERENCED
    by_q, by_v = (x.full() for x in kin.frame_velocity_derivatives(*given)(q, v))
    along_q = jacobian(lambda d: twist(robot.moved(q, d), v).full().ravel(), nv)
    yield "dtwist_dq", by_q, along_q, DIFFERENCED
    yield "dtwist_dv", by_v, j(q).full(), TIGHT
    by_q, by_v, by_a = (x.full() for x in kin.frame_acceleration_derivatives(*given)(q, v, a))
    along_q = jacobian(lambda d: spatial(robot.moved(q, d), v, a).full().ravel(), nv)
    yield "dacceleration_dq", by_q, along_q, DIFFERENCED
    along_v = jacobian(lambda d: spatial(q, v + d, a).full().ravel(), nv)
    yield "dacceleration_dv", by_v, along_v, DIFFERENCED
    yield "dacceleration_da", by_a, j(q).full(), TIGHT


@law
def momenta(robot: Robot) -> Iterator[Compared]:
    """Centre of mass and centroidal momentum beside Pinocchio's, and their rates."""
    if robot.model.nv == robot.dyn.nv and not any(body.mass for body in list(robot.truth.inertias)[1:]):
        return
    if not robot.case.has_rotations:
        return
    kin = robot.kinematics
    m = max(1.0, kin.total_mass)
    for s in robot.states[:1]:
        q, v, a = s.q, s.v, s.a
        j, ag = kin.center_of_mass_jacobian(q).full(), kin.centroidal_map(q).full()
        velocity = kin.center_of_mass_velocity(q, v).full().ravel()
        acceleration = kin.center_of_mass_acceleration(q, v, a).full().ravel()
        h = kin.centroidal_momentum(q, v).full().ravel()
        rate = kin.centroidal_momentum_rate(q, v, a).full().ravel()
        yield "J v", j @ v, velocity, TIGHT
        yield "Ag v", ag @ v / m, h / m, TIGHT
        yield "m v", kin.total_mass * velocity / m, h[:3] / m, TIGHT
        yield "m a", kin.total_mass * acceleration / m, rate[:3] / m, TIGHT

        def along(step: float, s: State = s) -> Vector:
            ahead = robot.moved(s.q, step * s.v), s.v + step * s.a
            place, speed = kin.center_of_mass(ahead[0]), kin.center_of_mass_velocity(*ahead)
            return np.concatenate([kin.centroidal_momentum(*ahead).full().ravel() / m, *speed.full(), *place.full()])

        yield "rates", np.concatenate([rate / m, acceleration, velocity]), derivative(along), DIFFERENCED
        yield from momentum_derivatives(robot, s)
        weight = -kin.total_mass * robot.truth.gravity.linear @ j / m
        if robot.case.is_flexible:
            if "gravity" not in robot.case.parameters:
                yield "g", robot.call("generalized_gravity", s)[0].ravel() / m, weight, TIGHT
            continue
        model, data = robot.truth, robot.truth.createData()
        pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        pin.centerOfMass(model, data, q, v, a)
        yield "total mass", kin.total_mass / m, pin.computeTotalMass(model) / m, TIGHT
        yield "com", kin.center_of_mass(q).full().ravel(), data.com[0], TIGHT
        yield "acceleration", acceleration, data.acom[0], TIGHT
        yield "h", h / m, data.hg.vector / m, TIGHT
        yield "hdot", rate / m, data.dhg.vector / m, TIGHT
        if "base" not in robot.case.parameters:
            yield "g", robot.call("generalized_gravity", s)[0].ravel() / m, weight, TIGHT


def momentum_derivatives(robot: Robot, s: State) -> Iterator[Compared]:
    """The rate of the centroidal map, and the derivatives of the momentum and of its rate."""
    kin, m = robot.kinematics, max(1.0, robot.kinematics.total_mass)
    ag, d_ag = kin.centroidal_map(s.q).full(), kin.centroidal_map_rate(s.q, s.v).full()
    parts = [part.full() for part in kin.centroidal_dynamics_derivatives(s.q, s.v, s.a)]
    by_q, rate_by_q, rate_by_v, rate_by_a = parts
    rate = kin.centroidal_momentum_rate(s.q, s.v, s.a).full().ravel()
    yield "Ag a + dAg v", (ag @ s.a + d_ag @ s.v) / m, rate / m, TIGHT
    yield "dhdot_da", rate_by_a / m, ag / m, TIGHT
    yield "dhdot_dv", rate_by_v / m, (d_ag + by_q) / m, TIGHT
    d = np.random.default_rng(robot.case.state).normal(size=(2, len(s.v)))

    def along_v(step: float) -> Vector:
        return np.asarray(kin.centroidal_map(robot.moved(s.q, step * s.v)).full() / m)

    def along_d(step: float) -> Vector:
        ahead = robot.moved(s.q, step * d[0]), s.v + step * d[1]
        h, change = (
            kin.centroidal_momentum(robot.moved(s.q, step * d[0]), s.v),
            kin.centroidal_momentum_rate(*ahead, s.a),
        )
        return np.concatenate([h.full().ravel(), change.full().ravel()]) / m

    yield "dAg", d_ag / m, derivative(along_v), DIFFERENCED
    found = np.concatenate([by_q @ d[0], rate_by_q @ d[0] + rate_by_v @ d[1]]) / m
    yield "centroidal derivatives", found, derivative(along_d), DIFFERENCED


@law
def statics(robot: Robot) -> Iterator[Compared]:
    """Torques of wrenches are Jᵀ w, those of a payload what it adds to the weight."""
    if not robot.case.has_rotations:
        return
    kin, s, (frame, reference) = robot.kinematics, robot.states[0], frame_and_reference(robot)
    pushed = {frame_of(joint): REFERENCES[joint.number % 3] for joint in robot.case.joints} | {frame: reference}
    wrenches = np.random.default_rng(robot.case.state).normal(size=(6, len(pushed)))
    each = [kin.frame_jacobian(*at)(s.q).full().T @ w for at, w in zip(pushed.items(), wrenches.T, strict=True)]
    found = gd.joint_torques(kin.tree, pushed, exerted_by="environment", clean=0)(s.q, wrenches)
    yield "J' w", found.full().ravel(), -sum(each), TIGHT
    if robot.case.is_flexible:
        return
    mass, com, loaded, at = 2.5, wrenches[:3, 0], robot.truth.copy(), robot.truth.frames[robot.truth.getFrameId(frame)]
    loaded.appendBodyToJoint(at.parentJoint, pin.Inertia(mass, com, np.zeros((3, 3))), at.placement)
    zero = np.zeros(loaded.nv)
    of_weight = pin.rnea(loaded, loaded.createData(), s.q, zero, zero) - robot.rnea(s.q, zero, zero)
    found = gd.payload_torques(robot.truth, frame, mass, com, clean=0)(s.q)
    size = max(1.0, np.abs(robot.rnea(s.q, zero, zero)).max())
    yield "payload", found.full().ravel() / size, of_weight / size, TIGHT


@law
def constraints(robot: Robot) -> Iterator[Compared]:
    """The KKT system of M, J and what acts; impacts; derivatives beside differences."""
    if not robot.case.constraints or not robot.is_regular or (con := robot.constrained) is None:
        return
    s = robot.states[0]
    tau = s.lam
    call = _caller(robot, con, s)
    m, j = robot.call("mass_matrix", s)[0], call("jacobian")[0]
    kkt = np.block([[m, -j.T], [j, np.zeros((len(j), len(j)))]])
    if np.linalg.cond(kkt) > 1e9:
        return
    allowed = solved(kkt)
    nle = robot.call("inverse_dynamics", s, a=0 * s.a)[0].ravel()  # with wrenches
    bias, c = (call(name)[0].ravel() for name in ("bias_acceleration", "residual"))
    wanted = np.linalg.solve(kkt, np.append(tau - nle, -bias - DAMPING * (j @ s.v) - STIFFNESS * c))
    a, forces = (x.ravel() for x in call("forward_dynamics", tau=tau))
    size = max(1.0, np.abs(tau - nle).max())
    yield "a, forces", np.append(a, forces) / size, wanted / size, allowed
    yield "velocity", call("velocity")[0].ravel(), j @ s.v, TIGHT
    if all(isinstance(each, gd.Contact) for each in con.constraints):  # they are held where the other state has them
        yield from _residual(robot, con)
    u = s.lam[: robot.dyn.nu]
    if robot.case.actuation != "function":
        xdot = call("state_derivative", u=u)[0].ravel()
        driven = call("forward_dynamics", tau=robot.dyn.actuation @ u)[0].ravel()
        size_of_a = max(1.0, np.abs(driven).max())
        yield "state_derivative", xdot[robot.dyn.nq :] / size_of_a, driven / size_of_a, allowed
    error = call("acceleration_error", a=a)[0]
    yield "acceleration_error", error / max(1.0, np.abs(a).max()), 0 * error, allowed
    after, impulses = (x.ravel() for x in call("impact"))
    hit = np.linalg.solve(kkt, np.append(m @ s.v, np.zeros(len(j))))
    yield "impact", np.append(after, impulses), hit, allowed
    if robot.case.has_rotations:
        scale = max(1.0, np.abs(a).max())
        found, wanted = j @ a + bias, _relative_accelerations(robot, con, s, a)
        yield "acceleration", found / scale, wanted / scale, DIFFERENCED
    yield from _equation_and_derivatives(robot, con, s, allowed)


@law
def regularized_constraints(robot: Robot) -> Iterator[Compared]:
    """All constraints, however many depend on each other: proximal steps on the KKT system; derivatives."""
    if not robot.case.constraints or not robot.is_regular:
        return
    mu, s = 0.01, robot.states[0]
    held = {frozenset(each[1:]): constraint_of(robot.case, each) for each in robot.case.constraints}
    try:
        con = gd.ConstrainedDynamics(robot.dyn, list(held.values()), regularization=mu)
    except ArgumentError as error:
        if "no joint moves what it holds" not in str(error):
            raise
        return
    call, m = _caller(robot, con, s), robot.call("mass_matrix", s)[0]
    j, bias = call("jacobian")[0], call("bias_acceleration")[0].ravel()
    driven = s.lam - robot.call("inverse_dynamics", s, a=0 * s.a)[0].ravel()
    kkt, wanted = np.block([[m, -j.T], [j, mu * np.eye(len(j))]]), np.zeros(len(m) + len(j))
    for _ in range(con._set.proximal_steps):
        wanted = np.linalg.solve(kkt, np.append(driven, mu * wanted[len(m) :] - bias))
    found = np.concatenate(call("forward_dynamics", tau=s.lam)).ravel()
    size = max(1.0, np.abs(driven).max())
    yield "a, forces", found / size, wanted / size, solved(kkt) / mu
    if robot.case.state % 2 == 0:
        yield from _equation_and_derivatives(robot, con, s, solved(m))


def _caller(robot: Robot, con: gd.ConstrainedDynamics, s: State) -> Callable[..., list[Vector]]:
    def call(name: str, **others: Vector) -> list[Vector]:
        graph = getattr(con, name)
        return [x.full() for x in graph.call(robot.given(s, graph.name_in(), **others))]

    return call


def _residual(robot: Robot, con: gd.ConstrainedDynamics) -> Iterator[Compared]:
    """It is zero where contacts are held, and its rate there is their velocity."""
    s = robot.states[1]
    call = _caller(robot, con, s)
    residual = call("residual")[0].ravel()
    yield "residual", residual, 0 * residual, TIGHT
    rate = derivative(lambda h: call("residual", q=robot.moved(s.q, h * s.v))[0].ravel())
    yield "rate of the residual", rate, call("velocity")[0].ravel(), DIFFERENCED


def _equation_and_derivatives(
    robot: Robot, con: gd.ConstrainedDynamics, s: State, allowed: float
) -> Iterator[Compared]:
    call, tau = _caller(robot, con, s), s.lam
    a, forces = (x.ravel() for x in call("forward_dynamics", tau=tau))
    size = max(1.0, np.abs(tau).max(), np.abs(a).max(), np.abs(forces).max())
    yield "tau", call("inverse_dynamics", a=a, forces=forces)[0].ravel() / size, tau / size, allowed
    x = con.symbols("q", "v", "tau", "wrenches")
    graph = ca.vertcat(*con.forward_dynamics(*x.values()))
    along_q = ca.jacobian(graph, x["q"]) @ con.tree.tangent_map(x["q"])
    both = ca.horzcat(along_q, ca.jacobian(graph, x["v"]), ca.jacobian(graph, x["tau"]))
    slopes = ca.Function("slopes", list(x.values()), [both]).call(robot.given(s, list(x), tau=tau))[0].full()
    found = call("forward_dynamics_derivatives", tau=tau)
    yield "da_dtau is symmetric to the bit", found[2], found[2].T, 0.0
    both_found = np.vstack([np.hstack(found[:3]), np.hstack(found[3:])])
    size = max(1.0, np.abs(slopes).max())
    yield "derivatives", both_found / size, slopes / size, max(allowed, 1e-10)


def _relative_accelerations(robot: Robot, con: gd.ConstrainedDynamics, s: State, a: Vector) -> Vector:
    """The rate of the velocity; of points the difference of their accelerations, in the axes of the first."""
    kin, found, first = robot.kinematics, [], 0
    names = con.velocity.name_in()
    rate = derivative(
        lambda h: con.velocity(*robot.given(s, names, q=robot.moved(s.q, h * s.v), v=s.v + h * a)).full().ravel()
    )
    for each in con.constraints:
        rows = len(each.holds.units)
        if each.kind != "3D":
            found.append(rate[first : first + rows])
        else:
            points = [each.frame] if isinstance(each, gd.Contact) else [each.first, each.second]
            turn = kin.frame_placement(points[0])(s.q).full()[:3, :3]
            moving = [kin.frame_classical_acceleration(p, pin.LOCAL_WORLD_ALIGNED)(s.q, s.v, a) for p in points]
            of_points = [x.full().ravel()[:3] for x in moving]
            found.append(turn.T @ (of_points[0] - sum(of_points[1:])))
        first += rows
    return np.concatenate(found)

"""The laws that every robot obeys: each gives what is found beside what must be, and how far they may differ.

Pinocchio is the truth where it is right: ``rnea`` always; ``crba``, ``aba`` and energies without joints that mimic
others; the Coriolis matrix where motion subspaces are constant, too, and joints were added depth first.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from tests.laws.robots import Robot, State, Vector

TIGHT = 1e-12
EXACT = 1e-11
DIFFERENCED = 1e-9
"""Of steps 1/32 … 1/256, extrapolated: (1/32)⁸ of a ninth derivative, and 256 times the rounding of 1e-16."""

Compared = tuple[str, Vector, Vector, float]
"""What it is, the value, what it must be, and the tolerance of their relative difference."""
Law = Callable[[Robot], Iterator[Compared]]
LAWS: dict[str, Law] = {}


def law(check: Law) -> Law:
    LAWS[check.__name__] = check
    return check


def extrapolated(differences: Callable[[float], Vector]) -> Vector:
    """The limit for a step to zero of differences whose error is even in the step (Richardson)."""
    table = [differences(2.0**-k) for k in range(5, 9)]
    power = 1
    while len(table) > 1:
        power *= 4
        table = [(power * fine - coarse) / (power - 1) for coarse, fine in pairwise(table)]
    return table[0]


def derivative(f: Callable[[float], Vector]) -> Vector:
    return extrapolated(lambda h: (f(h) - f(-h)) / (2 * h))


def jacobian(f: Callable[[Vector], Vector], n: int) -> Vector:
    """∂f/∂x (n columns) at x = 0."""
    return np.column_stack([derivative(lambda h, unit=unit: f(h * unit)) for unit in np.eye(n)])


def mass_matrix(robot: Robot, s: State) -> Vector:
    """By rnea at unit accelerations; of an arm its own."""
    if robot.case.is_flexible:
        return robot.call("mass_matrix", s)[0]
    zero = np.zeros_like(s.v)
    rest = robot.rnea(s.q, zero, zero)
    return np.array([robot.rnea(s.q, zero, unit) - rest for unit in np.eye(len(s.v))])


def solved(m: Vector) -> float:
    """The tolerance of what is solved with a matrix, which loses as many digits as there are in its condition."""
    return max(EXACT, 1e-14 * float(np.linalg.cond(m)))


@law
def torques_are_those_of_pinocchio(robot: Robot) -> Iterator[Compared]:
    if robot.case.is_flexible:
        return
    for s in robot.states:
        zero = np.zeros_like(s.v)
        acting, weight = robot.force_torque(s.q, s.v), robot.rnea(s.q, zero, zero)
        yield "tau", robot.call("inverse_dynamics", s)[0].ravel(), robot.torque(s), TIGHT
        yield "nle", robot.call("nle", s)[0].ravel(), robot.rnea(s.q, s.v, zero) + acting, TIGHT
        yield "g", robot.call("generalized_gravity", s)[0].ravel(), weight, TIGHT
        m = robot.call("mass_matrix", s)[0]
        yield "M", m, mass_matrix(robot, s), TIGHT
        if not robot.has_mimic and robot.is_depth_first:
            yield "M of crba", m, pin.crba(robot.truth, robot.truth.createData(), s.q), TIGHT


@law
def equation_of_motion(robot: Robot) -> Iterator[Compared]:
    """tau = M a + nle − Σ Jᵀ w with M symmetric and positive, and its solution for a."""
    for s in robot.states:
        m, nle = robot.call("mass_matrix", s)[0], robot.call("nle", s)[0].ravel()
        yield "M is symmetric to the bit", m, m.T, 0.0 if robot.case.has_rotations else TIGHT
        values = np.linalg.eigvalsh(m)
        yield "M is positive", min(0.0, values[0] / values[-1] + 1e-14), 0.0, 0.0
        tau = robot.torque(s)
        push = sum(
            (
                gd.joint_torques(robot.kinematics.tree, frame, reference, clean=0)(s.q, w).full().ravel()
                for (frame, reference), w in zip(robot.dyn.wrenches.items(), s.wrenches.T, strict=True)
            ),
            np.zeros_like(s.v),
        )
        yield "tau", tau, m @ s.a + nle - push, TIGHT
        if not robot.is_regular:
            continue
        inverse = robot.call("mass_matrix_inverse", s)[0]
        yield "Minv is symmetric to the bit", inverse, inverse.T, 0.0
        yield "Minv", inverse @ m, np.eye(len(m)), solved(m)
        a = robot.call("forward_dynamics", s, tau=tau)[0].ravel()
        yield "a", a, s.a, solved(m)
        if not robot.has_mimic and not robot.case.is_flexible:
            acting = robot.wrenches_on_joints(s.q, s.wrenches)
            free = tau - robot.force_torque(s.q, s.v)
            aba = pin.aba(robot.truth, robot.truth.createData(), s.q, s.v, free, acting)
            yield "a of aba", a, aba, solved(m)


@law
def state_derivative(robot: Robot) -> Iterator[Compared]:
    if not robot.is_regular:
        return
    for s in robot.states:
        dyn, u = robot.dyn, s.lam[: robot.dyn.nu]
        xdot = robot.call("state_derivative", s, u=u)[0].ravel()
        if robot.case.actuation == "function":
            tau = robot._actuation(dyn.nq, dyn.nv)(s.q, u).full().ravel()
        else:
            tau = dyn.actuation @ u
        a = robot.call("forward_dynamics", s, tau=tau)[0].ravel()
        yield "a", xdot[dyn.nq :], a, solved(robot.call("mass_matrix", s)[0])
        yield "dq/dt", xdot[: dyn.nq], derivative(lambda h, s=s: robot.moved(s.q, h * s.v)), DIFFERENCED


@law
def coriolis_matrix(robot: Robot) -> Iterator[Compared]:
    """nle = C v + g + forces, dM/dt = C + Cᵀ."""
    dyn = robot.dyn
    if robot.case.is_flexible and any(joint.type.has_quasi_velocities for joint in dyn.tree.joints):
        return
    q, v = ca.SX.sym("q", dyn.nq), ca.SX.sym("v", dyn.nv)
    rate = ca.Function("rate", [q, v], [robot.at_p.mass_matrix_rate(q, v)])
    for s in robot.states:
        c, g = robot.call("coriolis_matrix", s)[0], robot.call("generalized_gravity", s)[0].ravel()
        yield "dM/dt", c + c.T, rate(s.q, s.v).full(), TIGHT
        if robot.p is None or not robot.case.is_flexible:
            yield "nle", robot.call("nle", s)[0].ravel(), c @ s.v + g + acting(robot, s), TIGHT
        if robot.has_constant_subspaces and robot.is_depth_first and not robot.case.is_flexible:
            theirs = pin.computeCoriolisMatrix(robot.truth, robot.truth.createData(), s.q, s.v)
            yield "C", c, theirs, TIGHT


def acting(robot: Robot, s: State) -> Vector:
    """Torques of springs and friction, of modes and flexible joints, whose numbers are those of the model."""
    nv, more = robot.model.nv, robot.dyn.nv - robot.model.nv
    own = np.append(robot.force_torque(s.q[: robot.model.nq], s.v[:nv]), np.zeros(more))
    if not robot.case.is_flexible:
        return own
    x = robot.kinematics.difference(robot.neutral, s.q).full().ravel()
    damping = robot.dyn.damping_matrix - np.diag(np.append(robot.friction[0], np.zeros(more)))
    return own + robot.dyn.stiffness_matrix @ x + damping @ s.v


@law
def energies(robot: Robot) -> Iterator[Compared]:
    """T = ½ v·M v, and dE/dt is the power of tau less what friction takes."""
    dyn, at_p = robot.dyn, robot.at_p
    q, v, a = ca.SX.sym("q", dyn.nq), ca.SX.sym("v", dyn.nv), ca.SX.sym("a", dyn.nv)
    kinetic, potential = at_p.kinetic_energy(q, v), at_p.potential_energy(q)
    rate = ca.jtimes(kinetic + potential, q, dyn.tree.configuration_rate(q, v)) + ca.jtimes(kinetic, v, a)
    rates = ca.Function("rates", [q, v, a], [rate, at_p.dissipated_power_expression(q, v)])
    for s in robot.states:
        m = robot.call("mass_matrix", s)[0]
        t, height = (robot.call(f"{name}_energy", s)[0].item() for name in ("kinetic", "potential"))
        yield "T", t, 0.5 * s.v @ m @ s.v, TIGHT
        rate_of_s, lost = (float(x) for x in rates(s.q, s.v, s.a))
        tau = robot.torque(State(s.q, s.v, s.a, 0 * s.wrenches, s.lam))
        scale = max(1.0, np.abs(tau * s.v).max())
        yield "dE/dt", rate_of_s / scale, (tau @ s.v - lost) / scale, TIGHT
        if robot.case.is_flexible:
            continue
        viscous, coulomb, smoothing = robot.friction
        yield "dissipated power", lost, s.v @ (viscous * s.v + coulomb * np.tanh(s.v / smoothing)), TIGHT
        if not robot.has_mimic and "base" not in robot.case.parameters:
            bare = robot.truth.copy()
            bare.armature = np.zeros(bare.nv)  # Pinocchio leaves out that of unaligned revolute joints
            theirs = pin.computeKineticEnergy(bare, bare.createData(), s.q, s.v)
            yield "T of Pinocchio", t, theirs + 0.5 * s.v @ (robot.truth.armature * s.v), TIGHT
            stretched = zip(robot.force_torque(s.q, 0 * s.v), robot.springs[0], strict=True)
            stored = 0.5 * sum(x * x / k for x, k in stretched if k)
            weight = pin.computePotentialEnergy(robot.truth, robot.truth.createData(), s.q)
            yield "V of Pinocchio", height, weight + stored, TIGHT


@law
def derivatives(robot: Robot) -> Iterator[Compared]:
    """Beside differences of Pinocchio's rnea, of an arm its own; ∂a = −M⁻¹ ∂tau."""
    nv = robot.dyn.nv
    s = robot.states[0]
    dtau_dq, dtau_dv = robot.call("inverse_dynamics_derivatives", s)
    if robot.case.is_flexible:
        yield from _by_differentiation(robot, s, dtau_dq, dtau_dv)
    else:
        stiffness, (viscous, coulomb, smoothing) = robot.springs[0], robot.friction
        by_q = jacobian(lambda d: robot.rnea(robot.moved(s.q, d), s.v, s.a, s.wrenches), nv)
        by_v = jacobian(lambda d: robot.rnea(s.q, s.v + d, s.a, s.wrenches), nv)
        slope = viscous + coulomb / smoothing / np.cosh(s.v / smoothing) ** 2
        yield "dtau_dq", dtau_dq, by_q + np.diag(stiffness), DIFFERENCED
        yield "dtau_dv", dtau_dv, by_v + np.diag(slope), DIFFERENCED
        if robot.has_constant_subspaces and not s.wrenches.size:
            data = robot.truth.createData()
            truth = pin.computeRNEADerivatives(robot.truth, data, s.q, s.v, s.a)
            yield "dtau_dq of Pinocchio", dtau_dq, truth[0] + np.diag(stiffness), EXACT
            yield "dtau_dv of Pinocchio", dtau_dv, truth[1] + np.diag(slope), EXACT
    if not robot.is_regular:
        return
    da_dq, da_dv, inverse = robot.call("forward_dynamics_derivatives", s, tau=robot.torque(s))
    m = robot.call("mass_matrix", s)[0]
    yield "Minv is symmetric to the bit", inverse, inverse.T, 0.0
    yield "Minv", inverse @ m, np.eye(nv), solved(m)
    size = max(1.0, np.abs(dtau_dq).max(), np.abs(dtau_dv).max())
    yield "da_dq", m @ da_dq / size, -dtau_dq / size, solved(m)
    yield "da_dv", m @ da_dv / size, -dtau_dv / size, solved(m)


def _by_differentiation(robot: Robot, s: State, dtau_dq: Vector, dtau_dv: Vector) -> Iterator[Compared]:
    dyn = robot.dyn
    given = dyn.symbols("q", "v", "a", "wrenches")
    tau = dyn.inverse_dynamics(*given.values())
    along = ca.jacobian(tau, given["q"]) @ dyn.tree.tangent_map(given["q"])
    both = ca.Function("both", list(given.values()), [along, ca.jacobian(tau, given["v"])])
    by_q, by_v = both.call(robot.given(s, list(given)))
    yield "dtau_dq", dtau_dq, by_q.full(), EXACT
    yield "dtau_dv", dtau_dv, by_v.full(), EXACT


@law
def hessian(robot: Robot) -> Iterator[Compared]:
    """Block by block beside differences of the first derivatives, without friction, which bends too sharply."""
    nv = robot.dyn.nv
    if nv > (14 if robot.case.state % 8 == 0 else 8):  # its graph grows with nv²
        return
    s = robot.states[0]
    qq, qv, vv, aq = robot.call("inverse_dynamics_hessian", s)
    yield "qq is symmetric to the bit", qq, qq.T, 0.0
    yield "vv is symmetric to the bit", vv, vv.T, 0.0

    def first(d: Vector, k: int, by: str) -> Vector:
        q, v = (robot.moved(s.q, d), s.v) if by == "q" else (s.q, s.v + d)
        return s.lam @ robot.call("inverse_dynamics_derivatives", s, q=q, v=v)[k]

    by_q = jacobian(lambda d: first(d, 0, "q"), nv)
    yield "qq", qq, (by_q + by_q.T) / 2, DIFFERENCED
    yield "qv", qv, jacobian(lambda d: first(d, 1, "q"), nv).T, DIFFERENCED
    yield "vq", qv, jacobian(lambda d: first(d, 0, "v"), nv), DIFFERENCED
    m_lam = jacobian(lambda d: robot.call("mass_matrix", s, q=robot.moved(s.q, d))[0] @ s.lam, nv)
    yield "aq", aq, m_lam, DIFFERENCED
    if not (robot.case.friction or any(joint.friction for joint in robot.case.joints)):
        yield "vv", vv, jacobian(lambda d: first(d, 1, "v"), nv), DIFFERENCED


@law
def regressors(robot: Robot) -> Iterator[Compared]:
    """Linear in the bodies: Y π is tau of links and weight, and T and V likewise; base parameters lose nothing."""
    if robot.case.is_flexible or "base" in robot.case.parameters:
        return
    model = robot.truth.copy()
    model.armature = np.zeros(model.nv)
    data = model.createData()
    pi = np.concatenate([body.toDynamicParameters() for body in list(model.inertias)[1:]])
    for s in robot.states:
        y = robot.call("torque_regressor", s)[0]
        yield "Y π", y @ pi, pin.rnea(model, data, s.q, s.v, s.a), EXACT
        if "placement" not in robot.case.parameters:  # they are those of a geometry in numbers
            base = robot.call("base_regressor", s)[0] @ robot.dyn.base_parameters.matrix
            yield "base parameters", base, y, EXACT
        kinetic, potential = (robot.call(f"{name}_energy_regressor", s)[0][0] for name in ("kinetic", "potential"))
        m = mass_matrix(robot, s) - np.diag(robot.truth.armature)
        yield "T", kinetic @ pi, 0.5 * s.v @ m @ s.v, EXACT
        if not robot.has_mimic:
            yield "Y", y, pin.computeJointTorqueRegressor(model, data, s.q, s.v, s.a).reshape(y.shape), EXACT
            yield "Y of T", kinetic, pin.computeKineticEnergyRegressor(model, data, s.q, s.v), EXACT
            yield "Y of V", potential, pin.computePotentialEnergyRegressor(model, data, s.q), EXACT


@law
def at_and_under(robot: Robot) -> Iterator[Compared]:
    """With numbers in the place of p and wrenches, all Functions are the same; so are those of a copy, to the bit."""
    if robot.p is None and not robot.dyn.wrenches:
        return
    s = robot.states[0]
    fixed = robot.at_p.under(s.wrenches) if robot.dyn.wrenches else robot.at_p
    names = ["inverse_dynamics", "mass_matrix", "potential_energy"]
    twin, given = pickle.loads(pickle.dumps(fixed)), (s.q, s.v, s.a)
    yield "pickled", twin.inverse_dynamics(*given).full(), fixed.inverse_dynamics(*given).full(), 0.0
    for name in (*names, *(["forward_dynamics"] if robot.is_regular else [])):
        graph = getattr(fixed, name)
        assert not {"p", "wrenches"} & set(graph.name_in())
        tau = robot.torque(s)
        found = graph.call(robot.given(s, graph.name_in(), tau=tau))
        allowed = solved(robot.call("mass_matrix", s)[0]) if name == "forward_dynamics" else EXACT
        for value, wanted in zip(found, robot.call(name, s, tau=tau), strict=True):
            yield name, value.full(), wanted, allowed


@law
def terms(robot: Robot) -> Iterator[Compared]:
    """The parts that each formulation names add up to tau; N-E's are Pinocchio's wrenches."""
    name = robot.case.formulation
    if robot.case.is_flexible or "base" in robot.case.parameters:
        return
    for s in robot.states:
        graph = robot.dyn.terms
        parts = dict(zip(graph.name_out(), robot.call("terms", s), strict=True))
        tau = robot.rnea(s.q, s.v, s.a)
        if name == "newton_euler":
            data = robot.truth.createData()
            pin.rnea(robot.truth, data, s.q, s.v, s.a)
            wanted = np.array([f.vector for f in list(data.f)[1:]]).T
            yield "wrenches", np.vstack([parts["force"], parts["moment"]]), wanted, TIGHT
            continue
        motors = np.diag(parts["I_act"].ravel())
        if name == "lagrange_euler":
            c = robot.call("coriolis_matrix", s)[0]
            tensor = np.array([parts[f"h_{i + 1}"] for i in range(robot.dyn.nv)])
            yield "h v", tensor @ s.v, c, TIGHT
            yield "tau", (parts["D"] + motors) @ s.a + tensor @ s.v @ s.v + parts["c"].ravel(), tau, TIGHT
            if robot.dyn.nq == robot.dyn.nv:
                yield "Christoffel's symbols", tensor, tensor.transpose(0, 2, 1), TIGHT
            continue
        h = (parts["H_tra"] + parts["H_rot"] + parts["G"]).ravel()
        yield "tau", (parts["D_tra"] + parts["D_rot"] + motors) @ s.a + h, tau, TIGHT
        links = robot.call("link_torques", s)[0].sum(axis=1)
        yield "links", links + motors @ s.a + parts["G"].ravel(), tau, TIGHT
        yield from _translational_and_rotational(robot, s, parts)


def _translational_and_rotational(robot: Robot, s: State, parts: dict[str, Vector]) -> Iterator[Compared]:
    """Each is Lagrangian by itself: Pinocchio without rotational inertias, and without masses."""
    translational, rotational = robot.truth.copy(), robot.truth.copy()
    for k in range(1, robot.truth.njoints):
        body = robot.truth.inertias[k]
        translational.inertias[k] = pin.Inertia(body.mass, body.lever, np.zeros((3, 3)))
        rotational.inertias[k] = pin.Inertia(0, body.lever, body.inertia)
    zero = np.zeros_like(s.v)
    for part, alone in (("tra", translational), ("rot", rotational)):
        alone.armature, data = zero, alone.createData()
        g = pin.rnea(alone, data, s.q, zero, zero).copy()
        h = pin.rnea(alone, data, s.q, s.v, zero) - g
        d = np.array([pin.rnea(alone, data, s.q, zero, unit) - g for unit in np.eye(len(zero))])
        yield f"D_{part}", parts[f"D_{part}"], d, TIGHT
        yield f"H_{part}", parts[f"H_{part}"].ravel(), h, TIGHT


@law
def validated(robot: Robot) -> Iterator[Compared]:
    """An arm beside the validator's second computation and, undeformed, beside Pinocchio."""
    if not robot.case.is_flexible:
        return
    report = gd.validate(robot.dyn, robot.model, samples=12, p=robot.p, progress=False)
    for check in report.checks:
        yield check.name, check.error, 0.0, max(check.tolerance, 1e-10)

"""The quantities of a system under test beside those of its reference, the laws, and what explains a failure.

Derivatives are compared along one direction with those of the robot's own ``inverse_dynamics``, which CasADi
differentiates and which is compared with the reference itself. Differences would not do: they lose all digits where
smooth Coulomb friction changes its sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.spatial.arrays import Array
from gdalembert.validation import diagnosis
from gdalembert.validation.diagnosis import UNDER_WRENCHES, Explanation
from gdalembert.validation.references import ReferenceRecursion, ReferenceSample
from gdalembert.validation.report import AFTER_CLEANING, EXACT, LAW, SOLVED, Check, Residual
from gdalembert.validation.states import Mask, States, Torque, decompose, eigenvalues, largest, rnea, times
from gdalembert.validation.systems import OF_ACCELERATION, OF_TORQUE, PUSHED_TORQUE, SystemUnderTest, direction_of

_SINGULAR = 1e12
"""Condition number of M above which accelerations are not judged."""


def checks(system: SystemUnderTest, states: States, tolerance: float | None = None) -> Iterator[Check]:
    """Every quantity at n states, judged by its own tolerance, or by one that is given."""
    for residual in _residuals(system, system.reference.sample(states)):
        if residual.mask is None or np.any(residual.mask):
            yield residual.check(states, system.reference.velocity_names, tolerance, system.p)


def _residuals(system: SystemUnderTest, sample: ReferenceSample) -> Iterator[Residual]:
    """Every quantity beside that of the reference."""
    if (robot := system.robot) is None:
        yield from _of_torque_function(system, sample)
        return
    yield from _torques(system, sample)
    yield from _accelerations(system, sample, robot)
    yield from _derivatives(system, sample)
    yield from _energies_and_laws(system, sample)
    if UNDER_WRENCHES[0] in system.functions:
        yield from _under_wrenches(system, sample, robot)
    if isinstance(system.reference, ReferenceRecursion):
        yield from _elasticity(system, sample, system.reference, robot)
        yield from _undeformed(system, sample, system.reference, robot)


def _of_torque_function(system: SystemUnderTest, sample: ReferenceSample) -> Iterator[Residual]:
    tested, terms = decompose(system.torque, sample.states), sample.terms
    sizes, tolerance = sample.sizes, system.tolerance
    yield Residual("tau", "tau", tested.tau, terms.tau, tolerance, addends=sizes.motion)
    yield Residual("M", "mass matrix", tested.mass_matrix, terms.mass_matrix, tolerance)
    yield Residual("C v", "velocity terms", tested.velocity, terms.velocity, tolerance, addends=sizes.velocity)
    yield Residual("g", "gravity", tested.gravity, terms.gravity, tolerance)
    total = tested.sum(sample.states.a)
    yield Residual("tau = M a + C v + g", "tau", tested.tau, total, tolerance, addends=sizes.motion)


def _torques(system: SystemUnderTest, sample: ReferenceSample) -> Iterator[Residual]:
    """Torques beside the reference; ``generalized_gravity`` and C leave out springs and dampers."""
    f, q, v, terms, sizes = system.functions, sample.states.q, sample.states.v, sample.terms, sample.sizes
    tau, tolerance = system.torque(q, v, sample.states.a), system.tolerance
    yield Residual("inverse_dynamics", "tau", tau, sample.tau, tolerance, addends=sizes.tau)
    yield Residual("mass_matrix", "mass matrix", f["mass_matrix"](q), terms.mass_matrix, tolerance)
    part = "velocity terms and gravity"
    yield Residual("nle", part, f["nle"](q, v), sample.nle, tolerance, addends=sizes.nle)
    tested, gravity, name = f["generalized_gravity"](q), sample.without.gravity, "generalized_gravity"
    yield Residual(name, "gravity", tested, gravity, tolerance, addends=sizes.gravity)
    if "coriolis_matrix" in f:
        tested, velocity = times(f["coriolis_matrix"](q, v), v), sample.without.velocity
        yield Residual("coriolis_matrix", "velocity terms", tested, velocity, tolerance, addends=sizes.velocity)


def _accelerations(system: SystemUnderTest, sample: ReferenceSample, robot: Dynamics) -> Iterator[Residual]:
    f, states, terms, part = system.functions, sample.states, sample.terms, "forward dynamics"
    q, v, a, regular = states.q, states.v, states.a, sample.condition <= _SINGULAR
    system.counts["states"] += len(states)
    system.counts["singular"] += int(np.sum(~regular)) if "forward_dynamics" in f else 0
    if "mass_matrix_inverse" in f:
        inverse = np.zeros_like(terms.mass_matrix)
        inverse[regular] = np.linalg.inv(terms.mass_matrix[regular])
        scale = np.maximum(sample.condition * system.noise / SOLVED, 1)
        tested = f["mass_matrix_inverse"](q)
        yield Residual("mass_matrix_inverse", "mass matrix", tested, inverse, SOLVED, scale, regular)
    if "forward_dynamics" in f:
        tested, scale = f["forward_dynamics"](q, v, sample.tau), _acceleration_scale(system, sample, a)
        yield Residual("forward_dynamics", part, tested, a, SOLVED, scale, regular)
    if "state_derivative" in f:
        u, a_of_u = _actuated(robot, sample, sample.tau, regular)
        rate, tested = np.split(f["state_derivative"](np.hstack([q, v]), u), [system.reference.tree.nq], axis=1)
        names = system.reference.configuration_names
        yield Residual(diagnosis.DQ_DT, "kinematics", rate, system.reference.rates(states), SOLVED, names=names)
        yield Residual(
            diagnosis.DV_DT, part, tested, a_of_u, SOLVED, _acceleration_scale(system, sample, a_of_u), regular
        )


def _derivatives(system: SystemUnderTest, sample: ReferenceSample) -> Iterator[Residual]:
    """Derivatives of a by the implicit function theorem: ∂tau/∂a da = −dtau."""
    f, q, v, a, part = system.functions, sample.states.q, sample.states.v, sample.states.a, "derivatives"
    by_q, by_v = np.split(f["inverse_dynamics_along"](q, v, a), 2, axis=1)
    if OF_TORQUE in f:
        tested, sizes = np.split(f[OF_TORQUE](q, v, a), 2, axis=1), (sample.sizes.tau, sample.sizes.rate)
        for name, value, expected, size in zip(diagnosis.TORQUE_DERIVATIVES, tested, (by_q, by_v), sizes, strict=True):
            yield Residual(name, part, value, expected, LAW, addends=size)
    if OF_ACCELERATION in f:
        scale = _acceleration_scale(system, sample, a)
        pushed = f[PUSHED_TORQUE](q, v, a) - system.torque(q, v, a) if PUSHED_TORQUE in f else 0.0
        tau = sample.tau + pushed
        tested, slope = np.split(f[OF_ACCELERATION](q, v, tau), 3, axis=1), system.reference.without_load(q, v, tau)[1]
        d = np.broadcast_to(direction_of(system.reference.scales), v.shape)
        expected_of = dict(zip(diagnosis.ACCELERATION_DERIVATIVES, (-by_q, -by_v, d), strict=True))
        for value, (name, expected) in zip(tested, expected_of.items(), strict=True):
            torque = slope * times(sample.terms.mass_matrix, value)
            yield Residual(name, part, torque, expected, SOLVED, scale, sample.condition <= _SINGULAR)


def _energies_and_laws(system: SystemUnderTest, sample: ReferenceSample) -> Iterator[Residual]:
    f, q, v, a = system.functions, sample.states.q, sample.states.v, sample.states.a
    yield Residual("kinetic_energy", "energy", f["kinetic_energy"](q, v), sample.kinetic_energy, system.tolerance)
    power, tested = sample.power, f["power"](q, v, a)
    scale = _power_scale(np.abs(sample.terms.gravity * v).sum(axis=1), power)
    yield Residual("potential_energy", "energy", tested, power, system.tolerance, scale)

    mass_matrix = judged = f["mass_matrix"](q)
    if isinstance(system.reference, ReferenceRecursion):  # with 1 on the diagonal: units of modes are arbitrary
        unit = 1 / np.sqrt(np.maximum(np.diagonal(sample.terms.mass_matrix, axis1=1, axis2=2), 1e-300))
        judged = unit[:, :, None] * mass_matrix * unit[:, None, :]
    least, most = eigenvalues(judged)
    yield Residual(diagnosis.SYMMETRIC, "law", mass_matrix, mass_matrix.transpose(0, 2, 1), LAW)
    yield Residual(diagnosis.POSITIVE_DEFINITE, "law", np.minimum(least, 0) / most, np.zeros(len(q)), LAW)
    if "coriolis_matrix" in f:
        c, rate = f["coriolis_matrix"](q, v), f["mass_matrix_rate"](q, v, a)
        yield Residual(diagnosis.SKEW, "law", c + c.transpose(0, 2, 1), rate, LAW, addends=sample.sizes.rate)


def _under_wrenches(system: SystemUnderTest, sample: ReferenceSample, robot: Dynamics) -> Iterator[Residual]:
    """The Functions under wrenches, where tau has so much less to give."""
    f, states, part = system.functions, sample.states, "forward dynamics"
    q, v, a, w = states.q, states.v, states.a, system.reference.wrenches(states)
    tau = system.reference.under_load(q, v, sample.terms.tau + system.reference.torque_of_wrenches(states, w))
    tested = f[UNDER_WRENCHES[0]](q, v, a, w)
    yield Residual(UNDER_WRENCHES[0], "tau", tested, tau, system.tolerance, addends=sample.sizes.tau)
    regular = sample.condition <= _SINGULAR
    if UNDER_WRENCHES[1] in f:
        tested, scale = f[UNDER_WRENCHES[1]](q, v, tau, w), _acceleration_scale(system, sample, a)
        yield Residual(UNDER_WRENCHES[1], part, tested, a, SOLVED, scale, regular)
    if "state_derivative under wrenches" in f:
        u, a_of_u = _actuated(robot, sample, tau, regular)
        tested = f["state_derivative under wrenches"](np.hstack([q, v]), u, w)[:, system.reference.tree.nq :]
        scale = _acceleration_scale(system, sample, a_of_u)
        yield Residual(UNDER_WRENCHES[2], part, tested, a_of_u, SOLVED, scale, regular)


def _elasticity(
    system: SystemUnderTest, sample: ReferenceSample, reference: ReferenceRecursion, robot: Dynamics
) -> Iterator[Residual]:
    """Elastic energy, the balance of power, and ``terms``: joints and modes without armature and rotors."""
    f, q, v, a, without = system.functions, sample.states.q, sample.states.v, sample.states.a, sample.without
    elastic = 0.5 * np.sum(reference.linear_coordinates(q) * reference.elastic(q), axis=1)
    yield Residual(diagnosis.ELASTIC_ENERGY, "energy", f["elastic_energy"](q), elastic, system.tolerance)
    tau, _ = reference.without_load(q, v, system.torque(q, v, a))
    power = np.sum((tau - sample.dampers - sample.offsets) * v, axis=1)
    addends = times(without.mass_matrix, a), without.velocity, sample.terms.gravity
    scale = _power_scale(sum(np.abs(torque * v).sum(axis=1) for torque in addends), power)
    yield Residual(diagnosis.POWER_BALANCE, "law", f["energy_rate"](q, v, a), power, LAW, scale)

    links = slice(0, robot.modes.stop)
    k_f = reference.stiffness_of_links[links, links]
    blocks = {
        "terms (m)": (without.mass_matrix - np.diag(reference.tree.armature))[:, links, links],
        "terms (C)": without.velocity[:, links],
        "terms (G)": without.gravity[:, links],
        "terms (K_f)": np.broadcast_to(k_f, (len(q), *k_f.shape)),
    }
    for name, expected in blocks.items():
        names = reference.velocity_names[links]
        yield Residual(name, "terms", f[name](q, v, a), expected, system.tolerance, names=names)


def _undeformed(
    system: SystemUnderTest, sample: ReferenceSample, reference: ReferenceRecursion, robot: Dynamics
) -> Iterator[Residual]:
    """The undeformed arm beside Pinocchio, which has no springs."""
    undeformed = reference.undeformed
    if undeformed is None:
        return
    f, g, tolerance = system.functions, undeformed.velocity_map, EXACT if robot.clean == 0 else AFTER_CLEANING
    of_model, of_arm = undeformed.states(sample.states)
    q, v, a = of_arm.q, of_arm.v, of_arm.a
    springs, dampers, _ = (torque @ g for torque in reference.passive(q, v))
    tau, nle = (reference.without_load(q, v, torque)[0] for torque in (system.torque(q, v, a), f["nle"](q, v)))
    terms = decompose(rnea(undeformed.model), of_model).plus(springs, dampers)
    names = reference.velocity_names[: undeformed.model.nv]
    for name, part, value, expected in (
        ("undeformed tau", "tau", tau @ g, terms.tau),
        ("undeformed M", "mass matrix", g.T @ f["mass_matrix"](q) @ g, terms.mass_matrix),
        ("undeformed nle", "velocity terms and gravity", nle @ g, terms.nle),
        ("undeformed g", "gravity", f["generalized_gravity"](q) @ g, terms.gravity - springs),
    ):
        yield Residual(name, part, value, expected, tolerance, names=names)


def _acceleration_scale(system: SystemUnderTest, sample: ReferenceSample, a: Array) -> Array:
    """The tolerance scale of accelerations: solving with M may lose as many digits as cond(M) has.

    What velocity terms and gravity have beyond M a cancels in tau − h − g, and loses digits likewise. Of an arm, forces
    on stiff, light modes are rounded.
    """
    terms, size = sample.terms, np.maximum(1, largest(a))
    if isinstance(system.reference, ReferenceRecursion):
        smallest, _ = eigenvalues(terms.mass_matrix)
        forces = largest(terms.tau) + largest(terms.velocity) + largest(terms.gravity)
        lost = sample.condition + forces / np.maximum(smallest, 1e-300) / size
    else:
        inertial = largest(terms.mass_matrix) * size
        lost = sample.condition * np.maximum(1, largest(terms.nle) / np.maximum(inertial, 1e-300))
    return np.asarray(np.maximum(lost * system.noise / SOLVED, 1))


def _power_scale(sum_of_powers: Array, power: Array) -> Array:
    """The tolerance scale of a power whose error is to be relative to the sum of its |addends|."""
    return np.asarray(np.maximum(1, sum_of_powers) / np.maximum(1, np.abs(power)))


def _actuated(robot: Dynamics, sample: ReferenceSample, tau: Array, regular: Mask) -> tuple[Array, Array]:
    """The input u of the state derivative that gives tau (n × nv), or part of it, and the accelerations due to u."""
    q, a, actuators = sample.states.q, sample.states.a, robot.actuators
    slopes = (actuators.derivatives(x, np.ones(actuators.nu))[1] for x in q)
    u = np.array([effort @ slope for effort, slope in zip(tau, slopes, strict=True)])
    of_u, accelerations = np.array([actuators.torque(*state) for state in zip(q, u, strict=True)]), np.zeros_like(a)
    if np.array_equal(of_u, tau):
        return u, a
    of_u, tau = (sample.reference.without_load(q, sample.states.v, torque)[0] for torque in (of_u, tau))
    force = (of_u - tau + sample.terms.tau - sample.terms.nle)[regular, :, None]
    accelerations[regular] = np.linalg.solve(sample.terms.mass_matrix[regular], force)[..., 0]
    return u, accelerations


# Explanations of a check that failed.


def explain(system: SystemUnderTest, failed: Mapping[str, Check], sample: ReferenceSample) -> tuple[str, ...]:
    """Sentences about the checks that failed, by name."""
    if blind := diagnosis.explain_reference(sample):
        return (blind,)
    if system.robot is None:
        explanations = diagnosis.explain_torque(system.torque, decompose(system.torque, sample.states), sample)
        return tuple(explanation.text for explanation in explanations)
    explained = {name: _explanations(name, system, sample) for name in failed}
    if any(explanation.is_convention for explanation in explained.get("inverse_dynamics", ())):
        explained |= dict.fromkeys(_in_one_convention(system, sample, failed), explained["inverse_dynamics"])
    return diagnosis.sentences(failed, explained)


def _in_one_convention(system: SystemUnderTest, sample: ReferenceSample, failed: Mapping[str, Check]) -> list[str]:
    """The checks that failed of Functions that agree with the robot's own inverse dynamics."""
    f, q, v = system.functions, sample.states.q, sample.states.v
    tested = decompose(_without_load(system), sample.states)
    parts = {
        "mass_matrix": lambda: (f["mass_matrix"](q), tested.mass_matrix),
        "nle": lambda: (system.reference.without_load(q, v, f["nle"](q, v))[0], tested.nle),
        "generalized_gravity": lambda: (f["generalized_gravity"](q) + sample.springs, tested.gravity),
        "coriolis_matrix": lambda: (times(f["coriolis_matrix"](q, v), v) + sample.dampers, tested.velocity),
    }
    return [
        name for name in parts if name in failed and not np.any(diagnosis.differs(*parts[name](), sample.tolerance))
    ]


def _explanations(name: str, system: SystemUnderTest, sample: ReferenceSample) -> list[Explanation]:
    """Explanations that account for the failure of a check; the laws have no explanation but that they fail."""
    f, states, terms = system.functions, sample.states, sample.terms
    q, v, a = states.q, states.v, states.a
    match name:
        case "inverse_dynamics":
            torque = _without_load(system)
            parts = decompose(torque, states)
            return _passive(parts.tau - terms.tau, sample) or diagnosis.explain_torque(torque, parts, sample)
        case "mass_matrix":
            return diagnosis.explain_mass_matrix(f[name](q), sample)
        case "nle":
            nle, at_rest = system.reference.without_load(q, v, f[name](q, v))[0], f[name](q, np.zeros_like(v))
            return _passive(nle - terms.nle, sample) or [
                *diagnosis.explain_velocity(nle - at_rest, sample),
                *diagnosis.explain_gravity(at_rest, sample),
            ]
        case "generalized_gravity":
            return diagnosis.explain_gravity(f[name](q) + sample.springs, sample)
        case "coriolis_matrix":
            return diagnosis.explain_velocity(times(f[name](q, v), v) + sample.dampers, sample)
        case "kinetic_energy":
            return diagnosis.explain_kinetic_energy(f[name](q, v), sample.kinetic_energy, sample)
        case "potential_energy":
            tested, power, elastic = f["power"](q, v, a), sample.power, []
            if isinstance(system.reference, ReferenceRecursion):
                of_springs = np.sum(system.reference.elastic(q) * v, axis=1)
                elastic = diagnosis.explain_factor("elastic energy", tested - power + of_springs, of_springs, sample)
            return elastic or diagnosis.explain_factor("potential energy", tested, power, sample)
        case diagnosis.TORQUE_UNDER_WRENCHES:
            w = system.reference.wrenches(states)
            tested = f[name](q, v, a, w) - system.torque(q, v, a)
            return diagnosis.explain_wrenches(tested, sample, system.reference.torque_of_wrenches(states, w))
    return []


def _without_load(system: SystemUnderTest) -> Torque:
    """The torque without the friction that grows with the load, which has terms."""
    return lambda q, v, a: system.reference.without_load(q, v, system.torque(q, v, a))[0]


def _passive(difference: Array, sample: ReferenceSample) -> list[Explanation]:
    """Explain a difference in torque (n × nv) by an arm's damping or stiffness, if it is that."""
    if not isinstance(sample.reference, ReferenceRecursion):
        return []
    elastic, damped = sample.reference.elastic(sample.states.q), sample.dampers
    return [
        *diagnosis.explain_factor("damping D v", difference + damped, damped, sample),
        *diagnosis.explain_factor("stiffness K q", difference + elastic, elastic, sample),
    ]

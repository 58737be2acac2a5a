"""Compare a formulation, ours or yours, with Pinocchio's recursive Newton–Euler algorithm.

``pin.rnea`` is right for every joint type and every order of joints. It is therefore the only dynamics of Pinocchio
that is trusted here: g, h = C v and the columns of M are what it gives at rest, at a = 0, and at unit accelerations.
What cannot be compared with it is judged by the laws of mechanics. Pinocchio knows a flexible arm only undeformed; the
reference for the rest is a second computation (:mod:`gdalembert.validation.references`).

For a Function or a callable, tau is compared, and the terms that can be computed from it: g = f(q, 0, 0), C v = f(q, v,
0) − g, columns of M = f(q, 0, e_j) − g. The law is that tau is their sum.

For a :class:`~gdalembert.FlexibleArm`, every Function is compared in the same way with a second computation of M, C v
and g, to which K q and damping v are added. It is the 4 × 4 recursion, or with first-order kinematics the explicit
equations, up to 30 coordinates. The modal coordinates are such that each alone causes a slope of 0.05 rad at some
section, or that deflection by length (standard deviation; their rates are 20 times as large). In addition,
``elastic_energy`` is compared with ½ q·K q, ``terms`` with the blocks of the equation of motion, and the power of tau
minus that of the dampers with the rate of the energies. Finally, with modes and their rates at zero and rotors turning
with their joints, tau, M, nle and g of the joints are compared with ``pin.rnea`` of the model in which undeformed beams
replace the bodies of flexible links.

A robot with wrenches as inputs is compared without them, and its ``inverse_dynamics``, ``forward_dynamics`` and
``state_derivative`` also at random wrenches: with ``pin.rnea(…, fext)``, or for an arm with exact kinematics with the
virtual work of the wrenches, by differentiating the placements of their frames. The derivatives of tau and a are those
under constant random wrenches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import ModelParameters, Values
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError, shown
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.from_pinocchio import idle_joints, without_inertia
from gdalembert.spatial.arguments import SEEDS, integer, number
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.interrupts import Interrupts
from gdalembert.spatial.progress import is_watched
from gdalembert.spatial.progress import progress as show_progress
from gdalembert.validation import diagnosis
from gdalembert.validation.comparison import checks, explain
from gdalembert.validation.references import PinocchioReference, ReferenceRecursion
from gdalembert.validation.report import AFTER_CLEANING, Check, Report, State, listed, worst_of
from gdalembert.validation.states import States
from gdalembert.validation.systems import SystemUnderTest, robot_under_test, torque_function

__all__ = ["Check", "Report", "State", "System", "validate"]

System = Dynamics | ca.Function | Callable[[Array, Array, Array], npt.ArrayLike]
"""A system that can be validated: a Dynamics, or anything (q, v, a) → tau."""

_RANDOM = 4
"""Random p beside that of the model."""
_STATES_OF_DIAGNOSIS = 64
_STATES_OF_PARAMETERS = 3
_SLOW = 10.0
"""Seconds after which a silent computation looks like one that hangs."""


def validate(
    system: System,
    against: pin.Model | None = None,
    samples: int = 1000,
    seed: int = 0,
    tolerance: float | None = None,
    progress: bool | None = None,
    p: Values = None,
) -> Report:
    """Compare a formulation with Pinocchio at many states, and check the laws that it must obey.

    The states are q = ``pin.integrate(model, neutral, x)``, v and a, with x, v, a normally distributed (rad, m, s;
    standard deviation 1). In every second state some of them are set to what formulas fail at: the neutral
    configuration, v = 0, a = 0, v or a 10 and 100 times as large, small x, and for each coordinate by itself x = ±π/2,
    x = ±π, x next to 0, and the only velocity; 14 + 6 nv states, then all are random. The same seed gives the same
    states, and more samples only add states. Errors are relative: max|Δ| / max(1, max|reference|) at each state; the
    error of a value that is not finite is inf. Torques may cancel: the references of those due to a and v
    count as at least max|M| times max|a| and max|v|², that of dM/dt as max|M| max|v|, and for a ``Dynamics`` that of
    gravity as max|M| times its acceleration.

    For a :class:`~gdalembert.Dynamics`, every Function but the Hessian is compared: ``coriolis_matrix`` by C v = h,
    ``forward_dynamics`` by the a for which tau was computed, ``potential_energy`` by dV/dt = (g + springs)·v, relative
    to Σ |g_i v_i|, ``kinetic_energy`` with ½ v·M v, and dq/dt in ``state_derivative`` with differences of
    ``pin.integrate``, accurate to 1e-11. The torque of its force elements is added to that of Pinocchio, with B J Bᵀ of
    motors in M, and friction that grows with the load is computed from the sum. The laws are:
    M is symmetric; M is positive definite (the error is how far its smallest eigenvalue lies below zero, relative to
    the largest); dM/dt = C + Cᵀ. Derivatives are compared along one direction: those of tau with what CasADi makes of
    ``inverse_dynamics``, those of accelerations, times M, with −dtau.

    What is compared for a Function, a callable or a :class:`~gdalembert.FlexibleArm` stands at the top of this module.

    With parameters, the states are shared out over p of the model and four random physical p
    (:meth:`~gdalembert.dynamics.parameters.parameters.Parameters.random`). Each p is written into a copy of
    ``against``, so that numbers that are parameters are not compared with its own. The report names the parameters
    that a failure is due to.

    Args:
        system: a ``Dynamics``; a ``casadi.Function`` (q, v, a) → tau; or any callable that takes three NumPy vectors
            (nq, nv, nv) and returns nv numbers.
        against: the ``pin.Model`` to compare with. For an arm it is the one that the arm was made from; without it, an
            arm is not compared with Pinocchio.
        samples: number of states.
        seed: that of the random generator, an integer from 0.
        tolerance: the tolerance of all checks. By default 1e-12 for a ``Dynamics`` with ``clean=0`` and for the second
            computation of an arm, 1e-9 otherwise; always 1e-9 for ``mass_matrix_inverse``, ``forward_dynamics`` and
            ``state_derivative``, and 1e-11 for the laws, which hold to rounding whatever was cleaned. The error of M⁻¹
            and of accelerations is divided by a tolerance scale, cond(M) δ / 1e-9 where that is above 1, δ being 1e-14,
            or 1e-10 after the default cleaning; they are left out where cond(M) is above 1e12. For an arm δ is 1e-14,
            and the effect of rounded forces on the accelerations is added to cond(M).
        progress: show the progress on stderr, and how many calls of a Python callable it will take. By default it is
            shown for a callable that will take more than 10 s, in a terminal or a notebook.
        p: the one p of a ``Dynamics`` to compare at, all values or some by name. For a Function or a callable
            (q, v, a, p) → tau, and for a ``Dynamics`` of a tree with formulas: the values that ``against`` has.

    Returns:
        A report: ``report.ok``, ``str(report)``, ``report.raise_for_failure()``, ``report.to_dict()``. Its diagnosis
        names the convention of a formulation that is right in another one
        (:mod:`gdalembert.validation.conventions`).

    Raises:
        ArgumentTypeError: if ``against`` is not a ``pin.Model``, or the system nothing that can be validated.
        ModelError: if the model holds numbers without a meaning, or, for a Function or a callable, a joint of it moves
            no inertia.
        UnsupportedError: if a joint mimics a helical joint, where Pinocchio is wrong or crashes.
        ArgumentError: if the system does not fit the model or raises an exception, or another argument is invalid.
    """
    _check_arguments(samples, seed, tolerance, progress)
    if isinstance(system, ConstrainedDynamics):
        raise ArgumentTypeError(
            "validate takes a Dynamics, a Function or a callable, not ConstrainedDynamics; validate its dynamics, and "
            "compare its forward_dynamics with pin.constraintDynamics"
        )
    with Interrupts():
        if isinstance(system, Dynamics):
            values = _values_of_parameters(system, p, seed)[:samples]
            recursion = ReferenceRecursion(system, against) if isinstance(system, Arm) else None
            under_test = robot_under_test(system, recursion or PinocchioReference(against, system))
            at_each_p = [under_test.at(point) for point in values] or [under_test]
        else:
            reference = PinocchioReference(against)
            if names := idle_joints(reference.tree):
                raise ModelError(
                    f"validate: against: {reference.tree.name}: {without_inertia(names)}; give the model the inertia "
                    "that the system has"
                )
            at_each_p = [torque_function(system, reference, p)]
        return _compare(at_each_p, samples, seed, tolerance, progress)


def _compare(
    at_each_p: Sequence[SystemUnderTest], samples: int, seed: int, tolerance: float | None, progress: bool | None
) -> Report:
    under_test, n = at_each_p[0], len(at_each_p)
    reference, done = under_test.reference, 0
    name = reference.tree.name
    worst: list[tuple[Check, ...]] = [()] * n
    examined = next(reference.random_states(min(samples, _STATES_OF_DIAGNOSIS), seed, _STATES_OF_DIAGNOSIS))
    effort, seconds = under_test.effort(samples) if progress is not False else ("", 0.0)
    shown = seconds > _SLOW and is_watched() if progress is None else progress
    title = ": ".join(filter(None, (name, under_test.name, effort)))
    with show_progress(title, shown=shown) as line:
        for states in reference.random_states(samples, seed, under_test.batch):
            for k, tested in enumerate(at_each_p):
                of_p = states[(k - done) % n :: n]
                if len(of_p):
                    worst[k] = worst_of([worst[k], checks(tested, of_p, tolerance)])
            done += len(states)
            line.count(done, samples, "states")
    return Report(
        model=name,
        system=under_test.name,
        samples=samples,
        seed=seed,
        checks=worst_of(worst),
        not_checked=under_test.not_checked,
        diagnosis=_diagnose(at_each_p, worst, examined),
        against=under_test.against,
        p=tuple(tested.p for tested in at_each_p if tested.p is not None),
    )


def _diagnose(
    at_each_p: Sequence[SystemUnderTest], worst: Sequence[tuple[Check, ...]], examined: States
) -> tuple[str, ...]:
    """Sentences about the checks that failed, each at the first p where it, or what implies its failure, did.

    They are judged by the states that are examined, and by those of the worst errors.
    """
    largest = max((check.error for of_p in worst for check in of_p if not check.ok), default=0.0)
    if 0 < largest <= diagnosis.SMALL:
        return (
            f"differences are small, at most {largest:.1e}: due to rounding, or to constants that were cleaned or "
            "rounded, rather than to a wrong formula",
        )
    sentences: list[str] = []
    known: set[str] = set()
    for under_test, of_p in zip(at_each_p, worst, strict=True):
        large = {c.name: c for c in of_p if not c.ok and c.error > diagnosis.SMALL}
        large = {name: c for name, c in large.items() if known.isdisjoint((name, *diagnosis.causes_of(name)))}
        if large:
            states = examined
            for check in large.values():
                states = states.join(States(check.state.q[None], check.state.v[None], check.state.a[None]))
            counted = max(AFTER_CLEANING, *(check.tolerance for check in large.values()))
            sentences += explain(under_test, large, under_test.reference.sample(states, counted))
            if under_test is not at_each_p[0]:
                few = examined[:_STATES_OF_PARAMETERS]
                sentences.append(_explain_by_parameters(at_each_p[0], under_test, large, few))
        known |= large.keys()
    return tuple(sentences)


def _check_arguments(samples: object, seed: object, tolerance: object, progress: object) -> None:
    integer("validate: samples", samples, 1)
    integer("validate: seed", seed, 0, SEEDS)
    if tolerance is not None:
        number("validate: tolerance", tolerance)
    if progress is not None and not isinstance(progress, bool):
        raise ArgumentTypeError(f"validate: progress: expected True, False or None, got {shown(progress)}")


def _values_of_parameters(dynamics: Dynamics, p: Values, seed: int) -> list[Array]:
    """The p that the states are shared out over; none of a robot without parameters."""
    parameters = dynamics.parameters
    if not parameters:
        if p is not None:
            raise ArgumentError(f"validate: p: {dynamics.tree.name!r} has no parameters; leave p out")
        return []
    values = parameters.vector(p, "validate: p")
    if p is not None:
        dynamics.require_inertia_of("validate", values)
    if p is not None or not isinstance(parameters, ModelParameters):
        return [values]
    rng = np.random.default_rng(seed)
    of_model = [] if parameters.idle_in_model else [values]
    return [*of_model, *(parameters.random(rng) for _ in range(_RANDOM))]


def _explain_by_parameters(
    nominal: SystemUnderTest, wrong: SystemUnderTest, failed: Collection[str], states: States
) -> str:
    """Name parameters that make checks fail which are right at p of the model (nominal), but not at another p."""

    def fails(p: Array) -> bool:
        return any(check.name in failed and not check.ok for check in checks(nominal.at(frozen(p)), states))

    assert nominal.robot is not None
    assert nominal.p is not None
    assert wrong.p is not None
    names, start, there = nominal.robot.parameters.names, np.array(nominal.p), np.array(wrong.p)

    def changed(k: int) -> Array:
        return np.where(np.arange(len(names)) == k, there, start)

    # a massless body has no first moment: Pinocchio divides by the mass
    masses = [k for k, name in enumerate(names) if name.endswith(".m") and start[k] == 0]
    alone = [k for k in masses if fails(changed(k))]
    if not alone:
        start[masses] = there[masses]
        alone = [k for k in range(len(names)) if k not in masses and fails(changed(k))]
    text = "right at p of the model, wrong at other values of"
    return f"{text} {listed(repr(names[k]) for k in alone)}" if alone else f"{text} p, though of no single parameter"

"""Sentences about checks that failed: what is wrong in which term, and at which joints.

Each term of tau that differs from the reference is compared with the results of common mistakes: a factor, a missing
or doubled armature, another direction of gravity, damping, centrifugal terms alone, another body, another order of
entries, another convention (:mod:`gdalembert.validation.conventions`). An explanation is given only if it accounts for
the whole difference at all states that were examined; otherwise only the joints are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation.conventions import expected_torques
from gdalembert.validation.references import ReferenceSample
from gdalembert.validation.report import AFTER_CLEANING, Check, listed
from gdalembert.validation.states import Mask, States, Torque, TorqueTerms, differences_along, largest

EXPLAINED = 1e-6
"""Largest part of a quantity that an explanation of a difference may leave."""
SMALL = 1e-5
"""Smaller relative differences are not explained: they are seldom due to a wrong formula."""

TORQUE_DERIVATIVES = ("inverse_dynamics_derivatives (q)", "inverse_dynamics_derivatives (v)")
ACCELERATION_DERIVATIVES = tuple(f"forward_dynamics_derivatives ({of})" for of in ("q", "v", "Minv"))
DQ_DT, DV_DT = "state_derivative (dq/dt)", "state_derivative (a)"
SYMMETRIC, POSITIVE_DEFINITE, SKEW = "M symmetric", "M positive definite", "dM/dt - 2C skew"
TORQUE_UNDER_WRENCHES = "inverse_dynamics under wrenches"
UNDER_WRENCHES = (TORQUE_UNDER_WRENCHES, "forward_dynamics under wrenches", "state_derivative (a) under wrenches")
ELASTIC_ENERGY, POWER_BALANCE = "elastic_energy", "power balance"
"""Names of checks that are not simply those of Functions."""
_UNDEFORMED = (
    "undeformed, the arm is not the model with rigid beams in place of its flexible links: a link, a placement or "
    "gravity is different"
)
_BLOCKS = "terms are not the blocks of the equation of motion"
_WRONG, _OPPOSITE, _MISSING = "is wrong", "has the opposite sign", "is missing"


class Explanation(NamedTuple):
    """A sentence about a difference.

    Attributes:
        is_complete: whether it accounts for the whole difference of what it is about.
        is_local: whether only at some joints.
        is_convention: whether tau is right but for a convention, which then explains other Functions as well.
    """

    text: str
    is_complete: bool
    is_local: bool = False
    is_convention: bool = False


class Failure(NamedTuple):
    """A check that failed and has no explanation, in words.

    Attributes:
        implied_by: checks; if one of them failed too, nothing.
        sentence: if none of them failed.
    """

    implied_by: tuple[str, ...]
    sentence: str = "wrong, with no simple cause"


FAILURES: dict[str, Failure] = {
    "nle": Failure(("inverse_dynamics",)),
    "mass_matrix_inverse": Failure(
        ("mass_matrix",), "mass_matrix_inverse is not the inverse of mass_matrix, which is right"
    ),
    SYMMETRIC: Failure(("mass_matrix",), "mass matrix is not symmetric"),
    POSITIVE_DEFINITE: Failure(("mass_matrix",), "mass matrix is not positive definite"),
    SKEW: Failure(
        ("mass_matrix", "coriolis_matrix"),
        "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (Christoffel symbols)",
    ),
    "forward_dynamics": Failure(
        ("inverse_dynamics", "mass_matrix"), "forward_dynamics does not invert inverse_dynamics, which is right"
    ),
    **{
        name: Failure(
            ("inverse_dynamics",), f"{name[:-4]} are not the derivatives of inverse_dynamics with respect to {name[-2]}"
        )
        for name in TORQUE_DERIVATIVES
    },
    **{
        name: Failure(
            ("inverse_dynamics", "mass_matrix"),
            "forward_dynamics_derivatives are not −M⁻¹ times those of inverse_dynamics, and M⁻¹",
        )
        for name in ACCELERATION_DERIVATIVES
    },
    DQ_DT: Failure((), "dq/dt is not the rate of q at the velocity v"),
    DV_DT: Failure(("forward_dynamics",), "a is wrong, though forward_dynamics is right"),
    UNDER_WRENCHES[0]: Failure(("inverse_dynamics",), "tau is right without wrenches, but not with them"),
    UNDER_WRENCHES[1]: Failure(
        ("forward_dynamics", UNDER_WRENCHES[0]), "a is right without wrenches, but not with them"
    ),
    UNDER_WRENCHES[2]: Failure((DV_DT, UNDER_WRENCHES[1]), "a is wrong, though forward_dynamics is right"),
    "kinetic_energy": Failure(("mass_matrix",), "kinetic energy is not ½ v·M v, though mass_matrix is right"),
    "potential_energy": Failure(
        ("generalized_gravity", ELASTIC_ENERGY), "dV/dt is not g·v, though generalized_gravity is right"
    ),
    ELASTIC_ENERGY: Failure((), "elastic energy is not ½ q·K q"),
    POWER_BALANCE: Failure(
        ("inverse_dynamics", "kinetic_energy", "potential_energy", "mass_matrix"),
        "the power of tau minus that of the dampers is not the rate of kinetic and potential energy",
    ),
    "terms (m)": Failure(("mass_matrix",), _BLOCKS),
    "terms (C)": Failure(("nle", "coriolis_matrix", "generalized_gravity"), _BLOCKS),
    "terms (G)": Failure(("generalized_gravity",), _BLOCKS),
    "terms (K_f)": Failure((), _BLOCKS),
    "undeformed tau": Failure(("inverse_dynamics",), _UNDEFORMED),
    "undeformed M": Failure(("mass_matrix",), _UNDEFORMED),
    "undeformed nle": Failure(("nle",), _UNDEFORMED),
    "undeformed g": Failure(("generalized_gravity",), _UNDEFORMED),
}
"""Failures by the name of the check."""


def sentences(failed: Mapping[str, Check], explained: Mapping[str, Sequence[Explanation]]) -> tuple[str, ...]:
    """Each sentence once, with the names of the checks that it is about.

    Args:
        failed: checks that failed, by name.
        explained: their explanations, by name; none where only :data:`FAILURES` has something to say.
    """
    about: dict[str, list[str]] = {}
    for name, check in failed.items():
        for text in [explanation.text for explanation in explained[name]] or _unexplained(check, failed):
            about.setdefault(text, []).append(name)
    return tuple(f"{text} (in {', '.join(names)})" for text, names in about.items())


def causes_of(name: str) -> tuple[str, ...]:
    """The checks that imply the failure of this one."""
    return FAILURES[name].implied_by if name in FAILURES else ()


def _unexplained(check: Check, failed: Mapping[str, Check]) -> list[str]:
    if any(cause in failed for cause in causes_of(check.name)):
        return []
    worst_at = f", worst at {' × '.join(map(repr, check.entry))}" if check.entry else ""
    return [f"{FAILURES.get(check.name, Failure(())).sentence}{worst_at}"]


def explain_reference(sample: ReferenceSample) -> str:
    """Explain where the reference itself is not finite, so that nothing can be compared with it; or ""."""
    named = sample.reference.source, "the force elements that are added to it"
    for source, terms in zip(named, (sample.without, sample.terms), strict=True):
        parts = {"tau at rest": terms.gravity, "mass matrix": terms.mass_matrix, "velocity terms": terms.velocity}
        for part, values in (*parts.items(), ("tau", terms.tau)):
            if not np.all(np.isfinite(values)):
                text = _not_finite(part, values, sample).text
                return f"the reference itself is not finite, so that nothing can be compared there: {text}, by {source}"
    return ""


def explain_torque(torque: Torque, tested: TorqueTerms, sample: ReferenceSample) -> list[Explanation]:
    """Explain which term of tau is wrong, and at which joints; ``tested``: its terms at the states of the sample."""
    if explanations := _explain_not_finite(tested, sample):
        return explanations
    tau, names = sample.terms.tau, sample.reference.velocity_names
    wrong = differs(tested.tau, tau, sample.tolerance)
    if np.any(wrong) and (order := _permutation(tested.tau, tau)) is not None:
        moved = [f"{names[k]!r} in the place of {names[i]!r}" for i, k in enumerate(order) if i != k]
        return [Explanation(f"tau is in another order: joint {listed(moved)}", True)]
    if np.any(wrong) and None not in factors(tested.tau, tau, wrong):
        return _explain_vector("tau", tested.tau, tau, wrong, sample)
    if np.any(nonlinear := differs(tested.tau, tested.sum(sample.states.a), sample.tolerance)):  # no M to explain
        text = f"tau is not linear in a, or its mass matrix depends on v, at {_joints(nonlinear, sample)}"
        explanations = [Explanation(text, False)]
    else:
        explanations = explain_mass_matrix(tested.mass_matrix, sample)
    explanations += [*explain_velocity(tested.velocity, sample), *explain_gravity(tested.gravity, sample)]
    is_simple = len(explanations) <= 1 and all(x.is_complete and not x.is_local for x in explanations)
    for text, expected in () if is_simple else expected_torques(torque, tested, sample):
        if accounts_for(expected, tested.tau, tau, AFTER_CLEANING):
            return [Explanation(text, True, is_convention=True)]
    is_complete = all(explanation.is_complete for explanation in explanations)
    if not is_complete and (bodies := _bodies(tested.tau - tau, sample)):
        joints = " or ".join(map(repr, bodies))
        text = f"another mass, centre of mass or inertia of the body at joint {joints} explains all of it"
        explanations.append(Explanation(text, True))
    return explanations


def explain_mass_matrix(tested: Array, sample: ReferenceSample) -> list[Explanation]:
    """Explain a wrong mass matrix (n × nv × nv)."""
    reference = sample.terms.mass_matrix
    wrong = differs(tested, reference, sample.tolerance)
    if not np.any(wrong):
        return []
    if not np.all(np.isfinite(tested)):
        return [_not_finite("mass matrix", tested, sample)]
    if (s := factor(tested, reference)) is not None:
        return [Explanation(f"mass matrix {_relation(s, sample)}", True)]
    explanations, wrong = _explain_armature(tested - reference, wrong, sample)
    if np.any(one_sided := wrong & ~wrong.T):
        entries = _entries(one_sided, np.any(one_sided, axis=1), sample)
        text = f"mass matrix is not symmetric: wrong at {entries}, right at the transposed entry"
        explanations.append(Explanation(text, False))
    if np.any(wrong := wrong & wrong.T):
        entries = _symmetric_entries(wrong, sample)
        explanations.append(Explanation(f"mass matrix is wrong {entries}", False))
    return explanations


def explain_velocity(tested: Array, sample: ReferenceSample) -> list[Explanation]:
    """Explain wrong velocity terms h = C v (n × nv)."""
    reference, v = sample.terms.velocity, sample.states.v
    wrong = differs(tested, reference, sample.tolerance)
    if not np.all(np.isfinite(tested)):
        return [_not_finite("velocity terms", tested, sample)]
    if not np.any(wrong) or None not in factors(tested, reference, wrong):
        return _explain_vector("velocity terms", tested, reference, wrong, sample)
    # each state has the same weight, as the velocity terms of large v lose the digits of small differences
    weight = 1 / np.maximum(1, largest(v))[:, None] ** 2
    damping = np.sum(weight * (tested - reference) * v, axis=0) / np.sum(weight * v**2, axis=0)
    if accounts_for(damping * v, tested - reference, reference):
        shown = [f"{sample.reference.velocity_names[j]!r} ({_number(damping[j])})" for j in np.flatnonzero(wrong)]
        text = f"velocity terms contain damping proportional to v, which {sample.reference.source} does not have"
        return [Explanation(f"{text}, at joint {listed(shown)}", True)]
    alone = [np.where(e_j, v, 0.0) for e_j in np.eye(v.shape[1], dtype=bool)]
    due_to = [sample.reference.torque(sample.states.q, v_j, np.zeros_like(v)) for v_j in alone]
    centrifugal = np.asarray(sum(torque - sample.terms.gravity for torque in due_to))
    if accounts_for(centrifugal, tested, reference):
        text = "velocity terms are the centrifugal terms (v_j²) alone: the products v_j v_k are missing"
        return [Explanation(text, True)]
    if accounts_for(reference - centrifugal, tested, reference):
        text = "velocity terms are the products v_j v_k alone: the centrifugal terms (v_j²) are missing"
        return [Explanation(text, True)]
    if accounts_for(_transposed_coriolis(sample), tested, reference):
        return [Explanation("velocity terms are Cᵀ v: the Coriolis matrix is transposed", True)]
    return _explain_vector("velocity terms", tested, reference, wrong, sample)


def explain_gravity(tested: Array, sample: ReferenceSample) -> list[Explanation]:
    """Explain a wrong tau at v = a = 0 (n × nv), springs included."""
    tested, reference = tested - sample.springs, sample.terms.gravity - sample.springs
    wrong = differs(tested, reference, sample.tolerance)
    if not np.any(wrong):
        return []
    if not np.all(np.isfinite(tested)):
        return [_not_finite("gravity", tested, sample)]
    if (s := factor(tested, reference)) is not None and _relation(s, sample) in (_OPPOSITE, _MISSING):
        return [Explanation(f"gravity {_relation(s, sample)}", True)]
    if sample.reference.model is not None:
        field = _gravity_field(sample.reference.model, sample.states, tested, reference)
        if field is not None:
            acting, in_model = (
                ", ".join(map(_number, vector)) for vector in (field, sample.reference.model.gravity.linear)
            )
            text = f"gravity acts as in a field of ({acting}) m/s²; the model's is ({in_model})"
            return [Explanation(text, True)]
    return _explain_vector("gravity", tested, reference, wrong, sample)


def explain_kinetic_energy(tested: Array, reference: Array, sample: ReferenceSample) -> list[Explanation]:
    """Explain a wrong kinetic energy (n)."""
    of_armature = 0.5 * sample.states.v**2 @ sample.reference.tree.armature
    if np.any(of_armature) and accounts_for(reference - of_armature, tested, reference):
        return [Explanation("armature is missing", True)]
    return explain_factor("kinetic energy", tested, reference, sample)


def explain_factor(quantity: str, tested: Array, reference: Array, sample: ReferenceSample) -> list[Explanation]:
    """Explain an energy, its rate (n), or one addend of a torque (n × nv), that is missing or has a factor."""
    s = factor(tested, reference)
    return [] if s is None else [Explanation(f"{quantity} {_relation(s, sample)}", True)]


def explain_wrenches(tested: Array, sample: ReferenceSample, reference: Array) -> list[Explanation]:
    """Explain a wrong torque that wrenches add (n × nv)."""
    wrong = differs(tested, reference, sample.tolerance)
    return [x for x in _explain_vector("torque of the wrenches", tested, reference, wrong, sample) if x.is_complete]


def _explain_vector(
    quantity: str, tested: Array, reference: Array, wrong: Mask, sample: ReferenceSample
) -> list[Explanation]:
    """Explain a wrong vector (n × nv): one explanation for all joints that are wrong in the same way."""
    if not np.any(wrong):
        return []
    if (s := factor(tested, reference)) is not None:
        return [Explanation(_sentence(quantity, _relation(s, sample)), True)]
    way_of = {
        int(j): _WRONG if of_entry is None else _relation(of_entry, sample)
        for j, of_entry in zip(np.flatnonzero(wrong), factors(tested, reference, wrong), strict=True)
    }
    for joint in sample.reference.tree.joints:  # its entries turn into each other
        own_ways = {j: way_of[j] for j in joint.columns if j in way_of}
        if len(set(own_ways.values())) > 1:
            way_of |= dict.fromkeys(own_ways, _WRONG)
    ways: dict[str, Mask] = {}
    for j, way in way_of.items():
        ways.setdefault(way, np.zeros_like(wrong))[j] = True
    return [
        Explanation(f"{_sentence(quantity, way)} at {_joints(mask, sample)}", way != _WRONG, True)
        for way, mask in ways.items()
    ]


def _explain_not_finite(tested: TorqueTerms, sample: ReferenceSample) -> list[Explanation]:
    if not np.all(np.isfinite(tested.gravity)):  # which is part of all the others
        return [_not_finite("tau at rest", tested.gravity, sample)]
    terms = {"mass matrix": tested.mass_matrix, "velocity terms": tested.velocity, "tau": tested.tau}
    bad = {part: values for part, values in terms.items() if not np.all(np.isfinite(values))}
    if len(bad) > 1:
        del bad["tau"]
    return [_not_finite(part, values, sample) for part, values in bad.items()]


def _not_finite(part: str, values: Array, sample: ReferenceSample) -> Explanation:
    finite = np.isfinite(values).reshape(*values.shape[:2], -1)
    joints = _joints(~np.all(finite, axis=(0, 2)), sample)
    share = "some states" if np.any(np.all(finite, axis=(1, 2))) else "all states examined"
    return Explanation(_sentence(part, f"is not finite at {joints}, in {share}"), True)


def _explain_armature(difference: Array, wrong: Mask, sample: ReferenceSample) -> tuple[list[Explanation], Mask]:
    """Explain constant differences on the diagonal, and return the entries that are wrong besides."""
    rest, armature = wrong.copy(), sample.reference.tree.armature
    only_diagonal = np.sum(wrong) == np.sum(np.diag(wrong))
    joints: dict[str, list[str]] = {}
    for j in np.flatnonzero(np.diag(wrong)):
        d = difference[:, j, j]
        mean, noise = float(d.mean()), EXPLAINED * float(np.abs(d).max())
        if np.ptp(d) > noise:
            continue
        if abs(mean + armature[j]) <= noise:
            way, value = "armature is missing", f"{armature[j]:.6g}"
        elif abs(mean - armature[j]) <= noise:
            way, value = "armature is counted twice", f"{armature[j]:.6g}"
        elif only_diagonal:
            way, value = "mass matrix is off by a constant, as if the armature were different,", f"{mean:+.6g}"
        else:
            continue
        joints.setdefault(way, []).append(
            f"{sample.reference.velocity_names[j]!r} ({' '.join((value, sample.reference.units[j])).strip()})"
        )
        rest[j, j] = False
    return [Explanation(f"{way} at joint {listed(at)}", True) for way, at in joints.items()], rest


def _relation(s: float, sample: ReferenceSample) -> str:
    if abs(s + 1) <= EXPLAINED:
        return _OPPOSITE
    return _MISSING if abs(s) <= EXPLAINED else f"is {s:.6g} times {sample.reference.owner}"


def _joints(mask: Mask, sample: ReferenceSample) -> str:
    """The joints where the mask (nv) is true, the outermost first."""
    if np.all(mask) and len(sample.reference.velocity_names) > 1:
        return "every joint"
    names, order = sample.reference.velocity_names, _outermost_first(mask, sample.reference.tree)
    return f"joint {listed(repr(names[j]) for j in order if mask[j])}"


def _entries(mask: Mask, wrong: Mask, sample: ReferenceSample) -> str:
    """The entries of a matrix where the mask (nv × nv) is true; those of the outermost wrong joints (nv) first."""
    rank = np.argsort(_outermost_first(wrong, sample.reference.tree))
    entries = sorted(np.argwhere(mask).tolist(), key=lambda entry: sorted(rank[entry]))
    return listed(
        f"{sample.reference.velocity_names[i]!r} × {sample.reference.velocity_names[j]!r}" for i, j in entries
    )


def _symmetric_entries(mask: Mask, sample: ReferenceSample) -> str:
    """The entries of a symmetric matrix: the upper triangle, or the one row and column that all of them are in."""
    if np.all(mask) and len(sample.reference.velocity_names) > 1:
        return "at every joint"
    for j, name in enumerate(sample.reference.velocity_names):
        others = np.delete(np.delete(mask, j, axis=0), j, axis=1)
        if np.sum(mask) > 2 and not np.any(others):
            return f"in the row and column of joint {name!r}"
    return f"at {_entries(np.triu(mask), np.any(mask, axis=1), sample)}"


def _outermost_first(mask: Mask, tree: Tree) -> list[int]:
    """The entries of v: first those of wrong joints that no other wrong joint is mounted on, all from the tips inwards.

    Errors travel to the ancestors of the joint where they are made.
    """
    inner: set[int] = set()
    wrong = [any(mask[k] for k in joint.columns) for joint in tree.joints]
    for joint, is_wrong in zip(tree.joints, wrong, strict=True):
        parent = joint.parent if is_wrong else -1
        while parent >= 0:
            inner |= set(tree.joints[parent].columns)
            parent = tree.joints[parent].parent
    return sorted(range(len(mask)), key=lambda k: (k in inner, -k))


def _sentence(subject: str, predicate: str) -> str:
    """Subject and predicate; the verb of the predicate ("is", "has") agrees with the subject."""
    if subject.endswith("terms"):
        verb, _, rest = predicate.partition(" ")
        return f"{subject} {'are' if verb == 'is' else 'have'} {rest}"
    return f"{subject} {predicate}"


def _number(value: float) -> str:
    """A number to 6 digits; rounding noise is 0."""
    return f"{0.0 if abs(value) < 1e-9 else value:.6g}"


# Comparison of two sets of numbers at n states.


def differs(value: Array, reference: Array, tolerance: float) -> Mask:
    """Mark entries that differ at any state by more than the tolerance, relative to max(1, max|reference|) there."""
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1, largest(reference)).reshape(-1, *[1] * (reference.ndim - 1))
        errors = np.abs(value - reference) / scale
    wrong: Mask = ~np.all(errors <= tolerance, axis=0)
    return wrong


def accounts_for(explanation: Array, value: Array, reference: Array, tolerance: float = EXPLAINED) -> bool:
    """True if an explanation equals the value at every state, on the scale of value and reference there.

    The scale of a state is at least that of the median state: a torque may pass through zero.
    """
    if not np.all(np.isfinite(explanation)):
        return False
    sizes = np.maximum(largest(reference), largest(value))
    return bool(np.all(largest(value - explanation) <= tolerance * np.maximum(sizes, np.median(sizes))))


def factor(value: Array, reference: Array) -> float | None:
    """The factor s with value = s reference at all states; ``None`` if there is none."""
    if not np.any(reference) or not np.all(np.isfinite(value)):
        return None
    square = float(np.sum(reference * reference))
    # By least squares: the ratio of single entries is noise where these are near zero.
    s = float(np.sum(value * reference)) / square
    return s if accounts_for(s * reference, value, reference) else None


def factors(value: Array, reference: Array, wrong: Mask) -> list[float | None]:
    """The factor of each wrong entry by itself."""
    return [factor(value[:, j], reference[:, j]) for j in np.flatnonzero(wrong)]


def _permutation(value: Array, reference: Array) -> list[int] | None:
    """Permutation: for each entry of the value the entry of the reference that it equals; ``None`` if there is none."""
    n = reference.shape[1]
    order = [
        next((k for k in range(n) if accounts_for(reference[:, k], value[:, i], reference)), None) for i in range(n)
    ]
    known = [k for k in order if k is not None]
    return known if len(set(known)) == n and known != list(range(n)) else None


def _transposed_coriolis(sample: ReferenceSample) -> Array:
    """The torque Cᵀ v (n × nv) of a matrix C with dM/dt = C + Cᵀ: the rate of M times v, minus C v."""
    q, v, zero = sample.states.q, sample.states.v, np.zeros_like(sample.states.v)
    scale = np.maximum(1, largest(v))[:, None]

    def momentum(step: float) -> Array:
        moved = sample.reference.reached(q, step / scale * v)
        return sample.reference.torque(moved, zero, v / scale) - sample.reference.torque(moved, zero, zero)

    rate: Array = differences_along(momentum) * scale**2
    return rate - sample.terms.velocity


def _gravity_field(model: pin.Model, states: States, torque: Array, reference: Array) -> Array | None:
    """The field (3, m/s²) that accounts for a torque at rest (n × nv); ``None`` if there is none."""
    in_field, zero = model.copy(), np.zeros(model.nv)
    data = in_field.createData()
    torques = []
    for e in np.eye(3):
        in_field.gravity.linear = e
        torques.append([pin.rnea(in_field, data, q, zero, zero) for q in states.q])
    per_field = np.stack(torques, axis=2)
    field, *_ = np.linalg.lstsq(per_field.reshape(-1, 3), torque.ravel(), rcond=1e-9)
    return np.asarray(field) if accounts_for(per_field @ field, torque, reference) else None


def _bodies(difference: Array, sample: ReferenceSample) -> list[str]:
    """Joints whose body's ten inertial parameters alone account for a difference in tau (n × nv)."""
    if sample.reference.model is None or sample.reference.tree.has_mimic:  # Pinocchio has no regressor for these
        return []
    data = sample.reference.model.createData()
    states = zip(sample.states.q, sample.states.v, sample.states.a, strict=True)
    regressors = [pin.computeJointTorqueRegressor(sample.reference.model, data, *state).copy() for state in states]
    by_body = np.array(regressors).reshape(difference.size, -1, 10)
    accounting = []
    for k, name in enumerate(sample.reference.tree.joint_names):
        # Any parameters: whether a body can have them is not asked, as a sign may be what is wrong.
        parameters, *_ = np.linalg.lstsq(by_body[:, k], difference.ravel(), rcond=1e-12)
        left = np.abs(by_body[:, k] @ parameters - difference.ravel()).max()
        if left <= EXPLAINED * np.abs(difference).max():
            accounting.append(name)
    return accounting

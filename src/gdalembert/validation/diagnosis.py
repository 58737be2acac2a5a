"""Sentences about checks that failed: what is wrong in which term, and at which joints.

Each term of tau that differs from the reference is compared with the results of common mistakes: a factor, a missing
or doubled armature, another direction of gravity, damping, centrifugal terms alone, another body. An explanation is
given only if it accounts for the whole difference at all states that were examined; otherwise only the joints are
named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation import differences
from gdalembert.validation.differences import EXPLAINED, accounts_for, differs, factor, factors
from gdalembert.validation.references import ReferenceSample
from gdalembert.validation.report import Check
from gdalembert.validation.states import Mask, TorqueTerms

SMALL = 1e-5
"""Smaller relative differences are not explained: they are seldom due to a wrong formula."""

TORQUE_DERIVATIVES = ("inverse_dynamics_derivatives (q)", "inverse_dynamics_derivatives (v)")
ACCELERATION_DERIVATIVES = tuple(f"forward_dynamics_derivatives ({of})" for of in ("q", "v", "Minv"))
DQ_DT, DV_DT = "state_derivative (dq/dt)", "state_derivative (a)"
SYMMETRIC, POSITIVE_DEFINITE, SKEW = "M symmetric", "M positive definite", "dM/dt - 2C skew"
UNDER_WRENCHES = tuple(
    f"{name} under wrenches" for name in ("inverse_dynamics", "forward_dynamics", "state_derivative (a)")
)
ELASTIC_ENERGY, POWER_BALANCE = "elastic_energy", "power balance"
"""Names of checks that are not simply those of Functions."""
_UNDEFORMED = (
    "undeformed, the arm is not the model with rigid beams in place of its flexible links: a link, a placement or "
    "gravity is different"
)
_BLOCKS = "terms are not the blocks of the equation of motion"
_WRONG, _OPPOSITE, _MISSING = "is wrong", "has the opposite sign", "is missing"


class Explanation(NamedTuple):
    """A sentence, whether it accounts for the whole difference of what it is about, and whether only at some joints."""

    text: str
    is_complete: bool
    is_local: bool = False


class Failure(NamedTuple):
    """What to say of a check that failed and has no explanation.

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
"""By name of the check."""


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


def _unexplained(check: Check, failed: Mapping[str, Check]) -> list[str]:
    failure = FAILURES.get(check.name, Failure(()))
    if any(cause in failed for cause in failure.implied_by):
        return []
    where = f", worst at {' × '.join(map(repr, check.entry))}" if check.entry else ""
    return [f"{failure.sentence}{where}"]


def of_small_differences(worst: float) -> str:
    """The one sentence where no error is above :data:`SMALL`."""
    return (
        f"differences are small, at most {worst:.1e}: due to rounding, or to constants that were cleaned or rounded, "
        "rather than to a wrong formula"
    )


def explain_torque(own: TorqueTerms, sample: ReferenceSample) -> list[Explanation]:
    """What is wrong in which term of tau, and at which joints."""
    if explanations := _explain_not_finite(own, sample):
        return explanations
    tau, names = sample.terms.tau, sample.reference.velocity_names
    wrong = differs(own.tau, tau, sample.tolerance)
    if np.any(wrong) and (order := differences.permutation(own.tau, tau)) is not None:
        moved = [f"{names[k]!r} in the place of {names[i]!r}" for i, k in enumerate(order) if i != k]
        return [Explanation(f"tau is in another order: joint {listed(moved)}", True)]
    if np.any(wrong) and None not in factors(own.tau, tau, wrong):
        return _explain_vector("tau", own.tau, tau, wrong, sample)
    explanations = _explain_terms(own, sample)
    is_simple = len(explanations) <= 1 and all(each.is_complete and not each.is_local for each in explanations)
    if not is_simple and (text := differences.convention_error(own.tau, sample)) is not None:
        return [Explanation(text, True)]
    if any(not explanation.is_complete for explanation in explanations):
        explanations += _explain_body(own.tau - tau, sample)
    return explanations


def _explain_terms(own: TorqueTerms, sample: ReferenceSample) -> list[Explanation]:
    return [
        *(_explain_nonlinear(own, sample) or explain_mass_matrix(own.mass_matrix, sample)),
        *explain_velocity(own.velocity, sample),
        *explain_gravity(own.gravity, sample),
    ]


def explain_mass_matrix(own: Array, sample: ReferenceSample) -> list[Explanation]:
    """What is wrong with a mass matrix (n × nv × nv)."""
    reference = sample.terms.mass_matrix
    wrong = differs(own, reference, sample.tolerance)
    if not np.any(wrong):
        return []
    if not np.all(np.isfinite(own)):
        return [_not_finite("mass matrix", own, sample)]
    if (s := factor(own, reference)) is not None:
        return [Explanation(f"mass matrix {_relation(s, sample)}", True)]
    explanations, wrong = _explain_armature(own - reference, wrong, sample)
    if np.any(one_sided := wrong & ~wrong.T):
        where = _entries(one_sided, np.any(one_sided, axis=1), sample)
        text = f"mass matrix is not symmetric: wrong at {where}, right at the transposed entry"
        explanations.append(Explanation(text, False))
    if np.any(wrong := wrong & wrong.T):
        where = _symmetric_entries(wrong, sample)
        explanations.append(Explanation(f"mass matrix is wrong {where}", False))
    return explanations


def explain_velocity(own: Array, sample: ReferenceSample) -> list[Explanation]:
    """What is wrong with the velocity terms h = C v (n × nv)."""
    reference, v = sample.terms.velocity, sample.states.v
    wrong = differs(own, reference, sample.tolerance)
    if not np.all(np.isfinite(own)):
        return [_not_finite("velocity terms", own, sample)]
    if not np.any(wrong) or None not in factors(own, reference, wrong):
        return _explain_vector("velocity terms", own, reference, wrong, sample)
    damping = differences.damping(own - reference, v)
    if accounts_for(damping * v, own - reference, reference):
        shown = [f"{sample.reference.velocity_names[j]!r} ({_number(damping[j])})" for j in np.flatnonzero(wrong)]
        text = f"velocity terms contain damping proportional to v, which {sample.reference.source} does not have"
        return [Explanation(f"{text}, at joint {listed(shown)}", True)]
    centrifugal = differences.centrifugal(sample)
    if accounts_for(centrifugal, own, reference):
        text = "velocity terms are the centrifugal terms (v_j²) alone: the products v_j v_k are missing"
        return [Explanation(text, True)]
    if accounts_for(reference - centrifugal, own, reference):
        text = "velocity terms are the products v_j v_k alone: the centrifugal terms (v_j²) are missing"
        return [Explanation(text, True)]
    if accounts_for(differences.transposed_coriolis(sample), own, reference):
        return [Explanation("velocity terms are Cᵀ v: the Coriolis matrix is transposed", True)]
    return _explain_vector("velocity terms", own, reference, wrong, sample)


def explain_gravity(own: Array, sample: ReferenceSample) -> list[Explanation]:
    """What is wrong with tau at v = a = 0 (n × nv), springs included."""
    own, reference = own - sample.springs, sample.terms.gravity - sample.springs
    wrong = differs(own, reference, sample.tolerance)
    if not np.any(wrong):
        return []
    if not np.all(np.isfinite(own)):
        return [_not_finite("gravity", own, sample)]
    if (s := factor(own, reference)) is not None and _relation(s, sample) in (_OPPOSITE, _MISSING):
        return [Explanation(f"gravity {_relation(s, sample)}", True)]
    if sample.reference.model is not None:
        field = differences.gravity_field(sample.reference.model, sample.states, own, reference)
        if field is not None:
            given = _vector(sample.reference.model.gravity.linear)
            text = f"gravity acts as in a field of {_vector(field)} m/s²; the model's is {given}"
            return [Explanation(text, True)]
    return _explain_vector("gravity", own, reference, wrong, sample)


def explain_kinetic_energy(own: Array, reference: Array, sample: ReferenceSample) -> list[Explanation]:
    """What is wrong with a kinetic energy (n)."""
    of_armature = 0.5 * sample.states.v**2 @ sample.reference.tree.armature
    if np.any(of_armature) and accounts_for(reference - of_armature, own, reference):
        return [Explanation("armature is missing", True)]
    return explain_scalar("kinetic energy", own, reference, sample)


def explain_addend(what: str, difference: Array, addend: Array, sample: ReferenceSample) -> list[Explanation]:
    """Whether a difference (n × nv) means that one known addend is missing, or has a factor."""
    if not np.any(addend) or (s := factor(difference + addend, addend)) is None:
        return []
    return [Explanation(f"{what} {_relation(s, sample)}", True)]


def explain_scalar(what: str, own: Array, reference: Array, sample: ReferenceSample) -> list[Explanation]:
    """Whether an energy, or its rate (n), has a factor."""
    s = factor(own, reference)
    return [] if s is None else [Explanation(f"{what} {_relation(s, sample)}", True)]


def explain_wrenches(own: Array, sample: ReferenceSample, reference: Array) -> list[Explanation]:
    """What is wrong with the torque that wrenches add (n × nv)."""
    wrong = differs(own, reference, sample.tolerance)
    return [
        each for each in _explain_vector("torque of the wrenches", own, reference, wrong, sample) if each.is_complete
    ]


def _explain_vector(what: str, own: Array, reference: Array, wrong: Mask, sample: ReferenceSample) -> list[Explanation]:
    """What is wrong with a vector (n × nv): one explanation for all joints that are wrong in the same way."""
    if not np.any(wrong):
        return []
    if (s := factor(own, reference)) is not None:
        return [Explanation(_sentence(what, _relation(s, sample)), True)]
    way_of = {
        int(j): _WRONG if of_entry is None else _relation(of_entry, sample)
        for j, of_entry in zip(np.flatnonzero(wrong), factors(own, reference, wrong), strict=True)
    }
    for joint in sample.reference.tree.joints:  # its entries turn into each other
        own_ways = {j: way_of[j] for j in joint.columns if j in way_of}
        if len(set(own_ways.values())) > 1:
            way_of |= dict.fromkeys(own_ways, _WRONG)
    ways: dict[str, Mask] = {}
    for j, way in way_of.items():
        ways.setdefault(way, np.zeros_like(wrong))[j] = True
    return [
        Explanation(f"{_sentence(what, way)} at {_joints(where, sample)}", way != _WRONG, True)
        for way, where in ways.items()
    ]


def _explain_not_finite(own: TorqueTerms, sample: ReferenceSample) -> list[Explanation]:
    if not np.all(np.isfinite(own.gravity)):  # which is part of all the others
        return [_not_finite("tau at rest", own.gravity, sample)]
    terms = {"mass matrix": own.mass_matrix, "velocity terms": own.velocity, "tau": own.tau}
    bad = {what: values for what, values in terms.items() if not np.all(np.isfinite(values))}
    if len(bad) > 1:
        del bad["tau"]
    return [_not_finite(what, values, sample) for what, values in bad.items()]


def _not_finite(what: str, values: Array, sample: ReferenceSample) -> Explanation:
    finite = np.isfinite(values).reshape(*values.shape[:2], -1)
    where = _joints(~np.all(finite, axis=(0, 2)), sample)
    share = "some states" if np.any(np.all(finite, axis=(1, 2))) else "all states examined"
    return Explanation(_sentence(what, f"is not finite at {where}, in {share}"), True)


def _explain_nonlinear(own: TorqueTerms, sample: ReferenceSample) -> list[Explanation]:
    """Whether tau is not the sum of its terms, so that it has no mass matrix to explain."""
    wrong = differs(own.tau, own.sum(sample.states.a), sample.tolerance)
    if not np.any(wrong):
        return []
    where = _joints(wrong, sample)
    return [Explanation(f"tau is not linear in a, or its mass matrix depends on v, at {where}", False)]


def _explain_armature(difference: Array, wrong: Mask, sample: ReferenceSample) -> tuple[list[Explanation], Mask]:
    """What constant differences on the diagonal mean, and the entries that are wrong besides."""
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


def _explain_body(difference: Array, sample: ReferenceSample) -> list[Explanation]:
    """Whether one other body accounts for a difference in tau (n × nv)."""
    bodies = differences.bodies(difference, sample)
    if not bodies:
        return []
    where = " or ".join(map(repr, bodies))
    text = f"another mass, centre of mass or inertia of the body at joint {where} explains all of it"
    return [Explanation(text, True)]


def _relation(s: float, sample: ReferenceSample) -> str:
    if abs(s + 1) <= EXPLAINED:
        return _OPPOSITE
    return _MISSING if abs(s) <= EXPLAINED else f"is {s:.6g} times {sample.reference.owner}"


def listed(given: Iterable[str], most: int = 8) -> str:
    """Phrases separated by commas, only so many of them."""
    items = list(given)
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[:most])} and {len(items) - most} more"


def _joints(where: Mask, sample: ReferenceSample) -> str:
    """The joints where the mask (nv) is true, the outermost first."""
    if np.all(where) and len(sample.reference.velocity_names) > 1:
        return "every joint"
    names, order = sample.reference.velocity_names, _outermost_first(where, sample.reference.tree)
    return f"joint {listed(repr(names[j]) for j in order if where[j])}"


def _entries(where: Mask, wrong: Mask, sample: ReferenceSample) -> str:
    """The entries of a matrix where the mask (nv × nv) is true; those of the outermost wrong joints (nv) first."""
    rank = np.argsort(_outermost_first(wrong, sample.reference.tree))
    found = sorted(np.argwhere(where).tolist(), key=lambda entry: sorted(rank[entry]))
    return listed(f"{sample.reference.velocity_names[i]!r} × {sample.reference.velocity_names[j]!r}" for i, j in found)


def _symmetric_entries(where: Mask, sample: ReferenceSample) -> str:
    """The entries of a symmetric matrix: the upper triangle, or the one row and column that all of them are in."""
    if np.all(where) and len(sample.reference.velocity_names) > 1:
        return "at every joint"
    for j, name in enumerate(sample.reference.velocity_names):
        others = np.delete(np.delete(where, j, axis=0), j, axis=1)
        if np.sum(where) > 2 and not np.any(others):
            return f"in the row and column of joint {name!r}"
    return f"at {_entries(np.triu(where), np.any(where, axis=1), sample)}"


def _outermost_first(where: Mask, tree: Tree) -> list[int]:
    """The entries of v: first those of wrong joints that no other wrong joint is mounted on, all from the tips inwards.

    Errors travel to the ancestors of the joint where they are made.
    """
    inner: set[int] = set()
    wrong = [any(where[k] for k in joint.columns) for joint in tree.joints]
    for joint, is_wrong in zip(tree.joints, wrong, strict=True):
        parent = joint.parent if is_wrong else -1
        while parent >= 0:
            inner |= set(tree.joints[parent].columns)
            parent = tree.joints[parent].parent
    return sorted(range(len(where)), key=lambda k: (k in inner, -k))


def _sentence(what: str, predicate: str) -> str:
    """Subject and predicate; the verb of the predicate ("is", "has") agrees with the subject."""
    if what.endswith("terms"):
        verb, _, rest = predicate.partition(" ")
        return f"{what} {'are' if verb == 'is' else 'have'} {rest}"
    return f"{what} {predicate}"


def _vector(values: Iterable[float]) -> str:
    """Numbers in parentheses, to 6 digits."""
    return f"({', '.join(_number(x) for x in values)})"


def _number(value: float) -> str:
    """A number to 6 digits; rounding noise is 0."""
    return f"{0.0 if abs(value) < 1e-9 else value:.6g}"

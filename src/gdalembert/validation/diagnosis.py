"""What is wrong with a formulation, and at which joints: torques taken apart, and held against simple explanations.

Every torque tau(q, v, a) = M(q) a + h(q, v) + g(q) can be taken apart from outside. Each part that differs from
Pinocchio's is compared with what common mistakes would give: a factor, a missing or doubled armature, another
direction of gravity, damping, centrifugal terms alone, another body. An explanation is given only if it accounts for
the whole difference of that part at all states looked at; otherwise the joints are named and no more is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation.states import States, Torque

_Mask = npt.NDArray[np.bool_]

SMALL = 1e-5
"""Relative differences below this are not diagnosed: a wrong formula is seldom that nearly right."""

_EXACT = 1e-6
"""How well an explanation must account for a difference, relative to the quantity itself."""

_VAGUE = "is wrong"
_PLAIN = ("has the opposite sign", "is missing")


class Finding(NamedTuple):
    """A sentence, and whether it accounts for the whole difference that it is about."""

    text: str
    explains: bool


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of tau at n states: tau, velocity, gravity n × nv, mass n × nv × nv."""

    tau: Array
    mass: Array
    velocity: Array
    gravity: Array

    @property
    def nle(self) -> Array:
        """Velocity terms and gravity, n × nv."""
        return self.velocity + self.gravity

    def sum(self, a: Array) -> Array:
        """M a + h + g, n × nv, which tau should be."""
        return np.asarray(np.einsum("nij,nj->ni", self.mass, a) + self.nle)


def decompose(torque: Torque, states: States) -> Parts:
    """g = f(q, 0, 0), h = f(q, v, 0) − g, columns of M = f(q, 0, e_j) − g."""
    q, v, a = states.q, states.v, states.a
    zero = np.zeros_like(v)
    gravity = torque(q, zero, zero)
    unit = np.eye(v.shape[1])
    columns = [torque(q, zero, np.broadcast_to(e_j, v.shape)) - gravity for e_j in unit]
    return Parts(torque(q, v, a), np.stack(columns, axis=2), torque(q, v, zero) - gravity, gravity)


@dataclass(frozen=True, eq=False)
class Case:
    """What a diagnosis goes by: states, the true parts there, and the tolerance above which a part is wrong.

    ``names`` are those of the entries of v, ``units`` those of their inertias; ``source`` says where ``torque`` comes
    from, ``whose`` what a factor is one of. Without a ``model`` neither fields of gravity nor other bodies are thought
    of.
    """

    model: pin.Model | None
    tree: Tree
    torque: Torque
    states: States
    truth: Parts
    springs: Array
    tolerance: float
    names: tuple[str, ...]
    units: tuple[str, ...]
    source: str = "Pinocchio's rnea"
    whose: str = "Pinocchio's"


def explain(found: Parts, case: Case) -> list[Finding]:
    """What is wrong in which part of a whole torque function, and at which joints."""
    if findings := _explain_not_finite(found, case):
        return findings
    truth, names = case.truth, case.names
    wrong = _wrong(found.tau, truth.tau, case.tolerance)
    if np.any(wrong) and (order := _order(found.tau, truth.tau)) is not None:
        moved = [f"{names[k]!r} at the place of {names[i]!r}" for i, k in enumerate(order) if i != k]
        return [Finding(f"tau is in another order: joint {listed(moved)}", True)]
    if np.any(wrong) and None not in _factors(found.tau, truth.tau, wrong):
        return _explain_vector("tau", found.tau, truth.tau, wrong, case)
    bent = _explain_bent(found, case)
    findings = [
        *(bent or explain_mass(found.mass, case)),
        *explain_velocity(found.velocity, case),
        *explain_gravity(found.gravity, case),
    ]
    if any(not finding.explains for finding in findings) and (bodies := _other_bodies(found.tau - truth.tau, case)):
        text = f"another mass, centre of mass or inertia of the body at joint {' or '.join(bodies)} explains all of it"
        findings.append(Finding(text, True))
    return findings


def explain_mass(found: Array, case: Case) -> list[Finding]:
    """What is wrong with a mass matrix (n × nv × nv)."""
    truth, names = case.truth.mass, case.names
    wrong = _wrong(found, truth, case.tolerance)
    if not np.any(wrong):
        return []
    if not np.all(np.isfinite(found)):
        return [_not_finite("mass matrix", found, names)]
    if (factor := _factor(found, truth)) is not None:
        return [Finding(f"mass matrix {_relation(factor, case)}", True)]
    findings, wrong = _explain_armature(found - truth, wrong, case)
    if np.any(lopsided := wrong & ~wrong.T):
        text = f"mass matrix is not symmetric: wrong at {_entries(lopsided, names)}, right at the mirrored place"
        findings.append(Finding(text, False))
    if np.any(wrong := wrong & wrong.T):
        findings.append(Finding(f"mass matrix is wrong {_rows(wrong, names)}", False))
    return findings


def explain_velocity(found: Array, case: Case) -> list[Finding]:
    """What is wrong with the velocity terms h = C v (n × nv)."""
    truth, names = case.truth.velocity, case.names
    wrong = _wrong(found, truth, case.tolerance)
    if not np.all(np.isfinite(found)):
        return [_not_finite("velocity terms", found, names)]
    if not np.any(wrong) or None not in _factors(found, truth, wrong):
        return _explain_vector("velocity terms", found, truth, wrong, case)
    damping = np.sum((found - truth) * case.states.v, axis=0) / np.sum(case.states.v**2, axis=0)
    if _same(found - truth, damping * case.states.v, truth):
        shown = listed([f"{names[j]!r} ({_short(damping[j])})" for j in np.flatnonzero(wrong)])
        text = f"velocity terms contain a damping proportional to v, which {case.source} has not, at joint {shown}"
        return [Finding(text, True)]
    centrifugal = _centrifugal(case)
    if _same(found, centrifugal, truth):
        return [Finding("velocity terms are the centrifugal ones (v_j²) alone: products v_j v_k are missing", True)]
    if _same(found, truth - centrifugal, truth):
        return [Finding("velocity terms are products v_j v_k alone: the centrifugal ones (v_j²) are missing", True)]
    return _explain_vector("velocity terms", found, truth, wrong, case)


def explain_gravity(found: Array, case: Case) -> list[Finding]:
    """What is wrong with the torque at v = a = 0 (n × nv), springs included if there are any."""
    found, truth, names = found - case.springs, case.truth.gravity - case.springs, case.names
    wrong = _wrong(found, truth, case.tolerance)
    if not np.any(wrong):
        return []
    if not np.all(np.isfinite(found)):
        return [_not_finite("gravity", found, names)]
    if (factor := _factor(found, truth)) is not None and _relation(factor, case) in _PLAIN:
        return [Finding(f"gravity {_relation(factor, case)}", True)]
    if case.model is not None:
        per_field = _gravity_per_field(case.model, case.states)
        field, *_ = np.linalg.lstsq(per_field.reshape(-1, 3), found.ravel(), rcond=1e-9)
        if _same(found, per_field @ field, truth):
            given = _vector(case.model.gravity.linear)
            return [Finding(f"gravity acts as in a field of {_vector(field)} m/s²; the model's is {given}", True)]
    return _explain_vector("gravity", found, truth, wrong, case)


def explain_kinetic(found: Array, truth: Array, case: Case) -> list[Finding]:
    """What is wrong with a kinetic energy (n)."""
    of_armature = 0.5 * case.states.v**2 @ case.tree.armature
    if np.any(of_armature) and _same(found, truth - of_armature, truth):
        return [Finding("armature is missing", True)]
    return _explain_scalar("kinetic energy", found, truth, case)


def explain_potential(found: Array, truth: Array, case: Case) -> list[Finding]:
    """What is wrong with a potential energy, by its rate (n)."""
    return _explain_scalar("potential energy", found, truth, case)


def explain_addend(what: str, difference: Array, addend: Array, case: Case) -> list[Finding]:
    """Whether a difference (n × nv) is that one known addend is missing, or has a factor."""
    if not np.any(addend) or (factor := _factor(difference + addend, addend)) is None:
        return []
    return [Finding(f"{what} {_relation(factor, case)}", True)]


def group(findings: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Each sentence (first of a pair) once, with the names of the Functions (second) that it is about."""
    sources: dict[str, list[str]] = {}
    for sentence, source in findings:
        sources.setdefault(sentence, []).append(source)
    return tuple(f"{sentence} (in {', '.join(names)})" for sentence, names in sources.items())


def _explain_scalar(what: str, found: Array, truth: Array, case: Case) -> list[Finding]:
    factor = _factor(found, truth)
    return [] if factor is None else [Finding(f"{what} {_relation(factor, case)}", True)]


def _explain_not_finite(found: Parts, case: Case) -> list[Finding]:
    if not np.all(np.isfinite(found.gravity)):  # which is part of all the others
        return [_not_finite("tau at rest", found.gravity, case.names)]
    parts = {"mass matrix": found.mass, "velocity terms": found.velocity, "tau": found.tau}
    bad = {what: values for what, values in parts.items() if not np.all(np.isfinite(values))}
    if len(bad) > 1:
        del bad["tau"]
    return [_not_finite(what, values, case.names) for what, values in bad.items()]


def _not_finite(what: str, values: Array, names: tuple[str, ...]) -> Finding:
    finite = np.isfinite(values).reshape(*values.shape[:2], -1)
    where = ~np.all(finite, axis=(0, 2))
    share = "some states" if np.any(np.all(finite, axis=(1, 2))) else "every state looked at"
    return Finding(_sentence(what, f"is not finite at {_joints(where, names)}, in {share}"), True)


def _explain_bent(found: Parts, case: Case) -> list[Finding]:
    """Whether tau is something else than the sum of its parts, so that there is no mass matrix to speak of."""
    bent = _wrong(found.tau, found.sum(case.states.a), case.tolerance)
    if not np.any(bent):
        return []
    where = _joints(bent, case.names)
    return [Finding(f"tau is not linear in a, or its mass matrix depends on v, at {where}", False)]


def _explain_armature(difference: Array, wrong: _Mask, case: Case) -> tuple[list[Finding], _Mask]:
    """What constant differences on the diagonal say, and the entries that are wrong besides."""
    rest, armature = wrong.copy(), case.tree.armature
    only_diagonal = np.sum(wrong) == np.sum(np.diag(wrong))
    joints: dict[str, list[str]] = {}
    for j in np.flatnonzero(np.diag(wrong)):
        d = difference[:, j, j]
        mean, noise = float(d.mean()), _EXACT * float(np.abs(d).max())
        if np.ptp(d) > noise:
            continue
        if abs(mean + armature[j]) <= noise:
            way, value = "armature is missing", f"{armature[j]:.6g}"
        elif abs(mean - armature[j]) <= noise:
            way, value = "armature is counted twice", f"{armature[j]:.6g}"
        elif only_diagonal:
            way, value = "mass matrix is off by a constant, as another armature would have it,", f"{mean:+.6g}"
        else:
            continue
        joints.setdefault(way, []).append(f"{case.names[j]!r} ({' '.join((value, case.units[j])).strip()})")
        rest[j, j] = False
    return [Finding(f"{way} at joint {listed(at)}", True) for way, at in joints.items()], rest


def _explain_vector(what: str, found: Array, truth: Array, wrong: _Mask, case: Case) -> list[Finding]:
    """What is wrong with a vector (n × nv): one finding for all joints that are wrong in the same way."""
    if not np.any(wrong):
        return []
    if (factor := _factor(found, truth)) is not None:
        return [Finding(_sentence(what, _relation(factor, case)), True)]
    ways: dict[str, _Mask] = {}
    for j, own in zip(np.flatnonzero(wrong), _factors(found, truth, wrong), strict=True):
        way = _VAGUE if own is None else _relation(own, case)
        ways.setdefault(way, np.zeros_like(wrong))[j] = True
    return [
        Finding(f"{_sentence(what, way)} at {_joints(where, case.names)}", way != _VAGUE) for way, where in ways.items()
    ]


def _wrong(found: Array, truth: Array, tolerance: float) -> _Mask:
    """Which entries differ at any state by more than the tolerance, relative to max(1, max|truth|) of the state."""
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1, np.abs(truth).reshape(len(truth), -1).max(axis=1))
        errors = np.abs(found - truth) / scale.reshape(-1, *[1] * (truth.ndim - 1))
    wrong: _Mask = ~(errors <= tolerance).all(axis=0)
    return wrong


def _same(found: Array, explanation: Array, scale: Array) -> bool:
    """Whether an explanation accounts for what was found, on the scale of the true values."""
    size = max(np.abs(scale).max(), np.abs(found).max())
    return bool(np.abs(found - explanation).max() <= _EXACT * size)


def _factor(found: Array, truth: Array) -> float | None:
    """s with found = s truth at all states, unless there is none."""
    square = float(np.sum(truth * truth))
    if square == 0 or not np.all(np.isfinite(found)):
        return None
    s = float(np.sum(found * truth)) / square
    return s if _same(found, s * truth, truth) else None


def _factors(found: Array, truth: Array, wrong: _Mask) -> list[float | None]:
    """The factor of each wrong entry by itself."""
    return [_factor(found[:, j], truth[:, j]) for j in np.flatnonzero(wrong)]


def _relation(factor: float, case: Case) -> str:
    if abs(factor + 1) <= _EXACT:
        return _PLAIN[0]
    return _PLAIN[1] if abs(factor) <= _EXACT else f"is {factor:.6g} times {case.whose}"


def _sentence(what: str, predicate: str) -> str:
    """With the verb of the predicate in the plural if need be."""
    if what.endswith("terms"):
        verb, _, rest = predicate.partition(" ")
        return f"{what} {'are' if verb == 'is' else 'have'} {rest}"
    return f"{what} {predicate}"


def _order(found: Array, truth: Array) -> list[int] | None:
    """Which entry of the truth each entry found is, if each is another one's."""
    n = truth.shape[1]
    order = [next((k for k in range(n) if _same(found[:, i], truth[:, k], truth)), None) for i in range(n)]
    known = [k for k in order if k is not None]
    return known if len(set(known)) == n and known != list(range(n)) else None


def _centrifugal(case: Case) -> Array:
    """The part of the velocity terms that comes from each velocity alone."""
    q, v, zero = case.states.q, case.states.v, np.zeros_like(case.states.v)
    alone = [np.where(e_j, v, 0.0) for e_j in np.eye(v.shape[1], dtype=bool)]
    return np.asarray(sum(case.torque(q, v_j, zero) - case.truth.gravity for v_j in alone))


def _gravity_per_field(model: pin.Model, states: States) -> Array:
    """Gravity torque (n × nv × 3) per unit of each component of the field."""
    turned, zero = model.copy(), np.zeros(model.nv)
    data = turned.createData()
    torques = []
    for e in np.eye(3):
        turned.gravity.linear = e
        torques.append([pin.rnea(turned, data, q, zero, zero) for q in states.q])
    return np.stack(torques, axis=2)


def _other_bodies(difference: Array, case: Case) -> list[str]:
    """Joints whose body's ten inertial parameters alone can account for the difference (n × nv) of tau."""
    if case.model is None or case.tree.has_mimic:  # Pinocchio has no regressor for these
        return []
    data = case.model.createData()
    states = zip(case.states.q, case.states.v, case.states.a, strict=True)
    regressors = [pin.computeJointTorqueRegressor(case.model, data, *state).copy() for state in states]
    by_body = np.array(regressors).reshape(difference.size, -1, 10)
    explaining = []
    for k, name in enumerate(case.tree.joint_names):
        parameters, *_ = np.linalg.lstsq(by_body[:, k], difference.ravel(), rcond=1e-12)
        left = np.abs(by_body[:, k] @ parameters - difference.ravel()).max()
        if left <= _EXACT * np.abs(difference).max():
            explaining.append(repr(name))
    return explaining


def _joints(where: _Mask, names: tuple[str, ...]) -> str:
    if np.all(where) and len(names) > 1:
        return "every joint"
    return f"joint {listed([repr(names[j]) for j in np.flatnonzero(where)])}"


def _entries(where: _Mask, names: tuple[str, ...]) -> str:
    return listed([f"{names[i]!r} × {names[j]!r}" for i, j in np.argwhere(where)])


def _rows(wrong: _Mask, names: tuple[str, ...]) -> str:
    """In words: entries of a symmetric matrix, or the one row and column they all are in."""
    if np.all(wrong) and len(names) > 1:
        return "at every joint"
    for j, name in enumerate(names):
        others = np.delete(np.delete(wrong, j, axis=0), j, axis=1)
        if np.sum(wrong) > 2 and not np.any(others):
            return f"in the row and column of joint {name!r}"
    return f"at {_entries(np.triu(wrong), names)}"


def listed(given: Iterable[str], most: int = 8) -> str:
    """With commas; only so many of them."""
    items = list(given)
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[:most])} and {len(items) - most} more"


def _vector(values: Iterable[float]) -> str:
    return f"({', '.join(_short(x) for x in values)})"


def _short(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-9 else value:.6g}"

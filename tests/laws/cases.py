"""Random cases of the law machine: choices alone, from a seed, and the cases that are one step simpler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

import gdalembert as gd
from tests.helpers.models import JOINTS, MIMICABLE

KINDS = tuple(sorted(JOINTS))
ONE_AXIS = tuple(kind for kind in KINDS if kind.startswith(("R", "P", "H")) and kind != "Planar")
"""Revolute, continuous, prismatic and helical joints: those that can have a rotor."""
SPRUNG = (*(kind for kind in ONE_AXIS if not kind.startswith("RUB")), "Translation")
ELASTIC = tuple(kind for kind in SPRUNG if kind in ONE_AXIS and not kind.startswith("H"))
"""Joints that can be flexible."""
SIMPLE = tuple(kind for kind in ONE_AXIS if not kind.startswith("H"))
"""Joints of arms whose links turn to first order."""
SPLIT = ("Universal", "Composite", "SphericalZYX")
"""Joints that are several in a tree, whose names friction then asks for; ``friction="model"`` has them, too."""
ALIGNED = ("parallel", "opposite", "coaxial")
"""Axes against those of the joint below: the same, the opposite ones, or the same at the same place."""
BODIES = ("full", "point", "massless", "light", "heavy")
RODS = ("1x0", "1x1", "2x0")
"""Segments × degree."""
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
FORMULATIONS = tuple(sorted(gd.formulations()))
ARMS = ("flexible_arm", "first_order_arm")
PARAMETERS = ("inertia", "base", "payload", "armature", "gravity", "springs", "friction", "placement")
OF_FORCES = ("springs", "friction", "stiffness", "damping")
OF_ARMS = ("inertia", "payload", "armature", "gravity", *OF_FORCES, "placement")
EVALUATIONS = ("interpreter", "batch", "map", "MX", "pickle", "copy", "python")
COMPILED = ("machine code", "batch of machine code", "C")
"""Evaluations that need a compiler."""


@dataclass(frozen=True)
class Joint:
    """A joint, the link that it moves, and what acts on them.

    Attributes:
        kind: a name of ``JOINTS``, or ``"Mimic"``.
        number: of the joint, and the seed of its numbers, which do not change as other joints are dropped.
        parent: the number of the joint that moves its base; -1: none does.
        mimics: the number of the joint whose coordinate it shares.
        aligned: one of ``ALIGNED``, or "" for any placement.
        body: one of ``BODIES``. ``modes``: the directions y, z, x (extension), t (torsion) in which the link bends.
        rod: one of ``RODS``: the link is a Cosserat rod with such strains; "" if it has assumed modes.
        elastic: whether the joint is flexible. ``wrench``: the reference of a wrench on the link.
    """

    kind: str
    number: int
    parent: int = -1
    mimics: int = -1
    aligned: str = ""
    body: str = "full"
    modes: str = ""
    rod: str = ""
    elastic: bool = False
    rotor: bool = False
    spring: bool = False
    friction: bool = False
    wrench: str = ""


@dataclass(frozen=True)
class Case:
    """A robot, what is asked of it, and how it is evaluated.

    Attributes:
        joints: in the order of the model, which need not be depth first.
        formulation: a name of :func:`gdalembert.formulations`, ``"flexible_arm"`` or ``"first_order_arm"``.
        state: the seed of states, gravity, wrenches and p.
        armature: of ``"all"`` joints, of those that are no free-flyers (``"joints"``), or of none (``""``).
        friction: whether friction is that of the model, of all joints.
        parameters: kinds. ``constraints``: ``(kind, number)`` of contacts, ``(kind, first, second)`` of loops.
        actuation: ``""``: by each velocity; by a ``"matrix"`` B; or by a ``"function"`` of (q, u).
        evaluation: ``""``: the graphs alone; beside them one of ``EVALUATIONS`` and ``COMPILED``.
    """

    joints: tuple[Joint, ...]
    formulation: str
    state: int = 0
    gravity: bool = True
    armature: str = ""
    friction: bool = False
    parameters: tuple[str, ...] = ()
    constraints: tuple[tuple[str, int] | tuple[str, int, int], ...] = ()
    actuation: str = ""
    evaluation: str = ""

    @property
    def is_flexible(self) -> bool:
        return self.formulation in ARMS

    @property
    def has_rotations(self) -> bool:
        """Whether links turn by rotations, and not to first order."""
        return self.formulation != "first_order_arm"

    @property
    def numbers(self) -> dict[int, Joint]:
        return {joint.number: joint for joint in self.joints}


def draw(seed: int) -> Case:
    """The case of a seed; consecutive seeds go through all joint types, formulations and evaluations."""
    rng = np.random.default_rng(seed)
    formulation = (*FORMULATIONS, "flexible_arm")[seed % (len(FORMULATIONS) + 1)]
    flexible = formulation in ARMS
    joints = _tree(rng, KINDS[seed % len(KINDS)], flexible)
    numbers = [joint.number for joint in joints]
    chosen = [kind for kind in (OF_ARMS if flexible else PARAMETERS) if rng.random() < 0.35]
    if "base" in chosen:
        chosen = [kind for kind in chosen if kind not in ("inertia", "payload", "placement")]
    constraints = []
    for kind in rng.choice(["1D", "2D", "3D", "6D"], size=rng.integers(0, 3) if len(joints) > 1 else 0):
        many = 2 if rng.random() < 0.4 else 1
        constraints.append((str(kind), *map(int, rng.choice(numbers, size=many, replace=False))))
    case = Case(
        joints,
        formulation,
        state=seed,
        gravity=bool(rng.random() < 0.9),
        armature=str(rng.choice(["all", "joints", ""])),
        friction=bool(rng.random() < 0.2),
        parameters=tuple(chosen) if rng.random() < 0.7 else (),
        constraints=tuple(constraints),
        actuation=str(rng.choice(["", "matrix", "function"])),
        evaluation=(*EVALUATIONS, *COMPILED)[seed % (len(EVALUATIONS) + len(COMPILED))],
    )
    return _to_first_order(rng, case) if flexible else case


def _to_first_order(rng: np.random.Generator, case: Case) -> Case:
    """Some arms to first order, if that takes their joints and links."""
    if all(joint.kind in SIMPLE and not joint.rod for joint in case.joints) and rng.random() < 0.5:
        parameters = tuple(kind for kind in case.parameters if kind in OF_FORCES)
        return replace(case, formulation="first_order_arm", parameters=parameters)
    return case


def _tree(rng: np.random.Generator, kind: str, flexible: bool) -> tuple[Joint, ...]:
    """One to five joints, one of which is of the given kind; parents are any joints before."""
    count = int(rng.integers(1, 4 if flexible else 6, size=2).min())
    kinds = [str(rng.choice(KINDS if rng.random() < 0.3 else ONE_AXIS)) for _ in range(count)]
    kinds[int(rng.integers(count))] = kind
    if rng.random() < 0.25 and kind != "FreeFlyer":
        kinds.insert(0, "FreeFlyer")
    joints: list[Joint] = []
    for k, each in enumerate(kinds):
        joints.append(_joint(rng, each, k, int(rng.integers(-1, k)), flexible))
    leaves = {joint.number for joint in joints} - {joint.parent for joint in joints}
    joints = [replace(joint, body="full") if joint.number in leaves else joint for joint in joints]
    if flexible:
        bends = int(rng.integers(len(joints)))
        modes = str(rng.choice(["y", "yz", "zt", "yx", "yzt"]))
        rod = str(rng.choice(["", "", *RODS]))
        joints[bends] = replace(joints[bends], modes=modes, rod=rod, body="full")
        return tuple(joints)
    for number in range(len(joints), len(joints) + int(rng.choice([0, 0, 1, 2]))):
        driving = [joint.number for joint in joints if joint.kind in MIMICABLE]
        if driving:
            parent, mimics = int(rng.integers(-1, len(joints))), int(rng.choice(driving))
            joints.append(Joint("Mimic", number, parent, mimics, wrench=str(rng.choice(["", *REFERENCES]))))
    return tuple(joints)


def _joint(rng: np.random.Generator, kind: str, number: int, parent: int, flexible: bool) -> Joint:
    """A joint with what such a joint can have, each with some probability."""
    some = rng.random(6)
    return Joint(
        kind,
        number,
        parent,
        aligned=str(rng.choice(ALIGNED)) if some[5] < 0.3 else "",
        body=str(rng.choice(BODIES)) if rng.random() < 0.4 and not flexible else "full",
        elastic=bool(flexible and kind in ELASTIC and some[0] < 0.3),
        rotor=bool(not flexible and kind in ONE_AXIS and some[1] < 0.2),
        spring=bool(kind in SPRUNG and some[2] < 0.3),
        friction=bool(kind not in SPLIT and some[3] < 0.3),
        wrench=str(rng.choice(REFERENCES)) if some[4] < 0.4 else "",
    )


def smaller(case: Case) -> Iterator[Case]:
    """The cases that are one step simpler: without a joint, or with one choice less."""
    for joint in case.joints:
        if len(case.joints) > 1:
            yield without(case, joint)
    for name in ("parameters", "constraints"):
        chosen = getattr(case, name)
        for k in range(len(chosen)):
            yield replace(case, **{name: (*chosen[:k], *chosen[k + 1 :])})
    for name in ("evaluation", "actuation", "friction", "armature", "gravity"):
        simplest = False if name == "gravity" else Case.__dataclass_fields__[name].default
        if getattr(case, name) != simplest:
            yield replace(case, **{name: simplest})
    for k, joint in enumerate(case.joints):
        for other in _simpler(joint):
            yield replace(case, joints=(*case.joints[:k], other, *case.joints[k + 1 :]))


def without(case: Case, joint: Joint) -> Case:
    """The case without a joint, those that mimic it, and its constraints; what it carried goes to its parent."""
    gone = {joint.number} | {each.number for each in case.joints if each.mimics == joint.number}
    kept: list[Joint] = []
    for each in case.joints:
        if each.number not in gone:
            parent = each.parent
            while parent in gone:
                parent = case.numbers[parent].parent
            kept.append(replace(each, parent=parent))
    constraints = tuple(each for each in case.constraints if not gone & set(each[1:]))
    return replace(case, joints=tuple(kept), constraints=constraints)


def _simpler(joint: Joint) -> Iterator[Joint]:
    for field in fields(Joint)[4:]:
        if getattr(joint, field.name) != field.default:
            yield replace(joint, **{field.name: field.default})
    if len(joint.modes) > 1:
        yield from (replace(joint, modes=joint.modes.replace(mode, "")) for mode in joint.modes)
    if joint.kind not in ("RX", "Mimic"):
        yield replace(joint, kind="RX")
    if joint.parent != -1:
        yield replace(joint, parent=-1)


def code(case: Case) -> str:
    """The case as Python, without what has its default."""
    joints = "".join(f"\n        {_call(joint, 2)}," for joint in case.joints)
    return f"Case(\n    ({joints}\n    ),\n    {_arguments(case, 1, 2)},\n)"


def _call(joint: Joint, positional: int) -> str:
    return f"Joint({_arguments(joint, 0, positional)})"


def _arguments(thing: Case | Joint, first: int, positional: int) -> str:
    shown = []
    for k, field in enumerate(fields(thing)):
        value = getattr(thing, field.name)
        if k >= first and (k < positional or value != field.default):
            shown.append(repr(value) if k < positional else f"{field.name}={value!r}")
    return ", ".join(shown)

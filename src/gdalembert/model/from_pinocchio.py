"""Reading of a ``pin.Model`` as a :class:`~gdalembert.model.tree.Tree`; numbers without a meaning are refused.

Joints that move no inertia are told from others: kinematics needs none, dynamics does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError
from gdalembert.model import joints as jt
from gdalembert.model.configuration import random_configuration
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.rounding import LARGEST, NO_INERTIA, SINGULAR, least_moment
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arguments import UNIT_ERROR
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import first_named

_NAMED = 8
"""Most joints that a message names."""


def read_tree(model: pin.Model | Tree) -> Tree:
    """Read the numbers of a model and check them: once for all objects that are then made of the tree.

    Args:
        model: any ``pin.Model``: every joint type, order of joints, gravity, armature and friction. A ``Tree`` is
            returned as it is. Joints may move no inertia (:func:`idle_joints`): dynamics asks for it.

    Raises:
        ArgumentTypeError: if it is not a ``pin.Model``.
        ModelError: if it holds a number that is not finite, a negative mass, principal moment, armature or friction, a
            placement that is not a rigid transformation, a gravity with an angular part, no joint at all, parents in
            disorder, or two joints of one name.
    """
    if isinstance(model, Tree):
        return model
    if isinstance(model, pin.Data):
        raise ArgumentTypeError("expected a pin.Model, got a pin.Data; pass the model that it was created from")
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"expected a pin.Model, got {type(model).__name__}; load_urdf makes one from a URDF")
    tree = _read(model)
    _check_numbers(tree)
    return tree


def name_of(model: pin.Model | Tree) -> str:
    """The name of a model, for messages and files; the one that its tree has, if it has none."""
    return model.name or "unnamed model"


def _read(model: pin.Model) -> Tree:
    joints: list[Joint] = []
    links = [-1]
    for attribute in ("armature", "damping", "friction"):
        if (values := getattr(model, attribute)).shape != (model.nv,):
            raise ModelError(f"{name_of(model)}: its {attribute} has {values.size} entries; give nv = {model.nv}")
    if len(set(model.names)) < model.njoints:
        name = next(name for name in model.names if list(model.names).count(name) > 1)
        raise ModelError(
            f"{name_of(model)}: joint {name!r}: {list(model.names).count(name)} joints have this name; rename them, or "
            "read an MJCF file by gd.load_mjcf: of one with two <worldbody> Pinocchio reads everything twice"
        )
    for index in range(1, model.njoints):
        if not 0 <= model.parents[index] < index:
            raise ModelError(
                f"{name_of(model)}: joint {model.names[index]!r}: its parent {model.parents[index]} does not come "
                f"before it ({index}); build the model with addJoint"
            )
        _append(joints, model, index, parent=links[model.parents[index]])
        links.append(len(joints) - 1)
    if np.any(model.gravity.angular):
        raise ModelError(f"{name_of(model)}: gravity has an angular part {model.gravity.angular}; set it to zero")
    frames = []
    for f in model.frames:
        body = pseudo_inertia(f.inertia.mass, f.inertia.lever, f.inertia.inertia)
        r, p = frozen(f.placement.rotation), frozen(f.placement.translation)
        frames.append(Frame(f.name, links[f.parentJoint], r, p, f.type.name, f.parentFrame, body))
    name, names, bodies = name_of(model), tuple(model.names)[1:], tuple(links[1:])
    constants = (model.armature, model.damping, model.friction, model.gravity.linear)
    armature, damping, friction, gravity = map(frozen, constants)
    tree = Tree(
        name, model.nq, model.nv, tuple(joints), bodies, names, armature, damping, friction, gravity, tuple(frames)
    )
    return replace(tree, first_parts=tuple(_first_parts(model)))


def _first_parts(model: pin.Model) -> Iterator[Frame]:
    """Frames of the first parts of composite joints, which are displaced in them."""
    for index in range(1, model.njoints):
        if model.joints[index].shortname() == "JointModelComposite":
            inner, *_ = next(_elementary(model.joints[index], model, index))
            if not inner.isIdentity(0.0):
                r, p = frozen(inner.rotation), frozen(inner.translation)
                yield Frame(model.names[index], -1, r, p, "JOINT")


def _append(joints: list[Joint], model: pin.Model, index: int, parent: int) -> None:
    """Append the elementary joints of Pinocchio's joint ``index``; the last of them carries the body."""
    outer, name = model.joints[index], model.names[index]
    parts = list(_elementary(outer, model, index))
    if not parts:
        raise ModelError(f"{name_of(model)}: joint {name!r}: is a composite joint without parts; add its joints first")
    check_body(f"{name_of(model)}: joint {name!r}", model.inertias[index])
    idx_q, idx_v = outer.idx_q, outer.idx_v
    at = model.jointPlacements[index]
    for k, (placement, joint_type, mimic) in enumerate(parts):
        placed = at * placement if k == 0 else placement
        body = model.inertias[index] if k == len(parts) - 1 else pin.Inertia.Zero()
        part = name if len(parts) == 1 else f"{name}[{k}]"
        r, p = frozen(placed.rotation), frozen(placed.translation)
        j = pseudo_inertia(body.mass, body.lever, body.inertia)
        joints.append(Joint(part, joint_type, parent, r, p, j, idx_q, idx_v, *mimic))
        parent = len(joints) - 1
        idx_q += joint_type.nq
        idx_v += joint_type.nv


_TYPES = {name: joint_type for joint_type in jt.JOINT_TYPES for name in joint_type.pinocchio_names}
_ZYX: tuple[jt.Vector3, ...] = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
_NO_MIMIC = (None, None)
_Part = tuple[pin.SE3, jt.JointType, tuple[float | None, float | None]]


def _elementary(generic: pin.JointModel, model: pin.Model, index: int) -> Iterator[_Part]:
    """The elementary joints that Pinocchio's joint consists of, each with its placement on the one before."""
    joint, here = generic.extract(), pin.SE3.Identity()
    name = type(joint).__name__.removeprefix("JointModel")
    if name == "Composite":
        for part, placement in zip(joint.joints, joint.jointPlacements, strict=True):
            for k, (inner, joint_type, mimic) in enumerate(_elementary(part, model, index)):
                yield (placement * inner if k == 0 else inner), joint_type, mimic
    elif name == "Universal":
        yield here, jt.Revolute(_vector(joint.axis1)), _NO_MIMIC
        yield here, jt.Revolute(_vector(joint.axis2)), _NO_MIMIC
    elif name == "SphericalZYX":
        for axis in _ZYX:
            yield here, jt.Revolute(axis), _NO_MIMIC
    elif name == "Mimic":
        yield here, _mimicking_type(generic, joint.scaling, model, index), (float(joint.scaling), float(joint.offset))
    elif name in _TYPES:
        yield here, _TYPES[name].from_pinocchio(joint), _NO_MIMIC
    else:
        raise ModelError(f"joint {model.names[index]!r}: its type {name} is not known to this version of gdalembert")


def _mimicking_type(generic: pin.JointModel, scaling: float, model: pin.Model, index: int) -> jt.JointType:
    """The type of a mimic joint's own motion (always one column), read off its motion subspace."""
    name = model.names[index]
    mimicked = next((j for j in model.mimicked_joints if model.joints[j].idx_v == generic.idx_v), None)
    if scaling == 0 or mimicked is None:
        raise ModelError(f"joint {name!r}: mimics with scaling {scaling}; use a fixed joint")
    joint = model.joints[mimicked]
    if "Mimicking joint type: JointModelH" in str(generic.extract()):
        # Pinocchio's S of a helical mimic has no pitch, and asking for it can crash; but only a copy can be made of one
        return next(joint_type for _, joint_type, _ in _elementary(joint, model, mimicked))
    data = generic.createData()
    generic.calc(data, pin.neutral(model))
    linear, angular = np.split(np.ravel(data.S) / scaling, 2)
    if not np.any(angular):
        return jt.Prismatic(_vector(linear))
    return jt.UnboundedRevolute(_vector(angular)) if joint.nq == 2 else jt.Revolute(_vector(angular))


def _vector(axis: npt.ArrayLike) -> jt.Vector3:
    x, y, z = (float(e) for e in np.asarray(axis).ravel())
    return (x, y, z)


def check_body(context: str, body: pin.Inertia, whose: str = "its link") -> None:
    """Refuse what is not the inertia of a body, by the numbers as given, before the pseudo-inertia is made of them."""
    for quantity, values in (("mass", body.mass), ("com", body.lever), ("inertia", body.inertia)):
        _check_size(context, quantity, np.atleast_1d(values))
    if body.mass < 0:
        raise ModelError(f"{context}: {whose} has the negative mass {body.mass:.9g} kg; give a mass of at least 0")
    if (moment := least_moment(body.inertia, body.mass)) < 0:
        raise ModelError(
            f"{context}: {whose} has the negative principal moment {moment:.9g} kg m² about the centre of mass; "
            "check the signs of the inertia's off-diagonal entries"
        )


def _check_size(context: str, quantity: str, values: Array) -> None:
    if not np.all(np.isfinite(values)):
        raise ModelError(f"{context}: its {quantity} is not finite: {values.tolist()}; give finite numbers")
    if np.abs(values).max() > LARGEST:
        raise ModelError(f"{context}: its {quantity} is too large: {values.tolist()}; give numbers up to {LARGEST:g}")


def check_same_joints(context: str, tree: Tree, other: Tree) -> None:
    """Refuse a robot that has not the same joints in the same order."""
    for name, theirs in itertools.zip_longest(tree.rigid_joints, other.rigid_joints):
        if name != theirs:
            raise ArgumentError(
                f"{context}: {other.name!r} has {'no further joint' if theirs is None else f'a joint {theirs!r}'} "
                f"where {tree.name!r} has {'none' if name is None else repr(name)}; "
                "give a model with the same joints in the same order"
            )


def _check_numbers(tree: Tree) -> None:
    """Refuse numbers without a meaning."""
    if not tree.joints:
        raise ModelError(f"{tree.name}: has no joint that moves; there are no equations of motion")
    for joint in tree.joints:
        context = f"{tree.name}: joint {joint.name!r}"
        _check_placement(context, joint)
        axis = joint.type.axis
        if axis is not None and not abs(math.hypot(*axis) - 1) < UNIT_ERROR:
            raise ModelError(f"{context}: its axis {axis} has length {math.hypot(*axis):.9g}; give a unit vector")
        if not np.all(np.isfinite(joint.type.constants)):
            raise ModelError(f"{context}: its {joint.type.kind} parameters are not finite; give finite numbers")
    for frame in tree.frames:
        _check_placement(f"{tree.name}: frame {frame.name!r}", frame)
    for attribute in ("armature", "damping", "friction", "gravity"):
        if not np.all(np.isfinite(getattr(tree, attribute))):
            raise ModelError(f"{tree.name}: its {attribute} is not finite: {getattr(tree, attribute).tolist()}")
    for attribute in ("armature", "damping", "friction"):
        for name, value in zip(tree.velocity_names, getattr(tree, attribute), strict=True):
            if value < 0:
                raise ModelError(
                    f"{tree.name}: joint {name!r}: has the negative {attribute} {value:.9g}; give at least 0"
                )


def _check_placement(context: str, element: Joint | Frame) -> None:
    for quantity in ("rotation", "translation"):
        _check_size(context, quantity, getattr(element, quantity))
    rotation = element.rotation
    if not np.allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=UNIT_ERROR):
        raise ModelError(f"{context}: the rotation of its placement is not orthogonal; normalise it")
    if np.linalg.det(rotation) < 0:
        raise ModelError(f"{context}: the rotation of its placement is left-handed; change the sign of one of its axes")


def idle_joints(tree: Tree, motors: Array | None = None) -> tuple[str, ...]:
    """Names of the joints that move no inertia and have no armature, so that M is singular in every configuration.

    Whether it is none is judged by the rounding error of the joint's own block of M, whatever other joints move.

    Args:
        tree: in numbers. Coordinates of flexible links are no joints.
        motors: the part of M (nv × nv) of motors.
    """
    m = np.diag(tree.armature) if motors is None else np.diag(tree.armature) + motors
    rounding = np.abs(m)
    for joint, twists, body in zip(tree.joints, *_generic_twists(tree), strict=True):
        block = np.ix_(joint.columns, joint.columns)
        m[block] += _inner(twists, twists @ body)
        rounding[block] += _inner(np.abs(twists), np.abs(twists) @ np.abs(body))
    moving = (joint for joint in tree.joints if joint.scaling is None and joint.type.nv)
    rigid = (joint for joint in moving if not joint.type.is_modal)
    blocks = {joint.name: np.ix_(joint.columns, joint.columns) for joint in rigid}
    noise = {name: NO_INERTIA * np.abs(rounding[block]).max() for name, block in blocks.items()}
    return tuple(name for name, block in blocks.items() if np.abs(np.linalg.eigvalsh(m[block])).min() <= noise[name])


def without_inertia(joints: Sequence[str]) -> str:
    """The words of messages on :func:`idle_joints`."""
    names = first_named(joints, _NAMED, f", … ({len(joints)} in all)")
    one = len(joints) == 1
    return (
        f"{'joint' if one else 'joints'} {names} {'moves' if one else 'move'} no inertia, so that the mass matrix is "
        "singular"
    )


def is_singular(tree: Tree, motors: Array | None = None) -> bool:
    """True if M is singular in every configuration, as for a free-flyer on a link without mass; ``motors`` as above."""
    twists, bodies = _generic_twists(tree)
    m = np.diag(tree.armature) if motors is None else np.diag(tree.armature) + motors
    for i, j in tree.pairs():
        block = _inner(twists[i], twists[j] @ bodies[j])
        rows, columns = tree.joints[i].columns, tree.joints[j].columns
        m[np.ix_(rows, columns)] += block
        if i != j:
            m[np.ix_(columns, rows)] += block.T
    unit = 1 / np.sqrt(np.maximum(np.abs(np.diag(m)), 1e-300))
    return bool(np.abs(np.linalg.eigvalsh(unit[:, None] * m * unit)).min() < SINGULAR)


def _generic_twists(tree: Tree) -> tuple[list[Array], list[Array]]:
    """Twists and inertias: for each joint its Q̂ (nv × 4 × 4), and P of its subtree, so that M_ij = Tr(Q̂_i P_j Q̂_jᵀ).

    They are taken at one generic configuration, the same for equal trees, in the axes of the root link of the branch;
    flexible links are undeformed.
    Ours: M is an analytic function of q, so that what is singular at a generic point is singular everywhere.
    """
    q = random_configuration(tree, np.random.default_rng(20260101))
    for joint in tree.joints:
        if joint.type.is_modal:
            q[joint.idx_q : joint.idx_q + joint.type.nq] = 0
    placed: list[Array] = []
    twists: list[Array] = []
    for joint in tree.joints:
        placement, (linear, angular) = joint.placement(q), joint.subspace(q)
        if any(isinstance(x, ca.SX | ca.MX) for x in (*placement, linear, angular)):
            raise ModelError(
                f"{tree.name}: joint {joint.name!r}: placement and subspace of its type {joint.type.kind} give symbols "
                "for numbers; give DM for DM, and begin matrices with ca.DM in place of ca.SX"
            )
        a = np.eye(4) if joint.parent < 0 else placed[joint.parent] @ spatial.transform(*placement).full()
        local_twists = (spatial.twist(linear[:, k], angular[:, k]).full() for k in range(joint.type.nv))
        twists.append(np.array([a @ twist @ np.linalg.inv(a) for twist in local_twists]).reshape(-1, 4, 4))
        placed.append(a)
    bodies = [a @ joint.pseudo_inertia @ a.T for a, joint in zip(placed, tree.joints, strict=True)]
    return twists, tree.suffix_sums(bodies)


def _inner(x: Array, y: Array) -> Array:
    """The traces Tr(X_a Y_bᵀ) of all pairs."""
    return np.asarray(np.einsum("aij,bij->ab", x, y))

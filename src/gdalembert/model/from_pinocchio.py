"""From ``pin.Model`` to :class:`~gdalembert.model.tree.Tree`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentTypeError, ModelError
from gdalembert.model import joints as jt
from gdalembert.model.checks import check_body, check_numbers, idle_joints
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arrays import frozen


def read_tree(model: pin.Model | Tree, *, dynamics: bool = True) -> Tree:
    """Read the numbers of a model and check them: once for all objects that are then made of the tree.

    Args:
        model: any ``pin.Model``: every joint type, order of joints, gravity, armature and friction. A ``Tree`` is
            returned as it is.
        dynamics: whether every joint must move inertia; kinematics can do without, and nobody asks again of the tree.

    Raises:
        ArgumentTypeError: if it is not a ``pin.Model``.
        ModelError: if it holds a number that is not finite, a negative mass, principal moment, armature or friction, a
            placement that is not a rigid transformation, a gravity with an angular part, no joint at all, parents in
            disorder, or, for dynamics, a joint that moves no inertia (:func:`~gdalembert.model.checks.idle_joints`).
    """
    if isinstance(model, Tree):
        return model
    if isinstance(model, pin.Data):
        raise ArgumentTypeError("expected a pin.Model, got a pin.Data; pass the model that it was created from")
    if not isinstance(model, pin.Model):
        raise ArgumentTypeError(f"expected a pin.Model, got {type(model).__name__}; load_urdf makes one from a URDF")
    tree = _read(model)
    check_numbers(tree)
    if dynamics and (names := idle_joints(tree)):
        raise ModelError(
            f"{tree.name}: joint {names[0]!r}: moves no inertia, so that the mass matrix is singular; "
            "give the link it moves a mass and inertia, or the joint an armature"
        )
    return tree


def name_of(model: pin.Model | Tree) -> str:
    """The name of a model, for messages and files; the one that its tree has, if it has none."""
    return model.name or "unnamed model"


def _read(model: pin.Model) -> Tree:
    joints: list[Joint] = []
    links = [-1]
    for what in ("armature", "damping", "friction"):
        if (given := getattr(model, what)).shape != (model.nv,):
            raise ModelError(f"{name_of(model)}: its {what} has {given.size} entries; give nv = {model.nv}")
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
    frames = tuple(
        Frame(
            name=f.name,
            joint=links[f.parentJoint],
            rotation=frozen(f.placement.rotation),
            translation=frozen(f.placement.translation),
            type=f.type.name,
            previous=f.parentFrame,
            pseudo_inertia=pseudo_inertia(f.inertia.mass, f.inertia.lever, f.inertia.inertia),
        )
        for f in model.frames
    )
    return Tree(
        name=name_of(model),
        nq=model.nq,
        nv=model.nv,
        joints=tuple(joints),
        links=tuple(links[1:]),
        joint_names=tuple(model.names)[1:],
        armature=frozen(model.armature),
        damping=frozen(model.damping),
        friction=frozen(model.friction),
        gravity=frozen(model.gravity.linear),
        frames=frames,
    )


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
        joints.append(
            Joint(
                name=name if len(parts) == 1 else f"{name}[{k}]",
                type=joint_type,
                parent=parent if k == 0 else len(joints) - 1,
                rotation=frozen(placed.rotation),
                translation=frozen(placed.translation),
                pseudo_inertia=pseudo_inertia(body.mass, body.lever, body.inertia),
                idx_q=idx_q,
                idx_v=idx_v,
                scaling=mimic[0],
                offset=mimic[1],
            )
        )
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

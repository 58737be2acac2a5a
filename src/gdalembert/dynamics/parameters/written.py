"""The constants of a tree, written into a ``pin.Model``."""

from __future__ import annotations

import pinocchio as pin

from gdalembert.dynamics.parameters.bodies import inertia_of
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.inertia import dynamic_parameters
from gdalembert.model.tree import Tree


def with_constants(model: pin.Model, tree: Tree) -> pin.Model:
    """A copy of a model with the placements, bodies, armature and gravity of a tree; frames stay where they are in
    their links.

    Raises:
        ArgumentError: if the model has other joints.
        UnsupportedError: if one of its joints has several parts, as a composite joint has.
    """
    if tuple(model.names)[1:] != tree.joint_names:
        raise ArgumentError(
            f"parameters: {name_of(model)!r} does not have the joints of {tree.name!r}; give its own model"
        )
    copy = model.copy()
    for k, (name, index) in enumerate(zip(tree.joint_names, tree.links, strict=True), 1):
        joint = tree.joints[index]
        if joint.name != name:
            raise UnsupportedError(
                f"{tree.name}: joint {name!r} has several parts, which are not written into a model; put single joints "
                "in a row instead"
            )
        copy.jointPlacements[k] = pin.SE3(joint.rotation, joint.translation)
        copy.inertias[k] = inertia_of(name, dynamic_parameters(joint.pseudo_inertia).full().ravel())
    copy.armature[:] = tree.armature
    copy.gravity.linear = tree.gravity
    return copy

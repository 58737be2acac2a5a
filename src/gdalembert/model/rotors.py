"""Rotors of geared motors as bodies of a ``pin.Model``, coupled to their joints exactly.

A rotor turns against its carrier link b by ratio × (motion of its joint), about an axis u that is fixed in b. It is a
body on a ``pin.JointModelMimic`` joint, so that Pinocchio and every formulation know it without a further term. With J
the axial inertia and k the ratio, a rotor on joint i adds to the model in which it is locked to b (generalized
d'Alembert, third part "act"; ours, after RSD-TR-8-82):

    D_ii += k² J,    D_ij = D_ji += k J u·z_j                 for each rotary joint j between the base and b
    H_i += k J u·α°_b,    H_j += k J q̇_i z_j·(ω_b × u)        gyroscopic; α°_b is the angular acceleration at q̈ = 0

``model.armature`` keeps k² J alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.from_pinocchio import check_body, read_tree
from gdalembert.model.rounding import MOMENT_TOLERANCE, PRODUCT_ERROR, clean_unit_vector
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arguments import UNIT_ERROR, checked_transform, instance, number, numbers, vector
from gdalembert.spatial.arrays import turned_to
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible

_REFLECTED = 1e-2
"""How near, relatively, an armature comes to ratio² × inertia if it was computed so: two digits of a data sheet."""


@dataclass(frozen=True)
class Rotor(Brief):
    """The rotor of a geared motor.

    Args:
        inertia: axial moment of inertia J [kg m²] of a rotor whose mass belongs to the carrier's body, or the
            ``pin.Inertia`` of the whole rotor, in the rotor frame.
        ratio: speed of the rotor against its carrier over that of the joint: rad/rad, or rad/m for a prismatic joint;
            negative if it turns the other way.
        carrier: what the stator is fixed to, a joint (the link that it moves) or a frame of the model; by default the
            parent link of the joint. If it is the moved link, and the axes are parallel, give ratio + 1 for the parent
            link.
        axis: unit vector (3) that the rotor spins about, in the axes of the carrier (of the joint or the frame that
            ``carrier`` names); by default the axis of the joint, as it lies in the neutral configuration.
        placement: the rotor frame in the carrier, a ``pin.SE3`` or 4 × 4 numbers. The rotor spins about the line
            through its origin. By default it is the frame of the joint at q = 0, as it lies in the neutral
            configuration. Torques do not depend on it if ``inertia`` is a number.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if the inertia is negative, the ratio zero, a number not finite, the axis not a unit vector, or
            the placement not a rigid transformation.
        ModelError: if the ``pin.Inertia`` has a negative mass or principal moment, or numbers that are not finite.
    """

    inertia: float | pin.Inertia
    ratio: float
    carrier: str | None = None
    axis: npt.ArrayLike | None = None
    placement: pin.SE3 | npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if isinstance(self.inertia, pin.Inertia):
            check_body("Rotor: inertia", self.inertia, whose="the rotor")
            object.__setattr__(self, "inertia", self.inertia.copy())
        else:
            number("Rotor: inertia", self.inertia, "kg m², or a pin.Inertia", inclusive=True)
        ratio = numbers("Rotor: ratio", self.ratio, expected="a number")
        if ratio.shape != () or ratio == 0:
            raise ArgumentError(
                f"Rotor: ratio: got {shown(self.ratio)}; give one number other than 0 [rad/rad, or rad/m]"
            )
        object.__setattr__(self, "ratio", float(ratio))
        if not isinstance(self.carrier, str | None):
            raise ArgumentTypeError(f"Rotor: carrier: expected the name of a joint or frame, got {shown(self.carrier)}")
        if self.axis is not None:
            axis = vector("Rotor: axis", self.axis, 3)
            length = float(np.linalg.norm(axis))
            if abs(length - 1) > UNIT_ERROR:
                raise ArgumentError(f"Rotor: axis {axis.tolist()} has length {length:.9g}; give a unit vector")
            object.__setattr__(self, "axis", tuple((axis / length).tolist()))
        if self.placement is not None:
            placement = checked_transform("Rotor: placement", self.placement, expected="a pin.SE3 or 4 × 4 numbers")
            object.__setattr__(self, "placement", pin.SE3(placement))


@interruptible
def with_rotors(model: pin.Model, rotors: Mapping[str, Rotor]) -> pin.Model:
    """A copy of a model with the rotors of its motors, exactly coupled.

    The rotor of joint ``"j"`` is the body of a mimic joint ``"j_rotor"`` (``"j_rotor2"`` and so on if there is one
    already), with a joint frame of the same name. It comes behind all joints of the model: q, v, tau and their limits,
    joints, frames and geometry stay as they are.

    The rotor adds to what the model has. ``model.armature`` stays: if it contains ratio² × inertia of the rotor, set it
    to zero before. The bodies stay, too: a ``pin.Inertia`` with mass must not be part of the carrier's body; a number
    adds the moment J about the axis alone.

    Args:
        model: any ``pin.Model``.
        rotors: by the name of the joint, which is revolute, continuous, prismatic or helical; it may mimic another.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        UnknownNameError: if a joint or a carrier is not there.
        ArgumentError: if a joint is of another type, a joint moves the carrier of its rotor, joints or frames in
            different places have the name of the carrier, an armature already counts the rotor (it equals ratio² ×
            inertia within 1 %), or the rotor of a continuous joint, whose turns q does not count, is not symmetric
            about its axis although its ratio is not an integer.
        ModelError: if the model cannot be read (:func:`~gdalembert.model.read_tree`).
    """
    if isinstance(model, Tree):
        raise ArgumentTypeError("with_rotors: expected a pin.Model, got a Tree; pass the model that it was read from")
    tree = read_tree(model)
    instance("with_rotors", rotors, Mapping, "{joint: Rotor}")
    result = model.copy()
    for name, rotor in rotors.items():
        _add(result, model, tree, name, instance(f"with_rotors: joint {name!r}", rotor, Rotor, "a Rotor"))
    return result


def _add(result: pin.Model, model: pin.Model, tree: Tree, name: str, rotor: Rotor) -> None:
    if name not in tree.joint_names:
        raise UnknownNameError("joint", name, tree.joint_names)
    context = f"with_rotors: joint {name!r}"
    index = tree.joint_names.index(name) + 1
    joint = tree.joints[tree.links[index - 1]]
    if model.joints[index].nvExtended != 1 or joint.type.axis is None:
        kind = model.joints[index].shortname().removeprefix("JointModel")
        hint = "a rotor needs a revolute, continuous, prismatic or helical joint"
        raise ArgumentError(f"{context}: is of type {kind}; {hint}")
    carrier, carrier_to_joint = _carrier(context, model, index, rotor)
    placement, body = _mounted(model, index, joint, carrier, carrier_to_joint, rotor)
    driver, scaling, offset = model.joints[index], rotor.ratio, 0.0
    if joint.scaling is not None and joint.offset is not None:  # the joint that it mimics drives both
        mimicked = model.mimicked_joints[list(model.mimicking_joints).index(index)]
        driver, scaling, offset = model.joints[mimicked], rotor.ratio * joint.scaling, rotor.ratio * joint.offset
    rotation = pin.JointModelRUBZ() if joint.type.nq == 2 else pin.JointModelRZ()
    rotation.setIndexes(driver.id, driver.idx_q, driver.idx_v)

    tensor, (x, y, _), armature = body.inertia, body.lever, model.armature[joint.idx_v]
    reflected = scaling * scaling * (tensor[2, 2] + body.mass * (x**2 + y**2))
    if not np.isfinite(reflected):
        raise ArgumentError(f"{context}: ratio² × inertia overflows with the ratio {scaling:g}; give a smaller one")
    if reflected and abs(armature - reflected) <= _REFLECTED * reflected:
        raise ArgumentError(
            f"{context}: its armature {armature:.6g} already counts the rotor (ratio² × inertia is {reflected:.6g}); "
            "set it to zero in the model"
        )
    uneven = [tensor[0, 0] - tensor[1, 1], tensor[0, 1], tensor[0, 2], tensor[1, 2], body.mass * x, body.mass * y]
    is_uneven = np.abs(uneven).max() > MOMENT_TOLERANCE * np.abs(tensor).max()
    if joint.type.nq == 2 and is_uneven and not float(scaling).is_integer():
        raise ArgumentError(
            f"{context}: is continuous, and its q does not tell the angle of a rotor with the ratio {scaling:g}; "
            "give a rotor that is symmetric about its axis, or an integer ratio"
        )

    taken = {*result.names, *(known.name for known in result.frames)}
    names = (f"{name}_rotor{k if k > 1 else ''}" for k in itertools.count(1))
    # A joint of its own would be a coordinate more; model.armature would have k² J alone, without the coupling.
    mimic = pin.JointModelMimic(pin.JointModel(rotation), scaling, offset)
    added = result.addJoint(carrier, mimic, placement, next(candidate for candidate in names if candidate not in taken))
    result.appendBodyToJoint(added, body, pin.SE3.Identity())
    result.addJointFrame(added, next((k for k, f in enumerate(model.frames) if f.parentJoint == carrier), 0))


def _carrier(context: str, model: pin.Model, index: int, rotor: Rotor) -> tuple[int, pin.SE3]:
    """The joint that moves the carrier, and the carrier's frame in the frame of that joint."""
    name = rotor.carrier
    if name is None:
        return model.parents[index], pin.SE3.Identity()
    carriers = [(joint, pin.SE3.Identity()) for joint, known in enumerate(model.names) if known == name]
    carriers += [(f.parentJoint, f.placement) for f in model.frames if f.name == name]
    if not carriers:
        known = dict.fromkeys([*model.names, *(frame.name for frame in model.frames)])
        raise UnknownNameError(f"carrier of the rotor of joint {model.names[index]!r}", name, known)
    joint, carrier_to_joint = carriers[0]
    if any(other != joint or not at.isApprox(carrier_to_joint) for other, at in carriers):
        fault = f"several joints or frames are named {name!r}, as the carrier of its rotor"
        raise ArgumentError(f"{context}: {fault}; rename all but one")
    if index in model.supports[joint]:
        raise ArgumentError(f"{context}: moves the carrier of its rotor, {name!r}; give a link that it does not move")
    return joint, carrier_to_joint


def _mounted(
    model: pin.Model, index: int, joint: Joint, carrier: int, carrier_to_joint: pin.SE3, rotor: Rotor
) -> tuple[pin.SE3, pin.Inertia]:
    """Placement of the rotor on the joint of its carrier, z on the spin axis, and its body in these axes."""
    joint_to_carrier = model.jointPlacements[index]  # the frame of the joint at q = 0 in that of the carrier
    if model.parents[index] != carrier:
        data = model.createData()
        pin.forwardKinematics(model, data, pin.neutral(model))
        joint_to_carrier = data.oMi[carrier].actInv(data.oMi[model.parents[index]] * joint_to_carrier)
    rotor_to_carrier = joint_to_carrier if rotor.placement is None else carrier_to_joint * rotor.placement
    axis = joint_to_carrier.rotation @ joint.type.axis if rotor.axis is None else carrier_to_joint.rotation @ rotor.axis
    turn = pin.SE3(turned_to(clean_unit_vector(rotor_to_carrier.rotation.T @ axis, PRODUCT_ERROR)), np.zeros(3))
    if isinstance(rotor.inertia, pin.Inertia):
        return rotor_to_carrier * turn, turn.actInv(rotor.inertia)
    return rotor_to_carrier * turn, pin.Inertia(0.0, np.zeros(3), np.diag([0.0, 0.0, rotor.inertia]))

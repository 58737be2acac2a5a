"""Kinematics: sweeps that keep q, v, a, and the placements, velocities, accelerations and Jacobians read after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.data import Data, fills
from gdalembert.cpin.model import Model
from gdalembert.dynamics.frame_motion import SharedPlacements, fixed_placement
from gdalembert.dynamics.parameters.parameters import substituted
from gdalembert.errors import ArgumentTypeError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.matrices import Items, is_same
from gdalembert.spatial.objects import SE3, Motion

__all__ = [
    *("computeForwardKinematicsDerivatives", "computeFrameJacobian", "computeFrameKinematicRegressor"),
    *("computeJointJacobian", "computeJointJacobians", "computeJointJacobiansTimeVariation"),
    *("computeJointKinematicRegressor", "forwardKinematics", "frameJacobianTimeVariation", "framesForwardKinematics"),
    *("getAcceleration", "getClassicalAcceleration", "getFrameAcceleration", "getFrameAccelerationDerivatives"),
    *("getFrameClassicalAcceleration", "getFrameJacobian", "getFrameJacobianTimeVariation", "getFrameVelocity"),
    *("getFrameVelocityDerivatives", "getJointAccelerationDerivatives", "getJointJacobian"),
    *("getJointJacobianTimeVariation", "getJointVelocityDerivatives", "getVelocity", "updateFramePlacement"),
    *("updateFramePlacements", "updateGlobalPlacements"),
]

LOCAL = pin.LOCAL
Reference = pin.ReferenceFrame


def evaluate(model: Model, function: ca.Function, *arguments: Matrix) -> Any:
    """A Function of the robot, with what the symbols among its constants stand for."""
    return function(*arguments, *model.inputs)


def later(model: Model, of: str, name: str, state: Sequence[Matrix], made: Callable[[Any], Any] = ca.densify) -> Any:
    """What computes a slot when it is read: a Function of the ``kinematics`` or the ``dynamics``, at a state."""
    inputs, owner = model.inputs, getattr(model, of)
    return lambda: made(getattr(owner, name)(*state, *inputs))


# Algorithms that read what the last sweep tells.


def _readers(joints: str, frames: str, quantity: str, state: str, made: Callable[[Any], Any]) -> Any:
    """The algorithm that reads a quantity of a joint, and that of a frame; both take LOCAL by default."""

    def read(algorithm: str, model: Model, data: Data, frame: int, reference: Any) -> Any:
        if not isinstance(reference, Reference):
            raise ArgumentTypeError(f"{algorithm}: got {reference!r}; give LOCAL, WORLD or LOCAL_WORLD_ALIGNED")
        function = getattr(model.kinematics, quantity)(frame, reference)
        return made(evaluate(model, function, *data.known(algorithm, *state)))

    def of_joint(model: Model, data: Data, joint_id: int, reference_frame: Reference = LOCAL) -> Any:
        return read(joints, model, data, model.joint_frame(joint_id), reference_frame)

    def of_frame(model: Model, data: Data, frame_id: int, reference_frame: Reference = LOCAL) -> Any:
        return read(frames, model, data, model.frame(frame_id), reference_frame)

    of_joint.__name__, of_frame.__name__ = joints, frames
    of_joint.__doc__ = of_frame.__doc__ = f"``Kinematics.{quantity}`` at the {', '.join(state)} of the last sweep."
    return of_joint, of_frame


getVelocity, getFrameVelocity = _readers("getVelocity", "getFrameVelocity", "frame_velocity", "qv", Motion)
getAcceleration, getFrameAcceleration = _readers(
    "getAcceleration", "getFrameAcceleration", "frame_acceleration", "qva", Motion
)
getClassicalAcceleration, getFrameClassicalAcceleration = _readers(
    "getClassicalAcceleration", "getFrameClassicalAcceleration", "frame_classical_acceleration", "qva", Motion
)
getJointJacobian, getFrameJacobian = _readers("getJointJacobian", "getFrameJacobian", "frame_jacobian", "q", ca.densify)
getJointJacobianTimeVariation, getFrameJacobianTimeVariation = _readers(
    "getJointJacobianTimeVariation", "getFrameJacobianTimeVariation", "frame_jacobian_rate", "qv", ca.densify
)
getJointVelocityDerivatives, getFrameVelocityDerivatives = _readers(
    "getJointVelocityDerivatives", "getFrameVelocityDerivatives", "frame_velocity_derivatives", "qv", tuple
)
_of_joint, _of_frame = _readers(
    "getJointAccelerationDerivatives", "getFrameAccelerationDerivatives", "frame_acceleration_derivatives", "qva", tuple
)


def getJointAccelerationDerivatives(
    model: Model, data: Data, joint_id: int, reference_frame: Reference = LOCAL
) -> tuple[Matrix, ...]:
    """∂v/∂q, and the derivatives of the spatial acceleration by q, v and a (6 × nv each)."""
    by_q, _ = getJointVelocityDerivatives(model, data, joint_id, reference_frame)
    return by_q, *_of_joint(model, data, joint_id, reference_frame)


def getFrameAccelerationDerivatives(
    model: Model, data: Data, frame_id: int, reference_frame: Reference = LOCAL
) -> tuple[Matrix, ...]:
    """∂v/∂q, and the derivatives of the spatial acceleration by q, v and a (6 × nv each)."""
    by_q, _ = getFrameVelocityDerivatives(model, data, frame_id, reference_frame)
    return by_q, *_of_frame(model, data, frame_id, reference_frame)


# Sweeps.


def _placements(model: Model, data: Data, q: Matrix) -> Callable[[int], SE3]:
    """The placement of each frame of the tree at q: in one graph of SX or numbers, by a Function each in MX.

    Sweeps at the same q have the same graph.
    """
    tree, inputs = model.tree, model.inputs
    if data.swept is not None and data.swept[0] is tree and is_same(data.swept[1], q):
        return data.swept[2]
    if any(isinstance(x, ca.MX) for x in (q, *inputs)):
        functions = model.kinematics.frame_placement

        def placement(k: int) -> SE3:
            return SE3(functions(k)(q, *inputs))

    else:
        known = substituted(tree.constants, tree.symbols, *inputs) if inputs else tree
        shared = SharedPlacements(known, q)

        def placement(k: int) -> SE3:
            link, (r, p) = known.frames[k].joint, fixed_placement(known.frames[k])
            return SE3.later(
                lambda: ca.densify(shared.rotation(link) @ r), lambda: ca.densify(shared.position(link, p))
            )

    data.swept = tree, q, placement
    return placement


@fills("oMi", "liMi", "v", "ov", "a", "oa")
def forwardKinematics(model: Model, data: Data, q: Any, v: Any = None, a: Any = None) -> None:
    """Placements of joints; their velocities and spatial accelerations too, where v and a are given."""
    (at_q,) = data.keep("forwardKinematics", q=q)
    if v is not None:
        data.keep("forwardKinematics", v=v)
    if a is not None:
        data.keep("forwardKinematics", a=a)
    data.empty("oMf", "v", "ov", "a", "oa")
    n, parents, then = model.pin.njoints, model.pin.parents, data.snapshot()
    placed = _placements(model, data, at_q)
    oMi = Items("data.oMi", n, lambda k: placed(model.joint_frame(k)))
    data.fill(oMi=lambda: oMi, liMi=lambda: Items("data.liMi", n, lambda k: oMi[parents[k]].actInv(oMi[k])))

    def motions(name: str, algorithm: Callable[..., Motion], reference: Reference) -> Callable[[], Items]:
        items = Items(f"data.{name}", n, lambda k: algorithm(model, then, k, reference))
        return lambda: items

    if v is not None:
        data.fill(v=motions("v", getVelocity, LOCAL), ov=motions("ov", getVelocity, pin.WORLD))
    if a is not None:
        data.fill(a=motions("a", getAcceleration, LOCAL), oa=motions("oa", getAcceleration, pin.WORLD))


@fills("oMf")
def framesForwardKinematics(model: Model, data: Data, q: Any) -> None:
    """Placements of joints and frames."""
    forwardKinematics(model, data, q)
    updateFramePlacements(model, data)


def updateFramePlacements(model: Model, data: Data) -> None:
    """Placements of frames at the q of the last sweep."""
    oMf = Items("data.oMf", model.pin.nframes, _placements(model, data, *data.known("updateFramePlacements", "q")))
    data.fill(oMf=lambda: oMf)


updateGlobalPlacements = updateFramePlacements


def updateFramePlacement(model: Model, data: Data, frame_id: int) -> SE3:
    """The placement of one frame at the q of the last sweep; equals ``data.oMf[frame_id]``."""
    updateFramePlacements(model, data)
    return data.oMf[frame_id]  # type: ignore[no-any-return]


def computeForwardKinematicsDerivatives(model: Model, data: Data, q: Any, v: Any, a: Any) -> None:
    """As forwardKinematics; ``getFrameVelocityDerivatives`` and its kin read the derivatives."""
    forwardKinematics(model, data, q, v, a)


# Jacobians.


def computeFrameJacobian(model: Model, data: Data, q: Any, frame_id: int, reference_frame: Reference = LOCAL) -> Matrix:
    """J (6 × nv) of a frame."""
    data.keep("computeFrameJacobian", q=q)
    return getFrameJacobian(model, data, frame_id, reference_frame)


def computeJointJacobian(model: Model, data: Data, q: Any, joint_id: int) -> Matrix:
    """J (6 × nv) of a joint's frame, LOCAL."""
    data.keep("computeJointJacobian", q=q)
    return getJointJacobian(model, data, joint_id, LOCAL)


def frameJacobianTimeVariation(
    model: Model, data: Data, q: Any, v: Any, frame_id: int, reference_frame: Reference
) -> Matrix:
    """dJ/dt (6 × nv) of a frame."""
    data.keep("frameJacobianTimeVariation", q=q, v=v)
    return getFrameJacobianTimeVariation(model, data, frame_id, reference_frame)


@fills("J")
def computeJointJacobians(model: Model, data: Data, q: Any = None) -> Matrix:
    """J (6 × nv): the columns of all joints, in WORLD."""
    if q is not None:
        forwardKinematics(model, data, q)
    state = data.known("computeJointJacobians", "q")
    data.fill(J=later(model, "kinematics", "joint_jacobians", state))
    return data.J


def fill_joint_jacobians(model: Model, data: Data, q: Any, v: Any) -> None:
    """Fill data.J and data.dJ."""
    forwardKinematics(model, data, q, v)
    state = data.known("computeJointJacobiansTimeVariation", "q", "v")
    data.fill(J=later(model, "kinematics", "joint_jacobians", state[:1]))
    data.fill(dJ=later(model, "kinematics", "joint_jacobians_rate", state))


@fills("J", "dJ")
def computeJointJacobiansTimeVariation(model: Model, data: Data, q: Any, v: Any) -> Matrix:
    """dJ/dt (6 × nv) of :func:`computeJointJacobians`."""
    fill_joint_jacobians(model, data, q, v)
    return data.dJ


def computeFrameKinematicRegressor(model: Model, data: Data, frame_id: int, reference_frame: Reference) -> Matrix:
    """Y (6 × 6 (njoints − 1)): the twist of a frame for a twist, LOCAL, of each joint's placement."""
    function = model.kinematics.frame_kinematic_regressor(model.frame(frame_id), reference_frame)
    return evaluate(model, function, *data.known("computeFrameKinematicRegressor", "q"))


def computeJointKinematicRegressor(model: Model, data: Data, joint_id: int, reference_frame: Reference) -> Matrix:
    """Y (6 × 6 (njoints − 1)) of a joint's frame."""
    function = model.kinematics.joint_kinematic_regressor(joint_id, reference_frame)
    return evaluate(model, function, *data.known("computeJointKinematicRegressor", "q"))

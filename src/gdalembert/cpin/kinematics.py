"""Kinematics: sweeps that keep q, v, a, and the placements, velocities, accelerations and Jacobians read after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.data import Data, fills
from gdalembert.cpin.model import Model
from gdalembert.dynamics.frame_motion import SharedPlacements
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
Reference: TypeAlias = pin.ReferenceFrame


def evaluate(model: Model, function: ca.Function, *arguments: Matrix) -> Any:
    """A Function of the robot, with what the symbols among its constants stand for."""
    return function(*arguments, *model.inputs)


def later(model: Model, of: str, name: str, state: Sequence[Matrix], made: Callable[[Any], Any] = ca.densify) -> Any:
    """What computes a slot when it is read: a Function of the ``kinematics`` or the ``dynamics``, at a state."""
    inputs, owner = model.inputs, getattr(model, of)
    return lambda: made(getattr(owner, name)(*state, *inputs))


def _readers(joints: str, frames: str, made: Callable[..., Any], **quantities: str) -> Any:
    """The algorithms that read quantities of a joint and of a frame: Functions, each of the state that it is given."""

    def read(algorithm: str, model: Model, data: Data, frame: int, reference: Any) -> Any:
        if not isinstance(reference, pin.ReferenceFrame):
            raise ArgumentTypeError(f"{algorithm}: got {reference!r}; give LOCAL, WORLD or LOCAL_WORLD_ALIGNED")
        functions = (getattr(model.kinematics, quantity)(frame, reference) for quantity in quantities)
        states = (data.known(algorithm, *state, of_frames=True) for state in quantities.values())
        return made(*(evaluate(model, f, *state) for f, state in zip(functions, states, strict=True)))

    def of_joint(model: Model, data: Data, joint_id: int, reference_frame: Reference = LOCAL) -> Any:
        return read(joints, model, data, model.joint_frame(joint_id), reference_frame)

    def of_frame(model: Model, data: Data, frame_id: int, reference_frame: Reference = LOCAL) -> Any:
        return read(frames, model, data, model.frame(frame_id), reference_frame)

    of_joint.__name__, of_frame.__name__ = joints, frames
    of_joint.__doc__ = of_frame.__doc__ = f"``Kinematics.{[*quantities][-1]}`` at the state of the last sweep."
    return of_joint, of_frame


getVelocity, getFrameVelocity = _readers("getVelocity", "getFrameVelocity", Motion, frame_velocity="qv")
getAcceleration, getFrameAcceleration = _readers(
    "getAcceleration", "getFrameAcceleration", Motion, frame_acceleration="qva"
)
getClassicalAcceleration, getFrameClassicalAcceleration = _readers(
    "getClassicalAcceleration", "getFrameClassicalAcceleration", Motion, frame_classical_acceleration="qva"
)
getJointJacobian, getFrameJacobian = _readers("getJointJacobian", "getFrameJacobian", ca.densify, frame_jacobian="q")
getJointJacobianTimeVariation, getFrameJacobianTimeVariation = _readers(
    "getJointJacobianTimeVariation", "getFrameJacobianTimeVariation", ca.densify, frame_jacobian_rate="qv"
)
getJointVelocityDerivatives, getFrameVelocityDerivatives = _readers(
    "getJointVelocityDerivatives", "getFrameVelocityDerivatives", tuple, frame_velocity_derivatives="qv"
)
getJointAccelerationDerivatives, getFrameAccelerationDerivatives = _readers(
    "getJointAccelerationDerivatives",
    "getFrameAccelerationDerivatives",
    lambda of_velocity, of_acceleration: (of_velocity[0], *of_acceleration),
    frame_velocity_derivatives="qv",
    frame_acceleration_derivatives="qva",
)
computeJointKinematicRegressor, computeFrameKinematicRegressor = _readers(
    "computeJointKinematicRegressor", "computeFrameKinematicRegressor", ca.densify, frame_kinematic_regressor="q"
)


def _placements(model: Model, data: Data, q: Matrix) -> Callable[[int], SE3]:
    """The placement of each frame of the tree at q: in one graph of SX, by a Function each in MX or numbers.

    Sweeps at the same q have the same graph.
    """
    tree, inputs = model.tree, model.inputs
    if data.swept is not None and data.swept[0] is tree and is_same(data.swept[1], q):
        return data.swept[2]
    is_sx = any(isinstance(x, ca.SX) for x in (q, *inputs))
    symbols = [ca.SX.sym("q", tree.nq), *([tree.symbols] if inputs else [])]
    shared = SharedPlacements(tree, symbols, list(map(ca.SX, (q, *inputs)))) if is_sx else None

    def placement(k: int) -> SE3:
        if shared is None:
            return SE3(evaluate(model, model.kinematics.frame_placement(k), q))
        return SE3.later(partial(shared.rotation, tree.frames[k]), partial(shared.position, tree.frames[k]))

    data.swept = tree, q, placement
    return placement


@fills("oMi", "liMi", "v", "ov", "a", "oa")
def forwardKinematics(model: Model, data: Data, q: Any, v: Any = None, a: Any = None) -> None:
    """Placements of joints; their velocities and spatial accelerations too, where v and a are given."""
    before, v_before, given = data.swept, data.state.get("v"), {"v": v, "a": a}
    data.keep("forwardKinematics", q=q, **{name: x for name, x in given.items() if x is not None})
    at_q, moved = data.state["q"], before is None or not is_same(before[1], data.state["q"])
    faster = v is not None and (v_before is None or not is_same(v_before, data.state["v"]))
    data.empty(*(("oMf", "v", "ov") if moved else ()), *(("a", "oa") if moved or faster else ()))
    n, parents, then = model.pin.njoints, model.pin.parents, data.snapshot()
    placed = _placements(model, data, at_q)
    oMi = Items("data.oMi", n, lambda k: placed(model.joint_frame(k)))
    data.put(oMi=oMi, liMi=Items("data.liMi", n, lambda k: oMi[parents[k]].actInv(oMi[k])))

    def motions(name: str, algorithm: Callable[..., Motion], reference: Reference) -> Items:
        return Items(f"data.{name}", n, lambda k: algorithm(model, then, k, reference))

    if v is not None:
        data.put(v=motions("v", getVelocity, LOCAL), ov=motions("ov", getVelocity, pin.WORLD))
    if a is not None:
        data.put(a=motions("a", getAcceleration, LOCAL), oa=motions("oa", getAcceleration, pin.WORLD))


@fills("oMf")
def framesForwardKinematics(model: Model, data: Data, q: Any) -> None:
    """Placements of joints and frames."""
    forwardKinematics(model, data, q)
    updateFramePlacements(model, data)


def updateFramePlacements(model: Model, data: Data) -> None:
    """Placements of frames at the q of the last sweep."""
    (q,) = data.known("updateFramePlacements", "q", of_frames=True)
    data.put(oMf=Items("data.oMf", model.pin.nframes, _placements(model, data, q)))


updateGlobalPlacements = updateFramePlacements


def updateFramePlacement(model: Model, data: Data, frame_id: int) -> SE3:
    """The placement of one frame at the q of the last sweep; equals ``data.oMf[frame_id]``."""
    updateFramePlacements(model, data)
    placed: SE3 = data.oMf[frame_id]
    return placed


computeForwardKinematicsDerivatives = forwardKinematics  # whose state the derivatives are read at


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


def fill_joint_jacobians(model: Model, data: Data, q: Any, v: Any = None) -> None:
    """Fill data.J and, where v is given, data.dJ."""
    if q is not None:
        forwardKinematics(model, data, q, v)
    data.fill(J=later(model, "kinematics", "joint_jacobians", data.known("computeJointJacobians", "q")))
    if v is not None:
        data.fill(dJ=later(model, "kinematics", "joint_jacobians_rate", data.known("", "q", "v")))


@fills("J")
def computeJointJacobians(model: Model, data: Data, q: Any = None) -> Matrix:
    """J (6 × nv): the columns of all joints, in WORLD."""
    fill_joint_jacobians(model, data, q)
    return data.J


@fills("J", "dJ")
def computeJointJacobiansTimeVariation(model: Model, data: Data, q: Any, v: Any) -> Matrix:
    """dJ/dt (6 × nv) of :func:`computeJointJacobians`."""
    fill_joint_jacobians(model, data, *data.keep("computeJointJacobiansTimeVariation", q=q, v=v))
    return data.dJ

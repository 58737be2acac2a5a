"""Kinematics: sweeps that keep q, v, a, and the placements, velocities, accelerations and Jacobians read after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Any, TypeAlias

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.data import SLOTS, WRITES, Data
from gdalembert.cpin.matrices import LazyList, is_same
from gdalembert.cpin.model import LocatedFrame, Model
from gdalembert.cpin.objects import SE3, Motion
from gdalembert.dynamics import frame_motion
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentTypeError, shown
from gdalembert.spatial.algebra import Matrix

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
    """Evaluate a Function of the robot, whose last input has the values of the symbols among its constants."""
    return function(*arguments, *model.inputs)


def prepared(owner: str, quantity: str, convert: Callable[[Any], Any] = ca.densify) -> Callable[..., Callable[[], Any]]:
    """Make the preparation of a slot: a Function of the ``kinematics`` or the ``dynamics``, at a state."""

    def prepare(model: Model, data: Data, *state: Matrix) -> Callable[[], Any]:
        # Taken now, since the slot is of the robot of this call, and the model may be another when it is read.
        inputs, functions = model.inputs, getattr(model, owner)
        return lambda: convert(getattr(functions, quantity)(*state, *inputs))

    return prepare


_OF_JOINTS = {"v": (LOCAL, "frame_velocity"), "a": (LOCAL, "frame_acceleration"), "J": (pin.WORLD, "frame_jacobian")}
"""The quantities of joints that Pinocchio keeps, in which axes, and the Functions that compute them of frames."""


def _read(algorithm: str, model: Model, data: Data, slot: str, frame: LocatedFrame, reference: Reference) -> Matrix:
    """Read a quantity of a frame at the state of its slot, by the placement of the last sweep, maybe of another q."""
    kept, quantity = _OF_JOINTS[slot]
    state = data.known(algorithm, slot, *(["oMi"] if slot == "J" else []))
    (q,) = data.known(algorithm, "oMi")
    if reference == kept or is_same(state[0], q):
        return frame.evaluate(quantity, reference, *state)
    placement = _placements(model, data, q)(frame.index)
    placement = placement if frame.placement is None else placement * frame.placement
    if reference == pin.LOCAL_WORLD_ALIGNED:
        translation = ca.DM.zeros(3) if kept == LOCAL else placement.translation
        placement = SE3(placement.rotation if kept == LOCAL else ca.DM.eye(3), translation)
    change = placement if kept == LOCAL else placement.inverse()
    return change.toActionMatrix() @ frame.evaluate(quantity, kept, *state)


def _reader(slot: str, convert: Callable[[Matrix], Any]) -> Callable[..., Any]:
    return lambda algorithm, model, data, frame, reference: convert(
        _read(algorithm, model, data, slot, frame, reference)
    )


_velocity, _acceleration, _jacobian = _reader("v", Motion), _reader("a", Motion), _reader("J", ca.densify)


def _classical(algorithm: str, model: Model, data: Data, frame: LocatedFrame, reference: Reference) -> Motion:
    state_of_a, state_of_v = data.known(algorithm, "a"), data.known(algorithm, "v")
    if all(map(is_same, (*state_of_a[:2], state_of_a[0]), (*state_of_v, *data.known(algorithm, "oMi")))):
        return Motion(frame.evaluate("frame_classical_acceleration", reference, *state_of_a))
    a, v = (read(algorithm, model, data, frame, reference) for read in (_acceleration, _velocity))
    return Motion(a.linear + ca.cross(v.angular, v.linear), a.angular)


def _at(slot: str, quantity: str, convert: Callable[[Any], Any] = tuple) -> Callable[..., Any]:
    """Make a reader of a frame at the state of a slot, which is to be of the q of the placements, too."""

    def read(algorithm: str, model: Model, data: Data, frame: LocatedFrame, reference: Reference) -> Any:
        return convert(frame.evaluate(quantity, reference, *data.placed(algorithm, slot)))

    return read


def _derivatives(algorithm: str, model: Model, data: Data, *frame_and_reference: Any) -> tuple[Matrix, ...]:
    if not all(map(is_same, data.known(algorithm, "oa"), data.known(algorithm, "ov"))):
        data.empty("oa")
    by_q, _ = _at("ov", "frame_velocity_derivatives")(algorithm, model, data, *frame_and_reference)
    return by_q, *_at("oa", "frame_acceleration_derivatives")(algorithm, model, data, *frame_and_reference)


def _axes(algorithm: str, reference: Any) -> Any:
    if not isinstance(reference, pin.ReferenceFrame):
        raise ArgumentTypeError(f"{algorithm}: got {shown(reference)}; give LOCAL, WORLD or LOCAL_WORLD_ALIGNED")
    return reference


def _signature(*frame: str) -> Signature:
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature([*(Parameter(x, kind) for x in frame), Parameter("reference_frame", kind, default=LOCAL)])


_BY_ID, _AT_JOINT = _signature("frame_id"), _signature("joint_id", "placement")
"""The signatures of Pinocchio's readers of a frame."""
_CALLS = " or ".join(f"(model, data, {', '.join(signature.parameters)})" for signature in (_BY_ID, _AT_JOINT))


def _frame_arguments(algorithm: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The arguments of a reader of a frame, by name."""
    is_at_joint = {"joint_id", "placement"} & kwargs.keys() or any(isinstance(x, SE3 | pin.SE3) for x in args[1:2])
    try:
        bound = (_AT_JOINT if is_at_joint else _BY_ID).bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"{algorithm}: {error}; give {_CALLS}") from None
    bound.apply_defaults()
    return bound.arguments


def _readers(name: str, read: Callable[..., Any], joint: str = "Joint", places: bool = True) -> Any:
    """Make the algorithms that read a quantity of a joint and of a frame, whose placement most write to data.oMf."""
    joints, frames = name.replace("|", joint), name.replace("|", "Frame")

    def of_joint(model: Model, data: Data, joint_id: int, reference_frame: Reference = LOCAL) -> Any:
        return read(
            joints, model, data, model.located_frame(model.joint_frame(joint_id)), _axes(joints, reference_frame)
        )

    def of_frame(model: Model, data: Data, *args: Any, **kwargs: Any) -> Any:
        asked = _frame_arguments(frames, *args, **kwargs)
        k = model.frame(asked["frame_id"]) if "frame_id" in asked else model.joint_frame(asked["joint_id"])
        frame = model.located_frame(k, asked.get("placement"))
        value = read(frames, model, data, frame, _axes(frames, asked["reference_frame"]))
        if places and frame.placement is None:
            data.fill_entries("oMf", [k], *data.known(frames, "oMi"))
        return value

    of_joint.__name__, of_frame.__name__ = joints, frames
    of_joint.__doc__ = "A quantity of a joint, at the state of the last sweep."
    of_frame.__doc__ = f"A quantity of a frame, at the state of the last sweep: {_CALLS}."
    return of_joint, of_frame


getVelocity, getFrameVelocity = _readers("get|Velocity", _velocity, "", places=False)
getAcceleration, getFrameAcceleration = _readers("get|Acceleration", _acceleration, "", places=False)
getClassicalAcceleration, getFrameClassicalAcceleration = _readers(
    "get|ClassicalAcceleration", _classical, "", places=False
)
getJointJacobian, getFrameJacobian = _readers("get|Jacobian", _jacobian)
getJointJacobianTimeVariation, getFrameJacobianTimeVariation = _readers(
    "get|JacobianTimeVariation", _at("dJ", "frame_jacobian_rate", ca.densify)
)
getJointVelocityDerivatives, getFrameVelocityDerivatives = _readers(
    "get|VelocityDerivatives", _at("ov", "frame_velocity_derivatives")
)
getJointAccelerationDerivatives, getFrameAccelerationDerivatives = _readers("get|AccelerationDerivatives", _derivatives)
_regressor = _at("oMi", "frame_kinematic_regressor", ca.densify)
_, computeFrameKinematicRegressor = _readers("compute|KinematicRegressor", _regressor)


def computeJointKinematicRegressor(
    model: Model, data: Data, joint_id: int, reference_frame: Reference = LOCAL, placement: Any = None
) -> Matrix:
    """The twist of a joint, or of a frame placed at it, by those of all placements of joints (6 × 6 (njoints − 1))."""
    name, frame = "computeJointKinematicRegressor", model.located_frame(model.joint_frame(joint_id), placement)
    return _regressor(name, model, data, frame, _axes(name, reference_frame))


def _placements_at(kinematics: Kinematics, q: Matrix, inputs: Sequence[Matrix]) -> Callable[[int], SE3]:
    """Make a reader of the placements of frames at q and [p]."""
    tree = kinematics.tree
    if not any(isinstance(x, ca.SX) for x in (q, *inputs)):
        # Shared placements are graphs of SX; MX and numbers call a Function for each frame.
        return lambda k: SE3(kinematics.frame_placement(k)(q, *inputs))
    shared = frame_motion.SharedPlacements(tree, list(kinematics.symbols("q").values()), list(map(ca.SX, (q, *inputs))))
    return lambda k: SE3.later(partial(shared.rotation, tree.frames[k]), partial(shared.position, tree.frames[k]))


def _placements(model: Model, data: Data, q: Matrix) -> Callable[[int], SE3]:
    """Make a reader of the placements of frames at q; those read one after the other at the same q are one graph."""
    kinematics, inputs = model.kinematics, model.inputs

    def placement(k: int) -> SE3:
        if data.swept is None or data.swept[0] is not kinematics or not is_same(data.swept[1], q):
            data.swept = kinematics, q, _placements_at(kinematics, q, inputs)
        return data.swept[2](k)

    return placement


def _joints_placed(model: Model, data: Data, q: Matrix) -> Callable[[], LazyList]:
    placement, frames = _placements(model, data, q), [model.joint_frame(k) for k in range(model.pin.njoints)]
    return lambda: LazyList("data.oMi", len(frames), lambda k: placement(frames[k]))


def _joints_placed_in_parents(model: Model, data: Data, q: Matrix) -> Callable[[], LazyList]:
    oMi, parents = _joints_placed(model, data, q)(), list(model.pin.parents)
    return lambda: LazyList("data.liMi", len(parents), lambda k: oMi[parents[k]].actInv(oMi[k]))


def _frames_placed(model: Model, data: Data, q: Matrix) -> Callable[[], LazyList]:
    placement, n = _placements(model, data, q), model.pin.nframes
    return lambda: LazyList("data.oMf", n, placement)


def _motions(slot: str, quantity: str, reference: Reference) -> Callable[..., Callable[[], LazyList]]:
    """Make the preparation of the velocities or accelerations of joints."""

    def prepare(model: Model, data: Data, *state: Matrix) -> Callable[[], LazyList]:
        inputs, function_of = model.inputs, getattr(model.kinematics, quantity)
        first, n = model.joint_frame(0), model.pin.njoints
        return lambda: LazyList(f"data.{slot}", n, lambda k: Motion(function_of(first + k, reference)(*state, *inputs)))

    return prepare


SLOTS |= {
    "oMi": ("q", _joints_placed),
    "liMi": ("q", _joints_placed_in_parents),
    "oMf": ("q", _frames_placed),
    "v": ("qv", _motions("v", "frame_velocity", LOCAL)),
    "ov": ("qv", _motions("ov", "frame_velocity", pin.WORLD)),
    "a": ("qva", _motions("a", "frame_acceleration", LOCAL)),
    "oa": ("qva", _motions("oa", "frame_acceleration", pin.WORLD)),
    "J": ("q", prepared("kinematics", "joint_jacobians")),
    "dJ": ("qv", prepared("kinematics", "joint_jacobians_rate")),
}


_Option = bool | pin.Convention | pin.KinematicLevel
"""The options that some calls have behind the state, of how Pinocchio computes."""


def in_convention(name: str, convention: Any) -> str:
    """The row of :data:`~gdalembert.cpin.data.WRITES` of an algorithm in a Convention; WORLD fills other slots."""
    if not isinstance(convention, pin.Convention):
        raise ArgumentTypeError(f"{name}: got the convention {convention!r}; give Convention.LOCAL or Convention.WORLD")
    return f"{name} WORLD" if convention == pin.Convention.WORLD else name


def algorithm(name: str, *options: str, returns: bool = True) -> Callable[..., Any]:
    """Make the algorithm of (model, data, q, v, a, options), as far as its slots need them; it returns the first slot.

    Without q it is about the q, v, a of the last sweep.
    """
    result, *others = [slot for slot in WRITES[name].split() if slot in SLOTS]
    needed, state_names = SLOTS[result][0], max((SLOTS[slot][0] for slot in (result, *others)), key=len)

    def compute(model: Model, data: Data, *args: Any, **kwargs: Any) -> Any:
        arguments = dict(zip((*state_names, *options), args, strict=False)) | kwargs
        state = {x: value for x, value in arguments.items() if x in state_names and not isinstance(value, _Option)}
        missing = [x for x in needed if x not in state]
        if state and missing:
            raise ArgumentTypeError(f"{name}: no {missing[0]} is given; call {name}(model, data, {', '.join(needed)})")
        chosen = [x for x in arguments.values() if isinstance(x, pin.Convention)]
        row = in_convention(name, arguments.get("convention", [*chosen, pin.Convention.LOCAL][0]))
        data.run(row, **state) if state else data.run_again(row)
        value = getattr(data, result) if returns else None
        return value[0] if isinstance(value, LazyList) else value

    names = "model", "data", *state_names, *options
    kind, empty = Parameter.POSITIONAL_OR_KEYWORD, Parameter.empty
    parameters = [Parameter(x, kind, default=empty if x in ("model", "data") else None) for x in names]
    vars(compute)["__signature__"] = Signature(parameters)
    compute.__name__, compute.__doc__ = name, f"Fill data.{', data.'.join(WRITES[name].split())}; return the first."
    return compute


forwardKinematics = algorithm("forwardKinematics", returns=False)
framesForwardKinematics = algorithm("framesForwardKinematics", returns=False)
computeForwardKinematicsDerivatives = algorithm("computeForwardKinematicsDerivatives", returns=False)
computeJointJacobians = algorithm("computeJointJacobians")
computeJointJacobiansTimeVariation = algorithm("computeJointJacobiansTimeVariation")


def updateFramePlacements(model: Model, data: Data) -> None:
    """Fill the placements of frames at the q of the last sweep."""
    data.fill_at("oMf", *data.known("updateFramePlacements", "oMi"))


def updateGlobalPlacements(model: Model, data: Data) -> None:
    """Fill the placements of joints at the q of those in their parents."""
    data.fill_at("oMi", *data.known("updateGlobalPlacements", "liMi"))
    data.empty("oMf")


def updateFramePlacement(model: Model, data: Data, frame_id: int) -> Any:
    """The placement of one frame at the q of the last sweep; equals ``data.oMf[frame_id]``."""
    updateFramePlacements(model, data)
    return data.oMf[frame_id]


def computeFrameJacobian(model: Model, data: Data, q: Any, frame_id: int, reference_frame: Reference = LOCAL) -> Matrix:
    """The Jacobian (6 × nv) of a frame."""
    k = model.frame(frame_id)
    function = model.kinematics.frame_jacobian(k, _axes("computeFrameJacobian", reference_frame))
    (at_q,) = data.run("computeFrameJacobian", q=q)
    placed = {LOCAL: ("liMi",), pin.WORLD: ("liMi", "oMi"), pin.LOCAL_WORLD_ALIGNED: ("liMi", "oMi", "oMf")}
    for slot in placed[reference_frame]:
        data.fill_entries(slot, [k] if slot == "oMf" else model.pin.supports[model.pin.frames[k].parentJoint], at_q)
    if reference_frame == pin.WORLD and not data.is_at("oMf", at_q):
        data.empty("oMf")
    return ca.densify(evaluate(model, function, at_q))


def computeJointJacobian(model: Model, data: Data, q: Any, joint_id: int) -> Matrix:
    """The Jacobian (6 × nv) of a joint's frame, LOCAL."""
    k = model.joint_frame(joint_id)
    function = model.kinematics.frame_jacobian(k, LOCAL)
    (at_q,) = data.run("computeJointJacobian", q=q)
    data.fill_entries("liMi", model.pin.supports[k - model.pin.nframes], at_q)
    return ca.densify(evaluate(model, function, at_q))


def frameJacobianTimeVariation(
    model: Model, data: Data, q: Any, v: Any, frame_id: int, reference_frame: Reference
) -> Matrix:
    """The rate (6 × nv) of the Jacobian of a frame."""
    data.run("frameJacobianTimeVariation", q=q, v=v)
    return getFrameJacobianTimeVariation(model, data, frame_id, reference_frame)

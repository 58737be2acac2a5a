"""Placements, motions, forces, inertias and quaternions of symbols, and maps between them, against Pinocchio's."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import cpin
from gdalembert.cpin import object_maps, objects
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from tests.helpers.models import inertia, placement, relative_error

OURS = SimpleNamespace(**{name: getattr(m, name) for m in (objects, object_maps) for name in m.__all__})
"""The objects and maps of symbols, by the names that ``pin`` has for its own."""

Operation = Callable[[Any, Any], Any]

OPERATIONS: dict[str, Operation] = {
    "M * N": lambda lib, x: x.M * x.N,
    "M @ N": lambda lib, x: (x.M @ x.N) if lib is OURS else (x.M * x.N),
    "M.act(N)": lambda lib, x: x.M.act(x.N),
    "M.actInv(N)": lambda lib, x: x.M.actInv(x.N),
    "M.inverse()": lambda lib, x: x.M.inverse(),
    "M.act(point)": lambda lib, x: x.M.act(x.p),
    "M * point": lambda lib, x: x.M * x.p,
    "M.actInv(point)": lambda lib, x: x.M.actInv(x.p),
    "M.act(v)": lambda lib, x: x.M.act(x.v),
    "M.actInv(v)": lambda lib, x: x.M.actInv(x.v),
    "M.act(f)": lambda lib, x: x.M.act(x.f),
    "M.actInv(f)": lambda lib, x: x.M.actInv(x.f),
    "M.act(Y)": lambda lib, x: x.M.act(x.Y),
    "M.actInv(Y)": lambda lib, x: x.M.actInv(x.Y),
    "actions": lambda lib, x: [x.M.action, x.M.actionInverse, x.M.dualAction],
    "action matrices": lambda lib, x: [x.M.toActionMatrix(), x.M.toActionMatrixInverse(), x.M.toDualActionMatrix()],
    "np": lambda lib, x: [x.M.np, x.v.np, x.f.np, x.Y.np],
    "SE3(quaternion, p)": lambda lib, x: lib.SE3(lib.Quaternion(x.M.rotation), x.p),
    "SE3(matrix)": lambda lib, x: lib.SE3(x.M.homogeneous),
    "Interpolate": lambda lib, x: lib.SE3.Interpolate(x.M, x.N, 0.3),
    "v + w - w / 2": lambda lib, x: x.v + x.w - x.w / 2.0,
    "-2 v": lambda lib, x: -(2.0 * x.v) * 3.0,
    "f + g": lambda lib, x: x.f + lib.Force(x.v.vector),
    "v.cross(w)": lambda lib, x: [x.v.cross(x.w), x.v ^ x.w],
    "v.cross(f)": lambda lib, x: [x.v.cross(x.f), x.v ^ x.f],
    "v.dot(f)": lambda lib, x: [x.v.dot(x.f), x.f.dot(x.v)],
    "v.action": lambda lib, x: [x.v.action, x.v.dualAction],
    "se3Action": lambda lib, x: [x.v.se3Action(x.M), x.f.se3Action(x.M), x.Y.se3Action(x.M)],
    "se3ActionInverse": lambda lib, x: [
        x.v.se3ActionInverse(x.M),
        x.f.se3ActionInverse(x.M),
        x.Y.se3ActionInverse(x.M),
    ],
    "Y v": lambda lib, x: x.Y * x.v,
    "Y + Z": lambda lib, x: x.Y + x.Z,
    "vxiv": lambda lib, x: [x.Y.vxiv(x.v), x.Y.vtiv(x.v)],
    "vxi": lambda lib, x: [x.Y.vxi(x.v), x.Y.ivx(x.v)],
    "matrix": lambda lib, x: x.Y.matrix(),
    "dynamic parameters": lambda lib, x: [
        x.Y.toDynamicParameters(),
        lib.Inertia.FromDynamicParameters(x.Z.toDynamicParameters()),
    ],
    "Symmetric3": lambda lib, x: [
        (S := lib.Symmetric3(x.Y.inertia)).matrix(),
        S.vtiv(x.p),
        S * x.p,
        S.rhsMult(x.p) if lib is OURS else S * x.p,
        S.rotate(x.M.rotation).matrix(),
        (S + lib.Symmetric3(x.Z.inertia)).matrix(),
        (S - lib.Symmetric3(x.Z.inertia)).matrix(),
        S.data,
    ],
    "quaternions": lambda lib, x: [
        (a := lib.Quaternion(x.M.rotation)).coeffs(),
        (b := lib.Quaternion(x.N.rotation)).matrix(),
        (a * b).coeffs(),
        a * x.p,
        a.inverse().coeffs(),
        a.conjugate().toRotationMatrix(),
        ca.vertcat(a.w, a.x, a.y, a.z, a.dot(b), a.norm(), a.squaredNorm()),
        a.vec(),
        a.normalized().coeffs(),
    ],
    "exp3, log3": lambda lib, x: [lib.exp3(x.p), lib.log3(x.M.rotation), lib.log(x.M.rotation), lib.exp(x.p)],
    "exp6, log6": lambda lib, x: [lib.exp6(x.v), lib.log6(x.M), lib.log(x.M), lib.exp(x.v), lib.exp6(x.v.vector)],
    "log6 of a matrix": lambda lib, x: lib.log6(x.M.homogeneous),
    "quaternion maps": lambda lib, x: [
        lib.exp3_quat(x.p),
        lib.exp6_quat(x.v.vector),
        lib.log6_quat(lib.SE3ToXYZQUAT(x.M)),
    ],
    "log3 of a quaternion": lambda lib, x: lib.log3(lib.Quaternion(x.M.rotation)),
    "Jacobians": lambda lib, x: [lib.Jexp3(x.p), lib.Jlog3(x.M.rotation), lib.Jexp6(x.v), lib.Jlog6(x.M)],
    "XYZQUAT": lambda lib, x: [lib.SE3ToXYZQUAT(x.M), lib.XYZQUATToSE3(lib.SE3ToXYZQUAT(x.N))],
    "skew": lambda lib, x: [lib.skew(x.p), lib.unSkew(lib.skew(x.p)), lib.skewSquare(x.p, x.w.linear)],
    "rpy": lambda lib, x: [
        lib.rpy.rpyToMatrix(x.p),
        lib.rpy.rpyToMatrix(x.p[0], x.p[1], x.p[2]),
        lib.rpy.matrixToRpy(x.M.rotation),
        lib.rpy.rotate("y", x.p[0]),
        lib.rpy.computeRpyJacobian(x.p, pin.LOCAL),
        lib.rpy.computeRpyJacobian(x.p, pin.WORLD),
        *(lib.rpy.computeRpyJacobianInverse(x.p, axes) for axes in (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)),
        *(lib.rpy.computeRpyJacobianTimeDerivative(x.p, x.w.linear, axes) for axes in (pin.LOCAL, pin.WORLD)),
        lib.utils.rpyToMatrix(x.p),
        lib.utils.rotate("x", x.p[1]),
    ],
    "bodies": lambda lib, x: [
        lib.Inertia.FromSphere(2.0, 0.3),
        lib.Inertia.FromBox(2.0, 0.1, 0.2, 0.3),
        lib.Inertia.FromEllipsoid(2.0, 0.1, 0.2, 0.3),
        lib.Inertia.FromCylinder(2.0, 0.1, 0.4),
        lib.Inertia.Identity(),
    ],
    "M, inverted and in place": lambda lib, x: [
        ~x.M,
        lib.SE3(1),
        changed(x.M, "setIdentity"),
        changed(x.M, "setRandom"),
    ],
    "random": lambda lib, x: [
        seeded(each.Random) for each in (lib.SE3, lib.Motion, lib.Force, lib.Inertia, lib.Symmetric3)
    ],
    "in place": lambda lib, x: [changed(each, name) for each in (x.v, x.f, x.Y) for name in ("setZero", "setRandom")],
    "sums in place": lambda lib, x: [
        changed(x.v, "__iadd__", x.w),
        changed(x.v, "__isub__", x.w),
        changed(x.f, "__iadd__", x.f),
        changed(x.f, "__isub__", 0.5 * x.f),
        changed(x.Y, "__iadd__", x.Z),
        changed(x.Z, "__isub__", x.Y),
    ],
    "v as a matrix": lambda lib, x: [x.v.homogeneous, (x.p[0] if lib is OURS else float(x.p[0])) * x.v],
    "Y - Z": lambda lib, x: [(x.Y + x.Z) - x.Z, x.Z - x.Y, x.Y - lib.Inertia.Zero()],
    "Y in place": lambda lib, x: changed(x.Y, "setIdentity"),
    "inverse, variation": lambda lib, x: [x.Y.inverse(), x.Y.variation(x.v)],
    "pseudo-inertia": lambda lib, x: [
        (J := x.Y.toPseudoInertia()).toMatrix(),
        J.toDynamicParameters(),
        J.toInertia(),
        lib.Inertia.FromPseudoInertia(J),
        lib.PseudoInertia.FromInertia(x.Y),
        lib.PseudoInertia.FromMatrix(J.toMatrix()),
        lib.PseudoInertia.FromDynamicParameters(x.Y.toDynamicParameters()),
        lib.PseudoInertia(J.mass, J.h, J.sigma).copy(),
    ],
    "log-Cholesky parameters": lambda lib, x: [
        (logs := lib.LogCholeskyParameters(joined(lib, x.p, x.v.vector, 0.3))).parameters,
        logs.copy().toDynamicParameters(),
        logs.toPseudoInertia(),
        logs.toInertia(),
        logs.calculateJacobian(),
        lib.Inertia.FromLogCholeskyParameters(logs),
    ],
    "Symmetric3, the rest": lambda lib, x: [
        (S := lib.Symmetric3(x.Y.inertia)) + x.Z.inertia,
        S - x.Z.inertia,
        lib.Symmetric3.vxs(S, x.p),
        lib.Symmetric3.Zero(),
        lib.Symmetric3.Identity(),
        changed(S, "setZero"),
        changed(S, "setIdentity"),
        changed(S, "setRandom"),
        changed(S, "fill", (x.p[0] if lib is OURS else float(x.p[0]))),
        changed(S, "setDiagonal", x.p),
        changed(S, "__iadd__", S),
        changed(S, "__isub__", lib.Symmetric3(x.Z.inertia)),
        changed(S, "__imul__", 3.0),
        lib.Symmetric3(S.data),
        lib.Symmetric3(*(S.data[k] for k in range(6))),
    ],
    "quaternions, the rest": lambda lib, x: [
        (a := lib.Quaternion(x.M.rotation)).slerp(0.3, b := lib.Quaternion(x.N.rotation)),
        a.slerp(-0.4, b.conjugate()),
        b.slerp(1.2, lib.Quaternion(-1.0 * a.coeffs())),
        ca.vertcat(a.angularDistance(b), a.angularDistance(b.inverse()), abs(a), a[0], a[3]),
        lib.Quaternion.FromTwoVectors(x.p, x.v.linear),
        lib.Quaternion(x.v.angular, x.p),
        changed(a, "setFromTwoVectors", x.v.linear, x.f.linear),
        changed(a, "setIdentity"),
        changed(a, "assign", b),
        changed(a, "assign", lib.AngleAxis(b)),
        changed(a, "__imul__", b),
        changed(a, "__setitem__", 1, 0.25),
        changed(lib.Quaternion(2.0 * a.coeffs()), "normalize"),
    ],
    "AngleAxis": lambda lib, x: [
        (a := lib.AngleAxis(x.M.rotation)),
        (b := lib.AngleAxis(lib.Quaternion(x.N.rotation))),
        lib.AngleAxis(b.angle, a.axis),
        lib.AngleAxis(a),
        lib.AngleAxis(lib.Quaternion(-1.0 * lib.Quaternion(x.M.rotation).coeffs())),
        lib.AngleAxis(np.eye(3)),
        a.matrix(),
        b.toRotationMatrix(),
        a.inverse(),
        a * b,
        a * lib.Quaternion(b),
        a * x.p,
        lib.Quaternion(a),
        changed(a, "fromRotationMatrix", x.N.rotation),
    ],
    "capsules": lambda lib, x: [lib.Inertia.FromCapsule(2.0, 0.1, 0.4), lib.Inertia.FromCapsule(2.0, 0.1, 0.0)],
    "neutral": lambda lib, x: [lib.SE3.Identity(), lib.Motion.Zero(), lib.Force.Zero(), lib.Inertia.Zero()],
}


def seeded(call: Callable[..., Any], *given: Any) -> Any:
    """What Pinocchio's random numbers do not change."""
    pin.seed(1)
    return call(*given)


def changed(x: Any, method: str, *given: Any) -> Any:
    """A copy, after a method that changes it in place."""
    copied = type(x)(x)
    returned = seeded(getattr(copied, method), *given)
    assert returned is None or value(returned).shape == value(copied).shape
    return copied


def joined(lib: Any, *columns: Any) -> Any:
    return ca.vertcat(*columns) if lib is OURS else np.hstack(columns)


def value(x: Any) -> Any:
    """The entries of a result, as one column."""
    if isinstance(x, list):
        return ca.vertcat(*map(value, x))
    if hasattr(x, "axis"):
        return value([x.angle, x.axis])
    for attribute in ("toDynamicParameters", "coeffs", "matrix"):
        if hasattr(x, attribute):
            return value(getattr(x, attribute)())
    x = getattr(x, "vector", getattr(x, "homogeneous", x))
    return ca.vec(ca.DM(x) if isinstance(x, np.ndarray | float) else x)


@pytest.fixture(scope="module")
def given() -> SimpleNamespace:
    rng = np.random.default_rng(0)
    motion, other, force = (rng.normal(size=6) for _ in range(3))
    return SimpleNamespace(
        M=placement(rng),
        N=placement(rng),
        p=rng.normal(size=3),
        v=pin.Motion(motion),
        w=pin.Motion(other),
        f=pin.Force(force),
        Y=inertia(rng),
        Z=inertia(rng),
    )


def symbolic(kind: Any, given: SimpleNamespace) -> tuple[SimpleNamespace, list[Any], list[Any]]:
    """Objects of symbols, the symbols, and their numbers."""
    symbols: list[Any] = []
    numbers: list[Any] = []

    def made(name: str, x: Any) -> Any:
        names = () if name == "p" else getattr(OURS, type(x).__name__)._names
        parts = [getattr(x, part) for part in names] or [x]
        own = [kind.sym(f"{name}{k}", *np.atleast_2d(np.asarray(part).T).T.shape) for k, part in enumerate(parts)]
        symbols.extend(own)
        numbers.extend(parts)
        return own[0] if name == "p" else getattr(OURS, type(x).__name__)(*own)

    return SimpleNamespace(**{name: made(name, x) for name, x in vars(given).items()}), symbols, numbers


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_those_of_pinocchio(name: str, kind: Any, given: SimpleNamespace) -> None:
    x, symbols, numbers = symbolic(kind, given)
    expected = value(OPERATIONS[name](pin, given)).full()
    found = ca.Function("f", symbols, [value(OPERATIONS[name](OURS, x))])(*numbers)
    assert relative_error(found.full(), expected) < 2e-14


@pytest.mark.parametrize("name", OPERATIONS)
def test_objects_of_pinocchio_and_numbers_mix_with_both_kinds(name: str, given: SimpleNamespace) -> None:
    ours = SimpleNamespace(**{k: x if k == "p" else getattr(OURS, type(x).__name__)(x) for k, x in vars(given).items()})
    found = value(OPERATIONS[name](OURS, ours))
    assert isinstance(found, ca.DM)
    assert relative_error(found.full(), value(OPERATIONS[name](pin, given)).full()) < 2e-14
    for kind in (ca.SX, ca.MX):
        point = kind.sym("p", 3)
        assert type(ours.M.act(point)) is kind
        assert type((ours.M * OURS.SE3(np.eye(3), point)).homogeneous) is kind


def test_parts_may_be_named(given: SimpleNamespace) -> None:
    mass = ca.SX.sym("mass")
    body = OURS.Inertia(mass=mass, lever=given.p, inertia=given.Y.inertia)
    assert ca.is_equal(body.mass, mass)
    assert OURS.Inertia(given.Y.mass, inertia=given.Y.inertia, lever=given.Y.lever).isApprox(given.Y)
    assert OURS.Force(angular=given.p, linear=2 * given.p).isApprox(pin.Force(2 * given.p, given.p))
    assert OURS.SE3(rotation=given.M.rotation, translation=given.M.translation).isApprox(given.M)
    with pytest.raises(UnknownNameError, match="no part of Inertia named 'inertia_matrix'; nearest: 'inertia'"):
        OURS.Inertia(mass=1.0, lever=np.zeros(3), inertia_matrix=np.eye(3))
    with pytest.raises(ArgumentTypeError, match=r"Inertia: give \(mass, lever, inertia"):
        OURS.Inertia(mass=1.0)


def test_vectors_are_set_as_a_whole(given: SimpleNamespace) -> None:
    twist, wrench = OURS.Motion(), OURS.Force(given.f)
    twist.vector, wrench.vector = given.v.vector, ca.SX.sym("f", 6)
    assert twist.isApprox(given.v)
    assert wrench.linear.is_symbolic()
    with pytest.raises(ArgumentError, match="Motion: got 5 × 1 entries; give 6 × 1"):
        twist.vector = np.zeros(5)


ABSENT = {
    "cast": "of types of scalars; the constructor converts",
    "decomposeltI": "pin 4.1 has no array for what it returns",
    "id": "an address in C++",
    "__getinitargs__": "of pickle",
    "__getstate_manages_dict__": "of pickle",
    "__instance_size__": "of pickle",
    "__safe_for_unpickling__": "of pickle",
    "__setstate__": "of pickle",
}
"""Names of Pinocchio's objects that are not there, and why."""

OTHER_ARGUMENTS = {
    "AngleAxis.fromRotationMatrix": "pin's has a space in it",
    "Force.dot": "as Motion.dot",
    "Motion.dot": "one method for motions and forces",
    "Symmetric3.inverse": "gives the matrix; pin 4.1 leaves the array unchanged that is given for it",
    "Symmetric3.rhsMult": "as inverse",
    "Symmetric3.svx": "pin's v is the matrix, its S3 the vector",
    "Symmetric3.vxs": "as svx",
}
"""Methods whose arguments are called otherwise, and why."""


def example(kind: str) -> Any:
    return OURS.Frame("tool", 0, pin.SE3.Identity(), pin.OP_FRAME) if kind == "Frame" else getattr(OURS, kind)()


def names_of(kind: str) -> set[str]:
    """Public names and operators of a class of Pinocchio."""
    ordinary = {"__dict__", "__module__", "__slotnames__", "__weakref__", *dir(object)}  # the third by pickling
    return {name for name in dir(getattr(pin, kind)) if name not in ordinary and (name[0] != "_" or name[:2] == "__")}


@pytest.mark.filterwarnings("ignore:Deprecated:DeprecationWarning")  # of Frame.parent and Frame.previousFrame
@pytest.mark.parametrize("kind", objects.__all__)
def test_every_name_of_pinocchio_is_there_or_known_to_be_absent(kind: str) -> None:
    ours = example(kind)
    assert {name for name in names_of(kind) if not hasattr(ours, name)} == names_of(kind) & ABSENT.keys()
    assert ABSENT.keys() <= set().union(*map(names_of, objects.__all__))


def test_methods_have_the_arguments_of_pinocchio() -> None:
    """Those of one signature, whose arguments have names."""
    found = dict[str, tuple[list[str], list[str]]]()
    for kind in objects.__all__:
        for name in names_of(kind) - ABSENT.keys():
            said = re.findall(rf"^{name}\((.*)\) ->", str(getattr(getattr(pin, kind), name).__doc__), re.MULTILINE)
            theirs = re.findall(r"\(\w+(?:\.\w+)?\)(\w+)", said[0]) if len(said) == 1 else ["arg1"]
            if not any(argument[:3] == "arg" for argument in theirs):
                parameters = list(inspect.signature(getattr(OURS.__dict__[kind], name)).parameters)
                found[f"{kind}.{name}"] = [x for x in theirs if x != "self"], [x for x in parameters if x != "self"]
    assert len(found) > 80
    assert {name for name, (theirs, ours) in found.items() if theirs != ours} == OTHER_ARGUMENTS.keys()


@pytest.mark.filterwarnings("ignore:Deprecated:DeprecationWarning")  # of Frame.parent and Frame.previousFrame
@pytest.mark.parametrize("kind", objects.__all__)
def test_what_pinocchio_sets_can_be_set(kind: str) -> None:
    properties = {name: x for name in names_of(kind) if isinstance(x := getattr(pin, kind).__dict__[name], property)}
    for name, x in properties.items():
        ours = example(kind)
        if x.fset is not None:
            setattr(ours, name, getattr(ours, name))
            assert ours == example(kind)
        else:
            with pytest.raises(AttributeError):
                setattr(ours, name, getattr(ours, name))


def test_where_pinocchio_is_wrong(given: SimpleNamespace) -> None:
    """The rows of docs/conventions.md."""
    theirs, ours = pin.Symmetric3(given.Y.inertia), OURS.Symmetric3(given.Y.inertia)
    assert relative_error(pin.Symmetric3.svx(theirs, given.p), pin.Symmetric3.vxs(theirs, given.p)) == 0
    assert relative_error(ours.svx(given.p).full(), given.Y.inertia @ pin.skew(given.p)) < 1e-15
    left = np.zeros((3, 3)), np.zeros(3)
    theirs.inverse(left[0])
    pin.Symmetric3.rhsMult(theirs, given.p, left[1])
    assert not any(map(np.any, left))
    assert relative_error(ours.inverse().full() @ given.Y.inertia, np.eye(3)) < 1e-15
    lighter, heavier = sorted((given.Y, given.Z), key=lambda body: body.mass)
    expected = lighter.toDynamicParameters() - heavier.toDynamicParameters()
    assert relative_error((lighter - heavier).toDynamicParameters(), expected) > 1
    assert relative_error((OURS.Inertia(lighter) - heavier).toDynamicParameters().full().ravel(), expected) < 1e-14


def test_equality_is_of_numbers_or_of_expressions(given: SimpleNamespace) -> None:
    x = ca.SX.sym("x", 6)
    assert OURS.Motion(given.v) == given.v != OURS.Motion.Zero()
    assert OURS.Motion(x) == OURS.Motion(x).copy()
    assert OURS.Motion(given.v) != OURS.Force(given.v.vector)
    assert len({OURS.SE3(), OURS.SE3()}) == 2
    with pytest.raises(UnsupportedError, match="Motion: has symbols, which have no value yet"):
        _ = OURS.Motion(x) == given.v
    with pytest.raises(UnsupportedError, match="Quaternion: has symbols"):
        OURS.Quaternion(x[:4]).isApprox(OURS.Quaternion())


def test_numbers_are_arrays_and_pinocchio_may_stand_on_the_left(given: SimpleNamespace) -> None:
    for x in (given.M, given.v, given.f, given.Y):
        assert np.array_equal(np.asarray(getattr(OURS, type(x).__name__)(x)), np.asarray(x))
    v = OURS.Motion(ca.SX.sym("v", 6))
    M, Y, w = OURS.SE3(given.M), OURS.Inertia(given.Y), OURS.Motion(given.v)
    for left, right in (
        (np.float64(2.0) * v, v * 2.0),
        (ca.SX(2) * v, v * 2.0),
        (given.M * v, M * v),
        (given.Y * v, Y * v),
        (given.v + v, w + v),
        (given.v - v, w - v),
    ):
        assert type(left) is type(right)
        assert ca.is_equal(left.vector, right.vector, 9)
    assert ca.is_equal(np.eye(6) @ v, v.vector, 9)
    with pytest.raises(UnsupportedError, match="Motion: has symbols"):
        np.asarray(v)


def test_coefficients_of_quaternions_are_entries() -> None:
    q, w = OURS.Quaternion(), ca.SX.sym("w")
    q.w = w
    assert ca.is_equal(ca.vertcat(*q), q.coeffs(), 2)
    assert [len(q), q.x.is_zero(), ca.is_equal(q[3], w, 2)] == [4, True, True]


def test_deep_copies_are_apart() -> None:
    placed = OURS.SE3(np.eye(3), ca.MX.sym("p", 3))
    for x in (copy.copy(placed), copy.deepcopy(placed)):
        assert x == placed
        x.translation = np.zeros(3)
        assert x.isIdentity()
        assert placed.translation.is_symbolic()


def test_frames_keep_what_is_set_and_symbols() -> None:
    frame, p = example("Frame"), ca.SX.sym("p", 3)
    frame.name, frame.parentJoint, frame.placement = "hand", 2, OURS.SE3(np.eye(3), p)
    frame.inertia = OURS.Inertia.FromSphere(2.0, 0.1)
    for copied in (frame.copy(), copy.deepcopy(frame)):
        assert copied == frame != example("Frame")
        assert (copied.pin.name, copied.pin.parentJoint, copied.pin.inertia.mass) == ("hand", 2, 2.0)
        assert ca.is_equal(copied.placement.translation, p)
    with pytest.raises(UnsupportedError, match="Inertia: has symbols"):
        frame.inertia = OURS.Inertia(p[0], np.zeros(3), np.eye(3))
    with pytest.raises(ArgumentTypeError, match=r"Frame.parentJoint: Pinocchio does not take \(str\)"):
        frame.parentJoint = "elbow"


@pytest.mark.parametrize("b", [[-1.0, 2, -3], [0, 0, 1.0], [2.0, 0, 0]])
def test_opposite_and_equal_directions_have_rotations(b: list[float]) -> None:
    x, b = ca.SX.sym("x", 3), np.array(b)
    for sign in (-1, 1):
        turn = OURS.Quaternion.FromTwoVectors(sign * x, b)
        f = ca.Function("f", [x], [turn.coeffs(), ca.jacobian(turn.coeffs(), x)])
        coefficients, slope = f(b)
        assert float(ca.norm_2(coefficients)) == pytest.approx(1, abs=1e-15)
        assert relative_error((OURS.Quaternion(coefficients) * (sign * b)).full().ravel(), b) < 1e-15
        assert np.isfinite(slope.full()).all()


def test_what_turns_nowhere_has_finite_derivatives() -> None:
    w, e = ca.SX.sym("w", 3), OURS.Quaternion()
    turn = OURS.Quaternion(OURS.exp3_quat(w))
    about = OURS.AngleAxis(turn)
    slopes = [ca.jacobian(x, w) for x in (e.slerp(0.3, turn).coeffs(), about.angle, about.axis, about.matrix())]
    assert all(np.isfinite(x.full()).all() for x in ca.Function("f", [w], slopes)(np.zeros(3)))


def test_logarithms_have_finite_derivatives_everywhere() -> None:
    d = ca.SX.sym("d", 6)
    for turn in (np.zeros(3), np.array([np.pi, 0, 0]), np.array([0, np.pi, 0]), np.array([0, 0, np.pi - 1e-9])):
        moved = OURS.SE3(pin.exp3(turn), np.array([1.0, 2, 3])) * OURS.exp6(d)
        slope = ca.Function("f", [d], [ca.jacobian(OURS.log6(moved).vector, d), OURS.log3(moved.rotation)])
        assert all(np.isfinite(each.full()).all() for each in slope(np.zeros(6)))


def test_copies_are_apart_and_numbers_come_back(given: SimpleNamespace) -> None:
    for name in ("M", "v", "f", "Y"):
        ours = getattr(OURS, type(getattr(given, name)).__name__)(getattr(given, name))
        copied = ours.copy()
        assert copied.isApprox(ours)
        assert ours.numbers().isApprox(getattr(given, name))
        first = ours._names[0]
        setattr(copied, first, 2 * getattr(copied, first))
        assert not copied.isApprox(ours)
    zero = OURS.Motion(given.v)
    zero.setZero()
    assert zero.isZero()
    assert not OURS.Motion(ca.SX.sym("v", 6)).isZero()
    same = OURS.SE3(given.M)
    same.setIdentity()
    assert same.isIdentity()


def test_an_object_keeps_what_it_was_given() -> None:
    p = ca.SX.sym("p", 3)
    placed, first = OURS.SE3(np.eye(3), p), p[0]
    p[0] = 0
    assert ca.is_equal(placed.translation[0], first, 0)


def test_lists_that_mix_numbers_and_symbols() -> None:
    d = ca.SX.sym("d", 3)
    s = OURS.Symmetric3(np.eye(3))
    s.setDiagonal(d)
    assert ca.is_equal(s.matrix(), ca.densify(ca.diag(d)), 3)
    rows = [[d[0], 0, 0], [ca.DM(0), d[1], 0], [0, 0, d[2]]]
    assert ca.is_equal(OURS.Inertia(1.0, [0, 0, 0], rows).inertia, ca.densify(ca.diag(d)), 3)
    turned = OURS.rpy.rotate("z", d[0])
    given = [[turned[i, k] for k in range(3)] for i in range(2)] + [[ca.DM(0), 0, 1]]
    found = ca.Function("log3", [d], [OURS.log3(given)])([0.3, 0, 0])
    assert found.full().ravel() == pytest.approx([0, 0, 0.3], abs=1e-15)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda rows: OURS.log3(rows), "log3"),
        (lambda rows: OURS.log(rows), "log3"),
        (lambda rows: OURS.Symmetric3(rows), "Symmetric3"),
        (lambda rows: OURS.Inertia(1.0, [0, 0, 0], rows), "Symmetric3"),
    ],
)
def test_lists_of_unequal_rows_are_refused_in_a_sentence(call: Callable[..., Any], name: str) -> None:
    for rows in ([[1, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, [1], 0], [0, 0, 1]], [1, [2, 3]]):
        with pytest.raises(ArgumentError, match=rf"{name}: the rows are of unequal lengths"):
            call(rows)
    with pytest.raises(ArgumentTypeError, match=rf"{name}: cannot be made one matrix of SX or MX; give rows of equal"):
        call([[ca.SX.sym("x"), 0], [0, 1, 0], [0, 0, 1]])


def test_single_numbers_are_floats_and_meet_numpy() -> None:
    """As SX of the original does, and a matrix of one number does not."""
    body, placed = OURS.Inertia(3.0, [0.1, 0.2, 0.3], np.eye(3)), OURS.SE3(np.eye(3), np.array([1.0, 2.0, 3.0]))
    for x, expected in (
        (body.mass, 3.0),
        (body.lever[2], 0.3),
        (body.inertia[0, 0], 1.0),
        (placed.translation[-1], 3.0),
        (placed.rotation[2, 2], 1.0),
        (OURS.Motion(np.arange(6.0)).angular[1], 4.0),
    ):
        assert isinstance(x, float)
        assert np.array([0, 0, -2 * x]).tolist() == [0, 0, -2 * expected]
    assert np.array(OURS.SE3ToXYZQUATtuple(placed)).tolist() == [1, 2, 3, 0, 0, 0, 1]
    assert body.lever[0:1].shape == (1, 1)
    assert body.parts[0].shape == (1, 1)
    body.mass = ca.SX.sym("m")
    assert isinstance(np.array([0, 0, -9.81 * body.mass]), np.ndarray)


def test_the_angle_of_a_logarithm_is_written_where_pinocchio_writes_it() -> None:
    w, theta = np.array([0.1, -0.2, 0.3]), np.zeros(1)
    assert relative_error(OURS.log3(pin.exp3(w), theta).full().ravel(), w) < 1e-14
    assert theta[0] == pytest.approx(np.linalg.norm(w), rel=1e-14)
    assert relative_error(OURS.log3(quat=pin.exp3_quat(w)).full().ravel(), w) < 1e-14


def test_utils_are_those_of_pinocchio_with_maps_of_symbols() -> None:
    assert set(pin.utils.__all__) <= set(vars(OURS.utils))
    placed = OURS.SE3.Random()
    assert relative_error(OURS.utils.SE3ToXYZQUAT(placed).full().ravel(), pin.SE3ToXYZQUAT(placed.numbers())) < 1e-14
    assert OURS.utils.zero(3).tolist() == [0, 0, 0]
    assert isinstance(OURS.utils.rpyToMatrix(ca.SX.sym("r", 3)), ca.SX)


@pytest.mark.parametrize(
    ("name", "wrong", "nearest"),
    [
        ("utils", "rpyToMatrx", "'rpyToMatrix'"),
        ("rpy", "matrixToRpi", "'matrixToRpy'"),
        ("liegroups", "SO5", "'SO3', 'SO2'"),
    ],
)
def test_submodules_name_what_is_near_an_unknown_name(name: str, wrong: str, nearest: str) -> None:
    with pytest.raises(cpin.MissingAttributeError) as refused:
        getattr(getattr(cpin, name), wrong)
    assert str(refused.value) == f"no function of cpin.{name} named {wrong!r}; nearest: {nearest}"


def test_refusals(given: SimpleNamespace) -> None:
    with pytest.raises(ArgumentError, match=r"SE3.rotation: got 2 × 2 entries; give 3 × 3"):
        OURS.SE3(np.eye(2), np.zeros(3))
    with pytest.raises(ArgumentError, match=r"SE3.translation: entry"):
        OURS.SE3(np.eye(3), [0.0, np.nan, 0.0])
    with pytest.raises(ArgumentError, match=r"Motion: got 5 × 1 entries; give 6 × 1"):
        OURS.Motion(ca.SX.sym("v", 5))
    with pytest.raises(
        ArgumentTypeError, match=r"Motion: got \(Force\); give \(linear, angular\), or one column \(6\)"
    ):
        OURS.Motion(given.f)
    with pytest.raises(ArgumentTypeError, match=r"Force: got \(Motion\); give \(linear, angular\)"):
        OURS.Force(OURS.Motion(given.v))
    with pytest.raises(ArgumentTypeError, match=r"SE3: got \(int, int, int\); give \(rotation, translation\)"):
        OURS.SE3(1, 2, 3)
    with pytest.raises(ArgumentTypeError, match=r"SE3.translation: expected numbers, SX or MX, got 'here'"):
        OURS.SE3(np.eye(3), "here")
    with pytest.raises(UnsupportedError, match=r"SE3: has symbols, which have no value yet; give numbers here"):
        OURS.SE3(np.eye(3), ca.MX.sym("p", 3)).numbers()
    with pytest.raises(ArgumentError, match=r"rpy.rotate: got the axis 'w'; give 'x', 'y' or 'z'"):
        OURS.rpy.rotate("w", 0.1)
    x, y = ca.SX.sym("x", 6), ca.MX.sym("y", 6)
    mixed = "got SX and MX, which CasADi does not mix; give symbols of one of them"
    with pytest.raises(ArgumentTypeError, match=rf"Motion.__add__: {mixed}"):
        OURS.Motion(x) + OURS.Motion(y)
    with pytest.raises(ArgumentTypeError, match=rf"Motion.__mul__: {mixed}"):
        y[0] * OURS.Motion(x)
    with pytest.raises(ArgumentTypeError, match=rf"SE3: {mixed}"):
        OURS.SE3(ca.SX.eye(3), y[:3])
    with pytest.raises(ArgumentTypeError, match=rf"Inertia.FromEllipsoid: {mixed}"):
        OURS.Inertia.FromBox(x[0], y[0], 0.1, 0.2)
    with pytest.raises(ArgumentError, match=r"Motion: got 3 × 1 entries; give 6 × 1"):
        OURS.Motion(x) + x[:3]
    with pytest.raises(ArgumentError, match=r"Motion: entry \[0\] is nan; give finite numbers"):
        OURS.Motion(x) - np.full(6, np.nan)
    with pytest.raises(ArgumentError, match=r"Motion: factor: got 6 × 1 entries; give 1 × 1"):
        OURS.Motion(x) * OURS.Motion(x)
    with pytest.raises(ArgumentError, match=r"Motion: got numbers of shape \(2, 3, 1\); give a matrix"):
        OURS.Motion(np.zeros((2, 3, 1)))
    with pytest.raises(ArgumentTypeError, match=r"Quaternion: got \(int, int, int\); give w, x, y, z, or one column"):
        OURS.Quaternion(1, 2, 3)
    with pytest.raises(ArgumentError, match=r"Quaternion\[4\]: give 0 \(x\), 1 \(y\), 2 \(z\) or 3 \(w\)"):
        OURS.Quaternion()[4]
    with pytest.raises(ArgumentError, match="Quaternion: got a vector of zeros, which has no direction"):
        OURS.Quaternion.FromTwoVectors(np.zeros(3), x[:3])
    with pytest.raises(ArgumentTypeError, match=r"Symmetric3: got \(int, int\); give a matrix \(3 × 3\), or xx"):
        OURS.Symmetric3(1, 2)
    with pytest.raises(ArgumentTypeError, match="cannot be made one matrix of SX or MX"):
        OURS.Motion([ca.SX.sym("x"), ca.MX.sym("y")])

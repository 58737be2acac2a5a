"""Placements, motions, forces, inertias and quaternions of symbols, and maps between them, against Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.spatial import object_maps, objects
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
    ],
    "bodies": lambda lib, x: [
        lib.Inertia.FromSphere(2.0, 0.3),
        lib.Inertia.FromBox(2.0, 0.1, 0.2, 0.3),
        lib.Inertia.FromEllipsoid(2.0, 0.1, 0.2, 0.3),
        lib.Inertia.FromCylinder(2.0, 0.1, 0.4),
        lib.Inertia.Identity(),
    ],
    "neutral": lambda lib, x: [lib.SE3.Identity(), lib.Motion.Zero(), lib.Force.Zero(), lib.Inertia.Zero()],
}


def value(x: Any) -> Any:
    """The entries of a result, as one column."""
    if isinstance(x, list):
        return ca.vertcat(*map(value, x))
    for attribute in ("toDynamicParameters", "coeffs"):
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


def test_refusals(given: SimpleNamespace) -> None:
    with pytest.raises(ArgumentError, match=r"SE3.rotation: got 2 × 2 entries; give 3 × 3"):
        OURS.SE3(np.eye(2), np.zeros(3))
    with pytest.raises(ArgumentError, match=r"SE3.translation: entry"):
        OURS.SE3(np.eye(3), [0.0, np.nan, 0.0])
    with pytest.raises(ArgumentError, match=r"Motion: got 5 × 1 entries; give 6 × 1"):
        OURS.Motion(ca.SX.sym("v", 5))
    with pytest.raises(ArgumentTypeError, match=r"Motion: got a Force; it is of the other kind"):
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
    with pytest.raises(ArgumentTypeError, match="cannot be made one matrix of SX or MX"):
        OURS.Motion([ca.SX.sym("x"), ca.MX.sym("y")])

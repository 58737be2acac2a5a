"""Lie groups of their own and their products, against Pinocchio's."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.cpin.configurations import LieGroup, liegroups
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.models import relative_error

GROUPS = {
    **{name: lambda lib, name=name: getattr(lib, name)() for name in ("SO2", "SO3", "SE2", "SE3", "R1", "R2", "R3")},
    "Rn": lambda lib: lib.Rn(4),
    "product": lambda lib: lib.SE3() * lib.R1() * lib.SO2(),
}
METHODS = {
    "integrate": lambda g, q, other, v, J: g.integrate(q, v),
    "difference": lambda g, q, other, v, J: g.difference(q, other),
    "interpolate": lambda g, q, other, v, J: g.interpolate(q, other, 0.3),
    "distance": lambda g, q, other, v, J: g.distance(q, other),
    "squaredDistance": lambda g, q, other, v, J: g.squaredDistance(q, other),
    "dIntegrate": lambda g, q, other, v, J: [g.dIntegrate(q, v, k) for k in (pin.ARG0, pin.ARG1)],
    "dIntegrate_d": lambda g, q, other, v, J: [g.dIntegrate_dq(q, v), g.dIntegrate_dv(q, v)],
    "dDifference": lambda g, q, other, v, J: [g.dDifference(q, other, k) for k in (pin.ARG0, pin.ARG1)],
    "dIntegrateTransport": lambda g, q, other, v, J: [g.dIntegrateTransport(q, v, J, k) for k in (pin.ARG0, pin.ARG1)],
    "tangentMap": lambda g, q, other, v, J: g.tangentMap(q),
    "tangentMapProduct": lambda g, q, other, v, J: g.tangentMapProduct(q, J),
    "tangentMapTransposeProduct": lambda g, q, other, v, J: g.tangentMapTransposeProduct(q, np.outer(q, v)),
}


def as_arrays(x: Any) -> list[np.ndarray]:
    return [np.array(ca.DM(each)).squeeze() for each in (x if isinstance(x, list) else [x])]


@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_those_of_pinocchio(name: str) -> None:
    ours, theirs = GROUPS[name](liegroups), GROUPS[name](pin.liegroups)
    assert (ours.name, ours.nq, ours.nv) == (theirs.name, theirs.nq, theirs.nv)
    assert as_arrays(ours.neutral)[0].tolist() == np.squeeze(theirs.neutral).tolist()
    pin.seed(1)
    q, other, rng = theirs.random(), theirs.random(), np.random.default_rng(0)
    v, J = rng.uniform(0.1, 1, theirs.nv), rng.normal(size=(theirs.nv, 2))
    for method, call in METHODS.items():
        for found, expected in zip(
            as_arrays(call(ours, q, other, v, J)), as_arrays(call(theirs, q, other, v, J)), strict=True
        ):
            assert relative_error(found, expected) < 1e-12, method


def test_groups_of_symbols() -> None:
    group = liegroups.SE3() * liegroups.R1()
    q, v = ca.SX.sym("q", group.nq), ca.SX.sym("v", group.nv)
    found = ca.Function("f", [q, v], [group.dIntegrate(q, v, pin.ARG1), group.tangentMap(q)])
    x, rate = group.neutral, np.linspace(0.1, 0.7, group.nv)
    expected = [group.dIntegrate(x, rate, 1), group.tangentMap(x)]
    assert [relative_error(a.full(), b.full()) < 1e-15 for a, b in zip(found(x, rate), expected, strict=True)] == [
        True
    ] * 2


def test_configurations_within_bounds() -> None:
    low, high = np.array([-1.0, 2.0]), np.array([-0.5, 3.0])
    x = liegroups.R2().randomConfiguration(low, high).full().ravel()
    assert ((low <= x) & (x <= high)).all()
    unit = liegroups.SO3().randomConfiguration(np.zeros(4), np.ones(4))
    assert float(ca.norm_2(unit)) == pytest.approx(1, rel=1e-14)


def test_equal_groups() -> None:
    assert liegroups.SE3() * liegroups.R1() == liegroups.SE3() * liegroups.Rn(1)
    assert liegroups.SE3() * liegroups.R1() != liegroups.R1() * liegroups.SE3()
    assert len({liegroups.SO3(), liegroups.SO3(), liegroups.SO2()}) == 2


def test_refusals() -> None:
    group: LieGroup = liegroups.SO3()
    q, v = group.neutral, np.ones(3)
    with pytest.raises(ArgumentError, match=r"SO\(3\): dIntegrate: got the argument 2; give ARG0 or ARG1"):
        group.dIntegrate(q, v, 2)
    with pytest.raises(ArgumentError, match=r"SO\(3\): v: got 2 × 1 entries; give 3 × 1"):
        group.dIntegrate(q, v[:2], pin.ARG0)
    with pytest.raises(ArgumentError, match=r"SO\(3\): J: got 2 × 2 entries; give 3 × 2"):
        group.dIntegrateTransport(q, v, np.eye(2), pin.ARG0)
    with pytest.raises(ArgumentTypeError, match=r"SO\(3\): randomConfiguration: Pinocchio does not take"):
        group.randomConfiguration(np.zeros(2), np.ones(3))
    with pytest.raises(TypeError, match="unsupported operand"):
        group * 3.0

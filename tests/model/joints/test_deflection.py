"""Sections of a beam as joints: against Pinocchio's exponential map, and against derivatives by CasADi."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.flexible.station import BeamStation, root
from gdalembert.model.joints.deflection import Angle, Deflection, FirstOrderDeflection
from gdalembert.spatial.arrays import Array, homogeneous
from tests.helpers.arms import BY_EXACTNESS
from tests.helpers.models import relative_error, unit

TIGHT = 1e-13
Rng = np.random.Generator
N = 3


def turning(rng: Rng, kind: str) -> Array:
    """Θ of a section that turns about all axes, about two (bending in both planes), about one, or not at all."""
    theta = rng.normal(size=(3, N))
    if kind == "bending":
        theta[0] = 0
    elif kind == "planar":
        theta[:2] = 0
    elif kind == "oblique":
        theta = np.outer(unit(rng), rng.normal(size=N))
    elif kind == "none":
        theta[:] = 0
    return theta


KINDS = ["all", "bending", "planar", "oblique", "none"]


def section(kind: str, seed: int = 0) -> BeamStation:
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(N, N))
    return BeamStation(rng.normal(size=3), rng.normal(size=(3, N)), turning(rng, kind), s + s.T, np.zeros((4, 4)))


def states(seed: int = 1) -> list[tuple[Array, Array, Array]]:
    """(f, ḟ, f̈); of the second f = 0."""
    rng = np.random.default_rng(seed)
    f, v, a = rng.normal(size=(3, N))
    return [(0.6 * f, v, a), (np.zeros(N), v, a), (1e-9 * f, v, a)]


def numbers(x: ca.DM) -> Array:
    return ca.DM(x).full()


@dataclass(frozen=True, eq=False)
class General(Deflection):
    """A section that is not known to turn about one axis."""

    @classmethod
    def of(cls, section: Deflection) -> General:
        return cls(**vars(section))

    @property
    def axis(self) -> None:
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_placement(kind: str) -> None:
    station = section(kind)
    for f, _, _ in states():
        r, p = station.deflection(np.eye(4)).placement(ca.DM(f))
        shear, same = station.deflection(np.eye(4), kind=FirstOrderDeflection).placement(ca.DM(f))
        theta = station.rotation @ f
        assert relative_error(numbers(r), pin.exp3(theta)) < TIGHT
        assert relative_error(numbers(shear), np.eye(3) + pin.skew(theta)) < TIGHT
        expected = station.position + station.translation @ f - [0.5 * f @ station.shortening @ f, 0, 0]
        assert relative_error(numbers(p).ravel(), expected) < TIGHT
        assert relative_error(numbers(same).ravel(), expected) < TIGHT
        e = numbers(station.deflection(np.eye(4)).transform(ca.DM(f)))
        assert (
            relative_error(e, np.block([[numbers(r), expected[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])) < TIGHT
        )


@pytest.mark.parametrize("kind", KINDS)
def test_subspace_is_the_velocity(kind: str) -> None:
    """Rᵀ Ṙ = [ω×] and Rᵀ ṗ, each by differentiation of the placement."""
    deflection = section(kind).deflection(np.eye(4))
    f, v = ca.SX.sym("f", N), ca.SX.sym("v", N)
    r, p = deflection.placement(f)
    turned = r.T @ ca.jtimes(r, f, v)
    linear, angular = deflection.subspace(f)
    both = ca.Function("S", [f, v], [turned, r.T @ ca.jtimes(p, f, v), angular @ v, linear @ v])
    for f0, v0, _ in states():
        turned0, moved0, omega, velocity = (numbers(x) for x in both(f0, v0))
        assert relative_error(turned0, pin.skew(omega.ravel())) < TIGHT
        assert relative_error(velocity, moved0) < TIGHT


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_rates(kind: str, exact: bool) -> None:
    """subspace_rate and displacement_rate against directional derivatives."""
    deflection = section(kind).deflection(np.eye(4), kind=BY_EXACTNESS[exact])
    f, v = ca.SX.sym("f", N), ca.SX.sym("v", N)
    _, p = deflection.placement(f)
    expected = [ca.jtimes(ca.densify(x), f, v) for x in deflection.subspace(f)]
    expected.append(ca.jacobian(p, f))
    expected.append(ca.jtimes(expected[-1], f, v))
    given = [*deflection.subspace_rate(f, v), deflection.displacement(f), deflection.displacement_rate(v)]
    both = ca.Function("rates", [f, v], [ca.densify(x) for x in (*given, *expected)])
    for f0, v0, _ in states():
        values = [numbers(x) for x in both(f0, v0)]
        for value, reference in zip(values[:4], values[4:], strict=True):
            assert relative_error(value, reference) < TIGHT


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_products_with_the_subspace(kind: str, exact: bool) -> None:
    """What is written without the 3 × n matrix is the product with it."""
    deflection = section(kind).deflection(np.eye(4), kind=BY_EXACTNESS[exact])
    moment = np.array([0.3, -0.8, 0.5])
    for f, v, a in states():
        _, angular = deflection.subspace(ca.DM(f))
        _, rate = deflection.subspace_rate(ca.DM(f), ca.DM(v))
        assert relative_error(numbers(deflection.angular_velocity(ca.DM(f), ca.DM(v))), numbers(angular @ v)) < TIGHT
        acceleration = numbers(deflection.angular_acceleration(ca.DM(f), ca.DM(v), ca.DM(a)))
        # to first order the rate of J_r does no work on ḟ: ϑ̇ × ϑ̇ = 0
        assert relative_error(acceleration, numbers(angular @ a + rate @ v)) < TIGHT
        forces = numbers(deflection.modal_forces(ca.DM(f), ca.DM(moment)))
        assert relative_error(forces, numbers(angular.T @ moment)) < TIGHT


def test_second_derivative_at_zero() -> None:
    """d²R = ½ ([a×][b×] + [b×][a×]) and dJ_r = −½ [a×] at f = 0, where sin t / t of t = |ϑ| has no derivative."""
    station = section("all")
    deflection = station.deflection(np.eye(4))
    f = ca.SX.sym("f", N)
    r, _ = deflection.placement(f)
    second = ca.Function("d2R", [f], [ca.jacobian(ca.jacobian(ca.vec(r), f), f)])(np.zeros(N)).full()
    second = second.reshape(3, 3, N, N, order="F")
    _, angular = deflection.subspace(f)
    slope = ca.Function("dJ", [f], [ca.jacobian(ca.vec(angular), f)])(np.zeros(N)).full().reshape(3, N, N, order="F")
    twists = [pin.skew(station.rotation[:, k]) for k in range(N)]
    for j in range(N):
        for k in range(N):
            both = twists[j] @ twists[k] + twists[k] @ twists[j]
            assert relative_error(second[:, :, j, k], both / 2) < TIGHT
            assert relative_error(slope[:, j, k], -twists[k] @ station.rotation[:, j] / 2) < TIGHT


@pytest.mark.parametrize("kind", ["planar", "oblique", "none"])
def test_one_axis_is_a_case_of_several(kind: str) -> None:
    special, general = section(kind).deflection(np.eye(4)), General.of(section(kind).deflection(np.eye(4)))
    assert special.rotation_axis is not None
    for f, v, a in states():
        f, v, a = ca.DM(f), ca.DM(v), ca.DM(a)
        pairs = [
            *zip(special.placement(f), general.placement(f), strict=True),
            *zip(special.subspace(f), general.subspace(f), strict=True),
            *zip(special.subspace_rate(f, v), general.subspace_rate(f, v), strict=True),
            (special.angular_acceleration(f, v, a), general.angular_acceleration(f, v, a)),
        ]
        for x, y in pairs:
            assert relative_error(numbers(x), numbers(y)) < TIGHT


@pytest.mark.parametrize("kind", ["all", "bending"])
def test_several_axes_are_seen(kind: str) -> None:
    assert section(kind).deflection(np.eye(4)).rotation_axis is None


@pytest.mark.parametrize(("off", "seen"), [(5e-16, False), (4e-15, True), (1e-9, True)])
def test_a_second_axis_is_seen_from_rounding_on(off: float, seen: bool) -> None:
    """Four units in the last place of the largest number are rounding."""
    rotation = np.array([[0.0, 0, off], [0, 0, 0], [1, 1, 1]])
    deflection = BeamStation(np.zeros(3), np.zeros((3, 3)), rotation, np.zeros((3, 3)), np.zeros((4, 4))).deflection(
        np.eye(4)
    )
    assert (deflection.rotation_axis is None) == seen


def test_one_axis_is_a_small_graph() -> None:
    f, v, a = (ca.SX.sym(name, N) for name in "fva")

    def size(kind: str) -> int:
        deflection = section(kind).deflection(np.eye(4))
        rotation, _ = deflection.placement(f)
        _, angular = deflection.subspace(f)
        return int(ca.n_nodes(ca.horzcat(rotation, angular, deflection.angular_acceleration(f, v, a))))

    assert size("planar") < 50 < size("bending")


def test_first_order_is_the_first_order() -> None:
    """R_E and S differ from the exact ones by what is quadratic in f."""
    station = section("all")
    exact, first = station.deflection(np.eye(4)), station.deflection(np.eye(4), kind=FirstOrderDeflection)
    f, _, _ = states()[0]

    def errors(scale: float) -> Array:
        x, y = (
            [numbers(m) for m in (d.placement(ca.DM(scale * f))[0], *d.subspace(ca.DM(scale * f)))]
            for d in (exact, first)
        )
        return np.array([np.abs(a - b).max() for a, b in zip(x, y, strict=True)])

    np.testing.assert_allclose(errors(2e-3) / errors(1e-3), 4, rtol=0.02)


def test_seen_in_another_frame() -> None:
    """In a frame in which the clamped frame stands at (R, p): E becomes (R, p) E (R, 0)⁻¹."""
    rng = np.random.default_rng(3)
    r, p = pin.exp3(rng.normal(size=3)), rng.normal(size=3)
    for kind in KINDS:
        own, seen = section(kind).deflection(np.eye(4)), section(kind).deflection(homogeneous(r, p))
        assert (own.rotation_axis is None) == (seen.rotation_axis is None)
        for f, v, _ in states():
            r_own, p_own = (numbers(x) for x in own.placement(ca.DM(f)))
            r_seen, p_seen = (numbers(x) for x in seen.placement(ca.DM(f)))
            assert relative_error(r_seen, r @ r_own @ r.T) < TIGHT
            assert relative_error(p_seen, p[:, None] + r @ p_own) < TIGHT
            for x, y in zip(seen.subspace(ca.DM(f)), own.subspace(ca.DM(f)), strict=True):
                assert relative_error(numbers(x), r @ numbers(y)) < TIGHT
            for x, y in zip(seen.subspace_rate(f, ca.DM(v)), own.subspace_rate(f, ca.DM(v)), strict=True):
                assert relative_error(numbers(x), r @ numbers(y)) < TIGHT


def test_size_and_value() -> None:
    one, same, other = (section("all", seed).deflection(np.eye(4)) for seed in (0, 0, 1))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != section("all").deflection(np.eye(4), kind=FirstOrderDeflection)
    assert pickle.loads(pickle.dumps(one)) == one
    assert (one.nq, one.nv) == (N, N)
    assert numbers(one.neutral()).shape == (N, 1)


def test_root_and_rigid_links_do_not_move() -> None:
    for n in (0, 2):
        deflection = root(n).deflection(np.eye(4))
        e = deflection.transform(ca.SX.sym("f", n))
        assert relative_error(numbers(ca.DM(e)), np.eye(4)) == 0
        linear, angular = deflection.subspace(ca.DM.zeros(n))
        assert linear.shape == angular.shape == (3, n)
        assert not numbers(linear).any()
        assert not numbers(angular).any()


def test_functions_of_the_angle() -> None:
    """c_0 … c_3 against their closed forms, and their slopes against differentiation; up to t = π."""
    for t in (0.5, 1.0, 2.0, np.pi):
        x = t * t
        closed = [np.cos(t), np.sin(t) / t, 2 * (np.sin(t / 2) / t) ** 2, (t - np.sin(t)) / t**3]
        for n, expected in enumerate(closed):
            assert abs(Angle(x).c(n) - expected) < 1e-14
        symbol = ca.SX.sym("x")
        for n in (1, 2, 3):
            slope = ca.Function("slope", [symbol], [2 * ca.jacobian(Angle(symbol).c(n), symbol)])(x)
            assert abs(float(slope) - Angle(x).slope(n)) < 1e-14
    t = 2 * np.pi
    assert abs(Angle(t * t).c(0) - 1) < 1e-7

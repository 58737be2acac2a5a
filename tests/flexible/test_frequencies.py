"""Frequencies against analytic ones: exact modes to rounding, assumed modes from above and as near as they should be.

Assumed modes are a Ritz method: every frequency comes out too high, by less with more modes. The bounds of errors are
what each set reaches, and a tenth more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin
import pytest
from numpy.polynomial import Legendre, Polynomial

import gdalembert as gd
from gdalembert import modes
from gdalembert.flexible.modes import ModeSet
from gdalembert.spatial.arrays import Array
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

TIGHT = 1e-12
ROUNDING = 1e-10  # relative, of a frequency by a full eigenvalue problem whose eigenvalues span six decades

L, MU, EI = 0.8, 0.7, 12.0
UNIT = math.sqrt(EI / (MU * L**4))  # ω = x² UNIT of a uniform beam, x = β l

X, Y, Z = np.eye(3)


def body(pseudo_inertia: Array) -> pin.Inertia:
    mass = pseudo_inertia[3, 3]
    com = pseudo_inertia[:3, 3] / mass
    second = pseudo_inertia[:3, :3] - mass * np.outer(com, com)
    return pin.Inertia(mass, com, np.trace(second) * np.eye(3) - second)


def point(mass: float, inertia: float = 0.0) -> pin.Inertia:
    """A body with its centre on the axis of the beam."""
    return pin.Inertia(mass, np.zeros(3), inertia * np.eye(3))


def turned(about_x: float) -> Array:
    """A clamped frame at the link frame, turned about the beam."""
    return np.asarray(pin.SE3(pin.AngleAxis(about_x, X).toRotationMatrix(), np.zeros(3)).homogeneous)


def serial(
    *links: gd.FlexibleLink, axes: Sequence[Array] | None = None, gravity: Array | None = None
) -> gd.FlexibleArm:
    """Revolute joints with links along x, of which each begins where the last one ends."""
    model = pin.Model()
    model.gravity = pin.Motion(np.zeros(3) if gravity is None else gravity, np.zeros(3))
    parent, start = 0, 0.0
    for k, link in enumerate(links):
        axis = Z if axes is None else axes[k]
        joint = pin.JointModelRevoluteUnaligned(axis)
        parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), start * X), f"joint{k + 1}")
        model.addBodyFrame(f"link{k + 1}", parent, pin.SE3.Identity(), 0)
        assert isinstance(link.beam, gd.Beam)
        clamped = pin.SE3(link.root)
        model.appendBodyToJoint(parent, clamped.act(body(link.beam.pseudo_inertia)), pin.SE3.Identity())
        if link.hub is not None:
            model.appendBodyToJoint(parent, clamped.act(link.hub), pin.SE3.Identity())
        start = link.length
    return gd.FlexibleArm(model, {f"link{k + 1}": link for k, link in enumerate(links)})


def uniform(length: float = L, **arguments: object) -> gd.FlexibleLink:
    """A massive line of constant stiffness."""
    beam = gd.Beam(length, MU, EI_y=EI, EI_z=EI)
    return gd.FlexibleLink(beam, root=np.eye(4), **arguments)  # type: ignore[arg-type]


def frequencies(arm: gd.FlexibleArm, joints: str = "locked") -> Array:
    return arm.natural_frequencies(np.zeros(arm.tree.nq), joints=joints)


def bisected(f: Callable[[float], float], count: int, step: float = 0.02) -> Array:
    """The first positive roots of f, to the last bit."""
    roots: list[float] = []
    low = step
    while len(roots) < count:
        high = low + step
        if f(low) * f(high) < 0:
            a, b = low, high
            while a < (middle := (a + b) / 2) < b:
                a, b = (middle, b) if f(middle) * f(low) > 0 else (a, middle)
            roots.append(b)
        low = high
    return np.array(roots)


def beam_roots(count: int, *, hub: float | None = None, mass: float = 0.0, inertia: float = 0.0) -> Array:
    """β l of a beam on a hub that turns freely (``None``: clamped), with a body on its tip.

    J_h = hub μ l³, m_t = mass μ l, j_t = inertia μ l³. w = b (sin + sinh + hub x³ (cos − cosh)) + c (sin − sinh), so
    that w(0) = 0 and EI w''(0) = −ω² J_h w'(0); the determinant of EI w''(l) = ω² j_t w'(l), EI w'''(l) = −ω² m_t w(l),
    over cosh x.
    """

    def determinant(x: float) -> float:
        c, s, th, small = math.cos(x), math.sin(x), math.tanh(x), 1 / math.cosh(x)
        m, j = mass * x, inertia * x**3
        clamped = small + c + m * (c * th - s) - j * (c * th + s) + m * j * (small - c)
        pinned = c * th - s - 2 * m * s * th - 2 * j * c + m * j * (s - c * th)
        return clamped if hub is None else hub * x**3 * clamped - pinned

    return bisected(determinant, count)


def test_the_analytic_roots() -> None:
    """Those that books print, and limits."""
    assert beam_roots(4) == pytest.approx([1.87510407, 4.69409113, 7.85475744, 10.99554073], abs=1e-8)
    assert beam_roots(4, hub=0.0) == pytest.approx([3.92660231, 7.06858275, 10.21017612, 13.35176878], abs=1e-8)
    assert beam_roots(3, mass=1.0) == pytest.approx([1.24791741, 4.03113944, 7.13413224], abs=1e-8)
    assert beam_roots(2, hub=1e9) == pytest.approx(beam_roots(2), rel=1e-8)  # off by 1 / hub
    heavy = beam_roots(3, mass=1e4, inertia=1e4)  # two of the body on the beam, then those of a clamped tip
    assert heavy[2] == pytest.approx(4.73004074, rel=1e-4)


@pytest.mark.parametrize("count", [1, 4, 12])
def test_clamped_beam(count: int) -> None:
    exact = beam_roots(count) ** 2 * UNIT
    for direction in ("bending_y", "bending_z"):
        link = uniform(**{direction: modes.clamped_free(count)}, foreshortening=False)  # which nothing shows at rest
        found = frequencies(serial(link))
        assert np.abs(found / exact - 1).max() < TIGHT


@pytest.mark.parametrize(("mass", "inertia"), [(1.0, 0.0), (0.5, 0.1), (0.0, 0.3)])
def test_exact_modes_with_a_loaded_tip(mass: float, inertia: float) -> None:
    tip = point(mass * MU * L, inertia * MU * L**3)
    link = uniform(bending_y=modes.clamped_tip(8, mass, inertia), tip_body=tip, foreshortening=False)
    found = frequencies(serial(link))
    exact = beam_roots(8, mass=mass, inertia=inertia) ** 2 * UNIT
    assert np.abs(found / exact - 1).max() < TIGHT


HUB, TIP_MASS, TIP = {"hub": 0.1}, {"mass": 1.0}, {"mass": 0.5, "inertia": 0.1}
FREE_2, FREE_4, FREE_8 = (modes.clamped_free(n) for n in (2, 4, 8))
HERMITE, STATIC_4, POWERS_4 = modes.hermite(), modes.craig_bampton(2), modes.polynomial(4)

ERRORS: list[tuple[dict[str, float], ModeSet, float, float]] = [
    # what the beam stands on and carries, modes, relative errors of the first and the second frequency
    ({}, HERMITE, 4.8e-3, 0.58),
    ({}, STATIC_4, 5.9e-5, 1.1e-3),
    ({}, POWERS_4, 1.6e-6, 5.6e-3),
    (HUB, FREE_2, 4.9e-5, 7.8e-5),
    (HUB, FREE_4, 5.3e-7, 7.4e-7),
    (HUB, FREE_8, 4.5e-9, 6.3e-9),
    (HUB, HERMITE, 1.3e-3, 0.58),
    (HUB, STATIC_4, 7.7e-5, 1.2e-3),
    (HUB, POWERS_4, 3.0e-5, 6.0e-3),
    ({"hub": 0.0}, FREE_2, 1.1e-3, 0.49),
    ({"hub": 0.0}, FREE_4, 1.2e-5, 4.3e-4),
    ({"hub": 0.0}, FREE_8, 9.7e-8, 3.5e-6),
    ({"hub": 0.0}, HERMITE, 0.14, 0.41),
    ({"hub": 0.0}, STATIC_4, 4.4e-4, 1.1e-2),
    ({"hub": 0.0}, POWERS_4, 1.8e-3, 2.5e-2),
    (TIP_MASS, FREE_2, 1.6e-3, 1.9e-2),
    (TIP_MASS, FREE_4, 2.1e-4, 2.5e-3),
    (TIP_MASS, FREE_8, 2.6e-5, 3.2e-4),
    (TIP_MASS, HERMITE, 1.8e-4, 0.35),
    (TIP_MASS, STATIC_4, 2.3e-6, 2.6e-5),
    (TIP_MASS, POWERS_4, 8.3e-8, 1.3e-3),
    (TIP, FREE_2, 1.3e-2, 0.38),
    (TIP, FREE_4, 5.1e-3, 0.17),
    (TIP, FREE_8, 2.3e-3, 7.5e-2),
    (TIP, HERMITE, 2.6e-4, 7.4e-3),
    (TIP, STATIC_4, 3.6e-6, 2.4e-5),
    (TIP, POWERS_4, 1.6e-7, 9.5e-6),
    (HUB | TIP, FREE_2, 9.7e-2, 0.31),
    (HUB | TIP, FREE_4, 4.9e-2, 0.13),
    (HUB | TIP, FREE_8, 2.4e-2, 5.8e-2),
    (HUB | TIP, HERMITE, 1.8e-3, 2.3e-3),
    (HUB | TIP, STATIC_4, 1.1e-6, 2.4e-5),
    (HUB | TIP, POWERS_4, 6.7e-6, 3.2e-6),
    (HUB | TIP, modes.clamped_tip(2, 0.5, 0.1), 2.8e-4, 1.7e-3),
]


@pytest.mark.parametrize(("ends", "shapes", "first", "second"), [*ERRORS[::3], *quick([*ERRORS[1::3], *ERRORS[2::3]])])
def test_assumed_modes(ends: dict[str, float], shapes: ModeSet, first: float, second: float) -> None:
    hub, mass, inertia = ends.get("hub"), ends.get("mass", 0.0), ends.get("inertia", 0.0)
    link = uniform(
        bending_y=shapes,
        hub=point(0.2, hub * MU * L**3) if hub else None,
        tip_body=point(mass * MU * L, inertia * MU * L**3) if mass else None,
    )
    found = frequencies(serial(link)) if hub is None else frequencies(serial(link), "free")[1:]
    errors = found[:2] / (beam_roots(2, hub=hub, mass=mass, inertia=inertia) ** 2 * UNIT) - 1
    assert np.all(errors > 0)
    assert np.all(errors < 1.1 * np.array([first, second]))


def test_a_free_joint_has_no_stiffness() -> None:
    """The lowest frequency of a free arm is the rotation of all, 0 but for the root of rounding."""
    assert frequencies(serial(uniform(bending_y=STATIC_4)), "free")[0] < 1e-4 * UNIT


@pytest.mark.parametrize(
    ("shapes", "first", "second"),
    [
        (HERMITE, 4.5e-4, 8.5e-3),  # with a tenth more 5e-4, of which 4.84e-4 are reached
        (modes.craig_bampton(1), 8.0e-6, 1.4e-3),
        (STATIC_4, 3.7e-6, 9.2e-5),
        (modes.craig_bampton(4), 2.9e-7, 9.8e-6),
        (FREE_2, 3.1e-2, 0.13),
        (modes.clamped_free(5), 1.1e-2, 4.4e-2),
    ],
)
def test_two_collinear_links_are_one_beam(shapes: ModeSet, first: float, second: float) -> None:
    """Both joints locked; of more modes in each link the better."""
    found = frequencies(serial(uniform(L / 2, bending_y=shapes), uniform(L / 2, bending_y=shapes)))
    errors = found[:2] / (beam_roots(2) ** 2 * UNIT) - 1
    assert np.all(errors > 0)
    assert np.all(errors < 1.1 * np.array([first, second]))


@pytest.mark.parametrize("direction", ["torsion", "extension"])
def test_torsion_and_extension(direction: str) -> None:
    """ω = (k − ½) π/l √(GJ / (j_y + j_z)), and √(EA / μ) in the root's place."""
    gj, ea, j_y, j_z = 5.0, 2e5, 3e-4, 1e-4
    beam = gd.Beam(L, MU, EA=ea, GJ=gj, section_inertia=(j_y, j_z))
    link = gd.FlexibleLink(beam, root=np.eye(4), **{direction: modes.sine(3)})  # type: ignore[arg-type]
    speed = math.sqrt(gj / (j_y + j_z)) if direction == "torsion" else math.sqrt(ea / MU)
    exact = (np.arange(3) + 0.5) * math.pi / L * speed
    assert np.abs(frequencies(serial(link)) / exact - 1).max() < TIGHT


# Tapered beams.


def bessel(n: int, z: float, sign: int) -> float:
    """J_n (sign −1) or I_n (sign 1), by its series."""
    terms = ((sign**k) * (z / 2) ** (2 * k + n) / (math.factorial(k) * math.factorial(k + n)) for k in range(60))
    return math.fsum(terms)


@pytest.mark.parametrize(("power", "printed"), [(1, 5.315), (2, 8.719)])
@pytest.mark.parametrize("direction", quick(["bending_y", "bending_z"], "bending_y"))
def test_a_wedge_and_a_cone(power: int, printed: float, direction: str) -> None:
    """μ ~ x^n and EI ~ x^(n+2) from a sharp tip, x = 1 − η/l: n = 1 a wedge, n = 2 a cone (Kirchhoff).

    With D w = x^−n (x^(n+1) w')' the equation is D D w = λ w, solved by x^(−n/2) J_n and I_n of z = 2 (λ x²)^¼; clamped
    at x = 1: J_n I_{n+1} + I_n J_{n+1} = 0, ω = z²/4 √(EI/(μ l⁴)).
    """

    def determinant(z: float) -> float:
        return bessel(power, z, -1) * bessel(power + 1, z, 1) + bessel(power, z, 1) * bessel(power + 1, z, -1)

    exact = bisected(determinant, 2) ** 2 / 4 * UNIT
    assert exact[0] / UNIT == pytest.approx(printed, abs=6e-4)

    def stiffness(eta: Array) -> Array:
        return EI * (1 - eta / L) ** (power + 2)

    beam = gd.Beam(L, lambda eta: MU * (1 - eta / L) ** power, EI_y=stiffness, EI_z=stiffness)
    link = gd.FlexibleLink(beam, root=np.eye(4), **{direction: modes.polynomial(8)})  # type: ignore[arg-type]
    assert np.abs(frequencies(serial(link))[:2] / exact - 1).max() < ROUNDING


# Rotating beams.

SPINS = {1: 3.6816, 2: 4.1373, 3: 4.7973, 4: 5.5850, 6: 7.3604, 8: 9.2568, 10: 11.2023, 12: 13.1702}
"""Spin in UNIT, and the first flap frequency in UNIT."""


def rotating_beam(spin: float, radius: float = 0.0) -> Array:
    """Flap frequencies in UNIT of EI w'''' − (T w')' + μ w_tt = 0, T = μ Ω² ∫ (radius + x) dx from η to l.

    By Ritz with 12 polynomials. In UNIT and lengths in l: T = spin² (radius (1 − ξ) + (1 − ξ²)/2).
    """
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = (x + 1) / 2, w / 2
    square = Polynomial([0.0, 0.0, 1.0])
    shapes = [square * Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in range(12)]
    values, slopes, curvatures = (np.array([p.deriv(order)(x) for p in shapes]) for order in (0, 1, 2))
    tension = spin**2 * (radius * (1 - x) + (1 - x**2) / 2)
    stiffness = (curvatures * w) @ curvatures.T + (slopes * tension * w) @ slopes.T
    return np.sqrt(eigenvalues((values * w) @ values.T, stiffness))


def eigenvalues(mass: Array, stiffness: Array) -> Array:
    half = np.linalg.inv(np.linalg.cholesky(mass))
    return np.linalg.eigvalsh(half @ stiffness @ half.T)


def spinning(arm: gd.FlexibleArm, spin: float) -> tuple[Array, Array]:
    """Squares of the flap (z) and lag (y) frequencies, in UNIT², as joint 1 turns at a held speed: the modal rows."""
    nv = arm.tree.nv
    q, v, a = np.zeros(nv), np.zeros(nv), np.zeros(nv)
    v[0] = spin * UNIT
    assert np.abs(arm.inverse_dynamics(q, v, a).full()[arm.modes]).max() < 1e-9  # straight, it is in equilibrium
    by_q, by_v = (x.full() for x in arm.inverse_dynamics_derivatives(q, v, a))
    mass = arm.mass_matrix(q).full()
    assert not by_v[np.ix_(arm.modes, arm.modes)].any()  # no gyroscopic terms
    found = []
    for letter in "zy":
        rows = [k for k in arm.modes if arm.layout[k].split()[1].startswith(letter)]
        block = np.ix_(rows, rows)
        assert relative_error(by_q[block], by_q[block].T) < TIGHT
        found.append(eigenvalues(mass[block], by_q[block]) / UNIT**2)
    return found[0], found[1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("shapes", "slow", "fast"),
    [
        # errors of the first frequency at spin 1 and, the largest, at spin 12
        (FREE_2, 7.2e-6, 8.4e-3),
        (FREE_4, 3.0e-7, 9.7e-4),
        (STATIC_4, 6.2e-5, 2.6e-3),
        (modes.polynomial(6), 1e-9, 1.8e-5),
    ],
)
def test_a_rotating_beam(shapes: ModeSet, slow: float, fast: float) -> None:
    arm = serial(uniform(bending_y=shapes, bending_z=shapes))
    errors = []
    for spin, printed in SPINS.items():
        exact = rotating_beam(spin)[0]
        assert exact == pytest.approx(printed, abs=6e-5)
        flap, lag = spinning(arm, spin)
        errors.append(math.sqrt(flap[0]) / exact - 1)
        assert relative_error(lag, flap - spin**2) < ROUNDING  # what moves in the plane feels the centrifugal force
    assert min(errors) > -ROUNDING
    assert errors[0] < 1.1 * slow
    assert max(errors) < 1.1 * fast


def test_without_foreshortening_the_lag_becomes_unstable() -> None:
    """Ω² softens what moves in the plane, and nothing stiffens: ω² = ω₁² − Ω², and the flap does not know of it."""
    arm = serial(uniform(bending_y=FREE_2, bending_z=FREE_2, foreshortening=False))
    first = beam_roots(1)[0] ** 2
    assert first == pytest.approx(3.516, abs=5e-5)
    for spin in (1.0, 3.515, 3.517, 10.0):
        flap, lag = spinning(arm, spin)
        assert flap[0] == pytest.approx(first**2, rel=TIGHT)
        assert lag[0] == pytest.approx(first**2 - spin**2, rel=TIGHT * (first**2 + spin**2) / abs(first**2 - spin**2))
        assert (lag[0] > 0) == (spin < first)


@pytest.mark.parametrize(("spin", "largest"), [(1, ROUNDING), (4, 6.6e-7), (12, 2.1e-4)])
def test_a_rotating_beam_on_a_stiff_arm(spin: int, largest: float) -> None:
    """The first link is as long as the beam and does not flap: the beam stands on a hub of that radius."""
    stiff = gd.FlexibleLink(gd.Beam(L, MU, EI_z=EI), root=np.eye(4), bending_y=modes.clamped_free(1))
    arm = serial(stiff, uniform(bending_z=modes.polynomial(6)))
    flap, _ = spinning(arm, spin)
    error = math.sqrt(flap[0]) / rotating_beam(spin, radius=1.0)[0] - 1
    assert -ROUNDING < error < 1.1 * largest


@pytest.mark.long
@pytest.mark.parametrize(
    ("spin", "first", "second"),
    [(1, 3.6e-6, 9.2e-5), (4, 9.3e-6, 9.7e-5), (12, 2.0e-4, 3.1e-4)],
)
def test_two_rotating_links_are_one_beam(spin: int, first: float, second: float) -> None:
    """The pull of the outer link stiffens the inner one, through the joint between them."""
    half = uniform(L / 2, bending_y=STATIC_4, bending_z=STATIC_4)
    flap, lag = spinning(serial(half, half), spin)
    errors = np.sqrt(flap[:2]) / rotating_beam(spin)[:2] - 1
    assert np.all(errors > 0)
    assert np.all(errors < 1.1 * np.array([first, second]))
    assert relative_error(lag, flap - spin**2) < ROUNDING


# Which stiffness and inertia.


def test_which_stiffness_and_inertia_bending_sees() -> None:
    """Bending in y sees EI_z and j_z, in z EI_y and j_y: the matrices of a beam element with section inertia."""
    ei, j = {"y": 12.0, "z": 30.0}, {"y": 2e-3, "z": 4e-3}  # of bending in y, and in z
    beam = gd.Beam(L, MU, EI_y=ei["z"], EI_z=ei["y"], section_inertia=(j["z"], j["y"]))
    arm = serial(gd.FlexibleLink(beam, root=np.eye(4), bending_y=HERMITE, bending_z=HERMITE))
    mass = arm.mass_matrix(np.zeros(5)).full()
    for rows, direction in ((slice(1, 3), "y"), (slice(3, 5), "z")):
        line = MU * L / 420 * np.array([[156, -22 * L], [-22 * L, 4 * L**2]])
        turning = j[direction] / (30 * L) * np.array([[36, -3 * L], [-3 * L, 4 * L**2]])
        assert relative_error(mass[rows, rows], line + turning) < TIGHT
        bent = ei[direction] / L**3 * np.array([[12, -6 * L], [-6 * L, 4 * L**2]])
        assert relative_error(arm.stiffness_matrix[rows, rows], bent) < TIGHT

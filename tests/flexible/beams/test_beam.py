"""Beams: sections against their closed forms, tapers against exact integrals, and bad input."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.quadrature import Quadrature, converged
from gdalembert.spatial.arguments import number

TIGHT = 1e-13
STEEL = {"density": 7800.0, "youngs_modulus": 2e11, "poisson_ratio": 0.3}


def close(value: float, wanted: float) -> bool:
    return abs(value - wanted) <= TIGHT * abs(wanted)


def taper(eta: np.ndarray) -> np.ndarray:
    return 0.05 - 0.02 * eta


def test_tube() -> None:
    beam = Beam.tube(1.5, 0.06, 0.004, **STEEL)
    area, second = math.pi * (0.03**2 - 0.026**2), math.pi / 4 * (0.03**4 - 0.026**4)
    assert close(beam.mass_per_length, 7800 * area)
    assert close(beam.EA, 2e11 * area)
    assert close(beam.EI_y, 2e11 * second)
    assert close(beam.EI_z, 2e11 * second)
    assert close(beam.GJ, 2e11 / 2.6 * 2 * second)
    assert close(beam.section_inertia[0], 7800 * second)
    assert close(beam.section_inertia[1], 7800 * second)
    assert close(beam.mass, 7800 * area * 1.5)


def test_a_tube_with_the_thickest_wall_is_round() -> None:
    tube = Beam.tube(1.0, 0.06, 0.03, density=1.0, youngs_modulus=2.0, shear_modulus=3.0)
    solid = Beam.round(1.0, 0.06, density=1.0, youngs_modulus=2.0, shear_modulus=3.0)
    assert close(solid.GJ, 3 * math.pi * 0.03**4 / 2)
    for name in ("mass_per_length", "EI_y", "EI_z", "EA", "GJ"):
        assert close(getattr(tube, name), getattr(solid, name))


def test_a_wall_is_the_radius_to_rounding() -> None:
    """A wall thicker by less than 1e-12 of the radius leaves no hole; one by more is refused."""
    near, far = (Beam.tube(1.0, 0.06, lambda eta, beyond=beyond: 0.03 * (1 + beyond) + 0 * eta, **STEEL)
                 for beyond in (5e-13, 5e-12))  # fmt: skip
    assert close(near.along("EI_z", 0.5)[0], 2e11 * math.pi / 4 * 0.03**4)
    with pytest.raises(ArgumentError, match="is more than the radius"):
        far.along("EI_z", 0.5)
    thickening = Beam.tube(1.0, 0.1, lambda eta: 0.04 + 0.02 * eta, **STEEL)
    with pytest.raises(ArgumentError, match=r"wall: 0\.058 m is more than the radius of 0\.05 m at 0\.9 m"):
        thickening.along("EI_z", np.array([0.2, 0.9]))


def test_rectangle() -> None:
    """Its width lies along y: it bends in y by I_z = h w³/12."""
    beam = Beam.rectangle(2.0, 0.02, 0.05, density=7800.0, youngs_modulus=2e11, shear_modulus=8e10)
    assert close(beam.EI_z, 2e11 * 0.05 * 0.02**3 / 12)
    assert close(beam.EI_y, 2e11 * 0.02 * 0.05**3 / 12)
    assert close(beam.section_inertia[0], 7800 * 0.02 * 0.05**3 / 12)
    assert close(beam.section_inertia[1], 7800 * 0.05 * 0.02**3 / 12)
    assert close(beam.mass_per_length, 7800 * 0.001)


@pytest.mark.parametrize(("ratio", "wanted"), [(1, 0.1406), (2, 0.229), (10, 0.312), (1000, 0.33312)])
def test_torsion_constant_of_a_rectangle(ratio: float, wanted: float) -> None:
    """J / a b³ as Timoshenko and Goodier tabulate it; (1 − 0.63 b/a) / 3 for a strip. Either way up."""
    short = 0.01
    up, flat = (
        Beam.rectangle(1.0, *sides, density=1.0, youngs_modulus=1.0, shear_modulus=1.0)
        for sides in ((short, ratio * short), (ratio * short, short))
    )
    assert abs(up.GJ / (ratio * short**4) - wanted) < (5e-4 if ratio < 1000 else 5e-6)
    assert close(flat.GJ, up.GJ)


def prandtl(w: float, h: float, n: int) -> float:
    """J = 2∫φ of Prandtl's stress function ∇²φ = −2 on a grid of n × n, in eigenfunctions of its Laplacian."""
    k = np.arange(1, n)
    sines = np.sin(np.pi * np.outer(k, k) / n)
    of_one, total = sines.sum(axis=1) * 2 / n, sines.sum(axis=1)
    lx, ly = (4 * (n / side) ** 2 * np.sin(np.pi * k / (2 * n)) ** 2 for side in (w, h))
    phi = 2 * np.outer(of_one, of_one) / (lx[:, None] + ly[None])
    return float(2 * (total @ phi @ total) * (w / n) * (h / n))


def test_torsion_constant_against_finite_differences() -> None:
    w, h = 1.0, 1.5
    coarse, fine = prandtl(w, h, 100), prandtl(w, h, 200)
    beam = Beam.rectangle(1.0, w, h, density=1.0, youngs_modulus=1.0, shear_modulus=1.0)
    # the error of the grid falls with the square of its step; 1e-7 is what is left after extrapolation
    assert abs(beam.GJ - (4 * fine - coarse) / 3) < 1e-7


@pytest.mark.parametrize("sides", [(0.01, 0.01), (0.01, 0.015)])
def test_torsion_constant_to_rounding(sides: tuple[float, float]) -> None:
    """The series with the sides exchanged, which is another one with the same sum, by so many terms as are felt."""
    b, a = sides
    series = math.fsum(math.tanh(k * math.pi * b / (2 * a)) / k**5 for k in range(1, 20001, 2))
    wanted = b * a**3 * (1 / 3 - 64 * a / (math.pi**5 * b) * series)
    beam = Beam.rectangle(1.0, *sides, density=1.0, youngs_modulus=1.0, shear_modulus=1.0)
    assert close(beam.GJ, wanted)


def test_shear_modulus() -> None:
    material = {"density": 1.0, "youngs_modulus": 3.0}
    assert Beam.round(1.0, 0.1, **material).GJ is None
    isotropic = Beam.round(1.0, 0.1, **material, poisson_ratio=0.5)
    assert close(isotropic.GJ, Beam.round(1.0, 0.1, **material, shear_modulus=1.0).GJ)
    auxetic = Beam.round(1.0, 0.1, **material, poisson_ratio=-0.95)
    assert close(auxetic.GJ, Beam.round(1.0, 0.1, **material, shear_modulus=30.0).GJ)


def test_shear_stiffness_is_of_cowper() -> None:
    """κ of a solid circle, a thin tube, a tube whose bore is half its diameter, and a rectangle; ν = E / 2G − 1."""
    material, g, nu = {"density": 1.0, "youngs_modulus": 2.6}, 1.0, 0.3
    for beam, kappa in (
        (Beam.round(1.0, 0.1, **material, poisson_ratio=nu), 6 * (1 + nu) / (7 + 6 * nu)),
        (Beam.tube(1.0, 0.1, 1e-9, **material, shear_modulus=g), 2 * (1 + nu) / (4 + 3 * nu)),
        (Beam.tube(1.0, 0.1, 0.025, **material, poisson_ratio=nu), 9.75 / (8.8 * 1.25 + 23.6 * 0.25 / 1.25)),
        (Beam.rectangle(1.0, 0.1, 0.2, **material, poisson_ratio=nu), 10 * (1 + nu) / (12 + 11 * nu)),
    ):
        assert abs(beam.GA_y / (kappa * g * beam.mass_per_length) - 1) < 1e-7
        assert beam.GA_z == beam.GA_y
    tapered = Beam.tube(1.0, taper, lambda eta: taper(eta) / 4, **material, poisson_ratio=nu)
    assert np.allclose(tapered.along("GA_y", [0.2, 0.9]) / tapered.along("EA", [0.2, 0.9]), 9.75 / 15.72 / 2.6)
    assert Beam.round(1.0, 0.1, **material).GA_y is None


@pytest.mark.parametrize(("shear_modulus", "isotropic"), [(100.0, True), (1 / 3, True), (0.33, False), (0.01, False)])
def test_shear_coefficient_is_that_of_isotropic_materials(shear_modulus: float, isotropic: bool) -> None:
    """ν = E / 2G − 1 above 0.5, as of fibre composites, has torsion alone."""
    material = {"density": 1.0, "youngs_modulus": 1.0, "shear_modulus": shear_modulus}
    for beam in (Beam.round(1.0, 0.1, **material), Beam.rectangle(1.0, 0.1, lambda eta: 0.2 + eta, **material)):
        assert beam.GJ is not None
        assert (beam.GA_y is not None) == (beam.GA_z is not None) == isotropic


def test_uniform_pseudo_inertia() -> None:
    beam = Beam(2.0, 3.0, section_inertia=(0.1, 0.4))
    wanted = np.zeros((4, 4))
    wanted[0, 0], wanted[0, 3], wanted[3, 0], wanted[3, 3] = 8.0, 6.0, 6.0, 6.0
    wanted[1, 1], wanted[2, 2] = 0.8, 0.2  # ∫∫ρσ_y² = j_z l, ∫∫ρσ_z² = j_y l
    assert np.abs(beam.pseudo_inertia - wanted).max() < 1e-14
    assert np.abs(beam.center_of_mass - [1, 0, 0]).max() < 1e-15


@pytest.mark.parametrize("scalar", [False, True])
def test_tapered_tube(scalar: bool) -> None:
    """A cone, by its volume and moments; its diameter by arrays, or by single numbers."""
    diameter = (lambda eta: 0.05 - 0.02 * eta if eta < 9 else 0.0) if scalar else taper
    beam = Beam.round(1.2, diameter, **STEEL)
    a, b, end = 0.05, 0.02, 1.2
    mass = 7800 * math.pi / 4 * (a**2 * end - a * b * end**2 + b**2 * end**3 / 3)
    moment = 7800 * math.pi / 4 * (a**2 * end**2 / 2 - 2 * a * b * end**3 / 3 + b**2 * end**4 / 4)
    polar = 7800 * math.pi / 64 * (a**5 - (a - b * end) ** 5) / (5 * b)
    assert close(beam.mass, mass)
    assert close(beam.center_of_mass[0], moment / mass)
    assert close(beam.pseudo_inertia[1, 1], polar)
    assert close(beam.pseudo_inertia[2, 2], polar)
    assert close(beam.along("EI_z", 0.7)[0], 2e11 * math.pi / 64 * (0.05 - 0.014) ** 4)


def test_stepped_beam() -> None:
    """A jump that is named costs nothing; one that is not is refused."""

    def step(eta: np.ndarray) -> np.ndarray:
        return np.where(eta < 0.3, 2.0, 1.0)

    assert close(Beam(1.0, step, breaks=(0.3,)).mass, 1.3)
    with pytest.raises(ArgumentError, match=r"still change by .* name the abscissae .* as breaks="):
        _ = Beam(1.0, step).mass


def test_a_beam_without_length() -> None:
    """Its sections are known, its mass is not; breaks are checked when the length is known."""
    waiting = Beam.tube(None, taper, 0.003, **STEEL, breaks=(0.8,))
    assert waiting.length is None
    given = Beam.tube(1.2, taper, 0.003, **STEEL, breaks=(0.8,))
    assert waiting.with_length(1.2) == given
    assert waiting.with_length(1.2).mass == given.mass
    assert np.array_equal(waiting.along("EI_z", 0.3), given.along("EI_z", 0.3))
    assert Beam(length=None, mass_per_length=1) == Beam(None, 1) != Beam(1.0, 1)
    for ask in (lambda: waiting.mass, lambda: waiting.center_of_mass, lambda: waiting.pseudo_inertia):
        with pytest.raises(ArgumentError, match=r"^Beam: it has no length before an arm gives it one; ask with_length"):
            ask()
    with pytest.raises(ArgumentError, match=r"breaks: 0.8 m lies outside the beam of 0.7 m"):
        waiting.with_length(0.7)
    with pytest.raises(ArgumentError, match=r"length: got -1"):
        waiting.with_length(-1)


def test_by_value() -> None:
    beam, same, other = (Beam.tube(1.0, taper, wall, **STEEL) for wall in (0.003, 0.003, 0.004))
    assert beam == same
    assert hash(beam) == hash(same)
    assert beam != other
    again = pickle.loads(pickle.dumps(beam))
    assert again == beam
    assert again.mass == beam.mass
    assert Beam(1, 2, EI_z=3) == Beam(1.0, 2.0, EI_z=3.0)


def test_quadrature() -> None:
    over = Quadrature.of(0.2, 1.7, 3, (0.5, 2.0))
    assert np.allclose(over.edges, [0.2, 0.5, 0.7, 1.2, 1.7], atol=1e-15)
    for power in (0, 1, 7, 39):
        exact = (1.7 ** (power + 1) - 0.2 ** (power + 1)) / (power + 1)
        assert abs(over.weights @ over.points**power - exact) < 1e-13 * exact
    values = np.array([np.cos(3 * over.points), np.exp(over.points)])
    wanted = [(np.sin(3 * over.points) - np.sin(0.6)) / 3, np.exp(over.points) - np.exp(0.2)]
    assert np.abs(over.running(values) - wanted).max() < 1e-14


def test_integrals_take_as_many_panels_as_they_need() -> None:
    tried = []

    def wave(panels: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        tried.append(panels)
        over = Quadrature.of(0, 1, panels)
        return [np.array([over.weights @ np.cos(100 * over.points)])], [np.array([1.0])]

    (value,), _ = converged("wave", wave, 1)
    assert abs(value[0] - math.sin(100) / 100) < 1e-14
    assert 4 <= max(tried) <= 32


@pytest.mark.parametrize(("change", "tries"), [(5e-14, 2), (5e-13, 8), (5e-10, 8), (5e-9, 8)])
def test_when_integrals_have_settled(change: float, tries: int) -> None:
    """To 1e-13 of their size at once; after seven doublings 1e-9 is taken, and more is refused."""
    tried: list[int] = []

    def unsteady(panels: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        tried.append(panels)
        return [np.array([1.0 + change * (len(tried) % 2), 0.0])], [np.array([1.0, 0.0])]

    if change < 1e-9:
        (value,), _ = converged("unsteady", unsteady, 3)
        assert abs(value[0] - 1) <= change
    else:
        with pytest.raises(ArgumentError, match=r"^unsteady: .* still change by 5.0e-09 of their size on 384 panels"):
            converged("unsteady", unsteady, 3)
    assert tried == [3 * 2**k for k in range(tries)]


def test_integrals_that_are_no_number_have_not_settled() -> None:
    with pytest.raises(ArgumentError, match="still change by nan of their size"):
        converged("lost", lambda panels: ([np.array([np.nan])], [np.array([1.0])]), 1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Beam(0, 1), ArgumentError, r"^Beam: length: got 0; give one finite number \[m\], above 0$"),
        (lambda: Beam(1, -2.0), ArgumentError, r"mass_per_length: got -2.0; .* \[kg/m\], above 0"),
        (lambda: Beam(1, 1, EI_z=math.nan), ArgumentError, r"EI_z: got nan; .*N m²"),
        (lambda: Beam(1, 1, EI_y="stiff"), ArgumentTypeError, r"EI_y: expected a number \[N m²\], got 'stiff'"),
        (lambda: Beam(1, None), ArgumentTypeError, r"mass_per_length: expected a number"),
        (lambda: Beam(True, 1), ArgumentTypeError, r"length: expected a number \[m\], got True"),
        (lambda: Beam(1, 1, section_inertia=0.1), ArgumentTypeError, r"section_inertia: got 0.1; give \(j_y, j_z\)"),
        (lambda: Beam(1, 1, section_inertia=(0, -1)), ArgumentError, r"section_inertia j_z: got -1; .*at least 0"),
        (lambda: Beam(1, 1, breaks=(0.5, 1.0)), ArgumentError, r"breaks: 1 m lies outside the beam of 1 m"),
        (lambda: Beam(1, lambda eta: 1 - 2 * eta).mass, ArgumentError, r"mass_per_length: -.* at 0.5.* m; .*above 0"),
        (lambda: Beam(1, lambda eta: "x").mass, ArgumentTypeError, r"one number \[kg/m\] for each abscissa"),
        (lambda: Beam(1, 1).along("EI_z", 0.5), ArgumentError, r"EI_z is needed for these modes; give it \[N m²\]"),
        (lambda: Beam.tube(1, 0.1, 0.06, **STEEL), ArgumentError, r"wall: 0.06 m is more than the radius of 0.05 m"),
        (lambda: Beam.tube(1, 0.1, 0, **STEEL), ArgumentError, r"Beam.tube: wall: got 0"),
        (lambda: Beam.rectangle(1, -0.1, 1, **STEEL), ArgumentError, r"Beam.rectangle: width: got -0.1"),
        (lambda: Beam.round(1, 0.1, **STEEL, shear_modulus=1.0), ArgumentError, r"give one of them"),
        (lambda: Beam.round(1, 0.1, **(STEEL | {"density": 0})), ArgumentError, r"Beam.round: density: got 0"),
        (lambda: Beam.round(1, 0.1, **(STEEL | {"poisson_ratio": 0.6})), ArgumentError, r"poisson_ratio: got 0.6"),
        (lambda: Beam.round(1, 0.1, **(STEEL | {"poisson_ratio": -1})), ArgumentError, r"poisson_ratio: got -1"),
        (lambda: number("x", np.inf), ArgumentError, r"^x: got inf; give one finite number, above 0$"),
    ],
)
def test_bad_input(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()

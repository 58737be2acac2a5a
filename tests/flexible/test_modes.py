"""Shape functions: their differential equations, end conditions, norms and derivatives, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible import modes
from gdalembert.flexible.beams.quadrature import Quadrature
from tests.helpers.models import relative_error

LENGTH = 1.7
END = np.array([LENGTH])
LOADS = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.1), (0.0, 0.3), (30.0, 2.0)]

EIGENMODES = {
    "free": modes.clamped_free(30),
    "clamped": modes.clamped_clamped(30),
    **{f"loaded {m} {j}": modes.clamped_tip(30, m, j) for m, j in LOADS},
}
BENDING = EIGENMODES | {
    "hermite": modes.hermite(),
    "craig_bampton": modes.craig_bampton(3),
    "polynomial": modes.polynomial(6),
    "coefficients": modes.from_coefficients([[0, 0, 6, -4, 1], [0, 0, 1, 0, -0.5]]),
    "scaled": modes.clamped_free(3).scaled([2.0, -0.5, 0.1]),
    "selected": modes.craig_bampton(2).selected([3, 0]),
    "combined": modes.hermite().combined([[1.0, 0.3]]),
}
AXIAL = {"sine": modes.sine(30), "linear": modes.linear(), "polynomial_torsion": modes.polynomial_torsion(5)}
EVERY = BENDING | AXIAL


def nth(each: modes.ModeSet, order: int, eta: np.ndarray) -> np.ndarray:
    return each._derivative(order, eta, LENGTH)


def products(each: modes.ModeSet, order: int = 0) -> np.ndarray:
    over = Quadrature.of(0, LENGTH, 2 * each.panels)
    shapes = nth(each, order, over.points)
    return (shapes * over.weights) @ shapes.T


@pytest.mark.parametrize(
    ("each", "last", "digits"),
    [
        (modes.clamped_free(3), [1.8751040687, 4.6940911330, 7.8547574382], 1e-10),
        (modes.clamped_clamped(2), [4.7300407449, 7.8532046241], 1e-10),
        (modes.clamped_tip(2, 1.0), [1.24792, 4.03114], 1e-5),
        (modes.clamped_tip(2, 1e9), [3.9266023120], 1e-8),  # clamped and pinned
        (modes.clamped_tip(2, 0.0, 1e12), [2.3650203724], 1e-8),  # clamped and guided: half of a clamped beam
        (modes.clamped_tip(3, 1e9, 1e9), [4.7300407449], 1e-8),
        (modes.sine(2), [np.pi / 2, 3 * np.pi / 2], 1e-15),
    ],
)
def test_known_roots(each: modes.ModeSet, last: list[float], digits: float) -> None:
    """βl as books print it; of heavy loads, the higher ones."""
    assert np.allclose(each.roots[-len(last) :], last, rtol=digits, atol=0)


@pytest.mark.parametrize("name", EIGENMODES)
def test_roots_are_exact_to_rounding(name: str) -> None:
    """The characteristic equation changes its sign between the two numbers next to each root but a few."""
    each = EIGENMODES[name]
    mass, inertia = each.mass_ratio, each.inertia_ratio

    def characteristic(x: np.ndarray) -> np.ndarray:
        c, s, th, reciprocal = np.cos(x), np.sin(x), np.tanh(x), 1 / np.cosh(x)
        if each.tip == "clamped":
            return reciprocal - c
        bare = reciprocal + c + mass * x * (c * th - s) - inertia * x**3 * (c * th + s)
        return bare + mass * inertia * x**4 * (reciprocal - c)

    roots = np.array(each.roots)
    assert np.all(np.diff(roots) > 0)
    assert np.all(characteristic(roots * (1 - 4e-15)) * characteristic(roots * (1 + 4e-15)) < 0)
    # none is left out: as many changes of sign on a grid
    grid = characteristic(np.linspace(1e-2, roots[-1] + 1e-6, 20001))
    assert np.count_nonzero(np.diff(np.sign(grid))) == len(roots)


@pytest.mark.parametrize("name", EIGENMODES)
def test_eigenmodes_satisfy_their_equation(name: str) -> None:
    """φ'''' = β⁴ φ, and each derivative is that of the one before, by the growth on short pieces."""
    each = EIGENMODES[name]
    beta = np.array(each.roots)[:, None] / LENGTH
    eta = np.linspace(0, LENGTH, 301)
    assert np.abs(nth(each, 4, eta) / beta**4 - nth(each, 0, eta)).max() < 1e-12
    over = Quadrature.of(0, LENGTH, 100)
    for order in range(4):
        grown = nth(each, order, over.points) - nth(each, order, np.zeros(1))
        error = over.running(nth(each, order + 1, over.points)) - grown
        assert np.abs(error / beta**order).max() < 1e-12


@pytest.mark.parametrize("name", EIGENMODES)
def test_end_conditions(name: str) -> None:
    """Clamped at the root; at the tip no moment and no shear, or no motion, or those of the load."""
    each = EIGENMODES[name]
    beta = np.array(each.roots) / LENGTH
    root = [nth(each, order, np.zeros(1))[:, 0] / beta**order for order in range(2)]
    assert np.abs(root).max() < 1e-14
    u, du, d2u, d3u = (nth(each, order, END)[:, 0] / beta**order for order in range(4))
    if each.tip == "clamped":
        assert np.abs([u, du]).max() < 1e-12
        return
    x = beta * LENGTH
    # EI φ'' = ω² j φ', EI φ''' = −ω² m φ
    moment, shear = each.inertia_ratio * x**3 * du, -each.mass_ratio * x * u
    assert np.abs((d2u - moment) / np.maximum(1, each.inertia_ratio * x**3)).max() < 1e-12
    assert np.abs((d3u - shear) / np.maximum(1, each.mass_ratio * x)).max() < 1e-12


@pytest.mark.parametrize("name", EIGENMODES)
def test_norm_and_orthogonality(name: str) -> None:
    """∫φ_i φ_j = l δ_ij, a load counted; and ∫φ_i'' φ_j'' = β⁴ l δ_ij."""
    each = EIGENMODES[name]
    u, du = nth(each, 0, END)[:, 0], nth(each, 1, END)[:, 0]
    load = each.mass_ratio * LENGTH * np.outer(u, u) + each.inertia_ratio * LENGTH**3 * np.outer(du, du)
    error = np.abs((products(each) + load) / LENGTH - np.eye(30))
    assert error[:10, :10].max() < 1e-12
    assert error.max() < 1e-11
    fourth = (np.array(each.roots) / LENGTH) ** 4 * LENGTH
    bending = products(each, 2) / np.sqrt(np.outer(fourth, fourth))
    assert np.abs(bending - np.eye(30)).max() < 1e-10


def test_clamped_free_modes_against_plain_formula() -> None:
    """cosh x − cos x − s (sinh x − sin x) as it is written, where it is accurate."""
    each = modes.clamped_free(2)
    x = np.array(each.roots)[:, None]
    s = (np.cosh(x) + np.cos(x)) / (np.sinh(x) + np.sin(x))
    eta = np.linspace(0, LENGTH, 11)
    y = x * eta / LENGTH
    assert np.abs(each.value(eta, LENGTH) - (np.cosh(y) - np.cos(y) - s * (np.sinh(y) - np.sin(y)))).max() < 1e-13
    assert np.abs(modes.clamped_free(30).value(LENGTH, LENGTH)[:, 0] - 2 * (-1.0) ** np.arange(30)).max() < 1e-12


def test_a_load_of_zero_is_none() -> None:
    eta = np.linspace(0, LENGTH, 50)
    for order in range(3):
        free, loaded = nth(modes.clamped_free(8), order, eta), nth(modes.clamped_tip(8, 0), order, eta)
        assert np.abs(free - loaded).max() < 1e-12 * np.abs(free).max()


@pytest.mark.parametrize("name", EVERY)
def test_derivatives(name: str) -> None:
    each = EVERY[name]
    over = Quadrature.of(0, LENGTH, 100)
    for low, high in ((each.value, each.slope), (each.slope, each.curvature)):
        wanted = low(over.points, LENGTH) - low(0.0, LENGTH)
        error = np.abs(over.running(high(over.points, LENGTH)) - wanted).max(axis=1)
        assert np.all(error < 1e-12 * (1 + np.abs(wanted).max(axis=1)))


@pytest.mark.parametrize("name", EVERY)
def test_panels_integrate_products_to_rounding(name: str) -> None:
    each = EVERY[name]
    for order in (0, 1, 2):
        a, b = (
            (shapes * over.weights) @ shapes.T
            for over in (Quadrature.of(0, LENGTH, n * each.panels) for n in (1, 2))
            for shapes in (nth(each, order, over.points),)
        )
        assert np.abs(a - b).max() <= 1e-13 * np.abs(b).max()


def test_static_shapes() -> None:
    each = modes.craig_bampton(2)
    assert np.allclose(each.value(LENGTH, LENGTH)[:, 0], [1, 0, 0, 0], atol=1e-14)
    assert np.allclose(each.slope(LENGTH, LENGTH)[:, 0], [0, 1, 0, 0], atol=1e-13)
    assert np.abs(nth(modes.hermite(), 4, END)).max() == 0
    assert each.names == ("tip displacement", "tip slope", "clamped-clamped 1", "clamped-clamped 2")
    assert modes.craig_bampton(0) == modes.hermite()


def test_powers() -> None:
    eta = np.array([0.0, 0.5, LENGTH])
    xi = eta / LENGTH
    assert np.allclose(modes.polynomial(2).value(eta, LENGTH), [xi**2, xi**3])
    assert np.allclose(modes.polynomial(2).curvature(eta, LENGTH), [0 * xi + 2 / LENGTH**2, 6 * xi / LENGTH**2])
    assert np.allclose(modes.polynomial_torsion(2).value(eta, LENGTH), [xi, xi**2])
    assert modes.linear() == modes.polynomial_torsion(1)


def test_sines() -> None:
    each = modes.sine(6)
    assert np.abs(products(each) - LENGTH / 2 * np.eye(6)).max() < 1e-13
    assert np.abs(each.slope(LENGTH, LENGTH)).max() < 1e-13
    assert np.allclose(np.abs(each.value(LENGTH, LENGTH)), 1, atol=1e-14)


def test_joined() -> None:
    a, b, c = modes.hermite(), modes.clamped_clamped(1), modes.polynomial(1)
    assert a + b == modes.craig_bampton(1)
    assert (a + b) + c == a + (b + c)
    assert len(a + b + c) == 4
    eta = np.linspace(0, LENGTH, 5)
    assert np.array_equal((a + c).value(eta, LENGTH), np.vstack([a.value(eta, LENGTH), c.value(eta, LENGTH)]))


def test_scaled_and_selected() -> None:
    each, eta = modes.clamped_free(3), np.linspace(0, LENGTH, 7)
    assert np.array_equal(each.scaled(2.0).value(eta, LENGTH), 2 * each.value(eta, LENGTH))
    assert np.array_equal(each.scaled([1, 2, 3]).slope(eta, LENGTH), np.diag([1, 2, 3]) @ each.slope(eta, LENGTH))
    last = each.selected([2, 0])
    assert last.names == ("clamped-free 3", "clamped-free 1")
    assert last.roots == (each.roots[2], each.roots[0])
    assert np.array_equal(last.curvature(eta, LENGTH), each.curvature(eta, LENGTH)[[2, 0]])
    assert each.selected(1).names == ("clamped-free 2",)
    mixed = each.combined([[1.0, 1.0, 0.0]])
    assert mixed.names == ("combination 1",)
    assert mixed.roots == ()
    knots = modes.sampled([0, 1, LENGTH], [[0, 1, 2.0]])
    assert knots.scaled(3.0).breaks(LENGTH) == knots.breaks(LENGTH) == (1.0,)


def test_polynomials_by_coefficients() -> None:
    """The shape of a uniform cantilever under its own weight, and a line in torsion."""
    xi = np.linspace(0, 1, 9)
    sag = modes.from_coefficients([0, 0, 6, -4, 1])
    assert np.abs(sag.value(xi * LENGTH, LENGTH) - (6 * xi**2 - 4 * xi**3 + xi**4)).max() < 1e-15
    assert np.abs(sag.curvature(LENGTH, LENGTH)).max() < 1e-14
    line = modes.from_coefficients([[0, 1.0]])
    check(line, bending=False)
    assert np.array_equal(line.value(xi * LENGTH, LENGTH), modes.linear().value(xi * LENGTH, LENGTH))


def test_an_arm_with_scaled_modes_is_the_same_arm() -> None:
    """f' = f / factor: M of the modes is multiplied by the factors."""
    each, factors = modes.clamped_free(2), np.array([2.0, -0.5])
    beam = gd.Beam(1.0, 0.6, EI_z=10.0)
    arms = [
        gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": gd.FlexibleLink(beam, bending_y=own, to="joint2")})
        for own in (each, each.scaled(factors))
    ]
    q = np.array([0.3, -0.5, 0.02, 0.01])
    scale = np.diag([1, 1, *factors])
    mass, scaled = (arm.mass_matrix(x).full() for arm, x in zip(arms, (q, np.linalg.solve(scale, q)), strict=True))
    assert relative_error(scale @ mass @ scale, scaled) < 1e-13


@pytest.mark.parametrize("each", [*EVERY.values(), modes.sampled([0, 1, LENGTH], [[0, 1, 2.0]])])
def test_by_value(each: modes.ModeSet) -> None:
    again = pickle.loads(pickle.dumps(each))
    assert again == each
    assert hash(again) == hash(each)
    assert np.array_equal(again.value(0.3, LENGTH), each.value(0.3, LENGTH))
    assert each.normalisation


def cubic(eta: np.ndarray) -> np.ndarray:
    return np.array([3 * eta**2 - eta**3, 2 * eta**3])


def test_samples_of_cubics_are_cubics() -> None:
    """By slopes and by spline, knots anywhere; for torsion with a free slope at the root."""
    knots, eta = np.array([0, 0.3, 0.5, 1.1, LENGTH]), np.linspace(0, LENGTH, 57)
    slopes, curvatures = (np.array([6 * eta - 3 * eta**2, 6 * eta**2]), np.array([6 - 6 * eta, 12 * eta]))
    at_knots = np.array([6 * knots - 3 * knots**2, 6 * knots**2])
    for each in (modes.sampled(knots, cubic(knots), at_knots), modes.sampled(knots, cubic(knots))):
        assert np.abs(each.value(eta, LENGTH) - cubic(eta)).max() < 1e-13
        assert np.abs(each.slope(eta, LENGTH) - slopes).max() < 1e-12
        assert np.abs(each.curvature(eta, LENGTH) - curvatures).max() < 1e-11
    twist = modes.sampled(knots, cubic(knots)[0] + knots, root_slope=None)
    assert np.abs(twist.slope(eta, LENGTH) - slopes[0] - 1).max() < 1e-12


def test_splines_converge() -> None:
    exact, eta, errors = modes.clamped_free(3), np.linspace(0, LENGTH, 400), []
    for count in (21, 41):
        knots = np.linspace(0, LENGTH, count)
        spline = modes.sampled(knots, exact.value(knots, LENGTH))
        jump = spline.curvature(knots[1:-1] - 1e-12, LENGTH) - spline.curvature(knots[1:-1], LENGTH)
        assert np.abs(jump).max() < 1e-6
        errors.append(np.abs(spline.value(eta, LENGTH) - exact.value(eta, LENGTH)).max())
    assert errors[1] < 1e-4
    assert errors[0] > 12 * errors[1]  # fourth order


def parabola(eta: float) -> float:
    return eta**2


def test_custom() -> None:
    each = modes.custom([(parabola, lambda eta: 2 * eta, lambda eta: 2.0)], panels=3)
    each.check_root("bending_y", LENGTH, bending=True)
    eta = np.linspace(0, LENGTH, 4)
    assert np.allclose(each.value(eta, LENGTH), [eta**2])
    assert np.allclose(each.curvature(eta, LENGTH), 2)
    twist = modes.custom([(np.sin, np.cos)])
    twist.check_root("torsion", LENGTH, bending=False)
    by_numbers = modes.custom([(lambda x: 0.0 if x < 0 else x**2, lambda x: 2 * x, lambda x: 2)])
    assert np.allclose(by_numbers.value(eta, LENGTH), [eta**2])


def check(each: modes.ModeSet, *, bending: bool = True) -> None:
    each.check_root("bending_y" if bending else "torsion", LENGTH, bending=bending)


def constant(eta: float) -> float:
    return 1.0


@pytest.mark.parametrize("name", BENDING)
def test_sets_for_bending_are_clamped(name: str) -> None:
    check(BENDING[name])
    check(BENDING[name], bending=False)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: modes.clamped_free(0), ArgumentError, r"clamped_free: n: got 0; give an integer from 1 to 1000"),
        (lambda: modes.sine(1.5), ArgumentTypeError, r"sine: n: expected an integer, got 1.5"),
        (lambda: modes.hermite() + 1, TypeError, "unsupported operand"),
        (
            lambda: modes.craig_bampton(-1),
            ArgumentError,
            r"craig_bampton: n_interior: got -1; give an integer from 0 to 1000",
        ),
        (lambda: modes.clamped_tip(2, -0.1), ArgumentError, r"mass_ratio: got -0.1"),
        (lambda: modes.clamped_tip(2, 1, np.nan), ArgumentError, r"inertia_ratio: got nan"),
        (lambda: modes.hermite().value(2.0, 1.0), ArgumentError, r"abscissa 2 m does not lie on .* 0 to 1 m"),
        (lambda: modes.hermite().slope(-0.1, 1.0), ArgumentError, r"abscissa -0.1 m does not lie"),
        (lambda: modes.hermite().value(np.nan, 1.0), ArgumentError, r"abscissa nan m"),
        (lambda: check(modes.sine(3)), ArgumentError, r"bending_y: mode 1 \(sine 1\) has the slope 0.92.* at the root"),
        (lambda: check(modes.polynomial(1) + modes.linear()), ArgumentError, r"mode 2 \(power 1\) has the slope"),
        (
            lambda: check(modes.custom([(np.cos, np.sin)]), bending=False),
            ArgumentError,
            r"torsion: mode 1 \(custom 1\) has the value 1 at the root, where .* give shapes with value zero there",
        ),
        (lambda: check(modes.sampled([0, LENGTH], [0, 1], [0.1, 0])), ArgumentError, r"sampled 1\) has the slope 0.1"),
        (lambda: check(modes.sampled([0, LENGTH], [0, 0], [0, 0])), ArgumentError, r"mode 1 .* is zero all along"),
        (lambda: check(modes.sampled([0, 2.0], [0, 1], [0, 0])), ArgumentError, r"last abscissa is 2 m .* 1.7 m long"),
        (
            lambda: check(modes.from_coefficients([0, 1])),
            ArgumentError,
            r"\(power 1\) has the slope 0.588.* at the root",
        ),
        (lambda: modes.from_coefficients([]), ArgumentError, r"from_coefficients: got shape \(1, 0\)"),
        (lambda: modes.hermite().scaled([1.0]), ArgumentError, r"scaled: factors: got shape \(1,\); give one, or 2"),
        (lambda: modes.hermite().scaled(0.0), ArgumentError, r"scaled: factors: one is 0; leave the mode out"),
        (
            lambda: modes.hermite().selected(2),
            ArgumentError,
            r"selected: got \[2\]; give different indices from 0 to 1",
        ),
        (lambda: modes.hermite().selected([0, 0]), ArgumentError, r"selected: got \[0, 0\]"),
        (lambda: modes.hermite().selected([0.5]), ArgumentTypeError, r"selected: index: expected an integer"),
        (lambda: modes.hermite().combined([[1]]), ArgumentError, r"combined: .* got shape \(1, 1\); give k × 2"),
        (
            lambda: check(modes.hermite() + modes.custom([(parabola, lambda x: 2 * x, constant)]).scaled(3.0)),
            ArgumentError,
            r"its curvature is not the derivative of its slope",
        ),
        (lambda: modes.sampled([0, 1], [0, 1]), ArgumentError, r"2 abscissae are too few for a spline; .* at least 3"),
        (lambda: modes.sampled([0.1, 1], [0, 1], [0, 0]), ArgumentError, r"abscissae: .* give 0 … l \[m\], rising"),
        (lambda: modes.sampled([0, 1, 1], [0, 1, 1]), ArgumentError, r"give 0 … l \[m\], rising"),
        (lambda: modes.sampled([0, 1], [[0, 1, 2]], [0, 0]), ArgumentError, r"values: got shape \(1, 3\); give n × 2"),
        (lambda: modes.sampled([0, 1], [0, 1], [0]), ArgumentError, r"slopes: got shape \(1, 1\); give 1 × 2"),
        (lambda: modes.sampled([0, 1], [0, np.inf], [0, 0]), ArgumentError, r"values: entry \[1\] is inf"),
        (lambda: modes.sampled([0, 1], ["a", "b"]), ArgumentTypeError, r"values: expected numbers"),
        (lambda: modes.custom([]), ArgumentError, r"custom: got \[\]; give \[\(value, slope, curvature\)"),
        (lambda: modes.custom([np.sin]), ArgumentTypeError, r"custom: mode 1: got .*; give \(value, slope, curvature"),
        (
            lambda: check(modes.custom([(parabola, lambda x: 2 * x)])),
            ArgumentError,
            r"mode 1 has no curvature, which b",
        ),
        (
            lambda: check(modes.custom([(parabola, lambda x: 2 * x, constant)])),
            ArgumentError,
            r"bending_y: mode 1 \(custom 1\): its curvature is not the derivative of its slope, by .*of their size",
        ),
        (
            lambda: check(modes.custom([(parabola, np.sin, np.cos)]), bending=False),
            ArgumentError,
            r"its slope is not the derivative of its value",
        ),
        (
            lambda: check(modes.custom([(lambda x: np.nan, parabola)]), bending=False),
            ArgumentError,
            r"value of mode 1 is not finite at 0 m",
        ),
        (
            lambda: check(modes.custom([(lambda x: "a", parabola)]), bending=False),
            ArgumentTypeError,
            r"value of mode 1: expected one number for each abscissa",
        ),
    ],
)
def test_bad_input(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()

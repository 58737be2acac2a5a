"""Integrals and stations of flexible links: against clouds of mass points, closed forms, and each other."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible import modes
from gdalembert.flexible.beams import modal_integrals as integrals
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.modal_integrals import eigenmodes, modal_mass
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.station import BeamStation, check_body
from gdalembert.model.modal_inertia import ModalInertia

LENGTH = 1.3
TIGHT = 1e-12


def mu(eta: np.ndarray) -> np.ndarray:
    return 0.9 - 0.4 * eta


def stiffness(eta: np.ndarray) -> np.ndarray:
    return 20 * (1 - 0.4 * eta) ** 3


UNIFORM = Beam(LENGTH, 0.7, EI_y=20.0, EI_z=8.0, EA=1e5, GJ=5.0, section_inertia=(2e-3, 5e-3))
TAPERED = Beam(
    LENGTH,
    mu,
    EI_y=stiffness,
    EI_z=lambda eta: 0.3 * stiffness(eta),
    EA=lambda eta: 1e3 * mu(eta),
    GJ=lambda eta: 2 + np.cos(eta),
    section_inertia=(lambda eta: 1e-3 * mu(eta), lambda eta: 5e-3 * (1 + eta)),
)
BEAMS = {"uniform": UNIFORM, "tapered": TAPERED}
FAMILIES = {
    "exact": {
        "bending_y": modes.clamped_free(3),
        "bending_z": modes.clamped_tip(2, 0.5, 0.1),
        "extension": modes.sine(2),
        "torsion": modes.sine(2),
    },
    "mixed": {
        "bending_y": modes.craig_bampton(2),
        "bending_z": modes.polynomial(3),
        "extension": modes.polynomial_torsion(2),
        "torsion": modes.linear(),
    },
    "sampled": {
        "bending_z": modes.sampled(np.linspace(0, LENGTH, 7), np.linspace(0, 1, 7) ** 2 * [[1], [-0.5]] + [[0], [1]] *
                                   np.linspace(0, 1, 7) ** 3),
        "torsion": modes.custom([(lambda x: np.sin(2 * x), lambda x: 2 * np.cos(2 * x))]),
    },
}  # fmt: skip


def deviation(a: ModalInertia | BeamStation, b: ModalInertia | BeamStation) -> float:
    """The largest difference, each array relative to its own size."""
    worst = 0.0
    for f in fields(a):
        x, y = getattr(a, f.name), getattr(b, f.name)
        assert x.shape == y.shape
        worst = max(worst, np.abs(x - y).max(initial=0) / max(np.abs(y).max(initial=0), 1e-12))
    return worst


def cloud(beam: Beam, families: dict[str, modes.ModeSet], panels: int = 60) -> ModalInertia:
    """The integrals over mass points in three dimensions, each mode's displacement taken from a rotation matrix.

    Four points at a section have its second moments exactly. Slopes, shortening and strains are integrated or
    differentiated here, by means of their own.
    """
    t, w = np.polynomial.legendre.leggauss(12)
    edges = np.linspace(0, beam.length, panels + 1)
    eta = (edges[:-1, None] + np.diff(edges)[:, None] * (t + 1) / 2).ravel()
    dx = (np.diff(edges)[:, None] * w / 2).ravel()
    m = beam.along("mass_per_length", eta) * dx
    j_y, j_z = beam.section_inertias(eta)
    shapes, slopes, strains = [], [], []
    for direction, name in enumerate(("bending_y", "bending_z", "extension", "torsion")):
        if name not in families:
            continue
        each = families[name]
        for value, slope, curvature in zip(
            *(f(eta, beam.length) for f in (each.value, each.slope)),
            each.curvature(eta, beam.length) if direction < 2 else [None] * len(each),
            strict=True,
        ):
            shapes.append((direction, value, slope))
            slopes.append(slope if direction < 2 else 0 * slope)
            strains.append((direction, curvature if direction < 2 else slope))
    n = len(shapes)
    points, masses, moves, where = [], [], [], []
    b, c = np.sqrt(2 * j_z * dx / m), np.sqrt(2 * j_y * dx / m)
    for sigma_y, sigma_z in ((b, 0 * b), (-b, 0 * b), (0 * c, c), (0 * c, -c)):
        points.append(np.column_stack([eta, sigma_y, sigma_z]))
        masses.append(m / 4)
        field = np.zeros((n, eta.size, 3))
        for k, (direction, value, slope) in enumerate(shapes):
            if direction == 0:  # a section that leans by y' moves its points back by y' σ_y
                field[k] = np.column_stack([-slope * sigma_y, value, 0 * value])
            elif direction == 1:
                field[k] = np.column_stack([-slope * sigma_z, 0 * value, value])
            elif direction == 2:
                field[k] = np.column_stack([value, 0 * value, 0 * value])
            else:
                field[k] = np.column_stack([0 * value, -value * sigma_z, value * sigma_y])
        moves.append(field)
        where.append(np.arange(eta.size))
    r = np.concatenate(points)
    mass, u = np.concatenate(masses), np.concatenate(moves, axis=1)
    r4 = np.column_stack([r, np.ones(len(r))])
    u4 = np.concatenate([u, np.zeros((*u.shape[:2], 1))], axis=2)
    s, k_f = np.zeros((n, n, eta.size)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if shapes[i][0] == shapes[j][0]:
                product = slopes[i] * slopes[j]
                # the integral to a point: of the polynomial through the points of its panel
                panel = product.reshape(panels, 12)
                series = np.linalg.solve(np.polynomial.legendre.legvander(t, 11), panel.T)
                running = np.polynomial.legendre.legval(t, np.polynomial.legendre.legint(series, lbnd=-1))
                half = np.diff(edges)[:, None] / 2
                before = np.concatenate([[0], np.cumsum((product * dx).reshape(panels, 12).sum(axis=1))[:-1]])
                s[i, j] = (before[:, None] + running * half).ravel()
                modulus = beam.along(("EI_z", "EI_y", "EA", "GJ")[shapes[i][0]], eta)
                k_f[i, j] = np.sum(modulus * strains[i][1] * strains[j][1] * dx)
    # the mass shortens by a + b η, the best fit to s
    weights = np.sqrt(m)[:, None]
    line = np.column_stack([eta, np.ones_like(eta)])
    shortening = np.linalg.lstsq(weights * line, weights * s.reshape(n * n, -1).T)[0].reshape(2, n, n)
    stretches = np.zeros((2, len(r), 4))
    stretches[:, :, 0] = line[np.concatenate(where)].T
    u4 = np.concatenate([u4, stretches])
    return ModalInertia(
        np.einsum("m,ma,mb->ab", mass, r4, r4),
        np.einsum("m,ma,jmb->jab", mass, r4, u4),
        np.einsum("m,jma,kmb->jkab", mass, u4, u4, optimize=True),
        shortening,
        k_f,
    )


@pytest.mark.parametrize("families", FAMILIES)
@pytest.mark.parametrize("name", BEAMS)
def test_integrals_are_sums_over_mass_points(name: str, families: str) -> None:
    found = integrals.beam_inertia(BEAMS[name], FAMILIES[families])
    assert deviation(found, cloud(BEAMS[name], FAMILIES[families])) < TIGHT


def test_fit_of_the_shortening() -> None:
    """It has the ∫ s dm and ∫ η s dm of s itself, from which everything of second order follows."""
    families = {"bending_y": modes.craig_bampton(2), "bending_z": modes.clamped_free(1)}
    found = integrals.beam_inertia(TAPERED, families)
    over = integrals.quadrature(TAPERED, families, panels=8)
    dm = TAPERED.along("mass_per_length", over.points) * over.weights
    s = np.array([integrals.beam_station(TAPERED, families, eta).shortening for eta in over.points])
    fit = np.einsum("bjk,bm->mjk", found.shortening, [over.points, np.ones_like(over.points)])
    for weight in (dm, dm * over.points):
        own = np.einsum("m,mjk->jk", weight, s)
        assert np.abs(np.einsum("m,mjk->jk", weight, fit) - own).max() < TIGHT * np.abs(own).max()


def test_integrals_of_linearly_tapered_beam_in_closed_form() -> None:
    """μ = a + b η, j_y = c, polynomial modes: every integral is a sum of powers."""
    a, b, c, e, end = 0.9, -0.4, 0.02, 7.0, LENGTH
    beam = Beam(end, lambda eta: a + b * eta, EI_y=lambda eta: e * (1 + eta), section_inertia=(c, 0.0))
    found = integrals.beam_inertia(beam, {"bending_z": modes.polynomial(3)})

    def powers(p: int) -> float:
        return a * end ** (p + 1) / (p + 1) + b * end ** (p + 2) / (p + 2)

    for j, p in enumerate((2, 3, 4)):
        unit = end ** (-p)
        first = np.zeros((4, 4))
        first[0, 2], first[3, 2] = powers(p + 1) * unit, powers(p) * unit
        first[2, 0] = -c * end**p * unit  # ∫ j_y (−z')
        assert np.abs(found.first[j] - first).max() < 1e-14
        for k, q in enumerate((2, 3, 4)):
            both, order = unit * end ** (-q), p + q - 1
            second = np.zeros((4, 4))
            second[2, 2] = powers(p + q) * both
            second[0, 0] = c * p * q * end**order / order * both
            moments = [p * q / order * powers(order + n) * both for n in (1, 0)]  # ∫ η s dm, ∫ s dm
            fit = np.linalg.solve([[powers(2), powers(1)], [powers(1), powers(0)]], moments)
            assert np.abs(found.second[j, k] - second).max() < 1e-14
            assert np.abs(found.shortening[:, j, k] - fit).max() < 1e-13
            curvatures = p * (p - 1) * q * (q - 1) * both
            bending = e * curvatures * (end ** (order - 2) / (order - 2) + end ** (order - 1) / (order - 1))
            assert abs(found.stiffness[j, k] - bending) < 1e-13 * bending


@pytest.mark.parametrize("families", FAMILIES)
@pytest.mark.parametrize("name", BEAMS)
def test_structure(name: str, families: str) -> None:
    """C_kj = C_jkᵀ, symmetric S_b, zero rows and columns, and the order of the modes y, z, x, torsion."""
    beam, given = BEAMS[name], FAMILIES[families]
    found = integrals.beam_inertia(beam, dict(reversed(given.items())))
    assert np.array_equal(found.rigid, found.rigid.T)
    assert np.abs(found.rigid - beam.pseudo_inertia).max() < 1e-13
    assert np.abs(found.second - found.second.transpose(1, 0, 3, 2)).max() < 1e-15 * np.abs(found.second).max()
    assert np.array_equal(found.shortening, found.shortening.transpose(0, 2, 1))
    assert np.abs(found.stiffness - found.stiffness.T).max() < 1e-11
    assert not found.first[:, :, 3].any()
    assert not found.second[:, :, 3].any()
    assert not found.second[..., 3].any()
    assert not found.first[found.modes :, :, 1:].any()
    assert deviation(found, integrals.beam_inertia(beam, given)) == 0
    wanted = [
        c + str(k + 1) for c, n in zip("yzxt", integrals.DIRECTIONS, strict=True) for k in range(len(given.get(n, ())))
    ]
    assert list(integrals.mode_names(given)) == wanted
    assert found.modes == len(wanted)
    with pytest.raises(ValueError, match="read-only"):
        found.second[0, 0] = 1


def test_orthogonal_modes_leave_exact_zeros() -> None:
    """No rounding noise enters a graph; and modal mass and stiffness of exact modes are μl δ_jk and EI β⁴ l δ_jk."""
    line = Beam(LENGTH, 0.7, EI_z=8.0)
    each = modes.clamped_free(10)
    found = integrals.beam_inertia(line, {"bending_y": each})
    mass = modal_mass(found)
    assert np.abs(mass - 0.7 * LENGTH * np.eye(10)).max() < 1e-12
    wanted = 8.0 * (np.array(each.roots) / LENGTH) ** 4 * LENGTH
    assert np.abs(found.stiffness.diagonal() / wanted - 1).max() < 1e-12
    for matrix in (mass, found.stiffness):
        assert np.count_nonzero(matrix) == 10
    # and what is small, but there, stays
    slight = integrals.beam_inertia(Beam(LENGTH, lambda eta: 1 + 1e-9 * eta, EI_z=8.0), {"bending_y": each})
    assert np.count_nonzero(modal_mass(slight)) == 100


def test_doubling_the_points_changes_nothing() -> None:
    families = FAMILIES["exact"] | {"bending_y": modes.clamped_free(10)}
    over = [integrals.quadrature(TAPERED, families, panels=n * 11) for n in (1, 2)]
    (coarse, sizes), (fine, _) = (integrals.integrals(TAPERED, families, each, True) for each in over)
    for a, b, size in zip(coarse, fine, sizes, strict=True):
        assert np.all(np.abs(a - b) <= 1e-13 * np.abs(size))


def test_a_jump_is_a_break() -> None:
    """Two halves as one stepped beam: the sum of integrals of each half; of a step that is not named, an error."""
    families = {"bending_y": modes.craig_bampton(1)}

    def step(eta: np.ndarray) -> np.ndarray:
        return np.where(eta < 0.4, 3.0, 1.0)

    stepped = integrals.beam_inertia(Beam(1.0, step, EI_z=step, breaks=(0.4,)), families)
    uniform = integrals.beam_inertia(Beam(1.0, 1.0, EI_z=1.0), families)
    part = integrals.quadrature(Beam(1.0, 1.0), families, end=0.4)
    shapes, curves = (f(part.points, 1.0) for f in (families["bending_y"].value, families["bending_y"].curvature))
    assert np.allclose(
        modal_mass(stepped), modal_mass(uniform) + 2 * (shapes * part.weights) @ shapes.T, rtol=0, atol=1e-14
    )
    assert np.allclose(stepped.stiffness, uniform.stiffness + 2 * (curves * part.weights) @ curves.T, rtol=1e-13)
    with pytest.raises(ArgumentError, match="name the abscissae"):
        integrals.beam_inertia(Beam(1.0, step, EI_z=1.0), families)


def test_samples_are_breaks() -> None:
    """A shape of two cubics with a jump of curvature: ∫EI y''² by hand, y'' being linear on each side."""
    each = modes.sampled([0, 0.3, 1.0], [0, 0.2, 1.0], [0, 1.0, 1.5])
    found = integrals.beam_inertia(Beam(1.0, 2.0, EI_z=3.0), {"bending_y": each})
    bending = 0.0
    for h, rise, a, b in ((0.3, 0.2, 0.0, 1.0), (0.7, 0.8, 1.0, 1.5)):
        left, right = (6 * rise / h - 4 * a - 2 * b) / h, (2 * a + 4 * b - 6 * rise / h) / h
        bending += 3.0 * h * (left**2 + left * right + right**2) / 3
    assert abs(found.stiffness[0, 0] - bending) < 1e-13 * bending


def test_station() -> None:
    """U, Θ with ϑ_y = −z', and s by closed forms of polynomial modes."""
    families = {"bending_y": modes.polynomial(1), "bending_z": modes.polynomial(2), "torsion": modes.linear()}
    for eta in (0.3, LENGTH):
        xi, e = eta / LENGTH, 1 / LENGTH
        body = np.diag([1.0, 2.0, 3.0, 4.0])
        at = integrals.beam_station(UNIFORM, families, eta, body)
        assert np.array_equal(at.position, [eta, 0, 0])
        assert np.array_equal(at.body, body)
        assert np.allclose(at.translation, [[0, 0, 0, 0], [xi**2, 0, 0, 0], [0, xi**2, xi**3, 0]], rtol=0, atol=1e-15)
        wanted = [[0, 0, 0, xi], [0, -2 * xi * e, -3 * xi**2 * e, 0], [2 * xi * e, 0, 0, 0]]
        assert np.allclose(at.rotation, wanted, rtol=0, atol=1e-15)
        s = np.zeros((4, 4))
        s[0, 0] = s[1, 1] = 4 * xi**3 / 3 * e
        s[1, 2] = s[2, 1] = 6 * xi**4 / 4 * e
        s[2, 2] = 9 * xi**5 / 5 * e
        assert np.allclose(at.shortening, s, rtol=0, atol=1e-14)
        assert not integrals.beam_station(UNIFORM, families, eta, foreshortening=False).shortening.any()
    at_root = integrals.beam_station(UNIFORM, FAMILIES["exact"], 0.0)  # exactly zero, whatever the modes round to there
    assert not any(getattr(at_root, f.name).any() for f in fields(at_root))


def test_orthogonal_slopes_leave_exact_zeros() -> None:
    """1 − cos(kπx/l), whose slopes are sines: s(l) is diagonal, with (kπ)²/2l."""
    waves = [k * np.pi / LENGTH for k in (1, 2, 3)]
    each = modes.custom([
        (lambda x, w=w: 1 - np.cos(w * x), lambda x, w=w: w * np.sin(w * x), lambda x, w=w: w**2 * np.cos(w * x))
        for w in waves
    ])  # fmt: skip
    s = integrals.beam_station(UNIFORM, {"bending_y": each}, LENGTH).shortening
    assert np.count_nonzero(s) == 3
    assert np.allclose(s.diagonal(), np.square(waves) * LENGTH / 2, rtol=1e-14, atol=0)


def test_a_bent_beam_shortens_by_its_station() -> None:
    """s(l) against the chord of a slightly bent curve: l = ∫√(1 − w'²) to fourth order in w'."""
    families, f = {"bending_y": modes.clamped_free(2)}, np.array([0.02, -0.01])
    at, eta = integrals.beam_station(UNIFORM, families, LENGTH), np.linspace(0, LENGTH, 20001)
    slope = f @ families["bending_y"].slope(eta, LENGTH)
    lost = LENGTH - np.trapezoid(np.sqrt(1 - slope**2), eta)
    assert abs(0.5 * f @ at.shortening @ f - lost) < 0.02 * lost
    small = f / 100
    lost = LENGTH - np.trapezoid(np.sqrt(1 - (slope / 100) ** 2), eta)
    assert abs(0.5 * small @ at.shortening @ small - lost) < 1e-5 * lost


def test_without_foreshortening_only_shortening_is_left_out() -> None:
    with_it = integrals.beam_inertia(TAPERED, FAMILIES["exact"])
    without = integrals.beam_inertia(TAPERED, FAMILIES["exact"], foreshortening=False)
    assert with_it.shortening.any()
    assert not without.shortening.any()
    n = without.modes
    assert without.shapes == n < with_it.shapes
    modes_alone = replace(
        with_it, first=with_it.first[:n], second=with_it.second[:n, :n], shortening=without.shortening
    )
    assert deviation(modes_alone, without) < 1e-14


# Nodes.


def sampled_nodes(count: int, families: dict[str, modes.ModeSet]) -> Nodes:
    """A uniform beam lumped in the middles of so many equal pieces."""
    eta = (np.arange(count) + 0.5) * LENGTH / count
    u, theta = integrals._shapes(families, eta, LENGTH)
    j_y, j_z = (float(j[0]) * LENGTH / count for j in UNIFORM.section_inertias(0.0))
    s = np.array([integrals.beam_station(UNIFORM, families, x).shortening for x in eta])
    return Nodes(
        np.full(count, 0.7 * LENGTH / count),
        np.column_stack([eta, 0 * eta, 0 * eta]),
        u,
        integrals.beam_inertia(UNIFORM, families).stiffness,
        rotations=theta,
        inertias=np.tile(np.diag([j_y + j_z, j_y, j_z]), (count, 1, 1)),
        shortening=s.transpose(1, 2, 0),
    )


def test_fine_nodes_are_a_beam() -> None:
    """The error falls with the square of their distance; that is what they are worth."""
    families = FAMILIES["exact"]
    wanted = integrals.beam_inertia(UNIFORM, families)
    errors = [deviation(sampled_nodes(count, families).inertia, wanted) for count in (100, 200)]
    assert errors[1] < 1e-3
    assert 3.9 < errors[0] / errors[1] < 4.1


def test_stations_of_nodes() -> None:
    families = FAMILIES["exact"]
    nodes = sampled_nodes(50, families)
    x = nodes.positions[30, 0]
    assert deviation(nodes.station(30, np.eye(4)), integrals.beam_station(UNIFORM, families, x, np.eye(4))) < 1e-13
    assert nodes.tip == 49
    assert nodes.nearest(np.array([x + 0.004, 0.1, 0])) == 30


def test_rotations_of_some_nodes() -> None:
    """No node is taken as one that does not turn: those without rotations carry nothing and have no rotary inertia."""
    count, tip = 50, 49
    whole = sampled_nodes(count, FAMILIES["exact"])
    inertias = np.zeros((count, 3, 3))
    inertias[tip] = whole.inertias[tip]
    some = replace(whole, rotations={tip: whole.rotations[:, tip]}, inertias=inertias)
    assert deviation(some.inertia, replace(whole, inertias=inertias).inertia) == 0
    assert deviation(some.station(tip), whole.station(tip)) == 0
    assert some == replace(some)
    with pytest.raises(ArgumentError, match=r"station: node 3: .* give its rotations, as rotations=\{3: …\}"):
        some.station(3)
    with pytest.raises(ArgumentError, match="rotations: none are given of node 0, which has a rotary inertia"):
        replace(whole, rotations={tip: whole.rotations[:, tip]})
    for wrong, message in (
        ({50: whole.rotations[:, 0]}, "got those of node 50; give nodes 0 … 49"),
        ({3: np.zeros((1, 3))}, r"node 3: got shape \(1, 3\); give "),
        (np.full_like(whole.rotations, np.inf), "one is infinite"),
    ):
        with pytest.raises(ArgumentError, match=f"^Nodes: rotations: {message}"):
            replace(whole, rotations=wrong, inertias=None)


def test_inertias_of_nodes_are_mass_points() -> None:
    """A node with a full tensor is six points around it that turn with it."""
    rng = np.random.default_rng(0)
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    halves = np.array([0.1, 0.2, 0.3])
    offsets = np.concatenate([axes.T * halves[:, None], -axes.T * halves[:, None]])
    tensor = sum(0.5 * (o @ o * np.eye(3) - np.outer(o, o)) for o in offsets)
    at, u, theta = rng.normal(size=3), rng.normal(size=(2, 1, 3)), rng.normal(size=(2, 1, 3))
    one = Nodes([3.0], [at], u, np.eye(2), rotations=theta, inertias=[tensor])
    six = Nodes(np.full(6, 0.5), at + offsets, u + np.cross(theta, offsets), np.eye(2))
    assert deviation(one.inertia, six.inertia) < 1e-14


def test_frequencies_of_nodes() -> None:
    nodes = Nodes([2.0, 0.5], [[0.5, 0, 0], [1, 0, 0]], [[[0, 0, 0], [0, 2**0.5, 0]]], frequencies=[3.0])
    assert np.allclose(nodes.inertia.stiffness, [[9.0]])
    assert np.allclose(eigenmodes(nodes.inertia)[0], [3.0])
    again = pickle.loads(pickle.dumps(nodes))
    assert again == nodes
    assert hash(again) == hash(nodes)


def nodes_with(**changes: object) -> Nodes:
    given = {
        "masses": [1.0, 2.0],
        "positions": [[0.5, 0, 0], [1, 0, 0]],
        "translations": [[[0, 1, 0], [0, 2, 0]]],
        "stiffness": [[4.0]],
    }
    return Nodes(**(given | changes))


# Checks.


@pytest.mark.parametrize(("what", "allowed"), [("K_f", 1e-9), ("s_jk = s_kj", 1e-9), ("mass-normalised", 1e-6)])
def test_what_nodes_may_be_off_by(what: str, allowed: float) -> None:
    """Symmetric to 1e-9, mass-normalised to 1e-6; half of that is taken, five times as much is refused."""

    def made(off: float) -> Nodes:
        if what == "mass-normalised":
            return nodes_with(
                stiffness=None,
                frequencies=[1.0],
                translations=np.array([[[0, 1, 0], [0, 2, 0]]]) * np.sqrt((1 + off) / 9),
            )
        skew = np.array([[2.0, 1.0], [1.0 - 2 * off, 2.0]])  # of numbers up to 2
        two = {"translations": np.ones((2, 2, 3)), "stiffness": np.eye(2)}
        return nodes_with(**two | ({"stiffness": skew} if what == "K_f" else {"shortening": skew[..., None] * [1, 0]}))

    shortening = made(0.5 * allowed).inertia.shortening
    assert np.array_equal(shortening, shortening.transpose(0, 2, 1))
    with pytest.raises(ArgumentError, match=what):
        made(5 * allowed)


def test_modal_mass_with_bodies() -> None:
    """A body with a lever and a full tensor at a station, as mass points that move with it."""
    rng = np.random.default_rng(1)
    families = FAMILIES["mixed"]
    at = integrals.beam_station(TAPERED, families, 0.8)
    points, masses = rng.normal(size=(9, 3)), rng.uniform(0.1, 1, 9)
    hat = np.column_stack([points, np.ones(9)])
    loaded = replace(at, body=np.einsum("m,ma,mb->ab", masses, hat, hat))
    found = integrals.beam_inertia(TAPERED, families)
    moves = at.translation.T[:, None] + np.cross(at.rotation.T[:, None], points)
    wanted = modal_mass(found) + np.einsum("m,jma,kma->jk", masses, moves, moves)
    assert np.abs(modal_mass(found, loaded) - wanted).max() < 1e-12


def test_eigenmodes() -> None:
    found = integrals.beam_inertia(TAPERED, FAMILIES["mixed"])
    frequencies, vectors = eigenmodes(found)
    assert np.all(np.diff(frequencies) > 0)
    assert np.abs(vectors.T @ modal_mass(found) @ vectors - np.eye(len(vectors))).max() < 1e-9
    stiff = vectors.T @ found.stiffness @ vectors / np.outer(frequencies, frequencies)
    assert np.abs(stiff - np.eye(len(vectors))).max() < 1e-9


def test_dependent() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=(3, 30)) * [[1e-9], [1.0], [1e6]]
    assert integrals.dependent(a @ a.T) is None
    b = np.vstack([a, a[0] * 1e9 + a[1]])
    assert integrals.dependent(b @ b.T) == 3
    assert integrals.dependent(np.diag([1.0, 0.0, 2.0])) == 1
    # what is left counts from 1e-12 on
    assert integrals.dependent(np.array([[1, 1], [1, 1 + 5e-12]])) is None
    assert integrals.dependent(np.array([[1, 1], [1, 1 + 5e-13]])) == 1


def test_sets_that_move_the_tip() -> None:
    still, families = modes.clamped_clamped(3), {"bending_y": modes.hermite(), "torsion": modes.sine(1)}
    assert integrals.unmoved_tip(UNIFORM, families | {"bending_z": still}) == ("bending_z",)
    turning = modes.custom([_slope_only()])
    assert integrals.unmoved_tip(UNIFORM, {"bending_y": turning}) == ()
    untwisted = modes.custom(
        [(lambda x: np.sin(np.pi * x / LENGTH), lambda x: np.pi / LENGTH * np.cos(np.pi * x / LENGTH))]
    )
    assert integrals.unmoved_tip(UNIFORM, {"torsion": untwisted}) == ("torsion",)
    # by 1e-9 of what the shape moves inside, to rounding
    for off, found in ((5e-10, ("torsion",)), (5e-9, ())):
        nearly = modes.custom([(lambda x, off=off: np.sin(np.pi * x / LENGTH) + off * x / LENGTH, np.ones_like)])
        assert integrals.unmoved_tip(UNIFORM, {"torsion": nearly}) == found


def _slope_only() -> tuple[object, ...]:
    """A shape that turns the tip without shifting it: Hermite's second."""
    each = modes.hermite()
    return tuple(lambda x, f=f: f(x, LENGTH)[1] for f in (each.value, each.slope, each.curvature))


DEPENDENT = {
    "twice": (modes.clamped_free(2) + modes.clamped_free(1), r"mode 3 \(clamped-free 1\)"),
    "hermite and powers": (modes.polynomial(2) + modes.hermite(), r"mode 3 \(tip displacement\)"),
    "powers and hermite": (modes.hermite() + modes.polynomial(3), r"mode 3 \(power 2\)"),
    "too many powers": (modes.polynomial(14), r"mode 1\d \(power 1\d\)"),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_modes_are_refused(name: str) -> None:
    each, which = DEPENDENT[name]
    with pytest.raises(ArgumentError, match=rf"^bending_z: {which} is a combination of those before it"):
        integrals.check_families(UNIFORM, {"bending_z": each})


def test_good_sets_pass() -> None:
    for families in FAMILIES.values():
        integrals.check_families(UNIFORM, families)
    integrals.check_families(UNIFORM, {"bending_y": modes.craig_bampton(8), "bending_z": modes.polynomial(8)})


def test_modes_without_inertia_have_no_frequency() -> None:
    line = replace(UNIFORM, section_inertia=(0.0, 0.0))
    families = {"bending_y": modes.hermite(), "torsion": modes.sine(1)}
    with pytest.raises(ArgumentError, match=r"mode 3 moves no inertia of its own, so that the link alone has no freq"):
        eigenmodes(integrals.beam_inertia(line, families))
    body = np.diag([0.0, 0.1, 0.1, 1.0])
    assert (
        eigenmodes(integrals.beam_inertia(line, families), integrals.beam_station(line, families, LENGTH, body))[
            0
        ].min()
        > 0
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: nodes_with(masses="heavy"), ArgumentTypeError, r"Nodes: masses: expected numbers, got 'heavy'"),
        (lambda: nodes_with(masses=[1, np.nan]), ArgumentError, r"Nodes: masses: entry \[1\] is nan"),
        (lambda: nodes_with(masses=[1.0, -1.0]), ArgumentError, r"masses: got -1; give masses of at least 0"),
        (lambda: nodes_with(masses=[0.0, 0.0]), ArgumentError, r"masses: got 0; .* not all zero"),
        (lambda: nodes_with(positions=[[0, 0, 0]]), ArgumentError, r"positions: got shape \(1, 3\) with 2 m.*2 × 3"),
        (lambda: nodes_with(translations=[[0, 1, 0]]), ArgumentError, r"translations: got shape .*; give n × 2 × 3"),
        (lambda: nodes_with(stiffness=np.eye(2)), ArgumentError, r"stiffness: got shape \(2, 2\) .*; give 1 × 1"),
        (lambda: nodes_with(rotations=[[1.0]]), ArgumentError, r"rotations: got shape"),
        (lambda: nodes_with(shortening=[[1.0]]), ArgumentError, r"shortening: got shape .* give 1 × 1 × 2"),
        (
            lambda: nodes_with(
                translations=np.ones((2, 2, 3)), stiffness=np.eye(2), shortening=[[[0, 1], [0, 2]], [[0, 3], [0, 1]]]
            ),
            ArgumentError,
            r"shortening: of modes 1, 2 it differs from that of 2, 1 by 1 m at node 1; give s_jk = s_kj",
        ),
        (lambda: nodes_with(inertias=[-np.eye(3)] * 2), ArgumentError, r"inertias: one has a negative principal"),
        (lambda: nodes_with(stiffness=[[-1.0]]), ArgumentError, r"stiffness: its least eigenvalue is -1"),
        (lambda: nodes_with(stiffness=[[0.0]]), ArgumentError, r"stiffness: its least eigenvalue is 0, and"),
        (
            lambda: nodes_with(stiffness=[[2, 1], [0, 2]], translations=np.ones((2, 2, 3))),
            ArgumentError,
            r"differs from its transpose by 5.0e-01; give a symmetric, positive definite K_f",
        ),
        (lambda: nodes_with(stiffness=None), ArgumentError, r"give the stiffness K_f, or the frequencies"),
        (lambda: nodes_with(frequencies=[1.0]), ArgumentError, r"give the stiffness K_f, or the frequencies"),
        (
            lambda: nodes_with(stiffness=None, frequencies=[1.0]),
            ArgumentError,
            r"modes must be mass-normalised, but the modal mass of 1, 1 is 9, not 1; scale them, or give the stiffness",
        ),
        (lambda: nodes_with(masses=[], positions=np.zeros((0, 3)), translations=np.zeros((1, 0, 3))), ArgumentError,
         r"got 0 nodes and 1 modes"),
        (lambda: nodes_with().station(1), ArgumentError, r"station: node 1: what .* turns with it; give its rotations"),
        (lambda: nodes_with(rotations=np.zeros((1, 2, 3))).station(2), ArgumentError, r"got node 2; give 0 … 1"),
        (lambda: integrals.beam_inertia(Beam(1, 1), {"torsion": modes.linear()}), ArgumentError,
         r"GJ is needed for these"),
        (lambda: integrals.beam_inertia(Beam(1, 1), {"extension": modes.linear()}), ArgumentError, r"EA is needed"),
        (lambda: integrals.beam_inertia(Beam(1, 1, EI_y=1), {"bending_y": modes.hermite()}), ArgumentError,
         r"EI_z is needed"),
        (lambda: integrals.beam_inertia(Beam(1, 1, EI_z=1), {"bending_z": modes.hermite()}), ArgumentError,
         r"EI_y is needed"),
        (lambda: check_body("hub", 3), ArgumentTypeError, r"hub: expected a pin.Inertia, got 3"),
    ],
)  # fmt: skip
def test_bad_input(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_nodes_that_move_at_the_root_are_refused() -> None:
    """Modes of a free link, or measured ones with a mount that gives way; those of fine and coarse beams pass."""
    families = {"bending_y": modes.clamped_free(3)}
    for count in (8, 100):
        held = sampled_nodes(count, families)
        assert held.modes == 3
    free = np.polynomial.Polynomial([1.0, -2.0])(held.positions[:, 0] / LENGTH)
    translations = np.array(held.translations)
    translations[1, :, 1] += free
    with pytest.raises(ArgumentError, match=r"^Nodes: translations: mode 2 moves node 0 by .* with its root held$"):
        replace(held, translations=translations)
    rotations = np.array(held.rotations)
    rotations[2, :, 2] += 20.0
    with pytest.raises(ArgumentError, match=r"^Nodes: rotations: mode 3 moves node 0 by .* rad, where the link is cla"):
        replace(held, rotations=rotations)
    with pytest.raises(ArgumentError, match=r"^Nodes: translations: mode 1 moves no node; leave it out$"):
        nodes_with(translations=[[[0.0, 0, 0], [0, 0, 0]]])

"""The complexity study: every version computes the same dynamics, and the recorded counts are those of this code."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.common import robots
from benchmarks.complexity import study as complexity
from benchmarks.complexity import versions as complexity_versions
from benchmarks.complexity.chain import generic
from benchmarks.complexity.fits import N, exact_fit, local_exponent, polynomial, written
from benchmarks.complexity.versions import COUNTED, LONGEST, OPERATIONS, TABLE_1, VERSIONS, Counts, Version
from tests.helpers.models import relative_error
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick

RECORDED = (robots.HERE / "results" / "complexity.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "complexity.md").read_text(encoding="utf-8")
BOTH = complexity.both


def recorded() -> Counts:
    """The counts that stand in the tables of the results."""
    counts: Counts = {version: {} for version in VERSIONS}
    versions = {version.name: version for version in VERSIONS}
    for operation in OPERATIONS:
        section = RECORDED.split(f"## {operation.capitalize()}\n")[1].split("##")[0]
        for line in section.splitlines():
            name, *cells = line.strip("| ").split(" | ")
            if name in versions:
                for n, cell in enumerate(cells, start=1):
                    if cell != "–":
                        counts[versions[name]].setdefault(n, {})[operation] = int(cell)
    return counts


def version(formulation: str, way: str, once: bool = True, outputs: str = complexity_versions.PARTS) -> Version:
    (only,) = (x for x in VERSIONS if x[:4] == (formulation, way, outputs, once))
    return only


# The versions


@pytest.mark.parametrize("n", quick([1, 2, 3, 4], 2))
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_every_version_gives_what_pinocchio_gives(version: Version, n: int) -> None:
    model = generic(n).model()
    data = model.createData()
    q, v, a = np.random.default_rng(n).normal(size=(3, n))
    found = complexity_versions.graph(version, n)(q=q, v=v, a=a)
    g = pin.computeGeneralizedGravity(model, data, q).copy()
    true = {
        "D": pin.crba(model, data, q).copy(),
        "H": pin.nonLinearEffects(model, data, q, v) - g,
        "G": g,
        "tau": pin.rnea(model, data, q, v, a),
    }
    assert set(found) == ({"tau"} if version.outputs == "τ" else set(true))
    for name, value in found.items():
        assert relative_error(value.full().reshape(true[name].shape), true[name]) < 1e-12, name


def test_longer_chains_begin_like_shorter_ones_and_nothing_is_zero() -> None:
    long = generic(5)
    for mine, link in zip(generic(3).links, long.links, strict=False):
        assert mine.alpha == link.alpha
        assert np.array_equal(mine.inertia, link.inertia)
    for link in long.links:
        values = [link.d, link.a, np.sin(link.alpha), np.cos(link.alpha), link.mass, *link.com, *link.inertia.flat]
        assert np.abs(values).min() > 1e-3
    assert np.abs(long.gravity).min() > 1e-3
    assert min(np.linalg.eigvalsh(link.inertia).min() for link in long.links) > 0


# Table 1


def test_table_1_counts_whole_operations() -> None:
    for row, n in itertools.product(TABLE_1.values(), range(1, LONGEST + 1)):
        assert all(row[operation].eval(n).is_integer for operation in COUNTED)
    at_six = [[complexity.printed(name, 6)[6][operation] for operation in COUNTED] for name in ("L-E", "G-D", "N-E")]
    assert at_six == [[101348, 77405], [2963, 2209], [792, 662]]


def test_the_leading_terms_are_those_of_four_full_products_for_each_trace() -> None:
    leading = [Fraction(str(TABLE_1["L-E"][operation].LC())) for operation in COUNTED]
    assert leading == [Fraction(4 * 4**3, 6), Fraction(4 * 4 * 4 * 3 + 4, 6)]


# Fits


def test_an_exact_polynomial_is_found_from_where_it_holds() -> None:
    cubic = {n: 2 * n**3 - 5 * n + 1 for n in range(1, 12)}
    fit = exact_fit({**cubic, 1: 7, 2: 8})
    assert fit is not None
    assert (written(fit.polynomial), fit.start, fit.held_out) == ("2 n³ − 5 n + 1", 3, (7, 8, 9, 10, 11))
    halves = exact_fit({n: n * (n + 1) // 2 for n in range(1, 8)})
    assert halves is not None
    assert halves.polynomial == polynomial("1/2", "1/2", 0)


def test_one_count_that_does_not_fit_is_enough_to_have_no_polynomial() -> None:
    cubic = {n: 2 * n**3 - 5 * n + 1 for n in range(1, 12)}
    assert exact_fit({**cubic, 10: cubic[10] + 1}) is None
    assert exact_fit({n: cubic[n] for n in range(1, 7)}) is None  # two counts alone would be held out


def test_the_exponent_is_local() -> None:
    assert local_exponent({1: 100, 6: 3 * 6**4, 7: 3 * 7**4}) == pytest.approx(4, rel=1e-12)


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        (("128/3", 0, "-1/2", 1, -3), "128/3 n⁴ − 1/2 n² + n − 3"),
        ((-1, 0), "−n"),
        ((132, 0), "132 n"),
        ((7,), "7"),
    ],
)
def test_polynomials_are_written_as_in_print(coefficients: tuple[int | str, ...], text: str) -> None:
    assert written(polynomial(*coefficients)) == text
    assert polynomial(*coefficients).gens == (N,)


# What is recorded


@pytest.mark.long
def test_the_recorded_counts_are_those_of_this_code() -> None:
    counts = recorded()
    for version, row in complexity_versions.measure(3).items():
        assert row == {n: counts[version][n] for n in (1, 2, 3)}, version.name
    assert all(list(counts[version]) == list(range(1, version.longest + 1)) for version in VERSIONS)


@pytest.mark.long
def test_the_recorded_text_follows_from_the_recorded_counts() -> None:
    assert complexity.table(recorded()) == RECORDED


@pytest.mark.long
def test_the_orders_are_those_of_the_page() -> None:
    counts = recorded()
    degrees = {}
    for x in VERSIONS:
        fit = exact_fit(BOTH(counts[x]))
        degrees[x.formulation, x.way, x.outputs, x.once] = fit.polynomial.degree() if fit else None
    parts, torques = complexity_versions.PARTS, complexity_versions.TORQUES
    for formulation, cached in (("L-E", 4), ("G-D", 3)):
        assert degrees[formulation, "literal", parts, False] == 5
        assert degrees[formulation, "cached", parts, False] == cached
        assert degrees[formulation, "literal", parts, True] == cached
        assert degrees[formulation, "suffix sums", parts, True] == 2
        assert degrees[formulation, "suffix sums", torques, True] == 1
    assert degrees["N-E", "textbook", torques, False] == degrees["N-E", "regrouped inertia", torques, True] == 1


def test_bookkeeping_is_what_1982_measured() -> None:
    counts = recorded()

    def ratio(way: str, once: bool, n: int) -> float:
        l_e, g_d = (BOTH(counts[version(formulation, way, once)])[n] for formulation in ("L-E", "G-D"))
        return l_e / g_d

    for n in range(6, LONGEST + 1):
        of_1982 = BOTH(complexity.printed("L-E", n))[n] / BOTH(complexity.printed("G-D", n))[n]
        assert of_1982 > ratio("literal", False, n) > ratio("cached", False, n) > 4
        assert ratio("suffix sums", True, n) == pytest.approx(1, abs=0.05)  # as the page says: within 5 %
    literal = BOTH(counts[version("L-E", "literal", once=False)])
    assert [n for n in literal if literal[n] > BOTH(complexity.printed("L-E", n))[n]] == list(range(6, LONGEST + 1))


def test_newton_euler_is_the_cheapest_with_the_same_outputs() -> None:
    counts = recorded()
    for own, others in (("composite bodies", complexity_versions.PARTS), ("regrouped inertia", "τ")):
        n_e = BOTH(counts[version("N-E", own, outputs=others)])
        for formulation in ("L-E", "G-D"):
            row = BOTH(counts[version(formulation, "suffix sums", outputs=others)])
            assert all(n_e[n] < row[n] for n in range(2, LONGEST + 1))


# The page


def test_every_number_of_the_page_is_recorded() -> None:
    lines = RECORDED.splitlines()
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert len(rows) > 20
    assert [row for row in rows if row not in lines] == []
    prose = "\n".join(line for line in PAGE.splitlines() if not line.startswith("|"))
    prose = re.sub("RSD-TR-8-82|1982|eqs. 30–33", "", prose)
    numbers = set(re.findall(r"\d+(?:[./]\d+)?", prose))
    in_the_results = set(re.findall(r"\d+(?:[./]\d+)?", RECORDED))
    assert {x for x in numbers if len(x) > 1} - in_the_results == set()


# The script


@pytest.mark.extras
def test_no_two_texts_of_the_figure_overlap() -> None:
    figure = complexity.draw(recorded())
    figure.set_dpi(180)
    figure.draw_without_rendering()
    for axis in figure.axes:
        boxes = [text.get_window_extent().padded(-2) for text in axis.texts]
        assert len(boxes) >= 3
        assert [pair for pair in itertools.combinations(boxes, 2) if pair[0].overlaps(pair[1])] == []
        assert all(box.x1 < axis.get_window_extent().x1 + 2 for box in boxes)


@pytest.mark.extras
def test_the_lines_of_the_figure_are_the_counts() -> None:
    counts = recorded()
    panels = complexity.lines_of(counts)
    assert [len(lines) for lines in panels.values()] == [3, 5, 6]
    for axis, lines in zip(complexity.draw(counts).axes, panels.values(), strict=True):
        drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axis.lines]
        assert all((list(line.counts), list(line.counts.values())) in drawn for line in lines)
        assert sorted(text.get_text() for text in axis.texts) == sorted(line.text for line in lines)
    assert BOTH(counts[version("L-E", "literal", once=False)]) in [line.counts for line in panels["as written"]]

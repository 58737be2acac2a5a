"""Motions as Fourier series: their derivatives, ends and periods, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.identification import Excitation
from gdalembert.identification.fourier import coefficients_at_rest, rows

K, PERIOD = 4, 3.0


def motion() -> Excitation:
    """Two of three joints move, in another order than q; they begin and end at rest."""
    basis = coefficients_at_rest(K)
    return Excitation(
        model="robot",
        joints=("b", "c"),
        period=PERIOD,
        coefficients=basis @ np.random.default_rng(0).normal(size=(basis.shape[1], 2)),
        hold=np.array([0.6, 0.8, 7.0, 8.0]),
        q_indices=(2, 3),
        v_indices=(1, 2),
        nv=3,
        parameters=("b.m",),
        condition_number=3.0,
        first_condition_number=30.0,
        limits={"velocity of b": 0.95, "velocity of c": 0.4, "path 1": 0.6},
        excess={},
        cost=-1.0,
        status="Solve_Succeeded",
    )


def test_derivatives_are_exact() -> None:
    """Of q by differences of sixth order: (2π K / period)⁷ h⁶ / 140 of the coefficients is 1e-10."""
    moved, h = motion(), 1e-3
    t = np.linspace(0.1, 2.9, 23)
    for value, rate, of_joints in ((moved.q, moved.v, [2, 3]), (moved.v, moved.a, [1, 2])):
        weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
        differences = sum(w * (value(t + k * h) - value(t - k * h)) for k, w in weights.items()) / h
        assert differences[:, of_joints] == pytest.approx(rate(t)[:, [1, 2]], abs=1e-9)


def test_the_series_is_that_of_the_source() -> None:
    """Term by term, as it is written there."""
    moved, t = motion(), 1.234
    w = 2 * np.pi / PERIOD
    center, a, b = moved.coefficients[0], moved.coefficients[1 : K + 1], moved.coefficients[K + 1 :]
    terms = [a[k - 1] / (w * k) * np.sin(w * k * t) - b[k - 1] / (w * k) * np.cos(w * k * t) for k in range(1, K + 1)]
    assert moved.q(t)[2:] == pytest.approx(center + sum(terms), rel=1e-13)


def test_it_is_periodic_and_at_rest_at_its_ends() -> None:
    moved = motion()
    ends = np.array([0.0, PERIOD, 2 * PERIOD])
    assert moved.v(ends) == pytest.approx(0, abs=1e-13)
    assert moved.a(ends) == pytest.approx(0, abs=1e-12)  # of ω K times the coefficients
    assert np.abs(moved.q(ends) - moved.q(0.0)).max() < 1e-13
    assert np.linalg.matrix_rank(coefficients_at_rest(K)) == 2 * K - 1


def test_joints_that_are_held_stay() -> None:
    moved, t = motion(), np.linspace(0, 1, 5)
    assert np.all(moved.q(t)[:, :2] == [0.6, 0.8])
    assert np.all(moved.v(t)[:, 0] == 0)
    assert np.all(moved.a(t)[:, 0] == 0)


def test_one_instant_is_a_row() -> None:
    moved = motion()
    for of in (moved.q, moved.v, moved.a):
        assert of(0.7).ndim == 1
        assert np.all(of(0.7) == of([0.7])[0])


def test_it_is_a_function_of_casadi_too() -> None:
    moved, t = motion(), np.linspace(0, 7, 29)
    found = moved.function(t[None, :])
    for part, of in zip(found, (moved.q, moved.v, moved.a), strict=True):
        assert np.abs(part.full().T - of(t)).max() < 1e-12 * np.abs(of(t)).max()


def test_samples_are_at_equal_steps() -> None:
    moved = motion()
    t, q, v, a = moved.samples(100, periods=2)
    assert len(t) == 601
    assert t[[0, 300, 600]] == pytest.approx([0, PERIOD, 2 * PERIOD])
    for rows_of, of in ((q, moved.q), (v, moved.v), (a, moved.a)):
        assert np.all(rows_of == of(t))
    assert len(moved.samples(33.4)[0]) == 102  # 101 steps of a period, a little shorter


def test_rows_of_a_series_are_orthogonal() -> None:
    """Over equidistant instants of a period, as of any Fourier series."""
    v = rows(np.arange(16) * PERIOD / 16, PERIOD, K)["v"][:, 1:]
    assert v.T @ v == pytest.approx(8 * np.eye(2 * K), abs=1e-13)


def test_it_goes_through_json() -> None:
    moved = motion()
    read = Excitation.from_dict(json.loads(json.dumps(moved.to_dict())))
    assert read.to_dict() == moved.to_dict()
    assert np.all(read.q([0.1, 0.2]) == moved.q([0.1, 0.2]))
    assert not read.coefficients.flags.writeable


def test_it_says_what_it_is() -> None:
    moved = motion()
    assert str(moved) == (
        "robot: 4 harmonics in 3 s excite 1 parameters\n"
        "  condition number 3, that of the random motion before 30\n"
        "  at most, of a limit: velocity 95% (b), path 1 60%"
    )
    assert repr(moved) == "Excitation('robot', period=3, harmonics=4, condition_number=3)"
    assert moved.duration == PERIOD


REFUSED = [
    (lambda m: m.samples(0), ArgumentError, "samples: rate: got 0; give one finite number [Hz], above 0"),
    (lambda m: m.samples(10, 0), ArgumentError, "samples: periods: got 0; give an integer of at least 1"),
    (
        lambda m: m.samples(2.5),
        ArgumentError,
        "samples: 2.5 Hz is at most twice the highest frequency of the motion, 1.33333 Hz; give more",
    ),
    (lambda m: m.q("x"), ArgumentTypeError, "q: t: expected numbers, got 'x'"),
    (lambda m: m.v([0, np.nan]), ArgumentError, "v: t: entry [1] is nan; give finite numbers"),
    (
        lambda m: Excitation.from_dict({"model": "robot"}),
        ArgumentError,
        "Excitation.from_dict: no 'joints'; give what to_dict returned",
    ),
    (lambda m: Excitation.from_dict([1]), ArgumentTypeError, "Excitation.from_dict: expected a mapping, got list"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_has_no_meaning_is_refused(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call(motion())

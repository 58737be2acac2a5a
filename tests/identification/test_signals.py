"""Filtered signals: gain, phase, derivatives, ends; and what is refused."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError

T = np.arange(0, 10.001, 0.01)
W = 2 * np.pi * np.array([0.1, 0.4, 1.0])
Q = np.sin(np.outer(T, W))
V = W * np.cos(np.outer(T, W))
A = -(W**2) * Q
METHODS = ("butterworth", "savitzky_golay")


def filtered(*arguments: object, **options: object) -> gd.identification.Signals:
    return gd.identification.filtered(*arguments, **{"cutoff": 10.0, **options})


@pytest.mark.parametrize(("method", "tolerance"), [("butterworth", 1e-6), ("savitzky_golay", 1e-3)])
def test_slow_signals_pass_with_their_derivatives(method: str, tolerance: float) -> None:
    """A tenth of the cutoff at most; the ends that are left are as good as the middle. Savitzky–Golay's polynomial of
    degree four over 0.19 s misses the third derivative of v by some 1e-4."""
    found = filtered(T, Q, Q, method=method)
    kept = np.searchsorted(T, found.t - 1e-6)
    assert found.t == pytest.approx(T[kept])
    assert found.rate == pytest.approx(100)
    assert found.t[0] - T[0] == pytest.approx(found.trimmed)
    assert T[-1] - found.t[-1] == pytest.approx(found.trimmed)
    for part, exact in ((found.q, Q), (found.v, V), (found.a, A), (found.tau, Q)):
        assert np.abs(part - exact[kept]).max(axis=0) == pytest.approx(0, abs=tolerance * np.abs(exact).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [None, 80.0])
def test_what_is_missing_of_a_torque_stays_missing(method: str, rate: float | None) -> None:
    """NaN, and what the filter mixes with it: whatever stood there, the other values are those without it."""
    whole = filtered(T, Q, Q + 5, method=method, rate=rate)
    tau = Q + 5
    tau[400:420, 0], tau[:, 2] = np.nan, np.nan
    found = filtered(T, Q, tau, method=method, rate=rate)
    gap = (found.t > T[399] + 1e-9) & (found.t < T[420] - 1e-9)
    assert np.isnan(found.unfiltered_tau).tolist() == np.column_stack([gap, 0 * gap, 0 * gap + 1]).astype(bool).tolist()
    assert np.isnan(found.tau[:, 2]).all()
    settling = filtered(T, Q, method=method, rate=rate).trimmed
    beside = (found.t > T[400] - settling - 1e-9) & (found.t < T[419] + settling + 1e-9)
    first = np.isnan(found.tau[:, 0])
    assert not first[~beside & ~np.roll(beside, 1) & ~np.roll(beside, -1)].any()
    assert first[beside].mean() > 0.97
    seen = np.isfinite(found.tau)
    assert found.tau[seen] == pytest.approx(whole.tau[seen], abs=1e-3)  # as settled as the ends
    assert np.array_equal(found.tau[:, 1], whole.tau[:, 1])
    assert np.array_equal(found.q, whole.q)


@pytest.mark.parametrize("order", [2, 4, 7])
def test_half_of_the_power_is_left_at_the_cutoff(order: int) -> None:
    """Of the filter forwards and backwards; a little less at frequencies that the bilinear transformation warps."""
    wave = np.cos(2 * np.pi * 2.0 * T)[:, None]
    found = filtered(T, wave, cutoff=2.0, order=order)
    assert np.mean(found.q**2) == pytest.approx(np.mean(wave**2) / 2, rel=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_delayed(method: str) -> None:
    """A signal that is even about the middle stays so; the filter commutes with a reversal of time."""
    noise = np.random.default_rng(0).standard_normal((len(T), 2))
    one, other = filtered(T, noise, method=method), filtered(T, noise[::-1], method=method)
    assert other.q[::-1] == pytest.approx(one.q, abs=1e-3 * np.abs(one.q).max())  # starts of the filter, 1e-3 settled
    even = np.exp(-((T - 5) ** 2))[:, None]
    assert filtered(T, even, method=method).v[len(filtered(T, even, method=method).v) // 2] == pytest.approx(
        0, abs=1e-9
    )


@pytest.mark.parametrize(("method", "tolerance"), [("butterworth", 0.1), ("savitzky_golay", 0.15)])
def test_noise_is_taken_away(method: str, tolerance: float) -> None:
    """White noise above the cutoff: a fifth of its power is below 10 of 50 Hz, but for the slope of the filter."""
    noise = np.random.default_rng(1).standard_normal((20001, 1))
    found = filtered(np.arange(20001) / 100, noise, method=method)
    assert np.mean(found.q**2) == pytest.approx(0.2, rel=tolerance)


def test_signals_at_any_times_are_interpolated() -> None:
    uneven = T + 0.003 * np.sin(7 * T)
    q = np.sin(np.outer(uneven, W))
    found = filtered(uneven, q, q, rate=100)
    assert np.diff(found.t) == pytest.approx(0.01)
    assert found.a == pytest.approx(-(W**2) * np.sin(np.outer(found.t, W)), abs=0.01)  # 1e-4 of the largest is 0.004
    assert found.tau == pytest.approx(np.sin(np.outer(found.t, W)), abs=1e-6)


def test_the_ends_can_be_kept() -> None:
    found = filtered(T, Q, trim=0)
    assert len(found.t) == len(T)
    assert filtered(T, Q, trim=1.0).t[[0, -1]] == pytest.approx([1.0, 9.0])


def test_decimation_acts_alike_on_both_sides() -> None:
    """It is linear in the rows, their ends included: what was equal stays equal."""
    rng = np.random.default_rng(2)
    y, p = rng.standard_normal((500, 3, 4)), rng.standard_normal(4)
    fewer = gd.identification.decimated(y, 5)
    assert fewer.shape == (100, 3, 4)
    assert fewer @ p == pytest.approx(gd.identification.decimated(y @ p, 5), abs=1e-12)
    slow = gd.identification.decimated(Q, 5)
    assert slow[20:-20] == pytest.approx(Q[::5][20:-20], abs=1e-4)  # ends apart: there it rings
    assert np.all(gd.identification.decimated(Q, 1) == Q)


def test_decimation_leaves_independent_errors() -> None:
    noise = np.random.default_rng(3).standard_normal((50000, 1))
    fewer = gd.identification.decimated(noise, 10)[:, 0]
    assert abs(np.corrcoef(fewer[1:], fewer[:-1])[0, 1]) < 0.2  # neighbours; 0.9 of the band is left
    assert np.mean(fewer**2) == pytest.approx(0.09, rel=0.1)


NAN = Q.copy()
NAN[17, 1] = np.nan
LATE = T.copy()
LATE[5] = LATE[4]
GAP = T.copy()
GAP[300:] += 0.05

REFUSED = [
    ((T, Q), {"cutoff": 1e-300}, "filtered: cutoff is 1e-300 Hz, and the measurement lasts 10 s; give more Hz"),
    ((T, Q), {"rate": 1e12}, "filtered: rate=1e+12 makes 1e+13 samples of 1001; give about 100"),
    ((T, Q), {"rate": 1e-9}, "filtered: rate=1e-09 makes 1e-08 samples of 1001; give about 100"),
    ((T, NAN), {}, "filtered: q is nan in row 17, column 1; give finite numbers"),
    ((T, Q, np.where(np.isnan(NAN), np.inf, Q)), {}, "filtered: tau is inf in row 17, column 1; give finite numbers"),
    ((T, Q[:-1]), {}, "filtered: t has 1001 instants, q 1000 rows; give one for each"),
    ((T, Q, Q[:7]), {}, "filtered: t has 1001 instants, tau 7 rows; give one for each"),
    ((T, Q[:, 0]), {}, "filtered: q has shape (1001,); give (N, n), one row for each sample"),
    ((Q, Q), {}, "filtered: t has shape (1001, 3); give (N,), the instants"),
    ((LATE, Q), {}, "filtered: t is 0.04 s in row 4 and 0.04 s in the next; sort it"),
    (
        (GAP, Q),
        {},
        "filtered: the step after row 299 is 0.06 s and the mean 0.01005 s; give equal steps, or rate=99.5 to "
        "interpolate",
    ),
    ((T, Q), {"cutoff": 50.0}, "filtered: cutoff is 50 Hz and half of the sampling rate 50 Hz; give less"),
    (
        (T, Q),
        {"cutoff": 49.0, "order": 1},
        "filtered: cutoff is 49 Hz; a filter of order 1 at 100 Hz takes less than 32.18 Hz",
    ),
    (
        (T[:40], Q[:40]),
        {},
        "filtered: 40 samples are too few for order 4, 10 Hz of cutoff at 100 Hz and 0.28 s left out at each end; give "
        "at least 85",
    ),
    (
        (T, Q),
        {"trim": 6},
        "filtered: 1001 samples are too few for order 4, 10 Hz of cutoff at 100 Hz and 6 s left out at each end; give "
        "at least 1201",
    ),
    ((T, Q), {"cutoff": 0.0}, "filtered: cutoff: got 0.0; give one finite number [Hz], above 0"),
    ((T, Q), {"order": 2, "method": "savitzky_golay"}, "filtered: order: got 2; give an integer from 3 to 12"),
    ((T, Q), {"method": "fft"}, "filtered: method: got 'fft'; give 'butterworth' or 'savitzky_golay'"),
    ((T[:3], Q[:3]), {"rate": 100}, "filtered: 3 samples are too few to interpolate; give at least 4"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), REFUSED)
def test_what_cannot_be_filtered_is_refused(
    arguments: tuple[np.ndarray, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}$"):
        filtered(*arguments, **options)


def test_what_cannot_be_decimated_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^decimated: 48 rows are too few for factor 2; give at least 49$"):
        gd.identification.decimated(Q[:48], 2)
    with pytest.raises(ArgumentError, match=r"^decimated: rows is nan in row 17, column 1; give finite numbers$"):
        gd.identification.decimated(NAN, 2)
    with pytest.raises(ArgumentTypeError, match=r"^filtered: q: expected numbers"):
        filtered(T, [["x"]] * len(T))


def test_as_few_samples_as_it_says_are_enough() -> None:
    for method, order in (("butterworth", 1), ("butterworth", 4), ("savitzky_golay", 4)):
        lengths = []
        for count in (2, 1001):
            try:
                lengths.append(len(filtered(T[:count], Q[:count], method=method, order=order).t))
            except ArgumentError as error:
                least = int(str(error).rsplit(maxsplit=1)[-1])
                lengths.append(len(filtered(T[:least], Q[:least], method=method, order=order).t))
        assert all(0 < fewer < more for fewer, more in pairwise(lengths))


def test_measured_velocities_are_filtered_and_differentiated_once() -> None:
    """Of a sine their derivative is as exact; with noise of encoders it is less noisy than the second of positions."""
    t = np.arange(0, 4, 0.002)
    rng, w = np.random.default_rng(0), 2 * np.pi
    q, v = np.sin(w * t)[:, None], w * np.cos(w * t)[:, None]
    exact = gd.identification.filtered(t, q, v=v, cutoff=40.0)
    assert exact.v[:, 0] == pytest.approx(w * np.cos(w * exact.t), rel=1e-3, abs=1e-3)
    assert exact.a[:, 0] == pytest.approx(-(w**2) * np.sin(w * exact.t), rel=1e-3, abs=1e-2)
    q, v = q + 1e-4 * rng.normal(size=q.shape), v + 1e-3 * rng.normal(size=v.shape)
    with_v, without = (gd.identification.filtered(t, q, cutoff=40.0, v=each) for each in (v, None))
    errors = [np.std(each.a[:, 0] + w**2 * np.sin(w * each.t)) for each in (with_v, without)]
    assert errors[0] < 0.2 * errors[1]
    with pytest.raises(ArgumentError, match=r"^filtered: t has 2000 instants, v 1999 rows; give one for each$"):
        gd.identification.filtered(t, q, v=v[1:], cutoff=40.0)


def test_positions_are_needed() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^filtered: q: expected numbers, got None$"):
        filtered(T, None)

"""Measured signals: zero-phase low-pass filters, derivatives, decimation.

A filter that runs forwards and then backwards delays nothing. q is filtered and differentiated; the torques go through
the same filter, since what it does to one side of tau = Y p it must do to the other (Khalil and Dombre, "Modeling,
identification and control of robots", 2002, chapter 12). Ours: derivatives are those of a quintic spline through the
filtered samples, in place of central differences, whose relative error is (ω / rate)² / 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import choice, integer, number, numbers, required
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief

_UNEVEN = 1e-3
"""Deviation of a step from the mean, relative to it, that counts as jitter of the clock's last digits."""
_DEGREE = 5
"""Degree of the splines that are differentiated."""
_SETTLED = 1e-3
"""Part of a step response of the filter that may be left at the ends that are kept."""
_DENSEST = 1000
"""Samples that are interpolated in place of one."""
_LEAST_PERIODS = 0.1
"""The part of a period of the cutoff that a measurement lasts at least: a filter takes longer to settle."""
_DECIMATION_ORDER, _DECIMATION_BAND = 8, 0.9

Filter = Callable[[Array], tuple[Array, Array, Array]]
"""Samples in rows → filtered, and its first and second derivative."""


@dataclass(frozen=True, eq=False)
class Signals(Brief):
    """Filtered samples of a motion, one row for each of N instants.

    Attributes:
        t: N [s]. ``rate``: samples per second [Hz].
        q, v, a: filtered positions and their derivatives (N × n).
        tau: filtered torques (N × m), or ``None``. ``unfiltered_tau``: torques as measured, at the same instants.
        trimmed: time that was left out at each end [s], where the filter has not settled.
    """

    t: Array
    rate: float
    q: Array
    v: Array
    a: Array
    tau: Array | None
    unfiltered_tau: Array | None
    trimmed: float


def filtered(
    t: npt.ArrayLike,
    q: npt.ArrayLike,
    tau: npt.ArrayLike | None = None,
    *,
    v: npt.ArrayLike | None = None,
    cutoff: float,
    method: str = "butterworth",
    order: int = 4,
    rate: float | None = None,
    trim: float | None = None,
) -> Signals:
    """Measured positions and torques without noise above a frequency, and velocities and accelerations, without delay.

    Args:
        t: instants (N) [s], at equal steps; with ``rate`` at any.
        q: positions (N × n) of joints with v = dq/dt [rad, m].
        tau: torques or currents (N × m) [N m, N; A], which pass the same filter. NaN is a sensor that tells nothing of
            that sample: it stays NaN, and what is filtered is NaN beside it, too, until the filter has settled.
        v: velocities (N × nv) [rad/s, m/s], if they were measured: they are filtered, and differentiated once, in place
            of the positions twice.
        cutoff: frequency at which half of the power is left [Hz]. Five to ten times the highest frequency of the motion
            (``harmonics / period``) is usual.
        method: ``"butterworth"`` forwards and backwards, and a spline through the result; or ``"savitzky_golay"``: a
            polynomial fitted to a window around each sample, which is about as long as the cutoff asks for (Schafer,
            "What is a Savitzky-Golay filter?", IEEE Signal Processing Magazine 28(4), 2011).
        order: that of the Butterworth filter, which acts twice; or of the polynomial, at least 3.
        rate: samples per second [Hz] to interpolate the measurement at, by cubic splines, before all else.
        trim: time to leave out at each end [s]; by default until the filter has settled.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used; the message names it, and the row.
        MissingPackageError: if SciPy is missing.
    """
    required("filtered", "scipy", "identification")
    choice("filtered: method", method, ("butterworth", "savitzky_golay"))
    order = integer("filtered: order", order, 3 if method == "savitzky_golay" else 1, 12)
    cutoff = number("filtered: cutoff", cutoff, "Hz")
    times, measured, missing = _at_equal_steps(t, {"q": q, "tau": tau, "v": v}, rate)
    torques, velocities = measured.get("tau"), measured.get("v")
    per_second = 1 / float((times[-1] - times[0]) / (len(times) - 1))
    _check_cutoff(cutoff, per_second, float(times[-1] - times[0]))
    make = _butterworth if method == "butterworth" else _savitzky_golay
    smooth, settling, least = make(cutoff, order, per_second)
    left_out = settling if trim is None else round(number("filtered: trim", trim, "s", inclusive=True) * per_second)
    least = max(least, 2 * left_out + 1)
    if len(times) < least:
        raise ArgumentError(
            f"filtered: {len(times)} samples are too few for order {order}, {cutoff:g} Hz of cutoff at "
            f"{per_second:g} Hz and {left_out / per_second:.3g} s left out at each end; give at least {least}"
        )
    kept = slice(left_out, len(times) - left_out)
    low, first, second = (part[kept] for part in smooth(measured["q"]))
    if velocities is not None:
        first, second, _ = (part[kept] for part in smooth(velocities))
    efforts, unfiltered = (None, None) if torques is None else _efforts(torques, missing, smooth, settling, kept)
    return Signals(times[kept], per_second, low, first, second, efforts, unfiltered, left_out / per_second)


def _check_cutoff(cutoff: float, rate: float, duration: float) -> None:
    """Refuse a cutoff above the Nyquist frequency, and one whose filter cannot settle."""
    if cutoff >= rate / 2:
        raise ArgumentError(
            f"filtered: cutoff is {cutoff:g} Hz and half of the sampling rate {rate / 2:g} Hz; give less"
        )
    if cutoff * duration < _LEAST_PERIODS:
        raise ArgumentError(
            f"filtered: cutoff is {cutoff:g} Hz, and the measurement lasts {duration:.3g} s; give more Hz"
        )


def _efforts(torques: Array, missing: Array, smooth: Filter, settling: int, kept: slice) -> tuple[Array, Array]:
    """Filtered efforts and those as measured: NaN where something was missing, and of the filtered ones as long beside
    it as the filter takes to settle."""
    low = smooth(torques)[0]
    if missing.any():
        beside = np.apply_along_axis(np.convolve, 0, missing, np.ones(2 * settling + 1), "same") > 0.5
        low, torques = np.where(beside, np.nan, low), np.where(missing, np.nan, torques)
    return low[kept], torques[kept]


def decimated(rows: npt.ArrayLike, factor: int) -> Array:
    """The remaining rows, every ``factor``-th one, after a zero-phase low-pass filter against aliasing along the rows.

    Applied alike to the torques and to the columns of the regressor, it removes noise above the frequencies of the
    motion, also from functions of q, v and a that are not linear in them, and leaves rows whose errors are nearly
    independent ("parallel decimation": Khalil and Dombre, chapter 12). The filter is Butterworth's of order 8,
    forwards and backwards, which leaves half of the power at 0.9 of the new Nyquist frequency.

    Args:
        rows: N × … samples at equal steps.
        factor: number of rows that become one.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
        MissingPackageError: if SciPy is missing.
    """
    required("decimated", "scipy", "identification")
    from scipy import signal

    values = _rows("decimated: rows", rows)
    factor = integer("decimated: factor", factor, 1)
    if factor == 1:
        return values
    padding = 3 * factor * _DECIMATION_ORDER
    if len(values) <= padding:
        raise ArgumentError(
            f"decimated: {len(values)} rows are too few for factor {factor}; give at least {padding + 1}"
        )
    sections = signal.butter(_DECIMATION_ORDER, _once(_DECIMATION_BAND / factor, _DECIMATION_ORDER), output="sos")
    return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padlen=padding)[::factor])


def _at_equal_steps(t: Any, signals: dict[str, Any], rate: float | None) -> tuple[Array, dict[str, Array], Array]:
    """The measurement: as many rows as times, which increase by equal steps, or are interpolated at a rate; and where
    torques are missing, in place of which a line between those beside them stands."""
    from scipy.interpolate import make_interp_spline

    times = numbers("filtered: t", t)
    if times.ndim != 1 or len(times) < 2:
        raise ArgumentError(f"filtered: t has shape {times.shape}; give (N,), the instants")
    measured = {
        name: _rows(f"filtered: {name}", rows, may_miss=name == "tau")
        for name, rows in signals.items()
        if rows is not None or name == "q"
    }
    for name, rows in measured.items():
        if len(rows) != len(times):
            raise ArgumentError(f"filtered: t has {len(times)} instants, {name} {len(rows)} rows; give one for each")
    missing = np.isnan(measured.get("tau", np.zeros(0)))
    steps = np.diff(times)
    if len(backwards := np.flatnonzero(steps <= 0)):
        k = int(backwards[0])
        raise ArgumentError(f"filtered: t is {times[k]:.9g} s in row {k} and {times[k + 1]:.9g} s in the next; sort it")
    mean = float((times[-1] - times[0]) / len(steps))
    if rate is not None:
        rate = number("filtered: rate", rate, "Hz")
        if len(times) < 4:
            raise ArgumentError(f"filtered: {len(times)} samples are too few to interpolate; give at least 4")
        if not 1 <= (count := (times[-1] - times[0]) * rate) <= _DENSEST * len(times):
            raise ArgumentError(
                f"filtered: rate={rate:g} makes {count:.3g} samples of {len(times)}; give about {1 / mean:.4g}"
            )
        even = times[0] + np.arange(math.floor((times[-1] - times[0]) * rate + 1e-9) + 1) / rate
        at = np.minimum(even, times[-1])
        for name, rows in measured.items():
            if name == "tau" and missing.any():
                measured[name] = np.apply_along_axis(_through, 0, rows, times, at, 3)
                missing = np.apply_along_axis(lambda column: np.interp(at, times, column) > 0, 0, missing)
            else:
                measured[name] = np.asarray(make_interp_spline(times, rows, k=3)(at))
        times = even
    elif (off := np.abs(steps / mean - 1)).max() > _UNEVEN:
        k = int(off.argmax())
        raise ArgumentError(
            f"filtered: the step after row {k} is {steps[k]:.4g} s and the mean {mean:.4g} s; give equal steps, or "
            f"rate={1 / mean:.4g} to interpolate"
        )
    elif missing.any():
        measured["tau"] = np.apply_along_axis(_through, 0, measured["tau"], times, times, 1)
    return times, measured, missing


def _through(column: Array, times: Array, at: Array, degree: int) -> Array:
    """A spline through what was measured of a column with NaN; 0 if that is next to nothing."""
    from scipy.interpolate import make_interp_spline

    seen = np.isfinite(column)
    if np.count_nonzero(seen) <= degree:
        return np.zeros(len(at))
    inside = np.clip(at, times[seen][0], times[seen][-1])
    return np.asarray(make_interp_spline(times[seen], column[seen], k=degree)(inside))


def _rows(argument: str, samples: Any, *, may_miss: bool = False) -> Array:
    """Finite numbers, one row for each sample; or NaN, where some may be missing."""
    rows = numbers(argument, samples, finite=False)
    if rows.ndim < 2:
        raise ArgumentError(f"{argument} has shape {rows.shape}; give (N, n), one row for each sample")
    if len(wrong := np.argwhere(np.isinf(rows) if may_miss else ~np.isfinite(rows))):
        row, column = (int(k) for k in wrong[0][:2])
        raise ArgumentError(f"{argument} is {rows[tuple(wrong[0])]} in row {row}, column {column}; give finite numbers")
    return rows


def _once(cutoff: float, order: int) -> float:
    """The cutoff of a Butterworth filter that leaves half of the power at ``cutoff`` after two passes."""
    return float(cutoff / (math.sqrt(2) - 1) ** (1 / (2 * order)))


def _butterworth(cutoff: float, order: int, rate: float) -> tuple[Filter, int, int]:
    """The filter, the samples that it needs to settle, and the least number of them."""
    from scipy import signal
    from scipy.interpolate import make_interp_spline

    once = _once(cutoff, order)
    if once >= rate / 2:
        raise ArgumentError(
            f"filtered: cutoff is {cutoff:g} Hz; a filter of order {order} at {rate:g} Hz takes less than "
            f"{cutoff / once * rate / 2:.4g} Hz"
        )
    # Sections of second order: the coefficients of one polynomial lose the digits of a low cutoff.
    sections = signal.butter(order, once, fs=rate, output="sos")
    slowest = np.abs(signal.butter(order, once, fs=rate, output="zpk")[1]).max()
    settling = math.ceil(math.log(_SETTLED) / math.log(slowest))

    def smooth(rows: Array) -> tuple[Array, Array, Array]:
        low = signal.sosfiltfilt(sections, rows, axis=0, padlen=padding)
        # Central differences of second order are off by (ω / rate)² / 6: at a tenth of the rate, by 7 %.
        spline = make_interp_spline(np.arange(len(low)) / rate, low, k=_DEGREE)
        at = np.arange(len(low)) / rate
        return low, spline(at, 1), spline(at, 2)

    padding = max(3 * settling, 3 * (2 * len(sections) + 1))
    return smooth, settling, padding + 1


def _savitzky_golay(cutoff: float, order: int, rate: float) -> tuple[Filter, int, int]:
    """The filter, half of its window, and the least number of samples."""
    from scipy.signal import savgol_filter

    # Schafer 2011: in units of the Nyquist frequency, cutoff = (order + 1) / (3.2 half − 4.6)
    half = max(round(((order + 1) * rate / (2 * cutoff) + 4.6) / 3.2), order // 2 + 1)
    window = 2 * half + 1

    def smooth(rows: Array) -> tuple[Array, Array, Array]:
        low, first, second = (savgol_filter(rows, window, order, k, 1 / rate, axis=0) for k in range(3))
        return low, first, second

    return smooth, half, window

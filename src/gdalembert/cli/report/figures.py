"""Figures of a report as SVG: lines over time, points from two sides, bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gdalembert.cli.report.page import escape
from gdalembert.spatial.arrays import Array

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8A8A")
"""The palette of Okabe and Ito, which colour-blind readers can distinguish, and a grey."""
INK = "#222222"
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 340, 190, 46, 26, 22
_COLUMNS = 3
_SIDE = 330


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers between two others."""
    raw = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = unit * next(factor for factor in (1, 2, 5, 10) if factor * unit >= raw * (1 - 1e-9))
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _text(x: float, y: float, text: str, *, anchor: str = "middle", size: float = 11, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _line(points: Array, color: str, width: float, dash: str = "") -> str:
    path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}"{extra}/>'


def _panel(title: str, t: Array, lines: Mapping[str, Array], styles: Sequence[tuple[str, float]]) -> str:
    low, high = (float(bound([bound(values) for values in lines.values()])) for bound in (np.min, np.max))
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-12:
        low, high = -1.0, 1.0
    low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
    across, up = _WIDTH - _LEFT - 10, _HEIGHT - _BELOW - _ABOVE

    def x(value: Array) -> Array:
        return np.asarray(_LEFT + across * (value - t[0]) / (t[-1] - t[0]))

    def y(value: Array) -> Array:
        return np.asarray(_ABOVE + up * (high - value) / (high - low))

    parts = [_text(_LEFT, 13, title, anchor="start", size=12, more=' style="fill:#1d2430;font-weight:600"')]
    for tick in ticks(low, high):
        at = float(y(np.array(tick)))
        color = "#9aa3af" if abs(tick) < 1e-12 else "#e2e6ec"
        parts.append(f'<path d="M{_LEFT},{at:.1f}h{across}" stroke="{color}"/>')
        parts.append(_text(_LEFT - 5, at + 4, f"{tick:.6g}", anchor="end"))
    seconds = ticks(float(t[0]), float(t[-1]))
    parts += [_text(float(x(np.array(tick))), _HEIGHT - 9, f"{tick:.6g} s") for tick in seconds]
    for values, (color, width) in zip(lines.values(), styles, strict=True):
        parts.append(_line(np.column_stack([x(t), y(values)]), color, width))
    return "".join(parts)


def line_panels(t: Array, panels: Mapping[str, Mapping[str, Array]]) -> str:
    """Lines over time [s], a panel for each title; the first line of each is black, and all have the same names."""
    names = list(next(iter(panels.values())))
    styles = [(INK, 2.0), *((color, 1.5) for color in COLOURS)][: len(names)]
    columns = min(_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    parts, at = [], 4.0
    for name, (color, width) in zip(names, styles, strict=True):
        parts.append(f'<path d="M{at},9h20" stroke="{color}" stroke-width="{width}"/>')
        parts.append(_text(at + 26, 13, name, anchor="start", size=12))
        at += 52 + 6.6 * len(name)
    for k, (title, lines) in enumerate(panels.items()):
        shift = f"translate({_WIDTH * (k % columns)},{24 + _HEIGHT * (k // columns)})"
        parts.append(f'<g transform="{shift}">{_panel(title, t, lines, styles)}</g>')
    wide = max(_WIDTH * columns, at)
    return f'<svg width="{wide:.0f}" viewBox="0 0 {wide:.0f} {24 + _HEIGHT * rows}">{"".join(parts)}</svg>'


def point_views(points: Mapping[str, Array], unit: str = "m") -> str:
    """Points (N × 3), by name, from the side (x, z) and from above (x, y), to one scale."""
    every = np.vstack([*points.values(), np.zeros((1, 3))])
    low, high = every.min(axis=0), every.max(axis=0)
    span = 1.08 * float(np.max(high - low)) or 1.0
    middle, parts = (low + high) / 2, []
    for column, (title, (i, j)) in enumerate({"from the side": (0, 2), "from above": (0, 1)}.items()):
        left = 40 + (_SIDE + 70) * column

        def place(at: Array, i: int = i, j: int = j, left: float = left) -> Array:
            scaled = np.stack([at[..., i] - middle[i], middle[j] - at[..., j]], axis=-1) / span
            return np.asarray(scaled * _SIDE + [left + _SIDE / 2, 22 + _SIDE / 2])

        parts.append(f'<rect x="{left}" y="22" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#e2e6ec"/>')
        parts.append(_text(left, 14, f"{title}: {'xyz'[i]} and {'xyz'[j]} [{unit}]", anchor="start", size=12))
        across, up = (ticks(middle[k] - span / 2, middle[k] + span / 2) for k in (i, j))
        at = [(left + _SIDE * (0.5 + (tick - middle[i]) / span), tick) for tick in across]
        parts += [_text(x, _SIDE + 37, f"{tick:.6g}") for x, tick in at]
        at = [(26 + _SIDE * (0.5 - (tick - middle[j]) / span), tick) for tick in up]
        parts += [_text(left - 5, y, f"{tick:.6g}", anchor="end") for y, tick in at]
        for k, positions in enumerate(points.values()):
            dots = "".join(f"M{x:.0f},{y:.0f}h0" for x, y in np.unique(np.rint(place(positions)), axis=0))
            color = COLOURS[k % len(COLOURS)]
            parts.append(f'<path d="{dots}" stroke="{color}" stroke-width="2" stroke-linecap="round" opacity=".55"/>')
        x, y = place(np.zeros(3))
        parts.append(f'<path d="M{x - 6:.1f},{y:.1f}h12M{x:.1f},{y - 6:.1f}v12" stroke="{INK}" stroke-width="1.6"/>')
    wide = 2 * _SIDE + 120
    return f'<svg width="{wide}" viewBox="0 0 {wide} {_SIDE + 44}">{"".join(parts)}</svg>'


def bars(rows: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Groups of horizontal bars with their values, by the names of the row and of the bar."""
    most = max(value for row in rows.values() for value in row.values())
    parts, y = [], 0.0
    for name, row in rows.items():
        parts.append(_text(0, y + 8 * len(row) + 4, name, anchor="start", size=12.5, more=' style="fill:#1d2430"'))
        for k, (label, value) in enumerate(row.items()):
            wide = max(1.0, 470 * value / most)
            parts.append(f'<rect x="235" y="{y:.0f}" width="{wide:.1f}" height="12" fill="{COLOURS[k]}" rx="2"/>')
            parts.append(_text(241 + wide, y + 10.5, f"{value:.3g} {unit}  {label}", anchor="start"))
            y += 16
        y += 10
    return f'<svg width="930" viewBox="0 0 930 {y:.0f}">{"".join(parts)}</svg>'

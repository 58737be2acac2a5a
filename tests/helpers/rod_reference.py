"""Cosserat rods apart from the recursion: NumPy and matrix exponentials of 4 × 4 motions, densely along the rod.

Time derivatives are Taylor coefficients: a motion W₀ + W₁ t + W₂ t² is a block Toeplitz matrix, whose products and
exponentials are those of the series. Derivatives by coordinates are complex steps.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import expm

UNITS = {
    "torsion": (3, 1.0),
    "bending_y": (5, 1.0),
    "bending_z": (4, -1.0),
    "elongation": (0, 1.0),
    "shear_y": (1, 1.0),
    "shear_z": (2, 1.0),
}


def hat(xi):
    """The 4 × 4 matrix of a twist, linear first."""
    x, y, z = xi[3:]
    return np.array([[0, -z, y, xi[0]], [z, 0, -x, xi[1]], [-y, x, 0, xi[2]], [0, 0, 0, 0]])


def series(coefficients):
    """The block Toeplitz matrix of X₀ + X₁ t + X₂ t²."""
    zero = np.zeros_like(coefficients[0])
    x0, x1, x2 = coefficients
    return np.block([[x0, x1, x2], [zero, x0, x1], [zero, zero, x0]])


def strain(strains, degree, x, q):
    """ξ (6) of the coordinates of a segment at x = −1 … 1, without that of the straight rod."""
    xi = np.zeros(6, dtype=np.result_type(q, float))
    p = legendre.legvander(np.array([x]), degree)[0]
    for name, own in zip(strains, np.asarray(q).reshape(len(strains), degree + 1), strict=True):
        component, sign = UNITS[name]
        xi[component] += sign * p @ own
    return xi


def motions(q, v, a, *, length, segments, strains, degree, rest=None, panels=10, points=8):
    """Abscissae, weights, and W₀, W₁, W₂ (4 × 4 each) at Gauss points of a rod behind a joint about z; last the tip."""
    n = len(strains) * (degree + 1)
    x, w = legendre.leggauss(points)
    step = length / segments / panels
    whole = expm(series([hat([0, 0, 0, 0, 0, c]) for c in (q[0], v[0], a[0] / 2)]))
    found = []

    def field(k, s):
        own = slice(1 + k * n, 1 + (k + 1) * n)
        at = 2 * (s - k * length / segments) * segments / length - 1
        parts = [strain(strains, degree, at, c[own]) for c in (q, v, a / 2)]
        parts[0] = parts[0] + np.array([1.0, 0, 0, 0, 0, 0])
        for name, of in (rest or {}).items():
            component, sign = UNITS[name]
            parts[0][component] += sign * of(s)
        return series([hat(xi) for xi in parts])

    for k in range(segments):
        for panel in range(panels):
            start = (k * panels + panel) * step
            here = start
            for s, weight in [*zip(start + (x + 1) / 2 * step, w / 2 * step, strict=True), (start + step, 0.0)]:
                h, gap = s - here, (s - here) * np.sqrt(3) / 6
                one, two = field(k, here + h / 2 - gap), field(k, here + h / 2 + gap)
                whole = whole @ expm(h / 2 * (one + two) + np.sqrt(3) / 12 * h * h * (one @ two - two @ one))
                here = s
                if weight:
                    found.append((s, weight, whole[:4, :4], whole[:4, 4:8], whole[:4, 8:12]))
    return found, whole[:4, :4]


def sections(beam, s):
    """J of the section at s (4 × 4)."""
    (j_y,), (j_z,) = beam.section_inertias(s)
    return np.diag([0.0, j_z, j_y, beam.along("mass_per_length", s)[0]])


def tau(beam, q, v, a, gravity, **rod):
    """Σ ∫ Tr(∂W J (Ẅ − G)ᵀ) ds, without elasticity."""
    rod = {"length": beam.length, **rod}
    field = np.zeros((4, 4))
    field[:3, 3] = gravity
    real, _ = motions(q, v, a, **rod)
    found = np.zeros(len(q))
    for i in range(len(q)):
        moved = np.array(q, dtype=complex)
        moved[i] += 1e-30j
        changed, _ = motions(moved, v, a, **rod)
        for (s, weight, *_, w2), (_, _, w0, _, _) in zip(real, changed, strict=True):
            found[i] += weight * np.trace(w0.imag / 1e-30 @ sections(beam, s) @ (2 * w2 - field).T)
    return found

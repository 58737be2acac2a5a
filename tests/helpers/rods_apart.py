"""Rods apart from the package: boundary value problems by shooting, elliptic integrals, and two-node elements.

A rod bends, twists, stretches and shears as far as it likes (Reissner, Simo): p' = R ν, R' = R [κ×], with ν − e_x and
κ − κ_0 the compliance times the force n and the moment m in the axes of the section. Nothing of ``src`` is used here.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from gdalembert.spatial.arrays import Array

TOLERANCES = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}


def cross(v: Array) -> Array:
    """[v×]."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def tip_under_force(
    length: float, compliance: Sequence[float], force: Sequence[float], curvature: float = 0.0, loads: int = 6
) -> Array:
    """The tip (3) of a clamped rod along x under a dead force on it, by shooting for the tip itself.

    The moment in a section is that of the force about it, m = (p(l) − p) × F, so that the tip is all that is unknown.

    Args:
        length: l [m].
        compliance: of stretch, shear in y and z, torsion, bending about y and z; zero where the rod is rigid.
        force: F (3), in the axes of the clamp [N].
        curvature: of the unloaded rod, about z [1/m].
        loads: steps in which the force is raised.
    """
    c, rest = np.asarray(compliance), np.array([0, 0, curvature])

    def end(tip: Array, push: Array) -> Array:
        def rate(_: float, y: Array) -> Array:
            r = y[3:].reshape(3, 3)
            nu = c[:3] * (r.T @ push) + np.array([1.0, 0, 0])
            kappa = c[3:] * (r.T @ np.cross(tip - y[:3], push)) + rest
            return np.concatenate([r @ nu, (r @ cross(kappa)).ravel()])

        start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
        return np.asarray(solve_ivp(rate, (0, length), start, **TOLERANCES).y[:3, -1])

    tip = end(np.zeros(3), np.zeros(3))
    for part in np.linspace(0, 1, loads + 1)[1:]:
        push = part * np.asarray(force, dtype=float)
        tip, _, flag, message = fsolve(lambda x, push=push: end(x, push) - x, tip, full_output=True, xtol=1e-12)
        if np.abs(end(tip, push) - tip).max() > 1e-8 * length:
            raise RuntimeError(f"the tip was not found ({flag}: {message})")
    return tip


def elastica(load: float) -> tuple[float, float, float]:
    """(u, w, θ) over l of a cantilever's tip under a dead force across it, F l²/EI, by elliptic integrals.

    u is how far the tip comes back, w how far it goes aside, θ its slope [rad].
    """

    def integrals(slope: float) -> tuple[float, float]:
        m = (1 + np.sin(slope)) / 2
        phi = np.arcsin(1 / np.sqrt(2 * m))
        return ellipk(m) - ellipkinc(phi, m), ellipe(m) - ellipeinc(phi, m)

    slope = brentq(lambda x: integrals(x)[0] - np.sqrt(load), 1e-9, np.pi / 2 - 1e-9, xtol=1e-15)
    first, second = integrals(slope)
    return 1 - np.sqrt(2 * np.sin(slope) / load), 1 - 2 * second / first, slope


def follower(load: float) -> Array:
    """The tip (x, y) over l of a cantilever whose force on the tip, P l²/EI, stays across it.

    In the axes of the tip the force is constant: one integration from there to the clamp, without anything to shoot.
    """

    def rate(_: float, y: Array) -> list[float]:
        """Of position, angle and curvature by the distance from the tip."""
        return [-np.cos(y[2]), -np.sin(y[2]), -y[3], load * np.cos(y[2])]

    x, y, angle, _ = solve_ivp(rate, (0, 1), np.zeros(4), **TOLERANCES).y[:, -1]
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray(turn @ np.array([-x, -y]))


def flapping(spin: float, near: float) -> float:
    """A frequency of a cantilever that spins about its root, across the plane of spin, in √(EI/μl⁴), by shooting.

    w'''' − γ²/2 ((1 − x²) w')' = f² w from the free tip to the clamp, for the two solutions that it admits.

    Args:
        spin: γ, in the same unit.
        near: a frequency within 2 % of it.
    """

    def rate(x: float, y: Array, f: float) -> Array:
        w, slope, bend, shear = y.reshape(4, 2)
        return np.concatenate([slope, bend, shear, f**2 * w + spin**2 * ((1 - x * x) / 2 * bend - x * slope)])

    def clamp(f: float) -> float:
        y = solve_ivp(rate, (1, 0), [1.0, 0, 0, 1.0, 0, 0, 0, 0], args=(f,), **TOLERANCES).y[:, -1]
        return float(y[0] * y[3] - y[1] * y[2])

    return float(brentq(clamp, 0.98 * near, 1.02 * near, xtol=1e-10))


def stretch(spin: float, length: float, per_length: float, stiffness: float) -> float:
    """By how much a bar that spins about its root is longer than at rest: tan(kl)/k − l, k² = μΩ²/EA."""
    k = spin * np.sqrt(per_length / stiffness)
    return float(np.tan(k * length) / k - length)


# Two-node elements


def bend_of_elements(elements: int, loads: Sequence[float]) -> list[Array]:
    """The tip (3) of the 45° bend under each load, by straight elements of two nodes and one point of integration.

    These are Simo and Vu-Quoc's (1986): positions are linear in an element, rotations turn about one axis. Newton's
    method on the energy, in steps of a sixtieth of the last load.
    """
    radius, modulus = 100.0, 1e7
    normal, shear, bending, torsion = modulus, modulus / 2, modulus / 12, modulus / 12
    angles = np.linspace(0, np.pi / 4, elements + 1)
    nodes = radius * np.column_stack([np.sin(angles), 1 - np.cos(angles), 0 * angles])
    x, force = ca.SX.sym("x", 6, elements), ca.SX.sym("force")
    points = ca.horzcat(ca.DM(nodes[0]), ca.DM(nodes[1:].T) + x[:3, :])
    turns = [ca.DM.eye(3), *(_rotation(x[3:, k]) for k in range(elements))]
    energy = -force * points[2, -1]
    for k in range(elements):
        span = nodes[k + 1] - nodes[k]
        h, angle = np.linalg.norm(span), np.arctan2(span[1], span[0])
        axes = ca.DM([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        between = _rotation_vector(turns[k].T @ turns[k + 1])
        middle = turns[k] @ _rotation(between / 2) @ axes
        gamma, kappa = middle.T @ (points[:, k + 1] - points[:, k]) / h - ca.DM([1, 0, 0]), axes.T @ between / h
        weights = ca.DM([normal, shear, shear, torsion, bending, bending])
        energy += h / 2 * ca.dot(weights, ca.vertcat(gamma, kappa) ** 2)
    hessian, gradient = ca.hessian(energy, x)
    newton, y, tips = ca.Function("newton", [x, force], [hessian, gradient]), np.zeros(6 * elements), list[Array]()
    tip, largest = ca.Function("tip", [x], [points[:, -1]]), max(loads)
    for load in sorted({*np.linspace(0, largest, 41)[1:], *loads}):
        for _ in range(30):
            matrix, slope = (part.full() for part in newton(y.reshape(6, -1, order="F"), load))
            step = np.linalg.solve(matrix, slope.ravel(order="F"))
            y -= step
            if np.abs(step).max() < 1e-10:
                break
        if load in loads:
            tips.append(tip(y.reshape(6, -1, order="F")).full().ravel())
    return tips


def _rotation(v: ca.SX) -> ca.SX:
    angle = ca.sqrt(ca.sumsqr(v) + 1e-24)
    return ca.DM.eye(3) + ca.sin(angle) / angle * ca.skew(v) + (1 - ca.cos(angle)) / angle**2 * ca.mpower(ca.skew(v), 2)


def _rotation_vector(r: ca.SX) -> ca.SX:
    axis = ca.vertcat(r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]) / 2
    sine = ca.sqrt(ca.sumsqr(axis) + 1e-24)
    return axis * ca.atan2(sine, (ca.trace(r) - 1) / 2) / sine

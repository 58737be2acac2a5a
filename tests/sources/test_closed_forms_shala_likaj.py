"""A. Shala, R. Likaj, Dynamic Modeling of 3 DoF Robot Manipulator: the R-P-R robot.

Derived and compared as formulas.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs

M1, M2, M3, BETA, L3, G = (gs.symbol(name) for name in ("m_1", "m_2", "m_3", "beta", "L_3", "g"))
V, A = ([gs.symbol(f"{letter}_{k}") for k in (1, 2, 3)] for letter in "va")
Q3 = gs.symbol("q_3")
COM = [[gs.symbol(f"s_{k}{axis}") for axis in "xyz"] for k in (1, 2, 3)]
INERTIA = [[gs.symbol(f"I_{k}{axis}{axis}") for axis in "xyz"] for k in (1, 2, 3)]
S, C, S_B, C_B = sympy.sin(Q3), sympy.cos(Q3), sympy.sin(BETA), sympy.cos(BETA)

TREE = gs.from_denavit_hartenberg(
    [
        gs.Row("R", d="L_1", mass="m_1", com=COM[0], inertia=INERTIA[0]),
        gs.Row("P", alpha="-beta", mass="m_2", com=COM[1], inertia=INERTIA[1]),
        gs.Row("R", d="L_3", mass="m_3", com=COM[2], inertia=INERTIA[2]),
    ]
)


def closed_form() -> dict[str, list[object]]:
    """The mass matrix, the velocity products and gravity, g downward."""
    (s1, s2, s3), (i1, i2, i3), (v1, _, v3) = COM, INERTIA, V
    x, y, z = s3[0] * C - s3[1] * S, s3[0] * S + s3[1] * C, L3 + s3[2]
    rho_2 = s3[0] ** 2 + s3[1] ** 2
    m_11 = (
        i1[2]
        + M1 * (s1[0] ** 2 + s1[1] ** 2)
        + S_B**2 * i2[1]
        + C_B**2 * i2[2]
        + M2 * (s2[0] ** 2 + (C_B * s2[1] + S_B * s2[2]) ** 2)
        + S_B**2 * (S**2 * i3[0] + C**2 * i3[1])
        + C_B**2 * i3[2]
        + M3 * (x**2 + (C_B * y + S_B * z) ** 2)
    )
    m_13 = C_B * i3[2] + M3 * (C_B * rho_2 + S_B * z * y)
    m_23, m_33 = -M3 * S_B * x, i3[2] + M3 * rho_2
    d_11 = 2 * S_B**2 * S * C * (i3[0] - i3[1]) + 2 * M3 * x * (C_B**2 * y + C_B * S_B * z - y)
    return {
        "M": [[m_11, 0, m_13], [0, M2 + M3, m_23], [m_13, m_23, m_33]],
        "products": [d_11 * v1 * v3 + M3 * S_B * z * x * v3**2, M3 * S_B * y * v3**2, -d_11 * v1**2 / 2],
        "gravity": [0, (M2 + M3) * G, -M3 * G * S_B * x],
    }


def array(entries: list[object]) -> np.ndarray:
    unique = [gs.TrigonometricPolynomial.of(x) for x in np.ravel(np.array(entries, dtype=object))]
    return np.array(unique, dtype=object).reshape(np.shape(entries))


@pytest.mark.parametrize("formulation", [gd.GeneralizedDAlembert, gd.LagrangeEuler])
def test_closed_form(formulation: type[gd.Dynamics]) -> None:
    printed = {name: array(entries) for name, entries in closed_form().items()}
    assert (gs.closed_forms(TREE, formulation, of="mass_matrix")["M"] == printed["M"]).all()
    gravity = gs.closed_forms(TREE, formulation, of="generalized_gravity")["g"].ravel()
    assert (gravity == printed["gravity"]).all()
    tau = gs.closed_forms(TREE, formulation, of="inverse_dynamics")["tau"].ravel()
    assert (tau == printed["M"] @ array(A) + printed["products"] + printed["gravity"]).all()


def test_what_does_not_count() -> None:
    """q_1, q_2, L_1 and the height of link 1 are in none of it."""
    tau = gs.closed_forms(TREE, of="inverse_dynamics")["tau"].ravel()
    symbols = {x.name for each in tau for x in each.to_sympy().free_symbols}
    assert symbols.isdisjoint({"q_1", "q_2", "L_1", "s_1z"})
    assert {"q_3", "beta", "L_3", "s_1x"} <= symbols


def test_errata() -> None:
    """v̇_0 = 0 and v̇_0 = +g leave τ_2 wrong by once and by twice the weight."""
    tau_2 = gs.closed_forms(TREE, of="inverse_dynamics")["tau"][1, 0]
    weight = closed_form()["gravity"][1]
    slips = {name: _with_gravity(g) for name, g in {"v̇_0 = 0": (0, 0, 0), "v̇_0 = g": (0, 0, "g")}.items()}
    assert tau_2 - slips["v̇_0 = 0"] == weight
    assert tau_2 - slips["v̇_0 = g"] == 2 * weight


def _with_gravity(gravity: tuple[object, ...]) -> gs.TrigonometricPolynomial:
    rows = [
        gs.Row(kind, d=d, alpha=alpha, mass=f"m_{k + 1}", com=COM[k], inertia=INERTIA[k])
        for k, (kind, d, alpha) in enumerate((("R", "L_1", 0), ("P", 0, "-beta"), ("R", "L_3", 0)))
    ]
    tree = gs.from_denavit_hartenberg(rows, gravity=gravity)
    return gs.closed_forms(tree, of="inverse_dynamics")["tau"][1, 0]

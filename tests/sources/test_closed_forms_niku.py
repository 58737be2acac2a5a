"""Lectures on S. B. Niku, Introduction to Robotics, ch. 4: examples 4.1, 4.2, 4.4, 4.7 and the two-link trace example.

Derived and compared as formulas.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs

M1, M2, L1, L2, ELL, G, K = (gs.symbol(name) for name in ("m_1", "m_2", "l_1", "l_2", "l", "g", "k"))
I1, I2 = gs.symbol("I_1"), gs.symbol("I_2")  # of the motors
(Q1, Q2), (V1, V2), (A1, A2) = ([gs.symbol(f"{letter}_{k}") for k in (1, 2)] for letter in "qva")
C1, C2, C12, S1, S2, S12 = (f(x) for f in (sympy.cos, sympy.sin) for x in (Q1, Q2, Q1 + Q2))
THIRD, HALF = sympy.Rational(1, 3), sympy.Rational(1, 2)

each_formulation = pytest.mark.parametrize("formulation", [gd.GeneralizedDAlembert, gd.LagrangeEuler])


def same(found: np.ndarray, printed: list[object]) -> bool:
    """Whether all entries are the same polynomials."""
    return bool((found == np.array(printed, dtype=object).reshape(found.shape)).all())


# Examples 4.1 and 4.2


def cart_and_pendulum() -> gs.SymbolicTree:
    cart = {"mass": "m_1", "spring": ("k", 0)}
    return gs.symbolic_tree("cart_pendulum", {"cart": cart, "pendulum": {"mass": "m_2", "com": (0, 0, "-l")}})


@each_formulation
def test_cart_and_spring(formulation: type[gd.Dynamics]) -> None:
    """Example 4.1: F = m ẍ + k x, K = ½ m ẋ²."""
    tree = gs.from_denavit_hartenberg([gs.Row("P", mass="m_1")], gravity=(0, 0, 0))
    found = gs.closed_forms(tree, formulation, of="inverse_dynamics")["tau"]
    assert same(found, [M1 * A1])
    kinetic = gs.closed_forms(tree, formulation, of="kinetic_energy")["kinetic"][0, 0]
    assert kinetic == M1 * V1**2 / 2
    assert kinetic - M1 * A1 / 2  # erratum: ½ m ẍ


def cart_torques() -> list[sympy.Expr]:
    force = (M1 + M2) * A1 + M2 * ELL * C2 * A2 - M2 * ELL * S2 * V2**2 + K * Q1
    return [force, M2 * ELL * C2 * A1 + M2 * ELL**2 * A2 + M2 * G * ELL * S2]


@each_formulation
def test_cart_and_pendulum(formulation: type[gd.Dynamics]) -> None:
    """Example 4.2, with the spring between cart and ground."""
    tree = cart_and_pendulum()
    assert same(gs.closed_forms(tree, formulation, of="inverse_dynamics")["tau"], cart_torques())
    kinetic = gs.closed_forms(tree, formulation, of="kinetic_energy")["kinetic"][0, 0]
    assert kinetic == (M1 + M2) * V1**2 / 2 + M2 * (ELL**2 * V2**2 + 2 * ELL * V1 * V2 * C2) / 2
    potential = gs.closed_forms(tree, formulation, of="potential_energy")["potential"][0, 0]
    assert potential + M2 * G * ELL == K * Q1**2 / 2 + M2 * G * ELL * (1 - C2)


CART_ERRATA = {
    "+m2 l sin θ θ̈": (0, 2 * M2 * ELL * S2 * V2**2),
    "−m2 l θ̇ sin θ": (0, M2 * ELL * S2 * (V2**2 - V2)),
    "m2 l ẋ θ̈ cos θ": (1, M2 * ELL * C2 * (V1 * A2 - A1)),
}


@pytest.mark.parametrize("erratum", CART_ERRATA)
def test_errata_of_cart_and_pendulum(erratum: str) -> None:
    row, slip = CART_ERRATA[erratum]
    found = gs.closed_forms(cart_and_pendulum(), of="inverse_dynamics")["tau"][row, 0]
    assert not found - cart_torques()[row]
    assert found - (cart_torques()[row] + slip)


# Examples 4.4 and 4.7


def rods(l1: str = "l_1", l2: str = "l_2") -> gs.SymbolicTree:
    """Uniform thin rods in the x–y plane, frames at their ends, gravity along −y."""
    rows = []
    for k, ell in ((1, l1), (2, l2)):
        across = f"m_{k}*{ell}**2/12"
        rows.append(
            gs.Row(a=ell, mass=f"m_{k}", com=(f"-{ell}/2", 0, 0), inertia=(0, across, across), armature=f"I_{k}")
        )
    return gs.from_denavit_hartenberg(rows, gravity=(0, "-g", 0))


def two_links() -> list[sympy.Expr]:
    """Example 4.4."""
    d11 = M1 * L1**2 / 3 + M2 * L1**2 + M2 * L2**2 / 3 + M2 * L1 * L2 * C2
    d12 = M2 * L2**2 / 3 + M2 * L1 * L2 * C2 / 2
    x, g12 = M2 * L1 * L2 * S2, M2 * G * L2 * C12 / 2
    return [
        d11 * A1 + d12 * A2 - x * V1 * V2 - x * V2**2 / 2 + (M1 / 2 + M2) * G * L1 * C1 + g12,
        d12 * A1 + M2 * L2**2 / 3 * A2 + x * V1**2 / 2 + g12,
    ]


def equal_links() -> list[sympy.Expr]:
    """Example 4.7."""
    inertia, coupling = (M1 / 3 + 4 * M2 / 3 + M2 * C2) * ELL**2, (THIRD + C2 / 2) * M2 * ELL**2
    x = M2 * ELL**2 * S2
    weight = M1 * G * ELL * C1 / 2 + M2 * G * ELL * C12 / 2 + M2 * G * ELL * C1
    return [
        inertia * A1 + coupling * A2 - x * V2**2 / 2 - x * V1 * V2 + weight + I1 * A1,
        coupling * A1 + M2 * ELL**2 / 3 * A2 + x * V1**2 / 2 + M2 * G * ELL * C12 / 2 + I2 * A2,
    ]


@each_formulation
def test_two_links(formulation: type[gd.Dynamics]) -> None:
    """Example 4.4 and, with motors and equal lengths, 4.7."""
    motors = [I1 * A1, I2 * A2]
    printed = [x + motor for x, motor in zip(two_links(), motors, strict=True)]
    assert same(gs.closed_forms(rods(), formulation, of="inverse_dynamics")["tau"], printed)
    assert same(gs.closed_forms(rods("l", "l"), formulation, of="inverse_dynamics")["tau"], equal_links())


@each_formulation
def test_shipped_two_links(formulation: type[gd.Dynamics]) -> None:
    """The same from the URDF, which stands in the x–z plane."""
    link = [
        {"mass": f"m_{k}", "com": (f"l_{k}/2", 0, 0), "inertia": (0, f"m_{k}*l_{k}**2/12", f"m_{k}*l_{k}**2/12")}
        for k in (1, 2)
    ]
    tree = gs.symbolic_tree("two_link_arm", {"link1": link[0], "joint2": {**link[1], "translation": ("l_1", 0, 0)}})
    assert same(gs.closed_forms(tree, formulation, of="inverse_dynamics")["tau"], two_links())


def test_energies() -> None:
    """K with V_D² and P of example 4.4."""
    v_d = V1**2 * (L1**2 + L2**2 / 4 + L1 * L2 * C2) + L2**2 * V2**2 / 4 + V1 * V2 * (L2**2 / 2 + L1 * L2 * C2)
    links = M1 * L1**2 / 6 * V1**2 + M2 * L2**2 / 24 * (V1 + V2) ** 2 + M2 * v_d / 2
    found = gs.closed_forms(rods(), of="kinetic_energy")["kinetic"][0, 0]
    assert found == links + I1 * V1**2 / 2 + I2 * V2**2 / 2
    potential = gs.closed_forms(rods(), of="potential_energy")["potential"][0, 0]
    assert potential == M1 * G * L1 * S1 / 2 + M2 * G * (L1 * S1 + L2 * S12 / 2)


def test_effective_inertias() -> None:
    """Section 4.3: D_ij, D_ijj, D_ijk and D_i."""
    terms = gs.closed_forms(rods(), gd.LagrangeEuler)
    x = M2 * L1 * L2 * S2 / 2
    assert same(terms["h_1"], [0, -x, -x, -x])  # D_111, D_112, D_121, D_122
    assert same(terms["h_2"], [x, 0, 0, 0])
    assert same(terms["D"], [[sympy.expand(two_links()[i]).coeff(a) for a in (A1, A2)] for i in range(2)])
    still = dict.fromkeys((V1, V2, A1, A2), 0)
    assert same(terms["c"], [x.subs(still) for x in two_links()])
    assert same(terms["I_act"], [I1, I2])


def test_trace_example() -> None:
    """Two links of equal length: D, h and c; an erratum in c_1."""
    terms = gs.closed_forms(rods("l", "l"), gd.LagrangeEuler)
    d_12 = M2 * ELL**2 / 3 + M2 * ELL**2 * C2 / 2
    d_11 = M1 * ELL**2 / 3 + 4 * M2 * ELL**2 / 3 + M2 * ELL**2 * C2
    assert same(terms["D"], [[d_11, d_12], [d_12, M2 * ELL**2 / 3]])
    v = np.array([gs.TrigonometricPolynomial.of(x) for x in (V1, V2)])
    x = M2 * ELL**2 * S2
    assert v @ terms["h_1"] @ v == -x * V2**2 / 2 - x * V1 * V2
    assert v @ terms["h_2"] @ v == x * V1**2 / 2
    g1, g2, g12 = M1 * G * ELL * C1 / 2, M2 * G * ELL * C1, M2 * G * ELL * C12 / 2
    assert same(terms["c"], [g1 + g12 + g2, g12])
    assert terms["c"][0, 0] - (g1 + g12 + g2 / 2)  # in print ½ m2 g l C1, three times


X = M2 * ELL**2 * S2
RODS_ERRATA = {
    "4.3, T1: θ̇_2 for θ̇_2²": (0, X * (V2**2 - V2) / 2),
    "4.3, T2: θ̇_1 θ̇_2 for θ̇_1²": (1, X * (V1 * V2 - V1**2) / 2),
    "4.7, T1: +½ θ̇_1 θ̇_2 + θ̇_1 θ̇_2": (0, X * (V2**2 / 2 + HALF * 5 * V1 * V2)),
    "4.7, T2: (½ m2 l² S2)²": (1, X**2 / 4 - X * V1**2 / 2),
    "4.7, T2: θ̇_1² for θ̈_2": (1, M2 * ELL**2 / 3 * (V1**2 - A2)),
    "4.7 without the motors": (0, -I1 * A1),
}


@pytest.mark.parametrize("erratum", RODS_ERRATA)
def test_errata_of_the_two_links(erratum: str) -> None:
    row, slip = RODS_ERRATA[erratum]
    found = gs.closed_forms(rods("l", "l"), of="inverse_dynamics")["tau"][row, 0]
    assert not found - equal_links()[row]
    assert found - (equal_links()[row] + slip)

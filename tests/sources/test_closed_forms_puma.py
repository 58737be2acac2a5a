"""C. S. G. Lee, B. H. Lee, R. Nigam, RSD-TR-8-82 (1982), section 4: the three-link PUMA.

Derived and compared as formulas.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from tests.helpers.dh_chains import Chain, evaluate, random_inertia, random_state

Q, V = ([gs.symbol(f"{letter}_{k}") for k in (1, 2, 3)] for letter in "qv")
M = [gs.symbol(f"m_{k}") for k in (1, 2, 3)]
COM = [[gs.symbol(f"{axis}_{k}") for axis in "xyz"] for k in (1, 2, 3)]
INERTIA = [[gs.symbol(f"I_{k}{axis}{axis}") for axis in "xyz"] for k in (1, 2, 3)]
A2, A3, D2, G_Z = (gs.symbol(name) for name in ("a_2", "a_3", "d_2", "g_z"))
S1, S2, C1, C2 = *map(sympy.sin, Q[:2]), *map(sympy.cos, Q[:2])
S23, C23 = sympy.sin(Q[1] + Q[2]), sympy.cos(Q[1] + Q[2])

TREE = gs.from_denavit_hartenberg(
    [
        gs.Row(alpha=-np.pi / 2, mass="m_1", com=COM[0], inertia=INERTIA[0]),
        gs.Row(a="a_2", d="d_2", mass="m_2", com=COM[1], inertia=INERTIA[1]),
        gs.Row(a="a_3", alpha=np.pi / 2, mass="m_3", com=COM[2], inertia=INERTIA[2]),
    ],
    gravity=(0, 0, "g_z"),
)


def vectors() -> dict[str, sympy.Matrix]:
    """c_s = r_s − p_{s−1} and r_s in base axes; R_s and p_2 as printed; centres of mass are given in frame s."""
    turned = [
        sympy.Matrix([[C1, 0, -S1], [S1, 0, C1], [0, -1, 0]]),
        sympy.Matrix([[C1 * C2, -C1 * S2, -S1], [S1 * C2, -S1 * S2, C1], [-S2, -C2, 0]]),
        sympy.Matrix([[C1 * C23, -S1, C1 * S23], [S1 * C23, C1, S1 * S23], [-S23, 0, C23]]),
    ]
    p_2 = sympy.Matrix([A2 * C1 * C2 - D2 * S1, A2 * S1 * C2 + D2 * C1, -A2 * S2])
    in_link = [(0, 0, 0), (A2, 0, D2), (A3, 0, 0)]  # p_s − p_{s−1}, in frame s
    c = [r * (sympy.Matrix(com) + sympy.Matrix(p)) for r, com, p in zip(turned, COM, in_link, strict=True)]
    return {"c1": c[0], "c2": c[1], "c3": c[2], "r1": c[0], "r2": c[1], "r3": p_2 + c[2], "p": p_2}


X = vectors()


def u(x: sympy.Matrix) -> sympy.Expr:
    return C1 * x[0] + S1 * x[1]


def y(a: sympy.Matrix, b: sympy.Matrix) -> sympy.Expr:
    return S1 * C1 * a[1] * b[1] + C1**2 * a[0] * b[1] - S1**2 * a[1] * b[0] - S1 * C1 * a[0] * b[0]


def d_rot() -> list[list[sympy.Expr]]:
    i1, i2, i3 = INERTIA
    d_11 = i1[1] + S2**2 * i2[0] + C2**2 * i2[1] + S23**2 * i3[0] + C23**2 * i3[2]
    return [[d_11, 0, 0], [0, i2[2] + i3[1], i3[1]], [0, i3[1], i3[1]]]


def d_tra() -> list[list[sympy.Expr]]:
    (m1, m2, m3), c3 = M, X["c3"]
    masses = ((m1, X["r1"]), (m2, X["r2"]), (m3, X["r3"]))
    d_11 = sum(m * (r[0] ** 2 + r[1] ** 2) for m, r in masses)
    d_22 = sum(m * (r[2] ** 2 + u(r) ** 2) for m, r in masses[1:])
    d_12 = sum(m * r[2] * (S1 * r[0] - C1 * r[1]) for m, r in masses[1:])
    r3 = X["r3"]
    d_13 = m3 * c3[2] * (S1 * r3[0] - C1 * r3[1])
    d_23 = m3 * (r3[2] * c3[2] + u(r3) * u(c3))
    d_33 = m3 * (c3[2] ** 2 + u(c3) ** 2)
    return [[d_11, d_12, d_13], [d_12, d_22, d_23], [d_13, d_23, d_33]]


def h_rot() -> list[sympy.Expr]:
    (_, i2, i3), (v1, v2, v3) = INERTIA, V
    h_1 = 2 * S2 * C2 * (i2[0] - i2[1]) * v1 * v2 + 2 * S23 * C23 * (i3[0] - i3[2]) * v1 * (v2 + v3)
    h_2 = (S2 * C2 * (i2[1] - i2[0]) + S23 * C23 * (i3[2] - i3[0])) * v1**2
    return [h_1, h_2, S23 * C23 * (i3[2] - i3[0]) * v1**2]


def h_tra(factor: int = 2, y=y) -> list[sympy.Expr]:
    """With the factor of θ̇_1 θ̇_2 of link 3 and the combination Y open, for the errata."""
    (_, m2, m3), (v1, v2, v3), c2, c3, r3 = M, V, X["c2"], X["c3"], X["r3"]
    k = c3[2] * u(r3) - r3[2] * u(c3)
    link_2 = y(c2, c2) * v2**2 + 2 * u(c2) * c2[2] * v1 * v2
    link_3 = (
        y(r3, r3) * v2**2
        + y(c3, r3) * (v3**2 + 2 * v2 * v3)
        + factor * u(r3) * r3[2] * v1 * v2
        + 2 * u(r3) * c3[2] * v1 * v3
    )
    return [
        m2 * link_2 + m3 * link_3,
        -m2 * c2[2] * u(c2) * v1**2 + m3 * (-r3[2] * u(r3) * v1**2 + k * (2 * v2 * v3 + v3**2)),
        m3 * (-c3[2] * u(r3) * v1**2 - k * v2**2),
    ]


def gravity(g_z: sympy.Expr = G_Z) -> list[sympy.Expr]:
    (_, m2, m3), r2, r3, c3 = M, X["r2"], X["r3"], X["c3"]
    return [sympy.Integer(0), g_z * (m2 * u(r2) + m3 * u(r3)), g_z * m3 * u(c3)]


PRINTED = {"D_rot": d_rot, "D_tra": d_tra, "H_rot": h_rot, "H_tra": h_tra, "G": gravity}


@pytest.fixture(scope="module")
def derived() -> dict[str, np.ndarray]:
    return gs.closed_forms(TREE)


@pytest.mark.parametrize("term", PRINTED)
def test_derived_is_printed(derived: dict[str, np.ndarray], term: str) -> None:
    """Pp. 19–32, corrected: the same polynomial, entry for entry."""
    found = derived[term]
    assert (found == np.array(PRINTED[term](), dtype=object).reshape(found.shape)).all()


def test_lagrange_euler_gives_the_same(derived: dict[str, np.ndarray]) -> None:
    """D = D^tra + D^rot, Σ h_ikm v_k v_m = H^tra + H^rot, c = G."""
    trace_form = gs.closed_forms(TREE, gd.LagrangeEuler)
    assert (trace_form["D"] == derived["D_tra"] + derived["D_rot"]).all()
    assert (trace_form["c"] == derived["G"]).all()
    v = np.array([gs.TrigonometricPolynomial.of(x) for x in V])
    for i in range(3):
        assert v @ trace_form[f"h_{i + 1}"] @ v == (derived["H_tra"] + derived["H_rot"])[i, 0], i


ERRATA = {
    "H_1^tra, no factor 2": ("H_tra", 0, lambda: h_tra(factor=1)),
    "H_1^tra, x and y exchanged": ("H_tra", 0, lambda: h_tra(y=lambda a, b: y(b, a))),
    "G with the magnitude of g": ("G", 1, lambda: gravity(-G_Z)),
    "c_3 from frame 3": ("G", 2, lambda: [x.subs(A3, 0) for x in gravity()]),
}


@pytest.mark.parametrize("erratum", ERRATA)
def test_errata(derived: dict[str, np.ndarray], erratum: str) -> None:
    """What the slip leaves over is not zero."""
    term, row, printed = ERRATA[erratum]
    assert derived[term][row, 0] - printed()[row]
    assert not derived[term][row, 0] - PRINTED[term]()[row]


def test_superfluous_terms() -> None:
    """The coefficient of θ̇_1² in H_1^tra that is printed is zero."""
    p, r3, c3 = X["p"], X["r3"], X["c3"]
    printed = p[0] * r3[1] - p[1] * r3[0] + c3[0] * r3[1] - c3[1] * r3[0]
    assert not gs.TrigonometricPolynomial.of(printed)


def test_numbers() -> None:
    """The formulas with numbers in them are the Functions of the same chain, to rounding."""
    rng = np.random.default_rng(1)
    mass, com = rng.uniform(0.5, 3, 3), rng.uniform(-0.3, 0.3, (3, 3))
    moments = np.array([np.linalg.eigvalsh(random_inertia(rng)) for _ in range(3)])
    a2, a3, d2, g_z = rng.uniform(0.1, 0.6, 4)
    chain = Chain(
        rotary=(True, True, True),
        theta=np.zeros(3),
        d=np.array([0, d2, 0]),
        a=np.array([0, a2, a3]),
        alpha=np.array([-np.pi / 2, 0, np.pi / 2]),
        mass=mass,
        com=com,
        inertia=np.array([np.diag(x) for x in moments]),
        armature=np.zeros(3),
        gravity=np.array([0, 0, g_z]),
    )
    constants = [*M, *np.ravel(COM), *np.ravel(INERTIA), A2, A3, D2, G_Z]
    numbers = [*mass, *com.ravel(), *moments.ravel(), a2, a3, d2, g_z]
    terms = gd.GeneralizedDAlembert(chain.model()).terms
    for name, formulas in gs.closed_forms(TREE).items():
        written = sympy.Matrix(*formulas.shape, [x.to_sympy() for x in formulas.ravel()])
        evaluated = sympy.lambdify([*Q, *V, *constants], written, "numpy")
        for _ in range(5):
            q, v, _ = random_state(rng, 3)
            reference = evaluate(terms, q, v)[name]
            assert np.abs(evaluated(*q, *v, *numbers) - reference).max() < 1e-13 * max(1, np.abs(reference).max())

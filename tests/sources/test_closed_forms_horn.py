"""B. K. P. Horn, K. Hirokawa, V. V. Vazirani, MIT AI Memo 478 (1977): T_ij, derived and compared as formulas.

With offsets δ2, δ3 and point loads M2, M3; gravity in any direction.
"""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs

I1, M2, M3, L2, L3 = (gs.symbol(name) for name in ("I_1", "m_2", "m_3", "l_2", "l_3"))
D2, D3 = gs.symbol("delta_2"), gs.symbol("delta_3")
G1, G2, G3 = (gs.symbol(f"g_{k}") for k in (1, 2, 3))
Q, (V1, V2, V3), (A1, A2, A3) = ([gs.symbol(f"{letter}_{k}") for k in (1, 2, 3)] for letter in "qva")
(S1, S2, S3), (C1, C2, C3) = ([f(x) for x in Q] for f in (sympy.sin, sympy.cos))
S23, C23 = sympy.sin(Q[1] + Q[2]), sympy.cos(Q[1] + Q[2])
HALF, THIRD = sympy.Rational(1, 2), sympy.Rational(1, 3)


def model() -> pin.Model:
    """Axes of the memo's device; the numbers in it are replaced."""
    model = pin.Model()
    joint, body = 0, pin.Inertia(1.0, np.array([0, 0, 0.1]), np.diag([0.1, 0.1, 0.1]))
    for k, kind in enumerate((pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRY()), start=1):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), f"joint{k}")
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model


@functools.cache
def device(kind: str, offsets: bool = True) -> gs.SymbolicTree:
    """Links 2 and 3 as rods of masses m_k, or as massless ones with the point loads M_k = m_k at their ends."""
    parameters: dict[str, dict[str, object]] = {"joint1": {"mass": 0, "com": (0, 0, 0), "inertia": (0, 0, "I_1")}}
    for k in (2, 3):
        offset = f"delta_{k}" if offsets else 0
        across = f"m_{k}*l_{k}**2/12" if kind == "rods" else 0
        height = f"l_{k}/2" if kind == "rods" else f"l_{k}"
        body = {"mass": f"m_{k}", "com": (0, offset, height), "inertia": (across, across, 0)}
        parameters[f"joint{k}"] = body | {"translation": (0, 0, "l_2" if k == 3 else 0)}
    return gs.symbolic_tree(model(), parameters, gravity=("g_1", "g_2", "g_3"))


@functools.cache
def torques(kind: str, offsets: bool = True) -> np.ndarray:
    return gs.closed_forms(device(kind, offsets), of="link_torques")["links"]


BOTH = 2 * L2**2 * S2 * C2 + L2 * L3 * (C2 * S23 + S2 * C23) + 2 * THIRD * L3**2 * S23 * C23
OUTER = L2 * L3 * S2 * C23 + 2 * THIRD * L3**2 * S23 * C23
LAMBDA = L2**2 * S2**2 + L2 * L3 * S2 * S23 + THIRD * L3**2 * S23**2
COUPLING = L2 * L3 * C3 + 2 * THIRD * L3**2
BEND = L2 * L3 * S3


def column() -> list[sympy.Expr]:
    """T_i1, p. 10."""
    return [I1 * A1, 0, 0]


def rod_2() -> list[sympy.Expr]:
    """T_i2, pp. 13 and 30."""
    inertia = M2 * L2**2 / 3
    offset = 2 * D2**2 * A1 - L2 * D2 * C2 * A2 + L2 * D2 * S2 * V2**2
    return [
        inertia * (S2**2 * A1 + 2 * S2 * C2 * V1 * V2) + M2 / 2 * offset,
        inertia * (A2 - S2 * C2 * V1**2) - M2 / 2 * L2 * D2 * C2 * A1,
        0,
    ]


def rod_3() -> list[sympy.Expr]:
    """T_i3, pp. 19, 35 and 36."""
    reach = D3 * (2 * L2 * C2 + L3 * C23)
    t_1 = 2 * (LAMBDA + D3**2) * A1 + 2 * BOTH * V1 * V2 + 2 * OUTER * V1 * V3
    t_1 += -reach * A2 - D3 * L3 * C23 * A3 + D3 * (2 * L2 * S2 + L3 * S23) * V2**2
    t_1 += 2 * D3 * L3 * S23 * V2 * V3 + D3 * L3 * S23 * V3**2
    t_2 = 2 * (L2**2 + L2 * L3 * C3 + THIRD * L3**2) * A2 + COUPLING * A3 - BOTH * V1**2
    t_2 += -2 * BEND * V2 * V3 - BEND * V3**2 - reach * A1
    t_3 = COUPLING * A2 + 2 * THIRD * L3**2 * A3 - OUTER * V1**2 + BEND * V2**2 - D3 * L3 * C23 * A1
    return [M3 / 2 * t for t in (t_1, t_2, t_3)]


def load_2() -> list[sympy.Expr]:
    """M2 at the end of link 2: p. 23; the offset is ours."""
    t_1 = (L2**2 * S2**2 + D2**2) * A1 - L2 * D2 * C2 * A2 + 2 * L2**2 * S2 * C2 * V1 * V2 + L2 * D2 * S2 * V2**2
    t_2 = -L2 * D2 * C2 * A1 + L2**2 * A2 - L2**2 * S2 * C2 * V1**2
    return [M2 * t_1, M2 * t_2, 0]


U, W = L2 * S2 + L3 * S23, L2 * C2 + L3 * C23


def load_3(turned_by: sympy.Expr = L3, offset: sympy.Expr = D3) -> list[sympy.Expr]:
    """M3 at the end of link 3, pp. 24, 25, 40–42; what errata replace is open."""
    t_1 = (U**2 + D3**2) * A1 - D3 * W * A2 - D3 * L3 * C23 * A3 + 2 * U * W * V1 * V2 + 2 * L3 * C23 * U * V1 * V3
    t_1 += offset * U * V2**2 + 2 * D3 * turned_by * S23 * V2 * V3 + D3 * L3 * S23 * V3**2
    t_2 = -D3 * W * A1 + (L2**2 + 2 * L2 * L3 * C3 + L3**2) * A2 + L3 * (L2 * C3 + L3) * A3 - U * W * V1**2
    t_2 += -2 * L2 * L3 * S3 * V2 * V3 - L2 * L3 * S3 * V3**2
    t_3 = -D3 * L3 * C23 * A1 + L3 * (L2 * C3 + L3) * A2 + L3**2 * A3 - L3 * C23 * U * V1**2 + L2 * L3 * S3 * V2**2
    return [M3 * t for t in (t_1, t_2, t_3)]


@pytest.mark.parametrize("offsets", [True, False])
@pytest.mark.parametrize(("kind", "printed"), [("rods", (column, rod_2, rod_3)), ("loads", (column, load_2, load_3))])
def test_torques_by_link(kind: str, printed: tuple[object, ...], offsets: bool) -> None:
    found = torques(kind, offsets)
    for j, part in enumerate(printed):
        for i, expected in enumerate(part()):
            written = expected if offsets else sympy.sympify(expected).subs({D2: 0, D3: 0})
            assert found[i, j] == written, (i + 1, j + 1)


def gravity_of(b2: sympy.Expr, b3: sympy.Expr, sign: int = 1) -> list[sympy.Expr]:
    """+∂P/∂θ of masses at b2 and b3 along the links, pp. 22, 26, 27, 38, 43."""
    radial = G1 * C1 + G2 * S1
    t_1 = G1 * (M2 * (b2 * S1 * S2 + D2 * C1) + M3 * ((L2 * S2 + b3 * S23) * S1 + D3 * C1))
    t_1 -= G2 * (M2 * (b2 * C1 * S2 - D2 * S1) + M3 * ((L2 * S2 + b3 * S23) * C1 - D3 * S1))
    t_2 = -radial * (M2 * b2 * C2 + M3 * (L2 * C2 + b3 * C23)) + G3 * (M2 * b2 * S2 + M3 * (L2 * S2 + b3 * S23))
    t_3 = M3 * b3 * (-radial * C23 + G3 * S23)
    return [sign * t for t in (t_1, t_2, t_3)]


@pytest.mark.parametrize("formulation", [gd.GeneralizedDAlembert, gd.LagrangeEuler])
@pytest.mark.parametrize(("kind", "at"), [("rods", HALF), ("loads", 1)])
def test_gravity(formulation: type[gd.Dynamics], kind: str, at: sympy.Expr) -> None:
    """What the actuators hold; the memo's T_ig, "simply added", have the other sign."""
    found = gs.closed_forms(device(kind), formulation, of="generalized_gravity")["g"].ravel()
    printed = gravity_of(at * L2, at * L3)
    for i in range(3):
        assert found[i] == printed[i], i
        assert found[i] - gravity_of(at * L2, at * L3, sign=-1)[i], i


def test_kinetic_energy() -> None:
    """K1 + K2 + K3, pp. 8, 29, 34."""
    k_2 = (D2**2 + THIRD * L2**2 * S2**2) * V1**2 - L2 * D2 * C2 * V1 * V2 + THIRD * L2**2 * V2**2
    k_3 = (LAMBDA + D3**2) * V1**2 - D3 * (2 * L2 * C2 + L3 * C23) * V1 * V2 - D3 * L3 * C23 * V1 * V3
    k_3 += (L2**2 + L2 * L3 * C3 + THIRD * L3**2) * V2**2 + COUPLING * V2 * V3 + THIRD * L3**2 * V3**2
    found = gs.closed_forms(device("rods"), of="kinetic_energy")["kinetic"][0, 0]
    assert found == I1 * V1**2 / 2 + M2 / 2 * k_2 + M3 / 2 * k_3


def test_effective_inertias() -> None:
    """D_ij and D_ijk are what the sums of T_ij have before θ̈_j and θ̇_j θ̇_k."""
    terms = gs.closed_forms(device("rods"), gd.LagrangeEuler)
    total = [sympy.expand(sum(parts)) for parts in zip(column(), rod_2(), rod_3(), strict=True)]
    for i, tau in enumerate(total):
        for j, a in enumerate((A1, A2, A3)):
            assert terms["D"][i, j] == tau.coeff(a), (i, j)
        h = terms[f"h_{i + 1}"]
        for j, v in enumerate((V1, V2, V3)):
            assert h[j, j] == tau.coeff(v, 2), (i, j)
            for k, w in enumerate((V1, V2, V3)):
                if j < k:
                    assert h[j, k] == h[k, j] == tau.coeff(v).coeff(w) / 2, (i, j, k)


ERRATA = {
    "pp. 40, 41: 2 δ3 l2 s23 θ̇2 θ̇3": (load_3(turned_by=L2), 2 * M3 * D3 * (L3 - L2) * S23 * V2 * V3),
    "p. 40: s3 for δ3": (load_3(offset=S3), M3 * (D3 - S3) * U * V2**2),
}


@pytest.mark.parametrize("erratum", ERRATA)
def test_errata(erratum: str) -> None:
    """The slip leaves over just what was misprinted."""
    printed, left = ERRATA[erratum]
    assert torques("loads")[0, 2] - printed[0] == left
    assert gs.TrigonometricPolynomial.of(left)

"""S. Cetinkunt, W. J. Book (1988): M, C, G, K of the planar arm with flexible links, derived and compared as formulas.

Against Lagrange's equations of energies written down as integrals: a link's point (η, w) is the complex number η + i w,
a joint multiplies by exp(i q), a bent tip by 1 + i ϑ.
"""

from __future__ import annotations

import functools
import itertools

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from benchmarks.flexible import case_study
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

LINKS = ("1", "2")
G = gs.symbol("g")
ETA = gs.symbol("eta")
MASSES = ("m_1t", "m_2t")
Masses = tuple[str | int, str | int]
Modes = tuple[int, int]
CASES = [((1, 1), None), ((2, 2), None), ((2, 1), MASSES), ((0, 2), (0, "m_2t")), ((0, 0), None)]


def s(letter: str, *index: object) -> sympy.Symbol:
    return gs.symbol(f"{letter}_" + "".join(map(str, index)))


def modal(modes: Modes) -> list[str]:
    return [f"{i}{j}" for i, n in zip(LINKS, modes, strict=True) for j in range(1, n + 1)]


def coordinates(modes: Modes) -> tuple[list[sympy.Symbol], list[sympy.Symbol]]:
    """q and v."""
    names = modal(modes)
    q = [*(s("q", i) for i in LINKS), *(s("f", k) for k in names)]
    return q, [s("v", k) for k in (*LINKS, *names)]


@functools.cache
def robot(modes: Modes, masses: Masses | None) -> gs.SymbolicTree:
    """Shapes of which no integral is zero; what a rigid link has is written in the symbols of its beam."""
    names = {f"link{i}": n for i, n in zip(LINKS, modes, strict=True)}
    arm = bending(
        {name: gd.modes.polynomial(n) for name, n in names.items() if n},
        tuple(float(bool(m)) for m in masses or (0, 0)),
    )
    rods = {
        f"link{i}": {
            "mass": f"mu_{i}*l_{i}",
            "com": (f"l_{i}/2", 0, 0),
            "inertia": (0, f"mu_{i}*l_{i}**3/12", f"mu_{i}*l_{i}**3/12"),
        }
        for i in LINKS
        if not names[f"link{i}"]
    }
    offset = {} if modes[0] else {"joint2": {"translation": ("l_1", 0, 0)}}
    return gs.symbolic_tree(arm, rods | offset)


@functools.cache
def forms(modes: Modes = (1, 1), masses: Masses | None = None) -> dict[str, np.ndarray]:
    tree = robot(modes, masses)
    whole = {of: gs.closed_forms(tree, of=of) for of in ("mass_matrix", "terms", "generalized_gravity", "stiffness")}
    terms = whole["terms"]
    return {
        "M": whole["mass_matrix"]["M"],
        "C": np.vstack([terms["C_1"], terms["C_2"]]),
        "G": whole["generalized_gravity"]["g"],
        "K": whole["stiffness"]["K"],
    }


# An independent derivation


def integrated(polynomial: sympy.Expr, i: str, n: int) -> sympy.Expr:
    """∫ dη of a polynomial in η and the shapes ``phi_ij``."""
    inside = [ETA, *(s("phi", i, j) for j in range(1, n + 1))]
    waves = polynomial.atoms(sympy.sin, sympy.cos)
    angles = {s("q", k) for k in LINKS}
    others = sorted((polynomial.free_symbols - {*inside} - angles) | waves, key=str)
    by_power: dict[tuple[int, ...], dict[tuple[int, ...], sympy.Expr]] = {}
    for powers, number in sympy.Poly(polynomial, *inside, *others).terms():
        by_power.setdefault(powers[: n + 1], {})[powers[n + 1 :]] = number
    total = sympy.S.Zero
    for (power, *shapes), factor in by_power.items():
        js = [j for j, p in enumerate(shapes, start=1) for _ in range(p)]
        if not js:
            integral = s("l", i) ** (power + 1) / (power + 1)
        elif len(js) == 1:
            integral = s("PH"[power], i, *js)
        else:
            assert (power, len(js)) == (0, 2)
            integral = s("C", i, *js)
        total += sympy.Poly(factor, *others).as_expr() * integral if others else factor[()] * integral
    return total


@functools.cache
def energies(modes: Modes, masses: Masses | None) -> tuple[sympy.Expr, sympy.Expr]:
    """Kinetic and potential energy."""
    q, v = coordinates(modes)
    kinetic = potential = sympy.S.Zero
    # what link i stands on, in axes that turn with the first joint: p + (x + i y)(η + i w), x + i y = exp(i q_2) …
    p, turn = (sympy.S.Zero, sympy.S.Zero), (sympy.S.One, sympy.S.Zero)
    for i, n, mass in zip(LINKS, modes, masses or (0, 0), strict=True):
        fs = [s("f", i, j) for j in range(1, n + 1)]
        if i == "2":
            turn = product(turn, (sympy.cos(q[1]), sympy.sin(q[1])))
        bent = sum((f * s("phi", i, j) for j, f in enumerate(fs, start=1)), sympy.S.Zero)
        tip = sum((f * s("u", i, j) for j, f in enumerate(fs, start=1)), sympy.S.Zero)
        slope = sum((f * s("theta", i, j) for j, f in enumerate(fs, start=1)), sympy.S.Zero)
        square, height = motion(plus(p, product(turn, (ETA, bent))), q, v)
        kinetic += s("mu", i) * integrated(square, i, n) / 2
        potential += s("mu", i) * G * integrated(height, i, n)
        p = plus(p, product(turn, (s("l", i), tip)))
        turn = product(turn, (sympy.S.One, slope))
        square, height = motion(p, q, v)
        kinetic += sympy.sympify(mass) * square / 2
        potential += sympy.sympify(mass) * G * height
        for j, k in itertools.product(range(n), repeat=2):
            potential += s("EI", i, "z") * s("B", i, *sorted((j + 1, k + 1))) * fs[j] * fs[k] / 2
    return sympy.expand(kinetic), sympy.expand(potential)


def product(a: tuple[sympy.Expr, ...], b: tuple[sympy.Expr, ...]) -> tuple[sympy.Expr, sympy.Expr]:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def plus(a: tuple[sympy.Expr, ...], b: tuple[sympy.Expr, ...]) -> tuple[sympy.Expr, sympy.Expr]:
    return a[0] + b[0], a[1] + b[1]


def motion(p: tuple[sympy.Expr, ...], q: list[sympy.Symbol], v: list[sympy.Symbol]) -> tuple[sympy.Expr, sympy.Expr]:
    """The square of the velocity, and the height, of a point in axes that turn with the first joint."""
    rate = [sum(sympy.diff(x, c) * c_rate for c, c_rate in zip(q, v, strict=True)) for x in p]
    square = (rate[0] - v[0] * p[1]) ** 2 + (rate[1] + v[0] * p[0]) ** 2
    return square, sympy.sin(q[0]) * p[0] + sympy.cos(q[0]) * p[1]


def derivative(p: sympy.Poly, x: sympy.Symbol) -> sympy.Poly:
    """Of a polynomial in symbols, sines and cosines."""
    cos, sin = sympy.cos(x), sympy.sin(x)
    return p.diff(sin) * cos - p.diff(cos) * sin if sin in p.gens else p.diff(x)


@functools.cache
def lagrange(modes: Modes, masses: Masses | None = None) -> dict[str, sympy.Matrix]:
    q, v = coordinates(modes)
    whole = sum(energies(modes, masses))
    symbols = sorted((whole.free_symbols | {*v}) - {*q[:2]}, key=str)
    waves = [f(x) for x in q[:2] for f in (sympy.sin, sympy.cos)]
    kinetic, potential = (sympy.Poly(x, *symbols, *waves) for x in energies(modes, masses))
    elastic = sympy.Poly(potential.as_expr().subs(G, 0), *symbols, *waves)
    momentum = [derivative(kinetic, x) for x in v]
    velocity = [
        sum((derivative(p, c) * c_rate for c, c_rate in zip(q, v, strict=True)), -derivative(kinetic, x))
        for p, x in zip(momentum, q, strict=True)
    ]
    n = len(q)
    entries = {
        "M": (n, n, [derivative(p, x) for p in momentum for x in v]),
        "C": (n, 1, velocity),
        "G": (n, 1, [derivative(potential - elastic, x) for x in q]),
        "K": (n, n, [derivative(derivative(elastic, x), y) for x in q for y in q]),
    }
    return {name: sympy.Matrix(r, c, [p.as_expr() for p in polys]) for name, (r, c, polys) in entries.items()}


@pytest.mark.parametrize("term", ["M", "C", "G", "K"])
@pytest.mark.parametrize(("modes", "masses"), quick(CASES, *CASES[:1], *CASES[3:]))
def test_derived_is_lagrange(modes: Modes, masses: Masses | None, term: str) -> None:
    """CB32 to CB35, corrected: the same polynomials, entry for entry."""
    found, expected = forms(modes, masses)[term], lagrange(modes, masses)[term]
    assert found.shape == expected.shape
    assert [k for k in np.ndindex(found.shape) if found[k] != expected[k]] == []


@pytest.mark.long
def test_kinetic_energy() -> None:
    """½ vᵀ M v (CB19)."""
    v = np.array([gs.TrigonometricPolynomial.of(x) for x in coordinates((2, 1))[1]])
    assert v @ forms((2, 1), MASSES)["M"] @ v / 2 == energies((2, 1), MASSES)[0]


def test_without_modes_it_is_a_pair_of_rods() -> None:
    """As derived by the other formulations from Denavit–Hartenberg rows."""
    rods = gs.from_denavit_hartenberg(
        [
            gs.Row(
                a=f"l_{i}",
                mass=f"mu_{i}*l_{i}",
                com=(f"-l_{i}/2", 0, 0),
                inertia=(0, f"mu_{i}*l_{i}**3/12", f"mu_{i}*l_{i}**3/12"),
            )
            for i in LINKS
        ],
        gravity=(0, "-g", 0),
    )
    found = forms((0, 0))
    assert (found["M"] == gs.closed_forms(rods, of="mass_matrix")["M"]).all()
    assert (found["G"] == gs.closed_forms(rods, of="generalized_gravity")["g"]).all()
    assert (found["C"] + found["G"] == gs.closed_forms(rods, of="nle")["nle"]).all()


def test_rigid_limit() -> None:
    """At f = 0, ḟ = 0 the joints' part is that of the rods."""
    still = dict.fromkeys((s("f", 11), s("f", 21), s("v", 11), s("v", 21)), 0)
    for term in ("M", "C", "G"):
        block = (slice(2), slice(2)) if term == "M" else (slice(2), slice(None))
        bent, rods = forms((1, 1))[term][block], forms((0, 0))[term]
        assert [k for k in np.ndindex(rods.shape) if rods[k] != bent[k].to_sympy().subs(still)] == []


# Numbers

URDF = """\
<robot name="arm"><link name="base"/>
  <joint name="joint1" type="revolute"><parent link="base"/><child link="link1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="10" velocity="20"/></joint>
  <link name="link1">{0}</link><link name="end1">{2}</link>
  <joint name="fixed1" type="fixed"><parent link="link1"/><child link="end1"/><origin xyz="{4} 0 0"/></joint>
  <joint name="joint2" type="revolute"><parent link="link1"/><child link="link2"/><origin xyz="{4} 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="10" velocity="20"/></joint>
  <link name="link2">{1}</link><link name="end2">{3}</link>
  <joint name="fixed2" type="fixed"><parent link="link2"/><child link="end2"/><origin xyz="{5} 0 0"/></joint>
</robot>
"""
LENGTHS, LINE_MASSES, STIFFNESSES, TIPS = (0.8, 1.1), (0.5, 0.3), (20.0, 7.0), (0.4, 0.2)


def inertial(mass: float, x: float = 0, across: float = 0) -> str:
    tensor = f'<inertia ixx="0" ixy="0" ixz="0" iyy="{across}" iyz="0" izz="{across}"/>'
    return f'<inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>{tensor}</inertial>'


def skeleton(tips: tuple[float, ...]) -> pin.Model:
    rods = [inertial(mu * x, x / 2, mu * x**3 / 12) for mu, x in zip(LINE_MASSES, LENGTHS, strict=True)]
    model = gd.load_urdf(URDF.format(*rods, *(inertial(m) if m else "" for m in tips), *LENGTHS))
    model.gravity.linear = np.array([0, -9.81, 0])
    return model


def bending(shapes: dict[str, gd.modes.ModeSet], tips: tuple[float, ...]) -> gd.FirstOrderArm:
    properties = zip(LINKS, LENGTHS, LINE_MASSES, STIFFNESSES, strict=True)
    beams = {f"link{i}": (f"end{i}", gd.Beam(length, mu, EI_z=stiffness)) for i, length, mu, stiffness in properties}
    links = {
        name: gd.FlexibleLink(beams[name][1], to=beams[name][0], bending_y=bent, foreshortening=False)
        for name, bent in shapes.items()
    }
    return gd.FirstOrderArm(skeleton(tips), links)


def numbers(sets: list[gd.modes.ModeSet], tips: tuple[float, ...]) -> dict[str, float]:
    """Of the symbols, by Gauss–Legendre quadrature of the shapes."""
    x, w = np.polynomial.legendre.leggauss(60)
    values = {"g": 9.81} | {f"m_{i}t": m for i, m in zip(LINKS, tips, strict=True)}
    for i, each, length, mu, stiffness in zip(LINKS, sets, LENGTHS, LINE_MASSES, STIFFNESSES, strict=True):
        eta, weights = length * (x + 1) / 2, length * w / 2
        phi, bent = each.value(eta, length), each.curvature(eta, length)
        ends = {"u": each.value(length, length).ravel(), "theta": each.slope(length, length).ravel()}
        values |= {f"l_{i}": length, f"mu_{i}": mu, f"EI_{i}z": stiffness}
        for j in range(len(each)):
            values |= {f"{letter}_{i}{j + 1}": float(end[j]) for letter, end in ends.items()}
            values |= {f"P_{i}{j + 1}": float(phi[j] @ weights), f"H_{i}{j + 1}": float(phi[j] @ (weights * eta))}
            for k in range(j, len(each)):
                pair = f"_{i}{j + 1}{k + 1}"
                values |= {f"C{pair}": float(phi[j] @ (weights * phi[k]))}
                values |= {f"B{pair}": float(bent[j] @ (weights * bent[k]))}
    return values


@pytest.mark.long
@pytest.mark.parametrize("tips", [(0.0, 0.0), TIPS])
@pytest.mark.parametrize(
    "sets",
    [
        [gd.modes.clamped_free(1), gd.modes.clamped_free(1)],
        [gd.modes.clamped_free(2), gd.modes.polynomial(2)],
    ],
)
def test_numbers(sets: list[gd.modes.ModeSet], tips: tuple[float, ...]) -> None:
    """The formulas with numbers in them are the Functions of the arm, to rounding."""
    arm = bending({f"link{i}": shapes for i, shapes in zip(LINKS, sets, strict=True)}, tips)
    modes = (len(sets[0]), len(sets[1]))
    values = numbers(sets, tips)
    constants = [gs.symbol(name) for name in values]
    q_symbols, v_symbols = coordinates(modes)
    formulas = {
        name: sympy.lambdify(
            [*q_symbols, *v_symbols, *constants], sympy.Matrix(*x.shape, [e.to_sympy() for e in x.ravel()]), "numpy"
        )
        for name, x in forms(modes, MASSES).items()
    }
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = np.concatenate([rng.uniform(-3, 3, 2), 0.05 * rng.normal(size=sum(modes))])
        v = rng.normal(size=q.size)
        m, c, g, k = (formulas[name](*q, *v, *values.values()) for name in ("M", "C", "G", "K"))
        assert relative_error(m, arm.mass_matrix(q).full()) < 1e-12
        assert relative_error(g, arm.generalized_gravity(q).full()) < 1e-12
        assert relative_error(k, arm.stiffness_matrix) < 1e-12
        assert relative_error(c + g + k @ q[:, None], arm.nle(q, v).full()) < 1e-12


# Errata

MU_1, MU_2 = s("mu", 1), s("mu", 2)
F_11, F_21, V_11, V_21 = s("f", 11), s("f", 21), s("v", 11), s("v", 21)
C_211, THETA = s("C", 211), s("theta", 11)


def test_erratum_of_gravity() -> None:
    """CB34, CB22: with the acceleration of gravity, which points down, its sign is minus."""
    found = forms()["G"].ravel()
    held = MU_1 * s("l", 1) ** 2 / 2 + MU_2 * s("l", 1) * s("l", 2)
    weight = G * held * sympy.cos(s("q", 1)) + G * MU_2 * s("l", 2) ** 2 / 2 * sympy.cos(s("q", 1) + s("q", 2))
    at_rest = found[0].to_sympy().subs({F_11: 0, F_21: 0})
    assert gs.TrigonometricPolynomial.of(at_rest) == weight
    printed = -found
    for row, gradient in enumerate(lagrange((1, 1))["G"]):
        assert printed[row] - gradient == -2 * gs.TrigonometricPolynomial.of(gradient)
        assert gs.TrigonometricPolynomial.of(gradient)


def test_erratum_of_the_mirror() -> None:
    """CB32b: given only with the mode's coordinate first; without its mirror image M is not symmetric."""
    m = forms()["M"]
    assert (m == m.T).all()
    printed = m.copy()
    printed[0, 2] = printed[0, 2] - MU_1 * s("H", 11)  # of link 1 the trace with N_r; link 2 is distal to mode 11
    printed[:3, 3] = gs.TrigonometricPolynomial.of(0)
    assert not (printed == printed.T).all()
    v = np.array([gs.TrigonometricPolynomial.of(x) for x in coordinates((1, 1))[1]])
    left = v @ printed @ v / 2 - energies((1, 1), None)[0]
    row = v @ m[:, 3] - m[3, 3] * V_21
    assert left == -(MU_1 * s("H", 11) * s("v", 1) * V_11 + row * V_21) / 2


def test_erratum_of_the_modes_alone() -> None:
    """CB32c: a trace, that of W C Wᵀ; of C alone it is only where W turns without stretching."""
    found = forms()["M"][3, 3]
    assert found == lagrange((1, 1))["M"][3, 3]
    assert found - MU_2 * C_211 == MU_2 * C_211 * F_11**2 * THETA**2


def test_erratum_of_the_missing_dot() -> None:
    """CB33, fourth term: the rate of the modal coordinate; the term shows in the plane as W stretches."""
    row = forms()["C"][3, 0]
    factor = 2 * MU_2 * C_211 * F_11 * THETA**2 * V_11
    printed = row - factor * V_21 + factor * F_21
    assert printed - lagrange((1, 1))["C"][3] == factor * (F_21 - V_21)
    first = sympy.Poly(sympy.expand(row.to_sympy()), V_11, V_21).coeff_monomial(V_11 * V_21)
    assert gs.TrigonometricPolynomial.of(first * V_11) == factor


def test_erratum_of_the_flexible_joint() -> None:
    """CB46a: the spring pulls the link back, −K_t (q_1 − q_3); printed with a plus, its matrix is not symmetric."""
    stiffness, rotor = 50.0, 0.2
    model = skeleton((0.0, 0.0))
    model.gravity.linear = np.zeros(3)
    joint = gd.FlexibleJoint(stiffness=stiffness, rotor_inertia=rotor)
    arm = gd.FlexibleArm(model, joints={"joint1": joint})
    q = np.array([0.3, 0.0, 0.1])
    pull = stiffness * (q[0] - q[2])
    assert arm.nle(q, np.zeros(3)).full().ravel() == pytest.approx([pull, 0, -pull], rel=1e-12, abs=1e-12)
    k = arm.stiffness_matrix[np.ix_([0, 2], [0, 2])]
    assert (k == stiffness * np.array([[1, -1], [-1, 1]])).all()
    printed = k * [[-1], [1]]
    assert not (printed == printed.T).all()
    # free, with the second joint held, the two inertias swing with k (1/I + 1/J); printed, with k (1/J − 1/I)
    inertia = float(arm.mass_matrix(q)[0, 0])
    squares = [np.linalg.eigvals(np.diag([1 / inertia, 1 / rotor]) @ x) for x in (k, printed)]
    assert max(squares[0]) == pytest.approx(stiffness * (1 / inertia + 1 / rotor), rel=1e-12)
    assert max(squares[1]) == pytest.approx(stiffness * (1 / rotor - 1 / inertia), rel=1e-12)


# What is refused


def test_coordinates_keep_their_names() -> None:
    arm = bending({"link1": gd.modes.polynomial(1)}, (1.0, 0.0))
    with pytest.raises(gd.errors.ArgumentError, match="f_11 is a coordinate"):
        gs.symbolic_tree(arm, {"joint1 station 1": {"mass": "2*f_11"}})
    with pytest.raises(gd.errors.ArgumentError, match="v_11 is a coordinate or rate"):
        gs.symbolic_tree(arm, gravity=(0, "-v_11", 0))


def test_a_large_arm_is_refused() -> None:
    with pytest.raises(gd.errors.UnsupportedError, match="max_terms=1000"):
        gs.closed_forms(robot((2, 2), MASSES), max_terms=1000)


@pytest.mark.parametrize(("name", "count", "in_a_row"), [("inverse_dynamics", 416, 25), ("forward_dynamics", 812, 40)])
def test_the_equations_of_the_study_can_be_spread_over_processors(name: str, count: int, in_a_row: int) -> None:
    """Section IV: how many of the instructions of the paper's arm depend on one another bounds what that can save."""
    graph = getattr(case_study.arm(case_study.FREE, 100.0), name)
    depths: dict[int, int] = {}
    deepest = 0
    for k in range(graph.n_instructions()):
        if graph.instruction_id(k) == ca.OP_OUTPUT:
            continue
        leaf = graph.instruction_id(k) in (ca.OP_INPUT, ca.OP_CONST)
        depth = 0 if leaf else 1 + max(depths[i] for i in graph.instruction_input(k))
        depths |= dict.fromkeys(graph.instruction_output(k), depth)
        deepest = max(deepest, depth)
    assert (graph.n_instructions(), deepest) == (count, in_a_row)

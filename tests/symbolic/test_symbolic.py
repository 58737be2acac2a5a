"""Closed forms: graphs as SymPy expressions, trigonometric polynomials in unique form, robots with symbols."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import subprocess
import sys
from fractions import Fraction

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.symbolic.formula import rational
from tests.helpers.models import build, placement, relative_error
from tests.helpers.sets import quick

Polynomial = gs.TrigonometricPolynomial
X, Y, M, N = (gs.symbol(name) for name in ("x", "y", "m", "n"))
sin, cos = sympy.sin, sympy.cos
THREE_JOINTS = ("cart_pendulum", "two_link_arm", "puma560_3", "shala_likaj_rpr", "horn_leg_loads", "horn_arm_offset")
FORMULATIONS = (gd.GeneralizedDAlembert, gd.LagrangeEuler)


# Unique form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sin(X) ** 2 + cos(X) ** 2, 1),
        (cos(X) * cos(Y) - sin(X) * sin(Y), cos(X + Y)),
        (sin(X) * cos(Y) - cos(X) * sin(Y), -sin(Y - X)),
        (cos(-X), cos(X)),
        (4 * cos(X) ** 3 - 3 * cos(X), cos(3 * X)),
        (8 * sin(X) ** 4, 3 - 4 * cos(2 * X) + cos(4 * X)),
        ((M + N * cos(X)) ** 2, M**2 + 2 * M * N * cos(X) + N**2 * (1 + cos(2 * X)) / 2),
        (0.1 * M * sin(X), M * sin(X) / 10),
        (X * sin(X) * cos(X), X * sin(2 * X) / 2),
    ],
)
def test_equal_expressions_are_one_polynomial(one: sympy.Expr, other: sympy.Expr) -> None:
    assert Polynomial.of(one) == other
    assert hash(Polynomial.of(one)) == hash(Polynomial.of(other))
    assert not Polynomial.of(one) - other
    assert sympy.simplify(Polynomial.of(one).to_sympy() - other) == 0
    assert Polynomial.of(one) != other + sympy.Rational(1, 10**9)


def random_expression(rng: np.random.Generator) -> sympy.Expr:
    """A sum of products with nothing special about them."""
    factors = [M, N, sin(X), cos(X), sin(Y), cos(X + 2 * Y), sin(X - Y), sympy.Rational(2, 3), X]
    return sympy.Add(*(sympy.Mul(*rng.choice(factors, size=4)) for _ in range(4)))


@pytest.mark.parametrize("seed", quick(range(20), *range(4)))
def test_algebra_is_that_of_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_expression(rng), random_expression(rng)
    numbers = dict(zip((X, Y, M, N), rng.uniform(-2, 2, 4), strict=True))
    unique = Polynomial.of(a) * Polynomial.of(b) - 3 * Polynomial.of(b) + Polynomial.of(a) ** 2 / 7
    expected = float((a * b - 3 * b + a**2 / 7).subs(numbers))
    assert float(unique.to_sympy().subs(numbers)) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert Polynomial.of(unique.to_sympy()) == unique
    assert not Polynomial.of(a) * b - b * Polynomial.of(a)


def test_terms() -> None:
    """The sum is what it says: sin(x − y), not sin(y − x), and halves where they belong."""
    found = Polynomial.of(M * sin(Y) * cos(X) + 5).terms
    half = Fraction(1, 2)
    assert found == {
        (False, ()): {(): Fraction(5)},
        (True, (("x", 1), ("y", 1))): {(("m", 1),): half},
        (True, (("x", 1), ("y", -1))): {(("m", 1),): -half},
    }
    assert len(Polynomial.of(M * sin(Y) * cos(X) + 5)) == 3


def test_numbers_are_those_that_were_meant() -> None:
    assert rational(1 / 12) == Fraction(1, 12)
    assert rational(0.4318) == Fraction(4318, 10000)
    assert rational(1.2345678901e-9) == Fraction("1.2345678901e-9")
    assert all(float(rational(x)) == x for x in np.random.default_rng(0).normal(size=100))
    assert Polynomial.of(0.1) * 10 == 1


@pytest.mark.parametrize(("x", "meant"), [(0.012499999999999997, "1/80"), (0.1 + 0.2, "3/10"), (-1 / 3, "-1/3")])
def test_rounding_noise_is_not_meant(x: float, meant: str) -> None:
    assert rational(x) == Fraction(meant)
    assert rational(1.0000000001) == Fraction("1.0000000001") != 1
    assert rational(5e-324) == Fraction("5e-324")


def test_readable_numbers() -> None:
    """With a mass times a length squared that floating point does not have exactly."""
    x = ca.SX.sym("q")
    noisy = ca.Function("f", [x], [0.012499999999999997 * ca.cos(x) + 0.0125 * ca.sin(x)], ["q"], ["y"])
    assert str(gs.readable(gs.to_trigonometric(noisy)["y"])[0, 0]) == "c_1/80 + s_1/80"


def test_numbers_are_equal_to_their_polynomials() -> None:
    assert Polynomial.of(2) == 2
    assert hash(Polynomial.of(2)) == hash(2)
    assert len({Polynomial.of(2), 2, Polynomial.of(0.5), Fraction(1, 2)}) == 2
    assert Polynomial.of(np.float32(1)) == np.float32(1) == Polynomial.of(1)
    for other in (sympy.sqrt(2), 1 / X, math.nan, math.inf, 1j, "m", None):
        assert Polynomial.of(M) != other
    with pytest.raises(ArgumentError, match="nan is not finite; give a finite number"):
        Polynomial.of(math.nan)


@pytest.mark.long
def test_pickles_are_read_by_other_processes() -> None:
    """Where other names came first."""
    given = Polynomial.of(M * sin(Y - X) * cos(Y) / 3 + N**2 * sin(X - 2 * Y) - M / 7 + 5 * cos(X))
    for each in (given, Polynomial.of(0), Polynomial.of(Fraction(2, 3))):
        assert pickle.loads(pickle.dumps(each)) == each == copy.deepcopy(each)
    code = f"""
import pickle, sympy
import gdalembert.symbolic as gs
for name in "zynabx":
    gs.TrigonometricPolynomial.symbol(name)
read = pickle.loads({pickle.dumps(given)!r})
print(read == gs.TrigonometricPolynomial.of(gs.formula({str(given)!r})), read)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"True {given}\n"


@pytest.mark.parametrize(
    ("expression", "part"),
    [(sympy.tan(X), "tan"), (1 / X, "1/x|-1"), (sin(X * Y), "x.y"), (sin(X / 2), "x/2"), (cos(X + 1), "x . 1")],
)
def test_what_is_no_polynomial_is_refused(expression: sympy.Expr, part: str) -> None:
    with pytest.raises(UnsupportedError, match=part):
        Polynomial.of(expression)


def test_what_is_no_formula_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="'x' is not a formula"):
        Polynomial.of("x")
    with pytest.raises(UnsupportedError, match="division by m"):
        Polynomial.of(1) / M
    with pytest.raises(UnsupportedError, match="power -1"):
        Polynomial.of(M) ** -1


# Graphs


def check_graph(function: ca.Function) -> None:
    """The SymPy matrices are the Function, to rounding."""
    symbols = [gs.symbol(x) for i, name in enumerate(function.name_in()) for x in names(name, *function.size_in(i))]
    matrices = gs.to_sympy(function)
    rng = np.random.default_rng(1)
    for _ in range(6):
        point = [rng.uniform(0.1, 0.9, size=function.size_in(i)) for i in range(function.n_in())]
        entries = np.concatenate([x.ravel(order="F") for x in point])
        results = function.call(dict(zip(function.name_in(), point, strict=True)))
        for name, matrix in matrices.items():
            found = np.array(matrix.subs(dict(zip(symbols, entries, strict=True))).evalf(17).tolist(), dtype=float)
            assert relative_error(found.reshape(matrix.shape), ca.DM(results[name]).full()) < 1e-13, name


def names(name: str, rows: int, columns: int) -> list[str]:
    """Column by column."""
    if columns == 1:
        return [f"{name}_{i}" for i in range(1, rows + 1)]
    return [f"{name}_{i}_{j}" for j in range(1, columns + 1) for i in range(1, rows + 1)]


OPERATIONS = {
    "arithmetic": lambda x, y: (x + y) * (x - y) / (2 + x) + 1 / x + x**2 + x**3 + x**y + 2 * x,
    "elementary": lambda x, y: (
        ca.sin(x) + ca.tan(y) + ca.exp(x) + ca.log(y) + ca.sqrt(x) + ca.fabs(x - y) + ca.sign(-y)
    ),
    "inverse": lambda x, y: ca.asin(x) + ca.acos(y) + ca.atan(x) + ca.atan2(x, y),
    "hyperbolic": lambda x, y: ca.sinh(x) + ca.cosh(y) + ca.tanh(x) + ca.asinh(x) + ca.acosh(1 + y) + ca.atanh(x),
    "less usual": lambda x, y: (
        ca.erf(x) + ca.log1p(x) + ca.expm1(y) + ca.hypot(x, y) + ca.floor(3 * x) + ca.ceil(3 * y)
    ),
    "choice": lambda x, y: ca.if_else(x < y, x, 2 * y) + ca.fmin(x, y) + ca.fmax(x, 3 * y) + ca.if_else(x == y, 1, 2),
    "logic": lambda x, y: ca.vertcat(
        ca.if_else(ca.logic_and(x < 0.5, y <= 0.5), x, y),
        ca.if_else(ca.logic_or(x < 0.5, y <= 0.5), x, y),
        ca.if_else(ca.logic_not(x < 0.5), x, y),
        ca.if_else(x != 0.25, x, y),
    ),
}


@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("symbolic", [ca.SX, ca.MX])
def test_operations(kind: str, symbolic: type[ca.SX]) -> None:
    x, y = symbolic.sym("x"), symbolic.sym("y")
    check_graph(ca.Function("f", [x, y], [OPERATIONS[kind](x, y)], ["x", "y"], ["z"]))


def test_matrices_and_names() -> None:
    """Entries by place; sparse inputs and outputs too."""
    m, d = ca.SX.sym("M", 2, 3), ca.SX.sym("d", ca.Sparsity.diag(2))
    function = ca.Function("f", [m, d], [m.T @ d, ca.sparsify(ca.diag(m[:, 0]))], ["M", "d"], ["product", "diagonal"])
    found = gs.to_sympy(function)
    assert found["product"][2, 1] == gs.symbol("M_2_3") * gs.symbol("d_2_2")
    assert found["diagonal"] == sympy.diag(gs.symbol("M_1_1"), gs.symbol("M_2_1"))
    given = gs.to_sympy(function, {"d": ["a", 0, 0, X / 3]})["product"]
    assert given[0, 0] == gs.symbol("M_1_1") * gs.symbol("a")
    assert given[0, 1] == gs.symbol("M_2_1") * X / 3


@pytest.mark.parametrize("read", [gs.to_sympy, gs.to_trigonometric])
def test_inputs_are_formulas(read: object) -> None:
    """A string is not a symbol that happens to be called 2*x; a number is the fraction that it stands for."""
    q = ca.SX.sym("q", 2)
    function = ca.Function("f", [q], [ca.sin(q[0]) + q[1]], ["q"], ["y"])
    assert read(function, {"q": ["2*x", 0.1]})["y"][0, 0] == sin(2 * X) + sympy.Rational(1, 10)
    with pytest.raises(ArgumentError, match=r"'1\+' is not a formula"):
        read(function, {"q": ["x", "1+"]})
    with pytest.raises(ArgumentTypeError, match="None: give a number, a name"):
        read(function, {"q": ["x", None]})


@pytest.mark.long
@pytest.mark.parametrize("formulation", [*quick([gd.GeneralizedDAlembert, gd.LagrangeEuler]), gd.NewtonEuler])
def test_our_own_graphs(formulation: type[gd.Dynamics]) -> None:
    """All three formulations of a robot with numbers."""
    dyn = formulation(gd.load_urdf("puma560_3"))
    check_graph(dyn.inverse_dynamics)
    check_graph(dyn.terms)


def test_graphs_that_have_no_form() -> None:
    x = ca.SX.sym("x")
    remainder = ca.Function("f", [x], [ca.remainder(x, 2)], ["x"], ["y"])
    with pytest.raises(UnsupportedError, match=r"f: its operation OP_REMAINDER has no form in SymPy"):
        gs.to_sympy(remainder)
    root = ca.Function("f", [x], [ca.sqrt(x)], ["x"], ["y"])
    with pytest.raises(UnsupportedError, match="OP_SQRT has no form in a trigonometric polynomial"):
        gs.to_trigonometric(root)
    with pytest.raises(ArgumentTypeError, match=r"expected a casadi.Function, got SX"):
        gs.to_sympy(x)
    with pytest.raises(UnknownNameError, match="no input named 'X'; nearest: 'x'"):
        gs.to_sympy(root, {"X": ["a"]})
    with pytest.raises(ArgumentError, match="input 'x': has 1 entries, got 2 names"):
        gs.to_sympy(root, {"x": ["a", "b"]})
    with pytest.raises(UnknownNameError, match="no output named 'z'"):
        gs.to_trigonometric(root, outputs=["z"])


# Robots


def evaluated(formulas: np.ndarray, numbers: dict[str, float]) -> np.ndarray:
    matrix = sympy.Matrix(*formulas.shape, [x.to_sympy() for x in formulas.ravel()])
    symbols = sorted(matrix.free_symbols, key=str)
    return np.array(sympy.lambdify(symbols, matrix, "numpy")(*(numbers[x.name] for x in symbols)), dtype=float)


def check_robot(model: pin.Model, formulation: type[gd.Dynamics], of: str = "terms") -> None:
    """The formulas, with the robot's numbers in them, are the Function of the robot, to rounding."""
    rng = np.random.default_rng(2)
    tree = gs.symbolic_tree(model)
    function: ca.Function = getattr(formulation(model), of)
    parametric: ca.Function = getattr(tree.dynamics(formulation), of)
    forms = gs.closed_forms(tree, formulation, of=of)
    for _ in range(3):
        state = [rng.uniform(-2, 2, size=function.numel_in(i)) for i in range(function.n_in())]
        letters = dict(zip(function.name_in(), state, strict=True))
        numbers = {f"{letter}_{k + 1}": x for letter, part in letters.items() for k, x in enumerate(part)}
        reference = function.call(letters)
        with_parameters = parametric.call(letters | {"p": tree.parameters.vector()})
        for name, formulas in forms.items():
            assert relative_error(evaluated(formulas, numbers | dict(tree.numbers)), reference[name].full()) < 1e-13
            assert relative_error(with_parameters[name].full(), reference[name].full()) < 1e-13


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("robot", quick(THREE_JOINTS, "cart_pendulum", "two_link_arm"))
def test_shipped_robots(robot: str, formulation: type[gd.Dynamics]) -> None:
    check_robot(gd.load_urdf(robot), formulation)
    check_robot(gd.load_urdf(robot), formulation, "inverse_dynamics")


@pytest.mark.long
@pytest.mark.parametrize("formulation", quick(FORMULATIONS, gd.LagrangeEuler))
@pytest.mark.parametrize(
    ("joints", "parents"),
    [
        pytest.param(("RZ", "PX", "RY"), (0, 1, 1), marks=pytest.mark.long),
        (("HX", "RX"), (0, 1)),
        pytest.param(("Translation", "RZ"), (0, 1), marks=pytest.mark.long),
    ],
)
def test_random_trees(joints: tuple[str, ...], parents: tuple[int, ...], formulation: type[gd.Dynamics]) -> None:
    """Branches, helical and translation joints, placements turned in any direction, gravity askew, full inertias."""
    model = build(np.random.default_rng(3), joints, parents)
    for i in range(2, model.njoints):
        turned = placement(np.random.default_rng(i))
        model.jointPlacements[i] = pin.SE3(pin.utils.rotate("xyz"[i % 3], 0.3 * i), turned.translation)
    check_robot(model, formulation)


@pytest.mark.long
def test_mimic_and_continuous_joints() -> None:
    """A joint that follows with a whole factor; a continuous one is an ordinary one."""
    model = build(np.random.default_rng(4), ("RX", "PY"), (0, 1))
    model.jointPlacements[2] = pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.1, 0.2, 0.3]))
    follower = pin.JointModelMimic(model.joints[1], -2.0, 0.4)
    joint = model.addJoint(2, follower, pin.SE3.Identity(), "mimic")
    model.appendBodyToJoint(joint, model.inertias[1], pin.SE3.Identity())
    check_robot(model, gd.LagrangeEuler)

    turned = [build(np.random.default_rng(5), (name, "PY"), (0, 1)) for name in ("RX", "RUBX")]
    one, other = (gs.closed_forms(each, gd.LagrangeEuler, outputs=["D", "c"]) for each in turned)
    assert all((one[name] == other[name]).all() for name in ("D", "c"))


def test_names_of_symbols() -> None:
    tree = gs.symbolic_tree("puma560_3")
    assert {"m_2", "c_2x", "I_2xx", "p_3x", "I_act_1", "g"} <= set(tree.numbers)
    assert "I_2xy" not in tree.numbers
    assert "m_1" not in tree.numbers  # zeros stay zero
    assert tree.numbers["p_3x"] == 0.4318
    numbers = gs.symbolic_tree("puma560_3", others="numbers")
    assert numbers.numbers == {}
    forms = gs.closed_forms(numbers, outputs=["G"])["G"]
    assert forms[2, 0] == sympy.Rational(981, 100) * sympy.Rational(48, 10) * sympy.Rational(-7, 100) * sin(
        gs.symbol("q_2") + gs.symbol("q_3")
    )
    assert set(gs.symbolic_tree("shala_likaj_rpr").numbers) >= {"beta_3"}


def test_parameters_of_the_user_s_choice() -> None:
    parameters = {"link2": {"mass": "m", "com": ("l/2", 0, 0), "inertia": [[0, 0, 0], [0, "J", 0], [0, 0, "J"]]}}
    tree = gs.symbolic_tree("two_link_arm", parameters, gravity=(0, 0, "-9.81"), others="numbers")
    d_22 = gs.closed_forms(tree, gd.LagrangeEuler, outputs=["D"])["D"][1, 1]
    assert d_22 == M * gs.symbol("l") ** 2 / 4 + gs.symbol("J")
    assert tree.parameters.names == ("m", "l", "J")
    assert list(tree.parameters.vector({"J": 0.1, "m": 2, "l": 0.6})) == [2, 0.6, 0.1]
    link = gd.LagrangeEuler(tree).at({"m": 2, "l": 0.6, "J": 0.1}).nominal.joints[1]
    assert link.com[0] == 0.3
    assert link.inertia[1, 1] == pytest.approx(0.1, rel=1e-15)
    with pytest.raises(ArgumentError, match=r"two_link_arm: p: no value for l, J; give it by name"):
        tree.parameters.vector({"m": 2})


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_denavit_hartenberg(convention: str) -> None:
    """Both conventions against Pinocchio, a chain with nothing special about it."""
    rng = np.random.default_rng(6)
    kinds = "RPR"
    theta, d, a, alpha, mass = rng.uniform(0.2, 1, (5, 3))
    com, moments = rng.uniform(-0.2, 0.2, (3, 3)), rng.uniform(1, 1.2, (3, 3))

    def screw(axis: str, angle: float, shift: float) -> pin.SE3:
        return pin.SE3(pin.utils.rotate(axis, angle), shift * np.eye(3)["xyz".index(axis)])

    model, before = pin.Model(), pin.SE3.Identity()
    for i, kind in enumerate(kinds):
        along, across = screw("z", theta[i], d[i]), screw("x", alpha[i], a[i])
        joint_type = pin.JointModelRZ() if kind == "R" else pin.JointModelPZ()
        at, frame = (before, along * across) if convention == "standard" else (across * along, pin.SE3.Identity())
        joint = model.addJoint(i, joint_type, at, f"joint{i + 1}")
        model.appendBodyToJoint(joint, pin.Inertia(mass[i], com[i], np.diag(moments[i])), frame)
        before = frame
    rows = [
        gs.Row(kind, f"theta_{i}", f"d_{i}", f"a_{i}", f"alpha_{i}", float(mass[i]), tuple(com[i]), tuple(moments[i]))
        for i, kind in enumerate(kinds)
    ]
    tree = gs.from_denavit_hartenberg(rows, convention=convention, gravity=(0, 0, "g"))
    names = {
        f"{name}_{i}": x[i] for name, x in {"theta": theta, "d": d, "a": a, "alpha": alpha}.items() for i in range(3)
    }
    function = tree.dynamics(gd.LagrangeEuler).inverse_dynamics
    parameters = tree.parameters.vector({"g": -9.81, **names})
    for _ in range(3):
        state = rng.uniform(-1, 1, (3, 3))
        reference = pin.rnea(model, model.createData(), *state)
        assert relative_error(function(*state, parameters).full().ravel(), reference) < 1e-13


def test_a_name_stands_for_one_thing() -> None:
    """A length a_1 is not the acceleration a_1."""
    tree = gs.from_denavit_hartenberg([gs.Row(a="a_1", mass="m")], gravity=(0, 0, 0))
    length, alpha = gs.symbol("a_1"), gs.symbol("alpha")
    assert gs.closed_forms(tree, of="mass_matrix")["M"][0, 0] == M * length**2
    with pytest.raises(ArgumentError, match="input 'p': the name a_1 is that of an entry of 'a' too; rename it"):
        gs.closed_forms(tree, of="inverse_dynamics")
    tau = gs.closed_forms(tree, of="inverse_dynamics", inputs={"a": ["alpha"]})["tau"][0, 0]
    assert tau == M * length**2 * alpha


def test_right_angles_are_exact() -> None:
    tree = gs.from_denavit_hartenberg([gs.Row(alpha=math.pi / 2, mass="m", com=(0, 0, "z")), gs.Row(mass="n")])
    assert set(map(str, tree.exact.formulas)) == {"m", "n", "z", "g"}
    assert gs.formula("m_2*l_2**2/12") == gs.symbol("m_2") * gs.symbol("l_2") ** 2 / 12
    assert gs.formula(0.1) == sympy.Rational(1, 10) == gs.formula("0.1")
    assert gs.formula("sin(alpha)*S") == sin(gs.symbol("alpha")) * gs.symbol("S")


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_angles_that_are_no_right_ones(convention: str) -> None:
    """They get symbols with the numbers that were given."""
    angles = ["0.3", 0.3, "pi/4", "1.5707963", sympy.pi / 3]
    rows = [gs.Row(alpha=x, theta=x, a=0.5, mass="m", com=(0.1, 0.2, 0.3)) for x in angles]
    tree = gs.from_denavit_hartenberg(rows, convention=convention)
    given = [0.3, 0.3, math.pi / 4, 1.5707963, math.pi / 3]
    assert [tree.numbers[f"alpha_{i}"] for i in range(1, 6)] == pytest.approx(given, rel=1e-15)
    assert [tree.numbers[f"theta_{i}"] for i in range(1, 6)] == pytest.approx(given, rel=1e-15)
    named = [gs.Row(alpha=f"alpha_{i}", theta=f"theta_{i}", a=0.5, mass="m", com=(0.1, 0.2, 0.3)) for i in range(1, 6)]
    other = gs.from_denavit_hartenberg(named, convention=convention)
    first, second = (gs.from_denavit_hartenberg(x[:2], convention=convention) for x in (rows, named))
    assert tree.exact.formulas == other.exact.formulas
    assert (gs.closed_forms(first, of="mass_matrix")["M"] == gs.closed_forms(second, of="mass_matrix")["M"]).all()


@pytest.mark.parametrize("right", ["1.5707963267948966", math.pi / 2, "pi/2", sympy.Float(math.pi / 2)])
def test_right_angles_in_any_writing(right: object) -> None:
    tree = gs.from_denavit_hartenberg([gs.Row(alpha=right, mass="m", com=(0, 0, "z")), gs.Row(mass="n")])
    assert set(map(str, tree.exact.formulas)) == {"m", "n", "z", "g"}
    assert tree.numbers == {}


def test_given_rotation_by_a_number() -> None:
    tree = gs.symbolic_tree("two_link_arm", {"link2": {"rotation": ("x", "pi/6")}})
    assert tree.numbers["beta_2"] == pytest.approx(math.pi / 6, rel=1e-15)


def test_arrays_are_vectors() -> None:
    """NumPy arrays, SymPy matrices and tuples: rows, columns, or flat."""
    tensor = [[2, 0, 1], [0, 3, 0], [1, 0, 4]]
    expected = gs.from_denavit_hartenberg([gs.Row(mass="m", com=(0, 1, 2), inertia=tensor)], gravity=(0, 0, -2))
    vectors = (np.array([0.0, 1.0, 2.0]), np.array([[0], [1], [2]]), sympy.Matrix([0, 1, 2]), sympy.Tuple(0, 1, 2))
    for com in vectors:
        for inertia in (np.array(tensor), sympy.Matrix(tensor), sympy.ImmutableMatrix(tensor)):
            row = gs.Row(mass="m", com=com, inertia=inertia)
            tree = gs.from_denavit_hartenberg([row], gravity=np.array([0, 0, -2]))
            assert tree.exact.formulas == expected.exact.formulas
            one, other = (gs.closed_forms(x)["D_rot"] for x in (tree, expected))
            assert (one == other).all()
    principal = gs.from_denavit_hartenberg([gs.Row(inertia=sympy.Matrix([1, 2, "J"]))])
    assert set(map(str, principal.exact.formulas)) == {"2", "J", "g"}
    with pytest.raises(ArgumentError, match="com: has 3 entries, got 2"):
        gs.from_denavit_hartenberg([gs.Row(com=np.zeros(2))])


ONE_ROW = [gs.Row(mass="m")]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gs.symbolic_tree("puma560_3", {"link9": {}}), UnknownNameError, "no joint or link named 'link9'"),
        (lambda: gs.symbolic_tree("puma560_3", {"link2": {"mas": 1}}), UnknownNameError, "no quantity named 'mas'; ne"),
        (lambda: gs.symbolic_tree("puma560_3", {"link2": 1}), ArgumentTypeError, r"parameters\['link2'\]=1: give"),
        (lambda: gs.symbolic_tree("puma560_3", 3), ArgumentTypeError, "parameters=3: give"),
        (lambda: gs.symbolic_tree("puma560_3", others="all"), ArgumentError, "others='all': give 'symbols' or"),
        (
            lambda: gs.symbolic_tree("puma560_3", {"link2": {"com": (0, 1)}}),
            ArgumentError,
            "joint 'joint2': com: has 3 entries, got 2",
        ),
        (
            lambda: gs.symbolic_tree("puma560_3", {"link2": {"rotation": "x"}}),
            ArgumentError,
            "joint 'joint2': rotation 'x'; give an axis and an angle",
        ),
        (
            lambda: gs.symbolic_tree("puma560_3", {"link2": {"inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}}),
            ArgumentError,
            "give the 3 principal ones or a symmetric",
        ),
        (lambda: gs.formula("m_2 +"), ArgumentError, r"'m_2 \+' is not a formula"),
        (lambda: gs.formula("__import__('os')"), ArgumentError, "is not a formula"),
        (lambda: gs.formula(math.nan), ArgumentError, "nan is not finite"),
        (lambda: gs.formula(None), ArgumentTypeError, "None: give a number, a name"),
        (lambda: gs.from_denavit_hartenberg([]), ArgumentError, "chain: has no rows"),
        (lambda: gs.formula("9**9**9"), ArgumentError, r"its exponent 9 \*\* 9 is above 99"),
        (lambda: gs.formula("x**(99*99)"), ArgumentError, r"'x\*\*\(99\*99\)': its exponent 99 \* 99 is above 99"),
        (
            lambda: gs.from_denavit_hartenberg(gs.Row()),
            ArgumentTypeError,
            r"chain: rows=Row\(.*\); give a list of Rows",
        ),
        (lambda: gs.from_denavit_hartenberg(3), ArgumentTypeError, "chain: rows=3; give a list of Rows"),
        (
            lambda: gs.from_denavit_hartenberg([gs.Row(), gs.Row(alpha="beta/2")]),
            ArgumentError,
            "chain: row 2: alpha: 'beta/2' is not a sum of whole multiples .* give it one symbol, as 'alpha_2'",
        ),
        (
            lambda: gs.from_denavit_hartenberg([gs.Row(alpha=0.3), gs.Row(alpha="alpha_1")]),
            ArgumentError,
            "chain: row 1: alpha=0.3 gets the name alpha_1, which a formula has already; rename that one",
        ),
        (lambda: gs.readable("x"), ArgumentTypeError, "readable: 'x' is not a trigonometric polynomial; give what"),
        (lambda: gs.readable(gs.formula("x")), ArgumentTypeError, "readable: x is not a trigonometric polynomial"),
        (lambda: gs.readable({"M": 1}), ArgumentTypeError, "is not a trigonometric polynomial"),
        (lambda: gs.from_denavit_hartenberg([gs.Row("X")]), ArgumentError, "chain: row 1: joint='X'; give 'R' or 'P'"),
        (lambda: gs.from_denavit_hartenberg([(0, 0)]), ArgumentTypeError, r"chain: row 1: got \(0, 0\); give a Row"),
        (lambda: gs.from_denavit_hartenberg(ONE_ROW, convention="x"), ArgumentError, "give 'standard' or 'modified'"),
        (lambda: gs.closed_forms("puma560_3", "lagrange_euler"), ArgumentTypeError, "is not a formulation"),
        (
            lambda: gs.closed_forms("puma560_3", of="term"),
            UnknownNameError,
            "no Function named 'term'; nearest: 'terms'",
        ),
        (
            lambda: gs.closed_forms("puma560_3", gd.LagrangeEuler, of="link_torques"),
            UnknownNameError,
            "no Function named 'link_torques'",
        ),
        (
            lambda: gs.closed_forms("puma560_3", max_terms=0),
            ArgumentError,
            "max_terms: got 0; give an integer of at least 1",
        ),
    ],
)
def test_errors(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_joints_without_closed_forms() -> None:
    model = build(np.random.default_rng(7), ("Spherical",), (0,))
    with pytest.raises(UnsupportedError, match=r"joint 'Spherical_0': its velocities are not dq/dt \(Spherical\)"):
        gs.symbolic_tree(model)


@pytest.mark.long
def test_too_large_a_robot_is_told_so() -> None:
    """With its size and what to do; the work until then is bounded by max_terms."""
    with pytest.raises(UnsupportedError) as caught:
        gs.closed_forms("panda7", gd.LagrangeEuler, outputs=["D"], max_terms=20_000)
    message = str(caught.value)
    assert message.startswith("panda7: terms: too large for closed forms: its ")
    assert "more than max_terms=20000 products of terms" in message
    assert message.endswith("ask for fewer outputs, give numbers for parameters, or raise max_terms")
    numbers = gs.symbolic_tree("panda7", others="numbers")
    with pytest.raises(UnsupportedError, match=r"; ask for fewer outputs, or raise max_terms$"):
        gs.closed_forms(numbers, gd.LagrangeEuler, outputs=["D"], max_terms=20)
    small = gs.closed_forms("panda7", gd.LagrangeEuler, outputs=["c"], max_terms=1_000_000)
    assert small["c"].shape == (7, 1)


# Form to read


def test_readable() -> None:
    """Products for multiple angles, common factors, shorthand."""
    forms = gs.closed_forms("puma560_3")
    short = gs.readable(forms["D_rot"])
    assert str(short[0, 0]) == "I_1zz + I_2xx*s_2**2 + I_2yy*c_2**2 + I_3xx*s_23**2 + I_3yy*c_23**2"
    assert str(gs.readable(forms["G"])[2, 0]) == "c_3y*g*m_3*s_23"
    written_out = gs.readable(forms["D_rot"], shorthand=False)
    meaning = gs.abbreviations(written_out)
    assert meaning[gs.symbol("s_23")] == sin(gs.symbol("q_2") + gs.symbol("q_3"))
    assert short.subs(meaning) == written_out


@pytest.mark.parametrize("robot", quick(THREE_JOINTS, "cart_pendulum", "two_link_arm"))
@pytest.mark.parametrize(
    ("formulation", "of"), [(gd.GeneralizedDAlembert, "terms"), (gd.LagrangeEuler, "terms"), (gd.LagrangeEuler, "nle")]
)
def test_readable_is_the_same(robot: str, formulation: type[gd.Dynamics], of: str) -> None:
    forms = gs.closed_forms(robot, formulation, of=of)
    for name, short in gs.readable_forms(robot, formulation, of=of).items():
        out = gs.readable(forms[name], shorthand=False)
        assert short.subs(gs.abbreviations(out)) == out
        for i, j in itertools.product(range(out.rows), range(out.cols)):
            assert forms[name][i, j] == out[i, j], (name, i, j)
            assert sympy.count_ops(short[i, j]) <= sympy.count_ops(forms[name][i, j].to_sympy())


def test_shorthand_never_takes_a_name_that_is_there() -> None:
    q = gs.symbol("q_2")
    found = gs.readable(Polynomial.of(gs.symbol("c_2") * cos(q) + sin(q)))
    assert found == gs.symbol("c_2") * cos(q) + gs.symbol("s_2")
    many = gs.readable(Polynomial.of(sin(gs.symbol("q_1") + gs.symbol("q_12"))))
    assert many == gs.symbol("s_1_12")


@pytest.mark.parametrize("robot", ["two_link_arm", "shala_likaj_rpr"])
def test_newton_euler_has_the_closed_forms_of_the_others(robot: str) -> None:
    tree = gs.symbolic_tree(robot)
    own, others = (gs.closed_forms(tree, x, of="inverse_dynamics")["tau"] for x in (gd.NewtonEuler, gd.LagrangeEuler))
    assert np.array_equal(own, others)

"""Closed forms of flexible arms, evaluated, are the Functions of the arm; each symbol has a meaning and a value."""

from __future__ import annotations

import functools
import math
import pickle
import re
import subprocess
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.errors import ArgumentTypeError, UnsupportedError
from gdalembert.export import derive, notes, write
from tests.export.test_code import octave
from tests.export.test_latex import printed_entries
from tests.helpers.exports import TOLERANCE, as_matrices, call_c, compiled, executed, functions_of, reference, states
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

pytestmark = pytest.mark.filterwarnings("ignore::gdalembert.errors.BeamWarning")
"""The beams replace bodies that are not theirs."""
BEAM = gd.Beam(0.7, 0.6, EI_z=10.0, EI_y=20.0, EA=1e3, GJ=5.0, section_inertia=(1e-3, 2e-3))
KINDS = {
    "bending_y": gd.modes.polynomial(1),
    "bending_z": gd.modes.polynomial(1),
    "extension": gd.modes.linear(),
    "torsion": gd.modes.linear(),
}
BODY = pin.Inertia(0.3, np.array([0.1, 0.01, 0]), np.diag([0.01, 0.02, 0.02]))


def boom(links: int) -> pin.Model:
    """Links of 0.7 m that turn about z, y, x; none of them in a plane with the others."""
    model, parent = pin.Model(), 0
    model.name = "boom"
    for k in range(links):
        kind = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX)[k]()
        at = pin.SE3(np.eye(3), np.array([0.7 if k else 0.0, 0, 0]))
        parent = model.addJoint(parent, kind, at, f"joint{k + 1}")
        model.appendBodyToJoint(parent, BODY, pin.SE3.Identity())
        model.addBodyFrame(f"link{k + 1}", parent, pin.SE3.Identity(), 0)
    end = pin.SE3(np.eye(3), np.array([0.7, 0, 0]))
    model.addFrame(pin.Frame("end", parent, 0, end, pin.FrameType.OP_FRAME))
    return model


def hip() -> gd.FlexibleArm:
    """A joint of three degrees of freedom with its rotors behind coupled springs (CB39 to CB46)."""
    model = pin.Model()
    model.name = "leg"
    joint = model.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "hip")
    model.appendBodyToJoint(joint, BODY, pin.SE3.Identity())
    springs = gd.FlexibleJoint([[50.0, 5, 0], [5, 40, 2], [0, 2, 30]], [0.02, 0.03, 0.04], damping=np.diag([1.0, 2, 3]))
    return gd.FlexibleArm(model, {}, {"hip": springs})


@functools.cache
def arm(name: str) -> gd.FlexibleArm | gd.FirstOrderArm:
    bends = {"bending_y": gd.modes.hermite(), "bending_z": gd.modes.polynomial(1)}
    if name == "a link":
        modes = {**KINDS, "bending_y": gd.modes.hermite()}
        return gd.FirstOrderArm(boom(1), {"link1": gd.FlexibleLink(BEAM, to="end", tip_body=BODY, hub=BODY, **modes)})
    if name == "a boom":
        joint = gd.FlexibleJoint(50.0, 0.02, damping=0.3)
        return gd.FirstOrderArm(boom(2), {"link1": gd.FlexibleLink(BEAM, **KINDS)}, {"joint1": joint})
    if name == "a flexible boom":
        links = {"link1": gd.FlexibleLink(BEAM, **KINDS), "link2": gd.FlexibleLink(BEAM, to="end", **KINDS)}
        return gd.FirstOrderArm(boom(2), links)
    if name == "a shortening link":  # exact kinematics
        return gd.FlexibleArm(boom(1), {"link1": gd.FlexibleLink(BEAM, to="end", modal_damping=0.02, **bends)})
    if name == "a tapered link":
        beam = gd.Beam(0.7, lambda x: 1 - x / 2, EI_z=lambda x: 10 - x, EI_y=7.0)
        return gd.FirstOrderArm(boom(2), {"link2": gd.FlexibleLink(beam, to="end", **bends)})
    if name == "a bearing":
        springs = gd.FlexibleJoint(50.0, 0.02), gd.FlexibleJoint([50.0, 60.0], directions=["x", "ry"])
        return gd.FlexibleArm(boom(1), {}, {"joint1": springs})
    if name == "a skew beam":  # whose second link stands on its middle
        root = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0, 0), np.array([0.05, 0.02, 0]))
        modes = {"bending_y": gd.modes.polynomial(1), "bending_z": gd.modes.polynomial(1)}
        link = gd.FlexibleLink(BEAM, root=root, children={"joint2": 0.35}, tip_body=BODY, **modes)
        return gd.FirstOrderArm(boom(2), {"link1": link})
    assert name == "a hip"
    return hip()


ARMS = [
    "a boom",
    "a hip",
    "a link",
    "a shortening link",
    "a tapered link",
    "a bearing",
    "a flexible boom",
    "a skew beam",
]


@functools.cache
def tree(name: str) -> gs.SymbolicTree:
    return gs.symbolic_tree(arm(name))


def value_of(formula: gs.TrigonometricPolynomial, values: dict[str, float]) -> float:
    """The number of a closed form; SymPy's lambdify takes seconds to read it."""

    def product(monomial: tuple[tuple[str, int], ...]) -> float:
        return math.prod(values[name] ** power for name, power in monomial)

    total = 0.0
    for (sine, angle), polynomial in formula.terms.items():
        wave = (math.sin if sine else math.cos)(sum(k * values[name] for name, k in angle))
        total += wave * sum(float(c) * product(monomial) for monomial, c in polynomial.items())
    return total


def motion(robot: gd.FlexibleArm | gd.FirstOrderArm, seed: int) -> dict[str, np.ndarray]:
    """Joints far from rest, modes near it."""
    rng, nv = np.random.default_rng(seed), robot.tree.nv
    size = np.where(np.isin(np.arange(nv), robot.modes), 0.1, 2.0)
    return {"q": rng.normal(size=nv) * size, "v": rng.normal(size=nv), "a": rng.normal(size=nv)}


def check_forms(name: str, robot: gs.SymbolicTree, functions: tuple[str, ...]) -> None:
    numbers = motion(arm(name), 1)
    coordinates = {x: robot.inputs()[x] for x in "qva"}
    values = dict(robot.numbers)
    for letter, names in coordinates.items():
        values |= {str(x): float(number) for x, number in zip(names, numbers[letter], strict=True)}
    for of in functions:
        function = getattr(arm(name), of)
        expected = function.call([numbers[x] for x in function.name_in()])
        forms = gs.closed_forms(robot, of=of)
        for output, matrix in zip(function.name_out(), expected, strict=True):
            found = np.array([value_of(x, values) for x in forms[output].ravel()]).reshape(matrix.shape)
            assert relative_error(found, matrix.full()) < TOLERANCE, output
    elastic = gs.closed_forms(robot, of="stiffness")["K"]
    found = np.array([value_of(x, values) for x in elastic.ravel()]).reshape(elastic.shape)
    assert relative_error(found, arm(name).stiffness_matrix) < TOLERANCE
    losses = gs.closed_forms(robot, of="damping")["D_d"]
    found = np.array([value_of(x, values) for x in losses.ravel()]).reshape(losses.shape)
    assert relative_error(found, arm(name).damping_matrix) < TOLERANCE


@pytest.mark.parametrize("name", quick(ARMS, *ARMS[:2]))
def test_evaluated_they_are_the_arm(name: str) -> None:
    check_forms(name, tree(name), ("mass_matrix", "generalized_gravity", "nle"))


@pytest.mark.long
def test_how_long_they_are() -> None:
    """As docs/closed_forms.md says."""
    forms = (gs.closed_forms(tree("a flexible boom"), of=of) for of in ("mass_matrix", "nle"))
    assert [sum(len(x) for matrix in form.values() for x in matrix.ravel()) for form in forms] == [1662, 2933]


@pytest.mark.long
@pytest.mark.parametrize("name", ARMS[:6])
def test_all_of_them_are_the_arm(name: str) -> None:
    check_forms(
        name, tree(name), ("inverse_dynamics", "coriolis_matrix", "terms", "kinetic_energy", "potential_energy")
    )


@pytest.mark.long
def test_numbers_in_place_of_symbols() -> None:
    robot = gs.symbolic_tree(arm("a boom"), others="numbers")
    assert robot.symbol_names == ()
    check_forms("a boom", robot, ("mass_matrix", "generalized_gravity"))


@pytest.mark.parametrize("name", quick(ARMS, "a shortening link", "a skew beam"))
def test_the_graph_with_symbols_is_that_of_the_arm(name: str) -> None:
    dynamics, numbers = tree(name).dynamics(gs.SymbolicArm), motion(arm(name), 2)
    for of in ("inverse_dynamics", "mass_matrix"):
        function = getattr(arm(name), of)
        given = [numbers[x] for x in function.name_in()]
        found = getattr(dynamics, of)(*given, dynamics.parameters.values)
        assert relative_error(found.full(), function(*given).full()) < TOLERANCE


@pytest.mark.long
def test_of_a_flexible_arm_whose_tips_turn_exactly() -> None:
    """Sines of modal coordinates: a graph in symbols, and no closed form."""
    robot = gd.FlexibleArm(boom(2), {"link1": gd.FlexibleLink(BEAM, **KINDS)})
    dynamics, numbers = gs.symbolic_tree(robot).dynamics(gs.SymbolicArm), motion(robot, 3)
    found = dynamics.inverse_dynamics(*numbers.values(), dynamics.parameters.values)
    assert relative_error(found.full(), robot.inverse_dynamics(*numbers.values()).full()) < TOLERANCE


def test_exact_rotations_have_none() -> None:
    planar = gd.FlexibleArm(boom(2), {"link1": gd.FlexibleLink(BEAM, bending_y=gd.modes.polynomial(1))})
    with pytest.raises(UnsupportedError, match=r"boom: cos\(f_11\*theta_11\).* exact rotations: take FirstOrderArm"):
        gs.closed_forms(planar, of="mass_matrix")


def test_a_rod_has_none() -> None:
    robot = gd.FlexibleArm(boom(1), {"link1": gd.CosseratRod(BEAM, to="end")})
    with pytest.raises(UnsupportedError, match="link 'link1': a Cosserat rod has no closed form"):
        gs.symbolic_tree(robot)
    with pytest.raises(UnsupportedError, match="base parameters are those of bodies that are rigid"):
        derive(arm("a boom"), "latex", terms=["base_regressor"])
    with pytest.raises(ArgumentTypeError, match="SymbolicArm"):
        gs.SymbolicArm(gs.symbolic_tree("two_link_arm"))


# Symbols


@pytest.mark.parametrize("name", quick(ARMS, "a boom", "a skew beam"))
def test_each_symbol_has_a_meaning_and_a_value(name: str) -> None:
    assert np.isfinite(tree(name).symbol_values).all()
    assert [x for x in tree(name).symbol_names if not notes.symbols([x])] == []


def test_their_names() -> None:
    integrals = {"C_111", "C_122", "C_133", "H_11", "P_12", "T_14", "S_114", "S_144"}
    beams = {"l_1", "mu_1", "j_1y", "j_1z", "EI_1z", "EI_1y", "EA_1", "GJ_1", "B_111", "B_144"}
    motions = {"u_11", "theta_11", "theta_12", "u_13", "theta_14"}
    joints = {"m_2", "I_act_7", "k_1", "d_1"}
    assert integrals | beams | motions | joints <= {*tree("a boom").symbol_names}
    assert tree("a boom").numbers["theta_12"] == pytest.approx(2 / 0.7, rel=1e-13)  # of (η / l)², positive
    assert {"H_21xy", "P_21y", "C_211yy", "K_212", "EI_2y"} <= {*tree("a tapered link").symbol_names}
    assert {"k_1", "k_1_2", "k_3", "d_3", "I_act_4"} <= {*tree("a hip").symbol_names}
    assert {"m_1t", "u_11s1", "p_1s1x", "beta_1r", "p_1ry"} <= {*tree("a skew beam").symbol_names}
    assert {"s1_111", "B_122", "D_111"} <= {*tree("a shortening link").symbol_names}
    assert tree("a boom").numbers["GJ_1"] == 5
    assert tree("a boom").numbers["mu_1"] == 0.6
    assert tree("a boom").numbers["B_144"] == pytest.approx(1 / 0.7, rel=1e-13)  # twist η / l


def test_values_of_other_beams() -> None:
    """Another stiffness and mass per length in the symbols are those of another beam."""
    beam = gd.Beam(0.7, 1.2, EI_z=30.0, EI_y=20.0, EA=1e3, GJ=8.0, section_inertia=(1e-3, 2e-3))
    other = gd.FirstOrderArm(
        boom(2), {"link1": gd.FlexibleLink(beam, **KINDS)}, {"joint1": gd.FlexibleJoint(70.0, 0.02, damping=0.3)}
    )
    dynamics = tree("a boom").dynamics(gs.SymbolicArm).at({"mu_1": 1.2, "EI_1z": 30.0, "GJ_1": 8.0, "k_1": 70.0})
    numbers = motion(other, 4)
    found = dynamics.inverse_dynamics(*numbers.values())
    assert relative_error(found.full(), other.inverse_dynamics(*numbers.values()).full()) < TOLERANCE


def test_indices_that_one_digit_does_not_tell() -> None:
    """v_11 would be the rate of mode 1 of link 1, and of joint 11."""
    many = gd.FirstOrderArm(boom(1), {"link1": gd.FlexibleLink(BEAM, to="end", bending_y=gd.modes.clamped_free(10))})
    robot = gs.symbolic_tree(many)
    assert [str(x) for x in robot.inputs()["v"]][:3] == ["v_1", "v_1_1", "v_1_2"]
    assert {"C_1_10_10", "u_1_10", "P_1_1"} <= {*robot.symbol_names}
    assert [x for x in robot.symbol_names if not notes.symbols([x])] == []


def test_they_are_pickled() -> None:
    again = pickle.loads(pickle.dumps(tree("a boom")))
    assert again.symbol_names == tree("a boom").symbol_names
    dynamics, numbers = again.dynamics(gs.SymbolicArm), motion(arm("a boom"), 5)
    same = pickle.loads(pickle.dumps(dynamics))
    found = same.inverse_dynamics(*numbers.values(), same.parameters.values)
    assert relative_error(found.full(), arm("a boom").inverse_dynamics(*numbers.values()).full()) < TOLERANCE
    without_links = gs.symbolic_tree(pickle.loads(pickle.dumps(arm("a boom"))))
    assert "K_111" in without_links.symbol_names
    assert "EI_1z" not in without_links.symbol_names


# Exports


@pytest.mark.long
def test_sympy_is_the_arm() -> None:
    (source,) = derive(arm("a hip"), "sympy").values()
    namespace: dict[str, object] = {}
    exec(source, namespace)
    forms = namespace["forms"]
    assert [*forms] == ["M", "C", "g", "K"]
    numbers, robot = motion(arm("a hip"), 6), tree("a hip")
    values = dict(robot.numbers)
    for letter in "qv":
        values |= dict(zip(map(str, robot.inputs()[letter]), numbers[letter], strict=True))
    symbols = sorted({x for matrix in forms.values() for x in matrix.free_symbols}, key=str)
    at = sympy.lambdify(symbols, list(forms.values()), "numpy")(*(values[str(x)] for x in symbols))
    m, c, g, k = at
    q, v = numbers["q"], numbers["v"]
    assert relative_error(m, arm("a hip").mass_matrix(q).full()) < TOLERANCE
    bias = c @ v + g.ravel() + k @ q + arm("a hip").damping_matrix @ v
    assert relative_error(bias, arm("a hip").nle(q, v).full().ravel()) < TOLERANCE


def test_python_with_numbers_has_the_stiffness() -> None:
    (source,) = derive(arm("a boom"), "python", terms=["K", "D_d"]).values()
    namespace = executed(source)
    assert relative_error(np.array(namespace["stiffness"]()), arm("a boom").stiffness_matrix) < TOLERANCE
    assert relative_error(np.array(namespace["damping"]()), arm("a boom").damping_matrix) < TOLERANCE


def test_latex_says_what_the_letters_are() -> None:
    (text,) = derive(arm("a tapered link"), "latex", terms=["m_f", "K_f"]).values()
    assert r"\tau_r = m^{\mathrm{r}} a_r" in text
    assert r"m^{\mathrm{f}}_{11} &= C_{211xx} + C_{211yy}" not in text
    assert r"m^{\mathrm{f}}_{11} &= C_{211yy}" in text
    assert "link2 z1: $q_{5}$, $v_{5}$, $\\tau_{5}$, a modal coordinate" in text
    assert "$f_{21}$ = $q_{3}$" in text
    assert "$K_{ijk}$: stiffness" in text


@pytest.mark.long
@pytest.mark.parametrize("name", ["a boom", "a hip", "a tapered link"])
def test_latex_is_the_closed_forms(name: str) -> None:
    """Read back, entry by entry; what is not printed is zero, or below the diagonal of a symmetric matrix."""
    (text,) = derive(arm(name), "latex").values()
    printed = printed_entries(text)
    functions = {"mass_matrix": "M", "coriolis_matrix": "C", "generalized_gravity": "g", "stiffness": "K"}
    for of, letter in functions.items():
        matrix = gs.closed_forms(tree(name), of=of)[letter]
        for (i, j), entry in np.ndenumerate(matrix):
            left = f"{letter}_{{{i + 1}}}" if matrix.shape[1] == 1 else f"{letter}_{{{i + 1}{j + 1}}}"
            symmetric = letter in "MK" and j < i
            assert (left in printed) == (bool(entry) and not symmetric)
            assert left not in printed or gs.TrigonometricPolynomial.of(printed.pop(left)) == entry
    assert printed == {}


@pytest.mark.system
@pytest.mark.parametrize("name", ["a boom", "a skew beam"])
def test_latex_compiles_and_fits_the_page(name: str, tmp_path: Path) -> None:
    terms = ["M", "g", "terms", "D_d"] if name == "a boom" else ["g", "K"]
    (path,) = write(derive(arm(name), "latex", terms=terms), f"{tmp_path}/")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


def test_python_with_symbols_is_the_graph() -> None:
    dynamics = tree("a boom").dynamics(gs.SymbolicArm)
    terms = ["mass_matrix", "K_f", "K"]
    ((name, source),) = derive(arm("a boom"), "python", terms=terms, symbolic=True).items()
    assert name == "boom_FirstOrderArm.py"
    namespace, rng = executed(source), np.random.default_rng(7)
    for key, function in functions_of(dynamics, terms).items():
        values = states(dynamics, function, rng)
        results = as_matrices(namespace[key](*(x.tolist() for x in values)), function)
        for result, expected in zip(results, reference(function, values), strict=True):
            assert relative_error(result, expected) < TOLERANCE, key


@pytest.mark.system
def test_c_with_symbols_is_the_arm(tmp_path: Path) -> None:
    library = compiled(derive(arm("a flexible boom"), "c", symbolic=True), tmp_path)
    numbers = motion(arm("a flexible boom"), 8)
    for of in ("inverse_dynamics", "mass_matrix", "nle", "generalized_gravity"):
        function = getattr(arm("a flexible boom"), of)
        given = [numbers[x] for x in function.name_in()]
        values = [*given, np.array(tree("a flexible boom").symbol_values)]
        (found,) = call_c(library, f"boom_FirstOrderArm_{of}", function, values)
        assert relative_error(found, function(*given).full()) < TOLERANCE


@pytest.mark.system
def test_matlab_with_symbols_is_the_arm_in_octave(tmp_path: Path) -> None:
    write(derive(arm("a flexible boom"), "matlab", terms=["nle"], symbolic=True), f"{tmp_path}/")
    numbers = motion(arm("a flexible boom"), 10)
    given = [numbers["q"], numbers["v"], tree("a flexible boom").symbol_values]
    arguments = ", ".join(f"[{'; '.join(repr(float(x)) for x in value)}]" for value in given)
    found = octave(tmp_path, f"printf('%.17g ', boom_FirstOrderArm_nle({arguments}));")
    assert relative_error(found, arm("a flexible boom").nle(*given[:2]).full().ravel()) < TOLERANCE


def test_matlab_with_symbols_is_the_arm() -> None:
    """Its statements, read as Python: assignments, and entries of a result that is zero where none is written."""
    ((_, text),) = derive(arm("a boom"), "matlab", terms=["M"], symbolic=True).items()
    q = motion(arm("a boom"), 9)["q"]
    namespace = {"q": q, "p": tree("a boom").symbol_values, "sin": math.sin, "cos": math.cos}
    result = np.zeros(49)
    for line in text.splitlines():
        line = re.sub(r"\b([qp])\((\d+)\)", lambda found: f"{found[1]}[{int(found[2]) - 1}]", line.replace("^", "**"))
        if match := re.fullmatch(r"M\((\d+)\) = (.+);", line):
            result[int(match[1]) - 1] = eval(match[2], namespace)
        elif re.fullmatch(r"w\d+ = .+;", line):
            exec(line, namespace)
    assert relative_error(result.reshape(7, 7), arm("a boom").mass_matrix(q).full()) < TOLERANCE

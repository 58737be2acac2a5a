"""The Dynamics of symbolic trees: their input p, and what follows from it."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.dynamics.forces import Damping
from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError
from gdalembert.model.configuration import random_configuration
from tests.helpers.exports import FORMULATIONS, executed
from tests.helpers.models import build, relative_error
from tests.helpers.sets import quick

ROBOTS = ("puma560_3", "shala_likaj_rpr", "two_link_arm")
LINK = {"mass": "m", "com": ("l/2", 0, 0), "inertia": (0, "m*l**2/12", "m*l**2/12")}
ROD = {"joint2": LINK}
"""A link of the two-link arm as a uniform rod."""


def states(dyn: gd.Dynamics, name: str, rng: np.random.Generator) -> list[np.ndarray]:
    """Random values of the inputs of a Function but p."""
    function = getattr(dyn, name)
    values = {each: rng.normal(size=function.size1_in(each)) for each in function.name_in() if each != "p"}
    if "q" in values:
        values["q"] = random_configuration(dyn.tree, rng)
    return list(values.values())


def assert_same(one: gd.Dynamics, p: np.ndarray, other: gd.Dynamics) -> None:
    """All Functions of a robot at p, and those of another robot without parameters."""
    rng = np.random.default_rng(5)
    for name in FUNCTIONS:
        values = states(one, name, rng)
        found, expected = (getattr(each, name).call([*values, *last]) for each, last in ((one, [p]), (other, [])))
        for x, y in zip(found, expected, strict=True):
            assert relative_error(x.full(), y.full()) < 1e-12, name


# What is an input


@pytest.mark.parametrize("formulation", quick(FORMULATIONS, gd.LagrangeEuler))
@pytest.mark.parametrize("robot", quick(ROBOTS, "two_link_arm"))
def test_functions_at_the_values_of_the_model_are_those_of_numbers(robot: str, formulation: type[gd.Dynamics]) -> None:
    """Derivatives, the Hessian and forward dynamics included; rotations of URDFs are cos and sin of beta here."""
    dyn = formulation(gs.symbolic_tree(robot))
    assert_same(dyn, dyn.parameters.vector(), formulation(gd.load_urdf(robot)))


@pytest.mark.long
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_only_what_is_asked_for_is_an_input(formulation: type[gd.Dynamics]) -> None:
    tree = gs.symbolic_tree("two_link_arm", {"link2": {"mass": "m_load"}}, others="numbers")
    dyn = tree.dynamics(formulation)
    assert tree.parameters.names == dyn.parameters.names == ("m_load",)
    assert np.isnan(dyn.parameters["m_load"])
    numeric = formulation(gd.load_urdf("two_link_arm"))
    assert_same(formulation(tree), dyn.parameters.vector({"m_load": 1.5}), numeric)
    assert dyn.inverse_dynamics.n_instructions() == formulation(tree).inverse_dynamics.n_instructions()
    assert not dyn.at([1.5]).parameters


@pytest.mark.long
def test_numbers_are_numbers_in_graphs_and_exact_in_closed_forms() -> None:
    """An angle that is no right one is a number in graphs, and a symbol in closed forms."""
    tree = gs.symbolic_tree("shala_likaj_rpr", others="numbers")
    assert tree.parameters.names == ()
    assert "beta_3" in tree.numbers
    dyn = gd.NewtonEuler(tree)
    assert dyn.inverse_dynamics.name_in() == ["q", "v", "a"]
    numeric = gd.NewtonEuler(gd.load_urdf("shala_likaj_rpr")).inverse_dynamics
    assert dyn.inverse_dynamics.n_instructions() == numeric.n_instructions()
    thirds = gs.from_denavit_hartenberg([gs.Row(a="l", mass="1/3", com=("-l/3", 0, 0))])
    (m,) = gs.closed_forms(thirds, of="mass_matrix")["M"].ravel()
    assert m == sympy.Rational(4, 27) * gs.symbol("l") ** 2
    assert gd.LagrangeEuler(thirds).parameters.names == ("l", "g")
    row = gs.from_denavit_hartenberg([gs.Row(a=0.5, alpha=0.3, mass="m")] * 2)
    assert gd.LagrangeEuler(row).parameters.names == ("m", "g")


@pytest.mark.long
def test_payload_as_a_symbol_costs_little() -> None:
    """Link frames are chosen by geometry, which is numbers here; the robot alone takes 619."""
    tree = gs.symbolic_tree("panda7", {"joint7": {"mass": "m_load"}}, others="numbers")
    assert gd.NewtonEuler(tree).inverse_dynamics.n_instructions() <= 668


@pytest.mark.long
def test_formulas_of_several_symbols() -> None:
    """Of a rod with length l and mass m: p has both, and the graph the formulas."""
    dyn = gd.NewtonEuler(gs.symbolic_tree("two_link_arm", ROD, others="numbers"))
    assert dyn.parameters.names == ("m", "l")
    model = gd.load_urdf("two_link_arm")
    model.inertias[2] = pin.Inertia(1.2, np.array([0.3, 0, 0]), np.diag([0, 0.036, 0.036]))
    assert_same(dyn, dyn.parameters.vector({"m": 1.2, "l": 0.6}), gd.NewtonEuler(model))


@pytest.mark.long
@pytest.mark.parametrize(
    "formula", ["sqrt(x)", sympy.exp(gs.symbol("x")), sympy.Abs(gs.symbol("x")), "pi*x**3/7", "1/x + sin(x)*cos(x)"]
)
def test_functions_of_formulas(formula: str | sympy.Expr) -> None:
    dyn = gd.LagrangeEuler(gs.symbolic_tree("two_link_arm", {"joint2": {"mass": formula}}, others="numbers"))
    expected = float(gs.formula(formula).subs(gs.symbol("x"), 0.7))
    assert dyn.at({"x": 0.7}).nominal.joints[1].mass == pytest.approx(expected, rel=1e-14)


# Joints, mimicking and turned


def test_mimic_joint() -> None:
    model = build(np.random.default_rng(4), ("RX", "PY"), (0, 1))
    joint = model.addJoint(2, pin.JointModelMimic(model.joints[1], -2.0, 0.4), pin.SE3.Identity(), "mimic")
    model.appendBodyToJoint(joint, model.inertias[1], pin.SE3.Identity())
    for others in ("symbols", "numbers"):
        dyn = gd.NewtonEuler(gs.symbolic_tree(model, others=others))
        state = np.random.default_rng(1).normal(size=(3, 2))
        expected = pin.rnea(model, model.createData(), *state)
        assert relative_error(dyn.at().inverse_dynamics(*state).full().ravel(), expected) < 1e-12


# The robot in numbers


@pytest.mark.parametrize("robot", quick(ROBOTS, "two_link_arm"))
def test_numbers_in_place_of_p(robot: str) -> None:
    dyn = gd.GeneralizedDAlembert(gs.symbolic_tree(robot))
    at = dyn.at()
    assert at.nominal.is_numeric
    assert gd.validate(at, against=gd.load_urdf(robot), samples=20).ok


@pytest.mark.long
def test_springs_of_formulas() -> None:
    """They belong to the tree: every formulation that takes it has them."""
    tree = gs.symbolic_tree("two_link_arm", {"joint1": {"spring": ("k", "rest")}}, others="numbers")
    given = gd.NewtonEuler(gd.load_urdf("two_link_arm"), springs={"joint1": (30.0, 0.4)})
    for dyn in (gd.NewtonEuler(tree), tree.dynamics(gd.LagrangeEuler)):
        assert dyn.parameters.names == ("k", "rest")
        assert_same(dyn, dyn.parameters.vector([30.0, 0.4]), given)
        assert_same(dyn, dyn.parameters.vector([30.0, 0.4]), dyn.at({"k": 30, "rest": 0.4}))


@pytest.mark.long
def test_written_into_a_model() -> None:
    """A link length that was found by optimisation, in Pinocchio."""
    model = gd.load_urdf("two_link_arm")
    tree = gs.symbolic_tree(model, {"joint2": {"translation": ("l", 0, 0)}}, others="numbers")
    dyn = gd.NewtonEuler(tree)
    longer = dyn.parameters.write(model, {"l": 0.9})
    assert longer.jointPlacements[2].translation[0] == 0.9
    assert model.jointPlacements[2].translation[0] == 0.5
    assert_same(dyn, np.array([0.9]), gd.NewtonEuler(longer))


@pytest.mark.long
def test_simulation_and_forces() -> None:
    tree = gs.symbolic_tree("two_link_arm", ROD, others="numbers")
    dyn = tree.dynamics(gd.NewtonEuler, forces=[Damping(np.diag([0.3, 0.1]))])
    motion = gd.simulate(dyn.at({"m": 1.2, "l": 0.6}), ([0.3, -0.5], [0.0, 0.0]), 0.3)
    assert motion.relative_balance < 1e-6
    assert "force in tau, nle and a: damping" in gd.export.derive(dyn, "python")["two_link_arm.py"]


@pytest.mark.long
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_pickles(formulation: type[gd.Dynamics]) -> None:
    tree = gs.symbolic_tree("two_link_arm", {**ROD, "joint1": {"spring": ("k", 0)}})
    dyn = formulation(tree)
    p = dyn.parameters.vector({"m": 1.2, "l": 0.6, "k": 3})
    again = pickle.loads(pickle.dumps(dyn))
    assert again.parameters.names == dyn.parameters.names
    assert_same(again, p, dyn.at(p))
    assert_same(again, p, pickle.loads(pickle.dumps(dyn.at(p))))
    restored = pickle.loads(pickle.dumps(tree))
    assert restored.exact.formulas == tree.exact.formulas
    one, other = (gs.closed_forms(each, of="mass_matrix")["M"] for each in (tree, restored))
    assert (one == other).all()


@pytest.mark.long
def test_exports_have_p() -> None:
    dyn = gd.NewtonEuler(gs.symbolic_tree("two_link_arm", ROD, gravity=(0, 0, "-g"), others="numbers"))
    source = gd.export.derive(dyn, "python", terms=["inverse_dynamics", "forward_dynamics_derivatives"])
    namespace = executed(source["two_link_arm.py"])
    state = np.random.default_rng(3).normal(size=(3, 2))
    p = [1.2, 0.6, 9.81]
    expected = dyn.inverse_dynamics(*state, p).full().ravel()
    assert relative_error(np.array(namespace["inverse_dynamics"](*state.tolist(), p)), expected) < 1e-12
    assert "p: m, l, g" in source["two_link_arm.py"]


# Errors


GEOMETRY = gs.symbolic_tree("two_link_arm", {"joint2": {"translation": ("l", 0, 0)}}, others="numbers")
GAMMA = {"joint2": {"mass": sympy.gamma(gs.symbol("x"))}}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gd.NewtonEuler(GEOMETRY).at(), ArgumentError, "two_link_arm: p: no value for l; give it by name"),
        (lambda: gd.NewtonEuler(GEOMETRY).base_parameters, UnsupportedError, "lengths or angles are symbols"),
        (lambda: gd.NewtonEuler(GEOMETRY).base_regressor, UnsupportedError, "lengths or angles are symbols"),
        (lambda: gd.NewtonEuler(GEOMETRY, parameters=["gravity"]), UnsupportedError, "its constants are formulas"),
        (lambda: gd.FlexibleArm(GEOMETRY), UnsupportedError, "its constants are formulas"),
        (lambda: gd.PrunedDynamics(GEOMETRY, 0.01, a_max=1), UnsupportedError, "formulas of symbols without values"),
        (lambda: GEOMETRY.parameters.of(gd.load_urdf("two_link_arm")), UnsupportedError, "its constants are formulas"),
        (
            lambda: GEOMETRY.parameters.write(gd.load_urdf("puma560"), [1.0]),
            ArgumentError,
            "'puma560' does not have the joints of 'two_link_arm'; give its own model",
        ),
        (lambda: gs.symbolic_tree("two_link_arm", GAMMA), ArgumentError, r"formula gamma\(x\) has gamma, which graphs"),
    ],
)
def test_errors(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_quantities_by_other_names_are_told() -> None:
    for name, meant in (("position", "translation"), ("lever", "com"), ("stiffness", "spring")):
        with pytest.raises(UnknownNameError, match=f"no quantity named '{name}'; known: '{meant}'$"):
            gs.symbolic_tree("two_link_arm", {"joint2": {name: 1}})

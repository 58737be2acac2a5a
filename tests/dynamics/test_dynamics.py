"""The contract of a formulation: what its Functions are called, what they take, and how they are kept."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.dynamics import REGISTRY
from gdalembert.dynamics.forces import Springs
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.spatial.algebra import Matrix
from tests.helpers.models import build, relative_error, states

CONTRACT = {
    "inverse_dynamics": (["q", "v", "a"], ["tau"]),
    "mass_matrix": (["q"], ["M"]),
    "mass_matrix_inverse": (["q"], ["Minv"]),
    "coriolis_matrix": (["q", "v"], ["C"]),
    "nle": (["q", "v"], ["nle"]),
    "generalized_gravity": (["q"], ["g"]),
    "forward_dynamics": (["q", "v", "tau"], ["a"]),
    "kinetic_energy": (["q", "v"], ["kinetic"]),
    "potential_energy": (["q"], ["potential"]),
    "state_derivative": (["x", "u"], ["xdot"]),
    "inverse_dynamics_derivatives": (["q", "v", "a"], ["dtau_dq", "dtau_dv"]),
    "forward_dynamics_derivatives": (["q", "v", "tau"], ["da_dq", "da_dv", "Minv"]),
    "inverse_dynamics_hessian": (["q", "v", "a", "lam"], ["d2tau_dqdq", "d2tau_dqdv", "d2tau_dvdv", "d2tau_dadq"]),
}

FORMULATIONS = sorted(gd.formulations())


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return build(np.random.default_rng(0), ["RX", "Spherical", "PY"], [0, 1, 1])


@pytest.fixture(params=FORMULATIONS, scope="module")
def dyn(request: pytest.FixtureRequest, model: pin.Model) -> gd.Dynamics:
    return gd.formulations()[request.param](model)


def arguments(graph: ca.Function, model: pin.Model) -> list[np.ndarray]:
    q, v, a = states(model, np.random.default_rng(1), 1)[0]
    values = {"q": q, "v": v, "a": a, "tau": a, "lam": v, "x": np.concatenate([q, v]), "u": a}
    return [values[name] for name in graph.name_in()]


def test_the_registry_has_the_three() -> None:
    ours = {
        "generalized_dalembert": gd.GeneralizedDAlembert,
        "lagrange_euler": gd.LagrangeEuler,
        "newton_euler": gd.NewtonEuler,
    }
    assert {name: cls for name, cls in gd.formulations().items() if name in ours} == ours


@pytest.mark.parametrize("name", CONTRACT)
def test_names_shapes_and_laziness(dyn: gd.Dynamics, model: pin.Model, name: str) -> None:
    assert name not in vars(type(dyn)(model))
    graph = getattr(dyn, name)
    assert getattr(dyn, name) is graph
    assert (graph.name_in(), graph.name_out()) == CONTRACT[name]
    assert graph.name() == name
    assert all(graph.sparsity_out(k).is_dense() for k in range(graph.n_out()))


@pytest.mark.parametrize("name", [*CONTRACT, "terms"])
def test_functions_survive_saving_and_pickling(dyn: gd.Dynamics, model: pin.Model, name: str, tmp_path: Path) -> None:
    graph = getattr(dyn, name)
    numbers = arguments(graph, model)
    graph.save(str(tmp_path / "f.casadi"))
    for copy in (ca.Function.load(str(tmp_path / "f.casadi")), pickle.loads(pickle.dumps(graph))):
        assert (copy.name_in(), copy.name_out()) == (graph.name_in(), graph.name_out())
        for ours, theirs in zip(graph.call(numbers), copy.call(numbers), strict=True):
            assert np.array_equal(ours.full(), theirs.full())


def test_the_equations_run_on_numbers_too(dyn: gd.Dynamics, model: pin.Model) -> None:
    """The same code on DM: the formulas are not tied to symbols."""
    q, v, a = states(model, np.random.default_rng(2), 1)[0]
    tau = dyn.inverse_dynamics_expression(ca.DM(q), ca.DM(v), ca.DM(a)) + dyn.tree.armature * a
    assert relative_error(tau.full().ravel(), dyn.inverse_dynamics(q, v, a).full().ravel()) < 1e-14


def test_the_equations_run_on_mx_too(dyn: gd.Dynamics, model: pin.Model) -> None:
    s = [ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv), ca.MX.sym("a", model.nv)]
    numbers = states(model, np.random.default_rng(3), 1)[0]
    q, v, a = numbers
    for expression, graph in (
        (dyn.inverse_dynamics_expression(*s) + ca.DM(dyn.tree.armature) * s[2], dyn.inverse_dynamics),
        (dyn.coriolis_matrix_expression(*s[:2]), dyn.coriolis_matrix),
    ):
        again = ca.Function("again", s, [expression])
        assert relative_error(again(q, v, a).full(), graph.call(list(numbers[: graph.n_in()]))[0].full()) < 1e-12


def test_a_model_is_left_as_it_was(model: pin.Model) -> None:
    before = model.copy()
    for cls in gd.formulations().values():
        cls(model).inverse_dynamics(*arguments(cls(model).inverse_dynamics, model))
    assert model == before


# Springs.


@pytest.mark.parametrize(
    ("springs", "error", "message"),
    [
        ({"RX": (1, 0)}, UnknownNameError, "no joint named 'RX'; nearest: 'RX_0'"),
        (
            {"Spherical_1": (1, 0)},
            ArgumentError,
            r"spring at joint 'Spherical_1': q − rest has no meaning for a Spheri",
        ),
        (5, ArgumentTypeError, r"springs=5: give {joint: \(stiffness, rest\)}"),
        ({"RX_0": {1, 2}}, ArgumentTypeError, r"got {1, 2}; give \(stiffness, rest\)"),
        ({"RX_0": {5: 1, 6: 2}}, ArgumentTypeError, r"got {5: 1, 6: 2}; give \(stiffness, rest\)"),
        (
            {"RX_0": 3.0},
            ArgumentTypeError,
            r"spring at joint 'RX_0': got 3.0; give \(stiffness, rest\), each 1 numbers",
        ),
        ({"RX_0": (1, "x")}, ArgumentTypeError, r"got \(1, 'x'\); give \(stiffness, rest\)"),
        ({"RX_0": ([1, 2], 0)}, ArgumentTypeError, r"got \(\[1, 2\], 0\); give \(stiffness, rest\)"),
        ({"RX_0": (-1, 0)}, ArgumentError, r"got \(-1, 0\); give finite numbers, stiffness at least 0"),
        ({"RX_0": (1, np.nan)}, ArgumentError, r"got \(1, nan\); give finite numbers, stiffness at least 0"),
    ],
)
def test_springs_that_cannot_be_used(model: pin.Model, springs: Springs, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.NewtonEuler(model, springs=springs)


def test_no_spring_on_a_mimic_or_a_continuous_joint() -> None:
    mimic = build(np.random.default_rng(0), ["RX"], [0], mimic=1)
    with pytest.raises(ArgumentError, match="spring at joint 'mimic': it mimics another joint; put the spring on that"):
        gd.NewtonEuler(mimic, springs={"mimic": (1, 0)})
    continuous = build(np.random.default_rng(0), ["RUBX"], [0])
    with pytest.raises(ArgumentError, match="spring at joint 'RUBX_0': q − rest has no meaning for a UnboundedRevolut"):
        gd.NewtonEuler(continuous, springs={"RUBX_0": (1, 0)})


# A formulation of the user's own.


class OnlyTau(gd.Dynamics):
    """One equation written down; everything else follows."""

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return gd.NewtonEuler(self.tree, clean=0).inverse_dynamics_expression(q, v, a)


@pytest.mark.long
def test_everything_follows_from_inverse_dynamics() -> None:
    model = build(np.random.default_rng(0), ["RX", "HY", "Ellipsoid"], [0, 1, 1])
    ours, theirs = OnlyTau(model), gd.NewtonEuler(model)
    for name in CONTRACT:
        graph = getattr(ours, name)
        numbers = arguments(graph, model)
        for one, other in zip(graph.call(numbers), getattr(theirs, name).call(numbers), strict=True):
            assert relative_error(one.full(), other.full()) < 1e-10, name
    with pytest.raises(UnsupportedError, match="OnlyTau names no terms"):
        _ = ours.terms


class WithoutInertia(gd.Dynamics):
    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return ca.sin(q) + v * a[1]


def test_a_torque_without_accelerations_has_no_forward_dynamics() -> None:
    dyn = WithoutInertia(gd.load_urdf("two_link_arm"))
    with pytest.raises(UnsupportedError, match=r"entry \(0, 0\) is zero in every state; of a mass matrix, no torque"):
        _ = dyn.forward_dynamics


@pytest.mark.parametrize(
    ("tau", "message"),
    [
        (
            lambda dyn, q, a: None,
            "inverse_dynamics_expression returned None; return tau .2., made of q, v and a",
        ),
        (lambda dyn, q, a: a[0], "inverse_dynamics_expression returned 1 × 1 entries; return tau, a column of 2"),
        (lambda dyn, q, a: a.T, "returned 1 × 2 entries"),
        (lambda dyn, q, a: ca.DM(dyn.tree.gravity)[:2] + a, "has a constant that is not a number; use the constants"),
    ],
)
def test_what_is_no_torque_is_refused(tau: Callable[..., object], message: str) -> None:
    class Wrong(gd.Dynamics):
        def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
            return tau(self, q, a)

    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        _ = Wrong(gd.load_urdf("two_link_arm"), parameters=["gravity"]).inverse_dynamics


class MassByDifferentiation(gd.NewtonEuler):
    """Of a subclass that differentiates by v and a, every expression of the base class is right."""

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        energy = self.kinetic_energy_expression(q, v)
        momentum = ca.gradient(energy, v)
        rate = ca.jtimes(momentum, q, v) + ca.jtimes(momentum, v, a)
        return rate - ca.gradient(energy, q) + ca.gradient(self.gravitational_energy_expression(q), q)

    mass_matrix_expression = gd.Dynamics.mass_matrix_expression
    nle_expression = gd.Dynamics.nle_expression
    generalized_gravity_expression = gd.Dynamics.generalized_gravity_expression
    coriolis_matrix_expression = gd.Dynamics.coriolis_matrix_expression
    forward_dynamics_expression = gd.Dynamics.forward_dynamics_expression


@pytest.mark.parametrize("name", ["mass_matrix", "nle", "generalized_gravity", "coriolis_matrix", "forward_dynamics"])
def test_a_formulation_may_differentiate_by_v_and_a(name: str) -> None:
    model = gd.load_urdf("puma560_3")
    frames = {model.frames[-1].name: pin.WORLD}
    ours, theirs = (cls(model, wrenches=frames) for cls in (MassByDifferentiation, gd.NewtonEuler))
    graph = getattr(ours, name)
    numbers = {**dict(zip("qva", states(model, np.random.default_rng(1), 1)[0], strict=True)), "wrenches": np.ones(6)}
    numbers = [numbers["a" if key == "tau" else key] for key in graph.name_in()]
    assert relative_error(graph(*numbers).full(), getattr(theirs, name)(*numbers).full()) < 1e-12


def test_a_coriolis_matrix_does_not_follow_for_quasi_velocities(model: pin.Model) -> None:
    with pytest.raises(
        UnsupportedError, match="OnlyTau: a Coriolis matrix does not follow from tau alone where v is no"
    ):
        _ = OnlyTau(model).coriolis_matrix


def test_a_subclass_with_a_name_is_registered() -> None:
    class Named(OnlyTau):
        name = "named"

    try:
        assert gd.formulations()["named"] is Named
    finally:
        del REGISTRY["named"]
    assert "named" not in gd.formulations()


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ArgumentError, match="the name 'newton_euler' is that of NewtonEuler"):
        type("Other", (OnlyTau,), {"name": "newton_euler"})
    assert gd.formulations()["newton_euler"] is gd.NewtonEuler


# Structure.


def test_the_base_pose_enters_gravity_alone() -> None:
    """M and C of a free-flyer do not depend on its position; g only on its direction."""
    model = build(np.random.default_rng(0), ["FreeFlyer", "RX", "PY"], [0, 1, 2])
    for cls in gd.formulations().values():
        dyn = cls(model)
        q = ca.SX.sym("q", model.nq)
        v = ca.SX.sym("v", model.nv)
        assert not ca.depends_on(dyn.mass_matrix(q), q[:7])
        assert not ca.depends_on(dyn.coriolis_matrix(q, v), q[:7])
        assert not ca.depends_on(dyn.generalized_gravity(q), q[:3])
        far = states(model, np.random.default_rng(1), 1)[0]
        near = (np.concatenate([np.zeros(3), far[0][3:]]), *far[1:])
        far[0][:3] = 1e6
        assert np.array_equal(dyn.inverse_dynamics(*far).full(), dyn.inverse_dynamics(*near).full())


def test_branches_do_not_couple_in_the_graph() -> None:
    model = build(np.random.default_rng(0), ["RX", "RY", "RZ"], [0, 0, 0])
    for cls in gd.formulations().values():
        m = cls(model).mass_matrix(ca.SX.sym("q", 3))
        assert [m[i, j].is_zero() for i in range(3) for j in range(3) if i != j] == [True] * 6


@pytest.mark.long
def test_forward_dynamics_of_a_mass_matrix_that_is_always_singular() -> None:
    """A free-flyer on a massless base: it can turn against the first joint with nothing moving."""
    model = gd.load_urdf("panda7", root_joint=pin.JointModelFreeFlyer())
    dyn = gd.NewtonEuler(model)
    assert dyn.inverse_dynamics.n_instructions() > 0
    message = "panda7: M is singular in every configuration, so that no tau determines a: some joints can move against"
    solved = ("mass_matrix_inverse", "forward_dynamics", "state_derivative", "forward_dynamics_derivatives")
    for name in solved:
        with pytest.raises(UnsupportedError, match=message):
            getattr(dyn, name)
    report = gd.validate(dyn, against=model, samples=5)
    assert report.ok
    assert tuple(line.split(":")[0] for line in report.not_checked) == solved


def test_no_comparison_with_pinocchio_where_it_crashes() -> None:
    model = build(np.random.default_rng(0), ["HelicalUnaligned"], [0], mimic=1)
    with pytest.raises(UnsupportedError, match="joint 'mimic': mimics a helical joint, whose pitch Pinocchio's rnea"):
        gd.validate(gd.NewtonEuler(model), against=model)

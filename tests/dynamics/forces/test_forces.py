"""Force elements: their laws, and what a robot makes of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.forces import Damping, Force, Gravity, Springs
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from tests.helpers.models import build, relative_error, states

KINDS = ["RX", "Spherical", "PY", "FreeFlyer", "Planar", "RUBZ", "Ellipsoid"]


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return build(np.random.default_rng(3), KINDS, [0, 1, 2, 1, 4, 0, 3])


@pytest.fixture(scope="module")
def tree(model: pin.Model) -> Tree:
    return read_tree(model)


@dataclass(frozen=True)
class Drag(Force):
    """A nonlinear force that a user writes: c |v|² v on the joint at ``column``, and a cubic spring."""

    name: ClassVar[str] = "drag"

    nv: int
    column: int
    drag: float = 0.3
    cubic: float = 2.0

    def _at(self, x: Matrix) -> Matrix:
        return ca.vertcat(ca.DM(self.column, 1), x, ca.DM(self.nv - self.column - 1, 1))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        x, rate = q[self.column], v[self.column]
        return self._at(self.drag * rate**3 + self.cubic * x**3)

    def energy(self, q: Matrix) -> Matrix:
        return self.cubic * q[self.column] ** 4 / 4


def elements(tree: Tree) -> list[Force]:
    rng = np.random.default_rng(5)
    k = rng.normal(size=(2, 2))
    held = [joint.idx_v for joint in tree.joints if joint.type.nq == joint.type.nv == 1]
    stiffness = np.zeros((tree.nv, tree.nv))
    stiffness[np.ix_(held, held)] = k @ k.T
    rest = np.zeros(tree.nv)
    rest[held] = rng.normal(size=2)
    d = rng.normal(size=(tree.nv, tree.nv))
    return [Gravity(tree), Springs(tree, stiffness, rest), Damping(d @ d.T)]


@pytest.mark.parametrize("kind", [0, 1, 2], ids=["gravity", "springs", "damping"])
def test_torque_is_the_gradient_of_the_energy_and_what_is_dissipated(model: pin.Model, tree: Tree, kind: int) -> None:
    """vᵀ torque = dV/dt + power, on the configuration manifold."""
    force = elements(tree)[kind]
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    rate = ca.jtimes(ca.SX(force.energy(q)), q, tree.configuration_rate(q, v)) + force.power(q, v)
    law = ca.Function("law", [q, v], [rate, ca.dot(v, force.torque(q, v)), force.power(q, v)])
    for x, y, _ in states(model, np.random.default_rng(6), 5):
        expected, found, power = (float(each) for each in law(x, y))
        assert relative_error(found, expected) < 1e-12
        assert power >= 0


def test_derivatives_of_the_forces_are_those_of_their_torque(model: pin.Model, tree: Tree) -> None:
    """Central differences of fourth order along pin.integrate, good to 1e-9."""
    _, *forces = elements(tree)
    dyn = gd.NewtonEuler(tree, forces=forces, clean=0)

    def torque(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return ca.DM(dyn.force_torque_expression(ca.DM(x), ca.DM(y))).full().ravel()

    def slope(f: Callable[[float], np.ndarray], h: float = 1e-3) -> np.ndarray:
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    for q, v, _ in states(model, np.random.default_rng(7), 2):
        by_q, by_v = (ca.DM(x).full() for x in dyn.force_derivatives_expression(ca.DM(q), ca.DM(v)))
        for k, e in enumerate(np.eye(model.nv)):
            along_q = slope(lambda s, q=q, v=v, e=e: torque(pin.integrate(model, q, s * e), v))
            along_v = slope(lambda s, q=q, v=v, e=e: torque(q, v + s * e))
            assert relative_error(by_q[:, k], along_q) < 1e-9
            assert relative_error(by_v[:, k], along_v) < 1e-9
    assert relative_error(dyn.damping_matrix, forces[1].matrix) < 1e-14


def test_the_torque_of_gravity_is_that_of_the_recursion(model: pin.Model, tree: Tree) -> None:
    for q, v, _ in states(model, np.random.default_rng(8), 3):
        found = Gravity(tree).torque(ca.DM(q), ca.DM(v)).full().ravel()
        assert relative_error(found, pin.computeGeneralizedGravity(model, model.createData(), q)) < 1e-12


# A force of the user's own


@pytest.fixture(scope="module", params=[gd.GeneralizedDAlembert, gd.NewtonEuler])
def robot(request: pytest.FixtureRequest) -> tuple[gd.Dynamics, gd.Dynamics, Drag]:
    model = gd.load_urdf("two_link_arm")
    force = Drag(2, 1)
    return request.param(model, clean=0), request.param(model, clean=0, forces=[force]), force


def test_a_force_of_the_users_acts_in_all_functions(robot: tuple[gd.Dynamics, gd.Dynamics, Drag]) -> None:
    free, dyn, force = robot
    rng = np.random.default_rng(9)
    for _ in range(3):
        q, v, a = rng.normal(size=(3, 2))
        torque = ca.DM(force.torque(ca.DM(q), ca.DM(v))).full().ravel()
        tau = dyn.inverse_dynamics(q, v, a).full().ravel()
        assert relative_error(tau, free.inverse_dynamics(q, v, a).full().ravel() + torque) < 1e-14
        assert relative_error(dyn.nle(q, v).full().ravel(), free.nle(q, v).full().ravel() + torque) < 1e-14
        assert relative_error(dyn.forward_dynamics(q, v, tau).full().ravel(), a) < 1e-12
        assert relative_error(dyn.state_derivative(np.r_[q, v], tau).full().ravel(), np.r_[v, a]) < 1e-12
        energy = float(dyn.potential_energy(q) - free.potential_energy(q))
        assert relative_error(energy, float(force.energy(ca.DM(q)))) < 1e-14


def test_derivatives_know_a_force_of_the_users(robot: tuple[gd.Dynamics, gd.Dynamics, Drag]) -> None:
    _, dyn, _ = robot
    q, v, a, lam = (ca.SX.sym(name, 2) for name in "qval")
    tau = dyn.inverse_dynamics(q, v, a)
    f = ca.dot(lam, tau)
    by_q = ca.gradient(f, q)
    expected = ca.Function(
        "expected",
        [q, v, a, lam],
        [
            ca.jacobian(tau, q),
            ca.jacobian(tau, v),
            ca.jacobian(by_q, q),
            ca.jacobian(by_q, v),
            ca.hessian(f, v)[0],
            ca.jacobian(ca.gradient(f, a), q),
        ],
    )
    x = np.random.default_rng(10).normal(size=(4, 2))
    found = [*dyn.inverse_dynamics_derivatives(*x[:3]), *dyn.inverse_dynamics_hessian(*x)]
    for ours, reference in zip(found, expected(*x), strict=True):
        assert relative_error(ours.full(), reference.full()) < 1e-12


def test_simulation_balances_what_a_force_stores_and_dissipates(robot: tuple[gd.Dynamics, gd.Dynamics, Drag]) -> None:
    _, dyn, _ = robot
    motion = gd.simulate(dyn, ([0.4, -0.3], [1.0, 2.0]), 1.0)
    assert abs(motion.balance).max() < 1e-6
    assert motion.dissipated[-1] > 1e-3


def test_forces_survive_pickling(robot: tuple[gd.Dynamics, gd.Dynamics, Drag]) -> None:
    _, dyn, force = robot
    copy = pickle.loads(pickle.dumps(dyn))
    assert copy.forces == (force,)
    assert np.array_equal(copy.nle([0.1, 0.2], [0.3, 0.4]).full(), dyn.nle([0.1, 0.2], [0.3, 0.4]).full())


class Broadcast(Force):
    name = "broadcast"

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return v[0]


class Forgotten(Drag):
    def power(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.DM(0)


class Branching(Force):
    name = "branching"

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return v if v[0] > 0 else -v


class Symbolic(Force):
    """A stiffness that nobody gives a number."""

    name = "symbolic"

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.SX.sym("k") * q


class Nameless(Force):
    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return v


@pytest.mark.parametrize(
    ("forces", "error", "message"),
    [
        ([3], ArgumentTypeError, "expected force elements of .*forces, got 3"),
        (Damping(np.eye(2)), ArgumentTypeError, "forces: expected a list of force elements, got Damping; give"),
        ("drag", ArgumentTypeError, "forces: expected a list of force elements, got str; give"),
        ([Damping(np.eye(3))], ArgumentTypeError, r"force 'damping': torque\(q, v\) cannot be evaluated in CasADi: "),
        ([Broadcast()], ArgumentError, r"force 'broadcast': torque\(q, v\) has shape \(1, 1\); give \(2, 1\)"),
        ([Branching()], ArgumentTypeError, r"force 'branching': torque\(q, v\) cannot be evaluated in CasADi"),
        (
            [Symbolic()],
            ArgumentError,
            r"force 'symbolic': its symbols k are no entries of q or v; give numbers, or name",
        ),
        ([Nameless()], ArgumentTypeError, "forces: Nameless has no name"),
        ([Forgotten(2, 1)], ArgumentError, "force 'drag': vᵀ torque is .* W in some state, .* its power is 0 W"),
        ([Gravity(read_tree(gd.load_urdf("two_link_arm")))], ArgumentError, "gravity acts on every robot already"),
    ],
    ids=lambda x: None,
)
def test_forces_that_cannot_be_right_are_refused(forces: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.NewtonEuler(gd.load_urdf("two_link_arm"), forces=forces)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (2.0, r"Damping: matrix has shape \(\)"),
        ([[1, 0]], r"Damping: matrix has shape \(1, 2\)"),
        (-np.eye(2), "Damping: matrix is not symmetric and positive semidefinite"),
        ([[1, 2], [0, 1]], "Damping: matrix is not symmetric"),
        ([[np.nan, 0], [0, 1]], "Damping: matrix: entry"),
    ],
)
def test_damping_that_drives_is_refused(matrix: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Damping(matrix)  # type: ignore[arg-type]


def test_springs_on_cosine_and_sine_are_refused() -> None:
    model = build(np.random.default_rng(4), ["RUBZ", "RX"], [0, 1])
    tree = read_tree(model)
    with pytest.raises(ArgumentError, match="spring at joint 'RUBZ_0': q − rest has no meaning"):
        Springs(tree, np.eye(2), np.zeros(2))
    with pytest.raises(ArgumentError, match="Springs: stiffness is not finite and symmetric"):
        Springs(tree, np.array([[0, 0], [1, 1.0]]), np.zeros(2))
    with pytest.raises(ArgumentError, match=r"Springs: stiffness has shape \(3, 3\)"):
        Springs(tree, np.eye(3), np.zeros(3))


def test_friction_chooses_an_implicit_integrator() -> None:
    class Friction(Force):
        name = "friction"

        def torque(self, q: Matrix, v: Matrix) -> Matrix:
            return 0.5 * ca.tanh(v / 1e-2)

    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), forces=[Friction()])
    assert dyn.forces_depend_on_velocity
    assert not gd.NewtonEuler(gd.load_urdf("two_link_arm"), springs={"joint1": (1, 0)}).forces_depend_on_velocity
    motion = gd.simulate(dyn, ([0.1, 0.2], [0.5, 0.0]), 0.1)
    assert abs(motion.relative_balance) < 1e-6


def test_a_robot_with_forces_of_the_users_is_validated(robot: tuple[gd.Dynamics, gd.Dynamics, Drag]) -> None:
    """The reference is Pinocchio's torque and the forces', at rest and in motion."""
    free, dyn, _ = robot
    report = gd.validate(dyn, against=gd.load_urdf("two_link_arm"), samples=20)
    assert report.ok, str(report)

    class Forgetful(type(dyn)):  # type: ignore[misc]
        def force_torque_expression(self, q: Matrix, v: Matrix) -> Matrix:
            return super().force_torque_expression(q, 0 * v)

    forgetful = Forgetful(free.tree, clean=0, forces=dyn.forces)
    assert not gd.validate(forgetful, against=gd.load_urdf("two_link_arm"), samples=20).ok

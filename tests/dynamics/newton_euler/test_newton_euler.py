"""Links, spins, composite and articulated bodies of Newton–Euler, one by one; and how large its graphs may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert import spatial
from gdalembert.dynamics import newton_euler
from gdalembert.dynamics.newton_euler.aba import Articulated
from gdalembert.dynamics.newton_euler.base_parameters import PreparedJoint, prepare, sense_of
from gdalembert.dynamics.newton_euler.crba import Composite, composites, moving
from gdalembert.dynamics.newton_euler.links import Link, move, place
from gdalembert.dynamics.newton_euler.rotations import NO_TURN, Full
from gdalembert.dynamics.newton_euler.spin import NO_SPIN, Spin, spin_about_axis, spin_of
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Revolute
from gdalembert.model.tree import Tree
from gdalembert.spatial.spatial_vectors import Motion
from tests.helpers.models import JOINTS, build, placement, relative_error, states

Array = np.ndarray
FUNCTIONS = (
    "inverse_dynamics",
    "nle",
    "generalized_gravity",
    "mass_matrix",
    "coriolis_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
)

# Instructions of each of FUNCTIONS, at most.
LIMITS = {
    "puma560_benchmark": (389, 352, 88, 262, 1213, 837, 1848),
    "panda7": (633, 606, 128, 472, 1599, 1197, 3676),
    "ur5": (317, 275, 54, 189, 1082, 566, 1323),
    "panda": (768, 705, 147, 622, 2017, 1498, 5050),
    "kinova": (512, 489, 137, 385, 1473, 1059, 2263),
    "solo12": (1273, 1188, 286, 1108, 4656, 3177, 5784),
    "go2": (1487, 1405, 304, 1187, 4781, 3353, 6422),
    "talos": (3808, 3752, 796, 4853, 13471, 8577, 30337),
}


@pytest.mark.parametrize("name", LIMITS)
def test_graphs_stay_within_their_limits(name: str) -> None:
    dyn = gd.NewtonEuler(robots.load(name))
    found = {function: getattr(dyn, function).n_instructions() for function in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[name], strict=True))
    assert {f: n for f, n in found.items() if n > limits[f]} == {}


# Spin.


def skew(x: Array) -> Array:
    return ca.skew(x).full()


def random_spin(seed: int) -> tuple[Array, Array, Array]:
    """α, ω and U."""
    alpha, omega = np.random.default_rng(seed).normal(size=(2, 3))
    return alpha, omega, skew(alpha) + skew(omega) @ skew(omega)


def spins(seed: int) -> dict[str, Spin]:
    alpha, omega, u = random_spin(seed)
    _, about = spin_about_axis(ca.DM(u[:, 2]), ca.DM(omega), ca.DM(alpha[2]))
    return {"in general": spin_of(ca.DM(alpha), ca.DM(omega)), "about an axis": about}


@pytest.mark.parametrize("seed", range(3))
def test_spins_are_second_derivatives_of_rotations(seed: int) -> None:
    _, _, u = random_spin(seed)
    x = np.random.default_rng(9).normal(size=(3, 2))
    for name, spin in spins(seed).items():
        assert np.abs(spin.matrix.full() - u).max() < 1e-15 * 20, name
        differences = [u[2, 2] - u[1, 1], u[0, 0] - u[2, 2], u[1, 1] - u[0, 0]]
        assert np.abs(np.ravel([d.full() for d in spin.differences]) - differences).max() < 1e-14, name
        assert np.abs((spin @ ca.DM(x)).full() - u @ x).max() < 1e-14, name


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_those_of_the_trace_form(seed: int) -> None:
    _, _, u = random_spin(seed)
    half = np.random.default_rng(seed).normal(size=(3, 3))
    j = half + half.T
    phi = u @ j - (u @ j).T
    for name, spin in spins(seed).items():
        moment = spin.moment(ca.DM(j)).full().ravel()
        assert np.abs(moment - [phi[2, 1], phi[0, 2], phi[1, 0]]).max() < 1e-13, name


def test_the_acceleration_of_an_axis_tells_alpha() -> None:
    alpha, omega, u = random_spin(4)
    found, _ = spin_about_axis(ca.DM(u[:, 2]), ca.DM(omega), ca.DM(alpha[2]))
    assert np.abs(found.full().ravel() - alpha).max() < 1e-15 * 4


def test_what_rests_has_no_spin() -> None:
    assert NO_SPIN.matrix.nnz() == 0
    assert all(d.nnz() == 0 for d in NO_SPIN.differences)
    j = ca.DM(np.random.default_rng(5).normal(size=(3, 3)))
    assert not np.any(NO_SPIN.moment(j).full())


# Links.


def everything(seed: int, *, free: bool, mimic: bool = False) -> pin.Model:
    """A tree of joints of many types, most of them revolute, with parallel and antiparallel axes among them."""
    rng = np.random.default_rng(seed)
    names = [*(["FreeFlyer"] if free else ["RevoluteUnaligned"]), "RX", "RX", "RZ", "PZ", "RZ", "HX", "RX", "Spherical"]
    model = build(rng, names, [0, 1, 2, 3, 4, 5, 1, 7, 2], mimic=3 if mimic else None)
    for k, turn in ((3, (0.4, 0, 0)), (5, (0, 0, 0)), (6, (0, np.pi, 0)), (8, (0.2, 0, 0))):
        model.jointPlacements[k] = pin.SE3(pin.rpy.rpyToMatrix(*map(float, turn)), model.jointPlacements[k].translation)
    return model


def legs() -> pin.Model:
    """Legs of parallel joints under a free base: links that keep the axes of their joints."""
    return robots.load("solo12")


MODELS: dict[str, Callable[[], pin.Model]] = {
    "fixed": lambda: everything(1, free=False),
    "free": lambda: everything(2, free=True),
    "mimic": lambda: everything(3, free=False, mimic=True),
    "ur5": lambda: robots.load("ur5"),
    "legs": legs,
    "all": lambda: build(np.random.default_rng(4), sorted(JOINTS), [0, *(k // 2 for k in range(1, len(JOINTS)))]),
}


def matrix(rotation: object) -> Array:
    return (rotation @ ca.DM.eye(3)).full()


def composed(links: list[Link]) -> list[tuple[Array, Array]]:
    """R and p of each link, in the universe frame."""
    placed: list[tuple[Array, Array]] = []
    for link in links:
        r, p = (np.eye(3), np.zeros(3)) if link.joint.parent < 0 else placed[link.joint.parent]
        placed.append((r @ matrix(link.rotation), p + r @ ca.DM(link.origin).full().ravel()))
    return placed


def prepared(model: pin.Model) -> Tree:
    return prepare(read_tree(model))


def symbolic_placements(links: list[Link]) -> list[tuple[ca.SX, ca.SX]]:
    placed: list[tuple[ca.SX, ca.SX]] = []
    for link in links:
        r, p = (ca.DM.eye(3), ca.DM(3, 1)) if link.joint.parent < 0 else placed[link.joint.parent]
        placed.append((r @ (link.rotation @ ca.DM.eye(3)), p + r @ link.origin))
    return placed


@pytest.mark.parametrize("name", MODELS)
def test_links_are_where_their_tree_places_them(name: str) -> None:
    """Axes may be those of the joint, before its turn about z."""
    model = MODELS[name]()
    tree = prepared(model)
    keeping = 0
    for q, _, _ in states(model, np.random.default_rng(6), 2):
        links = place(tree, ca.DM(q))
        for link, (r, p), (r0, p0) in zip(links, composed(links), tree.placements(ca.DM(q)), strict=True):
            assert np.abs(p - p0.full().ravel()).max() < 1e-12
            assert np.abs(r[:, 2] - r0.full()[:, 2]).max() < 1e-13
            held = r.T @ r0.full()
            keeps = getattr(link.joint, "keeps", False)
            keeping += keeps
            assert keeps or np.abs(held - np.eye(3)).max() < 1e-13
            assert not keeps or link.turn is NO_TURN
            # the body turns by what the axes do not
            body = link.joint.pseudo_inertia.full()
            assert np.abs(ca.DM(link.first).full().ravel() - held @ body[:3, 3]).max() < 1e-12
            assert np.abs(ca.DM(link.second).full() - held @ body[:3, :3] @ held.T).max() < 1e-12
            assert link.mass == body[3, 3]
    assert keeping > 0


@pytest.mark.parametrize("name", ["fixed", "mimic", "legs"])
def test_any_link_that_turns_about_z_may_keep_axes(name: str) -> None:
    model = MODELS[name]()
    tree = prepared(model)
    for keeps in (False, True):
        joints = [
            PreparedJoint(**{**vars(joint), "keeps": keeps}) if isinstance(joint.type, Revolute) else joint
            for joint in tree.joints
        ]
        other = replace(tree, joints=tuple(joints))
        for state in states(model, np.random.default_rng(16), 2):
            q, v, a = map(ca.DM, state)
            for of, arguments in (
                (newton_euler.inverse_dynamics, (q, v, a)),
                (newton_euler.gravity_torques, (q,)),
                (newton_euler.mass_matrix, (q,)),
                (newton_euler.coriolis_matrix, (q, v)),
            ):
                assert relative_error(of(other, *arguments).full(), of(tree, *arguments).full()) < 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_links_turn_about_z_last(name: str) -> None:
    tree = prepared(MODELS[name]())
    q = ca.SX.sym("q", tree.nq)
    for link in place(tree, q):
        if link.joint.parent < 0:
            assert link.turn is NO_TURN
        at = np.array([0.0, 0, 1])
        assert np.array_equal(ca.evalf(ca.SX(link.turn @ ca.DM(at))).full().ravel(), at)


def test_rates_carry_sense_and_scaling_and_columns_neither() -> None:
    tree = prepared(everything(3, free=False, mimic=True))
    seen = set()
    for link in place(tree, ca.DM(tree.nq, 1)):
        scaling = 1.0 if link.joint.scaling is None else link.joint.scaling
        assert link.rate == scaling * sense_of(link.joint.type)
        if link.joint.type.nv == 1:
            assert ca.vertcat(link.columns.linear, link.columns.angular).full()[[2, 5]].max() == 1
        linear, angular = link.joint.subspace(ca.DM(tree.nq, 1))
        assert relative_error(link.rate * link.columns.linear, linear.full()) < 1e-15
        assert relative_error(link.rate * link.columns.angular, angular.full()) < 1e-15
        seen.add((scaling == 1, link.rate > 0))
    assert {(True, True), (True, False), (False, False)} <= seen


@pytest.mark.parametrize("name", MODELS)
def test_motions_are_rates_of_placements(name: str) -> None:
    """ω, α and U, velocity and acceleration, from the links' placements and their derivatives along the motion."""
    model = MODELS[name]()
    tree = prepared(model)
    s = {letter: ca.SX.sym(letter, n) for letter, n in (("q", tree.nq), ("v", tree.nv), ("a", tree.nv))}
    q, v, a = s.values()
    q_rate = read_tree(model).configuration_rate(q, v)
    links = place(tree, q)
    motions = move(links, q, v, a, ca.DM(3, 1))
    outputs = []
    for i, ((r, _), (body_r, p)) in enumerate(zip(symbolic_placements(links), tree.placements(q), strict=True)):
        x = ca.vertcat(ca.vec(body_r), p)
        x_rate = ca.jtimes(x, q, q_rate)
        x_second = ca.jtimes(x_rate, q, q_rate) + ca.jtimes(x_rate, v, a)
        motion = motions[i]
        rate, second = (ca.reshape(y[:9], 3, 3) @ body_r.T for y in (x_rate, x_second))
        outputs += [
            r @ ca.skew(motion.omega) @ r.T - rate,
            r @ motion.spin.matrix @ r.T - second,
            r @ motion.velocity - x_rate[9:],
            r @ motion.acceleration - x_second[9:],
            motion.spin.matrix - ca.skew(motion.alpha) - ca.skew(motion.omega) @ ca.skew(motion.omega),
        ]
    differences = ca.Function("differences", list(s.values()), [ca.vertcat(*map(ca.vec, outputs))])
    for state in states(model, np.random.default_rng(7), 2):
        assert np.abs(differences(*state).full()).max() < 1e-9


# Composite and articulated bodies.


@pytest.mark.parametrize("name", ["free", "legs"])
def test_the_composite_of_a_free_robot_is_the_robot(name: str) -> None:
    """No mass has left it: m, the centre of mass, and the inertia about it."""
    model = MODELS[name]()
    data = model.createData()
    for q, v, _ in states(model, np.random.default_rng(8), 2):
        links = place(prepared(model), ca.DM(q))
        whole, (r, p) = composites(links)[0], composed(links)[0]
        mass, first, second = whole.mass, r @ whole.first.full().ravel(), r @ whole.second.full() @ r.T
        pin.ccrba(model, data, q, v)
        assert mass == pytest.approx(data.Ig.mass, rel=1e-14)
        com = pin.centerOfMass(model, data, q)
        assert np.abs(p + first / mass - com).max() < 1e-13
        about_com = second - np.outer(first, first) / mass
        tensor = np.trace(about_com) * np.eye(3) - about_com
        assert relative_error(tensor, data.Ig.inertia) < 1e-12


@pytest.mark.parametrize("name", ["fixed", "free", "mimic", "legs"])
def test_sums_of_velocities_are_rates_of_sums(name: str) -> None:
    """r = Σ m ẋ and R = Σ m ẋ xᵀ of each subtree, seen from its root link's origin: dh/dt, and R + Rᵀ = dJ/dt."""
    model = MODELS[name]()
    tree = prepared(model)
    q, v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
    links = place(tree, q)
    omegas = {i: m.omega for i, m in move(links, q, v, ca.DM(tree.nv, 1), ca.DM(3, 1)).items()}
    sums = moving(links, omegas, v)
    q_rate = read_tree(model).configuration_rate(q, v)
    outputs = []
    for (r, _), body, rate in zip(symbolic_placements(links), sums.bodies, sums.rates, strict=True):
        first, second = r @ body.first, r @ body.second @ r.T
        second_rate = r @ (rate.second + rate.second.T) @ r.T
        outputs += [
            ca.jtimes(first, q, q_rate) - r @ rate.first,
            ca.reshape(ca.jtimes(ca.vec(second), q, q_rate), 3, 3) - second_rate,
        ]
    differences = ca.Function("differences", [q, v], [ca.vertcat(*map(ca.vec, outputs))])
    for at, rates, _ in states(model, np.random.default_rng(9), 2):
        assert np.abs(differences(at, rates).full()).max() < 1e-10


def test_locked_bodies_are_articulated_bodies_that_do_not_give_way() -> None:
    """Both are carried to the parent alike, and ask for the same wrench."""
    rng = np.random.default_rng(10)
    joint = read_tree(build(rng, ["RX"], [0])).joints[0]
    at = placement(rng)
    link = Link(
        joint,
        NO_TURN,
        Full(ca.DM(at.rotation)),
        ca.DM(at.translation),
        Motion(0, 0),
        1.0,
        0.0,
        ca.DM(3, 1),
        ca.DM(3, 3),
    )
    points, masses = rng.normal(size=(3, 4)), rng.uniform(1, 2, size=4)

    def both(x: Array) -> tuple[Composite, Articulated]:
        first, second = ca.DM(x @ masses), ca.DM(x @ np.diag(masses) @ x.T)
        return Composite(masses.sum(), first, second), Articulated(
            masses.sum() * ca.DM.eye(3), -ca.skew(first), spatial.inertia_of(second)
        )

    composite, articulated = both(points)
    above_composite, above_articulated = both(at.rotation @ points + at.translation[:, None])
    for found, truth in ((composite.to_parent(link), above_composite), (composite + composite, None)):
        expected = truth or Composite(2 * composite.mass, 2 * composite.first, 2 * composite.second)
        assert found.mass == pytest.approx(expected.mass)
        assert relative_error(found.first, expected.first.full()) < 1e-14
        assert relative_error(found.second, expected.second.full()) < 1e-14
    moved = articulated.to_parent(link)
    for part in ("linear", "coupling", "angular"):
        assert relative_error(getattr(moved, part), getattr(above_articulated, part).full()) < 1e-14
    e = Motion(ca.DM(rng.normal(size=(3, 2))), ca.DM(rng.normal(size=(3, 2))))
    one, other = composite.wrench(e), articulated.wrench(e.linear, e.angular)
    assert relative_error(one.force, other.force.full()) < 1e-14
    assert relative_error(one.moment, other.moment.full()) < 1e-14


@pytest.mark.parametrize("joint", sorted(JOINTS))
def test_articulated_bodies_and_elimination_agree(joint: str) -> None:
    model = build(np.random.default_rng(11), ["RX", joint, "RevoluteUnaligned", joint, "RY"], [0, 1, 2, 2, 4])
    dyn = gd.NewtonEuler(model, clean=0)
    s = [ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("tau", model.nv)]
    ways = newton_euler.forward_dynamics(dyn._prepared, *s), gd.Dynamics.forward_dynamics_expression(dyn, *s)
    both = ca.Function("both", s, ways)
    for q, v, a in states(model, np.random.default_rng(12), 2):
        tau = pin.rnea(model, model.createData(), q, v, a)
        articulated, eliminated = (x.full().ravel() for x in both(q, v, tau))
        conditioned = max(1e-12, 1e-15 * np.linalg.cond(dyn.mass_matrix(q).full()))
        assert relative_error(articulated, a) < conditioned
        assert relative_error(eliminated, a) < conditioned


@pytest.mark.parametrize("name", ["fixed", "free", "mimic"])
def test_derivatives_are_those_of_inverse_dynamics(name: str) -> None:
    model = MODELS[name]()
    dyn = gd.NewtonEuler(model, clean=0)
    s = [ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("a", model.nv)]
    by_differentiation = ca.Function("derivatives", s, gd.Dynamics.inverse_dynamics_derivatives_expression(dyn, *s))
    for state in states(model, np.random.default_rng(17), 2):
        for found, truth in zip(dyn.inverse_dynamics_derivatives(*state), by_differentiation(*state), strict=True):
            assert relative_error(found.full(), truth.full()) < 1e-12


# Which forward dynamics.


@pytest.mark.parametrize(("number", "deep"), [(7, False), (20, False), (60, True)])
def test_long_chains_are_deep(number: int, deep: bool) -> None:
    assert gd.NewtonEuler(robots.chain(number))._is_deep == deep


def test_many_short_branches_are_not_deep() -> None:
    model = build(np.random.default_rng(13), ["FreeFlyer"] + ["RX", "RY", "RZ"] * 10, legs_of(10, 3))
    assert not gd.NewtonEuler(model)._is_deep


def legs_of(number: int, length: int) -> list[int]:
    return [0, *(1 if k == 0 else 1 + leg * length + k for leg in range(number) for k in range(length))]


def test_a_long_chain_needs_no_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("M was built")

    monkeypatch.setattr(gd.NewtonEuler, "mass_matrix_expression", refuse)
    with pytest.raises(AssertionError, match="M was built"):
        _ = gd.NewtonEuler(robots.chain(6)).forward_dynamics
    for number in (36, 48):
        chain = build(np.random.default_rng(14), ["RevoluteUnaligned"] * number, range(number))
        assert gd.NewtonEuler(chain).forward_dynamics.n_instructions() < 600 * number

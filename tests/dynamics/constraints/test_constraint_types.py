"""Types of constraints: rows of a relative motion, beside the KKT system of Jacobians that NumPy makes."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.constraints.constraint_types import RowSelection
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.models import build, relative_error, states
from tests.helpers.sets import quick

TIGHT = 1e-11
DIFFERENCED = 1e-7
STEP = 1e-5  # s

Vector = np.ndarray
Rows = Callable[[Vector, Vector], Vector]

NORMAL = np.array([0.2, -0.3, 0.9])
UNIT = NORMAL / np.linalg.norm(NORMAL)
RADIUS, AXLE = 0.3, np.array([0.6, 0.0, 0.8])


@dataclass(frozen=True)
class Tether(RowSelection):
    """The origins keep their distance, as if a tether joined them: a type that only this test knows."""

    name: ClassVar[str] = "tether"
    length: float

    @property
    def units(self) -> tuple[str, ...]:
        return ("m",)

    def selection(self, r: Any, x: Any) -> Any:
        return ca.horzcat(x.T / ca.norm_2(x), ca.DM(1, 3))

    def residual(self, r: Any, x: Any) -> Any:
        return ca.norm_2(x) - self.length


class SlackTether(Tether):
    """A type whose author has written rows of another shape."""

    name: ClassVar[str] = "slack tether"

    def selection(self, r: Any, x: Any) -> Any:
        return r


def _skew(x: Vector) -> Vector:
    return np.asarray(pin.skew(x))


def rolling(r: Vector, x: Vector, axle: Vector | None = AXLE) -> Vector:
    """The velocity of the point of a wheel or ball that touches the ground, along x, y and the normal."""
    below = UNIT if axle is None else UNIT - (UNIT @ r @ axle) * (r @ axle)
    lever = -RADIUS * below / np.linalg.norm(below)
    return np.vstack([*_ground(), UNIT]) @ np.hstack([np.eye(3), -_skew(lever)])


def _ground() -> tuple[Vector, Vector]:
    first = np.array([1.0, 0.0, 0.0]) - UNIT[0] * UNIT
    first /= np.linalg.norm(first)
    return first, np.cross(UNIT, first)


def _linear(*rows: Vector) -> Rows:
    return lambda r, x: np.hstack([np.array(rows), np.zeros((len(rows), 3))])


CASES: dict[str, tuple[str, dict[str, Any], Rows]] = {
    "plane": ("1D", {"normal": NORMAL}, _linear(UNIT)),
    "line": ("2D", {"direction": NORMAL}, _linear(*_ground())),
    "wheel": ("rolling", {"radius": RADIUS, "normal": NORMAL, "axle": AXLE}, rolling),
    "ball": ("rolling", {"radius": RADIUS, "normal": NORMAL}, lambda r, x: rolling(r, x, None)),
    "rows of a point": ("3D", {"rows": ("z", "x")}, _linear(*np.eye(3)[[0, 2]])),
    "rows of a frame": ("6D", {"rows": ("y", "rx", "rz")}, lambda r, x: np.eye(6)[[1, 3, 5]]),
    "tether": ("tether", {"length": 0.7}, lambda r, x: np.hstack([x / np.linalg.norm(x), np.zeros(3)])[None, :]),
}
"""The kind, its arguments, and S(R, x) by NumPy."""
FRAMES = "body_2", "body_4"


def model_of() -> pin.Model:
    return build(np.random.default_rng(4), ["FreeFlyer", "RX", "Spherical", "RevoluteUnaligned", "RY"], [0, 1, 2, 1, 4])


def constraint_of(name: str, is_loop: bool) -> gd.Contact | gd.Loop:
    kind, options, _ = CASES[name]
    if is_loop:
        return gd.Loop(*FRAMES, kind, **options)
    anchor = pin.SE3(np.eye(3), np.array([0.1, 0.2, -0.1]))
    return gd.Contact(FRAMES[0], kind, anchor, **options)


def seen(model: pin.Model, q: Vector, is_loop: bool) -> tuple[Vector, Vector, Vector]:
    """R, x and the Jacobian of V = (v; ω) of the first frame in the axes of the second."""
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    places, jacobians = [], []
    for name in FRAMES:
        frame = model.getFrameId(name)
        places.append(data.oMf[frame].copy())
        jacobians.append(pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED))
    first, second = places
    if not is_loop:
        return first.rotation, first.translation - [0.1, 0.2, -0.1], jacobians[0]
    apart, turn = first.translation - second.translation, second.rotation.T
    carried = np.block([[np.eye(3), -_skew(apart)], [np.zeros((3, 3)), np.eye(3)]]) @ jacobians[1]
    relative = np.kron(np.eye(2), turn) @ (jacobians[0] - carried)
    return turn @ first.rotation, turn @ apart, relative


def jacobian_of(name: str, model: pin.Model, q: Vector, is_loop: bool) -> Vector:
    r, x, relative = seen(model, q, is_loop)
    return CASES[name][2](r, x) @ relative


LOOPS = {f"{name}, {'loop' if is_loop else 'contact'}": (name, is_loop) for name in CASES for is_loop in (False, True)}
ONCE = [f"{name}, {kind}" for name, kind in zip(CASES, itertools.cycle(("loop", "contact")), strict=False)]
"""Every type once, at a contact or at a loop."""


@pytest.mark.parametrize("case", quick(ONCE))
def test_a_type_obeys_the_kkt_system_of_its_rows(case: str) -> None:
    """Accelerations, forces, impulses, torques and derivatives, by articulated bodies and by M."""
    name, is_loop = LOOPS[case]
    model = model_of()
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    j = jacobian_of(name, model, q, is_loop)

    def along(time: float) -> Vector:
        return jacobian_of(name, model, pin.integrate(model, q, time * v), is_loop) @ v

    bias = (along(STEP) - along(-STEP)) / (2 * STEP)
    m, nle = pin.crba(model, model.createData(), q), pin.nle(model, model.createData(), q, v)
    m = np.triu(m) + np.triu(m, 1).T
    kkt = np.block([[m, -j.T], [j, np.zeros((len(j), len(j)))]])
    wanted = np.linalg.solve(kkt, np.append(tau - nle, -bias))
    hit = np.linalg.solve(kkt, np.append(m @ v, np.zeros(len(j))))
    for formulation in (gd.NewtonEuler, gd.LagrangeEuler)[: 2 if name in ("tether", "wheel") else 1]:
        con = gd.ConstrainedDynamics(formulation(model, clean=0), [constraint_of(name, is_loop)])
        assert relative_error(con.jacobian(q).full(), j) < TIGHT
        assert relative_error(con.bias_acceleration(q, v).full().ravel(), bias) < DIFFERENCED
        a, forces = con.forward_dynamics(q, v, tau)
        assert relative_error(ca.vertcat(a, forces).full().ravel(), wanted) < DIFFERENCED
        assert np.abs(con.acceleration_error(q, v, a).full()).max() < TIGHT * np.abs(wanted).max()
        assert relative_error(con.inverse_dynamics(q, v, a, forces).full().ravel(), tau) < TIGHT
        assert relative_error(ca.vertcat(*con.impact(q, v)).full().ravel(), hit) < TIGHT
    stabilised = gd.ConstrainedDynamics(
        con.dynamics, [constraint_of(name, is_loop)], stiffness=4.0, damping=3.0, restitution=0.4
    )
    check_derivatives(stabilised, q, v, tau)


def check_derivatives(con: gd.ConstrainedDynamics, *arguments: Vector) -> None:
    """Beside the forward dynamics, differentiated operation by operation along each direction of (q, v, tau)."""
    s = con.symbols("q", "v", "tau")
    graph = ca.vertcat(*con.forward_dynamics(*s.values()))
    along_q = ca.jacobian(graph, s["q"]) @ con.tree.tangent_map(s["q"])
    slopes = ca.horzcat(along_q, ca.jacobian(graph, s["v"]), ca.jacobian(graph, s["tau"]))
    wanted = ca.Function("slopes", list(s.values()), [slopes])(*arguments).full()
    found = [block.full() for block in con.forward_dynamics_derivatives.call(list(arguments))]
    for blocks, rows in zip((found[:3], found[3:]), np.vsplit(wanted, [con.tree.nv]), strict=True):
        assert relative_error(np.hstack(blocks), rows) < TIGHT
    assert np.array_equal(found[2], found[2].T)
    a = np.random.default_rng(2).normal(size=con.nv)  # which violates the constraints
    forces = np.random.default_rng(3).normal(size=con.nc)
    for name, given in (
        ("inverse_dynamics", (*arguments[:2], a, forces)),
        ("acceleration_error", (*arguments[:2], a)),
        ("impact", arguments[:2]),
    ):
        of, derivatives = getattr(con, name), getattr(con, f"{name}_derivatives")
        inputs = derivatives.sx_in()
        tangent = con.tree.tangent_map(inputs[0])
        slopes = [
            ca.horzcat(ca.jacobian(value, inputs[0]) @ tangent, ca.jacobian(value, inputs[1]))
            for value in of.call(inputs)
        ]
        wanted = ca.Function("slopes", inputs, slopes).call(list(given))
        blocks = [block.full() for block in derivatives.call(list(given))]
        for own, slope in zip(zip(blocks[::2], blocks[1::2], strict=True), wanted, strict=True):
            assert relative_error(np.hstack(own), slope.full()) < TIGHT


@pytest.mark.parametrize("case", quick(LOOPS, "wheel, contact", "line, loop"))
def test_holonomic_rows_are_the_rates_of_the_residual(case: str) -> None:
    name, is_loop = LOOPS[case]
    model = model_of()
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), [constraint_of(name, is_loop)])
    q, v, _ = states(model, np.random.default_rng(1), 1)[0]
    q = con.closed_configuration(q)
    v = con.consistent_velocity(q, v) if name == "rows of a frame" else v  # of these where the rows are zero
    before, after = (con.residual(pin.integrate(model, q, time * v)).full().ravel() for time in (-STEP, STEP))
    held = np.array(con.constraints[0].holds.is_holonomic)
    rate = con.velocity(q, v).full().ravel()
    assert np.abs(con.residual(q).full()).max() < 1e-11
    assert relative_error((after - before)[held] / (2 * STEP), rate[held]) < DIFFERENCED
    assert not (after - before)[~held].any()


@pytest.mark.long
@pytest.mark.parametrize("case", ONCE)
def test_a_motion_keeps_the_constraint_and_its_energy(case: str) -> None:
    name, is_loop = LOOPS[case]
    model = model_of()
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [constraint_of(name, is_loop)])
    q, v, _ = states(model, np.random.default_rng(1), 1)[0]
    q = con.closed_configuration(q)
    v = con.consistent_velocity(q, 0.2 * v)
    motion = gd.simulate(con, (q, v), 0.2)
    assert motion.constraint_drift.max() < 1e-8
    assert motion.relative_balance < 1e-6
    energy = motion.kinetic + motion.potential
    assert np.ptp(energy) < 1e-6 * np.abs(motion.kinetic).max()
    speed = con.velocity(motion.q.T, motion.v.T).full()
    assert np.abs(speed).max() < 1e-6


@pytest.mark.parametrize("name", quick(["line", "wheel", "rows of a frame"], "line"))
def test_a_contact_without_an_anchor_is_held_where_it_is(name: str) -> None:
    kind, options, _ = CASES[name]
    model = build(np.random.default_rng(4), ["FreeFlyer", "RX", "RY"], [0, 1, 2])
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("body_2", kind, **options)])
    q, v, tau = states(model, np.random.default_rng(0), 1)[0]
    anchored = con.anchored(q)
    assert np.abs(anchored.residual(q).full()).max() < 1e-11
    for found, expected in zip(anchored.forward_dynamics(q, v, tau), con.forward_dynamics(q, v, tau), strict=True):
        assert relative_error(found.full(), expected.full()) < TIGHT
    copy = pickle.loads(pickle.dumps(anchored))
    assert relative_error(copy.forward_dynamics(q, v, tau)[0], anchored.forward_dynamics(q, v, tau)[0]) == 0
    assert copy.constraints == anchored.constraints


MODEL = model_of()
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "normal of a line": (
        lambda: gd.Contact("body_2", "2D", normal=(0, 0, 1)),
        "Contact('body_2', '2D'): '2D' takes no normal; drop it",
    ),
    "normal of rows": (
        lambda: gd.Contact("body_2", "3D", rows=("z",), normal=(0, 0, 1)),
        "Contact('body_2', '3D'): rows= goes without normal; drop one of them",
    ),
    "no radius": (
        lambda: gd.Loop("body_2", "body_4", "rolling"),
        "Loop('body_2', 'body_4', 'rolling'): 'rolling' needs radius; give it",
    ),
    "no direction": (
        lambda: gd.Contact("body_2", "1D", normal=(0, 0, 0)),
        "Contact('body_2', '1D'): normal is zero (0, 0, 0); give a direction",
    ),
    "short": (
        lambda: gd.Contact("body_2", "2D", direction=(0, 1)),
        "Contact('body_2', '2D'): direction has shape (2,); give (3,)",
    ),
    "radius": (
        lambda: gd.Contact("body_2", "rolling", radius=-1),
        "Contact('body_2', 'rolling'): radius: got -1; give one finite number [m], above 0",
    ),
    "a row of a frame": (
        lambda: gd.Contact("body_2", "3D", rows=("x", "rz")),
        "Contact('body_2', '3D'): rows: got 'rz'; give 'x', 'y' or 'z'",
    ),
    "no rows": (
        lambda: gd.Contact("body_2", rows=()),
        "Contact('body_2', '6D'): rows: got (); give some of x, y, z, rx, ry, rz, as ('x', 'z')",
    ),
    "a row twice": (
        lambda: gd.Contact("body_2", "3D", rows=("x", "x")),
        "Contact('body_2', '3D'): rows: got ('x', 'x'); give each row once",
    ),
    "a selection of another shape": (
        lambda: gd.Contact("body_2", "slack tether", length=1.0),
        "Contact('body_2', 'slack tether'): selection has the shape (3, 3); of 1 units it must have (1, 6)",
    ),
    "one rotation": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(MODEL), [gd.Contact("body_2", rows=("x", "rz"))]),
        "Contact('body_2', '6D', rows=('x', 'rz')): the frame turns about other axes than z, so that rz alone is no "
        "constraint on q; give two or three rotations, or none",
    ),
    "two types of a name": (
        lambda: type("Other", (Tether,), {"name": "1D"}),
        "Other: the kind '1D' is that of Plane",
    ),
    "no anchor": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(MODEL), [gd.Contact("body_2", "1D")]).residual,
        "Contact('body_2', '1D') has no anchor, so that its residual is not known; take anchored(q)",
    ),
    "far": (
        lambda: gd.ConstrainedDynamics(gd.NewtonEuler(MODEL), [gd.Contact("body_2", "1D", (0, 0, 9))]).check_state(
            "here", pin.neutral(MODEL), np.zeros(MODEL.nv)
        ),
        "here: q violates Contact('body_2', '1D') by ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_sentence_says_what_cannot_be(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_a_wheel_that_lies_flat_touches_no_point() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia.FromCylinder(1.0, 0.1, 0.02), pin.SE3.Identity())
    model.addBodyFrame("wheel", joint, pin.SE3.Identity(), 0)
    q, v = pin.neutral(model), np.zeros(6)
    for anchor, reason in ((None, "no point touches at this q"), (np.zeros(3), "its rows are not defined at this q")):
        contact = gd.Contact("wheel", "rolling", anchor, radius=0.1, axle=(0, 0, 1))
        con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [contact])
        with pytest.raises(ArgumentError, match=reason):
            gd.simulate(con, (q, v), 0.1)
        with pytest.raises(ArgumentError, match=reason):
            con.closed_configuration(q)
        with pytest.raises(ArgumentError, match=reason):
            con.degrees_of_freedom(q)


def test_lengths_of_directions_may_be_huge() -> None:
    con = gd.ConstrainedDynamics(gd.NewtonEuler(MODEL), [gd.Contact("body_2", "1D", normal=(0, 0, 1e300))])
    usual = gd.ConstrainedDynamics(gd.NewtonEuler(MODEL), [gd.Contact("body_2", "1D")])
    q = states(MODEL, np.random.default_rng(0), 1)[0][0]
    assert np.array_equal(con.jacobian(q).full(), usual.jacobian(q).full())

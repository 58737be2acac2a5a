"""Friction cones beside their definitions: pressed forces that do not slip, and those at the corners of a sole."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError
from gdalembert.spatial.arrays import Array

MU, X, Y = 0.6, 0.12, 0.05
NORMALS = {"z": (0, 0, 1), "x": (1, 0, 0), "down": (0, 0, -2), "slope": (0.3, -0.4, 1.2)}


def margins(cone: ca.Function, forces: Array) -> Array:
    """One row for each force."""
    return np.asarray(cone.map(len(forces))(forces.T).full().T)


def forces_around(n: Array, count: int = 2000) -> Array:
    """Forces of which some are in the cone, many near its sides."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(count, 3)) + 1.5 * n * rng.normal(size=(count, 1))


def slip(n: Array, forces: Array) -> tuple[Array, Array]:
    """Pressure and slipping force."""
    pressed = forces @ n
    return pressed, np.linalg.norm(forces - np.outer(pressed, n), axis=1)


@pytest.mark.parametrize("normal", NORMALS)
def test_margins_are_those_of_coulomb(normal: str) -> None:
    n = np.array(NORMALS[normal], dtype=float)
    forces = forces_around(n)
    pressed, slipping = slip(n / np.linalg.norm(n), forces)
    stands = (pressed >= 0) & (slipping <= MU * pressed)
    assert 0.1 < stands.mean() < 0.9
    squared = margins(gd.friction_cone(MU, n), forces)
    expected = np.column_stack([pressed, (MU * pressed) ** 2 - slipping**2])
    assert np.abs(squared - expected).max() < 1e-12 * np.abs(expected).max()
    assert np.array_equal((squared >= 0).all(axis=1), stands)
    norm = margins(gd.friction_cone(MU, n, form="norm", smoothing=0.01), forces)[:, 0]
    assert np.abs(norm - (MU * pressed - np.hypot(slipping, 0.01))).max() < 1e-12 * np.abs(norm).max()


@pytest.mark.parametrize("edges", [3, 4, 5, 16])
@pytest.mark.parametrize("normal", NORMALS)
def test_pyramids_enclose_the_cone(normal: str, edges: int) -> None:
    n = np.array(NORMALS[normal]) / np.linalg.norm(NORMALS[normal])
    forces = forces_around(n)
    pressed, slipping = slip(n, forces)
    stands = slipping <= MU * pressed
    inner, outer = (gd.friction_cone(MU, n, form=f, edges=edges) for f in ("inscribed", "circumscribed"))
    inside, around = ((margins(cone, forces) >= 0).all(axis=1) for cone in (inner, outer))
    assert inside.any()
    assert not (inside & ~stands).any()
    assert not (stands & ~around).any()
    assert_regular(inner, n, edges, on_edges=MU)
    assert_regular(outer, n, edges, on_edges=MU / np.cos(np.pi / edges))


def assert_regular(cone: ca.Function, n: Array, edges: int, on_edges: float) -> None:
    """The forces where neighbouring sides meet have one ratio of slipping force to pressure."""
    sides = margins(cone, np.eye(3)).T
    for side, other in zip(sides, np.roll(sides, -1, axis=0), strict=True):
        edge = np.cross(side, other)
        pressed, slipping = slip(n, edge[None, :] * np.sign(edge @ n))
        assert abs(slipping[0] / pressed[0] - on_edges) < 1e-12
    assert len(sides) == edges


def test_the_first_side_faces_x() -> None:
    assert np.allclose(gd.friction_cone(MU, form="circumscribed")([0.1, 0.2, 1]).full().ravel(), [0.5, 0.4, 0.7, 0.8])
    sides = margins(gd.friction_cone(MU, (1, 0, 0), form="circumscribed"), np.eye(3)).T
    assert np.array_equal(sides[0], [MU, -1, 0])


@pytest.mark.parametrize("form", ["squared", "norm"])
def test_derivatives_are_finite_without_a_force(form: str) -> None:
    cone = gd.friction_cone(MU, form=form)
    f = ca.MX.sym("f", 3)
    hessian = ca.Function("hessian", [f], [ca.jacobian(ca.jacobian(cone(f), f), f)])
    assert np.isfinite(hessian(np.zeros(3)).full()).all()


def corner_wrenches(mu: float) -> Array:
    """The wrenches about the centre of a sole of the edges of a pyramid of four sides at each corner, in rows."""
    forces = np.array([(mu * a, mu * b, 1.0) for a in (1, -1) for b in (1, -1)])
    corners = np.array([(a * X, b * Y, 0.0) for a in (1, -1) for b in (1, -1)])
    return np.array([np.concatenate([f, np.cross(p, f)]) for p in corners for f in forces])


def facets(rays: Array) -> Array:
    """The unit normals of the facets of the cone of rays (rows): planes of five rays with all others on one side."""
    chosen = np.array([rays[list(five)] for five in combinations(range(len(rays)), 5)])
    _, values, normals = np.linalg.svd(chosen)
    found = []
    for normal in normals[values[:, 4] > 1e-9, 5]:
        sides = rays @ normal
        if (sides > -1e-9).all() or (sides < 1e-9).all():
            found.append(normal * np.sign(sides.sum()))
    return np.unique(np.round(found, 9), axis=0)


@pytest.mark.parametrize(("form", "mu"), [("circumscribed", MU), ("inscribed", MU / np.sqrt(2))])
def test_the_wrench_cone_is_that_of_the_corners(form: str, mu: float) -> None:
    """Facet by facet: neither more nor less."""
    rows = margins(gd.wrench_cone(MU, X, Y, form=form), np.eye(6)).T
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    expected = facets(corner_wrenches(mu))
    assert len(expected) == len(rows) == 16
    assert np.allclose(np.unique(np.round(rows, 9), axis=0), expected, atol=1e-8)


def test_wrenches_of_corner_forces_are_in_the_cone() -> None:
    rng = np.random.default_rng(0)
    wrenches = rng.exponential(size=(1000, 16)) @ corner_wrenches(MU)
    assert margins(gd.wrench_cone(MU, X, Y, form="circumscribed"), wrenches).min() > -1e-12


@pytest.mark.extras
def test_linear_programs_find_corner_forces_of_what_is_in_the_cone() -> None:
    from scipy.optimize import linprog

    rng, rays = np.random.default_rng(0), corner_wrenches(MU)
    wrenches = rng.exponential(size=(200, 16)) @ rays + rng.normal(size=(200, 6)) * [3, 3, 3, 0.4, 0.4, 0.4]
    inside = (margins(gd.wrench_cone(MU, X, Y, form="circumscribed"), wrenches) >= 0).all(axis=1)
    assert 0.1 < inside.mean() < 0.9
    for wrench, stands in zip(wrenches, inside, strict=True):
        assert linprog(np.zeros(16), A_eq=rays.T, b_eq=wrench).success == stands


def test_a_sole_may_be_anywhere_in_the_frame() -> None:
    sole = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 1.0), np.array([0.1, -0.2, 0.3]))
    wrench = pin.Force(np.array([1.0, -2.0, 30.0, 0.4, -0.5, 0.6]))
    own, placed = gd.wrench_cone(MU, X, Y), gd.wrench_cone(MU, X, Y, sole=sole)
    assert np.allclose(placed(sole.act(wrench).vector).full(), own(wrench.vector).full(), atol=1e-12)


NAN = float("nan")
Case = tuple[Callable[[], object], type[GdalembertError], str]
REFUSED: dict[str, Case] = {
    "mu": (lambda: gd.friction_cone(0.0), ArgumentError, "friction_cone: mu: got 0.0; give one finite number, above 0"),
    "mu of a sole": (lambda: gd.wrench_cone(NAN, X, Y), ArgumentError, "wrench_cone: mu: got nan; give one finite"),
    "normal": (
        lambda: gd.friction_cone(MU, (0, 0, 0)),
        ArgumentError,
        "friction_cone: normal is zero (0, 0, 0); give the direction from the ground to the robot",
    ),
    "numbers": (lambda: gd.friction_cone(MU, (0, 1)), ArgumentError, "friction_cone: normal has shape (2,); give (3,)"),
    "form": (
        lambda: gd.friction_cone(MU, form="cone"),
        ArgumentError,
        "friction_cone: form: got 'cone'; give 'squared', 'norm', 'inscribed' or 'circumscribed'",
    ),
    "form of a sole": (
        lambda: gd.wrench_cone(MU, X, Y, form="squared"),
        ArgumentError,
        "wrench_cone: form: got 'squared'; give 'inscribed' or 'circumscribed'",
    ),
    "edges": (
        lambda: gd.friction_cone(MU, form="inscribed", edges=2),
        ArgumentError,
        "friction_cone: edges: got 2; give an integer of at least 3",
    ),
    "smoothing": (
        lambda: gd.friction_cone(MU, form="norm", smoothing=0.0),
        ArgumentError,
        "friction_cone: smoothing: got 0.0; give one finite number [N], above 0",
    ),
    "edges of a cone": (
        lambda: gd.friction_cone(MU, edges=8),
        ArgumentError,
        "friction_cone: edges=8 has no part in form='squared'; drop it, or take form='inscribed' or "
        "form='circumscribed'",
    ),
    "smoothing of a pyramid": (
        lambda: gd.friction_cone(MU, form="inscribed", smoothing=0.1),
        ArgumentError,
        "friction_cone: smoothing=0.1 has no part in form='inscribed'; drop it, or take form='norm'",
    ),
    "length": (
        lambda: gd.wrench_cone(MU, "long", Y),  # type: ignore[arg-type]
        ArgumentTypeError,
        "wrench_cone: half_length: expected a number [m], got 'long'",
    ),
    "width": (
        lambda: gd.wrench_cone(MU, X, -Y),
        ArgumentError,
        "wrench_cone: half_width: got -0.05; give one finite number [m], above 0",
    ),
    "sole": (
        lambda: gd.wrench_cone(MU, X, Y, sole=np.eye(3)),
        ArgumentError,
        "wrench_cone: sole: got numbers of shape (3, 3); give 4 × 4, [n o a p; 0 0 0 1]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_sentence_says_what_cannot_be(case: str) -> None:
    make, kind, message = REFUSED[case]
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(message)

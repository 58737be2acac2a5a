"""Closed configurations, velocities that keep loops closed, and degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from tests.helpers.linkages import closed_four_bar, four_bar, four_bar_loop, linkage
from tests.helpers.models import build, relative_error
from tests.helpers.sets import quick

CLOSED = 1e-12


@pytest.mark.parametrize("crank", [0.4, 2.0, -1.3, 3.0])
def test_a_four_bar_linkage_closes_as_in_closed_form(crank: float) -> None:
    con = four_bar_loop()
    expected = closed_four_bar(crank)
    q = con.closed_configuration(expected + np.array([0, 0.2, -0.15]), hold=["crank"])
    assert relative_error(q, expected) < CLOSED
    assert con.degrees_of_freedom(q) == 1


def test_a_loop_that_is_closed_stays_as_it_is() -> None:
    q = closed_four_bar(0.7)
    np.testing.assert_array_equal(four_bar_loop().closed_configuration(q), q)


def test_a_linkage_that_is_stretched_out_closes() -> None:
    """All bars lie in a line, where no small motion makes the gap smaller."""
    con = four_bar_loop()
    q0 = np.zeros(3)
    gap = con.residual(q0).full()
    assert np.abs(con.jacobian(q0).full().T @ gap).max() < CLOSED < np.abs(gap).max()
    assert np.abs(con.residual(con.closed_configuration(q0)).full()).max() < CLOSED


def test_redundant_loops_close() -> None:
    """A planar linkage, welded in all six directions to a fifth bar that turns at the end of the rocker."""
    model = linkage({0.0: [("crank", 0.3), ("coupler", 0.9)], 1.0: [("rocker", 0.6), ("fifth", 0.1)]})
    frame = pin.Frame("pin", model.getJointId("fifth"), 0, pin.SE3.Identity(), pin.OP_FRAME)
    model.addFrame(frame)
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Loop("coupler end", "pin", "6D")], regularization=1e-6)
    expected = closed_four_bar(0.4)
    crank, coupler, rocker, fifth = con.closed_configuration([0.4, 0.1, 1.2, 0.2], hold=["crank"])
    assert relative_error([crank, coupler, rocker], expected) < CLOSED
    assert relative_error(rocker + fifth, crank + coupler) < CLOSED
    assert con.degrees_of_freedom([crank, coupler, rocker, fifth]) == 1


JOINTS = ("Spherical", "RUBX", "SphericalZYX", "HelicalUnaligned", "Planar", "Ellipsoid", "Universal")


@pytest.mark.parametrize("joint", quick(JOINTS, "Spherical"))
@pytest.mark.parametrize("kind", ["3D", "6D"])
def test_every_joint_closes(joint: str, kind: str) -> None:
    """Beside a configuration at which the constraints hold; the gap by Pinocchio's placements."""
    rng = np.random.default_rng(2)
    model = build(rng, ["FreeFlyer", joint, "RX", "RevoluteUnaligned", "RY", joint], [0, 1, 2, 1, 4, 5])
    closed = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    contacts = [gd.Contact("body_2", "3D"), gd.Contact("body_5", kind)]
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, clean=0), contacts).anchored(closed)
    q = con.closed_configuration(pin.integrate(model, closed, 0.2 * rng.normal(size=model.nv)))
    assert np.abs(q - closed).max() > 0.01
    data = model.createData()
    for contact in con.constraints:
        frame = model.getFrameId(contact.frame)
        placements = []
        for configuration in (q, closed):
            pin.framesForwardKinematics(model, data, configuration)
            placements.append(data.oMf[frame].homogeneous)
        rows = slice(0, 4) if contact.kind == "6D" else slice(3, 4)
        assert np.abs(placements[0] - placements[1])[:, rows].max() < 10 * CLOSED  # of metres and axes, not of c
    assert con.degrees_of_freedom(q) == model.nv - con.nc


@pytest.mark.long
def test_held_joints_keep_configuration_and_velocity() -> None:
    rng = np.random.default_rng(5)
    model = build(rng, ["FreeFlyer", "Spherical", "RX", "RY", "RZ"], [0, 1, 2, 3, 4])
    closed = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("body_4", "3D")]).anchored(closed)
    q0 = pin.integrate(model, closed, 0.1 * rng.normal(size=model.nv))
    q = con.closed_configuration(q0, hold=["Spherical_1", "RY_3"])
    change = pin.difference(model, q0, q)
    assert np.abs(change[[6, 7, 8, 10]]).max() < CLOSED < np.abs(change).max()
    v = rng.normal(size=model.nv)
    kept = con.consistent_velocity(q, v, hold=["Spherical_1", "FreeFlyer_0[1]"])
    assert np.abs(con.jacobian(q).full() @ kept).max() < CLOSED
    np.testing.assert_array_equal(kept[[1, 6, 7, 8]], v[[1, 6, 7, 8]])
    with pytest.raises(ArgumentError, match="hold names a part of joint 'FreeFlyer_0', which turns as a whole; hold"):
        con.closed_configuration(q0, hold=["FreeFlyer_0[1]"])


def test_contacts_without_an_anchor_stay_where_they_are() -> None:
    """A four-bar linkage whose crank is held at its end."""
    con = four_bar_loop()
    free = gd.ConstrainedDynamics(con.dynamics, [*con.constraints, gd.Contact("crank end", "3D")], regularization=1e-6)
    q = free.closed_configuration([0.4, 0.1, 1.2])
    assert relative_error(q, closed_four_bar(0.4)) < CLOSED


@pytest.mark.long
def test_stiffness_needs_to_know_where_a_contact_is_held() -> None:
    """But only that of the contact: a loop beside it can be stabilised."""
    dyn, loop = gd.NewtonEuler(four_bar()), gd.Loop("coupler end", "rocker end", "3D")
    options = {"stiffness": [400.0, 0.0], "damping": 40.0, "regularization": 1e-6}
    state = [0.4, 0.1, 1.2], [0.1, 0.2, 0.3], np.zeros(3)
    con = gd.ConstrainedDynamics(dyn, [loop, gd.Contact("crank end", "3D")], **options)
    a, _ = con.forward_dynamics(*state)
    anchored, _ = con.anchored(state[0]).forward_dynamics(*state)
    np.testing.assert_array_equal(a.full(), anchored.full())
    con = gd.ConstrainedDynamics(dyn, [gd.Contact("crank end", "3D")], stiffness=400.0, regularization=1e-6)
    with pytest.raises(ArgumentError, match=r"^Contact\('crank end', '3D'\) has no anchor, .* take anchored\(q\)$"):
        _ = con.forward_dynamics
    assert np.isfinite(con.anchored(state[0]).forward_dynamics(*state)[0].full()).all()


@pytest.mark.long
@pytest.mark.parametrize("joint", quick(["Spherical", "RUBX"], "RUBX"))
def test_consistent_velocities_are_those_after_an_impact(joint: str) -> None:
    rng = np.random.default_rng(3)
    model = build(rng, ["FreeFlyer", joint, "RX", "RevoluteUnaligned", "RY"], [0, 1, 2, 1, 4])
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("body_2", "3D"), gd.Contact("body_4")])
    q, v = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), rng.normal(size=model.nv)
    assert relative_error(con.consistent_velocity(q, v), con.impact(q, v)[0].full().ravel()) < 1e-11


def test_consistent_velocities_with_held_joints_change_the_least() -> None:
    """M δ is a combination of the rows of J in the coordinates that are free."""
    con, crank = four_bar_loop(), 1.1
    h = 1e-6
    q = closed_four_bar(crank)
    rate = (closed_four_bar(crank + h) - closed_four_bar(crank - h)) / (2 * h)
    assert relative_error(con.consistent_velocity(q, [2, 0, 0], hold=["crank"]), 2 * rate) < 1e-8  # of the differences
    v = np.array([0.3, -0.2, 0.5])
    found = con.consistent_velocity(q, v)
    m = con.dynamics.mass_matrix(q).full()
    assert relative_error(found, rate * (rate @ m @ v) / (rate @ m @ rate)) < 1e-8


def test_consistent_accelerations_are_those_of_least_constraint() -> None:
    """Without stabilisation, forward dynamics is the acceleration nearest to that of the open tree (Gauss)."""
    con, q = four_bar_loop(), closed_four_bar(1.1)
    v, tau = con.consistent_velocity(q, [2.0, 0, 0], hold=["crank"]), np.array([0.5, -0.2, 0.3])
    a = con.consistent_acceleration(q, v, con.dynamics.forward_dynamics(q, v, tau))
    assert relative_error(a, con.forward_dynamics(q, v, tau)[0].full().ravel()) < 1e-11


def test_consistent_accelerations_are_rates_of_consistent_velocities() -> None:
    con, crank, h = four_bar_loop(), 1.1, 1e-4
    before, here, after = (closed_four_bar(crank + x) for x in (-h, 0, h))
    v = con.consistent_velocity(here, [1.0, 0, 0], hold=["crank"])
    a = con.consistent_acceleration(here, v, [0.0, 1, 2], hold=["crank"])
    assert relative_error(a, (before - 2 * here + after) / h**2) < 1e-6  # of the differences
    faster = con.consistent_acceleration(here, v, [3.0, 0, 0], hold=["crank"])
    assert relative_error(faster - a, 3 * v) < CLOSED


def test_parameters_do_not_move_a_loop() -> None:
    dyn = gd.NewtonEuler(four_bar(), parameters={"inertia": True})
    con = gd.ConstrainedDynamics(dyn, [gd.Loop("coupler end", "rocker end", "3D")], regularization=1e-6)
    q = con.closed_configuration([0.4, 0.1, 1.2], hold=["crank"])
    assert relative_error(q, closed_four_bar(0.4)) < CLOSED
    assert con.degrees_of_freedom(q) == 1
    v = np.array([0.3, -0.2, 0.5])
    assert relative_error(con.consistent_velocity(q, v), four_bar_loop().consistent_velocity(q, v)) < CLOSED


def test_modes_are_held_by_the_name_of_their_link() -> None:
    links = {"coupler bar": gd.FlexibleLink(gd.Beam(0.9, 1.0, EI_z=5.0), bending_y=gd.modes.clamped_free(2))}
    arm = gd.FlexibleArm(four_bar(), links)
    con = gd.ConstrainedDynamics(arm, [gd.Loop("coupler bar tip", "rocker end", "3D")], regularization=1e-6)
    q0 = np.array([0.4, 0.1, 1.2, 0.02, -0.01])
    q = con.closed_configuration(q0, hold=["crank", "coupler bar"])
    assert np.abs(con.closed_configuration(q0, hold=["coupler"])[3:] - q0[3:]).min() > 1e-6  # the joint, not the link
    np.testing.assert_array_equal(q[[0, 3, 4]], q0[[0, 3, 4]])
    assert np.abs(con.residual(q).full()).max() < CLOSED
    undeformed = con.closed_configuration([0.4, 0.1, 1.2, 0, 0], hold=["crank", "coupler bar y1", "coupler bar y2"])
    assert relative_error(undeformed[:3], closed_four_bar(0.4)) < CLOSED
    assert con.degrees_of_freedom(q) == 3


OPEN = np.array([0.4, 0.1, 1.2])
REFUSALS: dict[str, tuple[Callable[[gd.ConstrainedDynamics], object], type[Exception], str]] = {
    "open": (
        lambda con: con.degrees_of_freedom(OPEN),
        ArgumentError,
        r"^degrees_of_freedom: q violates Loop\('coupler end', 'rocker end', '3D'\) by 0\.\d+ m; take "
        r"closed_configuration\(q\)$",
    ),
    "out of reach": (
        lambda con: con.closed_configuration(np.zeros(3), hold=["crank", "coupler"]),
        ArgumentError,
        r"^closed_configuration: from this q0 Loop\(.*\) stays violated by 0\.4 m; begin from another q0 or hold less$",
    ),
    "all held": (
        lambda con: con.closed_configuration(np.zeros(3), hold=["crank", "coupler", "rocker"]),
        ArgumentError,
        r"stays violated by 0\.4 m",
    ),
    "unknown": (
        lambda con: con.closed_configuration(OPEN, hold=["cranks"]),
        UnknownNameError,
        r"^no joint, flexible link or coordinate named 'cranks'; nearest: 'crank'",
    ),
    "one name": (
        lambda con: con.closed_configuration(OPEN, hold="crank"),
        ArgumentTypeError,
        r"^closed_configuration: hold='crank'; give a list of names$",
    ),
    "tolerance": (
        lambda con: con.closed_configuration(OPEN, tolerance=0.0),
        ArgumentError,
        r"^closed_configuration: tolerance: got 0\.0; give one finite number, above 0$",
    ),
    "velocity": (
        lambda con: con.check_state("simulate", closed_four_bar(0.4), [1, 0, 0]),
        ArgumentError,
        r"^simulate: v violates Loop\(.*\) by 1\.\d+ m/s; take consistent_velocity\(q, v\)$",
    ),
    "accelerations at open velocities": (
        lambda con: con.consistent_acceleration(closed_four_bar(0.4), [1, 0, 0], np.zeros(3)),
        ArgumentError,
        r"^consistent_acceleration: v violates Loop\(.*\) by 1\.\d+ m/s; take consistent_velocity\(q, v\)$",
    ),
    "held accelerations": (
        lambda con: con.consistent_acceleration(closed_four_bar(0.4), np.zeros(3), [1, 0, 0], hold=["crank", "rocker"]),
        ArgumentError,
        r"^consistent_acceleration: a violates Loop\(.*\) by \S+ m/s²; hold less$",
    ),
    "held velocities": (
        lambda con: con.consistent_velocity(closed_four_bar(0.4), [1, 0, 0], hold=["crank", "rocker"]),
        ArgumentError,
        r"^consistent_velocity: v violates Loop\(.*\) by \S+ m/s; hold less$",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_cannot_be_closed_is_refused_in_a_sentence(case: str) -> None:
    call, error, message = REFUSALS[case]
    with pytest.raises(error, match=message):
        call(four_bar_loop())


def test_gaps_of_frames_have_two_units() -> None:
    con = four_bar_loop("6D")
    q = closed_four_bar(0.4)
    with pytest.raises(ArgumentError, match=r"by \S+ m and \S+ rad; take closed_configuration"):
        con.check_state("simulate", q, np.zeros(3))
    with pytest.raises(ArgumentError, match=r"stays violated by \S+ m and \S+ rad; begin from another q0$"):
        con.closed_configuration(q)

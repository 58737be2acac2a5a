"""``examples/four_bar_linkage.py``: the closed loop moves as geometry, virtual work and beam theory say."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from tests.helpers.models import relative_error
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("four_bar_linkage")
CRANK = np.linspace(0, 2 * np.pi, 25)


@pytest.fixture(scope="module")
def rigid() -> gd.ConstrainedDynamics:
    return SCRIPT.rigid()


@pytest.fixture(scope="module")
def turned(rigid: gd.ConstrainedDynamics) -> tuple[np.ndarray, np.ndarray]:
    return SCRIPT.turn(rigid, CRANK)


def reduced() -> tuple[ca.SX, ca.SX, ca.SX]:
    """The angle of the crank, and the inertia I and potential V [J] of all bars in this one coordinate."""
    phi = ca.SX.sym("phi")
    end = ca.vertcat(SCRIPT.CRANK * ca.cos(phi), SCRIPT.CRANK * ca.sin(phi))
    line = ca.vertcat(SCRIPT.BASE, 0) - end
    d = ca.norm_2(line)
    opening = ca.acos((SCRIPT.COUPLER**2 + d**2 - SCRIPT.ROCKER**2) / (2 * SCRIPT.COUPLER * d))
    coupler = ca.atan2(line[1], line[0]) + opening
    pin = end + SCRIPT.COUPLER * ca.vertcat(ca.cos(coupler), ca.sin(coupler))
    rocker = ca.atan2(pin[1], pin[0] - SCRIPT.BASE)
    inertia: ca.SX = ca.SX(0)
    potential: ca.SX = ca.SX(0)
    for mass, length, angle, root in (
        (1.0, SCRIPT.CRANK, phi, ca.DM([0, 0])),
        (0.63 * SCRIPT.COUPLER, SCRIPT.COUPLER, coupler, end),
        (1.5, SCRIPT.ROCKER, rocker, ca.DM([SCRIPT.BASE, 0])),
    ):
        center = root + length / 2 * ca.vertcat(ca.cos(angle), ca.sin(angle))
        inertia += mass * ca.sumsqr(ca.jacobian(center, phi)) + mass * length**2 / 12 * ca.jacobian(angle, phi) ** 2
        potential += mass * 9.81 * center[1]
    return phi, inertia, potential


def test_the_loop_closes_as_in_closed_form(turned: tuple[np.ndarray, np.ndarray]) -> None:
    q, _ = turned
    assert relative_error(q, SCRIPT.angles(CRANK)) < 1e-11  # a residual of 1e-12 m on levers of 0.3 m


def test_the_torque_is_that_of_virtual_work(turned: tuple[np.ndarray, np.ndarray]) -> None:
    """tau = I φ̈ + ½ I' φ̇² + V', with φ̈ = 0; over a turn its work is zero."""
    phi, inertia, potential = reduced()
    expected = 0.5 * ca.jacobian(inertia, phi) * SCRIPT.SPEED**2 + ca.jacobian(potential, phi)
    found = turned[1]
    assert relative_error(found, ca.Function("tau", [phi], [expected])(CRANK).full().ravel()) < 1e-10  # as the levers
    assert abs(found[:-1].mean()) < 1e-4 * np.abs(found).max()  # the trapezoidal rule over 24 angles


def test_forward_dynamics_is_that_of_virtual_work(rigid: gd.ConstrainedDynamics) -> None:
    """I φ̈ = tau − ½ I' φ̇² − V'."""
    phi, inertia, potential = reduced()
    speed, torque = 2.5, 3.0
    terms = ca.Function("terms", [phi], [inertia, ca.jacobian(inertia, phi), ca.jacobian(potential, phi)])
    for q in SCRIPT.angles(CRANK[1::5]):
        v = rigid.consistent_velocity(q, [speed, 0, 0], hold=["crank joint"])
        own, change, weight = (float(x) for x in terms(q[0]))
        a, _ = rigid.forward_dynamics(q, v, [torque, 0, 0])
        assert float(a[0]) == pytest.approx((torque - 0.5 * change * speed**2 - weight) / own, rel=1e-9)


def test_energies_of_the_driven_linkage_balance(rigid: gd.ConstrainedDynamics) -> None:
    motion = SCRIPT.driven(rigid, 2.0)
    assert motion.constraint_drift.max() < 1e-9
    assert motion.relative_balance < 1e-7
    assert np.abs(SCRIPT.rocker_error(motion)).max() < 1e-8
    phi, inertia, potential = reduced()
    values = ca.Function("values", [phi], [inertia, potential])
    own, height = (x.full().ravel() for x in values(motion.q[:, :1].T))
    assert relative_error(motion.kinetic, 0.5 * own * motion.v[:, 0] ** 2) < 1e-7  # as the drift
    assert relative_error(np.diff(motion.potential), np.diff(height)) < 1e-7


def test_the_flexible_coupler_bends_like_a_simply_supported_beam() -> None:
    """And becomes rigid with EI: its deflection as 1 / EI, the error of the rocker, by foreshortening, as 1 / EI²."""
    deflections, errors = [], []
    for stiffer in (10.0, 100.0):
        con = SCRIPT.flexible(stiffer)
        motion = SCRIPT.driven(con, 2.0)
        assert motion.constraint_drift.max() < 1e-9
        assert motion.relative_balance < 1e-6
        late = motion.t > 1.0  # the start, straight, sets the coupler vibrating
        found, expected = SCRIPT.deflection(con, motion), SCRIPT.simply_supported(motion, stiffer)
        # two terms of the series of modes, and vibrations that remain
        assert np.abs(found - expected)[late].max() < 0.02 * np.abs(expected).max()
        deflections.append(np.abs(found[late]).max())
        errors.append(np.abs(SCRIPT.rocker_error(motion))[late].max())
    assert deflections[0] / deflections[1] == pytest.approx(10, rel=0.02)
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.1)

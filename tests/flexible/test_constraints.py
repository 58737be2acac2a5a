"""Flexible robots that contacts and loops hold."""

from __future__ import annotations

from typing import Any

import numpy as np

import gdalembert as gd
from tests.helpers.linkages import COUPLER, closed_four_bar, four_bar
from tests.helpers.models import relative_error

T = 0.02
STABILISED: dict[str, Any] = {"regularization": 1e-6, "stiffness": 1 / T**2, "damping": 2 / T}
LOOP = gd.Loop("coupler bar tip", "rocker end", "3D")


def flexible_four_bar() -> gd.ConstrainedDynamics:
    """A four-bar linkage with two modes of its coupler and one of its rocker; q = (joints, modes)."""
    links = {
        f"{name} bar": gd.FlexibleLink(gd.Beam(length, 1.0, EI_z=5.0), bending_y=gd.modes.clamped_free(modes))
        for name, length, modes in (("coupler", COUPLER, 2), ("rocker", 0.6, 1))
    }
    return gd.ConstrainedDynamics(gd.FlexibleArm(four_bar(), links), [LOOP], **STABILISED)


def test_forward_dynamics_solves_the_kkt_system_of_the_arm() -> None:
    """M a − Jᵀ f = tau − nle, J a = −J̇ v − damping J v − stiffness c; in space, at the tip of a link."""
    beam = gd.Beam(1.0, 0.6, EI_y=8.0, EI_z=10.0)
    bending = gd.FlexibleLink(beam, bending_y=gd.modes.clamped_free(1), bending_z=gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link1": bending})
    con = gd.ConstrainedDynamics(
        arm, [gd.Contact("link1 tip", "3D", anchor=[0.9, 0.1, 0.05])], stiffness=4.0, damping=3
    )
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, arm.tree.nv)) * [[0.1], [1.0], [1.0]]
    m, j = arm.mass_matrix(q).full(), con.jacobian(q).full()
    target = con.bias_acceleration(q, v) + 3 * con.velocity(q, v) + 4 * con.residual(q)
    kkt = np.block([[m, -j.T], [j, np.zeros((3, 3))]])
    solved = np.linalg.solve(kkt, np.concatenate([tau - arm.nle(q, v).full().ravel(), -target.full().ravel()]))
    a, forces = (x.full().ravel() for x in con.forward_dynamics(q, v, tau))
    assert relative_error(a, solved[:-3]) < 1e-11
    assert relative_error(forces, solved[-3:]) < 1e-11
    assert relative_error(con.inverse_dynamics(q, v, a, forces).full().ravel(), tau) < 1e-11


def test_a_flexible_linkage_stays_closed_and_keeps_its_energy() -> None:
    con = flexible_four_bar()
    q = con.closed_configuration([*closed_four_bar(0.4), 0, 0, 0], hold=["crank", "coupler bar", "rocker bar"])
    v = con.consistent_velocity(q, [3.0, 0, 0, 0, 0, 0], hold=["crank"])
    motion = gd.simulate(con, (q, v), 1.0)
    assert motion.constraint_drift.max() < 1e-9
    assert motion.relative_balance < 1e-6  # tolerances of 1e-8 of the state
    assert np.abs(motion.q[:, 3:]).max() > 1e-3

"""What links leave to their arm: no modes across the plane of a planar arm."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.flexible.case_study import model as skeleton
from gdalembert.errors import ArgumentError
from gdalembert.flexible.placed_links import placed_link
from tests.helpers.models import relative_error

TUBE = gd.Beam.tube(1.0, 0.03, 0.0015, density=0.5 / (np.pi * 0.0285 * 0.0015), youngs_modulus=70e9)
"""0.5 kg, as the links of the model."""
LINK = gd.FlexibleLink(TUBE)
IN_PLANE = tuple(f"{link} y{k}" for link in ("link1", "link2") for k in range(1, 5))


def arm(model: pin.Model | None = None, **links: gd.FlexibleLink) -> gd.FlexibleArm:
    given = {"link1": LINK, "link2": LINK} | links
    return gd.FlexibleArm(skeleton(in_gravity=True) if model is None else model, given)


@pytest.mark.long
def test_a_planar_arm_has_no_modes_across_its_plane() -> None:
    """It moves as the one that has them: they stay at rest."""
    planar = arm()
    assert planar.layout[2:] == IN_PLANE
    assert planar.flexibility.left_out == (("link1", "bending_z"), ("link2", "bending_z"))
    both = LINK.with_modes(bending_y=gd.modes.craig_bampton(2), bending_z=gd.modes.craig_bampton(2))
    last = LINK.with_modes(bending_y=gd.modes.clamped_free(4), bending_z=gd.modes.clamped_free(4))
    spatial = arm(link1=both, link2=last)
    assert spatial.tree.nv == 18
    rng = np.random.default_rng(0)
    own = np.array([spatial.layout.index(name) for name in planar.layout])
    for _ in range(3):
        q, v, a = rng.normal(size=(3, 10)) * np.array([1.0] * 2 + [0.01] * 8)
        wide = np.zeros((3, 18))
        wide[:, own] = q, v, a
        tau = spatial.inverse_dynamics(*wide).full().ravel()
        assert relative_error(planar.inverse_dynamics(q, v, a).full().ravel(), tau[own]) < 1e-12
        assert np.abs(np.delete(tau, own)).max() < 1e-12


def stacked() -> pin.Model:
    """The second link lies above the first."""
    model = skeleton(in_gravity=True)
    model.jointPlacements[2] = pin.SE3(np.eye(3), np.array([1.0, 0, 0.1]))
    return model


def tilted() -> pin.Model:
    model = skeleton(in_gravity=True)
    model.jointPlacements[2] = pin.SE3(pin.utils.rotate("x", 0.1), np.array([1.0, 0, 0]))
    return model


BENT: dict[str, Any] = {
    "gravity across": lambda: arm(skeleton()),
    "a link above the other": lambda: arm(stacked(), link1=gd.FlexibleLink(TUBE, root=np.eye(4))),
    "a joint out of the plane": lambda: arm(tilted()),
    "asked for by the other link": lambda: arm(link2=LINK.with_modes(bending_z=gd.modes.hermite())),
    "a body beside the plane": lambda: arm(
        link2=gd.FlexibleLink(TUBE, tip_body=pin.Inertia(0.1, np.array([0, 0, 0.05]), np.eye(3) * 1e-4))
    ),
}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link 'link2'")
@pytest.mark.parametrize("why", BENT)
def test_what_bends_it_across_has_its_modes(why: str) -> None:
    bent = BENT[why]()
    assert {f"link1 z{k}" for k in range(1, 5)} <= set(bent.layout)
    assert bent.flexibility.left_out == ()


def test_asked_for_they_are_there_and_none_is_none() -> None:
    shapes = gd.modes.hermite()
    own = LINK.with_modes(bending_y=shapes, bending_z=shapes)
    assert arm(link1=own, link2=own).tree.nv == 10
    assert arm(skeleton(), link2=gd.FlexibleLink(TUBE, bending_z=None)).layout[-4:] == IN_PLANE[4:]


def test_a_beam_that_nothing_bends_keeps_both_directions() -> None:
    """It turns about its own axis, without gravity."""
    model = pin.Model()
    model.name = "shaft"
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "turn")
    body = pin.Inertia.FromCylinder(TUBE.mass, 0.015, 1.0)
    turned = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([0.5, 0, 0]))
    model.appendBodyToJoint(joint, body, turned)
    model.addBodyFrame("shaft", joint, pin.SE3.Identity(), 0)
    model.addFrame(pin.Frame("tip", joint, 1, pin.SE3(np.eye(3), np.array([1.0, 0, 0])), pin.FrameType.OP_FRAME))
    model.gravity = pin.Motion.Zero()
    assert gd.FlexibleArm(model, {"shaft": gd.FlexibleLink(TUBE, to="tip")}).tree.nv == 9


def test_a_wrench_that_needs_them_is_refused() -> None:
    planar, q = arm(), np.zeros(10)
    lifted = planar.static_deflection(q, "tip", [0, 1.0, 0, 0, 0, 0.1], reference=pin.LOCAL_WORLD_ALIGNED)
    assert lifted[2] > planar.static_deflection(q)[2] + 1e-4
    for reference in (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED):
        for wrench in ([0, 0, 1.0, 0, 0, 0], [0, 0, 0, 0.1, 0, 0], [0, 0, 0, 0, 0.1, 0]):
            with pytest.raises(ArgumentError, match=r"bends link 'link1' in z, where it has no modes.* bending_z="):
                planar.static_deflection(q, "tip", wrench, reference=reference)
    assert planar.static_deflection(q, "link1", [0, 0, 1.0, 0, 0, 0], reference=pin.LOCAL)[2] < 0  # on its root


@pytest.mark.long
def test_an_arm_that_takes_wrenches_has_them() -> None:
    """A wrench may act across the plane, also on the first link, which then turns the second one out of it."""
    for frame in ("tip", "link1 tip"):
        taking = gd.FlexibleArm(skeleton(in_gravity=True), {"link1": LINK, "link2": LINK}, wrenches={frame: pin.LOCAL})
        assert taking.flexibility.left_out == ()
        assert taking.tree.nv == 18
    across = np.zeros((6, 1))
    across[2] = 1.0
    bent = taking.under(across).static_deflection(np.zeros(18))
    assert bent[taking.layout.index("link1 z1")] > 1e-4
    pushed = taking.static_deflection(np.zeros(18), "link1 tip", across.ravel(), reference=pin.LOCAL)
    np.testing.assert_allclose(bent, pushed, rtol=0, atol=1e-12)


@pytest.mark.long
def test_the_links_of_a_planar_arm_are_found_again() -> None:
    planar = arm()
    again = pickle.loads(pickle.dumps(planar))
    for robot, links in ((planar, None), (again, {"link1": LINK, "link2": LINK})):
        for name, shapes in (("link1", gd.modes.craig_bampton(2)), ("link2", gd.modes.clamped_free(4))):
            assert placed_link(robot, name, links).families == {"bending_y": shapes}
    assert again.flexibility.left_out == planar.flexibility.left_out
    assert planar.links is not None
    assert planar.links["link1"].bending_z is None

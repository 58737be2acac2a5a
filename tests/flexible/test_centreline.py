"""The centreline of a flexible link: its end, its sections, its length, and what is refused."""

from __future__ import annotations

import dataclasses
import pickle
import re

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.flexible import modes
from gdalembert.flexible.centreline import centreline
from gdalembert.flexible.placed_links import links_of, placed_link
from tests.helpers.models import relative_error

ROUNDING = 1e-13
"""Of lengths of some metres, through a few rotations."""

TUBE = gd.Beam.tube(None, 0.1, 0.003, density=2700, youngs_modulus=70e9, poisson_ratio=0.33)


def spatial(**options: object) -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    """PUMA 560 whose upper arm bends in both directions, stretches and twists."""
    link = gd.FlexibleLink(
        TUBE,
        bending_y=modes.clamped_free(2),
        bending_z=modes.hermite(),
        extension=modes.hermite(),
        torsion=modes.hermite(),
        keep_body=True,
        **options,
    )
    links = {"link2": link}
    return gd.FlexibleArm(gd.load_urdf("puma560"), links), links


def planar(joints: dict[str, gd.FlexibleJoint] | None = None) -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    """Beams without modes of their own: the arm chooses them by what each link carries."""
    links = {
        "link1": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0)),
        "link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0)),
    }
    return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links, joints), links


def nodes() -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    """Two modes of four nodes."""
    at = np.array([0.25, 0.5, 0.75, 1.0])
    translations, rotations = np.zeros((2, 2, 4, 3))
    translations[0, :, 1], rotations[0, :, 2] = at**2, 2 * at
    translations[1, :, 2], rotations[1, :, 1] = at**3, -3 * at**2
    body = gd.Nodes(
        np.array([0.25, 0.15, 0.15, 0.05]),
        np.column_stack([at, 0 * at, 0 * at]),
        translations,
        np.diag([4.0, 12.0]),
        None,
        rotations,
    )
    links = {"link1": gd.FlexibleLink(body)}
    return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links), links


def states(arm: gd.FlexibleArm, seed: int) -> np.ndarray:
    """A random configuration, its modes a tenth as large as its joints."""
    q = np.random.default_rng(seed).normal(size=arm.tree.nq)
    q[arm.modes.start : arm.modes.stop] *= 0.1
    return q


ARMS = {
    "planar": planar,
    "rotors": lambda: planar({"joint2": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=0.02)}),
    "spatial": spatial,
    "straight": lambda: spatial(foreshortening=False),
    "nodes": nodes,
}


@pytest.mark.parametrize("name", ARMS)
def test_it_begins_at_the_root_and_ends_at_the_tip(name: str) -> None:
    arm, _ = ARMS[name]()
    for link, beam in arm.flexibility.beams.items():
        line = centreline(arm, link, [0.0, beam.length])
        for seed in range(5):
            q = states(arm, seed)
            positions, rotations = (x.full() for x in line(q))
            tip, root = arm.tip_placement(link)(q).full(), gd.Kinematics(arm.tree, clean=0)
            ends = [root.frame_placement(beam.root)(q).full(), tip]
            for k, end in enumerate(ends):
                assert relative_error(positions[:, k], end[:3, 3]) < ROUNDING
                assert relative_error(rotations[:, 3 * k : 3 * k + 3], end[:3, :3]) < ROUNDING


def test_sections_of_the_first_order_arm() -> None:
    links = {"link1": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), foreshortening=False)}
    arm = gd.FirstOrderArm(gd.load_urdf("two_link_flexible"), links)
    q = states(arm, 1)
    _, rotations = (x.full() for x in centreline(arm, "link1", [1.0])(q))
    assert relative_error(rotations, arm.tip_placement("link1")(q).full()[:3, :3]) < ROUNDING
    assert np.abs(rotations.T @ rotations - np.eye(3)).max() > 1e-4


def test_sections_between_by_hand() -> None:
    """p = p̄ + U f − ½ (fᵀ s f) e_x and exp([Θ f ×]), with Pinocchio's exponential, in the frame of the root."""
    arm, links = spatial()
    beam, q = arm.flexibility.beams["link2"], states(arm, 3)
    at = np.linspace(0, beam.length, 7)
    positions, rotations = (x.full() for x in centreline(arm, "link2", at)(q))
    root = pin.SE3(gd.Kinematics(arm.tree, clean=0).frame_placement(beam.root)(q).full())
    f = q[arm.modes.start : arm.modes.stop]
    own = links["link2"].with_length(beam.length)
    for k, eta in enumerate(at):
        station = own.station(float(eta))
        shift = station.position + station.translation @ f - np.array([f @ station.shortening @ f / 2, 0, 0])
        assert relative_error(positions[:, k], root.act(shift)) < ROUNDING
        turned = root.rotation @ pin.exp3(station.rotation @ f)
        assert relative_error(rotations[:, 3 * k : 3 * k + 3], turned) < ROUNDING


def test_what_stands_in_the_middle_stands_on_it() -> None:
    model = gd.load_urdf("two_link_flexible")
    joint = model.getJointId("joint1")
    at = pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0]))
    model.addFrame(pin.Frame("lamp", joint, model.getFrameId("link1"), at, pin.FrameType.OP_FRAME))
    link = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0))
    arm = gd.FlexibleArm(model, {"link1": link})
    q = states(arm, 2)
    positions, _ = (x.full() for x in centreline(arm, "link1", [0.3])(q))
    lamp = gd.Kinematics(arm.tree, clean=0).frame_placement("lamp")(q).full()
    assert relative_error(positions.ravel(), lamp[:3, 3]) < ROUNDING


@pytest.mark.long
def test_a_bent_line_keeps_its_length() -> None:
    """Foreshortening keeps it to second order: what is wrong goes with the fourth power of the deflection."""
    arm, _ = planar()
    line = centreline(arm, "link1", np.linspace(0, 1, 501))
    wrong = []
    for size in (0.2, 0.1):
        q = np.zeros(arm.tree.nq)
        q[arm.modes.start] = size
        positions = line(q)[0].full()
        wrong.append(np.linalg.norm(np.diff(positions), axis=0).sum() - 1)
    assert abs(wrong[0]) < 0.01
    # the polygon of 500 sides is shorter than the line by some 1e-7 of it, against 1e-4 here
    assert wrong[0] / wrong[1] == pytest.approx(16, rel=0.05)


@pytest.mark.long
def test_of_a_pickled_arm() -> None:
    arm, links = spatial()
    q = states(arm, 0)
    found = centreline(pickle.loads(pickle.dumps(arm)), "link2", [0.1, 0.2], links=links)(q)[0].full()
    assert np.array_equal(found, centreline(arm, "link2", [0.1, 0.2])(q)[0].full())


def test_links_of_a_machine_that_rounds_otherwise_are_the_same() -> None:
    arm, links = planar()
    near = links | {"link1": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0 * (1 + 1e-14)))}
    assert links_of(arm, near) is near
    assert placed_link(arm, "link1", near).beam.EI_z != 10.0


def test_names_and_shapes() -> None:
    arm, _ = planar()
    line = centreline(arm, "link1", [0.0, 0.5, 1.0])
    assert (line.name_in(), line.name_out()) == (["q"], ["positions", "rotations"])
    assert (line.size_out(0), line.size_out(1)) == ((3, 3), (3, 9))


def test_the_modes_by_role_are_found_again() -> None:
    arm, links = planar()
    for name in links:
        own = placed_link(arm, name)
        assert own.mode_names == tuple(x.partition(" ")[2] for x in arm.layout if x.startswith(f"{name} "))


def test_links_of_other_shapes_are_refused() -> None:
    """Of the same modes, stiffness and length, but for one thing."""
    wrong = "link 'link1': this is not the link of 1 m that the arm was made of; give the same FlexibleLink"
    arm, links = planar()
    straight = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), foreshortening=False)
    with pytest.raises(ArgumentError, match=re.escape(wrong)):
        placed_link(arm, "link1", links | {"link1": straight})
    arm, links = nodes()
    body = links["link1"].beam
    assert isinstance(body, gd.Nodes)
    for name in ("translations", "rotations"):
        other = dataclasses.replace(body, **{name: 1.01 * getattr(body, name)})
        with pytest.raises(ArgumentError, match=re.escape(wrong)):
            placed_link(arm, "link1", {"link1": gd.FlexibleLink(other)})


def test_what_is_refused() -> None:
    arm, links = planar()

    def refused(error: type[Exception], message: str, *arguments: object, **options: object) -> None:
        with pytest.raises(error, match=re.escape(message)):
            centreline(*arguments, **options)

    refused(UnknownNameError, "no flexible link named 'link3'; nearest: 'link2', 'link1'", arm, "link3", [0])
    refused(ArgumentTypeError, "centreline: expected a FlexibleArm, got str", "arm", "link1", [0])
    refused(ArgumentError, "centreline: abscissae have shape (); give (n,) numbers [m]", arm, "link1", 0.5)
    refused(ArgumentError, "centreline: abscissae have shape (0,); give (n,) numbers [m]", arm, "link1", [])
    refused(ArgumentError, "1.5 m does not lie on the link, which is 1 m long", arm, "link1", [1.5])

    def other(error: type[Exception], message: str, given: object) -> None:
        refused(error, message, arm, "link1", [0], links=given)

    stiffer = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=11.0))
    wrong = "link 'link1': this is not the link of 1 m that the arm was made of; give the same FlexibleLink"
    other(ArgumentError, wrong, links | {"link1": stiffer})
    other(ArgumentError, wrong, links | {"link1": links["link2"]})
    other(ArgumentTypeError, "link 'link1': expected a FlexibleLink, got Beam", links | {"link1": TUBE})
    other(ArgumentTypeError, "links: expected a dict by name, got FlexibleLink", links["link1"])
    other(UnknownNameError, "no flexible link named 'link3'", links | {"link3": stiffer})
    other(UnknownNameError, "no flexible link in links named 'link2'; nearest: 'link1'", {"link1": links["link1"]})
    needed = (
        "two_link_flexible: an arm that was pickled or copied has no shapes of its modes; give links=, the dict of "
        "flexible links that it was made of"
    )
    refused(ArgumentError, needed, pickle.loads(pickle.dumps(arm)), "link1", [0])

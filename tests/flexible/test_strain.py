"""Strain of a fibre: of a cantilever in closed form, by second differences of the centreline, and what is refused."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.outputs import output_function
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.flexible import modes
from gdalembert.flexible.centreline import centreline
from tests.flexible.test_centreline import nodes, planar, spatial, states
from tests.helpers.sets import quick

STEEL = {"density": 7850.0, "youngs_modulus": 2.1e11, "poisson_ratio": 0.3}
FIBRE = (0.004, -0.002)


def cantilever(link: object) -> gd.FlexibleArm:
    """A link of 0.8 m that turns about z, without gravity."""
    model = pin.buildModelFromXML(
        '<robot name="cantilever"><link name="base"/><link name="link"><inertial><origin xyz="0.4 0 0"/>'
        '<mass value="1.0048"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="joint" type="revolute"><parent link="base"/><child link="link"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    model.gravity.linear = np.zeros(3)
    return gd.FlexibleArm(model, {"link": link})


BEAM = gd.Beam.rectangle(0.8, 0.02, 0.008, **STEEL)
KINDS = {
    "modes": gd.FlexibleLink(BEAM, modes.hermite(), modes.hermite(), extension=modes.linear()),
    "rod": gd.CosseratRod(BEAM, 2, 1, ("torsion", "bending_y", "bending_z", "elongation")),
}


@pytest.mark.parametrize("kind", quick(KINDS, "modes"))
def test_a_cantilever_under_a_force_at_its_tip(kind: str) -> None:
    """ε = N/EA − M_z y/EI_z − M_y z/EI_y, with M = F (l − x): exact for cubic shapes and for linear strains.

    Of a small force: the tip turns by some 1e-5 rad, which gives the force across a part along the beam.
    """
    arm, force = cantilever(KINDS[kind]), np.array([3e-3, 2e-3, -1e-3])
    q = arm.static_deflection(np.zeros(arm.tree.nq), "link tip", [*force, 0, 0, 0], reference=pin.LOCAL_WORLD_ALIGNED)
    for at in (0.0, 0.3, 0.5, 1.0):
        lever = 0.8 * (1 - at)
        bending = force[1] * lever * FIBRE[0] / BEAM.EI_z + force[2] * lever * FIBRE[1] / BEAM.EI_y
        found = float(arm.strain("link", at, fibre=FIBRE)(q))
        assert found == pytest.approx(force[0] / BEAM.EA - bending, rel=1e-3, abs=1e-3 * abs(force[0] / BEAM.EA))


@pytest.mark.parametrize("kind", KINDS)
def test_curvature_is_the_second_difference_of_the_centreline(kind: str) -> None:
    """The rotation of a section between two near ones; of small deflections, since modes turn by slopes."""
    arm = cantilever(KINDS[kind])
    q = 1e-4 * np.random.default_rng(1).normal(size=arm.tree.nq)
    at, d = 0.37, 1e-3
    line = centreline(arm, "link", [(at - d) * 0.8, (at + d) * 0.8])
    rotations, positions = line(q)[1].full(), line(q)[0].full()
    turn = gd.lie.log3(ca.DM(rotations[:, :3].T @ rotations[:, 3:])).full().ravel() / (2 * d * 0.8)
    stretch = np.linalg.norm(np.diff(positions)) / (2 * d * 0.8) - 1
    expected = stretch + turn[1] * FIBRE[1] - turn[2] * FIBRE[0]
    # squares of the slopes (1e-4) shorten the line of modes, and d² of the third derivative is lost
    assert float(arm.strain("link", at, fibre=FIBRE)(q)) == pytest.approx(expected, rel=2e-3)


def test_strain_is_that_of_the_links_own_coordinates() -> None:
    arm, _ = spatial()
    strain = arm.strain("link2", 0.25, fibre=(0.03, 0.02))
    assert (strain.name_in(), strain.name_out()) == (["q"], ["strain"])
    q = states(arm, 3)
    joints = np.array(q)
    joints[:6] += 0.3
    assert float(strain(q)) == float(strain(joints)) != 0.0


def test_a_number_is_a_fibre_of_an_arm_that_bends_in_one_plane() -> None:
    arm, _ = planar()
    q = states(arm, 0)
    assert float(arm.strain("link1", fibre=0.01)(q)) == float(arm.strain("link1", fibre=(0.01, 0.5))(q))


def test_what_is_refused() -> None:
    arm, _ = spatial()
    whole = "strain of link 'link2': it bends in y and z, and fibre is one number; give (y, z) from the axis [m]"
    with pytest.raises(ArgumentError, match=re.escape(whole)):
        arm.strain("link2", fibre=0.01)
    with pytest.raises(ArgumentError, match=r"fibre is 10 m from the axis, and the section reaches 0\.05 m"):
        arm.strain("link2", fibre=(10.0, 0.0))
    with pytest.raises(ArgumentError, match=r"at: got 1\.5; give a fraction of its length"):
        arm.strain("link2", 1.5, fibre=(0.0, 0.0))
    with pytest.raises(ArgumentError, match=r"fibre has shape \(3,\); give \(y, z\)"):
        arm.strain("link2", fibre=(0.0, 0.0, 0.0))
    with pytest.raises(UnknownNameError, match="link3"):
        arm.strain("link3", fibre=(0.0, 0.0))
    with pytest.raises(UnsupportedError, match="Nodes tell how they move"):
        nodes()[0].strain("link1", fibre=(0.0, 0.0))


def test_outputs_have_the_inputs_of_the_robot() -> None:
    arm, _ = planar()
    strain = arm.strain("link1", fibre=0.01)
    output = output_function(arm, "gauge", strain)
    assert output.name_in() == ["q", "v", "a", "u"]
    q = states(arm, 0)
    assert float(output(q, 0, 0, 0)) == float(strain(q))
    loaded = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), arm.links, parameters=["stiffness"])
    scaled = output_function(loaded, "both", lambda u, p, gain: gain * u[0] * p, {"gain": 1})
    assert scaled.name_in() == ["q", "v", "a", "u", "p", "gain"]
    assert scaled(0, 0, 0, [2.0, 0], [3.0, 4.0], 0.5).full().ravel().tolist() == [3.0, 4.0]
    with pytest.raises(ArgumentError, match=r"output 'x': an expression at the sample has the inputs \['w'\]"):
        output_function(arm, "x", lambda w: w)
    with pytest.raises(ArgumentTypeError, match=r"output 'x': 3 is not an expression"):
        output_function(arm, "x", 3)

"""Tubes around the centrelines of flexible links."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentTypeError
from gdalembert.flexible.centreline import centreline
from gdalembert.viewer.scene import Scene
from gdalembert.viewer.tube import profile_of
from tests.helpers.models import relative_error
from tests.helpers.viewer import ROUNDING, bent, flexible

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_tube_is_around_the_bent_line(scale: float) -> None:
    arm, links = flexible()
    scene, q = Scene(arm), bent(arm)
    shown = scene.exaggerated(q, scale)
    assert np.array_equal(shown[:2], q[:2])
    assert relative_error(shown[2:], scale * q[2:]) < ROUNDING
    for tube, name in zip(scene.tubes, links, strict=True):
        length, n = arm.assembly.beams[name].length, len(tube.profile.points)
        rings = tube.vertices(shown)[: n * 24].reshape(n, 24, 3)
        line = centreline(arm, name, np.linspace(0, length, n))(shown)[0].full()
        assert relative_error(rings.mean(axis=1), line.T) < ROUNDING
        radii = np.linalg.norm(rings - line.T[:, None], axis=2)
        assert relative_error(radii, np.full_like(radii, 0.016 * length)) < ROUNDING
        tip = arm.tip_placement(name)(shown).full()
        assert relative_error(rings[-1].mean(axis=0), tip[:3, 3]) < ROUNDING
        assert np.abs((rings[-1] - tip[:3, 3]) @ tip[:3, 0]).max() < ROUNDING


def test_the_tube_of_a_straight_link_is_a_cylinder() -> None:
    arm, _ = flexible()
    tube = Scene(arm).tubes[0]
    points = tube.vertices(np.zeros(arm.tree.nq))
    assert points[:, 0].min() == 0
    assert points[:, 0].max() == pytest.approx(1, abs=0)
    radii = np.linalg.norm(points[:, 1:], axis=1)
    assert relative_error(radii, np.full_like(radii, 0.016)) < ROUNDING


def test_the_surface_is_closed_and_faces_outward() -> None:
    arm, _ = flexible()
    tube = Scene(arm).tubes[0]
    points, faces = tube.vertices(np.zeros(arm.tree.nq)), tube.faces
    corners = points[faces]
    volume = np.einsum("ki,ki->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    prism = 24 / 2 * np.sin(2 * np.pi / 24) * 0.016**2  # a polygon of 24 corners, 1 m long
    assert volume == pytest.approx(prism, rel=1e-12, abs=0)


MATERIAL = {"density": 2700.0, "youngs_modulus": 70e9}


@pytest.mark.parametrize(
    ("beam", "y", "z"),
    [
        (gd.Beam.round(1.0, 0.04, **MATERIAL), [0.02, 0.02], [0.02, 0.02]),
        (gd.Beam.tube(None, 0.1, 0.003, **MATERIAL).with_length(1.0), [0.05, 0.05], [0.05, 0.05]),
        (gd.Beam.rectangle(1.0, 0.06, 0.02, **MATERIAL), [0.03, 0.03], [0.01, 0.01]),
        (gd.Beam.rectangle(1.0, lambda x: 0.06 - 0.04 * x, 0.02, **MATERIAL), [0.03, 0.01], [0.01, 0.01]),
        (gd.Beam.tube(1.0, lambda x: 0.1 - 0.06 * x, 0.003, **MATERIAL), [0.05, 0.02], [0.05, 0.02]),
        (gd.Beam(1.0, 0.6, EI_y=3.0, EI_z=27.0, EA=1e4), [0.09, 0.09], [0.03, 0.03]),
        (gd.Beam(1.0, 0.6, EI_z=10.0), [0.7, 0.7], [0.7, 0.7]),
    ],
    ids=["round", "tube", "rectangle", "tapered rectangle", "tapered tube", "stiffness alone", "nothing"],
)
def test_sections(beam: gd.Beam, y: list[float], z: list[float]) -> None:
    """Half widths at root and tip."""
    points = profile_of(beam, np.array([0.0, 1.0]), 0.7).points
    assert relative_error(points[..., 0].max(axis=1), y) < ROUNDING
    assert relative_error(points[..., 1].max(axis=1), z) < ROUNDING


def test_the_numbers_of_a_thin_tube_are_drawn_as_the_solid_bar_with_its_gyration() -> None:
    tube = gd.Beam.tube(1.0, 0.1, 0.003, **MATERIAL)
    numbers = gd.Beam(1.0, tube.mass_per_length, section_inertia=tube.section_inertia)
    points = profile_of(numbers, np.zeros(1), 0.7).points
    assert points.max() == pytest.approx(np.sqrt(0.05**2 + 0.047**2), rel=1e-12)


def test_inertias_of_a_section_are_about_y_and_z() -> None:
    """j_y is that of the extent along z: of the rectangle b × h they are μ h²/12 and μ b²/12."""
    for section_inertia, y, z in (
        ((0.6 * 0.02**2 / 12, 0.6 * 0.06**2 / 12), 0.03, 0.01),
        ((0.6 * 0.02**2 / 12, 0.0), 0.7, 0.7),  # one of them is not enough
    ):
        points = profile_of(gd.Beam(1.0, 0.6, section_inertia=section_inertia), np.zeros(1), 0.7).points
        assert points[0].max(axis=0) == pytest.approx([y, z], rel=1e-12)


def test_an_arm_that_was_pickled_is_drawn_with_the_links_that_it_was_made_of() -> None:
    arm, links = flexible()
    copied, q = pickle.loads(pickle.dumps(arm)), bent(arm)
    for again, tube in zip(Scene(copied, links=links).tubes, Scene(arm).tubes, strict=True):
        assert np.array_equal(again.vertices(q), tube.vertices(q))
    rigid = gd.FlexibleArm(gd.load_urdf("cart_pendulum"))
    assert len(Scene(pickle.loads(pickle.dumps(rigid))).tubes) == len(Scene(rigid).tubes) == 1  # the slide


def test_a_section_counts_for_pictures_alone() -> None:
    tube = gd.Beam.tube(1.0, 0.1, 0.003, **MATERIAL)
    bare = dataclasses.replace(tube, section=None)
    assert (tube, hash(tube), repr(tube)) == (bare, hash(bare), repr(bare))
    assert pickle.loads(pickle.dumps(tube)).section == tube.section != bare.section
    with pytest.raises(ArgumentTypeError, match=r"Beam: section: got 'tube'; leave it out, or take Beam\.tube\(…\)"):
        gd.Beam(1.0, 0.6, section="tube")  # type: ignore[arg-type]

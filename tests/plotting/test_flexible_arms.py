"""Deflections of the tip of a flexible link, and shapes of modes, of links and of whole arms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from matplotlib import pyplot

import gdalembert as gd
from gdalembert import plotting
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from tests.helpers import models
from tests.helpers.plots import BEAM, flexible, lines

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("clean_matplotlib")]
FREE = np.array([1.87510406871196, 4.69409113297417, 7.85475743823761])
"""1 + cos x cosh x = 0."""


def test_the_tip_is_where_its_shapes_put_it() -> None:
    """±2 of each clamped-free mode, in mm; the slope of the root takes no part."""
    arm, _ = flexible()
    q = np.random.default_rng(0).normal(size=(5, arm.tree.nq)) * [1, 1, 1e-2, 1e-2, 1e-2]
    t = np.arange(5.0)
    ax = plotting.tip_deflection(arm, (t, q))
    drawn = lines(ax)
    assert list(drawn) == ["link2"]
    expected = 1e3 * q[:, 2:] @ gd.modes.clamped_free(3).value(0.8, 0.8)[:, 0]
    assert models.relative_error(drawn["link2"], expected) < 1e-12
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time [s]", "deflection of the tip [mm]")


def test_both_directions_of_a_tip_are_told_apart() -> None:
    beam = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0)
    link = gd.FlexibleLink(beam, gd.modes.clamped_free(1), gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), {"link2": link})
    drawn = lines(plotting.tip_deflection(arm, ([0.0], [[0.4, 0.3, 0.01, -0.02]])))
    assert {name: line.tolist() for name, line in drawn.items()} == {
        "link2, y": [pytest.approx(20, rel=1e-12)],
        "link2, z": [pytest.approx(-40, rel=1e-12)],
    }


def test_tips_of_rigid_robots_are_refused() -> None:
    model = gd.load_urdf("two_link_flexible")
    with pytest.raises(ArgumentTypeError, match="expected a FlexibleArm, got NewtonEuler"):
        plotting.tip_deflection(gd.NewtonEuler(model), ([0.0], [[0, 0]]))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"has no flexible links; give an arm with links=\{…\}"):
        plotting.tip_deflection(gd.FlexibleArm(model), ([0.0], [[0, 0]]))


# Flexible links


@pytest.mark.parametrize("natural", [False, True])
def test_the_modes_of_a_bare_beam_are_drawn_with_their_frequencies(natural: bool) -> None:
    (ax,) = plotting.mode_shapes(flexible()[1]["link2"], natural=natural)
    hertz = FREE**2 * np.sqrt(10.0 / (0.45 * 0.8**4)) / (2 * np.pi)
    drawn = lines(ax)
    assert [name.split(": ")[1] for name in drawn] == [f"{f:.4g} Hz" for f in hertz]
    assert next(iter(drawn)).split(": ")[0] == ("mode 1" if natural else "y1, clamped-free 1")
    eta = np.linspace(0, 0.8, 201)
    assert np.all(ax.lines[0].get_xdata() == eta)
    for line, shape in zip(drawn.values(), gd.modes.clamped_free(3).value(eta, 0.8), strict=True):
        assert np.abs(line - shape / shape[-1]).max() < (1e-10 if natural else 1e-14)  # eigenvectors; the same sums
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("abscissa [m]", "shape, largest 1")


def test_each_direction_of_a_link_has_its_panel() -> None:
    beam = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0, GJ=5.0)
    link = gd.FlexibleLink(beam, gd.modes.clamped_free(2), gd.modes.clamped_free(1), torsion=gd.modes.linear())
    axes = plotting.mode_shapes(link)
    assert [ax.get_title(loc="left") for ax in axes] == ["bending, y", "bending, z", "torsion"]
    assert [len(lines(ax)) for ax in axes] == [2, 1, 1]
    assert list(lines(axes[2])) == ["t1, power 1"]  # without section inertia it has no frequency
    assert [len(lines(ax)) for ax in plotting.mode_shapes(link, count=2)] == [2, 0, 0]


def test_an_arm_with_one_bare_beam_has_the_modes_of_the_beam() -> None:
    arm, links = flexible()
    q = np.array([0.3, 0.4, 0, 0, 0])
    (ax,) = plotting.mode_shapes(arm, q, count=2)
    hertz = FREE[:2] ** 2 * np.sqrt(10.0 / (0.45 * 0.8**4)) / (2 * np.pi)
    assert list(lines(ax)) == [f"mode {k + 1}: {f:.4g} Hz" for k, f in enumerate(hertz)]
    for line, shape in zip(
        lines(ax).values(), gd.modes.clamped_free(2).value(np.linspace(0, 0.8, 201), 0.8), strict=True
    ):
        assert np.abs(line - shape / shape[-1]).max() < 1e-9  # eigenvectors
    assert ax.get_title(loc="left") == "link2"
    (again,) = plotting.mode_shapes(pickle.loads(pickle.dumps(arm)), q, links=links, count=2)
    assert {k: line.tolist() for k, line in lines(again).items()} == {k: line.tolist() for k, line in lines(ax).items()}


def test_the_modes_of_two_links_are_on_one_scale() -> None:
    """With links that leave length and modes to the arm; tips against eigenvectors of M⁻¹ K."""
    links = {"link1": gd.FlexibleLink(gd.Beam(None, 0.6, EI_z=10.0)), "link2": gd.FlexibleLink(BEAM)}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    q = np.zeros(arm.tree.nq)
    q[1] = 0.8
    axes = plotting.mode_shapes(arm, q)
    square, vectors = np.linalg.eig(np.linalg.solve(arm.mass_matrix(q).full()[2:, 2:], arm.stiffness_matrix[2:, 2:]))
    order = np.argsort(square)[:3]
    shapes = [gd.modes.craig_bampton(2), gd.modes.clamped_free(4)]
    eta = [np.linspace(0, length, 201) for length in (1.0, 0.8)]
    for k, mode in enumerate(order):
        both = [vectors[4 * i : 4 * i + 4, mode] @ shapes[i].value(eta[i], eta[i][-1]) for i in (0, 1)]
        largest = max(both[0], both[1], key=lambda x: np.abs(x).max())
        scale = largest[np.abs(largest).argmax()]
        for ax, curve in zip(axes, both, strict=True):
            assert (
                np.abs(list(lines(ax).values())[k] - curve / scale).max() < 1e-8
            )  # eigenvectors, of M not symmetrised
    labels = [f"mode {k + 1}: {f / 2 / np.pi:.4g} Hz" for k, f in enumerate(arm.natural_frequencies(q)[:3])]
    assert list(lines(axes[0])) == labels


def test_wrong_modes_are_refused() -> None:
    arm, links = flexible()
    q = np.zeros(arm.tree.nq)
    draw = plotting.mode_shapes
    with pytest.raises(ArgumentTypeError, match="expected a FlexibleLink or FlexibleArm, got Beam"):
        draw(BEAM)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="mode_shapes: an arm vibrates about a configuration; give q"):
        draw(arm)
    with pytest.raises(ArgumentError, match="an arm that was pickled or copied has no shapes of its modes; give links"):
        draw(pickle.loads(pickle.dumps(arm)), q)
    with pytest.raises(ArgumentError, match="q and links go with an arm"):
        draw(links["link2"], q)
    with pytest.raises(ArgumentError, match="natural= goes with a link"):
        draw(arm, q, natural=True)
    with pytest.raises(UnknownNameError, match="no flexible link named 'link1'"):
        draw(arm, q, links={"link1": links["link2"]})
    with pytest.raises(ArgumentError, match=r"link 'link2': this is not the link of 0\.8 m that the arm was made of"):
        draw(arm, q, links={"link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=11.0))})
    with pytest.raises(ArgumentTypeError, match="link 'link2': expected a FlexibleLink, got Beam"):
        draw(arm, q, links={"link2": BEAM})
    with pytest.raises(ArgumentError, match="count: got 0; give an integer of at least 1"):
        draw(links["link2"], count=0)
    with pytest.raises(ArgumentTypeError, match=r"count: expected an integer, got 1\.5"):
        draw(links["link2"], count=1.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="its modes are chosen by its role"):
        draw(gd.FlexibleLink(BEAM))
    with pytest.raises(ArgumentError, match="has no links in assumed modes"):
        draw(gd.FlexibleArm(gd.load_urdf("two_link_flexible")), [0, 0])
    nodes = gd.Nodes(
        masses=[0.0, 0.5],
        positions=[[0, 0, 0], [0.8, 0, 0]],
        translations=[[[0, 0, 0], [0, 1, 0]]],
        stiffness=[[9.0]],
        rotations=[[[0, 0, 0], [0, 0, 1.5]]],
    )
    with pytest.raises(
        UnsupportedError, match="mode_shapes: Nodes have no shapes between them; give a link with a Beam"
    ):
        draw(gd.FlexibleLink(nodes))
    assert pyplot.get_fignums() == []


def test_an_arm_that_only_twists_keeps_its_frequencies() -> None:
    """Its link does not move across; in y and z the other does, on lines of two kinds."""
    twisting = gd.Beam(1.0, 0.6, GJ=5.0, section_inertia=(1e-4, 1e-4))
    bending = gd.Beam(0.8, 0.45, EI_z=10.0, EI_y=20.0)
    links = {
        "link1": gd.FlexibleLink(twisting, torsion=gd.modes.linear()),
        "link2": gd.FlexibleLink(bending, gd.modes.clamped_free(1), gd.modes.clamped_free(1)),
    }
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    above, below = plotting.mode_shapes(arm, np.zeros(arm.tree.nq))
    assert not above.lines
    assert [line.get_linestyle() for line in below.lines] == ["-"] * 3 + ["--"] * 3
    (legend,) = below.figure.legends
    hertz = arm.natural_frequencies(np.zeros(arm.tree.nq)) / (2 * np.pi)
    assert [text.get_text() for text in legend.get_texts()] == [
        f"mode {k + 1}: {f:.4g} Hz" for k, f in enumerate(hertz)
    ]
    assert legend.get_title().get_text() == "joints locked, solid y, dashed z"
